//! The formats for other tools: JSON lines and SARIF against their schemas, JUnit, and the
//! reference's command line.

use std::fs;
use std::path::Path;

use serde_json::Value;
use sil_tests::binaries::{self, Scratch};
use sil_tests::grammars;
use sil_tests::schema::violations;

fn schema(name: &str) -> Value {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas");
    let text = fs::read_to_string(docs.join(name)).expect("the schema is there");
    serde_json::from_str(&text).expect("a schema is JSON")
}

/// All kinds of verdicts, paths, notes, counterexamples, trusted things and translations.
const PROGRAMS: [(&str, &str); 6] = [
    (
        "paths.vpr",
        "field f: Int\nfunction g(x: Ref): Int requires acc(x.f) { x.f }\npredicate p(x: Ref) { acc(x.f) }\n\
         domain D { function d(): Int axiom a { d() > 0 } }\n\
         method m(x: Ref, n: Int) requires acc(x.f, 1/2) {\n  if (n > 0) {\n    if (x.f > n) { assert n > 3 }\n    x.f := 1\n  }\n}\n\
         method abstract(n: Int) ensures n > 0\n",
    ),
    ("good.sil", "method good() { assert forall i: Int :: i * 1 == i }"),
    ("ill.sil", "method ill(x: Int) { assert x }"),
    ("syntax.sil", "method {"),
    ("empty.sil", ""),
    (
        "c.chalice",
        "class C {\n  var f: int;\n  method m(b: bool)\n    requires acc(f)\n  {\n    if (b) { f := 1; assert f == 2; }\n  }\n}\n",
    ),
];

#[test]
fn lines_of_json_are_as_their_schema_says() {
    let scratch = Scratch::new(&PROGRAMS);
    let schema = schema("output.schema.json");
    for options in [&[][..], &["--stats", "--profile", "--counterexample", "--audit"], &["--check"]]
    {
        let mut kinds = Vec::new();
        let run = scratch.silicon(&[options, &["--message-format", "json", "."]].concat());
        for line in run.stdout.lines() {
            let value: Value = serde_json::from_str(line).expect("a line is an object");
            assert_eq!(violations(&schema, &value), Vec::<String>::new(), "{line}");
            kinds.push(value["type"].as_str().expect("a type").to_owned());
        }
        assert!(kinds.iter().any(|kind| kind == "diagnostic"), "{run:#?}");
        assert_eq!(kinds.iter().filter(|kind| *kind == "file").count(), PROGRAMS.len());
        assert_eq!(kinds.last().map(String::as_str), Some("run"));
    }
}

