//! Instances of domains that axioms call for. An axiom holds for all types, and applies functions,
//! perhaps of other domains. The axiom is of use for the types at which these functions are
//! applied.
//!
//! SOUNDNESS: the choice of instances affects completeness only.

#![expect(clippy::disallowed_types, reason = "axioms are declarations of the table of symbols")]

use rustc_hash::FxHashMap;
use sil::program::{Domain, DomainId, Expr, ExprKind, Program, Type};
use sil::source::Name;
use sil::walk;

use crate::knowledge::symbols::Emitted;

/// An instance of a domain; as a pattern it mentions type parameters.
pub(crate) type Instance = (DomainId, Vec<Type>);

/// The types that type parameters stand for.
type Binding = FxHashMap<Name, Type>;

/// The calls of a program's domains: some instances call for others.
#[derive(Debug, Default)]
pub struct TypePatterns {
    rules: Vec<Rule>,
    /// The rules of each domain that have a pattern of it, with that pattern.
    by_domain: FxHashMap<DomainId, Vec<(usize, usize)>>,
    /// Instances to begin with, since no term of a member may call for them.
    pub(crate) initial: Vec<Instance>,
}

/// Instances of all patterns call for an instance of the owner.
#[derive(Debug)]
struct Rule {
    owner: DomainId,
    /// The patterns of one trigger, or one application.
    patterns: Vec<Instance>,
    /// Patterns that may bind the parameters that `patterns` leaves open.
    others: Vec<Instance>,
}

impl TypePatterns {
    pub(crate) fn new(program: &Program) -> Self {
        let mut made = Self::default();
        for (owner, domain) in program.domains.iter() {
            domain.axioms.iter().for_each(|axiom| made.add_axiom(program, owner, &axiom.body));
        }
        for (index, rule) in made.rules.iter().enumerate() {
            for (position, (domain, _)) in rule.patterns.iter().enumerate() {
                made.by_domain.entry(*domain).or_default().push((index, position));
            }
        }
        made
    }

    fn add_axiom(&mut self, program: &Program, owner: DomainId, axiom: &Expr) {
        let domain = &program.domains[owner];
        let applied = applications(program, [axiom]);
        let open = |patterns: &[Instance]| -> Vec<Instance> {
            patterns.iter().filter(|it| is_open(it)).cloned().collect()
        };
        let mut sets: Vec<Vec<Instance>> = Vec::new();
        walk::walk_expr(axiom, |part| {
            if let ExprKind::Quantified { triggers, .. } = &part.kind {
                sets.extend(triggers.iter().map(|it| open(&applications(program, it.iter()))));
            }
        });
        let others = open(&applied);
        sets.retain(|patterns| !patterns.is_empty());
        if sets.is_empty() {
            sets = others.iter().map(|pattern| vec![pattern.clone()]).collect();
        }
        let is_foreign = applied.iter().any(|(domain, _)| *domain != owner)
            || axiom.any(|part| matches!(part.kind, ExprKind::Apply { .. }));
        // A ground axiom needs no term that matches a trigger. It may contradict others by itself.
        let is_ground = !axiom.any(|part| matches!(part.kind, ExprKind::Quantified { .. }));
        if sets.is_empty() && (is_foreign || is_ground) {
            add(&mut self.initial, (owner, vec![Type::Int; domain.parameters.len()]));
        }
        for patterns in sets {
            // Where the owner itself is used, its instances are there already.
            if !patterns.iter().any(|pattern| is_the_domain(pattern, owner, domain)) {
                self.rules.push(Rule { owner, patterns, others: others.clone() });
            }
        }
    }

