//! Predicates: the body is self-framing and defined.

use sil::program::{Expr, PredicateId};

use crate::ahead::ways;
use crate::analysis::has_two_readings;
use crate::rules::Sil;
use symex::findings::blame::{Blame, ErrorId};
use symex::rules::assertion::conjuncts;
use symex::rules::language::Language;
use symex::state::State;
use symex::state::mode::Mode;
use symex::whole::Fact;
use symex::{Amounts, Explore, Stop, View};

impl Sil<'_, '_> {
    /// Verifies a predicate: its body has to be self-framing and defined.
    pub fn verify_predicate(&mut self, predicate: PredicateId) -> Result<(), Stop> {
        let program = self.program;
        let declaration = &program.predicates[predicate];
        let Some(body) = &declaration.body else { return Ok(()) };
        self.set_state(State::new(&declaration.locals));
        self.havoc(declaration.formals.iter().copied());
        // SOUNDNESS: more than full permission is no contradiction here, and tells nothing. A part
        // of an instance may be held, which has a part of each amount (trap T4). Assertions inside
        // of expressions may build on sums of amounts, so they are left out. Amounts that may be
        // negative are left out too. Each fold shows that they are not negative, also of a part,
        // unless it reads the body in another way.
        self.here.heap.amounts = Amounts::SomeOrNone;
        let blame = Blame::new(ErrorId::PredicateNotWellformed, declaration.span);
        // The predicate is to blame, or in a translated program the part of it with a place of its
        // own.
        let clauses: Vec<_> =
            conjuncts::<Sil>([body]).into_iter().map(|(_, clause)| clause).collect();
        let blame_of = |clause: &Expr| {
            let has_place = clause.span.origin != declaration.span.origin;
            if has_place { Blame { span: clause.span, ..blame } } else { blame }
        };
        self.mode.joins = self.merges_ways(ways(body));
        let without_sums = |sil: &mut Self| {
            sil.scoped(None, |sil| {
                sil.explore(|sil| {
                    sil.produce_all(clauses.iter().copied(), None, blame_of)?;
                    if sil.seems_dead()? { Err(Stop::Infeasible) } else { Ok(()) }
                })
            })
        };
        let leave_out = |mode: &mut Mode| {
            mode.leaves_out_assertions = true;
            mode.leaves_out_amounts = !has_two_readings(body);
        };
        // The parts that have been left out count as shown only inside.
        let (paths, _) = self.in_mode(leave_out, without_sums)?;
        let paths = paths?;
        if paths.is_empty() {
            self.log.warn_of_contradiction(body.span, "the body of the predicate");
        }
        // The left-out parts are shown here for a whole instance. Uses of a part show them for that
        // part. Other failures of the body occur again on the way, and have been reported above.
        let has_open_amounts = std::mem::take(&mut self.gathered.open_amounts);
        if has_open_amounts || self.of_program(Fact::IsAsserting(predicate)) {
            self.here.heap.amounts = Amounts::Exact;
            self.explore(|sil| sil.produce_all(clauses.iter().copied(), None, blame_of))?;
        }
        Ok(())
    }
}
