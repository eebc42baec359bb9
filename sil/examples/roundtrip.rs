//! Prints each program named on the command line in both forms, reads the text back and prints
//! that: the texts must be the same. What was converted to graphs must convert back to structured
//! statements that read back, too. Says for each file and form what happened; `-v` shows the
//! differing texts.
//!
//! `--show graph`, `--show structured` and `--show converted` (to graphs and back) print the
//! program instead.

use std::process::ExitCode;

use sil::print::Form;

#[expect(clippy::print_stdout, reason = "this is what the program is for")]
fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "--show") {
        let form = if arguments[1] == "structured" { Form::Structured } else { Form::Graph };
        for path in &arguments[2..] {
            if let Ok(loaded) = sil::load::load_file(path.as_ref())
                && let Some(program) = &loaded.program
            {
                let text = sil::print::program(program, form);
                match sil::load::load_text("printed", &text).program {
                    Some(program) if arguments[1] == "converted" => {
                        print!("{}", sil::print::program(&program, Form::Structured));
                    }
                    _ => print!("{text}"),
                }
            }
        }
        return ExitCode::SUCCESS;
    }
    let is_verbose = arguments.first().is_some_and(|first| first == "-v");
    if is_verbose {
        arguments.remove(0);
    }
    let (mut same, mut skipped, mut wrong) = (0, 0, 0);
    for path in &arguments {
        let program = sil::load::load_file(path.as_ref()).ok().and_then(|loaded| loaded.program);
        let Some(program) = program else {
            skipped += 1;
            continue;
        };
        let mut check = |name: &str, result: Result<(), String>| match result {
            Ok(()) => same += 1,
            Err(problem) => {
                wrong += 1;
                let shown = if is_verbose { problem.as_str() } else { first_line(&problem) };
                println!("{path}: {name}: {shown}");
            }
        };
        check("structured", round_trip(&program, Form::Structured));
        check("graph", round_trip(&program, Form::Graph));
        let graphs = sil::print::program(&program, Form::Graph);
        if let Some(graphs) = sil::load::load_text("printed", &graphs).program {
            check("converted", round_trip(&graphs, Form::Structured));
        }
    }
    println!("{same} the same, {wrong} wrong; {skipped} programs not accepted");
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn round_trip(program: &sil::program::Program, form: Form) -> Result<(), String> {
    let first = sil::print::program(program, form);
    let loaded = sil::load::load_text("printed", &first);
    let Some(again) = &loaded.program else {
        let finding = loaded.diagnostics.iter().find(|finding| !finding.code.is_warning());
        let Some(finding) = finding else { return Err("no program, no error".to_owned()) };
        let at = loaded.sources.file(finding.span.file).line_column(finding.span.start);
        let line = first.lines().nth(at.line as usize - 1).unwrap_or_default();
        return Err(format!("at {at}: {}: `{}`\n{first}", finding.message, line.trim()));
    };
    let second = sil::print::program(again, form);
    if first == second {
        return Ok(());
    }
    let differing = first.lines().zip(second.lines()).enumerate().find(|(_, (a, b))| a != b);
    Err(match differing {
        Some((number, (a, b))) => format!("line {}: `{a}` became `{b}`\n{first}", number + 1),
        None => format!("one text is longer\n{first}"),
    })
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
