//! Programs of any length, to see how the time of the front end grows with their size.

use std::fmt::Write;

/// What a generated program is full of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Many methods of ten lines, each calling the one before.
    Methods,
    /// Many functions and predicates.
    Functions,
    /// One method with very many simple statements.
    Statements,
    /// One method with very many variables.
    Variables,
    /// One method with very many branches, one behind the other.
    Branches,
    /// One method with very many loops, one behind the other.
    Loops,
    /// One method whose loops are made of `goto`s.
    Gotos,
    /// Branches and loops a hundred deep, again and again.
    Nested,
    /// One domain with very many functions and axioms.
    Axioms,
    /// Very many clauses in a contract.
    Clauses,
    /// A contract that is one conjunction.
    Conjunction,
    /// One sum, one operand a line: a tree as deep as it is long, up to the limit of the parser.
    Sum,
    /// Very many fields, and a method that uses them.
    Fields,
    /// Very many macros, each used once.
    Macros,
}

impl Kind {
    pub const ALL: [Kind; 14] = [
        Kind::Methods,
        Kind::Functions,
        Kind::Statements,
        Kind::Variables,
        Kind::Branches,
        Kind::Loops,
        Kind::Gotos,
        Kind::Nested,
        Kind::Axioms,
        Kind::Clauses,
        Kind::Conjunction,
        Kind::Sum,
        Kind::Fields,
        Kind::Macros,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Methods => "methods",
            Kind::Functions => "functions",
            Kind::Statements => "statements",
            Kind::Variables => "variables",
            Kind::Branches => "branches",
            Kind::Loops => "loops",
            Kind::Gotos => "gotos",
            Kind::Nested => "nested",
            Kind::Axioms => "axioms",
            Kind::Clauses => "clauses",
            Kind::Conjunction => "conjunction",
            Kind::Sum => "sum",
            Kind::Fields => "fields",
            Kind::Macros => "macros",
        }
    }

    /// A program of about so many lines without errors.
    pub fn program(self, lines: usize) -> String {
        let mut text = String::from("field val: Int\nfield next: Ref\n\n");
        match self {
            Kind::Methods => repeat(&mut text, lines / 10, method),
            Kind::Functions => repeat(&mut text, lines / 10, functions),
            Kind::Statements => in_method(&mut text, lines, |text, line| {
                let _ = match line % 4 {
                    0 => writeln!(text, "  i := i + {line}"),
                    1 => writeln!(text, "  inhale acc(x.val, 1/2) && x.val >= i"),
                    2 => writeln!(text, "  assert i <= x.val ==> b || i == {line}"),
                    _ => writeln!(text, "  exhale acc(x.val, 1/2)"),
                };
            }),
            Kind::Variables => in_method(&mut text, lines / 2, |text, line| {
                let _ = writeln!(text, "  var v{line}: Int := i + {line}\n  i := v{line}");
            }),
            Kind::Branches => in_method(&mut text, lines / 5, |text, line| {
                let _ = writeln!(
                    text,
                    "  if (i == {line}) {{\n    i := i + 1\n  }} else {{\n    i := i - 1\n  }}"
                );
            }),
            Kind::Loops => in_method(&mut text, lines / 5, |text, line| {
                let _ = writeln!(
                    text,
                    "  while (i < {line})\n    invariant i <= {line}\n  {{\n    i := i + 1\n  }}"
                );
            }),
            Kind::Gotos => in_method(&mut text, lines / 5, |text, line| {
                let _ = writeln!(
                    text,
                    "  label l{line}\n    invariant i <= {line}\n  i := i + 1\n  if (i < {line}) {{\n    \
                     goto l{line} }}"
                );
            }),
            Kind::Nested => in_method(&mut text, (lines / 300).max(1), |text, _| {
                for depth in 0..50 {
                    let _ = writeln!(
                        text,
                        "  if (i == {depth}) {{\n  while (b)\n    invariant i == {depth}\n  {{"
                    );
                }
                text.push_str(&"  }}\n  i := i + 1\n".repeat(50));
            }),
            Kind::Axioms => {
                text.push_str("domain D {\n");
                repeat(&mut text, lines / 5, |text, line| {
                    let _ = writeln!(
                        text,
                        "  function f{line}(x: Int, y: D): Int\n  axiom a{line} {{\n    forall x: Int, y: D \
                         :: {{ f{line}(x, y) }}\n      f{line}(x, y) > x && f{}(x + 1, y) != 0\n  }}",
                        line / 2
                    );
                });
                text.push_str("}\n");
            }
            Kind::Clauses => {
                text.push_str("method m(x: Ref, i: Int)\n  requires acc(x.val)\n");
                repeat(&mut text, lines, |text, line| {
                    let _ = writeln!(text, "  requires x.val > {line} ==> i + {line} > x.val");
                });
            }
            Kind::Conjunction => {
                text.push_str("method m(x: Ref, i: Int)\n  requires acc(x.val)");
                repeat(&mut text, lines, |text, line| {
                    let _ = write!(text, "\n    && (x.val > {line} ==> i + {line} > x.val)");
                });
                text.push('\n');
            }
            Kind::Sum => in_method(&mut text, lines.div_ceil(5000), |text, _| {
                text.push_str("  i := i");
                repeat(text, lines.min(5000), |text, line| {
                    let _ = write!(text, "\n    + {line} * i");
                });
                text.push('\n');
            }),
            Kind::Fields => {
                repeat(&mut text, lines / 2, |text, line| {
                    let _ = writeln!(text, "field f{line}: Int");
                });
                text.push_str("method m(x: Ref)\n");
                repeat(&mut text, lines / 2, |text, line| {
                    let _ = writeln!(text, "  requires acc(x.f{line})");
                });
            }
            Kind::Macros => {
                repeat(&mut text, lines / 2, |text, line| {
                    let _ = writeln!(text, "define M{line}(a) (a.val > {line} ==> a.next != a)");
                });
                in_method(&mut text, lines / 2, |text, line| {
                    let _ = writeln!(text, "  assert M{line}(x)");
                });
            }
        }
        text
    }
}

