//! Triggers for quantifiers: the original instantiates on all terms there are, E-matching on those
//! that a trigger names.
//!
//! A trigger is made of applications in the quantifier's body: one that mentions all variables, or
//! one for each variable.

use sil::syntax::walk::{Visitor, visit};
use sil::syntax::{BinaryOp, Expr, ExprKind};

/// How many triggers one quantifier gets at most.
const LIMIT: usize = 10;

/// Triggers for `variables`, made of what `body` applies.
pub(super) fn of(variables: &[&str], body: &Expr) -> Vec<Vec<Expr>> {
    let mut found = Applications { hidden: Vec::new(), all: Vec::new() };
    found.expr(body);
    let mut all: Vec<(Vec<&str>, Expr)> = Vec::new();
    for term in found.all {
        let mentioned: Vec<&str> =
            variables.iter().copied().filter(|name| mentions(&term, name)).collect();
        let is_new = !all.iter().any(|(_, other)| same(other, &term));
        if !mentioned.is_empty() && is_new {
            all.push((mentioned, term));
        }
    }
    let mut triggers: Vec<Vec<Expr>> = all
        .iter()
        .filter(|(mentioned, _)| mentioned.len() == variables.len())
        .map(|(_, term)| vec![term.clone()])
        .collect();
    if variables.len() > 1 {
        let one_each: Vec<Vec<&Expr>> = variables
            .iter()
            .map(|name| {
                let own = all.iter().filter(|(mentioned, _)| **mentioned == [*name]);
                own.map(|(_, term)| term).collect()
            })
            .collect();
        combine(&one_each, &mut triggers);
        if triggers.is_empty() {
            triggers.extend(greedy(variables, &all));
        }
    }
    triggers.extend(bounded(variables, body, &all));
    triggers.truncate(LIMIT);
    triggers
}

/// Where all `x in X` have a property, there is an instance for each `x in X` that is mentioned, if
/// some term names the other variables.
fn bounded(variables: &[&str], body: &Expr, all: &[(Vec<&str>, Expr)]) -> Option<Vec<Expr>> {
    let ExprKind::Binary { op: BinaryOp::Implies, left, .. } = &body.kind else { return None };
    let (bound, domain) = all.iter().find(|(_, term)| same(term, left))?;
    let missing: Vec<&str> =
        variables.iter().copied().filter(|name| !bound.contains(name)).collect();
    let names_them = |(mentioned, _): &&(Vec<&str>, Expr)| {
        missing.iter().all(|name| mentioned.contains(name)) && mentioned.len() < variables.len()
    };
    let (_, names) = all.iter().filter(|_| !missing.is_empty()).find(names_them)?;
    Some(vec![domain.clone(), names.clone()])
}

/// Does the trigger mention all variables?
pub(super) fn covers(trigger: &[Expr], variables: &[&str]) -> bool {
    variables.iter().all(|name| trigger.iter().any(|term| mentions(term, name)))
}

/// Does the expression mention the variable?
pub(super) fn mentions(e: &Expr, name: &str) -> bool {
    struct Search<'n>(&'n str, bool);
    impl Visitor<'_> for Search<'_> {
        fn expr(&mut self, e: &Expr) {
            self.1 |= matches!(&e.kind, ExprKind::Ident(found) if **found == *self.0);
            if !self.1 {
                visit::expr(self, e);
            }
        }
    }
    let mut search = Search(name, false);
    search.expr(e);
    search.1
}

/// Are two expressions without places the same?
pub(super) fn same(left: &Expr, right: &Expr) -> bool {
    format!("{left:?}") == format!("{right:?}")
}

/// Triggers with a term for each variable; first those whose terms apply the same function.
fn combine(one_each: &[Vec<&Expr>], triggers: &mut Vec<Vec<Expr>>) {
    let Some(first) = one_each.first() else { return };
    let mut mixed = Vec::new();
    for &start in first {
        let alike: Option<Vec<Expr>> = one_each
            .iter()
            .map(|terms| {
                terms.iter().find(|term| head(term) == head(start)).map(|it| (*it).clone())
            })
            .collect();
        match alike {
            Some(terms) => triggers.push(terms),
            None => mixed.extend(
                one_each
                    .iter()
                    .enumerate()
                    .map(|(at, terms)| {
                        if at == 0 {
                            Some(start.clone())
                        } else {
                            terms.first().map(|it| (*it).clone())
                        }
                    })
                    .collect::<Option<Vec<Expr>>>(),
            ),
        }
    }
    triggers.extend(mixed);
}

/// One trigger that covers all variables, if there is any.
fn greedy(variables: &[&str], all: &[(Vec<&str>, Expr)]) -> Option<Vec<Expr>> {
    let (mut missing, mut trigger) = (variables.to_vec(), Vec::new());
    let mut sorted: Vec<_> = all.iter().collect();
    sorted.sort_by_key(|(mentioned, _)| std::cmp::Reverse(mentioned.len()));
    for (mentioned, term) in sorted {
        if mentioned.iter().any(|name| missing.contains(name)) {
            missing.retain(|name| !mentioned.contains(name));
            trigger.push(term.clone());
        }
    }
    missing.is_empty().then_some(trigger)
}

fn head(e: &Expr) -> Option<&str> {
    match &e.kind {
        ExprKind::Call { name, .. } => Some(&name.name),
        _ => None,
    }
}

/// Applications that may be triggers: of functions to variables and such applications, outside of
/// inner quantifiers or without their variables.
struct Applications {
    hidden: Vec<String>,
    all: Vec<Expr>,
}

impl Visitor<'_> for Applications {
    fn expr(&mut self, e: &Expr) {
        if let ExprKind::Quantified { variables, .. } = &e.kind {
            let outer = self.hidden.len();
            self.hidden.extend(variables.iter().map(|one| one.name.name.to_string()));
            visit::expr(self, e);
            self.hidden.truncate(outer);
            return;
        }
        let is_application = matches!(&e.kind, ExprKind::Call { .. } | ExprKind::Field { .. });
        if is_application && is_pattern(e) && !self.hidden.iter().any(|name| mentions(e, name)) {
            self.all.push(e.clone());
        }
        visit::expr(self, e);
    }
}

/// Is it made of applications, variables and literals alone?
fn is_pattern(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Ident(_) | ExprKind::Int(_) | ExprKind::Bool(_) => true,
        ExprKind::Call { arguments, .. } => arguments.iter().all(is_pattern),
        ExprKind::Field { receiver, .. } => is_pattern(receiver),
        _ => false,
    }
}
