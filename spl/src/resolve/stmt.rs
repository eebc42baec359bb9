//! Statements.

use front::grow_stack;

use super::scope::new_local;
use super::{Context, Named, Resolver, order};
use crate::program::{
    Block, Expr, ExprKind, Local, LocalId, LocalKind, Place, ProcedureId, Quantifier, Stmt,
    StmtKind, Type, Variable,
};
use crate::source::Span;
use crate::syntax::{self, Values};

impl<'s> Resolver<'s> {
    pub(super) fn block(&mut self, block: &'s syntax::Block) -> Block {
        let stmts = self.scoped(|resolver| resolver.stmts(&block.stmts));
        Block { stmts, span: block.span }
    }

    fn stmts(&mut self, stmts: &'s [syntax::Stmt]) -> Vec<Stmt> {
        let mut all = Vec::new();
        for stmt in stmts {
            grow_stack(|| self.stmt(stmt, &mut all));
        }
        all
    }

    /// Returns a statement that is a branch or a body: a block of its own, with or without braces.
    fn branch(&mut self, stmt: &'s syntax::Stmt) -> Block {
        match &stmt.kind {
            syntax::StmtKind::Block(block) => grow_stack(|| self.block(block)),
            _ => {
                let stmts = self.scoped(|resolver| resolver.stmts(std::slice::from_ref(stmt)));
                Block { stmts, span: stmt.span }
            }
        }
    }

    /// Adds what a statement becomes, behind the calls that are written inside it.
    fn stmt(&mut self, stmt: &'s syntax::Stmt, all: &mut Vec<Stmt>) {
        let outer = std::mem::take(&mut self.hoisted);
        let mut made = self.stmt_kinds(stmt);
        let hoisted = std::mem::replace(&mut self.hoisted, outer);
        let evaluated = made.iter_mut().flat_map(order::evaluated).collect();
        all.extend(self.in_order(hoisted, evaluated));
        all.extend(made.into_iter().map(|kind| Stmt { kind, span: stmt.span }));
    }

    fn stmt_kinds(&mut self, stmt: &'s syntax::Stmt) -> Vec<StmtKind> {
        let span = stmt.span;
        let value = Context::VALUE;
        vec![match &stmt.kind {
            syntax::StmtKind::Block(block) => StmtKind::Block(self.block(block)),
            syntax::StmtKind::Declare { is_ghost, variables, values } => {
                return self.declaration(*is_ghost, variables, values.as_deref(), span);
            }
            syntax::StmtKind::Assign { targets, values: Values::Exprs(values) } => {
                return self.assign(targets, values, span).into_iter().collect();
            }
            syntax::StmtKind::Assign { targets, values: Values::Text(text) } => {
                let [array] = &targets[..] else {
                    self.expect_count("value", targets.len(), 1, span);
                    return Vec::new();
                };
                let bytes_of = Type::Array(Box::new(Type::Byte));
                let array = self.expr_of(array, &bytes_of, value);
                let bytes = text.value.bytes().chain([0]).collect();
                StmtKind::AssignText { array, bytes }
            }
            syntax::StmtKind::Call(call) => {
                return self.call_stmt(call, span).into_iter().collect();
            }
            syntax::StmtKind::Free(object) => {
                let object = self.expr(object, &Type::Unknown, value);
                if !matches!(object.ty, Type::Struct(_) | Type::Array(_)) {
                    let expected = "an object of a struct or an array";
                    self.expect_unknown(&object.ty.clone(), expected, object.span);
                }
                StmtKind::Free(object)
            }
            syntax::StmtKind::Havoc(names) => {
                let mut variables = Vec::new();
                for name in names {
                    let found = self.variable(&name.name);
                    match found {
                        Some((variable, _)) => variables.push(variable),
                        None => self.error("only variables can be havocked", name.span),
                    }
                }
                StmtKind::Havoc(variables)
            }
            syntax::StmtKind::Assume { is_pure, condition } => {
                let condition = self.condition(*is_pure, condition);
                StmtKind::Assume { is_pure: *is_pure, condition }
            }
            syntax::StmtKind::Assert { is_pure, label, condition, proof } => {
                let resolved = self.condition(*is_pure || proof.is_some(), condition);
                let proof = proof.as_ref().map(|proof| self.proof(condition, &resolved, proof));
                let label = label.as_ref().map(|label| label.value.clone());
                StmtKind::Assert { is_pure: *is_pure, label, condition: resolved, proof }
            }
            syntax::StmtKind::Split(condition) => {
                StmtKind::Split(self.assertion(condition, Context::TWO_STATE))
            }
            syntax::StmtKind::Return(values) => StmtKind::Return(self.returned(values, span)),
            syntax::StmtKind::Fold { predicate, arguments } => {
                match self.predicate_use(predicate, arguments, value) {
                    Some(predicate) => StmtKind::Fold(predicate),
                    None => return Vec::new(),
                }
            }
            syntax::StmtKind::Unfold { predicate, arguments } => {
                match self.predicate_use(predicate, arguments, value) {
                    Some(predicate) => StmtKind::Unfold(predicate),
                    None => return Vec::new(),
                }
            }
            syntax::StmtKind::If { arms, otherwise } => {
                return self.conditional(arms, otherwise.as_deref());
            }
            syntax::StmtKind::Choose(alternatives) => {
                StmtKind::Choose(alternatives.iter().map(|one| self.branch(one)).collect())
            }
            syntax::StmtKind::While { condition, invariants, body } => {
                self.while_stmt(condition, invariants, body)
            }
        }]
    }

