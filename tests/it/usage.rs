//! Command lines and configurations that are wrong: what is said names the place and a way out.
//!
//! Invariant: each test runs in a folder of its own.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

const LOOP: &str = "void f(int n, double *a)\n{\n#pragma acc parallel loop copy(a[0:n])\n    \
                    for (int i = 0; i < n; i++)\n        a[i] *= 2.0;\n}\n";

fn project() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("src/inner")).unwrap();
    fs::create_dir(folder.path().join("other")).unwrap();
    fs::write(folder.path().join("src/a.c"), LOOP).unwrap();
    folder
}

/// Status, standard output and what was said.
fn run(folder: &Path, words: &[&str], input: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_acc2omp"));
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.args(words).current_dir(folder).spawn().unwrap();
    // A program that reads nothing may have ended.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[track_caller]
fn refused(folder: &Path, words: &[&str], why: &str) {
    let (status, _, said) = run(folder, words, "");
    assert!(status == 2 && said.contains(why), "{words:?}: {status}\n{said}");
}

#[test]
fn values_are_named_with_what_is_wanted() {
    let project = project();
    let of = |words: &[&str], why: &str| refused(project.path(), &[&["src", "--check"], words].concat(), why);
    of(&["--budget", "-1"], "invalid value '-1' for '--budget <TIMES>': want a whole number, 0 or more");
    of(&["--budget", "1.5"], "want a whole number, 0 or more");
    of(&["-j", "-1"], "invalid value '-1' for '--jobs <N>'");
    of(&["--omp", "4.0"], "invalid value '4.0' for '--omp <VERSION>': want 4.5, which is the oldest, 5.0");
    of(&["--rules", "nosuch"], "error: `--rules nosuch`: No such file");
    of(&["--device-type", ""], "want the name of a device");
    of(&["-D", "1Y"], "invalid value '1Y' for '-D <NAME[=V]>': want NAME or NAME=V");
    of(&["--to", "cuda", "--existing-omp", "keep"], "`--existing-omp` is about OpenMP");
}

#[test]
fn a_command_that_is_misspelt_is_not_a_file() {
    let project = project();
    refused(
        project.path(),
        &["explian", "A0205"],
        "there is no file and no command `explian`: did you mean `explain`?",
    );
    refused(project.path(), &["verfy", "--yes"], "did you mean `verify`?");
    refused(project.path(), &["nosuch"], "there is no file and no command `nosuch`");
    refused(project.path(), &["src"], "say where the translation goes");
    refused(project.path(), &["nosuch", "--check"], "nosuch: No such file");
    fs::write(project.path().join("verfy"), "").unwrap();
    assert_eq!(run(project.path(), &["verfy", "--check", "-q"], "").0, 0);
}

#[test]
fn inputs_without_sources_are_said() {
    let project = project();
    fs::write(project.path().join("other/notes.txt"), "#pragma acc loop\n").unwrap();
    let (status, _, said) = run(project.path(), &["other", "--check"], "");
    assert!(status == 0 && said.contains("note: no source of C, C++ or Fortran found in other\n"), "{said}");
    let said = run(project.path(), &["src", "--check"], "").2;
    assert!(!said.contains("no source"), "{said}");
}

#[test]
fn fortran_on_standard_input_is_not_taken_for_c() {
    let project = project();
    let source = "subroutine s(n, a)\ninteger :: n, i\nreal :: a(n)\n!$acc parallel loop\ndo i = 1, n\na(i) = 1\nend do\nend\n";
    let (status, text, said) = run(project.path(), &["-"], source);
    assert!(
        status == 2 && text.is_empty() && said.contains("looks like Fortran: say `--form free`"),
        "{said}"
    );
    let (status, text, _) = run(project.path(), &["-", "--form", "free"], source);
    assert!(status == 0 && text.contains("!$omp target"), "{text}");
    assert!(run(project.path(), &["-"], LOOP).1.contains("#pragma omp target"));
}

#[test]
fn a_configuration_is_wrong_in_a_line() {
    let project = project();
    let of = |text: &str, why: &str| {
        fs::write(project.path().join("acc2omp.toml"), text).unwrap();
        let (status, _, said) = run(project.path(), &["src", "--check"], "");
        assert!(status == 2 && said.starts_with(&format!("error: acc2omp.toml:{why}")), "{text}{said}");
        assert!(!said.contains("Usage"), "{said}");
    };
    of("omp = \"9\"\n", "1: `omp` is `9`: want 4.5");
    of("quiet = true\njobs = -1\n", "2: `jobs` is `-1`: want a whole number");
    of("\nD = [\"X\", \"1Y\"]\n", "2: `D` is `1Y`: want NAME or NAME=V");
    of("\nnest = \"x\"\n", "2: `nest` is `x`: want one of `loop`, `distribute`");
    of("\nprofile = \"no\"\n", "2: `--profile no`: there is no such profile");
    of("[profile.x]\ninherits = \"gcc\"\nfoo = 1\n", "3: unknown field `foo`");
    of("[profile.x]\ninherits = \"no\"\n", "2: `inherits` names no profile");
    of("[[path]]\nmatch = \"*\"\nomp = 3\n", "3: `omp` is `3`");
    of("[[at]]\nfile = \"src/a.c\"\nline = 3\ndo = \"no\"\n", "4: `do` is `\"leave\"` or `\"seq\"`");
    of("[[at]]\nfile = \"src/b.c\"\n", "2: `file` is `src/b.c`: No such file");
    of("[[at]]\nfile = \"src/a.c\"\nline = 3\nto = 1\n", "4: `[[at]]` has no `to`");
    of("[[at]]\nfile = \"src/a.c\"\n", "1: `[[at]]` wants");
}

#[test]
fn the_options_in_force_are_shown() {
    let project = project();
    let text = run(project.path(), &["config", "src"], "").1;
    for line in [
        "omp = \"4.5\"  # default",
        "profile = \"generic\"  # default",
        "existing-omp = \"ask\"  # default",
        "budget = 1  # default",
        "diff = false  # default",
        "D = []  # default",
        "# out is not set",
    ] {
        assert!(text.lines().any(|one| one == line), "{line}\n{text}");
    }
    let jobs = text.lines().find(|line| line.starts_with("jobs = ")).unwrap();
    assert_ne!(jobs, "jobs = 0  # default");
    // What is shown can be said.
    let values: String =
        text.lines().map(|line| format!("{}\n", line.split("  #").next().unwrap())).collect();
    fs::write(project.path().join("acc2omp.toml"), values).unwrap();
    assert_eq!(run(project.path(), &["src", "--check", "-q"], ""), (0, String::new(), String::new()));
}

#[test]
fn drift_says_what_a_folder_lacks() {
    let project = project();
    refused(project.path(), &["drift", "nosuch"], "nosuch: No such file");
    refused(
        project.path(),
        &["drift", "src"],
        "src: not an output of acc2omp: it has no .acc2omp/manifest.json",
    );
    assert_eq!(run(project.path(), &["src", "-o", "out", "-q"], "").0, 0);
    fs::rename(project.path().join("src/a.c"), project.path().join("src/b.c")).unwrap();
    fs::write(project.path().join("src/c.c"), "int c;\n").unwrap();
    let (status, text, _) = run(project.path(), &["drift", "out"], "");
    let expected =
        "out/a.c: its source src/a.c is gone\nsrc/b.c: not translated yet\nsrc/c.c: not copied yet\n";
    assert_eq!((status, text.as_str()), (1, expected));
    let said = run(project.path(), &["src", "-o", "out"], "").2;
    assert!(said.contains("note: out/a.c: its source src/a.c is gone\n"), "{said}");
}

#[test]
fn pages_are_found_by_the_words_of_openacc() {
    let project = project();
    let of = |words: &[&str]| run(project.path(), words, "");
    assert_eq!(of(&["rules", "parallel loop"]), of(&["rules", "parallel-loop"]));
    assert!(of(&["rules", "parallel loop"]).1.starts_with("# `parallel loop`"));
    refused(project.path(), &["rules", "presnt"], "no rule is called `presnt`: did you mean `present`?");
    let both = [of(&["explain", "A0205"]).1, of(&["explain", "A0201"]).1].join("\n");
    assert_eq!(of(&["explain", "A0205", "A0201"]), (0, both, String::new()));
    refused(project.path(), &["explain", "A0205", "A0"], "no diagnostic has the code `A0`");
}

#[test]
fn a_report_goes_to_standard_output_by_its_sign() {
    let project = project();
    let words = ["src", "--check", "-q", "--format", "json"];
    let plain = run(project.path(), &words, "");
    assert_eq!(run(project.path(), &[&words[..], &["--output", "-"]].concat(), ""), plain);
    assert!(plain.1.starts_with('{') && !project.path().join("-").exists());
    let both = ["src", "--diff", "--format", "json", "--output", "-"];
    refused(project.path(), &both, "takes standard output");
}

#[test]
fn a_patch_of_inputs_elsewhere_is_for_their_folder() {
    let project = project();
    let other = project.path().join("other");
    let (_, patch, said) = run(&other, &["../src", "--diff"], "");
    assert!(patch.starts_with("--- a/a.c\n+++ b/a.c\n"), "{patch}");
    assert!(said.contains("note: the patch is for the folder ../src: `patch -d ../src -p1`"), "{said}");
    // Inputs of several folders: the one that holds them all.
    fs::write(project.path().join("other/b.c"), LOOP).unwrap();
    let (_, patch, said) = run(&other, &["../src/a.c", "b.c", "--diff"], "");
    assert!(patch.contains("--- a/src/a.c\n") && patch.contains("--- a/other/b.c\n"), "{patch}");
    assert!(said.contains("for the folder .."), "{said}");
    // What lies below the current folder is seen from there.
    let source = project.path().join("src").canonicalize().unwrap();
    let (_, patch, said) = run(project.path(), &[source.to_str().unwrap(), "--diff"], "");
    assert!(patch.starts_with("--- a/src/a.c\n") && !said.contains("the patch is for"), "{patch}{said}");
}

#[cfg(unix)]
#[test]
fn a_patch_of_inputs_elsewhere_can_be_applied() {
    let project = project();
    let (_, patch, _) = run(&project.path().join("other"), &["../src", "--diff", "-q"], "");
    fs::write(project.path().join("other/p.patch"), patch).unwrap();
    let applied = Command::new("sh")
        .args(["-c", "cd src && git apply -p1 ../other/p.patch"])
        .env("GIT_CEILING_DIRECTORIES", project.path().parent().unwrap())
        .current_dir(project.path())
        .status();
    // Without git there is nothing to try.
    if applied.is_ok_and(|status| status.code() != Some(127)) {
        assert!(fs::read_to_string(project.path().join("src/a.c")).unwrap().contains("#pragma omp target"));
    }
}

#[test]
fn what_builds_device_code_compiles_and_links() {
    let project = project();
    let said = run(project.path(), &["src", "--to", "cuda", "-o", "out"], "").2;
    assert!(said.contains("-rdc=true -c a_acc.cu acc2omp_cuda.cu\n"), "{said}");
    assert!(
        said.contains("note: nvcc links it with the objects of the program: nvcc -O2 -arch=sm_90 *.o\n"),
        "{said}"
    );
    let said = run(project.path(), &["src", "--to", "cuda", "-o", "out2", "--emit-build", "make"], "").2;
    assert!(said.contains("note: acc2omp.mk builds the device code"), "{said}");
}
