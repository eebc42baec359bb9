//! The resolved program: every name an id, every expression typed, sugar removed.
//!
//! Invariant: every id points into the arena of its kind ([`LocalId`] and [`LabelId`] into the
//! arenas of the member they stand in). A program is immutable once resolved, hence `Send + Sync`
//! and shared by all workers; the address of a node identifies it while the program lives.

mod expr;
mod rewrite;
mod stmt;
mod ty;

use indexmap::IndexMap;
use la_arena::{Arena, Idx};

pub use expr::*;
pub use stmt::*;
pub use ty::*;

use crate::source::{Name, Span};
use crate::syntax;
pub use crate::syntax::Annotation;

pub type FieldId = Idx<Field>;
pub type PredicateId = Idx<Predicate>;
pub type FunctionId = Idx<Function>;
pub type MethodId = Idx<Method>;
pub type DomainId = Idx<Domain>;
pub type DomainFunctionId = Idx<DomainFunction>;
pub type LocalId = Idx<Local>;
pub type LabelId = Idx<Label>;

pub type Contract = syntax::Contract<Expr>;
pub type Decreases = syntax::Decreases<Expr>;
pub type DecreasesKind = syntax::DecreasesKind<Expr>;
pub type Terminator = syntax::Terminator<Expr, LabelId>;
pub type TerminatorKind = syntax::TerminatorKind<Expr, LabelId>;

#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The name behind `program`.
    pub name: Option<Name>,
    pub fields: Arena<Field>,
    pub predicates: Arena<Predicate>,
    pub functions: Arena<Function>,
    pub domains: Arena<Domain>,
    pub domain_functions: Arena<DomainFunction>,
    pub methods: Arena<Method>,
    /// The members in source order: what is verified, printed and reported goes in this order.
    pub order: Vec<Member>,
    /// The contents of the `@src.…` annotations; [`crate::source::OriginId`] 0 stands for
    /// "nothing".
    pub origins: Origins,
}

impl Program {
    /// Tells whether a front end has made the program from its author's.
    pub fn is_translated(&self) -> bool {
        !self.origins.files.is_empty()
    }
}

/// A member of the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Member {
    Field(FieldId),
    Predicate(PredicateId),
    Function(FunctionId),
    Domain(DomainId),
    Method(MethodId),
}

/// The table behind [`crate::source::OriginId`]: entry `i` belongs to id `i + 1`.
///
/// Each entry holds the annotations written at one node and points to the entry of the nearest
/// annotated node above it, so that walking outward is following `parent`.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    /// Declared by `@src.file("key", "path")`.
    pub files: IndexMap<Name, Name>,
    /// Declared by `@src.receivers()`: where a field cannot be read or written, it is told first if
    /// its receiver might be null.
    pub tells_null_receivers: bool,
    /// Declared by `@src.trusted("text")`: what the original program takes for granted, in its
    /// user's words.
    pub trusted: Vec<String>,
    /// The text has `@src.…` annotations. The notes of the conjuncts of macros are none.
    pub is_annotated: bool,
    pub entries: Vec<Origin>,
}

#[derive(Clone, Debug)]
pub struct Origin {
    pub parent: crate::source::OriginId,
    /// Only those whose key begins with `src.`.
    pub annotations: Vec<Annotation>,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub name: Name,
    pub ty: Type,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A variable of a member: parameter, result, local, or bound by a quantifier or `let`.
#[derive(Clone, Debug)]
pub struct Local {
    pub name: Name,
    pub ty: Type,
    pub kind: LocalKind,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LocalKind {
    Formal,
    /// A result of a method. (A function's result is [`ExprKind::Result`].)
    Returned,
    /// Declared by `var` in a body or a graph.
    Variable,
    /// Bound by `forall`, `exists`, `forperm`, `quasihavocall`.
    Bound,
    Let,
}

#[derive(Clone, Debug)]
pub struct Predicate {
    pub name: Name,
    pub locals: Arena<Local>,
    pub formals: Vec<LocalId>,
    pub body: Option<Expr>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Function {
    pub name: Name,
    pub locals: Arena<Local>,
    pub formals: Vec<LocalId>,
    pub result: Type,
    pub contract: Contract,
    pub body: Option<Expr>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Method {
    pub name: Name,
    /// The variables of the contract and of all implementations.
    pub locals: Arena<Local>,
    pub formals: Vec<LocalId>,
    pub returns: Vec<LocalId>,
    pub contract: Contract,
    /// Empty: the method is abstract, its contract trusted.
    pub implementations: Vec<Implementation>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// One body of a method. Structured or graph, it becomes a `Cfg` (see [`crate::program::Body`]).
#[derive(Clone, Debug)]
pub struct Implementation {
    pub name: Option<Name>,
    /// `label`s and names of blocks, wherever in the body they stand.
    pub labels: Arena<Label>,
    pub body: Body,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Label {
    pub name: Name,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Body {
    Structured(Block),
    Graph(Graph),
}

/// A graph as written: names resolved, natural loops of flat graphs not yet nested.
#[derive(Clone, Debug)]
pub struct Graph {
    pub locals: Vec<LocalId>,
    pub nodes: Vec<Node>,
    /// Index of the entry node in `nodes`.
    pub entry: usize,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Node {
    /// The block's name, which is also the label of the state at its start.
    pub label: LabelId,
    pub invariants: Vec<Expr>,
    pub decreases: Vec<Decreases>,
    pub kind: NodeKind,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum NodeKind {
    Block { statements: Vec<Stmt>, terminator: Terminator },
    Loop { condition: Option<Expr>, exits: Vec<LabelId>, graph: Graph, then: Option<LabelId> },
}

#[derive(Clone, Debug)]
pub struct Domain {
    pub name: Name,
    pub parameters: Vec<Name>,
    /// Back end (such as `SMTLIB`) to its text for this sort.
    pub interpretations: IndexMap<Name, Name>,
    pub functions: Vec<DomainFunctionId>,
    pub axioms: Vec<Axiom>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

impl Domain {
    /// The back end that the verifier is: whose texts count.
    pub(crate) const BACK_END: &str = "SMTLIB";

    /// Returns the text of the sort that stands for the domain, if it is interpreted.
    pub fn interpretation(&self) -> Option<&Name> {
        self.interpretations.get(Self::BACK_END)
    }
}

#[derive(Clone, Debug)]
pub struct DomainFunction {
    pub name: Name,
    pub domain: DomainId,
    pub unique: bool,
    /// Marks a constructor of the adt that the domain encodes: injective, with values of its own.
    pub is_constructor: bool,
    pub formals: Vec<(Option<Name>, Type)>,
    pub result: Type,
    /// The SMT symbol this function stands for, raw.
    pub interpretation: Option<Name>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Axiom {
    pub name: Option<Name>,
    pub locals: Arena<Local>,
    pub body: Expr,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}
