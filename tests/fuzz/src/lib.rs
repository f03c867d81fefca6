//! What a fuzzer calls, and what must be true of whatever it makes: `cargo xtask fuzz`.
//!
//! Invariant: a target reads nothing but its input, so that a finding is one file. The first byte of an input chooses the
//! language (`0` C, `1` C++, `2` and `3` Fortran in free and fixed form), the second one the options.
#![allow(clippy::unwrap_used, clippy::panic)]

mod programs;

use acc2omp::acc;
use acc2omp::budget::{self, Budget};
use acc2omp::diag::{BRANCHES_DIFFER, Diag, Severity};
use acc2omp::host;
use acc2omp::report;
use acc2omp::scan::{self, Scan, View};
use acc2omp::source::{Form, Language, SourceFile, Span};
use acc2omp::{
    DirectiveReport, Guards, Options, Outcome, Predefined, Profile, Queues, Source, To, Translation, Version,
    translate,
};

const LANGUAGES: [Language; 4] =
    [Language::C, Language::Cpp, Language::Fortran(Form::Free), Language::Fortran(Form::Fixed)];

/// The file whose text is an input, and the number of its options.
fn read(input: &[u8]) -> Option<(SourceFile, u8)> {
    read_by(input, |_, text| text.to_vec())
}

/// The file whose text `made` makes of the rest of an input, and the number of its options.
fn read_by(input: &[u8], made: fn(Language, &[u8]) -> Vec<u8>) -> Option<(SourceFile, u8)> {
    let [language, options, text @ ..] = input else { return None };
    let language = LANGUAGES[usize::from(*language) % LANGUAGES.len()];
    let name = if language.is_fortran() { "any.F90" } else { "any.c" };
    Some((SourceFile::new(name, made(language, text), language), *options))
}

fn options(number: u8) -> Options {
    let plain = Options { budget: budget(), ..Options::default() };
    let guard =
        |openacc: &str, openmp: &str| Guards { openacc: openacc.to_owned(), openmp: openmp.to_owned() };
    match number % 8 {
        0 => plain,
        1 => Options { omp: Version(52), ..plain },
        2 => Options { profile: Profile::CLANG, omp: Version(51), ..plain },
        3 => Options { profile: Profile::GCC, queues: Queues::Dropped, ..plain },
        4 => Options { guard: Some(Guards::default()), ..plain },
        5 => Options { guard: Some(guard("USE_ACC", "USE_OMP")), ..plain },
        6 => Options { to: To::Cuda, ..plain },
        _ => Options { host_fallback: Some("n > 100".to_owned()), assume_no_alias: true, ..plain },
    }
}

/// Less than what a user has, so that work which nobody counts is seen by its time.
fn budget() -> Budget {
    Budget { steps: 40_000_000, steps_of_proof: 4_000_000, ..Budget::default() }
}

/// What the words of a clause say must stand in the file.
fn assert_within(file: &SourceFile, span: Span, what: &str) {
    assert!(
        span.start <= span.end && span.end as usize <= file.bytes.len(),
        "{what} lies outside of the file"
    );
}

fn assert_reported(file: &SourceFile, said: &[Diag]) {
    said.iter().for_each(|diag| assert_within(file, diag.primary.span, "a message"));
    report::diagnostics(file, said, report::Manner::default());
}

/// The shadow has the length of the source, and what is found stands in the source, in order.
fn scanned(file: &SourceFile) -> Scan {
    let (scan, said) = scan::scan(file, &View::default());
    assert_reported(file, &said);
    assert_eq!(scan.shadow.len(), file.bytes.len());
    let lines = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
    if !file.language.is_fortran() {
        assert!(lines(&scan.shadow) <= lines(&file.bytes), "the shadow has more lines than the source");
    }
    for one in &scan.directives {
        assert_within(file, one.span, "a directive");
        one.words.iter().chain(&one.comments).for_each(|span| assert_within(file, *span, "a word"));
        assert!(one.words.is_sorted_by_key(|span| span.start), "words out of order");
    }
    assert!(scan.directives.is_sorted_by_key(|one| one.span.start), "directives out of order");
    assert!(scan.hidden.is_sorted_by_key(|span| span.start), "hidden branches out of order");
    scan
}

/// What was not edited is as it was.
fn assert_kept(bytes: &[u8], translation: &Translation) {
    let (mut made, mut read) = (Vec::new(), 0);
    for edit in &translation.edits {
        let (start, end) = (edit.span.start as usize, edit.span.end as usize);
        assert!(read <= start && start <= end && end <= bytes.len(), "edits out of order: {edit:?}");
        made.extend_from_slice(&bytes[read..start]);
        made.extend_from_slice(&edit.text);
        read = end;
    }
    made.extend_from_slice(&bytes[read..]);
    assert!(made == translation.text, "the edits do not make the text");
}

