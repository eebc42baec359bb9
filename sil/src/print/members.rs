//! Members: fields, predicates, functions, domains, methods.

use super::expr::{Annotations, LocalNames, Printer, annotation_lines};
use super::layout::Line;
use super::types::type_text;
use super::{Form, Writer, names};
use crate::program::{
    Annotation, Body, Contract, Decreases, DecreasesKind, Domain, DomainFunction, Expr, Function,
    Implementation, Local, LocalId, Member, Method, MethodId, Predicate,
};
use crate::source::OriginId;
use crate::{cfg, source::Span};

/// The context of printed clauses and statements: names, and the origin in effect.
#[derive(Clone, Copy)]
pub(super) struct Context<'c> {
    pub(super) scope: &'c LocalNames<'c>,
    pub(super) origin: OriginId,
}

impl Context<'_> {
    pub(super) fn annotations(self) -> Annotations {
        if self.scope.is_plain { Annotations::Omitted } else { Annotations::From(self.origin) }
    }

    /// Below a node of this origin.
    pub(super) fn below(self, span: Span) -> Self {
        Self { origin: span.origin, ..self }
    }
}

impl Writer<'_> {
    pub(super) fn members(&mut self) {
        let program = self.program;
        // Viper does not know the line.
        if let (Some(name), Form::Graph) = (&program.name, self.form) {
            self.text_line(&format!("program {name}\n"));
        }
        let mut previous = None;
        for (index, member) in program.order.iter().enumerate() {
            let are_both_fields =
                matches!((previous, member), (Some(Member::Field(_)), Member::Field(_)));
            if index > 0 && !are_both_fields {
                self.out.push('\n');
            }
            if index == 0 {
                for (key, path) in &program.origins.files {
                    self.text_line(&format!("@src.file(\"{key}\", \"{path}\")"));
                }
            }
            self.member(*member);
            previous = Some(*member);
        }
        self.havoc_methods();
    }

    fn member(&mut self, member: Member) {
        let program = self.program;
        match member {
            Member::Field(field) => {
                let field = &program.fields[field];
                self.annotations(OriginId::NONE, field.span, &field.annotations);
                let ty = type_text(program, &field.ty);
                self.text_line(&format!("field {}: {ty}", field.name));
            }
            Member::Predicate(predicate) => self.predicate(&program.predicates[predicate]),
            Member::Function(function) => self.function(&program.functions[function]),
            Member::Domain(domain) => self.domain(&program.domains[domain]),
            Member::Method(method) => self.method(method),
        }
    }

    /// Annotations before a member, statement, block or implementation.
    pub(super) fn annotations(
        &mut self,
        in_effect: OriginId,
        span: Span,
        annotations: &[Annotation],
    ) {
        for line in annotation_lines(self.program, in_effect, span.origin, annotations) {
            self.text_line(&line);
        }
    }

    fn predicate(&mut self, predicate: &Predicate) {
        self.annotations(OriginId::NONE, predicate.span, &predicate.annotations);
        let scope = LocalNames::new(&predicate.locals);
        self.line(|writer, line| {
            line.text(format!("predicate {}", predicate.name));
            writer.formals(line, &scope, &predicate.formals);
            if predicate.body.is_some() {
                line.text(" {");
            }
        });
        let context = Context { scope: &scope, origin: predicate.span.origin };
        self.expr_body(context, predicate.body.as_ref());
    }

    fn function(&mut self, function: &Function) {
        self.annotations(OriginId::NONE, function.span, &function.annotations);
        let scope = LocalNames::new(&function.locals);
        let context = Context { scope: &scope, origin: function.span.origin };
        let opens_here = function.body.is_some() && is_empty(&function.contract);
        self.line(|writer, line| {
            line.text(format!("function {}", function.name));
            writer.formals(line, &scope, &function.formals);
            line.text(format!(": {}", type_text(writer.program, &function.result)));
            if opens_here {
                line.text(" {");
            }
        });
        self.contract(context, &function.contract);
        if function.body.is_some() && !opens_here {
            self.text_line("{");
        }
        self.expr_body(context, function.body.as_ref());
    }

    /// The body and the closing brace.
    fn expr_body(&mut self, context: Context<'_>, body: Option<&Expr>) {
        let Some(body) = body else { return };
        self.indented(|writer| writer.clause(context, "", body));
        self.text_line("}");
    }

    /// `keyword expr` on a line of its own.
    pub(super) fn clause(&mut self, context: Context<'_>, keyword: &str, expr: &Expr) {
        self.line(|writer, line| {
            line.text(keyword);
            Printer::new(writer.program, context.scope, context.annotations(), line).print(expr);
        });
    }

    fn contract(&mut self, context: Context<'_>, contract: &Contract) {
        self.indented(|writer| {
            for precondition in &contract.preconditions {
                writer.clause(context, "requires ", precondition);
            }
            // Clauses before the first `ensures` and clauses behind it are counted separately.
            let (before, behind) = contract.split_decreases();
            writer.decreases(context, before);
            for postcondition in &contract.postconditions {
                writer.clause(context, "ensures ", postcondition);
            }
            writer.decreases(context, behind);
        });
    }

    pub(super) fn decreases(&mut self, context: Context<'_>, clauses: &[Decreases]) {
        for clause in clauses {
            self.line(|writer, line| {
                let print = |line: &mut Line, expr: &Expr| {
                    let annotations = context.annotations();
                    Printer::new(writer.program, context.scope, annotations, line).print(expr);
                };
                line.text("decreases");
                match &clause.kind {
                    DecreasesKind::Star => line.text(" *"),
                    DecreasesKind::Wildcard => line.text(" _"),
                    DecreasesKind::Tuple(elements) => {
                        for (index, element) in elements.iter().enumerate() {
                            line.text(if index > 0 { ", " } else { " " });
                            print(line, element);
                        }
                    }
                }
                if let Some(condition) = &clause.condition {
                    line.text(" if ");
                    print(line, condition);
                }
                // The next clause must not be read as an element.
                if matches!(&clause.kind, DecreasesKind::Tuple(elements) if elements.is_empty()) {
                    line.text(";");
                }
            });
        }
    }

    fn formals(&self, line: &mut Line, scope: &LocalNames<'_>, formals: &[LocalId]) {
        line.text("(");
        line.begin(4);
        if formals.len() > 1 {
            line.soft_break();
        }
        for (index, &formal) in formals.iter().enumerate() {
            if index > 0 {
                line.text(",");
                line.space();
            }
            line.text(self.typed_name(scope, formal));
        }
        line.end();
        line.text(")");
    }

    pub(super) fn typed_name(&self, scope: &LocalNames<'_>, local: LocalId) -> String {
        let Local { ty, .. } = &scope.locals[local];
        format!("{}: {}", scope.local(local), type_text(self.program, ty))
    }

    fn domain(&mut self, domain: &Domain) {
        self.annotations(OriginId::NONE, domain.span, &domain.annotations);
        let mut head = format!("domain {}", domain.name);
        if !domain.parameters.is_empty() {
            head += &format!("[{}]", domain.parameters.join(", "));
        }
        if !domain.interpretations.is_empty() {
            let texts: Vec<_> = domain
                .interpretations
                .iter()
                .map(|(back_end, text)| format!("{back_end}: \"{text}\""))
                .collect();
            head += &format!(" interpretation ({})", texts.join(", "));
        }
        self.text_line(&format!("{head} {{"));
        self.indented(|writer| {
            for &function in &domain.functions {
                writer.domain_function(
                    domain.span.origin,
                    &writer.program.domain_functions[function],
                );
            }
            for axiom in &domain.axioms {
                writer.annotations(domain.span.origin, axiom.span, &axiom.annotations);
                let name = axiom.name.as_ref().map(|name| format!("{name} ")).unwrap_or_default();
                writer.text_line(&format!("axiom {name}{{"));
                let scope = LocalNames::new(&axiom.locals);
                let context = Context { scope: &scope, origin: axiom.span.origin };
                writer.expr_body(context, Some(&axiom.body));
            }
        });
        self.text_line("}");
    }

    fn domain_function(&mut self, in_effect: OriginId, function: &DomainFunction) {
        self.annotations(in_effect, function.span, &function.annotations);
        let formals: Vec<String> = function
            .formals
            .iter()
            .map(|(name, ty)| {
                let ty = type_text(self.program, ty);
                name.as_ref().map_or_else(|| ty.clone(), |name| format!("{name}: {ty}"))
            })
            .collect();
        let unique = if function.unique { "unique " } else { "" };
        let result = type_text(self.program, &function.result);
        let name = &function.name;
        let mut text = format!("{unique}function {name}({}): {result}", formals.join(", "));
        if let Some(interpretation) = &function.interpretation {
            text += &format!(" interpretation \"{interpretation}\"");
        }
        self.text_line(&text);
    }

    fn method(&mut self, id: MethodId) {
        let method = &self.program.methods[id];
        if self.form == Form::Structured && method.implementations.len() > 1 {
            return self.several_implementations(id, method);
        }
        self.annotations(OriginId::NONE, method.span, &method.annotations);
        if let (Form::Structured, [implementation]) = (self.form, &method.implementations[..]) {
            // Plain Viper has no other place for them.
            for annotation in &implementation.annotations {
                self.text_line(&super::origins::annotation_text(annotation));
            }
        }
        let body = match &method.implementations[..] {
            [implementation] if self.form == Form::Structured || is_plain(implementation) => {
                Some(0)
            }
            _ => None,
        };
        self.method_head(method, &method.name, Termination::Printed, body.is_some());
        match body {
            Some(index) => self.body(id, index, !is_empty(&method.contract), method.span.origin),
            None => {
                for index in 0..method.implementations.len() {
                    self.explicit_implementation(id, index);
                }
            }
        }
    }

    /// The name, parameters and contract. The line is left open if a body follows and there is no
    /// contract.
    fn method_head(
        &mut self,
        method: &Method,
        name: &str,
        termination: Termination,
        body_follows: bool,
    ) {
        let scope = LocalNames::new(&method.locals);
        self.line(|writer, line| {
            line.text(format!("method {name}"));
            writer.formals(line, &scope, &method.formals);
            if !method.returns.is_empty() {
                line.text(" returns ");
                writer.formals(line, &scope, &method.returns);
            }
        });
        if body_follows && is_empty(&method.contract) {
            // The brace goes on the same line.
            self.out.pop();
            self.out.push(' ');
        }
        let context = Context { scope: &scope, origin: method.span.origin };
        let mut contract = &method.contract;
        let without_termination;
        if termination == Termination::Omitted && !contract.decreases.is_empty() {
            without_termination = Contract { decreases: Vec::new(), ..contract.clone() };
            contract = &without_termination;
        }
        self.contract(context, contract);
    }

    /// `implementation a { … }` or `implementation a graph { … }`.
    fn explicit_implementation(&mut self, id: MethodId, index: usize) {
        let method = &self.program.methods[id];
        let implementation = &method.implementations[index];
        self.annotations(method.span.origin, implementation.span, &implementation.annotations);
        self.pad();
        self.out.push_str("implementation ");
        if let Some(name) = &implementation.name {
            self.out.push_str(name);
            self.out.push(' ');
        }
        self.body(id, index, false, implementation.span.origin);
    }

    /// An abstract method, which callers see, and a method for each implementation.
    fn several_implementations(&mut self, id: MethodId, method: &Method) {
        self.annotations(OriginId::NONE, method.span, &method.annotations);
        self.method_head(method, &method.name, Termination::Omitted, false);
        for (index, implementation) in method.implementations.iter().enumerate() {
            self.out.push('\n');
            self.annotations(OriginId::NONE, implementation.span, &implementation.annotations);
            let suffix =
                implementation.name.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
            let name = names::fresh_global(
                &mut self.global_names,
                format!("{}$impl${suffix}", method.name),
            );
            self.method_head(method, &name, Termination::Printed, true);
            let origin = implementation.span.origin;
            self.body(id, index, !is_empty(&method.contract), origin);
        }
    }

    /// The body of an implementation, from its brace (or `graph`) on.
    fn body(&mut self, id: MethodId, index: usize, on_new_line: bool, in_effect: OriginId) {
        let program = self.program;
        let method = &program.methods[id];
        let implementation = &method.implementations[index];
        if on_new_line {
            self.pad();
        }
        let written_form = match implementation.body {
            Body::Structured(_) => Form::Structured,
            Body::Graph(_) => Form::Graph,
        };
        let cfg = if self.form == Form::Graph || written_form != self.form {
            cfg::build(program, id, index, &mut Vec::new())
        } else {
            None
        };
        match (cfg, &implementation.body) {
            (Some(cfg), _) if self.form == Form::Graph => {
                self.graph_body(method, implementation, &cfg, in_effect);
            }
            (Some(cfg), _) => self.structured_graph(method, implementation, &cfg, in_effect),
            (None, Body::Structured(block)) => {
                let mut scope = LocalNames::new(&method.locals);
                scope.labels = Some(&implementation.labels);
                let context = Context { scope: &scope, origin: in_effect };
                self.block(context, block);
                self.out.push('\n');
            }
            (None, Body::Graph(graph)) => {
                self.graph_as_written(method, implementation, graph, in_effect);
            }
        }
    }

    fn havoc_methods(&mut self) {
        for (ty, name) in std::mem::take(&mut self.havoc_methods) {
            let ty = type_text(self.program, &ty);
            self.out.push('\n');
            self.text_line(&format!("method {name}() returns (r: {ty})"));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Termination {
    Printed,
    Omitted,
}

fn is_empty(contract: &Contract) -> bool {
    contract.preconditions.is_empty()
        && contract.postconditions.is_empty()
        && contract.decreases.is_empty()
}

/// Tells whether the word `implementation` can be left out.
fn is_plain(implementation: &Implementation) -> bool {
    implementation.name.is_none() && implementation.annotations.is_empty()
}
