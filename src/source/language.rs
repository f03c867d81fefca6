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
}

impl Language {
    /// The language that a file name's extension names; `None` if we do not translate such files.
    pub fn of(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "c" => Some(Language::C),
            "cpp" | "cc" | "cxx" | "c++" | "C" | "hpp" | "hh" | "hxx" | "cu" | "cuh" => Some(Language::Cpp),
            "h" => Some(Language::Header),
            _ => None,
        }
    }
}
