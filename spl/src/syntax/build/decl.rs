//! Declarations and types.

use pest::iterators::Pair;

use super::{Builder, Built, Rule, error, has, parts, take};
use crate::source::Span;
use crate::syntax::{
    Clause, ClauseKind, Constructor, Declaration, DeclarationKind, Formal, Parameter,
    ProcedureKind, Program, Signature, TypeExpr, TypeExprKind, VarDecl,
};

impl Builder {
    pub(super) fn program(mut self, pair: Pair<Rule>) -> Built<Program> {
        let declarations = parts(pair).map(|part| self.declaration(part)).collect::<Built<_>>()?;
        Ok(Program { declarations, opens_predicates: self.opens_predicates })
    }

    fn declaration(&mut self, pair: Pair<Rule>) -> Built<Declaration> {
        let span = self.span(&pair);
        let kind = match pair.as_rule() {
            Rule::include_decl => DeclarationKind::Include(self.text(&take(&mut parts(pair)))),
            Rule::options_decl => DeclarationKind::Options(self.text(&take(&mut parts(pair)))),
            Rule::axiom_decl => DeclarationKind::Axiom(self.expr(take(&mut parts(pair)))?),
            Rule::type_decl => {
                let mut parts = parts(pair);
                let name = self.ident(&take(&mut parts));
                let value = parts.next().map(|value| take(&mut super::parts(value)));
                let value = value.map(|value| self.type_expr(value)).transpose()?;
                DeclarationKind::Type { name, value }
            }
            Rule::datatype_decl => {
                let mut parts = parts(pair);
                let name = self.ident(&take(&mut parts));
                let constructors =
                    parts.map(|part| self.constructor(part)).collect::<Built<_>>()?;
                DeclarationKind::Datatype { name, constructors }
            }
            Rule::struct_decl => {
                let mut parts = parts(pair);
                let name = self.ident(&take(&mut parts));
                let fields = parts.map(|part| self.var_decl(part)).collect::<Built<_>>()?;
                DeclarationKind::Struct { name, fields }
            }
            Rule::global_decl => DeclarationKind::Global(self.var_decl(pair)?),
            Rule::const_decl => DeclarationKind::Const(self.formal(take(&mut parts(pair)))?),
            Rule::define_decl => {
                let mut parts: Vec<_> = parts(pair).collect();
                let body = self.expr(parts.pop().expect("a macro has a body"))?;
                let mut parts = parts.into_iter();
                let name = self.ident(&take(&mut parts));
                let parameters = parts.next().map_or_else(Vec::new, |names| self.idents(names));
                DeclarationKind::Macro { name, parameters, body }
            }
            Rule::procedure_decl | Rule::lemma_decl => {
                let kind = match pair.as_rule() {
                    Rule::procedure_decl => ProcedureKind::Procedure,
                    _ if has(&pair, Rule::k_auto) => ProcedureKind::AutoLemma,
                    _ => ProcedureKind::Lemma,
                };
                let (signature, body) = self.signature(pair)?;
                let body = body.map(|body| self.block(body)).transpose()?;
                DeclarationKind::Procedure { kind, signature, body }
            }
            Rule::predicate_decl => {
                let is_pure = has(&pair, Rule::k_pure);
                let (signature, body) = self.signature(pair)?;
                let body = body.map(|body| self.expr(take(&mut parts(body)))).transpose()?;
                DeclarationKind::Predicate { is_pure, signature, body }
            }
            Rule::function_decl => {
                let (signature, body) = self.signature(pair)?;
                let body = body.map(|body| self.expr(take(&mut parts(body)))).transpose()?;
                DeclarationKind::Function { signature, body }
            }
            rule => unreachable!("{rule:?} is not a declaration of the grammar"),
        };
        Ok(Declaration { kind, span })
    }

    fn constructor(&mut self, pair: Pair<Rule>) -> Built<Constructor> {
        let mut parts = parts(pair);
        let name = self.ident(&take(&mut parts));
        let fields = parts.map(|part| self.formal(part)).collect::<Built<_>>()?;
        Ok(Constructor { name, fields })
    }

    fn var_decl(&mut self, pair: Pair<Rule>) -> Built<VarDecl> {
        let span = self.span(&pair);
        let is_ghost = has(&pair, Rule::k_ghost);
        Ok(VarDecl { is_ghost, formal: self.formal(take(&mut parts(pair)))?, span })
    }

