//! The binary from outside: what it writes, says and returns.
//!
//! Invariant: each test runs in a folder of its own, and leaves no trace.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use acc2omp::report;
use tempfile::TempDir;

use super::{files, root};

/// A loop that every version translates.
const LOOP: &str = "void f(int n, double *a)\n{\n#pragma acc parallel loop copy(a[0:n])\n    \
                    for (int i = 0; i < n; i++)\n        a[i] *= 2.0;\n}\n";

/// A folder with these files; a name's folders are made.
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

/// Runs acc2omp in `folder`.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_acc2omp")).args(arguments).current_dir(folder).output().unwrap()
}

/// Runs acc2omp in `folder` and returns what it said, which must end with `status`.
fn said(folder: &Path, arguments: &[&str], status: i32) -> String {
    let output = run(folder, arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "{arguments:?} said:\n{text}");
    text
}

/// Names and bytes of all files below a folder, except what acc2omp knows of output trees.
fn listing(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let walk = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten();
    let is_own = |path: &Path| path.components().any(|part| part.as_os_str() == ".acc2omp");
    let files = walk.filter(|entry| entry.file_type().is_file() && !is_own(entry.path()));
    let name = |path: &Path| path.strip_prefix(folder).unwrap().display().to_string();
    files.map(|entry| (name(entry.path()), fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn transcripts() {
    trycmd::TestCases::new().case("tests/it/cli/*.trycmd");
}

#[test]
fn a_tree_is_mirrored_byte_for_byte() {
    let odd: &[(&str, &[u8])] = &[
        ("in/Makefile", b"all:\n\techo\n"),
        ("in/crlf.c", b"int a; /* accurate */\r\nint b;\r\n"),
        ("in/deep/er/latin.c", b"/* \xe4\xf6\xfc accent */ int a;\n"),
        ("in/deep/nul.bin", b"\0\xff\0"),
        ("in/empty.h", b""),
        ("in/open.c", b"int a;"),
    ];
    let place = folder(odd);
    fs::create_dir(place.path().join("in/hollow")).unwrap();
    said(place.path(), &["in", "-o", "out"], 0);
    assert_eq!(listing(&place.path().join("in")), listing(&place.path().join("out")));
    assert!(place.path().join("out/hollow").is_dir());
}

#[test]
fn git_and_the_output_itself_are_not_walked() {
    let place = folder(&[("a.c", b"int a;\n"), (".git/config", b"x"), ("sub/.git", b"x"), (".hidden", b"x")]);
    for _ in 0..2 {
        said(place.path(), &[".", "-o", "out"], 0);
    }
    let names: Vec<String> = listing(&place.path().join("out")).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [".hidden", "a.c"]);
}

#[test]
fn files_and_folders_may_be_mixed() {
    let place = folder(&[("x/a.c", b"int a;\n"), ("y/b.c", b"int b;\n"), ("z/c.c", b"int c;\n")]);
    said(place.path(), &["x", "y", "z/c.c", "z/c.c", "-o", "out"], 0);
    let names: Vec<String> = listing(&place.path().join("out")).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["a.c", "b.c", "c.c"]);
}

#[test]
fn two_inputs_for_one_place_are_refused() {
    let place = folder(&[("x/a.c", b"int x;\n"), ("y/a.c", b"int y;\n")]);
    let text = said(place.path(), &["x", "y", "-o", "out"], 2);
    assert!(text.contains("two inputs would be written to a.c"), "{text}");
    assert!(!place.path().join("out").exists());
}

#[test]
fn inputs_are_not_overwritten() {
    let place = folder(&[("src/a.c", LOOP.as_bytes())]);
    let text = said(place.path(), &["src", "-o", "src"], 2);
    assert!(text.contains("both input and output"), "{text}");
    let text = said(place.path(), &["src/a.c", "-o", "src"], 2);
    assert!(text.contains("only by `--in-place`"), "{text}");
    assert_eq!(fs::read_to_string(place.path().join("src/a.c")).unwrap(), LOOP);
}

#[test]
fn a_missing_file_stops_everything() {
    let place = folder(&[("a.c", b"int a;\n")]);
    let text = said(place.path(), &["a.c", "nowhere.c", "-o", "out"], 2);
    assert!(text.contains("nowhere.c"), "{text}");
    assert!(!place.path().join("out").exists());
}

#[test]
fn exactly_one_destination() {
    let place = folder(&[("a.c", b"int a;\n")]);
    for wrong in [
        &["a.c"][..],
        &["a.c", "--diff", "--check"],
        &["a.c", "--diff", "-o", "out"],
        &["a.c", "--in-place", "--check"],
        &["-", "-o", "out"],
        &["-", "--in-place"],
        &["-", "a.c"],
        &[],
        &["a.c", "--check", "--omp", "3.0"],
        &["a.c", "--check", "--profile", "icc"],
    ] {
        said(place.path(), wrong, 2);
    }
    let text = said(place.path(), &["a.c"], 2);
    assert!(text.contains("exactly one of `-o OUT`, `--diff`, `--check` or `--in-place`"), "{text}");
}

#[test]
fn check_and_diff_write_nothing() {
    let place = folder(&[("a.c", LOOP.as_bytes()), ("b.c", b"int accent;\n")]);
    let before = listing(place.path());
    let table = said(place.path(), &[".", "--check"], 0);
    assert!(table.contains("directives"), "{table}");
    said(place.path(), &["--diff", "."], 0);
    assert_eq!(said(place.path(), &["--check", "-q", "."], 0), "");
    assert_eq!(listing(place.path()), before);
}

#[test]
fn all_destinations_agree() {
    let place = folder(&[("a.c", LOOP.replace('\n', "\r\n").as_bytes()), ("in/b.c", LOOP.as_bytes())]);
    said(place.path(), &["a.c", "in", "-o", "out"], 0);
    let old = fs::read(place.path().join("a.c")).unwrap();
    let new = fs::read(place.path().join("out/a.c")).unwrap();
    assert_eq!(run(place.path(), &["a.c", "--diff"]).stdout, report::unified("a.c", &old, &new));
    assert_eq!(piped(&old, &["-"]).stdout, new);
    assert_eq!(piped(&old, &["-", "--diff"]).stdout, report::unified("stdin", &old, &new));
    said(place.path(), &["a.c", "--in-place"], 0);
    assert_eq!(fs::read(place.path().join("a.c")).unwrap(), new);
    assert_eq!(listing(place.path()).len(), 4, "no temporary file stays");
}

/// Runs acc2omp with `input` on its standard input.
fn piped(input: &[u8], arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_acc2omp"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn cuda_comes_with_its_library_and_a_file_that_builds_it() {
    let place =
        folder(&[("in/a.c", LOOP.as_bytes()), ("in/sub/b.c", LOOP.as_bytes()), ("in/c.c", b"int c;\n")]);
    let said = said(place.path(), &["in", "--to", "cuda", "--emit-build", "make", "-o", "out"], 0);
    assert!(said.contains("note: acc2omp.mk builds the device code"), "{said}");
    let names: Vec<String> = listing(&place.path().join("out")).into_iter().map(|(name, _)| name).collect();
    let library = ["acc2omp.mk", "acc2omp_cuda.cu", "acc2omp_cuda.h"];
    let sub = ["sub/b.c", "sub/b_acc.cu", "sub/b_acc.h"];
    let own = ["a.c", "a_acc.cu", "a_acc.h"];
    let mut all: Vec<&str> = library.into_iter().chain(sub).chain(own).chain(["c.c"]).collect();
    all.sort_unstable();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, all);
    let header = fs::read_to_string(place.path().join("out/sub/b_acc.h")).unwrap();
    assert!(header.contains("#include \"../acc2omp_cuda.h\"\n"), "{header}");
    let rules = fs::read_to_string(place.path().join("out/acc2omp.mk")).unwrap();
    assert!(
        rules.contains("    $(ACC2OMP_ROOT)/sub/b_acc.cu \\\n    $(ACC2OMP_ROOT)/acc2omp_cuda.cu\n"),
        "{rules}"
    );
}

