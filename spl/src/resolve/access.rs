//! Assertions about single locations: `acc(..)` and `|->`.

use super::expr::unknown;
use super::{Context, Resolver};
use crate::program::{Access, Dialect, Expr, ExprKind, Type};
use crate::source::Span;
use crate::syntax;

impl<'s> Resolver<'s> {
    /// `acc(..)`; what it may be about depends on the dialect.
    pub(super) fn access(
        &mut self,
        arguments: &'s [syntax::Expr],
        span: Span,
        context: Context,
    ) -> Expr {
        let context = context.bound();
        let access = match arguments {
            [place] => {
                let place = self.expr(place, &Type::Unknown, context);
                if self.program.dialect == Dialect::Field {
                    self.field_access(place)
                } else {
                    self.object_access(place)
                }
            }
            [array, index] if self.program.dialect != Dialect::Field => {
                let array = self.expr(array, &Type::Unknown, context);
                if !matches!(array.ty, Type::Array(_)) {
                    self.expect_unknown(&array.ty.clone(), "an array", array.span);
                }
                Some(Access::Cell { array, index: self.expr_of(index, &Type::Int, context) })
            }
            [..] if self.program.dialect == Dialect::Field => {
                self.expect_count("argument", 1, arguments.len(), span);
                None
            }
            [..] => {
                self.error("`acc` has one argument, or an array and an index", span);
                None
            }
        };
        let Some(access) = access else { return Expr { ty: Type::Permission, ..unknown(span) } };
        Expr { kind: ExprKind::Access(Box::new(access)), ty: Type::Permission, span }
    }

    fn field_access(&mut self, place: Expr) -> Option<Access> {
        let (span, ty) = (place.span, place.ty);
        match place.kind {
            ExprKind::FieldRead { receiver, field } => {
                Some(Access::Field { receiver: *receiver, field })
            }
            _ if ty == Type::Unknown => None,
            _ => {
                let message = "in the field dialect `acc` is about a field: expected `acc(x.f)`";
                self.error(message, span);
                None
            }
        }
    }

    fn object_access(&mut self, place: Expr) -> Option<Access> {
        match &place.ty {
            Type::Set(element) if element.is_reference() || **element == Type::Unknown => {
                Some(Access::Objects(place))
            }
            ty if ty.is_reference() => Some(Access::Object(place)),
            ty => {
                let expected = "a reference or a set of references";
                self.expect_unknown(&ty.clone(), expected, place.span);
                None
            }
        }
    }

    pub(super) fn points_to(
        &mut self,
        location: &'s syntax::Expr,
        value: &'s syntax::Expr,
        span: Span,
        context: Context,
    ) -> Expr {
        let location = self.boxed(location, context);
        let is_location = matches!(
            location.kind,
            ExprKind::FieldRead { .. } | ExprKind::Element { .. } | ExprKind::CellContent(_)
        );
        if !is_location && location.ty != Type::Unknown {
            self.error("left of `|->` stands a field or a cell of an array", location.span);
        }
        let value = self.boxed_of(value, &location.ty.clone(), context);
        Expr { kind: ExprKind::PointsTo { location, value }, ty: Type::Permission, span }
    }
}
