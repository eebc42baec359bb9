//! Runs SIL programs on values: what one execution does, with every choice made.
//!
//! A run has a heap with a value in every field, and the permissions that the method holds of it.
//! Where the language leaves a choice (the value of a variable, an amount by `wildcard`), the run
//! makes one. Whoever wants a verifier to show `false` behind a run that gets there asks for what
//! is wrong: every assumption on the way was true.
//!
//! The rules are those of Viper; permissions of predicates are counted as their instances, and
//! what is in them also as fields, of which nobody has more than all. What the language has and
//! this module has not makes the run end ([`Stuck`]), as does all that is wrong.

mod assertion;
mod declarations;
mod eval;
mod exec;
mod ops;
mod state;
#[cfg(test)]
mod tests;
mod value;

pub use declarations::Declarations;
pub use eval::Evaluator;
pub use exec::Run;
pub use state::{Heap, State, Target};
pub use value::{Amount, Value};

use sil::source::{FileId, SourceFile, Sources, Span};
use sil::syntax::{self, Body, MemberKind, Stmt};

/// Why a run does not go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stuck(pub String);

impl Stuck {
    fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

/// The text before statements to be parsed.
const PREFIX: &str = "method m() {\n";

/// The statements of a text.
///
/// # Errors
/// The first problem of the text.
pub fn statements(text: &str) -> Result<Vec<Stmt>, Stuck> {
    let program = parse(&format!("{PREFIX}{text}\n}}"))?;
    let Some(MemberKind::Method(method)) = program.members.into_iter().next().map(|one| one.kind)
    else {
        return Err(Stuck::new("no method"));
    };
    match method.implementations.into_iter().next().map(|one| one.body) {
        Some(Body::Structured(block)) => Ok(block.statements),
        _ => Err(Stuck::new("no structured body")),
    }
}

/// The expression of a text.
///
/// # Errors
/// The first problem of the text.
pub fn expression(text: &str) -> Result<syntax::Expr, Stuck> {
    match statements(&format!("assert {text}"))?.pop().map(|one| one.kind) {
        Some(syntax::StmtKind::Assert(expr)) => Ok(expr),
        _ => Err(Stuck::new("no expression")),
    }
}

pub(crate) fn parse(text: &str) -> Result<syntax::Program, Stuck> {
    let mut sources = Sources::default();
    let file: FileId = sources.add(SourceFile::new("text", text));
    let mut diagnostics = Vec::new();
    let program = sil::parser::parse(file, text, &mut diagnostics);
    match diagnostics.first() {
        None => Ok(program),
        Some(first) => Err(Stuck(format!("{}: {text}", first.message))),
    }
}

/// The tree without places: what is written at two places with one text is equal.
fn shape(expr: &syntax::Expr) -> String {
    struct Placeless;
    impl sil::syntax::walk::Rewriter for Placeless {
        fn expr(&mut self, expr: &mut syntax::Expr) {
            sil::syntax::walk::rewrite::expr(self, expr);
            expr.span = Span::default();
            match &mut expr.kind {
                syntax::ExprKind::Call { name, .. } | syntax::ExprKind::Field { name, .. } => {
                    name.span = Span::default();
                }
                _ => {}
            }
        }
    }
    let mut expr = expr.clone();
    sil::syntax::walk::Rewriter::expr(&mut Placeless, &mut expr);
    format!("{:?}", expr.kind)
}
