//! The known name that is meant where an unknown one is written.

use std::cell::Cell;

/// How many characters are compared for all the names of a program together. Without a limit, a
/// machine-made program with many unknown names would be compared with all its known ones.
const MOST_COMPARED: usize = 20_000_000;

/// Names longer than this are not compared.
const LONGEST: usize = 64;

/// Finds the names that are meant, at a limited cost.
#[derive(Clone, Debug)]
pub struct Spelling {
    left: Cell<usize>,
}

impl Default for Spelling {
    fn default() -> Self {
        Self { left: Cell::new(MOST_COMPARED) }
    }
}

impl Spelling {
    /// Returns the candidate nearest to `name`, if it is near enough: at most a third of the
    /// letters are wrong, missing, too many or swapped. Of several the first in the alphabet, so
    /// that their order does not matter.
    pub fn nearest<'a>(
        &self,
        name: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Option<&'a str> {
        let length = name.len();
        if length > LONGEST {
            return None;
        }
        // Every other name is near one with one letter or two.
        let limit = length / 3;
        let distance = |candidate: &'a str| {
            if candidate == name || candidate.len().abs_diff(length) > limit {
                return None;
            }
            self.left.set(self.left.get().checked_sub(length)?);
            let distance = if name.eq_ignore_ascii_case(candidate) {
                0
            } else {
                strsim::osa_distance(name, candidate)
            };
            (distance <= limit).then_some((distance, candidate))
        };
        let nearest = candidates.into_iter().filter_map(distance).min();
        nearest.map(|(_, candidate)| candidate)
    }

    /// Returns the end of a message about the unknown `name`: the question whether the nearest
    /// candidate is meant, or nothing.
    pub fn question<'a>(
        &self,
        name: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> String {
        self.nearest(name, candidates).map_or(String::new(), did_you_mean)
    }
}

/// Returns the end of a message about something unknown, for which `candidate` may be meant.
pub fn did_you_mean(candidate: &str) -> String {
    format!("; did you mean `{candidate}`?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found() {
        let spelling = Spelling::default();
        let names = ["value", "next", "length", "Int"];
        for (name, expected) in [
            ("vlaue", Some("value")),
            ("lenght", Some("length")),
            ("nxt", Some("next")),
            ("int", Some("Int")),
            ("value", None),
            ("height", None),
            ("x", None),
        ] {
            assert_eq!(spelling.nearest(name, names), expected, "{name}");
        }
    }

    #[test]
    fn the_order_of_candidates_does_not_matter() {
        let spelling = Spelling::default();
        assert_eq!(spelling.nearest("nose", ["rose", "note"]), Some("note"));
        assert_eq!(spelling.nearest("nose", ["note", "rose"]), Some("note"));
    }

    #[test]
    fn the_cost_is_limited() {
        let spelling = Spelling::default();
        let names: Vec<String> = (0..10_000).map(|index| format!("name{index:05}")).collect();
        for _ in 0..10_000 {
            spelling.nearest("name1234x", names.iter().map(String::as_str));
        }
        assert_eq!(spelling.nearest("vlaue", ["value"]), None);
    }
}
