//! Constructors of integer and permission arithmetic. All folding is exact: big integers and
//! rationals.
//!
//! Normal form: a literal summand stands on the right of `Add` and is merged with others. A literal
//! factor stands on the left of `Mul`. Subtracting a literal adds its negation. Comparisons move
//! literals to one side.

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

use super::{Sort, Term, TermKind, Terms, grow_stack};

/// The value of a literal, of whichever of the two sorts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Number {
    Int(BigInt),
    Perm(BigRational),
}

impl Number {
    fn is_zero(&self) -> bool {
        match self {
            Number::Int(value) => value.is_zero(),
            Number::Perm(value) => value.is_zero(),
        }
    }

    fn is_one(&self) -> bool {
        match self {
            Number::Int(value) => value.is_one(),
            Number::Perm(value) => value.is_one(),
        }
    }

    fn is_positive(&self) -> bool {
        match self {
            Number::Int(value) => value.is_positive(),
            Number::Perm(value) => value.is_positive(),
        }
    }

    fn combine(
        self,
        other: Number,
        ints: impl Fn(BigInt, BigInt) -> BigInt,
        perms: impl Fn(BigRational, BigRational) -> BigRational,
    ) -> Number {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => Number::Int(ints(a, b)),
            (Number::Perm(a), Number::Perm(b)) => Number::Perm(perms(a, b)),
            _ => panic!("numbers of different sorts"),
        }
    }

    fn plus(self, other: Number) -> Number {
        self.combine(other, |a, b| a + b, |a, b| a + b)
    }

    fn minus(self, other: Number) -> Number {
        self.combine(other, |a, b| a - b, |a, b| a - b)
    }

    fn times(self, other: Number) -> Number {
        self.combine(other, |a, b| a * b, |a, b| a * b)
    }
}

impl Terms {
    fn number(&self, term: Term) -> Option<Number> {
        match self.kind(term) {
            TermKind::Int(value) => Some(Number::Int(value.clone())),
            TermKind::Perm(value) => Some(Number::Perm(value.clone())),
            _ => None,
        }
    }

    fn literal(&mut self, number: Number) -> Term {
        match number {
            Number::Int(value) => self.int(value),
            Number::Perm(value) => self.perm(value),
        }
    }

    pub fn zero(&mut self, sort: Sort) -> Term {
        if sort == Sort::INT { self.int(0) } else { Self::NONE }
    }

    /// Splits `x + literal`; `None` for a term without literal summand.
    fn offset(&self, term: Term) -> Option<(Term, Number)> {
        match *self.kind(term) {
            TermKind::Add(rest, literal) => Some((rest, self.number(literal)?)),
            _ => None,
        }
    }

    /// Returns `a + b`, on Int or on Perm.
    pub fn add(&mut self, left: Term, right: Term) -> Term {
        debug_assert_eq!(self.sort(left), self.sort(right), "sum of different sorts");
        match (self.number(left), self.number(right)) {
            (Some(a), Some(b)) => return self.literal(a.plus(b)),
            (Some(a), None) => return self.add_literal(right, a),
            (None, Some(b)) => return self.add_literal(left, b),
            (None, None) => {}
        }
        // (a − b) + b is a.
        if let TermKind::Sub(whole, part) = *self.kind(left)
            && part == right
        {
            return whole;
        }
        if let TermKind::Sub(whole, part) = *self.kind(right)
            && part == left
        {
            return whole;
        }
        // Literal summands move outwards.
        if let Some((rest, number)) = self.offset(left) {
            let sum = self.add(rest, right);
            return self.add_literal(sum, number);
        }
        if let Some((rest, number)) = self.offset(right) {
            let sum = self.add(left, rest);
            return self.add_literal(sum, number);
        }
        let sort = self.sort(left);
        let (left, right) = (left.min(right), left.max(right));
        self.intern(TermKind::Add(left, right), sort)
    }

    fn add_literal(&mut self, term: Term, number: Number) -> Term {
        if number.is_zero() {
            return term;
        }
        if let Some((rest, other)) = self.offset(term) {
            return self.add_literal(rest, other.plus(number));
        }
        let sort = self.sort(term);
        let literal = self.literal(number);
        self.intern(TermKind::Add(term, literal), sort)
    }

    /// Returns the sum of a list; 0 of the given sort if it is empty.
    pub fn sum(&mut self, sort: Sort, summands: impl IntoIterator<Item = Term>) -> Term {
        let zero = self.zero(sort);
        summands.into_iter().fold(zero, |sum, summand| self.add(sum, summand))
    }

    /// Returns `a − b`, on Int or on Perm.
    pub fn sub(&mut self, left: Term, right: Term) -> Term {
        debug_assert_eq!(self.sort(left), self.sort(right), "difference of different sorts");
        grow_stack(|| self.difference(left, right))
    }

