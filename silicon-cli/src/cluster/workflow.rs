//! `silicon cluster github` and `gitlab`: the plan of a run over shards, for services that run jobs
//! of a repository.
//!
//! Every job has the executable of one job, since shards of several builds are refused.

use super::Work;

/// A shard with failures is done: whether the run is good is said by the job that merges.
const DONE: &str = "case $? in 1 | 3 | 4) ;; *) exit 1 ;; esac";

/// Where jobs keep verdicts: at the place that is named, or else in a directory that the service
/// carries from run to run.
struct CacheOfJobs {
    /// The lines by which the service does so.
    step: String,
    /// The words of the command.
    words: &'static str,
    /// The words of the installation.
    features: &'static str,
}

impl CacheOfJobs {
    fn new(work: &Work, step: String) -> Self {
        let cache = &work.args.cache;
        let features = if cache.is_at_a_url() { " --features remote-cache" } else { "" };
        if cache.is_named() {
            Self { step: String::new(), words: "", features }
        } else {
            Self { step, words: " --cache .silicon-cache", features }
        }
    }
}

/// Returns a workflow for GitHub.
pub(super) fn github(work: &Work) -> String {
    let numbers: Vec<String> = (1..=work.shards.get()).map(|number| number.to_string()).collect();
    let numbers = numbers.join(", ");
    let shard = "${{ matrix.shard }}";
    let command = work.command("bin/silicon", shard);
    let programs = work.programs();
    let step = format!(
        r"      - uses: actions/cache@v4
        with:
          path: .silicon-cache
          key: silicon-cache-{shard}-${{{{ github.run_id }}}}
          restore-keys: silicon-cache-{shard}-
"
    );
    let CacheOfJobs { step, words, features } = CacheOfJobs::new(work, step);
    format!(
        r#"# .github/workflows/verify.yml
name: verify
on: [push, pull_request]
permissions:
  contents: read
  security-events: write
env:
  # The repository of silicon, and the commit to be used.
  SILICON: ${{{{ vars.SILICON_REPOSITORY }}}}
  COMMIT: ${{{{ vars.SILICON_COMMIT }}}}
jobs:
  install:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/cache@v4
        id: built
        with:
          path: bin
          key: silicon-${{{{ env.COMMIT }}}}-${{{{ env.ImageVersion }}}}
      - if: steps.built.outputs.cache-hit != 'true'
        run: |
          sudo apt-get update
          sudo apt-get install -y libz3-dev
          cargo install --locked --root . --git "$SILICON" --rev "$COMMIT"{features} silicon-cli
      - uses: actions/upload-artifact@v4
        with:
          name: silicon
          path: bin/silicon
  verify:
    needs: install
    runs-on: ubuntu-24.04
    strategy:
      fail-fast: false
      matrix:
        shard: [{numbers}]
    steps:
      - uses: actions/checkout@v4
      - uses: actions/download-artifact@v4
        with:
          name: silicon
          path: bin
{step}      - name: verify
        run: |
          sudo apt-get update
          sudo apt-get install -y libz3-4
          chmod +x bin/silicon
          {command}{words} --save {shard}.saved -- {programs} || {DONE}
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: shard-{shard}
          path: "*.saved"
  merge:
    needs: verify
    if: always()
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@v4
      - uses: actions/download-artifact@v4
        with:
          name: silicon
          path: bin
      - uses: actions/download-artifact@v4
        with:
          pattern: shard-*
          merge-multiple: true
      - name: merge
        run: |
          sudo apt-get update
          sudo apt-get install -y libz3-4
          chmod +x bin/silicon
          bin/silicon merge *.saved --message-format github --report sarif=silicon.sarif
      - uses: github/codeql-action/upload-sarif@v3
        if: always()
        with:
          sarif_file: silicon.sarif
"#
    )
}

/// Returns a pipeline for GitLab.
pub(super) fn gitlab(work: &Work) -> String {
    let command = work.command("bin/silicon", "\"$CI_NODE_INDEX\"");
    let (shards, programs) = (work.shards, work.programs());
    let step = "  cache:
    key: silicon-cache-$CI_NODE_INDEX
    paths: [.silicon-cache]
";
    let CacheOfJobs { step, words, features } = CacheOfJobs::new(work, step.to_owned());
    format!(
        r#"# .gitlab-ci.yml; the variables SILICON_REPOSITORY and SILICON_COMMIT say which silicon is used.
stages: [install, verify, merge]
default:
  image: rust:1-bookworm
  before_script:
    - apt-get update
    - apt-get install -y libz3-dev
install:
  stage: install
  cache:
    key: silicon-$SILICON_COMMIT
    paths: [bin]
  script:
    - test -x bin/silicon || cargo install --locked --root . --git "$SILICON_REPOSITORY" --rev "$SILICON_COMMIT"{features} silicon-cli
  artifacts:
    paths: [bin/silicon]
verify:
  stage: verify
  parallel: {shards}
{step}  script:
    - {command}{words} --save "$CI_NODE_INDEX.saved" -- {programs} || {DONE}
  artifacts:
    when: always
    paths: ["*.saved"]
merge:
  stage: merge
  when: always
  script:
    - bin/silicon merge *.saved --message-format gitlab --report sarif=silicon.sarif > codequality.json
  artifacts:
    when: always
    paths: [silicon.sarif]
    reports:
      codequality: codequality.json
"#
    )
}
