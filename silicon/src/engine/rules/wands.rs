//! Magic wands: mentions, `package`, `apply` (Viper engine reference, section 15).
//!
//! A wand is a resource: its STRUCTURE is the assertion with the sub-expressions that do not depend on the heap (its
//! HOLES) cut out; its arguments are the values of the holes. The value of a wand chunk is a function from the snapshot
//! of the left-hand side to that of the right-hand side (trap T10b).
//!
//! DIVERGENCE: the reference lets each path of a package give up a footprint of its own, which is unsound where the
//! paths differ in something the left-hand side decides. Here all paths that the left-hand side tells apart give up
//! the union of their footprints (trap T10a).

mod structure;

use std::rc::Rc;

use sil::program::{Block, Expr, ExprKind, Program, Stmt, StmtKind};
use sil::walk::{Visit, walk_body, walk_stmts};
use smt::terms::{Sort, Term, Terms};

use crate::engine::findings::blame::{Blame, ErrorId, Reason};
use crate::engine::findings::log::Found;
use crate::engine::mode::Mode;
use crate::engine::permission::heap::{Chunk, Heap, Resource};
use crate::engine::permission::quantified::chunks::QuantifiedChunk;
use crate::engine::run::explore::Answer;
use crate::engine::{Engine, Stop};
use crate::report::{Finding, Severity};

/// What a symbol made in a package means. It holds whatever the left-hand side is, so it may leave the package, unlike
/// facts (trap T10d).
#[derive(Debug)]
pub(crate) struct Definition {
    /// The left-hand sides it speaks about, of packages that are over.
    roots: Vec<Term>,
    /// Mentions what is defined, and with it those roots.
    trigger: Term,
    formula: Term,
}

/// How one path of a package ended.
struct End {
    /// What is left of the heaps around.
    reserve: Vec<Heap>,
    /// The snapshot of the right-hand side; `None` where the path is contradictory: then the wand holds because of
    /// what has been given up so far.
    snapshot: Option<Term>,
    /// Values that are equal on the path.
    agreed: Rc<Vec<Term>>,
}

/// What is known of the left-hand side and the footprint of a wand together, where both hold.
///
/// SOUNDNESS: of one that is given away nothing is known, and nothing is said before the wand is applied: facts about
/// the left-hand side do not leave the package otherwise (trap T10d).
#[derive(Debug)]
pub(crate) struct Agreement {
    /// The left-hand side they speak about.
    root: Term,
    facts: Vec<Term>,
}

/// Paths of a package that differ in nothing the outside can tell apart.
struct Group {
    /// Holds outside on these paths.
    condition: Term,
    /// What is left of the heaps around.
    reserve: Vec<Heap>,
    /// For each path, what holds on it and the right-hand snapshot.
    snapshots: Vec<(Term, Term)>,
    /// What is known of the left-hand side and the footprint together.
    agreed: Vec<Term>,
}

