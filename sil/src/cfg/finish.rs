//! The finished graph: targets as in the nested form, and what each loop writes, sets and is left
//! to.

use std::collections::BTreeSet;

use la_arena::{Arena, ArenaMap, RawIdx};
use rustc_hash::FxHashMap;

use super::draft::{Draft, DraftKind, Jump, NodeId};
use super::{Block, BlockId, BlockKind, Cfg, Loop, Terminator, TerminatorKind, joins};
use crate::program::{LabelId, LocalId};
use crate::source::Span;
use crate::walk::{labels_set, written_locals};

/// Turns a draft with nested loops into the graph the engine reads.
pub(super) fn finish(mut draft: Draft<'_>) -> Cfg {
    place_loops(&mut draft);
    let mut retarget = Retarget { draft: &mut draft, back_blocks: FxHashMap::default() };
    retarget.all();
    let order = outer_before_inner(&draft);
    let mut cfg = emit(draft, &order);
    collect_exits(&mut cfg);
    collect_effects(&mut cfg);
    cfg.joins = joins::find(&cfg);
    cfg
}

/// Each loop made of gotos stands where its head stood; heads that became a condition vanish.
fn place_loops(draft: &mut Draft<'_>) {
    let written = std::mem::take(&mut draft.order);
    for id in written {
        draft.order.extend(draft.loop_of_head.get(&id));
        if !draft.replaced_heads.contains(&id) {
            draft.order.push(id);
        }
    }
}

/// Where a jump leads in the nested form.
enum Destination {
    Block(NodeId),
    /// Back to the head of this loop, which is around the jump.
    Head(NodeId),
}

struct Retarget<'d, 'a> {
    draft: &'d mut Draft<'a>,
    /// For each loop, the block inside it that goes back to its head, made when needed.
    back_blocks: FxHashMap<NodeId, NodeId>,
}

impl Retarget<'_, '_> {
    fn all(&mut self) {
        self.draft.entry = self.entry_target(self.draft.entry, None);
        // Blocks added on the way need no new targets.
        for id in self.draft.order.clone() {
            match &mut self.draft.nodes[id].kind {
                DraftKind::Basic { jump, .. } => {
                    let old = std::mem::replace(jump, Jump::Dead);
                    let new = self.jump(id, old);
                    if let DraftKind::Basic { jump, .. } = &mut self.draft.nodes[id].kind {
                        *jump = new;
                    }
                }
                &mut DraftKind::Loop { entry, then, .. } => {
                    let new_entry = self.entry_target(entry, Some(id));
                    let new_then = then.map(|then| self.after_loop(id, then));
                    if let DraftKind::Loop { entry, then, .. } = &mut self.draft.nodes[id].kind {
                        *entry = new_entry;
                        *then = new_then;
                    }
                }
            }
        }
    }

    fn jump(&mut self, id: NodeId, jump: Jump) -> Jump {
        match jump {
            Jump::Goto(target) => match self.destination(id, target) {
                Destination::Head(head) if self.draft.nodes[id].parent == Some(head) => Jump::Next,
                destination => Jump::Goto(self.block_for(destination)),
            },
            jump => jump.retargeted(|target| {
                let destination = self.destination(id, target);
                self.block_for(destination)
            }),
        }
    }

    /// The end of a loop leads to a block of the loop's own level, if need be a new one that jumps
    /// on.
    fn after_loop(&mut self, id: NodeId, then: NodeId) -> NodeId {
        let destination = self.destination(id, then);
        let level = self.draft.nodes[id].parent;
        let (is_on_level, jump) = match destination {
            Destination::Block(target) => {
                (self.draft.nodes[target].parent == level, Jump::Goto(target))
            }
            Destination::Head(head) if level == Some(head) => return self.back_block(head),
            Destination::Head(head) => (false, Jump::Goto(self.back_block(head))),
        };
        if is_on_level && let Jump::Goto(target) = jump {
            return target;
        }
        let span = self.draft.nodes[id].span;
        let block = self.draft.add_block("after", level, span);
        if let DraftKind::Basic { jump: slot, .. } = &mut self.draft.nodes[block].kind {
            *slot = jump;
        }
        block
    }

    fn destination(&self, from: NodeId, target: NodeId) -> Destination {
        match self.draft.loop_of_head.get(&target) {
            None => Destination::Block(target),
            Some(&around) if self.draft.ancestors(from).any(|id| id == around) => {
                Destination::Head(around)
            }
            Some(&around) => Destination::Block(around),
        }
    }

    fn block_for(&mut self, destination: Destination) -> NodeId {
        match destination {
            Destination::Block(target) => target,
            Destination::Head(head) => self.back_block(head),
        }
    }

    /// Returns a block of the loop's own graph that does nothing but go back to the head.
    fn back_block(&mut self, head: NodeId) -> NodeId {
        if let Some(&block) = self.back_blocks.get(&head) {
            return block;
        }
        let span = self.draft.nodes[head].span;
        let block = self.draft.add_block("back", Some(head), span);
        if let DraftKind::Basic { jump, .. } = &mut self.draft.nodes[block].kind {
            *jump = Jump::Next;
        }
        self.back_blocks.insert(head, block);
        block
    }

