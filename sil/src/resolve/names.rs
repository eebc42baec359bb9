//! Global names: all members of all files share one name space.

use front::grow_stack;
use hints::spelling::Spelling;
use la_arena::{Idx, RawIdx};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostics::{Code, Diagnostic};
use crate::plugins::adt::all_fields;
use crate::program::{
    DomainFunctionId, DomainId, FieldId, FunctionId, MethodId, PredicateId, Type,
};
use crate::source::{Name, Span};
use crate::syntax::{self, Ident, MemberKind, TypeKind};

/// The meaning of a global name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Global {
    Field(FieldId),
    Predicate(PredicateId),
    Function(FunctionId),
    Domain(DomainId),
    DomainFunction(DomainFunctionId),
    Method(MethodId),
}

/// The result of [`Globals::find`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    Nothing,
    One(Global),
    Several,
}

/// The table of global names.
///
/// Ids are those that the members get when they are put into their arenas in source order.
#[derive(Debug, Default)]
pub(super) struct Globals {
    /// The first declaration of each name, and the first place of that name: the domains of adts
    /// come behind all else.
    names: FxHashMap<Name, (Global, Span)>,
    /// Further declarations, all of which were reported.
    others: FxHashMap<Name, Vec<Global>>,
    adts: FxHashSet<Name>,
    /// The type parameters of adts. The domains that adts become mention them all over.
    adt_parameters: FxHashSet<Name>,
    /// Where each domain is declared, from its first word to its last.
    domains: FxHashMap<Name, Vec<Span>>,
    /// Number of type parameters of each domain.
    arities: Vec<usize>,
    pub(super) spelling: Spelling,
}

impl Globals {
    /// Enters all members; reports names that are declared twice, at the later declaration.
    pub(super) fn declare(program: &syntax::Program, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut globals = Self::default();
        let mut counters = Counters::default();
        for member in &program.members {
            globals.declare_member(member, &mut counters, diagnostics);
        }
        globals.check_adts_and_parameters(program, diagnostics);
        globals
    }

    fn declare_member(
        &mut self,
        member: &syntax::Member,
        next: &mut Counters,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        match &member.kind {
            MemberKind::Fields(fields) => {
                for field in fields {
                    self.enter(&field.name, Global::Field(id(&mut next.fields)), diagnostics);
                }
            }
            MemberKind::Predicate(predicate) => {
                let global = Global::Predicate(id(&mut next.predicates));
                self.enter(&predicate.name, global, diagnostics);
            }
            MemberKind::Function(function) => {
                let global = Global::Function(id(&mut next.functions));
                self.enter(&function.name, global, diagnostics);
            }
            MemberKind::Method(method) => {
                self.enter(&method.name, Global::Method(id(&mut next.methods)), diagnostics);
            }
            MemberKind::Domain(domain) => {
                self.arities.push(domain.parameters.len());
                self.domains.entry(domain.name.name.clone()).or_default().push(member.span);
                self.enter(&domain.name, Global::Domain(id(&mut next.domains)), diagnostics);
                for function in &domain.functions {
                    let global = Global::DomainFunction(id(&mut next.domain_functions));
                    self.enter(&function.name, global, diagnostics);
                }
            }
            // Expanded before resolving; what is left over is reported by the caller.
            MemberKind::Program(_) | MemberKind::Import(_) | MemberKind::Define(_) => {}
            MemberKind::Adt(adt) => {
                self.adts.insert(adt.name.name.clone());
                let parameters = adt.parameters.iter().map(|parameter| parameter.name.clone());
                self.adt_parameters.extend(parameters);
            }
        }
    }

    fn enter(&mut self, ident: &Ident, global: Global, diagnostics: &mut Vec<Diagnostic>) {
        match self.names.get_mut(&ident.name) {
            Some((_, earlier)) => {
                let (first, second) = as_written(*earlier, ident.span);
                *earlier = first;
                diagnostics.push(duplicate_at(&ident.name, first, second));
                self.others.entry(ident.name.clone()).or_default().push(global);
            }
            None => {
                self.names.insert(ident.name.clone(), (global, ident.span));
            }
        }
    }

    /// A type parameter may not have the name of a member, and neither may what an adt brings
    /// along.
    fn check_adts_and_parameters(
        &self,
        program: &syntax::Program,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let adt_fields = fields_of_adts(program);
        for member in &program.members {
            if let MemberKind::Adt(adt) = &member.kind {
                self.check_discriminators(adt, &adt_fields, diagnostics);
                self.check_fields(adt, diagnostics);
            }
            let MemberKind::Domain(domain) = &member.kind else { continue };
            for (index, parameter) in domain.parameters.iter().enumerate() {
                let earlier = domain.parameters[..index]
                    .iter()
                    .find(|other| other.name == parameter.name)
                    .map(|other| other.span)
                    .or_else(|| self.span(&parameter.name));
                if let Some(earlier) = earlier {
                    diagnostics.push(duplicate(&parameter.name, earlier, parameter.span));
                }
            }
        }
    }

