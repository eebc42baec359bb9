//! From a resolved Chalice program to a parse tree of SIL.
//!
//! The shape is that of the translation of Chalice to SIL by Klauser ("Translating Chalice into
//! SIL", 2012), chapter 3: methods stay methods with contracts, the abstract read fraction is a
//! ghost parameter, tokens are objects with ghost fields, the locks a thread holds are ghost state
//! with the lock levels beside it.
//!
//! Differs from the thesis
//! - DIVERGENCE: held locks and their levels are values passed in and out, not fields of a thread
//!   object, so that a call does not forget them (thesis section 3.4.2, listing 18).
//! - DIVERGENCE: the read fraction of a call is bounded by what the caller holds, without a copy of
//!   the permission map (thesis figure 3): `perm(e.f) > none ==> n * k < perm(e.f)`, where n counts
//!   the occurrences in the precondition.
//! - DIVERGENCE: monitor invariants are predicates, one a class; what they say of earlier states is
//!   beside them (`history`).

mod annotations;
mod assertions;
mod calls;
mod classes;
mod defaults;
mod env;
mod expressions;
mod facts;
mod functions;
mod ghosts;
mod loops;
mod methods;
mod permissions;
mod preamble;
mod statements;
mod threads;

use std::cell::RefCell;

use chalice::program::{
    ClassId, Declaration, Expr, FunctionId, LocalId, Member as ChaliceMember, MethodId, Program,
};
use chalice::{Options, SourceFile, Span};
use derive_more::{Deref, DerefMut};
use findings::Pattern;
use indexmap::{IndexMap, IndexSet};
use la_arena::ArenaMap;
use rustc_hash::FxHashMap;
use sil::source::Name;
use sil::syntax as s;

use self::annotations::{Annotate, told_receivers};
use self::facts::Facts;
use self::functions::recursion::Recursion;
use self::permissions::stars::Said;
use self::preamble::Used;
use self::threads::forks::TokenLayout;
use self::threads::states::States;
use crate::names::{LocalNames, Names};
use crate::{Translation, Unsupported};

/// Lowers a whole program.
pub(crate) fn lower(source: &SourceFile, program: &Program, options: Options) -> Translation {
    let mut program = program.clone();
    chalice::elaborate(&mut program, options);
    let program = &program;
    let mut names = Names::of(program);
    let forked = threads::forks::forked_methods(program);
    let tokens = program
        .methods
        .iter()
        .map(|(id, _)| (id, TokenLayout::of(program, id, forked.contains(&id), &mut names)))
        .collect();
    let lowering = Lowering {
        source,
        program,
        facts: Facts::of(program, options.defaults > 0),
        options,
        recursion: Recursion::of(program),
        names: RefCell::new(names),
        tokens,
        used: RefCell::default(),
        strings: RefCell::default(),
        states: States::of(program),
        recorded: RefCell::default(),
        recorded_functions: RefCell::default(),
        aggregates: RefCell::default(),
        aggregate_names: RefCell::default(),
        unsupported: RefCell::default(),
    };
    let mut members = Vec::new();
    for &declaration in &program.declarations {
        match declaration {
            Declaration::Class(class) => lowering.lower_class(class, &mut members),
            Declaration::Channel(channel) => lowering.lower_channel(channel, &mut members),
        }
    }
    let mut all = lowering.preamble();
    all.extend(members);
    all.append(&mut lowering.aggregates.borrow_mut());
    if all.is_empty() && !program.declarations.is_empty() {
        all.push(sil::build::nothing());
    }
    if let Some(first) = all.first_mut() {
        let always = [lowering.file(), told_receivers()].into_iter();
        let trusted = lowering.options.trusted().map(sil::build::trusted);
        first.annotations.splice(0..0, always.chain(trusted));
    }
    let unsupported = lowering.unsupported.into_inner();
    Translation { program: s::Program { members: all }, unsupported }
}

/// The state of lowering a program.
pub(crate) struct Lowering<'p> {
    source: &'p SourceFile,
    options: Options,
    program: &'p Program,
    facts: Facts,
    recursion: Recursion,
    names: RefCell<Names>,
    tokens: ArenaMap<MethodId, TokenLayout<'p>>,
    used: RefCell<Used>,
    strings: RefCell<IndexSet<String>>,
    states: States<'p>,
    /// Functions of recorded states and their types, as they are needed.
    recorded: RefCell<IndexMap<Name, s::Type>>,
    recorded_functions: RefCell<IndexSet<FunctionId>>,
    /// Functions that sums and maxima are.
    aggregates: RefCell<Vec<s::Member>>,
    /// Their names, by what they add up.
    aggregate_names: RefCell<FxHashMap<String, String>>,
    unsupported: RefCell<Vec<Unsupported>>,
}

