//! How sources are called: the C name of a unit, and which files are headers.
//!
//! Invariant: looks at names of files alone.

/// The name of a source without folder and ending, as a C name.
pub fn stem(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let mut made: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if made.starts_with(|c: char| c.is_ascii_digit()) {
        made.insert(0, '_');
    }
    made
}

/// The ending of a source that is a header.
pub fn header_ending(name: &str) -> Option<&str> {
    let (_, ending) = name.rsplit_once('.')?;
    ["h", "hpp", "hh", "hxx", "cuh"].contains(&ending).then_some(ending)
}

/// The name of a source among those of its folder, as a C name: a header has its ending in it, and what has a namesake.
pub fn unit_name(name: &str, has_namesake: bool) -> String {
    match name.rsplit_once('.') {
        Some((_, ending)) if has_namesake || header_ending(name).is_some() => {
            format!("{}_{}", stem(name), stem(ending))
        }
        _ => stem(name),
    }
}

/// The name of a source without its folder, as comments, literals and `#include` can have it.
pub fn own_name(path: &str) -> String {
    let own = path.rsplit(['/', '\\']).next().unwrap_or_default();
    own.replace(|c: char| c == '"' || c.is_control(), "_")
}

/// What the names of the files of a source's device code have before `_acc`.
pub fn beside_stem(name: &str, has_namesake: bool) -> String {
    let own = own_name(name);
    match own.rsplit_once('.') {
        Some((stem, _)) if !has_namesake && header_ending(&own).is_none() => stem.to_owned(),
        _ => own.replace('.', "_"),
    }
}
