//! Graphs to structured statements.
//!
//! A level is emitted along its blocks: where the two sides of a branch meet again (their join
//! point) they become an `if`, a loop with a condition becomes a `while`, and every jump that does
//! not lead to what comes next anyway becomes a `goto`. A loop without a condition is a label and
//! gotos back to it.

use std::collections::BTreeSet;

use front::grow_stack;
use indexmap::{IndexMap, IndexSet};
use la_arena::Arena;
use rustc_hash::{FxHashMap, FxHashSet};

use super::expr::LocalNames;
use super::members::Context;
use super::{Writer, names, origins};
use crate::cfg::{self, BlockId, BlockKind, Cfg, Loop, TerminatorKind, negated};
use crate::program::{
    Block, Body, Expr, Graph, Implementation, Label, LabelId, LocalId, Method, Origins, Stmt,
    StmtKind,
};
use crate::source::{OriginId, Span};
use crate::walk::{Uses, walk_stmts};

impl Writer<'_> {
    /// `{ … }` with statements that do what the graph does.
    pub(super) fn structured_graph(
        &mut self,
        method: &Method,
        implementation: &Implementation,
        cfg: &Cfg,
        in_effect: OriginId,
    ) {
        let mut emitter = Emitter::new(method, implementation, cfg, &self.program.origins);
        let mut statements = emitter.method();
        let labels = emitter.labels;
        let origin = Span { origin: in_effect, ..implementation.span };
        let (mut uses, declared) = uses_and_declared(&statements, implementation);
        let hoisted = declarations_to_hoist(&statements);
        let declarations: Vec<LocalId> = declared.into_iter().chain(hoisted.clone()).collect();
        uses.locals.extend(&declarations);
        let declare =
            declarations.iter().map(|&local| Stmt::new(StmtKind::Var(vec![local]), origin));
        statements.splice(0..0, declare);

        let mut scope = LocalNames::new(&method.locals);
        scope.labels = Some(&labels);
        let label_names = labels.values().map(|label| label.name.to_string());
        scope.renamed = names::without_scopes(method, uses.locals, label_names);
        scope.supplied = hoisted;
        let context = Context { scope: &scope, origin: in_effect };
        if statements.is_empty() {
            self.out.push_str("{}\n");
            return;
        }
        self.out.push_str("{\n");
        self.indented(|writer| {
            let (declarations, statements) = statements.split_at(declarations.len());
            writer.declared_statements(context, declarations, statements);
        });
        self.pad();
        self.out.push_str("}\n");
    }
}

/// Collects the uses of the statements, and the variables of the outermost graph.
fn uses_and_declared(statements: &[Stmt], implementation: &Implementation) -> (Uses, Vec<LocalId>) {
    let mut uses = Uses::default();
    for statement in statements {
        uses.add_stmt(statement);
    }
    let declared = match &implementation.body {
        Body::Graph(Graph { locals, .. }) => locals.clone(),
        Body::Structured(_) => Vec::new(),
    };
    (uses, declared)
}

/// The effect of a `next` (at the outermost level: of a `halt`).
#[derive(Clone, Copy)]
enum AtEnd {
    /// The end of the statements is the end of the round.
    FallThrough,
    Goto(LabelId),
}

/// The level being emitted.
#[derive(Clone, Copy)]
struct Level {
    parent: Option<BlockId>,
    at_end: AtEnd,
}

struct Emitter<'a> {
    implementation: &'a Implementation,
    cfg: &'a Cfg,
    origins: &'a Origins,
    /// The labels of the source, and those made here.
    labels: Arena<Label>,
    by_name: FxHashMap<String, LabelId>,
    taken: FxHashSet<String>,
    /// Labels that stand for blocks; they print only if something refers to them.
    of_blocks: FxHashSet<LabelId>,
    emitted: FxHashSet<BlockId>,
    /// Blocks that some goto leads to, by level.
    wanted: FxHashMap<Option<BlockId>, IndexSet<BlockId>>,
    end_labels: FxHashMap<Option<BlockId>, LabelId>,
}

