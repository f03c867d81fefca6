//! `acc2omp verify`: tiny programs, built by the machine's compiler.
//!
//! Invariant: each test runs in a folder of its own, and each could fail.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Prints a number and what `EXTRA` says.
const SOURCE: &str = "#include <stdio.h>\n#ifndef VALUE\n#define VALUE 1.0\n#endif\nint main(void)\n{\n    printf(\"sum %.9f\\n\", VALUE);\n\
                      #ifdef EXTRA\n    EXTRA;\n#endif\n    return 0;\n}\n";

/// A configuration in which a test is built with these flags.
fn config(flags: &str, more: &str) -> String {
    format!(
        "[verify]\nreference = {{ build = \"cc a.c -o a\", run = \"./a\" }}\n\
         test = {{ build = \"cc {flags} a.c -o a\", device = false }}\n{more}"
    )
}

fn folder(config: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.c"), SOURCE).unwrap();
    fs::write(folder.path().join("acc2omp.toml"), config).unwrap();
    folder
}

fn verify(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_acc2omp"));
    command.arg("verify").args(words).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

/// The status and all that was said.
fn said(config: &str) -> (Option<i32>, String) {
    let output = verify(folder(config).path(), &["--yes"]);
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.code(), text.concat())
}

#[track_caller]
fn expect(config: &str, status: i32, words: &str) {
    let (code, text) = said(config);
    assert!(code == Some(status) && text.contains(words), "{code:?}\n{text}");
}

#[test]
fn the_same_program_is_the_same() {
    expect(&config("-O2", ""), 0, "same");
}

#[test]
fn a_number_is_compared_with_its_tolerance() {
    let tolerance = "[verify.compare]\nstdout = { rtol = 1e-6 }\n";
    expect(
        &config("-DVALUE=1.0000001", ""),
        1,
        "line 1, column 5: reference `1.000000000`, test `1.000000100`",
    );
    expect(&config("-DVALUE=1.0000001", tolerance), 0, "same");
    expect(&config("-DVALUE=1.1", tolerance), 1, "different");
    expect(&config("-DVALUE=0.0/0.0", "[verify.compare]\nstdout = { atol = 1e9 }\n"), 1, "different");
}

#[test]
fn noise_says_what_is_allowed() {
    let noise = "noise = { build = \"cc -DVALUE=1.1 a.c -o a\" }\n";
    expect(&config("-DVALUE=1.3", noise), 0, "1 numbers are the same by the tolerance of `noise`");
    expect(&config("-DVALUE=1.5", noise), 1, "different");
}

#[test]
fn the_end_of_a_run_is_compared() {
    expect(&config("'-DEXTRA=return 3'", ""), 1, "exit status: 3");
}

#[test]
fn a_reference_that_fails_or_says_nothing_proves_nothing() {
    let silent = "[verify]\nreference = { run = \"true\" }\ntest = { run = \"true\", device = false }\n";
    expect(silent, 2, "nothing was compared");
    expect(
        &silent.replace("true\" }\ntest", "echo; no-such-program\" }\ntest"),
        2,
        "the reference ends with exit status: 127",
    );
}

#[test]
fn files_are_compared() {
    let write = "'-DEXTRA=fputs(\\\"x 1\\\\\\\\n\\\", fopen(\\\"o.txt\\\", \\\"w\\\"))'";
    let compare = "[verify.compare]\n\"*.txt\" = { }\n";
    expect(&config(write, compare), 1, "reference `no file`, test `a file`");
    expect(&config("-O2", compare), 2, "no file matches");
    let command = "[verify.compare]\n\"a.c\" = { command = \"cmp {reference} {test}\" }\n";
    expect(&config("-O2", command), 0, "same");
    expect(&config("-O2", &command.replace("cmp", "no-such-command")), 2, "could not tell");
    expect(&config("-O2 a.c -o a; echo >>a.c; true", command), 1, "the command says that it differs");
}

#[test]
fn a_build_that_fails_shows_its_line() {
    expect(&config("-DVALUE=nothing", ""), 2, "7 |     printf(");
}

