//! Algebraic data types, as domains.
//!
//! Beside each adt, a domain of its name is put into the program, with the constructors,
//! destructors and the tag as functions; the resolver reads the adt itself only to find what `e.f`
//! and `e.isC` mean. Two more things are added on request: `contains` relations ([`contains`]) and
//! a well-founded order for termination checks ([`order`]).
//!
//! Invariants
//! - All axioms hold of finite trees, so they are consistent whatever the adt, as long as it has a
//!   finite value. Where it has none they hold of infinite trees, and there is no order
//!   ([`finite`]).
//! - Generated functions and variables have a `$` in their names; axioms have no names.
//!
//! Differs from the reference: exhaustiveness is triggered by every destructor, not only by those
//! of the last constructor; nested destructors in orders are guarded by the constructor they belong
//! to.

mod contains;
mod finite;
mod order;
mod tree;

use indexmap::IndexMap;
use rustc_hash::FxHashSet;

use crate::build::{and, call, call_as, eq, implies, int, or, var};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::{Name, Sources, Span};
use crate::syntax::{
    Adt, Axiom, Constructor, Domain, DomainFunction, Expr, Ident, Member, MemberKind, Program,
    Type, TypeKind, TypedName,
};

use tree::{axiom, forall, placed, substitute};

/// Returns the name of the function that tells the constructors of an adt apart.
pub fn tag_name(adt: &str) -> String {
    format!("{adt}$tag")
}

/// Returns the name of the function that `e.field` applies.
pub fn destructor_name(adt: &str, field: &str) -> String {
    format!("{adt}$get${field}")
}

/// Returns the tag of a constructor: its place in the sorted list of its adt's constructors.
pub fn tag(adt: &Adt, constructor: &str) -> usize {
    adt.constructors.iter().filter(|other| *other.name.name < *constructor).count()
}

/// Adds the domains that encode the adts of the program.
pub(super) fn desugar(
    program: &mut Program,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let adts = Adts::of(program);
    if adts.0.is_empty() {
        return;
    }
    // Where a name is declared twice the resolver reports it, and what axioms would say helps
    // nobody.
    let with_order =
        order::is_wanted(program, sources, diagnostics) && !adts.0.values().any(repeats_a_name);
    let with_contains = contains::is_imported(program);
    let mut added = Vec::new();
    let mut add = |domain: Domain| {
        let span = domain.name.span;
        let kind = MemberKind::Domain(domain);
        added.push(Member { annotations: Vec::new(), span, kind });
    };
    check_constructors(program, diagnostics);
    for adt in adts.0.values() {
        let mut domain = encode(adt);
        if with_contains {
            contains::derive(adt, &adts, &mut domain.axioms, diagnostics);
        }
        let orders = with_order && !order::is_declared(program, adt);
        let order = orders.then(|| order::domain(adt, &adts));
        std::iter::once(domain).chain(order).for_each(&mut add);
    }
    if with_contains {
        contains::of_written_types(program, &adts).into_iter().for_each(add);
    }
    program.members.extend(added);
}

/// The adts of a program by name. A second one of a name is left to the resolver, which reports it.
struct Adts(IndexMap<Name, Adt>);

impl Adts {
    fn of(program: &Program) -> Self {
        let mut adts = IndexMap::new();
        for member in &program.members {
            if let MemberKind::Adt(adt) = &member.kind {
                let name = adt.name.name.clone();
                if adts.contains_key(&name) {
                    // Under a key that nothing refers to, so that its domain clashes with the
                    // first.
                    adts.insert(format!("{name}${}", adts.len()).into(), adt.clone());
                } else {
                    adts.insert(name, adt.clone());
                }
            }
        }
        Self(adts)
    }

    /// Returns the adt that `ty` is an instance of, and what its parameters stand for.
    fn instance(&self, ty: &Type) -> Option<(&Adt, IndexMap<Name, Type>)> {
        let TypeKind::Named { name, arguments } = &ty.kind else { return None };
        let adt = self.0.get(&name.name)?;
        let parameters = adt.parameters.iter().map(|parameter| parameter.name.clone());
        (arguments.len() == adt.parameters.len())
            .then(|| (adt, parameters.zip(arguments.iter().cloned()).collect()))
    }
}

/// Returns the types of a constructor's arguments, as the adt's declaration has them, all at one
/// place.
fn argument_types(constructor: &Constructor, span: Span) -> Vec<Type> {
    let types = constructor.formals.iter();
    types.map(|formal| substitute(&formal.ty, &IndexMap::new(), span)).collect()
}

/// `A[T, …]`.
fn self_type(adt: &Adt) -> Type {
    let arguments = adt.parameters.iter().map(|parameter| Type::named(&parameter.name, []));
    let ty = Type::named(&adt.name.name, arguments);
    substitute(&ty, &IndexMap::new(), adt.name.span)
}

/// Every adt has a constructor: without one it has no value.
fn check_constructors(program: &Program, diagnostics: &mut Vec<Diagnostic>) {
    for member in &program.members {
        if let MemberKind::Adt(adt) = &member.kind
            && adt.constructors.is_empty()
        {
            let message = format!("the adt `{}` needs a constructor", adt.name.name);
            diagnostics.push(Diagnostic::new(Code::ConsistencyError, member.span, message));
        }
    }
}

