//! Datatypes: adts of SIL.

use rustc_hash::FxHashSet;
use sil::syntax as s;
use spl::program::{DatatypeId, Program, Type};

use crate::build::*;
use crate::classic::prelude::Part;
use crate::classic::types::{lowered, spelled};
use crate::classic::{Lowering, Stuck, places};

impl Lowering<'_> {
    pub(in crate::classic) fn datatype(&mut self, id: DatatypeId, members: &mut Vec<s::Member>) {
        let program = self.program;
        let datatype = &program.datatypes[id];
        let mut adt = s::Adt::new(&spelled(&datatype.name));
        for &constructor in &datatype.constructors {
            let constructor = &program.constructors[constructor];
            let fields: Vec<s::TypedName> = constructor
                .destructors
                .iter()
                .map(|&field| {
                    let field = &program.destructors[field];
                    self.prelude.want(Part::Sort(field.ty.clone()));
                    typed(&spelled(&field.name), lowered(program, &field.ty))
                })
                .collect();
            adt = adt.constructor(&spelled(&constructor.name), fields);
        }
        let adt = s::Member::from(adt);
        members.push(places::placed(self.sources, datatype.name_span, adt));
        if holds_sets_of_itself(program, id) {
            let stuck =
                Stuck::new("a datatype that holds sets or maps of itself", datatype.name_span);
            members.push(self.refusal(&datatype.name, datatype.name_span, &stuck));
        }
    }
}

/// Is there a set or map of the datatype inside its terms? No such terms exist: there would be as
/// many as sets of them.
fn holds_sets_of_itself(program: &Program, id: DatatypeId) -> bool {
    let inside = |id: DatatypeId| {
        let mut all = Vec::new();
        for &constructor in &program.datatypes[id].constructors {
            for &field in &program.constructors[constructor].destructors {
                datatypes_in(&program.destructors[field].ty, false, &mut all);
            }
        }
        all
    };
    let (mut seen, mut todo) = (FxHashSet::default(), vec![(id, false)]);
    while let Some((next, is_inside)) = todo.pop() {
        for (other, is_set) in inside(next) {
            let is_set = is_set || is_inside;
            if other == id && is_set {
                return true;
            }
            if seen.insert((other, is_set)) {
                todo.push((other, is_set));
            }
        }
    }
    false
}

/// The datatypes that a type mentions, and whether inside a set or map.
fn datatypes_in(ty: &Type, is_inside: bool, all: &mut Vec<(DatatypeId, bool)>) {
    match ty {
        Type::Datatype(id) => all.push((*id, is_inside)),
        Type::Set(element) => datatypes_in(element, true, all),
        Type::Map(from, to) => {
            datatypes_in(from, true, all);
            datatypes_in(to, true, all);
        }
        _ => {}
    }
}
