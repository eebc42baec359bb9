//! Read fractions: those chosen for what is given to calls, threads and loops, and for what is
//! folded and unfolded.

use chalice::program::{Access, Expr, PermissionKind};
use findings::ErrorId;
use sil::source::Name;
use sil::syntax as s;
use sil::syntax::TypeKind;

use crate::build::*;
use crate::lower::annotations::{Annotate, renamed};
use crate::lower::assertions::{Binder, Part, under};
use crate::lower::calls::EachElement;
use crate::lower::env::{Env, ReadAmount, Side};
use crate::lower::{Body, Member};

impl Body<'_, '_> {
    /// Chooses the read fraction of a contract that is about to be given: smaller than a thousandth
    /// of the fraction of the surroundings, and than what is held of every location that the
    /// contract wants to read, shared among its `n` occurrences of `rd`.
    ///
    /// SOUNDNESS: every bound is an upper bound by a positive amount, so some fraction satisfies
    /// all of them. COMPLETENESS: `n` occurrences fit even if they all speak of one location; exact
    /// amounts beside them fit as the fraction is far below the caller's own.
    pub(crate) fn read_fraction(
        &mut self,
        contract: &[Expr],
        contract_env: &Env,
        env: &Env,
        kind: ErrorId,
    ) -> Name {
        let k = if kind == ErrorId::InvariantNotEstablished {
            self.smaller_fraction("k_loop", "rd of the loop", env)
        } else {
            self.smaller_fraction("k_call", "rd of the call", env)
        };
        let is_read = |amount: &PermissionKind| matches!(amount, PermissionKind::AbstractRead);
        let bounds = self.fraction_bounds(&var(&k), contract, contract_env, is_read);
        self.emit_bounds(bounds, kind);
        k
    }

    /// Chooses the read fraction of `fold` or `unfold` if it is written with one: that of the
    /// surroundings if so much is there, even if nothing is left then, else a smaller one that
    /// leaves something of what it is taken from, as a call's does. So what has been unfolded is
    /// folded again as a whole.
    ///
    /// SOUNDNESS: how much is folded or unfolded is the verifier's choice. Which one it is depends
    /// on what is held; what is then known of it is that it is the fraction of the surroundings, or
    /// that it is below bounds some fraction satisfies.
    pub(crate) fn traded_fraction(
        &mut self,
        access: &Access,
        wanted: &[Expr],
        contract_env: &Env,
        env: &Env,
        kind: ErrorId,
    ) -> Env {
        if !matches!(access.amount.kind, PermissionKind::AbstractRead) {
            return env.clone();
        }
        let k = self.fresh_fraction("k_part", "rd of the predicate");
        self.emit_plain(declare(&k, ty(TypeKind::Perm), None));
        let is_smaller = self.is_smaller_fraction(&k, env);
        let bounds = self.fraction_bounds(&var(&k), wanted, contract_env, |_| true);
        let bounds = bounds.into_iter().map(|bound| bound.when(FractionBound::leaves_some));
        let smaller = and(std::iter::once(is_smaller).chain(bounds));
        let choice = match &env.read {
            ReadAmount::Fraction(outer) => {
                let is_there = self.is_there(outer, wanted, contract_env);
                conditional(is_there, eq(var(&k), outer.clone()), smaller)
            }
            _ => smaller,
        };
        self.emit(inhale(choice).with(renamed(ErrorId::InhaleFailed, kind)));
        // A fraction of a fraction is one.
        let product = mul(var(&k), self.lowering.common_fraction());
        if let Some(above) = self.lowering.above_counting(product) {
            self.emit_plain(inhale(above));
        }
        Env { read: ReadAmount::Fraction(var(&k)), ..env.clone() }
    }

    /// Returns a new fraction, positive and smaller than a thousandth of that of the surroundings.
    fn smaller_fraction(&mut self, wanted: &str, called: &'static str, env: &Env) -> Name {
        let k = self.fresh_fraction(wanted, called);
        self.emit_plain(declare(&k, ty(TypeKind::Perm), None));
        let smaller = self.is_smaller_fraction(&k, env);
        self.emit_plain(inhale(smaller));
        k
    }

