//! Terms of another arena.

use super::{Quantifier as Quantified, Sort, SortKind, Symbol, Term, TermKind, Terms};
use rustc_hash::FxHashMap;

/// Progress of one import.
#[derive(Default)]
struct Renaming {
    terms: FxHashMap<Term, Term>,
}

impl Terms {
    /// Returns the same term of this arena. Symbols and sorts are the same if their declarations
    /// are. The term must have no fresh symbols of the other arena.
    pub fn import(&mut self, other: &Terms, term: Term) -> Term {
        let mut renaming = Renaming::default();
        self.import_with(other, term, &mut renaming)
    }

    fn import_with(&mut self, other: &Terms, term: Term, renaming: &mut Renaming) -> Term {
        if let Some(&known) = renaming.terms.get(&term) {
            return known;
        }
        let here = super::grow_stack(|| self.import_kind(other, term, renaming));
        renaming.terms.insert(term, here);
        here
    }

    fn import_kind(&mut self, other: &Terms, term: Term, renaming: &mut Renaming) -> Term {
        use TermKind::*;
        let kind = other.kind(term).clone();
        let sort = self.import_sort(other, other.sort(term));
        let mut go = |terms: &mut Terms, t: Term| terms.import_with(other, t, renaming);
        let kind = match kind {
            Bool(_) | Int(_) | Perm(_) | Null | Unit => kind,
            Apply(symbol, args) => {
                let args = args.iter().map(|&arg| go(self, arg)).collect();
                Apply(self.import_symbol(other, symbol), args)
            }
            Pair(a, b) => Pair(go(self, a), go(self, b)),
            First(a) => First(go(self, a)),
            Second(a) => Second(go(self, a)),
            Wrap(a) => Wrap(go(self, a)),
            Unwrap(a, sort) => Unwrap(go(self, a), self.import_sort(other, sort)),
            IsWrapped(a, sort) => IsWrapped(go(self, a), self.import_sort(other, sort)),
            IsPair(a) => IsPair(go(self, a)),
            Not(a) => Not(go(self, a)),
            And(args) => And(args.iter().map(|&arg| go(self, arg)).collect()),
            Or(args) => Or(args.iter().map(|&arg| go(self, arg)).collect()),
            Implies(a, b) => Implies(go(self, a), go(self, b)),
            Ite(c, a, b) => Ite(go(self, c), go(self, a), go(self, b)),
            Eq(a, b) => Eq(go(self, a), go(self, b)),
            Distinct(args) => Distinct(args.iter().map(|&arg| go(self, arg)).collect()),
            Add(a, b) => Add(go(self, a), go(self, b)),
            Sub(a, b) => Sub(go(self, a), go(self, b)),
            Mul(a, b) => Mul(go(self, a), go(self, b)),
            Lt(a, b) => Lt(go(self, a), go(self, b)),
            Le(a, b) => Le(go(self, a), go(self, b)),
            IntDiv(a, b) => IntDiv(go(self, a), go(self, b)),
            IntMod(a, b) => IntMod(go(self, a), go(self, b)),
            PermDiv(a, b) => PermDiv(go(self, a), go(self, b)),
            PermMin(a, b) => PermMin(go(self, a), go(self, b)),
            IntToPerm(a) => IntToPerm(go(self, a)),
            Theory(op, args, result) => {
                let args = args.iter().map(|&arg| go(self, arg)).collect();
                Theory(op, args, self.import_sort(other, result))
            }
            TermKind::Quantifier(inner) => {
                let triggers = inner
                    .triggers
                    .iter()
                    .map(|trigger| trigger.iter().map(|&term| go(self, term)).collect())
                    .collect();
                let body = go(self, inner.body);
                let variables = inner
                    .variables
                    .iter()
                    .map(|&variable| self.import_symbol(other, variable))
                    .collect();
                return self.intern_quantifier(Quantified {
                    quant: inner.quant,
                    variables,
                    triggers,
                    body,
                    weight: inner.weight,
                    label: inner.label.clone(),
                });
            }
        };
        self.intern(kind, sort)
    }

    fn import_symbol(&mut self, other: &Terms, symbol: Symbol) -> Symbol {
        let mut declaration = other.declaration(symbol).clone();
        declaration.args =
            declaration.args.iter().map(|&sort| self.import_sort(other, sort)).collect();
        declaration.result = self.import_sort(other, declaration.result);
        self.declare(declaration)
    }

    fn import_sort(&mut self, other: &Terms, sort: Sort) -> Sort {
        let kind = match other.sort_kind(sort).clone() {
            SortKind::Seq(element) => SortKind::Seq(self.import_sort(other, element)),
            SortKind::Set(element) => SortKind::Set(self.import_sort(other, element)),
            SortKind::Multiset(element) => SortKind::Multiset(self.import_sort(other, element)),
            SortKind::Map(key, value) => {
                SortKind::Map(self.import_sort(other, key), self.import_sort(other, value))
            }
            SortKind::User { name, args } => {
                let args = args.iter().map(|&arg| self.import_sort(other, arg)).collect();
                SortKind::User { name, args }
            }
            kind @ (SortKind::Bool
            | SortKind::Int
            | SortKind::Perm
            | SortKind::Ref
            | SortKind::Snap
            | SortKind::Backend(_)) => kind,
        };
        self.make_sort(kind)
    }

    /// Returns the conjuncts of a conjunction; any other formula is its only conjunct.
    pub fn conjuncts(&self, formula: Term) -> Vec<Term> {
        let mut conjuncts = Vec::new();
        let mut pending = vec![formula];
        while let Some(formula) = pending.pop() {
            match self.kind(formula) {
                TermKind::And(operands) => pending.extend(operands.iter().rev()),
                _ => conjuncts.push(formula),
            }
        }
        conjuncts
    }
}
