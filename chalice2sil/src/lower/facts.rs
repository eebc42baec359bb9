//! What has to be known about the whole program before any part of it is lowered.
//!
//! Methods that have nothing to do with locks do not pass the lock state around, and methods whose contracts have no
//! abstract read permission have no parameter for it: generated code says only what the program needs.

use chalice::program::{
    Access, AccessTarget, Block, ClassId, EvalState, Expr, ExprKind, FieldRef, LocalId, LockMode,
    MethodId, PermissionKind, Program, Rhs, Stmt, StmtKind, Type,
};
use la_arena::ArenaMap;

use crate::walk::{access_of, each_expr_in_block, each_stmt, rhs_of};

/// Facts about a program.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Does anything mention lock levels, so that objects need the field `mu`?
    pub(crate) levels: bool,
    /// Are there locks for reading?
    pub(crate) read_locks: bool,
    /// Are there counting permissions, in assertions or because readers of a lock get them?
    pub(crate) counting: bool,
    /// Are there channels or credits?
    pub(crate) credits: bool,
    /// Facts about each method.
    pub(crate) methods: ArenaMap<MethodId, MethodFacts>,
}

/// Facts about a method.
#[derive(Debug, Default, Clone)]
pub(crate) struct MethodFacts {
    /// Does it, or a method it calls, use or change the locks that the thread holds? Forked methods do not count:
    /// they run in another thread.
    pub(crate) locks: bool,
    /// May it, or a method it calls, reorder or unshare any object that was held at its start? All other methods must
    /// leave the levels of what they still hold as they were, except for those of [`Self::relevels`].
    pub(crate) may_relevel: bool,
    /// What it is given and may reorder or unshare, itself or by a call.
    pub(crate) relevels: Vec<Given>,
    /// Does its precondition speak of what is held? If not, it has acquired what it holds itself, or knows by a test or an
    /// assumption only that it holds it.
    ///
    /// SOUNDNESS: where this decides that levels stay ([`Self::may_relevel`]), methods and loops show that they do.
    holds_at_start: bool,
    /// May it, or a method it calls, leave or share an object, so that what is recorded of it changes?
    pub(crate) may_unlock: bool,
    /// Does some statement fork it?
    pub(crate) is_forked: bool,
    /// Does its contract mention the abstract read fraction?
    pub(crate) read_fraction: bool,
    /// Results that its precondition mentions: arbitrary values, of which whoever calls it has to show that.
    pub(crate) entry_results: Vec<LocalId>,
    /// Does nothing that is executed depend on its ghost state?
    pub(crate) ghosts_stay_apart: bool,
    /// Does it, in its contract or body, have to do with credits?
    pub(crate) credits: bool,
    contract_credits: bool,
    calls: Vec<CallFacts>,
    /// Methods it calls, forks or joins.
    meets: Vec<MethodId>,
}

/// What a method is given: it is the same throughout the method, so contracts and loops can speak of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given {
    This,
    Parameter(LocalId),
}

/// What a method knows of an object when it hands it to a call, or gives it another level.
#[derive(Debug, Clone, Copy)]
enum Operand {
    Given(Given),
    /// It has made it, so it was not held at the start.
    New,
    Other,
}

impl Operand {
    fn of(program: &Program, id: MethodId, e: &Expr) -> Self {
        let method = &program.methods[id];
        match &e.kind {
            ExprKind::This => Self::Given(Given::This),
            ExprKind::Local(local) if method.parameters.contains(local) => {
                Self::Given(Given::Parameter(*local))
            }
            _ if is_new_object(&method.body, e) => Self::New,
            _ => Self::Other,
        }
    }
}

/// A call: what the callee is given.
#[derive(Debug, Clone)]
struct CallFacts {
    callee: MethodId,
    receiver: Operand,
    /// By the callee's parameters.
    arguments: Vec<(LocalId, Operand)>,
}

impl CallFacts {
    /// What the callee is given, as the caller knows it.
    fn operand(&self, given: Given) -> Operand {
        match given {
            Given::This => self.receiver,
            Given::Parameter(parameter) => {
                let handed = self.arguments.iter().find(|(declared, _)| *declared == parameter);
                handed.map_or(Operand::Other, |&(_, operand)| operand)
            }
        }
    }
}

impl MethodFacts {
    /// An object gets another level that may have been held at the start.
    fn note_releveled(&mut self, operand: Operand) {
        match operand {
            Operand::Given(given) if self.relevels.contains(&given) => {}
            Operand::Given(given) => self.relevels.push(given),
            Operand::New => {}
            Operand::Other => self.may_relevel = true,
        }
    }
}

