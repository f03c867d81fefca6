//! Files that a compiler includes and that are not followed: by macros in place of names, `#include_next`, `--config`, or in
//! folders that it has by itself and does not name.
//!
//! Invariant: OpenACC in such a file is reported, as it stays as it is.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::Unit;
use crate::cli::build::in_real_folder;
use crate::scan;
use crate::source::Language;

/// How options begin that bring folders or files in ways of their own.
const OPTIONS: [&str; 6] =
    ["--config", "-iwithprefix", "-cxx-isystem", "-include-pch", "-iframework", "--include-with-prefix"];

/// Options for outputs, which another run does not write; the second ones have a value.
const OUTPUTS: [&str; 5] = ["-c", "-S", "-MD", "-MMD", "-MP"];
const OUTPUTS_WITH_VALUE: [&str; 5] = ["-o", "-MF", "-MT", "-MQ", "-MJ"];

/// What there is to say of files with OpenACC that the compiler includes for a unit, and that were not read. The compiler is asked
/// only where there may be such files.
pub fn unseen_names(words: &[OsString], unit: &Unit, here: &Path) -> Vec<String> {
    let is_odd = |word: &OsString| OPTIONS.iter().any(|begin| word.to_string_lossy().starts_with(begin));
    let may_be = unit.files.values().any(|read| read.may_include_more) || words.iter().any(is_odd);
    if !may_be {
        return Vec::new();
    }
    let asking = asking(words, &unit.others);
    let mut asked = Command::new(&asking[0]);
    asked.args(&asking[1..]);
    let output = asked.arg("-M").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let Some(output) = output.ok().filter(|output| output.status.success() && !output.stdout.is_empty())
    else {
        let name = words[unit.at].display();
        let why = "it includes files that were not found, by a macro or by `#include_next`, and the compiler does not name them";
        return vec![format!("left: {name}: {why}: OpenACC in them stays as it is\n")];
    };
    let text = String::from_utf8_lossy(&output.stdout).replace("\\\n", " ");
    let names = text.split_once(": ").map_or("", |(_, names)| names).split_whitespace();
    let files = names.filter_map(|name| in_real_folder(&here.join(name)));
    let unread = files.filter(|path| !unit.files.contains_key(path) && holds_openacc(path, unit, here));
    let why = "it holds OpenACC that stays as it is, as it is not included by its name: by a macro, `#include_next` or the like";
    unread.map(|path| format!("left: {}: {why}\n", path.display())).collect()
}

/// The words of a command without its outputs and the sources at these places.
pub fn asking(words: &[OsString], sources: &[usize]) -> Vec<OsString> {
    let mut all = Vec::new();
    let mut rest = words.iter().enumerate();
    while let Some((at, word)) = rest.next() {
        let text = word.to_string_lossy();
        if OUTPUTS_WITH_VALUE.contains(&&*text) {
            rest.next();
        } else if !OUTPUTS.contains(&&*text) && !sources.contains(&at) {
            all.push(word.clone());
        }
    }
    all
}

/// What there is to say of preprocessed sources with OpenACC on a command line: they stay as they are.
pub fn preprocessed(words: &[OsString], here: &Path) -> Vec<String> {
    let is_left = |word: &&OsString| {
        let path = here.join(word);
        let language = match path.extension().and_then(OsStr::to_str) {
            Some("i") => Language::C,
            Some("ii") => Language::Cpp,
            _ => return false,
        };
        let bytes = fs::read(&path).unwrap_or_default();
        scan::has_directives(&super::mirror::included(&path, bytes, language, here))
    };
    let why =
        "it is preprocessed, and OpenACC in it stays as it is: compile the source that it was made from";
    words.iter().skip(1).filter(is_left).map(|word| format!("left: {}: {why}\n", word.display())).collect()
}

fn holds_openacc(path: &Path, unit: &Unit, here: &Path) -> bool {
    let Some(source) = unit.files.get(&unit.real).map(|read| &read.file) else { return false };
    let Ok(bytes) = fs::read(path) else { return false };
    let language = scan::language_included(path, &bytes, source.language);
    bytes.len() < u32::MAX as usize
        && scan::has_directives(&super::mirror::included(path, bytes, language, here))
}
