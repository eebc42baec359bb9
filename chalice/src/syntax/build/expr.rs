//! Expressions and types.

use num_bigint::BigInt;
use pest::iterators::Pair;

use front::Chain;

use super::operators::{self, Operand, Operator};
use super::{Builder, Built, Rule, error, has, is_token, parts, take};
use crate::source::Span;
use crate::syntax::{
    AccessForm, BinaryOp, Domain, Expr, ExprKind, ForkState, Ident, LockMode, Quantifier,
    StateKind, TypeExpr, TypeExprKind, UnaryOp,
};

/// A call taken apart: receiver, name, arguments.
pub(super) type CallParts = (Option<Expr>, Ident, Vec<Expr>);

/// May the arguments of the outermost call be `_`?
#[derive(Clone, Copy, PartialEq, Eq)]
enum AnyArguments {
    Allowed,
    Rejected,
}

impl Builder {
    pub(super) fn expr(&mut self, pair: Pair<Rule>) -> Built<Expr> {
        Ok(self.operand(pair)?.expr)
    }

    fn boxed(&mut self, pair: Pair<Rule>) -> Built<Box<Expr>> {
        Ok(Box::new(self.expr(pair)?))
    }

    /// Returns all expressions directly in a pair.
    pub(super) fn exprs(&mut self, pair: Pair<Rule>) -> Built<Vec<Expr>> {
        parts(pair).map(|part| self.expr(part)).collect()
    }

    /// The rule `expr`.
    fn operand(&mut self, pair: Pair<Rule>) -> Built<Operand> {
        let span = self.span(&pair);
        let links = pair.clone().into_inner().filter(is_link).count();
        self.deeper(1 + links, span, |builder| builder.chain(pair))
    }

