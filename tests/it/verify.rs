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
    let noise = "noise = { build = \"cc -DVALUE=1.001 a.c -o a\" }\n";
    expect(&config("-DVALUE=1.003", noise), 0, "1 numbers are the same by the tolerance of `noise`");
    expect(&config("-DVALUE=1.005", noise), 1, "different");
    // What has no digits in common is roundings.
    let rounding = "noise = { build = \"cc -DVALUE=1.1 a.c -o a\" }\n";
    expect(&config("-DVALUE=3.0", rounding), 0, "1 numbers are the same by the tolerance of `noise`");
    expect(&config("-DVALUE=12.0", rounding), 1, "different");
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
    let command = "[verify.compare]\n\"a\" = { command = \"ls {reference} {test}\" }\n";
    expect(&config("-O2", command), 0, "same");
    expect(&config("-O2", &command.replace("ls", "no-such-command")), 2, "could not tell");
    expect(&config("-O2", &command.replace("ls", "! ls")), 1, "the command says that it differs");
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
fn a_program_without_launches_reports_nothing() {
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
    assert!(
        text.starts_with("omp = 5.1\n") && text.contains("CC='acc2omp cc -- clang -O2 -fopenmp "),
        "{text}"
    );
    assert_eq!(verify(folder.path(), &["--init"]).status.code(), Some(2));
    let (code, said) = (verify(folder.path(), &[]).status.code(), verify(folder.path(), &[]).stderr);
    assert!(code == Some(2) && String::from_utf8_lossy(&said).contains("--yes"));
}

/// What a command writes, its status first.
fn output(folder: &Path, words: &[&str]) -> (Option<i32>, String) {
    let output = verify(folder, words);
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.code(), text.concat())
}

#[track_caller]
fn expect_in(folder: &Path, words: &[&str], status: i32, part: &str) -> String {
    let (code, text) = output(folder, words);
    assert!(code == Some(status) && text.contains(part), "{words:?}: {code:?}\n{text}");
    text
}

/// Two constructs; `FAULT` breaks the second, when it runs for the second time, and `CLAUSE` stands on it.
const CONSTRUCTS: &str = "#include <stdio.h>\nint main(void)\n{\n    double a[8];\n    for (int i = 0; i < 8; i++)\n        a[i] = i;\n\
    for (int step = 0; step < 3; step++) {\n#pragma acc parallel loop copy(a)\n        for (int i = 0; i < 8; i++)\n            a[i] += 1;\n\
    #pragma acc parallel loop copy(a) CLAUSE\n        for (int i = 0; i < 8; i++)\n            a[i] *= FAULT && step == 1 && i == 3 ? 3 : 2;\n    }\n\
    for (int i = 0; i < 8; i++)\n        printf(\"%f\\n\", a[i]);\n    return 0;\n}\n";

fn constructs(clause: &str, config: &str) -> TempDir {
    let folder = folder(config);
    fs::write(folder.path().join("a.c"), CONSTRUCTS.replace(" CLAUSE", clause)).unwrap();
    folder
}

const HOST: &str = "-fopenacc -foffload=disable";

/// A configuration in which the test has the fault.
fn faulty() -> String {
    format!(
        "[verify]\nreference = {{ build = \"cc -DFAULT=0 {HOST} a.c -o a\", run = \"./a\" }}\n\
         test = {{ build = \"cc -DFAULT=1 {HOST} a.c -o a\", device = false }}\n"
    )
}

#[test]
fn a_directive_that_does_not_compile_is_left_in_the_copy_alone() {
    let config = "[verify]\nreference = { build = \"cc -DFAULT=0 a.c -o a\", run = \"./a\" }\n\
                  test = { build = \"acc2omp cc -q -- cc -fopenmp -DFAULT=0 a.c -o a\", device = false }\n";
    let folder = constructs(" num_gangs(NONE)", config);
    expect_in(folder.path(), &["-y"], 2, "#pragma acc parallel loop copy(a) num_gangs(NONE)");
    let text = expect_in(folder.path(), &["-y", "--leave-failing"], 0, "a.c:11: `parallel loop`: ");
    assert!(text.contains("\n[[at]]\nfile = \"a.c\"\nline = 11\ndo = \"leave\"\n"), "{text}");
    assert_eq!(fs::read_to_string(folder.path().join("acc2omp.toml")).unwrap(), config);
    let json = verify(folder.path(), &["-y", "--leave-failing", "--format", "json"]).stdout;
    let report: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let left = &report["tests"][0]["left"];
    assert_eq!((left.as_array().unwrap().len(), &left[0]["line"]), (1, &11.into()));
    // The lines that are shown do the same in the project.
    let entry = "\n[[at]]\nfile = \"a.c\"\nline = 11\ndo = \"leave\"\n";
    fs::write(folder.path().join("acc2omp.toml"), format!("{config}{entry}")).unwrap();
    expect_in(folder.path(), &["-y"], 0, "same");
}

