//! Measures of lemmas and recursive functions.
//!
//! A lemma that does not end proves anything, and so does a function that is defined by itself. The
//! measure is, of what there is first: a parameter that recursive calls take apart or make smaller,
//! a predicate of the precondition, a datatype, an integer. Without one the measure is the empty
//! tuple, below which nothing is: the recursive call is then the error, unless termination is to be
//! taken for granted.

use rustc_hash::FxHashSet;
use sil::build::*;
use sil::syntax as s;
use spl::program::{
    BinaryOp, Clause, Expr, ExprKind, Function, FunctionId, LocalId, Predicate, PredicateId,
    Procedure, ProcedureId, Program, StmtKind, Type,
};

use super::Scope;
use super::assertions::conjuncts_of;
use crate::lower::auto_lemmas::callees;
use crate::lower::expressions::{Expressions, Meaning};

/// A function or a predicate that is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Applied {
    Function(FunctionId),
    Predicate(PredicateId),
}

/// The functions and procedures that apply or call themselves, directly or through others.
#[derive(Debug, Default)]
pub(super) struct Recursion {
    applied: FxHashSet<Applied>,
    called: FxHashSet<ProcedureId>,
}

impl Recursion {
    pub(super) fn of(program: &Program) -> Self {
        let functions = program.functions.iter().map(|(id, _)| Applied::Function(id));
        let predicates = program.predicates.iter().map(|(id, _)| Applied::Predicate(id));
        let applied = functions
            .chain(predicates)
            .filter(|&start| reaches_itself(start, |one| applications(program, one)));
        let called = program.procedures.iter().map(|(id, _)| id);
        let called = called.filter(|&start| reaches_itself(start, |id| callees(program, id)));
        Self { applied: applied.collect(), called: called.collect() }
    }

    pub(super) fn is_recursive_function(&self, id: FunctionId) -> bool {
        self.applied.contains(&Applied::Function(id))
    }

    pub(super) fn is_recursive_predicate(&self, id: PredicateId) -> bool {
        self.applied.contains(&Applied::Predicate(id))
    }
}

fn reaches_itself<T: Copy + Eq + std::hash::Hash>(start: T, next: impl Fn(T) -> Vec<T>) -> bool {
    let mut seen = FxHashSet::default();
    let mut waiting = next(start);
    while let Some(one) = waiting.pop() {
        if one == start {
            return true;
        }
        if seen.insert(one) {
            waiting.extend(next(one));
        }
    }
    false
}

/// Lists the applications in the body of a function.
fn applications(program: &Program, of: Applied) -> Vec<Applied> {
    let (body, clauses) = match of {
        Applied::Function(id) => {
            let function = &program.functions[id];
            (&function.body, function.requires.iter().chain(&function.ensures))
        }
        Applied::Predicate(id) => {
            let predicate = &program.predicates[id];
            if predicate.ty == Type::Permission {
                return Vec::new();
            }
            (&predicate.body, predicate.requires.iter().chain(&predicate.ensures))
        }
    };
    let mut found = Vec::new();
    for expr in body.iter().chain(clauses.map(|clause| &clause.condition)) {
        expr.any(&mut |part| {
            match &part.kind {
                ExprKind::Apply { function, .. } => found.push(Applied::Function(*function)),
                ExprKind::Predicate(predicate) => {
                    found.push(Applied::Predicate(predicate.predicate));
                }
                _ => {}
            }
            false
        });
    }
    found
}

/// Does every recursive call make the parameter smaller, by its text: a field of it, or it less a
/// number?
fn shrinks(program: &Program, parameter: LocalId, arguments: &[&Expr]) -> bool {
    let is_smaller = |argument: &&Expr| match &argument.kind {
        ExprKind::Destruct { term, .. } => is_part(term, parameter),
        ExprKind::Binary { op: BinaryOp::Sub, left, right } => {
            left.kind == ExprKind::Local(parameter) && matches!(right.kind, ExprKind::Int(_))
        }
        _ => false,
    };
    let is_measured = matches!(program.locals[parameter].ty, Type::Datatype(_) | Type::Int);
    is_measured && !arguments.is_empty() && arguments.iter().all(is_smaller)
}

fn is_part(term: &Expr, parameter: LocalId) -> bool {
    match &term.kind {
        ExprKind::Local(local) => *local == parameter,
        ExprKind::Destruct { term, .. } => is_part(term, parameter),
        _ => false,
    }
}

