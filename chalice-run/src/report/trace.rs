//! Traces: what each step did, and what moved.

use serde_json::json;

use super::json::{object, place};
use crate::machine::{Machine, TraceLine};
use crate::sources::Sources;

/// Returns a trace as text, a step a line: so many of each thread, the last ones.
pub fn text(sources: &Sources, machine: &Machine<'_>, last: usize) -> String {
    let mut text = String::new();
    let mut left: Vec<usize> = vec![0; machine.threads.len()];
    machine.trace.iter().for_each(|step| left[step.thread as usize] += 1);
    for step in &machine.trace {
        let left = &mut left[step.thread as usize];
        *left -= 1;
        if *left >= last {
            continue;
        }
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

/// Returns a trace for programs, an object a line.
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
        text.push_str(&object!({
            "v": 1, "type": "trace", "step": step.step, "thread": thread(machine, step),
            "file": sources.place(step.span.start).file,
            "at": place(sources, step.span.start), "op": step.what,
            "object": step.object.map(|object| machine.name(object)), "moved": moved,
            "clock": step.clock,
        }));
    }
    text
}

fn thread(machine: &Machine<'_>, step: &TraceLine) -> String {
    machine.path_text(step.thread as usize)
}

/// Everything in the heap: values, and who holds what; then the threads, what they hold and where
/// they are.
pub fn state(sources: &Sources, machine: &Machine<'_>) -> String {
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
    for thread in 0..machine.threads.len() {
        text.push_str(&running(sources, machine, thread));
    }
    text
}

/// Returns where a thread is, what it holds, and which methods it is in, innermost first.
fn running(sources: &Sources, machine: &Machine<'_>, number: usize) -> String {
    let thread = &machine.threads[number];
    let at = sources.place(thread.place.start);
    let place = if thread.stack.is_empty() {
        "has ended".to_owned()
    } else {
        format!("at {}:{}", at.line, at.column)
    };
    let mut text = format!("thread {} {place}\n", machine.path_text(number));
    for held in &*thread.held {
        let how = if held.write { "holds" } else { "holds for reading" };
        text.push_str(&format!("  {how} {}\n", machine.name(held.object)));
    }
    for activation in thread.stack.iter().rev().take(SHOWN) {
        let method = &machine.code.methods[activation.method as usize];
        let named = method.frame.names.iter().zip(&activation.slots);
        let values = named.filter_map(|(name, value)| {
            Some(format!("{} = {}", name.as_ref()?, machine.value_text(value)))
        });
        let values: Vec<_> = values.collect();
        text.push_str(&format!("  in {}: {}\n", method.name, values.join(", ")));
    }
    if thread.stack.len() > SHOWN {
        text.push_str(&format!("  and {} more\n", thread.stack.len() - SHOWN));
    }
    text
}

/// The number of shown methods that a thread is in.
const SHOWN: usize = 20;

fn shares(machine: &Machine<'_>, parts: &[(crate::heap::Holder, crate::amount::Amount)]) -> String {
    let shares =
        parts.iter().map(|(holder, amount)| format!("{amount} {}", machine.holder(*holder)));
    shares.collect::<Vec<_>>().join(", ")
}