#[test]
fn sarif_is_as_its_schema_says() {
    let scratch = Scratch::new(&PROGRAMS);
    let report = |files: &[&str]| -> Value {
        scratch.silicon(&[files, &["--report", "sarif=r"]].concat());
        serde_json::from_str(&scratch.read("r")).expect("a report is JSON")
    };
    let all = report(&["."]);
    for all in [&all, &report(&[".", "--counterexample"])] {
        assert_eq!(violations(&schema("sarif.schema.json"), all), Vec::<String>::new());
    }
    let run = &all["runs"][0];
    assert_eq!(run["invocations"][0]["executionSuccessful"], false, "some files are no programs");
    let results = run["results"].as_array().expect("results");
    for result in results {
        let index = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
    let of = |id: &str| results.iter().find(|one| one["ruleId"] == id).expect("it is reported");
    let flow = &of("assert.failed:assertion.false")["codeFlows"][0]["threadFlows"][0]["locations"];
    let lines: Vec<_> = flow
        .as_array()
        .expect("steps")
        .iter()
        .map(|step| {
            let region = &step["location"]["physicalLocation"]["region"];
            region["startLine"].as_u64().expect("a line")
        })
        .collect();
    // The findings of the Chalice program come first.
    assert_eq!(lines, [6, 6]);
    let answered = report(&["paths.vpr", "good.sil"]);
    assert_eq!(answered["runs"][0]["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn fingerprints_do_not_depend_on_lines() {
    let program = "method m(n: Int) {\n  assert n > 0\n  assert n > 0\n}\n";
    let below = format!("// More\n// lines\n{}", program.replace("  assert", "      assert"));
    let scratch = Scratch::empty();
    let prints = |program: &str| -> Vec<String> {
        fs::write(scratch.path().join("a.sil"), program).expect("can be written");
        scratch.silicon(&["a.sil", "--report", "sarif=r"]);
        let report: Value = serde_json::from_str(&scratch.read("r")).expect("a report is JSON");
        let results = report["runs"][0]["results"].as_array().expect("results").clone();
        results.iter().map(|one| one["partialFingerprints"]["silicon/v1"].to_string()).collect()
    };
    let before = prints(program);
    assert!(!before.is_empty());
    assert_eq!(before, prints(&below));
    assert_ne!(before, prints(&program.replace("n > 0", "n > 1")));
}

#[test]
fn junit_says_what_is_wrong_and_where() {
    let scratch = Scratch::new(&PROGRAMS);
    scratch.silicon(&["paths.vpr", "ill.sil", "--report", "junit=r"]);
    let report = scratch.read("r");
    for part in [
        "<testcase classname=\"paths.vpr\" name=\"m\" file=\"paths.vpr\" line=\"5\"",
        "<failure message=\"failed: assert might fail: ",
        "type=\"assert.failed:assertion.false\">paths.vpr:7:",
        "<testcase classname=\"ill.sil\" name=\"(file)\" file=\"ill.sil\"",
        "<error message=\"input-error: ",
        "type=\"typechecker.error\">ill.sil:1:",
    ] {
        assert!(report.contains(part), "{part} is missing in\n{report}");
    }
}

/// `UPDATE_EXPECT=1` writes them.
#[test]
fn grammars_of_editors_are_made_of_the_keywords() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../editors/vscode/syntaxes");
    for language in layout::Language::ALL {
        let path = folder.join(format!("{}.tmLanguage.json", grammars::name(language)));
        expect_test::expect_file![path].assert_eq(&grammars::grammar(language));
    }
}

/// How often something is in a text.
fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn the_page_has_what_the_lines_of_json_have() {
    let scratch = Scratch::new(&PROGRAMS);
    let run = scratch.silicon(&[
        ".",
        "--counterexample",
        "--message-format",
        "json",
        "--report",
        "html=page.html",
    ]);
    let page = scratch.read("page.html");
    let lines: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    let of_type = |name: &str| lines.iter().filter(|line| line["type"] == name).count();
    assert!(of_type("member") >= 6 && of_type("diagnostic") >= 5, "{}", run.stdout);
    assert_eq!(count(&page, "<tr class=\"member\""), of_type("member"), "{page}");
    assert_eq!(count(&page, "<article "), of_type("diagnostic"), "{page}");
    for line in lines.iter().filter(|line| line["type"] == "member") {
        let (name, verdict) = (line["name"].as_str().unwrap(), line["verdict"].as_str().unwrap());
        let row = format!("data-verdict=\"{verdict}\" data-name=\"{name}\"");
        assert!(page.contains(&row), "{row} in {page}");
    }
    // The path, with the place of each step; a counterexample; what is wrong, marked in the source.
    for part in [
        "<li><code>n &gt; 0</code> at <a href=\"#s",
        "<caption>for instance where</caption>",
        "might not hold\">n &gt; 3</mark>",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
}

#[test]
fn hostile_names_and_sources_are_text_on_the_page() {
    let source = "// </pre><script>alert(1)</script>\u{202e}\u{0}\r\nmethod m()\n{\n  assert 1 < 0 // <img onerror=x>\n}\n";
    let name = "a<script>\u{1b}.sil";
    let scratch = Scratch::new(&[(name, source)]);
    let run = scratch.silicon(&[name, "--report", "html=page.html"]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    let page = scratch.read("page.html");
    // The page's own is the only one.
    assert_eq!(count(&page, "<script"), 1, "{page}");
    assert_eq!(count(&page, "<img"), 0, "{page}");
    assert!(page.contains("// &lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    let is_disguise = |c: char| c == '\u{202e}' || c.is_control() && c != '\n';
    assert!(!page.contains(is_disguise), "{page}");
    assert!(
        page.contains("\">1 &lt; 0</mark> <span class=\"comment\">// &lt;img onerror=x&gt;"),
        "{page}"
    );
    assert!(page.contains("default-src 'none'; style-src 'sha256-"), "{page}");
}

#[test]
fn a_text_on_standard_input_may_have_a_name_and_a_language() {
    let scratch = Scratch::empty();
    let (_, chalice) = PROGRAMS[5];
    let run = |arguments: &[&str]| {
        let arguments = [arguments, &["--message-format", "short", "-"]].concat();
        binaries::run("silicon", &arguments, scratch.path(), chalice.as_bytes())
    };
    assert_eq!(run(&[]).code, Some(3), "it is no SIL");
    let named = run(&["--stdin-filename", "src/c.chalice"]);
    assert_eq!(named.code, Some(1), "{named:#?}");
    assert!(named.stdout.starts_with("src/c.chalice:6:"), "{named:#?}");
    let told = run(&["--language", "chalice"]);
    assert!(told.stdout.starts_with("<stdin>:6:"), "{told:#?}");
    let other = run(&["--language", "sil", "--stdin-filename", "c.chalice"]);
    assert_eq!(other.code, Some(3), "{other:#?}");
}

/// The flags of the reference's help (version 1.1), each with values as a script would give them.
const REFERENCE: [&[&str]; 62] = [
    &["--alternativeFunctionVerificationOrder"],
    &["--assertionMode", "pp"],
    &["--assertTimeout", "1000"],
    &["--assumeInjectivityOnInhale"],
    &["--checkTimeout", "10"],
    &["--conditionalizePermissions"],
    &["--counterexample", "variables"],
    &["--cvc5Exe", "cvc5"],
    &["--cvc5ResourcesPerMillisecond", "10"],
    &["--disableCaches"],
    &["--disableCatchingExceptions"],
    &["--disableChunkOrderHeuristics"],
    &["--disableFunctionUnfoldTrigger"],
    &["--disableHavocHack407"],
    &["--disableISCTriggers"],
    &["--disableNL"],
    &["--disableSubsumption"],
    &["--disableValueMapCaching"],
    &["--enableBranchconditionReporting"],
    &["--enableDebugging"],
    &["--enableMoreCompleteExhale"],
    &["--enablePredicateTriggersOnInhale"],
    &["--enableSimplifiedUnfolds"],
    &["--enableSmokeDetection"],
    &["--enableTempDirectory"],
    &["--excludeMethods", "x*"],
    &["--exhaleMode", "1"],
    &["--includeMethods", "*"],
    &["-Llogger=DEBUG", "other=INFO"],
    &["--logConfig", "log.conf"],
    &["--logLevel", "OFF"],
    &["--mapAxiomatizationFile", "m.vpr2"],
    &["--moreJoins", "1"],
    &["--multisetAxiomatizationFile", "m"],
    &["--numberOfErrorsToReport", "0"],
    &["--numberOfParallelVerifiers", "2"],
    &["--parallelizeBranches"],
    &["--plugin", "viper.silver.plugin.standard.termination.TerminationPlugin"],
    &["--printMethodCFGs"],
    &["--printTranslatedProgram"],
    &["--prover", "Z3"],
    &["--proverArgs", "smt.random_seed=1"],
    &["--proverConfigArgs", "smt.random_seed=1", "smt.mbqi=false"],
    &["--proverEnableTimeBounds"],
    &["--proverLogFile", "log"],
    &["--proverRandomizeSeeds"],
    &["--proverSaturationTimeout", "100"],
    &["--proverSaturationTimeoutWeights", "1.0", "0.5", "0.4", "0.2", "0.02"],
    &["--pushTimeout", "0"],
    &["--qpSplitTimeout", "100"],
    &["--recursivePredicateUnfoldings", "1"],
    &["--reportPartialResults"],
    &["--reportReasonUnknown"],
    &["--respectFunctionPrePermAmounts"],
    &["--sequenceAxiomatizationFile", "s"],
    &["--setAxiomatizationFile", "s"],
    &["--stateConsolidationMode", "1"],
    &["--submitForEvaluation"],
    &["--tempDirectory", "tmp2"],
    &["--timeout", "100"],
    &["--z3Exe", "/usr/bin/z3"],
    &["--z3ResourcesPerMillisecond", "9000"],
];

/// The reference's flags choose among methods; what they rely on is verified all the same.
#[test]
fn flags_of_the_reference_select_methods_only() {
    let program = "field v: Int\nfunction f(x: Int): Int ensures result > 0 { x }\n\
                   predicate p(x: Ref) { x.v > 0 }\nmethod m() { }\nmethod n() { assert false }\n";
    let scratch = Scratch::new(&[("a.vpr", program)]);
    for (arguments, lines) in [
        (&["--includeMethods", "m"][..], &[2, 3][..]),
        (&["--includeMethods", "nobody"], &[2, 3]),
        (&["--excludeMethods", "f*"], &[2, 3, 5]),
        (&["--excludeMethods", "*"], &[2, 3]),
        (&["--member", "m"], &[]),
        (&["--exclude", "f", "--excludeMethods", "n"], &[3]),
    ] {
        for compat in [&["--compat", "silicon"][..], &[]] {
            let format: &[&str] =
                if compat.is_empty() { &["--message-format", "short"] } else { &[] };
            let run = scratch.silicon(&[compat, format, arguments, &["a.vpr"]].concat());
            assert_eq!(run.code, Some(i32::from(!lines.is_empty())), "{arguments:?}: {run:#?}");
            for line in 1..=5 {
                let place = if compat.is_empty() { "a.vpr:" } else { "a.vpr@" };
                let separator = if compat.is_empty() { ':' } else { '.' };
                let is_told = run.stdout.contains(&format!("{place}{line}{separator}"));
                assert_eq!(is_told, lines.contains(&line), "{line}: {arguments:?}: {run:#?}");
            }
        }
    }
}

#[test]
fn scripts_for_the_reference_find_its_flags() {
    let program = "method m() { assert false }\nmethod n(b: Bool) { if (b) { assert false } assert false && b }\n";
    let scratch = Scratch::new(&[("a.vpr", program)]);
    // One at a time would start as many processes: the values of one end where the next flag
    // begins.
    let all: Vec<&str> = REFERENCE.iter().flat_map(|one| one.iter().copied()).collect();
    let run = scratch.silicon(&[&["--compat", "silicon"], &all[..], &["a.vpr"]].concat());
    assert_eq!(run.code, Some(1), "{run:#?}");
    let warnings = run.stderr.lines().filter(|line| line.starts_with("warning"));
    let warnings: Vec<&str> = warnings.collect();
    assert_eq!(warnings.len(), 1, "{run:#?}");
    for flag in ["--z3Exe", "--checkTimeout", "--enableTempDirectory", "-L"] {
        assert!(warnings[0].contains(flag), "{run:#?}");
    }
    for flag in ["--timeout", "--includeMethods", "--counterexample", "--assertTimeout"] {
        assert!(!warnings[0].contains(flag), "{run:#?}");
    }
    for (wrong, word) in [
        (&["--counterexample", "none"][..], "native"),
        (&["--plugin", "viper.silver.sif.SIFExtendedPlugin"], "SIFExtendedPlugin"),
        (&["--noSuchFlag"], "--noSuchFlag"),
        (&["--disableShortCircuitingEvaluations"], "--disableShortCircuitingEvaluations"),
    ] {
        let run = scratch.silicon(&[&["--compat=silicon"], wrong, &["a.vpr"]].concat());
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains(word), "{run:#?}");
    }
}

/// The reference stops at the first error of a member.
#[test]
fn with_its_output_there_is_one_error_a_member() {
    let program = "method m(b: Bool) {\n  if (b) { assert 1 == 2 } else { assert 3 == 4 }\n}\nmethod n() { assert false }\n";
    let scratch = Scratch::new(&[("a.vpr", program)]);
    let errors = |arguments: &[&str]| {
        let run = scratch.silicon(&[&["--compat", "silicon", "a.vpr"], arguments].concat());
        run.stdout.lines().filter(|line| line.trim_start().starts_with('[')).count()
    };
    assert_eq!(errors(&[]), 2);
    assert_eq!(errors(&["--numberOfErrorsToReport", "0"]), 3);
}

#[test]
fn programs_do_what_they_announce_or_it_is_an_error() {
    let announced = "method m(n: Int) {\n  //:: ExpectedOutput(assert.failed:assertion.false)\n  assert n > 0\n}\n";
    let other = announced.replace("assertion.false", "insufficient.permission");
    let none = announced.replace("assert n > 0", "assert n > n - 1");
    let scratch = Scratch::new(&[
        ("right.sil", announced),
        ("good.sil", "method m() { }"),
        ("other.sil", &other),
        ("none.sil", &none),
        ("more.sil", "method m() { assert false }"),
        ("ill.sil", "//:: ExpectedOutput(typechecker.error)\nmethod m() { assert 1 }"),
        ("word.sil", "//:: ExpectedOutputs(a.b)\nmethod m() { }"),
    ]);
    let run = scratch.silicon(&["--expect", "right.sil", "good.sil", "ill.sil"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(run.stdout.contains("right.sil: as announced: 1 error\n"), "{run:#?}");
    assert!(run.stderr.contains("3 of 3 files as announced"), "{run:#?}");
    assert_eq!(scratch.silicon(&["--expect", "--check", "ill.sil"]).code, Some(0));
    assert_eq!(scratch.silicon(&["--expect", "--check", "right.sil"]).code, Some(1));
    for (file, line) in [
        ("other.sil", "  missing other.sil:3:assert.failed:insufficient.permission\n"),
        ("other.sil", "  extra other.sil:3:assert.failed:assertion.false\n"),
        ("none.sil", "  missing none.sil:3:assert.failed:assertion.false\n"),
        ("more.sil", "  extra more.sil:1:assert.failed:assertion.false\n"),
        ("word.sil", "  missing word.sil:2:ExpectedOutputs(a.b)\n"),
    ] {
        let run = scratch.silicon(&["--expect", file, "right.sil"]);
        assert_eq!(run.code, Some(1), "{run:#?}");
        assert!(run.stdout.contains(line), "{run:#?}");
        assert!(run.stderr.contains("1 of 2 files as announced"), "{run:#?}");
    }
    let run = scratch.silicon(&["--expect", "--message-format", "json", "other.sil"]);
    let schema = schema("output.schema.json");
    for line in run.stdout.lines() {
        let value: Value = serde_json::from_str(line).expect("a line is an object");
        assert_eq!(violations(&schema, &value), Vec::<String>::new(), "{line}");
    }
    assert!(run.stdout.contains("\"type\":\"expectation\""), "{run:#?}");
}

/// Methods that fail on purpose say so.
#[test]
fn the_examples_do_what_they_announce() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let run = binaries::run(
        "silicon",
        &["--expect", "examples/chalice", "examples/spl/counter.spl"],
        root,
        b"",
    );
    assert_eq!(run.code, Some(0), "{run:#?}");
}

#[test]
fn a_file_sets_options_and_the_command_line_wins() {
    let scratch = Scratch::new(&[
        (
            "silicon.toml",
            "message-format = \"short\"\nmember = [\"m\"]\nthreads = 3\nstats = true\n",
        ),
        ("other.toml", "threads = 5\n"),
        ("wrong.toml", "thread = 5\n"),
        ("a.sil", "method m() { assert false }\nmethod n() { assert false }"),
    ]);
    fs::create_dir_all(scratch.path().join("below")).expect("can be made");
    let run = |arguments: &[&str]| {
        binaries::run("silicon", arguments, &scratch.path().join("below"), b"")
    };
    let found = run(&["../a.sil"]);
    assert_eq!(found.code, Some(1), "{found:#?}");
    assert!(found.stdout.starts_with("../a.sil:1:"), "{found:#?}");
    assert_eq!(found.stdout.lines().count(), 1, "{found:#?}");
    let config = |arguments: &[&str]| run(&[arguments, &["--print-config", "x"]].concat()).stdout;
    assert!(config(&[]).contains("--threads 3\n") && config(&[]).contains("--stats\n"));
    assert!(config(&["-j", "4", "--no-stats"]).contains("--threads 4\n"));
    assert!(config(&["--no-stats"]).contains("--no-stats\n"));
    assert!(config(&["--no-config"]).contains("--threads 0\n"));
    assert!(config(&["--config", "../other.toml"]).contains("--threads 5\n"));
    let wrong = run(&["--config=../wrong.toml", "../a.sil"]);
    assert_eq!(wrong.code, Some(2), "{wrong:#?}");
    assert!(wrong.stderr.contains("wrong.toml") && wrong.stderr.contains("`thread`"), "{wrong:#?}");
}

#[test]
fn there_is_a_manual_page() {
    let scratch = Scratch::empty();
    let run = scratch.silicon(&["man"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    for part in [".TH silicon", "\\-\\-member\\-limit", "Exit codes:"] {
        assert!(run.stdout.contains(part), "{part} is missing in {}", run.stdout);
    }
}

/// A name is chosen by whoever wrote the file.
#[test]
fn names_of_files_do_not_control_the_terminal() {
    let scratch = Scratch::new(&[("a\u{1b}[31m\nb.sil", "method m() { assert false }")]);
    for format in ["human", "short", "json"] {
        let run = scratch.silicon(&["--message-format", format, ".", "--report", "junit=r"]);
        assert_eq!(run.code, Some(1), "{run:#?}");
        assert!(!run.stdout.contains('\u{1b}'), "{run:#?}");
        assert!(run.stdout.contains("u{1b}[31m"), "{run:#?}");
    }
    assert!(!scratch.read("r").contains('\u{1b}'));
}

/// The ids that programs of the corpus announce stand in the manual.
#[test]
fn every_id_is_explained() {
    let scratch = Scratch::empty();
    let run = scratch.silicon(&["explain", "assert.failed:division.by.zero"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(run.stdout.contains("might be zero") && run.stdout.contains("`assert`"), "{run:#?}");
    let unknown = scratch.silicon(&["explain", "assert.fialed"]);
    assert_eq!(unknown.code, Some(2), "{unknown:#?}");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut missing = Vec::new();
    for below in ["corpus", "../examples"] {
        for path in silicon::session::input::programs_below(&here.join(below)) {
            let text = String::from_utf8_lossy(&fs::read(&path).expect("it is there")).into_owned();
            for output in sil_tests::expectations::read(&text, "sil").expected {
                let parts = output.id.split(':').count();
                // Programs that name the ids of their errors themselves are about that.
                if !path.starts_with(here.join("corpus/annotations"))
                    && silicon::explain::rows(&output.id).len() < parts
                {
                    missing.push(output.id);
                }
            }
        }
    }
    missing.sort();
    missing.dedup();
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn the_page_of_errors_is_what_the_command_says() {
    let said = Scratch::empty().silicon(&["explain"]).stdout;
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&page, &said).expect("it can be written");
    }
    assert_eq!(said, fs::read_to_string(&page).unwrap_or_default(), "UPDATE_EXPECT=1 writes it");
}

#[test]
fn words_of_the_language_are_explained() {
    let scratch = Scratch::empty();
    let run = scratch.silicon(&["explain", "fold"]);
    assert!(run.code == Some(0) && run.stdout.contains("fold P(e) (SIL)\n    Takes"), "{run:#?}");
    for (word, part) in [("waitlevel", "(Chalice)"), ("Btwn", "(SPL)"), ("fork", "token")] {
        let run = scratch.silicon(&["explain", word]);
        assert!(run.code == Some(0) && run.stdout.contains(part), "{run:#?}");
    }
    for (language, head) in [("sil", "# SIL, "), ("chalice", "# Chalice, "), ("spl", "# SPL, ")] {
        let run = scratch.silicon(&["explain", language]);
        assert!(run.code == Some(0) && run.stdout.starts_with(head), "{run:#?}");
    }
    let run = scratch.silicon(&["explain", "fould"]);
    let said = "no such id or word: `fould`; did you mean `fold`?";
    assert!(run.code == Some(2) && run.stderr.contains(said), "{run:#?}");
}
