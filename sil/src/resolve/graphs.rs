//! Graph bodies: names of blocks and what jumps refer to.
//!
//! Errors of names are found here; whether the jumps make a well-formed graph is [`crate::cfg`]'s
//! question.

use front::grow_stack;

use super::context::Resolver;
use super::names::duplicate;
use super::scope::Entry;
use crate::diagnostics::{Code, Diagnostic};
use crate::program::{Graph, LabelId, LocalKind, Node, NodeKind, Terminator, TerminatorKind, Type};
use crate::syntax::{self, Ident};

impl Resolver<'_, '_> {
    /// Makes the names of a graph's blocks, and the labels in them, known before the graph is
    /// resolved.
    pub(super) fn declare_blocks(&mut self, graph: &syntax::Graph) {
        for node in &graph.nodes {
            self.declare_block(&node.name);
            match &node.kind {
                syntax::NodeKind::Block { statements, .. } => {
                    for statement in statements {
                        match &statement.kind {
                            syntax::StmtKind::Label { name, .. } => self.declare_block(name),
                            syntax::StmtKind::Package { script: Some(script), .. } => {
                                self.declare_labels(&script.statements);
                            }
                            _ => {}
                        }
                    }
                }
                syntax::NodeKind::Loop { graph, .. } => {
                    grow_stack(|| self.declare_blocks(graph));
                }
            }
        }
    }

    /// In a graph a second block or label of one name is an error of names.
    fn declare_block(&mut self, ident: &Ident) {
        match self.label_names.get(&ident.name) {
            Some(&earlier) => {
                let first = self.labels[earlier].span;
                self.shared.diagnostics.push(duplicate(&ident.name, first, ident.span));
            }
            None => {
                self.add_label(ident);
                self.declare_name(&ident.name, Entry::Label, ident.span);
            }
        }
    }

    /// Returns a graph whose blocks are declared.
    pub(super) fn graph(&mut self, graph: &syntax::Graph) -> Graph {
        self.scopes.open();
        let locals = graph
            .locals
            .iter()
            .map(|local| self.declare_local(local, LocalKind::Variable))
            .collect();
        let entry = self.entry(graph);
        let nodes =
            graph.nodes.iter().filter_map(|node| grow_stack(|| self.graph_node(node))).collect();
        self.scopes.close();
        Graph { locals, nodes, entry, span: self.at(graph.span) }
    }

    /// Returns the block marked as entry, or else the first.
    fn entry(&mut self, graph: &syntax::Graph) -> usize {
        let mut marked = graph.nodes.iter().enumerate().filter(|(_, node)| node.entry);
        let entry = marked.next();
        if let (Some((_, first)), Some((_, second))) = (entry, marked.next()) {
            let message = "a graph has one entry";
            let error = Diagnostic::new(Code::ConsistencyError, self.at(second.name.span), message)
                .with_related(first.name.span, "this block is the entry");
            self.shared.label_errors.push(error);
        }
        if graph.nodes.is_empty() {
            self.error(graph.span, "a graph has at least one block");
        }
        entry.map_or(0, |(index, _)| index)
    }

    fn graph_node(&mut self, node: &syntax::Node) -> Option<Node> {
        let (annotations, outer) = self.enter(&node.annotations);
        let span = self.at(node.span);
        let (invariants, decreases) = self.invariants(&node.invariants, &node.decreases);
        let label = self.block_name(&node.name);
        let kind = self.node_kind(&node.kind);
        self.origin = outer;
        Some(Node { label: label?, invariants, decreases, kind: kind?, annotations, span })
    }

    fn node_kind(&mut self, kind: &syntax::NodeKind) -> Option<NodeKind> {
        Some(match kind {
            syntax::NodeKind::Block { statements, terminator } => {
                let statements = self.statements(statements);
                NodeKind::Block { statements, terminator: self.terminator(terminator)? }
            }
            syntax::NodeKind::Loop { condition, exits, graph, then } => {
                let resolved = condition.as_ref().map(|it| self.value(it, &Type::Bool));
                let exits = exits.iter().filter_map(|exit| self.block_name(exit)).collect();
                let then = then.as_ref().and_then(|then| self.block_name(then));
                let graph = self.graph(graph);
                let condition = match resolved {
                    Some(condition) => Some(condition?),
                    None => None,
                };
                NodeKind::Loop { condition, exits, graph, then }
            }
        })
    }

    fn terminator(&mut self, terminator: &syntax::Terminator) -> Option<Terminator> {
        let kind = match &terminator.kind {
            syntax::TerminatorKind::Goto(target) => TerminatorKind::Goto(self.block_name(target)?),
            syntax::TerminatorKind::Branch { condition, then, otherwise } => {
                let condition = self.value(condition, &Type::Bool);
                let then = self.block_name(then);
                let otherwise = self.block_name(otherwise);
                TerminatorKind::Branch { condition: condition?, then: then?, otherwise: otherwise? }
            }
            syntax::TerminatorKind::Next => TerminatorKind::Next,
            syntax::TerminatorKind::Halt => TerminatorKind::Halt,
            syntax::TerminatorKind::Dead => TerminatorKind::Dead,
        };
        Some(Terminator { kind, span: self.at(terminator.span) })
    }

    fn block_name(&mut self, ident: &Ident) -> Option<LabelId> {
        let label = self.label_names.get(&ident.name).copied();
        if label.is_none() {
            let question = self.question_of_label(&ident.name);
            self.error(ident.span, format!("undeclared block `{}`{question}", ident.name));
        }
        label
    }
}
