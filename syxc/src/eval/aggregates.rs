//! `sum` and `max` over collections.
//!
//! Aggregates of written-out collections, and of ranges between two small numbers, are written out
//! as well. A sum over a set or a range is that of a valuation, which gives each element, or each
//! number of the range, the value of the body. A sequence counts as the range of its positions. The
//! axioms are theorems about finite sums.
//!
//! SOUNDNESS: each evaluation has a valuation of its own, and for every body some valuation agrees
//! with it. With all functions to integers as valuations, and finite sums as sums, each axiom below
//! holds.
//!
//! DIVERGENCE: the maximum of no numbers is unknown.

use chalice::program::walk::{any_expr, written_out};
use chalice::program::{Domain, Expr, ExprKind, LocalId, Quantifier, Type};
use smt::terms::{Sort, Symbol, Term, Terms};

use super::quantifiers::Range;
use super::unknown;
use crate::{Chalice, Direct, span};
use symex::Stop;
use symex::findings::blame::{Blame, ErrorId};

/// The collections over which a program has sums.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    /// Ranges and sequences.
    ranges: bool,
    /// Sets, by the types of their elements.
    sets: Vec<Type>,
}

impl Sums {
    pub(crate) fn of(tree: &chalice::Program) -> Self {
        let mut sums = Self::default();
        any_expr(tree, &mut |expr| {
            if let ExprKind::Quantified { quantifier: Quantifier::Sum, domain, .. } = &expr.kind
                && let Domain::Collection(collection) = domain
            {
                match &collection.ty {
                    Type::Set(element) if !sums.sets.contains(element) => {
                        sums.sets.push((**element).clone());
                    }
                    Type::Set(_) => {}
                    _ => sums.ranges = true,
                }
            }
            false
        });
        sums
    }
}

/// The symbols of sums. Valuations give numbers to elements of a sort.
struct Symbols {
    valuation: Sort,
    /// The number that a valuation gives an element.
    value: Symbol,
    /// The sum over a set, or over a range.
    sum: Symbol,
    /// The same as `sum`, over a range, but no axiom unrolls it.
    limited: Symbol,
}

/// An aggregate, and its blame.
#[derive(Clone, Copy)]
struct Aggregate<'e> {
    expr: &'e Expr,
    variable: LocalId,
    collection: &'e Expr,
    body: &'e Expr,
    blame: Blame,
}

impl Chalice<'_, '_> {
    /// Evaluates `sum x in c :: e` or `max x in c :: e`.
    pub(super) fn aggregate(&mut self, expr: &Expr, blame: Blame) -> Result<Term, Stop> {
        let ExprKind::Quantified { quantifier, variables, domain, body } = &expr.kind else {
            return unknown(expr);
        };
        let (&[variable], Domain::Collection(collection)) = (&variables[..], domain) else {
            return unknown(expr);
        };
        let aggregate = Aggregate { expr, variable, collection, body, blame };
        match quantifier {
            Quantifier::Sum => self.sum(aggregate),
            Quantifier::Max => self.maximum(aggregate),
            Quantifier::Forall | Quantifier::Exists => unknown(expr),
        }
    }

    fn sum(&mut self, aggregate: Aggregate<'_>) -> Result<Term, Stop> {
        let Aggregate { variable, collection, body, blame, .. } = aggregate;
        if let Some(elements) = written_out(collection) {
            let values = self.of_elements(variable, &elements, body, blame)?;
            return Ok(self.terms.sum(Sort::INT, values));
        }
        let range = self.united(collection, blame)?;
        let element = match range {
            Range::Set(_) => self.element_sort(collection)?,
            Range::Numbers(..) | Range::Sequence(_) => Sort::INT,
        };
        let symbols = self.symbols_of_sums(element, matches!(range, Range::Set(_)));
        let choices = self.for_choices(&[variable], Some(&range), body, blame, |chalice| {
            chalice.read_all(aggregate)
        })?;
        let values = self.fresh("values", symbols.valuation);
        let given = self.terms.apply(symbols.value, &[values, choices.bound[0]]);
        if let Some(value) = choices.value {
            let agrees = self.terms.eq(given, value);
            let agrees = self.terms.implies(choices.guard, agrees);
            let name = format!("direct.sum@{}", body.span.start);
            self.learn_of_choices(&choices, agrees, &name)?;
            let triggers = vec![vec![given]];
            let all = self.terms.forall(&choices.bound, triggers, agrees, &*name, 0);
            self.assume(all)?;
        }
        let operands = match range {
            Range::Set(set) => vec![set, values],
            Range::Numbers(from, to) => vec![from, to, values],
            Range::Sequence(elements) => {
                vec![self.terms.int(0), self.terms.seq_len(elements), values]
            }
        };
        Ok(self.terms.apply(symbols.sum, &operands))
    }

