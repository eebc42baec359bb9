//! The forms of assertions, which every rule for assertions distinguishes.

use sil::program::LocalId;
use sil::source::Span;

/// An assertion, taken apart. `Access` is permission to locations. `Own` is a form that no other
/// language has.
pub enum Form<'e, Expr, Access, Own> {
    /// An assertion without permission.
    Pure,
    /// `A && B && …`.
    All(&'e [Expr]),
    /// `c ==> A`, or `c ? A : B`.
    If {
        condition: &'e Expr,
        then: &'e Expr,
        otherwise: Option<&'e Expr>,
    },
    /// `let x == (e) in A`.
    Let {
        variable: LocalId,
        value: &'e Expr,
        body: &'e Expr,
    },
    /// `acc(r, p)`.
    Access(Access),
    Own(Own),
}

/// The assertions of a language.
pub trait Assertions {
    /// Expressions and assertions.
    type Expr;

    /// Returns the operands of a conjunction.
    fn operands(assertion: &Self::Expr) -> Option<&[Self::Expr]>;

    /// Tells whether an assertion has a part in the snapshot of the assertion around it.
    fn has_part(assertion: &Self::Expr) -> bool;

    fn span(assertion: &Self::Expr) -> Span;
}

/// Returns the list of top-level conjuncts of some clauses, each behind its clause.
pub fn conjuncts<'e, L: Assertions<Expr: 'e>>(
    clauses: impl IntoIterator<Item = &'e L::Expr>,
) -> Vec<(&'e L::Expr, &'e L::Expr)> {
    let mut all = Vec::new();
    for clause in clauses {
        let mut open = vec![clause];
        while let Some(part) = open.pop() {
            match L::operands(part) {
                Some(operands) => open.extend(operands.iter().rev()),
                None => all.push((clause, part)),
            }
        }
    }
    all
}