    fn emit_bounds(&mut self, bounds: Vec<FractionBound>, kind: ErrorId) {
        for bound in bounds {
            let claim = bound.when(FractionBound::leaves_some);
            let renaming = renamed(ErrorId::InhaleFailed, kind);
            self.emit(inhale(claim).with(renaming));
        }
    }
}

impl Member<'_, '_> {
    fn is_smaller_fraction(&self, k: &str, env: &Env) -> s::Expr {
        let outer = match &env.read {
            ReadAmount::Fraction(outer) => outer.clone(),
            _ => binary(s::BinaryOp::Div, int(1), int(100)),
        };
        let mut bounds = vec![lt(none(), var(k)), lt(mul(int(1000), var(k)), outer)];
        bounds.extend(self.lowering.above_counting(var(k)));
        and(bounds)
    }

    /// Makes the permissions held to the locations of `contract` whose amounts satisfy `counts`,
    /// and the claim that the shares with the fraction `k` leave something, even if all of them are
    /// of one location.
    fn fraction_bounds(
        &mut self,
        k: &s::Expr,
        contract: &[Expr],
        contract_env: &Env,
        counts: impl Fn(&PermissionKind) -> bool,
    ) -> Vec<FractionBound> {
        let contract_env = Env { side: Side::Exhaled, ..contract_env.clone() };
        let parts: Vec<_> = contract
            .iter()
            .flat_map(|clause| self.parts(clause, &contract_env))
            .filter_map(|part| match part.part {
                Part::Access(access) if counts(&access.amount.kind) => Some((part, access)),
                _ => None,
            })
            .collect();
        // Counting permissions alone are less than any fraction; what is left is a fraction, too.
        let counts_too = self.lowering.facts.counting;
        let least = self.lowering.least_fraction();
        let taken = |amount: s::Expr| match parts.len() {
            1 => amount,
            several => mul(int(several), amount),
        };
        let mut bounds = Vec::new();
        for (part, access) in &parts {
            // A share is taken of the contents of a predicate.
            let is_common = matches!(contract_env.read, ReadAmount::Common);
            let amount = match &access.amount.kind {
                PermissionKind::AbstractRead if is_common => {
                    mul(k.clone(), self.lowering.common_fraction())
                }
                _ => k.clone(),
            };
            for (location, binder) in self.locations(&access.target, &contract_env) {
                let mut variables = part.binder.clone();
                let mut guard = part.guard.clone();
                if let Some(each) = binder {
                    guard = and([guard, each.inside]);
                    // A trigger mentions all variables: with others around it, none is known.
                    let triggers = match variables {
                        None => each.triggers.into_iter().map(|trigger| vec![trigger]).collect(),
                        Some(_) => Vec::new(),
                    };
                    let (mut all, _) = variables.unwrap_or_default();
                    all.push(typed(&each.name, ty(TypeKind::Ref)));
                    variables = Some((all, triggers));
                }
                bounds.push(FractionBound {
                    guard,
                    binder: variables,
                    held: perm(location),
                    taken: taken(amount.clone()),
                    least: least.clone(),
                    counts_too,
                });
            }
        }
        bounds
    }

    /// Makes the claim that as much is held as is folded or unfolded of everything `wanted` asks
    /// for, with the fraction `k`.
    ///
    /// DIVERGENCE: in programs that count permissions, a fraction has to be left as well, as the
    /// original verifier has it.
    fn is_there(&mut self, k: &s::Expr, wanted: &[Expr], contract_env: &Env) -> s::Expr {
        let env = Env { side: Side::Exhaled, ..contract_env.clone() };
        let mut all = Vec::new();
        for clause in wanted {
            for part in self.parts(clause, &env) {
                let Part::Access(access) = part.part else { continue };
                let amount = self.share_of(access, k, &env);
                for (location, each) in self.locations(&access.target, &env) {
                    all.push(Asked {
                        guard: part.guard.clone(),
                        binder: part.binder.clone(),
                        each,
                        location,
                        amount: amount.clone(),
                    });
                }
            }
        }
        let left = self.lowering.facts.counting.then(|| self.lowering.least_fraction());
        let claims = all.iter().enumerate().map(|(at, asked)| {
            let others = all.iter().enumerate().filter(|(other, _)| *other != at);
            asked.is_there(others.map(|(_, other)| other), left.as_ref())
        });
        and(claims)
    }

