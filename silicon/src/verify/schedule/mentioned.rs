//! The contents of a task: the members that its text mentions, and the costly parts of it.

use rustc_hash::FxHashSet;
use sil::program::{
    BinaryOp, Expr, ExprKind, FunctionId, Location, MethodId, PredicateId, Program, Resource, Stmt,
    StmtKind,
};
use sil::walk::{Visit, walk_body, walk_expr};

/// The members that expressions mention, through the bodies of predicates.
#[derive(Default)]
pub(super) struct Mentioned {
    pub(super) functions: FxHashSet<FunctionId>,
    pub(super) predicates: FxHashSet<PredicateId>,
    /// How many products and quotients are in the way of linear arithmetic.
    pub(super) products: u32,
}

impl Mentioned {
    pub(super) fn look_at(&mut self, program: &Program, expr: &Expr) {
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            let mut met = Vec::new();
            walk_expr(expr, |expr| match &expr.kind {
                ExprKind::Apply { function, .. } => {
                    self.functions.insert(*function);
                }
                ExprKind::Acc { location: Location::Predicate { predicate, .. }, .. } => {
                    met.push(*predicate);
                }
                ExprKind::Perm(resource) | ExprKind::ForPerm { resource, .. } => {
                    met.extend(predicate_of(resource));
                }
                ExprKind::Unfolding { access, .. } => met.push(access.predicate),
                ExprKind::Binary { op, left, right } => {
                    self.products += u32::from(is_nonlinear(*op, left, right));
                }
                _ => {}
            });
            for predicate in met {
                pending.extend(self.enter(program, predicate));
            }
        }
    }

    /// Notes a predicate; its body, if it is new.
    fn enter<'p>(&mut self, program: &'p Program, predicate: PredicateId) -> Option<&'p Expr> {
        self.predicates
            .insert(predicate)
            .then(|| program.predicates[predicate].body.as_ref())
            .flatten()
    }

    pub(super) fn look_at_predicate(&mut self, program: &Program, predicate: PredicateId) {
        if let Some(body) = self.enter(program, predicate) {
            self.look_at(program, body);
        }
    }

    /// Not the measures: the checks that are about them are not in the member itself.
    pub(super) fn look_at_contract(
        &mut self,
        program: &Program,
        contract: &sil::program::Contract,
    ) {
        contract
            .preconditions
            .iter()
            .chain(&contract.postconditions)
            .for_each(|expr| self.look_at(program, expr));
    }

    fn look_at_statement(&mut self, program: &Program, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Fold(access) | StmtKind::Unfold(access) => {
                self.look_at_predicate(program, access.predicate);
            }
            StmtKind::Call { method, .. } => {
                self.look_at_contract(program, &program.methods[*method].contract);
            }
            StmtKind::Quasihavoc { resource, .. } | StmtKind::QuasihavocAll { resource, .. } => {
                if let Some(predicate) = predicate_of(resource) {
                    self.look_at_predicate(program, predicate);
                }
            }
            _ => {}
        }
    }

    pub(super) fn look_at_method(&mut self, program: &Program, method: MethodId) {
        let method = &program.methods[method];
        self.look_at_contract(program, &method.contract);
        for implementation in &method.implementations {
            walk_body(&implementation.body, |visit| match visit {
                Visit::Stmt(statement) => self.look_at_statement(program, statement),
                Visit::Expr(expr) => self.look_at(program, expr),
                Visit::Node(_) | Visit::Graph(_) => {}
            });
        }
    }
}

fn is_nonlinear(op: BinaryOp, left: &Expr, right: &Expr) -> bool {
    let is_literal = |side: &Expr| !side.any(|part| matches!(part.kind, ExprKind::Local(_)));
    match op {
        BinaryOp::Mul => !is_literal(left) && !is_literal(right),
        BinaryOp::IntDiv | BinaryOp::Mod => !is_literal(right),
        _ => false,
    }
}

fn predicate_of(resource: &Resource) -> Option<PredicateId> {
    match resource {
        Resource::Location(Location::Predicate { predicate, .. }) => Some(*predicate),
        _ => None,
    }
}
