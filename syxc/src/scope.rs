//! The constructs that have rules. A member is checked before it is executed, with everything whose
//! meaning it needs.
//!
//! SOUNDNESS: patterns name the supported constructs; all others are not.

mod many;
mod statements;

use chalice::program::locking::mentions_wait_level;
use chalice::program::{
    Access, AccessTarget, ChannelId, ClassId, Domain, EvalState, Expr, ExprKind, FunctionId,
    LockMode, Method, PermissionKind, PredicateId, Quantifier, Type,
};
use rustc_hash::FxHashSet;
use sil::program::Member;
use sil::source::Span;
use smt::terms::grow_stack;

use self::many::is_of_mu;
use super::defaults::is_own;
use super::graph::is_result;
use super::many::{has_many, is_to_elements};
use super::table::Invariant;
use super::threads::history::depends_on_the_past;
use super::{Direct, renumbered, span};

/// The first construct without a rule: its place, and words.
type Refused = (Span, &'static str);
type Found = Result<(), Refused>;

/// The needs of a member.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    /// Tells whether `rd` has an amount somewhere.
    pub(super) fractions: bool,
    /// Tells whether permissions are counted.
    pub(super) counts: bool,
}

/// Returns the needs of a member, or its first construct without a rule.
pub(super) fn needs(direct: &Direct, member: Member) -> Result<Needs, Refused> {
    let mut scope = Scope::new(direct);
    scope.member(member)?;
    Ok(Needs { fractions: scope.fractions, counts: scope.counts })
}

/// Tells whether rules exist for the whole meaning of a predicate's instance.
pub(super) fn may_be_opened(direct: &Direct, predicate: sil::program::PredicateId) -> bool {
    Scope::new(direct).member(Member::Predicate(predicate)).is_ok()
}

pub(crate) struct Scope<'d> {
    direct: &'d Direct,
    /// The predicates whose bodies have been checked.
    opened: FxHashSet<PredicateId>,
    /// The classes whose monitor invariants have been checked.
    guarded: FxHashSet<ClassId>,
    /// The functions that have been checked.
    applied: FxHashSet<FunctionId>,
    /// Tells whether this is the body of a predicate, where `rd` is another amount.
    is_in_body: bool,
    /// Tells whether this is a function.
    is_in_function: bool,
    /// Tells whether this is the claim of a monitor invariant about two states.
    is_history: bool,
    /// Tells whether this is the where clause of a channel.
    is_message: bool,
    /// Tells whether this may ask for the wait level beside channels.
    may_ask: bool,
    fractions: bool,
    counts: bool,
}

impl<'d> Scope<'d> {
    fn new(direct: &'d Direct) -> Self {
        Self {
            direct,
            opened: FxHashSet::default(),
            guarded: FxHashSet::default(),
            applied: FxHashSet::default(),
            is_in_body: false,
            is_in_function: false,
            is_history: false,
            is_message: false,
            may_ask: false,
            fractions: false,
            counts: false,
        }
    }

    fn member(&mut self, member: Member) -> Found {
        let direct = self.direct;
        let tree = &direct.tree;
        match member {
            Member::Method(id) => {
                let method = &tree.methods[renumbered(id)];
                self.contract(method)?;
                if direct.options.defaults > 0 {
                    self.own_predicates(method)?;
                }
                self.block(&method.body)
            }
            Member::Predicate(id) => {
                let body = match direct.invariant(id) {
                    Invariant::Predicate(predicate) => std::slice::from_ref(&predicate.body),
                    Invariant::Monitor(id, class) => {
                        return self.invariant(id, class.span);
                    }
                    Invariant::Messages(channel) => {
                        self.is_message = true;
                        channel.where_clause.as_slice()
                    }
                    Invariant::Other(at) => return Err((span(at), "conditions")),
                };
                self.bodies(body)
            }
            Member::Function(id) => self.function(renumbered(id)),
            Member::Field(_) | Member::Domain(_) => Ok(()),
        }
    }