impl<'a> Emitter<'a> {
    fn new(
        method: &Method,
        implementation: &'a Implementation,
        cfg: &'a Cfg,
        origins: &'a Origins,
    ) -> Self {
        let labels = implementation.labels.clone();
        let by_name: FxHashMap<String, LabelId> =
            labels.iter().map(|(id, label)| (label.name.to_string(), id)).collect();
        let mut taken: FxHashSet<String> = by_name.keys().cloned().collect();
        taken.extend(method.locals.values().map(|local| local.name.to_string()));
        taken.extend(cfg.blocks.values().map(|block| block.name.clone()));
        Self {
            implementation,
            cfg,
            origins,
            labels,
            by_name,
            taken,
            of_blocks: FxHashSet::default(),
            emitted: FxHashSet::default(),
            wanted: FxHashMap::default(),
            end_labels: FxHashMap::default(),
        }
    }

    fn method(&mut self) -> Vec<Stmt> {
        let mut statements = Vec::new();
        let level = Level { parent: None, at_end: AtEnd::FallThrough };
        self.level(self.cfg.entry, level, &mut statements);
        drop_idle_gotos(&mut statements);
        let mut referred: BTreeSet<LabelId> = BTreeSet::new();
        let mut set = BTreeSet::new();
        walk_stmts(&statements, |statement| match &statement.kind {
            StmtKind::Goto(label) => {
                referred.insert(*label);
            }
            StmtKind::Label { label, .. } => {
                set.insert(*label);
            }
            _ => {}
        });
        let mut uses = Uses::default();
        for statement in &statements {
            uses.add_stmt(statement);
        }
        for label in uses.labels.difference(&set) {
            statements.push(self.never_set(*label));
        }
        referred.extend(uses.labels);
        drop_labels(&mut statements, &|label| {
            self.of_blocks.contains(&label) && !referred.contains(&label)
        });
        statements
    }

    /// Returns a place for a label that no path passes.
    fn never_set(&self, label: LabelId) -> Stmt {
        let span = self.implementation.span;
        let kind = StmtKind::Label { label, invariants: Vec::new(), decreases: Vec::new() };
        let then = Block { statements: vec![Stmt::new(kind, span)], span };
        Stmt::new(
            StmtKind::If { condition: Expr::boolean(false, span), then, otherwise: None },
            span,
        )
    }

    /// Returns the blocks of a level, those reached only by gotos behind the others. Whether
    /// control comes to the end.
    fn level(&mut self, entry: BlockId, level: Level, out: &mut Vec<Stmt>) -> bool {
        let mut falls = self.sequence(entry, None, level, out);
        while let Some(next) = self.next_wanted(level.parent) {
            if falls {
                let label = self.end_label(level.parent);
                out.push(Stmt::new(StmtKind::Goto(label), self.cfg.blocks[next].span));
            }
            falls = self.sequence(next, None, level, out);
        }
        if let Some(&label) = self.end_labels.get(&level.parent) {
            let span = self.implementation.span;
            let kind = StmtKind::Label { label, invariants: Vec::new(), decreases: Vec::new() };
            out.push(Stmt::new(kind, span));
            falls = true;
        }
        falls
    }

    fn next_wanted(&mut self, level: Option<BlockId>) -> Option<BlockId> {
        let emitted = &self.emitted;
        self.wanted.get(&level)?.iter().copied().find(|block| !emitted.contains(block))
    }

    /// From `block` up to `stop`, where the caller goes on. Whether control comes there (or to the
    /// end of the level).
    fn sequence(
        &mut self,
        mut block: BlockId,
        stop: Option<BlockId>,
        level: Level,
        out: &mut Vec<Stmt>,
    ) -> bool {
        loop {
            if Some(block) == stop {
                return true;
            }
            if self.emitted.contains(&block) {
                let span = self.cfg.blocks[block].span;
                out.push(self.goto(block, span));
                return false;
            }
            self.emitted.insert(block);
            let next = match &self.cfg.blocks[block].kind {
                BlockKind::Basic { statements, terminator } => {
                    self.put_label(block, out);
                    out.extend(statements.iter().cloned());
                    self.terminator(block, terminator, stop, level, out)
                }
                BlockKind::Loop(inner) => grow_stack(|| self.whole_loop(block, inner, level, out)),
            };
            match next {
                Step::To(next) => block = next,
                Step::End { falls } => return falls,
            }
        }
    }

