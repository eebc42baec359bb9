//! Chalice programs made at random, about amounts, predicates, monitors, threads and messages.
//!
//! A method mostly does what it may: the maker carries along a guess at the assertions that hold,
//! as texts. Wrong guesses are wanted as well. Whether a program may verify is not known here: runs
//! tell ([`crate::cross_check`]).
//!
//! Assertions are about `@` (the receiver), `#` (the other object) and `$` (a number), which a use
//! replaces.

use super::pick::Picker;
use super::shrink::needed;

/// Makes the program of a seed. Each clause and each statement has a line of its own.
pub fn program(seed: u64) -> String {
    let mut maker = Maker {
        pick: Picker::new(seed),
        lines: Vec::new(),
        depth: 0,
        predicates: Vec::new(),
        invariant: Vec::new(),
        message: Vec::new(),
        methods: Vec::new(),
        tokens: Vec::new(),
        names: 0,
    };
    maker.class();
    maker.lines.join("\n") + "\n"
}

/// Removes lines as long as `holds` of the text.
pub fn smaller(text: &str, holds: impl Fn(&str) -> bool) -> String {
    let mut best = text.to_owned();
    loop {
        let lines: Vec<&str> = best.lines().collect();
        let only =
            |kept: &[usize]| -> String { kept.iter().flat_map(|&at| [lines[at], "\n"]).collect() };
        let kept = needed(lines.len(), |kept| holds(&only(kept)));
        let fewer = only(&kept);
        if fewer.len() == best.len() {
            return best;
        }
        best = fewer;
    }
}

/// The assertions that a method asks for and gives.
#[derive(Clone)]
struct Contract {
    name: String,
    requires: Vec<String>,
    ensures: Vec<String>,
}

struct Maker {
    pick: Picker,
    lines: Vec<String>,
    depth: usize,
    /// The bodies of the predicates `P0`, `P1`, …
    predicates: Vec<Vec<String>>,
    invariant: Vec<String>,
    /// The assertions that a message carries about its object.
    message: Vec<String>,
    methods: Vec<Contract>,
    /// Tokens that wait for their join: the name, and what comes back.
    tokens: Vec<(String, Vec<String>)>,
    names: usize,
}

const FIELDS: [&str; 2] = ["x", "y"];

/// Puts a receiver, another object and a number into an assertion.
fn about(assertion: &str, receiver: &str, other: &str, number: &str) -> String {
    let parts = assertion.chars().map(|c| match c {
        '@' => receiver.to_owned(),
        '#' => other.to_owned(),
        '$' => number.to_owned(),
        c => c.to_string(),
    });
    parts.collect()
}

fn all_about(assertions: &[String], receiver: &str, other: &str, number: &str) -> Vec<String> {
    assertions.iter().map(|it| about(it, receiver, other, number)).collect()
}

/// Returns the locations to which there is permission, and whether that may be all of it.
fn locations(held: &[String]) -> Vec<(String, bool)> {
    let location = |it: &String| {
        let (_, at) = it.split_once('(')?;
        let at = at.split([',', ')']).next()?;
        let is_field = FIELDS.iter().any(|field| at.split('.').nth(1) == Some(field));
        is_field.then(|| (at.to_owned(), it.starts_with("acc") && !it.contains(',')))
    };
    held.iter().filter_map(location).collect()
}

fn locked(receiver: &str) -> String {
    format!("holds({receiver})")
}

fn read_locked(receiver: &str) -> String {
    format!("rd holds({receiver})")
}

/// Returns the claim that the lock of an object may be acquired.
fn in_order(receiver: &str) -> String {
    format!("waitlevel << {receiver}.mu")
}

impl Maker {
    fn line(&mut self, text: &str) {
        self.lines.push(format!("{}{text}", "  ".repeat(self.depth)));
    }

    fn block(&mut self, head: &str, inside: impl FnOnce(&mut Self)) {
        self.line(head);
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.line("}");
    }

