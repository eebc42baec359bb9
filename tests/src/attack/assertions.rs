//! Assertions, drawn from the grammar.
//!
//! [`Form::of`] is total over the expressions of the language and [`Grammar::draw`] over the forms,
//! so a new form of assertion is drawn, or it is said here why not.

#[cfg(test)]
use sil::syntax::{BinaryOp, ExprKind};

use super::members::{FIELDS, Signature};
use super::pick::Picker;

/// A form of assertions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Form {
    /// Permission to a field.
    Field,
    /// Permission to an instance of a predicate.
    Instance,
    /// A form that says nothing about permission.
    Fact,
    All,
    Implies,
    Conditional,
    Let,
    Forall,
    TwoReadings,
    /// Drawn with its proof, as a statement: nobody gives wands away that nobody has made.
    Wand,
}

impl Form {
    pub(super) const ALL: [Self; 10] = [
        Self::Field,
        Self::Instance,
        Self::Fact,
        Self::All,
        Self::Implies,
        Self::Conditional,
        Self::Let,
        Self::Forall,
        Self::TwoReadings,
        Self::Wand,
    ];

    /// The form of an assertion.
    #[cfg(test)]
    pub(super) fn of(assertion: &ExprKind) -> Self {
        use ExprKind as E;
        match assertion {
            E::Acc { location, .. } => match location.kind {
                E::Field { .. } => Self::Field,
                _ => Self::Instance,
            },
            E::And(_) => Self::All,
            E::Binary { op: BinaryOp::Implies, .. } => Self::Implies,
            E::Binary { op: BinaryOp::Wand, .. } => Self::Wand,
            E::Conditional { .. } => Self::Conditional,
            E::Let { .. } => Self::Let,
            E::Quantified { .. } => Self::Forall,
            E::InhaleExhale(..) => Self::TwoReadings,
            // A predicate without `acc` is drawn as one with it.
            E::Call { .. } | E::PredicateInstance { .. } => Self::Fact,
            E::Int(_)
            | E::Bool(_)
            | E::Null
            | E::Result
            | E::NoPerm
            | E::FullPerm
            | E::Wildcard
            | E::Epsilon
            | E::Ident(_)
            | E::Field { .. }
            | E::Unary { .. }
            | E::Binary { .. }
            | E::Or(_)
            | E::Index { .. }
            | E::Update { .. }
            | E::Slice { .. }
            | E::Cardinality(_)
            | E::Range(..)
            | E::Old { .. }
            | E::Perm(_)
            | E::ForPerm { .. }
            | E::Unfolding { .. }
            | E::Applying { .. }
            | E::Asserting { .. }
            | E::Literal { .. }
            | E::MapLiteral { .. }
            | E::MapDomain(_)
            | E::MapRange(_)
            | E::New(_) => Self::Fact,
        }
    }
}

/// The forms that a place in an assertion admits.
#[derive(Clone, Default)]
pub(super) struct Scope {
    pub(super) refs: Vec<String>,
    pub(super) ints: Vec<String>,
    pub(super) bools: Vec<String>,
    /// Amounts that are none or more.
    pub(super) amounts: Vec<String>,
    /// Integers that may be read if some amount is not none, as conditional expressions.
    pub(super) maybe: Vec<String>,
    /// Amounts that are some.
    pub(super) some: Vec<String>,
    pub(super) sets: Vec<String>,
    /// Instances that are held.
    pub(super) instances: Vec<String>,
    /// The number of variables that are bound.
    pub(super) bound: usize,
}

impl Scope {
    /// The name of another variable.
    fn bind(&mut self) -> String {
        self.bound += 1;
        format!("it{}", self.bound)
    }

    /// Draws something in a scope of its own.
    fn inside(&mut self, draw: impl FnOnce(&mut Self) -> Option<String>) -> Option<String> {
        let mut inner = self.clone();
        let drawn = draw(&mut inner);
        self.bound = inner.bound;
        drawn
    }
}

