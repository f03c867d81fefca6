//! The house's own rules: who may import whom, how files begin, where words may stand.
//!
//! Invariant: every rule of `docs/style.md` that a machine can check is checked here.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::{files, root, shown, text};

/// What a room may name of others besides `source` and `diag`, which all may. `a::b` allows that item only.
const MAY_USE: &[(&str, &[&str])] = &[
    ("source", &[]),
    ("diag", &[]),
    ("budget", &[]),
    ("scan", &["budget"]),
    ("acc", &["scan", "rules::openacc"]),
    ("host", &["budget", "scan"]),
    ("bind", &["scan", "acc", "host"]),
    ("sema", &["budget", "scan", "acc::ast::ReductionOp", "host", "rules::pure"]),
    ("plan", &["acc", "host", "bind", "sema"]),
    ("advise", &["acc", "bind", "edit", "host", "plan", "scan", "sema"]),
    ("rules", &[]),
    ("omp", &["plan", "rules", "acc", "host", "bind", "sema"]),
    ("cuda", &["plan", "acc", "host", "bind", "sema", "scan"]),
    ("cxx", &["plan", "acc", "host", "bind", "sema", "scan"]),
    ("layout", &["scan", "host", "omp", "cuda::Change", "edit"]),
    ("edit", &["budget", "scan", "host"]),
    (
        "translate",
        &[
            "budget", "scan", "acc", "host", "bind", "sema", "plan", "rules", "omp", "cuda", "cxx", "layout",
            "edit", "pins", "report", "advise",
        ],
    ),
    ("pins", &["acc", "bind", "edit", "host", "layout", "plan", "scan", "sema"]),
    ("report", &[]),
    ("verify", &["pins", "report"]),
];

/// Rooms that may name everything: the shell around the core.
const SHELL: &[&str] = &["cli"];

/// What the lowest rooms may name of `source` and `diag`.
const LOWEST: &[(&str, &[&str])] = &[
    ("source", &[]),
    ("diag", &["source::Span"]),
    (
        "rules",
        &[
            "diag::Code",
            "diag::of_code",
            "diag::pages::title",
            "source::Form",
            "source::Language",
            "source::Span",
        ],
    ),
];

/// So many lines a function of these folders has at most, from its head to its closing brace.
const LONGEST: (usize, [&str; 2]) = (80, ["src/cuda", "src/plan"]);

/// Functions that are still longer.
const STILL_LONGER: &[(&str, &str)] = &[];

/// Files that may write OpenMP's sentinel outside `omp` and `rules`, each with its reason.
const MAY_SAY_OMP: &[(&str, &str)] =
    &[("src/pins/fortran.rs", "sees the OpenMP that a user has beside a directive; writes none")];

/// Files that make a source of bytes, each with its reason. What is made of a source is made by `SourceFile::with`, which keeps
/// what options say of names.
const MAY_MAKE_SOURCES: &[(&str, &str)] = &[
    ("src/cli/batch.rs", "what was read from the disk; `Headers::source` says what options say"),
    ("src/cli/cc/mod.rs", "a source of a command; `Headers::source` says what options say"),
    ("src/cli/cc/mirror.rs", "what that includes; `Headers::source` says what options say"),
    (
        "src/cli/headers.rs",
        "headers are read once for all files, with the options of those that include them",
    ),
    ("src/cli/verify.rs", "what was read from the disk; `Headers::source` says what options say"),
    ("src/host/c.rs", "an expression by itself"),
    ("src/source/file.rs", "`with` itself"),
    ("src/translate/calls.rs", "an expression by itself"),
    ("src/translate/fortran_cuda.rs", "functions in C++ that we write"),
    ("src/translate/input.rs", "`Source::new`, for callers of the library"),
];

fn rust_files() -> Vec<PathBuf> {
    let folders = ["src", "xtask", "tests", "benches"].into_iter().flat_map(files);
    folders.filter(|path| path.extension().is_some_and(|ending| ending == "rs")).collect()
}

/// The room of a file: its folder under `src`; `None` for the façade's files and those outside.
fn room(path: &str) -> Option<&str> {
    path.strip_prefix("src/")?.split_once('/').map(|(room, _)| room)
}

#[test]
fn every_file_begins_with_its_purpose() {
    for path in rust_files() {
        let source = text(&path);
        assert!(source.starts_with("//! "), "{}: the first line must say what the file is for", shown(&path));
    }
}

#[test]
fn no_trailing_blanks() {
    let is_text = |path: &PathBuf| path.extension().is_none_or(|ending| ending != "png");
    let folders = ["docs", "rules"].into_iter().flat_map(files).filter(is_text);
    let pages = ["README.md", "CHANGELOG.md", "Cargo.toml"].into_iter().map(root);
    for path in rust_files().into_iter().chain(folders).chain(pages) {
        for (line, number) in text(&path).lines().zip(1..) {
            assert!(!line.ends_with([' ', '\t', '\r']), "{}:{number}: trailing blank", shown(&path));
        }
    }
}

