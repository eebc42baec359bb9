//! Means and spreads of repeated runs.

use std::time::Duration;

use crate::measure::{Phase, Run};

/// A mean and the standard deviation of a sample, in milliseconds.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Mean {
    pub mean: f64,
    pub deviation: f64,
}

impl Mean {
    pub fn of(times: impl IntoIterator<Item = Duration>) -> Mean {
        let times: Vec<f64> = times.into_iter().map(|time| time.as_secs_f64() * 1000.0).collect();
        if times.is_empty() {
            return Mean::default();
        }
        let count = times.len() as f64;
        let mean = times.iter().sum::<f64>() / count;
        if times.len() == 1 {
            return Mean { mean, deviation: 0.0 };
        }
        let squares = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>();
        Mean { mean, deviation: (squares / (count - 1.0)).sqrt() }
    }
}

/// Returns the value in the middle, or the mean of the two values in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

/// How a program gets to its verdict.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Way {
    /// (a) `chalice2sil program.chalice | silicon -`, `spl2sil program.spl | silicon -`
    Pipe,
    /// (b) `silicon program.chalice`, `silicon program.spl`
    Translated,
    /// (c) the SIL text, written by hand or by the translator
    Text,
}

impl Way {
    pub const ALL: [Way; 3] = [Way::Pipe, Way::Translated, Way::Text];

    pub fn name(self) -> &'static str {
        match self {
            Way::Pipe => "pipe",
            Way::Translated => "translated",
            Way::Text => "text",
        }
    }
}

/// Everything measured about one program.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Row {
    /// The folder.
    pub group: String,
    pub name: String,
    pub verdict: &'static str,
    /// Phase by phase: of way (b) for Chalice programs, of way (c) for SIL programs.
    pub phases: [Mean; Phase::ALL.len()],
    /// The total of each way that exists for the program.
    pub totals: [Option<Mean>; Way::ALL.len()],
    pub queries: u64,
    pub paths: u64,
}

impl Row {
    /// The phases of a row are those of `runs`; counts do not differ between runs.
    pub fn set_phases(&mut self, runs: &[Run]) {
        for phase in Phase::ALL {
            self.phases[phase as usize] = Mean::of(runs.iter().map(|run| run.of(phase)));
        }
        if let Some(run) = runs.first() {
            (self.queries, self.paths) = (run.queries, run.paths);
        }
    }

    pub fn phase(&self, phase: Phase) -> f64 {
        self.phases[phase as usize].mean
    }

    pub fn total(&self, way: Way) -> Option<Mean> {
        self.totals[way as usize]
    }

    pub fn set_total(&mut self, way: Way, times: impl IntoIterator<Item = Duration>) {
        self.totals[way as usize] = Some(Mean::of(times));
    }

    /// Several phases as one.
    pub fn sum(&self, phases: &[Phase]) -> f64 {
        phases.iter().map(|&phase| self.phase(phase)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_deviations() {
        let times = [1, 2, 3].map(Duration::from_millis);
        assert_eq!(Mean::of(times), Mean { mean: 2.0, deviation: 1.0 });
        assert_eq!(Mean::of([Duration::from_millis(4)]), Mean { mean: 4.0, deviation: 0.0 });
        assert_eq!(Mean::of([]), Mean::default());
    }

    #[test]
    fn medians() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
        assert_eq!(median(Vec::new()), None);
    }
}
