//! Programs with the errors expected on their lines, and what is in the resolved program.

mod names;
mod types;

use sil::walk::{Visit, walk_body, walk_expr};

use crate::common::{check, program};

#[test]
fn statements_are_typed() {
    check(
        "field f: Int
         field g: Ref
         predicate Q(x: Ref) { acc(x.f) }
         predicate Abstract(x: Ref)
         method two(x: Ref) returns (a: Int, b: Ref) { a := 1 b := x }
         method none_() { }
         method m(x: Ref, i: Int) returns (r: Int) {
           var y: Ref := new(f, g)
           var z: Int := new() // type
           y := new(f, f)
           y := new(i) // type
           x := null // type
           r, y := two(x)
           r := two(x) // type
           y, r := two(x) // type
           r, y := two(i) // type
           r, y := two() // type
           y.f, y.g := two(x)
           y.f, y := two(x)
           r, r := none_() // type
           none_()
           two(x) // type
           r, y := 1 // type
           y.f := true // type
           r := y // type
           r := none_() // type
           assert two(x) == 1 // type
           fold Q(x)
           unfold acc(Q(x), 1/2)
           fold Abstract(x) // type
           fold acc(x.f) // type
           fold Q(i) // type
           assert unfolding Q(x) in x.f == 1
           assert unfolding Abstract(x) in true // type
           package true // type
           package true --* true { }
           apply Q(x) // type
           quasihavoc x.f
           quasihavoc i // type
           quasihavocall y2: Ref :: Q(y2)
           assert result == 1 // type
           exhale acc(x.f, 1) // type
         }",
    );
}

#[test]
fn fields_of_one_name_are_not_assigned_twice_by_a_call() {
    check(
        "field f: Int
         method two() returns (a: Int, b: Int)
         method m(x: Ref, y: Ref) {
           x.f, y.f := two() // type
         }",
    );
}

#[test]
fn field_targets_of_calls_become_auxiliary_variables() {
    let program = program(
        "field f: Int
         method get() returns (a: Int)
         method m(x: Ref) { var _receiver0: Int x.f := get() x.f := get() }",
    );
    let method = program.methods.values().nth(1).expect("m");
    let names: Vec<_> = method.locals.values().map(|local| &*local.name).collect();
    let expected = ["x", "_receiver0", "_receiver1", "_target2", "_receiver3", "_target4"];
    assert_eq!(names, expected);
}

#[test]
fn permissions_are_asked_about_where_that_has_a_meaning() {
    check(
        "field f: Int
         method m(x: Ref)
           requires perm(x.f) == none // type
           requires [perm(x.f) == none, true]
           ensures forperm y: Ref [y.f] :: true // type
         {
           while (true)
             invariant perm(x.f) == none // type
             invariant [true, perm(x.f) == none]
           { }
           label l invariant perm(x.f) == none
           assert forperm y: Ref [y.f] :: perm(y.f) == none // type
         }
         function g(x: Ref): Int
           requires perm(x.f) == none // type
           ensures [perm(x.f) == none, true] // type
         function h(x: Ref): Bool
           requires true --* true // type
         predicate P(x: Ref) { true --* true } // type",
    );
}

#[test]
fn axioms_use_only_total_functions() {
    check(
        "function partial(i: Int): Int requires i > 0
         function total(i: Int): Int
         domain D { axiom { partial(1) == 1 } // type
           axiom { total(1) == 1 } }",
    );
}

#[test]
fn origins_are_inherited_and_nested() {
    let program = program(
        r#"@src.file("k", "a.chalice") @src.at("k", "1.1-9.9")
         method m(x: Int) {
           @src.at("k", "2.1-2.9")
           assert @src.say("*", "text") (x == 1) && x == 2
           @other("v")
           assert true
         }
         method n() { }"#,
    );
    assert_eq!(program.origins.files.len(), 1);
    let parents: Vec<_> = program.origins.entries.iter().map(|entry| entry.parent.0).collect();
    let mut methods = program.methods.values();
    let method = methods.next().expect("m");
    assert_eq!(methods.next().expect("n").span.origin.0, 0);
    let mut seen = Vec::new();
    walk_body(&method.implementations[0].body, |part| match part {
        Visit::Stmt(statement) => {
            seen.push((statement.span.origin.0, statement.annotations.len()));
        }
        Visit::Expr(expr) => {
            walk_expr(expr, |expr| seen.push((expr.span.origin.0, expr.annotations.len())));
        }
        _ => {}
    });
    assert_eq!(method.span.origin.0, 1);
    assert_eq!(parents, [0, 1, 2]);
    let expected = [
        (2, 0),
        (2, 0), // &&
        (3, 0),
        (3, 0),
        (3, 0),
        (2, 0),
        (2, 0),
        (2, 0),
        (1, 1), // assert true
        (1, 0),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn long_programs_and_long_expressions() {
    let chain = vec!["i / 2"; 3_000].join(" + ");
    let statements = "i := i + 1\n".repeat(20_000);
    let nested = format!("{}nil(){}", "cons(1/2, ".repeat(300), ")".repeat(300));
    let text = format!(
        "domain List[T] {{ function nil(): List[T] function cons(t: T, l: List[T]): List[T] }}
         method m() {{ var i: Int := {chain}
           var p: Perm := {chain}
           var l: List[Int] := {nested}
           {statements} }}"
    );
    program(&text);
}