    /// Makes a number that no element exceeds, and that some element has.
    fn maximum(&mut self, aggregate: Aggregate<'_>) -> Result<Term, Stop> {
        let Aggregate { variable, collection, body, blame, .. } = aggregate;
        if let Some(elements) = written_out(collection)
            && !elements.is_empty()
        {
            let values = self.of_elements(variable, &elements, body, blame)?;
            let greater = |greatest, value| {
                let is_less = self.terms.lt(greatest, value);
                self.terms.ite(is_less, value, greatest)
            };
            return Ok(values.into_iter().reduce(greater).expect("there is one"));
        }
        let range = self.range(collection, blame)?;
        let choices = self.for_choices(&[variable], Some(&range), body, blame, |chalice| {
            chalice.read_all(aggregate)
        })?;
        let greatest = self.fresh("max", Sort::INT);
        let Some(value) = choices.value else { return Ok(greatest) };
        let no_more = self.terms.le(value, greatest);
        let no_more = self.terms.implies(choices.guard, no_more);
        let name = format!("direct.max@{}", body.span.start);
        let (triggers, _) = self.learn_of_choices(&choices, no_more, &name)?;
        let all = self.terms.forall(&choices.bound, triggers.clone(), no_more, &*name, 0);
        self.assume(all)?;
        let as_much = self.terms.eq(value, greatest);
        let as_much = self.terms.and([choices.guard, as_much]);
        let some = self.terms.exists(&choices.bound, triggers, as_much, &*name, 0);
        let zero = self.terms.int(0);
        let has_any = match range {
            Range::Numbers(from, to) => self.terms.lt(from, to),
            Range::Sequence(elements) => {
                let length = self.terms.seq_len(elements);
                self.terms.lt(zero, length)
            }
            Range::Set(set) => {
                let size = self.terms.set_card(set);
                self.terms.lt(zero, size)
            }
        };
        let reached = self.terms.implies(has_any, some);
        self.assume(reached)?;
        Ok(greatest)
    }

    /// Returns the values of a body for some elements, one after the other.
    fn of_elements(
        &mut self,
        variable: LocalId,
        elements: &[Expr],
        body: &Expr,
        blame: Blame,
    ) -> Result<Vec<Term>, Stop> {
        let at_start = self.state();
        let mut values = Vec::with_capacity(elements.len());
        for element in elements {
            let element = self.eval(element, blame)?;
            self.frame.store.set(Direct::local(variable), element);
            values.push(self.eval(body, blame)?);
        }
        self.set_state(at_start);
        Ok(values)
    }

    /// Reads the fields of the elements. An aggregate needs permission to them for all elements, as
    /// a function needs its precondition.
    fn read_all(&mut self, aggregate: Aggregate<'_>) -> Result<(), Stop> {
        let Aggregate { expr, variable, body, blame, .. } = aggregate;
        let is_it = |e: &Expr| matches!(e.kind, ExprKind::Local(local) if local == variable);
        let mut reads = Vec::new();
        body.for_each(&mut |part| {
            if let ExprKind::FieldRead { receiver, .. } = &part.kind
                && is_it(receiver)
            {
                reads.push(part);
            }
        });
        let error = ErrorId::ApplicationPrecondition;
        let blame = Blame { error, span: span(expr.span), ..blame };
        reads.into_iter().try_for_each(|read| self.eval(read, blame).map(drop))
    }

