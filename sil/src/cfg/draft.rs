//! The graph while it is being built: blocks and jumps, loops of gotos not yet nested.

use la_arena::{Arena, Idx};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostics::{Code, Diagnostic};
use crate::program::{
    Annotation, Body, Decreases, Expr, Implementation, LabelId, Method, Stmt, StmtKind,
};
use crate::source::Span;
use crate::syntax::TerminatorKind;
use crate::walk::{Uses, Visit, labels_set, walk_body, walk_stmts};

pub(super) type NodeId = Idx<DraftNode>;

/// A graph under construction.
pub(super) struct Draft<'a> {
    implementation: &'a Implementation,
    pub(super) nodes: Arena<DraftNode>,
    /// The nodes that stand in the graph, in the order written.
    pub(super) order: Vec<NodeId>,
    pub(super) entry: NodeId,
    pub(super) names: Names,
    /// Labels that some `old[l]` of the implementation reads.
    pub(super) labels_read: FxHashSet<LabelId>,
    of_label: FxHashMap<LabelId, NodeId>,
    /// A jump that no label or block claims leads here.
    pub(super) hole: NodeId,
    /// The loop that was made of gotos back to this block.
    pub(super) loop_of_head: FxHashMap<NodeId, NodeId>,
    /// Heads that have become the condition of their loop.
    pub(super) replaced_heads: FxHashSet<NodeId>,
}

pub(super) struct DraftNode {
    pub(super) name: String,
    pub(super) label: Option<LabelId>,
    /// The loop whose nested graph the node stands in.
    pub(super) parent: Option<NodeId>,
    pub(super) kind: DraftKind,
    /// The invariants of a loop, or of a basic block that may turn out to be the head of one.
    pub(super) invariants: Vec<Expr>,
    pub(super) decreases: Vec<Decreases>,
    pub(super) annotations: Vec<Annotation>,
    pub(super) span: Span,
    /// Written as a block or loop of a graph, not made from statements.
    pub(super) is_written_block: bool,
}

pub(super) enum DraftKind {
    Basic {
        statements: Vec<Stmt>,
        jump: Jump,
        jump_span: Span,
    },
    Loop {
        condition: Option<Expr>,
        entry: NodeId,
        then: Option<NodeId>,
        /// The exits that the user listed; `None` for loops made from statements, which may be left
        /// to anywhere.
        exits: Option<Vec<NodeId>>,
    },
}

/// The end of a block.
pub(super) type Jump = TerminatorKind<Expr, NodeId>;

impl DraftNode {
    /// Returns where control may go from here directly, a loop's nested graph aside.
    pub(super) fn targets(&self) -> impl Iterator<Item = NodeId> {
        let (jump, then) = match &self.kind {
            DraftKind::Basic { jump, .. } => (Some(jump), None),
            DraftKind::Loop { then, .. } => (None, *then),
        };
        jump.into_iter().flat_map(Jump::targets).copied().chain(then)
    }
}

impl<'a> Draft<'a> {
    pub(super) fn new(method: &'a Method, implementation: &'a Implementation) -> Self {
        let mut nodes = Arena::new();
        let hole = nodes.alloc(DraftNode {
            name: String::new(),
            label: None,
            parent: None,
            kind: DraftKind::Basic {
                statements: Vec::new(),
                jump: Jump::Dead,
                jump_span: implementation.span,
            },
            invariants: Vec::new(),
            decreases: Vec::new(),
            annotations: Vec::new(),
            span: implementation.span,
            is_written_block: false,
        });
        let labels = implementation.labels.values().map(|label| label.name.to_string());
        let locals = method.locals.values().map(|local| local.name.to_string());
        Self {
            implementation,
            nodes,
            order: Vec::new(),
            entry: hole,
            names: Names { taken: labels.chain(locals).collect(), counters: FxHashMap::default() },
            labels_read: Uses::of_body(&implementation.body).labels.into_iter().collect(),
            of_label: FxHashMap::default(),
            hole,
            loop_of_head: FxHashMap::default(),
            replaced_heads: FxHashSet::default(),
        }
    }

