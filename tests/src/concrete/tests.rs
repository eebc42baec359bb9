//! Runs of small methods.

use super::*;

const MEMBERS: &str = "field f: Int field n: Ref field p: Perm
    predicate P(x: Ref, q: Perm) { none <= q && acc(x.f, q) }
    predicate L(x: Ref) { acc(x.f) && acc(x.n) && (x.n != null ==> L(x.n)) }
    function get(x: Ref): Int requires acc(x.f, wildcard) { x.f }
    method inc(x: Ref) requires acc(x.f) ensures acc(x.f) && x.f == old(x.f) + 1 { x.f := x.f + 1 }
    adt T { A(v: Int) B() }";

/// How a run of the text ends, with two objects x and y.
fn run(text: &str) -> Result<(), Stuck> {
    let declarations = Declarations::read(MEMBERS).expect("members");
    let mut state = State::new(2);
    for object in 1..=2 {
        for (field, ty) in declarations.fields() {
            state.heap.set_value(object, field, Value::default_of(ty));
        }
    }
    state.store.insert("x".into(), Value::Ref(1));
    state.store.insert("y".into(), Value::Ref(2));
    let mut run = Run::new(&declarations, state);
    run.enter();
    run.block(&statements(text).expect("it can be read"))
}

fn goes_on(text: &str) {
    assert_eq!(run(text), Ok(()), "{text}");
}

fn ends(text: &str, reason: &str) {
    assert_eq!(run(text), Err(Stuck::new(reason)), "{text}");
}

#[test]
fn permissions_are_counted() {
    goes_on("inhale acc(x.f, 1/2) exhale acc(x.f, 1/2) assert perm(x.f) == none");
    goes_on("inhale acc(x.f) x.f := 3 exhale acc(x.f, wildcard) assert x.f == 3");
    ends("x.f := 1", "no permission to write");
    ends("inhale acc(x.f, 1/2) x.f := 1", "no permission to write");
    ends("inhale acc(x.f) && acc(x.f, wildcard)", "no room for a wildcard");
    ends("assert x.f == 0", "no permission to read");
    ends("inhale acc(x.f) assert x.f == 1", "false");
}

#[test]
fn predicates_hold_what_is_in_them() {
    goes_on("inhale acc(x.f) fold P(x, none) x.f := 2 fold P(x, 1/2) assert x.f == 2");
    goes_on("inhale acc(x.f) fold P(x, write) assert unfolding P(x, write) in x.f == 0");
    ends("inhale P(x, 1/2) && P(x, 3/4)", "too much of 1.f");
    ends("inhale P(x, none) unfold P(x, none) assert x.f == 0", "no permission to read");
    goes_on(
        "inhale acc(x.f) && acc(x.n) x.n := null fold L(x) unfold acc(L(x), 1/2)
        assert perm(x.n) == 1/2",
    );
}

#[test]
fn calls_loops_and_wands_move_permissions() {
    goes_on("inhale acc(x.f) x.f := 4 inc(x) assert x.f == 5 && get(x) == 5");
    goes_on(
        "inhale acc(x.f) && acc(y.f)
        while (x.f < 3) invariant acc(x.f) && x.f <= 3 { x.f := x.f + 1 }
        assert x.f == 3 && perm(y.f) == write",
    );
    ends(
        "inhale acc(x.f)
        while (x.f < 3) invariant acc(x.f, 1/2) { x.f := x.f + 1 }",
        "no permission to write",
    );
    let iteration = "var k: Int := 0 while (k < 1) { inhale acc(x.f, 1/2) k := k + 1 }";
    goes_on(&format!("inhale acc(x.f, 1/2) {iteration}"));
    ends(&format!("inhale acc(x.f, 2/3) {iteration}"), "too much of 1.f");
    goes_on(
        "inhale acc(x.f) package acc(x.f, 1/2) --* acc(x.f)
        assert perm(x.f) == 1/2 apply acc(x.f, 1/2) --* acc(x.f) assert perm(x.f) == write",
    );
    ends("inhale acc(x.f) package true --* acc(x.f) assert x.f == 0", "no permission to read");
}

#[test]
fn old_is_about_earlier_heaps() {
    goes_on("inhale acc(x.f) label l x.f := 7 assert old[l](x.f) == 0 && x.f == 7");
    ends("inhale acc(x.f) assert old(x.f) == 0", "no permission to read");
}

#[test]
fn terms_have_their_values() {
    goes_on("assert (-7) \\ 2 == -4 && (-7) % 2 == 1 && 7 \\ (-2) == -3 && 7 % (-2) == 1");
    goes_on("assert Seq(1, 2, 3)[1..] == Seq(2, 3) && Seq(1, 2)[..(-1)] == Seq[Int]()");
    goes_on("assert |Multiset(1, 1, 2) setminus Multiset(1)| == 2 && (1 in Multiset(1, 1)) == 2");
    goes_on("assert domain(Map(1 := 2)[3 := 4]) == Set(1, 3) && A(3).v == 3 && !B().isA");
    goes_on("assert forall i: Int :: 0 <= i && i < 3 ==> Seq(0, 1, 2)[i] == i");
    ends("assert Seq(1)[1] == 1", "index out of bounds");
}
