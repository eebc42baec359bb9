//! Types with holes, and their unification.
//!
//! There is no subtyping among values, so unification is equality; a hole that belongs to an
//! undecided operator wakes the operator when it is filled.

use std::rc::Rc;
use std::sync::Arc;

use front::grow_stack;

use super::overload::PendingId;
use crate::program::{DomainId, Type};
use crate::source::Name;

/// A type under construction.
#[derive(Clone, Debug)]
pub(super) enum Ty {
    /// Something was reported here already; equal to every type.
    Error,
    Hole(Hole),
    Int,
    Bool,
    Perm,
    Ref,
    Parameter(Name),
    Seq(Rc<Ty>),
    Set(Rc<Ty>),
    Multiset(Rc<Ty>),
    Map(Rc<(Ty, Ty)>),
    Domain(DomainId, Rc<[Ty]>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hole(u32);

impl Ty {
    /// Returns the type itself, for a type that mentions no parameter of a domain to be
    /// instantiated.
    pub(super) fn of(ty: &Type) -> Self {
        Self::instantiate(ty, &[], &[])
    }

    /// `ty` with each of `parameters` replaced by the argument at its place.
    pub(super) fn instantiate(ty: &Type, parameters: &[Name], arguments: &[Ty]) -> Self {
        let part = |ty: &Type| Rc::new(Self::instantiate(ty, parameters, arguments));
        match ty {
            Type::Int => Self::Int,
            Type::Bool | Type::Wand => Self::Bool,
            Type::Perm => Self::Perm,
            Type::Ref => Self::Ref,
            Type::Seq(element) => Self::Seq(part(element)),
            Type::Set(element) => Self::Set(part(element)),
            Type::Multiset(element) => Self::Multiset(part(element)),
            Type::Map(key, value) => Self::Map(Rc::new((
                Self::instantiate(key, parameters, arguments),
                Self::instantiate(value, parameters, arguments),
            ))),
            Type::Domain(domain, types) => Self::Domain(
                *domain,
                types.iter().map(|ty| Self::instantiate(ty, parameters, arguments)).collect(),
            ),
            Type::Variable(name) => match parameters.iter().position(|p| p == name) {
                Some(index) => arguments[index].clone(),
                None => Self::Parameter(name.clone()),
            },
        }
    }
}

#[derive(Debug)]
enum Binding {
    Free {
        /// Operators to look at again when the hole is filled.
        watchers: Vec<PendingId>,
    },
    Filled(Ty),
}

/// Nodes that a type of an expression may have. Nested applications of a function such as
/// `twice(x: T): Pair[T, T]` have types of exponential size.
const MAX_NODES: u32 = 1_000;

/// Nodes that one unification may look at.
const MAX_STEPS: u32 = 1_000_000;

/// The holes of one expression. Types only get more definite.
#[derive(Debug, Default)]
pub(super) struct Unifier {
    bindings: Vec<Binding>,
    /// Nodes looked at by the unification at hand.
    steps: u32,
    /// Operators whose operands have become more definite since they were last looked at.
    pub(super) woken: Vec<PendingId>,
}

/// Two types that cannot be made equal, or only by a type that contains itself.
#[derive(Debug)]
pub(super) struct Mismatch;

impl Unifier {
    pub(super) fn clear(&mut self) {
        self.bindings.clear();
        self.woken.clear();
    }

    pub(super) fn fresh(&mut self) -> Ty {
        self.bindings.push(Binding::Free { watchers: Vec::new() });
        Ty::Hole(Hole(self.bindings.len() as u32 - 1))
    }

    /// `ty`, or what fills it if it is a filled hole.
    pub(super) fn head(&mut self, ty: &Ty) -> Ty {
        let Ty::Hole(mut hole) = *ty else { return ty.clone() };
        loop {
            match &self.bindings[hole.0 as usize] {
                Binding::Free { .. } => return Ty::Hole(hole),
                Binding::Filled(Ty::Hole(next)) => {
                    let next = *next;
                    // Path halving keeps chains of holes short.
                    if let Binding::Filled(Ty::Hole(after)) = &self.bindings[next.0 as usize] {
                        let after = *after;
                        self.bindings[hole.0 as usize] = Binding::Filled(Ty::Hole(after));
                    }
                    hole = next;
                }
                Binding::Filled(filled) => return filled.clone(),
            }
        }
    }

    /// Makes the two types equal by filling holes.
    pub(super) fn unify(&mut self, left: &Ty, right: &Ty) -> Result<(), Mismatch> {
        self.steps = 0;
        self.unify_parts(left, right)
    }

    fn unify_parts(&mut self, left: &Ty, right: &Ty) -> Result<(), Mismatch> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(Mismatch);
        }
        let (left, right) = (self.head(left), self.head(right));
        grow_stack(|| self.unify_heads(&left, &right))
    }