    /// Returns the range of a sum. A written-out set becomes the union of its singletons, since an
    /// axiom of sums adds one element.
    fn united(&mut self, collection: &Expr, blame: Blame) -> Result<Range, Stop> {
        let ExprKind::Set(elements) = &collection.kind else {
            return self.range(collection, blame);
        };
        let element = self.element_sort(collection)?;
        let mut set = self.terms.set_empty(element);
        for element in elements {
            let value = self.eval(element, blame)?;
            let one = self.terms.set_singleton(value);
            set = self.terms.set_union(set, one);
        }
        Ok(Range::Set(set))
    }

    fn element_sort(&mut self, collection: &Expr) -> Result<Sort, Stop> {
        match collection.ty.element() {
            Some(element) => Ok(self.threads.sort(element)),
            None => unknown(collection),
        }
    }

    fn symbols_of_sums(&mut self, element: Sort, over_sets: bool) -> Symbols {
        let terms = &mut self.terms;
        let name = terms.sort_name(element);
        let valuation = terms.user_sort("direct.valuation", &[element]);
        let over = if over_sets {
            vec![terms.set_sort(element), valuation]
        } else {
            vec![Sort::INT, Sort::INT, valuation]
        };
        let kind = if over_sets { "set" } else { "range" };
        let mut declare = |word: &str, operands: &[Sort]| {
            terms.declare_function(&format!("direct.{word}[{name}]"), operands, Sort::INT)
        };
        Symbols {
            valuation,
            value: declare("value", &[valuation, element]),
            sum: declare(&format!("sum.{kind}"), &over),
            limited: declare(&format!("sum.{kind}.limited"), &over),
        }
    }

    /// Assumes the axioms of the sums that the program has.
    pub(crate) fn sums(&mut self) -> Result<(), Stop> {
        let sums = &self.direct.sums;
        if sums.ranges {
            let symbols = self.symbols_of_sums(Sort::INT, false);
            self.sums_over_ranges(&symbols)?;
        }
        for element in &sums.sets {
            let element = self.threads.sort(element);
            let symbols = self.symbols_of_sums(element, true);
            self.sums_over_sets(element, &symbols)?;
        }
        Ok(())
    }

    /// Assumes the axioms of sums over ranges: a sum is that of all numbers but the last, and the
    /// value of the last one.
    fn sums_over_ranges(&mut self, symbols: &Symbols) -> Result<(), Stop> {
        let [a, b] = ["a", "b"].map(|name| self.fresh_variable(name, Sort::INT));
        let [v, w] = ["v", "w"].map(|name| self.fresh_variable(name, symbols.valuation));
        let x = self.fresh_variable("x", Sort::INT);
        let terms = &mut self.terms;
        let whole = terms.apply(symbols.sum, &[a, b, v]);
        let limited = terms.apply(symbols.limited, &[a, b, v]);
        let (zero, one) = (terms.int(0), terms.int(1));
        let last = terms.sub(b, one);
        let before = terms.apply(symbols.limited, &[a, last, v]);
        let of_last = terms.apply(symbols.value, &[v, last]);
        let (is_empty, has_last) = (terms.le(b, a), terms.lt(a, b));
        let (nothing, same) = (terms.eq(limited, zero), terms.eq(whole, limited));
        let sum = terms.add(before, of_last);
        let is_sum = terms.eq(whole, sum);
        let goes_on = terms.implies(has_last, is_sum);
        let step = terms.and([same, goes_on]);
        let step = terms.forall(&[a, b, v], vec![vec![whole]], step, "direct.sum.step", 0);
        let empty = terms.implies(is_empty, nothing);
        let empty = terms.forall(&[a, b, v], vec![vec![limited]], empty, "direct.sum.empty", 0);
        let (low, high) = (terms.le(a, x), terms.lt(x, b));
        let inside = terms.and([low, high]);
        let other = terms.apply(symbols.limited, &[a, b, w]);
        let (left, right) =
            (terms.apply(symbols.value, &[v, x]), terms.apply(symbols.value, &[w, x]));
        let same = same_sum(terms, (limited, other), (left, right), (x, inside));
        let triggers = vec![vec![limited, other]];
        let same = terms.forall(&[a, b, v, w], triggers, same, "direct.sum.same", 0);
        [step, empty, same].into_iter().try_for_each(|axiom| self.assume(axiom))
    }

