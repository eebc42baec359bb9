//! `--state`: what is known and held before a statement.

use sil_tests::binaries::Scratch;
use sil_tests::schema::violations;

#[test]
fn what_is_known_at_a_line_is_shown_for_each_path() {
    let program = "field f: Int\nfield next: Ref\npredicate P(x: Ref) { acc(x.f) }\n\
         method m(c: Ref, n: Int)\n  requires acc(c.f) && acc(c.next, 1/2) && P(c.next)\n{\n  var x: Int := n + 1\n  c.f := x\n  \
         if (n > 0) {\n    x := 7\n  }\n  assert x > 3\n  x := 0\n}\n";
    let scratch = Scratch::new(&[
        ("a.vpr", program.as_bytes()),
        ("ill.sil", b"method m(x: Int) { assert x }"),
    ]);
    let shown = scratch.silicon(&["--state", "a.vpr:13"]);
    assert_eq!(shown.code, Some(0), "{shown:#?}");
    let first = "path 1 of 2 to a.vpr:13:3\n  where:\n    n > 0\n  variables:\n    c\n    n\n    x == 7\n  held:\n    \
         acc(c.f, write)";
    assert!(shown.stdout.starts_with(first), "{}", shown.stdout);
    assert!(shown.stdout.contains("    acc(c.next, 1/2)\n    acc(P(c.next), write)\n"));
    assert!(shown.stdout.contains("path 2 of 2 to a.vpr:13:3\n  where:\n    n <= 0\n"));
    assert!(shown.stdout.contains("acc(c.f, write) && c.f == x"), "{}", shown.stdout);
    assert!(shown.stdout.contains("    c != null\n"), "{}", shown.stdout);
    assert!(!shown.stdout.contains('%'), "names are those of the program: {}", shown.stdout);
    assert_eq!(shown.stdout, scratch.silicon(&["--state", "a.vpr:13", "-j", "4"]).stdout);

    let json = scratch.silicon(&["--state", "a.vpr:13", "--message-format", "json"]).stdout;
    let states: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    let schema = include_str!("../../../docs/schemas/output.schema.json");
    let schema = serde_json::from_str(schema).expect("the schema is JSON");
    for state in &states {
        assert_eq!(violations(&schema, state), Vec::<String>::new(), "{state}");
    }
    assert_eq!(states.len(), 2);
    assert_eq!(
        states[0]["state"]["variables"][2],
        serde_json::json!({ "name": "x", "value": "7" })
    );
    assert_eq!(states[1]["path"], serde_json::json!(["n <= 0"]));

    for (at, code) in [("a.vpr:1", 2), ("a.vpr:99", 2), ("ill.sil:2", 3), ("none.vpr:1", 3)] {
        let run = scratch.silicon(&["--state", at]);
        assert_eq!((run.code, &*run.stdout), (Some(code), ""), "{run:#?}");
        assert!(!run.stderr.is_empty());
    }
}

#[test]
fn all_paths_are_shown_where_they_are_asked_for() {
    let branch = |name: &str| format!("  if ({name}) {{ x := x + 1 }}\n");
    let branches = ["a", "b", "c", "d"].map(branch).concat();
    let head = "method m(a: Bool, b: Bool, c: Bool, d: Bool) {\n  var x: Int\n";
    let program = format!("{head}{branches}  assert x == x\n}}\n");
    let scratch = Scratch::new(&[("a.sil", program.as_bytes())]);
    let paths = |run: &sil_tests::binaries::Run| run.stdout.matches("of 16 to a.sil:7:3").count();
    let some = scratch.silicon(&["--state", "a.sil:7"]);
    assert_eq!(paths(&some), 8, "{some:#?}");
    assert!(some.stderr.contains("8 more paths come there (--all shows them)"), "{some:#?}");
    let all = scratch.silicon(&["--state", "a.sil:7", "--all"]);
    assert_eq!((paths(&all), &*all.stderr), (16, ""), "{all:#?}");
    assert_eq!(scratch.silicon(&["--all", "a.sil"]).code, Some(2), "it is about states");
}

