//! Applications of program functions.

use sil::program::{Expr, ExprKind, Function, FunctionId, LocalId};
use sil::recursion::is_result;
use smt::terms::{Sort, Term};

use crate::ahead::ways_of_all;
use crate::rules::Sil;
use crate::rules::same::are_same;
use symex::findings::blame::{Blame, ErrorId};
use symex::findings::incidents::Incidents;
use symex::knowledge::functions::is_opaque;
use symex::rules::language::Language;
use symex::state::mode::Application;
use symex::{Explore, Stop, View, Watch};

impl Sil<'_, '_> {
    /// Evaluates `f(es)`. The precondition has to hold in the current heap. The snapshot argument
    /// is the part of the heap that the precondition describes.
    pub(crate) fn eval_application(
        &mut self,
        expr: &Expr,
        function: FunctionId,
        arguments: &[Expr],
        blame: Blame,
    ) -> Result<Term, Stop> {
        // SOUNDNESS: a function has one value for its arguments and the locations that it reads,
        // and only the heap of its precondition counts.
        if self.frame.result_of == Some(function)
            && is_result(self.program, function, arguments)
            && let Some(result) = self.frame.result
        {
            return Ok(result);
        }
        let arguments = self.eval_all(arguments, blame)?;
        let (snapshot, seen) = self.watched_precondition(|sil| {
            sil.application_snapshot(expr, function, &arguments, blame)
        });
        let Incidents { failed, missing, .. } = seen;
        if failed && blame.is_of_contract() && !blame.is_trusted() && !self.mode.in_other_reading {
            self.log.note_misapplied(blame.span);
        }
        let mut snapshot = snapshot?;
        if failed && blame.is_of_body() {
            self.mark_unframed(blame)?;
        }
        if self.mode.in_trigger && missing.is_some() {
            self.incidents.undefined_trigger = true;
            let read = arguments_read(&self.program.functions[function], &arguments);
            snapshot = self.trigger_hole(Sort::SNAP, &read).unwrap_or(snapshot);
        }
        // A trigger that is not defined at its place, such as under an `unfolding` of the body,
        // means the application there.
        if self.mode.in_trigger
            && missing.is_some()
            && self.gathered.trigger_holes.is_none()
            && let Some(known) = self.gathered.applications.iter().rev().find(|known| {
                known.function == function
                    && (known.arguments == arguments || are_same(&known.written, expr))
            })
        {
            return Ok(known.application);
        }
        let is_defined = !self.mode.in_trigger || missing.is_none();
        let (application, limited) =
            self.make_application(function, snapshot, &arguments, missing)?;
        if !self.mode.bound.is_empty() && is_defined {
            let written = expr.clone();
            self.gathered.applications.push(Application {
                function,
                arguments,
                application,
                written,
            });
        }
        let is_opaque = is_opaque_here(&self.program.functions[function], expr);
        self.usable_application(function, application, limited, is_opaque)
    }

    /// Consumes the precondition with the reading of amounts that functions have. Takes nothing
    /// away.
    fn application_snapshot(
        &mut self,
        expr: &Expr,
        function: FunctionId,
        arguments: &[Term],
        blame: Blame,
    ) -> Result<Term, Stop> {
        let program = self.program;
        let function = &program.functions[function];
        let preconditions = &function.contract.preconditions;
        if preconditions.is_empty() {
            return Ok(self.terms.unit());
        }
        let failure = Blame::new(ErrorId::ApplicationPrecondition, expr.span).trusted();
        let silent = blame.is_trusted();
        let mut frame = self.frame.of_used(&function.locals);
        for (&formal, &argument) in function.formals.iter().zip(arguments) {
            frame.store.set(formal, argument);
        }
        frame.assertion.amounts = self.amounts_of_functions();
        frame.assertion.keeps_snapshots = true;
        let joins = self.merges_ways(ways_of_all(preconditions));
        let consume = |sil: &mut Self| {
            sil.consume_all(preconditions, |clause| {
                let blame = failure.clause(clause.span);
                if silent { blame.silent() } else { blame }
            })
        };
        self.in_mode(|mode| mode.joins = joins, |sil| sil.peek(frame, |sil| sil.join(consume)))
    }
}

/// Tells whether a definition is hidden here: an opaque function's definition is used only
/// where the application is marked `@reveal`.
fn is_opaque_here(function: &Function, expr: &Expr) -> bool {
    let revealed = expr.annotations.iter().any(|annotation| &*annotation.key == "reveal");
    is_opaque(function) && !revealed
}

/// Returns the arguments that the precondition of a function mentions.
fn arguments_read(function: &Function, arguments: &[Term]) -> Vec<Term> {
    let mentions = |formal: LocalId| {
        let mut clauses = function.contract.preconditions.iter();
        let is_formal = |part: &Expr| matches!(part.kind, ExprKind::Local(it) if it == formal);
        clauses.any(|clause| clause.any(is_formal))
    };
    let formals = function.formals.iter().zip(arguments);
    formals.filter(|&(&formal, _)| mentions(formal)).map(|(_, &argument)| argument).collect()
}
