//! Scopes, arithmetic, snapshots, quantifiers, text of the user.

use std::cell::RefCell;
use std::rc::Rc;

use z3::ast::{self, Int};
use z3::{FuncDecl, Pattern};

use super::super::raw::{Kernel, Satisfiability};
use super::*;

#[test]
fn scopes_forget() {
    let mut b = Bench::new();
    let p = b.constant("p", Sort::BOOL);
    b.does_not_prove(p);
    b.prover.push();
    b.prover.assume(p);
    b.proves(p);
    b.prover.pop().expect("pop");
    b.does_not_prove(p);
}

#[test]
fn integers_beyond_64_bits() {
    let mut b = Bench::new();
    let x = b.constant("x", Sort::INT);
    let big = BigInt::from(7).pow(100);
    let (low, high) = (b.terms.int(big.clone()), b.terms.int(big.clone() + 1));
    let above = b.terms.lt(low, x);
    b.prover.assume(above);
    let goal = b.terms.le(high, x);
    b.proves_soundly(goal);
    let higher = b.terms.int(big + 2);
    let goal = b.terms.le(higher, x);
    b.does_not_prove(goal);
}

#[test]
fn permissions_are_exact() {
    let mut b = Bench::new();
    let p = b.constant("p", Sort::PERM);
    let third = b.terms.fraction(1, 3);
    let three = b.terms.fraction(3, 1);
    let product = b.terms.mul(three, p);
    let fact = b.terms.identical(product, Terms::WRITE);
    b.prover.assume(fact);
    let goal = b.terms.identical(p, third);
    b.proves_soundly(goal);
}

#[test]
fn new_objects_differ() {
    let mut b = Bench::new();
    let (o, p) = (b.terms.fresh_object("o"), b.terms.fresh_object("p"));
    let (x, y) = (b.constant("x", Sort::REF), b.constant("y", Sort::REF));
    for (reference, object) in [(x, o), (y, p)] {
        let fact = b.terms.eq(reference, object);
        b.prover.assume(fact);
    }
    let [same, is_null] = [b.terms.eq(x, y), b.terms.eq(x, Terms::NULL)];
    b.does_not_prove(same);
    for goal in [same, is_null] {
        let goal = b.terms.not(goal);
        b.proves_soundly(goal);
    }
    let z = b.constant("z", Sort::REF);
    let differs = b.terms.differs(z, o);
    b.does_not_prove(differs);
}

// Traps: T24
#[test]
fn division_is_euclidean() {
    let mut b = Bench::new();
    let (x, y) = (b.constant("x", Sort::INT), b.constant("y", Sort::INT));
    let (minus_seven, minus_two) = (b.int(-7), b.int(-2));
    for (variable, value) in [(x, minus_seven), (y, minus_two)] {
        let fact = b.terms.identical(variable, value);
        b.prover.assume(fact);
    }
    let (quotient, remainder) = (b.terms.int_div(x, y), b.terms.int_mod(x, y));
    let folded = (b.terms.int_div(minus_seven, minus_two), b.terms.int_mod(minus_seven, minus_two));
    let goal = b.terms.identical(quotient, folded.0);
    b.proves_soundly(goal);
    let goal = b.terms.identical(remainder, folded.1);
    b.proves(goal);
}

#[test]
fn snapshots_are_a_datatype() {
    let mut b = Bench::new();
    let s = b.constant("s", Sort::SNAP);
    let (unit, fst) = (b.terms.unit(), b.terms.fst(s));
    let pair = b.terms.pair(s, unit);
    let acyclic = b.terms.identical(s, pair);
    let acyclic = b.terms.not(acyclic);
    b.proves_soundly(acyclic);
    let unwrapped = b.terms.snap_unwrap(s, Sort::INT);
    let seven = b.int(7);
    let is_seven = b.terms.identical(unwrapped, seven);
    let is_int = b.terms.is_wrapped(s, Sort::INT);
    let wrapped = b.terms.snap_wrap(seven);
    let same = b.terms.identical(s, wrapped);
    let unguarded = b.terms.implies(is_seven, same);
    b.does_not_prove(unguarded);
    let both = b.terms.and([is_seven, is_int]);
    let guarded = b.terms.implies(both, same);
    b.proves(guarded);
    let is_pair = b.terms.is_pair(s);
    let is_unit = b.terms.is_unit(s);
    let none = b.terms.or([is_pair, is_unit, is_int]);
    b.does_not_prove(none);
    let never = b.terms.and([is_pair, is_int]);
    let never = b.terms.not(never);
    b.proves(never);
    let exists = b.terms.identical(fst, s);
    let exists = b.terms.and([exists, is_pair]);
    let not_cyclic = b.terms.not(exists);
    b.proves(not_cyclic);
}

