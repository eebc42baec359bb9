//! The domains that say what decreases: found by name, taken from the standard library where they
//! are missing.
//!
//! Users replace an order by declaring a domain of its name.

use front::grow_stack;
use indexmap::IndexSet;
use la_arena::Arena;
use num_bigint::Sign;
use rustc_hash::FxHashMap;

use super::{Locals, build, measures};
use crate::imports::NoFiles;
use crate::load;
use crate::plugins::predicate_instance;
use crate::program::{
    Axiom, BinaryOp, Contract, Domain, DomainFunction, DomainFunctionId, DomainId, Expr, ExprKind,
    Function, FunctionId, Local, LocalId, LocalKind, Location, Predicate, PredicateId, Program,
    Type,
};
use crate::source::{Name, Span};

/// The functions that orders are made of.
pub(super) struct Orders {
    /// Absent if all tuples are empty.
    order: Option<Order>,
    /// Absent if no tuple has a predicate in it.
    instances: Option<Instances>,
}

struct Order {
    decreasing: DomainFunctionId,
    bounded: DomainFunctionId,
}

struct Instances {
    ty: Type,
    /// The function that says that an instance is inside another one.
    nested: DomainFunctionId,
    /// For each predicate the function from its arguments (and what it holds) to the instance.
    functions: FxHashMap<PredicateId, FunctionId>,
}

impl Orders {
    /// Finds, or adds to the program, what these tuples need.
    pub(super) fn install(program: &mut Program, tuples: &[&[Expr]]) -> Self {
        let elements: Vec<&Expr> = tuples.iter().copied().flatten().collect();
        if elements.is_empty() {
            return Self { order: None, instances: None };
        }
        let types: IndexSet<Type> =
            elements.iter().filter_map(|e| measures::element_type(e)).cloned().collect();
        let uses_instances = elements.iter().any(|e| measures::element_type(e).is_none());
        let mut files: Vec<&str> = types.iter().filter_map(file_of).collect();
        files.push("declaration");
        if uses_instances {
            files.push("predicate_instance");
        }
        let library = library(&files);
        let found = add_missing(program, &library);
        for ty in &types {
            add_instance(program, ty);
        }
        let function = |domain, name| Some(found.functions[&function(&library, domain, name)?]);
        let order = function("WellFoundedOrder", "decreasing")
            .zip(function("WellFoundedOrder", "bounded"))
            .map(|(decreasing, bounded)| Order { decreasing, bounded });
        let instances = domain(&library, "PredicateInstance")
            .zip(function("PredicateInstancesNestedRelation", "nestedPredicates"))
            .map(|(ty, nested)| {
                let ty = Type::Domain(found.domains[&ty], [].into());
                Instances { functions: instances(program, &ty), ty, nested }
            });
        Self { order, instances }
    }

    /// Makes the claim that a value is smaller than another one of its type.
    pub(super) fn decreasing(&self, smaller: Expr, larger: Expr, place: Span) -> Expr {
        let instance = vec![smaller.ty.clone()];
        self.order.as_ref().map_or(Expr::boolean(false, place), |order| {
            relation(order.decreasing, instance, vec![smaller, larger], place)
        })
    }

    /// Makes the claim that nothing descends from a value for ever.
    pub(super) fn bounded(&self, value: Expr, place: Span) -> Expr {
        let instance = vec![value.ty.clone()];
        self.order.as_ref().map_or(Expr::boolean(false, place), |order| {
            relation(order.bounded, instance, vec![value], place)
        })
    }

    pub(super) fn has_instances(&self) -> bool {
        self.instances.is_some()
    }

    /// Returns the instance of a predicate: needs permission to it.
    ///
    /// # Panics
    /// Unless [`Orders::has_instances`].
    pub(super) fn instance(
        &self,
        predicate: PredicateId,
        arguments: Vec<Expr>,
        place: Span,
    ) -> Expr {
        let instances = self.instances.as_ref().expect("installed where a tuple has a predicate");
        let function = instances.functions[&predicate];
        Expr::new(ExprKind::Apply { function, arguments }, instances.ty.clone(), place)
    }

