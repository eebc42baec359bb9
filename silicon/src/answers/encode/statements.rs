//! Statements.

use super::{Encoder, Part};
use sil::program::*;

impl Encoder<'_> {
    pub(super) fn block(&mut self, block: &Block) {
        let Block { statements, span } = block;
        self.stmts(statements);
        self.span(*span);
    }

    pub(super) fn stmts(&mut self, statements: &[Stmt]) {
        self.all(statements, Self::stmt);
    }

    fn tagged<T>(&mut self, tag: u8, part: &T, encode: fn(&mut Self, &T)) {
        self.tag(tag);
        encode(self, part);
    }

    pub(super) fn stmt(&mut self, statement: &Stmt) {
        let Stmt { kind, span, annotations } = statement;
        self.span(*span);
        self.annotations(annotations);
        match kind {
            StmtKind::Var(variables) => {
                self.tag(0);
                self.ids(variables);
            }
            StmtKind::Assign { target, value } => {
                self.tag(1);
                self.raw(*target);
                self.expr(value);
            }
            StmtKind::FieldAssign { receiver, field, value } => {
                self.tag(2);
                self.expr(receiver);
                self.field(*field);
                self.expr(value);
            }
            StmtKind::New { target, fields } => {
                self.tag(3);
                self.raw(*target);
                self.all(fields, |this, &field| this.field(field));
            }
            StmtKind::Call { targets, method, arguments } => {
                self.tag(4);
                self.ids(targets);
                let name = &self.reader.program.methods[*method].name;
                self.reach(Part::Contract(*method), name);
                self.exprs(arguments);
            }
            StmtKind::Inhale(assertion) => self.tagged(5, assertion, Self::expr),
            StmtKind::Exhale(assertion) => self.tagged(6, assertion, Self::expr),
            StmtKind::Assert(assertion) => self.tagged(7, assertion, Self::expr),
            StmtKind::Assume(assertion) => self.tagged(8, assertion, Self::expr),
            StmtKind::Refute(assertion) => self.tagged(9, assertion, Self::expr),
            StmtKind::Unreachable => self.tag(10),
            StmtKind::Fold(access) => self.tagged(11, access, Self::access),
            StmtKind::Unfold(access) => self.tagged(12, access, Self::access),
            StmtKind::Package { wand, script } => {
                self.tag(13);
                self.expr(wand);
                self.block(script);
            }
            StmtKind::Apply { wand } => self.tagged(14, wand, Self::expr),
            StmtKind::Quasihavoc { condition, resource } => {
                self.tag(15);
                self.maybe(condition.as_ref(), Self::expr);
                self.resource(resource);
            }
            StmtKind::QuasihavocAll { variables, condition, resource } => {
                self.tag(16);
                self.ids(variables);
                self.maybe(condition.as_ref(), Self::expr);
                self.resource(resource);
            }
            StmtKind::Label { label, invariants, decreases } => {
                self.tag(17);
                self.raw(*label);
                self.exprs(invariants);
                self.decreases(decreases);
            }
            StmtKind::If { condition, then, otherwise } => {
                self.tag(18);
                self.expr(condition);
                self.block(then);
                self.maybe(otherwise.as_ref(), Self::block);
            }
            StmtKind::While { condition, invariants, decreases, body } => {
                self.tag(19);
                self.expr(condition);
                self.exprs(invariants);
                self.decreases(decreases);
                self.block(body);
            }
            StmtKind::Goto(label) => {
                self.tag(20);
                self.raw(*label);
            }
            StmtKind::Block(block) => self.tagged(21, block, Self::block),
        }
    }
}
