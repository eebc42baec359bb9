//! Expressions other than operators, applications and binders.

use front::grow_stack;
use num_bigint::BigInt;

use super::{Context, Named, Resolver};
use crate::program::{Expr, ExprKind, Local, LocalKind, NewObject, Stmt, StmtKind, Type, Variable};
use crate::source::Span;
use crate::syntax::{self, Ident, TypeExpr, TypeExprKind};

impl<'s> Resolver<'s> {
    /// Returns an expression; `hint` is the type that its place suggests, for `null`, empty sets
    /// and the like.
    pub(super) fn expr(&mut self, expr: &'s syntax::Expr, hint: &Type, context: Context) -> Expr {
        grow_stack(|| self.any_expr(expr, hint, context))
    }

    pub(super) fn boxed(&mut self, expr: &'s syntax::Expr, context: Context) -> Box<Expr> {
        Box::new(self.expr(expr, &Type::Unknown, context))
    }

    /// Returns an expression of a given type.
    pub(super) fn expr_of(&mut self, expr: &'s syntax::Expr, ty: &Type, context: Context) -> Expr {
        let resolved = self.expr(expr, ty, context);
        self.coerce(resolved, ty)
    }

    pub(super) fn boxed_of(
        &mut self,
        expr: &'s syntax::Expr,
        ty: &Type,
        context: Context,
    ) -> Box<Expr> {
        Box::new(self.expr_of(expr, ty, context))
    }

    /// Returns a pure formula.
    pub(super) fn formula(&mut self, expr: &'s syntax::Expr, context: Context) -> Expr {
        self.expr_of(expr, &Type::Bool, context)
    }

    /// Returns an assertion, with or without permissions. Its type says which.
    pub(super) fn assertion(&mut self, expr: &'s syntax::Expr, context: Context) -> Expr {
        self.expr_of(expr, &Type::Permission, context)
    }

    fn any_expr(&mut self, expr: &'s syntax::Expr, hint: &Type, context: Context) -> Expr {
        let span = expr.span;
        let (kind, ty) = match &expr.kind {
            syntax::ExprKind::Int(number) => (ExprKind::Int(number.clone()), Type::Int),
            syntax::ExprKind::Char(character) => {
                (ExprKind::Int(BigInt::from(u32::from(*character))), Type::Byte)
            }
            syntax::ExprKind::Bool(truth) => (ExprKind::Bool(*truth), Type::Bool),
            syntax::ExprKind::Null => {
                let ty = if hint.is_reference() { hint.clone() } else { Type::Null };
                (ExprKind::Null, ty)
            }
            syntax::ExprKind::Emp => (ExprKind::Emp, Type::Permission),
            syntax::ExprKind::Name(name) => return self.name(name, span, context),
            syntax::ExprKind::Call { callee, arguments } => {
                return self.call(callee, arguments, span, hint, context);
            }
            syntax::ExprKind::Select { receiver, member } => {
                return self.select(receiver, member, span, context);
            }
            syntax::ExprKind::Index { base, index } => {
                return self.index(base, index, span, context);
            }
            syntax::ExprKind::Update { base, index, value } => {
                return self.update(base, index, value, span, hint, context);
            }
            syntax::ExprKind::Content(cell) => {
                let cell = self.boxed(cell, context);
                let ty = match &cell.ty {
                    Type::ArrayCell(element) => (**element).clone(),
                    ty => {
                        self.expect_unknown(&ty.clone(), "a cell of an array", cell.span);
                        Type::Unknown
                    }
                };
                (ExprKind::CellContent(cell), ty)
            }
            syntax::ExprKind::New { ty, arguments } => {
                return self.nested_new(ty, arguments, span, context);
            }
            syntax::ExprKind::Set { element, elements } => {
                return self.set(element.as_ref(), elements, span, hint, context);
            }
            syntax::ExprKind::Comprehension { variable, body } => {
                return self.comprehension(variable, body, span, hint, context);
            }
            syntax::ExprKind::ByteToInt(inner) => {
                (ExprKind::ByteToInt(self.boxed_of(inner, &Type::Byte, context)), Type::Int)
            }
            syntax::ExprKind::IntToByte(inner) => {
                (ExprKind::IntToByte(self.boxed_of(inner, &Type::Int, context)), Type::Byte)
            }
            syntax::ExprKind::Quantified { quantifier, variables, body } => {
                return self.quantified(*quantifier, variables, body, span, context);
            }
            syntax::ExprKind::Unfolding { predicate, arguments, body } => {
                let found = self.predicate_use(predicate, arguments, context);
                let body = Box::new(self.expr(body, hint, context));
                let ty = body.ty.clone();
                match found {
                    Some(predicate) => (ExprKind::Unfolding { predicate, body }, ty),
                    None => return *body,
                }
            }
            syntax::ExprKind::Annotated { body, annotations } => {
                let body = Box::new(self.expr(body, hint, context));
                let annotations = annotations
                    .iter()
                    .filter_map(|annotation| self.annotation(annotation, context))
                    .collect();
                let ty = body.ty.clone();
                (ExprKind::Annotated { body, annotations }, ty)
            }
            syntax::ExprKind::Unary { .. }
            | syntax::ExprKind::Binary { .. }
            | syntax::ExprKind::Chain { .. }
            | syntax::ExprKind::And(_)
            | syntax::ExprKind::Or(_)
            | syntax::ExprKind::Star(_)
            | syntax::ExprKind::Overlap(_)
            | syntax::ExprKind::Conditional { .. } => {
                return self.operation(expr, hint, context);
            }
        };
        Expr { kind, ty, span }
    }

