//! The declarations that names in a Chalice program mean, read off the resolved program.
//!
//! A node of the program says what it means and where it stands, not where in it the name stands.
//! So the name is looked for in the text of the node, outside of the texts of its parts: there it
//! occurs once.

use std::ops::Range;

use chalice::Span;
use chalice::program::{
    Access, AccessTarget, Block, ConditionRef, Declaration, EvalState, Expr, ExprKind, FieldRef,
    Local, LocalId, LocalKind, Member, MethodId, OutVariable, Program, Rhs, Stmt, StmtKind, walk,
};
use rustc_hash::FxHashMap;

use crate::tokens::{Kind, Token};

/// A variable, and where it is declared.
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) shown: String,
    pub(crate) declared: Range<usize>,
    pub(crate) is_parameter: bool,
}

/// The meaning of names.
#[derive(Default)]
pub(crate) struct Names {
    /// By where a name is used: where what it means is declared.
    pub(crate) uses: FxHashMap<usize, usize>,
    pub(crate) variables: Vec<Variable>,
}

/// Returns the names of a program; `tokens` are those of its text.
pub(crate) fn names(program: &Program, text: &str, tokens: &[Token]) -> Names {
    let mut walk = Walk { program, text, tokens, names: Names::default() };
    for (_, Local { name, ty, kind, span, .. }) in program.locals.iter() {
        let Some(declared) = walk.find(*span, &[], name) else { continue };
        walk.names.variables.push(Variable {
            name: name.clone(),
            shown: format!("{name}: {}", ty.show(program)),
            declared,
            is_parameter: matches!(kind, LocalKind::Parameter | LocalKind::Result),
        });
    }
    for declaration in &program.declarations {
        match declaration {
            Declaration::Class(class) => {
                let class = &program.classes[*class];
                class.invariants.iter().for_each(|it| walk.expr(it));
                let (start, end) = (class.span.start, class.span.end);
                // Inherited members stand elsewhere, and are told there.
                let is_own = |span: Span| start <= span.start && span.end <= end;
                let own = class.members.iter().filter(|member| is_own(program.span_of(**member)));
                own.for_each(|&member| walk.member(member));
            }
            Declaration::Channel(channel) => {
                program.channels[*channel].where_clause.iter().for_each(|it| walk.expr(it));
            }
        }
    }
    walk.names
}

struct Walk<'p> {
    program: &'p Program,
    text: &'p str,
    tokens: &'p [Token],
    names: Names,
}

