//! Which headers a source is read with.
//!
//! Invariant: what compilers would find is found; where two headers are as near, none is taken.

use std::fs;
use std::path::{Path, PathBuf};

use acc2omp::cli::{Build, CompilerFlags, Headers};
use acc2omp::source::{Language, Languages, Predefined, SourceFile};
use acc2omp::{Options, Source, To, translate};

/// A folder with files, and the source of the first of them.
fn source(files: &[(&str, &str)]) -> Source {
    source_with(files, Build::default())
}

/// The same, where compilers get this of the files.
fn source_with(files: &[(&str, &str)], build: Build) -> Source {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| root.join(name)).collect();
    for (path, (_, text)) in paths.iter().zip(files) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let all: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let headers = Headers::among(vec![root], &all, To::OpenMp, &Languages::default(), build);
    let language = Language::of(Path::new(files[0].0)).unwrap();
    let file = SourceFile::new(files[0].0, files[0].1.as_bytes().to_vec(), language);
    headers.source(file, &paths[0])
}

#[test]
fn the_nearest_header_of_a_name_is_read() {
    let one = ("a/src/x.c", "#include \"sizes.h\"\n");
    assert_eq!(source(&[one, ("a/inc/sizes.h", ""), ("b/inc/sizes.h", "")]).headers.len(), 1);
    assert_eq!(source(&[one, ("b/inc/sizes.h", ""), ("c/inc/sizes.h", "")]).headers.len(), 0);
    assert_eq!(source(&[one, ("a/inc/other.h", "")]).headers.len(), 0);
    let deep = ("a/src/x.c", "#include \"lib/sizes.h\"\n");
    assert_eq!(source(&[deep, ("a/inc/lib/sizes.h", ""), ("a/inc/sizes.h", "")]).headers.len(), 1);
}

#[test]
fn a_header_is_what_the_file_is_shown() {
    let header = (
        "x.h",
        "extern int n, w;\n#pragma acc declare create(n)\n#ifdef WIDE\n#pragma acc declare create(w)\n#endif\n",
    );
    let placed = |text: &str| {
        let source = source(&[("x.c", &format!("{text}int n, w;\n")), header]);
        let translation = translate(&source, &Options { to: To::Cuda, ..Options::default() });
        let text = String::from_utf8(translation.text).unwrap();
        ["n", "w"].map(|name| text.contains(&format!("acc2omp_declare(&{name}")))
    };
    assert_eq!(placed("#include \"x.h\"\n"), [true, false]);
    assert_eq!(placed("#define WIDE\n#include \"x.h\"\n"), [true, true]);
    assert_eq!(placed("#define WIDE\n#undef WIDE\n#include \"x.h\"\n"), [true, false]);
    // Met where nobody sees it, and again.
    let again = "#ifdef NO\n#include \"x.h\"\n#endif\n#define WIDE\n#include \"x.h\"\n";
    assert_eq!(placed(again), [true, true]);
}

#[test]
fn an_included_file_of_fortran_sees_what_is_declared_around_it() {
    let part = "subroutine twice(p)\n  type(cloud), intent(inout) :: p\n  integer :: i\n\
        !$acc parallel loop copy(p%mass)\n  do i = 1, p%n\n    p%mass(i) = 2 * p%mass(i)\n  end do\nend subroutine\n";
    let module = |name: &str, line: &str| {
        format!(
            "module {name}\n  type :: cloud\n    real, allocatable :: mass(:)\n    integer :: n\n  end type\n\
            contains\n{line}\nend module\n"
        )
    };
    let codes = |others: &[(&str, &str)]| {
        let files: Vec<(&str, &str)> = [("part.f90", part)].iter().chain(others).copied().collect();
        let translation = translate(&source(&files), &Options::default());
        translation.diagnostics.iter().map(|diag| diag.code.to_string()).collect::<Vec<String>>()
    };
    let (own, other) = (module("own", "include 'part.f90'"), module("other", "include 'part.f90'"));
    let cpp = module("own", "#include \"part.f90\"");
    assert_eq!(codes(&[]), ["A0283"]);
    assert!(codes(&[("own.f90", &own)]).is_empty());
    assert!(codes(&[("own.F90", &cpp)]).is_empty());
    // Of two, it is not known which is meant.
    assert_eq!(codes(&[("own.f90", &own), ("other.f90", &other)]), ["A0283"]);
}

#[test]
fn what_a_header_says_of_a_name_counts_instead_of_options() {
    let text = "#include \"x.h\"\nvoid f(int *a)\n{\n#ifdef WIDE\n#pragma acc parallel loop copy(a[0:8])\n#else\n\
                #pragma acc serial loop copy(a[0:8])\n#endif\n    for (int i = 0; i < 8; i++)\n        a[i] = 0;\n}\n";
    let count = |header: &str| {
        let mut predefined = Predefined::default();
        predefined.define("WIDE");
        let flags = CompilerFlags { predefined: predefined.into(), ..CompilerFlags::default() };
        let source = source_with(&[("x.c", text), ("x.h", header)], Build::from(flags));
        translate(&source, &Options::default()).directives.len()
    };
    assert_eq!(count("int n;\n"), 1);
    assert_eq!(count("#ifndef WIDE\n#define WIDE 1\n#endif\n"), 1);
    assert_eq!(count("#undef WIDE\n"), 2);
    assert_eq!(count("#ifdef UNSET\n#undef WIDE\n#endif\n"), 2);
}

