//! The effects of methods on the locks of the thread that runs them: their own, and those of the
//! methods that they call.
//!
//! A method may give what it holds another level only if it, or what it calls, has a statement that
//! does. All others show that levels stay, and may rely on it. The translation and the direct
//! execution both ask here, so that they cannot differ.

use la_arena::ArenaMap;
use rustc_hash::FxHashSet;

use super::walk::{any_expr, assigned_by, each_expr_in_block, each_stmt, rhs_of};
use super::{
    AccessTarget, Block, Channel, EvalState, Expr, ExprKind, FieldRef, Function, FunctionId,
    LocalId, LockMode, MethodId, OutVariable, Program, Rhs, Stmt, StmtKind,
};

/// A value that a method is given: it stays the same throughout the method, so contracts and loops
/// can speak of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    /// Its receiver.
    This,
    /// A parameter.
    Parameter(LocalId),
}

/// A method's knowledge of an object that it hands to a call, or gives another level.
#[derive(Clone, Copy, Debug)]
enum Operand {
    Given(Given),
    /// The method has made it, so it was not held at its start.
    New,
    Other,
}

/// A call, and what the callee is given.
#[derive(Debug)]
struct Call {
    callee: MethodId,
    receiver: Operand,
    /// By the callee's parameters.
    arguments: Vec<(LocalId, Operand)>,
}

impl Call {
    /// Returns the value that the callee is given, as the caller knows it.
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

/// The effects of one method on locks.
#[derive(Default, Debug)]
pub struct MethodLocks {
    /// The method, or a method that it calls, uses or changes the locks that its thread holds.
    /// Methods that it forks do not count: they run in another thread.
    pub locks: bool,
    /// The method, or a method that it calls, may give another level to any object that was held at
    /// its start. All other methods keep the levels of the objects that they still hold, except for
    /// those of [`Self::relevels`].
    pub may_relevel: bool,
    /// The given values to which the method may give another level, itself or by a call.
    pub relevels: Vec<Given>,
    /// The method, or a method that it calls, may leave or share an object, and thus change its
    /// recorded states.
    pub may_unlock: bool,
    /// Some statement forks the method.
    pub is_forked: bool,
    /// The precondition of the method speaks of held locks. Otherwise the method has acquired its
    /// locks itself, or knows only by a test or an assumption that it holds them.
    ///
    /// SOUNDNESS: where this decides that levels stay ([`Self::may_relevel`]), methods and loops
    /// show that they do.
    holds_at_start: bool,
    calls: Vec<Call>,
}

impl MethodLocks {
    /// Grows with whatever is learned.
    fn extent(&self) -> (bool, bool, bool, usize) {
        (self.locks, self.may_relevel, self.may_unlock, self.relevels.len())
    }

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

/// The functions that ask what the thread holds that applies them, themselves or by the functions
/// that they apply.
///
/// SOUNDNESS: the value of such a function depends on the locks as it does on arguments.
#[derive(Default, Debug)]
struct Asking(FxHashSet<FunctionId>);

impl Asking {
    fn of(program: &Program) -> Self {
        let mut asking = Self::default();
        let asks = |asking: &Self, function: &Function| {
            let clauses = function.requires.iter().chain(&function.ensures).chain(&function.body);
            let measures = function.decreases.iter().map(|measure| &measure.number);
            clauses.chain(measures).any(|clause| asking.mentions_holds(clause))
        };
        loop {
            let before = asking.0.len();
            for (id, function) in program.functions.iter() {
                if !asking.0.contains(&id) && asks(&asking, function) {
                    asking.0.insert(id);
                }
            }
            if asking.0.len() == before {
                return asking;
            }
        }
    }

    fn mentions_holds(&self, expr: &Expr) -> bool {
        expr.any(&mut |part| self.is_about_held(part))
    }

    fn is_about_held(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Holds { .. } => true,
            ExprKind::Apply { function, .. } => self.0.contains(function),
            _ => false,
        }
    }

    fn speaks_of_locks(&self, clause: &Expr) -> bool {
        clause.any(&mut |part| self.is_about_locks(part))
    }

    /// Tells whether the value of an expression depends on the locks of a thread.
    fn is_about_locks(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::WaitLevel => true,
            ExprKind::Eval { state, .. } => {
                matches!(**state, EvalState::Acquire(_) | EvalState::Release(_))
            }
            _ => self.is_about_held(expr),
        }
    }
}

/// The effects of all methods of a program on locks.
#[derive(Default, Debug)]
pub struct Locking {
    /// Some part of the program is about locks or levels, so that objects have a level.
    pub is_used: bool,
    /// The program has locks for reading.
    pub has_readers: bool,
    asking: Asking,
    methods: ArenaMap<MethodId, MethodLocks>,
}

