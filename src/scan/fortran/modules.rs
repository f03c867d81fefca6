//! Which modules a file defines and which it uses: a look at the first words of its lines, before anything is parsed.
//!
//! Invariant: a module that is named here by mistake costs a look at a file, nothing more.

use crate::source::lines;

/// The modules that a file defines, in lower case.
pub fn defined(bytes: &[u8]) -> Vec<String> {
    let names = lines(bytes).filter(|line| begins_with(line, b"m")).filter_map(|line| {
        let mut words = words(line);
        let is_module = words.next()?.eq_ignore_ascii_case(b"module");
        let name = words.next().filter(|_| is_module)?;
        let is_other = [&b"procedure"[..], b"function", b"subroutine"]
            .iter()
            .any(|other| name.eq_ignore_ascii_case(other) && words.next().is_some());
        (!is_other).then(|| lower(name))
    });
    names.collect()
}

/// The modules that a file uses, and those that its submodules extend, in lower case, each once.
pub fn used(bytes: &[u8]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in lines(bytes).filter(|line| begins_with(line, b"us")) {
        let mut words = words(line);
        let Some(first) = words.next() else { continue };
        let is_use = first.eq_ignore_ascii_case(b"use");
        if !is_use && !first.eq_ignore_ascii_case(b"submodule") {
            continue;
        }
        let mut name = words.next();
        if name.is_some_and(|name| {
            [&b"intrinsic"[..], b"non_intrinsic"].iter().any(|word| name.eq_ignore_ascii_case(word))
        }) {
            name = words.next();
        }
        let name = name.map(lower).filter(|name| !names.contains(name));
        names.extend(name);
    }
    names
}

/// Whether the first word of a line begins with one of these letters, whatever their case. Most lines go no further.
fn begins_with(line: &[u8], letters: &[u8]) -> bool {
    let first = line.iter().find(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'!'));
    first.is_some_and(|first| letters.contains(&first.to_ascii_lowercase()))
}

/// The words of a line up to its comment.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let code = line.split(|byte| *byte == b'!').next().unwrap_or_default();
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    code.split(move |byte| !is_inner(*byte)).filter(|word| !word.is_empty())
}

fn lower(word: &[u8]) -> String {
    String::from_utf8_lossy(word).to_ascii_lowercase()
}

#[cfg(test)]
mod tests;
