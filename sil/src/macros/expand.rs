//! Macros in expressions and names.

use front::grow_stack;
use rustc_hash::FxHashSet;

use crate::parser::MAX_DEPTH;
use crate::source::{Name, Span};
use crate::syntax::walk::{Rewriter, rewrite};
use crate::syntax::{Expr, ExprKind, Ident, MacroBody, OldLabel};

use super::scopes::fresh;
use super::table::MacroId;
use super::{Argument, Expander, Frame, MAX_EXPANSION, Variable, names, parts};

/// The meaning of a name where it is used.
pub(super) enum Meaning {
    /// Itself, or a new name for it.
    Name(Name),
    Argument(Argument),
    Macro(MacroId),
}

/// How often a name macro may stand for the name of another one.
const MAX_ALIASES: usize = 1_000;

impl Expander {
    pub(super) fn expand(&mut self, expr: &mut Expr) {
        if self.depth >= MAX_DEPTH {
            self.exhaust(expr.span, format!("macros make a tree of more than {MAX_DEPTH} levels"));
            *expr = Expr::new(ExprKind::Null, expr.span);
            return;
        }
        if !self.frames.is_empty() {
            self.produce(1, expr.span);
        }
        self.depth += 1;
        grow_stack(|| self.expr_kind(expr));
        self.depth -= 1;
    }

    fn expr_kind(&mut self, expr: &mut Expr) {
        self.mark(&mut expr.span);
        match &mut expr.kind {
            ExprKind::Ident(_) => self.variable(expr),
            ExprKind::Call { .. } => self.call(expr),
            ExprKind::Field { receiver, name } => {
                self.expr(receiver);
                self.name(name);
            }
            ExprKind::Old { label, body } => {
                if let OldLabel::Label(label) = label {
                    self.label(label);
                }
                self.expr(body);
            }
            ExprKind::Acc { location, amount } => {
                self.location(location);
                self.in_place(|expander| amount.iter_mut().for_each(|it| expander.expr(it)));
            }
            ExprKind::Perm(resource) => self.location(resource),
            ExprKind::Unfolding { access, body } => {
                self.access(access);
                self.expr(body);
            }
            ExprKind::Quantified { variables, triggers, body, .. } => {
                self.binding(variables, |expander| {
                    expander.in_place(|expander| {
                        triggers.iter_mut().flatten().for_each(|term| expander.expr(term));
                    });
                    expander.expr(body);
                });
            }
            ExprKind::ForPerm { variables, resource, body } => {
                self.binding(variables, |expander| {
                    expander.expr(resource);
                    expander.expr(body);
                });
            }
            ExprKind::Let { variable, value, body } => {
                self.expr(value);
                let outside = self.enter_scope();
                self.mark(&mut variable.span);
                self.declare(variable, Variable::Bound);
                self.expr(body);
                self.leave_scope(outside);
            }
            ExprKind::Literal { element, elements, .. } => {
                element.iter_mut().for_each(|ty| self.ty(ty));
                self.in_place(|expander| elements.iter_mut().for_each(|it| expander.expr(it)));
            }
            ExprKind::MapLiteral { types, entries } => {
                if let Some((key, value)) = types.as_deref_mut() {
                    self.ty(key);
                    self.ty(value);
                }
                self.in_place(|expander| {
                    for (key, value) in entries {
                        expander.expr(key);
                        expander.expr(value);
                    }
                });
            }
            ExprKind::PredicateInstance { name, arguments } => {
                self.name(name);
                self.in_place(|expander| arguments.iter_mut().for_each(|it| expander.expr(it)));
            }
            ExprKind::New(Some(fields)) => fields.iter_mut().for_each(|field| self.name(field)),
            _ => rewrite::expr(self, expr),
        }
    }

    /// Walks the parts of an expansion that keep the place they have: as in the reference those are
    /// the elements of lists (arguments, triggers, …), the amount of an `acc`, and types.
    fn in_place(&mut self, walk: impl FnOnce(&mut Self)) {
        let call = self.call.take();
        walk(self);
        self.call = call;
    }