    /// Returns the instances that a new one calls for, beside the known ones.
    pub(crate) fn called_for(
        &self,
        program: &Program,
        new: &Instance,
        known: &Emitted,
    ) -> Vec<Instance> {
        let mut found = Vec::new();
        for &(index, position) in self.by_domain.get(&new.0).into_iter().flatten() {
            let Rule { owner, patterns, others } = &self.rules[index];
            let mut bindings =
                Vec::from_iter(matched(&patterns[position], new, &Binding::default()));
            for (other, pattern) in patterns.iter().enumerate() {
                if other != position {
                    bindings = joined(&bindings, pattern, known);
                }
            }
            for pattern in others {
                let is_bound = |name: &Name| bindings.iter().all(|it| it.contains_key(name));
                if !pattern.1.iter().all(|ty| all_parameters(ty, &is_bound)) {
                    let more = joined(&bindings, pattern, known);
                    bindings = if more.is_empty() { bindings } else { more };
                }
            }
            let parameters = &program.domains[*owner].parameters;
            for binding in bindings {
                // A parameter that the axiom does not mention may be any type.
                let value = |name| binding.get(name).cloned().unwrap_or(Type::Int);
                add(&mut found, (*owner, parameters.iter().map(value).collect()));
            }
        }
        found
    }
}

fn add(instances: &mut Vec<Instance>, new: Instance) {
    if !instances.contains(&new) {
        instances.push(new);
    }
}

/// Returns the instances of domains whose functions are applied.
fn applications<'e>(program: &Program, exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<Instance> {
    let mut found = Vec::new();
    for expr in exprs {
        walk::walk_expr(expr, |part| {
            if let ExprKind::DomainApply { function, instance, .. } = &part.kind {
                add(&mut found, (program.domain_functions[*function].domain, instance.clone()));
            }
        });
    }
    found
}

fn is_open((_, arguments): &Instance) -> bool {
    !arguments.iter().all(|ty| all_parameters(ty, &|_| false))
}

/// Tells whether a pattern is a domain with its own parameters.
fn is_the_domain((id, arguments): &Instance, owner: DomainId, domain: &Domain) -> bool {
    let own = domain.parameters.iter().cloned().map(Type::Variable);
    *id == owner && own.eq(arguments.iter().cloned())
}

fn all_parameters(ty: &Type, holds: &impl Fn(&Name) -> bool) -> bool {
    match ty {
        Type::Variable(name) => holds(name),
        Type::Seq(element) | Type::Set(element) | Type::Multiset(element) => {
            all_parameters(element, holds)
        }
        Type::Map(key, value) => all_parameters(key, holds) && all_parameters(value, holds),
        Type::Domain(_, arguments) => arguments.iter().all(|ty| all_parameters(ty, holds)),
        Type::Int | Type::Bool | Type::Perm | Type::Ref | Type::Wand => true,
    }
}

/// Returns the bindings that extend one of the given bindings, and make a pattern one of the known
/// instances.
fn joined(bindings: &[Binding], pattern: &Instance, known: &Emitted) -> Vec<Binding> {
    let of = |binding| known.domains.iter().filter_map(move |it| matched(pattern, it, binding));
    bindings.iter().flat_map(of).collect()
}

/// Returns the binding that extends `bound` and makes a pattern an instance, if there is one.
fn matched(pattern: &Instance, instance: &Instance, bound: &Binding) -> Option<Binding> {
    if pattern.0 != instance.0 {
        return None;
    }
    let mut binding = bound.clone();
    let pairs = pattern.1.iter().zip(&instance.1);
    pairs.into_iter().all(|(pattern, ty)| bind(pattern, ty, &mut binding)).then_some(binding)
}

fn bind(pattern: &Type, ty: &Type, binding: &mut Binding) -> bool {
    match (pattern, ty) {
        (Type::Variable(name), _) => {
            binding.entry(name.clone()).or_insert_with(|| ty.clone()) == ty
        }
        (Type::Seq(pattern), Type::Seq(ty))
        | (Type::Set(pattern), Type::Set(ty))
        | (Type::Multiset(pattern), Type::Multiset(ty)) => bind(pattern, ty, binding),
        (Type::Map(key, value), Type::Map(of, to)) => {
            bind(key, of, binding) && bind(value, to, binding)
        }
        (Type::Domain(of, patterns), Type::Domain(id, arguments)) => {
            of == id && patterns.iter().zip(&**arguments).all(|(it, ty)| bind(it, ty, binding))
        }
        _ => pattern == ty,
    }
}
