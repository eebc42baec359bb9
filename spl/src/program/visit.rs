//! Walking over expressions and statements.

use front::grow_stack;

use rustc_hash::FxHashSet;

use super::{
    Access, Annotation, Block, Expr, ExprKind, LocalId, NewObject, Place, Procedure, Program, Stmt,
    StmtKind, Variable,
};

impl Expr {
    /// Calls `visit` on each direct subexpression from left to right, those in annotations
    /// included.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match &self.kind {
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::Emp
            | ExprKind::Local(_)
            | ExprKind::Global(_)
            | ExprKind::FieldMap(_) => {}
            ExprKind::FieldRead { receiver: only, .. }
            | ExprKind::Destruct { term: only, .. }
            | ExprKind::ArrayLength(only)
            | ExprKind::ArrayCells(only)
            | ExprKind::ArrayMap(only)
            | ExprKind::CellArray(only)
            | ExprKind::CellIndex(only)
            | ExprKind::CellContent(only)
            | ExprKind::Unary { operand: only, .. }
            | ExprKind::Old(only)
            | ExprKind::Known(only)
            | ExprKind::SetComprehension { body: only, .. }
            | ExprKind::MapComprehension { body: only, .. }
            | ExprKind::ByteToInt(only)
            | ExprKind::IntToByte(only) => visit(only),
            ExprKind::Element { array: left, index: right }
            | ExprKind::MapRead { map: left, key: right }
            | ExprKind::PointsTo { location: left, value: right }
            | ExprKind::Binary { left, right, .. }
            | ExprKind::PartOf { part: left, whole: right }
            | ExprKind::Implies { guard: left, body: right }
            | ExprKind::Disjoint(left, right) => {
                visit(left);
                visit(right);
            }
            ExprKind::MapUpdate { map: first, key: second, value: third }
            | ExprKind::Conditional { condition: first, then: second, otherwise: third }
            | ExprKind::Reach { field: first, from: second, to: third } => {
                visit(first);
                visit(second);
                visit(third);
            }
            ExprKind::Btwn { field, from, via, to } => {
                [field, from, via, to].into_iter().for_each(|part| visit(part));
            }
            ExprKind::Frame { except, within, before, after } => {
                [except, within, before, after].into_iter().for_each(|part| visit(part));
            }
            ExprKind::Construct { arguments: all, .. }
            | ExprKind::Apply { arguments: all, .. }
            | ExprKind::And(all)
            | ExprKind::Or(all)
            | ExprKind::Star(all)
            | ExprKind::Overlap(all)
            | ExprKind::Set(all) => all.iter().for_each(visit),
            ExprKind::Predicate(predicate) => predicate.arguments.iter().for_each(visit),
            ExprKind::Access(access) => access.for_each_child(visit),
            ExprKind::Chain { first, rest } => {
                visit(first);
                rest.iter().for_each(|(_, operand)| visit(operand));
            }
            ExprKind::Unfolding { predicate, body } => {
                predicate.arguments.iter().for_each(&mut *visit);
                visit(body);
            }
            ExprKind::Quantified { variables, body, .. } => {
                variables.iter().filter_map(|bound| bound.domain.as_ref()).for_each(&mut *visit);
                visit(body);
            }
            ExprKind::Annotated { body, annotations } => {
                visit(body);
                annotations.iter().for_each(|annotation| annotation.for_each_child(visit));
            }
        }
    }

    /// Returns the direct subexpressions that are evaluated where the expression is, from left to
    /// right: not those below a binder, in annotations or in another state.
    pub(crate) fn children_mut(&mut self) -> Vec<&mut Self> {
        match &mut self.kind {
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::Emp
            | ExprKind::Local(_)
            | ExprKind::Global(_)
            | ExprKind::FieldMap(_)
            | ExprKind::Old(_)
            | ExprKind::SetComprehension { .. }
            | ExprKind::MapComprehension { .. }
            | ExprKind::Quantified { .. }
            | ExprKind::Unfolding { .. }
            | ExprKind::Access(_) => Vec::new(),
            ExprKind::FieldRead { receiver: only, .. }
            | ExprKind::Destruct { term: only, .. }
            | ExprKind::ArrayLength(only)
            | ExprKind::ArrayCells(only)
            | ExprKind::ArrayMap(only)
            | ExprKind::CellArray(only)
            | ExprKind::CellIndex(only)
            | ExprKind::CellContent(only)
            | ExprKind::Unary { operand: only, .. }
            | ExprKind::Known(only)
            | ExprKind::Annotated { body: only, .. }
            | ExprKind::ByteToInt(only)
            | ExprKind::IntToByte(only) => vec![only],
            ExprKind::Element { array: left, index: right }
            | ExprKind::MapRead { map: left, key: right }
            | ExprKind::PointsTo { location: left, value: right }
            | ExprKind::Binary { left, right, .. }
            | ExprKind::PartOf { part: left, whole: right }
            | ExprKind::Implies { guard: left, body: right }
            | ExprKind::Disjoint(left, right) => vec![left, right],
            ExprKind::MapUpdate { map: first, key: second, value: third }
            | ExprKind::Conditional { condition: first, then: second, otherwise: third }
            | ExprKind::Reach { field: first, from: second, to: third } => {
                vec![first, second, third]
            }
            ExprKind::Btwn { field, from, via, to } => vec![field, from, via, to],
            ExprKind::Frame { except, within, before, after } => {
                vec![except, within, before, after]
            }
            ExprKind::Construct { arguments: all, .. }
            | ExprKind::Apply { arguments: all, .. }
            | ExprKind::And(all)
            | ExprKind::Or(all)
            | ExprKind::Star(all)
            | ExprKind::Overlap(all)
            | ExprKind::Set(all) => all.iter_mut().collect(),
            ExprKind::Predicate(predicate) => predicate.arguments.iter_mut().collect(),
            ExprKind::Chain { first, rest } => {
                let rest = rest.iter_mut().map(|(_, operand)| operand);
                std::iter::once(&mut **first).chain(rest).collect()
            }
        }
    }

    /// Does the expression or one inside it satisfy `claim`?
    pub fn any(&self, claim: &mut dyn FnMut(&Expr) -> bool) -> bool {
        if claim(self) {
            return true;
        }
        let mut found = false;
        grow_stack(|| self.for_each_child(&mut |child| found = found || child.any(claim)));
        found
    }
}

