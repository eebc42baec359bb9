//! Values that are open: of generated objects, and of what nobody initialised.

use chalice::program::Type;

use crate::choices::About;
use crate::code::index;
use crate::fault::Res;
use crate::heap::{Holder, Lock, ObjectKind, Snapshot, TokenState};
use crate::machine::{COMMON, Machine, OldState};
use crate::value::{Level, Ref, Seq, Value};

impl Machine<'_> {
    /// Some value of a type.
    pub(crate) fn choose_value(&mut self, ty: &Type) -> Value {
        match ty {
            Type::Int => {
                let hints = self.hints.clone();
                if hints.is_empty() {
                    let size = self.bounds.integers;
                    let choice = self.choices.choose(2 * size as u32 + 1, About::Value);
                    return Value::Int(i64::from(choice) - size);
                }
                let choice = self.choices.choose(hints.len() as u32, About::Value);
                Value::Int(hints[choice as usize])
            }
            Type::Bool => Value::Bool(self.choices.choose(2, About::Value) == 1),
            Type::Seq(element) => {
                let values = self.choose_elements(element);
                Value::Seq(Seq::Items(values.into()))
            }
            Type::Set(element) => Value::set(self.choose_elements(element)),
            Type::Class(class) => self.choose_object(ObjectKind::Class(index(*class)), true),
            Type::Channel(channel) => {
                self.choose_object(ObjectKind::Channel(index(*channel)), true)
            }
            Type::Token(method) => self.choose_object(ObjectKind::Token(index(*method)), true),
            Type::String | Type::Null | Type::Mu | Type::Unknown => crate::code::default_value(ty),
        }
    }

    fn choose_elements(&mut self, element: &Type) -> Vec<Value> {
        let length = self.choices.choose(self.bounds.length + 1, About::Value);
        (0..length).map(|_| self.choose_value(element)).collect()
    }

    /// Null, a new object while there are few, or one that exists. Only a start may have new ones.
    pub(crate) fn choose_object(&mut self, kind: ObjectKind, null_first: bool) -> Value {
        let existing: Vec<Ref> = (0..self.heap.objects.len())
            .filter(|at| self.heap.objects[*at].kind == kind)
            .map(|at| Ref(at as u32))
            .collect();
        let is_new = |object: &&Ref| self.heap.object(**object).name.0 == u32::MAX;
        let generated = existing.iter().filter(is_new).count() as u32;
        let depth = self.bounds.objects.max(self.bounds.depth);
        let may_be_new = self.granting && generated < depth;
        let of = 1 + u32::from(may_be_new) + existing.len() as u32;
        let mut choice = self.choices.choose(of, About::Value);
        if may_be_new && choice < 2 && !null_first {
            choice = 1 - choice;
        }
        match choice {
            0 => Value::Null,
            1 if may_be_new => Value::Ref(self.new_object(kind)),
            other => Value::Ref(existing[other as usize - 1 - usize::from(may_be_new)]),
        }
    }

    /// An object whose contents are open; the environment has all permission to it.
    pub(crate) fn new_object(&mut self, kind: ObjectKind) -> Ref {
        let values = match kind {
            ObjectKind::Class(class) => {
                let class = &self.code.classes[class as usize];
                let of = |at: usize| {
                    if at <= class.declared { Value::Open } else { Value::Set([].into()) }
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
            let kappa = self.fractions.fresh(None);
            let before = Snapshot { epoch: 0, held: std::sync::Arc::default() };
            let state = TokenState { method, thread: None, slots, kappa, before };
            self.heap.extra_mut(object).token = Some(state);
        }
        object
    }

    /// The value that an open cell turns out to have.
    pub(crate) fn decide(&mut self, object: Ref, cell: u32) -> Res<Value> {
        let value = match self.heap.object(object).kind {
            ObjectKind::Class(_) if cell == 0 => return self.decide_level(object),
            ObjectKind::Class(class) => {
                let code = self.code;
                let ty = &code.classes[class as usize].cells[cell as usize];
                self.choose_value(ty)
            }
            ObjectKind::Channel(_) => Value::Level(Level::BOTTOM),
            ObjectKind::Token(_) => Value::Bool(self.choices.choose(2, About::Value) == 0),
        };
        self.heap.decide(object, cell, value.clone());
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

    /// Gives what is still open the values that everything has that nobody chose, unless these are to be decisions.
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
