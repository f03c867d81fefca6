//! The fixtures' translations as reviewed differences, and what must hold for every translation.
//!
//! Invariant: a difference beside a fixture is the program's own output; `UPDATE_FIXTURES=1` writes it anew.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use acc2omp::source::{Language, SourceFile, Span};
use acc2omp::{Options, Outcome, Profile, Source, Translation, report, translate};

use super::{files, root, shown, text};

const PROFILES: [Profile; 3] = [Profile::Generic, Profile::Clang, Profile::Gcc];

/// All C files of the fixtures.
pub fn sources() -> Vec<PathBuf> {
    let all = ["fixtures/c", "fixtures/bad", "fixtures/scene"].into_iter().flat_map(files);
    all.filter(|path| path.extension().is_some_and(|ending| ending == "c")).collect()
}

/// A file's source.
pub fn source(path: &Path) -> Source {
    Source::new(shown(path), std::fs::read(path).unwrap(), Language::C)
}

fn translated(path: &Path, profile: Profile) -> Translation {
    translate(&source(path), &Options { profile, ..Options::default() })
}

/// The difference, and the messages a line each.
fn snapshot(path: &Path, profile: Profile) -> Vec<u8> {
    let source = source(path);
    let translation = translated(path, profile);
    let mut said = String::new();
    for diag in &translation.diagnostics {
        let line = source.file.lines.line(diag.primary.span.start) + 1;
        let _ = writeln!(said, "# {line}: {} {}", diag.code, diag.message);
    }
    let mut out = said.into_bytes();
    out.extend(report::unified(&shown(path), &source.file.bytes, &translation.text));
    out
}

#[test]
fn the_differences_are_reviewed() {
    let update = std::env::var_os("UPDATE_FIXTURES").is_some();
    let mut wrong = Vec::new();
    for path in sources().into_iter().filter(|path| path.starts_with(root("fixtures/c"))) {
        let generic = snapshot(&path, Profile::Generic);
        for profile in PROFILES {
            let place = path.with_extension(format!("{}.diff", profile.name()));
            let fresh = snapshot(&path, profile);
            // What is the same for every compiler is written once.
            let wanted = (profile == Profile::Generic || fresh != generic).then_some(fresh);
            match wanted {
                Some(fresh) if update => std::fs::write(&place, fresh).unwrap(),
                None if update => drop(std::fs::remove_file(&place)),
                wanted if std::fs::read(&place).ok() != wanted => wrong.push(shown(&place)),
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "run `UPDATE_FIXTURES=1 cargo test --test it fixtures`: {wrong:?}");
}

#[test]
fn a_translation_is_not_translated_again() {
    for path in sources() {
        for profile in PROFILES {
            let first = translated(&path, profile);
            let left =
                |all: &Translation| all.directives.iter().filter(|one| one.outcome == Outcome::Left).count();
            let again = Source::new(shown(&path), first.text.clone(), Language::C);
            let second = translate(&again, &Options { profile, ..Options::default() });
            assert_eq!(
                String::from_utf8_lossy(&second.text),
                String::from_utf8_lossy(&first.text),
                "{} {}",
                shown(&path),
                profile.name()
            );
            assert_eq!(left(&first), left(&second), "{}", shown(&path));
        }
    }
}

/// Whether an edit's bytes are directives, names of the library, guards, or whole lines put between lines.
fn is_expected(file: &SourceFile, span: Span) -> bool {
    let first = file.lines.span(file.lines.line(span.start));
    if span.is_empty() {
        let at_end =
            [&b"\n"[..], b"\r\n", b""].contains(&file.slice(Span { start: span.start, end: first.end }));
        return span.start == first.start || at_end;
    }
    let lines = Span { start: first.start, end: span.end };
    let text = file.text(lines);
    ["acc", "_OPENACC"].iter().any(|word| text.contains(word))
}

#[test]
fn nothing_else_is_touched() {
    for path in sources() {
        let source = source(&path);
        let translation = translate(&source, &Options::default());
        let mut out = Vec::new();
        let mut at = 0;
        for edit in &translation.edits {
            assert!(at <= edit.span.start as usize, "{}: edits are not in order", shown(&path));
            assert!(
                is_expected(&source.file, edit.span),
                "{}: `{}` was touched",
                shown(&path),
                source.file.text(edit.span)
            );
            out.extend_from_slice(&source.file.bytes[at..edit.span.start as usize]);
            out.extend_from_slice(&edit.text);
            at = edit.span.end as usize;
        }
        out.extend_from_slice(&source.file.bytes[at..]);
        assert_eq!(out, translation.text, "{}", shown(&path));
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let run = |threads: &str| {
        let out = tempfile::tempdir().unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_acc2omp"));
        command.current_dir(root("")).args(["fixtures", "-j", threads, "-o"]).arg(out.path());
        let output = command.output().unwrap();
        let mut tree: Vec<(String, Vec<u8>)> = walkdir::WalkDir::new(out.path())
            .sort_by_file_name()
            .into_iter()
            .flatten()
            .filter(|entry| entry.file_type().is_file())
            .map(|entry| {
                let name = entry.path().strip_prefix(out.path()).unwrap().display().to_string();
                (name, std::fs::read(entry.path()).unwrap())
            })
            .collect();
        tree.push(("messages".to_owned(), output.stderr));
        tree
    };
    let (one, four) = (run("1"), run("4"));
    assert!(one.len() > 50, "{} files", one.len());
    for (one, four) in one.iter().zip(&four) {
        assert!(one == four, "{} and {} differ", one.0, four.0);
    }
    assert_eq!(one.len(), four.len());
    assert!(text(root("README.md")).contains("fixtures -o out"));
}
