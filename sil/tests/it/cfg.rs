//! Bodies built by hand and the blocks they become.

mod graph;
mod natural_loops;
mod outlying;
mod structured;

use la_arena::Arena;
use sil::cfg::{BlockId, BlockKind, Cfg, TerminatorKind, build};
use sil::diagnostics::Diagnostic;
use sil::program::{
    self, Block, Body, Contract, Expr, ExprKind, Graph, Implementation, Label, LabelId, Local,
    LocalId, LocalKind, Method, Node, NodeKind, Program, Stmt, StmtKind, Terminator, Type,
};
use sil::source::Span;

use crate::common::unindented;

/// Builds bodies: labels are made when first named, statements are told apart by a number.
#[derive(Default)]
struct Maker {
    labels: Arena<Label>,
    locals: Arena<Local>,
}

impl Maker {
    fn label_id(&mut self, name: &str) -> LabelId {
        let known = self.labels.iter().find(|(_, label)| &*label.name == name).map(|(id, _)| id);
        known.unwrap_or_else(|| {
            self.labels.alloc(Label { name: name.into(), span: Span::default() })
        })
    }

    fn local(&mut self, name: &str) -> LocalId {
        self.locals.alloc(Local {
            name: name.into(),
            ty: Type::Int,
            kind: LocalKind::Variable,
            span: Span::default(),
        })
    }

    fn goto(&mut self, name: &str) -> Stmt {
        stmt(StmtKind::Goto(self.label_id(name)))
    }

    fn label(&mut self, name: &str) -> Stmt {
        let label = self.label_id(name);
        stmt(StmtKind::Label { label, invariants: Vec::new(), decreases: Vec::new() })
    }

    fn label_with_invariant(&mut self, name: &str) -> Stmt {
        let label = self.label_id(name);
        stmt(StmtKind::Label { label, invariants: vec![flag()], decreases: Vec::new() })
    }

    fn node(&mut self, name: &str, statements: Vec<Stmt>, terminator: TerminatorOf) -> Node {
        let kind = match terminator {
            TerminatorOf::Goto(target) => program::TerminatorKind::Goto(self.label_id(target)),
            TerminatorOf::Branch(then, otherwise) => program::TerminatorKind::Branch {
                condition: flag(),
                then: self.label_id(then),
                otherwise: self.label_id(otherwise),
            },
            TerminatorOf::Next => program::TerminatorKind::Next,
            TerminatorOf::Halt => program::TerminatorKind::Halt,
        };
        let terminator = Terminator { kind, span: Span::default() };
        self.graph_node(name, NodeKind::Block { statements, terminator })
    }

    fn loop_node(&mut self, name: &str, exits: &[&str], nodes: Vec<Node>, then: &str) -> Node {
        let exits = exits.iter().map(|exit| self.label_id(exit)).collect();
        let then = Some(self.label_id(then));
        let graph = Graph { locals: Vec::new(), nodes, entry: 0, span: Span::default() };
        self.graph_node(name, NodeKind::Loop { condition: Some(flag()), exits, graph, then })
    }

    fn graph_node(&mut self, name: &str, kind: NodeKind) -> Node {
        Node {
            label: self.label_id(name),
            invariants: Vec::new(),
            decreases: Vec::new(),
            kind,
            annotations: Vec::new(),
            span: Span::default(),
        }
    }

    fn structured(self, statements: Vec<Stmt>) -> (Option<Cfg>, Vec<Diagnostic>) {
        self.build(Body::Structured(block(statements)))
    }

    fn graph(self, nodes: Vec<Node>) -> (Option<Cfg>, Vec<Diagnostic>) {
        let span = Span::default();
        self.build(Body::Graph(Graph { locals: Vec::new(), nodes, entry: 0, span }))
    }

