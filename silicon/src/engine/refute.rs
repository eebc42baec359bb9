//! `refute A`: an assertion that must not hold on every path (Viper engine reference, section 16).
//!
//! A path refutes the statement if it cannot prove A. What one path does is not an error yet: only at the end of the
//! member is it known which statements no path has refuted. A statement that no path reaches is one of them.

use sil::program::{Expr, Method, Stmt, StmtKind};
use sil::source::Span;
use sil::walk::{Visit, walk_body};

use super::blame::{Blame, Reason};
use super::{Engine, Stop};
use crate::report::Severity;

impl Engine<'_> {
    /// Tries to prove `assertion`; nothing is kept of it, and the path goes on as if it were not there.
    pub(crate) fn exec_refute(&mut self, statement: &Stmt, assertion: &Expr) -> Result<(), Stop> {
        let findings = std::mem::take(&mut self.findings);
        let gave_up = std::mem::replace(&mut self.gave_up, false);
        let tainted = self.tainted.clone();
        let blame = Blame::new("refute.failed", assertion.span);
        let result = self.scoped(None, |engine| {
            engine.explore(|engine| engine.consume_all(&[assertion], |_| blame))
        });
        let is_proved = self.findings.is_empty() && !self.gave_up;
        self.findings = findings;
        self.gave_up = gave_up;
        self.tainted = tainted;
        result?.0?;
        if !is_proved {
            self.refuted.insert(key(statement, assertion));
        }
        Ok(())
    }

    /// Reports the `refute` statements of a method that no path has refuted.
    pub(crate) fn report_unrefuted(&mut self, method: &Method) {
        let mut remaining = Vec::new();
        for implementation in &method.implementations {
            walk_body(&implementation.body, |visit| {
                if let Visit::Stmt(statement) = visit
                    && let StmtKind::Refute(assertion) = &statement.kind
                    && !self.refuted.contains(&key(statement, assertion))
                {
                    remaining.push(assertion.span);
                }
            });
        }
        for span in remaining {
            let blame = Blame::new("refute.failed", span);
            self.report(blame, Reason::RefutationTrue, span, Severity::Error);
        }
    }
}

/// Statements made by one use of a macro share their span.
fn key(statement: &Stmt, assertion: &Expr) -> (Span, Span) {
    (statement.span, assertion.span)
}
