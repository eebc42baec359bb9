//! Errors planted in verified members: a verifier that does not notice them is suspected of
//! unsoundness.
//!
//! A [`Mutant`] is a member with one error. Most kinds of error cannot be missed where a path
//! reaches them: whoever proves a formula and its negation, or exhales half of a location and then
//! writes it, works from a contradiction. So a mutant of these that still verifies is followed by a
//! [`Probe`], `assert false` at its place:
//!
//! - If that fails, some path arrives at the place with facts that are not contradictory: a
//!   **suspect**.
//! - If it verifies, the place is unreachable, and the statement after which paths are
//!   contradictory is searched for. Where that is one that assumes something (a precondition, an
//!   `inhale`, a condition, a callee's postcondition), it is named, and the reader judges; where it
//!   is an assignment, an `exhale`, a `fold`, it is a **suspect** again.
//!
//! Mutants of the other kinds may verify for good reasons: permission that is dropped need not have
//! been needed. They are worth a question to another verifier. Errors in the text of a Chalice
//! program ([`source`]) have one at hand: the other way of verifying it.

mod edit;
mod judge;
mod place;
mod sites;
mod slice;
pub mod source;

use std::hash::Hasher;

use rustc_hash::FxHasher;
use sil::program::{Member, Program};
use sil::source::Span;

use edit::Edit;
pub use judge::{Cause, Fate, Limits, judge, verifies};

/// The kind of a planted error.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// `assert false` at the end of a block; in a function, before its body or a branch of it.
    AssertFalse,
    /// `assert false` before a statement: with the kind above, at every boundary of statements.
    FalseAtBoundary,
    /// A pure conjunct of a postcondition is negated.
    NegatedPostcondition,
    /// A postcondition promises all permission to a field twice.
    DoubledPermission,
    /// A pure conjunct of a loop's invariant is negated.
    NegatedInvariant,
    /// A pure conjunct of an `assert` is negated.
    NegatedAssertion,
    /// Half of a field's permission is exhaled right before the field is written.
    HalvedAtWrite,
    /// A statement that takes something away is executed twice.
    RepeatedStatement,
    /// A precondition gives a permission no longer.
    DroppedPermission,
    /// A precondition gives half of what it gave.
    HalvedPermission,
    /// An invariant carries a permission no longer.
    DroppedInvariant,
    /// The condition of an `if` is negated.
    NegatedCondition,
    /// A precondition of a Chalice method does not say something any more.
    DroppedClaim,
    /// A statement of a Chalice method about locks, tokens or instances is left out.
    DroppedStatement,
    /// A predicate, monitor or message of a Chalice program has a permission no longer.
    DroppedInBody,
}

impl Kind {
    pub const ALL: [Self; 15] = [
        Self::AssertFalse,
        Self::FalseAtBoundary,
        Self::NegatedPostcondition,
        Self::DoubledPermission,
        Self::NegatedInvariant,
        Self::NegatedAssertion,
        Self::HalvedAtWrite,
        Self::RepeatedStatement,
        Self::DroppedPermission,
        Self::HalvedPermission,
        Self::DroppedInvariant,
        Self::NegatedCondition,
        Self::DroppedClaim,
        Self::DroppedStatement,
        Self::DroppedInBody,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::AssertFalse => "assert-false",
            Self::FalseAtBoundary => "false-at-boundary",
            Self::NegatedPostcondition => "negated-postcondition",
            Self::DoubledPermission => "doubled-permission",
            Self::NegatedInvariant => "negated-invariant",
            Self::NegatedAssertion => "negated-assertion",
            Self::HalvedAtWrite => "halved-at-write",
            Self::RepeatedStatement => "repeated-statement",
            Self::DroppedPermission => "dropped-permission",
            Self::HalvedPermission => "halved-permission",
            Self::DroppedInvariant => "dropped-invariant",
            Self::NegatedCondition => "negated-condition",
            Self::DroppedClaim => "dropped-claim",
            Self::DroppedStatement => "dropped-statement",
            Self::DroppedInBody => "dropped-in-body",
        }
    }
}

impl std::str::FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.into_iter().map(Self::name).collect();
            format!("expected one of {}", names.join(", "))
        })
    }
}

/// How to find out why a mutant verifies.
#[derive(Clone, Debug)]
enum Probe {
    /// The mutant is itself an `assert false`.
    Unreachable,
    /// An `assert false` at the same place.
    Edit(Edit),
    /// A verdict of "verified" may have good reasons.
    MayVerify,
}

/// A member with one error.
#[derive(Clone, Debug)]
pub struct Mutant {
    pub kind: Kind,
    /// The changed place.
    pub span: Span,
    edit: Edit,
    probe: Probe,
}

impl Mutant {
    /// The program with the error.
    pub fn program(&self, program: &Program) -> Program {
        let mut changed = program.clone();
        self.edit.apply(&mut changed);
        changed
    }

    /// Tells whether this mutant cannot verify where a path reaches it.
    pub fn must_fail(&self) -> bool {
        !matches!(self.probe, Probe::MayVerify)
    }
}

/// All errors that can be planted in a member, in a fixed order.
pub fn mutants(program: &Program, member: Member) -> Vec<Mutant> {
    sites::mutants(program, member)
}

/// The part of a program that the verification of one member depends on, as a program with the same
/// ids.
pub fn slice(program: &Program, member: Member) -> Program {
    slice::around(program, member)
}

/// A number that decides whether a mutant is in a sample: the same in every run with the same seed.
pub fn lot(seed: u64, file: &str, member: &str, number: usize) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(seed);
    hasher.write(file.as_bytes());
    hasher.write(member.as_bytes());
    hasher.write_usize(number);
    // The low bits of this hash are weak where inputs differ in their last byte only.
    let hash = hasher.finish();
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests;
