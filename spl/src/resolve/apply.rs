//! Applications: of what is built in, of macros, functions, predicates, constructors and
//! procedures.

use front::counted;

use super::expr::unknown;
use super::{Context, Expansion, Named, Resolver};
use crate::program::{
    Expr, ExprKind, LocalId, PredicateUse, ProcedureId, Stmt, StmtKind, Type, Variable,
};
use crate::source::Span;
use crate::syntax::{self, Ident};

/// How many macros a program may expand, so that small programs do not grow without end.
const EXPANSION_LIMIT: usize = 10_000;

impl<'s> Resolver<'s> {
    /// `f(e, ..)`
    pub(super) fn call(
        &mut self,
        callee: &'s Ident,
        arguments: &'s [syntax::Expr],
        span: Span,
        hint: &Type,
        context: Context,
    ) -> Expr {
        match callee.name.as_str() {
            "acc" => self.access(arguments, span, context),
            "old" | "known" => self.state_or_term(callee, arguments, span, hint, context),
            "Btwn" | "Reach" => self.reach(callee, arguments, span, context),
            "Frame" => self.frame(arguments, span, context),
            "Disjoint" => self.disjoint(arguments, span, context),
            name => match self.names.get(name).copied() {
                Some(Named::Macro(id)) => self.expand(id, arguments, span, hint, context),
                Some(Named::Procedure(id)) => self.nested_call(id, arguments, span, context),
                _ => self.applied(name, callee.span, arguments, span, context),
            },
        }
    }

    /// `old(e)`, `known(e)`
    fn state_or_term(
        &mut self,
        callee: &Ident,
        arguments: &'s [syntax::Expr],
        span: Span,
        hint: &Type,
        context: Context,
    ) -> Expr {
        let is_old = callee.name == "old";
        if is_old && !context.old {
            self.error("there is no old state here", span);
        }
        let [inner] = arguments else {
            self.expect_count("argument", 1, arguments.len(), span);
            return unknown(span);
        };
        let inner = Box::new(self.expr(inner, hint, context));
        if inner.is_permission() {
            let of = &callee.name;
            self.error(format!("`{of}` is of a value, not of permissions"), inner.span);
        }
        let ty = inner.ty.clone();
        let kind = if is_old { ExprKind::Old(inner) } else { ExprKind::Known(inner) };
        Expr { kind, ty, span }
    }

    /// `Btwn(f, x, y, z)`, `Reach(f, x, y)`
    fn reach(
        &mut self,
        callee: &Ident,
        arguments: &'s [syntax::Expr],
        span: Span,
        context: Context,
    ) -> Expr {
        let count = if callee.name == "Btwn" { 4 } else { 3 };
        if !self.expect_count("argument", count, arguments.len(), span) {
            return Expr { ty: Type::Bool, ..unknown(span) };
        }
        let field = self.boxed(&arguments[0], context);
        let node = match &field.ty {
            Type::Map(from, to) if from == to && matches!(**from, Type::Struct(_)) => {
                (**from).clone()
            }
            ty => {
                let expected = "a field that leads from a struct to the same struct";
                self.expect_unknown(&ty.clone(), expected, field.span);
                Type::Unknown
            }
        };
        let mut nodes =
            arguments[1..].iter().map(|argument| self.boxed_of(argument, &node, context));
        let mut next = || nodes.next().expect("the number of arguments has been checked");
        let kind = if count == 4 {
            ExprKind::Btwn { field, from: next(), via: next(), to: next() }
        } else {
            ExprKind::Reach { field, from: next(), to: next() }
        };
        Expr { kind, ty: Type::Bool, span }
    }

    /// `Frame(X, A, f, g)`
    fn frame(&mut self, arguments: &'s [syntax::Expr], span: Span, context: Context) -> Expr {
        let [except, within, before, after] = arguments else {
            self.expect_count("argument", 4, arguments.len(), span);
            return Expr { ty: Type::Bool, ..unknown(span) };
        };
        let before = self.boxed(before, context);
        let set = match &before.ty {
            Type::Map(from, _) => Type::Set(from.clone()),
            ty => {
                self.expect_unknown(&ty.clone(), "a field", before.span);
                Type::set(Type::Unknown)
            }
        };
        let after = self.boxed_of(after, &before.ty.clone(), context);
        let except = self.boxed_of(except, &set, context);
        let within = self.boxed_of(within, &set, context);
        Expr { kind: ExprKind::Frame { except, within, before, after }, ty: Type::Bool, span }
    }

