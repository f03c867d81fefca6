//! The host languages: source through tree-sitter into one structure IR.
//!
//! Invariant: knows nothing of directives and targets; node names of a grammar stand in one
//! place, `c.rs` for C and C++, the folder `fortran` for Fortran.

pub mod forms;
pub mod ir;

mod c;
mod fortran;
mod past;
mod within;

use tree_sitter::Tree;

use crate::scan::Scan;
use crate::source::{Language, SourceFile};

pub use past::{Past, Replaced};

/// Parses the shadow of a file.
pub fn parse(file: &SourceFile, scan: &Scan) -> ir::Unit {
    parse_again(file, scan, &mut None)
}

/// Parses the shadow of a file with the help of what another view of it has left, or leaves that to the next.
pub fn parse_again(file: &SourceFile, scan: &Scan, past: &mut Option<Past>) -> ir::Unit {
    let again = past.as_ref().and_then(|past| past.again(&scan.shadow, &[]));
    let tree = again.or_else(|| tree(file.language, &scan.shadow));
    // For a header, two grammars are asked.
    if past.is_none() && file.language != Language::Header {
        *past = tree.as_ref().and_then(|tree| Past::new(&scan.shadow, tree));
    }
    match file.language {
        Language::C | Language::Cpp | Language::Header => c::unit(file, scan, tree),
        Language::Fortran(_) => fortran::unit(file, scan, tree),
    }
}

/// How many places of a shadow the grammar cannot read. It is that of `past` but for what was `replaced`.
pub fn errors(file: &SourceFile, scan: &Scan, past: Option<&Past>, replaced: &[Replaced]) -> usize {
    if past.is_some_and(|past| past.again(&scan.shadow, replaced).is_some()) {
        return 0;
    }
    let Some(tree) = tree(file.language, &scan.shadow) else { return 0 };
    match file.language {
        Language::C | Language::Cpp | Language::Header => c::errors(&tree).len(),
        Language::Fortran(_) => fortran::errors(&tree, &scan.shadow).len(),
    }
}

fn tree(language: Language, text: &[u8]) -> Option<Tree> {
    match language {
        Language::C => c::tree(text, false),
        Language::Cpp => c::tree(text, true),
        Language::Header => c::better_tree(text),
        Language::Fortran(_) => fortran::tree(text),
    }
}
