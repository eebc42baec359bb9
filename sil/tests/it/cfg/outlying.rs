//! Handlers: statements behind a loop that lead back into it.

use sil::cfg::BlockKind;
use sil::program::StmtKind;

use super::{Maker, TerminatorOf, check, flag, repeat, step, stmt, when};

#[test]
fn a_handler_behind_a_loop_is_put_into_it() {
    let mut m = Maker::default();
    let (to_handler, handler) = (m.goto("handler"), m.label("handler"));
    let (back, back_at) = (m.goto("back"), m.label("back"));
    let (to_end, end) = (m.goto("end"), m.label("end"));
    let leave = m.goto("end");
    let body = vec![
        repeat(vec![when(vec![to_handler], vec![]), back_at, step(1)]),
        step(2),
        to_end,
        handler,
        step(3),
        when(vec![leave], vec![]),
        back,
        end,
        step(4),
    ];
    check(
        m.structured(body),
        "
        start$1: -> while$1
        while$1: while {body$1} then after$1 exits end
          body$1: -> handler | back
          back: 1 next
          handler: 3 -> end | back
        after$1: 2 -> end
        end: 4 halt",
    );
}

#[test]
fn a_handler_is_put_into_the_innermost_loop_it_belongs_to() {
    let mut m = Maker::default();
    let (to_inner, inner) = (m.goto("inner"), m.label("inner"));
    let (to_outer, outer) = (m.goto("outer"), m.label("outer"));
    let (in_inner, in_outer) = (m.label("in_inner"), m.label("in_outer"));
    let (back_inner, back_outer) = (m.goto("in_inner"), m.goto("in_outer"));
    let (to_end, end) = (m.goto("end"), m.label("end"));
    let both = when(vec![to_inner], vec![when(vec![to_outer], vec![])]);
    let body = vec![
        repeat(vec![repeat(vec![both, in_inner, step(1)]), in_outer, step(2)]),
        to_end,
        outer,
        step(3),
        back_outer,
        inner,
        repeat(vec![step(4)]),
        back_inner,
        end,
    ];
    check(
        m.structured(body),
        "
        start$1: -> while$1
        while$1: while {body$1} then after$1
          body$1: -> while$2
          while$2: while {body$2} then in_outer exits outer
            body$2: -> inner | else$1
            else$1: -> outer | in_inner
            in_inner: 1 next
            inner: -> while$3
            while$3: while {body$3} then after$2
              body$3: 4 next
            after$2: -> in_inner
          in_outer: 2 next
          outer: 3 -> in_outer
        after$1: -> end
        end: halt",
    );
}

#[test]
fn a_handler_forgets_with_its_loop() {
    let mut m = Maker::default();
    let (x, y) = (m.local("x"), m.local("y"));
    let (to_handler, handler) = (m.goto("handler"), m.label("handler"));
    let (back, back_at) = (m.goto("back"), m.label("back"));
    let (to_end, end) = (m.goto("end"), m.label("end"));
    let seen = m.label("seen");
    let body = vec![
        stmt(StmtKind::Assign { target: y, value: flag() }),
        repeat(vec![when(vec![to_handler], vec![]), back_at]),
        to_end,
        handler,
        seen,
        stmt(StmtKind::Assign { target: x, value: flag() }),
        back,
        end,
    ];
    let (cfg, _) = m.structured(body);
    let cfg = cfg.expect("the body is valid");
    let effects = cfg.blocks.values().find_map(|block| match &block.kind {
        BlockKind::Loop(inner) => Some((inner.written.clone(), inner.labels.len())),
        BlockKind::Basic { .. } => None,
    });
    assert_eq!(effects, Some((vec![x], 3)));
}

#[test]
fn a_handler_that_is_also_reached_from_elsewhere_is_none() {
    let mut m = Maker::default();
    let (early, to_handler, handler) = (m.goto("handler"), m.goto("handler"), m.label("handler"));
    let (back, back_at) = (m.goto("back"), m.label("back"));
    let (to_end, end) = (m.goto("end"), m.label("end"));
    let body = vec![
        when(vec![early], vec![]),
        repeat(vec![when(vec![to_handler], vec![]), back_at]),
        to_end,
        handler,
        back,
        end,
    ];
    check(
        m.structured(body),
        "
        jump into a loop, to `back`",
    );
}

#[test]
fn what_is_written_as_a_nested_graph_is_not_added_to() {
    let mut m = Maker::default();
    let inside = vec![
        m.node("step", vec![], TerminatorOf::Branch("handler", "back")),
        m.node("back", vec![], TerminatorOf::Next),
    ];
    let nodes = vec![
        m.loop_node("head", &["handler"], inside, "done"),
        m.node("handler", vec![], TerminatorOf::Goto("back")),
        m.node("done", vec![], TerminatorOf::Halt),
    ];
    check(
        m.graph(nodes),
        "
        jump into a loop, to `back`",
    );
}