#[test]
fn each_loop_left_to_the_compiler_has_a_line() {
    let source = b"void f(int n, double *a, double *b)\n{\n#pragma acc kernels copy(a[0:n], b[0:n])\n\
        for (int i = 0; i < n; i++)\n        a[i] = b[i];\n#pragma acc kernels copy(a[0:n])\n\
        for (int i = 1; i < n; i++)\n        a[i] += a[i - 1];\n}\n";
    let folder = folder(&[("f.c", source)]);
    let lines = |arguments: &[&str]| -> Vec<String> {
        let said = said(folder.path(), arguments, 0);
        said.lines().filter(|line| line.contains(": loop: ")).map(str::to_owned).collect()
    };
    let met = "f.c:7: loop: sequential: `a` is written at 8 and read at 8, with distance (1)";
    let alias = "f.c:4: loop: sequential: `b` and `a` may be the same memory";
    assert_eq!(lines(&["f.c", "--check"]), [alias, met]);
    let assumed = lines(&["f.c", "--check", "--assume-no-alias"]);
    assert_eq!(assumed, ["f.c:4: loop: parallel, gang vector", met]);
    assert!(lines(&["f.c", "--check", "-q"]).is_empty());
}

#[test]
fn guards_have_the_names_that_the_user_wants() {
    let fortran = "subroutine f(a)\n  real :: a(9)\n  integer :: i\n  !$acc parallel loop\n  do i = 1, 9\n    a(i) = i\n  \
                   end do\nend subroutine\n";
    let place = folder(&[("a.c", LOOP.as_bytes()), ("b.F90", fortran.as_bytes())]);
    for file in ["a.c", "b.F90"] {
        said(place.path(), &[file, "-o", "out", "--guard=USE_ACC,USE_OMP"], 0);
        let text = fs::read_to_string(place.path().join("out").join(file)).unwrap();
        let signs = text.lines().filter(|line| line.starts_with('#') && !line.contains("pragma"));
        assert_eq!(
            signs.collect::<Vec<_>>(),
            ["#ifdef USE_ACC", "#elif defined(USE_OMP)", "#endif"],
            "{text}"
        );
    }
    for wrong in ["--guard=A", "--guard=A,A", "--guard=A,2", "--guard="] {
        assert!(said(place.path(), &["a.c", "--check", wrong], 2).contains("--guard"), "{wrong}");
    }
    said(place.path(), &["--guard", "a.c", "--check"], 0);
}

