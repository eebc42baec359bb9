//! Permission to many locations that has rules.

use chalice::program::{Access, AccessTarget, Expr, ExprKind, FieldRef, LocalId};

use super::{Found, Scope, is_credit, is_eval, span};
use crate::many::is_many;

impl Scope<'_> {
    /// Checks permission below a quantifier.
    pub(super) fn many(&mut self, whole: &Expr, variables: &[LocalId], body: &Expr) -> Found {
        let refuse = |what| Err((span(whole.span), what));
        if !is_many(whole) || body.any(&mut is_credit) || body.any(&mut is_eval) {
            return refuse("credits and states below quantifiers");
        }
        let mut shared = None;
        body.for_each(&mut |part| {
            let ExprKind::Access(access) = &part.kind else { return };
            // The first part of an access is its object.
            let mut object = None;
            access.for_each_child(&mut |part| _ = object.get_or_insert(part));
            let mentions = |variable: &LocalId| {
                let is_it =
                    |part: &Expr| matches!(part.kind, ExprKind::Local(it) if it == *variable);
                object.is_some_and(|object| object.any(&mut |part| is_it(part)))
            };
            if is_of_mu(access) || !variables.iter().all(mentions) {
                shared = Some(access.span);
            }
        });
        match shared {
            Some(at) => Err((span(at), "levels of many objects, and one location many times")),
            None => self.leaves_many(whole.span),
        }
    }

    /// Refuses permission to many locations where leaks are sought, since no rule seeks them there.
    pub(super) fn leaves_many(&self, at: chalice::Span) -> Found {
        if self.direct.options.check_leaks {
            return Err((span(at), "permission to many locations that may be left behind"));
        }
        Ok(())
    }
}

/// Tells whether an access is to the level of an object, or to those of many.
pub(super) fn is_of_mu(access: &Access) -> bool {
    matches!(
        access.target,
        AccessTarget::Field { field: FieldRef::Mu, .. }
            | AccessTarget::ElementsField { field: FieldRef::Mu, .. }
    )
}
