//! A source that cannot be read because of macros that are not expressions is translated with these written out.
//!
//! Invariant: in the output such a use stands as it was, unless an edit is about it.

use crate::diag;
use crate::scan::{self, Define, View};

use super::declarators::{at_home, written};
use super::{Options, Outcome, Source, Translation};

impl Translation {
    /// Whether code could not be read, or what a directive must stand before is not there.
    pub(super) fn is_unread(&self) -> bool {
        let codes = [diag::UNREAD, diag::NOT_BEFORE_LOOP, diag::NOT_BEFORE_STATEMENT];
        self.diagnostics.iter().any(|diag| codes.contains(&diag.code))
    }

    /// How many directives are left untranslated.
    fn left(&self) -> usize {
        self.directives.iter().filter(|one| one.outcome == Outcome::Left).count()
    }
}

/// The translation with such macros written out, if that leaves less than `plain`, or the same for a reason that is known.
pub fn translated(
    source: &Source,
    options: &Options,
    plain: &Translation,
    translate: &dyn Fn(&Source, &Options) -> Translation,
) -> Option<Translation> {
    let (own, _) = scan::scan(&source.file, &View::default());
    let of_options = own.defines.iter().take_while(|define| define.span.is_empty());
    let of_headers = source.headers.iter().flat_map(|header| &header.scan.defines);
    let defines: Vec<&Define> = of_headers.chain(of_options).collect();
    let found = match source.file.language.is_fortran() {
        true => scan::fortran_nothing(&source.file, &defines),
        false => scan::fragments(&source.file, &defines),
    };
    if found.is_empty() {
        return None;
    }
    let (file, sites) = written(&source.file, found);
    let there = source.with(file);
    let translation = translate(&there, &Options { guard: None, ..options.clone() });
    let is_read = translation.left() == plain.left() && !translation.is_unread();
    (translation.left() < plain.left() || is_read).then(|| at_home(source, &sites, translation))
}
