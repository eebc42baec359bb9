//! Plants misuse into Chalice programs that run, and looks whether `chalice-run` notices it.
//!
//! `cargo run --release -p sil-tests --bin attack -- misuse --count 200 DIR..` plants at so many
//! places of the programs below `DIR` (`sil_tests::misuse`), as many as possible in programs of
//! their own. Exit code: 0 if all of it is noticed, 1 otherwise.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use sil_tests::attack::in_order;
use sil_tests::cross_check::{Limits, programs};
use sil_tests::misuse::{Fate, Site, judge, sites};

/// Makes checks fail in programs that run, and looks whether that is noticed.
#[derive(Args)]
pub(super) struct Options {
    /// Places at which something is planted
    #[arg(long, default_value_t = 200)]
    count: usize,
    /// Chooses places, values and schedules
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Starts of each method
    #[arg(long, default_value_t = 8)]
    starts: u64,
    /// Programs at a time; 0: one per core
    #[arg(short = 'j', long, default_value_t = 0)]
    jobs: usize,
    /// Programs, and directories of programs
    #[arg(required = true, value_name = "DIR")]
    paths: Vec<PathBuf>,
}

/// A program and the places where something can be planted, in the order in which they are used.
struct Candidate {
    name: String,
    text: String,
    sites: Vec<Site>,
}

fn candidate(path: &PathBuf, seed: u64, limits: Limits) -> io::Result<Candidate> {
    let text = fs::read_to_string(path)?;
    let name = path.display().to_string();
    let mut sites = sites(&name, &text, limits);
    let mut random = fastrand::Rng::with_seed(seed);
    random.shuffle(&mut sites);
    // Kinds that come up everywhere must not hide the others.
    let mut used = BTreeMap::new();
    let mut ranked: Vec<_> = sites
        .into_iter()
        .map(|site| {
            let count: &mut usize = used.entry(site.kind).or_default();
            *count += 1;
            (*count, site)
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let mut sites: Vec<_> = ranked.into_iter().map(|(_, site)| site).collect();
    let kinds = used.len().min(sites.len());
    random.shuffle(&mut sites[..kinds]);
    Ok(Candidate { name, text, sites })
}

pub(super) fn run_command(args: &Options) -> anyhow::Result<ExitCode> {
    let limits = Limits {
        starts: args.starts,
        seed: args.seed,
        steps: 20_000,
        patience: 2_000,
        visible: None,
    };
    let files: Vec<PathBuf> = args.paths.iter().flat_map(|path| programs(path)).collect();
    let mut candidates = Vec::new();
    let made = in_order(0..files.len(), args.jobs, |index| {
        candidate(&files[index], args.seed.wrapping_add(index as u64), limits)
    });
    for one in made {
        candidates.push(one.map_err(anyhow::Error::msg)??);
    }
    let most = candidates.iter().map(|one| one.sites.len()).max().unwrap_or(0);
    let order: Vec<(&Candidate, &Site)> = (0..most)
        .flat_map(|at| candidates.iter().filter_map(move |one| Some((one, one.sites.get(at)?))))
        .collect();
    let mut out = io::stdout().lock();
    let (mut planted, mut missed, mut next) = (0, 0, 0);
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    let mut used: Vec<&str> = Vec::new();
    // A place that gives no program is replaced by the next one.
    while planted < args.count && next < order.len() {
        let batch = &order[next..order.len().min(next + args.count - planted)];
        next += batch.len();
        let fates = in_order(0..batch.len(), args.jobs, |index| {
            let (program, site) = batch[index];
            judge(&program.name, &program.text, site, limits)
        });
        for ((program, site), fate) in batch.iter().zip(fates) {
            let fate = fate.map_err(anyhow::Error::msg)?;
            if fate == Fate::Rejected {
                continue;
            }
            planted += 1;
            *kinds.entry(site.kind.name()).or_default() += 1;
            if !used.contains(&program.name.as_str()) {
                used.push(&program.name);
            }
            if let Fate::Missed(how) = fate {
                missed += 1;
                writeln!(out, "MISSED {}: {site}: {how}", program.name)?;
            }
        }
    }
    writeln!(out, "planted {planted} in {} programs, missed {missed}", used.len())?;
    for (kind, count) in kinds {
        writeln!(out, "  {kind}: {count}")?;
    }
    Ok(if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
