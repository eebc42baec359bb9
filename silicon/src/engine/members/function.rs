//! Functions: their checks, and the axioms that other members get (Viper engine reference, section 14).
//!
//! The value of the body is computed once, in the state that the precondition describes, with the snapshot as a
//! variable: what it says about the heap is then projections of that snapshot, so the term can stand in an axiom as
//! it is. Symbols made on the way (a value summed up from several chunks, say) become functions of the axiom's variables.

use std::sync::OnceLock;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use sil::program::{Expr, Function, FunctionId, Program};
use sil::recursion::applied;
use smt::terms::{Sort, SymbolKind, Term, TermKind, Terms};

use crate::engine::findings::blame::{Blame, ErrorId};
use crate::engine::findings::log::Recalled;
use crate::engine::knowledge::symbols::{Emitted, FunctionSymbols};
use crate::engine::rules::readings::has_two_readings;
use crate::engine::run::explore::Path;
use crate::engine::state::State;
use crate::engine::{Amounts, Engine, Reading, Stop};

/// The two parts of a function's verification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    Contract,
    Body,
}

/// What is known of the functions verified so far: for each its axioms, by phase.
#[derive(Debug)]
pub(crate) struct FunctionTable(FxHashMap<FunctionId, [OnceLock<FunctionAxioms>; 2]>);

impl FunctionTable {
    pub(crate) fn new(program: &Program) -> Self {
        Self(program.functions.iter().map(|(id, _)| (id, Default::default())).collect())
    }

    /// Makes what a phase has shown available to the members that come later.
    pub(crate) fn insert(&self, function: FunctionId, phase: Phase, axioms: FunctionAxioms) {
        let first = self.0[&function][phase as usize].set(axioms).is_ok();
        debug_assert!(first, "a phase is over once");
    }

    /// What a phase has shown, if it is over and has shown anything.
    pub(crate) fn get(&self, function: FunctionId, phase: Phase) -> Option<&FunctionAxioms> {
        self.0[&function][phase as usize].get()
    }
}

/// Axioms justified by the checks passed so far (trap T5a), with the terms they are made of.
#[derive(Debug)]
pub(crate) struct FunctionAxioms {
    pub(crate) terms: Terms,
    pub(crate) axioms: Vec<Term>,
    /// What the axioms mention.
    pub(crate) uses: Emitted,
}

/// An opaque function's definition is used only where an application is marked `@reveal`.
pub(crate) fn is_opaque(function: &Function) -> bool {
    function.annotations.iter().any(|annotation| &*annotation.key == "opaque")
}

/// Whether no contract of a function and no body of a predicate has `[a, b]` in it.
///
/// SOUNDNESS: of `[a, b]` in a precondition, or in a predicate that it mentions, a body knows a, and who applies the function,
/// directly or in another function, has shown b. So where there is one, no side of a body is known never to be taken.
pub(crate) fn contracts_have_one_reading(program: &Program) -> bool {
    let contracts = program.functions.iter().map(|(_, function)| &function.contract);
    let clauses = contracts.flat_map(|it| it.preconditions.iter().chain(&it.postconditions));
    let bodies = program.predicates.iter().filter_map(|(_, predicate)| predicate.body.as_ref());
    !clauses.chain(bodies).any(has_two_readings)
}

/// The functions that bodies of predicates apply, and those that these apply.
pub(crate) fn functions_in_bodies(program: &Program) -> FxHashSet<FunctionId> {
    let bodies = program.predicates.iter().filter_map(|(_, predicate)| predicate.body.as_ref());
    let mut pending = applied(bodies);
    let mut found = FxHashSet::default();
    while let Some(function) = pending.pop() {
        if found.insert(function) {
            let Function { contract, body, .. } = &program.functions[function];
            let clauses = contract.preconditions.iter().chain(&contract.postconditions);
            let mut parts: Vec<&Expr> = clauses.chain(body).collect();
            for measure in &contract.decreases {
                measure.for_each_child(|part| parts.push(part));
            }
            pending.extend(applied(parts));
        }
    }
    found
}

/// The function in general: variables for the snapshot and the formals.
struct General<'p> {
    function: FunctionId,
    declaration: &'p Function,
    /// Tells apart the symbols that its checks make.
    phase: &'static str,
    symbols: FunctionSymbols,
    snapshot: Term,
    formals: Vec<Term>,
}

