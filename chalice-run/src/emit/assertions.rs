//! Assertions. Each becomes statements that ask for what it says, in a transfer `ask`.

use super::{Context, Emitter, Out, refuse};
use crate::code::{Access, Expr, Kind, Quantified, Quantifier, Source, Target};

impl Emitter<'_> {
    /// Clauses as a closure that asks for all of them.
    pub(super) fn asks(&mut self, clauses: &[Expr], scope: Context<'_>) -> Out<String> {
        Ok(format!("&mut |t, ask| {{ {} Ok(()) }}", self.clauses(clauses, scope)?))
    }

    /// Clauses, each of which is blamed for what fails in it.
    pub(super) fn clauses(&mut self, clauses: &[Expr], scope: Context<'_>) -> Out<String> {
        let mut text = String::new();
        if !self.checks {
            return Ok(text);
        }
        for clause in clauses {
            let (at, asks) = (self.at(clause.span), self.assertion(clause, scope)?);
            text.push_str(&format!("t.clause(ask, {at}, |t, ask| {{ {asks} Ok(()) }})?;\n"));
        }
        Ok(text)
    }

    /// Returns the statements that ask for what an assertion says.
    pub(super) fn assertion(&mut self, e: &Expr, scope: Context<'_>) -> Out<String> {
        let at = self.at(e.span);
        if e.is_pure && !matches!(e.kind, Kind::And(_)) {
            let truth = self.truth(e, scope)?;
            return Ok(format!("t.claim(ask, {at}, &mut |t| Ok({truth}))?;\n"));
        }
        Ok(match &e.kind {
            Kind::And(parts) => {
                let parts: Out<Vec<_>> =
                    parts.iter().map(|part| self.assertion(part, scope)).collect();
                parts?.concat()
            }
            Kind::Implies(parts) => {
                let (condition, then) =
                    (self.truth(&parts.0, scope)?, self.assertion(&parts.1, scope)?);
                format!("if {condition} {{ {then} }}\n")
            }
            Kind::Conditional(parts) => {
                let condition = self.truth(&parts.0, scope)?;
                let then = self.assertion(&parts.1, scope)?;
                let otherwise = self.assertion(&parts.2, scope)?;
                format!("if {condition} {{ {then} }} else {{ {otherwise} }}\n")
            }
            Kind::Quantified(quantified) => self.each(quantified, e, scope)?,
            Kind::Access(access) => self.access(access, scope)?,
            Kind::Credit { channel, amount } => {
                let object = self.object(channel, e.span, scope)?;
                let count = match amount {
                    Some(amount) => self.int(amount, scope)?,
                    None => "1".to_owned(),
                };
                format!("{{ let o = {object}; let n = {count}; ask.credit(&o, n, {at})?; }}\n")
            }
            Kind::Eval(_) => return refuse(e.span, "eval"),
            _ => return refuse(e.span, "an assertion of this form"),
        })
    }

    /// Returns the body of a `forall`, for each choice. For elements of a collection, or an
    /// interval, it asks for each place once.
    fn each(&mut self, quantified: &Quantified, e: &Expr, scope: Context<'_>) -> Out<String> {
        if quantified.quantifier != Quantifier::Forall {
            return refuse(e.span, "permission below such a quantifier");
        }
        let mut body = self.assertion(&quantified.body, scope)?;
        let is_of_elements = |(_, source): &(u32, Source)| {
            matches!(source, Source::Elements(_) | Source::Members(_) | Source::Between { .. })
        };
        let is_once = quantified.variables.iter().all(is_of_elements);
        if is_once {
            body = format!("let before = ask.asked(); {body} ask.ask_once(before, &mut known);");
        }
        let loops = self.loops(&quantified.variables, e.span, false, body, scope)?;
        Ok(format!("{{ let mut known = Once::default(); {loops} }}\n"))
    }

    fn access(&mut self, access: &Access, scope: Context<'_>) -> Out<String> {
        let at = self.at(access.span);
        let amount = self.amount(&access.amount, scope)?;
        let (now, before) = (access.amount.is_inexact(true), access.amount.is_inexact(false));
        let star = access.amount.has_star();
        let chosen = format!("Chosen {{ now: {now}, before: {before}, star: {star} }}");
        let cells = |cells: std::ops::Range<u32>| -> String {
            let parts: Vec<_> = cells.map(|cell| format!("Part::Cell({cell})")).collect();
            format!("[{}]", parts.join(", "))
        };
        let (receiver, parts) = match &access.target {
            Target::Cell { receiver, cell } => (receiver, cells(*cell..cell + 1)),
            Target::AllFields { receiver, declared } => (receiver, cells(1..declared + 1)),
            Target::Predicate { receiver, predicate } => {
                (receiver, format!("[Part::Predicate({predicate})]"))
            }
            Target::Elements { elements, .. } | Target::Predicates { elements, .. } => {
                let parts = match &access.target {
                    Target::Predicates { predicate, .. } => {
                        format!("[Part::Predicate({predicate})]")
                    }
                    Target::Elements { cells: wanted, .. } => cells(wanted.clone()),
                    _ => String::new(),
                };
                let (all, place) = (self.value(elements, scope)?, self.at(elements.span));
                return Ok(format!(
                    "{{ let q = {all}; t.demand_each(ask, (&q, {place}), &{parts}, \
                     &mut |t| Ok({amount}), ({chosen}, {at}))?; }}\n"
                ));
            }
        };
        let object = self.object(receiver, receiver.span, scope)?;
        Ok(format!(
            "{{ let o = {object}; let amount = {amount}; \
             t.demand(ask, &o, {parts}, amount, {chosen}, {at})?; }}\n"
        ))
    }
}
