//! The dialect of the thesis, as a change of programs (see [`crate::options::Dialect`]).

use front::grow_stack;

use crate::program::{Block, Bounds, Expr, ExprKind, Program, Rhs, Stmt, StmtKind, Type};

/// Makes the wait level the lower bound of levels that have upper bounds only (seed 003, section
/// 3.4.1).
pub(crate) fn raise_levels(program: &mut Program) {
    program.methods.values_mut().for_each(|method| block(&mut method.body));
}

fn block(of: &mut Block) {
    of.stmts.iter_mut().for_each(|stmt| grow_stack(|| inside(stmt)));
}

fn inside(stmt: &mut Stmt) {
    match &mut stmt.kind {
        StmtKind::Block(body) | StmtKind::While { body, .. } | StmtKind::Lock { body, .. } => {
            block(body);
        }
        StmtKind::If { arms, otherwise } => {
            arms.iter_mut().map(|arm| &mut arm.body).chain(otherwise).for_each(block);
        }
        StmtKind::Share { bounds, .. } | StmtKind::Reorder { bounds, .. } => raise(bounds),
        StmtKind::Declare { value: Some(Rhs::NewChannel { bounds, .. }), .. }
        | StmtKind::AssignLocal { value: Rhs::NewChannel { bounds, .. }, .. }
        | StmtKind::AssignField { value: Rhs::NewChannel { bounds, .. }, .. } => raise(bounds),
        _ => {}
    }
}

fn raise(bounds: &mut Bounds) {
    if let ([], [first, ..]) = (&bounds.lower[..], &bounds.upper[..]) {
        let level = Expr { kind: ExprKind::WaitLevel, ty: Type::Mu, span: first.span };
        bounds.lower.push(level);
    }
}