    fn condition(&mut self, is_pure: bool, condition: &'s syntax::Expr) -> Expr {
        if is_pure {
            self.formula(condition, Context::TWO_STATE)
        } else {
            self.assertion(condition, Context::TWO_STATE)
        }
    }

    /// Returns the proof of an assertion; the variables of its `forall` are in scope there.
    fn proof(
        &mut self,
        written: &'s syntax::Expr,
        condition: &Expr,
        proof: &'s syntax::Block,
    ) -> Block {
        let was_in_proof = std::mem::replace(&mut self.home.in_proof, true);
        let block = self.scoped(|resolver| {
            if let ExprKind::Quantified { quantifier: Quantifier::Forall, variables, .. } =
                &condition.kind
                && let syntax::ExprKind::Quantified { variables: names, .. } = &written.kind
            {
                for (name, bound) in names.iter().zip(variables) {
                    resolver.enter(&name.name, bound.local);
                }
            }
            resolver.block(proof)
        });
        self.home.in_proof = was_in_proof;
        block
    }

    fn while_stmt(
        &mut self,
        condition: &'s syntax::Expr,
        invariants: &'s [syntax::Clause],
        body: &'s syntax::Stmt,
    ) -> StmtKind {
        let outer = std::mem::take(&mut self.hoisted);
        let mut condition = self.formula(condition, Context::VALUE);
        let hoisted = std::mem::replace(&mut self.hoisted, outer);
        let before_guard = self.in_order(hoisted, vec![&mut condition]);
        let invariants =
            invariants.iter().map(|clause| self.clause(clause, Context::TWO_STATE)).collect();
        self.home.loops += 1;
        let body = self.branch(body);
        self.home.loops -= 1;
        StmtKind::While { before_guard, condition, invariants, body }
    }

    /// `if .. else if .. else ..`, from the last arm on: each stands in the `else` of the one
    /// before.
    fn conditional(
        &mut self,
        arms: &'s [(syntax::Expr, syntax::Stmt)],
        otherwise: Option<&'s syntax::Stmt>,
    ) -> Vec<StmtKind> {
        let mut resolved = Vec::new();
        for (at, (condition, body)) in arms.iter().enumerate() {
            // Calls in the first condition go before the statement, those of others into the branch
            // that they stand in.
            let outer = (at > 0).then(|| std::mem::take(&mut self.hoisted));
            let mut condition = self.formula(condition, Context::VALUE);
            let hoisted = match outer {
                Some(outer) => std::mem::replace(&mut self.hoisted, outer),
                None => Vec::new(),
            };
            let hoisted = self.in_order(hoisted, vec![&mut condition]);
            resolved.push((hoisted, condition, self.branch(body)));
        }
        let mut otherwise = otherwise.map(|otherwise| self.branch(otherwise));
        let mut whole = None;
        for (at, (hoisted, condition, then)) in resolved.into_iter().enumerate().rev() {
            let span = then.span;
            let kind = StmtKind::If { condition, then, otherwise: otherwise.take() };
            if at == 0 {
                whole = Some(kind);
            } else {
                let mut stmts = hoisted;
                stmts.push(Stmt { kind, span });
                otherwise = Some(Block { stmts, span });
            }
        }
        whole.into_iter().collect()
    }

