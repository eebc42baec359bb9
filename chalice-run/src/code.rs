//! A program in the form that runs: names are slots, fields are cells, bodies are flat.
//!
//! A slot is the place of a variable in its activation. Slot 0 is the receiver, parameters and
//! results follow; bound variables have slots of their own. A cell is the place of a field in its
//! object: cell 0 is `mu` (of a token, `joinable`), the declared fields follow in order, then one
//! cell for each tracked field that may point to the object.

mod expr;
mod literals;
mod lower;
mod ranges;
mod stmt;
mod uses;

use std::sync::Arc;

pub use expr::{
    Access, AmountExpr, Bool2, Compare, EvalState, Expr, Kind, LevelSide, Quantified, Quantifier,
    SetOp, Source, Target,
};
pub use stmt::{Bound, Bounds, CallSite, Initialiser, Instr, Loop, Op, Rhs, Specification};

pub(crate) use literals::{literals, literals_of};
pub(crate) use lower::default_value;
pub(crate) use uses::Used;

use chalice::program::Type;
use chalice::{Options, Program, Span};

use crate::value::Value;

/// A program ready to run.
#[derive(Debug)]
pub struct Code {
    /// The program it was made from, for names and types.
    pub program: Program,
    /// The options of the first line.
    pub options: Options,
    /// By id.
    pub classes: Vec<Class>,
    /// By id.
    pub channels: Vec<Channel>,
    /// By id.
    pub methods: Vec<Method>,
    /// By id.
    pub functions: Vec<Function>,
    /// By id.
    pub predicates: Vec<Predicate>,
    /// Claims about ghosts that were left out with them.
    pub erased: Vec<Span>,
    /// Do ghosts that were left out decide who holds what, so that permission cannot be checked?
    pub needs_ghosts: bool,
    /// The record of past states, other than for `old`.
    pub recorded: Recorded,
}

/// The needs of the program for past states, other than with `old`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recorded {
    /// The code does not speak of them.
    Nothing,
    /// The values at that time.
    Values,
    /// Also who held what.
    Permissions,
}

/// Slots of an activation.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// The values slots have before they are given others.
    pub initial: Vec<Value>,
    /// The names of those that are variables of the source.
    pub names: Vec<Option<String>>,
    /// Their types.
    pub types: Vec<Option<Type>>,
    /// Constants, each with the flag that says whether it is assigned.
    pub constants: Vec<(u32, u32)>,
}

/// A class.
#[derive(Debug, Clone)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Types of its cells; the first, `mu`, has the type of levels.
    pub cells: Vec<Type>,
    /// Names of its cells.
    pub cell_names: Vec<String>,
    /// The cells that are tracked: those of a new object point nowhere.
    pub tracked: Vec<u32>,
    /// How many of the cells after `mu` are declared fields.
    pub declared: usize,
    /// The monitor invariant, clause by clause.
    pub invariants: Vec<Expr>,
    /// The slots of the invariant.
    pub frame: Frame,
    /// Does the invariant speak of an earlier state?
    pub has_history: bool,
    /// Is it the class that stands for the program's output?
    pub prints: bool,
    /// Is it implemented elsewhere?
    pub is_external: bool,
}

/// A channel.
#[derive(Debug, Clone)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// How many values a message has; they are in the slots from 1 on.
    pub parameters: usize,
    /// The assertion that a message transfers.
    pub where_clause: Option<Expr>,
    /// The slots of the where clause.
    pub frame: Frame,
}

/// A method.
#[derive(Debug, Clone)]
pub struct Method {
    /// Its name with that of its class.
    pub name: String,
    /// Its class.
    pub class: u32,
    /// How many parameters it has; they are in the slots from 1 on.
    pub parameters: usize,
    /// How many results it has; they are in the slots after the parameters.
    pub results: usize,
    /// Preconditions, clause by clause.
    pub requires: Vec<Expr>,
    /// Postconditions, clause by clause.
    pub ensures: Vec<Expr>,
    /// Objects whose lock it may change.
    pub lock_changes: Vec<Expr>,
    /// Its statements.
    pub body: Arc<[Instr]>,
    /// Its loops.
    pub loops: Vec<Loop>,
    /// All its slots.
    pub frame: Frame,
    /// Does its contract mention the read fraction of the call?
    pub has_read_fraction: bool,
    /// Do its postconditions or loop invariants speak of the state at its start?
    pub has_old: bool,
    /// Where it is declared.
    pub span: Span,
    /// Predicates of the receiver to open at its start and to close at its end (`-defaults`).
    pub opened: Vec<Expr>,
    /// Predicates to close at its end.
    pub closed: Vec<Expr>,
}

/// A function.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its name with that of its class.
    pub name: String,
    /// Its class.
    pub class: u32,
    /// Has it no receiver?
    pub is_static: bool,
    /// Does its value depend on what the thread holds that applies it?
    pub asks_for_locks: bool,
    /// How many parameters it has; they are in the slots from 1 on, the value is in the slot after
    /// them.
    pub parameters: usize,
    /// Preconditions.
    pub requires: Vec<Expr>,
    /// Postconditions.
    pub ensures: Vec<Expr>,
    /// Its measure.
    pub decreases: Vec<Expr>,
    /// The functions with a measure that its body may apply and that may come back to it.
    pub circle: Vec<u32>,
    /// The defining expression.
    pub body: Option<Expr>,
    /// For a function without a body: what a postcondition says that the value is.
    pub definition: Option<Expr>,
    /// The slots.
    pub frame: Frame,
    /// Where it is declared.
    pub span: Span,
}

/// A predicate.
#[derive(Debug, Clone)]
pub struct Predicate {
    /// Its name.
    pub name: String,
    /// The body of the predicate.
    pub body: Expr,
    /// The slots of the body.
    pub frame: Frame,
}

impl Code {
    /// Lowers a program.
    pub fn new(program: Program, options: Options) -> Self {
        lower::lower(program, options, lower::Ghosts::Kept)
    }

    /// Lowers a program without its ghosts and without what is said of them.
    pub fn without_ghosts(program: Program, options: Options) -> Self {
        lower::lower(program, options, lower::Ghosts::Erased)
    }

    /// Returns the method with a qualified name, `C.m`.
    pub fn method(&self, name: &str) -> Option<u32> {
        self.methods.iter().position(|method| method.name == name).map(|at| at as u32)
    }
}

/// Returns the index of an id of the resolved program.
pub(crate) fn index<T>(id: la_arena::Idx<T>) -> u32 {
    id.into_raw().into_u32()
}
