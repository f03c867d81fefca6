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

/// The names in a macro's body whose address it takes: `t` of `add(&t, 2)`, `v` of `(void *)&(v)`.
pub fn lent_names(body: &str) -> Vec<&str> {
    let is_operand = |char: char| char.is_ascii_alphanumeric() || "_)]&".contains(char);
    let is_cast = |before: &str| {
        let inside = before.strip_suffix(')').and_then(|before| before.rsplit('(').next());
        inside.is_some_and(|words| words.trim_end().ends_with('*'))
    };
    let lent = body.match_indices('&').filter_map(|(at, _)| {
        let before = body[..at].trim_end();
        let object = body[at + 1..].trim_start_matches(|char: char| char == '(' || char.is_whitespace());
        let name = source::names(object).next().filter(|name| object.starts_with(*name));
        name.filter(|_| !before.ends_with(is_operand) || is_cast(before))
    });
    lent.collect()
}

/// The macros that assign something by other macros, or by names that they put together.
pub fn assigning_by_others(macros: &[&Define]) -> FxHashSet<String> {
    let bodies: Vec<(&str, &str)> =
        macros.iter().map(|define| (define.name.as_str(), define.body.as_str())).collect();
    let (calling, assigning): (Vec<&Define>, Vec<&Define>) = macros
        .iter()
        .filter(|define| calls_parameter(define) || !assigned_names(&define.body).is_empty())
        .partition(|define| calls_parameter(define));
    let all = calling.iter().chain(&assigning);
    let leading = leading_to(&bodies, all.map(|define| define.name.as_str()).collect());
    if leading.is_empty() {
        return leading;
    }
    let names: FxHashSet<&str> = bodies.iter().map(|(name, _)| *name).collect();
    let by_others = assigning.into_iter().filter(|define| {
        define.body.contains("##") || source::names(&define.body).any(|word| names.contains(word))
    });
    let own = calling.into_iter().chain(by_others).map(|define| define.name.clone());
    let leads = |body: &str| source::names(body).any(|word| leading.contains(word));
    let others = bodies.iter().filter(|(_, body)| leads(body)).map(|(name, _)| (*name).to_owned());
    own.chain(others).collect()
}

/// The macros that stand for both bounds of a dimension, or for several dimensions, where Fortran declares an array: `0:n`, `n, n`.
pub fn shaping(macros: &[&Define]) -> FxHashSet<String> {
    let is_shape = |body: &str| {
        let mut depth = 0;
        body.chars().any(|char| {
            depth += i32::from(char == '(') - i32::from(char == ')');
            depth == 0 && (char == ':' || char == ',')
        })
    };
    let bodies: Vec<(&str, &str)> =
        macros.iter().map(|define| (define.name.as_str(), define.body.as_str())).collect();
    let first = bodies.iter().filter(|(_, body)| is_shape(body)).map(|(name, _)| *name).collect();
    leading_to(&bodies, first)
}

/// Some macros, and those whose bodies lead to them by other macros; `bodies` are the names and bodies of all.
pub fn leading_to(bodies: &[(&str, &str)], first: Vec<&str>) -> FxHashSet<String> {
    if first.is_empty() {
        return FxHashSet::default();
    }
    let names: FxHashSet<&str> = bodies.iter().map(|(name, _)| *name).collect();
    let mut naming: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
    for (name, body) in bodies {
        for word in source::names(body).filter(|word| names.contains(word)) {
            naming.entry(word).or_default().push(name);
        }
    }
    let (mut pending, mut found) = (first, FxHashSet::default());
    while let Some(name) = pending.pop() {
        if found.insert(name.to_owned()) {
            pending.extend(naming.get(name).into_iter().flatten());
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
