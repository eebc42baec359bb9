//! Where the two sides of a branch meet again: nearest common post-dominators, level by level.

use la_arena::ArenaMap;

use super::{BlockId, BlockKind, Cfg, TerminatorKind};

/// The knowledge about a block's way to the end of its level.
#[derive(Clone, Copy)]
enum Way {
    /// All ways end in `dead`: the block does not count.
    Dead,
    /// All ways pass `next` (no block on the level, if `None`); `depth` is the number of blocks
    /// that all pass.
    Through { next: Option<BlockId>, depth: u32 },
}

/// Returns the join point of every block that ends in a branch and has one.
pub(super) fn find(cfg: &Cfg) -> ArenaMap<BlockId, BlockId> {
    let mut ways: ArenaMap<BlockId, Way> = ArenaMap::default();
    let mut joins = ArenaMap::default();
    let halting = loops_that_halt(cfg);
    let mut entered = ArenaMap::default();
    for (start, _) in cfg.blocks.iter() {
        for block in post_order(cfg, start, &mut entered) {
            let way = way_of(cfg, block, &ways, &halting);
            ways.insert(block, way);
            if let Way::Through { next: Some(join), .. } = way
                && ends_in_branch(cfg, block)
            {
                joins.insert(block, join);
            }
        }
    }
    joins
}

fn ends_in_branch(cfg: &Cfg, block: BlockId) -> bool {
    matches!(&cfg.blocks[block].kind, BlockKind::Basic { terminator, .. }
        if matches!(terminator.kind, TerminatorKind::Branch { .. }))
}

/// Returns where control may go on from a block, the inside of a loop skipped.
fn successors(cfg: &Cfg, block: BlockId) -> Vec<BlockId> {
    let mut targets: Vec<BlockId> = cfg.targets(block).collect();
    if let BlockKind::Loop(inner) = &cfg.blocks[block].kind {
        targets.extend(&inner.exits);
    }
    targets
}

/// Returns the loops with a `halt` inside, at whatever depth.
fn loops_that_halt(cfg: &Cfg) -> ArenaMap<BlockId, ()> {
    let mut halting = ArenaMap::default();
    for (_, block) in cfg.blocks.iter() {
        let BlockKind::Basic { terminator, .. } = &block.kind else { continue };
        if !matches!(terminator.kind, TerminatorKind::Halt) {
            continue;
        }
        let mut around = block.parent;
        while let Some(id) = around
            && halting.insert(id, ()).is_none()
        {
            around = cfg.blocks[id].parent;
        }
    }
    halting
}

/// Blocks of the level of `start` reachable from it and not yet entered, targets first. Levels are
/// acyclic.
fn post_order(cfg: &Cfg, start: BlockId, entered: &mut ArenaMap<BlockId, ()>) -> Vec<BlockId> {
    let level = cfg.blocks[start].parent;
    let mut order = Vec::new();
    let mut open = vec![(start, false)];
    while let Some((block, is_left)) = open.pop() {
        if is_left {
            order.push(block);
        } else if entered.insert(block, ()).is_none() {
            open.push((block, true));
            let targets = successors(cfg, block).into_iter();
            let on_level = targets.filter(|&target| cfg.blocks[target].parent == level);
            open.extend(on_level.map(|target| (target, false)));
        }
    }
    order
}

fn way_of(
    cfg: &Cfg,
    block: BlockId,
    ways: &ArenaMap<BlockId, Way>,
    halting: &ArenaMap<BlockId, ()>,
) -> Way {
    const OUT: Way = Way::Through { next: None, depth: 0 };
    match &cfg.blocks[block].kind {
        BlockKind::Basic { terminator, .. } => match terminator.kind {
            TerminatorKind::Dead => return Way::Dead,
            TerminatorKind::Next | TerminatorKind::Halt => return OUT,
            _ => {}
        },
        BlockKind::Loop(_) if halting.contains_idx(block) => return OUT,
        BlockKind::Loop(_) => {}
    }
    let level = cfg.blocks[block].parent;
    let mut common: Option<Option<BlockId>> = None;
    for target in successors(cfg, block) {
        if cfg.blocks[target].parent != level {
            return OUT;
        }
        if matches!(ways.get(target), Some(Way::Dead)) {
            continue;
        }
        common = Some(match common {
            None => Some(target),
            Some(other) => meet(other, Some(target), ways),
        });
    }
    match common {
        None => Way::Dead,
        Some(next) => {
            let depth = next.map_or(0, |next| depth(next, ways) + 1);
            Way::Through { next, depth }
        }
    }
}

/// Returns the first block that all ways from both blocks pass.
fn meet(
    first: Option<BlockId>,
    second: Option<BlockId>,
    ways: &ArenaMap<BlockId, Way>,
) -> Option<BlockId> {
    let (mut first, mut second) = (first?, second?);
    while first != second {
        if depth(first, ways) < depth(second, ways) {
            std::mem::swap(&mut first, &mut second);
        }
        match ways.get(first) {
            Some(Way::Through { next: Some(next), .. }) => first = *next,
            _ => return None,
        }
    }
    Some(first)
}

fn depth(block: BlockId, ways: &ArenaMap<BlockId, Way>) -> u32 {
    match ways.get(block) {
        Some(Way::Through { depth, .. }) => *depth,
        _ => 0,
    }
}
