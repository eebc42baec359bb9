//! The rules that languages share.
//!
//! In reading order: [`assertion`] (the forms of assertions), [`language`] (produce and consume),
//! [`shape`] (of snapshots), [`location`], [`quantified`] (many locations), [`field`],
//! [`instance`] (of a predicate), [`application`] (of a function), [`for_all`].

pub mod application;
pub mod assertion;
pub mod field;
pub mod for_all;
pub mod instance;
pub mod language;
pub mod location;
pub mod quantified;
pub mod shape;