/// The value of a location is that of the heap only where there is permission.
#[test]
fn states_name_no_values_that_may_not_be_held() {
    let program = "field f: Int\nmethod m(c: Ref, p: Perm)\n  requires none <= p && acc(c.f, p) && (none < p ==> c.f > 5)\n{\n  \
         assert true\n  if (none < p) {\n    assert true\n  }\n}\n";
    let scratch = Scratch::new(&[("a.vpr", program.as_bytes())]);
    let facts = |at: &str| {
        let shown = scratch.silicon(&["--state", at, "--message-format", "json"]).stdout;
        let states = shown.lines().map(|line| serde_json::from_str(line).expect("an object"));
        let facts = states.map(|state: serde_json::Value| state["state"]["facts"].to_string());
        facts.collect::<Vec<_>>().join("\n")
    };
    assert!(facts("a.vpr:7").contains("5 < c.f"), "{}", facts("a.vpr:7"));
    let before = scratch.silicon(&["--state", "a.vpr:5"]).stdout;
    let without = before.split("path ").filter(|path| !path.contains("none < p\n"));
    for path in without.filter(|path| !path.is_empty()) {
        assert!(!path.contains("5 < c.f") && !path.contains("c.f =="), "{path}");
    }
}

/// A translation has names of its own, which mean nothing to who has written the program.
#[test]
fn states_of_chalice_are_told_in_its_names() {
    let program = "class C {\n  var f: int;\n  var next: C;\n  predicate P { acc(f) && acc(next) }\n  function g(): int { 3 }\n  method m(d: C)\n    \
         requires acc(f) && acc(mu) && d != null && d.P\n  {\n    var x: int := g();\n    f := x + 1;\n    assert f == 0;\n  }\n}\n";
    let scratch = Scratch::new(&[("c.chalice", program)]);
    let shown = scratch.silicon(&["--state", "c.chalice:11"]).stdout;
    for held in [
        "acc(this.f, write)",
        "acc(this.mu, write)",
        "acc(d.P, write)",
        "this.g() == x",
        "(x + 1) == this.f",
    ] {
        assert!(shown.contains(held), "{held} in {shown}");
    }
    let failed = scratch.silicon(&["c.chalice", "--counterexample"]).stdout;
    for held in ["ref1.f = 4 (100% held)", "ref2.P (100% held)", "old ref1.f = "] {
        assert!(failed.contains(held), "{held} in {failed}");
    }
    for text in [shown, failed] {
        assert!(!text.contains("C_"), "names are those of the program: {text}");
    }
}

/// Proofs fail at contracts and at ends of bodies, so that states are there, too.
#[test]
fn states_are_shown_where_contracts_are_owed() {
    let program = "field f: Int\nmethod m(c: Ref)\n  requires acc(c.f)\n  ensures acc(c.f) && c.f == 3\n{\n  c.f := 2\n  var i: Int := 0\n  \
         while (i < 3)\n    invariant i <= 3\n  {\n    i := i + 1\n  }\n}\n\
         function g(n: Int): Int\n  requires n > 4\n  ensures result > 0\n{\n  n + 1\n}\n";
    let scratch = Scratch::new(&[("a.vpr", program.as_bytes())]);
    let at = |line: u32| scratch.silicon(&["--state", &format!("a.vpr:{line}")]).stdout;
    for (line, said) in [(4, "3 <= i"), (13, "acc(c.f, write) && c.f == 2"), (12, "    i < 3")] {
        assert!(at(line).contains(said), "{line}: {}", at(line));
    }
    // On entry, and at the end of a round.
    assert!(at(9).contains("path 2 of 2") && at(9).contains("    i < 3\n"), "{}", at(9));
    assert!(at(16).contains("result"), "{}", at(16));
    assert!(at(18).contains("4 < n"), "{}", at(18));
}

#[test]
fn states_of_directly_executed_programs_are_shown() {
    let program = "class C {\n  var f: int;\n  method m()\n    requires acc(f)\n    ensures acc(f)\n  {\n    f := 4;\n    \
         assert f == 4;\n  }\n}\n";
    let scratch = Scratch::new(&[("c.chalice", program)]);
    for (at, held) in
        [("c.chalice:8", "acc(this.f, write) && this.f == 4"), ("c.chalice:5", "acc(")]
    {
        let shown = scratch.silicon(&["--direct", "--state", at]).stdout;
        assert!(shown.contains(held), "{at}: {shown}");
    }
}