    /// Returns a name alone: a variable, a parameter of a macro, or something global that has a
    /// value.
    fn name(&mut self, name: &str, span: Span, context: Context) -> Expr {
        if let Some(local) = self.scopes.find(name) {
            let ty = self.program.locals[local].ty.clone();
            return Expr { kind: ExprKind::Local(local), ty, span };
        }
        if let Some(argument) = self.macro_argument(name) {
            return self
                .outside_expansion(|resolver| resolver.expr(argument, &Type::Unknown, context));
        }
        match self.names.get(name).copied() {
            Some(Named::Global(id)) => {
                let ty = self.program.globals[id].ty.clone();
                Expr { kind: ExprKind::Global(id), ty, span }
            }
            Some(Named::Field(id)) => {
                let ty = self.program.field_map_type(id);
                Expr { kind: ExprKind::FieldMap(id), ty, span }
            }
            Some(Named::Constructor(_) | Named::Function(_)) => {
                self.applied(name, span, &[], span, context)
            }
            Some(other) => {
                self.error(format!("`{name}` is {}, not a value", other.noun()), span);
                unknown(span)
            }
            None => {
                let question = self.question_of_variable(name);
                self.error(format!("`{name}` is not declared{question}"), span);
                unknown(span)
            }
        }
    }

    fn select(
        &mut self,
        receiver: &'s syntax::Expr,
        member: &'s Ident,
        span: Span,
        context: Context,
    ) -> Expr {
        let receiver = self.boxed(receiver, context);
        let name = member.name.as_str();
        let ty = receiver.ty.clone();
        let built_in = match (&ty, name) {
            (Type::Array(_), "length") => Some((ExprKind::ArrayLength as fn(_) -> _, Type::Int)),
            (Type::Array(element), "cells") => {
                let cells =
                    Type::Map(Box::new(Type::Int), Box::new(Type::ArrayCell(element.clone())));
                Some((ExprKind::ArrayCells as fn(_) -> _, cells))
            }
            (Type::Array(element), "map") => {
                let map = Type::Map(Box::new(Type::Int), element.clone());
                Some((ExprKind::ArrayMap as fn(_) -> _, map))
            }
            (Type::ArrayCell(element), "array") => {
                Some((ExprKind::CellArray as fn(_) -> _, Type::Array(element.clone())))
            }
            (Type::ArrayCell(_), "index") => Some((ExprKind::CellIndex as fn(_) -> _, Type::Int)),
            _ => None,
        };
        if let Some((make, ty)) = built_in {
            return Expr { kind: make(receiver), ty, span };
        }
        let receiver = match self.select_from_map(receiver, member, span, context) {
            Ok(selected) => return selected,
            Err(receiver) => receiver,
        };
        match (ty, self.names.get(name).copied()) {
            (Type::Unknown, _) => unknown(span),
            (Type::Struct(_) | Type::Null, Some(Named::Field(field))) => {
                let declared = &self.program.fields[field];
                let (parent, ty) = (Type::Struct(declared.parent), declared.ty.clone());
                let receiver = Box::new(self.coerce(*receiver, &parent));
                Expr { kind: ExprKind::FieldRead { receiver, field }, ty, span }
            }
            (Type::Datatype(_), Some(Named::Destructor(destructor))) => {
                let declared = &self.program.destructors[destructor];
                let (parent, ty) = (declared.constructor, declared.ty.clone());
                let expected = Type::Datatype(self.program.constructors[parent].datatype);
                let term = Box::new(self.coerce(*receiver, &expected));
                Expr { kind: ExprKind::Destruct { term, destructor }, ty, span }
            }
            (ty, _) => {
                let question = match &ty {
                    Type::Struct(_) | Type::Null => {
                        self.question(name, |named| matches!(named, Named::Field(_)))
                    }
                    Type::Datatype(_) => {
                        self.question(name, |named| matches!(named, Named::Destructor(_)))
                    }
                    Type::Array(_) if matches!(name, "len" | "size" | "count") => {
                        hints::spelling::did_you_mean("length")
                    }
                    Type::Array(_) => self.spelling.question(name, ["length", "cells"]),
                    _ => String::new(),
                };
                let message = format!("{} has no `{name}`{question}", self.show(&ty));
                self.error(message, member.span);
                unknown(span)
            }
        }
    }

