//! Types of calls: what is called, and whether the arguments fit.

use super::context::Resolver;
use super::inference::{Meaning, Referent, plain};
use super::names::{Found, Global};
use super::unify::Ty;
use crate::program::PredicateId;
use crate::source::{Name, Span};
use crate::syntax::{self, Ident};

impl Resolver<'_, '_> {
    pub(super) fn infer_call(
        &mut self,
        name: &Ident,
        arguments: &[syntax::Expr],
        span: Span,
    ) -> (Meaning, Referent) {
        let program = self.shared.program;
        let is_callable = |global| {
            matches!(global, Global::Function(_) | Global::DomainFunction(_) | Global::Predicate(_))
        };
        let global = match self.shared.globals.find(&name.name, is_callable) {
            Found::One(global) => Some(global),
            Found::Nothing => self.global(&name.name),
            Found::Several => match self.own_function(name) {
                Found::One(global) => Some(global),
                _ => {
                    for argument in arguments {
                        self.infer(argument);
                    }
                    self.error(name.span, format!("ambiguous call of `{}`", name.name));
                    return plain(Ty::Error);
                }
            },
        };
        match global {
            Some(Global::Function(id)) => {
                let function = &program.functions[id];
                let formals =
                    function.formals.iter().map(|&formal| Ty::of(&function.locals[formal].ty));
                self.infer_arguments(&name.name, arguments, formals.collect(), span);
                if self.place.axiom_of.is_some() && self.shared.facts.has_precondition[id] {
                    self.error(span, "an axiom cannot use a function that has a precondition");
                }
                let ty = Ty::of(&function.result);
                (Meaning { ty, pure: true }, Referent::Function(id))
            }
            Some(Global::DomainFunction(id)) => {
                let function = &program.domain_functions[id];
                let domain = &program.domains[function.domain];
                let instance: Vec<_> =
                    domain.parameters.iter().map(|_| self.inference.fresh_instance()).collect();
                if self.place.axiom_of == Some(function.domain) {
                    let own = instance.iter().cloned().zip(domain.parameters.iter().cloned());
                    self.inference.own_parameters.extend(own);
                }
                let formals = function
                    .formals
                    .iter()
                    .map(|(_, ty)| Ty::instantiate(ty, &domain.parameters, &instance));
                let formals = formals.collect();
                if self.shared.globals.is_adt(&domain.name) {
                    self.infer_arguments_of_constructor(&name.name, arguments, formals, span);
                } else {
                    self.infer_arguments(&name.name, arguments, formals, span);
                }
                let ty = Ty::instantiate(&function.result, &domain.parameters, &instance);
                (Meaning { ty, pure: true }, Referent::DomainFunction(id, instance))
            }
            Some(Global::Predicate(id)) => {
                self.infer_predicate_arguments(id, arguments, span);
                (Meaning { ty: Ty::Bool, pure: false }, Referent::Predicate(id))
            }
            other => {
                for argument in arguments {
                    self.infer(argument);
                }
                self.error(
                    name.span,
                    match other {
                        Some(Global::Method(_)) => {
                            format!(
                                "the method `{0}` cannot be called in an expression; assign what it returns to a variable first, as in `x := {0}(…)`",
                                name.name
                            )
                        }
                        Some(_) => format!("`{}` is not a function or predicate", name.name),
                        None => self.undeclared_function(name),
                    },
                );
                plain(Ty::Error)
            }
        }
    }

    /// Makes the message about a function or predicate that does not exist.
    fn undeclared_function(&self, name: &Ident) -> String {
        let is_wanted = |global| {
            matches!(global, Global::Function(_) | Global::DomainFunction(_) | Global::Predicate(_))
        };
        let globals = self.shared.globals;
        let question = globals.question(&name.name, is_wanted);
        if !question.is_empty() {
            return format!("undeclared function or predicate `{}`{question}", name.name);
        }
        if OF_PLUGINS.contains(&&*name.name) {
            return format!(
                "undeclared function or predicate `{0}`; `{0}` belongs to a plugin of Viper that is not supported",
                name.name
            );
        }
        let method = globals.question(&name.name, |global| matches!(global, Global::Method(_)));
        let or_method = if method.is_empty() {
            "function or predicate"
        } else {
            "function, predicate or method"
        };
        format!("undeclared {or_method} `{}`{method}", name.name)
    }

    /// In an axiom, the function of its own domain: the axioms of an adt are about its own
    /// constructors, whoever else declares them.
    fn own_function(&self, name: &Ident) -> Found {
        let functions = &self.shared.program.domain_functions;
        self.shared.globals.find(&name.name, |global| {
            matches!(global, Global::DomainFunction(id)
                if self.place.axiom_of == Some(functions[id].domain))
        })
    }

