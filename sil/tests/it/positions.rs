//! Positions of the original program survive printing and parsing, in both forms and from one form
//! to the other.
//!
//! Every expression that is followed here holds a number of its own, by which it is found again in
//! the printed text.

use std::collections::BTreeMap;

use sil::load::load_text;
use sil::print::Form;
use sil::program::{Expr, ExprKind, Program, StmtKind};
use sil::source::Span;
use sil::source::map::SourceMap;
use sil::walk::{Visit, walk_body, walk_expr};

const PROGRAM: &str = r#"
@src.file("0", "bank.chalice")
@src.at("0", "1.1-1.9")
field f: Int

@src.at("0", "2.1-2.80")
@src.say("postcondition.violated:*", "the promise is broken")
function value(i: Int): Int
  requires @src.at("0", "2.10-2.20") (i > 101)
  ensures result > 102
{
  @src.at("0", "2.30-2.60") (i > 103 ? @src.at("0", "2.40-2.50") (i + 104) : 105)
}

@src.at("0", "3.1-3.9")
predicate valid(x: Ref) { acc(x.f) && @src.at("0", "3.5-3.6") (x.f > 106) }

domain Facts {
  function fact(i: Int): Bool
  @src.at("0", "4.1-4.9")
  axiom { fact(107) && @src.at("0", "4.3-4.4") (fact(108)) }
}

@src.at("0", "10.1-40.2")
@src.name("Account")
method structured(x: Ref, i: Int) returns (r: Int)
  requires acc(x.f) && @src.at("0", "11.5-11.9") (x.f > 109)
  ensures @src.as("postcondition.violated:*", "promise.broken") @src.at("0", "12.5-12.9") (r > 110)
{
  @src.at("0", "13.1-13.9")
  var a: Int := 111
  @src.at("0", "14.1-20.9")
  if (i > 112) {
    @src.at("0", "15.1-15.9")
    assert x.f != 113 && @src.at("0", "15.3-15.4") (x.f != 114)
    assert i != 115
  } elseif (@src.at("0", "16.3-16.4") (i > 116)) {
    @src.none()
    assert i != 117
  } else {
    assert i != 118
  }
  @src.at("0", "21.1-25.9")
  while (a > 119)
    invariant @src.at("0", "22.3-22.9") (a >= 120)
  {
    @src.hide()
    a := a - 121
    @src.at("0", "24.1-24.9")
    if (a == 122) { @src.at("0", "24.5-24.9") goto done }
  }
  @src.at("0", "26.1-26.9")
  label done
  @src.note("0", "27.1-27.2", "declared here")
  assert i != 123
  @src.at("0", "28.1-28.9")
  label again
    invariant @src.at("0", "28.5-28.9") (r != 124)
  @src.at("0", "29.1-29.9")
  r := r + 125
  @src.at("0", "30.1-30.9")
  if (r > 126) { goto again }
  @src.at("0", "31.1-31.9")
  package acc(x.f) --* acc(x.f) && @src.at("0", "31.5-31.6") (i != 127) {
    @src.at("0", "32.1-32.9")
    assert i != 128
  }
}

@src.at("0", "50.1-60.2")
method blocks(i: Int) returns (r: Int)
implementation graph {
  @src.at("0", "51.1-51.9")
  entry block start { r := 129; goto head }
  @src.at("0", "52.1-56.9")
  loop head while (r > 130)
    invariant r > 131 && @src.at("0", "52.5-52.9") (r > 132)
    exits out
  {
    @src.at("0", "53.1-53.9")
    entry block step {
      @src.at("0", "53.3-53.9")
      assert r != 133
      branch (@src.at("0", "54.3-54.9") (r > 134)) back else out
    }
    block back { next }
  } then out
  @src.at("0", "57.1-57.9")
  block out { assert i != 135; halt }
}
"#;

/// For each number what the user is told about an error where it stands.
fn told(text: &str) -> BTreeMap<String, String> {
    let loaded = load_text("test.sil", text);
    let program = loaded.program.as_ref().unwrap_or_else(|| {
        let words: Vec<_> = loaded.diagnostics.iter().map(|one| &one.message).collect();
        panic!("not accepted: {words:?}\n{text}")
    });
    let map = SourceMap::new(program, &loaded.sources);
    let mut found = BTreeMap::new();
    let mut tell = |kind: &str, number: &str, span: Span| {
        let explained = map.explain(span, None, "postcondition.violated:false", "words", None);
        let notes: Vec<_> =
            explained.notes.iter().map(|(at, text)| format!("{} {text}", at.start)).collect();
        let place = explained.place;
        let words = format!(
            "{}:{}-{} {} {} {notes:?} {}",
            place.file,
            place.start,
            place.end,
            explained.id,
            explained.message,
            explained.is_hidden
        );
        found.insert(format!("{kind} {number}"), words);
    };
    for_each_expr(program, &mut |expr| {
        walk_expr(expr, |part| {
            if let Some(number) = number(part) {
                tell("expression", &number, part.span);
            }
        });
    });
    for implementation in program.methods.values().flat_map(|method| &method.implementations) {
        walk_body(&implementation.body, |visit| {
            let Visit::Stmt(statement) = visit else { return };
            // The place of one that contains others may grow to hold them all; labels become
            // blocks.
            let mut is_simple = !matches!(statement.kind, StmtKind::Label { .. });
            statement.for_each_block(|_| is_simple = false);
            let mut first = None;
            statement.for_each_expr(|expr| {
                walk_expr(expr, |part| first = first.take().or_else(|| number(part)));
            });
            if let (true, Some(number)) = (is_simple, first) {
                tell("statement", &number, statement.span);
            }
        });
    }
    found
}

fn number(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Int(value) => Some(value.to_string()).filter(|digits| digits.len() == 3),
        _ => None,
    }
}

fn for_each_expr(program: &Program, visit: &mut dyn FnMut(&Expr)) {
    for function in program.functions.values() {
        let contract = &function.contract;
        contract.preconditions.iter().chain(&contract.postconditions).for_each(&mut *visit);
        function.body.iter().for_each(&mut *visit);
    }
    program.predicates.values().filter_map(|it| it.body.as_ref()).for_each(&mut *visit);
    program.domains.values().flat_map(|it| &it.axioms).for_each(|axiom| visit(&axiom.body));
    for method in program.methods.values() {
        let contract = &method.contract;
        contract.preconditions.iter().chain(&contract.postconditions).for_each(&mut *visit);
        for implementation in &method.implementations {
            walk_body(&implementation.body, |part| {
                if let Visit::Expr(expr) = part {
                    visit(expr);
                }
            });
        }
    }
}

#[test]
fn positions_survive_printing_in_both_forms() {
    let written = told(PROGRAM);
    assert_eq!(written.keys().filter(|key| key.starts_with("expression")).count(), 35);
    let program = load_text("test.sil", PROGRAM).program.expect("it was accepted before");
    let structured = sil::print::program(&program, Form::Structured);
    let graphs = sil::print::program(&program, Form::Graph);
    let again = load_text("graphs.sil", &graphs).program.expect("it reads back");
    let back = sil::print::program(&again, Form::Structured);
    for text in [&structured, &graphs, &back] {
        let printed = told(text);
        for (key, words) in &written {
            assert_eq!(Some(words), printed.get(key), "{key} in\n{text}");
        }
    }
}
