//! The meaning of the names in a text: the place of each declaration, and of each use.
//!
//! Declarations are found in the text ([`crate::tokens`]), so there is an answer while the text is
//! no program. Where it is one, names mean what they mean in the resolved program ([`Meaning`]);
//! elsewhere a variable is known by its name in its member.

use std::collections::BTreeMap;
use std::iter;
use std::ops::Range;

use front::Words;
use rustc_hash::FxHashMap;
use sil::program::{Local, LocalId, LocalKind, Member, Program, Stmt, StmtKind};
use sil::source::Span;
use sil::walk::{Visit, walk_body, walk_expr};
use silicon::session::input::Language;
use silicon::session::name_and_span;

use crate::chalice_names::{Names, Variable, names};
use crate::positions::Text;
use crate::tokens::{Declaration, Declares, Kind, Token, declarations, tokens};

/// Something with a name.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub(crate) name: String,
    pub(crate) means: Means,
    /// Where its name is declared; none: in another file.
    pub(crate) declared: Option<Range<usize>>,
    /// The declaration as shown to users, in its language.
    pub(crate) shown: String,
    /// The declaration in which a variable is known, by number.
    pub(crate) inside: Option<usize>,
    /// In another file: its name, and the place there.
    pub(crate) elsewhere: Option<(String, lsp_types::Range)>,
}

/// The kind of a symbol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Means {
    Declared(Declares),
    Parameter,
    Variable,
    Label,
}

/// The names of a text.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    pub(crate) language: Language,
    pub(crate) tokens: Vec<Token>,
    pub(crate) declarations: Vec<Declaration>,
    pub(crate) symbols: Vec<Symbol>,
    /// By where the word begins: the number of the symbol.
    pub(crate) uses: BTreeMap<usize, usize>,
}

/// The program that a text is.
pub(crate) enum Meaning<'p> {
    /// With the files that it is made of, the text itself first.
    Sil(&'p Program, &'p sil::source::Sources),
    Chalice(&'p chalice::Program),
    /// The text is no program; what it imports is one, with the files that this is made of.
    Imported(&'p Program, &'p sil::source::Sources),
    /// The text is no program, or one of a language whose programs are not asked.
    Unknown,
}

impl Index {
    pub(crate) fn new(text: &Text, language: Language, meaning: &Meaning<'_>) -> Self {
        let tokens = tokens(&text.text, language);
        let declarations = declarations(&text.text, &tokens, language);
        let uses = BTreeMap::new();
        let mut index = Self { language, tokens, declarations, symbols: Vec::new(), uses };
        index.declare(&text.text);
        let mut locals = Locals::default();
        match meaning {
            Meaning::Sil(program, sources) => {
                index.declare_elsewhere(program, sources);
                locals.of_program(program, &mut index, text);
            }
            Meaning::Chalice(program) => locals.of_chalice(program, &mut index, text),
            Meaning::Imported(program, sources) => {
                index.declare_elsewhere(program, sources);
                locals.of_text(&mut index, &text.text);
            }
            Meaning::Unknown => locals.of_text(&mut index, &text.text),
        }
        index.resolve(&text.text, &locals);
        index
    }

    fn declare(&mut self, text: &str) {
        for declaration in &self.declarations {
            self.symbols.push(Symbol {
                name: text[declaration.name.clone()].to_owned(),
                means: Means::Declared(declaration.declares),
                declared: Some(declaration.name.clone()),
                shown: head(text, declaration, &self.tokens),
                inside: None,
                elsewhere: None,
            });
        }
    }

    /// Members of imported files.
    fn declare_elsewhere(&mut self, program: &Program, sources: &sil::source::Sources) {
        for &member in &program.order {
            let (name, span) = name_and_span(program, member);
            if span.file.0 == 0 || sources.range(span).is_none() {
                continue;
            }
            let file = sources.file(span.file);
            let whole = sources.text(span).unwrap_or_default();
            let at = span.start as usize + whole.find(name).unwrap_or(0);
            let text = Text::new(file.text.clone());
            let declares = match member {
                Member::Field(_) => Declares::Field,
                Member::Predicate(_) => Declares::Predicate,
                Member::Function(_) => Declares::Function,
                Member::Domain(_) => Declares::Domain,
                Member::Method(_) => Declares::Method,
            };
            self.symbols.push(Symbol {
                name: name.to_owned(),
                means: Means::Declared(declares),
                declared: None,
                shown: whole.lines().take(12).collect::<Vec<_>>().join("\n"),
                inside: None,
                elsewhere: Some((file.name.clone(), text.range(&(at..at + name.len())))),
            });
        }
    }