    fn class(&mut self) {
        self.block("class C {", |this| {
            this.line("var x: int;");
            this.line("var y: int;");
            for number in 0..=this.pick.below(2) {
                let body = this.conjuncts(false);
                this.conjunction(&format!("predicate P{number} {{"), &body);
                this.predicates.push(body);
            }
            if this.pick.chance(60) {
                this.invariant = this.conjuncts(false);
                this.line("invariant true");
                let invariant = all_about(&this.invariant, "this", "this", "1");
                invariant.iter().for_each(|it| this.line(&format!("  && {it}")));
                this.line(";");
            }
            this.message = this.conjuncts(false);
            for number in 0..=this.pick.below(3) {
                this.method(number);
            }
            this.main();
        });
        self.line("channel H(o: C) where o != null");
        let message = all_about(&self.message, "o", "o", "1");
        message.iter().for_each(|it| self.line(&format!("  && {it}")));
        self.line(";");
    }

    fn conjunction(&mut self, head: &str, body: &[String]) {
        let body = all_about(body, "this", "this", "1");
        self.block(head, |this| {
            this.line("true");
            body.iter().for_each(|it| this.line(&format!("&& {it}")));
        });
    }

    /// Returns assertions that may stand together, permission first. With `in_method` they are about
    /// both objects.
    fn conjuncts(&mut self, in_method: bool) -> Vec<String> {
        let mut conjuncts = Vec::new();
        for field in FIELDS {
            if self.pick.chance(70) {
                let receiver = if in_method && self.pick.chance(25) { "#" } else { "@" };
                conjuncts.push(self.permission(&format!("{receiver}.{field}"), in_method));
            }
        }
        if !self.predicates.is_empty() && self.pick.chance(if in_method { 40 } else { 15 }) {
            conjuncts.push(self.instance("@"));
        }
        if self.pick.chance(40) {
            let fact = self.fact(&conjuncts);
            conjuncts.push(fact);
        }
        conjuncts
    }

    /// Returns permission to a location.
    fn permission(&mut self, at: &str, in_method: bool) -> String {
        let count = if in_method && self.pick.chance(30) { "$" } else { self.pick.of(&["1", "2"]) };
        let percent = self.pick.of(&["50", "1", "99", "rd", "100 - rd", "50 + rd", "50 - rd"]);
        match self.pick.below(9) {
            0..3 => format!("acc({at})"),
            3 => format!("acc({at}, {percent})"),
            4 => format!("rd({at})"),
            5 => format!("rd({at}, {count})"),
            6 => format!("rd*({at})"),
            7 => format!("acc({at}, 100 - rd({count}))"),
            _ => format!("acc({at}, 50)"),
        }
    }

    /// Returns an instance of a predicate, or a part of one.
    fn instance(&mut self, receiver: &str) -> String {
        let instance = format!("{receiver}.P{}", self.pick.below(self.predicates.len()));
        match self.pick.below(6) {
            0..3 => instance,
            3 => format!("rd({instance})"),
            4 => format!("rd({instance}, 1)"),
            _ => format!("acc({instance}, 50)"),
        }
    }

    /// Returns a condition about values of locations that may be read.
    fn fact(&mut self, held: &[String]) -> String {
        let mut values: Vec<String> = locations(held).into_iter().map(|(at, _)| at).collect();
        let operator = self.pick.of(&["==", "<=", "!=", ">="]);
        let left = self.pick.text(&values).unwrap_or_else(|| "0".to_owned());
        values.extend(["0", "1"].map(str::to_owned));
        let right = self.pick.text(&values).unwrap_or_default();
        format!("{left} {operator} {right}")
    }

