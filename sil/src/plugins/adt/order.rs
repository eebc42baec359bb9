//! The well-founded order of an adt's values for termination checks: parts are smaller than the
//! whole.

use front::grow_stack;

use crate::build::{and, call, eq, implies, int, var};
use crate::diagnostics::Diagnostic;
use crate::imports;
use crate::source::{Name, Sources, Span};
use crate::syntax::walk::Visitor;
use crate::syntax::{
    Adt, Decreases, DecreasesKind, Domain, Expr, Ident, MemberKind, Program, Type,
};

use super::tree::{axiom, forall, substitute};
use super::{
    Adts, application, argument_types, destructor_name, self_type, tag, tag_name, transitive,
};

const ORDER: &str = "WellFoundedOrder";

/// How many ways from an adt through others back to itself are followed.
const MAX_WAYS: usize = 64;

/// Tells whether orders are needed. If there are termination clauses but no [`ORDER`] yet, it is
/// imported.
pub(super) fn is_wanted(
    program: &mut Program,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> bool {
    let is_declared = |program: &Program| has_domain(program, ORDER);
    if !is_declared(program) && has_tuples(program) {
        imports::add_standard("decreases/declaration.vpr", program, sources, diagnostics);
    }
    is_declared(program)
}

/// Tells whether the user declares how values of the adt are ordered.
pub(super) fn is_declared(program: &Program, adt: &Adt) -> bool {
    has_domain(program, &format!("{}{ORDER}", adt.name.name))
}

fn has_domain(program: &Program, name: &str) -> bool {
    program.members.iter().any(|member| match &member.kind {
        MemberKind::Domain(domain) => &*domain.name.name == name,
        _ => false,
    })
}

/// Returns the domain `AWellFoundedOrder`.
///
/// SOUNDNESS: of what has no finite value nothing is said. Its parts have parts for ever, and a
/// function that visits them never ends; that each is smaller, and all are bounded, holds of no
/// value at all (`termination/adts_without_finite_values`).
pub(super) fn domain(adt: &Adt, adts: &Adts) -> Domain {
    let span = adt.name.span;
    let whole = self_type(adt);
    let mut axioms = Vec::new();
    let mut is_recursive = false;
    let is_finite = adts.has_finite_value(&whole);
    let constructors = if is_finite { &adt.constructors[..] } else { &[] };
    for constructor in constructors {
        let made = application(adt, constructor);
        let types = argument_types(constructor, span);
        let mut facts = Vec::new();
        for ((variable, _), ty) in made.variables.iter().zip(types) {
            let mut ways = Ways { adts, whole: &whole, span, found: Vec::new() };
            ways.follow(&var(variable), &ty, &[], &mut Vec::new());
            facts.extend(ways.found.into_iter().map(|(conditions, part)| {
                let smaller = call("decreasing", [part, made.term.clone()]);
                implies(and(conditions), smaller)
            }));
        }
        if !facts.is_empty() {
            is_recursive = true;
            let triggers = vec![vec![made.term.clone()]];
            axioms.push(axiom(forall(&made.variables, triggers, and(facts)), span));
        }
    }
    if is_recursive {
        axioms.push(transitive("decreasing", [whole.clone(), whole.clone(), whole.clone()], span));
    }
    if is_finite {
        let bounded = call("bounded", [var("t$")]);
        let variables = [(Name::from("t$"), whole)];
        axioms.push(axiom(forall(&variables, vec![vec![bounded.clone()]], bounded), span));
    }
    Domain {
        name: Ident { name: format!("{}{ORDER}", adt.name.name).into(), span },
        parameters: adt.parameters.clone(),
        interpretations: Vec::new(),
        functions: Vec::new(),
        axioms,
    }
}

/// The search for values of a type inside a value of another one.
struct Ways<'a> {
    adts: &'a Adts,
    whole: &'a Type,
    span: Span,
    /// Under which conditions which term is a part of the type looked for.
    found: Vec<(Vec<Expr>, Expr)>,
}

impl Ways<'_> {
    /// Looks for parts in `value`, which is of type `ty` under `conditions`; `seen` are the adts
    /// passed so far.
    fn follow(&mut self, value: &Expr, ty: &Type, conditions: &[Expr], seen: &mut Vec<Name>) {
        if self.found.len() >= MAX_WAYS {
            return;
        }
        if ty == self.whole {
            self.found.push((conditions.to_vec(), value.clone()));
            return;
        }
        let Some((adt, instance)) = self.adts.instance(ty) else { return };
        if seen.contains(&adt.name.name) {
            return;
        }
        seen.push(adt.name.name.clone());
        for constructor in &adt.constructors {
            // A destructor says something about values of its own constructor only.
            let number = tag(adt, &constructor.name.name);
            let is_made_so = call(&tag_name(&adt.name.name), [value.clone()]);
            let mut conditions = conditions.to_vec();
            conditions.push(eq(is_made_so, int(number)));
            for formal in &constructor.formals {
                let name = destructor_name(&adt.name.name, &formal.name.name);
                let part = call(&name, [value.clone()]);
                let ty = substitute(&formal.ty, &instance, self.span);
                grow_stack(|| self.follow(&part, &ty, &conditions, seen));
            }
        }
        seen.pop();
    }
}

/// Tells whether there is a termination clause with something to compare.
fn has_tuples(program: &Program) -> bool {
    let mut tuples = Tuples { found: false };
    program.members.iter().for_each(|member| tuples.member(member));
    tuples.found
}

struct Tuples {
    found: bool,
}

impl Visitor<'_> for Tuples {
    fn decreases(&mut self, clause: &Decreases) {
        self.found |=
            matches!(&clause.kind, DecreasesKind::Tuple(elements) if !elements.is_empty());
    }

    /// Has no clauses inside.
    fn expr(&mut self, _: &Expr) {}
}
