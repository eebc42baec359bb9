//! Visiting resolved programs: expressions, statements, and the facts that several passes ask of
//! them.
//!
//! Invariants
//! - The walks keep their own worklist, so that neither long nor deep programs need a deep stack.
//! - The order is pre-order, left to right as written.

use std::collections::BTreeSet;

use crate::program::{
    Block, Body, Decreases, DecreasesKind, DomainFunctionId, Expr, ExprKind, FieldId, FunctionId,
    Graph, LabelId, LocalId, Location, MethodId, Node, NodeKind, OldLabel, PredicateAccess,
    PredicateId, Resource, Stmt, StmtKind, TerminatorKind,
};

/// Makes the walks over what stands right below a node, for shared or for mutable trees.
macro_rules! walks {
    ($walk:ident $iter:ident [$($life:lifetime)?] [$($mutable:tt)?]) => {
        impl Expr {
            /// Calls `visit` for each operand, in the order written. Triggers come before a
            /// quantifier's body.
            pub fn $walk $(<$life>)? (
                &$($life)? $($mutable)? self,
                mut visit: impl FnMut(&$($life)? $($mutable)? Expr),
            ) {
                match &$($mutable)? self.kind {
                    ExprKind::Int(_)
                    | ExprKind::Bool(_)
                    | ExprKind::Null
                    | ExprKind::NoPerm
                    | ExprKind::FullPerm
                    | ExprKind::Wildcard
                    | ExprKind::Local(_)
                    | ExprKind::Result => {}
                    ExprKind::FieldRead { receiver: operand, .. }
                    | ExprKind::Unary { operand, .. }
                    | ExprKind::Old { body: operand, .. }
                    | ExprKind::Cardinality(operand)
                    | ExprKind::MapDomain(operand)
                    | ExprKind::MapRange(operand) => visit(operand),
                    ExprKind::Apply { arguments: operands, .. }
                    | ExprKind::DomainApply { arguments: operands, .. }
                    | ExprKind::And(operands)
                    | ExprKind::Or(operands)
                    | ExprKind::Literal { elements: operands, .. } => {
                        operands.$iter().for_each(visit);
                    }
                    ExprKind::Binary { left, right, .. }
                    | ExprKind::Wand { left, right }
                    | ExprKind::InhaleExhale { inhale: left, exhale: right }
                    | ExprKind::Applying { wand: left, body: right }
                    | ExprKind::Asserting { assertion: left, body: right }
                    | ExprKind::Let { value: left, body: right, .. }
                    | ExprKind::Range { low: left, high: right }
                    | ExprKind::Index { base: left, index: right }
                    | ExprKind::Take { base: left, count: right }
                    | ExprKind::Drop { base: left, count: right } => {
                        visit(left);
                        visit(right);
                    }
                    ExprKind::Conditional { condition: first, then: second, otherwise: third }
                    | ExprKind::Update { base: first, index: second, value: third } => {
                        visit(first);
                        visit(second);
                        visit(third);
                    }
                    ExprKind::Quantified { triggers, body, .. } => {
                        triggers.$iter().flatten().for_each(&mut visit);
                        visit(body);
                    }
                    ExprKind::ForPerm { resource, body, .. } => {
                        resource.$walk(&mut visit);
                        visit(body);
                    }
                    ExprKind::Perm(resource) => resource.$walk(visit),
                    ExprKind::Acc { location, amount } => {
                        location.$walk(&mut visit);
                        visit(amount);
                    }
                    ExprKind::Unfolding { access, body } => {
                        access.$walk(&mut visit);
                        visit(body);
                    }
                    ExprKind::MapLiteral { entries } => {
                        for (key, value) in entries {
                            visit(key);
                            visit(value);
                        }
                    }
                }
            }
        }

        impl Location {
            /// The receiver or the arguments.
            pub fn $walk $(<$life>)? (
                &$($life)? $($mutable)? self,
                mut visit: impl FnMut(&$($life)? $($mutable)? Expr),
            ) {
                match self {
                    Self::Field { receiver, .. } => visit(receiver),
                    Self::Predicate { arguments, .. } => arguments.$iter().for_each(visit),
                }
            }
        }

        impl Resource {
            /// The receiver, the arguments, or the wand as a whole.
            pub fn $walk $(<$life>)? (
                &$($life)? $($mutable)? self,
                mut visit: impl FnMut(&$($life)? $($mutable)? Expr),
            ) {
                match self {
                    Self::Location(location) => location.$walk(visit),
                    Self::Wand(wand) => visit(wand),
                }
            }
        }

        impl PredicateAccess {
            /// The arguments, then the amount.
            pub fn $walk $(<$life>)? (
                &$($life)? $($mutable)? self,
                mut visit: impl FnMut(&$($life)? $($mutable)? Expr),
            ) {
                self.arguments.$iter().for_each(&mut visit);
                visit(&$($mutable)? self.amount);
            }
        }
    };
}

