//! Graphviz output of graphs, for `--dump cfg`.

use std::fmt::Write;

use la_arena::ArenaMap;

use super::{Block, BlockId, BlockKind, Cfg, Loop, TerminatorKind};
use crate::print::Snippets;
use crate::program::{Implementation, Method, Program};

/// Returns all bodies of the program in Graphviz's language: a cluster for each implementation, in
/// it a cluster for each loop block around its nested graph. Bodies whose control flow is not valid
/// are left out.
pub fn to_dot(program: &Program) -> String {
    let mut text = String::from(
        "digraph program {\n  node [shape=box, fontname=monospace];\n  edge [fontname=monospace];\n",
    );
    for (id, method) in program.methods.iter() {
        for (index, implementation) in method.implementations.iter().enumerate() {
            if let Some(cfg) = super::build(program, id, index, &mut Vec::new()) {
                let prefix = format!("m{}_{index}", id.into_raw().into_u32());
                let snippets = Snippets::new(program, method, implementation);
                let mut picture = Picture { text, prefix, cfg: &cfg, snippets };
                picture.body(&title(method, implementation));
                text = picture.text;
            }
        }
    }
    text.push_str("}\n");
    text
}

fn title(method: &Method, implementation: &Implementation) -> String {
    match &implementation.name {
        Some(name) => format!("method {}, implementation {name}", method.name),
        None => format!("method {}", method.name),
    }
}

/// One body on its way into the text.
struct Picture<'a> {
    text: String,
    /// The prefix of the names of its nodes and clusters.
    prefix: String,
    cfg: &'a Cfg,
    snippets: Snippets<'a>,
}

/// A part that is left to write: loops may nest too deep for a recursion.
enum Part {
    Block(BlockId, usize),
    Close(usize),
}

impl Picture<'_> {
    fn body(&mut self, title: &str) {
        let prefix = self.prefix.clone();
        self.line(1, &format!("subgraph cluster_{prefix} {{"));
        self.line(2, &format!("label=\"{}\";", escaped(title)));
        let mut inner: ArenaMap<BlockId, Vec<BlockId>> = ArenaMap::default();
        let mut open = Vec::new();
        for (id, block) in self.cfg.blocks.iter() {
            match block.parent {
                Some(parent) => inner.entry(parent).or_default().push(id),
                None => open.push(Part::Block(id, 2)),
            }
        }
        open.reverse();
        while let Some(part) = open.pop() {
            match part {
                Part::Close(depth) => self.line(depth, "}"),
                Part::Block(id, depth) => {
                    let block = &self.cfg.blocks[id];
                    self.node(id, block, depth);
                    if matches!(block.kind, BlockKind::Loop(_)) {
                        let number = number(id);
                        self.line(depth, &format!("subgraph cluster_{prefix}_{number} {{"));
                        self.line(depth + 1, &format!("label=\"{}\";", escaped(&block.name)));
                        open.push(Part::Close(depth));
                        let blocks = inner.get(id).into_iter().flatten().rev();
                        open.extend(blocks.map(|&id| Part::Block(id, depth + 1)));
                    }
                }
            }
        }
        for (id, block) in self.cfg.blocks.iter() {
            self.edges(id, block);
        }
        self.line(1, "}");
    }

    /// The lines that a block shows: its name, its statements, the condition or invariants.
    fn node(&mut self, id: BlockId, block: &Block, depth: usize) {
        let (mut lines, shape) = match &block.kind {
            BlockKind::Basic { statements, terminator } => {
                let mut lines = vec![format!("{}:", block.name)];
                lines.extend(statements.iter().map(|statement| self.snippets.stmt(statement)));
                match &terminator.kind {
                    TerminatorKind::Branch { condition, .. } => {
                        lines.push(format!("branch ({})", self.snippets.expr(condition)));
                    }
                    TerminatorKind::Halt => lines.push("halt".to_owned()),
                    TerminatorKind::Dead => lines.push("dead".to_owned()),
                    TerminatorKind::Goto(_) | TerminatorKind::Next => {}
                }
                (lines, "")
            }
            BlockKind::Loop(Loop { condition, invariants, .. }) => {
                let condition = condition.as_ref().map(|condition| self.snippets.expr(condition));
                let condition = condition.map_or(String::new(), |it| format!(" while ({it})"));
                let mut lines = vec![format!("loop {}{condition}", block.name)];
                let invariants = invariants.iter().map(|it| self.snippets.expr(it));
                lines.extend(invariants.map(|invariant| format!("invariant {invariant}")));
                (lines, ", shape=hexagon")
            }
        };
        // `\l` ends a line that is aligned to the left.
        lines.iter_mut().for_each(|line| *line = escaped(line) + "\\l");
        let entry = if self.cfg.entry == id { ", penwidth=2" } else { "" };
        let name = self.name(id);
        self.line(depth, &format!("{name} [label=\"{}\"{shape}{entry}];", lines.concat()));
    }

    fn edges(&mut self, id: BlockId, block: &Block) {
        match &block.kind {
            BlockKind::Loop(inner) => {
                self.edge(id, inner.entry, "label=enter");
                if let Some(then) = inner.then {
                    self.edge(id, then, "label=then");
                }
            }
            BlockKind::Basic { terminator, .. } => match &terminator.kind {
                TerminatorKind::Goto(target) => self.edge(id, *target, ""),
                TerminatorKind::Branch { then, otherwise, .. } => {
                    self.edge(id, *then, "label=true");
                    self.edge(id, *otherwise, "label=false");
                }
                TerminatorKind::Next => {
                    if let Some(head) = block.parent {
                        self.edge(id, head, "label=next, style=dashed");
                    }
                }
                TerminatorKind::Halt | TerminatorKind::Dead => {}
            },
        }
    }

    fn edge(&mut self, from: BlockId, to: BlockId, style: &str) {
        let (from, to) = (self.name(from), self.name(to));
        let style = if style.is_empty() { String::new() } else { format!(" [{style}]") };
        self.line(2, &format!("{from} -> {to}{style};"));
    }

    fn name(&self, id: BlockId) -> String {
        format!("{}_{}", self.prefix, number(id))
    }

    fn line(&mut self, depth: usize, line: &str) {
        let _ = writeln!(self.text, "{:width$}{line}", "", width = 2 * depth);
    }
}

fn number(id: BlockId) -> u32 {
    id.into_raw().into_u32()
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
