//! A code is a promise: it has a constructor, a page, and a fixture whose translation emits it.
//!
//! Invariant: the only codes without a fixture are those that report our own mistakes.

use std::collections::BTreeSet;

use acc2omp::budget::Budget;
use acc2omp::diag::{self, Code, Diag, pages};
use acc2omp::source::{Language, Predefined, Span};
use acc2omp::{Existing, Guards, Options, Profile, Source, To, advice, rules, translate};

use super::{files, root, shown, text};

/// Codes that no input can provoke: they report our own mistakes.
const NOT_PROVOKED: &[u16] = &[901, 902];

/// The codes of the constructors, as the catalogue's comments say.
fn catalogue() -> BTreeSet<Code> {
    let source = text(root("src/diag/catalogue.rs"));
    let codes: Vec<Code> = source
        .lines()
        .filter_map(|line| line.strip_prefix("/// ")?.split('.').next()?.parse().ok())
        .collect();
    let set: BTreeSet<Code> = codes.iter().copied().collect();
    assert_eq!(set.len(), codes.len(), "two constructors have one code");
    set
}

/// The code at the beginning of a file's name.
fn named(path: &std::path::Path) -> Code {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    name.get(..5).and_then(|code| code.parse().ok()).unwrap_or_else(|| panic!("{name}: begins with no code"))
}

#[test]
fn every_code_has_a_constructor_and_a_page() {
    let compiled: Vec<Code> = pages::PAGES.iter().map(|(code, ..)| *code).collect();
    assert!(compiled.is_sorted(), "src/diag/pages.rs is not in the order of the codes");
    let compiled: BTreeSet<Code> = compiled.into_iter().collect();
    let folder: BTreeSet<Code> = files("rules/diag").iter().map(|path| named(path)).collect();
    assert_eq!(catalogue(), compiled, "src/diag/catalogue.rs and src/diag/pages.rs differ");
    assert_eq!(folder, compiled, "rules/diag and src/diag/pages.rs differ");
}

#[test]
fn a_constructor_makes_the_code_of_its_comment() {
    let source = text(root("src/diag/catalogue.rs"));
    for constructor in source.split("\n/// A").skip(1) {
        let comment: u16 = constructor[..4].parse().unwrap();
        let after = constructor.split("diag(").nth(1).unwrap().trim_start();
        let made = after.split(',').next().unwrap();
        assert_eq!(made, comment.to_string(), "src/diag/catalogue.rs: A{comment:04}");
    }
}

#[test]
fn what_a_page_may_report_is_reported_by_a_page() {
    let able: BTreeSet<Code> =
        catalogue().into_iter().filter(|code| diag::of_code(*code, Span::at(0), "").is_some()).collect();
    let asked: BTreeSet<Code> =
        rules::rules().pages().flat_map(|page| &page.rows).filter_map(|row| row.code).collect();
    assert_eq!(able, asked, "the arms of `diag::of_code`, and the codes on rule pages");
}

#[test]
fn a_page_has_its_title_and_its_parts() {
    for (code, _, page) in pages::PAGES {
        assert!(page.starts_with(&format!("# {code}: ")), "{code}: first line");
        let parts: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let with_example = if NOT_PROVOKED.contains(&code.0) { &["Why", "What to do"][..] } else { PARTS };
        assert_eq!(parts, with_example, "{code}: parts");
        assert_eq!(page.matches("```").count() % 2, 0, "{code}: an open fence");
        let title = pages::title(*code).unwrap();
        assert!(begins_small(title) && !title.ends_with('.'), "{code}: {title}");
    }
}

const PARTS: &[&str] = &["Why", "Example", "What to do"];

#[test]
fn the_example_of_a_page_is_its_fixture() {
    for (code, _, page) in pages::PAGES.iter().filter(|(code, ..)| !NOT_PROVOKED.contains(&code.0)) {
        let fence = if page.contains("```fortran\n") { "```fortran\n" } else { "```c\n" };
        let example = page.split(fence).nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let places = ["c", "cpp", "f90", "F90"].map(|ending| root(&format!("fixtures/bad/{code}.{ending}")));
        let place = places.iter().find(|place| place.is_file()).unwrap_or(&places[0]);
        assert!(text(place).contains(example), "{code}: the page's example is not in {}", shown(place));
    }
}

