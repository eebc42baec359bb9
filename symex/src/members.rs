//! The members of a program that languages share: functions. [`analysis`] has facts about a program
//! that are found first.

pub mod analysis;
pub mod function;
