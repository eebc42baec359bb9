//! A part of a program as bytes: equal bytes mean that the engine can tell no difference.
//!
//! What a part is made of is read by exhaustive patterns, so whoever adds a field to the tree has to say here what it means. Ids of
//! locals and labels are numbers, since these are declared in the part itself; other members are written by name, and noted as reached.
//!
//! Of a span it matters which text it covers, and which other spans are the same; not where it is. The text of a declaration is
//! written once, and the spans in it by where they are in it. Spans elsewhere (in a macro, say) are written with their text.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashSet};
use sha2::{Digest as _, Sha256};
use sil::cfg;
use sil::plugins::termination::{CheckKind, Instrumented};
use sil::program::*;
use sil::source::{Name, Sources, Span};
use sil::syntax::Trigger;

use std::collections::BTreeSet;

/// A digest of SHA-256.
pub(super) type Digest = [u8; 32];

/// A part of a program that others may depend on. The order is that of the program within each kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Part {
    Field(FieldId),
    Domain(DomainId),
    Predicate(PredicateId),
    Function(FunctionId),
    /// A method as its callers see it.
    Contract(MethodId),
    /// With its bodies.
    Method(MethodId),
}

/// A part, read.
pub(super) struct Encoded {
    pub(super) digest: Digest,
    /// All spans of the part, each once, in the order met.
    pub(super) spans: IndexSet<Span, FxBuildHasher>,
    /// Those that are outside of the declaration.
    pub(super) elsewhere: Vec<Span>,
    /// Those whose text is not in the digest.
    pub(super) without_text: FxHashSet<Span>,
    /// The parts that it mentions.
    pub(super) reached: BTreeSet<Part>,
    /// What its quantifiers are called: their places.
    pub(super) quantifiers: Vec<String>,
}

/// What is read, and what it takes to read it.
#[derive(Clone, Copy)]
pub(super) struct Reader<'p> {
    pub(super) program: &'p Program,
    pub(super) sources: &'p Sources,
    pub(super) checks: Option<&'p Instrumented>,
}

/// Reads a part.
pub(super) fn encode(reader: Reader<'_>, part: Part) -> Encoded {
    let mut encoder = Encoder {
        reader,
        bytes: Vec::new(),
        spans: IndexSet::default(),
        elsewhere: Vec::new(),
        without_text: FxHashSet::default(),
        covered: None,
        reached: BTreeSet::new(),
        quantifiers: IndexSet::default(),
        locals_of_contract: None,
    };
    encoder.part(part);
    let Encoder { bytes, spans, elsewhere, without_text, reached, quantifiers, .. } = encoder;
    Encoded {
        digest: Sha256::digest(&bytes).into(),
        spans,
        elsewhere,
        without_text,
        reached,
        quantifiers: quantifiers.into_iter().collect(),
    }
}

struct Encoder<'p> {
    reader: Reader<'p>,
    bytes: Vec<u8>,
    spans: IndexSet<Span, FxBuildHasher>,
    elsewhere: Vec<Span>,
    without_text: FxHashSet<Span>,
    /// The text of this is written.
    covered: Option<Span>,
    reached: BTreeSet<Part>,
    quantifiers: IndexSet<String, FxBuildHasher>,
    /// Of the method whose contract is read.
    locals_of_contract: Option<&'p la_arena::Arena<Local>>,
}

