//! Brackets that are open where an error is.

/// A bracket and the indentation of its line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Open {
    at: usize,
    bracket: u8,
    indentation: usize,
}

/// Returns where the innermost bracket stands that is open at the end of `text`, and which one it
/// is.
pub fn innermost_open(text: &str) -> Option<(usize, char)> {
    let (open, _) = scan(text);
    open.last().map(|open| (open.at, char::from(open.bracket)))
}

/// Returns how many brackets are open at the end of `text`.
pub fn depth(text: &str) -> usize {
    scan(text).0.len()
}

/// Returns where the brace stands that lacks its end, if one is open at the end of `text`: the
/// first one that was closed by a brace further to the left, as far as the lines are indented; else
/// the innermost.
pub fn unclosed_brace(text: &str) -> Option<usize> {
    let (open, suspect) = scan(text);
    let innermost = open.iter().rfind(|open| open.bracket == b'{')?;
    Some(suspect.unwrap_or(innermost.at))
}

/// Returns the brackets open at the end, outermost first, and the first brace that was closed by
/// one further to the left.
fn scan(text: &str) -> (Vec<Open>, Option<usize>) {
    let mut open: Vec<Open> = Vec::new();
    let mut suspect = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_start_matches([' ', '\t']);
        let indentation = line.len() - content.len();
        let mut is_string = false;
        for (offset, byte) in line.bytes().enumerate() {
            match byte {
                b'"' => is_string = !is_string,
                _ if is_string => {}
                b'(' | b'[' | b'{' => {
                    open.push(Open { at: at + offset, bracket: byte, indentation });
                }
                b')' | b']'
                    // A brace is not closed by these, so that one of them too many does no harm.
                    if open.last().is_some_and(|open| open.bracket != b'{') => {
                        open.pop();
                    }
                b'}' => {
                    while open.last().is_some_and(|open| open.bracket != b'{') {
                        open.pop();
                    }
                    if let Some(closed) = open.pop()
                        && offset == indentation
                        && indentation < closed.indentation
                    {
                        suspect = suspect.or(Some(closed.at));
                    }
                }
                _ => {}
            }
        }
        at += line.len();
    }
    (open, suspect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_bracket_is_found() {
        assert_eq!(innermost_open("m(a, [1..2), x"), Some((1, '(')));
        assert_eq!(innermost_open("{ (a) }"), None);
        assert_eq!(innermost_open("{ \"(\""), Some((0, '{')));
        assert_eq!(depth("{ ( { } ["), 3);
    }

    #[test]
    fn indentation_tells_which_brace_is_not_closed() {
        let text = "class C {\n  method m() {\n    if (a) {\n      b\n  }\n";
        assert_eq!(unclosed_brace(text), text.find("{\n      b"));
        assert_eq!(unclosed_brace("m() {\n  if (a) {\n  }\n"), Some(4));
        assert_eq!(unclosed_brace("{ }"), None);
    }
}
