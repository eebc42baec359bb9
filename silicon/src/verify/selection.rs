//! The members that have reports, and their names.

use sil::imports::library;
use sil::program::{Member, Program};
use sil::source::map as source_map;
use sil::source::{Sources, Span};

use super::Request;
use symex::observer::Planned;
use symex::report::MemberKind;

/// Tells whether there is a report on a member: it is selected, and there is something to say.
fn is_reported(request: &Request<'_>, program: &Program, member: Member) -> bool {
    let is_others = || {
        // Axioms that somebody else has written are looked at for contradictions, too.
        matches!(member, Member::Domain(_))
            && (is_of_library(request.sources, program, member)
                || !request.options.smoke && is_of_front_end(program, member))
    };
    !matches!(member, Member::Field(_)) && is_selected(request, program, member) && !is_others()
}

/// Tells whether a front end has made a member, and not translated it.
fn is_of_front_end(program: &Program, member: Member) -> bool {
    let (_, _, span) = describe(program, member);
    program.is_translated() && source_map::given_name(program, span).is_none()
}

/// Returns the members of the report, in its order. `program` is that of the request, perhaps with
/// checks.
pub(super) fn reported(request: &Request<'_>, program: &Program) -> Vec<Member> {
    let members = program.order.iter().copied();
    members.filter(|&member| is_reported(request, program, member)).collect()
}

pub(super) fn planned(program: &Program, member: Member) -> Planned {
    let (kind, name, span) = describe(program, member);
    Planned { kind, name, span }
}

pub(crate) fn describe(program: &Program, member: Member) -> (MemberKind, String, Span) {
    match member {
        Member::Method(id) => {
            let method = &program.methods[id];
            (MemberKind::Method, method.name.to_string(), method.span)
        }
        Member::Function(id) => {
            let function = &program.functions[id];
            (MemberKind::Function, function.name.to_string(), function.span)
        }
        Member::Predicate(id) => {
            let predicate = &program.predicates[id];
            (MemberKind::Predicate, predicate.name.to_string(), predicate.span)
        }
        Member::Domain(id) => {
            let domain = &program.domains[id];
            (MemberKind::Domain, domain.name.to_string(), domain.span)
        }
        Member::Field(_) => unreachable!("fields are not verified"),
    }
}

/// Tells whether a member is declared in the standard library.
fn is_of_library(sources: &Sources, program: &Program, member: Member) -> bool {
    let (_, _, span) = describe(program, member);
    sources.range(span).is_some() && library::is_name(&sources.file(span.file).name)
}

pub(super) fn is_selected(request: &Request<'_>, program: &Program, member: Member) -> bool {
    let (options, settled) = (request.options, &request.assigned.settled);
    let (kind, name, span) = describe(program, member);
    // A member of a translated program goes by either of its names.
    let given = source_map::given_name(program, span);
    let names = || std::iter::once(&name).chain(&given);
    let matches =
        |globs: &[String]| names().any(|name| globs.iter().any(|glob| matches_glob(glob, name)));
    let is_asked_for =
        |asked: &[String], not: &[String]| (asked.is_empty() || matches(asked)) && !matches(not);
    let is_method = matches!(member, Member::Method(_));
    is_asked_for(&options.members, &options.excluded)
        && (!is_method || is_asked_for(&options.methods, &options.excluded_methods))
        && (settled.is_empty() || !settled.contains(&(kind, name)))
}

/// Tells whether a name matches a glob of `*` and `?`.
pub fn matches_glob(glob: &str, name: &str) -> bool {
    let (glob, name): (Vec<char>, Vec<char>) = (glob.chars().collect(), name.chars().collect());
    let (mut g, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        if g < glob.len() && (glob[g] == '?' || glob[g] == name[n]) {
            (g, n) = (g + 1, n + 1);
        } else if g < glob.len() && glob[g] == '*' {
            retry = Some((g, n));
            g += 1;
        } else if let Some((star, from)) = retry {
            (g, n) = (star + 1, from + 1);
            retry = Some((star, from + 1));
        } else {
            return false;
        }
    }
    glob[g..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_names() {
        for (glob, name, expected) in [
            ("m", "m", true),
            ("m", "mm", false),
            ("m*", "method", true),
            ("*_x", "a_x_x", true),
            ("?", "", false),
            ("a*b?c", "aXXbYc", true),
            ("", "", true),
        ] {
            assert_eq!(matches_glob(glob, name), expected, "{glob} on {name}");
        }
    }
}
