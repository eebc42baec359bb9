//! The predicates that speak about permissions: the others are formulas and may be used as terms.

use std::collections::BTreeSet;

use front::grow_stack;
use rustc_hash::{FxHashMap, FxHashSet};

use super::declare::Item;
use crate::program::{Declaration, PredicateId};
use crate::syntax::{BinaryOp, DeclarationKind, Expr, ExprKind};

/// Returns the predicates whose bodies mention permissions, directly or through others, and those
/// without body that are not declared `pure`.
pub(super) fn with_permissions<'s>(
    items: &[Item<'s>],
    macros: impl Iterator<Item = (&'s str, &'s Expr)>,
) -> Vec<PredicateId> {
    let mut mentions: FxHashMap<&str, Mentions> =
        macros.map(|(name, body)| (name, Mentions::of(body))).collect();
    let mut predicates = Vec::new();
    for (declaration, id) in items {
        let DeclarationKind::Predicate { is_pure, signature, body } = &declaration.kind else {
            continue;
        };
        let Some(Declaration::Predicate(id)) = id else { continue };
        let of_body = match body {
            Some(body) => Mentions::of(body),
            None => Mentions { has_permission: !is_pure, ..Mentions::default() },
        };
        mentions.insert(&signature.name.name, of_body);
        predicates.push((signature.name.name.as_str(), *id));
    }
    let mut callers: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
    let mut impure: Vec<&str> = Vec::new();
    let mut names: Vec<&str> = mentions.keys().copied().collect();
    names.sort_unstable();
    for name in names {
        for callee in &mentions[name].calls {
            callers.entry(callee).or_default().push(name);
        }
        if mentions[name].has_permission {
            impure.push(name);
        }
    }
    let mut found: FxHashSet<&str> = impure.iter().copied().collect();
    while let Some(name) = impure.pop() {
        for &caller in callers.get(name).map_or(&[][..], Vec::as_slice) {
            if found.insert(caller) {
                impure.push(caller);
            }
        }
    }
    predicates.into_iter().filter(|(name, _)| found.contains(name)).map(|(_, id)| id).collect()
}

#[derive(Default)]
struct Mentions<'s> {
    has_permission: bool,
    calls: BTreeSet<&'s str>,
}

impl<'s> Mentions<'s> {
    fn of(expr: &'s Expr) -> Self {
        let mut mentions = Self::default();
        mentions.add(expr);
        mentions
    }

    fn add(&mut self, expr: &'s Expr) {
        match &expr.kind {
            ExprKind::Emp => self.has_permission = true,
            ExprKind::Binary { op: BinaryOp::PointsTo | BinaryOp::PartOf, .. } => {
                self.has_permission = true;
            }
            ExprKind::Call { callee, .. } if callee.name == "acc" => self.has_permission = true,
            ExprKind::Call { callee, .. } => {
                self.calls.insert(&callee.name);
            }
            // The opened predicate is not a part of what is said.
            ExprKind::Unfolding { body, .. } => return grow_stack(|| self.add(body)),
            _ => {}
        }
        grow_stack(|| expr.for_each_child(&mut |child| self.add(child)));
    }
}
