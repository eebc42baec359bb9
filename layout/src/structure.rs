//! Pairs of brackets, and what they are for.

use crate::Problem;
use front::Language;
use front::Words;
use front::tokens::{Kind, Token};

/// The kind of text between two brackets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Inside {
    /// Statements or declarations.
    Block,
    /// One expression, the body of a function or predicate.
    Body,
    /// A part of an expression, or a list.
    Part,
}

/// The role of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Plain,
    /// The token begins a clause of a contract.
    Clause,
    Open {
        partner: usize,
        inside: Inside,
    },
    Close {
        partner: usize,
        inside: Inside,
    },
}

/// The tokens of a text, with a role and a place in brackets for each.
pub(crate) struct Structure<'t> {
    pub(crate) language: Language,
    pub(crate) words: &'static Words,
    pub(crate) roles: Vec<Role>,
    /// The open bracket around each token.
    pub(crate) around: Vec<Option<usize>>,
    /// Braces behind the clauses of a contract.
    pub(crate) behind_clauses: Vec<bool>,
    /// A `:` that belongs to a `?`.
    pub(crate) chooses: Vec<bool>,
    /// The word that begins the statement or declaration of a token.
    pub(crate) headers: Vec<Option<&'t str>>,
}

/// A bracket that is open, with the statement or declaration in it that is being read.
struct Level<'t> {
    open: Option<usize>,
    inside: Inside,
    /// The word that says what it is.
    header: Option<&'t str>,
    has_clauses: bool,
    /// The item may be over.
    is_ended: bool,
    /// As many `?` wait for their `:`.
    choices: usize,
}

impl Level<'_> {
    fn new(open: Option<usize>, inside: Inside) -> Self {
        Self { open, inside, header: None, has_clauses: false, is_ended: false, choices: 0 }
    }
}

impl<'t> Structure<'t> {
    pub(crate) fn new(tokens: &[Token<'t>], language: Language) -> Result<Self, Problem> {
        let mut reader = Reader {
            tokens,
            structure: Self {
                language,
                words: Words::of(language),
                roles: vec![Role::Plain; tokens.len()],
                around: vec![None; tokens.len()],
                behind_clauses: vec![false; tokens.len()],
                chooses: vec![false; tokens.len()],
                headers: vec![None; tokens.len()],
            },
            levels: vec![Level::new(None, Inside::Block)],
            before: None,
        };
        for at in 0..tokens.len() {
            reader.read(at)?;
        }
        match reader.levels.last().and_then(|level| level.open) {
            Some(open) => Err(Problem::Unbalanced(tokens[open].start)),
            None => Ok(reader.structure),
        }
    }

    /// Returns the bracket around a token, and what it is for.
    pub(crate) fn level(&self, at: usize) -> Inside {
        match self.around[at].map(|open| self.roles[open]) {
            Some(Role::Open { inside, .. }) => inside,
            _ => Inside::Block,
        }
    }
}

struct Reader<'a, 't> {
    tokens: &'a [Token<'t>],
    structure: Structure<'t>,
    levels: Vec<Level<'t>>,
    /// The last token that is no comment.
    before: Option<usize>,
}

