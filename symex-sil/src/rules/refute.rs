//! `refute A` and smoke detection.
//!
//! `refute A`: an assertion that must not hold on every path.
//!
//! A path refutes the statement if it cannot prove A. A path without a refutation is not an error
//! yet: only at the end of the member are the statements known that no path has refuted. A
//! statement that no path reaches is one of them.

use sil::plugins::smoke::is_check;
use sil::program::{Domain, DomainFunctionId, DomainId, Expr, Method, Stmt, StmtKind, Type};
use sil::walk::{Visit, walk_body};
use smt::terms::Term;

use crate::rules::Sil;
use symex::findings::blame::{Blame, ErrorId, Reason};
use symex::findings::log::{Recalled, RefuteKey};
use symex::permission::quantified::touch::mentioned;
use symex::report::Severity;
use symex::rules::language::Language;
use symex::{Explore, Stop, Symbols, Watch};

impl Sil<'_, '_> {
    /// Tries to prove `assertion`. Nothing is kept, and the path goes on as without the statement.
    pub(crate) fn exec_refute(&mut self, statement: &Stmt, assertion: &Expr) -> Result<(), Stop> {
        let blame = Blame::new(ErrorId::RefuteFailed, assertion.span);
        let (result, found) = self.finding_apart(|sil| {
            sil.with_own_taints(|sil| {
                sil.scoped(None, |sil| sil.explore(|sil| sil.consume_all([assertion], |_| blame)))
            })
        });
        result?.0?;
        if !found.is_nothing() {
            self.log.note_refuted(key(statement, assertion));
        }
        Ok(())
    }

    /// Reports the `refute` statements of a method that no path has refuted.
    pub(crate) fn report_unrefuted(&mut self, method: &Method) -> Result<(), Stop> {
        let mut statements = Vec::new();
        for implementation in &method.implementations {
            walk_body(&implementation.body, |visit| {
                if let Visit::Stmt(statement) = visit
                    && let StmtKind::Refute(assertion) = &statement.kind
                {
                    let key = key(statement, assertion);
                    statements.push((key, assertion.span, is_check(statement)));
                }
            });
        }
        for (key, span, is_smoke) in statements {
            if self.recall(Recalled::Refuted(key))? {
                continue;
            }
            if is_smoke {
                self.report_unreachable(span, None);
            } else {
                let blame = Blame::new(ErrorId::RefuteFailed, span);
                self.report(blame, Reason::RefutationTrue, span, Severity::Error);
            }
        }
        Ok(())
    }

    /// Runs smoke detection of axioms: reports a domain if its axioms, or those of domains that
    /// they mention, contradict each other. Each function of the domain is applied, so that axioms
    /// with triggers take part. If the solver finds no contradiction, there may be one all the
    /// same.
    pub fn check_axioms(&mut self, domain: DomainId) -> Result<(), Stop> {
        let declaration = &self.program.domains[domain];
        self.explore(|engine| {
            let instance = vec![Type::Ref; declaration.parameters.len()];
            engine.use_domain(domain, &instance);
            for &function in &declaration.functions {
                let application = some_application(engine, function, declaration, &instance)?;
                let mentioned = mentioned(&mut engine.terms, application);
                engine.assume(mentioned)?;
            }
            if engine.is_dead()? {
                let name = &declaration.name;
                let reason = format!("the axioms of domain `{name}` are contradictory");
                engine.report_unreachable(declaration.span, Some(&reason));
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Returns a domain function applied to arbitrary values, one for each sort.
fn some_application(
    symbols: &mut Symbols<'_>,
    function: DomainFunctionId,
    domain: &Domain,
    instance: &[Type],
) -> Result<Term, Stop> {
    let formals = &symbols.program.domain_functions[function].formals;
    let arguments = symbols.in_instance(domain, instance, |symbols| {
        let some = |(_, ty): &(_, Type)| {
            let sort = symbols.sort(ty);
            let name = format!("any@axioms.{}", symbols.terms.sort_name(sort));
            let symbol = symbols.terms.declare_fresh(&name, &[], sort);
            symbols.terms.apply(symbol, &[])
        };
        formals.iter().map(some).collect::<Vec<_>>()
    });
    symbols.domain_application(function, instance, &arguments)
}

/// Returns the key of a `refute` statement. Statements made by one use of a macro share their
/// place.
fn key(statement: &Stmt, assertion: &Expr) -> RefuteKey {
    (statement.span, assertion.span)
}