impl Locking {
    /// Finds the effects of the methods of `program`.
    pub fn of(program: &Program) -> Self {
        let asking = Asking::of(program);
        let mut methods = ArenaMap::default();
        for (id, _) in program.methods.iter() {
            methods.insert(id, of_method(program, &asking, id));
        }
        for method in program.methods.values() {
            each_stmt(&method.body, &mut |stmt| {
                if let StmtKind::Fork { method, .. } = &stmt.kind {
                    methods[*method].is_forked = true;
                }
            });
        }
        close_over_calls(&mut methods);
        let has_readers = has_readers(program);
        let mut locking = Self { methods, has_readers, asking, is_used: false };
        locking.is_used = locking.has_locks() || mentions_levels(program);
        locking
    }

    /// Returns the effects of a method.
    pub fn method(&self, id: MethodId) -> &MethodLocks {
        &self.methods[id]
    }

    /// Tells whether a function asks what the thread holds that applies it.
    pub fn is_asking(&self, function: FunctionId) -> bool {
        self.asking.0.contains(&function)
    }

    /// Counts the sets that a function is told: of the objects that are held, and of those that are
    /// held for reading. None if it does not ask.
    pub fn asked_sets(&self, function: FunctionId) -> usize {
        if self.is_asking(function) { 1 + usize::from(self.has_readers) } else { 0 }
    }

    /// Tells whether an assertion speaks of held locks, itself or by the functions that it applies.
    pub fn mentions_holds(&self, expr: &Expr) -> bool {
        self.asking.mentions_holds(expr)
    }

    /// Tells whether the where clause of a channel speaks of the locks of a thread, which are those
    /// of the sending one.
    pub fn speaks_of_sender(&self, channel: &Channel) -> bool {
        channel.where_clause.iter().any(|clause| self.asking.speaks_of_locks(clause))
    }

    /// Tells whether any method has to do with locks.
    pub fn has_locks(&self) -> bool {
        self.methods.values().any(|method| method.locks)
    }

    /// Tells whether a method that this one calls may leave or share an object.
    pub fn calls_may_unlock(&self, id: MethodId) -> bool {
        self.methods[id].calls.iter().any(|call| self.methods[call.callee].may_unlock)
    }

    /// Tells whether statements may change the held locks, or the level of a held object.
    pub fn changes(&self, block: &Block) -> bool {
        let mut changes = false;
        each_stmt(block, &mut |stmt| {
            changes |= match &stmt.kind {
                StmtKind::Acquire { .. }
                | StmtKind::Release { .. }
                | StmtKind::Lock { .. }
                | StmtKind::Downgrade(_)
                | StmtKind::Unshare(_)
                | StmtKind::Reorder { .. } => true,
                StmtKind::Call { method, .. } => self.methods[*method].locks,
                _ => false,
            };
        });
        changes
    }
}

fn of_method(program: &Program, asking: &Asking, id: MethodId) -> MethodLocks {
    let method = &program.methods[id];
    let mut own = MethodLocks {
        locks: !method.lock_changes.is_empty(),
        holds_at_start: method.requires.iter().any(|clause| asking.mentions_holds(clause)),
        ..MethodLocks::default()
    };
    let contract = method.requires.iter().chain(&method.ensures).chain(&method.lock_changes);
    for clause in contract {
        own.locks |= asking.speaks_of_locks(clause);
    }
    each_expr_in_block(&method.body, &mut |expr| own.locks |= asking.is_about_locks(expr));
    each_stmt(&method.body, &mut |stmt| note_stmt(program, asking, id, stmt, &mut own));
    own
}

fn note_stmt(program: &Program, asking: &Asking, id: MethodId, stmt: &Stmt, own: &mut MethodLocks) {
    let operand = |expr| operand(program, id, expr);
    own.locks |= matches!(rhs_of(stmt), Some(Rhs::NewChannel { .. }));
    own.may_unlock |= matches!(
        stmt.kind,
        StmtKind::Release { .. }
            | StmtKind::Lock { .. }
            | StmtKind::Unshare(_)
            | StmtKind::Share { .. }
            | StmtKind::Downgrade(_)
    );
    match &stmt.kind {
        StmtKind::Call { method, receiver, arguments, .. } => {
            let parameters = program.methods[*method].parameters.iter().copied();
            own.calls.push(Call {
                callee: *method,
                receiver: operand(receiver),
                arguments: parameters.zip(arguments.iter().map(operand)).collect(),
            });
        }
        StmtKind::Share { .. }
        | StmtKind::Receive { .. }
        | StmtKind::Acquire { .. }
        | StmtKind::Release { .. }
        | StmtKind::Lock { .. }
        | StmtKind::Downgrade(_) => own.locks = true,
        StmtKind::Send { declaration, .. } => {
            let clause = &program.channels[*declaration].where_clause;
            own.locks |= clause.iter().any(|clause| asking.speaks_of_locks(clause));
        }
        // A thread that unshares an object may share it again, and acquire it at its new level.
        StmtKind::Unshare(target) => {
            own.locks = true;
            if own.holds_at_start {
                own.note_releveled(operand(target));
            }
        }
        StmtKind::Reorder { target, .. } => {
            own.locks = true;
            own.note_releveled(operand(target));
        }
        StmtKind::While { lock_changes, .. } => own.locks |= !lock_changes.is_empty(),
        _ => {}
    }
}

