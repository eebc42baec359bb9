//! Types of expressions: names are looked up, holes are made and filled.
//!
//! Inference and building are two walks over the same parse tree: the first records in
//! [`Inference`] what each node means, the second ([`super::build`]) makes resolved nodes once all
//! holes are filled. An assertion has type `Bool` and is told from a condition by
//! [`Meaning::pure`].

mod resources;

use front::grow_stack;

use super::context::{Introspection, Resolver, raw};
use super::inference::{Inference, Meaning, Node, Referent, assertion, plain};
use super::names::Global;
use super::operands::Demand;
use super::overload::{self, Misfit, Signatures};
use super::scope::Entry;
use super::unify::Ty;
use crate::diagnostics::{Code, Diagnostic};
use crate::program::{Expr, LocalId, LocalKind, OldLabel, Type};
use crate::source::{Name, Span};
use crate::syntax::{self, BinaryOp, Collection, ExprKind, Trigger, TypedName, UnaryOp};

impl Resolver<'_, '_> {
    /// Resolves a pure expression of the given type.
    pub(super) fn value(&mut self, expr: &syntax::Expr, expected: &Type) -> Option<Expr> {
        self.resolve(expr, Some(expected), true)
    }

    /// Resolves an assertion.
    pub(super) fn assertion(&mut self, expr: &syntax::Expr) -> Option<Expr> {
        self.resolve(expr, Some(&Type::Bool), false)
    }

    /// Resolves an expression of any type; it may also be an assertion.
    pub(super) fn any_expression(&mut self, expr: &syntax::Expr) -> Option<Expr> {
        self.resolve(expr, None, false)
    }

    fn resolve(
        &mut self,
        expr: &syntax::Expr,
        expected: Option<&Type>,
        pure: bool,
    ) -> Option<Expr> {
        self.inferring(expr.span, |resolver| {
            let meaning = resolver.infer(expr);
            if let Some(expected) = expected {
                resolver.unify(expr.span, &meaning.ty, &Ty::of(expected));
            }
            // A collection of assertions is no value of the type of a variable.
            let is_of_assertions =
                expected != Some(&Type::Bool) && resolver.inference.has_impure_part;
            if pure && (!meaning.pure || is_of_assertions) {
                resolver.error_impure(expr.span);
            }
        })
        .then(|| self.build(expr))?
    }

    /// Runs `infer` and fills all holes of what it inferred. Whether there were no errors.
    pub(super) fn inferring(&mut self, span: Span, infer: impl FnOnce(&mut Self)) -> bool {
        let errors = self.shared.diagnostics.len();
        self.inference.clear();
        infer(self);
        while let Err(misfit) = self.inference.decide_all() {
            self.error_misfit(misfit);
        }
        if errors == self.shared.diagnostics.len() && self.inference.has_large_type() {
            self.error(span, "the type of a part of this expression is too large");
        }
        let well_typed = errors == self.shared.diagnostics.len();
        self.fill_holes(span, well_typed);
        well_typed
    }

    /// Settles the types of `let` variables, and of holes that nothing determines: in an axiom the
    /// parameter of its own domain, elsewhere `Int`, with a warning.
    fn fill_holes(&mut self, span: Span, warn: bool) {
        let own = std::mem::take(&mut self.inference.own_parameters);
        for (hole, name) in own {
            if let free @ Ty::Hole(_) = self.inference.unifier.head(&hole) {
                let filled = self.inference.unifier.unify(&free, &Ty::Parameter(name));
                debug_assert!(filled.is_ok(), "a free hole takes any type");
            }
        }
        for local in std::mem::take(&mut self.inference.lets) {
            let ty = self.types[raw(local)].clone();
            self.locals[local].ty = self.inference.ground(&ty);
        }
        if warn && self.inference.has_free_instance() {
            let span = self.at(span);
            let message = "a type parameter is not determined by its use: `Int` is assumed";
            self.shared.warnings.push(Diagnostic::new(Code::TypecheckerWarning, span, message));
        }
    }

