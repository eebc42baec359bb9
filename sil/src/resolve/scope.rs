//! Scopes of local names.
//!
//! Shadowing is an error in both directions: a name declared in a scope may not be declared in a
//! scope nested in it, whichever comes first in the text. So a scope knows the names it will
//! declare when it is opened; they cannot be used before their declaration is reached.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::LocalId;
use crate::source::{Name, Span};

/// The meaning of a local name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entry {
    /// Declared further down in this scope.
    Announced,
    Local(LocalId),
    /// A label of the implementation: not a value, but it takes the name.
    Label,
    /// Declared twice; reported already.
    Clash,
    /// Two variables of this name are visible, the one given first.
    Ambiguous(LocalId),
}

#[derive(Debug)]
struct Declaration {
    entry: Entry,
    span: Span,
}

/// A name that is declared twice. `second` comes later in the text.
#[derive(Debug)]
pub(super) struct Duplicate {
    pub(super) first: Span,
    pub(super) second: Span,
}

#[derive(Debug, Default)]
pub(super) struct Scopes {
    /// As shadowing is an error, a name has at most one declaration in the open scopes.
    names: FxHashMap<Name, Declaration>,
    open: Vec<Scope>,
    /// The names that stand for two variables.
    ambiguous: FxHashSet<Name>,
}

#[derive(Debug, Default)]
struct Scope {
    /// The names declared in it.
    names: Vec<Name>,
    /// The names that became ambiguous in it.
    ambiguous: Vec<Name>,
}

impl Scopes {
    pub(super) fn open(&mut self) {
        self.open.push(Scope::default());
    }

    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    pub(super) fn close(&mut self) {
        let scope = self.open.pop().unwrap_or_default();
        for name in scope.names {
            self.names.remove(&name);
        }
        for name in scope.ambiguous {
            self.ambiguous.remove(&name);
        }
    }

    /// Returns the meaning of `name` here.
    pub(super) fn get(&self, name: &Name) -> Option<Entry> {
        let entry = self.names.get(name)?.entry;
        Some(match entry {
            Entry::Local(first) if self.ambiguous.contains(name) => Entry::Ambiguous(first),
            entry => entry,
        })
    }

    /// Returns the variables that can be used here, in no order.
    pub(super) fn variables(&self) -> impl Iterator<Item = &str> {
        let variables = self.names.iter().filter(|(_, it)| matches!(it.entry, Entry::Local(_)));
        variables.map(|(name, _)| &**name)
    }

    /// Says that the innermost scope will declare `name` at `span`.
    ///
    /// A clash with an earlier name is found when the declaration is reached.
    pub(super) fn announce(&mut self, name: &Name, span: Span) {
        if !self.names.contains_key(name) {
            self.insert(name, Entry::Announced, span);
        }
    }

    /// Declares `name` in the innermost scope.
    pub(super) fn declare(
        &mut self,
        name: &Name,
        entry: Entry,
        span: Span,
    ) -> Result<(), Duplicate> {
        let Some(earlier) = self.names.get_mut(name) else {
            self.insert(name, entry, span);
            return Ok(());
        };
        if earlier.span == span && matches!(earlier.entry, Entry::Announced) {
            earlier.entry = entry;
            return Ok(());
        }
        // A clash is reported at the later of two declarations, once.
        let reported = matches!(earlier.entry, Entry::Clash) && earlier.span.start >= span.start;
        if matches!(earlier.entry, Entry::Announced | Entry::Label) {
            // The meaning of uses of the name is not known any more.
            earlier.entry = Entry::Clash;
        } else if matches!((entry, earlier.entry), (Entry::Local(_), Entry::Local(_)))
            && self.ambiguous.insert(name.clone())
            && let Some(scope) = self.open.last_mut()
        {
            scope.ambiguous.push(name.clone());
        }
        let (first, second) = if earlier.span.start <= span.start {
            (earlier.span, span)
        } else {
            (span, earlier.span)
        };
        if reported { Ok(()) } else { Err(Duplicate { first, second }) }
    }

    fn insert(&mut self, name: &Name, entry: Entry, span: Span) {
        self.names.insert(name.clone(), Declaration { entry, span });
        if let Some(scope) = self.open.last_mut() {
            scope.names.push(name.clone());
        }
    }
}
