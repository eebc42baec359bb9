//! Quantifiers, comprehensions and annotations.

use super::scope::new_local;
use super::{Context, Resolver};
use crate::program::{Annotation, Bound, Expr, ExprKind, Generator, LocalKind, Quantifier, Type};
use crate::source::Span;
use crate::syntax::{self, BoundVariable, Domain, Formal};

impl<'s> Resolver<'s> {
    pub(super) fn comprehension(
        &mut self,
        variable: &'s Formal,
        body: &'s syntax::Expr,
        span: Span,
        hint: &Type,
        context: Context,
    ) -> Expr {
        let from = self.type_of(&variable.ty);
        let hint = match hint {
            Type::Map(_, to) => (**to).clone(),
            _ => Type::Unknown,
        };
        let (local, body) = self.scoped(|resolver| {
            let local = new_local(&variable.name, from.clone(), LocalKind::Bound);
            let local = resolver.declare(&variable.name, local);
            (local, resolver.expr(body, &hint, context.bound()))
        });
        let (kind, ty) = match &body.ty {
            Type::Bool | Type::Permission => {
                let body = Box::new(self.coerce(body, &Type::Bool));
                (ExprKind::SetComprehension { variable: local, body }, Type::set(from))
            }
            ty => {
                let ty = Type::Map(Box::new(from), Box::new(ty.clone()));
                (ExprKind::MapComprehension { variable: local, body: Box::new(body) }, ty)
            }
        };
        Expr { kind, ty, span }
    }

    pub(super) fn quantified(
        &mut self,
        quantifier: Quantifier,
        variables: &'s [BoundVariable],
        body: &'s syntax::Expr,
        span: Span,
        context: Context,
    ) -> Expr {
        let context = context.bound();
        self.scoped(|resolver| {
            let variables =
                variables.iter().map(|variable| resolver.bound(variable, context)).collect();
            let body = resolver.assertion(body, context);
            if quantifier == Quantifier::Forall && body.is_permission() {
                let message =
                    "`forall` cannot be about permissions: name them by a set or a predicate";
                resolver.error(message, body.span);
            }
            let ty = body.ty.clone();
            let kind = ExprKind::Quantified { quantifier, variables, body: Box::new(body) };
            Expr { kind, ty, span }
        })
    }

    fn bound(&mut self, variable: &'s BoundVariable, context: Context) -> Bound {
        let (domain, ty) = match &variable.domain {
            Domain::Type(ty) => (None, self.type_of(ty)),
            Domain::In(set) => {
                let set = self.set_operand(set, &Type::Unknown, context);
                let element = match &set.ty {
                    Type::Set(element) => (**element).clone(),
                    _ => Type::Unknown,
                };
                (Some(set), element)
            }
        };
        let local = new_local(&variable.name, ty, LocalKind::Bound);
        Bound { local: self.declare(&variable.name, local), domain }
    }

    /// Returns a hint. One in the body of a function that names the function's result is left out:
    /// the definition is found by each mention of the result already.
    pub(super) fn annotation(
        &mut self,
        annotation: &'s syntax::Annotation,
        context: Context,
    ) -> Option<Annotation> {
        let Some((name, result)) = self.home.value else {
            return Some(self.resolved_annotation(annotation, context));
        };
        let resolved = self.scoped(|resolver| {
            if resolver.scopes.find(&name.name).is_none() {
                resolver.enter(name, result);
            }
            resolver.resolved_annotation(annotation, context)
        });
        let names_it = |term: &Expr| term.any(&mut |part| part.kind == ExprKind::Local(result));
        let is_of_result = match &resolved {
            Annotation::Generator(generator) => {
                generator.terms.iter().any(names_it) || names_it(&generator.result)
            }
            Annotation::Pattern(term) => names_it(term),
            Annotation::Comment(_) | Annotation::NoInstance(_) => false,
        };
        (!is_of_result).then_some(resolved)
    }

    fn resolved_annotation(
        &mut self,
        annotation: &'s syntax::Annotation,
        context: Context,
    ) -> Annotation {
        let context = context.bound();
        let hint = &Type::Unknown;
        match annotation {
            syntax::Annotation::Generator { terms, result } => {
                let terms = terms.iter().map(|term| self.expr(term, hint, context)).collect();
                Annotation::Generator(Generator { terms, result: self.expr(result, hint, context) })
            }
            syntax::Annotation::Pattern(term) => {
                Annotation::Pattern(self.expr(term, hint, context))
            }
            syntax::Annotation::Comment(text) => Annotation::Comment(text.value.clone()),
            syntax::Annotation::NoInstance(name) => Annotation::NoInstance(name.name.clone()),
        }
    }
}
