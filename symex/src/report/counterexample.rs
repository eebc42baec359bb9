//! States in which an obligation may fail, from a model of the solver.

use std::fmt;

use num_bigint::BigInt;
use num_rational::BigRational;
use serde::{Deserialize, Serialize};
use sil::source::Span;

/// A state that the solver could not exclude, in which an obligation does not hold. It is a hint,
/// and no proof of the failure.
///
/// Values are those of the solver's model. Names of references and of values of opaque types are
/// local to one counterexample: things with one name are equal, and things with different names
/// differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Counterexample {
    /// The variables in scope that have a value, by their names in the SIL program.
    pub variables: Vec<Variable>,
    /// The variables of quantifiers, if the condition fails because it does not hold for all
    /// values.
    pub witness: Vec<Variable>,
    /// The values of the parts of the condition that fails.
    pub parts: Vec<PartValue>,
    /// The values of functions at values of the path. Empty for translated programs.
    pub functions: Vec<Applied>,
    /// The permissions held there.
    pub heap: Vec<Location>,
    /// The heap of `old`, if it is another heap.
    pub old: Vec<Location>,
    /// The state at the head of a loop, where the path left its past behind, if it did.
    pub forgotten: Option<Box<Forgotten>>,
}

/// A part of a condition, and its value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PartValue {
    pub span: Span,
    /// The part as the program's author has written it, once places are known.
    pub text: String,
    pub value: Value,
}

/// The value of a function in which no heap takes part.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Applied {
    pub function: String,
    pub arguments: Vec<Value>,
    pub value: Value,
}

/// The state at the head of a loop, in the same model. Earlier facts are known there only if the
/// invariants have them, or the loop leaves them alone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Forgotten {
    /// The loop.
    pub head: Span,
    /// Line and column of the loop in the author's program, once places are known.
    pub line: usize,
    pub column: usize,
    /// The variables that have a value.
    pub variables: Vec<Variable>,
    /// The permissions held there, in the loop or around it.
    pub heap: Vec<Location>,
    /// Tells whether the model holds more permission, to unknown locations.
    pub has_more: bool,
}

/// A value in a solver's model.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Value {
    Bool(bool),
    Int(BigInt),
    Null,
    /// An object, by a number that is local to one counterexample.
    Reference(usize),
    /// A sequence: its first elements, and its length.
    Sequence {
        elements: Vec<Self>,
        length: usize,
    },
    /// A set: its known elements, and its size.
    Set {
        elements: Vec<Self>,
        size: usize,
    },
    /// A multiset: its known elements, as often as they occur, and its size.
    Multiset {
        elements: Vec<Self>,
        size: usize,
    },
    /// A map: its known entries, and its size.
    Map {
        entries: Vec<(Self, Self)>,
        size: usize,
    },
    /// A value of an adt: the constructor and its arguments.
    Constructed(String, Vec<Self>),
    /// A value of an unknown type: the type, and a number that is local to one counterexample.
    Opaque(String, usize),
    /// Any other value as text, such as a permission amount.
    Other(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(truth) => write!(f, "{truth}"),
            Self::Int(number) => write!(f, "{number}"),
            Self::Null => f.write_str("null"),
            Self::Reference(number) => write!(f, "ref{number}"),
            Self::Sequence { elements, length } => of_many(f, "Seq", elements, *length),
            Self::Set { elements, size } => of_many(f, "Set", elements, *size),
            Self::Multiset { elements, size } => of_many(f, "Multiset", elements, *size),
            Self::Map { entries, size } => {
                let entries = entries.iter().map(|(key, value)| format!("{key} := {value}"));
                of_many(f, "Map", &entries.collect::<Vec<_>>(), *size)
            }
            Self::Constructed(constructor, arguments) => {
                of_many(f, constructor, arguments, arguments.len())
            }
            Self::Opaque(kind, number) => write!(f, "{kind}#{number}"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

/// Writes a collection: its known elements, and the size if there are more.
fn of_many(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    known: &[impl ToString],
    size: usize,
) -> fmt::Result {
    let mut shown: Vec<String> = known.iter().map(ToString::to_string).collect();
    if size > known.len() {
        shown.push(format!("… {size} in all"));
    }
    write!(f, "{name}({})", shown.join(", "))
}

/// A variable and its value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Variable {
    pub name: String,
    pub value: Value,
}

/// A field or an instance of a predicate to which there is permission.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Location {
    /// The location, as in `ref1.f` or `list(ref1)`.
    pub location: String,
    /// The permission amount.
    pub amount: String,
    /// The value of a field.
    pub value: Option<Value>,
    /// The place in the heap.
    pub place: Option<HeapPlace>,
    /// The amount as a number.
    pub share: Share,
}

