//! The mode of evaluation at the moment, and results that the evaluation leaves behind.
//!
//! A mode holds while something runs, and ends with it in every case. Only [`View::in_mode`]
//! changes it, and the explorer puts it back with the state. Only [`View::exchanging`] replaces a
//! part of the state for a while. Gathered results are taken by the rule that asked for them.

use sil::program::{FunctionId, PredicateId};
use smt::terms::Term;

use crate::state::heap::Heap;
use crate::state::{Frame, Here, State};
use crate::{Configuration, Engine};

/// The mode of evaluation.
#[derive(Clone, Default, Debug)]
pub struct Mode {
    /// The variables of the quantifiers around the evaluated expression. Fresh symbols are
    /// functions of them.
    pub bound: Vec<Term>,
    /// The snapshots of the left-hand sides of the packages in progress, innermost last.
    pub roots: Vec<Term>,
    /// Tells whether a trigger is being evaluated.
    pub in_trigger: bool,
    /// Tells whether the evaluation learns from the heaps on its way.
    pub(crate) learns_inside: bool,
    /// Tells whether assertions inside of expressions are left for later, as in a check of a
    /// predicate's body.
    pub leaves_out_assertions: bool,
    /// Tells whether amounts that may be negative are left for later, and no error now.
    pub leaves_out_amounts: bool,
    /// Tells whether sides that are never taken may be left out: in the body of a function,
    /// evaluated for its definition.
    pub is_defining: bool,
    /// Tells whether a contract is being checked in the reading of those who have to prove it.
    pub in_other_reading: bool,
    /// Tells whether the conditionals of assertions are merged in the present step.
    pub joins: bool,
    /// Tells whether the evaluated value is kept for all paths (see [`crate::apart`]).
    pub(crate) is_apart: bool,
}

/// The results that the evaluation in progress leaves behind.
#[derive(Default, Debug)]
pub struct Gathered {
    /// The applications met so far in the bodies of the quantifiers around, for their triggers.
    pub applications: Vec<Application>,
    /// Definitions of maps met so far in the bodies of the quantifiers around.
    pub below: Vec<Term>,
    /// The variables for undefined parts of a trigger, if such variables are allowed.
    pub trigger_holes: Option<Vec<Term>>,
    /// Predicate instances unfolded in the body of a function: predicate, arguments, snapshot.
    pub(crate) unfolded: Vec<(PredicateId, Vec<Term>, Term)>,
    /// Tells whether an amount that may be negative has been left out (see
    /// [`Mode::leaves_out_amounts`]).
    pub open_amounts: bool,
    /// Definitions of symbols made since the innermost package began.
    pub definitions: Vec<Definition>,
}

/// A view of the engine: the engine itself, or the rules of a language on it. A closure that a view
/// runs gets the same view.
pub trait View<'p>: Sized {
    /// Returns the engine itself.
    fn core(&mut self) -> &mut Engine<'p>;

    /// Runs something in another mode, and comes back to this one.
    fn in_mode<T>(
        &mut self,
        change: impl FnOnce(&mut Mode),
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = self.core().mode.clone();
        change(&mut self.core().mode);
        let result = run(self);
        self.core().mode = outer;
        result
    }

    /// Runs with another value in a place of the state, and returns the value there at the end. The
    /// earlier value comes back in every case.
    fn exchanging<T, F>(
        &mut self,
        place: for<'s> fn(&'s mut Engine<'p>) -> &'s mut F,
        value: F,
        run: impl FnOnce(&mut Self) -> T,
    ) -> (T, F) {
        let outer = std::mem::replace(place(self.core()), value);
        let result = run(self);
        let inner = std::mem::replace(place(self.core()), outer);
        (result, inner)
    }

    /// Runs with another heap as the present one.
    fn in_heap<T>(&mut self, heap: Heap, run: impl FnOnce(&mut Self) -> T) -> T {
        self.exchanging(|engine| &mut engine.here.heap, heap, run).0
    }

    /// Runs in the frame of another member, or of a body, and returns the frame at its end. The
    /// changes of the path stay.
    ///
    /// SOUNDNESS: they stay also if the path ends inside: permission that a package has given up
    /// counts (trap T10f).
    fn in_frame<T>(
        &mut self,
        frame: Frame<'p>,
        run: impl FnOnce(&mut Self) -> T,
    ) -> (T, Frame<'p>) {
        self.exchanging(|engine| &mut engine.frame, frame, run)
    }

    /// Looks from another frame at the heap as it is, outside of every consume, loop and package.
    /// No change stays.
    fn peek<T>(&mut self, frame: Frame<'p>, run: impl FnOnce(&mut Self) -> T) -> T {
        let Here { heap, path, .. } = self.core().here.clone();
        let here = Here { heap, path, ..Here::default() };
        self.exchanging(|engine| &mut engine.here, here, |engine| engine.in_frame(frame, run).0).0
    }

    /// Runs something below a quantifier over some variables.
    fn binding<T>(&mut self, variables: &[Term], run: impl FnOnce(&mut Self) -> T) -> T {
        self.core().mode.bound.extend(variables);
        let result = run(self);
        let bound = &mut self.core().mode.bound;
        bound.truncate(bound.len() - variables.len());
        result
    }

    /// Runs while σ's heap is being consumed, and returns the rest of the heap.
    fn consuming_heap<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, Heap) {
        let heap = Some(self.core().here.heap.clone());
        let (result, left) = self.exchanging(|engine| &mut engine.here.consuming, heap, run);
        (result, left.expect("every consume inside puts back what it found"))
    }

    /// Runs with own wildcards: those made inside stop being constrainable at the end.
    fn with_own_wildcards<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let constrainable = self.core().frame.assertion.constrainable.clone();
        self.exchanging(|engine| &mut engine.frame.assertion.constrainable, constrainable, run).0
    }
}

impl<'p> View<'p> for Engine<'p> {
    fn core(&mut self) -> &mut Self {
        self
    }
}

impl<'p> Configuration<'p> {
    /// Copies σ, to come back to it.
    pub fn state(&self) -> State<'p> {
        State { frame: self.frame.clone(), here: self.here.clone() }
    }

    /// Goes on in another state.
    pub fn set_state(&mut self, state: State<'p>) {
        State { frame: self.frame, here: self.here } = state;
    }

    /// Exports the meaning of a new symbol from the package in progress, if there is one.
    ///
    /// SOUNDNESS: `formula` has to be true of some value of the symbol, for every left-hand side.
    pub fn export_definition(&mut self, symbol: Term, formula: Term) {
        if self.here.may_transfer() && self.mode.bound == self.mode.roots {
            self.gathered.definitions.push(Definition {
                roots: Vec::new(),
                trigger: symbol,
                formula,
            });
        }
    }
}

/// An application met in the body of a quantifier.
#[derive(Debug)]
pub struct Application {
    pub function: FunctionId,
    pub arguments: Vec<Term>,
    pub application: Term,
    /// The application in the program text.
    #[expect(
        clippy::disallowed_types,
        reason = "the rules of SIL compare it, the engine keeps it"
    )]
    pub written: sil::program::Expr,
}

/// The meaning of a symbol made in a package. It holds for every left-hand side, so it may leave
/// the package, unlike facts (trap T10d).
#[derive(Debug)]
pub struct Definition {
    /// The left-hand sides in it, of packages that are over.
    pub roots: Vec<Term>,
    /// A term that mentions the symbol, and with it those left-hand sides.
    pub trigger: Term,
    pub formula: Term,
}
