//! Misuse planted into programs that run without a failure: what `chalice-run` does not notice, it
//! lets pass wrongly.
//!
//! A [`Site`] is a statement that a run has executed before it passed. Something is added right
//! there that makes a check fail, whatever the rest of the program does ([`Kind`]). The run with
//! the same start and the same decisions comes to the same place, and has to end there with that
//! failure.

use std::fmt;

use chalice::Span;
use chalice_run::code::{Code, Expr, Instr, Kind as Form, Op, Rhs};
use chalice_run::generate::{Bounds, Found, Order, Starts};
use chalice_run::machine::{Config, Machine, Trace};
use chalice_run::run::{Outcome, Scheduling, Verdict, run};
use chalice_run::sources::Sources;

use crate::cross_check::{self, Limits};

/// The kind of planted misuse.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// `assert false` before a statement.
    AssertFalse,
    /// An assertion about values is negated.
    NegatedAssertion,
    /// A method that keeps a hundredth of the field is called before the field is written.
    LostBeforeWrite,
    /// A method that keeps the field is called before the field is read.
    LostBeforeRead,
    /// A statement that can succeed once only is executed twice.
    Twice,
    /// A method that asks for all of something is forked twice.
    ForkedTwice,
    /// A null receiver for a field that is written.
    NullReceiver,
    /// The method ensures `false`.
    EnsuresFalse,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::AssertFalse,
        Self::NegatedAssertion,
        Self::LostBeforeWrite,
        Self::LostBeforeRead,
        Self::Twice,
        Self::ForkedTwice,
        Self::NullReceiver,
        Self::EnsuresFalse,
    ];

    /// As it is in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::AssertFalse => "assert-false",
            Self::NegatedAssertion => "negated-assertion",
            Self::LostBeforeWrite => "lost-before-write",
            Self::LostBeforeRead => "lost-before-read",
            Self::Twice => "twice",
            Self::ForkedTwice => "forked-twice",
            Self::NullReceiver => "null-receiver",
            Self::EnsuresFalse => "ensures-false",
        }
    }
}

/// A place for something that must fail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    /// The planted misuse.
    pub kind: Kind,
    /// The method whose start leads there.
    pub method: String,
    /// The number of the start, from 1.
    pub start: u64,
    /// Where it is in the text.
    pub place: Span,
    /// The line of the failure.
    pub line: usize,
    /// The expected report: a kind and a reason, or as much of it as is certain.
    pub expected: &'static str,
    edits: Vec<(usize, usize, String)>,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at line {}, started {}", self.kind.name(), self.line, self.method)
    }
}

/// The fate of planted misuse.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The failure is reported.
    Found,
    /// The mistake was not noticed: how the run ended instead.
    Missed(String),
    /// The changed text is no program.
    Rejected,
}

/// The name of the methods that are added: not one of those that people choose.
const ADDED: &str = "keeps_what_it_is_given";

fn sources(name: &str, text: &str) -> Sources {
    Sources::new(vec![(name.to_owned(), text.to_owned())])
}

fn code(sources: &Sources) -> Option<Code> {
    let program = sources.check().0?;
    Some(Code::new(program, sources.options()))
}

/// Runs a method from its starts up to a number, and looks at each run.
fn each_start<'c>(
    code: &'c Code,
    method: u32,
    limits: Limits,
    config: Config,
    mut visit: impl FnMut(u64, &Machine<'c>, &Outcome),
) {
    let order = Order::Random(limits.seed);
    let mut starts = Starts::new(code, method, config, Bounds::default(), order);
    starts.patience = limits.patience;
    while starts.found < limits.starts {
        let Found::Start(mut machine) = starts.next_start() else { return };
        let outcome = run(&mut machine, &Scheduling::First);
        visit(starts.found, &machine, &outcome);
        starts.go_on(&machine);
    }
}

/// Where something can be planted into a program: at each statement that a run executed which
/// passed whole, in the order of methods, starts and statements.
pub fn sites(name: &str, text: &str, limits: Limits) -> Vec<Site> {
    let sources = sources(name, text);
    let Some(code) = code(&sources) else { return Vec::new() };
    if code.options.check_leaks || text.contains(ADDED) {
        return Vec::new();
    }
    let config = Config { trace: Trace::All, ..cross_check::config(limits) };
    let mut sites: Vec<Site> = Vec::new();
    for method in 0..code.methods.len() as u32 {
        let described = &code.methods[method as usize];
        each_start(&code, method, limits, config.clone(), |start, machine, outcome| {
            if outcome.verdict != Verdict::Passed || !machine.skipped.is_empty() {
                return;
            }
            let planner =
                Planner { sources: &sources, code: &code, text, method: &described.name, start };
            let mut seen = Vec::new();
            for line in &machine.trace {
                if !seen.contains(&line.span) {
                    seen.push(line.span);
                    planner.plan(line.span, &mut sites);
                }
            }
        });
    }
    sites
}