/// SOUNDNESS: unwrapping snapshots to Bool must not identify them.
// Traps: T1
#[test]
fn wrappers_do_not_enlarge_sorts() {
    let mut b = Bench::new();
    let unit = b.terms.unit();
    let two = b.terms.pair(unit, unit);
    let three = b.terms.pair(two, unit);
    let sort = b.terms.user_sort("Small", &[]);
    let (x, y) = (b.constant("x", sort), b.constant("y", sort));
    let mut facts = vec![b.terms.identical(x, y)];
    for snapshot in [unit, two, three] {
        for sort in [Sort::BOOL, sort] {
            let value = b.terms.snap_unwrap(snapshot, sort);
            facts.push(b.terms.identical(value, value));
            let other = b.terms.snap_unwrap(two, sort);
            facts.push(b.terms.identical(value, other));
        }
    }
    for fact in facts {
        b.prover.assume(fact);
    }
    b.does_not_prove(Terms::FALSE);
}

#[test]
fn values_of_any_sort_can_be_wrapped() {
    let mut b = Bench::new();
    let sort = b.terms.user_sort("D", &[]);
    let ints = b.terms.seq_sort(Sort::INT);
    let (x, y, q) = (b.constant("x", sort), b.constant("y", sort), b.constant("q", ints));
    let (wx, wy, wq) = (b.terms.snap_wrap(x), b.terms.snap_wrap(y), b.terms.snap_wrap(q));
    let s = b.constant("s", Sort::SNAP);
    let (is_x, is_y) = (b.terms.identical(s, wx), b.terms.identical(s, wy));
    let same = b.terms.identical(x, y);
    let both = b.terms.and([is_x, is_y]);
    let injective = b.terms.implies(both, same);
    b.proves_soundly(injective);
    let is_q = b.terms.identical(s, wq);
    let both = b.terms.and([is_x, is_q]);
    let different = b.terms.not(both);
    b.proves_soundly(different);
    let value = b.terms.snap_unwrap(s, sort);
    let value_is_x = b.terms.identical(value, x);
    let goal = b.terms.implies(is_x, value_is_x);
    b.proves(goal);
    let goal = b.terms.implies(value_is_x, is_x);
    b.does_not_prove(goal);
    let shape = b.terms.is_wrapped(s, sort);
    let both = b.terms.and([value_is_x, shape]);
    let goal = b.terms.implies(both, is_x);
    b.proves_soundly(goal);
}

#[test]
fn axioms_survive_scopes() {
    let mut b = Bench::new();
    let f = b.terms.declare_function("f", &[Sort::INT], Sort::INT);
    b.prover.push();
    b.prover.push();
    let x = b.terms.fresh_variable("x", Sort::INT);
    let (fx, zero) = (b.terms.apply(f, &[x]), b.int(0));
    let body = b.terms.le(zero, fx);
    let axiom = b.terms.forall(&[x], vec![vec![fx]], body, "f.natural", 1);
    b.prover.add_axiom(axiom);
    let three = b.int(3);
    let f3 = b.terms.apply(f, &[three]);
    let goal = b.terms.le(zero, f3);
    b.proves(goal);
    let s = b.terms.seq_sort(Sort::INT);
    let s = b.constant("s", s);
    let len = b.terms.seq_len(s);
    let natural = b.terms.le(zero, len);
    b.proves(natural);
    b.prover.pop().expect("pop");
    b.proves(goal);
    b.proves(natural);
    b.prover.pop().expect("pop");
    b.prover.push();
    b.proves(natural);
    b.proves_soundly(goal);
}

#[test]
fn dead_scopes_do_not_spread() {
    let mut b = Bench::new();
    b.prover.push();
    b.prover.assume(Terms::FALSE);
    b.proves(Terms::FALSE);
    b.prover.pop().expect("pop");
    b.does_not_prove(Terms::FALSE);
}

