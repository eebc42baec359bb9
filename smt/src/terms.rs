//! Terms: symbolic values and formulas, hash-consed, simplified as they are built.
//!
//! A [`Term`] is an index into the arena [`Terms`] of one member. Equal structure has the same
//! index, so comparing two terms is comparing two numbers. `intern` is private. Every term passes
//! through a constructor of the submodules, which simplifies the term by rules that are valid in
//! the logic of the prover.
//!
//! Invariants
//! - The operands of an entry come before it.
//! - Arguments have the sorts that the symbol or operator asks for. Debug builds check this; in
//!   release builds the prover reports an ill-sorted term as an error.
//! - Terms know no solver.
//!
//! DIVERGENCE: the snapshot rules `⌈⌊s⌋⌉ = s` and `(fst s, snd s) = s` presuppose that `s` has that
//! shape. A rule that takes a snapshot apart assumes [`Terms::is_wrapped`] or [`Terms::is_pair`] of
//! the snapshot, never the equation, which is trivial here.

mod amounts;
mod arithmetic;
mod collections;
mod display;
mod import;
mod kind;
mod logic;
mod quantifier;
mod snapshot;
mod sort;
mod substitution;
mod symbol;
#[cfg(test)]
mod tests;
mod written;

use std::sync::Arc;

use indexmap::IndexSet;
use num_bigint::BigInt;
use num_rational::BigRational;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::{Deserialize, Serialize};

pub use self::amounts::Split;
pub use self::display::Shown;
pub use self::kind::{Quant, Quantifier, TermKind, TheoryOp};
pub(crate) use self::logic::{all_hold, some_holds};
pub use self::sort::{Sort, SortKind};
pub use self::substitution::Substitution;
pub use self::symbol::{Declaration, Symbol, SymbolKind};

/// A symbolic value: an index into [`Terms`]. Equal structure has the same index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Term(u32);

impl Term {
    /// Returns the position of the term in its arena; operands have smaller ones.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Runs `rest` with enough stack. Recursion over terms goes through here.
pub fn grow_stack<R>(rest: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, rest)
}

/// The knowledge about a term besides its form.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Info {
    sort: Sort,
    /// Tells whether a variable ([`Declaration::is_variable`]) occurs free.
    open: bool,
    /// One more than the largest canonical number of a variable bound inside.
    binders: u32,
}

/// The terms, sorts and symbols of one member.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Terms {
    kinds: IndexSet<TermKind, FxBuildHasher>,
    infos: Vec<Info>,
    sorts: IndexSet<SortKind, FxBuildHasher>,
    symbols: IndexSet<Declaration, FxBuildHasher>,
    /// Number of fresh symbols made, the suffix of the next one.
    fresh: u32,
    /// Lengths of the sequences that are given element by element.
    explicit_lengths: FxHashMap<Term, usize>,
    /// Meanings of the names of collections and values.
    definitions: FxHashMap<Term, Term>,
    /// Values of terms, as far as their forms tell.
    values: FxHashMap<Term, Option<Term>>,
}

impl Default for Terms {
    fn default() -> Self {
        Self::new()
    }
}

impl Terms {
    pub fn new() -> Self {
        let mut terms = Terms {
            kinds: IndexSet::default(),
            infos: Vec::new(),
            sorts: Sort::BUILT_IN.into_iter().collect(),
            symbols: IndexSet::default(),
            fresh: 0,
            explicit_lengths: FxHashMap::default(),
            definitions: FxHashMap::default(),
            values: FxHashMap::default(),
        };
        terms.intern(TermKind::Bool(false), Sort::BOOL);
        terms.intern(TermKind::Bool(true), Sort::BOOL);
        terms.intern(TermKind::Null, Sort::REF);
        terms.fraction(0, 1);
        terms.fraction(1, 1);
        terms
    }

    pub const FALSE: Term = Term(0);
    pub const TRUE: Term = Term(1);
    /// The null reference.
    pub const NULL: Term = Term(2);
    /// No permission: 0.
    pub const NONE: Term = Term(3);
    /// Full permission: 1.
    pub const WRITE: Term = Term(4);

    /// Returns the form of a term.
    pub fn kind(&self, term: Term) -> &TermKind {
        &self.kinds[term.index()]
    }

    /// Returns the sort of a term.
    pub fn sort(&self, term: Term) -> Sort {
        self.infos[term.index()].sort
    }

    /// Tells whether a quantifiable variable occurs free in the term.
    pub fn is_open(&self, term: Term) -> bool {
        self.infos[term.index()].open
    }

    /// Returns the number of terms; their indices are below this number.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Tells whether there are no terms. There always are: the truth values.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Makes a term. Only `intern_quantifier` makes terms besides.
    fn intern(&mut self, kind: TermKind, sort: Sort) -> Term {
        if let Some(index) = self.kinds.get_index_of(&kind) {
            return Term(index as u32);
        }
        let mut info = Info { sort, open: false, binders: 0 };
        if let TermKind::Apply(symbol, _) = kind {
            info.open = self.declaration(symbol).is_variable();
        }
        kind.for_each_operand(|operand| {
            let inner = self.infos[operand.index()];
            info.open |= inner.open;
            info.binders = info.binders.max(inner.binders);
        });
        self.push(kind, info)
    }

