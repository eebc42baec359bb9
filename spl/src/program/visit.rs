//! Walking over expressions and statements.

use front::grow_stack;

use rustc_hash::FxHashSet;

use super::{
    Access, Annotation, Block, Expr, ExprKind, LocalId, Place, Procedure, Program, Stmt, StmtKind,
    Variable,
};

/// Collects the operands of an expression from left to right; the caller says which parts of the
/// forms with binders, annotations or another state count.
macro_rules! operands {
    ($kind:expr, $iter:ident { $($others:tt)* }) => {
        match $kind {
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::Emp
            | ExprKind::Local(_)
            | ExprKind::Global(_)
            | ExprKind::FieldMap(_) => Vec::new(),
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
            ExprKind::Btwn { field: first, from: second, via: third, to: fourth }
            | ExprKind::Frame { except: first, within: second, before: third, after: fourth } => {
                vec![first, second, third, fourth]
            }
            ExprKind::Construct { arguments: all, .. }
            | ExprKind::Apply { arguments: all, .. }
            | ExprKind::And(all)
            | ExprKind::Or(all)
            | ExprKind::Star(all)
            | ExprKind::Overlap(all)
            | ExprKind::Set(all) => all.$iter().collect(),
            ExprKind::Predicate(predicate) => predicate.arguments.$iter().collect(),
            ExprKind::Chain { first, rest } => {
                let mut parts: Vec<_> = rest.$iter().map(|(_, operand)| operand).collect();
                parts.insert(0, first);
                parts
            }
            $($others)*
        }
    };
}

impl Expr {
    /// Calls `visit` on each direct subexpression from left to right, those in annotations
    /// included.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        let parts: Vec<&'e Expr> = operands!(&self.kind, iter {
            ExprKind::Old(only)
            | ExprKind::SetComprehension { body: only, .. }
            | ExprKind::MapComprehension { body: only, .. } => vec![only],
            ExprKind::Access(access) => return access.for_each_child(visit),
            ExprKind::Unfolding { predicate, body } => {
                predicate.arguments.iter().chain([&**body]).collect()
            }
            ExprKind::Quantified { variables, body, .. } => {
                let domains = variables.iter().filter_map(|bound| bound.domain.as_ref());
                domains.chain([&**body]).collect()
            }
            ExprKind::Annotated { body, annotations } => {
                visit(body);
                return annotations.iter().for_each(|annotation| annotation.for_each_child(visit));
            }
        });
        parts.into_iter().for_each(visit);
    }

    /// Returns the direct subexpressions that are evaluated where the expression is, from left to
    /// right: not those below a binder, in annotations or in another state.
    pub(crate) fn children_mut(&mut self) -> Vec<&mut Self> {
        operands!(&mut self.kind, iter_mut {
            ExprKind::Old(_)
            | ExprKind::SetComprehension { .. }
            | ExprKind::MapComprehension { .. }
            | ExprKind::Quantified { .. }
            | ExprKind::Unfolding { .. }
            | ExprKind::Access(_) => Vec::new(),
            ExprKind::Annotated { body, .. } => vec![body],
        })
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
