//! The `@src.…` annotations of a node: reading them back gives the node its origin.

use crate::macros::parts::is_of_macros;
use crate::program::{Annotation, Origins, Program};
use crate::source::OriginId;

/// Returns the annotations that lead from the origin in effect to that of a node, outer first.
///
/// Where a node's origin is not below the one in effect (code moved by a desugaring), those below
/// the nearest common one are written: the ones in effect cannot be taken back in the text.
pub(super) fn between(
    program: &Program,
    in_effect: OriginId,
    of_node: OriginId,
) -> Vec<&Annotation> {
    let origins = &program.origins;
    let common = common(origins, in_effect, of_node);
    let mut chain = Vec::new();
    let mut at = of_node;
    while at != common {
        let Some(entry) = entry(origins, at) else { break };
        chain.push(entry);
        at = parent(origins, at);
    }
    chain
        .into_iter()
        .rev()
        .flat_map(|entry| &entry.annotations)
        .filter(|annotation| &*annotation.key != "src.file" && !is_of_macros(annotation))
        .collect()
}

/// Returns the innermost origin that both have at or above them.
pub(super) fn common(origins: &Origins, mut first: OriginId, mut second: OriginId) -> OriginId {
    // An entry comes after the one it points to.
    while first != second {
        if first > second {
            first = parent(origins, first);
        } else {
            second = parent(origins, second);
        }
    }
    first
}

fn entry(origins: &Origins, id: OriginId) -> Option<&crate::program::Origin> {
    origins.entries.get((id.0 as usize).checked_sub(1)?)
}

/// Always smaller than `id`, so that walking outward ends.
pub(crate) fn parent(origins: &Origins, id: OriginId) -> OriginId {
    entry(origins, id).map(|entry| entry.parent).filter(|&above| above < id).unwrap_or_default()
}

/// `@key("value", …)`.
pub(super) fn annotation_text(annotation: &Annotation) -> String {
    let values: Vec<String> =
        annotation.values.iter().map(|value| format!("\"{}\"", quotable(value))).collect();
    format!("@{}({})", annotation.key, values.join(", "))
}

/// A value may hold neither a quote nor, with `@src.…`, a line break; those of a parsed program do
/// not.
fn quotable(value: &str) -> String {
    value.replace('"', "%22").replace('\n', "%0a")
}
