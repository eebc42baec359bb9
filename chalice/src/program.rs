//! The resolved program: every name is an id, every expression has a type and a place.
//!
//! Invariants
//! - Every id points into the arena of its kind in the same [`Program`].
//! - A [`LocalId`] is declared once in the whole program (locals of different members never share
//!   an id), so substituting actual for formal parameters cannot capture.
//! - Nothing is implicit any more: an omitted receiver is a [`ExprKind::This`] node, an implicit
//!   declaration of a call, fork or receive is an [`OutVariable`] with `declares`, a permission
//!   amount is a [`Permission`], a reference operand of `<<` is a read of its `mu`.
//! - [`Type::Unknown`] occurs nowhere.

mod assertion;
mod expr;
pub mod ghosts;
pub mod locking;
mod measure;
mod states;
mod stmt;
mod types;
mod visit;
pub mod walk;

pub use assertion::{Access, AccessTarget, Counted, Permission, PermissionKind};
pub use expr::{
    BinaryOp, Domain, EvalState, Expr, ExprKind, FieldRef, LockMode, Quantifier, UnaryOp,
};
pub use measure::{Decrease, Measure};
pub use stmt::{
    Block, Bounds, ConditionRef, IfArm, Initialiser, Obligation, OutVariable, Rhs, Stmt, StmtKind,
};
pub use types::Type;
pub use visit::Reached;

use la_arena::{Arena, Idx};

use crate::source::Span;

/// Id of a [`Class`].
pub type ClassId = Idx<Class>;
/// Id of a [`Channel`].
pub type ChannelId = Idx<Channel>;
/// Id of a declared [`Field`].
pub type FieldId = Idx<Field>;
/// Id of a [`Method`].
pub type MethodId = Idx<Method>;
/// Id of a [`Function`].
pub type FunctionId = Idx<Function>;
/// Id of a [`Predicate`].
pub type PredicateId = Idx<Predicate>;
/// Id of a [`Condition`].
pub type ConditionId = Idx<Condition>;
/// Id of a [`Local`].
pub type LocalId = Idx<Local>;

/// A whole program without static errors.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    /// All classes, in source order.
    pub classes: Arena<Class>,
    /// All channels, in source order.
    pub channels: Arena<Channel>,
    /// All declared fields.
    pub fields: Arena<Field>,
    /// All methods.
    pub methods: Arena<Method>,
    /// All functions.
    pub functions: Arena<Function>,
    /// All predicates.
    pub predicates: Arena<Predicate>,
    /// All condition variables.
    pub conditions: Arena<Condition>,
    /// All parameters, results, local variables and quantified variables.
    pub locals: Arena<Local>,
    /// Classes and channels in source order.
    pub declarations: Vec<Declaration>,
}

/// A top-level declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Declaration {
    /// `class C { .. }`
    Class(ClassId),
    /// `channel C(..)`
    Channel(ChannelId),
}

/// `class C module M { .. }`
#[derive(Debug, Clone, PartialEq)]
pub struct Class {
    /// The name.
    pub name: String,
    /// The module whose functions see each other's bodies; `default` if none is written.
    pub module: String,
    /// Is it implemented elsewhere? Matters for running programs only.
    pub is_external: bool,
    /// Members in source order; monitor invariants are not among them.
    pub members: Vec<Member>,
    /// Monitor invariants in source order; the monitor's invariant is their conjunction.
    pub invariants: Vec<Expr>,
    /// The declaration, from its first word.
    pub span: Span,
    /// The name alone.
    pub name_span: Span,
}

/// A named member of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Member {
    /// A field.
    Field(FieldId),
    /// A method.
    Method(MethodId),
    /// A function.
    Function(FunctionId),
    /// A predicate.
    Predicate(PredicateId),
    /// A condition variable.
    Condition(ConditionId),
}

impl Program {
    /// Returns the name of a method with that of its class.
    pub fn qualified(&self, method: MethodId) -> String {
        let method = &self.methods[method];
        format!("{}.{}", self.classes[method.class].name, method.name)
    }

    /// Returns where a member is declared: for inherited members of a refining class, in the
    /// refined one.
    pub fn span_of(&self, member: Member) -> Span {
        match member {
            Member::Field(field) => self.fields[field].span,
            Member::Method(method) => self.methods[method].span,
            Member::Function(function) => self.functions[function].span,
            Member::Predicate(predicate) => self.predicates[predicate].span,
            Member::Condition(condition) => self.conditions[condition].span,
        }
    }
}