    /// Checks a function that is applied, since its claims matter.
    fn function(&mut self, id: FunctionId) -> Found {
        if !self.applied.insert(id) {
            return Ok(());
        }
        let function = &self.direct.tree.functions[id];
        self.explains_itself(id)?;
        self.asks_once(id)?;
        // Amounts do not matter there.
        let (fractions, is_in_body) = (self.fractions, self.is_in_body);
        let is_in_function = std::mem::replace(&mut self.is_in_function, true);
        self.is_in_body = false;
        let found =
            self.all(function.requires.iter().chain(&function.ensures).chain(&function.body));
        let found =
            found.and_then(|()| self.all(function.decreases.iter().map(|measure| &measure.number)));
        (self.fractions, self.is_in_body) = (fractions, is_in_body);
        self.is_in_function = is_in_function;
        found
    }

    /// Checks that no contract is about the function itself. Neither would be shown before the
    /// other.
    fn explains_itself(&self, id: FunctionId) -> Found {
        let Direct { tree, graph, .. } = self.direct;
        let function = &tree.functions[id];
        for clause in &function.requires {
            if graph.leads_to(tree, clause, id) {
                return Err((span(clause.span), "a function that needs itself to be defined"));
            }
        }
        for clause in &function.ensures {
            let mut parts = Vec::new();
            without_result(tree, id, clause, &mut parts);
            if parts.into_iter().any(|part| graph.leads_to(tree, part, id)) {
                let what = "a function that promises what it has to be defined for";
                return Err((span(clause.span), what));
            }
        }
        Ok(())
    }

    /// Checks that no precondition asks twice for shares of instances that may be one. No rule says
    /// whether less is left when one of them has been opened.
    fn asks_once(&self, id: FunctionId) -> Found {
        let mut seen = FxHashSet::default();
        let mut found = Ok(());
        for clause in &self.direct.tree.functions[id].requires {
            clause.for_each(&mut |part| {
                if let ExprKind::Access(access) = &part.kind
                    && let AccessTarget::Predicate { predicate, .. }
                    | AccessTarget::ElementsPredicate { predicate, .. } = &access.target
                    && access.amount.kind != PermissionKind::Full
                    && !seen.insert(*predicate)
                {
                    found = Err((span(access.span), "a function that asks twice for shares"));
                }
            });
        }
        found
    }

    /// Checks the predicates of `this` that are open in a body.
    fn own_predicates(&mut self, method: &'d Method) -> Found {
        let mut own = Vec::new();
        for clause in method.requires.iter().chain(&method.ensures) {
            clause.for_each(&mut |part| match &part.kind {
                ExprKind::Access(access) if is_own(access) => own.push(access),
                _ => {}
            });
        }
        own.into_iter().try_for_each(|access| self.opening(access))
    }

    /// Checks the contract of a method.
    fn contract(&mut self, method: &'d Method) -> Found {
        self.asking(method.requires.iter().chain(&method.ensures))?;
        self.all(&method.lock_changes)
    }

    /// Checks the monitor of an object.
    fn monitor(&mut self, target: &'d Expr, mode: LockMode) -> Found {
        self.expr(target)?;
        let Type::Class(class) = target.ty else { return Ok(()) };
        if mode == LockMode::Read {
            self.counts = true;
            let opens = |part: &Expr| matches!(part.kind, ExprKind::Unfolding { .. });
            let invariants = &self.direct.tree.classes[class].invariants;
            if invariants.iter().any(|clause| clause.any(&mut |part| opens(part))) {
                return Err((span(target.span), "an invariant for readers that opens instances"));
            }
        }
        if self.guarded.insert(class) {
            self.invariant(class, target.span)?;
        }
        Ok(())
    }