#[test]
fn a_directive_is_left_by_the_configuration_that_counts_for_its_file() {
    let config = "[verify]\nreference = { build = \"cd sub && cc -DFAULT=0 a.c -o a\", run = \"./sub/a\" }\n\
                  test = { build = \"cd sub && acc2omp cc -q -- cc -fopenmp -DFAULT=0 a.c -o a\", device = false }\n";
    let folder = constructs(" num_gangs(NONE)", config);
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::rename(folder.path().join("a.c"), folder.path().join("sub/a.c")).unwrap();
    fs::write(folder.path().join("sub/acc2omp.toml"), "async = \"sync\"\n").unwrap();
    expect_in(folder.path(), &["-y", "--leave-failing"], 0, "sub/a.c:11: `parallel loop`: ");
}

#[test]
fn an_error_that_names_no_directive_leaves_none() {
    let text = expect_in(
        folder(&config("-DVALUE=nothing", "")).path(),
        &["-y", "--leave-failing"],
        2,
        "7 |     printf(",
    );
    assert!(!text.contains("[[at]]"), "{text}");
    // Leaving the construct does not help: the same error ends it.
    let config = "[verify]\nreference = { build = \"cc -DFAULT=0 -DNONE=1 a.c -o a\", run = \"./a\" }\n\
                  test = { build = \"acc2omp cc -q -- cc -fopenmp -DFAULT=0 a.c -o a\", device = false }\n";
    let folder = constructs("", config);
    let source = CONSTRUCTS.replace(" CLAUSE", "").replace("a[i] += 1;", "a[i] += NONE;");
    fs::write(folder.path().join("a.c"), source).unwrap();
    expect_in(folder.path(), &["-y", "--leave-failing"], 2, "does not build");
}

#[test]
fn a_reference_is_saved_and_used_where_it_cannot_be_built() {
    let write = "'-DEXTRA=fputs(\\\"x 1\\\\\\\\n\\\", fopen(\\\"o.txt\\\", \\\"w\\\"))'";
    let config = format!(
        "[verify]\nreference = {{ build = \"cc {write} a.c -o a\", run = \"./a\" }}\n\
         test = {{ build = \"cc $MORE {write} a.c -o a\", device = false }}\n[verify.compare]\nstdout = {{}}\n\"*.txt\" = {{}}\n"
    );
    let (folder, saved) = (folder(&config), tempfile::tempdir().unwrap());
    let golden = saved.path().to_str().unwrap();
    expect_in(folder.path(), &["-y", "--golden", golden], 2, "no saved reference");
    expect_in(folder.path(), &["-y", "--save", golden], 0, "saved the reference");
    assert!(!folder.path().join(".acc2omp/verify/test").exists());
    fs::remove_dir_all(folder.path().join(".acc2omp")).unwrap();
    expect_in(folder.path(), &["-y", "--golden", golden], 0, "same");
    assert!(!folder.path().join(".acc2omp/verify/reference").exists());
    let file = saved.path().join("reference/files/o.txt");
    let right = fs::read(&file).unwrap();
    fs::write(&file, "x 2\n").unwrap();
    expect_in(folder.path(), &["-y", "--golden", golden], 2, "`reference/files/o.txt` is not what was saved");
    fs::remove_file(&file).unwrap();
    expect_in(folder.path(), &["-y", "--golden", golden], 2, "`reference/files/o.txt` is missing");
    fs::write(&file, right).unwrap();
    expect_in(folder.path(), &["-y", "--golden", golden, "--pins"], 2, "saved without `--pins`");
    let toml = folder.path().join("acc2omp.toml");
    fs::write(&toml, config.replace("$MORE", "-DVALUE=2.0")).unwrap();
    expect_in(folder.path(), &["-y", "--golden", golden], 1, "reference `1.000000000`, test `2.000000000`");
    fs::write(&toml, config.replace("\"*.txt\"", "\"*.dat\"")).unwrap();
    expect_in(folder.path(), &["-y", "--golden", golden], 2, "`*.dat` was not compared when it was saved");
    fs::write(&toml, config.replace("cc '", "cc -O1 '")).unwrap();
    expect_in(folder.path(), &["-y", "--golden", golden], 2, "saved with other commands");
    fs::write(&toml, &config).unwrap();
    let contents = saved.path().join("golden.json");
    let text = fs::read_to_string(&contents).unwrap();
    fs::write(&contents, text.replace("\"format\": 1", "\"format\": 9")).unwrap();
    expect_in(folder.path(), &["-y", "--golden", golden], 2, "saved in format 9");
}

