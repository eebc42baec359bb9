use super::*;
use crate::generate::{Bounds, Found, Order, Starts};
use crate::machine::Config;
use crate::run::{Outcome, Scheduling, Verdict, run};
use crate::sources::Sources;

const TEXT: &str = "class Cell { var value: int; var next: Cell; var all: seq<Cell>;
  predicate valid { acc(value) && acc(next) && (next != null ==> next.valid) }
  method m(n: int) returns (r: int) requires acc(value) && rd(next) ensures acc(value) && r == n
  { r := 0;
    while (r < n) invariant acc(value) && 0 <= r && value <= old(value) { r := r + 1; assert value != 7; }
    assert next == null; }
  method list() requires valid {
    var i := 0;
    while (i < 3) invariant valid { i := i + 1; unfold valid; value := 1; fold valid; } }
  method twice() { if (true) { var x := 1; } else { var x := 2; } var i := 0; while (i < 3) { i := i + 1; } }
  method threads() { fork tk := list2(); var i := 0; while (i < 3) { i := i + 1; } }
  method list2() { }
  method calls() { var i := 0; while (i < 3) { i := i + 1; } call locks(); }
  method locks() { var x := new Cell; share x; } }
  class Other { var value: int; }";

fn on<T>(method: &str, state: &str, then: impl FnOnce(Result<(Head, Code, u32), Unfit>) -> T) -> T {
    let sources = Sources::new(vec![("a".to_owned(), TEXT.to_owned())]);
    let code = Code::new(sources.check().0.expect("it is a program"), sources.options());
    let method = code.method(method).expect("there is such a method");
    let text = HeadText::parse(state).expect("it is a state");
    let is_at = |span: Span| sources.place(span.start).line == text.place.0;
    then(Head::new(&code, method, is_at, &text).map(|head| (head, code, method)))
}

fn started(method: &str, state: &str) -> Outcome {
    on(method, state, |made| {
        let (head, code, method) = made.expect("the state fits");
        let config = Config { check_conservation: true, ..Config::default() };
        let starts = Starts::new(&code, method, config, Bounds::default(), Order::All);
        let mut starts = starts.at(std::sync::Arc::new(head));
        let Found::Start(mut machine) = starts.next_start() else { panic!("no start") };
        run(&mut machine, &Scheduling::First)
    })
}

fn id_of(outcome: &Outcome) -> &str {
    outcome.failure.as_ref().map_or("", |failure| &failure.id)
}

fn refused(method: &str, state: &str) -> Unfit {
    on(method, state, |made| made.map(|_| ()).expect_err("the state does not fit"))
}

#[test]
fn a_run_goes_on_from_the_state_that_is_described() {
    let state = |value: &str| {
        format!(
            "5:1,this=@1,n=5,r=2,@1.Cell.value={value}:1,@1.Cell.next=null:rd,old:@1.Cell.value=9"
        )
    };
    // Two iterations are left, each with its assertion, then the one behind the loop.
    let passed = started("Cell.m", &state("8"));
    assert_eq!((passed.verdict, id_of(&passed)), (Verdict::Passed, ""));
    assert_eq!(passed.results, [("r".to_owned(), "5".to_owned())]);
    assert_eq!(id_of(&started("Cell.m", &state("7"))), "assert.failed:assertion.false");
    // Parts of the state that the loop does not need are there behind it.
    let other = started("Cell.m", &state("8").replace("next=null", "next=@2"));
    assert_eq!(id_of(&other), "assert.failed:assertion.false");
    let lost = started("Cell.m", &state("8").replace(",@1.Cell.next=null:rd", ""));
    assert_eq!(id_of(&lost), "assert.failed:insufficient.permission");
}

#[test]
fn invariants_are_checked_and_not_taken_from_the_state() {
    let state = |value: u32, part: &str| {
        format!(
            "5:1,this=@1,n=5,r=2,@1.Cell.value={value}:{part},@1.Cell.next=null:rd,old:@1.Cell.value=9"
        )
    };
    let wrong = started("Cell.m", &state(10, "1"));
    assert_eq!(id_of(&wrong), "invariant.not.established:assertion.false");
    assert_eq!(wrong.counts.steps, 1);
    let half = started("Cell.m", &state(8, "1/2"));
    assert_eq!(id_of(&half), "invariant.not.established:insufficient.permission");
}

#[test]
fn what_is_folded_is_made() {
    let passed = started("Cell.list", "9:1,this=@1,i=0,@1.Cell.valid:1");
    assert_eq!((passed.verdict, id_of(&passed)), (Verdict::Passed, ""));
    let half = started("Cell.list", "9:1,this=@1,i=0,@1.Cell.valid:1/2");
    assert_eq!(id_of(&half), "invariant.not.established:insufficient.permission");
}

#[test]
fn what_does_not_fit_is_refused() {
    let refusals = [
        ("Cell.m", "4:1,this=@1", Unfit::NoLoop),
        ("Cell.m", "9:1,this=@1", Unfit::NoLoop),
        ("Cell.m", "5:1,n=1", Unfit::NoReceiver),
        ("Cell.m", "5:1,this=null", Unfit::Misfit("this".to_owned())),
        ("Cell.m", "5:1,this=@1,n=true", Unfit::Misfit("n".to_owned())),
        ("Cell.m", "5:1,this=@1,m=1", Unfit::Unknown("m".to_owned())),
        ("Cell.m", "5:1,this=@1,@1.Cell.f=1:1", Unfit::Unknown("@1.Cell.f".to_owned())),
        ("Cell.m", "5:1,this=@1,@1.Call.value=1:1", Unfit::Unknown("Call".to_owned())),
        ("Cell.m", "5:1,this=@1,@1.Cell.value:1", Unfit::Unknown("@1.Cell.value".to_owned())),
        ("Cell.m", "5:1,this=@1,@1.Cell.mu=1:1", Unfit::Unknown("@1.Cell.mu".to_owned())),
        ("Cell.m", "5:1,this=@1,@1.Other.value=1:1", Unfit::Misfit("@1.Other.value".to_owned())),
        ("Cell.m", "5:1,this=@1,@1.Cell.all=%1,3:1", Unfit::Misfit("@1.Cell.all".to_owned())),
        (
            "Cell.m",
            "5:1,this=@1,@1.Cell.value=1:2/3,@1.Cell.value=1:1/2",
            Unfit::TooMuch("@1.Cell.value".to_owned()),
        ),
        (
            "Cell.m",
            "5:1,this=@1,@1.Cell.value=1:1,@1.Cell.value=1:rd",
            Unfit::TooMuch("@1.Cell.value".to_owned()),
        ),
        ("Cell.twice", "10:1,this=@1,x=1", Unfit::Ambiguous("x".to_owned())),
        ("Cell.threads", "11:1,this=@1", Unfit::Uses("threads")),
        ("Cell.calls", "13:1,this=@1", Unfit::Uses("locks or their order")),
    ];
    for (method, state, wanted) in refusals {
        assert_eq!(refused(method, state), wanted, "{method}: {state}");
    }
}
