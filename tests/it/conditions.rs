//! Directives that stand under a condition without the code that they govern.
//!
//! Invariant: where the condition does not hold, nothing of the translation is there: it is the source.

use acc2omp::source::{Form, Language};
use acc2omp::{Code, Options, Source, To, translate};

use super::fixtures::sources;
use super::{root, shown, text};

/// What sources of their own have that this test does not follow: conditions, macros, routines and the library.
const NOT_FOLLOWED: [&str; 8] =
    ["#if", "_Pragma", "acc routine", "acc declare", "openacc.h", "acc_", "acc2omp:", "define ACC"];

/// The source with each directive under a condition of its own; `None` if it has what is not followed, or no directive.
fn under_conditions(text: &str) -> Option<String> {
    if NOT_FOLLOWED.iter().any(|word| text.contains(word)) {
        return None;
    }
    let (mut out, mut goes_on, mut has_some) = (String::new(), false, false);
    for line in text.split_inclusive('\n') {
        let is_directive = line.trim_start().starts_with("#pragma acc");
        if is_directive {
            out += "#ifdef SAID\n";
        }
        let was_open = is_directive || goes_on;
        goes_on = was_open && line.trim_end().ends_with('\\');
        has_some |= is_directive;
        out += line;
        if was_open && !goes_on {
            out += "#endif\n";
        }
    }
    has_some.then_some(out)
}

/// The words that are compiled where the condition does not hold, except the header that a translation includes.
fn without(text: &str) -> Vec<&str> {
    let (mut depth, mut kept) = (0, Vec::new());
    for line in text.lines().map(str::trim) {
        if line.starts_with("#if") {
            depth += 1;
        } else if line == "#endif" {
            depth -= 1;
        } else if depth == 0 && !line.starts_with("#include \"") && !is_implied(line) {
            kept.extend(line.split_whitespace());
        }
    }
    kept
}

/// Whether a line is about functions that constructs call: they are made for the device, called or not.
fn is_implied(line: &str) -> bool {
    ["#pragma omp declare target", "#pragma omp end declare target"].contains(&line)
}

