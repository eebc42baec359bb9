//! Members: methods, functions, predicates, and the kinds of objects.

use chalice::Span;

use super::exprs::constant;
use super::stmts::blamed_as;
use super::{Context, Emitter, Member, Out, Ty};
use crate::code::{AmountExpr, Expr, Frame, Kind};

impl Emitter<'_> {
    pub(super) fn member(&mut self, member: Member) -> Out<String> {
        match member {
            Member::Method(number) => self.method(number),
            Member::Function(number) => self.function(number),
            Member::Predicate(number) => self.predicate(number),
            Member::Class(number) => self.class(number),
            Member::Channel(number) => self.channel(number),
            Member::Token(number) => {
                let name = format!("token of {}", self.code.methods[number as usize].name);
                Ok(kind(&format!("TOKEN{number}"), &name, &["joinable".to_owned()], None))
            }
        }
    }

    fn class(&mut self, number: u32) -> Out<String> {
        let class = &self.code.classes[number as usize];
        let (name, cells) = (format!("CLASS{number}"), &class.cell_names);
        if !self.checks || class.invariants.is_empty() {
            return Ok(kind(&name, &class.name, cells, None));
        }
        let scope = Context { frame: &class.frame, method: None };
        let clauses = self.clauses(&class.invariants, scope)?;
        let contract = format!("inv{number}");
        Ok(format!(
            "{}fn {contract}(t: &mut Thread, ask: &mut Transfer, s0: &Value, _: &[Value]) -> \
             Res<()> {{\n{clauses}Ok(())\n}}\n",
            kind(&name, &class.name, cells, Some(&contract))
        ))
    }

    fn channel(&mut self, number: u32) -> Out<String> {
        let channel = &self.code.channels[number as usize];
        let (name, cells) = (format!("CHANNEL{number}"), ["mu".to_owned()]);
        let (true, Some(clause)) = (self.checks, &channel.where_clause) else {
            return Ok(kind(&name, &channel.name, &cells, None));
        };
        let scope = Context { frame: &channel.frame, method: None };
        let asks = self.assertion(clause, scope)?;
        let mut message = String::new();
        for slot in 1..=channel.parameters {
            let value = match Self::ty(&channel.frame, slot as u32) {
                Ty::Int => ".int()",
                Ty::Bool => ".truth()",
                Ty::Value => ".clone()",
            };
            message.push_str(&format!("let s{slot} = message[{}]{value};\n", slot - 1));
        }
        let contract = format!("where{number}");
        Ok(format!(
            "{}fn {contract}(t: &mut Thread, ask: &mut Transfer, s0: &Value, message: &[Value]) \
             -> Res<()> {{\n{message}{asks}Ok(())\n}}\n",
            kind(&name, &channel.name, &cells, Some(&contract))
        ))
    }

    fn predicate(&mut self, number: u32) -> Out<String> {
        let predicate = &self.code.predicates[number as usize];
        let scope = Context { frame: &predicate.frame, method: None };
        let asks = self.assertion(&predicate.body, scope)?;
        Ok(format!(
            "fn p{number}(t: &mut Thread, ask: &mut Transfer, s0: &Value) -> Res<()> \
             {{\n{asks}Ok(())\n}}\n"
        ))
    }

    fn function(&mut self, number: u32) -> Out<String> {
        let function = &self.code.functions[number as usize];
        let frame = &function.frame;
        let scope = Context { frame, method: None };
        let Some(body) = function.body.as_ref().or(function.definition.as_ref()) else {
            return super::refuse(function.span, "a function without a body");
        };
        let result = function.parameters + 1;
        let ty = Self::ty(frame, result as u32);
        let body = self.typed(body, ty, scope)?;
        let at = self.at(function.span);
        let has_fraction = function.requires.iter().any(mentions_read);
        let requires = if self.checks && !function.requires.is_empty() {
            format!("Some({})", self.asks(&function.requires, scope)?)
        } else {
            "None".to_owned()
        };
        let measure = if self.checks && !function.circle.is_empty() {
            let numbers: Out<Vec<_>> =
                function.decreases.iter().map(|one| self.int(one, scope)).collect();
            format!("Some(&mut |t| Ok(vec![{}]))", numbers?.join(", "))
        } else {
            "None".to_owned()
        };
        let ensures = self.clauses(&function.ensures, scope)?;
        let circle = function.circle.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        Ok(format!(
            "fn f{number}(t: &mut Thread, place: value::Place, {}) -> Res<{}> {{\n\
             let function = Function {{ number: {number}, at: {at}, has_fraction: {has_fraction}, \
             circle: &[{circle}] }};\n\
             t.apply(function, place, {requires}, {measure}, |t| Ok({body}), \
             |t, ask, s{result}| {{ let s{result} = s{result}.clone(); {ensures} Ok(()) }})\n}}\n",
            self.formals(frame, function.parameters, true),
            ty.text(),
        ))
    }

    fn formals(&self, frame: &Frame, parameters: usize, lent: bool) -> String {
        let each = |slot: usize| {
            let ty = Self::ty(frame, slot as u32);
            format!("s{slot}: {}", if lent { ty.lent() } else { ty.text() })
        };
        (0..=parameters).map(each).collect::<Vec<_>>().join(", ")
    }

    fn method(&mut self, number: u32) -> Out<String> {
        let code = self.code;
        let method = &code.methods[number as usize];
        let frame = &method.frame;
        let scope = Context { frame, method: Some((number, method.parameters + 1)) };
        let mut opened = String::new();
        if self.checks {
            let at = self.at(method.span);
            for predicate in &method.opened {
                let own = format!("{} Ok(())", self.own(predicate, "unfold", scope)?);
                let failed = findings::ErrorId::UnfoldFailed;
                opened.push_str(&format!("{};\n", blamed_as(failed, Some(&at), "()", &own)));
            }
        }
        let body = self.body(method, scope)?;
        let requires = self.clauses(&method.requires, Context { frame, method: None })?;
        let olds = self.olds.remove(&number).unwrap_or_default();
        let (mut fields, mut values) = (String::new(), String::new());
        for (at, (ty, text)) in olds.iter().enumerate() {
            fields.push_str(&format!("o{at}: Res<{}>, ", ty.text()));
            values.push_str(&format!("o{at}: t.past(|t| Ok({text})), "));
        }
        let first = method.parameters + 1;
        let mut results = String::new();
        for slot in first..first + method.results {
            results.push_str(&format!("{}, ", Self::ty(frame, slot as u32).text()));
        }
        let mut slots = String::new();
        for (slot, initial) in frame.initial.iter().enumerate().skip(first) {
            let ty = Ty::of(initial).text();
            let initial = constant(initial, Span::default())?;
            slots.push_str(&format!("let mut s{slot}: {ty} = {initial};\n"));
        }
        let lent = self.formals(frame, method.parameters, true);
        let owned = self.formals(frame, method.parameters, false);
        let pre = if self.checks {
            format!(
                "fn pre{number}(t: &mut Thread, ask: &mut Transfer, {lent}) -> Res<()> \
                 {{\n{requires}Ok(())\n}}\n"
            )
        } else {
            String::new()
        };
        Ok(format!(
            "// {}\nstruct Old{number} {{ {fields} }}\n\
             fn old{number}(t: &mut Thread, {lent}) -> Old{number} {{ Old{number} {{ {values} }} }}\n\
             {pre}fn m{number}(t: &mut Thread, old: Old{number}, {owned}) -> Res<({results})> \
             {{\n{slots}{opened}{body}}}\n",
            method.name
        ))
    }
}

/// Does an assertion mention the read fraction of its context?
fn mentions_read(e: &Expr) -> bool {
    fn is_read(amount: &AmountExpr) -> bool {
        match amount {
            AmountExpr::Read => true,
            AmountExpr::Add(parts) | AmountExpr::Sub(parts) => {
                is_read(&parts.0) || is_read(&parts.1)
            }
            AmountExpr::Scale(parts) => is_read(&parts.1),
            _ => false,
        }
    }
    e.any(&mut |part| match &part.kind {
        Kind::Access(access) => is_read(&access.amount),
        Kind::Unfolding(parts) => is_read(&parts.0.amount),
        _ => false,
    })
}

/// Returns the kind of objects as a static.
fn kind(static_name: &str, name: &str, cells: &[String], contract: Option<&str>) -> String {
    let contract = contract.map_or_else(|| "None".to_owned(), |name| format!("Some({name})"));
    format!(
        "static {static_name}: Kind = Kind {{ name: {name:?}, cells: &{cells:?}, contract: \
         {contract} }};\n"
    )
}
