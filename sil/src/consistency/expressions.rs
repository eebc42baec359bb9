//! Checks that apply to expressions wherever they stand.

use front::grow_stack;

use super::Checker;
use crate::build::unsupported_construct;
use crate::program::{
    BinaryOp, Expr, ExprKind, LocalId, Location, OldLabel, PredicateAccess, Resource,
};
use crate::source::Span;
use crate::syntax::Trigger;
use crate::walk::walk_expr;

/// The surroundings of an expression, as far as they decide which forms may stand there.
#[derive(Clone, Copy)]
pub(super) struct Surroundings {
    /// Functions only ask whether a permission amount is positive, so `wildcard` may be part of it
    /// there, unless amounts count in functions, too.
    function: bool,
    /// Impure `assume`s ask for what they mention and say nothing of how it is stored, so an
    /// assertion may stand under `unfolding` there.
    assume: bool,
    wand: WandSide,
}

/// Where in a wand an expression stands, if in one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WandSide {
    Outside,
    Left,
    Right,
    Script,
}

impl Surroundings {
    pub(super) const METHOD: Self =
        Self { function: false, assume: false, wand: WandSide::Outside };
    pub(super) const FUNCTION: Self = Self { function: true, ..Self::METHOD };
    /// The proof script of a `package`.
    pub(super) const SCRIPT: Self = Self { wand: WandSide::Script, ..Self::METHOD };

    pub(super) fn of_assume(self) -> Self {
        Self { assume: true, ..self }
    }
}

