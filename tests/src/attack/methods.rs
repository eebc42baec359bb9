//! Methods to be called: contracts of the shapes that verifiers got wrong.

use super::members::{FIELDS, Members};
use super::pick::Picker;

/// A method that may be called.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    pub(super) name: &'static str,
    pub(super) formals: &'static [&'static str],
    /// The method has an integer as result.
    pub(super) returns: bool,
}

/// A head, a body and how it is called, with `F` for a field of integers.
const CALLEES: [(&str, &str, Callee); 9] = [
    (
        "method set(x: Ref, v: Int) requires acc(x.F) ensures acc(x.F) && x.F == v",
        "{ x.F := v }",
        Callee { name: "set", formals: &["Ref", "Int"], returns: false },
    ),
    (
        "method read(x: Ref, a: Perm) returns (r: Int) requires none < a && acc(x.F, a) \
         ensures acc(x.F, a) && r == x.F",
        "{ r := x.F }",
        Callee { name: "read", formals: &["Ref", "Perm"], returns: true },
    ),
    (
        "method keep(x: Ref, a: Perm) requires none <= a && acc(x.F, a) \
         ensures acc(x.F, a) && (none < a ==> x.F == old(x.F))",
        "{ }",
        Callee { name: "keep", formals: &["Ref", "Perm"], returns: false },
    ),
    (
        "method half(x: Ref, a: Perm) requires none <= a && acc(x.F, a) ensures acc(x.F, a * 1/2)",
        "{ }",
        Callee { name: "half", formals: &["Ref", "Perm"], returns: false },
    ),
    (
        "method some(x: Ref) returns (r: Int) requires acc(x.F, wildcard) \
         ensures acc(x.F, wildcard) && r == x.F",
        "{ r := x.F }",
        Callee { name: "some", formals: &["Ref"], returns: true },
    ),
    (
        "method maybe(x: Ref, c: Bool) requires acc(x.F, c ? write : none) \
         ensures acc(x.F, c ? write : none) && (c ==> x.F == old(x.F) + 1)",
        "{ if (c) { x.F := x.F + 1 } }",
        Callee { name: "maybe", formals: &["Ref", "Bool"], returns: false },
    ),
    (
        "method two(x: Ref) requires [acc(x.F) && x.F == x.F && true, acc(x.F)] \
         ensures [acc(x.F), (let y == (x) in acc(y.F))] && x.F == old(x.F) + 1",
        "{ x.F := x.F + 1 }",
        Callee { name: "two", formals: &["Ref"], returns: false },
    ),
    (
        "method by_field(x: Ref) requires acc(x.fp, 1/2) && none <= x.fp && acc(x.F, x.fp) \
         ensures acc(x.fp, 1/2) && none <= x.fp && x.fp == old(x.fp) && acc(x.F, x.fp)",
        "{ }",
        Callee { name: "by_field", formals: &["Ref"], returns: false },
    ),
    (
        "method all(t: Set[Ref]) \
         requires (forall e: Ref :: { e in t } e in t ==> acc(e.F, 1/2)) \
         ensures (forall e: Ref :: { e in t } e in t ==> acc(e.F, 1/2)) \
         ensures (forall e: Ref :: { e in t } e in t ==> e.F == old(e.F))",
        "{ }",
        Callee { name: "all", formals: &["Set[Ref]"], returns: false },
    ),
];

/// Adds some methods, with or without bodies.
pub(super) fn add(members: &mut Members, pick: &mut Picker) {
    for (head, body, callee) in CALLEES {
        if !pick.chance(30) {
            continue;
        }
        let (field, _) = FIELDS[pick.below(2)];
        let at = |text: &str| text.replace('F', field);
        if pick.chance(50) {
            members.add(&format!("{} {}", at(head), at(body)), None);
        } else {
            members.add(&at(head), Some(&at(body)));
        }
        members.methods.push(callee);
    }
}