    fn terminator(
        &mut self,
        block: BlockId,
        terminator: &cfg::Terminator,
        stop: Option<BlockId>,
        level: Level,
        out: &mut Vec<Stmt>,
    ) -> Step {
        let span = terminator.span;
        match &terminator.kind {
            TerminatorKind::Goto(target) if self.is_on(*target, level) => Step::To(*target),
            TerminatorKind::Goto(target) => {
                out.push(self.goto(*target, span));
                Step::End { falls: false }
            }
            TerminatorKind::Branch { condition, then, otherwise } => {
                let sides = Sides { condition, then: *then, otherwise: *otherwise, span };
                self.branch(block, &sides, stop, level, out)
            }
            TerminatorKind::Next => match level.at_end {
                AtEnd::FallThrough => Step::End { falls: true },
                AtEnd::Goto(head) => {
                    out.push(Stmt::new(StmtKind::Goto(head), span));
                    Step::End { falls: false }
                }
            },
            TerminatorKind::Halt if level.parent.is_none() => Step::End { falls: true },
            TerminatorKind::Halt => {
                let label = self.end_label(None);
                out.push(Stmt::new(StmtKind::Goto(label), span));
                Step::End { falls: false }
            }
            TerminatorKind::Dead => {
                out.push(Stmt::new(StmtKind::Inhale(Expr::boolean(false, span)), span));
                Step::End { falls: false }
            }
        }
    }

    fn branch(
        &mut self,
        block: BlockId,
        sides: &Sides<'_>,
        stop: Option<BlockId>,
        level: Level,
        out: &mut Vec<Stmt>,
    ) -> Step {
        let Sides { condition, then, otherwise, span } = *sides;
        let (mut at_then, mut at_otherwise) = (Vec::new(), Vec::new());
        if let Some(join) = self.cfg.join_point(block) {
            self.side(then, Some(join), level, span, &mut at_then);
            self.side(otherwise, Some(join), level, span, &mut at_otherwise);
            out.push(self.end_of(block, condition, at_then, at_otherwise, span));
            return Step::To(join);
        }
        if self.side(then, stop, level, span, &mut at_then) {
            self.side(otherwise, stop, level, span, &mut at_otherwise);
            out.push(self.end_of(block, condition, at_then, at_otherwise, span));
            return Step::End { falls: true };
        }
        out.push(self.end_of(block, condition, at_then, Vec::new(), span));
        if self.is_on(otherwise, level) {
            return Step::To(otherwise);
        }
        out.push(self.goto(otherwise, span));
        Step::End { falls: false }
    }

    /// The `if` at the end of a block; what is said about the block is said about it.
    fn end_of(
        &self,
        block: BlockId,
        condition: &Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
        span: Span,
    ) -> Stmt {
        let annotations = self.cfg.blocks[block].annotations.clone();
        Stmt { annotations, ..self.conditional(condition.clone(), then, otherwise, span) }
    }

