//! Decisions: everything about a run that its program and start leave open.
//!
//! A run is a function of its program, start, options and decisions. Seeds only make decisions,
//! with a generator of our own, so that a seed means the same in every release.

/// Pseudo-random numbers: SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitMix(pub u64);

impl SplitMix {
    /// Returns the next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below a limit, which is not zero.
    pub fn below(&mut self, limit: u32) -> u32 {
        (self.draw() % u64::from(limit)) as u32
    }
}

/// The subject of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// The thread that runs next.
    Thread,
    /// A value that is open.
    Value,
}

/// A decision that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// The chosen alternative.
    pub choice: u32,
    /// The number of alternatives.
    pub of: u32,
    /// The subject.
    pub about: About,
}

/// Where decisions come from that nobody has written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Policy {
    /// Always the first possibility.
    First,
    /// By a seed.
    Random(SplitMix),
}

/// Takes decisions: first those of a script, then by a policy.
#[derive(Debug, Clone)]
pub struct Choices {
    script: Vec<u32>,
    policy: Policy,
    taken: Vec<Decision>,
    /// The first decision for which the script names a possibility that there is not.
    misfit: Option<usize>,
}

impl Choices {
    /// Decisions of a script, then of a policy.
    pub fn new(script: Vec<u32>, policy: Policy) -> Self {
        Self { script, policy, taken: Vec::new(), misfit: None }
    }

    /// One of so many possibilities. What is no choice is not recorded.
    pub fn choose(&mut self, of: u32, about: About) -> u32 {
        self.choose_or(of, about, |policy| match policy {
            Policy::First => 0,
            Policy::Random(random) => random.below(of),
        })
    }

    /// One of so many possibilities; beyond the script, the caller decides.
    pub(crate) fn choose_or(
        &mut self,
        of: u32,
        about: About,
        decide: impl FnOnce(&mut Policy) -> u32,
    ) -> u32 {
        if of <= 1 {
            return 0;
        }
        let scripted = self.script.get(self.taken.len()).copied();
        let choice = match scripted {
            Some(choice) => {
                if choice >= of {
                    self.misfit = self.misfit.or(Some(self.taken.len()));
                }
                choice.min(of - 1)
            }
            None => decide(&mut self.policy).min(of - 1),
        };
        self.taken.push(Decision { choice, of, about });
        choice
    }

    /// Returns the decisions taken so far.
    pub fn taken(&self) -> &[Decision] {
        &self.taken
    }

    /// Returns how the script differs from the run, in words: a decision that there was not, or, if
    /// the run `is_over`, decisions that are left.
    pub fn misfit(&self, is_over: bool) -> Option<String> {
        let taken = self.taken.len();
        if let Some(at) = self.misfit {
            let Decision { of, .. } = self.taken[at];
            let (number, choice) = (at + 1, self.script[at]);
            return Some(format!(
                "the schedule does not fit: decision {number} is {choice}, and there were {of} possibilities"
            ));
        }
        let named = self.script.len();
        (is_over && named > taken).then(|| {
            format!("the schedule does not fit: it has {named} decisions, and the run took {taken}")
        })
    }

    /// All decisions, those that were taken among them, are those of a script.
    pub fn follow(&mut self, script: Vec<u32>) {
        self.script = script;
        self.misfit = None;
    }

    /// Tries all later decisions once more in another way: first by a script, then by the policy,
    /// which goes its own way for each `number`.
    pub(crate) fn try_instead(&mut self, script: Vec<u32>, number: u32) {
        self.script = self.taken.iter().map(|decision| decision.choice).chain(script).collect();
        if let Policy::Random(random) = &mut self.policy {
            random.0 ^= u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }
}

/// Decisions as text: numbers between dots, `n*times` for one that is taken several times in a row,
/// `-` if there are none.
pub(crate) fn schedule_text(decisions: &[Decision]) -> String {
    let numbers: Vec<u32> = decisions.iter().map(|decision| decision.choice).collect();
    numbers_text(&numbers)
}

/// Choices as [`schedule_text`] writes them.
pub(crate) fn numbers_text(choices: &[u32]) -> String {
    if choices.is_empty() {
        return "-".to_owned();
    }
    let numbers: Vec<_> = choices
        .chunk_by(|one, next| one == next)
        .map(|same| match same.len() {
            1 => same[0].to_string(),
            times => format!("{}*{times}", same[0]),
        })
        .collect();
    numbers.join(".")
}

/// Reads what [`schedule_text`] writes.
pub fn parse_schedule(text: &str) -> Option<Vec<u32>> {
    if text == "-" {
        return Some(Vec::new());
    }
    let mut script = Vec::new();
    for part in text.split('.') {
        let (number, times) = part.split_once('*').unwrap_or((part, "1"));
        let (number, times): (u32, usize) = (number.parse().ok()?, times.parse().ok()?);
        // A run takes at most some millions of decisions.
        if times > 10_000_000 || script.len() > 10_000_000 {
            return None;
        }
        script.extend(std::iter::repeat_n(number, times));
    }
    Some(script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_read_back() {
        let mut choices = Choices::new(vec![2], Policy::Random(SplitMix(7)));
        for of in [3, 1, 5, 9] {
            choices.choose(of, About::Thread);
        }
        let script: Vec<_> = choices.taken().iter().map(|decision| decision.choice).collect();
        assert_eq!(script[0], 2);
        assert_eq!(script.len(), 3);
        assert_eq!(parse_schedule(&schedule_text(choices.taken())), Some(script));
        assert_eq!(parse_schedule("-"), Some(Vec::new()));
        assert_eq!(parse_schedule("1..2"), None);
        assert_eq!(parse_schedule("0*3.1"), Some(vec![0, 0, 0, 1]));
        let decision = |choice| Decision { choice, of: 9, about: About::Thread };
        assert_eq!(schedule_text(&[0, 0, 0, 1, 0].map(decision)), "0*3.1.0");
    }

    #[test]
    fn a_schedule_that_does_not_fit_is_noticed() {
        let run = |script: &[u32]| {
            let mut choices = Choices::new(script.to_vec(), Policy::First);
            choices.choose(2, About::Thread);
            choices.choose(1, About::Thread);
            choices.choose(3, About::Thread);
            choices
        };
        for fits in [&[][..], &[1], &[1, 2]] {
            assert_eq!(run(fits).misfit(true), None);
        }
        assert!(run(&[1, 3]).misfit(false).is_some_and(|words| words.contains("decision 2 is 3")));
        assert_eq!(run(&[1, 2, 0]).misfit(false), None);
        assert!(run(&[1, 2, 0]).misfit(true).is_some_and(|words| words.contains("took 2")));
    }

    #[test]
    fn a_seed_means_the_same_for_ever() {
        let mut random = SplitMix(0);
        assert_eq!(random.draw(), 0xe220_a839_7b1d_cdaf);
    }
}
