//! One run as several, on machines that know nothing of each other: each verifies its own share of
//! the members.
//!
//! Which shard a member belongs to is a function of the programs, of the number of shards and of
//! recorded costs. It depends on nothing that differs between machines, so each member belongs to
//! exactly one shard. A shard verifies also what its own members rely on, so what it finds is what
//! a run over everything finds.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sil::render::Place;

use symex::observer::Planned;
use symex::report::MemberKind;

/// One of several shards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// From 1 to `of`.
    pub number: usize,
    pub of: NonZeroUsize,
}

impl Shard {
    /// Everything.
    pub const WHOLE: Self = Self { number: 1, of: NonZeroUsize::MIN };
    /// More shards than this are a slip of the pen.
    pub const MOST: usize = 10_000;
}

/// As it is given: `2/3`.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let parse = || {
            let (number, of) = text.split_once('/')?;
            Some((number.parse().ok()?, of.parse::<NonZeroUsize>().ok()?))
        };
        let (number, of) = parse().ok_or(NoShard::Form)?;
        if of.get() > Self::MOST {
            Err(NoShard::TooMany)
        } else if (1..=of.get()).contains(&number) {
            Ok(Self { number, of })
        } else {
            Err(NoShard::Beyond(of))
        }
    }
}

/// A text that names no shard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoShard {
    #[error("expected two numbers, as in 2/3")]
    Form,
    #[error("there are at most {} shards", Shard::MOST)]
    TooMany,
    #[error("the first number is one from 1 to {0}")]
    Beyond(NonZeroUsize),
}

/// The costs of members in an earlier run.
#[derive(Clone, Default, Debug)]
pub struct Costs(BTreeMap<Named, f64>);

/// A text that does not tell costs.
#[derive(Debug, thiserror::Error)]
pub enum NoCosts {
    /// A line, from 1, that no run has printed.
    #[error("line {line}: {error}")]
    Line { line: usize, error: serde_json::Error },
    #[error("it has no members")]
    NoMembers,
}

/// A member, by names that stay when lines move.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Named {
    file: String,
    kind: String,
    name: String,
}

/// The part of a line of `--message-format json` that matters here.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    is: String,
    #[serde(default)]
    file: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    time_ms: f64,
}

impl Costs {
    /// Reads what a run has printed with `--message-format json`.
    pub fn read(text: &str) -> Result<Self, NoCosts> {
        let mut costs = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line: Line = serde_json::from_str(line)
                .map_err(|error| NoCosts::Line { line: index + 1, error })?;
            if line.is == "member" {
                costs.add(&line.file, &line.kind, &line.name, line.time_ms);
            }
        }
        if costs.0.is_empty() {
            return Err(NoCosts::NoMembers);
        }
        Ok(costs)
    }

    fn add(&mut self, file: &str, kind: &str, name: &str, time: f64) {
        let [file, kind, name] = [file, kind, name].map(str::to_owned);
        *self.0.entry(Named { file, kind, name }).or_insert(0.0) += time.max(0.0);
    }
}

/// By file, kind and name, with the milliseconds that a member took.
impl<'a> FromIterator<(&'a str, MemberKind, &'a str, f64)> for Costs {
    fn from_iter<I: IntoIterator<Item = (&'a str, MemberKind, &'a str, f64)>>(all: I) -> Self {
        let mut costs = Self::default();
        all.into_iter()
            .for_each(|(file, kind, name, time)| costs.add(file, kind.name(), name, time));
        costs
    }
}

/// The members of known cost, dealt to shards.
#[derive(Clone, Debug)]
pub struct Plan {
    /// From 1.
    planned: BTreeMap<Named, usize>,
    /// The work of each shard, in milliseconds.
    pub loads: Vec<f64>,
    /// The work of the longest member.
    pub longest: f64,
}

impl Plan {
    /// Gives each member to the shard that has least to do, the most expensive member first.
    pub fn new(of: NonZeroUsize, Costs(costs): &Costs) -> Self {
        let mut members: Vec<(&Named, f64)> = costs.iter().map(|(it, cost)| (it, *cost)).collect();
        members.sort_by(|(left, a), (right, b)| b.total_cmp(a).then_with(|| left.cmp(right)));
        let longest = members.first().map_or(0.0, |(_, cost)| *cost);
        let mut loads = vec![0.0; of.get()];
        let mut planned = BTreeMap::new();
        for (member, cost) in members {
            let least = (0..loads.len()).min_by(|&a, &b| f64::total_cmp(&loads[a], &loads[b]));
            let least = least.expect("there is a shard");
            // So members that cost nothing are dealt, too.
            loads[least] += cost.max(LEAST_COST);
            planned.insert(member.clone(), least + 1);
        }
        Self { planned, loads, longest }
    }

