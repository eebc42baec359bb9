//! Termination of lemmas and recursive functions.
//!
//! A lemma that calls itself proves what it likes unless something gets smaller. The measure is the
//! first that applies: a parameter of a datatype, what is owned at entry (a part of the finitely
//! many objects that exist), an Int parameter. Of several parameters the first that a recursive
//! call changes is taken.

use sil::syntax as s;
use spl::program::{
    Block, Expr, ExprKind, FunctionId, LocalId, PredicateId, ProcedureId, Program, Stmt, StmtKind,
    Type,
};

use crate::build::*;
use crate::classic::Fallible;
use crate::classic::member::{Declaration, Env};
use crate::classic::prelude::Part;

impl Declaration<'_, '_> {
    /// The measure of a lemma. Procedures may run forever.
    pub(in crate::classic) fn measure(
        &mut self,
        id: ProcedureId,
        contract: &mut s::Contract,
    ) -> Fallible<()> {
        let program = self.program;
        let lemma = &program.procedures[id];
        if !lemma.is_lemma() || self.lowering.options.assume_termination {
            return Ok(());
        }
        let mut calls = Vec::new();
        lemma.body.iter().for_each(|body| calls_in(body, id, &mut calls));
        let is_recursive = self.lowering.uses.reached(id).contains(&id);
        let candidates = |wanted: &dyn Fn(&Type) -> bool| {
            let fitting = lemma.parameters.iter().copied();
            let fitting = fitting.filter(|&local| wanted(&program.locals[local].ty));
            changing(program, &lemma.parameters, fitting, &calls)
        };
        let owns = lemma.requires.iter().any(|clause| clause.condition.is_permission());
        let measures = if !is_recursive {
            Vec::new()
        } else if let Some(local) = candidates(&|ty| matches!(ty, Type::Datatype(_))) {
            vec![self.value_of(local, &Env::default(), lemma.name_span)?]
        } else if owns {
            let sets: Vec<(Type, s::Expr)> =
                self.entry.own.iter().map(|(sort, set)| (sort.clone(), set.clone())).collect();
            sets.iter()
                .for_each(|(sort, _)| self.lowering.prelude.want(Part::Smaller(sort.clone())));
            sets.into_iter().map(|(_, set)| set).collect()
        } else if let Some(local) = candidates(&|ty| *ty == Type::Int) {
            vec![self.value_of(local, &Env::default(), lemma.name_span)?]
        } else {
            Vec::new()
        };
        contract.decreases.push(decreases(measures));
        Ok(())
    }
}

/// Returns the parameter that gets smaller where a function applies itself.
pub(in crate::classic) fn function_measure(program: &Program, id: FunctionId) -> Option<LocalId> {
    let function = &program.functions[id];
    let mut calls = Vec::new();
    if let Some(body) = &function.body {
        body.any(&mut |e| {
            if let ExprKind::Apply { function, arguments } = &e.kind
                && *function == id
            {
                calls.push(arguments.clone());
            }
            false
        });
    }
    value_measure(program, &function.parameters, &calls)
}

/// Returns the parameter that gets smaller where a predicate without permissions mentions itself.
pub(in crate::classic) fn predicate_measure(program: &Program, id: PredicateId) -> Option<LocalId> {
    let predicate = &program.predicates[id];
    let mut uses = Vec::new();
    if let Some(body) = &predicate.body {
        body.any(&mut |e| {
            if let ExprKind::Predicate(used) = &e.kind
                && used.predicate == id
            {
                uses.push(used.arguments.clone());
            }
            false
        });
    }
    value_measure(program, &predicate.parameters, &uses)
}

fn value_measure(
    program: &Program,
    parameters: &[LocalId],
    calls: &[Vec<Expr>],
) -> Option<LocalId> {
    let calls: Vec<&[Expr]> = calls.iter().map(Vec::as_slice).collect();
    let of = |wanted: &dyn Fn(&Type) -> bool| {
        let fitting = parameters.iter().copied();
        let fitting = fitting.filter(|&local| wanted(&program.locals[local].ty));
        changing(program, parameters, fitting, &calls)
    };
    of(&|ty| matches!(ty, Type::Datatype(_))).or_else(|| of(&|ty| *ty == Type::Int))
}

/// Returns the first of the parameters for which all calls give a part of it, or else one that some
/// call changes, or else the first.
fn changing(
    program: &Program,
    parameters: &[LocalId],
    fitting: impl Iterator<Item = LocalId>,
    calls: &[&[Expr]],
) -> Option<LocalId> {
    let explicit = program.explicit(parameters);
    let fitting: Vec<LocalId> = fitting.collect();
    let given = |local: LocalId, wanted: &dyn Fn(&Expr) -> bool| {
        let at = explicit.iter().position(|&other| other == local);
        let mut arguments = calls.iter().filter_map(|call| at.and_then(|at| call.get(at)));
        !calls.is_empty() && arguments.all(wanted)
    };
    let is_part = |local: LocalId| given(local, &|e| is_part_of(e, local));
    let is_changed = |local: LocalId| !given(local, &|e| e.kind == ExprKind::Local(local));
    let find =
        |claim: &dyn Fn(LocalId) -> bool| fitting.iter().copied().find(|&local| claim(local));
    find(&is_part).or_else(|| find(&is_changed)).or_else(|| fitting.first().copied())
}

/// Is it `local.d.d..`?
fn is_part_of(e: &Expr, local: LocalId) -> bool {
    match &e.kind {
        ExprKind::Destruct { term, .. } => {
            term.kind == ExprKind::Local(local) || is_part_of(term, local)
        }
        _ => false,
    }
}

/// The arguments of the calls of a lemma in a block.
fn calls_in<'p>(block: &'p Block, callee: ProcedureId, calls: &mut Vec<&'p [Expr]>) {
    block.stmts.iter().for_each(|stmt| front::grow_stack(|| calls_of(stmt, callee, calls)));
}

fn calls_of<'p>(stmt: &'p Stmt, callee: ProcedureId, calls: &mut Vec<&'p [Expr]>) {
    match &stmt.kind {
        StmtKind::Call { procedure, arguments, .. } if *procedure == callee => {
            calls.push(arguments);
        }
        StmtKind::Block(block) => calls_in(block, callee, calls),
        StmtKind::If { then, otherwise, .. } => {
            calls_in(then, callee, calls);
            otherwise.iter().for_each(|block| calls_in(block, callee, calls));
        }
        StmtKind::Choose(blocks) => blocks.iter().for_each(|block| calls_in(block, callee, calls)),
        StmtKind::While { before_guard, body, .. } => {
            before_guard.iter().for_each(|stmt| calls_of(stmt, callee, calls));
            calls_in(body, callee, calls);
        }
        StmtKind::Assert { proof: Some(proof), .. } => calls_in(proof, callee, calls),
        _ => {}
    }
}