/// Is `e` a variable that only ever holds the object it is declared with in `body`?
pub(crate) fn is_new_object(body: &Block, e: &Expr) -> bool {
    let ExprKind::Local(local) = &e.kind else { return false };
    let mut is_new = false;
    let mut is_assigned = false;
    each_stmt(body, &mut |stmt| {
        is_new |= matches!(&stmt.kind,
            StmtKind::Declare { local: declared, value: Some(Rhs::New { .. }) } if declared == local);
        is_assigned |= assigns(stmt, *local);
    });
    is_new && !is_assigned
}

/// Does a statement, apart from those in it, give a variable a value after its declaration?
pub(crate) fn assigns(stmt: &Stmt, local: LocalId) -> bool {
    match &stmt.kind {
        StmtKind::AssignLocal { local: target, .. } => *target == local,
        StmtKind::Call { outs, .. }
        | StmtKind::Join { outs, .. }
        | StmtKind::Receive { outs, .. } => outs.iter().any(|out| out.local == local),
        StmtKind::Specification { targets, .. } => targets.iter().any(|out| out.local == local),
        StmtKind::Fork { token, .. } => token.as_ref().is_some_and(|out| out.local == local),
        _ => false,
    }
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

pub(crate) fn mentions_holds(e: &Expr) -> bool {
    e.any(&mut |part| matches!(part.kind, ExprKind::Holds { .. }))
}

/// Does a clause say something of the locks of a thread: in a where clause, of the one that sends?
pub(crate) fn speaks_of_locks(clause: &Expr) -> bool {
    clause.any(&mut |part| is_about_locks(part))
}

/// Is the value of `e` itself, whatever is inside, one of the locks of a thread?
fn is_about_locks(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::WaitLevel | ExprKind::Holds { .. } => true,
        ExprKind::Eval { state, .. } => {
            matches!(**state, EvalState::Acquire(_) | EvalState::Release(_))
        }
        _ => false,
    }
}

/// Does the invariant of a class speak of credits, which its monitor then keeps?
pub(crate) fn keeps_credits(program: &Program, class: ClassId) -> bool {
    program.classes[class].invariants.iter().any(mentions_credit)
}

/// The class whose objects an expression stands for.
pub(crate) fn class_of(e: &Expr) -> Option<ClassId> {
    match e.ty {
        Type::Class(class) => Some(class),
        _ => None,
    }
}

impl Facts {
    /// The facts about `program`; `opens_own` if methods open and close the predicates of `this` in their contracts.
    pub(crate) fn of(program: &Program, opens_own: bool) -> Self {
        let mut facts = Self { credits: !program.channels.is_empty(), ..Self::default() };
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
        facts.note_forks(program);
        facts.close_over_calls();
        facts.counting |= facts.read_locks;
        for method in super::ghosts::stay_apart(program, &facts) {
            facts.methods[method].ghosts_stay_apart = true;
        }
        facts.levels |= facts.credits || facts.methods.values().any(|method| method.locks);
        facts
    }

    fn note_forks(&mut self, program: &Program) {
        for method in program.methods.values() {
            each_stmt(&method.body, &mut |stmt| {
                if let StmtKind::Fork { method, .. } = &stmt.kind {
                    self.methods[*method].is_forked = true;
                }
            });
        }
    }

    fn note_exprs(&mut self, roots: &mut dyn Iterator<Item = &Expr>) {
        let mut ignored = MethodFacts::default();
        roots.for_each(|root| root.for_each(&mut |e| self.note_expr(&mut ignored, e)));
    }