    fn chain(&mut self, pair: Pair<Rule>) -> Built<Operand> {
        let mut chain = Chain::default();
        let mut prefixes: Vec<Pair<Rule>> = Vec::new();
        let mut arms = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::prefix => prefixes.push(part),
                Rule::op => {
                    let operator = Operator::of_symbol(part.as_str());
                    operators::add(&mut chain, operator, self.span(&part))?;
                }
                Rule::arms => arms = Some(part),
                _ => {
                    let mut operand = self.postfix_operand(part)?;
                    while let Some(prefix) = prefixes.pop() {
                        operand = self.prefixed(&prefix, operand);
                    }
                    chain.operand(operand);
                }
            }
        }
        let condition = chain.finish();
        match arms {
            Some(arms) => self.conditional(condition, arms),
            None => Ok(condition),
        }
    }

    fn prefixed(&self, prefix: &Pair<Rule>, operand: Operand) -> Operand {
        let span = self.span(prefix).to(operand.outer);
        let op = if prefix.as_str() == "!" { UnaryOp::Not } else { UnaryOp::Negate };
        let kind = ExprKind::Unary { op, operand: Box::new(operand.expr) };
        Operand::closed(Expr { kind, span }, span)
    }

    fn conditional(&mut self, condition: Operand, arms: Pair<Rule>) -> Built<Operand> {
        let span = condition.outer.to(self.span(&arms));
        let mut arms = parts(arms);
        let then = self.boxed(take(&mut arms))?;
        let otherwise = self.boxed(take(&mut arms))?;
        let kind = ExprKind::Conditional { condition: Box::new(condition.expr), then, otherwise };
        Ok(Operand::closed(Expr { kind, span }, span))
    }

    pub(super) fn postfix(&mut self, pair: Pair<Rule>) -> Built<Expr> {
        Ok(self.postfix_operand(pair)?.expr)
    }

    fn postfix_operand(&mut self, pair: Pair<Rule>) -> Built<Operand> {
        let (operand, state) = self.postfix_and_state(pair, AnyArguments::Rejected)?;
        match state {
            None => Ok(operand),
            Some((_, span)) => {
                Err(error("a state can be named in `eval` or before a body in braces only", span))
            }
        }
    }

    /// Returns a postfix expression, without its last suffix if that names a state and no
    /// expression.
    fn postfix_and_state(
        &mut self,
        pair: Pair<Rule>,
        any: AnyArguments,
    ) -> Built<(Operand, Option<(StateKind, Span)>)> {
        let span = self.span(&pair);
        let suffixes = pair.clone().into_inner().count();
        self.deeper(suffixes, span, |builder| {
            let mut pairs = pair.into_inner().peekable();
            let atom = take(&mut pairs);
            let is_last = pairs.peek().is_none();
            let mut operand = builder.atom(atom)?;
            if !(is_last && any == AnyArguments::Allowed) {
                reject_any(&operand.expr)?;
            }
            while let Some(suffix) = pairs.next() {
                let is_last = pairs.peek().is_none();
                if suffix.as_rule() == Rule::state && !suffix.clone().into_inner().any(is_body) {
                    let at = builder.span(&suffix);
                    if !is_last {
                        return Err(error("nothing can be selected from a state", at));
                    }
                    return Ok((operand, Some((builder.state(suffix)?, at))));
                }
                operand = builder.suffix(operand, suffix)?;
                if !(is_last && any == AnyArguments::Allowed) {
                    reject_any(&operand.expr)?;
                }
            }
            Ok((operand, None))
        })
    }

    fn suffix(&mut self, operand: Operand, pair: Pair<Rule>) -> Built<Operand> {
        let at = self.span(&pair);
        let span = operand.outer.to(at);
        let receiver = Box::new(operand.expr);
        let kind = match pair.as_rule() {
            Rule::elements => {
                self.wildcards.push(at);
                ExprKind::Elements(receiver)
            }
            Rule::all_fields => {
                self.wildcards.push(at);
                ExprKind::AllFields(receiver)
            }
            Rule::index => self.index(receiver, pair)?,
            Rule::back_suffix => {
                let back = take(&mut parts(pair));
                self.back_pointers(Some(receiver), back)
            }
            Rule::select => {
                let mut parts = parts(pair);
                let member = self.ident(&take(&mut parts));
                match parts.next() {
                    None => ExprKind::Select { receiver, member },
                    Some(arguments) => {
                        let arguments = self.arguments(arguments)?;
                        ExprKind::Apply { receiver: Some(receiver), function: member, arguments }
                    }
                }
            }
            _ => {
                let body = pair.clone().into_inner().find(|part| is_body(part.clone()));
                let body = body.expect("a state without body is not a suffix");
                let state = self.state(pair)?;
                let body = self.boxed(take(&mut parts(body)))?;
                ExprKind::Eval { subject: receiver, state, body }
            }
        };
        Ok(Operand::closed(Expr { kind, span }, span))
    }

    fn index(&mut self, sequence: Box<Expr>, pair: Pair<Rule>) -> Built<ExprKind> {
        let mut parts = parts(pair);
        let first = take(&mut parts);
        if first.as_rule() == Rule::slice_to {
            let to = Some(self.boxed(take(&mut first.into_inner()))?);
            return Ok(ExprKind::Slice { sequence, from: None, to });
        }
        let first = self.boxed(first)?;
        Ok(match parts.next() {
            None => ExprKind::Index { sequence, index: first },
            Some(slice) => {
                let to = slice.into_inner().next().map(|to| self.boxed(to)).transpose()?;
                ExprKind::Slice { sequence, from: Some(first), to }
            }
        })
    }

    fn state(&mut self, pair: Pair<Rule>) -> Built<StateKind> {
        if has(&pair, Rule::k_acquire) {
            return Ok(StateKind::Acquire);
        }
        if has(&pair, Rule::k_release) {
            return Ok(StateKind::Release);
        }
        let fork = take(&mut parts(pair));
        let target = take(&mut parts(fork));
        let span = self.span(&target);
        let (operand, state) = self.postfix_and_state(target, AnyArguments::Allowed)?;
        if state.is_some() {
            return Err(error("expected a method and its arguments, as in `o.m(x)`", span));
        }
        let (receiver, method, arguments) = split_call(operand.expr)?;
        Ok(StateKind::Fork(Box::new(ForkState { receiver, method, arguments })))
    }

    fn arguments(&mut self, pair: Pair<Rule>) -> Built<Vec<Expr>> {
        parts(pair)
            .map(|part| match part.as_rule() {
                Rule::any => Ok(Expr { kind: ExprKind::Any, span: self.span(&part) }),
                _ => self.expr(part),
            })
            .collect()
    }

    /// Arguments none of which is `_`.
    pub(super) fn plain_arguments(&mut self, pair: Pair<Rule>) -> Built<Vec<Expr>> {
        let arguments = self.arguments(pair)?;
        reject_any_in(&arguments)?;
        Ok(arguments)
    }

    /// Returns a call as a statement names it; the last selection of the expression must be one.
    pub(super) fn call_parts(&mut self, pair: Pair<Rule>) -> Built<CallParts> {
        split_call(self.postfix(pair)?)
    }

    fn back_pointers(&self, receiver: Option<Box<Expr>>, pair: Pair<Rule>) -> ExprKind {
        let mut idents = self.idents(pair).into_iter();
        let class = idents.next().expect("back pointers name a class");
        let field = idents.next().expect("back pointers name a field");
        ExprKind::BackPointers { receiver, class, field }
    }

    fn atom(&mut self, pair: Pair<Rule>) -> Built<Operand> {
        let span = self.span(&pair);
        if pair.as_rule() == Rule::paren {
            let inner = self.expr(take(&mut pair.into_inner()))?;
            return Ok(Operand::closed(inner, span));
        }
        let kind = self.atom_kind(pair)?;
        Ok(Operand::closed(Expr { kind, span }, span))
    }

    fn atom_kind(&mut self, pair: Pair<Rule>) -> Built<ExprKind> {
        Ok(match pair.as_rule() {
            Rule::int => {
                ExprKind::Int(pair.as_str().parse::<BigInt>().expect("digits are a number"))
            }
            Rule::string => {
                let text = pair.as_str();
                ExprKind::String(text[1..text.len() - 1].to_owned())
            }
            Rule::name => self.name(pair)?,
            Rule::constant => constant(&pair),
            Rule::acc => self.access(AccessForm::Acc, pair)?,
            Rule::rd_call => self.access(AccessForm::Rd, pair)?,
            Rule::rd_star => self.rd_star(pair)?,
            Rule::rd_alone => ExprKind::Rd,
            Rule::rd_holds => ExprKind::Holds { target: self.only(pair)?, mode: LockMode::Read },
            Rule::holds => ExprKind::Holds { target: self.only(pair)?, mode: LockMode::Write },
            Rule::old => ExprKind::Old(self.only(pair)?),
            Rule::length => ExprKind::Length(self.only(pair)?),
            Rule::credit => {
                let mut parts = parts(pair);
                let channel = self.boxed(take(&mut parts))?;
                let amount = parts.next().map(|amount| self.boxed(amount)).transpose()?;
                ExprKind::Credit { channel, amount }
            }
            Rule::assigned => ExprKind::Assigned(self.ident(&take(&mut parts(pair)))),
            Rule::ite => {
                let mut parts = parts(pair);
                let condition = self.boxed(take(&mut parts))?;
                let then = self.boxed(take(&mut parts))?;
                let otherwise = self.boxed(take(&mut parts))?;
                ExprKind::Conditional { condition, then, otherwise }
            }
            Rule::unfolding => {
                let mut parts = parts(pair);
                let access = Box::new(self.postfix(take(&mut parts))?);
                ExprKind::Unfolding { access, body: self.boxed(take(&mut parts))? }
            }
            Rule::eval => self.eval(pair)?,
            Rule::quantified => self.quantified(pair)?,
            Rule::list => self.list(pair)?,
            Rule::set => ExprKind::Set(self.exprs(take(&mut parts(pair)))?),
            Rule::nil => ExprKind::Nil(self.type_expr(take(&mut parts(pair)))?),
            Rule::empty => ExprKind::Empty(self.type_expr(take(&mut parts(pair)))?),
            Rule::back => self.back_pointers(None, pair),
            rule => unreachable!("{rule:?} is not an atom of the grammar"),
        })
    }

    /// Returns the one expression in a pair.
    fn only(&mut self, pair: Pair<Rule>) -> Built<Box<Expr>> {
        self.boxed(take(&mut parts(pair)))
    }

    fn name(&mut self, pair: Pair<Rule>) -> Built<ExprKind> {
        let mut parts = parts(pair);
        let name = self.ident(&take(&mut parts));
        Ok(match parts.next() {
            None => ExprKind::Name(name.name),
            Some(arguments) => {
                let arguments = self.arguments(arguments)?;
                ExprKind::Apply { receiver: None, function: name, arguments }
            }
        })
    }

    fn access(&mut self, form: AccessForm, pair: Pair<Rule>) -> Built<ExprKind> {
        let mut parts = parts(pair);
        let target = Box::new(self.location(take(&mut parts))?);
        let Some(amount) = parts.next() else {
            return Ok(ExprKind::Access { form, target, amount: None });
        };
        if let Rule::any_rd | Rule::any_count = amount.as_rule() {
            return Ok(ExprKind::Access { form: AccessForm::RdStar, target, amount: None });
        }
        let amount = Some(self.boxed(amount)?);
        Ok(ExprKind::Access { form, target, amount })
    }

    /// Returns the operand of `acc` or `rd`, the only place where wildcards may stand.
    fn location(&mut self, pair: Pair<Rule>) -> Built<Expr> {
        let before = self.wildcards.len();
        let location = self.expr(pair)?;
        if self.wildcards.len() - before == wildcards_of(&location) {
            self.wildcards.truncate(before);
        }
        Ok(location)
    }

    /// `rd*(location)`, or `rd` times something in parentheses.
    fn rd_star(&mut self, pair: Pair<Rule>) -> Built<ExprKind> {
        let start = self.span(&pair).start as usize;
        let target = Box::new(self.location(take(&mut parts(pair)))?);
        if is_location(&target) {
            return Ok(ExprKind::Access { form: AccessForm::RdStar, target, amount: None });
        }
        let rd = Box::new(Expr { kind: ExprKind::Rd, span: Span::new(start, start + 2) });
        Ok(ExprKind::Binary { op: BinaryOp::Mul, left: rd, right: target })
    }

    fn eval(&mut self, pair: Pair<Rule>) -> Built<ExprKind> {
        let mut parts = parts(pair);
        let place = take(&mut parts);
        let span = self.span(&place);
        let (subject, state) = self.postfix_and_state(place, AnyArguments::Rejected)?;
        let Some((state, _)) = state else {
            return Err(error("expected a state: `.acquire`, `.release` or `.fork o.m(..)`", span));
        };
        let body = self.boxed(take(&mut parts))?;
        Ok(ExprKind::Eval { subject: Box::new(subject.expr), state, body })
    }

    fn quantified(&mut self, pair: Pair<Rule>) -> Built<ExprKind> {
        let mut parts = parts(pair);
        let word = take(&mut parts);
        let quantifier = match word.into_inner().next().map(|keyword| keyword.as_rule()) {
            Some(Rule::k_forall) => Quantifier::Forall,
            Some(Rule::k_exists) => Quantifier::Exists,
            Some(Rule::k_sum) => Quantifier::Sum,
            _ => Quantifier::Max,
        };
        let variables = self.idents(take(&mut parts));
        let domain = take(&mut parts);
        let domain = match domain.as_rule() {
            Rule::domain_type => Domain::Type(self.type_expr(take(&mut self::parts(domain)))?),
            Rule::domain_in => Domain::In(self.only(domain)?),
            _ => Domain::Over(self.only(domain)?),
        };
        Ok(ExprKind::Quantified {
            quantifier,
            variables,
            domain,
            body: self.boxed(take(&mut parts))?,
        })
    }

    fn list(&mut self, pair: Pair<Rule>) -> Built<ExprKind> {
        let mut elements = Vec::new();
        for part in pair.into_inner() {
            if part.as_rule() == Rule::range_to {
                let from = Box::new(elements.pop().expect("a range has a first element"));
                return Ok(ExprKind::Range { from, to: self.only(part)? });
            }
            elements.push(self.expr(part)?);
        }
        Ok(ExprKind::Seq(elements))
    }

    pub(super) fn type_expr(&mut self, pair: Pair<Rule>) -> Built<TypeExpr> {
        let span = self.span(&pair);
        self.deeper(1, span, |builder| {
            let inner = take(&mut pair.into_inner());
            let kind = match inner.as_rule() {
                Rule::builtin if has(&inner, Rule::k_int) => TypeExprKind::Int,
                Rule::builtin if has(&inner, Rule::k_bool) => TypeExprKind::Bool,
                Rule::builtin => TypeExprKind::String,
                Rule::collection => {
                    let is_seq = has(&inner, Rule::k_seq);
                    let arguments =
                        parts(inner).map(|part| builder.type_expr(part)).collect::<Built<_>>()?;
                    if is_seq { TypeExprKind::Seq(arguments) } else { TypeExprKind::Set(arguments) }
                }
                Rule::token_type => {
                    let mut parts = parts(inner);
                    let class = Box::new(builder.type_expr(take(&mut parts))?);
                    TypeExprKind::Token { class, method: builder.ident(&take(&mut parts)) }
                }
                _ => TypeExprKind::Name(inner.as_str().to_owned()),
            };
            Ok(TypeExpr { kind, span })
        })
    }
}