    /// `Disjoint(X, Y)`
    fn disjoint(&mut self, arguments: &'s [syntax::Expr], span: Span, context: Context) -> Expr {
        let [left, right] = arguments else {
            self.expect_count("argument", 2, arguments.len(), span);
            return Expr { ty: Type::Bool, ..unknown(span) };
        };
        let left = self.set_operand(left, &Type::Unknown, context);
        let right = self.set_operand(right, &left.ty.clone(), context);
        let (left, right) = self.unify(left, right);
        let kind = ExprKind::Disjoint(Box::new(left), Box::new(right));
        Expr { kind, ty: Type::Bool, span }
    }

    /// Returns a function, predicate or constructor.
    pub(super) fn applied(
        &mut self,
        name: &str,
        name_span: Span,
        arguments: &'s [syntax::Expr],
        span: Span,
        context: Context,
    ) -> Expr {
        match self.names.get(name).copied() {
            Some(Named::Function(function)) => {
                let declared = &self.program.functions[function];
                let (parameters, result) = (declared.parameters.clone(), declared.result);
                let ty = self.program.locals[result].ty.clone();
                let arguments = self.arguments(name, &parameters, arguments, span, context);
                Expr { kind: ExprKind::Apply { function, arguments }, ty, span }
            }
            Some(Named::Predicate(predicate)) => {
                let declared = &self.program.predicates[predicate];
                let (parameters, ty) = (declared.parameters.clone(), declared.ty.clone());
                let arguments = self.arguments(name, &parameters, arguments, span, context);
                Expr { kind: ExprKind::Predicate(PredicateUse { predicate, arguments }), ty, span }
            }
            Some(Named::Constructor(constructor)) => {
                let declared = &self.program.constructors[constructor];
                let ty = Type::Datatype(declared.datatype);
                let types: Vec<Type> = declared
                    .destructors
                    .iter()
                    .map(|&destructor| self.program.destructors[destructor].ty.clone())
                    .collect();
                let arguments = self.arguments_of(name, &types, arguments, span, context);
                Expr { kind: ExprKind::Construct { constructor, arguments }, ty, span }
            }
            Some(Named::Destructor(_)) => {
                self.error(format!("`{name}` is a destructor: expected `e.{name}`"), span);
                unknown(span)
            }
            Some(other) => {
                let noun = other.noun();
                self.error(format!("`{name}` is {noun} and cannot be applied"), name_span);
                unknown(span)
            }
            None => {
                let is_applied = |named: &Named| {
                    matches!(
                        named,
                        Named::Procedure(_)
                            | Named::Function(_)
                            | Named::Predicate(_)
                            | Named::Constructor(_)
                            | Named::Macro(_)
                    )
                };
                let question = self.question(name, is_applied);
                let message =
                    format!("there is no procedure, function or predicate `{name}`{question}");
                self.error(message, name_span);
                unknown(span)
            }
        }
    }

    /// Arguments for the explicit parameters.
    pub(super) fn arguments(
        &mut self,
        name: &str,
        parameters: &[LocalId],
        arguments: &'s [syntax::Expr],
        span: Span,
        context: Context,
    ) -> Vec<Expr> {
        let explicit = self.program.explicit(parameters);
        let types: Vec<Type> =
            explicit.iter().map(|&local| self.program.locals[local].ty.clone()).collect();
        self.arguments_of(name, &types, arguments, span, context)
    }

    fn arguments_of(
        &mut self,
        name: &str,
        types: &[Type],
        arguments: &'s [syntax::Expr],
        span: Span,
        context: Context,
    ) -> Vec<Expr> {
        if types.len() != arguments.len() {
            let (expected, found) = (types.len(), arguments.len());
            let expected = counted(expected, "parameter");
            let message = format!("`{name}` has {expected}, found {found}");
            self.error(message, span);
        }
        let resolve = |(at, argument): (usize, &'s syntax::Expr)| {
            self.expr_of(argument, types.get(at).unwrap_or(&Type::Unknown), context)
        };
        arguments.iter().enumerate().map(resolve).collect()
    }

