//! Clients on the JVM: the agent that puts our class in the place of the reference's.
//!
//! `tests/jvm` is a client made of a few small classes with the names of Silver's and Scala's, so
//! these tests need a JDK and nothing else. Real clients are tried by `.ci/full`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Value, json};
use sil_tests::binaries::{Run, Scratch, path};
use sil_tests::clients::has_jdk;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("it is a directory").flatten() {
        if entry.path().is_dir() {
            sources(&entry.path(), found);
        } else {
            found.push(entry.path());
        }
    }
}

/// The classes of the client; `None`, and said so, where there is no JDK.
fn client() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        if !has_jdk() {
            return None;
        }
        let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("client");
        // An earlier run may have left classes there.
        let _ = fs::remove_dir_all(&classes);
        fs::create_dir_all(&classes).expect("a directory can be made");
        let mut files = Vec::new();
        sources(&root().join("tests/jvm"), &mut files);
        let compiler = Command::new("javac")
            .args(["-nowarn", "-sourcepath"])
            .arg(root().join("jvm/stubs"))
            .arg("-d")
            .arg(&classes)
            .args(&files)
            .output()
            .expect("the compiler runs");
        assert!(compiler.status.success(), "{compiler:?}");
        Some(classes)
    });
    built.as_deref()
}

/// The agent, as the command writes it, with an argument of our own.
fn agent(command: &Path) -> String {
    let run = Command::new(path("silicon"))
        .args(["jvm", "env"])
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .env_remove("JAVA_TOOL_OPTIONS")
        .output()
        .expect("it runs");
    let run = Run::from(run);
    let options = run.stdout.trim().strip_prefix("JAVA_TOOL_OPTIONS=");
    let agent = options.unwrap_or_else(|| panic!("{run:#?}")).split_once('=').expect("two parts");
    format!("{}={}", agent.0, command.display())
}

/// Verifies so many times within so many milliseconds each; the lines that the client prints.
fn verify(classes: &Path, command: &Path, times: usize, milliseconds: usize) -> Run {
    let run = Command::new("java")
        .arg(agent(command))
        .arg("-cp")
        .args([classes, Path::new("Main")])
        .args([times.to_string(), milliseconds.to_string()])
        .env_remove("JAVA_TOOL_OPTIONS")
        .output();
    Run::from(run.expect("the JVM starts"))
}

#[test]
fn programs_are_verified_by_the_command() {
    let Some(classes) = client() else { return };
    let run = verify(classes, &path("silicon"), 3, 60_000);
    assert_eq!(run.stdout, "Success\n".repeat(3), "{run:#?}");
}

/// The lines of an honest process. The program has one method.
const HONEST: [&str; 4] = [
    r#"{"to":1,"line":{"type":"members","members":[{"name":"m"}]}}"#,
    r#"{"to":1,"line":{"type":"member","kind":"method","name":"m","verdict":"verified"}}"#,
    r#"{"to":1,"line":{"type":"file","verdict":"verified"}}"#,
    r#"{"to":1,"line":{"type":"run","verdict":"verified","members":1,"verified":1}}"#,
];

/// The command by which a process says the honest lines, with these instead of some of them.
fn says(others: &[(usize, &str)]) -> String {
    let mut lines = HONEST.map(str::to_owned);
    for (index, other) in others {
        lines[*index] = (*other).to_owned();
    }
    lines.iter().flat_map(|line| ["echo '", line, "'; "]).collect()
}

