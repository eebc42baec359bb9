//! Statements.

use chalice::program::locking::mentions_wait_level;
use chalice::program::{
    Access, AccessTarget, Block, Expr, ExprKind, IfArm, Initialiser, LocalId, LocalKind,
    Obligation, OutVariable, PermissionKind, Rhs, Stmt, StmtKind,
};
use findings::{ErrorId, Pattern, Reason};
use front::grow_stack;
use sil::source::Name;
use sil::syntax as s;
use sil::syntax::TypeKind;

use super::Body;
use super::annotations::{Annotate, hidden, renamed, said, unplaced};
use super::env::{Env, Locks, OldState, ReadAmount, Side};
use super::facts::mentions_credit;
use super::permissions::Use;
use super::permissions::stars::Given;
use super::threads::levels::hands_on_wait_level;
use crate::build::*;
use crate::names::fixed;

impl Body<'_, '_> {
    /// The statements of a block, one after the other.
    pub(crate) fn statements(&mut self, block: &Block, env: &Env) {
        for stmt in &block.stmts {
            grow_stack(|| self.statement(stmt, env));
        }
    }

    fn nested(&mut self, block: &Block, env: &Env) -> Vec<s::Stmt> {
        let scope = self.locals_in_scope.clone();
        let statements = self.block(|member| member.statements(block, env));
        self.locals_in_scope = scope;
        statements
    }

    fn statement(&mut self, stmt: &Stmt, env: &Env) {
        self.span = stmt.span;
        self.line = self.lowering.source.line(stmt.span.start);
        if self.lowering.facts.credits && hands_on_wait_level(stmt) {
            self.unsupported_stmt("waitlevel in what is handed on, beside channels,");
        }
        match &stmt.kind {
            StmtKind::Assert(e) => {
                self.bound_counts(e, &env.on(Side::Asserted));
                let claim = self.assertion(e, &env.on(Side::Asserted));
                self.emit(assert(unplaced(claim)));
            }
            StmtKind::Prove(obligation) => {
                let Obligation { claim, error, reason, words } = &**obligation;
                let claim = self.assertion(claim, &env.on(Side::Asserted));
                self.emit(
                    assert(unplaced(claim))
                        .with(renamed(
                            (ErrorId::AssertFailed, Reason::AssertionFalse),
                            (*error, *reason),
                        ))
                        .with(renamed(ErrorId::AssertFailed, *error))
                        .with(said(Reason::AssertionFalse, words)),
                );
            }
            StmtKind::Assume(e) => {
                let fact = unplaced(self.assertion(e, &env.on(Side::Inhaled)));
                self.emit(if e.is_impure() { inhale(fact) } else { assume(fact) });
                self.move_credits(e, &env.on(Side::Inhaled), s::BinaryOp::Add);
            }
            StmtKind::Block(block) => {
                let statements = self.nested(block, env);
                self.emit_plain(block_stmt(statements));
            }
            StmtKind::Declare { local, value } => self.declaration(*local, value.as_ref(), env),
            StmtKind::AssignLocal { local, value, .. } => self.assign_local(*local, value, env),
            StmtKind::AssignField { receiver, field: id, value, .. } => {
                let receiver = self.expr(receiver, env);
                let source = receiver.clone();
                let target = self.field_of(receiver, chalice::program::FieldRef::Declared(*id));
                let value = match value {
                    Rhs::Expr(e) => self.stored(e, env),
                    Rhs::New { .. } | Rhs::NewChannel { .. } => {
                        let name = self.fresh("object");
                        self.emit_plain(declare(&name, ty(TypeKind::Ref), None));
                        self.assign_new(&name, value, env);
                        var(&name)
                    }
                };
                if self.program().fields[*id].is_tracked {
                    self.redirect(*id, &source, &value);
                }
                self.emit(assign(target, value));
            }
            StmtKind::Specification { targets, pre, post } => {
                self.specification(targets, pre.as_ref(), post, env);
            }
            StmtKind::Call { outs, receiver, method, arguments } => {
                self.call(outs, receiver, *method, arguments, env);
                self.note_constants(outs);
                self.note_scope(outs);
            }
            StmtKind::Fork { token, receiver, method, arguments } => {
                self.fork(token.as_ref(), receiver, *method, arguments, env);
                self.note_constants(token.as_slice());
            }
            StmtKind::Join { outs, token, method } => {
                self.join(outs, token, *method, env);
                self.note_constants(outs);
            }
            StmtKind::If { arms, otherwise } => self.conditional(arms, otherwise.as_ref(), env),
            StmtKind::While { guard, invariants, lock_changes, body, .. } => {
                self.while_loop(guard, invariants, lock_changes, body, env);
            }
            StmtKind::Share { target, bounds } => self.share(target, bounds, env),
            StmtKind::Reorder { target, bounds } => self.reorder(target, bounds, env),
            StmtKind::Unshare(target) => self.unshare(target, env),
            StmtKind::Acquire { target, mode } => self.acquire(target, *mode, env),
            StmtKind::Release { target, mode } => self.release(target, *mode, env),
            StmtKind::Lock { target, mode, body } => self.lock(target, *mode, body, env),
            StmtKind::Downgrade(target) => self.downgrade(target, env),
            StmtKind::Free(target) => self.free(target, env),
            StmtKind::Fold(access) => {
                self.check_folded_object(access, env);
                self.check_scaling(access);
                let inner = self.fraction_of_fold(access, env);
                self.check_stars_of_folded(access, env);
                let left = self.left_of_folded(access, env);
                self.move_folded_credits(access, env, s::BinaryOp::Sub);
                self.bound_folded_counts(access, env);
                let traded = self.access(access, &inner, Use::Traded);
                self.emit(fold(traded));
                self.note_left_stars(left);
            }
            StmtKind::Unfold(access) => {
                self.check_scaling(access);
                let traded = Expr {
                    kind: ExprKind::Access(Box::new(access.clone())),
                    ty: chalice::program::Type::Bool,
                    span: access.span,
                };
                let inner =
                    self.traded_fraction(access, &[traded], env, env, ErrorId::UnfoldFailed);
                self.unfold_stars(access, &inner);
                self.bound_folded_counts(access, env);
                self.levels_of_unfolded(access, env);
                self.move_folded_credits(access, env, s::BinaryOp::Add);
            }
            StmtKind::Send { channel, declaration, arguments } => {
                self.send(channel, *declaration, arguments, env);
            }
            StmtKind::Receive { outs, channel, declaration } => {
                self.receive(outs, channel, *declaration, env);
                self.note_constants(outs);
                self.note_scope(outs);
            }
            StmtKind::Wait(_) => {
                self.unsupported_stmt("`wait`, as nothing obliges anybody to signal,");
            }
            StmtKind::Signal(_) => {
                self.unsupported_stmt("`signal`, as nobody can wait for it,");
            }
            StmtKind::SignalAll(_) => {
                self.unsupported_stmt("`signal forall`, as nobody can wait for it,");
            }
        }
    }

