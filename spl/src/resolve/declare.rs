//! The first round: what structs, datatypes, procedures and so on there are.
//!
//! Types, contracts and bodies are filled in later; until then they are unknown or empty.

use la_arena::Arena;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Alias, AliasState, Macro, Named};
use crate::diagnostic::{Code, Diagnostic};
use crate::options::Options;
use crate::program::{
    Constructor, Datatype, Declaration, Destructor, Dialect, Field, Function, Global, Local,
    LocalKind, Predicate, Procedure, ProcedureKind, Program, Sort, Struct, Type,
};
use crate::source::Span;
use crate::syntax::{self, DeclarationKind, Ident, Signature};

/// The results of the first round.
pub(super) struct Declared<'s> {
    pub(super) program: Program,
    pub(super) names: FxHashMap<&'s str, Named>,
    pub(super) macros: Vec<Macro<'s>>,
    pub(super) aliases: Vec<Alias<'s>>,
    /// The work of the second round: each thing with the declaration that has its body, or else its
    /// first declaration.
    pub(super) items: Vec<Item<'s>>,
    /// Names of types that are defined somewhere, so that `type t` only announces them.
    defined: FxHashSet<&'s str>,
}

/// A declaration and what it declares.
pub(super) type Item<'s> = (&'s syntax::Declaration, Option<Declaration>);

/// Names that are built in and cannot be declared.
pub(super) const BUILT_IN: [&str; 7] =
    ["acc", "old", "known", "Btwn", "Reach", "Frame", "Disjoint"];

/// Collects the declarations.
///
/// # Errors
/// The first clash of names.
pub(super) fn declare(
    syntax: &syntax::Program,
    dialect: Dialect,
    options: Options,
) -> Result<Declared<'_>, Diagnostic> {
    let mut declared = Declared {
        program: empty_program(dialect, options),
        names: FxHashMap::default(),
        macros: Vec::new(),
        aliases: Vec::new(),
        items: Vec::new(),
        defined: FxHashSet::default(),
    };
    let mut headers = FxHashMap::default();
    declared.defined = syntax.declarations.iter().filter_map(defined_type).collect();
    for declaration in &syntax.declarations {
        declared.declare(declaration, &mut headers)?;
    }
    declared.program.declarations = declared.items.iter().filter_map(|(_, id)| *id).collect();
    Ok(declared)
}

fn empty_program(dialect: Dialect, options: Options) -> Program {
    Program {
        dialect,
        options,
        structs: Arena::new(),
        fields: Arena::new(),
        globals: Arena::new(),
        sorts: Arena::new(),
        datatypes: Arena::new(),
        constructors: Arena::new(),
        destructors: Arena::new(),
        procedures: Arena::new(),
        predicates: Arena::new(),
        functions: Arena::new(),
        axioms: Vec::new(),
        locals: Arena::new(),
        declarations: Vec::new(),
    }
}

/// Where in [`Declared::items`] a name is declared that may be declared again.
type Headers<'s> = FxHashMap<&'s str, usize>;

impl<'s> Declared<'s> {
    fn declare(
        &mut self,
        declaration: &'s syntax::Declaration,
        headers: &mut Headers<'s>,
    ) -> Result<(), Diagnostic> {
        let span = declaration.span;
        if let Some(signature) = signature(declaration)
            && let Some(&first) = headers.get(signature.name.name.as_str())
        {
            return self.redeclare(first, declaration, signature);
        }
        let id = match &declaration.kind {
            DeclarationKind::Include(_) | DeclarationKind::Options(_) => return Ok(()),
            DeclarationKind::Axiom(_) => {
                let axioms =
                    self.items.iter().filter(|(_, id)| matches!(id, Some(Declaration::Axiom(_))));
                Some(Declaration::Axiom(axioms.count()))
            }
            DeclarationKind::Type { name, value: Some(value) } => {
                self.name(name, Named::Alias(self.aliases.len()))?;
                self.aliases.push(Alias { name, value, state: AliasState::Open });
                None
            }
            DeclarationKind::Type { name, value: None } => {
                if !self.defined.insert(&name.name) {
                    return Ok(());
                }
                let sort = Sort { name: name.name.clone(), span, name_span: name.span };
                let id = self.program.sorts.alloc(sort);
                self.name(name, Named::Sort(id))?;
                Some(Declaration::Sort(id))
            }
            DeclarationKind::Datatype { name, constructors } => {
                Some(self.datatype(name, constructors, span)?)
            }
            DeclarationKind::Struct { name, fields } => Some(self.structure(name, fields, span)?),
            DeclarationKind::Global(global) => {
                let name = &global.formal.name;
                let id = self.program.globals.alloc(Global {
                    name: name.name.clone(),
                    ty: Type::Unknown,
                    is_ghost: global.is_ghost,
                    span,
                    name_span: name.span,
                });
                self.name(name, Named::Global(id))?;
                Some(Declaration::Global(id))
            }
            DeclarationKind::Macro { name, parameters, body } => {
                distinct(parameters.iter())?;
                self.name(name, Named::Macro(self.macros.len()))?;
                self.macros.push(Macro { name, parameters, body });
                None
            }
            DeclarationKind::Const(formal) => Some(self.function(&formal.name, span)?),
            DeclarationKind::Function { signature, .. } => {
                distinct(names(signature))?;
                if signature.results.len() != 1 {
                    let message = format!("`{}` needs exactly one result", signature.name.name);
                    return Err(clash(message, signature.name.span));
                }
                Some(self.function(&signature.name, span)?)
            }
            DeclarationKind::Procedure { kind, signature, .. } => {
                distinct(names(signature))?;
                Some(self.procedure(*kind, &signature.name, span)?)
            }
            DeclarationKind::Predicate { is_pure, signature, .. } => {
                distinct(names(signature))?;
                Some(self.predicate(*is_pure, &signature.name, span)?)
            }
        };
        if let Some(signature) = signature(declaration) {
            headers.insert(&signature.name.name, self.items.len());
        }
        self.items.push((declaration, id));
        Ok(())
    }

