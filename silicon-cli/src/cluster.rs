//! `silicon cluster`: one run on several machines, as shards that are merged.

mod slurm;
mod workflow;

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueHint};
use silicon::session::shard::{Costs, Plan, Shard};

use crate::about::quoted;
use crate::args::Args;
use slurm::Slurm;

/// Verify on several machines, each of which has a share of the members.
#[derive(Parser, Debug)]
pub(crate) struct Cluster {
    #[command(subcommand)]
    service: Service,
}

#[derive(Subcommand, Debug)]
enum Service {
    Slurm(Box<Slurm>),
    /// Print a workflow for GitHub: each shard is a job
    Github(Box<Work>),
    /// Print a pipeline for GitLab: each shard is a job
    Gitlab(Box<Work>),
    /// Say how long the longest of so many shards would take, by the costs of an earlier run: the
    /// work of members, without that of reading the programs in each shard
    Plan {
        /// The file that an earlier run saved, or its output with --message-format json
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        costs: PathBuf,
        /// A number of shards (repeatable)
        #[arg(long, value_name = "N", value_parser = shards, default_values = ["2", "8", "64"])]
        shards: Vec<NonZeroUsize>,
    },
}

/// The programs to verify, and the number of shards.
#[derive(ClapArgs, Debug)]
#[command(args_override_self = true)]
struct Work {
    /// Split the members among so many jobs
    #[arg(long, value_name = "N", value_parser = shards)]
    shards: NonZeroUsize,

    #[command(flatten)]
    args: Args,
}

/// Does what is asked, and returns the exit code.
pub(crate) fn run(asked: Cluster) -> anyhow::Result<u8> {
    match asked.service {
        Service::Slurm(slurm) => slurm::run(*slurm),
        Service::Github(work) => print(&work, workflow::github),
        Service::Gitlab(work) => print(&work, workflow::gitlab),
        Service::Plan { costs, shards } => match crate::run::costs(&costs) {
            Ok(costs) => plan(&costs, &shards),
            Err(error) => Ok(crate::refuse(&format!("{error:#}"))),
        },
    }
}

fn print(work: &Work, workflow: fn(&Work) -> String) -> anyhow::Result<u8> {
    if let Some(complaint) = work.complaint() {
        return Ok(crate::refuse(complaint));
    }
    write!(io::stdout(), "{}", workflow(work))?;
    Ok(0)
}

/// Prints what machines would be worth.
fn plan(costs: &Costs, shards: &[NonZeroUsize]) -> anyhow::Result<u8> {
    let mut out = io::stdout().lock();
    let seconds = |milliseconds: f64| format!("{:.1} s", milliseconds / 1000.0);
    let mut bounds = (0.0, 0.0);
    writeln!(out, "shards   longest  speed-up")?;
    for &of in shards {
        let plan = Plan::new(of, costs);
        let busiest = seconds(plan.busiest());
        writeln!(out, "{of:>6}{busiest:>10}{:>10.1}", plan.speed_up())?;
        bounds = (plan.longest, plan.loads.iter().sum());
    }
    let (longest, all) = (seconds(bounds.0), seconds(bounds.1));
    writeln!(out, "The longest member takes {longest} of {all}.")?;
    Ok(0)
}

fn shards(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse::<NonZeroUsize>().ok().filter(|number| number.get() <= Shard::MOST);
    number.ok_or_else(|| format!("expected a number from 1 to {}", Shard::MOST))
}

impl Work {
    /// Returns a mistake in the arguments that clap does not see.
    fn complaint(&self) -> Option<&'static str> {
        let args = &self.args;
        if args.inputs.iter().any(|input| input.as_os_str() == "-") {
            return Some(
                "standard input cannot be split among machines: name files or directories",
            );
        }
        for (option, is_given) in [
            ("--shard is for the jobs: use --shards", args.shard.is_some()),
            ("--save is for the jobs", args.save.is_some()),
            ("--expect does not go with shards", args.expect),
            ("--state does not go with shards", args.state.is_some()),
            ("--watch does not go with shards", args.watch),
            ("--dump does not go with shards", args.dump.is_some()),
            ("--print-config does not go with shards", args.print_config),
        ] {
            if is_given {
                return Some(option);
            }
        }
        args.complaint()
    }

    /// Returns the words of the command that verifies one shard, but for where it is saved. `shard`
    /// is a text of the shell.
    fn command(&self, silicon: &str, shard: &str) -> String {
        let mut words = vec![silicon.to_owned()];
        words.extend(self.args.carried().iter().map(|word| quoted(word)));
        words.push(format!("--shard {shard}/{}", self.shards));
        if let Some(costs) = &self.args.costs {
            words.push(format!("--costs {}", quoted(&costs.display().to_string())));
        }
        words.join(" ")
    }

    /// Returns the programs, as words of the shell.
    fn programs(&self) -> String {
        let inputs = self.args.inputs.iter().map(|input| quoted(&input.display().to_string()));
        inputs.collect::<Vec<_>>().join(" ")
    }
}
