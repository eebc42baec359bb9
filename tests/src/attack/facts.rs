//! Ground facts of the theories: terms with their values.
//!
//! A [`Batch`] is a program with one method for each fact and one for its negation. That a term has
//! its value is true, so a verifier that shows the negation is wrong; one that does not show the
//! fact is incomplete. What a method is told of the variables in a term is true as well, so `assert
//! false` behind some facts is a probe.

use std::collections::BTreeMap;

use silicon::report::Verdict;

use crate::concrete::{Declarations, Evaluator, State, Value, expression};

use super::judge::{Limits, verify};
use super::pick::Picker;

/// A theory that terms are made of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Theory {
    Integers,
    Amounts,
    Sequences,
    Sets,
    Multisets,
    Maps,
    Adts,
}

impl Theory {
    pub const ALL: [Self; 7] = [
        Self::Integers,
        Self::Amounts,
        Self::Sequences,
        Self::Sets,
        Self::Multisets,
        Self::Maps,
        Self::Adts,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Integers => "integers",
            Self::Amounts => "amounts",
            Self::Sequences => "sequences",
            Self::Sets => "sets",
            Self::Multisets => "multisets",
            Self::Maps => "maps",
            Self::Adts => "adts",
        }
    }

    /// The type of most of its terms.
    fn of_type(self) -> &'static str {
        match self {
            Self::Integers => "Int",
            Self::Amounts => "Perm",
            Self::Sequences => "Seq[Int]",
            Self::Sets => "Set[Int]",
            Self::Multisets => "Multiset[Int]",
            Self::Maps => "Map[Int, Int]",
            Self::Adts => "Tree",
        }
    }
}

/// The declarations of every batch.
const MEMBERS: &str = "adt Tree { Leaf() Node(value: Int, left: Tree, right: Tree) }\n";

/// A term and what it is.
#[derive(Clone, Debug)]
pub struct Fact {
    pub theory: Theory,
    /// The assumptions about the variables.
    pub(super) given: Vec<String>,
    /// True.
    pub claim: String,
}

/// Facts in one program.
pub struct Batch {
    pub facts: Vec<Fact>,
}

/// The fate of a fact.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FactFate {
    Proved,
    /// Neither the fact nor its negation is shown.
    Open,
    /// Its negation is shown, or `false`.
    Accepted(&'static str),
    Defect(String),
}

/// Variables that terms are made of; what they are is told to the verifier, or written instead of
/// them.
const VARIABLES: [(&str, &str); 14] = [
    ("i", "Int"),
    ("j", "Int"),
    ("p", "Perm"),
    ("q", "Perm"),
    ("s", "Seq[Int]"),
    ("t", "Seq[Int]"),
    ("a", "Set[Int]"),
    ("b", "Set[Int]"),
    ("m", "Multiset[Int]"),
    ("n", "Multiset[Int]"),
    ("u", "Map[Int, Int]"),
    ("v", "Map[Int, Int]"),
    ("x", "Tree"),
    ("y", "Tree"),
];

impl Batch {
    /// The batch of a seed.
    ///
    /// # Panics
    /// On declarations that this module makes wrong.
    pub fn new(seed: u64, size: usize) -> Self {
        let mut pick = Picker::new(seed);
        let declarations = Declarations::read(MEMBERS).expect("the members are right");
        let facts = (0..size).map(|_| fact(&declarations, &mut pick)).collect();
        Self { facts }
    }

    /// The program: for each fact the methods `yes`, `no` and `never`, with its number.
    pub fn text(&self) -> String {
        let mut text = MEMBERS.to_owned();
        let formals = VARIABLES.map(|(name, ty)| format!("{name}: {ty}")).join(", ");
        for (index, fact) in self.facts.iter().enumerate() {
            let given: Vec<_> =
                fact.given.iter().map(|one| format!("  requires {one}\n")).collect();
            let given = given.concat();
            let claim = &fact.claim;
            for (name, body) in [
                ("yes", format!("assert {claim}")),
                ("no", format!("assert !({claim})")),
                ("never", format!("inhale {claim}\n  assert false")),
            ] {
                text.push_str(&format!(
                    "method {name}{index}({formals})\n{given}{{\n  {body}\n}}\n"
                ));
            }
        }
        text
    }

    /// Verifies the program; what became of each fact, in their order.
    pub fn judge(&self, limits: Limits) -> Vec<FactFate> {
        let report = match verify(&self.text(), limits) {
            Ok((_, report)) => report,
            Err(error) => return vec![FactFate::Defect(error); self.facts.len()],
        };
        let verdicts: BTreeMap<&str, Verdict> =
            report.members.iter().map(|one| (&*one.name, one.verdict)).collect();
        let of = |name: &str, index: usize| verdicts.get(&*format!("{name}{index}")).copied();
        let fate = |index| match (of("yes", index), of("no", index), of("never", index)) {
            (None | Some(Verdict::Error), ..)
            | (_, None | Some(Verdict::Error), _)
            | (.., None | Some(Verdict::Error)) => FactFate::Defect("no verdict".into()),
            (_, Some(Verdict::Verified), _) => FactFate::Accepted("no"),
            (.., Some(Verdict::Verified)) => FactFate::Accepted("never"),
            (Some(Verdict::Verified), ..) => FactFate::Proved,
            _ => FactFate::Open,
        };
        (0..self.facts.len()).map(fate).collect()
    }

