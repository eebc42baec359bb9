//! The names that a tree declares and mentions, and the size of the tree.

use front::grow_stack;
use rustc_hash::FxHashSet;

use crate::source::Name;
use crate::syntax::walk::{Visitor, visit};
use crate::syntax::{
    Expr, ExprKind, Ident, MacroBody, Member, MemberKind, Method, Node, NodeKind, OldLabel, Stmt,
    StmtKind, Type, TypeKind, TypedName,
};

use super::Size;

/// Returns the names in a macro's body.
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

/// Returns the names that a member declares for the whole program and that no variable may have,
/// which leaves out those of axioms.
pub(super) fn of_member(member: &Member) -> Vec<Name> {
    let names: Vec<&Ident> = match &member.kind {
        MemberKind::Program(_) | MemberKind::Import(_) | MemberKind::Define(_) => Vec::new(),
        MemberKind::Fields(fields) => fields.iter().map(|field| &field.name).collect(),
        MemberKind::Predicate(predicate) => vec![&predicate.name],
        MemberKind::Function(function) => vec![&function.name],
        MemberKind::Method(method) => vec![&method.name],
        MemberKind::Domain(domain) => {
            let functions = domain.functions.iter().map(|function| &function.name);
            functions.chain([&domain.name]).collect()
        }
        MemberKind::Adt(adt) => {
            let constructors = adt.constructors.iter();
            constructors.map(|constructor| &constructor.name).chain([&adt.name]).collect()
        }
    };
    names.into_iter().map(|ident| ident.name.clone()).collect()
}

/// Returns the locals that the bodies of a method declare.
pub(super) fn locals_of_method(method: &Method) -> FxHashSet<Name> {
    let mut names = Names::default();
    for implementation in &method.implementations {
        names.implementation(implementation);
    }
    names.locals
}

/// Returns all names in an expression.
pub(super) fn of_expr(expr: &Expr) -> FxHashSet<Name> {
    let mut names = Names::default();
    names.expr(expr);
    names.mentioned
}

/// Names of a tree, by what is done with them.
#[derive(Default)]
pub(super) struct Names {
    /// Locals, which live on behind the statement that declares them.
    pub(super) locals: FxHashSet<Name>,
    /// Variables that an expression or a statement binds.
    pub(super) bound: FxHashSet<Name>,
    pub(super) labels: FxHashSet<Name>,
    /// All of them, and whatever else has a name.
    pub(super) mentioned: FxHashSet<Name>,
}

impl Names {
    fn mention(&mut self, ident: &Ident) {
        self.mentioned.insert(ident.name.clone());
    }

    fn bind(&mut self, variables: &[TypedName]) {
        self.bound.extend(names_of(variables));
    }

    fn declare(&mut self, variables: &[TypedName]) {
        self.locals.extend(names_of(variables));
    }
}

impl Visitor<'_> for Names {
    fn ty(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Named { name, .. } => self.mention(name),
            TypeKind::MacroCall { name, arguments } => {
                self.mention(name);
                self.mentioned.extend(arguments.iter().map(|argument| argument.0.clone()));
            }
            _ => {}
        }
        visit::ty(self, ty);
    }

    fn typed_name(&mut self, name: &TypedName) {
        self.mention(&name.name);
        visit::typed_name(self, name);
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Ident(name) => {
                self.mentioned.insert(name.clone());
            }
            ExprKind::Call { name, .. }
            | ExprKind::Field { name, .. }
            | ExprKind::PredicateInstance { name, .. }
            | ExprKind::Old { label: OldLabel::Label(name), .. } => self.mention(name),
            ExprKind::Let { variable, .. } => {
                self.bound.insert(variable.name.clone());
                self.mention(variable);
            }
            ExprKind::Quantified { variables, .. } | ExprKind::ForPerm { variables, .. } => {
                self.bind(variables);
            }
            ExprKind::New(Some(fields)) => fields.iter().for_each(|field| self.mention(field)),
            _ => {}
        }
        visit::expr(self, expr);
    }

    fn stmt(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Var { variables, .. } => self.declare(variables),
            StmtKind::QuasihavocAll { variables, .. } => self.bind(variables),
            StmtKind::Goto(label) => self.mention(label),
            StmtKind::Label { name, .. } => {
                self.labels.insert(name.name.clone());
                self.mention(name);
            }
            // A macro of its own, with names of its own.
            StmtKind::Define(_) => return,
            _ => {}
        }
        visit::stmt(self, statement);
    }

    fn node(&mut self, node: &Node) {
        if let NodeKind::Loop { graph, .. } = &node.kind {
            self.declare(&graph.locals);
        }
        visit::node(self, node);
    }
}

fn names_of(variables: &[TypedName]) -> impl Iterator<Item = Name> {
    variables.iter().map(|variable| variable.name.name.clone())
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
