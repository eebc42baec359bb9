//! Terms and their known equality: congruence closure that can be undone.
//!
//! Every atom is a term of the graph. An atom that holds equals `true`, and one that does not
//! equals `false`. So a truth spreads to atoms whose operands are equal. Connectives have no place
//! in the graph: [`Graph::truth`] reads them from their parts.
//!
//! Invariants
//! - Two terms of the graph with equal operands and the same form are in one class.
//! - [`Graph::undo_to`] undoes the changes since a [`Graph::mark`]. Unions take no shortcuts, so
//!   that undoing a union is undoing the last change.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::terms::{
    Sort, Symbol, Term, TermKind, Terms, TheoryOp, all_hold, grow_stack, some_holds,
};

/// The operator at the top of a term, for the search of terms that a trigger may match.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Head {
    Apply(Symbol),
    Theory(TheoryOp),
    Other(std::mem::Discriminant<TermKind>),
}

impl Head {
    pub(super) fn of(terms: &Terms, term: Term) -> Head {
        match terms.kind(term) {
            TermKind::Apply(symbol, _) => Head::Apply(*symbol),
            TermKind::Theory(op, ..) => Head::Theory(*op),
            other => Head::Other(std::mem::discriminant(other)),
        }
    }
}

/// A term of the graph.
#[derive(Debug)]
struct Node {
    /// The term of another class that this one has been merged into; itself for a representative.
    parent: Term,
    /// The next term of the class, in a ring.
    next: Term,
    size: u32,
    /// The terms that have a member of the class as an operand; kept with the representative.
    uses: Vec<Term>,
    /// A member that differs from those of other classes: see [`Terms::is_unique`].
    unique: Option<Term>,
}

/// A change that can be undone.
#[derive(Debug)]
enum Undo {
    Node(Term),
    /// An operand of a new term has one use less.
    Use(Term),
    Form(TermKind),
    Union {
        root: Term,
        child: Term,
        uses: usize,
        unique: Option<Term>,
    },
    Head(Head),
    Conflict,
}

/// The terms that have been entered, in classes.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: FxHashMap<Term, Node>,
    /// Forms with representatives as operands, and a term of that form.
    forms: FxHashMap<TermKind, Term>,
    heads: FxHashMap<Head, Vec<Term>>,
    pending: Vec<(Term, Term)>,
    conflict: bool,
    /// The representatives of classes that have grown.
    grown: Vec<Term>,
    trail: Vec<Undo>,
    /// The answers of [`Graph::find_form`] about terms outside the graph, until something changes.
    found: RefCell<FxHashMap<Term, Term>>,
}

impl Graph {
    /// Returns a mark for [`Graph::undo_to`].
    pub(super) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Undoes the changes since the mark.
    pub(super) fn undo_to(&mut self, mark: usize) {
        self.pending.clear();
        self.grown.clear();
        self.found.get_mut().clear();
        for change in self.trail.drain(mark..).rev() {
            match change {
                Undo::Node(term) => {
                    self.nodes.remove(&term);
                }
                Undo::Use(root) => {
                    self.nodes.get_mut(&root).and_then(|node| node.uses.pop());
                }
                Undo::Form(form) => {
                    self.forms.remove(&form);
                }
                Undo::Union { root, child, uses, unique } => {
                    let ring = self.nodes[&root].next;
                    let node = self.nodes.get_mut(&child).expect("it was merged");
                    let (next, size) = (node.next, node.size);
                    node.parent = child;
                    node.next = ring;
                    let node = self.nodes.get_mut(&root).expect("it was merged");
                    node.next = next;
                    node.size -= size;
                    node.uses.truncate(uses);
                    node.unique = unique;
                }
                Undo::Head(head) => {
                    self.heads.get_mut(&head).and_then(Vec::pop);
                }
                Undo::Conflict => self.conflict = false,
            }
        }
    }

    /// Tells whether a contradiction among the known facts was seen.
    pub(super) fn is_contradictory(&self) -> bool {
        self.conflict
    }

