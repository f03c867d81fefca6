//! Properties of the translator that hold for any input at all.
//!
//! Invariant: no input makes it panic, and what it does not edit comes out as it went in.

use std::time::{Duration, Instant};

use acc2omp::diag::Severity;
use acc2omp::rules::openacc;
use acc2omp::source::Language;
use acc2omp::{Options, Outcome, Source, Translation, translate};
use proptest::prelude::*;

use super::fixtures;

fn run(bytes: &[u8], language: Language) -> Translation {
    translate(&Source::new("any.c", bytes.to_vec(), language), &Options::default())
}

/// The edits make the text of the source, and every directive that is left is spoken of.
fn check(bytes: &[u8], translation: &Translation) {
    let mut out = Vec::new();
    let mut at = 0;
    for edit in &translation.edits {
        assert!(at <= edit.span.start as usize);
        out.extend_from_slice(&bytes[at..edit.span.start as usize]);
        out.extend_from_slice(&edit.text);
        at = edit.span.end as usize;
    }
    out.extend_from_slice(&bytes[at..]);
    assert_eq!(out, translation.text);
    let left = translation.directives.iter().any(|one| one.outcome == Outcome::Left);
    let said = translation.diagnostics.iter().any(|diag| diag.severity >= Severity::Left);
    assert!(!left || said, "a directive is left in silence");
}

/// A change of some bytes: where (as a part of a thousand), and what.
#[derive(Clone, Debug)]
enum Change {
    Delete(usize, usize),
    Repeat(usize, usize),
    Insert(usize, &'static str),
    LineEnds,
}

const PIECES: &[&str] = &[
    "\\\n",
    "\r\n",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    "#pragma acc ",
    "#pragma acc loop\n",
    "_Pragma(\"acc wait\")",
    "{",
    "}",
    "(",
    ")",
    ";",
    "#if 0\n",
    "#endif\n",
    "#else\n",
    "#define X ",
    "acc_wait(1);",
    "\u{e4}",
    "\0",
    "\t",
    "if (x)",
    "for (;;)",
    "goto end;",
];

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (0..1000usize, 1..60usize).prop_map(|(at, length)| Change::Delete(at, length)),
        (0..1000usize, 1..200usize).prop_map(|(at, length)| Change::Repeat(at, length)),
        (0..1000usize, prop::sample::select(PIECES)).prop_map(|(at, text)| Change::Insert(at, text)),
        Just(Change::LineEnds),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    let place = |at: usize, bytes: &[u8]| at * bytes.len() / 1000;
    match change {
        Change::Delete(at, length) => {
            let start = place(*at, bytes);
            bytes.drain(start..bytes.len().min(start + length));
        }
        Change::Repeat(at, length) => {
            let start = place(*at, bytes);
            let piece = bytes[start..bytes.len().min(start + length)].to_vec();
            bytes.splice(start..start, piece);
        }
        Change::Insert(at, text) => {
            let start = place(*at, bytes);
            bytes.splice(start..start, text.bytes());
        }
        Change::LineEnds => {
            *bytes = bytes
                .iter()
                .flat_map(|byte| if *byte == b'\n' { vec![b'\r', b'\n'] } else { vec![*byte] })
                .collect();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn bytes_without_openacc_are_kept(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assume!(!bytes.windows(3).any(|word| word.eq_ignore_ascii_case(b"acc")));
        prop_assert_eq!(run(&bytes, Language::C).text, bytes);
    }

    #[test]
    fn any_bytes_around_directives_do_no_harm(
        pieces in prop::collection::vec(prop_oneof![
            prop::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
            prop::collection::vec(any::<u8>(), 0..20),
        ], 0..30)
    ) {
        let bytes = pieces.concat();
        check(&bytes, &run(&bytes, Language::C));
        check(&bytes, &run(&bytes, Language::Cpp));
    }

    #[test]
    fn broken_fixtures_do_no_harm(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec(change(), 1..6),
        cpp in any::<bool>(),
    ) {
        let all = fixtures::sources();
        let mut bytes = std::fs::read(which.get(&all)).unwrap();
        for change in &changes {
            apply(&mut bytes, change);
        }
        check(&bytes, &run(&bytes, if cpp { Language::Cpp } else { Language::C }));
    }

    #[test]
    fn any_clauses_are_translated_or_spoken_of(
        directive in any::<prop::sample::Index>(),
        clauses in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..5),
    ) {
        let table = openacc::table();
        let directive = directive.get(&table.directives);
        let mut words = format!("#pragma acc {}", directive.name);
        for (clause, sample) in clauses.iter().filter(|_| !directive.clauses.is_empty()) {
            let word: &String = clause.get(&directive.clauses);
            let clause = table.clause(word).unwrap();
            words += &format!(" {}", sample.get(&clause.samples));
        }
        let text = format!(
            "void f(int n, double *a, double *b) {{\n    int i, s = 0;\n    {words}\n    for (i = 0; i < n; i++)\n        a[i] = b[i];\n}}\n"
        );
        let translation = run(text.as_bytes(), Language::C);
        check(text.as_bytes(), &translation);
        let bugs = translation.diagnostics.iter().filter(|diag| diag.severity == Severity::Bug).count();
        prop_assert_eq!(bugs, 0, "{}\n{}", words, String::from_utf8_lossy(&translation.text));
    }
}

/// Translates within a few seconds, even here, where nothing is optimised.
fn quick(name: &str, text: String) {
    let start = Instant::now();
    let translation = run(text.as_bytes(), Language::C);
    check(text.as_bytes(), &translation);
    assert!(start.elapsed() < Duration::from_secs(20), "{name}: {:?}", start.elapsed());
}

#[test]
fn deep_and_long_sources_do_no_harm() {
    let loop_at = "#pragma acc parallel loop\nfor (int i = 0; i < n; i++) a[i] = 0;\n";
    let body = |inside: &str| format!("void f(int n, double *a) {{\n{inside}\n}}\n");
    quick("braces", body(&format!("{}{loop_at}{}", "{".repeat(3000), "}".repeat(3000))));
    quick("parentheses", body(&format!("{loop_at}a[0] = {}1{};", "(".repeat(3000), ")".repeat(3000))));
    quick(
        "loops",
        body(&format!("#pragma acc parallel\n{}a[0] = 1;", "for (int i = 0; i < n; i++) ".repeat(2000))),
    );
    quick("else", body(&format!("{loop_at}{}a[0] = 1;", "if (n) a[1] = 2; else ".repeat(3000))));
    quick("operators", body(&format!("{loop_at}a[0] = 1{};", " + 1".repeat(20_000))));
    quick("initialiser", format!("int t[] = {{{}}};\n{}", "1, ".repeat(100_000), body(loop_at)));
    quick("line", format!("/* {} */\n{}", "x".repeat(1_000_000), body(loop_at)));
    quick("directives", body(&loop_at.repeat(2000)));
    quick("comments", body(&format!("{loop_at}{}", "/* acc */ ".repeat(50_000))));
}
