//! The options of a command line as texts: for people, for saved runs, for other processes.

use clap::{Parser, ValueEnum};

use super::Args;
use crate::commands::Cli;

/// The options that say where what is found goes, and which part of the work a process does.
const OF_ONE_PROCESS: [&str; 12] = [
    "message-format",
    "baseline",
    "color",
    "report",
    "stats",
    "no-stats",
    "shard",
    "costs",
    "save",
    "resume",
    "progress",
    "no-progress",
];

/// Returns the name of a choice, as it could be given.
pub(super) fn named(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}

impl Args {
    /// Returns the options in effect, one a line, as they could be given.
    pub(crate) fn configuration(&self) -> String {
        let mut lines = self.presentation.configuration();
        lines.extend([
            format!("--threads {}", self.threads),
            format!("--errors-per-member {}", self.errors_per_member()),
            format!("--limit {}", self.limit),
            format!("--member-limit {}", self.member_limit),
            format!("--time-limit {}", self.time_limit),
            format!("--join {}", named(&self.join)),
        ]);
        lines.extend(self.memory_limit.map(|limit| format!("--memory-limit {limit}")));
        lines.extend(self.no_native.then(|| "--no-native".to_owned()));
        lines.extend(self.compat.map(|tool| format!("--compat {}", named(&tool))));
        lines.extend(self.members.iter().map(|glob| format!("--member {glob}")));
        lines.extend(self.excluded.iter().map(|glob| format!("--exclude {glob}")));
        lines.extend(self.methods.iter().map(|glob| format!("--includeMethods {glob}")));
        lines.extend(self.excluded_methods.iter().map(|glob| format!("--excludeMethods {glob}")));
        lines.extend(self.at.iter().map(|lines| format!("--at {lines}")));
        lines.extend(self.language.map(|it| format!("--language {}", named(&it))));
        lines.extend(self.parameters.iter().map(|it| format!("--chalice-parameter {it}")));
        lines.extend(self.stdin_filename.iter().map(|name| format!("--stdin-filename {name}")));
        lines.extend(self.shard.iter().map(|shard| format!("--shard {shard}")));
        lines.extend(self.costs.iter().map(|path| format!("--costs {}", path.display())));
        lines.extend(self.save.iter().map(|path| format!("--save {}", path.display())));
        lines.extend(self.resume.iter().map(|path| format!("--resume {}", path.display())));
        lines.extend(self.cache.configuration());
        lines.extend(self.state.iter().map(|at| format!("--state {at}")));
        lines.extend(self.smt_log.iter().map(|path| format!("--smt-log {}", path.display())));
        for (name, on) in [
            ("profile", self.profile),
            ("audit", self.audit),
            ("check", self.check),
            ("expect", self.expect),
            ("counterexample", self.counterexample),
            ("replay", self.replay),
            ("direct", self.direct),
            ("smoke", self.smoke),
            ("exact-amounts-in-functions", self.exact_amounts_in_functions),
            ("assume-injectivity-on-inhale", self.assume_injectivity_on_inhale),
            ("assume-termination", self.assume_termination),
            ("assume-failures", self.assumes_failures()),
            ("progress", !self.no_progress),
        ] {
            lines.push(format!("--{}{name}", if on { "" } else { "no-" }));
        }
        lines.push(format!("# Z3 {}", silicon::solver_version()));
        lines.join("\n") + "\n"
    }

    /// Returns the options on which it depends what is found, as they could be given. A limit on
    /// time tells only when work ends.
    pub(crate) fn decisive(&self) -> Vec<String> {
        const OTHERS: [&str; 8] = [
            "threads",
            "time-limit",
            "smt-log",
            "cache",
            "cache-only",
            "cache-audit",
            "cache-trust",
            "cache-key",
        ];
        let configuration = self.configuration();
        let is_decisive = |line: &&str| {
            let name = line.trim_start_matches("--").split(' ').next();
            !name.is_some_and(|name| OF_ONE_PROCESS.contains(&name) || OTHERS.contains(&name))
        };
        configuration.lines().filter(is_decisive).map(str::to_owned).collect()
    }

    /// Returns the options that another process needs to verify the same, as they could be given:
    /// those that have not their default value, without those that say where what is found goes.
    pub(crate) fn carried(&self) -> Vec<String> {
        let default = Cli::parse_from(["silicon"]).args.configuration();
        let default: Vec<&str> = default.lines().collect();
        let configuration = self.configuration();
        let lines = configuration.lines().filter(|line| !default.contains(line));
        let words = lines.filter_map(|line| {
            let (name, value) = line.split_once(' ').unwrap_or((line, ""));
            let is_other = OF_ONE_PROCESS.contains(&name.trim_start_matches("--"));
            let separator = if value.is_empty() { "" } else { "=" };
            (!is_other).then(|| format!("{name}{separator}{value}"))
        });
        words.collect()
    }
}
