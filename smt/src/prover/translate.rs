//! The translation of terms to Z3's terms, each once.

use std::borrow::Cow;
use std::rc::Rc;
use std::str::FromStr;

use rustc_hash::FxHashMap;
use z3::ast::{Ast, Bool, Dynamic, Int, Real};
use z3::{Context, FuncDecl, Pattern};

use super::ProverError;
use super::backend::{self, Template};
use super::log::Log;
use super::snapshots::Snapshots;
use super::workspace::{Vocabulary, Workspace};
use crate::terms::{
    Declaration, Quant, Quantifier, Sort, SortKind, Symbol, SymbolKind, Term, TermKind, Terms,
    TheoryOp,
};
use crate::theory::{self, Theories, counted};

/// How a symbol is applied.
enum Function {
    Declared(Rc<FuncDecl>),
    Template(Template),
}

/// The translations made so far, all for one arena and one context.
pub(super) struct Translator {
    context: Context,
    asts: Vec<Option<Dynamic>>,
    sorts: Vec<Option<z3::Sort>>,
    functions: FxHashMap<Symbol, Function>,
    operators: FxHashMap<(TheoryOp, Vec<Sort>, Sort), FuncDecl>,
    pub(super) snapshots: Snapshots,
    vocabulary: Rc<Vocabulary>,
    workspace: Workspace,
    theories: Theories,
    /// Axioms to be asserted: those of theories that came into use since the last `take_axioms`.
    pub(super) axioms: Vec<Term>,
    /// The functions that replace parts of triggers, by the general form of a part: see
    /// [`Translator::parts_to_match`].
    pub(super) parts: FxHashMap<Term, Symbol>,
    /// The number of new objects that have been translated.
    objects: usize,
    /// Tells whether some product or quotient had two sides that are no numbers.
    pub(super) is_nonlinear: bool,
    /// Tells whether some permission amount was a quotient whose divisor is no number.
    pub(super) has_fractions: bool,
    /// Tells whether some sort is one of Z3's own that a program names, such as bit-vectors.
    pub(super) has_backend_sorts: bool,
    /// See [`super::ProverOptions::variation`].
    pub(super) variation: u32,
    pub(super) log: Log,
}

impl Translator {
    pub(super) fn new(workspace: &Workspace, log: Log, variation: u32) -> Translator {
        let tools = workspace.tools();
        let vocabulary = tools.vocabulary.clone();
        let mut translator = Translator {
            context: tools.context.clone(),
            asts: Vec::new(),
            sorts: Vec::new(),
            functions: FxHashMap::default(),
            operators: FxHashMap::default(),
            snapshots: Snapshots::new(vocabulary.clone()),
            vocabulary,
            workspace: workspace.clone(),
            theories: Theories::default(),
            axioms: Vec::new(),
            parts: FxHashMap::default(),
            objects: 0,
            is_nonlinear: false,
            has_fractions: false,
            has_backend_sorts: false,
            variation,
            log,
        };
        translator.log.declare("(declare-sort Ref 0)\n(declare-const null Ref)".to_owned());
        translator.log.declare(Snapshots::DECLARATION.to_owned());
        translator
    }

    /// Takes the axioms that have become necessary since the last call.
    pub(super) fn take_axioms(&mut self) -> Vec<Term> {
        std::mem::take(&mut self.axioms)
    }

    /// Translates a term of sort Bool.
    pub(super) fn formula(&mut self, terms: &mut Terms, term: Term) -> Result<Bool, ProverError> {
        self.translate(terms, term)?;
        self.bool(terms, term)
    }

    /// Translates a term of any sort.
    pub(super) fn value(&mut self, terms: &mut Terms, term: Term) -> Result<Dynamic, ProverError> {
        self.translate(terms, term)?;
        Ok(self.ast(term).clone())
    }

    /// Translates a term and its operands, in post-order without recursion.
    fn translate(&mut self, terms: &mut Terms, root: Term) -> Result<(), ProverError> {
        let mut pending = vec![(root, false)];
        while let Some((term, operands_done)) = pending.pop() {
            if self.known(term).is_some() {
                continue;
            }
            if operands_done {
                let ast = self.node(terms, term)?;
                self.workspace.add_load();
                if self.asts.len() <= term.index() {
                    self.asts.resize(terms.len(), None);
                }
                self.asts[term.index()] = Some(ast);
            } else {
                pending.push((term, true));
                match terms.kind(term) {
                    TermKind::Add(..) => {
                        pending.extend(summands(terms, term).into_iter().map(|t| (t, false)));
                    }
                    kind => kind.for_each_operand(|operand| pending.push((operand, false))),
                }
            }
        }
        Ok(())
    }

