//! Predicate instances as values: `#P(e)`.
//!
//! An instance is what the abstract function `PI_P` yields, which requires some permission to it:
//! so it is the same instance as long as that is held and nothing inside has changed. The type
//! comes from the standard library, which the program imports.

use findings::{ErrorId, Reason};
use indexmap::IndexMap;

use crate::build::{acc, call, domain_type, renamed, var, wildcard};
use crate::source::{Name, Span};
use crate::syntax::walk::{Rewriter, rewrite};
use crate::syntax::{
    Decreases, DecreasesKind, Expr, ExprKind, Function, Member, MemberKind, Predicate, Program,
};

/// Returns the function from the arguments of a predicate to its instances.
pub(crate) fn function_name(predicate: &str) -> String {
    format!("PI_{predicate}")
}

/// Replaces instances by applications, and adds the functions applied.
pub(super) fn desugar(program: &mut Program) {
    let mut predicates: IndexMap<Name, Used> = IndexMap::new();
    for member in &program.members {
        if let MemberKind::Predicate(predicate) = &member.kind {
            let used = Used { predicate: predicate.clone(), is_used: false };
            predicates.entry(predicate.name.name.clone()).or_insert(used);
        }
    }
    let mut instances = Instances { predicates };
    for member in &mut program.members {
        instances.member(member);
    }
    let used = instances.predicates.into_values().filter(|one| one.is_used);
    program.members.extend(used.map(|one| function(&one.predicate)));
}

struct Used {
    predicate: Predicate,
    is_used: bool,
}

struct Instances {
    predicates: IndexMap<Name, Used>,
}

impl Rewriter for Instances {
    /// In a measure the location alone stands for its instance already.
    fn decreases(&mut self, clause: &mut Decreases) {
        if let DecreasesKind::Tuple(elements) = &mut clause.kind {
            for element in elements {
                if let ExprKind::PredicateInstance { name, arguments } = &mut element.kind
                    && self.predicates.contains_key(&name.name)
                {
                    let (name, arguments) = (name.clone(), std::mem::take(arguments));
                    element.kind = ExprKind::Call { name, arguments, ascription: None };
                }
            }
        }
        rewrite::decreases(self, clause);
    }

    fn expr(&mut self, expr: &mut Expr) {
        rewrite::expr(self, expr);
        let ExprKind::PredicateInstance { name, arguments } = &mut expr.kind else { return };
        // The resolver reports what is no predicate.
        let Some(used) = self.predicates.get_mut(&name.name) else { return };
        used.is_used = true;
        let mut function = name.clone();
        function.name = function_name(&name.name).into();
        let arguments = std::mem::take(arguments);
        expr.kind = ExprKind::Call { name: function, arguments, ascription: None };
        expr.annotations.push(renamed(
            Reason::InsufficientPermission,
            (ErrorId::PredicateInstanceNoAccess, Reason::InsufficientPermission),
        ));
    }
}

/// `function PI_P(x: T): PredicateInstance requires acc(P(x), wildcard)`
fn function(predicate: &Predicate) -> Member {
    let name = &*predicate.name.name;
    let arguments = predicate.formals.iter().map(|formal| var(&formal.name.name));
    let mut location = call(name, arguments);
    // Messages about missing permission name the predicate.
    location.span = predicate.name.span;
    let mut instance = acc(location, wildcard());
    instance.span = predicate.name.span;
    let mut function =
        Function::new(&function_name(name), domain_type("PredicateInstance")).requires(instance);
    function.formals.clone_from(&predicate.formals);
    let span = Span::default();
    Member { annotations: Vec::new(), span, kind: MemberKind::Function(function) }
}
