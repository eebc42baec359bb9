//! Statements of structured bodies, and the simple ones of a graph's blocks.

use front::grow_stack;

use super::context::{Place, Resolver};
use super::scope::Entry;
use crate::program::{
    Annotation, Block, Decreases, DecreasesKind, Expr, Label, LocalId, LocalKind, PredicateAccess,
    Resource, Stmt, StmtKind, Type,
};
use crate::source::Span;
use crate::syntax::{self, Ident};

/// Statements in the making: one of the parse tree may become several.
pub(super) type Output = Vec<Stmt>;

impl Resolver<'_, '_> {
    /// Returns a block with a scope of its own.
    pub(super) fn block(&mut self, block: &syntax::Block) -> Block {
        self.scopes.open();
        let statements = self.statements(&block.statements);
        self.scopes.close();
        Block { statements, span: self.at(block.span) }
    }

    /// Returns the statements of the innermost scope, in order. What is wrong is reported and left
    /// out.
    pub(super) fn statements(&mut self, statements: &[syntax::Stmt]) -> Output {
        for statement in statements {
            if let syntax::StmtKind::Var { variables, .. } = &statement.kind {
                for variable in variables {
                    self.scopes.announce(&variable.name.name, variable.name.span);
                }
            }
        }
        let mut output = Vec::with_capacity(statements.len());
        for statement in statements {
            grow_stack(|| self.statement(statement, &mut output));
        }
        output
    }

    fn statement(&mut self, statement: &syntax::Stmt, output: &mut Output) {
        let (annotations, outer) = self.enter(&statement.annotations);
        let span = self.at(statement.span);
        if let Some(kind) = self.statement_kind(statement, &annotations, output) {
            output.push(Stmt { kind, span, annotations });
        }
        self.origin = outer;
    }

    /// Returns the last statement that a statement becomes; those before it are put into `output`.
    fn statement_kind(
        &mut self,
        statement: &syntax::Stmt,
        annotations: &[Annotation],
        output: &mut Output,
    ) -> Option<StmtKind> {
        use syntax::StmtKind as Syntax;
        Some(match &statement.kind {
            Syntax::Inhale(expr) => StmtKind::Inhale(self.assertion(expr)?),
            Syntax::Exhale(expr) => StmtKind::Exhale(self.assertion(expr)?),
            Syntax::Assert(expr) => StmtKind::Assert(self.assertion(expr)?),
            Syntax::Assume(expr) => StmtKind::Assume(self.assertion(expr)?),
            Syntax::Refute(expr) => StmtKind::Refute(self.value(expr, &Type::Bool)?),
            Syntax::Fold(access) => StmtKind::Fold(self.predicate_access(access, "folded")?),
            Syntax::Unfold(access) => StmtKind::Unfold(self.predicate_access(access, "unfolded")?),
            Syntax::Package { wand, script } => {
                let span = self.at(statement.span);
                let wand = self.wand(wand);
                let script = match script {
                    Some(script) => self.block(script),
                    None => Block { statements: Vec::new(), span },
                };
                StmtKind::Package { wand: wand?, script }
            }
            Syntax::Apply(wand) => StmtKind::Apply { wand: self.wand(wand)? },
            Syntax::Quasihavoc { condition, resource } => {
                let condition = self.condition_of_havoc(condition.as_ref());
                let resource = self.havocked(resource, statement.span);
                StmtKind::Quasihavoc { condition: condition?, resource: resource? }
            }
            Syntax::QuasihavocAll { variables, condition, resource } => {
                let variables = self.bind(variables);
                let condition = self.condition_of_havoc(condition.as_ref());
                let resource = self.havocked(resource, statement.span);
                self.scopes.close();
                StmtKind::QuasihavocAll { variables, condition: condition?, resource: resource? }
            }
            Syntax::Var { variables, initialiser } => {
                let span = self.at(statement.span);
                let locals: Vec<_> = variables
                    .iter()
                    .map(|variable| self.declare_local(variable, LocalKind::Variable))
                    .collect();
                let declaration = StmtKind::Var(locals.clone());
                let Some(value) = initialiser else { return Some(declaration) };
                let annotations = annotations.to_vec();
                output.push(Stmt { kind: declaration, span, annotations });
                self.initialise(&locals, value, statement.span)?
            }
            Syntax::Assign { targets, value } => self.assign(targets, value, statement.span)?,
            Syntax::Expr(expr) => self.call_statement(expr)?,
            Syntax::If { condition, then, otherwise } => {
                let condition = self.value(condition, &Type::Bool);
                let then = self.block(then);
                let otherwise = otherwise.as_ref().map(|block| self.block(block));
                StmtKind::If { condition: condition?, then, otherwise }
            }
            Syntax::While { condition, invariants, decreases, body } => {
                let condition = self.value(condition, &Type::Bool);
                let (invariants, decreases) = self.invariants(invariants, decreases);
                let body = self.block(body);
                StmtKind::While { condition: condition?, invariants, decreases, body }
            }
            Syntax::Goto(label) => StmtKind::Goto(self.label(label, statement.span)),
            Syntax::Label { name, invariants, decreases } => {
                let invariants =
                    invariants.iter().filter_map(|invariant| self.assertion(invariant)).collect();
                // Unlike its invariants, which in the reference may ask for permissions anywhere,
                // its measure may not.
                let (_, decreases) = self.invariants(&[], decreases);
                StmtKind::Label { label: self.label(name, statement.span), invariants, decreases }
            }
            Syntax::Block(block) => StmtKind::Block(self.block(block)),
            Syntax::Define(define) => {
                self.error(define.span, "a macro definition cannot stand here");
                return None;
            }
        })
    }

