//! The state of lowering one declaration.

use std::collections::BTreeMap;
use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use sil::build::Annotate;
use sil::syntax as s;
use spl::program::{LocalId, ProcedureId, Program, Type};
use spl::source::Span;

use super::calls::Held;
use super::definitions::unrolled::Definition;
use super::prelude::Part;
use super::types::{Key, Slot, lowered, spelled};
use super::{Fallible, Lowering, Stuck, places};
use crate::build::{call, declare, var};

/// The values of the state at one point, as expressions.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// The parts of the state.
    pub(super) slots: IndexMap<Slot, s::Expr>,
    /// The objects that exist.
    pub(super) alloc: IndexMap<Type, s::Expr>,
    /// The objects that may be touched.
    pub(super) own: IndexMap<Type, s::Expr>,
}

/// The meaning of a variable in an assertion.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// An expression.
    Term(s::Expr),
    /// Something that the assertion itself has to determine.
    Hole(usize),
}

/// How expressions are to be read.
#[derive(Debug, Clone, Default)]
pub(super) struct Env {
    /// The state they are about.
    pub(super) now: Rc<State>,
    /// The state of `old`.
    pub(super) before: Rc<State>,
    /// The values of variables, where they are not the variables of their names.
    pub(super) values: Rc<FxHashMap<LocalId, Value>>,
    /// The same inside `old`, if it differs.
    pub(super) values_before: Option<Rc<FxHashMap<LocalId, Value>>>,
}

impl Env {
    /// With more values.
    pub(super) fn with(&self, more: impl IntoIterator<Item = (LocalId, Value)>) -> Self {
        let mut env = self.clone();
        let more: Vec<(LocalId, Value)> = more.into_iter().collect();
        if let Some(before) = &mut env.values_before {
            Rc::make_mut(before).extend(more.iter().cloned());
        }
        Rc::make_mut(&mut env.values).extend(more);
        env
    }

    /// Inside `old`.
    pub(super) fn old(&self) -> Self {
        let values = self.values_before.clone().unwrap_or_else(|| self.values.clone());
        Self { now: self.before.clone(), before: self.before.clone(), values, values_before: None }
    }
}

/// The lowering of one declaration.
pub(super) struct Declaration<'l, 'p> {
    pub(super) lowering: &'l mut Lowering<'p>,
    pub(super) program: &'p Program,
    /// The procedure, if it is one.
    pub(super) procedure: Option<ProcedureId>,
    names: FxHashMap<LocalId, String>,
    pub(super) taken: FxHashSet<String>,
    /// The values found for holes.
    pub(super) bindings: BTreeMap<usize, s::Expr>,
    /// The type of each hole.
    pub(super) holes: Vec<Type>,
    /// The values of those holes that are not to be filled.
    pub(super) chosen: BTreeMap<usize, s::Expr>,
    /// The rest for holes that are footprints of their own, where a contract asks for them.
    pub(super) rests: Option<BTreeMap<usize, s::Expr>>,
    /// May implicit values be those of instances that are held?
    pub(super) chooses: bool,
    /// Instances that were known to hold on the way here.
    pub(super) held: Vec<Held>,
    /// The definition this is, of a predicate that is defined by itself.
    pub(super) definition: Option<Definition>,
    /// The declared variables for values of calls inside expressions.
    pub(super) temporaries: FxHashSet<LocalId>,
    /// Is what is lowered ghost code?
    pub(super) is_ghost: bool,
    /// How many bodies have been looked into for the expression that is being checked.
    pub(super) opened: usize,
    /// Statements so far.
    pub(super) statements: Vec<s::Stmt>,
    /// Sets of objects that enclosing loops have set aside: readable, not writable.
    pub(super) readable: Vec<IndexMap<Type, s::Expr>>,
    /// The state now.
    pub(super) state: State,
    /// The state at entry.
    pub(super) entry: Rc<State>,
    /// The values of locals.
    pub(super) values: Rc<FxHashMap<LocalId, Value>>,
}

impl<'l, 'p> Declaration<'l, 'p> {
    pub(super) fn new(lowering: &'l mut Lowering<'p>) -> Self {
        let program = lowering.program;
        let taken = lowering.globals.clone();
        Self {
            lowering,
            program,
            procedure: None,
            names: FxHashMap::default(),
            taken,
            bindings: BTreeMap::new(),
            holes: Vec::new(),
            chosen: BTreeMap::new(),
            rests: None,
            chooses: false,
            held: Vec::new(),
            definition: None,
            temporaries: FxHashSet::default(),
            is_ghost: false,
            opened: 0,
            statements: Vec::new(),
            readable: Vec::new(),
            state: State::default(),
            entry: Rc::default(),
            values: Rc::default(),
        }
    }

