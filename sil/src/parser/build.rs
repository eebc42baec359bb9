//! From what pest recognised to the parse tree.
//!
//! The builder follows the grammar rule by rule; each method is named after its rule and takes that
//! rule's pair. It also checks what the grammar leaves open (see the head of `grammar.pest`).

mod expr;
mod member;
mod precedence;
mod stmt;

use pest::iterators::{Pair, Pairs};
use rustc_hash::FxHashSet;

use crate::diagnostics::{Code, Diagnostic};
use crate::source::{FileId, Name, Span};
use crate::syntax::{Annotation, Decreases, DecreasesKind, Ident, Type, TypeKind, TypedName};

use super::errors::Failure;
use super::{MAX_DEPTH, Rule};
use precedence::Stacks;

pub(crate) use stmt::not_simple;

type Node<'t> = Pair<'t, Rule>;
type Nodes<'t> = Pairs<'t, Rule>;

/// How many nodes the chained comparisons of a file may copy (`a < b < c` has `b` twice): without a
/// limit, chains inside the operands of chains would grow exponentially.
const MAX_COPIED_NODES: usize = 1_000_000;

/// Builds the trees of one file.
pub(super) struct Builder<'d> {
    file: FileId,
    /// Where the text that pest saw starts in the file.
    base: usize,
    diagnostics: &'d mut Vec<Diagnostic>,
    names: FxHashSet<Name>,
    /// A member of the file has been read.
    has_members: bool,
    /// How deep in the tree the current node is.
    depth: usize,
    /// Some expression of this chunk passed [`MAX_DEPTH`]: reported once.
    too_deep: bool,
    /// Expressions built so far.
    nodes: usize,
    /// Nodes copied by comparison chains, and whether one copy was too much: reported once.
    copied: usize,
    refused_copy: bool,
    stacks: Stacks,
    /// The height of the tallest expression among the parts of the operand at hand.
    tallest: usize,
}

/// The same list without room for more: most lists are shorter than what a vector starts with.
fn fitted<T>(mut list: Vec<T>) -> Vec<T> {
    list.shrink_to_fit();
    list
}

impl<'d> Builder<'d> {
    pub(super) fn new(file: FileId, diagnostics: &'d mut Vec<Diagnostic>) -> Self {
        Self {
            file,
            base: 0,
            diagnostics,
            names: FxHashSet::default(),
            has_members: false,
            depth: 0,
            too_deep: false,
            nodes: 0,
            copied: 0,
            refused_copy: false,
            stacks: Stacks::default(),
            tallest: 0,
        }
    }

    /// The pairs built from now on count their offsets from `base`.
    pub(super) fn start_chunk(&mut self, base: usize) {
        self.base = base;
        self.too_deep = false;
    }

