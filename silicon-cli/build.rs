//! Builds the agent for clients on the JVM (`jvm/`), where there is a JDK. Where there is none, the
//! command is built without the agent, and says so when it is asked for it.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package of the agent.
const PACKAGE: &str = "silicon/jvm";
/// The replacement's class lies in the jar under a name that no class loader looks for.
const REPLACEMENT: &str = "Silicon.bytes";

fn main() {
    println!("cargo::rerun-if-changed=../jvm");
    println!("cargo::rerun-if-env-changed=JAVA_HOME");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let jar = out.join("agent.jar");
    if let Err(why) = build(&out, &jar) {
        println!("cargo::warning=built without the agent for clients on the JVM: {why}");
        fs::write(&jar, b"").expect("the directory can be written to");
    }
}

fn build(out: &Path, jar: &Path) -> Result<(), String> {
    let (classes, content) = (out.join("classes"), out.join("jar"));
    for directory in [&classes, &content] {
        // An earlier build may have left classes there.
        let _ = fs::remove_dir_all(directory);
    }
    fs::create_dir_all(content.join(PACKAGE)).map_err(words)?;
    let mut sources = Vec::new();
    collect(Path::new("../jvm"), &mut sources).map_err(words)?;
    sources.sort();
    let javac = ["-nowarn", "-encoding", "UTF-8", "--release", "17", "-d"];
    run(Command::new(tool("javac")).args(javac).arg(&classes).args(&sources))?;
    for entry in fs::read_dir(classes.join(PACKAGE)).map_err(words)? {
        let path = entry.map_err(words)?.path();
        let name = path.file_name().ok_or("a file without a name")?;
        fs::copy(&path, content.join(PACKAGE).join(name)).map_err(words)?;
    }
    let replacement = classes.join("viper/silicon/Silicon.class");
    fs::copy(replacement, content.join(PACKAGE).join(REPLACEMENT)).map_err(words)?;
    let manifest = out.join("manifest");
    fs::write(&manifest, "Premain-Class: silicon.jvm.Agent\n").map_err(words)?;
    run(Command::new(tool("jar")).arg("cfm").arg(jar).arg(manifest).arg("-C").arg(content).arg("."))
}

/// Returns a tool of the JDK.
fn tool(name: &str) -> PathBuf {
    match env::var_os("JAVA_HOME") {
        Some(home) => Path::new(&home).join("bin").join(name),
        None => name.into(),
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("{name}: {}", said.lines().next().unwrap_or("it failed")))
}

/// Collects the sources below a directory.
fn collect(directory: &Path, sources: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, sources)?;
        } else if path.extension().is_some_and(|extension| extension == "java") {
            sources.push(path);
        }
    }
    Ok(())
}

fn words(error: io::Error) -> String {
    error.to_string()
}
