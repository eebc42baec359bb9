//! The safety of executed expressions: objects that are read are owned, divisors are not 0,
//! preconditions of functions hold. The original leaves guards and functions out; here everything
//! that runs is checked.
//!
//! Ghost code does not run, so functions and quantifiers in it mean the same as in a specification:
//! they read all objects, and their preconditions say where their values are known. All other reads
//! of ghost code are checked, as in the original.

use findings::{ErrorId, Pattern, Reason};
use front::grow_stack;
use sil::build::Annotate;
use sil::syntax as s;
use spl::program::{Bound, Clause, Expr, ExprKind, Quantifier, Type};
use spl::source::Span;

use super::Fallible;
use super::assertions::formulas;
use super::executed::Applied;
use super::member::{Declaration, Env};
use super::prelude::Part;
use super::terms::cell_type;
use super::uses::owns_contents;
use crate::build::*;

/// How an expression comes to be evaluated.
#[derive(Debug, Clone)]
pub(super) struct Evaluation {
    /// How it is read.
    pub(super) env: Env,
    /// The condition under which it is evaluated.
    pub(super) guard: s::Expr,
    /// The variables of the quantifiers and comprehensions around it.
    pub(super) bound: Vec<s::TypedName>,
    /// Where errors are reported, if not where the expression stands: a body is evaluated where it
    /// is applied.
    pub(super) place: Option<Span>,
    /// Is it evaluated by ghost code?
    pub(super) is_ghost: bool,
    /// Is it about the state at entry?
    pub(super) is_old: bool,
    /// Does the engine ask for divisors and preconditions itself?
    pub(super) is_definition: bool,
}

impl Evaluation {
    /// Where `more` holds, too.
    fn under(&self, more: s::Expr) -> Self {
        Self { guard: and([self.guard.clone(), more]), ..self.clone() }
    }
}