#[test]
fn only_a_saved_reference_is_replaced() {
    let (folder, other) = (folder(&config("", "")), tempfile::tempdir().unwrap());
    fs::write(other.path().join("mine"), "").unwrap();
    let place = other.path().to_str().unwrap();
    expect_in(folder.path(), &["-y", "--save", place], 2, "holds something else");
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1);
    fs::remove_file(other.path().join("mine")).unwrap();
    expect_in(folder.path(), &["-y", "--save", place], 0, "saved");
    expect_in(folder.path(), &["-y", "--save", place], 0, "saved");
}

#[test]
fn pins_name_the_construct_and_so_do_saved_ones() {
    let (folder, saved) = (constructs("", &faulty()), tempfile::tempdir().unwrap());
    let found = "a.c:11: `parallel loop` is the first directive that leaves something else, when it runs for time 2\n  `a`, element 3 from 0: reference 1.8e1, test 2.7e1";
    expect_in(folder.path(), &["-y", "--pins"], 1, found);
    let golden = saved.path().to_str().unwrap();
    expect_in(folder.path(), &["-y", "--pins", "--save", golden], 0, "saved");
    fs::remove_dir_all(folder.path().join(".acc2omp")).unwrap();
    expect_in(folder.path(), &["-y", "--pins", "--golden", golden], 1, found);
    assert!(!folder.path().join(".acc2omp/verify/pins/reference").exists());
    expect_in(
        folder.path(),
        &["-y", "--pins", "--every", "2", "--golden", golden],
        2,
        "other words for `--every`",
    );
    // Without the bytes of that execution, samples tell.
    let contents = saved.path().join("golden.json");
    let mut value: serde_json::Value = serde_json::from_slice(&fs::read(&contents).unwrap()).unwrap();
    value["files"].as_object_mut().unwrap().retain(|name, _| !name.ends_with(".bin"));
    fs::write(&contents, value.to_string()).unwrap();
    for entry in fs::read_dir(saved.path().join("reference/records")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "bin") {
            fs::remove_file(path).unwrap();
        }
    }
    let text =
        expect_in(folder.path(), &["-y", "--pins", "--golden", golden], 1, "of the 8 that were saved differ");
    assert!(text.contains("a.c:11: `parallel loop` is the first"), "{text}");
    let other = CONSTRUCTS.replace(" CLAUSE", "").replace("int main", "\nint main");
    fs::write(folder.path().join("a.c"), other).unwrap();
    expect_in(folder.path(), &["-y", "--pins", "--golden", golden], 1, "saved for other sources");
}

#[test]
fn what_is_right_with_pins_alone_is_blamed_on_queues() {
    let pinned = "[ -n \\\"$ACC2OMP_PIN\\\" ]";
    let run = |condition: &str| {
        let run = format!("if {condition}; then ./a; else echo wrong; fi");
        faulty()
            .replace("-DFAULT=1", "-DFAULT=0")
            .replace("device = false", &format!("device = false, run = \"{run}\""))
    };
    let sync = run(&format!("{pinned} || grep -q '^async = .sync' acc2omp.toml"));
    let words = ["-y", "--pins"];
    expect_in(constructs("", &sync).path(), &words, 1, "something is not waited for that is queued");
    expect_in(constructs("", &run(pinned)).path(), &words, 1, "and wrong with `async = \"sync\"`, too");
}

