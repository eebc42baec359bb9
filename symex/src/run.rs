//! The runs of a rule: one for each way its decisions can go, with states merged where ways meet.
//!
//! In reading order: [`scopes`] (the tree of facts), [`explore`] (decisions, runs and their
//! journals), [`merge`] (one state of several), [`ways`] (numbers of paths).

pub mod explore;
pub mod merge;
pub(crate) mod scopes;
pub mod ways;
