//! Where errors can be planted in a member, and which.

use sil::program::{
    Contract, Expr, ExprKind, FunctionId, Location, Member, MethodId, Program, Stmt, StmtKind,
};
use sil::source::Span;
use sil::walk::walk_expr;

use super::edit::{self, Clause, Edit};
use super::place::{self, List};
use super::{Kind, Mutant, Probe};

/// All errors that can be planted in a member, in the order of kinds and places.
pub(super) fn mutants(program: &Program, member: Member) -> Vec<Mutant> {
    let mut sites = Sites { program, member, found: Vec::new() };
    match member {
        Member::Method(method) => {
            let declaration = &program.methods[method];
            if !declaration.implementations.is_empty() {
                sites.postconditions(&declaration.contract);
            }
            sites.preconditions(&declaration.contract);
            sites.boundaries(method);
            sites.invariants(method);
            sites.statements(method);
        }
        Member::Function(function) => {
            let declaration = &program.functions[function];
            // A declaration without body promises without a proof.
            if declaration.body.is_some() {
                sites.postconditions(&declaration.contract);
            }
            sites.preconditions(&declaration.contract);
            sites.body(function);
        }
        _ => {}
    }
    sites.found.sort_by_key(|mutant| mutant.kind);
    sites.found
}

struct Sites<'p> {
    program: &'p Program,
    member: Member,
    found: Vec<Mutant>,
}

impl Sites<'_> {
    fn add(&mut self, kind: Kind, span: Span, edit: Edit, probe: Probe) {
        self.found.push(Mutant { kind, span, edit, probe });
    }

    fn postconditions(&mut self, contract: &Contract) {
        for (index, clause) in contract.postconditions.iter().enumerate() {
            let place = Clause::Postcondition(index);
            let never = Box::new(edit::literal(false, clause.span));
            let reached = Probe::Edit(Edit::AddPostcondition(self.member, never));
            for (number, conjunct) in edit::conjuncts(clause).into_iter().enumerate() {
                if is_plain(conjunct) {
                    let changed = edit::with_conjunct(clause, number, &edit::negation);
                    let edit = Edit::SetClause(self.member, place, Box::new(changed));
                    self.add(Kind::NegatedPostcondition, conjunct.span, edit, reached.clone());
                } else if is_full_access(conjunct) && matches!(self.member, Member::Method(_)) {
                    let changed = edit::with_conjunct(clause, number, &twice);
                    let edit = Edit::SetClause(self.member, place, Box::new(changed));
                    self.add(Kind::DoubledPermission, conjunct.span, edit, reached.clone());
                }
            }
        }
    }

    fn preconditions(&mut self, contract: &Contract) {
        for (index, clause) in contract.preconditions.iter().enumerate() {
            for (number, access) in edit::accesses(clause).into_iter().enumerate() {
                for (kind, map) in [
                    (Kind::DroppedPermission, dropped as fn(&Expr) -> Expr),
                    (Kind::HalvedPermission, halved),
                ] {
                    if kind == Kind::HalvedPermission && !self.amounts_matter(access) {
                        continue;
                    }
                    let changed = edit::with_access(clause, number, &map);
                    let place = Clause::Precondition(index);
                    let edit = Edit::SetClause(self.member, place, Box::new(changed));
                    self.add(kind, access.span, edit, Probe::MayVerify);
                }
            }
        }
    }

    fn amounts_matter(&self, access: &Expr) -> bool {
        let ExprKind::Acc { amount, .. } = &access.kind else { return false };
        matches!(self.member, Member::Method(_)) && !matches!(amount.kind, ExprKind::Wildcard)
    }

    /// Every place between statements, and the ends of their lists.
    fn boundaries(&mut self, method: MethodId) {
        for found in place::lists(self.program, method) {
            let statements = found.list.of(self.program);
            // Statements behind a jump are never executed.
            let jumps =
                statements.last().is_some_and(|last| matches!(last.kind, StmtKind::Goto(_)));
            let end = statements.len() - usize::from(jumps);
            for (index, statement) in statements[..end].iter().enumerate() {
                let insert = never(&found.list, index, statement.span);
                self.add(Kind::FalseAtBoundary, statement.span, insert, Probe::Unreachable);
            }
            let insert = never(&found.list, end, found.end);
            self.add(Kind::AssertFalse, found.end, insert, Probe::Unreachable);
        }
    }

    fn invariants(&mut self, method: MethodId) {
        for (invariant, clause) in place::invariants(self.program, method) {
            for (number, conjunct) in edit::conjuncts(clause).into_iter().enumerate() {
                if !is_plain(conjunct) {
                    continue;
                }
                let changed = edit::with_conjunct(clause, number, &edit::negation);
                let edit = Edit::SetInvariant(invariant.clone(), Box::new(changed));
                let reached = Box::new(edit::literal(false, conjunct.span));
                let probe = Probe::Edit(Edit::AddInvariant(invariant.clone(), reached));
                self.add(Kind::NegatedInvariant, conjunct.span, edit, probe);
            }
            for (number, access) in edit::accesses(clause).into_iter().enumerate() {
                let changed = edit::with_access(clause, number, &dropped);
                let edit = Edit::SetInvariant(invariant.clone(), Box::new(changed));
                self.add(Kind::DroppedInvariant, access.span, edit, Probe::MayVerify);
            }
        }
    }

    fn statements(&mut self, method: MethodId) {
        for found in place::lists(self.program, method) {
            for (index, statement) in found.list.of(self.program).iter().enumerate() {
                self.statement(&found.list, index, statement);
            }
        }
    }

    fn statement(&mut self, list: &List, index: usize, statement: &Stmt) {
        let point = list.at(index);
        let reached = Probe::Edit(never(list, index, statement.span));
        match &statement.kind {
            StmtKind::Assert(assertion) => {
                for (number, conjunct) in edit::conjuncts(assertion).into_iter().enumerate() {
                    if is_plain(conjunct) {
                        let changed = edit::with_conjunct(assertion, number, &edit::negation);
                        let changed = edit::assertion(changed, statement.span);
                        let edit = Edit::Replace(point.clone(), Box::new(changed));
                        self.add(Kind::NegatedAssertion, conjunct.span, edit, reached.clone());
                    }
                }
            }
            StmtKind::FieldAssign { receiver, field, .. } => {
                let receiver = Box::new(receiver.clone());
                let location = Location::Field { receiver, field: *field };
                let half = edit::exhale_half(location, statement.span);
                let edit = Edit::Insert(point, Box::new(half));
                self.add(Kind::HalvedAtWrite, statement.span, edit, reached);
            }
            StmtKind::Exhale(assertion) => {
                let again = Edit::Insert(point, Box::new(statement.clone()));
                let full = edit::conjuncts(assertion).into_iter().any(is_full_access);
                let probe = if full { reached } else { Probe::MayVerify };
                if !assertion.is_pure() {
                    self.add(Kind::RepeatedStatement, statement.span, again, probe);
                }
            }
            StmtKind::Fold(_) | StmtKind::Unfold(_) | StmtKind::Apply { .. } => {
                let again = Edit::Insert(point, Box::new(statement.clone()));
                self.add(Kind::RepeatedStatement, statement.span, again, Probe::MayVerify);
            }
            StmtKind::If { condition, then, otherwise } => {
                let mut swapped = statement.clone();
                swapped.kind = StmtKind::If {
                    condition: edit::negation(condition),
                    then: then.clone(),
                    otherwise: otherwise.clone(),
                };
                let edit = Edit::Replace(point, Box::new(swapped));
                self.add(Kind::NegatedCondition, condition.span, edit, Probe::MayVerify);
            }
            _ => {}
        }
    }

    /// `asserting (false)` at the start of a function's body and of each of its branches.
    fn body(&mut self, function: FunctionId) {
        let Some(body) = &self.program.functions[function].body else { return };
        for number in 0..branches(body) {
            let mut span = body.span;
            let changed = at_branch(body, &mut number.clone(), &mut span);
            let edit = Edit::SetBody(function, Box::new(changed));
            self.add(Kind::AssertFalse, span, edit, Probe::Unreachable);
        }
    }
}

