//! The page of `--report html=FILE` in a browser: what is seen, and what changes when somebody
//! looks for something.

use std::fs;
use std::path::Path;

use serde_json::Value;
use sil_tests::binaries::Scratch;
use sil_tests::browser::Browser;

const PROGRAM: &str = "field f: Int

predicate cell(x: Ref) { acc(x.f) }

function get(x: Ref): Int
  requires cell(x)
{ unfolding cell(x) in x.f }

method right(n: Int) returns (r: Int)
  ensures r > n
{
  r := n + 1
}

method wrong(n: Int, x: Ref)
{
  var i: Int := 0
  while (i < n)
    invariant 0 <= i
  {
    i := i + 1
    if (i == 3) {
      assert i > n
    }
  }
  x.f := i
}

method hard(a: Int, b: Int, c: Int)
  requires a > 0 && b > 0 && c > 0
{
  assert a * a * a + b * b * b != c * c * c
}
";

/// The names of the members that are seen, in order.
fn seen(browser: &Browser) -> Vec<String> {
    let names = browser.run(
        "return Array.from(document.querySelectorAll('tr.member')).filter(row => row.checkVisibility()).map(row => row.dataset.name)",
    );
    let names = names.as_array().expect("a list").iter();
    names.map(|name| name.as_str().expect("a name").to_owned()).collect()
}

struct Made {
    scratch: Scratch,
    lines: Vec<Value>,
}

