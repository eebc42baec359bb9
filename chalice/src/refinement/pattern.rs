//! `transforms`: a pattern says which statements of a body stay and which are replaced.

use front::grow_stack;
use rustc_hash::FxHashSet;

use super::effects::declared_in;
use super::replay::Setting;
use super::{Found, error};
use crate::syntax::{Block, Ident, IfArm, Pattern, PatternPart, Stmt, StmtKind};

/// A method body twice: as it is written, and with the coupling in its assertions. Both have the
/// same statements.
#[derive(Clone, Copy)]
pub(super) struct Bodies<'b> {
    pub(super) written: &'b [Stmt],
    pub(super) coupled: &'b [Stmt],
}

/// How statements are made of those of a body.
enum Step<'p> {
    /// As many statements stay.
    Keep(usize),
    /// As many statements are replaced.
    Replace(usize, &'p Block),
    /// One statement stays, and others take the places in it.
    Inside(&'p PatternPart),
    /// A new statement.
    Insert(&'p Stmt),
}

/// Returns the body that a pattern makes of a body.
pub(super) fn transformed(
    setting: &Setting<'_>,
    bodies: Bodies<'_>,
    pattern: &Pattern,
    scope: &mut Scope,
) -> Found<Vec<Stmt>> {
    let mut failed = FxHashSet::default();
    let mut steps = Vec::new();
    if !matches(&pattern.parts, bodies.written, &mut steps, &mut failed, (0, 0)) {
        return Err(error("the pattern does not fit the statements", pattern.span));
    }
    let outer = scope.clone();
    let mut all = Vec::new();
    let mut at = 0;
    for step in steps {
        match step {
            Step::Keep(count) => {
                scope.old.extend(declared_in(&bodies.written[at..at + count]));
                all.extend(bodies.coupled[at..at + count].iter().cloned());
                at += count;
            }
            Step::Replace(count, block) => {
                let (old, new) = (&bodies.written[at..at + count], &block.stmts);
                let variables = (scope.old.as_slice(), scope.new.as_slice());
                all.extend(setting.side_by_side(variables, old, new, true, block.span)?);
                at += count;
                let old = declared_in(old);
                scope.new.extend(declared_in(new).into_iter().filter(|one| !old.contains(one)));
                scope.old.extend(declared_in(new).into_iter().filter(|one| old.contains(one)));
            }
            Step::Insert(stmt) => {
                let new = std::slice::from_ref(stmt);
                let variables = (scope.old.as_slice(), scope.new.as_slice());
                all.extend(setting.side_by_side(variables, &[], new, true, stmt.span)?);
                scope.new.extend(declared_in(new));
            }
            Step::Inside(part) => {
                let (written, coupled) = (&bodies.written[at], &bodies.coupled[at]);
                all.push(grow_stack(|| inside(setting, part, written, coupled, scope))?);
                at += 1;
            }
        }
    }
    *scope = outer;
    Ok(all)
}

/// The variables in scope: those of the refined method, and those that are new.
#[derive(Clone, Default)]
pub(super) struct Scope {
    pub(super) old: Vec<String>,
    pub(super) new: Vec<String>,
}

/// Returns a conditional or loop with a pattern inside.
fn inside(
    setting: &Setting<'_>,
    part: &PatternPart,
    written: &Stmt,
    coupled: &Stmt,
    scope: &mut Scope,
) -> Found<Stmt> {
    let kind = match (part, &written.kind, &coupled.kind) {
        (
            PatternPart::While { invariants, body: pattern },
            StmtKind::While { body: old, .. },
            StmtKind::While { guard, specs, body },
        ) => {
            let bodies = Bodies { written: &old.stmts, coupled: &body.stmts };
            let stmts = transformed(setting, bodies, pattern, scope)?;
            let specs = specs.iter().chain(invariants).cloned().collect();
            let body = Block { stmts, span: body.span };
            StmtKind::While { guard: guard.clone(), specs, body }
        }
        (
            PatternPart::If { then, otherwise },
            StmtKind::If { arms: old, otherwise: old_else },
            StmtKind::If { arms, otherwise: new_else },
        ) => {
            let mut patterns = vec![then];
            let mut last = otherwise.as_ref();
            // `else if` is a pattern with one part.
            while patterns.len() < arms.len()
                && let Some(Pattern { parts, .. }) = last
                && let [PatternPart::If { then, otherwise }] = parts.as_slice()
            {
                patterns.push(then);
                last = otherwise.as_ref();
            }
            if patterns.len() != arms.len() || last.is_some() != old_else.is_some() {
                return Err(error("the pattern has other branches than the `if`", then.span));
            }
            let mut new = Vec::new();
            for ((pattern, old), arm) in patterns.into_iter().zip(old).zip(arms) {
                let bodies = Bodies { written: &old.body.stmts, coupled: &arm.body.stmts };
                let stmts = transformed(setting, bodies, pattern, scope)?;
                let body = Block { stmts, span: arm.body.span };
                new.push(IfArm { condition: arm.condition.clone(), body, span: arm.span });
            }
            let otherwise = match (last, old_else, new_else) {
                (Some(pattern), Some(old), Some(coupled)) => {
                    let bodies = Bodies { written: stmts_of(old), coupled: stmts_of(coupled) };
                    let stmts = transformed(setting, bodies, pattern, scope)?;
                    let block = Block { stmts, span: coupled.span };
                    Some(Box::new(Stmt { kind: StmtKind::Block(block), span: coupled.span }))
                }
                _ => None,
            };
            StmtKind::If { arms: new, otherwise }
        }
        _ => unreachable!("the pattern fits the statement"),
    };
    Ok(Stmt { kind, span: coupled.span })
}

/// Returns the statements of a block, or the statement that stands in place of one.
fn stmts_of(stmt: &Stmt) -> &[Stmt] {
    match &stmt.kind {
        StmtKind::Block(block) => &block.stmts,
        _ => std::slice::from_ref(stmt),
    }
}

/// Finds the steps from the places `at` in pattern and body on. What stays is as much as possible,
/// and what is replaced as little, but not nothing if there is a choice.
/// Places from which nothing fits are noted, so that none is tried twice.
fn matches<'p>(
    parts: &'p [PatternPart],
    body: &[Stmt],
    steps: &mut Vec<Step<'p>>,
    failed: &mut FxHashSet<(usize, usize)>,
    at: (usize, usize),
) -> bool {
    let (part, stmt) = at;
    if part == parts.len() {
        return stmt == body.len();
    }
    if failed.contains(&at) {
        return false;
    }
    let rest = &body[stmt..];
    let counts: Vec<usize> = match &parts[part] {
        PatternPart::Keep => {
            let most = rest.iter().take_while(|stmt| is_deterministic(stmt)).count();
            (0..=most).rev().collect()
        }
        PatternPart::KeepAny => (0..=rest.len()).rev().collect(),
        PatternPart::ReplaceBlock(_) => (1..=rest.len()).chain([0]).collect(),
        PatternPart::If { .. } => one(rest, |kind| matches!(kind, StmtKind::If { .. })),
        PatternPart::While { .. } => one(rest, |kind| matches!(kind, StmtKind::While { .. })),
        PatternPart::ReplaceOne { targets, .. } => one(rest, |kind| changes(kind, targets)),
        PatternPart::Insert(_) => vec![0],
    };
    for count in counts {
        steps.push(match &parts[part] {
            PatternPart::Keep | PatternPart::KeepAny => Step::Keep(count),
            PatternPart::ReplaceBlock(block) | PatternPart::ReplaceOne { body: block, .. } => {
                Step::Replace(count, block)
            }
            inside @ (PatternPart::If { .. } | PatternPart::While { .. }) => Step::Inside(inside),
            PatternPart::Insert(stmt) => Step::Insert(stmt),
        });
        if grow_stack(|| matches(parts, body, steps, failed, (part + 1, stmt + count))) {
            return true;
        }
        steps.pop();
    }
    failed.insert(at);
    false
}

fn one(rest: &[Stmt], is: impl Fn(&StmtKind) -> bool) -> Vec<usize> {
    rest.first().filter(|stmt| is(&stmt.kind)).map(|_| 1).into_iter().collect()
}

/// Is it a call or specification statement that gives values to these variables?
fn changes(kind: &StmtKind, targets: &[Ident]) -> bool {
    let names = |all: &mut dyn Iterator<Item = &Ident>| -> Vec<String> {
        all.map(|one| one.name.clone()).collect()
    };
    let wanted = names(&mut targets.iter());
    match kind {
        StmtKind::Call { outs, .. } => names(&mut outs.iter()) == wanted,
        StmtKind::Specification { targets, .. } => {
            names(&mut targets.iter().map(|target| &target.name)) == wanted
        }
        _ => false,
    }
}

/// Has a statement one outcome only?
fn is_deterministic(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Call { .. } | StmtKind::Specification { .. } => false,
        StmtKind::Block(block) | StmtKind::Lock { body: block, .. } | StmtKind::LockThis(block) => {
            block.stmts.iter().all(is_deterministic)
        }
        StmtKind::While { body, .. } => body.stmts.iter().all(is_deterministic),
        StmtKind::If { arms, otherwise } => {
            arms.iter().all(|arm| arm.body.stmts.iter().all(is_deterministic))
                && otherwise.iter().all(|stmt| is_deterministic(stmt))
        }
        _ => true,
    }
}
