//! Names in expressions: locals, `this`, members.

use rustc_hash::FxHashSet;

use super::{Context, Resolver};
use crate::program::{
    Access, AccessTarget, Expr, ExprKind, FieldRef, FunctionId, LocalId, Member, Permission,
    PermissionKind, Type,
};
use crate::source::Span;
use crate::syntax::Ident;

/// The meaning of a selection.
pub(super) enum Selected {
    /// A declared or special field.
    Field(FieldRef),
    /// Another member of a class.
    Member(Member),
}

impl Resolver<'_> {
    /// `this`, written or implied.
    pub(super) fn this(&mut self, span: Span) -> Expr {
        if self.home.is_static {
            self.error("a static function has no `this`", span);
        }
        let ty = self.home.this.clone().unwrap_or(Type::Unknown);
        Expr { kind: ExprKind::This, ty, span }
    }

    /// Returns a name alone: a local, or else a member of `this`.
    pub(super) fn name(&mut self, name: &str, span: Span, context: Context) -> Expr {
        if let Some(local) = self.scopes.find(name) {
            return self.local_read(local, span, context);
        }
        let receiver = self.this(span);
        if self.lacks(&receiver.ty, name) {
            let class = self.show(&receiver.ty);
            let question = self.question(name, &receiver.ty, self.scopes.names());
            self.error(
                format!(
                    "there is no variable `{name}`, and {class} has no member `{name}`{question}"
                ),
                span,
            );
            return unknown(span);
        }
        self.select(receiver, name, span, span, context)
    }

    pub(super) fn local_read(&mut self, local: LocalId, span: Span, context: Context) -> Expr {
        if !context.ghost {
            self.expect_no_ghost_local(local, span);
        }
        Expr { kind: ExprKind::Local(local), ty: self.local(local).ty.clone(), span }
    }

    /// `receiver.name` as an expression or predicate.
    pub(super) fn select(
        &mut self,
        receiver: Expr,
        name: &str,
        name_span: Span,
        span: Span,
        context: Context,
    ) -> Expr {
        match self.find_member(&receiver.ty, name, name_span) {
            None => unknown(span),
            Some(Selected::Field(field)) => self.field_read(receiver, field, span, context),
            Some(Selected::Member(Member::Predicate(predicate))) => {
                if !context.spec {
                    let message = format!(
                        "the predicate `{name}` can be mentioned only where permissions can"
                    );
                    self.error(message, span);
                }
                let target = AccessTarget::Predicate { receiver, predicate };
                let amount = Permission { kind: PermissionKind::Full, span };
                let access = Access { target, amount, is_bare: true, span };
                Expr { kind: ExprKind::Access(Box::new(access)), ty: Type::Bool, span }
            }
            Some(Selected::Member(_)) => {
                self.error(format!("`{name}` is neither a field nor a predicate"), span);
                unknown(span)
            }
        }
    }

    pub(super) fn field_read(
        &mut self,
        receiver: Expr,
        field: FieldRef,
        span: Span,
        context: Context,
    ) -> Expr {
        let ty = self.field_type(field);
        if !context.ghost {
            self.expect_no_ghost_field(field, span);
        }
        Expr { kind: ExprKind::FieldRead { receiver: Box::new(receiver), field }, ty, span }
    }

    fn expect_no_ghost_local(&mut self, local: LocalId, span: Span) {
        if self.local(local).is_ghost && !self.in_ghost_code {
            let message = format!(
                "the ghost variable `{}` cannot be used here: what runs must not depend on it",
                self.local(local).name
            );
            self.error(message, span);
        }
    }

    /// Reports functions of replaced fields where their values are those of code that runs.
    ///
    /// Functions tell code the values of fields that are ghosts from the start, as ever (trap C28).
    pub(super) fn expect_no_replaced_fields(&mut self) {
        let mut found: FxHashSet<FunctionId> = FxHashSet::default();
        let reads_replaced = |body: &Expr, found: &FxHashSet<FunctionId>| {
            body.any(&mut |part| match &part.kind {
                ExprKind::FieldRead { field: FieldRef::Declared(field), .. } => {
                    self.program.fields[*field].is_replaced
                }
                ExprKind::Apply { function, .. } => found.contains(function),
                _ => false,
            })
        };
        // Functions apply each other, so that one more may follow from one more.
        loop {
            let functions = self.program.functions.iter();
            let more: Vec<FunctionId> = functions
                .filter(|(id, function)| {
                    let body = function.body.as_ref();
                    !found.contains(id) && body.is_some_and(|body| reads_replaced(body, &found))
                })
                .map(|(id, _)| id)
                .collect();
            if more.is_empty() {
                break;
            }
            found.extend(more);
        }
        for (function, span) in std::mem::take(&mut self.applied) {
            if found.contains(&function) {
                let name = &self.program.functions[function].name;
                self.error(
                    format!(
                        "`{name}` reads replaced fields and cannot be used here: what runs must not depend on them"
                    ),
                    span,
                );
            }
        }
    }

    fn expect_no_ghost_field(&mut self, field: FieldRef, span: Span) {
        if let FieldRef::Declared(id) = field
            && self.program.fields[id].is_ghost
            && !self.in_ghost_code
        {
            let name = &self.program.fields[id].name;
            self.error(
                format!(
                    "the ghost field `{name}` cannot be used here: what runs must not depend on it"
                ),
                span,
            );
        }
    }

    /// Reports the ghosts that an expression reads which was resolved as if it were ghost code.
    pub(super) fn expect_no_ghosts(&mut self, e: &Expr) {
        e.any(&mut |part| {
            match &part.kind {
                ExprKind::Local(local) => self.expect_no_ghost_local(*local, part.span),
                ExprKind::FieldRead { field, .. } => self.expect_no_ghost_field(*field, part.span),
                _ => {}
            }
            false
        });
    }

    pub(super) fn is_ghost_field(&self, field: FieldRef) -> bool {
        matches!(field, FieldRef::Declared(id) if self.program.fields[id].is_ghost)
    }

    pub(super) fn field_type(&self, field: FieldRef) -> Type {
        match field {
            FieldRef::Declared(field) => self.program.fields[field].ty.clone(),
            FieldRef::Mu => Type::Mu,
            FieldRef::Joinable => Type::Bool,
        }
    }

    /// Returns the member of that name in a type; reports if there is none.
    pub(super) fn find_member(&mut self, ty: &Type, name: &str, span: Span) -> Option<Selected> {
        if *ty == Type::Unknown {
            return None;
        }
        if let Type::Class(class) = ty
            && let Some(&member) = self.names.members.get(&(*class, name))
        {
            return Some(match member {
                Member::Field(field) => Selected::Field(FieldRef::Declared(field)),
                member => Selected::Member(member),
            });
        }
        match (ty, name) {
            (Type::Class(_) | Type::Channel(_) | Type::Token(_), "mu") => {
                Some(Selected::Field(FieldRef::Mu))
            }
            (Type::Token(_), "joinable") => Some(Selected::Field(FieldRef::Joinable)),
            _ => {
                let question = match (ty, name) {
                    (Type::Seq(_) | Type::Set(_), "length" | "size" | "count") => {
                        "; a length is written `|…|`".to_owned()
                    }
                    (Type::Seq(_), "head" | "first") => {
                        "; the first element is written `s[0]`".to_owned()
                    }
                    (Type::Seq(_), "tail") => "; the rest is written `s[1..]`".to_owned(),
                    _ => self.question(name, ty, []),
                };
                let message = format!("{} has no member `{name}`{question}", self.show(ty));
                self.error(message, span);
                None
            }
        }
    }

    /// Tells whether objects of this class are known not to have such a member.
    fn lacks(&self, ty: &Type, name: &str) -> bool {
        matches!(ty, Type::Class(class) if !self.names.members.contains_key(&(*class, name)))
            && name != "mu"
    }

    /// Returns the end of a message about a member that a type does not have: which member, or
    /// other name, may be meant.
    fn question<'n>(
        &'n self,
        name: &str,
        ty: &Type,
        others: impl IntoIterator<Item = &'n str>,
    ) -> String {
        let own: Vec<&str> = match ty {
            Type::Class(class) => {
                let members = self.names.members.keys();
                members.filter(|(of, _)| of == class).map(|(_, member)| *member).collect()
            }
            _ => Vec::new(),
        };
        self.spelling.question(name, others.into_iter().chain(own))
    }

    /// Returns the receiver a call or application names, or `this`.
    ///
    /// One static function may apply another by its name alone: that receiver is never evaluated.
    pub(super) fn receiver(&mut self, receiver: Option<Expr>, member: &Ident) -> Expr {
        if let Some(receiver) = receiver {
            return receiver;
        }
        let ty = self.home.this.clone().unwrap_or(Type::Unknown);
        if self.home.is_static && self.is_static_function(&ty, &member.name) {
            return Expr { kind: ExprKind::This, ty, span: member.span };
        }
        self.this(member.span)
    }

    fn is_static_function(&self, ty: &Type, name: &str) -> bool {
        let Type::Class(class) = ty else { return false };
        match self.names.members.get(&(*class, name)) {
            Some(Member::Function(function)) => self.program.functions[*function].is_static,
            _ => false,
        }
    }
}

/// Returns a stand-in for an expression whose error has been reported.
pub(super) fn unknown(span: Span) -> Expr {
    Expr { kind: ExprKind::Null, ty: Type::Unknown, span }
}
