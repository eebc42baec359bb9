//! Functions: a proof method for the body, one for the precondition, one for the postcondition.

use front::grow_stack;

use super::build;
use super::measures::{Call, Measure, Values, less};
use super::positions::{Frame, Positions};
use super::{CheckKind, Locals, Pass};
use crate::program::{
    Block, Body, Contract, Expr, ExprKind, Function, FunctionId, Implementation, LocalId, Method,
    Stmt, StmtKind, Type,
};
use crate::source::Span;

/// Adds the proofs for all functions with a tuple.
pub(super) fn prove_all(pass: &mut Pass<'_>) {
    for (id, function) in pass.source.functions.iter() {
        if Measure::of(&function.contract.decreases).has_tuple() {
            body(pass, id, function);
            preconditions(pass, id, function);
            postconditions(pass, id, function);
        }
    }
}

fn body(pass: &mut Pass<'_>, id: FunctionId, function: &Function) {
    let Some(body) = function.body.as_ref().filter(|body| build::has_calls(body)) else { return };
    let mut proof = Proof::new(pass, id, function, State::AtEntry);
    proof.last(body);
    proof.finish("termination_proof");
}

/// The precondition is met conjunct by conjunct, in the order written, from no permission at all.
fn preconditions(pass: &mut Pass<'_>, id: FunctionId, function: &Function) {
    let clauses = &function.contract.preconditions;
    for &side in sides(clauses) {
        let mut proof = Proof::new(pass, id, function, State::Growing);
        for clause in &read(clauses, side) {
            proof.assertion(clause);
        }
        proof.finish("pres_termination_proof");
    }
}

fn postconditions(pass: &mut Pass<'_>, id: FunctionId, function: &Function) {
    let clauses = &function.contract.postconditions;
    for &side in sides(clauses) {
        let mut proof = Proof::new(pass, id, function, State::AtEntry);
        let result =
            build::fresh(&mut proof.locals, "result", function.result.clone(), function.span);
        for clause in &read(clauses, side) {
            proof.assertion(&with_result(clause, result));
        }
        proof.finish("posts_termination_proof");
    }
}

/// A side of `[a, b]`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Inhale,
    Exhale,
}

/// Returns which readings of the clauses differ; none if there is no call in them.
fn sides(clauses: &[Expr]) -> &'static [Side] {
    let has_sides = clauses
        .iter()
        .any(|clause| clause.any(|expr| matches!(expr.kind, ExprKind::InhaleExhale { .. })));
    if !clauses.iter().any(build::has_calls) {
        &[]
    } else if has_sides {
        &[Side::Inhale, Side::Exhale]
    } else {
        &[Side::Inhale]
    }
}

fn read(clauses: &[Expr], side: Side) -> Vec<Expr> {
    let mut read = clauses.to_vec();
    for clause in &mut read {
        clause.rewrite(&mut |part| {
            while let ExprKind::InhaleExhale { inhale, exhale } = &part.kind {
                *part = Expr::clone(if side == Side::Inhale { inhale } else { exhale });
            }
            true
        });
    }
    read
}

fn with_result(expr: &Expr, result: LocalId) -> Expr {
    let mut copy = expr.clone();
    copy.rewrite(&mut |part| {
        if matches!(part.kind, ExprKind::Result) {
            *part = build::local(result, part.ty.clone(), part.span);
        }
        true
    });
    copy
}

/// The permission that is held while the checks are made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The function's precondition.
    AtEntry,
    /// The part of the function's precondition that has been met so far.
    Growing,
}

/// A proof method under construction. Its variables are those of the function, and more.
struct Proof<'a, 'p> {
    pass: &'a mut Pass<'p>,
    id: FunctionId,
    function: &'a Function,
    state: State,
    locals: Locals,
    statements: Vec<Stmt>,
    has_checks: bool,
}

impl<'a, 'p> Proof<'a, 'p> {
    fn new(pass: &'a mut Pass<'p>, id: FunctionId, function: &'a Function, state: State) -> Self {
        let locals = function.locals.clone();
        let statements = Vec::new();
        Self { pass, id, function, state, locals, statements, has_checks: false }
    }

