//! `sum` and `max` over collections.
//!
//! Aggregates of written-out collections, and of ranges between two small numbers, are written out
//! as well. A sum over the elements of a sequence or over a range is a recursive function that adds
//! the last element to the sum of the others. A maximum is a function with two axioms: no element
//! is greater, and some element is as great. The body may read fields of the element, and the
//! function then needs permission to them. Sets have no last element: a sum over a set is the sum
//! of a valuation of its elements (see [`crate::lower::expressions::set_sums`]), and the function
//! yields the valuation.
//!
//! DIVERGENCE: of the maximum of nothing nothing is known.

use chalice::program::walk::written_out;
use chalice::program::{
    BinaryOp, Domain, Expr, ExprKind, FieldRef, LocalId, LocalKind, Quantifier, Reached, Type,
};
use findings::Reason;
use front::grow_stack;
use rustc_hash::FxHashMap;
use sil::syntax as s;
use sil::syntax::TypeKind;

use crate::build::*;
use crate::lower::Member;
use crate::lower::annotations::Annotate;
use crate::lower::classes::stateless;
use crate::lower::env::{Env, ReadAmount};
use crate::lower::expressions::reads_other_states;
use crate::lower::expressions::set_sums::value_in;

impl Member<'_, '_> {
    /// `sum x in collection :: body`, `max x in collection :: body`
    pub(crate) fn aggregate(
        &mut self,
        e: &Expr,
        quantifier: Quantifier,
        variables: &[LocalId],
        domain: &Domain,
        body: &Expr,
        env: &Env,
    ) -> s::Expr {
        let word = if quantifier == Quantifier::Sum { "sum" } else { "max" };
        let (&[variable], Domain::Collection(collection)) = (variables, domain) else {
            return self.unsupported(&format!("{word} over several variables or a type"), e);
        };
        if let Some(elements) = written_out(collection)
            && let Some(value) = self.over_elements(quantifier, variable, &elements, body, env)
        {
            return value;
        }
        let is_range = matches!(collection.kind, ExprKind::Range { .. });
        let Some(captured) = self.captured(variable, body, is_range) else {
            return self.unsupported(
                &format!("{word} of something that reads more than fields of the elements"),
                e,
            );
        };
        let mut actuals = match &collection.kind {
            ExprKind::Range { from, to } => vec![self.expr(from, env), self.expr(to, env)],
            _ => vec![self.united(collection, env)],
        };
        let set = is_sum_over_set(quantifier, collection).then(|| actuals[0].clone());
        actuals.extend(captured.iter().map(|&local| self.variable(local, env)));
        let name = self.aggregate_function(quantifier, variable, collection, body, &captured);
        let value = self.located(e.span, |member| {
            let value = call(&name, actuals);
            match set {
                Some(set) => member.lowering.sum_over(set, value),
                None => value,
            }
        });
        let ExprKind::Range { from, to } = &collection.kind else { return value };
        let bounds = [self.expr(from, env), self.expr(to, env)];
        let indices = indices(variable, body).expect("what is captured was looked at");
        indices.into_iter().rev().fold(value, |value, (sequence, index)| {
            let [first, last] = self.indices_inside(variable, sequence, index, &bounds, env);
            self.located(e.span, |member| {
                let value = member.checked(last, Reason::IndexTooLarge, value);
                member.checked(first, Reason::IndexNegative, value)
            })
        })
    }

    /// Returns a collection; a set that is written out is the union of its singletons, as sums over
    /// sets know one more element.
    fn united(&mut self, collection: &Expr, env: &Env) -> s::Expr {
        let ExprKind::Set(elements) = &collection.kind else { return self.expr(collection, env) };
        elements
            .iter()
            .map(|element| set_of([self.expr(element, env)]))
            .reduce(|set, one| binary(s::BinaryOp::Union, set, one))
            .unwrap_or_else(|| self.expr(collection, env))
    }

    fn over_elements(
        &mut self,
        quantifier: Quantifier,
        variable: LocalId,
        elements: &[Expr],
        body: &Expr,
        env: &Env,
    ) -> Option<s::Expr> {
        let values: Vec<_> = elements
            .iter()
            .map(|element| {
                let element = self.expr(element, env);
                if reads_other_states(body) {
                    let value = self.expr(body, env);
                    return self.with_values(vec![(variable, element)], value);
                }
                let mut replaced = (*env.replaced).clone();
                replaced.insert(variable, element);
                self.expr(body, &Env { replaced: replaced.into(), ..env.clone() })
            })
            .collect();
        let greater = |greatest: s::Expr, value: s::Expr| {
            conditional(lt(greatest.clone(), value.clone()), value, greatest)
        };
        let mut values = values.into_iter();
        match quantifier {
            Quantifier::Sum => {
                let add = |sum, value| binary(s::BinaryOp::Add, sum, value);
                Some(values.reduce(add).unwrap_or_else(|| int(0)))
            }
            _ => values.next().map(|first| values.fold(first, greater)),
        }
    }

