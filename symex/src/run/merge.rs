//! Merging of states where ways meet.
//!
//! Two states that differ in the taken side of a condition c become one. Values are `c ? v1 : v2`,
//! a chunk of only one side gets the amount `c ? p : none`, and facts learnt on one side are `c ⇒
//! fact`. The literals of its decisions identify a way.
//!
//! SOUNDNESS
//! - A fact leaves its way only under the literals that led to it (trap T6). Definitions are the
//!   exception: equations of a new symbol with a term, which some value of the symbol meets on
//!   every way.
//! - Execution that reaches the meeting point has come along one of the ways: the disjunction of
//!   their literals is assumed (trap T7). A way that returned, or jumped elsewhere, is none of
//!   them. No execution takes a contradictory way.
//! - A value counts only where the amount of its chunk is positive (trap T2). The amount `c ? p1 :
//!   p2` is positive only where that of the taken side is.
//! - Chunks are paired one to one (trap T13).
//! - The state of a label that only one side has passed can be read where it is certain that this
//!   side was taken (trap T12).
//! - At most one alternative without a literal goes on to where ways meet: the others are
//!   obligations only.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;
use sil::program::LabelId;
use smt::terms::{Sort, Substitution, Term, TermKind, Terms};

use crate::options::Join;
use crate::run::explore::End;
use crate::state::heap::{Chunk, Heap, Resource};
use crate::state::quantified::QuantifiedChunk;
use crate::state::{AssertionReading, Frame, Here, Labelled, Package, Past, State, Store};
use crate::{Configuration, Path, Stop, Symbols};

/// The most ways through one assertion whose conditionals are not merged.
const WAYS: u64 = 8;

/// The end of a way: a state, and a value that was computed on the way.
pub type Reached<'p> = (State<'p>, Term);

/// A fact, and the literals of the way on which it was learnt, as a conjunction.
pub type Guarded = (Term, Term);

/// Corresponding values of the two sides: of one variable, or of one location.
type Counterparts = IndexSet<(Term, Term), FxBuildHasher>;

impl Symbols<'_> {
    /// Tells whether to merge the conditionals of an assertion with this many ways through it, in
    /// contracts of functions and in predicates. In methods, the driver decides.
    pub fn merges_ways(&self, ways: u64) -> bool {
        match self.setting.join {
            Join::Always => true,
            Join::Never => false,
            Join::Auto => ways > WAYS,
        }
    }

    fn merge_labels(
        &mut self,
        condition: Term,
        left: Rc<BTreeMap<LabelId, Labelled>>,
        right: Rc<BTreeMap<LabelId, Labelled>>,
        counterparts: &mut Counterparts,
    ) -> Rc<BTreeMap<LabelId, Labelled>> {
        if Rc::ptr_eq(&left, &right) {
            return left;
        }
        let mut labels = BTreeMap::new();
        for (&label, state) in left.iter() {
            let merged = match right.get(&label) {
                Some(other) => Labelled {
                    heap: merge_heaps(
                        &mut self.terms,
                        condition,
                        &state.heap,
                        &other.heap,
                        counterparts,
                    ),
                    reached: self.terms.ite(condition, state.reached, other.reached),
                },
                None => Labelled {
                    reached: self.terms.and([condition, state.reached]),
                    ..state.clone()
                },
            };
            labels.insert(label, merged);
        }
        let negation = self.terms.not(condition);
        for (&label, state) in right.iter() {
            labels.entry(label).or_insert_with(|| Labelled {
                reached: self.terms.and([negation, state.reached]),
                ..state.clone()
            });
        }
        Rc::new(labels)
    }
}

impl<'p> Path<'p> {
    /// Assumes the facts learnt on some ways, each under the literals on which it depends. Facts
    /// learnt on all ways hold without literals.
    pub(crate) fn assume_guarded(&mut self, facts: Vec<Guarded>) -> Result<(), Stop> {
        let mut guards: IndexMap<Term, Vec<Term>, FxBuildHasher> = IndexMap::default();
        for (guard, fact) in facts {
            guards.entry(fact).or_default().push(guard);
        }
        for (fact, guards) in guards {
            let guard = if self.made.defining.contains(&fact) {
                Terms::TRUE
            } else {
                self.terms.or(guards)
            };
            let fact = self.terms.implies(guard, fact);
            self.assume(fact)?;
        }
        Ok(())
    }

