//! `acc2omp drift`: which files of an output tree are older than their sources.
//!
//! Invariant: reads, and writes nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::manifest::{self, Manifest};
use super::place::{is_gone, of_tree, read, shown};
use super::{Verdict, fail, files, notify, print};
use crate::scan;
use crate::source::Languages;

/// Says what has changed since a tree was written, and whether an output is older than its source.
pub fn run(out: &Path) -> Verdict {
    let manifest = match Manifest::load(out) {
        Ok(Some(manifest)) => manifest,
        Ok(None) => {
            let why = match fs::read_dir(out) {
                Ok(_) => "not an output of acc2omp: it has no .acc2omp/manifest.json".to_owned(),
                Err(error) => error.to_string(),
            };
            return fail(&format!("{}: {why}", out.display()));
        }
        Err(why) => return fail(&why),
    };
    let mut drifted = Vec::new();
    let mut edited = Vec::new();
    for (name, entry) in &manifest.files {
        let place = out.join(name);
        if let Some(source) = &entry.source {
            let path = of_tree(&source.path, out);
            let what = match read(&path) {
                Ok(bytes) if manifest::hash(&bytes) == source.hash => None,
                Ok(_) => Some(format!("older than {}", path.display())),
                Err(_) if is_gone(&path) => Some(format!("its source {} is gone", path.display())),
                Err(error) => Some(format!("its source {}: {error}", path.display())),
            };
            drifted.extend(what.map(|what| format!("{}: {what}", place.display())));
        }
        for read in entry.read.iter().filter(|read| !read.stays(out)) {
            let path = of_tree(&read.path, out);
            drifted.push(format!("{}: older than {}", place.display(), path.display()));
        }
        match read(&place) {
            Ok(bytes) if manifest::hash(&bytes) == entry.hash => {}
            Ok(_) => edited.push(format!("note: {}: edited since acc2omp wrote it\n", place.display())),
            Err(_) if is_gone(&place) => drifted.push(format!("{}: gone", place.display())),
            Err(error) => drifted.push(format!("{}: {error}", place.display())),
        }
    }
    let of_all = manifest.config.iter().chain(&manifest.database);
    for one in of_all.filter(|one| !one.stays(out)) {
        let path = of_tree(&one.path, out);
        drifted.push(format!("{}: older than {}", out.display(), path.display()));
    }
    drifted.extend(unknown(&manifest, out));
    if manifest.version != env!("CARGO_PKG_VERSION") {
        notify(&format!("note: acc2omp {} wrote this folder\n", manifest.version));
    }
    edited.iter().for_each(|note| notify(note));
    let said = print(drifted.iter().map(|line| format!("{line}\n")).collect::<String>().as_bytes());
    said.max(if drifted.is_empty() { Verdict::Done } else { Verdict::Left })
}

/// Sources that were not there when the tree was written.
fn unknown(manifest: &Manifest, out: &Path) -> Vec<String> {
    let inputs: Vec<PathBuf> =
        manifest.inputs.iter().map(|input| of_tree(input, out)).filter(|input| input.exists()).collect();
    let languages = Languages::default();
    let Ok(tree) = files::gather(&inputs, Some(out), &languages) else { return Vec::new() };
    let known: BTreeSet<PathBuf> = manifest
        .files
        .values()
        .filter_map(|entry| out.join(&entry.source.as_ref()?.path).canonicalize().ok())
        .collect();
    let new = tree.jobs.iter().filter(|job| !known.contains(&job.real)).filter_map(|job| {
        let bytes = fs::read(&job.real).ok()?;
        let language = scan::language_of(&job.path, &bytes, &languages)?;
        let lacks = if scan::mentions_openacc(&bytes, language) { "translated" } else { "copied" };
        Some(format!("{}: not {lacks} yet", shown(&job.path).display()))
    });
    new.collect()
}
