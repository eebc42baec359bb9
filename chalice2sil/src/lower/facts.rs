//! The facts about the whole program that are needed before any part of it is lowered.
//!
//! Methods that have nothing to do with locks do not pass the lock state around, and methods whose
//! contracts have no abstract read permission have no parameter for it: generated code says only
//! what the program needs.

use chalice::program::ghosts::stay_apart;
use chalice::program::locking::Locking;
use chalice::program::{
    Access, AccessTarget, ClassId, Expr, ExprKind, LocalId, MethodId, PermissionKind, Program,
    StmtKind, Type,
};
use la_arena::ArenaMap;
use num_bigint::BigInt;

use crate::walk::{access_of, each_expr_in_block, each_stmt};

/// Facts about a program.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Does anything mention lock levels, so that objects need the field `mu`?
    pub(crate) levels: bool,
    /// The effects of methods on locks.
    pub(crate) locking: Locking,
    /// Are there counting permissions, in assertions or because readers of a lock get them?
    pub(crate) counting: bool,
    /// The greatest number of counting permissions that is written out.
    pub(crate) most_counted: BigInt,
    /// Are there channels or credits?
    pub(crate) credits: bool,
    /// Facts about each method.
    pub(crate) methods: ArenaMap<MethodId, MethodFacts>,
}

/// Facts about a method.
#[derive(Debug, Default, Clone)]
pub(crate) struct MethodFacts {
    /// Does its contract mention the abstract read fraction?
    pub(crate) read_fraction: bool,
    /// Results that its precondition mentions: arbitrary values, of which whoever calls it has to
    /// show that.
    pub(crate) entry_results: Vec<LocalId>,
    /// Does nothing that is executed depend on its ghost state?
    pub(crate) ghosts_stay_apart: bool,
    /// Does it, in its contract or body, have to do with credits?
    pub(crate) credits: bool,
    contract_credits: bool,
    /// Methods it calls, forks or joins.
    meets: Vec<MethodId>,
}

/// Is it of a predicate that contains credits?
fn contains_credits(program: &Program, access: &Access) -> bool {
    match &access.target {
        AccessTarget::Predicate { predicate, .. } => {
            mentions_credit(&program.predicates[*predicate].body)
        }
        _ => false,
    }
}

/// Does an assertion speak of credits?
pub(crate) fn mentions_credit(e: &Expr) -> bool {
    e.any(&mut |part| matches!(part.kind, ExprKind::Credit { .. }))
}

/// Does the invariant of a class speak of credits, which its monitor then keeps?
pub(crate) fn keeps_credits(program: &Program, class: ClassId) -> bool {
    program.classes[class].invariants.iter().any(mentions_credit)
}

/// Returns the class whose objects an expression stands for.
pub(crate) fn class_of(e: &Expr) -> Option<ClassId> {
    match e.ty {
        Type::Class(class) => Some(class),
        _ => None,
    }
}

impl Facts {
    /// Returns the facts about `program`; `opens_own` if methods open and close the predicates of
    /// `this` in their contracts.
    pub(crate) fn of(program: &Program, opens_own: bool) -> Self {
        let mut facts = Self {
            credits: !program.channels.is_empty(),
            locking: Locking::of(program),
            ..Self::default()
        };
        for (id, method) in program.methods.iter() {
            let mut own = MethodFacts::default();
            facts.note_contract(&mut own, program, id);
            facts.note_body(&mut own, program, id);
            if opens_own {
                for clause in method.requires.iter().chain(&method.ensures) {
                    own.credits |= clause.any(&mut |part| {
                        let ExprKind::Access(access) = &part.kind else { return false };
                        matches!(&access.target, AccessTarget::Predicate { receiver, .. }
                            if matches!(receiver.kind, ExprKind::This))
                            && contains_credits(program, access)
                    });
                }
            }
            facts.methods.insert(id, own);
        }
        for (_, class) in program.classes.iter() {
            facts.note_exprs(&mut class.invariants.iter());
        }
        let bodies = program.predicates.iter().map(|(_, predicate)| &predicate.body);
        facts.note_exprs(&mut bodies.into_iter());
        for (_, function) in program.functions.iter() {
            facts.note_exprs(
                &mut function.requires.iter().chain(&function.ensures).chain(&function.body),
            );
        }
        let clauses =
            program.channels.iter().filter_map(|(_, channel)| channel.where_clause.as_ref());
        facts.note_exprs(&mut clauses.into_iter());
        facts.meet_contracts();
        facts.counting |= facts.locking.has_readers;
        for method in stay_apart(program) {
            facts.methods[method].ghosts_stay_apart = true;
        }
        facts.levels = facts.credits || facts.locking.is_used;
        facts
    }