    /// A global name; those of types, fields, procedures and so on are one name space.
    fn name(&mut self, name: &'s Ident, named: Named) -> Result<(), Diagnostic> {
        if BUILT_IN.contains(&name.name.as_str()) {
            let message = format!("`{}` is built in and cannot be declared", name.name);
            return Err(clash(message, name.span));
        }
        match self.names.insert(&name.name, named) {
            None => Ok(()),
            Some(other) => {
                let message =
                    format!("`{}` is declared twice: it is {} already", name.name, other.noun());
                Err(clash(message, name.span))
            }
        }
    }

    /// A second declaration of a procedure, predicate or function: a header for it, or the body of
    /// an earlier one.
    fn redeclare(
        &mut self,
        first: usize,
        second: &'s syntax::Declaration,
        signature: &Signature,
    ) -> Result<(), Diagnostic> {
        let (declaration, id) = self.items[first];
        let name = &signature.name;
        if !is_same_header(declaration, second) {
            let message = format!("`{}` is declared again, but not in the same way", name.name);
            let clash = clash(message, name.span);
            return Err(clash.with_related(declaration.span, "declared here"));
        }
        if !has_body(second) {
            return Ok(());
        }
        if has_body(declaration) {
            let clash = clash(format!("`{}` has two bodies", name.name), name.span);
            return Err(clash.with_related(declaration.span, "the other is here"));
        }
        // Places are those of the declaration with the body.
        let (span, name_span) = (second.span, name.span);
        match id {
            Some(Declaration::Procedure(id)) => {
                let procedure = &mut self.program.procedures[id];
                (procedure.span, procedure.name_span) = (span, name_span);
            }
            Some(Declaration::Predicate(id)) => {
                let predicate = &mut self.program.predicates[id];
                (predicate.span, predicate.name_span) = (span, name_span);
            }
            Some(Declaration::Function(id)) => {
                let function = &mut self.program.functions[id];
                (function.span, function.name_span) = (span, name_span);
            }
            _ => {}
        }
        self.items[first].0 = second;
        Ok(())
    }

    fn datatype(
        &mut self,
        name: &'s Ident,
        constructors: &'s [syntax::Constructor],
        span: Span,
    ) -> Result<Declaration, Diagnostic> {
        let id = self.program.datatypes.alloc(Datatype {
            name: name.name.clone(),
            constructors: Vec::new(),
            span,
            name_span: name.span,
        });
        self.name(name, Named::Datatype(id))?;
        for constructor in constructors {
            let constructor_id = self.program.constructors.alloc(Constructor {
                name: constructor.name.name.clone(),
                datatype: id,
                destructors: Vec::new(),
                span: constructor.name.span,
            });
            self.name(&constructor.name, Named::Constructor(constructor_id))?;
            self.program.datatypes[id].constructors.push(constructor_id);
            for field in &constructor.fields {
                let destructor_id = self.program.destructors.alloc(Destructor {
                    name: field.name.name.clone(),
                    constructor: constructor_id,
                    ty: Type::Unknown,
                    span: field.name.span,
                });
                self.name(&field.name, Named::Destructor(destructor_id))?;
                self.program.constructors[constructor_id].destructors.push(destructor_id);
            }
        }
        Ok(Declaration::Datatype(id))
    }

    fn structure(
        &mut self,
        name: &'s Ident,
        fields: &'s [syntax::VarDecl],
        span: Span,
    ) -> Result<Declaration, Diagnostic> {
        let id = self.program.structs.alloc(Struct {
            name: name.name.clone(),
            fields: Vec::new(),
            span,
            name_span: name.span,
        });
        self.name(name, Named::Struct(id))?;
        for field in fields {
            let field_id = self.program.fields.alloc(Field {
                name: field.formal.name.name.clone(),
                parent: id,
                ty: Type::Unknown,
                is_ghost: field.is_ghost,
                span: field.span,
                name_span: field.formal.name.span,
            });
            self.name(&field.formal.name, Named::Field(field_id))?;
            self.program.structs[id].fields.push(field_id);
        }
        Ok(Declaration::Struct(id))
    }

