//! Macros that stand for types.

use super::expand::Meaning;
use super::table::MacroId;
use super::{Argument, Expander, names};
use crate::source::Span;
use crate::syntax::walk::{Rewriter, rewrite};
use crate::syntax::{Expr, ExprKind, Ident, MacroArgument, MacroBody, Type, TypeKind};

impl Expander {
    pub(super) fn expand_in_type(&mut self, ty: &mut Type) {
        rewrite::ty(self, ty);
        let span = ty.span;
        match &mut ty.kind {
            TypeKind::Named { name, arguments } => {
                let is_parameter = self.scope.contains(&name.name) && self.frames.is_empty();
                if is_parameter {
                    return;
                }
                match self.callee(name) {
                    Meaning::Name(resolved) => name.name = resolved,
                    Meaning::Argument(_) => {
                        let message = format!("the argument for `{}` has to be a type", name.name);
                        self.error(span, message);
                    }
                    Meaning::Macro(id) if arguments.is_empty() => {
                        self.expand_type(ty, id, Vec::new());
                    }
                    Meaning::Macro(_) => {
                        let message = format!("the macro `{}` takes no types", name.name);
                        self.error(span, message);
                    }
                }
            }
            TypeKind::MacroCall { name, arguments } => {
                let arguments = std::mem::take(arguments);
                match self.callee(name) {
                    Meaning::Macro(id) => self.expand_type(ty, id, arguments),
                    _ => {
                        let message = format!("there is no macro `{}`", name.name);
                        self.error(span, message);
                    }
                }
            }
            _ => {}
        }
    }

    fn expand_type(&mut self, ty: &mut Type, id: MacroId, arguments: Vec<MacroArgument>) {
        let span = ty.span;
        if self.parameter_count(id).unwrap_or(0) != arguments.len() {
            self.wrong_number(id, arguments.len(), span);
            return;
        }
        let define = self.table.definition(id);
        let body = match &define.body {
            MacroBody::Type(body) => body.clone(),
            MacroBody::Expr(body) => match type_from_expr(body) {
                Some(body) => body,
                None => return self.not_a_type(&define.name, span),
            },
            MacroBody::Block(_) | MacroBody::Empty => return self.not_a_type(&define.name, span),
        };
        let arguments = arguments.into_iter().map(|argument| self.type_argument(&argument, span));
        let arguments = arguments.collect();
        let expansion = self.in_frame(id, arguments, span, |expander| {
            let mut body = body;
            expander.ty(&mut body);
            body
        });
        if let Some(expansion) = expansion {
            *ty = expansion;
        }
    }

    /// Arguments of type macros are names.
    fn type_argument(&mut self, argument: &MacroArgument, span: Span) -> Argument {
        let mut ident = Ident { name: argument.0.clone(), span };
        if argument.0.contains(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$')) {
            self.error(span, "the argument of a type macro has to be a name");
        }
        self.name(&mut ident);
        let expr = Expr::new(ExprKind::Ident(ident.name), span);
        Argument { size: names::size(&expr), written: expr.span, expr }
    }

    fn not_a_type(&mut self, name: &Ident, span: Span) {
        self.error(span, format!("the macro `{}` is not a type", name.name));
    }
}

/// Returns a body that was read as an expression though a type is meant: a name, or a call of a
/// type macro.
fn type_from_expr(body: &Expr) -> Option<Type> {
    let kind = match &body.kind {
        ExprKind::Ident(name) => {
            let name = Ident { name: name.clone(), span: body.span };
            TypeKind::Named { name, arguments: Vec::new() }
        }
        ExprKind::Call { name, arguments, ascription: None } => {
            let arguments = arguments.iter().map(|argument| match &argument.kind {
                ExprKind::Ident(name) => Some(MacroArgument(name.clone())),
                _ => None,
            });
            TypeKind::MacroCall { name: name.clone(), arguments: arguments.collect::<Option<_>>()? }
        }
        _ => return None,
    };
    Some(Type { kind, span: body.span })
}
