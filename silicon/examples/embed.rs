//! A program that verifies a text which it has in memory: for editors, servers and front ends.
//!
//! `cargo run --release -p silicon --example embed`

use std::time::{Duration, Instant};

use silicon::options::Options;
use silicon::session::{Diagnostic, Follower, Input, MemberOutcome, Outcome, Session};

/// Shows members as they are done, and gives up when they have taken too long.
struct Patience(Instant);

impl Follower for Patience {
    fn finished(&self, id: &str, member: &MemberOutcome, diagnostics: &[Diagnostic]) {
        eprintln!("{id}: {:?}, {} findings", member.verdict, diagnostics.len());
    }

    fn is_cancelled(&self) -> bool {
        Instant::now() > self.0
    }
}

/// Verifies a SIL program; `name` is what messages call it.
pub fn verify(name: &str, text: &str, patience: Duration) -> Outcome {
    let mut options = Options::default();
    options.threads = 1;
    let session = Session { options, ..Session::default() };
    session.run_with(&Input::text(name, text), &Patience(Instant::now() + patience))
}

fn main() {
    let text = "method half(n: Int) returns (r: Int) ensures 2 * r == n { r := n / 2 }";
    for found in verify("half.sil", text, Duration::from_secs(10)).diagnostics {
        let at = found.message.place;
        eprintln!("{}:{}: {} [{}]", at.file, at.start, found.message.text, found.message.id);
    }
}
