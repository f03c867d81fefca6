//! `--init`: a `[verify]` section from what lies in a folder.
//!
//! Invariant: what is not known begins with `false`, and what is guessed has a comment that says so.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::made::{Made, made};
use super::makefile::Makefile;
use super::programs::{self, Choice, Program};
use super::toolchain::{ALL, Built, LANGUAGES, Of};

/// The folder of CMake's builds: one that the tree has may be that of another machine.
const BUILD: &str = "acc2omp-build";

/// What is said of a command that is not known.
const RUN: &str = "false # the program and its arguments";

/// What is found out.
struct Found {
    /// Where from.
    from: String,
    /// What stands in the way, and what was changed.
    remarks: Vec<String>,
    /// The commands that build the programs.
    builds: [String; 3],
    /// The command that runs them.
    run: String,
}

/// A section, and what was found for it.
pub struct Section {
    /// The text for `acc2omp.toml`.
    pub text: String,
    /// The build files that were read.
    pub from: String,
    /// What stands in the way, and what was changed.
    pub remarks: Vec<String>,
}

/// The section for a folder.
pub fn section(root: &Path) -> Section {
    let Found { from, remarks, builds: [reference, noise, test], run } = found(root);
    let notes: String = remarks.iter().map(|remark| format!("# {remark}\n")).collect();
    let text = format!(
        "[verify]\n# found: {from}. The commands run in copies of this folder; fill in what begins with `false`.\n{notes}\
         reference = {{ build = {reference:?}, run = {run:?} }}\n\
         # the same program with other roundings, for tolerances that are learned:\n\
         # noise = {{ build = {noise:?} }}\n\
         # `device = false` if it shall run on the host:\n\
         test = {{ build = {test:?} }}\n\
         timeout = 600\n\n[verify.compare]\n# lines with words in `ignore` are not compared\n\
         stdout = {{ rtol = 1e-8, ignore = [] }}\n# \"out/*.dat\" = {{ rtol = 1e-8 }}\n"
    );
    Section { text, from, remarks }
}

fn found(root: &Path) -> Found {
    let text = |name: &str| fs::read_to_string(root.join(name)).ok();
    let makefile = made(root);
    if let Some(Made { builds: Some(builds), run, files, remarks }) = makefile {
        let run = run.unwrap_or_else(|| RUN.to_owned());
        return Found { from: files.join(", "), remarks, builds, run };
    }
    if let Some(text) = text("CMakeLists.txt") {
        let programs = executables(root, &text);
        let (run, remark) = match programs::choose(root, &programs) {
            Choice::One(Program { path, .. }, why) if !path.to_string_lossy().contains('$') => {
                (format!("./{BUILD}/{}", path.display()), why)
            }
            Choice::Unclear(run, why) => (run, Some(why)),
            Choice::One(..) | Choice::Nothing => (RUN.to_owned(), None),
        };
        let remarks = remark.into_iter().collect();
        return Found { from: "CMakeLists.txt".to_owned(), remarks, builds: ALL.map(cmake), run };
    }
    for name in ["compile_commands.json", "build/compile_commands.json"] {
        if let Some(builds) = text(name).and_then(|text| database(root, &text)) {
            let run = "./program # and its arguments".to_owned();
            return Found { from: name.to_owned(), remarks: Vec::new(), builds, run };
        }
    }
    let (from, remarks) = match makefile {
        Some(Made { files, remarks, .. }) => {
            (format!("{}, which does not say how all is built", files.join(", ")), remarks)
        }
        None => ("no makefile, CMakeLists.txt or compile_commands.json".to_owned(), below_makefiles(root)),
    };
    let builds =
        ["reference", "noise", "test"].map(|name| format!("false # the command that builds the {name}"));
    Found { from, remarks, builds, run: RUN.to_owned() }
}

/// What there is to say of makefiles in the folders of a folder that has none.
fn below_makefiles(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| Makefile::of(path).is_some());
    let names = folders.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let names: BTreeSet<String> = names.collect();
    let Some(first) = names.first() else { return Vec::new() };
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    vec![format!("makefiles lie in {}: begin the commands with `cd {first} &&`, for example", all.join(", "))]
}

fn cmake(of: Of) -> String {
    let mut words = format!("rm -rf {BUILD} && cmake -S . -B {BUILD}");
    for language in &LANGUAGES {
        let Built { cmake, command, gcc, clang, .. } = language;
        let compiler = if of == Of::Test { clang } else { gcc };
        let options = of.options(language);
        words += &format!(" -DCMAKE_{cmake}_COMPILER={compiler} -DCMAKE_{cmake}_FLAGS='{options}'");
        if of == Of::Test {
            words += &format!(" -DCMAKE_{cmake}_COMPILER_LAUNCHER='acc2omp;{command};--'");
        }
    }
    format!("{words} && cmake --build {BUILD}")
}

