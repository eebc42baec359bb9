//! Starts that follow what is known of a state: what a prover says of one in which a check fails.
//!
//! A model is a hint. Where it says what a value is, that is chosen if the bounds allow it; what it
//! does not say, and what contradicts the precondition, is chosen as in any other start.

use std::collections::BTreeMap;

use crate::code::Code;
use crate::heap::ObjectKind;
use crate::machine::World;
use crate::value::Ref;

/// A value in a model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelValue {
    /// A number.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// No object.
    Null,
    /// An object, by a number that means something within one model only.
    Object(u32),
    /// The elements of a sequence.
    Elements(Vec<Self>),
}

/// The knowledge about the state at the start of a method.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Model {
    /// The object that `this` is.
    pub receiver: Option<u32>,
    /// Arguments, by the names of the parameters.
    pub arguments: BTreeMap<String, ModelValue>,
    /// Fields at the start: of which object, and the names of the class and of the field.
    pub fields: BTreeMap<(u32, String, String), ModelValue>,
    /// Fields where the check fails, which is later.
    pub later: BTreeMap<(u32, String, String), ModelValue>,
}

impl Model {
    /// Returns the numbers that occur in it, smallest first.
    pub(super) fn integers(&self) -> Vec<i64> {
        fn of(value: &ModelValue, found: &mut Vec<i64>) {
            match value {
                ModelValue::Int(number) => found.push(*number),
                ModelValue::Elements(elements) => {
                    elements.iter().for_each(|element| of(element, found));
                }
                ModelValue::Bool(_) | ModelValue::Null | ModelValue::Object(_) => {}
            }
        }
        let mut found = Vec::new();
        let values = self.arguments.values().chain(self.fields.values()).chain(self.later.values());
        values.for_each(|value| of(value, &mut found));
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// A model that a start follows, and which objects are those it speaks of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Following {
    model: Model,
    objects: Vec<(u32, Ref)>,
}

impl Following {
    pub(super) fn new(model: Model) -> Self {
        Self { model, objects: Vec::new() }
    }

    /// Returns the object that a number of the model stands for, if it has come up.
    pub(super) fn object(&self, number: u32) -> Option<Ref> {
        self.objects.iter().find(|(known, _)| *known == number).map(|(_, object)| *object)
    }

    /// From now on, a number of the model stands for an object.
    pub(super) fn bind(&mut self, number: u32, object: Ref) {
        if self.object(number).is_none() {
            self.objects.push((number, object));
        }
    }

    pub(super) fn receiver(&self) -> Option<u32> {
        self.model.receiver
    }

    /// Returns the value of a variable of the method that is started.
    pub(crate) fn argument(&self, name: &str) -> Option<ModelValue> {
        self.model.arguments.get(name).cloned()
    }
}

impl World<'_> {
    /// Returns the model's value of a cell, where the start follows a model.
    pub(super) fn value_of_model(&self, object: Ref, cell: u32) -> Option<ModelValue> {
        let following = self.following.as_ref()?;
        let (number, _) = following.objects.iter().find(|(_, known)| *known == object)?;
        let ObjectKind::Class(class) = self.heap.object(object).kind else { return None };
        let code: &Code = self.code;
        let class = &code.classes[class as usize];
        let field = class.cell_names.get(cell as usize)?;
        let place = (*number, class.name.clone(), field.clone());
        let Model { fields, later, .. } = &following.model;
        let is_later = !self.is_starting() && self.config.by_contract.is_some();
        let known = later.get(&place).filter(|_| is_later).or_else(|| fields.get(&place));
        known.cloned()
    }
}
