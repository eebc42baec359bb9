//! One run with answers: which tasks need no work, and what is kept of those that do.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::{Deserialize, Serialize};
use sil::plugins::termination::Instrumented;
use sil::program::{FunctionId, PredicateId, Program};
use sil::source::{Name, Sources, Span};

use super::encode::{Part, Reader};
use super::key::{Key, Keys, Subject};
use super::{Answer, Answers, Axioms, FactByName, store};
use symex::Context;
use symex::knowledge::functions::Phase;
use symex::members::analysis::Analysis;
use symex::options::{GivenUp, Options};
use symex::report::{Cost, Finding, MemberReport, Verdict, full_id};
use symex::state::heap::Resource;
use symex::whole::Fact;

/// The run of one program.
pub(crate) struct Recall<'p> {
    answers: &'p Answers,
    program: &'p Program,
    keys: Keys<'p>,
    tasks: Vec<(Key, Work)>,
    /// The results of each finished task.
    done: Vec<OnceLock<Done>>,
    /// Reports of answers that are being verified again.
    audited: Vec<OnceLock<Vec<MemberReport>>>,
}

/// The facts about a task that the answers need.
pub(crate) struct Work {
    /// Its functions, if it is about functions.
    pub(crate) functions: Vec<FunctionId>,
    /// The functions whose axioms it may use.
    pub(crate) uses: Vec<FunctionId>,
    /// The tasks whose outcomes it may use.
    pub(crate) after: Vec<usize>,
}

struct Done {
    /// The result depends on nothing but the program.
    is_clean: bool,
    /// The questions about the program as a whole, asked by the task or by tasks that it builds on.
    asked: Vec<(Fact, bool)>,
}

/// A span by its number in a part of the key, or a part of that.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct SpanRef {
    base: (usize, usize),
    /// The offset and the length of a part; none: the whole.
    inside: Option<(u32, u32)>,
    origin: (usize, usize),
}

/// A report, and what in it depends on where its member stands.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept {
    report: MemberReport,
    /// In the order of [`for_each_span`].
    spans: Vec<SpanRef>,
    /// The places that the solver worked for, as far as the key knows them.
    places: Vec<(Option<SpanRef>, Cow<'static, str>, Cost)>,
}

#[cfg(feature = "remote-cache")]
impl Kept {
    /// Returns the time that the member took.
    pub(super) fn time(&self) -> Duration {
        self.report.statistics.time
    }
}

/// The knowledge about the tasks before any of them runs.
pub(crate) struct Recalled {
    /// By number: the reports of a task that needs no work.
    pub(crate) reports: Vec<Option<Vec<MemberReport>>>,
}

impl Recalled {
    /// Returns the tasks that need no work.
    pub(crate) fn numbers(&self) -> Vec<usize> {
        let known = self.reports.iter().enumerate();
        known.filter(|(_, reports)| reports.is_some()).map(|(index, _)| index).collect()
    }
}

impl<'p> Recall<'p> {
    /// `None` where answers are of no use, since what is asked for is a trace of the work itself.
    pub(crate) fn new<'s>(
        answers: &'p Answers,
        program: &'p Program,
        sources: &'p Sources,
        checks: Option<&'p Instrumented>,
        (options, given_up): (&Options, &[GivenUp]),
        tasks: impl Iterator<Item = (Subject<'s>, Work)>,
    ) -> Option<Self> {
        if options.smt_log.is_some() || options.profile.is_some() {
            return None;
        }
        let mut keys = Keys::new(Reader { program, sources, checks }, options, given_up);
        let tasks: Vec<_> = tasks.map(|(subject, work)| (keys.of(&subject), work)).collect();
        let done = tasks.iter().map(|_| OnceLock::new()).collect();
        let audited = tasks.iter().map(|_| OnceLock::new()).collect();
        Some(Self { answers, program, keys, tasks, done, audited })
    }