    /// Makes the claims that the first and the last element of a sequence exist that the numbers of
    /// a range lead to: the index grows with the number.
    fn indices_inside(
        &mut self,
        variable: LocalId,
        sequence: &Expr,
        index: &Expr,
        [low, high]: &[s::Expr; 2],
        env: &Env,
    ) -> [s::Expr; 2] {
        let last = binary(s::BinaryOp::Sub, high.clone(), int(1));
        let [first, last] = [low.clone(), last].map(|number| {
            let mut replaced = (*env.replaced).clone();
            replaced.insert(variable, number);
            self.expr(index, &Env { replaced: replaced.into(), ..env.clone() })
        });
        let length = cardinality(self.expr(sequence, env));
        [le(int(0), first), lt(last, length)]
            .map(|claim| implies(lt(low.clone(), high.clone()), claim))
    }

    /// Variables that the body mentions apart from its own; nothing if it reads more than fields of
    /// the element and, for the numbers of a range, elements of sequences.
    fn captured(&self, variable: LocalId, body: &Expr, is_range: bool) -> Option<Vec<LocalId>> {
        let allowed = indices(variable, body)?;
        if !is_range && !allowed.is_empty() {
            return None;
        }
        let program = self.program();
        let mut captured = Vec::new();
        let mut is_fine = true;
        body.for_each(&mut |part| match &part.kind {
            ExprKind::Local(local) if *local == variable || captured.contains(local) => {}
            ExprKind::Local(local) if program.locals[*local].kind != LocalKind::Quantified => {
                captured.push(*local);
            }
            ExprKind::FieldRead { receiver, field: FieldRef::Declared(_) } => {
                is_fine &= matches!(receiver.kind, ExprKind::Local(local) if local == variable);
            }
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Conditional { .. }
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Implies { .. }
            | ExprKind::Index { .. }
            | ExprKind::Length(_) => {}
            _ => is_fine = false,
        });
        is_fine.then_some(captured)
    }

