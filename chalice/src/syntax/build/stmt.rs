//! Statements and refinement patterns.

use pest::iterators::Pair;

use super::{Builder, Built, Rule, error, has, parts, take};
use crate::source::Span;
use crate::syntax::{
    Block, Bounds, DeclModifiers, Expr, ExprKind, Ident, IfArm, Initialiser, LockMode, New,
    Pattern, PatternPart, Rhs, Spec, SpecKind, Stmt, StmtKind,
};

impl Builder {
    pub(super) fn block(&mut self, pair: Pair<Rule>) -> Built<Block> {
        let span = self.span(&pair);
        self.deeper(1, span, |builder| {
            let stmts = parts(pair)
                .filter(|part| !matches!(part.as_rule(), Rule::lock_open | Rule::lock_close))
                .map(|part| builder.stmt(part))
                .collect::<Built<_>>()?;
            Ok(Block { stmts, span })
        })
    }

    pub(super) fn stmt(&mut self, pair: Pair<Rule>) -> Built<Stmt> {
        let span = self.span(&pair);
        Ok(Stmt { kind: self.stmt_kind(pair, span)?, span })
    }

    fn stmt_kind(&mut self, pair: Pair<Rule>, span: Span) -> Built<StmtKind> {
        Ok(match pair.as_rule() {
            Rule::assert => StmtKind::Assert(self.operand_of(pair)?),
            Rule::assume => StmtKind::Assume(self.operand_of(pair)?),
            Rule::block => StmtKind::Block(self.block(pair)?),
            Rule::decl => self.decl(pair, span)?,
            Rule::assign => self.assign(pair)?,
            Rule::call => {
                let (outs, target) = self.outs_and_rest(pair);
                let (receiver, method, arguments) = self.call_parts(target)?;
                StmtKind::Call { outs, receiver, method, arguments }
            }
            Rule::fork => self.fork(pair)?,
            Rule::join => {
                let (outs, token) = self.outs_and_rest(pair);
                StmtKind::Join { outs, token: self.expr(token)? }
            }
            Rule::receive => {
                let (outs, channel) = self.outs_and_rest(pair);
                StmtKind::Receive { outs, channel: self.expr(channel)? }
            }
            Rule::send => self.send(pair)?,
            Rule::if_stmt => self.if_stmt(pair)?,
            Rule::while_stmt => self.while_stmt(pair)?,
            Rule::share => {
                let (target, bounds) = self.target_and_bounds(pair)?;
                StmtKind::Share { target, bounds }
            }
            Rule::reorder => {
                let (target, bounds) = self.target_and_bounds(pair)?;
                StmtKind::Reorder { target, bounds }
            }
            Rule::unshare => StmtKind::Unshare(self.operand_of(pair)?),
            rule @ (Rule::acquire | Rule::rd_acquire) => {
                StmtKind::Acquire { target: self.operand_of(pair)?, mode: mode(rule) }
            }
            rule @ (Rule::release | Rule::rd_release) => {
                StmtKind::Release { target: self.operand_of(pair)?, mode: mode(rule) }
            }
            rule @ (Rule::lock | Rule::rd_lock) => {
                let mut parts = parts(pair);
                let target = self.expr(take(&mut parts))?;
                let body = self.block(take(&mut parts))?;
                StmtKind::Lock { target, mode: mode(rule), body }
            }
            Rule::lock_this => StmtKind::LockThis(self.block(pair)?),
            Rule::downgrade => StmtKind::Downgrade(self.operand_of(pair)?),
            Rule::free => StmtKind::Free(self.operand_of(pair)?),
            Rule::fold => StmtKind::Fold(self.predicate_operand(pair)?),
            Rule::unfold => StmtKind::Unfold(self.predicate_operand(pair)?),
            Rule::wait => StmtKind::Wait(self.condition_operand(pair)?),
            rule @ (Rule::signal | Rule::signal_all) => StmtKind::Signal {
                condition: self.condition_operand(pair)?,
                is_for_all: rule == Rule::signal_all,
            },
            rule => unreachable!("{rule:?} is not a statement of the grammar"),
        })
    }