/// `assert false` before a statement, or at the end of a list.
pub(super) fn never(list: &List, index: usize, span: Span) -> Edit {
    let statement = edit::assertion(edit::literal(false, span), span);
    Edit::Insert(list.at(index), Box::new(statement))
}

/// Tells whether a conjunct can be negated: it is pure, and means the same wherever it stands.
fn is_plain(conjunct: &Expr) -> bool {
    let mut plain = conjunct.is_pure() && !matches!(conjunct.kind, ExprKind::Bool(_));
    walk_expr(conjunct, |expr| {
        plain &= !matches!(expr.kind, ExprKind::InhaleExhale { .. });
    });
    plain
}

/// All of a field's permission, unconditionally: nobody holds that twice.
fn is_full_access(conjunct: &Expr) -> bool {
    matches!(&conjunct.kind, ExprKind::Acc { location: Location::Field { .. }, amount }
        if matches!(amount.kind, ExprKind::FullPerm))
}

fn dropped(access: &Expr) -> Expr {
    edit::literal(true, access.span)
}

fn twice(conjunct: &Expr) -> Expr {
    let kind = ExprKind::And(vec![conjunct.clone(), conjunct.clone()]);
    Expr { kind, ..conjunct.clone() }
}

fn halved(access: &Expr) -> Expr {
    let mut access = access.clone();
    if let ExprKind::Acc { amount, .. } = &mut access.kind {
        **amount = edit::half(amount);
    }
    access
}

/// The number of places that [`at_branch`] knows.
fn branches(body: &Expr) -> usize {
    1 + match &body.kind {
        ExprKind::Conditional { then, otherwise, .. } => branches(then) + branches(otherwise),
        ExprKind::Let { body, .. } | ExprKind::Unfolding { body, .. } => branches(body),
        _ => 0,
    }
}

/// The body with an impossible check at place number `left`: at its start, or where a condition,
/// `let` or `unfolding` in it leads.
fn at_branch(body: &Expr, left: &mut usize, span: &mut Span) -> Expr {
    if *left == 0 {
        *left = usize::MAX;
        *span = body.span;
        return edit::asserting_false(body);
    }
    *left = left.wrapping_sub(1);
    let mut changed = body.clone();
    match &mut changed.kind {
        ExprKind::Conditional { then, otherwise, .. } => {
            **then = at_branch(then, left, span);
            **otherwise = at_branch(otherwise, left, span);
        }
        ExprKind::Let { body, .. } | ExprKind::Unfolding { body, .. } => {
            **body = at_branch(body, left, span);
        }
        _ => {}
    }
    changed
}