    /// Returns how much of a location is folded or unfolded with the fraction `k`; nothing if any
    /// amount will do.
    fn share_of(&mut self, access: &Access, k: &s::Expr, env: &Env) -> Option<s::Expr> {
        let is_folded = matches!(env.read, ReadAmount::Common);
        match &access.amount.kind {
            PermissionKind::Star => None,
            PermissionKind::Full => Some(k.clone()),
            PermissionKind::AbstractRead if !is_folded => Some(k.clone()),
            _ => Some(mul(k.clone(), self.amount_of(&access.amount, env))),
        }
    }
}

/// An upper bound of a fraction by what is held of a location.
struct FractionBound {
    /// When the location counts, and for which values of the variables.
    guard: s::Expr,
    binder: Option<Binder>,
    /// How much of it is held.
    held: s::Expr,
    /// How much is taken.
    taken: s::Expr,
    /// Everything that is counted is below it.
    least: s::Expr,
    /// Are there counting permissions?
    counts_too: bool,
}

impl FractionBound {
    /// Returns a claim about it where it counts.
    fn when(&self, claim: impl FnOnce(&Self) -> s::Expr) -> s::Expr {
        under(self.guard.clone(), self.binder.clone(), claim(self))
    }

    /// Where some fraction is held, a fraction is left.
    ///
    /// SOUNDNESS: where only nothing, or counting permissions, are held, no fraction is below that.
    fn leaves_some(&self) -> s::Expr {
        let taken = self.taken.clone();
        let taken = if self.counts_too {
            binary(s::BinaryOp::Add, taken, self.least.clone())
        } else {
            taken
        };
        implies(lt(self.least.clone(), self.held.clone()), lt(taken, self.held.clone()))
    }
}

/// A location that is folded or unfolded.
struct Asked {
    guard: s::Expr,
    binder: Option<Binder>,
    /// The collection whose elements it ranges over.
    each: Option<EachElement>,
    location: s::Expr,
    /// How much of it; nothing if any amount will do.
    amount: Option<s::Expr>,
}

impl Asked {
    /// Makes the claim that as much is held as this location and the others ask for, where they are
    /// the same location, and the rest that is to be left.
    fn is_there<'a>(
        &self,
        others: impl Iterator<Item = &'a Self>,
        left: Option<&s::Expr>,
    ) -> s::Expr {
        let held = perm(self.location.clone());
        let claim = match &self.amount {
            None => lt(none(), held),
            Some(amount) => {
                let more = others.filter_map(|other| self.also_asked(other)).chain(left.cloned());
                let add = |total, more| binary(s::BinaryOp::Add, total, more);
                le(more.fold(amount.clone(), add), held)
            }
        };
        let claim = match &self.each {
            Some(each) => each.satisfies(claim),
            None => claim,
        };
        under(self.guard.clone(), self.binder.clone(), claim)
    }

    /// Returns how much another one asks for of this location.
    fn also_asked(&self, other: &Self) -> Option<s::Expr> {
        let more = other.amount.clone()?;
        let is_same = may_be_same(&self.location, &other.location)?;
        let is_single = |asked: &Self| asked.binder.is_none() && asked.each.is_none();
        Some(if is_single(self) && is_single(other) {
            conditional(and([other.guard.clone(), is_same]), more, none())
        } else {
            more
        })
    }
}

/// Makes the claim that two locations are the same; nothing if they never are.
pub(crate) fn may_be_same(one: &s::Expr, other: &s::Expr) -> Option<s::Expr> {
    match (&one.kind, &other.kind) {
        (
            s::ExprKind::Field { receiver, name },
            s::ExprKind::Field { receiver: other, name: other_name },
        ) => (name.name == other_name.name).then(|| eq((**receiver).clone(), (**other).clone())),
        (
            s::ExprKind::Call { name, arguments, .. },
            s::ExprKind::Call { name: other_name, arguments: others, .. },
        ) => (name.name == other_name.name).then(|| {
            let pairs = arguments.iter().zip(others);
            and(pairs.map(|(one, other)| eq(one.clone(), other.clone())))
        }),
        _ => None,
    }
}
