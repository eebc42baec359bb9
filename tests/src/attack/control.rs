//! Statements with others inside, calls, and what a run comes back to: labels and wands.

use crate::concrete::{Run, Value};

use super::program::{Formal, PROBE, Step};
use super::statements::{Generator, type_of};

impl<'d> Generator<'d> {
    pub(super) fn label(&mut self) -> bool {
        if self.nested > 0 {
            return false;
        }
        self.made += 1;
        let label = format!("l{}", self.made);
        let done = self.push(&format!("label {label}"));
        if done {
            self.labels.push(format!("[{label}]"));
        }
        done
    }

    /// A Boolean parameter that nothing mentions.
    pub(super) fn fresh(&mut self, value: bool) -> String {
        self.made += 1;
        let name = format!("b{}", self.made);
        self.formals.push(Formal { name: name.clone(), ty: "Bool", decides: true });
        self.start.store.insert(name.as_str().into(), Value::Bool(value));
        self.run.state.store.insert(name.as_str().into(), Value::Bool(value));
        name
    }

    /// Statements of a nested block, made from here on.
    pub(super) fn block(&mut self, length: usize) -> Vec<String> {
        self.nested += 1;
        let start = self.steps.len();
        for _ in 0..length * 5 {
            if self.steps.len() >= start + length {
                break;
            }
            self.step();
        }
        self.nested -= 1;
        let texts = self.steps.split_off(start).into_iter().filter_map(|step| match step {
            Step::Statement(text) => Some(text),
            Step::Change { .. } => None,
        });
        texts.collect()
    }

    pub(super) fn branch(&mut self) -> bool {
        if self.nested > 1 {
            return false;
        }
        let known = self.known.len();
        let before = self.run.clone();
        let mut decides = None;
        let (length, other_length) = (1 + self.pick.below(3), self.pick.below(3));
        let text = if self.pick.chance(35) {
            let Some(condition) = self.term("Bool", 1) else { return false };
            match self.value(&condition) {
                Some(Value::Bool(true)) => {
                    let taken = self.block(length);
                    format!("if ({condition}) {}", braces(&taken))
                }
                Some(Value::Bool(false)) => {
                    let taken = self.block(length);
                    format!("if ({condition}) {{\n}} else {}", braces(&taken))
                }
                _ => return false,
            }
        } else {
            let name = self.fresh(true);
            let start = self.run.clone();
            let taken = self.block(length);
            let after = std::mem::replace(&mut self.run, start);
            // The other side is a run as well: that of the other value. What the first has declared
            // is not there.
            self.known.truncate(known);
            self.run.state.store.insert(name.as_str().into(), Value::Bool(false));
            let mut other = self.block(other_length);
            self.run = after;
            match self.pick.below(10) {
                0..=2 => other.push(PROBE.into()),
                3..=5 => other.push("inhale false".into()),
                _ => {}
            }
            decides = Some(name.clone());
            format!("if ({name}) {} else {}", braces(&taken), braces(&other))
        };
        let done = self.again(before, &text, known);
        if let Some(name) = decides
            && done
            && (self.told || self.pick.chance(50))
        {
            self.say(&name);
        }
        done
    }

    /// Goes back and executes as one statement what was made in parts.
    pub(super) fn again(&mut self, before: Run<'d>, text: &str, known: usize) -> bool {
        let mut before = before;
        // Parameters that were made in the meantime are there from the start.
        for formal in &self.formals {
            if let Some(value) = self.start.store.get(&*formal.name) {
                before.state.store.insert(formal.name.as_str().into(), value.clone());
            }
        }
        let after = std::mem::replace(&mut self.run, before);
        // Facts from inside are known there only.
        self.known.truncate(known);
        self.pinned
            .retain(|name| self.known.iter().any(|fact| fact.starts_with(&format!("{name} =="))));
        drop(after);
        self.push(text)
    }

    pub(super) fn repeat(&mut self) -> bool {
        if self.nested > 0 {
            return false;
        }
        self.made += 1;
        let counter = format!("k{}", self.made);
        let rounds = self.pick.below(3);
        let known = self.known.len();
        if !self.push(&format!("var {counter}: Int := 0")) {
            return false;
        }
        let mut invariants = vec![format!("0 <= {counter} && {counter} <= {rounds}")];
        for _ in 0..self.pick.below(4) {
            let Some((location, held)) = self.held() else { break };
            let Some(portion) = self.portion(&held) else { continue };
            invariants.push(format!("acc({location}, {portion})"));
            if let Some(fact) = self.pick.text(&self.known.clone())
                && self.is_true(&fact)
                && self.pick.chance(50)
            {
                invariants.push(fact);
            }
        }
        invariants.retain(|text| !text.contains("perm("));
        let before = self.run.clone();
        let exprs: Result<Vec<_>, _> =
            invariants.iter().map(|text| crate::concrete::expression(text)).collect();
        let head = |body: &[String]| {
            let mut text = format!("while ({counter} < {rounds})\n");
            for invariant in &invariants {
                text.push_str(&format!("  invariant {invariant}\n"));
            }
            text + &braces(body)
        };
        let inside = exprs.is_ok_and(|exprs| self.run.give(&exprs).is_ok());
        let mut body = if inside && rounds > 0 {
            let length = 1 + self.pick.below(3);
            self.block(length)
        } else {
            Vec::new()
        };
        if rounds > 0 && self.pick.chance(50) {
            let probe = self.fresh(false);
            body.push(format!("if ({probe}) {{\n  {PROBE}\n}}"));
        }
        body.push(format!("{counter} := {counter} + 1"));
        self.again(before, &head(&body), known)
    }

