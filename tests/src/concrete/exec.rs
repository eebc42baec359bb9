//! Statements.

use num_traits::{One, Zero};
use sil::source::Name;
use sil::syntax::{BinaryOp, Block, Body, Expr, ExprKind, Method, Stmt, StmtKind};

use super::state::{Target, Wand};
use super::{
    Amount, Declarations, Evaluator, Heap, PREFIX, State, Stuck, Value, shape, statements,
};

/// A run of a method.
#[derive(Clone)]
pub struct Run<'d> {
    pub declarations: &'d Declarations,
    pub state: State,
    /// How many more statements it may execute.
    pub fuel: u32,
    /// Where in the text it is the last assertion stands.
    asserted: u32,
    /// The line of the assertion that ended the run, counted from 0.
    failed: Option<u32>,
}

impl<'d> Run<'d> {
    pub fn new(declarations: &'d Declarations, state: State) -> Self {
        Self { declarations, state, fuel: 2000, asserted: 0, failed: None }
    }

    pub fn evaluator(&self) -> Evaluator<'_> {
        Evaluator::new(self.declarations, &self.state)
    }

    /// Begins the method here: what `old` means.
    pub fn enter(&mut self) {
        self.state.entry = self.state.heap.clone();
    }

    /// Executes the statements of a text.
    ///
    /// # Errors
    /// Why the run ends before their end. The state is then of no use.
    pub fn text(&mut self, text: &str) -> Result<(), Stuck> {
        let statements = statements(text)?;
        self.failed = None;
        let result = self.block(&statements);
        if result.is_err() && self.failed.is_some() {
            let before = (self.asserted as usize).saturating_sub(PREFIX.len());
            let lines = text.get(..before).map_or(0, |start| start.matches('\n').count());
            self.failed = Some(lines as u32);
        }
        result
    }

    /// The line of the text, counted from 0, of the assertion that ended the run, if one did.
    pub fn failed_assertion(&self) -> Option<u32> {
        self.failed
    }

    /// Executes statements in their order.
    ///
    /// # Errors
    /// Why the run ends before their end. The state is then of no use.
    pub fn block(&mut self, statements: &[Stmt]) -> Result<(), Stuck> {
        statements.iter().try_for_each(|one| self.statement(one))
    }

    fn statement(&mut self, statement: &Stmt) -> Result<(), Stuck> {
        self.fuel = self.fuel.checked_sub(1).ok_or_else(|| Stuck::new("a long run"))?;
        match &statement.kind {
            StmtKind::Inhale(expr) | StmtKind::Assume(expr) => {
                self.state.heap = self.evaluator().produce(expr)?;
                self.check_what_is_aside()?;
            }
            StmtKind::Exhale(expr) => self.change(|here, heap| here.consume(expr, heap))?,
            StmtKind::Assert(expr) => {
                let holds = self.evaluator().consume(expr, &mut self.state.heap.clone());
                if holds.is_err() {
                    self.asserted = expr.span.start;
                    self.failed = Some(0);
                }
                holds?;
            }
            StmtKind::Fold(access) => self.change(|here, heap| here.fold(access, heap))?,
            StmtKind::Unfold(access) => self.change(|here, heap| here.unfold(access, heap))?,
            StmtKind::Var { variables, initialiser } => match (&variables[..], initialiser) {
                ([variable], Some(value)) => self.assign_variable(&variable.name.name, value)?,
                (variables, None) => {
                    for variable in variables {
                        let value = Value::default_of(&variable.ty);
                        self.state.store.insert(variable.name.name.clone(), value);
                    }
                }
                _ => return Err(Stuck::new("several variables with one value")),
            },
            StmtKind::Assign { targets, value } => self.assign(targets, value)?,
            StmtKind::Expr(call) => {
                self.call(call)?;
            }
            StmtKind::If { condition, then, otherwise } => {
                if self.evaluator().truth(condition)? {
                    self.block(&then.statements)?;
                } else if let Some(otherwise) = otherwise {
                    self.block(&otherwise.statements)?;
                }
            }
            StmtKind::While { condition, invariants, body, .. } => {
                self.repeat(condition, invariants, body)?;
            }
            StmtKind::Block(block) => self.block(&block.statements)?,
            StmtKind::Label { name, invariants, .. } if invariants.is_empty() => {
                self.state.labels.insert(name.name.clone(), self.state.heap.clone());
            }
            StmtKind::Package { wand, script } => self.package(wand, script.as_ref())?,
            StmtKind::Apply(wand) => self.apply(wand)?,
            // Values may change; here they do not.
            StmtKind::Quasihavoc { condition, .. } => {
                condition.iter().try_for_each(|expr| self.evaluator().eval(expr).map(|_| ()))?;
            }
            _ => return Err(Stuck::new("a statement that runs do not know")),
        }
        Ok(())
    }

    /// Changes the heap by a rule that reads the heap before.
    fn change(
        &mut self,
        rule: impl FnOnce(&Evaluator<'_>, &mut Heap) -> Result<(), Stuck>,
    ) -> Result<(), Stuck> {
        let mut heap = self.state.heap.clone();
        rule(&self.evaluator(), &mut heap)?;
        self.state.heap = heap;
        Ok(())
    }

    fn assign_variable(&mut self, name: &Name, value: &Expr) -> Result<(), Stuck> {
        let value = match &value.kind {
            ExprKind::New(fields) => self.new_object(fields.as_deref())?,
            ExprKind::Call { name, .. } if self.declarations.methods.contains_key(&name.name) => {
                let mut results = self.call(value)?;
                results.pop().ok_or_else(|| Stuck::new("a method without result"))?
            }
            _ => self.evaluator().eval(value)?,
        };
        self.state.store.insert(name.clone(), value);
        Ok(())
    }

    fn assign(&mut self, targets: &[Expr], value: &Expr) -> Result<(), Stuck> {
        let [target] = targets else { return Err(Stuck::new("several targets")) };
        match &target.kind {
            ExprKind::Ident(name) if self.state.store.contains_key(name) => {
                self.assign_variable(name, value)
            }
            ExprKind::Field { receiver, name } => {
                let object = self.evaluator().object(receiver)?;
                let value = self.evaluator().eval(value)?;
                if !self.state.heap.writable(object, &name.name) {
                    return Err(Stuck::new("no permission to write"));
                }
                self.state.heap.set_value(object, &name.name, value);
                Ok(())
            }
            _ => Err(Stuck::new("a target that runs do not know")),
        }
    }

    fn new_object(&mut self, fields: Option<&[sil::syntax::Ident]>) -> Result<Value, Stuck> {
        self.state.objects += 1;
        let object = self.state.objects;
        let chosen = |name: &Name| fields.is_none_or(|all| all.iter().any(|one| one.name == *name));
        for (field, ty) in &self.declarations.fields {
            self.state.heap.set_value(object, field, Value::default_of(ty));
            if chosen(field) {
                let target = Target::Field(object, field.clone());
                self.state.heap.add(target, &Amount::one())?;
            }
        }
        Ok(Value::Ref(object))
    }

    /// Checks that permission set aside by loops and held permission together are at most all of a
    /// field.
    fn check_what_is_aside(&self) -> Result<(), Stuck> {
        if self.state.aside.is_empty() {
            return Ok(());
        }
        let mut whole = self.state.heap.clone();
        for frame in &self.state.aside {
            whole.add_all(frame)?;
            whole.wands.extend(frame.wands.iter().cloned());
        }
        self.evaluator().check(&whole)
    }

    /// Runs a loop: each iteration has what the invariants give, and nothing else.
    fn repeat(&mut self, condition: &Expr, invariants: &[Expr], body: &Block) -> Result<(), Stuck> {
        let frame = self.give(invariants)?;
        self.state.aside.push(frame);
        while self.evaluator().truth(condition)? {
            self.block(&body.statements)?;
            self.give(invariants)?;
        }
        let mut frame = self.state.aside.pop().expect("it was set aside above");
        frame.values.clone_from(&self.state.heap.values);
        frame.add_all(&self.state.heap)?;
        frame.wands.append(&mut self.state.heap.wands);
        self.state.heap = frame;
        Ok(())
    }

    /// Goes on with what some assertions ask for, and yields the rest.
    ///
    /// # Errors
    /// An assertion that does not hold.
    pub fn give(&mut self, assertions: &[Expr]) -> Result<Heap, Stuck> {
        let mut rest = self.state.heap.clone();
        for assertion in assertions {
            self.evaluator().consume(assertion, &mut rest)?;
        }
        self.state.heap = self.state.heap.without(&rest);
        Ok(rest)
    }

    /// Runs a method that is called, with what its precondition gives; its results.
    fn call(&mut self, call: &Expr) -> Result<Vec<Value>, Stuck> {
        let ExprKind::Call { name, arguments, .. } = &call.kind else {
            return Err(Stuck::new("no call"));
        };
        let method = self.declarations.methods.get(&name.name);
        let method = method.ok_or_else(|| Stuck(format!("no method {}", name.name)))?;
        let arguments = self.evaluator().values(arguments)?;
        let mut callee = Run { state: self.state.clone(), ..*self };
        let names = method.formals.iter().map(|formal| formal.name.name.clone());
        callee.state.store = names.zip(arguments).collect();
        callee.state.labels.clear();
        for result in &method.returns {
            let value = Value::default_of(&result.ty);
            callee.state.store.insert(result.name.name.clone(), value);
        }
        let mut rest = callee.give(&method.contract.preconditions)?;
        callee.enter();
        callee.block(body_of(method)?)?;
        callee.give(&method.contract.postconditions)?;
        rest.values = callee.state.heap.values.clone();
        rest.add_all(&callee.state.heap)?;
        self.fuel = callee.fuel;
        self.state.objects = callee.state.objects;
        self.state.heap = rest;
        let result = |name: &Name| callee.state.store.get(name).cloned();
        let results: Option<_> = method.returns.iter().map(|one| result(&one.name.name)).collect();
        results.ok_or_else(|| Stuck::new("a result without value"))
    }

    /// Puts into a wand what its right-hand side asks for beyond its left-hand side.
    fn package(&mut self, wand: &Expr, script: Option<&Block>) -> Result<(), Stuck> {
        let (left, right) = sides(wand)?;
        let mut inner = self.clone();
        inner.state.heap = Heap { values: self.state.heap.values.clone(), ..Heap::default() };
        let given = inner.evaluator().produce(left)?;
        inner.state.heap = self.state.heap.clone();
        inner.state.heap.add_all(&given)?;
        let before = inner.state.heap.clone();
        inner.state.lhs = Some(given.clone());
        if let Some(script) = script {
            inner.block(&script.statements)?;
        }
        let mut after = inner.state.heap.clone();
        inner.evaluator().consume(right, &mut after)?;
        let mut footprint = Vec::new();
        for (target, amount) in &before.held {
            let used = amount - after.amount(target);
            let own = used - given.amount(target);
            if own > Amount::zero() {
                self.state.heap.take(target, &own)?;
                footprint.push((target.clone(), own));
            }
        }
        self.state.heap.wands.push(Wand { shape: shape(wand), footprint });
        Ok(())
    }

    fn apply(&mut self, wand: &Expr) -> Result<(), Stuck> {
        let (left, right) = sides(wand)?;
        let mut lhs = self.state.heap.clone();
        let before = self.state.heap.clone();
        self.change(|here, heap| {
            here.consume(left, heap)?;
            here.consume(wand, heap)
        })?;
        lhs.held.clone_from(&before.without(&self.state.heap).held);
        self.state.lhs = Some(lhs);
        self.state.heap = self.evaluator().produce(right)?;
        self.state.lhs = None;
        Ok(())
    }
}

fn sides(wand: &Expr) -> Result<(&Expr, &Expr), Stuck> {
    match &wand.kind {
        ExprKind::Binary { op: BinaryOp::Wand, left, right } => Ok((left, right)),
        _ => Err(Stuck::new("no wand")),
    }
}

fn body_of(method: &Method) -> Result<&[Stmt], Stuck> {
    match method.implementations.first().map(|one| &one.body) {
        Some(Body::Structured(block)) => Ok(&block.statements),
        _ => Err(Stuck::new("a method without body")),
    }
}
