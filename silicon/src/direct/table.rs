//! The table of declarations: a SIL program without contracts and bodies.
//!
//! SOUNDNESS: nothing can be learnt from it but names, types and places. A declaration has the number it has in the Chalice program.

use std::sync::Arc;

use chalice::program::{self as tree, Declaration};
use la_arena::Arena;
use sil::program::{
    Contract, Field, Function, Local, LocalKind, Member, Method, Predicate, Program, Type,
};

use super::graph::Graph;
use super::{Direct, renumbered, span};

/// The table of a program, and the program as the rules read it.
pub(crate) fn load(tree: chalice::Program, text: &str) -> (Program, Direct) {
    let mut table = Program::default();
    table.origins.tells_null_receivers = true;
    for (_, field) in tree.fields.iter() {
        table.fields.alloc(Field {
            name: field.name.as_str().into(),
            ty: ty(&field.ty),
            annotations: Vec::new(),
            span: span(field.span),
        });
    }
    for (_, one) in tree.predicates.iter() {
        table.predicates.alloc(predicate(&named(&tree, one.class, &one.name), one.span));
    }
    for (_, one) in tree.functions.iter() {
        let (locals, formals) = parameters(&tree, one);
        table.functions.alloc(Function {
            name: named(&tree, one.class, &one.name).into(),
            locals,
            formals,
            result: ty(&one.result),
            contract: Contract::default(),
            body: None,
            annotations: Vec::new(),
            span: span(one.span),
        });
    }
    for (_, one) in tree.methods.iter() {
        table.methods.alloc(Method {
            name: named(&tree, one.class, &one.name).into(),
            locals: Arena::new(),
            formals: Vec::new(),
            returns: Vec::new(),
            contract: Contract::default(),
            implementations: Vec::new(),
            annotations: Vec::new(),
            span: span(one.span),
        });
    }
    order(&tree, &mut table);
    let mut locals: Arena<Local> = Arena::new();
    for (_, local) in tree.locals.iter() {
        locals.alloc(variable(&local.name, ty(&local.ty), span(local.span)));
    }
    let mut ghost =
        |name: &str, ty: Type| locals.alloc(variable(name, ty, span(chalice::Span::default())));
    let this = ghost("this", Type::Ref);
    let fraction = ghost("rd", Type::Perm);
    let whole = ghost("whole", Type::Perm);
    let least = ghost("least", Type::Perm);
    let refused = refused(chalice::Options::of(text));
    let graph = Graph::of(&tree);
    (table, Direct { tree, locals, this, fraction, whole, least, graph, refused })
}

/// Puts the members in source order. What monitors, channels and conditions say is a member, too: no rule knows it yet,
/// and that has to be told.
fn order(tree: &chalice::Program, table: &mut Program) {
    let mut other = |name: String, at: chalice::Span| {
        Member::Predicate(table.predicates.alloc(predicate(&name, at)))
    };
    for declaration in &tree.declarations {
        match *declaration {
            Declaration::Class(id) => {
                let class = &tree.classes[id];
                table.order.extend(class.members.iter().filter_map(|member| match *member {
                    tree::Member::Field(_) => None,
                    tree::Member::Method(id) => Some(Member::Method(renumbered(id))),
                    tree::Member::Function(id) => Some(Member::Function(renumbered(id))),
                    tree::Member::Predicate(id) => Some(Member::Predicate(renumbered(id))),
                    tree::Member::Condition(id) => {
                        let one = &tree.conditions[id];
                        Some(other(format!("condition {}.{}", class.name, one.name), one.span))
                    }
                }));
                if let Some(first) = class.invariants.first() {
                    table.order.push(other(format!("monitor of {}", class.name), first.span));
                }
            }
            Declaration::Channel(id) => {
                let channel = &tree.channels[id];
                table.order.push(other(format!("messages of {}", channel.name), channel.span));
            }
        }
    }
}

fn named(tree: &chalice::Program, class: tree::ClassId, name: &str) -> String {
    format!("{}.{name}", tree.classes[class].name)
}

/// What a function is applied to: the receiver, unless it is static, and its parameters.
fn parameters(
    tree: &tree::Program,
    function: &tree::Function,
) -> (Arena<Local>, Vec<sil::program::LocalId>) {
    let mut locals = Arena::new();
    if !function.is_static {
        locals.alloc(variable("this", Type::Ref, span(function.span)));
    }
    for &parameter in &function.parameters {
        let local = &tree.locals[parameter];
        locals.alloc(variable(&local.name, ty(&local.ty), span(local.span)));
    }
    let formals = locals.iter().map(|(id, _)| id).collect();
    (locals, formals)
}

/// Its only argument is the object.
fn predicate(name: &str, at: chalice::Span) -> Predicate {
    let mut locals = Arena::new();
    let this = locals.alloc(variable("this", Type::Ref, span(at)));
    Predicate {
        name: name.into(),
        locals,
        formals: vec![this],
        body: None,
        annotations: Vec::new(),
        span: span(at),
    }
}

fn variable(name: &str, ty: Type, at: sil::source::Span) -> Local {
    Local { name: name.into(), ty, kind: LocalKind::Variable, span: at }
}

/// The type whose values stand for those of a Chalice type.
pub(super) fn ty(ty: &tree::Type) -> Type {
    match ty {
        // Of texts all that is known is whether they are equal.
        tree::Type::Int | tree::Type::String | tree::Type::Mu | tree::Type::Unknown => Type::Int,
        tree::Type::Bool => Type::Bool,
        tree::Type::Null | tree::Type::Class(_) | tree::Type::Channel(_) | tree::Type::Token(_) => {
            Type::Ref
        }
        tree::Type::Seq(element) => Type::Seq(Arc::new(self::ty(element))),
        tree::Type::Set(element) => Type::Set(Arc::new(self::ty(element))),
    }
}

/// An option that changes what the program means, and that no rule knows.
fn refused(options: chalice::Options) -> Option<&'static str> {
    if options.defaults > 0 || options.auto_magic {
        Some("a program with `-defaults` or `-autoMagic`")
    } else if options.check_leaks {
        Some("a program with `-checkLeaks`")
    } else {
        None
    }
}