#[test]
fn a_process_that_is_not_to_be_trusted_is_no_success() {
    let Some(classes) = client() else { return };
    let [_, member, file, run] = HONEST;
    // Where it stays, it says no more.
    let stays = |others: &[(usize, &str)]| says(others) + "sleep 60";
    let faults = [
        "kill -9 $$".to_owned(),
        format!("echo '{member}'; kill -9 $$"),
        format!("{}exit 0", says(&[(3, "")])),
        format!("{}exit 0", says(&[(3, &run[..40])])),
        "exit 0".to_owned(),
        "sleep 60".to_owned(),
        "echo garbage; sleep 60".to_owned(),
        "echo '[]'; sleep 60".to_owned(),
        "yes '{\"to\":1,\"line\":{\"type\":\"odd\"}}'".to_owned(),
        stays(&[(0, ""), (1, ""), (2, "")]),
        stays(&[(0, "")]),
        stays(&[(1, "")]),
        stays(&[(2, "")]),
        stays(&[(1, &member.replace("\"m\"", "\"n\""))]),
        stays(&[(1, &member.replace("\"verified\"", "\"failed\""))]),
        stays(&[(2, &file.replace("\"verified\"", "\"failed\""))]),
        stays(&[(3, &run.replace("\"verified\",", "\"checked\","))]),
        stays(&[(3, &run.replace("\"verified\":1", "\"verified\":0"))]),
        stays(&[(3, &run.replace("\"members\":1,\"verified\":1", "\"members\":2,\"verified\":2"))]),
        stays(&[(3, &run.replace("}}", ",\"interrupted\":true}}"))]),
        stays(&[(3, &run.replace("\"to\":1", "\"to\":2"))]),
        "echo '{\"to\":1,\"error\":\"no\"}'; sleep 60".to_owned(),
    ];
    // The last process is honest, and finds something the next time.
    let finding = r#"{"to":2,"line":{"type":"diagnostic","id":"odd:odd","message":"odd","member":"m","start":{"line":1,"column":1},"end":{"line":1,"column":2}}}"#;
    let again = says(&[]).replace("\"to\":1", "\"to\":2");
    let honest = format!("{}read line; echo '{finding}'; {again}read line", says(&[]));
    let mut script = String::from(
        "#!/bin/sh\ncd $(dirname $0)\necho >>count\nread line\ncase $(wc -l <count) in\n",
    );
    for (number, fault) in (1..).zip(faults.iter().chain([&honest])) {
        script += &format!("{number}) {fault};;\n");
    }
    script += "esac\n";
    let scratch = Scratch::empty();
    let command = scratch.path().join("silicon");
    fs::write(&command, script).expect("it can be written");
    fs::set_permissions(&command, fs::Permissions::from_mode(0o755)).expect("it can be run");
    let run = verify(classes, &command, faults.len() + 2, 1500);
    let results: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(results.len(), faults.len() + 2, "{run:#?}");
    for (result, fault) in results.iter().zip(&faults) {
        assert!(result.starts_with("Failure: AbortedExceptionally"), "{fault:?}: {result}");
    }
    let [.., success, found] = &results[..] else { panic!("{run:#?}") };
    assert_eq!(*success, "Success", "{run:#?}");
    assert!(found.starts_with("Failure: Internal") && found.contains("odd:odd: odd"), "{found}");
    let asked = fs::read_to_string(scratch.path().join("count")).expect("it was written");
    assert_eq!(asked.lines().count(), faults.len() + 1, "each fault had its turn");
}

#[test]
fn a_process_that_finds_no_room_is_no_success() {
    let Some(classes) = client() else { return };
    let scratch = Scratch::empty();
    let command = scratch.path().join("silicon");
    let script = format!("#!/bin/sh\nTMPDIR=/dev/null exec {} \"$@\"\n", path("silicon").display());
    fs::write(&command, script).expect("it can be written");
    fs::set_permissions(&command, fs::Permissions::from_mode(0o755)).expect("it can be run");
    let run = verify(classes, &command, 2, 60_000);
    let failure = "Failure: AbortedExceptionally";
    assert!(run.stdout.lines().all(|line| line.starts_with(failure)), "{run:#?}");
    assert_eq!(run.stdout.lines().count(), 2, "{run:#?}");
}

/// Returns what a client asks of the command.
fn asked(classes: &Path, properties: &[&str], arguments: &[&str]) -> Value {
    let scratch = Scratch::empty();
    let command = scratch.path().join("silicon");
    let script = "#!/bin/sh\nread -r line\necho \"$line\" >$(dirname $0)/asked\n";
    fs::write(&command, script).expect("it can be written");
    fs::set_permissions(&command, fs::Permissions::from_mode(0o755)).expect("it can be run");
    let run = Command::new("java")
        .arg(agent(&command))
        .args(properties)
        .arg("-cp")
        .args([classes, Path::new("Main")])
        .args(["1", "60000"])
        .args(arguments)
        .env("SILICON_OPTIONS", " --member-limit=0  --threads=1 ")
        .env_remove("JAVA_TOOL_OPTIONS")
        .output();
    let run = Run::from(run.expect("the JVM starts"));
    assert!(run.stdout.starts_with("Failure: "), "{run:#?}");
    let mut asked: Value = serde_json::from_str(&scratch.read("asked")).expect("it is JSON");
    asked["verify"].take()
}

