//! Files beside the object that clang writes of a compilation: entries of a database (`-MJ`), and times (`-ftime-trace`).
//!
//! Invariant: they name the user's sources, and nothing of the scratch folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Unit;
use super::command::Command;

/// How times are asked for.
const TRACE: &str = "-ftime-trace";

/// Lets the files that a command writes of its compilation name its sources, which `units` have in their mirrors.
pub fn mend(command: &Command, units: &[Unit], here: &Path) -> io::Result<()> {
    for path in written(command, here) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let new = units.iter().fold(text.clone(), |text, unit| {
            let name = command.words[unit.at].to_string_lossy();
            mended(&text, unit.mirror.root(), (&unit.mirror.place(&unit.real), &name))
        });
        if new != text {
            fs::write(&path, new)?;
        }
    }
    Ok(())
}

/// Where a command may write such files.
fn written(command: &Command, here: &Path) -> Vec<PathBuf> {
    let words = || command.words.iter().filter_map(|word| word.to_str());
    let mut all: Vec<PathBuf> = words()
        .filter_map(|word| word.strip_prefix("-MJ"))
        .filter(|name| !name.is_empty())
        .map(|name| here.join(name))
        .chain(command.value("-MJ").map(|name| here.join(name)))
        .collect();
    let Some(traced) = words()
        .filter_map(|word| word.strip_prefix(TRACE))
        .find(|rest| rest.is_empty() || rest.starts_with('='))
    else {
        return all;
    };
    let stems = command.sources.iter().filter_map(|(at, _)| Path::new(&command.words[*at]).file_stem());
    let stems: Vec<String> = stems.map(|stem| stem.to_string_lossy().into_owned()).collect();
    let output = command.output.as_deref().map(|output| here.join(output));
    let named = traced.strip_prefix('=').map(|place| here.join(place));
    // A name is that of the file or, if it is one, of the folder for it.
    all.extend(named.clone().filter(|place| !place.is_dir()));
    let folder = match (named.filter(|place| place.is_dir()), &output) {
        (Some(folder), _) => folder,
        (None, Some(output)) => output.parent().unwrap_or(here).to_path_buf(),
        (None, None) => here.to_path_buf(),
    };
    let output = output.as_ref().and_then(|output| output.file_stem()).map(|stem| stem.to_string_lossy());
    let linked = output.iter().flat_map(|output| stems.iter().map(move |stem| format!("{output}-{stem}")));
    let names = stems.iter().cloned().chain(linked).chain(output.iter().map(|output| output.to_string()));
    all.extend(names.map(|name| folder.join(format!("{name}.json"))));
    all
}

/// A text in JSON in which each file of the mirror below `root` is the one that it stands for; the command has a name for the
/// source.
fn mended(text: &str, root: &Path, (place, name): (&Path, &str)) -> String {
    let quoted = |text: &str| {
        let quoted = serde_json::Value::from(text).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let root = quoted(&root.display().to_string());
    text.replace(&format!("\"-ffile-prefix-map={root}=\", "), "")
        .replace(&quoted(&place.display().to_string()), &quoted(name))
        .replace(&root, "")
}

#[cfg(test)]
mod tests;
