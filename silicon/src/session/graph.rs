//! The control flow of methods as their author sees it: places in the text, and ways between them.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use sil::cfg::{Block, BlockId, BlockKind, Cfg, TerminatorKind};
use sil::program::{MethodId, Program};
use sil::render::Place;
use sil::source::Span;

use super::place::Places;
use symex::report::{ErrorId, Finding, MemberKind, MemberReport};

/// The control flow of one implementation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Graph {
    /// The author's name of the implementation, where the method has several.
    pub name: Option<String>,
    /// In the order of the text; control begins at the first one. A loop stands before what is in
    /// it.
    pub nodes: Vec<Node>,
}

/// Code that is executed without a branch, or the head of a loop.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Node {
    /// How many loops are around it.
    pub depth: usize,
    /// The rows of the node; generated code that its author does not know is left out.
    pub rows: Vec<(Row, Place)>,
    pub ways: Vec<Way>,
    /// The effect of control at its end, where it does not go on.
    pub end: Option<End>,
}

/// The kind of a row of a [`Node`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Row {
    Statement,
    /// The condition of a branch.
    Branch,
    /// The condition of a loop.
    Loop,
    Invariant,
}

/// Where control goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Way {
    /// The number of the node.
    pub to: usize,
    pub when: When,
    /// A path with a finding may go there.
    pub is_failing: bool,
}

/// When control goes there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum When {
    Always,
    /// The condition at the end of the node holds.
    Holds,
    /// The condition does not hold.
    Fails,
    /// The body of a loop is over.
    Again,
}

/// Why control does not go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum End {
    /// The implementation is over.
    Over,
    /// Nothing comes here: `assume false`.
    Dead,
}

/// The bodies of a program.
pub(super) struct Bodies<'a> {
    program: &'a Program,
    places: &'a Places<'a>,
}

impl<'a> Bodies<'a> {
    pub(super) fn new(program: &'a Program, places: &'a Places<'a>) -> Self {
        Self { program, places }
    }

    /// Returns the graphs of a member: of each implementation that has a branch, a loop or a jump.
    pub(super) fn graphs(&self, report: &MemberReport) -> Vec<Graph> {
        let mut methods = self.program.methods.iter();
        let is_it = |name: &str| report.kind == MemberKind::Method && *name == report.name;
        let Some((id, method)) = methods.find(|(_, method)| is_it(&method.name)) else {
            return Vec::new();
        };
        let graphs = 0..method.implementations.len();
        graphs.filter_map(|number| self.graph(id, number, &report.findings)).collect()
    }

    fn graph(&self, method: MethodId, number: usize, findings: &[Finding]) -> Option<Graph> {
        let cfg = sil::cfg::build(self.program, method, number, &mut Vec::new())?;
        if cfg.blocks.len() < 2 {
            return None;
        }
        let failing: FxHashSet<(BlockId, BlockId)> =
            findings.iter().flat_map(|finding| Path::of(&cfg, finding).ways()).collect();
        let order = order(&cfg);
        let numbers = order.iter().zip(0..).map(|(&(id, _), number)| (id, number));
        let numbers: FxHashMap<BlockId, usize> = numbers.collect();
        let node = |&(id, depth): &(BlockId, usize)| {
            let block = &cfg.blocks[id];
            let way = |(to, when)| {
                Some(Way { to: *numbers.get(&to)?, when, is_failing: failing.contains(&(id, to)) })
            };
            Node {
                depth,
                rows: self.rows(block),
                ways: ways(block).into_iter().filter_map(way).collect(),
                end: end(block),
            }
        };
        let nodes = order.iter().map(node).collect();
        let implementation = &self.program.methods[method].implementations[number];
        Some(Graph { name: implementation.name.as_ref().map(ToString::to_string), nodes })
    }

    fn rows(&self, block: &Block) -> Vec<(Row, Place)> {
        let mut spans = Vec::new();
        match &block.kind {
            BlockKind::Basic { statements, terminator } => {
                spans.extend(statements.iter().map(|it| (Row::Statement, it.span)));
                if let TerminatorKind::Branch { condition, .. } = &terminator.kind {
                    spans.push((Row::Branch, condition.span));
                }
            }
            BlockKind::Loop(it) => {
                spans.extend(it.condition.iter().map(|condition| (Row::Loop, condition.span)));
                spans.extend(it.invariants.iter().map(|it| (Row::Invariant, it.span)));
            }
        }
        let written = |(row, span)| Some((row, self.places.written(span)?));
        let mut rows: Vec<_> = spans.into_iter().filter_map(written).collect();
        // One statement of the author's may be several here.
        rows.dedup();
        rows
    }
}