    pub(super) fn contradict(&mut self) {
        if !self.conflict {
            self.conflict = true;
            self.trail.push(Undo::Conflict);
        }
    }

    /// Tells whether [`Graph::take_grown`] has something to return.
    pub(super) fn has_grown(&self) -> bool {
        !self.grown.is_empty()
    }

    /// Takes the representatives of the classes that have grown since the last call.
    pub(super) fn take_grown(&mut self) -> FxHashSet<Term> {
        let grown = std::mem::take(&mut self.grown);
        grown.into_iter().map(|term| self.find(term)).collect()
    }

    pub(super) fn contains(&self, term: Term) -> bool {
        self.nodes.contains_key(&term)
    }

    /// Returns the representative of a term of the graph, and any other term itself.
    pub(super) fn find(&self, mut term: Term) -> Term {
        while let Some(node) = self.nodes.get(&term) {
            if node.parent == term {
                return term;
            }
            term = node.parent;
        }
        term
    }

    /// Returns the representative of a term that need not be in the graph. A term of the graph with
    /// the same form counts.
    pub(super) fn find_form(&self, terms: &Terms, term: Term) -> Term {
        if self.contains(term) {
            return self.find(term);
        }
        let mut is_leaf = true;
        terms.kind(term).for_each_operand(|_| is_leaf = false);
        if is_leaf || matches!(terms.kind(term), TermKind::Quantifier(_)) {
            return term;
        }
        if let Some(&known) = self.found.borrow().get(&term) {
            return known;
        }
        let form =
            terms.kind(term).map_operands(|operand| grow_stack(|| self.find_form(terms, operand)));
        let found = self.forms.get(&ordered(form)).map_or(term, |&known| self.find(known));
        self.found.borrow_mut().insert(term, found);
        found
    }

    /// Tells whether a term of the graph equals the given term by its form.
    pub(super) fn has_form(&self, terms: &Terms, term: Term) -> bool {
        self.contains(self.find_form(terms, term))
    }

