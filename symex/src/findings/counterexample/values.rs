//! Values in a solver's model: the questions, and the form of the answers.

use std::iter;

use num_rational::BigRational;
use rustc_hash::FxHashMap;
use sil::program::Program;
use smt::terms::{Sort, SortKind, Symbol, Term, TermKind, Terms};

use super::Held;
use crate::findings::names as author;
use crate::report::{HeapPlace, Location, Share, Value, Variable};
use crate::state::heap::Resource;

/// The number of elements of a sequence that are shown.
const SHOWN: i64 = 6;

/// The number of values that are looked for in a set or map.
const CANDIDATES: usize = 12;

/// The depth of nested constructors that is shown.
const NESTED: usize = 4;

/// The largest collection that counts as small. Small ones are preferred.
const SMALL: i64 = 3;

/// The number of sets, multisets and maps for which elements without another name are sought.
const NAMED: usize = 6;

/// Values to be asked for.
#[derive(Default)]
pub(super) struct Wanted {
    pub(super) terms: Vec<Term>,
    collections: FxHashMap<Term, Collection>,
    adts: FxHashMap<Term, Adt>,
    adts_met: Adts,
    memberships: Memberships,
    /// Formulas that make the values easier to read where they hold.
    wishes: Vec<Term>,
    /// Facts about the sizes of collections, which the solver may not have come to.
    facts: Vec<Term>,
}

/// The constructors of the adts that the path speaks about, by their sorts.
pub(crate) type Adts = FxHashMap<Sort, Constructors>;

/// The facts that domains tell of their values.
pub(crate) struct Encoded {
    pub(crate) adts: Adts,
    pub(crate) memberships: Memberships,
    /// Constants, by their author's names.
    pub(crate) constants: Vec<(String, Term)>,
}

/// The questions about a collection.
enum Collection {
    /// The length and the first elements.
    Sequence(Term, Vec<Term>),
    /// The size, and the other values that may be inside.
    Other(Term, Vec<Content>),
    /// The values that may be inside of a set of a front end. Others may be, too.
    Open(Vec<Content>),
}

/// The sets of a front end: for each of their sorts that of the elements, and membership.
pub(crate) type Memberships = FxHashMap<Sort, (Sort, Symbol)>;

/// A possible element of a set or multiset, or key of a map.
#[derive(Clone, Copy)]
struct Content {
    element: Term,
    is_in: Term,
    /// The map's value at that key, or the number of occurrences in the multiset.
    value: Option<Term>,
}

/// An adt at a sort: the function from values to tags, and the constructors in the order of the
/// tags.
#[derive(Clone)]
pub(crate) struct Constructors {
    pub(crate) tag: Symbol,
    pub(crate) constructors: Vec<Constructor>,
}

/// A constructor by its author's name, and the functions to its arguments.
#[derive(Clone)]
pub(crate) struct Constructor {
    pub(crate) name: String,
    pub(crate) destructors: Vec<Symbol>,
}

/// The questions about a value of an adt: its tag, and the arguments of each constructor.
struct Adt {
    tag: Term,
    arguments: Vec<Vec<Term>>,
}

impl Wanted {
    /// Makes an empty list. Values of these adts are to be shown by their constructors, and these
    /// sets by their elements.
    pub(super) fn new(adts_met: Adts, memberships: Memberships) -> Self {
        Self { adts_met, memberships, ..Self::default() }
    }

    pub(super) fn add(&mut self, terms: &mut Terms, term: Term) {
        self.add_nested(terms, term, NESTED);
    }

    fn add_nested(&mut self, terms: &mut Terms, term: Term, depth: usize) {
        if self.terms.contains(&term) {
            return;
        }
        self.terms.push(term);
        let sort = terms.sort(term);
        if let SortKind::Seq(_) = terms.sort_kind(sort) {
            let length = terms.seq_len(term);
            let elements: Vec<Term> = (0..SHOWN)
                .map(|index| {
                    let index = terms.int(index);
                    terms.seq_at(term, index)
                })
                .collect();
            self.terms.push(length);
            for &element in &elements {
                self.add_nested(terms, element, depth.saturating_sub(1));
            }
            self.collections.insert(term, Collection::Sequence(length, elements));
        }
        if depth > 0
            && let Some(Constructors { tag, constructors }) = self.adts_met.get(&sort).cloned()
        {
            let tag = terms.apply(tag, &[term]);
            self.terms.push(tag);
            let arguments = constructors.iter().map(|constructor| {
                let of = |&destructor: &Symbol| terms.apply(destructor, &[term]);
                constructor.destructors.iter().map(of).collect()
            });
            let arguments: Vec<Vec<Term>> = arguments.collect();
            for &argument in arguments.iter().flatten() {
                self.add_nested(terms, argument, depth - 1);
            }
            self.adts.insert(term, Adt { tag, arguments });
        }
    }

