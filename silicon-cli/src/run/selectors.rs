//! Selectors that select nothing: they are named, with what may be meant.

use hints::spelling::{Spelling, did_you_mean};
use silicon::session::selectable::{Selectable, matches, members};
use silicon::session::{Input, Lines, Outcome};

/// The number of names that are listed where none is near.
const LISTED: usize = 5;

/// The selectors of a run for which no member was found.
pub(crate) struct Selectors {
    globs: Vec<String>,
    lines: Vec<Lines>,
}

impl Selectors {
    pub(crate) fn new(globs: &[String], lines: &[Lines]) -> Self {
        Self { globs: globs.to_vec(), lines: lines.to_vec() }
    }

    /// Drops the selectors that a member of the outcome meets.
    pub(crate) fn meet(&mut self, outcome: &Outcome) {
        let members = &outcome.members;
        self.globs.retain(|glob| !members.iter().any(|member| matches(glob, &member.name)));
        self.lines.retain(|lines| !members.iter().any(|member| lines.overlap(&member.place)));
    }

    /// Says of each selector that is left that it selects nothing, a line each.
    pub(crate) fn complaints(self, inputs: &[Input]) -> Vec<String> {
        let Self { globs, lines } = self;
        if globs.is_empty() && lines.is_empty() {
            return Vec::new();
        }
        let members: Vec<Selectable> = inputs.iter().flat_map(members).collect();
        let is_unmet = |glob: &&String| {
            !members.iter().any(|member| member.names.iter().any(|name| matches(glob, name)))
        };
        let globs = globs.iter().filter(is_unmet).map(|glob| no_name(glob, &members));
        let lines = lines.iter().filter_map(|lines| no_lines(lines, inputs, &members));
        globs.chain(lines).collect()
    }
}

fn no_name(glob: &str, members: &[Selectable]) -> String {
    let names: Vec<&str> =
        members.iter().filter_map(|member| member.names.first()).map(|name| &**name).collect();
    let meant = match Spelling::default().nearest(glob, names.iter().copied()) {
        Some(near) => did_you_mean(near),
        None if names.is_empty() => String::new(),
        None => {
            let listed = names[..names.len().min(LISTED)].join(", ");
            let rest = names.len().saturating_sub(LISTED);
            let rest = if rest > 0 { format!(", and {rest} more") } else { String::new() };
            format!("; the members are {listed}{rest}")
        }
    };
    format!("no member matches `--member {glob}`{meant}")
}

/// `None` where a member stands on the lines after all.
fn no_lines(lines: &Lines, inputs: &[Input], members: &[Selectable]) -> Option<String> {
    if members.iter().any(|member| lines.overlap(&member.place)) {
        return None;
    }
    let is_there = inputs.iter().any(|input| lines.is_of(&input.name));
    let in_file = members.iter().filter(|member| lines.is_of(&member.place.file));
    let nearest = in_file.min_by_key(|member| lines.distance(&member.place));
    let meant = match nearest {
        Some(member) => {
            let name = member.names.first().map_or("", |name| name);
            let line = member.place.start.line;
            format!("no member stands there; the nearest is {name}, from line {line} on")
        }
        None if is_there => "no member stands in that file".to_owned(),
        None => "no program has that name".to_owned(),
    };
    Some(format!("nothing is selected by `--at {lines}`: {meant}"))
}
