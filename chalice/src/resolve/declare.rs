//! The first round: what classes, channels and members there are.
//!
//! Types, contracts and bodies are filled in later; until then they are unknown, empty or `true`.

use rustc_hash::FxHashSet;

use super::{Names, TypeName};
use crate::diagnostic::{Code, Diagnostic};
use crate::program::{
    Block, Channel, Class, ClassId, Condition, Declaration, Expr, ExprKind, Field, Function,
    Member, Method, Predicate, Program, Type,
};
use crate::source::Span;
use crate::syntax::{self, Formal, Ident, MemberKind, Signature};

type Clash = Diagnostic;

/// Collects the declarations.
///
/// # Errors
/// The first clash of names.
pub(super) fn declare(syntax: &syntax::Program) -> Result<(Program, Names<'_>), Clash> {
    let mut program = Program::default();
    let mut names = Names::default();
    for declaration in &syntax.declarations {
        let (name, declared) = match declaration {
            syntax::Declaration::Class(class) => {
                let id = program.classes.alloc(empty_class(class));
                program.declarations.push(Declaration::Class(id));
                (&class.name, TypeName::Class(id))
            }
            syntax::Declaration::Channel(channel) => {
                distinct_parameters(&channel.name, channel.parameters.iter())?;
                let id = program.channels.alloc(empty_channel(channel));
                program.declarations.push(Declaration::Channel(id));
                (&channel.name, TypeName::Channel(id))
            }
        };
        if let Some(first) = names.types.insert(&name.name, declared) {
            let first = match first {
                TypeName::Class(class) => program.classes[class].name_span,
                TypeName::Channel(channel) => program.channels[channel].name_span,
            };
            let message = format!("`{}` is declared twice", name.name);
            return Err(clash(message, name.span).with_related(first, FIRST));
        }
    }
    for (class, id) in classes(syntax, &program).collect::<Vec<_>>() {
        for member in &class.members {
            declare_member(&mut program, &mut names, id, member)?;
        }
    }
    Ok((program, names))
}

/// Returns the classes of the syntax tree with their ids.
pub(super) fn classes<'s>(
    syntax: &'s syntax::Program,
    program: &Program,
) -> impl Iterator<Item = (&'s syntax::Class, ClassId)> + use<'s> {
    let ids: Vec<_> = program.declarations.clone();
    syntax.declarations.iter().zip(ids).filter_map(|pair| match pair {
        (syntax::Declaration::Class(class), Declaration::Class(id)) => Some((class, id)),
        _ => None,
    })
}

/// The words at the place of a name's first declaration.
const FIRST: &str = "first declared here";

fn clash(message: impl Into<String>, span: Span) -> Clash {
    Diagnostic::new(Code::TypecheckerError, span, message)
}

fn distinct_parameters<'s>(
    member: &Ident,
    formals: impl Iterator<Item = &'s Formal>,
) -> Result<(), Clash> {
    let mut seen = FxHashSet::default();
    for formal in formals {
        if !seen.insert(&formal.name.name) {
            let message = format!("`{}` has two parameters `{}`", member.name, formal.name.name);
            return Err(clash(message, member.span));
        }
    }
    Ok(())
}

fn declare_member<'s>(
    program: &mut Program,
    names: &mut Names<'s>,
    class: ClassId,
    member: &'s syntax::Member,
) -> Result<(), Clash> {
    let span = member.span;
    let (name, id) = match &member.kind {
        MemberKind::Field { is_tracked, is_ghost, is_replaced, formal } => {
            let field = Field {
                name: formal.name.name.clone(),
                class,
                ty: Type::Unknown,
                is_ghost: *is_ghost || *is_replaced,
                is_replaced: *is_replaced,
                is_tracked: *is_tracked,
                span,
                name_span: formal.name.span,
            };
            (&formal.name, Member::Field(program.fields.alloc(field)))
        }
        MemberKind::Method { signature, .. } => {
            distinct_parameters(
                &signature.name,
                signature.parameters.iter().chain(&signature.results),
            )?;
            (
                &signature.name,
                Member::Method(program.methods.alloc(empty_method(class, signature, span))),
            )
        }
        MemberKind::Function { is_unlimited, is_static, signature, .. } => {
            distinct_parameters(&signature.name, signature.parameters.iter())?;
            let mut function = empty_function(class, signature, span);
            function.is_static = *is_static;
            function.is_unlimited = *is_unlimited;
            (&signature.name, Member::Function(program.functions.alloc(function)))
        }
        MemberKind::Predicate { name, .. } => {
            let body = Expr { kind: ExprKind::Bool(true), ty: Type::Bool, span };
            let predicate =
                Predicate { name: name.name.clone(), class, body, span, name_span: name.span };
            (name, Member::Predicate(program.predicates.alloc(predicate)))
        }
        MemberKind::Condition { name, .. } => {
            let condition = Condition {
                name: name.name.clone(),
                class,
                where_clause: None,
                span,
                name_span: name.span,
            };
            (name, Member::Condition(program.conditions.alloc(condition)))
        }
        MemberKind::Invariant(_)
        | MemberKind::Coupling { .. }
        | MemberKind::Refine { .. }
        | MemberKind::Transform { .. } => return Ok(()),
    };
    program.classes[class].members.push(id);
    if let Some(first) = names.members.insert((class, &name.name), id) {
        let message =
            format!("`{}` is declared twice in `{}`", name.name, program.classes[class].name);
        return Err(clash(message, name.span).with_related(name_span(program, first), FIRST));
    }
    Ok(())
}

/// Returns where the name of a member stands at its declaration.
fn name_span(program: &Program, member: Member) -> Span {
    match member {
        Member::Field(field) => program.fields[field].name_span,
        Member::Method(method) => program.methods[method].name_span,
        Member::Function(function) => program.functions[function].name_span,
        Member::Predicate(predicate) => program.predicates[predicate].name_span,
        Member::Condition(condition) => program.conditions[condition].name_span,
    }
}

fn empty_class(class: &syntax::Class) -> Class {
    Class {
        name: class.name.name.clone(),
        module: class
            .module
            .as_ref()
            .map_or_else(|| "default".to_owned(), |module| module.name.clone()),
        is_external: class.is_external,
        members: Vec::new(),
        invariants: Vec::new(),
        span: class.span,
        name_span: class.name.span,
    }
}

fn empty_channel(channel: &syntax::Channel) -> Channel {
    Channel {
        name: channel.name.name.clone(),
        parameters: Vec::new(),
        where_clause: None,
        span: channel.span,
        name_span: channel.name.span,
    }
}

fn empty_method(class: ClassId, signature: &Signature, span: Span) -> Method {
    Method {
        name: signature.name.name.clone(),
        class,
        parameters: Vec::new(),
        results: Vec::new(),
        requires: Vec::new(),
        ensures: Vec::new(),
        lock_changes: Vec::new(),
        decreases: Vec::new(),
        body: Block::default(),
        span,
        name_span: signature.name.span,
    }
}

fn empty_function(class: ClassId, signature: &Signature, span: Span) -> Function {
    Function {
        name: signature.name.name.clone(),
        class,
        is_static: false,
        is_unlimited: false,
        parameters: Vec::new(),
        result: Type::Unknown,
        requires: Vec::new(),
        ensures: Vec::new(),
        decreases: Vec::new(),
        body: None,
        span,
        name_span: signature.name.span,
    }
}