    /// A program with one fact only.
    pub fn only(&self, index: usize) -> Self {
        Self { facts: vec![self.facts[index].clone()] }
    }
}

fn fact(declarations: &Declarations, pick: &mut Picker) -> Fact {
    loop {
        let mut state = State::new(0);
        for (name, ty) in VARIABLES {
            state.store.insert(name.into(), any(pick, ty, 2));
        }
        let evaluator = Evaluator::new(declarations, &state);
        let value = |text: &str| evaluator.eval(&expression(text).ok()?).ok();
        let theory = Theory::ALL[pick.below(Theory::ALL.len())];
        let Some(claim) = claim(theory, pick, &value) else { continue };
        if value(&claim) != Some(Value::Bool(true)) {
            continue;
        }
        let nameless = |_| None;
        let literal = |name: &str, ty: &str| state.store.get(name)?.text(ty, &nameless);
        let named = VARIABLES.iter().filter(|(name, _)| mentions(&claim, name));
        let given: Option<Vec<String>> =
            named.map(|(name, ty)| Some(format!("{name} == {}", literal(name, ty)?))).collect();
        let Some(given) = given else { continue };
        // Half of the facts are about terms without variables.
        if pick.chance(50) {
            return Fact { theory, given, claim };
        }
        let Some(claim) = written_out(&claim, &literal) else { continue };
        return Fact { theory, given: Vec::new(), claim };
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')
}

fn mentions(text: &str, name: &str) -> bool {
    words(text).any(|word| word.split('.').next() == Some(name))
}

/// The text with literals for the variables.
fn written_out(text: &str, literal: &impl Fn(&str, &str) -> Option<String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first.is_alphabetic() {
            let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
            let word = &rest[..end];
            match VARIABLES.iter().find(|(name, _)| *name == word) {
                Some((name, ty)) if !out.ends_with('.') => {
                    out.push_str(&format!("({})", literal(name, ty)?));
                }
                _ => out.push_str(word),
            }
            rest = &rest[end..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    Some(out)
}

/// A formula of a theory that is true.
fn claim(
    theory: Theory,
    pick: &mut Picker,
    value: &impl Fn(&str) -> Option<Value>,
) -> Option<String> {
    let ty = theory.of_type();
    let nameless = |_| None;
    Some(match pick.below(4) {
        // A term and its value as a literal.
        0 | 1 => {
            let term = term(ty, 3, pick);
            let literal = value(&term)?.text(ty, &nameless)?;
            format!("({term}) == {literal}")
        }
        // Two values that are not equal, or equal by two ways.
        2 => {
            let (left, right) = (term(ty, 2, pick), term(ty, 2, pick));
            let op = if value(&left)? == value(&right)? { "==" } else { "!=" };
            format!("({left}) {op} ({right})")
        }
        _ => {
            let formula = formula(theory, pick);
            match value(&formula)? {
                Value::Bool(true) => formula,
                Value::Bool(false) => format!("!({formula})"),
                other => {
                    let ty = if matches!(other, Value::Perm(_)) { "Perm" } else { "Int" };
                    format!("({formula}) == {}", other.text(ty, &nameless)?)
                }
            }
        }
    })
}

/// A term of another type that a theory makes: a Boolean or a number.
fn formula(theory: Theory, pick: &mut Picker) -> String {
    let ty = theory.of_type();
    let two = |pick: &mut Picker| (term(ty, 2, pick), term(ty, 2, pick));
    let number = |pick: &mut Picker| term("Int", 1, pick);
    match theory {
        Theory::Integers | Theory::Amounts => {
            let (left, right) = two(pick);
            format!("({left}) {} ({right})", pick.of(&["<", "<=", ">", ">="]))
        }
        Theory::Sequences => match pick.below(3) {
            0 => format!("|{}|", term(ty, 3, pick)),
            1 => format!("({}) in ({})", number(pick), term(ty, 2, pick)),
            _ => format!("({})[{}]", term(ty, 3, pick), pick.between(0, 3)),
        },
        Theory::Sets | Theory::Multisets => match pick.below(3) {
            0 => format!("|{}|", term(ty, 3, pick)),
            1 => format!("({}) in ({})", number(pick), term(ty, 3, pick)),
            _ => {
                let (left, right) = two(pick);
                format!("({left}) subset ({right})")
            }
        },
        Theory::Maps => match pick.below(4) {
            0 => format!("|{}|", term(ty, 3, pick)),
            1 => format!("({}) in domain({})", number(pick), term(ty, 2, pick)),
            2 => format!("({}) in range({})", number(pick), term(ty, 2, pick)),
            _ => format!("({})[{}]", term(ty, 2, pick), pick.between(0, 3)),
        },
        Theory::Adts => match pick.below(2) {
            0 => format!("({}).isNode", term(ty, 2, pick)),
            _ => format!("({}).value", term(ty, 2, pick)),
        },
    }
}

/// A term of a type, which need not be defined.
fn term(ty: &str, depth: u32, pick: &mut Picker) -> String {
    let variables: Vec<String> = VARIABLES
        .iter()
        .filter(|(_, one)| *one == ty)
        .map(|(name, _)| (*name).to_owned())
        .collect();
    if depth == 0 || pick.chance(20) {
        let nameless = |_| None;
        let literal = any(pick, ty, 1).text(ty, &nameless);
        return if pick.chance(65) { pick.text(&variables) } else { literal }
            .unwrap_or_else(|| ty.to_owned());
    }
    let below = depth - 1;
    let one = |pick: &mut Picker| term(ty, below, pick);
    if pick.chance(8) {
        let condition = format!("{} < {}", term("Int", 0, pick), term("Int", 0, pick));
        return format!("({condition} ? {} : {})", one(pick), one(pick));
    }
    match ty {
        "Int" => match pick.below(7) {
            0..=3 => {
                let op = pick.of(&["+", "-", "*", "\\", "%", "\\", "%"]);
                format!("({} {op} {})", one(pick), one(pick))
            }
            4 => format!("|{}|", term("Seq[Int]", below, pick)),
            5 => format!("({} in {})", term("Int", 0, pick), term("Multiset[Int]", below, pick)),
            _ => format!("(-{})", one(pick)),
        },
        "Perm" => match pick.below(6) {
            0 | 1 => format!("({} {} {})", one(pick), pick.of(&["+", "-"]), one(pick)),
            2 => format!("({} * {})", one(pick), one(pick)),
            3 => format!("({} / {})", one(pick), pick.between(1, 4)),
            4 => format!("({} * {})", term("Int", 0, pick), one(pick)),
            _ => format!("({} / {})", term("Int", 0, pick), pick.between(1, 4)),
        },
        "Seq[Int]" => match pick.below(7) {
            0 | 1 => format!("({} ++ {})", one(pick), one(pick)),
            2 => format!("{}[{}..]", one(pick), pick.between(-1, 4)),
            3 => format!("{}[..{}]", one(pick), pick.between(-1, 4)),
            4 => format!("{}[{} := {}]", one(pick), pick.between(0, 2), term("Int", 0, pick)),
            5 => format!("[{}..{})", pick.between(-2, 2), pick.between(-1, 4)),
            _ => format!("Seq({}, {})", term("Int", below, pick), term("Int", 0, pick)),
        },
        "Set[Int]" | "Multiset[Int]" => match pick.below(5) {
            0 if ty == "Set[Int]" && pick.chance(50) => {
                let map = term("Map[Int, Int]", below, pick);
                format!("{}({map})", pick.of(&["domain", "range"]))
            }
            0 | 1 => format!("({} union {})", one(pick), one(pick)),
            2 => format!("({} intersection {})", one(pick), one(pick)),
            3 => format!("({} setminus {})", one(pick), one(pick)),
            _ => {
                let name = ty.trim_end_matches("[Int]");
                format!("{name}({}, {})", term("Int", below, pick), term("Int", 0, pick))
            }
        },
        "Map[Int, Int]" => match pick.below(3) {
            0 => format!(
                "Map({} := {}, {} := {})",
                pick.between(0, 3),
                term("Int", 0, pick),
                pick.between(0, 3),
                term("Int", 0, pick)
            ),
            _ => format!("{}[{} := {}]", one(pick), term("Int", 0, pick), term("Int", 0, pick)),
        },
        _ => match pick.below(4) {
            0 => format!("({}).{}", one(pick), pick.of(&["left", "right"])),
            _ => format!("Node({}, {}, {})", term("Int", 0, pick), one(pick), one(pick)),
        },
    }
}

/// Some value of a type.
fn any(pick: &mut Picker, ty: &str, depth: u32) -> Value {
    let few = |pick: &mut Picker| {
        (0..pick.below(4)).map(|_| Value::int(pick.between(-1, 3))).collect::<Vec<_>>()
    };
    match ty {
        "Int" => Value::int(pick.between(-4, 7)),
        "Perm" => Value::perm(pick.between(-1, 5), pick.between(1, 4)),
        "Seq[Int]" => Value::Seq(few(pick)),
        "Set[Int]" => Value::Set(few(pick).into_iter().collect()),
        "Multiset[Int]" => {
            let mut counts = BTreeMap::new();
            for value in few(pick) {
                *counts.entry(value).or_insert_with(|| 0.into()) += 1;
            }
            Value::Multiset(counts)
        }
        "Map[Int, Int]" => Value::Map(
            few(pick).into_iter().map(|key| (key, Value::int(pick.between(0, 3)))).collect(),
        ),
        _ if depth == 0 || pick.chance(40) => Value::Adt("Leaf".into(), Vec::new()),
        _ => {
            let value = Value::int(pick.between(0, 3));
            let (left, right) = (any(pick, ty, depth - 1), any(pick, ty, depth - 1));
            Value::Adt("Node".into(), vec![value, left, right])
        }
    }
}