    fn method(&mut self, number: usize) {
        let mut requires = self.conjuncts(true);
        requires.insert(0, "# != null".to_owned());
        if self.pick.chance(30) {
            requires.push("# != @".to_owned());
        }
        if self.pick.chance(60) {
            requires.push("$ > 0".to_owned());
        }
        for receiver in ["@", "#"] {
            if self.pick.chance(40) {
                requires.push(format!("rd({receiver}.mu)"));
                requires.push(in_order(receiver));
            }
        }
        if self.pick.chance(30) {
            let credit = self.pick.of(&["credit(h, 1)", "credit(h, -1)"]);
            requires.push("h != null".to_owned());
            requires.extend([credit.to_owned(), "rd(h.mu)".to_owned(), in_order("h")]);
        }
        let head = self.lines.len();
        let mut held = all_about(&requires, "this", "o", "n");
        self.block("{", |this| {
            this.line("var v: int;");
            this.line("var w: C;");
            let count = 2 + this.pick.below(6);
            this.statements(count, &mut held);
            this.end(&mut held);
        });
        let mut ensures = Vec::new();
        for assertion in held {
            let is_of_caller = ["this.", "o.", "(h,"].iter().any(|it| assertion.contains(it));
            if is_of_caller && !assertion.contains("waitlevel") && self.pick.chance(75) {
                ensures.push(assertion);
            }
        }
        let name = format!("m{number}");
        let clauses = |keyword: &str, assertions: &[String]| {
            let clause = |it: &String| format!("    {keyword} {}", about(it, "this", "o", "n"));
            assertions.iter().map(clause).collect::<Vec<_>>()
        };
        let mut contract = vec![format!("  method {name}(o: C, n: int, h: H)")];
        contract.extend(clauses("requires", &requires));
        contract.extend(clauses("ensures", &ensures));
        self.lines.splice(head..head, contract);
        let ensures = ensures.iter().map(|it| {
            it.replace("this", "@").replace("(o.", "(#.").replace("o.", "#.").replace("(n)", "($)")
        });
        self.methods.push(Contract { name, requires, ensures: ensures.collect() });
    }

    /// Makes a method that begins with nothing.
    fn main(&mut self) {
        self.line("method main()");
        self.block("{", |this| {
            this.line("var v: int;");
            this.line("var w: C;");
            this.line("var h: H := new H;");
            let mut held =
                ["h != null", "acc(h.mu)", "waitlevel << h.mu"].map(str::to_owned).to_vec();
            for name in ["o", "p"] {
                let (x, y) = (this.pick.below(3), this.pick.below(3));
                this.line(&format!("var {name}: C := new C {{ x := {x}, y := {y} }};"));
                held.extend(["x", "y", "mu"].map(|field| format!("acc({name}.{field})")));
                held.push(format!("{name} != null"));
            }
            let count = 3 + this.pick.below(8);
            this.statements(count, &mut held);
            this.end(&mut held);
        });
    }

    fn statements(&mut self, count: usize, held: &mut Vec<String>) {
        for _ in 0..count {
            self.statement(held);
        }
    }

    fn statement(&mut self, held: &mut Vec<String>) {
        let receiver = self.receiver(held);
        match self.pick.below(18) {
            0 | 1 => self.assignment(held),
            2 | 3 => self.fold(&receiver, held),
            4 | 5 => self.unfold(&receiver, held),
            6..9 => self.monitor(&receiver, held),
            9 | 10 => self.call(&receiver, held),
            11 => self.join(held),
            12 if self.depth < 4 => self.branches(held),
            13 if self.depth < 4 => self.iteration(held),
            14 => self.send(&receiver, held),
            15 => self.receive(held),
            16 => {
                let fact = self.fact(held);
                self.line(&format!("assert {};", about(&fact, &receiver, &receiver, "1")));
            }
            _ => {
                let held = self.pick.text(held).unwrap_or_else(|| "true".to_owned());
                let asserted = if self.pick.chance(12) { "false" } else { &held };
                self.line(&format!("assert {asserted};"));
            }
        }
    }

    /// Chooses an object about which something is held.
    fn receiver(&mut self, held: &[String]) -> String {
        let names = ["this", "o", "p", "w"].map(|name| format!("{name}."));
        let known = names.iter().filter(|name| held.iter().any(|it| it.contains(*name)));
        let known: Vec<String> = known.map(|it| it.trim_end_matches('.').to_owned()).collect();
        self.pick.text(&known).unwrap_or_else(|| "o".to_owned())
    }

    fn assignment(&mut self, held: &[String]) {
        let fields = locations(held);
        let Some((at, may_write)) = self.pick.one(&fields).cloned() else { return };
        if may_write && self.pick.chance(70) {
            let value = self.pick.of(&["0", "1", "v", "2"]);
            self.line(&format!("{at} := {value};"));
        } else {
            self.line(&format!("v := {at};"));
        }
    }

