//! Functions: their checks, and the axioms that other members get.
//!
//! The value of the body is computed once, in the state that the precondition describes, with the
//! snapshot as a variable. What the value says about the heap consists of projections of that
//! snapshot, so the term can stand in an axiom. Symbols made on the way, such as a value summed up
//! from several chunks, become functions of the axiom's variables.

mod axioms;
mod written;

use sil::program::{Function, FunctionId};
use smt::terms::{Sort, Term, Terms};

use crate::findings::blame::{Blame, ErrorId};
use crate::findings::log::Recalled;
use crate::knowledge::functions::{FunctionAxioms, is_opaque};
use crate::knowledge::symbols::FunctionSymbols;
use crate::members::function::axioms::limited_axiom;
use crate::members::function::axioms::stateless_axiom;
pub use crate::members::function::written::Written;
use crate::rules::assertion::Assertions;
use crate::rules::language::Language;
use crate::whole::Fact;
use crate::{Amounts, Engine, Explore, Reading, Stop, Symbols, View};

/// The function in general: variables for the snapshot and the formals.
struct General<'p> {
    function: FunctionId,
    declaration: &'p Function,
    /// The part of a symbol's name that tells apart the symbols of the checks.
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

/// Produces the preconditions of a function. The contract has been checked before.
fn enter<'p, W: Written<'p>>(
    engine: &mut Engine<'p>,
    written: W,
    general: &General<'p>,
) -> Result<(), Stop> {
    let blame = |clause: &W::Expr| contract::<W>(clause).trusted();
    W::rules(engine).produce_all(written.preconditions(), Some(general.snapshot), blame)
}

fn contract<'p, W: Written<'p>>(clause: &W::Expr) -> Blame {
    Blame::new(ErrorId::NotWellformed, W::Rules::span(clause))
}

fn blame_of_body(general: &General<'_>) -> Blame {
    Blame::new(ErrorId::FunctionNotWellformed, general.declaration.span)
}

impl Symbols<'_> {
    /// Returns the reading of the amounts that a function is given, for everything shown of the
    /// function, and of its termination.
    ///
    /// SOUNDNESS: where a part of an instance is held, functions that its body applies are applied
    /// to that part. So claims about them must not build on sums, exact or not (trap T4).
    pub fn amounts_held_in(&self, function: FunctionId) -> Amounts {
        if self.of_program(Fact::IsInBodies(function)) {
            Amounts::SomeOrNone
        } else {
            Amounts::Exact
        }
    }
}

