//! `associate` blocks around directives of Fortran that conditions of the preprocessor part from their code: the code names
//! the aliases whatever the conditions say, and so the blocks stand around the conditions.
//!
//! Invariant: a block that cannot stand there leaves its directive as it is, with a diagnostic.

use std::collections::BTreeSet;

use crate::bind::Bound;
use crate::diag::{self, Diag};
use crate::host::ir::Unit;
use crate::omp::Aliased;
use crate::scan::{self, Conditions, Shape};
use crate::source::{SourceFile, Span};

/// Finds, for each block, the conditions that part its directive, and the `end` of it, from the code between them.
pub fn find(
    file: &SourceFile,
    unit: &Unit,
    bound: &[Bound],
    conditions: &Conditions,
    aliased: &mut Aliased,
) -> Vec<Diag> {
    let mut met = BTreeSet::new();
    let mut said = Vec::new();
    for (index, block) in &mut aliased.blocks {
        let one = &bound[*index];
        let Some(stmt) = one.stmt() else { continue };
        let code = unit.stmt(stmt).span;
        let last = code.end.max(code.start + 1) - 1;
        let begin = Some((one.directive.span, code.start));
        let end = one.partner.map(|partner| (bound[partner].directive.span, last));
        for (at, place) in [begin, end].into_iter().enumerate() {
            let Some((directive, code)) = place else { continue };
            let around = conditions.between(directive.start, code);
            let Some(outermost) = around.last().map(|one| one.span) else { continue };
            block.parted[at] = Some(outermost);
            // Two blocks at one place, or code that would come into one, are more than can be kept apart.
            if holds_code(file, outermost) || !met.insert(outermost.start) {
                said.push(diag::not_yet(directive, "a directive that conditions part from its code"));
                aliased.refused.insert(*index);
            }
        }
    }
    said
}

/// Whether the lines of `span` hold more than comments, directives and lines of the preprocessor.
fn holds_code(file: &SourceFile, span: Span) -> bool {
    let is_code = |shape: &Shape| shape.sentinel.is_none() && shape.words.is_some();
    let is_preprocessor = |shape: &Shape| file.slice(shape.whole).trim_ascii_start().starts_with(b"#");
    scan::fortran_shapes(file, span).iter().any(|shape| is_code(shape) && !is_preprocessor(shape))
}
