//! Expressions that get something around them, whatever else is around the same bytes.
//!
//! Invariant: what is around an inner expression stays inside of what is around an outer one.

use crate::host::ir::ExprKind;
use crate::source::Span;

use super::Place;
use crate::cuda::code::text::Edits;

/// What is put around expressions.
#[derive(Debug, Default)]
pub struct Wraps {
    all: Vec<(Span, String, &'static str)>,
}

impl Wraps {
    /// Casts an expression.
    pub fn cast(&mut self, place: &Place, expr: crate::host::ir::ExprId, to: &str) {
        let expr = place.types.unit.expr(expr);
        let is_macro = |name: &str| {
            let symbol = place.types.symbols.lookup(name, expr.span.start);
            symbol.is_none_or(|symbol| place.types.symbols.is_macro(symbol))
        };
        let is_tight = match &expr.kind {
            ExprKind::Name(name) => !is_macro(name),
            ExprKind::Call { callee, .. } => match &place.types.unit.expr(*callee).kind {
                ExprKind::Name(name) => place.types.symbols.macro_of(name).is_none(),
                _ => true,
            },
            ExprKind::Binary(..)
            | ExprKind::Assign(..)
            | ExprKind::Conditional(..)
            | ExprKind::Comma(..)
            | ExprKind::Opaque(_) => false,
            _ => true,
        };
        match is_tight {
            true => self.all.push((expr.span, format!("({to})"), "")),
            false => self.all.push((expr.span, format!("({to})("), ")")),
        }
    }

    /// Puts texts before and after an expression.
    pub fn around(&mut self, span: Span, open: String, close: &'static str) {
        self.all.push((span, open, close));
    }

    /// Adds all of it.
    pub fn add_to(mut self, edits: &mut Edits) {
        self.all.sort_by_key(|(span, ..)| (span.start, std::cmp::Reverse(span.end)));
        for (span, open, _) in &self.all {
            edits.insert(span.start, open.clone());
        }
        self.all.sort_by_key(|(span, ..)| (span.end, std::cmp::Reverse(span.start)));
        for (span, _, close) in self.all.iter().filter(|(.., close)| !close.is_empty()) {
            edits.insert(span.end, *close);
        }
    }
}
