//! The resolved program: every name is an id, every expression has a type and a place.
//!
//! Invariants
//! - Every id points into the arena of its kind in the same [`Program`].
//! - A [`LocalId`] is declared once in the whole program (locals of different members never share
//!   an id), so substituting actual for formal parameters cannot capture.
//! - Macros, type aliases and includes are gone; spans of a macro's body point into its definition.
//! - Calls of procedures and `new` are statements: where one is written inside an expression, it
//!   stands before the statement and the expression reads a variable with [`LocalKind::Temporary`].
//! - Types are known, with one exception: a part of a type that nothing determines (`null == null`,
//!   `{} == {}`) is [`Type::Null`] or [`Type::Unknown`].
//! - An array where a map is expected is an [`ExprKind::ArrayMap`]; nothing else is converted.
//! - An assertion has type [`Type::Bool`] if it is pure and [`Type::Permission`] if it may have a
//!   footprint.

mod expr;
mod ghosts;
mod stmt;
mod types;
mod visit;

pub use expr::{
    Access, Annotation, BinaryOp, Bound, ChainOp, Expr, ExprKind, Generator, PredicateUse,
    Quantifier, UnaryOp,
};
pub use stmt::{Block, Clause, NewObject, Place, Stmt, StmtKind, Variable};
pub use types::Type;

use la_arena::{Arena, Idx};

use crate::options::Options;
use crate::source::Span;

/// Id of a [`Struct`].
pub type StructId = Idx<Struct>;
/// Id of a [`Field`].
pub type FieldId = Idx<Field>;
/// Id of a [`Global`].
pub type GlobalId = Idx<Global>;
/// Id of a [`Sort`].
pub type SortId = Idx<Sort>;
/// Id of a [`Datatype`].
pub type DatatypeId = Idx<Datatype>;
/// Id of a [`Constructor`].
pub type ConstructorId = Idx<Constructor>;
/// Id of a [`Destructor`].
pub type DestructorId = Idx<Destructor>;
/// Id of a [`Procedure`].
pub type ProcedureId = Idx<Procedure>;
/// Id of a [`Predicate`].
pub type PredicateId = Idx<Predicate>;
/// Id of a [`Function`].
pub type FunctionId = Idx<Function>;
/// Id of a [`Local`].
pub type LocalId = Idx<Local>;

/// A whole program without static errors.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The meaning that the text has.
    pub dialect: Dialect,
    /// The settings of the program's `options`.
    pub options: Options,
    /// All structs.
    pub structs: Arena<Struct>,
    /// The fields of all structs.
    pub fields: Arena<Field>,
    /// All global variables.
    pub globals: Arena<Global>,
    /// All uninterpreted types.
    pub sorts: Arena<Sort>,
    /// All algebraic datatypes.
    pub datatypes: Arena<Datatype>,
    /// Their constructors.
    pub constructors: Arena<Constructor>,
    /// The fields of their constructors.
    pub destructors: Arena<Destructor>,
    /// All procedures and lemmas.
    pub procedures: Arena<Procedure>,
    /// All predicates.
    pub predicates: Arena<Predicate>,
    /// All functions and constants.
    pub functions: Arena<Function>,
    /// All axioms in source order.
    pub axioms: Vec<Axiom>,
    /// All parameters, results, local variables and bound variables.
    pub locals: Arena<Local>,
    /// The declarations, in source order: each thing once, where its body or else its first header
    /// stands.
    pub declarations: Vec<Declaration>,
}

/// The two meanings that one text can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// The dialect of the verifier's own back end: permission is to objects, footprints are sets,
    /// predicates are transparent.
    Classic,
    /// As [`Dialect::Classic`], but assertions speak about a part of the state and postconditions
    /// about the last values of parameters: that of the first symbolic executor.
    ClassicParts,
    /// The dialect of the thesis: permission is to fields, predicates are opened by `unfold` and
    /// closed by `fold`.
    Field,
}

impl Dialect {
    /// Returns the name in messages and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::ClassicParts => "classic-parts",
            Self::Field => "field",
        }
    }
}

/// A declared thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Declaration {
    /// `struct S { .. }`
    Struct(StructId),
    /// `var g: T` outside of structs
    Global(GlobalId),
    /// `type t`
    Sort(SortId),
    /// `datatype d = ..`
    Datatype(DatatypeId),
    /// `procedure p(..)`, `lemma l(..)`
    Procedure(ProcedureId),
    /// `predicate p(..)`
    Predicate(PredicateId),
    /// `function f(..)`, `const c: T`
    Function(FunctionId),
    /// `axiom e`: its position in [`Program::axioms`].
    Axiom(usize),
}

/// `struct S { .. }`
#[derive(Debug, Clone, PartialEq)]
pub struct Struct {
    /// The name.
    pub name: String,
    /// The fields in source order.
    pub fields: Vec<FieldId>,
    /// The declaration.
    pub span: Span,
    /// The name alone.
    pub name_span: Span,
}

/// `ghost var f: T` in a struct.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The name; no two fields of a program share one.
    pub name: String,
    /// The struct that declares it.
    pub parent: StructId,
    /// Type of its values. As a value of its own the field is a map from the struct to this type.
    pub ty: Type,
    /// Is it declared `ghost`?
    pub is_ghost: bool,
    /// The declaration.
    pub span: Span,
    /// The name alone.
    pub name_span: Span,
}

/// `ghost var g: T` outside of structs.
#[derive(Debug, Clone, PartialEq)]
pub struct Global {
    /// The name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Is it declared `ghost`?
    pub is_ghost: bool,
    /// The declaration.
    pub span: Span,
    /// The name alone.
    pub name_span: Span,
}

