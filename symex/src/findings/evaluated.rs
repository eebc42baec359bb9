//! The values of expressions at their last evaluation, for counterexamples.

use rustc_hash::FxHashMap;
use sil::source::Span;
use smt::terms::Term;

use crate::report::{PartValue, Value, Variable};
use crate::{Stop, View};

/// The number of parts of a condition that are told.
const TOLD: usize = 12;

/// The expressions evaluated so far. Empty unless counterexamples are asked for.
#[derive(Debug, Default)]
pub(crate) struct Evaluated {
    values: FxHashMap<Span, Evaluation>,
    /// The expressions in evaluation, innermost last, each with the number of its beginning.
    open: Vec<(Span, u64)>,
    /// The number of evaluations that have begun.
    begun: u64,
}

/// The last evaluation of an expression.
#[derive(Clone, Copy, Debug)]
struct Evaluation {
    begun: u64,
    value: Term,
}

impl Evaluated {
    fn begin(&mut self, at: Span) {
        self.begun += 1;
        self.open.push((at, self.begun));
    }

    /// Ends the evaluation that began last; `None` if it has no value.
    fn end(&mut self, value: Option<Term>) {
        let (at, begun) = self.open.pop().expect("each end has a begin");
        if let Some(value) = value {
            self.values.insert(at, Evaluation { begun, value });
        }
    }

    /// Returns the values of the parts of the condition at `at`, and of the expression being
    /// evaluated, in the order of the text.
    ///
    /// A part that the last evaluation of the whole has left out has no value.
    pub(crate) fn parts_of(&self, at: Span) -> Vec<(Span, Term)> {
        let whole = self.values.get(&at).map(|whole| (at, whole.begun));
        let roots: Vec<(Span, u64)> = whole.into_iter().chain(self.open.last().copied()).collect();
        let is_part = |span: Span, evaluation: &Evaluation| {
            roots.iter().any(|&(root, begun)| {
                root != span && root.contains(span) && evaluation.begun >= begun
            })
        };
        let parts = self.values.iter().filter(|&(&span, evaluation)| is_part(span, evaluation));
        let mut parts: Vec<(Span, Term)> =
            parts.map(|(&span, evaluation)| (span, evaluation.value)).collect();
        parts.sort_by_key(|&(span, _)| (span.start, span.end, span));
        parts
    }

    /// Chooses the parts that tell more than literals, listed variables and smaller parts, each
    /// once. If there are many, the larger ones are chosen.
    pub(crate) fn worth_telling<'a>(
        parts: impl Iterator<Item = PartValue>,
        variables: impl Iterator<Item = &'a Variable>,
    ) -> Vec<PartValue> {
        let named: Vec<&str> = variables.map(|variable| &*variable.name).collect();
        let is_truth = |part: &PartValue| matches!(part.value, Value::Bool(_));
        let parts: Vec<PartValue> = parts.collect();
        let mut told: Vec<PartValue> = Vec::new();
        for part in &parts {
            let is_plain = part.value.to_string() == part.text || named.contains(&&*part.text);
            let is_opaque = matches!(part.value, Value::Opaque(..));
            // The operands of a connective tell its truth.
            let is_composed = is_truth(part)
                && parts.iter().any(|other| {
                    is_truth(other) && other.span != part.span && part.span.contains(other.span)
                });
            // A part under `old` has its value in another state, so the whole is told.
            let is_past = parts.iter().any(|other| {
                other.text.starts_with("old")
                    && other.text.ends_with(')')
                    && other.span != part.span
                    && other.span.contains(part.span)
            });
            let is_told = told.iter().any(|known| known.text == part.text);
            if !is_plain && !is_opaque && !is_composed && !is_past && !is_told {
                told.push(part.clone());
            }
        }
        while told.len() > TOLD {
            let smallest = (0..told.len()).min_by_key(|&index| told[index].text.len());
            told.remove(smallest.expect("there are some"));
        }
        told
    }
}

/// Records the values of expressions, where counterexamples are asked for.
pub trait Record<'p>: View<'p> {
    /// Evaluates the expression at `at`.
    fn recorded(
        &mut self,
        at: Span,
        eval: impl FnOnce(&mut Self) -> Result<Term, Stop>,
    ) -> Result<Term, Stop> {
        if !self.core().context.options.counterexample {
            return eval(self);
        }
        self.core().evaluated.begin(at);
        let result = eval(self);
        self.core().evaluated.end(result.as_ref().ok().copied());
        result
    }
}

impl<'p, V: View<'p>> Record<'p> for V {}