/// What is left untranslated is mentioned, and nothing is a fault of ours.
fn assert_spoken_of(file: &SourceFile, translation: &Translation) {
    assert_reported(file, &translation.diagnostics);
    let worst = translation.diagnostics.iter().map(|diag| diag.severity).max();
    let left = translation.directives.iter().any(|one| one.outcome == Outcome::Left);
    assert!(!left || worst >= Some(Severity::Left), "a directive is untranslated in silence");
    let bug = translation.diagnostics.iter().find(|diag| diag.severity == Severity::Bug);
    assert!(bug.is_none(), "a fault of ours: {bug:?}");
}

/// How many places of a text the grammar cannot read.
fn errors(file: &SourceFile, view: &View) -> Option<usize> {
    let limits = budget().of_file(file.bytes.len());
    let (scan, _) = scan::scan(file, view);
    budget::within(limits, || host::errors(file, &scan, None, &[])).ok()
}

/// What could be read before can be read afterwards, if the same branches could be read as those that are chosen then. The host's
/// text in CUDA has words that the grammar does not know.
fn assert_reads(file: &SourceFile, translation: &Translation, options: &Options) {
    if options.to == To::Cuda || options.guard.is_some() || translation.edits.is_empty() {
        return;
    }
    if [View::default(), View::of_output()].iter().all(|view| errors(file, view) == Some(0)) {
        let made = file.with(translation.text.clone());
        assert_eq!(errors(&made, &View::of_output()), Some(0), "the output does not parse");
    }
}

/// Whether two translations are the same.
fn are_same(one: &Translation, other: &Translation) -> bool {
    one.text == other.text
        && one.beside == other.beside
        && one.directives == other.directives
        && format!("{:?}", one.diagnostics) == format!("{:?}", other.diagnostics)
}

/// Whether a second run may translate what the first one left: in a source that the grammar cannot read, and where branches of the
/// preprocessor need different translations (A0250, A0337; `docs/robustness.md`, what is open).
fn may_go_on(file: &SourceFile, first: &Translation) -> bool {
    let differs = |diag: &Diag| ["A0250", "A0337"].contains(&diag.code.to_string().as_str());
    first.diagnostics.iter().any(differs) || errors(file, &View::default()) != Some(0)
}

/// Whether the grammar can read the branches that the directives stand in.
fn is_read(file: &SourceFile, first: &Translation) -> bool {
    let view = |one: &DirectiveReport| View::reaching(file, one.span.start);
    first.directives.iter().all(|one| errors(file, &view(one)) == Some(0))
}

/// The whole path, for one set of options.
fn translated(file: SourceFile, options: &Options) {
    let source = Source::among(file, Vec::new());
    let first = translated_once(&source, options);
    assert_reads(&source.file, &first, options);
    translated_twice(&source, &first, options);
}

/// A translation, with what must be true of it alone, whatever the grammar can read.
fn translated_once(source: &Source, options: &Options) -> Translation {
    let first = translate(source, options);
    assert_kept(&source.file.bytes, &first);
    assert_spoken_of(&source.file, &first);
    let other = std::thread::scope(|scope| scope.spawn(|| translate(source, options)).join().unwrap());
    assert!(are_same(&first, &other), "another thread translates in another way");
    first
}

/// That a translation is not translated again.
fn translated_twice(source: &Source, first: &Translation, options: &Options) {
    if may_go_on(&source.file, first) {
        return;
    }
    let output = Source::among(source.file.with(first.text.clone()), Vec::new());
    let again = translate(&output, options);
    let is_same = again.text == first.text || !is_read(&source.file, first);
    assert!(is_same, "the output is translated again: {:?}", again.edits);
}

/// The scanner.
pub fn scanner(input: &[u8]) {
    if let Some((file, _)) = read(input) {
        scanned(&file);
    }
}

/// The parsers of directives.
pub fn directives(input: &[u8]) {
    let Some((file, _)) = read(input) else { return };
    for one in &scanned(&file).directives {
        let (parsed, said) = acc::parse(&file, one);
        assert_reported(&file, &said);
        assert!(parsed.is_some() || !said.is_empty(), "a directive is not read, and nothing is said");
    }
}

/// The whole path.
pub fn translation(input: &[u8]) {
    if let Some((file, number)) = read(input) {
        translated(file, &options(number));
    }
}

