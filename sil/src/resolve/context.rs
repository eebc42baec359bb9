//! The state of resolving one member, and what may be used where.

use indexmap::IndexMap;
use la_arena::{Arena, ArenaMap, RawIdx};
use rustc_hash::FxHashMap;

use super::adts::Selectors;
use super::inference::Inference;
use super::names::{Found, Global, Globals, duplicate};
use super::scope::{Entry, Scopes};
use super::unify::Ty;
use crate::diagnostics::{Code, Diagnostic};
use crate::macros::parts;
use crate::program::{
    Annotation, DomainId, FunctionId, Label, LabelId, Local, LocalId, LocalKind, Origin, Origins,
    PredicateId, Program, Type,
};
use crate::source::{Name, OriginId, Span};
use crate::syntax::{self, Ident, TypedName};

/// Where `perm` and `forperm` may stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Introspection {
    Anywhere,
    /// In preconditions, postconditions and loop invariants.
    InsideInhaleExhale,
    /// In postconditions of functions.
    Nowhere,
}

/// The forms that the expression at hand may mention.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The type of `result`, in postconditions of functions.
    pub(super) result: Option<Type>,
    pub(super) introspection: Introspection,
    /// Not in preconditions of functions and in bodies of predicates.
    pub(super) wands: bool,
    /// Inside this domain's axioms.
    pub(super) axiom_of: Option<DomainId>,
}

impl Place {
    /// Where everything but `result` is allowed.
    pub(super) const BODY: Self =
        Self { result: None, introspection: Introspection::Anywhere, wands: true, axiom_of: None };

    /// A clause of a method's contract, or a loop invariant.
    pub(super) const CONTRACT: Self =
        Self { introspection: Introspection::InsideInhaleExhale, ..Self::BODY };
}

/// The facts about members whose bodies and contracts are not resolved yet.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) has_body: ArenaMap<PredicateId, bool>,
    pub(super) has_precondition: ArenaMap<FunctionId, bool>,
}

/// The data that all members share and add to.
pub(super) struct Shared<'a> {
    pub(super) globals: &'a Globals,
    pub(super) selectors: &'a Selectors,
    /// All signatures; bodies and contracts are still empty.
    pub(super) program: &'a Program,
    pub(super) diagnostics: &'a mut Vec<Diagnostic>,
    /// The local names of the member at hand that are taken by members.
    pub(super) taken: IndexMap<Name, Taken>,
    /// The facts about bodies that are not resolved yet.
    pub(super) facts: &'a Facts,
    pub(super) warnings: &'a mut Vec<Diagnostic>,
    /// Errors about labels, which count only if there are no type errors.
    pub(super) label_errors: &'a mut Vec<Diagnostic>,
    pub(super) origins: &'a mut Origins,
}

/// A member's name that is declared locally, too.
pub(super) struct Taken {
    by: Span,
    /// The last of the local declarations.
    local: Span,
}

impl Shared<'_> {
    /// Reports the names of the member at hand that are taken, each once however often it is
    /// declared.
    pub(super) fn report_taken(&mut self) {
        let reports = self.taken.drain(..).map(|(name, it)| duplicate(&name, it.by, it.local));
        self.diagnostics.extend(reports);
    }
}

/// Resolves one member.
pub(super) struct Resolver<'a, 's> {
    pub(super) shared: &'a mut Shared<'s>,
    pub(super) place: Place,
    /// The origin of the innermost annotated node around the node at hand.
    pub(super) origin: OriginId,
    /// Type parameters in scope.
    pub(super) parameters: &'s [Name],
    pub(super) locals: Arena<Local>,
    /// The type of each local; it has holes while the value of a `let` is being inferred.
    pub(super) types: Vec<Ty>,
    pub(super) scopes: Scopes,
    pub(super) labels: Arena<Label>,
    pub(super) label_names: FxHashMap<Name, LabelId>,
    /// The node at hand belongs to an implementation and not to a contract.
    pub(super) in_body: bool,
    pub(super) inference: Inference,
    /// How many names for auxiliary variables have been tried.
    pub(super) auxiliaries: u32,
}

impl<'a, 's> Resolver<'a, 's> {
    /// For a member or axiom at `span`; formals and results are in its `locals` already.
    pub(super) fn new(shared: &'a mut Shared<'s>, span: Span, locals: Arena<Local>) -> Self {
        let types = locals.values().map(|local| Ty::of(&local.ty)).collect();
        Self {
            shared,
            place: Place::BODY,
            origin: span.origin,
            parameters: &[],
            locals,
            types,
            scopes: Scopes::default(),
            labels: Arena::new(),
            label_names: FxHashMap::default(),
            in_body: false,
            inference: Inference::default(),
            auxiliaries: 0,
        }
    }

    /// Makes parameters or results, which are locals already, visible by name.
    pub(super) fn declare_formals(&mut self, formals: &[LocalId]) {
        if !self.scopes.is_open() {
            self.scopes.open();
        }
        for &formal in formals {
            let Local { name, span, ty, .. } = self.locals[formal].clone();
            self.types[raw(formal)] = self.known(&ty);
            self.declare_name(&name, Entry::Local(formal), span);
        }
    }

    pub(super) fn error(&mut self, span: Span, message: impl Into<String>) {
        let span = self.at(span);
        self.shared.diagnostics.push(Diagnostic::new(Code::TypecheckerError, span, message));
    }

    /// Returns the span with the origin of the node at hand.
    pub(super) fn at(&self, span: Span) -> Span {
        Span { origin: self.origin, ..span }
    }