    /// Takes assertions out of what is held; tells whether all were there.
    fn take(held: &mut Vec<String>, assertions: &[String]) -> bool {
        let is_permission =
            |it: &&String| it.contains("acc(") || it.contains("rd") || it.contains(".P");
        let mut is_complete = true;
        for assertion in assertions.iter().filter(is_permission) {
            match held.iter().position(|it| it == assertion) {
                Some(at) => _ = held.swap_remove(at),
                None => is_complete = false,
            }
        }
        is_complete
    }

    /// Decides whether to do a step: always where it seems right, and sometimes elsewhere.
    fn dares(&mut self, seems_right: bool) -> bool {
        seems_right || self.pick.chance(20)
    }

    fn fold(&mut self, receiver: &str, held: &mut Vec<String>) {
        let number = self.pick.below(self.predicates.len());
        let body = all_about(&self.predicates[number], receiver, receiver, "1");
        let mut left = held.clone();
        let is_complete = Self::take(&mut left, &body);
        if !self.dares(is_complete) {
            return;
        }
        let instance = format!("{receiver}.P{number}");
        let part = self.part(&instance, 15);
        self.line(&format!("fold {part};"));
        left.push(part);
        *held = left;
    }

    /// Returns the instance, or a part of it.
    fn part(&mut self, instance: &str, chance: u32) -> String {
        if !self.pick.chance(chance) {
            return instance.to_owned();
        }
        match self.pick.below(3) {
            0 => format!("rd({instance})"),
            1 => format!("rd({instance}, 1)"),
            _ => format!("acc({instance}, 50)"),
        }
    }

    fn unfold(&mut self, receiver: &str, held: &mut Vec<String>) {
        let number = self.pick.below(self.predicates.len());
        let instance = format!("{receiver}.P{number}");
        let known = held.iter().position(|it| it.contains(&instance));
        if !self.dares(known.is_some()) {
            return;
        }
        let part = match known {
            Some(at) => held.swap_remove(at),
            None => self.part(&instance, 30),
        };
        self.line(&format!("unfold {part};"));
        let body = all_about(&self.predicates[number], receiver, receiver, "1");
        held.extend(body);
    }

    fn monitor(&mut self, receiver: &str, held: &mut Vec<String>) {
        let (owned, shared) = (format!("acc({receiver}.mu)"), format!("rd({receiver}.mu)"));
        if held.contains(&locked(receiver)) || held.contains(&read_locked(receiver)) {
            self.leave(receiver, held);
        } else if held.contains(&owned) && self.pick.chance(70) {
            let mut left = held.clone();
            let is_complete = Self::take(&mut left, &self.invariant_of(receiver));
            if self.dares(is_complete) {
                let place = self.pick.of(&["", "", " above waitlevel"]);
                self.line(&format!("share {receiver}{place};"));
                left.push(shared);
                left.push(in_order(receiver));
                *held = left;
            }
        } else if self.dares(held.contains(&shared) && held.contains(&in_order(receiver))) {
            let is_writer = self.pick.chance(50);
            self.line(&format!("{}acquire {receiver};", if is_writer { "" } else { "rd " }));
            held.retain(|it| !it.contains("waitlevel"));
            held.push(if is_writer { locked(receiver) } else { read_locked(receiver) });
            held.extend(self.invariant_of(receiver).iter().map(|it| {
                if is_writer { it.clone() } else { it.replace("acc(", "rd(").replace(", 50", "") }
            }));
        }
    }

    /// Gives a lock back.
    fn leave(&mut self, receiver: &str, held: &mut Vec<String>) {
        let invariant = self.invariant_of(receiver);
        if held.contains(&read_locked(receiver)) {
            self.line(&format!("rd release {receiver};"));
            held.retain(|it| *it != read_locked(receiver) && !it.starts_with("rd("));
            return;
        }
        let mut left = held.clone();
        let is_complete = Self::take(&mut left, &invariant);
        if self.dares(is_complete) {
            let word = self.pick.of(&["release", "release", "release", "downgrade", "unshare"]);
            self.line(&format!("{word} {receiver};"));
            if word == "unshare" {
                left.clone_from(held);
            }
            left.retain(|it| *it != locked(receiver));
            if word == "downgrade" {
                left.push(read_locked(receiver));
            }
            *held = left;
        }
    }

