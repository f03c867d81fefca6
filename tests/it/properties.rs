//! Properties of the translator that hold for any input at all.
//!
//! Invariant: no input makes it panic, and what it does not edit comes out as it went in.

use std::collections::HashSet;
use std::time::Duration;

use acc2omp::diag::Severity;
use acc2omp::rules::openacc;
use acc2omp::scan::{self, View};
use acc2omp::source::{Form, Language, Languages, SourceFile, Span};
use acc2omp::{Guards, Options, Outcome, Profile, Source, To, Translation, translate};
use proptest::prelude::*;

use super::fixtures::{self, assert_restores};
use super::scaling::spent;

fn run(bytes: &[u8], language: Language) -> Translation {
    translate(&Source::new("any.c", bytes.to_vec(), language), &Options::default())
}

/// The bytes outside the edits are kept, and what is left untranslated is mentioned.
fn check(bytes: &[u8], translation: &Translation) {
    assert_restores(bytes, translation);
    let left = translation.directives.iter().any(|one| one.outcome == Outcome::Left);
    let said = translation.diagnostics.iter().any(|diag| diag.severity >= Severity::Left);
    assert!(!left || said, "a directive is untranslated in silence");
}

/// As `check`, and each directive that is left untranslated has a message at it, or at one around it or within it, which here are
/// `others`; the output is no more work for the translator.
fn check_each(bytes: &[u8], language: Language, others: bool) {
    let translation = &run(bytes, language);
    check(bytes, translation);
    let said: Vec<Span> = translation
        .diagnostics
        .iter()
        .filter(|diag| diag.severity >= Severity::Left)
        .map(|diag| diag.primary.span)
        .collect();
    for one in translation.directives.iter().filter(|one| one.outcome == Outcome::Left) {
        let at_it = said.iter().any(|span| one.span.start <= span.start && span.start <= one.span.end);
        assert!(
            at_it || others && !said.is_empty(),
            "`{}` is untranslated in silence:\n{}",
            one.name,
            String::from_utf8_lossy(bytes)
        );
    }
    let bugs = translation.diagnostics.iter().filter(|diag| diag.severity == Severity::Bug);
    assert_eq!(bugs.count(), 0, "the output does not parse:\n{}", String::from_utf8_lossy(bytes));
    let again = run(&translation.text, language);
    assert!(again.edits.is_empty(), "translated twice: {:?}", again.edits);
    assert_eq!(again.diagnostics.iter().filter(|diag| diag.severity == Severity::Bug).count(), 0);
}

/// A change of some bytes: where (as a part of a thousand), and what.
#[derive(Clone, Debug)]
enum Change {
    Delete(usize, usize),
    Repeat(usize, usize),
    Insert(usize, &'static str),
    /// A byte that no UTF-8 has.
    Latin(usize, u8),
    SwapLines(usize, usize),
    LineEnds,
    /// CRLF where the bits of the number say so.
    MixedEnds(u64),
    NoFinalEnd,
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

const FORTRAN: &[&str] = &[
    "\n",
    "\r\n",
    "!$acc loop\n",
    "c$acc",
    "\n!$acc parallel loop copy(a) &\n",
    "\n!$acc& ",
    "\n      ",
    "\n     &",
    "&",
    "!",
    "'",
    "\"",
    "\n#ifdef X\n",
    "\n#else\n",
    "\n#endif\n",
    "!@acc ",
    "do i = 1, n\n",
    "end do\n",
    "end\n",
    "program p\n",
    "include 'a.h'",
    "call acc_wait(1)",
    "use openacc",
    "\t",
    ";",
    "10 continue",
];

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (0..1000usize, 1..60usize).prop_map(|(at, length)| Change::Delete(at, length)),
        (0..1000usize, 1..200usize).prop_map(|(at, length)| Change::Repeat(at, length)),
        (0..1000usize, prop::sample::select(PIECES)).prop_map(|(at, text)| Change::Insert(at, text)),
        (0..1000usize, 0x80..=0xffu8).prop_map(|(at, byte)| Change::Latin(at, byte)),
        (0..1000usize, 0..1000usize).prop_map(|(one, other)| Change::SwapLines(one, other)),
        Just(Change::LineEnds),
        any::<u64>().prop_map(Change::MixedEnds),
        Just(Change::NoFinalEnd),
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
        Change::Latin(at, byte) => {
            let start = place(*at, bytes);
            bytes.insert(start, *byte);
        }
        Change::SwapLines(one, other) => {
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
            let count = lines.len();
            if count > 0 {
                lines.swap(one * count / 1000, other * count / 1000);
            }
            *bytes = lines.concat();
        }
        Change::LineEnds => *bytes = with_line_ends(bytes, u64::MAX),
        Change::MixedEnds(which) => *bytes = with_line_ends(bytes, *which),
        Change::NoFinalEnd => {
            while bytes.last().is_some_and(u8::is_ascii_whitespace) {
                bytes.pop();
            }
        }
    }
}