    /// Returns the terms of the class of a term.
    pub(super) fn members(&self, term: Term) -> impl Iterator<Item = Term> + '_ {
        let mut next = Some(term);
        std::iter::from_fn(move || {
            let this = next?;
            let following = self.nodes.get(&this).map_or(term, |node| node.next);
            next = (following != term).then_some(following);
            Some(this)
        })
    }

    pub(super) fn class_size(&self, term: Term) -> usize {
        self.nodes.get(&self.find(term)).map_or(1, |node| node.size as usize)
    }

    /// Returns the terms that have a term of the class as an operand.
    pub(super) fn uses(&self, term: Term) -> &[Term] {
        self.nodes.get(&self.find(term)).map_or(&[], |node| &node.uses)
    }

    /// Returns the unique term that a term is known to equal.
    pub(super) fn unique(&self, term: Term) -> Option<Term> {
        self.nodes.get(&self.find(term))?.unique
    }

    /// Returns the terms with a head.
    pub(super) fn with_head(&self, head: Head) -> &[Term] {
        self.heads.get(&head).map_or(&[], Vec::as_slice)
    }

    /// Enters a term, which is no connective, and its operands.
    pub(super) fn enter(&mut self, terms: &Terms, term: Term) {
        let mut pending = vec![(term, false)];
        while let Some((term, is_ready)) = pending.pop() {
            if self.contains(term) {
                continue;
            }
            let kind = terms.kind(term);
            let is_opaque = matches!(kind, TermKind::Quantifier(_));
            if !is_ready && !is_opaque {
                pending.push((term, true));
                kind.for_each_operand(|operand| pending.push((operand, false)));
                continue;
            }
            let unique = terms.is_unique(term).then_some(term);
            let node = Node { parent: term, next: term, size: 1, uses: Vec::new(), unique };
            self.nodes.insert(term, node);
            self.found.get_mut().clear();
            self.trail.push(Undo::Node(term));
            let head = Head::of(terms, term);
            self.heads.entry(head).or_default().push(term);
            self.trail.push(Undo::Head(head));
            if !is_opaque {
                let mut operands = kind.operands();
                operands.iter_mut().for_each(|operand| *operand = self.find(*operand));
                operands.sort_unstable();
                operands.dedup();
                for &root in &operands {
                    self.nodes.get_mut(&root).expect("operands are entered first").uses.push(term);
                    self.trail.push(Undo::Use(root));
                }
                if !operands.is_empty() {
                    self.enter_form(terms, term);
                }
            }
        }
        self.close(terms);
    }

    /// Looks for a term with the same form, by the present classes of the operands.
    fn enter_form(&mut self, terms: &Terms, term: Term) {
        let form = ordered(terms.kind(term).map_operands(|operand| self.find(operand)));
        if let Some((left, right)) = equated(terms, term) {
            let (left, right) = (self.find(left), self.find(right));
            if left == right {
                self.pending.push((term, Terms::TRUE));
            } else if self.are_different(left, right) {
                self.pending.push((term, Terms::FALSE));
            }
        }
        match self.forms.get(&form) {
            Some(&known) => self.pending.push((term, known)),
            None => {
                self.forms.insert(form.clone(), term);
                self.trail.push(Undo::Form(form));
            }
        }
    }

    /// Tells whether two representatives are known to equal different unique terms.
    fn are_different(&self, a: Term, b: Term) -> bool {
        match (self.unique(a), self.unique(b)) {
            (Some(a), Some(b)) => a != b,
            _ => false,
        }
    }

    /// Makes two terms equal.
    pub(super) fn merge(&mut self, terms: &Terms, left: Term, right: Term) {
        self.enter(terms, left);
        self.enter(terms, right);
        self.pending.push((left, right));
        self.close(terms);
    }

    /// Merges the pending pairs, and the terms that are congruent because of them.
    fn close(&mut self, terms: &Terms) {
        while let Some((left, right)) = self.pending.pop() {
            for truth in [Terms::TRUE, Terms::FALSE] {
                if (left == truth || right == truth) && !self.contains(truth) {
                    let node = Node {
                        parent: truth,
                        next: truth,
                        size: 1,
                        uses: Vec::new(),
                        unique: Some(truth),
                    };
                    self.nodes.insert(truth, node);
                    self.trail.push(Undo::Node(truth));
                }
            }
            let (left, right) = (self.find(left), self.find(right));
            if left == right {
                continue;
            }
            if self.are_different(left, right) {
                self.contradict();
                self.pending.clear();
                return;
            }
            self.unite(terms, left, right);
        }
    }

    fn unite(&mut self, terms: &Terms, left: Term, right: Term) {
        let weight = |term: Term| {
            let node = &self.nodes[&term];
            (node.uses.len(), node.size)
        };
        let (child, root) =
            if weight(left) <= weight(right) { (left, right) } else { (right, left) };
        // Equations that come to hold make their operands equal.
        for side in [left, right] {
            let other = if side == left { right } else { left };
            if self.unique(side).is_none() && self.unique(other) == Some(Terms::TRUE) {
                let members: Vec<Term> = self.members(side).collect();
                for member in members {
                    self.pending.extend(equated(terms, member));
                }
            }
        }
        let node = self.nodes.get_mut(&child).expect("a representative");
        node.parent = root;
        let (next, size, unique) = (node.next, node.size, node.unique);
        let uses = node.uses.clone();
        let node = self.nodes.get_mut(&root).expect("a representative");
        self.trail.push(Undo::Union { root, child, uses: node.uses.len(), unique: node.unique });
        let ring = std::mem::replace(&mut node.next, next);
        node.size += size;
        node.unique = node.unique.or(unique);
        let has_new_unique = unique.is_some();
        node.uses.extend(uses.iter().copied());
        self.nodes.get_mut(&child).expect("a representative").next = ring;
        self.grown.push(root);
        self.found.get_mut().clear();
        // An equation of the root may be decided by the unique term that it has now.
        let of_root = if has_new_unique {
            let node = &self.nodes[&root];
            node.uses[..node.uses.len() - uses.len()].to_vec()
        } else {
            Vec::new()
        };
        for term in uses.into_iter().chain(of_root) {
            self.enter_form(terms, term);
        }
    }

    /// Returns the truth of a formula, as far as it is known.
    pub(super) fn truth(&self, terms: &Terms, formula: Term) -> Option<bool> {
        let truth = |&part: &Term| grow_stack(|| self.truth(terms, part));
        match terms.kind(formula) {
            TermKind::Bool(value) => Some(*value),
            &TermKind::Not(inner) => grow_stack(|| self.truth(terms, inner)).map(|truth| !truth),
            TermKind::And(parts) => all_hold(parts.iter().map(truth)),
            TermKind::Or(parts) => some_holds(parts.iter().map(truth)),
            &TermKind::Implies(guard, body) => {
                grow_stack(|| match (self.truth(terms, guard), self.truth(terms, body)) {
                    (Some(false), _) | (_, Some(true)) => Some(true),
                    (Some(true), body) => body,
                    _ => None,
                })
            }
            &TermKind::Eq(left, right) if terms.sort(left) == Sort::BOOL => {
                grow_stack(|| match (self.truth(terms, left), self.truth(terms, right)) {
                    (Some(left), Some(right)) => Some(left == right),
                    _ => (self.find_form(terms, left) == self.find_form(terms, right))
                        .then_some(true),
                })
            }
            &TermKind::Ite(condition, then, otherwise) => {
                grow_stack(|| match self.truth(terms, condition) {
                    Some(true) => self.truth(terms, then),
                    Some(false) => self.truth(terms, otherwise),
                    None => None,
                })
            }
            _ => self.truth_of_atom(terms, formula),
        }
    }

    fn truth_of_atom(&self, terms: &Terms, atom: Term) -> Option<bool> {
        if let Some(unique) = self.unique(self.find_form(terms, atom)) {
            return terms.as_bool(unique);
        }
        if let &TermKind::Eq(left, right) = terms.kind(atom) {
            let (left, right) = (self.find_form(terms, left), self.find_form(terms, right));
            if left == right {
                return Some(true);
            }
            if self.are_different(left, right) {
                return Some(false);
            }
        }
        None
    }
}

