//! Collections that are equal by their theory, as arguments of functions.
//!
//! A function has one value for equal arguments. The prover knows this, but compares collections
//! only where a formula mentions their equality. So a goal that applies a function to a collection
//! mentions its equality with other collections to which the function is applied.
//!
//! SOUNDNESS: no formula is about the predicate that mentions a term, so it may hold of every term,
//! and the premises say nothing.

use rustc_hash::FxHashSet;

use smt::terms::{Symbol, Term, TermKind, Terms};

use crate::Path;

/// An application of a function to at least one collection.
struct Application {
    symbol: Symbol,
    arguments: Box<[Term]>,
}

impl Path<'_> {
    /// Returns the goal with premises that mention the equality of collections; `None` where there
    /// are none to compare.
    pub(super) fn with_compared_arguments(&mut self, goal: Term) -> Option<Term> {
        let of_goal = applications(&self.terms, [goal]);
        if of_goal.is_empty() {
            return None;
        }
        let others = applications(&self.terms, self.knowledge.learned().chain([goal]));
        let mut pairs = Vec::new();
        for Application { symbol, arguments } in &of_goal {
            for other in others.iter().filter(|other| other.symbol == *symbol) {
                let both = arguments.iter().zip(&other.arguments);
                pairs.extend(both.filter(|(left, right)| left != right).map(|(l, r)| (*l, *r)));
            }
        }
        let mut mentioned = Vec::new();
        for (left, right) in pairs {
            if self.terms.is_collection(self.terms.sort(left)) {
                let equal = self.terms.eq(left, right);
                mentioned.push(self.mentioned(equal));
            }
        }
        if mentioned.is_empty() {
            return None;
        }
        let mentioned = self.terms.and(mentioned);
        Some(self.terms.implies(mentioned, goal))
    }
}

/// Returns the applications to collections in formulas, each once. Those that depend on a bound
/// variable are left out.
fn applications(terms: &Terms, formulas: impl IntoIterator<Item = Term>) -> Vec<Application> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let mut pending: Vec<Term> = formulas.into_iter().collect();
    while let Some(term) = pending.pop() {
        if terms.is_open(term) || !seen.insert(term) {
            continue;
        }
        match terms.kind(term) {
            TermKind::Quantifier(_) => {}
            TermKind::Apply(symbol, arguments) => {
                if arguments.iter().any(|&argument| terms.is_collection(terms.sort(argument))) {
                    found.push(Application { symbol: *symbol, arguments: arguments.clone() });
                }
                pending.extend(arguments);
            }
            kind => kind.for_each_operand(|operand| pending.push(operand)),
        }
    }
    found
}
