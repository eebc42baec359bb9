//! Statements, made along a run.

use std::sync::Arc;

use num_traits::One;

use crate::concrete::{Amount, Declarations, Run, State, Target, Value};

use super::members::{FIELDS, Members, Signature};
use super::methods::Callee;
use super::pick::Picker;
use super::program::{Attack, Formal, PROBE, Step};

/// Makes a method statement by statement.
pub(super) struct Generator<'d> {
    pub(super) run: Run<'d>,
    pub(super) pick: Picker,
    pub(super) formals: Vec<Formal>,
    pub(super) locals: Vec<Formal>,
    /// States that `old` may speak about: nothing, or `[label]`.
    pub(super) labels: Vec<String>,
    pub(super) predicates: Vec<Signature>,
    pub(super) functions: Vec<Signature>,
    pub(super) methods: Vec<Callee>,
    /// What was said and may still be true.
    known: Vec<String>,
    /// Instances that were folded or inhaled.
    pub(super) folded: Vec<String>,
    /// Wands that were packaged.
    wands: Vec<String>,
    /// Variables whose value was said.
    pinned: Vec<String>,
    steps: Vec<Step>,
    start: State,
    /// Behind the contract.
    pub(super) entered: bool,
    /// Inside a branch or loop.
    nested: u32,
    made: usize,
}

/// Objects at the start.
const OBJECTS: u32 = 3;

/// How often a statement is tried before another is.
const TRIES: usize = 200;

/// The attack of a seed.
///
/// # Panics
/// On members that this module makes wrong.
pub fn generate(seed: u64) -> Attack {
    let mut pick = Picker::new(seed);
    let members = Members::new(&mut pick);
    let declarations =
        Arc::new(Declarations::read(&members.meant).unwrap_or_else(|stuck| {
            panic!("the members are wrong: {}\n{}", stuck.0, members.meant)
        }));
    let mut generator = Generator::new(&declarations, &members, pick);
    let required = generator.method();
    let Generator { formals, start, steps, .. } = generator;
    Attack {
        members: members.shown,
        declarations: declarations.clone(),
        formals,
        start,
        required,
        steps,
    }
}

impl<'d> Generator<'d> {
    fn new(declarations: &'d Declarations, members: &Members, mut pick: Picker) -> Self {
        let mut state = State::new(OBJECTS);
        for object in 1..=OBJECTS {
            for (field, ty) in FIELDS {
                let value = any(&mut pick, ty);
                state.heap.set_value(object, &field.into(), value);
            }
        }
        let mut formals = Vec::new();
        for (name, ty) in [
            ("x", "Ref"),
            ("y", "Ref"),
            ("z", "Ref"),
            ("i", "Int"),
            ("j", "Int"),
            ("p", "Perm"),
            ("r", "Perm"),
            ("c", "Bool"),
            ("d", "Bool"),
            ("t", "Set[Ref]"),
        ] {
            state.store.insert(name.into(), any(&mut pick, ty));
            formals.push(Formal { name: name.into(), ty });
        }
        // The first object has a name, whatever else is there.
        state.store.insert("x".into(), Value::Ref(1));
        Self {
            run: Run::new(declarations, state.clone()),
            pick,
            formals,
            locals: Vec::new(),
            labels: vec![String::new()],
            predicates: members.predicates.clone(),
            functions: members.functions.clone(),
            methods: members.methods.clone(),
            known: Vec::new(),
            folded: Vec::new(),
            wands: Vec::new(),
            pinned: Vec::new(),
            steps: Vec::new(),
            start: state,
            entered: false,
            nested: 0,
            made: 0,
        }
    }

