//! A part of a program as bytes: equal bytes mean that the engine can tell no difference.
//!
//! Exhaustive patterns read each part, so a new field of the tree needs a decision: [`tree`] lists
//! the parts that are written field by field. Ids of locals and labels are numbers, since the part
//! itself declares them; other members are written by name, and noted as reached.
//!
//! Two things about a span matter: the text that it covers, and the other spans that are the same;
//! its place does not. The text of a declaration is written once, and the spans in it by their
//! offsets. Spans elsewhere (in a macro, say) are written with their text.

mod tree;

use indexmap::IndexSet;
use la_arena::{Arena, Idx};
use rustc_hash::{FxBuildHasher, FxHashSet};
use sha2::{Digest as _, Sha256};
use sil::plugins::termination::{CheckKind, Instrumented};
use sil::program::*;
use sil::source::{Sources, Span};

use std::collections::BTreeSet;

use self::tree::Encode;

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
    /// The spans that are outside of the declaration.
    pub(super) elsewhere: Vec<Span>,
    /// The spans whose text is not in the digest.
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
    locals_of_contract: Option<&'p Arena<Local>>,
}

impl<'p> Encoder<'p> {
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

    fn raw<T>(&mut self, id: Idx<T>) {
        self.number(id.into_raw().into_u32() as usize);
    }

    fn write(&mut self, part: &(impl Encode + ?Sized)) {
        part.encode(self);
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
                self.write(&self.reader.sources.text(span));
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

    /// The name of the quantifier at `span` is its place: two with one name may be one for the
    /// prover.
    fn quantifier(&mut self, span: Span) {
        let place = self.reader.sources.range(span).map_or(String::new(), |(at, _)| at.to_string());
        let (index, _) = self.quantifiers.insert_full(place);
        self.number(index);
    }

    /// A variable where it is bound: of the contracts of methods, not all variables of the method
    /// are written.
    fn bind(&mut self, id: LocalId) {
        if let Some(locals) = self.locals_of_contract {
            self.signature(locals, &[id]);
        }
    }

    fn signature(&mut self, locals: &Arena<Local>, ids: &[LocalId]) {
        self.number(ids.len());
        for &id in ids {
            let Local { name, ty, kind: _, span: _ } = &locals[id];
            self.raw(id);
            self.write(name);
            self.write(ty);
        }
    }

    fn part(&mut self, part: Part) {
        let program = self.reader.program;
        match part {
            Part::Field(id) => self.declaration(0, program.fields[id].span, &program.fields[id]),
            Part::Domain(id) => {
                let domain = &program.domains[id];
                let functions: Vec<&DomainFunction> =
                    domain.functions.iter().map(|&id| &program.domain_functions[id]).collect();
                self.declaration(1, domain.span, &(domain, functions));
            }
            Part::Predicate(id) => {
                self.declaration(2, program.predicates[id].span, &program.predicates[id]);
            }
            Part::Function(id) => {
                self.declaration(3, program.functions[id].span, &program.functions[id]);
            }
            Part::Contract(id) => {
                self.tag(4);
                self.contract_of(&program.methods[id]);
            }
            Part::Method(id) => {
                let method = &program.methods[id];
                let checked = |index| self.reader.checks?.graphs.get(&(id, index));
                let checked: Vec<_> = (0..method.implementations.len()).map(checked).collect();
                self.declaration(5, method.span, &(method, checked));
            }
        }
    }

    fn declaration(&mut self, tag: u8, span: Span, declared: &impl Encode) {
        self.tag(tag);
        self.covered(span, |this| this.write(declared));
    }

    /// A method as its callers see it.
    fn contract_of(&mut self, method: &'p Method) {
        let Method {
            name,
            locals,
            formals,
            returns,
            contract: Contract { preconditions, postconditions, decreases },
            implementations,
            annotations,
            span,
        } = method;
        self.place(*span);
        self.write(name);
        self.signature(locals, formals);
        self.signature(locals, returns);
        self.locals_of_contract = Some(locals);
        for clauses in [preconditions, postconditions] {
            self.number(clauses.len());
            for clause in clauses {
                self.covered(clause.span, |this| this.write(clause));
            }
        }
        self.write(decreases);
        self.flag(implementations.is_empty());
        self.write(annotations);
    }
}