fn constant(pair: &Pair<Rule>) -> ExprKind {
    match pair.clone().into_inner().next().map(|keyword| keyword.as_rule()) {
        Some(Rule::k_true) => ExprKind::Bool(true),
        Some(Rule::k_false) => ExprKind::Bool(false),
        Some(Rule::k_null) => ExprKind::Null,
        Some(Rule::k_this) => ExprKind::This,
        Some(Rule::k_result) => ExprKind::Result,
        Some(Rule::k_waitlevel) => ExprKind::WaitLevel,
        _ => ExprKind::LockBottom,
    }
}

/// Does this part of an expression make the tree deeper? `&&` and `||` make it wider.
fn is_link(part: &Pair<Rule>) -> bool {
    match part.as_rule() {
        Rule::op => !matches!(part.as_str(), "&&" | "||"),
        Rule::prefix => true,
        rule => {
            debug_assert!(!is_token(rule), "operators and operands have content");
            false
        }
    }
}

fn is_body(part: Pair<Rule>) -> bool {
    part.as_rule() == Rule::state_body
}

fn split_call(expr: Expr) -> Built<CallParts> {
    match expr.kind {
        ExprKind::Apply { receiver, function, arguments } => {
            Ok((receiver.map(|receiver| *receiver), function, arguments))
        }
        _ => Err(error("expected a method and its arguments, as in `o.m(x)`", expr.span)),
    }
}

fn reject_any(expr: &Expr) -> Built<()> {
    match &expr.kind {
        ExprKind::Apply { arguments, .. } => reject_any_in(arguments),
        _ => Ok(()),
    }
}

fn reject_any_in(arguments: &[Expr]) -> Built<()> {
    match arguments.iter().find(|argument| argument.kind == ExprKind::Any) {
        Some(any) => {
            Err(error("`_` can stand for an argument of a forked call in `eval` only", any.span))
        }
        None => Ok(()),
    }
}

/// Can this follow `rd*`, or is it a factor?
fn is_location(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Name(_)
            | ExprKind::Select { .. }
            | ExprKind::AllFields(_)
            | ExprKind::BackPointers { .. }
    )
}

/// Returns how many wildcards are on the path of selections that ends in `location`.
fn wildcards_of(location: &Expr) -> usize {
    let mut count = 0;
    let mut place = location;
    loop {
        place = match &place.kind {
            ExprKind::AllFields(receiver) | ExprKind::Elements(receiver) => {
                count += 1;
                receiver
            }
            ExprKind::Select { receiver, .. } => receiver,
            _ => return count,
        };
    }
}
