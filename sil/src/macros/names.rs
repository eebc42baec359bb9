//! Which names a tree declares and mentions, and how large it is.

use rustc_hash::FxHashSet;

use crate::source::Name;
use crate::stack::grow_stack;
use crate::syntax::{
    Block, Decreases, DecreasesKind, Expr, ExprKind, Ident, MacroBody, OldLabel, Stmt, StmtKind,
    Type, TypeKind, TypedName,
};

use super::Size;

/// The names in a macro's body.
pub(super) fn of_body(body: &MacroBody) -> Names {
    let mut names = Names::default();
    match body {
        MacroBody::Block(block) => names.block(block),
        MacroBody::Expr(expr) => names.expr(expr),
        MacroBody::Type(ty) => names.ty(ty),
        MacroBody::Empty => {}
    }
    names
}

/// All names in an expression.
pub(super) fn of_expr(expr: &Expr) -> FxHashSet<Name> {
    let mut names = Names::default();
    names.expr(expr);
    names.mentioned
}

/// Names of a tree, by what is done with them.
#[derive(Default)]
pub(super) struct Names {
    /// Locals and bound variables.
    pub(super) declared: FxHashSet<Name>,
    pub(super) labels: FxHashSet<Name>,
    /// All of them, and whatever else has a name.
    pub(super) mentioned: FxHashSet<Name>,
}

impl Names {
    fn declare(&mut self, variables: &[TypedName]) {
        for variable in variables {
            self.ty(&variable.ty);
            self.declare_name(&variable.name);
        }
    }

    fn declare_name(&mut self, ident: &Ident) {
        self.declared.insert(ident.name.clone());
        self.mention(ident);
    }

    fn mention(&mut self, ident: &Ident) {
        self.mentioned.insert(ident.name.clone());
    }

    fn ty(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Int | TypeKind::Bool | TypeKind::Perm | TypeKind::Ref => {}
            TypeKind::Seq(element) | TypeKind::Set(element) | TypeKind::Multiset(element) => {
                self.ty(element);
            }
            TypeKind::Map(key, value) => {
                self.ty(key);
                self.ty(value);
            }
            TypeKind::Named { name, arguments } => {
                self.mention(name);
                arguments.iter().for_each(|argument| self.ty(argument));
            }
            TypeKind::MacroCall { name, arguments } => {
                self.mention(name);
                self.mentioned.extend(arguments.iter().map(|argument| argument.0.clone()));
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Ident(name) => {
                self.mentioned.insert(name.clone());
            }
            ExprKind::Call { name, ascription, .. } => {
                self.mention(name);
                ascription.iter().for_each(|ty| self.ty(ty));
            }
            ExprKind::Field { name, .. } | ExprKind::PredicateInstance { name, .. } => {
                self.mention(name);
            }
            ExprKind::Old { label: OldLabel::Label(label), .. } => self.mention(label),
            ExprKind::Quantified { variables, .. } | ExprKind::ForPerm { variables, .. } => {
                self.declare(variables);
            }
            ExprKind::Let { variable, .. } => self.declare_name(variable),
            ExprKind::Literal { element, .. } => element.iter().for_each(|ty| self.ty(ty)),
            ExprKind::MapLiteral { types: Some((key, value)), .. } => {
                self.ty(key);
                self.ty(value);
            }
            ExprKind::New(Some(fields)) => fields.iter().for_each(|field| self.mention(field)),
            _ => {}
        }
        expr.for_each_child(&mut |child| grow_stack(|| self.expr(child)));
    }

    fn exprs(&mut self, exprs: &[Expr]) {
        exprs.iter().for_each(|expr| self.expr(expr));
    }

    fn decreases(&mut self, clauses: &[Decreases]) {
        for clause in clauses {
            if let DecreasesKind::Tuple(elements) = &clause.kind {
                self.exprs(elements);
            }
            clause.condition.iter().for_each(|condition| self.expr(condition));
        }
    }

    fn block(&mut self, block: &Block) {
        block.statements.iter().for_each(|statement| grow_stack(|| self.stmt(statement)));
    }

    fn stmt(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Inhale(expr)
            | StmtKind::Exhale(expr)
            | StmtKind::Assert(expr)
            | StmtKind::Assume(expr)
            | StmtKind::Refute(expr)
            | StmtKind::Fold(expr)
            | StmtKind::Unfold(expr)
            | StmtKind::Apply(expr)
            | StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Package { wand, script } => {
                self.expr(wand);
                script.iter().for_each(|script| self.block(script));
            }
            StmtKind::Quasihavoc { condition, resource } => {
                condition.iter().for_each(|condition| self.expr(condition));
                self.expr(resource);
            }
            StmtKind::QuasihavocAll { variables, condition, resource } => {
                self.declare(variables);
                condition.iter().for_each(|condition| self.expr(condition));
                self.expr(resource);
            }
            StmtKind::Var { variables, initialiser } => {
                self.declare(variables);
                initialiser.iter().for_each(|value| self.expr(value));
            }
            StmtKind::Assign { targets, value } => {
                self.exprs(targets);
                self.expr(value);
            }
            StmtKind::If { condition, then, otherwise } => {
                self.expr(condition);
                self.block(then);
                otherwise.iter().for_each(|block| self.block(block));
            }
            StmtKind::While { condition, invariants, decreases, body } => {
                self.expr(condition);
                self.exprs(invariants);
                self.decreases(decreases);
                self.block(body);
            }
            StmtKind::Goto(label) => self.mention(label),
            StmtKind::Label { name, invariants, decreases } => {
                self.labels.insert(name.name.clone());
                self.mention(name);
                self.exprs(invariants);
                self.decreases(decreases);
            }
            StmtKind::Block(block) => self.block(block),
            StmtKind::Define(_) => {}
        }
    }
}

/// Nodes and depth of a tree.
pub(super) fn size(expr: &Expr) -> Size {
    let mut size = Size { nodes: 1, depth: 1 };
    expr.for_each_child(&mut |child| {
        let child = grow_stack(|| self::size(child));
        size.nodes += child.nodes;
        size.depth = size.depth.max(child.depth + 1);
    });
    size
}
