//! Domains that generated programs need, each only where it is used.

use sil::build::parsed;
use sil::syntax as s;

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
            members.extend(parsed(include_str!("prelude/maps.sil")));
        }
        if used.known {
            members.extend(parsed(include_str!("prelude/known.sil")));
        }
        if !used.bits.is_empty() {
            members.extend(parsed(&bits(&used.bits)));
        }
        members.extend(used.comprehensions.iter().cloned());
        members
    }
}

/// Returns the declaration of operations on bits, of which nothing is known.
fn bits(used: &[&str]) -> String {
    let function = |name: &&str| match *name {
        "$complement" => "function $complement($a: Int): Int ".to_owned(),
        name => format!("function {name}($a: Int, $b: Int): Int "),
    };
    format!("domain $Bits {{ {}}}", used.iter().map(function).collect::<String>())
}
