//! Everything that can go wrong in a run: one row each, for the machine and for emitted programs.
//!
//! A row has the kind of the finding where it does not depend on the statement, the reason, and the
//! words. Kinds and reasons are ids of findings.

use std::fmt::Display;

/// An enum with a row of texts for each variant.
macro_rules! flaws {
    ($($variant:ident: $kind:literal, $reason:literal, $words:literal;)*) => {
        /// A kind of fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Flaw {
            $(#[doc = $words] $variant,)*
        }

        impl Flaw {
            /// All of them, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the kind, if it is always the same.
            pub fn kind(self) -> Option<&'static str> {
                let kind = match self { $(Self::$variant => $kind,)* };
                (!kind.is_empty()).then_some(kind)
            }

            /// Returns the reason.
            pub fn reason(self) -> &'static str {
                match self { $(Self::$variant => $reason,)* }
            }

            /// Returns the words, in which `{}` stands for a name or a number.
            fn text(self) -> &'static str {
                match self { $(Self::$variant => $words,)* }
            }
        }
    };
}

flaws! {
    Null: "", "receiver.null", "this is null";
    NoRead: "", "insufficient.permission", "no permission to read";
    NobodysObject: "", "insufficient.permission", "nobody has permission to an object that does not exist";
    NoReadThen: "", "insufficient.permission", "no permission to read in the earlier state";
    NoWrite: "", "insufficient.permission", "no permission to write";
    NoBackPointers: "", "insufficient.permission", "no permission to the back pointers";
    NoJoin: "", "insufficient.permission", "no permission to join";
    NoMu: "", "insufficient.permission", "no permission to mu";
    NoFree: "", "insufficient.permission", "no permission to free it";
    NoPart: "", "insufficient.permission", "no permission that a part could be taken of";
    NotEnough: "", "insufficient.permission", "not enough permission";
    PerhapsEnough: "", "insufficient.permission", "whether there is enough depends on how read fractions are chosen";
    NotFolded: "", "insufficient.permission", "the predicate is not folded, or not held";
    NotOpened: "", "insufficient.permission", "no permission to open";
    NotEnoughToOpen: "", "insufficient.permission", "not enough to open";
    NullElement: "", "insufficient.permission", "an element is null";
    NoObject: "", "insufficient.permission", "there is no such object";
    ContainsItself: "", "insufficient.permission", "this predicate contains itself";
    NegativeAmount: "", "negative.permission", "the amount is {}";
    PerhapsNegative: "", "negative.permission", "whether the amount is positive depends on how read fractions are chosen";
    NoAmount: "", "permission.not.positive", "the amount is {}";
    PerhapsNoAmount: "", "permission.not.positive", "whether the amount is positive depends on how read fractions are chosen";
    Indivisible: "notsupported", "epsilon.scaling", "counting permissions cannot be divided";
    DivisorZero: "", "division.by.zero", "the divisor is zero";
    IndexNegative: "", "seq.index.negative", "the index is {}";
    IndexTooLarge: "", "seq.index.length", "the index is {}, the length {}";
    SliceBounds: "", "seq.slice.bounds", "{} is not between {} and {}";
    RangeBounds: "", "range.empty.bounds", "the range ends at {}, before it begins at {}";
    MaximumOfNothing: "", "maximum.of.nothing", "there is nothing to take the maximum of";
    NotReflexive: "invariant.not.reflexive", "assertion.false", "this does not hold if nothing has changed";
    NotTransitive: "invariant.not.transitive", "assertion.false", "each step of others was as this says, and all of them are not";
    False: "", "assertion.false", "this does not hold";
    AssignedTwice: "assignment.failed", "const.assigned.twice", "this constant has a value already";
    NotJoinable: "", "not.joinable", "the token was joined already";
    BoundsInNoOrder: "bounds.failed", "lock.order", "nothing puts this bound below that one";
    SharedAlready: "", "already.shared", "it is shared already";
    NotShared: "", "not.shared", "it is not shared";
    WaitsForEver: "", "not.shared", "{} is not shared, so this would wait for ever";
    AtBottom: "", "lock.order", "{} is not shared";
    LockOrder: "", "lock.order", "nothing puts {} above the locks held";
    WaitOrder: "", "lock.order", "nothing puts {} above what is held and owed";
    LockNotHeld: "", "lock.not.held", "the lock of {} is not held";
    LockReadHeld: "", "lock.read.held", "the lock of {} is held in the other way";
    LockWriteHeld: "", "lock.not.held", "the lock of {} is held in the other way";
    LocksChanged: "lockchange.violated", "method", "the method changes the lock of {}";
    LocksChangedBeforeLoop: "lockchange.violated", "loop.entry", "the lock of {} has changed since the method began";
    LocksChangedByLoop: "lockchange.violated", "loop", "the lock of {} has changed since the method began";
    HeldAtTheEnd: "lockchange.violated", "thread", "the thread ends, and holds the lock of {}";
    NoCredit: "", "no.credit", "there is no right to receive from {}";
    Debt: "debt.failed", "method", "{} messages are still owed to {}";
    DebtBeforeLoop: "debt.failed", "loop.entry", "{} messages are still owed to {}";
    DebtByLoop: "debt.failed", "loop", "{} messages are still owed to {}";
    Leak: "leak.failed", "method", "permission to {} is left behind";
    LeakByLoop: "leak.failed", "loop", "permission to {} is left behind";
    Measure: "termination.failed", "tuple.false", "the measure does not get smaller with this application, or is negative";
}

impl Flaw {
    /// Returns the words, about names and numbers.
    pub fn words(self, about: &[&dyn Display]) -> String {
        let mut words = String::new();
        let mut about = about.iter();
        for (at, part) in self.text().split("{}").enumerate() {
            if at > 0
                && let Some(one) = about.next()
            {
                words.push_str(&one.to_string());
            }
            words.push_str(part);
        }
        words
    }
}
