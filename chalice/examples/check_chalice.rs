//! Checks the given Chalice files and prints `file:line:column: code: message` for each finding.

#![expect(clippy::print_stdout, reason = "the output is the purpose")]

use std::process::ExitCode;

use chalice::{Diagnostic, SourceFile};

fn main() -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for path in std::env::args().skip(1) {
        match std::fs::read(&path) {
            Ok(bytes) => {
                let source = SourceFile::new(&path, String::from_utf8_lossy(&bytes));
                let (program, findings) = chalice::check(&source);
                for finding in &findings {
                    print(&source, finding);
                }
                if program.is_none() {
                    code = ExitCode::FAILURE;
                }
            }
            Err(error) => {
                println!("{path}: {error}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

fn print(source: &SourceFile, finding: &Diagnostic) {
    let (line, column) = source.line_column(finding.span.start);
    println!("{}:{line}:{column}: {}: {}", source.name, finding.code, finding.message);
}
