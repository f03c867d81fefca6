//! Files of dependences that compilers write for `make`: they name sources, not translations.
//!
//! Invariant: what the scratch folder holds of its own is in none of them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Unit;
use super::command::Command;

/// Lets the files of dependences that a command writes name its sources, which `units` have in their mirrors, and what these
/// include.
pub fn mend(command: &Command, units: &[Unit], here: &Path) -> io::Result<()> {
    for path in written(command, here) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let new = units.iter().fold(text.clone(), |text, unit| {
            let name = command.words[unit.at].to_string_lossy();
            mended(&text, unit.mirror.root(), (&unit.mirror.place(&unit.real), &name), here)
        });
        if new != text {
            fs::write(&path, new)?;
        }
    }
    Ok(())
}

/// The files of dependences that a command writes.
fn written(command: &Command, here: &Path) -> Vec<PathBuf> {
    let has = |option: &str| command.words.iter().any(|word| word == option);
    let by_preprocessor = command
        .words
        .iter()
        .filter_map(|word| word.to_str())
        .filter_map(|word| word.strip_prefix("-Wp,-MD,").or_else(|| word.strip_prefix("-Wp,-MMD,")));
    let mut all: Vec<PathBuf> = by_preprocessor.map(|name| here.join(name)).collect();
    if !has("-MD") && !has("-MMD") {
        return all;
    }
    if let Some(file) = command.value("-MF") {
        all.push(here.join(file));
    } else if let Some(output) = &command.output {
        all.push(here.join(output).with_extension("d"));
    } else {
        let names = command.sources.iter().filter_map(|(at, _)| Path::new(&command.words[*at]).file_stem());
        all.extend(names.map(|name| here.join(name).with_extension("d")));
    }
    all
}

/// A text of rules in which each file of the mirror below `root` is the one that it stands for; the command has a name for the
/// source.
fn mended(text: &str, root: &Path, source: (&Path, &str), here: &Path) -> String {
    let escaped = |name: &str| name.replace('$', "$$").replace('#', "\\#").replace(' ', "\\ ");
    let plain_root = root.display().to_string();
    let root = escaped(&plain_root);
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while let Some(at) = rest.find(&root) {
            out += &rest[..at];
            let word = &rest[at..];
            let end = end_of_word(word);
            let (path, colon) = match word[..end].strip_suffix(':') {
                Some(path) => (path, true),
                None => (&word[..end], false),
            };
            rest = &word[end..];
            let plain = path.replace("\\ ", " ").replace("\\#", "#").replace("$$", "$");
            let after = plain.strip_prefix(&plain_root).unwrap_or_default();
            let name = (source.0 == Path::new(&plain)).then(|| source.1.to_owned());
            let name = name.or_else(|| Path::new(after).is_file().then(|| seen_from(after, here)));
            if let Some(name) = name {
                out += &escaped(&name);
                out += if colon { ":" } else { "" };
            }
        }
        out += rest;
    }
    out
}

/// A file as it is called from the folder where the compiler runs, if it lies below.
pub fn seen_from(file: &str, here: &Path) -> String {
    let below = here
        .canonicalize()
        .ok()
        .and_then(|here| Path::new(file).strip_prefix(here).ok().map(Path::to_path_buf));
    below.map_or_else(|| file.to_owned(), |below| below.display().to_string())
}

/// Where a word of a rule ends: at a blank without a backslash.
fn end_of_word(text: &str) -> usize {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if c.is_whitespace() && before != '\\' {
            return at;
        }
        before = c;
    }
    text.len()
}

#[cfg(test)]
mod tests;