#[test]
fn cuda_takes_no_options_of_openmp() {
    let place = folder(&[("a.c", LOOP.as_bytes())]);
    for (option, what) in
        [("--guard", "--guard"), ("--async=sync", "--async sync"), ("--host-fallback=x", "--host-fallback")]
    {
        let text = said(place.path(), &["a.c", "--check", "--to", "cuda", option], 2);
        assert!(text.contains(&format!("`{what}` is about OpenMP")), "{text}");
    }
    let text = said(place.path(), &["a.c", "--check", "--line-directives"], 2);
    assert!(text.contains("`--line-directives` goes with `--to cuda`"), "{text}");
    let text = said(place.path(), &["-", "--to", "cuda"], 2);
    assert!(text.contains("`--to cuda` writes several files"), "{text}");
    let text = said(place.path(), &["a.c", "--check", "--to", "cuda", "--emit-build", "cmake"], 2);
    assert!(text.contains("goes with `--to cuda` and `-o OUT`"), "{text}");
}

#[test]
fn device_code_says_which_lines_it_comes_from() {
    let source = b"void f(int n, double *a)\n{\n#pragma acc parallel loop copy(a[:n])\n    for (int i = 0; i < n; i++) {\n        a[i] += 1.0;\n\n        a[i] *= 2.0;\n    }\n}\n";
    let place = folder(&[("in/a.c", source)]);
    said(place.path(), &["in", "-o", "out", "--to", "cuda", "--line-directives"], 0);
    let device = fs::read_to_string(place.path().join("out/a_acc.cu")).unwrap();
    let lines: Vec<&str> = device.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("#line 5 ")).unwrap();
    assert_eq!(lines[at], "#line 5 \"in/a.c\"");
    assert_eq!(lines[at + 1..at + 5], ["        a[i] += 1.0;", "", "        a[i] *= 2.0;", "    }"]);
    // Line `at + 6`, counted from 1, is the directive; what follows is the device file's own.
    assert_eq!(lines[at + 5], format!("#line {} \"a_acc.cu\"", at + 7));
    assert_eq!(device.matches("#line").count(), 2, "{device}");
}

#[test]
fn the_argument_of_a_macro_from_elsewhere_becomes_the_new_directive() {
    let header = b"static void f(int n, double *a)\n{\n    PRAGMA( acc parallel loop copy(a[0:n]) )\n    for (int i = 0; i < n; i++)\n        a[i] *= 2.0;\n}\n";
    let place = folder(&[("in/loops.h", header)]);
    said(place.path(), &["in", "-o", "out"], 0);
    let text = fs::read_to_string(place.path().join("out/loops.h")).unwrap();
    let line = "    PRAGMA( omp target teams distribute parallel for map(tofrom: a[0:n]) )";
    assert_eq!(text.lines().nth(2), Some(line));
}

#[test]
fn cuda_is_given_that_names_are_distinct() {
    let source = b"void f(int n, double *a, double *b)\n{\n#pragma acc parallel loop copy(a[:n], b[:n])\n    for (int i = 0; i < n; i++)\n        a[i] = b[i];\n}\n";
    let place = folder(&[("a.c", source)]);
    for (options, wanted) in [(&[][..], false), (&["--assume-no-alias"][..], true)] {
        let arguments = [&["a.c", "--diff", "--to", "cuda"], options].concat();
        let output = run(place.path(), &arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.contains("const double *__restrict__ b"), wanted, "{text}");
    }
}

