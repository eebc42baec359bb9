//! Few sequences, always the same; and the facts about whole programs that once were forgotten.

use std::path::Path;

use silicon::session::input::{Language, programs_below};

use super::*;
use crate::plant::lot;

fn corpus() -> Vec<(String, String)> {
    let below = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let programs = programs_below(&below).into_iter().filter_map(|path| {
        let name = path.display().to_string();
        Some((name, std::fs::read_to_string(path).ok()?))
    });
    let is_sil = |name: &str| Input::text(name, "").language() == Language::Sil;
    programs.filter(|(name, _)| is_sil(name)).collect()
}

#[test]
fn edited_programs_are_verified_as_if_for_the_first_time() {
    are_verified_as_if_for_the_first_time(&Kept::Here(Arc::default()));
}

#[test]
fn edited_programs_are_verified_so_with_a_damaged_store() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    are_verified_as_if_for_the_first_time(&Kept::In(directory.path().to_owned()));
}

fn are_verified_as_if_for_the_first_time(kept: &Kept) {
    let mut programs = corpus();
    // Several members of a small program are still known after an edit.
    programs.retain(|(_, text)| text.len() < 1_500);
    let mut tally = Tally::default();
    for number in 0..16 {
        let seed = lot(11, "edits", "", number);
        let (name, text) = &programs[seed as usize % programs.len()];
        tally.add(run(name, text, &[], seed, 5, kept));
    }
    assert_eq!(tally.differences, Vec::<String>::new());
    assert!(tally.compared >= 24 && tally.recalled >= 50, "{tally:?}");
}

/// Runs a program, and then with something appended, with the same answers.
fn with_more(file: &str, more: &str) -> Tally {
    let programs = corpus();
    let (name, text) = programs.iter().find(|(name, _)| name.ends_with(file)).expect("it is there");
    let (answers, mut tally) = (Arc::default(), Tally::default());
    for text in [text.clone(), format!("{text}\n{more}\n"), text.clone()] {
        let edited = Edited { name: name.clone(), text, options: Choice::Default };
        assert!(compare(&edited, &answers, &mut tally));
    }
    assert_eq!(tally.differences, Vec::<String>::new());
    tally
}

#[test]
fn what_an_unrelated_contract_says_counts() {
    let more = UNRELATED[1].replace("NAME", "unrelated");
    let tally = with_more("functions/sides_never_taken.vpr", &more);
    assert!(tally.recalled >= tally.members / 3, "the first text is known: {tally:?}");
}

#[test]
fn what_an_unrelated_script_does_counts() {
    let more = UNRELATED[2].replace("NAME", "unrelated");
    let tally = with_more("wands/values_after_apply.sil", &more);
    assert!(tally.recalled >= tally.members / 3, "the first text is known: {tally:?}");
}
