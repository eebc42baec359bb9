//! Statements of a structured body, and the simple ones of a graph's blocks.

use super::{
    Annotation, Decreases, Expr, FieldId, LabelId, LocalId, MethodId, PredicateAccess, Resource,
};
use crate::source::Span;

/// `{ … }`.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub statements: Vec<Stmt>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
    /// Without those that start with `src.`: they are behind `span.origin`.
    pub annotations: Vec<Annotation>,
}

impl Stmt {
    /// Makes a statement without annotations.
    pub(crate) fn new(kind: StmtKind, span: Span) -> Self {
        Self { kind, span, annotations: Vec::new() }
    }
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Declares variables of arbitrary value (an initialiser is a statement of its own). Each time
    /// it is executed the variables get a new arbitrary value.
    Var(Vec<LocalId>),
    Assign {
        target: LocalId,
        value: Expr,
    },
    FieldAssign {
        receiver: Expr,
        field: FieldId,
        value: Expr,
    },
    /// `target := new(fields)`; `new(*)` lists all fields.
    New {
        target: LocalId,
        fields: Vec<FieldId>,
    },
    /// Field targets have been replaced by auxiliary variables.
    Call {
        targets: Vec<LocalId>,
        method: MethodId,
        arguments: Vec<Expr>,
    },
    Inhale(Expr),
    Exhale(Expr),
    Assert(Expr),
    Assume(Expr),
    Refute(Expr),
    /// Says that control need not get here; for [smoke detection](crate::plugins::smoke) only.
    Unreachable,
    Fold(PredicateAccess),
    Unfold(PredicateAccess),
    Package {
        wand: Expr,
        script: Block,
    },
    Apply {
        wand: Expr,
    },
    Quasihavoc {
        condition: Option<Expr>,
        resource: Resource,
    },
    QuasihavocAll {
        variables: Vec<LocalId>,
        condition: Option<Expr>,
        resource: Resource,
    },
    /// Marks a state; in a structured body also a jump target.
    Label {
        label: LabelId,
        invariants: Vec<Expr>,
        decreases: Vec<Decreases>,
    },
    // Structured bodies only:
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
    Goto(LabelId),
    Block(Block),
}
