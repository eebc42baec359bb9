//! Options that a program asks for with `options ".."`.
//!
//! They are flags of the original's command line and act on the whole program. Most tune the
//! original's prover and mean nothing here.

/// How a program is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// `-symbexec-v2`: the program is of the field dialect.
    pub field_dialect: bool,
    /// `-symbexec`: assertions speak about a part of the state.
    pub assertions_about_parts: bool,
    /// `-abspreds`: predicates are not unrolled.
    pub abstract_predicates: bool,
    /// `-simplearrays`: arrays are maps, without cells of their own.
    pub simple_arrays: bool,
    /// `-bitvector`: integers have 32 bits.
    pub bit_vectors: bool,
    /// `-noautolemmas`: `auto` lemmas are ordinary ones.
    pub no_auto_lemmas: bool,
}

/// Why a text is no list of flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionError {
    /// A word without `-`.
    NotAFlag(String),
}

/// Flags of the original that change how it works and not what a program means, without their
/// arguments.
const IGNORED: &[&str] = &[
    "-v",
    "-q",
    "-basedir",
    "-procedure",
    "-dumpvcs",
    "-dumpghp",
    "-model",
    "-nostatistics",
    "-core",
    "-unsat-core",
    "-robust",
    "-nomodifiesopt",
    "-noreach",
    "-noep",
    "-noinst",
    "-nostratify",
    "-stratify",
    "-nostrat",
    "-splitmaps",
    "-splitlemmas",
    "-simpleexcs",
    "-fullep",
    "-termgen",
    "-smtsolver",
    "-smtpatterns",
    "-smtsets",
    "-smtarrays",
    "-noverify",
    "-verifycores",
    "-prover",
    "-encode",
    "-compile",
    "-compact",
    "-checkleaks",
    "-simplify",
    "-optreach",
    "-nofixcvc4",
    "-noSplit",
    "-propagatereads",
    "-propagateReads",
    "-alloc",
    "-lint",
    "-typeonly",
    "-noinfinite",
    "-instantiate",
    "-z3q",
    "-timeout",
    "-smt",
    "-nosimplify",
    "-optselfframe",
];

impl Options {
    /// Notes the flags in one `options` text; yields those that nobody knows.
    ///
    /// # Errors
    /// A word that is no flag.
    pub fn note(&mut self, text: &str) -> Result<Vec<String>, OptionError> {
        let mut unknown = Vec::new();
        let mut takes_argument = false;
        for word in text.split_whitespace() {
            if !word.starts_with('-') {
                if std::mem::take(&mut takes_argument) {
                    continue;
                }
                return Err(OptionError::NotAFlag(word.to_owned()));
            }
            takes_argument = true;
            match word {
                "-symbexec-v2" => self.field_dialect = true,
                "-symbexec" => self.assertions_about_parts = true,
                "-abspreds" => self.abstract_predicates = true,
                "-simplearrays" => self.simple_arrays = true,
                "-bitvector" => self.bit_vectors = true,
                "-noautolemmas" => self.no_auto_lemmas = true,
                word if IGNORED.contains(&word) => {}
                word => unknown.push(word.to_owned()),
            }
        }
        Ok(unknown)
    }
}