    /// An adt has each field once, and no field has the name of a member. Several adts may have
    /// one.
    fn check_fields(&self, adt: &syntax::Adt, diagnostics: &mut Vec<Diagnostic>) {
        let mut fields: FxHashMap<&Name, Span> = FxHashMap::default();
        for Ident { name, span } in all_fields(adt).map(|field| &field.name) {
            match fields.get(name).copied().or_else(|| self.span(name)) {
                Some(taken) => diagnostics.push(duplicate(name, taken, *span)),
                None => {
                    fields.insert(name, *span);
                }
            }
        }
    }

    /// `isC` may not be the name of a member or of a field of an adt, wherever that is declared.
    fn check_discriminators(
        &self,
        adt: &syntax::Adt,
        adt_fields: &FxHashMap<&Name, Span>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        for Ident { name, span } in adt.constructors.iter().map(|constructor| &constructor.name) {
            let name = Name::from(format!("is{name}"));
            if let Some(taken) = self.span(&name).or_else(|| adt_fields.get(&name).copied()) {
                diagnostics.push(duplicate_at(&name, taken, *span));
            }
        }
    }

    /// Tells whether an adt has this name.
    pub(super) fn is_adt(&self, name: &Name) -> bool {
        self.adts.contains(name)
    }

    /// Returns the domain of a name, if there is just one.
    pub(super) fn domain(&self, name: &Name) -> Option<DomainId> {
        match self.find(name, |global| matches!(global, Global::Domain(_))) {
            Found::One(Global::Domain(domain)) => Some(domain),
            _ => None,
        }
    }

    pub(super) fn get(&self, name: &Name) -> Option<Global> {
        self.names.get(name).map(|&(global, _)| global)
    }

    /// Finds the meaning of a name for a use that concerns members of some kinds. A name that a
    /// field shares with a function is an error, but its uses still concern one of them.
    pub(super) fn find(&self, name: &Name, is_wanted: impl Fn(Global) -> bool) -> Found {
        let others = self.others.get(name).into_iter().flatten().copied();
        let mut all = self.get(name).into_iter().chain(others).filter(|&global| is_wanted(global));
        match (all.next(), all.next()) {
            (None, _) => Found::Nothing,
            (Some(global), None) => Found::One(global),
            (Some(_), Some(_)) => Found::Several,
        }
    }

    /// Returns the end of a message about an unknown member: which of those of the wanted kinds is
    /// meant, as far as can be guessed.
    pub(super) fn question(&self, name: &Name, is_wanted: impl Fn(Global) -> bool) -> String {
        let all = self.names.iter().filter(|(_, (global, _))| is_wanted(*global));
        self.spelling.question(name, all.map(|(name, _)| &**name))
    }

    /// The same for an unknown type.
    fn question_of_type(&self, name: &Name, parameters: &[Name]) -> String {
        let domains = self.domains.keys().chain(parameters).map(|name| &**name);
        let question = self.spelling.question(name, domains.chain(TYPES));
        match &**name {
            _ if !question.is_empty() => question,
            "Array" | "array" => {
                "; there are no arrays; take a `Seq`, or a domain whose function gives the location of each index".into()
            }
            "Real" | "Rational" | "Float" | "Double" | "real" | "float" | "double" => {
                "; numbers are of type `Int`, and fractions of type `Perm`".into()
            }
            "String" | "string" | "Char" | "char" => "; there are no texts; declare a domain".into(),
            _ => format!("; a type is declared as in `domain {name} {{ }}`"),
        }
    }

    fn is_inside(&self, domain: &Name, span: Span) -> bool {
        self.domains.get(domain).into_iter().flatten().any(|around| {
            around.file == span.file && around.start <= span.start && span.end <= around.end
        })
    }

    /// Returns where a global name is declared.
    pub(super) fn span(&self, name: &Name) -> Option<Span> {
        self.names.get(name).map(|&(_, span)| span)
    }

