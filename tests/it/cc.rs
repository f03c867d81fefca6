//! `acc2omp cc`: what compilers get, write and say.
//!
//! Invariant: each test runs in a folder of its own, with compilers that every machine has that builds Rust, or scripts.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const HEADER: &str = "#pragma once\n#include \"plain.h\"\nstatic inline void scale(double *a, int n)\n{\n\
                      #pragma acc parallel loop copy(a[0:n])\n    for (int i = 0; i < n; i++)\n        a[i] *= FACTOR;\n}\n";

const SOURCE: &str = "#include <stdio.h>\n#include \"scale.h\"\n#include \"plain.h\"\n\nint main(void)\n{\n    double a[100];\n\
                      #pragma acc parallel loop copyout(a) async(1)\n    for (int i = 0; i < 100; i++)\n        a[i] = i;\n\
                      #pragma acc wait(1)\n    scale(a, 100);\n    printf(\"%g %s:%d\\n\", a[99], __FILE__, __LINE__);\n    \
                      return 0;\n}\n";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::create_dir(folder.path().join("tmp")).unwrap();
    folder
}

/// Runs `acc2omp cc` with these words in a folder that has a folder for temporary files.
fn cc(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_acc2omp"));
    command.arg("cc").args(words).current_dir(folder).env("TMPDIR", folder.join("tmp")).output().unwrap()
}

