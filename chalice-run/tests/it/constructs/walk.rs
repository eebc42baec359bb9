//! Names for all constructs of Chalice, and a walk that meets them.

use chalice::Span;
use chalice::program::{
    Access, AccessTarget, BinaryOp, Block, Bounds, Domain, EvalState, Expr, ExprKind, FieldRef,
    Function, LockMode, Permission, PermissionKind, Program, Quantifier, Rhs, Stmt, StmtKind, Type,
    UnaryOp,
};

/// All names that [`Walk`] has for constructs.
pub(super) const ALL: &[&str] = &[
    "assert",
    "assume",
    "block",
    "declare",
    "assign local",
    "assign field",
    "specification",
    "call",
    "fork",
    "join",
    "if",
    "while",
    "share",
    "reorder",
    "unshare",
    "acquire",
    "rd acquire",
    "release",
    "rd release",
    "lock",
    "rd lock",
    "downgrade",
    "free",
    "fold",
    "unfold",
    "send",
    "receive",
    "wait",
    "signal",
    "signal forall",
    "new",
    "new channel",
    "bounds",
    "integer",
    "truth value",
    "null",
    "string",
    "this",
    "result",
    "waitlevel",
    "lockbottom",
    "local",
    "field",
    "mu",
    "joinable",
    "apply",
    "not",
    "negate",
    "<==>",
    "==",
    "!=",
    "<",
    "<=",
    ">=",
    ">",
    "<<",
    "in",
    "!in",
    "+",
    "-",
    "*",
    "/",
    "%",
    "++",
    "union",
    "difference",
    "intersection",
    "proper subset",
    "subset",
    "superset",
    "proper superset",
    "and",
    "or",
    "implies",
    "conditional",
    "old",
    "unfolding",
    "length",
    "sequence",
    "set",
    "range",
    "index",
    "slice",
    "forall in collection",
    "exists in collection",
    "sum",
    "max",
    "forall int",
    "exists int",
    "forall bool",
    "forall class",
    "back pointers",
    "holds",
    "rd holds",
    "assigned",
    "access",
    "credit",
    "eval acquire",
    "eval release",
    "eval fork",
    "acc field",
    "acc mu",
    "acc joinable",
    "acc predicate",
    "acc all fields",
    "acc elements",
    "acc elements predicate",
    "acc elements all fields",
    "acc back pointers",
    "full",
    "percentage",
    "rd",
    "rd(n)",
    "rd*",
    "rd(predicate)",
    "rd(monitor)",
    "rd(channel)",
    "rd(token)",
    "amount +",
    "amount -",
    "amount *",
    "invariant",
    "where",
    "predicate",
    "function",
    "static function",
    "function without body",
    "function ensures",
    "lockchange",
    "ghost field",
    "tracked field",
    "ghost local",
    "ghost constant",
];

/// Names constructs with the places where they are.
pub(super) struct Walk<'w> {
    pub(super) visit: &'w mut dyn FnMut(&'static str, Span),
    pub(super) program: &'w Program,
}

