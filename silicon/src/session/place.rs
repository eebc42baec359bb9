//! Where findings are shown: in the program that the user wrote, which need not be the SIL text.

use sil::program::Program;
use sil::render::{Message, Place};
use sil::source::{Sources, Span};

use super::outcome::Diagnostic;
use crate::report::Finding;

/// The places of one program.
pub struct Places<'a> {
    sources: &'a Sources,
}

impl<'a> Places<'a> {
    pub fn new(_program: &'a Program, sources: &'a Sources) -> Self {
        Self { sources }
    }

    /// Where the user finds `span`.
    pub fn of(&self, span: Span) -> Place {
        Place::of(self.sources, span)
    }

    /// Whether the user wrote this, or a file the user imports: not the standard library.
    pub fn is_users(&self, span: Span) -> bool {
        !self.of(span).file.starts_with('<')
    }

    /// A finding in the user's program; its member and path are the caller's to add.
    pub fn diagnostic(&self, finding: &Finding) -> Diagnostic {
        let place = self.of(finding.span);
        let mut notes = Vec::new();
        if let Some(reason) = finding.reason_span {
            let reason = self.of(reason);
            if reason != place {
                notes.push((reason, "this could not be shown".to_owned()));
            }
        }
        notes.extend(finding.related.iter().map(|(span, text)| (self.of(*span), text.clone())));
        let message = Message {
            severity: finding.severity,
            id: finding.full_id(),
            text: finding.message.clone(),
            place,
            notes,
            remarks: Vec::new(),
        };
        Diagnostic { message, generated: None, member: None, path: Vec::new() }
    }
}