    /// Returns the one expression of a statement.
    fn operand_of(&mut self, pair: Pair<Rule>) -> Built<Expr> {
        self.expr(take(&mut parts(pair)))
    }

    fn predicate_operand(&mut self, pair: Pair<Rule>) -> Built<Expr> {
        let operand = self.postfix(take(&mut parts(pair)))?;
        let is_single =
            |location: &Expr| matches!(location.kind, ExprKind::Name(_) | ExprKind::Select { .. });
        match &operand.kind {
            ExprKind::Access { target, .. } if is_single(target) => Ok(operand),
            _ if is_single(&operand) => Ok(operand),
            ExprKind::Apply { .. } => Err(error(
                "predicates take no arguments; write the name alone, as in `unfold o.p`",
                operand.span,
            )),
            _ => Err(error("expected a predicate, perhaps in `acc(..)` or `rd(..)`", operand.span)),
        }
    }

    fn condition_operand(&mut self, pair: Pair<Rule>) -> Built<Expr> {
        let operand = self.postfix(take(&mut parts(pair)))?;
        match operand.kind {
            ExprKind::Name(_) | ExprKind::Select { .. } => Ok(operand),
            _ => Err(error("expected a condition variable", operand.span)),
        }
    }

    fn outs_and_rest<'s>(&self, pair: Pair<'s, Rule>) -> (Vec<Ident>, Pair<'s, Rule>) {
        let mut parts = parts(pair);
        let first = take(&mut parts);
        if first.as_rule() == Rule::outs {
            (self.idents(first), take(&mut parts))
        } else {
            (Vec::new(), first)
        }
    }

    fn decl(&mut self, pair: Pair<Rule>, span: Span) -> Built<StmtKind> {
        let mut modifiers = DeclModifiers { is_ghost: false, is_const: false, is_spec: false };
        let mut formals = Vec::new();
        let mut value = None;
        let mut has_kind = false;
        for part in parts(pair) {
            match part.as_rule() {
                Rule::modifiers => {
                    let kinds = part
                        .clone()
                        .into_inner()
                        .filter(|word| word.as_rule() != Rule::k_ghost)
                        .count();
                    if kinds > 1 || part.clone().into_inner().count() > kinds + 1 {
                        return Err(error("these words do not go together", self.span(&part)));
                    }
                    has_kind = kinds == 1;
                    modifiers.is_ghost = has(&part, Rule::k_ghost);
                    modifiers.is_const = has(&part, Rule::k_const);
                    modifiers.is_spec = has(&part, Rule::k_spec);
                }
                Rule::formal => formals.push(self.formal(part)?),
                Rule::initial => value = Some(self.rhs(take(&mut parts(part)))?),
                _ => {
                    let mut clauses = self.exprs(part)?;
                    let post =
                        clauses.pop().expect("a specification statement has a postcondition");
                    let pre = clauses.pop();
                    return Ok(StmtKind::Specification { modifiers, targets: formals, pre, post });
                }
            }
        }
        if modifiers.is_spec || !has_kind {
            return Err(error(
                "expected a specification `[pre, post]` after these names",
                Span::at(span.end as usize),
            ));
        }
        let formal = formals.swap_remove(0);
        match formals.first() {
            Some(second) => Err(error(
                "a declaration without specification has a single variable",
                second.name.span,
            )),
            None => Ok(StmtKind::Declare { modifiers, formal, value }),
        }
    }

    fn assign(&mut self, pair: Pair<Rule>) -> Built<StmtKind> {
        let mut parts = parts(pair);
        let target = self.postfix(take(&mut parts))?;
        if !matches!(target.kind, ExprKind::Name(_) | ExprKind::Select { .. }) {
            return Err(error("only variables and fields can be assigned", target.span));
        }
        Ok(StmtKind::Assign { target, value: self.rhs(take(&mut parts))? })
    }

    fn rhs(&mut self, pair: Pair<Rule>) -> Built<Rhs> {
        let inner = take(&mut parts(pair));
        if inner.as_rule() != Rule::new_object {
            return Ok(Rhs::Expr(self.expr(inner)?));
        }
        let span = self.span(&inner);
        let mut parts = parts(inner);
        let class = self.ident(&take(&mut parts));
        let mut new = New { class, initialisers: Vec::new(), bounds: Bounds::default(), span };
        for part in parts {
            if part.as_rule() == Rule::initialisers {
                new.initialisers =
                    part.into_inner().map(|part| self.initialiser(part)).collect::<Built<_>>()?;
            } else {
                new.bounds = self.bounds(part)?;
            }
        }
        Ok(Rhs::New(new))
    }

    fn initialiser(&mut self, pair: Pair<Rule>) -> Built<Initialiser> {
        let span = self.span(&pair);
        let mut parts = parts(pair);
        let field = self.ident(&take(&mut parts));
        Ok(Initialiser { field, value: self.expr(take(&mut parts))?, span })
    }

    fn bounds(&mut self, pair: Pair<Rule>) -> Built<Bounds> {
        let is_between = has(&pair, Rule::k_between);
        let mut bounds = Bounds::default();
        for (position, part) in parts(pair).enumerate() {
            match part.as_rule() {
                Rule::lower => bounds.lower = self.exprs(take(&mut parts(part)))?,
                Rule::upper => bounds.upper = self.exprs(take(&mut parts(part)))?,
                _ if is_between && position == 0 => bounds.lower = self.exprs(part)?,
                _ => bounds.upper = self.exprs(part)?,
            }
        }
        Ok(bounds)
    }

    fn target_and_bounds(&mut self, pair: Pair<Rule>) -> Built<(Expr, Bounds)> {
        let mut parts = parts(pair);
        let target = self.expr(take(&mut parts))?;
        let bounds = parts.next().map(|bounds| self.bounds(bounds)).transpose()?;
        Ok((target, bounds.unwrap_or_default()))
    }

    fn fork(&mut self, pair: Pair<Rule>) -> Built<StmtKind> {
        let (mut outs, target) = self.outs_and_rest(pair);
        if let Some(second) = outs.get(1) {
            return Err(error("a fork has a single result, its token", second.span));
        }
        let (receiver, method, arguments) = self.call_parts(target)?;
        Ok(StmtKind::Fork { token: outs.pop(), receiver, method, arguments })
    }

    fn send(&mut self, pair: Pair<Rule>) -> Built<StmtKind> {
        let mut parts = parts(pair);
        let channel = self.postfix(take(&mut parts))?;
        if let Some(arguments) = parts.next() {
            return Ok(StmtKind::Send { channel, arguments: self.plain_arguments(arguments)? });
        }
        let span = channel.span;
        let ExprKind::Apply { receiver, function, arguments } = channel.kind else {
            return Err(error("expected a channel and a message in parentheses", span));
        };
        let kind = match receiver {
            None => ExprKind::Name(function.name),
            Some(receiver) => {
                let span = receiver.span.to(function.span);
                let channel = Expr { kind: ExprKind::Select { receiver, member: function }, span };
                return Ok(StmtKind::Send { channel, arguments });
            }
        };
        Ok(StmtKind::Send { channel: Expr { kind, span: function.span }, arguments })
    }

    /// Returns an `if` with its arms in a list. Each is nested in the one before it once
    /// translated, so they count as such.
    fn if_stmt(&mut self, pair: Pair<Rule>) -> Built<StmtKind> {
        let span = self.span(&pair);
        let links = parts(pair.clone()).count();
        self.deeper(links, span, |builder| {
            let mut arms = Vec::new();
            let mut otherwise = None;
            for part in parts(pair) {
                if part.as_rule() == Rule::else_branch {
                    otherwise = Some(Box::new(builder.stmt(take(&mut parts(part)))?));
                } else {
                    arms.push(builder.if_arm(part)?);
                }
            }
            Ok(StmtKind::If { arms, otherwise })
        })
    }

    fn if_arm(&mut self, pair: Pair<Rule>) -> Built<IfArm> {
        let span = self.span(&pair);
        let mut parts = parts(pair);
        let condition = self.expr(take(&mut parts))?;
        Ok(IfArm { condition, body: self.block(take(&mut parts))?, span })
    }

    fn while_stmt(&mut self, pair: Pair<Rule>) -> Built<StmtKind> {
        let mut parts: Vec<_> = parts(pair).collect();
        let body = self.block(parts.pop().expect("a loop has a body"))?;
        let mut parts = parts.into_iter();
        let guard = self.expr(take(&mut parts))?;
        let specs = parts.map(|part| self.spec(part)).collect::<Built<_>>()?;
        Ok(StmtKind::While { guard, specs, body })
    }

    /// Returns a specification clause of a member or loop.
    pub(super) fn spec(&mut self, pair: Pair<Rule>) -> Built<Spec> {
        let span = self.span(&pair);
        let kind = match pair.as_rule() {
            Rule::requires => SpecKind::Requires(self.operand_of(pair)?),
            Rule::ensures => SpecKind::Ensures(self.operand_of(pair)?),
            Rule::lockchange => SpecKind::LockChange(self.exprs(pair)?),
            Rule::decreases => SpecKind::Decreases(self.exprs(pair)?),
            _ => SpecKind::Invariant(self.operand_of(pair)?),
        };
        Ok(Spec { kind, span })
    }

    pub(super) fn pattern(&mut self, pair: Pair<Rule>) -> Built<Pattern> {
        let span = self.span(&pair);
        self.deeper(1, span, |builder| {
            let parts = parts(pair).map(|part| builder.pattern_part(part)).collect::<Built<_>>()?;
            Ok(Pattern { parts, span })
        })
    }

    fn pattern_part(&mut self, pair: Pair<Rule>) -> Built<PatternPart> {
        Ok(match pair.as_rule() {
            Rule::pattern_keep => PatternPart::Keep,
            Rule::pattern_any => PatternPart::KeepAny,
            Rule::pattern_if => self.pattern_if(pair)?,
            Rule::pattern_while => {
                let mut parts: Vec<_> = parts(pair).collect();
                let body = self.pattern(parts.pop().expect("a loop pattern has a body"))?;
                let invariants =
                    parts.into_iter().map(|part| self.spec(part)).collect::<Built<_>>()?;
                PatternPart::While { invariants, body }
            }
            Rule::pattern_block => PatternPart::ReplaceBlock(self.block(take(&mut parts(pair)))?),
            Rule::pattern_one => {
                let mut parts = parts(pair);
                let targets = self.idents(take(&mut parts));
                PatternPart::ReplaceOne { targets, body: self.block(take(&mut parts))? }
            }
            _ => PatternPart::Insert(self.stmt(pair)?),
        })
    }

    fn pattern_if(&mut self, pair: Pair<Rule>) -> Built<PatternPart> {
        let mut parts = parts(pair);
        let then = self.pattern(take(&mut parts))?;
        let Some(otherwise) = parts.next() else {
            return Ok(PatternPart::If { then, otherwise: None });
        };
        let inner = take(&mut self::parts(otherwise));
        let otherwise = if inner.as_rule() == Rule::pattern {
            self.pattern(inner)?
        } else {
            let span = self.span(&inner);
            let nested = self.deeper(1, span, |builder| builder.pattern_if(inner))?;
            Pattern { parts: vec![nested], span }
        };
        Ok(PatternPart::If { then, otherwise: Some(otherwise) })
    }
}

/// Returns the lock that a statement is about.
fn mode(rule: Rule) -> LockMode {
    match rule {
        Rule::rd_acquire | Rule::rd_release | Rule::rd_lock => LockMode::Read,
        _ => LockMode::Write,
    }
}
