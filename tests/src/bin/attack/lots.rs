//! The programs that an attack makes.

use std::time::Duration;

use clap::Args;

/// The programs that an attack makes, and the limits of each verification.
#[derive(Args)]
pub(super) struct Lots {
    /// Which programs are made
    #[arg(long, default_value_t = 0)]
    pub(super) seed: u64,
    /// How many
    #[arg(long, default_value_t = 1000)]
    pub(super) count: usize,
    /// Programs verified at a time; 0: one per core
    #[arg(short = 'j', long, default_value_t = 0)]
    pub(super) jobs: usize,
    /// Seconds that the verification of one member may take
    #[arg(long, default_value_t = 5.0)]
    timeout: f64,
}

impl Lots {
    /// Returns the time that the verification of one member may take.
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout)
    }
}