    /// Makes the method; how many of its steps are the precondition.
    fn method(&mut self) -> usize {
        for amount in ["p", "r"] {
            let bound =
                if self.pick.chance(30) { format!("none < {amount}") } else { "false".into() };
            if !self.say(&bound) {
                self.say(&format!("none <= {amount}"));
            }
        }
        for pair in
            ["x != y", "x == y", "x != z", "x == z", "y != z", "y == z", "y == null", "z == null"]
        {
            if self.pick.chance(85) {
                self.say(pair);
            }
        }
        for _ in 0..1 + self.pick.below(4) {
            if self.pick.chance(75) {
                self.inhale_field()
            } else {
                self.inhale_instance()
            };
        }
        let required = if self.pick.chance(50) { self.steps.len() } else { 0 };
        if required == 0 {
            // `old` means the state with nothing in it.
            self.labels.clear();
        }
        self.entered = true;
        let entered = self.run.state.heap.clone();
        self.run.enter();
        if required == 0 {
            self.run.state.heap = crate::concrete::Heap::default();
            self.run.enter();
            self.run.state.heap = entered;
        }
        let length = 8 + self.pick.below(20);
        for _ in 0..TRIES {
            if self.steps.len() >= required + length {
                break;
            }
            self.step();
        }
        required
    }

    /// Executes a statement and keeps it, if the run goes on.
    fn push(&mut self, text: &str) -> bool {
        let step = Step::Statement(text.to_owned());
        let mut run = self.run.clone();
        if step.execute(&mut run).is_err() {
            return false;
        }
        self.run = run;
        self.steps.push(step);
        true
    }

    /// Assumes a fact, if it is true.
    fn say(&mut self, fact: &str) -> bool {
        let said = self.is_true(fact) && self.push(&format!("inhale {fact}"));
        if said {
            self.known.push(fact.to_owned());
        }
        said
    }

    /// Says what the amounts in a text are, mostly.
    fn pin(&mut self, text: &str) {
        for name in ["p", "r", "c", "d"] {
            let word = |part: &str| part == name;
            let mentioned = text.split(|c: char| !c.is_alphanumeric() && c != '.').any(word);
            if mentioned && !self.pinned.iter().any(|one| one == name) && self.pick.chance(65) {
                let value = self.run.state.store.get(name).cloned();
                let ty = if name == "p" || name == "r" { "Perm" } else { "Bool" };
                let literal = value.and_then(|value| self.literal_of(&value, ty));
                if literal.is_some_and(|literal| self.say(&format!("{name} == {literal}"))) {
                    self.pinned.push(name.to_owned());
                }
            }
        }
    }

    fn step(&mut self) {
        let before = self.steps.len();
        match self.pick.below(100) {
            0..=3 => self.inhale_field(),
            4 | 5 => self.inhale_object(),
            6..=8 => self.inhale_instance(),
            9..=14 => self.exhale(),
            15..=26 => self.write(),
            27..=43 => self.fold(),
            44..=56 => self.unfold(),
            57..=62 => self.fact(),
            63 | 64 => self.label(),
            65..=69 => self.branch(),
            70..=73 => self.repeat(),
            74..=79 => self.call(),
            80..=81 => self.allocate(),
            82..=86 => self.package(),
            87..=88 => self.apply(),
            89..=93 => self.quantified(),
            94..=95 => self.pair(),
            96..=97 => self.local(),
            _ => self.forget(),
        };
        if self.steps.len() > before && self.pick.chance(45) {
            self.recall();
        }
    }

    /// Asserts something that was said and is still true.
    fn recall(&mut self) -> bool {
        let known = self.known.clone();
        for _ in 0..6 {
            let Some(fact) = self.pick.text(&known) else { return false };
            let dull = !fact.contains('.') && !fact.contains('(');
            if self.is_true(&fact) && (!dull || self.pick.chance(15)) {
                let form = if self.pick.chance(85) { "assert" } else { "exhale" };
                return self.push(&format!("{form} {fact}"));
            }
        }
        false
    }