walks!(for_each_child iter ['e] []);
walks!(for_each_child_mut iter_mut [] [mut]);

impl Expr {
    /// Does the expression or one inside it satisfy `claim`?
    pub fn any<'e>(&'e self, mut claim: impl FnMut(&'e Expr) -> bool) -> bool {
        let mut found = false;
        walk_expr_while(self, |expr| {
            found = found || claim(expr);
            !found
        });
        found
    }

    /// Returns the variables this expression itself binds (not those bound further inside).
    pub fn bound_variables(&self) -> &[LocalId] {
        match &self.kind {
            ExprKind::Quantified { variables, .. } | ExprKind::ForPerm { variables, .. } => {
                variables
            }
            ExprKind::Let { variable, .. } => std::slice::from_ref(variable),
            _ => &[],
        }
    }
}

impl Decreases {
    /// The elements of the tuple, then the condition.
    pub fn for_each_child<'e>(&'e self, mut visit: impl FnMut(&'e Expr)) {
        if let DecreasesKind::Tuple(elements) = &self.kind {
            elements.iter().for_each(&mut visit);
        }
        if let Some(condition) = &self.condition {
            visit(condition);
        }
    }
}

impl Stmt {
    /// Calls `visit` for each expression of the statement itself, not for those of statements
    /// nested in it.
    pub fn for_each_expr<'e>(&'e self, mut visit: impl FnMut(&'e Expr)) {
        match &self.kind {
            StmtKind::Var(_)
            | StmtKind::New { .. }
            | StmtKind::Unreachable
            | StmtKind::Goto(_)
            | StmtKind::Block(_) => {}
            StmtKind::Assign { value: expr, .. }
            | StmtKind::Inhale(expr)
            | StmtKind::Exhale(expr)
            | StmtKind::Assert(expr)
            | StmtKind::Assume(expr)
            | StmtKind::Refute(expr)
            | StmtKind::Package { wand: expr, .. }
            | StmtKind::Apply { wand: expr }
            | StmtKind::If { condition: expr, .. } => visit(expr),
            StmtKind::FieldAssign { receiver, value, .. } => {
                visit(receiver);
                visit(value);
            }
            StmtKind::Call { arguments, .. } => arguments.iter().for_each(visit),
            StmtKind::Fold(access) | StmtKind::Unfold(access) => access.for_each_child(visit),
            StmtKind::Quasihavoc { condition, resource }
            | StmtKind::QuasihavocAll { condition, resource, .. } => {
                condition.iter().for_each(&mut visit);
                resource.for_each_child(visit);
            }
            StmtKind::Label { invariants, decreases, .. } => {
                invariants.iter().for_each(&mut visit);
                for clause in decreases {
                    clause.for_each_child(&mut visit);
                }
            }
            StmtKind::While { condition, invariants, decreases, .. } => {
                visit(condition);
                invariants.iter().for_each(&mut visit);
                for clause in decreases {
                    clause.for_each_child(&mut visit);
                }
            }
        }
    }

    /// Calls `visit` for each block directly inside: branches, a loop's body, a proof script, a
    /// plain block.
    pub fn for_each_block<'e>(&'e self, mut visit: impl FnMut(&'e Block)) {
        match &self.kind {
            StmtKind::Package { script: block, .. }
            | StmtKind::While { body: block, .. }
            | StmtKind::Block(block) => visit(block),
            StmtKind::If { then, otherwise, .. } => {
                visit(then);
                otherwise.iter().for_each(visit);
            }
            _ => {}
        }
    }

    /// Returns the variables this statement itself gives a new value: targets, and those a `var`
    /// declares.
    pub(crate) fn written_here(&self) -> &[LocalId] {
        match &self.kind {
            StmtKind::Assign { target, .. } | StmtKind::New { target, .. } => {
                std::slice::from_ref(target)
            }
            StmtKind::Var(locals) | StmtKind::Call { targets: locals, .. } => locals,
            // No catch-all: whoever adds a statement decides.
            StmtKind::FieldAssign { .. }
            | StmtKind::Inhale(_)
            | StmtKind::Exhale(_)
            | StmtKind::Assert(_)
            | StmtKind::Assume(_)
            | StmtKind::Refute(_)
            | StmtKind::Unreachable
            | StmtKind::Fold(_)
            | StmtKind::Unfold(_)
            | StmtKind::Package { .. }
            | StmtKind::Apply { .. }
            | StmtKind::Quasihavoc { .. }
            | StmtKind::QuasihavocAll { .. }
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::Block(_)
            | StmtKind::Label { .. }
            | StmtKind::Goto(_) => &[],
        }
    }
}

/// Visits `expr` and everything below it.
pub fn walk_expr<'e>(expr: &'e Expr, mut visit: impl FnMut(&'e Expr)) {
    walk_expr_while(expr, |expr| {
        visit(expr);
        true
    });
}

/// Visits `expr` and, below each node for which `visit` answers true, its operands.
pub fn walk_expr_while<'e>(expr: &'e Expr, mut visit: impl FnMut(&'e Expr) -> bool) {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        if visit(expr) {
            let first = open.len();
            expr.for_each_child(|child| open.push(child));
            open[first..].reverse();
        }
    }
}

