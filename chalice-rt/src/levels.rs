//! The order of lock levels, as far as the program has said what it is.
//!
//! It is partial: a total order would make unrelated objects comparable and let errors pass.
//! Relations between levels that exist never change, since a new one is placed between bounds of
//! which each lower one is below each upper one.

use std::sync::Arc;

/// A lock level: a number that says nothing of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Level(pub u32);

impl Level {
    /// `lockbottom`
    pub const BOTTOM: Self = Self(0);
}

/// Is one level below another?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    /// The first level is below the second.
    Yes,
    /// The levels are equal, the second is below the first, or the answer was decided so.
    No,
    /// Nothing in the program says so, nor the contrary.
    Open,
}

/// All levels with those below them.
#[derive(Debug, Clone)]
pub struct Levels {
    /// Sorted, for each level.
    below: Vec<Arc<Vec<u32>>>,
    /// Pairs of which a run has decided that the first is not below the second.
    apart: Arc<Vec<(Level, Level)>>,
}

impl Default for Levels {
    fn default() -> Self {
        Self { below: vec![Arc::default()], apart: Arc::default() }
    }
}

impl Levels {
    /// Is one level below another?
    pub fn below(&self, one: Level, other: Level) -> Below {
        if self.is_known_below(one, other) {
            Below::Yes
        } else if one == other
            || self.is_known_below(other, one)
            || self.apart.contains(&(one, other))
        {
            Below::No
        } else {
            Below::Open
        }
    }

    fn is_known_below(&self, one: Level, other: Level) -> bool {
        self.below[other.0 as usize].binary_search(&one.0).is_ok()
    }

    /// Returns a new level above and below others, each of the lower ones being below each of the
    /// upper ones.
    pub fn between(&mut self, lower: &[Level], upper: &[Level]) -> Level {
        let mut set = vec![Level::BOTTOM.0];
        for level in lower {
            set.push(level.0);
            set.extend(self.below[level.0 as usize].iter());
        }
        set.sort_unstable();
        set.dedup();
        let new = Level(self.below.len() as u32);
        self.below.push(Arc::new(set));
        for level in upper {
            self.relate(new, *level);
        }
        new
    }

    /// From now on, one level is not below another of which it was open whether it is.
    pub fn part(&mut self, one: Level, other: Level) {
        Arc::make_mut(&mut self.apart).push((one, other));
    }

    /// Puts one level below another of which it was open whether it is.
    pub fn relate(&mut self, one: Level, other: Level) {
        let mut more = (*self.below[one.0 as usize]).clone();
        more.push(one.0);
        for at in 0..self.below.len() {
            if at == other.0 as usize || self.below[at].binary_search(&other.0).is_ok() {
                let set = Arc::make_mut(&mut self.below[at]);
                set.extend(&more);
                set.sort_unstable();
                set.dedup();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_partial_and_transitive() {
        let mut levels = Levels::default();
        let low = levels.between(&[], &[]);
        let high = levels.between(&[low], &[]);
        let aside = levels.between(&[], &[]);
        let middle = levels.between(&[low], &[high]);
        assert_eq!(levels.below(Level::BOTTOM, aside), Below::Yes);
        assert_eq!(levels.below(low, high), Below::Yes);
        assert_eq!(levels.below(middle, low), Below::No);
        assert_eq!(levels.below(middle, middle), Below::No);
        assert_eq!(levels.below(aside, high), Below::Open);
        levels.relate(high, aside);
        assert_eq!(levels.below(low, aside), Below::Yes);
        assert_eq!(levels.below(aside, middle), Below::No);
    }
}
