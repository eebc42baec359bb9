//! Types, datatypes and uninterpreted types.

use sil::build::*;
use sil::syntax as s;
use sil::syntax::TypeKind;
use spl::program::{Declaration, LocalId, Type};

use super::Lowering;
use super::annotations::{Annotate, named};
use super::prelude::fixed;

impl Lowering<'_> {
    /// Returns the SIL type of values of a type. References of all structs are `Ref`, bytes are
    /// integers.
    pub(crate) fn ty(&self, of: &Type) -> s::Type {
        match of {
            Type::Bool | Type::Permission => ty(TypeKind::Bool),
            Type::Int | Type::Byte => ty(TypeKind::Int),
            Type::Struct(_) | Type::Array(_) | Type::ArrayCell(_) | Type::Null | Type::Unknown => {
                ty(TypeKind::Ref)
            }
            Type::Set(element) => s::Type::set(self.ty(element)),
            Type::Map(from, to) => {
                self.used.borrow_mut().maps = true;
                s::Type::named(fixed::MAP, [self.ty(from), self.ty(to)])
            }
            Type::Datatype(id) => domain_type(&self.names.borrow().datatypes[*id]),
            Type::Sort(id) => domain_type(&self.names.borrow().sorts[*id]),
        }
    }

    /// Returns the SIL type of a variable.
    pub(crate) fn local_type(&self, local: LocalId) -> s::Type {
        self.ty(&self.program.locals[local].ty)
    }

    /// Datatypes as adts, uninterpreted types as domains.
    pub(crate) fn type_members(&self) -> Vec<s::Member> {
        let mut members = Vec::new();
        for declaration in &self.program.declarations {
            match declaration {
                Declaration::Sort(id) => {
                    let sort = &self.program.sorts[*id];
                    let name = self.names.borrow().sorts[*id].clone();
                    let member = domain(&name, Vec::new(), Vec::new());
                    members.push(member.with(self.at(sort.span)).with(named(&sort.name)));
                }
                Declaration::Datatype(id) => {
                    let datatype = &self.program.datatypes[*id];
                    let name = self.names.borrow().datatypes[*id].clone();
                    let mut adt = s::Adt::new(&name);
                    for &constructor in &datatype.constructors {
                        let declared = &self.program.constructors[constructor];
                        let fields = declared.destructors.iter().map(|&destructor| {
                            let ty = self.ty(&self.program.destructors[destructor].ty);
                            typed(&self.names.borrow().destructors[destructor], ty)
                        });
                        let fields: Vec<_> = fields.collect();
                        let name = self.names.borrow().constructors[constructor].clone();
                        adt = adt.constructor(&name, fields);
                    }
                    let member = s::Member::from(adt);
                    members.push(member.with(self.at(datatype.span)).with(named(&datatype.name)));
                }
                _ => {}
            }
        }
        members
    }
}