fn operand(program: &Program, id: MethodId, expr: &Expr) -> Operand {
    let method = &program.methods[id];
    match &expr.kind {
        ExprKind::This => Operand::Given(Given::This),
        ExprKind::Local(local) if method.parameters.contains(local) => {
            Operand::Given(Given::Parameter(*local))
        }
        _ if is_new_object(&method.body, expr) => Operand::New,
        _ => Operand::Other,
    }
}

/// Tells whether an expression compares with the wait level.
pub fn mentions_wait_level(expr: &Expr) -> bool {
    expr.any(&mut |part| matches!(part.kind, ExprKind::WaitLevel))
}

/// Tells whether the postcondition of a specification statement says of the wait level what decides
/// about a value that the statement may change.
pub fn chooses_by_wait_level(targets: &[OutVariable], post: &Expr) -> bool {
    if let ExprKind::And(parts) = &post.kind {
        return parts.iter().any(|part| chooses_by_wait_level(targets, part));
    }
    let mut may_change = |part: &Expr| match &part.kind {
        ExprKind::Local(local) => targets.iter().any(|target| target.local == *local),
        ExprKind::FieldRead { field, .. } => !matches!(field, FieldRef::Mu),
        ExprKind::Apply { .. } => true,
        _ => false,
    };
    mentions_wait_level(post) && post.any(&mut may_change)
}

/// Tells whether an expression is a variable that only ever has the object of its declaration in
/// `body`.
pub fn is_new_object(body: &Block, expr: &Expr) -> bool {
    let ExprKind::Local(local) = expr.kind else { return false };
    let (mut is_new, mut is_assigned) = (false, false);
    each_stmt(body, &mut |stmt| {
        is_new |= matches!(&stmt.kind,
            StmtKind::Declare { local: declared, value: Some(Rhs::New { .. }) } if *declared == local);
        is_assigned |= assigned_by(stmt).any(|target| target == local);
    });
    is_new && !is_assigned
}

/// A method does what the methods do that it calls. It is looked at again only when one of those
/// has changed.
fn close_over_calls(methods: &mut ArenaMap<MethodId, MethodLocks>) {
    let mut callers: ArenaMap<MethodId, Vec<MethodId>> =
        methods.iter().map(|(id, _)| (id, Vec::new())).collect();
    for (caller, method) in methods.iter() {
        for call in &method.calls {
            callers[call.callee].push(caller);
        }
    }
    let mut changed: Vec<MethodId> = methods.iter().map(|(id, _)| id).collect();
    while let Some(callee) = changed.pop() {
        for &caller in &callers[callee] {
            if take_over(methods, caller) {
                changed.push(caller);
            }
        }
    }
}

/// Adds to what is known of a method what its callees do; whether that was new.
fn take_over(methods: &mut ArenaMap<MethodId, MethodLocks>, caller: MethodId) -> bool {
    let mut handed = Vec::new();
    let (mut locks, mut may_relevel, mut may_unlock) = (false, false, false);
    for call in &methods[caller].calls {
        let callee = &methods[call.callee];
        locks |= callee.locks;
        may_relevel |= callee.may_relevel;
        may_unlock |= callee.may_unlock;
        handed.extend(callee.relevels.iter().map(|&given| call.operand(given)));
    }
    let own = &mut methods[caller];
    let before = own.extent();
    own.locks |= locks;
    own.may_relevel |= may_relevel;
    own.may_unlock |= may_unlock;
    handed.into_iter().for_each(|operand| own.note_releveled(operand));
    before != own.extent()
}

fn mentions_levels(program: &Program) -> bool {
    let frees = program.methods.values().any(|method| {
        let mut frees = false;
        each_stmt(&method.body, &mut |stmt| frees |= matches!(stmt.kind, StmtKind::Free(_)));
        frees
    });
    frees
        || !program.channels.is_empty()
        || any_expr(program, &mut |expr| match &expr.kind {
            ExprKind::LockBottom | ExprKind::FieldRead { field: FieldRef::Mu, .. } => true,
            ExprKind::Access(access) => matches!(
                access.target,
                AccessTarget::Field { field: FieldRef::Mu, .. }
                    | AccessTarget::ElementsField { field: FieldRef::Mu, .. }
            ),
            _ => false,
        })
}

fn has_readers(program: &Program) -> bool {
    let locks_to_read = program.methods.values().any(|method| {
        let mut found = false;
        each_stmt(&method.body, &mut |stmt| {
            found |= match &stmt.kind {
                StmtKind::Acquire { mode, .. }
                | StmtKind::Release { mode, .. }
                | StmtKind::Lock { mode, .. } => *mode == LockMode::Read,
                StmtKind::Downgrade(_) => true,
                _ => false,
            };
        });
        found
    });
    locks_to_read
        || any_expr(program, &mut |expr| {
            matches!(expr.kind, ExprKind::Holds { mode: LockMode::Read, .. })
        })
}
