//! Ghost constants, and what may be said of one before it is assigned.
//!
//! A ghost constant that is assigned late may be read before, as what it will be: so a method
//! speaks of its own outcome ahead of time. That is sound only where the value assigned does not
//! depend on the constant. Guards, arguments and assignments to what is no ghost do not read
//! ghosts, as the resolver sees to; what is left is looked at here. The translation and the direct
//! execution both ask here, so that they cannot differ.

use super::walk::{any_expr, each_stmt, rhs_of};
use super::{Block, Bounds, Expr, ExprKind, FieldRef, MethodId, Program, Rhs, StmtKind, Type};

/// Tells whether `e` itself reads ghost variables or fields. Functions it applies are another
/// question.
fn mentions_ghost(program: &Program, e: &Expr) -> bool {
    e.any(&mut |part| match &part.kind {
        ExprKind::Local(local) => program.locals[*local].is_ghost,
        ExprKind::FieldRead { field: FieldRef::Declared(field), .. } => {
            program.fields[*field].is_ghost
        }
        _ => false,
    })
}

/// Lists the methods of which nothing that is executed depends on ghost state. It would through functions
/// that read it, or may, as they have no body; through specification statements and assumptions
/// that tell of it, or of permissions, for what a predicate says may be about both; through levels
/// chosen by it, and pointers back; and where ghosts say how many credits are given, for
/// `waitlevel` is what debts make of it: so wherever some method has to do with credits.
///
/// SOUNDNESS: ghost fields carry values of ghosts from one method to others; where there are none,
/// what a method does with its ghosts depends on its own alone, so that ghosts of other methods
/// still stay apart.
pub fn stay_apart(program: &Program) -> Vec<MethodId> {
    let functions_read = program.functions.values().any(|function| match &function.body {
        Some(body) => mentions_ghost(program, body),
        None => !function.requires.is_empty(),
    });
    let moves_credits = moves_credits(program);
    let shares_ghosts = program.fields.values().any(|field| field.is_ghost);
    if functions_read && shares_ghosts
        || moves_credits
        || program.fields.values().any(|field| field.is_tracked)
    {
        return Vec::new();
    }
    let mut apart: Vec<_> = program.methods.iter().map(|(id, _)| id).collect();
    let all = apart.len();
    apart.retain(|&id| stays_apart(program, &program.methods[id].body));
    if shares_ghosts && apart.len() < all {
        apart.clear();
    }
    apart
}

/// Tells whether credits are spoken of, given or taken.
fn moves_credits(program: &Program) -> bool {
    let mut moves = any_expr(program, &mut |part| matches!(part.kind, ExprKind::Credit { .. }));
    for method in program.methods.values() {
        each_stmt(&method.body, &mut |stmt| {
            moves |= matches!(stmt.kind, StmtKind::Send { .. } | StmtKind::Receive { .. });
        });
    }
    moves
}

/// Tells whether nothing that the statements of a method do depends on ghosts.
fn stays_apart(program: &Program, body: &Block) -> bool {
    let bounds_read = |bounds: &Bounds| {
        bounds.lower.iter().chain(&bounds.upper).any(|bound| mentions_ghost(program, bound))
    };
    let mut apart = true;
    each_stmt(body, &mut |stmt| {
        apart &= match &stmt.kind {
            StmtKind::Assume(fact) | StmtKind::Specification { post: fact, .. } => {
                fact.is_pure() && !mentions_ghost(program, fact)
            }
            StmtKind::Share { bounds, .. } | StmtKind::Reorder { bounds, .. } => {
                !bounds_read(bounds)
            }
            _ => !matches!(rhs_of(stmt),
                Some(Rhs::NewChannel { bounds, .. }) if bounds_read(bounds)),
        };
    });
    apart
}

/// Tells whether a ghost constant that is assigned `value` may have had that value from its
/// declaration on.
///
/// SOUNDNESS: which value of this kind it gets, and whether it does, is the same whatever the
/// constant was before, in methods whose ghosts [`stay_apart`]. So of each execution there is one
/// in which it was just that. Not so of references: objects made since are unlike all that was
/// there before.
pub fn is_foreseen(program: &Program, value: &Expr) -> bool {
    matches!(value.ty, Type::Int | Type::Bool) && !mentions_ghost(program, value)
}