#[test]
fn rooms_import_only_what_the_table_allows() {
    let mut wrong = Vec::new();
    // The tests of a room call the rooms before it to make what it reads.
    for path in files("src").into_iter().filter(|path| !path.ends_with("tests.rs")) {
        let name = shown(&path);
        let Some(room) = room(&name).filter(|room| !SHELL.contains(room)) else { continue };
        let table = MAY_USE.iter().find(|(known, _)| *known == room);
        let (_, more) = table.unwrap_or_else(|| panic!("{name}: the room `{room}` is not in the table"));
        let low =
            LOWEST.iter().find(|(known, _)| *known == room).map_or(&["source", "diag"][..], |(_, low)| low);
        for used in uses(&text(&path)) {
            let itself = used.split("::").next() == Some(room);
            let allowed =
                low.iter().chain(*more).any(|may| used == *may || used.starts_with(&format!("{may}::")));
            if !itself && !allowed {
                wrong.push(format!("{name}: `{room}` may not use `crate::{used}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_table_allows_only_what_is_used() {
    let mut spare = Vec::new();
    for (room, more) in MAY_USE.iter().chain(LOWEST) {
        let used: BTreeSet<String> =
            files(&format!("src/{room}")).iter().flat_map(|path| uses(&text(path))).collect();
        assert!(!used.is_empty() || more.is_empty(), "`{room}` uses nothing, or is gone");
        let is_used = |may: &str| used.iter().any(|one| one == may || one.starts_with(&format!("{may}::")));
        spare.extend(more.iter().filter(|may| !is_used(may)).map(|may| format!("{room}: {may}")));
    }
    assert!(spare.is_empty(), "allowed, but not used: {spare:?}");
}

/// The paths after `crate::` in a source, groups expanded; comments do not count.
fn uses(source: &str) -> BTreeSet<String> {
    let code: String =
        source.lines().map(|line| line.split("//").next().unwrap_or(line)).collect::<Vec<_>>().join("\n");
    let mut found = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let mut paths = Vec::new();
        expand(rest, "", &mut paths);
        found.extend(paths);
    }
    found
}

/// Reads one path or group at the start of `text` and returns what comes after it.
pub fn expand<'a>(text: &'a str, prefix: &str, found: &mut Vec<String>) -> &'a str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(text.len());
    let (path, mut rest) = text.split_at(end);
    let whole = format!("{prefix}{path}");
    if !rest.starts_with('{') {
        found.push(whole.trim_end_matches("::").to_owned());
        return rest;
    }
    while let Some(inside) = rest.strip_prefix(['{', ',']) {
        let inside = inside.trim_start();
        rest = if inside.starts_with('}') { inside } else { expand(inside, &whole, found).trim_start() };
    }
    rest.strip_prefix('}').unwrap_or(rest)
}

#[test]
fn groups_of_imports_are_expanded() {
    let found = uses("use crate::a::{B, c::{D, E}, };\nuse crate::f;\nlet x = crate::g::h(); // crate::no\n");
    let expected = ["a::B", "a::c::D", "a::c::E", "f", "g::h"].map(str::to_owned);
    assert_eq!(found, BTreeSet::from(expected));
}

/// The files of the sources whose code, without its tests, is so although nothing exempts them, and the exemptions that are not
/// needed.
fn not_exempt<'a>(
    exempt: &[(&'a str, &str)],
    is_so: impl Fn(&str, &str) -> bool,
) -> (Vec<String>, BTreeSet<&'a str>) {
    let mut exempt: BTreeSet<&str> = exempt.iter().map(|(file, _)| *file).collect();
    let mut wrong = Vec::new();
    for path in files("src") {
        let name = shown(&path);
        let source = text(&path);
        let core = source.split("#[cfg(test)]").next().filter(|_| !name.ends_with("/tests.rs"));
        if is_so(&name, core.unwrap_or_default()) && !exempt.remove(name.as_str()) {
            wrong.push(name);
        }
    }
    (wrong, exempt)
}

#[test]
fn openmp_words_stand_in_their_rooms() {
    let (wrong, exempt) = not_exempt(MAY_SAY_OMP, |name, core| {
        let says = literals(core)
            .iter()
            .map(|literal| literal.replace("acc2omp", "").replace("--omp", "").replace("--existing-omp", ""))
            .any(|literal| literal.contains("omp "));
        says && !matches!(room(name), Some("omp" | "rules"))
    });
    assert!(wrong.is_empty(), "string literals with OpenMP's sentinel outside `omp` and `rules`: {wrong:?}");
    assert!(exempt.is_empty(), "these exemptions are not needed: {exempt:?}");
}

#[test]
fn what_is_made_of_a_source_keeps_what_options_say() {
    let (wrong, exempt) = not_exempt(MAY_MAKE_SOURCES, |_, core| core.contains("SourceFile::new("));
    assert!(wrong.is_empty(), "`SourceFile::new` where `with` keeps what options say: {wrong:?}");
    assert!(exempt.is_empty(), "these exemptions are not needed: {exempt:?}");
}

#[test]
fn messages_are_worded_in_the_catalogue() {
    for path in files("src") {
        let name = shown(&path);
        let source = text(&path);
        let core = source.split("#[cfg(test)]").next().unwrap_or_default();
        let builds = core.lines().any(|line| line.contains("Diag { code"));
        assert!(!builds || room(&name) == Some("diag"), "{name}: diagnostics are made by the catalogue");
    }
}

#[test]
fn functions_are_short() {
    let (longest, folders) = LONGEST;
    let mut exempt: BTreeSet<(&str, &str)> = STILL_LONGER.iter().copied().collect();
    let mut wrong = Vec::new();
    for path in
        folders.into_iter().flat_map(files).filter(|path| path.extension().is_some_and(|end| end == "rs"))
    {
        let (file, source) = (shown(&path), text(&path));
        for (name, lines) in functions(&source).into_iter().filter(|(_, lines)| *lines > longest) {
            let known = exempt.iter().find(|known| **known == (file.as_str(), name)).copied();
            if !known.is_some_and(|known| exempt.remove(&known)) {
                wrong.push(format!("{file}: `{name}` has {lines} lines"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(exempt.is_empty(), "these exemptions are not needed: {exempt:?}");
}

/// The functions of a source as rustfmt lays it out: name and number of lines.
fn functions(source: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = source.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        let head = code.split_once("fn ").filter(|(before, _)| {
            before.split_whitespace().all(|word| word.starts_with("pub") || matches!(word, "const" | "in"))
        });
        let Some((_, rest)) = head else { continue };
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let is_end = |line: &&str| line.strip_prefix(indent) == Some("}");
        let count = lines[at..].iter().position(is_end).filter(|_| !line.ends_with('}'));
        found.push((name, count.map_or(1, |count| count + 1)));
    }
    found
}

#[test]
fn functions_are_measured() {
    let source = "impl A {\n    pub fn one(&self) -> B {\n        two()\n    }\n}\n\nfn two() {}\nconst fn three(\n    a: A,\n) {\n}\n";
    assert_eq!(functions(source), [("one", 3), ("two", 1), ("three", 4)]);
}

/// The string literals of Rust code, escapes as written; comments do not count.
pub fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let (here, after) = rest[at..].split_at(1);
        rest = match here {
            "/" if after.starts_with('/') => after.split_once('\n').map_or("", |(_, next)| next),
            "'" if after.starts_with("\\") => after.get(2..).unwrap_or(""),
            "'" if after.get(1..2) == Some("'") => after.get(2..).unwrap_or(""),
            "\"" => {
                let end = closing_quote(after);
                found.push(after[..end].to_owned());
                after.get(end + 1..).unwrap_or("")
            }
            _ => after,
        };
    }
    found
}

fn closing_quote(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !escaped => return at,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

#[test]
fn literals_are_found() {
    let found = literals("a(\"x \\\" y\"); // \"no\"\nlet c = '\"'; b(\"z\")");
    assert_eq!(found, ["x \\\" y", "z"]);
}

#[test]
fn every_document_is_listed() {
    let readme = text(root("README.md"));
    let is_page = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "md");
    for path in files("docs").into_iter().filter(is_page) {
        let name = shown(&path);
        assert!(readme.contains(&format!("({name})")), "README.md does not link {name}");
    }
}

#[test]
fn every_room_has_its_chapter() {
    let chapters = text(root("docs/architecture.md"));
    for path in files("src") {
        let name = shown(&path);
        if let Some(room) = room(&name) {
            assert!(
                chapters.contains(&format!("### `{room}`")),
                "docs/architecture.md has no chapter on `{room}`"
            );
        }
    }
}

#[test]
fn no_snapshot_is_orphaned() {
    for path in files("fixtures") {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if let Some((stem, _)) = name.strip_suffix(".diff").and_then(|stem| stem.split_once('.')) {
            let endings = ["c", "h", "cpp", "hpp", "cc", "hh", "cxx", "hxx", "C", "f90", "F90", "f", "F"];
            let source =
                endings.iter().any(|ending| path.with_file_name(format!("{stem}.{ending}")).is_file());
            assert!(source, "{}: the source of this snapshot is gone", shown(&path));
        }
    }
}