/// Plants something, and runs the program from the same start.
pub fn judge(name: &str, text: &str, site: &Site, limits: Limits) -> Fate {
    let mut planted = text.to_owned();
    let mut edits = site.edits.clone();
    edits.sort();
    for (from, to, new) in edits.iter().rev() {
        planted.replace_range(*from..*to, new);
    }
    let sources = sources(name, &planted);
    let Some(code) = code(&sources) else { return Fate::Rejected };
    let Some(method) = code.method(&site.method) else { return Fate::Rejected };
    let limits = Limits { starts: site.start, ..limits };
    let mut fate = Fate::Missed("no start".to_owned());
    each_start(&code, method, limits, cross_check::config(limits), |_, _, outcome| {
        if fate == Fate::Found {
            return;
        }
        let failure = outcome.failure.as_ref();
        let is_expected = failure.is_some_and(|failure| {
            failure.id.starts_with(site.expected) && sources.line(failure.span) == site.line
        });
        let is_failure = matches!(outcome.verdict, Verdict::Failed | Verdict::Deadlock);
        fate = match failure {
            Some(_) if is_expected && is_failure => Fate::Found,
            Some(failure) => {
                let line = sources.line(failure.span);
                Fate::Missed(format!("{line}: {}: {}", failure.id, failure.message))
            }
            None => Fate::Missed(outcome.verdict.as_str().to_owned()),
        };
    });
    fate
}

/// Finds what can be planted at a statement.
struct Planner<'p> {
    sources: &'p Sources,
    code: &'p Code,
    text: &'p str,
    method: &'p str,
    start: u64,
}

