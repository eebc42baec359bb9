//! Objects, locations, holders and values in words.

use crate::generate::Head;
use crate::heap::{Holder, Loc, ObjectKind, Part};
use crate::machine::{Activation, World};
use crate::value::{Level, Ref, Value};

impl World<'_> {
    /// Returns a name of an object that does not depend on what other threads do: its class and its
    /// number among the objects that its thread has made.
    pub fn name(&self, object: Ref) -> String {
        let Some(found) = self.heap.get(object) else { return "no object".to_owned() };
        let kind = match found.kind {
            ObjectKind::Class(class) => self.code.classes[class as usize].name.clone(),
            ObjectKind::Channel(channel) => self.code.channels[channel as usize].name.clone(),
            ObjectKind::Token(method) => {
                format!("token<{}>", self.code.methods[method as usize].name)
            }
        };
        let (thread, number) = found.name;
        match self.threads.get(thread as usize) {
            Some(maker) if maker.forked.is_some() => {
                format!("{kind}#{}:{number}", self.path_text(thread as usize))
            }
            Some(_) => format!("{kind}#{number}"),
            None => format!("{kind}#start:{number}"),
        }
    }

    /// Returns the path of a thread: the numbers of forks that lead to it, between dots. Nothing if
    /// there is no such thread.
    pub(crate) fn path_text(&self, thread: usize) -> String {
        let mut numbers = Vec::new();
        let mut next = self.threads.get(thread);
        while let Some(thread) = next {
            numbers.push(thread.sibling.to_string());
            next = thread.forked.and_then(|(forker, _)| self.threads.get(forker as usize));
        }
        numbers.reverse();
        numbers.join(".")
    }

    /// Returns a location: object and field, or predicate.
    pub fn location(&self, loc: Loc) -> String {
        let object = self.name(loc.object);
        let Some(found) = self.heap.get(loc.object) else { return object };
        match (loc.part, found.kind) {
            (Part::Predicate(predicate), _) => {
                format!("{object}.{}", self.code.predicates[predicate as usize].name)
            }
            (Part::Cell(cell), ObjectKind::Class(class)) => {
                let class = &self.code.classes[class as usize];
                format!("{object}.{}", class.cell_names[cell as usize])
            }
            (Part::Cell(_), ObjectKind::Channel(_)) => format!("{object}.mu"),
            (Part::Cell(_), ObjectKind::Token(_)) => format!("{object}.joinable"),
        }
    }

    /// Returns the name of a holder.
    pub fn holder(&self, holder: Holder) -> String {
        let of_method = |number: u32| {
            let method = self.frames.get(number as usize).copied().unwrap_or_default();
            self.code.methods[method as usize].name.clone()
        };
        match holder {
            Holder::Environment => "what is around the program".to_owned(),
            Holder::Frame(number) => match self.running(holder) {
                Some(thread) => format!("thread {thread}, {}", of_method(number)),
                None => format!("nobody any more: {} has left it behind", of_method(number)),
            },
            Holder::Loop(number) => match self.running(holder) {
                Some(thread) => format!("thread {thread}, a loop of {}", of_method(number)),
                None => {
                    format!("nobody any more: a loop of {} has left it behind", of_method(number))
                }
            },
            Holder::Monitor(object) => format!("the monitor of {}", self.name(object)),
            Holder::Instance(object, predicate) => {
                let loc = Loc { object, part: Part::Predicate(predicate) };
                format!("the folded predicate {}", self.location(loc))
            }
            Holder::Message(_) => "a message on its way".to_owned(),
            Holder::Token(token) => format!("{}, until it is joined", self.name(token)),
            Holder::Freed => "nobody: the object is freed".to_owned(),
            Holder::Nobody => "nobody".to_owned(),
        }
    }

    /// Returns the name of a holder at some time of the run, as the trace shows it: there the
    /// thread stands beside it.
    pub(crate) fn holder_then(&self, holder: Holder) -> String {
        let (number, prefix) = match holder {
            Holder::Frame(number) => (number, ""),
            Holder::Loop(number) => (number, "a loop of "),
            other => return self.holder(other),
        };
        let method = self.frames.get(number as usize).copied().unwrap_or_default();
        format!("{prefix}{}", self.code.methods[method as usize].name)
    }

    /// Returns the thread that a holder is an activation or loop of, if it is still running.
    fn running(&self, holder: Holder) -> Option<String> {
        let has = |thread: &&crate::machine::Thread| {
            thread.stack.iter().any(|activation| {
                activation.holder == holder
                    || activation.loops.iter().any(|inner| inner.holder == holder)
            })
        };
        self.threads.iter().position(|thread| has(&thread)).map(|thread| self.path_text(thread))
    }

    /// Since when a holder has what it has, if that is known.
    pub fn since(&self, holder: Holder) -> Option<chalice::Span> {
        match holder {
            Holder::Monitor(object) => self.heap.lock(object).map(|lock| lock.since),
            Holder::Instance(object, predicate) => {
                let instances = &self.heap.get(object)?.instances;
                instances.iter().find(|one| one.predicate == predicate).map(|one| one.since)
            }
            Holder::Frame(_) => {
                let thread = self.threads.iter().find(|thread| thread.root == holder)?;
                thread.forked.map(|(_, span)| span)
            }
            _ => None,
        }
    }

    /// Returns a value.
    pub(crate) fn value_text(&self, value: &Value) -> String {
        match value {
            Value::Int(number) => number.to_string(),
            Value::Big(number) => number.to_string(),
            Value::Bool(truth) => truth.to_string(),
            Value::Text(text) => format!("{text:?}"),
            Value::Null => "null".to_owned(),
            Value::Ref(object) => self.name(*object),
            Value::Seq(_) => format!("[{}]", self.elements_text(value)),
            Value::Set(_) => format!("{{{}}}", self.elements_text(value)),
            Value::Level(Level::BOTTOM) => "lockbottom".to_owned(),
            Value::Level(_) => "a level".to_owned(),
            Value::Open | Value::Unset(_) => "any value".to_owned(),
        }
    }

    /// Returns a start in words: receiver, arguments, and the fields that have values.
    pub fn start_text(&self) -> String {
        let Some(activation) = self.threads.first().and_then(|thread| thread.stack.first()) else {
            return String::new();
        };
        let slots = 0..=self.code.methods[activation.method as usize].parameters as u32;
        self.state_text(activation, slots).join(", ")
    }

    /// Returns the state at the head of a loop, in words: variables and fields that have a value,
    /// and fields that had another one at the start of the method.
    pub fn head_text(&self, head: &Head) -> String {
        let Some(activation) = self.threads.first().and_then(|thread| thread.stack.first()) else {
            return String::new();
        };
        let mut parts = self.state_text(activation, head.described());
        for (at, object) in self.heap.objects.iter().enumerate() {
            for (cell, content) in object.cells.iter().enumerate() {
                let (object, number) = (Ref(at as u32), cell as u32);
                let old = self.heap.value_at(object, number, activation.entry.epoch);
                if *old != content.value {
                    let location = self.location(Loc { object, part: Part::Cell(number) });
                    parts.push(format!("old({location}) = {}", self.value_text(old)));
                }
            }
        }
        parts.join(", ")
    }

    fn state_text(&self, activation: &Activation, slots: impl Iterator<Item = u32>) -> Vec<String> {
        let method = &self.code.methods[activation.method as usize];
        let mut parts = Vec::new();
        for slot in slots.map(|slot| slot as usize) {
            let name = match &method.frame.names[slot] {
                Some(name) if slot > 0 => name.as_str(),
                _ => "this",
            };
            parts.push(format!("{name} = {}", self.value_text(&activation.slots[slot])));
        }
        for (at, object) in self.heap.objects.iter().enumerate() {
            for (cell, content) in object.cells.iter().enumerate() {
                if content.value != Value::Open {
                    let part = Part::Cell(cell as u32);
                    let location = self.location(Loc { object: Ref(at as u32), part });
                    parts.push(format!("{location} = {}", self.value_text(&content.value)));
                }
            }
        }
        parts
    }

    fn elements_text(&self, value: &Value) -> String {
        let mut texts: Vec<_> =
            value.elements().take(20).map(|one| self.value_text(&one)).collect();
        if value.elements().nth(20).is_some() {
            texts.push("…".to_owned());
        }
        texts.join(", ")
    }
}