/// What it said, with its status.
fn said(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn text(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

/// A compiler that writes its last word's file, and its words.
const ECHO: &str = "#!/bin/sh\nfor word; do last=$word; done\ncat \"$last\"\necho \"$@\" >words\n";

fn script(folder: &TempDir, name: &str, text: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn sources_and_headers_are_compiled_as_their_translations() {
    let folder =
        folder(&[("src/a.c", SOURCE), ("inc/scale.h", HEADER), ("inc/plain.h", "#define FACTOR 3\n")]);
    let words = ["-q", "--", "cc", "-fopenmp", "-Iinc", "-MMD", "-MP", "src/a.c", "-o", "a.out"];
    let output = cc(folder.path(), &words);
    assert_eq!(said(&output), (Some(0), String::new()));
    let ran = Command::new(folder.path().join("a.out")).env("OMP_NUM_THREADS", "4").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "297 src/a.c:13\n");
    let dependences = text(&folder, "a.d");
    assert!(dependences.contains("src/a.c") && dependences.contains("inc/scale.h"), "{dependences}");
    assert!(!dependences.contains("acc2omp"), "{dependences}");
    assert_eq!(fs::read_dir(folder.path().join("tmp")).unwrap().count(), 0);
}

#[test]
fn messages_of_the_compiler_speak_of_the_lines_of_the_source() {
    let wrong = SOURCE.replace("    return 0;", "    return undeclared;");
    let folder = folder(&[("a.c", &wrong), ("scale.h", HEADER), ("plain.h", "#define FACTOR 3\n")]);
    let (status, message) = said(&cc(folder.path(), &["--", "cc", "-fopenmp", "-c", "a.c"]));
    assert_eq!(status, Some(1));
    assert!(message.contains("a.c:14:12:") && message.contains("undeclared"), "{message}");
}

#[test]
fn what_is_only_looked_at_or_has_no_openacc_is_passed_on() {
    let folder = folder(&[("a.c", SOURCE), ("b.c", "int b;\n"), ("scale.h", HEADER), ("plain.h", "")]);
    let echo = script(&folder, "echo", ECHO);
    let looked = cc(folder.path(), &["--", &echo, "-E", "a.c"]);
    assert_eq!(String::from_utf8_lossy(&looked.stdout), SOURCE);
    let passed = cc(folder.path(), &["--", &echo, "-c", "b.c"]);
    assert_eq!(String::from_utf8_lossy(&passed.stdout), "int b;\n");
    assert_eq!(text(&folder, "words"), "-c b.c\n");
    let three = script(&folder, "three", "#!/bin/sh\nexit 3\n");
    assert_eq!(cc(folder.path(), &["--", &three, "-c", "b.c"]).status.code(), Some(3));
    assert_eq!(cc(folder.path(), &["-q", "--", &three, "-fopenmp", "-c", "a.c"]).status.code(), Some(3));
    let (status, message) = said(&cc(folder.path(), &["--", "no-such-compiler", "-c", "b.c"]));
    assert!(status == Some(2) && message.contains("no-such-compiler"), "{message}");
}

#[test]
fn the_options_of_the_command_choose_branches_and_its_words_stay() {
    let source = "#ifdef GPU\n#pragma acc wait\n#else\n#pragma acc wait(1)\n#endif\n";
    let folder = folder(&[("a.c", source), ("words.txt", "-DGPU 'a.c'")]);
    let echo = script(&folder, "compiler", ECHO);
    let output = cc(folder.path(), &["-q", "--", &echo, "-Wall", "-c", "@words.txt"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("#pragma acc wait(1)") && !text.contains("#pragma acc wait\n"), "{text}");
    assert!(self::text(&folder, "words").starts_with("-Wall -c -DGPU "));
}

#[test]
fn a_command_without_openmp_is_warned_of() {
    let folder = folder(&[("a.c", "#pragma acc wait\n")]);
    let echo = script(&folder, "gcc", ECHO);
    let (_, message) = said(&cc(folder.path(), &["--", &echo, "-c", "a.c"]));
    assert!(message.contains("warning: no option of the command turns OpenMP on"), "{message}");
    let (_, message) = said(&cc(folder.path(), &["--", &echo, "-fopenmp", "-c", "a.c"]));
    assert!(!message.contains("warning"), "{message}");
}

#[test]
fn modules_of_fortran_are_known_to_what_is_compiled_later() {
    let module = "module m\n  real, allocatable :: x(:)\n  !$acc declare create(x)\nend module\n";
    let user = "subroutine s\n  use m\n  allocate(x(10))\nend subroutine\n";
    let folder = folder(&[("m.f90", module), ("s.f90", user)]);
    let echo = script(&folder, "gfortran", ECHO);
    fs::create_dir(folder.path().join("mod")).unwrap();
    let alone = cc(folder.path(), &["-q", "--", &echo, "-fopenmp", "-Jmod", "-c", "s.f90"]);
    assert_eq!(String::from_utf8_lossy(&alone.stdout), user);
    assert!(cc(folder.path(), &["-q", "--", &echo, "-fopenmp", "-Jmod", "-c", "m.f90"]).status.success());
    let together = cc(folder.path(), &["-q", "--", &echo, "-fopenmp", "-Imod", "-c", "s.f90"]);
    let text = String::from_utf8_lossy(&together.stdout).into_owned();
    assert!(text.contains("# 1 \"s.f90\"\n") && text.contains("!$omp target enter data"), "{text}");
    // What was known of a module is gone.
    fs::write(folder.path().join("mod/m.mod"), "").unwrap();
    fs::rename(folder.path().join("m.f90"), folder.path().join("n.f90")).unwrap();
    let (_, message) = said(&cc(folder.path(), &["--", &echo, "-fopenmp", "-Imod", "-c", "s.f90"]));
    assert!(message.contains("warning: s.f90: the source of module `m` is not known"), "{message}");
}

#[test]
fn a_module_that_was_copied_alone_is_reported() {
    let user = "subroutine s\n  use m\n  allocate(x(10))\nend subroutine\n";
    let folder = folder(&[("s.f90", user), ("lib/m.mod", "")]);
    let echo = script(&folder, "gfortran", ECHO);
    let (_, message) = said(&cc(folder.path(), &["--", &echo, "-fopenmp", "-Ilib", "-c", "s.f90"]));
    assert!(message.contains("warning: s.f90: the source of module `m` is not known"), "{message}");
}

#[test]
fn what_clang_writes_of_a_compilation_names_the_source() {
    let folder = folder(&[("src/a.c", "void f(void)\n{\n#pragma acc wait\n}\n")]);
    let clang = script(
        &folder,
        "clang",
        "#!/bin/sh\nfor word; do last=$word; done\nprintf '{ \"file\": \"%s\", \"arguments\": [\"%s\", \"%s\"]},' \"$last\" \"$1\" \"$last\" | sed 's/\", \"/\", \"/' >db.json\necho \"[\\\"$last\\\"]\" >out/a.json\n",
    );
    fs::create_dir(folder.path().join("out")).unwrap();
    let words =
        ["-q", "--", &clang, "-fopenmp", "-MJ", "db.json", "-ftime-trace", "-c", "-o", "out/a.o", "src/a.c"];
    assert_eq!(said(&cc(folder.path(), &words)).0, Some(0));
    assert_eq!(text(&folder, "db.json"), "{ \"file\": \"src/a.c\", \"arguments\": [\"src/a.c\"]},");
    assert_eq!(text(&folder, "out/a.json"), "[\"src/a.c\"]\n");
}

#[test]
fn a_name_with_a_line_end_is_reported() {
    let folder = folder(&[("a\nb.c", "void f(void)\n{\n#pragma acc wait\n}\n")]);
    let echo = script(&folder, "gcc", ECHO);
    let output = cc(folder.path(), &["--", &echo, "-fopenmp", "-c", "a\nb.c"]);
    let (status, message) = said(&output);
    assert!(status == Some(0) && message.contains("left: a\\nb.c: its name has a line end"), "{message}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("#pragma acc wait"));
}

#[test]
fn what_is_compiled_is_recorded() {
    let folder = folder(&[("a.c", "int a;\n"), ("b.c", "int b;\n")]);
    let record = |words: &[&str]| {
        let words: Vec<&str> = ["--record", "db.json", "--", "true"].iter().chain(words).copied().collect();
        assert!(cc(folder.path(), &words).status.success());
    };
    record(&["-c", "-DX", "a.c"]);
    record(&["-c", "b.c", "-o", "b.o"]);
    record(&["-c", "-DY", "a.c"]);
    let entries: Vec<serde_json::Value> = serde_json::from_str(&text(&folder, "db.json")).unwrap();
    let files: Vec<&str> = entries.iter().filter_map(|entry| entry["file"].as_str()).collect();
    assert_eq!(files, ["b.c", "a.c"]);
    assert_eq!(entries[1]["arguments"], serde_json::json!(["true", "-c", "-DY", "a.c"]));
}

#[test]
fn headers_are_found_where_the_compiler_finds_them() {
    let main = |include: &str| {
        format!(
            "{include}\nint main(void)\n{{\n    double a[3] = {{1, 2, 3}};\n    scale(a, 3);\n    return a[2] != 9;\n}}\n"
        )
    };
    let folder = folder(&[
        ("inc/scale.h", HEADER),
        ("inc/plain.h", "#define FACTOR 3\n"),
        ("angle.c", &main("#include <scale.h>")),
        ("quote.c", &main("#include \"inc/scale.h\"")),
        ("import.c", &main("#import \"inc/scale.h\"")),
        ("divided.c", &main("#include \"inc/sc\\\nale.h\"")),
        ("none.c", &main("")),
    ]);
    let commands = [
        ("angle.c", &["--include-directory=inc"][..]),
        ("angle.c", &["-isystem", "inc"]),
        ("quote.c", &[]),
        ("import.c", &["-Wno-deprecated"]),
        ("divided.c", &[]),
        ("none.c", &["-include", "inc/scale.h"]),
        ("none.c", &["-include", "scale.h", "-Iinc"]),
        ("none.c", &["-include", "scale.h", "-iquote", "inc"]),
        ("none.c", &["-includeinc/scale.h"]),
        ("none.c", &["-Wp,-include,inc/scale.h"]),
        ("none.c", &["-Xpreprocessor", "-include", "-Xpreprocessor", "inc/scale.h"]),
        ("angle.c", &["--include-directory-after=inc"]),
    ];
    for (source, options) in commands {
        let words =
            [&["-q", "--", "cc", "-fopenmp", "-S", "-fverbose-asm", "-o", "out.s", source], options].concat();
        assert_eq!(said(&cc(folder.path(), &words)), (Some(0), String::new()), "{words:?}");
        assert!(text(&folder, "out.s").contains("GOMP_target"), "{words:?}");
    }
}

#[test]
fn headers_are_found_that_a_script_around_the_compiler_finds() {
    let main = |include: &str| format!("{include}\nvoid f(double *a)\n{{\n    scale(a, 3);\n}}\n");
    let folder = folder(&[
        ("inc/scale.h", HEADER),
        ("inc/plain.h", "#define FACTOR 3\n"),
        ("quote.c", &main("#include \"scale.h\"")),
        ("angle.c", &main("#include <scale.h>")),
        ("none.c", &main("")),
        ("missing.c", &main("#ifdef NEVER\n#include \"missing.h\"\n#endif\nvoid scale(double *, int);")),
    ]);
    let compiler = script(&folder, "compiler", "#!/bin/sh\necho \"$@\" >>words\nexec cc -Iinc \"$@\"\n");
    for (source, option) in [("quote.c", "-O0"), ("angle.c", "-O0"), ("none.c", "-includescale.h")] {
        let words = ["-q", "--", &compiler, "-fopenmp", option, "-S", "-o", "out.s", source];
        assert_eq!(said(&cc(folder.path(), &words)), (Some(0), String::new()), "{source}");
        assert!(text(&folder, "out.s").contains("GOMP_target"), "{source}");
    }
    let words = ["--", &compiler, "-c", "missing.c", "-o", "a.o"];
    assert_eq!(said(&cc(folder.path(), &words)), (Some(0), String::new()));
    assert_eq!(text(&folder, "words").lines().count(), 8);
    // One that does not say where it searches is asked for the files.
    let silent = "#!/bin/sh\ncase \"$*\" in *-v*) exit 1;; esac\nexec cc -Iinc \"$@\"\n";
    let silent = script(&folder, "silent", silent);
    let (status, message) = said(&cc(folder.path(), &["--", &silent, "-c", "quote.c", "-o", "a.o"]));
    assert!(
        status == Some(0) && message.contains("inc/scale.h: it holds OpenACC that stays as it is"),
        "{message}"
    );
}

#[test]
fn a_macro_of_an_option_may_hold_a_directive() {
    let source = "int a[64];\nvoid f(void)\n{\n    LOOP\n    for (int i = 0; i < 64; i++) a[i] += i;\n}\n";
    let folder = folder(&[("a.c", source)]);
    let define = "-DLOOP=_Pragma(\"acc parallel loop copy(a)\")";
    let output = cc(folder.path(), &["-q", "--", "cc", "-fopenmp", define, "-S", "a.c", "-o", "out.s"]);
    assert_eq!(said(&output), (Some(0), String::new()));
    assert!(text(&folder, "out.s").contains("GOMP_target"));
}

#[test]
fn a_link_to_a_source_includes_what_lies_beside_the_link() {
    let source = "#include \"scale.h\"\nint main(void)\n{\n    double a[3] = {1, 2, 3};\n    scale(a, 3);\n    return a[2] != 9;\n}\n";
    let plain = "#define FACTOR 3\n";
    let folder = folder(&[
        ("real/a.c", source),
        ("real/scale.h", "#error the wrong one\n"),
        ("link/scale.h", HEADER),
        ("link/plain.h", plain),
    ]);
    std::os::unix::fs::symlink("../real/a.c", folder.path().join("link/a.c")).unwrap();
    let words = ["-q", "--", "cc", "-fopenmp", "link/a.c", "-o", "a.out"];
    assert_eq!(said(&cc(folder.path(), &words)), (Some(0), String::new()));
}

#[test]
fn openacc_that_is_not_followed_is_reported() {
    let folder = folder(&[
        ("one/scale.h", "#include_next \"scale.h\"\n"),
        ("two/scale.h", HEADER),
        ("two/plain.h", "#define FACTOR 3\n"),
        ("next.c", "#include \"scale.h\"\nvoid f(void)\n{\n#pragma acc wait\n}\n"),
        ("macro.c", "#define NAME \"scale.h\"\n#include NAME\n"),
    ]);
    for (source, first) in [("next.c", "-Ione"), ("macro.c", "-Itwo")] {
        let words = ["--", "cc", "-fopenmp", first, "-Itwo", "-c", source, "-o", "a.o"];
        let (status, message) = said(&cc(folder.path(), &words));
        assert!(
            status == Some(0) && message.contains("two/scale.h: it holds OpenACC that stays as it is"),
            "{message}"
        );
    }
}

#[test]
fn a_source_is_not_overwritten() {
    let folder = folder(&[("a.c", "void f(void)\n{\n#pragma acc wait\n}\n")]);
    let (status, message) =
        said(&cc(folder.path(), &["-q", "--", "cc", "-fopenmp", "-c", "a.c", "-o", "./a.c"]));
    assert!(status == Some(2) && message.contains("a.c is both source and output"), "{message}");
    assert!(text(&folder, "a.c").contains("#pragma acc wait"));
}

#[test]
fn standard_input_with_openacc_is_refused() {
    let folder = folder(&[]);
    let run = |text: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_acc2omp"))
            .args(["cc", "--", "cc", "-x", "c", "-c", "-", "-o", "a.o"])
            .current_dir(folder.path())
            .stdin(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
        said(&child.wait_with_output().unwrap())
    };
    assert_eq!(run("int accurate;\n").0, Some(0));
    let (status, message) = run("#pragma acc wait\n");
    assert!(status == Some(2) && message.contains("standard input holds OpenACC"), "{message}");
}

#[test]
fn preprocessed_sources_with_openacc_are_reported() {
    let text = "void f(int n, double *a)\n{\n#pragma acc parallel loop\n    for (int i = 0; i < n; i++) a[i] = 0;\n}\n";
    let place = folder(&[("a.i", text), ("b.i", "int x; /* acc */\n")]);
    let (status, said) = said(&cc(place.path(), &["--", "gcc", "-c", "a.i", "b.i"]));
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("left: a.i: it is preprocessed") && !said.contains("b.i"), "{said}");
}

#[test]
fn a_signal_ends_the_compiler_and_leaves_nothing() {
    let folder = folder(&[("a.c", "#pragma acc wait\n")]);
    let slow = script(&folder, "gcc", "#!/bin/sh\ntouch started\nexec sleep 600\n");
    let mut child = Command::new(env!("CARGO_BIN_EXE_acc2omp"))
        .args(["cc", "-q", "--", &slow, "-fopenmp", "-c", "a.c"])
        .current_dir(folder.path())
        .env("TMPDIR", folder.path().join("tmp"))
        .spawn()
        .unwrap();
    while !folder.path().join("started").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert!(!child.wait().unwrap().success());
    assert_eq!(fs::read_dir(folder.path().join("tmp")).unwrap().count(), 0);
}

/// A compiler of CUDA that makes empty objects, and writes its words.
const NVCC: &str = "#!/bin/sh\necho \"$@\" >>nvcc.words\nfor word; do last=$word; done\n\
                    exec cc -x c -c /dev/null -o \"$last\"\n";

#[test]
fn device_code_stands_in_objects_that_any_link_takes() {
    let folder =
        folder(&[("2mm/a.c", SOURCE), ("2mm/scale.h", HEADER), ("2mm/plain.h", "#define FACTOR 3\n")]);
    let nvcc = script(&folder, "nvcc", NVCC);
    let compiler = script(&folder, "cc", "#!/bin/sh\necho \"$@\" >words\nexec cc \"$@\"\n");
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_acc2omp"));
        command.args(["cc", "-q", "--to", "cuda", "--", &compiler]).args(words).current_dir(folder.path());
        said(&command.env("TMPDIR", folder.path().join("tmp")).env("ACC2OMP_NVCC", &nvcc).output().unwrap())
    };
    assert_eq!(run(&["-fsyntax-only", "2mm/a.c"]), (Some(0), String::new()));
    assert!(!folder.path().join("nvcc.words").exists());
    assert_eq!(run(&["-flto", "-c", "2mm/a.c", "-o", "a.o"]), (Some(0), String::new()));
    assert!(text(&folder, "words").contains("-fno-lto -c -o a.o"));
    assert!(text(&folder, "nvcc.words").contains("-Xcompiler -fPIC"));
}

#[test]
fn options_for_openacc_of_another_compiler_go() {
    let folder = folder(&[
        ("a.c", "int main(void)\n{\n    return 0;\n}\n"),
        (
            "b.c",
            "void f(int n, double *a)\n{\n#pragma acc parallel loop copy(a[0:n])\n    for (int i = 0; i < n; i++)\n        a[i] = i;\n}\n",
        ),
    ]);
    let compiler = script(&folder, "clang-19", "#!/bin/sh\necho \"$@\"\n");
    for (source, options) in [("a.c", "-fopenmp -O2 -c a.c"), ("b.c", "-fopenmp -O2 -c ")] {
        let words = [
            "--",
            &compiler,
            "-fopenmp",
            "-foffload=disable",
            "-acc=gpu",
            "-Minfo=accel",
            "-O2",
            "-c",
            source,
        ];
        let output = cc(folder.path(), &words);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(options) && !text.contains("offload=") && !text.contains("acc=gpu"), "{text}");
    }
    let compiler = script(&folder, "gcc-12", "#!/bin/sh\necho \"$@\"\n");
    let output =
        cc(folder.path(), &["--", &compiler, "-fopenmp", "-foffload=disable", "-gpu=cc90", "-c", "a.c"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "-fopenmp -foffload=disable -c a.c");
}