    /// Checks the monitor invariant of a class: its clauses about one state, and those about a
    /// state and an earlier one.
    fn invariant(&mut self, class: ClassId, at: chalice::Span) -> Found {
        let direct = self.direct;
        if depends_on_the_past(&direct.tree.classes[class]) {
            return Err((span(at), "permission that depends on an earlier state"));
        }
        self.bodies(direct.invariants(class))?;
        let outer = std::mem::replace(&mut self.is_history, true);
        let found = self.bodies(direct.history(class));
        self.is_history = outer;
        found
    }

    /// Checks the bodies of predicates and monitors.
    fn bodies(&mut self, bodies: &'d [Expr]) -> Found {
        let outer = std::mem::replace(&mut self.is_in_body, true);
        let found = self.all(bodies);
        self.is_in_body = outer;
        found
    }

    fn all(&mut self, exprs: impl IntoIterator<Item = &'d Expr>) -> Found {
        exprs.into_iter().try_for_each(|expr| self.expr(expr))
    }

    fn expr(&mut self, expr: &'d Expr) -> Found {
        self.part(expr)?;
        let mut found = Ok(());
        expr.for_each_child(&mut |child| {
            if found.is_err() {
                return;
            }
            found = match &child.kind {
                // Numbers in the range of a variable need no sequence.
                ExprKind::Range { from, to } if is_domain(expr, child) => {
                    self.expr(from).and_then(|()| self.expr(to))
                }
                _ => grow_stack(|| self.expr(child)),
            };
        });
        found
    }

    /// Checks an expression without its parts.
    fn part(&mut self, expr: &'d Expr) -> Found {
        let refuse = |what| Err((span(expr.span), what));
        match &expr.kind {
            ExprKind::Old(_) if self.is_in_body && !self.is_history => {
                refuse("`old` where there is no earlier state")
            }
            ExprKind::Old(body) if body.any(&mut is_eval) => refuse("`eval` inside of `old`"),
            ExprKind::Access(_) | ExprKind::Credit { .. }
                if self.has_channels() && mentions_wait_level(expr) =>
            {
                refuse("what depends on `waitlevel`, beside channels")
            }
            ExprKind::Implies { guard: condition, .. }
            | ExprKind::Conditional { condition, .. }
                if self.has_channels() && expr.is_impure() && mentions_wait_level(condition) =>
            {
                refuse("what depends on `waitlevel`, beside channels")
            }
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::This
            | ExprKind::Unary { .. }
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Implies { .. }
            | ExprKind::Conditional { .. }
            | ExprKind::Old(_)
            | ExprKind::Length(_)
            | ExprKind::Seq(_)
            | ExprKind::Set(_)
            | ExprKind::Index { .. } => Ok(()),
            ExprKind::Local(_) => Ok(()),
            ExprKind::FieldRead { .. } | ExprKind::Binary { .. } | ExprKind::LockBottom => Ok(()),
            ExprKind::Unfolding { access, .. } => self.opening(access),
            ExprKind::Access(access) => self.access(access),
            ExprKind::Quantified { quantifier, domain, body, variables } => {
                if body.is_impure() {
                    self.many(expr, variables, body)?;
                }
                if matches!(quantifier, Quantifier::Sum | Quantifier::Max)
                    && (variables.len() > 1 || matches!(domain, Domain::Type(_)))
                {
                    return refuse("`sum` and `max` over several variables or a type");
                }
                match domain {
                    Domain::Type(Type::Int | Type::Bool) => Ok(()),
                    Domain::Type(_) => refuse("quantifiers over all objects"),
                    Domain::Collection(_) => Ok(()),
                }
            }
            ExprKind::Range { .. } | ExprKind::Slice { .. } => Ok(()),
            ExprKind::Apply { function, .. }
                if self.is_in_body && self.direct.locking.is_asking(*function) =>
            {
                refuse("`waitlevel` and `holds` where there is no thread")
            }
            ExprKind::Apply { function, .. } => self.function(*function),
            ExprKind::Result => Ok(()),
            ExprKind::WaitLevel if !self.may_ask && self.has_channels() => {
                refuse("`waitlevel` in what is handed on, beside channels")
            }
            ExprKind::WaitLevel | ExprKind::Holds { .. } if self.is_in_body => {
                refuse("`waitlevel` and `holds` where there is no thread")
            }
            ExprKind::WaitLevel if self.is_in_function => refuse("`waitlevel` in functions"),
            ExprKind::WaitLevel | ExprKind::Holds { .. } => Ok(()),
            ExprKind::BackPointers { .. } | ExprKind::String(_) => Ok(()),
            ExprKind::Assigned(_) => Ok(()),
            // Predicates may be dropped, and monitors kept, so nobody would have to pay their
            // debts.
            ExprKind::Credit { amount: Some(amount), .. }
                if self.is_in_body && !self.is_message && !is_natural(amount) =>
            {
                refuse("a credit in a predicate or monitor that might be a debt")
            }
            ExprKind::Credit { .. } => Ok(()),
            ExprKind::Eval { state, body } => self.earlier(expr, state, body),
        }
    }

