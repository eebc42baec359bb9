//! The shared part of the dialects, and the choice between them.

pub(crate) mod annotations;
pub(crate) mod auto_lemmas;
pub(crate) mod expressions;
pub(crate) mod prelude;
pub(crate) mod quantifiers;
mod trusted;
pub(crate) mod types;

use std::cell::RefCell;

use sil::source::Name;
use sil::syntax as s;
use spl::program::{Dialect, LocalId, Program};
use spl::source::{Sources, Span};

use self::annotations::Annotate;
use self::prelude::Used;
use crate::names::{LocalNames, Names};
use crate::{classic, places, thesis};

/// The requests beyond the program itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Is what a procedure of the field dialect leaves behind an error? In the classic dialect it
    /// always is.
    pub leaks: bool,
    /// Are recursive lemmas and functions taken for granted to end if no measure is found?
    pub assume_termination: bool,
}

/// Something that has no meaning in SIL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// One sentence in the user's terms.
    pub message: String,
    /// Where.
    pub span: Span,
}

/// Lowers a whole program by the rules of its dialect.
pub(crate) fn lower(
    sources: &Sources,
    program: &Program,
    options: Options,
) -> Result<s::Program, Vec<Refusal>> {
    let mut lowered = if program.dialect == Dialect::Field {
        field(sources, program, options)?
    } else {
        classic::lower(sources, program, options)
    };
    if let Some(first) = lowered.members.first_mut() {
        first.annotations.extend(trusted::annotations(sources, program));
    }
    Ok(lowered)
}

/// Lowers a program of the field dialect.
fn field(
    sources: &Sources,
    program: &Program,
    options: Options,
) -> Result<s::Program, Vec<Refusal>> {
    let lowering = Lowering {
        sources,
        program,
        options,
        names: RefCell::new(Names::of(program)),
        used: RefCell::default(),
        refusals: RefCell::default(),
    };
    let members = thesis::lower(&lowering);
    let mut all = lowering.type_members();
    all.extend(lowering.prelude());
    all.extend(members);
    if all.is_empty() && !program.declarations.is_empty() {
        all.push(sil::build::nothing());
    }
    places::declare_files(lowering.sources, &mut all);
    let refusals = lowering.refusals.into_inner();
    if refusals.is_empty() { Ok(s::Program { members: all }) } else { Err(refusals) }
}

/// The state of lowering a program.
pub(crate) struct Lowering<'p> {
    pub(crate) sources: &'p Sources,
    pub(crate) program: &'p Program,
    pub(crate) options: Options,
    pub(crate) names: RefCell<Names>,
    /// The parts of the prelude that the program needs.
    pub(crate) used: RefCell<Used>,
    refusals: RefCell<Vec<Refusal>>,
}

impl Lowering<'_> {
    /// Notes that something has no meaning in SIL: the program is refused.
    pub(crate) fn refuse(&self, message: impl Into<String>, span: Span) {
        let refusal = Refusal { message: message.into(), span };
        let mut all = self.refusals.borrow_mut();
        if !all.contains(&refusal) {
            all.push(refusal);
        }
    }
}

/// One member of the generated program in the making.
pub(crate) struct Member<'l, 'p> {
    pub(crate) lowering: &'l Lowering<'p>,
    pub(crate) names: LocalNames,
    /// The statements of the block in the making.
    out: Vec<s::Stmt>,
    /// Where the statement in the making comes from.
    pub(crate) span: Span,
}

impl<'l, 'p> Member<'l, 'p> {
    pub(crate) fn new(lowering: &'l Lowering<'p>, span: Span) -> Self {
        Self { lowering, names: LocalNames::default(), out: Vec::new(), span }
    }

    pub(crate) fn program(&self) -> &'p Program {
        self.lowering.program
    }

    /// Returns the SIL name of a variable of the source.
    pub(crate) fn name_of(&mut self, local: LocalId) -> Name {
        self.names.of_local(&self.lowering.names.borrow(), self.lowering.program, local)
    }

    /// Says which variables of the finished member are those of the source.
    pub(crate) fn variables(&self) -> s::Annotation {
        annotations::variables(self.names.of_source(self.lowering.program))
    }

    /// Returns a name that this member does not use yet.
    pub(crate) fn fresh(&mut self, wanted: &str) -> Name {
        self.names.fresh(&self.lowering.names.borrow(), wanted)
    }

    /// Adds a statement, with the place of the statement that is being lowered.
    pub(crate) fn emit(&mut self, mut stmt: s::Stmt) {
        let at = self.lowering.at(self.span);
        stmt.annotations().insert(0, at);
        self.out.push(stmt);
    }

    /// Adds a statement that cannot fail, such as a declaration, without a place.
    pub(crate) fn emit_plain(&mut self, stmt: s::Stmt) {
        self.out.push(stmt);
    }

    /// Begins a block; [`Member::end_block`] gets what it replaces.
    pub(crate) fn begin_block(&mut self) -> Vec<s::Stmt> {
        std::mem::take(&mut self.out)
    }

    /// Ends a block and yields its statements.
    pub(crate) fn end_block(&mut self, outer: Vec<s::Stmt>) -> Vec<s::Stmt> {
        std::mem::replace(&mut self.out, outer)
    }
}
