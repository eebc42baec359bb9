//! Assignments: of a value, of the results of a method, of a new object.
//!
//! Targets that are fields of a call or of `new` are replaced by auxiliary variables: `r.f, x :=
//! m(a)` becomes `{ _receiver0 := r; _target0, x := m(a); _receiver0.f := _target0 }`.

use super::context::Resolver;
use super::names::{Found, Global};
use super::scope::Entry;
use super::unify::Ty;
use crate::parser::unknown_word;
use crate::program::{
    Block, Expr, ExprKind, FieldId, LocalId, LocalKind, MethodId, StmtKind, Type,
};
use crate::source::Span;
use crate::syntax::{self, Ident};

/// A target whose names are resolved.
enum Target {
    Local(LocalId),
    Field { receiver: Expr, field: FieldId, span: Span },
}

/// The target of a right-hand side.
struct Slot {
    /// `None` for a wrong target.
    ty: Option<Type>,
    /// The place of the target.
    span: Span,
}

impl Resolver<'_, '_> {
    /// `targets := value`.
    pub(super) fn assign(
        &mut self,
        targets: &[syntax::Expr],
        value: &syntax::Expr,
        span: Span,
    ) -> Option<StmtKind> {
        let places: Vec<_> = targets.iter().map(|target| target.span).collect();
        let targets: Vec<_> = targets.iter().map(|target| self.target(target)).collect();
        let types = targets.iter().map(|target| target.as_ref().map(|t| self.target_type(t)));
        let slots: Vec<_> = types.zip(places).map(|(ty, span)| Slot { ty, span }).collect();
        let source = self.source(value, &slots, span)?;
        let targets: Vec<_> = targets.into_iter().collect::<Option<_>>()?;
        self.finish_assignment(targets, source, span)
    }

    /// Returns the assignment of `var locals := value`.
    pub(super) fn initialise(
        &mut self,
        locals: &[LocalId],
        value: &syntax::Expr,
        span: Span,
    ) -> Option<StmtKind> {
        let targets: Vec<_> = locals.iter().map(|&local| Target::Local(local)).collect();
        let slots: Vec<_> = locals
            .iter()
            .map(|&local| &self.locals[local])
            .map(|local| Slot { ty: Some(local.ty.clone()), span: local.span })
            .collect();
        let source = self.source(value, &slots, span)?;
        self.finish_assignment(targets, source, span)
    }

    /// Returns an expression as a statement: only a call of a method without results.
    pub(super) fn call_statement(&mut self, expr: &syntax::Expr) -> Option<StmtKind> {
        if let syntax::ExprKind::Call { name, .. } = &expr.kind
            && self.method_named(name) != Found::Nothing
        {
            return self.assign(&[], expr, expr.span);
        }
        // A word of smoke detection, which has no other meaning here.
        if matches!(&expr.kind, syntax::ExprKind::Ident(name) if &**name == "unreachable") {
            return Some(StmtKind::Unreachable);
        }
        let message = match &expr.kind {
            syntax::ExprKind::Call { name, .. } => self.not_a_method(name),
            syntax::ExprKind::Ident(name) => match unknown_word(name) {
                Some(hint) => format!("unexpected `{name}`; {hint}"),
                None => format!("`{name}` alone is not a statement"),
            },
            _ => "an expression is not a statement".to_owned(),
        };
        self.error(expr.span, message);
        None
    }

    /// Makes the message about a call that stands alone and calls no method.
    fn not_a_method(&self, name: &Ident) -> String {
        let name = &name.name;
        match self.global(name) {
            None => {
                let is_method = |global| matches!(global, Global::Method(_));
                let question = self.shared.globals.question(name, is_method);
                format!("undeclared method `{name}`{question}")
            }
            Some(Global::Function(_) | Global::DomainFunction(_)) => format!(
                "`{name}` is a function, not a method; its value has to be used, as in `x := {name}(…)`"
            ),
            Some(Global::Predicate(_)) => format!(
                "`{name}` is a predicate, not a method; `fold`, `unfold`, `inhale` and `exhale` take it"
            ),
            Some(_) => format!("`{name}` is not a method"),
        }
    }

