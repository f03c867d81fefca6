//! What a function-like macro assigns beside its parameters, and the number that an object-like one is.
//!
//! Invariant: a name that the body assigns is found; one that it only reads is not.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::scan::Define;
use crate::source;

/// The names in a macro's body that it assigns as a whole, its parameters among them: `t` of `t = 2 * (x)`, `n` of `++n`,
/// `v` of `(v) = t`.
pub fn assigned_names(body: &str) -> Vec<String> {
    let bytes = body.as_bytes();
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut names: Vec<String> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes.get(at).is_some_and(is_inner) {
            at += 1;
            continue;
        }
        let length = bytes[at..].iter().take_while(|byte| is_inner(byte)).count();
        let (mut before, mut after) = (body[..at].trim_end(), body[at + length..].trim_start());
        while let (Some(outside), Some(rest)) = (before.strip_suffix('('), after.strip_prefix(')')) {
            (before, after) = (outside.trim_end(), rest.trim_start());
        }
        let name = &body[at..at + length];
        let is_member = before.ends_with('.') || before.ends_with("->");
        let steps = before.ends_with("++") || before.ends_with("--");
        let is_name = !name.starts_with(|c: char| c.is_ascii_digit());
        if is_name && !is_member && (steps || is_assigned(after)) && !names.iter().any(|one| one == name) {
            names.push(name.to_owned());
        }
        at += length;
    }
    names
}

/// The macros that assign something by other macros, or by names that they put together.
pub fn assigning_by_others(macros: &[&Define]) -> FxHashSet<String> {
    let names: FxHashSet<&str> = macros.iter().map(|define| define.name.as_str()).collect();
    let mut naming: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
    let mut pending = Vec::new();
    let mut found = FxHashSet::default();
    for define in macros {
        for word in source::names(&define.body).filter(|word| names.contains(word)) {
            naming.entry(word).or_default().push(&define.name);
        }
        if calls_parameter(define) {
            found.insert(define.name.clone());
            pending.push(define.name.as_str());
        } else if !assigned_names(&define.body).is_empty() {
            let by_others = source::names(&define.body).any(|word| names.contains(word));
            found.extend((by_others || define.body.contains("##")).then(|| define.name.clone()));
            pending.push(define.name.as_str());
        }
    }
    let mut met: FxHashSet<&str> = pending.iter().copied().collect();
    while let Some(name) = pending.pop() {
        for other in naming.get(name).into_iter().flatten() {
            found.insert((*other).to_owned());
            if met.insert(other) {
                pending.push(other);
            }
        }
    }
    found
}

/// Whether a macro calls what it is given: `#define APPLY(f, x) f(x)`.
fn calls_parameter(define: &Define) -> bool {
    let params = define.params.iter().flatten();
    source::placed_names(&define.body).any(|(at, word)| {
        let is_called = define.body[at + word.len()..].trim_start().starts_with('(');
        is_called && params.clone().any(|param| param == word)
    })
}

/// The number that an object-like macro's body is.
pub fn number(body: &str) -> Option<i128> {
    let body = body.trim();
    let inside = body.strip_prefix('(').and_then(|body| body.strip_suffix(')'));
    inside.unwrap_or(body).trim().trim_end_matches(['u', 'U', 'l', 'L']).parse().ok()
}

/// Whether what stands after a name assigns it.
fn is_assigned(after: &str) -> bool {
    const OPERATORS: [&str; 12] = ["++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];
    (after.starts_with('=') && !after.starts_with("=="))
        || OPERATORS.iter().any(|operator| after.starts_with(operator))
}

#[cfg(test)]
mod tests;