impl Lowering<'_> {
    fn lower_class(&self, id: ClassId, members: &mut Vec<s::Member>) {
        let class = &self.program.classes[id];
        for &member in &class.members {
            match member {
                ChaliceMember::Field(field) => {
                    members.push(self.field(field));
                    members.extend(self.back_pointers(field));
                }
                ChaliceMember::Method(method) => {
                    members.extend(self.token_fields(method));
                    members.push(self.method(method));
                }
                ChaliceMember::Function(function) => {
                    members.push(self.function(function));
                    members.extend(self.termination(function));
                }
                ChaliceMember::Predicate(predicate) => members.push(self.predicate(predicate)),
                ChaliceMember::Condition(_) => {}
            }
        }
        members.extend(self.monitor(id));
    }

    /// Returns a global name that neither the program nor what has been generated so far uses, also
    /// not for a variable.
    fn global_name(&self, wanted: &str) -> String {
        loop {
            let name = self.names.borrow_mut().fresh(wanted);
            if !self.program.locals.values().any(|local| *local.name == *name) {
                return name.to_string();
            }
        }
    }

    fn note_unsupported(&self, construct: &str, span: Span) {
        let unsupported = Unsupported { construct: construct.to_owned(), span };
        let mut all = self.unsupported.borrow_mut();
        if !all.contains(&unsupported) {
            all.push(unsupported);
        }
    }
}

/// One member of the generated program in the making.
pub(crate) struct Member<'l, 'p> {
    lowering: &'l Lowering<'p>,
    names: LocalNames,
    /// Where the statement in the making comes from.
    span: Span,
    /// The line that the innermost annotation above the expression in the making speaks of.
    line: usize,
    /// The class it belongs to.
    class: Option<ClassId>,
    /// The method whose body this is.
    method: Option<MethodId>,
    /// The function whose postconditions are being lowered: applied to its own parameters it is
    /// `result`.
    promising: Option<FunctionId>,
    /// Is this the share of a monitor invariant that readers get?
    for_readers: bool,
    /// Does `unfolding` open any positive amount, whatever is written? Less than that may be there
    /// where an assertion has been weakened.
    opens_any: bool,
    /// The part of the assertion in the making that is done.
    said: Said,
    /// Names of variables that generated quantifiers bind; one name serves all quantifiers that are
    /// not nested.
    bound_names: FxHashMap<&'static str, Name>,
    /// The map of credits, in methods that have to do with them.
    credits: Option<Name>,
    /// The states in which this method itself last left each object, where calls may leave it
    /// again.
    left_here: Option<Name>,
    /// Read fractions, each with what messages call it.
    fractions: Vec<(Name, &'static str)>,
    /// Flags that tell whether a ghost constant has been assigned.
    assigned: FxHashMap<LocalId, Name>,
}

/// The statements of a body in the making.
#[derive(Deref, DerefMut)]
pub(crate) struct Body<'l, 'p> {
    #[deref]
    #[deref_mut]
    member: Member<'l, 'p>,
    /// The statements of the block in the making.
    out: Vec<s::Stmt>,
    /// Variables declared so far in the blocks around the statement in the making.
    locals_in_scope: Vec<LocalId>,
}

impl<'l, 'p> Member<'l, 'p> {
    fn new(lowering: &'l Lowering<'p>, span: Span) -> Self {
        Self {
            lowering,
            names: LocalNames::default(),
            span,
            line: lowering.source.line(span.start),
            class: None,
            method: None,
            promising: None,
            for_readers: false,
            opens_any: false,
            said: Said::default(),
            bound_names: FxHashMap::default(),
            credits: None,
            left_here: None,
            fractions: Vec::new(),
            assigned: FxHashMap::default(),
        }
    }

    fn program(&self) -> &'p Program {
        self.lowering.program
    }

    /// Returns the SIL name of a variable of the source.
    fn local(&mut self, local: LocalId) -> Name {
        self.names.of_local(&self.lowering.names.borrow(), self.lowering.program, local)
    }

