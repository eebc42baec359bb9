//! The classic dialect: fields are values, footprints are sets, and the frame rule is written down (reference, section 6).

use sil::syntax as s;

use crate::lower::Lowering;

/// The members of a program.
pub(crate) fn lower(lowering: &Lowering<'_>) -> Vec<s::Member> {
    let program = lowering.program;
    for (_, procedure) in program.procedures.iter() {
        lowering
            .refuse("programs of the classic dialect cannot be verified yet", procedure.name_span);
    }
    Vec::new()
}
