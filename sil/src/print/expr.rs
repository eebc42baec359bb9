//! Expressions, with as few parentheses as their reading back allows.

mod operators;

use front::grow_stack;
use indexmap::{IndexMap, IndexSet};
use la_arena::Arena;

use super::layout::Line;
use super::origins;
use super::precedence::{Follows, Level, level_of, swallows_what_follows};
use super::types::{mentions, type_text};
use crate::program::{
    Annotation, Collection, DomainFunctionId, Expr, ExprKind, Label, LabelId, Local, LocalId,
    Location, OldLabel, PredicateAccess, Program, Quantifier, Resource, Type,
};
use crate::source::{Name, OriginId};

/// The names of a member's variables and labels, as printed.
pub(super) struct LocalNames<'a> {
    pub(super) locals: &'a Arena<Local>,
    pub(super) labels: Option<&'a Arena<Label>>,
    /// Variables that print with another name than their own.
    pub(super) renamed: IndexMap<LocalId, Name>,
    /// Variables declared further out, whose `var` prints as a call that supplies an arbitrary
    /// value.
    pub(super) supplied: IndexSet<LocalId>,
    /// Leaves annotations out.
    pub(super) is_plain: bool,
}

impl<'a> LocalNames<'a> {
    pub(super) fn new(locals: &'a Arena<Local>) -> Self {
        Self {
            locals,
            labels: None,
            renamed: IndexMap::new(),
            supplied: IndexSet::new(),
            is_plain: false,
        }
    }

    pub(super) fn local(&self, local: LocalId) -> &str {
        self.renamed.get(&local).map_or(&self.locals[local].name, |name| name)
    }

    pub(super) fn label(&self, label: LabelId) -> String {
        match self.labels {
            Some(labels) => labels[label].name.to_string(),
            None => format!("label{}", label.into_raw().into_u32()),
        }
    }
}

/// The annotations that are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Annotations {
    /// All, `@src.…` where the origin changes from this one.
    From(OriginId),
    Omitted,
}

/// Appends expressions, and what is written like them, to a line.
pub(super) struct Printer<'p> {
    program: &'p Program,
    scope: &'p LocalNames<'p>,
    annotations: Annotations,
    line: &'p mut Line,
    /// The operation printed next is part of the group of the one around it.
    continues_group: bool,
}

impl<'p> Printer<'p> {
    pub(super) fn new(
        program: &'p Program,
        scope: &'p LocalNames<'p>,
        annotations: Annotations,
        line: &'p mut Line,
    ) -> Self {
        Self { program, scope, annotations, line, continues_group: false }
    }

    /// An expression that stands by itself.
    pub(super) fn print(mut self, expr: &Expr) {
        self.expr(expr, Level::Conditional, Follows::Nothing);
    }

    /// The condition of a `quasihavoc`, which `==>` follows.
    pub(super) fn print_before_implication(mut self, expr: &Expr) {
        self.expr(expr, Level::Wand, Follows::Something);
    }

    /// A resource as `perm` and `quasihavoc` write it: without `acc`.
    pub(super) fn print_resource(mut self, resource: &Resource) {
        self.resource(resource);
    }

    /// The operand of `fold` and `unfold`.
    pub(super) fn print_access(mut self, access: &PredicateAccess) {
        self.predicate_access(access);
    }

    /// `receiver.field`, as the target of an assignment.
    pub(super) fn print_field(mut self, receiver: &Expr, field: &str) {
        self.base(receiver);
        self.line.text(".");
        self.line.text(field);
    }
}