/// The parts that assertions are made of.
pub(super) struct Grammar<'a> {
    pub(super) predicates: &'a [Signature],
}

impl Grammar<'_> {
    /// An assertion of some form; forms are inside of each other so deep.
    pub(super) fn any(&self, scope: &mut Scope, depth: u32, pick: &mut Picker) -> Option<String> {
        let form = match pick.below(10) {
            0..=2 => Form::Field,
            _ => Form::ALL[pick.below(Form::ALL.len())],
        };
        let before = scope.clone();
        let drawn = self.draw(form, scope, depth, pick);
        if drawn.is_none() {
            *scope = before;
        }
        drawn
    }

    /// An assertion of a form, if there is what it takes.
    fn draw(&self, form: Form, scope: &mut Scope, depth: u32, pick: &mut Picker) -> Option<String> {
        match form {
            Form::Field => self.field(scope, pick),
            Form::Instance => self.instance(scope, pick),
            Form::Fact => self.fact(scope, pick),
            Form::Wand => None,
            _ if depth == 0 => self.field(scope, pick),
            Form::All => {
                let first = self.any(scope, depth - 1, pick)?;
                Some(format!("({first} && {})", self.any(scope, depth - 1, pick)?))
            }
            Form::Implies => {
                let condition = condition(scope, pick);
                let inner = scope.inside(|scope| self.any(scope, depth - 1, pick))?;
                Some(format!("({condition} ==> {inner})"))
            }
            Form::Conditional => {
                let condition = condition(scope, pick);
                let then = scope.inside(|scope| self.any(scope, depth - 1, pick))?;
                let otherwise = scope.inside(|scope| self.any(scope, depth - 1, pick))?;
                Some(format!("({condition} ? {then} : {otherwise})"))
            }
            Form::Let => scope.inside(|inner| {
                let name = inner.bind();
                let value = match pick.below(3) {
                    0 => {
                        let value = pick.text(&inner.ints)?;
                        inner.ints.push(name.clone());
                        value
                    }
                    1 => {
                        let value = pick.text(&inner.amounts)?;
                        inner.amounts.insert(0, name.clone());
                        value
                    }
                    _ => {
                        let value = pick.text(&inner.refs)?;
                        inner.refs = vec![name.clone()];
                        value
                    }
                };
                let body = self.any(inner, depth - 1, pick)?;
                Some(format!("(let {name} == ({value}) in {body})"))
            }),
            Form::Forall => scope.inside(|inner| {
                let set = pick.text(&inner.sets)?;
                let name = inner.bind();
                inner.refs = vec![name.clone()];
                inner.maybe.clear();
                inner.sets.clear();
                inner.instances.clear();
                let body = match pick.below(3) {
                    0 => self.any(inner, depth - 1, pick)?,
                    1 => self.draw(Form::TwoReadings, inner, depth - 1, pick)?,
                    _ => self.field(inner, pick)?,
                };
                let element = format!("{name} in {set}");
                Some(format!("(forall {name}: Ref :: {{ {element} }} {element} ==> {body})"))
            }),
            Form::TwoReadings => {
                let count = 1 + pick.below(3);
                let mut one = Vec::new();
                for _ in 0..count {
                    one.extend(self.any(scope, depth - 1, pick));
                }
                let other = self.reading(&one, scope, pick);
                let (left, right) = if pick.chance(50) { (one, other) } else { (other, one) };
                Some(format!("[{}, {}]", together(&left), together(&right)))
            }
        }
    }

    /// Conjuncts that give the same permission as others, in another form, with other facts beside.
    fn reading(&self, conjuncts: &[String], scope: &mut Scope, pick: &mut Picker) -> Vec<String> {
        let mut other = conjuncts.to_vec();
        for _ in 0..pick.below(3) {
            match pick.below(7) {
                0 => other.retain(|one| one.contains("acc(")),
                1 => other.extend((0..2).map(|_| harmless(scope, pick))),
                2 => {
                    // An expression that reads nothing may stand anywhere.
                    let reads =
                        |one: &String| one.matches('.').count() > one.matches("acc(").count();
                    if !other.iter().any(reads) {
                        other.reverse();
                    }
                }
                3 => {
                    if let Some(first) = other.first_mut() {
                        let name = scope.bind();
                        *first = format!("(let {name} == (null) in {first})");
                    }
                }
                4 => {
                    if let Some(first) = other.first_mut() {
                        *first = format!("(null == null ==> {first})");
                    }
                }
                5 => {
                    if let Some(first) = other.first_mut() {
                        *first = format!("(null != null ? true : {first})");
                    }
                }
                _ => {
                    for one in &mut other {
                        if let Some(location) = one.strip_suffix(", write)")
                            && one.matches("acc(").count() == 1
                            && one.starts_with("acc(")
                        {
                            *one = format!("{location}, 1/2) && {location}, 1/2)");
                        }
                    }
                }
            }
        }
        other
    }

    /// `acc(r.f, amount)`, and what may be read then.
    fn field(&self, scope: &mut Scope, pick: &mut Picker) -> Option<String> {
        let receiver = pick.text(&scope.refs)?;
        let (field, ty) = FIELDS[pick.below(FIELDS.len())];
        let location = format!("{receiver}.{field}");
        let (amount, bound) = amount(scope, pick);
        let mut text = format!("acc({location}, {amount})");
        if let Some(bound) = bound {
            text = format!("{bound} && {text}");
        }
        let literal = ["write", "1/2", "1/3", "1/4"].contains(&&*amount);
        if !literal && !scope.some.contains(&amount) {
            if ty == "Int" {
                scope.maybe.push(format!("(none < ({amount}) ? {location} : 0)"));
            }
            if field == "f" && pick.chance(40) {
                let bound = pick.between(-2, 3);
                text.push_str(&format!(" && (none < ({amount}) ==> {location} != {bound})"));
            }
            return Some(text);
        }
        match ty {
            "Int" => scope.ints.push(location),
            "Bool" => scope.bools.push(location),
            "Ref" => scope.refs.push(location),
            "Set[Ref]" => scope.sets.push(location),
            "Perm" => {
                let strict = pick.chance(30);
                let least = if strict { "<" } else { "<=" };
                text.push_str(&format!(" && none {least} {location}"));
                scope.amounts.push(location.clone());
                if strict {
                    scope.some.push(location);
                }
            }
            _ => {}
        }
        Some(text)
    }

    /// `acc(P(…), amount)`.
    fn instance(&self, scope: &mut Scope, pick: &mut Picker) -> Option<String> {
        let predicate = pick.one(self.predicates)?;
        let arguments = arguments(&predicate.formals, scope, pick)?;
        let instance = format!("{}({arguments})", predicate.name);
        let (amount, bound) = amount(scope, pick);
        if ["write", "1/2", "1/3", "1/4"].contains(&&*amount) {
            scope.instances.push(instance.clone());
        }
        let bound = bound.map_or(String::new(), |bound| format!("{bound} && "));
        Some(format!("{bound}acc({instance}, {amount})"))
    }

    /// A form that says nothing about permission.
    fn fact(&self, scope: &mut Scope, pick: &mut Picker) -> Option<String> {
        if pick.chance(50) {
            return Some(harmless(scope, pick));
        }
        let left = pick.text(&scope.ints)?;
        let right = pick.text(&scope.ints).filter(|right| *right != left);
        let right = right.unwrap_or_else(|| pick.between(-2, 2).to_string());
        Some(format!("{left} {} {right}", pick.of(&["!=", "<=", ">="])))
    }
}

