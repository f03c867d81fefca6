//! The outline of a file: its definitions, conditions and inclusions, which each file that includes it follows.
//!
//! Invariant: the same outline shows different files different parts of a header, as the preprocessor does.

use crate::source::{SourceFile, Span};

use super::defined::Defined;
use super::preproc::{self, Shown, Step};
use super::{c, fortran, shadow};

/// A file's conditions, definitions and inclusions, in their order.
#[derive(Clone, Debug)]
pub struct Outline {
    steps: Vec<Step>,
}

impl Outline {
    /// Reads it.
    pub fn of(file: &SourceFile) -> Outline {
        if !file.language.is_fortran() {
            return Outline { steps: preproc::steps(&file.bytes, &c::events(&file.bytes)) };
        }
        let mut steps = preproc::steps(&file.bytes, &fortran::events(file));
        // Fortran has a line of its own for it.
        steps.retain(|step| step.word != "include" || shadow::included(&step.rest).is_none());
        steps.extend(fortran::includes(file).into_iter().map(|include| {
            let (open, close) = if include.quoted { ('"', '"') } else { ('<', '>') };
            let rest = format!("{open}{}{close}", include.path).into_bytes();
            Step { word: "include", rest, start: include.span.start, end: include.span.end }
        }));
        steps.sort_by_key(|step| step.start);
        Outline { steps }
    }

    /// The names of the files that it includes, whether they stand between quotes, and the lines that say so.
    pub fn includes(&self) -> impl Iterator<Item = (&str, bool, Span)> {
        let all = self.steps.iter().filter(|step| step.word == "include");
        all.filter_map(|step| {
            let (name, is_quoted) = shadow::included(&step.rest)?;
            Some((name, is_quoted, Span { start: step.start, end: step.end }))
        })
    }

    /// Whether it includes files in ways that need a preprocessor: by a macro.
    pub fn computes_includes(&self) -> bool {
        self.steps.iter().any(|step| step.word == "include" && shadow::included(&step.rest).is_none())
    }

    /// What is shown of the file where it is included, in source order. `defined` are the macros at the inclusion; on return, those
    /// after it. `met` is called for each file that this one includes: with its name, whether that stands between quotes, whether the
    /// inclusion is shown, and what is defined there.
    pub fn follow(
        &self,
        defined: &mut Defined,
        met: &mut dyn FnMut(&str, bool, bool, &mut Defined),
    ) -> Shown {
        preproc::follow(&self.steps, &[], defined, &mut |step, active, defined| {
            if let Some((path, is_quoted)) = shadow::included(&step.rest) {
                met(path, is_quoted, active, defined);
            }
        })
    }
}