impl Printer<'_> {
    /// Prints `expr` where a form of at least this level may stand.
    fn expr(&mut self, expr: &Expr, at_least: Level, follows: Follows) {
        grow_stack(|| {
            let annotations = self.annotations_of(expr);
            if annotations.is_empty() {
                let level = level_of(expr);
                let swallows = follows == Follows::Something && swallows_what_follows(expr);
                if level < at_least || swallows {
                    self.line.text("(");
                    self.bare(expr, Follows::Nothing);
                    self.line.text(")");
                } else {
                    self.bare(expr, follows);
                }
                return;
            }
            self.line.begin(2);
            for annotation in annotations {
                self.line.text(annotation);
                self.line.space();
            }
            self.line.text("(");
            let outside = self.annotations;
            if self.annotations != Annotations::Omitted {
                self.annotations = Annotations::From(expr.span.origin);
            }
            self.bare(expr, Follows::Nothing);
            self.annotations = outside;
            self.line.text(")");
            self.line.end();
        });
    }

    fn annotations_of(&self, expr: &Expr) -> Vec<String> {
        let Annotations::From(origin) = self.annotations else { return Vec::new() };
        origins::between(self.program, origin, expr.span.origin)
            .into_iter()
            .chain(&expr.annotations)
            .map(origins::annotation_text)
            .collect()
    }

    /// A whole expression between brackets.
    fn whole(&mut self, expr: &Expr) {
        self.expr(expr, Level::Conditional, Follows::Nothing);
    }

    /// Prints the expression before a suffix such as `.f` or `[i]`.
    fn base(&mut self, expr: &Expr) {
        if self.annotations_of(expr).is_empty() {
            self.expr(expr, Level::Suffix, Follows::Something);
        } else {
            self.between("(", &[expr], "", ")");
        }
    }

    /// Whole expressions between brackets, apart by a separator.
    fn between(&mut self, open: &str, exprs: &[&Expr], separator: &str, close: &str) {
        for (index, expr) in exprs.iter().enumerate() {
            self.line.text(if index == 0 { open } else { separator });
            self.whole(expr);
        }
        self.line.text(close);
    }

    fn bare(&mut self, expr: &Expr, follows: Follows) {
        match &expr.kind {
            ExprKind::Int(value) => self.line.text(value.to_string()),
            ExprKind::Bool(value) => self.line.text(if *value { "true" } else { "false" }),
            ExprKind::Null => self.line.text("null"),
            ExprKind::NoPerm => self.line.text("none"),
            ExprKind::FullPerm => self.line.text("write"),
            ExprKind::Wildcard => self.line.text("wildcard"),
            ExprKind::Result => self.line.text("result"),
            ExprKind::Local(local) => self.line.text(self.scope.local(*local)),
            ExprKind::FieldRead { receiver, field } => {
                self.base(receiver);
                self.line.text(".");
                self.line.text(&self.program.fields[*field].name);
            }
            ExprKind::Apply { function, arguments } => {
                self.call(&self.program.functions[*function].name, arguments);
            }
            ExprKind::DomainApply { function, instance, arguments } => {
                self.domain_application(expr, *function, instance, arguments);
            }
            ExprKind::Unary { op, operand } => self.unary(*op, operand),
            ExprKind::Binary { op, left, right } => {
                self.binary(expr, *op, left, right, follows);
            }
            ExprKind::And(operands) => self.chain(" &&", Level::Equality, operands, follows),
            ExprKind::Or(operands) => self.chain(" ||", Level::And, operands, follows),
            ExprKind::Conditional { condition, then, otherwise } => {
                self.line.begin(2);
                self.expr(condition, Level::Iff, Follows::Something);
                self.line.space();
                self.line.text("? ");
                self.expr(then, Level::Iff, Follows::Nothing);
                self.line.space();
                self.line.text(": ");
                self.expr(otherwise, Level::Conditional, follows);
                self.line.end();
            }
            ExprKind::Wand { left, right } => {
                self.line.begin(2);
                self.expr(left, Level::Or, Follows::Something);
                self.line.text(" --*");
                self.line.space();
                self.expr(right, Level::Conditional, follows);
                self.line.end();
            }
            ExprKind::Old { label, body } => {
                self.line.text("old");
                match label {
                    OldLabel::Entry => {}
                    OldLabel::Lhs => self.line.text("[lhs]"),
                    OldLabel::Label(label) => {
                        self.line.text(format!("[{}]", self.scope.label(*label)));
                    }
                }
                self.arguments(std::slice::from_ref(&**body));
            }
            ExprKind::Let { variable, value, body } => {
                self.line.begin(2);
                self.line.text(format!("let {} == (", self.scope.local(*variable)));
                self.whole(value);
                self.line.text(") in");
                self.body(body, follows);
            }
            ExprKind::Quantified { quantifier, variables, triggers, body } => {
                self.line.begin(2);
                self.line.text(match quantifier {
                    Quantifier::Forall => "forall ",
                    Quantifier::Exists => "exists ",
                });
                self.binders(variables);
                self.line.text(" ::");
                for trigger in triggers {
                    self.line.space();
                    self.line.text("{ ");
                    self.list(trigger);
                    self.line.text(if trigger.is_empty() { "}" } else { " }" });
                }
                self.body(body, follows);
            }
            ExprKind::ForPerm { variables, resource, body } => {
                self.line.begin(2);
                self.line.text("forperm ");
                self.binders(variables);
                self.line.text(" [");
                self.resource(resource);
                self.line.text("] ::");
                self.body(body, follows);
            }
            ExprKind::Perm(resource) => {
                self.line.text("perm(");
                self.resource(resource);
                self.line.text(")");
            }
            ExprKind::Acc { location, amount } => self.access(location, amount),
            ExprKind::InhaleExhale { inhale, exhale } => {
                self.between("[", &[inhale, exhale], ", ", "]");
            }
            ExprKind::Unfolding { access, body } => {
                self.line.begin(2);
                self.line.text("unfolding ");
                self.predicate_access(access);
                self.line.text(" in");
                self.body(body, follows);
            }
            ExprKind::Applying { wand: first, body } => {
                self.ghost("applying (", first, body, follows);
            }
            ExprKind::Asserting { assertion: first, body } => {
                self.ghost("asserting (", first, body, follows);
            }
            ExprKind::Literal { collection, elements } => {
                self.line.text(match collection {
                    Collection::Seq => "Seq",
                    Collection::Set => "Set",
                    Collection::Multiset => "Multiset",
                });
                if let (Type::Seq(element) | Type::Set(element) | Type::Multiset(element), []) =
                    (&expr.ty, &elements[..])
                {
                    self.line.text(format!("[{}]", type_text(self.program, element)));
                }
                self.arguments(elements);
            }
            ExprKind::MapLiteral { entries } => self.map_literal(&expr.ty, entries),
            ExprKind::Range { low, high } => self.between("[", &[low, high], "..", ")"),
            ExprKind::Index { base, index } => {
                self.base(base);
                self.between("[", &[index], "", "]");
            }
            ExprKind::Update { base, index, value } => {
                self.base(base);
                self.between("[", &[index, value], " := ", "]");
            }
            ExprKind::Take { base, count } => {
                self.base(base);
                self.between("[..", &[count], "", "]");
            }
            ExprKind::Drop { base, count } => self.drop_or_slice(base, count),
            ExprKind::Cardinality(operand) => {
                self.line.text("|");
                let mark = self.line.mark();
                self.whole(operand);
                // `||s| …` would start with the operator for "or".
                if self.line.has_bar_at_edge_since(mark) {
                    self.line.insert_text(mark, "(");
                    self.line.text(")");
                }
                self.line.text("|");
            }
            ExprKind::MapDomain(map) => self.call("domain", std::slice::from_ref(&**map)),
            ExprKind::MapRange(map) => self.call("range", std::slice::from_ref(&**map)),
        }
    }

    /// The operand of a form that reaches as far to the right as it can; ends the group of that
    /// form.
    fn body(&mut self, body: &Expr, follows: Follows) {
        self.line.space();
        self.expr(body, Level::Conditional, follows);
        self.line.end();
    }

    fn ghost(&mut self, words: &str, first: &Expr, body: &Expr, follows: Follows) {
        self.line.begin(2);
        self.line.text(words);
        self.whole(first);
        self.line.text(") in");
        self.body(body, follows);
    }

    fn call(&mut self, name: &str, arguments: &[Expr]) {
        self.line.text(name);
        self.arguments(arguments);
    }

    fn arguments(&mut self, arguments: &[Expr]) {
        self.line.text("(");
        self.line.begin(2);
        if arguments.len() > 1 {
            self.line.soft_break();
        }
        self.list(arguments);
        self.line.end();
        self.line.text(")");
    }

    fn list(&mut self, exprs: &[Expr]) {
        for (index, expr) in exprs.iter().enumerate() {
            if index > 0 {
                self.line.text(",");
                self.line.space();
            }
            self.whole(expr);
        }
    }

    /// With its type where the arguments do not tell what the domain's parameters are.
    fn domain_application(
        &mut self,
        expr: &Expr,
        function: DomainFunctionId,
        instance: &[Type],
        arguments: &[Expr],
    ) {
        let declared = &self.program.domain_functions[function];
        let parameters = &self.program.domains[declared.domain].parameters;
        let is_told = |parameter: &Name| {
            declared.formals.iter().any(|(_, ty)| mentions(ty, parameter))
                || !mentions(&declared.result, parameter)
        };
        let needs_type = !instance.is_empty() && !parameters.iter().all(is_told);
        if needs_type {
            self.line.text("(");
        }
        self.call(&declared.name, arguments);
        if needs_type {
            self.line.text(format!(": {})", type_text(self.program, &expr.ty)));
        }
    }

    fn binders(&mut self, variables: &[LocalId]) {
        let binders: Vec<String> = variables
            .iter()
            .map(|&variable| {
                let ty = &self.scope.locals[variable].ty;
                format!("{}: {}", self.scope.local(variable), type_text(self.program, ty))
            })
            .collect();
        self.line.text(binders.join(", "));
    }

    fn access(&mut self, location: &Location, amount: &Expr) {
        match (location, &amount.kind) {
            (Location::Predicate { .. }, ExprKind::FullPerm) => self.location(location),
            (Location::Field { .. }, ExprKind::FullPerm) => {
                self.line.text("acc(");
                self.location(location);
                self.line.text(")");
            }
            _ => {
                self.line.text("acc(");
                self.location(location);
                self.line.text(", ");
                self.whole(amount);
                self.line.text(")");
            }
        }
    }

    fn predicate_access(&mut self, access: &PredicateAccess) {
        let name = &self.program.predicates[access.predicate].name;
        if matches!(access.amount.kind, ExprKind::FullPerm) {
            self.call(name, &access.arguments);
            return;
        }
        self.line.text("acc(");
        self.call(name, &access.arguments);
        self.line.text(", ");
        self.whole(&access.amount);
        self.line.text(")");
    }

    fn location(&mut self, location: &Location) {
        match location {
            Location::Field { receiver, field } => {
                self.base(receiver);
                self.line.text(".");
                self.line.text(&self.program.fields[*field].name);
            }
            Location::Predicate { predicate, arguments } => {
                self.call(&self.program.predicates[*predicate].name, arguments);
            }
        }
    }

    fn resource(&mut self, resource: &Resource) {
        match resource {
            Resource::Location(location) => self.location(location),
            Resource::Wand(wand) => self.whole(wand),
        }
    }

    fn map_literal(&mut self, ty: &Type, entries: &[(Expr, Expr)]) {
        self.line.text("Map");
        if let (Type::Map(key, value), []) = (ty, entries) {
            let (key, value) = (type_text(self.program, key), type_text(self.program, value));
            self.line.text(format!("[{key}, {value}]"));
        }
        self.line.text("(");
        for (index, (key, value)) in entries.iter().enumerate() {
            if index > 0 {
                self.line.text(", ");
            }
            self.whole(key);
            self.line.text(" := ");
            self.whole(value);
        }
        self.line.text(")");
    }

    fn drop_or_slice(&mut self, base: &Expr, count: &Expr) {
        match &base.kind {
            ExprKind::Take { base: whole, count: end } if self.annotations_of(base).is_empty() => {
                self.base(whole);
                self.between("[", &[count, end], "..", "]");
            }
            _ => {
                self.base(base);
                self.between("[", &[count], "", "..]");
            }
        }
    }
}

/// Annotations of a list of clauses or members, one a line.
pub(super) fn annotation_lines<'a>(
    program: &'a Program,
    in_effect: OriginId,
    origin: OriginId,
    annotations: &'a [Annotation],
) -> Vec<String> {
    origins::between(program, in_effect, origin)
        .into_iter()
        .chain(annotations)
        .map(origins::annotation_text)
        .collect()
}