    /// Returns a new block that stands at the end of what was placed so far.
    pub(super) fn add_block(&mut self, hint: &str, parent: Option<NodeId>, span: Span) -> NodeId {
        let name = self.names.fresh(hint);
        let node = self.alloc(name, parent, span);
        self.order.push(node);
        node
    }

    /// Returns a new loop node, its parts still to be filled in.
    pub(super) fn alloc_loop(
        &mut self,
        name: String,
        parent: Option<NodeId>,
        span: Span,
    ) -> NodeId {
        let node = self.alloc(name, parent, span);
        self.nodes[node].kind =
            DraftKind::Loop { condition: None, entry: self.hole, then: None, exits: None };
        node
    }

    fn alloc(&mut self, name: String, parent: Option<NodeId>, span: Span) -> NodeId {
        self.nodes.alloc(DraftNode {
            name,
            label: None,
            parent,
            kind: DraftKind::Basic { statements: Vec::new(), jump: Jump::Dead, jump_span: span },
            invariants: Vec::new(),
            decreases: Vec::new(),
            annotations: Vec::new(),
            span,
            is_written_block: false,
        })
    }

    /// Returns the node that a label or block name stands for; it is placed when the label is come
    /// by.
    pub(super) fn node_of_label(&mut self, label: LabelId) -> NodeId {
        if let Some(&node) = self.of_label.get(&label) {
            return node;
        }
        let written = &self.implementation.labels[label];
        let node = self.alloc(written.name.to_string(), None, written.span);
        self.nodes[node].label = Some(label);
        self.of_label.insert(label, node);
        node
    }

