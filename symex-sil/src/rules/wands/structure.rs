//! The identity of a wand: its structure, and its holes, which stand for their values.

use sil::program::{Expr, ExprKind, LocalId, Location, OldLabel, Resource as Asked};
use sil::source::Span;
use smt::terms::Terms;

use crate::rules::Sil;
use symex::Stop;
use symex::findings::blame::{Blame, Reason, unsupported_at};
use symex::run::explore::{Answer, Run};
use symex::state::Frame;
use symex::state::heap::{Heap, Resource};

impl Sil<'_, '_> {
    /// Returns the structure of a wand, and its holes. `blame` is for `old` of a state that was not
    /// reached.
    pub(crate) fn wand_pattern<'e>(
        &mut self,
        wand: &'e Expr,
        blame: Option<Blame>,
    ) -> Result<(Resource, Vec<&'e Expr>), Stop> {
        let mut shape =
            Shape { text: String::new(), bound: Vec::new(), holes: Vec::new(), unreached: None };
        shape.add(self, wand);
        if let (Some(unreached), Some(blame)) = (shape.unreached, blame) {
            if !blame.is_silent() && !self.is_dead()? {
                self.fail(Answer::No, blame, Reason::LabelNotReached, unreached);
            }
            return Err(Stop::Infeasible);
        }
        if shape.unreached.is_some() {
            return unsupported_at(
                wand.span,
                "`old` of a state that was not reached in a magic wand",
            );
        }
        let Shape { text, holes, .. } = shape;
        let sorts = holes.iter().map(|hole| self.sort(&hole.ty)).collect();
        let (index, _) = self.made.wands.insert_full(text, sorts);
        Ok((Resource::Wand(index), holes))
    }
}

/// Returns the heap that `old` with a label refers to.
fn old_heap(frame: &Frame<'_>, label: OldLabel) -> Option<Heap> {
    match label {
        OldLabel::Entry => frame.past.old.clone(),
        OldLabel::Label(label) => {
            let passed = frame.past.labels.get(&label)?;
            (passed.reached == Terms::TRUE).then(|| passed.heap.clone())
        }
        OldLabel::Lhs => frame.past.lhs.clone(),
    }
}

/// Returns a number that is equal for equal versions of a heap.
fn number_of_heap(run: &mut Run, heap: Heap) -> usize {
    match run.heaps_in_wands.iter().position(|known| known.same_version(&heap)) {
        Some(index) => index,
        None => {
            run.heaps_in_wands.push(heap);
            run.heaps_in_wands.len() - 1
        }
    }
}

/// The structure of a wand, as text, and its holes.
struct Shape<'e> {
    text: String,
    bound: Vec<LocalId>,
    holes: Vec<&'e Expr>,
    /// An `old` of a state that was not reached.
    unreached: Option<Span>,
}

impl<'e> Shape<'e> {
    fn add(&mut self, engine: &mut Sil<'_, '_>, expr: &'e Expr) {
        use std::fmt::Write as _;
        if !self.mentions_bound(expr) && is_hole(engine, expr) {
            self.holes.push(expr);
            let _ = write!(self.text, "?{:?}", expr.ty);
            return;
        }
        if let ExprKind::Old { label, .. } = &expr.kind
            && *label != OldLabel::Lhs
        {
            // The heap is that of the mention, although it is read where the wand is used. So the
            // structure names it.
            let Some(heap) = old_heap(&engine.frame, *label) else {
                self.unreached = Some(expr.span);
                return;
            };
            let _ = write!(self.text, "heap{}", number_of_heap(&mut engine.run, heap));
        }
        let head = match &expr.kind {
            ExprKind::Local(local) => {
                let index = self.bound.iter().position(|bound| bound == local);
                format!("#{index:?}")
            }
            ExprKind::FieldRead { field, .. } => format!("f{field:?}"),
            ExprKind::Apply { function, .. } => format!("a{function:?}"),
            ExprKind::DomainApply { function, instance, .. } => {
                format!("d{function:?}{instance:?}")
            }
            ExprKind::Unary { op, .. } => format!("{op:?}"),
            ExprKind::Binary { op, .. } => format!("{op:?}"),
            ExprKind::Old { label: OldLabel::Lhs, .. } => "lhs".to_owned(),
            ExprKind::Old { .. } => "old".to_owned(),
            ExprKind::Quantified { quantifier, variables, triggers, .. } => {
                let triggers: Vec<_> = triggers.iter().map(|trigger| trigger.len()).collect();
                let locals = &engine.frame.locals;
                let types: Vec<_> = variables.iter().map(|&local| &locals[local].ty).collect();
                format!("{quantifier:?}{types:?}{triggers:?}")
            }
            ExprKind::Acc { location, .. } => location_head(location),
            ExprKind::Perm(resource) => format!("perm{}", resource_head(resource)),
            ExprKind::ForPerm { variables, resource, .. } => {
                format!("forperm{}{}", variables.len(), resource_head(resource))
            }
            ExprKind::Unfolding { access, .. } => format!("unfolding{:?}", access.predicate),
            ExprKind::Literal { collection, elements } => {
                format!("{collection:?}{}", elements.len())
            }
            ExprKind::And(operands) => format!("and{}", operands.len()),
            ExprKind::Or(operands) => format!("or{}", operands.len()),
            other => format!("{:?}", std::mem::discriminant(other)),
        };
        let _ = write!(self.text, "{head}(");
        let outer = self.bound.len();
        self.bound.extend(expr.bound_variables());
        expr.for_each_child(|child| {
            smt::terms::grow_stack(|| self.add(engine, child));
            self.text.push(',');
        });
        self.bound.truncate(outer);
        self.text.push(')');
    }

    fn mentions_bound(&self, expr: &Expr) -> bool {
        expr.any(|expr| matches!(&expr.kind, ExprKind::Local(local) if self.bound.contains(local)))
    }
}

/// Returns the head of permission to a location or wand, without the operands.
fn resource_head(resource: &Asked) -> String {
    match resource {
        Asked::Location(location) => location_head(location),
        Asked::Wand(_) => "wand".to_owned(),
    }
}

fn location_head(location: &Location) -> String {
    match location {
        Location::Field { field, .. } => format!("acc{field:?}"),
        Location::Predicate { predicate, .. } => format!("pred{predicate:?}"),
    }
}

/// Tells whether an expression stands for its value. The value must not change with the heap. The
/// expression must bind nothing, so that wands with different quantifiers differ.
fn is_hole(engine: &Sil<'_, '_>, expr: &Expr) -> bool {
    let mut depends = false;
    sil::walk::walk_expr_while(expr, |expr| {
        match &expr.kind {
            // The value is fixed where the wand is mentioned.
            ExprKind::Old { label, .. } if *label != OldLabel::Lhs => return false,
            ExprKind::FieldRead { .. }
            | ExprKind::Quantified { .. }
            | ExprKind::Perm(_)
            | ExprKind::ForPerm { .. }
            | ExprKind::Acc { .. }
            | ExprKind::Wand { .. }
            | ExprKind::Unfolding { .. }
            | ExprKind::Applying { .. }
            | ExprKind::Asserting { .. }
            | ExprKind::InhaleExhale { .. }
            | ExprKind::Wildcard
            | ExprKind::Old { .. } => depends = true,
            ExprKind::Apply { function, .. } => {
                depends |= !engine.program.functions[*function].contract.preconditions.is_empty();
            }
            _ => {}
        }
        true
    });
    !depends
}