#[test]
fn unusable_triggers_are_left_out() {
    let mut b = Bench::new();
    let f = b.terms.declare_function("f", &[Sort::INT], Sort::INT);
    let x = b.terms.fresh_variable("x", Sort::INT);
    let (one, zero) = (b.int(1), b.int(0));
    let sum = b.terms.add(x, one);
    let (fx, is_zero) = (b.terms.apply(f, &[x]), b.terms.identical(x, zero));
    let choice = b.terms.ite(is_zero, one, x);
    let under_choice = b.terms.apply(f, &[choice]);
    let body = b.terms.le(zero, fx);
    let triggers = vec![vec![sum], vec![x], vec![is_zero], vec![under_choice], vec![fx]];
    let fact = b.terms.forall(&[x], triggers, body, "test", 1);
    b.prover.assume(fact);
    let fact = b.terms.forall(&[x], vec![vec![sum]], body, "test", 1);
    b.prover.assume(fact);
    let at_one = b.terms.apply(f, &[one]);
    let goal = b.terms.le(zero, at_one);
    b.proves_soundly(goal);
}

/// Assumes that 21 pigeons sit in 20 holes, as clauses: false, but not for those in a hurry.
fn assume_pigeons(b: &mut Bench) {
    let (pigeons, holes) = (21, 20);
    let mut sits = vec![vec![Terms::TRUE; holes]; pigeons];
    for (p, row) in sits.iter_mut().enumerate() {
        for (h, place) in row.iter_mut().enumerate() {
            *place = b.terms.constant(&format!("p{p}h{h}"), Sort::BOOL);
        }
    }
    for row in &sits {
        let somewhere = b.terms.or(row.iter().copied());
        b.prover.assume(somewhere);
    }
    for (p, row) in sits.iter().enumerate() {
        for other in &sits[..p] {
            for (here, there) in row.iter().zip(other) {
                let both = b.terms.and([*here, *there]);
                let not_both = b.terms.not(both);
                b.prover.assume(not_both);
            }
        }
    }
}

// Traps: T14
#[test]
fn limits_end_in_giving_up() {
    let mut b = Bench::new();
    assume_pigeons(&mut b);
    let answer = |b: &mut Bench| {
        b.prover
            .check(&mut b.terms, Terms::FALSE, QueryKind::Check, Budget::CHECK)
            .expect("no error")
    };
    assert_eq!(answer(&mut b), Answer::GaveUp(Limit::Resources));
    assert_eq!(answer(&mut b), Answer::GaveUp(Limit::Resources));
    // The prover is still usable.
    b.prover.push();
    let p = b.constant("p", Sort::BOOL);
    b.prover.assume(p);
    b.proves(p);
    let quick = Budget { resources: 0, conflicts: 0, milliseconds: 1 };
    let answer =
        b.prover.check(&mut b.terms, Terms::FALSE, QueryKind::Check, quick).expect("no error");
    assert_eq!(answer, Answer::GaveUp(Limit::Time));
    assert_eq!(b.prover.statistics().of(QueryKind::Check).gave_up, 3);
}

/// A kernel that was stopped by steps is replaced by one that knows the same.
// Traps: T14
#[test]
fn scopes_survive_giving_up_by_steps() {
    scopes_survive(Budget { resources: 50_000, conflicts: 0, milliseconds: 0 });
}

/// A kernel that was stopped by conflicts goes on.
// Traps: T14
#[test]
fn scopes_survive_giving_up_by_conflicts() {
    scopes_survive(Budget { resources: 0, conflicts: 5, milliseconds: 0 });
}

