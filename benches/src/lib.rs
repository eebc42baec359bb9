//! The benchmark harness: how long the ways from a program to its verdict take, and where the time goes.
//!
//! [`measure`] takes a program through each phase with a clock beside it, [`pipe`] runs the two commands as a user
//! does, [`samples`] turns repeated runs into means; [`table`] and [`chart`] show them. [`compare`] puts another verifier
//! beside ours, [`ways`] two ways through ours. [`quantified`]
//! measures what the machinery for quantified permissions is worth, [`running`] how fast Chalice programs run. [`front_end`] looks at the front end alone, pass by pass, on files and on programs of any size from
//! [`generate`].

pub mod chart;
pub mod compare;
pub mod front_end;
pub mod generate;
pub mod measure;
pub mod pipe;
pub mod quantified;
pub mod running;
pub mod samples;
pub mod table;
pub mod thesis;
pub mod ways;