impl Engine<'_> {
    /// The resource and the arguments that a wand denotes where it is mentioned.
    pub(crate) fn eval_wand(
        &mut self,
        wand: &Expr,
        blame: Blame,
    ) -> Result<(Resource, Vec<Term>), Stop> {
        let (resource, holes) = self.wand_pattern(wand, Some(blame))?;
        let arguments: Vec<Term> =
            holes.into_iter().map(|hole| self.eval(hole, blame)).collect::<Result<_, _>>()?;
        // Which wand that is nobody can say.
        if !blame.is_trusted() {
            for &argument in &arguments {
                if self.is_tainted(argument)? {
                    return Err(Stop::Infeasible);
                }
            }
        }
        Ok((resource, arguments))
    }

    /// The sort of functions from left-hand to right-hand snapshots.
    pub(crate) fn wand_sort(&mut self) -> Sort {
        self.terms.user_sort("MWSF", &[])
    }

    /// The right-hand snapshot that a wand gives for a left-hand one.
    fn applied(&mut self, function: Term, snapshot: Term) -> Term {
        let sort = self.wand_sort();
        let symbol = self.terms.declare_function("MWSF%apply", &[sort, Sort::SNAP], Sort::SNAP);
        self.terms.apply(symbol, &[function, snapshot])
    }

    /// produce(σ, s, A --* B).
    pub(crate) fn produce_wand(
        &mut self,
        wand: &Expr,
        snapshot: Option<Term>,
        blame: Blame,
    ) -> Result<(), Stop> {
        if !blame.is_trusted() {
            self.is_ill_formed_wand(wand, None)?;
        }
        let (resource, arguments) = self.eval_wand(wand, blame)?;
        let sort = self.wand_sort();
        let value = match snapshot {
            Some(snapshot) => {
                let wrapped = self.terms.is_wrapped(snapshot, sort);
                self.assume(wrapped)?;
                self.terms.snap_unwrap(snapshot, sort)
            }
            None => self.fresh("wand", sort),
        };
        let amount = self.terms.write();
        self.state.heap.push(resource, Chunk { arguments, value, amount });
        Ok(())
    }

    /// consume(σ, A --* B).
    pub(crate) fn consume_wand(&mut self, wand: &Expr, blame: Blame) -> Result<Term, Stop> {
        let (resource, arguments) = self.eval_wand(wand, blame)?;
        let one = self.terms.write();
        if let Some(function) = self.take_location(resource, &arguments, one)? {
            return Ok(function);
        }
        let mut reported = None;
        if !blame.is_silent() {
            if self.is_dead()? {
                return Err(Stop::Infeasible);
            }
            reported = Some(self.fail(Answer::No, blame, Reason::WandNotFound, wand.span));
        }
        self.note_missing(reported);
        self.drop_aliases(resource, &arguments)?;
        let sort = self.wand_sort();
        let function = self.fresh("missing", sort);
        if let Some(reported) = reported {
            self.log.taint(function, reported);
        }
        Ok(function)
    }

    /// A wand should be self-framing: its left-hand side alone, its right-hand side given the left. Reports where it
    /// is not, and says so. `package`: what is reported where a package cannot even start, for its left-hand side is
    /// not defined.
    fn is_ill_formed_wand(&mut self, wand: &Expr, package: Option<Blame>) -> Result<bool, Stop> {
        let own = self.flaws_of_wand(wand, package)?;
        let is_ill_formed = own.has_findings();
        self.log.add(own);
        Ok(is_ill_formed)
    }

    /// What is to be reported of a wand that is not self-framing.
    fn flaws_of_wand(&mut self, wand: &Expr, package: Option<Blame>) -> Result<Found, Stop> {
        let (result, mut own) = self.finding_apart(|engine| {
            engine.with_own_taints(|engine| engine.check_wand(wand, package))
        });
        // What was not decided is no flaw, and no proof either.
        if own.gave_up() {
            self.log.give_up();
        }
        // Whether a state was reached has nothing to do with framing: who mentions the wand says so.
        own.retain(|flaw| flaw.reason != Some(Reason::LabelNotReached));
        match result {
            Ok(()) => Ok(own),
            Err(stop) => {
                // Nobody is left to decide about them.
                self.log.add(own);
                Err(stop)
            }
        }
    }

    fn check_wand(&mut self, wand: &Expr, package: Option<Blame>) -> Result<(), Stop> {
        let (left, right) = sides(wand);
        let blame = Blame::new(ErrorId::WandNotWellformed, wand.span);
        let (result, _) = self.scoped(None, |engine| {
            engine.explore(|engine| {
                engine.state.heap = Heap::default();
                engine.state.consuming = None;
                engine.state.package.reserve.clear();
                engine.produce_all(&[left], None, |_| package.unwrap_or(blame))?;
                engine.state.past.lhs = Some(std::mem::take(&mut engine.state.heap));
                engine.produce_all(&[right], None, |_| blame)
            })
        })?;
        result.map(|_| ())
    }

    /// Tells the package in progress, if there is one, what a new symbol means.
    ///
    /// SOUNDNESS: `formula` has to be true of some value of the symbol whatever the left-hand side gives.
    pub(crate) fn export_definition(&mut self, symbol: Term, formula: Term) {
        if self.may_transfer() && self.mode.bound == self.mode.roots {
            self.gathered.definitions.push(Definition {
                roots: Vec::new(),
                trigger: symbol,
                formula,
            });
        }
    }

    /// Assumes what is known of the symbols made in a package that is over, and tells the package around it.
    fn release_definitions(
        &mut self,
        root: Term,
        definitions: Vec<Definition>,
    ) -> Result<(), Stop> {
        for mut definition in definitions {
            definition.roots.push(root);
            let Definition { roots, trigger, formula } = &definition;
            let triggers = vec![vec![*trigger]];
            let fact = self.terms.forall(roots, triggers, *formula, "package-definition", 1);
            self.assume(fact)?;
            if self.may_transfer() {
                self.gathered.definitions.push(definition);
            }
        }
        Ok(())
    }

    /// `apply A --* B`.
    pub(crate) fn exec_apply(&mut self, wand: &Expr, blame: Blame) -> Result<(), Stop> {
        if self.is_ill_formed_wand(wand, None)? {
            return Err(Stop::Infeasible);
        }
        self.apply(wand, blame)
    }

    fn apply(&mut self, wand: &Expr, blame: Blame) -> Result<(), Stop> {
        let (left, right) = sides(wand);
        let (function, before) = self.consume_both(wand, left, blame)?;
        // SOUNDNESS: a proof script may have changed values, so the right-hand side is about another moment than what was
        // noted of predicate instances so far (trap T10).
        self.begin_epoch();
        let lhs = self.state.past.lhs.replace(before.clone());
        self.produce_all(&[right], Some(function), |_| blame.trusted())?;
        self.state.past.lhs = lhs;
        self.keep_values(&before)
    }

    /// Applying a wand changes no location: what it was given it gives back, perhaps in another form, with the values
    /// it has.
    ///
    /// SOUNDNESS: only as long as no proof script does anything but rearrange permission.
    fn keep_values(&mut self, before: &Heap) -> Result<(), Stop> {
        if self.context.scripts_may_write {
            return Ok(());
        }
        let none = self.terms.none();
        let after = self.state.heap.clone();
        for (resource, chunks) in after.resources() {
            if !matches!(resource, Resource::Field(_)) {
                continue;
            }
            for chunk in chunks {
                for old in before.of(resource) {
                    if old.arguments != chunk.arguments || old.value == chunk.value {
                        continue;
                    }
                    let was_held = self.terms.lt(none, old.amount);
                    let is_held = self.terms.lt(none, chunk.amount);
                    let both = self.terms.and([was_held, is_held]);
                    let equal = self.terms.identical(old.value, chunk.value);
                    let fact = self.terms.implies(both, equal);
                    self.assume(fact)?;
                }
            }
        }
        Ok(())
    }

    /// Consumes a wand and its left-hand side, both read in the heap before; yields the right-hand snapshot and that
    /// heap.
    fn consume_both(
        &mut self,
        wand: &Expr,
        left: &Expr,
        blame: Blame,
    ) -> Result<(Term, Heap), Stop> {
        let keeps_snapshots = std::mem::replace(&mut self.state.assertion.keeps_snapshots, true);
        let outer = self.state.consuming.replace(self.state.heap.clone());
        let function = self.consume_wand(wand, blame)?;
        let snapshot = self.consume_parts(&[left], |_| blame.trusted())?;
        let left = std::mem::replace(&mut self.state.consuming, outer).expect("set above");
        let before = std::mem::replace(&mut self.state.heap, left);
        self.state.assertion.keeps_snapshots = keeps_snapshots;
        self.meet_footprint(function, snapshot)?;
        Ok((self.applied(function, snapshot), before))
    }

    /// The left-hand side of a wand holds beside its footprint: what is known of both.
    fn meet_footprint(&mut self, function: Term, snapshot: Term) -> Result<(), Stop> {
        let Some(known) = self.made.agreements.get(&function) else { return Ok(()) };
        let left = [(known.root, snapshot)].into_iter().collect();
        for fact in known.facts.clone() {
            let fact = self.terms.substitute(fact, &left);
            self.learn_agreement(fact)?;
        }
        Ok(())
    }

    /// `applying (A --* B) in e`.
    pub(crate) fn eval_applying(
        &mut self,
        wand: &Expr,
        body: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        self.join(|engine| {
            engine.state.consuming = None;
            engine.state.result_of = None;
            // SOUNDNESS: in a package, an expression sees nothing that has not been fetched before.
            engine.state.package.reserve.clear();
            engine.apply(wand, blame)?;
            engine.note_inside()?;
            engine.eval(body, blame)
        })
    }

    /// `package A --* B { script }`.
    pub(crate) fn exec_package(
        &mut self,
        wand: &Expr,
        script: &Block,
        blame: Blame,
    ) -> Result<(), Stop> {
        let mut flaws = self.flaws_of_wand(wand, Some(blame))?;
        if flaws.findings().any(|flaw| flaw.error == blame.error) {
            // Where the left-hand side means nothing, no script is run.
            flaws.retain(|flaw| flaw.error == blame.error);
            self.log.add(flaws);
            return Err(Stop::Infeasible);
        }
        let is_ill_formed = flaws.has_findings();
        let (resource, arguments) = self.eval_wand(wand, blame)?;
        // What happens inside depends on the left-hand side: every symbol made there is a function of its snapshot
        // (trap T10c).
        let root = self.fresh_variable("root", Sort::SNAP);
        let definitions = std::mem::take(&mut self.gathered.definitions);
        // SOUNDNESS: nothing learnt inside is kept, the left-hand side may be contradictory (trap T10d).
        let (outcome, inside) = self.finding_apart(|engine| {
            engine.in_package(root, |engine| {
                engine.scoped(None, |engine| {
                    engine.explore(|engine| {
                        // That the wand is ill-formed is an error: its right-hand side proves nothing more.
                        let end = if is_ill_formed { blame.silent() } else { blame.trusted() };
                        engine.run_package(wand, root, script, end)
                    })
                })
            })
        });
        // What the script needs and nobody has may be all that is wrong with the right-hand side.
        let is_told = |flaw: &Finding| {
            let mut errors = inside.findings().filter(|found| found.severity == Severity::Error);
            errors.any(|found| found.reason == flaw.reason)
        };
        flaws.retain(|flaw| !is_told(flaw));
        self.log.add(inside);
        self.log.add(flaws);
        let (paths, _) = outcome?;
        let own = std::mem::replace(&mut self.gathered.definitions, definitions);
        let paths: Vec<(Vec<Term>, End)> =
            paths?.into_iter().map(|path| (path.literals, path.value)).collect();
        if is_ill_formed {
            return Err(Stop::Infeasible);
        }
        self.release_definitions(root, own)?;
        let groups = self.groups(root, paths);
        let conditions: Vec<_> = groups.iter().map(|group| Some(group.condition)).collect();
        let taken = if groups.len() > 1 { self.choose(&conditions)? } else { 0 };
        let group = &groups[taken];
        let sort = self.wand_sort();
        let function = self.fresh("wand", sort);
        for &(condition, snapshot) in &group.snapshots {
            let applied = self.applied(function, root);
            let equal = self.terms.identical(applied, snapshot);
            let formula = self.terms.implies(condition, equal);
            let definition = Definition { roots: Vec::new(), trigger: applied, formula };
            self.release_definitions(root, vec![definition])?;
        }
        self.made.agreements.insert(function, Agreement { root, facts: group.agreed.clone() });
        let mut reserve = group.reserve.iter().cloned();
        self.state.heap = reserve.next().expect("the heap around the package");
        self.state.package.reserve = reserve.collect();
        let amount = self.terms.write();
        self.state.heap.push(resource, Chunk { arguments, value: function, amount });
        Ok(())
    }

    /// Runs where everything depends on what the left-hand side of a package gives.
    fn in_package<T>(&mut self, root: Term, run: impl FnOnce(&mut Self) -> T) -> T {
        let enter = |mode: &mut Mode| {
            mode.bound.push(root);
            mode.roots.push(root);
        };
        self.in_mode(enter, run)
    }

    /// One path of a package: the left-hand side, the script, the right-hand side.
    fn run_package(
        &mut self,
        wand: &Expr,
        root: Term,
        script: &Block,
        blame: Blame,
    ) -> Result<End, Stop> {
        let (left, right) = sides(wand);
        self.state.package.agreed = Rc::default();
        self.state.package.reserve.insert(0, std::mem::take(&mut self.state.heap));
        let result = self.run_script(left, right, root, script, blame);
        let reserve = self.state.package.reserve.clone();
        let agreed = std::mem::take(&mut self.state.package.agreed);
        match result {
            Ok(snapshot) => Ok(End { reserve, snapshot: Some(snapshot), agreed }),
            // The path counts all the same: what it has given up is what justifies the wand (trap T10f).
            Err(Stop::Infeasible) => Ok(End { reserve, snapshot: None, agreed }),
            Err(stop) => Err(stop),
        }
    }

    fn run_script(
        &mut self,
        left: &Expr,
        right: &Expr,
        root: Term,
        script: &Block,
        blame: Blame,
    ) -> Result<Term, Stop> {
        self.begin_epoch();
        self.produce_all(&[left], Some(root), |_| blame.trusted())?;
        // Where the left-hand side alone is contradictory, the wand needs nothing.
        if self.is_dead()? {
            return Err(Stop::Infeasible);
        }
        let lhs = self.state.heap.clone();
        self.state.past.lhs = Some(lhs.clone());
        self.exec_script(script)?;
        self.state.past.lhs = Some(lhs);
        self.state.assertion.keeps_snapshots = true;
        self.consume_all(&[right], |_| blame)
    }

    /// The statements of a proof script, which has no loops and no jumps.
    fn exec_script(&mut self, script: &Block) -> Result<(), Stop> {
        script.statements.iter().try_for_each(|statement| self.exec_in_script(statement))
    }

    fn exec_in_script(&mut self, statement: &Stmt) -> Result<(), Stop> {
        match &statement.kind {
            StmtKind::Block(block) => self.exec_script(block),
            StmtKind::If { condition, then, otherwise } => {
                let value = self.eval(condition, Blame::new(ErrorId::IfFailed, condition.span))?;
                let taken = self.branch(value)?;
                Rc::make_mut(&mut self.state.path).push((condition.span, taken));
                match otherwise {
                    _ if taken => self.exec_script(then),
                    Some(otherwise) => self.exec_script(otherwise),
                    None => Ok(()),
                }
            }
            StmtKind::While { .. } | StmtKind::Goto(_) => {
                self.unsupported_at(statement.span, "loops and jumps in proof scripts")
            }
            _ => self.exec(statement),
        }
    }

    /// The paths of a package as the outside sees them.
    fn groups(&mut self, root: Term, paths: Vec<(Vec<Term>, End)>) -> Vec<Group> {
        let known_outside = |engine: &Self, literal: Term| !engine.terms.mentions(literal, &[root]);
        let tells_apart =
            paths.iter().flat_map(|(literals, _)| literals).all(|&l| known_outside(self, l));
        if tells_apart {
            return paths
                .into_iter()
                .map(|(literals, end)| Group {
                    condition: self.terms.and(literals),
                    reserve: end.reserve.iter().map(|heap| self.without_root(heap, root)).collect(),
                    snapshots: end
                        .snapshot
                        .into_iter()
                        .map(|snapshot| (Terms::TRUE, snapshot))
                        .collect(),
                    agreed: end.agreed.to_vec(),
                })
                .collect();
        }
        let mut reserve: Option<Vec<Heap>> = None;
        let mut snapshots = Vec::new();
        let mut agreed = Vec::new();
        for (literals, end) in paths {
            let left: Vec<_> =
                end.reserve.iter().map(|heap| self.without_root(heap, root)).collect();
            reserve = Some(match reserve {
                None => left,
                Some(other) => other.iter().zip(&left).map(|(a, b)| self.common(a, b)).collect(),
            });
            let condition = self.terms.and(literals);
            snapshots.extend(end.snapshot.map(|snapshot| (condition, snapshot)));
            for &fact in &*end.agreed {
                agreed.push(self.terms.implies(condition, fact));
            }
        }
        let reserve = reserve.expect("a package has a path");
        vec![Group { condition: Terms::TRUE, reserve, snapshots, agreed }]
    }

    /// Without the chunks of which nobody outside can say how much is left.
    fn without_root(&self, heap: &Heap, root: Term) -> Heap {
        let mut kept = heap.clone();
        for (resource, chunks) in heap.resources() {
            let open = |chunk: &Chunk| self.terms.mentions(chunk.amount, &[root]);
            if chunks.iter().any(open) {
                kept.set(resource, chunks.iter().filter(|chunk| !open(chunk)).cloned().collect());
            }
        }
        for (resource, chunks) in heap.quantified_resources() {
            let open = |chunk: &QuantifiedChunk| {
                [chunk.amount, chunk.map].iter().any(|&term| self.terms.mentions(term, &[root]))
            };
            if chunks.iter().any(open) {
                let closed = chunks.iter().filter(|chunk| !open(chunk)).cloned().collect();
                kept.set_quantified(resource, closed);
            }
        }
        kept
    }

    /// What is left in both of two heaps that come from one.
    fn common(&mut self, left: &Heap, right: &Heap) -> Heap {
        let mut both = Heap::for_parts_of(left, right);
        for (resource, chunks) in left.resources() {
            let mut others = right.of(resource).to_vec();
            for chunk in chunks {
                let same = |other: &Chunk| {
                    other.arguments == chunk.arguments && other.value == chunk.value
                };
                let Some(index) = others.iter().position(same) else { continue };
                let other = others.remove(index);
                let amount = self.terms.perm_min(chunk.amount, other.amount);
                both.push(resource, Chunk { amount, ..chunk.clone() });
            }
        }
        for (resource, chunks) in left.quantified_resources() {
            let mut others = right.quantified(resource).to_vec();
            for chunk in chunks {
                let same = |other: &QuantifiedChunk| {
                    other.map == chunk.map && other.triggers == chunk.triggers
                };
                let Some(index) = others.iter().position(same) else { continue };
                let other = others.remove(index);
                let amount = self.terms.perm_min(chunk.amount, other.amount);
                both.push_quantified(resource, QuantifiedChunk { amount, ..chunk.clone() });
            }
        }
        both
    }
}

/// Whether some proof script of a program may give a location another value: by a call, or by exhaling and inhaling it.
pub(crate) fn scripts_may_write(program: &Program) -> bool {
    let mut found = false;
    let bodies = program.methods.iter().flat_map(|(_, method)| &method.implementations);
    for implementation in bodies {
        walk_body(&implementation.body, |visit| {
            if let Visit::Stmt(Stmt { kind: StmtKind::Package { script, .. }, .. }) = visit {
                walk_stmts(&script.statements, |statement| found |= may_write(statement));
            }
        });
    }
    found
}

fn may_write(statement: &Stmt) -> bool {
    match &statement.kind {
        StmtKind::Call { .. }
        | StmtKind::FieldAssign { .. }
        | StmtKind::New { .. }
        | StmtKind::Quasihavoc { .. }
        | StmtKind::QuasihavocAll { .. } => true,
        StmtKind::Inhale(assertion) | StmtKind::Assume(assertion) => !assertion.is_pure(),
        _ => false,
    }
}

fn sides(wand: &Expr) -> (&Expr, &Expr) {
    match &wand.kind {
        ExprKind::Wand { left, right } => (left, right),
        _ => unreachable!("the type checker lets only wands through"),
    }
}
