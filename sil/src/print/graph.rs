//! Bodies as graphs.
//!
//! A `var` of a structured body is declared in the graph of its level, which gives it an arbitrary
//! value at the start of each round. Where that would not be the same (the variable outlives the
//! loop, may be written before its declaration is passed, or an object is made before) it is
//! declared further out and an abstract method supplies the arbitrary value.

use std::collections::BTreeSet;

use front::grow_stack;
use indexmap::IndexMap;
use la_arena::ArenaMap;
use rustc_hash::{FxHashMap, FxHashSet};

use super::expr::{LocalNames, Printer};
use super::layout::Line;
use super::members::Context;
use super::{Writer, names, origins};
use crate::cfg::{Block, BlockId, BlockKind, Cfg, Loop};
use crate::program::{
    self, Body, Decreases, Expr, Graph, Implementation, LabelId, LocalId, Method, NodeKind, Stmt,
    StmtKind, Type,
};
use crate::source::{OriginId, Span};
use crate::syntax::TerminatorKind;
use crate::walk::{Uses, walk_stmts};

/// A level: the loop whose nested graph it is, or the outermost.
type Level = Option<BlockId>;

impl Writer<'_> {
    /// `graph { … }`, from the current position, with the end of the line.
    pub(super) fn graph_body(
        &mut self,
        method: &Method,
        implementation: &Implementation,
        cfg: &Cfg,
        in_effect: OriginId,
    ) {
        let plan = Plan::new(method, implementation, cfg, &self.program.origins);
        let mut scope = LocalNames::new(&method.locals);
        scope.labels = Some(&implementation.labels);
        let block_names = cfg.blocks.values().map(|block| block.name.clone());
        let labels = implementation.labels.values().map(|label| label.name.to_string());
        scope.renamed =
            names::without_scopes(method, plan.locals.iter().copied(), block_names.chain(labels));
        let context = Context { scope: &scope, origin: in_effect };
        self.out.push_str("graph ");
        self.level(&plan, context, None);
        self.out.push('\n');
    }

    /// `{ locals blocks }` of one level; leaves the line open.
    fn level(&mut self, plan: &Plan<'_>, context: Context<'_>, level: Level) {
        self.out.push_str("{\n");
        self.indented(|writer| {
            for &local in plan.declared.get(&level).into_iter().flatten() {
                writer.text_line(&format!("var {}", writer.typed_name(context.scope, local)));
            }
            for &id in plan.blocks.get(&level).into_iter().flatten() {
                grow_stack(|| writer.graph_block(plan, context, id));
            }
            if level.is_none() {
                for &label in &plan.lost_labels {
                    writer.text_line(&format!("block {} {{", context.scope.label(label)));
                    writer.indented(|writer| writer.text_line("dead"));
                    writer.text_line("}");
                }
            }
        });
        self.pad();
        self.out.push('}');
    }

    fn graph_block(&mut self, plan: &Plan<'_>, context: Context<'_>, id: BlockId) {
        let cfg = plan.cfg;
        let block = &cfg.blocks[id];
        let header = Span { origin: plan.headers[id], ..block.span };
        self.annotations(context.origin, header, &block.annotations);
        let context = context.below(header);
        let is_entry = match block.parent {
            None => cfg.entry == id,
            Some(parent) => matches!(&cfg.blocks[parent].kind, BlockKind::Loop(around)
                if around.entry == id),
        };
        self.pad();
        if is_entry {
            self.out.push_str("entry ");
        }
        match &block.kind {
            BlockKind::Basic { statements, terminator } => {
                self.out.push_str(&format!("block {} {{\n", block.name));
                self.indented(|writer| {
                    writer.block_statements(plan, context, id, statements);
                    writer.terminator(context, &terminator.kind, |&id| cfg.blocks[id].name.clone());
                });
                self.text_line("}");
            }
            BlockKind::Loop(Loop { condition, invariants, decreases, exits, then, .. }) => {
                let exits: Vec<_> =
                    exits.iter().map(|&exit| cfg.blocks[exit].name.as_str()).collect();
                let clauses = Clauses { condition: condition.as_ref(), invariants, decreases };
                self.loop_head(context, &block.name, &clauses, &exits);
                self.level(plan, context, Some(id));
                if let Some(then) = then {
                    self.out.push_str(&format!(" then {}", cfg.blocks[*then].name));
                }
                self.out.push('\n');
            }
        }
    }

    fn block_statements(
        &mut self,
        plan: &Plan<'_>,
        context: Context<'_>,
        block: BlockId,
        statements: &[Stmt],
    ) {
        for (index, statement) in statements.iter().enumerate() {
            let StmtKind::Var(locals) = &statement.kind else {
                self.statement(context, statement);
                continue;
            };
            for &local in locals {
                if plan.supplied.contains(&(block, index, local)) {
                    self.annotations(context.origin, statement.span, &statement.annotations);
                    let supplier = self.havoc_method(&context.scope.locals[local].ty);
                    let name = context.scope.local(local);
                    self.text_line(&format!("{name} := {supplier}()"));
                }
            }
        }
    }

    fn terminator<L>(
        &mut self,
        context: Context<'_>,
        terminator: &TerminatorKind<Expr, L>,
        name: impl Fn(&L) -> String,
    ) {
        match terminator {
            TerminatorKind::Goto(target) => self.text_line(&format!("goto {}", name(target))),
            TerminatorKind::Branch { condition, then, otherwise } => {
                self.line(|writer, line: &mut Line| {
                    line.text("branch (");
                    let annotations = context.annotations();
                    Printer::new(writer.program, context.scope, annotations, line).print(condition);
                    line.text(format!(") {} else {}", name(then), name(otherwise)));
                });
            }
            TerminatorKind::Next => self.text_line("next"),
            TerminatorKind::Halt => self.text_line("halt"),
            TerminatorKind::Dead => self.text_line("dead"),
        }
    }

    /// `loop H while (c) invariant … exits …`, up to where the nested graph's brace goes.
    fn loop_head(
        &mut self,
        context: Context<'_>,
        name: &str,
        clauses: &Clauses<'_>,
        exits: &[&str],
    ) {
        let mut line = Line::default();
        line.text(format!("loop {name}"));
        if let Some(condition) = clauses.condition {
            line.text(" while (");
            let annotations = context.annotations();
            Printer::new(self.program, context.scope, annotations, &mut line).print(condition);
            line.text(")");
        }
        line.layout(self.indent, &mut self.out);
        if clauses.invariants.is_empty() && clauses.decreases.is_empty() && exits.is_empty() {
            self.out.push(' ');
            return;
        }
        self.out.push('\n');
        self.clauses(context, clauses.invariants, clauses.decreases);
        if !exits.is_empty() {
            self.indented(|writer| writer.text_line(&format!("exits {}", exits.join(", "))));
        }
        self.pad();
    }

    /// A graph that is not valid control flow, node by node.
    pub(super) fn graph_as_written(
        &mut self,
        method: &Method,
        implementation: &Implementation,
        graph: &Graph,
        in_effect: OriginId,
    ) {
        let mut scope = LocalNames::new(&method.locals);
        scope.labels = Some(&implementation.labels);
        self.out.push_str("graph ");
        self.written_level(Context { scope: &scope, origin: in_effect }, graph);
        self.out.push('\n');
    }

    fn written_level(&mut self, context: Context<'_>, graph: &Graph) {
        self.out.push_str("{\n");
        self.indented(|writer| {
            for &local in &graph.locals {
                writer.text_line(&format!("var {}", writer.typed_name(context.scope, local)));
            }
            for (index, node) in graph.nodes.iter().enumerate() {
                grow_stack(|| writer.written_node(context, node, index == graph.entry));
            }
        });
        self.pad();
        self.out.push('}');
    }

    fn written_node(&mut self, context: Context<'_>, node: &program::Node, is_entry: bool) {
        self.annotations(context.origin, node.span, &node.annotations);
        let context = context.below(node.span);
        self.pad();
        if is_entry {
            self.out.push_str("entry ");
        }
        let name = |label: LabelId| context.scope.label(label);
        match &node.kind {
            NodeKind::Block { statements, terminator } => {
                self.out.push_str(&format!("block {}", name(node.label)));
                if node.invariants.is_empty() && node.decreases.is_empty() {
                    self.out.push_str(" {\n");
                } else {
                    self.out.push('\n');
                    self.clauses(context, &node.invariants, &node.decreases);
                    self.text_line("{");
                }
                self.indented(|writer| {
                    writer.statements(context, statements);
                    writer.terminator(context, &terminator.kind, |&label| name(label));
                });
                self.text_line("}");
            }
            NodeKind::Loop { condition, exits, graph, then } => {
                let exits: Vec<String> = exits.iter().map(|&exit| name(exit)).collect();
                let exits: Vec<&str> = exits.iter().map(String::as_str).collect();
                let (invariants, decreases) = (&node.invariants[..], &node.decreases[..]);
                let clauses = Clauses { condition: condition.as_ref(), invariants, decreases };
                self.loop_head(context, &name(node.label), &clauses, &exits);
                self.written_level(context, graph);
                if let Some(then) = then {
                    self.out.push_str(&format!(" then {}", name(*then)));
                }
                self.out.push('\n');
            }
        }
    }
}