    /// Looks for answers, and leaves what others need of them in the context.
    pub(crate) fn look(&self, context: &Context<'_>, analysis: &Analysis) -> Recalled {
        let names = Names::of(self.program);
        let holds = |(fact, answer): &(FactByName, bool)| {
            names.fact(fact).is_some_and(|fact| analysis.says(fact) == *answer)
        };
        let keys: Vec<_> = self.tasks.iter().map(|(key, _)| key.digest).collect();
        let found = self.answers.find_all(&keys, |answer| answer.facts.iter().all(holds));
        let mut task_of = FxHashMap::default();
        for (index, (_, work)) in self.tasks.iter().enumerate() {
            task_of.extend(work.functions.iter().map(|&function| (function, index)));
        }
        // The axioms in an answer, where they fit this program.
        let axioms = |index: usize| {
            let (answer, _) = found[index].as_ref()?;
            let fits = answer.numbering == self.tasks[index].0.numbering;
            answer.axioms.get().filter(|_| fits)
        };
        let is_audited = |_| self.answers.audit > 0.0 && fastrand::f64() < self.answers.audit;
        let mut runs: Vec<bool> =
            found.iter().map(|answer| answer.as_ref().is_none_or(is_audited)).collect();
        // The axioms of domains are looked at behind all functions.
        let all = task_of.values().copied().filter(|_| context.options.smoke);
        let mut needed: BTreeSet<usize> = all.collect();
        for index in (0..runs.len()).rev() {
            runs[index] |= needed.contains(&index) && axioms(index).is_none();
            if runs[index] {
                needed.extend(self.tasks[index].1.uses.iter().filter_map(|it| task_of.get(it)));
            }
        }
        for index in needed.into_iter().filter(|&index| !runs[index]) {
            for (position, phase, axioms) in axioms(index).unwrap_or_default() {
                let function = self.tasks[index].1.functions[*position];
                context.functions.insert(function, *phase, Arc::clone(axioms));
            }
        }
        let mut reports = Vec::with_capacity(runs.len());
        for (index, answer) in found.into_iter().enumerate() {
            let key = &self.tasks[index].0;
            let restored =
                answer.as_ref().map(|(answer, is_cached)| self.restored(key, answer, *is_cached));
            if runs[index] {
                if let Some(reports) = restored {
                    let _ = self.audited[index].set(reports);
                }
                reports.push(None);
                continue;
            }
            if let Some((answer, _)) = &answer {
                tell(context, key, answer);
                let asked = answer.facts.iter();
                let asked = asked.filter_map(|(fact, holds)| Some((names.fact(fact)?, *holds)));
                let _ = self.done[index].set(Done { is_clean: true, asked: asked.collect() });
            }
            reports.push(restored);
        }
        Recalled { reports }
    }

    /// Returns the reports of an answer, at the places of this program.
    fn restored(&self, key: &Key, answer: &Answer, is_cached: bool) -> Vec<MemberReport> {
        let restored = |Kept { report, spans, places }: &Kept| {
            let mut report = report.clone();
            report.statistics.is_cached = is_cached;
            let place = |(at, construct, cost): &(Option<SpanRef>, Cow<'static, str>, Cost)| {
                let span = at.map_or(Span::default(), |at| self.span(key, at));
                ((span, construct.clone()), *cost)
            };
            report.statistics.places = places.iter().map(place).collect();
            let mut spans = spans.iter();
            for_each_span(&mut report, |span| {
                *span = self.span(key, *spans.next().expect("there is one for each"));
            });
            report
        };
        answer.reports.iter().map(restored).collect()
    }

    /// Tells whether tasks without an answer are given up.
    pub(crate) fn is_complete(&self) -> bool {
        self.answers.is_complete
    }

    /// Waits a little for answers that are still being written.
    pub(crate) fn finish(&self) {
        self.answers.finish();
    }

