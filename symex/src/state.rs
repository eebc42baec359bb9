//! The state σ that rules read and change.
//!
//! In reading order: [`heap`], [`quantified`] (permission to many locations), [`mode`] (the
//! evaluation of expressions), [`sorts`], [`maps`] (functions of the location), [`thread`] (locks
//! and tokens of Chalice).

pub mod heap;
mod maps;
pub mod mode;
pub mod quantified;
pub mod sorts;
pub mod thread;

use std::collections::BTreeMap;
use std::rc::Rc;

use la_arena::Arena;
use sil::program::{FunctionId, LabelId, Local, LocalId, PredicateId};
use sil::source::Span;
use smt::terms::{Symbol, Term, Terms};

use crate::state::heap::{Heap, Resource};
use crate::state::thread::{Balances, Fork, Thread};
use crate::{Amounts, Reading};

/// The store γ: values of the variables of one member. Cloning is cheap.
#[derive(Clone, Debug, Default)]
pub struct Store(Rc<Vec<Option<Term>>>);

impl Store {
    /// Makes a store in which no variable has a value.
    pub fn new(locals: &Arena<Local>) -> Self {
        Self(Rc::new(vec![None; locals.len()]))
    }

    /// Returns the value of a variable, if it has one.
    pub fn get(&self, local: LocalId) -> Option<Term> {
        self.0.get(index(local)).copied().flatten()
    }

    /// Tells whether both stores are the same version.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Gives a variable a value.
    pub fn set(&mut self, local: LocalId, value: Term) {
        Rc::make_mut(&mut self.0)[index(local)] = Some(value);
    }
}

/// The variables of a member that uses the contract of another one.
#[derive(Clone, Debug)]
pub struct User<'p> {
    pub(crate) locals: &'p Arena<Local>,
    pub(crate) store: Store,
}

/// The state of a label.
#[derive(Clone, Debug)]
pub struct Labelled {
    pub heap: Heap,
    /// The claim that the label has been passed. It fails on merged ways that have not passed the
    /// label.
    pub reached: Term,
}

impl Labelled {
    /// Makes the state of a label that is passed now.
    pub fn new(heap: Heap) -> Self {
        Self { heap, reached: Terms::TRUE }
    }
}

/// Returns an arena of no variables, for expressions outside every member.
pub(crate) fn no_locals() -> &'static Arena<Local> {
    static NONE: std::sync::OnceLock<Arena<Local>> = std::sync::OnceLock::new();
    NONE.get_or_init(Arena::new)
}

fn index(local: LocalId) -> usize {
    local.into_raw().into_u32() as usize
}

/// The heaps of earlier moments.
#[derive(Clone, Default, Debug)]
pub struct Past {
    /// The heap that `old` refers to; `None` if the member has none.
    pub old: Option<Heap>,
    /// The labels passed.
    pub labels: Rc<BTreeMap<LabelId, Labelled>>,
    /// The heap that `old[lhs]` refers to.
    pub lhs: Option<Heap>,
    /// The last loop entered, if counterexamples are wanted.
    pub forgot: Option<Rc<Forgot>>,
}

/// The state at the head of a loop, behind its invariants. Of the earlier state, only the parts
/// that the loop leaves alone are known.
#[derive(Debug)]
pub struct Forgot {
    /// The loop.
    pub head: Span,
    pub store: Store,
    pub heap: Heap,
    /// The heap framed around the loop.
    pub around: Heap,
}

/// The sources of a package in progress.
#[derive(Clone, Default, Debug)]
pub struct Package {
    /// The heaps around the package from which its operations may take, nearest first.
    pub reserve: Vec<Heap>,
    /// The permissions that the operation in progress has taken from the reserve.
    pub moved: Heap,
    /// The equations of values that were learnt from portions of one location.
    pub agreed: Rc<Vec<Term>>,
}

/// The reading of assertions.
#[derive(Clone, Debug)]
pub struct AssertionReading {
    pub reading: Reading,
    pub amounts: Amounts,
    /// The factor on all amounts, in the predicate being folded or unfolded.
    pub scale: Option<Term>,
    /// The symbols of the wildcards that may still be constrained (trap T9). A symbol made for all
    /// values of some variables is the same wildcard for all arguments, since variables of a
    /// quantified permission may have been shifted.
    pub constrainable: Rc<Vec<Symbol>>,
    /// The predicates whose bodies are being produced or consumed, one inside the other.
    pub(crate) bodies: Rc<Vec<PredicateId>>,
    /// Tells whether the produced assertion may have failed where it was consumed, so that it may
    /// contradict known facts.
    pub has_failed: bool,
    /// Tells whether a rule needs the snapshot of a consume: for `fold`, or for an application of a
    /// function.
    pub keeps_snapshots: bool,
}

impl AssertionReading {
    /// Tells whether instances of a predicate are open inside each other. A body that unfolds
    /// instances of its own predicate would go on for ever, so it stops here.
    pub fn is_deep_inside(&self, predicate: PredicateId) -> bool {
        self.bodies.iter().filter(|&&outer| outer == predicate).count() > 1
    }
}

