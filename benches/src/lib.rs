//! The benchmark harness: times of the ways from a program to its verdict, and of the phases on
//! each way.
//!
//! [`measure`] takes a program through each phase with a clock beside it, [`pipe`] runs the two
//! commands as a user does, [`samples`] turns repeated runs into means, and [`table`] shows the
//! means. [`ways`] compares the translation of Chalice programs with their direct execution.
//! [`thesis`] shows the times of a thesis beside ours, [`works`] other tables, [`running`] measures
//! the machine that runs Chalice programs, [`emitted`] what checks cost in programs of their own, and
//! [`growth`] how cost grows with the size of a program.

pub mod emitted;
pub mod growth;
pub mod measure;
pub mod pipe;
pub mod running;
pub mod samples;
pub mod table;
pub mod thesis;
pub mod ways;
pub mod works;