    fn note_contract(&mut self, own: &mut MethodFacts, program: &Program, id: MethodId) {
        let method = &program.methods[id];
        own.locks |= !method.lock_changes.is_empty();
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
        own.holds_at_start = method.requires.iter().any(mentions_holds);
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
            own.may_unlock |= matches!(
                stmt.kind,
                StmtKind::Release { .. }
                    | StmtKind::Lock { .. }
                    | StmtKind::Unshare(_)
                    | StmtKind::Share { .. }
                    | StmtKind::Downgrade(_)
            );
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
            if matches!(rhs_of(stmt), Some(Rhs::NewChannel { .. })) {
                own.locks = true;
            }
            match &stmt.kind {
                StmtKind::Call { method, receiver, arguments, .. } => {
                    let operand = |e| Operand::of(program, id, e);
                    let parameters = &program.methods[*method].parameters;
                    own.calls.push(CallFacts {
                        callee: *method,
                        receiver: operand(receiver),
                        arguments: parameters
                            .iter()
                            .copied()
                            .zip(arguments.iter().map(operand))
                            .collect(),
                    });
                    own.meets.push(*method);
                }
                StmtKind::Fork { method, .. } | StmtKind::Join { method, .. } => {
                    own.meets.push(*method);
                }
                StmtKind::Share { .. } | StmtKind::Receive { .. } => own.locks = true,
                StmtKind::Send { declaration, .. } => {
                    let clause = &program.channels[*declaration].where_clause;
                    own.locks |= clause.as_ref().is_some_and(speaks_of_locks);
                }
                StmtKind::Acquire { mode, .. } | StmtKind::Lock { mode, .. } => {
                    own.locks = true;
                    self.read_locks |= *mode == LockMode::Read;
                }
                StmtKind::Release { mode, .. } => {
                    own.locks = true;
                    self.read_locks |= *mode == LockMode::Read;
                }
                StmtKind::Downgrade(_) => {
                    own.locks = true;
                    self.read_locks = true;
                }
                // Who unshares an object may share it again, and acquire it at its new level.
                StmtKind::Unshare(target) => {
                    own.locks = true;
                    if own.holds_at_start {
                        own.note_releveled(Operand::of(program, id, target));
                    }
                }
                StmtKind::Reorder { target, .. } => {
                    own.locks = true;
                    own.note_releveled(Operand::of(program, id, target));
                }
                StmtKind::Fold(access) | StmtKind::Unfold(access) => {
                    access.amount.for_each_amount(&mut |amount| {
                        self.counting |= matches!(amount, PermissionKind::Epsilons(_));
                    });
                }
                StmtKind::While { lock_changes, .. } => own.locks |= !lock_changes.is_empty(),
                StmtKind::Free(_) => self.levels = true,
                _ => {}
            }
        });
    }

    fn note_expr(&mut self, own: &mut MethodFacts, e: &Expr) {
        if let Some(access) = access_of(e) {
            access.amount.for_each_amount(&mut |amount| {
                self.counting |= matches!(amount, PermissionKind::Epsilons(_));
            });
        }
        own.locks |= is_about_locks(e);
        match &e.kind {
            ExprKind::Holds { mode, .. } => self.read_locks |= *mode == LockMode::Read,
            ExprKind::LockBottom | ExprKind::FieldRead { field: FieldRef::Mu, .. } => {
                self.levels = true;
            }
            ExprKind::Access(access) => {
                let is_level = matches!(
                    access.target,
                    AccessTarget::Field { field: FieldRef::Mu, .. }
                        | AccessTarget::ElementsField { field: FieldRef::Mu, .. }
                );
                self.levels |= is_level;
            }
            ExprKind::Credit { .. } => {
                self.credits = true;
                own.credits = true;
            }
            _ => {}
        }
    }

    /// May a method that this one calls leave or share an object?
    pub(crate) fn calls_may_unlock(&self, method: MethodId) -> bool {
        self.methods[method].calls.iter().any(|call| self.methods[call.callee].may_unlock)
    }

    /// A method does what the methods it calls do.
    fn close_over_calls(&mut self) {
        let contracts: ArenaMap<MethodId, bool> =
            self.methods.iter().map(|(id, own)| (id, own.contract_credits)).collect();
        // Each caller with the number of the call.
        let mut callers: ArenaMap<MethodId, Vec<(MethodId, usize)>> = ArenaMap::default();
        for (id, own) in self.methods.iter_mut() {
            own.credits |= own.meets.iter().any(|&met| contracts[met]);
            for (at, call) in own.calls.iter().enumerate() {
                match callers.get_mut(call.callee) {
                    Some(known) => known.push((id, at)),
                    None => {
                        callers.insert(call.callee, vec![(id, at)]);
                    }
                }
            }
        }
        // Each method is looked at again only when one of its facts has changed, which happens three times at most, and
        // once for each thing it is given.
        let mut changed: Vec<MethodId> = self.methods.iter().map(|(id, _)| id).collect();
        while let Some(callee) = changed.pop() {
            let facts = &self.methods[callee];
            let (locks, relevels, unlocks) = (facts.locks, facts.may_relevel, facts.may_unlock);
            let releveled = facts.relevels.clone();
            for &(caller, at) in callers.get(callee).into_iter().flatten() {
                let own = &mut self.methods[caller];
                let before = (own.locks, own.may_relevel, own.may_unlock, own.relevels.len());
                own.locks |= locks;
                own.may_relevel |= relevels;
                own.may_unlock |= unlocks;
                for &given in &releveled {
                    let operand = own.calls[at].operand(given);
                    own.note_releveled(operand);
                }
                if before != (own.locks, own.may_relevel, own.may_unlock, own.relevels.len()) {
                    changed.push(caller);
                }
            }
        }
    }
}