    /// Gives an argument the place of the call, except for what keeps its own (see
    /// [`Self::in_place`]).
    fn mark_all(&self, expr: &mut Expr) {
        grow_stack(|| {
            self.mark(&mut expr.span);
            match &mut expr.kind {
                ExprKind::Call { name, .. } => self.mark(&mut name.span),
                ExprKind::PredicateInstance { .. }
                | ExprKind::Literal { .. }
                | ExprKind::MapLiteral { .. } => {}
                ExprKind::Acc { location, .. } => self.mark_all(location),
                ExprKind::Quantified { body, .. } => self.mark_all(body),
                ExprKind::Field { receiver, name } => {
                    self.mark(&mut name.span);
                    self.mark_all(receiver);
                }
                _ => expr.for_each_child_mut(&mut |child| self.mark_all(child)),
            }
        });
    }

    /// In the expansion of an expression, what is not kept in its place stands at the call.
    pub(super) fn mark(&self, span: &mut Span) {
        if let Some(call) = self.call {
            *span = call;
        }
    }

    fn produce(&mut self, nodes: usize, span: Span) {
        self.produced = self.produced.saturating_add(nodes);
        if self.produced > MAX_EXPANSION {
            let message = format!("macros expand to more than {MAX_EXPANSION} expressions");
            self.exhaust(span, message);
        }
    }

    fn exhaust(&mut self, span: Span, message: String) {
        if !self.exhausted {
            self.exhausted = true;
            self.error(self.outermost.unwrap_or(span), message);
        }
    }

    // ---- names
    // -----------------------------------------------------------------------------------------------

    /// Returns the meaning of `name` at this place; `as_variable` where variables hide macros.
    fn meaning(&self, name: &Name, as_variable: bool) -> Meaning {
        if let Some(frame) = self.frames.last() {
            let mut declared = frame.declared.iter().rev();
            if as_variable && let Some((_, new)) = declared.find(|(old, _)| old == name) {
                return Meaning::Name(new.clone());
            }
            if let Some(argument) = frame.arguments.get(name) {
                return Meaning::Argument(argument.clone());
            }
        }
        if !(as_variable && self.scope.contains(name))
            && let Some(id) = self.table.lookup(name)
        {
            return Meaning::Macro(id);
        }
        Meaning::Name(name.clone())
    }

    /// As [`Self::meaning`] of a name that is called; macros that stand for a name are looked
    /// through.
    pub(super) fn callee(&mut self, ident: &Ident) -> Meaning {
        let mut meaning = self.meaning(&ident.name, false);
        for _ in 0..MAX_ALIASES {
            let name = match &meaning {
                Meaning::Argument(argument) => match &argument.expr.kind {
                    ExprKind::Ident(name) => name.clone(),
                    _ => return meaning,
                },
                Meaning::Macro(id) if !self.table.is_broken(*id) => match self.alias(*id) {
                    Some(name) => name,
                    None => return meaning,
                },
                _ => return meaning,
            };
            meaning = match self.table.lookup(&name) {
                Some(id) => Meaning::Macro(id),
                None => Meaning::Name(name),
            };
        }
        if let Meaning::Macro(id) = meaning {
            self.report_recursion(id);
        }
        Meaning::Name(ident.name.clone())
    }

