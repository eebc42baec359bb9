//! What the ids of findings mean, and what to do about them: the one table that `silicon explain`, the help in SARIF and
//! `docs/errors.md` are made of.
//!
//! An id is what the user was doing, and, after a colon, what could not be shown: `assert.failed:assertion.false`.

/// One part of an id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    pub id: &'static str,
    /// What it says.
    pub meaning: &'static str,
    /// What to do; empty where that depends on the other part.
    pub advice: &'static str,
}

/// What the user was doing.
pub const ERRORS: &[Row] = &[
    row("access.failed", "A location is read without permission.", ""),
    row(
        "acquire.failed",
        "A monitor cannot be acquired: it is held already, out of order, or may be null.",
        "State in the precondition that `waitlevel` is below the monitor.",
    ),
    row(
        "application.precondition",
        "The precondition of a function might not hold where the function is applied.",
        "",
    ),
    row(
        "apply.failed",
        "A magic wand that is to be applied might not be held, or its left-hand side might not.",
        "",
    ),
    row("arithmetic.failed", "An operation on numbers is used outside of its domain.", ""),
    row("assert.failed", "An `assert` might not hold.", ""),
    row(
        "assignment.failed",
        "An assignment might write without permission, or its right-hand side might not be defined.",
        "",
    ),
    row(
        "bounds.failed",
        "An index might be outside of what it is an index of.",
        "Bound the index in a precondition or an invariant.",
    ),
    row(
        "call.failed",
        "An argument of a call, or what the method promises, might not be defined.",
        "",
    ),
    row("call.precondition", "A call might not establish the precondition of the method.", ""),
    row(
        "consistency.error",
        "The program is well-typed, but says something that has no meaning.",
        "The message says which rule is broken; nothing is verified before it is kept.",
    ),
    row(
        "debt.failed",
        "A thread might end while it owes messages on a channel.",
        "Send the message, or promise the debt in the postcondition.",
    ),
    row("downgrade.failed", "A monitor is downgraded that might not be held for writing.", ""),
    row("exhale.failed", "An `exhale` might ask for what the state does not have.", ""),
    row(
        "fold.failed",
        "The body of a predicate might not hold where it is folded.",
        "Establish each conjunct of the body before the `fold`.",
    ),
    row("free.failed", "An object might be freed without permission to all of it.", ""),
    row(
        "function.not.wellformed",
        "The body of a function might not be defined wherever its precondition holds.",
        "Strengthen the precondition, or guard the operation.",
    ),
    row(
        "ghost.violated",
        "What is written for the proof only would influence the run.",
        "Use it in contracts and assertions only.",
    ),
    row("if.failed", "The condition of a branch might not be defined.", ""),
    row("inhale.failed", "An `inhale` or `assume` might not be well-formed where it stands.", ""),
    row(
        "internal",
        "The verifier could not go on: a construct that it does not support, or a defect.",
        "Where nothing says that it is not supported, please report it.",
    ),
    row(
        "invariant.not.established",
        "A loop invariant might not hold where the loop is entered.",
        "Establish it before the loop, or weaken it.",
    ),
    row(
        "invariant.not.preserved",
        "A loop invariant might not hold after an iteration.",
        "An iteration starts from the invariant and the condition alone: add to the invariant what the body needs.",
    ),
    row(
        "invariant.not.reflexive",
        "A monitor invariant about two states might not hold if nothing changes.",
        "",
    ),
    row(
        "invariant.not.transitive",
        "A monitor invariant about two states might not hold over several changes.",
        "",
    ),
    row(
        "leak.failed",
        "Permission might be left behind that nobody has any more.",
        "Return it in the postcondition, or free the object.",
    ),
    row("lock.failed", "A monitor might not be in the state that a `lock` needs.", ""),
    row(
        "lockchange.violated",
        "Monitors might be held, or no longer, that the contract does not name.",
        "Add them to `lockchange`.",
    ),
    row("new.failed", "A new object might not be created as it is written.", ""),
    row(
        "not.wellformed",
        "A contract or an invariant might read what it has no permission to, or use an operation outside of its domain.",
        "A contract has to bring the permission it needs: write `acc(x.f)` to the left of what reads `x.f`.",
    ),
    row(
        "notsupported",
        "The verifier does not know a construct.",
        "The member is not verified. Write it in another way.",
    ),
    row(
        "package.failed",
        "The right-hand side of a magic wand might not follow from its left-hand side and the state.",
        "",
    ),
    row(
        "parser.error",
        "The text is no program.",
        "The message names what was expected there; the mistake may be just before.",
    ),
    row("parser.warning", "The text may not mean what its author thinks.", ""),
    row("postcondition.violated", "A body might not establish a postcondition.", ""),
    row(
        "predicate.not.precise",
        "The body of a predicate might hold with more than one footprint.",
        "Say in the body which objects it is about, so that there is only one choice.",
    ),
    row(
        "predicate.not.wellformed",
        "The body of a predicate might read what it has no permission to, or might not be defined.",
        "Write `acc(x.f)` to the left of what reads `x.f`.",
    ),
    row(
        "predicateinstance.no.access",
        "A termination measure names a predicate instance that might not be held.",
        "",
    ),
    row(
        "quasihavoc.failed",
        "The condition or the resource of a `quasihavoc` might not be defined.",
        "",
    ),
    row(
        "quasihavocall.failed",
        "The condition or the resource of a `quasihavocall` might not be defined.",
        "",
    ),
    row(
        "receive.failed",
        "A message might not be there to be received, or the order of waiting is violated.",
        "",
    ),
    row(
        "refute.failed",
        "A `refute` holds on every path that leads to it, or no path does.",
        "If that is a surprise, something above is contradictory.",
    ),
    row(
        "release.failed",
        "A monitor might be released that is not held, or whose invariant does not hold.",
        "Restore the invariant before the `release`.",
    ),
    row("reorder.failed", "The order of a monitor might be changed without the right to it.", ""),
    row("send.failed", "What the channel promises might not hold of a message.", ""),
    row(
        "share.failed",
        "An object might be shared whose invariant does not hold, or that is shared.",
        "Establish the invariant before the `share`.",
    ),
    row("split.failed", "A permission might be split that is not there.", ""),
    row(
        "termination.failed",
        "A measure might not decrease, might not be bounded, or is missing.",
        "Name something in `decreases` that gets smaller with each call or iteration, and is never negative.",
    ),
    row(
        "timeout.error",
        "A limit was reached before all was shown: nothing is known of the rest.",
        "Raise the limit that the message names; `--stats` shows where the time goes. A proof often gets faster when an `assert` states a step in between.",
    ),
    row(
        "typechecker.error",
        "A name is not declared, or an expression does not have the type that is needed.",
        "Nothing is verified before all names and types are right.",
    ),
    row("typechecker.warning", "A name or type is right, but suspicious.", ""),
    row("unfold.failed", "An instance that is to be unfolded might not be held.", ""),
    row("unshare.failed", "An object might be taken back that is not shared, or not held.", ""),
    row(
        "verifier.warning",
        "Something that is verified is worth a second look.",
        "Contradictory contracts verify whatever is written below them.",
    ),
    row("wand.not.wellformed", "A magic wand might read what it has no permission to.", ""),
    row(
        "while.failed",
        "The condition of a loop might not be defined.",
        "The invariant has to have the permission that the condition needs.",
    ),
];