    fn push(&mut self, kind: TermKind, info: Info) -> Term {
        let (index, _) = self.kinds.insert_full(kind);
        debug_assert_eq!(index, self.infos.len(), "interned twice");
        self.infos.push(info);
        Term(u32::try_from(index).expect("fewer than 2^32 terms"))
    }

    /// Returns the term of that form, if it was ever built.
    fn find(&self, kind: &TermKind) -> Option<Term> {
        self.kinds.get_index_of(kind).map(|index| Term(index as u32))
    }
}

/// Sorts.
impl Terms {
    pub fn sort_kind(&self, sort: Sort) -> &SortKind {
        &self.sorts[sort.index()]
    }

    pub(crate) fn make_sort(&mut self, kind: SortKind) -> Sort {
        Sort(self.sorts.insert_full(kind).0 as u32)
    }

    pub fn seq_sort(&mut self, element: Sort) -> Sort {
        self.make_sort(SortKind::Seq(element))
    }

    pub fn set_sort(&mut self, element: Sort) -> Sort {
        self.make_sort(SortKind::Set(element))
    }

    pub fn multiset_sort(&mut self, element: Sort) -> Sort {
        self.make_sort(SortKind::Multiset(element))
    }

    pub fn map_sort(&mut self, key: Sort, value: Sort) -> Sort {
        self.make_sort(SortKind::Map(key, value))
    }

    /// Returns an uninterpreted sort: an instance of a domain, or a sort of the engine.
    pub fn user_sort(&mut self, name: &str, args: &[Sort]) -> Sort {
        self.make_sort(SortKind::User { name: Arc::from(name), args: args.into() })
    }

    /// Returns a sort given as SMT-LIB text.
    pub fn backend_sort(&mut self, text: &str) -> Sort {
        self.make_sort(SortKind::Backend(Arc::from(text)))
    }

    /// Tells whether values of the sort are compared by a predicate of its theory (see
    /// [`Terms::eq`]).
    pub fn is_collection(&self, sort: Sort) -> bool {
        matches!(
            self.sort_kind(sort),
            SortKind::Seq(_) | SortKind::Set(_) | SortKind::Multiset(_) | SortKind::Map(..)
        )
    }

    /// Returns the sort of the elements of a sequence, set or multiset, or of the keys of a map.
    pub fn element_sort(&self, sort: Sort) -> Sort {
        match *self.sort_kind(sort) {
            SortKind::Seq(e) | SortKind::Set(e) | SortKind::Multiset(e) | SortKind::Map(e, _) => e,
            ref other => panic!("not the sort of a collection: {other:?}"),
        }
    }

    /// Returns the sort of the values of a map.
    pub(crate) fn value_sort(&self, sort: Sort) -> Sort {
        match *self.sort_kind(sort) {
            SortKind::Map(_, value) => value,
            ref other => panic!("not the sort of a map: {other:?}"),
        }
    }
}

/// Symbols, constants and applications.
impl Terms {
    pub fn declaration(&self, symbol: Symbol) -> &Declaration {
        &self.symbols[symbol.index()]
    }

    /// Declares a symbol; the same declaration again is the same symbol.
    pub fn declare(&mut self, declaration: Declaration) -> Symbol {
        Symbol(self.symbols.insert_full(declaration).0 as u32)
    }

    fn declare_as(
        &mut self,
        name: impl Into<Arc<str>>,
        args: &[Sort],
        result: Sort,
        kind: SymbolKind,
    ) -> Symbol {
        self.declare(Declaration { name: name.into(), args: args.into(), result, kind })
    }

    /// Declares an uninterpreted function. The same name with another signature is another
    /// function.
    pub fn declare_function(&mut self, name: &str, args: &[Sort], result: Sort) -> Symbol {
        self.declare_as(name, args, result, SymbolKind::Uninterpreted)
    }

    /// Declares a constructor of the values of a sort. It is injective, and its values are those of
    /// no other constructor.
    pub fn declare_constructor(&mut self, name: &str, args: &[Sort], result: Sort) -> Symbol {
        self.declare_as(name, args, result, SymbolKind::Constructor)
    }

    /// Declares a function of kind [`SymbolKind::Mark`].
    pub fn declare_mark(&mut self, name: &str, args: &[Sort], result: Sort) -> Symbol {
        self.declare_as(name, args, result, SymbolKind::Mark)
    }

    /// Declares a symbol of kind [`SymbolKind::Fresh`] with a name of its own. The same name again
    /// is the same symbol. No other kind of symbol may be declared by this name.
    pub fn declare_fresh(&mut self, name: &str, args: &[Sort], result: Sort) -> Symbol {
        self.declare_as(name, args, result, SymbolKind::Fresh)
    }

