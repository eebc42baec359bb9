//! Values, and their text.

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Signed;
use sil::source::Name;
use sil::syntax::{Type, TypeKind};

/// A permission amount.
pub type Amount = BigRational;

/// The value of an expression.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Value {
    Int(BigInt),
    Bool(bool),
    Perm(Amount),
    /// An object by its number; 0 is `null`.
    Ref(u32),
    Seq(Vec<Value>),
    Set(BTreeSet<Value>),
    /// Every element with how often it occurs, which is never 0.
    Multiset(BTreeMap<Value, BigInt>),
    Map(BTreeMap<Value, Value>),
    /// A value of an algebraic data type: its constructor and arguments.
    Adt(Name, Vec<Value>),
}

pub(super) const NULL: Value = Value::Ref(0);

impl Value {
    pub fn int(value: i64) -> Self {
        Self::Int(value.into())
    }

    /// The amount `numerator / denominator`, which is not 0.
    pub fn perm(numerator: i64, denominator: i64) -> Self {
        Self::Perm(Amount::new(numerator.into(), denominator.into()))
    }

    /// Returns the value of a variable that was never assigned.
    pub fn default_of(ty: &Type) -> Self {
        match &ty.kind {
            TypeKind::Int => Self::int(0),
            TypeKind::Perm => Self::perm(0, 1),
            TypeKind::Ref => NULL,
            TypeKind::Seq(_) => Self::Seq(Vec::new()),
            TypeKind::Set(_) => Self::Set(BTreeSet::new()),
            TypeKind::Multiset(_) => Self::Multiset(BTreeMap::new()),
            TypeKind::Map(..) => Self::Map(BTreeMap::new()),
            TypeKind::Bool | TypeKind::Named { .. } | TypeKind::MacroCall { .. } => {
                Self::Bool(false)
            }
        }
    }

    /// The value as an expression of a type; `name_of` names objects. `None` if one has no name.
    pub fn text(&self, ty: &str, name_of: &impl Fn(u32) -> Option<String>) -> Option<String> {
        let inner = ty.split_once('[').map_or("", |(_, rest)| rest.trim_end_matches(']'));
        let list = |values: &mut dyn Iterator<Item = &Value>| {
            let texts: Option<Vec<_>> = values.map(|one| one.text(inner, name_of)).collect();
            texts.map(|texts| texts.join(", "))
        };
        let collection = |name: &str, elements: String| {
            if elements.is_empty() { format!("{ty}()") } else { format!("{name}({elements})") }
        };
        Some(match self {
            Self::Int(value) if value.is_negative() => format!("(-{})", -value),
            Self::Int(value) => value.to_string(),
            Self::Bool(value) => value.to_string(),
            Self::Perm(value) if value.is_negative() => {
                format!("(none - {}/{})", -value.numer(), value.denom())
            }
            Self::Perm(value) => format!("{}/{}", value.numer(), value.denom()),
            Self::Ref(0) => "null".to_owned(),
            Self::Ref(object) => name_of(*object)?,
            Self::Seq(values) => collection("Seq", list(&mut values.iter())?),
            Self::Set(values) => collection("Set", list(&mut values.iter())?),
            Self::Multiset(values) => {
                let mut all = Vec::new();
                for (value, count) in values {
                    let count = usize::try_from(count.clone()).ok()?;
                    all.extend(std::iter::repeat_n(value, count));
                }
                collection("Multiset", list(&mut all.into_iter())?)
            }
            Self::Map(entries) => {
                let (key, value) = inner.split_once(',')?;
                let entries: Option<Vec<_>> = entries
                    .iter()
                    .map(|(k, v)| {
                        let (k, v) = (k.text(key.trim(), name_of)?, v.text(value.trim(), name_of)?);
                        Some(format!("{k} := {v}"))
                    })
                    .collect();
                collection("Map", entries?.join(", "))
            }
            Self::Adt(constructor, arguments) => {
                let arguments: Option<Vec<_>> =
                    arguments.iter().map(|one| one.text("", name_of)).collect();
                format!("{constructor}({})", arguments?.join(", "))
            }
        })
    }
}
