//! From inputs to outcomes: reads a file, hands it to its front end and to the engine, and puts
//! every finding at the place its author wrote.
//!
//! An [`Outcome`] holds all that a user learns about one file; [`crate::output`] shows it. Nothing
//! here prints.

pub mod audit;
pub mod follow;
pub mod format;
pub mod graph;
pub mod input;
pub mod load;
pub mod outcome;
pub(crate) mod parts;
pub mod place;
pub mod replay;
pub mod selectable;
pub mod shard;
pub mod states;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use findings::{ErrorId, Reason};
use rustc_hash::FxHashSet;
use sil::load::Assumptions;
use sil::program::{Member, Program};
use sil::render::{Message, Place, Severity};
use sil::source::{Sources, Span};

pub use follow::Follower;
pub use input::{Input, Lines};
pub use outcome::{Diagnostic, FileVerdict, MemberOutcome, Missing, Obligation, Outcome};

use crate::answers::Answers;
use crate::stack;
use crate::verify::Request;
use follow::Relay;
use graph::Bodies;
use input::Language;
use load::Loaded;
use place::Places;
use replay::Replayer;
use shard::{Dealt, Sharding};
use symex::observer::Planned;
use symex::options::{Assigned, Options};
use symex::report::{Cost, Finding, MemberKind, MemberReport, Statistics, Verdict};
use syxc::Direct;

/// How far a program is taken.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Task {
    /// Parse, resolve, check types and consistency.
    Check,
    #[default]
    Verify,
}

/// The settings for all files of one run. The default verifies all members and reports all errors.
#[derive(Clone, Default, Debug)]
pub struct Session {
    pub task: Task,
    pub options: Options,
    /// The results of earlier attempts at the inputs.
    pub assigned: Assigned,
    /// Name every `assume` and `inhale` among what was trusted.
    pub audit: bool,
    /// Run Chalice methods that fail, and look for a run that goes wrong as they are said to.
    pub replay: bool,
    /// Execute Chalice programs directly, without a translation; nothing else is accepted then.
    pub direct: bool,
    /// Only members that overlap one of these lines; empty: all.
    pub at: Vec<Lines>,
    /// Report at most this many errors per member; 0: all.
    pub errors_per_member: usize,
    /// The answers of earlier runs, where they are to be used; new answers are added.
    pub answers: Option<Arc<Answers>>,
    /// Tell the control flow of methods, for those who draw it.
    pub graphs: bool,
    /// Only the members of one shard; none: all.
    pub shard: Option<Arc<Sharding>>,
}

const STACK_SIZE: usize = 1 << 30;

impl Session {
    /// Reads and verifies one input. Never panics: a defect below becomes an outcome, too.
    pub fn run(&self, input: &Input) -> Outcome {
        self.run_with(input, &follow::Nobody)
    }

    /// The same; `follower` hears how it gets on, and may stop it.
    pub fn run_with(&self, input: &Input, follower: &dyn Follower) -> Outcome {
        let started = Instant::now();
        let mut outcome = on_large_stack(|| self.run_here(input, follower))
            .unwrap_or_else(|defect| broken(input, &defect));
        outcome.time = started.elapsed();
        outcome
    }

    fn run_here(&self, input: &Input, follower: &dyn Follower) -> Outcome {
        let (loaded, mut outcome) =
            front_end(input, self.options.assumptions(), self.direct, self.task);
        outcome.is_direct = self.direct;
        match loaded {
            Some(accepted) if self.task == Task::Verify => {
                self.verify(input, accepted, &mut outcome, follower);
                outcome.complete();
            }
            _ => follower.loaded(&outcome, &[]),
        }
        outcome
    }