    fn returned(&mut self, values: &'s [syntax::Expr], span: Span) -> Vec<Expr> {
        if self.home.loops > 0 {
            self.error("`return` cannot leave a loop", span);
        }
        if self.home.in_proof {
            self.error("`return` cannot leave a proof", span);
        }
        let results = self.home.results.clone();
        let types: Vec<Type> =
            results.iter().map(|&local| self.program.locals[local].ty.clone()).collect();
        if let [value] = values
            && let Some((procedure, arguments)) = self.called(value)
            && self.results_of(procedure).len() == types.len()
            && types.len() != 1
        {
            return self.returned_call(procedure, arguments, &types, value.span);
        }
        if values.is_empty() {
            return Vec::new();
        }
        self.expect_count("value", types.len(), values.len(), span);
        let values = values.iter().enumerate().map(|(at, value)| {
            self.expr_of(value, types.get(at).unwrap_or(&Type::Unknown), Context::VALUE)
        });
        values.collect()
    }

    /// `return p(e, ..)` of several results at once.
    fn returned_call(
        &mut self,
        procedure: ProcedureId,
        arguments: &'s [syntax::Expr],
        types: &[Type],
        span: Span,
    ) -> Vec<Expr> {
        let arguments = self.procedure_arguments(procedure, arguments, span, Context::VALUE);
        let locals = self.results_of(procedure);
        let mut values = Vec::new();
        let mut targets = Vec::new();
        for (result, expected) in locals.into_iter().zip(types) {
            let (name, ty) = {
                let local = &self.program.locals[result];
                (local.name.clone(), local.ty.clone())
            };
            let local = self.temporary(&name, ty.clone(), span);
            targets.push(Variable::Local(local));
            let value = Expr { kind: ExprKind::Local(local), ty, span };
            values.push(self.coerce(value, expected));
        }
        self.hoisted.push(Stmt { kind: StmtKind::Call { targets, procedure, arguments }, span });
        values
    }

    /// Returns the procedure that an expression calls, and the arguments.
    fn called(&self, expr: &'s syntax::Expr) -> Option<(ProcedureId, &'s [syntax::Expr])> {
        let syntax::ExprKind::Call { callee, arguments } = &expr.kind else { return None };
        match self.names.get(callee.name.as_str()) {
            Some(&Named::Procedure(id)) => Some((id, arguments)),
            _ => None,
        }
    }

    fn call_stmt(&mut self, call: &'s syntax::Expr, span: Span) -> Option<StmtKind> {
        if let Some((procedure, arguments)) = self.called(call) {
            let arguments =
                self.procedure_arguments(procedure, arguments, call.span, Context::VALUE);
            return Some(StmtKind::Call { targets: Vec::new(), procedure, arguments });
        }
        self.expr(call, &Type::Unknown, Context::VALUE);
        self.error("this is not a statement: expected a call of a procedure or `:=`", span);
        None
    }

    fn declaration(
        &mut self,
        is_ghost: bool,
        variables: &'s [syntax::Variable],
        values: Option<&'s [syntax::Expr]>,
        span: Span,
    ) -> Vec<StmtKind> {
        let written: Vec<Option<Type>> = variables
            .iter()
            .map(|variable| variable.ty.as_ref().map(|ty| self.type_of(ty)))
            .collect();
        let Some(values) = values else {
            let types: Vec<Type> =
                written.into_iter().map(|ty| ty.unwrap_or(Type::Unknown)).collect();
            let locals = self.declared(is_ghost, variables, types);
            return locals.into_iter().map(StmtKind::Declare).collect();
        };
        let source = self.source(&written, values, span);
        let types = source.types();
        if types.len() != variables.len() {
            self.expect_count("value", variables.len(), types.len(), span);
        }
        let mut known = Vec::new();
        for (at, variable) in variables.iter().enumerate() {
            let found = types.get(at).cloned().unwrap_or(Type::Unknown);
            let ty = written[at].clone().unwrap_or(found);
            if ty.has_holes() && ty != Type::Unknown {
                let message = format!("the type of `{}` cannot be inferred", variable.name.name);
                self.error(message, variable.name.span);
            }
            known.push(ty);
        }
        let locals = self.declared(is_ghost, variables, known);
        let targets: Vec<Variable> = locals.iter().copied().map(Variable::Local).collect();
        let mut made: Vec<StmtKind> = locals.into_iter().map(StmtKind::Declare).collect();
        made.push(source.into_variables(targets));
        made
    }

