//! Verifies mutants, and asks why one still verifies.

use std::time::Duration;

use sil::program::{Expr, ExprKind, Member, Program, Stmt, StmtKind};
use sil::source::{Sources, Span};
use silicon::Request;
use silicon::options::Options;
use silicon::report::Verdict;
use silicon::session::name_and_span;

use super::edit::Edit;
use super::place::{self, List, Point};
use super::{Mutant, Probe, sites};

/// The limits of one verification.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The solver's resource limit for one obligation.
    pub obligation: u32,
    /// Wall-clock time of one member.
    pub member: Duration,
}

impl Limits {
    /// Options for verifying within these limits, on one thread.
    pub(super) fn options(self) -> Options {
        let mut options = Options::default();
        options.threads = 1;
        options.obligation_limit = self.obligation;
        options.member_time_limit = Some(self.member);
        options
    }
}

/// The fate of a mutant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    /// An error is reported, as it should be.
    Killed,
    /// Neither verified nor failed.
    Undecided,
    /// The edit verifies since nothing reaches its place.
    Unreachable(Cause),
    /// The edit verifies, and there may be a good reason.
    MayVerify,
    /// The edit verifies, and must not: a path reaches the place.
    Suspect,
}

/// Why nothing reaches a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cause {
    pub words: &'static str,
    pub span: Span,
    /// The statement that makes the paths contradictory does not assume anything itself.
    pub suspicious: bool,
}

/// Tells whether a member of a program verifies, and nothing else; `None`: no answer.
pub fn verifies(
    program: &Program,
    sources: &Sources,
    member: Member,
    limits: Limits,
) -> Option<bool> {
    let mut options = limits.options();
    options.members = vec![name_and_span(program, member).0.to_owned()];
    let report = Request::new(program, sources, &options).verify();
    match report.members.iter().map(|member| member.verdict).max()? {
        Verdict::Verified => Some(true),
        Verdict::Failed => Some(false),
        Verdict::Inconclusive | Verdict::Unsupported | Verdict::Error => None,
    }
}

/// Verifies a mutant of a member of `program`, which verifies without it.
pub fn judge(
    program: &Program,
    sources: &Sources,
    member: Member,
    mutant: &Mutant,
    limits: Limits,
) -> Fate {
    let verifies_with = |edit: &Edit| {
        let mut changed = program.clone();
        edit.apply(&mut changed);
        verifies(&changed, sources, member, limits)
    };
    match verifies_with(&mutant.edit) {
        Some(false) => return Fate::Killed,
        None => return Fate::Undecided,
        Some(true) => {}
    }
    let reached = match &mutant.probe {
        Probe::MayVerify => return Fate::MayVerify,
        Probe::Unreachable => &mutant.edit,
        Probe::Edit(probe) => match verifies_with(probe) {
            Some(true) => probe,
            Some(false) | None => return Fate::Suspect,
        },
    };
    let point = match reached {
        Edit::Insert(point, _) => point,
        Edit::AddPostcondition(..) => return unreachable("no end is reached", mutant.span),
        Edit::AddInvariant(..) => return unreachable("the loop is not reached", mutant.span),
        Edit::SetBody(..) => {
            let words = "the precondition and the conditions exclude each other";
            return unreachable(words, mutant.span);
        }
        _ => return unreachable("the place is not reached", mutant.span),
    };
    let alive = |point: &Point| {
        let probe = sites::never(&point.list, point.index, mutant.span);
        verifies_with(&probe) != Some(true)
    };
    Fate::Unreachable(cause(program, member, point, &alive))
}

fn unreachable(words: &'static str, span: Span) -> Fate {
    Fate::Unreachable(Cause { words, span, suspicious: false })
}

