//! Assertions about the heap or about permissions.

use findings::{ErrorId, Reason};
use rustc_hash::FxHashMap;
use sil::build::*;
use sil::source::Name;
use sil::syntax as s;
use sil::syntax::walk::{Visitor, visit};
use spl::program::{
    Access, BinaryOp, Bound, Clause, Expr, ExprKind, FieldId, LocalId, PredicateUse, Type,
};
use spl::source::Span;

use super::Scope;
use crate::lower::annotations::{Annotate, renamed, said};
use crate::lower::expressions::{Expressions, Meaning};
use crate::lower::quantifiers::{comprehension, free_locals};

/// The message where a program reads or writes a field that it does not own.
pub(super) const NO_ACCESS: &str =
    "possible invalid heap access: there might be no permission for `%e`";

impl Scope<'_, '_, '_> {
    pub(super) fn heap_form(&mut self, e: &Expr) -> s::Expr {
        match &e.kind {
            ExprKind::Emp => truth(true),
            ExprKind::FieldRead { receiver, field } => {
                let read = self.location(receiver, *field);
                if self.is_computed {
                    read.with(renamed(
                        Reason::InsufficientPermission,
                        (ErrorId::AccessFailed, Reason::InsufficientPermission),
                    ))
                    .with(said(Reason::InsufficientPermission, NO_ACCESS))
                } else {
                    read
                }
            }
            ExprKind::Apply { function, arguments } => {
                let parameters = &self.member.program().functions[*function].parameters;
                self.refuse_implicit(parameters, e.span);
                let arguments = self.exprs(arguments);
                call(&self.member.lowering.names.borrow().functions[*function], arguments)
            }
            ExprKind::Predicate(predicate) => self.instance(predicate, e.span),
            ExprKind::Access(access) => match &**access {
                Access::Field { receiver, field } => acc(self.location(receiver, *field), write()),
                Access::Object(_) | Access::Objects(_) | Access::Cell { .. } => {
                    self.refused("objects and sets of objects are not owned as a whole", e.span)
                }
            },
            ExprKind::PointsTo { location, value } => {
                let ExprKind::FieldRead { receiver, field } = &location.kind else {
                    return self.refused("arrays are not part of the field dialect", e.span);
                };
                let place = self.location(receiver, *field);
                let at = self.member.lowering.at(location.span);
                let value = self.expr(value);
                and([acc(place.clone(), write()).with(at), eq(place, value)])
            }
            ExprKind::Star(parts) | ExprKind::And(parts) => {
                let parts = self.exprs(parts);
                s::Expr::new(s::ExprKind::And(parts), sil::source::Span::default())
            }
            ExprKind::Or(parts) => self.disjunction(parts),
            ExprKind::Implies { guard, body } => {
                let (guard, body) = (self.expr(guard), self.expr(body));
                binary(s::BinaryOp::Implies, guard, body)
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let (condition, then) = (self.expr(condition), self.expr(then));
                conditional(condition, then, self.expr(otherwise))
            }
            ExprKind::Annotated { body, .. } => self.expr(body),
            ExprKind::Quantified { variables, body, .. } => {
                self.determined(variables, body, e.span)
            }
            ExprKind::Old(body) => {
                self.refuse_replaced(body);
                let was_entry = std::mem::replace(&mut self.is_entry, true);
                let body = self.expr(body);
                self.is_entry = was_entry;
                old(body)
            }
            ExprKind::Unfolding { predicate, body } => {
                let is_opaque = self.is_opaque(predicate);
                let access = self.instance(predicate, e.span);
                let body = self.expr(body);
                if is_opaque { unfolding(access, body) } else { body }
            }
            ExprKind::SetComprehension { variable, body }
            | ExprKind::MapComprehension { variable, body } => {
                comprehension(self, e, *variable, body)
            }
            ExprKind::Overlap(_) | ExprKind::PartOf { .. } => self.refused(
                "`&+&` and `-**` are about sets of objects, which the field dialect does not have",
                e.span,
            ),
            ExprKind::FieldMap(_) => {
                self.refused("in the field dialect a field is no value", e.span)
            }
            ExprKind::Btwn { .. } | ExprKind::Reach { .. } | ExprKind::Frame { .. } => self
                .refused(
                    "reachability is not part of the field dialect: use a recursive predicate",
                    e.span,
                ),
            ExprKind::ArrayLength(_)
            | ExprKind::ArrayCells(_)
            | ExprKind::ArrayMap(_)
            | ExprKind::CellArray(_)
            | ExprKind::CellIndex(_)
            | ExprKind::CellContent(_)
            | ExprKind::Element { .. } => {
                self.refused("arrays are not part of the field dialect", e.span)
            }
            _ => unreachable!("means the same in all dialects: {:?}", e.kind),
        }
    }

    /// Something without meaning in this dialect.
    pub(super) fn refused(&mut self, why: &str, span: Span) -> s::Expr {
        self.member.lowering.refuse(why, span);
        truth(true)
    }

    /// Functions and predicates have no caller who could determine an implicit argument.
    fn refuse_implicit(&mut self, parameters: &[LocalId], span: Span) {
        let implicit = |&local: &LocalId| self.member.program().locals[local].is_implicit;
        if parameters.iter().any(implicit) {
            let why =
                "implicit parameters of functions and predicates are not part of the field dialect";
            self.member.lowering.refuse(why, span);
        }
    }

    /// A variable that an equation determines stands for the other side of the equation. Below
    /// `old` that side might be another value than the one that the variable has.
    fn refuse_replaced(&mut self, body: &Expr) {
        for local in free_locals(body) {
            let Some(value) = self.replaced.get(&local) else { continue };
            let mut state = State { last_values: &self.last_values, is_read: false };
            state.expr(value);
            if state.is_read {
                let name = &self.member.program().locals[local].name;
                let why = format!(
                    "what `{name}` is depends on the state, so it cannot be mentioned below `old`"
                );
                self.refused(&why, body.span);
            }
        }
    }

    /// `receiver.field`
    pub(super) fn location(&mut self, receiver: &Expr, of: FieldId) -> s::Expr {
        let receiver = self.expr(receiver);
        field(receiver, &self.member.lowering.names.borrow().fields[of])
    }

    /// Is the predicate one that has to be opened? Others are functions.
    pub(super) fn is_opaque(&self, predicate: &PredicateUse) -> bool {
        self.member.lowering.program.predicates[predicate.predicate].ty == Type::Permission
    }

    /// `acc(p(..))`, or `p(..)` if the predicate says nothing about permissions.
    pub(super) fn instance(&mut self, predicate: &PredicateUse, span: Span) -> s::Expr {
        let parameters = &self.member.program().predicates[predicate.predicate].parameters;
        self.refuse_implicit(parameters, span);
        let arguments = self.exprs(&predicate.arguments);
        let name = self.member.lowering.names.borrow().predicates[predicate.predicate].clone();
        let instance = call(&name, arguments);
        if self.is_opaque(predicate) { acc(instance, write()) } else { instance }
    }

    /// Returns a clause of a contract or an invariant, told at the clause.
    pub(super) fn clause(&mut self, clause: &Clause) -> s::Expr {
        let mut lowered = self.expr(&clause.condition);
        let at = self.member.lowering.at(clause.span);
        lowered.annotations.retain(|annotation| &*annotation.key != "src.at");
        lowered.annotations.insert(0, at);
        lowered
    }

    /// `A || B ..` with permissions: which of them is meant has to be decided by what stands before
    /// the first permission of each but the last.
    fn disjunction(&mut self, parts: &[Expr]) -> s::Expr {
        let Some((last, rest)) = parts.split_last() else { return truth(false) };
        let mut whole = self.expr(last);
        for part in rest.iter().rev() {
            whole = if part.is_permission() {
                let decides = decides(part);
                if decides.is_empty() {
                    let why = "a disjunction of permissions needs a condition before the first permission of each side but the last";
                    return self.refused(why, part.span);
                }
                let decides: Vec<_> = decides.into_iter().map(|one| self.expr(one)).collect();
                conditional(and(decides), self.expr(part), whole)
            } else {
                conditional(self.expr(part), truth(true), whole)
            };
        }
        whole
    }

    /// `exists x: T :: A` with permissions: an equation in `A` says which x.
    fn determined(&mut self, variables: &[Bound], body: &Expr, span: Span) -> s::Expr {
        let outer = self.replaced.clone();
        let mut conjuncts = Vec::new();
        conjuncts_of(body, &mut conjuncts);
        let mut open: Vec<LocalId> = variables.iter().map(|bound| bound.local).collect();
        while let Some((at, value)) = next_solved(&conjuncts, &open) {
            let value = self.expr(&value);
            self.replaced.insert(open.remove(at), value);
        }
        let whole = if let Some(&local) = open.first() {
            let name = self.member.program().locals[local].name.clone();
            let why = format!(
                "nothing says which `{name}` is meant: add `{name} == ..` or `x.f |-> {name}` below the `exists`"
            );
            self.refused(&why, span)
        } else {
            let domains = variables.iter().filter_map(|bound| {
                let set = bound.domain.as_ref()?;
                Some((bound.local, set))
            });
            let domains: Vec<_> = domains.collect();
            let mut parts = Vec::new();
            for (local, set) in domains {
                let set = self.expr(set);
                parts.push(contains(&set, &self.local(local)));
            }
            parts.push(self.expr(body));
            and(parts)
        };
        self.replaced = outer;
        whole
    }
}