    /// Adds the method to the program, if there is something to prove.
    fn finish(self, suffix: &str) {
        if !self.has_checks {
            return;
        }
        let span = self.function.span;
        let copy = self.pass.mark(span, CheckKind::Copy);
        let copied = self.pass.copied();
        let preconditions = match self.state {
            State::AtEntry => {
                let clauses = self.function.contract.preconditions.iter();
                clauses.map(|clause| copied(clause, copy)).collect()
            }
            State::Growing => Vec::new(),
        };
        let body = Block { statements: self.statements, span };
        let implementation = Implementation {
            name: None,
            labels: la_arena::Arena::new(),
            body: Body::Structured(body),
            annotations: Vec::new(),
            span,
        };
        let method = Method {
            name: format!("{}_{suffix}", self.function.name).into(),
            locals: self.locals,
            formals: self.function.formals.clone(),
            returns: Vec::new(),
            contract: Contract { preconditions, ..Contract::default() },
            implementations: vec![implementation],
            annotations: Vec::new(),
            span,
        };
        let method = self.pass.made.program.methods.alloc(method);
        self.pass.made.proofs.push((method, self.id));
    }

    /// The checks of a pure expression after which there are no others: it can take paths of its
    /// own, so that long chains of conditionals are not repeated for each of their calls.
    fn last(&mut self, expr: &Expr) {
        grow_stack(|| match &expr.kind {
            _ if !build::has_calls(expr) => {}
            ExprKind::Conditional { condition, then, otherwise } => {
                self.pure(condition);
                let then = self.block(|proof| proof.last(then));
                let otherwise = self.block(|proof| proof.last(otherwise));
                self.branch(condition, then, Some(otherwise));
            }
            ExprKind::Let { variable, value, body } => {
                self.pure(value);
                self.bind(*variable, value);
                self.last(body);
            }
            _ => self.pure(expr),
        });
    }

    fn bind(&mut self, variable: LocalId, value: &Expr) {
        let copy = self.pass.mark(value.span, CheckKind::Copy);
        let value = self.pass.copied()(value, copy);
        self.statements.push(Stmt::new(StmtKind::Assign { target: variable, value }, copy));
    }

    /// The checks of a pure expression.
    fn pure(&mut self, expr: &Expr) {
        let Positions { found, arbitrary, .. } = Positions::of(expr);
        for position in found {
            let checks = self.checks(position.call, &position.frames);
            if checks.is_empty() {
                continue;
            }
            // Anew for each check, as expressions in between may bind the same variables.
            self.forget(&arbitrary, expr.span);
            self.statements.extend(checks);
            self.has_checks = true;
        }
    }

    fn forget(&mut self, variables: &[LocalId], span: Span) {
        if !variables.is_empty() {
            let copy = self.pass.mark(span, CheckKind::Copy);
            self.statements.push(Stmt::new(StmtKind::Var(variables.to_vec()), copy));
        }
    }

    /// The checks of an assertion, which holds from then on.
    fn assertion(&mut self, assertion: &Expr) {
        grow_stack(|| self.assertion_kind(assertion));
    }

    fn assertion_kind(&mut self, assertion: &Expr) {
        match &assertion.kind {
            _ if assertion.is_pure() || !build::has_calls(assertion) => {
                self.pure(assertion);
                self.assume(assertion);
            }
            ExprKind::And(conjuncts) => {
                for conjunct in conjuncts {
                    self.assertion(conjunct);
                }
            }
            ExprKind::Binary { left, right, .. } => {
                self.pure(left);
                let then = self.block(|proof| proof.assertion(right));
                self.branch(left, then, None);
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                self.pure(condition);
                let then = self.block(|proof| proof.assertion(then));
                let otherwise = self.block(|proof| proof.assertion(otherwise));
                self.branch(condition, then, Some(otherwise));
            }
            ExprKind::Let { variable, value, body } => {
                self.pure(value);
                self.bind(*variable, value);
                self.assertion(body);
            }
            ExprKind::Quantified { variables, body, .. } => {
                self.for_some_values(variables, body);
                self.assume(assertion);
            }
            _ => {
                assertion.for_each_child(|child| self.pure(child));
                self.assume(assertion);
            }
        }
    }

    /// The checks of a quantifier's body, on a path of their own.
    fn for_some_values(&mut self, variables: &[LocalId], body: &Expr) {
        let copy = self.pass.mark(body.span, CheckKind::Copy);
        let inside = self.block(|proof| {
            proof.forget(variables, body.span);
            proof.assertion(body);
            let never = Expr::boolean(false, copy);
            proof.statements.push(Stmt::new(StmtKind::Inhale(never), copy));
        });
        let choice = build::fresh(&mut self.locals, "inside", Type::Bool, copy);
        let choice = build::local(choice, Type::Bool, copy);
        let kind = StmtKind::If { condition: choice, then: inside, otherwise: None };
        self.statements.push(Stmt::new(kind, copy));
    }