    /// Checks an expression about an earlier state.
    ///
    /// SOUNDNESS: predicates, monitors and messages go to other threads, and functions are the same
    /// for all threads. So they may not mention the memory of one thread. The fork of a token may
    /// be mentioned, since the token tells it.
    fn earlier(&self, whole: &Expr, state: &EvalState, body: &Expr) -> Found {
        let refuse = |what| Err((span(whole.span), what));
        let is_fork = matches!(state, EvalState::Fork { .. });
        if is_fork && matches!(body.kind, ExprKind::Bool(true)) {
            return Ok(());
        }
        if self.is_in_body || self.is_in_function {
            return refuse("`eval` in functions and in what is given on");
        }
        if body.any(&mut is_of_thread) || self.direct.locking.mentions_holds(body) {
            return refuse("what else than the heap is said of an earlier state");
        }
        if body.ty != Type::Bool && is_fork {
            return refuse("values before a fork");
        }
        if has_many(body) {
            return refuse("what is said of many locations in an earlier state");
        }
        match state {
            EvalState::Acquire(object) | EvalState::Release(object)
                if !matches!(object.ty, Type::Class(_)) =>
            {
                refuse("states of what is no object")
            }
            _ => Ok(()),
        }
    }

    fn access(&mut self, access: &'d Access) -> Found {
        let refuse = |at: chalice::Span, what| Err((span(at), what));
        match &access.target {
            AccessTarget::ElementsField { .. } if is_of_mu(access) => {
                return refuse(access.span, "levels of many objects");
            }
            AccessTarget::Field { .. }
            | AccessTarget::Predicate { .. }
            | AccessTarget::AllFields { .. }
            | AccessTarget::ElementsField { .. }
            | AccessTarget::ElementsPredicate { .. }
            | AccessTarget::ElementsAllFields { .. }
            | AccessTarget::BackPointers { .. } => {}
        }
        if is_to_elements(access) {
            self.leaves_many(access.span)?;
        }
        access.amount.for_each_amount(&mut |kind| match kind {
            PermissionKind::Full
            | PermissionKind::Percentage(_)
            | PermissionKind::PredicateRead(_)
            | PermissionKind::MonitorRead(_)
            | PermissionKind::ChannelRead(_)
            | PermissionKind::TokenRead(_)
            | PermissionKind::Add(..)
            | PermissionKind::Sub(..)
            | PermissionKind::Star
            | PermissionKind::Scale { .. } => {}
            PermissionKind::AbstractRead => self.fractions = true,
            PermissionKind::Epsilons(_) => self.counts = true,
        });
        Ok(())
    }