    /// Returns the function that an aggregate is: its parameters are the collection and the
    /// captured variables.
    fn aggregate_function(
        &mut self,
        quantifier: Quantifier,
        variable: LocalId,
        collection: &Expr,
        body: &Expr,
        captured: &[LocalId],
    ) -> String {
        let lowering = self.lowering;
        let is_sum = quantifier == Quantifier::Sum;
        let is_valuation = is_sum_over_set(quantifier, collection);
        let mut member = Member::new(lowering, body.span);
        let is_range = matches!(collection.kind, ExprKind::Range { .. });
        let element = lowering.ty(&lowering.program.locals[variable].ty);
        let (mut formals, low, high, elements);
        if is_range {
            (low, high) = (member.fresh("low"), member.fresh("high"));
            elements = low.clone();
            formals = vec![typed(&low, ty(TypeKind::Int)), typed(&high, ty(TypeKind::Int))];
        } else {
            elements = member.fresh("elements");
            (low, high) = (elements.clone(), elements.clone());
            formals = vec![typed(&elements, lowering.ty(&collection.ty))];
        }
        let bound = member.fresh("element");
        let mut replaced: FxHashMap<_, _> = std::iter::once((variable, var(&bound))).collect();
        let mut others = Vec::new();
        for (number, &local) in captured.iter().enumerate() {
            let name = member.fresh(&format!("x{number}"));
            formals.push(typed(&name, lowering.ty(&lowering.program.locals[local].ty)));
            replaced.insert(local, var(&name));
            others.push(var(&name));
        }
        let env = stateless(ReadAmount::Any);
        let env = Env { replaced: replaced.clone().into(), ..env };
        let value = member.expr(body, &env);
        // The same sum elsewhere is the same function.
        let key = format!("{is_sum} {formals:?} {element:?} {value:?}");
        if let Some(name) = lowering.aggregate_names.borrow().get(&key) {
            return name.clone();
        }
        let name = lowering.global_name(match quantifier {
            Quantifier::Sum if is_valuation => "values_of",
            Quantifier::Sum => "sum_of",
            _ => "max_of",
        });
        lowering.aggregate_names.borrow_mut().insert(key, name.clone());
        let inside = if is_range {
            and([le(var(&low), var(&bound)), lt(var(&bound), var(&high))])
        } else {
            contains(&var(&elements), &var(&bound))
        };
        let over = |triggers: Vec<Vec<s::Expr>>, claim: s::Expr| {
            let variables = vec![typed(&bound, element.clone())];
            quantified(s::Quantifier::Forall, variables, triggers, claim)
        };
        let trigger = if is_range { Vec::new() } else { vec![vec![inside.clone()]] };
        let mut contract = s::Contract::default();
        let mut fields = Vec::new();
        body.for_each(&mut |part| {
            if let ExprKind::FieldRead { field, .. } = &part.kind
                && !fields.contains(field)
            {
                fields.push(*field);
            }
        });
        for field in fields {
            let given = acc(member.field_of(var(&bound), field), wildcard());
            contract.preconditions.push(over(trigger.clone(), implies(inside.clone(), given)));
        }
        if is_range {
            let bounds = [var(&low), var(&high)];
            for (sequence, index) in indices(variable, body).into_iter().flatten() {
                let inside = member.indices_inside(variable, sequence, index, &bounds, &env);
                contract.preconditions.extend(inside);
            }
        }
        let (mut rest, last, is_empty);
        if is_range {
            last = binary(s::BinaryOp::Sub, var(&high), int(1));
            rest = vec![var(&low), last.clone()];
            is_empty = le(var(&high), var(&low));
        } else {
            let length = cardinality(var(&elements));
            let shorter = binary(s::BinaryOp::Sub, length.clone(), int(1));
            last = index(var(&elements), shorter.clone());
            rest = vec![slice(var(&elements), None, Some(shorter))];
            is_empty = eq(length, int(0));
        }
        let body = if is_valuation {
            let given = value_in(result(), var(&bound));
            let agrees = implies(inside, eq(given.clone(), value));
            contract.postconditions.push(over(vec![vec![given]], agrees));
            None
        } else if is_sum {
            rest.extend(others);
            replaced.insert(variable, last);
            let last = Env { replaced: replaced.into(), ..env.clone() };
            let last = member.expr(body, &last);
            let sum = binary(s::BinaryOp::Add, call(&name, rest), last);
            Some(conditional(is_empty, int(0), sum))
        } else {
            let bounded = le(value.clone(), result());
            contract.postconditions.push(over(trigger.clone(), implies(inside.clone(), bounded)));
            let reached = quantified(
                s::Quantifier::Exists,
                vec![typed(&bound, element.clone())],
                trigger.clone(),
                and([inside, eq(value, result())]),
            );
            contract.postconditions.push(or(vec![is_empty, reached]));
            None
        };
        let function = crate::build::member(s::MemberKind::Function(s::Function {
            name: ident(&name),
            formals,
            result: if is_valuation { lowering.valuation_type(element) } else { ty(TypeKind::Int) },
            contract,
            body,
        }));
        lowering.aggregates.borrow_mut().push(function.with(lowering.at(member.span)));
        name
    }
}

/// Is it a sum of a valuation of the elements?
fn is_sum_over_set(quantifier: Quantifier, collection: &Expr) -> bool {
    quantifier == Quantifier::Sum && matches!(collection.ty, Type::Set(_))
}

/// Returns the elements of sequences that a body reads, as sequence and index; nothing if some
/// index does not grow with the number it is of, or is not certainly read.
fn indices(variable: LocalId, body: &Expr) -> Option<Vec<(&Expr, &Expr)>> {
    let mut found = Vec::new();
    if let ExprKind::Index { sequence, index } = &body.kind {
        if !grows_with(variable, index) || sequence.mentions(&[variable]) {
            return None;
        }
        found.push((&**sequence, &**index));
    }
    let mut is_fine = true;
    body.for_each_part(&mut |part, reached| {
        let inner = grow_stack(|| indices(variable, part));
        let is_certain = matches!(reached, Reached::Always);
        is_fine &= inner.as_ref().is_some_and(|inner| is_certain || inner.is_empty());
        found.extend(inner.into_iter().flatten());
    });
    is_fine.then_some(found)
}

/// Is it the variable, or a fixed distance from it?
fn grows_with(variable: LocalId, index: &Expr) -> bool {
    let is_variable = |e: &Expr| matches!(e.kind, ExprKind::Local(local) if local == variable);
    match &index.kind {
        ExprKind::Binary { op: BinaryOp::Add, left, right } => {
            is_variable(left) && !right.mentions(&[variable])
                || is_variable(right) && !left.mentions(&[variable])
        }
        ExprKind::Binary { op: BinaryOp::Sub, left, right } => {
            is_variable(left) && !right.mentions(&[variable])
        }
        _ => is_variable(index),
    }
}
