//! Sorts and functions given as SMT-LIB text by the program.
//!
//! SOUNDNESS: the text is trusted to mean what its author thinks, but not to be well-formed. A text
//! that does not parse, or has other sorts than declared, is an error when it is used.

use z3::ast::{Ast, Dynamic};
use z3::{Context, Solver};

use super::{ProverError, Workspace, raw};
use crate::terms::{Sort, SortKind, Terms};

/// A function given as text: a term over constants that stand for its arguments.
pub(super) struct Template {
    formals: Vec<Dynamic>,
    body: Dynamic,
}

impl Template {
    pub(super) fn instantiate(&self, args: &[Dynamic]) -> Dynamic {
        let replacements: Vec<(&Dynamic, &Dynamic)> = self.formals.iter().zip(args).collect();
        self.body.substitute(&replacements)
    }
}

/// Returns the sort that a text denotes.
pub(super) fn sort(context: &Context, text: &str) -> Result<z3::Sort, ProverError> {
    let script = format!(
        "(declare-fun holds ({text}) Bool)\n(declare-const value {text})\n(assert (holds value))\n"
    );
    Ok(only_argument(context, &script, text)?.get_sort())
}

/// Returns the function that a text denotes; an error if it does not fit the declared sorts.
pub(super) fn function(
    context: &Context,
    terms: &Terms,
    text: &str,
    args: &[Sort],
    result: Sort,
) -> Result<Template, ProverError> {
    let mut script = String::new();
    let mut actuals = String::new();
    for (position, &sort) in args.iter().enumerate() {
        let sort = sort_text(terms, sort, text)?;
        script += &format!("(declare-const backend.arg{position} {sort})\n");
        actuals += &format!(" backend.arg{position}");
    }
    let call = if args.is_empty() { text.to_owned() } else { format!("({text}{actuals})") };
    let result = sort_text(terms, result, text)?;
    script += &format!("(declare-fun holds ({result}) Bool)\n");
    // The formals are arguments of a function, so that they can be found in the answer.
    let sorts: Result<Vec<_>, _> = args.iter().map(|&sort| sort_text(terms, sort, text)).collect();
    let probe = if args.is_empty() {
        String::new()
    } else {
        script += &format!("(declare-fun formals ({}) Bool)\n", sorts?.join(" "));
        format!("(assert (formals{actuals}))\n")
    };
    script += &format!("(assert (holds {call}))\n{probe}");
    let expected = if args.is_empty() { 1 } else { 2 };
    let parsed = parse(context, &script, text, expected)?;
    let body = parsed[0].nth_child(0).ok_or_else(|| unusable(text, "not a function"))?;
    let formals = parsed.get(1).map(Ast::children).unwrap_or_default();
    Ok(Template { formals, body })
}

fn only_argument(context: &Context, script: &str, text: &str) -> Result<Dynamic, ProverError> {
    let parsed = parse(context, script, text, 1)?;
    parsed[0].nth_child(0).ok_or_else(|| unusable(text, "not a sort"))
}

/// Returns the assertions of a script; an error unless there are `expected` ones.
fn parse(
    context: &Context,
    script: &str,
    text: &str,
    expected: usize,
) -> Result<Vec<z3::ast::Bool>, ProverError> {
    if text.contains('\0') {
        return Err(unusable(text, "NUL in the text"));
    }
    let solver = Solver::new();
    solver.from_string(script);
    raw::last_error(context).map_err(|error| unusable(text, &error.to_string()))?;
    let assertions = solver.get_assertions();
    if assertions.len() != expected {
        return Err(unusable(text, "not one sort or function"));
    }
    Ok(assertions)
}

/// Returns a sort as it is written in SMT-LIB; only sorts that the prover itself knows can occur in
/// such texts.
fn sort_text(terms: &Terms, sort: Sort, text: &str) -> Result<String, ProverError> {
    match terms.sort_kind(sort) {
        SortKind::Bool => Ok("Bool".to_owned()),
        SortKind::Int => Ok("Int".to_owned()),
        SortKind::Perm => Ok("Real".to_owned()),
        SortKind::Backend(text) => Ok(text.to_string()),
        _ => Err(unusable(text, &format!("sort {} is not interpreted", terms.sort_name(sort)))),
    }
}

fn unusable(text: &str, problem: &str) -> ProverError {
    ProverError::Backend { text: text.to_owned(), problem: problem.trim().to_owned() }
}

impl Workspace {
    /// Checks that a text denotes a sort.
    pub fn check_sort(&self, text: &str) -> Result<(), ProverError> {
        let context = &self.tools().context;
        raw::enter(context, || sort(context, text)).map(|_| ())
    }

    /// Checks that a text denotes a function of these sorts.
    pub fn check_function(
        &self,
        terms: &Terms,
        text: &str,
        args: &[Sort],
        result: Sort,
    ) -> Result<(), ProverError> {
        let context = &self.tools().context;
        raw::enter(context, || function(context, terms, text, args, result)).map(|_| ())
    }
}
