//! Finds what [`super::load`] finds, with the memory of the largest member and of all signatures.
//!
//! Trees take some hundred times the memory of their text. So each member is parsed twice: first
//! for its errors and its signature, then, when all signatures are known, to be resolved and
//! checked; both times its tree is gone before the next one is there. The phases and their order
//! are those of `load`, made of the same functions: what a phase finds is kept apart, and told if
//! the phases before it found no errors.
//!
//! Adts, `epsilon`, and instances of predicates as values are left to `load`: they need all trees
//! at once.

use crate::build::truth;
use crate::cfg;
use crate::consistency::Rounds;
use crate::diagnostics::Diagnostic;
use crate::imports::{self, Loader};
use crate::macros::Macros;
use crate::parser;
use crate::plugins::assumed_termination;
use crate::resolve::Resolution;
use crate::source::{FileId, Sources};
use crate::syntax::walk::{Visitor, visit};
use crate::syntax::{Contract, Expr, ExprKind, Member, MemberKind, Program};

use super::{Assumptions, Checked, has_errors, load_assuming};

/// The part of a program that was read: its signatures, and the place of the rest.
struct Read {
    sources: Sources,
    /// The files that were parsed, in the order of their members.
    files: Vec<FileId>,
    signatures: Program,
    /// The findings of reading and parsing.
    diagnostics: Vec<Diagnostic>,
    needs_all: bool,
}

pub(super) fn check(
    assumptions: Assumptions,
    name: &str,
    bytes: Vec<u8>,
    loader: &dyn Loader,
) -> Checked {
    let read = read(name, bytes, loader);
    if read.needs_all {
        // The one that was asked for is the first.
        let bytes = read.sources.file(FileId(0)).text.as_bytes().to_vec();
        drop(read);
        return load_assuming(assumptions, name, bytes, loader).into();
    }
    let Read { sources, files, mut signatures, mut diagnostics, .. } = read;
    let is_blank = signatures.is_blank() && sources.files().count() <= 1;
    let mut macros = Macros::of(&mut signatures);
    if macros.are_defined() || defines_inside(&sources) {
        signatures = expanded_signatures(&sources, &files, macros.clone());
    }
    let mut phases = Phases {
        resolution: (!has_errors(&diagnostics)).then(|| Resolution::of(&signatures)),
        rounds: Rounds::new(assumptions),
        flow: Vec::new(),
    };
    drop(signatures);
    each_member(&sources, &files, |mut member| {
        macros.expand(&mut member);
        if macros.has_errors() {
            phases.resolution = None;
        }
        if assumptions.termination {
            assumed_termination::assume(&mut member);
        }
        phases.member(&member);
    });
    diagnostics.append(&mut macros.finish());
    phases.finish(&mut diagnostics);
    Checked { is_accepted: !has_errors(&diagnostics), sources, is_blank, diagnostics }
}

/// The phases behind macros.
struct Phases {
    /// Not where a phase before it has found errors.
    resolution: Option<Resolution>,
    rounds: Rounds,
    /// The errors of control flow in methods.
    flow: Vec<Diagnostic>,
}

impl Phases {
    fn member(&mut self, written: &Member) {
        let Some(resolution) = &mut self.resolution else { return };
        let Some(member) = resolution.member(written) else { return };
        if resolution.is_well_typed() {
            let program = resolution.program();
            self.rounds.member(program, member);
            if self.rounds.are_clean() {
                cfg::check_member(program, member, &mut self.flow);
            }
        }
        resolution.forget(member);
    }

    fn finish(mut self, diagnostics: &mut Vec<Diagnostic>) {
        let Some(resolution) = self.resolution else { return };
        let Some(program) = resolution.finish(diagnostics) else { return };
        self.rounds.finish(&program, diagnostics);
        if !has_errors(diagnostics) {
            diagnostics.append(&mut self.flow);
        }
    }
}

fn read(name: &str, bytes: Vec<u8>, loader: &dyn Loader) -> Read {
    let mut sources = Sources::default();
    let mut diagnostics = Vec::new();
    let mut wholes = Wholes::default();
    let mut keep = |member: Member| {
        wholes.member(&member);
        signature(member)
    };
    let (files, signatures) =
        imports::read_each(name, bytes, loader, &mut sources, &mut diagnostics, &mut keep);
    Read { sources, files, signatures, diagnostics, needs_all: wholes.found }
}

/// Tells whether a macro may be defined inside of a member: the member's signature can use the
/// macro, too.
fn defines_inside(sources: &Sources) -> bool {
    sources.files().any(|(_, file)| file.text.contains("define"))
}

/// Returns the signatures of all members, with macros expanded. What is wrong with macros is found
/// again by who expands whole members.
fn expanded_signatures(sources: &Sources, files: &[FileId], mut macros: Macros) -> Program {
    let mut signatures = Program::default();
    each_member(sources, files, |mut member| {
        macros.expand(&mut member);
        signatures.members.push(signature(member));
    });
    signatures
}

/// Parses the members of files that were parsed before, but for imports and macros.
fn each_member(sources: &Sources, files: &[FileId], mut take: impl FnMut(Member)) {
    for &file in files {
        // The diagnostics are known from the first time.
        let mut diagnostics = Vec::new();
        parser::parse_each(file, &sources.file(file).text, &mut diagnostics, |member| {
            if !matches!(member.kind, MemberKind::Import(_) | MemberKind::Define(_)) {
                take(member);
            }
        });
    }
}

/// Returns a member without what only itself is concerned by. What is there keeps being there, as
/// something else.
fn signature(mut member: Member) -> Member {
    match &mut member.kind {
        MemberKind::Predicate(predicate) => {
            predicate.body = predicate.body.take().map(|_| truth(true));
        }
        MemberKind::Function(function) => {
            let has_precondition = !function.contract.preconditions.is_empty();
            let preconditions = has_precondition.then(|| truth(true)).into_iter().collect();
            function.contract = Contract { preconditions, ..Contract::default() };
            function.body = None;
        }
        MemberKind::Method(method) => {
            (method.contract, method.implementations) = Default::default();
        }
        MemberKind::Domain(domain) => domain.axioms = Vec::new(),
        MemberKind::Program(_)
        | MemberKind::Import(_)
        | MemberKind::Define(_)
        | MemberKind::Fields(_)
        | MemberKind::Adt(_) => {}
    }
    member
}

/// Looks for what has to see all trees at once.
#[derive(Default)]
struct Wholes {
    found: bool,
}

impl<'a> Visitor<'a> for Wholes {
    fn member(&mut self, member: &'a Member) {
        self.found |= matches!(member.kind, MemberKind::Adt(_));
        if !self.found {
            visit::member(self, member);
        }
    }

    fn expr(&mut self, expr: &'a Expr) {
        self.found |= matches!(expr.kind, ExprKind::PredicateInstance { .. } | ExprKind::Epsilon);
        visit::expr(self, expr);
    }
}