    /// Verifies the program of an input.
    fn verify(
        &self,
        input: &Input,
        accepted: Accepted,
        outcome: &mut Outcome,
        follower: &dyn Follower,
    ) {
        let Accepted { mut program, is_blank, sources, direct } = accepted;
        if self.options.variation != 0 {
            let seed = self.options.variation.into();
            fastrand::Rng::with_seed(seed).shuffle(&mut program.order);
        }
        let names = program.origins.files.values().map(|name| &**name);
        for original in load::originals(input, names, &outcome.texts) {
            outcome.texts.add(original);
        }
        let texts = outcome.texts.clone();
        let places = Places::new(&program, &sources, &texts);
        outcome.trusted = audit::trusted(&program, &places, &self.options, self.audit);
        // The verdict if nothing is verified.
        outcome.verdict = if self.selects() {
            FileVerdict::NothingSelected
        } else {
            without_members_to_verify(&program, is_blank)
        };
        let Some(options) = self.options_for(&program, &places) else {
            return follower.loaded(outcome, &[]);
        };
        let request = Request::new(&program, &sources, &options);
        let request = direct.as_ref().map_or(request, |direct| request.directly(direct));
        let mut assigned = self.assigned.clone();
        if let Some(sharding) = &self.shard {
            assigned.settled.extend(deal(sharding, &request, &places, outcome));
        }
        let is_chalice = input.language() == Language::Chalice;
        let replayer = (self.replay && is_chalice)
            .then(|| Replayer::new(input, &texts, direct.is_some()))
            .flatten();
        let replayer = replayer.as_ref();
        let bodies = Bodies::new(&program, &places);
        let bodies = (self.graphs && direct.is_none()).then_some(&bodies);
        let told = &*outcome;
        let relay =
            Relay { session: self, places: &places, outcome: told, replayer, bodies, follower };
        let request = request.assigned(&assigned).observed(&relay);
        let report = request.recalling(self.answers.as_deref()).verify();
        for member in report.members {
            let (member, diagnostics) = self.of_report(member, &places, replayer, bodies);
            outcome.add(member, diagnostics);
        }
    }

    /// Makes the outcome of a member for the user.
    fn of_report(
        &self,
        mut member: MemberReport,
        places: &Places<'_>,
        replayer: Option<&Replayer>,
        bodies: Option<&Bodies<'_>>,
    ) -> (MemberOutcome, Vec<Diagnostic>) {
        let graphs = bodies.map_or_else(Vec::new, |bodies| bodies.graphs(&member));
        member.name = places.name(member.span, member.name);
        let mut diagnostics = self.diagnostics(&member, places);
        if let Some(replayer) = replayer {
            for diagnostic in &mut diagnostics {
                diagnostic.replay = replayer.replay(diagnostic);
            }
        }
        let outcome = MemberOutcome {
            kind: member.kind,
            verdict: honest(member.verdict, &member.findings, places),
            place: places.of(member.span),
            name: member.name,
            trusted: member.trusted.into_iter().map(|(_, words)| words).collect(),
            obligations: obligations(&member.statistics, member.span, places),
            statistics: member.statistics,
            graphs,
        };
        (outcome, diagnostics)
    }

    /// Tells whether some members were chosen, rather than all.
    fn selects(&self) -> bool {
        let Options { members, excluded, methods, excluded_methods, .. } = &self.options;
        let globs = [members, excluded, methods, excluded_methods];
        !(globs.into_iter().all(Vec::is_empty) && self.at.is_empty())
    }

    /// Returns the engine's options for one program; `None` if `at` selects nothing in it.
    fn options_for(&self, program: &Program, places: &Places<'_>) -> Option<Options> {
        let mut options = self.options.clone();
        if !self.at.is_empty() {
            let selected: Vec<String> = program
                .order
                .iter()
                .map(|&member| name_and_span(program, member))
                .filter(|(_, span)| self.at.iter().any(|lines| lines.overlap(&places.of(*span))))
                .map(|(name, _)| name.to_owned())
                .collect();
            if selected.is_empty() {
                return None;
            }
            options.members.extend(selected);
        }
        Some(options)
    }

    fn diagnostics(&self, member: &MemberReport, places: &Places<'_>) -> Vec<Diagnostic> {
        let of_member = |finding: &Finding| {
            let (path, steps) = places.path(finding).into_iter().unzip();
            Diagnostic {
                member: Some(member.name.clone()),
                path,
                steps,
                counterexample: finding.counterexample.clone().map(|one| places.state(one)),
                ..places.diagnostic(finding)
            }
        };
        let mut diagnostics: Vec<Diagnostic> = member.findings.iter().map(of_member).collect();
        self.keep_first(&mut diagnostics);
        // Whatever is not verified is said to be so, with a place.
        if diagnostics.is_empty()
            && let Some((id, text)) = unexplained(member.verdict)
        {
            let mut diagnostic = whole_file("", id, format!("{text}: {}", member.name));
            diagnostic.message.place = places.of(member.span);
            diagnostic.member = Some(member.name.clone());
            diagnostics.push(diagnostic);
        }
        diagnostics
    }
}

/// Takes an input through its front end and applies `view` to the program. Never panics.
pub fn load_program<T: Send>(
    input: &Input,
    view: impl FnOnce(&Program) -> T + Send,
) -> (Option<T>, Outcome) {
    on_large_stack(|| {
        let (program, outcome) = front_end(input, Assumptions::default(), false, Task::Verify);
        (program.map(|accepted| view(&accepted.program)), outcome)
    })
    .unwrap_or_else(|defect| (None, broken(input, &defect)))
}