    fn note_scope(&mut self, outs: &[OutVariable]) {
        self.locals_in_scope.extend(outs.iter().filter(|out| out.declares).map(|out| out.local));
    }

    fn declaration(&mut self, local: LocalId, value: Option<&Rhs>, env: &Env) {
        let declared = &self.program().locals[local];
        let ty = self.lowering.ty(&declared.ty);
        let is_late_constant = declared.is_const && value.is_none();
        match value {
            Some(Rhs::Expr(e)) => {
                let value = self.stored(e, env);
                let name = self.local(local);
                self.emit_plain(declare(&name, ty, None));
                let kept = assign(var(&name), value);
                let error = match declared.kind {
                    LocalKind::Measure => Some(ErrorId::NotWellformed),
                    LocalKind::Copy => Some(ErrorId::RefinementFailed),
                    _ => None,
                };
                self.emit(match error {
                    Some(error) => kept.with(renamed(ErrorId::AssignmentFailed, error)),
                    None => kept,
                });
            }
            Some(value) => {
                let name = self.local(local);
                self.emit_plain(declare(&name, ty, None));
                self.assign_new(&name, value, env);
            }
            None => {
                let name = self.local(local);
                self.emit_plain(declare(&name, ty, None));
            }
        }
        if is_late_constant {
            let name = self.local(local);
            let flag = self.fresh(&format!("{name}_assigned"));
            self.emit_plain(declare(&flag, crate::build::ty(TypeKind::Bool), Some(truth(false))));
            self.assigned.insert(local, flag);
        }
        self.locals_in_scope.push(local);
    }

    /// Returns the value of an expression that is assigned. Ghost state is no exception: what is
    /// executed can depend on it by way of functions.
    fn stored(&mut self, e: &Expr, env: &Env) -> s::Expr {
        let env = self.executed(e, env);
        self.expr(e, &env)
    }

    fn assign_local(&mut self, local: LocalId, value: &Rhs, env: &Env) {
        let name = self.local(local);
        match value {
            Rhs::Expr(e) => {
                let value = self.stored(e, env);
                match self.assigned.get(&local).cloned() {
                    Some(flag) => self.assign_constant(&name, &flag, e, value),
                    None => self.emit(assign(var(&name), value)),
                }
            }
            Rhs::New { .. } | Rhs::NewChannel { .. } => {
                let object = self.fresh("object");
                self.emit_plain(declare(&object, ty(TypeKind::Ref), None));
                self.assign_new(&object, value, env);
                if let Some(flag) = self.assigned.get(&local).cloned() {
                    self.note_constant(&flag);
                }
                self.emit(assign(var(&name), var(&object)));
            }
        }
    }

