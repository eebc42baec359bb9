//! Expressions.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_traits::{One, Zero};
use sil::source::Name;
use sil::syntax::{BinaryOp, Expr, ExprKind, OldLabel, Quantifier, TypeKind, TypedName};

use super::assertion::Side;
use super::ops;
use super::state::{Part, Portion, Target};
use super::value::NULL;
use super::{Amount, Declarations, Heap, State, Stuck, Value};

/// Functions apply each other no deeper.
const DEEPEST: u32 = 60;

/// The integers that a quantified variable stands for. Bodies have to say less of it, or nothing
/// beyond.
const INTEGERS: std::ops::RangeInclusive<i64> = -3..=20;

/// Evaluates expressions in one heap.
#[derive(Clone)]
pub struct Evaluator<'a> {
    pub(super) declarations: &'a Declarations,
    pub(super) state: &'a State,
    pub(super) heap: &'a Heap,
    pub(super) store: BTreeMap<Name, Value>,
    pub(super) result: Option<Value>,
    /// Reads need permission and applications need their preconditions. Not so within functions and
    /// predicates, whose own requirements cover their bodies.
    pub(super) checked: bool,
    pub(super) depth: u32,
}

impl<'a> Evaluator<'a> {
    /// Evaluates in a state, with all that makes expressions defined.
    pub fn new(declarations: &'a Declarations, state: &'a State) -> Self {
        let (heap, store) = (&state.heap, state.store.clone());
        Self { declarations, state, heap, store, result: None, checked: true, depth: 0 }
    }

    pub(super) fn unchecked(mut self) -> Self {
        self.checked = false;
        self
    }