    fn target(&mut self, target: &syntax::Expr) -> Option<Target> {
        match &target.kind {
            syntax::ExprKind::Ident(name) => match self.scopes.get(name) {
                Some(Entry::Local(local)) => {
                    let kind = self.locals[local].kind;
                    if matches!(kind, LocalKind::Variable | LocalKind::Returned) {
                        return Some(Target::Local(local));
                    }
                    let message = match kind {
                        LocalKind::Formal => {
                            format!(
                                "the parameter `{name}` cannot be assigned; assign to a local variable instead"
                            )
                        }
                        _ => format!("`{name}` cannot be assigned"),
                    };
                    let declared = self.locals[local].span;
                    self.error(target.span, message);
                    if let Some(diagnostic) = self.shared.diagnostics.last_mut() {
                        diagnostic.related.push((declared, "it is declared here".to_owned()));
                    }
                    None
                }
                Some(Entry::Clash) => None,
                Some(Entry::Ambiguous(first)) => {
                    // A parameter is no target, so it leaves no choice.
                    if self.locals[first].kind != LocalKind::Formal {
                        self.error(target.span, format!("ambiguous identifier `{name}`"));
                    }
                    None
                }
                Some(Entry::Announced) => {
                    self.error(target.span, format!("`{name}` is used before its declaration"));
                    None
                }
                Some(Entry::Label) | None => {
                    self.error(target.span, self.undeclared_identifier(name));
                    None
                }
            },
            syntax::ExprKind::Field { .. } => {
                let expr = self.any_expression(target)?;
                let span = expr.span;
                match expr.kind {
                    ExprKind::FieldRead { receiver, field } => {
                        Some(Target::Field { receiver: *receiver, field, span })
                    }
                    _ => {
                        self.error(target.span, "only variables and fields can be assigned");
                        None
                    }
                }
            }
            _ => {
                self.error(target.span, "only variables and fields can be assigned");
                None
            }
        }
    }

    fn target_type(&self, target: &Target) -> Type {
        match target {
            Target::Local(local) => self.locals[*local].ty.clone(),
            Target::Field { field, .. } => self.shared.program.fields[*field].ty.clone(),
        }
    }

    /// Returns the right-hand side for the given targets.
    fn source(&mut self, value: &syntax::Expr, targets: &[Slot], span: Span) -> Option<Source> {
        match &value.kind {
            syntax::ExprKind::Call { name, arguments, .. } => match self.method_named(name) {
                Found::One(Global::Method(method)) => {
                    return self.call(method, arguments, targets, span, value.span);
                }
                Found::Several => {
                    self.error(value.span, format!("ambiguous call of `{}`", name.name));
                    return None;
                }
                _ => {}
            },
            syntax::ExprKind::New(fields) => {
                return self.new_object(fields.as_deref(), targets, span);
            }
            _ => {}
        }
        match targets {
            [Slot { ty: Some(target), .. }] => self.value(value, target).map(Source::Value),
            [Slot { ty: None, .. }] => {
                self.any_expression(value);
                None
            }
            _ => {
                self.error(span, "only a call of a method can have several targets");
                self.any_expression(value);
                None
            }
        }
    }

    fn call(
        &mut self,
        method: MethodId,
        arguments: &[syntax::Expr],
        targets: &[Slot],
        span: Span,
        call_span: Span,
    ) -> Option<Source> {
        let program = self.shared.program;
        let callee = &program.methods[method];
        let formals =
            callee.formals.iter().map(|&formal| Ty::of(&callee.locals[formal].ty)).collect();
        if targets.len() != callee.returns.len() {
            let message =
                wrong_number_of_targets(&callee.name, callee.returns.len(), targets.len());
            self.error(span, message);
            return None;
        }
        let inferred = self.inferring(call_span, |resolver| {
            resolver.infer_arguments_of_method(&callee.name, arguments, formals, call_span);
        });
        let mut compatible = true;
        for (target, &result) in targets.iter().zip(&callee.returns) {
            let result = &callee.locals[result].ty;
            if let Some(ty) = &target.ty
                && ty != result
            {
                let (found, expected) = (result.display(program), ty.display(program));
                let message = format!(
                    "incompatible types: the result is of type `{found}`, the target of type `{expected}`"
                );
                self.error(target.span, message);
                compatible = false;
            }
        }
        if !inferred {
            return None;
        }
        let arguments = self.build_all(arguments)?;
        compatible.then_some(Source::Call(method, arguments))
    }