    /// Asks which of the other values are in sets, multisets and maps. Comes last.
    pub(super) fn add_contents(&mut self, terms: &mut Terms) {
        let mut collections: Vec<(Term, Sort, Vec<Term>)> = Vec::new();
        for &collection in &self.terms.clone() {
            let sort = terms.sort(collection);
            let (&SortKind::Set(element)
            | &SortKind::Multiset(element)
            | &SortKind::Map(element, _)) = terms.sort_kind(sort)
            else {
                continue;
            };
            let number = collections.len();
            let members = if number < NAMED {
                self.members(terms, collection, element, number)
            } else {
                Vec::new()
            };
            collections.push((collection, element, members));
        }
        // An element that is named for one collection may be in another one, too.
        let known = self.terms.clone();
        for (collection, element, members) in collections {
            let mut others = known.iter().filter(|&&term| terms.sort(term) == element);
            let mut candidates = members;
            while candidates.len() < CANDIDATES
                && let Some(&other) = others.next()
            {
                if !candidates.contains(&other) {
                    candidates.push(other);
                }
            }
            let contents: Vec<Content> =
                candidates.iter().map(|&element| content(terms, collection, element)).collect();
            let size = size_of(terms, collection);
            self.facts.push(has_room(terms, size, &contents));
            for content in &contents {
                self.terms.extend([content.is_in].into_iter().chain(content.value));
            }
            self.terms.push(size);
            self.collections.insert(collection, Collection::Other(size, contents));
        }
        for &set in &known {
            let Some(&(element, is_in)) = self.memberships.get(&terms.sort(set)) else { continue };
            let candidates = known.iter().filter(|&&term| terms.sort(term) == element);
            let candidates: Vec<Term> = candidates.copied().take(CANDIDATES).collect();
            let content = |element: Term| {
                let is_in = terms.apply(is_in, &[element, set]);
                Content { element, is_in, value: None }
            };
            let contents: Vec<Content> = candidates.into_iter().map(content).collect();
            self.terms.extend(contents.iter().map(|content| content.is_in));
            self.collections.insert(set, Collection::Open(contents));
        }
    }

    /// Makes names for the elements of a collection, and the wish that they are its elements.
    fn members(
        &mut self,
        terms: &mut Terms,
        collection: Term,
        element: Sort,
        number: usize,
    ) -> Vec<Term> {
        let size = size_of(terms, collection);
        let mut members: Vec<Term> = Vec::new();
        for index in 0..SMALL {
            // No fresh symbol: later questions must be the same as without this one.
            let name = format!("member%{number}%{index}%{}", terms.sort_name(element));
            let member = terms.constant(&name, element);
            self.add(terms, member);
            let others = members.iter().map(|&other| {
                let same = terms.identical(member, other);
                terms.not(same)
            });
            let mut wish: Vec<Term> = others.collect();
            wish.push(content(terms, collection, member).is_in);
            let wish = terms.and(wish);
            let least = terms.int(index + 1);
            let has_so_many = terms.le(least, size);
            self.wishes.push(terms.implies(has_so_many, wish));
            members.push(member);
        }
        members
    }

    /// Returns the facts about the values that hold in every state.
    pub(super) fn facts(&self, terms: &mut Terms) -> Term {
        terms.and(self.facts.clone())
    }

    /// Makes the wish that collections are small, and have the elements named for them, and that
    /// integers are between `-most` and `most`.
    pub(super) fn is_small(&self, terms: &mut Terms, most: Option<i64>) -> Term {
        let mut small = self.wishes.clone();
        for collection in self.terms.iter().filter_map(|term| self.collections.get(term)) {
            let (Collection::Sequence(size, _) | Collection::Other(size, _)) = *collection else {
                continue;
            };
            let most = terms.int(SMALL);
            small.push(terms.le(size, most));
        }
        if let Some(most) = most {
            let (least, most) = (terms.int(-most), terms.int(most));
            for &value in &self.terms {
                if terms.sort(value) == Sort::INT {
                    small.extend([terms.le(least, value), terms.le(value, most)]);
                }
            }
        }
        terms.and(small)
    }
}

fn size_of(terms: &mut Terms, collection: Term) -> Term {
    let sort = terms.sort(collection);
    match *terms.sort_kind(sort) {
        SortKind::Set(_) => terms.set_card(collection),
        SortKind::Multiset(_) => terms.multiset_card(collection),
        _ => terms.map_card(collection),
    }
}

/// Makes the fact that a collection has at least as many elements as are told of it.
fn has_room(terms: &mut Terms, size: Term, contents: &[Content]) -> Term {
    let (none, one) = (terms.int(0), terms.int(1));
    let mut counted = Vec::with_capacity(contents.len());
    for (number, content) in contents.iter().enumerate() {
        let mut is_new = vec![content.is_in];
        for earlier in &contents[..number] {
            let same = terms.identical(earlier.element, content.element);
            is_new.push(terms.not(same));
        }
        let is_new = terms.and(is_new);
        counted.push(terms.ite(is_new, one, none));
    }
    let counted = terms.sum(Sort::INT, counted);
    terms.le(counted, size)
}