    /// Declares a function of the prover, given as SMT-LIB text.
    pub fn declare_backend(
        &mut self,
        name: &str,
        args: &[Sort],
        result: Sort,
        text: &str,
    ) -> Symbol {
        self.declare_as(name, args, result, SymbolKind::Backend(Arc::from(text)))
    }

    /// Returns the constant of that name and sort.
    pub fn constant(&mut self, name: &str, sort: Sort) -> Term {
        let symbol = self.declare_function(name, &[], sort);
        self.apply(symbol, &[])
    }

    /// Makes a constant that differs from all others; `hint` makes it readable. Its name is
    /// `hint@number`, a form that no declared name may have.
    pub fn fresh(&mut self, hint: &str, sort: Sort) -> Term {
        let symbol = self.fresh_symbol(hint, &[], sort, SymbolKind::Fresh);
        self.apply(symbol, &[])
    }

    /// Makes an object: a reference that differs from `null` and from all other new objects.
    ///
    /// SOUNDNESS: the object also differs from the new objects of other paths. A path says nothing
    /// about those that it could not say about any references.
    pub fn fresh_object(&mut self, hint: &str) -> Term {
        let symbol = self.fresh_symbol(hint, &[], Sort::REF, SymbolKind::Object);
        self.apply(symbol, &[])
    }

    /// Makes a function symbol that differs from all others.
    pub fn fresh_function(&mut self, hint: &str, args: &[Sort], result: Sort) -> Symbol {
        self.fresh_symbol(hint, args, result, SymbolKind::Fresh)
    }

    /// Makes a variable for [`Terms::forall`] and [`Terms::exists`].
    pub fn fresh_variable(&mut self, hint: &str, sort: Sort) -> Term {
        let symbol = self.fresh_symbol(hint, &[], sort, SymbolKind::Variable);
        self.apply(symbol, &[])
    }

    /// Returns the variable of that name, for formulas that are closed as soon as they are built,
    /// such as axioms.
    pub fn named_variable(&mut self, name: &str, sort: Sort) -> Term {
        let symbol = self.declare_as(name, &[], sort, SymbolKind::Variable);
        self.apply(symbol, &[])
    }

    fn fresh_symbol(
        &mut self,
        hint: &str,
        args: &[Sort],
        result: Sort,
        kind: SymbolKind,
    ) -> Symbol {
        let name = format!("{hint}@{}", self.fresh);
        self.fresh += 1;
        self.declare_as(name, args, result, kind)
    }

    /// Applies a symbol to arguments.
    pub fn apply(&mut self, symbol: Symbol, args: &[Term]) -> Term {
        let declaration = self.declaration(symbol);
        debug_assert!(
            declaration.args.len() == args.len()
                && declaration.args.iter().zip(args).all(|(s, t)| *s == self.sort(*t)),
            "ill-sorted application of {}",
            declaration.name
        );
        let result = declaration.result;
        self.intern(TermKind::Apply(symbol, args.into()), result)
    }
}

/// Literals.
impl Terms {
    pub fn bool(&self, value: bool) -> Term {
        if value { Self::TRUE } else { Self::FALSE }
    }

    pub fn int(&mut self, value: impl Into<BigInt>) -> Term {
        self.intern(TermKind::Int(value.into()), Sort::INT)
    }

    pub fn perm(&mut self, value: BigRational) -> Term {
        self.intern(TermKind::Perm(value), Sort::PERM)
    }

    /// Returns the permission amount `numerator/denominator`; the denominator is not zero.
    pub fn fraction(&mut self, numerator: i64, denominator: i64) -> Term {
        self.perm(BigRational::new(numerator.into(), denominator.into()))
    }

    pub fn as_bool(&self, term: Term) -> Option<bool> {
        match term {
            Self::TRUE => Some(true),
            Self::FALSE => Some(false),
            _ => None,
        }
    }

    pub fn as_int(&self, term: Term) -> Option<&BigInt> {
        match self.kind(term) {
            TermKind::Int(value) => Some(value),
            _ => None,
        }
    }

    pub fn as_perm(&self, term: Term) -> Option<&BigRational> {
        match self.kind(term) {
            TermKind::Perm(value) => Some(value),
            _ => None,
        }
    }

    /// Tells whether the term is a literal of Bool, Int or Perm.
    pub fn is_literal(&self, term: Term) -> bool {
        matches!(self.kind(term), TermKind::Bool(_) | TermKind::Int(_) | TermKind::Perm(_))
    }

    /// Tells whether the term is a literal, `null` or a new object. Two such terms of one sort
    /// differ.
    pub fn is_unique(&self, term: Term) -> bool {
        match self.kind(term) {
            TermKind::Null => true,
            TermKind::Apply(symbol, _) => self.declaration(*symbol).kind == SymbolKind::Object,
            _ => self.is_literal(term),
        }
    }
}
