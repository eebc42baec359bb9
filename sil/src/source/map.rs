//! Source annotations: reporting an error at the original program, in its front end's words.
//!
//! Spans carry the origin of their node ([`crate::source::OriginId`]); walking outward is following
//! the parents in the program's table of origins. A program without `@src.…` annotations is
//! explained by its plain positions and the given words.

use findings::ErrorId;
use indexmap::IndexMap;

use crate::macros::parts;
use crate::program::{Annotation, Origin, Program};
use crate::source::{LineColumn, OriginId, SourceFile, Sources, Span};

/// The words for the place where a macro is used, about an error inside of it.
pub const USED_HERE: &str = "used here";

/// The words for the place where a macro is used that has the statement of an error.
const MACRO_USED_HERE: &str = "the macro is used here";

/// Explains errors of one program.
pub struct SourceMap<'a> {
    program: &'a Program,
    sources: &'a Sources,
    /// The texts of original files, by the path that `@src.file` declares.
    originals: IndexMap<String, SourceFile>,
}

/// A range of a file, original or generated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    pub file: String,
    pub start: LineColumn,
    /// Exclusive.
    pub end: LineColumn,
}

/// An error as its user shall see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explained {
    /// Where the error is: in the original program if there is one.
    pub place: Place,
    /// The place in the generated text, if `place` is not in it.
    pub generated: Option<Place>,
    /// The id and reason after renaming.
    pub id: String,
    pub message: String,
    /// Where the part that could not be shown stands, if elsewhere.
    pub reason: Option<Place>,
    /// Secondary positions, innermost first.
    pub notes: Vec<(Place, String)>,
    /// The translator promised that this cannot fail: an internal error of the translator, not of
    /// its user.
    pub is_hidden: bool,
    /// The finding is reported where the unproved part stands (`@src.inner`), where it may be
    /// reported anyway.
    pub is_inner: bool,
    /// The text at `place` is the offending text; not so for generated code.
    pub shows_text: bool,
}

impl<'a> SourceMap<'a> {
    pub fn new(program: &'a Program, sources: &'a Sources) -> Self {
        Self { program, sources, originals: IndexMap::new() }
    }

    /// Supplies the text of an original file, from which messages quote.
    #[must_use]
    pub fn with_original(mut self, name: impl Into<String>, text: &str) -> Self {
        let name = name.into();
        self.originals.insert(name.clone(), SourceFile::new(name, text));
        self
    }

    /// Returns the original files that the program's annotations name, in the order declared.
    pub fn original_files(&self) -> impl Iterator<Item = &str> {
        self.program.origins.files.values().map(|path| &**path)
    }

    /// Returns the place a span stands for: the original one if there is one, else the span's own.
    pub fn place(&self, span: Span) -> Place {
        self.original_place(span.origin).map_or_else(|| self.own_place(span), |(place, _)| place)
    }

    /// Returns where its author wrote what a span stands for; `None` for what a translator has
    /// added.
    pub fn written(&self, span: Span) -> Option<Place> {
        match self.original_place(span.origin) {
            Some((place, is_own)) => is_own.then_some(place),
            None => self.original_files().next().is_none().then(|| self.own_place(span)),
        }
    }

    /// Makes the message about the error `full_id` (`id:reason`) at `error`; `reason` could not be
    /// shown. `subject`: the location without permission, or the receiver that might be null, in the
    /// user's words.
    pub fn explain(
        &self,
        error: Span,
        reason: Option<Span>,
        full_id: &str,
        default_message: &str,
        subject: Option<&str>,
    ) -> Explained {
        let reason_span = reason.unwrap_or(error);
        let is_inner = self.outward(error.origin).any(|origin| has(origin, "src.inner"));
        let located = if is_inner { reason_span } else { error };
        let original = self.original_place(located.origin);
        let own = self.own_place(located);
        let original_is_known = original.is_some();
        let (place, generated, shows_text) = match original {
            Some((place, is_own)) => (place, Some(own), is_own),
            None => (own, None, true),
        };
        let id = self.renamed_id(reason_span, error, full_id);
        let conjunct = parts::conjunct(self.program, self.sources, reason_span.origin);
        let message = match self.rule("src.say", reason_span, error, full_id) {
            Some(rule) => self.message(rule, reason_span, error),
            None if original_is_known => {
                let text = self.text(reason_span);
                reworded(full_id, &id, default_message, (&text, subject))
            }
            None => match &conjunct {
                Some((_, text)) => reworded(full_id, &id, default_message, (text, subject)),
                None => default_message.to_owned(),
            },
        };
        let mut notes = self.notes(reason_span, error);
        let mut at_reason = reason.map(|span| self.place(span)).filter(|at| *at != place);
        if let Some((span, _)) = conjunct {
            let used = at_reason.replace(self.own_place(span)).unwrap_or_else(|| place.clone());
            notes.push((used, USED_HERE.to_owned()));
        }
        let uses = parts::uses(self.program, error.origin);
        notes.extend(uses.map(|used| (self.own_place(used), MACRO_USED_HERE.to_owned())));
        Explained {
            generated: generated.filter(|own| *own != place),
            id,
            message,
            reason: at_reason,
            notes,
            is_hidden: self.outward(error.origin).any(|origin| has(origin, "src.hide")),
            is_inner,
            shows_text,
            place,
        }
    }

