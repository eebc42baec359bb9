//! The negation of a condition, in the words of its author.

/// Returns the negation of a condition; `sil`: the condition in SIL.
///
/// A comparison has an opposite, if it is one of SIL, too: of sets, `<=` means something else
/// elsewhere.
pub(super) fn negated(condition: &str, sil: &str) -> String {
    if let (Some((left, sign, right)), Some((_, meant, _))) =
        (comparison(condition), comparison(sil))
        && sign == meant
    {
        return format!("{left} {} {right}", opposite(sign));
    }
    match condition.strip_prefix('!') {
        Some(inner) if is_atom(inner) => inner.to_owned(),
        Some(inner) if is_in_parentheses(inner) => inner[1..inner.len() - 1].to_owned(),
        None if is_atom(condition) => format!("!{condition}"),
        _ => format!("!({condition})"),
    }
}

fn opposite(sign: &str) -> &'static str {
    match sign {
        "==" => "!=",
        "!=" => "==",
        "<" => ">=",
        "<=" => ">",
        ">" => "<=",
        _ => "<",
    }
}

/// Words that begin an expression which reaches as far as it can, or that are operators.
const WORDS: [&str; 10] = [
    "forall",
    "exists",
    "forperm",
    "let",
    "unfolding",
    "applying",
    "asserting",
    "in",
    "eval",
    "sum",
];

/// Takes a comparison apart, if the text is nothing but one.
fn comparison(text: &str) -> Option<(&str, &str, &str)> {
    let mut found = None;
    let mut depth = 0_usize;
    let mut rest = 0..text.len();
    while let Some(next) = text[rest.clone()].chars().next() {
        let at = rest.start;
        let mut length = next.len_utf8();
        match next {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            _ if depth > 0 => {}
            '=' | '!' | '<' | '>' | '&' | '|' | '?' | ':' => {
                let is_sign = |other: char| "=!<>&|?:".contains(other);
                let sign = &text[at..];
                let end = sign.find(|other| !is_sign(other)).unwrap_or(sign.len());
                let sign = &sign[..end];
                length = end;
                match sign {
                    "==" | "!=" | "<" | "<=" | ">" | ">=" if found.is_none() => {
                        found = Some((at, sign));
                    }
                    // The bar of a length.
                    "|" => {}
                    _ => return None,
                }
            }
            _ if next.is_alphanumeric() || next == '_' => {
                let word = &text[at..];
                let is_part = |other: char| other.is_alphanumeric() || other == '_';
                let end = word.find(|other| !is_part(other)).unwrap_or(word.len());
                if WORDS.contains(&&word[..end]) {
                    return None;
                }
                length = end;
            }
            _ => {}
        }
        rest.start += length;
    }
    let (at, sign) = found.filter(|_| depth == 0)?;
    let (left, right) = (text[..at].trim(), text[at + sign.len()..].trim());
    (!left.is_empty() && !right.is_empty()).then_some((left, sign, right))
}

/// Tells whether a text is a name, a field, an element or an application.
fn is_atom(text: &str) -> bool {
    let mut depth = 0_usize;
    let starts = text.starts_with(|first: char| first.is_alphabetic() || first == '_');
    let fits = text.chars().all(|one| match one {
        '(' | '[' => {
            depth += 1;
            true
        }
        ')' | ']' if depth > 0 => {
            depth -= 1;
            true
        }
        _ => depth > 0 || one.is_alphanumeric() || matches!(one, '_' | '.' | '$'),
    });
    starts && fits && depth == 0
}

/// Tells whether a text is in parentheses that belong together.
fn is_in_parentheses(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else {
        return false;
    };
    let mut depth = 0_usize;
    let stays = inner.chars().all(|one| match one {
        '(' => {
            depth += 1;
            true
        }
        ')' => match depth.checked_sub(1) {
            Some(outer) => {
                depth = outer;
                true
            }
            None => false,
        },
        _ => true,
    });
    stays && depth == 0
}

#[cfg(test)]
mod tests {
    use super::negated;

    #[test]
    fn comparisons_have_an_opposite() {
        for (condition, negation) in [
            ("x < n", "x >= n"),
            ("x.f[i + 1] == f(a && b)", "x.f[i + 1] != f(a && b)"),
            ("i + 1 < |s|", "i + 1 >= |s|"),
            ("a <= b", "a > b"),
            ("(a < b) == c", "(a < b) != c"),
        ] {
            assert_eq!(negated(condition, condition), negation);
        }
    }

    #[test]
    fn other_conditions_are_negated_as_a_whole() {
        for (condition, negation) in [
            ("a && b", "!(a && b)"),
            ("a < b && c", "!(a < b && c)"),
            ("0 <= i < n", "!(0 <= i < n)"),
            ("a ==> b == c", "!(a ==> b == c)"),
            ("a == b ? c : d", "!(a == b ? c : d)"),
            ("x in s", "!(x in s)"),
            ("forall i: Int :: i == i", "!(forall i: Int :: i == i)"),
            ("unfolding P(x) in x.f == 1", "!(unfolding P(x) in x.f == 1)"),
            ("x == nil<int>", "!(x == nil<int>)"),
            ("done", "!done"),
            ("x.list(y).isNil", "!x.list(y).isNil"),
            ("!done", "done"),
            ("!(a && b)", "a && b"),
            ("!(a) && (b)", "!(!(a) && (b))"),
            ("x = y", "!(x = y)"),
        ] {
            assert_eq!(negated(condition, condition), negation);
        }
    }

    /// In Chalice, `<=` of sets is inclusion.
    #[test]
    fn a_comparison_that_is_none_in_sil_has_no_opposite() {
        assert_eq!(negated("s <= t", "s subset t"), "!(s <= t)");
        assert_eq!(negated("n <= k", "n <= k_1"), "n > k");
    }
}