    /// `e.m` where `m` is a variable or macro parameter that is a map from the type of `e`: a field
    /// is such a map, too.
    fn select_from_map(
        &mut self,
        receiver: Box<Expr>,
        member: &'s Ident,
        span: Span,
        context: Context,
    ) -> Result<Expr, Box<Expr>> {
        let is_variable = self.scopes.find(&member.name).is_some()
            || self.macro_argument(&member.name).is_some()
            || matches!(self.names.get(member.name.as_str()), Some(Named::Global(_)));
        if !is_variable {
            return Err(receiver);
        }
        let map = Box::new(self.name(&member.name, member.span, context));
        let Type::Map(from, to) = map.ty.clone() else { return Err(receiver) };
        if super::types::joined(&from, &receiver.ty).is_none() {
            return Err(receiver);
        }
        let key = Box::new(self.coerce(*receiver, &from));
        Ok(Expr { kind: map_read(map, key), ty: *to, span })
    }

    fn index(
        &mut self,
        base: &'s syntax::Expr,
        index: &'s syntax::Expr,
        span: Span,
        context: Context,
    ) -> Expr {
        let base = self.boxed(base, context);
        match base.ty.clone() {
            Type::Array(element) => {
                let index = self.boxed_of(index, &Type::Int, context);
                Expr { kind: ExprKind::Element { array: base, index }, ty: *element, span }
            }
            Type::Map(from, to) => {
                let key = self.boxed_of(index, &from, context);
                Expr { kind: map_read(base, key), ty: *to, span }
            }
            ty => {
                self.expect_unknown(&ty, "an array or map", base.span);
                self.boxed(index, context);
                unknown(span)
            }
        }
    }

    fn update(
        &mut self,
        base: &'s syntax::Expr,
        index: &'s syntax::Expr,
        value: &'s syntax::Expr,
        span: Span,
        hint: &Type,
        context: Context,
    ) -> Expr {
        let map = self.expr(base, hint, context);
        let map = match map.ty.clone() {
            Type::Array(element) => {
                Box::new(self.coerce(map, &Type::Map(Box::new(Type::Int), element)))
            }
            _ => Box::new(map),
        };
        match map.ty.clone() {
            Type::Map(from, to) => {
                let key = self.boxed_of(index, &from, context);
                let value = self.boxed_of(value, &to, context);
                let ty = map.ty.clone();
                Expr { kind: ExprKind::MapUpdate { map, key, value }, ty, span }
            }
            ty => {
                self.expect_unknown(&ty, "a map", map.span);
                unknown(span)
            }
        }
    }

