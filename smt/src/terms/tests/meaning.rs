//! Random formulas over Bool, Int and Perm have the value of their simplified terms under random
//! assignments.

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::Zero;
use proptest::prelude::*;

use crate::terms::*;

/// An expression that nothing simplifies.
#[derive(Clone, Debug)]
enum Bool {
    Literal(bool),
    Variable(usize),
    Not(Box<Bool>),
    And(Vec<Bool>),
    Or(Vec<Bool>),
    Implies(Box<Bool>, Box<Bool>),
    Iff(Box<Bool>, Box<Bool>),
    Ite(Box<Bool>, Box<Bool>, Box<Bool>),
    Compare(Relation, Box<Number>, Box<Number>),
    Distinct(Vec<Number>),
}

#[derive(Clone, Copy, Debug)]
enum Relation {
    Lt,
    Le,
    Eq,
}

/// A number: of sort Int or Perm, as the context says.
#[derive(Clone, Debug)]
enum Number {
    Literal(i8),
    Variable(usize),
    Add(Box<Number>, Box<Number>),
    Sub(Box<Number>, Box<Number>),
    Mul(Box<Number>, Box<Number>),
    Neg(Box<Number>),
    /// `div` or `/`; the value for divisor 0 is fixed arbitrarily, as a function of the dividend.
    Div(Box<Number>, Box<Number>),
    /// `mod` on Int, `min` on Perm.
    Other(Box<Number>, Box<Number>),
    Ite(Box<Bool>, Box<Number>, Box<Number>),
}

/// Values of the variables.
#[derive(Clone, Debug)]
struct Assignment {
    bools: [bool; 3],
    numbers: [i8; 3],
}

fn bools() -> impl Strategy<Value = Bool> {
    expressions().prop_map(|(formula, _)| formula)
}

/// Formulas and numbers, grown together.
fn expressions() -> impl Strategy<Value = (Bool, Number)> {
    let formula =
        prop_oneof![any::<bool>().prop_map(Bool::Literal), (0..3usize).prop_map(Bool::Variable)];
    let number =
        prop_oneof![(-2..4i8).prop_map(Number::Literal), (0..3usize).prop_map(Number::Variable)];
    (formula, number).prop_recursive(5, 80, 6, |inner| {
        let b = || inner.clone().prop_map(|(formula, _)| formula);
        let bb = move || b().prop_map(Box::new);
        let inner2 = inner.clone();
        let n = move || inner2.clone().prop_map(|(_, number)| number);
        let n2 = n.clone();
        let nb = move || n2().prop_map(Box::new);
        let relation = prop_oneof![Just(Relation::Lt), Just(Relation::Le), Just(Relation::Eq)];
        let inner3 = inner.clone();
        let list = move || prop::collection::vec(inner3.clone().prop_map(|(f, _)| f), 0..4);
        let formula = prop_oneof![
            bb().prop_map(Bool::Not),
            list().prop_map(Bool::And),
            list().prop_map(Bool::Or),
            (bb(), bb()).prop_map(|(a, b)| Bool::Implies(a, b)),
            (bb(), bb()).prop_map(|(a, b)| Bool::Iff(a, b)),
            (bb(), bb(), bb()).prop_map(|(a, b, c)| Bool::Ite(a, b, c)),
            (relation, nb(), nb()).prop_map(|(r, a, b)| Bool::Compare(r, a, b)),
            prop::collection::vec(n(), 0..4).prop_map(Bool::Distinct),
        ];
        let number = prop_oneof![
            (nb(), nb()).prop_map(|(a, b)| Number::Add(a, b)),
            (nb(), nb()).prop_map(|(a, b)| Number::Sub(a, b)),
            (nb(), nb()).prop_map(|(a, b)| Number::Mul(a, b)),
            nb().prop_map(Number::Neg),
            (nb(), nb()).prop_map(|(a, b)| Number::Div(a, b)),
            (nb(), nb()).prop_map(|(a, b)| Number::Other(a, b)),
            (bb(), nb(), nb()).prop_map(|(c, a, b)| Number::Ite(c, a, b)),
        ];
        (formula, number)
    })
}

fn assignments() -> impl Strategy<Value = Assignment> {
    (any::<[bool; 3]>(), prop::array::uniform3(-3..4i8))
        .prop_map(|(bools, numbers)| Assignment { bools, numbers })
}

/// The terms of an expression, with its numbers of one sort.
struct Builder {
    terms: Terms,
    sort: Sort,
}