impl General<'_> {
    fn operands(&self) -> Vec<Term> {
        std::iter::once(self.snapshot).chain(self.formals.iter().copied()).collect()
    }
}

/// The contract of a function whose body is looked at: it has been checked.
fn trusted_contract(clause: &Expr) -> Blame {
    Blame::new(ErrorId::NotWellformed, clause.span).trusted()
}

fn blame_of_body(general: &General<'_>) -> Blame {
    Blame::new(ErrorId::FunctionNotWellformed, general.declaration.span)
}

impl<'p> Engine<'p> {
    /// How the amounts in preconditions of functions are read (trap T8: everywhere the same).
    pub(crate) fn amounts_of_functions(&self) -> Amounts {
        if self.context.options.exact_amounts_in_functions {
            Amounts::Exact
        } else {
            Amounts::SomeOrNone
        }
    }

    /// How the amounts that a function is given are read in what is shown of it, that it terminates included.
    ///
    /// SOUNDNESS: where a part of an instance is held, what its body applies is applied to that part, so what is shown of
    /// it must not build on sums, exact or not (trap T4).
    pub(crate) fn amounts_held_in(&self, function: FunctionId) -> Amounts {
        if self.context.functions_in_bodies.contains(&function) {
            Amounts::SomeOrNone
        } else {
            Amounts::Exact
        }
    }

