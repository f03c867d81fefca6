//! Macros in a nest: what a name or a call stands for must be seen to touch no memory.
//!
//! Invariant: a body with anything in it that could assign, read an element or call something unknown is not harmless.

use crate::sema::{Class, SymbolId, SymbolKind};
use crate::source;

use super::calls::is_mathematical;
use super::facts::Facts;

/// Macros that lead to macros are followed no further than this.
const DEPTH: usize = 12;

/// Words of types.
const TYPES: [&str; 12] = [
    "char", "const", "double", "float", "int", "long", "short", "signed", "size_t", "sizeof", "unsigned",
    "void",
];

/// A word of a macro's body.
struct Word<'b> {
    text: &'b str,
    /// Parentheses follow.
    is_called: bool,
}

impl Facts<'_> {
    /// Whether the body of some macro names it.
    pub(super) fn is_named_in_macros(&self, name: &str) -> bool {
        self.defines().any(|body| names(body, name))
    }

    /// Whether the body of some macro names it and may change something, or takes its address.
    pub(super) fn may_change_in_macros(&self, name: &str) -> bool {
        let changes = |body: &str| {
            let plain: String = body.chars().filter(|c| !c.is_whitespace()).collect();
            let assigns = plain.char_indices().any(|(at, c)| {
                let compares =
                    plain[..at].ends_with(['=', '!', '<', '>']) || plain[at + 1..].starts_with('=');
                let shifts = plain[..at].ends_with("<<") || plain[..at].ends_with(">>");
                c == '=' && (!compares || shifts)
            });
            assigns
                || ["++", "--"].iter().any(|sign| plain.contains(sign))
                || plain.contains(&format!("&{name}"))
        };
        self.defines().any(|body| names(body, name) && changes(body))
    }

    /// Whether the macro `name`, used at `offset`, only gives a value: it is made of numbers, of what it is given, and of
    /// variables that `is_changed` does not hold for.
    pub(super) fn is_harmless(&self, name: &str, offset: u32, is_changed: &dyn Fn(SymbolId) -> bool) -> bool {
        self.is_harmless_within(name, offset, is_changed, DEPTH)
    }

    fn is_harmless_within(
        &self,
        name: &str,
        offset: u32,
        is_changed: &dyn Fn(SymbolId) -> bool,
        depth: usize,
    ) -> bool {
        let Some(define) = self.define(name).filter(|_| depth > 0) else { return false };
        let params = define.params.as_deref().unwrap_or_default();
        let Some(words) = words(&define.body) else { return false };
        words.iter().all(|word| {
            let text = word.text;
            if params.iter().any(|param| param == text) || TYPES.contains(&text) {
                return !word.is_called || TYPES.contains(&text);
            }
            if self.define(text).is_some() {
                return text != name && self.is_harmless_within(text, offset, is_changed, depth - 1);
            }
            if word.is_called {
                return is_mathematical(text) && self.functions(text).is_empty();
            }
            let Some(symbol) = self.symbols.lookup(text, offset) else { return true };
            let known = self.symbols.get(symbol);
            known.kind == SymbolKind::Constant
                || known.kind == SymbolKind::Type
                || known.class == Class::Scalar && !known.is_reference && !is_changed(symbol)
        })
    }
}

/// Whether a word of the body is this name.
fn names(body: &str, name: &str) -> bool {
    source::words(body).any(|word| word == name)
}

/// The words of a body; `None` if it has signs that assign, or that lead to memory.
fn words(body: &str) -> Option<Vec<Word<'_>>> {
    let inner = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut rest = body.trim_start();
    // Whether a value stands before: `*` and `&` are operators between two values then.
    let mut after_value = false;
    while let Some(first) = rest.chars().next() {
        if inner(first) {
            // The exponent's sign belongs to a number.
            let is_number = first.is_ascii_digit();
            let mut end = 0;
            for (at, c) in rest.char_indices() {
                let signed =
                    is_number && matches!(c, '+' | '-') && rest[..at].ends_with(['e', 'E', 'p', 'P']);
                if !(inner(c) || signed || is_number && c == '.') {
                    break;
                }
                end = at + c.len_utf8();
            }
            let (text, after) = rest.split_at(end);
            rest = after.trim_start();
            if !is_number {
                words.push(Word { text, is_called: rest.starts_with('(') });
            }
            after_value = true;
            continue;
        }
        let pairs = ["==", "!=", "<=", ">=", "&&", "||", "<<", ">>"];
        let pair = pairs.into_iter().find(|pair| rest.starts_with(pair));
        let length = match (pair, first) {
            (Some(_), _) => 2,
            (None, '*' | '&') if !after_value => return None,
            (None, '.') if after_value || !rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                return None;
            }
            (None, '.') => 1,
            (None, '+' | '-') if rest[1..].starts_with(first) => return None,
            (None, '-') if rest[1..].starts_with('>') => return None,
            (
                None,
                '+' | '-' | '*' | '/' | '%' | '<' | '>' | '!' | '~' | '&' | '|' | '^' | '?' | ':' | ',' | '('
                | ')',
            ) => 1,
            (None, _) => return None,
        };
        // An operator with `=` assigns.
        if pair.is_none() && rest[1..].starts_with('=') || pair.is_some() && rest[2..].starts_with('=') {
            return None;
        }
        after_value = first == ')';
        rest = rest[length..].trim_start();
    }
    Some(words)
}

#[cfg(test)]
mod tests;
