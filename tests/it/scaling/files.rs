//! Headers and modules, by the program, which finds them.
//!
//! Invariant: what counts is the time of the program on a processor, as the shell tells it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{LOOP, MOST, TRIES, body, each};

/// Less than this is too short to be compared.
const SHORT: Duration = Duration::from_millis(60);

/// The time that the program is on a processor for the files of a folder; `None` where no shell says it.
fn cost(folder: &Path, target: &str) -> Option<Duration> {
    let script = "\"$0\" --check --quiet --jobs 1 --to \"$1\" \"$2\" > \"$2.out\" 2>&1; echo $?; times";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_acc2omp"), target]).arg(folder);
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = text.lines();
    let said = || fs::read_to_string(folder.with_extension("out")).unwrap_or_default();
    assert!(matches!(lines.next(), Some("0" | "1")), "{}", said());
    lines.nth(1)?.split_whitespace().map(time).sum()
}

/// A time as the shell writes it, `0m0.120s`.
fn time(word: &str) -> Option<Duration> {
    let (minutes, seconds) = word.strip_suffix('s')?.split_once('m')?;
    Some(Duration::from_secs_f64(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?))
}

/// Compares the costs of a folder of `count` files and of one with four times as many. `write` makes the files, by name.
fn grows(name: &str, count: usize, write: impl Fn(usize) -> Vec<(String, String)>) {
    let place = tempfile::tempdir().unwrap();
    let folders = [1, 2, 4].map(|times| {
        let folder = place.path().join(times.to_string());
        fs::create_dir(&folder).unwrap();
        for (name, text) in write(count * times) {
            fs::write(folder.join(name), text).unwrap();
        }
        folder
    });
    for target in ["openmp", "cuda"] {
        let mut least = [Duration::MAX; 3];
        for _ in 0..TRIES {
            for (least, folder) in least.iter_mut().zip(&folders) {
                *least = cost(folder, target).unwrap_or_default().min(*least);
            }
            if least[2].as_secs_f64() <= MOST * least[0].max(SHORT).as_secs_f64() {
                break;
            }
        }
        let ratio = least[2].as_secs_f64() / least[0].max(SHORT).as_secs_f64();
        assert!(ratio <= MOST, "{name} ({target}): {count} and two and four times as many take {least:?}");
    }
}

#[test]
fn headers_cost_alike() {
    let header =
        |k: usize, more: &str| (format!("h{k}.h"), format!("{more}extern double v{k};\n#define M{k} {k}\n"));
    grows("headers of one file", 60, |n| {
        let mut all: Vec<(String, String)> = (0..n).map(|k| header(k, "")).collect();
        let includes = each(n, |k| format!("#include \"h{k}.h\"\n"));
        all.push(("a.c".to_owned(), format!("{includes}{}", body(LOOP))));
        all
    });
    grows("headers that include one another", 150, |n| {
        let mut all: Vec<(String, String)> =
            (0..n).map(|k| header(k, &format!("#include \"h{}.h\"\n", k + 1))).collect();
        all.push(("a.c".to_owned(), format!("#include \"h0.h\"\n{}", body(LOOP))));
        all
    });
    grows("files of one header", 60, |n| {
        let mut all = vec![header(0, &each(50, |k| format!("int w{k};\n")))];
        all.extend((0..n).map(|k| (format!("a{k}.c"), format!("#include \"h0.h\"\n{}", body(LOOP)))));
        all
    });
}

#[test]
fn modules_cost_alike() {
    let module = |k: usize| {
        let uses = each(k.min(1), |_| format!("use m{}\n", k - 1));
        (format!("m{k}.f90"), format!("module m{k}\n{uses}real :: v{k}(100)\nend module\n"))
    };
    let user = |k: usize, uses: &str| {
        let inside = "!$acc parallel loop\ndo i = 1, n\nv0(i) = 1\nend do\n";
        (format!("u{k}.f90"), format!("subroutine f{k}(n)\n{uses}integer :: n, i\n{inside}end subroutine\n"))
    };
    grows("modules that one file uses", 60, |n| {
        let mut all: Vec<(String, String)> = (0..n).map(module).collect();
        all.push(user(0, &format!("use m{}\n", n - 1)));
        all
    });
    grows("files that use a module", 60, |n| {
        let mut all: Vec<(String, String)> = (0..10).map(module).collect();
        all.extend((0..n).map(|k| user(k, "use m9\n")));
        all
    });
}
