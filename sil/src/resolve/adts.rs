//! Destructors and discriminators: what `e.f` and `e.isC` mean for an `e` of an adt.
//!
//! An adt stands in the parse tree beside the domain that encodes it. The same name may belong to
//! several adts and to a field: the type of the receiver decides.

use rustc_hash::FxHashMap;

use super::context::Resolver;
use super::inference::{Meaning, Referent};
use super::names::{Found, Global, Globals};
use super::unify::Ty;
use crate::plugins::adt;
use crate::program::{BinaryOp, DomainFunctionId, DomainId, Expr, ExprKind, Type};
use crate::source::{Name, Span};
use crate::syntax::{self, Adt, Ident, MemberKind};

/// A possible meaning of a name after a dot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selector {
    domain: DomainId,
    /// Applied to the receiver.
    function: DomainFunctionId,
    /// For a discriminator, the tag that the result is compared with.
    tag: Option<u32>,
}

/// All selectors of all adts.
#[derive(Debug, Default)]
pub(super) struct Selectors(FxHashMap<Name, Vec<Selector>>);

impl Selectors {
    /// Returns the table of the adts whose domains are declared in `globals`.
    pub(super) fn of(program: &syntax::Program, globals: &Globals) -> Self {
        let mut selectors = Self::default();
        for member in &program.members {
            if let MemberKind::Adt(adt) = &member.kind {
                selectors.add(adt, globals);
            }
        }
        selectors
    }

    fn add(&mut self, adt: &Adt, globals: &Globals) {
        let Some(domain) = globals.domain(&adt.name.name) else { return };
        let function = |name: String| match globals.get(&name.into()) {
            Some(Global::DomainFunction(function)) => Some(function),
            _ => None,
        };
        // Fields first: they hide discriminators, which is an error, but no reason for others.
        for formal in adt.constructors.iter().flat_map(|constructor| &constructor.formals) {
            let field = &formal.name.name;
            if let Some(function) = function(adt::destructor_name(&adt.name.name, field)) {
                self.insert(field.clone(), Selector { domain, function, tag: None });
            }
        }
        for constructor in &adt.constructors {
            let name = &constructor.name.name;
            let tag = Some(adt::tag(adt, name) as u32);
            if let Some(function) = function(adt::tag_name(&adt.name.name)) {
                self.insert(format!("is{name}").into(), Selector { domain, function, tag });
            }
        }
    }

    fn insert(&mut self, name: Name, selector: Selector) {
        self.0.entry(name).or_default().push(selector);
    }

    /// Returns the names, in no order.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(|name| &**name)
    }

    fn get(&self, name: &Name) -> &[Selector] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

impl Resolver<'_, '_> {
    /// `receiver.name`, where the receiver's type is known as far as it is.
    pub(super) fn infer_field(
        &mut self,
        receiver: &syntax::Expr,
        name: &Ident,
    ) -> (Meaning, Referent) {
        let receiver_type = self.pure(receiver);
        let head = self.inference.unifier.head(&receiver_type);
        let selectors = self.shared.selectors.get(&name.name);
        let field = match self.field_named(name) {
            Found::One(Global::Field(field)) => Some(field),
            Found::Several => {
                self.error(name.span, format!("ambiguous field `{}`", name.name));
                return (Meaning { ty: Ty::Error, pure: true }, Referent::None);
            }
            _ => None,
        };
        let selector = match head {
            Ty::Domain(domain, _) => selectors.iter().find(|selector| selector.domain == domain),
            Ty::Hole(_) if field.is_none() => selectors.first(),
            _ => None,
        };
        // If the type fits none of several meanings, any of them says so.
        let selector = selector.or_else(|| selectors.first().filter(|_| field.is_none())).copied();
        if let Some(selector) = selector {
            // A field hides a discriminator; of two fields neither hides the other.
            let field_of_adt =
                |other: &&Selector| other.domain == selector.domain && other.tag.is_none();
            if selector.tag.is_none() && selectors.iter().filter(field_of_adt).count() > 1 {
                self.error(name.span, format!("ambiguous field `{}`", name.name));
                return (Meaning { ty: Ty::Error, pure: true }, Referent::None);
            }
            return self.infer_selector(receiver, &receiver_type, selector);
        }
        let Some(field) = field else {
            self.error(name.span, self.undeclared_field(name, Some(&head)));
            return (Meaning { ty: Ty::Error, pure: true }, Referent::None);
        };
        if !self.unify(receiver.span, &receiver_type, &Ty::Ref)
            && let Some(error) = self.shared.diagnostics.last_mut()
        {
            error.message.push_str("; only what a `Ref` stands for has fields");
        }
        let ty = Ty::of(&self.shared.program.fields[field].ty);
        (Meaning { ty, pure: true }, Referent::Field(field))
    }

