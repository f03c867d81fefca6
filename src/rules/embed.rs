//! The pages that are compiled in: all that stand in the folders.
//!
//! Invariant: paths are those below `rules/`, sorted.

use std::sync::LazyLock;

use include_dir::{Dir, include_dir};

/// The folders of the words of OpenACC.
static WORDS: [(&str, Dir<'_>); 4] = [
    ("api", include_dir!("$CARGO_MANIFEST_DIR/rules/api")),
    ("clause", include_dir!("$CARGO_MANIFEST_DIR/rules/clause")),
    ("directive", include_dir!("$CARGO_MANIFEST_DIR/rules/directive")),
    ("implicit", include_dir!("$CARGO_MANIFEST_DIR/rules/implicit")),
];

/// The folder of the profiles.
static PROFILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/rules/profile");

/// The pages of words: path below `rules/`, and text.
pub static FILES: LazyLock<Vec<(String, &'static str)>> = LazyLock::new(|| {
    let pages = WORDS.iter().flat_map(|(folder, pages)| {
        named(pages, "md").map(move |(name, text)| (format!("{folder}/{name}.md"), text))
    });
    let mut pages: Vec<_> = pages.collect();
    pages.sort();
    pages
});

/// The pages of the profiles: name and text.
pub fn profiles() -> Vec<(&'static str, &'static str)> {
    let mut pages: Vec<_> = named(&PROFILES, "toml").collect();
    pages.sort();
    pages
}

/// The files of a folder with this ending, without it.
fn named(folder: &'static Dir<'_>, ending: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    folder.files().filter_map(move |file| {
        let name = file.path().to_str()?.strip_suffix(ending)?.strip_suffix('.')?;
        Some((name, file.contents_utf8()?))
    })
}
