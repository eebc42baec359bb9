//! Bodies written as graphs.

use super::{Maker, TerminatorOf, check, step};

#[test]
fn a_flat_graph_is_nested() {
    let mut m = Maker::default();
    let nodes = vec![
        m.node("start", vec![step(1)], TerminatorOf::Goto("head")),
        m.node("head", vec![], TerminatorOf::Branch("body", "done")),
        m.node("body", vec![step(2)], TerminatorOf::Branch("bail", "head")),
        m.node("bail", vec![step(3)], TerminatorOf::Halt),
        m.node("done", vec![], TerminatorOf::Halt),
        m.node("lost", vec![], TerminatorOf::Halt),
    ];
    check(
        m.graph(nodes),
        "
        start: 1 -> head
        head: while {body} then done exits bail
          body: 2 -> bail | back$1
          back$1: next
        bail: 3 halt
        done: halt
        unreachable block `lost`",
    );
}

#[test]
fn a_nested_graph_stays_as_written() {
    let mut m = Maker::default();
    let inside = vec![
        m.node("step", vec![step(1)], TerminatorOf::Branch("bail", "back")),
        m.node("back", vec![], TerminatorOf::Next),
    ];
    let nodes = vec![
        m.node("start", vec![], TerminatorOf::Goto("head")),
        m.loop_node("head", &["bail", "done"], inside, "done"),
        m.node("bail", vec![], TerminatorOf::Halt),
        m.node("done", vec![], TerminatorOf::Halt),
    ];
    check(
        m.graph(nodes),
        "
        start: -> head
        head: while {step} then done exits bail
          step: 1 -> bail | back
          back: next
        bail: halt
        done: halt
        no jump leaves the loop to its exit `done`",
    );
}

#[test]
fn leaving_a_loop_needs_an_exit() {
    let mut m = Maker::default();
    let inside = vec![m.node("step", vec![], TerminatorOf::Goto("done"))];
    let nodes =
        vec![m.loop_node("head", &[], inside, "done"), m.node("done", vec![], TerminatorOf::Next)];
    check(
        m.graph(nodes),
        "
        jump out of the loop `head`, whose exits do not list `done`
        `next` outside of a loop",
    );
}
