//! The values in a claim that is false, for whoever reads of it.

use crate::code::{Expr, Kind};
use crate::fault::PartValue;
use crate::machine::Evaluator;
use crate::value::Value;

/// More values than these are not read.
const MOST: usize = 8;

impl Evaluator<'_> {
    /// Returns the values of the variables, fields and applications in a claim. A part that cannot
    /// be evaluated is left out, and so is a receiver that is not written: it stands where the name
    /// of the field does.
    pub(crate) fn values_of_parts(&mut self, claim: &Expr, slots: &mut [Value]) -> Vec<PartValue> {
        let mut parts: Vec<&Expr> = Vec::new();
        claim.any(&mut |part| {
            let tells = matches!(
                part.kind,
                Kind::Slot(_)
                    | Kind::Field { .. }
                    | Kind::Apply { .. }
                    | Kind::Length(_)
                    | Kind::Old(_)
            );
            if tells && parts.iter().all(|whole| whole.span != part.span) {
                parts.push(part);
            }
            parts.len() == MOST
        });
        self.only_looking(|machine| {
            let value = |part: &Expr| {
                let value = machine.eval(part, slots).ok()?;
                Some(PartValue { span: part.span, value: machine.value_text(&value) })
            };
            parts.into_iter().filter_map(value).collect()
        })
    }
}
