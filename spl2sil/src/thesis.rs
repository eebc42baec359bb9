//! The field dialect: fields are SIL fields, permissions are SIL permissions (reference, section 5).

use sil::syntax as s;

use crate::lower::Lowering;

/// The members of a program.
pub(crate) fn lower(lowering: &Lowering<'_>) -> Vec<s::Member> {
    let _ = lowering;
    Vec::new()
}
