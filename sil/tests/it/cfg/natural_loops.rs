//! Loops made of jumps.

use super::{Maker, check, repeat, step, when};

#[test]
fn goto_loop_with_its_test_at_the_head_becomes_a_while() {
    let mut m = Maker::default();
    let (head, back) = (m.label_with_invariant("head"), m.goto("head"));
    check(
        m.structured(vec![step(1), head, when(vec![step(2), back], vec![]), step(3)]),
        "
        start$1: 1 -> head
        head: while {then$1} then else$1
          then$1: 2 next
        else$1: 3 halt",
    );
}

#[test]
fn goto_loop_with_statements_at_the_head_keeps_them_inside() {
    let mut m = Maker::default();
    let (head, back) = (m.label("head"), m.goto("head"));
    check(
        m.structured(vec![head, step(1), when(vec![back], vec![]), step(3)]),
        "
        start$1: -> head$loop
        head$loop: loop {head} exits else$1
          head: 1 -> back$1 | else$1
          back$1: next
        else$1: 3 halt",
    );
}

#[test]
fn nested_goto_loops() {
    let mut m = Maker::default();
    let (outer, inner) = (m.label("outer"), m.label("inner"));
    let (to_outer, to_inner) = (m.goto("outer"), m.goto("inner"));
    let body = vec![
        outer,
        step(1),
        inner,
        step(2),
        when(vec![to_inner], vec![]),
        when(vec![to_outer], vec![]),
        step(3),
    ];
    check(
        m.structured(body),
        "
        start$1: -> outer$loop
        outer$loop: loop {outer} exits else$2
          outer: 1 -> inner$loop
          inner$loop: loop {inner} exits else$1
            inner: 2 -> back$1 | else$1
            back$1: next
          else$1: -> back$2 | else$2
          back$2: next
        else$2: 3 halt",
    );
}

#[test]
fn a_while_left_to_the_head_of_the_goto_loop_around_it() {
    let mut m = Maker::default();
    let (head, again, last) = (m.label("head"), m.goto("head"), m.goto("head"));
    let body = vec![
        head,
        step(1),
        repeat(vec![when(vec![again], vec![step(2)])]),
        when(vec![last], vec![]),
    ];
    check(
        m.structured(body),
        "
        start$1: -> head$loop
        head$loop: loop {head} exits else$2
          head: 1 -> while$1
          while$1: while {body$1} then after$1 exits back$1
            body$1: -> back$1 | else$1
            else$1: 2 next
          after$1: -> back$1 | else$2
          back$1: next
        else$2: halt",
    );
}

#[test]
fn two_entries_are_irreducible() {
    let mut m = Maker::default();
    let (to_b, to_a) = (m.goto("b"), m.goto("a"));
    let (a, b) = (m.label("a"), m.label("b"));
    let body = vec![when(vec![to_b], vec![]), a, step(1), b, step(2), when(vec![to_a], vec![])];
    check(
        m.structured(body),
        "
        irreducible control flow: the cycle `a`, `b` is entered at `a` and at `b`",
    );
}

#[test]
fn jumping_into_a_loop_is_an_error() {
    let mut m = Maker::default();
    let (jump, inside) = (m.goto("inside"), m.label("inside"));
    check(
        m.structured(vec![when(vec![jump], vec![]), repeat(vec![inside, step(1)])]),
        "
        jump into a loop, to `inside`",
    );
}
