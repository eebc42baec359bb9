//! Terms of another arena.

use rustc_hash::FxHashMap;

use super::{Sort, SortKind, Symbol, Term, TermKind, Terms};

/// The terms imported so far, by the terms of the other arena.
type Imported = FxHashMap<Term, Term>;

impl Terms {
    /// Returns the same term of this arena. Symbols and sorts are the same if their declarations
    /// are. The term must have no fresh symbols of the other arena.
    pub fn import(&mut self, other: &Terms, term: Term) -> Term {
        self.import_with(other, term, &mut Imported::default())
    }

    fn import_with(&mut self, other: &Terms, term: Term, imported: &mut Imported) -> Term {
        if let Some(&known) = imported.get(&term) {
            return known;
        }
        let here = super::grow_stack(|| self.import_kind(other, term, imported));
        imported.insert(term, here);
        here
    }

    fn import_kind(&mut self, other: &Terms, term: Term, imported: &mut Imported) -> Term {
        let sort = self.import_sort(other, other.sort(term));
        let mut kind =
            other.kind(term).map_operands(|operand| self.import_with(other, operand, imported));
        match &mut kind {
            TermKind::Apply(symbol, _) => *symbol = self.import_symbol(other, *symbol),
            TermKind::Unwrap(_, sort)
            | TermKind::IsWrapped(_, sort)
            | TermKind::Theory(_, _, sort) => *sort = self.import_sort(other, *sort),
            TermKind::Quantifier(quantifier) => {
                for variable in &mut quantifier.variables {
                    *variable = self.import_symbol(other, *variable);
                }
            }
            _ => {}
        }
        match kind {
            TermKind::Quantifier(quantifier) => self.intern_quantifier(*quantifier),
            kind => self.intern(kind, sort),
        }
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