#[test]
fn every_code_has_a_fixture_that_provokes_it() {
    let mut provoked = BTreeSet::new();
    let mut silent = Vec::new();
    for path in files("fixtures/bad") {
        let code = named(&path);
        let language = Language::of(&path).unwrap();
        let mut source = Source::new(shown(&path), std::fs::read(&path).unwrap(), language);
        // This one is about what options say of names.
        if code.0 == 336 {
            let mut said = Predefined::default();
            said.undefine("USE_KERNELS");
            source.file.predefined = said.into();
        }
        // From 400 they are about the way to CUDA.
        let to = if (400..500).contains(&code.0) { To::Cuda } else { To::OpenMp };
        // These are about what becomes of OpenMP that the source has.
        let existing = match code.0 {
            294 | 296 => Existing::Keep,
            295 | 322 => Existing::Replace,
            _ => Existing::Ask,
        };
        // These are about files that cost more than they may.
        let budget = match code.0 {
            333 => Budget { steps: 100, steps_per_byte: 0, ..Budget::default() },
            334 => Budget { depth: 5, ..Budget::default() },
            335 => Budget { bytes: 10_000, ..Budget::default() },
            _ => Budget::default(),
        };
        // From 500 they are advice.
        if (500..600).contains(&code.0) {
            let said = advice(&source, &Options::default()).diagnostics;
            assert!(said.iter().any(|diag| diag.code == code), "{}: {said:?}", shown(&path));
            provoked.insert(code);
            continue;
        }
        let reported: Vec<Code> = [Profile::GENERIC, Profile::CLANG, Profile::GCC]
            .into_iter()
            .flat_map(|profile| {
                let guard = (code.0 == 309).then(Guards::default);
                translate(&source, &Options { to, profile, existing, guard, budget, ..Options::default() })
                    .diagnostics
            })
            .map(|diag| diag.code)
            .collect();
        if reported.contains(&code) {
            provoked.insert(code);
        } else {
            silent.push(format!("{}: tells {reported:?} instead", shown(&path)));
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
    let exempt: BTreeSet<Code> = NOT_PROVOKED.iter().map(|code| Code(*code)).collect();
    let covered: BTreeSet<Code> = provoked.union(&exempt).copied().collect();
    assert_eq!(covered, catalogue(), "codes without a fixture, or fixtures without a code");
}

/// One of each kind of message that is built from its arguments or has an odd beginning; the others are read from the
/// catalogue's text below.
fn samples() -> Vec<Diag> {
    let at = Span::at(0);
    vec![
        diag::unknown_directive(at, "lop", Some("loop")),
        diag::unknown_clause(at, "copyy", None),
        diag::clause_missing(at, "update", "a clause that says what to move"),
        diag::api_left(at, "acc_attach"),
        diag::not_yet(at, "`bind`"),
    ]
}

/// A message or title begins with a small letter, a backtick, or a word that is written so.
fn begins_small(text: &str) -> bool {
    const NAMES: &[&str] = &["OpenMP", "OpenACC", "Fortran"];
    let first = text.split_whitespace().next().unwrap_or_default();
    first.starts_with(|c: char| c.is_lowercase() || c == '`' || c == '{') || NAMES.contains(&first)
}

#[test]
fn messages_begin_small_and_have_no_full_stop() {
    for sample in samples() {
        assert!(begins_small(&sample.message) && !sample.message.ends_with('.'), "{}", sample.message);
    }
    let source = text(root("src/diag/catalogue.rs"));
    let all = super::tidy::literals(&source);
    let words: Vec<&String> = all.iter().filter(|literal| !literal.is_empty()).collect();
    assert!(words.len() > 100, "the catalogue has more than {} texts", words.len());
    for literal in words {
        assert!(begins_small(literal), "catalogue.rs: `{literal}` begins with a capital");
        assert!(!literal.ends_with(['.', '!', ' ']), "catalogue.rs: `{literal}` ends with a stop or a blank");
    }
}