impl<'t> Reader<'_, 't> {
    fn read(&mut self, at: usize) -> Result<(), Problem> {
        let Token { kind, text, start } = self.tokens[at];
        let level = self.levels.last_mut().ok_or(Problem::Unbalanced(start))?;
        self.structure.around[at] = level.open;
        if self.tokens[at].is_comment() {
            return Ok(());
        }
        if level.inside == Inside::Block {
            self.note_item(at);
        }
        match (kind, text) {
            (Kind::Sign, "(" | "[") => self.open(at, Inside::Part),
            (Kind::Sign, "{") => {
                let inside = self.inside_of_brace();
                let level = self.level();
                let has_clauses = level.has_clauses;
                level.has_clauses &= inside == Inside::Part;
                let is_graph =
                    self.before.is_some_and(|before| self.tokens[before].text == "graph");
                self.structure.behind_clauses[at] =
                    has_clauses && inside != Inside::Part && !is_graph;
                self.open(at, inside);
            }
            (Kind::Sign, ")" | "]" | "}") => self.close(at)?,
            (Kind::Sign, ";") => self.level().is_ended = true,
            (Kind::Sign, "?") => self.level().choices += 1,
            (Kind::Sign, ":") => {
                let level = self.level();
                let chooses = level.choices > 0;
                level.choices = level.choices.saturating_sub(1);
                self.structure.chooses[at] = chooses;
            }
            _ => {}
        }
        self.before = Some(at);
        Ok(())
    }

    fn level(&mut self) -> &mut Level<'t> {
        // The lowest level has no bracket that could close it.
        self.levels.last_mut().expect("there is a level")
    }

    /// Looks whether a token begins a statement, a declaration or a clause.
    fn note_item(&mut self, at: usize) {
        let Token { kind, text, .. } = self.tokens[at];
        let is_word = kind == Kind::Word;
        let begins_clause = is_word && self.begins_clause(at);
        let words = self.structure.words;
        let level = self.level();
        if std::mem::take(&mut level.is_ended) && !begins_clause && text != "{" {
            *level = Level::new(level.open, level.inside);
        }
        if begins_clause {
            level.has_clauses = true;
            self.structure.roles[at] = Role::Clause;
        } else if is_word && (words.begins(text) || ["loop", "block"].contains(&text)) {
            *level = Level { header: Some(text), ..Level::new(level.open, level.inside) };
        }
        self.structure.headers[at] = self.level().header;
    }

    /// Tells whether a word, or the words that it is the first of, begins a clause of the contract
    /// that is being read.
    fn begins_clause(&self, at: usize) -> bool {
        let is_second = |before: usize| {
            self.is_modifier(before) && self.structure.roles[before] == Role::Clause
        };
        if self.before.is_some_and(is_second) {
            return false;
        }
        let is_other = |&at: &usize| !self.tokens[at].is_comment() && !self.is_modifier(at);
        let Some(word) = (at..self.tokens.len()).find(is_other) else { return false };
        let word = self.tokens[word];
        let Some(header) = self.levels.last().and_then(|level| level.header) else { return false };
        let is_of_header = self.structure.language == Language::Sil
            || (word.text == "invariant") == (header == "while");
        self.structure.words.clauses.contains(&word.text) && is_of_header
    }

    /// Tells whether a token may stand before the word that begins a clause.
    fn is_modifier(&self, at: usize) -> bool {
        self.structure.language == Language::Spl && ["free", "pure"].contains(&self.tokens[at].text)
    }

    /// Returns the kind of text behind a `{`.
    fn inside_of_brace(&mut self) -> Inside {
        let is_expression = match self.before {
            Some(before) => self.is_expression_after(before),
            None => false,
        };
        let language = self.structure.language;
        let level = self.level();
        if level.inside != Inside::Block || is_expression {
            return Inside::Part;
        }
        match (language, level.header) {
            (_, Some("function" | "predicate" | "axiom")) | (Language::Spl, Some("define")) => {
                Inside::Body
            }
            _ => Inside::Block,
        }
    }

    /// Tells whether a `{` behind a token begins an expression.
    fn is_expression_after(&self, before: usize) -> bool {
        let Token { kind, text, .. } = self.tokens[before];
        let words = self.structure.words;
        match (self.structure.language, kind) {
            (_, Kind::Sign) if text == "::" => true,
            // A trigger behind another one.
            (_, Kind::Sign) if text == "}" => {
                matches!(self.structure.roles[before], Role::Close { inside: Inside::Part, .. })
            }
            (Language::Sil, _) => false,
            (_, Kind::Sign) => !matches!(text, ")" | "]" | ";" | "{" | ">" | "*"),
            (_, Kind::Word) => {
                words.operators.contains(&text)
                    || matches!(
                        text,
                        "assert" | "assume" | "requires" | "ensures" | "invariant" | "return"
                    )
            }
            _ => false,
        }
    }

    fn open(&mut self, at: usize, inside: Inside) {
        self.structure.roles[at] = Role::Open { partner: at, inside };
        self.levels.push(Level::new(Some(at), inside));
    }

    fn close(&mut self, at: usize) -> Result<(), Problem> {
        let unbalanced = Problem::Unbalanced(self.tokens[at].start);
        let level = self.levels.pop().ok_or(unbalanced)?;
        let open = level.open.ok_or(unbalanced)?;
        // `[a..b)` are the integers from `a` on that are smaller than `b`.
        let pair = (self.tokens[open].text, self.tokens[at].text);
        let is_range = pair == ("[", ")") && self.structure.language == Language::Sil;
        if !is_range && !matches!(pair, ("(", ")") | ("[", "]") | ("{", "}")) {
            return Err(unbalanced);
        }
        let inside = level.inside;
        self.structure.roles[open] = Role::Open { partner: at, inside };
        self.structure.roles[at] = Role::Close { partner: open, inside };
        let outer = self.level();
        self.structure.around[at] = outer.open;
        let outer = self.level();
        outer.is_ended |= inside != Inside::Part;
        Ok(())
    }
}
