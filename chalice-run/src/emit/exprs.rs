//! Expressions. Each becomes a Rust expression, in the type in which its value is kept. What can
//! fail ends with `?`; the thread is `t`, a slot `s` with its number.

use chalice::Span;
use chalice::program::LockMode;

use super::{Context, Emitter, Member, Out, Ty, refuse};
use crate::code::{
    Access, AmountExpr, Bool2, Compare, Expr, Kind, LevelSide, Quantified, Quantifier, SetOp,
    Source, Target,
};
use crate::value::{Arithmetic, Level, Seq, Value};

/// An expression in Rust, and the type of its value.
type Text = (String, Ty);

impl Emitter<'_> {
    /// Returns the integer that an expression is.
    pub(super) fn int(&mut self, e: &Expr, scope: Context<'_>) -> Out<String> {
        Ok(match self.expr(e, scope)? {
            (text, Ty::Value) => format!("{text}.int()"),
            (text, _) => text,
        })
    }

    /// Returns the truth of an expression.
    pub(super) fn truth(&mut self, e: &Expr, scope: Context<'_>) -> Out<String> {
        Ok(match self.expr(e, scope)? {
            (text, Ty::Value) => format!("{text}.truth()"),
            (text, _) => text,
        })
    }

    /// Returns the value of an expression, of whatever type.
    pub(super) fn value(&mut self, e: &Expr, scope: Context<'_>) -> Out<String> {
        let (text, ty) = self.expr(e, scope)?;
        Ok(valued(&text, ty))
    }

    /// Returns an expression in a type that is wanted.
    pub(super) fn typed(&mut self, e: &Expr, ty: Ty, scope: Context<'_>) -> Out<String> {
        match ty {
            Ty::Int => self.int(e, scope),
            Ty::Bool => self.truth(e, scope),
            Ty::Value => self.value(e, scope),
        }
    }

    /// Returns the object that an expression refers to; null fails at a place.
    pub(super) fn object(&mut self, e: &Expr, span: Span, scope: Context<'_>) -> Out<String> {
        let at = self.at(span);
        if let Kind::Slot(slot) = e.kind {
            return Ok(format!("s{slot}.object({at})?"));
        }
        Ok(format!("{}.object({at})?", self.value(e, scope)?))
    }

    fn pair(&mut self, pair: &(Expr, Expr), ty: Ty, scope: Context<'_>) -> Out<String> {
        let (one, two) = (self.typed(&pair.0, ty, scope)?, self.typed(&pair.1, ty, scope)?);
        Ok(format!("let a = {one}; let b = {two};"))
    }

    pub(super) fn expr(&mut self, e: &Expr, scope: Context<'_>) -> Out<Text> {
        let at = self.at(e.span);
        let text = match &e.kind {
            Kind::Const(value) => return Ok((constant(value, e.span)?, Ty::of(value))),
            Kind::Slot(slot) => return Ok(slot_text(*slot, scope)),
            Kind::Constant { slot, flag } => {
                let (text, ty) = slot_text(*slot, scope);
                return Ok((format!("{{ value::assigned(s{flag}, {at})?; {text} }}"), ty));
            }
            Kind::Negate(inner) => format!("value::sub(0, {}, {at})?", self.int(inner, scope)?),
            Kind::Arithmetic(op, operands) => {
                let op = match op {
                    Arithmetic::Add => "add",
                    Arithmetic::Sub => "sub",
                    Arithmetic::Mul => "mul",
                };
                format!("{{ {} value::{op}(a, b, {at})? }}", self.pair(operands, Ty::Int, scope)?)
            }
            Kind::Divide { remainder, operands } => {
                let op = if *remainder { "rem" } else { "div" };
                let divisor = self.at(operands.1.span);
                let pair = self.pair(operands, Ty::Int, scope)?;
                format!("{{ {pair} value::{op}(a, b, {divisor})? }}")
            }
            Kind::Length(inner) => format!("{}.length()", self.value(inner, scope)?),
            Kind::Apply { receiver, function, arguments } => {
                return self.apply(receiver, *function, arguments, &at, scope);
            }
            Kind::Conditional(parts) => {
                let condition = self.truth(&parts.0, scope)?;
                let ((one, first), (two, second)) =
                    (self.expr(&parts.1, scope)?, self.expr(&parts.2, scope)?);
                let (one, two, ty) = if first == second {
                    (one, two, first)
                } else {
                    (valued(&one, first), valued(&two, second), Ty::Value)
                };
                return Ok((format!("(if {condition} {{ {one} }} else {{ {two} }})"), ty));
            }
            Kind::Old(inner) => return self.old(inner, e.span, scope),
            Kind::Unfolding(parts) => return self.unfolding(&parts.0, &parts.1, scope),
            Kind::Quantified(quantified) => return self.quantified(quantified, e.span, scope),
            Kind::Field { .. }
            | Kind::Append(_)
            | Kind::Seq(_)
            | Kind::Set(_)
            | Kind::Range(_)
            | Kind::Index(_)
            | Kind::Slice(_)
            | Kind::Sets(SetOp::Union | SetOp::Difference | SetOp::Intersection, _) => {
                return Ok((self.composed(e, scope)?, Ty::Value));
            }
            Kind::Access(_) | Kind::Credit { .. } => {
                return refuse(e.span, "permission inside of an expression");
            }
            Kind::Eval(_) => return refuse(e.span, "eval"),
            _ => return Ok((self.claim(e, scope)?, Ty::Bool)),
        };
        Ok((text, Ty::Int))
    }

    /// Expressions that are truth values.
    fn claim(&mut self, e: &Expr, scope: Context<'_>) -> Out<String> {
        Ok(match &e.kind {
            Kind::Not(inner) => format!("(!{})", self.truth(inner, scope)?),
            Kind::Compare(how, operands) => {
                let op = match how {
                    Compare::Less => "<",
                    Compare::AtMost => "<=",
                    Compare::AtLeast => ">=",
                    Compare::Greater => ">",
                };
                format!("{{ {} a {op} b }}", self.pair(operands, Ty::Int, scope)?)
            }
            Kind::Equal(how, operands) => {
                let ((one, first), (two, second)) =
                    (self.expr(&operands.0, scope)?, self.expr(&operands.1, scope)?);
                let (one, two) = if first == second {
                    (one, two)
                } else {
                    (valued(&one, first), valued(&two, second))
                };
                format!("{{ let a = {one}; let b = {two}; a {} b }}", equality(*how))
            }
            Kind::EqualLevels(how, sides) => {
                let (one, two) = (self.side(&sides.0, scope)?, self.side(&sides.1, scope)?);
                let is_equal = *how == Bool2::Equal;
                format!("{{ let a = {one}; let b = {two}; t.equal_levels(a, b) == {is_equal} }}")
            }
            Kind::Below(sides) => {
                let (one, two) = (self.side(&sides.0, scope)?, self.side(&sides.1, scope)?);
                format!("{{ let a = {one}; let b = {two}; t.below(a, b) }}")
            }
            Kind::In { negated, operands } => {
                let pair = self.pair(operands, Ty::Value, scope)?;
                format!("{{ {pair} b.contains(&a) != {negated} }}")
            }
            Kind::Sets(op, operands) => {
                let pair = self.pair(operands, Ty::Value, scope)?;
                let proper = if *op == SetOp::ProperSubset { " && a != b" } else { "" };
                format!("{{ {pair} a.is_subset(&b){proper} }}")
            }
            Kind::And(parts) => self.joined(parts, " && ", scope)?,
            Kind::Or(parts) => self.joined(parts, " || ", scope)?,
            Kind::Implies(parts) => {
                let (one, two) = (self.truth(&parts.0, scope)?, self.truth(&parts.1, scope)?);
                format!("(!({one}) || ({two}))")
            }
            Kind::Holds { target, mode } => {
                let object = self.object(target, target.span, scope)?;
                let write = *mode == LockMode::Write;
                format!("{{ let o = {object}; t.holds(&o, {write}) }}")
            }
            _ => return refuse(e.span, "this expression"),
        })
    }

    fn joined(&mut self, parts: &[Expr], between: &str, scope: Context<'_>) -> Out<String> {
        let parts: Out<Vec<_>> = parts.iter().map(|part| self.truth(part, scope)).collect();
        let parts: Vec<_> = parts?.iter().map(|part| format!("({part})")).collect();
        Ok(format!("({})", parts.join(between)))
    }

    fn side(&mut self, side: &LevelSide, scope: Context<'_>) -> Out<String> {
        Ok(match side {
            LevelSide::Value(e) => format!("Side::Value({}.level())", self.value(e, scope)?),
            LevelSide::Wait { old: false } => "Side::Wait".to_owned(),
            LevelSide::Wait { old: true } => "Side::OldWait".to_owned(),
        })
    }

    pub(super) fn values(&mut self, all: &[Expr], scope: Context<'_>) -> Out<String> {
        let all: Out<Vec<_>> = all.iter().map(|one| self.value(one, scope)).collect();
        Ok(format!("vec![{}]", all?.join(", ")))
    }

    /// Expressions whose values are kept as they are in the heap.
    fn composed(&mut self, e: &Expr, scope: Context<'_>) -> Out<String> {
        let at = self.at(e.span);
        Ok(match &e.kind {
            Kind::Field { receiver, cell } => {
                let object = self.object(receiver, receiver.span, scope)?;
                let read = if self.checks {
                    format!("t.read(&o, {cell}, {at})?")
                } else {
                    format!("o.get({cell})")
                };
                format!("{{ let o = {object}; {read} }}")
            }
            Kind::Append(operands) => {
                format!("{{ {} a.append(b, {at})? }}", self.pair(operands, Ty::Value, scope)?)
            }
            Kind::Seq(items) => format!("Value::seq({})", self.values(items, scope)?),
            Kind::Set(items) => format!("Value::set({})", self.values(items, scope)?),
            Kind::Range(bounds) => {
                let pair = self.pair(bounds, Ty::Int, scope)?;
                format!("{{ {pair} value::range(a, b, {at})? }}")
            }
            Kind::Index(operands) => {
                let (one, two) = (self.value(&operands.0, scope)?, self.int(&operands.1, scope)?);
                format!("{{ let a = {one}; let b = {two}; a.index(b, {at})? }}")
            }
            Kind::Slice(parts) => {
                let sequence = self.value(&parts.0, scope)?;
                let mut bound = |bound: &Option<Expr>, least: &str, otherwise: &str| {
                    let Some(bound) = bound else { return Ok(otherwise.to_owned()) };
                    let at = self.at(bound.span);
                    Ok(format!(
                        "{{ let n = {}; q.bound(n, {least}, {at})? }}",
                        self.int(bound, scope)?
                    ))
                };
                let from = bound(&parts.1, "0", "0")?;
                let to = bound(&parts.2, "from", "q.length()")?;
                format!(
                    "{{ let q = {sequence}; let from = {from}; let to = {to}; q.slice(from, to) }}"
                )
            }
            Kind::Sets(op, operands) => {
                let op = match op {
                    SetOp::Union => "union",
                    SetOp::Difference => "difference",
                    _ => "intersection",
                };
                format!("{{ {} a.{op}(&b) }}", self.pair(operands, Ty::Value, scope)?)
            }
            _ => return refuse(e.span, "this expression"),
        })
    }

    fn apply(
        &mut self,
        receiver: &Expr,
        function: u32,
        arguments: &[Expr],
        at: &str,
        scope: Context<'_>,
    ) -> Out<Text> {
        self.need(Member::Function(function));
        let callee = &self.code.functions[function as usize];
        let object = if callee.is_static {
            "Value::Null".to_owned()
        } else {
            let place = self.at(receiver.span);
            format!("receiver({}, {place})?", self.value(receiver, scope)?)
        };
        let mut text = format!("{{ let a0 = {object};");
        let mut passed = String::from("&a0");
        for (number, argument) in (1_u32..).zip(arguments) {
            let ty = Self::ty(&callee.frame, number);
            text.push_str(&format!(" let a{number} = {};", self.typed(argument, ty, scope)?));
            let lent = if ty == Ty::Value { "&" } else { "" };
            passed.push_str(&format!(", {lent}a{number}"));
        }
        let ty = Self::ty(&callee.frame, callee.parameters as u32 + 1);
        Ok((format!("{text} f{function}(t, {at}, {passed})? }}"), ty))
    }

    /// Returns a value of the past: computed when the method starts, and used here.
    fn old(&mut self, inner: &Expr, span: Span, scope: Context<'_>) -> Out<Text> {
        let Some((method, fixed)) = scope.method else {
            return refuse(span, "old outside of the contract and the body of a method");
        };
        let mut bound = Vec::new();
        let is_other = |e: &Expr, bound: &mut Vec<u32>| match &e.kind {
            Kind::Slot(slot) | Kind::Constant { slot, .. } => {
                *slot as usize >= fixed && !bound.contains(slot)
            }
            _ => false,
        };
        let is_changing = inner.any(&mut |e| {
            if let Kind::Quantified(quantified) = &e.kind {
                bound.extend(quantified.variables.iter().map(|(slot, _)| *slot));
            }
            matches!(e.kind, Kind::Old(_)) || is_other(e, &mut bound)
        });
        if is_changing {
            return refuse(span, "old of what is no parameter");
        }
        let (text, ty) = self.expr(inner, Context { method: None, ..scope })?;
        let olds = self.olds.entry(method).or_default();
        let entry = (ty, text);
        let number = olds.iter().position(|one| *one == entry).unwrap_or_else(|| {
            olds.push(entry);
            olds.len() - 1
        });
        Ok((format!("old.o{number}.clone()?"), ty))
    }

    pub(super) fn trade(&mut self, access: &Access, scope: Context<'_>) -> Out<String> {
        let amount = self.amount(&access.amount, scope)?;
        let is_read = matches!(access.amount, AmountExpr::Read);
        let (is_chosen, has_star) = (access.amount.is_inexact(true), access.amount.has_star());
        Ok(format!(
            "Trade {{ is_read: {is_read}, is_chosen: {is_chosen}, has_star: {has_star}, \
             amount: &mut |t| Ok({amount}) }}"
        ))
    }

    fn unfolding(&mut self, access: &Access, body: &Expr, scope: Context<'_>) -> Out<Text> {
        let Target::Predicate { receiver, predicate } = &access.target else {
            return self.expr(body, scope);
        };
        let object = self.object(receiver, receiver.span, scope)?;
        let (text, ty) = self.expr(body, scope)?;
        if !self.checks {
            return Ok((format!("{{ let o = {object}; {text} }}"), ty));
        }
        let (at, trade) = (self.at(access.span), self.trade(access, scope)?);
        let opened = format!("t.unfolding((&o, {predicate}), {trade}, {at}, |t| Ok({text}))?");
        Ok((format!("{{ let o = {object}; {opened} }}"), ty))
    }

    fn quantified(&mut self, quantified: &Quantified, span: Span, scope: Context<'_>) -> Out<Text> {
        let at = self.at(span);
        let every_place = quantified.quantifier == Quantifier::Sum;
        let label = self.label();
        let body = &quantified.body;
        let (before, inner, after, ty) = match quantified.quantifier {
            Quantifier::Forall => {
                let body = self.truth(body, scope)?;
                let inner = format!("if !({body}) {{ break 'q{label} false; }}");
                (String::new(), inner, "true".to_owned(), Ty::Bool)
            }
            Quantifier::Exists => {
                let body = self.truth(body, scope)?;
                let inner = format!("if {body} {{ break 'q{label} true; }}");
                (String::new(), inner, "false".to_owned(), Ty::Bool)
            }
            Quantifier::Sum => {
                let body = self.int(body, scope)?;
                let inner = format!("let n = {body}; q{label} = value::add(q{label}, n, {at})?;");
                (format!("let mut q{label} = 0_i64;"), inner, format!("q{label}"), Ty::Int)
            }
            Quantifier::Max => {
                let body = self.int(body, scope)?;
                let inner = format!("let n = {body}; q{label} = q{label}.max(Some(n));");
                let before = format!("let mut q{label} = None::<i64>;");
                (before, inner, format!("value::greatest(q{label}, {at})?"), Ty::Int)
            }
        };
        let loops = self.loops(&quantified.variables, span, every_place, inner, scope)?;
        Ok((format!("('q{label}: {{ {before} {loops} {after} }})"), ty))
    }

    /// Loops over the choices of variables, the last of them changing fastest.
    pub(super) fn loops(
        &mut self,
        variables: &[(u32, Source)],
        span: Span,
        every_place: bool,
        inner: String,
        scope: Context<'_>,
    ) -> Out<String> {
        let at = self.at(span);
        let mut text = inner;
        for (slot, source) in variables.iter().rev() {
            let ty = Self::ty(scope.frame, *slot);
            let from_value = match ty {
                Ty::Int => "x.int()",
                Ty::Bool => "x.truth()",
                Ty::Value => "x",
            };
            let (all, each) = match source {
                Source::Elements(Expr { kind: Kind::Range(bounds), .. }) => {
                    (format!("{{ {} a..b }}", self.pair(bounds, Ty::Int, scope)?), "x")
                }
                Source::Elements(collection) | Source::Members(collection) => {
                    let how = if every_place { "elements" } else { "distinct" };
                    (format!("{}.{how}()", self.value(collection, scope)?), from_value)
                }
                Source::Bools => ("[false, true]".to_owned(), "x"),
                Source::Exactly(one) => (format!("[{}]", self.typed(one, ty, scope)?), "x"),
                Source::Between { lower, upper } => {
                    let mut bounds = "let (mut from, mut to) = (i64::MIN, i64::MAX);".to_owned();
                    for (bound, is_open) in lower {
                        let (bound, more) = (self.int(bound, scope)?, i64::from(*is_open));
                        bounds.push_str(&format!(
                            " let n = {bound}; from = from.max(n.saturating_add({more}));"
                        ));
                    }
                    for (bound, is_open) in upper {
                        let (bound, more) = (self.int(bound, scope)?, i64::from(!*is_open));
                        bounds.push_str(&format!(
                            " let n = {bound}; to = to.min(n.saturating_add({more}));"
                        ));
                    }
                    let bounds = format!("(|| -> Res<(i64, i64)> {{ {bounds} Ok((from, to)) }})()");
                    (format!("value::interval({bounds}, {at})?"), "x")
                }
                Source::Objects(_) => return refuse(span, "a quantifier over all objects"),
                Source::Samples(..) => return refuse(span, "a quantifier without bounds"),
            };
            text = format!("for x in {all} {{ let s{slot} = {each}; {text} }}");
        }
        Ok(text)
    }

    /// Returns an amount of permission.
    pub(super) fn amount(&mut self, amount: &AmountExpr, scope: Context<'_>) -> Out<String> {
        Ok(match amount {
            AmountExpr::Full => "Amount::FULL".to_owned(),
            AmountExpr::Percentage(e) => {
                format!("Amount::number(Rational::new({}, 100))", self.int(e, scope)?)
            }
            AmountExpr::Read => "Amount::read(t.kappa())".to_owned(),
            AmountExpr::Epsilons(e) => {
                format!("Amount::epsilons(Rational::new({}, 1))", self.int(e, scope)?)
            }
            AmountExpr::Star => "t.any_amount()".to_owned(),
            AmountExpr::Common(e) => {
                format!("{{ let _ = {}; Amount::read(COMMON) }}", self.value(e, scope)?)
            }
            AmountExpr::Token(e) => {
                let (object, at) = (self.object(e, e.span, scope)?, self.at(e.span));
                format!("{{ let o = {object}; t.token_amount(&o, {at})? }}")
            }
            AmountExpr::Add(parts) => self.two_amounts(parts, "plus", scope)?,
            AmountExpr::Sub(parts) => self.two_amounts(parts, "minus", scope)?,
            AmountExpr::Scale(parts) => {
                let (factor, amount) = (self.int(&parts.0, scope)?, self.amount(&parts.1, scope)?);
                format!(
                    "{{ let a = Amount::number(Rational::new({factor}, 1)); let b = {amount}; \
                     a.times(&b).unwrap_or(Amount::NONE) }}"
                )
            }
        })
    }

    fn two_amounts(
        &mut self,
        parts: &(AmountExpr, AmountExpr),
        op: &str,
        scope: Context<'_>,
    ) -> Out<String> {
        let (one, two) = (self.amount(&parts.0, scope)?, self.amount(&parts.1, scope)?);
        Ok(format!("{{ let a = {one}; let b = {two}; a.{op}(&b) }}"))
    }
}

