//! Structured bodies to blocks.
//!
//! Control flow that has not reached its next statement yet is a list of open ends; the statement
//! that comes next decides whether they need a block of their own, so that no empty blocks arise.

use front::grow_stack;
use rustc_hash::FxHashSet;

use super::draft::{Draft, DraftKind, Jump, NodeId};
use crate::diagnostics::{Code, Diagnostic};
use crate::program::{Block, Decreases, Expr, LabelId, Stmt, StmtKind};
use crate::source::Span;
use crate::walk::walk_stmts;

/// Fills `draft` with the blocks of a structured body or proof script.
pub(super) fn lower(draft: &mut Draft<'_>, body: &Block, diagnostics: &mut Vec<Diagnostic>) {
    let mut jump_targets = FxHashSet::default();
    walk_stmts(&body.statements, |statement| {
        if let StmtKind::Goto(label) = &statement.kind {
            jump_targets.insert(*label);
        }
    });
    let entry = draft.add_block("start", None, body.span);
    draft.entry = entry;
    let mut lowering = Lowering { draft, jump_targets, diagnostics };
    let flow = lowering.block(body, None, Flow::At(entry));
    lowering.end(flow, None, Jump::Halt, body.span);
}

struct Lowering<'l, 'a> {
    draft: &'l mut Draft<'a>,
    jump_targets: FxHashSet<LabelId>,
    diagnostics: &'l mut Vec<Diagnostic>,
}

/// Where control is between two statements.
enum Flow {
    /// At the end of this block, which has no jump yet.
    At(NodeId),
    /// At all of these ends, on one level; if there are none, nowhere.
    Ends(Vec<End>),
}

/// A jump of `node` whose target is still open.
struct End {
    node: NodeId,
    slot: Slot,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    Goto,
    Then,
    Otherwise,
    AfterLoop,
}

impl Flow {
    fn into_ends(self) -> Vec<End> {
        match self {
            Self::At(node) => vec![End { node, slot: Slot::Goto }],
            Self::Ends(ends) => ends,
        }
    }

    fn nowhere() -> Self {
        Self::Ends(Vec::new())
    }
}

impl Lowering<'_, '_> {
    fn block(&mut self, block: &Block, level: Option<NodeId>, mut flow: Flow) -> Flow {
        for statement in &block.statements {
            flow = self.statement(statement, level, flow);
        }
        flow
    }

    fn statement(&mut self, statement: &Stmt, level: Option<NodeId>, flow: Flow) -> Flow {
        match &statement.kind {
            StmtKind::If { condition, then, otherwise } => grow_stack(|| {
                self.conditional(statement, condition, then, otherwise.as_ref(), level, flow)
            }),
            StmtKind::While { body, .. } => {
                grow_stack(|| self.while_loop(statement, body, level, flow))
            }
            StmtKind::Block(block) => grow_stack(|| self.block(block, level, flow)),
            StmtKind::Goto(label) => self.goto(*label, statement.span, level, flow),
            StmtKind::Label { label, invariants, decreases } => {
                self.label(statement, *label, invariants, decreases, level, flow)
            }
            _ => self.simple(statement.clone(), level, flow),
        }
    }

    fn simple(&mut self, statement: Stmt, level: Option<NodeId>, flow: Flow) -> Flow {
        let Some(node) = self.block_at(flow, level, statement.span) else {
            return Flow::nowhere();
        };
        if let DraftKind::Basic { statements, .. } = &mut self.draft.nodes[node].kind {
            statements.push(statement);
        }
        Flow::At(node)
    }

    fn conditional(
        &mut self,
        statement: &Stmt,
        condition: &Expr,
        then: &Block,
        otherwise: Option<&Block>,
        level: Option<NodeId>,
        flow: Flow,
    ) -> Flow {
        let (mut at_then, mut at_otherwise) = (Flow::nowhere(), Flow::nowhere());
        if let Some(node) = self.block_at(flow, level, statement.span) {
            let hole = self.draft.hole;
            let branch = Jump::Branch { condition: condition.clone(), then: hole, otherwise: hole };
            self.set_jump(node, branch, statement.span);
            // Annotations of a branch stand on its block.
            self.draft.nodes[node].annotations.extend_from_slice(&statement.annotations);
            at_then = Flow::Ends(vec![End { node, slot: Slot::Then }]);
            at_otherwise = Flow::Ends(vec![End { node, slot: Slot::Otherwise }]);
        }
        let after_then = self.block(then, level, at_then);
        let after_otherwise = match otherwise {
            Some(otherwise) => self.block(otherwise, level, at_otherwise),
            None => at_otherwise,
        };
        // The longer list grows, so that chains of `elseif` cost linear time.
        let (mut ends, mut others) = (after_then.into_ends(), after_otherwise.into_ends());
        if ends.len() < others.len() {
            std::mem::swap(&mut ends, &mut others);
        }
        ends.append(&mut others);
        Flow::Ends(ends)
    }

