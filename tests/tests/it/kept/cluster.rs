//! `silicon cluster`, with commands in the place of Slurm's that start jobs on this machine; the
//! real ones are tested by `.ci/slurm`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;
use sil_tests::binaries::{Run, Scratch, path};
use sil_tests::sample::timeless;

/// Starts the jobs of an array, and notes which of them run. Behind a job `after` may do harm.
const SBATCH: &str = r#"#!/bin/sh
set -e
for word; do
  case $word in --array=*) array=${word#--array=} ;; esac
  script=$word
done
echo "$@" >> "$SLURM/submitted"
job=$(($(cat "$SLURM/last" 2> /dev/null || echo 100) + 1))
echo $job > "$SLURM/last"
case $array in
  *-*) numbers=$(seq "${array%-*}" "${array#*-}") ;;
  *) numbers=$(echo "$array" | tr , ' ') ;;
esac
for number in $numbers; do
  : > "$SLURM/${job}_$number"
  (
    SLURM_ARRAY_TASK_ID=$number sh "$script" > "$SLURM/$number.log" 2>&1
    sh "$SLURM/after" "$number" "$job"
    [ -e "$SLURM/cancelled" ] || rm "$SLURM/${job}_$number"
  ) > /dev/null 2>&1 &
done
echo $job
"#;

const SQUEUE: &str = r#"#!/bin/sh
for word; do job=$word; done
cd "$SLURM" && ls | grep "^${job}_" | while read -r it; do
  echo "$it $(cat cancelled 2> /dev/null || echo RUNNING)"
done
"#;

const PROGRAM: &str = "function wrong(n: Int): Int ensures result > n { n }
method a(n: Int) { assert n > 1 }
method b(n: Int) { assert wrong(n) > n }
method c(n: Int) requires n > 1 { assert n > 0 }
method d() { assert 1 < 2 }
";

fn cluster(after: &str) -> Scratch {
    let scratch = Scratch::new(&[
        ("bin/sbatch", SBATCH),
        ("bin/squeue", SQUEUE),
        ("slurm/after", after),
        ("a/one.vpr", PROGRAM),
        ("a/it's.sil", "method m(x: Int) { assert x > 0 }\n"),
    ]);
    for command in ["bin/sbatch", "bin/squeue"] {
        let command = scratch.path().join(command);
        fs::set_permissions(command, fs::Permissions::from_mode(0o755)).expect("can be");
    }
    scratch
}

fn slurm(scratch: &Scratch, arguments: &[&str]) -> Run {
    let commands = scratch.path().join("bin");
    let path_of_all = std::env::var("PATH").expect("there is one");
    Command::new(path("silicon"))
        .args([&["cluster", "slurm"], arguments].concat())
        .current_dir(scratch.path())
        .env("PATH", format!("{}:{path_of_all}", commands.display()))
        .env("SLURM", scratch.path().join("slurm"))
        .env_remove("CI")
        .output()
        .expect("it starts")
        .into()
}

const JSON: [&str; 2] = ["--message-format", "json"];

fn left(scratch: &Scratch) -> bool {
    let entries = fs::read_dir(scratch.path()).expect("it is a directory");
    let names = entries.map(|entry| entry.expect("it can be read").file_name());
    names.into_iter().any(|name| name.to_string_lossy().starts_with("silicon-cluster-"))
}

#[test]
fn jobs_that_die_go_on_and_end_as_one_run() {
    // The first job of the second shard is ended half way.
    let scratch = cluster(
        "f=../silicon-cluster-*/2.saved; cd $SLURM; \
         [ $1-$2 != 2-101 ] || truncate -s $(($(stat -c %s $f) * 2 / 3)) $f\n",
    );
    let one = scratch.silicon(&["a", JSON[0], JSON[1]]);
    let options = ["--shards", "3", "a", JSON[0], JSON[1], "--", "--mem=1G"];
    let several = slurm(&scratch, &options);
    assert_eq!(timeless(&several), timeless(&one), "{}", several.stderr);
    assert_eq!((several.code, one.code), (Some(1), Some(1)), "{}", several.stderr);
    let submitted = scratch.read("slurm/submitted");
    let arrays: Vec<&str> = submitted.lines().filter_map(|it| it.split(' ').nth(2)).collect();
    assert_eq!(arrays, ["--array=1-3", "--array=2"], "{submitted}");
    assert!(submitted.lines().all(|line| line.starts_with("--parsable --mem=1G ")), "{submitted}");
    assert!(!left(&scratch), "files of the jobs are gone");
}