/// CRLF at the ends of the lines whose bit is set.
fn with_line_ends(bytes: &[u8], which: u64) -> Vec<u8> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').enumerate();
    lines
        .flat_map(|(at, line)| match line.strip_suffix(b"\n") {
            Some(rest) if which >> (at % 64) & 1 == 1 => [rest, b"\r\n"].concat(),
            _ => line.to_vec(),
        })
        .collect()
}

type Choice = Vec<(prop::sample::Index, prop::sample::Index)>;

fn choice() -> impl Strategy<Value = Choice> {
    prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 0..5)
}

/// A directive with some of its clauses; `legal` keeps to the table's limits of how often.
fn line(directive: &openacc::Directive, choice: &Choice, legal: bool) -> String {
    let table = openacc::table();
    let mut words = format!("#pragma acc {}", directive.name);
    let mut used: Vec<&str> = Vec::new();
    for (clause, sample) in choice.iter().filter(|_| !directive.clauses.is_empty()) {
        let word: &String = clause.get(&directive.clauses);
        let again = directive.once.contains(word) && used.contains(&word.as_str());
        let clash = directive.exclusive.iter().any(|list| {
            list.contains(word) && list.iter().any(|other| other != word && used.contains(&other.as_str()))
        });
        if legal && (again || clash) {
            continue;
        }
        used.push(word);
        let clause = table.clause(word).unwrap();
        words += &format!(" {}", sample.get(&clause.samples));
    }
    words
}

proptest! {
    // `PROPTEST_CASES` asks for more.
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(300)))]

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
    fn any_bytes_of_fortran_do_no_harm(
        pieces in prop::collection::vec(prop_oneof![
            4 => prop::sample::select(FORTRAN).prop_map(|piece| piece.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 0..20),
        ], 0..30)
    ) {
        let bytes = pieces.concat();
        for form in [Form::Free, Form::Fixed] {
            let language = Language::Fortran(form);
            let (scan, _) = scan::scan(&SourceFile::new("any.f", bytes.clone(), language), &View::default());
            prop_assert_eq!(scan.shadow.len(), bytes.len());
            check(&bytes, &run(&bytes, language));
        }
    }

    #[test]
    fn broken_fixtures_do_no_harm(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec(change(), 1..6),
        cpp in any::<bool>(),
    ) {
        let all = fixtures::sources();
        let path = which.get(&all);
        let mut bytes = std::fs::read(path).unwrap();
        for change in &changes {
            apply(&mut bytes, change);
        }
        let language = match Language::of(path) {
            Some(language) if language.is_fortran() => language,
            _ if cpp => Language::Cpp,
            _ => Language::C,
        };
        check(&bytes, &run(&bytes, language));
    }

    #[test]
    fn any_clauses_are_translated_or_spoken_of(
        directive in any::<prop::sample::Index>(),
        clauses in choice(),
        on_loop in choice(),
        legal in any::<bool>(),
        nested in any::<bool>(),
    ) {
        let table = openacc::table();
        let directive = directive.get(&table.directives);
        let inside = table.directives.iter().find(|one| one.name == "loop").unwrap();
        let outer = line(directive, &clauses, legal);
        let inner = if nested { line(inside, &on_loop, legal) } else { String::new() };
        let text = format!(
            "struct inner {{ double *r; }};\nstruct outer {{ double *p; struct inner *q; }};\n\
             void f(int n, int m, double *a, double *b, double **c, double d, double *p, double *q, struct outer *s) {{\n\
             int i, j, N = 2;\n{outer}\nfor (i = 0; i < n; i++)\n{inner}\nfor (j = 0; j < m; j++)\na[i * m + j] = b[j];\n}}\n"
        );
        check_each(text.as_bytes(), Language::C, nested);
    }

    #[test]
    fn any_clauses_in_fortran_are_translated_or_spoken_of(
        directive in any::<prop::sample::Index>(),
        clauses in choice(),
        on_loop in choice(),
        legal in any::<bool>(),
        nested in any::<bool>(),
        form in prop::sample::select(&[Form::Free, Form::Fixed][..]),
    ) {
        let table = openacc::table();
        let directive = directive.get(&table.directives);
        let inside = table.directives.iter().find(|one| one.name == "loop").unwrap();
        let outer = fortran_line(&line(directive, &clauses, legal), form);
        let inner = if nested { fortran_line(&line(inside, &on_loop, legal), form) } else { String::new() };
        let text = fortran_program(&outer, &inner, directive);
        let language = Language::Fortran(form);
        check_each(text.as_bytes(), language, nested || text.contains("!$acc end"));
        assert_in_columns(text.as_bytes(), &run(text.as_bytes(), language).text, form);
    }
}