    fn known(&self, term: Term) -> Option<&Dynamic> {
        self.asts.get(term.index())?.as_ref()
    }

    fn ast(&self, term: Term) -> &Dynamic {
        self.known(term).expect("operands come first")
    }

    fn bool(&self, terms: &Terms, term: Term) -> Result<Bool, ProverError> {
        self.ast(term).as_bool().ok_or_else(|| ill_sorted(terms, term))
    }

    fn int(&self, terms: &Terms, term: Term) -> Result<Int, ProverError> {
        self.ast(term).as_int().ok_or_else(|| ill_sorted(terms, term))
    }

    fn real(&self, terms: &Terms, term: Term) -> Result<Real, ProverError> {
        self.ast(term).as_real().ok_or_else(|| ill_sorted(terms, term))
    }

    fn bools(&self, terms: &Terms, operands: &[Term]) -> Result<Vec<Bool>, ProverError> {
        operands.iter().map(|&operand| self.bool(terms, operand)).collect()
    }

    /// Makes one node, whose operands are translated.
    fn node(&mut self, terms: &mut Terms, term: Term) -> Result<Dynamic, ProverError> {
        let kind = terms.kind(term).clone();
        Ok(match kind {
            TermKind::Bool(value) => Bool::from_bool(value).into(),
            TermKind::Not(a) => self.bool(terms, a)?.not().into(),
            TermKind::And(operands) => Bool::and(&self.bools(terms, &operands)?).into(),
            TermKind::Or(operands) => Bool::or(&self.bools(terms, &operands)?).into(),
            TermKind::Implies(a, b) => self.bool(terms, a)?.implies(self.bool(terms, b)?).into(),
            TermKind::Ite(c, a, b) => self.bool(terms, c)?.ite(self.ast(a), self.ast(b)),
            TermKind::Eq(a, b) => {
                let equation = self.ast(a).safe_eq(self.ast(b).clone());
                equation.map_err(|_| ill_sorted(terms, term))?.into()
            }
            TermKind::Distinct(operands) => {
                let operands: Vec<Dynamic> =
                    operands.iter().map(|&operand| self.ast(operand).clone()).collect();
                Dynamic::distinct(&operands).into()
            }
            TermKind::Quantifier(quantifier) => self.quantifier(terms, &quantifier)?.into(),

            TermKind::Null => self.vocabulary.null.clone(),
            TermKind::Apply(symbol, args) => {
                if terms.declaration(symbol).kind == SymbolKind::Object {
                    self.number_object(terms, term);
                }
                self.application(terms, symbol, &args)?
            }
            TermKind::Theory(op, args, sort) => {
                self.axioms.extend(terms.by_cases(term));
                self.operation(terms, op, &args, sort)?
            }

            TermKind::Unit => self.snapshots.unit(),
            TermKind::Pair(a, b) => self.snapshots.pair(self.ast(a), self.ast(b)),
            TermKind::First(a) => self.snapshots.first(self.ast(a)),
            TermKind::Second(a) => self.snapshots.second(self.ast(a)),
            TermKind::IsPair(a) => self.snapshots.is_pair(self.ast(a)),
            TermKind::Wrap(a) => {
                let sort = terms.sort(a);
                self.prepare_wrapper(terms, sort)?;
                self.snapshots.wrap(sort, self.ast(a))
            }
            TermKind::Unwrap(a, sort) => {
                self.prepare_wrapper(terms, sort)?;
                self.snapshots.unwrap(sort, self.ast(a))
            }
            TermKind::IsWrapped(a, sort) => {
                self.prepare_wrapper(terms, sort)?;
                self.snapshots.is_wrapped(sort, self.ast(a))
            }

            TermKind::Int(_)
            | TermKind::Perm(_)
            | TermKind::Add(..)
            | TermKind::Sub(..)
            | TermKind::Mul(..)
            | TermKind::Lt(..)
            | TermKind::Le(..)
            | TermKind::IntDiv(..)
            | TermKind::IntMod(..)
            | TermKind::PermDiv(..)
            | TermKind::PermMin(..)
            | TermKind::IntToPerm(_) => {
                self.is_nonlinear |= is_nonlinear(terms, &kind);
                self.axioms.extend(counted::bounds(terms, term));
                self.has_fractions |=
                    matches!(kind, TermKind::PermDiv(_, b) if !terms.is_literal(b));
                self.number(terms, term, &kind)?
            }
        })
    }