    pub(super) fn call(&mut self) -> bool {
        let methods = self.methods.clone();
        let Some(callee) = self.pick.one(&methods) else { return false };
        let mut arguments = Vec::new();
        for ty in callee.formals {
            let depth = u32::from(self.pick.chance(30));
            let Some(argument) = self.term(ty, depth) else {
                return false;
            };
            arguments.push(argument);
        }
        let call = format!("{}({})", callee.name, arguments.join(", "));
        self.pin(&call);
        let done = if callee.returns {
            if self.nested > 0 {
                return false;
            }
            self.made += 1;
            let name = format!("v{}", self.made);
            self.declare(&name, "Int") && self.push(&format!("{name} := {call}"))
        } else {
            self.push(&call)
        };
        if done {
            self.environment();
        }
        done
    }

    pub(super) fn local(&mut self) -> bool {
        let locals = self.locals.clone();
        if let Some(local) = self.pick.one(&locals)
            && (self.nested > 0 || self.pick.chance(40))
        {
            let Some(value) = self.term(local.ty, 1) else { return false };
            return self.push(&format!("{} := {value}", local.name));
        }
        if self.nested > 0 {
            return false;
        }
        let types: [&'static str; 4] = ["Int", "Perm", "Bool", "Set[Ref]"];
        let ty = types[self.pick.below(types.len())];
        let Some(value) = self.term(ty, 1) else { return false };
        self.made += 1;
        let name = format!("v{}", self.made);
        let done = self.declare(&name, ty) && self.push(&format!("{name} := {value}"));
        if done {
            self.known.push(format!("{name} == {value}"));
        }
        done
    }

    /// Declares a variable by a statement of its own: one that is not proved can be left out.
    fn declare(&mut self, name: &str, ty: &'static str) -> bool {
        let done = self.push(&format!("var {name}: {ty}"));
        if done {
            self.locals.push(Formal { name: name.to_owned(), ty, decides: false });
        }
        done
    }

    pub(super) fn allocate(&mut self) -> bool {
        if self.nested > 0 {
            return false;
        }
        self.made += 1;
        let name = format!("o{}", self.made);
        let fields = self.pick.of(&["f", "f, g", "f, n, fp", "*"]);
        let done = self.declare(&name, "Ref") && self.push(&format!("{name} := new({fields})"));
        if done {
            self.known.push(format!("{name} != x"));
        }
        done
    }

    /// A wand whose right-hand side follows from its left-hand side and what is held, whatever the
    /// values.
    pub(super) fn package(&mut self) -> bool {
        if self.nested > 0 {
            return false;
        }
        if self.pick.chance(25) {
            return self.package_instance();
        }
        let Some((own, held)) = self.held() else { return false };
        let Some(portion) = self.portion(&held) else { return false };
        let plain = !portion.contains('.') && !portion.contains("perm") && portion != "wildcard";
        if !immutable(&own) || !plain || !immutable(&portion) {
            return false;
        }
        self.pin(&portion);
        let mut right = vec![format!("acc({own}, {portion})")];
        let mut left = vec!["true".to_owned()];
        if self.pick.chance(60)
            && let Some(location) = self.location(&["f", "g"])
            && immutable(&location)
        {
            let share = self.pick.of(&["1/4", "1/2", "none"]);
            left = vec![format!("acc({location}, {share})")];
            right.insert(0, left[0].clone());
            if share != "none" && self.pick.chance(40) {
                right.push(format!("{location} == old[lhs]({location})"));
            }
        }
        if type_of(&own) == Some("Int")
            && let Some(Value::Int(value)) = self.value(&own)
            && self.is_true(&format!("none < {portion}"))
            && self.pick.chance(50)
            && self.known.contains(&format!("{own} == {value}"))
        {
            right.push(format!("{own} == {value}"));
        }
        let wand = format!("{} --* {}", left.join(" && "), right.join(" && "));
        // The value of what is held need not be what it was.
        let done = !wand.contains("perm(") && self.push(&format!("package {wand}"));
        if done {
            self.wands.push(wand);
        }
        done
    }

    /// A wand that folds an instance of a predicate.
    fn package_instance(&mut self) -> bool {
        let Some(instance) = self.instance() else { return false };
        if instance.contains('.') || instance.contains("perm(") || !immutable(&instance) {
            return false;
        }
        self.pin(&instance);
        let share = self.share();
        let access = format!("acc({instance}, {share})");
        let wand = format!("true --* {access}");
        let done = self.push(&format!("package {wand} {{\n  fold {access}\n}}"));
        if done {
            self.folded.push(instance);
            self.wands.push(wand);
        }
        done
    }

    pub(super) fn apply(&mut self) -> bool {
        let wands = self.wands.clone();
        let Some(wand) = self.pick.text(&wands) else { return false };
        let done = self.push(&format!("apply {wand}"));
        if done && self.nested == 0 {
            self.wands.retain(|one| *one != wand);
        }
        done
    }
}

fn braces(statements: &[String]) -> String {
    let mut text = String::from("{\n");
    for statement in statements {
        for line in statement.lines() {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text + "}"
}

/// Tells whether a text means the same for the rest of the method: no variable in it is assigned,
/// and no field on the way to another read.
fn immutable(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '.');
    let changes = |word: &str| {
        ["v", "k", "o"].iter().any(|start| {
            word.strip_prefix(start)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        }) || word.contains(".n.")
    };
    !words.into_iter().any(changes) && text.matches('.').count() <= 1
}