/// What the properties above have found, as small as it can be.
#[test]
fn broken_sources_do_no_harm() {
    let sources = [
        // A construct that would begin with a `case`, and the loop after that.
        "void f(int *t, int n) {\n#pragma acc parallel copy(t[0:n])\ncase 1:\n#pragma acc loop gang\n\
         for (int i = 0; i < n; i++)\nt[i] = 1;\n}\n",
        // A statement with an end that cannot be read, before one that needs another before it.
        "void f() {\ndouble **d;\n*e m*/\n#pragma acc data copy(d[0:1][:2])\n{}\nx;\n}\n",
    ];
    for (source, language) in sources.iter().flat_map(|one| [(one, Language::C), (one, Language::Cpp)]) {
        check(source.as_bytes(), &run(source.as_bytes(), language));
    }
}

/// A directive of C as one of Fortran, on as many lines as its form needs.
fn fortran_line(line: &str, form: Form) -> String {
    let conditional = "a ? b : c";
    let words = line.replace("#pragma acc", "!$acc").replace(conditional, "merge(a(1), b(1), d) > 0");
    let words = words.replace("->", "%").replace("s.p", "s%p").replace("][", ",");
    let words = words.replace('[', "(").replace(']', ")");
    let operators =
        [("(&&:", "(.and.:"), ("(||:", "(.or.:"), ("(&:", "(iand:"), ("(|:", "(ior:"), ("(^:", "(ieor:")];
    let words = operators.iter().fold(words, |words, (c, fortran)| words.replace(c, fortran));
    let mut out = String::new();
    let mut length = 0;
    for word in words.split(' ') {
        if length + word.len() > 60 {
            out += if form == Form::Free { " &\n!$acc  " } else { "\n!$acc& " };
            length = 0;
        }
        length += word.len() + 1;
        if !(out.is_empty() || out.ends_with(' ')) {
            out.push(' ');
        }
        out += word;
    }
    out + "\n"
}

/// A program around an outer directive and one inside its loop, in both forms at once.
fn fortran_program(outer: &str, inner: &str, directive: &openacc::Directive) -> String {
    let end = match directive.association {
        openacc::Association::Block => format!("!$acc end {}\n", directive.name),
        _ => String::new(),
    };
    format!(
        "      module types\n      type inner\n      real, pointer :: r(:)\n      end type\n      type outer\n\
         \x20     real, pointer :: p(:)\n      type(inner), pointer :: q\n      end type\n      end module\n\
         \x20     subroutine f(n, m, a, b, c, d, p, q, s)\n      use types\n      implicit none\n\
         \x20     integer :: n, m, i, j, k\n      real :: a(n, m), b(n)\n      real, pointer :: c(:), p(:), q(:)\n\
         \x20     logical :: d\n      type(outer) :: s\n{outer}      do i = 1, n\n{inner}      do j = 1, m\n\
         \x20     a(i, j) = b(j)\n      end do\n      end do\n{end}      end subroutine\n"
    )
}

/// Lines that the translation made end where the form stops reading.
fn assert_in_columns(old: &[u8], new: &[u8], form: Form) {
    let limit = if form == Form::Fixed { 72 } else { 132 };
    let before: HashSet<&[u8]> = old.split(|byte| *byte == b'\n').collect();
    // What the user wrote after the last column may stay there.
    let after: HashSet<&[u8]> = before.iter().filter_map(|line| line.get(limit..)).collect();
    for line in new.split(|byte| *byte == b'\n').filter(|line| !before.contains(line)) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end();
        let is_short =
            text.chars().count() <= limit || line.get(limit..).is_some_and(|end| after.contains(end));
        assert!(is_short || has_comment(text), "too long for its form: `{text}`");
    }
}

/// Whether a comment stands in a line, after its sentinel.
fn has_comment(line: &str) -> bool {
    line.trim_start().get(1..).is_some_and(|rest| rest.contains('!'))
}