/// Checks that a question beyond the limits spoils no knowledge.
fn scopes_survive(limits: Budget) {
    let mut b = Bench::new();
    let p = b.constant("p", Sort::BOOL);
    let (x, y) = (b.constant("x", Sort::INT), b.constant("y", Sort::INT));
    let positive = |b: &mut Bench, of: Term| {
        let zero = b.int(0);
        b.terms.lt(zero, of)
    };
    let (x_positive, y_positive) = (positive(&mut b, x), positive(&mut b, y));
    let ints = b.terms.seq_sort(Sort::INT);
    let (s, t) = (b.constant("s", ints), b.constant("t", ints));
    let both = b.terms.seq_append(s, t);
    let lengths = [s, t, both].map(|sequence| b.terms.seq_len(sequence));
    let sum = b.terms.add(lengths[0], lengths[1]);
    let is_sum = b.terms.identical(lengths[2], sum);
    b.prover.assume(x_positive);
    b.does_not_prove(Terms::FALSE);
    b.prover.push();
    b.prover.assume(p);
    b.does_not_prove(Terms::FALSE);
    b.prover.push();
    assume_pigeons(&mut b);
    let give_up = |b: &mut Bench| {
        let answer = b.prover.check(&mut b.terms, Terms::FALSE, QueryKind::Check, limits);
        assert_eq!(answer.expect("no error"), Answer::GaveUp(Limit::Resources));
    };
    give_up(&mut b);
    // Told while there is nobody who listens.
    b.prover.push();
    b.prover.assume(y_positive);
    let is_longer = b.terms.lt(x, lengths[2]);
    b.prover.assume(is_longer);
    b.proves(is_longer);
    b.proves(p);
    b.proves(x_positive);
    b.proves(y_positive);
    give_up(&mut b);
    b.prover.pop().expect("pop");
    give_up(&mut b);
    b.prover.pop().expect("pop");
    b.proves_soundly(p);
    b.proves(is_sum);
    b.does_not_prove(y_positive);
    b.does_not_prove(is_longer);
    b.prover.pop().expect("pop");
    b.does_not_prove(p);
    b.proves_soundly(x_positive);
}

// Traps: T20, A8
#[test]
fn text_of_the_user_is_checked() {
    let mut b = Bench::new();
    let byte = b.terms.backend_sort("(_ BitVec 8)");
    let and = b.terms.declare_backend("and", &[byte, byte], byte, "bvand");
    let low = b.terms.declare_backend("low", &[byte], byte, "(_ rotate_left 4)");
    let zero = b.terms.declare_backend("zero", &[], byte, "#x00");
    let x = b.constant("x", byte);
    let zero = b.terms.apply(zero, &[]);
    let masked = b.terms.apply(and, &[x, zero]);
    let goal = b.terms.identical(masked, zero);
    b.proves_soundly(goal);
    let turned = b.terms.apply(low, &[x]);
    let turned = b.terms.apply(low, &[turned]);
    let goal = b.terms.identical(turned, x);
    b.proves(goal);

    for (text, sort) in [("bvand", Sort::INT), ("nonsense", byte), ("x)) (assert false", byte)] {
        let mut b = Bench::new();
        b.terms.backend_sort("(_ BitVec 8)");
        let bad = b.terms.declare_backend("bad", &[sort, sort], sort, text);
        let x = b.constant("x", sort);
        let bad = b.terms.apply(bad, &[x, x]);
        let goal = b.terms.identical(bad, x);
        let answer = b.prover.check(&mut b.terms, goal, QueryKind::Obligation, Budget::OBLIGATION);
        assert!(matches!(answer, Err(ProverError::Backend { .. })), "{text}: {answer:?}");
    }
    let bad = b.terms.backend_sort("NoSuchSort");
    let (x, y) = (b.constant("x", bad), b.constant("y", bad));
    let goal = b.terms.identical(x, y);
    let answer = b.prover.check(&mut b.terms, goal, QueryKind::Obligation, Budget::OBLIGATION);
    assert!(matches!(answer, Err(ProverError::Backend { .. })), "{answer:?}");
}