    pub(super) fn formal(&mut self, pair: Pair<Rule>) -> Built<Formal> {
        let mut parts = parts(pair);
        let name = self.ident(&take(&mut parts));
        Ok(Formal { name, ty: self.type_expr(take(&mut parts))? })
    }

    /// Name, parameters, results and contract of a declaration, and what is left: its body.
    fn signature<'s>(
        &mut self,
        pair: Pair<'s, Rule>,
    ) -> Built<(Signature, Option<Pair<'s, Rule>>)> {
        let mut parts = parts(pair);
        let name = self.ident(&take(&mut parts));
        let parameters = self.params(take(&mut parts))?;
        let mut signature =
            Signature { name, parameters, results: Vec::new(), contract: Vec::new() };
        let mut body = None;
        for part in parts {
            match part.as_rule() {
                Rule::returns => {
                    signature.results = self.params(take(&mut super::parts(part)))?;
                }
                Rule::contract => signature.contract.push(self.clause(part)?),
                _ => body = Some(part),
            }
        }
        Ok((signature, body))
    }

    fn params(&mut self, pair: Pair<Rule>) -> Built<Vec<Parameter>> {
        parts(pair)
            .map(|part| {
                let is_implicit = has(&part, Rule::k_implicit);
                let is_ghost = has(&part, Rule::k_ghost);
                let formal = self.formal(take(&mut parts(part)))?;
                Ok(Parameter { is_implicit, is_ghost, formal })
            })
            .collect()
    }

    /// Returns a clause of a contract or an invariant.
    pub(super) fn clause(&mut self, pair: Pair<Rule>) -> Built<Clause> {
        let span = self.span(&pair);
        let kind = if has(&pair, Rule::k_requires) {
            ClauseKind::Requires
        } else if has(&pair, Rule::k_ensures) {
            ClauseKind::Ensures
        } else {
            ClauseKind::Invariant
        };
        let mut parts = parts(pair);
        let modifiers = take(&mut parts);
        let condition = self.expr(take(&mut parts))?;
        let (is_pure, is_free) = self.modifiers(&modifiers)?;
        // An empty list of modifiers must not move the beginning before white space.
        let start = if is_pure || is_free { self.span(&modifiers).start } else { span.start };
        let text_start = Span { start, ..span };
        Ok(Clause { kind, is_pure, is_free, condition, span: text_start })
    }

    /// Are `pure` and `free` among these words?
    pub(super) fn modifiers(&self, pair: &Pair<Rule>) -> Built<(bool, bool)> {
        let count =
            |keyword| pair.clone().into_inner().filter(|part| part.as_rule() == keyword).count();
        let (pure, free) = (count(Rule::k_pure), count(Rule::k_free));
        if pure > 1 || free > 1 {
            return Err(error("this word is written twice", self.span(pair)));
        }
        Ok((pure == 1, free == 1))
    }

    pub(super) fn type_expr(&mut self, pair: Pair<Rule>) -> Built<TypeExpr> {
        let span = self.span(&pair);
        self.deeper(1, span, |builder| builder.type_kind(pair, span))
    }

    fn type_kind(&mut self, pair: Pair<Rule>, span: Span) -> Built<TypeExpr> {
        let inner = take(&mut pair.into_inner());
        let kind = match inner.as_rule() {
            Rule::builtin if has(&inner, Rule::k_Int) => TypeExprKind::Int,
            Rule::builtin if has(&inner, Rule::k_Bool) => TypeExprKind::Bool,
            Rule::builtin => TypeExprKind::Byte,
            Rule::map_type => {
                let mut parts = parts(inner);
                let from = Box::new(self.type_expr(take(&mut parts))?);
                TypeExprKind::Map(from, Box::new(self.type_expr(take(&mut parts))?))
            }
            Rule::collection => {
                let word = inner.clone().into_inner().next().map(|word| word.as_rule());
                let argument = Box::new(self.type_expr(take(&mut parts(inner)))?);
                match word {
                    Some(Rule::k_Loc) => TypeExprKind::Loc(argument),
                    Some(Rule::k_Set) => TypeExprKind::Set(argument),
                    Some(Rule::k_Array) => TypeExprKind::Array(argument),
                    _ => TypeExprKind::ArrayCell(argument),
                }
            }
            _ => TypeExprKind::Name(inner.as_str().to_owned()),
        };
        Ok(TypeExpr { kind, span })
    }
}