/// Conjuncts as one assertion.
fn together(conjuncts: &[String]) -> String {
    if conjuncts.is_empty() { "true".into() } else { conjuncts.join(" && ") }
}

/// A fact that is true wherever it means something.
fn harmless(scope: &mut Scope, pick: &mut Picker) -> String {
    let int = pick.text(&scope.ints).unwrap_or_else(|| "1".into());
    match pick.below(9) {
        0 => "true".into(),
        1 => format!("{int} == {int}"),
        2 => {
            let name = scope.bind();
            format!("(let {name} == ({int}) in {name} <= {int})")
        }
        3 => {
            let name = scope.bind();
            format!("(forall {name}: Int :: 0 <= {name} && {name} < 3 ==> {name} + {int} >= {int})")
        }
        4 => match pick.text(&scope.instances) {
            Some(instance) => format!("(unfolding acc({instance}, wildcard) in {int} == {int})"),
            None => format!("({int} > 0 || {int} <= 0)"),
        },
        5 => match pick.text(&scope.sets) {
            Some(set) => format!("|{set}| >= 0"),
            None => "null == null".into(),
        },
        6 => format!("({int} > 0 ? {int} >= 1 : {int} < 1)"),
        7 => match pick.text(&scope.amounts) {
            Some(amount) => format!("none <= {amount}"),
            None => "none < write".into(),
        },
        _ => format!("{int} * {int} >= 0 && {int} <= {int}"),
    }
}

