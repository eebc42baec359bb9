//! `quasihavoc` and `quasihavocall`: forgetting values of locations to which the state has
//! permission. Permissions stay as they are, and a location without permission has no value to
//! forget.

use sil::program::{Expr, ExprKind, LocalId, Location, Resource as Asked, Stmt, Type};
use sil::source::Span;
use smt::terms::{Term, Terms};

use crate::rules::Sil;
use crate::rules::quantified::access::Target;
use crate::rules::quantified::normalise::{Prefix, QuantifiedConjunct, Step};
use symex::findings::blame::{Blame, ErrorId, Reason};
use symex::state::heap::{Chunk, Resource};
use symex::state::quantified::QuantifiedChunk;
use symex::{Configuration, Stop};

impl Sil<'_, '_> {
    /// Executes `quasihavoc condition ==> resource`.
    pub(crate) fn exec_quasihavoc(
        &mut self,
        stmt: &Stmt,
        condition: Option<&Expr>,
        resource: &Asked,
    ) -> Result<(), Stop> {
        let blame = Blame::new(ErrorId::QuasihavocFailed, span(resource, stmt));
        let condition = match condition {
            Some(condition) => self.eval(condition, blame)?,
            None => Terms::TRUE,
        };
        let (resource, arguments) = self.eval_resource(resource, blame)?;
        let here = self.is_location(resource, &arguments);
        let forgotten = self.terms.and([condition, here]);
        forget_values(self, resource, forgotten)
    }

    /// Executes `quasihavocall variables :: condition ==> resource`.
    pub(crate) fn exec_quasihavoc_all(
        &mut self,
        stmt: &Stmt,
        variables: &[LocalId],
        condition: Option<&Expr>,
        resource: &Asked,
    ) -> Result<(), Stop> {
        let at = span(resource, stmt);
        let blame = Blame::new(ErrorId::QuasihavocallFailed, at);
        let body = assertion(resource, at);
        let guard = condition.map(|condition| Step::Guard { condition, holds: true });
        let prefix = Prefix {
            variables: variables.to_vec(),
            steps: guard.into_iter().collect(),
            ..Prefix::default()
        };
        let conjunct = QuantifiedConjunct { prefix, body: &body };
        let target = Target::asked(resource);
        let Some(access) = self.eval_quantified_access(&conjunct, target, blame)? else {
            // The condition cannot hold.
            return Ok(());
        };
        let injective = self.prove_injective(&access, blame, Reason::HavocNotInjective, at)?;
        let footprint = self.footprint(&access, injective)?;
        let forgotten = self.terms.is_some(footprint.amount);
        forget_values(self, access.resource, forgotten)
    }
}

/// Gives every chunk of a resource new values where `forgotten`, over the formals, holds.
fn forget_values(
    config: &mut Configuration<'_>,
    resource: Resource,
    forgotten: Term,
) -> Result<(), Stop> {
    if forgotten == Terms::FALSE {
        return Ok(());
    }
    let heap = config.here.heap.clone();
    let mut ordinary = Vec::with_capacity(heap.of(resource).len());
    for chunk in heap.of(resource) {
        let here = config.at(resource, forgotten, &chunk.arguments);
        if here == Terms::FALSE {
            ordinary.push(chunk.clone());
            continue;
        }
        // Portions of one location, each with a new value, agree as portions do. Those of wands
        // need not.
        let sort = config.resource_sort(resource);
        let hint = format!("{}.havoc", config.resource_name(resource));
        let value = config.fresh(&hint, sort);
        let value = config.terms.ite(here, value, chunk.value);
        ordinary.push(Chunk { value, ..chunk.clone() });
    }
    let mut quantified = Vec::with_capacity(heap.quantified(resource).len());
    for chunk in heap.quantified(resource) {
        let map = forgetful_map(config, resource, forgotten, chunk)?;
        quantified.push(QuantifiedChunk { map, domain: None, ..chunk.clone() });
    }
    config.here.heap.set_both(resource, ordinary, quantified);
    Ok(())
}

/// Makes a map with the values of a chunk wherever `forgotten` does not hold.
fn forgetful_map(
    config: &mut Configuration<'_>,
    resource: Resource,
    forgotten: Term,
    chunk: &QuantifiedChunk,
) -> Result<Term, Stop> {
    let sort = config.map_sort(resource);
    let hint = format!("{}.havoc", config.resource_name(resource));
    let map = config.fresh(&hint, sort);
    let formals = config.formals(resource);
    let new = config.map_at(resource, map, &formals);
    let old = config.map_at(resource, chunk.map, &formals);
    let kept = config.terms.not(forgotten);
    let equal = config.terms.identical(new, old);
    let fact = config.terms.implies(kept, equal);
    let triggers = vec![vec![new], vec![old]];
    let fact = config.terms.forall(&formals, triggers, fact, "quasihavoc", 1);
    config.assume(fact)?;
    config.export_definition(map, fact);
    config.use_touch(resource)?;
    Ok(map)
}

/// Returns the place of a resource: that of its receiver or arguments, if it has any.
fn span(resource: &Asked, stmt: &Stmt) -> Span {
    match resource {
        Asked::Location(Location::Field { receiver, .. }) => receiver.span,
        Asked::Location(Location::Predicate { arguments, .. }) => {
            arguments.first().map_or(stmt.span, |argument| argument.span)
        }
        Asked::Wand(wand) => wand.span,
    }
}

/// Returns a resource as an assertion of full permission to it.
fn assertion(resource: &Asked, at: Span) -> Expr {
    match resource {
        Asked::Location(location) => {
            let amount = Box::new(Expr::new(ExprKind::FullPerm, Type::Perm, at));
            Expr::new(ExprKind::Acc { location: location.clone(), amount }, Type::Bool, at)
        }
        Asked::Wand(wand) => (**wand).clone(),
    }
}
