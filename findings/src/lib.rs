//! The ids of findings: what the user was doing, and what could not be shown.
//!
//! Each id has one row here: its text, the words of messages, the meaning, and the advice. `silicon
//! explain`, SARIF and `docs/errors.md` are made of these rows. The engine, the front ends and the
//! runner of Chalice name ids by variants only. A translation names them as text, in annotations of
//! its own: [`Pattern`] is what these say.

use std::fmt;

/// An enum with a row of texts for each variant.
macro_rules! ids {
    ($(#[$about:meta])* $name:ident { $($variant:ident: $id:literal, $words:literal, $meaning:literal, $advice:literal;)* }) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize,
        )]
        pub enum $name {
            $(#[doc = $meaning] $variant,)*
        }

        impl $name {
            /// Every id, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the id as it is written in reports and in announced expectations.
            pub fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)* }
            }

            /// Returns the words of this part of a message. `%e` stands for what the finding is
            /// about. Empty where whoever finds it says it in other words.
            pub fn words(self) -> &'static str {
                match self { $(Self::$variant => $words,)* }
            }

            /// Returns the meaning, in one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }

            /// Returns the advice; empty where it depends on the rest of the finding.
            pub fn advice(self) -> &'static str {
                match self { $(Self::$variant => $advice,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.id())
            }
        }
    };
}

