//! The table of declarations: a SIL program without contracts and bodies.
//!
//! SOUNDNESS: the table tells only names, types and places. A declaration has the same number as in
//! the Chalice program.

use std::sync::Arc;

use chalice::program::ghosts::stay_apart;
use chalice::program::locking::Locking;
use chalice::program::walk::each_stmt;
use chalice::program::{self as tree, Declaration, StmtKind};
use indexmap::IndexMap;
use la_arena::{Arena, ArenaMap};
use rustc_hash::FxHashSet;
use sil::program::{
    Annotation, Contract, Domain, DomainId, Field, FieldId, Function, Local, LocalKind, Member,
    Method, Predicate, Program, Type,
};
use sil::source::Span;

use super::ahead::Ahead;
use super::eval::aggregates::Sums;
use super::graph::Graph;
use super::threads::history::Histories;
use super::{Direct, renumbered, span};

/// Makes the table of a program, and the program in the form for the rules.
pub fn load(mut tree: chalice::Program, options: chalice::Options) -> (Program, Direct) {
    chalice::elaborate(&mut tree, options);
    if options.defaults > 0 {
        super::defaults::open_in_functions(&mut tree);
    }
    let mut table = Program::default();
    table.origins.tells_null_receivers = true;
    table.origins.trusted.extend(options.trusted().map(str::to_owned));
    add_sorts(&mut table);
    for (_, field) in tree.fields.iter() {
        table.fields.alloc(Field {
            name: field.name.as_str().into(),
            ty: ty(&field.ty),
            annotations: Vec::new(),
            span: span(field.span),
        });
    }
    let mut special = |name: &str, ty: Type| -> FieldId {
        let at = span(chalice::Span::default());
        table.fields.alloc(Field { name: name.into(), ty, annotations: Vec::new(), span: at })
    };
    let mu = special("mu", ty(&tree::Type::Mu));
    let joinable = special("joinable", Type::Bool);
    let mut pointers = ArenaMap::default();
    for (id, field) in tree.fields.iter().filter(|(_, field)| field.is_tracked) {
        let name = format!("~({}.{})", tree.classes[field.class].name, field.name);
        pointers.insert(id, special(&name, Type::Set(Arc::new(Type::Ref))));
    }
    for (_, one) in tree.predicates.iter() {
        table.predicates.alloc(predicate(&named(&tree, one.class, &one.name), one.span));
    }
    let locking = Locking::of(&tree);
    for (id, one) in tree.functions.iter() {
        let (locals, formals) = parameters(&tree, one, locking.asked_sets(id));
        table.functions.alloc(Function {
            name: named(&tree, one.class, &one.name).into(),
            locals,
            formals,
            result: ty(&one.result),
            contract: Contract::default(),
            body: None,
            annotations: hidden(&tree, one).into_iter().collect(),
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
    let others = order(&tree, &mut table);
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
    let constants = tree.locals.iter().filter(|(_, local)| local.is_const && local.is_ghost);
    let mut assigned = ArenaMap::default();
    for (id, local) in constants {
        assigned.insert(id, locals.alloc(variable(&local.name, Type::Bool, span(local.span))));
    }
    let mut foreseen = FxHashSet::default();
    for method in stay_apart(&tree) {
        each_stmt(&tree.methods[method].body, &mut |stmt| {
            if let StmtKind::Declare { local, value: None } = stmt.kind {
                foreseen.insert(local);
            }
        });
    }
    let direct = Direct {
        graph: Graph::of(&tree),
        ahead: Ahead::of(&tree, locking.is_used),
        histories: Histories::of(&tree),
        sums: Sums::of(&tree),
        locking,
        tree,
        locals,
        assigned,
        foreseen,
        this,
        fraction,
        whole,
        least,
        mu,
        joinable,
        pointers,
        others,
        options,
    };
    (table, direct)
}

/// Adds the domains of the table, in the order of their numbers.
fn add_sorts(table: &mut Program) {
    for name in [LEVELS, TEXTS] {
        table.domains.alloc(Domain {
            name: name.1.into(),
            parameters: Vec::new(),
            interpretations: IndexMap::default(),
            functions: Vec::new(),
            axioms: Vec::new(),
            annotations: Vec::new(),
            span: span(chalice::Span::default()),
        });
    }
}

/// The domains of the table: their numbers and names. They are only sorts.
const LEVELS: (u32, &str) = (0, "Mu");
const TEXTS: (u32, &str) = (1, "String");

fn sort((number, _): (u32, &str)) -> Type {
    Type::Domain(DomainId::from_raw(number.into()), Arc::new([]))
}

/// The assertion of a predicate of the table.
#[derive(Clone, Copy, Debug)]
pub(super) enum Invariant<'d> {
    Predicate(&'d tree::Predicate),
    Monitor(tree::ClassId, &'d tree::Class),
    Messages(&'d tree::Channel),
    /// An assertion without rules, with its place.
    Other(chalice::Span),
}

/// The assertion of a predicate of the table that is no predicate of the program.
#[derive(Clone, Copy, Debug)]
pub(super) enum OtherInvariant {
    Monitor(tree::ClassId),
    Messages(tree::ChannelId),
    Other(chalice::Span),
}

impl Direct {
    pub(super) fn invariant(&self, id: sil::program::PredicateId) -> Invariant<'_> {
        let number = id.into_raw().into_u32() as usize;
        match number.checked_sub(self.tree.predicates.len()) {
            None => Invariant::Predicate(&self.tree.predicates[renumbered(id)]),
            Some(position) => match self.others[position] {
                OtherInvariant::Monitor(class) => {
                    Invariant::Monitor(class, &self.tree.classes[class])
                }
                OtherInvariant::Messages(channel) => {
                    Invariant::Messages(&self.tree.channels[channel])
                }
                OtherInvariant::Other(at) => Invariant::Other(at),
            },
        }
    }
}

impl Direct {
    /// Returns the predicate of the table for the monitor invariant of a class, if the class has
    /// one.
    pub(super) fn monitor(&self, class: tree::ClassId) -> Option<sil::program::PredicateId> {
        self.other(
            |other: &OtherInvariant| matches!(other, OtherInvariant::Monitor(of) if *of == class),
        )
    }

    /// Returns the predicate of the table for the where clause of a channel.
    pub(super) fn messages(&self, channel: tree::ChannelId) -> Option<sil::program::PredicateId> {
        self.other(
            |other: &OtherInvariant| matches!(other, OtherInvariant::Messages(of) if *of == channel),
        )
    }

    fn other(&self, is_it: impl Fn(&OtherInvariant) -> bool) -> Option<sil::program::PredicateId> {
        let position = self.others.iter().position(is_it)?;
        let number = u32::try_from(self.tree.predicates.len() + position).ok()?;
        Some(sil::program::PredicateId::from_raw(number.into()))
    }
}

/// Puts the members in source order. The assertions of monitors, channels and conditions are
/// members, too. They come behind the predicates of the program, and are returned.
fn order(tree: &chalice::Program, table: &mut Program) -> Vec<OtherInvariant> {
    let mut others = Vec::new();
    let mut other = |name: String, at: chalice::Span, invariant: OtherInvariant| {
        others.push(invariant);
        Member::Predicate(table.predicates.alloc(predicate(&name, at)))
    };
    // The messages of a channel are judged before the methods that rely on them.
    for declaration in &tree.declarations {
        if let Declaration::Channel(id) = *declaration {
            let channel = &tree.channels[id];
            let name = format!("{} (where clause)", channel.name);
            table.order.push(other(name, channel.span, OtherInvariant::Messages(id)));
        }
    }
    for declaration in &tree.declarations {
        let Declaration::Class(id) = *declaration else { continue };
        let class = &tree.classes[id];
        if let Some(first) = class.invariants.first() {
            let name = format!("{} (monitor invariant)", class.name);
            table.order.push(other(name, first.span, OtherInvariant::Monitor(id)));
        }
        table.order.extend(class.members.iter().filter_map(|member| match *member {
            tree::Member::Field(_) => None,
            tree::Member::Method(id) => Some(Member::Method(renumbered(id))),
            tree::Member::Function(id) => Some(Member::Function(renumbered(id))),
            tree::Member::Predicate(id) => Some(Member::Predicate(renumbered(id))),
            tree::Member::Condition(id) => {
                let one = &tree.conditions[id];
                let name = format!("condition {}.{}", class.name, one.name);
                Some(other(name, one.span, OtherInvariant::Other(one.span)))
            }
        }));
    }
    others
}

fn named(tree: &chalice::Program, class: tree::ClassId, name: &str) -> String {
    format!("{}.{name}", tree.classes[class].name)
}

/// Makes the annotation that hides the definition of a function outside of its own module, if there
/// are other modules.
fn hidden(tree: &tree::Program, function: &tree::Function) -> Option<Annotation> {
    let own = &tree.classes[function.class].module;
    let has_others = tree.classes.iter().any(|(_, class)| class.module != *own);
    let is_hidden = function.body.is_some() && has_others;
    is_hidden.then(|| Annotation {
        key: "opaque".into(),
        values: Vec::new(),
        span: span(function.span),
    })
}

/// Returns the parameters of a function: the receiver, unless it is static, and its own parameters.
fn parameters(
    tree: &tree::Program,
    function: &tree::Function,
    asked_sets: usize,
) -> (Arena<Local>, Vec<sil::program::LocalId>) {
    let mut locals = Arena::new();
    if !function.is_static {
        locals.alloc(variable("this", Type::Ref, span(function.span)));
    }
    for &parameter in &function.parameters {
        let local = &tree.locals[parameter];
        locals.alloc(variable(&local.name, ty(&local.ty), span(local.span)));
    }
    for _ in 0..asked_sets {
        locals.alloc(variable("held", Type::Set(Arc::new(Type::Ref)), span(function.span)));
    }
    let formals = locals.iter().map(|(id, _)| id).collect();
    (locals, formals)
}

/// Makes a predicate, whose only argument is the object.
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

fn variable(name: &str, ty: Type, at: Span) -> Local {
    Local { name: name.into(), ty, kind: LocalKind::Variable, span: at }
}

/// Returns the type whose values stand for those of a Chalice type.
pub(super) fn ty(ty: &tree::Type) -> Type {
    match ty {
        tree::Type::Int | tree::Type::Unknown => Type::Int,
        // Texts can only be compared.
        tree::Type::String => sort(TEXTS),
        tree::Type::Mu => sort(LEVELS),
        tree::Type::Bool => Type::Bool,
        tree::Type::Null | tree::Type::Class(_) | tree::Type::Channel(_) | tree::Type::Token(_) => {
            Type::Ref
        }
        tree::Type::Seq(element) => Type::Seq(Arc::new(self::ty(element))),
        tree::Type::Set(element) => Type::Set(Arc::new(self::ty(element))),
    }
}