    /// Merges ways whose first `depth` literals are the same.
    fn merge_ways(
        &mut self,
        mut paths: Vec<End<Reached<'p>>>,
        mut depth: usize,
    ) -> Result<Reached<'p>, Stop> {
        loop {
            if paths.len() == 1 {
                return Ok(paths.pop().expect("there is one").value);
            }
            let Some(&literal) = paths[0].literals.get(depth) else {
                return Err(Stop::Broken("ways that nothing tells apart".to_owned()));
            };
            let (with, without): (Vec<_>, Vec<_>) =
                paths.into_iter().partition(|path| path.literals.get(depth) == Some(&literal));
            if without.is_empty() {
                paths = with;
                depth += 1;
                continue;
            }
            let left = smt::terms::grow_stack(|| self.merge_ways(with, depth + 1))?;
            let right = smt::terms::grow_stack(|| self.merge_ways(without, depth))?;
            return self.merge_two(literal, left, right);
        }
    }

    /// Merges two states: `left` where the condition holds, `right` elsewhere.
    fn merge_two(
        &mut self,
        condition: Term,
        (left, value): Reached<'p>,
        (right, other): Reached<'p>,
    ) -> Result<Reached<'p>, Stop> {
        let value = self.terms.ite(condition, value, other);
        let mut counterparts = Counterparts::default();
        let (frame, here) = (left.frame, left.here);
        let (other_frame, other_here) = (right.frame, right.here);
        if frame.thread != other_frame.thread
            || (&here.credits, &here.forks) != (&other_here.credits, &other_here.forks)
        {
            return Err(Stop::Broken("merging ways that know other things of threads".to_owned()));
        }
        let store = self.merge_stores(condition, &frame, &other_frame, &mut counterparts);
        let heap = merge_heaps(
            &mut self.terms,
            condition,
            &here.heap,
            &other_here.heap,
            &mut counterparts,
        );
        let consuming = match (&here.consuming, &other_here.consuming) {
            (Some(left), Some(right)) => {
                Some(merge_heaps(&mut self.terms, condition, left, right, &mut counterparts))
            }
            (None, None) => None,
            _ => return Err(Stop::Broken("merging inside and outside of a consume".to_owned())),
        };
        let (past, other_past) = (frame.past, other_frame.past);
        let labels =
            self.merge_labels(condition, past.labels, other_past.labels, &mut counterparts);
        for (value, other) in counterparts {
            self.learn_between(condition, value, other);
        }
        let still_open = frame.assertion.constrainable.iter().copied();
        let still_open =
            still_open.filter(|it| other_frame.assertion.constrainable.contains(it)).collect();
        let path = here.path.iter().zip(other_here.path.iter());
        let path = path.take_while(|(one, other)| one == other).map(|(&step, _)| step).collect();
        let is_shared =
            |one: &Rc<_>| other_past.forgot.as_ref().is_some_and(|other| Rc::ptr_eq(one, other));
        let forgot = past.forgot.filter(is_shared);
        let frame = Frame {
            store,
            past: Past { labels, forgot, ..past },
            assertion: AssertionReading { constrainable: Rc::new(still_open), ..frame.assertion },
            ..frame
        };
        let here = Here {
            heap,
            consuming,
            // Earlier decisions are common to both sides; later ones are over.
            path: Rc::new(path),
            // Equations of portions were learnt on one of the ways only.
            package: Package { agreed: Rc::default(), ..here.package },
            ..here
        };
        Ok((State { frame, here }, value))
    }

    /// Learns without the prover that a choice of two numbers lies between them, if their order is
    /// known.
    ///
    /// PERFORMANCE: a number that grows on some ways through each of many branches is a choice
    /// inside a choice. The prover would have to distinguish all of them.
    fn learn_between(&mut self, condition: Term, value: Term, other: Term) {
        let Symbols { terms, .. } = &mut self.symbols;
        if terms.sort(value) != Sort::INT || !self.run.is_live() {
            return;
        }
        let merged = terms.ite(condition, value, other);
        let in_order = terms.le(value, other);
        let facts = &mut self.knowledge.facts;
        let (least, most) = match facts.known(terms, in_order) {
            Some(true) => (value, other),
            Some(false) => (other, value),
            None => return,
        };
        let bounds = [terms.le(least, merged), terms.le(merged, most)];
        for bound in bounds {
            facts.assume(terms, bound);
        }
    }

    fn merge_stores(
        &mut self,
        condition: Term,
        left: &Frame<'p>,
        right: &Frame<'p>,
        counterparts: &mut Counterparts,
    ) -> Store {
        let mut store = left.store.clone();
        if store.is_same(&right.store) {
            return store;
        }
        for (local, declaration) in left.locals.iter() {
            let (value, other) = match (left.store.get(local), right.store.get(local)) {
                (None, None) => continue,
                (Some(value), Some(other)) => (value, other),
                // An unassigned variable may have any value.
                (one, two) => {
                    let sort = self.sort(&declaration.ty);
                    let unknown = self.fresh(&declaration.name, sort);
                    (one.unwrap_or(unknown), two.unwrap_or(unknown))
                }
            };
            if value != other {
                counterparts.insert((value, other));
                let merged = self.terms.ite(condition, value, other);
                store.set(local, merged);
            }
        }
        store
    }
}

