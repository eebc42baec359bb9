//! Checks of bodies: targets of calls, and what a proof script may do.

use front::grow_stack;
use rustc_hash::FxHashSet;

use super::Checker;
use super::expressions::Surroundings;
use crate::program::{
    Block, Body, Decreases, DecreasesKind, Expr, ExprKind, LocalId, Location, Node, NodeKind, Stmt,
    StmtKind, TerminatorKind,
};
use crate::walk::{Visit, walk_body};

impl Checker<'_> {
    pub(super) fn body(&mut self, body: &Body) {
        if let Body::Structured(block) = body {
            return self.block(block);
        }
        walk_body(body, |visit| match visit {
            Visit::Node(node) => {
                if let NodeKind::Block { statements, .. } = &node.kind {
                    for statement in statements {
                        self.statement(statement);
                    }
                }
                self.graph_node_clauses(node);
            }
            Visit::Stmt(_) | Visit::Expr(_) | Visit::Graph(_) => {}
        });
    }

    fn graph_node_clauses(&mut self, node: &Node) {
        for clause in &node.invariants {
            self.expression(clause, Surroundings::METHOD);
        }
        self.measures(&node.decreases, Surroundings::METHOD);
        let condition = match &node.kind {
            NodeKind::Block { terminator, .. } => match &terminator.kind {
                TerminatorKind::Branch { condition, .. } => Some(condition),
                _ => None,
            },
            NodeKind::Loop { condition, .. } => condition.as_ref(),
        };
        if let Some(condition) = condition {
            self.expression(condition, Surroundings::METHOD);
        }
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        grow_stack(|| {
            self.expressions_of(statement, Surroundings::METHOD);
            match &statement.kind {
                StmtKind::Package { script, .. } => {
                    let mut declared = FxHashSet::default();
                    self.script(script, &mut declared);
                }
                _ => statement.for_each_block(|block| self.block(block)),
            }
        });
    }

    fn expressions_of(&mut self, statement: &Stmt, around: Surroundings) {
        match &statement.kind {
            StmtKind::Fold(access) | StmtKind::Unfold(access) => {
                self.predicate_access(access, around);
            }
            StmtKind::Label { invariants, decreases, .. } => {
                for clause in invariants {
                    self.expression(clause, around);
                }
                self.measures(decreases, around);
            }
            StmtKind::While { condition, invariants, decreases, .. } => {
                self.expression(condition, around);
                for clause in invariants {
                    self.expression(clause, around);
                }
                self.measures(decreases, around);
            }
            StmtKind::Assume(assertion) => self.expression(assertion, around.of_assume()),
            StmtKind::Call { targets, .. } => {
                self.targets(statement, targets);
                statement.for_each_expr(|expr| self.expression(expr, around));
            }
            _ => statement.for_each_expr(|expr| self.expression(expr, around)),
        }
    }

    fn targets(&mut self, statement: &Stmt, targets: &[LocalId]) {
        let mut seen = FxHashSet::default();
        if !targets.iter().all(|target| seen.insert(target)) {
            self.error(statement.span, "the targets of a call must be pairwise different");
        }
    }

    /// The proof script of a `package`: it may fold, unfold, assert and branch, but changes neither
    /// the heap nor variables of the method. `declared` are the variables declared in it so far.
    fn script(&mut self, block: &Block, declared: &mut FxHashSet<LocalId>) {
        for statement in &block.statements {
            grow_stack(|| self.script_statement(statement, declared));
        }
    }

    fn script_statement(&mut self, statement: &Stmt, declared: &mut FxHashSet<LocalId>) {
        self.expressions_of(statement, Surroundings::SCRIPT);
        let mut forbid = |what: &str| {
            self.error(statement.span, format!("{what} is not allowed in a proof script"));
        };
        match &statement.kind {
            StmtKind::FieldAssign { .. } => forbid("an assignment to a field"),
            StmtKind::New { .. } => forbid("`new`"),
            StmtKind::While { .. } => forbid("a loop"),
            StmtKind::Var(locals) => declared.extend(locals),
            StmtKind::Assign { .. } | StmtKind::Call { .. }
                if statement.written_here().iter().any(|target| !declared.contains(target)) =>
            {
                forbid("an assignment to a variable declared outside");
            }
            _ => {}
        }
        if let StmtKind::Package { script, .. } = &statement.kind {
            // An inner script assigns its own variables only.
            return self.script(script, &mut FxHashSet::default());
        }
        statement.for_each_block(|block| self.script(block, declared));
    }

    /// Termination measures are values, or predicates that stand for their instances.
    pub(super) fn measures(&mut self, clauses: &[Decreases], around: Surroundings) {
        for clause in clauses {
            if let DecreasesKind::Tuple(elements) = &clause.kind {
                for element in elements {
                    self.measure(element, around);
                }
            }
            if let Some(condition) = &clause.condition {
                self.expression(condition, around);
            }
        }
    }

    fn measure(&mut self, element: &Expr, around: Surroundings) {
        match &element.kind {
            ExprKind::Acc { location: Location::Predicate { .. }, .. } => {}
            _ => self.require_pure(element),
        }
        self.expression(element, around);
    }
}
