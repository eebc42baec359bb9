//! Methods: checks at calls and around the iterations of loops, in the graphs of the bodies.

use front::grow_stack;
use rustc_hash::FxHashMap;

use crate::cfg::{self, Block, BlockId, BlockKind, Cfg, Loop, Terminator, TerminatorKind};
use crate::program::{
    BinaryOp, Decreases, DecreasesKind, Expr, ExprKind, LocalId, Method, MethodId, PredicateAccess,
    Stmt, StmtKind, Type,
};
use crate::source::Span;

use super::build;
use super::functions::at_entry;
use super::measures::{Call, Measure, Values};
use super::{CheckKind, Locals, Pass};

/// Puts the checks into the graphs of a method.
pub(super) fn check(pass: &mut Pass<'_>, id: MethodId) {
    let method = &pass.source.methods[id];
    let mut locals = method.locals.clone();
    for index in 0..method.implementations.len() {
        // A body without a graph is refused where its graph is needed.
        if let Some(mut cfg) = cfg::build(pass.source, id, index, &mut Vec::new()) {
            let copy = pass.mark(method.span, CheckKind::Copy);
            let (results, saving) = results_at_entry(method, &mut locals, copy);
            let mut checker =
                Checker { pass, id, method, locals: &mut locals, results, made: Vec::new() };
            checker.statements(&mut cfg);
            checker.loops(&mut cfg);
            forget_in_loops(&mut cfg, &checker.made);
            insert_at_entry(&mut cfg, saving, method.span);
            pass.made.graphs.insert((id, index), cfg);
        }
    }
    pass.made.program.methods[id].locals = locals;
}

/// Behind `ensures` a method's own measure may mention results. SOUNDNESS: it is the measure of the
/// call that the method itself is, so what it says of results it says of their values at the entry,
/// which nobody knows.
///
/// Makes the values in place of the results, and the statements that define them.
fn results_at_entry(
    method: &Method,
    locals: &mut Locals,
    copy: Span,
) -> (FxHashMap<LocalId, Expr>, Vec<Stmt>) {
    let mut saved = FxHashMap::default();
    let mut saving = Vec::new();
    for &result in &method.returns {
        let is_it = |expr: &Expr| matches!(expr.kind, ExprKind::Local(local) if local == result);
        let mut is_mentioned = false;
        for clause in &method.contract.decreases {
            clause.for_each_child(|part| is_mentioned |= part.any(is_it));
        }
        if is_mentioned {
            let ty = method.locals[result].ty.clone();
            let target = build::fresh(locals, &method.locals[result].name, ty.clone(), copy);
            let value = build::local(result, ty.clone(), copy);
            saving.push(Stmt::new(StmtKind::Assign { target, value }, copy));
            saved.insert(result, build::local(target, ty, copy));
        }
    }
    (saved, saving)
}

/// Where a call stands.
#[derive(Clone, Copy)]
enum Calls {
    InBody,
    /// In the proof script of a `package`.
    InScript,
}

struct Checker<'a, 'p> {
    pass: &'a mut Pass<'p>,
    id: MethodId,
    method: &'p Method,
    locals: &'a mut Locals,
    /// The values in place of the results in the method's own measure.
    results: FxHashMap<LocalId, Expr>,
    /// The variables added, and the blocks in which they are written.
    made: Vec<(LocalId, BlockId)>,
}

impl Checker<'_, '_> {
    /// Returns the method's own measure, at its entry.
    fn own(&self, place: Span) -> Values {
        let measure = Measure::of(&self.method.contract.decreases);
        at_entry(measure.with_results(&self.results, &self.pass.orders, place))
    }

    /// Checks before calls; what is known of predicate instances after `unfold`.
    fn statements(&mut self, cfg: &mut Cfg) {
        for (id, block) in cfg.blocks.iter_mut() {
            if let BlockKind::Basic { statements, .. } = &mut block.kind {
                self.all(statements, id, Calls::InBody);
            }
        }
    }