impl<'p> Configuration<'p> {
    /// Goes on from the ends of all ways, with the facts learnt on them. Returns the value reached.
    pub fn merge_paths(
        &mut self,
        paths: Vec<End<Reached<'p>>>,
        facts: Vec<Guarded>,
    ) -> Result<Term, Stop> {
        let taken: Vec<Term> =
            paths.iter().map(|path| self.terms.and(path.literals.iter().copied())).collect();
        let [only] = taken[..] else {
            self.assume_guarded(facts)?;
            let one_of_them = self.terms.or(taken);
            self.assume(one_of_them)?;
            if paths.is_empty() {
                return Err(Stop::Infeasible);
            }
            if self.run.is_live() {
                self.log.count_merge();
            }
            let (state, value) = self.merge_ways(paths, 0)?;
            self.set_state(state);
            return Ok(value);
        };
        // One way is left: it is the path, and its facts hold.
        self.assume(only)?;
        for (guard, fact) in facts {
            let mut others = self.terms.conjuncts(guard);
            others.retain(|literal| !self.terms.conjuncts(only).contains(literal));
            let guard = self.terms.and(others);
            let fact = self.terms.implies(guard, fact);
            self.assume(fact)?;
        }
        let (state, value) = paths.into_iter().next().expect("there is one").value;
        self.set_state(state);
        Ok(value)
    }

    /// Simplifies the state where a condition has been decided: values merged under the condition
    /// become those of one side again. So permission held under a condition is found at once where
    /// the condition is known.
    pub fn settle(&mut self, condition: Term, holds: bool) {
        if self.setting.join == Join::Never || self.terms.as_bool(condition).is_some() {
            return;
        }
        let decided = decided(&mut self.terms, condition, holds);
        for (local, _) in self.frame.locals.iter() {
            if let Some(value) = self.frame.store.get(local) {
                let settled = settled(&mut self.terms, value, &decided);
                if settled != value {
                    self.frame.store.set(local, settled);
                }
            }
        }
        let heap = self.here.heap.clone();
        self.here.heap = settled_heap(&mut self.terms, &heap, &decided);
        if let Some(left) = self.here.consuming.take() {
            self.here.consuming = Some(if left.same_version(&heap) {
                self.here.heap.clone()
            } else {
                settled_heap(&mut self.terms, &left, &decided)
            });
        }
    }
}

fn merge_pair(terms: &mut Terms, condition: Term, left: &Chunk, right: &Chunk) -> Chunk {
    let arguments = left.arguments.iter().zip(&right.arguments);
    Chunk {
        arguments: arguments.map(|(&a, &b)| terms.ite(condition, a, b)).collect(),
        value: terms.ite(condition, left.value, right.value),
        amount: terms.ite(condition, left.amount, right.amount),
    }
}

