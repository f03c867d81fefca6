//! Complex numbers of C++'s standard library: they have the bytes that the device's would have, but their operators and functions
//! are the host's.
//!
//! Invariant: what only moves them about, makes them of two numbers, or reads `real()` and `imag()`, the device can do.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use super::spelling::typedefs;
use crate::cuda::code::text::words;
use crate::cuda::program::{Input, Seen, functions};
use crate::host::ir::{Decl, ExprId, ExprKind};
use crate::source::Span;

/// Whether the code in `span` computes with complex numbers of the standard library.
pub fn computes(input: &Input, span: Span) -> bool {
    let unit = input.unit();
    let known = Known { input, returns: RefCell::default() };
    let is_complex = |expr: &ExprId| known.is_complex(*expr);
    unit.is_cpp()
        && unit.exprs_in(span).any(|expr| match &expr.kind {
            ExprKind::Binary(_, left, right) | ExprKind::Assign(Some(_), left, right) => {
                [*left, *right].iter().any(is_complex)
            }
            ExprKind::Unary(_, operand) => is_complex(operand),
            ExprKind::Call { callee, args } => match &unit.expr(*callee).kind {
                ExprKind::Name(name) => {
                    let is_own = functions::functions(input, name).next().is_some()
                        || is_type(input, functions::bare(name));
                    !is_own && args.iter().any(is_complex)
                }
                _ => false,
            },
            _ => false,
        })
}

/// What is known of the functions of a file.
struct Known<'a, 'b> {
    input: &'b Input<'a>,
    /// Whether those of a name have such a number as their result.
    returns: RefCell<HashMap<String, bool>>,
}

impl Known<'_, '_> {
    /// Whether the value of an expression is such a number.
    fn is_complex(&self, expr: ExprId) -> bool {
        let input = self.input;
        let unit = input.unit();
        let mut pending = vec![expr];
        while let Some(at) = pending.pop() {
            let found = match &unit.expr(at).kind {
                ExprKind::Name(name) => {
                    let symbol = input.symbols.lookup(name, unit.expr(at).span.start);
                    symbol
                        .and_then(|symbol| input.declaration(symbol))
                        .is_some_and(|(seen, decl)| is_declared(input, seen, decl))
                }
                ExprKind::Member { name, .. } => input.files().any(|seen| {
                    let mut members = seen.unit.records.iter().flat_map(|record| &record.members);
                    members.any(|id| {
                        seen.unit.decl(*id).name == *name && is_declared(input, seen, seen.unit.decl(*id))
                    })
                }),
                ExprKind::Call { callee, .. } => match &unit.expr(*callee).kind {
                    ExprKind::Name(name) => is_type(input, functions::bare(name)) || self.returns(name),
                    _ => false,
                },
                ExprKind::Cast { to, .. } => words(to).into_iter().any(|word| is_type(input, word)),
                ExprKind::Index(base, _) | ExprKind::Deref(base) => {
                    pending.push(*base);
                    false
                }
                ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Conditional(..)
                | ExprKind::Opaque(_) => {
                    pending.extend(unit.expr(at).kind.children());
                    false
                }
                _ => false,
            };
            if found {
                return true;
            }
        }
        false
    }

    /// Whether a function of the file has such a number as its result.
    fn returns(&self, name: &str) -> bool {
        if let Some(known) = self.returns.borrow().get(name) {
            return *known;
        }
        let input = self.input;
        let returns = functions::functions(input, name).any(|function| {
            let head = input.file().text(Span { start: function.span.start, end: function.name_span.start });
            words(&head).into_iter().any(|word| is_type(input, word))
        });
        self.returns.borrow_mut().insert(name.to_owned(), returns);
        returns
    }
}

/// Whether a declaration is of such a number, or of an array or a pointer of them.
fn is_declared(input: &Input, seen: Seen, decl: &Decl) -> bool {
    let text = seen.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    words(&text).into_iter().any(|word| is_type(input, word))
}

/// Whether a word is a name of the class, through type names.
fn is_type(input: &Input, word: &str) -> bool {
    let mut pending = vec![word.to_owned()];
    let mut known: BTreeSet<String> = BTreeSet::new();
    while let Some(word) = pending.pop() {
        if word == "complex" {
            return true;
        }
        if !known.insert(word.clone()) {
            continue;
        }
        for seen in input.files() {
            for decl in typedefs(&seen, &word) {
                let text = seen.file.text(decl.span);
                pending.extend(words(&text).into_iter().map(str::to_owned));
            }
        }
    }
    false
}
