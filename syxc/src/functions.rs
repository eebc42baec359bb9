//! Functions: the parts of the Chalice tree for the engine's rules of functions, and applications.
//!
//! The value of a function depends only on the locations to which its precondition gives access. So
//! amounts in preconditions are read as "some", everywhere the same (trap T8).

use chalice::program::{Expr, Function, FunctionId};
use sil::program::Member;
use smt::terms::{Term, Terms};

use super::graph::is_result;
use super::{Chalice, Direct, Statements, Threads, renumbered, span};
use symex::findings::blame::{Blame, ErrorId, Reason};
use symex::findings::incidents::Incidents;
use symex::knowledge::functions::{FunctionAxioms, is_opaque};
use symex::members::function::Written;
use symex::rules::language::Language;
use symex::state::{State, Store};
use symex::{Engine, Explore, Stop, View, Watch};

/// A function of a Chalice program.
#[derive(Clone, Copy)]
pub(crate) struct InChalice<'p> {
    direct: &'p Direct,
    id: FunctionId,
    function: &'p Function,
}

impl Direct {
    pub(super) fn written(&self, function: FunctionId) -> InChalice<'_> {
        InChalice { direct: self, id: function, function: &self.tree.functions[function] }
    }
}

impl<'p> Written<'p> for InChalice<'p> {
    type Expr = Expr;
    type Rules<'e>
        = Chalice<'e, 'p>
    where
        'p: 'e;

    fn preconditions(self) -> &'p [Expr] {
        &self.function.requires
    }

    fn postconditions(self) -> &'p [Expr] {
        &self.function.ensures
    }

    fn body(self) -> Option<&'p Expr> {
        self.function.body.as_ref()
    }

    fn has_two_readings(self) -> bool {
        false
    }

    fn merges_ways(self, _: &Engine<'p>) -> bool {
        false
    }

    fn start(self, engine: &mut Engine<'p>, formals: &[Term]) -> Result<(), Stop> {
        engine.set_state(State::new(&self.direct.locals));
        bind(self.direct, &mut engine.frame.store, self.function, formals);
        let told = formals.len() - self.direct.locking.asked_sets(self.id);
        let mut chalice = Chalice::of(engine);
        chalice.threads.knows_asked(&formals[told..]);
        chalice.threads.order()?;
        chalice.sums()?;
        match formals.first() {
            Some(&this) if !self.function.is_static => {
                let exists = engine.terms.differs(this, Terms::NULL);
                engine.assume(exists)
            }
            _ => Ok(()),
        }
    }

    fn rules<'e>(engine: &'e mut Engine<'p>) -> Chalice<'e, 'p> {
        Chalice::of(engine)
    }
}

/// Gives values to the receiver, unless the function has none, and to the parameters. The sets of
/// locks that the function is told come behind them.
pub(super) fn bind(direct: &Direct, store: &mut Store, function: &Function, values: &[Term]) {
    let mut values = values.iter().copied();
    if !function.is_static
        && let Some(this) = values.next()
    {
        store.set(direct.this, this);
    }
    for (&parameter, value) in function.parameters.iter().zip(values) {
        store.set(Direct::local(parameter), value);
    }
}

impl Chalice<'_, '_> {
    /// Evaluates `o.f(es)`. The precondition has to hold in the current heap. The snapshot argument
    /// is the part of the heap that the precondition describes.
    pub(super) fn application(
        &mut self,
        expr: &Expr,
        (receiver, id, arguments): (&Expr, FunctionId, &[Expr]),
        blame: Blame,
    ) -> Result<Term, Stop> {
        let direct = self.direct;
        let function = &direct.tree.functions[id];
        // SOUNDNESS: a function has one value for its arguments and the locations that it reads,
        // and only the heap of its precondition counts.
        if self.frame.result_of == Some(renumbered(id))
            && is_result(&direct.tree, id, expr)
            && let Some(result) = self.frame.result
        {
            return Ok(result);
        }
        let failure = Blame::new(ErrorId::ApplicationPrecondition, span(expr.span)).trusted();
        let mut values = Vec::with_capacity(arguments.len() + 1);
        if !function.is_static {
            values.push(self.eval(receiver, blame)?);
        }
        for argument in arguments {
            values.push(self.eval(argument, blame)?);
        }
        values.extend(self.threads.asked(id, span(expr.span))?);
        if !function.is_static && !blame.is_trusted() {
            let exists = self.terms.differs(values[0], Terms::NULL);
            self.prove(exists, failure, Reason::ReceiverNull, span(receiver.span))?;
        }
        let (snapshot, seen) = self.watched_precondition(|chalice| {
            chalice.application_snapshot(function, &values, failure, blame.is_trusted())
        });
        let Incidents { failed, missing, .. } = seen;
        let snapshot = snapshot?;
        if failed && blame.is_of_body() {
            self.mark_unframed(blame)?;
        }
        let id = renumbered(id);
        let (application, limited) = self.make_application(id, snapshot, &values, missing)?;
        let is_opaque = self.threads.is_hidden(expr, id);
        self.usable_application(id, application, limited, is_opaque)
    }

    /// Consumes the precondition with the reading of amounts that functions have. Takes nothing
    /// away.
    fn application_snapshot(
        &mut self,
        function: &Function,
        values: &[Term],
        failure: Blame,
        is_silent: bool,
    ) -> Result<Term, Stop> {
        if function.requires.is_empty() {
            return Ok(self.terms.unit());
        }
        let mut frame = self.frame.of_used(&self.direct.locals);
        frame.store = self.threads.store();
        bind(self.direct, &mut frame.store, function, values);
        frame.assertion.amounts = self.amounts_of_functions();
        frame.assertion.keeps_snapshots = true;
        let consume = |chalice: &mut Self| {
            chalice.consume_all(&function.requires, |clause| {
                let blame = failure.clause(span(clause.span));
                if is_silent { blame.silent() } else { blame }
            })
        };
        self.peek(frame, |chalice| chalice.join(consume))
    }
}

impl Threads<'_, '_> {
    /// Tells whether an application is outside of the module that knows the definition of the
    /// function.
    fn is_hidden(&self, application: &Expr, id: sil::program::FunctionId) -> bool {
        let direct = self.direct;
        let (at, classes) = (application.span, &direct.tree.classes);
        let around =
            classes.values().find(|class| class.span.start <= at.start && at.end <= class.span.end);
        let own = &classes[direct.tree.functions[renumbered(id)].class].module;
        is_opaque(&self.program.functions[id]) && around.is_none_or(|class| class.module != *own)
    }
}

impl Statements<'_, '_> {
    /// Checks that the contract of a function is well-formed. Returns the axioms that it justifies.
    pub fn function_contract(
        &mut self,
        id: sil::program::FunctionId,
    ) -> Result<FunctionAxioms, Stop> {
        self.check_scope(Member::Function(id))?;
        let written = self.direct.written(renumbered(id));
        self.verify_function_contract(written, id)
    }

    /// Checks that the body of a function is defined, meets the postcondition and terminates.
    /// Returns the definition, if all is shown.
    pub fn function_body(
        &mut self,
        id: sil::program::FunctionId,
    ) -> Result<Option<FunctionAxioms>, Stop> {
        self.check_scope(Member::Function(id))?;
        let written = self.direct.written(renumbered(id));
        // Facts learnt from the contract are not known in the proof of termination.
        let axioms = self.scoped(None, |chalice| chalice.verify_function_body(written, id))?.0?;
        self.terminates(renumbered(id))?;
        Ok(axioms)
    }
}
