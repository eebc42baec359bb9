//! Starts in the middle of a method: at the head of a loop, in a state that a prover has described.
//!
//! The prover forgets at the head of a loop what came before. A state there is one that the
//! invariants allow, whether or not an execution reaches it. So a run from there that goes wrong
//! says that the invariants are too weak. The machine enters the loop by itself: that the
//! invariants hold is checked, and not taken from the prover. Only what folded predicates contain
//! is chosen, as for other starts; all else is as it was described, or there is no start.

mod scope;
#[cfg(test)]
mod tests;
mod text;

pub use text::{HeadText, Location, Share};

use std::collections::BTreeMap;

use chalice::Span;
use chalice::program::Type;

use super::{Model, ModelValue};
use crate::amount::{Amount, Kappa, Rational};
use crate::code::{Code, Op, index};
use crate::fault::Res;
use crate::heap::{Holder, Loc, ObjectKind, Part, Snapshot};
use crate::machine::{Evaluator, LoopState, Rounds, Scope, World};
use crate::value::{Ref, Seq, Value};

/// Why no start is made of what was described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// The method has no such loop.
    NoLoop,
    /// The method uses something of which such a description says nothing.
    Uses(&'static str),
    /// Two variables of the method have this name.
    Ambiguous(String),
    /// No variable, field or predicate has this name.
    Unknown(String),
    /// The receiver is not described.
    NoReceiver,
    /// The value of this cannot be of its type.
    Misfit(String),
    /// More than all permission to this would be held.
    TooMuch(String),
}

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoLoop => f.write_str("no loop of the method is there"),
            Self::Uses(what) => write!(f, "the method uses {what}"),
            Self::Ambiguous(name) => write!(f, "the method has two variables `{name}`"),
            Self::Unknown(name) => write!(f, "there is no `{name}`"),
            Self::NoReceiver => f.write_str("`this` is not described"),
            Self::Misfit(name) => write!(f, "`{name}` cannot have this value"),
            Self::TooMuch(name) => write!(f, "more than all of `{name}` would be held"),
        }
    }
}

/// A state at the head of a loop, ready to start in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The statement that enters the loop: its place in the body.
    pub site: u32,
    /// The loop.
    pub span: Span,
    /// The objects, by their numbers in the description, with their classes.
    objects: BTreeMap<u32, u32>,
    slots: Vec<(u32, ModelValue)>,
    cells: BTreeMap<(u32, u32), ModelValue>,
    held: BTreeMap<(u32, Part), (Rational, u32)>,
    old: Vec<((u32, u32), ModelValue)>,
    model: Model,
}

impl Head {
    /// Returns the state that a text describes.
    ///
    /// # Errors
    /// Why a method cannot be started in it.
    pub fn new(
        code: &Code,
        method: u32,
        is_at: impl Fn(Span) -> bool,
        text: &HeadText,
    ) -> Result<Self, Unfit> {
        scope::check(code, method).map_err(Unfit::Uses)?;
        let described = &code.methods[method as usize];
        let mut body = described.body.iter().zip(0..);
        let is_loop = |op: &Op| matches!(op, Op::LoopEnter(_));
        let (entering, site) =
            body.find(|(instr, _)| is_loop(&instr.op) && is_at(instr.span)).ok_or(Unfit::NoLoop)?;
        let mut head = Self {
            site,
            span: entering.span,
            objects: BTreeMap::new(),
            slots: Vec::new(),
            cells: BTreeMap::new(),
            held: BTreeMap::new(),
            old: Vec::new(),
            model: Model::default(),
        };
        head.add_variables(code, method, text)?;
        for (location, share, value) in &text.held {
            head.add_held(code, location, share, value.as_ref())?;
        }
        for (location, value) in &text.old {
            let (object, cell, ty) = head.cell(code, location)?;
            head.fits(value, ty).ok_or_else(|| Unfit::Misfit(location.to_string()))?;
            head.old.push(((object, cell), value.clone()));
        }
        Ok(head)
    }

    fn add_variables(&mut self, code: &Code, method: u32, text: &HeadText) -> Result<(), Unfit> {
        let described = &code.methods[method as usize];
        let written = crate::step::written_in(&described.body);
        let own = described.parameters + described.results;
        for (name, value) in &text.variables {
            let misfit = || Unfit::Misfit(name.clone());
            if name == "this" {
                let ModelValue::Object(number) = value else { return Err(misfit()) };
                self.add_object(*number, described.class).ok_or_else(misfit)?;
                self.model.receiver = Some(*number);
                self.slots.push((0, value.clone()));
                continue;
            }
            // Variables that quantifiers bind have slots, too.
            let is_it = |slot: &u32| {
                described.frame.names[*slot as usize].as_deref() == Some(name)
                    && (*slot as usize <= own || written.contains(slot))
            };
            let slots: Vec<u32> = (1..described.frame.names.len() as u32).filter(is_it).collect();
            let [slot] = slots[..] else {
                let is_none = slots.is_empty();
                let unfit = if is_none { Unfit::Unknown } else { Unfit::Ambiguous };
                return Err(unfit(name.clone()));
            };
            let ty = described.frame.types[slot as usize].as_ref().ok_or_else(misfit)?;
            self.fits(value, ty).ok_or_else(misfit)?;
            self.slots.push((slot, value.clone()));
            self.model.arguments.insert(name.clone(), value.clone());
        }
        if self.model.receiver.is_some() { Ok(()) } else { Err(Unfit::NoReceiver) }
    }

