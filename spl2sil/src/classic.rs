//! The classic dialect: permission is to whole objects, and what an assertion owns is a set.
//!
//! Nothing of this fits permissions of SIL: heap reads in specifications are total, and assertions
//! talk about unbounded sets of objects by way of paths. So fields become values of a map type,
//! footprints become values of a set type, and the frame rule is written down. The engine sees pure
//! logic only:
//!
//! - for each part of the state ([`types::Slot`]) a variable: the map of a field, the contents of
//!   cells, a global;
//! - for each sort of objects two: `Alloc`, the objects that exist, and `Own`, those that the
//!   procedure may touch.
//!
//! Procedures get the values at entry and give back those at exit ([`procedures`]); assertions
//! become formulas and sets ([`assertions`]); calls and loops hand over a part of `Own` and get
//! back another ([`calls`], [`loops`]). What follows by construction and need not be proved (which
//! objects may have changed) stands in the one-sided assertions of SIL, all of them in [`frames`].

mod assertions;
mod calls;
mod checks;
mod definitions;
mod executed;
mod forests;
mod frames;
mod loops;
mod member;
mod objects;
mod prelude;
mod procedures;
mod statements;
mod terms;
mod triggers;
mod types;
mod uses;

use indexmap::{IndexMap, IndexSet};
use la_arena::ArenaMap;
use rustc_hash::FxHashSet;
use sil::syntax as s;
use spl::program::{Declaration, FunctionId, PredicateId, ProcedureId, Program};
use spl::source::{Sources, Span};

use self::definitions::recursion;
use self::prelude::Prelude;
use self::uses::Table;
use crate::Options;
use crate::lower::auto_lemmas::reasons;
use crate::places;

/// Why something has no lowering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stuck {
    /// The construct, in words.
    construct: String,
    /// Where.
    span: Span,
    /// The hole, where only the value of an existential variable is not known yet.
    unbound: Option<usize>,
}

impl Stuck {
    fn new(construct: impl Into<String>, span: Span) -> Self {
        Self { construct: construct.into(), span, unbound: None }
    }
}

type Fallible<T> = Result<T, Stuck>;

/// Lowers a program of the classic dialect. What has no lowering is in it in a form that the engine
/// refuses.
pub(crate) fn lower(sources: &Sources, program: &Program, options: Options) -> s::Program {
    let mut lowering = Lowering {
        sources,
        program,
        options,
        uses: Table::of(program),
        prelude: Prelude::default(),
        globals: global_names(program),
        closed: IndexMap::new(),
        generated: Vec::new(),
        refused: ArenaMap::default(),
        recursive: recursion::recursive_predicates(program),
        recursive_functions: recursion::recursive_functions(program),
        in_comprehensions: recursion::in_comprehensions(program),
        defined_by_itself: recursion::defined_by_themselves(program),
        executed: IndexSet::new(),
        unrolled: IndexSet::new(),
        seen: IndexSet::new(),
        reasons: reasons(program),
    };
    lowering.close_undetermined();
    lowering.refuse_contracts();
    let mut members = Vec::new();
    for &declaration in &program.declarations {
        match declaration {
            Declaration::Datatype(id) => lowering.datatype(id, &mut members),
            Declaration::Function(id) => lowering.function(id, &mut members),
            Declaration::Predicate(id) => lowering.predicate(id, &mut members),
            Declaration::Axiom(at) => lowering.axiom(at, &mut members),
            Declaration::Procedure(id) => lowering.procedure(id, &mut members),
            Declaration::Struct(_) | Declaration::Global(_) | Declaration::Sort(_) => {}
        }
    }
    lowering.executed_bodies(&mut members);
    lowering.unrolled_predicates(&mut members);
    members.extend(lowering.seen_instances());
    let mut all = lowering.prelude.members(program);
    all.append(&mut lowering.generated);
    all.extend(members);
    if all.is_empty() && !program.declarations.is_empty() {
        all.push(sil::build::nothing());
    }
    places::declare_files(sources, &mut all);
    s::Program { members: all }
}

/// The state of lowering a program.
pub(super) struct Lowering<'p> {
    sources: &'p Sources,
    program: &'p Program,
    options: Options,
    uses: Table,
    prelude: Prelude,
    /// Names that locals cannot have.
    globals: FxHashSet<String>,
    /// Comprehensions, by what they say.
    closed: IndexMap<String, String>,
    /// Domains that comprehensions and functions need.
    generated: Vec<s::Member>,
    /// Procedures whose contract has no lowering.
    refused: ArenaMap<ProcedureId, Stuck>,
    /// Predicates that are defined by themselves, each with those that are defined together with
    /// it.
    recursive: ArenaMap<PredicateId, FxHashSet<PredicateId>>,
    /// The recursive predicates that something mentions.
    unrolled: IndexSet<PredicateId>,
    /// The predicates whose instances lead to values of existential variables.
    seen: IndexSet<PredicateId>,
    /// The members that may not use the `auto` lemmas.
    reasons: FxHashSet<ProcedureId>,
    recursive_functions: FxHashSet<FunctionId>,
    /// The definitions that recurse through a comprehension.
    in_comprehensions: FxHashSet<recursion::Defined>,
    /// The definitions that apply themselves, directly or through others.
    defined_by_itself: FxHashSet<recursion::Defined>,
    /// The definitions that code applies that runs.
    executed: IndexSet<recursion::Defined>,
}

fn global_names(program: &Program) -> FxHashSet<String> {
    let structs = program.structs.values().map(|it| &it.name);
    let sorts = program.sorts.values().map(|it| &it.name);
    let datatypes = program.datatypes.values().map(|it| &it.name);
    let constructors = program.constructors.values().map(|it| &it.name);
    let destructors = program.destructors.values().map(|it| &it.name);
    let procedures = program.procedures.values().map(|it| &it.name);
    let predicates = program.predicates.values().map(|it| &it.name);
    let functions = program.functions.values().map(|it| &it.name);
    let all = structs.chain(sorts).chain(datatypes).chain(constructors).chain(destructors);
    all.chain(procedures).chain(predicates).chain(functions).map(|it| types::spelled(it)).collect()
}