    /// Adds the axioms by which a new object differs from `null` and from all other new objects.
    /// Each object has a number of its own.
    ///
    /// PERFORMANCE: one axiom for each object, where pairs would be many.
    fn number_object(&mut self, terms: &mut Terms, object: Term) {
        let number = terms.declare_function("object.number", &[Sort::REF], Sort::INT);
        if self.objects == 0 {
            self.axioms.push(numbered(terms, number, Terms::NULL, 0));
        }
        self.objects += 1;
        self.axioms.push(numbered(terms, number, object, self.objects));
    }

    /// Translates a number. Literals become decimal text, so their size does not matter.
    fn number(&self, terms: &Terms, term: Term, kind: &TermKind) -> Result<Dynamic, ProverError> {
        let int = |operand: &Term| self.int(terms, *operand);
        let real = |operand: &Term| self.real(terms, *operand);
        let operand_sort = match kind {
            TermKind::Lt(a, _) | TermKind::Le(a, _) => terms.sort(*a),
            _ => terms.sort(term),
        };
        Ok(match kind {
            TermKind::Int(value) => {
                let literal = Int::from_str(&value.to_string());
                literal.map_err(|()| ill_sorted(terms, term))?.into()
            }
            TermKind::Perm(value) => {
                let (upper, lower) = (value.numer().to_string(), value.denom().to_string());
                let literal = Real::from_rational_str(&upper, &lower);
                literal.ok_or_else(|| ill_sorted(terms, term))?.into()
            }
            TermKind::IntDiv(a, b) => int(a)?.div(int(b)?).into(),
            TermKind::IntMod(a, b) => int(a)?.modulo(int(b)?).into(),
            TermKind::PermDiv(a, b) => real(a)?.div(real(b)?).into(),
            TermKind::PermMin(a, b) => {
                let (a, b) = (real(a)?, real(b)?);
                a.le(&b).ite(&a, &b).into()
            }
            TermKind::IntToPerm(a) => int(a)?.to_real().into(),
            TermKind::Add(..) if operand_sort == Sort::INT => {
                let parts: Result<Vec<Int>, _> = summands(terms, term).iter().map(int).collect();
                Int::add(&parts?).into()
            }
            TermKind::Add(..) => {
                let parts: Result<Vec<Real>, _> = summands(terms, term).iter().map(real).collect();
                Real::add(&parts?).into()
            }
            TermKind::Sub(a, b) if operand_sort == Sort::INT => {
                Int::sub(&[int(a)?, int(b)?]).into()
            }
            TermKind::Sub(a, b) => Real::sub(&[real(a)?, real(b)?]).into(),
            TermKind::Mul(a, b) if operand_sort == Sort::INT => {
                Int::mul(&[int(a)?, int(b)?]).into()
            }
            TermKind::Mul(a, b) => Real::mul(&[real(a)?, real(b)?]).into(),
            TermKind::Lt(a, b) if operand_sort == Sort::INT => int(a)?.lt(int(b)?).into(),
            TermKind::Lt(a, b) => real(a)?.lt(real(b)?).into(),
            TermKind::Le(a, b) if operand_sort == Sort::INT => int(a)?.le(int(b)?).into(),
            TermKind::Le(a, b) => real(a)?.le(real(b)?).into(),
            _ => return Err(ill_sorted(terms, term)),
        })
    }

    fn quantifier(
        &mut self,
        terms: &mut Terms,
        quantifier: &Quantifier,
    ) -> Result<Bool, ProverError> {
        let mut bounds = Vec::with_capacity(quantifier.variables.len());
        for &variable in &quantifier.variables {
            bounds.push(self.apply(terms, variable, &[])?);
        }
        let bounds: Vec<&dyn Ast> = bounds.iter().map(|bound| bound as &dyn Ast).collect();
        let name = quantifier.label.as_ref();
        let triggers = &quantifier.triggers;
        let mut patterns = Vec::with_capacity(triggers.len());
        for trigger in triggers {
            let parts = self.parts_to_match(terms, quantifier, trigger);
            for &part in &parts {
                self.translate(terms, part)?;
            }
            let parts: Vec<&dyn Ast> =
                parts.into_iter().map(|part| self.ast(part) as &dyn Ast).collect();
            patterns.push(Pattern::new(&parts));
        }
        let patterns: Vec<&Pattern> = patterns.iter().collect();
        Ok(z3::ast::quantifier_const(
            quantifier.quant == Quant::Forall,
            quantifier.weight,
            name,
            format!("{name}!sk"),
            &bounds,
            &patterns,
            &[],
            &self.bool(terms, quantifier.body)?,
        ))
    }

