//! Expressions.

use num_bigint::BigInt;

use crate::source::Span;
use crate::syntax::{
    Annotation, BinaryOp, Collection, Expr, ExprKind, Ident, OldLabel, Quantifier, Trigger, UnaryOp,
};

use super::precedence::{Operand, Operator, Shape};
use super::{Builder, Node, Nodes, Rule, find, fitted, next, next_if, skip};

/// Digits of an integer literal: reading takes quadratic time.
const MAX_DIGITS: usize = 100_000;

/// A prefix of an atom.
enum Prefix {
    Operator(UnaryOp, Span),
    Annotation(Annotation),
}

impl Builder<'_> {
    pub(super) fn exp(&mut self, node: Node<'_>) -> Expr {
        self.row(node).expr
    }

    /// Returns an operand without prefixes, at the start of a statement.
    pub(super) fn target(&mut self, node: Node<'_>) -> Expr {
        self.operand(&mut node.into_inner()).expr
    }

    /// `operand (operator operand)*`.
    fn row(&mut self, node: Node<'_>) -> Operand {
        let span = self.span(&node);
        let mut parts = node.into_inner();
        if !self.enter(1, span) {
            return Operand::closed(Expr::new(ExprKind::Null, span), span, 1);
        }
        let floor = self.stacks.floor();
        loop {
            let operand = self.operand(&mut parts);
            self.stacks.operands.push(operand);
            let Some(part) = parts.next() else { break };
            let operator = if part.as_rule() == Rule::then_branch {
                let then = self.row(next(&mut part.into_inner()));
                Operator::Conditional(then.expr, then.height)
            } else {
                Operator::from_text(part.as_str())
            };
            self.push_operator(operator, floor);
        }
        let row = self.finish_row(floor);
        self.leave(1);
        self.tallest = self.tallest.max(row.height);
        row
    }

    /// `(prefix_op | annotation)* atom suffix*`.
    fn operand(&mut self, parts: &mut Nodes<'_>) -> Operand {
        let nodes_before = self.nodes;
        let mut prefixes = Vec::new();
        let atom = loop {
            let part = next(parts);
            match part.as_rule() {
                Rule::prefix_op => {
                    let op = if part.as_str() == "!" { UnaryOp::Not } else { UnaryOp::Minus };
                    prefixes.push(Prefix::Operator(op, self.span(&part)));
                }
                Rule::annotation => prefixes.push(Prefix::Annotation(self.annotation(part))),
                _ => break part,
            }
        };
        let outside = std::mem::take(&mut self.tallest);
        let mut operand = self.atom(atom);
        operand.height = self.tallest + 1;
        // An annotation right before the atom belongs to it, not to its suffixes.
        while matches!(prefixes.last(), Some(Prefix::Annotation(_))) {
            if let Some(prefix) = prefixes.pop() {
                self.prefixed(prefix, &mut operand);
            }
        }
        while let Some(part) = parts.peek() {
            if !matches!(
                part.as_rule(),
                Rule::field_suffix | Rule::index_suffix | Rule::take_suffix
            ) {
                break;
            }
            self.suffixed(next(parts), &mut operand);
        }
        while let Some(prefix) = prefixes.pop() {
            self.prefixed(prefix, &mut operand);
        }
        operand.weight = self.nodes - nodes_before;
        self.tallest = outside;
        operand
    }

    fn prefixed(&mut self, prefix: Prefix, operand: &mut Operand) {
        operand.shape = Shape::Closed;
        match prefix {
            Prefix::Operator(op, span) => {
                let span = span.to(operand.span);
                operand.span = span;
                replace(&mut operand.expr, span, |operand| ExprKind::Unary { op, operand });
                self.nodes += 1;
                operand.height += 1;
                self.limit_height(operand);
            }
            Prefix::Annotation(annotation) => {
                operand.span = annotation.span.to(operand.span);
                operand.expr.annotations.insert(0, annotation);
            }
        }
    }

    fn suffixed(&mut self, node: Node<'_>, operand: &mut Operand) {
        let span = operand.span.to(self.span(&node));
        operand.span = span;
        self.nodes += 1;
        self.suffix(node, span, &mut operand.expr);
        operand.height = operand.height.max(self.tallest) + 1;
        self.limit_height(operand);
    }

    /// Puts a suffix behind `expr`.
    fn suffix(&mut self, node: Node<'_>, span: Span, expr: &mut Expr) {
        let rule = node.as_rule();
        let mut parts = node.into_inner();
        let first = next(&mut parts);
        if rule == Rule::field_suffix {
            let name = self.ident(&first);
            replace(expr, span, |receiver| ExprKind::Field { receiver, name });
            return;
        }
        let index = Box::new(self.exp(first));
        if rule == Rule::take_suffix {
            let high = Some(index);
            replace(expr, span, |base| ExprKind::Slice { base, low: None, high });
            return;
        }
        let Some(part) = parts.next() else {
            replace(expr, span, |base| ExprKind::Index { base, index });
            return;
        };
        let is_slice = part.as_rule() == Rule::slice_part;
        let second = part.into_inner().next().map(|part| Box::new(self.exp(part)));
        replace(expr, span, |base| match second {
            Some(value) if !is_slice => ExprKind::Update { base, index, value },
            high => ExprKind::Slice { base, low: Some(index), high },
        });
    }

    fn atom(&mut self, node: Node<'_>) -> Operand {
        let span = self.span(&node);
        if node.as_rule() == Rule::paren {
            return self.paren(node, span);
        }
        self.nodes += 1;
        let kind = self.atom_kind(node, span);
        Operand::closed(Expr::new(kind, span), span, 1)
    }

    /// `(e)` keeps the span of `e` for the expression, but what is built around it starts at the
    /// parenthesis.
    fn paren(&mut self, node: Node<'_>, span: Span) -> Operand {
        let mut parts = node.into_inner();
        let mut inner = self.row(next(&mut parts));
        if let Some(part) = parts.next() {
            let ty = self.ty(part);
            match &mut inner.expr.kind {
                ExprKind::Call { ascription: ascription @ None, .. }
                    if inner.expr.span == inner.span =>
                {
                    *ascription = Some(Box::new(ty));
                }
                _ => self.error(ty.span, "only a call can be given a type in this way"),
            }
        }
        Operand::closed(inner.expr, span, inner.weight)
    }

    fn atom_kind(&mut self, node: Node<'_>, span: Span) -> ExprKind {
        match node.as_rule() {
            Rule::name => self.name_or_call(node, span),
            Rule::integer => self.integer(node.as_str(), span),
            Rule::literal_word => literal_word(node.as_str()),
            Rule::acc => self.acc(node),
            Rule::quantified => self.quantified(node),
            Rule::old => self.old(node),
            Rule::unfolding => {
                let mut parts = node.into_inner();
                skip(&mut parts, Rule::kw_unfolding);
                let access = next(&mut parts);
                let amount = next_if(&mut parts, Rule::cw_by).map(|_| next(&mut parts));
                let access = Box::new(self.access(access, amount));
                ExprKind::Unfolding { access, body: self.boxed_exp(&mut parts) }
            }
            Rule::cardinality => ExprKind::Cardinality(self.boxed_exp(&mut node.into_inner())),
            Rule::bracket => self.bracket(node),
            Rule::collection_literal => self.collection_literal(node),
            Rule::let_in => {
                let mut parts = node.into_inner();
                let variable = self.ident(&find(&mut parts, Rule::ident));
                let value = self.boxed_exp(&mut parts);
                ExprKind::Let { variable, value, body: self.boxed_exp(&mut parts) }
            }
            Rule::perm => {
                let resource = self.boxed_exp(&mut node.into_inner());
                self.check_resource(&resource);
                ExprKind::Perm(resource)
            }
            Rule::map_literal => self.map_literal(node),
            Rule::forperm => {
                let mut parts = node.into_inner();
                skip(&mut parts, Rule::kw_forperm);
                let variables = self.take_typed_names(&mut parts);
                let resource = self.boxed_exp(&mut parts);
                self.check_resource(&resource);
                ExprKind::ForPerm { variables, resource, body: self.boxed_exp(&mut parts) }
            }
            Rule::map_part => {
                let mut parts = node.into_inner();
                let word = next(&mut parts);
                let map = self.boxed_exp(&mut parts);
                if word.as_str() == "domain" {
                    ExprKind::MapDomain(map)
                } else {
                    ExprKind::MapRange(map)
                }
            }
            Rule::applying => {
                let mut parts = node.into_inner();
                let part = find(&mut parts, Rule::wand);
                let mut operands = part.clone().into_inner();
                match (operands.next(), operands.next()) {
                    (Some(only), None) if only.as_rule() == Rule::paren => {
                        self.check_wand(&find(&mut only.into_inner(), Rule::exp));
                    }
                    _ => self.check_wand(&part),
                }
                let wand = Box::new(self.exp(part));
                ExprKind::Applying { wand, body: self.boxed_exp(&mut parts) }
            }
            Rule::asserting => {
                let mut parts = node.into_inner();
                let assertion = self.boxed_exp(&mut parts);
                ExprKind::Asserting { assertion, body: self.boxed_exp(&mut parts) }
            }
            Rule::new => {
                let is_star = node.clone().into_inner().any(|part| part.as_rule() == Rule::star);
                ExprKind::New(if is_star { None } else { Some(self.idents(node)) })
            }
            Rule::predicate_instance => self.predicate_instance(node, span),
            rule => unreachable!("{rule:?} is no atom"),
        }
    }

    /// Returns the next expression among `parts`.
    fn boxed_exp(&mut self, parts: &mut Nodes<'_>) -> Box<Expr> {
        Box::new(self.exp(find(parts, Rule::exp)))
    }

    /// Returns all expressions among the parts of `node`.
    pub(super) fn exps(&mut self, node: Node<'_>) -> Vec<Expr> {
        let nodes = node.into_inner().filter(|part| part.as_rule() == Rule::exp);
        fitted(nodes.map(|part| self.exp(part)).collect())
    }

    fn name_or_call(&mut self, node: Node<'_>, span: Span) -> ExprKind {
        let mut parts = node.into_inner();
        let name = self.ident(&next(&mut parts));
        let Some(arguments) = parts.next() else { return ExprKind::Ident(name.name) };
        if self.base + arguments.as_span().start() > name.span.end as usize {
            self.warning(span, "a space between a name and its arguments is deprecated");
        }
        ExprKind::Call { name, arguments: self.exps(arguments), ascription: None }
    }

    fn integer(&mut self, digits: &str, span: Span) -> ExprKind {
        if digits.len() > MAX_DIGITS {
            self.error(span, format!("an integer literal has at most {MAX_DIGITS} digits"));
            return ExprKind::Int(BigInt::default());
        }
        // Nearly all literals are small, and reading those is much faster.
        let value = digits.parse::<u64>().map(BigInt::from);
        let value = value.or_else(|_| digits.parse::<BigInt>());
        ExprKind::Int(value.expect("the grammar lets only digits pass"))
    }

    /// `acc(…)` or the call of a predicate, as operand of `fold`, `unfold` and `unfolding`; the
    /// amount is what stands behind `by`.
    pub(super) fn access(&mut self, node: Node<'_>, amount: Option<Node<'_>>) -> Expr {
        let operand = self.atom(node);
        if !matches!(operand.expr.kind, ExprKind::Acc { .. } | ExprKind::Call { .. }) {
            self.error(
                operand.span,
                "a predicate with its arguments, as in `P(x)`, is expected here",
            );
        }
        let Some(amount) = amount else { return operand.expr };
        let amount = self.exp(amount);
        let span = Span { end: amount.span.end, ..operand.expr.span };
        if matches!(operand.expr.kind, ExprKind::Acc { .. }) {
            self.error(span, "the amount is written twice, in `acc` and behind `by`");
        }
        let location = Box::new(operand.expr);
        Expr::new(ExprKind::Acc { location, amount: Some(Box::new(amount)) }, span)
    }

    fn acc(&mut self, node: Node<'_>) -> ExprKind {
        let mut parts = node.into_inner();
        let location = self.boxed_exp(&mut parts);
        self.check_location(&location);
        let amount = parts.next().map(|part| Box::new(self.exp(part)));
        ExprKind::Acc { location, amount }
    }

    /// Locations are field accesses and predicates; the call of a macro may stand for either.
    fn check_location(&mut self, location: &Expr) {
        if !matches!(location.kind, ExprKind::Field { .. } | ExprKind::Call { .. }) {
            self.error(
                location.span,
                "a field of an object, as in `x.f`, or a predicate, as in `P(x)`, is expected here",
            );
        }
    }

    /// Resources are locations and magic wands.
    fn check_resource(&mut self, resource: &Expr) {
        if !matches!(resource.kind, ExprKind::Binary { op: BinaryOp::Wand, .. }) {
            self.check_location(resource);
        }
    }

    /// The operand of `apply`, `package` and `applying` ends where an operator stands that binds
    /// weaker than `--*`.
    pub(super) fn check_wand(&mut self, node: &Node<'_>) {
        for part in node.clone().into_inner() {
            let is_weaker = match part.as_rule() {
                Rule::then_branch => true,
                Rule::binary_op if part.as_str() == "--*" => return,
                Rule::binary_op => matches!(part.as_str(), "==>" | "<==>"),
                _ => false,
            };
            if is_weaker {
                let mut span = self.span(&part);
                span.end = span.start + 1;
                self.error(
                    span,
                    "this operator binds weaker than `--*`: a magic wand ends before it",
                );
                return;
            }
        }
    }

    fn quantified(&mut self, node: Node<'_>) -> ExprKind {
        let mut parts = node.into_inner();
        let quantifier = match next(&mut parts).as_str() {
            "forall" => Quantifier::Forall,
            _ => Quantifier::Exists,
        };
        let variables = self.take_typed_names(&mut parts);
        skip(&mut parts, Rule::double_colon);
        let mut triggers = Vec::new();
        while let Some(part) = next_if(&mut parts, Rule::trigger) {
            let span = self.span(&part);
            triggers.push(Trigger { terms: self.exps(part), span });
        }
        let body = self.boxed_exp(&mut parts);
        ExprKind::Quantified { quantifier, variables, triggers, body }
    }

    fn old(&mut self, node: Node<'_>) -> ExprKind {
        let mut parts = node.into_inner();
        skip(&mut parts, Rule::kw_old);
        let label = if next_if(&mut parts, Rule::kw_lhs).is_some() {
            OldLabel::Lhs
        } else if let Some(part) = next_if(&mut parts, Rule::ident) {
            OldLabel::Label(self.ident(&part))
        } else {
            OldLabel::Entry
        };
        ExprKind::Old { label, body: self.boxed_exp(&mut parts) }
    }

    /// `[a, b]` or `[a..b)`.
    fn bracket(&mut self, node: Node<'_>) -> ExprKind {
        let mut parts = node.into_inner();
        let first = self.boxed_exp(&mut parts);
        let part = next(&mut parts);
        let is_pair = part.as_rule() == Rule::pair_part;
        let second = self.boxed_exp(&mut part.into_inner());
        if is_pair { ExprKind::InhaleExhale(first, second) } else { ExprKind::Range(first, second) }
    }

    fn collection_literal(&mut self, node: Node<'_>) -> ExprKind {
        let mut parts = node.into_inner();
        let collection = match next(&mut parts).as_str() {
            "Seq" => Collection::Seq,
            "Set" => Collection::Set,
            _ => Collection::Multiset,
        };
        let mut element = None;
        let mut part = next(&mut parts);
        if part.as_rule() != Rule::arguments {
            element = Some(Box::new(self.ty(part)));
            skip(&mut parts, Rule::close_bracket);
            part = next(&mut parts);
        }
        let elements = self.exps(part);
        if let (Some(ty), false) = (&element, elements.is_empty()) {
            self.error(ty.span, "only an empty literal is given its element type");
        }
        ExprKind::Literal { collection, element, elements }
    }

    fn map_literal(&mut self, node: Node<'_>) -> ExprKind {
        let mut types = Vec::new();
        let mut entries = Vec::new();
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::kw_map | Rule::open_paren | Rule::close_bracket => {}
                Rule::map_entry => {
                    let mut parts = part.into_inner();
                    let key = self.exp(find(&mut parts, Rule::exp));
                    entries.push((key, self.exp(find(&mut parts, Rule::exp))));
                }
                _ => types.push(self.ty(part)),
            }
        }
        let value = types.pop();
        let types = types.pop().zip(value);
        if let (Some((key, _)), false) = (&types, entries.is_empty()) {
            self.error(key.span, "only an empty literal is given its types");
        }
        ExprKind::MapLiteral { types: types.map(Box::new), entries }
    }

    fn predicate_instance(&mut self, node: Node<'_>, span: Span) -> ExprKind {
        match self.name_or_call(next(&mut node.into_inner()), span) {
            ExprKind::Call { name, arguments, .. } => {
                ExprKind::PredicateInstance { name, arguments }
            }
            kind => {
                self.error(span, "`#` is followed by a predicate and its arguments");
                kind
            }
        }
    }

    /// `(wand "==>")? exp` of `quasihavoc`: condition and resource.
    pub(super) fn havoc_parts(&mut self, node: Node<'_>) -> (Option<Expr>, Expr) {
        let operand = self.row(node);
        match operand.expr.kind {
            ExprKind::Binary { op: BinaryOp::Implies, left, right }
                if operand.shape == Shape::Implies =>
            {
                (Some(*left), *right)
            }
            kind => (None, Expr { kind, ..operand.expr }),
        }
    }

    /// Targets of assignments are variables, field accesses, or (macro) calls.
    pub(super) fn check_target(&mut self, target: &Expr, in_parentheses: bool) {
        let is_target = match target.kind {
            ExprKind::Ident(_) => !in_parentheses,
            ExprKind::Field { .. } | ExprKind::Call { ascription: None, .. } => true,
            _ => false,
        };
        if !is_target {
            self.error(target.span, "only a variable or a field can be assigned to");
        }
    }

    pub(super) fn label(&mut self, part: &Node<'_>) -> Ident {
        self.ident(part)
    }
}

/// Puts a new node around `expr`.
fn replace(expr: &mut Expr, span: Span, wrap: impl FnOnce(Box<Expr>) -> ExprKind) {
    let inner = std::mem::replace(expr, Expr::new(ExprKind::Null, span));
    expr.kind = wrap(Box::new(inner));
}

fn literal_word(word: &str) -> ExprKind {
    match word {
        "true" => ExprKind::Bool(true),
        "false" => ExprKind::Bool(false),
        "null" => ExprKind::Null,
        "result" => ExprKind::Result,
        "none" => ExprKind::NoPerm,
        "write" => ExprKind::FullPerm,
        "wildcard" => ExprKind::Wildcard,
        _ => ExprKind::Epsilon,
    }
}
