//! `assume A` where A mentions permission: the state holds A already, and nothing is added.
//!
//! Each `acc(r, p)` in A claims that the permission held to r is at least p, on top of the earlier
//! claims in A about the same location. So `assume acc(x.f, 1/2) && acc(y.f, 2/3)` tells x and y
//! apart.

use sil::program::{Expr, ExprKind};
use smt::terms::{Term, Terms, grow_stack};

use crate::rules::Sil;
use crate::rules::assertion::{Own, form};
use crate::rules::quantified::access::Target;
use crate::rules::quantified::normalise;
use symex::findings::blame::{Blame, unsupported_at};
use symex::permission::quantified;
use symex::rules::assertion::Form;
use symex::rules::language::Language;
use symex::state::heap::Resource;
use symex::{Configuration, Explore, Reading, Stop};

/// The claim of an access of the assertion.
#[derive(Clone)]
struct Claim {
    resource: Resource,
    /// The conditions in front of the access.
    guard: Term,
    /// The amount over the formals of the resource.
    amount: Term,
}

impl Sil<'_, '_> {
    /// Executes `assume A`.
    pub(crate) fn exec_assume(&mut self, assertion: &Expr, blame: Blame) -> Result<(), Stop> {
        if assertion.is_pure() {
            return self.produce_all([assertion], None, |_| blame);
        }
        let fact = self.held_already(assertion, &mut Vec::new(), blame)?;
        self.assume(fact)
    }

    /// Returns the formula that an assertion holds in the state, its accesses on top of those in
    /// `claims`.
    fn held_already(
        &mut self,
        assertion: &Expr,
        claims: &mut Vec<Claim>,
        blame: Blame,
    ) -> Result<Term, Stop> {
        grow_stack(|| match form(assertion) {
            Form::Pure => self.eval(assertion, blame),
            Form::Own(Own::TwoReadings { .. }) if assertion.is_pure() => {
                self.eval(assertion, blame)
            }
            Form::Own(Own::TwoReadings { inhale, exhale }) => {
                let is_inhaled = self.frame.assertion.reading == Reading::Inhale;
                let side = if is_inhaled { inhale } else { exhale };
                self.held_already(side, claims, blame)
            }
            Form::All(operands) => {
                let mut facts = Terms::TRUE;
                for operand in operands {
                    let fact = self.claimed_under(facts, claims, |sil, claims| {
                        sil.held_already(operand, claims, blame)
                    })?;
                    facts = self.terms.and([facts, fact]);
                }
                Ok(facts)
            }
            Form::If { condition, then, otherwise } => {
                let condition = self.eval(condition, blame)?;
                let then = self.held_if(condition, then, claims, blame)?;
                let Some(otherwise) = otherwise else { return Ok(then) };
                let negation = self.terms.not(condition);
                let otherwise = self.held_if(negation, otherwise, claims, blame)?;
                Ok(self.terms.and([then, otherwise]))
            }
            Form::Let { variable, value, body } => {
                let value = self.eval(value, blame)?;
                self.frame.store.set(variable, value);
                self.held_already(body, claims, blame)
            }
            Form::Access((location, amount)) => {
                let (resource, arguments) = self.eval_location(location, blame)?;
                let amount = self.eval(amount, blame)?;
                Ok(claim(self, resource, &arguments, amount, claims))
            }
            Form::Own(Own::Wand) => {
                let (resource, arguments) = self.eval_wand(assertion, blame)?;
                let amount = Terms::WRITE;
                Ok(claim(self, resource, &arguments, amount, claims))
            }
            Form::Own(Own::Quantified { .. }) => self.held_for_all(assertion, claims, blame),
            Form::Own(Own::Other) => match &assertion.kind {
                ExprKind::Unfolding { access, body } => {
                    self.claimed_under(Terms::TRUE, claims, |sil, claims| {
                        let (arguments, amount) = sil.eval_unfolding_access(access, blame)?;
                        sil.enter_unfolding(access, &arguments, amount, blame)?;
                        sil.held_already(body, claims, blame)
                    })
                }
                _ => unsupported_at(assertion.span, "`assume` of this form of assertion"),
            },
        })
    }