#[test]
fn a_test_that_differs_from_itself_is_given_so() {
    let run = "run = \"./a; [ -n \\\"$ACC2OMP_PIN\\\" ] || cat /proc/sys/kernel/random/uuid\"";
    let config = faulty()
        .replace("-DFAULT=1", "-DFAULT=0")
        .replace("device = false", &format!("device = false, {run}"));
    let folder = constructs("", &config);
    expect_in(folder.path(), &["-y", "--pins"], 1, "does something else each time that it runs");
}

#[test]
fn a_configuration_without_tests_saves_nothing() {
    let config = "[verify]\nreference = { build = \"cc -DFAULT=0 a.c -o a\", run = \"./a\" }\n";
    let (folder, saved) = (constructs("", config), tempfile::tempdir().unwrap());
    expect_in(
        folder.path(),
        &["-y", "--save", saved.path().to_str().unwrap()],
        2,
        "there is neither `test` nor",
    );
}

#[test]
fn bisection_says_what_the_host_does_wrong_too() {
    let words = "it is wrong, too, with all constructs on the host";
    expect_in(constructs("", &faulty()).path(), &["-y", "--bisect"], 1, words);
}

#[test]
fn nothing_is_written_outside_our_folder() {
    let config = faulty();
    let folder = constructs("", &config);
    let names = |folder: &Path| {
        let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut all: Vec<_> = all.collect();
        all.sort();
        all
    };
    verify(folder.path(), &["-y", "--pins", "--bisect", "--leave-failing"]);
    assert_eq!(names(folder.path()), [".acc2omp", "a.c", "acc2omp.toml"]);
    assert_eq!(names(&folder.path().join(".acc2omp")), ["verify"]);
    assert_eq!(fs::read_to_string(folder.path().join("a.c")).unwrap(), CONSTRUCTS.replace(" CLAUSE", ""));
    assert_eq!(fs::read_to_string(folder.path().join("acc2omp.toml")).unwrap(), config);
}

#[test]
fn agreement_is_about_these_commands() {
    let folder = folder(&config("-O1", ""));
    fs::create_dir_all(folder.path().join(".acc2omp/verify")).unwrap();
    // What somebody else has put there is no agreement.
    fs::write(folder.path().join(".acc2omp/verify/agreed"), "yes\n").unwrap();
    expect_in(folder.path(), &[], 2, "--yes");
    expect_in(folder.path(), &["--save", folder.path().join("x").to_str().unwrap()], 2, "--yes");
    expect_in(folder.path(), &["--golden", folder.path().join("x").to_str().unwrap()], 2, "--yes");
}

/// All keys of a value.
fn keys(value: &serde_json::Value, into: &mut std::collections::BTreeSet<String>) {
    match value {
        serde_json::Value::Object(all) => {
            for (key, value) in all {
                into.insert(key.clone());
                keys(value, into);
            }
        }
        serde_json::Value::Array(all) => all.iter().for_each(|value| keys(value, into)),
        _ => {}
    }
}

#[test]
fn every_key_of_the_json_is_documented() {
    let page = include_str!("../../docs/verify.md");
    let (_, section) = page.split_once("## The JSON").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let mut all = std::collections::BTreeSet::new();
    let output = verify(constructs("", &faulty()).path(), &["-y", "--pins", "--format", "json"]);
    keys(&serde_json::from_slice(&output.stdout).unwrap(), &mut all);
    let missing: Vec<_> = all.iter().filter(|key| !section.contains(&format!("`{key}`"))).collect();
    assert!(
        missing.is_empty() && all.contains("culprit") && all.contains("element"),
        "{missing:?} of {all:?}"
    );
}

