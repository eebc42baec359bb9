//! The axioms of a theory at given sorts, made from the theory's text.
//!
//! A text declares variables, operators and abbreviations, and then lists axioms. The operators are
//! applied without simplification, since triggers need the terms as they stand. `=` is the equality
//! of the logic, on every sort.

use rustc_hash::FxHashMap;
use serde::Deserialize as _;
use serde::de::IntoDeserializer;
use serde::de::value::Error;

use super::forms::Form;
use super::{Use, subject};
use crate::terms::{Quant, Sort, Term, TermKind, Terms, TheoryOp};

/// An axiom that has not been emitted.
pub(super) struct Axiom {
    pub(super) formula: Term,
    /// Alternatives, from the triggers. The axiom can be instantiated when all operators of one
    /// alternative occur.
    needs: Vec<Vec<Use>>,
}

impl Axiom {
    pub(super) fn is_ready(&self, occurs: impl Fn(Use) -> bool) -> bool {
        self.needs.iter().any(|alternative| alternative.iter().all(|&needed| occurs(needed)))
    }
}

/// Returns the axioms of a text. `sorts` has a sort for each name of a sort in the text, first the
/// theory's own.
pub(super) fn axioms(
    terms: &mut Terms,
    text: &'static [Form],
    sorts: &[(&str, Sort)],
) -> Vec<Axiom> {
    let mut theory = Theory { terms, names: FxHashMap::default(), axioms: Vec::new() };
    let sort = |form: &Form| {
        let name = form.word();
        sorts.iter().find(|(known, _)| *known == name).expect("a sort of the theory").1
    };
    for form in text {
        let [head, rest @ ..] = form.list() else { panic!("an empty form") };
        match (head.word(), rest) {
            ("variables", [of, names @ ..]) => {
                for name in names.iter().map(Form::word) {
                    let variable = theory.terms.named_variable(name, sort(of));
                    theory.names.insert(name, Meaning::Term(variable));
                }
            }
            ("operator", [name, op, result]) => {
                let meaning = Meaning::Operator(operator(op), sort(result));
                theory.names.insert(name.word(), meaning);
            }
            ("define", [head, body]) => {
                let [name, parameters @ ..] = head.list() else { panic!("no name") };
                theory.names.insert(name.word(), Meaning::Abbreviation(parameters, body));
            }
            ("axiom", parts) => theory.axiom(parts, sorts[0].1),
            (other, _) => panic!("no form of a theory: {other}"),
        }
    }
    theory.axioms
}

fn operator(name: &Form) -> TheoryOp {
    let name = IntoDeserializer::<Error>::into_deserializer(name.word());
    TheoryOp::deserialize(name).expect("an operator")
}

#[derive(Clone, Copy)]
enum Meaning {
    Term(Term),
    Operator(TheoryOp, Sort),
    /// Parameters, and a body.
    Abbreviation(&'static [Form], &'static Form),
}

struct Theory<'a> {
    terms: &'a mut Terms,
    names: FxHashMap<&'static str, Meaning>,
    axioms: Vec<Axiom>,
}

impl Theory<'_> {
    /// Adds an axiom: a label, variables, perhaps an operator that has to occur beside those of a
    /// trigger, triggers, and a body. An axiom without variables is its body.
    fn axiom(&mut self, parts: &'static [Form], own: Sort) {
        let (formula, triggers) = self.quantified(Quant::Forall, parts);
        let needed = parts.iter().find_map(|part| match part {
            Form::List(part) => match &part[..] {
                [Form::Word("needs"), op] => Some((operator(op), Some(own))),
                _ => None,
            },
            _ => None,
        });
        let needs = triggers.iter().map(|trigger| {
            let mut uses = self.uses(trigger);
            uses.extend(needed);
            uses
        });
        let needs = needs.collect();
        self.axioms.push(Axiom { formula, needs });
    }

    /// Returns a quantified formula, and its triggers.
    fn quantified(&mut self, quant: Quant, parts: &'static [Form]) -> (Term, Vec<Vec<Term>>) {
        let [label, variables, .., body] = parts else { panic!("parts of a formula are missing") };
        let variables = self.all(variables.list());
        let mut triggers = Vec::new();
        for part in parts {
            if let Form::Trigger(trigger) = part {
                triggers.push(self.all(trigger));
            }
        }
        let body = self.term(body);
        if variables.is_empty() {
            return (body, triggers);
        }
        let label = label.word();
        let formula =
            self.terms.quantify(quant, &variables, triggers.clone(), body, label.into(), 1);
        (formula, triggers)
    }

    fn all(&mut self, forms: &'static [Form]) -> Vec<Term> {
        forms.iter().map(|form| self.term(form)).collect()
    }

    fn term(&mut self, form: &'static Form) -> Term {
        let Form::List(parts) = form else {
            let word = form.word();
            return match (word.parse::<i64>(), self.names.get(word)) {
                (Ok(number), _) => self.terms.int(number),
                (_, Some(Meaning::Term(term))) => *term,
                _ => panic!("no variable: {word}"),
            };
        };
        let head = parts[0].word();
        match head {
            "forall" => return self.quantified(Quant::Forall, &parts[1..]).0,
            "exists" => return self.quantified(Quant::Exists, &parts[1..]).0,
            _ => {}
        }
        let args = self.all(&parts[1..]);
        match (head, &args[..]) {
            ("not", &[a]) => self.terms.not(a),
            ("and", _) => self.terms.and(args),
            ("or", _) => self.terms.or(args),
            ("=>", &[a, b]) => self.terms.implies(a, b),
            ("ite", &[condition, a, b]) => self.terms.ite(condition, a, b),
            ("=", &[a, b]) => self.terms.identical(a, b),
            ("<", &[a, b]) => self.terms.lt(a, b),
            ("<=", &[a, b]) => self.terms.le(a, b),
            ("+", _) => self.terms.sum(Sort::INT, args),
            ("-", &[a, b]) => self.terms.sub(a, b),
            ("*", &[a, b]) => self.terms.mul(a, b),
            _ => match self.names.get(head) {
                Some(&Meaning::Operator(op, sort)) => self.terms.theory_term(op, &args, sort),
                Some(&Meaning::Abbreviation(parameters, body)) => {
                    let outside = self.names.clone();
                    let parameters = parameters.iter().map(Form::word);
                    self.names.extend(parameters.zip(args.into_iter().map(Meaning::Term)));
                    let term = self.term(body);
                    self.names = outside;
                    term
                }
                _ => panic!("no operator: {head}"),
            },
        }
    }

    fn uses(&self, roots: &[Term]) -> Vec<Use> {
        let mut uses = Vec::new();
        self.terms.visit(roots.to_vec(), |term| {
            if let TermKind::Theory(op, args, sort) = self.terms.kind(term) {
                let args: Vec<Sort> = args.iter().map(|&arg| self.terms.sort(arg)).collect();
                uses.push((*op, subject(*op, &args, *sort)));
            }
            true
        });
        uses
    }
}