    pub(super) fn infer_predicate_arguments(
        &mut self,
        id: PredicateId,
        arguments: &[syntax::Expr],
        span: Span,
    ) {
        let predicate = &self.shared.program.predicates[id];
        let is_amount_given = arguments.len() == predicate.formals.len() + 1;
        let formals: Vec<_> =
            predicate.formals.iter().map(|&formal| Ty::of(&predicate.locals[formal].ty)).collect();
        let errors = self.errors();
        self.infer_arguments(&predicate.name, arguments, formals, span);
        // The only new error is about the number of arguments.
        if is_amount_given
            && self.errors() == errors + 1
            && let Some(error) = self.shared.diagnostics.last_mut()
        {
            let hint = format!("; an amount is written as in `acc({}(…), 1/2)`", predicate.name);
            error.message.push_str(&hint);
        }
    }

    /// Arguments against the types of the formal parameters of `callee`.
    pub(super) fn infer_arguments(
        &mut self,
        callee: &Name,
        arguments: &[syntax::Expr],
        formals: Vec<Ty>,
        span: Span,
    ) {
        if arguments.len() != formals.len() {
            let message = format!(
                "wrong number of arguments: `{callee}` has {}, but {} given",
                counted(formals.len(), "parameter"),
                match arguments.len() {
                    0 => "none is".to_owned(),
                    1 => "1 is".to_owned(),
                    more => format!("{more} are"),
                }
            );
            self.error(span, message);
            self.relate_to_declaration(callee);
            for argument in arguments {
                self.infer(argument);
            }
            return;
        }
        let errors = self.errors();
        let types = self.arguments(arguments, &formals);
        if errors != self.errors() {
            return;
        }
        for ((ty, formal), argument) in types.iter().zip(&formals).zip(arguments) {
            if !self.unify(argument.span, ty, formal) {
                return self.relate_to_declaration(callee);
            }
        }
    }

    /// As [`Self::infer_arguments`], but as in the reference, each argument of a method is looked
    /// at by itself.
    pub(super) fn infer_arguments_of_method(
        &mut self,
        callee: &Name,
        arguments: &[syntax::Expr],
        formals: Vec<Ty>,
        span: Span,
    ) {
        if arguments.len() != formals.len() {
            return self.infer_arguments(callee, arguments, formals, span);
        }
        for (argument, formal) in arguments.iter().zip(&formals) {
            let ty = self.pure(argument);
            if !self.unify(argument.span, &ty, formal) {
                self.relate_to_declaration(callee);
            }
        }
    }

    fn arguments(&mut self, arguments: &[syntax::Expr], formals: &[Ty]) -> Vec<Ty> {
        let of_argument = |(argument, formal): (&syntax::Expr, &Ty)| match formal {
            Ty::Hole(_) => self.part(argument),
            _ => self.pure(argument),
        };
        arguments.iter().zip(formals).map(of_argument).collect()
    }

    /// Adds to the last error where a member is declared.
    fn relate_to_declaration(&mut self, name: &Name) {
        if let Some(span) = self.shared.globals.span(name)
            && let Some(error) = self.shared.diagnostics.last_mut()
        {
            error.related.push((span, format!("`{name}` is declared here")));
        }
    }

    /// As [`Self::infer_arguments`], but as in the reference, arguments of wrong types are reported
    /// at the call.
    fn infer_arguments_of_constructor(
        &mut self,
        callee: &Name,
        arguments: &[syntax::Expr],
        formals: Vec<Ty>,
        span: Span,
    ) {
        if arguments.len() != formals.len() {
            return self.infer_arguments(callee, arguments, formals, span);
        }
        let errors = self.errors();
        let types = self.arguments(arguments, &formals);
        if errors != self.errors() {
            return;
        }
        for ((ty, formal), argument) in types.iter().zip(&formals).zip(arguments) {
            if !self.unify(span, ty, formal) {
                let argument = self.at(argument.span);
                if let Some(error) = self.shared.diagnostics.last_mut() {
                    error.related.push((argument, "this is the argument".to_owned()));
                }
                return;
            }
        }
    }
}

/// Forms that plugins of the reference add to expressions, as applications.
const OF_PLUGINS: [&str; 4] = ["low", "lowEvent", "oldCall", "rel"];

fn counted(number: usize, what: &str) -> String {
    match number {
        0 => format!("no {what}s"),
        some => front::counted(some, what),
    }
}
