//! Laws of every program, tried on programs made at random: the builder makes only programs that
//! the resolver accepts, and a printed program is read back as itself.
//!
//! The programs are the same in every run; `PROPTEST_CASES=10000` tries more of them.

mod programs;

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use sil::load::{Loaded, load_syntax, load_text};
use sil::print::Form;
use sil::program::Program;

use crate::common::without_spans;

/// Runs `property` on random programs; a failure shows the smallest one that was found.
fn on_programs(property: impl Fn(&Program) -> Result<(), String>) {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 48;
    }
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let result = runner.run(&vec(any::<u8>(), 0..600), |bytes| {
        let loaded = load_syntax(programs::program(&bytes));
        let program = accepted(&loaded, "the program built").map_err(TestCaseError::fail)?;
        property(program).map_err(|problem| {
            let text = sil::print::program(program, Form::Structured);
            TestCaseError::fail(format!("{problem}\nin\n{text}"))
        })
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

/// The resolved program, or the first error.
fn accepted<'l>(loaded: &'l Loaded, what: &str) -> Result<&'l Program, String> {
    loaded.program.as_ref().ok_or_else(|| {
        let first = loaded.diagnostics.iter().find(|finding| !finding.code.is_warning());
        let first = first.map_or("no error", |finding| finding.message.as_str());
        format!("{what} has an error: {first}")
    })
}

#[test]
fn print_parse_print_is_the_identity() {
    on_programs(|program| {
        for form in [Form::Structured, Form::Graph] {
            let text = sil::print::program(program, form);
            let loaded = load_text("printed", &text);
            let again = accepted(&loaded, &format!("its {form:?} text"))
                .map_err(|error| format!("{error}\n{text}"))?;
            let text_again = sil::print::program(again, form);
            if text != text_again {
                return Err(format!("{form:?} text\n{text}\nbecame\n{text_again}"));
            }
        }
        Ok(())
    });
}

#[test]
fn what_is_read_back_is_what_was_printed() {
    on_programs(|program| {
        let text = sil::print::program(program, Form::Structured);
        let loaded = load_text("printed", &text);
        let again = accepted(&loaded, "its text")?;
        let (before, after) = (tree(program), tree(again));
        if before == after {
            return Ok(());
        }
        let differing = before.lines().zip(after.lines()).find(|(before, after)| before != after);
        Err(format!("the trees differ: {differing:?}"))
    });
}

/// The tree as text, without places. The text of a program has the domain of an adt, in which
/// constructors are functions like others.
fn tree(program: &Program) -> String {
    without_spans(program).replace("is_constructor: true", "is_constructor: false")
}
