//! The order in which a statement evaluates: from left to right.
//!
//! Calls and allocations inside expressions become statements before the one they stand in. What
//! stands left of such a call and reads the state is computed before it, too, and kept in a
//! variable.

use front::grow_stack;
use rustc_hash::FxHashMap;

use super::Resolver;
use crate::program::{
    Expr, ExprKind, LocalId, NewObject, Place, Program, Stmt, StmtKind, Variable,
};

impl Resolver<'_> {
    /// Returns the statements to make before something that evaluates `roots`, in order: `hoisted`,
    /// with what is read before them.
    pub(super) fn in_order(&mut self, hoisted: Vec<Stmt>, mut roots: Vec<&mut Expr>) -> Vec<Stmt> {
        if hoisted.is_empty() {
            return hoisted;
        }
        let mut made_by = FxHashMap::default();
        for (at, stmt) in hoisted.iter().enumerate() {
            made_by.extend(results(stmt).into_iter().map(|local| (local, at)));
        }
        let mut order =
            Order { made_by, pending: hoisted.into_iter().map(Some).collect(), done: Vec::new() };
        self.ordered(&mut roots, &mut order);
        let last = order.pending.len();
        self.make_before(last, &mut order);
        order.done
    }

    /// Evaluates all of a list: those that read the state before a later one calls something are
    /// kept.
    fn ordered(&mut self, all: &mut [&mut Expr], order: &mut Order) {
        let last_call = all.iter().rposition(|e| order.calls(e));
        for (at, e) in all.iter_mut().enumerate() {
            grow_stack(|| self.ordered_inside(e, order));
            if last_call.is_some_and(|last| at < last) && reads_state(e) {
                let is_ghost = mentions_ghost(&self.program, e);
                let local = self.temporary("read", e.ty.clone(), e.span);
                self.program.locals[local].is_ghost = is_ghost;
                let kept = Expr { kind: ExprKind::Local(local), ty: e.ty.clone(), span: e.span };
                let value = std::mem::replace(*e, kept);
                let span = value.span;
                let places = vec![Place::Variable(Variable::Local(local))];
                let kind = StmtKind::Assign { places, values: vec![value] };
                order.done.push(Stmt { kind, span });
            }
        }
    }

    fn ordered_inside(&mut self, e: &mut Expr, order: &mut Order) {
        if let ExprKind::Local(local) = &e.kind
            && let Some(&at) = order.made_by.get(local)
        {
            return self.make_before(at + 1, order);
        }
        if order.calls(e) {
            self.ordered(&mut e.children_mut(), order);
        }
    }

    /// Makes the first `count` of the hoisted statements, as far as they are not made yet.
    fn make_before(&mut self, count: usize, order: &mut Order) {
        for at in 0..count {
            let Some(mut stmt) = order.pending[at].take() else { continue };
            self.ordered(&mut arguments(&mut stmt), order);
            order.done.push(stmt);
        }
    }
}

/// The statements still to be made, and the finished ones.
struct Order {
    /// The statement that gives a variable its value.
    made_by: FxHashMap<LocalId, usize>,
    pending: Vec<Option<Stmt>>,
    done: Vec<Stmt>,
}

impl Order {
    /// Is the value of something hoisted in it that has not been made?
    fn calls(&self, e: &Expr) -> bool {
        e.any(&mut |e| match &e.kind {
            ExprKind::Local(local) => {
                self.made_by.get(local).is_some_and(|&at| self.pending[at].is_some())
            }
            _ => false,
        })
    }
}

/// Returns the variables that a hoisted statement gives values.
fn results(stmt: &Stmt) -> Vec<LocalId> {
    let targets = match &stmt.kind {
        StmtKind::Call { targets, .. } => targets.as_slice(),
        StmtKind::New { target, .. } => std::slice::from_ref(target),
        _ => &[],
    };
    let locals = targets.iter().filter_map(|target| match target {
        Variable::Local(local) => Some(*local),
        Variable::Global(_) | Variable::FieldMap(_) => None,
    });
    locals.collect()
}

/// Returns the expressions that a statement evaluates before its effect.
pub(super) fn arguments(stmt: &mut Stmt) -> Vec<&mut Expr> {
    evaluated(&mut stmt.kind)
}

/// Returns the expressions that a kind of statement evaluates before its effect. The place of an
/// assignment is found afterwards.
pub(super) fn evaluated(kind: &mut StmtKind) -> Vec<&mut Expr> {
    match kind {
        StmtKind::Assign { values: all, .. }
        | StmtKind::Call { arguments: all, .. }
        | StmtKind::Return(all) => all.iter_mut().collect(),
        StmtKind::Fold(predicate) | StmtKind::Unfold(predicate) => {
            predicate.arguments.iter_mut().collect()
        }
        StmtKind::New { object: NewObject::Array { length: only, .. }, .. }
        | StmtKind::Free(only)
        | StmtKind::AssignText { array: only, .. }
        | StmtKind::Assume { condition: only, .. }
        | StmtKind::Assert { condition: only, .. }
        | StmtKind::Split(only)
        | StmtKind::If { condition: only, .. } => vec![only],
        // The guard of a loop has its own statements before it.
        StmtKind::While { .. }
        | StmtKind::New { object: NewObject::Struct(_), .. }
        | StmtKind::Block(_)
        | StmtKind::Declare(_)
        | StmtKind::Havoc(_)
        | StmtKind::Choose(_) => Vec::new(),
    }
}

/// May its value change by a call?
fn reads_state(e: &Expr) -> bool {
    e.any(&mut |e| {
        matches!(
            e.kind,
            ExprKind::FieldRead { .. }
                | ExprKind::FieldMap(_)
                | ExprKind::Global(_)
                | ExprKind::ArrayLength(_)
                | ExprKind::ArrayMap(_)
                | ExprKind::Element { .. }
                | ExprKind::CellContent(_)
                | ExprKind::Apply { .. }
                | ExprKind::Predicate(_)
                | ExprKind::Unfolding { .. }
        )
    })
}

fn mentions_ghost(program: &Program, e: &Expr) -> bool {
    e.any(&mut |e| match &e.kind {
        ExprKind::Local(local) => program.locals[*local].is_ghost,
        ExprKind::Global(global) => program.globals[*global].is_ghost,
        ExprKind::FieldRead { field, .. } | ExprKind::FieldMap(field) => {
            program.fields[*field].is_ghost
        }
        _ => false,
    })
}