fn merge_quantified(
    terms: &mut Terms,
    condition: Term,
    left: &[QuantifiedChunk],
    right: &[QuantifiedChunk],
) -> Vec<QuantifiedChunk> {
    let mut free = vec![true; right.len()];
    let mut merged = Vec::with_capacity(left.len().max(right.len()));
    for chunk in left {
        let equal = (0..right.len()).find(|&other| free[other] && right[other] == *chunk);
        // The chunks with the same values and another amount are the rest of one chunk on the two
        // sides.
        let found = equal.or_else(|| {
            (0..right.len()).find(|&other| {
                free[other]
                    && right[other].map == chunk.map
                    && right[other].triggers == chunk.triggers
            })
        });
        let amount = match found {
            Some(other) => {
                free[other] = false;
                terms.ite(condition, chunk.amount, right[other].amount)
            }
            None => terms.only_if(condition, chunk.amount),
        };
        merged.push(QuantifiedChunk { amount, ..chunk.clone() });
    }
    let negation = terms.not(condition);
    for (chunk, _) in right.iter().zip(&free).filter(|(_, free)| **free) {
        let amount = terms.only_if(negation, chunk.amount);
        merged.push(QuantifiedChunk { amount, ..chunk.clone() });
    }
    merged
}

/// Decides choices by decided formulas, at the top only. Terms inside others stay the terms that
/// facts are about.
fn settled(terms: &mut Terms, mut term: Term, decided: &Substitution) -> Term {
    while let TermKind::Ite(condition, then, otherwise) = *terms.kind(term) {
        let now = terms.substitute(condition, decided);
        term = match terms.as_bool(now) {
            Some(true) => then,
            Some(false) => otherwise,
            None if now != condition => return terms.ite(now, then, otherwise),
            None => return term,
        };
    }
    term
}

/// Merges the chunks of one resource: in pairs if they are about one location or about
/// counterparts, and alone, under the condition of their side, otherwise.
fn merge_chunks(
    terms: &mut Terms,
    condition: Term,
    resource: Resource,
    left: &[Chunk],
    right: &[Chunk],
    counterparts: &mut Counterparts,
) -> Vec<Chunk> {
    let mut partner = vec![None; left.len()];
    let mut free = vec![true; right.len()];
    let wand = matches!(resource, Resource::Wand(_));
    for (index, chunk) in left.iter().enumerate() {
        let found = (0..right.len()).find(|&other| {
            free[other]
                && if wand {
                    right[other] == *chunk
                } else {
                    right[other].arguments == chunk.arguments
                }
        });
        if let Some(other) = found {
            partner[index] = Some(other);
            free[other] = false;
            if chunk.value != right[other].value {
                counterparts.insert((chunk.value, right[other].value));
            }
        }
    }
    // A location found by one pair may lead to the next.
    let mut changed = !wand;
    while changed {
        changed = false;
        for (index, chunk) in left.iter().enumerate() {
            if partner[index].is_some() {
                continue;
            }
            let found = (0..right.len()).find(|&other| {
                free[other]
                    && chunk.amount == right[other].amount
                    && chunk
                        .arguments
                        .iter()
                        .zip(&right[other].arguments)
                        .all(|(&a, &b)| a == b || counterparts.contains(&(a, b)))
            });
            if let Some(other) = found {
                partner[index] = Some(other);
                free[other] = false;
                counterparts.insert((chunk.value, right[other].value));
                changed = true;
            }
        }
    }
    let mut merged = Vec::with_capacity(left.len().max(right.len()));
    for (chunk, partner) in left.iter().zip(&partner) {
        merged.push(match partner {
            Some(other) => merge_pair(terms, condition, chunk, &right[*other]),
            None => Chunk { amount: terms.only_if(condition, chunk.amount), ..chunk.clone() },
        });
    }
    let negation = terms.not(condition);
    for (chunk, _) in right.iter().zip(&free).filter(|(_, free)| **free) {
        let amount = terms.only_if(negation, chunk.amount);
        merged.push(Chunk { amount, ..chunk.clone() });
    }
    merged
}