struct Clauses<'c> {
    condition: Option<&'c Expr>,
    invariants: &'c [Expr],
    decreases: &'c [Decreases],
}

/// The plan for the text of one graph.
struct Plan<'a> {
    cfg: &'a Cfg,
    blocks: FxHashMap<Level, Vec<BlockId>>,
    /// All variables that occur.
    locals: BTreeSet<LocalId>,
    declared: FxHashMap<Level, Vec<LocalId>>,
    /// The declarations (block, index of the statement, variable) that become calls.
    supplied: FxHashSet<(BlockId, usize, LocalId)>,
    /// The origin that the annotations before a block give to all that is in it.
    headers: ArenaMap<BlockId, OriginId>,
    /// Labels that expressions read and no reachable block or statement sets.
    lost_labels: Vec<LabelId>,
}

/// A `var` in a block.
struct Declaration {
    block: BlockId,
    index: usize,
}

impl<'a> Plan<'a> {
    fn new(
        method: &Method,
        implementation: &Implementation,
        cfg: &'a Cfg,
        origins: &program::Origins,
    ) -> Self {
        let mut plan = Self {
            cfg,
            blocks: FxHashMap::default(),
            locals: BTreeSet::new(),
            declared: FxHashMap::default(),
            supplied: FxHashSet::default(),
            headers: headers(cfg, origins),
            lost_labels: Vec::new(),
        };
        for (id, block) in cfg.blocks.iter() {
            plan.blocks.entry(block.parent).or_default().push(id);
        }
        plan.place_locals(method, implementation);
        plan
    }

