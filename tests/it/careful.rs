//! Disks that are full, readers that go away, names that are odd, and translations that are translated once more.
//!
//! Invariant: each test runs in a folder of its own; what must not be lost is compared byte for byte.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A loop that every version translates.
const LOOP: &str = "void f(int n, double *a)\n{\n#pragma acc parallel loop copy(a[0:n])\n    \
                    for (int i = 0; i < n; i++)\n        a[i] *= 2.0;\n}\n";

const PROGRAM: &str = env!("CARGO_BIN_EXE_acc2omp");

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).current_dir(folder).output().unwrap()
}

fn said(folder: &Path, arguments: &[&str], status: i32) -> String {
    let output = run(folder, arguments);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{arguments:?} said:\n{text}");
    text
}

/// Runs a line of the shell, where `$0` is acc2omp.
#[cfg(unix)]
fn shell(folder: &Path, line: &str) -> Output {
    Command::new("sh").args(["-c", line, PROGRAM]).current_dir(folder).output().unwrap()
}

/// The files below a folder, without what acc2omp knows of an output tree.
fn names(folder: &Path) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten();
    let files = walk.filter(|entry| entry.file_type().is_file());
    let inner = files.map(|entry| entry.path().strip_prefix(folder).unwrap().to_path_buf());
    inner.filter(|path| !path.starts_with(".acc2omp")).collect()
}

/// An option whose FILE was forgotten takes the next word for it.
#[test]
fn a_report_replaces_no_source() {
    let place = folder(&[("a.c", LOOP), ("b.c", LOOP), ("other.txt", LOOP)]);
    for arguments in [
        &["--check", "--write-baseline", "a.c", "b.c"][..],
        &["--check", "--format", "json", "--output", "a.c", "b.c"],
        &["--in-place", "--output", "b.c", "b.c"],
        &["--language", "txt=c", "--check", "--output", "other.txt", "other.txt"],
    ] {
        let text = said(place.path(), arguments, 2);
        assert!(text.contains("a report does not replace a source"), "{text}");
    }
    for name in ["a.c", "b.c", "other.txt"] {
        assert_eq!(fs::read_to_string(place.path().join(name)).unwrap(), LOOP);
    }
}

#[test]
fn a_report_replaces_no_baseline() {
    let place = folder(&[("a.c", LOOP)]);
    for baseline in ["new.json", "./new.json"] {
        let arguments =
            ["a.c", "--check", "--format", "json", "--output", "new.json", "--write-baseline", baseline];
        let text = said(place.path(), &arguments, 2);
        assert!(text.contains("one would replace the other"), "{text}");
    }
    assert!(!place.path().join("new.json").exists());
}

#[test]
fn outputs_of_other_runs_are_no_inputs() {
    let place = folder(&[("src/a.c", LOOP)]);
    said(place.path(), &[".", "-o", "one"], 0);
    let text = said(place.path(), &[".", "-o", "two"], 0);
    assert!(text.contains("one: an output of acc2omp, skipped"), "{text}");
    said(place.path(), &[".", "-o", "one"], 0);
    assert!(place.path().join("two/src/a.c").is_file());
    assert!(!place.path().join("two/one").exists() && !place.path().join("one/two").exists());
    said(place.path(), &["one", "--check"], 0);
}