#[test]
fn a_section_is_written_for_cmake_and_for_a_database() {
    let folder = folder("");
    fs::write(folder.path().join("CMakeLists.txt"), "project(p C)\nadd_executable(solve a.c)\n").unwrap();
    assert!(verify(folder.path(), &["--init"]).status.success());
    let text = fs::read_to_string(folder.path().join("acc2omp.toml")).unwrap();
    assert!(text.contains("run = \"./acc2omp-build/solve\""), "{text}");
    assert!(text.contains("-DCMAKE_C_FLAGS='-O2 -fopenacc -foffload=disable'"), "{text}");
    fs::remove_file(folder.path().join("CMakeLists.txt")).unwrap();
    fs::remove_file(folder.path().join("acc2omp.toml")).unwrap();
    let database = "[{\"directory\": \"DIR\", \"file\": \"a.c\", \"arguments\": [\"nvc\", \"-acc\", \"-DVALUE=3.0\", \"-c\", \"a.c\"]}]";
    let place = folder.path().canonicalize().unwrap();
    let database = database.replace("DIR", place.to_str().unwrap());
    fs::write(folder.path().join("compile_commands.json"), database).unwrap();
    assert!(verify(folder.path(), &["--init"]).status.success());
    let path = folder.path().join("acc2omp.toml");
    let text = fs::read_to_string(&path).unwrap();
    // What it writes runs, except the compiler of the test.
    let test = "acc2omp cc -- clang -O2 -fopenmp --offload-arch=sm_90";
    assert!(
        text.contains("gcc -O2 -fopenacc -foffload=disable '-DVALUE=3.0' a.c -o program")
            && text.contains(test)
    );
    fs::write(
        &path,
        text.replace(test, "cc")
            .replace("-o program -lm\" }\ntimeout", "-o program -lm\", device = false }\ntimeout"),
    )
    .unwrap();
    expect_in(folder.path(), &["-y"], 0, "same");
}

#[test]
fn a_file_that_no_run_writes_is_not_compared() {
    let config = "[verify]\nreference = { build = \"true\", run = \"cat in.txt > out.txt\" }\n[verify.tests.a]\nbuild = \"true\"\ndevice = false\nrun = \"RUN\"\n[verify.compare]\n\"*.txt\" = {}\n";
    let tree = |run: &str| {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("acc2omp.toml"), config.replace("RUN", run)).unwrap();
        for name in ["in.txt", "out.txt"] {
            fs::write(folder.path().join(name), "1 2\n").unwrap();
        }
        folder
    };
    expect_in(tree("cp in.txt out.txt").path(), &["-y"], 0, "same");
    expect_in(tree("true").path(), &["-y"], 1, "reference `a file`, test `no file`");
    let neither = tree("true");
    let path = neither.path().join("acc2omp.toml");
    let text = fs::read_to_string(&path).unwrap().replace("cat in.txt > out.txt", "true");
    fs::write(&path, text).unwrap();
    expect_in(neither.path(), &["-y"], 2, "no file matches that was written");
}

