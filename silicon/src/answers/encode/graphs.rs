//! Graphs, as written and as the engine sees them.

use super::Encoder;
use sil::cfg;
use sil::program::*;

impl Encoder<'_> {
    pub(super) fn graph(&mut self, graph: &Graph) {
        let Graph { locals, nodes, entry, span } = graph;
        self.ids(locals);
        self.number(*entry);
        self.span(*span);
        self.all(nodes, |this, Node { label, invariants, decreases, kind, annotations, span }| {
            this.raw(*label);
            this.exprs(invariants);
            this.decreases(decreases);
            this.annotations(annotations);
            this.span(*span);
            match kind {
                NodeKind::Block { statements, terminator } => {
                    this.tag(0);
                    this.stmts(statements);
                    let Terminator { kind, span } = terminator;
                    this.span(*span);
                    match kind {
                        TerminatorKind::Goto(label) => {
                            this.tag(0);
                            this.raw(*label);
                        }
                        TerminatorKind::Branch { condition, then, otherwise } => {
                            this.tag(1);
                            this.expr(condition);
                            this.raw(*then);
                            this.raw(*otherwise);
                        }
                        TerminatorKind::Next => this.tag(2),
                        TerminatorKind::Halt => this.tag(3),
                        TerminatorKind::Dead => this.tag(4),
                    }
                }
                NodeKind::Loop { condition, exits, graph, then } => {
                    this.tag(1);
                    this.maybe(condition.as_ref(), Self::expr);
                    this.all(exits, |this, &label| this.raw(label));
                    this.graph(graph);
                    this.maybe(then.as_ref(), |this, &label| this.raw(label));
                }
            }
        });
    }

    /// A body with termination checks.
    pub(super) fn cfg(&mut self, graph: &cfg::Cfg) {
        self.number(graph.blocks.len());
        self.raw(graph.entry);
        for (id, block) in graph.blocks.iter() {
            let cfg::Block { name, label, parent, kind, annotations, span } = block;
            let join = graph.join_point(id);
            self.maybe(join.as_ref(), |this, &block| this.raw(block));
            self.text(name);
            self.maybe(label.as_ref(), |this, &label| this.raw(label));
            self.maybe(parent.as_ref(), |this, &block| this.raw(block));
            self.annotations(annotations);
            self.span(*span);
            match kind {
                cfg::BlockKind::Basic { statements, terminator } => {
                    self.tag(0);
                    self.stmts(statements);
                    let cfg::Terminator { kind, span } = terminator;
                    self.span(*span);
                    match kind {
                        cfg::TerminatorKind::Goto(block) => {
                            self.tag(0);
                            self.raw(*block);
                        }
                        cfg::TerminatorKind::Branch { condition, then, otherwise } => {
                            self.tag(1);
                            self.expr(condition);
                            self.raw(*then);
                            self.raw(*otherwise);
                        }
                        cfg::TerminatorKind::Next => self.tag(2),
                        cfg::TerminatorKind::Halt => self.tag(3),
                        cfg::TerminatorKind::Dead => self.tag(4),
                    }
                }
                cfg::BlockKind::Loop(it) => {
                    let cfg::Loop {
                        condition,
                        invariants,
                        decreases,
                        entry,
                        then,
                        exits,
                        written,
                        labels,
                    } = it;
                    self.tag(1);
                    self.maybe(condition.as_ref(), Self::expr);
                    self.exprs(invariants);
                    self.decreases(decreases);
                    self.raw(*entry);
                    self.maybe(then.as_ref(), |this, &block| this.raw(block));
                    self.all(exits, |this, &block| this.raw(block));
                    self.ids(written);
                    self.all(labels, |this, &label| this.raw(label));
                }
            }
        }
    }
}