impl Access {
    /// Calls `visit` on each direct subexpression.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match self {
            Self::Field { receiver: only, .. } | Self::Object(only) | Self::Objects(only) => {
                visit(only);
            }
            Self::Cell { array, index } => {
                visit(array);
                visit(index);
            }
        }
    }
}

impl Annotation {
    /// Calls `visit` on each term.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match self {
            Self::Generator(generator) => {
                generator.terms.iter().for_each(&mut *visit);
                visit(&generator.result);
            }
            Self::Pattern(term) => visit(term),
            Self::Comment(_) | Self::NoInstance(_) => {}
        }
    }
}

impl Stmt {
    /// Calls `visit` on each expression that stands directly in the statement, not on those of
    /// statements inside it.
    pub fn for_each_expr<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match &self.kind {
            StmtKind::Block(_)
            | StmtKind::Declare(_)
            | StmtKind::Havoc(_)
            | StmtKind::Choose(_) => {}
            StmtKind::Assign { places, values } => {
                places.iter().for_each(|place| place.for_each_child(visit));
                values.iter().for_each(visit);
            }
            StmtKind::AssignText { array: only, .. }
            | StmtKind::Free(only)
            | StmtKind::Assume { condition: only, .. }
            | StmtKind::Assert { condition: only, .. }
            | StmtKind::Split(only)
            | StmtKind::If { condition: only, .. } => visit(only),
            StmtKind::Call { arguments: all, .. } | StmtKind::Return(all) => {
                all.iter().for_each(visit);
            }
            StmtKind::New { object, .. } => match object {
                NewObject::Struct(_) => {}
                NewObject::Array { length, .. } => visit(length),
            },
            StmtKind::Fold(predicate) | StmtKind::Unfold(predicate) => {
                predicate.arguments.iter().for_each(visit);
            }
            StmtKind::While { condition, invariants, .. } => {
                visit(condition);
                invariants.iter().for_each(|clause| visit(&clause.condition));
            }
        }
    }

    /// Calls `visit` on each statement directly inside this one.
    pub fn for_each_stmt<'e>(&'e self, visit: &mut dyn FnMut(&'e Stmt)) {
        match &self.kind {
            StmtKind::Block(block) => block.stmts.iter().for_each(visit),
            StmtKind::Assert { proof, .. } => {
                proof.iter().flat_map(|proof| &proof.stmts).for_each(visit);
            }
            StmtKind::If { then, otherwise, .. } => {
                then.stmts.iter().for_each(&mut *visit);
                otherwise.iter().flat_map(|block| &block.stmts).for_each(visit);
            }
            StmtKind::Choose(blocks) => {
                blocks.iter().flat_map(|block| &block.stmts).for_each(visit);
            }
            StmtKind::While { before_guard, body, .. } => {
                before_guard.iter().for_each(&mut *visit);
                body.stmts.iter().for_each(visit);
            }
            StmtKind::Declare(_)
            | StmtKind::Havoc(_)
            | StmtKind::Assign { .. }
            | StmtKind::AssignText { .. }
            | StmtKind::Call { .. }
            | StmtKind::New { .. }
            | StmtKind::Free(_)
            | StmtKind::Assume { .. }
            | StmtKind::Split(_)
            | StmtKind::Return(_)
            | StmtKind::Fold(_)
            | StmtKind::Unfold(_) => {}
        }
    }
}