    fn add_held(
        &mut self,
        code: &Code,
        location: &Location,
        share: &Share,
        value: Option<&ModelValue>,
    ) -> Result<(), Unfit> {
        let (object, part) = match value {
            Some(value) => {
                let (object, cell, ty) = self.cell(code, location)?;
                self.fits(value, ty).ok_or_else(|| Unfit::Misfit(location.to_string()))?;
                self.cells.insert((object, cell), value.clone());
                let place = (object, location.class.clone(), location.name.clone());
                self.model.fields.insert(place, value.clone());
                (object, Part::Cell(cell))
            }
            None => self.instance(code, location)?,
        };
        let (number, reads) =
            self.held.entry((object, part)).or_insert_with(|| (Rational::ZERO, 0));
        match share {
            Share::Number(share) => *number = number.plus(share),
            Share::Read => *reads += 1,
        }
        let left = Rational::ONE.minus(number);
        let is_enough = left.is_positive() || (left.is_zero() && *reads == 0);
        // Nobody can tell how often a predicate was folded.
        if is_enough || matches!(part, Part::Predicate(_)) {
            Ok(())
        } else {
            Err(Unfit::TooMuch(location.to_string()))
        }
    }

    /// Notes that there is an object, if its class is the same wherever it is spoken of.
    fn add_object(&mut self, number: u32, class: u32) -> Option<()> {
        (*self.objects.entry(number).or_insert(class) == class).then_some(())
    }

    fn object(&mut self, code: &Code, location: &Location) -> Result<(u32, u32), Unfit> {
        let class = code.classes.iter().position(|class| class.name == location.class);
        let class = class.ok_or_else(|| Unfit::Unknown(location.class.clone()))? as u32;
        let misfit = || Unfit::Misfit(location.to_string());
        self.add_object(location.object, class).ok_or_else(misfit)?;
        Ok((location.object, class))
    }

    fn cell<'c>(
        &mut self,
        code: &'c Code,
        location: &Location,
    ) -> Result<(u32, u32, &'c Type), Unfit> {
        let (object, class) = self.object(code, location)?;
        let class = &code.classes[class as usize];
        let names = class.cell_names.iter().take(class.declared + 1).skip(1);
        let cell = names.zip(1..).find(|(name, _)| **name == location.name);
        let (_, cell) = cell.ok_or_else(|| Unfit::Unknown(location.to_string()))?;
        Ok((object, cell, &class.cells[cell as usize]))
    }

    fn instance(&mut self, code: &Code, location: &Location) -> Result<(u32, Part), Unfit> {
        let (object, class) = self.object(code, location)?;
        let mut predicates = code.program.predicates.iter();
        let found = predicates
            .find(|(_, one)| one.name == location.name && index(one.class) == class)
            .ok_or_else(|| Unfit::Unknown(location.to_string()))?;
        Ok((object, Part::Predicate(index(found.0))))
    }

    /// Can a value be of a type? The objects that it speaks of are noted.
    fn fits(&mut self, value: &ModelValue, ty: &Type) -> Option<()> {
        match (value, ty) {
            (ModelValue::Int(_), Type::Int) | (ModelValue::Bool(_), Type::Bool) => Some(()),
            (ModelValue::Null, Type::Class(_) | Type::Null) => Some(()),
            (ModelValue::Object(number), Type::Class(class)) => {
                self.add_object(*number, index(*class))
            }
            (ModelValue::Elements(elements), Type::Seq(ty) | Type::Set(ty)) => {
                elements.iter().try_for_each(|element| self.fits(element, ty))
            }
            _ => None,
        }
    }

    /// Returns a model of a whole run, of which it is known what is there at the head of the loop.
    pub(crate) fn around(&self, whole: &Model) -> Model {
        let arguments = self.model.arguments.clone();
        Model { arguments, later: self.model.fields.clone(), ..whole.clone() }
    }

    /// Returns the description as a model that choices may follow.
    pub(super) fn model(&self) -> &Model {
        &self.model
    }

    /// Returns how many objects there are.
    pub(super) fn count(&self) -> u32 {
        self.objects.len() as u32
    }

    /// Returns the variables that are described, by slots.
    pub(crate) fn described(&self) -> impl Iterator<Item = u32> + '_ {
        self.slots.iter().map(|(slot, _)| *slot)
    }
}