fn equality(how: Bool2) -> &'static str {
    match how {
        Bool2::Equal => "==",
        Bool2::Different => "!=",
    }
}

fn slot_text(slot: u32, scope: Context<'_>) -> Text {
    match Emitter::ty(scope.frame, slot) {
        Ty::Value => (format!("s{slot}.clone()"), Ty::Value),
        ty => (format!("s{slot}"), ty),
    }
}

/// Returns a value as it is in the heap.
pub(super) fn valued(text: &str, ty: Ty) -> String {
    match ty {
        Ty::Int => format!("Value::Int({text})"),
        Ty::Bool => format!("Value::Bool({text})"),
        Ty::Value => text.to_owned(),
    }
}

/// Returns a constant, in the type in which its value is kept.
pub(super) fn constant(value: &Value, span: Span) -> Out<String> {
    Ok(match value {
        Value::Int(i64::MIN) => "i64::MIN".to_owned(),
        Value::Int(number) if *number < 0 => format!("({number}_i64)"),
        Value::Int(number) => format!("{number}_i64"),
        Value::Bool(truth) => truth.to_string(),
        Value::Text(text) => format!("Value::text({text:?})"),
        Value::Null => "Value::Null".to_owned(),
        Value::Level(Level::BOTTOM) => "Value::Level(Level::BOTTOM)".to_owned(),
        Value::Seq(Seq::Range(from, to)) => format!("value::range({from}, {to}, at(0, 0, 0))?"),
        Value::Seq(_) => format!("Value::seq({})", constants(value, span)?),
        Value::Set(_) => format!("Value::set({})", constants(value, span)?),
        Value::Unset(inner) => constant(inner, span)?,
        Value::Big(_) => return refuse(span, "a number beyond those of a machine"),
        Value::Level(_) | Value::Ref(_) | Value::Open => return refuse(span, "this value"),
    })
}

fn constants(value: &Value, span: Span) -> Out<String> {
    let all: Out<Vec<_>> =
        value.elements().map(|one| Ok(valued(&constant(&one, span)?, Ty::of(&one)))).collect();
    Ok(format!("vec![{}]", all?.join(", ")))
}
