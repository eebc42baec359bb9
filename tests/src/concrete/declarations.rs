//! The declarations that a run looks up.

use std::collections::BTreeMap;

use sil::source::Name;
use sil::syntax::{Function, MemberKind, Method, Predicate, Type};

use super::{Stuck, parse};

/// Members by name.
#[derive(Default, Debug)]
pub struct Declarations {
    pub(super) fields: BTreeMap<Name, Type>,
    pub(super) predicates: BTreeMap<Name, Predicate>,
    pub(super) functions: BTreeMap<Name, Function>,
    pub(super) methods: BTreeMap<Name, Method>,
    /// Constructors of algebraic data types, with the names of their parameters.
    pub(super) constructors: BTreeMap<Name, Vec<Name>>,
}

impl Declarations {
    /// The members of a text. A function's or method's body is what it does; a verifier need not be
    /// shown it.
    ///
    /// # Errors
    /// The first problem of the text.
    pub fn read(text: &str) -> Result<Self, Stuck> {
        let mut all = Self::default();
        for member in parse(text)?.members {
            match member.kind {
                MemberKind::Fields(fields) => {
                    all.fields.extend(fields.into_iter().map(|one| (one.name.name, one.ty)));
                }
                MemberKind::Predicate(one) => {
                    all.predicates.insert(one.name.name.clone(), one);
                }
                MemberKind::Function(one) => {
                    all.functions.insert(one.name.name.clone(), one);
                }
                MemberKind::Method(one) => {
                    all.methods.insert(one.name.name.clone(), one);
                }
                MemberKind::Adt(adt) => {
                    for one in adt.constructors {
                        let names = one.formals.into_iter().map(|formal| formal.name.name);
                        all.constructors.insert(one.name.name, names.collect());
                    }
                }
                MemberKind::Program(_) => {}
                MemberKind::Import(_) | MemberKind::Define(_) | MemberKind::Domain(_) => {
                    return Err(Stuck::new("a member that runs do not know"));
                }
            }
        }
        Ok(all)
    }

    /// The fields with their types, in the order of their names.
    pub fn fields(&self) -> impl Iterator<Item = (&Name, &Type)> {
        self.fields.iter()
    }
}