    /// A task has been done in so much time; keeps its outcome, if nothing but the program had a
    /// part in it. Where an audit finds that the outcome is another than an answer says, returns
    /// words of that, and keeps the answer.
    pub(crate) fn done<'r>(
        &self,
        index: usize,
        context: &Context<'_>,
        time: Duration,
        asked: Vec<(Fact, bool)>,
        reports: impl Iterator<Item = &'r MemberReport>,
    ) -> Option<String> {
        let reports: Vec<&MemberReport> = reports.collect();
        let (key, work) = &self.tasks[index];
        let mut asked = asked;
        let mut is_clean = is_within_limits(context.options, time)
            && !context.observer.is_cancelled()
            && reports.iter().all(|report| report.verdict != Verdict::Error);
        for &before in &work.after {
            match self.done[before].get() {
                Some(done) => {
                    is_clean &= done.is_clean;
                    asked.extend(&done.asked);
                }
                None => is_clean = false,
            }
        }
        asked.sort_unstable();
        asked.dedup();
        let difference = self.audited[index]
            .get()
            .filter(|_| is_clean)
            .and_then(|answer| difference(answer, &reports));
        is_clean &= difference.is_none();
        if is_clean && let Some(answer) = self.answer(key, work, context, &asked, &reports) {
            let answer = Arc::new(answer);
            tell(context, key, &answer);
            self.answers.keep(key.digest, answer);
        }
        let _ = self.done[index].set(Done { is_clean, asked });
        difference
    }

    /// `None` where something is told at a place that the key does not know.
    fn answer(
        &self,
        key: &Key,
        work: &Work,
        context: &Context<'_>,
        asked: &[(Fact, bool)],
        reports: &[&MemberReport],
    ) -> Option<Answer> {
        let mut kept = Vec::with_capacity(reports.len());
        for report in reports {
            let mut report = (*report).clone();
            let mut spans = Vec::new();
            // Words that a reason has for it are in the report.
            report.statistics.last = None;
            let places = std::mem::take(&mut report.statistics.places).into_iter();
            let place = |((span, construct), cost)| {
                let is_one = span != Span::default();
                let at = if is_one { Some(self.reference(key, span)?) } else { None };
                Some((at, construct, cost))
            };
            let places = places.filter_map(place).collect();
            for_each_span(&mut report, |span| spans.push(self.reference(key, *span)));
            let spans = spans.into_iter().collect::<Option<Vec<_>>>()?;
            kept.push(Kept { report, spans, places });
        }
        let phases = |(position, &function): (usize, &FunctionId)| {
            let of_phase = move |phase| {
                Some((position, phase, Arc::clone(context.functions.get(function, phase)?)))
            };
            [Phase::Contract, Phase::Body].into_iter().filter_map(of_phase).collect::<Vec<_>>()
        };
        Some(Answer {
            facts: asked
                .iter()
                .filter_map(|&(fact, holds)| Some((by_name(self.program, fact)?, holds)))
                .collect(),
            reports: kept,
            axioms: Axioms::new(work.functions.iter().enumerate().flat_map(phases).collect())?,
            numbering: key.numbering,
        })
    }

    fn reference(&self, key: &Key, span: Span) -> Option<SpanRef> {
        let parts = || key.parts.iter().enumerate().rev();
        let exact = parts()
            .find_map(|(part, &id)| Some((part, self.keys.encoded(id).spans.get_index_of(&span)?)));
        if let Some(base) = exact {
            return Some(SpanRef { base, inside: None, origin: base });
        }
        let find = |fits: &dyn Fn(Part, &Span) -> bool| {
            parts().find_map(|(part, &id)| {
                let mut spans = self.keys.encoded(id).spans.iter();
                Some((part, spans.position(|other| fits(id, other))?))
            })
        };
        let origin = find(&|_, other| other.origin == span.origin)?;
        let base = find(&|part, other| {
            other.file == span.file
                && other.start <= span.start
                && span.end <= other.end
                && !self.keys.encoded(part).without_text.contains(other)
        })?;
        let outer = self.keys.encoded(key.parts[base.0]).spans[base.1];
        let inside = Some((span.start - outer.start, span.end - span.start));
        Some(SpanRef { base, inside, origin })
    }

    fn span(&self, key: &Key, SpanRef { base, inside, origin }: SpanRef) -> Span {
        let spans = |(part, index): (usize, usize)| self.keys.encoded(key.parts[part]).spans[index];
        let outer = spans(base);
        let Some((offset, length)) = inside else { return outer };
        let start = outer.start + offset;
        Span { start, end: start + length, origin: spans(origin).origin, ..outer }
    }
}

/// Tells an answer to who wants to hear it.
fn tell(context: &Context<'_>, key: &Key, answer: &Answer) {
    if context.observer.wants_answers()
        && let Some(text) = store::tell(&key.digest, answer)
    {
        context.observer.answered(&text);
    }
}

