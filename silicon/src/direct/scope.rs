//! What the rules know: a member is looked through before it is executed, with all whose meaning it needs.
//!
//! SOUNDNESS: patterns name what is supported; all else is not.

use chalice::program::{
    Access, AccessTarget, Block, ClassId, Domain, EvalState, Expr, ExprKind, FieldRef, FunctionId,
    LocalKind, LockMode, Method, PermissionKind, PredicateId, Quantifier, Rhs, Stmt, StmtKind,
    Type,
};
use rustc_hash::FxHashSet;
use sil::program::Member;
use sil::source::Span;
use smt::terms::grow_stack;

use super::graph::is_result;
use super::table::Invariant;
use super::{Direct, is_pure, renumbered, span};

/// The first construct that no rule knows, and where it stands.
type Refused = (Span, &'static str);
type Found = Result<(), Refused>;

/// What a member needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    /// Whether `rd` stands for an amount somewhere.
    pub(super) fractions: bool,
    /// Whether permissions are counted.
    pub(super) counts: bool,
}

/// What a member needs, or the first construct it needs that no rule knows.
pub(super) fn needs(direct: &Direct, member: Member) -> Result<Needs, Refused> {
    let mut scope = Scope {
        direct,
        opened: FxHashSet::default(),
        guarded: FxHashSet::default(),
        applied: FxHashSet::default(),
        is_in_body: false,
        fractions: false,
        counts: false,
        any_amount: None,
    };
    scope.member(member)?;
    if let (true, Some(at)) = (scope.counts, scope.any_amount) {
        return Err((span(at), "shares and `rd*` where permissions are counted"));
    }
    Ok(Needs { fractions: scope.fractions, counts: scope.counts })
}

fn refuse_if(direct: &Direct, at: chalice::Span) -> Found {
    direct.refused.map_or(Ok(()), |what| Err((span(at), what)))
}

struct Scope<'d> {
    direct: &'d Direct,
    /// The predicates whose bodies have been looked through.
    opened: FxHashSet<PredicateId>,
    /// The classes whose monitor invariants have been looked through.
    guarded: FxHashSet<ClassId>,
    /// The functions that have been looked through.
    applied: FxHashSet<FunctionId>,
    /// Whether this is the body of a predicate, where `rd` is another amount.
    is_in_body: bool,
    fractions: bool,
    counts: bool,
    /// Where some positive amount is meant.
    any_amount: Option<chalice::Span>,
}

impl<'d> Scope<'d> {
    fn member(&mut self, member: Member) -> Found {
        let direct = self.direct;
        let tree = &direct.tree;
        match member {
            Member::Method(id) => {
                let method = &tree.methods[renumbered(id)];
                refuse_if(direct, method.span)?;
                self.contract(method)?;
                self.block(&method.body)
            }
            Member::Predicate(id) => {
                let (at, body) = match direct.invariant(id) {
                    Invariant::Predicate(predicate) => {
                        (predicate.span, std::slice::from_ref(&predicate.body))
                    }
                    Invariant::Monitor(class) => (class.span, &*class.invariants),
                    Invariant::Other(at) => {
                        return Err((span(at), "channels and conditions"));
                    }
                };
                refuse_if(direct, at)?;
                self.bodies(body)
            }
            Member::Function(id) => {
                refuse_if(direct, tree.functions[renumbered(id)].span)?;
                self.function(renumbered(id))
            }
            Member::Field(_) | Member::Domain(_) => Ok(()),
        }
    }

    /// A function that is applied: what it says of itself matters.
    fn function(&mut self, id: FunctionId) -> Found {
        if !self.applied.insert(id) {
            return Ok(());
        }
        let tree = &self.direct.tree;
        let function = &tree.functions[id];
        let module = &tree.classes[function.class].module;
        if tree.classes.iter().any(|(_, class)| class.module != *module) {
            return Err((span(function.span), "functions of several modules"));
        }
        self.explains_itself(id)?;
        self.asks_once(id)?;
        // Amounts mean nothing there.
        let (fractions, is_in_body) = (self.fractions, self.is_in_body);
        self.is_in_body = false;
        let found =
            self.all(function.requires.iter().chain(&function.ensures).chain(&function.body));
        (self.fractions, self.is_in_body) = (fractions, is_in_body);
        found
    }

