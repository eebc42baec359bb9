//! The keywords of the languages, in lists by their use.

use crate::Language;

/// The keywords of a language. No word stands in two of the lists.
#[derive(Debug)]
pub struct Words {
    /// Words that begin a declaration.
    pub declarations: &'static [&'static str],
    /// Words that stand before or in a declaration or statement.
    pub modifiers: &'static [&'static str],
    /// Words that begin a clause of a contract.
    pub clauses: &'static [&'static str],
    /// Words that begin a statement.
    pub statements: &'static [&'static str],
    /// Words that go on with a statement or declaration.
    pub connectives: &'static [&'static str],
    /// Words that begin an expression.
    pub expressions: &'static [&'static str],
    /// Words that stand between operands.
    pub operators: &'static [&'static str],
    /// Words that are expressions by themselves.
    pub constants: &'static [&'static str],
    /// Names of types.
    pub types: &'static [&'static str],
    /// Words of the other lists that are names where they cannot be keywords.
    pub soft: &'static [&'static str],
}

impl Words {
    /// Returns the words of a language.
    pub fn of(language: Language) -> &'static Self {
        match language {
            Language::Sil => &SIL,
            Language::Chalice => &CHALICE,
            Language::Spl => &SPL,
        }
    }

    /// Returns all words, list by list.
    pub fn all(&self) -> impl Iterator<Item = &'static str> {
        let others =
            [self.connectives, self.expressions, self.operators, self.constants, self.types];
        self.beginnings().chain(others.into_iter().flatten().copied())
    }

    /// Tells whether a word can be no name.
    pub fn is_reserved(&self, word: &str) -> bool {
        self.all().any(|known| known == word) && !self.soft.contains(&word)
    }

    /// Tells whether a word begins a declaration or a statement.
    pub fn begins(&self, word: &str) -> bool {
        self.declarations.contains(&word) || self.statements.contains(&word)
    }

    /// Returns the words that declarations, clauses and statements begin with.
    pub fn beginnings(&self) -> impl Iterator<Item = &'static str> {
        let lists = [self.declarations, self.modifiers, self.clauses, self.statements];
        lists.into_iter().flatten().copied()
    }

    /// Tells whether something has to follow a word.
    pub fn goes_on(&self, word: &str) -> bool {
        self.all().any(|known| known == word)
            && !self.constants.contains(&word)
            && !self.types.contains(&word)
    }
}

static SIL: Words = Words {
    declarations: &[
        "adt",
        "axiom",
        "define",
        "domain",
        "field",
        "function",
        "import",
        "method",
        "predicate",
    ],
    modifiers: &["program", "unique"],
    clauses: &["decreases", "ensures", "invariant", "requires"],
    statements: &[
        "apply",
        "assert",
        "assume",
        "exhale",
        "fold",
        "goto",
        "if",
        "inhale",
        "label",
        "package",
        "quasihavoc",
        "quasihavocall",
        "refute",
        "unfold",
        "var",
        "while",
    ],
    connectives: &["by", "derives", "else", "elseif", "interpretation", "returns", "without"],
    expressions: &[
        "acc",
        "applying",
        "asserting",
        "exists",
        "forall",
        "forperm",
        "let",
        "new",
        "old",
        "perm",
        "range",
        "unfolding",
    ],
    operators: &["in", "intersection", "setminus", "subset", "union"],
    constants: &["epsilon", "false", "lhs", "none", "null", "result", "true", "wildcard", "write"],
    types: &["Bool", "Int", "Map", "Multiset", "Perm", "Rational", "Ref", "Seq", "Set"],
    soft: &["by", "program"],
};

static CHALICE: Words = Words {
    declarations: &[
        "channel",
        "class",
        "condition",
        "function",
        "method",
        "predicate",
        "refines",
        "transforms",
    ],
    modifiers: &["const", "external", "ghost", "spec", "static", "tracked", "unlimited"],
    clauses: &["decreases", "ensures", "invariant", "lockchange", "requires"],
    statements: &[
        "acquire",
        "assert",
        "assume",
        "call",
        "downgrade",
        "fold",
        "fork",
        "free",
        "if",
        "join",
        "lock",
        "receive",
        "release",
        "reorder",
        "replaces",
        "send",
        "share",
        "signal",
        "unfold",
        "unshare",
        "var",
        "wait",
        "while",
    ],
    connectives: &["above", "and", "below", "between", "by", "else", "module", "returns", "where"],
    expressions: &[
        "acc",
        "assigned",
        "credit",
        "empty",
        "eval",
        "exists",
        "forall",
        "holds",
        "ite",
        "max",
        "new",
        "nil",
        "old",
        "sum",
        "unfolding",
    ],
    operators: &["in"],
    constants: &["false", "lockbottom", "null", "rd", "result", "this", "true", "waitlevel"],
    types: &["bool", "int", "seq", "set", "string", "token"],
    soft: &["decreases", "empty", "max", "set", "sum", "tracked"],
};

static SPL: Words = Words {
    declarations: &[
        "axiom",
        "const",
        "datatype",
        "define",
        "function",
        "include",
        "lemma",
        "options",
        "predicate",
        "procedure",
        "struct",
        "type",
    ],
    modifiers: &["auto", "ghost", "implicit", "pure"],
    clauses: &["ensures", "invariant", "requires"],
    statements: &[
        "assert", "assume", "choose", "fold", "free", "havoc", "if", "return", "split", "unfold",
        "var", "while",
    ],
    connectives: &["else", "or", "returns", "with", "without"],
    expressions: &[
        "byte2int",
        "comment",
        "exists",
        "forall",
        "int2byte",
        "matching",
        "new",
        "noinst",
        "pattern",
        "unfolding",
        "yields",
    ],
    operators: &["in", "subsetof"],
    constants: &["emp", "false", "null", "true"],
    types: &["Array", "ArrayCell", "Bool", "Byte", "Int", "Loc", "Map", "Set"],
    soft: &["fold", "unfold", "unfolding"],
};
