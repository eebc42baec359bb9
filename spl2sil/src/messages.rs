//! The messages of the translation about a program, in the form that both commands show.

use sil::render::{Message, Place};
use spl::Code;
use spl::source::Sources;

use crate::Refusal;

/// Makes the message that a construct has no meaning in SIL.
pub(crate) fn refused(sources: &Sources, refusal: &Refusal) -> Message {
    let place = Place::of(sources, refusal.span);
    Message::error(Code::TypecheckerError.id(), &refusal.message, place)
}
