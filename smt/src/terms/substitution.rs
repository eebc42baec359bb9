//! Substitution, and the search for subterms.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Quantifier, Symbol, Term, TermKind, Terms, grow_stack};

/// The replacements of terms, all made at once.
pub type Substitution = FxHashMap<Term, Term>;

/// One traversal: its results so far, and bounds that spare parts of it.
struct Pass<'a> {
    map: &'a Substitution,
    /// The oldest replaced term. An older term cannot contain a replaced one.
    oldest: Term,
    /// Tells whether only open terms are replaced; then closed ones stay.
    open_only: bool,
    rebuild: Rebuild,
    done: FxHashMap<Term, Term>,
}

/// The way in which changed operands are put together again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rebuild {
    /// By the simplifying constructors.
    Simplify,
    /// Without simplification: renaming leaves nothing new to simplify.
    Same,
}

impl Pass<'_> {
    /// Replaces in post-order, without recursion but for quantifiers that need care.
    fn run(mut self, terms: &mut Terms, root: Term) -> Term {
        let mut pending = vec![(root, false)];
        while let Some((term, operands_done)) = pending.pop() {
            if self.replaced(terms, term).is_some() {
                continue;
            }
            let result = if operands_done {
                self.rebuild(terms, term)
            } else if let Some(quantifier) = self.needs_care(terms, term) {
                self.replace_under(terms, quantifier)
            } else {
                pending.push((term, true));
                terms.kind(term).for_each_operand(|operand| pending.push((operand, false)));
                continue;
            };
            self.done.insert(term, result);
        }
        self.replaced(terms, root).expect("the root is done")
    }

    /// Returns the replacement of a term, if it is known.
    fn replaced(&self, terms: &Terms, term: Term) -> Option<Term> {
        if term < self.oldest || (self.open_only && !terms.is_open(term)) {
            return Some(term);
        }
        self.map.get(&term).or_else(|| self.done.get(&term)).copied()
    }

    /// Returns the quantifier, if one of its variables is replaced or occurs in a value.
    fn needs_care(&self, terms: &Terms, term: Term) -> Option<Quantifier> {
        let TermKind::Quantifier(quantifier) = terms.kind(term) else { return None };
        let bound = |symbol: &Symbol| quantifier.variables.contains(symbol);
        let variables = quantifier.variables.iter();
        let shadows = variables
            .filter_map(|&symbol| terms.find(&TermKind::Apply(symbol, Box::default())))
            .any(|variable| self.map.contains_key(&variable));
        let captures = self
            .map
            .values()
            .any(|&value| terms.is_open(value) && terms.free_variables(value).iter().any(bound));
        (shadows || captures).then(|| quantifier.as_ref().clone())
    }

    /// Makes the quantifier again, with new variables in place of its own.
    fn replace_under(&self, terms: &mut Terms, quantifier: Quantifier) -> Term {
        let mut map = self.map.clone();
        let mut variables = Vec::with_capacity(quantifier.variables.len());
        for &symbol in &quantifier.variables {
            let sort = terms.declaration(symbol).result;
            let renamed = terms.fresh_variable("x", sort);
            let variable = terms.apply(symbol, &[]);
            map.insert(variable, renamed);
            variables.push(renamed);
        }
        let (triggers, body) = grow_stack(|| {
            let triggers = quantifier
                .triggers
                .iter()
                .map(|set| set.iter().map(|&t| terms.replace(t, &map, self.rebuild)).collect())
                .collect();
            (triggers, terms.replace(quantifier.body, &map, self.rebuild))
        });
        let Quantifier { quant, label, weight, .. } = quantifier;
        terms.quantify(quant, &variables, triggers, body, label, weight)
    }

    /// Returns the term with its operands replaced. All of them are done.
    fn rebuild(&self, terms: &mut Terms, term: Term) -> Term {
        let mut changed = false;
        let kind = terms.kind(term).map_operands(|operand| {
            let replaced = self.replaced(terms, operand).expect("operands come first");
            changed |= replaced != operand;
            replaced
        });
        if changed { terms.construct(kind, self.rebuild) } else { term }
    }
}

impl Terms {
    /// Replaces every occurrence of a key by its value, and simplifies. A bound variable is renamed
    /// where it would capture a value.
    pub fn substitute(&mut self, term: Term, map: &Substitution) -> Term {
        self.replace(term, map, Rebuild::Simplify)
    }

    /// Replaces terms by variables. The rest of the term keeps its form.
    pub fn rename(&mut self, term: Term, map: &Substitution) -> Term {
        self.replace(term, map, Rebuild::Same)
    }

    fn replace(&mut self, term: Term, map: &Substitution, rebuild: Rebuild) -> Term {
        let Some(oldest) = map.keys().copied().min() else { return term };
        let open_only = map.keys().all(|&key| self.is_open(key));
        Pass { map, oldest, open_only, rebuild, done: FxHashMap::default() }.run(self, term)
    }

