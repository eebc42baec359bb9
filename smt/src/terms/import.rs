//! Terms of another arena.

use rustc_hash::FxHashMap;

use super::{Sort, SortKind, Symbol, Term, TermKind, Terms};

/// One import: both arenas, and the terms imported so far by those of the other arena.
struct Import<'a> {
    here: &'a mut Terms,
    other: &'a Terms,
    imported: FxHashMap<Term, Term>,
}

impl Terms {
    /// Returns the same term of this arena. Symbols and sorts are the same if their declarations
    /// are. The term must have no fresh symbols of the other arena.
    pub fn import(&mut self, other: &Terms, term: Term) -> Term {
        Import { here: self, other, imported: FxHashMap::default() }.term(term)
    }
}

impl Import<'_> {
    fn term(&mut self, term: Term) -> Term {
        if let Some(&known) = self.imported.get(&term) {
            return known;
        }
        let here = super::grow_stack(|| self.form(term));
        self.imported.insert(term, here);
        here
    }

    fn form(&mut self, term: Term) -> Term {
        let other = self.other;
        let sort = self.sort(other.sort(term));
        let mut kind = other.kind(term).map_operands(|operand| self.term(operand));
        match &mut kind {
            TermKind::Apply(symbol, _) => *symbol = self.symbol(*symbol),
            TermKind::Unwrap(_, sort)
            | TermKind::IsWrapped(_, sort)
            | TermKind::Theory(_, _, sort) => *sort = self.sort(*sort),
            TermKind::Quantifier(quantifier) => {
                for variable in &mut quantifier.variables {
                    *variable = self.symbol(*variable);
                }
            }
            _ => {}
        }
        match kind {
            TermKind::Quantifier(quantifier) => self.here.intern_quantifier(*quantifier),
            kind => self.here.intern(kind, sort),
        }
    }

    fn symbol(&mut self, symbol: Symbol) -> Symbol {
        let mut declaration = self.other.declaration(symbol).clone();
        declaration.args = declaration.args.iter().map(|&sort| self.sort(sort)).collect();
        declaration.result = self.sort(declaration.result);
        self.here.declare(declaration)
    }

    fn sort(&mut self, sort: Sort) -> Sort {
        let kind = match self.other.sort_kind(sort).clone() {
            SortKind::Seq(element) => SortKind::Seq(self.sort(element)),
            SortKind::Set(element) => SortKind::Set(self.sort(element)),
            SortKind::Multiset(element) => SortKind::Multiset(self.sort(element)),
            SortKind::Map(key, value) => SortKind::Map(self.sort(key), self.sort(value)),
            SortKind::User { name, args } => {
                let args = args.iter().map(|&arg| self.sort(arg)).collect();
                SortKind::User { name, args }
            }
            kind @ (SortKind::Bool
            | SortKind::Int
            | SortKind::Perm
            | SortKind::Ref
            | SortKind::Snap
            | SortKind::Backend(_)) => kind,
        };
        self.here.make_sort(kind)
    }
}