    fn block(&mut self, fill: impl FnOnce(&mut Self)) -> Block {
        let outside = std::mem::take(&mut self.statements);
        fill(self);
        let statements = std::mem::replace(&mut self.statements, outside);
        Block { statements, span: self.function.span }
    }

    fn branch(&mut self, condition: &Expr, then: Block, otherwise: Option<Block>) {
        let copy = self.pass.mark(condition.span, CheckKind::Copy);
        let condition = self.pass.copied()(condition, copy);
        self.statements.push(Stmt::new(StmtKind::If { condition, then, otherwise }, copy));
    }

    fn assume(&mut self, assertion: &Expr) {
        let copy = self.pass.mark(assertion.span, CheckKind::Copy);
        let assertion = self.pass.copied()(assertion, copy);
        self.statements.push(Stmt::new(StmtKind::Inhale(assertion), copy));
    }

    /// Makes the checks of a call, for the place of its evaluation.
    fn checks(&mut self, call: &Expr, frames: &[Frame<'_>]) -> Vec<Stmt> {
        let ExprKind::Apply { function: callee, arguments } = &call.kind else { return Vec::new() };
        let declaration = &self.pass.source.functions[*callee];
        let is_mutual = self.pass.components.are_mutual(self.id, *callee);
        let kind = if is_mutual { CheckKind::Tuple } else { CheckKind::TerminationCondition };
        let place = self.pass.mark(call.span, kind);
        let made = Call { callee: &declaration.locals, formals: &declaration.formals, arguments };
        let copied = self.pass.copied();
        let values = Measure::of(&declaration.contract.decreases).at_call(
            made,
            &mut self.locals,
            copied,
            &self.pass.orders,
            place,
        );
        let own = Measure::of(&self.function.contract.decreases);
        let own = own.here(copied, &self.pass.orders, place);
        let own = if self.state == State::AtEntry { at_entry(own) } else { own };
        let mut checks = Vec::new();
        for (kind, check) in self.pass.call_checks(&own, values, is_mutual, place) {
            let place = self.pass.mark(call.span, kind);
            let mut check = self.pass.in_position(check, frames, &mut self.locals);
            check.span = place;
            checks.push(Stmt::new(StmtKind::Assert(check), place));
        }
        checks
    }
}

/// Returns the measure of a caller, as it was at the caller's entry.
pub(super) fn at_entry(own: Values) -> Values {
    Values {
        tuple: own.tuple.map(|elements| elements.into_iter().map(build::at_entry).collect()),
        tuple_condition: build::at_entry(own.tuple_condition),
        termination_condition: build::at_entry(own.termination_condition),
    }
}

impl Pass<'_> {
    /// Makes the check that a callee without calls back ends, given the caller's measure; also for
    /// a loop.
    pub(super) fn termination_check(
        &mut self,
        own: &Values,
        callee: Values,
        place: Span,
    ) -> Option<(CheckKind, Expr)> {
        let required = own.tuple_condition.clone();
        let promised = callee.termination_condition;
        if build::is_literal(&required, false) || build::is_literal(&promised, true) {
            return None;
        }
        let check = build::implies(required, promised, place);
        Some((CheckKind::TerminationCondition, check))
    }

    /// Makes the checks of a callee's measure against the caller's.
    pub(super) fn call_checks(
        &mut self,
        own: &Values,
        callee: Values,
        is_mutual: bool,
        place: Span,
    ) -> Vec<(CheckKind, Expr)> {
        if !is_mutual {
            return self.termination_check(own, callee, place).into_iter().collect();
        }
        let required = own.tuple_condition.clone();
        if build::is_literal(&required, false) {
            return Vec::new();
        }
        let mut checks = Vec::new();
        let mut add = |kind, guard, check: Expr| {
            if !build::is_literal(&check, true) {
                checks.push((kind, build::implies(guard, check, place)));
            }
        };
        add(CheckKind::TupleCondition, required.clone(), callee.tuple_condition.clone());
        if let (Some(callees), Some(own)) = (&callee.tuple, &own.tuple) {
            let guard = build::and(vec![required, callee.tuple_condition], place);
            add(CheckKind::Tuple, guard, less(callees, own, &self.orders, place));
        }
        checks
    }
}
