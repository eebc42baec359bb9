//! Formulas and who decides them: terms, what is known of them at once, and a prover on top of Z3.
//!
//! Knows nothing of programs. In reading order:
//!
//! - [`terms`]: values and formulas, hash-consed, simplified as they are built.
//! - [`facts`]: what follows from assumptions without a prover: classes of equal terms, bounds, the
//!   order of integers.
//! - [`tableau`]: a solver of our own, for questions that take few steps.
//! - `theory`: axioms of sequences, sets, multisets and maps, handed out when their symbols are
//!   first used.
//! - [`prover`]: scopes, assumptions and questions; the only module that names Z3.

pub mod facts;
pub mod prover;
pub mod tableau;
pub mod terms;
mod theory;
