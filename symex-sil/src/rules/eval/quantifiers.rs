//! Pure quantifiers.

use std::collections::BTreeSet;

use sil::program::{BinaryOp, Expr, ExprKind, FieldId, LocalId, Location, OldLabel, Quantifier};
use sil::source::Sources;
use sil::syntax::Trigger;
use sil::walk::walk_expr;
use smt::terms::{Quant, Term, TermKind};

use super::one_point;
use crate::rules::Sil;
use symex::findings::blame::{Blame, ErrorId, unsupported_at};
use symex::knowledge::goals::Noted;
use symex::state::heap::Resource;
use symex::{Configuration, Explore, Path, Stop, View, Watch};

/// A trigger with variables for its undefined parts.
struct Pattern {
    holes: Vec<Term>,
    trigger: Vec<Term>,
}

/// The body of a quantifier, for arbitrary values of its variables.
struct Body {
    value: Term,
    triggers: Vec<Vec<Term>>,
    /// The trigger, if it is not defined for all values.
    general: Option<Pattern>,
    is_trigger_undefined: bool,
}

impl Sil<'_, '_> {
    /// Evaluates `forall xs :: {T} e` or `exists`: e for arbitrary values. The facts learnt on the
    /// way stay, quantified.
    pub(crate) fn eval_quantified(&mut self, expr: &Expr, blame: Blame) -> Result<Term, Stop> {
        let ExprKind::Quantified { quantifier, variables, triggers, body } = &expr.kind else {
            unreachable!("called for quantifiers only")
        };
        if !body.is_pure() {
            return unsupported_at(expr.span, "quantified permissions");
        }
        define_summaries(self, [&**body])?;
        let at_start = self.state();
        let fixed = one_point::values(*quantifier, variables, body);
        for &(variable, value) in &fixed {
            let value = self.eval(value, blame)?;
            self.frame.store.set(variable, value);
        }
        let is_fixed = |variable: &LocalId| fixed.iter().any(|(fixed, _)| fixed == variable);
        let variables: Vec<LocalId> =
            variables.iter().copied().filter(|variable| !is_fixed(variable)).collect();
        let mut bound = Vec::with_capacity(variables.len());
        for &variable in &variables {
            let local = &self.frame.locals[variable];
            let sort = self.sort(&local.ty);
            let value = self.fresh_variable(&local.name, sort);
            self.frame.store.set(variable, value);
            bound.push(value);
        }
        let applications = self.gathered.applications.len();
        let met_below = self.gathered.below.len();
        let (outcome, seen) = self.watched(|sil| {
            sil.binding(&bound, |sil| {
                sil.scoped(None, |sil| {
                    sil.eval_quantified_body((&variables, &bound), triggers, body, blame)
                })
            })
        });
        let (result, facts) = outcome?;
        self.gathered.applications.truncate(applications);
        self.set_state(at_start);
        if result.is_err() {
            self.gathered.below.truncate(met_below);
        }
        let Body { value, triggers, general, is_trigger_undefined } = result?;
        self.release_met_below(met_below, &bound)?;
        self.is_defined_for_all(seen, blame)?;
        let name = quantifier_name(self.context.sources, expr);
        let learnt = self.learn_for_all(&bound, &triggers, facts, &name)?;
        let quant = match quantifier {
            Quantifier::Forall => Quant::Forall,
            Quantifier::Exists => Quant::Exists,
        };
        self.mention_collections(&[value])?;
        let (variables, sets) = match general {
            Some(Pattern { holes, trigger }) => ([&bound[..], &holes].concat(), vec![trigger]),
            None => (bound.clone(), triggers.clone()),
        };
        let formula = self.quantified(quant, &variables, sets, value, &*name, weight(expr));
        let noted = Noted { quant, bound, triggers, body: value, facts: learnt };
        self.note_quantifier(formula, noted);
        let mut formulas = vec![formula];
        if is_trigger_undefined && *quantifier == Quantifier::Forall {
            self.instances_for_held(expr, &mut formulas)?;
        }
        Ok(self.terms.and(formulas))
    }