ids! {
    /// The user's action during which an obligation failed.
    ErrorId {
        AssertFailed: "assert.failed", "assert might fail",
            "An `assert` might not hold.",
            "";
        NotWellformed: "not.wellformed", "contract might not be well-formed",
            "A contract or an invariant might read what it has no permission to, or use an operation outside of its domain.",
            "A contract has to bring the permission it needs: write `acc(x.f)` to the left of what reads `x.f`.";
        PostconditionViolated: "postcondition.violated", "postcondition might not hold",
            "A body might not establish a postcondition.",
            "";
        ExhaleFailed: "exhale.failed", "exhale might fail",
            "An `exhale` might ask for what the state does not have.",
            "";
        InhaleFailed: "inhale.failed", "inhale might fail",
            "An `inhale` or `assume` might not be well-formed where it stands.",
            "";
        AssignmentFailed: "assignment.failed", "assignment might fail",
            "An assignment might write without permission, or its right-hand side might not be defined.",
            "";
        CallPrecondition: "call.precondition", "the precondition of the method might not hold",
            "A call might not establish the precondition of the method.",
            "";
        RefuteFailed: "refute.failed", "refute failed",
            "A `refute` holds on every path that leads to it, or no path does.",
            "If that is a surprise, something above is contradictory.";
        CallFailed: "call.failed", "method call might fail",
            "An argument of a call, or what the method promises, might not be defined.",
            "";
        ApplicationPrecondition: "application.precondition", "the precondition of the function might not hold",
            "The precondition of a function might not hold where the function is applied.",
            "";
        IfFailed: "if.failed", "conditional statement might fail",
            "The condition of a branch might not be defined.",
            "";
        WhileFailed: "while.failed", "loop might fail",
            "The condition of a loop might not be defined.",
            "The invariant has to have the permission that the condition needs.";
        InvariantNotEstablished: "invariant.not.established", "loop invariant might not hold on entry",
            "A loop invariant might not hold where the loop is entered.",
            "Establish it before the loop, or weaken it.";
        InvariantNotPreserved: "invariant.not.preserved", "loop invariant might not be preserved",
            "A loop invariant might not hold after an iteration.",
            "An iteration starts from the invariant and the condition alone: add to the invariant what the body needs.";
        FoldFailed: "fold.failed", "fold might fail",
            "The body of a predicate might not hold where it is folded, or the invariant of a monitor where its object is shared or it is released.",
            "Establish each conjunct of the body or invariant before the statement.";
        UnfoldFailed: "unfold.failed", "unfold might fail",
            "An instance that is to be unfolded might not be held.",
            "";
        FunctionNotWellformed: "function.not.wellformed", "function might not be well-formed",
            "The body of a function might not be defined wherever its precondition holds.",
            "Strengthen the precondition, or guard the operation.";
        PackageFailed: "package.failed", "package might fail",
            "The right-hand side of a magic wand might not follow from its left-hand side and the state.",
            "";
        ApplyFailed: "apply.failed", "apply might fail",
            "A magic wand that is to be applied might not be held, or its left-hand side might not.",
            "";
        QuasihavocFailed: "quasihavoc.failed", "quasihavoc might fail",
            "The condition or the resource of a `quasihavoc` might not be defined.",
            "";
        QuasihavocallFailed: "quasihavocall.failed", "quasihavoc might fail",
            "The condition or the resource of a `quasihavocall` might not be defined.",
            "";
        WandNotWellformed: "wand.not.wellformed", "magic wand might not be well-formed",
            "A magic wand might read what it has no permission to.",
            "";
        PredicateNotWellformed: "predicate.not.wellformed", "predicate might not be well-formed",
            "The body of a predicate might read what it has no permission to, or might not be defined.",
            "Write `acc(x.f)` to the left of what reads `x.f`.";
        TerminationFailed: "termination.failed", "the function might not terminate",
            "A measure might not decrease, might not be bounded, or is missing.",
            "Name something in `decreases` that gets smaller with each call or iteration, and is never negative. A function of Chalice may open a predicate instead; what has to end cannot wait for locks, messages or threads.";
        RefinementFailed: "refinement.failed", "the refinement might fail",
            "What replaces code in a refining class might not do what that code does.",
            "Give the variables and fields of the refined class the same values, or relate other fields to them with `replaces … by`.";
        PredicateInstanceNoAccess: "predicateinstance.no.access", "verification might fail",
            "A termination measure names a predicate instance that might not be held.",
            "";
        // Errors of Chalice programs only.
        AcquireFailed: "acquire.failed", "acquire might fail",
            "A monitor cannot be acquired: it is held already, out of order, or may be null.",
            "State in the precondition that `waitlevel` is below the monitor.";
        BoundsFailed: "bounds.failed", "there might be no level between the bounds",
            "A monitor or channel might have no level between the bounds of `share`, `reorder` or `new`: a lower bound might not be below an upper one, nothing might be below an upper one, or the level of a bound might not be readable.",
            "State in the precondition that the lower bound is below the upper one, as in `a.mu << b.mu`, with permission to read both.";
        DebtFailed: "debt.failed", "there might be a debt of messages",
            "A thread might end while it owes messages on a channel.",
            "Send the message, or promise the debt in the postcondition.";
        DowngradeFailed: "downgrade.failed", "downgrade might fail",
            "A monitor is downgraded that might not be held for writing.",
            "";
        FreeFailed: "free.failed", "free might fail",
            "An object might be freed without permission to all of it.",
            "";
        InvariantNotReflexive: "invariant.not.reflexive", "the monitor invariant might not be reflexive",
            "A monitor invariant about two states might not hold if nothing changes.",
            "";
        InvariantNotTransitive: "invariant.not.transitive", "the monitor invariant might not be transitive",
            "A monitor invariant about two states might not hold over several changes.",
            "";
        JoinFailed: "join.failed", "join might fail",
            "A token might not be held as a whole, or be joined already.",
            "Ask for `acc(tk.joinable) && tk.joinable`.";
        LeakFailed: "leak.failed", "permission might be left behind",
            "Permission might be left behind that nobody has any more.",
            "Return it in the postcondition, or free the object.";
        LockchangeViolated: "lockchange.violated", "more locks might change than the contract says",
            "Monitors might be held, or no longer, that the contract does not name.",
            "Add them to `lockchange`.";
        ReceiveFailed: "receive.failed", "receive might fail",
            "A message might not be there to be received, or the order of waiting is violated.",
            "";
        ReleaseFailed: "release.failed", "release might fail",
            "A monitor might be released that is not held, or is held in another way. `fold.failed` tells of its invariant.",
            "Acquire the monitor on every path to the `release`.";
        ReorderFailed: "reorder.failed", "reorder might fail",
            "The order of a monitor might be changed without the right to it.",
            "";
        SendFailed: "send.failed", "send might fail",
            "What the channel promises might not hold of a message.",
            "";
        ShareFailed: "share.failed", "share might fail",
            "An object might be shared that is null or shared already, or without the right to it. `fold.failed` tells of its invariant.",
            "Share a new object, once.";
        UnshareFailed: "unshare.failed", "unshare might fail",
            "An object might be taken back that is not shared, or not held.",
            "";
        VerifierWarning: "verifier.warning", "verification might fail",
            "Something that is verified is worth a second look.",
            "Contradictory contracts verify whatever is written below them.";
        Timeout: "timeout.error", "verification might fail",
            "A limit was reached before all was shown: nothing is known of the rest.",
            "Raise the limit that the message names. A note names the statement or clause that was being verified; `--stats` lists the places that cost most. A proof often gets faster when an `assert` states a step in between.";
        Internal: "internal", "verification might fail",
            "The verifier could not go on: a construct that it does not support, or a defect.",
            "Where nothing says that it is not supported, please report it.";
        // Errors of front ends only.
        AccessFailed: "access.failed", "",
            "A location is read without permission.",
            "";
        ArithmeticFailed: "arithmetic.failed", "",
            "An operation on numbers is used outside of its domain.",
            "";
        ConsistencyError: "consistency.error", "",
            "The program is well-typed, but says something that has no meaning.",
            "The message says which rule is broken; nothing is verified before it is kept.";
        FileUnreadable: "file.unreadable", "",
            "A program cannot be read from where it is said to be.",
            "Look at its name, at the directory that the command runs in, and at the rights.";
        GhostViolated: "ghost.violated", "",
            "What is written for the proof only would influence the run.",
            "Use it in contracts and assertions only.";
        LockFailed: "lock.failed", "",
            "A monitor might not be in the state that a `lock` needs.",
            "";
        NewFailed: "new.failed", "",
            "A new object might not be created as it is written.",
            "";
        NotSupported: "notsupported", "",
            "The verifier does not know a construct.",
            "The member is not verified. Write it in another way.";
        ParserError: "parser.error", "",
            "The text is no program.",
            "The message names what was expected there; the mistake may be just before.";
        ParserWarning: "parser.warning", "",
            "The text may not mean what its author thinks.",
            "";
        PredicateNotPrecise: "predicate.not.precise", "",
            "The body of a predicate might hold with more than one footprint.",
            "Say in the body which objects it is about, so that there is only one choice.";
        SplitFailed: "split.failed", "",
            "A permission might be split that is not there.",
            "";
        TypecheckerError: "typechecker.error", "",
            "A name is not declared, or an expression does not have the type that is needed.",
            "Nothing is verified before all names and types are right.";
        TypecheckerWarning: "typechecker.warning", "",
            "A name or type is right, but suspicious.",
            "";
    }
}

