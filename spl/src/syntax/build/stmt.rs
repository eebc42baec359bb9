//! Statements.

use pest::iterators::Pair;

use super::{Builder, Built, Rule, error, has, parts, take};
use crate::source::Span;
use crate::syntax::{Block, Expr, ExprKind, Ident, Stmt, StmtKind, Values, Variable};

impl Builder {
    pub(super) fn block(&mut self, pair: Pair<Rule>) -> Built<Block> {
        let span = self.span(&pair);
        self.deeper(1, span, |builder| {
            let stmts = parts(pair).map(|part| builder.stmt(part)).collect::<Built<_>>()?;
            Ok(Block { stmts, span })
        })
    }

    pub(super) fn stmt(&mut self, pair: Pair<Rule>) -> Built<Stmt> {
        let span = self.span(&pair);
        self.deeper(1, span, |builder| Ok(Stmt { kind: builder.stmt_kind(pair, span)?, span }))
    }

    fn stmt_kind(&mut self, pair: Pair<Rule>, span: Span) -> Built<StmtKind> {
        Ok(match pair.as_rule() {
            Rule::block => StmtKind::Block(self.block(pair)?),
            Rule::decl_stmt => self.declare(pair)?,
            Rule::assume => {
                let mut parts = parts(pair);
                let (is_pure, _) = self.modifiers(&take(&mut parts))?;
                StmtKind::Assume { is_pure, condition: self.expr(take(&mut parts))? }
            }
            Rule::assert => self.assert(pair)?,
            Rule::free => StmtKind::Free(self.expr(take(&mut parts(pair)))?),
            Rule::havoc => {
                let names = parts(pair).next();
                StmtKind::Havoc(names.map_or_else(Vec::new, |names| self.idents(names)))
            }
            Rule::split => StmtKind::Split(self.expr(take(&mut parts(pair)))?),
            Rule::return_stmt => StmtKind::Return(self.exprs(take(&mut parts(pair)))?),
            Rule::fold => {
                let (predicate, arguments) = self.predicate(pair)?;
                StmtKind::Fold { predicate, arguments }
            }
            Rule::unfold => {
                let (predicate, arguments) = self.predicate(pair)?;
                StmtKind::Unfold { predicate, arguments }
            }
            Rule::if_stmt => self.if_stmt(pair)?,
            Rule::choose => {
                StmtKind::Choose(parts(pair).map(|part| self.stmt(part)).collect::<Built<_>>()?)
            }
            Rule::while_stmt => self.while_stmt(pair)?,
            Rule::simple => self.simple(pair, span)?,
            rule => unreachable!("{rule:?} is not a statement of the grammar"),
        })
    }

    fn predicate(&mut self, pair: Pair<Rule>) -> Built<(Ident, Vec<Expr>)> {
        self.opens_predicates = true;
        let mut parts = parts(pair);
        let predicate = self.ident(&take(&mut parts));
        Ok((predicate, self.exprs(take(&mut parts))?))
    }

    fn declare(&mut self, pair: Pair<Rule>) -> Built<StmtKind> {
        let is_ghost = has(&pair, Rule::k_ghost);
        let mut variables = Vec::new();
        let mut values = None;
        for part in parts(pair) {
            if part.as_rule() == Rule::initial {
                values = Some(self.exprs(take(&mut parts(part)))?);
            } else {
                let mut parts = parts(part);
                let name = self.ident(&take(&mut parts));
                let ty = parts.next().map(|ty| self.type_expr(ty)).transpose()?;
                variables.push(Variable { name, ty });
            }
        }
        if values.is_none()
            && let Some(untyped) = variables.iter().find(|variable| variable.ty.is_none())
        {
            let message = format!("`{}` needs a type or an initial value", untyped.name.name);
            return Err(error(message, untyped.name.span));
        }
        Ok(StmtKind::Declare { is_ghost, variables, values })
    }

    fn assert(&mut self, pair: Pair<Rule>) -> Built<StmtKind> {
        let mut parts = parts(pair);
        let (is_pure, _) = self.modifiers(&take(&mut parts))?;
        let mut label = None;
        let mut next = take(&mut parts);
        if next.as_rule() == Rule::string {
            label = Some(self.text(&next));
            next = take(&mut parts);
        }
        let condition = self.expr(next)?;
        let proof = parts.next().map(|proof| self.block(proof)).transpose()?;
        Ok(StmtKind::Assert { is_pure, label, condition, proof })
    }

    fn if_stmt(&mut self, pair: Pair<Rule>) -> Built<StmtKind> {
        let mut arms = Vec::new();
        let mut otherwise = None;
        for part in parts(pair) {
            let is_arm = part.as_rule() == Rule::if_arm;
            let mut parts = parts(part);
            if is_arm {
                let condition = self.expr(take(&mut parts))?;
                arms.push((condition, self.stmt(take(&mut parts))?));
            } else {
                otherwise = Some(Box::new(self.stmt(take(&mut parts))?));
            }
        }
        Ok(StmtKind::If { arms, otherwise })
    }

    fn while_stmt(&mut self, pair: Pair<Rule>) -> Built<StmtKind> {
        let mut parts = parts(pair);
        let condition = self.expr(take(&mut parts))?;
        let mut rest: Vec<_> = parts.collect();
        let body = Box::new(self.stmt(rest.pop().expect("a loop has a body"))?);
        let invariants = rest.into_iter().map(|part| self.clause(part)).collect::<Built<_>>()?;
        Ok(StmtKind::While { condition, invariants, body })
    }

    fn simple(&mut self, pair: Pair<Rule>, span: Span) -> Built<StmtKind> {
        let mut targets = Vec::new();
        for part in parts(pair) {
            if part.as_rule() != Rule::assigned {
                targets.push(self.postfix(part)?);
                continue;
            }
            if let Some(other) = targets.iter().find(|target| !is_place(target)) {
                return Err(error("this cannot be assigned", other.span));
            }
            let value = take(&mut parts(part));
            let values = if value.as_rule() == Rule::string {
                Values::Text(self.text(&value))
            } else {
                Values::Exprs(self.exprs(value)?)
            };
            return Ok(StmtKind::Assign { targets, values });
        }
        match (targets.pop(), targets.first()) {
            (Some(call), None) => Ok(StmtKind::Call(call)),
            _ => Err(error("expected `:=`", span.behind())),
        }
    }
}

fn is_place(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Name(_) | ExprKind::Select { .. } | ExprKind::Index { .. } | ExprKind::Content(_)
    )
}
