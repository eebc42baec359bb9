//! Statements, made along a run.

use std::sync::Arc;

use crate::concrete::{Declarations, Run, State, Target, Value};

use super::members::{FIELDS, Members, Signature};
use super::methods::Callee;
use super::pick::Picker;
use super::program::{Attack, Formal, Step};

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
    /// The statements that were made and may still be true.
    pub(super) known: Vec<String>,
    /// Instances that were folded or inhaled.
    pub(super) folded: Vec<String>,
    /// Wands that were packaged.
    pub(super) wands: Vec<String>,
    /// All values are stated, so that a verifier that does not show a fact does not lack knowledge.
    pub(super) told: bool,
    /// Variables whose value was said.
    pub(super) pinned: Vec<String>,
    pub(super) steps: Vec<Step>,
    pub(super) start: State,
    /// Behind the contract.
    pub(super) entered: bool,
    /// Inside a branch or loop.
    pub(super) nested: u32,
    pub(super) made: usize,
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
            ("u", "Seq[Ref]"),
        ] {
            state.store.insert(name.into(), any(&mut pick, ty));
            formals.push(Formal { name: name.into(), ty, decides: false });
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
            told: false,
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
        self.told = self.pick.chance(50);
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
            if self.told || self.pick.chance(85) {
                self.say(pair);
            }
        }
        if self.told {
            self.tell();
        }
        for _ in 0..=self.pick.below(4) {
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

    /// Says what all parameters are.
    fn tell(&mut self) {
        for name in ["x", "y", "z"] {
            self.say(&format!("{name} != null"));
        }
        for (name, ty) in [
            ("i", "Int"),
            ("j", "Int"),
            ("p", "Perm"),
            ("r", "Perm"),
            ("c", "Bool"),
            ("d", "Bool"),
            ("t", "Set[Ref]"),
            ("u", "Seq[Ref]"),
        ] {
            let value = self.run.state.store.get(name).cloned();
            let literal = value.and_then(|value| self.literal_of(&value, ty));
            if literal.is_some_and(|literal| self.say(&format!("{name} == {literal}"))) {
                self.pinned.push(name.to_owned());
            }
        }
    }

    /// Executes a statement and keeps it, if the run goes on.
    pub(super) fn push(&mut self, text: &str) -> bool {
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
    pub(super) fn say(&mut self, fact: &str) -> bool {
        let said = self.is_true(fact) && self.push(&format!("inhale {fact}"));
        if said {
            self.known.push(fact.to_owned());
        }
        said
    }

    /// Says what the amounts in a text are, mostly.
    pub(super) fn pin(&mut self, text: &str) {
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

    pub(super) fn step(&mut self) {
        let before = self.steps.len();
        match self.pick.below(100) {
            0..=3 => self.inhale_field(),
            4 | 5 => self.inhale_object(),
            6..=8 => self.inhale_instance(),
            9..=14 => self.exhale(),
            15..=26 => self.write(),
            27..=30 => self.assertion(),
            31..=43 => self.fold(),
            44..=56 => self.unfold(),
            57..=62 => self.fact(),
            63 | 64 => self.label(),
            65..=69 => self.branch(),
            70..=73 => self.repeat(),
            74..=79 => self.call(),
            80..=81 => self.allocate(),
            82..=85 => self.package(),
            86..=88 => self.apply(),
            89..=91 => self.quantified(),
            92..=93 => self.sequence(),
            94..=95 => self.pair(),
            96..=97 => self.local(),
            _ => self.forget(),
        };
        if self.steps.len() > before && self.pick.chance(45) {
            self.recall();
        }
    }

    /// Asserts something that was said and is still true.
    pub(super) fn recall(&mut self) -> bool {
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
}

/// The type of a field access.
pub(super) fn type_of(location: &str) -> Option<&'static str> {
    let (_, field) = location.rsplit_once('.')?;
    FIELDS.into_iter().find(|(name, _)| *name == field).map(|(_, ty)| ty)
}

/// Some value of a type.
pub(super) fn any(pick: &mut Picker, ty: &str) -> Value {
    match ty {
        "Int" => Value::int(pick.between(-2, 4)),
        "Bool" => Value::Bool(pick.chance(50)),
        "Ref" => Value::Ref(pick.below(OBJECTS as usize + 1) as u32),
        "Perm" => {
            let (numerator, denominator) =
                [(0, 1), (0, 1), (1, 4), (1, 3), (1, 2), (1, 2), (3, 4), (1, 1)][pick.below(8)];
            Value::perm(numerator, denominator)
        }
        // Each object once: receivers of quantified permissions differ.
        "Seq[Ref]" => {
            let mut objects: Vec<u32> = (1..=OBJECTS).filter(|_| pick.chance(50)).collect();
            if pick.chance(50) {
                objects.reverse();
            }
            Value::Seq(objects.into_iter().map(Value::Ref).collect())
        }
        "Set[Ref]" => {
            Value::Set((1..=OBJECTS).filter(|_| pick.chance(40)).map(Value::Ref).collect())
        }
        _ => Value::Seq((0..pick.below(4)).map(|_| Value::int(pick.between(0, 3))).collect()),
    }
}
