//! The device code of a file in Fortran as its readers know the program: the functions in C++ from which it comes are ours alone.
//!
//! Invariant: what is changed here is text that the translation wrote itself.

use std::collections::{BTreeMap, BTreeSet};

/// How the lines begin that compare the structs of the file of C++ with those of the device code.
const COMPARED: &str = "\n/* Structs must lie in memory";

/// The same for what tells them those of the device code.
const LAYOUTS: &str = "// How structs lie in memory here";

/// Device code, or its header, without what tells a host how structs lie in memory.
pub(super) fn without_layouts(code: &str) -> String {
    let is_prototype = |line: &&str| line.starts_with("const acc2omp_layout *acc2omp_layouts_of_");
    let mut out = String::with_capacity(code.len());
    let mut is_inside = false;
    for line in code.split_inclusive('\n').filter(|line| !is_prototype(line)) {
        is_inside |= line.starts_with(LAYOUTS);
        if !is_inside {
            out.push_str(line);
        }
        is_inside &= line.trim_end() != "}";
    }
    out
}

/// How the functions of the file of C++ begin.
const FUNCTION: &str = "extern \"C\" void";

/// The functions of the translated file of C++, without the lines before them, and without the variables that only the kernels
/// use now.
pub(super) fn functions_of(host: &str) -> String {
    // The host's structs are those of Fortran, whose sizes it compares itself.
    let host = host.split(COMPARED).next().unwrap_or_default();
    let at = host.find(FUNCTION).unwrap_or(host.len());
    let starts = host[at..].match_indices(FUNCTION).map(|(start, _)| at + start);
    let starts: Vec<usize> = starts.chain([host.len()]).collect();
    starts.windows(2).map(|part| without_idle(&host[part[0]..part[1]])).collect()
}

/// A function of ours without the declarations of names that it has nowhere else.
fn without_idle(function: &str) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in function.split(is_between) {
        *counts.entry(word).or_default() += 1;
    }
    let is_idle = |line: &&str| {
        let declared = line.strip_prefix("    ").and_then(|line| line.trim_end().strip_suffix(';'));
        let declared = declared.map(|text| text.strip_suffix(" = 0").unwrap_or(text));
        let Some(declared) = declared.filter(|text| !text.contains(['(', '='])) else { return false };
        let name = declared.split('[').next().and_then(|text| text.split(' ').next_back());
        name.is_some_and(|name| counts.get(name) == Some(&1))
    };
    function.split_inclusive('\n').filter(|line| !is_idle(line)).collect()
}

/// Device code in which the texts `"name:9"` tell the places of the source.
pub(super) fn with_places(code: &str, name: &str, place_of: &dyn Fn(usize) -> Option<String>) -> String {
    let sign = format!("\"{name}:");
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(&sign) {
        let after = &rest[at + sign.len()..];
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let place = after[..digits].parse().ok().and_then(place_of);
        let place = place.unwrap_or_else(|| format!("{name}:{}", &after[..digits]));
        out += &rest[..=at];
        out += &place;
        rest = &after[digits..];
    }
    out + rest
}

/// Names that tell the construct, for those that tell the function of C++ with its place: a launcher `unit_name_9` of the function
/// `name` becomes `name_launch`, and its kernel `name_kernel`; of several, each has a number.
pub(super) struct Names(BTreeMap<String, String>);

impl Names {
    /// Those of the launchers that `code` has for functions of ours.
    pub fn of(code: &str, unit: &str, functions: &BTreeSet<&str>) -> Names {
        let mut launchers: BTreeMap<&str, BTreeMap<usize, BTreeMap<&str, &str>>> = BTreeMap::new();
        for word in code.split(is_between).filter(|word| word.starts_with(unit)) {
            if let Some((function, line, rest)) = parts(word, unit, functions) {
                launchers.entry(function).or_default().entry(line).or_default().insert(rest, word);
            }
        }
        let mut names = BTreeMap::new();
        for (function, lines) in launchers {
            for (at, words) in lines.values().enumerate() {
                let number = if lines.len() == 1 { String::new() } else { format!("_{}", at + 1) };
                for (rest, word) in words {
                    let rest = if rest.is_empty() { "_launch" } else { rest };
                    names.insert((*word).to_owned(), format!("{function}{number}{rest}"));
                }
            }
        }
        Names(names)
    }

    /// A text with these names.
    pub fn put(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let length = rest.find(is_between).unwrap_or(rest.len());
            let (word, after) = rest.split_at(length);
            out.push_str(self.0.get(word).map_or(word, String::as_str));
            let between = after.find(|c| !is_between(c)).unwrap_or(after.len());
            out.push_str(&after[..between]);
            rest = &after[between..];
        }
        out
    }
}

/// The function, the line and the rest of a name that begins with `unit`.
fn parts<'a>(word: &'a str, unit: &str, functions: &BTreeSet<&str>) -> Option<(&'a str, usize, &'a str)> {
    let own = word.strip_prefix(unit)?.strip_prefix('_')?;
    own.match_indices('_').find_map(|(at, _)| {
        let (function, after) = (&own[..at], &own[at + 1..]);
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let line = after[..digits].parse().ok().filter(|_| functions.contains(function))?;
        Some((function, line, &after[digits..]))
    })
}

/// Whether a character is not part of a name.
fn is_between(c: char) -> bool {
    !(c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests;