/// What could not be shown.
pub const REASONS: &[Row] = &[
    row("already.shared", "The object might be shared already.", ""),
    row(
        "assertion.false",
        "A condition might not hold.",
        "Ask for it in the precondition, or `assert` the steps that lead to it; `--counterexample` shows a state in which it may be false.",
    ),
    row(
        "const.assigned.twice",
        "A constant might be assigned more than once.",
        "Assign it on one path only, or make it a variable.",
    ),
    row(
        "division.by.zero",
        "A divisor might be zero.",
        "Ask for a divisor that is not zero, or guard the division.",
    ),
    row("epsilon.scaling", "A permission of unknown size cannot be scaled.", ""),
    row(
        "feature.unsupported",
        "The verifier does not know a construct.",
        "The member is not verified. Write it in another way.",
    ),
    row("footprint", "A footprint might not be what the contract says.", ""),
    row(
        "footprint.not.decreasing",
        "What a function reads might not get smaller.",
        "Let it open a predicate before it applies itself.",
    ),
    row(
        "insufficient.permission",
        "There might be less permission than is needed.",
        "Ask for it in the precondition (`requires acc(x.f)`), keep it in the loop's invariant, or unfold the predicate that has it.",
    ),
    row("invariant", "It is about an invariant.", ""),
    row(
        "labelled.state.not.reached",
        "The label that `old` refers to might not have been passed.",
        "",
    ),
    row("leak", "Permission might be left behind.", ""),
    row(
        "lock.not.held",
        "The monitor might not be held.",
        "Acquire it, or ask for it with `holds`.",
    ),
    row(
        "lock.order",
        "The monitor might not be above all that are held.",
        "State in the precondition that `waitlevel` is below it.",
    ),
    row("lock.read.held", "The monitor might be held for reading only.", ""),
    row("loop", "By the body of a loop.", ""),
    row("loop.entry", "Where a loop is entered.", ""),
    row("map.key.contains", "A map might not contain a key.", "Guard with `k in domain(m)`."),
    row("method", "By the body of a method.", ""),
    row("negative.length", "A length might be negative.", ""),
    row("negative.permission", "A permission amount might be negative.", "Ask for `none <= p`."),
    row(
        "no.credit",
        "A credit of the channel might be missing.",
        "Ask for it with `credit` in the precondition.",
    ),
    row("order", "The order of waiting might be violated.", ""),
    row(
        "permission.not.positive",
        "A permission amount might not be positive.",
        "Ask for `none < p`.",
    ),
    row(
        "qp.not.injective",
        "Different values of the quantified variables might mean one location.",
        "State that the receivers differ.",
    ),
    row(
        "quasihavocall.not.injective",
        "Different values of the variables of a `quasihavocall` might mean one location.",
        "",
    ),
    row("range.empty.bounds", "The upper bound of a range might be below the lower one.", ""),
    row(
        "receiver.null",
        "A receiver might be null.",
        "Ask for `x != null`; permission to a field of `x` says it, too.",
    ),
    row("refutation.true", "What is to be refuted holds on every path that leads there.", ""),
    row(
        "seq.index.length",
        "The index of a sequence might not be below its length.",
        "Ask for `i < |s|`.",
    ),
    row("seq.index.negative", "The index of a sequence might be negative.", "Ask for `0 <= i`."),
    row("seq.slice.bounds", "A slice might reach beyond its sequence.", ""),
    row(
        "termination.condition.false",
        "What is called might not promise to terminate.",
        "Give it a `decreases`, too.",
    ),
    row("thread", "By a thread that was forked.", ""),
    row("token", "The token of a thread might not be held, or be joined already.", ""),
    row("tuple.condition.false", "There might be no measure where one is required.", ""),
    row("tuple.false", "A measure might not decrease, or not be bounded.", ""),
    row("wand.not.found", "A magic wand might not be held.", ""),
];