    /// Returns the name that a macro without parameters stands for.
    fn alias(&self, id: MacroId) -> Option<Name> {
        let define = self.table.definition(id);
        match (&define.parameters, &define.body) {
            (None, MacroBody::Expr(body)) => match &body.kind {
                ExprKind::Ident(name) => Some(name.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// A field, label, predicate or function name that stands alone.
    pub(super) fn name(&mut self, ident: &mut Ident) {
        self.mark(&mut ident.span);
        match self.callee(ident) {
            Meaning::Name(name) => ident.name = name,
            Meaning::Argument(argument) => {
                let message = format!("the argument for `{}` has to be a name", ident.name);
                self.error(argument.expr.span, message);
            }
            // An expression has the same name: the field or label is meant.
            Meaning::Macro(_) => {}
        }
    }

    /// The name of a label, where it is set or referred to.
    pub(super) fn label(&mut self, ident: &mut Ident) {
        let renamed = self.frames.last().and_then(|frame| {
            let is_argument = frame.arguments.contains_key(&ident.name);
            frame.labels.get(&ident.name).filter(|_| !is_argument).cloned()
        });
        self.name(ident);
        if let Some(renamed) = renamed {
            ident.name = renamed;
        }
    }

    // ---- uses
    // ------------------------------------------------------------------------------------------------

    /// An identifier in an expression.
    fn variable(&mut self, expr: &mut Expr) {
        let ExprKind::Ident(name) = &expr.kind else { return };
        match self.meaning(name, true) {
            Meaning::Name(name) => expr.kind = ExprKind::Ident(name),
            Meaning::Argument(argument) => self.substitute(expr, argument),
            Meaning::Macro(id) => {
                if self.parameter_count(id).is_some() {
                    let name = self.table.definition(id).name.name.clone();
                    let message = format!("the macro `{name}` has parameters: write `{name}(…)`");
                    self.error(expr.span, message);
                    return;
                }
                self.expand_expr(expr, id, Vec::new());
            }
        }
    }

    fn substitute(&mut self, expr: &mut Expr, argument: Argument) {
        self.produce(argument.size.nodes, expr.span);
        if self.depth + argument.size.depth > MAX_DEPTH {
            let message = format!("macros make a tree of more than {MAX_DEPTH} levels");
            self.exhaust(expr.span, message);
        }
        if self.exhausted {
            expr.kind = ExprKind::Null;
            return;
        }
        if let ExprKind::Ident(name) = &argument.expr.kind
            && !self.scope.contains(name)
            && let Some(id) = self.table.lookup(name)
        {
            // A macro was passed that is no expression, or needs arguments.
            let define = self.table.definition(id);
            let message = format!("the macro `{}` cannot be used here", define.name.name);
            self.error(argument.expr.span, message);
        }
        let mut annotations = std::mem::take(&mut expr.annotations);
        let is_conjunct = annotations.iter().any(parts::is_note);
        *expr = argument.expr;
        if is_conjunct {
            annotations.retain(|annotation| !parts::is_note(annotation));
            parts::note(expr, &[]);
        }
        if self.call.is_some() {
            self.mark_all(expr);
        }
        annotations.append(&mut expr.annotations);
        expr.annotations = annotations;
    }

    /// Says that a macro without parameters, not even none in parentheses, is called.
    pub(super) fn takes_no_arguments(&mut self, id: MacroId, span: Span) {
        let name = self.table.definition(id).name.name.clone();
        self.error(span, format!("the macro `{name}` takes no arguments"));
    }

    fn call(&mut self, expr: &mut Expr) {
        let ExprKind::Call { name, arguments, ascription } = &mut expr.kind else { return };
        match self.callee(name) {
            Meaning::Macro(id) => {
                let arguments = std::mem::take(arguments);
                let ascription = ascription.take();
                let span = expr.span;
                if self.parameter_count(id).is_none() {
                    self.takes_no_arguments(id, span);
                    expr.kind = ExprKind::Null;
                    return;
                }
                let Some(arguments) = self.arguments(id, arguments, span) else {
                    expr.kind = ExprKind::Null;
                    return;
                };
                self.expand_expr(expr, id, arguments);
                if let Some(mut ty) = ascription {
                    self.ty(&mut ty);
                    match &mut expr.kind {
                        ExprKind::Call { ascription, .. } => *ascription = Some(ty),
                        _ => self.error(span, "only a call can be given a type in this way"),
                    }
                }
            }
            Meaning::Argument(argument) => {
                let message = format!("the argument for `{}` has to be a name", name.name);
                self.error(argument.expr.span, message);
            }
            Meaning::Name(resolved) => {
                name.name = resolved;
                self.mark(&mut name.span);
                self.in_place(|expander| arguments.iter_mut().for_each(|it| expander.expr(it)));
                ascription.iter_mut().for_each(|ty| self.ty(ty));
            }
        }
    }

    pub(super) fn parameter_count(&self, id: MacroId) -> Option<usize> {
        self.table.definition(id).parameters.as_ref().map(Vec::len)
    }

    pub(super) fn wrong_number(&mut self, id: MacroId, found: usize, span: Span) {
        let define = self.table.definition(id);
        let required = define.parameters.as_ref().map_or(0, Vec::len);
        let message = format!(
            "the macro `{}` takes {required} argument(s), but is given {found}",
            define.name.name
        );
        self.error(span, message);
    }

    /// Expands the arguments of a call at `span`; `None` where there is a wrong number of them.
    pub(super) fn arguments(
        &mut self,
        id: MacroId,
        arguments: Vec<Expr>,
        span: Span,
    ) -> Option<Vec<Argument>> {
        if self.parameter_count(id).unwrap_or(0) != arguments.len() {
            self.wrong_number(id, arguments.len(), span);
            return None;
        }
        // The arguments stand where they are written, until they take the place of a parameter.
        let outer = self.call.take();
        let arguments = arguments.into_iter().map(|argument| self.argument(argument)).collect();
        self.call = outer;
        Some(arguments)
    }

    fn argument(&mut self, mut expr: Expr) -> Argument {
        let written = expr.span;
        // A macro that is no expression is passed on by its name: the body calls it or uses it as a
        // statement.
        let is_passed_on = matches!(&expr.kind, ExprKind::Ident(name)
            if matches!(self.meaning(name, true), Meaning::Macro(id) if !self.is_plain_expression(id)));
        if !is_passed_on {
            self.expr(&mut expr);
        }
        let size = names::size(&expr);
        Argument { expr, size, written }
    }

    /// Tells whether the macro can stand alone as an expression.
    fn is_plain_expression(&self, id: MacroId) -> bool {
        let define = self.table.definition(id);
        define.parameters.is_none() && matches!(define.body, MacroBody::Expr(_))
    }

    /// Replaces `expr`, a use of the macro, by its expansion.
    fn expand_expr(&mut self, expr: &mut Expr, id: MacroId, arguments: Vec<Argument>) {
        let span = expr.span;
        let define = self.table.definition(id);
        let MacroBody::Expr(body) = &define.body else {
            let message = format!("the macro `{}` is not an expression", define.name.name);
            self.error(span, message);
            expr.kind = ExprKind::Null;
            return;
        };
        let annotations = std::mem::take(&mut expr.annotations);
        let outer = self.call;
        self.call = Some(outer.unwrap_or(span));
        let formals = define.parameters.iter().flatten().map(|formal| &formal.name);
        let written = arguments.iter().map(|argument| argument.written);
        let parameters = parts::parameters(formals.zip(written));
        let expansion = self.in_frame(id, arguments, span, |expander| {
            let mut copy = copy(body);
            parts::note(&mut copy, &parameters);
            expander.expr(&mut copy);
            copy
        });
        self.call = outer;
        *expr = expansion.unwrap_or_else(|| Expr::new(ExprKind::Null, span));
        expr.annotations.splice(0..0, annotations);
    }

    /// Runs `walk` for the body of the macro; `None` if it is not to be expanded.
    pub(super) fn in_frame<T>(
        &mut self,
        id: MacroId,
        arguments: Vec<Argument>,
        span: Span,
        walk: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        if self.table.is_broken(id) || self.exhausted {
            return None;
        }
        if self.active.contains(&id) {
            self.report_recursion(id);
            return None;
        }
        let frame = self.frame(id, arguments);
        let outermost = self.outermost;
        self.outermost = Some(outermost.unwrap_or(span));
        self.active.push(id);
        self.frames.push(frame);
        let result = walk(self);
        self.frames.pop();
        self.active.pop();
        self.outermost = outermost;
        Some(result)
    }

    fn report_recursion(&mut self, id: MacroId) {
        let define = self.table.definition(id);
        if !self.table.is_broken(id) {
            let message = format!("the macro `{}` contains itself", define.name.name);
            self.error(define.span, message);
        }
        // Everything that was entered since is on the same cycle.
        let start = self.active.iter().position(|active| *active == id).unwrap_or(0);
        for active in self.active[start..].to_vec() {
            self.table.set_broken(active);
        }
        self.table.set_broken(id);
    }

    /// Parameters stand for arguments.
    fn frame(&mut self, id: MacroId, arguments: Vec<Argument>) -> Frame {
        let mentioned: FxHashSet<_> =
            arguments.iter().flat_map(|argument| names::of_expr(&argument.expr)).collect();
        let names = self.table.names(id);
        // A label belongs to the whole method, so a second expansion has labels of its own.
        let is_set = |name: &str| self.labels.contains(name);
        let is_taken =
            |name: &str| is_set(name) || mentioned.contains(name) || names.mentioned.contains(name);
        let labels = names.labels.iter().filter(|name| is_set(name));
        let labels = labels.map(|name| (name.clone(), fresh(name, is_taken))).collect();
        let define = self.table.definition(id);
        let parameters = define.parameters.iter().flatten().map(|one| one.name.clone());
        Frame {
            arguments: parameters.zip(arguments).collect(),
            mentioned,
            names,
            labels,
            declared: Vec::new(),
        }
    }

    // ---- places that need a certain kind of expression
    // -------------------------------------------------------

    /// The location of `acc` and the resource of `perm`: if a macro stands there, it has to stand
    /// for one.
    fn location(&mut self, location: &mut Expr) {
        let is_macro = self.is_replaced(location);
        self.expr(location);
        let is_location = matches!(
            location.kind,
            ExprKind::Field { .. }
                | ExprKind::Call { .. }
                | ExprKind::Ident(_)
                | ExprKind::Binary { op: crate::syntax::BinaryOp::Wand, .. }
        );
        if is_macro && !is_location && !self.exhausted {
            self.error(location.span, "this macro is not a field access or a predicate");
        }
    }

    /// The operand of `unfolding`.
    fn access(&mut self, access: &mut Expr) {
        let is_macro = self.is_replaced(access);
        self.expr(access);
        if is_macro
            && !self.exhausted
            && !matches!(access.kind, ExprKind::Acc { .. } | ExprKind::Call { .. })
        {
            self.error(access.span, "this macro is not a predicate");
        }
    }

    /// A target of an assignment.
    pub(super) fn target(&mut self, target: &mut Expr) {
        let is_replaced = self.is_replaced(target);
        if matches!(target.kind, ExprKind::Call { .. }) && !is_replaced {
            self.error(target.span, "only a variable or a field can be assigned to");
            return;
        }
        self.expr(target);
        if is_replaced
            && !self.exhausted
            && !matches!(target.kind, ExprKind::Ident(_) | ExprKind::Field { .. })
        {
            self.error(target.span, "only a variable or a field can be assigned to");
        }
    }

    /// Tells whether `expr` is a macro or a parameter.
    fn is_replaced(&mut self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Ident(name) => !matches!(self.meaning(name, true), Meaning::Name(_)),
            ExprKind::Call { name, .. } => !matches!(self.callee(name), Meaning::Name(_)),
            _ => false,
        }
    }
}

/// Returns a copy of a body; copying recurses, and bodies can be as deep as the parser allows.
fn copy(body: &Expr) -> Expr {
    stacker::maybe_grow(MAX_DEPTH * 512, MAX_DEPTH * 1024, || body.clone())
}