/// Makes the questions about a possible element of a collection.
fn content(terms: &mut Terms, collection: Term, element: Term) -> Content {
    let sort = terms.sort(collection);
    let (is_in, value) = match *terms.sort_kind(sort) {
        SortKind::Set(_) => (terms.set_contains(element, collection), None),
        SortKind::Multiset(_) => {
            let count = terms.multiset_count(element, collection);
            let one = terms.int(1);
            (terms.le(one, count), Some(count))
        }
        _ => {
            let value = terms.map_lookup(collection, element);
            (terms.map_contains(element, collection), Some(value))
        }
    };
    Content { element, is_in, value }
}

/// The names for values. Those of the solver mean nothing to a reader.
pub(super) struct Names<'a> {
    program: &'a Program,
    terms: &'a Terms,
    wanted: &'a Wanted,
    values: Vec<String>,
    null: String,
    references: Vec<String>,
    /// The constants of domains that have names, and their values.
    constants: Vec<(Sort, String, String)>,
    others: Vec<(Sort, String)>,
}

impl<'a> Names<'a> {
    /// Begins to name `values`, the values of the wanted terms, null first.
    pub(super) fn new(
        program: &'a Program,
        terms: &'a Terms,
        wanted: &'a Wanted,
        values: Vec<String>,
    ) -> Self {
        let null = values[0].clone();
        let (references, constants, others) = Default::default();
        Self { program, terms, wanted, values, null, references, constants, others }
    }

    /// Gives values the names of constants.
    pub(super) fn call(&mut self, constants: Vec<(String, Term)>) {
        for (name, constant) in constants {
            let value = self.raw(constant).to_owned();
            self.constants.push((self.terms.sort(constant), value, name));
        }
    }

    pub(super) fn variables(&mut self, variables: Vec<(String, Term)>) -> Vec<Variable> {
        let of = |(name, value)| Variable { name, value: self.of(value) };
        variables.into_iter().map(of).collect()
    }

    /// Returns locations as the author writes them, and tells whether these are all.
    pub(super) fn locations(&mut self, held: Vec<Held>, read: &[Term]) -> (Vec<Location>, bool) {
        let mut locations = Vec::new();
        let mut is_whole = true;
        for Held { resource, arguments, amount, value } in held {
            let share = self.share(amount, read);
            let amount = self.of(amount).to_string();
            if amount == "none" {
                continue;
            }
            let arguments: Vec<Value> = arguments.iter().map(|&term| self.of(term)).collect();
            let words: Vec<String> = arguments.iter().map(Value::to_string).collect();
            // Declarations of a front end mean nothing to the author.
            let Some(location) = author::location(self.program, resource, &words) else {
                is_whole = false;
                continue;
            };
            let place = match resource {
                Resource::Field(field) => {
                    let name = self.program.fields[field].name.to_string();
                    Some(HeapPlace::Field(arguments[0].clone(), name))
                }
                Resource::Predicate(predicate) => {
                    let predicate = &self.program.predicates[predicate];
                    author::called(self.program, &predicate.name, predicate.span)
                        .map(|name| HeapPlace::Instance(arguments, name))
                }
                Resource::Wand(_) => None,
            };
            let value = value.map(|value| self.of(value));
            let location = Location { location, amount, value, place, share };
            if !locations.contains(&location) {
                locations.push(location);
            }
        }
        (locations, is_whole)
    }

    /// Returns a share, as far as it does not depend on the choices of a front end.
    fn share(&self, amount: Term, read: &[Term]) -> Share {
        if read.contains(&amount) {
            return Share::Read;
        }
        let number = self.raw(amount).parse().ok().filter(|_| self.is_written(amount));
        number.map_or(Share::Open, Share::Number)
    }

    /// Tells whether an amount consists of numbers that the author has written, without chosen
    /// values.
    fn is_written(&self, amount: Term) -> bool {
        match *self.terms.kind(amount) {
            TermKind::Ite(_, then, otherwise) => {
                self.is_written(then) && self.is_written(otherwise)
            }
            TermKind::Add(left, right) => self.is_written(left) && self.is_written(right),
            _ => self.terms.as_perm(amount).is_some(),
        }
    }

    fn raw(&self, term: Term) -> &str {
        let index = self.wanted.terms.iter().position(|&wanted| wanted == term);
        index.map_or("?", |index| &self.values[index])
    }