    fn note_exprs(&mut self, roots: &mut dyn Iterator<Item = &Expr>) {
        let mut ignored = MethodFacts::default();
        roots.for_each(|root| root.for_each(&mut |e| self.note_expr(&mut ignored, e)));
    }

    fn note_contract(&mut self, own: &mut MethodFacts, program: &Program, id: MethodId) {
        let method = &program.methods[id];
        for clause in method.requires.iter().chain(&method.ensures) {
            clause.for_each(&mut |e| {
                self.note_expr(own, e);
                if let Some(access) = access_of(e) {
                    access.amount.for_each_amount(&mut |amount| {
                        own.read_fraction |= matches!(amount, PermissionKind::AbstractRead);
                    });
                }
            });
        }
        own.contract_credits = own.credits;
        own.entry_results = method.results.clone();
        own.entry_results.retain(|result| {
            let is_result =
                |part: &Expr| matches!(&part.kind, ExprKind::Local(local) if local == result);
            method.requires.iter().any(|clause| clause.any(&mut |part| is_result(part)))
        });
        method.lock_changes.iter().for_each(|e| e.for_each(&mut |e| self.note_expr(own, e)));
    }

    fn note_body(&mut self, own: &mut MethodFacts, program: &Program, id: MethodId) {
        let body = &program.methods[id].body;
        let keeps_credits =
            |e: &Expr| class_of(e).is_some_and(|class| keeps_credits(program, class));
        each_expr_in_block(body, &mut |e| self.note_expr(own, e));
        each_stmt(body, &mut |stmt| {
            own.credits |= match &stmt.kind {
                StmtKind::Send { .. } | StmtKind::Receive { .. } => true,
                StmtKind::Acquire { target, .. }
                | StmtKind::Release { target, .. }
                | StmtKind::Lock { target, .. }
                | StmtKind::Share { target, .. }
                | StmtKind::Downgrade(target) => keeps_credits(target),
                StmtKind::Fold(access) | StmtKind::Unfold(access) => {
                    contains_credits(program, access)
                }
                _ => false,
            };
            match &stmt.kind {
                StmtKind::Call { method, .. }
                | StmtKind::Fork { method, .. }
                | StmtKind::Join { method, .. } => own.meets.push(*method),
                StmtKind::Fold(access) | StmtKind::Unfold(access) => self.note_amount(access),
                _ => {}
            }
        });
    }

    fn note_expr(&mut self, own: &mut MethodFacts, e: &Expr) {
        if let Some(access) = access_of(e) {
            self.note_amount(access);
        }
        if let ExprKind::Credit { .. } = e.kind {
            self.credits = true;
            own.credits = true;
        }
    }

    fn note_amount(&mut self, access: &Access) {
        access.amount.for_each_amount(&mut |amount| {
            let PermissionKind::Epsilons(count) = amount else { return };
            self.counting = true;
            if let ExprKind::Int(count) = &count.kind
                && *count > self.most_counted
            {
                self.most_counted = count.clone();
            }
        });
    }

    /// A method has to do with credits if the contract of one does that it calls, forks or joins.
    fn meet_contracts(&mut self) {
        let contracts: ArenaMap<MethodId, bool> =
            self.methods.iter().map(|(id, own)| (id, own.contract_credits)).collect();
        for (_, own) in self.methods.iter_mut() {
            own.credits |= own.meets.iter().any(|&met| contracts[met]);
        }
    }
}