impl Builder {
    fn bool(&mut self, formula: &Bool) -> Term {
        match formula {
            Bool::Literal(value) => self.terms.bool(*value),
            Bool::Variable(i) => self.terms.constant(&format!("b{i}"), Sort::BOOL),
            Bool::Not(a) => {
                let a = self.bool(a);
                self.terms.not(a)
            }
            Bool::And(list) => {
                let list: Vec<Term> = list.iter().map(|a| self.bool(a)).collect();
                self.terms.and(list)
            }
            Bool::Or(list) => {
                let list: Vec<Term> = list.iter().map(|a| self.bool(a)).collect();
                self.terms.or(list)
            }
            Bool::Implies(a, b) => {
                let (a, b) = (self.bool(a), self.bool(b));
                self.terms.implies(a, b)
            }
            Bool::Iff(a, b) => {
                let (a, b) = (self.bool(a), self.bool(b));
                self.terms.iff(a, b)
            }
            Bool::Ite(c, a, b) => {
                let (c, a, b) = (self.bool(c), self.bool(a), self.bool(b));
                self.terms.ite(c, a, b)
            }
            Bool::Compare(relation, a, b) => {
                let (a, b) = (self.number(a), self.number(b));
                match relation {
                    Relation::Lt => self.terms.lt(a, b),
                    Relation::Le => self.terms.le(a, b),
                    Relation::Eq => self.terms.eq(a, b),
                }
            }
            Bool::Distinct(list) => {
                let list: Vec<Term> = list.iter().map(|a| self.number(a)).collect();
                self.terms.distinct(&list)
            }
        }
    }

    fn number(&mut self, number: &Number) -> Term {
        let is_int = self.sort == Sort::INT;
        match number {
            Number::Literal(value) if is_int => self.terms.int(*value),
            Number::Literal(value) => self.terms.fraction(i64::from(*value), 3),
            Number::Variable(i) => self.terms.constant(&format!("n{i}"), self.sort),
            Number::Neg(a) => {
                let a = self.number(a);
                self.terms.neg(a)
            }
            Number::Ite(c, a, b) => {
                let (c, a, b) = (self.bool(c), self.number(a), self.number(b));
                self.terms.ite(c, a, b)
            }
            Number::Add(a, b)
            | Number::Sub(a, b)
            | Number::Mul(a, b)
            | Number::Div(a, b)
            | Number::Other(a, b) => {
                let (a, b) = (self.number(a), self.number(b));
                match number {
                    Number::Add(..) => self.terms.add(a, b),
                    Number::Sub(..) => self.terms.sub(a, b),
                    Number::Mul(..) => self.terms.mul(a, b),
                    Number::Div(..) if is_int => self.terms.int_div(a, b),
                    Number::Div(..) => self.terms.perm_div(a, b),
                    _ if is_int => self.terms.int_mod(a, b),
                    _ => self.terms.perm_min(a, b),
                }
            }
        }
    }
}

/// A value; integers are rationals too.
type Value = BigRational;

fn truth(value: bool) -> Value {
    Value::from_integer(u8::from(value).into())
}

/// Applies one of the three operations that depend on the sort.
fn divide(is_int: bool, a: Value, b: Value) -> Value {
    if b.is_zero() {
        return a + Value::from_integer(17.into());
    }
    if !is_int {
        return a / b;
    }
    let (a, b) = (a.to_integer(), b.to_integer());
    Value::from_integer((a.clone() - euclidean_remainder(&a, &b)) / b)
}

fn remainder(a: Value, b: Value) -> Value {
    if b.is_zero() {
        return a + Value::from_integer(23.into());
    }
    Value::from_integer(euclidean_remainder(&a.to_integer(), &b.to_integer()))
}

fn euclidean_remainder(a: &BigInt, b: &BigInt) -> BigInt {
    let size = if *b < BigInt::zero() { -b.clone() } else { b.clone() };
    a.mod_floor(&size)
}

impl Assignment {
    fn number(&self, sort: Sort, index: usize) -> Value {
        let denominator = if sort == Sort::INT { 1 } else { 3 };
        Value::new(self.numbers[index].into(), denominator.into())
    }

    fn of_bool(&self, sort: Sort, formula: &Bool) -> bool {
        match formula {
            Bool::Literal(value) => *value,
            Bool::Variable(i) => self.bools[*i],
            Bool::Not(a) => !self.of_bool(sort, a),
            Bool::And(list) => list.iter().all(|a| self.of_bool(sort, a)),
            Bool::Or(list) => list.iter().any(|a| self.of_bool(sort, a)),
            Bool::Implies(a, b) => !self.of_bool(sort, a) || self.of_bool(sort, b),
            Bool::Iff(a, b) => self.of_bool(sort, a) == self.of_bool(sort, b),
            Bool::Ite(c, a, b) => self.of_bool(sort, if self.of_bool(sort, c) { a } else { b }),
            Bool::Compare(relation, a, b) => {
                let (a, b) = (self.of_number(sort, a), self.of_number(sort, b));
                match relation {
                    Relation::Lt => a < b,
                    Relation::Le => a <= b,
                    Relation::Eq => a == b,
                }
            }
            Bool::Distinct(list) => {
                let mut values: Vec<Value> = list.iter().map(|a| self.of_number(sort, a)).collect();
                values.sort();
                values.windows(2).all(|pair| pair[0] != pair[1])
            }
        }
    }

