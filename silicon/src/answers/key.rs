//! The key of a task: all that its outcome depends on, as a digest, except for facts about the
//! program as a whole.
//!
//! It covers the task's own parts, all parts that can be reached from these by ids, those that the
//! schedule shows to it, all domains (their axioms are everywhere), options, and versions. The
//! facts that a task asks for ([`symex::whole`]) are known only when it has run; they are
//! compared beside the key.

use std::collections::BTreeSet;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use sha2::{Digest as _, Sha256};
use sil::program::{FunctionId, PredicateId, Program};
use sil::source::Span;

use super::encode::{Digest, Encoded, Part, Reader, encode};
use symex::options::{GivenUp, Options};

/// The subject of a task, and the results that the schedule shows it.
pub(crate) struct Subject<'s> {
    /// Tells pieces of work about the same parts apart.
    pub(crate) kind: &'static str,
    pub(crate) own: Own<'s>,
    pub(crate) functions: Vec<FunctionId>,
    pub(crate) predicates: Vec<PredicateId>,
}

/// The part of a program that a task verifies.
#[derive(Clone, Copy)]
pub(crate) enum Own<'s> {
    Functions(&'s [FunctionId]),
    Predicate(PredicateId),
    Method(sil::program::MethodId),
    Termination { proof: sil::program::MethodId, function: FunctionId },
}

/// The key of one task, and the parts that are in it.
pub(super) struct Key {
    pub(super) digest: Digest,
    /// In the order of the program within each kind.
    pub(super) parts: Vec<Part>,
    /// The numbers and places of this program that stand in axioms of functions.
    pub(super) numbering: Digest,
}

/// Makes keys for the tasks of one program.
pub(super) struct Keys<'p> {
    reader: Reader<'p>,
    base: Digest,
    numbering: Digest,
    domains: BTreeSet<Part>,
    encoded: FxHashMap<Part, Encoded>,
}

impl<'p> Keys<'p> {
    pub(super) fn new(reader: Reader<'p>, options: &Options, given_up: &[GivenUp]) -> Self {
        let program = reader.program;
        let mut numbering = Writer::default();
        program.functions.iter().for_each(|(_, function)| numbering.text(&function.name));
        numbering.text("domains");
        program.domains.iter().for_each(|(_, domain)| numbering.text(&domain.name));
        Self {
            reader,
            base: base(program, options, given_up),
            numbering: numbering.digest(),
            domains: program.domains.iter().map(|(id, _)| Part::Domain(id)).collect(),
            encoded: FxHashMap::default(),
        }
    }

    pub(super) fn encoded(&self, part: Part) -> &Encoded {
        &self.encoded[&part]
    }

    /// Returns the key of a task.
    pub(super) fn of(&mut self, subject: &Subject<'_>) -> Key {
        let program = self.reader.program;
        let own: Vec<Part> = match subject.own {
            Own::Functions(functions) => functions.iter().copied().map(Part::Function).collect(),
            Own::Predicate(predicate) => vec![Part::Predicate(predicate)],
            Own::Method(method) => vec![Part::Method(method)],
            Own::Termination { proof, function } => {
                vec![Part::Method(proof), Part::Function(function)]
            }
        };
        let mut parts = self.domains.clone();
        parts.extend(&own);
        parts.extend(subject.functions.iter().copied().map(Part::Function));
        parts.extend(subject.predicates.iter().copied().map(Part::Predicate));
        let mut pending: Vec<Part> = parts.iter().copied().collect();
        while let Some(part) = pending.pop() {
            let encoded = self.encoded.entry(part).or_insert_with(|| encode(self.reader, part));
            pending.extend(encoded.reached.iter().copied().filter(|&part| parts.insert(part)));
        }
        let mut key = Writer::default();
        key.bytes(&self.base);
        key.text(subject.kind);
        let names = |parts: &mut dyn Iterator<Item = Part>, to: &mut Writer| {
            for part in parts {
                to.text(name(program, part));
            }
            to.text("");
        };
        names(&mut own.iter().copied(), &mut key);
        let mut functions = subject.functions.clone();
        functions.sort_unstable();
        names(&mut functions.into_iter().map(Part::Function), &mut key);
        let mut predicates = subject.predicates.clone();
        predicates.sort_unstable();
        names(&mut predicates.into_iter().map(Part::Predicate), &mut key);
        let mut numbering = Writer::default();
        numbering.bytes(&self.numbering);
        // Spans outside of declarations may be those of several parts.
        let mut elsewhere: IndexSet<Span, FxBuildHasher> = IndexSet::default();
        for &part in &parts {
            let encoded = &self.encoded[&part];
            key.bytes(&encoded.digest);
            for &span in &encoded.elsewhere {
                key.number(elsewhere.insert_full(span).0);
            }
            encoded.quantifiers.iter().for_each(|place| numbering.text(place));
        }
        let (digest, numbering) = (key.digest(), numbering.digest());
        Key { digest, parts: parts.into_iter().collect(), numbering }
    }
}

fn name(program: &Program, part: Part) -> &str {
    match part {
        Part::Field(id) => &program.fields[id].name,
        Part::Domain(id) => &program.domains[id].name,
        Part::Predicate(id) => &program.predicates[id].name,
        Part::Function(id) => &program.functions[id].name,
        Part::Contract(id) | Part::Method(id) => &program.methods[id].name,
    }
}

/// Digests everything that is the same for all tasks of a run.
fn base(program: &Program, options: &Options, given_up: &[GivenUp]) -> Digest {
    let mut base = Writer::default();
    base.text("silicon.answer.1");
    base.text(env!("CARGO_PKG_VERSION"));
    base.text(crate::solver_version());
    options.of_findings().into_iter().for_each(|choice| base.number(choice));
    for GivenUp { kind, name, is_defect, why, time: _ } in given_up {
        base.text(kind.name());
        base.text(name);
        base.flag(*is_defect);
        base.text(why);
    }
    base.text("");
    base.flag(program.origins.is_annotated);
    base.flag(program.origins.tells_null_receivers);
    base.digest()
}

/// A digest of values, each of which ends where it ends.
#[derive(Default)]
struct Writer(Sha256);

impl Writer {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn number(&mut self, number: usize) {
        self.bytes(&(number as u64).to_le_bytes());
    }

    fn flag(&mut self, flag: bool) {
        self.bytes(&[u8::from(flag)]);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.bytes(text.as_bytes());
    }

    fn digest(self) -> Digest {
        self.0.finalize().into()
    }
}