/// A program without errors, as its front end leaves it.
struct Accepted {
    program: Program,
    /// See [`Loaded::is_blank`].
    is_blank: bool,
    sources: Sources,
    /// The Chalice program whose table of declarations this is.
    direct: Option<Direct>,
}

/// Returns the program of an input, if there are no errors, and what the front end has to say about
/// it.
fn front_end(
    input: &Input,
    assumptions: Assumptions,
    is_direct: bool,
    task: Task,
) -> (Option<Accepted>, Outcome) {
    let mut outcome = Outcome::empty(&input.name);
    let (loaded, direct) = match input.read() {
        Ok(text) if is_direct => load::load_direct(input, text),
        Ok(text) if task == Task::Check => (load::check(input, text, assumptions), None),
        Ok(text) => (load::load(input, text, assumptions), None),
        Err(unreadable) => (Loaded::unreadable(input, unreadable), None),
    };
    outcome.texts = loaded.texts();
    outcome.diagnostics = loaded.messages.into_iter().map(Diagnostic::of).collect();
    let mut program = loaded.program;
    if outcome.errors() > 0 {
        outcome.verdict = rejection(&outcome.diagnostics);
        program = None;
    } else if loaded.is_accepted {
        outcome.verdict = FileVerdict::Checked;
    } else {
        let text = "the front end yields no program and does not say why";
        outcome.diagnostics.push(whole_file(&outcome.file, ErrorId::Internal.id(), text.into()));
        outcome.verdict = FileVerdict::Error;
    }
    outcome.sort();
    let Loaded { is_blank, sources, .. } = loaded;
    (program.map(|program| Accepted { program, is_blank, sources, direct }), outcome)
}

/// Returns the outcome of a defect.
fn broken(input: &Input, defect: &Defect) -> Outcome {
    let mut outcome = Outcome::empty(&input.name);
    outcome.verdict = FileVerdict::Error;
    let text = format!("internal error: {defect}");
    outcome.diagnostics.push(whole_file(&input.name, ErrorId::Internal.id(), text));
    outcome
}

/// The id of what the verifier cannot do yet.
pub const FEATURE_UNSUPPORTED: &str = "internal:feature.unsupported";

/// The side that an error of a front end is about, told by the error's id.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The program is wrong.
    Program,
    /// The verifier cannot do what the program asks for.
    Missing,
    /// The verifier is wrong.
    Defect,
}

impl Fault {
    fn of(message: &Message) -> Self {
        let (error, reason) = message.id.split_once(':').unwrap_or((&message.id, ""));
        if error != ErrorId::Internal.id() {
            Self::Program
        } else if reason == Reason::FeatureUnsupported.id() {
            Self::Missing
        } else {
            Self::Defect
        }
    }
}

/// Returns the verdict on a file that a front end refuses.
fn rejection(diagnostics: &[Diagnostic]) -> FileVerdict {
    let faults = || diagnostics.iter().map(|one| Fault::of(&one.message));
    if faults().any(|fault| fault == Fault::Defect) {
        FileVerdict::Error
    } else if faults().all(|fault| fault == Fault::Missing) {
        FileVerdict::Inconclusive
    } else {
        FileVerdict::InputError
    }
}

impl Session {
    /// Drops what is more than the asked number of errors, in the order in which execution met
    /// them.
    fn keep_first(&self, diagnostics: &mut Vec<Diagnostic>) {
        if self.errors_per_member == 0 {
            return;
        }
        // Findings that are shown as one count as one.
        let mut errors = FxHashSet::default();
        diagnostics.retain(|diagnostic| {
            let Message { severity, place, id, .. } = &diagnostic.message;
            let error = (place.clone(), id.clone());
            if *severity != Severity::Error || errors.contains(&error) {
                return true;
            }
            errors.len() < self.errors_per_member && errors.insert(error)
        });
    }
}

/// Fail closed: a member with an error is not verified, whatever its verdict says.
fn honest(verdict: Verdict, findings: &[Finding], places: &Places<'_>) -> Verdict {
    let failed = findings.iter().any(|finding| finding.severity == Severity::Error);
    if findings.iter().any(|finding| places.is_of_translator(finding)) {
        verdict.max(Verdict::Error)
    } else if failed {
        verdict.max(Verdict::Failed)
    } else {
        verdict
    }
}