fn made() -> Made {
    let scratch = Scratch::new(&[("program.vpr", PROGRAM)]);
    let run = scratch.silicon(&[
        "program.vpr",
        "--limit=10000",
        "--counterexample",
        "--message-format=json",
        "--report=html=page.html",
    ]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    let lines = run.stdout.lines().map(|line| serde_json::from_str(line).expect("it is JSON"));
    Made { lines: lines.collect(), scratch }
}

impl Made {
    fn of(&self, kind: &str) -> Vec<&Value> {
        self.lines.iter().filter(|line| line["type"] == kind).collect()
    }

    fn page(&self) -> std::path::PathBuf {
        self.scratch.path().join("page.html")
    }
}

#[test]
fn members_are_found_by_what_is_typed() {
    let _alone = super::alone();
    let Some(browser) = Browser::start() else { return };
    let made = made();
    browser.open(&made.page());
    let members = made.of("member");
    let member = |one: &Value| {
        let text = |key: &str| one[key].as_str().expect("a text").to_owned();
        (text("name"), text("verdict"), one["time_ms"].as_f64().expect("a time"))
    };
    let members: Vec<_> = members.iter().map(|one| member(one)).collect();
    // Verified members are folded, and come last, until somebody looks for something.
    let verdicts: Vec<&str> = members.iter().map(|one| one.1.as_str()).collect();
    assert_eq!(verdicts, ["verified", "verified", "verified", "failed", "inconclusive"]);
    let members = [&members[3..], &members[..3]].concat();
    let names = |fits: &dyn Fn(&(String, String, f64)) -> bool| -> Vec<String> {
        members.iter().filter(|one| fits(one)).map(|one| one.0.clone()).collect()
    };
    assert_eq!(seen(&browser), names(&|one| one.1 != "verified"));

    let name = browser.find("#filters input[name=text]");
    browser.write(&name, "R");
    assert_eq!(seen(&browser), ["wrong", "hard", "right"]);
    browser.write(&name, "rig");
    assert_eq!(seen(&browser), ["right"]);
    browser.write(&name, "nobody");
    assert!(seen(&browser).is_empty());
    let shown = browser.run("return document.querySelector('output[name=shown]').textContent");
    assert_eq!(shown, "0 of 5 shown");
    browser.write(&name, "");
    assert_eq!(seen(&browser).len(), 5);

    // Each box takes the members with its verdict away, and brings them back.
    for verdict in ["verified", "failed", "inconclusive"] {
        let selector = format!("#filters input[value={verdict}]");
        browser.click(&browser.find(&selector));
        assert_eq!(seen(&browser), names(&|one| one.1 != verdict), "{verdict}");
        browser.click(&browser.find(&selector));
    }
    // So do those of kinds.
    browser.click(&browser.find("#filters input[value=method]"));
    assert_eq!(seen(&browser), ["cell", "get"]);
    browser.click(&browser.find("#filters input[value=method]"));
    // The members can be ordered by what they took, and are in the order of the text again.
    let chosen = |order: &str| {
        browser.run(&format!(
            "const order = document.querySelector('#filters select'); order.value = '{order}';
             order.dispatchEvent(new Event('change')); return 0"
        ));
        let questions = browser.run(
            "return Array.from(document.querySelectorAll('tr.member')).map(row => Number(row.dataset.questions))",
        );
        let questions = questions.as_array().expect("a list").iter();
        questions.filter_map(Value::as_u64).collect::<Vec<_>>()
    };
    let by_questions = chosen("questions");
    assert_ne!(seen(&browser), names(&|_| true));
    let is_sorted = |part: &[u64]| part.is_sorted_by(|one, other| one >= other);
    assert!(is_sorted(&by_questions[..2]) && is_sorted(&by_questions[2..]), "{by_questions:?}");
    chosen("place");
    assert_eq!(seen(&browser), names(&|_| true));
    let slower = browser.find("#filters input[name=ms]");
    browser.write(&slower, "1000000");
    assert!(seen(&browser).is_empty());
    browser.write(&slower, "0");
    assert_eq!(seen(&browser).len(), 5);
    assert_eq!(browser.complaints(), Value::Array(Vec::new()));
}

#[test]
fn findings_come_first_and_filters_stand_in_the_address() {
    let _alone = super::alone();
    let Some(browser) = Browser::start() else { return };
    let made = made();
    browser.open(&made.page());
    for (width, height) in [(1280, 800), (360, 740)] {
        browser.resize(width, height);
        let seen = browser.run(
            "const box = document.querySelector('article p').getBoundingClientRect();
             return [box.top >= 0 && box.bottom <= window.innerHeight,
                     document.documentElement.scrollWidth <= window.innerWidth]",
        );
        assert_eq!(seen, serde_json::json!([true, true]), "{width} x {height}");
        browser
            .run("for (const it of document.querySelectorAll('details')) it.open = true; return 0");
        let fits = "return document.documentElement.scrollWidth <= window.innerWidth";
        assert_eq!(browser.run(fits), true, "{width} x {height}, all open");
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("page-{width}.png"));
        fs::write(kept, browser.picture()).expect("there is room");
        browser.open(&made.page());
    }
    // Whoever gets the address sees the same.
    browser.click(&browser.find("#filters input[value=failed]"));
    browser.write(&browser.find("#filters input[name=text]"), "r");
    let before = seen(&browser);
    let address = browser.run("return location.search");
    assert_eq!(address, "?without=failed&text=r");
    browser.run("location.reload(); return 0");
    assert_eq!(seen(&browser), before);
    browser.click(&browser.find("#filters input[value=failed]"));
    browser.write(&browser.find("#filters input[name=text]"), "");
    assert_eq!(browser.run("return location.search"), "");
    let shown = browser.run("return document.body.innerText");
    let shown = shown.as_str().expect("a text");
    assert!(!shown.contains('`'), "{shown}");
    let page = made.scratch.read("page.html");
    for part in
        ["<dt>command</dt>", "--report=html=page.html", "<dt>date</dt>", "(Z3 ", "--limit 10000"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(browser.complaints(), Value::Array(Vec::new()));
}

#[test]
fn what_is_wrong_is_marked_where_it_is() {
    let _alone = super::alone();
    let Some(browser) = Browser::start() else { return };
    let made = made();
    browser.open(&made.page());
    let lines: Vec<&str> = PROGRAM.lines().collect();
    for one in made.of("diagnostic") {
        let number = |end: &str, key: &str| one[end][key].as_u64().expect("a number") as usize;
        let (line, from) = (number("start", "line"), number("start", "column"));
        assert_eq!(number("end", "line"), line, "{one}");
        let text = &lines[line - 1][from - 1..number("end", "column") - 1];
        let script = format!(
            "return Array.from(document.querySelectorAll('#s0-{line} mark')).map(it => it.textContent)"
        );
        assert_eq!(browser.run(&script), serde_json::json!([text]), "{one}");
    }
    // Links lead to what they name.
    browser.click(&browser.find("article a"));
    let line = browser.run("return document.querySelector(':target').className");
    assert_eq!(line, "line");
    browser.run("document.querySelector('#filters').scrollIntoView(); return 0");
    let picture = browser.picture();
    assert!(picture.starts_with(b"\x89PNG") && picture.len() > 10_000, "{}", picture.len());
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page.png");
    fs::write(kept, picture).expect("there is room");
    assert_eq!(browser.complaints(), Value::Array(Vec::new()));
}

/// A page shows any text of a program, and the text does nothing.
#[test]
fn hostile_text_does_nothing_in_a_browser() {
    let _alone = super::alone();
    let Some(browser) = Browser::start() else { return };
    let source = "// </pre><script>document.title = 'x'</script>\u{202e}\u{0}\r\nmethod m()\n{\n  assert 1 < 0 // <img src=x onerror=\"document.title='x'\">\n}\n";
    let scratch = Scratch::new(&[("a<script>.sil", source)]);
    scratch.silicon(&["a<script>.sil", "--report", "html=page.html"]);
    browser.open(&scratch.path().join("page.html"));
    let counts = browser.run("return [document.scripts.length, document.images.length]");
    assert_eq!(counts, serde_json::json!([1, 0]));
    assert_eq!(browser.run("return document.title"), "silicon: failed");
    let loaded = browser.run("return performance.getEntriesByType('resource').length");
    assert_eq!(loaded, 0, "nothing is asked for");
    let mark = browser.run("return document.querySelector('.source mark').textContent");
    assert_eq!(mark, "1 < 0");
    assert_eq!(browser.complaints(), Value::Array(Vec::new()));
}

/// Bodies with branches are drawn: what is written in a node is inside of it, no node covers
/// another, and the ways of failing paths, as the conditions of the findings tell them, are thick.
#[test]
fn bodies_are_drawn_so_that_they_can_be_read() {
    let _alone = super::alone();
    let Some(browser) = Browser::start() else { return };
    let made = made();
    browser.open(&made.page());
    let drawn = browser.run(
        "return Array.from(document.querySelectorAll('#bodies details')).map(it => it.querySelector('summary').textContent)",
    );
    assert_eq!(drawn, serde_json::json!(["method wrong: failed"]));
    let measured = browser.run(
        "const boxes = Array.from(document.querySelectorAll('.graph rect')).map(it => it.getBBox());
         const texts = Array.from(document.querySelectorAll('.graph > text:not(.when)'));
         const within = (inner, outer) => outer.x <= inner.x && outer.y <= inner.y
             && inner.x + inner.width <= outer.x + outer.width && inner.y + inner.height <= outer.y + outer.height;
         const meet = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
         return {
             boxes: boxes.length,
             texts: texts.map(it => it.textContent),
             outside: texts.filter(it => !boxes.some(box => within(it.getBBox(), box))).map(it => it.textContent),
             overlaps: boxes.filter((box, at) => boxes.slice(at + 1).some(other => meet(box, other))).length,
             failing: document.querySelectorAll('.graph .way.failing').length,
             ways: document.querySelectorAll('.graph .way').length,
         };",
    );
    assert_eq!(measured["outside"], serde_json::json!([]), "{measured}");
    assert_eq!(measured["overlaps"], 0, "{measured}");
    assert_eq!(measured["ways"], 7, "{measured}");
    assert_eq!(measured["failing"], 4, "{measured}");
    let texts = measured["texts"].as_array().expect("a list").iter();
    let texts: Vec<&str> = texts.map(|it| it.as_str().expect("a text")).collect();
    assert_eq!(texts.len(), 8, "{measured}");
    assert_eq!((texts[0], texts[1]), ("17  var i: Int := 0", "18  while (i < n)"));
    // The title of a finding is part of the text.
    assert!(texts[5].starts_with("23  assert.failed") && texts[5].ends_with("✗ assert i > n"));
    // The page is not wider than the window.
    let overflow = browser.run("return document.documentElement.scrollWidth - window.innerWidth");
    assert!(overflow.as_i64() <= Some(0), "{overflow}");
    assert_eq!(browser.complaints(), Value::Array(Vec::new()));
}
