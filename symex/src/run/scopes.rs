//! The tree of facts: scopes, and what is known in them.
//!
//! Scopes and the solver's stack have the same depth. A fact that leaves its scope is forgotten
//! (trap T16c).

use rustc_hash::FxHashSet;
use smt::facts::Facts;
use smt::terms::{Term, Terms};

use crate::state::heap::Heap;
use crate::{Path, Stop};

/// A node of the tree of facts: what was assumed since the decision (or guard) that opened it.
#[derive(Debug, Default)]
pub struct Scope {
    /// The literal that opened the scope.
    pub literal: Option<Term>,
    /// Without the literal.
    pub(crate) facts: Vec<Term>,
    /// The facts that became known here: forgotten with the scope (trap T16c).
    learned: Vec<Term>,
    /// Heaps as they were before something was given away: what follows from their shape stays
    /// true.
    pub(crate) heaps: Vec<Heap>,
    /// The number of heaps, of this scope and those around it, from which that has been learnt
    /// here.
    pub(crate) learnt_heaps: usize,
    /// Snapshots that objects made here are younger than.
    pub(crate) older: Vec<Older>,
}

/// A snapshot that an instance of a predicate had when an object was made, where `held`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Older {
    pub(crate) object: Term,
    pub(crate) snapshot: Term,
    pub(crate) held: Term,
}

/// The knowledge about the path: the tree of facts, and their consequences without the prover.
pub struct Knowledge {
    /// From the root to where the current run is. Mirrors the solver's stack.
    pub scopes: Vec<Scope>,
    /// All facts and literals of `scopes`, split into conjuncts.
    pub(crate) known: FxHashSet<Term>,
    /// The same, and what follows without the prover.
    pub(crate) facts: Facts,
    /// An obligation has failed, and nothing was learned since then.
    pub(crate) has_failed: bool,
}

impl Default for Knowledge {
    /// Nothing is known.
    fn default() -> Self {
        Self {
            scopes: vec![Scope::default()],
            known: FxHashSet::default(),
            facts: Facts::new(),
            has_failed: false,
        }
    }
}

impl Knowledge {
    /// Returns all facts of the path, split into conjuncts, in the order in which they became
    /// known.
    pub(crate) fn learned(&self) -> impl Iterator<Item = Term> {
        self.scopes.iter().flat_map(|scope| scope.learned.iter().copied())
    }
}

impl Path<'_> {
    /// Opens a scope in which `literal` holds.
    pub(crate) fn push(&mut self, literal: Option<Term>) -> Result<(), Stop> {
        self.knowledge.scopes.push(Scope { literal, ..Scope::default() });
        self.prover.push();
        self.knowledge.facts.push();
        if let Some(literal) = literal {
            self.learn(literal)?;
            self.knowledge.facts.settle(&self.symbols.terms);
        }
        Ok(())
    }

    /// Closes the scopes above `depth`.
    pub(crate) fn pop_to(&mut self, depth: usize) -> Result<(), Stop> {
        while self.knowledge.scopes.len() > depth {
            let scope = self.knowledge.scopes.pop().expect("deeper than `depth`");
            for fact in scope.learned {
                self.knowledge.known.remove(&fact);
            }
            self.knowledge.facts.pop();
            self.prover.pop()?;
        }
        Ok(())
    }

    /// Assumes a formula: from here on, in this scope and those inside it.
    pub fn assume(&mut self, fact: Term) -> Result<(), Stop> {
        if fact == Terms::FALSE {
            return Err(Stop::Infeasible);
        }
        if fact == Terms::TRUE || !self.run.is_live() {
            return Ok(());
        }
        for conjunct in self.terms.conjuncts(fact) {
            if self.knowledge.known.contains(&conjunct) {
                continue;
            }
            self.learn(conjunct)?;
            self.knowledge.scopes.last_mut().expect("there is a base scope").facts.push(conjunct);
        }
        Ok(())
    }

    /// Tells the prover and the table of known facts, whatever the journals say.
    fn learn(&mut self, fact: Term) -> Result<(), Stop> {
        self.knowledge.has_failed = false;
        let scope = self.knowledge.scopes.last_mut().expect("there is a base scope");
        for conjunct in self.symbols.terms.conjuncts(fact) {
            if self.knowledge.known.insert(conjunct) {
                scope.learned.push(conjunct);
            }
        }
        self.knowledge.facts.assume(&self.symbols.terms, fact);
        self.prover.assume(fact);
        Ok(())
    }
}