    /// Handles a quantifier with a trigger that reads a field of a variable, `{ rel(i, q.f) }`, and
    /// is not defined for all values. Adds the quantifier's instance for each held location of the
    /// field. There the trigger has a value, which determines the other variables.
    fn instances_for_held(&mut self, expr: &Expr, formulas: &mut Vec<Term>) -> Result<(), Stop> {
        let ExprKind::Quantified { quantifier, variables, triggers, body } = &expr.kind else {
            unreachable!("called for quantifiers only")
        };
        let mut read: Vec<(LocalId, FieldId)> = Vec::new();
        let terms = triggers.iter().flat_map(|trigger| trigger.iter());
        for term in terms.filter(|term| !matches!(term.kind, ExprKind::FieldRead { .. })) {
            sil::walk::walk_expr(term, |part| {
                if let ExprKind::FieldRead { receiver, field } = &part.kind
                    && let ExprKind::Local(local) = receiver.kind
                    && variables.contains(&local)
                    && !read.contains(&(local, *field))
                {
                    read.push((local, *field));
                }
            });
        }
        for (local, field) in read {
            let held = self.here.heap.of(Resource::Field(field)).to_vec();
            let others: Vec<LocalId> =
                variables.iter().copied().filter(|it| *it != local).collect();
            let kind = if others.is_empty() {
                body.kind.clone()
            } else {
                let (triggers, body) = (triggers.clone(), body.clone());
                ExprKind::Quantified { quantifier: *quantifier, variables: others, triggers, body }
            };
            let instance = Expr { kind, ..expr.clone() };
            let at_start = self.state();
            for chunk in held {
                self.frame.store.set(local, chunk.arguments[0]);
                let blame = Blame::new(ErrorId::NotWellformed, expr.span).trusted().silent();
                let (value, seen) = self.watched(|sil| sil.join(|sil| sil.eval(&instance, blame)));
                self.set_state(at_start.clone());
                let value = value?;
                if !seen.unread && !seen.failed {
                    formulas.push(value);
                }
            }
        }
        Ok(())
    }

    /// Evaluates the body of a quantifier and its triggers, for arbitrary values of its variables.
    /// Triggers are inferred if none are written.
    fn eval_quantified_body(
        &mut self,
        (variables, bound): (&[LocalId], &[Term]),
        triggers: &[Trigger<Expr>],
        body: &Expr,
        blame: Blame,
    ) -> Result<Body, Stop> {
        let value = self.join(|sil| sil.eval(body, blame))?;
        let inferred = if triggers.is_empty() { inferred(variables, body) } else { Vec::new() };
        let is_inferred = !inferred.is_empty();
        let sets: Vec<Vec<&Expr>> = (triggers.iter().map(|trigger| &**trigger))
            .chain(inferred.iter().map(Vec::as_slice))
            .map(|trigger| trigger.iter().collect())
            .collect();
        let (triggers, seen) =
            self.watched(|sil| sil.eval_trigger_sets_under(guard_of(body), &sets, blame));
        let mut triggers = triggers?;
        let general = match &sets[..] {
            [trigger] if seen.undefined_trigger => self.trigger_with_holes(trigger, blame)?,
            _ => None,
        };
        if is_inferred && self.domains.axioms_in_progress > 0 {
            let innermost = self.innermost_trigger(bound, value);
            triggers.extend(innermost.map(|term| vec![term]));
        }
        Ok(Body { value, triggers, general, is_trigger_undefined: seen.undefined_trigger })
    }

    /// Returns the triggers as terms. Function applications have their limited form, which matches
    /// more often.
    ///
    /// SOUNDNESS: a trigger need not be defined for all values, so no fact learnt while reading it
    /// is kept (trap T6).
    pub(crate) fn eval_trigger_sets(
        &mut self,
        triggers: &[Vec<&Expr>],
        blame: Blame,
    ) -> Result<Vec<Vec<Term>>, Stop> {
        self.eval_trigger_sets_under(None, triggers, blame)
    }

    /// Returns the triggers of a body that may be guarded. Locations without permission are read
    /// under the guard.
    fn eval_trigger_sets_under(
        &mut self,
        guard: Option<&Expr>,
        triggers: &[Vec<&Expr>],
        blame: Blame,
    ) -> Result<Vec<Vec<Term>>, Stop> {
        let mut all = Vec::with_capacity(triggers.len());
        for trigger in triggers {
            let mut terms = Vec::with_capacity(trigger.len());
            for expr in trigger {
                let eval = |sil: &mut Self, guard: Option<Term>| {
                    sil.in_mode(
                        |mode| mode.in_trigger = true,
                        |sil| {
                            sil.scoped(guard, |sil| {
                                sil.join(|sil| sil.eval_trigger_term(expr, blame.trusted()))
                            })
                        },
                    )
                };
                let (mut term, seen) = self.watched(|sil| eval(sil, None));
                let mut is_undefined = seen.unread;
                if is_undefined
                    && let Some(guard) = guard
                    && let Some(guard) = self.undecided(guard, blame)?
                {
                    let (under_guard, seen) = self.watched(|sil| eval(sil, Some(guard)));
                    if !matches!(under_guard, Ok((Err(Stop::Infeasible), _))) {
                        term = under_guard;
                        is_undefined = seen.unread;
                    }
                }
                if is_undefined {
                    self.incidents.undefined_trigger = true;
                }
                match term?.0 {
                    Ok(term) => {
                        let term = self.limited_variant(term);
                        terms.push(term);
                    }
                    Err(Stop::Unsupported { .. }) => {
                        terms.clear();
                        break;
                    }
                    Err(stop) => return Err(stop),
                }
            }
            if !terms.is_empty() {
                all.extend(self.trigger_by_position(&terms));
                all.push(terms);
            }
        }
        Ok(all)
    }

