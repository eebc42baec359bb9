//! Blocks of a `while` that are written outside its body.
//!
//! Translators put the handlers of a `try` behind everything else: a jump leads out of the body of
//! a loop to the handler, and another one back to a label in the body. The iteration is not over
//! there, so the handler belongs to the loop as to any natural loop: it has the iteration's
//! permissions only, and the head forgets what it writes.

use rustc_hash::{FxHashMap, FxHashSet};

use super::draft::{Draft, DraftKind, NodeId};

/// Puts the blocks from which a way leads into the body of a `while` without passing its head into
/// the graph of that loop, if they are only reached from the body. With several loops around the
/// body that is the innermost for which it is true.
///
/// Other jumps into loops stay what they are: [`Draft::check_jumps`] finds them. So do those into
/// loops that are written as nested graphs, which say themselves what is inside.
pub(super) fn move_into_loops(draft: &mut Draft<'_>) {
    let edges = Edges::of(draft);
    if edges.into_body.is_empty() {
        return;
    }
    // Outer loops come first: what belongs to an inner loop belongs to those around it, too.
    for id in draft.order.clone() {
        for block in outlying(draft, &edges, id).unwrap_or_default() {
            draft.nodes[block].parent = Some(id);
        }
    }
}

struct Edges {
    /// Where jumps to a node come from.
    sources: FxHashMap<NodeId, Vec<NodeId>>,
    /// For a loop, where jumps come from that lead into its body past its head.
    into_body: FxHashMap<NodeId, Vec<NodeId>>,
}

impl Edges {
    fn of(draft: &Draft<'_>) -> Self {
        let mut edges = Self { sources: FxHashMap::default(), into_body: FxHashMap::default() };
        for &source in &draft.order {
            for target in draft.nodes[source].targets() {
                edges.sources.entry(target).or_default().push(source);
                let entered = |level: &NodeId| !draft.is_level_around(Some(*level), source);
                for the_loop in draft.ancestors(target).take_while(entered) {
                    edges.into_body.entry(the_loop).or_default().push(source);
                }
            }
        }
        edges
    }

    /// Returns where control comes from that gets to the node, or to somewhere inside it.
    fn into(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        let sources = [&self.sources, &self.into_body];
        sources.into_iter().filter_map(move |sources| sources.get(&node)).flatten().copied()
    }
}

/// Returns the nodes beside a loop that belong to it; `None` if the loop can be entered otherwise
/// than by its head.
fn outlying(draft: &Draft<'_>, edges: &Edges, id: NodeId) -> Option<Vec<NodeId>> {
    let DraftKind::Loop { exits: None, .. } = draft.nodes[id].kind else { return None };
    let level = draft.nodes[id].parent;
    let entry = match level.map(|around| &draft.nodes[around].kind) {
        Some(DraftKind::Loop { entry, .. }) => *entry,
        _ => draft.entry,
    };
    let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
    let mut open = edges.into_body.get(&id)?.clone();
    while let Some(source) = open.pop() {
        let node = std::iter::once(source)
            .chain(draft.ancestors(source))
            .find(|&around| draft.nodes[around].parent == level)?;
        // Where the condition is false the loop is over, and the level begins outside of it.
        if source == id || node == entry {
            return None;
        }
        if node != id && seen.insert(node) {
            found.push(node);
            open.extend(edges.into(node));
        }
    }
    Some(found)
}
