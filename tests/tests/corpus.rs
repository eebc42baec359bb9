//! The corpus: each program below `corpus/` and below the examples reports exactly the errors it
//! announces, and so does each variant of an example in `seeded/`.
//!
//! One trial a file and stage, named by its path, so that a part of a path selects trials.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};
use sil::print::Form;
use sil::program::Program;
use sil_tests::binaries::Scratch;
use sil_tests::seeds::{self, Seed};
use sil_tests::{expectations, layouts, observation};
use silicon::options::{Join, Native};
use silicon::session::{Input, Task, input, load_program};

/// The name under which known wrong answers would be announced.
const TOOL: &str = "sil";

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut trials = Vec::new();
    let examples = here.join("../examples");
    for below in [here.join("corpus"), examples.clone()] {
        for path in input::programs_below(&below) {
            let name = path.strip_prefix(&below).unwrap_or(&path).display().to_string();
            trials.push(trial("verify", &name, &path, reports_what_it_announces));
            trials.push(trial("merged", &name, &path, reports_the_same_where_all_is_merged));
            trials.push(trial("z3", &name, &path, reports_the_same_where_z3_is_asked));
            trials.push(trial("layout", &name, &path, stays_the_same_in_its_layout));
            trials.push(trial("round-trip", &name, &path, printing_is_stable));
        }
    }
    trials.extend(seeded(&here.join("seeded"), &examples));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn stays_the_same_in_its_layout(path: &Path) -> Result<(), Failed> {
    layouts::judge(path).map(|_| ()).map_err(Failed::from)
}

fn trial(stage: &str, name: &str, path: &Path, test: fn(&Path) -> Result<(), Failed>) -> Trial {
    let path: PathBuf = path.to_owned();
    Trial::test(name, move || test(&path)).with_kind(stage)
}

/// One trial for each seeded error of each example.
fn seeded(seeds: &Path, examples: &Path) -> Vec<Trial> {
    let mut trials = Vec::new();
    for path in input::programs_below(examples) {
        let Ok(name) = path.strip_prefix(examples) else { continue };
        let Ok(text) = fs::read_to_string(seeds::path_for(seeds, name)) else { continue };
        match seeds::parse(&text) {
            Ok(seeds) => trials.extend(seeds.into_iter().map(|seed| {
                let title = format!("{}/{}", name.display(), seed.name);
                let path = path.clone();
                let mistaken = move || reports_its_error(&path, &seed);
                Trial::test(title, mistaken).with_kind("seeded")
            })),
            Err(mistake) => {
                let trial = Trial::test(name.display().to_string(), || Err(mistake.into()));
                trials.push(trial.with_kind("seeded"));
            }
        }
    }
    trials
}

/// The variant announces errors, and reports exactly those.
fn reports_its_error(path: &Path, seed: &Seed) -> Result<(), Failed> {
    let text = seed.apply(&fs::read_to_string(path)?)?;
    if expectations::read(&text, TOOL).expected.is_empty() {
        return Err("no error is announced".into());
    }
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let scratch = Scratch::new(&[(&*file, text)]);
    reports_what_it_announces(&scratch.path().join(&*file))
}

fn reports_what_it_announces(path: &Path) -> Result<(), Failed> {
    compare(path, Join::Auto, Native::On)
}

/// Also with states merged wherever they can be, and with Z3 asked about each proof that takes few
/// steps without it.
fn reports_the_same_where_all_is_merged(path: &Path) -> Result<(), Failed> {
    compare(path, Join::Always, Native::Checked)
}

/// Also where Z3 finds all proofs.
fn reports_the_same_where_z3_is_asked(path: &Path) -> Result<(), Failed> {
    compare(path, Join::Auto, Native::Off)
}

/// The reported errors are exactly the announced ones: none missing, none extra.
fn compare(path: &Path, join: Join, native: Native) -> Result<(), Failed> {
    let announced = expectations::read(&fs::read_to_string(path)?, TOOL);
    if !announced.malformed.is_empty() {
        return Err(format!("not an annotation: {:?}", announced.malformed).into());
    }
    let mut session = observation::session_for(path, Task::Verify, join);
    session.options.native = native;
    let observation = observation::observe(path, &session);
    let difference = announced.compare(&observation.outputs());
    if difference.is_empty() {
        return Ok(());
    }
    let said: Vec<String> =
        observation.reported.iter().map(|one| format!("  {}: {}", one.line, one.text)).collect();
    Err(format!("{difference}reported:\n{}", said.join("\n")).into())
}

/// Printing, parsing and printing again is the identity, in both forms; so is what the printed
/// program reports as far as the front end goes: it accepts it.
fn printing_is_stable(path: &Path) -> Result<(), Failed> {
    for form in [Form::Graph, Form::Structured] {
        let printed = |program: &Program| sil::print::program(program, form);
        // A rejected program has no text to compare.
        let (Some(once), _) = load_program(&Input::file(path), printed) else { return Ok(()) };
        let again = sil::load::load_text("printed", &once);
        let Some(program) = &again.program else {
            let words: Vec<&str> = again.diagnostics.iter().map(|one| &*one.message).collect();
            return Err(format!("{form:?}: not accepted: {}\n{once}", words.join("; ")).into());
        };
        let twice = printed(program);
        if once != twice {
            return Err(format!("{form:?}: first\n{once}\nthen\n{twice}").into());
        }
    }
    Ok(())
}
