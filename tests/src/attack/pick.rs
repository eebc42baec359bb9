//! Choices by a seed.

/// A source of choices.
pub(super) struct Picker(fastrand::Rng);

impl Picker {
    pub(super) fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// Decides with a probability in percent.
    pub(super) fn chance(&mut self, percent: u32) -> bool {
        self.0.u32(0..100) < percent
    }

    /// A number below a positive bound.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0.usize(0..bound)
    }

    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        self.0.i64(low..=high)
    }

    pub(super) fn of<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }

    pub(super) fn one<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        if choices.is_empty() { None } else { choices.get(self.below(choices.len())) }
    }

    /// A text of those that there are.
    pub(super) fn text(&mut self, choices: &[String]) -> Option<String> {
        self.one(choices).cloned()
    }
}