impl Encoder<'_> {
    fn tag(&mut self, tag: u8) {
        self.bytes.push(tag);
    }

    fn number(&mut self, number: usize) {
        self.bytes.extend_from_slice(&(number as u64).to_le_bytes());
    }

    fn flag(&mut self, flag: bool) {
        self.tag(u8::from(flag));
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn all<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.number(items.len());
        items.iter().for_each(|item| each(self, item));
    }

    fn maybe<T>(&mut self, item: Option<&T>, each: impl FnOnce(&mut Self, &T)) {
        self.flag(item.is_some());
        if let Some(item) = item {
            each(self, item);
        }
    }

    fn raw<T>(&mut self, id: la_arena::Idx<T>) {
        self.number(id.into_raw().into_u32() as usize);
    }

    /// The text of `span` is written, and that of all spans in it is not written again.
    fn covered(&mut self, span: Span, inside: impl FnOnce(&mut Self)) {
        self.span(span);
        let before = self.covered.replace(span);
        inside(self);
        self.covered = before;
    }

    fn span(&mut self, span: Span) {
        if let Some(index) = self.spans.get_index_of(&span)
            && !self.without_text.contains(&span)
        {
            self.tag(0);
            self.number(index);
            return;
        }
        let (index, _) = self.spans.insert_full(span);
        self.without_text.remove(&span);
        let kind = self.reader.checks.and_then(|checks| checks.check(span)).map(|check| check.kind);
        self.tag(match kind {
            None => 1,
            Some(CheckKind::Copy) => 2,
            Some(CheckKind::TerminationCondition) => 3,
            Some(CheckKind::TupleCondition) => 4,
            Some(CheckKind::Tuple) => 5,
        });
        self.number(index);
        match self.covered {
            Some(outer)
                if outer.file == span.file
                    && outer.start <= span.start
                    && span.end <= outer.end =>
            {
                self.tag(0);
                self.number((span.start - outer.start) as usize);
                self.number((span.end - span.start) as usize);
            }
            _ => {
                self.tag(1);
                self.elsewhere.push(span);
                let text = self.reader.sources.text(span);
                self.maybe(text.as_ref(), |this, text| this.text(text));
            }
        }
    }

    /// A span of which only the place matters.
    fn place(&mut self, span: Span) {
        let (index, is_new) = self.spans.insert_full(span);
        if is_new {
            self.without_text.insert(span);
        }
        self.number(index);
    }

    fn reach(&mut self, part: Part, name: &str) {
        self.reached.insert(part);
        self.text(name);
    }

    fn annotations(&mut self, annotations: &[Annotation]) {
        // What begins with `src.` says where something comes from; the engine does not read it.
        let own = annotations.iter().filter(|annotation| !annotation.key.starts_with("src."));
        let own: Vec<_> = own.collect();
        self.all(&own, |this, Annotation { key, values, span: _ }| {
            this.text(key);
            this.all(values, |this, value| this.text(value));
        });
    }

    fn name(&mut self, name: &Name) {
        self.text(name);
    }

    fn ty(&mut self, ty: &Type) {
        match ty {
            Type::Int => self.tag(0),
            Type::Bool => self.tag(1),
            Type::Perm => self.tag(2),
            Type::Ref => self.tag(3),
            Type::Seq(element) => {
                self.tag(4);
                self.ty(element);
            }
            Type::Set(element) => {
                self.tag(5);
                self.ty(element);
            }
            Type::Multiset(element) => {
                self.tag(6);
                self.ty(element);
            }
            Type::Map(key, value) => {
                self.tag(7);
                self.ty(key);
                self.ty(value);
            }
            Type::Domain(domain, arguments) => {
                self.tag(8);
                let name = &self.reader.program.domains[*domain].name;
                self.reach(Part::Domain(*domain), name);
                self.all(arguments, Self::ty);
            }
            Type::Variable(name) => {
                self.tag(9);
                self.name(name);
            }
            Type::Wand => self.tag(10),
        }
    }

    fn locals(&mut self, locals: &la_arena::Arena<Local>) {
        self.number(locals.len());
        for (_, Local { name, ty, kind, span }) in locals.iter() {
            self.name(name);
            self.ty(ty);
            self.tag(match kind {
                LocalKind::Formal => 0,
                LocalKind::Returned => 1,
                LocalKind::Variable => 2,
                LocalKind::Bound => 3,
                LocalKind::Let => 4,
            });
            self.place(*span);
        }
    }

    /// Those that callers see.
    fn signature(&mut self, locals: &la_arena::Arena<Local>, ids: &[LocalId]) {
        self.all(ids, |this, &id| {
            let Local { name, ty, kind: _, span: _ } = &locals[id];
            this.raw(id);
            this.name(name);
            this.ty(ty);
        });
    }

    /// A variable where it is bound: of the contracts of methods, not all variables of the method are written.
    fn bind(&mut self, id: LocalId) {
        self.raw(id);
        let locals = self.locals_of_contract;
        self.maybe(locals.map(|locals| &locals[id]).as_ref(), |this, Local { name, ty, .. }| {
            this.name(name);
            this.ty(ty);
        });
    }

    fn ids(&mut self, ids: &[LocalId]) {
        self.all(ids, |this, &id| this.raw(id));
    }

    fn part(&mut self, part: Part) {
        let program = self.reader.program;
        match part {
            Part::Field(id) => {
                self.tag(0);
                let Field { name, ty, annotations, span } = &program.fields[id];
                self.covered(*span, |this| {
                    this.name(name);
                    this.ty(ty);
                    this.annotations(annotations);
                });
            }
            Part::Domain(id) => {
                self.tag(1);
                self.covered(program.domains[id].span, |this| this.domain(&program.domains[id]));
            }
            Part::Predicate(id) => {
                self.tag(2);
                let Predicate { name, locals, formals, body, annotations, span } =
                    &program.predicates[id];
                self.covered(*span, |this| {
                    this.name(name);
                    this.locals(locals);
                    this.ids(formals);
                    this.maybe(body.as_ref(), Self::expr);
                    this.annotations(annotations);
                });
            }
            Part::Function(id) => {
                self.tag(3);
                let Function { name, locals, formals, result, contract, body, annotations, span } =
                    &program.functions[id];
                self.covered(*span, |this| {
                    this.name(name);
                    this.locals(locals);
                    this.ids(formals);
                    this.ty(result);
                    this.contract(contract);
                    this.maybe(body.as_ref(), Self::expr);
                    this.annotations(annotations);
                });
            }
            Part::Contract(id) => {
                self.tag(4);
                let Method {
                    name,
                    locals,
                    formals,
                    returns,
                    contract,
                    implementations,
                    annotations,
                    span,
                } = &program.methods[id];
                self.place(*span);
                self.name(name);
                self.signature(locals, formals);
                self.signature(locals, returns);
                self.locals_of_contract = Some(locals);
                self.contract(contract);
                self.flag(implementations.is_empty());
                self.annotations(annotations);
            }
            Part::Method(id) => {
                self.tag(5);
                self.covered(program.methods[id].span, |this| this.method(id));
            }
        }
    }

    fn method(&mut self, id: MethodId) {
        let Method {
            name,
            locals,
            formals,
            returns,
            contract,
            implementations,
            annotations,
            span: _,
        } = &self.reader.program.methods[id];
        self.name(name);
        self.locals(locals);
        self.ids(formals);
        self.ids(returns);
        self.contract(contract);
        self.number(implementations.len());
        for (index, implementation) in implementations.iter().enumerate() {
            let Implementation { name, labels, body, annotations, span } = implementation;
            self.span(*span);
            self.maybe(name.as_ref(), Self::name);
            self.number(labels.len());
            for (_, Label { name, span }) in labels.iter() {
                self.name(name);
                self.span(*span);
            }
            match body {
                Body::Structured(block) => {
                    self.tag(0);
                    self.block(block);
                }
                Body::Graph(graph) => {
                    self.tag(1);
                    self.graph(graph);
                }
            }
            self.annotations(annotations);
            let checked = self.reader.checks.and_then(|checks| checks.graphs.get(&(id, index)));
            self.maybe(checked, Self::cfg);
        }
        self.annotations(annotations);
    }

    fn domain(&mut self, domain: &Domain) {
        let Domain { name, parameters, interpretations, functions, axioms, annotations, span: _ } =
            domain;
        self.name(name);
        self.all(parameters, Self::name);
        self.number(interpretations.len());
        for (back_end, text) in interpretations {
            self.name(back_end);
            self.name(text);
        }
        self.all(functions, |this, &id| {
            let DomainFunction {
                name,
                domain: _,
                unique,
                formals,
                result,
                interpretation,
                annotations,
                span,
            } = &this.reader.program.domain_functions[id];
            this.name(name);
            this.flag(*unique);
            this.all(formals, |this, (name, ty)| {
                this.maybe(name.as_ref(), Self::name);
                this.ty(ty);
            });
            this.ty(result);
            this.maybe(interpretation.as_ref(), Self::name);
            this.annotations(annotations);
            this.span(*span);
        });
        self.all(axioms, |this, Axiom { name, locals, body, annotations, span }| {
            this.maybe(name.as_ref(), Self::name);
            this.locals(locals);
            this.expr(body);
            this.annotations(annotations);
            this.span(*span);
        });
        self.annotations(annotations);
    }

    fn contract(&mut self, contract: &Contract) {
        let Contract { preconditions, postconditions, decreases } = contract;
        for clauses in [preconditions, postconditions] {
            self.all(clauses, |this, clause| {
                if this.covered.is_some() {
                    this.expr(clause);
                } else {
                    this.covered(clause.span, |this| this.expr(clause));
                }
            });
        }
        self.decreases(decreases);
    }

    fn decreases(&mut self, clauses: &[Decreases]) {
        self.all(
            clauses,
            |this, Decreases { kind, condition, in_postcondition, measure, span }| {
                match kind {
                    DecreasesKind::Tuple(elements) => {
                        this.tag(0);
                        this.exprs(elements);
                    }
                    DecreasesKind::Wildcard => this.tag(1),
                    DecreasesKind::Star => this.tag(2),
                }
                this.maybe(condition.as_ref(), Self::expr);
                this.flag(*in_postcondition);
                this.span(*measure);
                this.span(*span);
            },
        );
    }

    fn block(&mut self, block: &Block) {
        let Block { statements, span } = block;
        self.stmts(statements);
        self.span(*span);
    }

    fn stmts(&mut self, statements: &[Stmt]) {
        self.all(statements, Self::stmt);
    }

    fn stmt(&mut self, statement: &Stmt) {
        let Stmt { kind, span, annotations } = statement;
        self.span(*span);
        self.annotations(annotations);
        match kind {
            StmtKind::Var(variables) => {
                self.tag(0);
                self.ids(variables);
            }
            StmtKind::Assign { target, value } => {
                self.tag(1);
                self.raw(*target);
                self.expr(value);
            }
            StmtKind::FieldAssign { receiver, field, value } => {
                self.tag(2);
                self.expr(receiver);
                self.field(*field);
                self.expr(value);
            }
            StmtKind::New { target, fields } => {
                self.tag(3);
                self.raw(*target);
                self.all(fields, |this, &field| this.field(field));
            }
            StmtKind::Call { targets, method, arguments } => {
                self.tag(4);
                self.ids(targets);
                let name = &self.reader.program.methods[*method].name;
                self.reach(Part::Contract(*method), name);
                self.exprs(arguments);
            }
            StmtKind::Inhale(assertion) => {
                self.tag(5);
                self.expr(assertion);
            }
            StmtKind::Exhale(assertion) => {
                self.tag(6);
                self.expr(assertion);
            }
            StmtKind::Assert(assertion) => {
                self.tag(7);
                self.expr(assertion);
            }
            StmtKind::Assume(assertion) => {
                self.tag(8);
                self.expr(assertion);
            }
            StmtKind::Refute(assertion) => {
                self.tag(9);
                self.expr(assertion);
            }
            StmtKind::Unreachable => self.tag(10),
            StmtKind::Fold(access) => {
                self.tag(11);
                self.access(access);
            }
            StmtKind::Unfold(access) => {
                self.tag(12);
                self.access(access);
            }
            StmtKind::Package { wand, script } => {
                self.tag(13);
                self.expr(wand);
                self.block(script);
            }
            StmtKind::Apply { wand } => {
                self.tag(14);
                self.expr(wand);
            }
            StmtKind::Quasihavoc { condition, resource } => {
                self.tag(15);
                self.maybe(condition.as_ref(), Self::expr);
                self.resource(resource);
            }
            StmtKind::QuasihavocAll { variables, condition, resource } => {
                self.tag(16);
                self.ids(variables);
                self.maybe(condition.as_ref(), Self::expr);
                self.resource(resource);
            }
            StmtKind::Label { label, invariants, decreases } => {
                self.tag(17);
                self.raw(*label);
                self.exprs(invariants);
                self.decreases(decreases);
            }
            StmtKind::If { condition, then, otherwise } => {
                self.tag(18);
                self.expr(condition);
                self.block(then);
                self.maybe(otherwise.as_ref(), Self::block);
            }
            StmtKind::While { condition, invariants, decreases, body } => {
                self.tag(19);
                self.expr(condition);
                self.exprs(invariants);
                self.decreases(decreases);
                self.block(body);
            }
            StmtKind::Goto(label) => {
                self.tag(20);
                self.raw(*label);
            }
            StmtKind::Block(block) => {
                self.tag(21);
                self.block(block);
            }
        }
    }

    fn graph(&mut self, graph: &Graph) {
        let Graph { locals, nodes, entry, span } = graph;
        self.ids(locals);
        self.number(*entry);
        self.span(*span);
        self.all(nodes, |this, Node { label, invariants, decreases, kind, annotations, span }| {
            this.raw(*label);
            this.exprs(invariants);
            this.decreases(decreases);
            this.annotations(annotations);
            this.span(*span);
            match kind {
                NodeKind::Block { statements, terminator } => {
                    this.tag(0);
                    this.stmts(statements);
                    let Terminator { kind, span } = terminator;
                    this.span(*span);
                    match kind {
                        TerminatorKind::Goto(label) => {
                            this.tag(0);
                            this.raw(*label);
                        }
                        TerminatorKind::Branch { condition, then, otherwise } => {
                            this.tag(1);
                            this.expr(condition);
                            this.raw(*then);
                            this.raw(*otherwise);
                        }
                        TerminatorKind::Next => this.tag(2),
                        TerminatorKind::Halt => this.tag(3),
                        TerminatorKind::Dead => this.tag(4),
                    }
                }
                NodeKind::Loop { condition, exits, graph, then } => {
                    this.tag(1);
                    this.maybe(condition.as_ref(), Self::expr);
                    this.all(exits, |this, &label| this.raw(label));
                    this.graph(graph);
                    this.maybe(then.as_ref(), |this, &label| this.raw(label));
                }
            }
        });
    }

    /// A body with termination checks.
    fn cfg(&mut self, graph: &cfg::Cfg) {
        self.number(graph.blocks.len());
        self.raw(graph.entry);
        for (id, block) in graph.blocks.iter() {
            let cfg::Block { name, label, parent, kind, annotations, span } = block;
            let join = graph.join_point(id);
            self.maybe(join.as_ref(), |this, &block| this.raw(block));
            self.text(name);
            self.maybe(label.as_ref(), |this, &label| this.raw(label));
            self.maybe(parent.as_ref(), |this, &block| this.raw(block));
            self.annotations(annotations);
            self.span(*span);
            match kind {
                cfg::BlockKind::Basic { statements, terminator } => {
                    self.tag(0);
                    self.stmts(statements);
                    let cfg::Terminator { kind, span } = terminator;
                    self.span(*span);
                    match kind {
                        cfg::TerminatorKind::Goto(block) => {
                            self.tag(0);
                            self.raw(*block);
                        }
                        cfg::TerminatorKind::Branch { condition, then, otherwise } => {
                            self.tag(1);
                            self.expr(condition);
                            self.raw(*then);
                            self.raw(*otherwise);
                        }
                        cfg::TerminatorKind::Next => self.tag(2),
                        cfg::TerminatorKind::Halt => self.tag(3),
                        cfg::TerminatorKind::Dead => self.tag(4),
                    }
                }
                cfg::BlockKind::Loop(it) => {
                    let cfg::Loop {
                        condition,
                        invariants,
                        decreases,
                        entry,
                        then,
                        exits,
                        written,
                        labels,
                    } = it;
                    self.tag(1);
                    self.maybe(condition.as_ref(), Self::expr);
                    self.exprs(invariants);
                    self.decreases(decreases);
                    self.raw(*entry);
                    self.maybe(then.as_ref(), |this, &block| this.raw(block));
                    self.all(exits, |this, &block| this.raw(block));
                    self.ids(written);
                    self.all(labels, |this, &label| this.raw(label));
                }
            }
        }
    }

    fn field(&mut self, field: FieldId) {
        let name = &self.reader.program.fields[field].name;
        self.reach(Part::Field(field), name);
    }

    fn access(&mut self, access: &PredicateAccess) {
        let PredicateAccess { predicate, arguments, amount, span } = access;
        self.predicate(*predicate);
        self.exprs(arguments);
        self.expr(amount);
        self.span(*span);
    }

    fn predicate(&mut self, predicate: PredicateId) {
        let name = &self.reader.program.predicates[predicate].name;
        self.reach(Part::Predicate(predicate), name);
    }

    fn location(&mut self, location: &Location) {
        match location {
            Location::Field { receiver, field } => {
                self.tag(0);
                self.expr(receiver);
                self.field(*field);
            }
            Location::Predicate { predicate, arguments } => {
                self.tag(1);
                self.predicate(*predicate);
                self.exprs(arguments);
            }
        }
    }

    fn resource(&mut self, resource: &Resource) {
        match resource {
            Resource::Location(location) => {
                self.tag(0);
                self.location(location);
            }
            Resource::Wand(wand) => {
                self.tag(1);
                self.expr(wand);
            }
        }
    }

    fn exprs(&mut self, exprs: &[Expr]) {
        self.all(exprs, Self::expr);
    }

    /// What quantifiers are called by their places: two with one name may be one for the prover.
    fn quantifier(&mut self, span: Span) {
        let place = self.reader.sources.range(span).map_or(String::new(), |(at, _)| at.to_string());
        let (index, _) = self.quantifiers.insert_full(place);
        self.number(index);
    }

    fn expr(&mut self, expr: &Expr) {
        let Expr { kind, ty, span, annotations } = expr;
        self.span(*span);
        self.ty(ty);
        self.annotations(annotations);
        match kind {
            ExprKind::Int(number) => {
                self.tag(0);
                self.text(&number.to_string());
            }
            ExprKind::Bool(value) => {
                self.tag(1);
                self.flag(*value);
            }
            ExprKind::Null => self.tag(2),
            ExprKind::NoPerm => self.tag(3),
            ExprKind::FullPerm => self.tag(4),
            ExprKind::Wildcard => self.tag(5),
            ExprKind::Epsilon => self.tag(6),
            ExprKind::Local(local) => {
                self.tag(7);
                self.raw(*local);
            }
            ExprKind::Result => self.tag(8),
            ExprKind::FieldRead { receiver, field } => {
                self.tag(9);
                self.expr(receiver);
                self.field(*field);
            }
            ExprKind::Apply { function, arguments } => {
                self.tag(10);
                let name = &self.reader.program.functions[*function].name;
                self.reach(Part::Function(*function), name);
                self.exprs(arguments);
            }
            ExprKind::DomainApply { function, instance, arguments } => {
                self.tag(11);
                let DomainFunction { name, domain, .. } =
                    &self.reader.program.domain_functions[*function];
                self.reach(Part::Domain(*domain), name);
                self.name(&self.reader.program.domains[*domain].name);
                self.all(instance, Self::ty);
                self.exprs(arguments);
            }
            ExprKind::Unary { op, operand } => {
                self.tag(12);
                self.tag(match op {
                    UnaryOp::Not => 0,
                    UnaryOp::Minus => 1,
                });
                self.expr(operand);
            }
            ExprKind::Binary { op, left, right } => {
                self.tag(13);
                self.tag(binary(*op));
                self.expr(left);
                self.expr(right);
            }
            ExprKind::And(operands) => {
                self.tag(14);
                self.exprs(operands);
            }
            ExprKind::Or(operands) => {
                self.tag(15);
                self.exprs(operands);
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                self.tag(16);
                self.expr(condition);
                self.expr(then);
                self.expr(otherwise);
            }
            ExprKind::Old { label, body } => {
                self.tag(17);
                match label {
                    OldLabel::Entry => self.tag(0),
                    OldLabel::Lhs => self.tag(1),
                    OldLabel::Label(label) => {
                        self.tag(2);
                        self.raw(*label);
                    }
                }
                self.expr(body);
            }
            ExprKind::Let { variable, value, body } => {
                self.tag(18);
                self.bind(*variable);
                self.expr(value);
                self.expr(body);
            }
            ExprKind::Quantified { quantifier, variables, triggers, body } => {
                self.tag(19);
                self.tag(match quantifier {
                    Quantifier::Forall => 0,
                    Quantifier::Exists => 1,
                });
                self.quantifier(*span);
                self.all(variables, |this, &variable| this.bind(variable));
                self.all(triggers, |this, Trigger { terms, span }| {
                    this.exprs(terms);
                    this.span(*span);
                });
                self.expr(body);
            }
            ExprKind::ForPerm { variables, resource, body } => {
                self.tag(20);
                self.quantifier(*span);
                self.all(variables, |this, &variable| this.bind(variable));
                self.resource(resource);
                self.expr(body);
            }
            ExprKind::Perm(resource) => {
                self.tag(21);
                self.resource(resource);
            }
            ExprKind::Acc { location, amount } => {
                self.tag(22);
                self.location(location);
                self.expr(amount);
            }
            ExprKind::Wand { left, right } => {
                self.tag(23);
                self.expr(left);
                self.expr(right);
            }
            ExprKind::InhaleExhale { inhale, exhale } => {
                self.tag(24);
                self.expr(inhale);
                self.expr(exhale);
            }
            ExprKind::Unfolding { access, body } => {
                self.tag(25);
                self.access(access);
                self.expr(body);
            }
            ExprKind::Applying { wand, body } => {
                self.tag(26);
                self.expr(wand);
                self.expr(body);
            }
            ExprKind::Asserting { assertion, body } => {
                self.tag(27);
                self.expr(assertion);
                self.expr(body);
            }
            ExprKind::Literal { collection, elements } => {
                self.tag(28);
                self.tag(match collection {
                    Collection::Seq => 0,
                    Collection::Set => 1,
                    Collection::Multiset => 2,
                });
                self.exprs(elements);
            }
            ExprKind::MapLiteral { entries } => {
                self.tag(29);
                self.all(entries, |this, (key, value)| {
                    this.expr(key);
                    this.expr(value);
                });
            }
            ExprKind::Range { low, high } => {
                self.tag(30);
                self.expr(low);
                self.expr(high);
            }
            ExprKind::Index { base, index } => {
                self.tag(31);
                self.expr(base);
                self.expr(index);
            }
            ExprKind::Update { base, index, value } => {
                self.tag(32);
                self.expr(base);
                self.expr(index);
                self.expr(value);
            }
            ExprKind::Take { base, count } => {
                self.tag(33);
                self.expr(base);
                self.expr(count);
            }
            ExprKind::Drop { base, count } => {
                self.tag(34);
                self.expr(base);
                self.expr(count);
            }
            ExprKind::Cardinality(operand) => {
                self.tag(35);
                self.expr(operand);
            }
            ExprKind::MapDomain(operand) => {
                self.tag(36);
                self.expr(operand);
            }
            ExprKind::MapRange(operand) => {
                self.tag(37);
                self.expr(operand);
            }
        }
    }
}

fn binary(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Implies => 0,
        BinaryOp::Eq => 1,
        BinaryOp::Ne => 2,
        BinaryOp::Lt => 3,
        BinaryOp::Le => 4,
        BinaryOp::Gt => 5,
        BinaryOp::Ge => 6,
        BinaryOp::Add => 7,
        BinaryOp::Sub => 8,
        BinaryOp::Mul => 9,
        BinaryOp::IntDiv => 10,
        BinaryOp::Mod => 11,
        BinaryOp::PermDiv => 12,
        BinaryOp::Append => 13,
        BinaryOp::Union => 14,
        BinaryOp::Intersection => 15,
        BinaryOp::Setminus => 16,
        BinaryOp::Subset => 17,
        BinaryOp::In => 18,
    }
}