impl Scope<'_, '_, '_> {
    pub(super) fn function_measure(&mut self, id: FunctionId, function: &Function) -> s::Decreases {
        let mut calls: Vec<&[Expr]> = Vec::new();
        for expr in function.body.iter().chain(function.ensures.iter().map(|one| &one.condition)) {
            collect_calls(
                expr,
                &|part| match &part.kind {
                    ExprKind::Apply { function, arguments } if *function == id => Some(arguments),
                    _ => None,
                },
                &mut calls,
            );
        }
        self.measure(&function.parameters, &function.requires, &calls)
    }

    pub(super) fn predicate_measure(&mut self, predicate: &Predicate) -> s::Decreases {
        let mut calls: Vec<&[Expr]> = Vec::new();
        if let Some(body) = &predicate.body {
            collect_calls(
                body,
                &|part| match &part.kind {
                    ExprKind::Predicate(of) => Some(&of.arguments),
                    _ => None,
                },
                &mut calls,
            );
        }
        calls.retain(|arguments| arguments.len() == predicate.parameters.len());
        self.measure(&predicate.parameters, &predicate.requires, &calls)
    }

    /// Lemmas end, those without recursion too: a loop in one, or a procedure that it calls, might
    /// not.
    pub(super) fn lemma_measure(&mut self, id: ProcedureId, lemma: &Procedure) -> s::Decreases {
        if !self.thesis.recursion.called.contains(&id) {
            return decreases([]);
        }
        let mut calls: Vec<&[Expr]> = Vec::new();
        if let Some(body) = &lemma.body {
            body.for_each_stmt(&mut |stmt| {
                if let StmtKind::Call { procedure, arguments, .. } = &stmt.kind
                    && *procedure == id
                {
                    calls.push(arguments);
                }
            });
        }
        self.measure(&lemma.parameters, &lemma.requires, &calls)
    }

    /// Returns the first measure there is.
    fn measure(
        &mut self,
        parameters: &[LocalId],
        requires: &[Clause],
        calls: &[&[Expr]],
    ) -> s::Decreases {
        if self.member.lowering.options.assume_termination {
            return s::Decreases { kind: s::DecreasesKind::Wildcard, ..decreases([]) };
        }
        let program = self.member.program();
        let explicit = program.explicit(parameters);
        for (at, &parameter) in explicit.iter().enumerate() {
            let arguments: Vec<&Expr> = calls.iter().filter_map(|call| call.get(at)).collect();
            if shrinks(program, parameter, &arguments) {
                return decreases([self.local(parameter)]);
            }
        }
        let mut conjuncts = Vec::new();
        for clause in requires {
            conjuncts_of(&clause.condition, &mut conjuncts);
        }
        for conjunct in conjuncts {
            if let ExprKind::Predicate(predicate) = &conjunct.kind
                && self.is_opaque(predicate)
            {
                let arguments = self.exprs(&predicate.arguments);
                let name =
                    self.member.lowering.names.borrow().predicates[predicate.predicate].clone();
                return decreases([call(&name, arguments)]);
            }
        }
        let is_datatype = |ty: &Type| matches!(ty, Type::Datatype(_));
        let is_int = |ty: &Type| *ty == Type::Int;
        let of_type = |fits: &dyn Fn(&Type) -> bool| {
            explicit.iter().copied().find(|&local| fits(&program.locals[local].ty))
        };
        match of_type(&is_datatype).or_else(|| of_type(&is_int)) {
            Some(local) => decreases([self.local(local)]),
            None => decreases([]),
        }
    }

    /// Makes the measure of a loop in a lemma: the difference of the two sides of its guard.
    pub(super) fn loop_measure(&mut self, guard: &Expr) -> s::Decreases {
        if self.member.lowering.options.assume_termination {
            return s::Decreases { kind: s::DecreasesKind::Wildcard, ..decreases([]) };
        }
        let mut conjuncts = Vec::new();
        conjuncts_of(guard, &mut conjuncts);
        for conjunct in conjuncts {
            let ExprKind::Binary { op, left, right } = &conjunct.kind else { continue };
            if left.ty != Type::Int {
                continue;
            }
            let (low, high) = match op {
                BinaryOp::Less | BinaryOp::AtMost | BinaryOp::Ne => (left, right),
                BinaryOp::Greater | BinaryOp::AtLeast => (right, left),
                _ => continue,
            };
            let (low, high) = (self.expr(low), self.expr(high));
            return decreases([high - low]);
        }
        decreases([])
    }
}

fn collect_calls<'e>(
    expr: &'e Expr,
    is_call: &dyn Fn(&'e Expr) -> Option<&'e Vec<Expr>>,
    calls: &mut Vec<&'e [Expr]>,
) {
    if let Some(arguments) = is_call(expr) {
        calls.push(arguments);
    }
    front::grow_stack(|| expr.for_each_child(&mut |child| collect_calls(child, is_call, calls)));
}