/// The places of directives that are left untranslated, in a file of Fortran with others beside it.
fn left(files: &[(&str, &str)]) -> Vec<String> {
    let source = source(files);
    let made = translate(&source, &Options::default());
    assert!(made.diagnostics.iter().all(|one| one.code.0 == 10), "{:?}", made.diagnostics);
    made.directives.iter().map(|one| source.file.text(one.span).into_owned()).collect()
}

#[test]
fn directives_that_a_header_s_macros_write_in_fortran_are_counted() {
    let header = "#ifdef GPU\n#define ACC_DATA(x) !$acc data copy(x)\n#define ACC_END !$ACC end data\n#else\n\
                  #define ACC_DATA(x)\n#define ACC_END\n#endif\n#define OTHER !$omp parallel\n";
    let text = |name: &str| {
        format!(
            "#include \"{name}\"\nsubroutine s(a)\nreal :: a(4)\nACC_DATA(a)\nOTHER\na = 1\nACC_END\nend subroutine\n"
        )
    };
    for name in ["d.h", "d.fh", "d.inc", "d.hf"] {
        assert_eq!(left(&[("a.F90", &text(name)), (name, header)]), ["ACC_DATA(a)", "ACC_END"], "{name}");
    }
    // A macro of the file that is another name of the header's.
    let renamed = format!("{}#define FINISH ACC_END\nsubroutine t\nFINISH\nend subroutine\n", text("d.h"));
    assert_eq!(left(&[("a.F90", &renamed), ("d.h", header)]), ["ACC_DATA(a)", "ACC_END", "FINISH"]);
}

#[test]
fn a_sentinel_that_a_macro_completes_is_counted() {
    let text = "#ifdef GPU\n#define ACC $acc\n#else\n#define ACC !\n#endif\nsubroutine s(a)\nreal :: a(4)\ninteger :: i\n\
                !ACC parallel loop &\n!ACC copy(a)\ndo i = 1, 4 ! ACC\n!ACCUMULATE\na(i) = i\nend do\nend subroutine\n";
    assert_eq!(left(&[("a.F90", text)]), ["!ACC parallel loop &"]);
    assert_eq!(left(&[("a.F90", &text.replace("$acc", "!"))]), [""; 0]);
}

#[test]
fn fixed_form_is_read_as_far_as_the_compiler_does() {
    let text =
        format!("      program s\n      real a(4)\n{:72}async(2)\n      end\n", "!$acc update self(a)");
    let made = |column: Option<usize>| {
        let mut source =
            Source::new("a.f", text.clone().into_bytes(), Language::of(Path::new("a.f")).unwrap());
        let flags = std::sync::Arc::make_mut(&mut source.file.predefined);
        column.into_iter().for_each(|column| flags.end_lines_at(column));
        String::from_utf8_lossy(&translate(&source, &Options::default()).text).into_owned()
    };
    assert!(made(Some(132)).contains("nowait") && made(Some(0)).contains("nowait"));
    assert!(!made(None).contains("nowait"));
}

/// The codes and lines of what is said of the first of some files.
fn said(files: &[(&str, &str)], to: To) -> Vec<(String, usize)> {
    let source = source(files);
    let translation = translate(&source, &Options { to, ..Options::default() });
    let line = |at: u32| source.file.lines.line(at) + 1;
    translation.diagnostics.iter().map(|one| (one.code.to_string(), line(one.primary.span.start))).collect()
}

const MOVED: &str = "#include \"x.h\"\nvoid f(double *a)\n{\n#pragma acc kernels copy(a[0:9])\n\
                     for (int i = 1; i < 9; i++)\n        a[i] = a[i - D] + 1;\n}\n";

#[test]
fn other_branches_of_headers_are_compared() {
    let differs = vec![("A0250".to_owned(), 4)];
    for to in [To::OpenMp, To::Cuda] {
        let said = |header: &str| said(&[("x.c", MOVED), ("x.h", header)], to);
        assert_eq!(said("#ifdef FAR\n#define D 1\n#else\n#define D 0\n#endif\n"), differs);
        assert_eq!(
            said("#ifndef D\n#define D 0\n#endif\n#if D == 7\n#undef D\n#define D 1\n#endif\n"),
            differs
        );
        assert_eq!(said("#define D 0\n#if FAR > 3\n#undef D\n#define D 1\n#endif\n"), differs);
        for condition in [
            "#if defined(FAR) && !defined(NEAR)",
            "#if defined(NEAR)\n#elif defined(FAR)",
            "#if FAR == 1 && NEAR == 2",
            "#ifdef FAR\n#endif\n#if defined(FAR) && defined(NEAR) && !defined(NONE)",
        ] {
            let header = format!("{condition}\n#define D 1\n#else\n#define D 0\n#endif\n");
            assert_eq!(said(&header), differs, "{condition}");
        }
        let inner =
            "#ifdef FAR\n#ifdef NEAR\n#define D 0\n#else\n#define D 1\n#endif\n#else\n#define D 0\n#endif\n";
        assert_eq!(said(inner), differs);
        // Nothing changes, or nothing that the construct has.
        assert_eq!(said("#ifdef FAR\n#define D 0\n#else\n#define D 0\n#endif\n"), []);
        assert_eq!(said("#define D 0\n#ifdef FAR\n#define E 1\n#endif\n"), []);
        // It is read once.
        assert_eq!(said("#ifndef X_H\n#define X_H 1\n#define D 0\n#endif\n"), []);
        // A build that reads the first one alone does not compile.
        assert_eq!(said("#ifndef NONE\n#define D 0\n#endif\n"), []);
        let both =
            "#ifndef NONE\n#define D BY\n#endif\n#ifdef FAR\n#define BY 1\n#else\n#define BY 0\n#endif\n";
        assert_eq!(said(both), differs);
    }
}