    /// Checks an instance that is opened or made, since the meaning of its predicate matters.
    fn opening(&mut self, access: &'d Access) -> Found {
        self.access(access)?;
        // Credits move only with a whole instance.
        if let AccessTarget::Predicate { predicate, .. } = access.target
            && access.amount.kind != PermissionKind::Full
            && self.direct.tree.predicates[predicate].body.any(&mut is_credit)
        {
            return Err((span(access.span), "a share of a predicate with credits"));
        }
        let AccessTarget::Predicate { predicate, .. } = access.target else {
            return Err((span(access.span), "an instance of no predicate"));
        };
        if self.opened.insert(predicate) {
            self.bodies(std::slice::from_ref(&self.direct.tree.predicates[predicate].body))?;
        }
        Ok(())
    }

    fn has_tracked(&self, class: ClassId) -> bool {
        let mut fields = self.direct.tree.classes[class].fields();
        fields.any(|field| self.direct.tree.fields[field].is_tracked)
    }

    fn has_channels(&self) -> bool {
        !self.direct.tree.channels.is_empty()
    }

    /// Checks expressions that may ask for the wait level beside channels: contracts, claims,
    /// assumptions, and executed expressions. No other expression may.
    ///
    /// SOUNDNESS: the debts of a method's callers count for the wait level, too, and the method
    /// does not know them.
    fn asking(&mut self, exprs: impl IntoIterator<Item = &'d Expr>) -> Found {
        let outer = std::mem::replace(&mut self.may_ask, true);
        let found = self.all(exprs);
        self.may_ask = outer;
        found
    }

    /// Checks an executed expression. An earlier wait level is no value of the program, so only
    /// claims may ask for it.
    fn executed(&mut self, expr: &'d Expr) -> Found {
        if self.has_channels() && expr.any(&mut is_old_wait_level) {
            return Err((span(expr.span), "earlier wait levels in what is executed"));
        }
        self.asking([expr])
    }

    /// Checks the messages of a channel.
    fn messages(&mut self, channel: ChannelId) -> Found {
        let outer = std::mem::replace(&mut self.is_message, true);
        let found = self.bodies(self.direct.tree.channels[channel].where_clause.as_slice());
        self.is_message = outer;
        found
    }
}

/// Collects the applications and instances in a postcondition, except applications of the function
/// itself that are its result.
fn without_result<'e>(
    tree: &chalice::Program,
    id: FunctionId,
    expr: &'e Expr,
    to: &mut Vec<&'e Expr>,
) {
    match &expr.kind {
        // Applications inside have another heap.
        ExprKind::Unfolding { .. } => to.push(expr),
        ExprKind::Apply { .. } if is_result(tree, id, expr) => {}
        ExprKind::Apply { .. } => to.push(expr),
        _ => expr.for_each_child(&mut |part| grow_stack(|| without_result(tree, id, part, to))),
    }
}

/// Tells whether an expression is the range of a quantifier's variables.
fn is_domain(quantified: &Expr, part: &Expr) -> bool {
    matches!(
        &quantified.kind,
        ExprKind::Quantified { domain: Domain::Collection(domain), .. }
            if std::ptr::eq(&raw const **domain, part)
    )
}

fn is_of_acquire(expr: &Expr) -> bool {
    let ExprKind::Eval { state, .. } = &expr.kind else { return false };
    matches!(**state, EvalState::Acquire(_))
}

fn is_eval(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Eval { .. })
}

/// Tells whether an expression is about a thread, or about yet another state.
fn is_of_thread(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Old(_) | ExprKind::Eval { .. } | ExprKind::WaitLevel | ExprKind::Credit { .. }
    )
}

fn is_credit(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Credit { .. })
}

fn is_old_wait_level(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Old(body) if mentions_wait_level(body))
}

/// Tells whether an expression is a literal that is not negative.
fn is_natural(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Int(value) if *value >= 0.into())
}

/// Tells whether an expression has a range that is not the range of a variable.
fn has_range(expr: &Expr) -> bool {
    let mut has = false;
    expr.for_each_child(&mut |child| {
        has |= matches!(child.kind, ExprKind::Range { .. }) && !is_domain(expr, child);
    });
    has
}
