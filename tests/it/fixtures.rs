//! The fixtures' translations as reviewed differences, and what must hold for every translation.
//!
//! Invariant: a difference beside a fixture is the program's own output; `UPDATE_FIXTURES=1` writes it anew.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, OnceLock};

use acc2omp::Edit;
use acc2omp::cli::{Build, CompilerFlags, Headers};
use acc2omp::diag::Severity;
use acc2omp::scan;
use acc2omp::source::{Language, Languages, Predefined, SourceFile, Span};
use acc2omp::{Guards, Options, Outcome, Profile, Source, To, Translation, report, translate};

use super::{files, root, shown};

const PROFILES: [Profile; 3] = [Profile::GENERIC, Profile::CLANG, Profile::GCC];

/// All C, C++ and Fortran files of the fixtures; of headers those of C++, which hold code.
pub fn sources() -> Vec<PathBuf> {
    let folders = ["fixtures/c", "fixtures/cpp", "fixtures/fortran", "fixtures/bad", "fixtures/scene"];
    let all = folders.into_iter().flat_map(files);
    let is_code = |path: &PathBuf| {
        let folder = path.parent().unwrap();
        Language::of(path)
            .is_some_and(|language| language != Language::Header || folder.starts_with(root("fixtures/cpp")))
    };
    all.filter(is_code).collect()
}

/// A file's source, with the headers of its folder and the files of its Fortran modules.
pub fn source(path: &Path) -> Source {
    source_defining(path, None)
}

/// The same, where options define a name, too.
pub fn source_defining(path: &Path, name: Option<&str>) -> Source {
    let bytes = std::fs::read(path).unwrap();
    let language = scan::language_of(path, &bytes, &Languages::default()).unwrap();
    let folder = path.parent().unwrap().canonicalize().unwrap();
    let beside = files(&shown(path.parent().unwrap()));
    let beside: Vec<&Path> = beside.iter().map(PathBuf::as_path).collect();
    let mut flags = flags(&beside);
    if let Some(name) = name {
        let mut predefined = Predefined::clone(&flags.predefined);
        predefined.define(name);
        flags.predefined = predefined.into();
    }
    let build = Build::from(flags);
    let headers = Headers::among(vec![folder], &beside, To::OpenMp, &Languages::default(), build);
    headers.source(SourceFile::new(shown(path), bytes, language), path)
}

/// What the mark `@difftest given -DNAME -UNAME` in these files says.
fn flags(files: &[&Path]) -> CompilerFlags {
    let mut predefined = Predefined::default();
    for path in files {
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let marks = text.lines().filter_map(|line| line.split_once("@difftest given ").map(|(_, mark)| mark));
        for word in marks.flat_map(str::split_whitespace) {
            if let Some(text) = word.strip_prefix("-D") {
                predefined.define(text);
            } else if let Some(name) = word.strip_prefix("-U") {
                predefined.undefine(name);
            }
        }
    }
    CompilerFlags { predefined: predefined.into(), ..CompilerFlags::default() }
}

/// A translation's text as the source of another.
fn again(path: &Path, translation: &Translation) -> Source {
    let mut again = source(path);
    again.file = again.file.with(translation.text.clone());
    again
}

/// Translations by file and profile, each made by the test that asks first.
type Known = HashMap<(PathBuf, &'static str), &'static OnceLock<Translation>>;

/// A file's translation for a profile, which several tests look at.
fn translated(path: &Path, profile: Profile) -> &'static Translation {
    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    let key = (path.to_path_buf(), profile.name());
    let known = *KNOWN.lock().unwrap().entry(key).or_insert_with(|| Box::leak(Box::default()));
    known.get_or_init(|| translate(&source(path), &Options { profile, ..Options::default() }))
}

/// The messages, a line each.
fn said(source: &Source, translation: &Translation) -> Vec<u8> {
    let mut said = String::new();
    for diag in &translation.diagnostics {
        let line = source.file.lines.line(diag.primary.span.start) + 1;
        assert_ne!(diag.severity, Severity::Bug, "{}:{line}: {}", source.file.name, diag.message);
        let _ = writeln!(said, "# {line}: {} {}", diag.code, diag.message);
    }
    said.into_bytes()
}

/// The difference, and the messages a line each.
fn snapshot(path: &Path, profile: Profile) -> Vec<u8> {
    let source = source(path);
    let translation = translated(path, profile);
    let mut out = said(&source, translation);
    out.extend(report::unified(shown(path), &source.file.bytes, &translation.text));
    out
}

