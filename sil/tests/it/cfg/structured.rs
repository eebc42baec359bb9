//! Bodies of structured statements.

use sil::cfg::BlockKind;
use sil::parser::MAX_DEPTH;
use sil::program::{LocalId, Stmt, StmtKind};

use super::{Maker, block, check, flag, repeat, step, stmt, when};

#[test]
fn straight_line_code_is_one_block() {
    let mut m = Maker::default();
    let state = m.label("s");
    let body = vec![step(1), stmt(StmtKind::Block(block(vec![step(2)]))), state, step(3)];
    check(
        m.structured(body),
        "
        start$1: 1 2 label 3 halt",
    );
}

#[test]
fn conditionals_meet_in_a_join_block() {
    let inner = when(vec![step(2)], vec![when(vec![step(3)], vec![step(4)])]);
    check(
        Maker::default().structured(vec![step(1), inner, step(5)]),
        "
        start$1: 1 -> then$1 | else$1 joins join$1
        then$1: 2 -> join$1
        else$1: -> then$2 | else$2 joins join$1
        then$2: 3 -> join$1
        else$2: 4 -> join$1
        join$1: 5 halt",
    );
}

#[test]
fn while_loops_nest() {
    let inner = repeat(vec![step(2)]);
    check(
        Maker::default().structured(vec![repeat(vec![step(1), inner]), step(3)]),
        "
        start$1: -> while$1
        while$1: while {body$1} then after$2
          body$1: 1 -> while$2
          while$2: while {body$2} then after$1
            body$2: 2 next
          after$1: next
        after$2: 3 halt",
    );
}

#[test]
fn a_goto_out_of_two_loops_is_an_exit_of_both() {
    let mut m = Maker::default();
    let leave = m.goto("out");
    let inner = repeat(vec![when(vec![leave], vec![]), step(2)]);
    let out = m.label("out");
    check(
        m.structured(vec![repeat(vec![inner]), step(3), out, step(4)]),
        "
        start$1: -> while$1
        while$1: while {body$1} then after$2 exits out
          body$1: -> while$2
          while$2: while {body$2} then after$1 exits out
            body$2: -> out | else$1
            else$1: 2 next
          after$1: next
        after$2: 3 -> out
        out: 4 halt",
    );
}

#[test]
fn an_invariant_elsewhere_than_at_a_loop_head_is_a_warning() {
    let mut m = Maker::default();
    let (forward, target) = (m.goto("a"), m.label_with_invariant("a"));
    let unused = m.label_with_invariant("b");
    check(
        m.structured(vec![when(vec![forward], vec![step(1)]), target, unused]),
        "
        start$1: -> a | else$1 joins a
        else$1: 1 -> a
        a: label halt
        `b` declares an invariant, but is not the head of a loop
        `a` declares an invariant, but is not the head of a loop",
    );
}

#[test]
fn a_loop_forgets_what_is_written_anywhere_inside() {
    let mut m = Maker::default();
    let (x, y, z) = (m.local("x"), m.local("y"), m.local("z"));
    let seen = m.label("seen");
    let inner = repeat(vec![stmt(StmtKind::New { target: y, fields: Vec::new() }), seen]);
    let body = vec![
        stmt(StmtKind::Assign { target: x, value: flag() }),
        repeat(vec![stmt(StmtKind::Var(vec![z])), inner]),
    ];
    let (cfg, _) = m.structured(body);
    let cfg = cfg.expect("the body is valid");
    let effects: Vec<(Vec<LocalId>, usize)> = cfg
        .blocks
        .values()
        .filter_map(|block| match &block.kind {
            BlockKind::Loop(inner) => Some((inner.written.clone(), inner.labels.len())),
            BlockKind::Basic { .. } => None,
        })
        .collect();
    assert_eq!(effects, [(vec![y, z], 1), (vec![y], 1)]);
}

#[test]
fn long_and_deep_bodies() {
    let body: Vec<Stmt> = (0..100_000).map(|_| when(vec![step(1)], vec![])).collect();
    let (cfg, diagnostics) = Maker::default().structured(body);
    assert_eq!((cfg.expect("valid").blocks.len(), diagnostics.len()), (200_001, 0));

    // No program nests deeper: each level is a block in a statement.
    let mut chain = Vec::new();
    for _ in 0..MAX_DEPTH / 2 {
        chain = vec![when(vec![step(1)], chain)];
    }
    let (cfg, _) = Maker::default().structured(chain);
    assert!(cfg.is_some());
}