    fn place_locals(&mut self, method: &Method, implementation: &Implementation) {
        let cfg = self.cfg;
        let mut occurrences: IndexMap<LocalId, Vec<(BlockId, usize)>> = IndexMap::new();
        let mut declarations: IndexMap<LocalId, Vec<Declaration>> = IndexMap::new();
        let mut in_scripts = FxHashSet::default();
        let mut creations = Vec::new();
        let mut labels_read = BTreeSet::new();
        let mut labels_set = BTreeSet::new();
        for (id, block) in cfg.blocks.iter() {
            labels_set.extend(block.label);
            for (index, uses) in uses_of_block(block).into_iter().enumerate() {
                for local in uses.locals {
                    occurrences.entry(local).or_default().push((id, index));
                }
                labels_read.extend(uses.labels);
            }
            let BlockKind::Basic { statements, .. } = &block.kind else { continue };
            labels_set.extend(crate::walk::labels_set(statements));
            for (index, statement) in statements.iter().enumerate() {
                if let StmtKind::Var(locals) = &statement.kind {
                    for &local in locals {
                        let declaration = Declaration { block: id, index };
                        declarations.entry(local).or_default().push(declaration);
                    }
                } else {
                    in_scripts.extend(declared_inside(statement));
                    if makes_objects(statement) {
                        creations.push((id, index));
                    }
                }
            }
        }
        self.lost_labels = labels_read.difference(&labels_set).copied().collect();
        self.locals = occurrences.keys().copied().collect();
        if let Body::Graph(Graph { locals, .. }) = &implementation.body {
            self.locals.extend(locals);
        }
        let position = positions(cfg);
        let first_creation = first_of_levels(cfg, &position, creations);
        for &local in &self.locals {
            let is_variable = matches!(method.locals[local].kind, program::LocalKind::Variable);
            if !is_variable || in_scripts.contains(&local) {
                continue;
            }
            let declared_at = declarations.get(&local).map_or(&[][..], |them| &them[..]);
            let occurs_at = occurrences.get(&local).map_or(&[][..], |them| &them[..]);
            let level = match declared_at {
                [] => None,
                _ => occurs_at
                    .iter()
                    .map(|&(block, _)| cfg.blocks[block].parent)
                    .reduce(|first, second| common_level(cfg, first, second))
                    .flatten(),
            };
            self.declared.entry(level).or_default().push(local);
            for declaration in declared_at {
                let at = (position[declaration.block], declaration.index);
                let is_first = cfg.blocks[declaration.block].parent == level
                    && occurs_at.iter().all(|&(block, index)| {
                        let block = on_level(cfg, block, level);
                        (position[block], index) >= at || position[block] > at.0
                    });
                let precedes = |creation: &(usize, usize)| *creation < at;
                // SOUNDNESS: new objects differ from all values of variables, so a variable
                // declared later must not have its value by then.
                let is_later = first_creation.get(&level).is_some_and(precedes)
                    && holds_references(&method.locals[local].ty)
                    && !is_written_first(cfg, declaration, local, occurs_at);
                if !is_first || is_later {
                    let place = (declaration.block, declaration.index, local);
                    self.supplied.insert(place);
                }
            }
        }
    }
}

