//! Termination taken for granted: for programs of front ends that show it themselves and send no
//! measures, or send them as comments.

use crate::source::Span;
use crate::syntax::{Contract, Decreases, DecreasesKind, Member, MemberKind};

/// Gives a function or method without a termination clause the clause `decreases _`.
pub fn assume(member: &mut Member) {
    let span = member.span;
    match &mut member.kind {
        MemberKind::Function(function) => claim(&mut function.contract, span),
        MemberKind::Method(method) => claim(&mut method.contract, span),
        _ => {}
    }
}

fn claim(contract: &mut Contract, span: Span) {
    if contract.decreases.is_empty() {
        contract.decreases.push(Decreases {
            kind: DecreasesKind::Wildcard,
            condition: None,
            in_postcondition: false,
            measure: span,
            span,
        });
    }
}
