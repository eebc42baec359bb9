//! The knowledge about the types of one expression while they are inferred.

use rustc_hash::FxHashMap;

use super::adts::Selector;
use super::overload::{Misfit, Overloads};
use super::unify::{Ty, Unifier};
use crate::program::{DomainFunctionId, FieldId, FunctionId, LocalId, OldLabel, PredicateId, Type};
use crate::source::Name;
use crate::syntax;

/// The declaration that the names of a node refer to.
#[derive(Clone, Debug)]
pub(super) enum Referent {
    /// The node has no name, or an error was reported.
    None,
    Local(LocalId),
    /// The variables that the node binds.
    Binds(Vec<LocalId>),
    Field(FieldId),
    Predicate(PredicateId),
    Function(FunctionId),
    /// With the types that the parameters of its domain stand for.
    DomainFunction(DomainFunctionId, Vec<Ty>),
    Old(OldLabel),
    /// A destructor or discriminator, with the types that the parameters of its adt stand for.
    Selector(Selector, Vec<Ty>),
}

/// The knowledge about a node of the parse tree.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) ty: Ty,
    pub(super) referent: Referent,
}

/// The part of an expression's meaning that its surroundings need to know.
#[derive(Clone, Debug)]
pub(super) struct Meaning {
    pub(super) ty: Ty,
    /// The expression has a value: an assertion with permissions has none.
    pub(super) pure: bool,
}

/// The state of inferring one expression.
#[derive(Debug, Default)]
pub(super) struct Inference {
    pub(super) unifier: Unifier,
    pub(super) overloads: Overloads,
    /// Keyed by the address of the node: the parse tree is borrowed while it is resolved.
    nodes: FxHashMap<*const syntax::Expr, Node>,
    /// Holes that only their use determines.
    instances: Vec<Ty>,
    /// Holes for parameters of the domain whose axiom this is, with the parameter's name.
    pub(super) own_parameters: Vec<(Ty, Name)>,
    /// `let` variables, whose declarations wait for the types.
    pub(super) lets: Vec<LocalId>,
    /// An assertion stands where values of all types may stand.
    pub(super) has_impure_part: bool,
    /// Counts nodes, outer ones first.
    pub(super) order: u32,
}

impl Inference {
    pub(super) fn clear(&mut self) {
        self.unifier.clear();
        self.overloads.clear();
        self.nodes.clear();
        self.instances.clear();
        self.own_parameters.clear();
        self.lets.clear();
        self.has_impure_part = false;
        self.order = 0;
    }

    /// Returns a hole that has to be determined by its use; see [`Resolver::fill_holes`].
    pub(super) fn fresh_instance(&mut self) -> Ty {
        let hole = self.unifier.fresh();
        self.instances.push(hole.clone());
        hole
    }

    pub(super) fn has_free_instance(&mut self) -> bool {
        self.instances.iter().any(|hole| matches!(self.unifier.head(hole), Ty::Hole(_)))
    }

    /// Holes may have been filled with large types after their nodes were looked at.
    pub(super) fn has_large_type(&mut self) -> bool {
        let Self { unifier, nodes, .. } = self;
        nodes.values().any(|node| unifier.is_too_large(&node.ty))
    }

    pub(super) fn decide_all(&mut self) -> Result<(), Misfit> {
        self.overloads.decide_all(&mut self.unifier)
    }

    pub(super) fn record(&mut self, expr: &syntax::Expr, node: Node) {
        self.nodes.insert(std::ptr::from_ref(expr), node);
    }

    /// Returns the record of a node.
    pub(super) fn node(&self, expr: &syntax::Expr) -> Option<&Node> {
        self.nodes.get(&std::ptr::from_ref(expr))
    }

    /// Returns the type of a node, as a finished type.
    pub(super) fn ground(&mut self, ty: &Ty) -> Type {
        self.unifier.ground(ty, &mut || Type::Int)
    }
}

/// Returns an expression with a value.
pub(super) fn plain(ty: Ty) -> (Meaning, Referent) {
    (Meaning { ty, pure: true }, Referent::None)
}

/// Returns an assertion, with a value if it is pure.
pub(super) fn assertion(pure: bool) -> (Meaning, Referent) {
    (Meaning { ty: Ty::Bool, pure }, Referent::None)
}