    /// Replaces symbols by others that take `prefix` before their arguments, also under
    /// quantifiers.
    pub fn extend_applications(
        &mut self,
        root: Term,
        symbols: &FxHashMap<Symbol, Symbol>,
        prefix: &[Term],
    ) -> Term {
        let mut done: FxHashMap<Term, Term> = FxHashMap::default();
        let mut pending = vec![(root, false)];
        while let Some((term, operands_done)) = pending.pop() {
            if done.contains_key(&term) {
                continue;
            }
            if !operands_done {
                pending.push((term, true));
                self.kind(term).for_each_operand(|operand| pending.push((operand, false)));
                continue;
            }
            let mut kind = self.kind(term).map_operands(|operand| done[&operand]);
            if let TermKind::Apply(symbol, args) = &kind
                && let Some(&extended) = symbols.get(symbol)
            {
                let args = prefix.iter().chain(args).copied().collect();
                kind = TermKind::Apply(extended, args);
            }
            let result = self.construct(kind, Rebuild::Same);
            done.insert(term, result);
        }
        done[&root]
    }

    /// Makes a term of a form, by the constructor for that form.
    fn construct(&mut self, kind: TermKind, rebuild: Rebuild) -> Term {
        use TermKind::*;
        match kind {
            Bool(value) => self.bool(value),
            Int(value) => self.int(value),
            Perm(value) => self.perm(value),
            Null => Self::NULL,
            Unit => self.unit(),
            Apply(symbol, args) => self.apply(symbol, &args),
            Pair(a, b) => self.pair(a, b),
            First(a) => self.fst(a),
            Second(a) => self.snd(a),
            IsPair(a) => self.is_pair(a),
            Wrap(a) => self.snap_wrap(a),
            Unwrap(a, sort) => self.snap_unwrap(a, sort),
            IsWrapped(a, sort) => self.is_wrapped(a, sort),
            Not(a) => self.not(a),
            And(operands) => self.and(operands),
            Or(operands) => self.or(operands),
            Implies(a, b) => self.implies(a, b),
            Ite(c, a, b) => self.ite(c, a, b),
            Eq(a, b) => self.identical(a, b),
            Distinct(operands) => self.distinct(&operands),
            Add(a, b) => self.add(a, b),
            Sub(a, b) => self.sub(a, b),
            Mul(a, b) => self.mul(a, b),
            Lt(a, b) => self.lt(a, b),
            Le(a, b) => self.le(a, b),
            IntDiv(a, b) => self.int_div(a, b),
            IntMod(a, b) => self.int_mod(a, b),
            PermDiv(a, b) => self.perm_div(a, b),
            PermMin(a, b) => self.perm_min(a, b),
            IntToPerm(a) => self.int_to_perm(a),
            Theory(op, args, sort) if rebuild == Rebuild::Simplify => self.theory(op, &args, sort),
            Theory(op, args, sort) => self.theory_term(op, &args, sort),
            Quantifier(quantifier) if rebuild == Rebuild::Simplify => {
                self.quantify_again(*quantifier)
            }
            Quantifier(quantifier) => self.intern_quantifier(*quantifier),
        }
    }

    /// Makes a quantifier whose body has changed, by the constructor that simplifies.
    fn quantify_again(&mut self, quantifier: Quantifier) -> Term {
        let variables: Vec<Term> =
            quantifier.variables.iter().map(|&symbol| self.apply(symbol, &[])).collect();
        let triggers = quantifier.triggers.iter().map(|trigger| trigger.to_vec()).collect();
        let Quantifier { quant, body, label, weight, .. } = quantifier;
        self.quantify(quant, &variables, triggers, body, label, weight)
    }

    /// Visits terms and their subterms, each once, the last root first. `enter` tells whether to
    /// visit the operands of a term.
    pub fn visit(&self, roots: Vec<Term>, mut enter: impl FnMut(Term) -> bool) {
        let mut visited = FxHashSet::default();
        let mut pending = roots;
        while let Some(term) = pending.pop() {
            if visited.insert(term) && enter(term) {
                self.kind(term).for_each_operand(|operand| pending.push(operand));
            }
        }
    }

    /// Tells whether `is_sought` holds of a term or one of its subterms.
    pub fn some_subterm(&self, term: Term, mut is_sought: impl FnMut(Term) -> bool) -> bool {
        let mut found = false;
        self.visit(vec![term], |term| {
            found = found || is_sought(term);
            !found
        });
        found
    }

    /// Tells whether `part` occurs in `term` or is `term`.
    pub fn contains(&self, term: Term, part: Term) -> bool {
        let mut found = false;
        self.visit(vec![term], |term| {
            found |= term == part;
            // Operands come before the terms that have them.
            !found && term > part
        });
        found
    }

    /// Tells whether one of the variables occurs free in the term.
    pub fn mentions(&self, term: Term, variables: &[Term]) -> bool {
        if !self.is_open(term) || variables.is_empty() {
            return false;
        }
        let free = self.free_variables(term);
        variables.iter().any(|&variable| free.contains(&self.variable_symbol(variable)))
    }
}
