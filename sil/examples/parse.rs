//! Loads the given files and prints what the front end says about them, and how fast the parser
//! alone is.

use std::path::Path;
use std::time::Instant;

use sil::source::FileId;

#[expect(clippy::print_stdout, reason = "the output of this tool")]
fn main() -> std::io::Result<()> {
    let mut bytes = 0;
    let mut parsing = 0.0;
    let mut loading = 0.0;
    for argument in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&argument)?;
        let start = Instant::now();
        let program = sil::parser::parse(FileId(0), &text, &mut Vec::new());
        parsing += start.elapsed().as_secs_f64();
        bytes += text.len();
        drop(program);
        let start = Instant::now();
        let loaded = sil::load::load_file(Path::new(&argument))?;
        loading += start.elapsed().as_secs_f64();
        for diagnostic in &loaded.diagnostics {
            let file = loaded.sources.file(diagnostic.span.file);
            let at = file.line_column(diagnostic.span.start);
            println!("{}:{at}: {}: {}", file.name, diagnostic.code.id(), diagnostic.message);
        }
    }
    let speed = |seconds: f64| bytes as f64 / seconds / 1e6;
    println!("{bytes} bytes; parsed {:.1} MB/s, loaded {:.1} MB/s", speed(parsing), speed(loading));
    Ok(())
}
