//! Evaluating something for all paths in the middle of one: axioms of domains, which are evaluated when the prover is first
//! asked something.
//!
//! SOUNDNESS: what comes of it is kept for all paths, so nothing of the present one may have a part in it: no fact, no
//! answer of the prover, no mode of evaluation. [`Engine::exchange`] names every field of the engine, so a new one does not
//! compile before somebody has decided which kind it is.

use std::mem::swap;

use rustc_hash::FxHashSet;
use smt::facts::Facts;
use smt::terms::Term;

use crate::engine::permission::heap::Heap;
use crate::engine::rules::eval::applications::Application;
use crate::engine::rules::wands::Definition;
use crate::engine::run::explore::{Explorer, Scope};
use crate::engine::run::parts::Sharing;
use crate::engine::state::State;
use crate::engine::{Engine, Missing, Stop};

/// All that belongs to the place where an engine is.
struct Situation<'p> {
    state: State<'p>,
    scopes: Vec<Scope>,
    known: FxHashSet<Term>,
    facts: Facts,
    explorers: Vec<Explorer>,
    bound: Vec<Term>,
    applications: Vec<Application>,
    met_below: Vec<Term>,
    in_trigger: bool,
    learns_inside: bool,
    leaves_out_assertions: bool,
    unread: usize,
    undefined_triggers: usize,
    trigger_holes: Option<Vec<Term>>,
    missing: Option<Missing>,
    heaps_in_wands: Vec<Heap>,
    roots: Vec<Term>,
    definitions: Vec<Definition>,
    is_defining: bool,
    unfolded: Vec<(sil::program::PredicateId, Vec<Term>, Term)>,
    in_other_reading: bool,
    joins: bool,
    sharing: Option<Sharing<'p>>,
    has_turned: bool,
    is_apart: bool,
}

impl<'p> Situation<'p> {
    /// Where nothing is known, and nothing is being done.
    fn apart(state: State<'p>) -> Self {
        Self {
            state,
            scopes: vec![Scope::default()],
            known: FxHashSet::default(),
            facts: Facts::new(),
            explorers: Vec::new(),
            bound: Vec::new(),
            applications: Vec::new(),
            met_below: Vec::new(),
            in_trigger: false,
            learns_inside: false,
            leaves_out_assertions: false,
            unread: 0,
            undefined_triggers: 0,
            trigger_holes: None,
            missing: None,
            heaps_in_wands: Vec::new(),
            roots: Vec::new(),
            definitions: Vec::new(),
            is_defining: false,
            unfolded: Vec::new(),
            in_other_reading: false,
            joins: false,
            sharing: None,
            has_turned: false,
            is_apart: true,
        }
    }
}

impl<'p> Engine<'p> {
    /// Runs where nothing is known of the present path; the prover, which knows it, is not asked.
    pub(crate) fn apart<T>(
        &mut self,
        state: State<'p>,
        run: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let mut situation = Situation::apart(state);
        self.exchange(&mut situation);
        let result = run(self);
        debug_assert!(result.is_err() || self.scopes.len() == 1, "every scope was left");
        self.exchange(&mut situation);
        result
    }

    /// Goes where another situation is, and leaves the present one there.
    fn exchange(&mut self, other: &mut Situation<'p>) {
        let Self {
            // The same wherever the engine is.
            context: _,
            program: _,
            visible: _,
            recursion_group: _,
            join: _,
            one_by_one: _,
            limits: _,
            deadline: _,
            // Terms, what they mean, and what the prover has been told for good.
            terms: _,
            prover: _,
            domain_symbols: _,
            untold_domains: _,
            limited: _,
            quantifiers: _,
            emitted: _,
            function_symbols: _,
            tables: _,
            wands: _,
            agreements: _,
            defining: _,
            // Set by whoever evaluates an axiom.
            type_arguments: _,
            type_depth: _,
            axioms_in_progress: _,
            // What has been found, and what it has cost.
            tainted: _,
            refuted: _,
            findings: _,
            failures: _,
            undefined: _,
            ill_formed_otherwise: _,
            warnings: _,
            gave_up: _,
            merges: _,
            statistics: _,
            construct: _,
            state,
            scopes,
            known,
            facts,
            explorers,
            bound,
            applications,
            met_below,
            in_trigger,
            learns_inside,
            leaves_out_assertions,
            unread,
            undefined_triggers,
            trigger_holes,
            missing,
            heaps_in_wands,
            roots,
            definitions,
            is_defining,
            unfolded,
            in_other_reading,
            joins,
            sharing,
            has_turned,
            is_apart,
        } = self;
        swap(state, &mut other.state);
        swap(scopes, &mut other.scopes);
        swap(known, &mut other.known);
        swap(facts, &mut other.facts);
        swap(explorers, &mut other.explorers);
        swap(bound, &mut other.bound);
        swap(applications, &mut other.applications);
        swap(met_below, &mut other.met_below);
        swap(in_trigger, &mut other.in_trigger);
        swap(learns_inside, &mut other.learns_inside);
        swap(leaves_out_assertions, &mut other.leaves_out_assertions);
        swap(unread, &mut other.unread);
        swap(undefined_triggers, &mut other.undefined_triggers);
        swap(trigger_holes, &mut other.trigger_holes);
        swap(missing, &mut other.missing);
        swap(heaps_in_wands, &mut other.heaps_in_wands);
        swap(roots, &mut other.roots);
        swap(definitions, &mut other.definitions);
        swap(is_defining, &mut other.is_defining);
        swap(unfolded, &mut other.unfolded);
        swap(in_other_reading, &mut other.in_other_reading);
        swap(joins, &mut other.joins);
        swap(sharing, &mut other.sharing);
        swap(has_turned, &mut other.has_turned);
        swap(is_apart, &mut other.is_apart);
    }
}
