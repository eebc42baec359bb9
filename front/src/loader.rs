use std::io;
use std::path::{Component, Path, PathBuf};

use crate::read_named;

/// Where the texts of files come from that a program names: the file system, or an editor that
/// knows better.
pub trait Loader {
    /// Returns the bytes of a file.
    ///
    /// # Errors
    /// The file cannot be read.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
}

/// Reads from disk, and no devices or pipes: they may have no end.
#[derive(Clone, Copy, Default, Debug)]
pub struct FileSystem;

impl Loader for FileSystem {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        read_named(path)
    }
}

/// No file but the one given.
#[derive(Clone, Copy, Default, Debug)]
pub struct NoFiles;

impl Loader for NoFiles {
    fn read(&self, _: &Path) -> io::Result<Vec<u8>> {
        Err(io::Error::new(io::ErrorKind::NotFound, "no files can be read here"))
    }
}

/// Resolves `.` and `..` in the text of a path; links are not followed.
pub fn normalised(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                let last = normal.components().next_back();
                match last {
                    Some(Component::Normal(_)) => {
                        normal.pop();
                    }
                    Some(Component::RootDir | Component::Prefix(_)) => {}
                    _ => normal.push(".."),
                }
            }
            other => normal.push(other),
        }
    }
    normal
}
