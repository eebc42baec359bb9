//! The states and permissions that assertions speak of.

use front::grow_stack;

use super::{Expr, ExprKind, LocalId};

impl Expr {
    /// Does it give permission or credits, other than to say what `unfolding` opens?
    pub fn is_impure(&self) -> bool {
        self.any(&mut |part| matches!(part.kind, ExprKind::Access(_) | ExprKind::Credit { .. }))
    }

    /// Does it give neither permission nor credits?
    pub fn is_pure(&self) -> bool {
        !self.is_impure()
    }

    /// Does it mention one of these variables?
    pub fn mentions(&self, variables: &[LocalId]) -> bool {
        self.any(&mut |part| matches!(&part.kind, ExprKind::Local(it) if variables.contains(it)))
    }

    /// Does it speak, with `old`, of an earlier state?
    pub fn looks_back(&self) -> bool {
        self.any(&mut |part| matches!(part.kind, ExprKind::Old(_)))
    }

    /// Returns the part of an invariant that speaks about one state.
    pub fn one_state(&self) -> Self {
        self.part_that_looks_back(false)
    }

    /// Returns the part of an invariant that compares a state with an earlier one.
    pub fn two_states(&self) -> Self {
        self.part_that_looks_back(true)
    }

    /// Returns the part of an invariant that looks back, or the one that does not. Permission that
    /// depends on the past stays in the part about one state, where it is refused.
    fn part_that_looks_back(&self, looks_back: bool) -> Self {
        let with = |kind| Self { kind, ty: self.ty.clone(), span: self.span };
        if !self.looks_back() {
            return if looks_back { with(ExprKind::Bool(true)) } else { self.clone() };
        }
        let part = |inner: &Self| grow_stack(|| inner.part_that_looks_back(looks_back));
        match &self.kind {
            ExprKind::And(parts) => with(ExprKind::And(parts.iter().map(part).collect())),
            ExprKind::Implies { guard, body } if !guard.looks_back() => {
                with(ExprKind::Implies { guard: guard.clone(), body: Box::new(part(body)) })
            }
            ExprKind::Conditional { condition, then, otherwise } if !condition.looks_back() => {
                with(ExprKind::Conditional {
                    condition: condition.clone(),
                    then: Box::new(part(then)),
                    otherwise: Box::new(part(otherwise)),
                })
            }
            _ if looks_back == self.is_pure() => self.clone(),
            _ => with(ExprKind::Bool(true)),
        }
    }

    /// Collects the expressions below the outermost `old`s.
    pub fn outermost_olds<'e>(&'e self, found: &mut Vec<&'e Self>) {
        match &self.kind {
            ExprKind::Old(body) => found.push(body),
            _ => grow_stack(|| self.for_each_child(&mut |child| child.outermost_olds(found))),
        }
    }
}