/// Visits the statements and those nested in them, proof scripts included.
pub fn walk_stmts<'e>(
    statements: impl IntoIterator<Item = &'e Stmt>,
    mut visit: impl FnMut(&'e Stmt),
) {
    let mut open: Vec<&Stmt> = statements.into_iter().collect();
    open.reverse();
    while let Some(statement) = open.pop() {
        visit(statement);
        let first = open.len();
        statement.for_each_block(|block| open.extend(&block.statements));
        open[first..].reverse();
    }
}

/// A stop of a walk over a body, structured or graph.
#[derive(Clone, Copy)]
pub enum Visit<'e> {
    Stmt(&'e Stmt),
    /// An expression of a statement, clause or terminator: its root. Operands are left to
    /// [`walk_expr`].
    Expr(&'e Expr),
    /// A block or loop of a graph, before its parts.
    Node(&'e Node),
    /// A graph, before its nodes.
    Graph(&'e Graph),
}

/// Visits all statements, graph nodes and root expressions of a body.
pub fn walk_body<'e>(body: &'e Body, mut visit: impl FnMut(Visit<'e>)) {
    let mut graphs = Vec::new();
    match body {
        Body::Structured(block) => visit_stmts(&block.statements, &mut visit),
        Body::Graph(graph) => graphs.push(graph),
    }
    // Outer graphs come before the graphs of their loops.
    while let Some(graph) = graphs.pop() {
        visit(Visit::Graph(graph));
        let first = graphs.len();
        for node in &graph.nodes {
            visit(Visit::Node(node));
            node.invariants.iter().for_each(|expr| visit(Visit::Expr(expr)));
            node.decreases.iter().for_each(|d| d.for_each_child(|expr| visit(Visit::Expr(expr))));
            match &node.kind {
                NodeKind::Block { statements, terminator } => {
                    visit_stmts(statements, &mut visit);
                    if let TerminatorKind::Branch { condition, .. } = &terminator.kind {
                        visit(Visit::Expr(condition));
                    }
                }
                NodeKind::Loop { condition, graph, .. } => {
                    if let Some(condition) = condition {
                        visit(Visit::Expr(condition));
                    }
                    graphs.push(graph);
                }
            }
        }
        graphs[first..].reverse();
    }
}

fn visit_stmts<'e>(statements: &'e [Stmt], visit: &mut impl FnMut(Visit<'e>)) {
    walk_stmts(statements, |statement| {
        visit(Visit::Stmt(statement));
        statement.for_each_expr(|expr| visit(Visit::Expr(expr)));
    });
}

/// Returns the variables the statements may change, nested statements included, sorted.
///
/// SOUNDNESS: a loop forgets these and no others, so each kind of statement with a target must be
/// among [`Stmt::written_here`].
pub(crate) fn written_locals<'e>(
    statements: impl IntoIterator<Item = &'e Stmt>,
) -> BTreeSet<LocalId> {
    let mut written = BTreeSet::new();
    walk_stmts(statements, |statement| written.extend(statement.written_here()));
    written
}

/// Returns the labels set by `label` statements among the statements, nested ones included.
pub(crate) fn labels_set<'e>(statements: impl IntoIterator<Item = &'e Stmt>) -> BTreeSet<LabelId> {
    let mut labels = BTreeSet::new();
    walk_stmts(statements, |statement| {
        if let StmtKind::Label { label, .. } = &statement.kind {
            labels.insert(*label);
        }
    });
    labels
}

/// The declarations that expressions refer to, each kind sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    pub locals: BTreeSet<LocalId>,
    /// Read, accessed or asked about.
    pub fields: BTreeSet<FieldId>,
    pub predicates: BTreeSet<PredicateId>,
    pub functions: BTreeSet<FunctionId>,
    pub domain_functions: BTreeSet<DomainFunctionId>,
    /// Read by `old[l](…)`.
    pub labels: BTreeSet<LabelId>,
    /// Called by statements.
    pub methods: BTreeSet<MethodId>,
    pub wands: bool,
}

