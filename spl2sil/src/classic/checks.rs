//! Whether what statements evaluate is safe: objects that are read are owned, divisors are not 0. The original leaves
//! guards out; here every expression of a statement is checked.

use sil::build::Annotate;
use sil::syntax as s;
use spl::program::{BinaryOp, Expr, ExprKind, Type};
use spl::source::Span;

use super::Fallible;
use super::member::{Env, Member};
use super::terms::cell_type;
use crate::build::*;
use crate::stack::grow;

impl<'p> Member<'_, 'p> {
    /// Checks an expression of a statement.
    pub(super) fn check(&mut self, e: &'p Expr) -> Fallible<()> {
        let env = self.env();
        self.check_under(e, &truth(true), &env)
    }

    pub(super) fn check_all(&mut self, all: &'p [Expr]) -> Fallible<()> {
        all.iter().try_for_each(|e| self.check(e))
    }

    /// Checks an expression that is evaluated if `guard` holds.
    fn check_under(&mut self, e: &'p Expr, guard: &s::Expr, env: &Env) -> Fallible<()> {
        grow(|| self.check_parts(e, guard, env))?;
        match &e.kind {
            ExprKind::FieldRead { receiver, field } => {
                let sort = Type::Struct(self.program.fields[*field].parent);
                let object = self.term_as(receiver, &sort, env)?;
                self.readable_at(&sort, object, guard, e.span);
            }
            ExprKind::ArrayLength(array) => {
                let object = self.term(array, env)?;
                self.readable_at(&array.ty, object, guard, e.span);
            }
            ExprKind::Element { array, index } => {
                let cell = self.of_array("cell", array, Some(index), env)?;
                self.readable_at(&cell_type(&array.ty), cell, guard, e.span);
            }
            ExprKind::CellContent(cell) => {
                let object = self.term(cell, env)?;
                self.readable_at(&cell.ty, object, guard, e.span);
            }
            ExprKind::Binary { op: BinaryOp::Div | BinaryOp::Mod, right, .. } => {
                let divisor = self.term(right, env)?;
                let check = assert(implies(guard.clone(), ne(divisor, int(0))))
                    .with(renamed("*", "arithmetic.failed:division.by.zero"))
                    .with(said("*", "the divisor might be 0"));
                self.emit_at(e.span, check);
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks the operands; lazy operators evaluate the later ones under the earlier ones.
    fn check_parts(&mut self, e: &'p Expr, guard: &s::Expr, env: &Env) -> Fallible<()> {
        match &e.kind {
            ExprKind::And(all) | ExprKind::Or(all) => {
                let is_and = matches!(e.kind, ExprKind::And(_));
                let mut guards = vec![guard.clone()];
                for one in all {
                    self.check_under(one, &and(guards.iter().cloned()), env)?;
                    let value = self.term(one, env)?;
                    guards.push(if is_and { value } else { not(value) });
                }
                Ok(())
            }
            ExprKind::Implies { guard: condition, body } => {
                self.check_under(condition, guard, env)?;
                let inner = and([guard.clone(), self.term(condition, env)?]);
                self.check_under(body, &inner, env)
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                self.check_under(condition, guard, env)?;
                let holds = self.term(condition, env)?;
                self.check_under(then, &and([guard.clone(), holds.clone()]), env)?;
                self.check_under(otherwise, &and([guard.clone(), not(holds)]), env)
            }
            // These are not executed: there is nothing to be safe.
            ExprKind::Old(_)
            | ExprKind::Quantified { .. }
            | ExprKind::SetComprehension { .. }
            | ExprKind::MapComprehension { .. } => Ok(()),
            _ => {
                let mut parts = Vec::new();
                e.for_each_child(&mut |child| parts.push(child));
                parts.into_iter().try_for_each(|part| self.check_under(part, guard, env))
            }
        }
    }

    fn readable_at(&mut self, sort: &Type, object: s::Expr, guard: &s::Expr, span: Span) {
        let mut sets = vec![self.state.own[sort].clone()];
        sets.extend(self.readable.iter().filter_map(|level| level.get(sort).cloned()));
        let is_in: Vec<s::Expr> =
            sets.into_iter().map(|set| self.of_set("mem", sort, [object.clone(), set])).collect();
        let check = assert(implies(guard.clone(), or(is_in)));
        self.access_check(sort, check, span);
    }

    /// Checks that an object may be written.
    pub(super) fn writable_at(&mut self, sort: &Type, object: s::Expr, span: Span) {
        let own = self.state.own[sort].clone();
        let check = assert(self.of_set("mem", sort, [object, own]));
        self.access_check(sort, check, span);
    }

    fn access_check(&mut self, sort: &Type, check: s::Stmt, span: Span) {
        let text = format!("{} might be accessed here that is not owned", self.objects(sort));
        let check = check
            .with(renamed("*", "access.failed:insufficient.permission"))
            .with(said("*", &text));
        self.emit_at(span, check);
    }
}
