//! What methods do to the locks of the thread that runs them: themselves, and by the methods they call.
//!
//! A method may give what it holds another level only if it, or what it calls, has a statement that does. All others show
//! that levels stay, and may rely on it.

use chalice::program::walk::{each_expr_in_block, each_stmt, rhs_of};
use chalice::program::{
    AccessTarget, Block, EvalState, Expr, ExprKind, FieldRef, LocalId, LockMode, MethodId, Program,
    Rhs, Stmt, StmtKind,
};
use la_arena::ArenaMap;

/// What a method is given: it stays the same throughout the method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Given {
    This,
    Parameter(LocalId),
}

/// What a method knows of an object that it hands to a call, or gives another level.
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
    arguments: Vec<(LocalId, Operand)>,
}

impl Call {
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

/// What is known of a method.
#[derive(Default, Debug)]
pub(super) struct OfMethod {
    /// Whether it has to do with what its thread holds.
    pub(super) locks: bool,
    /// Whether it may give any object another level that was held at its start.
    pub(super) may_relevel: bool,
    /// What it is given and may give another level.
    pub(super) relevels: Vec<Given>,
    /// Whether some statement forks it.
    pub(super) is_forked: bool,
    /// Whether its precondition speaks of what is held.
    ///
    /// SOUNDNESS: without, it unshares what it has acquired itself, or knows by a test that it holds. That levels stay is shown.
    holds_at_start: bool,
    calls: Vec<Call>,
}

impl OfMethod {
    fn note_releveled(&mut self, operand: Operand) {
        match operand {
            Operand::Given(given) if self.relevels.contains(&given) => {}
            Operand::Given(given) => self.relevels.push(given),
            Operand::New => {}
            Operand::Other => self.may_relevel = true,
        }
    }
}

/// What is known of a program.
#[derive(Debug)]
pub(super) struct Locking {
    /// Whether anything is about locks or levels.
    pub(super) is_used: bool,
    /// Whether there are locks for reading.
    pub(super) has_readers: bool,
    methods: ArenaMap<MethodId, OfMethod>,
}

impl Locking {
    pub(super) fn of(program: &Program) -> Self {
        let mut methods = ArenaMap::default();
        for (id, _) in program.methods.iter() {
            methods.insert(id, of_method(program, id));
        }
        for method in program.methods.values() {
            each_stmt(&method.body, &mut |stmt| {
                if let StmtKind::Fork { method, .. } = &stmt.kind {
                    methods[*method].is_forked = true;
                }
            });
        }
        close_over_calls(&mut methods);
        let is_used = methods.values().any(|method| method.locks) || mentions_levels(program);
        Self { is_used, has_readers: has_readers(program), methods }
    }

    pub(super) fn method(&self, id: MethodId) -> &OfMethod {
        &self.methods[id]
    }

    /// Whether statements may change what is held, or the level of something that is.
    pub(super) fn changes(&self, block: &Block) -> bool {
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

/// Whether an assertion speaks of what is held.
pub(super) fn mentions_holds(expr: &Expr) -> bool {
    expr.any(&mut |part| matches!(part.kind, ExprKind::Holds { .. }))
}

/// Whether the value of an expression, whatever is inside, depends on the locks of a thread.
fn is_about_locks(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::WaitLevel | ExprKind::Holds { .. } => true,
        ExprKind::Eval { state, .. } => {
            matches!(**state, EvalState::Acquire(_) | EvalState::Release(_))
        }
        _ => false,
    }
}

fn of_method(program: &Program, id: MethodId) -> OfMethod {
    let method = &program.methods[id];
    let mut own = OfMethod {
        locks: !method.lock_changes.is_empty(),
        holds_at_start: method.requires.iter().any(mentions_holds),
        ..OfMethod::default()
    };
    let contract = method.requires.iter().chain(&method.ensures).chain(&method.lock_changes);
    for clause in contract {
        own.locks |= clause.any(&mut is_about_locks);
    }
    each_expr_in_block(&method.body, &mut |expr| own.locks |= is_about_locks(expr));
    each_stmt(&method.body, &mut |stmt| note_stmt(program, id, stmt, &mut own));
    own
}

fn note_stmt(program: &Program, id: MethodId, stmt: &Stmt, own: &mut OfMethod) {
    let operand = |expr| operand(program, id, expr);
    own.locks |= matches!(rhs_of(stmt), Some(Rhs::NewChannel { .. }));
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
            own.locks |= clause.iter().any(|clause| clause.any(&mut is_about_locks));
        }
        // Who unshares an object may share it again, and acquire it at its new level.
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
        ExprKind::Local(local) if is_made_here(&method.body, *local) => Operand::New,
        _ => Operand::Other,
    }
}

