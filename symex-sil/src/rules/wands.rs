//! Magic wands: mentions, `package`, `apply`.
//!
//! A wand is a resource. Its STRUCTURE is the assertion without the sub-expressions that do not
//! depend on the heap (its HOLES). Its arguments are the values of the holes. The value of a wand
//! chunk is a function from the snapshot of the left-hand side to that of the right-hand side (trap
//! T10b).

mod structure;

use sil::program::{Expr, ExprKind};
use smt::terms::{Sort, Term, Terms};

use crate::rules::Sil;
use symex::findings::blame::{Blame, ErrorId, Reason};
use symex::findings::incidents::Missing;
use symex::findings::log::Found;
use symex::rules::language::Language;
use symex::run::explore::Answer;
use symex::state::heap::{Chunk, Heap, Resource};
use symex::state::sorts::wand_sort;
use symex::whole::Fact;
use symex::{Configuration, Explore, Path, Stop, View, Watch};

impl Sil<'_, '_> {
    /// Returns the resource and the arguments that a wand denotes where it is mentioned.
    pub(crate) fn eval_wand(
        &mut self,
        wand: &Expr,
        blame: Blame,
    ) -> Result<(Resource, Vec<Term>), Stop> {
        let (resource, holes) = self.wand_pattern(wand, Some(blame))?;
        let arguments: Vec<Term> =
            holes.into_iter().map(|hole| self.eval(hole, blame)).collect::<Result<_, _>>()?;
        // A tainted argument does not tell which wand this is.
        if !blame.is_trusted() {
            for &argument in &arguments {
                if self.is_tainted(argument)? {
                    return Err(Stop::Infeasible);
                }
            }
        }
        Ok((resource, arguments))
    }

    /// Produces a wand: produce(σ, s, A --* B).
    pub(crate) fn produce_wand(
        &mut self,
        wand: &Expr,
        snapshot: Option<Term>,
        blame: Blame,
    ) -> Result<(), Stop> {
        if !blame.is_trusted() {
            self.is_ill_formed_wand(wand)?;
        }
        let (resource, arguments) = self.eval_wand(wand, blame)?;
        let sort = wand_sort(&mut self.terms);
        let value = self.value_of_snapshot(snapshot, sort, |_| "wand".to_owned())?;
        let amount = Terms::WRITE;
        self.here.heap.push(resource, Chunk { arguments, value, amount });
        Ok(())
    }

    /// Consumes a wand: consume(σ, A --* B).
    pub(crate) fn consume_wand(&mut self, wand: &Expr, blame: Blame) -> Result<Term, Stop> {
        let (resource, arguments) = self.eval_wand(wand, blame)?;
        if let Some(function) = self.take_location(resource, &arguments, Terms::WRITE)? {
            return Ok(function);
        }
        let mut reported = None;
        if !blame.is_silent() {
            if self.is_dead()? {
                return Err(Stop::Infeasible);
            }
            reported = Some(self.fail(Answer::No, blame, Reason::WandNotFound, wand.span));
        }
        self.incidents.missing = Some(Missing { reported });
        self.drop_aliases(resource, &arguments)?;
        let sort = wand_sort(&mut self.terms);
        let function = self.fresh("missing", sort);
        if let Some(reported) = reported {
            self.taint(function, reported)?;
        }
        Ok(function)
    }

    /// Tells whether a wand is ill-formed, and reports its flaws. A wand should be self-framing:
    /// its left-hand side alone, its right-hand side given the left.
    fn is_ill_formed_wand(&mut self, wand: &Expr) -> Result<bool, Stop> {
        let own = self.flaws_of_wand(wand, None)?;
        let is_ill_formed = own.has_findings();
        self.log.add(own);
        Ok(is_ill_formed)
    }

    /// Lists the flaws of a wand that is not self-framing. `package`: the blame for a left-hand
    /// side that is not defined, if the wand is packaged.
    pub(super) fn flaws_of_wand(
        &mut self,
        wand: &Expr,
        package: Option<Blame>,
    ) -> Result<Found, Stop> {
        let (result, mut own) =
            self.finding_apart(|sil| sil.with_own_taints(|sil| sil.check_wand(wand, package)));
        // An undecided question is no flaw, and no proof either.
        if own.gave_up() {
            self.log.give_up();
        }
        // A label that was not reached has nothing to do with framing. The mention of the wand
        // reports it.
        own.retain(|flaw| flaw.reason != Some(Reason::LabelNotReached));
        match result {
            Ok(()) => Ok(own),
            Err(stop) => {
                // No caller is left to judge them.
                self.log.add(own);
                Err(stop)
            }
        }
    }

    fn check_wand(&mut self, wand: &Expr, package: Option<Blame>) -> Result<(), Stop> {
        let (left, right) = sides(wand);
        let blame = Blame::new(ErrorId::WandNotWellformed, wand.span);
        let (result, _) = self.scoped(None, |sil| {
            sil.explore(|sil| {
                sil.here.heap = Heap::default();
                sil.here.consuming = None;
                sil.here.package.reserve.clear();
                sil.produce_all([left], None, |_| package.unwrap_or(blame))?;
                sil.frame.past.lhs = Some(std::mem::take(&mut sil.here.heap));
                sil.produce_all([right], None, |_| blame)
            })
        })?;
        result.map(|_| ())
    }

