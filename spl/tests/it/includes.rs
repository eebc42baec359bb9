//! Programs of several files.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use spl::{Loader, Settings, check};

struct Files(BTreeMap<&'static str, &'static [u8]>);

impl Loader for Files {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let found = path.to_str().and_then(|path| self.0.get(path));
        found.map(|bytes| bytes.to_vec()).ok_or(io::Error::from(io::ErrorKind::NotFound))
    }
}

fn loaded(text: &str) -> Result<usize, String> {
    let files: [(&str, &[u8]); 4] = [
        ("lib/a.spl", b"include \"../main/m.spl\" include \"./b.spl\"; struct A {}"),
        ("lib/b.spl", b"include \"a.spl\" struct B {}"),
        ("lib/bad.spl", b"struct \xff {}"),
        ("lib/wrong.spl", b"struct {}"),
    ];
    let files = Files(BTreeMap::from(files));
    let checked = check("main/m.spl", text, &Settings::default(), &files);
    match checked.program {
        Some(program) => Ok(program.structs.len()),
        None => {
            let error = &checked.findings[0];
            Err(format!("{}: {}", checked.sources.file(error.span.file).name, error.message))
        }
    }
}

#[test]
fn each_file_is_read_once_and_cycles_end() {
    assert_eq!(loaded("include \"../lib/b.spl\" include \"../lib/a.spl\" struct C {}"), Ok(3));
}

#[test]
fn what_cannot_be_read_is_told_where_it_is_named() {
    let missing = loaded("include \"none.spl\"").expect_err("there is no such file");
    assert!(missing.starts_with("main/m.spl: `none.spl` cannot be included"), "{missing}");
    let bad = loaded("include \"../lib/bad.spl\"").expect_err("it is not a text");
    assert!(bad.contains("not UTF-8"), "{bad}");
    let wrong = loaded("include \"../lib/wrong.spl\"").expect_err("it is no program");
    assert!(wrong.starts_with("lib/wrong.spl: syntax error"), "{wrong}");
}
