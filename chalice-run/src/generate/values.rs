//! Values that are open: of generated objects, and of what nobody initialised.

use chalice::program::Type;

use crate::choices::About;
use crate::code::index;
use crate::fault::Res;
use crate::heap::{Holder, Lock, ObjectKind, Snapshot, TokenState};
use crate::machine::{COMMON, Evaluator, OldState, World};
use crate::value::{Level, Ref, Seq, Value};

use super::{ModelValue, Style};

impl World<'_> {
    /// Returns some value of a type.
    pub(crate) fn choose_value(&mut self, ty: &Type) -> Value {
        self.choose_value_as(ty, None)
    }

    /// Some value of a type: the one that is wanted, if there is one and the bounds allow it.
    pub(crate) fn choose_value_as(&mut self, ty: &Type, wanted: Option<&ModelValue>) -> Value {
        match ty {
            Type::Int => {
                let hints = self.hints.clone();
                let wanted = match wanted {
                    Some(ModelValue::Int(number)) => hints.iter().position(|one| one == number),
                    _ => None,
                };
                if hints.is_empty() {
                    let size = self.bounds.integers;
                    let choice = self.choices.choose(2 * size as u32 + 1, About::Value);
                    return Value::Int(i64::from(choice) - size);
                }
                let again = self.last_number.filter(|_| self.style == Style::Same);
                let chosen = self.choose_as(hints.len(), wanted.or(again));
                self.last_number = Some(chosen);
                Value::Int(hints[chosen])
            }
            Type::Bool => {
                let wanted = match wanted {
                    Some(ModelValue::Bool(truth)) => Some(usize::from(*truth)),
                    _ => None,
                };
                Value::Bool(self.choose_as(2, wanted) == 1)
            }
            Type::Seq(element) => {
                let values = self.choose_elements(element, wanted);
                Value::Seq(Seq::Items(values.into()))
            }
            Type::Set(element) => Value::set(self.choose_elements(element, wanted)),
            Type::Class(class) => {
                self.choose_object(ObjectKind::Class(index(*class)), true, wanted)
            }
            Type::Channel(channel) => {
                self.choose_object(ObjectKind::Channel(index(*channel)), true, wanted)
            }
            Type::Token(method) => {
                self.choose_object(ObjectKind::Token(index(*method)), true, wanted)
            }
            Type::String | Type::Null | Type::Mu | Type::Unknown => crate::code::default_value(ty),
        }
    }

    /// One of so many possibilities: the one that is wanted, unless a script says another.
    fn choose_as(&mut self, of: usize, wanted: Option<usize>) -> usize {
        let choice = match wanted {
            Some(wanted) => self.choices.choose_or(of as u32, About::Value, |_| wanted as u32),
            None => self.choices.choose(of as u32, About::Value),
        };
        choice as usize
    }

    fn choose_elements(&mut self, element: &Type, wanted: Option<&ModelValue>) -> Vec<Value> {
        let wanted = match wanted {
            Some(ModelValue::Elements(elements)) => Some(&elements[..]),
            _ => None,
        };
        let none = (self.style == Style::Nothing).then_some(0);
        let length = wanted.map(<[_]>::len).or(none);
        let length = self.choose_as(self.bounds.length as usize + 1, length);
        let wanted = |at: usize| wanted.and_then(|elements| elements.get(at));
        (0..length).map(|at| self.choose_value_as(element, wanted(at))).collect()
    }

    /// Null, a new object while there are few, or one that exists. Only a start may have new ones.
    pub(crate) fn choose_object(
        &mut self,
        kind: ObjectKind,
        null_first: bool,
        wanted: Option<&ModelValue>,
    ) -> Value {
        let existing: Vec<Ref> = (0..self.heap.objects.len())
            .filter(|at| self.heap.objects[*at].kind == kind)
            .map(|at| Ref(at as u32))
            .collect();
        let is_new = |object: &&Ref| self.heap.object(**object).name.0 == u32::MAX;
        let generated = existing.iter().filter(is_new).count() as u32;
        let depth = self.bounds.objects.max(self.bounds.depth);
        let may_be_new = self.granting && generated < depth;
        let of = 1 + usize::from(may_be_new) + existing.len();
        let is_swapped = may_be_new && !null_first;
        let swapped = |choice: usize| if is_swapped && choice < 2 { 1 - choice } else { choice };
        let known = |number: u32| self.following.as_ref().and_then(|model| model.object(number));
        let number = match wanted {
            Some(ModelValue::Object(number)) => Some(*number),
            _ => None,
        };
        let wanted = match (wanted, number.and_then(known)) {
            (Some(ModelValue::Null), _) => Some(0),
            (_, Some(object)) => {
                let at = existing.iter().position(|one| *one == object);
                at.map(|at| at + 1 + usize::from(may_be_new))
            }
            _ => number.filter(|_| may_be_new).map(|_| 1),
        };
        let preferred = match self.style {
            _ if !self.granting => None,
            Style::Any => None,
            Style::Nothing => Some(0),
            Style::Apart => may_be_new.then_some(1),
            Style::Same => (!existing.is_empty()).then_some(of - 1),
        };
        let wanted = wanted.or(preferred);
        let chosen = match swapped(self.choose_as(of, wanted.map(swapped))) {
            0 => return Value::Null,
            1 if may_be_new => self.new_object(kind),
            other => existing[other - 1 - usize::from(may_be_new)],
        };
        if let (Some(number), Some(following)) = (number, &mut self.following) {
            following.bind(number, chosen);
        }
        Value::Ref(chosen)
    }

    /// Returns an object whose contents are open; the environment has all permission to it.
    pub(crate) fn new_object(&mut self, kind: ObjectKind) -> Ref {
        let values = match kind {
            ObjectKind::Class(class) => {
                let class = &self.code.classes[class as usize];
                let of = |at: usize| {
                    if at <= class.declared { Value::Open } else { Value::set([]) }
                };
                (0..class.cells.len()).map(of).collect()
            }
            ObjectKind::Channel(_) => vec![Value::Level(self.levels.between(&[], &[]))],
            ObjectKind::Token(_) => vec![Value::Open],
        };
        let object = self.allocate_as(None, kind, values, Holder::Environment);
        if let ObjectKind::Token(method) = kind {
            let frame = &self.code.methods[method as usize];
            let slots = frame.frame.initial[..=frame.parameters + frame.results].to_vec();
            let kappa = self.fractions.fresh_for_good();
            let before = Snapshot { epoch: 0, held: std::sync::Arc::default(), permissions: None };
            let state = TokenState { method, thread: None, slots, kappa, before };
            self.heap.extra_mut(object).token = Some(state);
        }
        object
    }

    /// Gives what is still open the values that everything has that nobody chose, unless these are
    /// to be decisions.
    pub(crate) fn close(&mut self) {
        if self.config.undefined == crate::machine::Undefined::Choose {
            return;
        }
        for object in &mut self.heap.objects {
            let ObjectKind::Class(class) = object.kind else { continue };
            let types = &self.code.classes[class as usize].cells;
            for (cell, ty) in object.cells.iter_mut().zip(types) {
                if cell.value == Value::Open {
                    cell.value = crate::code::default_value(ty);
                }
            }
        }
    }

    /// Values that a specification statement may choose.
    pub(crate) fn candidates(&self, ty: &Type, slots: &[Value]) -> Vec<Value> {
        match ty {
            Type::Int => {
                let mut numbers: Vec<i64> = (0..=8).flat_map(|size| [size, -size]).collect();
                for slot in slots {
                    if let Value::Int(number) = slot {
                        numbers.extend([
                            *number,
                            number.saturating_add(1),
                            number.saturating_sub(1),
                        ]);
                    }
                }
                let mut seen = std::collections::BTreeSet::new();
                numbers.retain(|number| seen.insert(*number));
                numbers.into_iter().map(Value::Int).collect()
            }
            Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
            Type::Class(_) | Type::Channel(_) | Type::Token(_) => {
                let fits = |kind: ObjectKind| match (ty, kind) {
                    (Type::Class(class), ObjectKind::Class(other)) => index(*class) == other,
                    (Type::Channel(one), ObjectKind::Channel(other)) => index(*one) == other,
                    (Type::Token(method), ObjectKind::Token(other)) => index(*method) == other,
                    _ => false,
                };
                let objects = self.heap.objects.iter().enumerate();
                let fitting = objects.filter(|(_, object)| fits(object.kind));
                let values = fitting.map(|(at, _)| Value::Ref(Ref(at as u32)));
                std::iter::once(Value::Null).chain(values).collect()
            }
            Type::Seq(element) => {
                let mut values = vec![Value::Seq(Seq::Items([].into()))];
                let elements = self.candidates(element, &[]);
                values.extend(
                    elements.iter().take(4).map(|one| Value::Seq(Seq::Items([one.clone()].into()))),
                );
                values
            }
            _ => vec![crate::code::default_value(ty)],
        }
    }
}

