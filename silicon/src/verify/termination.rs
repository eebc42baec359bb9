//! Failed termination checks in words of termination: the engine knows them as failed assertions.

use std::borrow::Cow;

use sil::plugins::termination::{CheckKind, Instrumented};
use sil::program::Member;
use sil::source::{OriginId, Sources, Span};

use symex::report::{ErrorId, Finding, Reason};

/// Returns the findings of a member as its user shall see them, and whether some are left out
/// because they are reported elsewhere.
pub(super) fn findings(
    checks: &Instrumented,
    sources: &Sources,
    member: Member,
    found: Vec<Finding>,
) -> (Vec<Finding>, bool) {
    let is_proof = checks
        .proofs
        .iter()
        .any(|&(method, _)| matches!(member, Member::Method(id) if id == method));
    let all = found.len();
    let shown: Vec<_> =
        found.into_iter().filter_map(|one| finding(checks, sources, one, is_proof)).collect();
    let some_left_out = shown.len() < all;
    (shown, some_left_out)
}

fn finding(
    checks: &Instrumented,
    sources: &Sources,
    found: Finding,
    is_proof: bool,
) -> Option<Finding> {
    let Some(check) = checks.check(found.span) else {
        // The function itself verifies what its proof needs beside the checks.
        return (!is_proof).then_some(found);
    };
    let own = |span: Span| restored(checks, span);
    let reason_kind = found.reason_span.and_then(|span| checks.check(span)).map(|it| it.kind);
    let is_application = found.error == ErrorId::ApplicationPrecondition;
    match (check.kind, found.reason) {
        (CheckKind::Copy, _) => None,
        (kind, Some(Reason::AssertionFalse)) if !is_application => Some(Finding {
            error: ErrorId::TerminationFailed,
            reason: Some(reason(kind)),
            message: message(kind, sources, found.span),
            span: own(found.span),
            reason_span: None,
            related: Vec::new(),
            ..found
        }),
        (_, _) if reason_kind == Some(CheckKind::Copy) => None,
        (_, Some(Reason::InsufficientPermission))
            if is_application && is_of_instance(checks, &found) =>
        {
            Some(Finding {
                error: ErrorId::PredicateInstanceNoAccess,
                message: in_measure("there might be no permission to the predicate instance"),
                span: own(found.span),
                reason_span: None,
                ..found
            })
        }
        _ => Some(Finding {
            error: if is_application { found.error } else { ErrorId::TerminationFailed },
            message: in_measure(
                found.message.split_once(": ").map_or(&*found.message, |(_, words)| words),
            ),
            span: own(found.span),
            reason_span: found.reason_span.map(own),
            ..found
        }),
    }
}

/// Tells whether the failed precondition is that of a predicate's function to its instances, and
/// thus the whole story about the predicate.
fn is_of_instance(checks: &Instrumented, found: &Finding) -> bool {
    let is_predicate = |clause: Span| {
        checks.program.predicates.iter().any(|(_, predicate)| {
            (predicate.span.file, predicate.span.start) == (clause.file, clause.start)
        })
    };
    found.related.iter().any(|&(clause, _)| is_predicate(clause))
}

/// Returns the engine speaks of an assertion, which is not the user's.
fn in_measure(words: &str) -> String {
    format!("termination measure might not be defined: {words}")
}

/// Returns the span as the user's program has it.
fn restored(checks: &Instrumented, span: Span) -> Span {
    let origin: OriginId = checks.check(span).map_or(span.origin, |check| check.origin);
    Span { origin, ..span }
}

/// Returns the reason of a failed check.
fn reason(kind: CheckKind) -> Reason {
    match kind {
        CheckKind::TerminationCondition | CheckKind::Copy => Reason::TerminationConditionFalse,
        CheckKind::TupleCondition => Reason::TupleConditionFalse,
        CheckKind::Tuple => Reason::TupleFalse,
    }
}

fn message(kind: CheckKind, sources: &Sources, at: Span) -> String {
    let text = sources.text(at).map_or(Cow::Borrowed("this"), Cow::Borrowed);
    // A loop is named by its first line.
    let what = text.lines().next().unwrap_or_default().trim_end_matches('{').trim();
    let why = match kind {
        CheckKind::TerminationCondition | CheckKind::Copy => "it might not promise to terminate",
        CheckKind::TupleCondition => "it might not have a measure where one is required",
        CheckKind::Tuple => "the measure might not decrease, or not be bounded",
    };
    format!("termination might fail: `{what}`: {why}")
}
