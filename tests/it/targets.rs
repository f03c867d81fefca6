//! The same program gives the same warnings whatever it is translated to, except codes that concern one target alone.
//!
//! Invariant: what differs is listed here with its reason, and nothing is listed that does not differ.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use acc2omp::diag::{Code, Concern, Severity, pages};
use acc2omp::source::SourceFile;
use acc2omp::{DirectiveReport, Options, Outcome, Source, To, Translation, rules, translate};

use super::{fixtures, shown};

/// A warning of one translation alone.
struct Difference {
    source: &'static str,
    lines: &'static [usize],
    code: u16,
    /// The translation that reports it.
    only: To,
    /// Why the other does not.
    #[expect(dead_code, reason = "for whoever reads the list")]
    why: &'static str,
}

/// CUDA's lines stand in braces of their own.
const BRACED: &str = "no pragma of a wait follows the label";

/// All of them, each with its reason.
const DIFFERENCES: &[Difference] = &[
    difference("fixtures/bad/A0010-parameter.c", &[4], 10, To::OpenMp, WRITTEN_OUT),
    difference("fixtures/bad/A0275.c", &[7], 275, To::OpenMp, WRITTEN_OUT),
    difference("fixtures/c/macro-parameters/macro-parameters.c", &[36], 212, To::OpenMp, WRITTEN_OUT),
    difference("fixtures/c/macro-parameters/macro-parameters.c", &[44], 218, To::Cuda, WRITTEN_OUT),
    difference("fixtures/c/clauses-once/clauses-once.c", &[142], 211, To::Cuda, ASKS),
    difference("fixtures/c/kernels-conditions/kernels-conditions.c", &[32, 38, 45], 211, To::Cuda, ASKS),
    difference("fixtures/c/kernels-conditions/kernels-conditions.c", &[39], 211, To::OpenMp, ASKS),
    difference("fixtures/c/kernels-counters/kernels-counters.c", &[26], 211, To::Cuda, ASKS),
    difference("fixtures/c/kernels-standing-scalars/kernels-standing-scalars.c", &[78], 211, To::Cuda, ASKS),
    difference("fixtures/c/kernels-host-counters/kernels-host-counters.c", &[77], 211, To::Cuda, ASKS),
    difference("fixtures/c/kernels-host-counters/kernels-host-counters.c", &[82], 211, To::OpenMp, ASKS),
    difference("fixtures/cpp/kernels-conditions/kernels-conditions.cpp", &[12, 31], 211, To::Cuda, ASKS),
    difference("fixtures/bad/A0299-kernels.c", &[5], 211, To::Cuda, ASKS),
    difference("fixtures/bad/A0308-label.c", &[6], 308, To::OpenMp, BRACED),
    difference("fixtures/c/loop-forms/loop-forms.c", &[88], 11, To::OpenMp, NOT_EQUAL),
    difference("fixtures/c/loops-of-pointers/loops-of-pointers.c", &[23], 11, To::OpenMp, NOT_EQUAL),
    difference("fixtures/cpp/oddities/oddities.cpp", &[67], 11, To::OpenMp, NOT_EQUAL),
    difference(
        "fixtures/c/loops-until/loops-until.c",
        &[13, 20, 27, 30, 38, 45, 52, 55, 62],
        11,
        To::OpenMp,
        NOT_EQUAL,
    ),
    difference("fixtures/c/gangs-in-order/gangs-in-order.c", &[46], 11, To::Cuda, "A0210 says it in OpenMP"),
    difference("fixtures/c/loop-forms/loop-forms.c", &[95], 11, To::Cuda, "A0213 says it in OpenMP"),
    difference(
        "fixtures/c/sections-of-elements/sections-of-elements.c",
        &[61, 74, 81, 84, 93, 121, 130],
        302,
        To::OpenMp,
        "a compiler for OpenMP attaches no element of an array",
    ),
    difference("clause/create#11", &[41], 308, To::OpenMp, "OpenMP needs lines before the directive"),
];

const fn difference(
    source: &'static str,
    lines: &'static [usize],
    code: u16,
    only: To,
    why: &'static str,
) -> Difference {
    Difference { source, lines, code, only, why }
}

/// The place of a difference in the list.
fn listed(source: &str, line: usize, code: Code, only: To) -> Option<usize> {
    DIFFERENCES.iter().position(|one| {
        one.source == source && one.lines.contains(&line) && one.code == code.0 && one.only == only
    })
}

const WRITTEN_OUT: &str = "CUDA writes uses of macros out";
const ASKS: &str = "the device computes a condition for OpenMP; for CUDA one thread runs the branch";
const NOT_EQUAL: &str = "OpenMP before 5.0 distributes no loop with `!=`";