/// The objects of a machine, by their numbers in a description.
type Objects = BTreeMap<u32, Ref>;

/// Returns the value that a description gives something of a type; it was looked at before.
fn value_of(value: &ModelValue, ty: &Type, objects: &Objects) -> Value {
    match (value, ty) {
        (ModelValue::Int(number), _) => Value::Int(*number),
        (ModelValue::Bool(truth), _) => Value::Bool(*truth),
        (ModelValue::Null, _) => Value::Null,
        (ModelValue::Object(number), _) => {
            objects.get(number).map_or(Value::Null, |it| Value::Ref(*it))
        }
        (ModelValue::Elements(elements), Type::Set(ty)) => {
            Value::set(elements.iter().map(|element| value_of(element, ty, objects)))
        }
        (ModelValue::Elements(elements), ty) => {
            let inner = if let Type::Seq(ty) = ty { ty } else { ty };
            let elements = elements.iter().map(|element| value_of(element, inner, objects));
            Value::Seq(Seq::Items(elements.collect()))
        }
    }
}

impl Evaluator<'_> {
    /// Makes a start at the head of a loop.
    ///
    /// # Errors
    /// [`crate::fault::Trouble::Contradiction`] if what was chosen for folded predicates does not
    /// fit.
    pub(crate) fn start_at(&mut self, method: u32, head: &Head) -> Res<()> {
        let code = self.code;
        let described = &code.methods[method as usize];
        self.granting = true;
        let objects: Objects = head
            .objects
            .iter()
            .map(|(number, class)| (*number, self.new_object(ObjectKind::Class(*class))))
            .collect();
        if let Some(following) = &mut self.following {
            objects.iter().for_each(|(number, object)| following.bind(*number, *object));
        }
        let mut slots = described.frame.initial.clone();
        for (slot, value) in &head.slots {
            let ty = described.frame.types[*slot as usize].as_ref().unwrap_or(&Type::Null);
            slots[*slot as usize] = value_of(value, ty, &objects);
        }
        for ((object, cell), value) in &head.cells {
            let value = self.value_at(value, head.objects[object], *cell, &objects);
            self.heap.decide(objects[object], *cell, value);
        }
        let frame = self.new_frame(method);
        let kappa = self.fractions.fresh(None);
        let entry = Snapshot { epoch: 0, held: std::sync::Arc::default(), permissions: None };
        let thread = self.new_thread(None, method, slots, frame, kappa, entry);
        self.scope = Scope::granting(Some(thread as u32), kappa);
        let around = described.loops.iter();
        let around = around.filter(|one| (one.head..one.exit).contains(&head.site)).count();
        for _ in 0..around {
            let holder = self.new_loop(method);
            let state = LoopState {
                holder,
                kappa: self.fractions.fresh(Some(kappa)),
                moved: Vec::new(),
                credits: Vec::new(),
                // The prover knows of no further one.
                is_any_iteration: true,
                rounds: Rounds::default(),
            };
            self.threads[thread].stack[0].loops.push(state);
        }
        let holder = self.threads[thread].stack[0].current().0;
        self.give_held(head, &objects, holder, kappa)?;
        self.granting = false;
        let entry = self.record(Some(thread));
        for ((object, cell), value) in &head.old {
            let value = self.value_at(value, head.objects[object], *cell, &objects);
            if self.heap.object(objects[object]).cells[*cell as usize].value != value {
                self.heap.had(objects[object], *cell, entry.epoch, value);
            }
        }
        let activation = &mut self.threads[thread].stack[0];
        activation.entry = entry;
        activation.pc = head.site;
        Ok(())
    }

    /// Gives somebody what is held at the head.
    fn give_held(
        &mut self,
        head: &Head,
        objects: &Objects,
        holder: Holder,
        kappa: Kappa,
    ) -> Res<()> {
        for ((object, part), (number, reads)) in &head.held {
            let (object, part) = (objects[object], *part);
            let mut amount = Amount::number(number.clone());
            for _ in 0..*reads {
                amount = amount.plus(&Amount::read(kappa));
            }
            if let Part::Predicate(predicate) = part {
                self.grant_instance(object, predicate, &amount)?;
            }
            let loc = Loc { object, part };
            self.heap.holdings_mut(loc).transfer(Holder::Environment, holder, &amount);
        }
        Ok(())
    }
}

impl World<'_> {
    /// Notes that nothing passes, as what comes before the loop is not executed.
    pub fn skip_what_comes_before(&mut self, head: Span) {
        self.skipped.insert((head, "start.assumed"), 1);
    }

    fn value_at(&self, value: &ModelValue, class: u32, cell: u32, objects: &Objects) -> Value {
        value_of(value, &self.code.classes[class as usize].cells[cell as usize], objects)
    }
}
