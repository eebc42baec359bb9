//! Evaluation for all paths in the middle of one. The axioms of domains need it, since they are
//! evaluated at the prover's first question.
//!
//! SOUNDNESS: the results are kept for all paths, so nothing of the present path may have a part in
//! them: no fact, no answer of the prover, no mode of evaluation. [`Engine::exchange`] names every
//! field above [`Symbols`](crate::Symbols), so a new field does not compile before somebody has
//! decided its kind. Symbols are the same on all paths.

use std::mem::swap;

use crate::findings::incidents::Incidents;
use crate::run::explore::Run;
use crate::run::scopes::Knowledge;
use crate::state::State;
use crate::state::mode::{Gathered, Mode};
use crate::{Configuration, Engine, Path, Stop};

/// The state of an engine that belongs to its place on a path.
struct Situation<'p> {
    state: State<'p>,
    mode: Mode,
    gathered: Gathered,
    incidents: Incidents,
    knowledge: Knowledge,
    run: Run,
}

impl<'p> Engine<'p> {
    /// Runs where nothing is known of the present path, and nothing is in progress. The prover,
    /// which knows the path, is not asked.
    pub fn apart<T>(
        &mut self,
        state: State<'p>,
        run: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let mut situation = Situation {
            state,
            mode: Mode { is_apart: true, ..Mode::default() },
            gathered: Gathered::default(),
            incidents: Incidents::default(),
            knowledge: Knowledge::default(),
            run: Run::default(),
        };
        self.exchange(&mut situation);
        let result = run(self);
        debug_assert!(result.is_err() || self.knowledge.scopes.len() == 1, "every scope was left");
        self.exchange(&mut situation);
        result
    }

    /// Exchanges the situation of the engine with another one.
    fn exchange(&mut self, other: &mut Situation<'p>) {
        let Self { config, incidents, evaluated: _ } = self;
        let Configuration { path, frame, here } = config;
        let Path {
            // Terms, their meaning, and other knowledge that is the same in all situations.
            symbols: _,
            // Axioms that the prover keeps in all situations.
            prover: _,
            // The findings, and the cost.
            log: _,
            mode,
            gathered,
            knowledge,
            run,
        } = path;
        swap(frame, &mut other.state.frame);
        swap(here, &mut other.state.here);
        swap(mode, &mut other.mode);
        swap(gathered, &mut other.gathered);
        swap(incidents, &mut other.incidents);
        swap(knowledge, &mut other.knowledge);
        swap(run, &mut other.run);
    }
}