/// Returns the uses of each statement of a block, then of its terminator; or of the clauses of a
/// loop.
fn uses_of_block(block: &Block) -> Vec<Uses> {
    match &block.kind {
        BlockKind::Basic { statements, terminator } => {
            let mut all: Vec<Uses> = statements
                .iter()
                .map(|statement| {
                    let mut uses = Uses::default();
                    uses.add_stmt(statement);
                    uses
                })
                .collect();
            if let TerminatorKind::Branch { condition, .. } = &terminator.kind {
                all.push(Uses::of_expr(condition));
            }
            all
        }
        BlockKind::Loop(Loop { condition, invariants, decreases, .. }) => {
            let mut uses = Uses::default();
            condition.iter().chain(invariants).for_each(|expr| uses.add_expr(expr));
            for clause in decreases {
                clause.for_each_child(|expr| uses.add_expr(expr));
            }
            vec![uses]
        }
    }
}

/// Returns the variables declared in the proof script of a statement.
fn declared_inside(statement: &Stmt) -> Vec<LocalId> {
    let mut declared = Vec::new();
    walk_stmts([statement], |inner| {
        if let StmtKind::Var(locals) = &inner.kind {
            declared.extend(locals);
        }
    });
    declared
}

/// Does a statement, or its proof script, make an object?
fn makes_objects(statement: &Stmt) -> bool {
    let mut makes = false;
    walk_stmts([statement], |inner| makes |= matches!(inner.kind, StmtKind::New { .. }));
    makes
}

/// Are values of this type references, or made of references?
fn holds_references(ty: &Type) -> bool {
    match ty {
        Type::Ref | Type::Variable(_) => true,
        Type::Seq(element) | Type::Set(element) | Type::Multiset(element) => {
            holds_references(element)
        }
        Type::Map(key, value) => holds_references(key) || holds_references(value),
        Type::Domain(_, arguments) => arguments.iter().any(holds_references),
        Type::Int | Type::Bool | Type::Perm | Type::Wand => false,
    }
}

