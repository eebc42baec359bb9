//! Bodies built by hand and the blocks they become.

use la_arena::Arena;

use super::{BlockId, BlockKind, Cfg, TerminatorKind, build};
use crate::diagnostics::Diagnostic;
use crate::program::{
    Block, Body, Contract, Expr, ExprKind, Graph, Implementation, Label, LabelId, Local, LocalId,
    LocalKind, Method, Node, NodeKind, Program, Stmt, StmtKind, Terminator, Type,
};
use crate::source::Span;

/// Builds bodies: labels are made when first named, statements are told apart by a number.
#[derive(Default)]
struct Maker {
    labels: Arena<Label>,
    locals: Arena<Local>,
}

impl Maker {
    fn label_id(&mut self, name: &str) -> LabelId {
        let known = self.labels.iter().find(|(_, label)| &*label.name == name).map(|(id, _)| id);
        known.unwrap_or_else(|| {
            self.labels.alloc(Label { name: name.into(), span: Span::default() })
        })
    }

    fn local(&mut self, name: &str) -> LocalId {
        self.locals.alloc(Local {
            name: name.into(),
            ty: Type::Int,
            kind: LocalKind::Variable,
            span: Span::default(),
        })
    }

    fn goto(&mut self, name: &str) -> Stmt {
        stmt(StmtKind::Goto(self.label_id(name)))
    }

    fn label(&mut self, name: &str) -> Stmt {
        let label = self.label_id(name);
        stmt(StmtKind::Label { label, invariants: Vec::new(), decreases: Vec::new() })
    }

    fn label_with_invariant(&mut self, name: &str) -> Stmt {
        let label = self.label_id(name);
        stmt(StmtKind::Label { label, invariants: vec![flag()], decreases: Vec::new() })
    }

    fn node(&mut self, name: &str, statements: Vec<Stmt>, terminator: TerminatorOf) -> Node {
        let kind = match terminator {
            TerminatorOf::Goto(target) => {
                crate::program::TerminatorKind::Goto(self.label_id(target))
            }
            TerminatorOf::Branch(then, otherwise) => crate::program::TerminatorKind::Branch {
                condition: flag(),
                then: self.label_id(then),
                otherwise: self.label_id(otherwise),
            },
            TerminatorOf::Next => crate::program::TerminatorKind::Next,
            TerminatorOf::Halt => crate::program::TerminatorKind::Halt,
        };
        let terminator = Terminator { kind, span: Span::default() };
        self.graph_node(name, NodeKind::Block { statements, terminator })
    }

    fn loop_node(&mut self, name: &str, exits: &[&str], nodes: Vec<Node>, then: &str) -> Node {
        let exits = exits.iter().map(|exit| self.label_id(exit)).collect();
        let then = Some(self.label_id(then));
        let graph = Graph { locals: Vec::new(), nodes, entry: 0, span: Span::default() };
        self.graph_node(name, NodeKind::Loop { condition: Some(flag()), exits, graph, then })
    }

    fn graph_node(&mut self, name: &str, kind: NodeKind) -> Node {
        Node {
            label: self.label_id(name),
            invariants: Vec::new(),
            decreases: Vec::new(),
            kind,
            annotations: Vec::new(),
            span: Span::default(),
        }
    }

    fn structured(self, statements: Vec<Stmt>) -> (Option<Cfg>, Vec<Diagnostic>) {
        self.build(Body::Structured(block(statements)))
    }

    fn graph(self, nodes: Vec<Node>) -> (Option<Cfg>, Vec<Diagnostic>) {
        let span = Span::default();
        self.build(Body::Graph(Graph { locals: Vec::new(), nodes, entry: 0, span }))
    }

    fn build(self, body: Body) -> (Option<Cfg>, Vec<Diagnostic>) {
        let implementation = Implementation {
            name: None,
            labels: self.labels,
            body,
            annotations: Vec::new(),
            span: Span::default(),
        };
        let mut program = Program::default();
        let method = program.methods.alloc(Method {
            name: "m".into(),
            locals: self.locals,
            formals: Vec::new(),
            returns: Vec::new(),
            contract: Contract::default(),
            implementations: vec![implementation],
            annotations: Vec::new(),
            span: Span::default(),
        });
        let mut diagnostics = Vec::new();
        (build(&program, method, 0, &mut diagnostics), diagnostics)
    }
}

