//! How a patch names files.
//!
//! Invariant: a name begins in one folder for all files of a patch, and goes down from there, as `git apply` wants it.

use std::path::{Component, Path, PathBuf};

use super::place::shown;

/// The names of a patch.
#[derive(Debug, Default)]
pub struct Patch {
    /// The folder where they begin, without links; none for the current one, where paths stay as they are.
    base: Option<PathBuf>,
}

impl Patch {
    /// The names for these inputs: seen from the current folder if all lie below it, or from the folder that holds them all.
    pub fn of(inputs: &[PathBuf]) -> Patch {
        let is_below = |path: &PathBuf| {
            path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
        };
        if inputs.iter().all(is_below) {
            return Patch::default();
        }
        let folder = |input: &PathBuf| {
            let real = input.canonicalize().ok()?;
            if real.is_dir() { Some(real) } else { real.parent().map(Path::to_path_buf) }
        };
        let mut folders: Vec<PathBuf> = inputs.iter().filter_map(folder).collect();
        let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
        if let Some(here) = here.filter(|here| folders.iter().all(|folder| folder.starts_with(here))) {
            folders = vec![here];
        }
        let shared = folders.into_iter().reduce(|one, other| {
            let same = one.components().zip(other.components()).take_while(|(one, other)| one == other);
            same.map(|(part, _)| part).collect()
        });
        Patch { base: shared }
    }

    /// What the patch calls a file, which need not be there.
    pub fn name(&self, path: &Path) -> PathBuf {
        let name = || {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
            Some(folder.join(path.file_name()?).strip_prefix(self.base.as_ref()?).ok()?.to_path_buf())
        };
        name().unwrap_or_else(|| path.to_path_buf())
    }

    /// The folder where the names begin, as the user would call it; none if that is the current one.
    pub fn base(&self) -> Option<PathBuf> {
        self.base.as_deref().map(shown).filter(|base| !base.as_os_str().is_empty())
    }
}