    /// SOUNDNESS: what a proof script calls it calls for as many left-hand sides as there are, and
    /// the method's own measure speaks of its entry there, too. So the scripts of packages are no
    /// exception.
    fn all(&mut self, statements: &mut Vec<Stmt>, block: BlockId, calls: Calls) {
        for mut statement in std::mem::take(statements) {
            match &mut statement.kind {
                StmtKind::Call { method, arguments, .. } => {
                    statements.extend(self.call(*method, arguments, calls, statement.span));
                    statements.push(statement);
                }
                StmtKind::Unfold(access) if self.pass.orders.has_instances() => {
                    let (before, after) = self.unfold(access, block, statement.span);
                    statements.extend(before);
                    statements.push(statement);
                    statements.push(after);
                }
                StmtKind::Package { script, .. } => {
                    grow_stack(|| self.all(&mut script.statements, block, Calls::InScript));
                    statements.push(statement);
                }
                StmtKind::While { body: inner, .. } | StmtKind::Block(inner) => {
                    grow_stack(|| self.all(&mut inner.statements, block, calls));
                    statements.push(statement);
                }
                StmtKind::If { then, otherwise, .. } => {
                    for inner in std::iter::once(then).chain(otherwise) {
                        grow_stack(|| self.all(&mut inner.statements, block, calls));
                    }
                    statements.push(statement);
                }
                _ => statements.push(statement),
            }
        }
    }

    /// SOUNDNESS: where an instance of the callee's measure is not held the call's precondition
    /// fails, since every method has to hold its measure at its entry (a method that is called
    /// without it says so at its own calls). So the measures are compared where the instances are
    /// held, and the precondition's failure is told alone. In a proof script `perm` is about one of
    /// several heaps, so there the instance has to be held.
    fn call(
        &mut self,
        callee: MethodId,
        arguments: &[Expr],
        calls: Calls,
        span: Span,
    ) -> Vec<Stmt> {
        let declaration = &self.pass.source.methods[callee];
        let is_mutual = self.pass.components.are_mutual_methods(self.id, callee);
        let kind = if is_mutual { CheckKind::Tuple } else { CheckKind::TerminationCondition };
        let place = self.pass.mark(span, kind);
        let call = Call { callee: &declaration.locals, formals: &declaration.formals, arguments };
        let values = Measure::of(&declaration.contract.decreases).at_call(
            call,
            self.locals,
            build::placed,
            &self.pass.orders,
            place,
        );
        let held = match calls {
            Calls::InBody if is_mutual => {
                let measure = Measure::of(&declaration.contract.decreases);
                measure.held_at_call(call, self.locals, build::placed, place)
            }
            _ => Expr::boolean(true, place),
        };
        let own = self.own(place);
        let own_held =
            own.tuple.iter().flatten().map(|element| {
                build::binary(BinaryOp::Eq, element.clone(), element.clone(), place)
            });
        let is_defined = build::implies(
            own.tuple_condition.clone(),
            build::and(own_held.collect(), place),
            place,
        );
        let checks = self.pass.call_checks(&own, values, is_mutual, place);
        let checks = checks.into_iter().map(|(kind, check)| {
            let check = match kind {
                CheckKind::Tuple if !build::is_literal(&held, true) => {
                    let check = build::implies(held.clone(), check, place);
                    build::and(vec![is_defined.clone(), check], place)
                }
                _ => check,
            };
            self.assert(kind, check, span)
        });
        checks.collect()
    }

    fn assert(&mut self, kind: CheckKind, mut check: Expr, span: Span) -> Stmt {
        check.span = self.pass.mark(span, kind);
        let span = check.span;
        Stmt::new(StmtKind::Assert(check), span)
    }

    /// Makes the statements before and after an `unfold`: the instances in the predicate's body are
    /// inside of the unfolded one.
    fn unfold(
        &mut self,
        access: &PredicateAccess,
        block: BlockId,
        span: Span,
    ) -> ([Stmt; 2], Stmt) {
        let copy = self.pass.mark(span, CheckKind::Copy);
        let mut access = access.clone();
        access.for_each_child_mut(|child| build::place(child, copy));
        let instance = self.pass.orders.instance(access.predicate, access.arguments.clone(), copy);
        let ty = instance.ty.clone();
        let variable = self.variable("outer", ty.clone(), block, copy);
        let outer = build::local(variable, ty, copy);
        let (asked_for, asked) = self.asked(block, copy);
        let found = build::binary(BinaryOp::Eq, outer.clone(), instance, copy);
        let found = build::implies(asked.clone(), found, copy);
        let before = [
            Stmt::new(StmtKind::Var(vec![variable, asked_for]), copy),
            Stmt::new(StmtKind::Inhale(found), copy),
        ];
        let facts = self.pass.nested_in(&access, &outer, self.locals, copy);
        let facts = build::and(vec![asked, facts], copy);
        (before, Stmt::new(StmtKind::Inhale(facts), copy))
    }

