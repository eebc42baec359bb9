//! Loops made of gotos become loop blocks.
//!
//! A level's graph is split into strongly connected components. One that is entered at a single
//! block is the natural loop of that block, its head: every block of it reaches the head without
//! passing it, and the head dominates every block of it. Without the edges back to the head the
//! inner loops are found in the same way. A component with two entries is irreducible.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

use super::draft::{Draft, DraftKind, Jump, NodeId};
use super::structured::not_a_loop_head;
use crate::diagnostics::{Code, Diagnostic};
use crate::program::{Expr, ExprKind, UnaryOp};

type Edge = (NodeId, NodeId);

/// Nests all natural loops of all levels; `None` if the graph is irreducible.
///
/// Afterwards the `parent`s are those of the nested form, and targets that are heads are still
/// named as the head; [`super::finish`] tells "back to the head" and "to the loop" apart.
pub(super) fn nest(draft: &mut Draft<'_>, diagnostics: &mut Vec<Diagnostic>) -> Option<()> {
    let mut regions = levels(draft);
    while let Some(region) = regions.pop() {
        nest_region(draft, region, &mut regions, diagnostics)?;
    }
    for &id in &draft.order {
        let node = &draft.nodes[id];
        if matches!(node.kind, DraftKind::Basic { .. }) && !node.invariants.is_empty() {
            diagnostics.push(not_a_loop_head(&node.name, node.span));
        }
    }
    Some(())
}

/// Blocks of one level in which loops are still to be found.
struct Region {
    members: Vec<NodeId>,
    /// Between members, in the order found; a loop node stands for all that is inside it.
    edges: Vec<Edge>,
    entry: NodeId,
    /// The parent of the loops found.
    parent: Option<NodeId>,
}

fn levels(draft: &Draft<'_>) -> Vec<Region> {
    let mut regions = vec![Region::new(draft.entry, None)];
    let mut index_of = FxHashMap::from_iter([(None, 0)]);
    for &id in &draft.order {
        if let DraftKind::Loop { entry, .. } = draft.nodes[id].kind {
            index_of.insert(Some(id), regions.len());
            regions.push(Region::new(entry, Some(id)));
        }
    }
    for &source in &draft.order {
        let node = &draft.nodes[source];
        regions[index_of[&node.parent]].members.push(source);
        for target in node.targets() {
            let level = draft.nodes[target].parent;
            let from = std::iter::once(source)
                .chain(draft.ancestors(source))
                .find(|&around| draft.nodes[around].parent == level);
            if let Some(from) = from {
                regions[index_of[&level]].edges.push((from, target));
            }
        }
    }
    regions
}

impl Region {
    fn new(entry: NodeId, parent: Option<NodeId>) -> Self {
        Self { members: Vec::new(), edges: Vec::new(), entry, parent }
    }
}