/// Returns the operands of an equation.
fn equated(terms: &Terms, formula: Term) -> Option<(Term, Term)> {
    use TheoryOp::{MapEqual, MultisetEqual, SeqEqual, SetEqual};
    match terms.kind(formula) {
        &TermKind::Eq(left, right) => Some((left, right)),
        TermKind::Theory(SetEqual | SeqEqual | MultisetEqual | MapEqual, operands, _) => {
            Some((operands[0], operands[1]))
        }
        _ => None,
    }
}

/// Puts the operands of an equation in order.
fn ordered(form: TermKind) -> TermKind {
    match form {
        TermKind::Eq(a, b) => TermKind::Eq(a.min(b), a.max(b)),
        other => other,
    }
}

/// A set that can be put back to an earlier state.
#[derive(Debug)]
pub(super) struct Marked<T> {
    set: FxHashSet<T>,
    order: Vec<T>,
}

impl<T> Default for Marked<T> {
    fn default() -> Self {
        Marked { set: FxHashSet::default(), order: Vec::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Marked<T> {
    /// Inserts an element, and tells whether it is new.
    pub(super) fn insert(&mut self, element: T) -> bool {
        let is_new = self.set.insert(element.clone());
        if is_new {
            self.order.push(element);
        }
        is_new
    }

    pub(super) fn contains(&self, element: &T) -> bool {
        self.set.contains(element)
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns an element by its place in the order of insertion.
    pub(super) fn get(&self, index: usize) -> T {
        self.order[index].clone()
    }

    pub(super) fn truncate(&mut self, len: usize) {
        for element in self.order.drain(len..) {
            self.set.remove(&element);
        }
    }
}