impl Planner<'_> {
    fn plan(&self, span: Span, sites: &mut Vec<Site>) {
        for method in &self.code.methods {
            for instr in method.body.iter().filter(|instr| instr.span == span) {
                self.plan_at(instr, sites);
            }
            let ends = method.body.last().is_some_and(|last| last.span == span);
            let clause = method.requires.first().or(method.ensures.first());
            if let (true, Some(clause)) = (ends, clause) {
                self.plan_postcondition(clause, sites);
            }
        }
    }

    fn add(
        &self,
        sites: &mut Vec<Site>,
        kind: Kind,
        place: Span,
        expected: &'static str,
        edits: Vec<(usize, usize, String)>,
    ) {
        if sites.iter().any(|site| site.kind == kind && site.place == place) {
            return;
        }
        let (method, start) = (self.method.to_owned(), self.start);
        let line = self.sources.line(place);
        sites.push(Site { kind, method, start, place, line, expected, edits });
    }

    fn before(&self, span: Span, what: String) -> (usize, usize, String) {
        (span.start as usize, span.start as usize, what)
    }

    fn plan_at(&self, instr: &Instr, sites: &mut Vec<Site>) {
        let span = instr.span;
        let (start, end) = (span.start as usize, span.end as usize);
        let statement = &self.text[start..end];
        // A branch may be one statement, into which nothing can be put.
        if self.text[..start].trim_end().ends_with("else") {
            return;
        }
        let again = format!("{}; ", statement.trim_end().trim_end_matches(';'));
        let repeated = vec![self.before(span, again)];
        match &instr.op {
            Op::Assert(e, None) if e.is_pure => {
                let (from, to) = (e.span.start as usize, e.span.end as usize);
                let negated = vec![(from, from, "!(".to_owned()), (to, to, ")".to_owned())];
                let expected = "assert.failed:assertion.false";
                self.add(sites, Kind::NegatedAssertion, span, expected, negated);
            }
            Op::AssignField { receiver, cell, value, .. } => {
                self.plan_write(span, receiver, *cell, value, sites);
            }
            Op::Assign { value: Rhs::Expr(value), .. } if statement.contains(":=") => {
                self.plan_read(span, value, sites);
            }
            Op::Release { .. } if statement.contains("release") => {
                self.add(sites, Kind::Twice, span, "release.failed", repeated);
            }
            Op::Acquire { .. } if statement.contains("acquire") => {
                // Where the order of locks is not checked, who waits for himself is found waiting.
                let is_ordered = self.code.options.deadlock_checks;
                let expected = if is_ordered { "acquire.failed" } else { "deadlock" };
                self.add(sites, Kind::Twice, span, expected, repeated);
            }
            Op::Join { .. } => self.add(sites, Kind::Twice, span, "join.failed", repeated),
            Op::Free(_) => self.add(sites, Kind::Twice, span, "free.failed", repeated),
            Op::Unshare(_) => self.add(sites, Kind::Twice, span, "unshare.failed", repeated),
            Op::Place { reorder: false, .. } => {
                self.add(sites, Kind::Twice, span, "share.failed", repeated);
            }
            Op::Unfold(access) if matches!(access.amount, chalice_run::code::AmountExpr::Full) => {
                self.add(sites, Kind::Twice, span, "unfold.failed", repeated);
            }
            Op::Fork(site) => {
                let callee = &self.code.methods[site.method as usize];
                if site.outs.is_empty() && callee.requires.iter().any(asks_for_all) {
                    self.add(sites, Kind::ForkedTwice, span, "exhale.failed", repeated);
                }
            }
            _ => {}
        }
        if is_whole_statement(instr, statement) {
            let planted = vec![self.before(span, "assert false; ".to_owned())];
            let expected = "assert.failed:assertion.false";
            self.add(sites, Kind::AssertFalse, span, expected, planted);
        }
    }

    fn plan_write(
        &self,
        span: Span,
        receiver: &Expr,
        cell: u32,
        value: &Rhs,
        sites: &mut Vec<Site>,
    ) {
        let Some((object, class)) = self.object(receiver) else { return };
        let field = &self.code.classes[class].cell_names[cell as usize];
        if let Some(lost) = self.losing(span, &object, class, &format!("acc({field}, 1)")) {
            let expected = "assignment.failed:insufficient.permission";
            self.add(sites, Kind::LostBeforeWrite, span, expected, lost);
        }
        let is_simple = matches!(value, Rhs::Expr(_));
        if is_simple && !matches!(receiver.kind, Form::Slot(0)) {
            let name = &self.code.classes[class].name;
            let (from, to) = (span.start as usize, receiver.span.end as usize);
            if receiver.span.start == span.start {
                let nobody = format!("var nobody: {name} := null; nobody");
                let edits = vec![(from, to, nobody)];
                self.add(sites, Kind::NullReceiver, span, "assignment.failed:receiver.null", edits);
            }
        }
    }

    /// The first field that a value reads, whatever else it does.
    fn plan_read(&self, span: Span, value: &Expr, sites: &mut Vec<Site>) {
        let Form::Field { receiver, cell } = &value.kind else { return };
        let Some((object, class)) = self.object(receiver) else { return };
        // Levels may be read by many; what is lost of them need not be all.
        if *cell == 0 {
            return;
        }
        let field = &self.code.classes[class].cell_names[*cell as usize];
        let lost = self.losing(span, &object, class, &format!("acc({field})"));
        if let Some(lost) = lost {
            // A caller with less fails at the call.
            self.add(sites, Kind::LostBeforeRead, span, "", lost);
        }
    }

    /// A call that loses permission, and the method that it calls.
    fn losing(
        &self,
        span: Span,
        object: &str,
        class: usize,
        what: &str,
    ) -> Option<Vec<(usize, usize, String)>> {
        let (_, described) = self.code.program.classes.iter().nth(class)?;
        let end = described.span.end as usize;
        let end = self.text[..end].rfind('}')?;
        let method = format!(" method {ADDED}() requires {what} {{ }} ");
        Some(vec![self.before(span, format!("call {object}.{ADDED}(); ")), (end, end, method)])
    }

    /// The text and the class of a receiver that can be named again.
    fn object(&self, receiver: &Expr) -> Option<(String, usize)> {
        let text = self.text.get(receiver.span.start as usize..receiver.span.end as usize)?;
        let class = self.class_of(receiver)?;
        let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "_$.'".contains(c));
        match receiver.kind {
            Form::Slot(0) => Some(("this".to_owned(), class)),
            _ if is_name(text) && !text.is_empty() => Some((text.to_owned(), class)),
            _ => None,
        }
    }

    fn class_of(&self, receiver: &Expr) -> Option<usize> {
        let method = self.code.methods.iter().find(|method| {
            method.span.start <= receiver.span.start && receiver.span.end <= method.span.end
        })?;
        match &receiver.kind {
            Form::Slot(0) => Some(method.class as usize),
            Form::Slot(slot) => match method.frame.types[*slot as usize].as_ref()? {
                chalice::program::Type::Class(class) => {
                    self.code.program.classes.iter().position(|(id, _)| id == *class)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// `ensures false` in front of the first clause of a contract.
    fn plan_postcondition(&self, clause: &Expr, sites: &mut Vec<Site>) {
        let before = &self.text[..clause.span.start as usize];
        let keywords = ["requires", "ensures"].map(|keyword| before.rfind(keyword));
        let Some(at) = keywords.into_iter().flatten().max() else { return };
        let place = Span { start: at as u32, end: clause.span.end };
        let edits = vec![(at, at, "ensures false ".to_owned())];
        let expected = "postcondition.violated:assertion.false";
        self.add(sites, Kind::EnsuresFalse, place, expected, edits);
    }
}

/// Does a clause ask for all permission to something, under no condition?
fn asks_for_all(clause: &Expr) -> bool {
    use chalice_run::code::{AmountExpr, Target};
    match &clause.kind {
        Form::And(parts) => parts.iter().any(asks_for_all),
        Form::Access(access) => {
            let is_one = matches!(access.target, Target::Cell { .. } | Target::Predicate { .. });
            is_one && matches!(access.amount, AmountExpr::Full)
        }
        _ => false,
    }
}

/// Does the statement stand as it is in the text, so that something can be put before it?
fn is_whole_statement(instr: &Instr, text: &str) -> bool {
    let keyword = match &instr.op {
        Op::Call(_) => "call",
        Op::Assert(..) => "assert",
        Op::Fork(_) => "fork",
        Op::Join { .. } => "join",
        Op::Fold(_) => "fold",
        Op::Unfold(_) => "unfold",
        Op::Send { .. } => "send",
        Op::Receive { .. } => "receive",
        Op::AssignField { .. } => "",
        _ => return false,
    };
    text.starts_with(keyword)
}

#[cfg(test)]
mod tests;