/// The programs that CMake builds. A name stands there, or is that of the project or of a variable; else it is as written.
fn executables(root: &Path, text: &str) -> Vec<Program> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or(line));
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut all = Vec::new();
    for command in ["add_executable", "target_sources"] {
        for words in calls(&text, command) {
            let Some((name, sources)) = words.split_first() else { continue };
            let path = PathBuf::from(value(&text, name).join(" "));
            let is_other = sources.first().is_some_and(|word| ["ALIAS", "IMPORTED"].contains(word));
            if is_other || command != "add_executable" && all.iter().all(|one: &Program| one.path != path) {
                continue;
            }
            let sources = sources.iter().flat_map(|word| value(&text, word));
            let sources = sources.filter(|word| programs::is_source(root, word)).map(PathBuf::from).collect();
            programs::add(&mut all, Program { path, sources });
        }
    }
    all
}

/// The arguments of all calls of a command of CMake, whose names have no case.
fn calls<'t>(text: &'t str, command: &str) -> Vec<Vec<&'t str>> {
    let small = text.to_ascii_lowercase();
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let starts = small.match_indices(command).filter(|(at, _)| !small[..*at].ends_with(is_name));
    let arguments = starts.filter_map(|(at, _)| {
        let (inner, _) = text[at + command.len()..].trim_start().strip_prefix('(')?.split_once(')')?;
        Some(inner.split_whitespace().map(|word| word.trim_matches('"')).collect())
    });
    arguments.collect()
}

/// What a word of CMake stands for; a variable that is not known stays.
fn value<'t>(text: &'t str, word: &'t str) -> Vec<&'t str> {
    let folders = ["${CMAKE_CURRENT_SOURCE_DIR}/", "${CMAKE_SOURCE_DIR}/", "${PROJECT_SOURCE_DIR}/"];
    if let Some(rest) = folders.iter().find_map(|folder| word.strip_prefix(folder)) {
        return vec![rest];
    }
    let Some(variable) = word.strip_prefix("${").and_then(|name| name.strip_suffix('}')) else {
        return vec![word];
    };
    let found = match variable {
        "PROJECT_NAME" | "CMAKE_PROJECT_NAME" => {
            calls(text, "project").into_iter().next().map(|words| words.into_iter().take(1).collect())
        }
        _ => {
            let mut sets = calls(text, "set").into_iter();
            sets.find(|words| words.first() == Some(&variable)).map(|words| words[1..].to_vec())
        }
    };
    found.filter(|words: &Vec<&str>| !words.is_empty()).unwrap_or_else(|| vec![word])
}

/// Commands for the sources of a compilation database, if all are in one language and below the folder, and have the same flags.
fn database(root: &Path, text: &str) -> Option<[String; 3]> {
    let root = root.canonicalize().ok()?;
    let entries: Vec<serde_json::Value> = serde_json::from_str(text).ok()?;
    let mut sources = BTreeSet::new();
    let mut all: Option<(&Built, Vec<String>)> = None;
    for entry in &entries {
        let folder = PathBuf::from(entry["directory"].as_str()?);
        let below = |path: &str| below(&root, &folder.join(path));
        let file = below(entry["file"].as_str()?)?;
        let language = match Path::new(&file).extension()?.to_str()? {
            "c" => &LANGUAGES[0],
            "f" | "F" | "f90" | "F90" | "f95" | "F95" | "f03" | "F03" | "f08" | "F08" | "for" => {
                &LANGUAGES[2]
            }
            _ => &LANGUAGES[1],
        };
        let words = match entry["arguments"].as_array() {
            Some(words) => {
                words.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<_>>()?
            }
            None => shlex::split(entry["command"].as_str()?)?,
        };
        let given = given(&words, &below)?;
        match &all {
            Some((other, others)) if other.cmake != language.cmake || *others != given => return None,
            Some(_) => {}
            None => all = Some((language, given)),
        }
        sources.insert(file);
    }
    let (language, given) = all?;
    let words: Vec<&str> = given.iter().chain(&sources).map(String::as_str).collect();
    let words = shlex::try_join(words).ok()?;
    Some(ALL.map(|of| {
        let options = of.options(language);
        let compiler = match of {
            Of::Test => format!("acc2omp {} -- {}", language.command, language.clang),
            Of::Reference | Of::Noise => language.gcc.to_owned(),
        };
        format!("{compiler} {options} {words} -o program -lm")
    }))
}

/// A path, seen from a folder around it.
fn below(root: &Path, path: &Path) -> Option<String> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    let below = plain.strip_prefix(root).ok()?;
    Some(if below.as_os_str().is_empty() { ".".to_owned() } else { below.to_str()?.to_owned() })
}

/// What a command tells the compiler of its sources: names, folders of headers and the version of the language.
fn given(words: &[String], below: &dyn Fn(&str) -> Option<String>) -> Option<Vec<String>> {
    let mut given = Vec::new();
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        let plain = ["-D", "-U", "-std="];
        let folders = ["-isystem", "-iquote", "-I"];
        if ["-D", "-U"].contains(&word.as_str()) {
            given.push(format!("{word}{}", rest.next()?));
        } else if plain.iter().any(|start| word.starts_with(start)) {
            given.push(word.clone());
        } else if let Some(option) = folders.iter().find(|option| word.starts_with(*option)) {
            let folder = match &word[option.len()..] {
                "" => rest.next()?,
                folder => folder,
            };
            // A folder that is not of the tree is called as it is.
            let folder = below(folder).unwrap_or_else(|| folder.to_owned());
            given.push(if *option == "-I" { format!("-I{folder}") } else { format!("{option}{folder}") });
        }
    }
    Some(given)
}

#[cfg(test)]
mod tests;
