//! The unproved assumptions of a verdict.

use sil::program::{
    Block, Body, Contract, Decreases, DecreasesKind, Graph, Member, NodeKind, Program, Stmt,
    StmtKind,
};
use sil::source::Span;

use super::place::Places;
use symex::options::Options;

/// Everything trusted, each in the user's words: first what options take for granted, then the rest
/// in source order.
///
/// Lists the trusted parts. Always named: the assumptions of a front end, promises of bodiless
/// methods and functions, axioms, and clauses that assert termination. `assume` and `inhale` in
/// bodies are named where `statements` asks for them, since many front ends write them by the
/// thousand.
pub fn trusted(
    program: &Program,
    places: &Places<'_>,
    options: &Options,
    statements: bool,
) -> Vec<String> {
    let mut trusted = granted(options);
    trusted.extend(program.origins.trusted.iter().cloned());
    let ends = if options.assume_termination {
        "decreases _ or --assume-termination"
    } else {
        "decreases _"
    };
    for &member in &program.order {
        match member {
            Member::Method(id) => {
                let method = &program.methods[id];
                let name = places.name(method.span, method.name.to_string());
                if method.implementations.is_empty() && promises(&method.contract) {
                    trusted.push(format!("the contract of method {name} (no body)"));
                }
                wildcard(&method.contract, "method", &name, ends, &mut trusted);
                if statements {
                    let bodies = method.implementations.iter().map(|one| &one.body);
                    trusted.extend(assumptions(bodies, &name, places));
                }
            }
            Member::Function(id) => {
                let function = &program.functions[id];
                let name = places.name(function.span, function.name.to_string());
                if function.body.is_none() && !function.contract.postconditions.is_empty() {
                    trusted.push(format!("the postconditions of function {name} (no body)"));
                }
                wildcard(&function.contract, "function", &name, ends, &mut trusted);
            }
            Member::Domain(id) => {
                let domain = &program.domains[id];
                let axioms = match places.users_name(domain.span, &domain.name) {
                    Some(name) => format!("the axioms of domain {name}"),
                    None => "the axioms that the translation adds".to_owned(),
                };
                // The meaning of an adt is a part of the language.
                let is_adt = domain
                    .functions
                    .iter()
                    .any(|&function| program.domain_functions[function].is_constructor);
                if !is_adt
                    && !domain.axioms.is_empty()
                    && places.is_users(domain.span)
                    && !trusted.contains(&axioms)
                {
                    trusted.push(axioms);
                }
            }
            Member::Field(_) | Member::Predicate(_) => {}
        }
    }
    trusted
}

/// Lists the assumptions that options make, whether or not the program uses them.
fn granted(options: &Options) -> Vec<String> {
    [
        (
            options.assume_injectivity_on_inhale,
            "that receivers of inhaled quantified permissions differ",
            "--assume-injectivity-on-inhale",
        ),
        (
            options.assume_termination,
            "that what has no termination clause ends",
            "--assume-termination",
        ),
    ]
    .into_iter()
    .filter(|(is_on, ..)| *is_on)
    .map(|(_, words, option)| format!("{words} ({option})"))
    .collect()
}

/// Does a method promise something of its end, or that there is one? Those that give arbitrary
/// values do not.
fn promises(contract: &Contract) -> bool {
    !contract.postconditions.is_empty() || !contract.decreases.is_empty()
}

/// `decreases _`: termination is claimed, not shown; `reason` is why.
fn wildcard(contract: &Contract, kind: &str, name: &str, reason: &str, trusted: &mut Vec<String>) {
    if Decreases::that_count(&contract.decreases)
        .any(|clause| matches!(clause.kind, DecreasesKind::Wildcard))
    {
        trusted.push(format!("that {kind} {name} terminates ({reason})"));
    }
}

/// Returns the `assume`s and `inhale`s of a method.
fn assumptions<'a>(
    bodies: impl Iterator<Item = &'a Body>,
    method: &str,
    places: &Places<'_>,
) -> Vec<String> {
    let mut found: Vec<(Span, &str)> = Vec::new();
    let mut waiting: Vec<&Stmt> = Vec::new();
    for body in bodies {
        match body {
            Body::Structured(block) => waiting.extend(&block.statements),
            Body::Graph(graph) => statements_of_graph(graph, &mut waiting),
        }
    }
    // A worklist instead of recursion: blocks may be nested deeply.
    while let Some(statement) = waiting.pop() {
        match &statement.kind {
            StmtKind::Inhale(_) => found.push((statement.span, "inhale")),
            StmtKind::Assume(_) => found.push((statement.span, "assume")),
            _ => blocks(statement, |block| waiting.extend(&block.statements)),
        }
    }
    let mut found: Vec<_> = found.into_iter().map(|(span, word)| (places.of(span), word)).collect();
    found.sort();
    found.dedup();
    let words = |(place, word): (sil::render::Place, &str)| {
        format!("{word} in method {method} ({}:{})", place.file, place.start.line)
    };
    found.into_iter().map(words).collect()
}

fn statements_of_graph<'a>(graph: &'a Graph, statements: &mut Vec<&'a Stmt>) {
    let mut waiting = vec![graph];
    while let Some(graph) = waiting.pop() {
        for node in &graph.nodes {
            match &node.kind {
                NodeKind::Block { statements: own, .. } => statements.extend(own),
                NodeKind::Loop { graph, .. } => waiting.push(graph),
            }
        }
    }
}

fn blocks<'a>(statement: &'a Stmt, mut visit: impl FnMut(&'a Block)) {
    match &statement.kind {
        StmtKind::If { then, otherwise, .. } => {
            visit(then);
            otherwise.iter().for_each(visit);
        }
        StmtKind::While { body: block, .. }
        | StmtKind::Block(block)
        | StmtKind::Package { script: block, .. } => visit(block),
        _ => {}
    }
}
