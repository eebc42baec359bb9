//! The four layers of an engine. A method belongs to the lowest layer that has what it needs, so
//! its receiver says what it can touch:
//!
//! * [`Symbols`] makes terms and the symbols of the program. It knows no path.
//! * [`Path`] is a path with the knowledge about it. It assumes and decides by itself, and knows no
//!   heap.
//! * [`Configuration`] is a path and its state. It reads and changes heaps, and shows nothing.
//! * [`Engine`] asks: it checks, branches, shows obligations, and reports those that fail.
//!
//! Each layer dereferences to the one below it. Where two parts of an engine are borrowed at once,
//! the fields are spelt out.

use derive_more::{Deref, DerefMut};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use sil::program::{FunctionId, Program};
use smt::prover::Prover;
use smt::terms::{Sort, Term, Terms};

use crate::findings::log::Log;
use crate::knowledge::domain::Domains;
use crate::knowledge::goals::Noted;
use crate::knowledge::symbols::FunctionSymbols;
use crate::permission::quantified;
use crate::run::explore::Run;
use crate::run::scopes::Knowledge;
use crate::state::mode::{Gathered, Mode};
use crate::state::{Frame, Here};
use crate::{Context, Setting};

/// Facts about the left-hand side and the footprint of a wand together, while both hold.
///
/// SOUNDNESS: the facts say nothing about a wand that is given away, and nothing before the wand is
/// applied. Facts about the left-hand side do not leave the package otherwise (trap T10d).
#[derive(Debug)]
pub struct Agreement {
    /// The left-hand side that the facts are about.
    pub root: Term,
    pub facts: Vec<Term>,
}

/// The symbols and tables made of the program so far. All paths make the same entries, and a
/// repeated run finds its earlier entries.
#[derive(Debug, Default)]
pub struct Made {
    /// Applications of program functions to their limited variants, for triggers.
    pub(crate) limited: FxHashMap<Term, Term>,
    /// The origins of the quantified formulas met so far.
    pub(crate) quantifiers: FxHashMap<Term, Noted>,
    /// Facts that define a new symbol: on every path, some value of the symbol makes them true.
    pub(crate) defining: FxHashSet<Term>,
    /// Symbols for quantified permissions.
    pub(crate) quantified: quantified::Tables,
    /// The structures of the wands met so far, with the sorts of their holes.
    pub wands: IndexMap<String, Vec<Sort>>,
    /// The knowledge about the packaged wands, by their values.
    pub agreements: FxHashMap<Term, Agreement>,
}

/// Tables that save work and change no answer.
#[derive(Debug, Default)]
pub struct Caches {
    /// The symbols of the functions met so far.
    pub function_symbols: FxHashMap<FunctionId, FunctionSymbols>,
}

/// The terms and symbols of a member, the same on all of its paths.
pub struct Symbols<'p> {
    /// The shared data of all members, and the settings of this one. Nothing changes them during
    /// the verification of a member.
    pub context: &'p Context<'p>,
    pub program: &'p Program,
    pub setting: Setting<'p>,
    pub terms: Terms,
    pub domains: Domains,
    pub made: Made,
    pub caches: Caches,
}

/// A path, and the knowledge about it.
#[derive(Deref, DerefMut)]
pub struct Path<'p> {
    #[deref]
    #[deref_mut]
    pub symbols: Symbols<'p>,
    /// The knowledge about the path, π of the papers, and the prover that knows the same.
    pub knowledge: Knowledge,
    pub prover: Prover,
    /// The explorations in progress.
    pub run: Run,
    /// The mode of evaluation. The explorer puts the mode back with the state.
    pub mode: Mode,
    /// The results that the evaluation in progress leaves to its caller only.
    pub gathered: Gathered,
    /// The findings and the cost. Rules write the log and cannot read it.
    pub log: Log,
}

/// A path and its state.
#[derive(Deref, DerefMut)]
pub struct Configuration<'p> {
    #[deref]
    #[deref_mut]
    pub path: Path<'p>,
    /// σ of the papers, in two halves. Rules change them, and the explorer puts them back together.
    pub frame: Frame<'p>,
    pub here: Here,
}
