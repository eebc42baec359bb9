//! What the translation has to say about a program, in the form that both commands show.

use sil::render::{Message, Place};
use spl::Code;
use spl::source::Sources;

use crate::Refusal;

/// That something has no meaning in SIL.
pub(crate) fn refused(sources: &Sources, refusal: &Refusal) -> Message {
    let place = Place::of(sources, refusal.span);
    Message::error(Code::TypecheckerError.id(), &refusal.message, place)
}