/// A field of an object, or an instance of a predicate.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum HeapPlace {
    /// The object, and the name of the field in the SIL program.
    Field(Value, String),
    /// The arguments, and the name that the author of the program has given the predicate.
    Instance(Vec<Value>, String),
}

/// An amount, as far as it does not depend on a front end's choices for open amounts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Share {
    /// A number.
    Number(BigRational),
    /// The read fraction of the method.
    Read,
    /// An amount that depends on other choices.
    #[default]
    Open,
}

/// A counterexample as people and tools read it: values are texts.
#[derive(PartialEq, Eq, Debug, Serialize)]
pub struct Shown {
    pub variables: Vec<Named>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub witness: Vec<Named>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Named>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<ShownApplied>,
    pub heap: Vec<Held>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub old: Vec<Held>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forgotten: Option<ShownHead>,
}

/// The state at the head of a loop, with values as texts.
#[derive(PartialEq, Eq, Debug, Serialize)]
pub struct ShownHead {
    pub line: usize,
    pub column: usize,
    pub variables: Vec<Named>,
    pub heap: Vec<Held>,
}

/// A function, and the texts of its arguments and its value.
#[derive(PartialEq, Eq, Debug, Serialize)]
pub struct ShownApplied {
    pub function: String,
    pub arguments: Vec<String>,
    pub value: String,
}

/// A variable or an expression, and the text of its value.
#[derive(PartialEq, Eq, Debug, Serialize)]
pub struct Named {
    pub name: String,
    pub value: String,
}

/// Permission to a location, and the text of the value there.
#[derive(PartialEq, Eq, Debug, Serialize)]
pub struct Held {
    pub location: String,
    pub amount: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

impl Counterexample {
    /// Returns the counterexample with values as texts.
    pub fn shown(&self) -> Shown {
        let part =
            |part: &PartValue| Named { name: part.text.clone(), value: part.value.to_string() };
        let applied = |Applied { function, arguments, value }: &Applied| ShownApplied {
            function: function.clone(),
            arguments: arguments.iter().map(ToString::to_string).collect(),
            value: value.to_string(),
        };
        Shown {
            variables: named(&self.variables),
            witness: named(&self.witness),
            parts: self.parts.iter().map(part).collect(),
            functions: self.functions.iter().map(applied).collect(),
            heap: held(&self.heap),
            old: held(&self.old),
            forgotten: self.forgotten.as_ref().map(|head| ShownHead {
                line: head.line,
                column: head.column,
                variables: named(&head.variables),
                heap: held(&head.heap),
            }),
        }
    }

    /// Describes the state in sentences: the variables and the heap, the witness, the parts of the
    /// condition.
    pub fn words(&self) -> Vec<String> {
        let Shown { variables, witness, parts, heap, old, .. } = self.shown();
        let equations = |of: Vec<Named>| -> Vec<String> {
            of.into_iter().map(|Named { name, value }| format!("{name} = {value}")).collect()
        };
        let mut state = equations(variables);
        for (prefix, locations) in [("", heap), ("old ", old)] {
            for Held { location, amount, value } in locations {
                let value = value.map_or(String::new(), |value| format!(" = {value}"));
                state.push(format!("{prefix}{location}{value} ({amount} held)"));
            }
        }
        if state.is_empty() {
            state.push("nothing is known".to_owned());
        }
        let part = |Named { name, value }: Named| match &*value {
            "true" => format!("`{name}` holds"),
            "false" => format!("`{name}` does not hold"),
            _ => format!("`{name}` = {value}"),
        };
        let sentences = [
            ("for instance where", state),
            ("it does not hold for", equations(witness)),
            ("there", parts.into_iter().map(part).collect()),
        ];
        let sentences = sentences.into_iter().filter(|(_, parts)| !parts.is_empty());
        sentences.map(|(start, parts)| format!("{start} {}", parts.join(", "))).collect()
    }
}

fn named(variables: &[Variable]) -> Vec<Named> {
    let of = |one: &Variable| Named { name: one.name.clone(), value: one.value.to_string() };
    variables.iter().map(of).collect()
}

fn held(locations: &[Location]) -> Vec<Held> {
    let of = |one: &Location| Held {
        location: one.location.clone(),
        amount: one.amount.clone(),
        value: one.value.as_ref().map(ToString::to_string),
    };
    locations.iter().map(of).collect()
}
