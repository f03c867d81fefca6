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

/// A macro's body with arguments in place of its parameters, and the names put together that `##` does.
pub fn with_arguments(body: &str, params: &[&str], args: &[String]) -> String {
    let mut text = String::with_capacity(body.len());
    let mut copied = 0;
    for (at, word) in source::placed_names(body) {
        if let Some(place) = params.iter().position(|param| *param == word) {
            text.push_str(&body[copied..at]);
            text.push_str(&args[place]);
            copied = at + word.len();
        }
    }
    text.push_str(&body[copied..]);
    text.split("##").map(str::trim).collect()
}

/// A text without the parentheses around it.
pub fn without_parentheses(text: &str) -> &str {
    let mut text = text.trim();
    while text.starts_with('(') && closing(text) == Some(text.len() - 1) {
        text = text[1..text.len() - 1].trim();
    }
    text
}

/// The name and the arguments of a call, if that is all there is.
pub fn call(text: &str) -> Option<(&str, Vec<String>)> {
    let opened = text.find('(')?;
    let is_whole = closing(&text[opened..]) == Some(text.len() - opened - 1);
    first_call(text).filter(|_| is_whole)
}

/// The name and the arguments of a call that a text begins with.
pub fn first_call(text: &str) -> Option<(&str, Vec<String>)> {
    let (callee, _) = text.split_once('(')?;
    let rest = &text[callee.len()..];
    let inside = &rest[1..closing(rest)?];
    let (mut args, mut depth) = (vec![String::new()], 0);
    for char in inside.chars() {
        depth += i32::from("([{".contains(char)) - i32::from(")]}".contains(char));
        match args.last_mut() {
            Some(arg) if char != ',' || depth > 0 => arg.push(char),
            _ => args.push(String::new()),
        }
    }
    args.iter_mut().for_each(|arg| *arg = arg.trim().to_owned());
    args.retain(|arg| !arg.is_empty());
    let callee = callee.trim();
    callee.chars().all(|c| c.is_alphanumeric() || c == '_').then_some((callee, args))
}

/// The place of the parenthesis that closes the one that a text begins with.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, char)| {
        depth += i32::from(char == '(') - i32::from(char == ')');
        (depth == 0).then_some(at)
    })
}

/// Whether the body of a macro may be nothing but a variable: a name, a name put together, or a call of another macro.
pub fn is_variable_like(body: &str) -> bool {
    let text = with_arguments(body, &[], &[]);
    let text = without_parentheses(&text);
    text.chars().all(|c| c.is_alphanumeric() || c == '_') || call(text).is_some()
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
