//! Checks the given SPL files and prints `file:line:column: code: message` for each finding.

#![expect(clippy::print_stdout, reason = "the output is the purpose")]

use std::process::ExitCode;

use spl::{FileSystem, Settings};

fn main() -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for path in std::env::args().skip(1) {
        let Ok(bytes) = std::fs::read(&path) else {
            println!("{path}: cannot be read");
            code = ExitCode::FAILURE;
            continue;
        };
        let text = String::from_utf8_lossy(&bytes);
        let checked = spl::check(&path, &text, &Settings::default(), &FileSystem);
        for finding in &checked.findings {
            let file = checked.sources.file(finding.span.file);
            let (line, column) = file.line_column(finding.span.start);
            println!("{}:{line}:{column}: {}: {}", file.name, finding.code, finding.message);
        }
        match checked.program {
            Some(program) => println!("{path}: {}", program.dialect.name()),
            None => code = ExitCode::FAILURE,
        }
    }
    code
}
