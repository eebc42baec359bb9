//! Where a definition ends at once.
//!
//! The engine opens a function of SIL that is defined by itself once. The original opens it twice,
//! so it sees where the second opening ends: that `append(cons(h, nil), l)` is `cons(h, l)`. These
//! ways through a body need no further application, so they can be known of all applications. They
//! are postconditions, so that they are proved.

use front::grow_stack;
use rustc_hash::FxHashSet;
use sil::syntax as s;
use sil::syntax::walk::{Visitor, visit};

use crate::build::*;

/// Lists the claims of `body` about the result where it applies none of the functions named in
/// `recursive`.
pub(in crate::classic) fn ends_at_once(
    body: &s::Expr,
    recursive: &FxHashSet<String>,
) -> Vec<s::Expr> {
    let mut ways = Ways { recursive, conditions: Vec::new(), all: Vec::new() };
    // Where nothing is decided before, the body is no definition by itself.
    if !ways.is_final(body) {
        ways.through(body);
    }
    ways.all
}

struct Ways<'r> {
    recursive: &'r FxHashSet<String>,
    /// The conditions on the present way.
    conditions: Vec<s::Expr>,
    all: Vec<s::Expr>,
}

impl Ways<'_> {
    fn through(&mut self, body: &s::Expr) {
        match &body.kind {
            _ if self.is_final(body) => self.ends(eq(result(), body.clone())),
            s::ExprKind::Conditional { condition, then, otherwise } if self.is_final(condition) => {
                self.below((**condition).clone(), then);
                self.below(not((**condition).clone()), otherwise);
            }
            s::ExprKind::Binary { op: s::BinaryOp::Implies, left, right }
                if self.is_final(left) =>
            {
                self.decided(not((**left).clone()), result());
                self.below((**left).clone(), right);
            }
            s::ExprKind::And(all) => self.one_after_the_other(all, false),
            s::ExprKind::Or(all) => self.one_after_the_other(all, true),
            _ => {}
        }
    }

    /// The result is `value` as soon as one of `all` is; nobody looks at the rest then.
    fn one_after_the_other(&mut self, all: &[s::Expr], value: bool) {
        let depth = self.conditions.len();
        let Some((last, first)) = all.split_last() else { return };
        let as_far_as_final = first.iter().take_while(|one| self.is_final(one)).count();
        for one in &first[..as_far_as_final] {
            let (here, further) = if value {
                (one.clone(), not(one.clone()))
            } else {
                (not(one.clone()), one.clone())
            };
            self.decided(here, if value { result() } else { not(result()) });
            self.conditions.push(further);
        }
        if as_far_as_final == first.len() {
            grow_stack(|| self.through(last));
        }
        self.conditions.truncate(depth);
    }

    fn below(&mut self, condition: s::Expr, body: &s::Expr) {
        self.conditions.push(condition);
        grow_stack(|| self.through(body));
        self.conditions.pop();
    }

    fn decided(&mut self, condition: s::Expr, fact: s::Expr) {
        self.conditions.push(condition);
        self.ends(fact);
        self.conditions.pop();
    }

    fn ends(&mut self, fact: s::Expr) {
        self.all.push(implies(and(self.conditions.iter().cloned()), fact));
    }

    fn is_final(&self, e: &s::Expr) -> bool {
        struct Search<'r>(&'r FxHashSet<String>, bool);
        impl Visitor<'_> for Search<'_> {
            fn expr(&mut self, e: &s::Expr) {
                if let s::ExprKind::Call { name, .. } = &e.kind {
                    self.1 &= !self.0.contains(&*name.name);
                }
                if self.1 {
                    visit::expr(self, e);
                }
            }
        }
        let mut search = Search(self.recursive, true);
        search.expr(e);
        search.1
    }
}