impl Walk<'_> {
    fn see(&mut self, name: &'static str, span: Span) {
        assert!(ALL.contains(&name), "{name} is not listed");
        (self.visit)(name, span);
    }

    fn block(&mut self, block: &Block) {
        block.stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let span = stmt.span;
        let name = match &stmt.kind {
            StmtKind::Assert(e) => {
                self.expr(e);
                "assert"
            }
            StmtKind::Prove(obligation) => {
                self.expr(&obligation.claim);
                "assert"
            }
            StmtKind::Assume(e) => {
                self.expr(e);
                "assume"
            }
            StmtKind::Block(block) => {
                self.block(block);
                "block"
            }
            StmtKind::Declare { local, value } => {
                let local = &self.program.locals[*local];
                match (local.is_ghost, local.is_const) {
                    (true, true) => self.see("ghost constant", span),
                    (true, false) => self.see("ghost local", span),
                    (false, _) => {}
                }
                value.iter().for_each(|value| self.rhs(value));
                "declare"
            }
            StmtKind::AssignLocal { local, value, .. } => {
                if self.program.locals[*local].is_const {
                    self.see("ghost constant", span);
                }
                self.rhs(value);
                "assign local"
            }
            StmtKind::AssignField { receiver, field, value, .. } => {
                let field = &self.program.fields[*field];
                if field.is_ghost {
                    self.see("ghost field", span);
                }
                if field.is_tracked {
                    self.see("tracked field", span);
                }
                self.expr(receiver);
                self.rhs(value);
                "assign field"
            }
            StmtKind::Specification { pre, post, .. } => {
                pre.iter().for_each(|pre| self.expr(pre));
                self.expr(post);
                "specification"
            }
            StmtKind::Call { receiver, arguments, .. } => {
                self.expr(receiver);
                arguments.iter().for_each(|argument| self.expr(argument));
                "call"
            }
            StmtKind::Fork { receiver, arguments, .. } => {
                self.expr(receiver);
                arguments.iter().for_each(|argument| self.expr(argument));
                "fork"
            }
            StmtKind::Join { token, .. } => {
                self.expr(token);
                "join"
            }
            StmtKind::If { arms, otherwise } => {
                for arm in arms {
                    self.expr(&arm.condition);
                    self.block(&arm.body);
                }
                otherwise.iter().for_each(|block| self.block(block));
                "if"
            }
            StmtKind::While { guard, invariants, lock_changes, body, .. } => {
                self.expr(guard);
                invariants.iter().chain(lock_changes).for_each(|e| self.expr(e));
                if !lock_changes.is_empty() {
                    self.see("lockchange", span);
                }
                self.block(body);
                "while"
            }
            StmtKind::Share { target, bounds } => {
                self.expr(target);
                self.bounds(bounds);
                self.invariant_of(target, span);
                "share"
            }
            StmtKind::Reorder { target, bounds } => {
                self.expr(target);
                self.bounds(bounds);
                "reorder"
            }
            StmtKind::Unshare(target) => {
                self.expr(target);
                "unshare"
            }
            StmtKind::Acquire { target, mode } => {
                self.expr(target);
                by_mode(*mode, "acquire", "rd acquire")
            }
            StmtKind::Release { target, mode } => {
                self.expr(target);
                self.invariant_of(target, span);
                by_mode(*mode, "release", "rd release")
            }
            StmtKind::Lock { target, mode, body } => {
                self.expr(target);
                self.block(body);
                by_mode(*mode, "lock", "rd lock")
            }
            StmtKind::Downgrade(target) => {
                self.expr(target);
                "downgrade"
            }
            StmtKind::Free(target) => {
                self.expr(target);
                "free"
            }
            StmtKind::Fold(access) => {
                self.access(access);
                self.see("predicate", span);
                "fold"
            }
            StmtKind::Unfold(access) => {
                self.access(access);
                "unfold"
            }
            StmtKind::Send { channel, declaration, arguments } => {
                if self.program.channels[*declaration].where_clause.is_some() {
                    self.see("where", span);
                }
                self.expr(channel);
                arguments.iter().for_each(|argument| self.expr(argument));
                "send"
            }
            StmtKind::Receive { channel, .. } => {
                self.expr(channel);
                "receive"
            }
            StmtKind::Wait(_) => "wait",
            StmtKind::Signal(_) => "signal",
            StmtKind::SignalAll(_) => "signal forall",
        };
        self.see(name, span);
    }

    /// Counts an invariant where it is used, since a declaration goes wrong there.
    fn invariant_of(&mut self, target: &Expr, span: Span) {
        if let Type::Class(class) = &target.ty
            && !self.program.classes[*class].invariants.is_empty()
        {
            self.see("invariant", span);
        }
    }

    fn rhs(&mut self, rhs: &Rhs) {
        match rhs {
            Rhs::Expr(e) => self.expr(e),
            Rhs::New { initialisers, span, .. } => {
                initialisers.iter().for_each(|one| self.expr(&one.value));
                self.see("new", *span);
            }
            Rhs::NewChannel { bounds, span, .. } => {
                self.bounds(bounds);
                self.see("new channel", *span);
            }
        }
    }

    fn bounds(&mut self, bounds: &Bounds) {
        for bound in bounds.lower.iter().chain(&bounds.upper) {
            self.see("bounds", bound.span);
            self.expr(bound);
        }
    }

    fn expr(&mut self, e: &Expr) {
        let span = e.span;
        let name = match &e.kind {
            ExprKind::Int(_) => "integer",
            ExprKind::Bool(_) => "truth value",
            ExprKind::Null => "null",
            ExprKind::String(_) => "string",
            ExprKind::This => "this",
            ExprKind::Result => "result",
            ExprKind::WaitLevel => "waitlevel",
            ExprKind::LockBottom => "lockbottom",
            ExprKind::Local(_) => "local",
            ExprKind::FieldRead { field, .. } => match field {
                FieldRef::Declared(_) => "field",
                FieldRef::Mu => "mu",
                FieldRef::Joinable => "joinable",
            },
            ExprKind::Apply { function, .. } => {
                self.see(function_kind(&self.program.functions[*function]), span);
                "apply"
            }
            ExprKind::Unary { op: UnaryOp::Not, .. } => "not",
            ExprKind::Unary { op: UnaryOp::Negate, .. } => "negate",
            ExprKind::Binary { op, .. } => binary(*op),
            ExprKind::And(_) => "and",
            ExprKind::Or(_) => "or",
            ExprKind::Implies { .. } => "implies",
            ExprKind::Conditional { .. } => "conditional",
            ExprKind::Old(_) => "old",
            ExprKind::Unfolding { access, .. } => {
                self.amount(&access.amount, span);
                "unfolding"
            }
            ExprKind::Length(_) => "length",
            ExprKind::Seq(_) => "sequence",
            ExprKind::Set(_) => "set",
            ExprKind::Range { .. } => "range",
            ExprKind::Index { .. } => "index",
            ExprKind::Slice { .. } => "slice",
            ExprKind::Quantified { quantifier, domain, .. } => match (quantifier, domain) {
                (Quantifier::Sum, _) => "sum",
                (Quantifier::Max, _) => "max",
                (Quantifier::Forall, Domain::Collection(_)) => "forall in collection",
                (Quantifier::Exists, Domain::Collection(_)) => "exists in collection",
                (Quantifier::Forall, Domain::Type(Type::Bool)) => "forall bool",
                (Quantifier::Forall, Domain::Type(Type::Class(_))) => "forall class",
                (Quantifier::Forall, Domain::Type(_)) => "forall int",
                (Quantifier::Exists, Domain::Type(_)) => "exists int",
            },
            ExprKind::BackPointers { .. } => "back pointers",
            ExprKind::Holds { mode, .. } => by_mode(*mode, "holds", "rd holds"),
            ExprKind::Assigned(_) => "assigned",
            ExprKind::Access(access) => {
                self.see(target(access), span);
                self.amount(&access.amount, span);
                "access"
            }
            ExprKind::Credit { .. } => "credit",
            ExprKind::Eval { state, .. } => match **state {
                EvalState::Acquire(_) => "eval acquire",
                EvalState::Release(_) => "eval release",
                EvalState::Fork { .. } => "eval fork",
            },
        };
        self.see(name, span);
        let mut children = Vec::new();
        e.for_each_child(&mut |child| children.push(child));
        children.into_iter().for_each(|child| self.expr(child));
    }

    /// Counts the access of a statement.
    fn access(&mut self, access: &Access) {
        self.amount(&access.amount, access.span);
        let mut children = Vec::new();
        access.for_each_child(&mut |child| children.push(child));
        children.into_iter().for_each(|child| self.expr(child));
    }

    fn amount(&mut self, amount: &Permission, span: Span) {
        amount.for_each_amount(&mut |kind| {
            let name = match kind {
                PermissionKind::Full => "full",
                PermissionKind::Percentage(_) => "percentage",
                PermissionKind::AbstractRead => "rd",
                PermissionKind::Epsilons(_) => "rd(n)",
                PermissionKind::Star => "rd*",
                PermissionKind::PredicateRead(_) => "rd(predicate)",
                PermissionKind::MonitorRead(_) => "rd(monitor)",
                PermissionKind::ChannelRead(_) => "rd(channel)",
                PermissionKind::TokenRead(_) => "rd(token)",
                PermissionKind::Add(..) => "amount +",
                PermissionKind::Sub(..) => "amount -",
                PermissionKind::Scale { .. } => "amount *",
            };
            self.see(name, span);
        });
    }

    /// Counts the parts that belong to no method.
    pub(super) fn declarations(&mut self) {
        let program = self.program;
        for class in program.classes.values() {
            for invariant in &class.invariants {
                self.see("invariant", invariant.span);
                self.expr(invariant);
            }
        }
        for channel in program.channels.values() {
            if let Some(clause) = &channel.where_clause {
                self.see("where", clause.span);
                self.expr(clause);
            }
        }
        for predicate in program.predicates.values() {
            self.see("predicate", predicate.span);
            self.expr(&predicate.body);
        }
        for function in program.functions.values() {
            self.see(function_kind(function), function.span);
            for clause in &function.ensures {
                self.see("function ensures", clause.span);
            }
            function.requires.iter().chain(&function.ensures).for_each(|e| self.expr(e));
            function.body.iter().for_each(|body| self.expr(body));
        }
        for field in program.fields.values() {
            if field.is_ghost {
                self.see("ghost field", field.span);
            }
            if field.is_tracked {
                self.see("tracked field", field.span);
            }
        }
    }

    pub(super) fn method(&mut self, method: &chalice::program::Method) {
        method.requires.iter().chain(&method.ensures).for_each(|e| self.expr(e));
        if !method.lock_changes.is_empty() {
            self.see("lockchange", method.span);
        }
        method.lock_changes.iter().for_each(|e| self.expr(e));
        self.block(&method.body);
    }
}