fn nest_region(
    draft: &mut Draft<'_>,
    region: Region,
    regions: &mut Vec<Region>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<()> {
    for component in cyclic_components(&region) {
        if let [head] = component.entries[..] {
            regions.push(make_loop(draft, component, head, region.parent));
        } else {
            diagnostics.push(irreducible(draft, &component));
            return None;
        }
    }
    Some(())
}

/// A strongly connected component with at least one edge.
struct Component {
    /// In the order of the region.
    members: Vec<NodeId>,
    edges: Vec<Edge>,
    /// The members that are reached from outside the component.
    entries: Vec<NodeId>,
}

fn cyclic_components(region: &Region) -> Vec<Component> {
    if region.edges.is_empty() {
        return Vec::new();
    }
    let mut graph = DiGraph::<NodeId, ()>::with_capacity(region.members.len(), region.edges.len());
    let index_of: FxHashMap<NodeId, _> =
        region.members.iter().map(|&member| (member, graph.add_node(member))).collect();
    for (source, target) in &region.edges {
        graph.add_edge(index_of[source], index_of[target], ());
    }
    let mut component_of = vec![0; region.members.len()];
    let components = kosaraju_scc(&graph);
    for (number, component) in components.iter().enumerate() {
        for member in component {
            component_of[member.index()] = number;
        }
    }
    let mut found: Vec<Component> = components
        .into_iter()
        .map(|mut members| {
            members.sort_unstable();
            let members = members.into_iter().map(|index| graph[index]).collect();
            Component { members, edges: Vec::new(), entries: Vec::new() }
        })
        .collect();
    let mut entered = FxHashSet::from_iter([region.entry]);
    for &(source, target) in &region.edges {
        let component = component_of[index_of[&source].index()];
        if component == component_of[index_of[&target].index()] {
            found[component].edges.push((source, target));
        } else {
            entered.insert(target);
        }
    }
    found.retain(|component| !component.edges.is_empty());
    for Component { members, entries, .. } in &mut found {
        entries.extend(members.iter().filter(|member| entered.contains(member)));
    }
    found
}

/// Puts the component into a new loop node; what remains is to look for loops inside it.
fn make_loop(
    draft: &mut Draft<'_>,
    component: Component,
    head: NodeId,
    parent: Option<NodeId>,
) -> Region {
    let Component { mut members, mut edges, .. } = component;
    let shape = while_shape(draft, &members, head);
    let span = draft.nodes[head].span;
    let name = match &shape {
        Some(_) => draft.nodes[head].name.clone(),
        None => {
            let hint = format!("{}$loop", draft.nodes[head].name);
            draft.names.fresh_or(hint)
        }
    };
    let id = draft.alloc_loop(name, parent, span);
    let invariants = std::mem::take(&mut draft.nodes[head].invariants);
    let decreases = std::mem::take(&mut draft.nodes[head].decreases);
    draft.nodes[id].invariants = invariants;
    draft.nodes[id].decreases = decreases;
    draft.loop_of_head.insert(head, id);
    for &member in &members {
        draft.nodes[member].parent = Some(id);
    }
    let (condition, entry, then) = match shape {
        Some(WhileShape { condition, entry, then }) => {
            draft.nodes[id].annotations = std::mem::take(&mut draft.nodes[head].annotations);
            draft.replaced_heads.insert(head);
            members.retain(|&member| member != head);
            edges.retain(|&(source, _)| source != head);
            (Some(condition), entry, Some(then))
        }
        None => (None, head, None),
    };
    edges.retain(|&(_, target)| target != head);
    draft.nodes[id].kind = DraftKind::Loop { condition, entry, then, exits: None };
    Region { members, edges, entry, parent: Some(id) }
}

struct WhileShape {
    condition: Expr,
    entry: NodeId,
    then: NodeId,
}

/// Returns the shape of a head that only decides between staying and leaving. A head whose state is
/// read by an `old` stays a block.
fn while_shape(draft: &Draft<'_>, members: &[NodeId], head: NodeId) -> Option<WhileShape> {
    let node = &draft.nodes[head];
    let DraftKind::Basic { statements, jump: Jump::Branch { condition, then, otherwise }, .. } =
        &node.kind
    else {
        return None;
    };
    let is_read = node.label.is_some_and(|label| draft.labels_read.contains(&label));
    if !statements.is_empty() || is_read || *then == head || *otherwise == head {
        return None;
    }
    match (members.contains(then), members.contains(otherwise)) {
        (true, false) => {
            Some(WhileShape { condition: condition.clone(), entry: *then, then: *otherwise })
        }
        (false, true) => {
            Some(WhileShape { condition: negated(condition), entry: *otherwise, then: *then })
        }
        _ => None,
    }
}

/// `!condition`, or what is under its `!`.
pub fn negated(condition: &Expr) -> Expr {
    if let ExprKind::Unary { op: UnaryOp::Not, operand } = &condition.kind {
        return (**operand).clone();
    }
    condition.clone().negation()
}

/// The error names a shortest cycle through two of the entries.
fn irreducible(draft: &Draft<'_>, component: &Component) -> Diagnostic {
    /// More pairs of entries than this are not compared.
    const COMPARED: usize = 8;
    let entries = &component.entries;
    let mut successors: FxHashMap<NodeId, Vec<NodeId>> = FxHashMap::default();
    for &(source, target) in &component.edges {
        successors.entry(source).or_default().push(target);
    }
    let mut best: Option<(Vec<NodeId>, Edge)> = None;
    let compared = &entries[..entries.len().min(COMPARED)];
    for (index, &first) in compared.iter().enumerate() {
        for &second in &compared[index + 1..] {
            let mut cycle = shortest_path(&successors, first, second);
            cycle.extend(shortest_path(&successors, second, first));
            if best.as_ref().is_none_or(|(shortest, _)| cycle.len() < shortest.len()) {
                best = Some((cycle, (first, second)));
            }
        }
    }
    let (cycle, (first, second)) = best.unwrap_or_else(|| (Vec::new(), (entries[0], entries[0])));
    let name = |id: NodeId| format!("`{}`", draft.nodes[id].name);
    let names: Vec<String> = cycle.iter().map(|&id| name(id)).collect();
    let message = format!(
        "irreducible control flow: the cycle {} is entered at {} and at {}",
        names.join(", "),
        name(first),
        name(second)
    );
    let finding = Diagnostic::new(Code::ConsistencyError, draft.nodes[first].span, message);
    cycle.iter().fold(finding, |finding, &id| {
        let role =
            if id == first || id == second { "an entry of the cycle" } else { "on the cycle" };
        finding.with_related(draft.nodes[id].span, format!("{} is {role}", name(id)))
    })
}

/// From `from` (included) to `to` (excluded), breadth first.
fn shortest_path(
    successors: &FxHashMap<NodeId, Vec<NodeId>>,
    from: NodeId,
    to: NodeId,
) -> Vec<NodeId> {
    let mut reached_from = FxHashMap::default();
    let mut open = VecDeque::from([from]);
    while let Some(node) = open.pop_front() {
        for &next in successors.get(&node).into_iter().flatten() {
            if next == to {
                let mut path = vec![node];
                while let Some(&before) = reached_from.get(path.last().unwrap_or(&from)) {
                    path.push(before);
                }
                path.reverse();
                return path;
            }
            if next != from && !reached_from.contains_key(&next) {
                reached_from.insert(next, node);
                open.push_back(next);
            }
        }
    }
    Vec::new()
}