/// A sink that can be read while the prover has it.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Tells kernels everything in one scope after a scope that takes very many instances to open. A
/// question asked in that scope is forgotten, and one asked outside has scopes again.
#[test]
fn scopes_that_take_too_many_steps_are_not_opened() {
    let _alone = raw::alone();
    let sink = Shared::default();
    let options = ProverOptions { smt_log: Some(Box::new(sink.clone())), ..Default::default() };
    let mut b = Bench { terms: Terms::new(), prover: Prover::new(options).expect("a prover") };
    let opened = || {
        let script = String::from_utf8(sink.0.borrow().clone()).expect("text");
        script.matches("(push 1)").count()
    };
    let x = b.terms.named_variable("x", Sort::REF);
    let nexts = ["left", "middle", "right"].map(|name| {
        let next = b.terms.declare_function(name, &[Sort::REF], Sort::REF);
        b.terms.apply(next, &[x])
    });
    let levels: Vec<_> = (0..11)
        .map(|level| b.terms.declare_function(&format!("level{level}"), &[Sort::REF], Sort::BOOL))
        .collect();
    let (a, other) = (b.constant("a", Sort::REF), b.constant("other", Sort::REF));
    b.prover.push();
    // Each level takes three times the instances of the one before.
    for (&level, &below) in levels.iter().zip(&levels[1..]) {
        let here = b.terms.apply(level, &[x]);
        let after = nexts.map(|next| b.terms.apply(below, &[next]));
        let all = b.terms.and(after);
        let rule = b.terms.implies(here, all);
        let rule = b.terms.forall(&[x], vec![vec![here]], rule, "grows", 1);
        b.prover.assume(rule);
    }
    let begin = b.terms.apply(levels[0], &[a]);
    b.prover.assume(begin);
    let next = b.terms.substitute(nexts[0], &std::iter::once((x, a)).collect());
    let known = b.terms.apply(levels[1], &[next]);
    let open = b.terms.apply(levels[0], &[other]);
    let ask = |b: &mut Bench, goal| {
        let answer = b.prover.check(&mut b.terms, goal, QueryKind::Check, Budget::CHECK);
        answer.expect("no error").is_proved()
    };
    ask(&mut b, known);
    let before = opened();
    for goal in [open, Terms::FALSE] {
        assert!(!ask(&mut b, goal));
    }
    assert!(ask(&mut b, known));
    assert_eq!(opened(), before, "kernels have one scope");
    b.prover.pop().expect("pop");
    b.prover.push();
    b.prover.assume(begin);
    b.does_not_prove(open);
    b.proves_soundly(begin);
    assert!(opened() > before, "outside, they have several");
}

/// Runs a session and returns its script and what it cost.
fn session() -> (String, u64) {
    let sink = Shared::default();
    let options = ProverOptions { smt_log: Some(Box::new(sink.clone())), ..Default::default() };
    let mut b = Bench { terms: Terms::new(), prover: Prover::new(options).expect("a prover") };
    let ints = b.terms.seq_sort(Sort::INT);
    let (s, t) = (b.constant("s", ints), b.terms.fresh("t", ints));
    let append = b.terms.seq_append(s, t);
    let wrapped = b.terms.snap_wrap(append);
    let snap = b.constant("snap", Sort::SNAP);
    let fact = b.terms.identical(wrapped, snap);
    b.prover.push();
    b.prover.assume(fact);
    let len = b.terms.seq_len(append);
    let (len_s, len_t) = (b.terms.seq_len(s), b.terms.seq_len(t));
    let sum = b.terms.add(len_s, len_t);
    let goal = b.terms.identical(len, sum);
    b.proves_soundly(goal);
    b.prover.pop().expect("pop");
    let used = b.prover.resources_used();
    drop(b);
    let script = String::from_utf8(sink.0.borrow().clone()).expect("text");
    (script, used)
}

#[test]
fn sessions_are_deterministic() {
    let first = session();
    // Other provers on the thread, alive or not, make no difference.
    let other = Bench::new();
    assert_eq!(first, session());
    drop(other);
    assert_eq!(first, session());
}

#[test]
fn scripts_can_be_replayed() {
    let (script, _) = session();
    assert!(script.contains("(check-sat)") && script.contains("(push 1)"), "{script}");
    let declarations: String = script
        .lines()
        .filter(|line| !line.starts_with("(set-option") && !line.starts_with("(check-sat"))
        .collect::<Vec<_>>()
        .join("\n");
    let context = raw::new_context();
    raw::enter(&context, || {
        let solver = z3::Solver::new();
        solver.from_string(declarations.as_str());
        raw::last_error(&context).expect("the script parses");
    });
}

