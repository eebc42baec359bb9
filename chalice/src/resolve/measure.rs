//! Measures of what has to end.

use rustc_hash::FxHashSet;

use super::{Context, Resolver};
use crate::program::{
    AccessTarget, Expr, ExprKind, FunctionId, Local, LocalId, LocalKind, Measure, PredicateId, Type,
};
use crate::syntax;

impl<'s> Resolver<'s> {
    /// Resolves the parts of a `decreases` clause.
    pub(super) fn measures(&mut self, clause: &'s [syntax::Expr]) -> Vec<Measure> {
        let mut measures = Vec::new();
        for written in clause {
            let value = self.expr(written, Context::GHOST);
            let ty = &value.ty;
            if !matches!(ty, Type::Int | Type::Bool | Type::Seq(_) | Type::Set(_) | Type::Unknown) {
                let words = "a measure is an integer, a truth value, a sequence or a set; this is";
                self.error(format!("{words} {}", self.show(&value.ty)), value.span);
            }
            let start = self.program.locals.alloc(Local {
                name: "measure".to_owned(),
                ty: Type::Int,
                kind: LocalKind::Measure,
                is_ghost: true,
                is_const: false,
                span: value.span,
            });
            measures.push(Measure::of(value, start));
        }
        measures
    }

    /// Reports a promise to end of code that may wait for a lock.
    pub(super) fn expect_no_waiting(&mut self, locks: &[Expr], measures: &[Measure]) {
        if let (Some(lock), false) = (locks.first(), measures.is_empty()) {
            let words = "`lockchange` and `decreases` exclude each other: who waits for a lock \
                         might wait for ever";
            self.error(words, lock.span);
        }
    }

    /// Reports a measure that mentions results: it is taken at the start, where there are none.
    pub(super) fn expect_no_results(&mut self, measure: &Expr, results: &[LocalId]) {
        if measure.any(
            &mut |part| matches!(&part.kind, ExprKind::Local(local) if results.contains(local)),
        ) {
            self.error("a measure cannot depend on the results", measure.span);
        }
    }

    /// Reports functions whose measure depends on the function.
    ///
    /// SOUNDNESS: else the proof that its applications end would use their values.
    pub(super) fn expect_well_founded_functions(&mut self) {
        let functions: Vec<FunctionId> = self.program.functions.iter().map(|(id, _)| id).collect();
        for id in functions {
            let measures = &self.program.functions[id].decreases;
            let circular = measures.iter().find(|measure| self.leads_to(&measure.number, id));
            if let Some(span) = circular.map(|measure| measure.number.span) {
                let name = &self.program.functions[id].name;
                self.error(format!("the measure of `{name}` depends on `{name}` itself"), span);
            }
        }
    }

    /// Tells whether the functions that an expression applies lead to a function, through bodies,
    /// contracts, measures and predicates.
    fn leads_to(&self, expr: &Expr, to: FunctionId) -> bool {
        let mut functions: FxHashSet<FunctionId> = FxHashSet::default();
        let mut predicates: FxHashSet<PredicateId> = FxHashSet::default();
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            expr.for_each(&mut |part| match &part.kind {
                ExprKind::Apply { function, .. } if functions.insert(*function) => {
                    let function = &self.program.functions[*function];
                    pending.extend(function.requires.iter().chain(&function.ensures));
                    pending.extend(&function.body);
                    pending.extend(function.decreases.iter().map(|measure| &measure.number));
                }
                ExprKind::Access(access) | ExprKind::Unfolding { access, .. } => {
                    if let AccessTarget::Predicate { predicate, .. }
                    | AccessTarget::ElementsPredicate { predicate, .. } = access.target
                        && predicates.insert(predicate)
                    {
                        pending.push(&self.program.predicates[predicate].body);
                    }
                }
                _ => {}
            });
        }
        functions.contains(&to)
    }
}
