//! Calls of procedures and lemmas.

use sil::build::*;
use sil::syntax as s;
use spl::program::{Expr, ExprKind, LocalId, LocalKind, Procedure, ProcedureId, Variable};
use spl::source::Span;

use super::Scope;
use super::assertions::{conjuncts_of, next_solved};
use crate::lower::expressions::Meaning;
use crate::lower::quantifiers::free_locals;

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

    /// Returns a variable for a result that nobody uses.
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
    /// that it is, in terms of the others, or what an instance has that the precondition asks for.
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
        loop {
            while let Some((at, value)) = next_solved(&conjuncts, &open) {
                let value = self.value(&value);
                self.replaced.insert(open.remove(at), value);
            }
            if !self.choose_by_instance(&conjuncts, &mut open) {
                break;
            }
        }
        for local in open {
            let name = &program.locals[local].name;
            let message = format!(
                "nothing says what the implicit argument `{name}` of `{}` is: its precondition has no equation for it, and no predicate has it as an argument",
                callee.name
            );
            self.member.lowering.refuse(message, span);
            self.replaced.insert(local, null());
        }
        let actuals = callee.parameters.iter().map(|&local| self.local(local)).collect();
        self.replaced = outer;
        actuals
    }

    /// Chooses values for the open parameters that are arguments of an instance: those of one that
    /// the caller holds, if it holds one with the other arguments. Tells whether there is such an
    /// instance in the precondition.
    ///
    /// SOUNDNESS: where an instance like that is held there are such values, and elsewhere nothing
    /// is assumed of them. The call shows the precondition with them.
    fn choose_by_instance(&mut self, conjuncts: &[&Expr], open: &mut Vec<LocalId>) -> bool {
        let direct = |argument: &Expr| match argument.kind {
            ExprKind::Local(local) => Some(local),
            _ => None,
        };
        let is_open = |argument: &Expr| direct(argument).is_some_and(|local| open.contains(&local));
        let is_known = |argument: &Expr| free_locals(argument).iter().all(|it| !open.contains(it));
        let instance = conjuncts.iter().find_map(|conjunct| match &conjunct.kind {
            ExprKind::Predicate(instance)
                if self.is_opaque(instance)
                    && instance.arguments.iter().any(is_open)
                    && instance.arguments.iter().all(|one| is_open(one) || is_known(one)) =>
            {
                Some(instance)
            }
            _ => None,
        });
        let Some(instance) = instance else { return false };
        let parameters = &self.member.program().predicates[instance.predicate].parameters;
        let (mut bound, mut actuals, mut differ) = (Vec::new(), Vec::new(), Vec::new());
        let mut chosen: Vec<(LocalId, s::Expr)> = Vec::new();
        for (&parameter, argument) in parameters.iter().zip(&instance.arguments) {
            let ty = self.member.lowering.local_type(parameter);
            let name = self.member.fresh("held");
            bound.push(typed(&name, ty.clone()));
            let first = chosen.iter().find(|(local, _)| direct(argument) == Some(*local));
            if let Some((_, first)) = first {
                // One value stands at both places.
                differ.push(ne(var(&name), first.clone()));
            } else if let Some(local) = direct(argument).filter(|local| open.contains(local)) {
                let value = self.member.fresh(&self.member.program().locals[local].name);
                self.member.emit_plain(declare(&value, ty, None));
                self.replaced.insert(local, var(&value));
                chosen.push((local, var(&name)));
            } else {
                differ.push(ne(var(&name), self.value(argument)));
            }
            actuals.push(self.value(argument));
        }
        open.retain(|local| chosen.iter().all(|(other, _)| other != local));
        let name = self.member.lowering.names.borrow().predicates[instance.predicate].clone();
        let any = call(&name, bound.iter().map(|bound| var(&bound.name.name)));
        let no_such = forperm(bound, any, or(differ));
        let held = lt(none(), perm(call(&name, actuals)));
        self.member.emit_plain(inhale(implies(not(no_such), held)));
        true
    }
}
