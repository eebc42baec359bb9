//! Evaluating something for all paths in the middle of one: axioms of domains, which are evaluated
//! when the prover is first asked something.
//!
//! SOUNDNESS: what comes of it is kept for all paths, so nothing of the present one may have a part
//! in it: no fact, no answer of the prover, no mode of evaluation. [`Engine::exchange`] names every
//! field above [`Symbols`](crate::Symbols), so a new one does not compile before somebody has
//! decided which kind it is; symbols are the same on all paths.

use std::mem::swap;

use crate::findings::incidents::Incidents;
use crate::run::explore::Run;
use crate::run::scopes::Knowledge;
use crate::state::State;
use crate::state::mode::{Gathered, Mode};
use crate::{Configuration, Engine, Path, Stop};

/// All that belongs to the place where an engine is.
struct Situation<'p> {
    state: State<'p>,
    mode: Mode,
    gathered: Gathered,
    incidents: Incidents,
    knowledge: Knowledge,
    run: Run<'p>,
}

impl<'p> Engine<'p> {
    /// Runs where nothing is known of the present path, and nothing is being done; the prover,
    /// which knows it, is not asked.
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

    /// Goes where another situation is, and leaves the present one there.
    fn exchange(&mut self, other: &mut Situation<'p>) {
        let Self { config, incidents, evaluated: _ } = self;
        let Configuration { path, frame, here } = config;
        let Path {
            // Terms, what they mean, and what is the same wherever the engine is.
            symbols: _,
            // What the prover has been told for good.
            prover: _,
            // What has been found, and what it has cost.
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