    /// Returns the declaration that a place is in, the innermost one.
    pub(crate) fn declaration_at(&self, offset: usize) -> Option<usize> {
        let begun = self.declarations.partition_point(|one| one.whole.start <= offset);
        // Declarations overlap only where one stands in the other.
        let mut outwards =
            iter::successors(begun.checked_sub(1), |&it| self.declarations[it].inside);
        outwards.find(|&it| offset <= self.declarations[it].whole.end)
    }

    /// Returns the word at a place, or that ends there, and the number of what it means.
    pub(crate) fn at(&self, offset: usize) -> Option<(Range<usize>, usize)> {
        let (start, &symbol) = self.uses.range(..=offset).next_back()?;
        let range = *start..start + self.symbols[symbol].name.len();
        (offset <= range.end).then_some((range, symbol))
    }

    /// Returns where a symbol is named, its declaration among them.
    pub(crate) fn uses_of(&self, symbol: usize) -> impl Iterator<Item = Range<usize>> {
        let length = self.symbols[symbol].name.len();
        let of_it = self.uses.iter().filter(move |&(_, &other)| other == symbol);
        of_it.map(move |(&start, _)| start..start + length)
    }

    fn resolve(&mut self, text: &str, locals: &Locals) {
        let mut global: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (number, symbol) in self.symbols.iter().enumerate() {
            if symbol.inside.is_none() {
                global.entry(&symbol.name).or_default().push(number);
            }
        }
        let by_place: FxHashMap<usize, usize> = (self.symbols.iter().enumerate())
            .filter_map(|(number, symbol)| Some((symbol.declared.as_ref()?.start, number)))
            .collect();
        let keywords = Words::of(self.language);
        let code: Vec<&Token> = self.tokens.iter().filter(|token| !token.is_comment()).collect();
        let sign = |position: Option<usize>| {
            position.and_then(|position| code.get(position)).map(|it| &text[it.range.clone()])
        };
        let mut uses = BTreeMap::new();
        for (position, token) in code.iter().enumerate() {
            let word = &text[token.range.clone()];
            if token.kind != Kind::Word {
                continue;
            }
            let at = token.range.start;
            let before = sign(position.checked_sub(1));
            let is_part = before == Some(".");
            let is_applied = sign(Some(position + 1)) == Some("(");
            let own = self.declaration_at(at);
            let declared = by_place.get(&at).copied();
            // Types name classes, which have their names for themselves; all else that means
            // something is in the program.
            if locals.are_all {
                let known = || by_place.get(locals.exact.get(&at)?).copied();
                let class = || {
                    let candidates = global.get(word).filter(|_| !is_part)?;
                    let is_class = |&&number: &&usize| {
                        self.symbols[number].means == Means::Declared(Declares::Class)
                    };
                    candidates.iter().find(is_class).copied()
                };
                if let Some(symbol) = declared.or_else(known).or_else(class) {
                    uses.insert(at, symbol);
                }
                continue;
            }
            let local = || (!is_part).then(|| locals.find(word, at, own, &by_place)).flatten();
            let found = declared.or_else(|| (!is_applied).then(local).flatten()).or_else(|| {
                let candidates = global.get(word)?;
                // Where several classes have it, that of the same class is meant, or none is known.
                let class = own.and_then(|own| self.declarations[own].inside.or(Some(own)));
                let same = candidates.iter().copied().find(|&number| {
                    self.declarations.get(number).is_some_and(|it| it.inside == class)
                });
                same.filter(|_| !is_part).or((candidates.len() == 1).then(|| candidates[0]))
            });
            if let Some(symbol) = found.or_else(local)
                && (!keywords.is_reserved(word) || declared.is_some())
            {
                uses.insert(at, symbol);
            }
        }
        self.uses = uses;
    }
}