    /// Returns the predicate of a `fold`, `unfold` or `unfolding`.
    pub(super) fn predicate_use(
        &mut self,
        predicate: &'s Ident,
        arguments: &'s [syntax::Expr],
        context: Context,
    ) -> Option<PredicateUse> {
        let Some(Named::Predicate(id)) = self.names.get(predicate.name.as_str()).copied() else {
            self.error(format!("`{}` is not a predicate", predicate.name), predicate.span);
            for argument in arguments {
                self.expr(argument, &Type::Unknown, context);
            }
            return None;
        };
        let parameters = self.program.predicates[id].parameters.clone();
        let span = predicate.span;
        let arguments = self.arguments(&predicate.name, &parameters, arguments, span, context);
        Some(PredicateUse { predicate: id, arguments })
    }

    /// A call inside an expression: it is made before the statement.
    fn nested_call(
        &mut self,
        procedure: ProcedureId,
        arguments: &'s [syntax::Expr],
        span: Span,
        context: Context,
    ) -> Expr {
        let name = self.program.procedures[procedure].name.clone();
        if !context.effects {
            let message = "no procedure can be called in a specification, function or predicate";
            self.error(message, span);
        }
        let results = self.results_of(procedure);
        let arguments = self.procedure_arguments(procedure, arguments, span, context);
        let [result] = results[..] else {
            let count = results.len();
            self.error(format!("`{name}` has {count} results, so it has no value here"), span);
            return unknown(span);
        };
        let ty = self.program.locals[result].ty.clone();
        let local = self.temporary(&name, ty.clone(), span);
        let targets = vec![Variable::Local(local)];
        self.hoisted.push(Stmt { kind: StmtKind::Call { targets, procedure, arguments }, span });
        Expr { kind: ExprKind::Local(local), ty, span }
    }

    /// Returns the results that a call of a procedure gives.
    pub(super) fn results_of(&self, procedure: ProcedureId) -> Vec<LocalId> {
        self.program.explicit(&self.program.procedures[procedure].results)
    }

    /// The arguments of a call of a procedure.
    pub(super) fn procedure_arguments(
        &mut self,
        procedure: ProcedureId,
        arguments: &'s [syntax::Expr],
        span: Span,
        context: Context,
    ) -> Vec<Expr> {
        let declared = &self.program.procedures[procedure];
        let (name, parameters) = (declared.name.clone(), declared.parameters.clone());
        self.arguments(&name, &parameters, arguments, span, context)
    }

    /// Returns a macro: its body with the arguments in place of the parameters. Names in the body
    /// that are no parameters are global, whatever is in scope where it is applied.
    fn expand(
        &mut self,
        id: usize,
        arguments: &'s [syntax::Expr],
        span: Span,
        hint: &Type,
        context: Context,
    ) -> Expr {
        let name = self.macros[id].name;
        let parameters = self.macros[id].parameters;
        if !self.expect_count("argument", parameters.len(), arguments.len(), span) {
            return unknown(span);
        }
        if self.expansions.iter().any(|expansion| expansion.id == id) {
            self.error(format!("the macro `{}` expands to itself", name.name), span);
            return unknown(span);
        }
        self.expanded += 1;
        if self.expanded > EXPANSION_LIMIT {
            if self.expanded == EXPANSION_LIMIT + 1 {
                self.error(format!("more than {EXPANSION_LIMIT} macros are applied"), span);
            }
            return unknown(span);
        }
        let scopes = std::mem::take(&mut self.scopes);
        self.expansions.push(Expansion { id, arguments, scopes });
        let body = self.macros[id].body;
        let expr = self.expr(body, hint, context);
        if let Some(expansion) = self.expansions.pop() {
            self.scopes = expansion.scopes;
        }
        expr
    }

    /// Returns the argument for a parameter of the macro being expanded.
    pub(super) fn macro_argument(&self, name: &str) -> Option<&'s syntax::Expr> {
        let expansion = self.expansions.last()?;
        let parameters = self.macros[expansion.id].parameters;
        let at = parameters.iter().position(|parameter| parameter.name == name)?;
        expansion.arguments.get(at)
    }

    /// Resolves something that stands where the innermost macro is applied.
    pub(super) fn outside_expansion(&mut self, step: impl FnOnce(&mut Self) -> Expr) -> Expr {
        let Some(mut expansion) = self.expansions.pop() else { return step(self) };
        std::mem::swap(&mut self.scopes, &mut expansion.scopes);
        let expr = step(self);
        std::mem::swap(&mut self.scopes, &mut expansion.scopes);
        self.expansions.push(expansion);
        expr
    }
}
