//! Walking over parse trees: [`Visitor`] to read them, [`Rewriter`] to change them in place.
//!
//! Each method of the two traits is called with one node and does nothing but go on to the nodes
//! below it, in the order written. Whoever overrides one decides whether and when to go on, with
//! the function of the same name in [`visit`] or [`rewrite`].
//!
//! ```
//! use sil::build::{int, var};
//! use sil::syntax::walk::{Rewriter, rewrite};
//! use sil::syntax::{Expr, ExprKind};
//!
//! /// Replaces a variable, and counts how often.
//! struct Replace<'a>(&'a str, Expr, usize);
//!
//! impl Rewriter for Replace<'_> {
//!     fn expr(&mut self, expr: &mut Expr) {
//!         rewrite::expr(self, expr);
//!         if matches!(&expr.kind, ExprKind::Ident(name) if **name == *self.0) {
//!             *expr = self.1.clone();
//!             self.2 += 1;
//!         }
//!     }
//! }
//!
//! let mut sum = var("n") + var("n") * var("m");
//! let mut replace = Replace("n", int(1), 0);
//! replace.expr(&mut sum);
//! assert_eq!(replace.2, 2);
//! ```
//!
//! Invariant: no tree is too deep for a walk, whatever the stack of the thread.

use front::grow_stack;

use super::{
    Block, Body, Contract, Decreases, DecreasesKind, Expr, ExprKind, Graph, Implementation,
    MacroBody, Member, MemberKind, Node, NodeKind, Program, Stmt, StmtKind, TerminatorKind, Type,
    TypeKind, TypedName,
};