ids! {
    /// The obligation that could not be shown.
    Reason {
        AssertionFalse: "assertion.false", "`%e` might not hold",
            "A condition might not hold.",
            "Ask for it in the precondition, or `assert` the steps that lead to it; `--counterexample` shows a state in which it may be false.";
        InsufficientPermission: "insufficient.permission", "there might be insufficient permission to `%e`",
            "There might be less permission than is needed.",
            "Ask for it in the precondition (`requires acc(x.f)`), keep it in the loop's invariant, or unfold the predicate that has it.";
        // Only of programs that ask for it (`@src.receivers`): in Viper it is insufficient
        // permission.
        ReceiverNull: "receiver.null", "a receiver in `%e` might be null",
            "A receiver might be null.",
            "Ask for `x != null`; permission to a field of `x` says it, too.";
        DivisionByZero: "division.by.zero", "the divisor `%e` might be zero",
            "A divisor might be zero.",
            "Ask for a divisor that is not zero, or guard the division.";
        NegativePermission: "negative.permission", "the permission amount `%e` might be negative",
            "A permission amount might be negative.",
            "Ask for `none <= p`.";
        NotInjective: "qp.not.injective", "the receiver of `%e` might be the same for different values",
            "Different values of the quantified variables might mean one location.",
            "State that the receivers differ.";
        HavocNotInjective: "quasihavocall.not.injective", "`%e` might be the same for different values",
            "Different values of the variables of a `quasihavocall` might mean one location.",
            "";
        PermissionNotPositive: "permission.not.positive", "the permission amount `%e` might not be positive",
            "A permission amount might not be positive.",
            "Ask for `none < p`.";
        LabelNotReached: "labelled.state.not.reached", "the state of `%e` might not have been reached",
            "The label that `old` refers to might not have been passed.",
            "";
        IndexNegative: "seq.index.negative", "the index `%e` might be negative",
            "The index of a sequence might be negative.",
            "Ask for `0 <= i`.";
        IndexTooLarge: "seq.index.length", "the index `%e` might exceed the length of the sequence",
            "The index of a sequence might not be below its length.",
            "Ask for `i < |s|`.";
        // Only of Chalice programs: in Viper any bounds will do.
        RangeBounds: "range.empty.bounds", "the bounds of `%e` might not be in order",
            "The upper bound of a range might be below the lower one.",
            "";
        SliceBounds: "seq.slice.bounds", "`%e` might reach beyond the sequence",
            "A slice might reach beyond its sequence.",
            "";
        KeyMissing: "map.key.contains", "the map might not contain the key `%e`",
            "A map might not contain a key.",
            "Guard with `k in domain(m)`.";
        WandNotFound: "wand.not.found", "the magic wand `%e` might not be held",
            "A magic wand might not be held.",
            "";
        RefutationTrue: "refutation.true", "`%e` holds on every path that leads here",
            "What is to be refuted holds on every path that leads there.",
            "";
        TerminationConditionFalse: "termination.condition.false", "",
            "What is called might not promise to terminate.",
            "Give it a `decreases`, too.";
        TupleConditionFalse: "tuple.condition.false", "",
            "There might be no measure where one is required.",
            "";
        TupleFalse: "tuple.false", "",
            "A measure might not decrease, or not be bounded.",
            "";
        // Only of Chalice programs.
        AlreadyShared: "already.shared", "`%e` might be shared already",
            "The object might be shared already.",
            "";
        ConstAssignedTwice: "const.assigned.twice", "`%e` might be assigned more than once",
            "A constant might be assigned more than once.",
            "Assign it on one path only, or make it a variable.";
        FootprintNotDecreasing: "footprint.not.decreasing", "what `%e` needs of the heap might not be less than what there is",
            "What a function reads might not get smaller.",
            "Let it open a predicate before it applies itself.";
        LockNotHeld: "lock.not.held", "the lock of `%e` might not be held",
            "The monitor might not be held.",
            "Acquire it, or ask for it with `holds`.";
        LockOrder: "lock.order", "`%e` might not be in the order of locks",
            "The monitor might not be above all that are held.",
            "State in the precondition that `waitlevel` is below it.";
        LockReadHeld: "lock.read.held", "the lock of `%e` might be held for reading",
            "The monitor might be held for reading only.",
            "";
        ByLoop: "loop", "at the end of an iteration",
            "By the body of a loop.",
            "";
        AtLoopEntry: "loop.entry", "where the loop is entered",
            "Where a loop is entered.",
            "";
        ByMethod: "method", "at the end of the method",
            "By the body of a method.",
            "";
        ByToken: "token", "by the token of the thread",
            "The token of a thread might not be held, or be joined already.",
            "";
        ByThread: "thread", "at the end of the thread",
            "By a thread that was forked.",
            "";
        NoCredit: "no.credit", "there might be no credit for `%e`",
            "A credit of the channel might be missing.",
            "Ask for it with `credit` in the precondition.";
        NotJoinable: "not.joinable", "`%e` might have been joined already",
            "A token might have been joined already.",
            "Ask for `tk.joinable`.";
        NotShared: "not.shared", "`%e` might not be shared",
            "The object might not be shared.",
            "Ask for `o.mu != lockbottom`.";
        FeatureUnsupported: "feature.unsupported", "",
            "The verifier does not know a construct.",
            "The member is not verified. Write it in another way.";
        // Reasons of front ends only.
        EpsilonScaling: "epsilon.scaling", "",
            "A permission of unknown size cannot be scaled.",
            "";
        Footprint: "footprint", "",
            "A footprint might not be what the contract says.",
            "";
        Invariant: "invariant", "",
            "It is about an invariant.",
            "";
        Leak: "leak", "",
            "Permission might be left behind.",
            "";
        NegativeLength: "negative.length", "",
            "A length might be negative.",
            "";
        Order: "order", "",
            "The order of waiting might be violated.",
            "";
        Given: "given", "",
            "It is about what was given away before.",
            "";
        MaximumOfNothing: "maximum.of.nothing", "",
            "The maximum of no numbers might be asked for.",
            "";
    }
}