    /// Makes the message about a field that does not exist.
    pub(super) fn undeclared_field(&self, name: &Ident, receiver: Option<&Ty>) -> String {
        if let "length" | "size" | "len" | "count" = &*name.name
            && matches!(receiver, Some(Ty::Seq(_) | Ty::Set(_) | Ty::Multiset(_) | Ty::Map(_)))
        {
            return format!("undeclared field `{}`; a length is written `|…|`", name.name);
        }
        if let Some(Ty::Seq(_)) = receiver {
            match &*name.name {
                "head" | "first" => {
                    return format!(
                        "undeclared field `{}`; the first element is written `s[0]`",
                        name.name
                    );
                }
                "tail" => {
                    return format!(
                        "undeclared field `{}`; the rest is written `s[1..]`",
                        name.name
                    );
                }
                _ => {}
            }
        }
        let globals = self.shared.globals;
        let is_field = |global| matches!(global, Global::Field(_));
        let mut question = globals.question(&name.name, is_field);
        if question.is_empty() {
            question = globals.spelling.question(&name.name, self.shared.selectors.names());
        }
        if question.is_empty() && matches!(receiver, Some(Ty::Ref)) {
            question = format!("; a field is declared as in `field {}: Int`", name.name);
        }
        format!("undeclared field `{}`{question}", name.name)
    }

    fn infer_selector(
        &mut self,
        receiver: &syntax::Expr,
        receiver_type: &Ty,
        selector: Selector,
    ) -> (Meaning, Referent) {
        let program = self.shared.program;
        let parameters = &program.domains[selector.domain].parameters;
        let instance: Vec<_> = parameters.iter().map(|_| self.inference.fresh_instance()).collect();
        let domain = Ty::Domain(selector.domain, instance.as_slice().into());
        if !self.unify(receiver.span, receiver_type, &domain) {
            return (Meaning { ty: Ty::Error, pure: true }, Referent::None);
        }
        let ty = match selector.tag {
            Some(_) => Ty::Bool,
            None => {
                let result = &program.domain_functions[selector.function].result;
                Ty::instantiate(result, parameters, &instance)
            }
        };
        (Meaning { ty, pure: true }, Referent::Selector(selector, instance))
    }

    /// Returns the application that a selector stands for.
    pub(super) fn build_selector(
        &mut self,
        receiver: Expr,
        selector: Selector,
        instance: &[Ty],
        span: Span,
    ) -> ExprKind {
        let instance = instance.iter().map(|ty| self.inference.ground(ty)).collect();
        let arguments = vec![receiver];
        let applied = ExprKind::DomainApply { function: selector.function, instance, arguments };
        let Some(tag) = selector.tag else { return applied };
        let span = self.at(span);
        let int = |kind| Box::new(Expr::new(kind, Type::Int, span));
        let (left, right) = (int(applied), int(ExprKind::Int(tag.into())));
        ExprKind::Binary { op: BinaryOp::Eq, left, right }
    }
}
