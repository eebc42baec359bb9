//! Statements. A body is a list with jumps: each stretch that something jumps to is an arm of one
//! `match`, and `pc` says which is next.

use std::collections::BTreeSet;

use chalice::program::LockMode;
use findings::ErrorId;

use super::exprs::{constant, valued};
use super::{Context, Emitter, Member, Out, Ty, refuse};
use crate::code::{
    Access, Bound, Bounds, CallSite, Expr, Initialiser, Instr, Kind, Method, Op, Rhs, Target,
};
use crate::step::{keyword, kind};

impl Emitter<'_> {
    /// Returns the body of a method.
    pub(super) fn body(&mut self, method: &Method, scope: Context<'_>) -> Out<String> {
        let mut leaders = BTreeSet::from([0]);
        for instr in &*method.body {
            match &instr.op {
                Op::Jump(to) | Op::Branch { otherwise: to, .. } => {
                    leaders.insert(*to);
                }
                Op::LoopTest(number) | Op::LoopBack(number) => {
                    let described = &method.loops[*number as usize];
                    leaders.extend([described.head, described.exit]);
                }
                _ => {}
            }
        }
        let mut arms = String::new();
        for &leader in &leaders {
            arms.push_str(&format!("{leader} => {{\n"));
            let mut at = leader;
            let mut falls_through = true;
            while let Some(instr) = method.body.get(at as usize) {
                if at != leader && leaders.contains(&at) {
                    break;
                }
                arms.push_str(&self.statement(method, instr, scope)?);
                at += 1;
                let is_end = matches!(instr.op, Op::Jump(_) | Op::Return | Op::LoopBack(_));
                falls_through = !is_end;
                if is_end {
                    break;
                }
            }
            if falls_through {
                arms.push_str(&format!("pc = {at};\n"));
            }
            arms.push_str("}\n");
        }
        Ok(format!("let mut pc = 0_u32;\nloop {{ match pc {{\n{arms}_ => unreachable!(),\n}} }}\n"))
    }

    /// Something that can fail, blamed on the statement.
    fn blamed(&self, op: &Op, ty: &str, text: &str) -> String {
        match text.strip_prefix("Ok(").and_then(|text| text.strip_suffix(')')) {
            Some(plain) if !text.contains('?') => format!("({plain})"),
            _ => blamed_as(kind(op), None, ty, text),
        }
    }

    fn statement(&mut self, method: &Method, instr: &Instr, scope: Context<'_>) -> Out<String> {
        let at = self.at(instr.span);
        let op = &instr.op;
        Ok(match op {
            Op::Assert(..) if !self.checks => String::new(),
            Op::Assert(e, obligation) => {
                let mut text =
                    format!("t.check(|t, ask| {{ {} Ok(()) }})", self.assertion(e, scope)?);
                let mut error = ErrorId::AssertFailed;
                if let Some(obligation) = obligation {
                    error = obligation.error;
                    let (reason, words) = (obligation.reason.id(), &obligation.words);
                    text = format!("told({text}, {reason:?}, {words:?})");
                }
                format!("blamed({text}, {:?}, Some({at}))?;\n", error.id())
            }
            Op::Assume(e) if !e.is_pure => {
                return refuse(e.span, "an assumption about permission");
            }
            Op::Assume(e) => {
                let asks = self.assertion(e, scope)?;
                let text = format!("t.assume({at}, |t, ask| {{ {asks} Ok(()) }})?; Ok(())");
                format!("{};\n", blamed_as(kind(op), None, "()", &text))
            }
            Op::Havoc { slot, flag, .. } => {
                let initial = constant(&scope.frame.initial[*slot as usize], instr.span)?;
                let flag = flag.map_or_else(String::new, |flag| format!(" s{flag} = false;"));
                format!("s{slot} = {initial};{flag}\n")
            }
            Op::Assign { slot, value, flag } => {
                let ty = Self::ty(scope.frame, *slot);
                let value = self.right_hand_side(value, ty, instr, scope)?;
                let assign = match flag {
                    Some(flag) => {
                        let once = format!("value::assign_once(&mut s{flag}, {at})");
                        format!("blamed({once}, {:?}, None)?;", kind(op).id())
                    }
                    None => String::new(),
                };
                format!(
                    "let v = {}; {assign} s{slot} = v;\n",
                    self.blamed(op, ty.text(), &ok(&value))
                )
            }
            Op::AssignField { tracked: Some(_), .. } => {
                return refuse(instr.span, "a tracked field");
            }
            Op::AssignField { receiver, cell, value, .. } => {
                let object = self.object(receiver, receiver.span, scope)?;
                let ask = if self.checks {
                    format!("t.ask_full(&o, {cell}, Flaw::NoWrite, {at})?; ")
                } else {
                    String::new()
                };
                let value = self.right_hand_side(value, Ty::Value, instr, scope)?;
                let text =
                    format!("let o = {object}; {ask}let v = {value}; o.set({cell}, v); Ok(())");
                format!("{};\n", blamed_as(kind(op), None, "()", &text))
            }
            Op::Specification(_) => return refuse(instr.span, "a specification statement"),
            Op::Call(site) => self.call(site, instr, scope)?,
            Op::Fork(site) => self.fork(site, instr, scope)?,
            Op::Join { outs, token } => {
                let object = self.object(token, token.span, scope)?;
                let text = format!("let o = {object}; t.join(&o, {at})");
                let results = blamed_as(kind(op), None, "Vec<Value>", &text);
                format!("let r = {results};\n{}", self.store_values(outs, instr, scope))
            }
            Op::Jump(to) => format!("pc = {to}; continue;\n"),
            Op::Branch { condition, otherwise } => {
                let truth = self.truth(condition, scope)?;
                let truth = self.blamed(op, "bool", &ok(&truth));
                format!("if !{truth} {{ pc = {otherwise}; continue; }}\n")
            }
            Op::LoopEnter(_) | Op::LoopTest(_) | Op::LoopBack(_) => {
                self.loop_statement(method, instr, scope)?
            }
            Op::Return => self.finish(method, scope)?,
            Op::Fold(access) => self.trade_of(access, "fold", ErrorId::FoldFailed, instr, scope)?,
            Op::Unfold(access) => {
                self.trade_of(access, "unfold", ErrorId::UnfoldFailed, instr, scope)?
            }
            Op::Send { channel, arguments } => {
                let object = self.object(channel, channel.span, scope)?;
                let values = self.values(arguments, scope)?;
                let text = format!("let o = {object}; let m = {values}; t.send(&o, m, {at})");
                format!("{};\n", blamed_as(kind(op), None, "()", &text))
            }
            Op::Receive { outs, channel } => {
                let object = self.object(channel, channel.span, scope)?;
                let text = format!("let o = {object}; t.receive(&o, {at})");
                let results = blamed_as(kind(op), None, "Vec<Value>", &text);
                format!("let r = {results};\n{}", self.store_values(outs, instr, scope))
            }
            Op::Unsupported(_) => return refuse(instr.span, "this statement"),
            _ => self.lock_statement(instr, scope)?,
        })
    }

    fn lock_statement(&mut self, instr: &Instr, scope: Context<'_>) -> Out<String> {
        let at = self.at(instr.span);
        let mode = |mode: &LockMode| *mode == LockMode::Write;
        let (target, action) = match &instr.op {
            Op::Place { target, bounds, reorder } => {
                let name = if *reorder { "reorder" } else { "share" };
                let bounds = self.bounds(bounds, scope)?;
                (target, format!("t.{name}(&o, &mut |t| Ok({bounds}), {at})"))
            }
            Op::Unshare(target) => (target, format!("t.unshare(&o, {at})")),
            Op::Acquire { target, mode: how } => {
                (target, format!("t.acquire(&o, {}, {at})", mode(how)))
            }
            Op::Release { target, mode: how } => {
                (target, format!("t.release(&o, {}, {at})", mode(how)))
            }
            Op::Downgrade(target) => (target, format!("t.downgrade(&o, {at})")),
            Op::Free(target) => (target, format!("t.free(&o, {at})")),
            _ => return refuse(instr.span, "this statement"),
        };
        let object = self.object(target, target.span, scope)?;
        let text = format!("let o = {object}; {action}");
        Ok(format!("{};\n", blamed_as(kind(&instr.op), None, "()", &text)))
    }

    fn bounds(&mut self, bounds: &Bounds, scope: Context<'_>) -> Out<String> {
        if bounds.lower.is_empty() && bounds.upper.is_empty() {
            return Ok("t.above_all()".to_owned());
        }
        let mut sides = Vec::new();
        for side in [&bounds.lower, &bounds.upper] {
            let mut text = "let mut all = Vec::new();".to_owned();
            for bound in side {
                let one = match bound {
                    Bound::Wait(span) => format!("t.wait_bounds({})", self.at(*span)),
                    Bound::Level(e) | Bound::Object(e) => {
                        let (at, value) = (self.at(e.span), self.value(e, scope)?);
                        let is_level = matches!(bound, Bound::Level(_));
                        let name = if is_level { "level_bound" } else { "object_bound" };
                        format!(
                            "{{ let b = (|| -> Res<Value> {{ Ok({value}) }})(); t.{name}(b, {at})? }}"
                        )
                    }
                };
                text.push_str(&format!(" all.extend({one});"));
            }
            sides.push(format!("{{ {text} all }}"));
        }
        Ok(format!("({}, {})", sides[0], sides[1]))
    }

    fn right_hand_side(
        &mut self,
        value: &Rhs,
        ty: Ty,
        instr: &Instr,
        scope: Context<'_>,
    ) -> Out<String> {
        match value {
            Rhs::Expr(e) => self.typed(e, ty, scope),
            Rhs::New { class, initialisers } => self.new_object(*class, initialisers, instr, scope),
            Rhs::NewChannel { channel, bounds } => {
                self.need(Member::Channel(*channel));
                let bounds = self.bounds(bounds, scope)?;
                Ok(format!("{{ let b = {bounds}; t.allocate_channel(&CHANNEL{channel}, b)? }}"))
            }
        }
    }

    fn new_object(
        &mut self,
        class: u32,
        initialisers: &[Initialiser],
        instr: &Instr,
        scope: Context<'_>,
    ) -> Out<String> {
        self.need(Member::Class(class));
        let code = self.code;
        let mut text = String::new();
        for one in initialisers {
            if one.tracked.is_some() {
                return refuse(one.value.span, "a tracked field");
            }
            let value = self.value(&one.value, scope)?;
            text.push_str(&format!("let c{} = {value}; ", one.cell));
        }
        let mut cells = Vec::new();
        for (cell, ty) in (0..).zip(&code.classes[class as usize].cells) {
            let initial = crate::code::default_value(ty);
            cells.push(if initialisers.iter().any(|one| one.cell == cell) {
                format!("c{cell}")
            } else {
                valued(&constant(&initial, instr.span)?, Ty::of(&initial))
            });
        }
        Ok(format!("{{ {text}t.allocate(&CLASS{class}, vec![{}]) }}", cells.join(", ")))
    }

    /// Receiver and arguments as variables of their own, and how they are passed on.
    fn arguments(&mut self, site: &CallSite, scope: Context<'_>) -> Out<(String, Vec<Ty>)> {
        let callee = &self.code.methods[site.method as usize];
        let object = self.object(&site.receiver, site.receiver.span, scope)?;
        let mut text = format!("let a0 = Value::Ref({object});");
        let mut names = vec!["a0".to_owned()];
        let mut types = vec![Ty::Value];
        for (number, argument) in (1_u32..).zip(&site.arguments) {
            let ty = Self::ty(&callee.frame, number);
            let value = self.typed(argument, ty, scope)?;
            text.push_str(&format!(" let a{number} = {value};"));
            names.push(format!("a{number}"));
            types.push(ty);
        }
        Ok((format!("{text} Ok(({},))", names.join(", ")), types))
    }

    fn call(&mut self, site: &CallSite, instr: &Instr, scope: Context<'_>) -> Out<String> {
        let (at, code) = (self.at(instr.span), self.code);
        let callee = &code.methods[site.method as usize];
        let (arguments, types) = self.arguments(site, scope)?;
        let passed = types.iter().map(|ty| ty.text()).collect::<Vec<_>>().join(", ");
        let arguments =
            blamed_as(ErrorId::CallFailed, Some(&at), &format!("({passed},)"), &arguments);
        if code.classes[callee.class as usize].prints {
            let value = types.get(1).map(|ty| valued("a.1", *ty)).unwrap_or_default();
            return Ok(format!("let a = {arguments}; t.print(&{value});\n"));
        }
        self.need(Member::Method(site.method));
        let (lent, owned) = (passed_on(&types, true), passed_on(&types, false));
        let number = site.method;
        let grant = if self.checks {
            format!(
                "let granted = blamed(t.grant({}, &mut |t, ask| pre{number}(t, ask, {lent})), {:?}, \
                 Some({at}))?; t.push(granted);",
                callee.has_read_fraction,
                ErrorId::CallPrecondition.id()
            )
        } else {
            String::new()
        };
        Ok(format!(
            "{{ let a = {arguments}; t.deeper({at})?; let past = old{number}(t, {lent}); {grant} \
             let r = m{number}(t, past, {owned})?;\n{} }}\n",
            self.store(&site.outs, instr, scope)
        ))
    }

    fn fork(&mut self, site: &CallSite, instr: &Instr, scope: Context<'_>) -> Out<String> {
        let (at, code) = (self.at(instr.span), self.code);
        let callee = &code.methods[site.method as usize];
        let number = site.method;
        self.need(Member::Method(number));
        self.need(Member::Token(number));
        let (arguments, types) = self.arguments(site, scope)?;
        let passed = types.iter().map(|ty| ty.text()).collect::<Vec<_>>().join(", ");
        let failed = ErrorId::ExhaleFailed;
        let arguments = blamed_as(failed, Some(&at), &format!("({passed},)"), &arguments);
        let (lent, owned) = (passed_on(&types, true), passed_on(&types, false));
        let results: Vec<_> = (0..callee.results)
            .map(|at| valued(&format!("r.{at}"), self.result_ty(callee, at)))
            .collect();
        let requires = if self.checks {
            format!("&mut |t, ask| pre{number}(t, ask, {lent})")
        } else {
            "&mut |_, _| Ok(())".to_owned()
        };
        Ok(format!(
            "{{ let a = {arguments}; let past = old{number}(t, {lent}); \
             let granted = blamed(t.grant_to_new({requires}), {:?}, Some({at}))?; \
             let token = t.fork(&TOKEN{number}, granted, {at}, move |t| {{ \
             let r = m{number}(t, past, {owned})?; Ok(vec![{}]) }})?; let r = (token,);\n{} }}\n",
            failed.id(),
            results.join(", "),
            self.store(&site.outs, instr, scope)
        ))
    }

    fn result_ty(&self, callee: &Method, at: usize) -> Ty {
        Self::ty(&callee.frame, (callee.parameters + 1 + at) as u32)
    }

    /// Puts the results `r` where they are wanted.
    fn store(&self, outs: &[u32], instr: &Instr, scope: Context<'_>) -> String {
        let each =
            |(at, out): (usize, &u32)| format!("{}s{out} = r.{at};", self.once(*out, instr, scope));
        outs.iter().enumerate().map(each).collect()
    }

    /// Puts the values `r` where they are wanted.
    fn store_values(&self, outs: &[u32], instr: &Instr, scope: Context<'_>) -> String {
        let each = |(at, out): (usize, &u32)| {
            let once = self.once(*out, instr, scope);
            let as_kept = match Self::ty(scope.frame, *out) {
                Ty::Int => ".int()",
                Ty::Bool => ".truth()",
                Ty::Value => ".clone()",
            };
            format!("{once}s{out} = r[{at}]{as_kept};\n")
        };
        outs.iter().enumerate().map(each).collect()
    }

    fn once(&self, out: u32, instr: &Instr, scope: Context<'_>) -> String {
        let flag = scope.frame.constants.iter().find(|(slot, _)| *slot == out);
        flag.map_or_else(String::new, |(_, flag)| {
            format!("value::assign_once(&mut s{flag}, {})?; ", self.at(instr.span))
        })
    }

    fn loop_statement(
        &mut self,
        method: &Method,
        instr: &Instr,
        scope: Context<'_>,
    ) -> Out<String> {
        let (Op::LoopEnter(number) | Op::LoopTest(number) | Op::LoopBack(number)) = &instr.op
        else {
            return Ok(String::new());
        };
        let described = &method.loops[*number as usize];
        let at = self.at(keyword(described.span));
        let (head, exit) = (described.head, described.exit);
        if let Op::LoopTest(_) = &instr.op {
            let guard = self.truth(&described.guard, scope)?;
            let text =
                if self.checks { format!("t.goes_on(&mut |t| Ok({guard}))?") } else { guard };
            let goes_on = self.blamed(&instr.op, "bool", &ok(&text));
            return Ok(format!("if !{goes_on} {{ pc = {exit}; continue; }}\n"));
        }
        let is_back = matches!(instr.op, Op::LoopBack(_));
        let mut text = match (self.checks, is_back) {
            (false, false) => String::new(),
            (false, true) => format!("t.deeper({at})?;\n"),
            (true, _) => {
                let asks = self.asks(&described.invariants, scope)?;
                let listed = self.values(&described.lock_changes, scope)?;
                let listed = format!("&mut |t| Ok({listed})");
                let action = if is_back {
                    format!("t.repeat_loop({asks}, {listed}, {at})")
                } else {
                    let fraction = described.has_read_fraction;
                    format!("t.enter_loop({fraction}, {asks}, {listed}, {at})")
                };
                format!("blamed({action}, {:?}, None)?;\n", kind(&instr.op).id())
            }
        };
        if is_back {
            text.push_str(&format!("pc = {head}; continue;\n"));
        }
        Ok(text)
    }

    fn finish(&mut self, method: &Method, scope: Context<'_>) -> Out<String> {
        let first = method.parameters + 1;
        let results: Vec<_> = (first..first + method.results)
            .map(|slot| match Self::ty(scope.frame, slot as u32) {
                Ty::Value => format!("s{slot}.clone(),"),
                _ => format!("s{slot},"),
            })
            .collect();
        let mut text = String::new();
        if self.checks {
            for predicate in &method.closed {
                let own = self.own(predicate, "fold", scope)?;
                let place = self.at(predicate.span);
                let failed = ErrorId::PostconditionViolated;
                let own = format!("{own} Ok(())");
                text.push_str(&format!("{};\n", blamed_as(failed, Some(&place), "()", &own)));
            }
            let (at, asks) = (self.at(keyword(method.span)), self.asks(&method.ensures, scope)?);
            let listed = self.values(&method.lock_changes, scope)?;
            let finish = format!("t.finish({asks}, &mut |t| Ok({listed}), {at})");
            let failed = kind(&Op::Return).id();
            text.push_str(&format!("blamed({finish}, {failed:?}, None)?;\n"));
        }
        Ok(format!("{text}return Ok(({}));\n", results.concat()))
    }

    /// Predicates of the receiver that are opened and closed with the method (`-defaults`).
    pub(super) fn own(&mut self, predicate: &Expr, how: &str, scope: Context<'_>) -> Out<String> {
        match &predicate.kind {
            Kind::Implies(parts) => {
                let condition = self.truth(&parts.0, scope)?;
                Ok(format!("if {condition} {{ {} }}", self.own(&parts.1, how, scope)?))
            }
            Kind::Access(access) => Ok(format!("{}?;", self.traded(access, how, scope)?)),
            _ => Ok(String::new()),
        }
    }

    fn trade_of(
        &mut self,
        access: &Access,
        how: &str,
        error: ErrorId,
        instr: &Instr,
        scope: Context<'_>,
    ) -> Out<String> {
        let (at, text) = (self.at(instr.span), self.traded(access, how, scope)?);
        Ok(format!("{};\n", blamed_as(error, Some(&at), "()", &text)))
    }

    /// Folds or unfolds an instance.
    fn traded(&mut self, access: &Access, how: &str, scope: Context<'_>) -> Out<String> {
        let Target::Predicate { receiver, predicate } = &access.target else {
            return refuse(access.span, "folding of what is no predicate");
        };
        let object = self.object(receiver, receiver.span, scope)?;
        if !self.checks {
            return Ok(format!("{{ let o = {object}; Ok(()) }}"));
        }
        self.need(Member::Predicate(*predicate));
        let (at, trade) = (self.at(access.span), self.trade(access, scope)?);
        Ok(format!(
            "{{ let o = {object}; let this = Value::Ref(o.clone()); \
             t.{how}((&o, {predicate}), {trade}, &mut |t, ask| p{predicate}(t, ask, &this), {at}) }}"
        ))
    }
}

/// Returns an expression as a result.
fn ok(text: &str) -> String {
    format!("Ok({text})")
}

/// Writes a text that ends with a result, whose faults are blamed on a kind of error.
pub(super) fn blamed_as(kind: ErrorId, at: Option<&str>, ty: &str, text: &str) -> String {
    let at = at.map_or_else(|| "None".to_owned(), |at| format!("Some({at})"));
    format!("blamed((|| -> Res<{ty}> {{ {text} }})(), {:?}, {at})?", kind.id())
}

/// Returns the parts of `a`, as arguments.
fn passed_on(types: &[Ty], lent: bool) -> String {
    let each = |(at, ty): (usize, &Ty)| match ty {
        Ty::Value if lent => format!("&a.{at}"),
        _ => format!("a.{at}"),
    };
    types.iter().enumerate().map(each).collect::<Vec<_>>().join(", ")
}