    fn invariant_of(&self, receiver: &str) -> Vec<String> {
        all_about(&self.invariant, receiver, receiver, "1")
    }

    fn call(&mut self, receiver: &str, held: &mut Vec<String>) {
        let Some(contract) = self.pick.one(&self.methods).cloned() else { return };
        let other = self.receiver(held);
        let number = self.pick.of(&["1", "2", "v"]).to_owned();
        let mut left = held.clone();
        let requires = all_about(&contract.requires, receiver, &other, &number);
        let is_complete = Self::take(&mut left, &requires);
        if !self.dares(is_complete) {
            return;
        }
        let Contract { name, ensures, .. } = contract;
        let ensures = all_about(&ensures, receiver, &other, &number);
        if self.pick.chance(50) {
            self.names += 1;
            let token = format!("t{}", self.names);
            self.line(&format!("fork {token} := {receiver}.{name}({other}, {number}, h);"));
            self.tokens.push((token, ensures));
        } else {
            self.line(&format!("call {receiver}.{name}({other}, {number}, h);"));
            left.extend(ensures);
        }
        *held = left;
    }

    fn send(&mut self, object: &str, held: &mut Vec<String>) {
        let mut left = held.clone();
        let is_complete = Self::take(&mut left, &all_about(&self.message, object, object, "1"));
        if self.dares(is_complete) {
            self.line(&format!("send h({object});"));
            let debt = left.iter().position(|it| it == "credit(h, -1)");
            match debt {
                Some(at) => _ = left.swap_remove(at),
                None => left.push("credit(h, 1)".to_owned()),
            }
            *held = left;
        }
    }

    fn receive(&mut self, held: &mut Vec<String>) {
        let credit = held.iter().position(|it| it == "credit(h, 1)");
        if !self.dares(credit.is_some() && held.contains(&in_order("h"))) {
            return;
        }
        self.line("receive w := h;");
        if let Some(at) = credit {
            held.swap_remove(at);
        }
        held.retain(|it| !it.contains("w."));
        held.push("w != null".to_owned());
        held.extend(all_about(&self.message, "w", "w", "1"));
    }

    fn join(&mut self, held: &mut Vec<String>) {
        let Some((token, ensures)) = self.tokens.pop() else { return };
        self.line(&format!("join {token};"));
        held.extend(ensures);
    }

    /// Makes an `if`. Behind it, only assertions that hold behind both branches are held.
    fn branches(&mut self, held: &mut Vec<String>) {
        let mut other = held.clone();
        self.block("if (v > 0) {", |this| this.apart(2, held));
        self.lines.pop();
        self.block("} else {", |this| this.apart(1, &mut other));
        held.retain(|it| other.contains(it));
    }

    /// Makes the statements of a block. Tokens in it are not known outside.
    fn apart(&mut self, count: usize, held: &mut Vec<String>) {
        let tokens = std::mem::take(&mut self.tokens);
        self.statements(count, held);
        self.tokens = tokens;
    }

    fn iteration(&mut self, held: &[String]) {
        self.line("while (v < 2)");
        let mut inside: Vec<String> = held.to_vec();
        inside.retain(|_| self.pick.chance(80));
        for assertion in inside.clone() {
            self.line(&format!("  invariant {assertion}"));
        }
        self.block("{", |this| {
            this.apart(2, &mut inside);
            this.line("v := v + 1;");
        });
    }

    /// Ends threads and gives locks back, mostly.
    fn end(&mut self, held: &mut Vec<String>) {
        while !self.tokens.is_empty() && self.pick.chance(80) {
            self.join(held);
        }
        self.tokens.clear();
        for receiver in ["this", "o", "p"] {
            let is_locked =
                [locked(receiver), read_locked(receiver)].iter().any(|it| held.contains(it));
            if is_locked && self.pick.chance(85) {
                self.leave(receiver, held);
            }
        }
    }
}
