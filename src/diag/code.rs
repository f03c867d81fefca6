//! The stable code of a diagnostic, and how serious it is.

use std::fmt;

/// A diagnostic's code: `A` and four digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(pub u16);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "A{:04}", self.0)
    }
}

impl std::str::FromStr for Code {
    type Err = ();

    /// Reads `A0123`, in either case.
    fn from_str(text: &str) -> Result<Code, ()> {
        let digits = text.strip_prefix(['A', 'a']).ok_or(())?;
        if digits.len() != 4 { Err(()) } else { digits.parse().map(Code).map_err(|_| ()) }
    }
}

/// How serious a diagnostic is; a larger one is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The translation does the same; something worth knowing was decided.
    Info,
    /// Results of a conforming program are the same; a check or some parallelism is lost.
    Weaker,
    /// A named situation behaves differently.
    Differs,
    /// The directive was left untranslated.
    Left,
    /// acc2omp is at fault, and withdrew the change.
    Bug,
}

/// What a diagnostic is about: the program, whatever it is translated to, or what one target does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Concern {
    /// The program, or a decision that is the same for all targets: every translation reports it.
    Both,
    /// What OpenMP, a compiler for it, or the translation to it cannot do.
    OpenMp,
    /// What CUDA, or the translation to it cannot do.
    Cuda,
    /// What a translation has made of the directive: each one reports it of its own text.
    Each,
}

impl Concern {
    /// In which translations it is reported, as `acc2omp explain` prints it.
    pub fn sentence(self) -> &'static str {
        match self {
            Concern::Both => "Reported in translations to OpenMP and to CUDA alike.",
            Concern::OpenMp => "Reported in translations to OpenMP only.",
            Concern::Cuda => "Reported in translations to CUDA only.",
            Concern::Each => "Each translation, to OpenMP or to CUDA, reports it of its own text.",
        }
    }
}