#[test]
fn other_heads_of_loops_in_headers_are_compared_to_cuda() {
    let text = "#include \"x.h\"\nvoid f(double *a)\n{\n#pragma acc parallel loop copy(a[0:9])\n    EACH(i)\n        a[i] += 1;\n}\n";
    let header = |far: &str| {
        format!(
            "#ifdef FAR\n#define EACH(i) {far}\n#else\n#define EACH(i) for (int i = 0; i < 9; i++)\n#endif\n"
        )
    };
    let said = |far: &str, to: To| said(&[("x.c", text), ("x.h", &header(far))], to);
    assert_eq!(said("for (int i = 1; i < 8; i++)", To::Cuda), [("A0250".to_owned(), 4)]);
    assert_eq!(said("for (int i = 0; i < 9; i++)", To::Cuda), []);
    // The head stays in the source.
    assert_eq!(said("for (int i = 1; i < 8; i++)", To::OpenMp), []);
}

#[test]
fn constructs_with_code_of_other_files_stay() {
    let c = "void f(double *a)\n{\n    double s = 0;\n#pragma acc kernels copy(a[0:9])\n    for (int i = 0; i < 9; i++) {\n#include \"body.inc\"\n    }\n    a[0] = s;\n}\n";
    let fortran = "subroutine f(a, s)\n  real :: a(9), s\n  integer :: i\n  !$acc parallel loop\n  do i = 1, 9\n    include 'body.inc'\n  end do\nend subroutine\n";
    for (to, code) in [(To::OpenMp, "A0301"), (To::Cuda, "A0401")] {
        assert_eq!(said(&[("x.c", c), ("body.inc", "s += a[i];\n")], to), [(code.to_owned(), 6)]);
        assert_eq!(said(&[("x.f90", fortran), ("body.inc", "s = s + a(i)\n")], to), [(code.to_owned(), 6)]);
    }
}

#[test]
fn what_included_code_may_read_comes_back() {
    let text = |line: &str| {
        format!(
            "void f(double *a)\n{{\n    double s;\n    a[0] = 1;\n#pragma acc kernels copy(a[0:9])\n    s = a[0];\n{line}\n}}\n"
        )
    };
    let comes_back = |line: &str| {
        let source = source(&[("x.c", &text(line)), ("body.inc", "a[1] = s;\n")]);
        let text = translate(&source, &Options::default()).text;
        String::from_utf8(text).unwrap().contains("map(tofrom: s")
    };
    assert!(comes_back("#include \"body.inc\""));
    assert!(!comes_back(""));
}

#[test]
fn headers_that_other_builds_include_are_compared() {
    let text = "static int last;\n#ifdef FAR\n#include \"y.h\"\n#else\n#include \"x.h\"\n#endif\nint f(double *a)\n{\n\
                #pragma acc kernels copy(a[0:9])\n    for (int i = 1; i < 9; i++)\n        STEP;\n    return last;\n}\n";
    let [plain, counted] = ["#define STEP a[i] += 1\n", "#define STEP a[i] += 1, last = i\n"];
    for to in [To::OpenMp, To::Cuda] {
        let differs = |x: &str, y: &str| {
            let said = said(&[("x.c", text), ("x.h", x), ("y.h", y)], to);
            said.contains(&("A0250".to_owned(), 9))
        };
        assert!(differs(plain, counted));
        assert!(differs(counted, plain));
        assert!(!differs(plain, plain));
    }
}

#[test]
fn other_branches_of_modules_are_compared() {
    let module = |line: &str| {
        format!("module m\n  real, allocatable :: q(:)\n#ifdef KEEP\n{line}\n#endif\nend module\n")
    };
    let user = "program p\n  use m\n  allocate(q(4))\nend program\n";
    for to in [To::OpenMp, To::Cuda] {
        let said = |line: &str| said(&[("p.F90", user), ("m.F90", &module(line))], to);
        assert_eq!(
            said("!$acc declare create(q)").iter().map(|(code, _)| code.as_str()).collect::<Vec<_>>()[0],
            "A0250"
        );
        assert_eq!(said("  real :: r"), []);
    }
}
