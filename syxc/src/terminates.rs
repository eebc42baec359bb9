//! Termination of functions that apply each other: an applied function needs less of the heap
//! (Leino and Müller 2009).
//!
//! Heaps are finite. So if every application in a circle of functions leaves some field behind, the
//! applications come to an end.
//!
//! If functions have measures (`decreases`), these get smaller instead.
//!
//! SOUNDNESS: the presence of locations counts, not amounts. So all amounts are one fraction
//! ([`Direct::whole`]), and an instance is opened or given away as a whole, however often it is
//! named. The check follows every part of a body, as [`Expr::for_each_part`] lists them.

use chalice::program::{Access, Decrease, Domain, Expr, ExprKind, FunctionId, LocalId, Reached};
use smt::terms::{Sort, Term, Terms, grow_stack};

use super::functions::bind;
use super::{Chalice, Direct, Threads, span};
use crate::eval::is_in;
use crate::eval::unknown;
use symex::findings::blame::{Blame, ErrorId, Reason};
use symex::members::function::Written;
use symex::rules::language::Language;
use symex::state::State;
use symex::state::heap::{Heap, Resource};
use symex::{Explore, Stop, View};

impl Chalice<'_, '_> {
    /// Checks that a function terminates: a body that may lead back to the function needs less and
    /// less of the heap.
    pub(super) fn terminates(&mut self, id: FunctionId) -> Result<(), Stop> {
        let direct = self.direct;
        let function = &direct.tree.functions[id];
        if !direct.options.termination {
            return Ok(());
        }
        let (true, Some(body)) = (direct.graph.is_recursive(id), &function.body) else {
            return Ok(());
        };
        let written = direct.written(id);
        self.set_state(State::new(&direct.locals));
        self.explore_apart(|chalice| {
            let mut formals = Vec::new();
            if !function.is_static {
                formals.push(chalice.fresh("this", Sort::REF));
            }
            for &parameter in &function.parameters {
                let local = &direct.tree.locals[parameter];
                let sort = chalice.threads.sort(&local.ty);
                formals.push(chalice.fresh(&local.name, sort));
            }
            for sort in chalice.threads.asked_sorts(id) {
                formals.push(chalice.fresh("held", sort));
            }
            written.start(chalice, &formals)?;
            let whole = chalice.fresh("whole", Sort::PERM);
            let (some, part) = (chalice.terms.fraction(0, 1), chalice.terms.fraction(1, 1000));
            let (low, high) = (chalice.terms.lt(some, whole), chalice.terms.lt(whole, part));
            chalice.assume(low)?;
            chalice.assume(high)?;
            chalice.frame.store.set(direct.whole, whole);
            chalice.produce_all(&function.requires, None, |clause| {
                Blame::new(ErrorId::NotWellformed, span(clause.span)).trusted()
            })?;
            for measure in &function.decreases {
                let blame = Blame::new(ErrorId::NotWellformed, span(measure.number.span));
                let start = chalice.eval(&measure.number, blame)?;
                chalice.frame.store.set(Direct::local(measure.start), start);
            }
            chalice.follow(id, body)
        })?;
        Ok(())
    }

    /// Follows an expression to the applications in it, each on a path of its own.
    fn follow(&mut self, circle: FunctionId, expr: &Expr) -> Result<(), Stop> {
        if !self.threads.leads_back(circle, expr) {
            return Ok(());
        }
        let mut parts = Vec::new();
        expr.for_each_part(&mut |part, reached| parts.push((part, reached)));
        for (part, reached) in parts {
            if !self.threads.leads_back(circle, part) {
                continue;
            }
            if self.choose(&[None, None])? == 0 {
                self.reach(reached)?;
                grow_stack(|| self.follow(circle, part))?;
                return Err(Stop::Infeasible);
            }
        }
        match &expr.kind {
            ExprKind::Apply { receiver, function, arguments }
                if self.direct.graph.is_circle(circle, *function) =>
            {
                let tree = &self.direct.tree;
                let blame = Blame::new(ErrorId::TerminationFailed, span(expr.span));
                match tree.decrease(circle, *function, (receiver, arguments), expr.span) {
                    Decrease::Footprint => {
                        self.leaves_something(expr, receiver, *function, arguments)
                    }
                    Decrease::Measure(claim) => {
                        let claim = self.eval(&claim, blame)?;
                        self.prove(claim, blame, Reason::TupleFalse, blame.span)
                    }
                    Decrease::Missing => {
                        let reason = Reason::TerminationConditionFalse;
                        self.prove(Terms::FALSE, blame, reason, blame.span)
                    }
                }
            }
            _ => Ok(()),
        }
    }

