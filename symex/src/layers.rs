//! The four layers of an engine. A method belongs to the lowest layer that has what it needs, so
//! its receiver says what it can touch:
//!
//! * [`Symbols`] makes terms and the symbols of the program. It knows no path.
//! * [`Path`] is a path with what is known on it. It assumes and decides by itself, and knows no
//!   heap.
//! * [`Configuration`] is a path and the state there. It reads and changes heaps, and shows nothing.
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

/// The knowledge about the left-hand side and the footprint of a wand together, where both hold.
///
/// SOUNDNESS: of one that is given away nothing is known, and nothing is said before the wand is
/// applied: facts about the left-hand side do not leave the package otherwise (trap T10d).
#[derive(Debug)]
pub struct Agreement {
    /// The left-hand side they speak about.
    pub root: Term,
    pub facts: Vec<Term>,
}

/// The symbols and tables made of the program so far. An entry is the same whichever path made it,
/// and a run that is repeated finds the entries that it made before.
#[derive(Debug, Default)]
pub struct Made {
    /// Applications of program functions to their limited variants, for triggers.
    pub(crate) limited: FxHashMap<Term, Term>,
    /// How the quantified formulas met so far came about.
    pub(crate) quantifiers: FxHashMap<Term, Noted>,
    /// Facts that define a new symbol: some value of it makes them true on every path.
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
    /// The shared data of all members, and the settings of this one: nothing changes them while a
    /// member is verified.
    pub context: &'p Context<'p>,
    pub program: &'p Program,
    pub setting: Setting<'p>,
    pub terms: Terms,
    pub domains: Domains,
    pub made: Made,
    pub caches: Caches,
}

/// A path, and what is known on it.
#[derive(Deref, DerefMut)]
pub struct Path<'p> {
    #[deref]
    #[deref_mut]
    pub symbols: Symbols<'p>,
    /// The knowledge about the path, π of the papers, and the prover that knows the same.
    pub knowledge: Knowledge,
    pub prover: Prover,
    /// The explorations in progress.
    pub run: Run<'p>,
    /// The mode of evaluation: the explorer puts it back with the state.
    pub mode: Mode,
    /// The finds that the evaluation in progress leaves to its caller, and to no other.
    pub gathered: Gathered,
    /// The findings and the cost: rules write the log and cannot read it.
    pub log: Log,
}

/// A path and the state there.
#[derive(Deref, DerefMut)]
pub struct Configuration<'p> {
    #[deref]
    #[deref_mut]
    pub path: Path<'p>,
    /// σ of the papers, in two halves: rules change them, the explorer puts them back together.
    pub frame: Frame<'p>,
    pub here: Here,
}