/// A disk without room is a limit for the size of files, so that a write fails in the middle of one.
#[test]
#[cfg(unix)]
fn a_full_disk_leaves_no_half_file() {
    let large = LOOP.repeat(200);
    let place = folder(&[("src/large.c", &large), ("src/small.c", LOOP)]);
    // A block is 512 or 1024 bytes, and the manifest fits into these.
    let line = |rest: &str| format!("trap '' XFSZ; ulimit -f 8; exec \"$0\" {rest}");
    let tree = shell(place.path(), &line("src -o out -j 1"));
    let text = String::from_utf8_lossy(&tree.stderr).into_owned();
    assert_eq!(tree.status.code(), Some(2), "{text}");
    assert!(text.contains("error: src/large.c: out/large.c: File too large"), "{text}");
    assert_eq!(names(&place.path().join("out")), [Path::new("small.c")], "{text}");
    let over = shell(place.path(), &line("src --in-place -j 1"));
    let text = String::from_utf8_lossy(&over.stderr).into_owned();
    assert_eq!(over.status.code(), Some(2), "{text}");
    assert!(text.contains("error: src/large.c: ") && text.contains("large.c: File too large"), "{text}");
    assert_eq!(fs::read_to_string(place.path().join("src/large.c")).unwrap(), large);
    assert_eq!(names(&place.path().join("src")), [Path::new("large.c"), Path::new("small.c")]);
    // With room, the next run ends what this one could not.
    said(place.path(), &["src", "-o", "out"], 0);
    assert!(fs::read_to_string(place.path().join("out/large.c")).unwrap().contains("#pragma omp"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_output_fails() {
    let place = folder(&[("a.c", LOOP)]);
    for line in ["\"$0\" --diff a.c > /dev/full", "\"$0\" - < a.c > /dev/full", "\"$0\" --help > /dev/full"] {
        let output = shell(place.path(), line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("standard output: "), "{line}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn files_that_have_no_end_are_not_read() {
    let place = folder(&[("a.c", LOOP)]);
    for option in ["--baseline", "-p"] {
        let text = said(place.path(), &["a.c", "--check", option, "/dev/zero"], 2);
        assert!(text.contains("/dev/zero: not a regular file"), "{text}");
    }
}

/// Two names that look alike where bytes are replaced, and one of two lines.
#[test]
#[cfg(target_os = "linux")]
fn later_runs_know_files_by_any_name() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = folder(&[]);
    let sources = ["\u{fffd}.c", "a\nb.c"].map(str::as_bytes);
    let sources = [&b"\xff.c"[..], b"\xfe.c"].into_iter().chain(sources).map(OsStr::from_bytes);
    fs::create_dir(place.path().join("src")).unwrap();
    let write = |value: &str| {
        for source in sources.clone() {
            fs::write(place.path().join("src").join(source), LOOP.replace("*= 2.0;", value)).unwrap();
        }
    };
    write("*= 2.0;");
    said(place.path(), &["src", "-o", "out"], 0);
    said(place.path(), &["drift", "out"], 0);
    for source in sources.clone() {
        let output = place.path().join("out").join(source);
        let edited = fs::read_to_string(&output).unwrap() + "/* edited */\n";
        fs::write(output, edited).unwrap();
    }
    said(place.path(), &["src", "-o", "out"], 0);
    write("*= 5.0;");
    said(place.path(), &["src", "-o", "out"], 0);
    for source in sources {
        let made = fs::read_to_string(place.path().join("out").join(source)).unwrap();
        assert!(made.contains("*= 5.0;") && made.contains("/* edited */"), "{made}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_name_that_is_too_long_is_called_so() {
    let source = format!("{}.c", "x".repeat(253));
    let place = folder(&[(&format!("src/{source}"), LOOP)]);
    for options in [&["src", "-o", "out"][..], &["src", "--in-place"]] {
        let text = said(place.path(), &[options, &["--to", "cuda"]].concat(), 2);
        assert!(text.contains("File name too long") && !text.contains("--force"), "{text}");
    }
}

/// Runs acc2omp for a reader that goes away after one byte, or before the first one.
fn unread(folder: &Path, arguments: &[&str], is_begun: bool) -> Option<i32> {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::null());
    let (reader, writer) = std::io::pipe().unwrap();
    command.stdout(writer);
    let mut reader = Some(reader);
    if !is_begun {
        reader = None;
    }
    let mut child = command.spawn().unwrap();
    // The other end of the pipe is the child's alone.
    drop(command);
    if let Some(mut reader) = reader {
        reader.read_exact(&mut [0]).unwrap();
    }
    child.wait().unwrap().code()
}

#[test]
fn a_reader_that_goes_away_loses_translations_and_no_help() {
    // More than a pipe holds.
    let place = folder(&[("a.c", &LOOP.repeat(2000))]);
    assert_eq!(unread(place.path(), &["--help"], false), Some(0));
    assert_eq!(unread(place.path(), &["explain", "A0001"], false), Some(0));
    assert_eq!(unread(place.path(), &["--diff", "a.c"], false), Some(2));
    assert_eq!(unread(place.path(), &["--diff", "a.c"], true), Some(2));
    assert_eq!(unread(place.path(), &["--check", "a.c"], false), Some(0));
}

#[test]
fn git_takes_differences_of_files_with_odd_names() {
    let odd = [
        "a b.c",
        "tab\there.c",
        "quote\".c",
        "back\\slash.c",
        "line\nend.c",
        "\u{e4}\u{4e16}.c",
        "-o.c",
        "d e/f.c",
    ];
    let files: Vec<(&str, &str)> = odd.iter().map(|name| (*name, LOOP)).collect();
    let place = folder(&files);
    let other = folder(&files);
    let difference = run(place.path(), &["--diff", "."]);
    assert_eq!(difference.status.code(), Some(0));
    let patch = other.path().join("the.patch");
    fs::write(&patch, &difference.stdout).unwrap();
    let git = Command::new("git").args(["apply", "the.patch"]).current_dir(other.path()).output();
    // Not everywhere is there git; the names are compared with what it writes in a test of their own.
    let Ok(git) = git else { return };
    assert!(git.status.success(), "{}", String::from_utf8_lossy(&git.stderr));
    for name in odd {
        let text = fs::read_to_string(other.path().join(name)).unwrap();
        assert!(text.contains("#pragma omp") && !text.contains("#pragma acc"), "{name}:\n{text}");
    }
}

/// A program whose translation includes the support header.
const SUPPORTED: &str = "#include <openacc.h>\nvoid f(int n, double *a)\n{\n#pragma acc parallel loop copy(a[0:n]) async(3)\n    \
                         for (int i = 0; i < n; i++)\n        a[i] *= 2.0;\n    acc_wait_all();\n}\n";

#[test]
fn a_patch_has_the_support_header_as_its_last_file() {
    let files = [("a.c", SUPPORTED), ("b.c", SUPPORTED)];
    let (place, other) = (folder(&files), folder(&files));
    let patch = run(place.path(), &["--diff", "--async", "queues", "."]);
    let text = String::from_utf8_lossy(&patch.stdout).into_owned();
    let names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("+++ b/")).collect();
    assert_eq!(names, ["a.c", "b.c", "acc2omp.h"]);
    fs::write(other.path().join("the.patch"), &patch.stdout).unwrap();
    let git = Command::new("git").args(["apply", "the.patch"]).current_dir(other.path()).output();
    let Ok(git) = git else { return };
    assert!(git.status.success(), "{}", String::from_utf8_lossy(&git.stderr));
    said(place.path(), &["--async", "queues", ".", "-o", "out"], 0);
    for name in names {
        let written = fs::read(place.path().join("out").join(name)).unwrap();
        assert_eq!(fs::read(other.path().join(name)).unwrap(), written, "{name}");
    }
}

/// `script` of util-linux runs a program with a terminal.
#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_the_support_header_is_one_line() {
    let place = folder(&[("a.c", SUPPORTED)]);
    let on_terminal = |options: &str| {
        let line = format!("'{PROGRAM}' --diff --async queues {options} a.c");
        let done =
            Command::new("script").args(["-qec", &line, "/dev/null"]).current_dir(place.path()).output();
        done.ok().map(|done| String::from_utf8_lossy(&done.stdout).replace('\r', ""))
    };
    let Some(text) = on_terminal("") else { return };
    assert!(text.contains("+++ b/a.c\n") && !text.contains("+++ b/acc2omp.h"), "{text}");
    let notes: Vec<&str> = text.lines().filter(|line| line.contains("acc2omp.h: a new file of ")).collect();
    assert_eq!(notes.len(), 1, "{text}");
    assert!(!on_terminal("-q").unwrap().contains("a new file of"));
}

/// A compiler that writes a file for each object.
const STUB: &str = "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = -o ] && out=$2; [ \"$1\" = -c ] && cat \"$2\" >/dev/null && in=$2; \
                    shift; done\n[ -n \"$in\" ] && echo object > \"$out\"\n";

#[test]
#[cfg(unix)]
fn make_finds_device_files_with_odd_names() {
    use std::os::unix::fs::PermissionsExt;
    let odd = ["plain.c", "a b.c", "dollar$.c", "hash#.c", "colon:.c", "quote'.c", "\u{e4}.c"];
    let files: Vec<(String, &str)> = odd.iter().map(|name| (format!("src/{name}"), LOOP)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let place = folder(&files);
    said(place.path(), &["src", "--to", "cuda", "--emit-build", "make", "-o", "out"], 0);
    let out = place.path().join("out");
    fs::write(out.join("Makefile"), "include acc2omp.mk\nall: $(ACC2OMP_OBJECTS)\n.DEFAULT_GOAL := all\n")
        .unwrap();
    fs::write(out.join("stub"), STUB).unwrap();
    fs::set_permissions(out.join("stub"), fs::Permissions::from_mode(0o755)).unwrap();
    let Ok(made) = Command::new("make").args(["ACC2OMP_NVCC=./stub"]).current_dir(&out).output() else {
        return;
    };
    let text = String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(made.status.success(), "{text}\n{}", fs::read_to_string(out.join("acc2omp.mk")).unwrap());
    for name in odd {
        let object = name.replace(".c", "_acc.cu.o");
        assert!(out.join(&object).exists(), "{object}: {text}");
    }
    fs::write(place.path().join("src/semi;.c"), LOOP).unwrap();
    let text = said(place.path(), &["src", "--to", "cuda", "--emit-build", "make", "-o", "out"], 2);
    assert!(text.contains("error: out/acc2omp.mk: it cannot hold the name \"semi;_acc.cu\""), "{text}");
}

#[test]
fn lines_of_fortran_have_the_indentation_of_their_place() {
    for indent in ["", "   ", "\t\t"] {
        let text = format!(
            "subroutine f(n, a, s)\n{indent}use openacc\n{indent}implicit none\n{indent}integer :: n\n{indent}real :: a(n), s\n\
             !$acc kernels\n{indent}s = sum(a)\n!$acc end kernels\n{indent}call acc_wait(1)\nend subroutine\n"
        );
        let place = folder(&[("a.f90", &text)]);
        said(place.path(), &["--in-place", "a.f90"], 0);
        let made = fs::read_to_string(place.path().join("a.f90")).unwrap();
        let is_new =
            |line: &&str| !text.lines().any(|old| old == *line) && !line.trim_start().starts_with('!');
        let new: Vec<&str> = made.lines().filter(is_new).collect();
        assert!(!new.is_empty(), "{made}");
        for line in new {
            let rest = line.strip_prefix(indent).unwrap_or_else(|| panic!("`{line}` in\n{made}"));
            // What stands in a block of its own is two blanks further.
            let lead = rest.len() - rest.trim_start().len();
            assert!(
                rest.trim_start_matches(' ').len() == rest.trim_start().len() && lead % 2 == 0,
                "`{line}` in\n{made}"
            );
        }
    }
}

#[test]
fn a_guarded_file_that_is_guarded_again_stays() {
    let fortran = "subroutine f(n, a)\ninteger n, i\nreal a(n)\n!$acc parallel loop copy(a)\ndo i = 1, n\n\
                   a(i) = a(i) + 1\nend do\nend\n";
    let beside = format!(
        "{fortran}subroutine g(n, a)\ninteger n, i\nreal a(n)\n!$ n = n - 1\n!$acc set device_num(0)\n!$omp parallel do\ndo i = 1, n\n\
         a(i) = 0\nend do\nend\n"
    );
    let library = format!("#include <openacc.h>\n{LOOP}void g(void)\n{{\n    acc_wait_all();\n}}\n");
    for guard in ["--guard", "--guard=A,B"] {
        let files =
            [("a.f90", fortran), ("a.F90", fortran), ("b.F90", &beside), ("a.c", LOOP), ("b.c", &library)];
        for (name, text) in files {
            let place = folder(&[(name, text)]);
            let _ = run(place.path(), &[name, guard, "--in-place"]);
            let once = fs::read_to_string(place.path().join(name)).unwrap();
            assert!(once.contains("omp target"), "{once}");
            let _ = run(place.path(), &[name, guard, "--in-place"]);
            assert_eq!(fs::read_to_string(place.path().join(name)).unwrap(), once, "{guard} {name}");
            // What is new is translated, and what was there stays.
            let more = format!("{once}{}", text.replace(" f(", " h(").replace(" g(", " k("));
            fs::write(place.path().join(name), &more).unwrap();
            let _ = run(place.path(), &[name, guard, "--in-place"]);
            let made = fs::read_to_string(place.path().join(name)).unwrap();
            assert_eq!(made.matches("omp target").count(), 2 * once.matches("omp target").count(), "{made}");
        }
    }
}

#[test]
fn what_has_no_effect_is_refused_or_said() {
    let place = folder(&[("a.c", LOOP)]);
    for (options, word) in [
        (&["--to", "cuda", "--omp", "4.5"][..], "`--omp` is about OpenMP"),
        (&["--to", "cuda", "--profile", "gcc"], "`--profile` is about OpenMP"),
        (&["--to", "cuda", "--guard"], "`--guard` is about OpenMP"),
        (&["--host-fallback", ""], "wants a condition"),
        (&["--host-fallback", "a)b("], "wants a condition"),
        (&["--guard=defined,OMP"], "want the names of two macros"),
        (&["--line-directives"], "goes with `--to cuda`"),
    ] {
        let text = said(place.path(), &[&["a.c", "--check"], options].concat(), 2);
        assert!(text.contains(word), "{options:?}: {text}");
    }
    let text = said(place.path(), &["a.c", "--check", "--device-type", "toaster"], 0);
    assert!(text.contains("no OpenACC compiler is known to call a device `toaster`"), "{text}");
}

#[test]
fn a_source_with_another_ending_goes_to_cuda() {
    let place = folder(&[("src/a.tpp", LOOP), ("src/a.c", LOOP)]);
    said(place.path(), &["src", "--language", "tpp=c", "--to", "cuda", "-o", "out"], 0);
    let made = names(&place.path().join("out"));
    for name in ["a.c", "a.tpp", "a_c_acc.cu", "a_tpp_acc.cu"] {
        assert!(made.iter().any(|path| path == Path::new(name)), "{name}: {made:?}");
    }
}

#[test]
#[cfg(unix)]
fn an_output_has_the_mode_of_its_source() {
    use std::os::unix::fs::PermissionsExt;
    let place = folder(&[("src/a.c", LOOP), ("src/run.sh", "echo\n")]);
    for (name, mode) in [("src/a.c", 0o640), ("src/run.sh", 0o755)] {
        fs::set_permissions(place.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    for _ in 0..2 {
        said(place.path(), &["src", "-o", "out"], 0);
        for (name, mode) in [("out/a.c", 0o640), ("out/run.sh", 0o755)] {
            let there = fs::metadata(place.path().join(name)).unwrap().permissions().mode();
            assert_eq!(there & 0o777, mode, "{name}");
        }
    }
}