    fn declared(
        &mut self,
        is_ghost: bool,
        variables: &'s [syntax::Variable],
        types: Vec<Type>,
    ) -> Vec<LocalId> {
        let all = variables.iter().zip(types).map(|(variable, ty)| {
            let local = new_local(&variable.name, ty, LocalKind::Variable);
            self.declare(&variable.name, Local { is_ghost, ..local })
        });
        all.collect()
    }

    /// Resolves the right-hand side of an assignment to variables of these types, as far as the
    /// types are known.
    fn source(
        &mut self,
        expected: &[Option<Type>],
        values: &'s [syntax::Expr],
        span: Span,
    ) -> Source {
        if let [value] = values {
            if let Some((procedure, arguments)) = self.called(value) {
                return self.call_source(expected, procedure, arguments, value.span);
            }
            if let syntax::ExprKind::New { ty, arguments } = &value.kind
                && let Some((object, ty)) =
                    self.new_object(ty, arguments, value.span, Context::VALUE)
            {
                if let [Some(expected)] = expected {
                    let made = Expr { kind: ExprKind::Null, ty: ty.clone(), span: value.span };
                    self.coerce(made, expected);
                }
                return Source::New(object, ty);
            }
        }
        if expected.len() != values.len() {
            self.expect_count("value", expected.len(), values.len(), span);
        }
        let values = values.iter().enumerate().map(|(at, value)| {
            let expected = expected.get(at).cloned().flatten().unwrap_or(Type::Unknown);
            let value = self.expr_of(value, &expected, Context::VALUE);
            if value.is_permission() {
                self.error("permissions cannot be assigned", value.span);
            }
            value
        });
        Source::Values(values.collect())
    }

    fn call_source(
        &mut self,
        expected: &[Option<Type>],
        procedure: ProcedureId,
        arguments: &'s [syntax::Expr],
        span: Span,
    ) -> Source {
        let arguments = self.procedure_arguments(procedure, arguments, span, Context::VALUE);
        let results = self.results_of(procedure);
        let types: Vec<Type> =
            results.iter().map(|&local| self.program.locals[local].ty.clone()).collect();
        if types.len() != expected.len() {
            let name = &self.program.procedures[procedure].name;
            let (results, found) = (types.len(), expected.len());
            self.error(format!("`{name}` has {results} results for {found} variables"), span);
        }
        for (found, expected) in types.iter().zip(expected) {
            if let Some(expected) = expected {
                let result = Expr { kind: ExprKind::Null, ty: found.clone(), span };
                self.coerce(result, expected);
            }
        }
        Source::Call { procedure, arguments, types }
    }

    fn assign(
        &mut self,
        targets: &'s [syntax::Expr],
        values: &'s [syntax::Expr],
        span: Span,
    ) -> Option<StmtKind> {
        if let [target] = targets
            && !matches!(target.kind, syntax::ExprKind::Name(_))
        {
            return self.assign_place(target, values, span);
        }
        let mut variables = Vec::new();
        let mut expected = Vec::new();
        for target in targets {
            let found = match &target.kind {
                syntax::ExprKind::Name(name) => self.variable(name),
                _ => None,
            };
            let Some((variable, ty)) = found else {
                let message = match &target.kind {
                    syntax::ExprKind::Name(name) if !self.names.contains_key(&**name) => {
                        let question = self.question_of_variable(name);
                        format!("there is no variable `{name}`{question}")
                    }
                    _ if targets.len() > 1 => "only variables can be assigned together".to_owned(),
                    _ => "this is no variable".to_owned(),
                };
                self.error(message, target.span);
                continue;
            };
            if variables.contains(&variable) {
                self.error("this variable is assigned twice at once", target.span);
            }
            variables.push(variable);
            expected.push(Some(ty));
        }
        if variables.len() != targets.len() {
            return None;
        }
        Some(self.source(&expected, values, span).into_variables(variables))
    }