#[test]
fn a_program_that_hangs_is_stopped_with_its_children() {
    let config = "[verify]\ntimeout = 1\nreference = { run = \"true\" }\n\
                  test = { run = \"(sleep 6; touch alive) & sleep 60\", device = false }\n";
    let folder = folder(config);
    let start = Instant::now();
    let output = verify(folder.path(), &["-y"]);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.code() == Some(2) && text.contains("time limit"), "{text}");
    std::thread::sleep(Duration::from_secs(7).saturating_sub(start.elapsed()));
    assert!(!folder.path().join(".acc2omp/verify/test/alive").exists());
}

#[test]
fn children_end_with_their_command() {
    let config = "[verify]\nreference = { run = \"echo\" }\ntest = { run = \"(sleep 2; touch alive) & echo\", device = false }\n";
    let folder = folder(config);
    assert_eq!(verify(folder.path(), &["-y"]).status.code(), Some(0));
    std::thread::sleep(Duration::from_secs(3));
    assert!(!folder.path().join(".acc2omp/verify/test/alive").exists());
}

#[test]
fn a_program_without_launches_tells_nothing() {
    expect(&config("-O2", "").replace(", device = false", ""), 2, "nothing ran on a device");
}

#[test]
fn launches_are_counted_and_are_no_output() {
    let line = "'-DEXTRA=puts(\\\"acc2omp: a.c:7: 3 launches, 1 ms\\\")'";
    expect(&config(line, "").replace(", device = false", ""), 0, "3");
}

#[test]
fn the_disk_has_a_limit() {
    expect(&config("-O2", "disk = \"100 B\"\n"), 2, "disk = \"100 B\"");
    let endless = "[verify]\ndisk = \"1 MB\"\nreference = { run = \"yes\" }\ntest = { run = \"true\" }\n";
    expect(endless, 2, "wrote more than `disk` allows");
}

#[test]
fn nothing_runs_that_nobody_has_agreed_to() {
    let folder = folder(&config("-O2", ""));
    let output = verify(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("reference, build: cc a.c -o a") && text.contains("--yes"), "{text}");
    assert!(!folder.path().join(".acc2omp/verify/reference").exists());
}

#[test]
fn links_out_of_the_folder_are_refused() {
    let (folder, other) = (folder(&config("-O2", "")), tempfile::tempdir().unwrap());
    std::os::unix::fs::symlink(other.path(), folder.path().join(".acc2omp")).unwrap();
    assert_eq!(verify(folder.path(), &["-y"]).status.code(), Some(2));
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
}

#[test]
fn mistakes_of_the_configuration_have_their_line() {
    expect("[verify]\nreference = { run = \"true\" }\ntest = { runs = \"true\" }\n", 2, "acc2omp.toml:3");
    expect("[verify]\nreference = { run = \"true\" }\n", 2, "neither `test`");
    expect("[verify]\nreference = { run = \"true\" }\n[verify.tests.reference]\n", 2, "cannot be called");
    let folder = folder(&config("-O2", ""));
    let mut command = Command::new(env!("CARGO_BIN_EXE_acc2omp"));
    assert!(command.arg("config").current_dir(folder.path()).output().unwrap().status.success());
}

#[test]
fn the_result_is_json_where_asked() {
    let output = verify(folder(&config("-DVALUE=2.0", "")).path(), &["-y", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["format"], &report["status"]), (&1.into(), &"different".into()));
    assert_eq!(report["tests"][0]["comparisons"][1]["first"][0]["test"], "2.000000000");
}

#[test]
fn a_section_is_written_that_can_be_read() {
    let folder = folder("omp = 5.1");
    fs::write(folder.path().join("Makefile"), "CC = gcc\na: a.c\n\t$(CC) $(CFLAGS) a.c -o a\n").unwrap();
    assert!(verify(folder.path(), &["--init"]).status.success());
    let text = fs::read_to_string(folder.path().join("acc2omp.toml")).unwrap();
    assert!(text.starts_with("omp = 5.1\n") && text.contains("CC='acc2omp cc -- clang'"), "{text}");
    assert_eq!(verify(folder.path(), &["--init"]).status.code(), Some(2));
    let (code, said) = (verify(folder.path(), &[]).status.code(), verify(folder.path(), &[]).stderr);
    assert!(code == Some(2) && String::from_utf8_lossy(&said).contains("--yes"));
}
