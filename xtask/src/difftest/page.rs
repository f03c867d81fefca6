//! The examples of the rule pages as programs: each stands in its scene.
//!
//! Invariant: every example that is translated is compared; only the fence can say that no compiler at hand builds the
//! original.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use acc2omp::rules::{self, Example};

use super::fixture::{Fixture, Marks, read_text};
use crate::Result;

/// What examples are translated in the same way for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The version of OpenMP.
    pub version: u8,
    /// Without queues.
    pub sync: bool,
    /// With `loop` constructs.
    pub by_loops: bool,
    /// In Fortran.
    pub fortran: bool,
}

impl Target {
    fn of(example: &Example) -> Target {
        let fortran = example.language.is_fortran();
        Target { version: example.version, sync: example.sync, by_loops: example.by_loops, fortran }
    }
}

/// The examples of all pages for `target`, laid down as programs below `folder`.
pub fn all(root: &Path, folder: &Path, target: Target) -> Result<Vec<Fixture>> {
    let mut fixtures = Vec::new();
    for page in rules::rules().pages() {
        let numbered = page.examples.iter().enumerate();
        let wanted = |one: &Example| !one.keep && Target::of(one) == target;
        for (number, example) in numbered.filter(|(_, one)| wanted(one)) {
            let name = format!("{}-{number}", page.entry.replace('/', "-"));
            fixtures.push(lay_down(root, &folder.join(&name), name, example)?);
        }
    }
    Ok(fixtures)
}

/// What examples are written for.
pub fn targets() -> BTreeSet<Target> {
    let examples = rules::rules().pages().flat_map(|page| &page.examples);
    examples.map(Target::of).collect()
}

fn lay_down(root: &Path, folder: &Path, name: String, example: &Example) -> Result<Fixture> {
    let scene = example.scene.as_deref().ok_or_else(|| format!("{name}: no scene"))?;
    let program = read_text(&root.join(format!("fixtures/scene/{scene}.{}", example.ending())))?;
    let source = format!("{name}.{}", example.ending());
    let text = program.replace(example.mark(), &example.input());
    let written: std::io::Result<PathBuf> = fs::create_dir_all(folder)
        .and_then(|()| fs::write(folder.join(&source), text))
        .map(|()| folder.to_path_buf());
    let folder = written.map_err(|error| format!("{}: {error}", folder.display()))?;
    let marks = Marks { unbuilt: example.unbuilt, unchecked: true, launches: Some(0), ..Marks::default() };
    Ok(Fixture { name, folder, sources: vec![source], headers: Vec::new(), marks })
}
