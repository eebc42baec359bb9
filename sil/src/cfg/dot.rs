//! Graphviz output of a graph, for `--dump cfg`.

use std::fmt::Write;

use super::{Block, BlockId, BlockKind, Cfg, TerminatorKind};

/// The graph in Graphviz's language, each loop block a cluster around its nested graph.
pub fn to_dot(cfg: &Cfg) -> String {
    let mut text = String::from("digraph cfg {\n  node [shape=box, fontname=monospace];\n");
    let mut inner: la_arena::ArenaMap<BlockId, Vec<BlockId>> = la_arena::ArenaMap::default();
    let mut open = Vec::new();
    for (id, block) in cfg.blocks.iter() {
        match block.parent {
            Some(parent) => inner.entry(parent).or_default().push(id),
            None => open.push(Part::Block(id, 1)),
        }
    }
    open.reverse();
    while let Some(part) = open.pop() {
        match part {
            Part::Close(depth) => indented(&mut text, depth, "}"),
            Part::Block(id, depth) => {
                let block = &cfg.blocks[id];
                node(&mut text, cfg, id, block, depth);
                if matches!(block.kind, BlockKind::Loop(_)) {
                    indented(&mut text, depth, &format!("subgraph cluster_{} {{", number(id)));
                    indented(&mut text, depth + 1, &format!("label=\"{}\";", escaped(&block.name)));
                    open.push(Part::Close(depth));
                    let blocks = inner.get(id).into_iter().flatten().rev();
                    open.extend(blocks.map(|&id| Part::Block(id, depth + 1)));
                }
            }
        }
    }
    for (id, block) in cfg.blocks.iter() {
        edges(&mut text, id, block);
    }
    text.push_str("}\n");
    text
}

enum Part {
    Block(BlockId, usize),
    Close(usize),
}

fn node(text: &mut String, cfg: &Cfg, id: BlockId, block: &Block, depth: usize) {
    let entry = if cfg.entry == id { ", penwidth=2" } else { "" };
    let (what, shape) = match &block.kind {
        BlockKind::Basic { statements, .. } => {
            (format!("{}\\n{} statements", escaped(&block.name), statements.len()), "")
        }
        BlockKind::Loop(inner) => {
            let head = if inner.condition.is_some() { "while" } else { "loop" };
            (format!("{head} {}", escaped(&block.name)), ", shape=hexagon")
        }
    };
    indented(text, depth, &format!("b{} [label=\"{what}\"{shape}{entry}];", number(id)));
}

fn edges(text: &mut String, id: BlockId, block: &Block) {
    let mut edge = |target: BlockId, style: &str| {
        let _ = writeln!(text, "  b{} -> b{} [{style}];", number(id), number(target));
    };
    match &block.kind {
        BlockKind::Loop(inner) => {
            edge(inner.entry, "label=\"enter\"");
            if let Some(then) = inner.then {
                edge(then, "label=\"then\"");
            }
        }
        BlockKind::Basic { terminator, .. } => match &terminator.kind {
            TerminatorKind::Goto(target) => edge(*target, ""),
            TerminatorKind::Branch { then, otherwise, .. } => {
                edge(*then, "label=\"true\"");
                edge(*otherwise, "label=\"false\"");
            }
            TerminatorKind::Next => {
                if let Some(head) = block.parent {
                    edge(head, "label=\"next\", style=dashed");
                }
            }
            TerminatorKind::Halt | TerminatorKind::Dead => {}
        },
    }
}

fn indented(text: &mut String, depth: usize, line: &str) {
    let _ = writeln!(text, "{:width$}{line}", "", width = 2 * depth);
}

fn number(id: BlockId) -> u32 {
    id.into_raw().into_u32()
}

fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"")
}