    /// Returns the origins at and above a node, innermost first.
    fn outward(&self, origin: OriginId) -> impl Iterator<Item = &'a Origin> + use<'a> {
        outward(self.program, origin)
    }

    /// Returns the innermost `@src.at`, and whether no `@src.none` stands below it.
    fn original_place(&self, origin: OriginId) -> Option<(Place, bool)> {
        let mut is_own = true;
        for origin in self.outward(origin) {
            for annotation in origin.annotations.iter().rev() {
                match &*annotation.key {
                    "src.none" => is_own = false,
                    "src.at" => {
                        if let Some(place) = self.written_place(annotation) {
                            return Some((place, is_own));
                        }
                    }
                    _ => {}
                }
            }
        }
        None
    }

    /// Reads the place in `("key", "12.3-12.17", …)`.
    fn written_place(&self, annotation: &Annotation) -> Option<Place> {
        let [key, range, ..] = &annotation.values[..] else { return None };
        let (start, end) = range.split_once('-')?;
        let file = self.program.origins.files.get(key).unwrap_or(key);
        Some(Place { file: unescape(file), start: line_column(start)?, end: line_column(end)? })
    }

    fn own_place(&self, span: Span) -> Place {
        match self.sources.range(span) {
            Some((start, end)) => {
                Place { file: self.sources.file(span.file).name.clone(), start, end }
            }
            None => {
                let start = LineColumn { line: 1, column: 1 };
                Place { file: String::new(), start, end: start }
            }
        }
    }

