//! Statements.

use super::{Expr, FieldId, GlobalId, LocalId, PredicateUse, ProcedureId, Type};
use crate::source::Span;

/// Statements in braces.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Block {
    /// The statements.
    pub stmts: Vec<Stmt>,
    /// With the braces.
    pub span: Span,
}

/// A statement and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Stmt {
    /// The statement itself.
    pub kind: StmtKind,
    /// The place of the statement.
    pub span: Span,
}

/// A `requires`, `ensures` or `invariant` clause.
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    /// Is it written `pure`: a formula without footprint?
    pub is_pure: bool,
    /// Is it written `free`: not checked where it would be otherwise?
    pub is_free: bool,
    /// The condition.
    pub condition: Expr,
    /// The clause, from its first word.
    pub span: Span,
}

/// The forms of statements.
#[derive(Debug, Clone, PartialEq)]
pub enum StmtKind {
    /// `{ .. }`
    Block(Block),
    /// `var x: T`: any value. A declaration with an initial value is an [`StmtKind::Assign`],
    /// [`StmtKind::Call`] or [`StmtKind::New`] behind it.
    Declare(LocalId),
    /// `havoc x, ..`
    Havoc(Vec<Variable>),
    /// `x, .. := e, ..`: all values first. A place other than a variable stands alone.
    Assign {
        /// The targets; as many as values.
        places: Vec<Place>,
        /// The values.
        values: Vec<Expr>,
    },
    /// `a := "text"`: the bytes of the text and a final 0 become the first elements of an array.
    AssignText {
        /// The array.
        array: Expr,
        /// Bytes with the 0.
        bytes: Vec<u8>,
    },
    /// `x, .. := p(e, ..)`
    Call {
        /// Variables for the explicit results: all of them, or none if they are not used.
        targets: Vec<Variable>,
        /// The procedure or lemma.
        procedure: ProcedureId,
        /// One for each explicit parameter.
        arguments: Vec<Expr>,
    },
    /// `x := new ..`
    New {
        /// The variable.
        target: Variable,
        /// The new object.
        object: NewObject,
    },
    /// `free e`
    Free(Expr),
    /// `assume e`
    Assume {
        /// Is it written `pure`?
        is_pure: bool,
        /// The trusted condition.
        condition: Expr,
    },
    /// `assert "label" e with { .. }`
    Assert {
        /// Is it written `pure`?
        is_pure: bool,
        /// The label.
        label: Option<String>,
        /// The condition to show.
        condition: Expr,
        /// How: statements whose effects are lost. The condition is then pure.
        proof: Option<Block>,
    },
    /// `split e`
    Split(Expr),
    /// `return e, ..`: one value for each explicit result, or none at all: the results keep their
    /// values.
    Return(Vec<Expr>),
    /// `fold p(e, ..)`
    Fold(PredicateUse),
    /// `unfold p(e, ..)`
    Unfold(PredicateUse),
    /// `if (c) .. else ..`
    If {
        /// The guard.
        condition: Expr,
        /// If it holds.
        then: Block,
        /// If it does not.
        otherwise: Option<Block>,
    },
    /// `choose .. or ..`: any of them.
    Choose(Vec<Block>),
    /// `while (c) invariant e .. { .. }`
    While {
        /// The calls in the guard, which run whenever the guard is evaluated.
        before_guard: Vec<Stmt>,
        /// The guard.
        condition: Expr,
        /// The invariants in order.
        invariants: Vec<Clause>,
        /// The body.
        body: Block,
    },
}

/// A variable that receives a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Variable {
    /// A parameter, result or variable.
    Local(LocalId),
    /// A global variable.
    Global(GlobalId),
    /// A field as a whole: the map from all objects to their values.
    FieldMap(FieldId),
}

/// The target of an assignment.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// `x`
    Variable(Variable),
    /// `e.f`
    Field {
        /// The object.
        receiver: Expr,
        /// Its field.
        field: FieldId,
    },
    /// `a[i]` of an array.
    Element {
        /// The array.
        array: Expr,
        /// The index.
        index: Expr,
    },
    /// `c[]` of a cell.
    Cell(Expr),
}

/// The object that `new` makes.
#[derive(Debug, Clone, PartialEq)]
pub enum NewObject {
    /// An object of a struct; its fields have any values.
    Struct(super::StructId),
    /// An array with its cells.
    Array {
        /// Type of the elements.
        element: Type,
        /// How many.
        length: Expr,
    },
}