impl Default for AssertionReading {
    fn default() -> Self {
        Self {
            reading: Reading::Inhale,
            amounts: Amounts::Exact,
            scale: None,
            constrainable: Rc::default(),
            bodies: Rc::default(),
            has_failed: false,
            keeps_snapshots: false,
        }
    }
}

/// The part of σ that belongs to the text being executed. Another member, or the body of a
/// predicate, has another frame. Plain data, cheap to clone.
#[derive(Clone, Debug)]
pub struct Frame<'p> {
    /// The variables of the member whose expressions are evaluated; `store` has their values.
    pub locals: &'p Arena<Local>,
    pub store: Store,
    /// The variables that the reader of a message knows, while the contract of another member is
    /// used.
    pub user: Option<User<'p>>,
    /// The heaps of earlier moments.
    pub past: Past,
    /// `result` of the function whose postcondition is evaluated.
    pub result: Option<Term>,
    /// The function that `result` belongs to, unless the heap is not the one that the function
    /// reads.
    pub result_of: Option<FunctionId>,
    /// The reading of assertions.
    pub assertion: AssertionReading,
    /// The heap without the assertion, while an assertion that frames itself is produced.
    pub without_own: Option<Heap>,
    /// The heap whose instances have been opened together already (see `consolidation::together`).
    /// Bodies of predicates inherit it, contracts start without, and no frame hands it back.
    pub opened: Option<Heap>,
    /// The knowledge about the present thread of a Chalice program, in direct execution. Only a
    /// call hands back the locks and the memory.
    pub thread: Thread,
}

/// Permission to a location that was given away, and the statement that gave it.
#[derive(Clone, Debug)]
pub struct Given {
    pub(crate) resource: Resource,
    pub(crate) arguments: Vec<Term>,
    /// The amount that has not come back.
    pub(crate) amount: Term,
    pub(crate) by: Span,
    /// The statement opens an instance of a predicate, which is gone by that.
    pub(crate) is_opened: bool,
}

/// The part of σ that belongs to the path. It stays when a frame ends, also where the path ends
/// inside (trap T10f). Plain data, cheap to clone.
#[derive(Clone, Default, Debug)]
pub struct Here {
    pub heap: Heap,
    /// The rest of the heap while a consume is in progress; `perm` looks here (trap T22).
    pub consuming: Option<Heap>,
    /// Heaps framed around the loops in progress, innermost last.
    pub framed: Vec<Heap>,
    /// The sources of a package in progress.
    pub package: Package,
    /// Branch conditions of the control flow so far, as (source, taken).
    pub path: Rc<Vec<(Span, bool)>>,
    /// The messages that the method may receive and has to send.
    pub credits: Balances,
    /// The threads that have been started on this path.
    pub forks: Rc<Vec<Fork>>,
    /// The permissions given away last that have not come back, for messages.
    pub given: Rc<Vec<Given>>,
}

/// The state σ: everything but the path condition. A run can start again from it.
#[derive(Clone, Debug)]
pub struct State<'p> {
    pub(crate) frame: Frame<'p>,
    pub(crate) here: Here,
}

impl<'p> State<'p> {
    /// Makes the state at the start of a member.
    pub fn new(locals: &'p Arena<Local>) -> Self {
        Self { frame: Frame::new(locals), here: Here::default() }
    }
}

impl Here {
    /// Returns the rest of the heap during a consume, or all of it.
    pub fn left(&self) -> Heap {
        self.consuming.as_ref().unwrap_or(&self.heap).clone()
    }

    /// Tells whether quantified chunks of a resource are left.
    pub(crate) fn has_quantified_left(&self, resource: Resource) -> bool {
        let left = self.consuming.as_ref().unwrap_or(&self.heap);
        !left.quantified(resource).is_empty()
    }

    /// Returns the rest of the heap during a consume, or all of it, for changes.
    pub(crate) fn left_mut(&mut self) -> &mut Heap {
        match &mut self.consuming {
            Some(left) => left,
            None => &mut self.heap,
        }
    }

    /// Tells whether permission may be taken from heaps around.
    pub fn may_transfer(&self) -> bool {
        !self.package.reserve.is_empty()
    }
}

impl<'p> Frame<'p> {
    /// Makes the frame at the start of a member.
    pub(crate) fn new(locals: &'p Arena<Local>) -> Self {
        Self {
            locals,
            store: Store::new(locals),
            user: None,
            past: Past::default(),
            result: None,
            result_of: None,
            assertion: AssertionReading::default(),
            without_own: None,
            opened: None,
            thread: Thread::default(),
        }
    }

    /// Makes the frame of another member whose contract is used here.
    pub fn of_used(&self, locals: &'p Arena<Local>) -> Self {
        Self { user: Some(self.users_variables()), ..Self::new(locals) }
    }

    /// Returns the variables that a reader knows. If a contract is used in a contract, these are
    /// those of the first user.
    pub fn users_variables(&self) -> User<'p> {
        let own = || User { locals: self.locals, store: self.store.clone() };
        self.user.clone().unwrap_or_else(own)
    }
}