/// The whole path for a program that the bytes of an input choose: what letters in any order reach late.
pub fn programs(input: &[u8]) {
    let made = |language: Language, choices: &[u8]| programs::program(language, choices).into_bytes();
    let Some((file, number)) = read_by(input, made) else { return };
    let (source, options) = (Source::among(file, Vec::new()), options(number));
    let _shown = ShownByFailure(&source.file.bytes);
    let first = translated_once(&source, &options);
    // To the grammar, a macro that is the head of a loop is an error or the head of a function, as what is around it has it.
    if !String::from_utf8_lossy(&source.file.bytes).contains(programs::HEAD_BY_MACRO) {
        assert_reads(&source.file, &first, &options);
    }
    // In a program that no compiler takes, more can be read once what is around it is gone.
    if first.directives.iter().all(|one| one.outcome == Outcome::Exact) {
        translated_twice(&source, &first, &options);
        translated_alike(&source, &first, &options);
    }
}

/// That a build which defines a name has what it would have if the options said so, unless it is said that branches differ.
fn translated_alike(source: &Source, first: &Translation, options: &Options) {
    let mut defining = Source::among(source.file.clone(), Vec::new());
    let mut names = Predefined::default();
    names.define(programs::NAME);
    defining.file.predefined = names.into();
    let is_read = |file: &SourceFile| errors(file, &View::default()) == Some(0);
    if options.guard.is_some() || !is_read(&source.file) || !is_read(&defining.file) {
        return;
    }
    let second = translate(&defining, options);
    let is_exact = |made: &Translation| {
        let differs = made.diagnostics.iter().any(|diag| diag.code == BRANCHES_DIFFER);
        !differs && made.directives.iter().all(|one| one.outcome == Outcome::Exact)
    };
    if is_exact(first) && is_exact(&second) {
        let lines = [first, &second].map(|made| compiled(&defining.file.with(made.text.clone())));
        assert_eq!(lines[0], lines[1], "a build that defines {} has another translation", programs::NAME);
    }
}

/// The lines of a file that one build compiles, without those that say what is used.
fn compiled(file: &SourceFile) -> Vec<String> {
    let (scan, _) = scan::scan(file, &View::of_output());
    let mut bytes = file.bytes.to_vec();
    scan.hidden.iter().for_each(|hidden| {
        bytes[hidden.range()].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ')
    });
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let checks = ["/* The device code must be built with", "/* Structs must lie in memory"];
    let end = checks.iter().filter_map(|check| text.find(check)).min().unwrap_or(text.len());
    let is_other = |line: &&str| {
        let line = line.trim_start_matches("!$").trim_start();
        // Calls in branches that the options rule out ask for queues, too.
        let is_of_queues =
            ["acc2omp_queue(0:", "acc2omp_queue[", "/acc2omp/"].iter().any(|word| line.contains(word));
        is_of_queues
            || ["#if", "#el", "#endif", "#include", "#define ACC2OMP", "use "]
                .iter()
                .any(|word| line.starts_with(word))
    };
    let lines = text[..end].lines().map(str::trim).filter(|line| !line.is_empty() && !is_other(line));
    lines.map(str::to_owned).collect()
}

/// A program that is printed when a check of it fails: nobody can read it in the input.
struct ShownByFailure<'a>(&'a [u8]);

impl Drop for ShownByFailure<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the program:\n{}", String::from_utf8_lossy(self.0));
        }
    }
}

#[cfg(test)]
mod tests {
    /// Inputs are not longer than this.
    const LONGEST: usize = 1 << 14;

    /// Inputs that are made at random for each target in `cargo test`, beside those that are kept.
    const RANDOM: usize = 200;

    #[test]
    fn scanner() {
        let target = bolero::check!(name = "scanner").with_iterations(RANDOM).with_max_len(LONGEST);
        target.for_each(|input: &[u8]| super::scanner(input));
    }

    #[test]
    fn directives() {
        let target = bolero::check!(name = "directives").with_iterations(RANDOM).with_max_len(LONGEST);
        target.for_each(|input: &[u8]| super::directives(input));
    }

    #[test]
    fn translation() {
        let target = bolero::check!(name = "translation").with_iterations(RANDOM).with_max_len(LONGEST);
        target.for_each(|input: &[u8]| super::translation(input));
    }

    #[test]
    fn programs() {
        // At random, this finds what is open (docs/robustness.md): the kept ones are tried.
        let target = bolero::check!(name = "programs").with_iterations(0).with_max_len(LONGEST);
        target.for_each(|input: &[u8]| super::programs(input));
    }
}