    fn side(
        &mut self,
        target: BlockId,
        stop: Option<BlockId>,
        level: Level,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> bool {
        if self.is_on(target, level) {
            return grow_stack(|| self.sequence(target, stop, level, out));
        }
        out.push(self.goto(target, span));
        false
    }

    fn whole_loop(&mut self, id: BlockId, inner: &Loop, level: Level, out: &mut Vec<Stmt>) -> Step {
        let block = &self.cfg.blocks[id];
        if let (Some(condition), Some(then), None) = (&inner.condition, inner.then, block.label) {
            self.put_label(id, out);
            let mut statements = Vec::new();
            let at_end = AtEnd::FallThrough;
            self.level(inner.entry, Level { parent: Some(id), at_end }, &mut statements);
            let span = self.around(block.span, statements.iter());
            let kind = StmtKind::While {
                condition: condition.clone(),
                invariants: inner.invariants.clone(),
                decreases: inner.decreases.clone(),
                body: Block { statements, span },
            };
            out.push(Stmt { kind, span, annotations: block.annotations.clone() });
            return Step::To(then);
        }
        let label = self.label_of(id);
        out.push(Stmt {
            kind: StmtKind::Label {
                label,
                invariants: inner.invariants.clone(),
                decreases: inner.decreases.clone(),
            },
            span: block.span,
            annotations: block.annotations.clone(),
        });
        if let (Some(condition), Some(then)) = (&inner.condition, inner.then) {
            let leave = vec![self.goto(then, block.span)];
            out.push(self.conditional(negated(condition), leave, Vec::new(), block.span));
        }
        let at_end = AtEnd::Goto(label);
        self.level(inner.entry, Level { parent: Some(id), at_end }, out);
        // All ways on are gotos; what they lead to comes next if nothing else puts it elsewhere.
        let exits = inner.then.iter().chain(&inner.exits).copied();
        let next =
            exits.into_iter().find(|exit| self.is_on(*exit, level) && !self.emitted.contains(exit));
        match next {
            Some(next) if self.is_reached_only_from(next, id) => Step::To(next),
            _ => Step::End { falls: false },
        }
    }

    /// Tells whether a block behind a loop need not wait for other ways to it.
    fn is_reached_only_from(&self, block: BlockId, source: BlockId) -> bool {
        let is_inside = |id: BlockId| {
            std::iter::successors(Some(id), |&id| self.cfg.blocks[id].parent)
                .any(|around| around == source)
        };
        self.cfg
            .blocks
            .iter()
            .all(|(id, _)| is_inside(id) || self.cfg.targets(id).all(|target| target != block))
    }

    fn is_on(&self, block: BlockId, level: Level) -> bool {
        self.cfg.blocks[block].parent == level.parent
    }

    fn goto(&mut self, target: BlockId, span: Span) -> Stmt {
        self.wanted.entry(self.cfg.blocks[target].parent).or_default().insert(target);
        Stmt::new(StmtKind::Goto(self.label_of(target)), span)
    }

    /// The label statement of a block, which is dropped later if nothing refers to it.
    fn put_label(&mut self, block: BlockId, out: &mut Vec<Stmt>) {
        let is_head = self.cfg.blocks[block].parent.is_some_and(|parent| {
            matches!(&self.cfg.blocks[parent].kind, BlockKind::Loop(around)
                if around.entry == block && around.condition.is_none())
        });
        let label = self.label_of(block);
        if is_head && self.cfg.blocks[block].label.is_some() {
            // The label of the loop is that of its first block.
            return;
        }
        let kind = StmtKind::Label { label, invariants: Vec::new(), decreases: Vec::new() };
        let block = &self.cfg.blocks[block];
        let annotations = match &block.kind {
            BlockKind::Basic { terminator, .. }
                if !matches!(terminator.kind, TerminatorKind::Branch { .. }) =>
            {
                block.annotations.clone()
            }
            _ => Vec::new(),
        };
        out.push(Stmt { kind, span: block.span, annotations });
    }

    fn label_of(&mut self, id: BlockId) -> LabelId {
        let block = &self.cfg.blocks[id];
        let of_entry = match &block.kind {
            BlockKind::Loop(inner) if inner.condition.is_none() => {
                self.cfg.blocks[inner.entry].label
            }
            _ => None,
        };
        let label = block.label.or(of_entry).unwrap_or_else(|| {
            *self.by_name.entry(block.name.clone()).or_insert_with(|| {
                let name = block.name.as_str().into();
                self.labels.alloc(Label { name, span: block.span })
            })
        });
        self.of_blocks.insert(label);
        label
    }

    fn end_label(&mut self, level: Option<BlockId>) -> LabelId {
        if let Some(&label) = self.end_labels.get(&level) {
            return label;
        }
        let mut number = 1;
        while !self.taken.insert(format!("end${number}")) {
            number += 1;
        }
        let name = format!("end${number}");
        let label = Label { name: name.into(), span: self.implementation.span };
        let label = self.labels.alloc(label);
        self.end_labels.insert(level, label);
        label
    }

    fn conditional(
        &self,
        condition: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
        span: Span,
    ) -> Stmt {
        if then.is_empty() && !otherwise.is_empty() {
            return self.conditional(negated(&condition), otherwise, then, span);
        }
        let span = self.around(span, then.iter().chain(&otherwise));
        let span = Span { origin: self.common(span, condition.span), ..span };
        let then = Block { statements: then, span };
        let otherwise = (!otherwise.is_empty()).then_some(Block { statements: otherwise, span });
        Stmt::new(StmtKind::If { condition, then, otherwise }, span)
    }

    /// Returns the span with the origin that all of the statements are below.
    fn around<'s>(&self, span: Span, statements: impl Iterator<Item = &'s Stmt>) -> Span {
        statements.fold(span, |span, inner| Span { origin: self.common(span, inner.span), ..span })
    }

