//! Smoke detection: places of a body that no path reaches.
//!
//! They are those of `sil::plugins::smoke`: behind each `assume`, the ends of branches that have
//! statements, and the ends of the bodies of loops and of the method.

use chalice::program::walk::each_stmt;
use chalice::program::{Block, Method, StmtKind};
use sil::source::Span;

use crate::{Chalice, span};
use symex::Stop;
use symex::findings::log::Recalled;

impl Chalice<'_, '_> {
    /// Notes that the path has reached a place, unless the path is contradictory.
    pub(crate) fn comes_to(&mut self, place: Span) -> Result<(), Stop> {
        if self.context.options.smoke && !self.is_dead()? {
            self.log.note_refuted((place, place));
        }
        Ok(())
    }

    /// Reports the places of a method that no path has reached.
    pub(crate) fn report_unreached(&mut self, method: &Method) -> Result<(), Stop> {
        if !self.context.options.smoke {
            return Ok(());
        }
        let mut places = Vec::new();
        each_stmt(&method.body, &mut |stmt| match &stmt.kind {
            StmtKind::Assume(_) => places.push(span(stmt.span)),
            StmtKind::If { arms, otherwise } => {
                let blocks = arms.iter().map(|arm| &arm.body).chain(otherwise);
                places.extend(blocks.filter(|block| has_end(block)).map(|block| span(block.span)));
            }
            StmtKind::While { body, .. } => places.push(span(body.span)),
            _ => {}
        });
        places.push(span(method.span));
        for place in places {
            if !self.recall(Recalled::Refuted((place, place)))? {
                self.report_unreachable(place, None);
            }
        }
        Ok(())
    }
}

/// Tells whether a branch has statements.
pub(super) fn has_end(block: &Block) -> bool {
    !block.stmts.is_empty()
}
