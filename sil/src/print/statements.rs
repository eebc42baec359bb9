//! Statements and structured bodies.

use front::grow_stack;

use super::Writer;
use super::expr::Printer;
use super::layout::Line;
use super::members::Context;
use super::origins;
use super::types::type_text;
use crate::program::{Block, Decreases, Expr, ExprKind, LocalId, Stmt, StmtKind};

impl Writer<'_> {
    /// `{ … }`, from the current position; leaves the line open behind the closing brace.
    pub(super) fn block(&mut self, context: Context<'_>, block: &Block) {
        self.out.push('{');
        if !block.statements.is_empty() {
            self.out.push('\n');
            self.indented(|writer| writer.statements(context, &block.statements));
            self.pad();
        }
        self.out.push('}');
    }

    /// The declarations of what was hoisted, then statements whose `var`s of the same variables are
    /// calls.
    pub(super) fn declared_statements(
        &mut self,
        context: Context<'_>,
        declarations: &[Stmt],
        statements: &[Stmt],
    ) {
        let Some((last, others)) = declarations.split_last() else {
            return self.statements(context, statements);
        };
        for declaration in others {
            self.line(|writer, line| writer.simple(context, line, &declaration.kind));
        }
        match (&last.kind, statements) {
            (StmtKind::Var(locals), [next, rest @ ..])
                if self.initialises(context, locals, last, next) =>
            {
                self.initialised(context, locals, next);
                self.statements(context, rest);
            }
            _ => {
                self.line(|writer, line| writer.simple(context, line, &last.kind));
                self.statements(context, statements);
            }
        }
    }

    pub(super) fn statements(&mut self, context: Context<'_>, statements: &[Stmt]) {
        let mut rest = statements;
        while let [statement, after @ ..] = rest {
            rest = after;
            if let (StmtKind::Var(locals), [next, ..]) = (&statement.kind, rest)
                && !locals.iter().any(|local| context.scope.supplied.contains(local))
                && self.initialises(context, locals, statement, next)
                && self.is_bare(context, statement)
            {
                self.initialised(context.below(statement.span), locals, next);
                rest = &rest[1..];
            } else {
                self.statement(context, statement);
            }
        }
    }

    /// One statement with its annotations. Where a declaration comes from is left out: nothing goes
    /// wrong there, and the reference takes an annotated one for no declaration.
    pub(super) fn statement(&mut self, context: Context<'_>, statement: &Stmt) {
        let is_declaration = matches!(statement.kind, StmtKind::Var(_));
        if !is_declaration || !statement.annotations.is_empty() {
            self.annotations(context.origin, statement.span, &statement.annotations);
        }
        let context = context.below(statement.span);
        grow_stack(|| match &statement.kind {
            StmtKind::If { condition, then, otherwise } => {
                self.conditional(context, condition, then, otherwise.as_ref());
            }
            StmtKind::While { condition, invariants, decreases, body } => {
                let has_clauses = !invariants.is_empty() || !decreases.is_empty();
                self.parenthesised(context, "while (", condition);
                if has_clauses {
                    self.out.push('\n');
                    self.clauses(context, invariants, decreases);
                    self.pad();
                } else {
                    self.out.push(' ');
                }
                self.block(context, body);
                self.out.push('\n');
            }
            StmtKind::Block(block) => {
                self.pad();
                self.block(context, block);
                self.out.push('\n');
            }
            StmtKind::Package { wand, script } => {
                self.clause(context, "package ", wand);
                self.out.pop();
                self.out.push(' ');
                self.block(context, script);
                self.out.push('\n');
            }
            StmtKind::Label { label, invariants, decreases } => {
                self.text_line(&format!("label {}", context.scope.label(*label)));
                self.clauses(context, invariants, decreases);
                // A statement follows: an `if` would be read as the condition of the clause.
                let is_open = decreases.last().is_some_and(|last| last.condition.is_none());
                if is_open && !self.out.ends_with(";\n") {
                    self.out.pop();
                    self.out.push_str(";\n");
                }
            }
            StmtKind::Var(locals)
                if locals.iter().any(|local| context.scope.supplied.contains(local)) =>
            {
                for &local in locals {
                    let supplier = self.havoc_method(&context.scope.locals[local].ty);
                    self.text_line(&format!("{} := {supplier}()", context.scope.local(local)));
                }
            }
            _ => self.line(|writer, line| writer.simple(context, line, &statement.kind)),
        });
    }

    /// The clauses of a loop, each on a line of its own.
    pub(super) fn clauses(
        &mut self,
        context: Context<'_>,
        invariants: &[Expr],
        decreases: &[Decreases],
    ) {
        self.indented(|writer| {
            for invariant in invariants {
                writer.clause(context, "invariant ", invariant);
            }
            writer.decreases(context, decreases);
        });
    }

    fn conditional(
        &mut self,
        context: Context<'_>,
        condition: &Expr,
        then: &Block,
        otherwise: Option<&Block>,
    ) {
        self.parenthesised(context, "if (", condition);
        self.out.push(' ');
        self.block(context, then);
        let mut otherwise = otherwise;
        while let Some(block) = otherwise {
            if let Some((condition, then, next)) = self.as_else_if(context, block) {
                self.out.push(' ');
                self.clause_in_line(context, "elseif (", condition);
                self.out.push_str(") ");
                self.block(context, then);
                otherwise = next;
            } else {
                self.out.push_str(" else ");
                self.block(context, block);
                otherwise = None;
            }
        }
        self.out.push('\n');
    }

    /// `keyword (condition)` on a new line, which stays open.
    fn parenthesised(&mut self, context: Context<'_>, keyword: &str, condition: &Expr) {
        self.pad();
        self.clause_in_line(context, keyword, condition);
        self.out.push(')');
    }

    fn clause_in_line(&mut self, context: Context<'_>, keyword: &str, expr: &Expr) {
        let mut line = Line::default();
        line.text(keyword);
        Printer::new(self.program, context.scope, context.annotations(), &mut line).print(expr);
        line.layout(self.indent, &mut self.out);
    }

    /// A statement that is one line.
    pub(super) fn simple(&self, context: Context<'_>, line: &mut Line, kind: &StmtKind) {
        let (scope, annotations) = (context.scope, context.annotations());
        let keyword_and_expr = match kind {
            StmtKind::Inhale(expr) => Some(("inhale ", expr)),
            StmtKind::Exhale(expr) => Some(("exhale ", expr)),
            StmtKind::Assert(expr) => Some(("assert ", expr)),
            StmtKind::Assume(expr) => Some(("assume ", expr)),
            StmtKind::Refute(expr) => Some(("refute ", expr)),
            StmtKind::Apply { wand } => Some(("apply ", wand)),
            _ => None,
        };
        if let Some((keyword, expr)) = keyword_and_expr {
            line.text(keyword);
            Printer::new(self.program, scope, annotations, line).print(expr);
            return;
        }
        match kind {
            StmtKind::Var(locals) => line.text(self.declaration(context, locals)),
            StmtKind::Assign { target, .. } | StmtKind::New { target, .. } => {
                line.text(format!("{} := ", scope.local(*target)));
                self.right_hand_side(context, line, kind);
            }
            StmtKind::FieldAssign { receiver, field, value } => {
                let field = &self.program.fields[*field].name;
                Printer::new(self.program, scope, annotations, line).print_field(receiver, field);
                line.text(" := ");
                Printer::new(self.program, scope, annotations, line).print(value);
            }
            StmtKind::Call { targets, .. } => {
                if !targets.is_empty() {
                    let targets: Vec<_> = targets.iter().map(|&it| scope.local(it)).collect();
                    line.text(format!("{} := ", targets.join(", ")));
                }
                self.right_hand_side(context, line, kind);
            }
            StmtKind::Fold(access) | StmtKind::Unfold(access) => {
                line.text(if matches!(kind, StmtKind::Fold(_)) { "fold " } else { "unfold " });
                Printer::new(self.program, scope, annotations, line).print_access(access);
            }
            StmtKind::Quasihavoc { condition, resource } => {
                line.text("quasihavoc ");
                self.havoc_target(context, line, condition.as_ref(), resource);
            }
            StmtKind::QuasihavocAll { variables, condition, resource } => {
                let variables: Vec<_> =
                    variables.iter().map(|&it| self.typed_name(scope, it)).collect();
                line.text(format!("quasihavocall {} :: ", variables.join(", ")));
                self.havoc_target(context, line, condition.as_ref(), resource);
            }
            StmtKind::Unreachable => line.text("unreachable"),
            StmtKind::Goto(label) => line.text(format!("goto {}", scope.label(*label))),
            // The others are handled by `statement`.
            _ => {}
        }
    }

    fn havoc_target(
        &self,
        context: Context<'_>,
        line: &mut Line,
        condition: Option<&Expr>,
        resource: &crate::program::Resource,
    ) {
        let (scope, annotations) = (context.scope, context.annotations());
        if let Some(condition) = condition {
            Printer::new(self.program, scope, annotations, line)
                .print_before_implication(condition);
            line.text(" ==> ");
        }
        Printer::new(self.program, scope, annotations, line).print_resource(resource);
    }

    fn right_hand_side(&self, context: Context<'_>, line: &mut Line, kind: &StmtKind) {
        match kind {
            StmtKind::Assign { value, .. } => {
                Printer::new(self.program, context.scope, context.annotations(), line).print(value);
            }
            StmtKind::New { fields, .. } => {
                let is_all = !fields.is_empty() && fields.len() == self.program.fields.len();
                let names: Vec<&str> = if is_all {
                    vec!["*"]
                } else {
                    fields.iter().map(|&field| &*self.program.fields[field].name).collect()
                };
                line.text(format!("new({})", names.join(", ")));
            }
            StmtKind::Call { method, arguments, .. } => {
                line.text(format!("{}(", self.program.methods[*method].name));
                line.begin(2);
                for (index, argument) in arguments.iter().enumerate() {
                    if index > 0 {
                        line.text(",");
                        line.space();
                    }
                    let annotations = context.annotations();
                    Printer::new(self.program, context.scope, annotations, line).print(argument);
                }
                line.end();
                line.text(")");
            }
            _ => {}
        }
    }

    fn declaration(&self, context: Context<'_>, locals: &[LocalId]) -> String {
        let variables: Vec<String> = locals
            .iter()
            .map(|&local| {
                let ty = type_text(self.program, &context.scope.locals[local].ty);
                format!("{}: {ty}", context.scope.local(local))
            })
            .collect();
        format!("var {}", variables.join(", "))
    }

    fn initialised(&mut self, context: Context<'_>, locals: &[LocalId], value: &Stmt) {
        self.line(|writer, line| {
            line.text(writer.declaration(context, locals));
            line.text(" := ");
            writer.right_hand_side(context, line, &value.kind);
        });
    }

    /// Tells whether a declaration and the statement behind it print as one: `var x: T := …`.
    fn initialises(
        &self,
        context: Context<'_>,
        locals: &[LocalId],
        declaration: &Stmt,
        next: &Stmt,
    ) -> bool {
        let targets_fit = match &next.kind {
            StmtKind::Assign { target, .. } | StmtKind::New { target, .. } => [*target] == *locals,
            StmtKind::Call { targets, .. } => targets == locals,
            _ => false,
        };
        targets_fit
            && next.annotations.is_empty()
            && declaration.annotations.is_empty()
            && !mentions(next, locals)
            && (declaration.span.origin == next.span.origin
                || self.is_bare(context, declaration) && self.is_bare(context, next))
    }

    /// Tells whether no annotation is printed before the statement.
    fn is_bare(&self, context: Context<'_>, statement: &Stmt) -> bool {
        statement.annotations.is_empty()
            && origins::between(self.program, context.origin, statement.span.origin).is_empty()
    }

    /// Returns the parts of an `else` block that prints as `elseif`.
    fn as_else_if<'b>(
        &self,
        context: Context<'_>,
        block: &'b Block,
    ) -> Option<(&'b Expr, &'b Block, Option<&'b Block>)> {
        let [statement] = &block.statements[..] else { return None };
        let StmtKind::If { condition, then, otherwise } = &statement.kind else { return None };
        self.is_bare(context, statement).then_some((condition, then, otherwise.as_ref()))
    }
}

/// Tells whether an expression of the statement mentions one of the variables.
fn mentions(statement: &Stmt, locals: &[LocalId]) -> bool {
    let mut found = false;
    statement.for_each_expr(|expr| {
        found |=
            expr.any(|expr| matches!(&expr.kind, ExprKind::Local(local) if locals.contains(local)));
    });
    found
}