    fn common(&self, first: Span, second: Span) -> OriginId {
        origins::common(self.origins, first.origin, second.origin)
    }
}

/// Where a sequence of blocks goes on.
enum Step {
    To(BlockId),
    End { falls: bool },
}

#[derive(Clone, Copy)]
struct Sides<'s> {
    condition: &'s Expr,
    then: BlockId,
    otherwise: BlockId,
    span: Span,
}

/// Gotos that lead to where control goes anyway.
fn drop_idle_gotos(statements: &mut Vec<Stmt>) {
    statements.dedup_by(|next, statement| {
        if let (StmtKind::Goto(target), StmtKind::Label { label, .. }) =
            (&statement.kind, &next.kind)
            && target == label
        {
            // The label takes the place of the goto.
            std::mem::swap(next, statement);
            return true;
        }
        false
    });
    for statement in statements {
        grow_stack(|| match &mut statement.kind {
            StmtKind::If { then, otherwise, .. } => {
                drop_idle_gotos(&mut then.statements);
                if let Some(otherwise) = otherwise {
                    drop_idle_gotos(&mut otherwise.statements);
                }
            }
            StmtKind::While { body, .. } => drop_idle_gotos(&mut body.statements),
            _ => {}
        });
    }
}

fn drop_labels(statements: &mut Vec<Stmt>, is_unused: &dyn Fn(LabelId) -> bool) {
    statements.retain(
        |statement| !matches!(&statement.kind, StmtKind::Label { label, .. } if is_unused(*label)),
    );
    for statement in statements {
        grow_stack(|| match &mut statement.kind {
            StmtKind::If { then, otherwise, .. } => {
                drop_labels(&mut then.statements, is_unused);
                if let Some(otherwise) = otherwise {
                    drop_labels(&mut otherwise.statements, is_unused);
                }
            }
            StmtKind::While { body, .. } => drop_labels(&mut body.statements, is_unused),
            _ => {}
        });
    }
}

/// Returns the variables whose declaration does not have all their occurrences behind it in its own
/// block.
fn declarations_to_hoist(statements: &[Stmt]) -> IndexSet<LocalId> {
    let mut numbering = Numbering::default();
    numbering.block(statements);
    let Numbering { occurrences, declarations, .. } = numbering;
    declarations
        .into_iter()
        .filter(|(local, (declared, end))| {
            let (first, last) = occurrences[local];
            first < *declared || last >= *end
        })
        .map(|(local, _)| local)
        .collect()
}

/// Statements in pre-order have numbers.
#[derive(Default)]
struct Numbering {
    next: usize,
    /// The first and the last statement that mention a variable.
    occurrences: FxHashMap<LocalId, (usize, usize)>,
    /// A variable's `var` and the end of the block that stands in.
    declarations: IndexMap<LocalId, (usize, usize)>,
}

impl Numbering {
    fn block(&mut self, statements: &[Stmt]) {
        let mut declared = Vec::new();
        for statement in statements {
            let number = self.next;
            self.next += 1;
            let mut uses = Uses::default();
            statement.for_each_expr(|expr| uses.add_expr(expr));
            uses.locals.extend(statement.written_here());
            for local in uses.locals {
                let (first, last) = self.occurrences.entry(local).or_insert((number, number));
                *first = number.min(*first);
                *last = number.max(*last);
            }
            if let StmtKind::Var(locals) = &statement.kind {
                declared.extend(locals.iter().map(|&local| (local, number)));
            }
            statement.for_each_block(|block| grow_stack(|| self.block(&block.statements)));
        }
        for (local, number) in declared {
            self.declarations.insert(local, (number, self.next));
        }
    }
}
