//! The parse tree: what was written, names still text, macros and plugins not yet expanded.
//!
//! The parser makes it, macro expansion and the plugins rewrite it, front ends (such as
//! `chalice2sil`) build it, the resolver turns it into a [`crate::program::Program`]. Sugar that
//! the reference's parser removes (chained comparisons, `elseif`) is removed by ours too, so it
//! does not appear here.

mod expr;
pub mod walk;

pub use expr::{BinaryOp, Collection, Expr, ExprKind, OldLabel, Quantifier, Trigger, UnaryOp};

use crate::source::{Name, Span};

/// A name and where it stands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Ident {
    pub name: Name,
    pub span: Span,
}

/// `@key("value", …)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Annotation {
    pub key: Name,
    /// The raw strings between the quotes.
    pub values: Vec<Name>,
    pub span: Span,
}

/// All members of all files that make up one program, in the order read.
#[derive(Clone, Default, Debug)]
pub struct Program {
    pub members: Vec<Member>,
}

impl Program {
    /// Tells whether nothing is declared.
    pub fn is_blank(&self) -> bool {
        self.members.iter().all(|member| matches!(member.kind, MemberKind::Program(_)))
    }
}

#[derive(Clone, Debug)]
pub struct Member {
    pub annotations: Vec<Annotation>,
    pub span: Span,
    pub kind: MemberKind,
}

#[derive(Clone, Debug)]
pub enum MemberKind {
    /// `program NAME`, at the head of a file.
    Program(Ident),
    Import(Import),
    Define(Define),
    Fields(Vec<TypedName>),
    Predicate(Predicate),
    Function(Function),
    Method(Method),
    Domain(Domain),
    /// Once desugared it stands beside the domain of its name, which has the functions `C`,
    /// `get_A_f` and `A_tag`; the resolver reads off it what `e.f` and `e.isC` mean.
    Adt(Adt),
}

#[derive(Clone, Debug)]
pub struct Import {
    pub path: Name,
    /// `import <…>`: relative to the standard library.
    pub standard: bool,
}

