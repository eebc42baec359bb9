//! Macros in statements and contracts.

use front::grow_stack;

use crate::parser::not_simple;
use crate::source::Span;
use crate::syntax::walk::{Rewriter, rewrite};
use crate::syntax::{
    Block, Body, Define, Expr, ExprKind, Graph, Ident, MacroBody, Method, Node, NodeKind, Stmt,
    StmtKind, TerminatorKind,
};

use super::expand::Meaning;
use super::table::MacroId;
use super::{Argument, Expander, Variable, names, parts};

impl Expander {
    pub(super) fn method(&mut self, method: &mut Method) {
        for implementation in &mut method.implementations {
            match &mut implementation.body {
                Body::Structured(block) => self.collect_locals(block, false),
                Body::Graph(graph) => self.collect_locals_of_graph(graph),
            }
        }
        self.declare_all(&mut method.formals, Variable::Local);
        self.declare_all(&mut method.returns, Variable::Local);
        self.bound.clear();
        if !self.table.is_empty() {
            self.locals = names::locals_of_method(method);
        }
        rewrite::contract(self, &mut method.contract);
        for implementation in &mut method.implementations {
            self.labels.clear();
            let outside = self.enter_scope();
            match &mut implementation.body {
                Body::Structured(block) => self.block(block),
                Body::Graph(graph) => self.graph(graph),
            }
            self.leave_scope(outside);
        }
        self.table.forget_locals();
        self.locals.clear();
    }

    // ---- local definitions
    // -----------------------------------------------------------------------------------

    /// Takes the definitions out of a method's body; they are visible in all of it.
    fn collect_locals(&mut self, block: &mut Block, in_script: bool) {
        let statements = std::mem::take(&mut block.statements);
        block.statements = self.without_definitions(statements, in_script);
    }

    fn without_definitions(&mut self, statements: Vec<Stmt>, in_script: bool) -> Vec<Stmt> {
        let mut rest = Vec::with_capacity(statements.len());
        for mut statement in statements {
            match &mut statement.kind {
                StmtKind::Define(_) => {
                    if let StmtKind::Define(define) = statement.kind {
                        self.local_definition(define, in_script);
                    }
                    continue;
                }
                StmtKind::If { then, otherwise, .. } => grow_stack(|| {
                    self.collect_locals(then, in_script);
                    otherwise.iter_mut().for_each(|block| self.collect_locals(block, in_script));
                }),
                StmtKind::While { body, .. } | StmtKind::Block(body) => {
                    grow_stack(|| self.collect_locals(body, in_script));
                }
                StmtKind::Package { script: Some(script), .. } => {
                    grow_stack(|| self.collect_locals(script, true));
                }
                _ => {}
            }
            rest.push(statement);
        }
        rest
    }

    fn local_definition(&mut self, define: Define, in_script: bool) {
        if in_script {
            self.error(define.span, "a macro cannot be defined in the proof script of a wand");
        }
        self.define(define, true);
    }

    fn collect_locals_of_graph(&mut self, graph: &mut Graph) {
        for node in &mut graph.nodes {
            match &mut node.kind {
                NodeKind::Block { statements, .. } => {
                    *statements = self.without_definitions(std::mem::take(statements), false);
                }
                NodeKind::Loop { graph, .. } => {
                    grow_stack(|| self.collect_locals_of_graph(graph));
                }
            }
        }
    }

    // ---- expansion
    // -------------------------------------------------------------------------------------------

    pub(super) fn scoped_block(&mut self, block: &mut Block) {
        let outside = self.enter_scope();
        let statements = std::mem::take(&mut block.statements);
        grow_stack(|| self.statements(statements, &mut block.statements));
        self.leave_scope(outside);
    }

    /// Adds `statements` to `result`, those of statement macros in their place.
    fn statements(&mut self, statements: Vec<Stmt>, result: &mut Vec<Stmt>) {
        for mut statement in statements {
            if let StmtKind::Expr(expr) = &statement.kind
                && let Some((id, arguments)) = self.statement_macro(expr)
            {
                if let Some(arguments) = arguments {
                    self.expand_statement(id, arguments, statement.span, result);
                }
                continue;
            }
            if matches!(statement.kind, StmtKind::Define(_)) {
                // The macros of methods are gone: this one stands in a macro, which has been told.
                continue;
            }
            self.stmt(&mut statement);
            result.push(statement);
        }
    }