    fn while_loop(
        &mut self,
        statement: &Stmt,
        body: &Block,
        level: Option<NodeId>,
        flow: Flow,
    ) -> Flow {
        let StmtKind::While { condition, invariants, decreases, .. } = &statement.kind else {
            return flow;
        };
        let name = self.draft.names.fresh("while");
        let head = self.draft.alloc_loop(name, level, statement.span);
        self.draft.order.push(head);
        self.arrive(flow, head, statement.span);
        let entry = self.draft.add_block("body", Some(head), body.span);
        let hole = self.draft.hole;
        let node = &mut self.draft.nodes[head];
        node.kind = DraftKind::Loop {
            condition: Some(condition.clone()),
            entry,
            then: Some(hole),
            exits: None,
        };
        node.invariants.clone_from(invariants);
        node.decreases.clone_from(decreases);
        node.annotations.clone_from(&statement.annotations);
        let at_end = self.block(body, Some(head), Flow::At(entry));
        self.end(at_end, Some(head), Jump::Next, statement.span);
        Flow::Ends(vec![End { node: head, slot: Slot::AfterLoop }])
    }

    /// A single open branch goes to the label directly; several ends meet first, so that they can
    /// be joined. Where the label stands inside the statement that they are the ends of, meeting
    /// first would be a second way into the loop.
    fn goto(&mut self, label: LabelId, span: Span, level: Option<NodeId>, flow: Flow) -> Flow {
        let target = self.draft.node_of_label(label);
        match flow {
            Flow::Ends(ends) if matches!(&ends[..], [end] if end.slot != Slot::AfterLoop) => {
                self.arrive(Flow::Ends(ends), target, span);
            }
            Flow::Ends(ends) if self.is_placed_behind(target, &ends) => {
                self.arrive(Flow::Ends(ends), target, span);
            }
            flow => self.end(flow, level, Jump::Goto(target), span),
        }
        Flow::nowhere()
    }

    /// Tells whether a label was passed on the way from one of the ends on.
    fn is_placed_behind(&self, label: NodeId, ends: &[End]) -> bool {
        let mut order = self.draft.order.iter();
        ends.len() > 1
            && order.any(|node| ends.iter().any(|end| end.node == *node))
            && order.any(|node| *node == label)
    }

    fn label(
        &mut self,
        statement: &Stmt,
        label: LabelId,
        invariants: &[Expr],
        decreases: &[Decreases],
        level: Option<NodeId>,
        flow: Flow,
    ) -> Flow {
        if !self.jump_targets.contains(&label) {
            let mut plain = statement.clone();
            plain.kind = StmtKind::Label { label, invariants: Vec::new(), decreases: Vec::new() };
            if !invariants.is_empty() {
                let name = self.draft.label_name(label);
                self.diagnostics.push(not_a_loop_head(name, statement.span));
            }
            return self.simple(plain, level, flow);
        }
        let node = self.draft.node_of_label(label);
        self.draft.order.push(node);
        let block = &mut self.draft.nodes[node];
        block.parent = level;
        block.invariants = invariants.to_vec();
        block.decreases = decreases.to_vec();
        block.annotations.clone_from(&statement.annotations);
        block.span = statement.span;
        self.arrive(flow, node, statement.span);
        Flow::At(node)
    }

    /// Returns the block the next statement goes to; `None` in unreachable code.
    fn block_at(&mut self, flow: Flow, level: Option<NodeId>, span: Span) -> Option<NodeId> {
        let ends = match flow {
            Flow::At(node) => return Some(node),
            Flow::Ends(ends) => ends,
        };
        let hint = match &ends[..] {
            [] => return None,
            [End { node, slot: Slot::Goto }] => return Some(*node),
            [End { slot: Slot::Then, .. }] => "then",
            [End { slot: Slot::Otherwise, .. }] => "else",
            [End { slot: Slot::AfterLoop, .. }] => "after",
            _ => "join",
        };
        let node = self.draft.add_block(hint, level, span);
        self.arrive(Flow::Ends(ends), node, span);
        Some(node)
    }

    /// Control goes on at `target`.
    fn arrive(&mut self, flow: Flow, target: NodeId, span: Span) {
        for end in flow.into_ends() {
            match &mut self.draft.nodes[end.node].kind {
                DraftKind::Basic { jump: Jump::Branch { then: slot, .. }, .. }
                    if end.slot == Slot::Then =>
                {
                    *slot = target;
                }
                DraftKind::Basic { jump: Jump::Branch { otherwise: slot, .. }, .. }
                    if end.slot == Slot::Otherwise =>
                {
                    *slot = target;
                }
                DraftKind::Basic { .. } => self.set_jump(end.node, Jump::Goto(target), span),
                DraftKind::Loop { then, .. } => *then = Some(target),
            }
        }
    }

    /// Control, if it gets here, ends with `jump`.
    fn end(&mut self, flow: Flow, level: Option<NodeId>, jump: Jump, span: Span) {
        if let Some(node) = self.block_at(flow, level, span) {
            self.set_jump(node, jump, span);
        }
    }

    fn set_jump(&mut self, node: NodeId, new: Jump, span: Span) {
        if let DraftKind::Basic { jump, jump_span, .. } = &mut self.draft.nodes[node].kind {
            *jump = new;
            *jump_span = span;
        }
    }
}

/// Returns the warning for a label whose invariants nobody checks.
pub(super) fn not_a_loop_head(name: &str, span: Span) -> Diagnostic {
    let message = format!("`{name}` declares an invariant, but is not the head of a loop");
    Diagnostic::new(Code::VerifierWarning, span, message)
}