    /// Returns a trigger that is not defined at its place, with variables for the state that it
    /// depends on. So it matches the application in any state that the body means.
    ///
    /// SOUNDNESS: the variables do not occur in the body.
    fn trigger_with_holes(
        &mut self,
        trigger: &[&Expr],
        blame: Blame,
    ) -> Result<Option<Pattern>, Stop> {
        self.gathered.trigger_holes = Some(Vec::new());
        let sets = self.eval_trigger_sets(&[trigger.to_vec()], blame);
        let holes = self.gathered.trigger_holes.take().unwrap_or_default();
        let trigger = sets?.pop();
        let in_trigger =
            |&hole: &Term| trigger.iter().flatten().any(|&t| self.terms.contains(t, hole));
        let all_occur = !holes.is_empty() && holes.iter().all(in_trigger);
        Ok(trigger.filter(|_| all_occur).map(|trigger| Pattern { holes, trigger }))
    }

    /// Returns the value of a guard, unless it is decided.
    fn undecided(&mut self, guard: &Expr, blame: Blame) -> Result<Option<Term>, Stop> {
        let (guard, _) = self.in_mode(
            |mode| mode.in_trigger = false,
            |sil| sil.scoped(None, |sil| sil.join(|sil| sil.eval(guard, blame.trusted()))),
        )?;
        Ok(guard.ok().filter(|&guard| self.terms.as_bool(guard).is_none()))
    }

    /// Returns a term of a trigger.
    pub(crate) fn eval_trigger_term(&mut self, expr: &Expr, blame: Blame) -> Result<Term, Stop> {
        match &expr.kind {
            ExprKind::FieldRead { receiver, field } => {
                let receiver = self.eval(receiver, blame)?;
                Ok(self.touched(Resource::Field(*field), &[receiver]))
            }
            ExprKind::Acc { location: Location::Predicate { predicate, arguments }, .. } => {
                let arguments = self.eval_all(arguments, blame)?;
                Ok(self.touched(Resource::Predicate(*predicate), &arguments))
            }
            _ => {
                let (term, seen) = self.watched(|sil| sil.eval(expr, blame));
                let term = term?;
                let stateless =
                    if seen.undefined_trigger { stateless_variant(self, term) } else { None };
                Ok(stateless.unwrap_or(term))
            }
        }
    }
}

/// Returns a name for profiles: the place of the quantifier.
fn quantifier_name(sources: &Sources, expr: &Expr) -> String {
    match sources.range(expr.span) {
        Some((start, _)) => format!("quant@{start}"),
        None => "quant".to_owned(),
    }
}

/// Returns a mark of the arguments for an application that is undefined in a trigger, and that
/// the body does not have. The mark is true if the function is applied to them in any state.
fn stateless_variant(path: &mut Path<'_>, term: Term) -> Option<Term> {
    let is_met = path.gathered.applications.iter().any(|known| known.application == term);
    let TermKind::Apply(symbol, operands) = path.terms.kind(term).clone() else { return None };
    if is_met || path.gathered.trigger_holes.is_some() {
        return None;
    }
    let mut known = path.caches.function_symbols.values();
    let of = known.find(|of| of.full == symbol || of.limited == symbol)?.stateless;
    Some(path.terms.apply(of, &operands[1..]))
}

/// Returns the guard of a body that is an implication.
fn guard_of(body: &Expr) -> Option<&Expr> {
    match &body.kind {
        ExprKind::Binary { op: BinaryOp::Implies, left, .. } => Some(left),
        _ => None,
    }
}

/// Returns the SMT weight asked for by `@weight("n")`.
fn weight(expr: &Expr) -> u32 {
    let annotation = expr.annotations.iter().find(|annotation| &*annotation.key == "weight");
    annotation.and_then(|a| a.values.first()).and_then(|value| value.parse().ok()).unwrap_or(1)
}

/// Infers triggers for a quantifier without any. Returns none if they would need further variables.
pub(crate) fn inferred(variables: &[LocalId], body: &Expr) -> Vec<Vec<Expr>> {
    if variables.is_empty() {
        return Vec::new();
    }
    let mut further = false;
    let inferred = sil::triggers::infer_triggers(variables, body, &mut |_| {
        further = true;
        variables[0]
    });
    if further || !inferred.variables.is_empty() { Vec::new() } else { inferred.triggers }
}

/// Defines the summaries of the fields that are read below a quantifier, before it is entered.
/// Facts learnt inside stay under the conditions and triggers of their place.
pub(crate) fn define_summaries<'e>(
    at: &mut Configuration<'_>,
    formulas: impl IntoIterator<Item = &'e Expr>,
) -> Result<(), Stop> {
    let mut fields = BTreeSet::new();
    let mut heaps = vec![at.here.heap.clone()];
    for formula in formulas {
        walk_expr(formula, |expr| match &expr.kind {
            ExprKind::FieldRead { field, .. } => {
                fields.insert(Resource::Field(*field));
            }
            ExprKind::Old { label: OldLabel::Entry, .. } => {
                heaps.extend(at.frame.past.old.clone());
            }
            ExprKind::Old { label: OldLabel::Label(label), .. } => {
                heaps.extend(at.frame.past.labels.get(label).map(|passed| passed.heap.clone()));
            }
            _ => {}
        });
    }
    at.summaries_of(fields, &heaps)
}
