//! The shared part of provers that work one after the other.

use std::cell::{Cell, OnceCell};
use std::path::Path;
use std::rc::Rc;

use z3::ast::Dynamic;
use z3::{Context, DatatypeSort};

use super::{raw, snapshots};

/// A Z3 context, and the declarations that every prover needs in it.
///
/// Making a context costs more than verifying a small member (Z3 4.8.12 fills tables of 16 MB for
/// it), so the members of a lane use one context in turn. No prover sees the assumptions of an
/// earlier one: assertions belong to solvers, and every prover has its own. The numbers that Z3
/// gives to its terms do depend on earlier terms, and with them, in corner cases, the search. So
/// the provers that share a workspace, and their order, must not depend on the number of threads.
///
/// The context is made for the first question.
#[derive(Clone)]
pub struct Workspace(Rc<Shared>);

struct Shared {
    tools: OnceCell<Tools>,
    /// The number of terms that have been translated.
    load: Cell<usize>,
}

/// The context and vocabulary, made at the first question.
pub(super) struct Tools {
    pub(super) context: Context,
    pub(super) vocabulary: Rc<Vocabulary>,
}

/// The load of a context that should be replaced. Its tables grow with the terms that it has seen,
/// and do not shrink.
const WORN: usize = 50_000;

/// Declarations that last as long as the context. The datatype in particular must be declared once.
pub(super) struct Vocabulary {
    pub(super) null: Dynamic,
    pub(super) snapshots: DatatypeSort,
}

impl Workspace {
    pub fn new() -> Workspace {
        Workspace(Rc::new(Shared { tools: OnceCell::new(), load: Cell::default() }))
    }

    /// Returns a workspace whose context writes a trace to a file. The file is complete when the
    /// workspace and its provers are gone.
    pub fn traced(file: &Path) -> Workspace {
        let tools = OnceCell::from(Tools::within(raw::new_traced_context(file)));
        Workspace(Rc::new(Shared { tools, load: Cell::default() }))
    }

    pub(super) fn tools(&self) -> &Tools {
        self.0.tools.get_or_init(|| Tools::within(raw::new_context()))
    }

    /// Notes that one more term has been translated.
    pub(super) fn add_load(&self) {
        self.0.load.set(self.0.load.get().saturating_add(1));
    }

    /// Makes the workspace worn. Only its present prover still uses it.
    pub(super) fn wear_out(&self) {
        self.0.load.set(usize::MAX);
    }

    /// Tells whether a new workspace is better.
    pub fn is_worn(&self) -> bool {
        self.0.load.get() > WORN
    }
}

impl Tools {
    fn within(context: Context) -> Tools {
        let vocabulary = raw::enter(&context, || {
            let reference = z3::Sort::uninterpreted("Ref".into());
            Vocabulary {
                null: Dynamic::new_const("null", &reference),
                snapshots: snapshots::declare(&reference),
            }
        });
        Tools { context, vocabulary: Rc::new(vocabulary) }
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Workspace::new()
    }
}
