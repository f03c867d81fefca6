//! The support header, with the parts that translations use.
//!
//! Invariant: a name belongs to the part in which it stands first, as in C a declaration comes before its uses; a part brings
//! those that it names, and is there once where several such headers meet.

use std::collections::{BTreeMap, BTreeSet};

/// The name of the header with what OpenMP has no routine for.
pub const SUPPORT: &str = "acc2omp.h";

/// The header as it is kept.
const WHOLE: &str = include_str!("../../rules/api/acc2omp.h");

/// How its names begin.
const LEADS: [&str; 2] = ["acc2omp_", "ACC2OMP_"];

/// What it consists of.
struct Parts {
    /// The comment that it opens with.
    comment: &'static str,
    /// What is always there, once.
    ground: &'static str,
    /// What is there in each file that includes it: names for builds without OpenMP, up to `end`.
    stubs: &'static str,
    /// What is there if it is used.
    parts: Vec<&'static str>,
    end: &'static str,
}

/// The header with all its parts.
pub fn whole_support() -> String {
    written(&|_| true)
}

/// The header with the parts that texts name, and what these need. An older header among the texts keeps its parts.
pub fn support<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let Parts { ground, parts, .. } = parts();
    let ground: BTreeSet<&str> = words(ground).collect();
    let mut owners: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, part) in parts.iter().enumerate() {
        for name in words(part).filter(|name| !ground.contains(name)) {
            owners.entry(name).or_insert(at);
        }
    }
    let mut wanted = BTreeSet::new();
    let mut open: Vec<usize> =
        texts.into_iter().flat_map(words).filter_map(|name| owners.get(name).copied()).collect();
    while let Some(at) = open.pop() {
        if wanted.insert(at) {
            open.extend(words(parts[at]).filter_map(|name| owners.get(name)));
        }
    }
    written(&|at| wanted.contains(&at))
}

/// The names of the header in a text, outside of comments.
pub fn support_names(text: &str) -> BTreeSet<String> {
    words(text).map(str::to_owned).collect()
}

fn written(is_wanted: &dyn Fn(usize) -> bool) -> String {
    let Parts { comment, ground, stubs, parts, end } = parts();
    let once = |name: &str, part: &str| {
        let guard = format!("ACC2OMP_HAS_{name}");
        format!("\n#ifndef {guard}\n#define {guard}\n{}\n#endif\n", part.trim())
    };
    let mut out = format!("{comment}#ifndef ACC2OMP_H\n");
    out += &once("ground", &format!("{}\n#endif", ground.trim_end()));
    let mut known: BTreeSet<&str> = words(ground).collect();
    out += &format!("\n#ifndef _OPENMP\n{}\n", stubs.trim());
    for (at, part) in parts.into_iter().enumerate() {
        let name = words(part).find(|name| !known.contains(name)).unwrap_or_default();
        let name = LEADS.iter().find_map(|lead| name.strip_prefix(lead)).unwrap_or_default();
        known.extend(words(part));
        if is_wanted(at) {
            out += &once(name, part);
        }
    }
    out + "\n" + end.trim_start()
}

/// Takes the header apart.
fn parts() -> Parts {
    let cut = |text: &'static str, at: &str| text.split_once(at).unwrap_or((text, ""));
    let (comment, rest) = cut(WHOLE, "#ifndef ACC2OMP_H\n#define ACC2OMP_H\n");
    let at = rest.find("#define omp_get_default_device").unwrap_or(rest.len());
    let (ground, rest) = rest.split_at(at);
    // The condition on OpenMP ends here, and again after the stubs.
    let (stubs, rest) = rest.split_at(rest.find("#endif\n").map_or(rest.len(), |at| at + "#endif\n".len()));
    let (middle, end) = rest.split_at(rest.find("#ifndef _OPENMP\n#undef").unwrap_or(rest.len()));
    Parts { comment, ground, stubs, parts: divided(middle), end }
}

/// Parts a text at blank lines that stand in no function, comment, condition or region of `declare target`.
fn divided(text: &'static str) -> Vec<&'static str> {
    let mut found: Vec<&str> = Vec::new();
    let (mut start, mut at, mut depth) = (0, 0, 0i32);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        at += line.len();
        let count = |what: char| line.matches(what).count() as i32;
        depth += count('{') - count('}');
        depth += i32::from(trimmed.starts_with("#if")) - i32::from(trimmed == "#endif");
        let ends_region = trimmed.ends_with("end declare target");
        depth += i32::from(trimmed.ends_with("declare target") && !ends_region) - i32::from(ends_region);
        depth += line.matches("/*").count() as i32 - line.matches("*/").count() as i32;
        if trimmed.is_empty() && depth == 0 {
            found.push(&text[start..at]);
            start = at;
        }
    }
    found.push(&text[start..]);
    found.retain(|part| words(part).next().is_some());
    found
}

/// The names of the header in a text, outside of comments: those that only tell parts apart do not count.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let plain = text.split("/*").enumerate().map(|(at, piece)| match at {
        0 => piece,
        _ => piece.split_once("*/").map_or("", |(_, after)| after),
    });
    let words = plain.flat_map(|piece| piece.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    words.filter(|word| {
        LEADS.iter().any(|lead| word.starts_with(lead))
            && !word.starts_with("ACC2OMP_HAS_")
            && *word != "ACC2OMP_H"
    })
}