fn encode(adt: &Adt) -> Domain {
    let span = adt.name.span;
    let ident = |name: &str| Ident { name: name.into(), span };
    let ty = self_type(adt);
    let mut functions = Vec::new();
    let mut axioms = Vec::new();
    for constructor in &adt.constructors {
        let formals = constructor.formals.iter();
        let formals =
            formals.map(|formal| (Some(formal.name.clone()), formal.ty.clone())).collect();
        let function = function(constructor.name.clone(), formals, ty.clone());
        // Where a name is declared twice there are no axioms.
        let is_constructor = !repeats_a_name(adt);
        functions.push(DomainFunction { is_constructor, ..function });
    }
    let receiver = (Some(ident("t$")), ty.clone());
    for formal in fields(adt) {
        let name = destructor_name(&adt.name.name, &formal.name.name).into();
        let name = Ident { name, span: formal.name.span };
        functions.push(function(name, vec![receiver.clone()], formal.ty.clone()));
    }
    let tag = ident(&tag_name(&adt.name.name));
    functions.push(function(tag, vec![receiver], Type { kind: TypeKind::Int, span }));
    if !repeats_a_name(adt) {
        for constructor in &adt.constructors {
            let body = placed(injective_and_tagged(adt, constructor), constructor.name.span);
            axioms.push(axiom(body, span));
        }
        axioms.push(axiom(exhaustive(adt), span));
    }
    Domain {
        name: adt.name.clone(),
        parameters: adt.parameters.clone(),
        interpretations: Vec::new(),
        functions,
        axioms,
    }
}

/// Returns the fields of an adt, each name once.
fn fields(adt: &Adt) -> impl Iterator<Item = &TypedName> {
    let mut names = FxHashSet::default();
    all_fields(adt).filter(move |field| names.insert(&field.name.name))
}

/// Returns the fields of an adt, those of a second constructor of one name left out.
pub(crate) fn all_fields(adt: &Adt) -> impl Iterator<Item = &TypedName> {
    let mut constructors = FxHashSet::default();
    adt.constructors
        .iter()
        .filter(move |constructor| constructors.insert(&constructor.name.name))
        .flat_map(|constructor| &constructor.formals)
}

/// Tells whether two constructors or two fields have one name.
fn repeats_a_name(adt: &Adt) -> bool {
    let mut names = FxHashSet::default();
    let mut all = adt.constructors.iter().map(|constructor| &constructor.name.name);
    !all.all(|name| names.insert(name)) || fields(adt).count() != all_fields(adt).count()
}

fn function(name: Ident, formals: Vec<(Option<Ident>, Type)>, result: Type) -> DomainFunction {
    let span = name.span;
    DomainFunction {
        annotations: Vec::new(),
        name,
        unique: false,
        is_constructor: false,
        formals,
        result,
        interpretation: None,
        span,
    }
}

/// `C(args)` with fresh variables for the arguments.
struct Application {
    variables: Vec<(Name, Type)>,
    term: Expr,
}

fn application(adt: &Adt, constructor: &Constructor) -> Application {
    let span = constructor.name.span;
    // Where they are written, so that what is wrong with them is reported once.
    let types: Vec<_> = constructor.formals.iter().map(|formal| formal.ty.clone()).collect();
    let names = (0..types.len()).map(|index| Name::from(format!("a${index}")));
    let variables: Vec<_> = names.zip(types).collect();
    let arguments = variables.iter().map(|(name, _)| var(name));
    let ty = substitute(&self_type(adt), &IndexMap::new(), span);
    let term = placed(call_as(&constructor.name.name, arguments, ty), span);
    Application { variables, term }
}

/// For all args: the destructors give the arguments of `C(args)` back, and its tag is that of C.
fn injective_and_tagged(adt: &Adt, constructor: &Constructor) -> Expr {
    let Application { variables, term } = application(adt, constructor);
    let number = tag(adt, &constructor.name.name);
    let tag = call(&tag_name(&adt.name.name), [term.clone()]);
    let mut facts = vec![eq(tag, int(number))];
    for (formal, (variable, _)) in constructor.formals.iter().zip(&variables) {
        let destructor = destructor_name(&adt.name.name, &formal.name.name);
        facts.push(eq(call(&destructor, [term.clone()]), var(variable)));
    }
    forall(&variables, vec![vec![term]], and(facts))
}

/// Every value is made by a constructor, from what its destructors say.
fn exhaustive(adt: &Adt) -> Expr {
    let mut triggers = vec![vec![call(&tag_name(&adt.name.name), [var("t$")])]];
    let mut cases = Vec::new();
    for constructor in &adt.constructors {
        let destructors = constructor.formals.iter().map(|formal| {
            let name = destructor_name(&adt.name.name, &formal.name.name);
            call(&name, [var("t$")])
        });
        let destructors: Vec<_> = destructors.collect();
        triggers.extend(destructors.iter().map(|destructor| vec![destructor.clone()]));
        let made = call_as(&constructor.name.name, destructors, self_type(adt));
        cases.push(eq(var("t$"), made));
    }
    forall(&[("t$".into(), self_type(adt))], triggers, or(cases))
}

/// An error in an adt's declaration.
fn error(diagnostics: &mut Vec<Diagnostic>, span: Span, message: String) {
    diagnostics.push(Diagnostic::new(Code::TypecheckerError, span, message));
}

/// `relation(a, b) && relation(b, c) ==> relation(a, c)`.
fn transitive(relation: &str, types: [Type; 3], span: Span) -> Axiom {
    let names = ["a$", "b$", "c$"];
    let variables: Vec<_> = names.map(Name::from).into_iter().zip(types).collect();
    let related = |left: &str, right: &str| call(relation, [var(left), var(right)]);
    let steps = vec![related("a$", "b$"), related("b$", "c$")];
    let body = implies(and(steps.clone()), related("a$", "c$"));
    axiom(forall(&variables, vec![steps], body), span)
}