/// An amount that is not negative, and what has to hold before, so that it is none.
fn amount(scope: &mut Scope, pick: &mut Picker) -> (String, Option<String>) {
    let literal = pick.of(&["write", "1/2", "1/2", "1/3", "1/4", "none"]).to_owned();
    let amount = match pick.below(11) {
        0..=2 => pick.text(&scope.amounts).unwrap_or(literal),
        3 => {
            let condition = condition(scope, pick);
            let other = pick.text(&scope.amounts).unwrap_or_else(|| "none".into());
            if pick.chance(50) {
                format!("({condition} ? {literal} : {other})")
            } else {
                format!("({condition} ? {other} : {literal})")
            }
        }
        4 => match pick.text(&scope.amounts) {
            Some(amount) => format!("{amount} * 1/2"),
            None => literal,
        },
        // As many parts as something counts, or what they leave.
        5 => match pick.text(&scope.ints) {
            Some(count) => {
                let counted = format!("{count} * (1/8)");
                let amount = if pick.chance(50) { counted } else { format!("(write - {counted})") };
                return (amount, Some(format!("0 <= {count} && {count} <= 8")));
            }
            None => literal,
        },
        6 => match pick.text(&scope.amounts) {
            Some(part) => {
                let bound = pick.chance(50).then(|| format!("{part} <= write"));
                let amount = if bound.is_some() {
                    format!("(write - {part})")
                } else {
                    format!("({part} <= write ? write - {part} : none)")
                };
                return (amount, bound);
            }
            None => literal,
        },
        _ => literal,
    };
    (amount, None)
}

fn condition(scope: &Scope, pick: &mut Picker) -> String {
    let mut all = scope.bools.clone();
    all.extend(scope.ints.iter().map(|int| format!("{int} > 0")));
    all.extend(scope.amounts.iter().map(|amount| format!("none < {amount}")));
    if let Some((first, others)) = scope.refs.split_first() {
        all.extend(others.iter().map(|one| format!("{one} != null")));
        all.extend(others.iter().map(|one| format!("{one} == {first}")));
        all.push(format!("{first} != null"));
    }
    pick.text(&all).unwrap_or_else(|| "true".into())
}

/// Arguments for parameters of some types.
fn arguments(types: &[&str], scope: &mut Scope, pick: &mut Picker) -> Option<String> {
    let mut arguments = Vec::new();
    for ty in types {
        arguments.push(match *ty {
            "Ref" => pick.text(&scope.refs)?,
            "Perm" => match amount(scope, pick) {
                (amount, None) => amount,
                _ => "1/2".into(),
            },
            "Bool" => condition(scope, pick),
            "Int" => pick.text(&scope.ints).unwrap_or_else(|| "1".into()),
            _ => pick.text(&scope.sets).unwrap_or_else(|| "Set[Ref]()".into()),
        });
    }
    Some(arguments.join(", "))
}