    fn application(
        &mut self,
        terms: &Terms,
        symbol: Symbol,
        args: &[Term],
    ) -> Result<Dynamic, ProverError> {
        let args: Vec<Dynamic> = args.iter().map(|&arg| self.ast(arg).clone()).collect();
        self.apply(terms, symbol, &args)
    }

    fn apply(
        &mut self,
        terms: &Terms,
        symbol: Symbol,
        args: &[Dynamic],
    ) -> Result<Dynamic, ProverError> {
        if !self.functions.contains_key(&symbol) {
            let function = self.declare(terms, terms.declaration(symbol))?;
            self.functions.insert(symbol, function);
        }
        Ok(match &self.functions[&symbol] {
            Function::Declared(declaration) => {
                let args: Vec<&dyn Ast> = args.iter().map(|arg| arg as &dyn Ast).collect();
                declaration.apply(&args)
            }
            Function::Template(template) => template.instantiate(args),
        })
    }

    fn declare(
        &mut self,
        terms: &Terms,
        declaration: &Declaration,
    ) -> Result<Function, ProverError> {
        let Declaration { name, args, result, kind } = declaration;
        if let SymbolKind::Backend(text) = kind {
            let template = backend::function(&self.context, terms, text, args, *result)?;
            return Ok(Function::Template(template));
        }
        let args = self.sorts(terms, args)?;
        let result = self.sort(terms, *result)?;
        let name = &*match self.variation {
            0 => Cow::Borrowed(name.as_ref()),
            variation => Cow::Owned(format!("v{variation}.{name}")),
        };
        // Variables are declared too. They are free in a question about all their values.
        self.log.declare_function(name, &args, &result);
        let args: Vec<&z3::Sort> = args.iter().collect();
        Ok(Function::Declared(Rc::new(FuncDecl::new(name, &args, &result))))
    }

    /// Applies an operator of a theory, and adds the axioms of the theory at its first use.
    fn operation(
        &mut self,
        terms: &mut Terms,
        op: TheoryOp,
        args: &[Term],
        result: Sort,
    ) -> Result<Dynamic, ProverError> {
        let arg_sorts: Vec<Sort> = args.iter().map(|&arg| terms.sort(arg)).collect();
        let axioms = self.theories.require(terms, op, &arg_sorts, result);
        self.axioms.extend(axioms);
        let key = (op, arg_sorts, result);
        if !self.operators.contains_key(&key) {
            let declaration = self.declare_operator(terms, &key)?;
            self.operators.insert(key.clone(), declaration);
        }
        let args: Vec<&dyn Ast> = args.iter().map(|&arg| self.ast(arg) as &dyn Ast).collect();
        Ok(self.operators[&key].apply(&args))
    }

    fn declare_operator(
        &mut self,
        terms: &Terms,
        (op, arg_sorts, result): &(TheoryOp, Vec<Sort>, Sort),
    ) -> Result<FuncDecl, ProverError> {
        let name = match theory::subject(*op, arg_sorts, *result) {
            Some(sort) => format!("{op:?}<{}>", terms.sort_name(sort)),
            None => format!("{op:?}"),
        };
        let args = self.sorts(terms, arg_sorts)?;
        let result = self.sort(terms, *result)?;
        self.log.declare_function(&name, &args, &result);
        let args: Vec<&z3::Sort> = args.iter().collect();
        Ok(FuncDecl::new(name, &args, &result))
    }

    fn sorts(&mut self, terms: &Terms, sorts: &[Sort]) -> Result<Vec<z3::Sort>, ProverError> {
        sorts.iter().map(|&sort| self.sort(terms, sort)).collect()
    }