    fn difference(&mut self, left: Term, right: Term) -> Term {
        let sort = self.sort(left);
        if left == right {
            return self.zero(sort);
        }
        match (self.number(left), self.number(right)) {
            (Some(a), Some(b)) => return self.literal(a.minus(b)),
            (None, Some(b)) => {
                let zero = self.zero(sort);
                let zero = self.number(zero).expect("a literal");
                return self.add_literal(left, zero.minus(b));
            }
            _ => {}
        }
        match (self.kind(left).clone(), self.kind(right).clone()) {
            // (a + b) − b is a, (a + b) − a is b.
            (TermKind::Add(a, b), _) if b == right => a,
            (TermKind::Add(a, b), _) if a == right => b,
            // a − (a − b) is b.
            (_, TermKind::Sub(a, b)) if a == left => b,
            (TermKind::Ite(c, a, b), TermKind::Ite(d, e, f)) if c == d => {
                let then = self.sub(a, e);
                let otherwise = self.sub(b, f);
                self.ite(c, then, otherwise)
            }
            _ => self.intern(TermKind::Sub(left, right), sort),
        }
    }

    /// Returns `−a`, on Int or on Perm.
    pub fn neg(&mut self, term: Term) -> Term {
        let sort = self.sort(term);
        if let TermKind::Sub(a, b) = *self.kind(term) {
            return self.sub(b, a);
        }
        let zero = self.zero(sort);
        self.sub(zero, term)
    }

    /// Returns `a · b`, on Int or on Perm.
    pub fn mul(&mut self, left: Term, right: Term) -> Term {
        debug_assert_eq!(self.sort(left), self.sort(right), "product of different sorts");
        match (self.number(left), self.number(right)) {
            (Some(a), Some(b)) => self.literal(a.times(b)),
            (Some(a), None) => self.mul_literal(a, right),
            (None, Some(b)) => self.mul_literal(b, left),
            (None, None) => {
                let sort = self.sort(left);
                let (left, right) = (left.min(right), left.max(right));
                self.intern(TermKind::Mul(left, right), sort)
            }
        }
    }

    fn mul_literal(&mut self, number: Number, term: Term) -> Term {
        if number.is_one() {
            return term;
        }
        if number.is_zero() {
            return self.literal(number);
        }
        if let TermKind::Mul(factor, rest) = *self.kind(term)
            && let Some(factor) = self.number(factor)
        {
            return self.mul_literal(number.times(factor), rest);
        }
        let sort = self.sort(term);
        let literal = self.literal(number);
        self.intern(TermKind::Mul(literal, term), sort)
    }

    /// Returns the quotient of SMT-LIB's integer division; the result for divisor 0 is unspecified.
    pub fn int_div(&mut self, left: Term, right: Term) -> Term {
        match (self.as_int(left).cloned(), self.as_int(right).cloned()) {
            (_, Some(b)) if b.is_one() => left,
            (Some(a), Some(b)) if !b.is_zero() => self.int(div_rem_euclid(&a, &b).0),
            _ => self.intern(TermKind::IntDiv(left, right), Sort::INT),
        }
    }

    /// Returns the remainder of [`Terms::int_div`], never negative.
    pub fn int_mod(&mut self, left: Term, right: Term) -> Term {
        match (self.as_int(left).cloned(), self.as_int(right).cloned()) {
            (_, Some(b)) if b.abs().is_one() => self.int(0),
            (Some(a), Some(b)) if !b.is_zero() => self.int(div_rem_euclid(&a, &b).1),
            _ => self.intern(TermKind::IntMod(left, right), Sort::INT),
        }
    }

    /// Returns the permission amount equal to an integer.
    pub fn int_to_perm(&mut self, term: Term) -> Term {
        match self.as_int(term) {
            Some(value) => {
                let value = BigRational::from_integer(value.clone());
                self.perm(value)
            }
            None => self.intern(TermKind::IntToPerm(term), Sort::PERM),
        }
    }

    /// Makes the claim a < b, on Int or on Perm.
    pub fn lt(&mut self, left: Term, right: Term) -> Term {
        self.compare(Comparison::Lt, left, right)
    }

    /// Makes the claim a ≤ b, on Int or on Perm.
    pub fn le(&mut self, left: Term, right: Term) -> Term {
        self.compare(Comparison::Le, left, right)
    }

    /// Makes the claim a > b, as b < a.
    pub fn gt(&mut self, left: Term, right: Term) -> Term {
        self.lt(right, left)
    }

    /// Makes the claim a ≥ b, as b ≤ a.
    pub fn ge(&mut self, left: Term, right: Term) -> Term {
        self.le(right, left)
    }

    fn compare(&mut self, comparison: Comparison, left: Term, right: Term) -> Term {
        debug_assert_eq!(self.sort(left), self.sort(right), "comparison of different sorts");
        grow_stack(|| self.comparison(comparison, left, right))
    }