const fn row(id: &'static str, meaning: &'static str, advice: &'static str) -> Row {
    Row { id, meaning, advice }
}

/// The rows for the parts of an id that have one.
pub fn rows(id: &str) -> Vec<Row> {
    let (error, reason) =
        id.split_once(':').map_or((id, None), |(error, reason)| (error, Some(reason)));
    let find = |rows: &[Row], id: &str| rows.iter().find(|row| row.id == id).copied();
    match reason {
        Some(reason) => find(ERRORS, error).into_iter().chain(find(REASONS, reason)).collect(),
        // Of a reason alone, one may want to know as well.
        None => find(ERRORS, error).or_else(|| find(REASONS, error)).into_iter().collect(),
    }
}

/// What an id means; a front end may make ids of its own.
pub fn meaning(id: &str) -> String {
    match &rows(id)[..] {
        [] => "An id that a front end has made.".to_owned(),
        rows => rows.iter().map(|row| row.meaning).collect::<Vec<_>>().join(" "),
    }
}

/// What to do about it; empty where nothing is known.
pub fn advice(id: &str) -> String {
    let rows = rows(id);
    let advice = rows.iter().map(|row| row.advice).filter(|advice| !advice.is_empty());
    advice.collect::<Vec<_>>().join(" ")
}

/// The text of `docs/errors.md`.
pub fn reference() -> String {
    let mut text = "# Ids of findings

Each finding has an id: what the program was doing, and, after a colon, what could not be shown, as in
`assert.failed:assertion.false`. Ids are stable: scripts and annotations may rely on them, not on the words of messages.
`silicon explain ID` shows what is here. This page is made from the table in `silicon/src/explain.rs`.
"
    .to_owned();
    for (title, rows) in
        [("What the program was doing", ERRORS), ("What could not be shown", REASONS)]
    {
        text += &format!("\n## {title}\n\n| id | meaning | what to do |\n|---|---|---|\n");
        for Row { id, meaning, advice } in rows {
            text += &format!("| `{id}` | {} | {} |\n", cell(meaning), cell(advice));
        }
    }
    text
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{ErrorId, Reason};

    #[test]
    fn rows_are_in_order_and_whole_sentences() {
        for rows in [ERRORS, REASONS] {
            assert!(rows.windows(2).all(|two| two[0].id < two[1].id));
            for Row { id, meaning, advice } in rows {
                assert!(meaning.ends_with('.') && !meaning.contains('\n'), "{id}");
                assert!(advice.is_empty() || advice.ends_with('.'), "{id}");
            }
        }
    }

    #[test]
    fn every_id_of_the_engine_has_a_row() {
        for id in ErrorId::ALL.iter().map(|error| error.id()) {
            assert!(ERRORS.iter().any(|row| row.id == id), "{id}");
        }
        for id in Reason::ALL.iter().map(|reason| reason.id()) {
            assert!(REASONS.iter().any(|row| row.id == id), "{id}");
        }
    }

    #[test]
    fn both_parts_are_explained() {
        assert!(meaning("assert.failed:division.by.zero").contains("divisor"));
        assert!(meaning("assert.failed:division.by.zero").contains("assert"));
        assert_eq!(rows("division.by.zero").len(), 1);
        assert_eq!(rows("made.up"), []);
        assert!(!advice("assert.failed:division.by.zero").is_empty());
    }
}
