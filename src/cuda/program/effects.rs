//! What calls do: whether it matters that one thread of a gang makes a call instead of all of them.
//!
//! Invariant: what is not known to only give a value may change something.

use std::collections::HashSet;

use super::operators::Operators;
use super::{Input, defines, functions};
use crate::cuda::code::text::words;
use crate::host::ir::{DeclKind, ExprId, ExprKind};
use crate::sema::{self, Facts, SymbolKind};
use crate::source::Span;

/// Words that may stand where a function's name does, and are types.
const TYPES: [&str; 10] =
    ["int", "double", "float", "long", "unsigned", "char", "bool", "short", "size_t", "signed"];

/// Macros that stand for macros are followed no further than this.
const DEPTH: usize = 8;

/// What the functions of a file do.
#[derive(Debug, Default)]
pub struct Effects {
    /// Those that may change something besides what their arguments lead to.
    changing: HashSet<String>,
    /// Those that do not.
    harmless: HashSet<String>,
    /// The operators that change their objects.
    pub operators: Operators,
}

impl Effects {
    /// What the functions of a source and of the headers that have directives do.
    pub fn of(input: &Input) -> Effects {
        let mut effects = Effects { operators: Operators::of(input), ..Effects::default() };
        for one in input.read.iter().chain([input]) {
            let facts = Facts::new(one.file(), one.unit(), one.symbols, &[], false);
            for function in &one.unit().functions {
                let place = match sema::may_change(&facts, &function.name) {
                    true => &mut effects.changing,
                    false => &mut effects.harmless,
                };
                place.insert(functions::bare(&function.name).to_owned());
            }
        }
        effects
    }

    fn may_change(&self, input: &Input, name: &str, depth: usize) -> bool {
        let bare = functions::bare(name);
        if self.changing.contains(bare) {
            return true;
        }
        if self.harmless.contains(bare) || sema::is_mathematical(name) || TYPES.contains(&bare) {
            return false;
        }
        if let Some(define) = defines::define(input, bare) {
            let mut named = words(&define.body).into_iter();
            return depth > 0
                && named.any(|word| {
                    let is_called = self.changing.contains(word) || defines::define(input, word).is_some();
                    is_called && word != bare && self.may_change(input, word, depth - 1)
                });
        }
        !is_type(input, bare)
    }
}

/// Whether a name is that of a type: what looks like a call is a conversion.
fn is_type(input: &Input, name: &str) -> bool {
    input.headers.iter().chain([&input.source]).any(|seen| {
        seen.unit.records_named(name).next().is_some()
            || seen.unit.decls_named(name).any(|decl| decl.kind == DeclKind::Typedef)
    })
}

/// Whether an expression of C++ is one of `new` or `delete`.
fn allocates(text: &str) -> bool {
    let text = text.trim_start_matches("::").trim_start();
    ["new", "delete"].iter().any(|word| {
        text.strip_prefix(word)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

/// The first call in `span` that may change more than its arguments lead to: what calls for objects of the thread's own
/// change, `is_own` tells.
pub fn changing_call(input: &Input, span: Span, is_own: &dyn Fn(ExprId) -> bool) -> Option<Span> {
    let effects = input.effects?;
    let unit = input.unit();
    let found = unit.exprs_in(span).find(|expr| {
        let callee = match &expr.kind {
            ExprKind::Call { callee, .. } => callee,
            ExprKind::Initialiser(_) => return allocates(&input.file().text(expr.span)),
            _ => return false,
        };
        match &unit.expr(*callee).kind {
            ExprKind::Name(name) => {
                let known = input.symbols.lookup(name, expr.span.start);
                let is_variable = known.is_some_and(|symbol| {
                    matches!(input.symbols.get(symbol).kind, SymbolKind::Local | SymbolKind::Parameter)
                });
                !is_variable && effects.may_change(input, name, DEPTH)
            }
            ExprKind::Member { base, name, .. } => !is_own(*base) && effects.changing.contains(name.as_str()),
            _ => false,
        }
    });
    found.map(|expr| expr.span)
}