    /// `name := new ..`, where nothing on the right mentions `name`.
    fn assign_new(&mut self, name: &str, value: &Rhs, env: &Env) {
        match value {
            Rhs::Expr(e) => {
                let value = self.stored(e, env);
                self.emit(assign(var(name), value));
            }
            Rhs::New { class, initialisers, .. } => {
                let fields: Vec<_> = self.program().classes[*class].fields().collect();
                let mut names: Vec<_> = {
                    let all = self.lowering.names.borrow();
                    fields.iter().map(|&id| all.fields[id].clone()).collect()
                };
                if self.lowering.facts.levels {
                    names.push(fixed::MU.into());
                }
                let ty = chalice::program::Type::Class(*class);
                for tracked in self.lowering.pointing_to(&ty) {
                    names.push(self.lowering.names.borrow().back_pointers[tracked].clone());
                }
                self.emit(assign(var(name), new_object(&names)));
                self.unconnected(&var(name), &ty, &fields);
                if self.lowering.facts.levels {
                    let level = self.lowering.level_of(var(name));
                    let mut facts = vec![eq(level, self.lowering.lockbottom())];
                    if let Locks::State(locks) = &env.locks {
                        facts.push(not(self.lowering.is_held(locks, &var(name))));
                        facts.push(self.has_class(
                            &var(name),
                            &chalice::program::Type::Class(*class),
                            true,
                        ));
                    }
                    self.emit_plain(inhale(and(facts)));
                }
                self.initialise(name, initialisers, env);
            }
            Rhs::NewChannel { bounds, .. } => {
                let level = self.choose_level(bounds, env);
                self.emit(assign(var(name), new_object(&[fixed::MU.into()])));
                let own = self.lowering.level_of(var(name));
                let fixed_level = self.lowering.channel_level(var(name));
                self.emit_plain(inhale(eq(fixed_level, var(&level))));
                if let Some(credits) = &self.credits {
                    let balance = call(fixed::CREDIT_AT, vec![var(credits), var(name)]);
                    self.emit_plain(inhale(eq(balance, int(0))));
                }
                self.emit(assign(own, var(&level)).with(hidden()));
            }
        }
    }

    fn initialise(&mut self, name: &str, initialisers: &[Initialiser], env: &Env) {
        let statement = self.span;
        for initialiser in initialisers {
            let value = self.stored(&initialiser.value, env);
            let target =
                self.field_of(var(name), chalice::program::FieldRef::Declared(initialiser.field));
            if self.program().fields[initialiser.field].is_tracked {
                self.redirect(initialiser.field, &var(name), &value);
            }
            self.emit(assign(target, value));
        }
        self.span = statement;
    }

    fn conditional(&mut self, arms: &[IfArm], otherwise: Option<&Block>, env: &Env) {
        let Some((arm, rest)) = arms.split_first() else {
            if let Some(block) = otherwise {
                let statements = self.nested(block, env);
                self.out.extend(statements);
            }
            return;
        };
        let span = arm.span;
        self.span = span;
        let asked = self.executed(&arm.condition, env);
        let condition =
            self.placed(arm.condition.span, |member| member.expr(&arm.condition, &asked));
        let then = self.nested(&arm.body, env);
        let otherwise =
            self.block(|member| grow_stack(|| member.conditional(rest, otherwise, env)));
        self.span = span;
        self.emit(branch(condition, then, chained(otherwise)));
    }

