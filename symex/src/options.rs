//! The options of a run.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sil::load::Assumptions;

use crate::report::MemberKind;

/// The choices of a user. The defaults are those of the command line; options may be added, so
/// they are made from these.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Worker threads; 0 stands for one per core.
    pub threads: usize,
    /// Members to verify, as globs over names; empty: all.
    pub members: Vec<String>,
    /// Members left out, as globs over names.
    pub excluded: Vec<String>,
    /// The same for methods only: these say nothing of members of other kinds.
    pub methods: Vec<String>,
    pub excluded_methods: Vec<String>,
    /// The solver's resource limit for one obligation, in its own units.
    pub obligation_limit: u32,
    /// Wall-clock safety net for one member; reaching it is "gave up".
    pub member_time_limit: Option<Duration>,
    /// Wall-clock safety net for all members together.
    pub deadline: Option<Instant>,
    /// Directory for replayable solver logs, one file a member.
    pub smt_log: Option<std::path::PathBuf>,
    /// Look for places where everything holds ([`sil::plugins::smoke`]).
    pub smoke: bool,
    /// The amounts in preconditions of functions count, as they do in those of methods, instead of
    /// only whether there is some permission.
    pub exact_amounts_in_functions: bool,
    /// Receivers of quantified permissions are shown to differ where permissions are exhaled, and
    /// taken to differ where they are inhaled, as some front ends ask for.
    pub assume_injectivity_on_inhale: bool,
    /// Functions and methods without a termination clause end: front ends that show it themselves
    /// send none.
    pub assume_termination: bool,
    /// A failed condition is assumed even where it is certainly false, as by the reference: no
    /// error behind it is reported.
    pub assume_failures: bool,
    /// When branches of a method are merged again.
    pub join: Join,
    /// Which questions the solver is not asked.
    pub native: Native,
    /// Count the instances of each quantifier. Slow: Z3 writes traces for it, to this directory;
    /// each is removed when it has been read.
    pub profile: Option<std::path::PathBuf>,
    /// Give a state in which it may go wrong with every error.
    pub counterexample: bool,
    /// 0: as always. With another number, members are verified in another order, symbols have other
    /// names, and the solver has another seed. What is to be shown is the same: where the verdict
    /// is not, the proof depends on chance.
    pub variation: u32,
}

/// The results of earlier attempts at a program, where a process goes on with the work of another
/// one.
#[derive(Clone, Default, Debug)]
pub struct Assigned {
    /// Members whose verdict is known, by their names in the SIL program: there is no report on
    /// them, and they are verified only where others need what they show.
    pub settled: BTreeSet<(MemberKind, String)>,
    /// Members that are not to be verified, with what to say of each.
    pub given_up: Vec<GivenUp>,
}

/// A member that was seen to end, or to block, the process that verifies it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GivenUp {
    pub kind: MemberKind,
    /// Its name in the SIL program.
    pub name: String,
    /// The cause is a defect of the verifier, and not a lack of time or memory.
    pub is_defect: bool,
    pub why: String,
    /// How long it was being verified.
    pub time: Duration,
}

/// The use of the tableau ([`smt::tableau`]), which answers questions of few steps without Z3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Native {
    On,
    /// Z3 is asked all that what is assumed does not answer at once.
    Off,
    /// For tests: whatever is proved without Z3 has to be proved by Z3 as well.
    Checked,
}

/// When branches are merged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Join {
    Auto,
    Always,
    Never,
}

impl Options {
    /// Which of the limits on time is reached, where one is.
    pub fn limit_reached(&self) -> String {
        match (self.deadline, self.member_time_limit) {
            (Some(deadline), _) if Instant::now() >= deadline => {
                "the time limit of the run is reached (--time-limit)".to_owned()
            }
            (_, Some(limit)) => {
                let seconds = limit.as_secs_f64();
                format!("the time limit of the member, {seconds} s, is reached (--member-limit)")
            }
            _ => "a time limit is reached".to_owned(),
        }
    }

    /// Returns the choices that findings depend on, as numbers: two runs whose numbers are the same
    /// find the same in a program.
    pub fn of_findings(&self) -> Vec<usize> {
        let Self {
            // Which members are reported on does not change what is found in them.
            members: _,
            excluded: _,
            methods: _,
            excluded_methods: _,
            // Reports are the same for every number of threads.
            threads: _,
            // Members near a limit on time have no answers that are kept.
            deadline: _,
            member_time_limit,
            obligation_limit,
            // Answers are not used then.
            smt_log: _,
            profile: _,
            smoke,
            exact_amounts_in_functions,
            assume_injectivity_on_inhale,
            assume_termination,
            assume_failures,
            join,
            native,
            counterexample,
            variation,
        } = self;
        vec![
            member_time_limit.unwrap_or(Duration::MAX).as_millis() as usize,
            *obligation_limit as usize,
            *variation as usize,
            usize::from(*smoke),
            usize::from(*exact_amounts_in_functions),
            usize::from(*assume_injectivity_on_inhale),
            usize::from(*assume_termination),
            usize::from(*assume_failures),
            usize::from(*counterexample),
            *join as usize,
            *native as usize,
        ]
    }

    /// Returns the assumptions for the front end.
    pub fn assumptions(&self) -> Assumptions {
        Assumptions {
            termination: self.assume_termination,
            exact_amounts_in_functions: self.exact_amounts_in_functions,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 0,
            members: Vec::new(),
            excluded: Vec::new(),
            methods: Vec::new(),
            excluded_methods: Vec::new(),
            obligation_limit: 40_000_000,
            member_time_limit: Some(Duration::from_secs(120)),
            deadline: None,
            variation: 0,
            smt_log: None,
            smoke: false,
            exact_amounts_in_functions: false,
            assume_injectivity_on_inhale: false,
            assume_termination: false,
            assume_failures: false,
            join: Join::Auto,
            native: Native::On,
            profile: None,
            counterexample: false,
        }
    }
}
