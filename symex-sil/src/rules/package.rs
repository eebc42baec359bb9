//! `package A --* B { … }`: the permission that the proof script gives up is the footprint of the
//! wand.
//!
//! DIVERGENCE: the reference lets each path of a package give up a footprint of its own, which is
//! unsound if the left-hand side decides between the paths. Here all paths that the left-hand side
//! tells apart give up the union of their footprints (trap T10a).

use std::rc::Rc;

use sil::program::{Block, Expr, ExprKind, Stmt, StmtKind};
use smt::terms::{Sort, Term, Terms};

use super::wands::{applied, sides};
use crate::rules::Sil;
use symex::findings::blame::{Blame, ErrorId, unsupported_at};
use symex::report::{Finding, Severity};
use symex::rules::assertion::conjuncts;
use symex::rules::language::Language;
use symex::state::heap::{Chunk, Heap};
use symex::state::mode::{Definition, Mode};
use symex::state::quantified::QuantifiedChunk;
use symex::state::sorts::wand_sort;
use symex::{Configuration, Explore, Stop, View, Watch};

/// The end of one path of a package.
struct End {
    /// The rest of the heaps around.
    reserve: Vec<Heap>,
    /// The snapshot of the right-hand side; `None` if the path is contradictory. Then the
    /// permission given up so far justifies the wand.
    snapshot: Option<Term>,
    /// Values that are equal on the path.
    agreed: Rc<Vec<Term>>,
}

/// Paths of a package that differ only in ways that the outside cannot see.
struct Group {
    /// The condition of these paths outside.
    condition: Term,
    /// The rest of the heaps around.
    reserve: Vec<Heap>,
    /// The condition and the right-hand snapshot of each path.
    snapshots: Vec<(Term, Term)>,
    /// The facts about the left-hand side and the footprint together.
    agreed: Vec<Term>,
}

impl Sil<'_, '_> {
    /// Executes `package A --* B { script }`.
    pub(crate) fn exec_package(
        &mut self,
        wand: &Expr,
        script: &Block,
        blame: Blame,
    ) -> Result<(), Stop> {
        let mut flaws = self.flaws_of_wand(wand, Some(blame))?;
        if flaws.findings().any(|flaw| flaw.error == blame.error) {
            // No script is run for a left-hand side without a meaning.
            flaws.retain(|flaw| flaw.error == blame.error);
            self.log.add(flaws);
            return Err(Stop::Infeasible);
        }
        let is_ill_formed = flaws.has_findings();
        let (resource, arguments) = self.eval_wand(wand, blame)?;
        // Events inside depend on the left-hand side: every symbol made there is a function of its
        // snapshot (trap T10c).
        let root = self.fresh_variable("root", Sort::SNAP);
        let definitions = std::mem::take(&mut self.gathered.definitions);
        // SOUNDNESS: no fact learnt inside is kept, since the left-hand side may be contradictory
        // (trap T10d).
        let (outcome, inside) = self.finding_apart(|sil| {
            sil.in_package(root, |sil| {
                sil.scoped(None, |sil| {
                    sil.explore(|sil| {
                        // An ill-formed wand is an error. Its right-hand side proves nothing more.
                        let end = if is_ill_formed { blame.silent() } else { blame.trusted() };
                        sil.run_package(wand, root, script, end)
                    })
                })
            })
        });
        // Permission that the script misses may be the only defect of the right-hand side.
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
        release_definitions(self, root, own)?;
        let groups = groups(&mut self.terms, root, paths);
        let conditions: Vec<_> = groups.iter().map(|group| Some(group.condition)).collect();
        let taken = if groups.len() > 1 { self.choose(&conditions)? } else { 0 };
        let group = &groups[taken];
        let sort = wand_sort(&mut self.terms);
        let function = self.fresh("wand", sort);
        for &(condition, snapshot) in &group.snapshots {
            let applied = applied(&mut self.terms, function, root);
            let equal = self.terms.identical(applied, snapshot);
            let formula = self.terms.implies(condition, equal);
            let definition = Definition { roots: Vec::new(), trigger: applied, formula };
            release_definitions(self, root, vec![definition])?;
        }
        self.made
            .agreements
            .insert(function, symex::Agreement { root, facts: group.agreed.clone() });
        self.learn_passed_through(&group.reserve)?;
        let mut reserve = group.reserve.iter().cloned();
        let left = reserve.next().expect("the heap around the package");
        let before = std::mem::replace(&mut self.here.heap, left.clone());
        self.note_lost(&before, &left, blame.span);
        self.here.package.reserve = reserve.collect();
        let amount = Terms::WRITE;
        self.here.heap.push(resource, Chunk { arguments, value: function, amount });
        Ok(())
    }

    /// Runs where everything depends on the snapshot of a package's left-hand side.
    fn in_package<T>(&mut self, root: Term, run: impl FnOnce(&mut Self) -> T) -> T {
        let enter = |mode: &mut Mode| {
            mode.bound.push(root);
            mode.roots.push(root);
        };
        self.in_mode(enter, run)
    }

