//! The functions that apply each other, directly or through others.

use chalice::program::walk::applied;
use chalice::program::{Expr, Function, FunctionId, Program};
use la_arena::ArenaMap;

/// The cycles of functions in a program.
#[derive(Default)]
pub(crate) struct Recursion {
    /// The components by applications in bodies.
    bodies: Components,
    /// The components by all applications, contracts included.
    everywhere: Components,
}

/// Functions with the same number apply each other, perhaps through others.
type Components = ArenaMap<FunctionId, usize>;

impl Recursion {
    pub(crate) fn of(program: &Program) -> Self {
        Self {
            bodies: components(program, |function| applied(&function.body)),
            everywhere: components(program, |function| {
                let contract = function.requires.iter().chain(&function.ensures);
                applied(contract.chain(&function.body))
            }),
        }
    }

    /// Returns the functions that the body of `id` applies and that, perhaps through others, apply
    /// `id`; sorted.
    pub(crate) fn cycle_of(&self, program: &Program, id: FunctionId) -> Vec<FunctionId> {
        let mut cycle = applied(&program.functions[id].body);
        cycle.retain(|&other| self.bodies[other] == self.bodies[id]);
        cycle.sort();
        cycle.dedup();
        cycle
    }

    /// Does a clause in the contract of `id` apply, perhaps through other functions, the function
    /// itself?
    pub(crate) fn leads_back(&self, clause: &Expr, id: FunctionId) -> bool {
        applied([clause]).iter().any(|&other| self.is_mutual(id, other))
    }

    /// Do two functions apply each other, perhaps through others and in their contracts? A function
    /// and itself do.
    pub(crate) fn is_mutual(&self, id: FunctionId, other: FunctionId) -> bool {
        self.everywhere[id] == self.everywhere[other]
    }
}

fn components(program: &Program, applied: impl Fn(&Function) -> Vec<FunctionId>) -> Components {
    sil::recursion::components(
        program.functions.iter().map(|(id, function)| (id, applied(function))),
    )
}