    fn new_object(
        &mut self,
        fields: Option<&[Ident]>,
        targets: &[Slot],
        span: Span,
    ) -> Option<Source> {
        let mut correct = true;
        match targets {
            [Slot { ty: Some(Type::Ref) | None, .. }] => {}
            [target] => {
                self.error(target.span, "the target of `new` must be of type `Ref`");
                correct = false;
            }
            _ => {
                self.error(span, "`new` has one target");
                correct = false;
            }
        }
        let Some(fields) = fields else {
            let all = self.shared.program.fields.iter().map(|(field, _)| field).collect();
            return correct.then_some(Source::New(all));
        };
        let mut resolved = Vec::with_capacity(fields.len());
        for field in fields {
            match self.field_named(field) {
                Found::One(Global::Field(id)) if resolved.contains(&id) => {}
                Found::One(Global::Field(id)) => resolved.push(id),
                Found::Several => {
                    self.error(field.span, format!("ambiguous field `{}`", field.name));
                    correct = false;
                }
                _ => {
                    self.error(field.span, self.undeclared_field(field, None));
                    correct = false;
                }
            }
        }
        correct.then_some(Source::New(resolved))
    }

    fn finish_assignment(
        &mut self,
        mut targets: Vec<Target>,
        source: Source,
        span: Span,
    ) -> Option<StmtKind> {
        match source {
            Source::Value(value) => Some(match targets.pop()? {
                Target::Local(target) => StmtKind::Assign { target, value },
                Target::Field { receiver, field, .. } => {
                    StmtKind::FieldAssign { receiver, field, value }
                }
            }),
            Source::New(fields) => self.through_locals(targets, span, |targets| {
                let target = targets.into_iter().next()?;
                Some(StmtKind::New { target, fields })
            }),
            Source::Call(method, arguments) => {
                if self.repeats_a_field(&targets, span) {
                    return None;
                }
                self.through_locals(targets, span, |targets| {
                    Some(StmtKind::Call { targets, method, arguments })
                })
            }
        }
    }

    fn repeats_a_field(&mut self, targets: &[Target], span: Span) -> bool {
        let mut seen = Vec::new();
        for target in targets {
            if let Target::Field { field, .. } = target {
                if seen.contains(field) {
                    let name = &self.shared.program.fields[*field].name;
                    let message = format!("the field `{name}` is the target of two results");
                    self.error(span, message);
                    return true;
                }
                seen.push(*field);
            }
        }
        false
    }

    /// `statement` with auxiliary variables for the targets that are fields.
    fn through_locals(
        &mut self,
        targets: Vec<Target>,
        span: Span,
        statement: impl FnOnce(Vec<LocalId>) -> Option<StmtKind>,
    ) -> Option<StmtKind> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let (mut declared, mut locals) = (Vec::new(), Vec::new());
        for target in targets {
            match target {
                Target::Local(local) => locals.push(local),
                Target::Field { receiver, field, span: at } => {
                    let ty = self.shared.program.fields[field].ty.clone();
                    let holder = self.auxiliary("_receiver", Type::Ref, at);
                    let result = self.auxiliary("_target", ty.clone(), at);
                    declared.extend([holder, result]);
                    locals.push(result);
                    let kind = StmtKind::Assign { target: holder, value: receiver };
                    before.push(self.made(kind, span));
                    let receiver = self.local(holder, Type::Ref, at);
                    let value = self.local(result, ty, at);
                    after.push(self.made(StmtKind::FieldAssign { receiver, field, value }, span));
                }
            }
        }
        let kind = statement(locals)?;
        if declared.is_empty() {
            return Some(kind);
        }
        let mut statements = vec![self.made(StmtKind::Var(declared), span)];
        statements.append(&mut before);
        statements.push(self.made(kind, span));
        statements.append(&mut after);
        Some(StmtKind::Block(Block { statements, span: self.at(span) }))
    }

    fn local(&self, local: LocalId, ty: Type, span: Span) -> Expr {
        Expr::new(ExprKind::Local(local), ty, self.at(span))
    }
}

/// The right-hand side of an assignment.
enum Source {
    Value(Expr),
    Call(MethodId, Vec<Expr>),
    New(Vec<FieldId>),
}

/// Makes the message about a call that has `found` targets for `expected` results.
fn wrong_number_of_targets(method: &str, expected: usize, found: usize) -> String {
    let results = if expected == 1 { "result" } else { "results" };
    let targets = if found == 1 { "target" } else { "targets" };
    let names: Vec<String> = (1..=expected.min(3)).map(|index| format!("x{index}")).collect();
    let instead = match expected {
        0 => format!("write `{method}(…)`"),
        1 => format!("write `x := {method}(…)`"),
        2 | 3 => format!("write `{} := {method}(…)`", names.join(", ")),
        _ => format!("write `{}, … := {method}(…)`", names.join(", ")),
    };
    format!(
        "wrong number of targets: `{method}` has {expected} {results}, but there are {found} {targets}; {instead}"
    )
}