/// Makes a trait and the module of what its methods do by default, for shared or for mutable trees.
macro_rules! walk {
    (
        $(#[$doc:meta])*
        $walker:ident $module:ident $children:ident $iter:ident [$($life:lifetime)?] [$($mutable:tt)?]
    ) => {
        $(#[$doc])*
        pub trait $walker $(<$life>)? {
            /// A member of the program.
            fn member(&mut self, member: &$($life)? $($mutable)? Member) {
                $module::member(self, member);
            }

            /// One body of a method.
            fn implementation(&mut self, implementation: &$($life)? $($mutable)? Implementation) {
                $module::implementation(self, implementation);
            }

            /// Statements in braces: a body, a branch, a proof script, the body of a macro.
            fn block(&mut self, block: &$($life)? $($mutable)? Block) {
                $module::block(self, block);
            }

            /// A statement, with all that is nested in it.
            fn stmt(&mut self, stmt: &$($life)? $($mutable)? Stmt) {
                $module::stmt(self, stmt);
            }

            /// A block or a loop of a graph.
            fn node(&mut self, node: &$($life)? $($mutable)? Node) {
                $module::node(self, node);
            }

            /// A termination clause of a contract, a loop, a label or a node.
            fn decreases(&mut self, clause: &$($life)? $($mutable)? Decreases) {
                $module::decreases(self, clause);
            }

            /// An expression, with its operands.
            fn expr(&mut self, expr: &$($life)? $($mutable)? Expr) {
                $module::expr(self, expr);
            }

            /// A declared name: a field, parameter, local or bound variable.
            fn typed_name(&mut self, name: &$($life)? $($mutable)? TypedName) {
                $module::typed_name(self, name);
            }

            /// A type, with its arguments.
            fn ty(&mut self, ty: &$($life)? $($mutable)? Type) {
                $module::ty(self, ty);
            }
        }

        impl Expr {
            /// Calls `visit` on the expressions right below this one, in the order written.
            pub fn $children $(<$life>)? (
                & $($life)? $($mutable)? self,
                visit: &mut dyn FnMut(& $($life)? $($mutable)? Expr),
            ) {
                use ExprKind::*;
                match &$($mutable)? self.kind {
                    Int(_) | Bool(_) | Null | Result | NoPerm | FullPerm | Wildcard | Epsilon
                    | Ident(_) | New(_) => {}
                    Call { arguments: operands, .. }
                    | PredicateInstance { arguments: operands, .. }
                    | And(operands)
                    | Or(operands)
                    | Literal { elements: operands, .. } => operands.$iter().for_each(visit),
                    Field { receiver: one, .. }
                    | Unary { operand: one, .. }
                    | Cardinality(one)
                    | Old { body: one, .. }
                    | Perm(one)
                    | MapDomain(one)
                    | MapRange(one) => visit(one),
                    Binary { left: first, right: second, .. }
                    | Index { base: first, index: second }
                    | InhaleExhale(first, second)
                    | Range(first, second)
                    | ForPerm { resource: first, body: second, .. }
                    | Let { value: first, body: second, .. }
                    | Unfolding { access: first, body: second }
                    | Applying { wand: first, body: second }
                    | Asserting { assertion: first, body: second } => {
                        visit(first);
                        visit(second);
                    }
                    Conditional { condition: first, then: second, otherwise: third }
                    | Update { base: first, index: second, value: third } => {
                        visit(first);
                        visit(second);
                        visit(third);
                    }
                    Slice { base, low, high } => {
                        visit(base);
                        low.$iter().chain(high).for_each(|bound| visit(bound));
                    }
                    Acc { location, amount } => {
                        visit(location);
                        amount.$iter().for_each(|amount| visit(amount));
                    }
                    Quantified { triggers, body, .. } => {
                        triggers.$iter().flatten().for_each(&mut *visit);
                        visit(body);
                    }
                    MapLiteral { entries, .. } => {
                        for (key, value) in entries {
                            visit(key);
                            visit(value);
                        }
                    }
                }
            }
        }

        /// The default behaviour of the trait's methods: go on to the children of the node.
        pub mod $module {
            use super::*;

            /// Goes through all members.
            pub fn program<$($life,)? W: $walker $(<$life>)? + ?Sized>(
                walker: &mut W,
                program: &$($life)? $($mutable)? Program,
            ) {
                program.members.$iter().for_each(|member| walker.member(member));
            }

            /// Goes on to the types, clauses and bodies of a member.
            pub fn member<$($life,)? W: $walker $(<$life>)? + ?Sized>(
                walker: &mut W,
                member: &$($life)? $($mutable)? Member,
            ) {
                match &$($mutable)? member.kind {
                    MemberKind::Program(_) | MemberKind::Import(_) => {}
                    MemberKind::Define(define) => match &$($mutable)? define.body {
                        MacroBody::Block(body) => walker.block(body),
                        MacroBody::Expr(body) => walker.expr(body),
                        MacroBody::Type(body) => walker.ty(body),
                        MacroBody::Empty => {}
                    },
                    MemberKind::Fields(fields) => typed_names(walker, fields),
                    MemberKind::Predicate(predicate) => {
                        typed_names(walker, &$($mutable)? predicate.formals);
                        predicate.body.$iter().for_each(|body| walker.expr(body));
                    }
                    MemberKind::Function(function) => {
                        typed_names(walker, &$($mutable)? function.formals);
                        walker.ty(&$($mutable)? function.result);
                        contract(walker, &$($mutable)? function.contract);
                        function.body.$iter().for_each(|body| walker.expr(body));
                    }
                    MemberKind::Method(method) => {
                        typed_names(walker, &$($mutable)? method.formals);
                        typed_names(walker, &$($mutable)? method.returns);
                        contract(walker, &$($mutable)? method.contract);
                        method.implementations.$iter().for_each(|one| walker.implementation(one));
                    }
                    MemberKind::Domain(domain) => {
                        for function in domain.functions.$iter() {
                            function.formals.$iter().for_each(|(_, ty)| walker.ty(ty));
                            walker.ty(&$($mutable)? function.result);
                        }
                        for axiom in domain.axioms.$iter() {
                            walker.expr(&$($mutable)? axiom.body);
                        }
                    }
                    MemberKind::Adt(adt) => {
                        for constructor in adt.constructors.$iter() {
                            typed_names(walker, &$($mutable)? constructor.formals);
                        }
                        for derive in adt.derives.$iter() {
                            derive.argument.$iter().for_each(|ty| walker.ty(ty));
                        }
                    }
                }
            }

            /// Goes on to the statements or the graph of a body.
            pub fn implementation<$($life,)? W: $walker $(<$life>)? + ?Sized>(
                walker: &mut W,
                implementation: &$($life)? $($mutable)? Implementation,
            ) {
                match &$($mutable)? implementation.body {
                    Body::Structured(body) => walker.block(body),
                    Body::Graph(body) => graph(walker, body),
                }
            }

            /// Goes on to the statements.
            pub fn block<$($life,)? W: $walker $(<$life>)? + ?Sized>(
                walker: &mut W,
                block: &$($life)? $($mutable)? Block,
            ) {
                block.statements.$iter().for_each(|stmt| grow_stack(|| walker.stmt(stmt)));
            }

            /// Goes on to the expressions and blocks of a statement.
            pub fn stmt<$($life,)? W: $walker $(<$life>)? + ?Sized>(
                walker: &mut W,
                stmt: &$($life)? $($mutable)? Stmt,
            ) {
                match &$($mutable)? stmt.kind {
                    StmtKind::Inhale(expr)
                    | StmtKind::Exhale(expr)
                    | StmtKind::Assert(expr)
                    | StmtKind::Assume(expr)
                    | StmtKind::Refute(expr)
                    | StmtKind::Fold(expr)
                    | StmtKind::Unfold(expr)
                    | StmtKind::Apply(expr)
                    | StmtKind::Expr(expr) => walker.expr(expr),
                    StmtKind::Package { wand, script } => {
                        walker.expr(wand);
                        script.$iter().for_each(|script| walker.block(script));
                    }
                    StmtKind::Quasihavoc { condition, resource } => {
                        condition.$iter().for_each(|condition| walker.expr(condition));
                        walker.expr(resource);
                    }
                    StmtKind::QuasihavocAll { variables, condition, resource } => {
                        typed_names(walker, variables);
                        condition.$iter().for_each(|condition| walker.expr(condition));
                        walker.expr(resource);
                    }
                    StmtKind::Var { variables, initialiser } => {
                        typed_names(walker, variables);
                        initialiser.$iter().for_each(|value| walker.expr(value));
                    }
                    StmtKind::Assign { targets, value } => {
                        exprs(walker, targets);
                        walker.expr(value);
                    }
                    StmtKind::If { condition, then, otherwise } => {
                        walker.expr(condition);
                        walker.block(then);
                        otherwise.$iter().for_each(|block| walker.block(block));
                    }
                    StmtKind::While { condition, invariants, decreases, body } => {
                        walker.expr(condition);
                        exprs(walker, invariants);
                        decreases.$iter().for_each(|clause| walker.decreases(clause));
                        walker.block(body);
                    }
                    StmtKind::Label { invariants, decreases, .. } => {
                        exprs(walker, invariants);
                        decreases.$iter().for_each(|clause| walker.decreases(clause));
                    }
                    StmtKind::Block(block) => walker.block(block),
                    StmtKind::Define(define) => match &$($mutable)? define.body {
                        MacroBody::Block(body) => walker.block(body),
                        MacroBody::Expr(body) => walker.expr(body),
                        MacroBody::Type(body) => walker.ty(body),
                        MacroBody::Empty => {}
                    },
                    StmtKind::Goto(_) => {}
                }
            }

            /// Goes on to the clauses, the statements or the nested graph of a node.
            pub fn node<$($life,)? W: $walker $(<$life>)? + ?Sized>(
                walker: &mut W,
                node: &$($life)? $($mutable)? Node,
            ) {
                exprs(walker, &$($mutable)? node.invariants);
                node.decreases.$iter().for_each(|clause| walker.decreases(clause));
                match &$($mutable)? node.kind {
                    NodeKind::Block { statements, terminator } => {
                        statements.$iter().for_each(|stmt| walker.stmt(stmt));
                        if let TerminatorKind::Branch { condition, .. } =
                            &$($mutable)? terminator.kind
                        {
                            walker.expr(condition);
                        }
                    }
                    NodeKind::Loop { condition, graph: nested, .. } => {
                        condition.$iter().for_each(|condition| walker.expr(condition));
                        graph(walker, nested);
                    }
                }
            }

            /// Goes on to the types of what an expression binds or says, and to its operands.
            pub fn expr<$($life,)? W: $walker $(<$life>)? + ?Sized>(
                walker: &mut W,
                expr: &$($life)? $($mutable)? Expr,
            ) {
                match &$($mutable)? expr.kind {
                    ExprKind::Quantified { variables, .. }
                    | ExprKind::ForPerm { variables, .. } => typed_names(walker, variables),
                    ExprKind::Call { ascription: Some(ty), .. }
                    | ExprKind::Literal { element: Some(ty), .. } => walker.ty(ty),
                    ExprKind::MapLiteral { types: Some(types), .. } => {
                        let (key, value) = &$($mutable)? **types;
                        walker.ty(key);
                        walker.ty(value);
                    }
                    _ => {}
                }
                expr.$children(&mut |operand| grow_stack(|| walker.expr(operand)));
            }

            /// Goes on to the type.
            pub(crate) fn typed_name<$($life,)? W: $walker $(<$life>)? + ?Sized>(
                walker: &mut W,
                name: &$($life)? $($mutable)? TypedName,
            ) {
                walker.ty(&$($mutable)? name.ty);
            }

            /// Goes on to the arguments of a type.
            pub fn ty<$($life,)? W: $walker $(<$life>)? + ?Sized>(
                walker: &mut W,
                ty: &$($life)? $($mutable)? Type,
            ) {
                grow_stack(|| match &$($mutable)? ty.kind {
                    TypeKind::Int
                    | TypeKind::Bool
                    | TypeKind::Perm
                    | TypeKind::Ref
                    | TypeKind::MacroCall { .. } => {}
                    TypeKind::Seq(element)
                    | TypeKind::Set(element)
                    | TypeKind::Multiset(element) => walker.ty(element),
                    TypeKind::Map(key, value) => {
                        walker.ty(key);
                        walker.ty(value);
                    }
                    TypeKind::Named { arguments, .. } => {
                        arguments.$iter().for_each(|argument| walker.ty(argument));
                    }
                });
            }

            fn graph<$($life,)? W: $walker $(<$life>)? + ?Sized>(
                walker: &mut W,
                graph: &$($life)? $($mutable)? Graph,
            ) {
                typed_names(walker, &$($mutable)? graph.locals);
                graph.nodes.$iter().for_each(|node| grow_stack(|| walker.node(node)));
            }

            /// Goes on to the expressions.
            pub(crate) fn contract<$($life,)? W: $walker $(<$life>)? + ?Sized>(
                walker: &mut W,
                contract: &$($life)? $($mutable)? Contract,
            ) {
                exprs(walker, &$($mutable)? contract.preconditions);
                exprs(walker, &$($mutable)? contract.postconditions);
                contract.decreases.$iter().for_each(|clause| walker.decreases(clause));
            }

            /// Goes on to the elements of the tuple, and the condition.
            pub fn decreases<$($life,)? W: $walker $(<$life>)? + ?Sized>(
                walker: &mut W,
                clause: &$($life)? $($mutable)? Decreases,
            ) {
                if let DecreasesKind::Tuple(elements) = &$($mutable)? clause.kind {
                    exprs(walker, elements);
                }
                clause.condition.$iter().for_each(|condition| walker.expr(condition));
            }

            /// Goes on to the expressions.
            pub(crate) fn exprs<$($life,)? W: $walker $(<$life>)? + ?Sized>(
                walker: &mut W,
                exprs: &$($life)? $($mutable)? [Expr],
            ) {
                exprs.$iter().for_each(|expr| walker.expr(expr));
            }

            fn typed_names<$($life,)? W: $walker $(<$life>)? + ?Sized>(
                walker: &mut W,
                names: &$($life)? $($mutable)? [TypedName],
            ) {
                names.$iter().for_each(|name| walker.typed_name(name));
            }
        }
    };
}

walk! {
    /// Reads a parse tree.
    Visitor visit for_each_child iter ['e] []
}

walk! {
    /// Changes a parse tree in place.
    Rewriter rewrite for_each_child_mut iter_mut [] [mut]
}