    /// Returns `guard ⇒ A`. The claims that A makes count under the guard only.
    fn held_if(
        &mut self,
        guard: Term,
        assertion: &Expr,
        claims: &mut Vec<Claim>,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let before = claims.len();
        let fact = self.claimed_under(guard, claims, |sil, claims| {
            sil.held_already(assertion, claims, blame)
        })?;
        for claim in &mut claims[before..] {
            claim.guard = self.terms.and([guard, claim.guard]);
        }
        Ok(self.terms.implies(guard, fact))
    }

    /// Runs under a guard, in a state of its own. If the run splits, each way's claims count on
    /// that way.
    fn claimed_under(
        &mut self,
        guard: Term,
        claims: &mut Vec<Claim>,
        mut run: impl FnMut(&mut Self, &mut Vec<Claim>) -> Result<Term, Stop>,
    ) -> Result<Term, Stop> {
        if guard == Terms::FALSE {
            return Ok(Terms::TRUE);
        }
        let before = claims.clone();
        let (paths, facts) = self.scoped(Some(guard), |sil| {
            sil.explore(|sil| {
                let mut claims = before.clone();
                let fact = run(sil, &mut claims)?;
                Ok((fact, claims.split_off(before.len())))
            })
        })?;
        for fact in facts {
            let fact = self.terms.implies(guard, fact);
            self.assume(fact)?;
        }
        let paths = match paths {
            // No way is left: the guard cannot hold, or the claims under it contradict each other.
            Ok(paths) if paths.is_empty() => return Ok(Terms::FALSE),
            Err(Stop::Infeasible) => return Ok(Terms::FALSE),
            paths => paths?,
        };
        let mut all = Vec::with_capacity(paths.len());
        for path in paths {
            let way = self.terms.and(path.literals);
            let (fact, made) = path.value;
            all.push(self.terms.implies(way, fact));
            for claim in made {
                let guard = self.terms.and([way, claim.guard]);
                claims.push(Claim { guard, ..claim });
            }
        }
        Ok(self.terms.and(all))
    }

    /// Returns the formula for a quantified assertion, as conjuncts of one access each.
    fn held_for_all(
        &mut self,
        quantifier: &Expr,
        claims: &mut Vec<Claim>,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let mut facts = Vec::new();
        for conjunct in normalise::conjuncts(quantifier, self.frame.assertion.reading) {
            if conjunct.body.is_pure() {
                facts.push(self.eval_quantified_fact(&conjunct, blame)?);
                continue;
            }
            let Some(target) = Target::of(conjunct.body) else {
                return unsupported_at(conjunct.body.span, "`assume` of this under a quantifier");
            };
            let access = self.eval_quantified_access(&conjunct, target, blame)?;
            let Some(access) = access else { continue };
            let resource = access.resource;
            let fact = holds_at_least(self, resource, &access.arguments, access.amount, claims);
            let fact = self.terms.implies(access.guard, fact);
            let triggers = self.access_triggers(&access);
            facts.push(self.terms.forall(
                &access.variables,
                triggers,
                fact,
                quantified::label("assume"),
                1,
            ));
            // SOUNDNESS: inverse functions say that different values mean different locations,
            // which is not assumed here. If this is not known, later accesses do without the claim,
            // so less is assumed.
            if let Some(injective) = self.is_injective(&access)? {
                let footprint = self.footprint(&access, injective)?;
                claims.push(Claim { resource, guard: Terms::TRUE, amount: footprint.amount });
            }
        }
        Ok(self.terms.and(facts))
    }
}

/// Returns perm(r) ≥ p + Σ of earlier claims about r, and adds the claim.
fn claim(
    config: &mut Configuration<'_>,
    resource: Resource,
    arguments: &[Term],
    amount: Term,
    claims: &mut Vec<Claim>,
) -> Term {
    let fact = holds_at_least(config, resource, arguments, amount, claims);
    let amount = config.need_of(resource, arguments, amount);
    claims.push(Claim { resource, guard: Terms::TRUE, amount });
    fact
}

fn holds_at_least(
    config: &mut Configuration<'_>,
    resource: Resource,
    arguments: &[Term],
    amount: Term,
    claims: &[Claim],
) -> Term {
    let mut least = amount;
    for claim in claims.iter().filter(|claim| claim.resource == resource) {
        let here = config.at(resource, claim.amount, arguments);
        let here = config.terms.ite(claim.guard, here, Terms::NONE);
        least = config.terms.add(least, here);
    }
    let heap = config.here.heap.clone();
    let held = config.held_in(&heap, resource, arguments);
    config.terms.le(least, held)
}
