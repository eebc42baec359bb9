//! Domains that generated programs need, each only where it is used.

use sil::build::*;
use sil::syntax as s;
use sil::syntax::TypeKind;

use super::Lowering;

/// Names of what the prelude declares.
pub(crate) mod fixed {
    /// Total maps.
    pub(crate) const MAP: &str = "$Map";
    /// Value of a map at a key.
    pub(crate) const GET: &str = "$get";
    /// A map with another value at one key.
    pub(crate) const SET: &str = "$set";
    /// Mentions a term.
    pub(crate) const KNOWN: &str = "$known";

    /// All of them and the variables of axioms, so that nothing else gets such a name.
    pub(crate) const ALL: &[&str] = &[
        MAP,
        GET,
        SET,
        KNOWN,
        "$m",
        "$k",
        "$v",
        "$j",
        "$t",
        "$a",
        "$b",
        "$K",
        "$V",
        "$T",
        "$Known",
        "$Bits",
        "$and",
        "$or",
        "$shift_left",
        "$shift_right",
        "$complement",
    ];
}

/// The parts of the prelude that a program needs.
#[derive(Debug, Default)]
pub(crate) struct Used {
    /// Total maps.
    pub(crate) maps: bool,
    /// Mentions of terms.
    pub(crate) known: bool,
    /// Operations on bits, of which nothing is known.
    pub(crate) bits: Vec<&'static str>,
    /// Functions that comprehensions are, with their axioms.
    pub(crate) comprehensions: Vec<s::Member>,
}

impl Lowering<'_> {
    /// Returns the members that the program needs.
    pub(crate) fn prelude(&self) -> Vec<s::Member> {
        let used = self.used.borrow();
        let mut members = Vec::new();
        if used.maps {
            members.push(maps());
        }
        if used.known {
            members.push(known());
        }
        if !used.bits.is_empty() {
            members.push(bits(&used.bits));
        }
        members.extend(used.comprehensions.iter().cloned());
        members
    }
}

/// Total maps: McCarthy's two axioms, the second triggered from either side.
fn maps() -> s::Member {
    let (key, value) = (domain_type("$K"), domain_type("$V"));
    let map = s::Type::named(fixed::MAP, [key.clone(), value.clone()]);
    let get = |m, k| call(fixed::GET, [m, k]);
    let set = || call(fixed::SET, [var("$m"), var("$k"), var("$v")]);
    let formals = [typed("$m", map.clone()), typed("$k", key.clone()), typed("$v", value.clone())];
    let mut with_other = formals.to_vec();
    with_other.push(typed("$j", key.clone()));
    let written = forall(formals.clone(), [vec![set()]], eq(get(set(), var("$k")), var("$v")));
    let kept = forall(
        with_other,
        [vec![get(set(), var("$j"))], vec![set(), get(var("$m"), var("$j"))]],
        implies(ne(var("$j"), var("$k")), eq(get(set(), var("$j")), get(var("$m"), var("$j")))),
    );
    s::Domain::new(fixed::MAP)
        .parameter("$K")
        .parameter("$V")
        .function(domain_function(fixed::GET, [typed("$m", map.clone()), typed("$k", key)], value))
        .function(domain_function(fixed::SET, formals, map))
        .axiom(axiom("$map_written", written))
        .axiom(axiom("$map_kept", kept))
        .into()
}

/// Returns a function that is true of everything: to mention a term.
fn known() -> s::Member {
    let term = || call(fixed::KNOWN, [var("$t")]);
    let holds = forall([typed("$t", domain_type("$T"))], [vec![term()]], term());
    s::Domain::new("$Known")
        .parameter("$T")
        .function(domain_function(fixed::KNOWN, [typed("$t", domain_type("$T"))], TypeKind::Bool))
        .axiom(axiom("$known_holds", holds))
        .into()
}

fn bits(used: &[&str]) -> s::Member {
    let mut domain = s::Domain::new("$Bits");
    for name in used {
        let mut formals = vec![typed("$a", TypeKind::Int)];
        if *name != "$complement" {
            formals.push(typed("$b", TypeKind::Int));
        }
        domain = domain.function(domain_function(name, formals, TypeKind::Int));
    }
    domain.into()
}
