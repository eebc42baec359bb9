//! A program of its own for a run: the text of a Rust program on the runtime of `chalice-rt`.
//!
//! As the thesis generates C# with and without checks (Hegi 2013, section 3), from the same lowered
//! program that the interpreter executes, so both make the same checks in the same order. Threads of
//! the program are threads of the system. What cannot be emitted is refused: no emitted program does
//! something else than the interpreter.

mod assertions;
mod exprs;
mod members;
mod package;
mod start;
mod stmts;

use std::collections::{BTreeMap, BTreeSet};

use chalice::Span;
use findings::{ErrorId, Reason};

pub use package::{Package, package};

use crate::code::{Code, Frame};
use crate::machine::Machine;
use crate::run::Failure;
use crate::sources::Sources;
use crate::value::Value;

/// A part of a program that cannot be emitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The place of the refused construct.
    pub span: Span,
    /// The part, by name.
    pub what: &'static str,
}

impl Refusal {
    /// Returns the refusal as a failure of the whole.
    pub fn failure(&self, method: &str) -> Failure {
        let id = findings::full_id(ErrorId::NotSupported, Some(Reason::FeatureUnsupported));
        Failure {
            id,
            span: self.span,
            message: format!("{} cannot be emitted", self.what),
            thread: String::new(),
            forked: None,
            method: method.to_owned(),
            notes: Vec::new(),
            values: Vec::new(),
            parts: Vec::new(),
            held: Vec::new(),
            step: 0,
        }
    }
}

/// The result of emitting a part.
type Out<T> = Result<T, Refusal>;

/// Refuses a part.
fn refuse<T>(span: Span, what: &'static str) -> Out<T> {
    Err(Refusal { span, what })
}

/// A part of a program that others refer to by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Member {
    Method(u32),
    Function(u32),
    Predicate(u32),
    Class(u32),
    Channel(u32),
    /// The tokens of a method.
    Token(u32),
}

/// How a value is kept by emitted code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ty {
    Int,
    Bool,
    Value,
}

impl Ty {
    fn of(value: &Value) -> Self {
        match value {
            Value::Int(_) => Self::Int,
            Value::Bool(_) => Self::Bool,
            _ => Self::Value,
        }
    }

    /// Returns the type in Rust.
    fn text(self) -> &'static str {
        match self {
            Self::Int => "i64",
            Self::Bool => "bool",
            Self::Value => "Value",
        }
    }

    /// Returns the type of a parameter that is only read.
    fn lent(self) -> &'static str {
        if self == Self::Value { "&Value" } else { self.text() }
    }
}

/// Emits the members that a start needs.
struct Emitter<'e> {
    code: &'e Code,
    sources: &'e Sources,
    /// Are checks emitted?
    checks: bool,
    /// Members that something refers to, and that are not emitted yet.
    open: Vec<Member>,
    known: BTreeSet<Member>,
    /// How many labels there are.
    labels: u32,
    /// Past values of each method that is being emitted: type and expression.
    olds: BTreeMap<u32, Vec<(Ty, String)>>,
}

/// The place of an expression: the slots it has, and the method whose past it may speak of.
#[derive(Clone, Copy)]
struct Context<'s> {
    frame: &'s Frame,
    /// The method, and how many of its slots never change.
    method: Option<(u32, usize)>,
}

impl Emitter<'_> {
    fn need(&mut self, member: Member) {
        if self.known.insert(member) {
            self.open.push(member);
        }
    }

    /// Returns a place, as emitted code has it.
    fn at(&self, span: Span) -> String {
        let place = self.sources.place(span.start);
        let file = self.sources.file_of(span.start);
        format!("at({file}, {}, {})", place.line, place.column)
    }

    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    fn ty(frame: &Frame, slot: u32) -> Ty {
        Ty::of(&frame.initial[slot as usize])
    }
}

/// Returns the text of a module with `PROGRAMS`: each does what one of several machines is about to
/// do.
///
/// # Errors
/// A part of them that cannot be emitted.
///
/// # Panics
/// If there is no machine.
pub fn module(sources: &Sources, code: &Code, starts: &[&Machine<'_>]) -> Result<String, Refusal> {
    let checks = starts[0].config.checks;
    let mut emitter = Emitter {
        code,
        sources,
        checks,
        open: Vec::new(),
        known: BTreeSet::new(),
        labels: 0,
        olds: BTreeMap::new(),
    };
    let files = sources.files().iter().map(|(file, _)| format!("{:?}", file.name));
    let files = files.collect::<Vec<_>>().join(", ");
    let deadlock_checks = code.options.deadlock_checks;
    let (mut programs, mut parts) = (String::new(), Vec::new());
    for (number, start) in starts.iter().enumerate() {
        let (leaks, is_generated) = (start.config.leaks_fail, start.is_generated);
        programs.push_str(&format!(
            "    Program {{\n        files: &[{files}],\n        checks: {checks},\n        \
             deadlock_checks: {deadlock_checks},\n        leaks_fail: {leaks},\n        \
             is_generated: {is_generated},\n        start: start{number},\n    }},\n"
        ));
        parts.push((None, number, emitter.start(number, start)?));
    }
    while let Some(member) = emitter.open.pop() {
        parts.push((Some(member), 0, emitter.member(member)?));
    }
    parts.sort();
    let parts: Vec<String> = parts.into_iter().map(|(_, _, text)| text).collect();
    Ok(format!(
        "//! Emitted by chalice-run.\n\n\
         #![allow(unused, unreachable_code, clippy::all, reason = \"emitted\")]\n\n\
         use chalice_rt::prelude::*;\n\n\
         pub static PROGRAMS: [Program; {}] = [\n{programs}];\n\n{}",
        starts.len(),
        parts.join("\n")
    ))
}
