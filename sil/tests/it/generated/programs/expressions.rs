//! Expressions made at random.

use sil::build::*;
use sil::syntax::{BinaryOp, Collection, Expr};

use super::{Maker, Place, T};

impl Maker<'_> {
    /// A variable of the type, or a value.
    fn leaf(&mut self, ty: &T) -> Expr {
        let known: Vec<String> = self
            .scope
            .iter()
            .filter(|(_, other)| other == ty)
            .map(|(name, _)| name.clone())
            .collect();
        let number = self.pick(known.len() + 1);
        if let Some(name) = number.checked_sub(1).and_then(|number| known.get(number)) {
            return var(name);
        }
        match ty {
            T::Int => int(self.pick(256)),
            T::Bool => truth(self.pick(2) == 0),
            T::Perm => [none(), write(), int(1) / int(3)][self.pick(3)].clone(),
            T::Ref => null(),
            T::Seq(element) => literal(Collection::Seq, element.written(), []),
            T::Set(element) => literal(Collection::Set, element.written(), []),
            T::Multiset(element) => literal(Collection::Multiset, element.written(), []),
            T::Map(key, value) => map_literal(key.written(), value.written(), []),
            T::Boxed(content) => call("box", [self.leaf(content)]),
            T::List(_) => call_as("Nil", [], ty.written()),
        }
    }

    /// An expression of the type.
    pub(super) fn expr(&mut self, ty: &T, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf(ty);
        }
        let expr = match self.pick(8) {
            0 => self.leaf(ty),
            1 => self.any(ty, depth),
            _ => self.operation(ty, depth - 1),
        };
        if self.pick(16) == 1 {
            return expr.with(annotation("note", vec!["of an expression".into()]));
        }
        expr
    }

    /// An expression maker of every type.
    fn any(&mut self, ty: &T, depth: usize) -> Expr {
        let depth = depth - 1;
        match self.pick(8) {
            0 => {
                let condition = self.expr(&T::Bool, depth);
                let then = self.expr(ty, depth);
                conditional(condition, then, self.expr(ty, depth))
            }
            1 => {
                let (name, bound) = (self.fresh("w"), self.ty(1));
                let value = self.expr(&bound, depth);
                let body = self.with(&name, bound, |maker| maker.expr(ty, depth));
                let_in(&name, value, body)
            }
            2 => {
                let of_seq = self.expr(&T::Seq(Box::new(ty.clone())), depth);
                index(of_seq, self.expr(&T::Int, depth))
            }
            3 => {
                let key = self.ty(0);
                let map = T::Map(Box::new(key.clone()), Box::new(ty.clone()));
                let of_map = self.expr(&map, depth);
                index(of_map, self.expr(&key, depth))
            }
            4 => call("unbox", [self.expr(&T::Boxed(Box::new(ty.clone())), depth)]),
            5 => field(self.expr(&T::List(Box::new(ty.clone())), depth), "head"),
            6 if matches!(self.place, Place::After | Place::Body) => old(self.expr(ty, depth)),
            7 if self.place == Place::Body => {
                let access = call("node", [self.expr(&T::Ref, 0)]);
                unfolding(acc(access, write()), self.expr(ty, depth))
            }
            _ => self.leaf(ty),
        }
    }

    fn operation(&mut self, ty: &T, depth: usize) -> Expr {
        match ty {
            T::Int => self.integer(depth),
            T::Bool => self.boolean(depth),
            T::Perm => self.permission(depth),
            T::Ref => field(self.expr(&T::Ref, depth), "next"),
            T::Seq(element) => match self.pick(5) {
                0 => {
                    let left = self.expr(ty, depth);
                    binary(BinaryOp::Append, left, self.expr(ty, depth))
                }
                1 => {
                    let base = self.expr(ty, depth);
                    let low = (self.pick(2) > 0).then(|| self.expr(&T::Int, depth));
                    // `s[..]` is no slice.
                    let high =
                        (low.is_none() || self.pick(2) > 0).then(|| self.expr(&T::Int, depth));
                    slice(base, low, high)
                }
                2 => {
                    let (base, at) = (self.expr(ty, depth), self.expr(&T::Int, depth));
                    update(base, at, self.expr(element, depth))
                }
                3 if **element == T::Int => {
                    let low = self.expr(&T::Int, depth);
                    range(low, self.expr(&T::Int, depth))
                }
                _ => self.elements(Collection::Seq, element, depth),
            },
            T::Set(element) => self.set(ty, Collection::Set, element, depth),
            T::Multiset(element) => self.set(ty, Collection::Multiset, element, depth),
            T::Map(key, value) => {
                if self.pick(2) == 0 {
                    let entry = (self.expr(key, depth), self.expr(value, depth));
                    map_literal(key.written(), value.written(), [entry])
                } else {
                    let (base, at) = (self.expr(ty, depth), self.expr(key, depth));
                    update(base, at, self.expr(value, depth))
                }
            }
            T::Boxed(content) => call("box", [self.expr(content, depth)]),
            T::List(element) => {
                if self.pick(2) == 0 {
                    let head = self.expr(element, depth);
                    call("Cons", [head, self.expr(ty, depth)])
                } else {
                    field(self.expr(ty, depth), "tail")
                }
            }
        }
    }

    fn elements(&mut self, collection: Collection, element: &T, depth: usize) -> Expr {
        let count = self.pick(3);
        let elements: Vec<Expr> = (0..count).map(|_| self.expr(element, depth)).collect();
        literal(collection, element.written(), elements)
    }

    fn set(&mut self, ty: &T, collection: Collection, element: &T, depth: usize) -> Expr {
        let operators = [BinaryOp::Union, BinaryOp::Intersection, BinaryOp::Setminus];
        match self.pick(5) {
            number @ 0..3 => {
                let left = self.expr(ty, depth);
                binary(operators[number], left, self.expr(ty, depth))
            }
            3 if collection == Collection::Set => {
                let map = T::Map(Box::new(element.clone()), Box::new(T::Int));
                map_domain(self.expr(&map, depth))
            }
            _ => self.elements(collection, element, depth),
        }
    }

    fn integer(&mut self, depth: usize) -> Expr {
        let operators =
            [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::IntDiv, BinaryOp::Mod];
        match self.pick(10) {
            number @ 0..5 => {
                let left = self.expr(&T::Int, depth);
                binary(operators[number], left, self.expr(&T::Int, depth))
            }
            5 => minus(self.expr(&T::Int, depth)),
            6 => {
                let element = Box::new(self.ty(1));
                let collection = match self.pick(4) {
                    0 => T::Seq(element),
                    1 => T::Set(element),
                    2 => T::Multiset(element),
                    _ => T::Map(element, Box::new(T::Bool)),
                };
                cardinality(self.expr(&collection, depth))
            }
            7 => field(self.expr(&T::Ref, depth), "val"),
            8 => call("size", [self.expr(&T::Ref, depth)]),
            _ => {
                let element = self.ty(0);
                let multiset = self.expr(&T::Multiset(Box::new(element.clone())), depth);
                contains(&multiset, &self.expr(&element, depth))
            }
        }
    }

    fn permission(&mut self, depth: usize) -> Expr {
        match self.pick(6) {
            0 => self.expr(&T::Perm, depth) + self.expr(&T::Perm, depth),
            1 => self.expr(&T::Perm, depth) - self.expr(&T::Perm, depth),
            2 => self.expr(&T::Int, depth) * self.expr(&T::Perm, depth),
            3 => self.expr(&T::Perm, depth) / int(2),
            4 if self.place == Place::Body => perm(field(self.expr(&T::Ref, depth), "val")),
            _ => field(self.expr(&T::Ref, depth), "part"),
        }
    }

    fn boolean(&mut self, depth: usize) -> Expr {
        match self.pick(14) {
            0 | 1 => {
                let ty = self.ty(2);
                let op = [BinaryOp::Eq, BinaryOp::Ne][self.pick(2)];
                let left = self.expr(&ty, depth);
                binary(op, left, self.expr(&ty, depth))
            }
            2 | 3 => {
                let ty = [T::Int, T::Perm][self.pick(2)].clone();
                let operators = [BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge];
                let op = operators[self.pick(4)];
                let left = self.expr(&ty, depth);
                binary(op, left, self.expr(&ty, depth))
            }
            4 => !self.expr(&T::Bool, depth),
            number @ (5 | 6) => {
                let operands: Vec<Expr> =
                    (0..2 + self.pick(2)).map(|_| self.expr(&T::Bool, depth)).collect();
                if number == 5 { and(operands) } else { or(operands) }
            }
            number @ (7 | 8) => {
                let op = if number == 7 { BinaryOp::Implies } else { BinaryOp::Iff };
                let left = self.expr(&T::Bool, depth);
                binary(op, left, self.expr(&T::Bool, depth))
            }
            number @ (9 | 10) => {
                let (name, ty) = (self.fresh("q"), self.ty(1));
                let written = typed(&name, ty.written());
                let body = self.with(&name, ty, |maker| maker.expr(&T::Bool, depth));
                if number == 9 { forall([written], [], body) } else { exists([written], body) }
            }
            11 => {
                let element = self.ty(1);
                let in_what = match self.pick(3) {
                    0 => T::Seq(Box::new(element.clone())),
                    1 => T::Set(Box::new(element.clone())),
                    _ => T::Map(Box::new(element.clone()), Box::new(T::Int)),
                };
                let collection = self.expr(&in_what, depth);
                contains(&collection, &self.expr(&element, depth))
            }
            12 => {
                let list = T::List(Box::new(self.ty(1)));
                field(self.expr(&list, depth), "isCons")
            }
            _ => field(self.expr(&T::Ref, depth), "flag"),
        }
    }
}