/// A macro; see [`MacroBody`] for its kinds.
#[derive(Clone, Debug)]
pub struct Define {
    pub name: Ident,
    /// `None` where no parameter list is written.
    pub parameters: Option<Vec<Ident>>,
    pub body: MacroBody,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum MacroBody {
    Block(Block),
    /// Also serves as a name or a type where it is just an identifier.
    Expr(Box<Expr>),
    /// A body that is a type but no expression, such as `Seq[Int]`.
    Type(Type),
    /// Nothing follows the name.
    Empty,
}

/// `name: type`, of a field, parameter, local or bound variable.
#[derive(Clone, Debug)]
pub struct TypedName {
    pub name: Ident,
    pub ty: Type,
}

#[derive(Clone, Debug)]
pub struct Predicate {
    pub name: Ident,
    pub formals: Vec<TypedName>,
    pub body: Option<Expr>,
}

/// Pre- and postconditions, each clause in the order written. `E` is what an expression is: parsed,
/// or resolved.
#[derive(Clone, Debug)]
pub struct Contract<E = Expr> {
    pub preconditions: Vec<E>,
    pub postconditions: Vec<E>,
    pub decreases: Vec<Decreases<E>>,
}

impl<E> Default for Contract<E> {
    fn default() -> Self {
        Self { preconditions: Vec::new(), postconditions: Vec::new(), decreases: Vec::new() }
    }
}

impl<E> Contract<E> {
    /// Returns the termination clauses before the first `ensures`, and those behind it: they have
    /// to come in this order, as the parser reads them.
    pub(crate) fn split_decreases(&self) -> (&[Decreases<E>], &[Decreases<E>]) {
        let behind = self.decreases.partition_point(|clause| !clause.in_postcondition);
        self.decreases.split_at(behind)
    }
}

/// A termination clause.
#[derive(Clone, Debug)]
pub struct Decreases<E = Expr> {
    pub kind: DecreasesKind<E>,
    pub condition: Option<E>,
    /// Behind an `ensures`: to the reference, a clause there is part of the postcondition, others
    /// of the precondition.
    pub in_postcondition: bool,
    /// From behind the keyword on, where the reference reports what is wrong with the clause.
    pub measure: Span,
    pub span: Span,
}

impl<E> Decreases<E> {
    /// Returns those of the clauses of a contract or a loop that count: the last of each kind.
    /// There may be several, as each side of an `ensures` may have one. (In the reference those
    /// behind may hide those of another kind before; to keep them asks for more.)
    ///
    /// SOUNDNESS: whoever takes something for granted because there is a clause has to look at
    /// these, since no other is shown.
    pub fn that_count(clauses: &[Self]) -> impl Iterator<Item = &Self> {
        clauses.iter().enumerate().filter_map(|(index, clause)| {
            let kind = std::mem::discriminant(&clause.kind);
            let mut later = clauses[index + 1..].iter();
            later.all(|other| std::mem::discriminant(&other.kind) != kind).then_some(clause)
        })
    }
}

#[derive(Clone, Debug)]
pub enum DecreasesKind<E = Expr> {
    /// `decreases e1, …, en`; n may be 0.
    Tuple(Vec<E>),
    /// `decreases _`.
    Wildcard,
    /// `decreases *`.
    Star,
}

#[derive(Clone, Debug)]
pub struct Function {
    pub name: Ident,
    pub formals: Vec<TypedName>,
    pub result: Type,
    pub contract: Contract,
    pub body: Option<Expr>,
}

#[derive(Clone, Debug)]
pub struct Method {
    pub name: Ident,
    pub formals: Vec<TypedName>,
    pub returns: Vec<TypedName>,
    pub contract: Contract,
    /// Viper's body is the only implementation, unnamed and structured.
    pub implementations: Vec<Implementation>,
}

/// One body of a method.
#[derive(Clone, Debug)]
pub struct Implementation {
    pub annotations: Vec<Annotation>,
    /// The name after `implementation`, if any.
    pub name: Option<Ident>,
    /// The keyword `implementation` was written.
    pub explicit: bool,
    pub body: Body,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Body {
    Structured(Block),
    Graph(Graph),
}

/// An explicit control-flow graph, or the nested graph of a loop block.
#[derive(Clone, Debug)]
pub struct Graph {
    pub locals: Vec<TypedName>,
    pub nodes: Vec<Node>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Node {
    pub annotations: Vec<Annotation>,
    pub name: Ident,
    /// Marked with `entry`.
    pub entry: bool,
    pub invariants: Vec<Expr>,
    pub decreases: Vec<Decreases>,
    pub kind: NodeKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum NodeKind {
    Block { statements: Vec<Stmt>, terminator: Terminator },
    Loop { condition: Option<Expr>, exits: Vec<Ident>, graph: Graph, then: Option<Ident> },
}

#[derive(Clone, Debug)]
pub struct Terminator<E = Expr, L = Ident> {
    pub kind: TerminatorKind<E, L>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum TerminatorKind<E = Expr, L = Ident> {
    Goto(L),
    Branch {
        condition: E,
        then: L,
        otherwise: L,
    },
    /// Back to the head of the innermost loop.
    Next,
    /// The end of the implementation.
    Halt,
    /// Never reached: assume false.
    Dead,
}

impl<E, L> TerminatorKind<E, L> {
    /// Returns the targets of the jump.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &L> {
        let (first, second) = match self {
            Self::Goto(target) => (Some(target), None),
            Self::Branch { then, otherwise, .. } => (Some(then), Some(otherwise)),
            Self::Next | Self::Halt | Self::Dead => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// Returns the same jump to other targets.
    pub(crate) fn retargeted<M>(self, mut to: impl FnMut(L) -> M) -> TerminatorKind<E, M> {
        match self {
            Self::Goto(target) => TerminatorKind::Goto(to(target)),
            Self::Branch { condition, then, otherwise } => {
                let then = to(then);
                TerminatorKind::Branch { condition, then, otherwise: to(otherwise) }
            }
            Self::Next => TerminatorKind::Next,
            Self::Halt => TerminatorKind::Halt,
            Self::Dead => TerminatorKind::Dead,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Domain {
    pub name: Ident,
    pub parameters: Vec<Ident>,
    /// `interpretation (SMTLIB: "…", …)`: back end and text.
    pub interpretations: Vec<(Ident, Name)>,
    pub functions: Vec<DomainFunction>,
    pub axioms: Vec<Axiom>,
}

#[derive(Clone, Debug)]
pub struct DomainFunction {
    pub annotations: Vec<Annotation>,
    pub name: Ident,
    pub unique: bool,
    /// Marks a constructor of the adt that the domain encodes.
    pub is_constructor: bool,
    /// Names are optional.
    pub formals: Vec<(Option<Ident>, Type)>,
    pub result: Type,
    pub interpretation: Option<Name>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Axiom {
    pub annotations: Vec<Annotation>,
    pub name: Option<Ident>,
    pub body: Expr,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Adt {
    pub name: Ident,
    pub parameters: Vec<Ident>,
    pub constructors: Vec<Constructor>,
    pub derives: Vec<Derive>,
}

#[derive(Clone, Debug)]
pub struct Constructor {
    pub annotations: Vec<Annotation>,
    pub name: Ident,
    pub formals: Vec<TypedName>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Derive {
    pub name: Ident,
    pub argument: Option<Type>,
    pub without: Vec<Ident>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Type {
    pub kind: TypeKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TypeKind {
    Int,
    Bool,
    Perm,
    Ref,
    Seq(Box<Type>),
    Set(Box<Type>),
    Multiset(Box<Type>),
    Map(Box<Type>, Box<Type>),
    /// A domain, an adt, a type variable or a type macro.
    Named {
        name: Ident,
        arguments: Vec<Type>,
    },
    /// A call of a type macro; the arguments are read as expressions.
    MacroCall {
        name: Ident,
        arguments: Vec<MacroArgument>,
    },
}

/// An argument of a type macro, kept as parsed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MacroArgument(pub Name);

/// `{ … }`.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub statements: Vec<Stmt>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub annotations: Vec<Annotation>,
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Inhale(Expr),
    Exhale(Expr),
    Assert(Expr),
    Assume(Expr),
    Refute(Expr),
    /// The operand is an access predicate or a bare predicate call.
    Fold(Expr),
    Unfold(Expr),
    Package {
        wand: Expr,
        script: Option<Block>,
    },
    Apply(Expr),
    Quasihavoc {
        condition: Option<Expr>,
        resource: Expr,
    },
    QuasihavocAll {
        variables: Vec<TypedName>,
        condition: Option<Expr>,
        resource: Expr,
    },
    /// `var x: T, y: U := e`.
    Var {
        variables: Vec<TypedName>,
        initialiser: Option<Expr>,
    },
    /// Assignment, call with results or `new`: told apart by the resolver.
    Assign {
        targets: Vec<Expr>,
        value: Expr,
    },
    /// A call without targets, or a macro name.
    Expr(Expr),
    If {
        condition: Expr,
        then: Block,
        otherwise: Option<Block>,
    },
    While {
        condition: Expr,
        invariants: Vec<Expr>,
        decreases: Vec<Decreases>,
        body: Block,
    },
    Goto(Ident),
    Label {
        name: Ident,
        invariants: Vec<Expr>,
        decreases: Vec<Decreases>,
    },
    Block(Block),
    Define(Define),
}