    /// Enters an annotated node: its source annotations become the origin of the nodes below it.
    ///
    /// Returns the other annotations, and the origin to go back to at the end of the node.
    pub(super) fn enter(&mut self, annotations: &[Annotation]) -> (Vec<Annotation>, OriginId) {
        let outer = self.origin;
        let rest = split_annotations(annotations, &mut self.origin, self.shared.origins);
        (rest, outer)
    }

    pub(super) fn resolve_type(&mut self, ty: &syntax::Type) -> Type {
        self.shared.globals.resolve_type(ty, self.parameters, self.shared.diagnostics)
    }

    /// Adds a local and gives its name to the innermost scope.
    pub(super) fn declare_local(&mut self, name: &TypedName, kind: LocalKind) -> LocalId {
        let ty = self.resolve_type(&name.ty);
        let id = self.add_local(&name.name.name, ty, kind, name.name.span);
        self.declare_name(&name.name.name, Entry::Local(id), name.name.span);
        id
    }

    /// Adds a `let` variable, whose type is still being inferred.
    pub(super) fn declare_let(&mut self, name: &Ident, ty: Ty) -> LocalId {
        let id = self.add_local(&name.name, Type::Int, LocalKind::Let, name.span);
        self.types[raw(id)] = ty;
        self.declare_name(&name.name, Entry::Local(id), name.span);
        id
    }

    /// Adds a local without giving its name to a scope.
    pub(super) fn add_local(
        &mut self,
        name: &Name,
        ty: Type,
        kind: LocalKind,
        span: Span,
    ) -> LocalId {
        self.types.push(self.known(&ty));
        let span = self.at(span);
        self.locals.alloc(Local { name: name.clone(), ty, kind, span })
    }

    /// Returns a declared type. One that is not declared fits everywhere: it has been reported, so
    /// that nothing wrong is accepted.
    fn known(&self, ty: &Type) -> Ty {
        let is_reported = !self.shared.diagnostics.is_empty();
        match ty {
            Type::Variable(name) if is_reported && !self.parameters.contains(name) => Ty::Error,
            _ => Ty::of(ty),
        }
    }

    /// Gives `name` to the innermost scope; reports if the name is taken.
    pub(super) fn declare_name(&mut self, name: &Name, entry: Entry, span: Span) {
        if let Some(first) = self.shared.globals.span(name) {
            // Labels are declared before what stands above them.
            let known = self.shared.taken.entry(name.clone());
            let known = known.or_insert(Taken { by: first, local: span });
            if known.local.start < span.start {
                known.local = span;
            }
        }
        if let Err(clash) = self.scopes.declare(name, entry, span) {
            self.shared.diagnostics.push(duplicate(name, clash.first, clash.second));
        }
    }

    /// Returns the type of a local, perhaps with holes.
    pub(super) fn local_type(&self, local: LocalId) -> &Ty {
        &self.types[raw(local)]
    }

    /// Returns the label of a name. An undeclared one is a consistency error, unless type errors
    /// come first; outside of bodies no label may be used at all, which is for the consistency
    /// checks to say.
    ///
    /// The error is reported at `user`, the statement or `old` that mentions the label.
    pub(super) fn label(&mut self, ident: &Ident, user: Span) -> LabelId {
        if let Some(&label) = self.label_names.get(&ident.name) {
            return label;
        }
        let span = self.at(ident.span);
        if self.in_body {
            let question = self.question_of_label(&ident.name);
            let message = format!("undeclared label `{}`{question}", ident.name);
            let error = Diagnostic::new(Code::ConsistencyError, self.at(user), message)
                .with_related(span, "no label of this method has this name");
            self.shared.label_errors.push(error);
        }
        self.labels.alloc(Label { name: ident.name.clone(), span })
    }

    /// Returns the end of a message about an unknown label or block.
    pub(super) fn question_of_label(&self, name: &Name) -> String {
        let labels = self.label_names.keys().map(|name| &**name);
        self.shared.globals.spelling.question(name, labels)
    }

    /// Returns the field, or fields, of a name.
    pub(super) fn field_named(&self, ident: &Ident) -> Found {
        self.shared.globals.find(&ident.name, |global| matches!(global, Global::Field(_)))
    }

    /// Returns the method, or methods, of a name.
    pub(super) fn method_named(&self, ident: &Ident) -> Found {
        self.shared.globals.find(&ident.name, |global| matches!(global, Global::Method(_)))
    }

    /// Returns the member that a name means in calls and types.
    pub(super) fn global(&self, name: &Name) -> Option<Global> {
        self.shared.globals.get(name)
    }
}

/// Returns the index of a local in the tables beside its arena.
pub(super) fn raw(local: LocalId) -> usize {
    RawIdx::into_u32(local.into_raw()) as usize
}

/// Moves the source annotations of a node into the table of origins and makes `origin` that entry.
///
/// Returns the annotations that stay on the node.
pub(super) fn split_annotations(
    annotations: &[Annotation],
    origin: &mut OriginId,
    origins: &mut Origins,
) -> Vec<Annotation> {
    let is_source = |annotation: &&Annotation| annotation.key.starts_with("src.");
    let source: Vec<_> = annotations.iter().filter(is_source).cloned().collect();
    if !source.is_empty() {
        origins.is_annotated |= !source.iter().all(parts::is_of_macros);
        for annotation in &source {
            match (&*annotation.key, &annotation.values[..]) {
                ("src.file", [key, path]) => {
                    origins.files.insert(key.clone(), path.clone());
                }
                ("src.receivers", _) => origins.tells_null_receivers = true,
                ("src.trusted", [text]) => origins.trusted.push(crate::source::map::unescape(text)),
                _ => {}
            }
        }
        origins.entries.push(Origin { parent: *origin, annotations: source });
        *origin = OriginId(origins.entries.len() as u32);
    }
    annotations.iter().filter(|annotation| !is_source(annotation)).cloned().collect()
}
