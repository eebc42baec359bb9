use std::path::Path;

/// A language that programs are written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// SIL, and Viper.
    Sil,
    Chalice,
    Spl,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sil, Self::Chalice, Self::Spl];

    /// Returns the ends of the names of programs.
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Sil => &["sil", "vpr"],
            Self::Chalice => &["chalice"],
            Self::Spl => &["spl"],
        }
    }

    /// Returns the language that the end of a name announces.
    pub fn of_name(name: &Path) -> Option<Self> {
        let ending = name.extension()?.to_str()?;
        Self::ALL.into_iter().find(|language| language.endings().contains(&ending))
    }
}