#[test]
fn namesakes_have_device_files_of_their_own() {
    let place = folder(&[("a.c", LOOP.as_bytes()), ("a.cpp", LOOP.as_bytes()), ("b.c", LOOP.as_bytes())]);
    said(place.path(), &["a.c", "a.cpp", "b.c", "--to", "cuda", "-o", "out"], 0);
    let names: Vec<String> = listing(&place.path().join("out")).into_iter().map(|(name, _)| name).collect();
    for name in ["a_c_acc.cu", "a_cpp_acc.cu", "a_c_acc.h", "a_cpp_acc.h", "b_acc.cu", "b_acc.h"] {
        assert!(names.iter().any(|one| one == name), "{name}: {names:?}");
    }
}

/// A loop over `y` that computes `value`, in a function with these lines before.
fn function(name: &str, parameters: &str, before: &str, value: &str) -> String {
    format!(
        "void {name}(double *y, int n{parameters})\n{{\n    {before}\n#pragma acc parallel loop copy(y[0:n])\n    for (int i = 0; i < n; i++)\n        y[i] = {value};\n}}\n"
    )
}

#[test]
fn cuda_reports_what_the_device_cannot_call() {
    let cases = [
        ("", "double a = 2; auto f = [&](double x) { return a * x; };", "f(y[i])", "captures by reference"),
        ("", "auto f = [](auto x) { return x; };", "f(y[i])", "it is generic"),
        ("", "auto f = [a = 2.0](double x) { return a * x; };", "f(y[i])", "`a = 2.0` computes"),
        (", double *p", "auto f = [=](int k) { return p[k]; };", "f(i)", "captures `p`, an address"),
        ("", "double a = 2; auto f = [a](double x) mutable { return a += x; };", "f(1)", "it changes what"),
        ("", "auto f = [](double x) { return x * factor; };", "f(y[i])", "names `factor`"),
        ("", "auto f = [](double x) { return std::lerp(x, x, x); };", "f(y[i])", "names `std::lerp`"),
        (", double (*f)(double)", "", "f(y[i])", "it is a pointer to a function"),
        ("", "std::function<double(double)> f = twice;", "f(y[i])", "standard library"),
        (", std::vector<double> &v", "", "v[i]", "standard library"),
        (
            "",
            "struct Own { double by; double it() { return by; } } own{1.0};",
            "own.by",
            "only this function knows",
        ),
        (", long double w", "", "y[i] * w", "`w`, of the type `long double`"),
        ("", "", "y[i] * 0.1L", "arithmetic in `long double`"),
        ("", "", "(double)((long double)y[i] / 3)", "arithmetic in `long double`"),
    ];
    for (parameters, before, value, wanted) in cases {
        let text = function("run", parameters, before, value);
        let text = format!("double factor, twice(double);\n{text}");
        let place = folder(&[("a.cpp", text.as_bytes())]);
        let reported = said(place.path(), &["a.cpp", "--check", "--to", "cuda"], 1);
        assert!(reported.contains(wanted) && reported.contains("untranslated[A040"), "{wanted}: {reported}");
    }
    // In C there are no others.
    let text = function("run", ", double (*f)(double)", "", "f(y[i])");
    let place = folder(&[("a.c", text.as_bytes())]);
    let reported = said(place.path(), &["a.c", "--check", "--to", "cuda"], 1);
    assert!(
        reported.contains("untranslated[A0405]: `f` cannot be called on the device: it is a pointer"),
        "{reported}"
    );
}

#[test]
fn a_tree_has_the_run_time_library_once_with_its_module_for_fortran() {
    let fortran = |name: &str| format!("subroutine {name}\n  !$acc wait\nend\n");
    let (one, two) = (fortran("one"), fortran("two"));
    let place = folder(&[
        ("a.f90", one.as_bytes()),
        ("sub/b.f90", two.as_bytes()),
        ("sub/c.c", b"void c(void)\n{\n#pragma acc wait\n}\n"),
    ]);
    let names = |folder: &str| -> Vec<String> {
        let files = listing(&place.path().join(folder)).into_iter().map(|(name, _)| name);
        files.filter(|name| name.contains("acc2omp_cuda")).collect()
    };
    said(place.path(), &["sub/c.c", "--to", "cuda", "-o", "c"], 0);
    assert_eq!(names("c"), ["acc2omp_cuda.cu", "acc2omp_cuda.h"]);
    fs::remove_dir_all(place.path().join("c")).expect("removed");
    said(place.path(), &[".", "--to", "cuda", "-o", "out"], 0);
    let library = ["acc2omp_cuda.cu", "acc2omp_cuda.h", "acc2omp_cuda_module.f90"];
    assert_eq!(names("out"), library);
    said(place.path(), &["sub/b.f90", "a.f90", "--to", "cuda", "--in-place"], 0);
    assert_eq!(names("sub"), library);
}

#[test]
fn standard_input_without_openacc_comes_out_unchanged() {
    let input = b"/* \xe4 */ int a;\r\nint b;";
    let output = piped(input, &["-"]);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &input[..]));
}