    fn of_number(&self, sort: Sort, number: &Number) -> Value {
        let is_int = sort == Sort::INT;
        let of = |a: &Number| self.of_number(sort, a);
        match number {
            Number::Literal(value) => {
                Value::new((*value).into(), (if is_int { 1 } else { 3 }).into())
            }
            Number::Variable(i) => self.number(sort, *i),
            Number::Add(a, b) => of(a) + of(b),
            Number::Sub(a, b) => of(a) - of(b),
            Number::Mul(a, b) => of(a) * of(b),
            Number::Neg(a) => -of(a),
            Number::Div(a, b) => divide(is_int, of(a), of(b)),
            Number::Other(a, b) if is_int => remainder(of(a), of(b)),
            Number::Other(a, b) => of(a).min(of(b)),
            Number::Ite(c, a, b) => of(if self.of_bool(sort, c) { a } else { b }),
        }
    }

    /// Returns the value of a term.
    fn of_term(&self, terms: &Terms, term: Term) -> Value {
        let of = |term: &Term| self.of_term(terms, *term);
        let holds = |term: &Term| !of(term).is_zero();
        match terms.kind(term) {
            TermKind::Bool(value) => truth(*value),
            TermKind::Int(value) => Value::from_integer(value.clone()),
            TermKind::Perm(value) => value.clone(),
            TermKind::Apply(symbol, _) => {
                let name = &terms.declaration(*symbol).name;
                let index: usize = name[1..].parse().expect("a number");
                if name.starts_with('b') {
                    truth(self.bools[index])
                } else {
                    self.number(terms.sort(term), index)
                }
            }
            TermKind::Not(a) => truth(!holds(a)),
            TermKind::And(list) => truth(list.iter().all(holds)),
            TermKind::Or(list) => truth(list.iter().any(holds)),
            TermKind::Implies(a, b) => truth(!holds(a) || holds(b)),
            TermKind::Ite(c, a, b) => of(if holds(c) { a } else { b }),
            TermKind::Eq(a, b) => truth(of(a) == of(b)),
            TermKind::Distinct(list) => {
                let mut values: Vec<Value> = list.iter().map(of).collect();
                values.sort();
                truth(values.windows(2).all(|pair| pair[0] != pair[1]))
            }
            TermKind::Add(a, b) => of(a) + of(b),
            TermKind::Sub(a, b) => of(a) - of(b),
            TermKind::Mul(a, b) => of(a) * of(b),
            TermKind::Lt(a, b) => truth(of(a) < of(b)),
            TermKind::Le(a, b) => truth(of(a) <= of(b)),
            TermKind::IntDiv(a, b) => divide(true, of(a), of(b)),
            TermKind::PermDiv(a, b) => divide(false, of(a), of(b)),
            TermKind::IntMod(a, b) => remainder(of(a), of(b)),
            TermKind::PermMin(a, b) => of(a).min(of(b)),
            other => panic!("not in this fragment: {other:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn simplified_terms_keep_their_value(formula in bools(), assignment in assignments(), int in any::<bool>()) {
        let sort = if int { Sort::INT } else { Sort::PERM };
        let mut builder = Builder { terms: Terms::new(), sort };
        let term = builder.bool(&formula);
        let expected = assignment.of_bool(sort, &formula);
        let value = assignment.of_term(&builder.terms, term);
        prop_assert_eq!(truth(expected), value, "{}", builder.terms.display(term));
    }

    #[test]
    fn substitution_keeps_values(formula in bools(), assignment in assignments(), int in any::<bool>()) {
        let sort = if int { Sort::INT } else { Sort::PERM };
        let mut builder = Builder { terms: Terms::new(), sort };
        let term = builder.bool(&formula);
        // Replacing variables by their values decides the formula.
        let mut map = Substitution::default();
        for i in 0..3 {
            let variable = builder.terms.constant(&format!("b{i}"), Sort::BOOL);
            map.insert(variable, builder.terms.bool(assignment.bools[i]));
            let variable = builder.terms.constant(&format!("n{i}"), sort);
            let value = assignment.numbers[i];
            let value = if int {
                builder.terms.int(value)
            } else {
                builder.terms.fraction(i64::from(value), 3)
            };
            map.insert(variable, value);
        }
        let instance = builder.terms.substitute(term, &map);
        let value = assignment.of_term(&builder.terms, instance);
        prop_assert_eq!(truth(assignment.of_bool(sort, &formula)), value);
    }
}
