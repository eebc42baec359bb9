use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Positions are 32-bit numbers; texts anywhere near that size are refused.
const LARGEST: u64 = 1 << 30;

/// All bytes of a source, but not without end: a path may name a device.
///
/// # Errors
/// What keeps it from being read, or that it is larger than 1 GiB.
pub fn read_bounded(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::other("the file is larger than 1 GiB"));
    }
    Ok(bytes)
}

/// The name and the text of an input of a command; `-` is standard input.
///
/// # Errors
/// What keeps it from being read, with its name.
pub fn read_input(input: &Path) -> io::Result<(String, String)> {
    let (name, called, bytes) = if input == Path::new("-") {
        ("<stdin>".to_owned(), "standard input".to_owned(), read_bounded(io::stdin().lock()))
    } else {
        let name = input.display().to_string();
        (name.clone(), name, File::open(input).and_then(read_bounded))
    };
    let bytes = bytes.map_err(|why| io::Error::new(why.kind(), format!("{called}: {why}")))?;
    let text = String::from_utf8(bytes).map_err(|why| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{called} is not UTF-8: {}", why.utf8_error()),
        )
    })?;
    Ok((name, text))
}
