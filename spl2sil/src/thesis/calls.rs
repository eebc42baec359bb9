//! Calls of procedures and lemmas.

use sil::build::*;
use sil::syntax as s;
use spl::program::{Expr, LocalId, LocalKind, Procedure, ProcedureId, Variable};
use spl::source::Span;

use super::Scope;
use super::assertions::{conjuncts_of, next_solved};
use crate::lower::expressions::Meaning;

impl Scope<'_, '_, '_> {
    pub(super) fn call(
        &mut self,
        targets: &[Variable],
        procedure: ProcedureId,
        arguments: &[Expr],
        span: Span,
    ) {
        let program = self.member.program();
        let callee = &program.procedures[procedure];
        self.declare_targets(targets);
        let given: Vec<s::Expr> = arguments.iter().map(|argument| self.value(argument)).collect();
        let actuals = self.actuals(callee, given, span);
        let mut receivers = Vec::new();
        let mut targets = targets.iter();
        for &result in &callee.results {
            let is_implicit = program.locals[result].is_implicit;
            let target = if is_implicit { None } else { targets.next() };
            let local = target.and_then(|&target| self.own(target, span));
            receivers.push(match local {
                Some(local) => self.local(local),
                None => self.unused(result),
            });
        }
        // The last values of parameters are the callee's own.
        for local in callee.assigned(&callee.parameters) {
            receivers.push(self.unused(local));
        }
        let name = self.member.lowering.names.borrow().procedures[procedure].clone();
        self.member.emit(call_method(receivers, &name, actuals));
    }

    /// A variable for a result that nobody uses.
    fn unused(&mut self, local: LocalId) -> s::Expr {
        let name = self.member.fresh("unused");
        let ty = self.member.lowering.local_type(local);
        self.member.emit_plain(declare(&name, ty, None));
        var(&name)
    }

    /// Declares variables for calls and new objects inside expressions, which no statement
    /// declares.
    pub(super) fn declare_targets(&mut self, targets: &[Variable]) {
        for target in targets {
            let Variable::Local(local) = *target else { continue };
            let is_temporary = self.member.program().locals[local].kind == LocalKind::Temporary;
            if is_temporary && !self.declared.contains(&local) {
                self.declared.push(local);
                let name = self.member.name_of(local);
                let ty = self.member.lowering.local_type(local);
                self.member.emit_plain(declare(&name, ty, None));
            }
        }
    }

    /// Arguments for all parameters: an implicit one is what an equation of the precondition says
    /// that it is, in terms of the others.
    fn actuals(&mut self, callee: &Procedure, given: Vec<s::Expr>, span: Span) -> Vec<s::Expr> {
        let program = self.member.program();
        let explicit = program.explicit(&callee.parameters);
        let mut open: Vec<LocalId> =
            callee.parameters.iter().copied().filter(|local| !explicit.contains(local)).collect();
        if open.is_empty() {
            return given;
        }
        let outer = self.replaced.clone();
        self.replaced.extend(explicit.into_iter().zip(given));
        let mut conjuncts = Vec::new();
        for clause in &callee.requires {
            conjuncts_of(&clause.condition, &mut conjuncts);
        }
        while let Some((at, value)) = next_solved(&conjuncts, &open) {
            let value = self.value(value);
            self.replaced.insert(open.remove(at), value);
        }
        for local in open {
            let name = &program.locals[local].name;
            let message = format!(
                "nothing says what the implicit argument `{name}` of `{}` is: its precondition has no equation for it",
                callee.name
            );
            self.member.lowering.refuse(message, span);
            self.replaced.insert(local, null());
        }
        let actuals = callee.parameters.iter().map(|&local| self.local(local)).collect();
        self.replaced = outer;
        actuals
    }
}