    pub(super) fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(Code::ParserError, span, message));
    }

    /// A syntax error; its offsets count in the file.
    pub(super) fn failure(&mut self, failure: Failure) {
        let span = Span::new(self.file, failure.start, failure.end);
        let mut diagnostic = Diagnostic::new(Code::ParserError, span, failure.message);
        if let Some((at, remark)) = failure.unclosed {
            diagnostic = diagnostic.with_related(Span::new(self.file, at, at + 1), remark);
        }
        self.diagnostics.push(diagnostic);
    }

    /// An error at offsets of the chunk.
    pub(super) fn error_at(&mut self, start: usize, end: usize, message: String) {
        let span = Span::new(self.file, self.base + start, self.base + end);
        self.error(span, message);
    }

    fn warning(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(Code::ParserWarning, span, message));
    }

    /// Returns the span of a pair, without the white space that pest leaves at its end.
    fn span(&self, node: &Node<'_>) -> Span {
        let span = node.as_span();
        let length = node.as_str().as_bytes().trim_ascii_end().len();
        let start = self.base + span.start();
        Span::new(self.file, start, start + length)
    }

    fn name(&mut self, text: &str) -> Name {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name = Name::from(text);
        self.names.insert(name.clone());
        name
    }

    fn ident(&mut self, node: &Node<'_>) -> Ident {
        Ident { name: self.name(node.as_str()), span: self.span(node) }
    }

    fn idents(&mut self, node: Node<'_>) -> Vec<Ident> {
        let nodes = node.into_inner().filter(|part| part.as_rule() == Rule::ident);
        nodes.map(|part| self.ident(&part)).collect()
    }

    /// Returns the text between the quotes.
    fn string(&mut self, node: &Node<'_>) -> Name {
        let text = node.as_str();
        self.name(&text[1..text.len() - 1])
    }

    fn annotation(&mut self, node: Node<'_>) -> Annotation {
        let span = self.span(&node);
        let mut key = Name::default();
        let mut values = Vec::new();
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::key => key = self.name(part.as_str()),
                Rule::string => values.push(self.string(&part)),
                _ => {}
            }
        }
        Annotation { key, values, span }
    }

    /// Returns the annotations at the start of `parts`, which is moved behind them.
    fn annotations(&mut self, parts: &mut Nodes<'_>) -> Vec<Annotation> {
        let mut annotations = Vec::new();
        while let Some(part) = next_if(parts, Rule::annotation) {
            annotations.push(self.annotation(part));
        }
        annotations
    }

    fn typed_name(&mut self, node: Node<'_>) -> TypedName {
        let mut parts = node.into_inner();
        let name = self.ident(&next(&mut parts));
        skip(&mut parts, Rule::colon);
        TypedName { name, ty: self.ty(next(&mut parts)) }
    }

    /// Returns all `typed_name`s among the parts of `node`.
    fn typed_names(&mut self, node: Node<'_>) -> Vec<TypedName> {
        let nodes = node.into_inner().filter(|part| part.as_rule() == Rule::typed_name);
        fitted(nodes.map(|part| self.typed_name(part)).collect())
    }

    /// Takes the `typed_name`s that come next.
    fn take_typed_names(&mut self, parts: &mut Nodes<'_>) -> Vec<TypedName> {
        let mut names = Vec::new();
        while let Some(part) = next_if(parts, Rule::typed_name) {
            names.push(self.typed_name(part));
        }
        fitted(names)
    }

    fn ty(&mut self, node: Node<'_>) -> Type {
        let span = self.span(&node);
        let kind = match node.as_rule() {
            Rule::plain_type => self.plain_type(node.as_str(), span),
            Rule::collection_type => {
                let mut parts = node.into_inner();
                let collection = next(&mut parts);
                let element = Box::new(self.ty(next(&mut parts)));
                match collection.as_str() {
                    "Seq" => TypeKind::Seq(element),
                    "Set" => TypeKind::Set(element),
                    _ => TypeKind::Multiset(element),
                }
            }
            Rule::map_type => {
                let mut parts = node.into_inner();
                skip(&mut parts, Rule::kw_map);
                let key = self.ty(next(&mut parts));
                TypeKind::Map(Box::new(key), Box::new(self.ty(next(&mut parts))))
            }
            _ => self.named_type(node),
        };
        Type { kind, span }
    }

    fn plain_type(&mut self, text: &str, span: Span) -> TypeKind {
        match text {
            "Int" => TypeKind::Int,
            "Bool" => TypeKind::Bool,
            "Ref" => TypeKind::Ref,
            "Perm" => TypeKind::Perm,
            _ => {
                self.warning(span, "the type `Rational` is deprecated; it means `Perm`");
                TypeKind::Perm
            }
        }
    }

    fn named_type(&mut self, node: Node<'_>) -> TypeKind {
        let mut parts = node.into_inner();
        let name = self.ident(&next(&mut parts));
        match parts.next() {
            Some(part) if part.as_rule() == Rule::macro_arguments => {
                let arguments = part.into_inner().map(|argument| self.macro_argument(&argument));
                TypeKind::MacroCall { name, arguments: arguments.collect() }
            }
            Some(part) => {
                let arguments =
                    part.into_inner().filter(|part| part.as_rule() != Rule::close_bracket);
                let arguments = arguments.map(|argument| self.ty(argument)).collect();
                TypeKind::Named { name, arguments }
            }
            None => TypeKind::Named { name, arguments: Vec::new() },
        }
    }

    fn macro_argument(&mut self, node: &Node<'_>) -> crate::syntax::MacroArgument {
        crate::syntax::MacroArgument(self.name(node.as_str().trim_ascii_end()))
    }

    fn decreases(&mut self, node: Node<'_>) -> Decreases {
        let span = self.span(&node);
        let mut kind = DecreasesKind::Star;
        let mut condition = None;
        let mut measure = span;
        for part in node.into_inner() {
            if part.as_rule() != Rule::kw_decreases && measure.start == span.start {
                // An empty measure stands behind blanks that the clause does not cover.
                measure.start = self.span(&part).start.min(span.end);
            }
            match part.as_rule() {
                Rule::underscore => kind = DecreasesKind::Wildcard,
                Rule::decreases_tuple => {
                    let elements = part.into_inner().map(|element| self.exp(element)).collect();
                    kind = DecreasesKind::Tuple(elements);
                }
                Rule::decreases_if => {
                    condition = part
                        .into_inner()
                        .find(|part| part.as_rule() == Rule::exp)
                        .map(|part| self.exp(part));
                }
                _ => {}
            }
        }
        Decreases { kind, condition, in_postcondition: false, measure, span }
    }

    /// Enters nodes that are `levels` deeper; says so and returns `false` where that is too deep.
    /// Each successful call is followed by [`Self::leave`] with the same number.
    fn enter(&mut self, levels: usize, span: Span) -> bool {
        if self.depth + levels <= MAX_DEPTH {
            self.depth += levels;
            return true;
        }
        self.refuse_depth(span);
        false
    }

    fn refuse_depth(&mut self, span: Span) {
        if !self.too_deep {
            self.too_deep = true;
            self.error(span, format!("the syntax tree is deeper than {MAX_DEPTH} levels here"));
        }
    }

    fn leave(&mut self, levels: usize) {
        self.depth -= levels;
    }
}

/// Returns the next part; the grammar says that there is one.
fn next<'t>(parts: &mut Nodes<'t>) -> Node<'t> {
    parts.next().expect("the grammar requires this part")
}

/// Returns the next part if it is of `rule`.
fn next_if<'t>(parts: &mut Nodes<'t>, rule: Rule) -> Option<Node<'t>> {
    if parts.peek()?.as_rule() == rule { parts.next() } else { None }
}

/// Skips words and punctuation.
fn skip(parts: &mut Nodes<'_>, rule: Rule) {
    let part = next(parts);
    debug_assert_eq!(part.as_rule(), rule, "the parts come in the grammar's order");
}

/// Returns the next part of `rule`; what stands before it is punctuation.
fn find<'t>(parts: &mut Nodes<'t>, rule: Rule) -> Node<'t> {
    parts.find(|part| part.as_rule() == rule).expect("the grammar requires this part")
}