/// Returns the blocks in the order of the text, each loop before what is in it, with how many loops
/// are around.
fn order(cfg: &Cfg) -> Vec<(BlockId, usize)> {
    let mut inner: Vec<Vec<BlockId>> = vec![Vec::new(); cfg.blocks.len()];
    let index = |id: BlockId| id.into_raw().into_u32() as usize;
    // Control may begin in the midst of a text that has jumps.
    let mut outer = vec![cfg.entry];
    for (id, block) in cfg.blocks.iter() {
        match block.parent {
            Some(parent) => inner[index(parent)].push(id),
            None if id != cfg.entry => outer.push(id),
            None => {}
        }
    }
    let mut open: Vec<(BlockId, usize)> = outer.into_iter().rev().map(|id| (id, 0)).collect();
    let mut order = Vec::with_capacity(cfg.blocks.len());
    while let Some((id, depth)) = open.pop() {
        order.push((id, depth));
        open.extend(inner[index(id)].iter().rev().map(|&id| (id, depth + 1)));
    }
    order
}

fn ways(block: &Block) -> Vec<(BlockId, When)> {
    match &block.kind {
        BlockKind::Loop(it) => {
            let enters = if it.condition.is_some() { When::Holds } else { When::Always };
            let then = it.then.map(|then| (then, When::Fails));
            std::iter::once((it.entry, enters)).chain(then).collect()
        }
        BlockKind::Basic { terminator, .. } => match &terminator.kind {
            TerminatorKind::Goto(target) => vec![(*target, When::Always)],
            TerminatorKind::Branch { then, otherwise, .. } => {
                vec![(*then, When::Holds), (*otherwise, When::Fails)]
            }
            TerminatorKind::Next => {
                block.parent.map(|head| (head, When::Again)).into_iter().collect()
            }
            TerminatorKind::Halt | TerminatorKind::Dead => Vec::new(),
        },
    }
}

fn end(block: &Block) -> Option<End> {
    match &block.kind {
        BlockKind::Basic { terminator, .. } => match &terminator.kind {
            TerminatorKind::Halt => Some(End::Over),
            TerminatorKind::Dead => Some(End::Dead),
            TerminatorKind::Goto(_) | TerminatorKind::Branch { .. } | TerminatorKind::Next => None,
        },
        BlockKind::Loop(_) => None,
    }
}

/// The knowledge about the paths of a finding: the sides that branches took, and the ends of the
/// paths.
struct Path<'a> {
    cfg: &'a Cfg,
    finding: &'a Finding,
    /// The blocks where they end.
    ends: Vec<BlockId>,
}

impl<'a> Path<'a> {
    fn of(cfg: &'a Cfg, finding: &'a Finding) -> Self {
        let mut path = Self { cfg, finding, ends: Vec::new() };
        let holds = |of: &Block| mentions(of, finding.span);
        let at: Vec<BlockId> =
            cfg.blocks.iter().filter(|(_, block)| holds(block)).map(|(id, _)| id).collect();
        let all = || cfg.blocks.iter();
        let is_preserving = finding.error == ErrorId::InvariantNotPreserved;
        path.ends = if at.is_empty() {
            // The promises at the end.
            all().filter(|(_, it)| end(it) == Some(End::Over)).map(|(id, _)| id).collect()
        } else if is_preserving {
            let goes_back = |block: &Block| {
                ways(block).iter().any(|&(to, when)| when == When::Again && at.contains(&to))
            };
            all().filter(|(_, block)| goes_back(block)).map(|(id, _)| id).collect()
        } else {
            at
        };
        path
    }

    /// Returns the ways that they may go, from the beginning to their end.
    fn ways(&self) -> Vec<(BlockId, BlockId)> {
        let mut all: Vec<(BlockId, BlockId)> = Vec::new();
        let mut again = Vec::new();
        for (id, block) in self.cfg.blocks.iter() {
            for (to, when) in ways(block) {
                if when == When::Again {
                    again.push((id, to));
                } else if self.allows(block, when) {
                    all.push((id, to));
                }
            }
        }
        let ahead = closure([self.cfg.entry], &all);
        let backward: Vec<_> = all.iter().map(|&(from, to)| (to, from)).collect();
        let behind = closure(self.ends.iter().copied(), &backward);
        all.retain(|(from, to)| ahead.contains(from) && behind.contains(to));
        if self.finding.error == ErrorId::InvariantNotPreserved {
            let is_last =
                |(from, _): &(BlockId, BlockId)| self.ends.contains(from) && ahead.contains(from);
            all.extend(again.into_iter().filter(is_last));
        }
        all
    }

    /// Tells whether a branch may have taken that side. Merged branches say nothing, and may have
    /// taken either.
    fn allows(&self, block: &Block, when: When) -> bool {
        let condition = match &block.kind {
            BlockKind::Loop(it) => it.condition.as_ref(),
            BlockKind::Basic { terminator, .. } => match &terminator.kind {
                TerminatorKind::Branch { condition, .. } => Some(condition),
                _ => None,
            },
        };
        let Some(condition) = condition else { return true };
        let taken = self.finding.path.iter().filter(|step| step.condition == condition.span);
        let mut taken = taken.map(|step| step.taken).peekable();
        taken.peek().is_none() || taken.any(|taken| taken == (when == When::Holds))
    }
}