/// Whether a variable only ever has the object that it is declared with.
fn is_made_here(body: &Block, local: LocalId) -> bool {
    let (mut is_new, mut is_assigned) = (false, false);
    each_stmt(body, &mut |stmt| {
        is_new |= matches!(&stmt.kind,
            StmtKind::Declare { local: declared, value: Some(Rhs::New { .. }) } if *declared == local);
        is_assigned |= assigns(stmt, local);
    });
    is_new && !is_assigned
}

/// Whether a statement, apart from those in it, gives a variable a value after its declaration.
fn assigns(stmt: &Stmt, local: LocalId) -> bool {
    match &stmt.kind {
        StmtKind::AssignLocal { local: target, .. } => *target == local,
        StmtKind::Call { outs, .. }
        | StmtKind::Join { outs, .. }
        | StmtKind::Receive { outs, .. }
        | StmtKind::Specification { targets: outs, .. } => {
            outs.iter().any(|out| out.local == local)
        }
        StmtKind::Fork { token, .. } => token.iter().any(|out| out.local == local),
        _ => false,
    }
}

/// A method does what the methods do that it calls. It is looked at again only when one of those has changed.
fn close_over_calls(methods: &mut ArenaMap<MethodId, OfMethod>) {
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
fn take_over(methods: &mut ArenaMap<MethodId, OfMethod>, caller: MethodId) -> bool {
    let mut handed = Vec::new();
    let (mut locks, mut may_relevel) = (false, false);
    for call in &methods[caller].calls {
        let callee = &methods[call.callee];
        locks |= callee.locks;
        may_relevel |= callee.may_relevel;
        handed.extend(callee.relevels.iter().map(|&given| call.operand(given)));
    }
    let own = &mut methods[caller];
    let before = (own.locks, own.may_relevel, own.relevels.len());
    own.locks |= locks;
    own.may_relevel |= may_relevel;
    handed.into_iter().for_each(|operand| own.note_releveled(operand));
    before != (own.locks, own.may_relevel, own.relevels.len())
}

/// All clauses and bodies of a program that are no statements.
fn assertions(program: &Program) -> impl Iterator<Item = &Expr> {
    let methods =
        program.methods.values().flat_map(|method| method.requires.iter().chain(&method.ensures));
    let functions = program.functions.values().flat_map(|function| {
        function.requires.iter().chain(&function.ensures).chain(&function.body)
    });
    let predicates = program.predicates.values().map(|predicate| &predicate.body);
    let monitors = program.classes.values().flat_map(|class| &class.invariants);
    let channels = program.channels.values().flat_map(|channel| &channel.where_clause);
    methods.chain(functions).chain(predicates).chain(monitors).chain(channels)
}

/// Whether an expression somewhere satisfies a claim.
fn any_expr(program: &Program, claim: &mut dyn FnMut(&Expr) -> bool) -> bool {
    if assertions(program).any(|clause| clause.any(claim)) {
        return true;
    }
    program.methods.values().any(|method| {
        let mut found = false;
        each_expr_in_block(&method.body, &mut |expr| found = found || claim(expr));
        found
    })
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
