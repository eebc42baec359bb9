//! Parses the given files and prints what the front end says about them, with the time it took.

use std::path::Path;
use std::time::Instant;

#[expect(clippy::print_stdout, reason = "the output of this tool")]
fn main() -> std::io::Result<()> {
    let mut bytes = 0;
    let mut seconds = 0.0;
    for argument in std::env::args().skip(1) {
        let text = std::fs::read_to_string(Path::new(&argument))?;
        let mut diagnostics = Vec::new();
        let start = Instant::now();
        let program = sil::parser::parse(sil::source::FileId(0), &text, &mut diagnostics);
        seconds += start.elapsed().as_secs_f64();
        bytes += text.len();
        let source = sil::source::SourceFile::new(argument.clone(), text);
        for diagnostic in &diagnostics {
            let at = source.line_column(diagnostic.span.start);
            println!("{argument}:{at}: {}: {}", diagnostic.code.id(), diagnostic.message);
        }
        drop(program);
    }
    println!("{bytes} bytes, {:.1} MB/s", bytes as f64 / seconds / 1e6);
    Ok(())
}