    fn general(&mut self, function: FunctionId, phase: &'static str) -> General<'p> {
        let program = self.program;
        let declaration = &program.functions[function];
        let symbols = self.function_symbols(function);
        let snapshot = self.fresh_variable("s", Sort::SNAP);
        self.state = State::new(&declaration.locals);
        self.state.assertion.amounts = self.amounts_of_functions();
        self.state.heap.amounts = self.amounts_held_in(function);
        self.mode.joins = self.merges_ways(&declaration.contract.preconditions);
        let mut formals = Vec::with_capacity(declaration.formals.len());
        for &formal in &declaration.formals {
            let local = &declaration.locals[formal];
            let sort = self.sort(&local.ty);
            let value = self.fresh_variable(&local.name, sort);
            self.state.store.set(formal, value);
            formals.push(value);
        }
        General { function, declaration, phase, symbols, snapshot, formals }
    }

    /// Phase 1: the contract is well-formed. Yields the axioms it justifies: the limited variant is equal, and the
    /// postcondition holds where the precondition does.
    pub(crate) fn verify_function_contract(
        &mut self,
        function: FunctionId,
    ) -> Result<FunctionAxioms, Stop> {
        let general = self.general(function, "contract");
        let operands = general.operands();
        let limited = self.terms.apply(general.symbols.limited, &operands);
        let contract = &general.declaration.contract;
        let preconditions: Vec<&Expr> = contract.preconditions.iter().collect();
        let snapshot = general.snapshot;
        self.check_other_reading(&general)?;
        // What the postcondition says has to mean something for the values that the function has: where there is a
        // body, that is checked with it.
        let has_body = general.declaration.body.is_some();
        let (paths, facts) = self.scoped(None, |engine| {
            engine.explore(|engine| {
                let blame = |clause: &Expr| Blame::new(ErrorId::NotWellformed, clause.span);
                engine.produce_all(&preconditions, Some(snapshot), blame)?;
                if !preconditions.is_empty() && engine.seems_dead()? {
                    return Err(Stop::Infeasible);
                }
                engine.state.result = Some(limited);
                engine.state.result_of = Some(general.function);
                let mut values = Vec::new();
                for clause in &contract.postconditions {
                    let blame = blame(clause);
                    let blame = if has_body { blame.trusted() } else { blame };
                    let value = engine.eval(clause, blame)?;
                    values.push(value);
                    // A postcondition that nothing meets is a promise like any other, not a path that cannot be.
                    if value == Terms::FALSE {
                        break;
                    }
                    engine.assume(value)?;
                }
                Ok(engine.terms.and(values))
            })
        })?;
        let mut axioms = vec![self.limited_axiom(&general), self.stateless_axiom(&general)];
        let paths = paths?;
        if let (true, true, Some(first)) = (paths.is_empty(), has_body, preconditions.first()) {
            self.log.warn_of_contradiction(first.span, "the precondition");
        }
        // An ill-formed contract justifies nothing.
        if self.recall(Recalled::AnyFinding)? {
            return Ok(self.function_axioms(axioms));
        }
        for path in paths {
            axioms.extend(self.path_axiom(
                &general,
                &path,
                &facts,
                vec![vec![limited]],
                |_, value| value,
            ));
        }
        Ok(self.function_axioms(axioms))
    }

    /// The contract as those read it who have to prove it is well-formed, too.
    fn check_other_reading(&mut self, general: &General<'p>) -> Result<(), Stop> {
        let contract = &general.declaration.contract;
        let has_body = general.declaration.body.is_some();
        let clauses = contract.preconditions.iter().chain(&contract.postconditions);
        if !clauses.clone().any(has_two_readings) {
            return Ok(());
        }
        let preconditions: Vec<&Expr> = contract.preconditions.iter().collect();
        let limited = general.operands();
        let limited = self.terms.apply(general.symbols.limited, &limited);
        self.scoped(None, |engine| {
            engine.explore(|engine| {
                engine.state.assertion.reading = Reading::Exhale;
                let blame = |clause: &Expr| Blame::new(ErrorId::NotWellformed, clause.span);
                engine.produce_all(&preconditions, None, blame)?;
                engine.state.result = Some(limited);
                engine.state.result_of = Some(general.function);
                if !has_body {
                    engine.assume_pure(&contract.postconditions, blame)?;
                }
                Ok(())
            })
        })?
        .0?;
        Ok(())
    }

    /// Evaluates clauses one after the other, each where those before it hold.
    fn assume_pure(
        &mut self,
        clauses: &[Expr],
        blame: impl Fn(&Expr) -> Blame,
    ) -> Result<(), Stop> {
        for clause in clauses {
            let value = self.eval(clause, blame(clause))?;
            self.assume(value)?;
        }
        Ok(())
    }

    /// Phase 2: the body is defined and meets the postcondition. Yields the definition, if both hold.
    pub(crate) fn verify_function_body(
        &mut self,
        function: FunctionId,
    ) -> Result<Option<FunctionAxioms>, Stop> {
        let general = self.general(function, "body");
        let Some(body) = &general.declaration.body else { return Ok(None) };
        let contract = &general.declaration.contract;
        let preconditions: Vec<&Expr> = contract.preconditions.iter().collect();
        let postconditions: Vec<&Expr> = contract.postconditions.iter().collect();
        let snapshot = general.snapshot;
        let blame = blame_of_body(&general);
        self.check_meaning(&general, &preconditions, &postconditions, body)?;
        let before = self.log.mark();
        self.gathered.unfolded.clear();
        let (paths, facts) = self.scoped(None, |engine| {
            engine.explore(|engine| {
                engine.produce_all(&preconditions, Some(snapshot), trusted_contract)?;
                let is_defining = engine.context.contracts_have_one_reading;
                engine.in_mode(
                    |mode| mode.is_defining = is_defining,
                    |engine| engine.eval(body, blame),
                )
            })
        })?;
        let paths = paths?;
        let unfolded = std::mem::take(&mut self.gathered.unfolded);
        // Ways on which the body has no value are looked for again: they end there.
        let body_fails = self.recall(Recalled::ErrorSince(before))?;
        let of_value = if body_fails { blame } else { blame.trusted() };
        self.check_postconditions(&general, &preconditions, &postconditions, body, of_value)?;
        if self.recall(Recalled::AnyError)? || self.recall(Recalled::GaveUp)? {
            return Ok(None);
        }
        let operands = general.operands();
        let full = self.terms.apply(general.symbols.full, &operands);
        let mut triggers = vec![vec![full]];
        if !is_opaque(general.declaration) {
            triggers.extend(self.predicate_triggers(&general, unfolded));
        }
        let mut axioms = Vec::new();
        for path in paths {
            axioms.extend(self.path_axiom(
                &general,
                &path,
                &facts,
                triggers.clone(),
                |terms, value| terms.identical(full, value),
            ));
        }
        Ok(Some(self.function_axioms(axioms)))
    }

    /// The postconditions are defined for the value of the body.
    fn check_meaning(
        &mut self,
        general: &General<'p>,
        preconditions: &[&Expr],
        postconditions: &[&Expr],
        body: &Expr,
    ) -> Result<(), Stop> {
        if postconditions.is_empty() {
            return Ok(());
        }
        self.scoped(None, |engine| {
            engine.explore(|engine| {
                engine.produce_all(preconditions, Some(general.snapshot), trusted_contract)?;
                engine.state.result = Some(engine.eval(body, blame_of_body(general).trusted())?);
                engine.state.result_of = Some(general.function);
                engine.state.assertion.reading = Reading::Exhale;
                for clause in postconditions {
                    let value =
                        engine.eval(clause, Blame::new(ErrorId::NotWellformed, clause.span))?;
                    let refuted = engine.terms.not(value);
                    // One that is false fails below, and hides no other.
                    if !engine.check(refuted)? {
                        engine.assume(value)?;
                    }
                }
                Ok(())
            })
        })?
        .0?;
        self.log.forget_taints();
        Ok(())
    }

    /// The value of the body has the postconditions. If `of_value` is not trusted, ways on which it has none end.
    fn check_postconditions(
        &mut self,
        general: &General<'p>,
        preconditions: &[&Expr],
        postconditions: &[&Expr],
        body: &Expr,
        of_value: Blame,
    ) -> Result<(), Stop> {
        if postconditions.is_empty() {
            return Ok(());
        }
        self.log.forget_taints();
        self.explore(|engine| {
            engine.produce_all(preconditions, Some(general.snapshot), trusted_contract)?;
            let value = engine.learning_inside(|engine| engine.eval(body, of_value))?;
            if !of_value.is_trusted() {
                engine.end_unframed()?;
                // What is left does not depend on the values that are missing.
                engine.log.forget_taints();
            }
            // The postcondition need not mention the result: what is known of the applications in the body (a lemma
            // that applies itself, say) is known all the same.
            let sort = engine.terms.sort(value);
            let result = engine.fresh("result", sort);
            let equation = engine.terms.identical(result, value);
            engine.assume(equation)?;
            engine.state.result = Some(value);
            engine.state.result_of = Some(general.function);
            engine.consume_all(postconditions, |clause| {
                Blame::new(ErrorId::PostconditionViolated, clause.span).trusted()
            })?;
            Ok(())
        })?;
        Ok(())
    }

    fn limited_axiom(&mut self, general: &General<'_>) -> Term {
        let operands = general.operands();
        let full = self.terms.apply(general.symbols.full, &operands);
        let limited = self.terms.apply(general.symbols.limited, &operands);
        let equal = self.terms.identical(limited, full);
        let name = format!("{}-limited", general.declaration.name);
        self.terms.forall(&operands, vec![vec![full]], equal, &name, 1)
    }

    fn stateless_axiom(&mut self, general: &General<'_>) -> Term {
        let operands = general.operands();
        let limited = self.terms.apply(general.symbols.limited, &operands);
        let stateless = self.terms.apply(general.symbols.stateless, &general.formals);
        let name = format!("{}-stateless", general.declaration.name);
        self.terms.forall(&operands, vec![vec![limited]], stateless, &name, 1)
    }

    /// ∀ s, xs {triggers}. pre(s, xs) ∧ literals of the path ⇒ what the path shows, with the facts that make the
    /// terms in it meaningful. All of it is guarded by the precondition (traps T5b, T5e, T5f).
    fn path_axiom(
        &mut self,
        general: &General<'_>,
        path: &Path<Term>,
        facts: &[Term],
        triggers: Vec<Vec<Term>>,
        shown: impl FnOnce(&mut Terms, Term) -> Term,
    ) -> Option<Term> {
        let operands = general.operands();
        let shown = shown(&mut self.terms, path.value);
        let precondition = self.terms.apply(general.symbols.precondition, &operands);
        let guard = self.terms.and(path.literals.iter().copied().chain([precondition]));
        let mut conclusions = vec![shown];
        conclusions.extend(
            facts
                .iter()
                .copied()
                .filter(|&fact| self.is_domain_fact(fact) || self.is_not_null(fact)),
        );
        // Definitions of fresh symbols, and of the symbols in them, until nothing is added.
        let mut fresh = self.fresh_symbols(&conclusions, guard);
        let mut rest: Vec<Term> =
            facts.iter().copied().filter(|fact| !conclusions.contains(fact)).collect();
        while !fresh.is_empty() {
            let (about, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|&fact| {
                self.fresh_symbols(&[fact], Terms::TRUE).iter().any(|s| fresh.contains(s))
            });
            rest = others;
            if about.is_empty() {
                break;
            }
            conclusions.extend(about);
            fresh = self.fresh_symbols(&conclusions, guard);
        }
        let conclusion = self.terms.and(conclusions);
        let body = self.terms.implies(guard, conclusion);
        let body = self.skolemised(general, body);
        if body == Terms::TRUE {
            return None;
        }
        Some(self.terms.forall(&operands, triggers, body, &general.declaration.name, 1))
    }

    /// Whether a fact says that an application is in its function's domain.
    fn is_domain_fact(&self, fact: Term) -> bool {
        match self.terms.kind(fact) {
            TermKind::Implies(_, conclusion) => self.is_domain_fact(*conclusion),
            TermKind::Quantifier(quantifier) => self.is_domain_fact(quantifier.body),
            TermKind::Apply(symbol, _) => self.is_precondition(*symbol),
            _ => false,
        }
    }

    /// Whether a fact says that a reference is not null, as is learnt from permission to its fields.
    fn is_not_null(&self, fact: Term) -> bool {
        match self.terms.kind(fact) {
            TermKind::Implies(_, conclusion) => self.is_not_null(*conclusion),
            TermKind::Not(inner) => match *self.terms.kind(*inner) {
                TermKind::Eq(left, right) => {
                    [left, right].iter().any(|&side| *self.terms.kind(side) == TermKind::Null)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// The fresh symbols in some terms, in a fixed order.
    pub(crate) fn fresh_symbols(
        &self,
        terms: &[Term],
        more: Term,
    ) -> IndexSet<smt::terms::Symbol, FxBuildHasher> {
        let mut found = IndexSet::default();
        let mut visited = FxHashSet::default();
        let mut pending: Vec<Term> = terms.iter().copied().chain([more]).collect();
        while let Some(term) = pending.pop() {
            if !visited.insert(term) {
                continue;
            }
            if let TermKind::Apply(symbol, _) = self.terms.kind(term)
                && self.terms.declaration(*symbol).kind == SymbolKind::Fresh
            {
                found.insert(*symbol);
            }
            self.terms.kind(term).for_each_operand(|operand| pending.push(operand));
        }
        found
    }

    /// Fresh symbols as functions of the axiom's variables too: two applications must not share them.
    fn skolemised(&mut self, general: &General<'_>, body: Term) -> Term {
        let operands = general.operands();
        let sorts: Vec<_> = operands.iter().map(|&operand| self.terms.sort(operand)).collect();
        let mut map = FxHashMap::default();
        for symbol in self.fresh_symbols(&[body], Terms::TRUE) {
            let declaration = self.terms.declaration(symbol).clone();
            // Both phases number their symbols from the start.
            let name = format!(
                "{}%{}%{}",
                general.declaration.name,
                general.phase,
                declaration.name.replace('@', "%")
            );
            let sorts: Vec<_> = sorts.iter().chain(&declaration.args).copied().collect();
            let function = self.terms.declare_function(&name, &sorts, declaration.result);
            map.insert(symbol, function);
        }
        self.terms.extend_applications(body, &map, &operands)
    }

    /// {stateless(xs), trigP(s', args)} for each predicate instance the body unfolds: the definition is unrolled
    /// wherever that instance was folded or unfolded.
    fn predicate_triggers(
        &mut self,
        general: &General<'_>,
        unfolded: Vec<(sil::program::PredicateId, Vec<Term>, Term)>,
    ) -> Vec<Vec<Term>> {
        let mut triggers = Vec::new();
        let stateless = self.terms.apply(general.symbols.stateless, &general.formals);
        for (predicate, arguments, snapshot) in unfolded {
            let symbol = self.predicate_trigger(predicate);
            let mut operands = vec![snapshot];
            operands.extend(arguments);
            let instance = self.terms.apply(symbol, &operands);
            let closed = self.fresh_symbols(&[instance], Terms::TRUE).is_empty();
            let free = self.terms.free_variables(instance);
            let own: Vec<_> =
                general.operands().iter().flat_map(|&o| self.terms.free_variables(o)).collect();
            let covered = self.terms.free_variables(stateless);
            let complete = own.iter().all(|v| free.contains(v) || covered.contains(v));
            let trigger = vec![stateless, instance];
            if closed
                && complete
                && free.iter().all(|v| own.contains(v))
                && !triggers.contains(&trigger)
            {
                triggers.push(trigger);
            }
        }
        triggers
    }

    /// Axioms with just the terms they need.
    fn function_axioms(&mut self, axioms: Vec<Term>) -> FunctionAxioms {
        let mut terms = Terms::new();
        let axioms = axioms.into_iter().map(|axiom| terms.import(&self.terms, axiom)).collect();
        FunctionAxioms { terms, axioms, uses: self.domains.emitted.clone() }
    }
}