fn function_kind(function: &Function) -> &'static str {
    match (&function.body, function.is_static) {
        (None, _) => "function without body",
        (Some(_), true) => "static function",
        (Some(_), false) => "function",
    }
}

fn by_mode(mode: LockMode, write: &'static str, read: &'static str) -> &'static str {
    match mode {
        LockMode::Write => write,
        LockMode::Read => read,
    }
}

fn target(access: &Access) -> &'static str {
    match &access.target {
        AccessTarget::Field { field: FieldRef::Declared(_), .. } => "acc field",
        AccessTarget::Field { field: FieldRef::Mu, .. } => "acc mu",
        AccessTarget::Field { field: FieldRef::Joinable, .. } => "acc joinable",
        AccessTarget::Predicate { .. } => "acc predicate",
        AccessTarget::AllFields { .. } => "acc all fields",
        AccessTarget::ElementsField { .. } => "acc elements",
        AccessTarget::ElementsPredicate { .. } => "acc elements predicate",
        AccessTarget::ElementsAllFields { .. } => "acc elements all fields",
        AccessTarget::BackPointers { .. } => "acc back pointers",
    }
}

fn binary(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Iff => "<==>",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Less => "<",
        BinaryOp::AtMost => "<=",
        BinaryOp::AtLeast => ">=",
        BinaryOp::Greater => ">",
        BinaryOp::Below => "<<",
        BinaryOp::In => "in",
        BinaryOp::NotIn => "!in",
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Mod => "%",
        BinaryOp::Append => "++",
        BinaryOp::Union => "union",
        BinaryOp::Difference => "difference",
        BinaryOp::Intersection => "intersection",
        BinaryOp::ProperSubset => "proper subset",
        BinaryOp::Subset => "subset",
        BinaryOp::Superset => "superset",
        BinaryOp::ProperSuperset => "proper superset",
    }
}