enum TerminatorOf {
    Goto(&'static str),
    Branch(&'static str, &'static str),
    Next,
    Halt,
}

fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, span: Span::default(), annotations: Vec::new() }
}

fn block(statements: Vec<Stmt>) -> Block {
    Block { statements, span: Span::default() }
}

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, ty: Type::Bool, span: Span::default(), annotations: Vec::new() }
}

fn flag() -> Expr {
    expr(ExprKind::Bool(true))
}

/// A simple statement.
fn step(number: u32) -> Stmt {
    stmt(StmtKind::Inhale(expr(ExprKind::Int(number.into()))))
}

fn when(then: Vec<Stmt>, otherwise: Vec<Stmt>) -> Stmt {
    let otherwise = (!otherwise.is_empty()).then(|| block(otherwise));
    stmt(StmtKind::If { condition: flag(), then: block(then), otherwise })
}

fn repeat(body: Vec<Stmt>) -> Stmt {
    let (invariants, decreases) = (Vec::new(), Vec::new());
    stmt(StmtKind::While { condition: flag(), invariants, decreases, body: block(body) })
}

/// One line a block: `name: steps -> where`, the blocks of a loop indented below it.
fn shown(cfg: &Cfg) -> String {
    let mut text = String::new();
    for (id, block) in cfg.blocks.iter() {
        let depth =
            std::iter::successors(block.parent, |&around| cfg.blocks[around].parent).count();
        let name = |id: BlockId| cfg.blocks[id].name.clone();
        let names = |ids: &[BlockId]| ids.iter().map(|&id| name(id)).collect::<Vec<_>>().join(",");
        let mut line = format!("{}{}:", "  ".repeat(depth), block.name);
        match &block.kind {
            BlockKind::Basic { statements, terminator } => {
                for statement in statements {
                    line += &match &statement.kind {
                        StmtKind::Inhale(Expr { kind: ExprKind::Int(number), .. }) => {
                            format!(" {number}")
                        }
                        StmtKind::Label { .. } => " label".to_owned(),
                        _ => " other".to_owned(),
                    };
                }
                line += &match &terminator.kind {
                    TerminatorKind::Goto(target) => format!(" -> {}", name(*target)),
                    TerminatorKind::Branch { then, otherwise, .. } => {
                        format!(" -> {} | {}", name(*then), name(*otherwise))
                    }
                    TerminatorKind::Next => " next".to_owned(),
                    TerminatorKind::Halt => " halt".to_owned(),
                    TerminatorKind::Dead => " dead".to_owned(),
                };
                if let Some(join) = cfg.join_point(id) {
                    line += &format!(" joins {}", name(join));
                }
            }
            BlockKind::Loop(inner) => {
                line += if inner.condition.is_some() { " while" } else { " loop" };
                line += &format!(" {{{}", name(inner.entry));
                line += "}";
                if let Some(then) = inner.then {
                    line += &format!(" then {}", name(then));
                }
                if !inner.exits.is_empty() {
                    line += &format!(" exits {}", names(&inner.exits));
                }
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[track_caller]
fn check(built: (Option<Cfg>, Vec<Diagnostic>), expected: &str) {
    let (cfg, diagnostics) = built;
    let messages: Vec<_> = diagnostics.iter().map(|finding| finding.message.clone()).collect();
    let shown = cfg.as_ref().map_or_else(String::new, shown);
    let lines = expected.lines().skip(1).map(|line| line.get(8..).unwrap_or(""));
    let expected = lines.collect::<Vec<_>>().join("\n");
    let found = format!("{shown}{}", messages.join("\n"));
    assert_eq!(found.trim_end(), expected.trim_end(), "found:\n{found}");
}

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
    for _ in 0..crate::parser::MAX_DEPTH / 2 {
        chain = vec![when(vec![step(1)], chain)];
    }
    let (cfg, _) = Maker::default().structured(chain);
    assert!(cfg.is_some());
}