impl<'p> Engine<'p> {
    fn general<W: Written<'p>>(
        &mut self,
        written: W,
        function: FunctionId,
        phase: &'static str,
    ) -> Result<General<'p>, Stop> {
        let program = self.program;
        let declaration = &program.functions[function];
        let symbols = self.function_symbols(function);
        let snapshot = self.fresh_variable("s", Sort::SNAP);
        let mut formals = Vec::with_capacity(declaration.formals.len());
        for &formal in &declaration.formals {
            let local = &declaration.locals[formal];
            let sort = self.sort(&local.ty);
            formals.push(self.fresh_variable(&local.name, sort));
        }
        written.start(self, &formals)?;
        self.frame.assertion.amounts = self.amounts_of_functions();
        self.here.heap.amounts = self.amounts_held_in(function);
        self.mode.joins = written.merges_ways(self);
        Ok(General { function, declaration, phase, symbols, snapshot, formals })
    }

    /// Checks that the contract is well-formed: phase 1. Returns the axioms that it justifies. The
    /// limited variant is equal, and the postcondition holds where the precondition does.
    pub fn verify_function_contract<W: Written<'p>>(
        &mut self,
        written: W,
        function: FunctionId,
    ) -> Result<FunctionAxioms, Stop> {
        let general = self.general(written, function, "contract")?;
        let operands = general.operands();
        let limited = self.terms.apply(general.symbols.limited, &operands);
        let preconditions = written.preconditions();
        let postconditions = written.postconditions();
        let snapshot = general.snapshot;
        self.check_other_reading(written, &general)?;
        // The postcondition has to mean something for the values that the function has. A check of
        // the body includes this one.
        let has_body = written.body().is_some();
        let (paths, facts) = self.scoped(None, |engine| {
            engine.explore(|engine| {
                W::rules(engine).produce_all(preconditions, Some(snapshot), contract::<W>)?;
                if !preconditions.is_empty() && engine.seems_dead()? {
                    return Err(Stop::Infeasible);
                }
                engine.frame.result = Some(limited);
                engine.frame.result_of = Some(general.function);
                let mut values = Vec::new();
                for clause in postconditions {
                    let blame = contract::<W>(clause);
                    let blame = if has_body { blame.trusted() } else { blame };
                    let value = W::rules(engine).eval(clause, blame)?;
                    values.push(value);
                    // A postcondition that is false is a promise like any other, not an infeasible
                    // path.
                    if value == Terms::FALSE {
                        break;
                    }
                    engine.assume(value)?;
                }
                Ok(engine.terms.and(values))
            })
        })?;
        let mut axioms = vec![
            limited_axiom(&mut self.terms, &general),
            stateless_axiom(&mut self.terms, &general),
        ];
        let paths = paths?;
        if let (true, true, Some(first)) = (paths.is_empty(), has_body, preconditions.first()) {
            self.log.warn_of_contradiction(W::Rules::span(first), "the precondition");
        }
        // An ill-formed contract justifies nothing.
        if self.recall(Recalled::AnyFinding)? {
            return Ok(self.function_axioms(axioms));
        }
        // The value of an evaluated application is known, also where it is not used.
        let evaluated = self.terms.apply(general.symbols.precondition, &operands);
        let triggers = vec![vec![limited], vec![evaluated]];
        for path in paths {
            let shown = |_: &mut Terms, value| value;
            axioms.extend(self.path_axiom(&general, &path, &facts, triggers.clone(), shown));
        }
        Ok(self.function_axioms(axioms))
    }

    /// Checks that the contract is well-formed for those who have to prove it, too.
    fn check_other_reading<W: Written<'p>>(
        &mut self,
        written: W,
        general: &General<'p>,
    ) -> Result<(), Stop> {
        if !written.has_two_readings() {
            return Ok(());
        }
        let has_body = written.body().is_some();
        let preconditions = written.preconditions();
        let limited = general.operands();
        let limited = self.terms.apply(general.symbols.limited, &limited);
        self.scoped(None, |engine| {
            engine.explore(|engine| {
                engine.frame.assertion.reading = Reading::Exhale;
                W::rules(engine).produce_all(preconditions, None, contract::<W>)?;
                engine.frame.result = Some(limited);
                engine.frame.result_of = Some(general.function);
                if !has_body {
                    // Each clause is evaluated where those before it hold.
                    for clause in written.postconditions() {
                        let value = W::rules(engine).eval(clause, contract::<W>(clause))?;
                        engine.assume(value)?;
                    }
                }
                Ok(())
            })
        })?
        .0?;
        Ok(())
    }

    /// Checks that the body is defined and meets the postcondition: phase 2. Returns the
    /// definition, if both hold.
    pub fn verify_function_body<W: Written<'p>>(
        &mut self,
        written: W,
        function: FunctionId,
    ) -> Result<Option<FunctionAxioms>, Stop> {
        let general = self.general(written, function, "body")?;
        let Some(body) = written.body() else { return Ok(None) };
        let blame = blame_of_body(&general);
        self.check_meaning(written, &general, body)?;
        let before = self.log.mark();
        self.gathered.unfolded.clear();
        let (paths, facts) = self.scoped(None, |engine| {
            engine.explore(|engine| {
                enter(engine, written, &general)?;
                engine.show_state(W::Rules::span(body));
                let is_defining = engine.of_program(Fact::ContractsHaveOneReading);
                engine.in_mode(
                    |mode| mode.is_defining = is_defining,
                    |engine| W::rules(engine).eval(body, blame),
                )
            })
        })?;
        let paths = paths?;
        let unfolded = std::mem::take(&mut self.gathered.unfolded);
        // Ways on which the body has no value are sought again, and end there.
        let body_fails = self.recall(Recalled::ErrorSince(before))?;
        let of_value = if body_fails { blame } else { blame.trusted() };
        self.check_postconditions(written, &general, body, of_value)?;
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

    /// Checks that the postconditions are defined for the value of the body.
    fn check_meaning<W: Written<'p>>(
        &mut self,
        written: W,
        general: &General<'p>,
        body: &W::Expr,
    ) -> Result<(), Stop> {
        let postconditions = written.postconditions();
        if postconditions.is_empty() {
            return Ok(());
        }
        self.scoped(None, |engine| {
            engine.explore(|engine| {
                enter(engine, written, general)?;
                let value = W::rules(engine).eval(body, blame_of_body(general).trusted())?;
                engine.frame.result = Some(value);
                engine.frame.result_of = Some(general.function);
                engine.frame.assertion.reading = Reading::Exhale;
                let Some((last, before)) = postconditions.split_last() else { return Ok(()) };
                for clause in before {
                    let value = W::rules(engine).eval(clause, contract::<W>(clause))?;
                    let refuted = engine.terms.not(value);
                    // A clause that is false fails below, and hides no other.
                    if !engine.check(refuted)? {
                        engine.assume(value)?;
                    }
                }
                // PERFORMANCE: no clause builds on the last one, so a check for falsity is not
                // necessary.
                W::rules(engine).eval(last, contract::<W>(last)).map(drop)
            })
        })?
        .0?;
        self.log.forget_taints();
        Ok(())
    }

    /// Checks that the value of the body has the postconditions. If `of_value` is not trusted, ways
    /// on which the body has no value end.
    fn check_postconditions<W: Written<'p>>(
        &mut self,
        written: W,
        general: &General<'p>,
        body: &W::Expr,
        of_value: Blame,
    ) -> Result<(), Stop> {
        let postconditions = written.postconditions();
        if postconditions.is_empty() {
            return Ok(());
        }
        self.log.forget_taints();
        self.explore(|engine| {
            enter(engine, written, general)?;
            let value = engine.learning_inside(|engine| W::rules(engine).eval(body, of_value))?;
            if !of_value.is_trusted() {
                engine.end_unframed()?;
                // The rest does not depend on the missing values.
                engine.log.forget_taints();
            }
            // The postcondition need not mention the result. The facts about applications in the
            // body (a lemma that applies itself, for example) hold all the same.
            let sort = engine.terms.sort(value);
            let result = engine.fresh("result", sort);
            let equation = engine.terms.identical(result, value);
            engine.assume(equation)?;
            engine.frame.result = Some(value);
            engine.frame.result_of = Some(general.function);
            engine.show_state_at_all(postconditions.iter().map(W::Rules::span));
            W::rules(engine).consume_all(postconditions, |clause| {
                Blame::new(ErrorId::PostconditionViolated, W::Rules::span(clause)).trusted()
            })
        })?;
        Ok(())
    }
}