#[test]
fn fortran_is_read_in_the_form_that_is_asked_for() {
    let input = b"c     a comment\n      program p\nc$acc wait\n      end\n";
    let output = piped(input, &["-", "--form", "fixed"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "c     a comment\n      program p\nc$omp taskwait\n      end\n");
    assert_eq!(piped(input, &["-", "--form", "free"]).stdout, input);
    let place = folder(&[("a.f90", input), ("b.f", b"program p\n  !$acc wait\nend\n")]);
    said(place.path(), &[".", "-o", "out"], 0);
    let read = |name: &str| std::fs::read_to_string(place.path().join("out").join(name)).unwrap();
    assert!(read("a.f90").contains("c$omp taskwait") && read("b.f").contains("  !$omp taskwait"));
}

#[test]
fn openacc_of_other_languages_is_not_passed_over_in_silence() {
    let place = folder(&[("a.inc", b"!$acc loop\n"), ("b.txt", b"!$acc loop\n")]);
    let text = said(place.path(), &[".", "-o", "out"], 1);
    assert!(
        text.contains("OpenACC in 1 file whose name tells no language that is translated: a.inc"),
        "{text}"
    );
    assert_eq!(listing(&place.path().join("out")).len(), 2);
    let place = folder(&[("a.inc", b"#ifdef _OPENACC\nint a;\n#endif\n"), ("b.inc", b"/* _OPENACC */\n")]);
    let text = said(place.path(), &[".", "-o", "out"], 1);
    assert!(text.contains("no language that is translated: a.inc"), "{text}");
}

#[test]
fn what_fortran_alone_includes_is_fortran() {
    let part =
        "#ifdef _OPENACC\ninteger, parameter :: shift = 5\n#else\ninteger, parameter :: shift = 7\n#endif\n";
    for name in ["part.inc", "part.h"] {
        let main = format!("program p\n#include \"{name}\"\n!$acc wait\nprint *, shift\nend program\n");
        let other = format!("subroutine s\n#include \"{name}\"\nprint *, shift\nend subroutine\n");
        let place =
            folder(&[("a.F90", main.as_bytes()), ("b.F90", other.as_bytes()), (name, part.as_bytes())]);
        for (target, wanted) in
            [("openmp", "#ifdef _OPENMP"), ("cuda", "#define ACC2OMP_CUDA 201711\n#ifdef ACC2OMP_CUDA")]
        {
            said(place.path(), &[".", "-o", target, "--to", target], 0);
            let text = fs::read_to_string(place.path().join(target).join(name)).unwrap();
            assert!(text.starts_with(wanted), "{target} {name}: {text}");
            assert!(!place.path().join(target).join("part_h_acc.h").exists());
        }
    }
    // C includes it, too.
    let shared = b"#ifdef _OPENACC\n#define SHIFT 5\n#endif\n";
    let source = b"#include \"part.h\"\nint shift = 0;\n";
    let main = b"program p\n#include \"part.h\"\n!$acc wait\nend program\n";
    let place = folder(&[("a.F90", main), ("b.c", source), ("part.h", shared)]);
    said(place.path(), &[".", "-o", "out", "--to", "cuda"], 0);
    assert!(place.path().join("out/part_h_acc.h").is_file());
}

/// A file without directives says otherwise what OpenACC would see, as do those with some.
#[test]
fn conditions_on_openacc_count_in_files_without_directives() {
    let text = b"module m\n#if defined(_OPENACC)\ninteger :: n = 1\n#endif\nend module\n";
    let place = folder(&[("a.F90", text)]);
    said(place.path(), &[".", "-o", "out", "--to", "cuda"], 0);
    let text = fs::read_to_string(place.path().join("out/a.F90")).unwrap();
    assert!(text.contains("#if defined(ACC2OMP_CUDA)"), "{text}");
}

#[test]
fn sources_with_other_endings_are_reported_and_translated_if_their_language_is_named() {
    let fortran = "subroutine f(n, a)\ninteger n, i\nreal a(n)\n!$acc parallel loop\ndo i = 1, n\na(i) = 0\nend do\nend\n";
    let place = folder(&[("in/a.tpp", LOOP.as_bytes()), ("in/b.f90.in", fortran.as_bytes())]);
    let text = said(place.path(), &["in", "-o", "out"], 1);
    assert!(text.contains("a.tpp") && text.contains("b.f90.in") && text.contains("--language"), "{text}");
    let named = ["in", "-o", "named", "--language", "tpp=c++", "--language", "f90.in=fortran"];
    said(place.path(), &named, 0);
    for name in ["a.tpp", "b.f90.in"] {
        let text = fs::read_to_string(place.path().join("named").join(name)).unwrap();
        assert!(text.contains("omp target"), "{name}: {text}");
    }
    said(place.path(), &["in", "--check", "--language", "tpp=cobol"], 2);
}

#[test]
fn an_output_folder_that_holds_inputs_is_refused() {
    let place = folder(&[("p/a.c", LOOP.as_bytes()), ("p/q/a.c", LOOP.as_bytes())]);
    let before = listing(place.path());
    let text = said(place.path(), &["p", "-o", "p/q"], 2);
    assert!(text.contains("p/q holds files that are inputs themselves"), "{text}");
    assert_eq!(listing(place.path()), before);
    said(place.path(), &["p", "-o", "p/new"], 0);
    said(place.path(), &["p", "-o", "p/new"], 0);
}

#[test]
fn what_a_killed_run_has_left_is_not_copied_and_goes() {
    let left = ".acc2omp-0123456789abcdef.tmp";
    let place = folder(&[("in/a.c", LOOP.as_bytes())]);
    for folder in ["in", "out"] {
        fs::create_dir_all(place.path().join(folder)).unwrap();
        fs::write(place.path().join(folder).join(left), "half").unwrap();
    }
    said(place.path(), &["in", "-o", "out"], 0);
    assert!(!place.path().join("out").join(left).exists());
    said(place.path(), &["in", "--in-place"], 0);
    assert!(!place.path().join("in").join(left).exists());
}

#[test]
fn a_fallback_that_is_no_condition_is_refused() {
    let place = folder(&[("a.c", LOOP.as_bytes())]);
    for wrong in ["", "a)b(", "n > 0; x", "a, b", "n // c"] {
        said(place.path(), &["a.c", "--check", "--host-fallback", wrong], 2);
    }
    said(place.path(), &["a.c", "--check", "--host-fallback", "n > 100"], 0);
}

#[test]
fn a_budget_ends_a_file_and_not_the_run() {
    let deep = format!(
        "void f(int n, double *a) {{\n#pragma acc kernels loop\nfor (int i = 0; i < n; i++) {}a[i] = 0;{}\n}}\n",
        "{".repeat(60_000),
        "}".repeat(60_000)
    );
    let place = folder(&[("in/a.c", deep.as_bytes()), ("in/b.c", LOOP.as_bytes())]);
    let text = said(place.path(), &["in", "-o", "out"], 1);
    assert!(text.contains("A0334"), "{text}");
    assert_eq!(fs::read(place.path().join("out/a.c")).unwrap(), deep.as_bytes());
    assert!(fs::read_to_string(place.path().join("out/b.c")).unwrap().contains("omp target"));
}

#[test]
fn very_many_threads_are_not_started() {
    let place = folder(&[("a.c", LOOP.as_bytes())]);
    let text = said(place.path(), &["a.c", "--check", "-j", "100000"], 0);
    assert!(text.contains("no more than 256 threads"), "{text}");
}

#[test]
fn headers_that_include_each_other_are_read_once() {
    let place = folder(&[
        ("in/a.c", format!("#include \"one.h\"\n{LOOP}").as_bytes()),
        ("in/one.h", b"#include \"sub/two.h\"\nextern int acc;\n"),
        ("in/sub/two.h", b"#include \"../one.h\"\n#include \"two.h\"\n#include \"missing.h\"\n"),
    ]);
    said(place.path(), &["in", "-o", "out"], 0);
    assert_eq!(listing(&place.path().join("out")).len(), 3);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let place = folder(&[]);
    for (number, path) in files("fixtures/bad").iter().enumerate() {
        fs::copy(path, place.path().join(format!("{number:03}.c"))).unwrap();
    }
    let results = ["1", "4", "13"].map(|threads| run(place.path(), &[".", "--diff", "-j", threads]));
    let [first, others @ ..] = &results;
    for other in others {
        assert_eq!(first.stdout, other.stdout);
        assert_eq!(String::from_utf8_lossy(&first.stderr), String::from_utf8_lossy(&other.stderr));
        assert_eq!(first.status, other.status);
    }
}

#[test]
fn every_code_can_be_explained() {
    for path in files("rules/diag") {
        let code = path.file_stem().unwrap().to_string_lossy().into_owned();
        let output = run(&root("."), &["explain", &code.to_lowercase()]);
        assert!(output.stdout.starts_with(&fs::read(&path).unwrap()), "{code}: its page");
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(stdout.contains("\n## Where\n\n"), "{code}: where it is reported");
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn permissions_are_kept() {
        let place = folder(&[("in/run.sh", b"true\n"), ("in/a.c", LOOP.as_bytes()), ("in/b.c", b"int b;\n")]);
        let modes = [("run.sh", 0o750), ("a.c", 0o640), ("b.c", 0o444)];
        for (name, mode) in modes {
            fs::set_permissions(place.path().join("in").join(name), fs::Permissions::from_mode(mode))
                .unwrap();
        }
        said(place.path(), &["in", "-o", "out"], 0);
        said(place.path(), &["in", "--in-place"], 0);
        for (name, wanted) in modes {
            assert_eq!(mode(&place.path().join("out").join(name)), wanted, "{name}");
            assert_eq!(mode(&place.path().join("in").join(name)), wanted, "{name}");
        }
    }

    #[test]
    fn symbolic_links_are_reported_and_not_followed() {
        let place = folder(&[("in/a.c", b"int a;\n"), ("other/b.c", b"int b;\n")]);
        symlink("../other", place.path().join("in/link")).unwrap();
        symlink("nothing", place.path().join("in/broken")).unwrap();
        let text = said(place.path(), &["in", "-o", "out"], 0);
        assert!(text.contains("note: in/broken: a symbolic link, skipped"), "{text}");
        assert!(text.contains("note: in/link: a symbolic link, skipped"), "{text}");
        assert_eq!(listing(&place.path().join("out")).len(), 1);
    }

    #[test]
    fn links_in_the_output_folder_are_not_followed() {
        let place = folder(&[("in/sub/a.c", LOOP.as_bytes()), ("in/b.c", LOOP.as_bytes())]);
        fs::create_dir_all(place.path().join("out")).unwrap();
        fs::create_dir_all(place.path().join("elsewhere")).unwrap();
        fs::write(place.path().join("elsewhere/a.c"), "mine").unwrap();
        fs::write(place.path().join("elsewhere/b.c"), "mine").unwrap();
        symlink("../elsewhere", place.path().join("out/sub")).unwrap();
        symlink("../elsewhere/b.c", place.path().join("out/b.c")).unwrap();
        let text = said(place.path(), &["in", "-o", "out"], 2);
        assert!(
            text.contains("out/sub: a symbolic link stands where a folder of the output belongs"),
            "{text}"
        );
        fs::remove_file(place.path().join("out/sub")).unwrap();
        let text = said(place.path(), &["in", "-o", "out"], 2);
        assert!(text.contains("out/b.c: a file that acc2omp has not written"), "{text}");
        said(place.path(), &["in", "-o", "out", "--force"], 0);
        for name in ["a.c", "b.c"] {
            assert_eq!(fs::read(place.path().join("elsewhere").join(name)).unwrap(), b"mine", "{name}");
        }
    }

    #[test]
    fn a_read_only_file_is_replaced_by_force_alone_and_other_names_are_reported() {
        let place = folder(&[("a.c", LOOP.as_bytes()), ("b.c", LOOP.as_bytes())]);
        let path = place.path().join("a.c");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        fs::hard_link(place.path().join("b.c"), place.path().join("other")).unwrap();
        let text = said(place.path(), &["a.c", "--in-place"], 2);
        assert!(text.contains("read-only"), "{text}");
        assert_eq!(fs::read_to_string(&path).unwrap(), LOOP);
        said(place.path(), &["a.c", "--in-place", "--force"], 0);
        assert!(fs::read_to_string(&path).unwrap().contains("omp target"));
        assert_eq!(mode(&path), 0o444);
        let text = said(place.path(), &["b.c", "--in-place"], 0);
        assert!(text.contains("its other names keep the old text (hard links: 1)"), "{text}");
    }

    #[test]
    fn a_named_link_is_translated_and_stays_a_link() {
        let place = folder(&[("real/a.c", LOOP.as_bytes())]);
        symlink("real/a.c", place.path().join("link.c")).unwrap();
        said(place.path(), &["link.c", "--in-place"], 0);
        assert!(place.path().join("link.c").is_symlink());
    }
}

/// Two loops under conditions on names.
const CHOICE: &str = "void f(int n, double *a)\n{\n#ifdef GPU\n#pragma acc parallel loop copy(a[0:n])\n#else\n\
                      #pragma acc kernels loop copy(a[0:n])\n#endif\n    for (int i = 0; i < n; i++)\n        a[i] = N;\n}\n";

/// Which directives of `CHOICE` are translated: the first, the second.
fn translated(text: &str) -> [bool; 2] {
    ["parallel loop", "kernels loop"].map(|words| !text.contains(&format!("#pragma acc {words}")))
}

#[test]
fn options_say_what_is_defined() {
    let place = folder(&[("a.c", CHOICE.as_bytes())]);
    let text = |options: &[&str]| {
        let output = run(place.path(), &[&["a.c", "--in-place"], options].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let text = fs::read_to_string(place.path().join("a.c")).unwrap();
        fs::write(place.path().join("a.c"), CHOICE).unwrap();
        translated(&text)
    };
    assert_eq!(text(&[]), [true, true]);
    assert_eq!(text(&["-DGPU"]), [true, false]);
    assert_eq!(text(&["-U", "GPU"]), [false, true]);
    assert_eq!(text(&["-D", "GPU=1", "-UGPU"]), [false, true]);
    assert_eq!(text(&["-UGPU", "-DN=3", "-DGPU=2"]), [true, false]);
    assert_eq!(text(&["-DOTHER"]), [true, true]);
}

#[test]
fn what_a_header_places_on_the_device_is_decided_by_options() {
    let header = b"extern double field[10];\n#ifdef GPU\n#pragma acc declare create(field)\n#endif\n";
    let place =
        folder(&[("src/a.c", b"#include \"fields.h\"\ndouble field[10];\n"), ("src/fields.h", header)]);
    let declares = |option: &str| {
        said(place.path(), &["src", "--to", "cuda", "-o", "out", option], 0);
        fs::read_to_string(place.path().join("out/a.c")).unwrap().contains("acc2omp_declare(")
    };
    assert!(declares("-DGPU"));
    assert!(!declares("-UGPU"));
}

#[test]
fn a_folder_of_headers_that_is_not_there_is_said() {
    let place = folder(&[("a.c", LOOP.as_bytes())]);
    let all = said(place.path(), &["a.c", "--check", "-I", "none", "-I."], 0);
    assert!(all.contains("note: `-I none`: there is no such folder\n") && !all.contains("`-I .`"), "{all}");
}

#[test]
fn a_compilation_database_says_what_is_defined_for_each_file() {
    let database = r#"[
        {"directory": "..", "file": "src/a.c", "command": "cc @given -Iinc -c src/a.c"},
        {"directory": "..", "file": "src/b.c", "arguments": ["cc", "-UGPU", "-c", "src/b.c"]},
        {"directory": "..", "file": "gone.c", "arguments": ["cc", "gone.c"]}
    ]"#;
    let place = folder(&[
        ("src/a.c", CHOICE.as_bytes()),
        ("src/b.c", CHOICE.as_bytes()),
        ("src/new.c", CHOICE.as_bytes()),
        ("src/plain.c", b"int x;\n"),
        ("src/inline.h", CHOICE.as_bytes()),
        ("given", b"-D GPU"),
        ("build/compile_commands.json", database.as_bytes()),
    ]);
    let wanted = "note: the compilation database lacks 1 source with OpenACC: src/new.c\n";
    let text = |name: &str| fs::read_to_string(place.path().join("out").join(name)).unwrap();
    for path in ["build", "build/compile_commands.json"] {
        let all = said(place.path(), &["src", "-o", "out", "-p", path], 0);
        assert!(all.contains(wanted), "{all}");
        let found = ["a.c", "b.c", "new.c", "inline.h"].map(|name| translated(&text(name)));
        assert_eq!(found, [[true, false], [false, true], [true, true], [true, true]]);
    }
    // What the command line says comes after it, and is said of all files.
    said(place.path(), &["src", "-o", "out", "-p", "build", "-UGPU"], 0);
    for name in ["a.c", "b.c", "new.c", "inline.h"] {
        assert_eq!(translated(&text(name)), [false, true], "{name}");
    }
    let all = said(place.path(), &["src", "--check", "-p", "src"], 2);
    assert!(all.contains("compile_commands.json"), "{all}");
    assert!(said(place.path(), &["-", "-p", "build"], 2).contains("standard input"));
}

#[test]
fn headers_are_found_where_the_compilers_find_them() {
    let header = b"extern double field[10];\n#pragma acc declare create(field)\n";
    let source =
        b"#include \"fields.h\"\ndouble field[10];\nvoid f(void)\n{\n#pragma acc update self(field)\n}\n";
    let place = folder(&[("src/a.c", source), ("inc/fields.h", header), ("forced.h", header)]);
    let file = place.path().join("out/a.c");
    let declares = |options: &[&str]| {
        said(place.path(), &[&["src", "--to", "cuda", "-o", "out"], options].concat(), 0);
        fs::read_to_string(&file).unwrap().contains("acc2omp_declare(")
    };
    assert!(!declares(&[]));
    assert!(declares(&["-Iinc"]));
    let database =
        r#"[{"directory": ".", "file": "src/a.c", "arguments": ["cc", "OPTION", "VALUE", "src/a.c"]}]"#;
    let reported = |option: &str, value: &str| {
        let text = database.replace("OPTION", option).replace("VALUE", value);
        fs::write(place.path().join("compile_commands.json"), text).unwrap();
        declares(&["-p", "."])
    };
    assert!(reported("-I", "inc") && reported("-iquote", "inc") && reported("-include", "forced.h"));
    // What the system has is not read.
    assert!(!reported("-isystem", "inc"));
}
