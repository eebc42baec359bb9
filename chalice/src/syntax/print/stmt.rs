//! Statements and refinement patterns.

use front::grow_stack;

use super::Printer;
use crate::syntax::{
    Block, Bounds, DeclModifiers, Expr, ExprKind, Generated, Ident, Initialiser, Pattern,
    PatternPart, Rhs, Stmt, StmtKind,
};

impl Printer {
    pub(super) fn block(&mut self, block: &Block) {
        self.braces(|printer| printer.stmts(&block.stmts));
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.line();
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        grow_stack(|| self.stmt_kind(&stmt.kind));
    }

    fn stmt_kind(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Block(block) => return self.block(block),
            StmtKind::LockThis(block) => {
                self.put("[[");
                self.indent += 1;
                self.stmts(&block.stmts);
                self.indent -= 1;
                self.line();
                return self.put("]]");
            }
            StmtKind::Lock { target, mode, body } => {
                self.put(mode.word());
                self.put("lock ");
                self.parenthesised(target);
                self.put(" ");
                return self.block(body);
            }
            StmtKind::If { arms, otherwise } => {
                for (position, arm) in arms.iter().enumerate() {
                    self.put(if position == 0 { "if " } else { " else if " });
                    self.parenthesised(&arm.condition);
                    self.put(" ");
                    self.block(&arm.body);
                }
                if let Some(otherwise) = otherwise {
                    self.put(" else ");
                    self.stmt(otherwise);
                }
                return;
            }
            StmtKind::While { guard, specs, body } => {
                self.put("while ");
                self.parenthesised(guard);
                self.specs(specs);
                self.line();
                return self.block(body);
            }
            StmtKind::Assert(claim) => self.words("assert ", claim),
            StmtKind::Assume(fact) => self.words("assume ", fact),
            StmtKind::Unshare(target) => self.words("unshare ", target),
            StmtKind::Downgrade(target) => self.words("downgrade ", target),
            StmtKind::Free(target) => self.words("free ", target),
            StmtKind::Fold(access) => self.words("fold ", access),
            StmtKind::Unfold(access) => self.words("unfold ", access),
            StmtKind::Wait(condition) => self.words("wait ", condition),
            StmtKind::Signal { condition, is_for_all: false } => self.words("signal ", condition),
            StmtKind::Signal { condition, is_for_all: true } => {
                self.words("signal forall ", condition);
            }
            StmtKind::Acquire { target, mode } => {
                self.put(mode.word());
                self.words("acquire ", target);
            }
            StmtKind::Release { target, mode } => {
                self.put(mode.word());
                self.words("release ", target);
            }
            StmtKind::Share { target, bounds } => {
                self.words("share ", target);
                self.bounds(bounds);
            }
            StmtKind::Reorder { target, bounds } => {
                self.words("reorder ", target);
                self.bounds(bounds);
            }
            StmtKind::Declare { modifiers, formal, value } => {
                self.modifiers(*modifiers);
                self.formal(formal);
                if let Some(value) = value {
                    self.put(" := ");
                    self.rhs(value);
                }
            }
            StmtKind::Generated(generated) => match &**generated {
                Generated::Keep { name, value } => {
                    self.put("ghost var ");
                    self.ident(name);
                    self.words(" := ", value);
                }
                Generated::Ghost(block) => self.block(block),
                Generated::Prove { claim, .. } => self.words("assert ", claim),
            },
            StmtKind::Specification { modifiers, targets, pre, post } => {
                self.modifiers(*modifiers);
                self.list(targets, Self::formal);
                self.put(" [ ");
                if let Some(pre) = pre {
                    self.words("", pre);
                    self.put(", ");
                }
                self.words("", post);
                self.put(" ]");
            }
            StmtKind::Assign { target, value } => {
                self.words("", target);
                self.put(" := ");
                self.rhs(value);
            }
            StmtKind::Call { outs, receiver, method, arguments } => {
                self.put("call ");
                self.outs(outs);
                self.call(receiver.as_ref(), method, arguments);
            }
            StmtKind::Fork { token, receiver, method, arguments } => {
                self.put("fork ");
                self.outs(token.as_slice());
                self.call(receiver.as_ref(), method, arguments);
            }
            StmtKind::Join { outs, token } => {
                self.put("join ");
                self.outs(outs);
                self.words("", token);
            }
            StmtKind::Receive { outs, channel } => {
                self.put("receive ");
                self.outs(outs);
                self.words("", channel);
            }
            StmtKind::Send { channel, arguments } => {
                self.put("send ");
                match channel.kind {
                    ExprKind::Name(_) | ExprKind::Select { .. } => self.postfix(channel),
                    _ => self.parenthesised(channel),
                }
                self.arguments(arguments);
            }
        }
        self.put(";");
    }

    fn words(&mut self, words: &str, expr: &Expr) {
        self.put(words);
        self.expr(expr);
    }

    fn modifiers(&mut self, modifiers: DeclModifiers) {
        self.put(if modifiers.is_ghost { "ghost " } else { "" });
        self.put(match modifiers {
            DeclModifiers { is_spec: true, .. } => "spec ",
            DeclModifiers { is_const: true, .. } => "const ",
            _ => "var ",
        });
    }

    fn outs(&mut self, outs: &[Ident]) {
        if !outs.is_empty() {
            self.list(outs, Self::ident);
            self.put(" := ");
        }
    }

    fn rhs(&mut self, rhs: &Rhs) {
        match rhs {
            Rhs::Expr(value) => self.expr(value),
            Rhs::New(new) => {
                self.put("new ");
                self.ident(&new.class);
                if !new.initialisers.is_empty() {
                    self.put(" { ");
                    self.list(&new.initialisers, Self::initialiser);
                    self.put(" }");
                }
                self.bounds(&new.bounds);
            }
        }
    }

    fn initialiser(&mut self, initialiser: &Initialiser) {
        self.ident(&initialiser.field);
        self.words(" := ", &initialiser.value);
    }

    fn bounds(&mut self, bounds: &Bounds) {
        for (word, exprs) in [(" above ", &bounds.lower), (" below ", &bounds.upper)] {
            if !exprs.is_empty() {
                self.put(word);
                self.list(exprs, Self::expr);
            }
        }
    }

    pub(super) fn pattern(&mut self, pattern: &Pattern) {
        self.braces(|printer| {
            for part in &pattern.parts {
                printer.line();
                grow_stack(|| printer.pattern_part(part));
            }
        });
    }

    fn pattern_part(&mut self, part: &PatternPart) {
        match part {
            PatternPart::Keep => self.put("_;"),
            PatternPart::KeepAny => self.put("*;"),
            PatternPart::If { then, otherwise } => {
                self.put("if ");
                self.pattern(then);
                if let Some(otherwise) = otherwise {
                    self.put(" else ");
                    self.pattern(otherwise);
                }
            }
            PatternPart::While { invariants, body } => {
                self.put("while");
                self.specs(invariants);
                self.line();
                self.pattern(body);
            }
            PatternPart::ReplaceBlock(body) => {
                self.put("replaces * by ");
                self.block(body);
            }
            PatternPart::ReplaceOne { targets, body } => {
                self.put("replaces ");
                self.list(targets, Self::ident);
                self.put(" by ");
                self.block(body);
            }
            PatternPart::Insert(stmt) => self.stmt(stmt),
        }
    }
}
