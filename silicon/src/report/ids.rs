//! The ids of findings: what the user was doing, and what could not be shown.
//!
//! Each id has one row here: its text, what it means, and what to do about it. Help and reference
//! are made of these rows ([`crate::explain`]). A front end has ids of its own, in annotations of
//! its translation; they are texts and reach the user through the source map, never a
//! [`Finding`](super::Finding).

/// An enum with a row of texts for each variant.
macro_rules! ids {
    ($(#[$about:meta])* $name:ident { $($variant:ident: $id:literal, $meaning:literal, $advice:literal;)* }) => {
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

            /// The id as it is written in reports and in announced expectations.
            pub fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)* }
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

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.id())
            }
        }
    };
}

ids! {
    /// The user's action during which an obligation failed.
    ErrorId {
        AssertFailed: "assert.failed",
            "An `assert` might not hold.",
            "";
        NotWellformed: "not.wellformed",
            "A contract or an invariant might read what it has no permission to, or use an operation outside of its domain.",
            "A contract has to bring the permission it needs: write `acc(x.f)` to the left of what reads `x.f`.";
        PostconditionViolated: "postcondition.violated",
            "A body might not establish a postcondition.",
            "";
        ExhaleFailed: "exhale.failed",
            "An `exhale` might ask for what the state does not have.",
            "";
        InhaleFailed: "inhale.failed",
            "An `inhale` or `assume` might not be well-formed where it stands.",
            "";
        AssignmentFailed: "assignment.failed",
            "An assignment might write without permission, or its right-hand side might not be defined.",
            "";
        CallPrecondition: "call.precondition",
            "A call might not establish the precondition of the method.",
            "";
        RefuteFailed: "refute.failed",
            "A `refute` holds on every path that leads to it, or no path does.",
            "If that is a surprise, something above is contradictory.";
        CallFailed: "call.failed",
            "An argument of a call, or what the method promises, might not be defined.",
            "";
        ApplicationPrecondition: "application.precondition",
            "The precondition of a function might not hold where the function is applied.",
            "";
        IfFailed: "if.failed",
            "The condition of a branch might not be defined.",
            "";
        WhileFailed: "while.failed",
            "The condition of a loop might not be defined.",
            "The invariant has to have the permission that the condition needs.";
        InvariantNotEstablished: "invariant.not.established",
            "A loop invariant might not hold where the loop is entered.",
            "Establish it before the loop, or weaken it.";
        InvariantNotPreserved: "invariant.not.preserved",
            "A loop invariant might not hold after an iteration.",
            "An iteration starts from the invariant and the condition alone: add to the invariant what the body needs.";
        FoldFailed: "fold.failed",
            "The body of a predicate might not hold where it is folded.",
            "Establish each conjunct of the body before the `fold`.";
        UnfoldFailed: "unfold.failed",
            "An instance that is to be unfolded might not be held.",
            "";
        FunctionNotWellformed: "function.not.wellformed",
            "The body of a function might not be defined wherever its precondition holds.",
            "Strengthen the precondition, or guard the operation.";
        PackageFailed: "package.failed",
            "The right-hand side of a magic wand might not follow from its left-hand side and the state.",
            "";
        ApplyFailed: "apply.failed",
            "A magic wand that is to be applied might not be held, or its left-hand side might not.",
            "";
        QuasihavocFailed: "quasihavoc.failed",
            "The condition or the resource of a `quasihavoc` might not be defined.",
            "";
        QuasihavocallFailed: "quasihavocall.failed",
            "The condition or the resource of a `quasihavocall` might not be defined.",
            "";
        WandNotWellformed: "wand.not.wellformed",
            "A magic wand might read what it has no permission to.",
            "";
        PredicateNotWellformed: "predicate.not.wellformed",
            "The body of a predicate might read what it has no permission to, or might not be defined.",
            "Write `acc(x.f)` to the left of what reads `x.f`.";
        TerminationFailed: "termination.failed",
            "A measure might not decrease, might not be bounded, or is missing.",
            "Name something in `decreases` that gets smaller with each call or iteration, and is never negative.";
        PredicateInstanceNoAccess: "predicateinstance.no.access",
            "A termination measure names a predicate instance that might not be held.",
            "";
        // What only Chalice programs do.
        AcquireFailed: "acquire.failed",
            "A monitor cannot be acquired: it is held already, out of order, or may be null.",
            "State in the precondition that `waitlevel` is below the monitor.";
        BoundsFailed: "bounds.failed",
            "An index might be outside of what it is an index of.",
            "Bound the index in a precondition or an invariant.";
        DebtFailed: "debt.failed",
            "A thread might end while it owes messages on a channel.",
            "Send the message, or promise the debt in the postcondition.";
        DowngradeFailed: "downgrade.failed",
            "A monitor is downgraded that might not be held for writing.",
            "";
        FreeFailed: "free.failed",
            "An object might be freed without permission to all of it.",
            "";
        InvariantNotReflexive: "invariant.not.reflexive",
            "A monitor invariant about two states might not hold if nothing changes.",
            "";
        InvariantNotTransitive: "invariant.not.transitive",
            "A monitor invariant about two states might not hold over several changes.",
            "";
        JoinFailed: "join.failed",
            "A token might not be held as a whole, or be joined already.",
            "Ask for `acc(tk.joinable) && tk.joinable`.";
        LeakFailed: "leak.failed",
            "Permission might be left behind that nobody has any more.",
            "Return it in the postcondition, or free the object.";
        LockchangeViolated: "lockchange.violated",
            "Monitors might be held, or no longer, that the contract does not name.",
            "Add them to `lockchange`.";
        ReceiveFailed: "receive.failed",
            "A message might not be there to be received, or the order of waiting is violated.",
            "";
        ReleaseFailed: "release.failed",
            "A monitor might be released that is not held, or whose invariant does not hold.",
            "Restore the invariant before the `release`.";
        ReorderFailed: "reorder.failed",
            "The order of a monitor might be changed without the right to it.",
            "";
        SendFailed: "send.failed",
            "What the channel promises might not hold of a message.",
            "";
        ShareFailed: "share.failed",
            "An object might be shared whose invariant does not hold, or that is shared.",
            "Establish the invariant before the `share`.";
        UnshareFailed: "unshare.failed",
            "An object might be taken back that is not shared, or not held.",
            "";
        VerifierWarning: "verifier.warning",
            "Something that is verified is worth a second look.",
            "Contradictory contracts verify whatever is written below them.";
        Timeout: "timeout.error",
            "A limit was reached before all was shown: nothing is known of the rest.",
            "Raise the limit that the message names; A note names the statement or clause that was being verified; `--stats` lists the places that cost most. A proof often gets faster when an `assert` states a step in between.";
        Internal: "internal",
            "The verifier could not go on: a construct that it does not support, or a defect.",
            "Where nothing says that it is not supported, please report it.";
    }
}