    /// No contract is about the function itself: neither would be shown before the other.
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

    /// No precondition asks twice for shares of instances that may be one: whether less is left when one of them has been opened,
    /// no rule says.
    fn asks_once(&self, id: FunctionId) -> Found {
        let mut seen = FxHashSet::default();
        let mut found = Ok(());
        for clause in &self.direct.tree.functions[id].requires {
            clause.for_each(&mut |part| {
                if let ExprKind::Access(access) = &part.kind
                    && let AccessTarget::Predicate { predicate, .. } = &access.target
                    && access.amount.kind != PermissionKind::Full
                    && !seen.insert(*predicate)
                {
                    found = Err((span(access.span), "a function that asks twice for shares"));
                }
            });
        }
        found
    }

    /// The contract of a method.
    fn contract(&mut self, method: &'d Method) -> Found {
        self.all(method.requires.iter().chain(&method.ensures).chain(&method.lock_changes))
    }

    /// What the monitor of an object keeps.
    fn monitor(&mut self, target: &'d Expr) -> Found {
        self.expr(target)?;
        let Type::Class(class) = target.ty else { return Ok(()) };
        if self.guarded.insert(class) {
            self.bodies(&self.direct.tree.classes[class].invariants)?;
        }
        Ok(())
    }

    /// The bodies of predicates and monitors.
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
                // Numbers that a variable ranges over need no sequence.
                ExprKind::Range { from, to } if is_domain(expr, child) => {
                    self.expr(from).and_then(|()| self.expr(to))
                }
                _ => grow_stack(|| self.expr(child)),
            };
        });
        found
    }

    /// An expression, not looking at those in it.
    fn part(&mut self, expr: &'d Expr) -> Found {
        let refuse = |what| Err((span(expr.span), what));
        match &expr.kind {
            ExprKind::Old(_) if self.is_in_body => refuse("invariants about two states"),
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
            ExprKind::Local(local) => {
                let local = &self.direct.tree.locals[*local];
                let is_promised = local.is_const && local.kind == LocalKind::Variable;
                if is_promised && local.is_ghost { refuse("ghost constants") } else { Ok(()) }
            }
            ExprKind::FieldRead { .. } | ExprKind::Binary { .. } | ExprKind::LockBottom => Ok(()),
            ExprKind::Unfolding { access, .. } => self.opening(access),
            ExprKind::Access(access) => self.access(access),
            ExprKind::Quantified { quantifier, domain, body, .. } => {
                if !is_pure(body) {
                    return refuse("permissions below quantifiers");
                }
                if matches!(quantifier, Quantifier::Sum | Quantifier::Max) {
                    return refuse("`sum` and `max`");
                }
                match domain {
                    Domain::Type(Type::Int | Type::Bool) => Ok(()),
                    Domain::Type(_) => refuse("quantifiers over all objects"),
                    Domain::Collection(_) => Ok(()),
                }
            }
            ExprKind::Range { .. } => refuse("ranges"),
            ExprKind::Slice { .. } => refuse("parts of sequences"),
            ExprKind::Apply { function, .. } => self.function(*function),
            ExprKind::Result => Ok(()),
            ExprKind::String(_) => refuse("texts"),
            ExprKind::WaitLevel => self.of_thread(expr),
            ExprKind::Holds { mode: LockMode::Write, .. } => self.of_thread(expr),
            ExprKind::BackPointers { .. } => refuse("back pointers"),
            ExprKind::Holds { .. } => refuse("locks for reading"),
            ExprKind::Assigned(_) => refuse("`assigned`"),
            ExprKind::Credit { .. } => refuse("`credit`"),
            ExprKind::Eval { state, body } => match (&**state, &body.kind) {
                (EvalState::Fork { .. }, ExprKind::Bool(true)) => Ok(()),
                _ => refuse("`eval`"),
            },
        }
    }

    fn access(&mut self, access: &'d Access) -> Found {
        let refuse = |at: chalice::Span, what| Err((span(at), what));
        match &access.target {
            AccessTarget::Field { field: FieldRef::Declared(field), .. } => {
                if self.direct.tree.fields[*field].is_tracked {
                    return refuse(access.span, "back pointers");
                }
            }
            AccessTarget::Predicate { .. } | AccessTarget::Field { .. } => {}
            AccessTarget::AllFields { class, .. } => {
                if self.has_tracked(*class) {
                    return refuse(access.span, "back pointers");
                }
            }
            AccessTarget::ElementsField { .. }
            | AccessTarget::ElementsPredicate { .. }
            | AccessTarget::ElementsAllFields { .. } => {
                return refuse(access.span, "permission to many locations");
            }
            AccessTarget::BackPointers { .. } => return refuse(access.span, "back pointers"),
        }
        let mut is_literal = true;
        access.amount.for_each_amount(&mut |kind| match kind {
            PermissionKind::Full
            | PermissionKind::Percentage(_)
            | PermissionKind::PredicateRead(_)
            | PermissionKind::MonitorRead(_)
            | PermissionKind::ChannelRead(_)
            | PermissionKind::TokenRead(_)
            | PermissionKind::Add(..)
            | PermissionKind::Sub(..)
            | PermissionKind::Scale { .. } => {}
            PermissionKind::AbstractRead => self.fractions = true,
            PermissionKind::Epsilons(count) => {
                self.counts = true;
                is_literal &= matches!(count.kind, ExprKind::Int(_));
            }
            PermissionKind::Star => self.any_amount = Some(access.amount.span),
        });
        if !is_literal {
            return refuse(access.amount.span, "counts of permissions that are no literals");
        }
        if self.is_in_body && self.counts {
            return refuse(access.amount.span, "permissions that are counted in predicates");
        }
        Ok(())
    }

    /// An instance that is opened or made: what its predicate means matters.
    fn opening(&mut self, access: &'d Access) -> Found {
        self.access(access)?;
        // SOUNDNESS: a share of a counting permission is none, so where permissions are counted instances stay whole.
        if access.amount.kind != PermissionKind::Full {
            self.any_amount = Some(access.amount.span);
        }
        let AccessTarget::Predicate { predicate, .. } = access.target else {
            return Err((span(access.span), "an instance of no predicate"));
        };
        if self.opened.insert(predicate) {
            self.bodies(std::slice::from_ref(&self.direct.tree.predicates[predicate].body))?;
        }
        Ok(())
    }

    fn block(&mut self, block: &'d Block) -> Found {
        block.stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &'d Stmt) -> Found {
        let refuse = |what| Err((span(stmt.span), what));
        match &stmt.kind {
            StmtKind::Assert(expr) => self.expr(expr),
            // Of what is assumed, ranges are assumed to be in order.
            StmtKind::Assume(expr) if expr.any(&mut is_range) => refuse("ranges"),
            StmtKind::Assume(expr) if is_pure(expr) => self.expr(expr),
            StmtKind::Assume(_) => refuse("permissions that are assumed"),
            StmtKind::Block(block) => self.block(block),
            StmtKind::Declare { local, value } => {
                let local = &self.direct.tree.locals[*local];
                if local.is_const && local.is_ghost {
                    return refuse("ghost constants");
                }
                value.iter().try_for_each(|value| self.value(value))
            }
            StmtKind::AssignLocal { local, value, .. } => {
                if self.direct.tree.locals[*local].is_const {
                    return refuse("ghost constants");
                }
                self.value(value)
            }
            StmtKind::AssignField { receiver, field, value, .. } => {
                if self.direct.tree.fields[*field].is_tracked {
                    return refuse("back pointers");
                }
                self.expr(receiver)?;
                self.value(value)
            }
            StmtKind::Call { receiver, method, arguments, .. } => {
                self.expr(receiver)?;
                self.all(arguments)?;
                self.contract(&self.direct.tree.methods[*method])
            }
            StmtKind::If { arms, otherwise } => {
                for arm in arms {
                    self.expr(&arm.condition)?;
                    self.block(&arm.body)?;
                }
                otherwise.iter().try_for_each(|block| self.block(block))
            }
            StmtKind::While { guard, invariants, lock_changes, body } => {
                self.expr(guard)?;
                self.all(invariants.iter().chain(lock_changes))?;
                self.block(body)
            }
            StmtKind::Fold(access) | StmtKind::Unfold(access) => {
                if let AccessTarget::Predicate { receiver, .. } = &access.target {
                    self.expr(receiver)?;
                }
                let mut parts = Vec::new();
                access.amount.for_each_child(&mut |part| parts.push(part));
                self.all(parts)?;
                self.opening(access)
            }
            StmtKind::Specification { .. } => refuse("specification statements"),
            StmtKind::Fork { receiver, method, arguments, .. } => {
                self.expr(receiver)?;
                self.all(arguments)?;
                self.contract(&self.direct.tree.methods[*method])
            }
            StmtKind::Join { token, method, .. } => {
                self.expr(token)?;
                self.contract(&self.direct.tree.methods[*method])
            }
            StmtKind::Acquire { mode: LockMode::Read, .. }
            | StmtKind::Release { mode: LockMode::Read, .. }
            | StmtKind::Lock { mode: LockMode::Read, .. }
            | StmtKind::Downgrade(_) => refuse("locks for reading"),
            StmtKind::Acquire { target, .. } | StmtKind::Release { target, .. } => {
                self.monitor(target)
            }
            StmtKind::Lock { target, body, .. } => {
                self.monitor(target)?;
                self.block(body)
            }
            StmtKind::Share { target, bounds } => {
                self.monitor(target)?;
                self.all(bounds.lower.iter().chain(&bounds.upper))
            }
            StmtKind::Reorder { target, bounds } => {
                self.expr(target)?;
                self.all(bounds.lower.iter().chain(&bounds.upper))
            }
            StmtKind::Unshare(target) => self.expr(target),
            StmtKind::Free(target) => {
                if let Type::Class(class) = target.ty
                    && self.has_tracked(class)
                {
                    return refuse("back pointers");
                }
                self.expr(target)
            }
            StmtKind::Send { .. } | StmtKind::Receive { .. } => refuse("channels"),
            StmtKind::Wait(_) | StmtKind::Signal(_) | StmtKind::SignalAll(_) => {
                refuse("conditions")
            }
        }
    }

    fn has_tracked(&self, class: ClassId) -> bool {
        let mut fields = self.direct.tree.classes[class].fields();
        fields.any(|field| self.direct.tree.fields[field].is_tracked)
    }

    /// What depends on the locks of a thread.
    ///
    /// SOUNDNESS: what a method's callers owe on channels counts for the wait level, too, and so do its own debts.
    fn of_thread(&self, expr: &Expr) -> Found {
        if self.is_in_body {
            return Err((span(expr.span), "`waitlevel` and `holds` where there is no thread"));
        }
        if !self.direct.tree.channels.is_empty() {
            return Err((span(expr.span), "locks beside channels"));
        }
        Ok(())
    }

    fn value(&mut self, value: &'d Rhs) -> Found {
        match value {
            Rhs::Expr(expr) => self.expr(expr),
            Rhs::New { class, initialisers, span: at } => {
                if self.has_tracked(*class) {
                    return Err((span(*at), "back pointers"));
                }
                self.all(initialisers.iter().map(|one| &one.value))
            }
            Rhs::NewChannel { span: at, .. } => Err((span(*at), "channels")),
        }
    }
}

/// The applications and instances in a postcondition, but for the function itself where that is its result.
fn without_result<'e>(
    tree: &chalice::Program,
    id: FunctionId,
    expr: &'e Expr,
    to: &mut Vec<&'e Expr>,
) {
    match &expr.kind {
        // What is applied there has another heap to look at.
        ExprKind::Unfolding { .. } => to.push(expr),
        ExprKind::Apply { .. } if is_result(tree, id, expr) => {}
        ExprKind::Apply { .. } => to.push(expr),
        _ => expr.for_each_child(&mut |part| grow_stack(|| without_result(tree, id, part, to))),
    }
}

/// Whether an expression is what the variables of a quantifier range over.
fn is_domain(quantified: &Expr, part: &Expr) -> bool {
    matches!(
        &quantified.kind,
        ExprKind::Quantified { domain: Domain::Collection(domain), .. }
            if std::ptr::eq(&raw const **domain, part)
    )
}

fn is_range(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Range { .. })
}
