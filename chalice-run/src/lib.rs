//! Runs Chalice programs with every permission checked.

pub mod amount;