    /// Returns a name that nothing else in this member has.
    pub(super) fn fresh(&mut self, base: &str) -> String {
        let base = spelled(base);
        let mut name = base.clone();
        let mut count = 0;
        while !self.taken.insert(name.clone()) {
            count += 1;
            name = format!("{base}${count}");
        }
        name
    }

    /// Returns the variable that a local is.
    pub(super) fn local(&mut self, id: LocalId) -> String {
        if let Some(name) = self.names.get(&id) {
            return name.clone();
        }
        let name = self.fresh(&self.program.locals[id].name);
        self.names.insert(id, name.clone());
        name
    }

    /// Says which variables of the finished member are those of the source.
    pub(super) fn variables(&self) -> s::Annotation {
        let named = self.names.iter().map(|(&local, name)| (local, &**name));
        crate::lower::annotations::variables(crate::names::written(self.program, named))
    }

    /// Returns its type.
    pub(super) fn ty(&mut self, ty: &Type) -> s::Type {
        self.lowering.prelude.want(Part::Sort(ty.clone()));
        lowered(self.program, ty)
    }

    /// `function$Key(arguments)` of the prelude.
    pub(super) fn of_type(
        &self,
        function: &str,
        ty: &Type,
        arguments: impl IntoIterator<Item = s::Expr>,
    ) -> s::Expr {
        call(&format!("{function}${}", Key(self.program, ty)), arguments)
    }

    /// `function$From$To(arguments)` of the prelude.
    pub(super) fn of_map(
        &self,
        function: &str,
        (from, to): (&Type, &Type),
        arguments: impl IntoIterator<Item = s::Expr>,
    ) -> s::Expr {
        let name = format!("{function}${}${}", Key(self.program, from), Key(self.program, to));
        call(&name, arguments)
    }

    /// `function$Element(arguments)` of the prelude of sets.
    pub(super) fn of_set(
        &mut self,
        function: &str,
        element: &Type,
        arguments: impl IntoIterator<Item = s::Expr>,
    ) -> s::Expr {
        self.lowering.prelude.want(Part::Set(element.clone()));
        self.of_type(function, element, arguments)
    }

    /// Adds a statement.
    pub(super) fn emit(&mut self, stmt: s::Stmt) {
        self.statements.push(stmt);
    }

    /// Adds a statement with a place.
    pub(super) fn emit_at(&mut self, span: Span, stmt: s::Stmt) {
        let stmt = self.placed(span, stmt);
        self.statements.push(stmt);
    }

    /// Returns the node with a place.
    pub(super) fn placed<N: Annotate>(&self, span: Span, node: N) -> N {
        places::placed(self.lowering.sources, span, node)
    }

    /// Returns a new variable, with a value or without.
    pub(super) fn variable(&mut self, base: &str, ty: &Type, value: Option<s::Expr>) -> s::Expr {
        let name = self.fresh(base);
        let ty = self.ty(ty);
        self.emit(declare(&name, ty, value));
        var(&name)
    }

    /// Returns the statements that `work` adds, on their own.
    pub(super) fn block(
        &mut self,
        work: impl FnOnce(&mut Self) -> Fallible<()>,
    ) -> Fallible<Vec<s::Stmt>> {
        let outer = std::mem::take(&mut self.statements);
        let held = self.held.len();
        let done = work(self);
        self.held.truncate(held);
        let inner = std::mem::replace(&mut self.statements, outer);
        done.map(|()| inner)
    }

    /// Returns how expressions of statements are read here.
    pub(super) fn env(&self) -> Env {
        Env {
            now: Rc::new(self.state.clone()),
            before: self.entry.clone(),
            values: self.values.clone(),
            values_before: None,
        }
    }

    /// Returns a new hole, or the value that is chosen for it.
    pub(super) fn hole(&mut self, ty: &Type) -> Value {
        self.holes.push(ty.clone());
        let hole = self.holes.len() - 1;
        self.chosen.get(&hole).map_or(Value::Hole(hole), |value| Value::Term(value.clone()))
    }

    pub(super) fn stuck<T>(&self, construct: impl Into<String>, span: Span) -> Fallible<T> {
        Err(Stuck::new(construct, span))
    }
}