    /// Says which variables of the finished member are those of the source.
    fn variables(&self) -> s::Annotation {
        let fractions = self.fractions.iter().map(|(name, called)| (&**name, *called));
        let of_source = self.names.of_source(self.lowering.program);
        annotations::variables(of_source.into_iter().chain(fractions))
    }

    /// Returns a name for a read fraction, and what messages call it.
    fn fresh_fraction(&mut self, wanted: &str, called: &'static str) -> Name {
        let name = self.fresh(wanted);
        self.fractions.push((name.clone(), called));
        name
    }

    /// Returns a name that this member does not use yet.
    fn fresh(&mut self, wanted: &str) -> Name {
        self.names.fresh(&self.lowering.names.borrow(), wanted)
    }

    /// Returns the name of a variable that a generated quantifier binds.
    fn bound_name(&mut self, wanted: &'static str) -> Name {
        if let Some(name) = self.bound_names.get(wanted) {
            return name.clone();
        }
        let name = self.fresh(wanted);
        self.bound_names.insert(wanted, name.clone());
        name
    }

    /// Lowers a node that gets a place of its own.
    fn placed(&mut self, span: Span, work: impl FnOnce(&mut Self) -> s::Expr) -> s::Expr {
        let line = std::mem::replace(&mut self.line, self.lowering.source.line(span.start));
        let mut lowered = work(self);
        self.line = line;
        lowered.annotations.insert(0, self.lowering.at(span));
        lowered
    }

    /// Returns the words of an error about an object that has to exist.
    fn might_be_null(&self, object: &Expr) -> String {
        format!("`{}` might be null", self.text_of(object))
    }

    /// Returns the text of an expression on one line, for words.
    fn text_of(&self, e: &Expr) -> String {
        let text = self.lowering.source.text.get(e.span.range()).unwrap_or_default();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        sil::build::escaped(&text).to_string()
    }

    /// Lowers a node that can fail: it gets a place of its own if it is on another line than what
    /// surrounds it.
    fn located(&mut self, span: Span, work: impl FnOnce(&mut Self) -> s::Expr) -> s::Expr {
        if self.lowering.source.line(span.start) == self.line {
            work(self)
        } else {
            self.placed(span, work)
        }
    }

    /// Returns a value in place of something that cannot be lowered: the engine refuses whatever
    /// contains it.
    fn unsupported(&mut self, construct: &str, e: &Expr) -> s::Expr {
        self.lowering.note_unsupported(construct, e.span);
        let value = self.lowering.any_value(&e.ty);
        self.placed(e.span, |member| member.refused(construct, value))
    }

    fn refused(&mut self, construct: &str, value: s::Expr) -> s::Expr {
        let text = format!("{construct} cannot be verified yet");
        crate::build::unsupported(construct, value).with(annotations::said(Pattern::ANY, &text))
    }
}

impl<'l, 'p> Body<'l, 'p> {
    fn new(lowering: &'l Lowering<'p>, span: Span) -> Self {
        Self { member: Member::new(lowering, span), out: Vec::new(), locals_in_scope: Vec::new() }
    }

    /// Adds a statement, with the place of the statement that is being lowered.
    fn emit(&mut self, mut stmt: s::Stmt) {
        let at = self.lowering.at(self.span);
        stmt.annotations().insert(0, at);
        self.out.push(stmt);
    }

    /// Declares a variable and gives it a value whose evaluation may fail.
    ///
    /// Not one statement: some Viper tools lose declarations that have annotations.
    fn emit_declared(&mut self, name: &str, ty: s::Type, value: s::Expr) {
        self.emit_plain(crate::build::declare(name, ty, None));
        self.emit(crate::build::assign(crate::build::var(name), value));
    }

    /// Lowers what `work` lowers into a block of its own.
    fn block(&mut self, work: impl FnOnce(&mut Self)) -> Vec<s::Stmt> {
        let outer = std::mem::take(&mut self.out);
        let (span, line) = (self.span, self.line);
        work(self);
        (self.span, self.line) = (span, line);
        std::mem::replace(&mut self.out, outer)
    }

    /// A statement in place of something that cannot be lowered.
    fn unsupported_stmt(&mut self, construct: &str) {
        self.lowering.note_unsupported(construct, self.span);
        let refused = self.refused(construct, crate::build::truth(true));
        self.emit(crate::build::assert(refused));
    }
}
