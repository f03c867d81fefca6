//! Which host language a file is written in.

use std::path::Path;

/// The host language of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// C source.
    C,
    /// C++ source, or a header that says so by its ending.
    Cpp,
    /// A `.h` file: C, unless it parses better as C++.
    Header,
    /// Fortran source in one of its forms.
    Fortran(Form),
}

/// The source form of a Fortran file (Fortran 2018, 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// Free form: statements anywhere, `&` at the end of a line that goes on.
    Free,
    /// Fixed form: statements in columns 7 to 72, continuation by a mark in column 6.
    Fixed,
}

/// The languages of files, by their names.
#[derive(Clone, Debug, Default)]
pub struct Languages {
    /// The form of all Fortran sources; `None` if their names and lines say it.
    pub form: Option<Form>,
    /// Endings without the dot, and the languages of the files whose names end so.
    pub named: Vec<(String, Language)>,
}

impl Languages {
    /// The language that a file's name tells; `None` if we do not translate such files.
    pub fn of(&self, path: &Path) -> Option<Language> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let ends = |ending: &String| {
            name.strip_suffix(ending.as_str()).is_some_and(|before| before.len() > 1 && before.ends_with('.'))
        };
        // The longest ending is meant: `f90.in` before `in`.
        let named =
            self.named.iter().filter(|(ending, _)| ends(ending)).max_by_key(|(ending, _)| ending.len());
        named.map(|(_, language)| *language).or_else(|| Language::of(path))
    }
}

impl Language {
    /// The language that a file name's extension names; `None` if we do not translate such files.
    pub fn of(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "c" => Some(Language::C),
            "cpp" | "cc" | "cxx" | "c++" | "cp" | "C" | "CPP" | "hpp" | "hh" | "hxx" | "cu" | "cuh" => {
                Some(Language::Cpp)
            }
            "h" => Some(Language::Header),
            "f90" | "F90" | "f95" | "F95" | "f03" | "F03" | "f08" | "F08" | "f18" | "F18" => {
                Some(Language::Fortran(Form::Free))
            }
            "f" | "F" | "for" | "FOR" | "ftn" | "FTN" | "fpp" | "FPP" | "f77" | "F77" => {
                Some(Language::Fortran(Form::Fixed))
            }
            _ => None,
        }
    }

    /// Whether it is Fortran.
    pub fn is_fortran(self) -> bool {
        matches!(self, Language::Fortran(_))
    }
}
