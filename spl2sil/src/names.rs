//! Names of the generated program.
//!
//! SIL has one name space for all global names, and a local may not hide anything; SPL's locals
//! may. A field `f` of a struct `S` is called `S$f`; other names stay as they are, with a number
//! where they are taken.

use la_arena::ArenaMap;
use rustc_hash::{FxHashMap, FxHashSet};
use sil::build::unused;
use sil::source::Name;
use spl::program::{
    ConstructorId, DatatypeId, DestructorId, FieldId, FunctionId, LocalId, LocalKind, PredicateId,
    ProcedureId, Program, SortId,
};

use crate::lower::prelude::fixed;

/// The global names of one generated program.
#[derive(Debug, Default)]
pub(crate) struct Names {
    used: FxHashSet<Name>,
    pub(crate) fields: ArenaMap<FieldId, Name>,
    pub(crate) procedures: ArenaMap<ProcedureId, Name>,
    pub(crate) functions: ArenaMap<FunctionId, Name>,
    pub(crate) predicates: ArenaMap<PredicateId, Name>,
    pub(crate) datatypes: ArenaMap<DatatypeId, Name>,
    pub(crate) constructors: ArenaMap<ConstructorId, Name>,
    pub(crate) destructors: ArenaMap<DestructorId, Name>,
    pub(crate) sorts: ArenaMap<SortId, Name>,
}

impl Names {
    /// Names everything that is declared in `program`.
    pub(crate) fn of(program: &Program) -> Self {
        let mut names = Self::default();
        names.used.extend(fixed::ALL.iter().map(|&word| Name::from(word)));
        for (id, procedure) in program.procedures.iter() {
            let name = names.fresh(&procedure.name);
            names.procedures.insert(id, name);
        }
        for (id, predicate) in program.predicates.iter() {
            let name = names.fresh(&predicate.name);
            names.predicates.insert(id, name);
        }
        for (id, function) in program.functions.iter() {
            let name = names.fresh(&function.name);
            names.functions.insert(id, name);
        }
        for (id, field) in program.fields.iter() {
            let parent = &program.structs[field.parent].name;
            let name = names.fresh(&format!("{parent}${}", field.name));
            names.fields.insert(id, name);
        }
        for (id, datatype) in program.datatypes.iter() {
            let name = names.fresh(&datatype.name);
            names.datatypes.insert(id, name);
        }
        for (id, constructor) in program.constructors.iter() {
            let name = names.fresh(&constructor.name);
            names.constructors.insert(id, name);
        }
        for (id, destructor) in program.destructors.iter() {
            let name = names.fresh(&destructor.name);
            names.destructors.insert(id, name);
        }
        for (id, sort) in program.sorts.iter() {
            let name = names.fresh(&sort.name);
            names.sorts.insert(id, name);
        }
        names
    }

    /// Returns a global name that nothing has yet.
    pub(crate) fn fresh(&mut self, wanted: &str) -> Name {
        // A `?` or `^` of an SPL name is no character of a SIL name.
        let wanted = wanted.replace(['?', '^'], "$");
        let name = unused(&beginning_with_letter(&wanted), |name| self.used.contains(name));
        self.used.insert(name.clone());
        name
    }
}

/// Digits may begin a name in SPL, but not in SIL.
fn beginning_with_letter(name: &str) -> String {
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        format!("${name}")
    } else {
        name.to_owned()
    }
}

/// The names inside one member of the generated program.
#[derive(Debug, Default)]
pub(crate) struct LocalNames {
    used: FxHashSet<Name>,
    by_local: FxHashMap<LocalId, Name>,
}

impl LocalNames {
    /// Returns the name of a variable of the source; the first to ask for a word gets it.
    pub(crate) fn of_local(&mut self, global: &Names, program: &Program, local: LocalId) -> Name {
        if let Some(name) = self.by_local.get(&local) {
            return name.clone();
        }
        let name = self.fresh(global, &program.locals[local].name);
        self.by_local.insert(local, name.clone());
        name
    }

    /// Returns the variables of the source that have a name so far, by these, in their order in the
    /// source.
    pub(crate) fn of_source<'a>(&'a self, program: &'a Program) -> Vec<(&'a str, &'a str)> {
        written(program, self.by_local.iter().map(|(&local, name)| (local, &**name)))
    }

    /// Returns a name that nothing in this member and nothing global has.
    pub(crate) fn fresh(&mut self, global: &Names, wanted: &str) -> Name {
        let wanted = beginning_with_letter(&wanted.replace(['?', '^'], "$"));
        let name = unused(&wanted, |name| self.used.contains(name) || global.used.contains(name));
        self.used.insert(name.clone());
        name
    }
}

/// Returns those of the locals that somebody has written, each with what it is called in the
/// source, in their order there.
pub(crate) fn written<'a>(
    program: &'a Program,
    named: impl Iterator<Item = (LocalId, &'a str)>,
) -> Vec<(&'a str, &'a str)> {
    let is_written = |local: LocalId| program.locals[local].kind != LocalKind::Temporary;
    let mut locals: Vec<_> = named.filter(|&(local, _)| is_written(local)).collect();
    locals.sort_unstable_by_key(|(local, _)| local.into_raw().into_u32());
    locals.into_iter().map(|(local, name)| (name, &*program.locals[local].name)).collect()
}
