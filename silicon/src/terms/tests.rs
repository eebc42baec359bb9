use super::*;

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
}