    /// Returns the value of a term that was asked for.
    pub(super) fn of(&mut self, term: Term) -> Value {
        let wanted = self.wanted;
        match wanted.collections.get(&term) {
            Some(Collection::Sequence(length, elements)) => {
                let length = self.size(*length);
                let elements = elements.iter().take(length).map(|&term| self.of(term)).collect();
                return Value::Sequence { elements, length };
            }
            Some(Collection::Other(size, contents)) => {
                let size = self.size(*size);
                return self.contents(self.terms.sort(term), size, contents);
            }
            Some(Collection::Open(contents)) => {
                let inside = self.inside(contents).into_iter().map(|(element, _)| element);
                let mut words: Vec<String> = inside.map(|element| element.to_string()).collect();
                words.push("…".to_owned());
                return Value::Other(format!("{{{}}}", words.join(", ")));
            }
            None => {}
        }
        self.constructed(term).unwrap_or_else(|| self.plain(term))
    }

    fn plain(&mut self, term: Term) -> Value {
        let sort = self.terms.sort(term);
        let raw = self.raw(term).to_owned();
        match self.terms.sort_kind(sort) {
            SortKind::Bool => raw.parse().map_or(Value::Other(raw), Value::Bool),
            SortKind::Int => raw.parse().map_or(Value::Other(raw), Value::Int),
            SortKind::Backend(_) => Value::Other(raw),
            SortKind::Perm => Value::Other(match raw.parse::<BigRational>() {
                Ok(amount) => author::amount(self.program, amount),
                Err(_) => raw,
            }),
            SortKind::Ref if raw == self.null => Value::Null,
            SortKind::Ref => Value::Reference(number(&mut self.references, raw)),
            _ => {
                let is_it = |(of, value, _): &&(Sort, String, String)| (*of, value) == (sort, &raw);
                if let Some((.., name)) = self.constants.iter().find(is_it) {
                    return Value::Other(name.clone());
                }
                let own: Vec<String> = self
                    .others
                    .iter()
                    .filter(|(of, _)| *of == sort)
                    .map(|(_, raw)| raw.clone())
                    .collect();
                let index = own.iter().position(|known| *known == raw).unwrap_or_else(|| {
                    self.others.push((sort, raw));
                    own.len()
                });
                let kind = author::kind_of_value(self.program, &self.terms.sort_name(sort));
                Value::Opaque(kind, index + 1)
            }
        }
    }

    /// Returns the value of an adt, if the constructor is known.
    fn constructed(&mut self, term: Term) -> Option<Value> {
        let wanted = self.wanted;
        let Adt { tag, arguments } = wanted.adts.get(&term)?;
        let tag: usize = self.raw(*tag).parse().ok()?;
        let of_adt = wanted.adts_met.get(&self.terms.sort(term))?;
        let name = of_adt.constructors.get(tag)?.name.clone();
        let arguments = arguments[tag].iter().map(|&argument| self.of(argument)).collect();
        Some(Value::Constructed(name, arguments))
    }

    /// Returns the elements of a set or multiset, or the entries of a map, as far as they were
    /// asked for.
    fn contents(&mut self, sort: Sort, size: usize, contents: &[Content]) -> Value {
        let entries = self.inside(contents);
        let terms = self.terms;
        match terms.sort_kind(sort) {
            SortKind::Map(..) => {
                let entry = |(key, value): (Value, Option<Term>)| Some((key, self.of(value?)));
                Value::Map { entries: entries.into_iter().filter_map(entry).collect(), size }
            }
            SortKind::Multiset(_) => {
                let times = |(element, count): (Value, Option<Term>)| {
                    let count = count.map_or(0, |count| self.size(count));
                    iter::repeat_n(element, count.min(CANDIDATES))
                };
                let elements = entries.into_iter().flat_map(times).collect();
                Value::Multiset { elements, size }
            }
            _ => {
                let elements = entries.into_iter().map(|(element, _)| element).collect();
                Value::Set { elements, size }
            }
        }
    }

    /// Returns the elements or keys that are inside, each once.
    fn inside(&mut self, contents: &[Content]) -> Vec<(Value, Option<Term>)> {
        let is_in = |content: &&Content| self.raw(content.is_in) == "true";
        let inside: Vec<Content> = contents.iter().filter(is_in).copied().collect();
        let mut entries: Vec<(Value, Option<Term>)> = Vec::new();
        for Content { element, value, .. } in inside {
            let element = self.of(element);
            if entries.iter().all(|(known, _)| *known != element) {
                entries.push((element, value));
            }
        }
        entries
    }

    fn size(&self, size: Term) -> usize {
        self.raw(size).parse().unwrap_or(0)
    }
}

/// Returns the number of a value among those seen so far, from 1.
fn number(seen: &mut Vec<String>, value: String) -> usize {
    match seen.iter().position(|known| *known == value) {
        Some(index) => index + 1,
        None => {
            seen.push(value);
            seen.len()
        }
    }
}
