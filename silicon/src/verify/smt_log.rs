//! Replayable solver logs: a file a member; one for each phase of a function, each attempt at a
//! method and each part of it.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use symex::Stop;
use symex::options::Options;

/// The log of a member, where one is asked for, and what has gone wrong with it.
#[derive(Default)]
pub(super) struct SmtLog {
    problem: Rc<RefCell<Option<String>>>,
}

/// A file that keeps its first error: the writer of a log ignores errors.
struct Watched {
    file: File,
    path: PathBuf,
    problem: Rc<RefCell<Option<String>>>,
}

impl Watched {
    fn noted<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result {
            self.problem.borrow_mut().get_or_insert_with(|| words(&self.path, error));
        }
        result
    }
}

impl Write for Watched {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        self.noted(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.file.flush();
        self.noted(flushed)
    }
}

impl SmtLog {
    /// Opens the log of a member where logs are asked for.
    pub(super) fn open(
        &self,
        options: &Options,
        member: &str,
        attempt: &str,
    ) -> Result<Option<Box<dyn Write>>, Stop> {
        let Some(directory) = &options.smt_log else { return Ok(None) };
        let dot = if attempt.is_empty() { "" } else { "." };
        let path = directory.join(format!("{member}{dot}{attempt}.smt2"));
        match File::create(&path) {
            Ok(file) => {
                let problem = Rc::clone(&self.problem);
                Ok(Some(Box::new(BufWriter::new(Watched { file, path, problem }))))
            }
            Err(error) => Err(Stop::Broken(words(&path, &error))),
        }
    }

    /// `Err` if the log is not whole; to be asked when the member is done with it.
    pub(super) fn close(self) -> Result<(), Stop> {
        self.problem.take().map_or(Ok(()), |problem| Err(Stop::Broken(problem)))
    }
}

fn words(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_noticed() {
        let directory = tempfile::tempdir().expect("a directory");
        std::os::unix::fs::symlink("/dev/full", directory.path().join("m.smt2")).expect("a link");
        let mut options = Options::default();
        options.smt_log = Some(directory.path().to_owned());
        let log = SmtLog::default();
        let mut sink = log.open(&options, "m", "").ok().flatten().expect("it can be opened");
        assert!(writeln!(sink, "(check-sat)").is_ok(), "it is kept back");
        drop(sink);
        assert!(matches!(log.close(), Err(Stop::Broken(_))));
        let log = SmtLog::default();
        drop(log.open(&options, "n", ""));
        assert!(log.close().is_ok());
    }
}
