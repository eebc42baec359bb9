//! Features that are reduced to the rest of the language.

pub mod termination;
