//! Permission to many locations: `acc(s[*].f)`, and `forall x in s :: A`.
//!
//! Such an assertion is a list of conjuncts, each with one access or one pure part below all
//! quantifiers and conditions around it. An access becomes a quantified chunk of the engine
//! (Müller, Schwerhoff and Summers 2016), as in SIL; a pure part is a quantifier without
//! permission.

use chalice::program::{
    Access, AccessTarget, ClassId, Domain, Expr, ExprKind, LocalId, PermissionKind, Quantifier,
    Type,
};
use smt::terms::{Sort, Term, Terms, grow_stack};

use super::eval::{Range, is_in};
use super::fractions::Claim;
use super::{Chalice, Direct, Threads, renumbered, span};
use symex::findings::blame::{Blame, Reason};
use symex::permission::quantified;
use symex::rules::quantified::BelowQuantifiers;
use symex::rules::shape::assembled;
use symex::state::heap::Resource;
use symex::state::quantified::Access as Many;
use symex::{Explore, Stop};

/// A step between an assertion and one of its parts, outermost first.
#[derive(Clone, Copy)]
enum Step<'e> {
    Each { variables: &'e [LocalId], domain: &'e Domain },
    If { condition: &'e Expr, holds: bool },
}

/// The object of a location.
#[derive(Clone, Copy)]
enum Object<'e> {
    Written(&'e Expr),
    /// Each element of a collection, once.
    ElementOf(&'e Expr),
}

/// A part of an assertion about many locations.
#[derive(Clone, Copy)]
enum Part<'e> {
    Fact(&'e Expr),
    Permission { access: &'e Access, resource: Resource, object: Object<'e> },
}

type Conjunct<'e> = (Vec<Step<'e>>, Part<'e>);

/// Tells whether an access is to the locations of all elements of a collection.
pub(super) fn is_to_elements(access: &Access) -> bool {
    matches!(
        access.target,
        AccessTarget::ElementsField { .. }
            | AccessTarget::ElementsPredicate { .. }
            | AccessTarget::ElementsAllFields { .. }
    )
}

/// Tells whether an assertion gives permission to many locations.
pub(super) fn has_many(assertion: &Expr) -> bool {
    assertion.any(&mut |part| is_many(part))
}

/// Tells whether an assertion is itself about many locations.
pub(super) fn is_many(assertion: &Expr) -> bool {
    match &assertion.kind {
        ExprKind::Access(access) => is_to_elements(access),
        ExprKind::Quantified { quantifier: Quantifier::Forall, body, .. } => body.is_impure(),
        _ => false,
    }
}

impl Direct {
    /// Returns the conjuncts of an assertion, left to right.
    fn conjuncts<'e>(&self, assertion: &'e Expr) -> Vec<Conjunct<'e>> {
        let mut all = Vec::new();
        self.collect(assertion, Vec::new(), &mut all);
        all
    }

    fn collect<'e>(&self, part: &'e Expr, mut steps: Vec<Step<'e>>, to: &mut Vec<Conjunct<'e>>) {
        grow_stack(|| match &part.kind {
            _ if part.is_pure() => to.push((steps, Part::Fact(part))),
            ExprKind::And(parts) => {
                parts.iter().for_each(|part| self.collect(part, steps.clone(), to));
            }
            ExprKind::Implies { guard, body } => {
                steps.push(Step::If { condition: guard, holds: true });
                self.collect(body, steps, to);
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                for (side, holds) in [(then, true), (otherwise, false)] {
                    let step = Step::If { condition, holds };
                    let steps = steps.iter().copied().chain([step]).collect();
                    self.collect(side, steps, to);
                }
            }
            ExprKind::Quantified { variables, domain, body, .. } => {
                steps.push(Step::Each { variables, domain });
                self.collect(body, steps, to);
            }
            ExprKind::Access(access) => {
                for (resource, object) in self.targets(access) {
                    to.push((steps.clone(), Part::Permission { access, resource, object }));
                }
            }
            // Other forms are refused before ([`super::scope`]).
            _ => {}
        });
    }

    /// Returns the locations of an access, of each of its objects.
    fn targets<'e>(&self, access: &'e Access) -> Vec<(Resource, Object<'e>)> {
        let fields = |class: ClassId, object| {
            let fields = self.tree.classes[class].fields();
            fields.map(|field| (Resource::Field(renumbered(field)), object)).collect()
        };
        match &access.target {
            AccessTarget::Field { receiver, field } => {
                vec![(Resource::Field(self.field(*field)), Object::Written(receiver))]
            }
            AccessTarget::Predicate { receiver, predicate } => {
                vec![(Resource::Predicate(renumbered(*predicate)), Object::Written(receiver))]
            }
            AccessTarget::AllFields { receiver, class } => {
                fields(*class, Object::Written(receiver))
            }
            AccessTarget::ElementsField { elements, field } => {
                vec![(Resource::Field(self.field(*field)), Object::ElementOf(elements))]
            }
            AccessTarget::ElementsPredicate { elements, predicate } => {
                vec![(Resource::Predicate(renumbered(*predicate)), Object::ElementOf(elements))]
            }
            AccessTarget::ElementsAllFields { elements, class } => {
                fields(*class, Object::ElementOf(elements))
            }
            AccessTarget::BackPointers { receiver, field, .. } => {
                vec![(Resource::Field(self.pointers(*field)), Object::Written(receiver))]
            }
        }
    }
}