#[test]
fn a_shard_that_dies_again_and_again_is_not_verified() {
    let scratch = cluster("[ $1 != 2 ] || rm $SLURM/../kept/2.saved\n");
    let options = ["--directory", "kept", "--shards=3", "a", JSON[0], JSON[1]];
    let lost = slurm(&scratch, &options);
    assert!(lost.stderr.contains("the job of shard 2 died 3 times"), "{}", lost.stderr);
    let one = timeless(&scratch.silicon(&["a", JSON[0], JSON[1]]));
    let members = timeless(&lost).into_iter().filter(|line| line["type"] == "member");
    let (known, open): (Vec<Value>, Vec<Value>) = members.partition(|line| one.contains(line));
    assert!(!known.is_empty() && !open.is_empty(), "{}", lost.stdout);
    assert!(open.iter().all(|line| line["verdict"] == "inconclusive"), "{open:?}");
    // The rest is done when the reason is gone.
    fs::write(scratch.path().join("slurm/after"), "").expect("can be written");
    let again = slurm(&scratch, &options);
    assert_eq!(timeless(&again), one, "{}", again.stderr);
}

/// A job that somebody cancels does not begin again.
#[test]
fn what_is_cancelled_is_not_submitted_again() {
    let scratch = cluster("rm $SLURM/../kept/1.saved; echo CANCELLED > $SLURM/cancelled\n");
    let lost = slurm(&scratch, &["--directory", "kept", "--shards=1", "a", JSON[0], JSON[1]]);
    assert!(lost.stderr.contains("the job of shard 1 was cancelled"), "{}", lost.stderr);
    assert_eq!(scratch.read("slurm/submitted").lines().count(), 1);
    assert_ne!(lost.code, Some(0));
}

#[test]
fn a_plan_says_what_machines_are_worth() {
    let line = |(index, cost): (usize, &f64)| {
        let name = format!("m{index}");
        let line = serde_json::json!({
            "v": 1, "type": "member", "file": "a", "kind": "method", "name": name, "time_ms": cost
        });
        line.to_string()
    };
    let costs = [300.0, 100.0, 100.0, 100.0];
    let lines: Vec<String> = costs.iter().enumerate().map(line).collect();
    let scratch = Scratch::new(&[("costs", lines.join("\n"))]);
    let plan = ["cluster", "plan", "--costs", "costs", "--shards", "1", "--shards", "8"];
    let run = scratch.silicon(&plan);
    let expected = "shards   longest  speed-up\n     1     0.6 s       1.0\n     8     0.3 s       2.0\n\
                    The longest member takes 0.3 s of 0.6 s.\n";
    assert_eq!((run.stdout.as_str(), run.code), (expected, Some(0)), "{}", run.stderr);
    let none = scratch.silicon(&["cluster", "plan", "--costs", "missing"]);
    assert!(none.code == Some(2) && none.stderr.contains("missing"), "{}", none.stderr);
}

#[test]
fn a_script_can_be_looked_at() {
    let scratch = cluster("");
    let options = ["--dry-run", "--shards", "2", "a/it's.sil", "--member", "m*", "--stats"];
    let run = slurm(&scratch, &options);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for line in ["#SBATCH --array=1-2", r#"  --save "$saved.saved" "$@" -- 'a/it'\''s.sil'"#] {
        assert!(run.stdout.lines().any(|it| it == line), "{line} in {}", run.stdout);
    }
    let words = " '--member=m*' --shard \"$SLURM_ARRAY_TASK_ID\"/2 --no-config \\\n";
    assert!(run.stdout.contains(words) && !run.stdout.contains("--stats"), "{}", run.stdout);
    assert!(!scratch.path().join("slurm/submitted").exists());
}

#[test]
fn what_cannot_be_split_is_refused() {
    let scratch = cluster("");
    for arguments in [
        &["--shards", "2"][..],
        &["--shards", "0", "a"],
        &["a"],
        &["--shards", "2", "-"],
        &["--shards", "2", "a", "--shard", "1/2"],
        &["--shards", "2", "a", "--save", "s"],
        &["--shards", "2", "a", "--expect"],
        &["--shards", "2", "bin"],
    ] {
        let run = slurm(&scratch, arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {run:#?}");
    }
}

/// As far as a text without the service can be checked: every job has the steps in their order.
#[test]
fn workflows_are_complete() {
    let scratch = cluster("");
    let print = |service| {
        let run = scratch.silicon(&["cluster", service, "--shards", "3", "a", "--smoke"]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.stdout
    };
    let in_order = |text: &str, parts: &[&str]| {
        let mut rest = text;
        for part in parts {
            rest = rest.split_once(part).unwrap_or_else(|| panic!("{part} in {text}")).1;
        }
    };
    in_order(
        &print("github"),
        &[
            "cargo install",
            "shard: [1, 2, 3]",
            "actions/checkout",
            "actions/cache",
            "--smoke --shard ${{ matrix.shard }}/3",
            "--cache .silicon-cache",
            "upload-artifact",
            "if: always()",
            "silicon merge *.saved",
            "upload-sarif",
            "if: always()",
        ],
    );
    in_order(
        &print("gitlab"),
        &[
            "cargo install",
            "parallel: 3",
            "--shard \"$CI_NODE_INDEX\"/3",
            "merge *.saved",
            "when: always",
        ],
    );
}
