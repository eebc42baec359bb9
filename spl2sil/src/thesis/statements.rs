//! Bodies.

use findings::{ErrorId, Reason};
use front::grow_stack;
use sil::build::*;
use sil::source::Name;
use sil::syntax as s;
use sil::syntax::TypeKind;
use spl::program::{
    Block, Clause, Expr, ExprKind, LocalId, NewObject, Place, PredicateUse, Quantifier, Stmt,
    StmtKind, Type, Variable,
};
use spl::source::Span;

use super::Scope;
use super::assertions::NO_ACCESS;
use crate::lower::annotations::{Annotate, renamed, said};
use crate::lower::expressions::{Expressions, Meaning};

/// Returns an access that a statement of a program makes, whichever part of it.
fn accessing(stmt: s::Stmt) -> s::Stmt {
    stmt.with(renamed(
        (ErrorId::AssignmentFailed, Reason::InsufficientPermission),
        (ErrorId::AccessFailed, Reason::InsufficientPermission),
    ))
    .with(said((ErrorId::AssignmentFailed, Reason::InsufficientPermission), NO_ACCESS))
}

impl Scope<'_, '_, '_> {
    /// The statements of a procedure's body: a `return` at its end needs no jump.
    pub(super) fn stmts_of_body(&mut self, body: &Block) {
        let Some((last, rest)) = body.stmts.split_last() else { return };
        rest.iter().for_each(|stmt| self.stmt(stmt));
        if let StmtKind::Return(values) = &last.kind {
            self.member.span = last.span;
            self.set_results(values);
        } else {
            self.stmt(last);
        }
    }

    fn block(&mut self, block: &Block) -> Vec<s::Stmt> {
        let outer = self.member.begin_block();
        let span = self.member.span;
        block.stmts.iter().for_each(|stmt| self.stmt(stmt));
        self.member.span = span;
        self.member.end_block(outer)
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.member.span = stmt.span;
        grow_stack(|| self.stmt_inner(stmt));
    }

    /// Returns a value that the program computes.
    pub(super) fn value(&mut self, e: &Expr) -> s::Expr {
        let was_computed = std::mem::replace(&mut self.is_computed, true);
        let value = self.expr(e);
        self.is_computed = was_computed;
        value
    }

    fn stmt_inner(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(inner) => {
                let statements = self.block(inner);
                self.member.emit_plain(block_stmt(statements));
            }
            StmtKind::Declare(local) => {
                let name = self.member.name_of(*local);
                let ty = self.member.lowering.local_type(*local);
                self.member.emit_plain(declare(&name, ty, None));
            }
            StmtKind::Havoc(variables) => {
                for &variable in variables {
                    if let Some(local) = self.own(variable, stmt.span) {
                        self.havoc(local);
                    }
                }
            }
            StmtKind::Assign { places, values } => self.assign(places, values, stmt.span),
            StmtKind::AssignText { .. } => {
                self.refused("arrays are not part of the field dialect", stmt.span);
            }
            StmtKind::Call { targets, procedure, arguments } => {
                self.call(targets, *procedure, arguments, stmt.span);
            }
            StmtKind::New { target, object } => self.new_object(*target, object, stmt.span),
            StmtKind::Free(object) => self.free(object),
            StmtKind::Assume { condition, .. } => {
                let condition = self.expr(condition);
                self.member.emit(inhale(condition));
            }
            StmtKind::Assert { condition, proof: Some(proof), .. } => self.prove(condition, proof),
            StmtKind::Assert { condition, label, proof: None, .. } => {
                let mut check = assert(self.expr(condition));
                if let Some(label) = label {
                    check = check.with(self.member.lowering.note(stmt.span, label));
                }
                self.member.emit(check);
            }
            StmtKind::Split(condition) => {
                let check = assert(self.expr(condition));
                let check = check.with(renamed(ErrorId::AssertFailed, ErrorId::SplitFailed));
                self.member.emit(check.with(said(
                    (ErrorId::AssertFailed, Reason::AssertionFalse),
                    "this split might not hold: `%e`",
                )));
            }
            StmtKind::Return(values) => {
                self.set_results(values);
                let end = match &self.end {
                    Some(end) => end.clone(),
                    None => self.member.fresh("end"),
                };
                self.member.emit(goto(&end));
                self.end = Some(end);
            }
            StmtKind::Fold(predicate) => {
                let made = self.opened(predicate, stmt.span, fold, ErrorId::FoldFailed);
                self.member.emit(made);
            }
            StmtKind::Unfold(predicate) => {
                let opened = self.opened(predicate, stmt.span, unfold, ErrorId::UnfoldFailed);
                self.member.emit(opened);
            }
            StmtKind::If { condition, then, otherwise } => {
                let condition = self.value(condition);
                let then = self.block(then);
                let otherwise = otherwise.as_ref().map(|block| chained(self.block(block)));
                let choice = branch(condition, then, otherwise.unwrap_or_default());
                self.member.emit(choice);
            }
            StmtKind::Choose(alternatives) => self.choose(alternatives),
            StmtKind::While { before_guard, condition, invariants, body } => {
                self.while_stmt(before_guard, condition, invariants, body);
            }
        }
    }

    /// Returns a predicate that is folded or unfolded; one without permissions holds, or does not.
    fn opened(
        &mut self,
        predicate: &PredicateUse,
        span: Span,
        change: fn(s::Expr) -> s::Stmt,
        kind: ErrorId,
    ) -> s::Stmt {
        let was_computed = std::mem::replace(&mut self.is_computed, true);
        let instance = self.instance(predicate, span);
        self.is_computed = was_computed;
        if self.is_opaque(predicate) {
            change(instance)
        } else {
            assert(instance).with(renamed(ErrorId::AssertFailed, kind))
        }
    }

    /// Returns the variable; nothing if it is none of this dialect.
    pub(super) fn own(&mut self, variable: Variable, span: Span) -> Option<LocalId> {
        match variable {
            Variable::Local(local) => Some(local),
            // The declaration is refused.
            Variable::Global(_) => None,
            Variable::FieldMap(_) => {
                self.refused("in the field dialect a field is no value", span);
                None
            }
        }
    }

    fn havoc(&mut self, local: LocalId) {
        let any = self.member.fresh("any");
        let ty = self.member.lowering.local_type(local);
        self.member.emit_plain(declare(&any, ty, None));
        let target = self.local(local);
        self.member.emit(assign(target, var(&any)));
    }

    /// Returns a variable with a value, which is computed here.
    pub(super) fn keep(&mut self, wanted: &str, ty: &Type, value: s::Expr) -> Name {
        let name = self.member.fresh(wanted);
        let ty = self.member.lowering.ty(ty);
        // Not one statement: some Viper tools lose declarations that have annotations.
        self.member.emit_plain(declare(&name, ty, None));
        self.member.emit(accessing(assign(var(&name), value)));
        name
    }

    fn assign(&mut self, places: &[Place], values: &[Expr], span: Span) {
        let variables = places.iter().filter_map(|place| match place {
            Place::Variable(variable) => Some(*variable),
            Place::Field { .. } | Place::Element { .. } | Place::Cell(_) => None,
        });
        self.declare_targets(&variables.collect::<Vec<_>>());
        if let ([place], [value]) = (places, values) {
            let value = self.value(value);
            return self.store(place, value, span);
        }
        let mut kept = Vec::new();
        for value in values {
            let lowered = self.value(value);
            kept.push(self.keep("value", &value.ty, lowered));
        }
        for (place, value) in places.iter().zip(kept) {
            self.store(place, var(&value), span);
        }
    }

    fn store(&mut self, place: &Place, value: s::Expr, span: Span) {
        let target = match place {
            Place::Variable(variable) => match self.own(*variable, span) {
                Some(local) => self.local(local),
                None => return,
            },
            Place::Field { receiver, field } => {
                let was_computed = std::mem::replace(&mut self.is_computed, true);
                let location = self.location(receiver, *field);
                self.is_computed = was_computed;
                location
            }
            Place::Element { .. } | Place::Cell(_) => {
                self.refused("arrays are not part of the field dialect", span);
                return;
            }
        };
        self.member.emit(accessing(assign(target, value)));
    }

    fn new_object(&mut self, target: Variable, object: &NewObject, span: Span) {
        let NewObject::Struct(id) = object else {
            self.refused("arrays are not part of the field dialect", span);
            return;
        };
        let Some(local) = self.own(target, span) else { return };
        self.declare_targets(&[target]);
        let names: Vec<Name> = {
            let names = self.member.lowering.names.borrow();
            let fields = &self.member.lowering.program.structs[*id].fields;
            fields.iter().map(|&field| names.fields[field].clone()).collect()
        };
        let target = self.local(local);
        self.member.emit(assign(target, new_object(&names)));
    }

    /// All fields of the object are given up.
    fn free(&mut self, object: &Expr) {
        let Type::Struct(id) = object.ty else {
            self.refused("arrays are not part of the field dialect", object.span);
            return;
        };
        if self.member.program().structs[id].fields.is_empty() {
            self.refused(
                "without fields nothing says whether an object is there, so it cannot be freed",
                object.span,
            );
            return;
        }
        let value = self.value(object);
        let freed = self.keep("freed", &object.ty, value);
        let names = self.member.lowering.names.borrow();
        let fields = &self.member.lowering.program.structs[id].fields;
        let owned = fields.iter().map(|&of| acc(field(var(&freed), &names.fields[of]), write()));
        let given = and([ne(var(&freed), null())].into_iter().chain(owned));
        drop(names);
        self.member.emit(
            exhale(given).with(renamed(ErrorId::ExhaleFailed, ErrorId::FreeFailed)).with(said(
                (ErrorId::ExhaleFailed, Reason::InsufficientPermission),
                "this deallocation might be unsafe: all fields of the object have to be owned",
            )),
        );
    }

    /// `assert e with { proof }`: beside the rest of the program the variables of a `forall` get
    /// any values, the proof runs and its body is checked, in the state in which the proof started,
    /// as lemmas may change ghost fields; then e is known.
    fn prove(&mut self, condition: &Expr, proof: &Block) {
        let aside = self.member.fresh("aside");
        self.member.emit_plain(declare(&aside, TypeKind::Bool, None));
        let outer = self.member.begin_block();
        let mut goal = condition;
        let mut guards = Vec::new();
        if let ExprKind::Quantified { quantifier: Quantifier::Forall, variables, body } =
            &condition.kind
        {
            for bound in variables {
                let name = self.member.name_of(bound.local);
                let ty = self.member.lowering.local_type(bound.local);
                self.member.emit_plain(declare(&name, ty, None));
                if let Some(domain) = &bound.domain {
                    let set = self.expr(domain);
                    guards.push(contains(&set, &var(&name)));
                }
            }
            goal = body;
        }
        if !guards.is_empty() {
            self.member.emit(inhale(and(guards)));
        }
        let span = self.member.span;
        let mut calls = false;
        proof.for_each_stmt(&mut |stmt| calls |= matches!(stmt.kind, StmtKind::Call { .. }));
        let started = self.member.fresh("started");
        if calls {
            self.member.emit_plain(label(&started));
        }
        proof.stmts.iter().for_each(|stmt| self.stmt(stmt));
        self.member.span = span;
        let goal = self.expr(goal);
        let goal = if calls { old_at(&started, goal) } else { goal };
        self.member.emit(assert(goal));
        self.member.emit_plain(inhale(truth(false)));
        let statements = self.member.end_block(outer);
        let chosen = branch(var(&aside), statements, []);
        self.member.emit_plain(chosen);
        // Bound variables of the whole have names of their own: those are variables of the proof
        // now.
        let whole = self.quantified_again(condition);
        self.member.emit(inhale(whole));
    }

    /// Returns a `forall` whose variables were variables of a proof.
    fn quantified_again(&mut self, condition: &Expr) -> s::Expr {
        let ExprKind::Quantified { quantifier: Quantifier::Forall, variables, body } =
            &condition.kind
        else {
            return self.expr(condition);
        };
        let outer = self.replaced.clone();
        let mut guards = Vec::new();
        let mut formals = Vec::new();
        for bound in variables {
            let fresh = self.member.fresh(&self.member.program().locals[bound.local].name.clone());
            if let Some(domain) = &bound.domain {
                let set = self.expr(domain);
                guards.push(contains(&set, &var(&fresh)));
            }
            formals.push(typed(&fresh, self.member.lowering.local_type(bound.local)));
            self.replaced.insert(bound.local, var(&fresh));
        }
        let body = self.expr(body);
        self.replaced = outer;
        forall(formals, [], implies(and(guards), body))
    }

    /// Any of the alternatives, so all of them are verified.
    fn choose(&mut self, alternatives: &[Block]) {
        let Some((last, rest)) = alternatives.split_last() else { return };
        let mut flags = Vec::new();
        for _ in rest {
            let flag = self.member.fresh("chosen");
            self.member.emit_plain(declare(&flag, TypeKind::Bool, None));
            flags.push(flag);
        }
        let blocks: Vec<_> = rest.iter().map(|block| self.block(block)).collect();
        let mut otherwise = self.block(last);
        for (flag, block) in flags.into_iter().zip(blocks).rev() {
            otherwise = vec![branch(var(&flag), block, otherwise)];
        }
        otherwise.into_iter().for_each(|stmt| self.member.emit_plain(stmt));
    }

    fn while_stmt(
        &mut self,
        before_guard: &[Stmt],
        condition: &Expr,
        invariants: &[Clause],
        body: &Block,
    ) {
        if !before_guard.is_empty() {
            return self.calling_loop(before_guard, condition, invariants, body);
        }
        let guard = self.value(condition);
        let invariants: Vec<_> = invariants.iter().map(|clause| self.clause(clause)).collect();
        let statements = self.block(body);
        let mut repeated = while_loop(guard, invariants, statements);
        if self.is_lemma
            && let s::StmtKind::While { decreases, .. } = &mut repeated.kind
        {
            decreases.push(self.loop_measure(condition));
        }
        self.member.emit(repeated);
    }

    /// A loop with calls in its guard: they are made behind the head, where the invariant is all
    /// that is known, and what they promise is known in the body and behind the loop. So it is a
    /// loop of jumps.
    fn calling_loop(
        &mut self,
        before_guard: &[Stmt],
        condition: &Expr,
        invariants: &[Clause],
        body: &Block,
    ) {
        let span = self.member.span;
        for stmt in before_guard {
            if let StmtKind::Call { targets, .. } = &stmt.kind {
                self.declare_targets(targets);
            }
        }
        let head = self.member.fresh("loop");
        let invariants: Vec<_> = invariants.iter().map(|clause| self.clause(clause)).collect();
        let mut entry = loop_label(&head, invariants);
        if self.is_lemma
            && let s::StmtKind::Label { decreases, .. } = &mut entry.kind
        {
            decreases.push(self.loop_measure(condition));
        }
        self.member.emit(entry);
        before_guard.iter().for_each(|stmt| self.stmt(stmt));
        self.member.span = span;
        let guard = self.value(condition);
        let outer = self.member.begin_block();
        body.stmts.iter().for_each(|stmt| self.stmt(stmt));
        self.member.span = span;
        self.member.emit(goto(&head));
        let statements = self.member.end_block(outer);
        self.member.emit(branch(guard, statements, []));
    }

    /// The results get these values; without values they keep theirs.
    fn set_results(&mut self, values: &[Expr]) {
        let results = self.results.clone();
        let places: Vec<_> =
            results.iter().map(|&local| Place::Variable(Variable::Local(local))).collect();
        if !values.is_empty() {
            let span = self.member.span;
            self.assign(&places, values, span);
        }
    }
}