    fn sums_over_sets(&mut self, element: Sort, symbols: &Symbols) -> Result<(), Stop> {
        let sort = self.terms.set_sort(element);
        let s = self.fresh_variable("s", sort);
        let x = self.fresh_variable("x", element);
        let [v, w] = ["v", "w"].map(|name| self.fresh_variable(name, symbols.valuation));
        let terms = &mut self.terms;
        let sum = |terms: &mut Terms, set, values| terms.apply(symbols.sum, &[set, values]);
        let (zero, whole, of_x) =
            (terms.int(0), sum(terms, s, v), terms.apply(symbols.value, &[v, x]));
        let (inside, single) = (terms.set_contains(x, s), terms.set_singleton(x));
        let mut axioms = Vec::new();
        // The sum is zero, or not negative, unless the value of some element is not.
        let compared: [fn(&mut Terms, Term, Term) -> Term; 2] = [Terms::eq, Terms::ge];
        for (compare, name) in compared.into_iter().zip(["direct.sum.zeros", "direct.sum.naturals"])
        {
            let fine = compare(terms, of_x, zero);
            let other = terms.not(fine);
            let other = terms.and([inside, other]);
            let some = terms.exists(&[x], vec![vec![inside]], other, name, 0);
            let of_all = compare(terms, whole, zero);
            let either = terms.or([of_all, some]);
            axioms.push(terms.forall(&[s, v], vec![vec![whole]], either, name, 0));
        }
        let alone = sum(terms, single, v);
        let of_one = terms.eq(alone, of_x);
        axioms.push(terms.forall(&[x, v], vec![vec![alone]], of_one, "direct.sum.one", 0));
        let added = terms.ite(inside, zero, of_x);
        let expected = terms.add(whole, added);
        for larger in [terms.set_union(s, single), terms.set_union(single, s)] {
            let more = sum(terms, larger, v);
            let claim = terms.eq(more, expected);
            axioms.push(terms.forall(&[s, x, v], vec![vec![more]], claim, "direct.sum.more", 0));
        }
        let smaller = terms.set_difference(s, single);
        let less = sum(terms, smaller, v);
        let removed = terms.ite(inside, of_x, zero);
        let expected = terms.sub(whole, removed);
        let claim = terms.eq(less, expected);
        // The valuation of the smaller set says nothing about the element that it lacks; that of
        // the larger set does.
        let triggers = vec![vec![less], vec![smaller, whole]];
        axioms.push(terms.forall(&[s, x, v], triggers, claim, "direct.sum.less", 0));
        let (other, of_other) = (sum(terms, s, w), terms.apply(symbols.value, &[w, x]));
        let same = same_sum(terms, (whole, other), (of_x, of_other), (x, inside));
        let triggers = vec![vec![whole, other]];
        axioms.push(terms.forall(&[s, v, w], triggers, same, "direct.sum.same", 0));
        axioms.into_iter().try_for_each(|axiom| self.assume(axiom))
    }
}

/// Makes the claim that two valuations have the same sum, or differ at some element of the
/// collection.
fn same_sum(
    terms: &mut Terms,
    (one, other): (Term, Term),
    (left, right): (Term, Term),
    (element, inside): (Term, Term),
) -> Term {
    let differ = terms.differs(left, right);
    let differ = terms.and([inside, differ]);
    let triggers = vec![vec![left], vec![right]];
    let some = terms.exists(&[element], triggers, differ, "direct.sum.differ", 0);
    let same = terms.eq(one, other);
    terms.or([same, some])
}
