//! How a rule is run: once for each way its decisions can go, with states merged where ways meet.
//!
//! In reading order: [`explore`] (decisions, runs and their journals), [`merge`] (one state of several), [`ahead`] (when
//! merging pays), [`parts`] (paths that another engine follows), [`apart`] (what is evaluated once for all paths).

pub(crate) mod ahead;
mod apart;
pub(crate) mod explore;
pub(crate) mod merge;
pub(crate) mod parts;