/// The findings that an annotation of a translation is about: those with these parts, where a part
/// is named. As the new name of a finding, a pattern keeps the part that it does not name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pattern {
    error: Option<ErrorId>,
    reason: Option<Reason>,
}

impl Pattern {
    /// All findings.
    pub const ANY: Self = Self { error: None, reason: None };
}

impl From<ErrorId> for Pattern {
    fn from(error: ErrorId) -> Self {
        Self { error: Some(error), reason: None }
    }
}

impl From<Reason> for Pattern {
    fn from(reason: Reason) -> Self {
        Self { error: None, reason: Some(reason) }
    }
}

impl From<(ErrorId, Reason)> for Pattern {
    fn from((error, reason): (ErrorId, Reason)) -> Self {
        Self { error: Some(error), reason: Some(reason) }
    }
}

/// As annotations write it: `*` stands for what is not named.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.error, self.reason) {
            (None, None) => f.write_str("*"),
            (Some(error), None) => write!(f, "{error}:*"),
            (None, Some(reason)) => write!(f, "*:{reason}"),
            (Some(error), Some(reason)) => write!(f, "{error}:{reason}"),
        }
    }
}

/// Returns `error:reason`, or just `error` where there is no reason.
pub fn full_id(error: ErrorId, reason: Option<Reason>) -> String {
    match reason {
        Some(reason) => format!("{error}:{reason}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_told_apart() {
        let errors = ErrorId::ALL.iter().map(|error| error.id());
        let reasons = Reason::ALL.iter().map(|reason| reason.id());
        let mut seen = BTreeSet::new();
        for id in errors.chain(reasons) {
            assert!(seen.insert(id), "two ids are `{id}`");
            assert!(id.chars().all(|c| c.is_ascii_lowercase() || c == '.'), "{id}");
        }
    }
}
