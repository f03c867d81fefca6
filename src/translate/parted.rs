//! `associate` blocks around directives of Fortran that conditions of the preprocessor part from their code: the code names
//! the aliases whatever the conditions say, and so the blocks stand around the conditions.
//!
//! Invariant: a block that cannot stand there leaves its directive as it is, with a diagnostic.

use std::collections::BTreeSet;

use crate::bind::{self, Bound};
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
    let (mut met, mut said) = (BTreeSet::new(), Vec::new());
    for index in aliased.blocks.keys().copied().collect::<Vec<_>>() {
        let one = &bound[index];
        let Some(stmt) = one.stmt() else { continue };
        let code = unit.stmt(stmt).span;
        let last = code.end.max(code.start + 1) - 1;
        let begin = Some((one.directive.span, code.start));
        let end = one.partner.map(|partner| (bound[partner].directive.span, last));
        for (at, place) in [begin, end].into_iter().enumerate() {
            let Some((directive, code)) = place else { continue };
            let around = conditions.between(directive.start, code);
            let Some(outermost) = around.last().map(|one| one.span) else { continue };
            let mut places = vec![outermost];
            let region =
                bind::ancestors(bound, index).filter(|above| has_edge(bound, *above, outermost)).last();
            let is_apart = match region {
                None => {
                    aliased.blocks.entry(index).and_modify(|block| block.parted[at] = Some(outermost));
                    true
                }
                Some(region) => {
                    let end = bound[region].partner.map(|end| bound[end].directive.span.start);
                    let end = end.and_then(|end| conditions.between(end, code).last().map(|one| one.span));
                    places.extend(end);
                    let is_first = at == 0 && outermost.contains(bound[region].directive.span);
                    is_first
                        && bound[region].partner.is_some()
                        && lend(aliased, index, region, [Some(outermost), end])
                }
            };
            // Two blocks at one place, or code that would come into one, are more than can be kept apart.
            let is_met = places.iter().any(|place| holds_code(file, *place) || !met.insert(place.start));
            if !is_apart || is_met {
                said.push(diag::not_yet(directive, "a directive that conditions part from its code"));
                aliased.refused.insert(index);
            }
            if region.is_some() {
                break;
            }
        }
    }
    said
}

/// Whether a region begins or ends in `span`.
fn has_edge(bound: &[Bound], region: usize, span: Span) -> bool {
    let end = bound[region].partner.map(|end| bound[end].directive.span);
    std::iter::once(bound[region].directive.span).chain(end).any(|edge| span.contains(edge))
}

/// Has the block of a region have the names of the first directive in it, and stand around conditions. `false` if it cannot.
fn lend(aliased: &mut Aliased, index: usize, region: usize, parted: [Option<Span>; 2]) -> bool {
    let mut outer = aliased.blocks.remove(&region).unwrap_or_default();
    let mut is_lent = false;
    if let Some(inner) = aliased.blocks.get_mut(&index) {
        is_lent = outer.lend(inner);
        if is_lent {
            outer.parted = parted;
            inner.lender = Some(region);
            inner.parted[0] = parted[0];
        }
    }
    aliased.blocks.insert(region, outer);
    is_lent
}

/// Whether the lines of `span` hold more than comments, directives and lines of the preprocessor.
fn holds_code(file: &SourceFile, span: Span) -> bool {
    let is_code = |shape: &Shape| shape.sentinel.is_none() && shape.words.is_some();
    let is_preprocessor = |shape: &Shape| file.slice(shape.whole).trim_ascii_start().starts_with(b"#");
    scan::fortran_shapes(file, span).iter().any(|shape| is_code(shape) && !is_preprocessor(shape))
}
