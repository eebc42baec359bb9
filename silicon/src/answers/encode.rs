//! A part of a program as bytes: equal bytes mean that the engine can tell no difference.
//!
//! Exhaustive patterns read each part, so a new field of the tree needs a decision here. Ids of
//! locals and labels are numbers, since the part itself declares them; other members are written by
//! name, and noted as reached.
//!
//! Two things about a span matter: the text that it covers, and the other spans that are the same;
//! its place does not. The text of a declaration is written once, and the spans in it by their
//! offsets. Spans elsewhere (in a macro, say) are written with their text.

mod expressions;
mod graphs;
mod members;
mod statements;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashSet};
use sha2::{Digest as _, Sha256};
use sil::plugins::termination::{CheckKind, Instrumented};
use sil::program::*;
use sil::source::{Name, Sources, Span};

use std::collections::BTreeSet;

/// A digest of SHA-256.
pub(super) type Digest = [u8; 32];

/// A part of a program that others may depend on. The order is that of the program within each
/// kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Part {
    Field(FieldId),
    Domain(DomainId),
    Predicate(PredicateId),
    Function(FunctionId),
    /// A method as its callers see it.
    Contract(MethodId),
    /// With its bodies.
    Method(MethodId),
}

/// A part, read.
pub(super) struct Encoded {
    pub(super) digest: Digest,
    /// All spans of the part, each once, in the order met.
    pub(super) spans: IndexSet<Span, FxBuildHasher>,
    /// Those that are outside of the declaration.
    pub(super) elsewhere: Vec<Span>,
    /// Those whose text is not in the digest.
    pub(super) without_text: FxHashSet<Span>,
    /// The parts that it mentions.
    pub(super) reached: BTreeSet<Part>,
    /// The names of its quantifiers: their places.
    pub(super) quantifiers: Vec<String>,
}

/// The program that is read, and the state of reading.
#[derive(Clone, Copy)]
pub(super) struct Reader<'p> {
    pub(super) program: &'p Program,
    pub(super) sources: &'p Sources,
    pub(super) checks: Option<&'p Instrumented>,
}

/// Reads a part.
pub(super) fn encode(reader: Reader<'_>, part: Part) -> Encoded {
    let mut encoder = Encoder {
        reader,
        bytes: Vec::new(),
        spans: IndexSet::default(),
        elsewhere: Vec::new(),
        without_text: FxHashSet::default(),
        covered: None,
        reached: BTreeSet::new(),
        quantifiers: IndexSet::default(),
        locals_of_contract: None,
    };
    encoder.part(part);
    let Encoder { bytes, spans, elsewhere, without_text, reached, quantifiers, .. } = encoder;
    Encoded {
        digest: Sha256::digest(&bytes).into(),
        spans,
        elsewhere,
        without_text,
        reached,
        quantifiers: quantifiers.into_iter().collect(),
    }
}

struct Encoder<'p> {
    reader: Reader<'p>,
    bytes: Vec<u8>,
    spans: IndexSet<Span, FxBuildHasher>,
    elsewhere: Vec<Span>,
    without_text: FxHashSet<Span>,
    /// The text of this is written.
    covered: Option<Span>,
    reached: BTreeSet<Part>,
    quantifiers: IndexSet<String, FxBuildHasher>,
    /// The locals of the method whose contract is read.
    locals_of_contract: Option<&'p la_arena::Arena<Local>>,
}