    fn unify_heads(&mut self, left: &Ty, right: &Ty) -> Result<(), Mismatch> {
        match (left, right) {
            (Ty::Hole(a), Ty::Hole(b)) if a == b => Ok(()),
            (Ty::Hole(hole), other) | (other, Ty::Hole(hole)) => self.fill(*hole, other),
            (Ty::Error, _) | (_, Ty::Error) => Ok(()),
            (Ty::Int, Ty::Int)
            | (Ty::Bool, Ty::Bool)
            | (Ty::Perm, Ty::Perm)
            | (Ty::Ref, Ty::Ref) => Ok(()),
            (Ty::Parameter(a), Ty::Parameter(b)) if a == b => Ok(()),
            (Ty::Seq(a), Ty::Seq(b))
            | (Ty::Set(a), Ty::Set(b))
            | (Ty::Multiset(a), Ty::Multiset(b)) => self.unify_parts(a, b),
            (Ty::Map(a), Ty::Map(b)) => {
                self.unify_parts(&a.0, &b.0)?;
                self.unify_parts(&a.1, &b.1)
            }
            (Ty::Domain(a, arguments), Ty::Domain(b, others)) if a == b => {
                arguments.iter().zip(others.iter()).try_for_each(|(a, b)| self.unify_parts(a, b))
            }
            _ => Err(Mismatch),
        }
    }

    fn fill(&mut self, hole: Hole, ty: &Ty) -> Result<(), Mismatch> {
        if self.occurs(hole, ty) {
            return Err(Mismatch);
        }
        let filled = Binding::Filled(ty.clone());
        let binding = std::mem::replace(&mut self.bindings[hole.0 as usize], filled);
        let Binding::Free { watchers } = binding else {
            unreachable!("only free holes are filled")
        };
        match ty {
            // Joined holes are not more definite: whoever watched one watches both.
            Ty::Hole(other) => match &mut self.bindings[other.0 as usize] {
                Binding::Free { watchers: others } => others.extend(watchers),
                Binding::Filled(_) => self.woken.extend(watchers),
            },
            _ => self.woken.extend(watchers),
        }
        Ok(())
    }

    fn occurs(&mut self, hole: Hole, ty: &Ty) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return true;
        }
        grow_stack(|| match self.head(ty) {
            Ty::Hole(other) => other == hole,
            Ty::Seq(element) | Ty::Set(element) | Ty::Multiset(element) => {
                self.occurs(hole, &element)
            }
            Ty::Map(types) => self.occurs(hole, &types.0) || self.occurs(hole, &types.1),
            Ty::Domain(_, arguments) => arguments.iter().any(|ty| self.occurs(hole, ty)),
            _ => false,
        })
    }

    /// Has `pending` woken when `ty`, if it is a free hole, is filled.
    pub(super) fn watch(&mut self, ty: &Ty, pending: PendingId) {
        if let Ty::Hole(hole) = self.head(ty)
            && let Binding::Free { watchers } = &mut self.bindings[hole.0 as usize]
        {
            watchers.push(pending);
        }
    }

    /// Tells whether the type is too large to work with.
    pub(super) fn is_too_large(&mut self, ty: &Ty) -> bool {
        let mut left = MAX_NODES;
        self.count(ty, &mut left);
        left == 0
    }

    fn count(&mut self, ty: &Ty, left: &mut u32) {
        *left = left.saturating_sub(1);
        if *left == 0 {
            return;
        }
        grow_stack(|| match self.head(ty) {
            Ty::Seq(element) | Ty::Set(element) | Ty::Multiset(element) => {
                self.count(&element, left);
            }
            Ty::Map(types) => {
                self.count(&types.0, left);
                self.count(&types.1, left);
            }
            Ty::Domain(_, arguments) => arguments.iter().for_each(|ty| self.count(ty, left)),
            _ => {}
        });
    }

    /// Returns the finished type; `default` says what a free hole becomes.
    pub(super) fn ground(&mut self, ty: &Ty, default: &mut impl FnMut() -> Type) -> Type {
        grow_stack(|| match self.head(ty) {
            Ty::Hole(_) => default(),
            Ty::Error | Ty::Int => Type::Int,
            Ty::Bool => Type::Bool,
            Ty::Perm => Type::Perm,
            Ty::Ref => Type::Ref,
            Ty::Parameter(name) => Type::Variable(name),
            Ty::Seq(element) => Type::Seq(Arc::new(self.ground(&element, default))),
            Ty::Set(element) => Type::Set(Arc::new(self.ground(&element, default))),
            Ty::Multiset(element) => Type::Multiset(Arc::new(self.ground(&element, default))),
            Ty::Map(types) => Type::Map(
                Arc::new(self.ground(&types.0, default)),
                Arc::new(self.ground(&types.1, default)),
            ),
            Ty::Domain(domain, arguments) => {
                let arguments: Vec<_> =
                    arguments.iter().map(|ty| self.ground(ty, default)).collect();
                Type::Domain(domain, arguments.into())
            }
        })
    }
}
