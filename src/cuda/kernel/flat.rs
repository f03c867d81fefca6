//! Arrays whose bounds are run-time values: in CUDA they are pointers to their first element, and an index is written out.
//!
//! Invariant: `a[i][j]` and what replaces it name the same element.

use std::collections::{HashMap, HashSet};

use crate::host::ir::{ExprId, ExprKind};
use crate::sema::SymbolId;
use crate::source::Span;

use crate::cuda::code::text::Edits;
use crate::cuda::program::{Input, Refused, refused};

/// An index: where its brackets are, and what is between them.
struct Subscript {
    open: u32,
    close: u32,
    index: Span,
}

/// An array with all of its indices.
struct Chain {
    span: Span,
    array: SymbolId,
    subscripts: Vec<Subscript>,
}

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
    for chain in chains(input, flat, within)? {
        let sizes = &flat[&chain.array];
        match (chain.subscripts.as_slice(), chain.subscripts.len() <= sizes.len()) {
            (all, false) if all.len() == sizes.len() + 1 => element(input, all, sizes, edits),
            (_, false) => return Err(refused(chain.span, "an index into an array of row pointers")),
            ([only], true) => row(input, (chain.span, only), sizes, edits),
            (_, true) => {
                return Err(refused(chain.span, "a part of an array with several run-time sizes"));
            }
        }
    }
    Ok(())
}

/// The places in `within` that index such arrays.
fn chains(input: &Input, flat: &HashMap<SymbolId, Vec<String>>, within: Span) -> Result<Vec<Chain>, Refused> {
    let unit = input.unit();
    let mut inner: HashSet<ExprId> = HashSet::new();
    let mut found: Vec<(ExprId, SymbolId, Vec<ExprId>)> = Vec::new();
    for id in unit.expr_ids_in(within) {
        let mut bases = vec![id];
        while let Some(ExprKind::Index(base, _)) = bases.last().map(|at| &unit.expr(*at).kind) {
            bases.push(*base);
        }
        let Some(array) = bases.last().and_then(|base| unit_name(input, *base)) else { continue };
        if flat.contains_key(&array) {
            inner.extend(&bases[1..]);
            found.push((id, array, bases));
        }
    }
    found.retain(|(outer, _, bases)| bases.len() > 1 && !inner.contains(outer));
    let chain = |(outer, array, bases): (ExprId, SymbolId, Vec<ExprId>)| {
        let span = unit.expr(outer).span;
        let indexed = bases[..bases.len() - 1].iter().rev();
        let subscripts: Option<Vec<Subscript>> = indexed.map(|id| subscript(input, *id)).collect();
        let subscripts = subscripts.ok_or_else(|| refused(span, "an index written in this way"))?;
        Ok(Chain { span, array, subscripts })
    };
    found.into_iter().map(chain).collect()
}

/// The variable that an expression names.
fn unit_name(input: &Input, id: ExprId) -> Option<SymbolId> {
    let expr = input.unit().expr(id);
    let ExprKind::Name(name) = &expr.kind else { return None };
    input.symbols.lookup(name, expr.span.start)
}

/// Where the brackets of an index are: the first one after the base, and the last byte.
fn subscript(input: &Input, id: ExprId) -> Option<Subscript> {
    let unit = input.unit();
    let expr = unit.expr(id);
    let ExprKind::Index(base, index) = expr.kind else { return None };
    let (base, index) = (unit.expr(base).span, unit.expr(index).span);
    let between = input.source.code(Span { start: base.end, end: index.start });
    let open = base.end + u32::try_from(between.find('[')?).ok()?;
    let close = expr.span.end - 1;
    let is_bracket = input.file().text(Span { start: close, end: expr.span.end }) == "]";
    (is_bracket && index.end <= close).then_some(Subscript { open, close, index })
}

/// `a[i][j]` as `a[i * size + j]`.
fn element(input: &Input, all: &[Subscript], sizes: &[String], edits: &mut Edits) {
    let last = all.len() - 1;
    let mut start = all[0].open;
    // The parenthesis after the index before.
    let mut close = "";
    for (place, one) in all.iter().enumerate() {
        let lead = match place {
            0 => format!("[{}", "(".repeat(last.saturating_sub(1))),
            1 => format!("{close} * {} + ", sizes[0]),
            _ => format!("{close}) * {} + ", sizes[place - 1]),
        };
        let is_plain = is_plain(&input.file().text(one.index), place == last);
        let open = if is_plain { "" } else { "(" };
        edits.replace(Span { start, end: one.open + 1 }, format!("{lead}{open}"));
        close = if is_plain { "" } else { ")" };
        start = one.close;
    }
    edits.replace(Span { start, end: start + 1 }, format!("{close}]"));
}

/// `a[i]`, a row, as `(a + i * size)`: an address, whatever stands around it.
fn row(input: &Input, (span, one): (Span, &Subscript), sizes: &[String], edits: &mut Edits) {
    let is_plain = is_plain(&input.file().text(one.index), false);
    let (open, close) = if is_plain { ("", "") } else { ("(", ")") };
    edits.replace(Span { start: one.open, end: one.open + 1 }, format!(" + {open}"));
    let scale: String = sizes.iter().map(|size| format!(" * {size}")).collect();
    edits.replace(Span { start: one.close, end: one.close + 1 }, format!("{close}{scale}"));
    edits.enclose(span, ["(", ")"]);
}

/// Whether an index needs no parentheses: by itself in a product, or at the end of a sum.
fn is_plain(text: &str, is_sum: bool) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    text.chars().all(|c| is_name(c) || is_sum && " +-*".contains(c))
}
