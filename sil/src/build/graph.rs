//! Bodies as control-flow graphs, for front ends whose programs are graphs already.
//!
//! ```
//! use sil::build::*;
//! use sil::syntax::{Graph, Method, Node, Program, Terminator, TypeKind};
//!
//! let count = Graph::new([
//!     Node::block("start", [assign(var("i"), int(0))], Terminator::goto("head")).entry(),
//!     Node::looping(
//!         "head",
//!         lt(var("i"), var("n")),
//!         Graph::new([Node::block("step", [assign(var("i"), var("i") + int(1))], Terminator::next())]),
//!         "done",
//!     )
//!     .invariant(implies(le(int(0), var("n")), le(var("i"), var("n")))),
//!     Node::block("done", [], Terminator::halt()),
//! ])
//! .local("i", TypeKind::Int);
//! let program = Program::default().with(Method::new("count").formal("n", TypeKind::Int).graph(count));
//! let loaded = sil::load::load_syntax(program);
//! let text = sil::print::program(&loaded.program.unwrap(), sil::print::Form::Structured);
//! assert!(text.contains("while (i < n)"), "{text}");
//! ```

use super::{ident, typed};
use crate::source::Span;
use crate::syntax::{Expr, Graph, Node, NodeKind, Stmt, Terminator, TerminatorKind, Type};

impl Graph {
    /// Returns a graph of blocks and loops; the first is the entry unless another is marked.
    pub fn new(nodes: impl IntoIterator<Item = Node>) -> Self {
        Self { locals: Vec::new(), nodes: nodes.into_iter().collect(), span: Span::default() }
    }

    /// Declares a variable, which has an arbitrary value whenever the graph is entered.
    #[must_use]
    pub fn local(mut self, name: &str, ty: impl Into<Type>) -> Self {
        self.locals.push(typed(name, ty));
        self
    }
}

impl Node {
    fn new(name: &str, kind: NodeKind) -> Self {
        Self {
            annotations: Vec::new(),
            name: ident(name),
            entry: false,
            invariants: Vec::new(),
            decreases: Vec::new(),
            kind,
            span: Span::default(),
        }
    }

    /// `block name { statements terminator }`; the statements are simple ones.
    pub fn block(
        name: &str,
        statements: impl IntoIterator<Item = Stmt>,
        terminator: Terminator,
    ) -> Self {
        Self::new(
            name,
            NodeKind::Block { statements: statements.into_iter().collect(), terminator },
        )
    }

    /// `loop name while (condition) { .. } then block`
    pub fn looping(name: &str, condition: Expr, graph: Graph, then: &str) -> Self {
        let (condition, then) = (Some(condition), Some(ident(then)));
        Self::new(name, NodeKind::Loop { condition, exits: Vec::new(), graph, then })
    }

    /// `loop name exits .. { .. }`: left only by jumps to its exits.
    pub fn endless<'n>(name: &str, graph: Graph, exits: impl IntoIterator<Item = &'n str>) -> Self {
        let exits = exits.into_iter().map(ident).collect();
        Self::new(name, NodeKind::Loop { condition: None, exits, graph, then: None })
    }

    /// Marks where the graph begins.
    #[must_use]
    pub fn entry(mut self) -> Self {
        self.entry = true;
        self
    }

    /// Adds an invariant.
    #[must_use]
    pub fn invariant(mut self, invariant: Expr) -> Self {
        self.invariants.push(invariant);
        self
    }
}

impl Terminator {
    fn new(kind: TerminatorKind) -> Self {
        Self { kind, span: Span::default() }
    }

    /// `goto block`
    pub fn goto(block: &str) -> Self {
        Self::new(TerminatorKind::Goto(ident(block)))
    }

    /// `branch (condition) then else otherwise`
    pub fn branch(condition: Expr, then: &str, otherwise: &str) -> Self {
        let (then, otherwise) = (ident(then), ident(otherwise));
        Self::new(TerminatorKind::Branch { condition, then, otherwise })
    }

    /// `next`: back to the head of the innermost loop.
    pub fn next() -> Self {
        Self::new(TerminatorKind::Next)
    }

    /// `halt`: the end of the body.
    pub fn halt() -> Self {
        Self::new(TerminatorKind::Halt)
    }

    /// `dead`: never reached.
    pub fn dead() -> Self {
        Self::new(TerminatorKind::Dead)
    }
}
