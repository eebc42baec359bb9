//! The start of an emitted program: the state that a machine has before its first statement.

use chalice::Span;

use super::exprs::{constant, valued};
use super::{Emitter, Member, Out, Ty, refuse};
use crate::amount::{Amount, Kappa};
use crate::heap::{Holder, Object, ObjectKind};
use crate::machine::Machine;
use crate::value::{Level, Value};

/// Names, in a refusal, the parts of a start that cannot be emitted.
const BEYOND: &str = "a start with locks, tokens, messages or permission of this kind";

impl Emitter<'_> {
    pub(super) fn start(&mut self, at: usize, machine: &Machine<'_>) -> Out<String> {
        let code = self.code;
        let thread = &machine.threads[0];
        let Some(entry) = thread.stack.first() else { return Ok(String::new()) };
        let method = &code.methods[entry.method as usize];
        let number = entry.method;
        self.need(Member::Method(number));
        if machine.threads.len() > 1 || !thread.held.is_empty() || !method.opened.is_empty() {
            return refuse(method.span, BEYOND);
        }
        let mut text = format!("t.begin({});\n", method.has_read_fraction);
        for (at, object) in machine.heap.objects.iter().enumerate() {
            text.push_str(&self.existing(at, object, method.span)?);
        }
        for (at, object) in machine.heap.objects.iter().enumerate() {
            for (cell, content) in object.cells.iter().enumerate() {
                let value = started(&content.value, method.span)?;
                text.push_str(&format!("o{at}.set({cell}, {value});\n"));
                for (holder, amount) in content.holdings.parts() {
                    let part = format!("Part::Cell({cell})");
                    let whose = (holder, entry.holder, entry.kappa);
                    text.push_str(&self.held(at, &part, whose, &amount, method.span)?);
                }
            }
            for instance in &object.instances {
                for (holder, amount) in instance.holdings.parts() {
                    let part = format!("Part::Predicate({})", instance.predicate);
                    let whose = (holder, entry.holder, entry.kappa);
                    text.push_str(&self.held(at, &part, whose, &amount, method.span)?);
                }
            }
        }
        let (mut lent, mut owned) = (String::new(), String::new());
        for slot in 0..=method.parameters {
            let ty = Self::ty(&method.frame, slot as u32);
            let value = match (ty, &entry.slots[slot]) {
                (Ty::Value, value) => started(value, method.span)?,
                (_, value) => constant(value, method.span)?,
            };
            text.push_str(&format!("let a{slot} = {value};\n"));
            lent.push_str(&format!(", {}a{slot}", if ty == Ty::Value { "&" } else { "" }));
            owned.push_str(&format!(", a{slot}"));
        }
        let first = method.parameters + 1;
        let results: Vec<_> = (0..method.results)
            .map(|at| {
                let slot = first + at;
                let name = method.frame.names[slot].as_deref().unwrap_or_default();
                let ty = Self::ty(&method.frame, slot as u32);
                format!("({name:?}, {})", valued(&format!("r.{at}"), ty))
            })
            .collect();
        Ok(format!(
            "fn start{at}(t: &mut Thread) -> Res<Started> {{\n{text}let past = old{number}(t{lent});\n\
             let r = m{number}(t, past{owned})?;\nOk(vec![{}])\n}}\n",
            results.join(", ")
        ))
    }

    /// Returns an object that is there, with cells that get their values later.
    fn existing(&mut self, at: usize, object: &Object, span: Span) -> Out<String> {
        let kind = match object.kind {
            ObjectKind::Class(class) => {
                self.need(Member::Class(class));
                format!("CLASS{class}")
            }
            ObjectKind::Channel(channel) => {
                self.need(Member::Channel(channel));
                format!("CHANNEL{channel}")
            }
            ObjectKind::Token(_) => return refuse(span, BEYOND),
        };
        let is_busy = object.extra.as_ref().is_some_and(|extra| {
            let channel = &extra.channel;
            extra.lock.is_some() || !channel.queue.is_empty() || !channel.credits.is_empty()
        });
        if is_busy {
            return refuse(span, BEYOND);
        }
        let cells = vec!["Value::Null"; object.cells.len()].join(", ");
        Ok(format!("let o{at} = t.existing(&{kind}, vec![{cells}]);\n"))
    }

    /// Permission that somebody holds.
    fn held(
        &mut self,
        at: usize,
        part: &str,
        (holder, entry, kappa): (Holder, Holder, Kappa),
        amount: &Amount,
        span: Span,
    ) -> Out<String> {
        if !self.checks {
            return Ok(String::new());
        }
        let text = if amount.is_full() {
            "Amount::FULL".to_owned()
        } else if *amount == Amount::read(kappa) {
            "Amount::read(t.kappa())".to_owned()
        } else if *amount == Amount::number(amount.rational()) {
            let number = amount.rational().to_string();
            let (above, below) = number.split_once('/').unwrap_or((&number, "1"));
            format!("Amount::number(Rational::new({above}, {below}))")
        } else if holder == Holder::Environment {
            return Ok(String::new());
        } else {
            return refuse(span, BEYOND);
        };
        match holder {
            Holder::Environment => Ok(String::new()),
            _ if holder == entry => Ok(format!("t.hold(&o{at}, {part}, &{text});\n")),
            Holder::Instance(object, predicate) => Ok(format!(
                "t.hold_inside((&o{}, {predicate}), &o{at}, {part}, &{text});\n",
                object.0
            )),
            _ => refuse(span, BEYOND),
        }
    }
}

/// Returns a value, which may refer to objects that are there.
fn started(value: &Value, span: Span) -> Out<String> {
    Ok(match value {
        Value::Ref(object) => format!("Value::Ref(o{}.clone())", object.0),
        Value::Unset(inner) => started(inner, span)?,
        Value::Level(level) if *level != Level::BOTTOM => return refuse(span, BEYOND),
        Value::Seq(_) | Value::Set(_) => {
            let all: Out<Vec<_>> = value.elements().map(|one| started(&one, span)).collect();
            let name = if matches!(value, Value::Seq(_)) { "seq" } else { "set" };
            format!("Value::{name}(vec![{}])", all?.join(", "))
        }
        value => valued(&constant(value, span)?, Ty::of(value)),
    })
}