impl Class {
    /// Returns the declared fields, in source order: what `acc(x.*)` and `free x` speak about.
    pub fn fields(&self) -> impl Iterator<Item = FieldId> + '_ {
        self.members.iter().filter_map(|member| match member {
            Member::Field(field) => Some(*field),
            _ => None,
        })
    }
}

/// `channel C(x: T, ..) where e`
///
/// In the where clause [`ExprKind::This`] is the channel, the parameters are locals.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// The name.
    pub name: String,
    /// The parts of a message.
    pub parameters: Vec<LocalId>,
    /// The assertion that a message transfers; absent means `true`.
    pub where_clause: Option<Expr>,
    /// The declaration, from its first word.
    pub span: Span,
    /// The name alone.
    pub name_span: Span,
}

/// `var f: T`, a declared field.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The class that declares it.
    pub class: ClassId,
    /// Its type; `int` if none is written.
    pub ty: Type,
    /// May it be used in specifications and ghost code only?
    pub is_ghost: bool,
    /// Has a refining class replaced it? Then functions do not tell code its values, either.
    pub is_replaced: bool,
    /// Does it keep back pointers?
    pub is_tracked: bool,
    /// The declaration.
    pub span: Span,
    /// The name alone.
    pub name_span: Span,
}

/// `method m(x: T, ..) returns (y: U, ..) specs { .. }`
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// The name.
    pub name: String,
    /// The class that declares it.
    pub class: ClassId,
    /// In parameters; immutable.
    pub parameters: Vec<LocalId>,
    /// Out parameters.
    pub results: Vec<LocalId>,
    /// Preconditions, one per clause.
    pub requires: Vec<Expr>,
    /// Postconditions, one per clause.
    pub ensures: Vec<Expr>,
    /// Objects whose lock status the method may change, of all clauses.
    pub lock_changes: Vec<Expr>,
    /// Its measures, of all clauses; without any it may go on for ever.
    pub decreases: Vec<Measure>,
    /// The body.
    pub body: Block,
    /// The declaration; it starts at the word `method`, where end-of-method errors are reported.
    pub span: Span,
    /// The name alone.
    pub name_span: Span,
}

/// `function f(x: T, ..): U specs { e }`
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// The name.
    pub name: String,
    /// The class that declares it.
    pub class: ClassId,
    /// Has its value nothing to do with the receiver?
    pub is_static: bool,
    /// Is the body unfolded without bound?
    pub is_unlimited: bool,
    /// Parameters.
    pub parameters: Vec<LocalId>,
    /// Type of the value.
    pub result: Type,
    /// Preconditions, one per clause.
    pub requires: Vec<Expr>,
    /// Postconditions, one per clause; [`ExprKind::Result`] is the value.
    pub ensures: Vec<Expr>,
    /// Its measures, of all clauses; without any its footprint is the measure.
    pub decreases: Vec<Measure>,
    /// The defining expression; absent means uninterpreted.
    pub body: Option<Expr>,
    /// The declaration, from its first word.
    pub span: Span,
    /// The name alone.
    pub name_span: Span,
}

/// `predicate P { e }`
#[derive(Debug, Clone, PartialEq)]
pub struct Predicate {
    /// The name.
    pub name: String,
    /// The class that declares it.
    pub class: ClassId,
    /// The assertion that the predicate stands for.
    pub body: Expr,
    /// The declaration.
    pub span: Span,
    /// The name alone.
    pub name_span: Span,
}

/// `condition c where e`
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The name.
    pub name: String,
    /// The class that declares it.
    pub class: ClassId,
    /// The assertion that a signal transfers; absent means `true`.
    pub where_clause: Option<Expr>,
    /// The declaration.
    pub span: Span,
    /// The name alone.
    pub name_span: Span,
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
    /// May it be used in specifications and ghost code only?
    pub is_ghost: bool,
    /// Is it declared with `const`? A constant without initial value is a ghost and may be assigned
    /// once.
    pub is_const: bool,
    /// Where its name is declared.
    pub span: Span,
}

/// Where a variable comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LocalKind {
    /// In parameter of a method, parameter of a function or channel.
    Parameter,
    /// Out parameter of a method.
    Result,
    /// Declared by a statement.
    Variable,
    /// Bound by a quantifier.
    Quantified,
    /// Keeps a measure; it has no name in the source.
    Measure,
    /// Keeps what a refinement compares; it has no name in the source.
    Copy,
}
