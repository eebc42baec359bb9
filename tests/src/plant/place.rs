//! Addresses of statement lists in the bodies of a method.

use sil::program::{Block, Body, Expr, Graph, NodeKind, Program, Stmt, StmtKind, TerminatorKind};
use sil::program::{MethodId, Node};
use sil::source::Span;

/// A list of statements: a block of a structured body, or the statements of a node of a graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct List {
    pub(super) method: MethodId,
    pub(super) implementation: usize,
    /// In a graph, the index of the node; of the loops around it first. Empty for a structured
    /// body.
    pub(super) nodes: Vec<usize>,
    /// From the body or node inward: which statement, and which of the blocks in it.
    pub(super) steps: Vec<(usize, usize)>,
}

/// Before the statement `index` of a list, or at its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Point {
    pub(super) list: List,
    pub(super) index: usize,
}

impl List {
    pub(super) fn at(&self, index: usize) -> Point {
        Point { list: self.clone(), index }
    }

    /// The statements at this address. It has to be one of this program.
    pub(super) fn of<'p>(&self, program: &'p Program) -> &'p [Stmt] {
        let mut list = match &program.methods[self.method].implementations[self.implementation].body
        {
            Body::Structured(block) => &block.statements,
            Body::Graph(graph) => match &node(graph, &self.nodes).kind {
                NodeKind::Block { statements, .. } => statements,
                NodeKind::Loop { .. } => unreachable!("statements stand in blocks"),
            },
        };
        for &(statement, block) in &self.steps {
            list = &blocks(&list[statement])[block].statements;
        }
        list
    }

    pub(super) fn of_mut<'p>(&self, program: &'p mut Program) -> &'p mut Vec<Stmt> {
        let method = &mut program.methods[self.method];
        let mut list = match &mut method.implementations[self.implementation].body {
            Body::Structured(block) => &mut block.statements,
            Body::Graph(graph) => match &mut node_mut(graph, &self.nodes).kind {
                NodeKind::Block { statements, .. } => statements,
                NodeKind::Loop { .. } => unreachable!("statements stand in blocks"),
            },
        };
        for &(statement, block) in &self.steps {
            list = &mut blocks_mut(&mut list[statement]).swap_remove(block).statements;
        }
        list
    }

    /// The ways a path from the start of the body comes by before it reaches `index` of this list:
    /// every point of the lists around up to the statement that leads inward, then those of this
    /// list.
    pub(super) fn points_up_to(&self, index: usize) -> Vec<Point> {
        let mut points = Vec::new();
        for depth in 0..=self.steps.len() {
            let list = Self { steps: self.steps[..depth].to_vec(), ..self.clone() };
            let last = self.steps.get(depth).map_or(index, |&(statement, _)| statement);
            points.extend((0..=last).map(|index| list.at(index)));
        }
        points
    }
}

/// The node at a path through a graph.
pub(super) fn node<'g>(graph: &'g Graph, path: &[usize]) -> &'g Node {
    let (first, rest) = path.split_first().expect("a path to a node is not empty");
    match &graph.nodes[*first].kind {
        NodeKind::Loop { graph, .. } if !rest.is_empty() => node(graph, rest),
        _ => &graph.nodes[*first],
    }
}

pub(super) fn node_mut<'g>(graph: &'g mut Graph, path: &[usize]) -> &'g mut Node {
    let (first, rest) = path.split_first().expect("a path to a node is not empty");
    if rest.is_empty() {
        return &mut graph.nodes[*first];
    }
    match &mut graph.nodes[*first].kind {
        NodeKind::Loop { graph, .. } => node_mut(graph, rest),
        NodeKind::Block { .. } => unreachable!("only loops have nodes inside"),
    }
}

/// The blocks directly in a statement, in the order of [`Stmt::for_each_block`].
pub(super) fn blocks(statement: &Stmt) -> Vec<&Block> {
    let mut blocks = Vec::new();
    statement.for_each_block(|block| blocks.push(block));
    blocks
}

fn blocks_mut(statement: &mut Stmt) -> Vec<&mut Block> {
    match &mut statement.kind {
        StmtKind::Package { script: block, .. }
        | StmtKind::While { body: block, .. }
        | StmtKind::Block(block) => vec![block],
        StmtKind::If { then, otherwise, .. } => {
            std::iter::once(then).chain(otherwise.as_mut()).collect()
        }
        _ => Vec::new(),
    }
}