    /// Returns the macro that a statement consists of, with its arguments if their number is right.
    fn statement_macro(&mut self, expr: &Expr) -> Option<(MacroId, Option<Vec<Argument>>)> {
        let (name, arguments) = match &expr.kind {
            ExprKind::Ident(name) => (Ident { name: name.clone(), span: expr.span }, &[][..]),
            ExprKind::Call { name, arguments, .. } => (name.clone(), arguments.as_slice()),
            _ => return None,
        };
        let Meaning::Macro(id) = self.callee(&name) else { return None };
        if matches!(expr.kind, ExprKind::Call { .. }) && self.parameter_count(id).is_none() {
            self.takes_no_arguments(id, expr.span);
            return Some((id, None));
        }
        Some((id, self.arguments(id, arguments.to_vec(), expr.span)))
    }

    /// Adds the statements of a macro's body: they get no scope of their own.
    fn expand_statement(
        &mut self,
        id: MacroId,
        arguments: Vec<Argument>,
        span: Span,
        result: &mut Vec<Stmt>,
    ) {
        let define = self.table.definition(id);
        let MacroBody::Block(body) = &define.body else {
            if !self.table.is_broken(id) {
                let message = format!("the macro `{}` is not a statement", define.name.name);
                self.error(span, message);
            }
            return;
        };
        let before = result.len();
        self.in_frame(id, arguments, span, |expander| {
            let body = stacker::maybe_grow(COPY_STACK, 2 * COPY_STACK, || body.clone());
            grow_stack(|| expander.statements(body.statements, result));
        });
        parts::note_use(&mut result[before..], span);
    }

    pub(super) fn statement(&mut self, statement: &mut Stmt) {
        match &mut statement.kind {
            StmtKind::QuasihavocAll { variables, condition, resource } => {
                self.binding(variables, |expander| {
                    condition.iter_mut().for_each(|condition| expander.expr(condition));
                    expander.expr(resource);
                });
            }
            StmtKind::Var { variables, initialiser } => {
                initialiser.iter_mut().for_each(|value| self.expr(value));
                self.declare_all(variables, Variable::Local);
            }
            StmtKind::Assign { targets, value } => {
                targets.iter_mut().for_each(|target| self.target(target));
                self.expr(value);
            }
            StmtKind::Goto(label) => self.label(label),
            StmtKind::Label { name, .. } => {
                self.label(name);
                self.labels.insert(name.name.clone());
                rewrite::stmt(self, statement);
            }
            StmtKind::Define(_) => {}
            _ => rewrite::stmt(self, statement),
        }
    }

    // ---- graphs
    // ----------------------------------------------------------------------------------------------

    fn graph(&mut self, graph: &mut Graph) {
        let outside = self.enter_scope();
        self.declare_all(&mut graph.locals, Variable::Local);
        for node in &mut graph.nodes {
            grow_stack(|| self.node(node));
        }
        self.leave_scope(outside);
    }

    fn node(&mut self, node: &mut Node) {
        rewrite::exprs(self, &mut node.invariants);
        node.decreases.iter_mut().for_each(|clause| self.decreases(clause));
        match &mut node.kind {
            NodeKind::Block { statements, terminator } => {
                let before = std::mem::take(statements);
                self.statements(before, statements);
                for statement in statements {
                    if let Some(what) = not_simple(&statement.kind) {
                        let message = format!("{what} is not allowed in a block of a graph");
                        self.error(statement.span, message);
                    }
                }
                if let TerminatorKind::Branch { condition, .. } = &mut terminator.kind {
                    self.expr(condition);
                }
            }
            NodeKind::Loop { condition, graph, .. } => {
                condition.iter_mut().for_each(|condition| self.expr(condition));
                self.graph(graph);
            }
        }
    }
}

/// Copying a body recurses as deep as the body is.
const COPY_STACK: usize = crate::parser::MAX_DEPTH * 512;