/// Replays the script of a run in which the solver was cut off. A solver that was cut off does not
/// listen to the rest of a script.
#[test]
fn scripts_of_runs_that_hit_a_limit_can_be_replayed() {
    let sink = Shared::default();
    let options = ProverOptions { smt_log: Some(Box::new(sink.clone())), ..Default::default() };
    let mut b = Bench { terms: Terms::new(), prover: Prover::new(options).expect("a prover") };
    b.prover.push();
    assume_pigeons(&mut b);
    let answer = b.prover.check(&mut b.terms, Terms::FALSE, QueryKind::Check, Budget::CHECK);
    assert_eq!(answer.expect("no error"), Answer::GaveUp(Limit::Resources));
    b.prover.pop().expect("pop");
    b.prover.push();
    let ints = b.terms.seq_sort(Sort::INT);
    let (s, t) = (b.constant("s", ints), b.constant("t", ints));
    let (length, other) = (b.terms.seq_len(s), b.terms.seq_len(t));
    let fact = b.terms.identical(s, t);
    b.prover.assume(fact);
    let goal = b.terms.identical(length, other);
    b.proves_soundly(goal);
    b.prover.pop().expect("pop");
    drop(b);
    let script = String::from_utf8(sink.0.borrow().clone()).expect("text");
    // A context of the interface has begun before the script does, and takes no option about
    // declarations.
    let script = script.replace("(set-option :global-declarations true)\n", "");
    let answers = raw::replay(&script);
    let answers: Vec<&str> = answers.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(answers, ["unknown", "unsat", "unknown"], "{script}");
}

/// The length of the chain that is proved in one round of instances is limited by the threshold.
#[test]
fn thresholds_of_kernels_are_their_own() {
    let context = raw::new_context();
    let int = || z3::Sort::int();
    raw::enter(&context, || {
        let holds = FuncDecl::new("holds", &[&int()], &z3::Sort::bool());
        let holds = |n: &Int| holds.apply(&[n]).as_bool().expect("of this sort");
        let sum = FuncDecl::new("sum", &[&int()], &int());
        let sum = |n: &Int| sum.apply(&[n]).as_int().expect("of this sort");
        let n = Int::new_const("n");
        let before = &n - 1;
        let step = (holds(&n) & n.gt(0)).implies(holds(&before) & sum(&n).eq(sum(&before) + 1));
        let chain = ast::forall_const(&[&n], &[&Pattern::new(&[&holds(&n)])], &step);
        let (first, last) = (Int::from_i64(0), Int::from_i64(60));
        let goal = sum(&last).eq(sum(&first) + 60);
        let kernel = |threshold| {
            Kernel::new(&context, raw::SolverKind::Simple, &SETTINGS, threshold).expect("a kernel")
        };
        let (small, large) = (kernel(10), kernel(100));
        // Questions and settings do not make a kernel read the threshold of another.
        kernel(10);
        large.statistic("rlimit count");
        small.limit_conflicts(1_000).expect("a setting");
        large.limit_conflicts(1_000).expect("a setting");
        let answer = |kernel: &Kernel| {
            for formula in [&chain, &holds(&last), &goal.not()] {
                kernel.assert(formula).expect("a formula");
            }
            kernel.check().expect("an answer")
        };
        assert_eq!(answer(&small), Satisfiability::Unknown);
        assert_eq!(answer(&large), Satisfiability::Unsat);
    });
}

/// Z3 recurses over some terms: on a thread with 2 MiB, nesting of some thousands overflows its
/// stack.
#[test]
fn deep_terms() {
    let deep = || {
        let mut b = Bench::new();
        let f = b.terms.declare_function("f", &[Sort::INT], Sort::INT);
        let x = b.constant("x", Sort::INT);
        let (mut term, mut sum, mut choice) = (x, x, x);
        for i in 0..4_000 {
            term = b.terms.apply(f, &[term]);
            let (c, y) =
                (b.constant(&format!("c{i}"), Sort::BOOL), b.constant(&format!("y{i}"), Sort::INT));
            sum = b.terms.add(sum, y);
            choice = b.terms.ite(c, y, choice);
        }
        for (left, right) in [(term, x), (sum, x), (choice, x)] {
            let equal = b.terms.identical(left, right);
            b.prover.push();
            b.prover.assume(equal);
            b.does_not_prove(Terms::FALSE);
            b.prover.pop().expect("pop");
        }
    };
    let thread = std::thread::Builder::new().stack_size(16 << 20);
    thread.spawn(deep).expect("a thread").join().expect("no overflow");
}