/// Whether differences of a file stand beside it: a header that only declares has nothing to show.
fn is_shown(path: &Path) -> bool {
    let is_program = ["c", "cpp", "fortran"].iter().any(|kind| path.starts_with(root("fixtures").join(kind)));
    let is_header = path.extension().is_some_and(|ending| ending.to_string_lossy().starts_with('h'));
    is_program && !(is_header && translated(path, Profile::GENERIC).directives.is_empty())
}

#[test]
fn the_differences_are_reviewed() {
    let update = std::env::var_os("UPDATE_FIXTURES").is_some();
    let mut wrong = Vec::new();
    for path in sources().into_iter().filter(|path| is_shown(path)) {
        let generic = snapshot(&path, Profile::GENERIC);
        for profile in PROFILES {
            let place = path.with_extension(format!("{}.diff", profile.name()));
            let fresh = snapshot(&path, profile);
            // What is the same for every compiler is written once.
            let wanted = (profile == Profile::GENERIC || fresh != generic).then_some(fresh);
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

/// The difference to CUDA, and the files that stand beside it, as differences to nothing.
pub fn cuda(path: &Path) -> Vec<u8> {
    let source = source(path);
    let translation = translate(&source, &Options { to: To::Cuda, ..Options::default() });
    let mut out = said(&source, &translation);
    out.extend(report::unified(shown(path), &source.file.bytes, &translation.text));
    for file in &translation.beside {
        out.extend(report::unified(shown(&path.with_file_name(&file.name)), b"", &file.text));
    }
    out
}

/// Longer differences to CUDA than this are not read by anybody: of those, only what is left untranslated is shown.
const LONGEST: usize = 640;

/// What is reviewed of a translation to CUDA.
fn reviewed_of_cuda(path: &Path) -> Option<Vec<u8>> {
    let whole = cuda(path);
    if whole.split(|byte| *byte == b'\n').count() <= LONGEST {
        return Some(whole);
    }
    let source = source(path);
    let mut translation = translate(&source, &Options { to: To::Cuda, ..Options::default() });
    translation.diagnostics.retain(|diag| diag.severity >= Severity::Left);
    Some(said(&source, &translation)).filter(|said| !said.is_empty())
}

#[test]
fn the_differences_to_cuda_are_reviewed() {
    let update = std::env::var_os("UPDATE_FIXTURES").is_some();
    let mut wrong = Vec::new();
    for path in sources().into_iter().filter(|path| is_shown(path)) {
        let place = path.with_extension("cuda.diff");
        match reviewed_of_cuda(&path) {
            Some(fresh) if update => std::fs::write(&place, fresh).unwrap(),
            None if update => drop(std::fs::remove_file(&place)),
            fresh if std::fs::read(&place).ok() != fresh => wrong.push(shown(&place)),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "run `UPDATE_FIXTURES=1 cargo test --test it fixtures`: {wrong:?}");
}

/// What a translation says about directives that it left: the code, the words, and the directive's text.
fn said_about_left(file: &SourceFile, all: &Translation) -> Vec<(String, String, String)> {
    let left = all.diagnostics.iter().filter(|diag| diag.severity >= Severity::Left);
    left.map(|diag| {
        let line = file.lines.span(file.lines.line(diag.primary.span.start));
        (diag.code.to_string(), diag.message.clone(), file.text(line).into_owned())
    })
    .collect()
}

#[test]
fn a_translation_is_not_translated_again() {
    for path in sources() {
        for profile in PROFILES {
            let name = format!("{} {}", shown(&path), profile.name());
            let first = translated(&path, profile);
            let again = again(&path, first);
            let second = translate(&again, &Options { profile, ..Options::default() });
            assert!(second.edits.is_empty(), "{name}: {:?}", second.edits);
            assert!(second.directives.iter().all(|one| one.outcome == Outcome::Left), "{name}");
            let left = first.directives.iter().filter(|one| one.outcome == Outcome::Left).count();
            assert_eq!(left, second.directives.len(), "{name}");
            assert_eq!(
                said_about_left(&source(&path).file, first),
                said_about_left(&again.file, &second),
                "{name}"
            );
        }
    }
}

/// The lines of a file that may change: directives with their continuations, names of the library, guards.
fn lines_of_openacc(file: &SourceFile, translation: &Translation) -> BTreeSet<usize> {
    let end = |span: Span| span.end.saturating_sub(1).max(span.start);
    let of_span = |span: Span| file.lines.line(span.start)..=file.lines.line(end(span));
    let directives = translation.directives.iter().flat_map(|one| of_span(one.span));
    let names = (0..file.lines.count()).filter(|line| {
        let text = file.text(file.lines.span(*line));
        // The words of a directive may be those of a macro.
        let is_macro = text.starts_with("#define ") && text.split(' ').any(|word| word.trim_end() == "acc");
        is_macro || ["acc_", "_OPENACC", "openacc", "(acc ", "!@acc"].iter().any(|word| text.contains(word))
    });
    directives.chain(names).collect()
}

/// Whether an edit stays in lines of OpenACC, or puts whole lines between lines.
fn is_expected(file: &SourceFile, openacc: &BTreeSet<usize>, edit: &Edit) -> bool {
    // An array statement of Fortran that becomes loops.
    if edit.text.windows(13).any(|word| word == b"do acc2omp_i1") {
        return true;
    }
    // A condition that the device has computed, and a loop whose iterations gangs divide.
    if edit.text == b"acc2omp_if" || edit.text.starts_with(b"if ((unsigned)") {
        return true;
    }
    // The `if` of a jump before which a region ends, and braces around a jump that shares its line; the label of such a statement.
    let opens = [&b"then\n"[..], b"{\n", b"continue\n"].iter().any(|head| edit.text.starts_with(head));
    if edit.text == b" }" || opens && edit.text.windows(9).any(|word| word == b"exit data") {
        return true;
    }
    // The same `if` of an allocation, and its end before columns that are not read, which stay where they are.
    let is_then = edit.text.strip_prefix(b"then\n").is_some_and(|rest| rest.iter().all(|byte| *byte == b' '));
    let is_end = edit.text.starts_with(b"\n") && edit.text.ends_with(b" end if");
    let is_blank = |text: &[u8]| text.iter().all(|byte| *byte == b' ');
    let is_unread = is_blank(&edit.text) && is_blank(file.slice(edit.span));
    if file.language.is_fortran() && (is_then || is_end || is_unread) {
        return true;
    }
    // A function for the device that stands on one line with other code: the line is broken.
    let around: [&[u8]; 2] = [b"#pragma omp declare target", b"#pragma omp end declare target"];
    if edit.span.is_empty() && around.contains(&edit.text.trim_ascii()) {
        return true;
    }
    // A `do concurrent` that becomes `do` loops.
    if file.language.is_fortran() && file.text(edit.span).contains("do concurrent (") {
        return true;
    }
    let first = file.lines.line(edit.span.start);
    let line = file.lines.span(first);
    // In the body of a construct, a name of our own for a component of the user's, or for another name of the user's.
    let own = edit.text.strip_prefix(b"acc2omp_").filter(|_| file.language.is_fortran());
    // What is named in several ways has numbers after the name.
    let is_number = |byte: &u8| *byte == b'_' || byte.is_ascii_digit();
    let is_same = |own: &[u8]| {
        let name = file.slice(edit.span);
        own.len() >= name.len()
            && own[..name.len()].eq_ignore_ascii_case(name)
            && own[name.len()..].iter().all(is_number)
    };
    let names_component = own.is_some_and(is_same)
        || edit.text.windows(8).any(|word| word == b"acc2omp_")
            && file.language.is_fortran()
            && file.slice(edit.span).contains(&b'%');
    // The variable for a name that `associate` gives to it.
    let (name, variable) = (file.text(edit.span), String::from_utf8_lossy(&edit.text));
    let whole = file.text(Span { start: 0, end: file.bytes.len() as u32 });
    // The first value and the bound of a loop over the elements of a tile.
    let of_tile = !name.is_empty() && variable.contains("_tile") && !variable.contains('\n');
    // A table in which a team collects atomic updates, and the head of another loop of the nest.
    let table = variable.split_once("_of_team").map(|(array, _)| array);
    let of_table = table.is_some_and(|array| name.rsplit("::").next() == Some(array));
    let is_head = |text: &str| text.starts_with("for ") || text.starts_with("do ");
    let of_exchange = is_head(&name) && is_head(&variable) && whole.contains(&*variable);
    if of_table || of_exchange {
        return true;
    }
    if names_component || of_tile || !name.is_empty() && whole.contains(&format!("{name} => {variable}")) {
        return true;
    }
    if !edit.span.is_empty() {
        // The end of a line belongs to it: a line that goes takes its end along.
        let last = file.lines.line(edit.span.end - 1);
        return (first..=last).all(|line| openacc.contains(&line));
    }
    let rest = file.slice(Span { start: edit.span.start, end: line.end });
    let before = edit.span.start == line.start && (edit.text.ends_with(b"\n") || openacc.contains(&first));
    let after = [&b""[..], b"\n", b"\r\n"].contains(&rest);
    before || after
}

#[test]
fn nothing_else_is_touched() {
    let mut wrong = Vec::new();
    for path in sources() {
        for profile in PROFILES {
            let source = source(&path);
            let translation = translated(&path, profile);
            let openacc = lines_of_openacc(&source.file, translation);
            for edit in &translation.edits {
                let old = source.file.text(edit.span);
                if !is_expected(&source.file, &openacc, edit) {
                    let new = String::from_utf8_lossy(&edit.text);
                    wrong.push(format!("{}: `{old}` was touched, `{new}`", shown(&path)));
                }
            }
            assert_restores(&source.file.bytes, translation);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The edits are sorted and disjoint, they make the text of the source, and taken back they make the source of it.
pub fn assert_restores(bytes: &[u8], translation: &Translation) {
    let (mut made, mut restored) = (Vec::new(), Vec::new());
    let (mut read, mut written) = (0, 0);
    for edit in &translation.edits {
        let (start, end) = (edit.span.start as usize, edit.span.end as usize);
        assert!(read <= start && start <= end && end <= bytes.len(), "edits out of order: {edit:?}");
        made.extend_from_slice(&bytes[read..start]);
        made.extend_from_slice(&edit.text);
        let kept = written..written + (start - read);
        restored.extend_from_slice(&translation.text[kept.clone()]);
        restored.extend_from_slice(&bytes[start..end]);
        (read, written) = (end, kept.end + edit.text.len());
    }
    made.extend_from_slice(&bytes[read..]);
    restored.extend_from_slice(&translation.text[written..]);
    assert!(made == translation.text, "the edits do not make the text");
    assert!(restored == bytes, "the edits taken back do not make the source");
}

/// Fixtures that `--guard` changes once more when it has changed them, each with its reason.
const TWICE: &[(&str, &str)] = &[];

#[test]
fn what_is_guarded_is_not_guarded_again() {
    let own = Guards { openacc: "USE_ACC".to_owned(), openmp: "USE_OMP".to_owned() };
    let mut wrong = Vec::new();
    // The names of the macros change nothing else.
    for (path, guards) in sources().into_iter().zip([Guards::default(), own].into_iter().cycle()) {
        let options = Options { guard: Some(guards), ..Options::default() };
        let first = translate(&source(&path), &options);
        let second = translate(&again(&path, &first), &options);
        if second.text != first.text && !TWICE.iter().any(|(name, _)| shown(&path) == *name) {
            let difference = report::unified(shown(&path), &first.text, &second.text);
            wrong.push(String::from_utf8_lossy(&difference).into_owned());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        // Another test is writing into the folder that is read here.
        return;
    }
    let run = |threads: &str, folder: &str, to: &str| {
        let out = tempfile::tempdir().unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_acc2omp"));
        command.current_dir(root("")).args([folder, "--to", to, "-j", threads, "-o"]).arg(out.path());
        let output = command.output().unwrap();
        let mut tree: Vec<(String, Vec<u8>)> = walkdir::WalkDir::new(out.path())
            .sort_by_file_name()
            .into_iter()
            .flatten()
            .filter(|entry| entry.file_type().is_file() && entry.file_name() != "manifest.json")
            .map(|entry| {
                let name = entry.path().strip_prefix(out.path()).unwrap().display().to_string();
                (name, std::fs::read(entry.path()).unwrap())
            })
            .collect();
        tree.push(("messages".to_owned(), output.stderr));
        tree
    };
    let names = |tree: &[(String, Vec<u8>)]| tree.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    for (folder, to) in [("fixtures", "openmp"), ("fixtures/cpp", "cuda")] {
        let (one, four) = (run("1", folder, to), run("4", folder, to));
        assert!(one.len() > 50, "{} files", one.len());
        assert_eq!(names(&one), names(&four));
        for ((name, one), (_, four)) in one.iter().zip(&four) {
            assert!(one == four, "{name} differs");
        }
    }
}
