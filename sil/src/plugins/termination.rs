//! Termination checks: what `decreases` clauses promise becomes assertions.
//!
//! The user's program stays as it is. Beside it come, for each function with a measure, methods
//! that prove its calls to terminate; and graphs of the methods with checks in them, at calls and
//! around the iterations of loops. A check is an `assert` whose span has an origin of its own, so
//! that a failure can be told apart ([`Instrumented::check`]) and reported at the call, in words of
//! termination.
//!
//! In reading order: [`measures`] (clauses and the order on tuples), [`orders`] (the domains that
//! define it), [`calls`] (who calls whom, hence who has to decrease), [`positions`] (what is known
//! where a call is evaluated), [`functions`] and [`methods`].
//!
//! SOUNDNESS: a proof relies on postconditions of functions, the function's own included, as they
//! hold of each call that is evaluated before. That call has a check, too, which does not rely on
//! itself: what a check mentions is evaluated before the call it guards. Calls in the measures that
//! it compares are no exception: they do not lead back to the functions whose measures these are
//! (`required` in `consistency/declarations.rs`). So by induction on the order of evaluation
//! nothing circular is proved, as long as every failure is reported.

mod build;
mod calls;
mod functions;
mod measures;
mod methods;
mod orders;
mod positions;

use indexmap::IndexMap;
use la_arena::Arena;
use rustc_hash::FxHashMap;

use crate::cfg::Cfg;
use crate::program::{
    Body, Decreases, DecreasesKind, Expr, FunctionId, Local, MethodId, Origin, Program, StmtKind,
};
use crate::source::{OriginId, Span};
use crate::walk::{Visit, walk_body};
use calls::Components;
use orders::Orders;

/// A program with its termination checks.
#[derive(Debug)]
pub struct Instrumented {
    /// The program with what the checks mention. Generated members are not in its `order`.
    pub program: Program,
    /// Methods whose failures are failures of the function.
    pub proofs: Vec<(MethodId, FunctionId)>,
    /// Bodies with checks: by method and index of the implementation. Other bodies need none.
    pub graphs: IndexMap<(MethodId, usize), Cfg>,
    checks: FxHashMap<OriginId, Check>,
}

impl Instrumented {
    /// Returns the function whose termination a generated method shows.
    pub fn proved_by(&self, method: MethodId) -> Option<FunctionId> {
        self.proofs.iter().find(|(proof, _)| *proof == method).map(|&(_, function)| function)
    }

    /// Returns the check that a failure at this span belongs to; `None` if it has nothing to do
    /// with termination.
    pub fn check(&self, span: Span) -> Option<&Check> {
        self.checks.get(&span.origin)
    }
}

/// The check behind an origin that was made here.
#[derive(Clone, Debug)]
pub struct Check {
    pub kind: CheckKind,
    /// The origin that the user's node has.
    pub origin: OriginId,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CheckKind {
    /// Not a check: a copy of something that is verified where it stands, so a failure is reported
    /// there.
    Copy,
    /// The callee (or the loop) has to promise termination here.
    TerminationCondition,
    /// A callee that may call back has to have a measure here.
    TupleCondition,
    /// The measure has to be smaller than the caller's, or than at the start of the iteration.
    Tuple,
}

/// How the amounts in preconditions of functions are read.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Amounts {
    #[default]
    SomeOrNone,
    Exact,
}

/// Adds the termination checks; `None` if the program has none.
pub fn instrument(program: &Program, amounts: Amounts) -> Option<Instrumented> {
    let measured = Measured::of(program);
    if measured.tuples.is_empty() {
        return None;
    }
    let mut extended = program.clone();
    let orders = Orders::install(&mut extended, &measured.tuples);
    let mut pass = Pass {
        source: program,
        amounts,
        made: Instrumented {
            program: extended,
            proofs: Vec::new(),
            graphs: IndexMap::new(),
            checks: FxHashMap::default(),
        },
        orders,
        components: Components::of(program),
        origins: FxHashMap::default(),
    };
    functions::prove_all(&mut pass);
    for method in measured.methods {
        methods::check(&mut pass, method);
    }
    Some(pass.made)
}

/// Where there are measures.
#[derive(Default)]
struct Measured<'p> {
    /// All tuples of the program.
    tuples: Vec<&'p [Expr]>,
    /// Methods with a tuple in the contract or at a loop.
    methods: Vec<MethodId>,
}

impl<'p> Measured<'p> {
    fn of(program: &'p Program) -> Self {
        let mut measured = Self::default();
        for function in program.functions.values() {
            measured.add(&function.contract.decreases);
        }
        for (id, method) in program.methods.iter() {
            let mut found = measured.add(&method.contract.decreases);
            for implementation in &method.implementations {
                found |= measured.add_loops(&implementation.body);
            }
            if found {
                measured.methods.push(id);
            }
        }
        measured
    }

    fn add(&mut self, clauses: &'p [Decreases]) -> bool {
        let before = self.tuples.len();
        self.tuples.extend(clauses.iter().filter_map(|clause| match &clause.kind {
            DecreasesKind::Tuple(elements) => Some(&elements[..]),
            DecreasesKind::Wildcard | DecreasesKind::Star => None,
        }));
        self.tuples.len() > before
    }

    fn add_loops(&mut self, body: &'p Body) -> bool {
        let mut found = false;
        walk_body(body, |visit| match visit {
            Visit::Stmt(statement) => {
                if let StmtKind::While { decreases, .. } | StmtKind::Label { decreases, .. } =
                    &statement.kind
                {
                    found |= self.add(decreases);
                }
            }
            Visit::Node(node) => found |= self.add(&node.decreases),
            Visit::Expr(_) | Visit::Graph(_) => {}
        });
        found
    }
}

/// The pass in progress.
struct Pass<'p> {
    source: &'p Program,
    amounts: Amounts,
    made: Instrumented,
    orders: Orders,
    components: Components,
    /// Each check at each place has one origin, so that it is reported once however many paths lead
    /// to it.
    origins: FxHashMap<(Span, CheckKind), OriginId>,
}

impl Pass<'_> {
    /// Returns the span for a check at `span`.
    fn mark(&mut self, span: Span, kind: CheckKind) -> Span {
        // Nothing is reported at copies: one origin, without a parent, is enough for all of them.
        let of_copies = Span::default();
        let key = if kind == CheckKind::Copy { of_copies } else { span };
        let (origins, checks) = (&mut self.made.program.origins, &mut self.made.checks);
        let origin = *self.origins.entry((key, kind)).or_insert_with(|| {
            let parent = key.origin;
            origins.entries.push(Origin { parent, annotations: Vec::new() });
            let id = OriginId(origins.entries.len() as u32);
            checks.insert(id, Check { kind, origin: parent });
            id
        });
        Span { origin, ..span }
    }
}

/// The variables of a member under construction.
type Locals = Arena<Local>;