impl Encoder<'_> {
    fn tag(&mut self, tag: u8) {
        self.bytes.push(tag);
    }

    fn number(&mut self, number: usize) {
        self.bytes.extend_from_slice(&(number as u64).to_le_bytes());
    }

    fn flag(&mut self, flag: bool) {
        self.tag(u8::from(flag));
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn all<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.number(items.len());
        items.iter().for_each(|item| each(self, item));
    }

    fn maybe<T>(&mut self, item: Option<&T>, each: impl FnOnce(&mut Self, &T)) {
        self.flag(item.is_some());
        if let Some(item) = item {
            each(self, item);
        }
    }

    fn raw<T>(&mut self, id: la_arena::Idx<T>) {
        self.number(id.into_raw().into_u32() as usize);
    }

    /// The text of `span` is written, and that of all spans in it is not written again.
    fn covered(&mut self, span: Span, inside: impl FnOnce(&mut Self)) {
        self.span(span);
        let before = self.covered.replace(span);
        inside(self);
        self.covered = before;
    }

    fn span(&mut self, span: Span) {
        if let Some(index) = self.spans.get_index_of(&span)
            && !self.without_text.contains(&span)
        {
            self.tag(0);
            self.number(index);
            return;
        }
        let (index, _) = self.spans.insert_full(span);
        self.without_text.remove(&span);
        let kind = self.reader.checks.and_then(|checks| checks.check(span)).map(|check| check.kind);
        self.tag(match kind {
            None => 1,
            Some(CheckKind::Copy) => 2,
            Some(CheckKind::TerminationCondition) => 3,
            Some(CheckKind::TupleCondition) => 4,
            Some(CheckKind::Tuple) => 5,
        });
        self.number(index);
        match self.covered {
            Some(outer)
                if outer.file == span.file
                    && outer.start <= span.start
                    && span.end <= outer.end =>
            {
                self.tag(0);
                self.number((span.start - outer.start) as usize);
                self.number((span.end - span.start) as usize);
            }
            _ => {
                self.tag(1);
                self.elsewhere.push(span);
                let text = self.reader.sources.text(span);
                self.maybe(text.as_ref(), |this, text| this.text(text));
            }
        }
    }

    /// A span of which only the place matters.
    fn place(&mut self, span: Span) {
        let (index, is_new) = self.spans.insert_full(span);
        if is_new {
            self.without_text.insert(span);
        }
        self.number(index);
    }

    fn reach(&mut self, part: Part, name: &str) {
        self.reached.insert(part);
        self.text(name);
    }

    fn annotations(&mut self, annotations: &[Annotation]) {
        // What begins with `src.` says where something comes from; the engine does not read it.
        let own = annotations.iter().filter(|annotation| !annotation.key.starts_with("src."));
        let own: Vec<_> = own.collect();
        self.all(&own, |this, Annotation { key, values, span: _ }| {
            this.text(key);
            this.all(values, |this, value| this.text(value));
        });
    }

    fn name(&mut self, name: &Name) {
        self.text(name);
    }

    fn ty(&mut self, ty: &Type) {
        match ty {
            Type::Int => self.tag(0),
            Type::Bool => self.tag(1),
            Type::Perm => self.tag(2),
            Type::Ref => self.tag(3),
            Type::Seq(element) => {
                self.tag(4);
                self.ty(element);
            }
            Type::Set(element) => {
                self.tag(5);
                self.ty(element);
            }
            Type::Multiset(element) => {
                self.tag(6);
                self.ty(element);
            }
            Type::Map(key, value) => {
                self.tag(7);
                self.ty(key);
                self.ty(value);
            }
            Type::Domain(domain, arguments) => {
                self.tag(8);
                let name = &self.reader.program.domains[*domain].name;
                self.reach(Part::Domain(*domain), name);
                self.all(arguments, Self::ty);
            }
            Type::Variable(name) => {
                self.tag(9);
                self.name(name);
            }
            Type::Wand => self.tag(10),
        }
    }

    fn locals(&mut self, locals: &la_arena::Arena<Local>) {
        self.number(locals.len());
        for (_, Local { name, ty, kind, span }) in locals.iter() {
            self.name(name);
            self.ty(ty);
            self.tag(match kind {
                LocalKind::Formal => 0,
                LocalKind::Returned => 1,
                LocalKind::Variable => 2,
                LocalKind::Bound => 3,
                LocalKind::Let => 4,
            });
            self.place(*span);
        }
    }

    /// Those that callers see.
    fn signature(&mut self, locals: &la_arena::Arena<Local>, ids: &[LocalId]) {
        self.all(ids, |this, &id| {
            let Local { name, ty, kind: _, span: _ } = &locals[id];
            this.raw(id);
            this.name(name);
            this.ty(ty);
        });
    }

    /// A variable where it is bound: of the contracts of methods, not all variables of the method
    /// are written.
    fn bind(&mut self, id: LocalId) {
        self.raw(id);
        let locals = self.locals_of_contract;
        self.maybe(locals.map(|locals| &locals[id]).as_ref(), |this, Local { name, ty, .. }| {
            this.name(name);
            this.ty(ty);
        });
    }

    fn ids(&mut self, ids: &[LocalId]) {
        self.all(ids, |this, &id| this.raw(id));
    }
}