    /// The instances that an assertion holds, in the body of the predicate instance `outer`, are
    /// inside of that.
    ///
    /// COMPLETENESS: nothing is said of instances below a quantifier.
    pub(super) fn nested(&self, body: &Expr, outer: &Expr, place: Span) -> Expr {
        grow_stack(|| match &body.kind {
            ExprKind::And(conjuncts) => {
                let facts = conjuncts.iter().map(|part| self.nested(part, outer, place)).collect();
                build::and(facts, place)
            }
            ExprKind::Binary { op: BinaryOp::Implies, left, right } => {
                let guard = build::placed(left, place);
                build::implies(guard, self.nested(right, outer, place), place)
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let condition = build::placed(condition, place);
                let then = self.nested(then, outer, place);
                let otherwise = self.nested(otherwise, outer, place);
                let negation = condition.clone().negation();
                let cases = vec![
                    build::implies(condition, then, place),
                    build::implies(negation, otherwise, place),
                ];
                build::and(cases, place)
            }
            ExprKind::Let { variable, value, body } => {
                let body = self.nested(body, outer, place);
                if build::is_literal(&body, true) {
                    return body;
                }
                let value = Box::new(build::placed(value, place));
                let kind = ExprKind::Let { variable: *variable, value, body: Box::new(body) };
                Expr::new(kind, Type::Bool, place)
            }
            ExprKind::Acc { location: Location::Predicate { predicate, arguments }, amount } => {
                let arguments = arguments.iter().map(|it| build::placed(it, place)).collect();
                let inner = self.instance(*predicate, arguments, place);
                let instances = self.instances.as_ref().expect("there is an instance");
                let fact =
                    relation(instances.nested, Vec::new(), vec![inner, outer.clone()], place);
                build::implies(is_some(amount, place), fact, place)
            }
            _ => Expr::boolean(true, place),
        })
    }
}

/// Makes the claim that an amount is not none.
pub(super) fn is_some(amount: &Expr, place: Span) -> Expr {
    match amount.kind {
        ExprKind::FullPerm | ExprKind::Wildcard => Expr::boolean(true, place),
        ExprKind::NoPerm => Expr::boolean(false, place),
        _ if is_fraction(amount) => Expr::boolean(true, place),
        _ => {
            let none = Expr::new(ExprKind::NoPerm, Type::Perm, place);
            build::binary(BinaryOp::Gt, build::placed(amount, place), none, place)
        }
    }
}

/// Returns a fraction such as `1/2`.
fn is_fraction(amount: &Expr) -> bool {
    let is_positive =
        |expr: &Expr| matches!(&expr.kind, ExprKind::Int(value) if value.sign() == Sign::Plus);
    match &amount.kind {
        ExprKind::Binary { op: BinaryOp::PermDiv, left, right } => {
            is_positive(left) && is_positive(right)
        }
        _ => false,
    }
}

fn relation(
    function: DomainFunctionId,
    instance: Vec<Type>,
    arguments: Vec<Expr>,
    place: Span,
) -> Expr {
    Expr::new(ExprKind::DomainApply { function, instance, arguments }, Type::Bool, place)
}

/// Returns the library's file with the order of a type.
fn file_of(ty: &Type) -> Option<&'static str> {
    match ty {
        Type::Int => Some("int"),
        Type::Bool => Some("bool"),
        Type::Perm => Some("perm"),
        Type::Ref => Some("ref"),
        Type::Seq(_) => Some("seq"),
        Type::Set(_) => Some("set"),
        Type::Multiset(_) => Some("multiset"),
        Type::Map(..) | Type::Domain(..) | Type::Variable(_) | Type::Wand => None,
    }
}

fn library(files: &[&str]) -> Program {
    let mut text = String::new();
    for file in files {
        text.push_str(&format!("import <decreases/{file}.vpr>\n"));
    }
    let loaded = load::load("termination", text.into_bytes(), &NoFiles);
    loaded.program.expect("the library that comes with this program is valid")
}

fn domain(program: &Program, name: &str) -> Option<DomainId> {
    program.domains.iter().find(|(_, domain)| *domain.name == *name).map(|(id, _)| id)
}

fn function(program: &Program, in_domain: &str, name: &str) -> Option<DomainFunctionId> {
    let domain = &program.domains[domain(program, in_domain)?];
    domain.functions.iter().copied().find(|&id| *program.domain_functions[id].name == *name)
}

/// The declarations of the program in place of the library's names.
#[derive(Default)]
struct Found {
    domains: FxHashMap<DomainId, DomainId>,
    functions: FxHashMap<DomainFunctionId, DomainFunctionId>,
}

