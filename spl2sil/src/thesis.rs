//! The field dialect: fields are SIL fields, permissions are SIL permissions.
//!
//! | here | what |
//! |---|---|
//! | [`assertions`] | what is about the heap or about permissions |
//! | [`members`] | fields, predicates, functions |
//! | [`methods`] | procedures and lemmas: contracts, parameters that the body assigns, leaks |
//! | [`statements`] | bodies |
//! | [`calls`] | calls, implicit arguments |
//! | [`termination`] | measures of lemmas and recursive functions |
//! | [`axioms`] | what is taken for granted: axioms and `auto` lemmas |
//!
//! Differs from the thesis
//! - DIVERGENCE: a loop is a loop: its invariant holds at entry, and the code behind it is checked.
//!   The thesis' code stops behind a loop whose body keeps its invariant.
//! - DIVERGENCE: both sides of a conditional in a contract count; the thesis' code ignores the
//!   first.
//! - DIVERGENCE: `free` takes the permission away; the thesis' code keeps it.
//! - DIVERGENCE: a parameter that the body assigns has a last value of its own, which callers do
//!   not see; the thesis substitutes the argument for it, with which a caller can prove `false`.

mod assertions;
mod axioms;
mod calls;
mod members;
mod methods;
mod statements;
mod termination;

use rustc_hash::{FxHashMap, FxHashSet};
use sil::build::*;
use sil::source::Name;
use sil::syntax as s;
use spl::program::{Declaration, GlobalId, LocalId, ProcedureId};
use spl::source::Span;

use self::termination::Recursion;
use crate::lower::auto_lemmas::reasons;
use crate::lower::expressions::Meaning;
use crate::lower::{Lowering, Member};

/// Returns the members of a program.
pub(crate) fn lower(lowering: &Lowering<'_>) -> Vec<s::Member> {
    let program = lowering.program;
    let thesis = Thesis { lowering, recursion: Recursion::of(program), reasons: reasons(program) };
    let mut members = Vec::new();
    for &declaration in &program.declarations {
        match declaration {
            Declaration::Struct(id) => members.extend(thesis.fields(id)),
            Declaration::Predicate(id) => members.push(thesis.predicate(id)),
            Declaration::Function(id) => members.push(thesis.function(id)),
            Declaration::Procedure(id) => members.push(thesis.method(id)),
            Declaration::Global(id) => {
                let span = program.globals[id].name_span;
                lowering.refuse("global variables are not part of the field dialect", span);
            }
            // These stand with the types, and with the methods that may use them.
            Declaration::Sort(_) | Declaration::Datatype(_) | Declaration::Axiom(_) => {}
        }
    }
    members
}

/// The state of lowering a program.
struct Thesis<'l, 'p> {
    lowering: &'l Lowering<'p>,
    recursion: Recursion,
    /// The members that may not use the `auto` lemmas.
    reasons: FxHashSet<ProcedureId>,
}

impl<'l, 'p> Thesis<'l, 'p> {
    fn scope(&self, span: Span) -> Scope<'_, 'l, 'p> {
        Scope {
            thesis: self,
            member: Member::new(self.lowering, span),
            replaced: FxHashMap::default(),
            last_values: FxHashMap::default(),
            is_entry: false,
            is_computed: false,
            result: None,
            results: Vec::new(),
            end: None,
            declared: Vec::new(),
            is_lemma: false,
        }
    }
}

/// A member being lowered, and what its variables stand for at the place being lowered.
struct Scope<'t, 'l, 'p> {
    thesis: &'t Thesis<'l, 'p>,
    member: Member<'l, 'p>,
    /// Variables that stand for other values, such as bound ones that an equation determines.
    replaced: FxHashMap<LocalId, s::Expr>,
    /// Parameters that the body assigns, and the variables that have their current values.
    last_values: FxHashMap<LocalId, Name>,
    /// Do parameters have the values with which the procedure was called: in preconditions and
    /// `old`?
    is_entry: bool,
    /// Is it a value that the program computes?
    is_computed: bool,
    /// The variable that is `result`.
    result: Option<LocalId>,
    /// The explicit results of the procedure.
    results: Vec<LocalId>,
    /// The label to which `return` jumps, once one does.
    end: Option<Name>,
    /// Variables of calls inside expressions that are declared already.
    declared: Vec<LocalId>,
    /// Is it a lemma, which has to end?
    is_lemma: bool,
}

impl<'l, 'p> Meaning<'l, 'p> for Scope<'_, 'l, 'p> {
    fn member(&mut self) -> &mut Member<'l, 'p> {
        &mut self.member
    }

    fn local(&mut self, local: LocalId) -> s::Expr {
        if let Some(value) = self.replaced.get(&local) {
            return value.clone();
        }
        if self.result == Some(local) {
            return result();
        }
        match self.last_values.get(&local) {
            Some(name) if !self.is_entry => var(name),
            _ => var(&self.member.name_of(local)),
        }
    }

    fn global(&mut self, _: GlobalId, _: Span) -> s::Expr {
        // The declaration is refused.
        null()
    }

    fn of_dialect(&mut self, e: &spl::program::Expr) -> s::Expr {
        self.heap_form(e)
    }

    fn is_computed(&self) -> bool {
        self.is_computed
    }
}
