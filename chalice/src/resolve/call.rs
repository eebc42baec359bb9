//! The shared part of calls, forks, joins, sends and receives: arguments and out variables.

use front::counted;

use super::name::Selected;
use super::scope::new_local;
use super::types::is_assignable;
use super::{Context, Resolver};
use crate::diagnostic::{Code, Diagnostic};
use crate::program::{Expr, Local, LocalId, LocalKind, Member, MethodId, OutVariable, Type};
use crate::source::Span;
use crate::syntax::{self, Ident};

impl<'s> Resolver<'s> {
    pub(super) fn local_types(&self, locals: Vec<LocalId>) -> Vec<Type> {
        locals.into_iter().map(|local| self.locals()[local].ty.clone()).collect()
    }

    /// Arguments for the parameters of a declaration.
    pub(super) fn arguments(
        &mut self,
        arguments: &'s [syntax::Expr],
        parameters: &[LocalId],
        span: Span,
        context: Context,
    ) -> Vec<Expr> {
        self.expect_arguments(parameters, arguments.len(), span);
        let resolve = |(position, argument): (usize, &'s syntax::Expr)| {
            let argument = self.expr(argument, context);
            if let Some(&parameter) = parameters.get(position) {
                self.expect_argument(parameter, &argument);
            }
            argument
        };
        arguments.iter().enumerate().map(resolve).collect()
    }

    /// Reports a number of arguments that is not that of the parameters, and names these.
    pub(super) fn expect_arguments(&mut self, parameters: &[LocalId], found: usize, span: Span) {
        let errors = self.findings.len();
        self.expect_count("argument", parameters.len(), found, span);
        if errors == self.findings.len() {
            return;
        }
        let declared: Vec<_> =
            parameters.iter().map(|&parameter| &self.locals()[parameter]).collect();
        if let [first, ..] = declared[..] {
            let names: Vec<_> = declared.iter().map(|local| format!("`{}`", local.name)).collect();
            let remark = format!("for {}", names.join(", "));
            let span = first.span;
            self.relate_last(span, remark);
        }
    }

    /// Reports an argument that does not fit its parameter.
    pub(super) fn expect_argument(&mut self, parameter: LocalId, argument: &Expr) {
        let parameter = &self.locals()[parameter];
        let (ty, span) = (parameter.ty.clone(), parameter.span);
        let remark = format!("the parameter `{}` is declared here", parameter.name);
        let errors = self.findings.len();
        self.expect_assignable(&ty, &argument.ty, argument.span);
        if errors < self.findings.len() {
            self.relate_last(span, remark);
        }
    }

    /// Adds a place to the last finding.
    fn relate_last(&mut self, span: Span, remark: String) {
        if let Some(finding) = self.findings.last_mut() {
            finding.related.push((span, remark));
        }
    }

    pub(super) fn expect_count(&mut self, what: &str, expected: usize, found: usize, span: Span) {
        if expected != found {
            self.error(format!("expected {}, found {found}", counted(expected, what)), span);
        }
    }

    /// Returns the method a call names; reports if there is none.
    pub(super) fn find_method(
        &mut self,
        receiver: &Expr,
        method: &Ident,
        span: Span,
    ) -> Option<MethodId> {
        match self.find_member(&receiver.ty, &method.name, span)? {
            Selected::Member(Member::Method(method)) => Some(method),
            _ => {
                self.error(format!("`{}` is not a method", method.name), span);
                None
            }
        }
    }

    /// Variables that receive values of these types; unknown names are declared.
    pub(super) fn outs_declaring(
        &mut self,
        outs: &'s [Ident],
        types: &[Type],
        span: Span,
    ) -> Vec<OutVariable> {
        self.outs(outs, types, span, Self::out_or_new)
    }

    /// Variables that receive values of these types and exist already.
    pub(super) fn outs_existing(
        &mut self,
        outs: &'s [Ident],
        types: &[Type],
        span: Span,
    ) -> Vec<OutVariable> {
        self.outs(outs, types, span, Self::out_existing)
    }

    fn outs(
        &mut self,
        outs: &'s [Ident],
        types: &[Type],
        span: Span,
        find: fn(&mut Self, &'s Ident, &Type) -> Option<OutVariable>,
    ) -> Vec<OutVariable> {
        self.expect_count("result variable", types.len(), outs.len(), span);
        let mut found: Vec<OutVariable> = Vec::new();
        for (position, name) in outs.iter().enumerate() {
            let ty = types.get(position).unwrap_or(&Type::Unknown);
            let Some(out) = find(self, name, ty) else { continue };
            if found.iter().any(|other| other.local == out.local) {
                self.error(format!("`{}` receives two values at once", name.name), name.span);
            }
            found.push(out);
        }
        found
    }

    /// Returns a variable for a value; declares it if there is none of that name.
    pub(super) fn out_or_new(&mut self, name: &'s Ident, ty: &Type) -> Option<OutVariable> {
        if self.scopes.find(&name.name).is_some() {
            return self.out_existing(name, ty);
        }
        if ty.element().is_some_and(|element| element.element().is_some()) {
            self.error_nowhere(format!(
                "`{}` cannot be declared implicitly: nested collections have to be written, as in `var {}: {}`",
                name.name,
                name.name,
                self.show(ty)
            ));
        }
        let local = self.declare(name, new_local(name, ty.clone(), LocalKind::Variable));
        Some(OutVariable { local, declares: true, span: name.span })
    }

    fn out_existing(&mut self, name: &'s Ident, ty: &Type) -> Option<OutVariable> {
        let Some(local) = self.scopes.find(&name.name) else {
            let question = self.spelling.question(&name.name, self.scopes.names());
            self.error(format!("there is no variable `{}`{question}", name.name), name.span);
            return None;
        };
        self.expect_mutable(local, name.span);
        if !is_assignable(&self.local(local).ty, ty) {
            let message = format!(
                "`{}` has type {} and cannot receive {}",
                name.name,
                self.show(&self.local(local).ty),
                self.show(ty)
            );
            self.error(message, name.span);
        }
        Some(OutVariable { local, declares: false, span: name.span })
    }

    /// Reports an assignment to a parameter, bound variable or constant.
    pub(super) fn expect_mutable(&mut self, local: LocalId, span: Span) {
        let Local { name, kind, is_const, is_ghost, span: declared, .. } = self.local(local);
        let what = match kind {
            LocalKind::Parameter => "parameter",
            LocalKind::Quantified => "bound variable",
            LocalKind::Variable if *is_const && !is_ghost => "constant",
            LocalKind::Result | LocalKind::Variable | LocalKind::Measure | LocalKind::Copy => {
                return;
            }
        };
        let message = format!("the {what} `{name}` cannot be assigned; use another variable");
        let error = Diagnostic::new(Code::TypecheckerError, span, message);
        self.findings.push(error.with_related(*declared, "declared here"));
    }
}