    /// Runs one path of a package: the left-hand side, the script, the right-hand side.
    fn run_package(
        &mut self,
        wand: &Expr,
        root: Term,
        script: &Block,
        blame: Blame,
    ) -> Result<End, Stop> {
        let (left, right) = sides(wand);
        self.here.package.agreed = Rc::default();
        let here = &mut self.here;
        here.package.reserve.insert(0, std::mem::take(&mut here.heap));
        let result = self.run_script(left, right, root, script, blame);
        let reserve = self.here.package.reserve.clone();
        let agreed = std::mem::take(&mut self.here.package.agreed);
        match result {
            Ok(snapshot) => Ok(End { reserve, snapshot: Some(snapshot), agreed }),
            // The path counts all the same: the permission that it has given up justifies the wand
            // (trap T10f).
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
        self.produce_all([left], Some(root), |_| blame.trusted())?;
        let lhs = self.here.heap.clone();
        // If the left-hand side alone is contradictory, the wand needs nothing. PERFORMANCE: a
        // left-hand side of permissions only is looked at alone. Otherwise all chunks around are,
        // with a question for each pair whether it is one location.
        let gives_permissions_only = conjuncts::<Sil>([left])
            .iter()
            .all(|(_, conjunct)| matches!(conjunct.kind, ExprKind::Acc { .. }));
        let is_dead = if gives_permissions_only {
            self.learn_from(&lhs)?;
            self.seems_dead()?
        } else {
            self.is_dead()?
        };
        if is_dead {
            return Err(Stop::Infeasible);
        }
        self.frame.past.lhs = Some(lhs.clone());
        self.exec_script(script)?;
        self.frame.past.lhs = Some(lhs);
        self.frame.assertion.keeps_snapshots = true;
        self.consume_all([right], |_| blame)
    }

    /// Executes a proof script, which has no loops and no jumps.
    fn exec_script(&mut self, script: &Block) -> Result<(), Stop> {
        script.statements.iter().try_for_each(|statement| self.exec_in_script(statement))
    }

    fn exec_in_script(&mut self, statement: &Stmt) -> Result<(), Stop> {
        match &statement.kind {
            StmtKind::Block(block) => self.exec_script(block),
            StmtKind::If { condition, then, otherwise } => {
                let value = self.eval(condition, Blame::new(ErrorId::IfFailed, condition.span))?;
                let taken = self.branch(value)?;
                Rc::make_mut(&mut self.here.path).push((condition.span, taken));
                match otherwise {
                    _ if taken => self.exec_script(then),
                    Some(otherwise) => self.exec_script(otherwise),
                    None => Ok(()),
                }
            }
            StmtKind::While { .. } | StmtKind::Goto(_) => {
                unsupported_at(statement.span, "loops and jumps in proof scripts")
            }
            _ => self.exec(statement),
        }
    }
}

/// Groups the paths of a package as the outside sees them.
fn groups(terms: &mut Terms, root: Term, paths: Vec<(Vec<Term>, End)>) -> Vec<Group> {
    let mut literals = paths.iter().flat_map(|(literals, _)| literals);
    let tells_apart = literals.all(|&literal| !terms.mentions(literal, &[root]));
    if tells_apart {
        return paths
            .into_iter()
            .map(|(literals, end)| Group {
                condition: terms.and(literals),
                reserve: end.reserve.iter().map(|heap| without_root(terms, heap, root)).collect(),
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
        let left: Vec<_> = end.reserve.iter().map(|heap| without_root(terms, heap, root)).collect();
        reserve = Some(match reserve {
            None => left,
            Some(other) => {
                other.iter().zip(&left).map(|(a, b)| left_in_both(terms, a, b)).collect()
            }
        });
        let condition = terms.and(literals);
        snapshots.extend(end.snapshot.map(|snapshot| (condition, snapshot)));
        for &fact in &*end.agreed {
            agreed.push(terms.implies(condition, fact));
        }
    }
    let reserve = reserve.expect("a package has a path");
    vec![Group { condition: Terms::TRUE, reserve, snapshots, agreed }]
}

/// Assumes the definitions of symbols made in a package that is over, and tells them to the
/// package around it.
fn release_definitions(
    config: &mut Configuration<'_>,
    root: Term,
    definitions: Vec<Definition>,
) -> Result<(), Stop> {
    for mut definition in definitions {
        definition.roots.push(root);
        let Definition { roots, trigger, formula } = &definition;
        let triggers = vec![vec![*trigger]];
        let fact = config.terms.forall(roots, triggers, *formula, "package-definition", 1);
        config.assume(fact)?;
        if config.here.may_transfer() {
            config.gathered.definitions.push(definition);
        }
    }
    Ok(())
}

/// Returns a heap without the chunks whose remaining amount or values depend on the left-hand side.
fn without_root(terms: &Terms, heap: &Heap, root: Term) -> Heap {
    let mut kept = heap.clone();
    for (resource, chunks) in heap.resources() {
        let open = |chunk: &Chunk| terms.mentions(chunk.amount, &[root]);
        if chunks.iter().any(open) {
            kept.set(resource, chunks.iter().filter(|chunk| !open(chunk)).cloned().collect());
        }
    }
    for (resource, chunks) in heap.quantified_resources() {
        let open = |chunk: &QuantifiedChunk| {
            [chunk.amount, chunk.map].iter().any(|&term| terms.mentions(term, &[root]))
        };
        if chunks.iter().any(open) {
            let closed = chunks.iter().filter(|chunk| !open(chunk)).cloned().collect();
            kept.set_quantified(resource, closed);
        }
    }
    kept
}

/// Returns the permissions that are left in both of two heaps that come from one.
fn left_in_both(terms: &mut Terms, left: &Heap, right: &Heap) -> Heap {
    let mut both = Heap::for_parts_of(left, right);
    for (resource, chunks) in left.resources() {
        let mut others = right.of(resource).to_vec();
        for chunk in chunks {
            let same =
                |other: &Chunk| other.arguments == chunk.arguments && other.value == chunk.value;
            let Some(index) = others.iter().position(same) else { continue };
            let other = others.remove(index);
            let amount = terms.perm_min(chunk.amount, other.amount);
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
            let amount = terms.perm_min(chunk.amount, other.amount);
            both.push_quantified(resource, QuantifiedChunk { amount, ..chunk.clone() });
        }
    }
    both
}
