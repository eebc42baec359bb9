//! Seeded errors: variants of a verified program, each with one mistake, written as what differs.
//!
//! A file of seeds stands at the program's path below `seeded/`, with `.seeds` appended. It is read
//! by lines:
//!
//! ```text
//! == name_of_the_variant
//!  a line of the program
//! -a line that is taken out
//! +a line that comes instead
//! @@
//! +//:: ExpectedOutput(postcondition.violated:assertion.false)
//!  another line of the program
//! ```
//!
//! Each hunk (they are separated by `@@`) has to occur exactly once in the program, blanks at the
//! ends of lines aside, so that a change of the program cannot make a variant mean something else
//! unnoticed.

use std::path::{Path, PathBuf};

/// One variant of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seed {
    pub name: String,
    hunks: Vec<Hunk>,
}

/// Consecutive lines as they are, and as they become.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Hunk {
    before: Vec<String>,
    after: Vec<String>,
}

/// The seeds in a file of seeds.
///
/// # Errors
/// The first line that is neither a heading, a separator nor part of a hunk.
pub fn parse(text: &str) -> Result<Vec<Seed>, String> {
    let mut seeds: Vec<Seed> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let wrong = |what: &str| format!("line {}: {what}: {line:?}", index + 1);
        if let Some(name) = line.strip_prefix("== ") {
            seeds.push(Seed { name: name.trim().to_owned(), hunks: vec![Hunk::default()] });
            continue;
        }
        let seed = match seeds.last_mut() {
            Some(seed) => seed,
            None if line.is_empty() || line.starts_with('#') => continue,
            None => return Err(wrong("a seed starts with `== name`")),
        };
        let Some(hunk) = seed.hunks.last_mut() else { unreachable!("a seed has a hunk") };
        match line.split_at_checked(1) {
            Some(("@", "@")) => seed.hunks.push(Hunk::default()),
            Some((" ", rest)) => {
                hunk.before.push(rest.to_owned());
                hunk.after.push(rest.to_owned());
            }
            Some(("-", rest)) => hunk.before.push(rest.to_owned()),
            Some(("+", rest)) => hunk.after.push(rest.to_owned()),
            None => {}
            Some(_) => return Err(wrong("expected ` `, `-`, `+` or `@@`")),
        }
    }
    Ok(seeds)
}

impl Seed {
    /// The program with this mistake.
    ///
    /// # Errors
    /// A hunk that does not occur, or not only once.
    pub fn apply(&self, program: &str) -> Result<String, String> {
        let mut lines: Vec<String> = program.lines().map(str::to_owned).collect();
        for hunk in &self.hunks {
            let length = hunk.before.len();
            if length == 0 {
                return Err(format!("{}: a hunk without lines of the program", self.name));
            }
            let starts: Vec<usize> = (0..(lines.len() + 1).saturating_sub(length))
                .filter(|&start| {
                    lines[start..start + length]
                        .iter()
                        .zip(&hunk.before)
                        .all(|(line, before)| line.trim_end() == before.trim_end())
                })
                .collect();
            let &[start] = &starts[..] else {
                let first = &hunk.before[0];
                return Err(format!("{}: {} places for {first:?}", self.name, starts.len()));
            };
            lines.splice(start..start + length, hunk.after.iter().cloned());
        }
        Ok(lines.join("\n") + "\n")
    }
}

/// Where the seeds of a program stand: `seeded` has the programs' folders again.
pub fn path_for(seeded: &Path, program: &Path) -> PathBuf {
    let mut name = seeded.join(program).into_os_string();
    name.push(".seeds");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "a\nb\nc\nb\n";

    fn only(text: &str) -> Seed {
        let [seed] = &parse(text).expect("it can be read")[..] else { panic!("one seed") };
        seed.clone()
    }

    #[test]
    fn lines_are_exchanged() {
        let seed = only("# comment\n== swapped\n a\n-b\n+B\n@@\n+x\n c\n");
        assert_eq!(seed.apply(PROGRAM).as_deref(), Ok("a\nB\nx\nc\nb\n"));
    }

    #[test]
    fn a_place_has_to_be_unique() {
        let seed = only("== twice\n-b\n+x\n");
        assert_eq!(seed.apply(PROGRAM), Err("twice: 2 places for \"b\"".to_owned()));
        let seed = only("== never\n-d\n+x\n");
        assert_eq!(seed.apply(PROGRAM), Err("never: 0 places for \"d\"".to_owned()));
    }

    #[test]
    fn other_lines_are_refused() {
        assert!(parse("a\n").is_err());
        assert!(parse("== name\n*x\n").is_err());
    }
}
