//! Graphs as written to blocks: names to nodes, nested or flat.

use front::grow_stack;
use rustc_hash::FxHashSet;

use super::draft::{Draft, DraftKind, Jump, NodeId};
use crate::diagnostics::{Code, Diagnostic};
use crate::program::{Graph, LabelId, Node, NodeKind, Stmt, StmtKind, TerminatorKind};

/// Fills `draft` with the blocks of a graph.
pub(super) fn lower(draft: &mut Draft<'_>, graph: &Graph, diagnostics: &mut Vec<Diagnostic>) {
    let mut lowering = Lowering { jump_targets: FxHashSet::default(), draft, diagnostics };
    lowering.collect_jump_targets(graph);
    if let Some(entry) = lowering.graph(graph, None) {
        lowering.draft.entry = entry;
    }
}

struct Lowering<'l, 'a> {
    draft: &'l mut Draft<'a>,
    jump_targets: FxHashSet<LabelId>,
    diagnostics: &'l mut Vec<Diagnostic>,
}

impl Lowering<'_, '_> {
    fn collect_jump_targets(&mut self, graph: &Graph) {
        let mut open = vec![graph];
        while let Some(graph) = open.pop() {
            for node in &graph.nodes {
                match &node.kind {
                    NodeKind::Block { terminator, .. } => {
                        self.jump_targets.extend(terminator.kind.targets());
                    }
                    NodeKind::Loop { graph, then, .. } => {
                        self.jump_targets.extend(then);
                        open.push(graph);
                    }
                }
            }
        }
    }

    /// Returns the entry; `None` (and an error) if the graph has no node.
    fn graph(&mut self, graph: &Graph, level: Option<NodeId>) -> Option<NodeId> {
        let Some(entry) = graph.nodes.get(graph.entry) else {
            let message = "a graph has at least one block";
            self.diagnostics.push(Diagnostic::new(Code::ConsistencyError, graph.span, message));
            return None;
        };
        // The locals of a nested graph are new in each round. At the outermost level every local
        // starts arbitrary.
        let declares = level.is_some() && !graph.locals.is_empty();
        let fits_in_entry = matches!(entry.kind, NodeKind::Block { .. })
            && !self.jump_targets.contains(&entry.label);
        let mut first = self.draft.node_of_label(entry.label);
        if declares && !fits_in_entry {
            let node = self.draft.add_block("locals", level, graph.span);
            self.set_basic(node, vec![declaration(graph)], Jump::Goto(first), graph.span);
            first = node;
        }
        for node in &graph.nodes {
            let id = self.place(node, level);
            match &node.kind {
                NodeKind::Block { statements, terminator } => {
                    let mut statements = statements.clone();
                    if declares && fits_in_entry && id == first {
                        statements.insert(0, declaration(graph));
                    }
                    let statements = statements.into_iter().map(|s| self.plain_label(s)).collect();
                    let jump = self.jump(&terminator.kind);
                    self.set_basic(id, statements, jump, terminator.span);
                }
                NodeKind::Loop { .. } => grow_stack(|| self.loop_node(node, id)),
            }
        }
        Some(first)
    }

    fn place(&mut self, node: &Node, level: Option<NodeId>) -> NodeId {
        let id = self.draft.node_of_label(node.label);
        self.draft.order.push(id);
        let block = &mut self.draft.nodes[id];
        block.parent = level;
        block.invariants.clone_from(&node.invariants);
        block.decreases.clone_from(&node.decreases);
        block.annotations.clone_from(&node.annotations);
        block.span = node.span;
        block.is_written_block = true;
        id
    }

    fn loop_node(&mut self, node: &Node, id: NodeId) {
        let NodeKind::Loop { condition, exits, graph, then } = &node.kind else { return };
        if condition.is_some() != then.is_some() {
            let message = if then.is_some() {
                "a loop without `while` is left by its exits only, not by `then`"
            } else {
                "a loop with `while` needs a `then`: where to go when the condition is false"
            };
            self.diagnostics.push(Diagnostic::new(Code::ConsistencyError, node.span, message));
        }
        let exits = exits.iter().map(|&exit| self.draft.node_of_label(exit)).collect();
        let then = then.map(|then| self.draft.node_of_label(then));
        let hole = self.draft.hole;
        let block = &mut self.draft.nodes[id];
        block.kind = DraftKind::Loop {
            condition: condition.clone(),
            entry: hole,
            then: then.filter(|_| condition.is_some()),
            exits: Some(exits),
        };
        // A read by `old` at the head needs the label; otherwise the name is only a jump target.
        if !self.draft.labels_read.contains(&node.label) {
            block.label = None;
        }
        if let Some(first) = self.graph(graph, Some(id))
            && let DraftKind::Loop { entry, .. } = &mut self.draft.nodes[id].kind
        {
            *entry = first;
        }
    }

    fn jump(&mut self, terminator: &TerminatorKind) -> Jump {
        terminator.clone().retargeted(|target| self.draft.node_of_label(target))
    }

    fn set_basic(
        &mut self,
        id: NodeId,
        statements: Vec<Stmt>,
        jump: Jump,
        jump_span: crate::source::Span,
    ) {
        self.draft.nodes[id].kind = DraftKind::Basic { statements, jump, jump_span };
    }

    /// A `label` inside a block is no jump target, hence no loop head.
    fn plain_label(&mut self, mut statement: Stmt) -> Stmt {
        if let StmtKind::Label { label, invariants, decreases } = &mut statement.kind {
            if !invariants.is_empty() {
                let name = self.draft.label_name(*label);
                self.diagnostics.push(super::structured::not_a_loop_head(name, statement.span));
            }
            invariants.clear();
            decreases.clear();
        }
        statement
    }
}

fn declaration(graph: &Graph) -> Stmt {
    Stmt::new(StmtKind::Var(graph.locals.clone()), graph.span)
}
