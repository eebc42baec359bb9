//! The ids of findings: what the user was doing, and what could not be shown.
//!
//! Each id has one row here: its text, the words that a message begins with or is made of, and a line that explains it. Help
//! and reference are made of these rows. A front end has ids of its own, in annotations of its translation; they are texts
//! and reach the user through the source map, never a [`Finding`](super::Finding).

/// An enum with a row of texts for each variant.
macro_rules! ids {
    ($(#[$about:meta])* $name:ident { $($variant:ident: $id:literal, $line:literal;)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum $name {
            $(#[doc = $line] $variant,)*
        }

        impl $name {
            /// Every id, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The id as it is written in reports and in announced expectations.
            pub fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)* }
            }

            /// What it means, in one line.
            pub fn explanation(self) -> &'static str {
                match self { $(Self::$variant => $line,)* }
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
    /// What the user was doing when something could not be shown.
    ErrorId {
        AssertFailed: "assert.failed",
            "An `assert` does not hold in every state that reaches it.";
        NotWellformed: "not.wellformed",
            "A contract or an invariant reads what it has no permission to, or uses an operation outside of its domain.";
        PostconditionViolated: "postcondition.violated",
            "A body does not establish a postcondition.";
        ExhaleFailed: "exhale.failed",
            "An `exhale` asks for something that the state does not have.";
        InhaleFailed: "inhale.failed",
            "An `inhale` or `assume` is not well-formed where it stands.";
        AssignmentFailed: "assignment.failed",
            "An assignment writes without full permission, or its right-hand side is not defined.";
        CallPrecondition: "call.precondition",
            "A call does not establish a precondition of the method.";
        RefuteFailed: "refute.failed",
            "A `refute` holds on every path that leads to it, or no path does.";
        CallFailed: "call.failed",
            "An argument of a call, or what the method promises, is not defined.";
        ApplicationPrecondition: "application.precondition",
            "The precondition of a function does not hold where the function is applied.";
        IfFailed: "if.failed",
            "The condition of a branch is not defined.";
        WhileFailed: "while.failed",
            "The condition of a loop is not defined.";
        InvariantNotEstablished: "invariant.not.established",
            "A loop invariant does not hold where the loop is entered.";
        InvariantNotPreserved: "invariant.not.preserved",
            "A loop invariant does not hold after an iteration.";
        FoldFailed: "fold.failed",
            "The body of a predicate does not hold where it is folded.";
        UnfoldFailed: "unfold.failed",
            "An instance that is to be unfolded is not held.";
        FunctionNotWellformed: "function.not.wellformed",
            "The body of a function is not defined wherever its precondition holds.";
        PackageFailed: "package.failed",
            "The right-hand side of a magic wand does not follow from its left-hand side and what the state has.";
        ApplyFailed: "apply.failed",
            "A magic wand that is to be applied, or its left-hand side, is not held.";
        QuasihavocFailed: "quasihavoc.failed",
            "The condition or the resource of a `quasihavoc` is not defined.";
        QuasihavocallFailed: "quasihavocall.failed",
            "The condition or the resource of a `quasihavocall` is not defined, or names a location twice.";
        WandNotWellformed: "wand.not.wellformed",
            "A magic wand is not self-framing.";
        PredicateNotWellformed: "predicate.not.wellformed",
            "The body of a predicate is not self-framing, or not defined.";
        TerminationFailed: "termination.failed",
            "A measure does not decrease, is not bounded, or is missing.";
        PredicateInstanceNoAccess: "predicateinstance.no.access",
            "A termination measure names a predicate instance that is not held.";
        VerifierWarning: "verifier.warning",
            "Something that is verified is worth a second look.";
        Timeout: "timeout.error",
            "The time of the member was over before all was shown.";
        Internal: "internal",
            "The verifier itself could not go on.";
    }
}

ids! {
    /// What could not be shown.
    Reason {
        AssertionFalse: "assertion.false",
            "A condition might not hold.";
        InsufficientPermission: "insufficient.permission",
            "There might be less permission than is needed.";
        // Only of programs that ask for it (`@src.receivers`): in Viper it is insufficient permission.
        ReceiverNull: "receiver.null",
            "The receiver of a field might be null.";
        DivisionByZero: "division.by.zero",
            "A divisor might be zero.";
        NegativePermission: "negative.permission",
            "A permission amount might be negative.";
        NotInjective: "qp.not.injective",
            "Different values of the quantified variables might mean one location.";
        HavocNotInjective: "quasihavocall.not.injective",
            "Different values of the variables of a `quasihavocall` might mean one location.";
        PermissionNotPositive: "permission.not.positive",
            "A permission amount might not be positive.";
        LabelNotReached: "labelled.state.not.reached",
            "The label that `old` refers to might not have been passed.";
        IndexNegative: "seq.index.negative",
            "The index of a sequence might be negative.";
        IndexTooLarge: "seq.index.length",
            "The index of a sequence might not be below its length.";
        KeyMissing: "map.key.contains",
            "A map might not contain a key.";
        WandNotFound: "wand.not.found",
            "A magic wand might not be held.";
        RefutationTrue: "refutation.true",
            "What is to be refuted holds on every path that leads there.";
        TerminationConditionFalse: "termination.condition.false",
            "What is called might not promise to terminate.";
        TupleConditionFalse: "tuple.condition.false",
            "There might be no measure where one is required.";
        TupleFalse: "tuple.false",
            "A measure might not decrease, or not be bounded.";
        FeatureUnsupported: "feature.unsupported",
            "The engine does not know a construct.";
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
    fn ids_are_told_apart_and_explained() {
        let errors = ErrorId::ALL.iter().map(|error| (error.id(), error.explanation()));
        let reasons = Reason::ALL.iter().map(|reason| (reason.id(), reason.explanation()));
        let mut seen = BTreeSet::new();
        for (id, explanation) in errors.chain(reasons) {
            assert!(seen.insert(id), "two ids are `{id}`");
            assert!(id.chars().all(|c| c.is_ascii_lowercase() || c == '.'), "{id}");
            assert!(explanation.ends_with('.') && explanation.len() > 20, "{id}: {explanation}");
        }
    }
}
