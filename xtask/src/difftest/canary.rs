//! Wrong programs of Fortran, which a device with a memory of its own must show to be wrong.
//!
//! Invariant: each line of what they print is of a kind that is known, and each kind is there.

use std::path::Path;

use super::LIMIT;
use super::toolchain::{Toolchain, Toolchains};
use crate::{Result, process};

/// The programs, in one.
const PROGRAM: &str = "tests/flang-device/canary.f90";

/// Builds them, runs them twice, and fails if something wrong is not seen.
pub fn check(root: &Path, toolchains: &Toolchains, work: &Path) -> Result<()> {
    let source = root.join(PROGRAM).to_string_lossy().into_owned();
    let program = work.join("canary");
    for mut step in toolchains.build(Toolchain::FlangDevice, &[source], &program, true)? {
        let built = process::capture(&mut step, LIMIT)?;
        if !built.succeeded() {
            return Err(format!("{PROGRAM}: {}\n{}", built.end(), built.stderr));
        }
    }
    let mut printed = Vec::new();
    for run in 0..2 {
        let ran =
            process::capture(&mut toolchains.execute(Toolchain::FlangDevice, &program, true, run), LIMIT)?;
        let count = Toolchain::FlangDevice.launches(&ran.stderr).unwrap_or_default();
        let lines = ran.stdout.lines().count();
        if !ran.succeeded() || count != lines {
            let (end, error) = (ran.end(), ran.stderr);
            return Err(format!("{PROGRAM}: {end}, {count} kernels for {lines} lines\n{error}"));
        }
        printed.push(ran.stdout);
    }
    match unseen(&printed[0], &printed[1]).as_slice() {
        [] => Ok(()),
        lines => Err(format!("the device of flang does not show what is wrong here:\n{}", lines.join("\n"))),
    }
}

/// The lines of two runs that are not as their first words say.
fn unseen<'a>(first: &'a str, again: &'a str) -> Vec<&'a str> {
    let mut unseen = Vec::new();
    for kind in ["order:", "right:", "wrong:"] {
        let mut is_there = false;
        for (line, other) in first.lines().zip(again.lines()).filter(|(line, _)| line.starts_with(kind)) {
            is_there = true;
            let is_right = |line: &str| line.ends_with(" 1");
            let is_well = match kind {
                "order:" => line != other,
                "right:" => is_right(line) && is_right(other),
                _ => !is_right(line) && !is_right(other),
            };
            if !is_well {
                unseen.push(line);
            }
        }
        if !is_there {
            unseen.push(kind);
        }
    }
    unseen
}

#[cfg(test)]
mod tests {
    use super::unseen;

    #[test]
    fn what_is_not_seen_is_named() {
        let first = "order: a 3\nright: b 1\nwrong: c 0\n";
        assert!(unseen(first, "order: a 2\nright: b 1\nwrong: c 7\n").is_empty());
        assert_eq!(unseen(first, first), ["order: a 3"]);
        assert_eq!(unseen(first, "order: a 1\nright: b 0\nwrong: c 1\n"), ["right: b 1", "wrong: c 0"]);
        assert_eq!(unseen("", ""), ["order:", "right:", "wrong:"]);
    }
}
