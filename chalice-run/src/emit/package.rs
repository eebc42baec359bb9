//! The files of an emitted program: a package that depends on nothing but the runtime beside it.

/// The files of a package, each with its path.
#[derive(Debug)]
pub struct Package {
    /// Path within the package, and text.
    pub files: Vec<(String, String)>,
}

/// The sources of the runtime.
macro_rules! runtime {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../chalice-rt/src/", $path)))),*]
    };
}

/// Path and text of each source of the runtime.
pub(super) const RUNTIME: &[(&str, &str)] = runtime![
    "lib.rs",
    "amount.rs",
    "amount/order.rs",
    "amount/rational.rs",
    "flaw.rs",
    "levels.rs",
    "object.rs",
    "report.rs",
    "settle.rs",
    "thread.rs",
    "thread/channels.rs",
    "thread/functions.rs",
    "thread/levels.rs",
    "thread/locks.rs",
    "thread/predicates.rs",
    "thread/transfer.rs",
    "trouble.rs",
    "value.rs",
    "world.rs",
];

const MAIN: &str = "\
mod program;

fn main() -> std::process::ExitCode {
    chalice_rt::report::main(&program::PROGRAMS[0])
}
";

/// Puts a package around the text of a program.
pub fn package(name: &str, module: String) -> Package {
    let about = |name: &str, more: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"{}\"\nedition = \"2024\"\n\
             rust-version = \"{}\"\npublish = false\n{more}",
            env!("CARGO_PKG_VERSION"),
            env!("CARGO_PKG_RUST_VERSION"),
        )
    };
    let depends = "\n[dependencies]\nchalice-rt = { path = \"chalice-rt\" }\n\n[workspace]\n";
    // The feature is that of the runtime as a part of chalice-run.
    let features = "\n[features]\ncrates = []\n";
    let mut files = vec![
        ("Cargo.toml".to_owned(), about(&package_name(name), depends)),
        ("src/main.rs".to_owned(), MAIN.to_owned()),
        ("src/program.rs".to_owned(), module),
        ("chalice-rt/Cargo.toml".to_owned(), about("chalice-rt", features)),
    ];
    let sources = RUNTIME.iter();
    files
        .extend(sources.map(|(path, text)| (format!("chalice-rt/src/{path}"), (*text).to_owned())));
    Package { files }
}

/// Returns a name that a package may have, after that of a file.
fn package_name(name: &str) -> String {
    let stem = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = stem.split('.').next().unwrap_or(stem);
    let is_fit = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let fit: String = stem.chars().map(|c| if is_fit(c) { c } else { '-' }).collect();
    format!("chalice-{}", fit.trim_matches('-').to_lowercase()).trim_end_matches('-').to_owned()
}