    fn procedure(
        &mut self,
        kind: syntax::ProcedureKind,
        name: &'s Ident,
        span: Span,
    ) -> Result<Declaration, Diagnostic> {
        let kind = match kind {
            syntax::ProcedureKind::Procedure => ProcedureKind::Procedure,
            syntax::ProcedureKind::AutoLemma if !self.program.options.no_auto_lemmas => {
                ProcedureKind::AutoLemma
            }
            _ => ProcedureKind::Lemma,
        };
        let id = self.program.procedures.alloc(Procedure {
            name: name.name.clone(),
            kind,
            parameters: Vec::new(),
            results: Vec::new(),
            requires: Vec::new(),
            ensures: Vec::new(),
            body: None,
            span,
            name_span: name.span,
        });
        self.name(name, Named::Procedure(id))?;
        Ok(Declaration::Procedure(id))
    }

    fn predicate(
        &mut self,
        is_declared_pure: bool,
        name: &'s Ident,
        span: Span,
    ) -> Result<Declaration, Diagnostic> {
        let id = self.program.predicates.alloc(Predicate {
            name: name.name.clone(),
            is_declared_pure,
            ty: Type::Bool,
            parameters: Vec::new(),
            requires: Vec::new(),
            ensures: Vec::new(),
            body: None,
            span,
            name_span: name.span,
        });
        self.name(name, Named::Predicate(id))?;
        Ok(Declaration::Predicate(id))
    }

    fn function(&mut self, name: &'s Ident, span: Span) -> Result<Declaration, Diagnostic> {
        let result = self.program.locals.alloc(Local {
            name: name.name.clone(),
            ty: Type::Unknown,
            kind: LocalKind::Result,
            is_ghost: false,
            is_implicit: false,
            span: name.span,
        });
        let id = self.program.functions.alloc(Function {
            name: name.name.clone(),
            parameters: Vec::new(),
            result,
            requires: Vec::new(),
            ensures: Vec::new(),
            body: None,
            span,
            name_span: name.span,
        });
        self.name(name, Named::Function(id))?;
        Ok(Declaration::Function(id))
    }
}

fn clash(message: impl Into<String>, span: Span) -> Diagnostic {
    Diagnostic::new(Code::TypecheckerError, span, message)
}

/// Returns the name of the type that a declaration defines.
fn defined_type(declaration: &syntax::Declaration) -> Option<&str> {
    match &declaration.kind {
        DeclarationKind::Struct { name, .. }
        | DeclarationKind::Datatype { name, .. }
        | DeclarationKind::Type { name, value: Some(_) } => Some(&name.name),
        _ => None,
    }
}

/// The signature of what may be declared several times.
fn signature(declaration: &syntax::Declaration) -> Option<&Signature> {
    match &declaration.kind {
        DeclarationKind::Procedure { signature, .. }
        | DeclarationKind::Predicate { signature, .. }
        | DeclarationKind::Function { signature, .. } => Some(signature),
        _ => None,
    }
}

fn has_body(declaration: &syntax::Declaration) -> bool {
    match &declaration.kind {
        DeclarationKind::Procedure { body, .. } => body.is_some(),
        DeclarationKind::Predicate { body, .. } | DeclarationKind::Function { body, .. } => {
            body.is_some()
        }
        _ => false,
    }
}

/// Are kind, parameters, results and contract the same?
fn is_same_header(first: &syntax::Declaration, second: &syntax::Declaration) -> bool {
    let is_same_kind = match (&first.kind, &second.kind) {
        (
            DeclarationKind::Procedure { kind: first, .. },
            DeclarationKind::Procedure { kind: second, .. },
        ) => first == second,
        (
            DeclarationKind::Predicate { is_pure: first, .. },
            DeclarationKind::Predicate { is_pure: second, .. },
        ) => first == second,
        (DeclarationKind::Function { .. }, DeclarationKind::Function { .. }) => true,
        _ => false,
    };
    is_same_kind && signature(first) == signature(second)
}

fn names(signature: &Signature) -> impl Iterator<Item = &Ident> {
    let all = signature.parameters.iter().chain(&signature.results);
    all.map(|parameter| &parameter.formal.name)
}

fn distinct<'s>(names: impl Iterator<Item = &'s Ident>) -> Result<(), Diagnostic> {
    let mut seen = FxHashSet::default();
    for name in names {
        if !seen.insert(&name.name) {
            let message = format!("`{}` is declared twice in this scope", name.name);
            return Err(clash(message, name.span));
        }
    }
    Ok(())
}
