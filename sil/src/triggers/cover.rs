//! Sets of terms that together mention all bound variables.

use std::collections::BTreeSet;

/// Sets looked at before the search is cut off: their number can be exponential in the number of
/// variables, and a quantifier with that many triggers is of no use to a solver.
const MAX_SETS: usize = 200;

/// A candidate term.
pub(super) struct Term {
    /// Indices of the variables it mentions.
    pub(super) covers: BTreeSet<usize>,
    /// The trigger needs additional variables.
    pub(super) extra: bool,
    /// Its nodes in pre-order, so that a sub-term is a contiguous part.
    pub(super) key: Vec<String>,
}

/// Sets of terms that need the same additional variables.
pub(super) struct Group {
    /// The terms that need additional variables.
    pub(super) extra: Vec<usize>,
    pub(super) sets: Vec<Vec<usize>>,
}

/// Returns all useful minimal sets of terms that cover `variables` variables, grouped by their
/// additional variables.
pub(super) fn groups(variables: usize, terms: &[Term]) -> Vec<Group> {
    let mut sets = Vec::new();
    grow(variables, terms, &mut Vec::new(), &mut sets);
    sets.retain(|set| !contains_term_and_subterm(set, terms));
    let mut groups: Vec<Group> = Vec::new();
    for set in sets {
        let extra: Vec<_> = set.iter().copied().filter(|&index| terms[index].extra).collect();
        match groups.iter_mut().find(|group| group.extra == extra) {
            Some(group) => group.sets.push(set),
            None => groups.push(Group { extra, sets: vec![set] }),
        }
    }
    for group in &mut groups {
        let all = group.sets.clone();
        group
            .sets
            .retain(|set| !all.iter().any(|other| other != set && is_inside(set, other, terms)));
    }
    groups
}

/// Adds to `sets` each minimal set that extends `set`; sets are sorted.
fn grow(variables: usize, terms: &[Term], set: &mut Vec<usize>, sets: &mut Vec<Vec<usize>>) {
    if sets.len() >= MAX_SETS {
        return;
    }
    let covered =
        |variable: &usize| set.iter().any(|&index| terms[index].covers.contains(variable));
    let Some(open) = (0..variables).find(|variable| !covered(variable)) else {
        let mut sorted = set.clone();
        sorted.sort_unstable();
        if is_minimal(variables, terms, &sorted) && !sets.contains(&sorted) {
            sets.push(sorted);
        }
        return;
    };
    for (index, term) in terms.iter().enumerate() {
        if term.covers.contains(&open) {
            set.push(index);
            grow(variables, terms, set, sets);
            set.pop();
        }
    }
}

/// Tells whether each term is the only one to cover some variable.
fn is_minimal(variables: usize, terms: &[Term], set: &[usize]) -> bool {
    set.iter().all(|&index| {
        (0..variables).any(|variable| {
            let mut covering = set.iter().filter(|&&it| terms[it].covers.contains(&variable));
            covering.next() == Some(&index) && covering.next().is_none()
        })
    })
}

fn contains_term_and_subterm(set: &[usize], terms: &[Term]) -> bool {
    set.iter().any(|&part| {
        set.iter().any(|&whole| part != whole && is_subterm(&terms[part], &terms[whole]))
    })
}

/// Tells whether each term of `set` is a sub-term of a term of `other`. Whenever `other` matches,
/// `set` does too, but not the other way round, so `set` would match needlessly often.
fn is_inside(set: &[usize], other: &[usize], terms: &[Term]) -> bool {
    set.iter().all(|&part| {
        other.iter().any(|&whole| part == whole || is_subterm(&terms[part], &terms[whole]))
    })
}

fn is_subterm(part: &Term, whole: &Term) -> bool {
    part.key.len() < whole.key.len()
        && whole.key.windows(part.key.len()).any(|window| window == part.key)
}
