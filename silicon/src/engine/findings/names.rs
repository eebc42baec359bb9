//! What the author of a program calls its members, where the program is a translation, too.

use sil::program::Program;
use sil::source::Span;
use sil::source_map::given_name;

use crate::engine::state::heap::Resource;

/// Whether a front end has made the program from its author's.
pub(crate) fn is_translated(program: &Program) -> bool {
    !program.origins.files.is_empty()
}

/// What the author calls a declaration; `None` if a front end has made it.
pub(crate) fn called(program: &Program, name: &str, declaration: Span) -> Option<String> {
    if is_translated(program) { given_name(program, declaration) } else { Some(name.to_owned()) }
}

/// A location with these arguments, as the author writes it; `None` if there is no way to.
pub(crate) fn location(
    program: &Program,
    resource: Resource,
    arguments: &[String],
) -> Option<String> {
    match resource {
        Resource::Field(field) => {
            let field = &program.fields[field];
            Some(format!("{}.{}", arguments.first()?, called(program, &field.name, field.span)?))
        }
        Resource::Predicate(predicate) => {
            let predicate = &program.predicates[predicate];
            let name = called(program, &predicate.name, predicate.span)?;
            // Where predicates belong to classes, the first argument is the object.
            match (name.rsplit_once('.'), arguments) {
                (Some((_, name)), [object]) => Some(format!("{object}.{name}")),
                (Some(_), _) => None,
                // A monitor has no name that can be written.
                _ if name.contains(' ') => None,
                (None, _) => Some(format!("{name}({})", arguments.join(", "))),
            }
        }
        Resource::Wand(_) => None,
    }
}
