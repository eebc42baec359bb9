//! Makes an attack smaller.

use super::program::{Attack, Step};

/// Leaves out steps, lines of members and parameters as long as the run still gets to the end and
/// `holds` of the attack.
pub fn shrink(attack: &Attack, holds: impl Fn(&Attack) -> bool) -> Attack {
    let mut best = attack.clone();
    loop {
        let before = (best.steps.len(), best.members.len(), best.formals.len());
        without_steps(&mut best, &holds);
        without_members(&mut best, &holds);
        without_formals(&mut best, &holds);
        if before == (best.steps.len(), best.members.len(), best.formals.len()) {
            return best;
        }
    }
}

/// Keeps a smaller attack if it still is one.
fn keep(best: &mut Attack, smaller: Attack, holds: &impl Fn(&Attack) -> bool) -> bool {
    let good = smaller.replay().is_ok() && holds(&smaller);
    if good {
        *best = smaller;
    }
    good
}

/// Returns the numbers below `count` without those that `holds` does not need. They are left out in
/// stretches that get smaller, from the end on.
pub(super) fn needed(count: usize, holds: impl Fn(&[usize]) -> bool) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..count).collect();
    let mut size = count.div_ceil(2);
    while size > 0 {
        let mut end = kept.len();
        while end > 0 {
            let start = end.saturating_sub(size);
            let fewer = [&kept[..start], &kept[end..]].concat();
            if holds(&fewer) {
                kept = fewer;
            }
            end = start;
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    kept
}

/// Leaves out steps, and the lines inside of statements.
fn without_steps(best: &mut Attack, holds: &impl Fn(&Attack) -> bool) {
    let only = |kept: &[usize]| Attack {
        steps: kept.iter().map(|&at| best.steps[at].clone()).collect(),
        required: kept.iter().filter(|&&at| at < best.required).count(),
        ..best.clone()
    };
    let is_kept = |attack: &Attack| attack.replay().is_ok() && holds(attack);
    *best = only(&needed(best.steps.len(), |kept| is_kept(&only(kept))));
    for index in (0..best.steps.len()).rev() {
        let Step::Statement(text) = &best.steps[index] else { continue };
        for line in (0..text.lines().count()).rev() {
            let Step::Statement(text) = &best.steps[index] else { continue };
            let kept = text.lines().enumerate().filter(|(at, _)| *at != line);
            let shorter: Vec<_> = kept.map(|(_, line)| line).collect();
            let mut smaller = best.clone();
            smaller.steps[index] = Step::Statement(shorter.join("\n"));
            keep(best, smaller, holds);
        }
    }
}

fn without_members(best: &mut Attack, holds: &impl Fn(&Attack) -> bool) {
    for line in (0..best.members.lines().count()).rev() {
        let kept = best.members.lines().enumerate().filter(|(at, _)| *at != line);
        let shorter: Vec<_> = kept.map(|(_, line)| line).collect();
        let smaller = Attack { members: shorter.join("\n"), ..best.clone() };
        keep(best, smaller, holds);
    }
}

fn without_formals(best: &mut Attack, holds: &impl Fn(&Attack) -> bool) {
    for index in (0..best.formals.len()).rev() {
        let mut smaller = best.clone();
        smaller.formals.remove(index);
        keep(best, smaller, holds);
    }
}