#[test]
fn fortran_ends_in_its_columns() {
    for path in fixtures::sources() {
        let source = fixtures::source(&path);
        let Language::Fortran(form) = source.file.language else { continue };
        for profile in [Profile::GENERIC, Profile::CLANG, Profile::GCC] {
            for guard in [None, Some(Guards::default())] {
                let options = Options { profile, guard, ..Options::default() };
                assert_in_columns(&source.file.bytes, &translate(&source, &options).text, form);
            }
        }
    }
}

/// Translates within a few seconds of this thread's own time, even here, where nothing is optimised.
fn quick(name: &str, text: String) {
    quick_in(Language::C, name, text);
}

fn quick_in(language: Language, name: &str, text: String) {
    let start = spent();
    let translation = run(text.as_bytes(), language);
    check(text.as_bytes(), &translation);
    let spent = spent().saturating_sub(start);
    assert!(spent < Duration::from_secs(20), "{name}: {spent:?}");
}

/// What stands at every level of a deep source.
fn deep(count: usize, open: &str, middle: &str, close: &str) -> String {
    format!("{}{middle}{}", open.repeat(count), close.repeat(count))
}

const LOOP: &str = "#pragma acc parallel loop\nfor (int i = 0; i < n; i++) a[i] = 0;\n";

fn body(inside: &str) -> String {
    format!("void f(int n, double *a) {{\n{inside}\n}}\n")
}

#[test]
fn deep_sources_do_no_harm() {
    let head = "for (int i = 0; i < n; i++) ";
    quick("braces", body(&deep(3000, "{", LOOP, "}")));
    quick("parentheses", body(&format!("{LOOP}a[0] = {};", deep(3000, "(", "1", ")"))));
    quick(
        "in a clause",
        body(&format!("#pragma acc parallel loop if({})\n{head}a[i] = 0;", deep(3000, "(", "1", ")"))),
    );
    quick(
        "indices",
        body(&format!("#pragma acc parallel loop\n{head}a[i] = {};", deep(3000, "a[", "0", "]"))),
    );
    quick("calls", body(&format!("{LOOP}a[0] = {};", deep(3000, "f(", "1", ")"))));
    quick("signs", body(&format!("#pragma acc parallel loop\n{head}a[i] = {}1;", "-~".repeat(3000))));
    quick("conditionals", body(&format!("{LOOP}a[0] = {}2;", "n ? 1 : ".repeat(3000))));
    quick("loops", body(&format!("#pragma acc parallel\n{}a[0] = 1;", head.repeat(3000))));
    quick("loops with braces", body(&deep(3000, "for (;;) {\n", LOOP, "}\n")));
    quick("regions", body(&deep(300, "#pragma acc data copy(a[0:n])\n{\n", LOOP, "}\n")));
    quick("else", body(&format!("{LOOP}{}a[0] = 1;", "if (n) a[1] = 2; else ".repeat(3000))));
    let (sizes, subscripts) = ("[2]".repeat(3000), "[i]".repeat(3000));
    quick(
        "sizes",
        format!("void f(int n, int x{sizes}) {{\n#pragma acc kernels\n{head} x{subscripts} = 0;\n}}\n"),
    );
    quick("types", format!("int {};\n{}", deep(3000, "(*", "x", ")"), body(LOOP)));
    quick("conditions", format!("{}\n{}", deep(3000, "#if 1\n", &body(LOOP), "#endif\n"), body(LOOP)));
}

#[test]
fn open_ends_do_no_harm() {
    for open in ["{", "(", "[", "for (;;) ", "if (n) ", "/*", "#if 1\n", "#pragma acc data copy(a)\n{"] {
        quick(open, body(&format!("{LOOP}{}", open.repeat(2000))));
        quick(open, format!("{}{}", open.repeat(2000), body(LOOP)));
    }
}

#[test]
fn long_sources_do_no_harm() {
    quick("operators", body(&format!("{LOOP}a[0] = 1{};", " + 1".repeat(20_000))));
    quick("initialiser", format!("int t[] = {{{}}};\n{}", "1, ".repeat(100_000), body(LOOP)));
    quick("comment", format!("/* {} */\n{}", "x".repeat(1_000_000), body(LOOP)));
    quick("line", format!("{} {}", "int x;".repeat(170_000), body(LOOP)));
    quick("text", format!("char *t = \"{}\";\n{}", "x".repeat(1_000_000), body(LOOP)));
    quick("directives", body(&LOOP.repeat(2000)));
    quick("comments", body(&format!("{LOOP}{}", "/* acc */ ".repeat(50_000))));
    quick("names", body(&format!("#pragma acc enter data copyin(a{})", ", a".repeat(2000))));
    quick("continued", body(&format!("#pragma acc wait{}\n", " \\\n".repeat(20_000))));
}