/// A method that hands disjoint parts of an array to calls, one after the other, and has all of them back in the end.
pub fn segments(parts: usize) -> String {
    let mut text = String::from(
        "field val: Int\n\ndomain Array {\n  function loc(a: Array, i: Int): Ref\n  \
         function index(r: Ref): Int\n  function array(r: Ref): Array\n  axiom injective {\n    \
         forall a: Array, i: Int :: { loc(a, i) } array(loc(a, i)) == a && index(loc(a, i)) == i\n  }\n}\n\n\
         define held(a, lo, hi)\n  (forall i: Int :: { loc(a, i) } lo <= i && i < hi ==> acc(loc(a, i).val))\n\
         define all(a, lo, hi, v)\n  (forall i: Int :: { loc(a, i) } lo <= i && i < hi ==> loc(a, i).val == v)\n\n\
         method start(a: Array, lo: Int, hi: Int)\n  requires lo <= hi && held(a, lo, hi)\n\n\
         method finish(a: Array, lo: Int, hi: Int)\n  requires lo <= hi\n  \
         ensures held(a, lo, hi) && all(a, lo, hi, 1)\n\n",
    );
    let _ = writeln!(
        text,
        "method client(a: Array, s: Int)\n  requires 0 < s && held(a, 0, {parts} * s)\n  \
         ensures held(a, 0, {parts} * s) && all(a, 0, {parts} * s, 1)\n{{"
    );
    for call in ["start", "finish"] {
        repeat(&mut text, parts, |text, part| {
            let _ = writeln!(text, "  {call}(a, {part} * s, {} * s)", part + 1);
        });
    }
    text.push_str("}\n");
    text
}

fn repeat(text: &mut String, times: usize, mut piece: impl FnMut(&mut String, usize)) {
    for index in 0..times {
        piece(text, index);
    }
}

/// One method that holds the pieces.
fn in_method(text: &mut String, times: usize, piece: impl FnMut(&mut String, usize)) {
    text.push_str("method m(x: Ref, b: Bool)\n{\n  var i: Int := 0\n");
    repeat(text, times, piece);
    text.push_str("}\n");
}

fn method(text: &mut String, index: usize) {
    let _ = writeln!(
        text,
        "method m{index}(x: Ref, n: Int) returns (r: Int)\n  requires acc(x.val, 1/2) && n >= 0\n  \
         ensures acc(x.val, 1/2) && r == old(x.val) + n\n{{\n  var i: Int := n\n  r := x.val\n  \
         if (i > 0 && r != 0) {{ r := m{}(x, i - 1) }}\n  assert perm(x.val) >= 1/2\n}}\n",
        index.saturating_sub(1)
    );
}

fn functions(text: &mut String, index: usize) {
    let previous = index.saturating_sub(1);
    let _ = writeln!(
        text,
        "predicate p{index}(x: Ref)\n{{\n  acc(x.val) && acc(x.next) && (x.next != null ==> p{previous}(x.next))\n}}\n\
         function f{index}(x: Ref): Int\n  requires acc(p{index}(x), wildcard)\n{{\n  unfolding acc(p{index}(x), \
         wildcard) in (x.next == null ? 1 : x.val + f{previous}(x.next))\n}}\n"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_a_program() {
        let loaded = sil::load::load_text("segments.sil", &segments(3));
        assert!(!loaded.has_errors(), "{:?}", loaded.diagnostics.first());
    }

    #[test]
    fn generated_programs_have_their_size_and_no_errors() {
        for kind in Kind::ALL {
            let text = kind.program(600);
            let lines = text.lines().count();
            assert!((500..800).contains(&lines), "{}: {lines} lines", kind.name());
            let loaded = sil::load::load_text("generated.sil", &text);
            assert!(!loaded.has_errors(), "{}: {:?}", kind.name(), loaded.diagnostics.first());
        }
    }
}
