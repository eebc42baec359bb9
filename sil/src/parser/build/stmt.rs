//! Statements and the graph form.

use crate::source::Span;
use crate::syntax::{
    Block, Body, Decreases, Expr, ExprKind, Graph, Ident, Implementation, Node as GraphNode,
    NodeKind, Stmt, StmtKind, Terminator, TerminatorKind,
};

use super::super::hints;
use super::{Builder, Node, Nodes, Rule, find, fitted, next, next_if, skip};

/// Invariants and termination clauses at the start of some parts.
type Invariants = (Vec<Expr>, Vec<Decreases>);

impl Builder<'_> {
    pub(super) fn block(&mut self, node: Node<'_>) -> Block {
        let span = self.span(&node);
        if !self.enter(1, span) {
            return Block { statements: Vec::new(), span };
        }
        let nodes = node.into_inner().filter(|part| part.as_rule() == Rule::stmt);
        let statements = fitted(nodes.map(|part| self.stmt(part)).collect());
        self.leave(1);
        Block { statements, span }
    }

    fn stmt(&mut self, node: Node<'_>) -> Stmt {
        let span = self.span(&node);
        let mut parts = node.into_inner();
        let annotations = self.annotations(&mut parts);
        let kind = self.stmt_kind(next(&mut parts));
        Stmt { annotations, kind, span }
    }

    fn stmt_kind(&mut self, node: Node<'_>) -> StmtKind {
        match node.as_rule() {
            Rule::exp_stmt => self.exp_stmt(node),
            Rule::unary_stmt => self.unary_stmt(node),
            Rule::access_stmt => {
                let mut parts = node.into_inner();
                let word = next(&mut parts);
                let access = next(&mut next(&mut parts).into_inner());
                let amount = parts.find(|part| part.as_rule() == Rule::amount);
                let amount = amount.map(|part| next(&mut part.into_inner()));
                let access = self.access(access, amount);
                if word.as_str() == "fold" {
                    StmtKind::Fold(access)
                } else {
                    StmtKind::Unfold(access)
                }
            }
            Rule::if_stmt => self.if_stmt(node),
            Rule::while_stmt => {
                let mut parts = node.into_inner();
                let condition = self.exp(find(&mut parts, Rule::exp));
                let (invariants, decreases) = self.invariants(&mut parts);
                let body = self.block(next(&mut parts));
                StmtKind::While { condition, invariants, decreases, body }
            }
            Rule::var_stmt => {
                let mut parts = node.into_inner();
                skip(&mut parts, Rule::kw_var);
                let variables = self.take_typed_names(&mut parts);
                let initialiser =
                    parts.find(|part| part.as_rule() == Rule::exp).map(|part| self.exp(part));
                StmtKind::Var { variables, initialiser }
            }
            Rule::label_stmt => {
                let mut parts = node.into_inner();
                let name = self.label(&find(&mut parts, Rule::ident));
                let (invariants, decreases) = self.invariants(&mut parts);
                StmtKind::Label { name, invariants, decreases }
            }
            Rule::goto_stmt => {
                StmtKind::Goto(self.label(&find(&mut node.into_inner(), Rule::ident)))
            }
            Rule::block => StmtKind::Block(self.block(node)),
            Rule::package_stmt => {
                let mut parts = node.into_inner();
                let part = find(&mut parts, Rule::exp);
                self.check_wand(&part);
                let wand = self.exp(part);
                StmtKind::Package { wand, script: parts.next().map(|part| self.block(part)) }
            }
            Rule::quasihavoc_stmt => {
                let part = find(&mut node.into_inner(), Rule::exp);
                let (condition, resource) = self.havoc_parts(part);
                StmtKind::Quasihavoc { condition, resource }
            }
            Rule::quasihavocall_stmt => {
                let mut parts = node.into_inner();
                skip(&mut parts, Rule::kw_quasihavocall);
                let variables = self.take_typed_names(&mut parts);
                skip(&mut parts, Rule::double_colon);
                let (condition, resource) = self.havoc_parts(next(&mut parts));
                StmtKind::QuasihavocAll { variables, condition, resource }
            }
            _ => StmtKind::Define(self.define(node)),
        }
    }

    /// A call without targets, or an assignment.
    fn exp_stmt(&mut self, node: Node<'_>) -> StmtKind {
        let span = self.span(&node);
        let place = node.as_span();
        let mut is_assignment = false;
        let mut exps = Vec::new();
        for part in node.into_inner() {
            if part.as_rule() == Rule::assign {
                is_assignment = true;
            } else {
                let in_parentheses = part.as_str().starts_with('(');
                let exp =
                    if part.as_rule() == Rule::target { self.target(part) } else { self.exp(part) };
                exps.push((exp, in_parentheses));
            }
        }
        let (value, in_parentheses) = exps.pop().expect("the grammar requires an expression");
        if is_assignment {
            for (target, in_parentheses) in &exps {
                self.check_target(target, *in_parentheses);
            }
            let targets = exps.into_iter().map(|(target, _)| target).collect();
            return StmtKind::Assign { targets, value };
        }
        if !exps.is_empty() {
            self.error(span, "expected `:=` and a call behind these targets");
        } else if let ExprKind::Field { .. } = value.kind {
            // The missing part is missing where the next token stands.
            let rest = &place.get_input()[place.end()..];
            let at = place.end() + (rest.len() - rest.trim_ascii_start().len());
            self.error_at(at, at, "expected `:=` behind this field".to_owned());
        } else if in_parentheses
            || !matches!(value.kind, ExprKind::Ident(_) | ExprKind::Call { ascription: None, .. })
        {
            let (text, at) = (place.get_input(), place.start());
            let message =
                hints::call_of_plugin(text, at).or_else(|| hints::call_with_point(text, at));
            self.error(span, message.unwrap_or_else(|| "an expression is not a statement".into()));
        }
        StmtKind::Expr(value)
    }

    fn unary_stmt(&mut self, node: Node<'_>) -> StmtKind {
        let mut parts = node.into_inner();
        let word = next(&mut parts);
        let part = next(&mut parts);
        if word.as_str() == "apply" {
            self.check_wand(&part);
        }
        let operand = self.exp(part);
        match word.as_str() {
            "inhale" => StmtKind::Inhale(operand),
            "exhale" => StmtKind::Exhale(operand),
            "assert" => StmtKind::Assert(operand),
            "assume" => StmtKind::Assume(operand),
            "refute" => StmtKind::Refute(operand),
            _ => StmtKind::Apply(operand),
        }
    }

    /// `elseif` becomes an `if` in the `else` branch.
    fn if_stmt(&mut self, node: Node<'_>) -> StmtKind {
        let span = self.span(&node);
        // Each `elseif` stands in the else branch of the one before.
        let branches = node.clone().into_inner().filter(|part| part.as_rule() == Rule::else_if);
        let levels = 2 * branches.count();
        if !self.enter(levels, span) {
            return StmtKind::Block(Block { statements: Vec::new(), span });
        }
        let mut parts = node.into_inner();
        let condition = self.exp(find(&mut parts, Rule::exp));
        let then = self.block(next(&mut parts));
        let mut else_ifs = Vec::new();
        let mut otherwise = None;
        for part in parts {
            let span = self.span(&part);
            let is_else_if = part.as_rule() == Rule::else_if;
            let mut parts = part.into_inner();
            if is_else_if {
                let condition = self.exp(find(&mut parts, Rule::exp));
                else_ifs.push((span, condition, self.block(next(&mut parts))));
            } else {
                otherwise = Some(self.block(find(&mut parts, Rule::block)));
            }
        }
        self.leave(levels);
        while let Some((start, condition, then)) = else_ifs.pop() {
            let end = otherwise.as_ref().map_or(then.span, |block| block.span);
            let span = start.to(end);
            let kind = StmtKind::If { condition, then, otherwise };
            let statement = Stmt { annotations: Vec::new(), kind, span };
            otherwise = Some(Block { statements: vec![statement], span });
        }
        StmtKind::If { condition, then, otherwise }
    }

    fn invariants(&mut self, parts: &mut Nodes<'_>) -> Invariants {
        let mut invariants = Vec::new();
        let mut decreases = Vec::new();
        loop {
            if let Some(part) = next_if(parts, Rule::invariant) {
                invariants.push(self.exp(find(&mut part.into_inner(), Rule::exp)));
            } else if let Some(part) = next_if(parts, Rule::decreases) {
                decreases.push(self.decreases(part));
            } else {
                return (fitted(invariants), decreases);
            }
        }
    }

    pub(super) fn implementation(&mut self, node: Node<'_>) -> Implementation {
        let span = self.span(&node);
        let mut parts = node.into_inner();
        let annotations = self.annotations(&mut parts);
        let mut name = None;
        let mut explicit = false;
        loop {
            let part = next(&mut parts);
            let body = match part.as_rule() {
                Rule::implementation_name => {
                    let part = find(&mut part.into_inner(), Rule::ident);
                    name = Some(self.ident(&part));
                    continue;
                }
                Rule::cw_implementation => {
                    explicit = true;
                    continue;
                }
                Rule::block => Body::Structured(self.block(part)),
                Rule::graph => Body::Graph(self.graph(part)),
                _ => continue,
            };
            return Implementation { annotations, name, explicit, body, span };
        }
    }

    fn graph(&mut self, node: Node<'_>) -> Graph {
        let span = self.span(&node);
        let mut locals = Vec::new();
        let mut nodes = Vec::new();
        if self.enter(1, span) {
            for part in node.into_inner() {
                match part.as_rule() {
                    Rule::graph_local => locals.extend(self.typed_names(part)),
                    Rule::node => nodes.push(self.graph_node(part)),
                    _ => {}
                }
            }
            self.leave(1);
        }
        Graph { locals, nodes, span }
    }

    fn graph_node(&mut self, node: Node<'_>) -> GraphNode {
        let span = self.span(&node);
        let mut parts = node.into_inner();
        let annotations = self.annotations(&mut parts);
        let entry = next_if(&mut parts, Rule::entry_mark).is_some();
        let is_loop = next(&mut parts).as_rule() == Rule::cw_loop;
        let mut parts = next(&mut parts).into_inner();
        let name = self.ident(&next(&mut parts));
        let (invariants, decreases, kind) =
            if is_loop { self.loop_node(&mut parts) } else { self.basic(&mut parts, span) };
        GraphNode { annotations, name, entry, invariants, decreases, kind, span }
    }

    fn basic(
        &mut self,
        parts: &mut Nodes<'_>,
        span: Span,
    ) -> (Vec<Expr>, Vec<Decreases>, NodeKind) {
        let (invariants, decreases) = self.invariants(parts);
        let mut statements = Vec::new();
        let mut terminator = Terminator { kind: TerminatorKind::Dead, span };
        for part in parts {
            match part.as_rule() {
                Rule::stmt => {
                    statements.push(self.stmt(part));
                }
                Rule::terminator => terminator = self.terminator(part),
                _ => {}
            }
        }
        (invariants, decreases, NodeKind::Block { statements, terminator })
    }

    fn terminator(&mut self, node: Node<'_>) -> Terminator {
        let span = self.span(&node);
        let mut parts = node.into_inner();
        let first = next(&mut parts);
        let kind = match first.as_rule() {
            Rule::kw_goto => TerminatorKind::Goto(self.ident(&next(&mut parts))),
            Rule::branch => self.branch(first),
            Rule::cw_next => TerminatorKind::Next,
            Rule::cw_halt => TerminatorKind::Halt,
            _ => TerminatorKind::Dead,
        };
        Terminator { kind, span }
    }

    fn branch(&mut self, node: Node<'_>) -> TerminatorKind {
        let mut parts = node.into_inner();
        let condition = self.exp(find(&mut parts, Rule::exp));
        let then: Ident = self.ident(&find(&mut parts, Rule::ident));
        let otherwise = self.ident(&find(&mut parts, Rule::ident));
        TerminatorKind::Branch { condition, then, otherwise }
    }

    fn loop_node(&mut self, parts: &mut Nodes<'_>) -> (Vec<Expr>, Vec<Decreases>, NodeKind) {
        let mut condition = None;
        if next_if(parts, Rule::kw_while).is_some() {
            condition = Some(self.exp(find(parts, Rule::exp)));
        }
        let (invariants, decreases) = self.invariants(parts);
        let exits = next_if(parts, Rule::exits).map_or_else(Vec::new, |part| self.idents(part));
        let graph = self.graph(next(parts));
        let then = parts.next().map(|part| self.ident(&find(&mut part.into_inner(), Rule::ident)));
        (invariants, decreases, NodeKind::Loop { condition, exits, graph, then })
    }
}

/// Names the statements that blocks of graphs refuse: terminators express control flow there.
pub(crate) fn not_simple(statement: &StmtKind) -> Option<&'static str> {
    Some(match statement {
        StmtKind::If { .. } => "`if`",
        StmtKind::While { .. } => "`while`",
        StmtKind::Goto(_) => "`goto` before the end",
        StmtKind::Block(_) => "a nested block",
        StmtKind::Var { .. } => "`var`",
        StmtKind::Define(_) => "`define`",
        _ => return None,
    })
}