    /// Executes `apply A --* B`.
    pub(crate) fn exec_apply(&mut self, wand: &Expr, blame: Blame) -> Result<(), Stop> {
        if self.is_ill_formed_wand(wand)? {
            return Err(Stop::Infeasible);
        }
        self.apply(wand, blame)
    }

    fn apply(&mut self, wand: &Expr, blame: Blame) -> Result<(), Stop> {
        let (left, right) = sides(wand);
        let (function, before) = self.consume_both(wand, left, blame)?;
        // SOUNDNESS: if the wand may change snapshots, the right-hand side is about another moment
        // than earlier notes on predicate instances (trap T10).
        if !keeps_snapshots(self) {
            self.begin_epoch();
        }
        let lhs = self.frame.past.lhs.replace(before.clone());
        self.produce_all([right], Some(function), |_| blame.trusted())?;
        self.frame.past.lhs = lhs;
        keep_values(self, &before)
    }

    /// Consumes a wand and its left-hand side, both read in the heap before. Returns the right-hand
    /// snapshot and that heap.
    fn consume_both(
        &mut self,
        wand: &Expr,
        left: &Expr,
        blame: Blame,
    ) -> Result<(Term, Heap), Stop> {
        let before = self.here.heap.clone();
        let (consumed, _) = self.exchanging(
            |sil| &mut sil.frame.assertion.keeps_snapshots,
            true,
            |sil| {
                let (taken, rest) = sil.consuming_heap(|sil| {
                    let function = sil.consume_wand(wand, blame)?;
                    let snapshot = sil.consume_parts([left], |_| blame.trusted())?;
                    Ok::<_, Stop>((function, snapshot))
                });
                sil.here.heap = rest;
                taken
            },
        );
        let (function, snapshot) = consumed?;
        meet_footprint(self, function, snapshot)?;
        Ok((applied(&mut self.terms, function, snapshot), before))
    }

    /// Evaluates `applying (A --* B) in e`.
    pub(crate) fn eval_applying(
        &mut self,
        wand: &Expr,
        body: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        self.join(|sil| {
            sil.here.consuming = None;
            sil.frame.result_of = None;
            // SOUNDNESS: in a package, an expression sees only permission that has been fetched
            // before.
            sil.here.package.reserve.clear();
            sil.apply(wand, blame)?;
            sil.note_inside()?;
            sil.eval(body, blame)
        })
    }
}

/// Returns the right-hand snapshot that a wand gives for a left-hand one.
pub(super) fn applied(terms: &mut Terms, function: Term, snapshot: Term) -> Term {
    let sort = wand_sort(terms);
    let symbol = terms.declare_function("MWSF%apply", &[sort, Sort::SNAP], Sort::SNAP);
    terms.apply(symbol, &[function, snapshot])
}

/// Tells whether applying a wand keeps the snapshots of predicate instances. These consist of
/// values of locations: no predicate holds wands.
///
/// SOUNDNESS: an instance of `[a, b]` is made of the values in b, and gives those of a.
fn keeps_snapshots(path: &Path<'_>) -> bool {
    !path.of_program(Fact::ScriptsMayWrite) && path.of_program(Fact::ContractsHaveOneReading)
}

/// Assumes that applying a wand changes no location. The wand gives its permission back,
/// perhaps in another form, with the present values.
///
/// SOUNDNESS: no proof script does anything but rearrange permission.
fn keep_values(config: &mut Configuration<'_>, before: &Heap) -> Result<(), Stop> {
    if config.of_program(Fact::ScriptsMayWrite) {
        return Ok(());
    }
    let after = config.here.heap.clone();
    for (resource, chunks) in after.resources() {
        let is_kept = match resource {
            Resource::Field(_) => true,
            Resource::Predicate(_) => keeps_snapshots(config),
            // The values of wands tell nothing (trap T10e).
            Resource::Wand(_) => false,
        };
        if !is_kept {
            continue;
        }
        for chunk in chunks {
            for old in before.of(resource) {
                if old.arguments != chunk.arguments || old.value == chunk.value {
                    continue;
                }
                let was_held = config.terms.lt(Terms::NONE, old.amount);
                let is_held = config.terms.lt(Terms::NONE, chunk.amount);
                let both = config.terms.and([was_held, is_held]);
                let equal = config.terms.identical(old.value, chunk.value);
                let fact = config.terms.implies(both, equal);
                config.assume(fact)?;
            }
        }
    }
    Ok(())
}

/// Learns the facts about the left-hand side of a wand and its footprint, which are held
/// together now.
fn meet_footprint(
    config: &mut Configuration<'_>,
    function: Term,
    snapshot: Term,
) -> Result<(), Stop> {
    let Some(known) = config.made.agreements.get(&function) else { return Ok(()) };
    let left = [(known.root, snapshot)].into_iter().collect();
    for fact in known.facts.clone() {
        let fact = config.terms.substitute(fact, &left);
        config.learn_agreement(fact)?;
    }
    Ok(())
}

pub(super) fn sides(wand: &Expr) -> (&Expr, &Expr) {
    match &wand.kind {
        ExprKind::Wand { left, right } => (left, right),
        _ => unreachable!("the type checker lets only wands through"),
    }
}
