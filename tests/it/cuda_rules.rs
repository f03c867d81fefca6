//! What the rule pages say of CUDA is what the translation does, for each word of OpenACC on each directive.
//!
//! Invariant: a row is compared with the translation of an example of its page, and of the cell's own program.

use std::collections::BTreeSet;

use acc2omp::diag::{Code, Diag, Severity};
use acc2omp::rules::openacc::Directive;
use acc2omp::rules::{self, CudaRow, Meaning, Page};
use acc2omp::source::Language;
use acc2omp::{Options, Outcome, Source, To, Translation, translate};

use super::cells::{directives, in_c, page, written};
use super::rules::in_scene;

/// What is reported for the loops and pointers of a program, whatever the word is: A0211, A0212, A0218.
const ABOUT_LOOPS: [Code; 3] = [Code(211), Code(212), Code(218)];

/// Pages about words: those of implicit rules have no rows about CUDA.
fn pages() -> impl Iterator<Item = &'static Page> {
    rules::rules().pages().filter(|page| !page.entry.starts_with("implicit/"))
}

fn to_cuda(text: String) -> Translation {
    let source = Source::new("example.c", text.into_bytes(), Language::C);
    translate(&source, &Options { to: To::Cuda, ..Options::default() })
}

/// The codes that a translation tells, and whether it leaves something.
fn reported(translation: &Translation) -> (BTreeSet<Code>, bool) {
    let codes = translation.diagnostics.iter().map(|diag| diag.code).collect();
    (codes, translation.directives.iter().any(|one| one.outcome == Outcome::Left))
}

fn shows(translation: &Translation, text: &str) -> bool {
    let device = translation.beside.iter().map(|file| file.text.as_slice());
    let mut all = std::iter::once(translation.text.as_slice()).chain(device);
    all.any(|file| String::from_utf8_lossy(file).contains(text))
}

/// Whether a translation is what the row says.
fn is_so(row: &CudaRow, translation: &Translation) -> bool {
    let (codes, is_left) = reported(translation);
    let is_reported = row.code.is_none_or(|code| codes.contains(&code));
    let is_about_word = |diag: &Diag| !ABOUT_LOOPS.contains(&diag.code);
    let loses =
        |diag: &Diag| matches!(diag.severity, Severity::Weaker | Severity::Differs) && is_about_word(diag);
    match row.meaning {
        Meaning::Same => !is_left && !translation.diagnostics.iter().any(loses),
        Meaning::Weaker | Meaning::Differs => is_reported && !is_left,
        Meaning::Refused => is_reported && is_left,
    }
}

#[test]
fn every_word_of_openacc_has_rows_about_cuda() {
    let missing: Vec<&str> =
        pages().filter(|page| page.cuda.is_empty()).map(|page| page.entry.as_str()).collect();
    assert!(missing.is_empty(), "no row about CUDA: {missing:?}");
}

/// The translation of a program with the clause on the directive.
fn cell(directive: &Directive, clause: &str) -> Translation {
    let mut clauses = written(&directive.name, clause);
    for group in directive.any.iter().filter(|group| !group.iter().any(|one| one == clause)) {
        // What stands after `device_type` belongs to it.
        clauses = format!("{} {clauses}", written(&directive.name, &group[0]));
    }
    to_cuda(in_c(directive, &clauses))
}

/// The translations of a page's examples in C, and of the clause on each directive.
fn shown_by(page: &Page) -> Vec<Translation> {
    let examples = page.examples.iter().filter(|example| !example.language.is_fortran());
    let examples = examples.map(|example| to_cuda(in_scene(example, &example.input())));
    let clause = page.entry.strip_prefix("clause/");
    let has = |directive: &Directive, clause: &str| directive.clauses.iter().any(|one| one == clause);
    let cells = clause.into_iter().flat_map(|clause| {
        directives().filter(move |one| has(one, clause)).map(move |one| cell(one, clause))
    });
    examples.chain(cells).collect()
}

#[test]
fn every_row_about_cuda_has_an_example() {
    let mut wrong = Vec::new();
    for page in pages() {
        let translations = shown_by(page);
        for row in &page.cuda {
            let is_shown = |translation: &&Translation| {
                is_so(row, translation) && row.shows.as_ref().is_none_or(|text| shows(translation, text))
            };
            if !translations.iter().any(|translation| is_shown(&translation)) {
                let reported: Vec<_> = translations.iter().map(reported).collect();
                wrong.push(format!(
                    "{}: {} ({:?}); the examples: {reported:?}",
                    page.entry, row.says, row.shows
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "no example shows these rows:\n{}", wrong.join("\n"));
}

#[test]
fn every_cell_is_what_its_row_says() {
    let mut wrong = Vec::new();
    for directive in directives() {
        for clause in &directive.clauses {
            let translation = cell(directive, clause);
            let rows = page(clause).into_iter().flat_map(|page| &page.cuda);
            let mut rows = rows.filter(|row| row.is_about(&directive.name)).peekable();
            if rows.peek().is_none() || !rows.any(|row| is_so(row, &translation)) {
                wrong.push(format!("{} × {clause}: {:?}", directive.name, reported(&translation)));
            }
        }
    }
    assert!(wrong.is_empty(), "not as the rows say:\n{}", wrong.join("\n"));
}
