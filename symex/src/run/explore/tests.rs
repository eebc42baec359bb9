//! Runs and their journals, on an engine without a program.

use rustc_hash::FxHashSet;
use sil::program::Program;
use smt::prover::Workspace;

use smt::terms::Terms;

use super::*;
use crate::members::analysis::Analysis;
use crate::options::Options;
use crate::state::heap::Resource;
use crate::whole::Facts;
use crate::{Above, Context, Explore, Visible};

/// Runs a test inside of an engine without a program.
pub(crate) fn with_engine(test: impl FnOnce(&mut Engine<'_>)) {
    with_program("", test);
}

/// Runs a test with an engine whose program has a field.
pub(crate) fn with_field(test: impl FnOnce(&mut Engine<'_>, Resource)) {
    with_program("field f: Int\n", |engine| {
        let (field, _) = engine.program.fields.iter().next().expect("there is one");
        test(engine, Resource::Field(field));
    });
}

fn with_program(text: &str, test: impl FnOnce(&mut Engine<'_>)) {
    let loaded = sil::load::load_text("test.sil", text);
    let program: Program = loaded.program.expect("nothing is wrong with it");
    let options = Options::default();
    let above = Above {
        consolidation: |_| Ok(false),
        axioms: |_, _, _| Ok(()),
        unfold: |_, _, _, _, _, _, _| Ok(()),
        fields_in: |_, _| None,
        holds: |_, _, _, _| false,
        amounts: None,
    };
    let context =
        Context::new(&program, &loaded.sources, &options, &crate::observer::Nobody, None, above);
    let (functions, predicates) = (FxHashSet::default(), FxHashSet::default());
    let analysis = Analysis::default();
    let facts = Facts::of(&analysis);
    let visible = Visible {
        functions: &functions,
        contracts: &[],
        definitions: &[],
        predicates: &predicates,
        facts: &facts,
    };
    let mut engine = Engine::new(&context, visible, &Workspace::new(), None).expect("Z3 is there");
    test(&mut engine);
}

fn proposition(engine: &mut Engine<'_>, name: &str) -> Term {
    engine.terms.constant(name, Sort::BOOL)
}

#[test]
fn every_way_is_taken_once_with_the_same_symbols() {
    with_engine(|engine| {
        let [p, q] = ["p", "q"].map(|name| proposition(engine, name));
        let paths = engine.explore(|engine| {
            let first = engine.fresh("first", Sort::INT);
            let left = engine.branch(p)?;
            let second = engine.fresh("second", Sort::INT);
            let right = engine.branch(q)?;
            Ok((first, left, second, right))
        });
        let values: Vec<_> = paths.expect("no error").into_iter().map(|path| path.value).collect();
        let ways: Vec<_> = values.iter().map(|&(_, left, _, right)| (left, right)).collect();
        assert_eq!(ways, [(true, true), (true, false), (false, true), (false, false)]);
        assert!(values.iter().all(|value| value.0 == values[0].0), "made before any decision");
        assert_eq!(values[0].2, values[1].2);
        assert_ne!(values[0].2, values[2].2, "made after the first decision");
    });
}

#[test]
fn contradictory_ways_are_left_out() {
    with_engine(|engine| {
        let p = proposition(engine, "p");
        let paths = engine.explore(|engine| {
            let holds = engine.branch(p)?;
            if !holds {
                engine.assume(Terms::FALSE)?;
            }
            Ok(holds)
        });
        let values: Vec<_> = paths.expect("no error").into_iter().map(|path| path.value).collect();
        assert_eq!(values, [true]);
        assert!(engine.knowledge.scopes.len() == 1 && engine.run.explorers.is_empty());
    });
}

#[test]
fn records_answer_replays_as_they_answered_first() {
    with_engine(|engine| {
        let p = proposition(engine, "p");
        let mut runs = 0;
        let paths = engine.explore(|engine| {
            let is_repeated = engine.noted("runs", |_| runs > 0)?;
            let holds = engine.branch(p)?;
            runs += 1;
            Ok((is_repeated, holds))
        });
        let values: Vec<_> = paths.expect("no error").into_iter().map(|path| path.value).collect();
        assert_eq!(values, [(false, true), (false, false)]);
    });
}

/// Returns the end of a run that depends on something outside of it.
fn run_that_reads_bare(read: impl Fn(&mut Engine<'_>, bool) -> Result<(), Stop>) -> Stop {
    let mut outcome = None;
    with_engine(|engine| {
        let p = proposition(engine, "p");
        let mut runs = 0;
        let paths = engine.explore(|engine| {
            // Not journalled: a replay sees another value.
            let again = runs > 0;
            read(engine, again)?;
            runs += 1;
            engine.branch(p)
        });
        outcome = paths.err();
    });
    outcome.expect("the replay asks something else")
}

#[test]
fn another_question_is_a_defect() {
    let stop = run_that_reads_bare(|engine, again| {
        let goal = proposition(engine, if again { "q" } else { "r" });
        engine.check(goal).map(|_| ())
    });
    assert!(matches!(stop, Stop::Broken(_)), "{stop:?}");
}

#[test]
fn another_record_is_a_defect() {
    let stop = run_that_reads_bare(|engine, again| engine.noted(again, |_| true).map(|_| ()));
    assert!(matches!(stop, Stop::Broken(_)), "{stop:?}");
}

#[test]
fn another_decision_is_a_defect() {
    let stop = run_that_reads_bare(|engine, again| {
        engine.choose(&vec![None; if again { 2 } else { 3 }]).map(|_| ())
    });
    assert!(matches!(stop, Stop::Broken(_)), "{stop:?}");
}

#[test]
#[should_panic(expected = "diverged from its journal")]
fn another_symbol_is_a_defect() {
    run_that_reads_bare(|engine, again| {
        engine.fresh("symbol", if again { Sort::INT } else { Sort::BOOL });
        Ok(())
    });
}

#[test]
fn ways_are_counted_wherever_they_are_taken() {
    with_engine(|engine| {
        let [p, q] = ["p", "q"].map(|name| proposition(engine, name));
        let paths = engine.explore(|engine| {
            engine.branch(p)?;
            engine.branch(q)?;
            // Known by now, so no decision.
            engine.branch(p)?;
            let explorer = engine.innermost();
            Ok(explorer.ways())
        });
        let values: Vec<_> = paths.expect("no error").into_iter().map(|path| path.value).collect();
        assert_eq!(values, [4; 4]);
    });
}