    /// Returns a variable and its type.
    fn variable(&self, name: &str) -> Option<(Variable, Type)> {
        if let Some(local) = self.scopes.find(name) {
            let local_declared = &self.program.locals[local];
            if local_declared.kind == LocalKind::Bound && !self.home.in_proof {
                return None;
            }
            return Some((Variable::Local(local), local_declared.ty.clone()));
        }
        match self.names.get(name).copied() {
            Some(Named::Global(id)) => {
                Some((Variable::Global(id), self.program.globals[id].ty.clone()))
            }
            Some(Named::Field(id)) => {
                Some((Variable::FieldMap(id), self.program.field_map_type(id)))
            }
            _ => None,
        }
    }

    /// `e.f := v`, `a[i] := v`, `c[] := v`, `m[k] := v`
    fn assign_place(
        &mut self,
        target: &'s syntax::Expr,
        values: &'s [syntax::Expr],
        span: Span,
    ) -> Option<StmtKind> {
        let resolved = self.expr(target, &Type::Unknown, Context::VALUE);
        let ty = resolved.ty.clone();
        let [value] = values else {
            self.expect_count("value", 1, values.len(), span);
            return None;
        };
        let value = self.expr_of(value, &ty, Context::VALUE);
        if value.is_permission() {
            self.error("permissions cannot be assigned", value.span);
        }
        let (place, value) = self.place(resolved, value)?;
        Some(StmtKind::Assign { places: vec![place], values: vec![value] })
    }

    /// Returns where something is stored; to store into a map is to store another map where it is.
    fn place(&mut self, target: Expr, value: Expr) -> Option<(Place, Expr)> {
        let span = target.span;
        Some(match target.kind {
            ExprKind::FieldRead { receiver, field } => {
                (Place::Field { receiver: *receiver, field }, value)
            }
            ExprKind::Element { array, index } => {
                (Place::Element { array: *array, index: *index }, value)
            }
            ExprKind::CellContent(cell) => (Place::Cell(*cell), value),
            ExprKind::Local(local) => (Place::Variable(Variable::Local(local)), value),
            ExprKind::Global(global) => (Place::Variable(Variable::Global(global)), value),
            ExprKind::FieldMap(field) => (Place::Variable(Variable::FieldMap(field)), value),
            ExprKind::MapRead { map, key } => {
                let inner = (*map).clone();
                let ty = inner.ty.clone();
                let kind = ExprKind::MapUpdate { map, key, value: Box::new(value) };
                let updated = Expr { kind, ty, span };
                return grow_stack(|| self.place(inner, updated));
            }
            _ => {
                if target.ty != Type::Unknown {
                    self.error("this cannot be assigned", span);
                }
                return None;
            }
        })
    }
}

/// The right-hand side of an assignment.
enum Source {
    Values(Vec<Expr>),
    Call { procedure: ProcedureId, arguments: Vec<Expr>, types: Vec<Type> },
    New(crate::program::NewObject, Type),
}

impl Source {
    fn types(&self) -> Vec<Type> {
        match self {
            Self::Values(values) => values.iter().map(|value| value.ty.clone()).collect(),
            Self::Call { types, .. } => types.clone(),
            Self::New(_, ty) => vec![ty.clone()],
        }
    }

    /// Returns the statement that assigns it.
    fn into_variables(self, targets: Vec<Variable>) -> StmtKind {
        match self {
            Self::Values(values) => {
                let places = targets.into_iter().map(Place::Variable).collect();
                StmtKind::Assign { places, values }
            }
            Self::Call { procedure, arguments, .. } => {
                StmtKind::Call { targets, procedure, arguments }
            }
            Self::New(object, _) => match targets[..] {
                [target, ..] => StmtKind::New { target, object },
                [] => StmtKind::Block(Block::default()),
            },
        }
    }
}
