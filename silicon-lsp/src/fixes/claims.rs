//! Conditions that may make a claim hold: invariants of loops, measures, different receivers.

use silicon::report::{ErrorId, Reason};

use super::sites::{Loop, Site};
use super::{Cure, Place, Titled, stated};
use crate::index::Means;
use crate::tokens::Declares;

/// The number of parameters that are looked at for a measure.
const PARAMETERS: usize = 4;

impl Cure<'_> {
    /// Guesses conditions that may make the claim at the place true, beyond the claim itself.
    pub(super) fn claims(&self, site: &Site<'_>, error: &str, reason: &str) -> Vec<Titled> {
        let mut all = Vec::new();
        if reason == Reason::NotInjective.id()
            && let Some(claim) = site.injectivity()
        {
            all.extend(stated(site, &claim, Place::First));
        }
        if reason == Reason::AssertionFalse.id()
            && let Some(of) = site.loop_before()
        {
            all.extend(self.kept(site, &of));
        }
        if error == ErrorId::TerminationFailed.id() {
            all.extend(self.measures(site));
        }
        all
    }

    /// Guesses invariants of a loop: its condition, weakened so that it holds at the end, too, and
    /// the claim itself.
    fn kept(&self, site: &Site<'_>, of: &Loop) -> Vec<Titled> {
        let weak = |(left, how, right): (&str, &str, &str)| match how {
            "<" => Some(format!("{left} <= {right}")),
            ">" => Some(format!("{left} >= {right}")),
            _ => None,
        };
        let weak: Vec<String> = site.comparisons(of).into_iter().filter_map(weak).collect();
        let text = &self.analysis.text;
        let range = self.reason.unwrap_or(self.whole);
        let claim = text.text[text.offsets(range)].split_whitespace().collect::<Vec<_>>().join(" ");
        // A claim that is an invariant of the loop already, or speaks of another state, is no new
        // claim.
        let is_other = |word: &str| claim.contains(word);
        let claim = (site.loop_of_clause().is_none()
            && !["old(", "assert"].into_iter().any(is_other))
        .then_some(claim);
        let mut parts: Vec<String> = Vec::new();
        for part in weak.into_iter().chain(claim) {
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        let both = (parts.len() > 1).then(|| parts.join(" && "));
        let all = parts.iter().chain(&both);
        let titled = |what: &String| {
            let edit = site.invariant(of, what, Place::Last);
            (format!("Add `{what}` to the invariant"), vec![edit])
        };
        all.map(titled).collect()
    }

    /// Measures: of a loop what its condition compares, of a member its parameters and what they
    /// differ in.
    fn measures(&self, site: &Site<'_>) -> Vec<Titled> {
        let of = site.loop_of_clause();
        let mut found = Vec::new();
        if let Some(of) = &of {
            for (left, how, right) in site.comparisons(of) {
                let [up, down] = [format!("{right} - {left}"), format!("{left} - {right}")];
                match how {
                    "<" | "<=" => found.push(up),
                    ">" | ">=" if right == "0" => found.push(left.to_owned()),
                    ">" | ">=" => found.push(down),
                    _ => found.extend([down, up]),
                }
            }
        } else {
            let index = &self.analysis.index;
            let at = self.analysis.text.offsets(self.whole);
            let own = index.declaration_at(at.start);
            let parameters = index
                .symbols
                .iter()
                .filter(|symbol| symbol.means == Means::Parameter && symbol.inside == own);
            let parameters: Vec<_> = parameters.take(PARAMETERS).collect();
            let of_type = |symbol: &crate::index::Symbol, names: &[&str]| {
                let words = symbol.shown.rsplit_once(':').map_or("", |(_, of)| of.trim());
                names.iter().any(|name| words.starts_with(name))
            };
            let numbers: Vec<&str> = parameters
                .iter()
                .filter(|symbol| of_type(symbol, &["Int", "int"]))
                .map(|symbol| symbol.name.as_str())
                .collect();
            found.extend(numbers.iter().map(|&name| name.to_owned()));
            let is_collection = |symbol: &crate::index::Symbol| {
                of_type(symbol, &["Seq", "Set", "Multiset", "seq", "set"])
            };
            let collections = parameters.iter().filter(|symbol| is_collection(symbol));
            found.extend(collections.map(|symbol| format!("|{}|", symbol.name)));
            for left in &numbers {
                let others = numbers.iter().filter(|right| *right != left);
                found.extend(others.map(|right| format!("{left} - {right}")));
            }
            if site.declares() != Declares::Predicate {
                found.extend(site.instances());
            }
        }
        let titled =
            |what: String| (format!("Let `{what}` decrease"), site.measure(of.as_ref(), &what));
        found.into_iter().map(titled).collect()
    }
}