impl Block {
    /// Calls `visit` on every statement, those inside others included, in source order.
    pub fn for_each_stmt<'e>(&'e self, visit: &mut dyn FnMut(&'e Stmt)) {
        self.stmts.iter().for_each(|stmt| all_stmts(stmt, visit));
    }
}

fn all_stmts<'e>(stmt: &'e Stmt, visit: &mut dyn FnMut(&'e Stmt)) {
    visit(stmt);
    grow_stack(|| stmt.for_each_stmt(&mut |inner| all_stmts(inner, visit)));
}

impl Procedure {
    /// Returns those of some variables that the body assigns.
    pub fn assigned(&self, among: &[LocalId]) -> Vec<LocalId> {
        let mut assigned = FxHashSet::default();
        let mut note = |variable: &Variable| {
            if let Variable::Local(local) = variable {
                assigned.insert(*local);
            }
        };
        self.body.iter().for_each(|body| {
            body.for_each_stmt(&mut |stmt| match &stmt.kind {
                StmtKind::Assign { places, .. } => {
                    for place in places {
                        if let Place::Variable(variable) = place {
                            note(variable);
                        }
                    }
                }
                StmtKind::Call { targets, .. } | StmtKind::Havoc(targets) => {
                    targets.iter().for_each(&mut note);
                }
                StmtKind::New { target, .. } => note(target),
                _ => {}
            });
        });
        among.iter().copied().filter(|local| assigned.contains(local)).collect()
    }
}

impl Program {
    /// Returns the implicit results that a body leaves to its postcondition: there is some value
    /// with which the postcondition holds (spl.md, section 3.3).
    pub fn left_open(&self, procedure: &Procedure) -> Vec<LocalId> {
        let assigned = procedure.assigned(&procedure.results);
        let is_open =
            |local: &LocalId| self.locals[*local].is_implicit && !assigned.contains(local);
        procedure.results.iter().copied().filter(is_open).collect()
    }
}

impl Place {
    /// Calls `visit` on each expression that says where it is.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match self {
            Self::Variable(_) => {}
            Self::Field { receiver: only, .. } | Self::Cell(only) => visit(only),
            Self::Element { array, index } => {
                visit(array);
                visit(index);
            }
        }
    }
}
