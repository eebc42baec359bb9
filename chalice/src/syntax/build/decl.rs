//! Classes, channels and members.

use pest::iterators::Pair;

use super::{Builder, Built, Rule, error, has, parts, take};
use crate::diagnostic::Diagnostic;
use crate::syntax::{
    Channel, Class, Declaration, Expr, Formal, Member, MemberKind, Program, Signature,
};

impl Builder {
    /// Returns the program without what could not be built, and the errors, one a member.
    pub(super) fn program(mut self, pair: Pair<Rule>) -> (Program, Vec<Diagnostic>) {
        let mut declarations = Vec::new();
        for part in parts(pair) {
            let declaration = match part.as_rule() {
                Rule::class_decl => Some(Declaration::Class(self.class(part))),
                _ => self.collected(|builder| builder.channel(part)).map(Declaration::Channel),
            };
            declarations.extend(declaration);
        }
        (Program { declarations }, self.errors)
    }

    /// Builds a member or channel on its own: its error spoils nothing else.
    fn collected<T>(&mut self, build: impl FnOnce(&mut Self) -> Built<T>) -> Option<T> {
        let depth = self.depth;
        let built = build(self);
        self.depth = depth;
        let wildcards = std::mem::take(&mut self.wildcards);
        match (built, wildcards.first()) {
            (Ok(built), None) => return Some(built),
            (Err(error), _) => self.errors.push(error),
            (Ok(_), Some(&wildcard)) => {
                self.errors.push(error("a wildcard can stand in `acc` and `rd` only", wildcard));
            }
        }
        None
    }

    fn class(&mut self, pair: Pair<Rule>) -> Class {
        let span = self.span(&pair);
        let is_external = has(&pair, Rule::k_external);
        let mut parts = parts(pair);
        let name = self.ident(&take(&mut parts));
        let mut class =
            Class { is_external, name, module: None, refines: None, members: Vec::new(), span };
        for part in parts {
            match part.as_rule() {
                Rule::module => class.module = self.idents(part).pop(),
                Rule::refined => class.refines = self.idents(part).pop(),
                _ => class.members.extend(self.collected(|builder| builder.member(part))),
            }
        }
        class
    }

    fn channel(&mut self, pair: Pair<Rule>) -> Built<Channel> {
        let span = self.span(&pair);
        let mut parts = parts(pair);
        let name = self.ident(&take(&mut parts));
        let parameters = self.formals(take(&mut parts))?;
        let where_clause = parts.next().map(|part| self.clause(part)).transpose()?;
        Ok(Channel { name, parameters, where_clause, span })
    }

    /// Returns the expression of a `where` clause or body.
    fn clause(&mut self, pair: Pair<Rule>) -> Built<Expr> {
        self.expr(take(&mut parts(pair)))
    }

    fn formals(&mut self, pair: Pair<Rule>) -> Built<Vec<Formal>> {
        pair.into_inner().map(|part| self.formal(part)).collect()
    }

    pub(super) fn formal(&mut self, pair: Pair<Rule>) -> Built<Formal> {
        let mut parts = parts(pair);
        let name = self.ident(&take(&mut parts));
        let ty = parts.next().map(|ty| self.type_expr(ty)).transpose()?;
        Ok(Formal { name, ty })
    }

    fn member(&mut self, pair: Pair<Rule>) -> Built<Member> {
        let span = self.span(&pair);
        Ok(Member { kind: self.member_kind(pair)?, span })
    }

    fn member_kind(&mut self, pair: Pair<Rule>) -> Built<MemberKind> {
        Ok(match pair.as_rule() {
            Rule::field_decl => MemberKind::Field {
                is_tracked: has(&pair, Rule::k_tracked),
                is_ghost: has(&pair, Rule::k_ghost),
                is_replaced: false,
                formal: self.formal(take(&mut parts(pair)))?,
            },
            Rule::invariant_decl => MemberKind::Invariant(self.clause(pair)?),
            Rule::method_decl => {
                let (signature, body) = self.signature(pair)?;
                let body = self.block(body.expect("a method has a body"))?;
                MemberKind::Method { signature, body }
            }
            Rule::condition_decl => {
                let mut parts = parts(pair);
                let name = self.ident(&take(&mut parts));
                let where_clause = parts.next().map(|part| self.clause(part)).transpose()?;
                MemberKind::Condition { name, where_clause }
            }
            Rule::predicate_decl => {
                let mut parts = parts(pair);
                let name = self.ident(&take(&mut parts));
                MemberKind::Predicate { name, body: self.expr(take(&mut parts))? }
            }
            Rule::function_decl => self.function(pair)?,
            Rule::coupling_decl => {
                let mut parts = parts(pair);
                let fields = self.idents(take(&mut parts));
                MemberKind::Coupling { fields, invariant: self.expr(take(&mut parts))? }
            }
            Rule::refine_decl => {
                let (signature, body) = self.signature(pair)?;
                let body = self.block(body.expect("a refining method has a body"))?;
                MemberKind::Refine { signature, body }
            }
            Rule::transform_decl => {
                let (signature, body) = self.signature(pair)?;
                let pattern = self.pattern(body.expect("a transform has a pattern"))?;
                MemberKind::Transform { signature, pattern }
            }
            rule => unreachable!("{rule:?} is not a member of the grammar"),
        })
    }

    fn function(&mut self, pair: Pair<Rule>) -> Built<MemberKind> {
        let is_unlimited = has(&pair, Rule::k_unlimited);
        let is_static = has(&pair, Rule::k_static);
        let ty = pair.clone().into_inner().find(|part| part.as_rule() == Rule::type_expr);
        let result = self.type_expr(ty.expect("a function has a type"))?;
        let (signature, body) = self.signature(pair)?;
        let body = body.map(|body| self.clause(body)).transpose()?;
        Ok(MemberKind::Function { is_unlimited, is_static, signature, result, body })
    }

    /// Name, parameters and contract, and the unread body.
    fn signature<'s>(
        &mut self,
        pair: Pair<'s, Rule>,
    ) -> Built<(Signature, Option<Pair<'s, Rule>>)> {
        let mut parts = parts(pair);
        let name = self.ident(&take(&mut parts));
        let parameters = self.formals(take(&mut parts))?;
        let mut signature = Signature { name, parameters, results: Vec::new(), specs: Vec::new() };
        let mut body = None;
        for part in parts {
            match part.as_rule() {
                Rule::returns => {
                    signature.results = self.formals(take(&mut self::parts(part)))?;
                }
                Rule::requires | Rule::ensures | Rule::lockchange | Rule::decreases => {
                    signature.specs.push(self.spec(part)?);
                }
                Rule::type_expr => {}
                _ => body = Some(part),
            }
        }
        Ok((signature, body))
    }
}