    /// Returns a variable of any value, for what is looked at before the user's own program needs
    /// it. If that has no value where the variable is true, it is false from then on: so what comes
    /// next still fails, and that is reported.
    fn asked(&mut self, block: BlockId, span: Span) -> (LocalId, Expr) {
        let variable = self.variable("asked", Type::Bool, block, span);
        (variable, build::local(variable, Type::Bool, span))
    }

    fn variable(&mut self, name: &str, ty: Type, block: BlockId, span: Span) -> LocalId {
        let variable = build::fresh(self.locals, name, ty, span);
        self.made.push((variable, block));
        variable
    }

    fn loops(&mut self, cfg: &mut Cfg) {
        let loops: Vec<BlockId> = cfg
            .blocks
            .iter()
            .filter(|(_, block)| matches!(block.kind, BlockKind::Loop(_)))
            .map(|(id, _)| id)
            .collect();
        for id in loops {
            let block = &cfg.blocks[id];
            let span = block.span;
            let BlockKind::Loop(the_loop) = &block.kind else { continue };
            let the_loop = the_loop.clone();
            let (mut at_start, at_end) = self.iteration(&the_loop, id);
            at_start.splice(0..0, self.must_terminate(&the_loop, span));
            insert_at_start(cfg, id, the_loop.entry, at_start, span);
            insert_at_end(cfg, id, &at_end);
        }
    }

    /// In a method that terminates each loop does. (Without a measure the method makes no promise
    /// that a loop could break.)
    fn must_terminate(&mut self, the_loop: &Loop, span: Span) -> Option<Stmt> {
        let place = self.pass.mark(span, CheckKind::TerminationCondition);
        let own = self.own(place);
        let values = Measure::of(&the_loop.decreases).here(build::placed, &self.pass.orders, place);
        let (kind, check) = self.pass.termination_check(&own, values, place)?;
        Some(self.assert(kind, check, span))
    }

    /// Makes the statements at the start and at the end of each iteration: the measure is
    /// remembered, then compared if there is another iteration.
    fn iteration(&mut self, the_loop: &Loop, id: BlockId) -> (Vec<Stmt>, Vec<Stmt>) {
        let Some(span) = tuple_span(the_loop) else { return (Vec::new(), Vec::new()) };
        let place = self.pass.mark(span, CheckKind::Tuple);
        let measure = Measure::of(&the_loop.decreases);
        let now = measure.here(build::placed, &self.pass.orders, place);
        let mut at_start = Vec::new();
        let required = now.tuple_condition.clone();
        let condition = if build::is_literal(&required, true) {
            required
        } else {
            let variable = self.variable("condition", Type::Bool, id, place);
            let value = required;
            at_start.push(Stmt::new(StmtKind::Assign { target: variable, value }, place));
            build::local(variable, Type::Bool, place)
        };
        let mut before = Vec::new();
        for element in now.tuple.iter().flatten() {
            let variable = self.variable("measure", element.ty.clone(), id, place);
            let saved = build::local(variable, element.ty.clone(), place);
            // Where the condition does not hold the measure need not have a value.
            let equal = build::binary(BinaryOp::Eq, saved.clone(), element.clone(), place);
            let saving = build::implies(condition.clone(), equal, place);
            at_start.push(Stmt::new(StmtKind::Var(vec![variable]), place));
            at_start.push(Stmt::new(StmtKind::Inhale(saving), place));
            before.push(saved);
        }
        let again = match &the_loop.condition {
            Some(condition) if !asks_for_permissions(condition) => {
                let copy = self.pass.mark(condition.span, CheckKind::Copy);
                build::placed(condition, copy)
            }
            _ => Expr::boolean(true, place),
        };
        let required = build::and(vec![again, condition], place);
        let own = Values {
            tuple: Some(before),
            tuple_condition: required.clone(),
            termination_condition: required,
        };
        // As if the next iteration were a call.
        let checks = self.pass.call_checks(&own, now, true, place);
        // The condition and the measure are read before it is shown that the invariants hold.
        let (asked_for, asked) = self.asked(id, place);
        let mut at_end = Vec::new();
        if !checks.is_empty() {
            at_end.push(Stmt::new(StmtKind::Var(vec![asked_for]), place));
        }
        for (kind, check) in checks {
            let check = build::implies(asked.clone(), check, place);
            at_end.push(self.assert(kind, check, span));
        }
        (at_start, at_end)
    }
}

