//! Normal forms, binding, and inputs that are long or deep.

use crate::terms::*;

#[test]
fn junctions_are_flat_and_decided() {
    let mut t = Terms::new();
    let a = t.constant("a", Sort::BOOL);
    let b = t.constant("b", Sort::BOOL);
    let not_a = t.not(a);
    let ab = t.and([a, b]);
    let again = t.and([ab, a, Terms::TRUE]);
    assert_eq!(ab, again);
    assert_eq!(t.and([ab, not_a]), Terms::FALSE);
    assert_eq!(t.or([not_a, b, a]), Terms::TRUE);
    let both = t.implies(b, ab);
    let nested = t.implies(a, both);
    assert_eq!(nested, t.implies(ab, ab), "{}", t.display(nested));
}

#[test]
fn amounts_cancel() {
    let mut t = Terms::new();
    let (p, q) = (t.constant("p", Sort::PERM), t.constant("q", Sort::PERM));
    let half = t.fraction(1, 2);
    let sum = t.add(p, q);
    assert_eq!(t.sub(sum, q), p);
    let less = t.sub(p, half);
    let less = t.sub(less, half);
    assert_eq!(t.add(less, half), t.sub(p, half));
    let none = Terms::NONE;
    let rest = t.sub(p, p);
    assert_eq!(rest, none);
    let c = t.constant("c", Sort::BOOL);
    let conditional = t.ite(c, half, none);
    assert_eq!(t.lt(none, conditional), c);
    let twice = t.add(half, half);
    assert_eq!(twice, Terms::WRITE);
}

#[test]
fn snapshots_cancel() {
    let mut t = Terms::new();
    let s = t.constant("s", Sort::SNAP);
    let (fst, snd) = (t.fst(s), t.snd(s));
    assert_eq!(t.pair(fst, snd), s);
    let seven = t.int(7);
    let wrapped = t.snap_wrap(seven);
    assert_eq!(t.snap_unwrap(wrapped, Sort::INT), seven);
    assert_eq!(t.is_wrapped(wrapped, Sort::BOOL), Terms::FALSE);
    let pair = t.pair(wrapped, s);
    assert_eq!(t.snd(pair), s);
    let eight = t.int(8);
    let other = t.snap_wrap(eight);
    let other = t.pair(other, s);
    assert_eq!(t.identical(pair, other), Terms::FALSE);
}

#[test]
fn quantifiers_forget_the_names_of_their_variables() {
    let mut t = Terms::new();
    let p = t.declare_function("P", &[Sort::INT, Sort::INT], Sort::BOOL);
    let build = |t: &mut Terms| {
        let (x, y) = (t.fresh_variable("x", Sort::INT), t.fresh_variable("y", Sort::INT));
        let body = t.apply(p, &[x, y]);
        let inner = t.exists(&[y], vec![], body, "inner", 1);
        t.forall(&[x], vec![], inner, "outer", 1)
    };
    let first = build(&mut t);
    assert_eq!(first, build(&mut t));
    assert!(!t.is_open(first));
}

#[test]
fn substitution_does_not_capture() {
    let mut t = Terms::new();
    let p = t.declare_function("P", &[Sort::INT, Sort::INT], Sort::BOOL);
    let (x, y) = (t.fresh_variable("x", Sort::INT), t.fresh_variable("y", Sort::INT));
    let body = t.apply(p, &[x, y]);
    let all = t.forall(&[x], vec![], body, "all", 1);
    // Put a term with the canonical variable of `all` itself under it.
    let TermKind::Quantifier(quantifier) = t.kind(all) else { panic!("a quantifier") };
    let bound = quantifier.variables[0];
    let bound = t.apply(bound, &[]);
    let map = std::iter::once((y, bound)).collect();
    let moved = t.substitute(all, &map);
    assert!(t.mentions(moved, &[bound]), "{}", t.display(moved));
    let seven = t.int(7);
    let instance = t.instantiate(moved, &[seven]);
    assert_eq!(instance, t.apply(p, &[seven, bound]));
}

#[test]
fn ten_thousand_conjuncts() {
    let mut t = Terms::new();
    let conjuncts: Vec<Term> =
        (0..10_000).map(|i| t.constant(&format!("c{i}"), Sort::BOOL)).collect();
    let all = t.and(conjuncts.iter().copied());
    let TermKind::And(parts) = t.kind(all) else { panic!("a conjunction") };
    assert_eq!(parts.len(), conjuncts.len());
    let some = t.or(conjuncts.iter().copied());
    let nothing = t.not(some);
    assert_eq!(t.and([all, nothing, some]), Terms::FALSE);
}

#[test]
fn deep_terms_need_no_deep_stack() {
    let deep = || {
        let mut t = Terms::new();
        let (x, y) = (t.constant("x", Sort::INT), t.constant("y", Sort::INT));
        let f = t.declare_function("f", &[Sort::INT, Sort::INT], Sort::INT);
        let (mut term, mut choice, mut snapshot) = (x, x, t.constant("s", Sort::SNAP));
        for i in 0..50_000 {
            let c = t.constant(&format!("c{i}"), Sort::BOOL);
            let number = t.int(i);
            term = t.apply(f, &[term, number]);
            choice = t.ite(c, number, choice);
            let wrapped = t.snap_wrap(number);
            snapshot = t.pair(wrapped, snapshot);
        }
        let map = std::iter::once((x, y)).collect();
        let (moved, other) = (t.substitute(term, &map), t.substitute(choice, &map));
        assert!(t.contains(moved, y) && !t.contains(moved, x));
        let number = t.int(-1);
        let compared = t.lt(number, other);
        let equal = t.identical(other, number);
        assert!(t.contains(compared, y) && t.contains(equal, y));
        let unit = t.unit();
        let longer = t.pair(unit, snapshot);
        assert_eq!(t.identical(longer, snapshot), t.identical(snapshot, longer));
        assert!(t.display(moved).to_string().len() < 100_000);
    };
    std::thread::Builder::new()
        .stack_size(512 * 1024)
        .spawn(deep)
        .expect("a thread")
        .join()
        .expect("no overflow");
}

#[test]
fn explicit_sequences_are_computed() {
    let mut t = Terms::new();
    let elements: Vec<Term> = (0..2000).map(|i| t.int(i)).collect();
    let sequence = t.seq_explicit(Sort::INT, &elements);
    assert_eq!(t.seq_len(sequence), t.int(2000));
    let index = t.int(1234);
    assert_eq!(t.seq_at(sequence, index), index);
    let outside = t.int(2000);
    let element = t.seq_at(sequence, outside);
    assert!(matches!(t.kind(element), TermKind::Theory(TheoryOp::SeqIndex, ..)));
}
