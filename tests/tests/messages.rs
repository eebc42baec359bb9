//! The texts for users: the command verifies each program below `messages/`, and its output is
//! compared with the text beside the program. `UPDATE_EXPECT=1` writes these texts.
//!
//! `sil/`, `chalice/` and `spl/` hold mistakes of beginners, `proofs/` holds programs whose proof
//! fails. Every message has to say what is wrong, where, and what to do.

use std::path::Path;

use expect_test::expect_file;
use libtest_mimic::{Arguments, Failed, Trial};
use sil_tests::binaries;
use silicon::session::input;

fn main() {
    let messages = Path::new(env!("CARGO_MANIFEST_DIR")).join("messages");
    let trials = input::programs_below(&messages).into_iter().map(|path| {
        let name = path.strip_prefix(&messages).unwrap_or(&path).display().to_string();
        Trial::test(name, move || prints_what_is_expected(&path))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}

/// Counterexamples are left out: they are the solver's choice.
fn prints_what_is_expected(path: &Path) -> Result<(), Failed> {
    let directory = path.parent().ok_or("a program is in a folder")?;
    let file = path.file_name().and_then(|name| name.to_str()).ok_or("a program has a name")?;
    let run = binaries::run("silicon", &["--no-progress", file], directory, b"");
    if run.code == Some(0) {
        return Err("the program has no mistake".into());
    }
    let printed = format!("{}{}", run.stdout, run.stderr);
    expect_file![path.with_extension("txt")].assert_eq(&printed);
    Ok(())
}