    fn set(
        &mut self,
        element: Option<&'s TypeExpr>,
        elements: &'s [syntax::Expr],
        span: Span,
        hint: &Type,
        context: Context,
    ) -> Expr {
        let mut ty = match (element, hint) {
            (Some(element), _) => self.type_of(element),
            (None, Type::Set(element)) => (**element).clone(),
            (None, _) => Type::Unknown,
        };
        let is_given = element.is_some();
        let mut resolved: Vec<Expr> = Vec::new();
        for element in elements {
            let one = self.expr(element, &ty, context);
            if resolved.is_empty() && !is_given && !one.ty.has_holes() {
                ty = one.ty.clone();
            }
            let one = self.coerce(one, &ty);
            if ty.has_holes() && !one.ty.has_holes() {
                ty = one.ty.clone();
                resolved = resolved.into_iter().map(|earlier| self.coerce(earlier, &ty)).collect();
            }
            resolved.push(one);
        }
        Expr { kind: ExprKind::Set(resolved), ty: Type::set(ty), span }
    }

    /// `new` inside an expression: the object is made before the statement.
    fn nested_new(
        &mut self,
        ty: &'s TypeExpr,
        arguments: &'s [syntax::Expr],
        span: Span,
        context: Context,
    ) -> Expr {
        let Some((object, ty)) = self.new_object(ty, arguments, span, context) else {
            return unknown(span);
        };
        let local = self.temporary("new", ty.clone(), span);
        let kind = StmtKind::New { target: Variable::Local(local), object };
        self.hoisted.push(Stmt { kind, span });
        Expr { kind: ExprKind::Local(local), ty, span }
    }

    /// Resolves the object that `new` makes, and its type.
    pub(super) fn new_object(
        &mut self,
        written: &'s TypeExpr,
        arguments: &'s [syntax::Expr],
        span: Span,
        context: Context,
    ) -> Option<(NewObject, Type)> {
        if !context.effects {
            self.error("no object can be made in a specification, function or predicate", span);
        }
        let ty = self.type_of(written);
        match &ty {
            Type::Struct(id) => {
                if !arguments.is_empty() {
                    self.error("a new object of a struct has no arguments", span);
                }
                Some((NewObject::Struct(*id), ty))
            }
            Type::Array(element)
                if matches!(written.kind, TypeExprKind::Array(_) | TypeExprKind::Name(_)) =>
            {
                let [length] = arguments else {
                    self.error("a new array has one argument, its length", span);
                    return None;
                };
                let length = self.expr_of(length, &Type::Int, context);
                Some((NewObject::Array { element: (**element).clone(), length }, ty))
            }
            Type::Unknown => None,
            ty => {
                let message = format!("there are no new objects of {}", self.show(ty));
                self.error(message, written.span);
                None
            }
        }
    }

    /// Returns a variable for the value of something that is hoisted.
    pub(super) fn temporary(
        &mut self,
        name: &str,
        ty: Type,
        span: Span,
    ) -> crate::program::LocalId {
        let kind = LocalKind::Temporary;
        let name = name.to_owned();
        self.locals().alloc(Local { name, ty, kind, is_ghost: false, is_implicit: false, span })
    }

    /// Reports that an expression is not what was expected, unless its type is not known anyway.
    pub(super) fn expect_unknown(&mut self, ty: &Type, expected: &str, span: Span) {
        if *ty != Type::Unknown {
            let found = self.show(ty);
            self.error(format!("expected {expected}, found {found}"), span);
        }
    }
}

/// `m[k]`; of a field it is `k.f`.
fn map_read(map: Box<Expr>, key: Box<Expr>) -> ExprKind {
    match map.kind {
        ExprKind::FieldMap(field) => ExprKind::FieldRead { receiver: key, field },
        _ => ExprKind::MapRead { map, key },
    }
}

/// Makes the expression that stands for one with an error.
pub(super) fn unknown(span: Span) -> Expr {
    Expr { kind: ExprKind::Null, ty: Type::Unknown, span }
}