/// Tells whether a condition asks for permission. SOUNDNESS: at its head a loop holds the
/// permission of its invariants, and perhaps more at the end of an iteration. So nothing follows
/// there from such a condition.
fn asks_for_permissions(condition: &Expr) -> bool {
    condition.any(|expr| matches!(expr.kind, ExprKind::Perm(_) | ExprKind::ForPerm { .. }))
}

/// Returns where a loop's tuple stands.
fn tuple_span(the_loop: &Loop) -> Option<Span> {
    let clause = Decreases::that_count(&the_loop.decreases)
        .find(|clause| matches!(clause.kind, DecreasesKind::Tuple(_)))?;
    let mut parts = Vec::new();
    clause.for_each_child(|part| parts.push(part.span));
    match parts[..] {
        [] => Some(clause.span),
        [first, ..] => Some(parts.last().map_or(first, |&last| first.to(last))),
    }
}

/// Prepends statements to the nested graph of a loop.
fn insert_at_start(
    cfg: &mut Cfg,
    loop_id: BlockId,
    entry: BlockId,
    mut added: Vec<Stmt>,
    span: Span,
) {
    if added.is_empty() {
        return;
    }
    if let BlockKind::Basic { statements, .. } = &mut cfg.blocks[entry].kind {
        added.append(statements);
        *statements = added;
        return;
    }
    // A loop that begins with a loop.
    let first = block_before(cfg, entry, Some(loop_id), added, span);
    if let BlockKind::Loop(the_loop) = &mut cfg.blocks[loop_id].kind {
        the_loop.entry = first;
    }
}

/// Prepends statements to a body.
fn insert_at_entry(cfg: &mut Cfg, mut added: Vec<Stmt>, span: Span) {
    if added.is_empty() {
        return;
    }
    let entry = cfg.entry;
    if let BlockKind::Basic { statements, .. } = &mut cfg.blocks[entry].kind {
        added.append(statements);
        *statements = added;
    } else {
        cfg.entry = block_before(cfg, entry, None, added, span);
    }
}

/// Returns a new block that goes on with `next`.
fn block_before(
    cfg: &mut Cfg,
    next: BlockId,
    parent: Option<BlockId>,
    statements: Vec<Stmt>,
    span: Span,
) -> BlockId {
    let terminator = Terminator { kind: TerminatorKind::Goto(next), span };
    cfg.blocks.alloc(Block {
        name: format!("measure_{}", cfg.blocks.len()),
        label: None,
        parent,
        kind: BlockKind::Basic { statements, terminator },
        annotations: Vec::new(),
        span,
    })
}

/// Appends statements where a loop goes on with its next iteration.
fn insert_at_end(cfg: &mut Cfg, loop_id: BlockId, added: &[Stmt]) {
    for (_, block) in cfg.blocks.iter_mut() {
        if block.parent == Some(loop_id)
            && let BlockKind::Basic { statements, terminator } = &mut block.kind
            && matches!(terminator.kind, TerminatorKind::Next)
        {
            statements.extend_from_slice(added);
        }
    }
}

/// SOUNDNESS: a loop forgets what is written in it, the variables added here included.
fn forget_in_loops(cfg: &mut Cfg, made: &[(LocalId, BlockId)]) {
    for &(variable, block) in made {
        let mut around = Some(block);
        while let Some(id) = around {
            if let BlockKind::Loop(the_loop) = &mut cfg.blocks[id].kind
                && let Err(at) = the_loop.written.binary_search(&variable)
            {
                the_loop.written.insert(at, variable);
            }
            around = cfg.blocks[id].parent;
        }
    }
}
