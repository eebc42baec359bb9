//! What a verdict about an SPL program relies on: it is named in the summary.

use sil::build::trusted;
use sil::syntax::Annotation;
use spl::program::Dialect;
use spl::source::Span;

use super::Lowering;

impl Lowering<'_> {
    /// The reading of the text, axioms, and free clauses: none of them is shown.
    pub(crate) fn trusted(&self) -> Vec<Annotation> {
        let dialect = match self.program.dialect {
            Dialect::Classic => "the classic dialect of SPL",
            Dialect::ClassicParts => "the classic dialect of SPL, with assertions about parts",
            Dialect::Field => "the field dialect of SPL",
        };
        let mut all = vec![trusted(&format!("that the program is meant in {dialect}"))];
        for axiom in &self.program.axioms {
            all.push(trusted(&format!("the axiom {}", self.line(axiom.span))));
        }
        for (_, procedure) in self.program.procedures.iter() {
            let clauses = procedure.requires.iter().chain(&procedure.ensures);
            for clause in clauses.filter(|clause| clause.is_free) {
                let (name, line) = (&procedure.name, self.line(clause.span));
                all.push(trusted(&format!("the free clause of {name} {line}")));
            }
        }
        all
    }

    fn line(&self, span: Span) -> String {
        let line = self.sources.line(span);
        if span.file.index() == 0 {
            format!("in line {line}")
        } else {
            format!("in line {line} of {}", self.sources.file(span.file).name)
        }
    }
}