/// Compares sources whose directives stand under conditions with what they become, without what the conditions choose.
fn check(to: To) {
    let (mut count, mut wrong) = (0, Vec::new());
    let options = Options { to, ..Options::default() };
    for path in sources() {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let Some(language @ (Language::C | Language::Cpp)) = Language::of(&path) else { continue };
        let Some(text) = under_conditions(&text) else { continue };
        let source = Source::new("any.c", text.clone().into_bytes(), language);
        let translation = translate(&source, &options);
        let made = String::from_utf8_lossy(&translation.text).into_owned();
        count += 1;
        // What checks the layouts of structs changes nothing.
        let made = made.split("/* Structs must lie in memory").next().unwrap_or_default();
        if without(&text) != without(made) {
            wrong.push(shown(&path));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 100, "{count} sources");
}

#[test]
fn nothing_of_openmp_is_there_where_the_condition_does_not_hold() {
    check(To::OpenMp);
}

#[test]
fn nothing_of_cuda_is_there_where_the_condition_does_not_hold() {
    check(To::Cuda);
}

/// How many conditions of a source are reported that OpenMP for the host wakes up what they choose.
fn woken(text: &str, language: Language, options: &Options) -> bool {
    let source = Source::new("any", text.as_bytes().to_vec(), language);
    translate(&source, options).diagnostics.iter().any(|diag| diag.code.0 == 340)
}

#[test]
fn conditions_on_openacc_that_choose_code_are_reported() {
    const ACC: &str = "#pragma acc wait\n";
    let c =
        |text: &str| woken(&format!("void f(int n)\n{{\n{text}}}\n{ACC}"), Language::C, &Options::default());
    assert!(c("#ifdef _OPENACC\n    n = 3;\n#endif\n"));
    assert!(c("#ifndef _OPENACC\n    n = 3;\n#else\n#pragma acc wait\n#endif\n"));
    assert!(
        c("#ifdef _OPENACC\n#define N 3\n#endif\n") && c("#ifdef _OPENACC\n#include \"gpu.h\"\n#endif\n")
    );
    assert!(!c("#ifdef _OPENACC\n#pragma acc wait(1)\n    /* n = 3; */\n#endif\n"));
    assert!(!c("#if defined(_OPENACC) && defined(GPU)\n#pragma acc wait(n)\n#endif\n"));
    assert!(!woken(
        &format!("#ifdef _OPENACC\n#include <openacc.h>\n#endif\n{ACC}"),
        Language::C,
        &Options::default()
    ));
    let macros = "#ifdef _OPENACC\n#define LOOP _Pragma(\"acc loop\")\n#else\n#define LOOP\n#endif\n";
    assert!(!woken(&format!("{macros}{ACC}"), Language::C, &Options::default()));
    let fortran = |text: &str| {
        let text = format!("subroutine s(n)\n{text}integer n\n!$acc wait\nend subroutine\n");
        woken(&text, Language::Fortran(acc2omp::source::Form::Free), &Options::default())
    };
    assert!(fortran("#ifdef _OPENACC\nuse gpu\n#endif\n"));
    assert!(!fortran("#ifdef _OPENACC\nuse openacc\n#endif\n"));
    let cuda = Options { to: To::Cuda, ..Options::default() };
    assert!(!woken(&format!("#ifdef _OPENACC\nint n;\n#endif\n{ACC}"), Language::C, &cuda));
    let own = acc2omp::Guards { openacc: "_OPENACC".to_owned(), openmp: "OMP".to_owned() };
    let guarded = Options { guard: Some(own), ..Options::default() };
    assert!(!woken(&format!("#ifdef _OPENACC\nint n;\n#endif\n{ACC}"), Language::C, &guarded));
}

/// Whether another branch of the preprocessor is said to need another translation.
fn needs_another(text: &str, language: Language, options: &Options) -> bool {
    let source = Source::new("a", text.as_bytes().to_vec(), language);
    translate(&source, options).diagnostics.iter().any(|one| one.code.0 == 250)
}

#[test]
fn code_of_other_branches_is_compared() {
    let function = |before: &str, body: &str, after: &str| {
        format!(
            "double f(int n, double *restrict a, double *restrict b)\n{{\n    double t = 0.0, m = 0.0;\n{before}\
             #pragma acc kernels copy(a[0:n]) copyin(b[0:n])\n    for (int i = 1; i < n; i++) {{\n\
             {body}        a[i] = b[i];\n    }}\n{after}    return m;\n}}\n"
        )
    };
    let branch = |code: &str| format!("#ifdef MORE\n{code}\n#endif\n");
    let is_reported = |text: &str| needs_another(text, Language::C, &Options::default());
    for reported in [
        function("", &branch("a[i] += a[i - 1];"), ""),
        function("", &branch("m += b[i];"), ""),
        function("", &branch("t = b[i]; b[i] = t;"), ""),
        function("", "        t = b[i];\n", &branch("m = t;")),
        function(&branch("b = a;"), "", ""),
        format!(
            "{}\n#define COUNT(x)\n#endif\n{}",
            "#ifdef MORE\n#define COUNT(x) m += (x)\n#else",
            function("", "COUNT(b[i]);\n", "")
        ),
    ] {
        assert!(is_reported(&reported), "{reported}");
    }
    for same in [
        function("", &branch("/* nothing */"), ""),
        function("", &branch("b[i] = 2.0 * b[i];"), "").replace("copyin(b", "copy(b"),
        function(&branch("n = n / 2;"), "", &branch("m = 1.0;")),
        function("", "", "").replace("double t", "#ifdef MORE\n    int more;\n#endif\n    double t"),
    ] {
        assert!(!is_reported(&same), "{same}");
    }
    let known = function("", &branch("m += b[i];"), "");
    let mut source = Source::new("a", known.into_bytes(), Language::C);
    std::sync::Arc::make_mut(&mut source.file.predefined).define("MORE");
    assert!(translate(&source, &Options::default()).diagnostics.iter().all(|one| one.code.0 != 250));
    let fortran = "subroutine f(n, a)\ninteger :: n, i\nreal :: a(n)\n!$acc kernels copy(a)\ndo i = 2, n\n#ifdef MORE\n\
                   a(i) = a(i - 1)\n#else\na(i) = 1.0\n#endif\nend do\n!$acc end kernels\nend subroutine\n";
    assert!(needs_another(fortran, Language::Fortran(acc2omp::source::Form::Free), &Options::default()));
}

#[test]
fn statements_of_macros_are_compared_too() {
    let c = |first: &str, second: &str, used: &str| {
        let text = format!(
            "#ifdef MORE\n#define COUNT {first}\n#else\n#define COUNT {second}\n#endif\nint f(int n, int *restrict a)\n{{\n    \
             int m = 0, t = 0;\n#pragma acc kernels loop copy(a[0:n])\n    for (int i = 1; i < n; i++) {{\n{used}\n        \
             a[i] = i;\n    }}\n    return m;\n}}\n"
        );
        needs_another(&text, Language::C, &Options::default())
    };
    assert!(c("m++;", "", "COUNT"));
    assert!(c("", "m++;", "COUNT"));
    assert!(c("t = a[i - 1]", "t = 1", "COUNT; a[i] = t;"));
    assert!(!c("t = 2", "t = 1", "COUNT; a[i] = t;"));
    let fortran = |first: &str, second: &str, used: &str| {
        let text = format!(
            "#ifdef MORE\n#define ADD(v) {first}\n#else\n#define ADD(v) {second}\n#endif\nsubroutine f(n, a, m)\ninteger :: n, i, m, t, \
             a(n)\n!$acc parallel loop copy(a)\ndo i = 1, n\n{used}\na(i) = i\nend do\nend subroutine\n"
        );
        needs_another(&text, Language::Fortran(acc2omp::source::Form::Free), &Options::default())
    };
    assert!(fortran("t = (v)", "continue", "ADD(i)"));
    assert!(fortran("continue", "t = (v)", "ADD(i)"));
    assert!(!fortran("t = (v)", "t = 2 * (v)", "ADD(i)"));
}

/// A source in C with both texts.
fn side_by_side(text: &str) -> String {
    side_by_side_in(Language::C, text)
}

fn side_by_side_in(language: Language, text: &str) -> String {
    let options = Options { guard: Some(acc2omp::Guards::default()), ..Options::default() };
    let made = translate(&Source::new("a", text.as_bytes().to_vec(), language), &options);
    String::from_utf8_lossy(&made.text).into_owned()
}

#[test]
fn comments_of_a_directive_without_a_counterpart_stay_with_it() {
    let text = "subroutine f(n, a)\n  integer :: n, k\n  real :: a(n)\n  !$acc routine gang\n  !$acc loop gang & ! one\n  !$acc worker ! two\n  do k = 1, n\n    a(k) = 1\n  end do\nend subroutine\n";
    let made = side_by_side_in(Language::Fortran(Form::Free), text);
    let directive = "\n  !$acc loop gang & ! one\n  !$acc worker ! two\n  do k = 1, n\n";
    assert!(made.contains("omp_get_team_num()") && made.contains(directive), "{made}");
    assert_eq!(side_by_side_in(Language::Fortran(Form::Free), &made), made);
}

#[test]
fn a_comment_that_ends_beside_a_directive_is_whole_in_both_texts() {
    let made = side_by_side(
        "void f(int *a)\n{\n    /* one,\n       two */ _Pragma(\"acc parallel loop copy(a[0:4])\")\n    \
         for (int i = 0; i < 4; i++)\n        a[i] = i;\n}\n",
    );
    let head = "#if defined(_OPENMP) && !defined(_OPENACC)";
    assert!(made.contains(&format!("{head}\n    /* one,\n       two */ _Pragma(\"omp")), "{made}");
    assert!(made.contains("#else\n    /* one,\n       two */ _Pragma(\"acc"), "{made}");
}

#[test]
fn a_build_with_neither_name_is_that_of_the_original() {
    let text =
        "#include <openacc.h>\nvoid f(int *a)\n{\n    acc_init(acc_device_default);\n    acc_wait(2);\n}\n";
    let made = side_by_side(text);
    let (mut seen, mut is_shown) = (String::new(), true);
    for line in made.lines() {
        match line {
            "#if defined(_OPENMP) && !defined(_OPENACC)" => is_shown = false,
            "#if defined(_OPENACC) || !defined(_OPENMP)" | "#else" | "#endif" => is_shown = true,
            line if is_shown => seen += &format!("{line}\n"),
            _ => {}
        }
    }
    assert_eq!(seen, text, "{made}");
    assert!(made.contains("acc2omp_wait(2)"), "{made}");
}

#[test]
fn a_macro_that_waits_calls_nothing_without_openmp() {
    let made = side_by_side(
        "#define WAIT _Pragma(\"acc wait(1)\")\nvoid f(int *a)\n{\n#pragma acc parallel loop copy(a[0:4]) async(1)\n    \
         for (int i = 0; i < 4; i++)\n        a[i] = i;\n    WAIT\n}\n",
    );
    let wanted = "#if defined(_OPENMP) && !defined(_OPENACC)\n#define WAIT acc2omp_wait(1);\n#else\n#define WAIT _Pragma";
    assert!(made.contains(wanted), "{made}");
}

#[test]
fn what_stands_beside_openmp_s_code_stays_when_the_rest_was_edited() {
    let made = side_by_side(
        "#include <openacc.h>\nint f(void)\n{\n#ifdef _OPENACC\n    return acc_get_device_num(acc_device_default);\n\
         #else\n    return 1;\n#endif\n}\n",
    );
    let more = "void g(int *a)\n{\n#pragma acc parallel loop copy(a[0:4])\n    for (int i = 0; i < 4; i++)\n        a[i] = i;\n}\n";
    let edited = format!("{made}{more}");
    let again = side_by_side(&edited);
    assert!(again.starts_with(&made), "{again}");
    assert!(again.contains("#elif defined(_OPENMP)\n#pragma omp target"), "{again}");
    let options = Options { guard: Some(acc2omp::Guards::default()), ..Options::default() };
    let said = translate(&Source::new("a.c", edited.into_bytes(), Language::C), &options).diagnostics;
    assert!(said.iter().all(|one| one.code.0 != 306), "{said:?}");
}

#[test]
fn openacc_s_number_becomes_openmp_s() {
    let text = |value: &str| {
        format!("#ifdef _OPENACC\nint v = {value};\n#endif\nvoid f(void)\n{{\n#pragma acc wait\n}}\n")
    };
    let reported = |text: &str| {
        let made = translate(&Source::new("a.c", text.as_bytes().to_vec(), Language::C), &Options::default());
        (
            made.diagnostics.iter().any(|one| one.code.0 == 341),
            String::from_utf8_lossy(&made.text).into_owned(),
        )
    };
    let (is_reported, made) = reported(&text("_OPENACC"));
    assert!(is_reported && made.starts_with("#ifdef _OPENMP\nint v = _OPENMP;\n"), "{made}");
    assert!(!reported(&text("3 /* _OPENACC */")).0);
    // Where the condition stays, so does what stands under it.
    let (is_reported, made) = reported(&text("_OPENACC").replace("#ifdef _OPENACC", "#if _OPENACC > 201306"));
    assert!(!is_reported && made.contains("int v = _OPENACC;"), "{made}");
}

#[test]
fn code_of_other_branches_is_compared_for_cuda() {
    let cuda = Options { to: To::Cuda, ..Options::default() };
    let function = |before: &str, after: &str| {
        format!(
            "double f(int n, double *restrict a, double *b)\n{{\n    double t = 0.0, m = 0.0;\n{before}\
             #pragma acc kernels copy(a[0:n]) copyin(b[0:n])\n    for (int i = 1; i < n; i++) {{\n        t = b[i];\n\
                     a[i] = t;\n    }}\n{after}    return m;\n}}\n"
        )
    };
    let branch = |code: &str| format!("#ifdef MORE\n{code}\n#endif\n");
    assert!(needs_another(&function("", &branch("m = t;")), Language::C, &cuda));
    assert!(!needs_another(&function("", &branch("m = 1.0;")), Language::C, &cuda));
    assert!(!needs_another(&function("", "m = t;\n"), Language::C, &cuda));
}

/// The lines of OpenMP that a `kernels` construct becomes whose loop has a directive under this condition, for such options.
fn launched(condition: &str, otherwise: &str, reported: &[&str]) -> Vec<String> {
    let text = format!(
        "void f(int a[64])\n{{\n#pragma acc kernels copy(a[0:64])\n{condition}\n#pragma acc loop independent\n{otherwise}#endif\n    \
         for (int i = 0; i < 64; i++)\n        a[i] += 1;\n}}\n"
    );
    let mut source = Source::new("a.c", text.into_bytes(), Language::C);
    let mut said = acc2omp::source::Predefined::default();
    reported.iter().for_each(|name| match name.strip_prefix('!') {
        Some(name) => said.undefine(name),
        None => said.define(name),
    });
    source.file.predefined = said.into();
    let text = String::from_utf8(translate(&source, &Options::default()).text).unwrap();
    let words =
        |line: &str| Some(line.strip_prefix("#pragma ")?.split(' ').take(2).collect::<Vec<_>>().join(" "));
    text.lines().filter_map(words).collect()
}

#[test]
fn a_construct_is_launched_in_each_build() {
    let left = ["acc kernels", "acc loop"];
    // A build without the loop's directive would have no construct.
    assert_eq!(launched("#ifndef A", "", &[]), left);
    assert_eq!(launched("#ifndef A", "#else\n", &[]), left);
    assert_eq!(launched("#ifndef A", "", &["!A"]), ["omp target"]);
    let other = "#else\n#pragma acc loop gang\n";
    assert_eq!(launched("#ifndef A", other, &[]), ["omp target"; 2]);
    // Where the construct is launched before the condition, all builds have it.
    assert_eq!(launched("#ifdef A", "", &[]), ["omp target"]);
}

#[test]
fn what_chooses_directives_of_a_construct_is_marked() {
    let file = "fixtures/bad/A0337-inside.c";
    let source = text(root(file));
    let translation =
        translate(&Source::new(file, source.clone().into_bytes(), Language::C), &Options::default());
    let said = translation.diagnostics.iter().find(|diag| diag.code == Code(337)).unwrap();
    let marks: Vec<&str> = said.others.iter().map(|label| &source[label.span.range()]).collect();
    assert_eq!(marks, ["#ifdef USE_ATOMIC"]);
}