impl Evaluator<'_> {
    /// Returns the value that an open cell turns out to have, now or in a recorded state.
    pub(crate) fn decide(&mut self, object: Ref, cell: u32, at: Option<u32>) -> Res<Value> {
        let value = match self.heap.object(object).kind {
            ObjectKind::Class(_) if cell == 0 => return self.decide_level(object),
            ObjectKind::Class(class) => {
                let code = self.code;
                let ty = &code.classes[class as usize].cells[cell as usize];
                let wanted = self.value_of_model(object, cell);
                self.choose_value_as(ty, wanted.as_ref())
            }
            ObjectKind::Channel(_) => Value::Level(Level::BOTTOM),
            ObjectKind::Token(_) => Value::Bool(self.choices.choose(2, About::Value) == 0),
        };
        match at {
            Some(epoch) => self.heap.decide_at(object, cell, epoch, value.clone()),
            None => self.heap.decide(object, cell, value.clone()),
        }
        Ok(value)
    }

    /// Not shared, or shared: then its monitor has what its invariant asks for.
    fn decide_level(&mut self, object: Ref) -> Res<Value> {
        let is_shared = self.granting && self.choices.choose(2, About::Value) == 1;
        if !is_shared {
            let value = Value::Level(Level::BOTTOM);
            self.heap.decide(object, 0, value.clone());
            return Ok(value);
        }
        let value = Value::Level(self.levels.between(&[], &[]));
        self.heap.decide(object, 0, value.clone());
        let span = chalice::Span::default();
        self.heap.extra_mut(object).lock = Some(Lock { since: span, ..Lock::default() });
        let at = self.scope.at.take();
        let result = self.give_invariant(object, Holder::Environment, OldState::Missing, span);
        self.scope.at = at;
        result?;
        debug_assert_eq!(COMMON.0, 0);
        Ok(value)
    }
}
