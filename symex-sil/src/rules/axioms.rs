//! Axioms of domains. They are evaluated for all paths, at the prover's first question after the
//! first use of an instance.

use sil::program::{DomainId, Expr, Type};

use crate::rules::Sil;
use symex::findings::blame::{Blame, ErrorId};
use symex::state::State;
use symex::{Explore, Stop, Symbols, View};

impl Sil<'_, '_> {
    pub(crate) fn add_axiom(&mut self, body: &Expr) -> Result<(), Stop> {
        let blame = Blame::new(ErrorId::NotWellformed, body.span).trusted();
        let (value, facts) = self.scoped(None, |sil| sil.join(|sil| sil.eval(body, blame)))?;
        for fact in facts.into_iter().chain([value?]) {
            self.prover.add_axiom(fact);
        }
        Ok(())
    }

    pub(crate) fn tell_domain(&mut self, domain: DomainId, instance: &[Type]) -> Result<(), Stop> {
        let program = self.program;
        let declaration = &program.domains[domain];
        self.assume_unique(declaration, instance);
        self.domains.axioms_in_progress += 1;
        // Axioms hold on all paths, and are not replayed.
        let types = Symbols::type_arguments(declaration, instance);
        let (result, _) = self.exchanging(
            |engine| &mut engine.domains.type_arguments,
            types,
            |sil| {
                declaration.axioms.iter().try_for_each(|axiom| {
                    let state = State::new(&axiom.locals);
                    sil.apart(state, |engine| Sil::of(engine).add_axiom(&axiom.body))
                })
            },
        );
        self.domains.axioms_in_progress -= 1;
        result
    }
}
