//! Advice on OpenACC sources: what is said, what is proposed, and where nothing may be said.
//!
//! Invariant: what is proposed is OpenACC that is translated as far as the source is.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use acc2omp::budget::Budget;
use acc2omp::source::Language;
use acc2omp::{Advice, Options, Outcome, Source, To, advice, report, translate};

use super::fixtures::{source, sources};
use super::{files, shown};

/// The programs about advice.
fn programs() -> Vec<PathBuf> {
    let all = files("fixtures/advise").into_iter();
    all.filter(|path| Language::of(path).is_some()).collect()
}

/// Loops inside of others get no levels but those that clauses say: there is more to advise.
fn as_written() -> Options {
    Options { as_written: true, ..Options::default() }
}

/// The messages, a line each with what is proposed, and the difference.
fn snapshot(path: &Path) -> Vec<u8> {
    let source = source(path);
    let advice = advice(&source, &as_written());
    let mut out = String::new();
    for diag in &advice.diagnostics {
        let line = source.file.lines.line(diag.primary.span.start) + 1;
        let _ = writeln!(out, "# {line}: {} {}: {}", diag.code, diag.message, diag.help);
    }
    let mut out = out.into_bytes();
    out.extend(report::unified(shown(path), &source.file.bytes, &advice.text));
    out
}

#[test]
fn the_advice_is_reviewed() {
    let update = std::env::var_os("UPDATE_FIXTURES").is_some();
    let mut wrong = Vec::new();
    for path in programs() {
        let place = path.with_extension(format!("{}.advice", path.extension().unwrap().to_string_lossy()));
        let fresh = snapshot(&path);
        if update {
            std::fs::write(&place, fresh).unwrap();
        } else if std::fs::read(&place).ok() != Some(fresh) {
            wrong.push(shown(&place));
        }
    }
    assert!(wrong.is_empty(), "run `UPDATE_FIXTURES=1 cargo test --test it advise`: {wrong:?}");
}

#[test]
fn nothing_is_said_without_a_proof() {
    let quiet = files("fixtures/advise").into_iter().filter(|path| shown(path).contains("/quiet"));
    for path in quiet.filter(|path| Language::of(path).is_some()) {
        let advice = advice(&source(&path), &as_written());
        assert!(advice.diagnostics.is_empty(), "{}: {:?}", shown(&path), advice.diagnostics);
    }
}

/// How many directives of a source are left untranslated.
fn left(source: &Source, to: To) -> usize {
    let translation = translate(source, &Options { to, ..Options::default() });
    translation.directives.iter().filter(|one| one.outcome == Outcome::Left).count()
}

#[test]
fn what_is_proposed_is_translated_as_far() {
    let mut wrong = Vec::new();
    for path in sources().into_iter().chain(programs()) {
        let source = source(&path);
        let Advice { text, proposed, .. } = advice(&source, &as_written());
        if proposed == 0 {
            assert_eq!(text, source.file.bytes, "{}", shown(&path));
            continue;
        }
        let mut after = source.clone();
        after.file = source.file.with(text);
        for to in [To::OpenMp, To::Cuda] {
            if left(&after, to) > left(&source, to) {
                wrong.push(format!("{} ({to:?})", shown(&path)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn both_targets_get_the_same_advice() {
    for path in programs() {
        let source = source(&path);
        let said = |to| advice(&source, &Options { to, ..as_written() }).diagnostics;
        assert_eq!(said(To::OpenMp), said(To::Cuda), "{}", shown(&path));
    }
}

#[test]
fn a_file_that_costs_too_much_gets_none() {
    let path = &programs()[0];
    let budget = Budget { steps: 100, steps_per_byte: 0, ..Budget::default() };
    let source = source(path);
    let none = advice(&source, &Options { budget, ..Options::default() });
    assert!(none.diagnostics.is_empty() && none.text == source.file.bytes);
}