/// A list with where it ends.
pub(super) struct Found {
    pub(super) list: List,
    pub(super) end: Span,
}

/// Every list of statements of a method's bodies, outer ones first.
pub(super) fn lists(program: &Program, method: MethodId) -> Vec<Found> {
    let mut found = Vec::new();
    for (implementation, one) in program.methods[method].implementations.iter().enumerate() {
        let list = List { method, implementation, nodes: Vec::new(), steps: Vec::new() };
        match &one.body {
            Body::Structured(block) => inside(&block.statements, block.span, list, &mut found),
            Body::Graph(graph) => in_graph(graph, &list, &mut found),
        }
    }
    found
}

fn in_graph(graph: &Graph, at: &List, found: &mut Vec<Found>) {
    for (index, node) in graph.nodes.iter().enumerate() {
        let mut list = at.clone();
        list.nodes.push(index);
        match &node.kind {
            NodeKind::Block { statements, terminator } => {
                if !matches!(terminator.kind, TerminatorKind::Dead) {
                    inside(statements, terminator.span, list, found);
                }
            }
            NodeKind::Loop { graph, .. } => in_graph(graph, &list, found),
        }
    }
}

fn inside(statements: &[Stmt], span: Span, list: List, found: &mut Vec<Found>) {
    let end = Span { start: span.end.saturating_sub(1).max(span.start), ..span };
    found.push(Found { list: list.clone(), end });
    for (statement, one) in statements.iter().enumerate() {
        for (block, nested) in blocks(one).into_iter().enumerate() {
            let mut list = list.clone();
            list.steps.push((statement, block));
            inside(&nested.statements, nested.span, list, found);
        }
    }
}

/// The invariants of the loops in a method, each with the address to give back to
/// [`invariant_mut`].
pub(super) fn invariants(program: &Program, method: MethodId) -> Vec<(Invariant, &Expr)> {
    let mut all = Vec::new();
    for found in lists(program, method) {
        for (index, statement) in found.list.of(program).iter().enumerate() {
            if let StmtKind::While { invariants, .. } | StmtKind::Label { invariants, .. } =
                &statement.kind
            {
                for (clause, expr) in invariants.iter().enumerate() {
                    all.push((Invariant::OfStmt(found.list.at(index), clause), expr));
                }
            }
        }
    }
    for (implementation, one) in program.methods[method].implementations.iter().enumerate() {
        if let Body::Graph(graph) = &one.body {
            of_graph(graph, &mut Vec::new(), &mut |nodes, clause, expr| {
                let at = List { method, implementation, nodes: nodes.to_vec(), steps: Vec::new() };
                all.push((Invariant::OfNode(at, clause), expr));
            });
        }
    }
    all
}

fn of_graph<'g>(
    graph: &'g Graph,
    path: &mut Vec<usize>,
    found: &mut impl FnMut(&[usize], usize, &'g Expr),
) {
    for (index, node) in graph.nodes.iter().enumerate() {
        path.push(index);
        for (clause, expr) in node.invariants.iter().enumerate() {
            found(path, clause, expr);
        }
        if let NodeKind::Loop { graph, .. } = &node.kind {
            of_graph(graph, path, found);
        }
        path.pop();
    }
}

/// One clause of a loop's invariant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Invariant {
    OfStmt(Point, usize),
    /// The node is the last of the list's nodes.
    OfNode(List, usize),
}

/// The clauses of the loop that `invariant` belongs to, and the clause's index among them.
pub(super) fn invariant_mut<'p>(
    program: &'p mut Program,
    invariant: &Invariant,
) -> (&'p mut Vec<Expr>, usize) {
    match invariant {
        Invariant::OfStmt(point, clause) => {
            match &mut point.list.of_mut(program)[point.index].kind {
                StmtKind::While { invariants, .. } | StmtKind::Label { invariants, .. } => {
                    (invariants, *clause)
                }
                _ => unreachable!("found at a loop or label"),
            }
        }
        Invariant::OfNode(list, clause) => {
            let body = &mut program.methods[list.method].implementations[list.implementation].body;
            let Body::Graph(graph) = body else { unreachable!("found in a graph") };
            (&mut node_mut(graph, &list.nodes).invariants, *clause)
        }
    }
}