/// Returns the formulas that a condition decides: itself, and its parts if it is a conjunction that
/// holds or a disjunction that does not.
fn decided(terms: &mut Terms, condition: Term, holds: bool) -> Substitution {
    let mut decided = Substitution::default();
    let mut pending = vec![(condition, holds)];
    while let Some((formula, holds)) = pending.pop() {
        match terms.kind(formula) {
            TermKind::Not(inner) => pending.push((*inner, !holds)),
            TermKind::And(parts) if holds => {
                pending.extend(parts.iter().map(|&part| (part, true)));
            }
            TermKind::Or(parts) if !holds => {
                pending.extend(parts.iter().map(|&part| (part, false)));
            }
            _ => {}
        }
        let value = terms.bool(holds);
        let opposite = terms.bool(!holds);
        let negation = terms.not(formula);
        decided.insert(formula, value);
        decided.insert(negation, opposite);
    }
    decided
}

/// Tells whether a term of a chunk is a choice, which [`settled`] may decide.
fn has_choice(terms: &Terms, Chunk { arguments, value, amount }: &Chunk) -> bool {
    let mut all = arguments.iter().chain([value, amount]);
    all.any(|&term| matches!(terms.kind(term), TermKind::Ite(..)))
}

fn settled_heap(terms: &mut Terms, heap: &Heap, decided: &Substitution) -> Heap {
    let mut result = heap.clone();
    for (resource, chunks) in heap.resources() {
        // PERFORMANCE: most chunks have no choices, and copies of long lists take time.
        if !chunks.iter().any(|chunk| has_choice(terms, chunk)) {
            continue;
        }
        let mut changed = false;
        let mut kept = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let arguments = chunk.arguments.iter();
            let now = Chunk {
                arguments: arguments.map(|&it| settled(terms, it, decided)).collect(),
                value: settled(terms, chunk.value, decided),
                amount: settled(terms, chunk.amount, decided),
            };
            changed |= now != *chunk;
            if now.amount == Terms::NONE && chunk.amount != Terms::NONE {
                continue;
            }
            kept.push(now);
        }
        if changed {
            result.set(resource, kept);
        }
    }
    for (resource, chunks) in heap.quantified_resources() {
        let mut kept = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let amount = settled(terms, chunk.amount, decided);
            if amount != Terms::NONE || chunk.amount == Terms::NONE {
                kept.push(QuantifiedChunk { amount, ..chunk.clone() });
            }
        }
        if kept != chunks {
            result.set_quantified(resource, kept);
        }
    }
    result
}

fn merge_heaps(
    terms: &mut Terms,
    condition: Term,
    left: &Heap,
    right: &Heap,
    counterparts: &mut Counterparts,
) -> Heap {
    if left.same_version(right) {
        return left.clone();
    }
    let mut merged = Heap::for_parts_of(left, right);
    // In either case, no location has changed its value since then.
    merged.epoch = match (left.epoch, right.epoch) {
        (Some(left), Some(right)) => Some(terms.ite(condition, left, right)),
        _ => None,
    };
    let mut resources: Vec<Resource> = left.resources().map(|(resource, _)| resource).collect();
    resources.extend(right.resources().map(|(resource, _)| resource));
    resources.sort_unstable();
    resources.dedup();
    // Fields come first, since their values tell which instances of predicates correspond.
    for resource in resources {
        if merged.shares(resource, left, right) {
            continue;
        }
        let chunks = merge_chunks(
            terms,
            condition,
            resource,
            left.of(resource),
            right.of(resource),
            counterparts,
        );
        merged.set(resource, chunks);
    }
    let mut resources: Vec<Resource> =
        left.quantified_resources().map(|(resource, _)| resource).collect();
    resources.extend(right.quantified_resources().map(|(resource, _)| resource));
    resources.sort_unstable();
    resources.dedup();
    for resource in resources {
        let chunks = merge_quantified(
            terms,
            condition,
            left.quantified(resource),
            right.quantified(resource),
        );
        merged.set_quantified(resource, chunks);
    }
    merged
}