    /// Goes to the state where a part of an expression is evaluated.
    fn reach(&mut self, reached: Reached<'_>) -> Result<(), Stop> {
        match reached {
            Reached::Always | Reached::Earlier => Ok(()),
            Reached::If(condition, value) => self.suppose(condition, value),
            Reached::Behind(before, value) => {
                before.iter().try_for_each(|part| self.suppose(part, value))
            }
            Reached::Opened(access) => self.open_whole(access),
            Reached::Each(variables, domain) => self.suppose_element(variables, domain),
        }
    }

    fn suppose(&mut self, condition: &Expr, value: bool) -> Result<(), Stop> {
        let condition = self.eval(condition, known(condition))?;
        let fact = if value { condition } else { self.terms.not(condition) };
        self.assume(fact)
    }

    fn suppose_element(&mut self, variables: &[LocalId], domain: &Domain) -> Result<(), Stop> {
        self.threads.forget(variables.iter().copied());
        let Domain::Collection(collection) = domain else { return Ok(()) };
        let range = self.range(collection, known(collection))?;
        for &variable in variables {
            let value = self.frame.store.get(Direct::local(variable));
            let Some(value) = value else { continue };
            let inside = is_in(&mut self.terms, value, &range);
            self.assume(inside)?;
        }
        Ok(())
    }

    /// Opens the whole held amount of an instance.
    fn open_whole(&mut self, access: &Access) -> Result<(), Stop> {
        let blame = Blame::new(ErrorId::TerminationFailed, span(access.span)).trusted();
        let (predicate, receiver) = self.instance(access, blame)?;
        let heap = self.here.heap.clone();
        let held =
            self.threads.all_held(&heap, Resource::Predicate(predicate), &[receiver], blame)?;
        self.open(predicate, &[receiver], held, blame.span, blame)
    }

    /// Shows that the needs of an application are there as a whole, and that some field is left
    /// when they have been given away.
    fn leaves_something(
        &mut self,
        expr: &Expr,
        receiver: &Expr,
        callee: FunctionId,
        arguments: &[Expr],
    ) -> Result<(), Stop> {
        let direct = self.direct;
        let function = &direct.tree.functions[callee];
        let mut values = Vec::new();
        if !function.is_static {
            values.push(self.eval(receiver, known(receiver))?);
        }
        for argument in arguments {
            values.push(self.eval(argument, known(argument))?);
        }
        let mut frame = self.frame.clone();
        bind(direct, &mut frame.store, function, &values);
        let blame = Blame::new(ErrorId::TerminationFailed, span(expr.span)).trusted();
        let given = self.peek(frame, |chalice| {
            let (given, left) = chalice.consuming_heap(|chalice| {
                let mut give = |chalice: &mut Self, part: &Expr| chalice.give_whole(part, blame);
                function.requires.iter().try_for_each(|clause| {
                    chalice.each_part(clause, Expr::is_impure, blame, &mut give)
                })
            });
            given.map(|()| left)
        });
        let left = given?;
        let fields =
            left.resources().filter(|(resource, _)| matches!(resource, Resource::Field(_)));
        let amounts: Vec<Term> =
            fields.flat_map(|(_, chunks)| chunks.iter().map(|chunk| chunk.amount)).collect();
        let some: Vec<Term> =
            amounts.into_iter().map(|amount| self.terms.lt(Terms::NONE, amount)).collect();
        let some = self.terms.or(some);
        self.prove(some, blame, Reason::FootprintNotDecreasing, blame.span)
    }

    /// Gives away the locations of a part of an assertion, as a whole.
    fn give_whole(&mut self, part: &Expr, blame: Blame) -> Result<(), Stop> {
        if part.is_pure() {
            let fact = self.eval(part, blame)?;
            return self.assume(fact);
        }
        let ExprKind::Access(access) = &part.kind else { return unknown(part) };
        let (resource, arguments) = self.location(access, blame)?;
        let left = self.here.left();
        let held = self.threads.all_held(&left, resource, &arguments, blame)?;
        self.take_location(resource, &arguments, held)?;
        Ok(())
    }
}

impl Threads<'_, '_> {
    /// Tells whether an expression applies a function of the circle.
    fn leads_back(&self, circle: FunctionId, expr: &Expr) -> bool {
        let graph = &self.direct.graph;
        let is_in = |part: &Expr| matches!(part.kind, ExprKind::Apply { function, .. } if graph.is_circle(circle, function));
        expr.any(&mut |part| is_in(part))
    }

    /// Returns the held amount of a location, and shows that it is positive.
    fn all_held(
        &mut self,
        heap: &Heap,
        resource: Resource,
        arguments: &[Term],
        blame: Blame,
    ) -> Result<Term, Stop> {
        let held = self.held_in(heap, resource, arguments);
        let some = self.terms.lt(Terms::NONE, held);
        self.prove(some, blame, Reason::FootprintNotDecreasing, blame.span)?;
        Ok(held)
    }
}

/// Makes the blame of an expression that has been shown to be defined.
fn known(expr: &Expr) -> Blame {
    Blame::new(ErrorId::TerminationFailed, span(expr.span)).silent()
}
