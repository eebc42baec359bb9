//! Traces: what each step did, and what moved.

use serde_json::json;

use super::json::{line, place};
use crate::machine::{Machine, TraceLine};
use crate::sources::Sources;

/// A trace as text, a step a line.
pub fn text(sources: &Sources, machine: &Machine<'_>, last: usize) -> String {
    let mut text = String::new();
    let first = machine.trace.len().saturating_sub(last);
    for step in &machine.trace[first..] {
        let at = sources.place(step.span.start);
        let object = step.object.map(|object| format!(" {}", machine.name(object)));
        let moved: Vec<_> = step
            .moved
            .iter()
            .map(|(loc, amount, from, to)| {
                format!(
                    "{} ({amount}) from {} to {}",
                    machine.location(*loc),
                    machine.holder_then(*from),
                    machine.holder_then(*to)
                )
            })
            .collect();
        let moved =
            if moved.is_empty() { String::new() } else { format!(": {}", moved.join("; ")) };
        text.push_str(&format!(
            "{}  {}  {}:{}  {}{}{moved}\n",
            step.step,
            thread(machine, step),
            at.line,
            at.column,
            step.what,
            object.unwrap_or_default(),
        ));
    }
    text
}

/// A trace for programs, an object a line.
pub fn json(sources: &Sources, machine: &Machine<'_>) -> String {
    let mut text = String::new();
    for step in &machine.trace {
        let moved: Vec<_> = step
            .moved
            .iter()
            .map(|(loc, amount, from, to)| {
                json!({
                    "location": machine.location(*loc), "amount": amount.to_string(),
                    "from": machine.holder_then(*from), "to": machine.holder_then(*to),
                })
            })
            .collect();
        text.push_str(&line(&json!({
            "v": 1, "type": "trace", "step": step.step, "thread": thread(machine, step),
            "file": sources.place(step.span.start).file,
            "at": place(sources, step.span.start), "op": step.what,
            "object": step.object.map(|object| machine.name(object)), "moved": moved,
        })));
    }
    text
}

fn thread(machine: &Machine<'_>, step: &TraceLine) -> String {
    machine.path_text(step.thread as usize)
}

/// Everything in the heap: values, and who holds what.
pub fn state(machine: &Machine<'_>) -> String {
    let mut text = String::new();
    for (at, object) in machine.heap.objects.iter().enumerate() {
        let reference = crate::value::Ref(at as u32);
        text.push_str(&format!("{}\n", machine.name(reference)));
        for (cell, content) in object.cells.iter().enumerate() {
            let part = crate::heap::Part::Cell(cell as u32);
            let location = machine.location(crate::heap::Loc { object: reference, part });
            let value = machine.value_text(&content.value);
            let parts = content.holdings.parts();
            text.push_str(&format!("  {location} = {value}  ({})\n", shares(machine, &parts)));
        }
        for instance in &object.instances {
            let parts = instance.holdings.parts();
            if !parts.is_empty() {
                let part = crate::heap::Part::Predicate(instance.predicate);
                let location = machine.location(crate::heap::Loc { object: reference, part });
                text.push_str(&format!("  {location}  ({})\n", shares(machine, &parts)));
            }
        }
    }
    text
}

fn shares(machine: &Machine<'_>, parts: &[(crate::heap::Holder, crate::amount::Amount)]) -> String {
    let shares =
        parts.iter().map(|(holder, amount)| format!("{amount} {}", machine.holder(*holder)));
    shares.collect::<Vec<_>>().join(", ")
}
