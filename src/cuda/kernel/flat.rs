//! Arrays whose bounds are run-time values: in CUDA they are pointers to their first element, and an index is written out.
//!
//! Invariant: `a[i][j]` and what replaces it name the same element.

use std::collections::HashMap;

use crate::host::ir::{ExprId, ExprKind};
use crate::sema::SymbolId;
use crate::source::Span;

use crate::cuda::code::text::Edits;
use crate::cuda::program::{Input, Refused, refused};

/// Writes out the indices of the arrays in `flat`, given with the names of the sizes of their inner dimensions.
pub fn flatten(
    input: &Input,
    flat: &HashMap<SymbolId, Vec<String>>,
    within: Span,
    edits: &mut Edits,
) -> Result<(), Refused> {
    if flat.is_empty() {
        return Ok(());
    }
    let unit = input.unit();
    let mut inner: std::collections::HashSet<ExprId> = std::collections::HashSet::new();
    let mut chains: Vec<(ExprId, SymbolId, Vec<ExprId>)> = Vec::new();
    for id in unit.expr_ids_in(within) {
        let mut indices = Vec::new();
        let mut base = id;
        let mut bases = Vec::new();
        while let ExprKind::Index(of, index) = unit.expr(base).kind {
            indices.insert(0, index);
            base = of;
            bases.push(of);
        }
        let ExprKind::Name(name) = &unit.expr(base).kind else { continue };
        let Some(symbol) = input.symbols.lookup(name, unit.expr(base).span.start) else { continue };
        if flat.contains_key(&symbol) {
            inner.extend(bases);
            chains.push((id, symbol, indices));
        }
    }
    for (outer, symbol, indices) in chains {
        let sizes = &flat[&symbol];
        if inner.contains(&outer) || indices.is_empty() {
            continue;
        }
        let span = unit.expr(outer).span;
        if indices.len() > sizes.len() + 1 {
            return Err(refused(span, "an index into rows behind pointers"));
        }
        let text = input.file().text(span).into_owned();
        let partial = indices.len() <= sizes.len();
        let last = indices.len() - 1;
        let mut at = 0;
        // The parenthesis behind the index before.
        let mut close = "";
        for (place, index) in indices.iter().enumerate() {
            let index = unit.expr(*index).span;
            let before = (index.start - span.start) as usize;
            let from = text[at..before].find(if place == 0 { '[' } else { ']' }).map(|found| at + found);
            let to = text[..before].rfind('[');
            let (Some(from), Some(to)) = (from, to) else {
                return Err(refused(span, "an index written in this way"));
            };
            let bytes = Span { start: span.start + from as u32, end: span.start + to as u32 + 1 };
            let is_sum = place == last && !partial;
            let open = if is_plain(&input.file().text(index), is_sum) { "" } else { "(" };
            let head = match (place, partial) {
                (0, true) => " + ",
                (0, false) => "[",
                _ => "",
            };
            let group = "(".repeat(if place == 0 { last.saturating_sub(1) } else { 0 });
            let sum = match place {
                0 => String::new(),
                1 => format!("{close} * {} + ", sizes[0]),
                _ => format!("{close}) * {} + ", sizes[place - 1]),
            };
            edits.replace(bytes, format!("{head}{group}{sum}{open}"));
            close = if open.is_empty() { "" } else { ")" };
            at = (index.end - span.start) as usize;
        }
        let end = text[at..].rfind(']').map(|found| at + found);
        let Some(end) = end else { return Err(refused(span, "an index written in this way")) };
        let bytes = Span { start: span.start + end as u32, end: span.start + end as u32 + 1 };
        if partial && indices.len() > 1 {
            return Err(refused(span, "a part of an array with several run-time sizes"));
        }
        let scale: String = sizes[last..].iter().map(|size| format!(" * {size}")).collect();
        edits.replace(bytes, if partial { format!("{close}{scale}") } else { format!("{close}]") });
        if partial {
            // It stands for an address, whatever stands around it.
            edits.insert(span.start, "(");
            edits.insert(span.end, ")");
        }
    }
    Ok(())
}

/// Whether an index needs no parentheses: by itself in a product, or at the end of a sum.
fn is_plain(text: &str, is_sum: bool) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    text.chars().all(|c| is_name(c) || is_sum && " +-*".contains(c))
}