    /// Returns the work of the busiest shard, in milliseconds.
    pub fn busiest(&self) -> f64 {
        self.loads.iter().copied().fold(0.0, f64::max)
    }

    /// Returns how often that is in all work.
    pub fn speed_up(&self) -> f64 {
        self.loads.iter().sum::<f64>() / self.busiest().max(LEAST_COST)
    }
}

/// The members that a run verifies.
#[derive(Clone, Debug)]
pub struct Sharding {
    pub shard: Shard,
    /// The shards of members whose cost is known.
    planned: BTreeMap<Named, usize>,
    /// The shards that members of unknown cost are dealt to, from 0: those that have not much more
    /// to do than others.
    open: Vec<usize>,
}

/// A member, and the shard that it belongs to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Dealt {
    pub kind: MemberKind,
    /// The author's name of the member.
    pub name: String,
    pub place: Place,
    /// From 1.
    pub shard: usize,
}

impl Sharding {
    /// Deals members of known cost as a [`Plan`] does.
    pub fn new(shard: Shard, costs: Costs) -> Self {
        let Plan { planned, loads, .. } = Plan::new(shard.of, &costs);
        let (all, count) = (loads.iter().sum::<f64>(), planned.len().max(1));
        let most = all / loads.len() as f64 + all / count as f64;
        let open = (0..loads.len()).filter(|&it| loads[it] <= most).collect();
        Self { shard, planned, open }
    }

    /// Returns the shards of all members of a file, in their order. Those of unknown cost are dealt
    /// in turn, long texts first. `names` are those that their author uses.
    pub(super) fn deal(&self, file: &str, members: &[Planned], names: &[String]) -> Vec<usize> {
        let mut shards: Vec<Option<usize>> = members
            .iter()
            .zip(names)
            .map(|(member, name)| {
                let (kind, name) = (member.kind.name().to_owned(), name.clone());
                self.planned.get(&Named { file: file.to_owned(), kind, name }).copied()
            })
            .collect();
        let mut unknown: Vec<usize> =
            (0..members.len()).filter(|&index| shards[index].is_none()).collect();
        let length =
            |index: usize| members[index].span.end.saturating_sub(members[index].span.start);
        unknown.sort_by_key(|&index| (Reverse(length(index)), index));
        let first = first_of(file, self.open.len());
        for (turn, index) in unknown.into_iter().enumerate() {
            shards[index] = Some(self.open[(first + turn) % self.open.len()] + 1);
        }
        shards.into_iter().flatten().collect()
    }
}

/// The least cost of a member, in milliseconds.
const LEAST_COST: f64 = 0.1;

/// Returns where dealing to so many shards begins, so that small files do not all begin with the
/// same one.
fn first_of(file: &str, of: usize) -> usize {
    let digest = Sha256::digest(file);
    usize::from(u16::from_le_bytes([digest[0], digest[1]])) % of
}

#[cfg(test)]
mod tests {
    use sil::source::Span;

    use super::*;

    fn members(lengths: &[u32]) -> (Vec<Planned>, Vec<String>) {
        let names: Vec<String> = (0..lengths.len()).map(|index| format!("m{index}")).collect();
        let span = |end| Span { start: 0, end, ..Span::default() };
        let planned = |(name, &length): (&String, _)| Planned {
            kind: MemberKind::Method,
            name: name.clone(),
            span: span(length),
        };
        (names.iter().zip(lengths).map(planned).collect(), names)
    }

    fn loads(shards: &[usize], costs: &[f64]) -> Vec<f64> {
        let mut loads = vec![0.0; *shards.iter().max().expect("there is one")];
        shards.iter().zip(costs).for_each(|(shard, cost)| loads[shard - 1] += cost);
        loads
    }

