//! The unproved assumptions of a verdict about an SPL program, for the summary.

use sil::build::trusted;
use sil::syntax::Annotation;
use spl::Program;
use spl::program::Dialect;
use spl::source::{Sources, Span};

/// Returns the reading of the text, axioms, and free clauses: none of them is shown.
pub(super) fn annotations(sources: &Sources, program: &Program) -> Vec<Annotation> {
    let dialect = match program.dialect {
        Dialect::Classic => "the classic dialect of SPL",
        Dialect::ClassicParts => "the classic dialect of SPL, with assertions about parts",
        Dialect::Field => "the field dialect of SPL",
    };
    let mut all = vec![trusted(&format!("that the program is meant in {dialect}"))];
    for axiom in &program.axioms {
        all.push(trusted(&format!("the axiom {}", line(sources, axiom.span))));
    }
    for (_, procedure) in program.procedures.iter() {
        let clauses = procedure.requires.iter().chain(&procedure.ensures);
        for clause in clauses.filter(|clause| clause.is_free) {
            let (name, line) = (&procedure.name, line(sources, clause.span));
            all.push(trusted(&format!("the free clause of {name} {line}")));
        }
    }
    all
}

fn line(sources: &Sources, span: Span) -> String {
    let line = sources.file(span.file).line(span.start);
    if span.file.index() == 0 {
        format!("in line {line}")
    } else {
        format!("in line {line} of {}", sources.file(span.file).name)
    }
}