impl Walk<'_> {
    fn member(&mut self, member: Member) {
        let program = self.program;
        match member {
            Member::Field(_) => {}
            Member::Method(method) => {
                let method = &program.methods[method];
                let clauses = method.requires.iter().chain(&method.ensures);
                let measures = method.decreases.iter().map(|measure| &measure.number);
                clauses.chain(&method.lock_changes).chain(measures).for_each(|it| self.expr(it));
                self.block(&method.body);
            }
            Member::Function(function) => {
                let function = &program.functions[function];
                let clauses = function.requires.iter().chain(&function.ensures);
                let measures = function.decreases.iter().map(|measure| &measure.number);
                clauses.chain(&function.body).chain(measures).for_each(|it| self.expr(it));
            }
            Member::Predicate(predicate) => self.expr(&program.predicates[predicate].body),
            Member::Condition(condition) => {
                program.conditions[condition].where_clause.iter().for_each(|it| self.expr(it));
            }
        }
    }

    /// Returns where in a span a name stands, outside of some parts of it.
    fn find(&self, span: Span, parts: &[Span], name: &str) -> Option<Range<usize>> {
        let Range { start, end } = span.range();
        let first = self.tokens.partition_point(|token| token.range.start < start);
        let inside = self.tokens[first..].iter().take_while(|token| token.range.end <= end);
        let is_in = |part: &Span, at: usize| part.range().contains(&at);
        inside
            .filter(|token| token.kind == Kind::Word && &self.text[token.range.clone()] == name)
            .find(|token| !parts.iter().any(|part| is_in(part, token.range.start)))
            .map(|token| token.range.clone())
    }

    /// The name of what is declared at `declared` is used in `span`, outside of `parts`.
    fn used(&mut self, span: Span, parts: &[Span], name: &str, declared: Span) {
        if let Some(found) = self.find(span, parts, name) {
            self.names.uses.insert(found.start, declared.range().start);
        }
    }

    fn local(&mut self, span: Span, local: LocalId) {
        let Local { name, span: declared, .. } = &self.program.locals[local];
        self.used(span, &[], name, *declared);
    }

    fn field(&mut self, span: Span, parts: &[Span], field: FieldRef) {
        if let FieldRef::Declared(field) = field {
            let field = &self.program.fields[field];
            self.used(span, parts, &field.name, field.name_span);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        let program = self.program;
        expr.for_each(&mut |expr| {
            let span = expr.span;
            let parts = || {
                let mut parts = Vec::new();
                expr.for_each_child(&mut |part| parts.extend(self.written(part)));
                parts
            };
            match &expr.kind {
                ExprKind::Local(local) | ExprKind::Assigned(local) => self.local(span, *local),
                ExprKind::FieldRead { field, .. } => self.field(span, &parts(), *field),
                ExprKind::Apply { function, .. } => {
                    let function = &program.functions[*function];
                    self.used(span, &parts(), &function.name, function.name_span);
                }
                ExprKind::BackPointers { field, .. } => {
                    self.field(span, &parts(), FieldRef::Declared(*field));
                }
                ExprKind::Unfolding { access, .. } | ExprKind::Access(access) => {
                    self.access(access);
                }
                ExprKind::Eval { state, .. } => {
                    if let EvalState::Fork { method, .. } = &**state {
                        let method = &program.methods[*method];
                        self.used(span, &parts(), &method.name, method.name_span);
                    }
                }
                ExprKind::Int(_)
                | ExprKind::Bool(_)
                | ExprKind::Null
                | ExprKind::String(_)
                | ExprKind::This
                | ExprKind::Result
                | ExprKind::WaitLevel
                | ExprKind::LockBottom
                | ExprKind::Unary { .. }
                | ExprKind::Binary { .. }
                | ExprKind::And(_)
                | ExprKind::Or(_)
                | ExprKind::Implies { .. }
                | ExprKind::Conditional { .. }
                | ExprKind::Old(_)
                | ExprKind::Length(_)
                | ExprKind::Seq(_)
                | ExprKind::Set(_)
                | ExprKind::Range { .. }
                | ExprKind::Index { .. }
                | ExprKind::Slice { .. }
                | ExprKind::Quantified { .. }
                | ExprKind::Holds { .. }
                | ExprKind::Credit { .. } => {}
            }
        });
    }

    /// Where an expression stands; an implied `this` stands nowhere.
    fn written(&self, expr: &Expr) -> Option<Span> {
        let is_written = !matches!(expr.kind, ExprKind::This)
            || self.text.get(expr.span.range()).is_some_and(|text| text.contains("this"));
        is_written.then_some(expr.span)
    }

    /// The name in an access; what stands in it is walked through by others.
    fn access(&mut self, access: &Access) {
        let program = self.program;
        let mut parts = Vec::new();
        access.for_each_child(&mut |part| parts.extend(self.written(part)));
        match &access.target {
            AccessTarget::Field { field, .. } | AccessTarget::ElementsField { field, .. } => {
                self.field(access.span, &parts, *field);
            }
            AccessTarget::BackPointers { field, .. } => {
                self.field(access.span, &parts, FieldRef::Declared(*field));
            }
            AccessTarget::Predicate { predicate, .. }
            | AccessTarget::ElementsPredicate { predicate, .. } => {
                let predicate = &program.predicates[*predicate];
                self.used(access.span, &parts, &predicate.name, predicate.name_span);
            }
            AccessTarget::AllFields { .. } | AccessTarget::ElementsAllFields { .. } => {}
        }
    }

    fn outs(&mut self, outs: &[OutVariable]) {
        outs.iter().for_each(|out| self.local(out.span, out.local));
    }

    fn block(&mut self, block: &Block) {
        let mut rest: Vec<&Stmt> = block.stmts.iter().collect();
        while let Some(stmt) = rest.pop() {
            // Statements that were made for the program have no names.
            if matches!(&stmt.kind, StmtKind::Prove(_))
                || matches!(&stmt.kind, StmtKind::Block(block) if block.is_ghost)
            {
                continue;
            }
            self.stmt(stmt);
            walk::each_expr_of_stmt(stmt, &mut |it| self.expr(it));
            walk::each_block(stmt, &mut |inner| rest.extend(&inner.stmts));
        }
    }

    /// The method that a call or fork names.
    fn called(&mut self, span: Span, outs: &[OutVariable], method: MethodId, operands: &[&Expr]) {
        let method = &self.program.methods[method];
        let parts = operands.iter().filter_map(|it| self.written(it));
        let parts: Vec<Span> = parts.chain(outs.iter().map(|out| out.span)).collect();
        self.used(span, &parts, &method.name, method.name_span);
        self.outs(outs);
    }

    /// The names in a statement itself; what stands in it is walked through by others.
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::AssignLocal { local, target_span, .. } => self.local(*target_span, *local),
            StmtKind::AssignField { receiver, field, target_span, .. } => {
                let parts: Vec<Span> = self.written(receiver).into_iter().collect();
                self.field(*target_span, &parts, FieldRef::Declared(*field));
            }
            StmtKind::Call { outs, receiver, method, arguments } => {
                let operands: Vec<&Expr> = arguments.iter().chain([receiver]).collect();
                self.called(stmt.span, outs, *method, &operands);
            }
            StmtKind::Fork { token, receiver, method, arguments } => {
                let operands: Vec<&Expr> = arguments.iter().chain([receiver]).collect();
                self.called(stmt.span, token.as_slice(), *method, &operands);
            }
            StmtKind::Specification { targets: outs, .. }
            | StmtKind::Join { outs, .. }
            | StmtKind::Receive { outs, .. } => self.outs(outs),
            StmtKind::Fold(access) | StmtKind::Unfold(access) => self.access(access),
            StmtKind::Wait(ConditionRef { receiver, condition })
            | StmtKind::Signal(ConditionRef { receiver, condition })
            | StmtKind::SignalAll(ConditionRef { receiver, condition }) => {
                let condition = &self.program.conditions[*condition];
                let parts: Vec<Span> = self.written(receiver).into_iter().collect();
                self.used(stmt.span, &parts, &condition.name, condition.name_span);
            }
            StmtKind::Assert(_)
            | StmtKind::Prove(_)
            | StmtKind::Assume(_)
            | StmtKind::Block(_)
            | StmtKind::Declare { .. }
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::Lock { .. }
            | StmtKind::Share { .. }
            | StmtKind::Reorder { .. }
            | StmtKind::Unshare(_)
            | StmtKind::Acquire { .. }
            | StmtKind::Release { .. }
            | StmtKind::Downgrade(_)
            | StmtKind::Free(_)
            | StmtKind::Send { .. } => {}
        }
        if let Some(Rhs::New { initialisers, .. }) = walk::rhs_of(stmt) {
            for one in initialisers {
                self.field(one.span, &[one.value.span], FieldRef::Declared(one.field));
            }
        }
    }
}
