//! A walk over the lines of Fortran, in free and in fixed form: directives, comments, continuations, literals.
//!
//! Invariant: linear in the bytes; the shadow has the source's length, and a logical line is one line of it.

mod code;
mod form;
mod line;
mod modules;
mod open;
mod preprocessor;
mod shape;
mod walk;

use crate::source::SourceFile;

use super::c::Event;
use super::preproc::{self, Shown, View};
use super::{Include, Scan};

pub use form::form_of;
pub use modules::{defined as defined_modules, used as used_modules};
pub use preprocessor::events;
pub use shape::{Shape, shapes};

/// Finds the directives of `file` and makes the shadow text of what `view` shows.
pub fn scan(file: &SourceFile, view: &View) -> Scan {
    let events = events(file);
    let shown = preproc::shown(&file.bytes, &events, view);
    assemble(file, &events, &shown)
}

/// Makes the scan of a file from its preprocessor lines.
pub fn assemble(file: &SourceFile, events: &[Event], shown: &Shown) -> Scan {
    let scan = walk::walk(file, events, shown);
    debug_assert_eq!(scan.shadow.len(), file.bytes.len(), "the shadow of {}", file.name);
    scan
}

/// The lines that include other files, of all branches: those of the preprocessor and those of the language.
pub fn includes(file: &SourceFile) -> Vec<Include> {
    assemble(file, &events(file), &Shown::default()).includes
}

#[cfg(test)]
mod tests;
