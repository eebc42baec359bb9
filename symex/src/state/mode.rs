//! How expressions are evaluated at the moment, and what the evaluation leaves behind for those
//! around it.
//!
//! A mode holds while something runs and ends with it, however that ends: it is changed by
//! [`View::in_mode`] only, and the explorer puts it back with the state. A part of the state that
//! is another one for a while is exchanged by [`View::exchanging`] only. What has been gathered
//! is taken by whoever asked for it.

use sil::program::{FunctionId, PredicateId};
use smt::terms::Term;

use crate::state::heap::Heap;
use crate::state::{Frame, Here, State};
use crate::{Configuration, Engine};

/// How expressions are evaluated.
#[derive(Clone, Default, Debug)]
pub struct Mode {
    /// Variables of the quantifiers around the expression being evaluated: fresh symbols are
    /// functions of them.
    pub bound: Vec<Term>,
    /// The snapshots of the left-hand sides of the packages in progress, innermost last.
    pub roots: Vec<Term>,
    /// A trigger is being evaluated.
    pub in_trigger: bool,
    /// An evaluation learns from the heaps it comes to.
    pub(crate) learns_inside: bool,
    /// Assertions inside of expressions are not shown now, but later: where the body of a predicate
    /// is checked.
    pub leaves_out_assertions: bool,
    /// Amounts that may be negative are no error now, but are looked at again later.
    pub leaves_out_amounts: bool,
    /// Set while the body of a function is evaluated for its definition, if sides that are never
    /// taken may be left out.
    pub is_defining: bool,
    /// A contract is being checked in the reading of those who have to prove it.
    pub in_other_reading: bool,
    /// The conditionals of assertions are merged in the step that is being run.
    pub joins: bool,
    /// A value is evaluated that is kept for all paths (see [`crate::apart`]).
    pub(crate) is_apart: bool,
}

/// The finds of the evaluation in progress.
#[derive(Default, Debug)]
pub struct Gathered {
    /// The applications met so far in the bodies of the quantifiers around, for their triggers.
    pub applications: Vec<Application>,
    /// Definitions of maps met so far in the bodies of the quantifiers around.
    pub below: Vec<Term>,
    /// The variables for what is not defined in a trigger, where there are to be any.
    pub trigger_holes: Option<Vec<Term>>,
    /// Predicate instances unfolded in the body of a function: predicate, arguments, snapshot.
    pub(crate) unfolded: Vec<(PredicateId, Vec<Term>, Term)>,
    /// An amount that may be negative has been left out (see [`Mode::leaves_out_amounts`]).
    pub open_amounts: bool,
    /// Definitions of symbols made since the innermost package began.
    pub definitions: Vec<Definition>,
}

/// A view of the engine: the engine itself, or the rules of a language on it. What runs inside of
/// something gets the same view again.
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

    /// Runs with another value in a place of the state; yields what is there at the end. What was
    /// there before comes back, however the run ends.
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

    /// Runs in the frame of another member, or of a body; yields the frame at its end. Whatever
    /// happens on the path stays.
    ///
    /// SOUNDNESS: it stays also where the path ends inside: what a package has given up counts
    /// (trap T10f).
    fn in_frame<T>(
        &mut self,
        frame: Frame<'p>,
        run: impl FnOnce(&mut Self) -> T,
    ) -> (T, Frame<'p>) {
        self.exchanging(|engine| &mut engine.frame, frame, run)
    }

    /// Looks from another frame at the heap as it is, outside of every consume, loop and package.
    /// Nothing stays.
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

    /// Runs while σ's heap is being consumed; yields what is left of it.
    fn consuming_heap<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, Heap) {
        let heap = Some(self.core().here.heap.clone());
        let (result, left) = self.exchanging(|engine| &mut engine.here.consuming, heap, run);
        (result, left.expect("every consume inside puts back what it found"))
    }

    /// Wildcards made from here on until `run` ends stop being constrainable then.
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

    /// Tells the package in progress, if there is one, what a new symbol means.
    ///
    /// SOUNDNESS: `formula` has to be true of some value of the symbol whatever the left-hand side
    /// gives.
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
    /// As it is written there.
    #[expect(
        clippy::disallowed_types,
        reason = "the rules of SIL compare it, the engine keeps it"
    )]
    pub written: sil::program::Expr,
}

/// The meaning of a symbol made in a package. It holds whatever the left-hand side is, so it may
/// leave the package, unlike facts (trap T10d).
#[derive(Debug)]
pub struct Definition {
    /// The left-hand sides it speaks about, of packages that are over.
    pub roots: Vec<Term>,
    /// Mentions what is defined, and with it those roots.
    pub trigger: Term,
    pub formula: Term,
}
