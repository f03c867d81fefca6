//! Compiles sources to objects that hold code of the host and of a device.
//!
//! Invariant: an object has the name that the user's compiler would give it, and one file of device code that is linked with those
//! of other objects: CUDA's linker sees no more of them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitStatus;

use super::command::Command;
use super::device::{self, Links, Nvcc};
use super::{Unit, interfaces, run};

/// Compiles translations to CUDA, which `words` name in the sources' places, and links them if the command does.
pub fn build(
    command: &Command,
    units: &[Unit],
    mut words: Vec<OsString>,
    scratch: &Path,
    here: &Path,
) -> io::Result<ExitStatus> {
    let says = |option: &str| command.words.iter().any(|word| word == option);
    let compiles_only = says("-c") && !says("-fsyntax-only");
    if command.ends_early && !compiles_only {
        return run::words(&words);
    }
    let nvcc = Nvcc::of_environment();
    for (number, unit) in units.iter().enumerate() {
        let folder = scratch.join(format!("objects{number}"));
        fs::create_dir_all(&folder)?;
        let stem = unit.real.file_stem().unwrap_or_default();
        let object = match (&command.output, compiles_only) {
            (Some(output), true) => output.clone(),
            (None, true) => Path::new(stem).with_extension("o"),
            _ => folder.join(stem).with_extension("o"),
        };
        let status = compile(command, &words, unit, &nvcc, (&object, &folder), here)?;
        if !status.success() || (compiles_only && number + 1 == units.len()) {
            return Ok(status);
        }
        words[unit.at] = object.into_os_string();
    }
    device::link(&nvcc, &words, scratch, here)
}

/// Compiles one translation to an object; others are made in a folder.
fn compile(
    command: &Command,
    words: &[OsString],
    unit: &Unit,
    nvcc: &Nvcc,
    (object, folder): (&Path, &Path),
    here: &Path,
) -> io::Result<ExitStatus> {
    let mut alone = one_source(command, words, unit, object);
    let mut others = Vec::new();
    if unit.needs_module() {
        match interfaces::compile(words, &unit.interfaces(), folder, here)? {
            Ok(module) => others.push(module),
            Err(status) => return Ok(status),
        }
        alone.push(format!("-I{}", folder.display()).into());
    }
    let is_host_code = !unit.holds_device_code();
    let mut status = match is_host_code {
        true => run::words(&alone)?,
        false => nvcc.host(&alone, &words[unit.at], object)?,
    };
    let options = device::of_preprocessor(&command.words);
    for (number, source) in unit.device_files().iter().enumerate() {
        if !status.success() {
            return Ok(status);
        }
        let links = if number == 0 && is_host_code { Links::WithOthers } else { Links::Alone };
        let other = folder.join(format!("device{number}.o"));
        status = nvcc.device(source, &options, links, &other)?;
        others.push(other);
    }
    if status.success() && !others.is_empty() { device::join(object, &others, folder) } else { Ok(status) }
}

/// The words that compile one source of a command to an object.
fn one_source(command: &Command, words: &[OsString], unit: &Unit, object: &Path) -> Vec<OsString> {
    let mut alone = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let ending = Path::new(word).extension().and_then(OsStr::to_str);
        let is_linked = at > 0 && matches!(ending, Some("o" | "obj" | "a" | "so"));
        let is_other = is_linked || unit.others.contains(&at);
        if word == "-o" {
            at += 1;
        } else if !is_other
            && word != "-c"
            && !(word.to_string_lossy().starts_with("-o") && command.output.is_some())
        {
            alone.push(word.clone());
        }
        at += 1;
    }
    if alone.iter().any(|word| word.to_string_lossy().starts_with("-flto")) {
        // CUDA's linker reads code of the host's machine.
        alone.push("-fno-lto".into());
    }
    alone.extend(["-c".into(), "-o".into(), object.into()]);
    alone
}
