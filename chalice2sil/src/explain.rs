//! Comments that show the Chalice text beside what it became.

use std::fmt::Write;

use chalice::SourceFile;

/// Returns the text of a translation with the Chalice line above each group that comes from it.
///
/// Comments stand between lines only, so the text means what it meant. What comes from which line
/// is read off the annotations, whose place is the start of a line.
pub fn explained(translated: &str, source: &SourceFile) -> String {
    let lines: Vec<&str> = source.text.lines().collect();
    let mut text = String::new();
    let mut shown = 0;
    for line in translated.lines() {
        if let Some(number) = place(line)
            && number != shown
            && let Some(original) = lines.get(number - 1).map(|original| original.trim())
            && !original.is_empty()
        {
            let indent = &line[..line.len() - line.trim_start().len()];
            // Formatting into a string cannot fail.
            let _ = writeln!(text, "{indent}// {number}: {original}");
            shown = number;
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Returns the Chalice line that a line of the translation begins with the annotation of.
fn place(line: &str) -> Option<usize> {
    let values = line.trim_start().strip_prefix("@src.at(")?;
    let range = values.split('"').nth(3)?;
    range.split('.').next()?.parse().ok().filter(|&number| number > 0)
}
