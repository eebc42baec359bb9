//! Expressions that look at the heap: field reads, `unfolding`, `asserting`, `perm`, `forperm`.

use std::rc::Rc;

use sil::program::{
    Expr, ExprKind, FieldId, LocalId, Location, PredicateAccess, PredicateId, Resource as Asked,
};
use sil::source::Span;
use smt::terms::{Sort, Term, Terms};

use crate::engine::findings::blame::{Blame, Reason};
use crate::engine::findings::log::Reported;
use crate::engine::permission::heap::{Chunk, Heap, Resource};
use crate::engine::rules::quantified::access::Target;
use crate::engine::{Engine, Stop};

/// What came of a field that could not be read.
enum Unread {
    /// All that was wrong is that its receiver might be null; otherwise it has this value.
    Read(Term),
    Missing(Reported),
}

impl Engine<'_> {
    /// `e.f`: needs some permission (Schwerhoff 2011, figure 4).
    pub(crate) fn eval_field_read(
        &mut self,
        expr: &Expr,
        receiver: &Expr,
        field: FieldId,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let receiver = self.eval(receiver, blame)?;
        let resource = Resource::Field(field);
        if let Some(value) = self.lookup(resource, &[receiver], blame)? {
            return Ok(value);
        }
        let sort = self.sort(&expr.ty);
        if let Some(hole) = self.trigger_hole(sort, &[receiver]) {
            return Ok(hole);
        }
        let value = self.fresh("unread", sort);
        self.note_unread();
        if blame.is_trusted() {
            return Ok(value);
        }
        let is_inside = self.run.explorers.len() > 1;
        let reported = match self.report_read(resource, receiver, blame, expr.span) {
            Ok(Unread::Read(value)) => return Ok(value),
            Ok(Unread::Missing(reported)) => reported,
            // The path may go on without this part of the expression. SOUNDNESS: nothing has been reported, so what depends
            // on the value fails like anything else.
            Err(Stop::Infeasible) if is_inside => return Ok(value),
            Err(stop) => return Err(stop),
        };
        self.log.taint(value, reported);
        let heap = self.state.heap.clone();
        match self.assume_permission(&heap, resource, &[receiver], None, blame) {
            Err(Stop::Infeasible) if is_inside => return Ok(value),
            assumed => assumed?,
        }
        // Assume the permission, so that what follows from its absence is not reported as well.
        let amount = self.fresh("assumed", Sort::PERM);
        let none = self.terms.none();
        let positive = self.terms.lt(none, amount);
        self.assume(positive)?;
        self.add_chunk(resource, Chunk { arguments: vec![receiver], value, amount })?;
        Ok(value)
    }

    /// Reports why a field cannot be read.
    fn report_read(
        &mut self,
        resource: Resource,
        receiver: Term,
        blame: Blame,
        at: Span,
    ) -> Result<Unread, Stop> {
        if self.fail_receiver(receiver, blame, at)?
            && let Some(value) = self.lookup(resource, &[receiver], blame)?
        {
            return Ok(Unread::Read(value));
        }
        self.report_permission(blame, at).map(Unread::Missing)
    }

    /// `unfolding acc(P(es), p) in e` (Viper engine reference, 7.6): e in the state after the unfold.
    pub(crate) fn eval_unfolding(
        &mut self,
        access: &PredicateAccess,
        body: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let (arguments, amount) = self.eval_unfolding_access(access, blame)?;
        // A body that unfolds instances of its own predicate would go on for ever: the second time, nothing is said.
        if self.state.assertion.bodies.iter().filter(|&&outer| outer == access.predicate).count()
            > 1
        {
            let sort = self.sort(&body.ty);
            return Ok(self.fresh("beyond", sort));
        }
        self.join(|engine| {
            engine.enter_unfolding(access, &arguments, amount, blame)?;
            engine.note_inside()?;
            engine.eval(body, blame)
        })
    }

    /// The arguments of an `unfolding` and its amount, which has to be positive.
    pub(crate) fn eval_unfolding_access(
        &mut self,
        access: &PredicateAccess,
        blame: Blame,
    ) -> Result<(Vec<Term>, Term), Stop> {
        let arguments = self.eval_all(&access.arguments, blame)?;
        let amount = self.eval(&access.amount, blame)?;
        let none = self.terms.none();
        let positive = self.terms.lt(none, amount);
        self.prove_defined(positive, blame, Reason::PermissionNotPositive, access.amount.span)?;
        Ok((arguments, amount))
    }

    /// Goes to the state in which the body of an `unfolding` is read.
    pub(crate) fn enter_unfolding(
        &mut self,
        access: &PredicateAccess,
        arguments: &[Term],
        amount: Term,
        blame: Blame,
    ) -> Result<(), Stop> {
        self.state.consuming = None;
        self.state.result_of = None;
        // SOUNDNESS: in a package, an expression sees nothing that has not been fetched before.
        self.state.package.reserve.clear();
        self.unfold_merging(access.predicate, arguments, amount, access.span, blame)?;
        // SOUNDNESS: inside, portions are as large as the amount, which must not become smaller any more (trap T9a).
        let taken = match self.state.assertion.scale {
            Some(scale) => self.terms.mul(scale, amount),
            None => amount,
        };
        let mut open = std::mem::take(&mut self.state.assertion.constrainable);
        let inside = self.fresh_symbols(&[taken], Terms::TRUE);
        Rc::make_mut(&mut open).retain(|wildcard| !inside.contains(wildcard));
        self.state.assertion.constrainable = open;
        Ok(())
    }

    /// Unfolds an instance inside of an exploration; the ways through a body that has many are merged.
    pub(crate) fn unfold_merging(
        &mut self,
        predicate: PredicateId,
        arguments: &[Term],
        amount: Term,
        at: Span,
        blame: Blame,
    ) -> Result<(), Stop> {
        let body = self.program.predicates[predicate].body.as_ref();
        let joins = body.is_some_and(|body| self.merges_ways(std::slice::from_ref(body)));
        self.in_mode(
            |mode| mode.joins = joins,
            |engine| engine.unfold(predicate, arguments, amount, at, blame),
        )
    }

    /// `asserting (A) in e`: A is proved, nothing is given away.
    pub(crate) fn eval_asserting(
        &mut self,
        assertion: &Expr,
        body: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        if !blame.is_trusted() && !self.mode.leaves_out_assertions {
            self.join(|engine| {
                engine.state.package.reserve.clear();
                engine.consume_all(&[assertion], |_| blame)?;
                Ok(Terms::TRUE)
            })?;
        }
        self.eval(body, blame)
    }

    /// `perm(r)`: the sum over the chunks that may be it, in what is left of the heap (trap T22).
    pub(crate) fn eval_perm(&mut self, resource: &Asked, blame: Blame) -> Result<Term, Stop> {
        let (resource, arguments) = self.eval_resource(resource, blame)?;
        let heap = self.state.consuming.clone().unwrap_or_else(|| self.state.heap.clone());
        self.touch(resource, &arguments)?;
        Ok(self.held_in(&heap, resource, &arguments))
    }

    /// The permission that a heap holds to a location.
    pub(crate) fn held_in(&mut self, heap: &Heap, resource: Resource, arguments: &[Term]) -> Term {
        if heap.quantified(resource).is_empty() {
            return self.held(heap.of(resource), arguments);
        }
        let parts = self.parts(resource, heap);
        self.held_parts(resource, &parts, arguments)
    }

    /// What a mention of a resource means, with the values of its arguments.
    pub(crate) fn eval_resource(
        &mut self,
        resource: &Asked,
        blame: Blame,
    ) -> Result<(Resource, Vec<Term>), Stop> {
        match resource {
            Asked::Location(location) => self.eval_location(location, blame),
            Asked::Wand(wand) => self.eval_wand(wand, blame),
        }
    }

    /// Resource and arguments of a location.
    pub(crate) fn eval_location(
        &mut self,
        location: &Location,
        blame: Blame,
    ) -> Result<(Resource, Vec<Term>), Stop> {
        match location {
            Location::Field { receiver, field } => {
                Ok((Resource::Field(*field), vec![self.eval(receiver, blame)?]))
            }
            Location::Predicate { predicate, arguments } => {
                Ok((Resource::Predicate(*predicate), self.eval_all(arguments, blame)?))
            }
        }
    }

    /// `forperm xs [r(args)] :: e`: a conjunct for each chunk, the variables bound to its arguments.
    pub(crate) fn eval_forperm(
        &mut self,
        expr: &Expr,
        variables: &[LocalId],
        resource: &Asked,
        body: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let (resource, patterns) = self.pattern(Target::asked(resource))?;
        let stands_for = |pattern: &Expr, variable| matches!(&pattern.kind, ExprKind::Local(local) if *local == variable);
        if !variables.iter().all(|&v| patterns.iter().any(|pattern| stands_for(pattern, v))) {
            return self
                .unsupported(expr, "a `forperm` whose resource does not determine its variables");
        }
        let heap = self.state.consuming.clone().unwrap_or_else(|| self.state.heap.clone());
        let mut conjuncts =
            self.forperm_quantified(resource, &heap, variables, &patterns, body, blame)?;
        for chunk in heap.of(resource).to_vec() {
            let none = self.terms.none();
            let mut conditions = vec![self.terms.lt(none, chunk.amount)];
            for &variable in variables {
                let position = patterns.iter().position(|pattern| stands_for(pattern, variable));
                let position = position.expect("every variable is one of the arguments");
                self.state.store.set(variable, chunk.arguments[position]);
            }
            for (pattern, &argument) in patterns.iter().zip(&chunk.arguments) {
                let value = self.eval(pattern, blame)?;
                conditions.push(self.terms.eq(value, argument));
            }
            let condition = self.terms.and(conditions);
            // The body, too, is evaluated in what is left of the heap.
            let value = self.in_heap(heap.clone(), |engine| {
                engine.under(condition, |engine| engine.eval(body, blame))
            });
            if let Some(value) = value? {
                conjuncts.push(self.terms.implies(condition, value));
            }
        }
        Ok(self.terms.and(conjuncts))
    }

    /// Fresh values for variables.
    pub(crate) fn havoc(&mut self, variables: impl IntoIterator<Item = LocalId>) {
        for variable in variables {
            let local = &self.state.locals[variable];
            let sort = self.sort(&local.ty);
            let value = self.fresh(&local.name, sort);
            self.state.store.set(variable, value);
        }
    }

    /// Wildcards made from here on until `run` ends stop being constrainable then.
    pub(crate) fn with_own_wildcards<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let constrainable = Rc::clone(&self.state.assertion.constrainable);
        let result = run(self);
        self.state.assertion.constrainable = constrainable;
        result
    }
}