/// Is the value that a declaration gives overwritten in the same block before anything reads it?
fn is_written_first(
    cfg: &Cfg,
    declaration: &Declaration,
    local: LocalId,
    occurs_at: &[(BlockId, usize)],
) -> bool {
    let BlockKind::Basic { statements, .. } = &cfg.blocks[declaration.block].kind else {
        return false;
    };
    let next = occurs_at
        .iter()
        .find(|&&(block, index)| block == declaration.block && index > declaration.index)
        .and_then(|&(_, index)| statements.get(index));
    next.is_some_and(|next| {
        let mut read = Uses::default();
        next.for_each_expr(|expr| read.add_expr(expr));
        next.written_here().contains(&local) && !read.locals.contains(&local)
    })
}

/// Returns the first of these statements on each level, by the number of its block and its index;
/// what stands in a loop counts on the levels around it, too.
fn first_of_levels(
    cfg: &Cfg,
    position: &ArenaMap<BlockId, usize>,
    statements: Vec<(BlockId, usize)>,
) -> FxHashMap<Level, (usize, usize)> {
    let mut first: FxHashMap<Level, (usize, usize)> = FxHashMap::default();
    for (mut block, mut index) in statements {
        loop {
            let level = cfg.blocks[block].parent;
            let at = (position[block], index);
            first.entry(level).and_modify(|earliest| *earliest = at.min(*earliest)).or_insert(at);
            let Some(around) = level else { break };
            (block, index) = (around, 0);
        }
    }
    first
}

/// Returns the number of each block in an order in which jumps of one level lead forward.
fn positions(cfg: &Cfg) -> ArenaMap<BlockId, usize> {
    let mut finished: ArenaMap<BlockId, usize> = ArenaMap::default();
    let mut count = cfg.blocks.len();
    let mut entered: ArenaMap<BlockId, ()> = ArenaMap::default();
    for (start, _) in cfg.blocks.iter() {
        let mut open = vec![(start, false)];
        while let Some((id, is_left)) = open.pop() {
            if is_left {
                count -= 1;
                finished.insert(id, count);
            } else if entered.insert(id, ()).is_none() {
                open.push((id, true));
                open.extend(cfg.targets(id).map(|target| (target, false)));
                if let BlockKind::Loop(inner) = &cfg.blocks[id].kind {
                    open.extend(inner.exits.iter().map(|&exit| (exit, false)));
                }
            }
        }
    }
    finished
}

/// Returns the block of this level that `block` is or stands in.
fn on_level(cfg: &Cfg, mut block: BlockId, level: Level) -> BlockId {
    while cfg.blocks[block].parent != level
        && let Some(around) = cfg.blocks[block].parent
    {
        block = around;
    }
    block
}

fn common_level(cfg: &Cfg, first: Level, second: Level) -> Level {
    let (mut first, mut second) = (first?, second?);
    // A loop comes before the blocks inside it.
    while first != second {
        if first > second {
            first = cfg.blocks[first].parent?;
        } else {
            second = cfg.blocks[second].parent?;
        }
    }
    Some(first)
}

/// For each block the innermost origin that it and all in it have in common.
fn headers(cfg: &Cfg, origins: &program::Origins) -> ArenaMap<BlockId, OriginId> {
    let mut headers: ArenaMap<BlockId, OriginId> = ArenaMap::default();
    let ids: Vec<BlockId> = cfg.blocks.iter().map(|(id, _)| id).collect();
    for &id in ids.iter().rev() {
        let block = &cfg.blocks[id];
        let mut header = headers.get(id).copied().unwrap_or(block.span.origin);
        let mut add = |span: Span| header = origins::common(origins, header, span.origin);
        add(block.span);
        match &block.kind {
            BlockKind::Basic { statements, terminator } => {
                for statement in statements {
                    add(statement.span);
                }
                if let TerminatorKind::Branch { condition, .. } = &terminator.kind {
                    add(condition.span);
                }
            }
            BlockKind::Loop(inner) => {
                inner.condition.iter().chain(&inner.invariants).for_each(|expr| add(expr.span));
            }
        }
        headers.insert(id, header);
        if let Some(parent) = block.parent {
            let around = headers.get(parent).copied().unwrap_or(header);
            headers.insert(parent, origins::common(origins, around, header));
        }
    }
    headers
}
