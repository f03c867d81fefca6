//! The programs of `benches/suite`, and the styles of each.
//!
//! Invariant: a program's text says by itself which styles it has.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::cuda::{INTERFACES, files};

/// Where the programs are, each language in a folder of its own.
pub const SUITE: &str = "benches/suite";

/// A language of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C.
    C,
    /// Fortran, with the preprocessor.
    Fortran,
}

impl Language {
    /// Both.
    pub const ALL: [Language; 2] = [Language::C, Language::Fortran];

    /// Its name in the names of programs.
    pub fn name(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Fortran => "f90",
        }
    }

    /// Its folder in the suite, and the ending of its sources.
    fn place(self) -> (&'static str, &'static str) {
        match self {
            Language::C => ("c", "c"),
            Language::Fortran => ("fortran", "F90"),
        }
    }

    /// Its folder.
    pub fn folder(self, root: &Path) -> PathBuf {
        root.join(SUITE).join(self.place().0)
    }

    /// gcc's compiler.
    pub fn gcc(self) -> &'static str {
        match self {
            Language::C => "gcc",
            Language::Fortran => "gfortran",
        }
    }
}

/// How much a program says of its loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A program that is written in one way only.
    Single,
    /// Each loop has its levels, as an expert says them.
    Directed,
    /// `parallel loop` on the outermost loops, and nothing inside.
    Outer,
    /// `kernels`, and nothing of loops.
    Kernels,
}

impl Style {
    /// Those of a program that has them.
    const THREE: &[Style] = &[Style::Directed, Style::Outer, Style::Kernels];
    /// All.
    pub const ALL: &[Style] = &[Style::Single, Style::Directed, Style::Outer, Style::Kernels];

    /// Its name in the names of programs; `run.sh` knows them.
    pub fn name(self) -> &'static str {
        match self {
            Style::Single => "single",
            Style::Directed => "directed",
            Style::Outer => "outer",
            Style::Kernels => "kernels",
        }
    }

    /// What the translator and the compilers get.
    pub fn defines(self) -> &'static [&'static str] {
        match self {
            Style::Directed => &["-DDIRECTED=1", "-DOUTER=0"],
            Style::Outer => &["-DDIRECTED=0", "-DOUTER=1"],
            // Those with a single style have no conditions, but stand beside others that have.
            Style::Kernels | Style::Single => &["-DDIRECTED=0", "-DOUTER=0"],
        }
    }

    /// The styles of a text: those with conditions have three.
    fn of(text: &str) -> &'static [Style] {
        if text.contains("#if DIRECTED") { Style::THREE } else { &[Style::Single] }
    }
}

/// A program in one of its styles.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name, without the language.
    pub name: String,
    /// Its language.
    pub language: Language,
    /// Its style.
    pub style: Style,
    /// Its source, for all styles.
    pub original: PathBuf,
    /// Whether it has a size for the processor.
    pub is_small: bool,
}

/// Sizes for the processor: of most programs, of those on a cube, and of those in one dimension.
const SMALL: &str = "-DN=32";
const SMALL_CUBE: &str = "-DN=10";
const SMALL_LINE: &str = "-DN=512";
const CUBES: [&str; 4] = ["cg", "himeno", "spmv", "stencil"];
const LINES: [&str; 5] = ["copy", "filter", "filter-weights", "scan", "sum"];

impl Program {
    /// Its name with language and style.
    pub fn full_name(&self) -> String {
        format!("{}.{}.{}", self.name, self.language.name(), self.style.name())
    }

    /// The source's name without its folder, after the preprocessor if that is run first.
    pub fn file(&self) -> String {
        format!("{}.{}", self.name, self.language.name())
    }

    /// The device code of its translation to CUDA.
    pub fn device_file(&self) -> String {
        format!("{}_acc.cu", self.name)
    }

    /// The interfaces that the translation of Fortran to CUDA uses.
    pub fn module_file(&self) -> String {
        format!("{}{INTERFACES}", self.name.replace('-', "_"))
    }

    /// What the preprocessor gets.
    pub fn defines(&self) -> Vec<&'static str> {
        let mut defines = self.style.defines().to_vec();
        if self.is_small {
            defines.push(match self.name.as_str() {
                name if CUBES.contains(&name) => SMALL_CUBE,
                name if LINES.contains(&name) => SMALL_LINE,
                _ => SMALL,
            });
        }
        defines
    }

    /// What a compiler gets: sources in Fortran are without conditions then.
    pub fn compiler_defines(&self) -> Vec<&'static str> {
        match self.language {
            Language::C => self.defines(),
            Language::Fortran => Vec::new(),
        }
    }
}

/// All programs in all their styles whose names hold `only`.
pub fn all(root: &Path, only: Option<&str>, is_small: bool) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for language in Language::ALL {
        for source in files(&language.folder(root), language.place().1)? {
            let text =
                fs::read_to_string(&source).map_err(|error| format!("{}: {error}", source.display()))?;
            let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            programs.extend(Style::of(&text).iter().map(|&style| Program {
                name: name.clone(),
                language,
                style,
                original: source.clone(),
                is_small,
            }));
        }
    }
    programs.retain(|program| only.is_none_or(|name| program.full_name().contains(name)));
    if programs.is_empty() { Err("no program has such a name".to_owned()) } else { Ok(programs) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{Language, SUITE, Style, all};
    use crate::cuda::files;
    use crate::difftest::root;

    #[test]
    fn a_kernel_in_styles_is_in_both_languages() {
        let programs = all(&root().unwrap(), None, false).unwrap();
        let named = |language, style| {
            let is_one = move |one: &&super::Program| one.language == language && one.style == style;
            programs.iter().filter(is_one).map(|one| one.name.as_str()).collect::<Vec<_>>()
        };
        for style in [Style::Directed, Style::Outer, Style::Kernels] {
            assert_eq!(named(Language::C, style), named(Language::Fortran, style));
        }
        assert!(named(Language::Fortran, Style::Single).is_empty());
    }

    #[test]
    fn what_is_written_by_hand_has_a_program() {
        let root = root().unwrap();
        for source in files(&root.join(SUITE).join("cuda"), "cu").unwrap() {
            let name = source.file_stem().unwrap().to_string_lossy().into_owned();
            assert!(all(&root, Some(&format!("{name}.c.")), false).is_ok(), "{name}");
        }
    }

    #[test]
    fn only_sizes_for_the_processor_are_reported() {
        let root = root().unwrap();
        let defines = |name, is_small| all(&root, Some(name), is_small).unwrap().remove(0).defines();
        assert_eq!(defines("jacobi.c.outer", false), ["-DDIRECTED=0", "-DOUTER=1"]);
        assert_eq!(defines("jacobi.c.outer", true), ["-DDIRECTED=0", "-DOUTER=1", "-DN=32"]);
        assert_eq!(defines("spmv.f90.kernels", true).last(), Some(&"-DN=10"));
    }
}