impl Uses {
    /// Collects the references of `expr` and its operands. Bound variables count where they are
    /// bound or occur.
    pub(crate) fn of_expr(expr: &Expr) -> Self {
        let mut uses = Self::default();
        uses.add_expr(expr);
        uses
    }

    /// Collects the references of a body, in expressions and statements.
    pub fn of_body(body: &Body) -> Self {
        let mut uses = Self::default();
        walk_body(body, |visit| match visit {
            Visit::Stmt(statement) => uses.add_stmt_itself(statement),
            Visit::Expr(expr) => uses.add_expr(expr),
            Visit::Node(_) | Visit::Graph(_) => {}
        });
        uses
    }

    /// Adds what `expr` and its operands refer to.
    pub fn add_expr(&mut self, expr: &Expr) {
        walk_expr(expr, |expr| self.add_node(expr));
    }

    /// Adds what the statement, its expressions and the statements nested in it refer to.
    pub(crate) fn add_stmt(&mut self, statement: &Stmt) {
        walk_stmts([statement], |statement| {
            self.add_stmt_itself(statement);
            statement.for_each_expr(|expr| self.add_expr(expr));
        });
    }

    fn add_stmt_itself(&mut self, statement: &Stmt) {
        self.locals.extend(statement.written_here());
        match &statement.kind {
            StmtKind::FieldAssign { field, .. } => {
                self.fields.insert(*field);
            }
            StmtKind::New { fields, .. } => self.fields.extend(fields),
            StmtKind::Call { method, .. } => {
                self.methods.insert(*method);
            }
            StmtKind::Fold(access) | StmtKind::Unfold(access) => {
                self.predicates.insert(access.predicate);
            }
            StmtKind::Quasihavoc { resource, .. } => self.add_resource(resource),
            StmtKind::QuasihavocAll { variables, resource, .. } => {
                self.locals.extend(variables);
                self.add_resource(resource);
            }
            _ => {}
        }
    }

    fn add_node(&mut self, expr: &Expr) {
        self.locals.extend(expr.bound_variables());
        match &expr.kind {
            ExprKind::Local(local) => {
                self.locals.insert(*local);
            }
            ExprKind::FieldRead { field, .. } => {
                self.fields.insert(*field);
            }
            ExprKind::Apply { function, .. } => {
                self.functions.insert(*function);
            }
            ExprKind::DomainApply { function, .. } => {
                self.domain_functions.insert(*function);
            }
            ExprKind::Old { label: OldLabel::Label(label), .. } => {
                self.labels.insert(*label);
            }
            ExprKind::Acc { location, .. } => self.add_location(location),
            ExprKind::Perm(resource) | ExprKind::ForPerm { resource, .. } => {
                self.add_resource(resource);
            }
            ExprKind::Unfolding { access, .. } => {
                self.predicates.insert(access.predicate);
            }
            ExprKind::Wand { .. } => self.wands = true,
            _ => {}
        }
    }

    fn add_resource(&mut self, resource: &Resource) {
        match resource {
            Resource::Location(location) => self.add_location(location),
            Resource::Wand(_) => self.wands = true,
        }
    }

    fn add_location(&mut self, location: &Location) {
        match location {
            Location::Field { field, .. } => {
                self.fields.insert(*field);
            }
            Location::Predicate { predicate, .. } => {
                self.predicates.insert(*predicate);
            }
        }
    }
}