    /// Returns the entry of a level: if it is the head of a loop inside that level, the loop.
    fn entry_target(&self, entry: NodeId, level: Option<NodeId>) -> NodeId {
        match self.draft.loop_of_head.get(&entry) {
            Some(&around) if Some(around) != level => around,
            _ => entry,
        }
    }
}

/// Returns the nodes in pre-order of the nesting, each level in the order written.
fn outer_before_inner(draft: &Draft<'_>) -> Vec<NodeId> {
    let mut levels: FxHashMap<Option<NodeId>, Vec<NodeId>> = FxHashMap::default();
    for &id in &draft.order {
        levels.entry(draft.nodes[id].parent).or_default().push(id);
    }
    let mut order = Vec::with_capacity(draft.order.len());
    let mut open = vec![None];
    while let Some(next) = open.pop() {
        order.extend(next);
        if let Some(inner) = levels.remove(&next) {
            open.extend(inner.into_iter().rev().map(Some));
        }
    }
    order
}

fn emit(mut draft: Draft<'_>, order: &[NodeId]) -> Cfg {
    let block_of: FxHashMap<NodeId, BlockId> =
        order.iter().enumerate().map(|(index, &id)| (id, block_id(index))).collect();
    let mut blocks = Arena::with_capacity(order.len());
    for &id in order {
        let node = &mut draft.nodes[id];
        let invariants = std::mem::take(&mut node.invariants);
        let decreases = std::mem::take(&mut node.decreases);
        let hole = DraftKind::Basic {
            statements: Vec::new(),
            jump: Jump::Dead,
            jump_span: Span::default(),
        };
        let kind = match std::mem::replace(&mut node.kind, hole) {
            DraftKind::Basic { statements, jump, jump_span } => BlockKind::Basic {
                statements,
                terminator: Terminator {
                    kind: jump.retargeted(|target| block_of[&target]),
                    span: jump_span,
                },
            },
            DraftKind::Loop { condition, entry, then, .. } => BlockKind::Loop(Loop {
                condition,
                invariants,
                decreases,
                entry: block_of[&entry],
                then: then.map(|then| block_of[&then]),
                exits: Vec::new(),
                written: Vec::new(),
                labels: Vec::new(),
            }),
        };
        blocks.alloc(Block {
            name: std::mem::take(&mut node.name),
            label: node.label,
            parent: node.parent.map(|parent| block_of[&parent]),
            kind,
            annotations: std::mem::take(&mut node.annotations),
            span: node.span,
        });
    }
    Cfg { blocks, entry: block_of[&draft.entry], joins: ArenaMap::default() }
}

/// Returns the id of the block allocated as number `index`.
fn block_id(index: usize) -> BlockId {
    BlockId::from_raw(RawIdx::from(index as u32))
}

fn collect_exits(cfg: &mut Cfg) {
    for index in 0..cfg.blocks.len() {
        let source = block_id(index);
        for target in cfg.targets(source).collect::<Vec<_>>() {
            let level = cfg.blocks[target].parent;
            let mut around = cfg.blocks[source].parent;
            while around != level
                && let Some(id) = around
            {
                around = cfg.blocks[id].parent;
                if let BlockKind::Loop(left) = &mut cfg.blocks[id].kind
                    && !left.exits.contains(&target)
                {
                    left.exits.push(target);
                }
            }
        }
    }
}

/// Written variables and labels, bottom up: inner blocks come after the loop around them.
fn collect_effects(cfg: &mut Cfg) {
    let mut of_loop: FxHashMap<BlockId, (BTreeSet<LocalId>, BTreeSet<LabelId>)> =
        FxHashMap::default();
    for index in (0..cfg.blocks.len()).rev() {
        let id = block_id(index);
        let block = &mut cfg.blocks[id];
        let (mut written, mut labels) = match &mut block.kind {
            BlockKind::Basic { statements, .. } if block.parent.is_some() => {
                (written_locals(&*statements), labels_set(&*statements))
            }
            BlockKind::Basic { .. } => continue,
            BlockKind::Loop(_) => of_loop.remove(&id).unwrap_or_default(),
        };
        labels.extend(block.label);
        if let BlockKind::Loop(inner) = &mut block.kind {
            inner.written = written.iter().copied().collect();
            inner.labels = labels.iter().copied().collect();
        }
        if let Some(parent) = block.parent {
            let around = of_loop.entry(parent).or_default();
            merge(&mut around.0, &mut written);
            merge(&mut around.1, &mut labels);
        }
    }
}

/// Adds the smaller set to the larger one.
fn merge<T: Ord>(into: &mut BTreeSet<T>, from: &mut BTreeSet<T>) {
    if into.len() < from.len() {
        std::mem::swap(into, from);
    }
    into.append(from);
}

impl Cfg {
    /// Returns where control may go directly from a block: the targets of its terminator, or `then`
    /// of a loop. (Into a loop's graph and out of it by its exits is not among them.)
    pub fn targets(&self, block: BlockId) -> impl Iterator<Item = BlockId> {
        let (terminator, then) = match &self.blocks[block].kind {
            BlockKind::Basic { terminator, .. } => (Some(&terminator.kind), None),
            BlockKind::Loop(inner) => (None, inner.then),
        };
        terminator.into_iter().flat_map(TerminatorKind::targets).copied().chain(then)
    }
}
