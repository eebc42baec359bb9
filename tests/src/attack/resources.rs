//! Statements that give, take, read and write.

use num_traits::One;

use crate::concrete::{Amount, Target, Value};

use super::assertions::{Grammar, Scope};
use super::members::FIELDS;
use super::program::Step;
use super::statements::{Generator, any, type_of};

impl Generator<'_> {
    pub(super) fn inhale_field(&mut self) -> bool {
        let fields = ["f", "f", "g", "g", "n", "fp", "fs", "fb", "fq"];
        let Some(location) = self.location(&fields) else { return false };
        let amount = if self.pick.chance(12) {
            "wildcard".into()
        } else if self.pick.chance(45) {
            self.pick.of(&["write", "1/2"]).to_owned()
        } else {
            match self.amount(1) {
                Some(amount) => amount,
                None => return false,
            }
        };
        self.pin(&amount);
        if !self.push(&format!("inhale acc({location}, {amount})")) {
            return false;
        }
        if type_of(&location) == Some("Perm") {
            self.say(&format!("none <= {location}"));
        }
        if self.told || self.pick.chance(50) {
            self.say_value(&location);
        }
        true
    }

    /// Says what a field is.
    fn say_value(&mut self, location: &str) {
        let Some(ty) = type_of(location) else { return };
        let Some(value) = self.value(location) else { return };
        let text = if self.told { self.literal_of(&value, ty) } else { self.text_of(&value, ty) };
        if let Some(text) = text
            && text != location
        {
            self.say(&format!("{location} == {text}"));
        }
    }

    /// A predicate with arguments.
    pub(super) fn instance(&mut self) -> Option<String> {
        if self.pick.chance(35)
            && let Some(again) = self.pick.text(&self.folded.clone())
        {
            return Some(again);
        }
        let predicates = self.predicates.clone();
        let predicate = self.pick.one(&predicates)?;
        let mut arguments = Vec::new();
        for ty in &predicate.formals {
            arguments.push(match *ty {
                "Perm" if self.pick.chance(40) => {
                    self.pick.of(&["none", "none", "1/2", "write"]).into()
                }
                "Perm" => self.amount(1)?,
                ty => {
                    let depth = u32::from(self.pick.chance(20));
                    self.term(ty, depth)?
                }
            });
        }
        Some(format!("{}({})", predicate.name, arguments.join(", ")))
    }

    pub(super) fn share(&mut self) -> &'static str {
        let shares = ["write", "write", "write", "1/2", "1/2", "1/2", "1/4", "1/4", "epsilon"];
        shares[self.pick.below(shares.len())]
    }

    /// Writes so much of an instance, in one of the ways to write it.
    fn instance_by(&mut self, instance: &str, share: &str) -> String {
        if self.pick.chance(25) {
            format!("{instance} by {share}")
        } else {
            format!("acc({instance}, {share})")
        }
    }

    pub(super) fn inhale_instance(&mut self) -> bool {
        let Some(instance) = self.instance() else { return false };
        let share = self.share();
        self.pin(&instance);
        let done = self.push(&format!("inhale acc({instance}, {share})"));
        if done {
            self.folded.push(instance);
        }
        done
    }

    /// Something that is held, as text, with how much.
    pub(super) fn held(&mut self) -> Option<(String, Amount)> {
        let all: Vec<(Target, Amount)> = self
            .run
            .state
            .heap
            .held()
            .map(|(target, amount)| (target.clone(), amount.clone()))
            .collect();
        let (target, amount) = self.pick.one(&all)?.clone();
        let text = match &target {
            Target::Field(object, field) => {
                let names = self.names_of(*object);
                format!("{}.{field}", self.pick.text(&names)?)
            }
            Target::Predicate(name, values) => {
                format!("{name}({})", self.instance_text(name, values)?)
            }
        };
        Some((text, amount))
    }

    /// An amount that is no more than what is held, mostly.
    pub(super) fn portion(&mut self, held: &Amount) -> Option<String> {
        match self.pick.below(6) {
            0 => Some("wildcard".into()),
            1 | 2 => self.amount(1),
            3 => self.literal_of(&Value::Perm(held / num_bigint::BigInt::from(2)), "Perm"),
            _ => self.text_of(&Value::Perm(held.clone()), "Perm"),
        }
    }

    pub(super) fn exhale(&mut self) -> bool {
        let Some((location, held)) = self.held() else { return false };
        let Some(portion) = self.portion(&held) else { return false };
        self.pin(&portion);
        let done = self.push(&format!("exhale acc({location}, {portion})"));
        if done {
            self.environment();
        }
        done
    }

    /// Lets somebody else write what nobody holds here.
    pub(super) fn environment(&mut self) {
        if self.nested > 0 {
            return;
        }
        let Ok(totals) = self.run.evaluator().totals(&self.run.state.heap) else { return };
        for object in 1..=self.run.state.objects {
            for (field, ty) in FIELDS {
                if self.pick.chance(50) && !totals.contains_key(&(object, field.into())) {
                    let value = any(&mut self.pick, ty);
                    let step = Step::Change { object, field: field.into(), value };
                    if step.execute(&mut self.run).is_ok() {
                        self.steps.push(step);
                    }
                }
            }
        }
    }

    /// A field that may be written.
    pub(super) fn writable(&mut self) -> Option<(String, &'static str)> {
        let full: Vec<(u32, String)> = self
            .run
            .state
            .heap
            .held()
            .filter_map(|(target, amount)| match target {
                Target::Field(object, field) if amount.is_one() => {
                    Some((*object, field.to_string()))
                }
                _ => None,
            })
            .collect();
        let (object, field) = self.pick.one(&full)?.clone();
        let names = self.names_of(object);
        let (_, ty) = FIELDS.into_iter().find(|(name, _)| *name == field)?;
        Some((format!("{}.{field}", self.pick.text(&names)?), ty))
    }

    pub(super) fn write(&mut self) -> bool {
        let Some((location, ty)) = self.writable() else { return false };
        let Some(value) = self.term(ty, 1) else { return false };
        if !self.push(&format!("{location} := {value}")) {
            return false;
        }
        if let Some(now) = self.value(&location) {
            let literal = self.literal_of(&now, ty);
            let simple = literal.filter(|literal| *literal == value).unwrap_or(value);
            if self.is_true(&format!("{location} == {simple}")) {
                self.known.push(format!("{location} == {simple}"));
            }
        }
        true
    }

    pub(super) fn fold(&mut self) -> bool {
        // Most instances cannot be folded.
        (0..6).any(|_| self.fold_once())
    }

    pub(super) fn fold_once(&mut self) -> bool {
        let Some(instance) = self.instance() else { return false };
        let share = self.share();
        let fold = format!("fold {}", self.instance_by(&instance, share));
        if Step::Statement(fold.clone()).execute(&mut self.run.clone()).is_err() {
            return false;
        }
        self.pin(&instance);
        if !self.push(&fold) {
            return false;
        }
        self.folded.push(instance);
        if self.pick.chance(60)
            && let Some(term) = self.application()
            && let Some(value) = self.value(&term)
            && let Some(literal) = self.literal_of(&value, "Int")
        {
            let fact = format!("{term} == {literal}");
            if self.pick.chance(50) {
                self.push(&format!("assert {fact}"))
            } else {
                self.say(&fact)
            };
            self.known.push(fact);
        }
        true
    }

    pub(super) fn unfold(&mut self) -> bool {
        let held: Vec<(Target, Amount)> = self
            .run
            .state
            .heap
            .held()
            .filter(|(target, _)| matches!(target, Target::Predicate(..)))
            .map(|(target, amount)| (target.clone(), amount.clone()))
            .collect();
        let Some((Target::Predicate(name, values), amount)) = self.pick.one(&held) else {
            return false;
        };
        let Some(arguments) = self.instance_text(name, values) else { return false };
        let all = self.literal_of(&Value::Perm(amount.clone()), "Perm");
        let share = match self.pick.below(10) {
            0 => "wildcard".to_owned(),
            1..=3 => self.share().to_owned(),
            _ => all.unwrap_or_default(),
        };
        let opened = self.instance_by(&format!("{name}({arguments})"), &share);
        self.push(&format!("unfold {opened}"))
    }

    /// All of several fields of one object.
    pub(super) fn inhale_object(&mut self) -> bool {
        let names = self.variables("Ref");
        let Some(name) = self.pick.text(&names) else { return false };
        let fields = ["f, g", "f, n", "f, g, n, fp", "fs, f, g", "fp, f"];
        let fields = self.pick.of(&fields);
        let all: Vec<_> = fields.split(", ").map(|field| format!("acc({name}.{field})")).collect();
        let fp =
            if fields.contains("fp") { format!(" && none <= {name}.fp") } else { String::new() };
        let done = self.push(&format!("inhale {}{fp}", all.join(" && ")));
        if done && self.told {
            for field in fields.split(", ") {
                self.say_value(&format!("{name}.{field}"));
            }
        }
        done
    }

    /// Permission to fields of all objects in a set.
    pub(super) fn quantified(&mut self) -> bool {
        let Some(set) = self.term("Set[Ref]", 1) else { return false };
        let field = self.pick.of(&["f", "g"]).to_owned();
        let resource = if self.pick.chance(35) {
            let Some(instance) = self.instance() else { return false };
            let Some((name, arguments)) = instance.split_once('(') else { return false };
            match arguments.split_once(", ") {
                Some((_, rest)) if !arguments.starts_with('(') => format!("{name}(e, {rest}"),
                _ => format!("{name}(e)"),
            }
        } else {
            format!("e.{field}")
        };
        let amount = match self.pick.below(4) {
            0 => self.amount(1),
            1 => Some("(e == x ? write : 1/2)".to_owned()),
            2 => Some("wildcard".to_owned()),
            _ => Some(self.share().to_owned()),
        };
        let Some(amount) = amount else { return false };
        self.pin(&amount);
        let trigger = match self.pick.below(3) {
            0 => format!("{{ e in {set} }} "),
            1 if resource.starts_with("e.") => format!("{{ {resource} }} "),
            _ => String::new(),
        };
        let trigger =
            if set.contains(' ') && trigger.contains(" in ") { String::new() } else { trigger };
        let form = self.pick.of(&["inhale", "inhale", "exhale", "assert"]);
        let done = self.push(&format!(
            "{form} forall e: Ref :: {trigger}e in {set} ==> acc(e.{field}, {amount})"
        ));
        if done && form == "exhale" {
            self.environment();
        }
        done
    }

    /// Permission to fields of all objects in a sequence.
    pub(super) fn sequence(&mut self) -> bool {
        let literal = self.run.state.store.get("u").cloned();
        let literal = literal.and_then(|value| self.literal_of(&value, "Seq[Ref]"));
        if let Some(literal) = literal
            && !self.pinned.iter().any(|name| name == "u")
            && self.say(&format!("u == {literal}"))
        {
            self.pinned.push("u".into());
        }
        let sequence = self.pick.of(&["u", "u", "u[1..]", "(Seq(x) ++ u)", "Seq(x)"]);
        let field = self.pick.of(&["f", "g"]);
        let amount = match self.pick.below(4) {
            0 => self.amount(1),
            1 => Some("(k == 0 ? write : 1/2)".to_owned()),
            2 => Some("wildcard".to_owned()),
            _ => Some(self.share().to_owned()),
        };
        let Some(amount) = amount else { return false };
        self.pin(&amount);
        let trigger =
            if self.pick.chance(50) { format!("{{ {sequence}[k] }} ") } else { String::new() };
        let form = self.pick.of(&["inhale", "inhale", "exhale", "assert"]);
        let done = self.push(&format!(
            "{form} forall k: Int :: {trigger}0 <= k && k < |{sequence}| ==> \
             acc({sequence}[k].{field}, {amount})"
        ));
        if done && form == "exhale" {
            self.environment();
        }
        done
    }

    /// `[a, b]`, of which one side counts.
    pub(super) fn pair(&mut self) -> bool {
        let Some((location, held)) = self.held() else { return false };
        let Some(portion) = self.portion(&held) else { return false };
        let other = self.pick.of(&["true", "1 > 0", "none <= write"]);
        self.pin(&portion);
        let access = format!("acc({location}, {portion})");
        match self.pick.below(3) {
            0 => self.push(&format!("inhale [{access}, {other}]")),
            1 => self.push(&format!("exhale [{other}, {access}]")),
            _ => self.push(&format!("exhale [{access}, {other}]")),
        }
    }

    /// An assertion of any form, given and taken.
    pub(super) fn assertion(&mut self) -> bool {
        let predicates = self.predicates.clone();
        let grammar = Grammar { predicates: &predicates };
        let mut scope = Scope {
            refs: self.variables("Ref"),
            ints: self.variables("Int"),
            bools: self.variables("Bool"),
            sets: self.variables("Set[Ref]"),
            ..Scope::default()
        };
        let Some(text) = grammar.any(&mut scope, 3, &mut self.pick) else { return false };
        if !text.contains("acc(") {
            return false;
        }
        let form = self.pick.of(&["inhale", "inhale", "inhale", "exhale", "assert"]);
        self.pin(&text);
        if !self.push(&format!("{form} {text}")) {
            return false;
        }
        if form == "inhale" && self.pick.chance(50) {
            let form = self.pick.of(&["exhale", "assert"]);
            self.push(&format!("{form} {text}"));
        }
        true
    }

    pub(super) fn forget(&mut self) -> bool {
        let Some((location, _)) = self.held() else { return false };
        self.push(&format!("quasihavoc {location}"))
    }
}