/// Searches an expression for what another state may have another value for.
struct State<'s> {
    last_values: &'s FxHashMap<LocalId, Name>,
    is_read: bool,
}

impl Visitor<'_> for State<'_> {
    fn expr(&mut self, e: &s::Expr) {
        self.is_read |= match &e.kind {
            s::ExprKind::Ident(name) => self.last_values.values().any(|last| last == name),
            s::ExprKind::Field { .. }
            | s::ExprKind::Call { .. }
            | s::ExprKind::Unfolding { .. } => true,
            _ => false,
        };
        if !self.is_read {
            visit::expr(self, e);
        }
    }
}

/// Returns the pure conjuncts before the first permission.
fn decides(assertion: &Expr) -> Vec<&Expr> {
    let mut conjuncts = Vec::new();
    conjuncts_of(assertion, &mut conjuncts);
    conjuncts.into_iter().take_while(|conjunct| !conjunct.is_permission()).collect()
}

/// The parts of `A &*& B`, `A && B`.
pub(super) fn conjuncts_of<'e>(assertion: &'e Expr, conjuncts: &mut Vec<&'e Expr>) {
    match &assertion.kind {
        ExprKind::Star(parts) | ExprKind::And(parts) => {
            parts.iter().for_each(|part| front::grow_stack(|| conjuncts_of(part, conjuncts)));
        }
        ExprKind::Annotated { body, .. } => conjuncts_of(body, conjuncts),
        _ => conjuncts.push(assertion),
    }
}