/// Returns the text of a declaration up to its body.
fn head(text: &str, declaration: &Declaration, tokens: &[Token]) -> String {
    let whole = declaration.whole.clone();
    let before = |place| tokens.partition_point(|token| token.range.start < place);
    let inside = &tokens[before(whole.start)..before(whole.end)];
    let (mut depth, mut body) = (0_usize, None);
    for token in inside.iter().filter(|token| token.kind == Kind::Sign) {
        match &text[token.range.clone()] {
            "{" => {
                if depth == 0 {
                    body = Some(token.range.start);
                }
                depth += 1;
            }
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    let has_body = text[whole.clone()].ends_with('}');
    let end = body.filter(|_| has_body).unwrap_or(whole.end);
    let is_short = matches!(declaration.declares, Declares::Predicate | Declares::Function)
        && text[whole.clone()].lines().count() <= 12;
    let end = if is_short { whole.end } else { end };
    text[whole.start..end].trim_end().to_owned()
}

/// The variables, and their places.
#[derive(Default)]
struct Locals {
    /// By where a name is used: where what it means is declared.
    exact: FxHashMap<usize, usize>,
    /// The list `exact` has all names, except those of classes.
    are_all: bool,
    /// By the number of the declaration and the name, in the order declared.
    by_name: FxHashMap<(usize, String), Vec<(usize, usize)>>,
}

impl Locals {
    fn find(
        &self,
        word: &str,
        at: usize,
        own: Option<usize>,
        by_place: &FxHashMap<usize, usize>,
    ) -> Option<usize> {
        if let Some(declared) = self.exact.get(&at) {
            return by_place.get(declared).copied();
        }
        let known = self.by_name.get(&(own?, word.to_owned()))?;
        // The last one that is declared before; of a contract's variable, the only one.
        let before = known.iter().rev().find(|(declared, _)| *declared <= at);
        before.or(known.first()).map(|&(_, symbol)| symbol)
    }

    fn add(&mut self, index: &mut Index, own: usize, symbol: Symbol) -> usize {
        let declared = symbol.declared.as_ref().map_or(0, |range| range.start);
        let number = index.symbols.len();
        self.by_name.entry((own, symbol.name.clone())).or_default().push((declared, number));
        index.symbols.push(symbol);
        number
    }

    /// Adds the names of a resolved program of Chalice, with all that they mean.
    fn of_chalice(&mut self, program: &chalice::Program, index: &mut Index, text: &Text) {
        let Names { uses, variables } = names(program, &text.text, &index.tokens);
        self.exact = uses;
        self.are_all = true;
        for Variable { name, shown, declared, is_parameter } in variables {
            let Some(own) = index.declaration_at(declared.start) else { continue };
            let means = if is_parameter { Means::Parameter } else { Means::Variable };
            let (declared, inside, elsewhere) = (Some(declared), Some(own), None);
            self.add(index, own, Symbol { name, means, declared, shown, inside, elsewhere });
        }
    }

    /// Adds the names of a resolved program of SIL.
    fn of_program(&mut self, program: &Program, index: &mut Index, text: &Text) {
        for &member in &program.order {
            let (_, span) = name_and_span(program, member);
            if span.file.0 != 0 {
                continue;
            }
            let Some(own) = index.declaration_at(span.start as usize) else { continue };
            match member {
                Member::Predicate(id) => {
                    let predicate = &program.predicates[id];
                    let places = self.arena(program, &predicate.locals, index, own, text);
                    predicate.body.iter().for_each(|body| self.meant(body, &places, text));
                }
                Member::Function(id) => {
                    let function = &program.functions[id];
                    let places = self.arena(program, &function.locals, index, own, text);
                    let contract = &function.contract;
                    let clauses = contract.preconditions.iter().chain(&contract.postconditions);
                    clauses.chain(&function.body).for_each(|it| self.meant(it, &places, text));
                }
                Member::Method(id) => {
                    let method = &program.methods[id];
                    let places = self.arena(program, &method.locals, index, own, text);
                    let contract = &method.contract;
                    let clauses = contract.preconditions.iter().chain(&contract.postconditions);
                    clauses.for_each(|it| self.meant(it, &places, text));
                    for implementation in &method.implementations {
                        walk_body(&implementation.body, |visit| match visit {
                            Visit::Expr(expr) => self.meant(expr, &places, text),
                            Visit::Stmt(stmt) => self.assigned(stmt, &method.locals, &places, text),
                            Visit::Node(_) | Visit::Graph(_) => {}
                        });
                        for (_, label) in implementation.labels.iter() {
                            let Some(declared) = word_in(text, label.span, &label.name) else {
                                continue;
                            };
                            let symbol = Symbol {
                                name: label.name.to_string(),
                                means: Means::Label,
                                declared: Some(declared),
                                shown: format!("label {}", label.name),
                                inside: Some(own),
                                elsewhere: None,
                            };
                            self.add(index, own, symbol);
                        }
                    }
                }
                Member::Domain(id) => {
                    for axiom in &program.domains[id].axioms {
                        // Functions of the domain may come before it.
                        let Some(own) = index.declaration_at(axiom.span.start as usize) else {
                            continue;
                        };
                        let places = self.arena(program, &axiom.locals, index, own, text);
                        self.meant(&axiom.body, &places, text);
                    }
                }
                Member::Field(_) => {}
            }
        }
    }

    fn arena(
        &mut self,
        program: &Program,
        locals: &la_arena::Arena<Local>,
        index: &mut Index,
        own: usize,
        text: &Text,
    ) -> FxHashMap<LocalId, usize> {
        let mut places = FxHashMap::default();
        for (id, Local { name, ty, kind, span }) in locals.iter() {
            // A variable that was made for the program has no place.
            let Some(declared) = word_in(text, *span, name) else { continue };
            let declared_at = declared.start;
            let means = match kind {
                LocalKind::Formal | LocalKind::Returned => Means::Parameter,
                LocalKind::Variable | LocalKind::Bound | LocalKind::Let => Means::Variable,
            };
            let symbol = Symbol {
                name: name.to_string(),
                means,
                declared: Some(declared),
                shown: format!("{name}: {}", ty.display(program)),
                inside: Some(own),
                elsewhere: None,
            };
            places.insert(id, declared_at);
            self.add(index, own, symbol);
        }
        places
    }

    /// Notes which variables the names in an expression mean.
    fn meant(
        &mut self,
        expr: &sil::program::Expr,
        places: &FxHashMap<LocalId, usize>,
        text: &Text,
    ) {
        walk_expr(expr, |expr| {
            if let sil::program::ExprKind::Local(local) = &expr.kind
                && let Some(&declared) = places.get(local)
                && expr.span.file.0 == 0
                && let Some(range) = token_of(text, expr.span)
            {
                self.exact.insert(range.start, declared);
            }
        });
    }

    /// Notes which variables a statement assigns; their names come first in it.
    fn assigned(
        &mut self,
        stmt: &Stmt,
        locals: &la_arena::Arena<Local>,
        places: &FxHashMap<LocalId, usize>,
        text: &Text,
    ) {
        let targets = match &stmt.kind {
            StmtKind::Assign { target, .. } | StmtKind::New { target, .. } => {
                std::slice::from_ref(target)
            }
            StmtKind::Call { targets, .. } => targets,
            _ => return,
        };
        for target in targets {
            if let Some(&declared) = places.get(target)
                && let Some(found) = word_in(text, stmt.span, &locals[*target].name)
            {
                self.exact.insert(found.start, declared);
            }
        }
    }

    /// Adds the variables that a text seems to declare: a name with a colon behind it.
    fn of_text(&mut self, index: &mut Index, text: &str) {
        let code: Vec<Token> =
            index.tokens.iter().filter(|token| !token.is_comment()).cloned().collect();
        let sign = |position: usize| code.get(position).map_or("", |it| &text[it.range.clone()]);
        for (position, token) in code.iter().enumerate() {
            let name = &text[token.range.clone()];
            let is_declared = token.kind == Kind::Word
                && (sign(position + 1) == ":"
                    || position.checked_sub(1).is_some_and(|before| sign(before) == "var"));
            if !is_declared || Words::of(index.language).is_reserved(name) {
                continue;
            }
            let Some(own) = index.declaration_at(token.range.start) else { continue };
            let is_member = index.declarations[own].name == token.range;
            let is_known = self.by_name.contains_key(&(own, name.to_owned()));
            if is_member || is_known {
                continue;
            }
            let line = text[token.range.start..].split([',', ')', ';', '{', '\n']).next();
            let symbol = Symbol {
                name: name.to_owned(),
                means: Means::Variable,
                declared: Some(token.range.clone()),
                shown: line.unwrap_or(name).trim().to_owned(),
                inside: Some(own),
                elsewhere: None,
            };
            self.add(index, own, symbol);
        }
    }
}

/// Returns where in a span of the first file a name stands.
fn word_in(text: &Text, span: Span, name: &str) -> Option<Range<usize>> {
    let (start, end) = (span.start as usize, span.end as usize);
    if span.file.0 != 0 {
        return None;
    }
    let inside = text.text.get(start..end)?;
    let found = tokens(inside, Language::Sil)
        .into_iter()
        .find(|token| &inside[token.range.clone()] == name)?;
    Some(start + found.range.start..start + found.range.end)
}

/// Returns the word that a span of the first file is; a variable may stand in parentheses.
fn token_of(text: &Text, span: Span) -> Option<Range<usize>> {
    let inside = text.text.get(span.start as usize..span.end as usize)?;
    let mut words =
        tokens(inside, Language::Sil).into_iter().filter(|token| token.kind == Kind::Word);
    let word = words.next()?;
    let start = span.start as usize;
    words.next().is_none().then(|| start + word.range.start..start + word.range.end)
}