    fn build(self, body: Body) -> (Option<Cfg>, Vec<Diagnostic>) {
        let implementation = Implementation {
            name: None,
            labels: self.labels,
            body,
            annotations: Vec::new(),
            span: Span::default(),
        };
        let mut program = Program::default();
        let method = program.methods.alloc(Method {
            name: "m".into(),
            locals: self.locals,
            formals: Vec::new(),
            returns: Vec::new(),
            contract: Contract::default(),
            implementations: vec![implementation],
            annotations: Vec::new(),
            span: Span::default(),
        });
        let mut diagnostics = Vec::new();
        (build(&program, method, 0, &mut diagnostics), diagnostics)
    }
}

enum TerminatorOf {
    Goto(&'static str),
    Branch(&'static str, &'static str),
    Next,
    Halt,
}

fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, span: Span::default(), annotations: Vec::new() }
}

fn block(statements: Vec<Stmt>) -> Block {
    Block { statements, span: Span::default() }
}

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, ty: Type::Bool, span: Span::default(), annotations: Vec::new() }
}

fn flag() -> Expr {
    expr(ExprKind::Bool(true))
}

/// A simple statement.
fn step(number: u32) -> Stmt {
    stmt(StmtKind::Inhale(expr(ExprKind::Int(number.into()))))
}

fn when(then: Vec<Stmt>, otherwise: Vec<Stmt>) -> Stmt {
    let otherwise = (!otherwise.is_empty()).then(|| block(otherwise));
    stmt(StmtKind::If { condition: flag(), then: block(then), otherwise })
}

fn repeat(body: Vec<Stmt>) -> Stmt {
    let (invariants, decreases) = (Vec::new(), Vec::new());
    stmt(StmtKind::While { condition: flag(), invariants, decreases, body: block(body) })
}

/// One line a block: `name: steps -> where`, the blocks of a loop indented below it.
fn shown(cfg: &Cfg) -> String {
    let mut text = String::new();
    for (id, block) in cfg.blocks.iter() {
        let depth =
            std::iter::successors(block.parent, |&around| cfg.blocks[around].parent).count();
        let name = |id: BlockId| cfg.blocks[id].name.clone();
        let names = |ids: &[BlockId]| ids.iter().map(|&id| name(id)).collect::<Vec<_>>().join(",");
        let mut line = format!("{}{}:", "  ".repeat(depth), block.name);
        match &block.kind {
            BlockKind::Basic { statements, terminator } => {
                for statement in statements {
                    line += &match &statement.kind {
                        StmtKind::Inhale(Expr { kind: ExprKind::Int(number), .. }) => {
                            format!(" {number}")
                        }
                        StmtKind::Label { .. } => " label".to_owned(),
                        _ => " other".to_owned(),
                    };
                }
                line += &match &terminator.kind {
                    TerminatorKind::Goto(target) => format!(" -> {}", name(*target)),
                    TerminatorKind::Branch { then, otherwise, .. } => {
                        format!(" -> {} | {}", name(*then), name(*otherwise))
                    }
                    TerminatorKind::Next => " next".to_owned(),
                    TerminatorKind::Halt => " halt".to_owned(),
                    TerminatorKind::Dead => " dead".to_owned(),
                };
                if let Some(join) = cfg.join_point(id) {
                    line += &format!(" joins {}", name(join));
                }
            }
            BlockKind::Loop(inner) => {
                line += if inner.condition.is_some() { " while" } else { " loop" };
                line += &format!(" {{{}", name(inner.entry));
                line += "}";
                if let Some(then) = inner.then {
                    line += &format!(" then {}", name(then));
                }
                if !inner.exits.is_empty() {
                    line += &format!(" exits {}", names(&inner.exits));
                }
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[track_caller]
fn check(built: (Option<Cfg>, Vec<Diagnostic>), expected: &str) {
    let (cfg, diagnostics) = built;
    let messages: Vec<_> = diagnostics.iter().map(|finding| finding.message.clone()).collect();
    let shown = cfg.as_ref().map_or_else(String::new, shown);
    let found = format!("{shown}{}", messages.join("\n"));
    assert_eq!(found.trim_end(), unindented(expected), "found:\n{found}");
}
