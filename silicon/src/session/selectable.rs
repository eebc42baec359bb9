//! The members of a program by which it can be selected from: their names and places.

use sil::load::Assumptions;
use sil::program::Member;
use sil::render::Place;
use sil::source::map as source_map;

use super::{Accepted, Input, Task, front_end, load, on_large_stack};
use crate::session::place::Places;
use crate::verify::selection::describe;

pub use crate::verify::selection::matches_glob as matches;

/// A member that can be selected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selectable {
    /// The name that its author gave it first, then that in the translation.
    pub names: Vec<String>,
    pub place: Place,
}

/// Lists the members of an input in source order; none where it is not a program.
pub fn members(input: &Input) -> Vec<Selectable> {
    on_large_stack(|| {
        let (loaded, outcome) = front_end(input, Assumptions::default(), false, Task::Verify);
        let Some(Accepted { program, sources, .. }) = loaded else { return Vec::new() };
        let mut texts = outcome.texts;
        let names = program.origins.files.values().map(|name| &**name);
        for original in load::originals(input, names, &texts.clone()) {
            texts.add(original);
        }
        let places = Places::new(&program, &sources, &texts);
        let is_verified = |member: &&Member| !matches!(member, Member::Field(_));
        let members = program.order.iter().filter(is_verified).map(|&member| {
            let (_, name, span) = describe(&program, member);
            let given = source_map::given_name(&program, span);
            let names = given.into_iter().chain([name]);
            Selectable { names: names.collect(), place: places.of(span) }
        });
        members.collect()
    })
    .unwrap_or_default()
}