fn unexplained(verdict: Verdict) -> Option<(&'static str, &'static str)> {
    match verdict {
        Verdict::Verified => None,
        Verdict::Inconclusive => Some((ErrorId::Timeout.id(), "gave up on this member")),
        Verdict::Unsupported => {
            Some((FEATURE_UNSUPPORTED, "this member uses an unsupported construct"))
        }
        Verdict::Failed => {
            Some((ErrorId::Internal.id(), "this member failed without an explanation"))
        }
        Verdict::Error => Some((ErrorId::Internal.id(), "internal error in this member")),
    }
}

fn whole_file(file: &str, id: &str, text: String) -> Diagnostic {
    Diagnostic::of(Message::error(id, text, Place::start_of(file)))
}

/// Deals the members that a request asks for to shards, and yields those of other shards.
///
/// Where a run goes on after a part of it was lost, members are dealt as they were in the
/// beginning: what is settled has no part in it.
fn deal(
    sharding: &Sharding,
    request: &Request<'_>,
    places: &Places<'_>,
    outcome: &mut Outcome,
) -> Vec<(MemberKind, String)> {
    let members = request.members();
    let mut others = Vec::new();
    let name = |member: &Planned| places.name(member.span, member.name.clone());
    let names: Vec<String> = members.iter().map(name).collect();
    let shards = sharding.deal(&outcome.file, &members, &names);
    for ((member, name), shard) in members.into_iter().zip(names).zip(shards) {
        let Planned { kind, name: id, span } = member;
        if shard != sharding.shard.number {
            others.push((kind, id));
        }
        outcome.dealt.push(Dealt { kind, name, place: places.of(span), shard });
    }
    // Members that others verify are no members that nobody selected.
    if !outcome.dealt.is_empty() {
        outcome.verdict = FileVerdict::Checked;
    }
    others
}

/// Returns the verdict on a program without a verified member, where no selection was made.
///
/// The rule: where something is declared, of whatever kind (a field, a domain, a macro, an import;
/// in other languages a class or a type), and nothing of it needs a proof, all is verified. A
/// program that declares nothing is told apart, since its text may have been lost.
fn without_members_to_verify(program: &Program, is_blank: bool) -> FileVerdict {
    let needs_no_proof = |member: &Member| matches!(member, Member::Field(_) | Member::Domain(_));
    if is_blank {
        FileVerdict::Empty
    } else if program.order.iter().all(needs_no_proof) {
        FileVerdict::Verified
    } else {
        FileVerdict::NothingSelected
    }
}

/// Returns the name of a member and where it stands.
pub fn name_and_span(program: &Program, member: Member) -> (&str, Span) {
    match member {
        Member::Field(id) => (&program.fields[id].name, program.fields[id].span),
        Member::Predicate(id) => (&program.predicates[id].name, program.predicates[id].span),
        Member::Function(id) => (&program.functions[id].name, program.functions[id].span),
        Member::Domain(id) => (&program.domains[id].name, program.domains[id].span),
        Member::Method(id) => (&program.methods[id].name, program.methods[id].span),
    }
}

/// Runs `work` where recursion has room; a panic in it is the error.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Defect> {
    thread::scope(|scope| {
        let caught = || catch_unwind(AssertUnwindSafe(work));
        let thread = thread::Builder::new()
            .stack_size(stack::size(STACK_SIZE))
            .spawn_scoped(scope, caught)?;
        thread.join().unwrap_or_else(Err).map_err(|panic| Defect::Panic(words(&*panic)))
    })
}

/// An end of some work that is not its result.
#[derive(Debug, thiserror::Error)]
pub enum Defect {
    /// No thread with a large stack could be started.
    #[error("cannot start a thread: {0}")]
    NoThread(#[from] std::io::Error),
    /// The words of a panic.
    #[error("{0}")]
    Panic(String),
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".into())
}

/// Returns where the solver was at work, as the user finds it, in the order of
/// [`MemberOutcome::obligations`]; what has no place of its own is at that of the member.
fn obligations(statistics: &Statistics, member: Span, places: &Places<'_>) -> Vec<Obligation> {
    let of = |((span, kind), &cost): (&(Span, Cow<'static, str>), &Cost)| Obligation {
        place: places.of(if *span == Span::default() { member } else { *span }),
        kind: kind.clone().into_owned(),
        cost,
    };
    let mut all: Vec<_> = statistics.places.iter().map(of).collect();
    all.sort_by(|left, right| {
        let key = |of: &Obligation| (Reverse(of.cost.steps), of.place.start, of.place.end);
        let by_name = || (&left.place.file, &left.kind).cmp(&(&right.place.file, &right.kind));
        key(left).cmp(&key(right)).then_with(by_name)
    });
    all
}
