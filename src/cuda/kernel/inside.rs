//! Code that stays inline, as it is written there: members and statics are variables of the block around.
//!
//! Invariant: a name of the program means the device's variable.

use super::this;
use crate::bind::bare_place;
use crate::cuda::code::text::Edits;
use crate::cuda::fit::counterpart;
use crate::cuda::program::Input;
use crate::cuda::program::functions;
use crate::host::ir::ExprKind;
use crate::sema::{Class, SymbolKind};
use crate::source::Span;

/// Takes `this->` and namespaces away: inside, members and statics are variables.
pub fn bare(input: &Input, within: Span, edits: &mut Edits) {
    let unit = input.unit();
    for expr in unit.exprs_in(within) {
        let name = match &expr.kind {
            ExprKind::Member { .. } => this::own_member(input, expr).map(|(_, name)| name),
            ExprKind::Name(name) => {
                let symbol = input.symbols.lookup(name, expr.span.start).map(|id| input.symbols.get(id));
                let is_variable = symbol.is_some_and(|known| {
                    known.kind == SymbolKind::Static
                        && (!known.is_const || known.is_floating || known.class != Class::Scalar)
                });
                name.rsplit_once("::").map(|(_, last)| last).filter(|_| is_variable)
            }
            _ => None,
        };
        if let Some(name) = name {
            let end = expr.span.end - name.len() as u32;
            edits.replace(Span { start: expr.span.start, end }, "");
        }
    }
    this::name(input, within, edits);
    calls(input, within, edits);
}

/// Has calls of routines with levels be calls of their counterparts.
pub fn calls(input: &Input, within: Span, edits: &mut Edits) {
    let unit = input.unit();
    let named = this::named_calls(input, within);
    for expr in unit.exprs_in(within) {
        let ExprKind::Call { callee, .. } = &expr.kind else { continue };
        let span = unit.expr(*callee).span;
        if named.contains(&span) {
            continue;
        }
        let (known, start) = match &unit.expr(*callee).kind {
            ExprKind::Name(name) => (name, span.start + bare_place(name).start as u32),
            ExprKind::Member { name, .. } => {
                let text = input.file().text(span);
                let Some(at) = text.rfind(name.as_str()) else { continue };
                (name, span.start + at as u32)
            }
            _ => continue,
        };
        let Some(counterpart) = counterpart::name(input, known) else { continue };
        edits.replace(Span { start, end: start + functions::bare(known).len() as u32 }, counterpart);
    }
}
