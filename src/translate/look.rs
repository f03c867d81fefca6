//! What the views of a source show of its directives.
//!
//! Invariant: nothing is planned and nothing is changed.

use crate::acc::ast::Directive;
use crate::bind::Bound;
use crate::budget;
use crate::host::ir::Unit;
use crate::scan::Scan;

use super::views::{self, BackEnd, Gathered, Lowered, Reached};
use super::{Options, Source};

/// What `see` adds to a list for each view, by order and once; `see` gives the view's directives, joined to the code. Nothing of
/// a source that is too large to be read.
pub fn look<T: Ord>(
    source: &Source,
    options: &Options,
    mut see: impl FnMut((&Scan, &Unit), &[(usize, Directive)], &mut Vec<T>) -> Vec<Bound>,
) -> Vec<T> {
    let mut found = Vec::new();
    let mut back = Look(|code: (&Scan, &Unit), parsed: &[(usize, Directive)]| see(code, parsed, &mut found));
    let limits = options.budget.of_file(source.file.bytes.len());
    let _ = budget::within(limits, || views::translate(source, options, &mut back));
    found.sort();
    found.dedup();
    found
}

/// Leaves all directives as they are.
struct Look<F>(F);

impl<F: FnMut((&Scan, &Unit), &[(usize, Directive)]) -> Vec<Bound>> BackEnd for Look<F> {
    fn lower(&mut self, view: Reached, _all: &mut Gathered) -> Lowered {
        let Reached { scan, unit, parsed, held } = view;
        Lowered::unchanged((self.0)((scan, &unit), &parsed), held)
    }
}
