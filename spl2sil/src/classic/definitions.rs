//! The definitions of a program: functions, predicates, datatypes, and that recursion ends.

pub(super) mod auto_lemmas;
pub(super) mod base_cases;
pub(super) mod choices;
pub(super) mod closed;
pub(super) mod datatypes;
pub(super) mod functions;
pub(super) mod predicates;
pub(super) mod recursion;
pub(super) mod termination;
pub(super) mod unrolled;
