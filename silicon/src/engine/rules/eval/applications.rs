//! Applications of program functions (Viper engine reference, section 14.5).

use sil::program::{Expr, ExprKind, FunctionId, LocalId};
use sil::recursion::is_result;
use sil::source::Span;
use smt::terms::{Sort, Term};

use crate::engine::findings::blame::Blame;
use crate::engine::members::function::is_opaque;
use crate::engine::state::State;
use crate::engine::{Engine, Missing, Stop};

/// An application met in the body of a quantifier.
#[derive(Debug)]
pub(crate) struct Application {
    function: FunctionId,
    arguments: Vec<Term>,
    application: Term,
    span: Span,
}

impl Engine<'_> {
    /// `f(es)`: the precondition holds in the current heap, whose part it describes is the snapshot argument.
    pub(crate) fn eval_application(
        &mut self,
        expr: &Expr,
        function: FunctionId,
        arguments: &[Expr],
        blame: Blame,
    ) -> Result<Term, Stop> {
        // SOUNDNESS: a function has one value for its arguments and what it reads, and no heap but that of its
        // precondition is looked at.
        if self.state.result_of == Some(function)
            && is_result(self.program, function, arguments)
            && let Some(result) = self.state.result
        {
            return Ok(result);
        }
        let arguments = self.eval_all(arguments, blame)?;
        // Of the applications in the precondition, each speaks for itself.
        let outer = self.missing.take();
        let failures = self.failures;
        let snapshot = self.application_snapshot(expr, function, &arguments, blame);
        let missing = std::mem::replace(&mut self.missing, outer);
        let mut snapshot = snapshot?;
        if self.failures > failures && blame.is_of_body() {
            self.mark_unframed(blame)?;
        }
        if self.in_trigger && missing.is_some() {
            self.undefined_triggers += 1;
            let read = self.arguments_read(function, &arguments);
            snapshot = self.trigger_hole(Sort::SNAP, &read).unwrap_or(snapshot);
        }
        // A trigger that is not defined where it is written, under an `unfolding` of the body say, means the
        // application there.
        if self.in_trigger
            && missing.is_some()
            && self.trigger_holes.is_none()
            && let Some(known) = self.applications.iter().rev().find(|known| {
                let text = |span| self.context.sources.text(span);
                known.function == function
                    && (known.arguments == arguments
                        || text(known.span).is_some_and(|known| Some(known) == text(expr.span)))
            })
        {
            return Ok(known.application);
        }
        self.use_function(function)?;
        let symbols = self.function_symbols(function);
        let mut operands = vec![snapshot];
        operands.extend(&arguments);
        let defined = self.terms.apply(symbols.precondition, &operands);
        self.assume(defined)?;
        let application = self.terms.apply(symbols.full, &operands);
        let limited = self.terms.apply(symbols.limited, &operands);
        if let Some(Missing { reported: Some(reported) }) = missing {
            // What fails because of the value is no news.
            self.tainted.insert(application, reported);
            self.tainted.insert(limited, reported);
        }
        if !self.bound.is_empty() {
            let span = expr.span;
            self.applications.push(Application { function, arguments, application, span });
        }
        if self.recursion_group.contains(&function) || self.is_opaque_here(expr, function) {
            return Ok(limited);
        }
        self.limited.insert(application, limited);
        Ok(application)
    }

    /// The arguments that the precondition of a function mentions.
    fn arguments_read(&self, function: FunctionId, arguments: &[Term]) -> Vec<Term> {
        let declaration = &self.program.functions[function];
        let mentions = |formal: LocalId| {
            let mut clauses = declaration.contract.preconditions.iter();
            let is_formal = |part: &Expr| matches!(part.kind, ExprKind::Local(it) if it == formal);
            clauses.any(|clause| clause.any(is_formal))
        };
        let formals = declaration.formals.iter().zip(arguments);
        formals.filter(|&(&formal, _)| mentions(formal)).map(|(_, &argument)| argument).collect()
    }

    /// Consumes the precondition with the reading of amounts that functions have, and takes nothing away.
    fn application_snapshot(
        &mut self,
        expr: &Expr,
        function: FunctionId,
        arguments: &[Term],
        blame: Blame,
    ) -> Result<Term, Stop> {
        let program = self.program;
        let function = &program.functions[function];
        let preconditions: Vec<&Expr> = function.contract.preconditions.iter().collect();
        if preconditions.is_empty() {
            return Ok(self.terms.unit());
        }
        let failure = Blame::new("application.precondition", expr.span).trusted();
        let silent = blame.is_trusted();
        let mut state = State::new(&function.locals);
        for (&formal, &argument) in function.formals.iter().zip(arguments) {
            state.store.set(formal, argument);
        }
        state.heap = self.state.heap.clone();
        state.path = self.state.path.clone();
        state.amounts = self.amounts_of_functions();
        state.keeps_snapshots = true;
        let joins = self.merges_ways(&function.contract.preconditions);
        let outer = std::mem::replace(&mut self.joins, joins);
        let snapshot = self.with_state(state, |engine| {
            engine.join(|engine| {
                engine.consume_all(&preconditions, |clause| {
                    let blame = failure.clause(clause.span);
                    if silent { blame.silent() } else { blame }
                })
            })
        });
        self.joins = outer;
        snapshot
    }

    /// An opaque function's definition is used only where the application is marked `@reveal`.
    fn is_opaque_here(&self, expr: &Expr, function: FunctionId) -> bool {
        let revealed = expr.annotations.iter().any(|annotation| &*annotation.key == "reveal");
        is_opaque(&self.program.functions[function]) && !revealed
    }
}