const DO: &str = "!$acc parallel loop\n      do i = 1, n\n      a(i) = 0\n      end do\n";

fn procedure(inside: &str) -> String {
    let head = "      subroutine f(n, a)\n      integer n, i\n      real a(n)\n";
    format!("{head}{inside}      end subroutine\n")
}

#[test]
fn deep_and_long_fortran_does_no_harm() {
    for form in [Form::Free, Form::Fixed] {
        let quick = |name: &str, text: String| quick_in(Language::Fortran(form), name, text);
        quick("ifs", procedure(&deep(1000, "      if (n > 1) then\n", DO, "      end if\n")));
        quick(
            "loops",
            procedure(&format!(
                "!$acc parallel loop\n{}",
                deep(300, "      do i = 1, n\n", "", "      end do\n")
            )),
        );
        quick("regions", procedure(&deep(300, "!$acc data copy(a)\n", DO, "!$acc end data\n")));
        quick("open regions", procedure(&format!("{}{DO}", "!$acc data copy(a)\n".repeat(1000))));
        quick("open ifs", procedure(&format!("{}{DO}", "      if (n > 1) then\n".repeat(1000))));
        quick("parentheses", procedure(&format!("{DO}      a(1) = {}\n", deep(500, "(", "1", ")"))));
        quick("directives", procedure(&DO.repeat(1000)));
        quick("procedures", procedure(DO).repeat(1000));
        quick("comments", procedure(&format!("{}{DO}", "! acc\n".repeat(50_000))));
        let continued = if form == Form::Free { " &\n!$acc " } else { "\n!$acc& " };
        quick("continued", procedure(&format!("!$acc wait(1{}, 2)\n", continued.repeat(5000))));
    }
}

/// A text with a comment after each statement and each macro in one line, in letters that are not ASCII: UTF-8 and Latin-1.
fn with_letters(bytes: &[u8]) -> Vec<u8> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').map(|line| {
        let text = line.trim_ascii_end();
        let is_macro = text.starts_with(b"#define") && !text.ends_with(b"\\");
        let is_statement = text.ends_with(b";") && !text.contains(&b'#');
        let comment: &[u8] =
            if is_macro || is_statement { b" /* gr\xc3\xb6\xc3\x9fer, gr\xf6\xdfer */" } else { b"" };
        [text, comment, line.get(text.len()..).unwrap_or_default()].concat()
    });
    lines.collect::<Vec<Vec<u8>>>().concat()
}

#[test]
fn letters_in_comments_change_nothing() {
    for path in super::files("fixtures") {
        let bytes = std::fs::read(&path).unwrap();
        let Some(language @ (Language::C | Language::Cpp)) =
            scan::language_of(&path, &bytes, &Languages::default())
        else {
            continue;
        };
        for to in [To::OpenMp, To::Cuda] {
            let options = Options { to, ..Options::default() };
            let outcomes = |bytes: Vec<u8>| -> Vec<Outcome> {
                let translation = translate(&Source::new("any.c", bytes, language), &options);
                translation.directives.iter().map(|one| one.outcome).collect()
            };
            assert_eq!(
                outcomes(with_letters(&bytes)),
                outcomes(bytes.clone()),
                "{} ({to:?})",
                super::shown(&path)
            );
        }
    }
}

/// Places in a text are those in its bytes, whatever their encoding.
#[test]
fn latin_letters_move_no_places() {
    let source = |letter: &str| {
        format!(
            "namespace N {{ double s[4];\n#pragma acc declare create(s)\n}}\nvoid f(double *a, int n)\n{{\n\
             #pragma acc parallel loop copy(a[0:n])\n\
             for (int i = 0; i < n; i++) {{ const char *t = \"{}\"; a[i] = N::s[1] + t[0] + N::s[2]; }}\n}}\n",
            letter.repeat(9)
        )
    };
    let latin = |text: &str| text.bytes().map(|byte| if byte == b'~' { 0xe9 } else { byte }).collect();
    let made = |bytes: Vec<u8>| {
        let source = Source::new("latin.cpp", bytes, Language::Cpp);
        let made = translate(&source, &Options { to: To::Cuda, ..Options::default() });
        made.beside.into_iter().map(|one| one.text).collect::<Vec<_>>().concat()
    };
    let plain = String::from_utf8(made(source("~").into_bytes())).unwrap();
    let other = String::from_utf8_lossy(&made(latin(&source("~")))).replace("\\351", "~");
    assert_eq!(plain, other);
}
