//! How the cost of verification grows with a program: one row for each kind of text that is
//! repeated.
//!
//! Times are those that the process has used, as others may use the machine meanwhile. The exponent
//! between two sizes is log2 of the quotient of their times; the last one says how a kind grows.

use std::fmt::Write as _;

use silicon::options::Options;

use crate::measure;

/// A kind of program: the text for a size.
type Kind = (&'static str, fn(usize) -> String);

const KINDS: [Kind; 13] = [
    ("assignments", |n| {
        let body = repeated(n, |_| "x.f := x.f + 1 y.f := x.f\n".to_owned());
        format!(
            "field f: Int
            method m(x: Ref, y: Ref) requires acc(x.f) && acc(y.f) ensures acc(x.f) && acc(y.f)
            ensures x.f >= old(x.f) {{ {body} }}"
        )
    }),
    ("labels", |n| {
        let passed = repeated(n, |i| format!("label l{i} x.f := x.f + 1\n"));
        let asked = repeated(n, |i| format!("assert old[l{i}](x.f) == old(x.f) + {i}\n"));
        format!("field f: Int method m(x: Ref) requires acc(x.f) {{ {passed} {asked} }}")
    }),
    ("objects", |n| {
        let made = repeated(n, |i| format!("var x{i}: Ref x{i} := new(f) x{i}.f := {i}\n"));
        let asked = repeated(n, |i| format!("assert x{i}.f == {i}\n"));
        format!("field f: Int method m() {{ {made} {asked} }}")
    }),
    ("folds", |n| {
        let folded = repeated(n, |i| {
            format!("var c{i}: Ref c{i} := new(v, n) c{i}.n := last last := c{i} fold L(last)\n")
        });
        format!(
            "field v: Int field n: Ref
            predicate L(x: Ref) {{ x != null ==> acc(x.v) && acc(x.n) && L(x.n) }}
            method m() {{ var last: Ref := null fold L(null) {folded} assert L(last) }}"
        )
    }),
    ("unfolds", |n| {
        let opened = repeated(n, |i| {
            let next = i + 1;
            format!("unfold L(x{i}) assume x{i}.n != null var x{next}: Ref := x{i}.n\n")
        });
        let closed = repeated(n, |i| format!("fold L(x{})\n", n - 1 - i));
        format!(
            "field v: Int field n: Ref
            predicate L(x: Ref) {{ acc(x.v) && acc(x.n) && (x.n != null ==> L(x.n)) }}
            function len(x: Ref): Int requires L(x) ensures result > 0
            {{ unfolding L(x) in x.n == null ? 1 : 1 + len(x.n) }}
            method m(x0: Ref) requires L(x0) {{ {opened} {closed} assert len(x0) > 0 }}"
        )
    }),
    ("packages", |n| {
        let all = |form: fn(usize) -> String, between: &str| {
            (0..n).map(form).collect::<Vec<_>>().join(between)
        };
        let (formals, held) =
            (all(|i| format!("x{i}: Ref"), ", "), all(|i| format!("acc(x{i}.f)"), " && "));
        let body = repeated(n, |i| format!("package acc(x{i}.f, 1/2) --* acc(x{i}.f) {{ }}\n"));
        format!("field f: Int method m({formals}) requires {held} {{ {body} }}")
    }),
    ("functions", |n| {
        let made = repeated(n, |i| {
            let inner = if i == 0 { "x.f".to_owned() } else { format!("g{}(x)", i - 1) };
            format!(
                "function g{i}(x: Ref): Int requires acc(x.f) ensures result >= x.f {{ {inner} + 1 }}\n"
            )
        });
        format!("field f: Int {made}")
    }),
    ("unions", |n| {
        let added = repeated(n, |i| format!("s := s union Set({i})\n"));
        format!("method m(S: Set[Int]) {{ var s: Set[Int] := S {added} assert 0 in s }}")
    }),
    ("literals", |n| {
        let numbers = (0..n).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
        format!(
            "method m() {{ var s: Seq[Int] := Seq({numbers})
            assert s[{i}] == {i} && |s| == {n} && {i} in s }}",
            i = n / 2
        )
    }),
    ("branches", |n| {
        let formals = repeated(n, |i| format!(", b{i}: Bool"));
        let body = repeated(n, |i| format!("if (b{i}) {{ x.f := x.f + {i} }}\n"));
        format!(
            "field f: Int method m(x: Ref{formals})
            requires acc(x.f) ensures acc(x.f) && x.f >= old(x.f) {{ {body} }}"
        )
    }),
    ("calls", |n| {
        let called = repeated(n, |_| "c(x)\n".to_owned());
        format!(
            "field f: Int
            method c(x: Ref) requires acc(x.f) ensures acc(x.f) && x.f > old(x.f)
            method m(x: Ref) requires acc(x.f) ensures acc(x.f) && x.f > old(x.f) {{ {called} }}"
        )
    }),
    ("array", |n| {
        let body = repeated(n, |i| format!("slot(a, {i}).v := {i}\n"));
        format!(
            "field v: Int
            domain A {{
              function slot(a: A, i: Int): Ref function of(r: Ref): A function at(r: Ref): Int
              axiom {{ forall a: A, i: Int :: {{slot(a, i)}} of(slot(a, i)) == a && at(slot(a, i)) == i }}
            }}
            method m(a: A) requires forall i: Int :: 0 <= i && i < {n} ==> acc(slot(a, i).v)
            ensures forall i: Int :: 0 <= i && i < {n} ==> acc(slot(a, i).v) {{ {body} }}"
        )
    }),
    ("aliases", |n| {
        let body = repeated(n, |i| format!("var a{i}: Ref assume a{i} in S a{i}.f := {i}\n"));
        format!(
            "field f: Int
            method m(S: Set[Ref]) requires forall r: Ref :: r in S ==> acc(r.f)
            ensures forall r: Ref :: r in S ==> acc(r.f) {{ {body} }}"
        )
    }),
];

fn repeated(times: usize, text: impl Fn(usize) -> String) -> String {
    (0..times).map(text).collect()
}

/// Returns the times, a line for each kind, for sizes that double up to `largest`. A kind ends
/// where a size takes longer than `patience` seconds.
pub fn table(largest: usize, patience: f64) -> String {
    let mut text = String::new();
    for (name, kind) in KINDS {
        let _ = write!(text, "{name:<12}");
        let mut before: Option<f64> = None;
        let mut size = largest.min(80);
        while size <= largest {
            let (seconds, verdict) = verify(&kind(size));
            let _ = write!(text, " {size}: {seconds:.2} s");
            if verdict != "verified" {
                let _ = write!(text, " ({verdict})");
            }
            if let Some(before) = before {
                let _ = write!(text, " n^{:.1}", (seconds / before).log2());
            }
            if seconds > patience {
                break;
            }
            before = Some(seconds);
            size *= 2;
        }
        text.push('\n');
    }
    text
}

/// Returns the seconds that a program takes, and its verdict.
fn verify(text: &str) -> (f64, &'static str) {
    let now = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let began = now();
    let mut options = Options::default();
    options.threads = 1;
    let (_, verdict) = measure::sil("growth", text, &options).expect("well-formed");
    (now() - began, verdict)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_programs_verify() {
        let table = super::table(6, 10.0);
        assert_eq!(table.lines().count(), super::KINDS.len());
        assert!(!table.contains('('), "{table}");
    }
}