/// Returns the place of the first variable among the open ones that some conjunct determines, and
/// its value.
pub(super) fn next_solved(conjuncts: &[&Expr], open: &[LocalId]) -> Option<(usize, Expr)> {
    open.iter().enumerate().find_map(|(at, &local)| {
        Some((at, conjuncts.iter().find_map(|conjunct| solved(conjunct, local, open))?))
    })
}

/// Returns the value that a conjunct gives to a variable, without mentioning variables that are
/// open still.
fn solved(conjunct: &Expr, local: LocalId, open: &[LocalId]) -> Option<Expr> {
    let (left, right) = match &conjunct.kind {
        ExprKind::Binary { op: BinaryOp::Eq | BinaryOp::Iff, left, right } => (left, right),
        ExprKind::PointsTo { location, value } => (value, location),
        _ => return None,
    };
    let value = solved_for(left, right, local).or_else(|| match conjunct.kind {
        ExprKind::PointsTo { .. } => None,
        _ => solved_for(right, left, local),
    })?;
    (!free_locals(&value).iter().any(|other| open.contains(other))).then_some(value)
}

/// Returns the value of a variable where `side` equals `other`: sums and differences of integers
/// are undone.
fn solved_for(side: &Expr, other: &Expr, local: LocalId) -> Option<Expr> {
    let part = |op, left: &Expr, right: &Expr| {
        let kind =
            ExprKind::Binary { op, left: Box::new(left.clone()), right: Box::new(right.clone()) };
        Expr { kind, ty: Type::Int, span: other.span }
    };
    match &side.kind {
        ExprKind::Local(it) if *it == local => Some(other.clone()),
        ExprKind::Binary { op: BinaryOp::Add, left, right } if side.ty == Type::Int => {
            solved_for(left, &part(BinaryOp::Sub, other, right), local)
                .or_else(|| solved_for(right, &part(BinaryOp::Sub, other, left), local))
        }
        ExprKind::Binary { op: BinaryOp::Sub, left, right } if side.ty == Type::Int => {
            solved_for(left, &part(BinaryOp::Add, other, right), local)
                .or_else(|| solved_for(right, &part(BinaryOp::Sub, left, other), local))
        }
        _ => None,
    }
}