/// Searches for the step after which the paths to a dead point are contradictory.
fn cause(
    program: &Program,
    member: Member,
    point: &Point,
    alive: &impl Fn(&Point) -> bool,
) -> Cause {
    let points = point.list.points_up_to(point.index);
    if !alive(&points[0]) {
        return at_start(program, member, &points[0].list, alive);
    }
    // The first is alive, the last is not; so somewhere in between one is alive and the next is
    // not.
    let (mut live, mut dead) = (0, points.len() - 1);
    while dead - live > 1 {
        let middle = usize::midpoint(live, dead);
        if alive(&points[middle]) { live = middle } else { dead = middle }
    }
    let before = &points[live];
    let statement = &before.list.of(program)[before.index];
    let entered = before.list != points[dead].list;
    let (words, suspicious) =
        if entered { entry_of(statement) } else { end_of(program, before, statement, alive) };
    Cause { words, span: statement.span, suspicious }
}

/// A body, or a node of a graph, that is dead from its start.
fn at_start(
    program: &Program,
    member: Member,
    list: &List,
    alive: &impl Fn(&Point) -> bool,
) -> Cause {
    let (_, span) = name_and_span(program, member);
    let is_entry = list.nodes.is_empty() || {
        let entry = place::lists(program, list.method);
        entry.first().is_some_and(|first| first.list == *list)
    };
    // Somebody has to get into the graph for one of its nodes to be cut off by a jump.
    let entered = || place::lists(program, list.method).iter().any(|one| alive(&one.list.at(0)));
    if is_entry || !entered() {
        Cause { words: "contradictory precondition", span, suspicious: false }
    } else {
        Cause { words: "no jump leads to the block", span, suspicious: false }
    }
}

/// Why the block inside a statement is not reached, though the statement is.
fn entry_of(statement: &Stmt) -> (&'static str, bool) {
    match statement.kind {
        StmtKind::If { .. } => ("unreachable branch", false),
        StmtKind::While { .. } => {
            ("the condition or the invariant excludes every iteration", false)
        }
        StmtKind::Package { .. } => ("contradictory left-hand side", false),
        _ => ("a block that is not entered", true),
    }
}

/// Why the end of a statement is not reached, though its start is.
fn end_of(
    program: &Program,
    before: &Point,
    statement: &Stmt,
    alive: &impl Fn(&Point) -> bool,
) -> (&'static str, bool) {
    match &statement.kind {
        StmtKind::Inhale(_) | StmtKind::Assume(_) => ("an assumption is contradictory", false),
        StmtKind::Assert(_) => ("an assertion makes a contradiction known", false),
        StmtKind::Goto(_) => ("after a jump", false),
        StmtKind::Label { .. } => ("no jump leads to the label", false),
        StmtKind::Call { .. } => ("a postcondition is contradictory", false),
        StmtKind::Unfold(_) | StmtKind::Apply { .. } => {
            ("what is unfolded or applied is contradictory", false)
        }
        StmtKind::While { .. } => ("the loop never ends", false),
        StmtKind::If { .. } | StmtKind::Block(_) => {
            let ends = place::blocks(statement).into_iter().enumerate().any(|(number, block)| {
                let mut list = before.list.clone();
                list.steps.push((before.index, number));
                !jumps(&block.statements) && alive(&list.at(block.statements.len()))
            });
            debug_assert!(before.index < before.list.of(program).len());
            ("no branch ends", ends)
        }
        _ if applies_promises(program, statement) => {
            ("a function's postcondition is contradictory", false)
        }
        _ => ("a statement that assumes nothing", true),
    }
}

/// Tells whether an expression of a statement applies a function that has postconditions.
fn applies_promises(program: &Program, statement: &Stmt) -> bool {
    let promises = |e: &Expr| {
        matches!(&e.kind, ExprKind::Apply { function, .. }
            if !program.functions[*function].contract.postconditions.is_empty())
    };
    let mut found = false;
    statement.for_each_expr(|e| found |= e.any(promises));
    found
}

fn jumps(statements: &[Stmt]) -> bool {
    let mut found = false;
    sil::walk::walk_stmts(statements, |statement| {
        found |= matches!(statement.kind, StmtKind::Goto(_));
    });
    found
}
