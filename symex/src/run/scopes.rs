//! The tree of facts: scopes, and the knowledge in them.
//!
//! Scopes and the solver's stack have the same depth. A fact is forgotten with its scope (trap
//! T16c).

use rustc_hash::{FxHashMap, FxHashSet};
use smt::facts::Facts;
use smt::terms::{Term, TermKind, Terms};

use crate::run::explore::Answer;
use crate::state::heap::Heap;
use crate::{Path, Stop};

/// A node of the tree of facts: the assumptions since the decision (or guard) that opened it.
#[derive(Debug, Default)]
pub struct Scope {
    /// The literal that opened the scope.
    pub literal: Option<Term>,
    /// The facts, without the literal.
    pub(crate) facts: Vec<Term>,
    /// The facts that became known here. They are forgotten with the scope (trap T16c).
    learned: Vec<Term>,
    /// The heaps before permission was given away. The consequences of their shape stay true.
    pub(crate) heaps: Vec<Heap>,
    /// The number of heaps, of this scope and those around it, whose shape has been learnt here.
    pub(crate) learnt_heaps: usize,
    /// The answers of the prover to optimisation checks, and the number of facts on the path then.
    checked: FxHashMap<Term, (Answer, usize)>,
    /// The snapshots that are older than objects made here.
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
    /// The scopes from the root to the present one. They mirror the solver's stack.
    pub scopes: Vec<Scope>,
    /// All facts and literals of `scopes`, split into conjuncts.
    pub(crate) known: FxHashSet<Term>,
    /// The same facts, and their consequences without the prover.
    pub(crate) facts: Facts,
    /// Tells whether an obligation has failed, and nothing was learnt since then.
    pub(crate) has_failed: bool,
}

impl Default for Knowledge {
    /// Makes knowledge in which nothing is known.
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

    /// Returns the prover's answer to an optimisation check that was asked on this path, unless a
    /// fact learnt since then mentions a constant of the goal and may turn a no into a yes.
    ///
    /// PERFORMANCE: in programs that ask the prover much, up to half of its steps were for checks
    /// that it had been asked on the path. COMPLETENESS: with all answers believed, a proof was
    /// lost (`functions/sides_never_taken.vpr`, merged).
    ///
    /// SOUNDNESS: a yes stays true when facts are added, and is forgotten with its scope (trap
    /// T16c). Any other answer proves nothing.
    pub(crate) fn checked(&self, terms: &Terms, goal: Term) -> Option<Answer> {
        let mut scopes = self.scopes.iter().rev();
        let &(answer, known) = scopes.find_map(|scope| scope.checked.get(&goal))?;
        if answer == Answer::Yes {
            return Some(answer);
        }
        let mut constants = FxHashSet::default();
        terms.visit(vec![goal], |term| {
            if matches!(terms.kind(term), TermKind::Apply(_, operands) if operands.is_empty()) {
                constants.insert(term);
            }
            true
        });
        let is_about = |fact| terms.some_subterm(fact, |term| constants.contains(&term));
        (!self.learned().skip(known).any(is_about)).then_some(answer)
    }

    /// Keeps the prover's answer to an optimisation check.
    pub(crate) fn note_checked(&mut self, goal: Term, answer: Answer) {
        let known = self.scopes.iter().map(|scope| scope.learned.len()).sum();
        let scope = self.scopes.last_mut().expect("there is a base scope");
        scope.checked.insert(goal, (answer, known));
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

    /// Assumes a formula, in this scope and those inside it.
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

    /// Tells a fact to the prover and the tables, independent of the journals.
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
