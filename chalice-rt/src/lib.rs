//! The runtime of Chalice programs.
//!
//! Two parts. The rules that every run of a program follows, interpreted or emitted, are here:
//! [`amount`] of permission, the order of [`levels`], the judgement on demands ([`settle`]), and
//! the table of what can go wrong ([`flaw`]). The rest is for emitted programs (Hegi 2013, whose
//! generated programs keep a book for each thread): [`value`]s, [`object`]s, [`world`] with its
//! threads and locks, and [`thread`], in which emitted code runs.
//!
//! Emitted programs take the sources along, so this crate gets by without others. With the feature
//! `crates` it makes use of them.

pub mod amount;
pub mod flaw;
pub mod levels;
pub mod object;
pub mod report;
pub mod settle;
pub mod thread;
pub mod trouble;
pub mod value;
pub mod world;

/// The names that emitted code makes use of.
pub mod prelude {
    pub use crate::amount::{Amount, Rational};
    pub use crate::flaw::Flaw;
    pub use crate::levels::Level;
    pub use crate::object::{Kind, Part};
    pub use crate::thread::{
        COMMON, Chosen, Function, Once, Side, Thread, Trade, Transfer, blamed, receiver, told,
    };
    pub use crate::trouble::{Res, at};
    pub use crate::value::{self, Value};
    pub use crate::world::{Program, Started};
}

/// A number that emitted programs cannot keep: it ends their run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beyond;