    /// Infers the type of an expression and records what its names mean.
    pub(super) fn infer(&mut self, expr: &syntax::Expr) -> Meaning {
        let order = self.inference.order;
        self.inference.order += 1;
        let (mut meaning, referent) = grow_stack(|| self.infer_kind(expr, order));
        if self.inference.unifier.is_too_large(&meaning.ty) {
            self.error(expr.span, "the type of this expression is too large");
            meaning.ty = Ty::Error;
        }
        self.record(expr, meaning.ty.clone(), referent);
        meaning
    }

    pub(super) fn record(&mut self, expr: &syntax::Expr, ty: Ty, referent: Referent) {
        self.inference.record(expr, Node { ty, referent });
    }

    fn infer_kind(&mut self, expr: &syntax::Expr, order: u32) -> (Meaning, Referent) {
        match &expr.kind {
            ExprKind::Int(_) => plain(Ty::Int),
            ExprKind::Bool(_) => plain(Ty::Bool),
            ExprKind::Null => plain(Ty::Ref),
            ExprKind::NoPerm | ExprKind::FullPerm | ExprKind::Wildcard => plain(Ty::Perm),
            ExprKind::Epsilon => {
                self.error(expr.span, "`epsilon` is desugared before names are resolved");
                plain(Ty::Error)
            }
            ExprKind::Result => self.infer_result(expr.span),
            ExprKind::Ident(name) => self.infer_ident(name, expr.span),
            ExprKind::Call { name, arguments, ascription } => {
                let (meaning, referent) = self.infer_call(name, arguments, expr.span);
                if let Some(ascription) = ascription {
                    let ascribed = Ty::of(&self.resolve_type(ascription));
                    self.unify(expr.span, &meaning.ty, &ascribed);
                }
                (meaning, referent)
            }
            ExprKind::Field { receiver, name } => self.infer_field(receiver, name),
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                self.value_of(operand, &Ty::Bool);
                plain(Ty::Bool)
            }
            ExprKind::Unary { op: UnaryOp::Minus, operand } => {
                self.apply(overload::MINUS, &[operand], expr.span, order)
            }
            ExprKind::Binary { op, left, right } => {
                self.infer_binary(*op, left, right, expr.span, order)
            }
            ExprKind::And(operands) => assertion(self.chain(operands, Demand::Assertion)),
            ExprKind::Or(operands) => {
                self.chain(operands, Demand::Value(&Ty::Bool));
                plain(Ty::Bool)
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let errors = self.errors();
                let of_condition = self.infer(condition);
                let then = self.infer(then);
                let other = self.infer(otherwise);
                let same = errors == self.errors()
                    && self.fits(condition, &of_condition, Demand::Value(&Ty::Bool))
                    && self.unify(otherwise.span, &other.ty, &then.ty);
                // Nobody knows which of the two types is meant, so neither is an error elsewhere.
                let ty = if same { then.ty } else { Ty::Error };
                (Meaning { ty, pure: then.pure && other.pure }, Referent::None)
            }
            ExprKind::Index { base, index } => {
                self.apply(overload::INDEX, &[base, index], expr.span, order)
            }
            ExprKind::Update { base, index, value } => {
                self.apply(overload::UPDATE, &[base, index, value], expr.span, order)
            }
            ExprKind::Slice { base, low, high } => match (low, high) {
                (Some(low), Some(high)) => {
                    self.apply(overload::SLICE_BOTH, &[base, low, high], expr.span, order)
                }
                (Some(bound), None) | (None, Some(bound)) => {
                    self.apply(overload::SLICE, &[base, bound], expr.span, order)
                }
                (None, None) => {
                    self.error(expr.span, "a slice needs a bound");
                    plain(Ty::Error)
                }
            },
            ExprKind::Cardinality(operand) => {
                self.apply(overload::CARDINALITY, &[operand], expr.span, order)
            }
            ExprKind::MapDomain(operand) => {
                self.apply(overload::MAP_DOMAIN, &[operand], expr.span, order)
            }
            ExprKind::MapRange(operand) => {
                self.apply(overload::MAP_RANGE, &[operand], expr.span, order)
            }
            ExprKind::Range(low, high) => {
                let int = Demand::Value(&Ty::Int);
                self.operands([(&**low, int), (&**high, int)]);
                plain(Ty::Seq(Ty::Int.into()))
            }
            ExprKind::Literal { collection, element, elements } => {
                self.infer_literal(*collection, element.as_deref(), elements)
            }
            ExprKind::MapLiteral { types, entries } => {
                self.infer_map_literal(types.as_deref(), entries)
            }
            ExprKind::InhaleExhale(inhale, exhale) => self.infer_inhale_exhale(inhale, exhale),
            ExprKind::Old { label, body } => self.infer_old(label, body, expr.span),
            ExprKind::Acc { location, amount } => {
                let errors = self.errors();
                self.infer_location(location);
                self.infer_amount(amount.as_deref(), errors);
                assertion(false)
            }
            ExprKind::Perm(resource) => {
                self.check_introspection(expr.span, "perm");
                self.infer_resource(resource);
                plain(Ty::Perm)
            }
            ExprKind::Quantified { quantifier, variables, triggers, body } => {
                self.infer_quantified(*quantifier, variables, triggers, body)
            }
            ExprKind::ForPerm { variables, resource, body } => {
                self.infer_forperm(expr.span, variables, resource, body)
            }
            ExprKind::Let { variable, value, body } => {
                let errors = self.errors();
                let value = self.infer(value);
                let ty = if errors == self.errors() { value.ty } else { Ty::Error };
                self.scopes.open();
                let local = self.declare_let(variable, ty);
                self.inference.lets.push(local);
                let body = self.infer(body);
                self.scopes.close();
                (body, Referent::Binds(vec![local]))
            }
            ExprKind::Unfolding { access, body } => {
                self.infer_predicate_access(access, "unfolded");
                (self.infer(body), Referent::None)
            }
            ExprKind::Applying { wand, body } => {
                self.infer_wand(wand);
                (self.infer(body), Referent::None)
            }
            ExprKind::Asserting { assertion, body } => {
                self.assertion_of(assertion);
                (self.infer(body), Referent::None)
            }
            ExprKind::PredicateInstance { name, .. } => {
                // Arguments of predicates have been replaced (`plugins::predicate_instance`).
                self.error(name.span, format!("`{}` is not a predicate", name.name));
                plain(Ty::Error)
            }
            ExprKind::New(_) => {
                self.error(expr.span, "`new` can only be the right-hand side of an assignment");
                plain(Ty::Error)
            }
        }
    }

    fn apply(
        &mut self,
        signatures: Signatures,
        operands: &[&syntax::Expr],
        span: Span,
        order: u32,
    ) -> (Meaning, Referent) {
        let errors = self.errors();
        let types: Vec<_> = operands.iter().map(|operand| self.part(operand)).collect();
        if errors != self.errors() {
            return plain(Ty::Error);
        }
        let spans = operands.iter().map(|operand| operand.span).chain([span]).collect();
        let Inference { unifier, overloads, .. } = &mut self.inference;
        let applied = overloads.apply(unifier, signatures, &types, spans, order);
        let ty = applied.unwrap_or_else(|misfit| {
            self.error_misfit(misfit);
            Ty::Error
        });
        self.propagate();
        plain(ty)
    }

    fn propagate(&mut self) {
        while let Err(misfit) = self.inference.overloads.propagate(&mut self.inference.unifier) {
            self.error_misfit(misfit);
        }
    }

    /// Makes the type found at `span` equal to the one expected there, or complains and returns
    /// `false`.
    pub(super) fn unify(&mut self, span: Span, found: &Ty, expected: &Ty) -> bool {
        let equal = self.inference.unifier.unify(found, expected).is_ok();
        if !equal {
            let expected = self.describe(expected);
            let found = self.describe(found);
            self.error(span, incompatible(&found, &expected));
        }
        self.propagate();
        equal
    }

    fn infer_result(&mut self, span: Span) -> (Meaning, Referent) {
        match &self.place.result {
            Some(result) => plain(Ty::of(result)),
            None => {
                self.error(
                    span,
                    "`result` can only be used in postconditions of functions; the results of a method have the names that `returns` gives them",
                );
                plain(Ty::Error)
            }
        }
    }

    fn infer_ident(&mut self, name: &Name, span: Span) -> (Meaning, Referent) {
        match self.scopes.get(name) {
            Some(Entry::Local(local)) => {
                let ty = self.local_type(local).clone();
                (Meaning { ty, pure: true }, Referent::Local(local))
            }
            Some(Entry::Clash) => plain(Ty::Error),
            Some(Entry::Ambiguous(_)) => {
                self.error(span, format!("ambiguous identifier `{name}`"));
                plain(Ty::Error)
            }
            Some(Entry::Announced) => {
                self.error(span, format!("`{name}` is used before its declaration"));
                plain(Ty::Error)
            }
            Some(Entry::Label) | None => {
                self.error(span, self.undeclared_identifier(name));
                plain(Ty::Error)
            }
        }
    }

    /// Makes the message about a name that is no variable.
    pub(super) fn undeclared_identifier(&self, name: &Name) -> String {
        let what = match self.global(name) {
            Some(Global::Field(_)) => {
                format!("; the field `{name}` needs an object, as in `x.{name}`")
            }
            Some(Global::Function(_) | Global::DomainFunction(_)) => {
                format!("; the function `{name}` needs its arguments, as in `{name}(…)`")
            }
            Some(Global::Predicate(_)) => {
                format!("; the predicate `{name}` needs its arguments, as in `{name}(…)`")
            }
            Some(Global::Method(_) | Global::Domain(_)) | None => {
                self.shared.globals.spelling.question(name, self.scopes.variables())
            }
        };
        format!("undeclared identifier `{name}`{what}")
    }

    fn infer_binary(
        &mut self,
        op: BinaryOp,
        left: &syntax::Expr,
        right: &syntax::Expr,
        span: Span,
        order: u32,
    ) -> (Meaning, Referent) {
        match op {
            BinaryOp::Iff => {
                let bool = Demand::Value(&Ty::Bool);
                self.operands([(left, bool), (right, bool)]);
                plain(Ty::Bool)
            }
            BinaryOp::Implies => {
                let [_, right] =
                    self.operands([(left, Demand::Value(&Ty::Bool)), (right, Demand::Assertion)]);
                assertion(right.pure)
            }
            BinaryOp::Wand => {
                if !self.place.wands {
                    self.error(
                        span,
                        "magic wands are not supported in preconditions of functions and in predicates",
                    );
                }
                self.operands([(left, Demand::Assertion), (right, Demand::Assertion)]);
                assertion(false)
            }
            BinaryOp::Eq | BinaryOp::Ne => {
                let errors = self.errors();
                let [of_left, of_right] = [self.infer(left), self.infer(right)];
                if errors == self.errors() && self.fits(left, &of_left, Demand::AnyValue) {
                    self.fits(right, &of_right, Demand::Value(&of_left.ty));
                }
                plain(Ty::Bool)
            }
            _ => match overload::binary(op) {
                Some(signatures) => self.apply(signatures, &[left, right], span, order),
                None => unreachable!("all other operators have signatures"),
            },
        }
    }

    fn infer_literal(
        &mut self,
        collection: Collection,
        element: Option<&syntax::Type>,
        elements: &[syntax::Expr],
    ) -> (Meaning, Referent) {
        let ty = match element {
            Some(element) => Ty::of(&self.resolve_type(element)),
            None => self.inference.fresh_instance(),
        };
        self.parts(elements.iter().map(|element| (element, &ty)));
        plain(match collection {
            Collection::Seq => Ty::Seq(ty.into()),
            Collection::Set => Ty::Set(ty.into()),
            Collection::Multiset => Ty::Multiset(ty.into()),
        })
    }

    fn infer_map_literal(
        &mut self,
        types: Option<&(syntax::Type, syntax::Type)>,
        entries: &[(syntax::Expr, syntax::Expr)],
    ) -> (Meaning, Referent) {
        let (key, value) = match types {
            Some((key, value)) => {
                (Ty::of(&self.resolve_type(key)), Ty::of(&self.resolve_type(value)))
            }
            None => (self.inference.fresh_instance(), self.inference.fresh_instance()),
        };
        let entries = entries
            .iter()
            .flat_map(|(entry_key, entry_value)| [(entry_key, &key), (entry_value, &value)]);
        self.parts(entries);
        plain(Ty::Map((key, value).into()))
    }

    fn infer_inhale_exhale(
        &mut self,
        inhale: &syntax::Expr,
        exhale: &syntax::Expr,
    ) -> (Meaning, Referent) {
        let outside = self.place.introspection;
        if outside == Introspection::InsideInhaleExhale {
            self.place.introspection = Introspection::Anywhere;
        }
        let [inhale, exhale] =
            self.operands([(inhale, Demand::Assertion), (exhale, Demand::Assertion)]);
        self.place.introspection = outside;
        assertion(inhale.pure && exhale.pure)
    }

    fn infer_old(
        &mut self,
        label: &syntax::OldLabel,
        body: &syntax::Expr,
        span: Span,
    ) -> (Meaning, Referent) {
        let label = match label {
            syntax::OldLabel::Entry => OldLabel::Entry,
            syntax::OldLabel::Lhs => OldLabel::Lhs,
            syntax::OldLabel::Label(ident) => OldLabel::Label(self.label(ident, span)),
        };
        let ty = self.pure(body);
        (Meaning { ty, pure: true }, Referent::Old(label))
    }

    fn infer_quantified(
        &mut self,
        quantifier: syntax::Quantifier,
        variables: &[TypedName],
        triggers: &[Trigger<syntax::Expr>],
        body: &syntax::Expr,
    ) -> (Meaning, Referent) {
        let locals = self.bind(variables);
        for term in triggers.iter().flatten() {
            self.infer(term);
        }
        let pure = match quantifier {
            syntax::Quantifier::Forall => self.assertion_of(body),
            syntax::Quantifier::Exists => {
                self.value_of(body, &Ty::Bool);
                true
            }
        };
        self.scopes.close();
        (Meaning { ty: Ty::Bool, pure }, Referent::Binds(locals))
    }

    /// Opens a scope with bound variables.
    pub(super) fn bind(&mut self, variables: &[TypedName]) -> Vec<LocalId> {
        self.scopes.open();
        variables.iter().map(|variable| self.declare_local(variable, LocalKind::Bound)).collect()
    }

    pub(super) fn error_impure(&mut self, span: Span) {
        self.error(span, "an assertion about permissions has no value; it can stand in contracts and in `inhale`, `exhale` and `assert`");
    }

    fn error_misfit(&mut self, misfit: Misfit) {
        let mut expected: Vec<_> = misfit.expected.iter().map(|ty| self.describe(ty)).collect();
        expected.dedup();
        let expected = expected.join("` or `");
        let found = self.describe(&misfit.found);
        self.error(misfit.span, incompatible(&found, &expected));
    }

    /// Returns a type for a message; holes are shown as `?`.
    fn describe(&mut self, ty: &Ty) -> String {
        let unknown = Type::Variable("?".into());
        let ty = self.inference.unifier.ground(ty, &mut || unknown.clone());
        ty.display(self.shared.program).to_string()
    }
}

/// Makes the message about an expression of a wrong type.
fn incompatible(found: &str, expected: &str) -> String {
    let hint = match (found, expected) {
        ("Int" | "Perm", "Bool") => "; compare it with something, as in `… != 0`",
        ("Ref", "Bool") => "; compare it with something, as in `… != null`",
        ("Bool", "Int" | "Perm") => "; `… ? 1 : 0` makes a number of it",
        _ => "",
    };
    format!("incompatible types: found `{found}`, expected `{expected}`{hint}")
}