impl Checker<'_> {
    pub(super) fn expression(&mut self, expr: &Expr, around: Surroundings) {
        // SOUNDNESS: the engine refuses values that it evaluates, and evaluates no assertion.
        if unsupported_construct(&expr.annotations).is_some() && !expr.is_pure() {
            self.error(expr.span, "`@unsupported` can only stand before conditions and values");
        }
        grow_stack(|| self.expression_kind(expr, around));
    }

    fn expression_kind(&mut self, expr: &Expr, around: Surroundings) {
        match &expr.kind {
            ExprKind::Wildcard => {
                self.error(expr.span, "`wildcard` can only be the amount of an `acc`");
            }
            ExprKind::Acc { location, amount } => {
                self.location(location, around);
                self.amount(amount, around);
            }
            ExprKind::Wand { left, right } => {
                self.no_proof_steps(expr);
                let around = Surroundings { assume: false, ..around };
                self.expression(left, Surroundings { wand: WandSide::Left, ..around });
                self.expression(right, Surroundings { wand: WandSide::Right, ..around });
            }
            ExprKind::Old { label, body } => {
                if *label == OldLabel::Lhs {
                    self.old_lhs(expr.span, around);
                }
                self.expression(body, around);
            }
            ExprKind::Unfolding { access, body } => {
                self.predicate_access(access, around);
                self.inner(body, around);
            }
            ExprKind::Applying { wand, body } => {
                self.expression(wand, around);
                self.inner(body, around);
            }
            ExprKind::Asserting { assertion, body } => {
                self.expression(assertion, around);
                self.inner(body, around);
            }
            ExprKind::Quantified { variables, triggers, .. } => {
                self.quantifier(expr.span, variables, triggers);
                expr.for_each_child(|child| self.expression(child, around));
            }
            ExprKind::Let { value, body, .. } => {
                if !value.is_pure() {
                    self.error(value.span, "the value of a `let` must be pure");
                }
                self.expression(value, around);
                self.expression(body, around);
            }
            ExprKind::Perm(resource) => {
                self.same_everywhere(expr.span, "`perm`", around);
                self.resource(resource, around);
            }
            ExprKind::InhaleExhale { inhale, exhale } => {
                self.same_everywhere(expr.span, "`[a, b]`", around);
                self.expression(inhale, around);
                self.expression(exhale, around);
            }
            ExprKind::ForPerm { resource, body, .. } => {
                self.same_everywhere(expr.span, "`forperm`", around);
                self.resource(resource, around);
                self.expression(body, around);
            }
            ExprKind::DomainApply { .. }
            | ExprKind::Literal { .. }
            | ExprKind::MapLiteral { .. }
            | ExprKind::Index { .. }
            | ExprKind::Update { .. }
            | ExprKind::Binary { op: BinaryOp::In, .. } => {
                expr.for_each_child(|child| {
                    self.require_pure(child);
                    self.expression(child, around);
                });
            }
            _ => expr.for_each_child(|child| self.expression(child, around)),
        }
    }

    fn location(&mut self, location: &Location, around: Surroundings) {
        location.for_each_child(|child| self.expression(child, around));
    }

    pub(super) fn resource(&mut self, resource: &Resource, around: Surroundings) {
        match resource {
            Resource::Location(location) => self.location(location, around),
            Resource::Wand(wand) => self.expression(wand, around),
        }
    }

    pub(super) fn predicate_access(&mut self, access: &PredicateAccess, around: Surroundings) {
        for argument in &access.arguments {
            self.expression(argument, around);
        }
        self.amount(&access.amount, around);
    }

    /// `wildcard` is an amount, but no part of one.
    fn amount(&mut self, amount: &Expr, around: Surroundings) {
        if matches!(amount.kind, ExprKind::Wildcard) {
            return;
        }
        if !amount.any(|expr| matches!(expr.kind, ExprKind::Wildcard)) {
            self.expression(amount, around);
        } else if !around.function || self.assumptions.exact_amounts_in_functions {
            self.error(amount.span, "`wildcard` can only be a whole amount, not a part of one");
        }
    }

    /// A wand is packaged in one state and applied in another, so both sides have to mean the same
    /// in both: what is held differs, and so does which side of `[a, b]` is meant.
    fn same_everywhere(&mut self, span: Span, what: &str, around: Surroundings) {
        if matches!(around.wand, WandSide::Left | WandSide::Right) {
            self.error(span, format!("{what} is not allowed in magic wands"));
        }
    }

    fn old_lhs(&mut self, span: Span, around: Surroundings) {
        match around.wand {
            WandSide::Outside => self.error(
                span,
                "`old[lhs]` can only be used in magic wands and their proof scripts",
            ),
            WandSide::Left => self.error(
                span,
                "`old[lhs]` can only be used on the right-hand side of a wand and in its proof script",
            ),
            WandSide::Right | WandSide::Script => {}
        }
    }

    /// The body of `unfolding`, `applying` or `asserting`.
    fn inner(&mut self, body: &Expr, around: Surroundings) {
        if !around.assume {
            self.require_pure(body);
        }
        self.expression(body, around);
    }

    /// `unfolding` and `applying` of assertions cannot stand inside a wand.
    fn no_proof_steps(&mut self, wand: &Expr) {
        let mut found = false;
        walk_expr(wand, |expr| {
            if let ExprKind::Unfolding { body, .. } | ExprKind::Applying { body, .. } = &expr.kind {
                found |= !body.is_pure();
            }
        });
        if found {
            self.error(wand.span, "a proof step with an impure body cannot stand inside a wand");
        }
    }

    pub(super) fn require_pure(&mut self, expr: &Expr) {
        if !expr.is_pure() {
            self.error(expr.span, "only a pure expression is allowed here");
        }
    }

    fn quantifier(&mut self, span: Span, variables: &[LocalId], triggers: &[Trigger<Expr>]) {
        if variables.is_empty() {
            self.error(span, "a quantifier has at least one variable");
        }
        let mut covered = vec![true; variables.len()];
        for trigger in triggers {
            let mut mentioned = vec![false; variables.len()];
            for term in trigger {
                let mut mentions_any = false;
                walk_expr(term, |expr| {
                    if let ExprKind::Local(local) = expr.kind
                        && let Some(index) = variables.iter().position(|&it| it == local)
                    {
                        mentioned[index] = true;
                        mentions_any = true;
                    }
                });
                if !mentions_any {
                    self.error(term.span, "a trigger term mentions a bound variable");
                }
            }
            covered.iter_mut().zip(mentioned).for_each(|(covered, here)| *covered &= here);
        }
        let Some(locals) = self.locals else { return };
        for (variable, _) in variables.iter().zip(covered).filter(|(_, covered)| !covered) {
            let variable = &locals[*variable];
            let message = format!("a trigger does not mention the variable `{}`", variable.name);
            self.error(variable.span, message);
        }
    }
}
