//! The memory of the program, as the system tells it at the peak.
//!
//! Invariant: ratios are compared, of what is needed beyond that for a short construct. The peak is read while the program waits
//! for the reader of its output: it has translated by then, as a difference is written whole.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{LOOP, body, each, function, kernels};

/// What four times as much may need at most, compared with once: in proportion it is 4, with a square 16.
const MOST: f64 = 6.0;

/// With a line before the first directive that a difference shows, and that is longer than what the system keeps of a program's
/// output.
fn with_long_line(text: &str) -> String {
    text.replacen("#pragma", &format!("/*{}*/\n#pragma", " ".repeat(100_000)), 1)
}

/// What the program needs at the peak for a file or a folder, in megabytes.
fn peak(place: &Path, target: &str) -> f64 {
    let mut command = Command::new(env!("CARGO_BIN_EXE_acc2omp"));
    command.args(["--quiet", "--jobs", "1", "--diff", "--to", target]).arg(place);
    let mut program = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut output = program.stdout.take().unwrap();
    let status = format!("/proc/{}/status", program.id());
    let (mut part, mut peak): (_, Option<f64>) = ([0; 4096], None);
    while output.read(&mut part).unwrap() > 0 {
        // A program that has ended has no memory.
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB"));
        peak = line.map(|kilobytes| kilobytes.trim().parse::<f64>().unwrap() / 1e3).or(peak);
    }
    assert!(program.wait().unwrap().success());
    peak.unwrap()
}

/// The same for a file.
fn peak_of(target: &str, text: &str) -> f64 {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.c");
    fs::write(&path, with_long_line(text)).unwrap();
    peak(&path, target)
}

/// Compares the memory for a source of `count` parts and for one four times as long.
fn grows(shape: &str, count: usize, make: impl Fn(usize) -> String) {
    for target in ["openmp", "cuda"] {
        let least = peak_of(target, &body(LOOP));
        let [once, four] = [1, 4].map(|times| peak_of(target, &make(count * times)) - least);
        // Five megabytes is what the same file differs by.
        assert!(
            four <= MOST * once.max(5.0),
            "{shape} ({target}): {count} and four times as many need {once:.1} and {four:.1} MB"
        );
    }
}

#[test]
fn memory_of_a_file_grows_in_proportion() {
    grows("else", 2500, |n| {
        kernels(&format!(
            "if (p[i] == 0) a[i] = 0;\n{}",
            each(n, |k| format!("else if (p[i] == {k}) a[i] = {k};\n"))
        ))
    });
    grows("updates", 4000, |n| kernels(&"a[i] += x;\n".repeat(n)));
    grows("braces", 2000, |n| body(&format!("{}\n{LOOP}{}", "{".repeat(n), "}".repeat(n))));
    grows("functions", 300, |n| each(n, |k| function(k, LOOP)));
}

#[test]
fn memory_of_a_tree_is_that_of_its_largest_file() {
    let write = |count: usize| {
        let place = tempfile::tempdir().unwrap();
        for file in 0..count {
            let text = each(100, |k| function(100 * file + k, LOOP));
            fs::write(place.path().join(format!("f{file}.c")), with_long_line(&text)).unwrap();
        }
        place
    };
    let [few, many] = [5, 40].map(|count| peak(write(count).path(), "openmp"));
    assert!(many <= 1.5 * few, "5 and 40 files need {few:.1} and {many:.1} MB");
}
