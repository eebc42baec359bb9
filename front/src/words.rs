use std::fmt::Display;

/// So many of something, in words: `1 step`, `2 steps`.
pub fn counted(number: impl Display, what: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {what}{plural}")
}
