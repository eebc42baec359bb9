//! The author's names of members, also where the program is a translation.

use num_rational::BigRational;
use sil::program::{Local, Program, Type};
use sil::source::Span;
use sil::source::map::{given_name, given_variable, values_called};

use crate::report::{Amount, in_percent};
use crate::state::heap::Resource;

/// Returns the author's name of a declaration; `None` if a front end has made it.
pub(crate) fn called(program: &Program, name: &str, declaration: Span) -> Option<String> {
    if program.is_translated() { given_name(program, declaration) } else { Some(name.to_owned()) }
}

/// Returns the author's name of a variable; `None` if a front end has made it.
pub(crate) fn variable(program: &Program, local: &Local) -> Option<String> {
    if program.is_translated() {
        given_variable(program, local.span, &local.name)
    } else {
        Some(local.name.to_string())
    }
}

/// Tells whether a front end chooses the value of a variable, such as an amount. Such a value says
/// nothing to the author.
pub(crate) fn is_chosen(program: &Program, local: &Local) -> bool {
    program.is_translated() && local.ty == Type::Perm
}

/// Returns an amount as the author writes it.
pub(crate) fn amount(program: &Program, amount: BigRational) -> String {
    if program.is_translated() { in_percent(&amount) } else { Amount::Known(amount).to_string() }
}

/// Returns the author's noun for values of a sort.
pub(crate) fn kind_of_value(program: &Program, sort: &str) -> String {
    if !program.is_translated() {
        return sort.to_owned();
    }
    let mut domains = program.domains.iter().map(|(_, domain)| domain);
    let domain = domains.find(|domain| *domain.name == *sort);
    domain
        .map(|domain| domain.span)
        .and_then(|span| given_name(program, span).or_else(|| values_called(program, span)))
        .unwrap_or_else(|| "value".to_owned())
}

/// Returns a location with these arguments, as the author writes it; `None` if this is not
/// possible.
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
            // If predicates belong to classes, the first argument is the object.
            match (name.rsplit_once('.'), arguments) {
                (Some((_, name)), [object]) => Some(format!("{object}.{name}")),
                (Some(_), _) => None,
                // The name of a monitor cannot be written.
                _ if name.contains(' ') => None,
                (None, _) => Some(format!("{name}({})", arguments.join(", "))),
            }
        }
        Resource::Wand(_) => None,
    }
}
