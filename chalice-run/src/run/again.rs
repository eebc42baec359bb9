//! Runs once more what went wrong, to say more about it than a run notes while nothing has gone
//! wrong yet.

use crate::choices::{Choices, parse_schedule};
use crate::code::Code;
use crate::entry;
use crate::machine::{Config, Machine, Trace, View};
use crate::run::{Failure, Outcome, Scheduling, Verdict, random_values, run};

/// The same run from the same start, with a trace of the steps that threads can notice.
pub fn traced<'c>(start: &Machine<'c>, outcome: &Outcome) -> Option<Machine<'c>> {
    let mut again = start.clone();
    again.choices.follow(parse_schedule(&outcome.schedule)?);
    again.config.trace = Trace::Sync;
    let repeated = run(&mut again, &Scheduling::First);
    // The clock may have ended the repeated run.
    (repeated.verdict == outcome.verdict).then_some(again)
}

/// Does the same schedule pass if permission is counted by thread? Then there is no race: a
/// contract asks for too little or gives too little back (runtime checking after Hegi 2013, section
/// 3.1).
pub fn passes_by_thread(
    code: &Code,
    method: u32,
    config: &Config,
    arguments: &[String],
    failure: &Failure,
    schedule: &str,
) -> bool {
    if config.view == View::Thread || !failure.id.ends_with(":insufficient.permission") {
        return false;
    }
    let config = Config { view: View::Thread, ..config.clone() };
    let Ok(mut machine) = entry::start(code, method, &config, arguments) else { return false };
    let Some(script) = parse_schedule(schedule) else { return false };
    machine.choices = Choices::new(script, random_values(0));
    run(&mut machine, &Scheduling::First).verdict == Verdict::Passed
}
