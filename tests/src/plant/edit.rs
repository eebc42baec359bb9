//! Changes of a program, and their pieces.

use num_bigint::BigInt;
use sil::program::{
    BinaryOp, Contract, Expr, ExprKind, FunctionId, Location, Member, Program, Stmt, StmtKind,
    Type, UnaryOp,
};
use sil::source::Span;

use super::place::{Invariant, Point, invariant_mut};

/// A clause of a member's contract.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Clause {
    Precondition(usize),
    Postcondition(usize),
}

/// One change of a program.
#[derive(Clone, Debug)]
pub(super) enum Edit {
    Insert(Point, Box<Stmt>),
    Replace(Point, Box<Stmt>),
    SetClause(Member, Clause, Box<Expr>),
    AddPostcondition(Member, Box<Expr>),
    SetInvariant(Invariant, Box<Expr>),
    /// A further invariant of the same loop, before the others.
    AddInvariant(Invariant, Box<Expr>),
    SetBody(FunctionId, Box<Expr>),
}

impl Edit {
    pub(super) fn apply(&self, program: &mut Program) {
        match self {
            Self::Insert(point, statement) => {
                point.list.of_mut(program).insert(point.index, (**statement).clone());
            }
            Self::Replace(point, statement) => {
                point.list.of_mut(program)[point.index] = (**statement).clone();
            }
            Self::SetClause(member, clause, expr) => {
                let contract = contract_mut(program, *member);
                let slot = match *clause {
                    Clause::Precondition(index) => &mut contract.preconditions[index],
                    Clause::Postcondition(index) => &mut contract.postconditions[index],
                };
                *slot = (**expr).clone();
            }
            Self::AddPostcondition(member, expr) => {
                contract_mut(program, *member).postconditions.insert(0, (**expr).clone());
            }
            Self::SetInvariant(invariant, expr) => {
                let (clauses, index) = invariant_mut(program, invariant);
                clauses[index] = (**expr).clone();
            }
            Self::AddInvariant(invariant, expr) => {
                let (clauses, _) = invariant_mut(program, invariant);
                clauses.insert(0, (**expr).clone());
            }
            Self::SetBody(function, body) => {
                program.functions[*function].body = Some((**body).clone());
            }
        }
    }
}

fn contract_mut(program: &mut Program, member: Member) -> &mut Contract {
    match member {
        Member::Method(id) => &mut program.methods[id].contract,
        Member::Function(id) => &mut program.functions[id].contract,
        _ => unreachable!("only methods and functions have contracts"),
    }
}

fn boolean(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, ty: Type::Bool, span, annotations: Vec::new() }
}

pub(super) fn literal(value: bool, span: Span) -> Expr {
    boolean(ExprKind::Bool(value), span)
}

pub(super) fn negation(expr: &Expr) -> Expr {
    let operand = Box::new(expr.clone());
    boolean(ExprKind::Unary { op: UnaryOp::Not, operand }, expr.span)
}

pub(super) fn assertion(expr: Expr, span: Span) -> Stmt {
    Stmt { kind: StmtKind::Assert(expr), span, annotations: Vec::new() }
}

pub(super) fn exhale_half(location: Location, span: Span) -> Stmt {
    let amount = perm(ExprKind::FullPerm, span);
    let half = Box::new(half(&amount));
    let access = boolean(ExprKind::Acc { location, amount: half }, span);
    Stmt { kind: StmtKind::Exhale(access), span, annotations: Vec::new() }
}

fn perm(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, ty: Type::Perm, span, annotations: Vec::new() }
}

/// Half of an amount.
pub(super) fn half(amount: &Expr) -> Expr {
    let span = amount.span;
    let two =
        Expr { kind: ExprKind::Int(BigInt::from(2)), ty: Type::Int, span, annotations: Vec::new() };
    let kind = ExprKind::Binary {
        op: BinaryOp::PermDiv,
        left: Box::new(amount.clone()),
        right: Box::new(two),
    };
    perm(kind, span)
}