    #[test]
    fn each_shard_deals_alike_and_each_member_belongs_to_one() {
        let (members, names) = members(&[5, 50, 7, 3, 50, 1, 9]);
        for of in 1..=9 {
            let dealt = |number| {
                let shard = Shard { number, of: NonZeroUsize::new(of).expect("not zero") };
                Sharding::new(shard, Costs::default()).deal("a.sil", &members, &names)
            };
            let first = dealt(1);
            assert_eq!(first.len(), members.len());
            assert!(first.iter().all(|shard| (1..=of).contains(shard)));
            assert!((2..=of).all(|number| dealt(number) == first));
            let share = |shard| first.iter().filter(|&&one| one == shard).count();
            let shares: Vec<usize> = (1..=of).map(share).collect();
            assert!(shares.iter().max() <= shares.iter().min().map(|least| least + 1).as_ref());
            assert!(of == 1 || first[1] != first[4], "the two long ones go to two shards");
        }
    }

    #[test]
    fn recorded_costs_balance() {
        let costs = [90.0, 10.0, 30.0, 40.0, 20.0, 80.0, 0.0];
        let line = |(index, cost): (usize, &f64)| {
            format!(
                r#"{{"type":"member","file":"a","kind":"method","name":"m{index}","time_ms":{cost}}}"#
            )
        };
        let text: Vec<String> = costs.iter().enumerate().map(line).collect();
        let text = format!("{{\"v\":1,\"type\":\"run\"}}\n{}\n", text.join("\n"));
        let costs_read = Costs::read(&text).expect("well formed");
        let shard: Shard = "2/3".parse().expect("well formed");
        let sharding = Sharding::new(shard, costs_read);
        let (members, names) = members(&[1; 7]);
        let shards = sharding.deal("a", &members, &names);
        assert_eq!(loads(&shards, &costs), [90.0, 90.0, 90.0]);
        assert_ne!(sharding.deal("b", &members, &names), shards, "costs are those of a file");
    }

    /// Returns the costs of one file, by member.
    fn costs(costs: &[f64]) -> Costs {
        let name = |index| format!("m{index}");
        let names: Vec<String> = (0..costs.len()).map(name).collect();
        let all = names.iter().zip(costs);
        all.map(|(name, &cost)| ("known", MemberKind::Method, &**name, cost)).collect()
    }

    #[test]
    fn who_has_most_to_do_gets_nothing_unknown() {
        let (members, names) = members(&[1; 12]);
        let shard: Shard = "1/4".parse().expect("well formed");
        let sharding = Sharding::new(shard, costs(&[1000.0, 10.0, 11.0, 12.0]));
        let shards = sharding.deal("new", &members, &names);
        let count = |of| shards.iter().filter(|&&shard| shard == of).count();
        assert_eq!([1, 2, 3, 4].map(count), [0, 4, 4, 4]);
        // Loads that differ by less than a member are alike.
        let sharding = Sharding::new(shard, costs(&[10.0, 11.0, 12.0, 13.0]));
        let shards = sharding.deal("new", &members, &names);
        let count = |of| shards.iter().filter(|&&shard| shard == of).count();
        assert_eq!([1, 2, 3, 4].map(count), [3; 4]);
    }

    #[test]
    fn a_plan_is_as_long_as_its_longest_member_at_least() {
        let of = |number| NonZeroUsize::new(number).expect("not zero");
        let small = [5.0; 100];
        assert!((Plan::new(of(8), &costs(&small)).speed_up() - 500.0 / 65.0).abs() < 1e-9);
        let with_long = [&[250.0][..], &small].concat();
        let plan = Plan::new(of(8), &costs(&with_long));
        assert!((plan.speed_up() - 3.0).abs() < 1e-9 && (plan.longest - 250.0).abs() < 1e-9);
        assert!((Plan::new(of(1), &Costs::default()).speed_up()).abs() < 1e-9);
    }

    #[test]
    fn costs_that_are_none_are_refused() {
        for text in ["", "x", "{}", "{\"type\":\"run\"}", "{\"type\":\"member\",\"name\":1}"] {
            assert!(Costs::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shards_are_written_as_fractions() {
        for text in ["1/1", "3/3", "2/10000"] {
            assert_eq!(text.parse::<Shard>().map(|shard| shard.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "1", "0/1", "2/1", "1/0", "-1/2", "1/2/3", "1/10001", "a/b"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