/// Tells whether a domain of the program can stand for the library's domain of that name. An order
/// can, whatever it says. Others have the parameters and the functions, of the same types, and
/// perhaps more.
fn is_usable(program: &Program, own: &Domain, library: &Program, theirs: &Domain) -> bool {
    if theirs.functions.is_empty() && !theirs.axioms.is_empty() {
        return true;
    }
    let parameters: FxHashMap<_, _> = theirs.parameters.iter().zip(&own.parameters).collect();
    let map = |ty: &Type| match ty {
        Type::Variable(name) => parameters.get(name).map(|&own| Type::Variable(own.clone())),
        Type::Domain(id, arguments) => domain(program, &library.domains[*id].name)
            .map(|own| Type::Domain(own, arguments.clone())),
        _ => None,
    };
    own.parameters.len() == theirs.parameters.len()
        && theirs.functions.iter().all(|&function| {
            let theirs = &library.domain_functions[function];
            own.functions.iter().map(|&id| &program.domain_functions[id]).any(|own| {
                own.name == theirs.name
                    && own.result == mapped(&theirs.result, &map)
                    && own
                        .formals
                        .iter()
                        .map(|(_, ty)| ty.clone())
                        .eq(theirs.formals.iter().map(|(_, ty)| mapped(ty, &map)))
            })
        })
}

/// Adds the domains that the program does not have.
fn add_missing(program: &mut Program, library: &Program) -> Found {
    let Found { mut domains, mut functions } = Found::default();
    let mut missing = Vec::new();
    for (id, theirs) in library.domains.iter() {
        // A domain that lacks what its name stands for is another domain.
        let own = domain(program, &theirs.name)
            .filter(|&own| is_usable(program, &program.domains[own], library, theirs));
        if let Some(own) = own {
            domains.insert(id, own);
            for &theirs_function in &theirs.functions {
                let name = &library.domain_functions[theirs_function].name;
                functions.extend(
                    function(program, &theirs.name, name).map(|own| (theirs_function, own)),
                );
            }
        } else {
            let empty = Domain { functions: Vec::new(), axioms: Vec::new(), ..theirs.clone() };
            domains.insert(id, program.domains.alloc(empty));
            missing.push(id);
        }
    }
    let map = |ty: &Type| match ty {
        Type::Domain(id, arguments) => Some(Type::Domain(domains[id], arguments.clone())),
        _ => None,
    };
    for &id in &missing {
        for &theirs in &library.domains[id].functions {
            let function = &library.domain_functions[theirs];
            let formals = function.formals.iter();
            let copy = DomainFunction {
                domain: domains[&id],
                formals: formals.map(|(name, ty)| (name.clone(), mapped(ty, &map))).collect(),
                result: mapped(&function.result, &map),
                ..function.clone()
            };
            let own = program.domain_functions.alloc(copy);
            functions.insert(theirs, own);
            program.domains[domains[&id]].functions.push(own);
        }
    }
    for id in missing {
        let axioms = library.domains[id].axioms.iter();
        program.domains[domains[&id]].axioms =
            axioms.map(|axiom| mapped_axiom(axiom, &map, &functions)).collect();
    }
    Found { domains, functions }
}

/// An order of a type with arguments, such as `SeqWellFoundedOrder[S]`, is used at each type that
/// occurs in a tuple: its axioms mention nothing else that would tell the instances in use.
fn add_instance(program: &mut Program, ty: &Type) {
    let (name, arguments): (String, Vec<Type>) = match ty {
        Type::Seq(element) => ("Seq".into(), vec![(**element).clone()]),
        Type::Set(element) => ("Set".into(), vec![(**element).clone()]),
        Type::Multiset(element) => ("MultiSet".into(), vec![(**element).clone()]),
        Type::Map(key, value) => ("Map".into(), vec![(**key).clone(), (**value).clone()]),
        Type::Domain(id, arguments) => (program.domains[*id].name.to_string(), arguments.to_vec()),
        _ => return,
    };
    let Some(id) = domain(program, &format!("{name}WellFoundedOrder")) else { return };
    let generic = &program.domains[id];
    if arguments.is_empty() || generic.parameters.len() != arguments.len() {
        return;
    }
    let values: FxHashMap<Name, Type> = generic.parameters.iter().cloned().zip(arguments).collect();
    let map = |ty: &Type| match ty {
        Type::Variable(name) => values.get(name).cloned(),
        _ => None,
    };
    let none = FxHashMap::default();
    let axioms = generic.axioms.iter().map(|axiom| mapped_axiom(axiom, &map, &none)).collect();
    let instance =
        Domain { parameters: Vec::new(), functions: Vec::new(), axioms, ..generic.clone() };
    program.domains.alloc(instance);
}

fn mapped_axiom(
    axiom: &Axiom,
    map: &dyn Fn(&Type) -> Option<Type>,
    functions: &FxHashMap<DomainFunctionId, DomainFunctionId>,
) -> Axiom {
    let mut locals = axiom.locals.clone();
    for (_, local) in locals.iter_mut() {
        local.ty = mapped(&local.ty, map);
    }
    Axiom { locals, body: mapped_expr(&axiom.body, map, functions), ..axiom.clone() }
}

