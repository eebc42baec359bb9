//! Functions and predicates in code that runs: what they ask for holds, and what their bodies
//! evaluate is checked.
//!
//! The body of one that is not defined by itself is checked where it is applied, with what is owned
//! there: so it need not say what it reads. One that is defined by itself is checked once, by a
//! method that owns what its precondition names.

use std::rc::Rc;

use sil::build::Annotate;
use sil::syntax as s;
use spl::program::{Clause, Expr, FunctionId, PredicateUse};
use spl::source::Span;

use super::assertions::formulas;
use super::checks::Evaluation;
use super::definitions::recursion::Defined;
use super::member::{Declaration, Env, State, Value};
use super::types::{Slot, spelled};
use super::{Fallible, Lowering, places};
use crate::build::*;

/// How many bodies may be looked into for one expression.
const MOST_BODIES: usize = 1_000;

/// Something that is applied to arguments.
#[derive(Debug, Clone, Copy)]
pub(super) enum Applied<'p> {
    Function(FunctionId, &'p [Expr]),
    Predicate(&'p PredicateUse),
}

impl Applied<'_> {
    fn defined(self) -> Defined {
        match self {
            Self::Function(id, _) => Defined::Function(id),
            Self::Predicate(used) => Defined::Predicate(used.predicate),
        }
    }
}

impl<'p> Lowering<'p> {
    /// Returns the declaration: preconditions and body.
    fn definition_of(&self, id: Defined) -> (&'p [Clause], Option<&'p Expr>) {
        match id {
            Defined::Function(id) => {
                let function = &self.program.functions[id];
                (&function.requires, function.body.as_ref())
            }
            Defined::Predicate(id) => {
                let predicate = &self.program.predicates[id];
                (&predicate.requires, predicate.body.as_ref())
            }
        }
    }

    fn slots_of(&self, id: Defined) -> Vec<Slot> {
        let uses = match id {
            Defined::Function(id) => &self.uses.functions[id],
            Defined::Predicate(id) => &self.uses.predicates[id],
        };
        uses.slots.iter().cloned().collect()
    }

    /// Is it a function of SIL, or else of a domain?
    fn is_function_of_sil(&self, id: Defined) -> bool {
        match id {
            Defined::Function(id) => self.recursive_functions.contains(&id),
            Defined::Predicate(id) => self.recursive.contains_idx(id),
        }
    }

    /// The methods that check the bodies of what is defined by itself and applied in code that
    /// runs.
    pub(super) fn executed_bodies(&mut self, members: &mut Vec<s::Member>) {
        let mut at = 0;
        while let Some(&id) = self.executed.get_index(at) {
            at += 1;
            let (name, place) = match id {
                Defined::Function(id) => {
                    let function = &self.program.functions[id];
                    (&function.name, function.name_span)
                }
                Defined::Predicate(id) => {
                    let predicate = &self.program.predicates[id];
                    (&predicate.name, predicate.name_span)
                }
            };
            let member = match self.executed_body(id, name, place) {
                Ok(method) => places::placed(self.sources, place, method).with(named(name)),
                Err(stuck) => self.refusal(name, place, &stuck),
            };
            members.push(member);
        }
    }