    pub(super) fn in_heap<'b>(&self, heap: &'b Heap) -> Evaluator<'b>
    where
        'a: 'b,
    {
        let (store, result) = (self.store.clone(), self.result.clone());
        Evaluator {
            declarations: self.declarations,
            state: self.state,
            heap,
            store,
            result,
            checked: self.checked,
            depth: self.depth,
        }
    }

    /// Below the parameters of a function or predicate, unchecked.
    pub(super) fn inside(
        &self,
        formals: &[TypedName],
        arguments: &[Value],
    ) -> Result<Evaluator<'a>, Stuck> {
        if self.depth > DEEPEST || formals.len() != arguments.len() {
            return Err(Stuck::new("applications too deep"));
        }
        let names = formals.iter().map(|formal| formal.name.name.clone());
        let store = names.zip(arguments.iter().cloned()).collect();
        Ok(Self { store, checked: false, depth: self.depth + 1, result: None, ..self.clone() })
    }

    pub(super) fn with(&self, variable: &Name, value: Value) -> Self {
        let mut inner = self.clone();
        inner.store.insert(variable.clone(), value);
        inner
    }

    /// The value of an expression without permissions.
    ///
    /// # Errors
    /// Where it is not defined, or not known here.
    pub fn eval(&self, expr: &Expr) -> Result<Value, Stuck> {
        Ok(match &expr.kind {
            ExprKind::Int(value) => Value::Int(value.clone()),
            ExprKind::Bool(value) => Value::Bool(*value),
            ExprKind::Null => NULL,
            ExprKind::Result => self.result.clone().ok_or_else(|| Stuck::new("no result"))?,
            ExprKind::NoPerm => Value::Perm(Amount::zero()),
            ExprKind::FullPerm => Value::Perm(Amount::one()),
            // One of the amounts that it may be.
            ExprKind::Epsilon => Value::Perm(Amount::new(1.into(), BigInt::from(10).pow(30))),
            ExprKind::Ident(name) => self.variable(name)?,
            ExprKind::Call { name, arguments, .. } => self.call(&name.name, arguments)?,
            ExprKind::Field { receiver, name } => self.field(receiver, &name.name)?,
            ExprKind::Unary { op, operand } => ops::unary(*op, self.eval(operand)?)?,
            ExprKind::Binary { op: BinaryOp::Implies, left, right } => {
                Value::Bool(!self.truth(left)? || self.truth(right)?)
            }
            ExprKind::Binary { op, left, right } => {
                ops::binary(*op, self.eval(left)?, self.eval(right)?)?
            }
            ExprKind::And(all) => Value::Bool(self.until(all, false)?),
            ExprKind::Or(all) => Value::Bool(self.until(all, true)?),
            ExprKind::Conditional { condition, then, otherwise } => {
                self.eval(if self.truth(condition)? { then } else { otherwise })?
            }
            ExprKind::Index { base, index } => ops::index(self.eval(base)?, &self.eval(index)?)?,
            ExprKind::Update { base, index, value } => {
                ops::update(self.eval(base)?, self.eval(index)?, self.eval(value)?)?
            }
            ExprKind::Slice { base, low, high } => {
                let bound = |side: &Option<Box<Expr>>| {
                    side.as_ref().map(|expr| self.eval(expr)).transpose()
                };
                ops::slice(self.eval(base)?, bound(low)?, bound(high)?)?
            }
            ExprKind::Cardinality(operand) => ops::cardinality(&self.eval(operand)?)?,
            ExprKind::Range(low, high) => ops::range(&self.eval(low)?, &self.eval(high)?)?,
            ExprKind::InhaleExhale(_, exhaled) => self.eval(exhaled)?,
            ExprKind::Old { label, body } => self.in_heap(self.heap_of(label)?).eval(body)?,
            ExprKind::Perm(resource) => Value::Perm(self.heap.amount(&self.target(resource)?)),
            ExprKind::Quantified { quantifier, variables, body, .. } => {
                let exists = *quantifier == Quantifier::Exists;
                let mut found = false;
                for inner in self.instances(variables)? {
                    found |= inner.truth(body)? == exists;
                }
                Value::Bool(found == exists)
            }
            ExprKind::ForPerm { variables, resource, body } => {
                let mut all = true;
                for inner in self.instances(variables)? {
                    let held = !self.heap.amount(&inner.target(resource)?).is_zero();
                    all &= !held || inner.truth(body)?;
                }
                Value::Bool(all)
            }
            ExprKind::Let { variable, value, body } => {
                self.with(&variable.name, self.eval(value)?).eval(body)?
            }
            ExprKind::Unfolding { body, .. } if !self.checked => self.eval(body)?,
            ExprKind::Unfolding { access, body } => {
                let mut heap = self.heap.clone();
                self.unfold(access, &mut heap)?;
                self.in_heap(&heap).eval(body)?
            }
            ExprKind::Asserting { assertion, body } => {
                let mut heap = self.heap.clone();
                self.consume(assertion, &mut heap)?;
                self.eval(body)?
            }
            ExprKind::Literal { collection, elements, .. } => {
                let elements: Result<_, _> = elements.iter().map(|one| self.eval(one)).collect();
                ops::literal(*collection, elements?)
            }
            ExprKind::MapLiteral { entries, .. } => {
                let mut map = BTreeMap::new();
                for (key, value) in entries {
                    map.insert(self.eval(key)?, self.eval(value)?);
                }
                Value::Map(map)
            }
            ExprKind::MapDomain(map) => match self.eval(map)? {
                Value::Map(map) => Value::Set(map.into_keys().collect()),
                other => return Err(Stuck(format!("domain of {other:?}"))),
            },
            ExprKind::MapRange(map) => match self.eval(map)? {
                Value::Map(map) => Value::Set(map.into_values().collect()),
                other => return Err(Stuck(format!("range of {other:?}"))),
            },
            ExprKind::Wildcard
            | ExprKind::Acc { .. }
            | ExprKind::Applying { .. }
            | ExprKind::PredicateInstance { .. }
            | ExprKind::New(_) => return Err(Stuck::new("an expression that runs do not know")),
        })
    }

    /// The value of a condition.
    pub(super) fn truth(&self, expr: &Expr) -> Result<bool, Stuck> {
        match self.eval(expr)? {
            Value::Bool(value) => Ok(value),
            other => Err(Stuck(format!("condition {other:?}"))),
        }
    }

    pub(super) fn amount(&self, expr: &Expr) -> Result<Portion, Stuck> {
        if matches!(expr.kind, ExprKind::Wildcard) {
            return Ok(Portion::Some);
        }
        match self.eval(expr)? {
            Value::Perm(amount) => Ok(Portion::Exactly(amount)),
            other => Err(Stuck(format!("amount {other:?}"))),
        }
    }

    pub(super) fn values(&self, exprs: &[Expr]) -> Result<Vec<Value>, Stuck> {
        exprs.iter().map(|expr| self.eval(expr)).collect()
    }

    fn variable(&self, name: &Name) -> Result<Value, Stuck> {
        self.store.get(name).cloned().ok_or_else(|| Stuck(format!("no variable {name}")))
    }

    /// Evaluates operands up to the first that is `end`; whether there is one, or else the other
    /// truth value.
    fn until(&self, operands: &[Expr], end: bool) -> Result<bool, Stuck> {
        for operand in operands {
            if self.truth(operand)? == end {
                return Ok(end);
            }
        }
        Ok(!end)
    }

    pub(super) fn object(&self, expr: &Expr) -> Result<u32, Stuck> {
        match self.eval(expr)? {
            Value::Ref(object) => Ok(object),
            other => Err(Stuck(format!("object {other:?}"))),
        }
    }

    fn field(&self, receiver: &Expr, name: &Name) -> Result<Value, Stuck> {
        let object = match self.eval(receiver)? {
            Value::Ref(object) => object,
            Value::Adt(constructor, arguments) => {
                return self.destruct(&constructor, arguments, name);
            }
            other => return Err(Stuck(format!("object {other:?}"))),
        };
        if self.checked && !self.heap.readable(object, name) {
            return Err(Stuck::new("no permission to read"));
        }
        let value = self.heap.value(object, name);
        value.cloned().ok_or_else(|| Stuck::new("a field of null"))
    }

    /// `a.isC`, or an argument of the constructor.
    fn destruct(
        &self,
        constructor: &Name,
        arguments: Vec<Value>,
        name: &Name,
    ) -> Result<Value, Stuck> {
        if let Some(asked) = name.strip_prefix("is") {
            return Ok(Value::Bool(**constructor == *asked));
        }
        let names = self.declarations.constructors.get(constructor);
        let at = names.and_then(|names| names.iter().position(|one| one == name));
        let value = at.and_then(|at| arguments.into_iter().nth(at));
        value.ok_or_else(|| Stuck::new("a destructor of another constructor"))
    }

    /// Returns the target of a location's permission.
    ///
    /// # Errors
    /// Where it is not defined, or none that is known here.
    pub fn target(&self, location: &Expr) -> Result<Target, Stuck> {
        match &location.kind {
            ExprKind::Field { receiver, name } => {
                Ok(Target::Field(self.object(receiver)?, name.name.clone()))
            }
            ExprKind::Call { name, arguments, .. } => {
                Ok(Target::Predicate(name.name.clone(), self.values(arguments)?))
            }
            _ => Err(Stuck::new("a resource that runs do not know")),
        }
    }

    fn heap_of(&self, label: &OldLabel) -> Result<&'a Heap, Stuck> {
        let heap = match label {
            OldLabel::Entry => Some(&self.state.entry),
            OldLabel::Lhs => self.state.lhs.as_ref(),
            OldLabel::Label(name) => self.state.labels.get(&name.name),
        };
        heap.ok_or_else(|| Stuck::new("a state that was not reached"))
    }

    /// This evaluator for every choice of values of bound variables.
    pub(super) fn instances(&self, variables: &[TypedName]) -> Result<Vec<Self>, Stuck> {
        let mut all = vec![self.clone()];
        for variable in variables {
            let values: Vec<Value> = match variable.ty.kind {
                TypeKind::Int => INTEGERS.map(Value::int).collect(),
                TypeKind::Bool => vec![Value::Bool(false), Value::Bool(true)],
                TypeKind::Ref => (0..=self.state.objects).map(Value::Ref).collect(),
                _ => return Err(Stuck::new("a bound variable of this type")),
            };
            let name = &variable.name.name;
            let one = |inner: Self| -> Vec<Self> {
                values.iter().map(|value| inner.with(name, value.clone())).collect()
            };
            all = all.into_iter().flat_map(one).collect();
        }
        Ok(all)
    }

    /// An application of a function or constructor.
    fn call(&self, name: &Name, arguments: &[Expr]) -> Result<Value, Stuck> {
        let arguments = self.values(arguments)?;
        if self.declarations.constructors.contains_key(name) {
            return Ok(Value::Adt(name.clone(), arguments));
        }
        let function = self.declarations.functions.get(name);
        let function = function.ok_or_else(|| Stuck(format!("no function {name}")))?;
        let inner = self.inside(&function.formals, &arguments)?;
        if self.checked {
            for clause in &function.contract.preconditions {
                inner.shows(clause)?;
            }
        }
        let body = function.body.as_ref().ok_or_else(|| Stuck::new("a function without body"))?;
        inner.eval(body)
    }

    /// Checks a function's precondition, whose amounts only say whether there is some permission.
    fn shows(&self, precondition: &Expr) -> Result<(), Stuck> {
        let mut parts = Vec::new();
        self.parts(precondition, Side::Exhale, &mut parts)?;
        for part in parts {
            let Part::Access(target, portion) = part else {
                return Err(Stuck::new("a wand in a precondition"));
            };
            let none = portion == Portion::Exactly(Amount::zero());
            if !none && self.heap.amount(&target).is_zero() {
                return Err(Stuck::new("the precondition does not hold"));
            }
        }
        Ok(())
    }
}
