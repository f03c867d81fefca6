//! The examples of the rule pages as programs: each stands in its scene.
//!
//! Invariant: every example that is translated is compared; only the fence can say that no compiler at hand builds the
//! original.

use std::fs;
use std::path::{Path, PathBuf};

use acc2omp::rules::{self, Example};

use super::fixture::{Fixture, Marks, read_text};
use crate::Result;

/// The examples of all pages that are written for OpenMP `version`, laid down as programs below `folder`.
pub fn all(root: &Path, folder: &Path, version: u8) -> Result<Vec<Fixture>> {
    let mut fixtures = Vec::new();
    for page in rules::rules().pages() {
        let numbered = page.examples.iter().enumerate();
        for (number, example) in numbered.filter(|(_, one)| !one.keep && one.version == version) {
            let name = format!("{}-{number}", page.entry.replace('/', "-"));
            fixtures.push(lay_down(root, &folder.join(&name), name, example)?);
        }
    }
    Ok(fixtures)
}

/// The OpenMP versions that examples are written for.
pub fn versions() -> Vec<u8> {
    let mut versions: Vec<u8> =
        rules::rules().pages().flat_map(|page| &page.examples).map(|example| example.version).collect();
    versions.sort_unstable();
    versions.dedup();
    versions
}

fn lay_down(root: &Path, folder: &Path, name: String, example: &Example) -> Result<Fixture> {
    let scene = example.scene.as_deref().ok_or_else(|| format!("{name}: no scene"))?;
    let program = read_text(&root.join(format!("fixtures/scene/{scene}.c")))?;
    let mark = if example.at_top { "//@top" } else { "//@body" };
    let source = format!("{name}.c");
    let text = program.replace(mark, &example.input());
    let written: std::io::Result<PathBuf> = fs::create_dir_all(folder)
        .and_then(|()| fs::write(folder.join(&source), text))
        .map(|()| folder.to_path_buf());
    let folder = written.map_err(|error| format!("{}: {error}", folder.display()))?;
    let marks = Marks { unbuilt: example.unbuilt, unchecked: true, launches: Some(0), ..Marks::default() };
    Ok(Fixture { name, folder, sources: vec![source], headers: Vec::new(), marks })
}