/// `asserting (false) in e`.
pub(super) fn asserting_false(expr: &Expr) -> Expr {
    let kind = ExprKind::Asserting {
        assertion: Box::new(literal(false, expr.span)),
        body: Box::new(expr.clone()),
    };
    Expr { kind, ty: expr.ty.clone(), span: expr.span, annotations: Vec::new() }
}

/// The top-level conjuncts of an assertion.
pub(super) fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::And(operands) => operands.iter().flat_map(conjuncts).collect(),
        _ => vec![expr],
    }
}

/// The assertion with its conjunct number `index` replaced by what `map` makes of it.
pub(super) fn with_conjunct(expr: &Expr, index: usize, map: &dyn Fn(&Expr) -> Expr) -> Expr {
    let mut copy = expr.clone();
    let mut number = 0;
    copy.rewrite(&mut |part| {
        let is_and = matches!(part.kind, ExprKind::And(_));
        if !is_and {
            if number == index {
                *part = map(part);
            }
            number += 1;
        }
        is_and
    });
    copy
}

/// The accesses in an assertion that give or take permission: not those in wands and in ghost
/// operations.
pub(super) fn accesses(expr: &Expr) -> Vec<&Expr> {
    let mut found = Vec::new();
    sil::walk::walk_expr_while(expr, |expr| {
        if let ExprKind::Acc { .. } = expr.kind {
            found.push(expr);
        }
        leads_to_access(expr)
    });
    found
}

/// The assertion with its access number `index` replaced by what `map` makes of it.
pub(super) fn with_access(expr: &Expr, index: usize, map: &dyn Fn(&Expr) -> Expr) -> Expr {
    let mut copy = expr.clone();
    let mut number = 0;
    copy.rewrite(&mut |part| {
        if let ExprKind::Acc { .. } = part.kind {
            if number == index {
                *part = map(part);
            }
            number += 1;
            return false;
        }
        leads_to_access(part)
    });
    copy
}

fn leads_to_access(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::And(_)
            | ExprKind::Conditional { .. }
            | ExprKind::Let { .. }
            | ExprKind::Quantified { .. }
            | ExprKind::Binary { op: BinaryOp::Implies, .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn precondition(text: &str) -> (Program, Expr) {
        let text = format!("field f: Int\nmethod m(x: Ref)\n  requires {text}\n");
        let loaded = sil::load::load_text("test.sil", &text);
        let program = loaded.program.expect("well formed");
        let (_, method) = program.methods.iter().next().expect("there is one");
        let expr = method.contract.preconditions[0].clone();
        (program, expr)
    }

    fn shown(program: &Program, expr: &Expr) -> String {
        let (_, method) = program.methods.iter().next().expect("there is one");
        sil::print::expr(program, &method.locals, expr)
    }

    #[test]
    fn conjuncts_are_replaced_one_at_a_time() {
        let (program, expr) = precondition("acc(x.f) && (x.f > 0 && x.f < 9) && x.f != 5");
        assert_eq!(conjuncts(&expr).len(), 4);
        let changed = with_conjunct(&expr, 2, &negation);
        assert_eq!(shown(&program, &changed).matches('!').count(), 2);
        assert!(shown(&program, &changed).contains("!(x.f < 9)"), "{}", shown(&program, &changed));
    }

    #[test]
    fn accesses_are_replaced_one_at_a_time() {
        let (program, expr) =
            precondition("acc(x.f, 1/4) && (x.f > 0 ? acc(x.f, 1/3) : acc(x.f, 1/2))");
        assert_eq!(accesses(&expr).len(), 3);
        let changed = with_access(&expr, 1, &|expr| literal(true, expr.span));
        let text = shown(&program, &changed).replace(' ', "");
        assert!(text.contains("1/4") && !text.contains("1/3") && text.contains("1/2"), "{text}");
    }
}
