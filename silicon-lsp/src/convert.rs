//! Findings as editors want them.

use std::path::Path;
use std::str::FromStr;

use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range,
    Uri,
};
use percent_encoding::percent_decode_str;
use rustc_hash::FxHashMap;
use sil::render::{Message, Place, Severity, Texts};
use silicon::report::Counterexample;
use silicon::session;

use crate::positions::Text;
use crate::protocol::Found;

/// The files of a program, as messages name them.
pub(crate) struct Files {
    name: String,
    uri: String,
    texts: FxHashMap<String, Text>,
}

/// Returns the path that a URI of a file names; others stand for themselves.
pub(crate) fn path_of(uri: &str) -> String {
    let Some(path) = uri.strip_prefix("file://") else { return uri.to_owned() };
    let path = path.find('/').map_or(path, |start| &path[start..]);
    percent_decode_str(path).decode_utf8().map_or_else(|_| path.to_owned(), Into::into)
}

/// Returns the URI of a file.
pub(crate) fn uri_of(path: &str) -> String {
    let absolute = std::path::absolute(Path::new(path));
    let absolute = absolute.map_or(path.to_owned(), |path| path.display().to_string());
    silicon::output::uri(&absolute)
}

impl Files {
    /// The file `name` is the document `uri`; `texts` has the others, as they were read.
    pub(crate) fn new(name: &str, uri: &str, own: &Text, texts: &Texts) -> Self {
        let others = texts.names().filter_map(|name| texts.get(name));
        let mut all: FxHashMap<String, Text> =
            others.map(|file| (file.name.clone(), Text::new(file.text.clone()))).collect();
        all.insert(name.to_owned(), own.clone());
        Self { name: name.to_owned(), uri: uri.to_owned(), texts: all }
    }

    pub(crate) fn is_own(&self, place: &Place) -> bool {
        *place.file == *self.name
    }

    fn uri(&self, place: &Place) -> String {
        if self.is_own(place) { self.uri.clone() } else { uri_of(&place.file) }
    }

    pub(crate) fn range(&self, place: &Place) -> Range {
        self.texts.get(&*place.file).map_or_else(Range::default, |text| {
            let (start, end) = (text.offset_of(place.start), text.offset_of(place.end));
            text.range(&(start..end.max(start)))
        })
    }

    pub(crate) fn message(&self, message: &Message) -> Found {
        let Message { severity, id, text, place, notes, remarks } = message;
        let note = |(place, text): &(Place, String)| {
            if text.is_empty() {
                return None;
            }
            let uri = Uri::from_str(&self.uri(place)).ok()?;
            let location = Location { uri, range: self.range(place) };
            Some(DiagnosticRelatedInformation { location, message: text.clone() })
        };
        let related: Vec<_> = notes.iter().filter_map(note).collect();
        let message = std::iter::once(text).chain(remarks).cloned().collect::<Vec<_>>().join("\n");
        let diagnostic = Diagnostic {
            range: self.range(place),
            severity: Some(match severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
            }),
            code: Some(NumberOrString::String(id.clone())),
            source: Some("silicon".to_owned()),
            message,
            related_information: (!related.is_empty()).then_some(related),
            ..Diagnostic::default()
        };
        Found { uri: self.uri(place), diagnostic }
    }

    pub(crate) fn diagnostic(&self, one: &session::Diagnostic) -> Found {
        let (whole, marked) = (&one.message.place, one.marked());
        let part = &marked.place;
        // A finding belongs to the document that is verified, and not to a macro that it uses.
        let is_inside =
            part.file == whole.file && whole.start <= part.start && part.end <= whole.end;
        let mut found = self.message(if is_inside { &marked } else { &one.message });
        let reason = one.reason.as_ref().map(|place| self.range(place));
        found.diagnostic.data = Some(serde_json::json!({
            "member": one.member,
            "whole": self.range(whole),
            "reason": reason,
            "missing": one.missing,
            "path": one.path,
            "counterexample": one.counterexample.as_ref().map(Counterexample::shown),
        }));
        if !one.path.is_empty() {
            found.diagnostic.message += &format!("\non the path: {}", one.path.join(", "));
        }
        for sentence in one.counterexample.iter().flat_map(Counterexample::words) {
            found.diagnostic.message += &format!("\n{sentence}");
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_escaped_and_back() {
        let path = "/a b/ä#.vpr";
        let uri = uri_of(path);
        assert_eq!(uri, "file:///a%20b/%C3%A4%23.vpr");
        assert_eq!(path_of(&uri), path);
        assert_eq!(path_of("untitled:1"), "untitled:1");
        assert_eq!(path_of("file:///100%/x"), "/100%/x");
    }
}