#[test]
fn options_are_handed_on() {
    let Some(classes) = client() else { return };
    let asked = asked(classes, &[], &["--exhaleMode=2", "--select", "m", "a.vpr"]);
    // No plugin has looked at the termination of anything, and the client has selected already.
    let expected =
        ["--compat", "silicon", "--exhaleMode=2", "a.vpr", "--member-limit=0", "--threads=1"];
    assert_eq!(asked["options"], json!(expected));
    assert_eq!(asked["text"], "method m()\n{\n  assert true\n}\n\n");
}

/// ViperServer runs plugins, unless it is told not to: then the measures are still in the text.
#[test]
fn measures_are_believed_only_where_a_plugin_took_them_out() {
    let Some(classes) = client() else { return };
    let measure = "-Dcontract=  decreases\n";
    for (properties, are_believed) in
        [(&["-Dserved=true"][..], true), (&["-Dserved=true", measure], false), (&[measure], false)]
    {
        let asked = asked(classes, properties, &["a.vpr"]);
        let options = asked["options"].as_array().expect("a list");
        let believes = options.contains(&json!("--assume-termination"));
        assert_eq!(believes, are_believed, "{properties:?}: {asked}");
    }
}

#[test]
fn another_class_is_left_as_it_is() {
    let Some(classes) = client() else { return };
    let scratch = Scratch::empty();
    let silicon = fs::read_to_string(root().join("tests/jvm/viper/silicon/Silicon.java"));
    let silicon = silicon.expect("it is there");
    let (start, _) = silicon.rsplit_once('}').expect("a class ends");
    let file = scratch.path().join("Silicon.java");
    fs::write(&file, format!("{start}\n    public void explain() {{}}\n}}\n")).expect("written");
    let compiler = Command::new("javac")
        .args(["-nowarn", "-cp"])
        .arg(classes)
        .arg("-d")
        .args([scratch.path(), &file])
        .output()
        .expect("the compiler runs");
    assert!(compiler.status.success(), "{compiler:?}");
    let both = format!("{}:{}", scratch.path().display(), classes.display());
    let run = verify(Path::new(&both), &path("silicon"), 1, 60_000);
    assert_eq!(run.stdout, "null\n", "its own answer: {run:#?}");
    let why = "stays the reference's: it is another one than is known: it has explain()V";
    assert!(run.stderr.contains(why), "{run:#?}");
}

#[test]
fn clients_are_run_with_the_agent() {
    let Some(_) = client() else { return };
    let scratch = Scratch::empty();
    let run = |arguments: &[&str]| {
        let run = Command::new(path("silicon"))
            .args(arguments)
            .env("XDG_CACHE_HOME", scratch.path().join("with blanks"))
            .env("JAVA_TOOL_OPTIONS", "-Xmx1g")
            .output();
        Run::from(run.expect("it runs"))
    };
    let shown = run(&["jvm", "run", "--", "sh", "-c", "echo \"$JAVA_TOOL_OPTIONS\"; exit 7"]);
    assert_eq!(shown.code, Some(7), "{shown:#?}");
    assert!(shown.stdout.starts_with("-Xmx1g \"-javaagent:"), "{shown:#?}");
    assert_eq!(run(&["jvm", "env"]).stdout, format!("JAVA_TOOL_OPTIONS={}", shown.stdout));
    let started = run(&["jvm", "run", "--", "java", "-version"]);
    assert_eq!(started.code, Some(0), "{started:#?}");
    assert_eq!(run(&["jvm", "run", "--", "./no-such-client"]).code, Some(2));
    assert_eq!(run(&["jvm", "run"]).code, Some(2));
}