    pub(super) fn label_name(&self, label: LabelId) -> &'a str {
        &self.implementation.labels[label].name
    }

    /// Returns the loops around a node, innermost first.
    pub(super) fn ancestors(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.nodes[node].parent, |&node| self.nodes[node].parent)
    }

    /// Tells whether `level` is the level of `node` or one around it.
    pub(super) fn is_level_around(&self, level: Option<NodeId>, node: NodeId) -> bool {
        level.is_none_or(|level| self.ancestors(node).any(|around| around == level))
    }

    /// Jumps of a proof script stay inside it.
    pub(super) fn check_scripts(&self, body: &Body, diagnostics: &mut Vec<Diagnostic>) {
        walk_body(body, |visit| {
            let Visit::Stmt(statement) = visit else { return };
            let StmtKind::Package { script, .. } = &statement.kind else { return };
            let inside = labels_set(&script.statements);
            walk_stmts(&script.statements, |statement| {
                if let StmtKind::Goto(label) = &statement.kind
                    && !inside.contains(label)
                {
                    let message =
                        format!("jump out of a proof script to `{}`", self.label_name(*label));
                    diagnostics.push(
                        Diagnostic::new(Code::ConsistencyError, statement.span, message)
                            .with_related(self.implementation.labels[*label].span, "the target"),
                    );
                }
            });
        });
    }

    /// Every jump leads to a block of its own graph or to an exit of the loops it leaves.
    pub(super) fn check_jumps(&self, diagnostics: &mut Vec<Diagnostic>) {
        let placed: FxHashSet<NodeId> = self.order.iter().copied().collect();
        let mut used_exits = FxHashSet::default();
        for &source in &self.order {
            let node = &self.nodes[source];
            for target in node.targets() {
                if let Err(finding) = self.check_jump(source, target, &placed, &mut used_exits) {
                    diagnostics.push(finding);
                }
            }
            if matches!(&node.kind, DraftKind::Basic { jump: Jump::Next, .. })
                && node.parent.is_none()
            {
                diagnostics.push(Diagnostic::new(
                    Code::ConsistencyError,
                    jump_span(node),
                    "`next` outside of a loop",
                ));
            }
        }
        for &id in &self.order {
            self.check_exits(id, &used_exits, diagnostics);
        }
    }

    fn check_jump(
        &self,
        source: NodeId,
        target: NodeId,
        placed: &FxHashSet<NodeId>,
        used_exits: &mut FxHashSet<(NodeId, NodeId)>,
    ) -> Result<(), Diagnostic> {
        let (from, to) = (&self.nodes[source], &self.nodes[target]);
        let error = |message: String| {
            Err(Diagnostic::new(Code::ConsistencyError, jump_span(from), message)
                .with_related(to.span, "the target"))
        };
        if !placed.contains(&target) {
            return error(format!("jump to `{}`, which is not in this graph", to.name));
        }
        if matches!(from.kind, DraftKind::Loop { exits: Some(_), .. }) && from.parent != to.parent {
            return error(format!(
                "the loop continues at `{}`, which is not in the graph the loop stands in",
                to.name
            ));
        }
        if !self.is_level_around(to.parent, source) {
            return error(format!("jump into a loop, to `{}`", to.name));
        }
        for around in self.ancestors(source).take_while(|&around| Some(around) != to.parent) {
            let DraftKind::Loop { exits: Some(exits), .. } = &self.nodes[around].kind else {
                continue;
            };
            if !exits.contains(&target) {
                return error(format!(
                    "jump out of the loop `{}`, whose exits do not list `{}`",
                    self.nodes[around].name, to.name
                ));
            }
            used_exits.insert((around, target));
        }
        Ok(())
    }

    fn check_exits(
        &self,
        id: NodeId,
        used_exits: &FxHashSet<(NodeId, NodeId)>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let node = &self.nodes[id];
        let DraftKind::Loop { exits: Some(exits), .. } = &node.kind else { return };
        for &exit in exits {
            let to = &self.nodes[exit];
            let finding = if !self.is_level_around(to.parent, id) {
                Diagnostic::new(
                    Code::ConsistencyError,
                    node.span,
                    format!("the exit `{}` is not in a graph around the loop", to.name),
                )
            } else if !used_exits.contains(&(id, exit)) {
                Diagnostic::new(
                    Code::VerifierWarning,
                    node.span,
                    format!("no jump leaves the loop to its exit `{}`", to.name),
                )
            } else {
                continue;
            };
            diagnostics.push(finding.with_related(to.span, "the exit"));
        }
    }

    /// Takes out what no path from the entry reaches, with a warning for blocks that were written
    /// as such.
    pub(super) fn prune_unreachable(&mut self, diagnostics: &mut Vec<Diagnostic>) {
        let mut reached = FxHashSet::default();
        let mut halts = false;
        let mut open = vec![self.entry];
        while let Some(id) = open.pop() {
            if !reached.insert(id) {
                continue;
            }
            let node = &self.nodes[id];
            open.extend(node.targets());
            match &node.kind {
                DraftKind::Loop { entry, .. } => open.push(*entry),
                DraftKind::Basic { jump, .. } => halts |= matches!(jump, Jump::Halt),
            }
        }
        for &id in &self.order {
            let node = &self.nodes[id];
            if node.is_written_block && !reached.contains(&id) {
                let message = format!("unreachable block `{}`", node.name);
                diagnostics.push(Diagnostic::new(Code::VerifierWarning, node.span, message));
            }
        }
        if let Body::Graph(graph) = &self.implementation.body
            && !halts
        {
            let message = "no path reaches `halt`: the postconditions are never checked";
            diagnostics.push(Diagnostic::new(Code::VerifierWarning, graph.span, message));
        }
        self.order.retain(|id| reached.contains(id));
    }
}

/// Returns where to report a bad jump.
fn jump_span(node: &DraftNode) -> Span {
    match &node.kind {
        DraftKind::Basic { jump_span, .. } => *jump_span,
        DraftKind::Loop { .. } => node.span,
    }
}

/// Names for blocks that the user did not name. They contain a `$`.
pub(super) struct Names {
    taken: FxHashSet<String>,
    counters: FxHashMap<String, usize>,
}

impl Names {
    /// Returns a name that no label, block or variable of the implementation has.
    pub(super) fn fresh(&mut self, hint: &str) -> String {
        let counter = self.counters.entry(hint.to_owned()).or_insert(0);
        loop {
            *counter += 1;
            let name = format!("{hint}${counter}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }

    /// Returns the name itself if it is free.
    pub(super) fn fresh_or(&mut self, name: String) -> String {
        if self.taken.insert(name.clone()) { name } else { self.fresh(&name) }
    }
}
