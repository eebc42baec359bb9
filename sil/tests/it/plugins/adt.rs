//! The domains that adts become.

use sil::diagnostics::Code;
use sil::load::load_text;
use sil::source::FileId;

use crate::common::program;

/// The errors of a program as `line.column`.
fn errors(text: &str) -> Vec<String> {
    let loaded = load_text("test", text);
    let file = loaded.sources.file(FileId(0));
    let errors = loaded.diagnostics.iter().filter(|one| !one.code.is_warning()).map(|one| {
        assert_eq!(one.code, Code::TypecheckerError, "{one:?}");
        assert_eq!(one.span.file, FileId(0), "{one:?}");
        file.line_column(one.span.start).to_string()
    });
    errors.collect()
}

/// The domains of a program without errors, with the numbers of their functions and axioms.
fn domains(text: &str) -> Vec<(String, usize, usize)> {
    assert_eq!(errors(text), [""; 0], "{text}");
    let program = program(text);
    let domains = program
        .domains
        .iter()
        .map(|(_, domain)| (domain.name.to_string(), domain.functions.len(), domain.axioms.len()));
    domains.collect()
}

const LIST: &str = "adt List[T] { Nil() Cons(value: T, tail: List[T]) }\n";

#[test]
fn an_adt_is_a_domain() {
    assert_eq!(domains(LIST), [("List".to_string(), 5, 3)]);
    assert_eq!(domains("adt Color { Red() Green() }"), [("Color".to_string(), 3, 3)]);
}

#[test]
fn destructors_and_discriminators_are_found_by_type() {
    let text = "field number: Int
        adt Box { Box1(value: Bool) }
        method m(x: Ref, b: Box) requires acc(x.number) {
          assert x.number == 1 && b.value && Cons(1, Nil()).value == 1 && b.isBox1
          assert (Nil() : List[Int]).isNil && Cons(1, Nil()).tail.isCons
        }";
    assert_eq!(errors(&format!("{LIST}{text}")), [""; 0]);
}

#[test]
fn names_of_the_encoding_do_not_clash_with_others() {
    let text = "domain D { function List_tag(): Int function get_List_value(): Int }";
    assert_eq!(errors(&format!("{LIST}{text}")), [""; 0]);
}

#[test]
fn clashes_are_errors_where_they_are() {
    assert_eq!(errors("adt A { C()\n C() }"), ["2.2"]);
    assert_eq!(errors("adt A { C(x: Int)\n D(x: Int) }"), ["2.4"]);
    assert_eq!(errors("adt A { C(x: Int) }\nfield x: Int"), ["2.7"]);
    assert_eq!(errors("adt A { C() }\nadt A { D() }").first().map(String::as_str), Some("2.5"));
    let import = "import <adt/derives.vpr>\n";
    let derives = |what: &str| format!("{import}adt A {{ C(x: Int) }} derives {{\n{what} }}");
    assert_eq!(errors(&derives("contains without x")), [""; 0]);
    assert_eq!(errors(&derives("contains without y")), ["3.18"]);
    assert_eq!(errors(&derives("contains contains")), ["3.1"]);
    assert_eq!(errors(&derives("other")), [""; 0]);
}

#[test]
fn parts_are_derived_only_where_imported() {
    let adt =
        "adt List[T] { Nil() Cons(value: T, tail: List[T]) } derives { contains without value }";
    assert_eq!(domains(adt), [("List".to_string(), 5, 3)]);
    let found = domains(&format!("import <adt/derives.vpr> {adt}"));
    // The parts of `Cons`, and of parts of parts.
    assert!(found.contains(&("List".to_string(), 5, 5)), "{found:?}");
}

#[test]
fn termination_clauses_bring_orders() {
    let text = "function len(l: List[Int]): Int decreases l { l.isNil ? 0 : 1 + len(l.tail) }";
    let found = domains(&format!("{LIST}{text}"));
    assert!(found.contains(&("ListWellFoundedOrder".to_string(), 0, 3)), "{found:?}");
    assert!(found.iter().any(|(name, ..)| name == "WellFoundedOrder"), "{found:?}");
    let own = format!("{LIST}{text} domain ListWellFoundedOrder {{ }}");
    assert!(domains(&own).contains(&("ListWellFoundedOrder".to_string(), 0, 0)));
}

#[test]
fn orders_pass_through_other_adts() {
    let text = "import <decreases/declaration.vpr>
        adt A { A1(b: B) } adt B { B1(a: A) B2() } adt C[T] { C1(c: C[C[T]]) C2(b: B) }";
    let found = domains(text);
    for (name, axioms) in [("A", 3), ("B", 3), ("C", 1)] {
        let name = format!("{name}WellFoundedOrder");
        assert!(found.contains(&(name.clone(), 0, axioms)), "{name}: {found:?}");
    }
}