    /// Translates a sort, and declares it at its first use.
    fn sort(&mut self, terms: &Terms, sort: Sort) -> Result<z3::Sort, ProverError> {
        if let Some(Some(known)) = self.sorts.get(sort.index()) {
            return Ok(known.clone());
        }
        let made = match terms.sort_kind(sort) {
            SortKind::Bool => z3::Sort::bool(),
            SortKind::Int => z3::Sort::int(),
            SortKind::Perm => z3::Sort::real(),
            SortKind::Ref => self.vocabulary.null.get_sort(),
            SortKind::Snap => self.snapshots.sort(),
            SortKind::Backend(text) => {
                self.has_backend_sorts = true;
                backend::sort(&self.context, text)?
            }
            SortKind::Seq(_)
            | SortKind::Set(_)
            | SortKind::Multiset(_)
            | SortKind::Map(..)
            | SortKind::User { .. } => {
                let name = terms.sort_name(sort);
                // The datatype of snapshots declares this sort.
                if name != Snapshots::PAYLOAD {
                    self.log.declare_sort(&name);
                }
                z3::Sort::uninterpreted(name.into())
            }
        };
        if self.sorts.len() <= sort.index() {
            self.sorts.resize(sort.index() + 1, None);
        }
        self.sorts[sort.index()] = Some(made.clone());
        Ok(made)
    }

    /// Declares a symbol that is not given by text.
    fn uninterpreted(
        &mut self,
        terms: &Terms,
        symbol: Symbol,
    ) -> Result<Rc<FuncDecl>, ProverError> {
        let function = self.declare(terms, terms.declaration(symbol))?;
        let Function::Declared(declaration) = &function else {
            unreachable!("declared without text")
        };
        let declaration = declaration.clone();
        self.functions.insert(symbol, function);
        Ok(declaration)
    }

    /// Makes the functions for snapshots of a sort that has no constructor of its own.
    fn prepare_wrapper(&mut self, terms: &mut Terms, sort: Sort) -> Result<(), ProverError> {
        if self.snapshots.can_wrap(sort) {
            return Ok(());
        }
        let payload = terms.user_sort(Snapshots::PAYLOAD, &[]);
        let name = terms.sort_name(sort);
        let inject = terms.declare_function(&format!("inject<{name}>"), &[sort], payload);
        let project = terms.declare_function(&format!("project<{name}>"), &[payload], sort);
        let [inject_function, project_function] =
            [self.uninterpreted(terms, inject)?, self.uninterpreted(terms, project)?];
        self.snapshots.add_wrapper(sort, inject_function, project_function);
        self.axioms.push(injection_axiom(terms, sort, inject, project));
        Ok(())
    }
}

/// Returns the summands of a sum that was built one by one. Z3 flattens sums too, but nested ones
/// in more than quadratic time.
fn summands(terms: &Terms, sum: Term) -> Vec<Term> {
    let mut summands = Vec::new();
    let mut rest = sum;
    while let TermKind::Add(a, b) = *terms.kind(rest) {
        let (next, summand) =
            if matches!(terms.kind(b), TermKind::Add(..)) { (b, a) } else { (a, b) };
        summands.push(summand);
        rest = next;
    }
    summands.push(rest);
    summands.reverse();
    summands
}

/// Returns `∀x {inject(x)}. project(inject(x)) = x`.
fn injection_axiom(terms: &mut Terms, sort: Sort, inject: Symbol, project: Symbol) -> Term {
    let x = terms.named_variable("x", sort);
    let injected = terms.apply(inject, &[x]);
    let projected = terms.apply(project, &[injected]);
    let body = terms.identical(projected, x);
    terms.forall(&[x], vec![vec![injected]], body, "snapshot.injection", 1)
}

/// Returns `number(object) = position`.
fn numbered(terms: &mut Terms, number: Symbol, object: Term, position: usize) -> Term {
    let applied = terms.apply(number, &[object]);
    let position = terms.int(position);
    terms.identical(applied, position)
}

fn ill_sorted(terms: &Terms, term: Term) -> ProverError {
    ProverError::IllSorted(terms.display(term).to_string())
}

fn is_nonlinear(terms: &Terms, kind: &TermKind) -> bool {
    match *kind {
        TermKind::Mul(a, b) => !terms.is_literal(a) && !terms.is_literal(b),
        TermKind::IntDiv(_, b) | TermKind::IntMod(_, b) | TermKind::PermDiv(_, b) => {
            !terms.is_literal(b)
        }
        _ => false,
    }
}