    fn predicate_access(&mut self, expr: &syntax::Expr, done: &str) -> Option<PredicateAccess> {
        self.inferring(expr.span, |r| r.infer_predicate_access(expr, done))
            .then(|| self.build_predicate_access(expr))?
    }

    fn wand(&mut self, expr: &syntax::Expr) -> Option<Expr> {
        self.inferring(expr.span, |r| r.infer_wand(expr)).then(|| self.build(expr))?
    }

    /// Resolves the resource that `quasihavoc` forgets. An expression without the form of a
    /// resource makes the statement wrong.
    fn havocked(&mut self, expr: &syntax::Expr, statement: Span) -> Option<Resource> {
        if !matches!(
            expr.kind,
            syntax::ExprKind::Field { .. }
                | syntax::ExprKind::Call { .. }
                | syntax::ExprKind::Binary { op: syntax::BinaryOp::Wand, .. }
        ) {
            self.error(statement, "`quasihavoc` takes a field access, a predicate or a magic wand");
            return None;
        }
        self.inferring(expr.span, |r| r.infer_resource(expr)).then(|| self.build_resource(expr))?
    }

    /// `Some(None)` without a condition, `None` if it is wrong.
    #[expect(clippy::option_option, reason = "an absent condition is not a wrong one")]
    fn condition_of_havoc(&mut self, condition: Option<&syntax::Expr>) -> Option<Option<Expr>> {
        match condition {
            None => Some(None),
            Some(condition) => self.value(condition, &Type::Bool).map(Some),
        }
    }

    /// Invariants of a loop and its termination clauses.
    pub(super) fn invariants(
        &mut self,
        invariants: &[syntax::Expr],
        decreases: &[syntax::Decreases],
    ) -> (Vec<Expr>, Vec<Decreases>) {
        let outside = std::mem::replace(&mut self.place, Place::CONTRACT);
        let invariants =
            invariants.iter().filter_map(|invariant| self.assertion(invariant)).collect();
        let decreases = self.decreases_clauses(decreases);
        self.place = outside;
        (invariants, decreases)
    }

    pub(super) fn decreases_clauses(&mut self, clauses: &[syntax::Decreases]) -> Vec<Decreases> {
        clauses.iter().filter_map(|clause| self.decreases(clause)).collect()
    }

    fn decreases(&mut self, clause: &syntax::Decreases) -> Option<Decreases> {
        let kind = match &clause.kind {
            syntax::DecreasesKind::Tuple(elements) => {
                let resolved: Vec<_> =
                    elements.iter().map(|element| self.any_expression(element)).collect();
                resolved.into_iter().collect::<Option<_>>().map(DecreasesKind::Tuple)
            }
            syntax::DecreasesKind::Wildcard => Some(DecreasesKind::Wildcard),
            syntax::DecreasesKind::Star => Some(DecreasesKind::Star),
        };
        let condition = match &clause.condition {
            Some(condition) => Some(self.value(condition, &Type::Bool)?),
            None => None,
        };
        Some(Decreases {
            kind: kind?,
            condition,
            in_postcondition: clause.in_postcondition,
            measure: self.at(clause.measure),
            span: self.at(clause.span),
        })
    }

    /// Makes the labels of a body known before it is resolved, wherever in it they stand.
    pub(super) fn declare_labels(&mut self, statements: &[syntax::Stmt]) {
        for statement in statements {
            grow_stack(|| match &statement.kind {
                syntax::StmtKind::Label { name, .. } => self.declare_label(name, statement.span),
                syntax::StmtKind::If { then, otherwise, .. } => {
                    self.declare_labels(&then.statements);
                    if let Some(otherwise) = otherwise {
                        self.declare_labels(&otherwise.statements);
                    }
                }
                syntax::StmtKind::While { body: block, .. }
                | syntax::StmtKind::Package { script: Some(block), .. }
                | syntax::StmtKind::Block(block) => self.declare_labels(&block.statements),
                _ => {}
            });
        }
    }

    /// A second label of one name is an inconsistency, not a type error, and reported at its
    /// statement.
    fn declare_label(&mut self, ident: &Ident, statement: Span) {
        if let Some(&earlier) = self.label_names.get(&ident.name) {
            let first = self.labels[earlier].span;
            let mut clash = super::names::duplicate(&ident.name, first, self.at(statement));
            clash.code = crate::diagnostics::Code::ConsistencyError;
            self.shared.label_errors.push(clash);
            return;
        }
        self.add_label(ident);
        self.declare_name(&ident.name, Entry::Label, ident.span);
    }

    pub(super) fn add_label(&mut self, ident: &Ident) {
        let span = self.at(ident.span);
        let label = self.labels.alloc(Label { name: ident.name.clone(), span });
        self.label_names.insert(ident.name.clone(), label);
    }

    /// Returns a statement made by the resolver, at the statement it stands for.
    pub(super) fn made(&self, kind: StmtKind, span: Span) -> Stmt {
        Stmt::new(kind, self.at(span))
    }

    /// Returns an auxiliary variable, named so that it clashes with nothing visible.
    pub(super) fn auxiliary(&mut self, prefix: &str, ty: Type, span: Span) -> LocalId {
        loop {
            let name = crate::source::Name::from(format!("{prefix}{}", self.auxiliaries));
            self.auxiliaries += 1;
            if self.scopes.get(&name).is_none() && self.global(&name).is_none() {
                return self.add_local(&name, ty, LocalKind::Variable, span);
            }
        }
    }
}