/// `type t`, a type of which nothing is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Sort {
    /// The name.
    pub name: String,
    /// The declaration.
    pub span: Span,
    /// The name alone.
    pub name_span: Span,
}

/// `datatype d = c(x: T, ..) | ..`
#[derive(Debug, Clone, PartialEq)]
pub struct Datatype {
    /// The name.
    pub name: String,
    /// The constructors in source order.
    pub constructors: Vec<ConstructorId>,
    /// The declaration.
    pub span: Span,
    /// The name alone.
    pub name_span: Span,
}

/// `c(x: T, ..)` of a datatype.
#[derive(Debug, Clone, PartialEq)]
pub struct Constructor {
    /// The name.
    pub name: String,
    /// The datatype that it makes.
    pub datatype: DatatypeId,
    /// Its fields in source order.
    pub destructors: Vec<DestructorId>,
    /// The name's place.
    pub span: Span,
}

/// `x: T` of a constructor: reads the field back; its value on other constructors is arbitrary.
#[derive(Debug, Clone, PartialEq)]
pub struct Destructor {
    /// The name.
    pub name: String,
    /// The constructor that has it.
    pub constructor: ConstructorId,
    /// Type of the field.
    pub ty: Type,
    /// The name's place.
    pub span: Span,
}

/// `procedure p(x: T, ..) returns (y: U, ..) contract { .. }`, or a lemma.
#[derive(Debug, Clone, PartialEq)]
pub struct Procedure {
    /// The name.
    pub name: String,
    /// Procedure or lemma.
    pub kind: ProcedureKind,
    /// Parameters; they are variables of the body.
    pub parameters: Vec<LocalId>,
    /// Results.
    pub results: Vec<LocalId>,
    /// Preconditions in order.
    pub requires: Vec<Clause>,
    /// Postconditions in order.
    pub ensures: Vec<Clause>,
    /// The body; absent means trusted. Its span ends with the closing brace.
    pub body: Option<Block>,
    /// The declaration.
    pub span: Span,
    /// The name alone.
    pub name_span: Span,
}

/// The kind of a procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProcedureKind {
    /// `procedure`
    Procedure,
    /// `lemma`: a procedure that exists for its contract alone.
    Lemma,
    /// `auto lemma`: its contract is also an axiom.
    AutoLemma,
}

impl Procedure {
    /// Is it a lemma, `auto` or not?
    pub fn is_lemma(&self) -> bool {
        self.kind != ProcedureKind::Procedure
    }
}

/// `predicate p(x: T, ..) contract { A }`
#[derive(Debug, Clone, PartialEq)]
pub struct Predicate {
    /// The name.
    pub name: String,
    /// Is it declared `pure`?
    pub is_declared_pure: bool,
    /// [`Type::Bool`] if the body says nothing about permissions, otherwise [`Type::Permission`].
    pub ty: Type,
    /// Parameters.
    pub parameters: Vec<LocalId>,
    /// The preconditions, such as the footprint of its reads.
    pub requires: Vec<Clause>,
    /// The postconditions.
    pub ensures: Vec<Clause>,
    /// The definition; absent means abstract.
    pub body: Option<Expr>,
    /// The declaration.
    pub span: Span,
    /// The name alone.
    pub name_span: Span,
}

/// `function f(x: T, ..) returns (r: U) contract { e }`, or `const f: U`.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// The name.
    pub name: String,
    /// Parameters; none for a constant.
    pub parameters: Vec<LocalId>,
    /// The result: postconditions mention it as a variable.
    pub result: LocalId,
    /// The preconditions, such as the footprint of its reads.
    pub requires: Vec<Clause>,
    /// The postconditions; [`Function::result`] is the value.
    pub ensures: Vec<Clause>,
    /// Its value; absent means that the postconditions are all that is known.
    pub body: Option<Expr>,
    /// The declaration.
    pub span: Span,
    /// The name alone.
    pub name_span: Span,
}

/// `axiom e`
#[derive(Debug, Clone, PartialEq)]
pub struct Axiom {
    /// The trusted formula.
    pub condition: Expr,
    /// The declaration.
    pub span: Span,
}

/// A variable of a member.
#[derive(Debug, Clone, PartialEq)]
pub struct Local {
    /// The name in the source; unique only within its scope.
    pub name: String,
    /// The type, written or inferred.
    pub ty: Type,
    /// The kind of the variable.
    pub kind: LocalKind,
    /// Is it declared `ghost`?
    pub is_ghost: bool,
    /// Is it an `implicit ghost` parameter? Calls do not write it.
    pub is_implicit: bool,
    /// Where its name is declared.
    pub span: Span,
}

/// Where a variable comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LocalKind {
    /// Parameter.
    Parameter,
    /// Result.
    Result,
    /// Declared by a statement.
    Variable,
    /// The value of a call or `new` that is written inside an expression.
    Temporary,
    /// Bound by a quantifier or comprehension.
    Bound,
}

impl Program {
    /// Returns the parameters that calls write, or the results that calls receive and `return`
    /// names, in order.
    pub fn explicit(&self, locals: &[LocalId]) -> Vec<LocalId> {
        locals.iter().copied().filter(|&local| !self.locals[local].is_implicit).collect()
    }

    /// Returns the type of a field as a value of its own.
    pub fn field_map_type(&self, field: FieldId) -> Type {
        let field = &self.fields[field];
        Type::Map(Box::new(Type::Struct(field.parent)), Box::new(field.ty.clone()))
    }
}