ids! {
    /// The obligation that could not be shown.
    Reason {
        AssertionFalse: "assertion.false",
            "A condition might not hold.",
            "Ask for it in the precondition, or `assert` the steps that lead to it; `--counterexample` shows a state in which it may be false.";
        InsufficientPermission: "insufficient.permission",
            "There might be less permission than is needed.",
            "Ask for it in the precondition (`requires acc(x.f)`), keep it in the loop's invariant, or unfold the predicate that has it.";
        // Only of programs that ask for it (`@src.receivers`): in Viper it is insufficient
        // permission.
        ReceiverNull: "receiver.null",
            "A receiver might be null.",
            "Ask for `x != null`; permission to a field of `x` says it, too.";
        DivisionByZero: "division.by.zero",
            "A divisor might be zero.",
            "Ask for a divisor that is not zero, or guard the division.";
        NegativePermission: "negative.permission",
            "A permission amount might be negative.",
            "Ask for `none <= p`.";
        NotInjective: "qp.not.injective",
            "Different values of the quantified variables might mean one location.",
            "State that the receivers differ.";
        HavocNotInjective: "quasihavocall.not.injective",
            "Different values of the variables of a `quasihavocall` might mean one location.",
            "";
        PermissionNotPositive: "permission.not.positive",
            "A permission amount might not be positive.",
            "Ask for `none < p`.";
        LabelNotReached: "labelled.state.not.reached",
            "The label that `old` refers to might not have been passed.",
            "";
        IndexNegative: "seq.index.negative",
            "The index of a sequence might be negative.",
            "Ask for `0 <= i`.";
        IndexTooLarge: "seq.index.length",
            "The index of a sequence might not be below its length.",
            "Ask for `i < |s|`.";
        // Only of Chalice programs: in Viper any bounds will do.
        RangeBounds: "range.empty.bounds",
            "The upper bound of a range might be below the lower one.",
            "";
        SliceBounds: "seq.slice.bounds",
            "A slice might reach beyond its sequence.",
            "";
        KeyMissing: "map.key.contains",
            "A map might not contain a key.",
            "Guard with `k in domain(m)`.";
        WandNotFound: "wand.not.found",
            "A magic wand might not be held.",
            "";
        RefutationTrue: "refutation.true",
            "What is to be refuted holds on every path that leads there.",
            "";
        TerminationConditionFalse: "termination.condition.false",
            "What is called might not promise to terminate.",
            "Give it a `decreases`, too.";
        TupleConditionFalse: "tuple.condition.false",
            "There might be no measure where one is required.",
            "";
        TupleFalse: "tuple.false",
            "A measure might not decrease, or not be bounded.",
            "";
        // Only of Chalice programs.
        AlreadyShared: "already.shared",
            "The object might be shared already.",
            "";
        ConstAssignedTwice: "const.assigned.twice",
            "A constant might be assigned more than once.",
            "Assign it on one path only, or make it a variable.";
        FootprintNotDecreasing: "footprint.not.decreasing",
            "What a function reads might not get smaller.",
            "Let it open a predicate before it applies itself.";
        LockNotHeld: "lock.not.held",
            "The monitor might not be held.",
            "Acquire it, or ask for it with `holds`.";
        LockOrder: "lock.order",
            "The monitor might not be above all that are held.",
            "State in the precondition that `waitlevel` is below it.";
        LockReadHeld: "lock.read.held",
            "The monitor might be held for reading only.",
            "";
        ByLoop: "loop",
            "By the body of a loop.",
            "";
        AtLoopEntry: "loop.entry",
            "Where a loop is entered.",
            "";
        ByMethod: "method",
            "By the body of a method.",
            "";
        ByToken: "token",
            "The token of a thread might not be held, or be joined already.",
            "";
        ByThread: "thread",
            "By a thread that was forked.",
            "";
        NoCredit: "no.credit",
            "A credit of the channel might be missing.",
            "Ask for it with `credit` in the precondition.";
        NotJoinable: "not.joinable",
            "A token might have been joined already.",
            "Ask for `tk.joinable`.";
        NotShared: "not.shared",
            "The object might not be shared.",
            "Ask for `o.mu != lockbottom`.";
        FeatureUnsupported: "feature.unsupported",
            "The verifier does not know a construct.",
            "The member is not verified. Write it in another way.";
    }
}

/// `error:reason`, or just `error` where there is no reason.
pub(crate) fn full_id(error: ErrorId, reason: Option<Reason>) -> String {
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
