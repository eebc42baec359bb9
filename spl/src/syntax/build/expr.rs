//! Expressions.

use num_bigint::BigInt;
use pest::iterators::Pair;

use front::Chain;

use super::operators::{Operand, Operator};
use super::{Builder, Built, Rule, error, has, parts, take};
use crate::source::Span;
use crate::syntax::{Annotation, BoundVariable, Domain, Expr, ExprKind, Quantifier, UnaryOp};

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

    /// Returns the one expression of a pair.
    fn only(&mut self, pair: Pair<Rule>) -> Built<Box<Expr>> {
        self.boxed(take(&mut parts(pair)))
    }

    /// The rule `expr`: each pair of arms makes the conditional so far the condition of the next.
    fn operand(&mut self, pair: Pair<Rule>) -> Built<Operand> {
        let span = self.span(&pair);
        let links = pair.clone().into_inner().count();
        self.deeper(links, span, |builder| {
            let mut parts = parts(pair);
            let mut operand = builder.tier(take(&mut parts))?;
            let mut annotations = Vec::new();
            for part in parts {
                if part.as_rule() == Rule::arms {
                    operand = builder.conditional(operand, part)?;
                } else {
                    annotations.push(builder.annotation(part)?);
                }
            }
            if annotations.is_empty() {
                return Ok(operand);
            }
            let kind = ExprKind::Annotated { body: Box::new(operand.expr), annotations };
            Ok(Operand::closed(Expr { kind, span }, span))
        })
    }

    /// Operators and operands, without conditionals.
    fn tier(&mut self, pair: Pair<Rule>) -> Built<Operand> {
        let span = self.span(&pair);
        let links = pair.clone().into_inner().filter(is_link).count();
        self.deeper(1 + links, span, |builder| builder.chain(pair))
    }

    fn chain(&mut self, pair: Pair<Rule>) -> Built<Operand> {
        let mut chain = Chain::default();
        let mut prefixes: Vec<Pair<Rule>> = Vec::new();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::prefix => prefixes.push(part),
                Rule::op => chain.operator(Operator::of_symbol(part.as_str())),
                _ => {
                    let mut operand = self.postfix_operand(part)?;
                    while let Some(prefix) = prefixes.pop() {
                        operand = self.prefixed(&prefix, operand);
                    }
                    chain.operand(operand);
                }
            }
        }
        Ok(chain.finish())
    }

    fn prefixed(&self, prefix: &Pair<Rule>, operand: Operand) -> Operand {
        let span = self.span(prefix).to(operand.outer);
        let op = match prefix.as_str() {
            "!" => UnaryOp::Not,
            "-" => UnaryOp::Minus,
            "+" => UnaryOp::Plus,
            _ => UnaryOp::Complement,
        };
        let kind = ExprKind::Unary { op, operand: Box::new(operand.expr) };
        Operand::closed(Expr { kind, span }, span)
    }

    fn conditional(&mut self, condition: Operand, arms: Pair<Rule>) -> Built<Operand> {
        let span = condition.outer.to(self.span(&arms));
        let mut arms = parts(arms);
        let then = Box::new(self.tier(take(&mut arms))?.expr);
        let otherwise = Box::new(self.tier(take(&mut arms))?.expr);
        let kind = ExprKind::Conditional { condition: Box::new(condition.expr), then, otherwise };
        Ok(Operand::closed(Expr { kind, span }, span))
    }

    fn annotation(&mut self, pair: Pair<Rule>) -> Built<Annotation> {
        let inner = take(&mut parts(pair));
        Ok(match inner.as_rule() {
            Rule::generator => {
                let mut terms = Vec::new();
                for part in parts(inner) {
                    if part.as_rule() == Rule::matched {
                        terms.push(self.expr(take(&mut parts(part)))?);
                    } else {
                        let result = self.expr(part)?;
                        return Ok(Annotation::Generator { terms, result });
                    }
                }
                unreachable!("a generator has a result")
            }
            Rule::pattern => Annotation::Pattern(*self.only(inner)?),
            Rule::comment => Annotation::Comment(self.text(&take(&mut parts(inner)))),
            _ => Annotation::NoInstance(self.ident(&take(&mut parts(inner)))),
        })
    }

    pub(super) fn postfix(&mut self, pair: Pair<Rule>) -> Built<Expr> {
        Ok(self.postfix_operand(pair)?.expr)
    }

    fn postfix_operand(&mut self, pair: Pair<Rule>) -> Built<Operand> {
        let span = self.span(&pair);
        let suffixes = pair.clone().into_inner().count();
        self.deeper(suffixes, span, |builder| {
            let mut pairs = pair.into_inner();
            let mut operand = builder.atom(take(&mut pairs))?;
            for suffix in pairs {
                operand = builder.suffix(operand, suffix)?;
            }
            Ok(operand)
        })
    }

    fn suffix(&mut self, operand: Operand, pair: Pair<Rule>) -> Built<Operand> {
        let span = operand.outer.to(self.span(&pair));
        let base = Box::new(operand.expr);
        let rule = pair.as_rule();
        let mut parts = parts(pair);
        let kind = match (rule, parts.next()) {
            (Rule::select, Some(member)) => {
                ExprKind::Select { receiver: base, member: self.ident(&member) }
            }
            (_, None) => ExprKind::Content(base),
            (_, Some(index)) => {
                let index = self.boxed(index)?;
                match parts.next() {
                    None => ExprKind::Index { base, index },
                    Some(value) => ExprKind::Update { base, index, value: self.only(value)? },
                }
            }
        };
        Ok(Operand::closed(Expr { kind, span }, span))
    }

    fn atom(&mut self, pair: Pair<Rule>) -> Built<Operand> {
        let span = self.span(&pair);
        if pair.as_rule() == Rule::paren {
            let inner = self.operand(take(&mut parts(pair)))?;
            return Ok(Operand::closed(inner.expr, span));
        }
        let kind = self.atom_kind(pair, span)?;
        Ok(Operand::closed(Expr { kind, span }, span))
    }

    fn atom_kind(&mut self, pair: Pair<Rule>, span: Span) -> Built<ExprKind> {
        Ok(match pair.as_rule() {
            Rule::int => ExprKind::Int(number(pair.as_str())),
            Rule::char => {
                let character = pair.as_str().chars().nth(1).unwrap_or_default();
                if u32::from(character) > 255 {
                    return Err(error("a character has to fit into a byte", span));
                }
                ExprKind::Char(character)
            }
            Rule::constant => constant(&pair),
            Rule::name => {
                let mut parts = parts(pair);
                let callee = self.ident(&take(&mut parts));
                match parts.next() {
                    None => ExprKind::Name(callee.name),
                    Some(arguments) => ExprKind::Call { callee, arguments: self.exprs(arguments)? },
                }
            }
            Rule::new => {
                let mut parts = parts(pair);
                let ty = self.type_expr(take(&mut parts))?;
                let arguments = parts.next().map(|arguments| self.exprs(arguments)).transpose()?;
                ExprKind::New { ty, arguments: arguments.unwrap_or_default() }
            }
            Rule::set => {
                let elements = self.exprs(take(&mut parts(pair)))?;
                ExprKind::Set { element: None, elements }
            }
            Rule::set_of => {
                let mut parts: Vec<_> = parts(pair).collect();
                let elements =
                    self.exprs(parts.pop().expect("a set has elements in parentheses"))?;
                let element = parts.pop().map(|ty| self.type_expr(ty)).transpose()?;
                ExprKind::Set { element, elements }
            }
            Rule::byte_of if has(&pair, Rule::k_byte2int) => ExprKind::ByteToInt(self.only(pair)?),
            Rule::byte_of => ExprKind::IntToByte(self.only(pair)?),
            Rule::comprehension => {
                let mut parts = parts(pair);
                let variable = Box::new(self.formal(take(&mut parts))?);
                ExprKind::Comprehension { variable, body: self.boxed(take(&mut parts))? }
            }
            Rule::quantified => self.quantified(pair)?,
            Rule::unfolding => {
                self.opens_predicates = true;
                let mut parts = parts(pair);
                let predicate = self.ident(&take(&mut parts));
                let arguments = self.exprs(take(&mut parts))?;
                let body = take(&mut parts);
                ExprKind::Unfolding { predicate, arguments, body: self.boxed(body)? }
            }
            rule => unreachable!("{rule:?} is not an atom of the grammar"),
        })
    }

    fn quantified(&mut self, pair: Pair<Rule>) -> Built<ExprKind> {
        let mut parts = parts(pair);
        let is_forall = has(&take(&mut parts), Rule::k_forall);
        let quantifier = if is_forall { Quantifier::Forall } else { Quantifier::Exists };
        let mut variables = Vec::new();
        for part in parts {
            if part.as_rule() == Rule::bound {
                variables.push(self.bound(part)?);
            } else {
                return Ok(ExprKind::Quantified { quantifier, variables, body: self.boxed(part)? });
            }
        }
        unreachable!("a quantifier has a body")
    }

    fn bound(&mut self, pair: Pair<Rule>) -> Built<BoundVariable> {
        let mut parts = parts(pair);
        let name = self.ident(&take(&mut parts));
        let domain = take(&mut parts);
        let domain = if domain.as_rule() == Rule::type_expr {
            Domain::Type(self.type_expr(domain)?)
        } else {
            Domain::In(self.tier(domain)?.expr)
        };
        Ok(BoundVariable { name, domain })
    }
}

fn number(digits: &str) -> BigInt {
    let parsed = match digits.strip_prefix("0x") {
        Some(digits) => BigInt::parse_bytes(digits.as_bytes(), 16),
        None => BigInt::parse_bytes(digits.as_bytes(), 10),
    };
    parsed.expect("the grammar admits digits only")
}

fn constant(pair: &Pair<Rule>) -> ExprKind {
    match pair.clone().into_inner().next().map(|keyword| keyword.as_rule()) {
        Some(Rule::k_true) => ExprKind::Bool(true),
        Some(Rule::k_false) => ExprKind::Bool(false),
        Some(Rule::k_null) => ExprKind::Null,
        _ => ExprKind::Emp,
    }
}

/// Does this part of an expression make the tree deeper? Lists such as `&&` make it wider.
fn is_link(part: &Pair<Rule>) -> bool {
    match part.as_rule() {
        Rule::op => !matches!(part.as_str(), "&&" | "||" | "&*&" | "&+&"),
        rule => rule == Rule::prefix,
    }
}