    fn comparison(&mut self, comparison: Comparison, left: Term, right: Term) -> Term {
        if left == right {
            return self.bool(comparison == Comparison::Le);
        }
        // PERFORMANCE: the heap is full of these comparisons.
        if (left, right) == (Self::NONE, Self::WRITE) {
            return Self::TRUE;
        }
        let (left_number, right_number) = (self.number(left), self.number(right));
        if let (Some(a), Some(b)) = (&left_number, &right_number) {
            return self.bool(comparison.holds(a, b));
        }
        if let (Some((a, m)), Some((b, n))) = (self.offset(left), self.offset(right)) {
            if a == b {
                return self.bool(comparison.holds(&m, &n));
            }
            if m == n {
                return self.compare(comparison, a, b);
            }
        } else if let (Some((rest, m)), Some(n)) = (self.offset(left), &right_number) {
            let bound = self.literal(n.clone().minus(m));
            return self.compare(comparison, rest, bound);
        } else if let (Some(n), Some((rest, m))) = (&left_number, self.offset(right)) {
            let bound = self.literal(n.clone().minus(m));
            return self.compare(comparison, bound, rest);
        } else if let Some((rest, m)) = self.offset(left)
            && rest == right
        {
            let zero = self.zero(self.sort(left));
            let zero = self.number(zero).expect("a literal");
            return self.bool(comparison.holds(&m, &zero));
        } else if let Some((rest, m)) = self.offset(right)
            && rest == left
        {
            let zero = self.zero(self.sort(left));
            let zero = self.number(zero).expect("a literal");
            return self.bool(comparison.holds(&zero, &m));
        }
        if left_number.is_some()
            && let Some((condition, a, b)) = self.choice_with_literal(right)
        {
            let then = self.compare(comparison, left, a);
            let otherwise = self.compare(comparison, left, b);
            return self.ite(condition, then, otherwise);
        }
        if right_number.is_some()
            && let Some((condition, a, b)) = self.choice_with_literal(left)
        {
            let then = self.compare(comparison, a, right);
            let otherwise = self.compare(comparison, b, right);
            return self.ite(condition, then, otherwise);
        }
        if self.sort(left) == Sort::PERM
            && let Some(simpler) =
                self.compare_scaled(comparison, left, right, left_number, right_number)
        {
            return simpler;
        }
        let kind = match comparison {
            Comparison::Lt => TermKind::Lt(left, right),
            Comparison::Le => TermKind::Le(left, right),
        };
        self.intern(kind, Sort::BOOL)
    }

    /// Divides `literal < k · x` by a positive literal k; also with sides exchanged.
    fn compare_scaled(
        &mut self,
        comparison: Comparison,
        left: Term,
        right: Term,
        left_number: Option<Number>,
        right_number: Option<Number>,
    ) -> Option<Term> {
        let (number, product) = match (left_number, right_number) {
            (Some(number), None) => (number, right),
            (None, Some(number)) => (number, left),
            _ => return None,
        };
        let TermKind::Mul(factor, rest) = *self.kind(product) else { return None };
        let Number::Perm(bound) = number else { return None };
        let factor = self.as_perm(factor)?.clone();
        if !Number::Perm(factor.clone()).is_positive() {
            return None;
        }
        let bound = self.perm(bound / factor);
        Some(if product == right {
            self.compare(comparison, bound, rest)
        } else {
            self.compare(comparison, rest, bound)
        })
    }

    /// Returns the parts of an `ite` with a literal as a branch. Comparing such an `ite` with a
    /// literal keeps terms small.
    fn choice_with_literal(&self, term: Term) -> Option<(Term, Term, Term)> {
        match *self.kind(term) {
            TermKind::Ite(c, a, b) if self.is_literal(a) || self.is_literal(b) => Some((c, a, b)),
            _ => None,
        }
    }

    /// Makes the claim that two numbers are equal; they are different terms.
    pub(super) fn numbers_eq(&mut self, left: Term, right: Term) -> Term {
        match (self.number(left), self.number(right)) {
            (Some(a), Some(b)) => return self.bool(a == b),
            (Some(_), None) => return self.numbers_eq(right, left),
            (None, Some(n)) => {
                if let Some((rest, m)) = self.offset(left) {
                    let value = self.literal(n.minus(m));
                    return self.identical(rest, value);
                }
                if let Some((condition, a, b)) = self.choice_with_literal(left) {
                    let then = self.identical(a, right);
                    let otherwise = self.identical(b, right);
                    return self.ite(condition, then, otherwise);
                }
            }
            (None, None) => match (self.offset(left), self.offset(right)) {
                (Some((a, m)), Some((b, n))) if a == b => return self.bool(m == n),
                (Some((a, m)), Some((b, n))) if m == n => return self.identical(a, b),
                (Some((a, _)), None) if a == right => return Self::FALSE,
                (None, Some((b, _))) if b == left => return Self::FALSE,
                _ => {}
            },
        }
        self.intern_eq(left, right)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Lt,
    Le,
}

impl Comparison {
    fn holds(self, left: &Number, right: &Number) -> bool {
        match self {
            Comparison::Lt => left < right,
            Comparison::Le => left <= right,
        }
    }
}

/// Returns quotient and remainder with 0 ≤ remainder < |divisor|.
fn div_rem_euclid(dividend: &BigInt, divisor: &BigInt) -> (BigInt, BigInt) {
    let (quotient, remainder) = dividend.div_mod_floor(divisor);
    // Floored division rounds the other way only for negative divisors.
    if remainder.is_negative() {
        (quotient + 1, remainder - divisor)
    } else {
        (quotient, remainder)
    }
}