/// Returns a pure part below the quantifiers and conditions around it.
fn fact_below(steps: &[Step<'_>], fact: &Expr) -> Expr {
    let of = |kind| Expr { kind, ty: Type::Bool, span: fact.span };
    steps.iter().rev().fold(fact.clone(), |body, step| {
        let body = Box::new(body);
        of(match *step {
            Step::Each { variables, domain } => ExprKind::Quantified {
                quantifier: Quantifier::Forall,
                variables: variables.to_vec(),
                domain: domain.clone(),
                body,
            },
            Step::If { condition, holds } => {
                let guard = Box::new(if holds { condition.clone() } else { negation(condition) });
                ExprKind::Implies { guard, body }
            }
        })
    })
}

fn negation(condition: &Expr) -> Expr {
    let operand = Box::new(condition.clone());
    let kind = ExprKind::Unary { op: chalice::program::UnaryOp::Not, operand };
    Expr { kind, ..condition.clone() }
}

impl<'v, 'p> Chalice<'v, 'p> {
    /// Produces an assertion about many locations: produce(σ, s, A).
    pub(super) fn produce_many(
        &mut self,
        assertion: &Expr,
        snapshot: Option<Term>,
        blame: Blame,
    ) -> Result<(), Stop> {
        let direct = self.direct;
        let conjuncts = direct.conjuncts(assertion);
        let is_permission = |(_, part): &&Conjunct<'_>| matches!(part, Part::Permission { .. });
        let mut rest = self.rest(snapshot, conjuncts.iter().filter(is_permission).count())?;
        for (steps, part) in &conjuncts {
            match *part {
                Part::Fact(fact) => {
                    let fact = self.eval(&fact_below(steps, fact), blame)?;
                    self.assume(fact)?;
                }
                Part::Permission { access, object, .. } => {
                    let own = self.next_part(&mut rest)?;
                    let Some(many) = self.many(steps, *part, blame)? else { continue };
                    let at = span(access.span);
                    if let Resource::Predicate(_) = many.resource {
                        self.threads.have_receivers(&many)?;
                        if let (Object::ElementOf(elements), []) = (object, &steps[..]) {
                            self.are_objects(elements, many.amount, blame)?;
                        }
                    }
                    self.produce_access(&many, own, at, blame)?;
                }
            }
        }
        Ok(())
    }

    /// Consumes an assertion about many locations: consume(σ, A).
    pub(super) fn consume_many(&mut self, assertion: &Expr, blame: Blame) -> Result<Term, Stop> {
        let direct = self.direct;
        let mut parts = Vec::new();
        for (steps, part) in &direct.conjuncts(assertion) {
            match *part {
                Part::Fact(_) if blame.is_silent() => {}
                Part::Fact(fact) => {
                    let at = span(fact.span);
                    let goal = self.eval(&fact_below(steps, fact), blame)?;
                    self.prove(goal, blame, Reason::AssertionFalse, at)?;
                }
                Part::Permission { access, resource, .. } => {
                    let at = span(access.span);
                    parts.push(match self.many(steps, *part, blame)? {
                        Some(many) => {
                            self.consume_access(&many, Reason::InsufficientPermission, at, blame)?
                        }
                        None => self.snapshot_of_none(resource)?,
                    });
                }
            }
        }
        Ok(assembled(&mut self.terms, parts))
    }

    /// Returns the claim of each access, for all its objects.
    pub(super) fn claims_of_many(
        &mut self,
        assertion: &Expr,
        blame: Blame,
        claim: Claim<'_, 'v, 'p>,
    ) -> Result<Term, Stop> {
        let direct = self.direct;
        let mut all = Vec::new();
        for (steps, part) in &direct.conjuncts(assertion) {
            let Part::Permission { access, resource, .. } = *part else { continue };
            let mut claimed = Terms::TRUE;
            let many = self.below(steps, *part, blame, |chalice, guard, object| {
                claimed = match chalice
                    .under(guard, |chalice| claim(chalice, access, &[(resource, vec![object])]))?
                {
                    Some(claimed) => claimed,
                    None => Terms::TRUE,
                };
                Ok(Some(Terms::WRITE))
            })?;
            let Some(many) = many else { continue };
            let fact = self.terms.implies(many.guard, claimed);
            let triggers = self.access_triggers(&many);
            let name = quantified::label("claim");
            all.push(self.terms.forall(&many.variables, triggers, fact, name, 1));
        }
        Ok(self.terms.and(all))
    }

    /// Returns an access for arbitrary values of the variables around it; `None` if a condition
    /// cannot hold.
    fn many(
        &mut self,
        steps: &[Step<'_>],
        part: Part<'_>,
        blame: Blame,
    ) -> Result<Option<Many>, Stop> {
        let Part::Permission { access, .. } = part else { return Ok(None) };
        let mut many = self.below(steps, part, blame, |chalice, guard, _| {
            // Each value of the variables has an amount, whether the guard holds or not (trap T9e).
            if chalice.threads.is_any_fraction(&access.amount) {
                return chalice.threads.any_fraction(&[]).map(Some);
            }
            if access.amount.kind == PermissionKind::Star {
                return chalice.scaled(access, blame).map(Some);
            }
            chalice.under(guard, |chalice| chalice.scaled(access, blame))
        })?;
        if let Some(many) = &mut many {
            self.simplify(many)?;
            if self.threads.is_any_fraction(&access.amount) && self.here.consuming.is_some() {
                self.threads.leave_some_of_each(many)?;
            }
        }
        Ok(many)
    }

    /// Evaluates the object of an access, and then its amount, below the steps around it. The facts
    /// learnt on the way hold for all values of the variables.
    fn below(
        &mut self,
        steps: &[Step<'_>],
        part: Part<'_>,
        blame: Blame,
        amount: impl FnOnce(&mut Self, Term, Term) -> Result<Option<Term>, Stop>,
    ) -> Result<Option<Many>, Stop> {
        let Part::Permission { resource, object, .. } = part else { return Ok(None) };
        for step in steps {
            if let Step::If { condition, .. } = step {
                self.threads.summarise([*condition])?;
            }
        }
        if let Object::Written(object) = object {
            self.threads.summarise([object])?;
        }
        let mut sorts = Vec::new();
        for step in steps {
            let Step::Each { variables, .. } = step else { continue };
            for &local in *variables {
                sorts.push((Some(local), self.threads.sort(&self.direct.tree.locals[local].ty)));
            }
        }
        if let Object::ElementOf(_) = object {
            sorts.push((None, Sort::REF));
        }
        let mut variables = Vec::with_capacity(sorts.len());
        for (position, &(_, sort)) in sorts.iter().enumerate() {
            variables.push(self.variable_below(position, sort));
        }
        let value = self.for_arbitrary_values(&variables, |chalice| {
            for (&(local, _), &variable) in sorts.iter().zip(&variables) {
                if let Some(local) = local {
                    chalice.frame.store.set(Direct::local(local), variable);
                }
            }
            let mut triggers = Vec::new();
            let Some(mut guard) = chalice.guard(steps, &mut triggers, blame)? else {
                return Ok(None);
            };
            let object = match (object, variables.last()) {
                (Object::ElementOf(elements), Some(&element)) => {
                    let of = chalice.element_of(guard, element, elements, blame)?;
                    let Some(inside) = of else { return Ok(None) };
                    triggers.push(inside);
                    guard = chalice.terms.and([guard, inside]);
                    Some(element)
                }
                (Object::Written(object), _) => {
                    chalice.under(guard, |chalice| chalice.eval(object, blame))?
                }
                (Object::ElementOf(_), None) => None,
            };
            let Some(object) = object else { return Ok(None) };
            let Some(amount) = amount(chalice, guard, object)? else { return Ok(None) };
            let mut sets = Vec::new();
            // Triggers of the quantifier have to have all its variables.
            if triggers.len() == variables.len() {
                sets.extend(chalice.trigger_by_position(&triggers));
                sets.push(triggers);
            }
            Ok(Some(((guard, object, amount), sets)))
        })?;
        Ok(value.map(|((guard, object, amount), triggers)| Many {
            resource,
            variables,
            guard,
            arguments: vec![object],
            amount,
            triggers,
        }))
    }

    /// Returns the conjunction of the ranges and conditions of steps; `None` if they cannot hold.
    fn guard(
        &mut self,
        steps: &[Step<'_>],
        triggers: &mut Vec<Term>,
        blame: Blame,
    ) -> Result<Option<Term>, Stop> {
        let mut guard = Terms::TRUE;
        for step in steps {
            let part = match *step {
                Step::If { condition, holds } => {
                    let value = self.under(guard, |chalice| chalice.eval(condition, blame))?;
                    let Some(value) = value else { return Ok(None) };
                    if holds { value } else { self.terms.not(value) }
                }
                Step::Each { domain: Domain::Type(_), .. } => Terms::TRUE,
                Step::Each { variables, domain: Domain::Collection(collection) } => {
                    let mut inside = Vec::new();
                    for &local in variables {
                        let Some(value) = self.frame.store.get(Direct::local(local)) else {
                            continue;
                        };
                        let range = self.element_of(guard, value, collection, blame)?;
                        let Some(range) = range else { return Ok(None) };
                        if !matches!(collection.kind, ExprKind::Range { .. }) {
                            triggers.push(range);
                        }
                        inside.push(range);
                    }
                    self.terms.and(inside)
                }
            };
            guard = self.terms.and([guard, part]);
            if guard == Terms::FALSE {
                return Ok(None);
            }
        }
        Ok(Some(guard))
    }

    /// Makes the claim that a value is in a collection.
    fn element_of(
        &mut self,
        guard: Term,
        value: Term,
        collection: &Expr,
        blame: Blame,
    ) -> Result<Option<Term>, Stop> {
        self.under(guard, |chalice| {
            let range = chalice.range(collection, blame)?;
            Ok(is_in(&mut chalice.terms, value, &range))
        })
    }

    /// Learns that the elements of a sequence are objects, by their positions.
    ///
    /// COMPLETENESS: then it need not be known that they are elements.
    fn are_objects(&mut self, elements: &Expr, amount: Term, blame: Blame) -> Result<(), Stop> {
        let Range::Sequence(sequence) = self.range(elements, blame.trusted())? else {
            return Ok(());
        };
        let index = self.fresh_variable("i", Sort::INT);
        let (zero, length) = (self.terms.int(0), self.terms.seq_len(sequence));
        let inside = [self.terms.le(zero, index), self.terms.lt(index, length)];
        let held = self.terms.lt(Terms::NONE, amount);
        let active = self.terms.and(inside.into_iter().chain([held]));
        let element = self.terms.seq_at(sequence, index);
        let exists = self.terms.differs(element, Terms::NULL);
        let fact = self.terms.implies(active, exists);
        let name = quantified::label("receiver");
        let fact = self.terms.forall(&[index], vec![vec![element]], fact, name, 1);
        self.assume(fact)
    }
}

impl Threads<'_, '_> {
    /// Assumes about `rd*` of many locations what is assumed about one location.
    fn leave_some_of_each(&mut self, many: &Many) -> Result<(), Stop> {
        let left = self.here.left();
        let held = self.held_in(&left, many.resource, &many.arguments);
        let fact = self.leaves_fraction(many.amount, held)?;
        let fact = self.terms.implies(many.guard, fact);
        let triggers = self.access_triggers(many);
        let name = quantified::label("left");
        let fact = self.terms.forall(&many.variables, triggers, fact, name, 1);
        self.assume(fact)
    }

    /// Learns that held instances have receivers.
    fn have_receivers(&mut self, many: &Many) -> Result<(), Stop> {
        let held = self.terms.lt(Terms::NONE, many.amount);
        let active = self.terms.and([many.guard, held]);
        let exists = self.terms.differs(many.arguments[0], Terms::NULL);
        let fact = self.terms.implies(active, exists);
        let name = quantified::label("receiver");
        let fact = self.quantified_fact(&many.variables, &many.triggers, fact, name);
        self.assume(fact)?;
        self.mention_collections(&[fact])
    }

    /// Defines the values of the fields that are read below a quantifier, before it is entered.
    pub(super) fn summarise<'e>(
        &mut self,
        formulas: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<(), Stop> {
        let direct = self.direct;
        let mut fields = std::collections::BTreeSet::new();
        let mut heaps = vec![self.here.heap.clone()];
        for formula in formulas {
            formula.for_each(&mut |part| match &part.kind {
                ExprKind::FieldRead { field, .. } => {
                    fields.insert(Resource::Field(direct.field(*field)));
                }
                ExprKind::BackPointers { field, .. } => {
                    fields.insert(Resource::Field(direct.pointers(*field)));
                }
                ExprKind::Old(_) => heaps.extend(self.frame.past.old.clone()),
                _ => {}
            });
        }
        self.summaries_of(fields, &heaps)
    }
}