impl<'p> Declaration<'_, 'p> {
    /// Checks an expression of a statement.
    pub(super) fn check(&mut self, e: &'p Expr) -> Fallible<()> {
        self.check_value(e, false)
    }

    /// Checks an expression whose value goes to something that is ghost or not.
    pub(super) fn check_value(&mut self, e: &'p Expr, to_ghost: bool) -> Fallible<()> {
        let evaluation = Evaluation {
            env: self.env(),
            guard: truth(true),
            bound: Vec::new(),
            place: None,
            is_ghost: to_ghost || self.is_ghost,
            is_old: false,
            is_definition: false,
        };
        self.opened = 0;
        self.evaluated(e, &evaluation)
    }

    /// Checks an expression that is evaluated in this way.
    pub(super) fn evaluated(&mut self, e: &'p Expr, how: &Evaluation) -> Fallible<()> {
        grow_stack(|| self.evaluated_here(e, how))
    }

    fn all_evaluated(
        &mut self,
        all: impl IntoIterator<Item = &'p Expr>,
        how: &Evaluation,
    ) -> Fallible<()> {
        all.into_iter().try_for_each(|e| self.evaluated(e, how))
    }

    fn evaluated_here(&mut self, e: &'p Expr, how: &Evaluation) -> Fallible<()> {
        match &e.kind {
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::Emp
            | ExprKind::Local(_)
            | ExprKind::Global(_) => Ok(()),
            ExprKind::FieldMap(field) => {
                let sort = Type::Struct(self.program.fields[*field].parent);
                self.all_read(&sort, e.span, how);
                Ok(())
            }
            ExprKind::ArrayMap(array) => {
                self.evaluated(array, how)?;
                self.all_read(&cell_type(&array.ty), e.span, how);
                Ok(())
            }
            ExprKind::FieldRead { receiver, field } => {
                self.evaluated(receiver, how)?;
                let sort = Type::Struct(self.program.fields[*field].parent);
                let object = self.term_as(receiver, &sort, &how.env)?;
                self.readable_at(&sort, object, (e.span, receiver.span), how);
                Ok(())
            }
            ExprKind::ArrayLength(array) => {
                self.evaluated(array, how)?;
                let object = self.term(array, &how.env)?;
                self.readable_at(&array.ty, object, (e.span, array.span), how);
                Ok(())
            }
            ExprKind::Element { array, index } => {
                self.all_evaluated([&**array, &**index], how)?;
                let cell = self.of_array("cell", array, Some(index), &how.env)?;
                self.readable_at(&cell_type(&array.ty), cell, (e.span, e.span), how);
                Ok(())
            }
            ExprKind::CellContent(cell) => {
                self.evaluated(cell, how)?;
                let object = self.term(cell, &how.env)?;
                self.readable_at(&cell.ty, object, (e.span, cell.span), how);
                Ok(())
            }
            ExprKind::MapRead { map, key } => self.map_evaluated(map, key, e.span, how),
            ExprKind::Binary { op, left, right } => {
                self.all_evaluated([&**left, &**right], how)?;
                if super::terms::divides(*op) && !how.is_definition {
                    let divisor = self.term(right, &how.env)?;
                    let text = "the divisor might be 0";
                    let id = (ErrorId::ArithmeticFailed, Reason::DivisionByZero);
                    self.obligation(ne(divisor, int(0)), (id, text), e.span, how);
                }
                Ok(())
            }
            ExprKind::And(all) | ExprKind::Or(all) => {
                let is_and = matches!(e.kind, ExprKind::And(_));
                let mut how = how.clone();
                for one in all {
                    self.evaluated(one, &how)?;
                    let value = self.term(one, &how.env)?;
                    how = how.under(if is_and { value } else { not(value) });
                }
                Ok(())
            }
            ExprKind::Implies { guard, body } => {
                self.evaluated(guard, how)?;
                let holds = self.term(guard, &how.env)?;
                self.evaluated(body, &how.under(holds))
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                self.evaluated(condition, how)?;
                let holds = self.term(condition, &how.env)?;
                self.evaluated(then, &how.under(holds.clone()))?;
                self.evaluated(otherwise, &how.under(not(holds)))
            }
            ExprKind::Apply { function, arguments } => {
                self.all_evaluated(arguments, how)?;
                self.applied(Applied::Function(*function, arguments), e.span, how)
            }
            ExprKind::Predicate(predicate) => {
                self.all_evaluated(&predicate.arguments, how)?;
                self.applied(Applied::Predicate(predicate), e.span, how)
            }
            ExprKind::Old(body) => {
                let old = Evaluation { env: how.env.old(), is_old: true, ..how.clone() };
                if how.is_ghost { Ok(()) } else { self.evaluated(body, &old) }
            }
            ExprKind::Quantified { quantifier, variables, body } => {
                self.quantified_evaluated(*quantifier, variables, body, how)
            }
            ExprKind::SetComprehension { variable, body }
            | ExprKind::MapComprehension { variable, body } => {
                let variable = Bound { local: *variable, domain: None };
                let inner = self.for_any(&variable, how, None)?;
                if how.is_ghost { Ok(()) } else { self.evaluated(body, &inner) }
            }
            // Annotations are hints.
            ExprKind::Annotated { body, .. } => self.evaluated(body, how),
            // The array and the index of a cell are what it is, not what it holds.
            ExprKind::CellArray(_)
            | ExprKind::CellIndex(_)
            | ExprKind::ArrayCells(_)
            | ExprKind::Destruct { .. }
            | ExprKind::Unary { .. }
            | ExprKind::Known(_)
            | ExprKind::ByteToInt(_)
            | ExprKind::IntToByte(_)
            | ExprKind::Construct { .. }
            | ExprKind::Set(_)
            | ExprKind::Star(_)
            | ExprKind::Overlap(_)
            | ExprKind::Chain { .. }
            | ExprKind::MapUpdate { .. }
            | ExprKind::Btwn { .. }
            | ExprKind::Reach { .. }
            | ExprKind::Frame { .. }
            | ExprKind::Disjoint(..)
            | ExprKind::PartOf { .. } => {
                let mut parts = Vec::new();
                e.for_each_child(&mut |part| parts.push(part));
                self.all_evaluated(parts, how)
            }
            ExprKind::Access(_) | ExprKind::PointsTo { .. } => {
                self.stuck("a permission in what is evaluated", e.span)
            }
            ExprKind::Unfolding { .. } => self.stuck("unfolding in this dialect", e.span),
        }
    }

    fn map_evaluated(
        &mut self,
        map: &'p Expr,
        key: &'p Expr,
        span: Span,
        how: &Evaluation,
    ) -> Fallible<()> {
        self.evaluated(key, how)?;
        match &map.kind {
            ExprKind::FieldMap(field) => {
                let sort = Type::Struct(self.program.fields[*field].parent);
                let object = self.term_as(key, &sort, &how.env)?;
                self.readable_at(&sort, object, (span, key.span), how);
                Ok(())
            }
            ExprKind::ArrayMap(array) => {
                self.evaluated(array, how)?;
                let cell = self.of_array("cell", array, Some(key), &how.env)?;
                self.readable_at(&cell_type(&array.ty), cell, (span, span), how);
                Ok(())
            }
            _ => self.evaluated(map, how),
        }
    }

    /// Something is evaluated for all values of variables.
    fn quantified_evaluated(
        &mut self,
        quantifier: Quantifier,
        variables: &'p [Bound],
        body: &'p Expr,
        how: &Evaluation,
    ) -> Fallible<()> {
        let (Quantifier::Forall | Quantifier::Exists) = quantifier;
        if how.is_ghost {
            return Ok(());
        }
        let mut inner = how.clone();
        for variable in variables {
            if let Some(domain) = &variable.domain {
                self.evaluated(domain, &inner)?;
            }
            inner = self.for_any(variable, &inner, variable.domain.as_ref())?;
        }
        self.evaluated(body, &inner)
    }

    /// For any value of a variable, in a set if there is one.
    fn for_any(
        &mut self,
        variable: &Bound,
        how: &Evaluation,
        domain: Option<&'p Expr>,
    ) -> Fallible<Evaluation> {
        let domain = domain.map(|domain| self.term(domain, &how.env)).transpose()?;
        let (name, env) = self.bound(variable.local, &how.env);
        let value = var(&name.name.name);
        let mut inner = Evaluation { env, ..how.clone() };
        inner.bound.push(name);
        let ty = &self.program.locals[variable.local].ty;
        if *ty == Type::Byte {
            inner = inner.under(and([le(int(0), value.clone()), lt(value.clone(), int(256))]));
        }
        if let Some(domain) = domain {
            inner = inner.under(self.of_set("mem", ty, [value, domain]));
        }
        Ok(inner)
    }

    /// Checks what a contract asks for: that it holds, and that what it owns may be read.
    pub(super) fn required(
        &mut self,
        clauses: &'p [Clause],
        env: &Env,
        span: Span,
        how: &Evaluation,
    ) -> Fallible<()> {
        let spec = self.spec(clauses, env)?;
        let free: Vec<Span> =
            clauses.iter().filter(|clause| clause.is_free).map(|clause| clause.span).collect();
        let id = (ErrorId::ApplicationPrecondition, Reason::AssertionFalse);
        for (formula, place) in formulas(&spec) {
            if !free.contains(&place) && !how.is_definition {
                self.obligation(formula, (id, "the precondition might not hold"), span, how);
            }
        }
        let sorts: Vec<Type> =
            spec.cases.iter().flat_map(|case| case.sets.keys().cloned()).collect();
        let sorts: indexmap::IndexSet<Type> = sorts.into_iter().collect();
        for sort in sorts {
            let needed = self.chosen_set(&spec, &sort);
            let all = self.readable_sets(&sort, how);
            let all =
                all.into_iter().reduce(|left, right| self.of_set("union", &sort, [left, right]));
            let Some(all) = all else { continue };
            let inside = self.of_set("subset", &sort, [needed, all]);
            let text = format!("{} is needed here that is not owned", self.objects(&sort));
            let id = (ErrorId::ApplicationPrecondition, Reason::Footprint);
            self.obligation(inside, (id, &text), span, how);
        }
        Ok(())
    }

    /// Returns the sets of readable objects of a sort.
    fn readable_sets(&self, sort: &Type, how: &Evaluation) -> Vec<s::Expr> {
        if how.is_old {
            return self.entry.own.get(sort).into_iter().cloned().collect();
        }
        let mut sets: Vec<s::Expr> = self.state.own.get(sort).into_iter().cloned().collect();
        sets.extend(self.readable.iter().filter_map(|level| level.get(sort).cloned()));
        sets
    }

    /// Checks that an object may be read: where, and where it is named.
    fn readable_at(
        &mut self,
        sort: &Type,
        object: s::Expr,
        (span, named): (Span, Span),
        how: &Evaluation,
    ) {
        let sets = self.readable_sets(sort, how);
        let is_in: Vec<s::Expr> =
            sets.into_iter().map(|set| self.of_set("mem", sort, [object.clone(), set])).collect();
        let text = self.might_be_lost(sort, named, "accessed");
        let claims = [or(is_in)].into_iter().chain(self.within_bounds(sort, &object));
        self.obligation(and(claims), (ACCESS, &text), span, how);
    }

    /// Returns the condition that a cell is one of its array's: what arrays own that own what they
    /// hold is not only such cells.
    fn within_bounds(&mut self, sort: &Type, cell: &s::Expr) -> Option<s::Expr> {
        let Type::ArrayCell(element) = sort else { return None };
        if !owns_contents(self.program) {
            return None;
        }
        self.lowering.prelude.want(Part::Array((**element).clone()));
        let [array, index] =
            ["array", "index"].map(|part| self.of_type(part, element, [cell.clone()]));
        let length = self.of_type("length", element, [array]);
        Some(and([le(int(0), index.clone()), lt(index, length)]))
    }

    /// All objects of a sort are read, owned or not, unless it is for ghost code.
    pub(super) fn all_read(&mut self, sort: &Type, span: Span, how: &Evaluation) {
        if !how.is_ghost {
            let text = format!("{} might be accessed here that is not owned", self.objects(sort));
            self.obligation(truth(false), (ACCESS, &text), span, how);
        }
    }

    /// Asks for something where the expression is evaluated.
    fn obligation(
        &mut self,
        condition: s::Expr,
        (id, text): ((ErrorId, Reason), &str),
        span: Span,
        how: &Evaluation,
    ) {
        let mut claim = implies(how.guard.clone(), condition);
        if !how.bound.is_empty() {
            let names: Vec<&str> = how.bound.iter().map(|one| &*one.name.name).collect();
            let triggers = super::triggers::of(&names, &claim);
            claim = forall(how.bound.clone(), triggers, claim);
        }
        let check = assert(claim).with(renamed(Pattern::ANY, id)).with(said(Pattern::ANY, text));
        self.emit_at(how.place.unwrap_or(span), check);
    }

    /// Checks that an object may be written: where, and where it is named.
    pub(super) fn writable_at(
        &mut self,
        sort: &Type,
        object: s::Expr,
        (span, named): (Span, Span),
    ) {
        let own = self.state.own[sort].clone();
        let is_owned = self.of_set("mem", sort, [object.clone(), own]);
        let claims = [is_owned].into_iter().chain(self.within_bounds(sort, &object));
        let check = assert(and(claims));
        let text = self.might_be_lost(sort, named, "accessed");
        self.emit_at(
            span,
            check.with(renamed(Pattern::ANY, ACCESS)).with(said(Pattern::ANY, &text)),
        );
    }

    /// Returns the words of an error about an object that is not owned, or is none.
    pub(super) fn might_be_lost(&self, sort: &Type, named: Span, how: &str) -> String {
        let text = self.lowering.sources.text(named).unwrap_or_default();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = sil::build::escaped(&text);
        let other = match sort {
            Type::ArrayCell(_) => "lie outside of the array",
            _ => "be null",
        };
        format!("`{text}` is {how} here, and might {other}, or not be owned")
    }
}

const ACCESS: (ErrorId, Reason) = (ErrorId::AccessFailed, Reason::InsufficientPermission);