    /// Returns the first annotation of this key whose pattern matches, outward from the reason,
    /// then from the error.
    fn rule(&self, key: &str, reason: Span, error: Span, full_id: &str) -> Option<&'a Annotation> {
        self.outward(reason.origin)
            .chain(self.outward(error.origin))
            .flat_map(|origin| &origin.annotations)
            .filter(|annotation| &*annotation.key == key)
            .find(|annotation| {
                annotation.values.first().is_some_and(|pattern| matches(pattern, full_id))
            })
    }

    /// Returns the id that the nearest `@src.as` gives. One that keeps what failed and says another
    /// reason (`*:reason`) leaves the naming of what failed to those further out.
    fn renamed_id(&self, reason: Span, error: Span, full_id: &str) -> String {
        let mut id = full_id.to_owned();
        let around = self.outward(reason.origin).chain(self.outward(error.origin));
        for rule in around.flat_map(|origin| &origin.annotations) {
            if let ("src.as", [pattern, to, ..]) = (&*rule.key, &rule.values[..])
                && matches(pattern, &id)
            {
                id = renamed(pattern, &unescape(to), &id);
                if !to.starts_with("*:") {
                    break;
                }
            }
        }
        id
    }

    /// Returns the text of a `@src.say`, its placeholders filled in.
    fn message(&self, rule: &Annotation, reason: Span, error: Span) -> String {
        let Some(text) = rule.values.get(1) else { return String::new() };
        let mut message = String::new();
        let mut rest = &**text;
        while let Some(at) = rest.find('%') {
            message.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some((character, after)) = escaped(rest) {
                message.push(character);
                rest = after;
                continue;
            }
            let mut characters = rest.chars();
            match characters.next() {
                Some('e') => message.push_str(&self.text(reason)),
                Some('n') => message.push_str(&self.name(reason, error)),
                Some(digit @ '1'..='9') => {
                    let index = digit as usize - '0' as usize + 1;
                    message.extend(rule.values.get(index).map(|value| unescape(value)));
                }
                _ => {
                    message.push('%');
                    continue;
                }
            }
            rest = characters.as_str();
        }
        message + rest
    }

    /// Returns the user's text of a node: of the original program if that is at hand, else of the
    /// generated one.
    fn text(&self, span: Span) -> String {
        let original = self.original_place(span.origin).and_then(|(place, _)| {
            text_between(self.originals.get(&place.file)?, place.start, place.end)
        });
        let text = match original {
            Some(text) => text.to_owned(),
            None => without_annotations(self.sources.text(span).unwrap_or_default()),
        };
        // Text that spans lines reads as one.
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the text of a condition at which a path branched; `None` if it is in no program that
    /// the user knows.
    pub fn condition(&self, span: Span, written: &str) -> Option<String> {
        match self.original_place(span.origin) {
            None => Some(written.to_owned()),
            Some((_, true)) => Some(self.text(span)),
            Some((_, false)) => None,
        }
    }

    /// Returns the original program's name of a declaration, if its front end says so.
    pub fn given_name(&self, declaration: Span) -> Option<String> {
        given_name(self.program, declaration)
    }

    fn name(&self, reason: Span, error: Span) -> String {
        self.outward(reason.origin)
            .chain(self.outward(error.origin))
            .flat_map(|origin| &origin.annotations)
            .find(|annotation| &*annotation.key == "src.name")
            .and_then(|annotation| annotation.values.first())
            .map(|name| unescape(name))
            .unwrap_or_default()
    }

    fn notes(&self, reason: Span, error: Span) -> Vec<(Place, String)> {
        let mut notes = Vec::new();
        let around = self.outward(error.origin).chain(self.outward(reason.origin));
        for annotation in around.flat_map(|origin| &origin.annotations) {
            if &*annotation.key == "src.note"
                && let Some(place) = self.written_place(annotation)
            {
                let text = annotation.values.get(2).map(|text| unescape(text)).unwrap_or_default();
                let note = (place, text);
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        notes
    }
}

/// Returns the original program's name of a declaration, if its front end says so.
pub fn given_name(program: &Program, declaration: Span) -> Option<String> {
    own_text(program, declaration, "src.name")
}

/// Returns the noun for values of a domain that a front end has made (`@src.values`).
pub fn values_called(program: &Program, declaration: Span) -> Option<String> {
    own_text(program, declaration, "src.values")
}

/// Returns the text of an annotation at the declaration itself.
fn own_text(program: &Program, declaration: Span, key: &str) -> Option<String> {
    let own = (declaration.origin.0 as usize).checked_sub(1)?;
    let annotations = &program.origins.entries.get(own)?.annotations;
    let annotation = annotations.iter().find(|annotation| &*annotation.key == key)?;
    annotation.values.first().map(|text| unescape(text))
}

/// Returns the original program's name of a variable of the member of `declaration`
/// (`@src.variables`); `None` if it has no such variable.
pub fn given_variable(program: &Program, declaration: Span, name: &str) -> Option<String> {
    let listed = outward(program, declaration.origin)
        .flat_map(|origin| &origin.annotations)
        .find(|annotation| &*annotation.key == "src.variables")?;
    listed.values.iter().find_map(|value| match value.split_once('=') {
        Some((own, called)) => (own == name).then(|| unescape(called)),
        None => (&**value == name).then(|| name.to_owned()),
    })
}

/// Returns the origins at and above a node, innermost first.
pub(crate) fn outward(program: &Program, origin: OriginId) -> impl Iterator<Item = &Origin> {
    let entries = &program.origins.entries;
    let entry = move |id: OriginId| entries.get((id.0 as usize).checked_sub(1)?).map(|it| (id, it));
    std::iter::successors(entry(origin), move |(id, origin)| {
        // Parents come first in the table, so that the walk ends.
        entry(origin.parent).filter(|(parent, _)| parent < id)
    })
    .map(|(_, origin)| origin)
}

/// Returns a message of the engine, which quotes the generated text, with the original text in its
/// place. Where what fails has another id in the original program, that is what the message says.
fn reworded(
    full_id: &str,
    id: &str,
    default_message: &str,
    (text, subject): (&str, Option<&str>),
) -> String {
    let why = match full_id.split_once(':').map(|(_, reason)| reason) {
        Some("assertion.false") => format!("`{text}` might not hold"),
        Some("insufficient.permission") => {
            let location = subject.unwrap_or(text);
            format!("there might be insufficient permission for `{location}`")
        }
        Some("receiver.null") => match subject {
            Some(receiver) => format!("`{receiver}` might be null"),
            None => format!("a receiver in `{text}` might be null"),
        },
        Some("qp.not.injective") => {
            format!("the receiver of `{text}` might be the same for different values")
        }
        Some("negative.permission") => format!("an amount in `{text}` might be negative"),
        Some("division.by.zero") => format!("a divisor in `{text}` might be zero"),
        Some("seq.index.negative") => format!("an index in `{text}` might be negative"),
        Some("seq.index.length") => format!("an index in `{text}` might be too large"),
        _ => return default_message.to_owned(),
    };
    let (before, after) = (error_of(full_id), error_of(id));
    let other = ErrorId::ALL.iter().find(|error| before != after && error.id() == after);
    match (other, default_message.split_once(": ")) {
        (Some(error), Some(_)) if !error.words().is_empty() => {
            format!("{}: {why}", error.words())
        }
        (_, Some((what, _))) => format!("{what}: {why}"),
        (_, None) => why,
    }
}

/// Returns the part of an id before its reason.
fn error_of(full_id: &str) -> &str {
    full_id.split_once(':').map_or(full_id, |(error, _)| error)
}

/// Returns the new id; a `*` in it stands for what the `*` of the pattern matched.
fn renamed(pattern: &str, id: &str, full_id: &str) -> String {
    let matched = pattern.split_once('*').and_then(|(before, after)| {
        full_id.strip_prefix(before).and_then(|rest| rest.strip_suffix(after))
    });
    id.replace('*', matched.unwrap_or_default())
}

/// SIL text as its user thinks of it.
fn without_annotations(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('@') {
        kept.push_str(&rest[..at]);
        let mut is_quoted = false;
        let end = rest[at..].find(|character| {
            is_quoted ^= character == '"';
            character == ')' && !is_quoted
        });
        rest = end.map_or("", |end| rest[at + end + 1..].trim_start());
    }
    kept + rest
}

fn has(origin: &Origin, key: &str) -> bool {
    origin.annotations.iter().any(|annotation| &*annotation.key == key)
}

/// `12.3`.
fn line_column(text: &str) -> Option<LineColumn> {
    let (line, column) = text.trim().split_once('.')?;
    Some(LineColumn { line: line.parse().ok()?, column: column.parse().ok()? })
}

fn text_between(file: &SourceFile, start: LineColumn, end: LineColumn) -> Option<&str> {
    file.text.get(offset(file, start)?..offset(file, end)?)
}

/// Returns the byte offset of a place; the end of its line if the line is shorter.
fn offset(file: &SourceFile, at: LineColumn) -> Option<usize> {
    let text = &*file.text;
    let index = (at.line as usize).checked_sub(1)?;
    let start = match index.checked_sub(1) {
        None => 0,
        Some(breaks) => text.match_indices('\n').nth(breaks)?.0 + 1,
    };
    let line = text[start..].split('\n').next().unwrap_or_default();
    let column = line.char_indices().nth((at.column as usize).checked_sub(1)?);
    Some(start + column.map_or(line.len(), |(offset, _)| offset))
}

/// Tells whether a pattern, in which `*` stands for any text, matches an id. A missing reason
/// counts as an empty one.
fn matches(pattern: &str, full_id: &str) -> bool {
    matches_exactly(pattern, full_id)
        || !full_id.contains(':') && matches_exactly(pattern, &format!("{full_id}:"))
}

fn matches_exactly(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Returns the value of an annotation of this key's family, written so that it holds no quote, line
/// break or lone percent.
pub fn escape(text: &str) -> String {
    text.replace('%', "%25").replace('"', "%22").replace('\n', "%0a")
}

/// Returns the text that [`escape`] made a value of.
pub fn unescape(value: &str) -> String {
    let mut text = String::new();
    let mut rest = value;
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match escaped(rest) {
            Some((character, after)) => {
                text.push(character);
                rest = after;
            }
            None => text.push('%'),
        }
    }
    text + rest
}

/// Returns the character of the two digits behind a percent sign.
fn escaped(rest: &str) -> Option<(char, &str)> {
    [("22", '"'), ("0a", '\n'), ("0A", '\n'), ("25", '%')]
        .into_iter()
        .find_map(|(digits, character)| Some((character, rest.strip_prefix(digits)?)))
}
