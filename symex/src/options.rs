//! The options of a run.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sil::load::Assumptions;

use crate::report::MemberKind;

/// The choices of a user. The defaults are those of the command line. Other modules start from the
/// defaults, since options may be added.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Worker threads; 0 stands for one per core.
    pub threads: usize,
    /// Members to verify, as globs over names; empty means all.
    pub members: Vec<String>,
    /// Members left out, as globs over names.
    pub excluded: Vec<String>,
    /// Methods to verify, as globs over names. Members of other kinds are not affected.
    pub methods: Vec<String>,
    pub excluded_methods: Vec<String>,
    /// The solver's resource limit for one obligation, in its own units.
    pub obligation_limit: u32,
    /// Wall-clock safety net for one member; reaching it is "gave up".
    pub member_time_limit: Option<Duration>,
    /// Wall-clock safety net for all members together.
    pub deadline: Option<Instant>,
    /// The directory for replayable solver logs, one file for each member.
    pub smt_log: Option<std::path::PathBuf>,
    /// Looks for places where everything holds ([`sil::plugins::smoke`]).
    pub smoke: bool,
    /// Tells whether amounts in preconditions of functions count as they do in those of methods.
    /// Otherwise any positive amount will do.
    pub exact_amounts_in_functions: bool,
    /// Tells whether receivers of quantified permissions are assumed to differ on inhale, as some
    /// front ends ask for. They are shown to differ on exhale.
    pub assume_injectivity_on_inhale: bool,
    /// Tells whether functions and methods without a termination clause are assumed to end. Front
    /// ends that show termination themselves send no clauses.
    pub assume_termination: bool,
    /// Tells whether a failed condition is assumed even if it is certainly false, as by the
    /// reference. Then no later error is reported.
    pub assume_failures: bool,
    /// The condition for merging branches of a method.
    pub join: Join,
    /// The questions that the solver is not asked.
    pub native: Native,
    /// The directory for traces, from which instances of each quantifier are counted. Slow. Each
    /// trace is removed when it has been read.
    pub profile: Option<std::path::PathBuf>,
    /// Tells whether each error comes with a state in which it may happen.
    pub counterexample: bool,
    /// A number that varies the run; 0 for the usual way. With another number, members are verified
    /// in another order, symbols have other names, and the solver has another seed. The claims are
    /// the same, so a verdict that differs depends on chance.
    pub variation: u32,
}

/// The results of earlier attempts at a program, for a process that goes on with the work of
/// another one.
#[derive(Clone, Default, Debug)]
pub struct Assigned {
    /// Members with a known verdict, by their names in the SIL program. There is no report on them,
    /// and they are verified only where others need their results.
    pub settled: BTreeSet<(MemberKind, String)>,
    /// Members that are not to be verified, each with the words for the report.
    pub given_up: Vec<GivenUp>,
}

/// A member that was seen to end, or to block, the process that verifies it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GivenUp {
    pub kind: MemberKind,
    /// Its name in the SIL program.
    pub name: String,
    /// Tells whether the cause is a defect of the verifier, and not a lack of time or memory.
    pub is_defect: bool,
    pub why: String,
    /// The time for which the member was being verified.
    pub time: Duration,
}

/// The use of the tableau ([`smt::tableau`]), which answers questions of few steps without Z3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Native {
    On,
    /// Without the tableau: only known assumptions spare questions to Z3.
    Off,
    /// For tests: Z3 has to prove each goal that is proved without Z3.
    Checked,
}

/// The condition for merging branches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Join {
    Auto,
    Always,
    Never,
}

impl Options {
    /// Returns the words for the limit on time that is reached.
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

    /// Returns the choices that findings depend on, as numbers. Two runs with the same numbers find
    /// the same in a program.
    pub fn of_findings(&self) -> Vec<usize> {
        let Self {
            // The choice of reported members does not change their findings.
            members: _,
            excluded: _,
            methods: _,
            excluded_methods: _,
            // Reports are the same for every number of threads.
            threads: _,
            // Members near a limit on time have no stored answers.
            deadline: _,
            member_time_limit,
            obligation_limit,
            // Answers are not used with these options.
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