    /// `x, y [pre, post]`
    fn specification(
        &mut self,
        targets: &[OutVariable],
        pre: Option<&Expr>,
        post: &Expr,
        env: &Env,
    ) {
        let label_name = self.fresh("before");
        self.declare_outs(targets);
        self.emit_plain(label(&label_name));
        let mut inner = env.clone();
        let mut old_locks = env.locks.clone();
        if let (Some(credits), Locks::State(before), true) =
            (self.credits.clone(), &mut old_locks, mentions_wait_level(post))
        {
            if mentions_credit(post) {
                self.unsupported_stmt("waitlevel beside credits that a statement promises");
            }
            let kept = self.fresh("credits_before");
            let ty = self.lowering.credits_type();
            self.emit_plain(declare(&kept, ty, Some(var(&credits))));
            before.credits = Some(var(&kept));
        }
        let clauses: Vec<Expr> = pre.into_iter().chain([post]).cloned().collect();
        if clauses.iter().any(super::loops::mentions_read) {
            let given: Vec<Expr> = pre.into_iter().cloned().collect();
            let k = self.read_fraction(&given, env, env, ErrorId::ExhaleFailed);
            inner.read = ReadAmount::Fraction(var(&k));
        }
        if let Some(pre) = pre {
            let exhaled = inner.on(Side::Exhaled);
            self.bound_counts(pre, &exhaled);
            let left = self.left_stars(
                std::slice::from_ref(pre),
                &exhaled,
                Given::InContract,
                ErrorId::ExhaleFailed,
            );
            let kept = self.credits_after(pre, &exhaled);
            let given = self.assertion(pre, &exhaled);
            self.emit(exhale(unplaced(given)));
            self.note_left_stars(left);
            if let (Some(credits), Some(kept)) = (self.credits.clone(), kept) {
                self.emit_plain(assign(var(&credits), var(&kept)));
            }
        }
        self.note_constants(targets);
        for out in targets.iter().filter(|out| !out.declares) {
            let fresh = self.havocked(out.local);
            let name = self.local(out.local);
            self.emit_plain(assign(var(&name), var(&fresh)));
        }
        let after = Env { old: OldState::Label(label_name), old_locks, ..inner.on(Side::Inhaled) };
        let received = self.assertion(post, &after);
        self.emit(inhale(unplaced(received)));
        self.bound_counts(post, &after);
        self.move_credits(post, &after, s::BinaryOp::Add);
        self.note_scope(targets);
    }

    /// Returns the credits that are left when those of an assertion have been given away, which are
    /// read before permissions go; they are still there for what the assertion says of the wait
    /// level.
    fn credits_after(&mut self, given: &Expr, env: &Env) -> Option<Name> {
        let credits = self.credits.clone()?;
        if !mentions_credit(given) {
            return None;
        }
        let kept = self.fresh("credits_left");
        let ty = self.lowering.credits_type();
        self.emit_plain(declare(&kept, ty, Some(var(&credits))));
        self.credits = Some(kept.clone());
        self.move_credits(given, env, s::BinaryOp::Sub);
        self.credits = Some(credits);
        Some(kept)
    }

    /// A fold with `rd` gives a share of everything that the predicate contains.
    fn fraction_of_fold(&mut self, access: &Access, env: &Env) -> Env {
        let AccessTarget::Predicate { receiver, predicate } = &access.target else {
            return env.clone();
        };
        if !matches!(access.amount.kind, PermissionKind::AbstractRead) {
            return env.clone();
        }
        let this = self.expr(receiver, env);
        let inner = Env { read: ReadAmount::Common, ..env.about(this) };
        let body = std::slice::from_ref(&self.program().predicates[*predicate].body);
        self.traded_fraction(access, body, &inner, env, ErrorId::FoldFailed)
    }

    /// However many counting permissions a predicate contains that is folded or has been unfolded,
    /// they are small.
    fn bound_folded_counts(&mut self, access: &Access, env: &Env) {
        if let Some((body, inner)) = self.inside(access, env) {
            self.bound_all_counts(body, &inner);
        }
    }

    /// Only objects have predicates.
    fn check_folded_object(&mut self, access: &Access, env: &Env) {
        let AccessTarget::Predicate { receiver, .. } = &access.target else { return };
        if !matches!(receiver.kind, ExprKind::This) && !self.is_certainly_object(receiver) {
            let object = self.expr(receiver, env);
            let words = self.might_be_null(receiver);
            let id = (ErrorId::FoldFailed, Reason::ReceiverNull);
            self.check_access(ne(object, null()), id, &words);
        }
    }

    /// Counting permissions cannot be divided: neither may a share be taken of those in a
    /// predicate, nor may counting permissions of a predicate be taken if it contains less than
    /// everything of a location.
    fn check_scaling(&mut self, access: &Access) {
        if self.program().divides_counted(access) {
            self.emit(
                assert(truth(false))
                    .with(renamed(
                        ErrorId::AssertFailed,
                        (ErrorId::NotSupported, Reason::EpsilonScaling),
                    ))
                    .with(said(
                        Pattern::ANY,
                        "a share of a predicate with counting permissions cannot be taken",
                    )),
            );
        }
    }

    /// Assumes the facts about lock levels that the unfolding of a predicate implies.
    fn levels_of_unfolded(&mut self, access: &Access, env: &Env) {
        let AccessTarget::Predicate { receiver, predicate } = &access.target else {
            return;
        };
        let this = self.expr(receiver, env);
        let body = &self.program().predicates[*predicate].body;
        for fact in self.levels_in(body, &env.about(this)) {
            self.emit_plain(inhale(fact));
        }
    }
}
