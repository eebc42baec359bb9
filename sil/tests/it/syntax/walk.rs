//! Visitors and rewriters on a program with every kind of node.

use sil::parser;
use sil::source::{FileId, Span};
use sil::syntax::walk::{Rewriter, Visitor, rewrite, visit};
use sil::syntax::{Block, Expr, ExprKind, Program, StmtKind, Type};

const PROGRAM: &str = "
        field val: Seq[Int]
        define twice(a) a + 2
        define step { assert 3 == 3 }
        domain D[T] { function f(x: Set[T]): Map[Int, T]  axiom { forall x: Int :: { 4 } x == 5 } }
        adt L[T] { C(head: T, tail: L[T]) }
        function g(x: Int): Int requires x > 6 ensures result > 7 decreases x - 8 { x[9 := 10][11..12] }
        predicate p(x: Ref) { acc(x.val, 13/14) && [15 > 0, 16 > 0] }
        method m(x: Ref) returns (r: Multiset[Int]) requires 17 == 17 ensures 18 == 18 {
          while (19 > 0) invariant 20 > 0 { package (21 == 21) --* (22 == 22) { assert 23 == 23 } }
          if (24 == 24) { var y: Perm := 25/1 } else { goto l }
          label l invariant 26 == 26
          quasihavoc 27 == 27 ==> x.val
        }
        method n() graph {
          loop h while (28 > 0) invariant 29 > 0 { block b { inhale 30 == 30 branch (31 > 0) c else c } block c { next } } then e
          block e { assert Map(32 := 33) == Map[Int, Int]() halt }
        }";

fn parsed() -> Program {
    let mut findings = Vec::new();
    let program = parser::parse(FileId(0), PROGRAM, &mut findings);
    assert!(findings.is_empty(), "{findings:?}");
    program
}

/// Collects all numbers, and counts types.
#[derive(Default)]
struct Collect {
    numbers: Vec<String>,
    types: usize,
}

impl<'e> Visitor<'e> for Collect {
    fn expr(&mut self, expr: &'e Expr) {
        if let ExprKind::Int(number) = &expr.kind {
            self.numbers.push(number.to_string());
        }
        visit::expr(self, expr);
    }

    fn ty(&mut self, ty: &'e Type) {
        self.types += 1;
        visit::ty(self, ty);
    }
}

#[test]
fn every_expression_and_type_is_visited() {
    let mut collect = Collect::default();
    visit::program(&mut collect, &parsed());
    for number in 2..=33 {
        assert!(collect.numbers.contains(&number.to_string()), "{number} is not visited");
    }
    assert_eq!(collect.types, 20);
}

/// Replaces all numbers and drops assertions.
struct Change;

impl Rewriter for Change {
    fn expr(&mut self, expr: &mut Expr) {
        rewrite::expr(self, expr);
        if let ExprKind::Int(_) = &expr.kind {
            *expr = Expr::new(ExprKind::Int(100.into()), Span::default());
        }
    }

    fn block(&mut self, block: &mut Block) {
        block.statements.retain(|stmt| !matches!(stmt.kind, StmtKind::Assert(_)));
        rewrite::block(self, block);
    }
}

#[test]
fn what_a_rewriter_does_stays() {
    let mut program = parsed();
    rewrite::program(&mut Change, &mut program);
    let mut collect = Collect::default();
    visit::program(&mut collect, &program);
    assert!(collect.numbers.iter().all(|number| number == "100"), "{:?}", collect.numbers);
    // The assertions of the macro (two numbers) and of the proof script (two).
    let mut before = Collect::default();
    visit::program(&mut before, &parsed());
    assert_eq!(before.numbers.len() - collect.numbers.len(), 4);
}