/// The fixtures and the examples of rule pages in C and C++, by name.
fn sources() -> Vec<(String, Source)> {
    let fixtures = fixtures::sources().into_iter().map(|path| (shown(&path), fixtures::source(&path)));
    let examples = rules::rules().pages().flat_map(|page| {
        page.examples.iter().enumerate().map(move |(number, example)| {
            let program = super::rules::in_scene(example, &example.input());
            let file = format!("example.{}", example.ending());
            let source = Source::new(file, program.into_bytes(), example.language);
            (format!("{}#{number}", page.entry), source)
        })
    });
    let all = fixtures.chain(examples);
    all.filter(|(_, source)| !source.file.language.is_fortran()).collect()
}

/// A source in both translations.
struct Pair {
    name: String,
    source: Source,
    openmp: Translation,
    cuda: Translation,
}

/// All of them, translated once for all tests.
fn pairs() -> &'static [Pair] {
    static PAIRS: OnceLock<Vec<Pair>> = OnceLock::new();
    PAIRS.get_or_init(translated)
}

fn translated() -> Vec<Pair> {
    let of = |(name, source): (String, Source)| {
        let to = |to: To| translate(&source, &Options { to, ..Options::default() });
        let (openmp, cuda) = (to(To::OpenMp), to(To::Cuda));
        Pair { name, source, openmp, cuda }
    };
    sources().into_iter().map(of).collect()
}

/// The warnings and errors that concern both targets.
fn warnings(file: &SourceFile, translation: &Translation) -> BTreeSet<(usize, Code)> {
    let common = translation
        .diagnostics
        .iter()
        .filter(|diag| diag.severity > Severity::Info && pages::concern(diag.code) == Concern::Both);
    common.map(|diag| (file.line_number(diag.primary.span.start), diag.code)).collect()
}

/// The last directive that begins on `line` or before it.
fn directive_before<'a>(
    file: &SourceFile,
    translation: &'a Translation,
    line: usize,
) -> Option<&'a DirectiveReport> {
    let mut before = translation.directives.iter();
    before.rfind(|report| file.line_number(report.span.start) <= line)
}

/// Whether a translation leaves the code at `line` for a reason of its target alone, and so has nothing more to say of it:
/// the last directive before it is left untranslated, and of that directive's construct a message says what this target cannot do.
fn leaves(file: &SourceFile, translation: &Translation, target: Concern, line: usize) -> bool {
    let is_own = translation
        .diagnostics
        .iter()
        .any(|diag| diag.severity == Severity::Left && pages::concern(diag.code) == target);
    let is_left = |report: &DirectiveReport| report.outcome == Outcome::Left;
    is_own && directive_before(file, translation, line).is_some_and(is_left)
}

#[test]
fn warnings_are_the_same() {
    let mut wrong = Vec::new();
    let mut met = BTreeSet::new();
    for Pair { name, source, openmp, cuda } in pairs() {
        let file = &source.file;
        let (of_openmp, of_cuda) = (warnings(file, openmp), warnings(file, cuda));
        let sides = [
            (To::OpenMp, of_openmp.difference(&of_cuda), cuda, Concern::Cuda),
            (To::Cuda, of_cuda.difference(&of_openmp), openmp, Concern::OpenMp),
        ];
        for (to, only, other, target) in sides {
            for (line, code) in only {
                match listed(name, *line, *code, to) {
                    Some(at) => drop(met.insert((at, *line))),
                    None if leaves(file, other, target, *line) => {}
                    None => wrong.push(format!("{name}:{line}: {code} in the translation to {to:?} alone")),
                }
            }
        }
    }
    for (at, one) in DIFFERENCES.iter().enumerate() {
        let stale = one.lines.iter().filter(|line| !met.contains(&(at, **line)));
        wrong.extend(stale.map(|line| format!("{}:{line}: is listed and does not differ", one.source)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_no_target_can_have_is_left_by_both() {
    let mut wrong = Vec::new();
    for Pair { name, source, openmp, cuda } in pairs() {
        let common = openmp
            .diagnostics
            .iter()
            .filter(|diag| diag.severity == Severity::Left && pages::concern(diag.code) == Concern::Both);
        for diag in common {
            let line = source.file.line_number(diag.primary.span.start);
            let is_left = |translation| {
                directive_before(&source.file, translation, line)
                    .is_some_and(|report| report.outcome == Outcome::Left)
            };
            let is_listed = listed(name, line, diag.code, To::OpenMp).is_some();
            if is_left(openmp) && !is_left(cuda) && !is_listed {
                wrong.push(format!("{name}:{line}: {}", diag.code));
            }
        }
    }
    assert!(wrong.is_empty(), "translated to CUDA:\n{}", wrong.join("\n"));
}

#[test]
fn codes_say_where_they_are_reported() {
    let mut wrong = Vec::new();
    for Pair { name, openmp, cuda, .. } in pairs() {
        for (translation, other) in [(openmp, Concern::Cuda), (cuda, Concern::OpenMp)] {
            let strange = translation.diagnostics.iter().filter(|diag| pages::concern(diag.code) == other);
            wrong.extend(strange.map(|diag| format!("{name}: {} concerns {other:?}", diag.code)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
