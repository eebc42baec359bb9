//! `epsilon`: one small positive amount, whose meaning is a domain of the standard library.

use crate::build::call;
use crate::diagnostics::Diagnostic;
use crate::imports;
use crate::source::Sources;
use crate::syntax::walk::{Rewriter, rewrite};
use crate::syntax::{Expr, ExprKind, Program};

/// Replaces `epsilon` by the constant of the library, and adds the library's file (seed 003,
/// appendix A: `E`).
pub(super) fn desugar(
    program: &mut Program,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut epsilons = Epsilons::default();
    program.members.iter_mut().for_each(|member| epsilons.member(member));
    if epsilons.found {
        imports::add_standard("permission/epsilon.vpr", program, sources, diagnostics);
    }
}

#[derive(Default)]
struct Epsilons {
    found: bool,
}

impl Rewriter for Epsilons {
    fn expr(&mut self, expr: &mut Expr) {
        rewrite::expr(self, expr);
        if matches!(expr.kind, ExprKind::Epsilon) {
            self.found = true;
            expr.kind = call("epsilon$", Vec::new()).kind;
        }
    }
}