    /// Says the value of some expression.
    fn fact(&mut self) -> bool {
        let types: [&'static str; 5] = ["Int", "Int", "Bool", "Perm", "Ref"];
        let ty = types[self.pick.below(types.len())];
        let term = if self.pick.chance(35) { self.application() } else { self.term(ty, 2) };
        let Some(term) = term else { return false };
        let Some(value) = self.value(&term) else { return false };
        let ty = match value {
            Value::Int(_) => "Int",
            _ => ty,
        };
        let Some(text) = self.text_of(&value, ty) else { return false };
        let fact = if text == term { return false } else { format!("({term}) == {text}") };
        self.pin(&fact);
        match self.pick.below(10) {
            0..=5 => self.say(&fact),
            6 | 7 => self.push(&format!("assert {fact}")),
            _ => self.holders(),
        }
    }

    /// Says which objects have permission to a field.
    fn holders(&mut self) -> bool {
        let (field, _) = FIELDS[self.pick.below(4)];
        let held: Vec<u32> = self
            .run
            .state
            .heap
            .held()
            .filter_map(|(target, _)| match target {
                Target::Field(object, name) if **name == *field => Some(*object),
                _ => None,
            })
            .collect();
        let mut cases = Vec::new();
        for object in held {
            match self.names_of(object).first() {
                Some(name) => cases.push(format!("e == {name}")),
                None => return false,
            }
        }
        let cases = if cases.is_empty() { "false".into() } else { cases.join(" || ") };
        let form = if self.pick.chance(70) { "assert" } else { "inhale" };
        self.push(&format!("{form} forperm e: Ref [e.{field}] :: {cases}"))
    }

    fn inhale_field(&mut self) -> bool {
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
        if location.ends_with(".fp") {
            self.say(&format!("none <= {location}"));
        }
        if self.pick.chance(50)
            && let Some(value) = self.value(&location)
            && let Some(ty) = type_of(&location)
            && let Some(literal) = self.text_of(&value, ty)
            && literal != location
        {
            self.say(&format!("{location} == {literal}"));
        }
        true
    }

    /// A predicate with arguments.
    fn instance(&mut self) -> Option<String> {
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

    fn share(&mut self) -> &'static str {
        let shares: [&'static str; 5] = ["write", "write", "1/2", "1/2", "1/4"];
        shares[self.pick.below(shares.len())]
    }

    fn inhale_instance(&mut self) -> bool {
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
    fn held(&mut self) -> Option<(String, Amount)> {
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
    fn portion(&mut self, held: &Amount) -> Option<String> {
        match self.pick.below(6) {
            0 => Some("wildcard".into()),
            1 | 2 => self.amount(1),
            3 => self.literal_of(&Value::Perm(held / num_bigint::BigInt::from(2)), "Perm"),
            _ => self.text_of(&Value::Perm(held.clone()), "Perm"),
        }
    }

    fn exhale(&mut self) -> bool {
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
    fn environment(&mut self) {
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
    fn writable(&mut self) -> Option<(String, &'static str)> {
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

    fn write(&mut self) -> bool {
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

    fn fold(&mut self) -> bool {
        // Most instances cannot be folded.
        (0..6).any(|_| self.fold_once())
    }

    fn fold_once(&mut self) -> bool {
        let Some(instance) = self.instance() else { return false };
        let share = self.share();
        let fold = format!("fold acc({instance}, {share})");
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

    fn unfold(&mut self) -> bool {
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
        self.push(&format!("unfold acc({name}({arguments}), {share})"))
    }

    /// All of several fields of one object.
    fn inhale_object(&mut self) -> bool {
        let names = self.variables("Ref");
        let Some(name) = self.pick.text(&names) else { return false };
        let fields = ["f, g", "f, n", "f, g, n, fp", "fs, f, g", "fp, f"];
        let fields = self.pick.of(&fields);
        let all: Vec<_> = fields.split(", ").map(|field| format!("acc({name}.{field})")).collect();
        let fp =
            if fields.contains("fp") { format!(" && none <= {name}.fp") } else { String::new() };
        self.push(&format!("inhale {}{fp}", all.join(" && ")))
    }

    fn label(&mut self) -> bool {
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
    fn fresh(&mut self, value: bool) -> String {
        self.made += 1;
        let name = format!("b{}", self.made);
        self.formals.push(Formal { name: name.clone(), ty: "Bool" });
        self.start.store.insert(name.as_str().into(), Value::Bool(value));
        self.run.state.store.insert(name.as_str().into(), Value::Bool(value));
        name
    }

    /// Statements of a nested block, made from here on.
    fn block(&mut self, length: usize) -> Vec<String> {
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

    fn branch(&mut self) -> bool {
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
            // The other side is a run as well: that of the other value.
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
            && self.pick.chance(50)
        {
            self.say(&name);
        }
        done
    }

    /// Goes back and executes as one statement what was made in parts.
    fn again(&mut self, before: Run<'d>, text: &str, known: usize) -> bool {
        let mut before = before;
        // Parameters that were made in the meantime are there from the start.
        for formal in &self.formals {
            if let Some(value) = self.start.store.get(&*formal.name) {
                before.state.store.insert(formal.name.as_str().into(), value.clone());
            }
        }
        let after = std::mem::replace(&mut self.run, before);
        // What was said inside is known there only.
        self.known.truncate(known);
        self.pinned
            .retain(|name| self.known.iter().any(|fact| fact.starts_with(&format!("{name} =="))));
        drop(after);
        self.push(text)
    }

    fn repeat(&mut self) -> bool {
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

    fn call(&mut self) -> bool {
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
            let done = self.push(&format!("var {name}: Int := {call}"));
            if done {
                self.locals.push(Formal { name, ty: "Int" });
            }
            done
        } else {
            self.push(&call)
        };
        if done {
            self.environment();
        }
        done
    }

    fn local(&mut self) -> bool {
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
        let done = self.push(&format!("var {name}: {ty} := {value}"));
        if done {
            self.known.push(format!("{name} == {value}"));
            self.locals.push(Formal { name, ty });
        }
        done
    }

    fn allocate(&mut self) -> bool {
        if self.nested > 0 {
            return false;
        }
        self.made += 1;
        let name = format!("o{}", self.made);
        let fields = self.pick.of(&["f", "f, g", "f, n, fp", "*"]);
        if !self.push(&format!("var {name}: Ref"))
            || !self.push(&format!("{name} := new({fields})"))
        {
            return false;
        }
        self.locals.push(Formal { name: name.clone(), ty: "Ref" });
        self.known.push(format!("{name} != x"));
        true
    }

    /// A wand whose right-hand side follows from its left-hand side and what is held, whatever the values.
    fn package(&mut self) -> bool {
        if self.nested > 0 {
            return false;
        }
        let Some((own, held)) = self.held() else { return false };
        let immutable = |text: &str| {
            !text.split(|c: char| !c.is_alphanumeric() && c != '.').any(|word| {
                word.starts_with('v')
                    || word.starts_with('k')
                    || word.starts_with('o')
                    || word.contains(".n.")
            }) && text.matches('.').count() <= 1
        };
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
        let done = self.push(&format!("package {wand}"));
        if done {
            self.wands.push(wand);
        }
        done
    }

    fn apply(&mut self) -> bool {
        let wands = self.wands.clone();
        let Some(wand) = self.pick.text(&wands) else { return false };
        let done = self.push(&format!("apply {wand}"));
        if done && self.nested == 0 {
            self.wands.retain(|one| *one != wand);
        }
        done
    }

    /// Permission to fields of all objects in a set.
    fn quantified(&mut self) -> bool {
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

    /// `[a, b]`, of which one side counts.
    fn pair(&mut self) -> bool {
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

    fn forget(&mut self) -> bool {
        let Some((location, _)) = self.held() else { return false };
        self.push(&format!("quasihavoc {location}"))
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

/// The type of a field access.
fn type_of(location: &str) -> Option<&'static str> {
    let (_, field) = location.rsplit_once('.')?;
    FIELDS.into_iter().find(|(name, _)| *name == field).map(|(_, ty)| ty)
}

/// Some value of a type.
fn any(pick: &mut Picker, ty: &str) -> Value {
    match ty {
        "Int" => Value::int(pick.between(-2, 4)),
        "Bool" => Value::Bool(pick.chance(50)),
        "Ref" => Value::Ref(pick.below(OBJECTS as usize + 1) as u32),
        "Perm" => {
            let (numerator, denominator) =
                [(0, 1), (0, 1), (1, 4), (1, 3), (1, 2), (1, 2), (3, 4), (1, 1)][pick.below(8)];
            Value::perm(numerator, denominator)
        }
        "Set[Ref]" => {
            Value::Set((1..=OBJECTS).filter(|_| pick.chance(40)).map(Value::Ref).collect())
        }
        _ => Value::Seq((0..pick.below(4)).map(|_| Value::int(pick.between(0, 3))).collect()),
    }
}