    fn executed_body(&mut self, id: Defined, name: &str, place: Span) -> Fallible<s::Member> {
        let program = self.program;
        let (requires, body) = self.definition_of(id);
        let slots = self.slots_of(id);
        let (parameters, sorts) = match id {
            Defined::Function(id) => {
                (&program.functions[id].parameters, &self.uses.functions[id].sorts)
            }
            Defined::Predicate(id) => {
                (&program.predicates[id].parameters, &self.uses.predicates[id].sorts)
            }
        };
        let sorts = sorts.clone();
        let mut member = Declaration::new(self);
        let header = member.header(&spelled(name), parameters, &slots)?;
        let mut method = s::Method::new(&format!("{}$executed", spelled(name)));
        method.formals = member.typed_formals(&header.formals);
        let spec = member.spec(requires, &header.env)?;
        for (formula, _) in formulas(&spec) {
            method = method.requires(formula);
        }
        for fact in member.begins(&header.env.now) {
            method = method.requires(fact);
        }
        let mut state = State { slots: header.env.now.slots.clone(), ..State::default() };
        for sort in sorts {
            let set = member.chosen_set(&spec, &sort);
            let null = member.null(&sort);
            let is_null = member.of_set("mem", &sort, [null, set.clone()]);
            method = method.requires(not(is_null));
            state.own.insert(sort, set);
        }
        member.state = state.clone();
        member.entry = Rc::new(state);
        let how = Evaluation {
            env: header.env,
            guard: truth(true),
            bound: Vec::new(),
            place: None,
            is_ghost: false,
            is_old: false,
            is_definition: true,
        };
        match body {
            Some(body) => member.evaluated(body, &how)?,
            None => return member.stuck("what has no body and is defined by itself", place),
        }
        let checks = std::mem::take(&mut member.statements);
        Ok(s::Member::from(method.body(checks)).with(member.variables()))
    }
}

impl<'p> Declaration<'_, 'p> {
    /// Checks an application whose arguments are checked.
    pub(super) fn applied(
        &mut self,
        applied: Applied<'p>,
        span: Span,
        how: &Evaluation,
    ) -> Fallible<()> {
        if how.is_ghost {
            return Ok(());
        }
        self.opened += 1;
        if self.opened > MOST_BODIES {
            return self.stuck("an expression with that many applications inside each other", span);
        }
        let id = applied.defined();
        let env = self.inside(applied, &how.env)?;
        let (requires, body) = self.lowering.definition_of(id);
        let is_recursive = self.lowering.defined_by_itself.contains(&id);
        // The engine itself asks what its own functions require and divide by.
        let is_definition = self.lowering.is_function_of_sil(id);
        let asked = Evaluation { is_definition, ..how.clone() };
        self.required(requires, &env, span, &asked)?;
        match body {
            Some(_) if is_recursive => {
                self.lowering.executed.insert(id);
                Ok(())
            }
            Some(body) => {
                let place = Some(how.place.unwrap_or(span));
                let inner = Evaluation { env, place, is_definition, ..how.clone() };
                self.evaluated(body, &inner)
            }
            None => self.unknown_reads(id, requires, span, how),
        }
    }

    /// Without a body nothing says what is read, but that it is of the objects that the
    /// precondition names, if it does.
    fn unknown_reads(
        &mut self,
        id: Defined,
        requires: &'p [Clause],
        span: Span,
        how: &Evaluation,
    ) -> Fallible<()> {
        let mut named = super::uses::Uses::default();
        let clauses = requires.iter().filter(|clause| clause.condition.is_permission());
        clauses.for_each(|clause| {
            self.lowering.uses.expr(self.program, &clause.condition, &mut named);
        });
        for slot in self.lowering.slots_of(id) {
            if let Some(sort) = slot.sort(self.program)
                && !named.owned.contains(&sort)
            {
                self.all_read(&sort, span, how);
            }
        }
        Ok(())
    }

    /// Returns how the body is read where it is applied.
    fn inside(&mut self, applied: Applied<'p>, env: &Env) -> Fallible<Env> {
        match applied {
            Applied::Predicate(used) => self.predicate_env(used, env),
            Applied::Function(id, arguments) => {
                let parameters = &self.program.functions[id].parameters;
                let mut values = Vec::new();
                for (argument, &parameter) in arguments.iter().zip(parameters) {
                    let ty = &self.program.locals[parameter].ty;
                    values.push((parameter, Value::Term(self.term_as(argument, ty, env)?)));
                }
                Ok(Env { values: Rc::default(), values_before: None, ..env.clone() }.with(values))
            }
        }
    }
}
