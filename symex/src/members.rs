//! The members of a program that languages share: functions, and what is found out about a program
//! before ([`analysis`]).

pub mod analysis;
pub mod function;
