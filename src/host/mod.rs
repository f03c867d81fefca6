//! The host languages: source through tree-sitter into one structure IR.
//!
//! Invariant: knows nothing of directives and targets; node names of a grammar stand in one
//! place, `c.rs` for C and C++, the folder `fortran` for Fortran.

pub mod ir;

mod c;
mod fortran;

use crate::scan::Scan;
use crate::source::{Language, SourceFile};

/// Parses the shadow of a file.
pub fn parse(file: &SourceFile, scan: &Scan) -> ir::Unit {
    match file.language {
        Language::C | Language::Cpp | Language::Header => c::parse(file, scan),
        Language::Fortran(_) => fortran::parse(file, scan),
    }
}
