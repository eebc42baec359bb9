//! The nodes of the tree as bytes.

use std::sync::Arc;

use front::grow_stack;
use indexmap::IndexMap;
use la_arena::{Arena, Idx};
use num_bigint::BigInt;
use sil::cfg::{self, Cfg};
use sil::program::*;
use sil::source::{Name, Span};
use sil::syntax;

use super::{Encoder, Part};

/// A part of the tree. What it writes ends where it ends.
pub(super) trait Encode {
    fn encode(&self, to: &mut Encoder<'_>);
}

/// Writes the fields of structures in the order given; each field has to be named.
macro_rules! structures {
    ($($ty:ty $(where $any:ident)? { $($field:ident),* $(,)? })*) => {$(
        impl $(<$any: Encode>)? Encode for $ty {
            fn encode(&self, to: &mut Encoder<'_>) {
                let Self { $($field),* } = self;
                $($field.encode(to);)*
            }
        }
    )*};
}

/// Writes the name of a variant and its fields; each variant and field has to be named.
macro_rules! choices {
    ($($ty:ty $(where $any:ident)? {
        $($variant:ident $(($($item:ident),*))? $({ $($field:ident),* })?),* $(,)?
    })*) => {$(
        impl $(<$any: Encode>)? Encode for $ty {
            fn encode(&self, to: &mut Encoder<'_>) {
                match self {
                    $(Self::$variant $(($($item),*))? $({ $($field),* })? => {
                        to.bytes.extend_from_slice(concat!(stringify!($variant), "\0").as_bytes());
                        $($($item.encode(to);)*)?
                        $($($field.encode(to);)*)?
                    })*
                }
            }
        }
    )*};
}

structures! {
    Field { name, ty, annotations, span }
    Predicate { name, locals, formals, body, annotations, span }
    Function { name, locals, formals, result, contract, body, annotations, span }
    Method { name, locals, formals, returns, contract, implementations, annotations, span }
    Contract { preconditions, postconditions, decreases }
    Decreases { kind, condition, in_postcondition, measure, span }
    Implementation { name, labels, body, annotations, span }
    Label { name, span }
    Domain { name, parameters, interpretations, functions, axioms, annotations, span }
    DomainFunction {
        name, domain, unique, is_constructor, formals, result, interpretation, annotations, span
    }
    Axiom { name, locals, body, annotations, span }
    Block { statements, span }
    Stmt { kind, span, annotations }
    Graph { locals, nodes, entry, span }
    Node { label, invariants, decreases, kind, annotations, span }
    syntax::Terminator<Expr, L> where L { kind, span }
    cfg::Block { name, label, parent, kind, annotations, span }
    cfg::Loop { condition, invariants, decreases, entry, then, exits, written, labels }
    PredicateAccess { predicate, arguments, amount, span }
    syntax::Trigger<Expr> { terms, span }
}

choices! {
    Type {
        Int, Bool, Perm, Ref, Seq(element), Set(element), Multiset(element), Map(key, value),
        Domain(domain, arguments), Variable(name), Wand,
    }
    LocalKind { Formal, Returned, Variable, Bound, Let }
    DecreasesKind { Tuple(elements), Wildcard, Star }
    Body { Structured(block), Graph(graph) }
    NodeKind { Block { statements, terminator }, Loop { condition, exits, graph, then } }
    cfg::BlockKind { Basic { statements, terminator }, Loop(inner) }
    syntax::TerminatorKind<Expr, L> where L {
        Goto(target), Branch { condition, then, otherwise }, Next, Halt, Dead,
    }
    StmtKind {
        Var(variables), Assign { target, value }, FieldAssign { receiver, field, value },
        New { target, fields }, Call { targets, method, arguments }, Inhale(assertion),
        Exhale(assertion), Assert(assertion), Assume(assertion), Refute(assertion), Unreachable,
        Fold(access), Unfold(access), Package { wand, script }, Apply { wand },
        Quasihavoc { condition, resource }, QuasihavocAll { variables, condition, resource },
        Label { label, invariants, decreases }, If { condition, then, otherwise },
        While { condition, invariants, decreases, body }, Goto(label), Block(block),
    }
    ExprKind {
        Int(number), Bool(value), Null, NoPerm, FullPerm, Wildcard, Local(local), Result,
        FieldRead { receiver, field }, Apply { function, arguments },
        DomainApply { function, instance, arguments }, Unary { op, operand },
        Binary { op, left, right }, And(operands), Or(operands),
        Conditional { condition, then, otherwise }, Old { label, body },
        Let { variable, value, body }, Quantified { quantifier, variables, triggers, body },
        ForPerm { variables, resource, body }, Perm(resource), Acc { location, amount },
        Wand { left, right }, InhaleExhale { inhale, exhale }, Unfolding { access, body },
        Applying { wand, body }, Asserting { assertion, body }, Literal { collection, elements },
        MapLiteral { entries }, Range { low, high }, Index { base, index },
        Update { base, index, value }, Take { base, count }, Drop { base, count },
        Cardinality(operand), MapDomain(operand), MapRange(operand),
    }
    Location { Field { receiver, field }, Predicate { predicate, arguments } }
    Resource { Location(location), Wand(wand) }
    OldLabel { Entry, Lhs, Label(label) }
    UnaryOp { Not, Minus }
    BinaryOp {
        Implies, Eq, Ne, Lt, Le, Gt, Ge, Add, Sub, Mul, IntDiv, Mod, PermDiv, Append, Union,
        Intersection, Setminus, Subset, In,
    }
    Quantifier { Forall, Exists }
    Collection { Seq, Set, Multiset }
}

impl Encode for Expr {
    fn encode(&self, to: &mut Encoder<'_>) {
        let Self { kind, ty, span, annotations } = self;
        to.span(*span);
        ty.encode(to);
        annotations.encode(to);
        if matches!(kind, ExprKind::Quantified { .. } | ExprKind::ForPerm { .. }) {
            to.quantifier(*span);
        }
        self.bound_variables().iter().for_each(|&variable| to.bind(variable));
        grow_stack(|| kind.encode(to));
    }
}

/// A body with termination checks.
impl Encode for Cfg {
    fn encode(&self, to: &mut Encoder<'_>) {
        self.blocks.encode(to);
        self.entry.encode(to);
        self.blocks.iter().for_each(|(block, _)| self.join_point(block).encode(to));
    }
}

impl Encode for Local {
    fn encode(&self, to: &mut Encoder<'_>) {
        let Self { name, ty, kind, span } = self;
        name.encode(to);
        ty.encode(to);
        kind.encode(to);
        to.place(*span);
    }
}

impl Encode for Annotation {
    fn encode(&self, to: &mut Encoder<'_>) {
        let Self { key, values, span: _ } = self;
        key.encode(to);
        values.encode(to);
    }
}

impl Encode for Span {
    fn encode(&self, to: &mut Encoder<'_>) {
        to.span(*self);
    }
}

/// Ids of what the part itself declares.
macro_rules! own_ids {
    ($($declared:ty),*) => {$(
        impl Encode for Idx<$declared> {
            fn encode(&self, to: &mut Encoder<'_>) {
                to.raw(*self);
            }
        }
    )*};
}

/// Ids of members: where each is in the program, and the part that is reached.
macro_rules! other_ids {
    ($($member:ident in $members:ident is $part:ident,)*) => {$(
        impl Encode for Idx<$member> {
            fn encode(&self, to: &mut Encoder<'_>) {
                to.reached.insert(Part::$part(*self));
                to.text(&to.reader.program.$members[*self].name);
            }
        }
    )*};
}

own_ids!(Local, Label, cfg::Block);

other_ids! {
    Field in fields is Field,
    Domain in domains is Domain,
    Predicate in predicates is Predicate,
    Function in functions is Function,
    Method in methods is Contract,
}

impl Encode for DomainFunctionId {
    fn encode(&self, to: &mut Encoder<'_>) {
        let DomainFunction { name, domain, .. } = &to.reader.program.domain_functions[*self];
        name.encode(to);
        domain.encode(to);
    }
}

impl Encode for bool {
    fn encode(&self, to: &mut Encoder<'_>) {
        to.flag(*self);
    }
}

impl Encode for usize {
    fn encode(&self, to: &mut Encoder<'_>) {
        to.number(*self);
    }
}

impl Encode for BigInt {
    fn encode(&self, to: &mut Encoder<'_>) {
        to.text(&self.to_string());
    }
}

impl Encode for str {
    fn encode(&self, to: &mut Encoder<'_>) {
        to.text(self);
    }
}

impl Encode for String {
    fn encode(&self, to: &mut Encoder<'_>) {
        to.text(self);
    }
}

impl<T: Encode + ?Sized> Encode for &T {
    fn encode(&self, to: &mut Encoder<'_>) {
        (**self).encode(to);
    }
}

impl<T: Encode> Encode for Box<T> {
    fn encode(&self, to: &mut Encoder<'_>) {
        (**self).encode(to);
    }
}

impl<T: Encode + ?Sized> Encode for Arc<T> {
    fn encode(&self, to: &mut Encoder<'_>) {
        (**self).encode(to);
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(&self, to: &mut Encoder<'_>) {
        self.as_slice().encode(to);
    }
}

impl<T: Encode> Encode for [T] {
    fn encode(&self, to: &mut Encoder<'_>) {
        to.number(self.len());
        self.iter().for_each(|item| item.encode(to));
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, to: &mut Encoder<'_>) {
        self.as_slice().encode(to);
    }
}

impl<T: Encode> Encode for Arena<T> {
    fn encode(&self, to: &mut Encoder<'_>) {
        to.number(self.len());
        self.values().for_each(|item| item.encode(to));
    }
}

impl<A: Encode, B: Encode> Encode for (A, B) {
    fn encode(&self, to: &mut Encoder<'_>) {
        self.0.encode(to);
        self.1.encode(to);
    }
}

impl Encode for IndexMap<Name, Name> {
    fn encode(&self, to: &mut Encoder<'_>) {
        to.number(self.len());
        self.iter().for_each(|entry| entry.encode(to));
    }
}
