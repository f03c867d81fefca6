//! Functions of C++ that the device file can have no copy of: they, or what they name, mean something only there.
//!
//! Invariant: what calls such a function stays inline, too.

use std::collections::BTreeSet;

use super::{copied, implied};
use crate::cuda::code::text::placed_words;
use crate::cuda::program::uncopyable::{Portable, Uncopyable};
use crate::cuda::program::{Input, Seen, functions};
use crate::host::ir::ExprKind;
use crate::source::Span;

/// What of the standard library means the same in the device file.
const NUMBERS: &str = "abs fabs sqrt cbrt exp exp2 expm1 log log2 log10 log1p pow sin cos tan asin acos atan atan2 sinh \
    cosh tanh asinh acosh atanh hypot floor ceil round trunc rint nearbyint fmod remainder fmin fmax fdim fma erf erfc \
    tgamma lgamma isnan isinf isfinite signbit copysign size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t \
    uint32_t uint64_t printf";

/// All of them.
pub fn functions(input: &Input) -> Uncopyable {
    if !input.unit().is_cpp() || input.bound.is_empty() {
        return Uncopyable::default();
    }
    let mut found = BTreeSet::new();
    let files: Vec<Seen> = input.headers.iter().chain([&input.source]).copied().collect();
    let mut free = Vec::new();
    let mut portable = Portable::new();
    for (number, seen) in files.iter().enumerate() {
        for function in &seen.unit.functions {
            let is_own = number == input.headers.len();
            let implied = || match is_own {
                true => implied::implied(input, function.span),
                false => implied::structors(input, seen, function.span),
            };
            if functions::in_namespace(seen, function.span)
                || !functions::has_plain_head(seen, function)
                || holds_back(input, seen, function.span, &mut portable)
                || !implied().is_empty()
            {
                found.insert((number, function.span.start));
            } else {
                free.push((number, function, calls(seen, function.span)));
            }
        }
    }
    loop {
        let before = found.len();
        let names: BTreeSet<&str> = files
            .iter()
            .enumerate()
            .flat_map(|(number, seen)| seen.unit.functions.iter().map(move |one| (number, one)))
            .filter(|(number, one)| found.contains(&(*number, one.span.start)))
            .map(|(_, one)| one.name.as_str())
            .collect();
        let caught =
            free.iter().filter(|(_, _, calls)| calls.iter().any(|name| names.contains(name.as_str())));
        let caught: Vec<(usize, u32)> = caught.map(|(number, one, _)| (*number, one.span.start)).collect();
        found.extend(caught);
        if found.len() == before {
            return Uncopyable::of(found, portable);
        }
    }
}

/// Whether code of the source names something that the device file does not have.
pub fn is_held(known: &Uncopyable, input: &Input, span: Span) -> bool {
    holds_back(input, &input.source, span, &mut known.portable().borrow_mut())
}

/// Whether what defines a name means the same in the device file.
pub fn is_portable(known: &Uncopyable, input: &Input, name: &str) -> bool {
    has_portable(input, name, &mut known.portable().borrow_mut())
}

/// The names of what code calls.
fn calls(seen: &Seen, span: Span) -> BTreeSet<String> {
    let unit = seen.unit;
    let names = unit.exprs_in(span).filter_map(|expr| match &expr.kind {
        ExprKind::Call { callee, .. } => match &unit.expr(*callee).kind {
            ExprKind::Name(name) | ExprKind::Member { name, .. } => Some(functions::bare(name).to_owned()),
            _ => None,
        },
        _ => None,
    });
    names.collect()
}

/// Whether a part of a file names something that the device file does not have. `portable`: what is known of types.
fn holds_back(input: &Input, seen: &Seen, span: Span, portable: &mut Portable) -> bool {
    let text = seen.file.text(span);
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for (at, word) in placed_words(&text) {
        let before = text[..at].trim_end();
        if before.ends_with("std::") {
            if !NUMBERS.split_whitespace().any(|known| known == word) {
                return true;
            }
        } else if known.insert(word) && !has_portable(input, word, portable) {
            return true;
        }
    }
    false
}

fn has_portable(input: &Input, name: &str, portable: &mut Portable) -> bool {
    if let Some(known) = portable.get(name) {
        return *known;
    }
    let is_portable = copied::is_portable(input, name);
    portable.insert(name.to_owned(), is_portable);
    is_portable
}
