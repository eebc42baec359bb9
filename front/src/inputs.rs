use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::{LineColumn, SourceFile};

/// Positions are 32-bit numbers; texts anywhere near that size are refused.
const LARGEST: u64 = 1 << 30;

/// Returns all bytes of a file that a program names, as by an import. It has to be a file: a pipe
/// that nobody writes to never ends.
///
/// # Errors
/// The file cannot be read, is no file, or is larger than 1 GiB.
pub fn read_named(path: &Path) -> io::Result<Vec<u8>> {
    let kind = std::fs::metadata(path)?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::other("it is no regular file"));
    }
    File::open(path).and_then(read_bounded)
}

/// Returns all bytes of a source, but not without end: a path may name a device.
///
/// # Errors
/// The source cannot be read, or is larger than 1 GiB.
pub fn read_bounded(source: impl Read) -> io::Result<Vec<u8>> {
    let bytes = read_up_to(LARGEST, source)?;
    bytes.ok_or_else(|| io::Error::other("the file is larger than 1 GiB"))
}

/// Returns all bytes of a source; absent if there are more than `largest`.
fn read_up_to(largest: u64, source: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source.take(largest + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= largest))
}

/// Bytes that are no text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotUtf8 {
    /// The readable text, with a replacement for each unreadable character.
    pub text: String,
    /// The offset of the first of those in `text`.
    pub offset: usize,
}

impl NotUtf8 {
    /// Returns where the first byte is that is no text.
    pub fn place(&self) -> LineColumn {
        SourceFile::new("", self.text.as_str()).line_column(self.offset as u32)
    }
}

/// Returns the text that bytes stand for.
///
/// # Errors
/// They are not UTF-8.
pub fn decode(bytes: Vec<u8>) -> Result<String, NotUtf8> {
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        NotUtf8 { text: String::from_utf8_lossy(error.as_bytes()).into_owned(), offset }
    })
}

/// Returns the name and the text of an input of a command; `-` is standard input.
///
/// # Errors
/// The input cannot be read: with its name, and with the place of bytes that are not UTF-8.
pub fn read_input(input: &Path) -> io::Result<(String, String)> {
    let (name, bytes) = if input == Path::new("-") {
        ("<stdin>".to_owned(), read_bounded(io::stdin().lock()))
    } else {
        (input.display().to_string(), File::open(input).and_then(read_bounded))
    };
    let bytes = bytes.map_err(|why| io::Error::new(why.kind(), format!("{name}: {why}")))?;
    let text = decode(bytes).map_err(|wrong| {
        let LineColumn { line, column } = wrong.place();
        let message = format!("{name}:{line}:{column}: the file is not UTF-8");
        io::Error::new(io::ErrorKind::InvalidData, message)
    })?;
    Ok((name, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_have_a_place() {
        let error = decode(b"ab\n\xc3\xb6 \xff".to_vec()).expect_err("no text");
        assert_eq!(error.place(), LineColumn { line: 2, column: 3 });
        assert_eq!(error.text, "ab\nö \u{fffd}");
    }

    #[test]
    fn what_has_no_end_is_refused() {
        assert_eq!(read_up_to(3, &b"abc"[..]).expect("it can be read"), Some(b"abc".to_vec()));
        assert_eq!(read_up_to(3, io::repeat(0)).expect("it can be read"), None);
    }
}