/// Words of the first report that is not what an answer says; costs do not count.
fn difference(answer: &[MemberReport], reports: &[&MemberReport]) -> Option<String> {
    let same = |old: &MemberReport, new: &MemberReport| {
        (old.kind, &old.name, old.span, old.verdict) == (new.kind, &new.name, new.span, new.verdict)
            && (&old.findings, &old.trusted) == (&new.findings, &new.trusted)
    };
    let mut pairs = answer.iter().zip(reports);
    let (old, new) = pairs.find(|(old, new)| !same(old, new))?;
    let words = |report: &MemberReport| {
        let of = |finding: &Finding| full_id(finding.error, finding.reason);
        let ids: Vec<String> = report.findings.iter().map(of).collect();
        format!("{} [{}]", report.verdict.name(), ids.join(", "))
    };
    let (was, is) = (words(old), words(new));
    Some(format!("the cache says of {}: {was}; verified again it is: {is}", old.name))
}

/// Tells whether no clock can have had a part in work that took so long: each clock lets a
/// question, or a member, have more.
fn is_within_limits(options: &Options, time: Duration) -> bool {
    /// The least that a question may take, with and without a model.
    const QUESTION: Duration = Duration::from_secs(20);
    const WITH_MODEL: Duration = Duration::from_secs(10);
    let question = if options.counterexample { WITH_MODEL } else { QUESTION };
    time < question
        && options.member_time_limit.is_none_or(|limit| time < limit)
        && options.deadline.is_none_or(|deadline| Instant::now() < deadline)
}

/// All spans of a report, in a fixed order.
fn for_each_span(report: &mut MemberReport, mut each: impl FnMut(&mut Span)) {
    each(&mut report.span);
    for finding in &mut report.findings {
        each(&mut finding.span);
        finding.reason_span.iter_mut().for_each(&mut each);
        finding.related.iter_mut().for_each(|(span, _)| each(span));
        finding.implementation.iter_mut().for_each(|within| each(&mut within.span));
        finding.path.iter_mut().for_each(|step| each(&mut step.condition));
        if let Some(state) = &mut finding.counterexample {
            state.forgotten.iter_mut().for_each(|state| each(&mut state.head));
            state.parts.iter_mut().for_each(|part| each(&mut part.span));
        }
    }
    report.trusted.iter_mut().for_each(|(span, _)| each(span));
}

/// `None`: of a wand, of which nothing is known before.
fn by_name(program: &Program, fact: Fact) -> Option<FactByName> {
    let predicate = |id: PredicateId| program.predicates[id].name.to_string();
    Some(match fact {
        Fact::IsTrigger(Resource::Field(id)) => (0, program.fields[id].name.to_string()),
        Fact::IsTrigger(Resource::Predicate(id)) => (1, predicate(id)),
        Fact::IsTrigger(Resource::Wand(_)) => return None,
        Fact::IsRecursive(id) => (2, predicate(id)),
        Fact::SomeAreRecursive => (3, String::new()),
        Fact::IsInBodies(id) => (4, program.functions[id].name.to_string()),
        Fact::IsAsserting(id) => (5, predicate(id)),
        Fact::ScriptsMayWrite => (6, String::new()),
        Fact::ContractsHaveOneReading => (7, String::new()),
    })
}

/// The members of a program by name.
struct Names<'p> {
    fields: IndexMap<&'p Name, sil::program::FieldId, FxBuildHasher>,
    predicates: IndexMap<&'p Name, PredicateId, FxBuildHasher>,
    functions: IndexMap<&'p Name, FunctionId, FxBuildHasher>,
}

impl<'p> Names<'p> {
    fn of(program: &'p Program) -> Self {
        Self {
            fields: program.fields.iter().map(|(id, field)| (&field.name, id)).collect(),
            predicates: program.predicates.iter().map(|(id, it)| (&it.name, id)).collect(),
            functions: program.functions.iter().map(|(id, it)| (&it.name, id)).collect(),
        }
    }

    /// Returns the fact in this program; `None`: it is about what there is not.
    fn fact(&self, (which, name): &FactByName) -> Option<Fact> {
        let name: &Name = &Name::from(name.as_str());
        Some(match which {
            0 => Fact::IsTrigger(Resource::Field(*self.fields.get(name)?)),
            1 => Fact::IsTrigger(Resource::Predicate(*self.predicates.get(name)?)),
            2 => Fact::IsRecursive(*self.predicates.get(name)?),
            3 => Fact::SomeAreRecursive,
            4 => Fact::IsInBodies(*self.functions.get(name)?),
            5 => Fact::IsAsserting(*self.predicates.get(name)?),
            6 => Fact::ScriptsMayWrite,
            7 => Fact::ContractsHaveOneReading,
            _ => return None,
        })
    }
}