fn mapped_expr(
    expr: &Expr,
    map: &dyn Fn(&Type) -> Option<Type>,
    functions: &FxHashMap<DomainFunctionId, DomainFunctionId>,
) -> Expr {
    let mut copy = expr.clone();
    copy.rewrite(&mut |part| {
        part.ty = mapped(&part.ty, map);
        // The library is not among the user's files.
        part.span = Span::default();
        if let ExprKind::DomainApply { function, instance, .. } = &mut part.kind {
            *function = functions.get(function).copied().unwrap_or(*function);
            for ty in instance {
                *ty = mapped(ty, map);
            }
        }
        true
    });
    copy
}

/// Returns the type with `map` applied where it has an answer, innermost first.
fn mapped(ty: &Type, map: &dyn Fn(&Type) -> Option<Type>) -> Type {
    let inside = match ty {
        Type::Seq(element) => Type::Seq(mapped(element, map).into()),
        Type::Set(element) => Type::Set(mapped(element, map).into()),
        Type::Multiset(element) => Type::Multiset(mapped(element, map).into()),
        Type::Map(key, value) => Type::Map(mapped(key, map).into(), mapped(value, map).into()),
        Type::Domain(id, arguments) => {
            Type::Domain(*id, arguments.iter().map(|ty| mapped(ty, map)).collect())
        }
        _ => ty.clone(),
    };
    map(&inside).unwrap_or(inside)
}

/// Tells whether a function maps a predicate to its instances: nothing is known of its values but
/// that they depend on the arguments and on the predicate's permissions.
///
/// SOUNDNESS: its name does not tell, as every program may have a function of that name, and one
/// that has a body, promises something or does not require the predicate makes one instance of
/// several (`termination/names_of_instances_are_free`).
fn is_of_instances(
    function: &Function,
    predicate: PredicateId,
    declared: &Predicate,
    ty: &Type,
) -> bool {
    let Function { locals, formals, result, contract, body, .. } = function;
    let types = |locals: &Locals, formals: &[LocalId]| -> Vec<Type> {
        formals.iter().map(|&formal| locals[formal].ty.clone()).collect()
    };
    let is_formal = |(argument, formal): (&Expr, &LocalId)| match &argument.kind {
        ExprKind::Local(local) => local == formal,
        _ => false,
    };
    let is_location = |held: &Expr| match &held.kind {
        ExprKind::Acc { location: Location::Predicate { predicate: held, arguments }, amount } => {
            *held == predicate
                && arguments.iter().zip(formals).all(is_formal)
                && matches!(amount.kind, ExprKind::Wildcard)
        }
        _ => false,
    };
    body.is_none()
        && result == ty
        && types(locals, formals) == types(&declared.locals, &declared.formals)
        && matches!(&contract.preconditions[..], [held] if is_location(held))
        && contract.postconditions.is_empty()
        && contract.decreases.is_empty()
}

/// Returns the functions from predicates to their instances, of type `ty`; added where they are
/// missing.
fn instances(program: &mut Program, ty: &Type) -> FxHashMap<PredicateId, FunctionId> {
    let mut functions = FxHashMap::default();
    for (id, predicate) in program.predicates.iter() {
        let name = predicate_instance::function_name(&predicate.name);
        // Where the program speaks of instances, there is one already.
        let declared = program.functions.iter().find(|(_, function)| {
            *function.name == *name && is_of_instances(function, id, predicate, ty)
        });
        if let Some((function, _)) = declared {
            functions.insert(id, function);
            continue;
        }
        let mut locals: Locals = Arena::new();
        let formals: Vec<_> = predicate
            .formals
            .iter()
            .map(|&formal| {
                let local = &predicate.locals[formal];
                locals.alloc(Local { kind: LocalKind::Formal, ..local.clone() })
            })
            .collect();
        let span = predicate.span;
        let arguments =
            formals.iter().map(|&it| build::local(it, locals[it].ty.clone(), span)).collect();
        let location = Location::Predicate { predicate: id, arguments };
        let amount = Box::new(Expr::new(ExprKind::Wildcard, Type::Perm, span));
        let held = Expr::new(ExprKind::Acc { location, amount }, Type::Bool, span);
        let function = Function {
            name: name.into(),
            locals,
            formals,
            result: ty.clone(),
            contract: Contract { preconditions: vec![held], ..Contract::default() },
            body: None,
            annotations: Vec::new(),
            span,
        };
        functions.insert(id, program.functions.alloc(function));
    }
    functions
}