/// Returns the reachable blocks.
fn closure(
    from: impl IntoIterator<Item = BlockId>,
    ways: &[(BlockId, BlockId)],
) -> FxHashSet<BlockId> {
    let mut next: FxHashMap<BlockId, Vec<BlockId>> = FxHashMap::default();
    for &(from, to) in ways {
        next.entry(from).or_default().push(to);
    }
    let mut open: Vec<BlockId> = from.into_iter().collect();
    let mut reached: FxHashSet<BlockId> = open.iter().copied().collect();
    while let Some(block) = open.pop() {
        let targets = next.get(&block).into_iter().flatten();
        open.extend(targets.filter(|&&to| reached.insert(to)));
    }
    reached
}

/// Tells whether a part of a block stands there.
fn mentions(block: &Block, at: Span) -> bool {
    let has = |span: Span| span.file == at.file && span.start <= at.start && at.end <= span.end;
    match &block.kind {
        BlockKind::Basic { statements, terminator } => {
            let of_branch = match &terminator.kind {
                TerminatorKind::Branch { condition, .. } => has(condition.span),
                _ => false,
            };
            of_branch || statements.iter().any(|statement| has(statement.span))
        }
        BlockKind::Loop(it) => {
            let expressions = it.condition.iter().chain(&it.invariants);
            expressions.into_iter().any(|expression| has(expression.span))
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::session::{Input, Session};

    /// Returns a node a line: its number, its depth, the first column of each of its rows; where it
    /// leads, with `!` where a path fails.
    fn shown(graph: &Graph) -> String {
        let way = |way: &Way| {
            let when = match way.when {
                When::Always => "",
                When::Holds => "yes ",
                When::Fails => "no ",
                When::Again => "again ",
            };
            format!(" {when}{}{}", way.to, if way.is_failing { "!" } else { "" })
        };
        let node = |(number, node): (usize, &Node)| {
            let rows = node.rows.iter().map(|(row, at)| format!(" {row:?}@{}", at.start.line));
            let ways: String = node.ways.iter().map(way).collect();
            let end = node.end.map_or(String::new(), |end| format!(" {end:?}"));
            let rows: String = rows.collect();
            format!("{number} ({}){rows} ->{ways}{end}\n", node.depth)
        };
        graph.nodes.iter().enumerate().map(node).collect()
    }

    fn check(name: &str, text: &str, expected: &Expect) {
        let session = Session { graphs: true, ..Session::default() };
        let outcome = session.run(&Input::text(name, text));
        let graphs = outcome.members.iter().flat_map(|member| &member.graphs);
        expected.assert_eq(&graphs.map(shown).collect::<String>());
    }

    #[test]
    fn a_failing_path_takes_the_sides_of_its_conditions() {
        let text = "method m(n: Int) {\n  var i: Int := 0\n  while (i < n)\n    invariant i >= 0\n  {\n    \
                    i := i + 1\n    if (i == 3) {\n      assert i > n\n    } else { i := i + 2 }\n  }\n}";
        check(
            "a.sil",
            text,
            &expect![[r"
                0 (0) Statement@2 -> 1!
                1 (0) Loop@3 Invariant@4 -> yes 2! no 6
                2 (1) Statement@6 Branch@7 -> yes 3! no 4
                3 (1) Statement@8 -> 5
                4 (1) Statement@9 -> 5
                5 (1) -> again 1
                6 (0) -> Over
            "]],
        );
    }

    #[test]
    fn an_invariant_that_is_not_preserved_fails_on_the_way_back() {
        let text = "method m(n: Int) {\n  var i: Int := 0\n  while (i < n)\n    invariant i == 0\n  {\n    \
                    if (n == 3) {\n      i := i + 1\n    }\n  }\n}";
        check(
            "a.sil",
            text,
            &expect![[r"
            0 (0) Statement@2 -> 1!
            1 (0) Loop@3 Invariant@4 -> yes 2! no 5
            2 (1) Branch@6 -> yes 3! no 4
            3 (1) Statement@7 -> 4!
            4 (1) -> again 1!
            5 (0) -> Over
        "]],
        );
    }

    #[test]
    fn a_promise_fails_at_the_end() {
        let text = "method m(n: Int) returns (r: Int)\n  ensures r > 0\n{\n  r := 1\n  if (n > 0) {\n    \
                    r := 0\n  } else { goto out }\n  label out\n}";
        check(
            "a.sil",
            text,
            &expect![[r"
            0 (0) Statement@4 Branch@5 -> yes 1! no 2
            1 (0) Statement@6 -> 2!
            2 (0) -> Over
        "]],
        );
    }

    #[test]
    fn a_body_without_branches_has_no_graph() {
        check("a.sil", "method m(n: Int) { assert n > 0 }", &expect![""]);
    }

    #[test]
    fn what_a_translator_adds_is_not_shown() {
        let text = "class C {\n  var f: int;\n  method m(n: int)\n    requires acc(f);\n  {\n    if (n > 0) {\n      \
                    f := n;\n    } else {\n      assert f == n;\n    }\n  }\n}";
        check(
            "a.chalice",
            text,
            &expect![[r"
            0 (0) Branch@6 -> yes 1 no 2!
            1 (0) Statement@7 -> 3
            2 (0) Statement@9 -> 3
            3 (0) -> Over
        "]],
        );
    }
}
