//! Prints what the front end has to say about each file named on the command line, one finding a
//! line: `file:line:column id message`.

use std::process::ExitCode;

#[expect(clippy::print_stdout, reason = "this is what the program is for")]
fn main() -> ExitCode {
    let mut accepted = true;
    for path in std::env::args().skip(1) {
        let loaded = match sil::load::load_file(path.as_ref()) {
            Ok(loaded) => loaded,
            Err(error) => {
                println!("{path}:1:1 unreadable {error}");
                accepted = false;
                continue;
            }
        };
        for diagnostic in &loaded.diagnostics {
            let at = loaded.sources.file(diagnostic.span.file);
            let place = at.line_column(diagnostic.span.start);
            let id = diagnostic.code.id();
            println!("{}:{}:{} {id} {}", at.name, place.line, place.column, diagnostic.message);
            accepted &= diagnostic.code.is_warning();
        }
    }
    if accepted { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