    /// Returns the meaning of a written type. `parameters` are the type parameters in scope.
    ///
    /// An undeclared type is reported and becomes a type variable of its name: equal to itself and
    /// to nothing else.
    pub(super) fn resolve_type(
        &self,
        ty: &syntax::Type,
        parameters: &[Name],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Type {
        let mut part =
            |ty: &syntax::Type| grow_stack(|| self.resolve_type(ty, parameters, &mut *diagnostics));
        match &ty.kind {
            TypeKind::Int => Type::Int,
            TypeKind::Bool => Type::Bool,
            TypeKind::Perm => Type::Perm,
            TypeKind::Ref => Type::Ref,
            TypeKind::Seq(element) => Type::Seq(part(element).into()),
            TypeKind::Set(element) => Type::Set(part(element).into()),
            TypeKind::Multiset(element) => Type::Multiset(part(element).into()),
            TypeKind::Map(key, value) => Type::Map(part(key).into(), part(value).into()),
            TypeKind::Named { name, arguments } => {
                let resolved: Vec<_> = arguments.iter().map(part).collect();
                self.named_type(ty.span, name, resolved, parameters, diagnostics)
            }
            TypeKind::MacroCall { name, .. } => {
                let message = format!("`{}` is not a macro for a type", name.name);
                diagnostics.push(Diagnostic::new(Code::TypecheckerError, ty.span, message));
                Type::Variable(name.name.clone())
            }
        }
    }

    fn named_type(
        &self,
        span: Span,
        name: &Ident,
        arguments: Vec<Type>,
        parameters: &[Name],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Type {
        let mut report = |message: String| {
            diagnostics.push(Diagnostic::new(Code::TypecheckerError, span, message));
        };
        if parameters.contains(&name.name) {
            if !arguments.is_empty() {
                report(format!("the type parameter `{}` takes no arguments", name.name));
            }
            let is_domain = |global| matches!(global, Global::Domain(_));
            if !self.adt_parameters.contains(&name.name)
                && self.find(&name.name, is_domain) != Found::Nothing
            {
                report(format!("ambiguous type `{}`", name.name));
            }
            return Type::Variable(name.name.clone());
        }
        match self.find(&name.name, |global| matches!(global, Global::Domain(_))) {
            Found::One(Global::Domain(domain)) => {
                let expected = self.arities[domain.into_raw().into_u32() as usize];
                if arguments.len() == expected {
                    return Type::Domain(domain, arguments.into());
                }
                report(format!(
                    "wrong number of type arguments: `{}` has {expected} type parameters, but {} are given",
                    name.name,
                    arguments.len()
                ));
            }
            // The domain that an adt becomes mentions itself all over.
            Found::Several if self.adts.contains(&name.name) => {}
            // Inside of a domain its name means that domain.
            Found::Several if self.is_inside(&name.name, span) => {}
            Found::Several => report(format!("ambiguous type `{}`", name.name)),
            _ if self.get(&name.name).is_some() => {
                report(format!("`{}` is not a type", name.name));
            }
            _ => report(format!(
                "undeclared type `{}`{}",
                name.name,
                self.question_of_type(&name.name, parameters)
            )),
        }
        Type::Variable(name.name.clone())
    }
}

/// The types that every program has.
const TYPES: [&str; 8] = ["Bool", "Int", "Map", "Multiset", "Perm", "Ref", "Seq", "Set"];

/// How many members of each kind have been seen.
#[derive(Default)]
struct Counters {
    fields: u32,
    predicates: u32,
    functions: u32,
    methods: u32,
    domains: u32,
    domain_functions: u32,
}

/// Returns the next id of a kind.
fn id<T>(counter: &mut u32) -> Idx<T> {
    let id = Idx::from_raw(RawIdx::from_u32(*counter));
    *counter += 1;
    id
}

/// Returns the fields of all constructors of all adts, and where each is declared first.
fn fields_of_adts(program: &syntax::Program) -> FxHashMap<&Name, Span> {
    let mut fields = FxHashMap::default();
    for member in &program.members {
        let MemberKind::Adt(adt) = &member.kind else { continue };
        for field in adt.constructors.iter().flat_map(|constructor| &constructor.formals) {
            fields.entry(&field.name.name).or_insert(field.name.span);
        }
    }
    fields
}

/// Returns the two in the order of the text. Of two files the one of `earlier` was read first.
fn as_written(earlier: Span, later: Span) -> (Span, Span) {
    let is_swapped = earlier.file == later.file && later.start < earlier.start;
    if is_swapped { (later, earlier) } else { (earlier, later) }
}

/// Returns the error for a name declared twice, at the declaration that comes later in the text: it
/// may be the global one of a name that is declared locally before.
pub(super) fn duplicate(name: &Name, earlier: Span, later: Span) -> Diagnostic {
    let (first, second) = as_written(earlier, later);
    duplicate_at(name, first, second)
}

/// Returns the error for a name declared twice, reported at `second`.
fn duplicate_at(name: &Name, first: Span, second: Span) -> Diagnostic {
    Diagnostic::new(Code::TypecheckerError, second, format!("duplicate identifier `{name}`"))
        .with_related(first, format!("`{name}` is first declared here"))
}