#[test]
fn what_a_makefile_lacks_is_said() {
    let folder = folder("");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("Makefile", "a: a.c\n\tpgcc -acc a.c -o a\n");
    let output = verify(folder.path(), &["--init"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("found: Makefile, which does not say how all is built"), "{said}");
    assert!(said.contains("note: commands of the makefile call `pgcc` by name"), "{said}");
    let text = fs::read_to_string(folder.path().join("acc2omp.toml")).unwrap();
    assert!(text.contains("# commands of the makefile call `pgcc` by name"), "{text}");
    // What is read through files builds and runs, except the compiler of the test.
    write("acc2omp.toml", "");
    write("make.def", "COMPILER = pgcc -w\nFLAGS = -fast -Minfo=all $(MORE)\nMORE = -DVALUE=3.0\n");
    write(
        "Makefile",
        "include make.def\nall: run\na: a.o\n\t$(COMPILER) $(FLAGS) -o $@ a.o\na.o: a.c\n\t$(COMPILER) $(FLAGS) -c a.c\nrun: a\n\t./a\nclean:\n\trm -f a a.o\n",
    );
    assert!(verify(folder.path(), &["--init"]).status.success());
    let text = fs::read_to_string(folder.path().join("acc2omp.toml")).unwrap();
    assert!(
        text.contains(
            "COMPILER='gcc -w -O2 -fopenacc -foffload=disable -Wl,--no-as-needed -lm' FLAGS='$(MORE)'"
        ),
        "{text}"
    );
    assert!(text.contains("run = \"./a\""), "{text}");
    let clang = "acc2omp cc -- clang -w -O2 -fopenmp --offload-arch=sm_90";
    let text =
        text.replace(clang, "cc").replace("$(MORE)'\" }\ntimeout", "$(MORE)'\", device = false }\ntimeout");
    write("acc2omp.toml", &text);
    expect_in(folder.path(), &["-y"], 0, "same");
}

/// What `--init` writes for these files, beside the source of the other tests.
fn init(files: &[(&str, &str)]) -> (TempDir, String) {
    let folder = folder("");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let output = verify(folder.path(), &["--init"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(folder.path().join("acc2omp.toml")).unwrap();
    (folder, text)
}

#[test]
fn what_was_built_before_is_not_compared_with_itself() {
    let makefile = "CC = cc\nCFLAGS = -w\na: a.c\n\t$(CC) $(CFLAGS) a.c -o a\n";
    let (folder, text) = init(&[("Makefile", makefile)]);
    assert!(text.contains("\"make -B CC='gcc "), "{text}");
    let built = Command::new("make").current_dir(folder.path()).output().unwrap();
    assert!(built.status.success());
    let clang = "acc2omp cc -- clang -O2 -fopenmp --offload-arch=sm_90'\" }\ntimeout";
    let other = "cc -DVALUE=2.0'\", device = false }\ntimeout";
    fs::write(folder.path().join("acc2omp.toml"), text.replace(clang, other)).unwrap();
    expect_in(folder.path(), &["-y"], 1, "reference `1.000000000`, test `2.000000000`");
}

#[test]
fn a_program_that_a_command_names_is_not_known() {
    let makefile = "CC = nvc\nEXE != echo main\nall: $(EXE)\n$(EXE): a.c\n\t$(CC) -o $@ $<\n";
    let (_folder, text) = init(&[("Makefile", makefile)]);
    assert!(text.contains("run = \"false # the program"), "{text}");
    assert!(
        text.contains("# no rule from the default target on links a program whose name is known"),
        "{text}"
    );
}

#[test]
fn of_several_programs_one_with_openacc_is_run() {
    let makefile =
        "CC = nvc\nall: ser acc\nser: a.c\n\t$(CC) a.c -o ser\nacc: b.c\n\t$(CC) -acc b.c -o acc\n";
    let (acc, plain) = ("#pragma acc wait\n", "int b;\n");
    let (_folder, text) = init(&[("Makefile", makefile), ("b.c", acc)]);
    assert!(
        text.contains("run = \"./acc # and") && text.contains("# of the programs ser, acc, only acc"),
        "{text}"
    );
    // The flags of its command stay.
    assert!(text.contains("# Makefile:6 holds `-acc`, "), "{text}");
    let (_folder, text) = init(&[("Makefile", makefile), ("b.c", plain)]);
    assert!(text.contains("run = \"false # which of ser, acc?\""), "{text}");
    let cmake = "project(x C)\nadd_executable(ser a.c)\nadd_executable(acc b.c)\nadd_executable(test b.c)\n";
    let (_folder, text) = init(&[("CMakeLists.txt", cmake), ("b.c", acc)]);
    assert!(text.contains("run = \"false # which of acc, test?\""), "{text}");
    let cmake = cmake.replace("add_executable(test b.c)", "");
    let (_folder, text) = init(&[("CMakeLists.txt", &cmake), ("b.c", acc)]);
    assert!(text.contains("run = \"./acc2omp-build/acc\""), "{text}");
}

#[test]
fn a_folder_without_a_configuration_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let output = verify(folder.path(), &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("there is no acc2omp.toml in this folder or above it"), "{said}");
}

#[test]
fn a_place_without_a_directive_is_refused() {
    let folder = constructs("", &faulty());
    let only = |place: &str| {
        let output = verify(folder.path(), &["-y", "--pins", "--only", place]);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (status, said) = only("a.c:1");
    assert!(
        status == Some(2) && said.contains("`--only a.c:1`: there is no directive at this line: `"),
        "{said}"
    );
    let (status, said) = only("none.c:1");
    assert!(
        status == Some(2) && said.contains("no source with OpenACC is called none.c; a.c is one"),
        "{said}"
    );
    assert!(only("a.c").1.contains("want FILE:LINE"));
}
