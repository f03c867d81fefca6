//! Runs the programs of a batch and judges what they print.
//!
//! Invariant: what is judged wrong has been run by itself.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::{Case, Failure, Lab, Outcome, RUN_LIMIT, device_file, interfaces_file};
use crate::difftest::toolchain::Toolchain;
use crate::hunt::Language;
use crate::hunt::model::Lines;
use crate::hunt::print;
use crate::hunt::variant::Variant;
use crate::{Result, process};

impl Lab<'_> {
    pub(super) fn c_batch(&self, numbers: &[usize]) -> String {
        let mut text = "#include <stdio.h>\n#include <stdlib.h>\n".to_owned();
        for number in numbers {
            let _ = writeln!(text, "#include \"{}\"", self.file(*number));
        }
        text += "static void run(int n)\n{\n    printf(\"case %d\\n\", n);\n    switch (n) {\n";
        for number in numbers {
            let _ = writeln!(text, "    case {number}: {}(); break;", print::entry(*number));
        }
        text += "    }\n    printf(\"end %d\\n\", n);\n    fflush(stdout);\n}\n";
        text += "int main(int argc, char **argv)\n{\n    setvbuf(stdout, NULL, _IOLBF, 4096);\n";
        text += "    for (int i = 1; i < argc; i++) run(atoi(argv[i]));\n    return 0;\n}\n";
        text
    }

    /// All device code. That of Fortran has functions of the same names in each file.
    pub(super) fn device_batch(&self, numbers: &[usize]) -> String {
        let is_fortran = self.language == Language::Fortran;
        let mut text = String::new();
        if is_fortran {
            text += "#include <math.h>\n#include <stdlib.h>\n#include \"acc2omp_cuda.h\"\n";
        }
        for number in numbers {
            let name = device_file(*number);
            if !self.work.join(&name).exists() {
                continue;
            }
            let _ = match is_fortran {
                true => writeln!(text, "namespace case_{number} {{\n#include \"{name}\"\n}}"),
                false => writeln!(text, "#include \"{name}\""),
            };
        }
        text
    }

    pub(super) fn fortran_batch(&self, numbers: &[usize]) -> String {
        let mut text = String::new();
        for number in numbers {
            let interfaces = interfaces_file(*number);
            if self.work.join(&interfaces).exists() {
                let _ = writeln!(text, "include '{interfaces}'");
            }
            let _ = writeln!(text, "include '{}'", self.file(*number));
        }
        text += "program batch\n";
        for number in numbers {
            let _ = writeln!(text, "  use c{number}_module, only: {}", print::entry(*number));
        }
        text += "  implicit none\n  integer :: i, n\n  character(20) :: word\n";
        text += "  do i = 1, command_argument_count()\n    call get_command_argument(i, word)\n    read (word, *) n\n";
        text += "    write (*, '(a,1x,i0)') 'case', n\n    flush (6)\n    select case (n)\n";
        for number in numbers {
            let _ = writeln!(text, "    case ({number})\n      call {}()", print::entry(*number));
        }
        text += "    end select\n    write (*, '(a,1x,i0)') 'end', n\n    flush (6)\n  end do\nend program\n";
        text
    }

    /// Runs the cases of a program, and those that fail once more by themselves.
    pub(super) fn run(
        &self,
        cases: &[Case],
        places: &[usize],
        variant: &Variant,
        program: &Path,
        outcomes: &mut [Outcome],
    ) -> Result<()> {
        let orders = match variant.toolchain {
            Toolchain::FlangDevice | Toolchain::Shim => 2,
            _ => 1,
        };
        for place in places {
            outcomes[*place] = Outcome::Passed;
        }
        for order in 0..orders {
            let mut rest: Vec<usize> = places.to_vec();
            while !rest.is_empty() {
                let numbers: Vec<usize> = rest.iter().map(|place| cases[*place].number).collect();
                let seen = self.execute(&numbers, variant, program, order)?;
                let mut later = Vec::new();
                for place in &rest {
                    let case = cases[*place];
                    let Some(found) = seen.cases.get(&case.number) else {
                        later.push(*place);
                        continue;
                    };
                    let is_suspect = judge(case, variant, found, &seen.end).is_some();
                    if is_suspect && outcomes[*place] == Outcome::Passed {
                        let alone = self.execute(&[case.number], variant, program, order)?;
                        let found = alone.cases.get(&case.number);
                        let failure = match found {
                            Some(found) => judge(case, variant, found, &alone.end),
                            None => Some(Failure::Crash(alone.end.clone())),
                        };
                        if let Some(failure) = failure {
                            outcomes[*place] = Outcome::Failed(failure);
                        }
                    }
                }
                // The one that ended the program is judged; those after it come again.
                if later.len() == rest.len() {
                    for place in later {
                        outcomes[place] = Outcome::Failed(Failure::Crash(seen.end.clone()));
                    }
                    break;
                }
                rest = later;
            }
        }
        Ok(())
    }

    fn execute(&self, numbers: &[usize], variant: &Variant, program: &Path, order: usize) -> Result<Seen> {
        let is_fortran = self.language == Language::Fortran;
        let mut command = self.toolchains.execute(variant.toolchain, program, is_fortran, order);
        command.env("LIBOMPTARGET_INFO", "0").env("OMP_NUM_THREADS", "4").env("OMP_NUM_TEAMS", "3");
        command.env_remove("CUDA_SHIM_LOG");
        command.args(numbers.iter().map(usize::to_string));
        let ran = process::capture(&mut command, RUN_LIMIT)?;
        let mut cases: BTreeMap<usize, Found> = BTreeMap::new();
        let mut current = None;
        for line in ran.stdout.lines() {
            let mut words = line.split_whitespace();
            let first = words.next().unwrap_or_default();
            if let ("case" | "end", Some(Ok(number))) = (first, words.next().map(str::parse)) {
                let found = cases.entry(number).or_default();
                found.is_done = first == "end";
                current = Some(number);
                continue;
            }
            let numbers: Option<Vec<i64>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
            let (Some(numbers), Some(current)) = (numbers, current) else { continue };
            if let Some((id, values)) = numbers.split_first() {
                cases.entry(current).or_default().lines.push((*id as usize, values.to_vec()));
            }
        }
        let end = match (ran.status, ran.succeeded()) {
            (None, _) => HANGS.to_owned(),
            (_, true) => String::new(),
            _ => format!("{} {}", ran.end(), ran.stderr.lines().next().unwrap_or_default()),
        };
        Ok(Seen { cases, end })
    }
}

/// How a run is marked that did not end.
const HANGS: &str = "hangs";

/// What a run printed.
struct Seen {
    cases: BTreeMap<usize, Found>,
    end: String,
}

/// What a case printed.
#[derive(Default)]
struct Found {
    lines: Lines,
    is_done: bool,
}

/// What is wrong with what a case printed.
fn judge(case: Case, variant: &Variant, found: &Found, end: &str) -> Option<Failure> {
    let expected = variant.expected(case.expected)?;
    for (number, (line, values)) in expected.iter().enumerate() {
        match found.lines.get(number) {
            Some((same, seen)) if same == line && seen == values => {}
            other => {
                let seen = other.filter(|(same, _)| same == line).map(|(_, seen)| seen.clone());
                if seen.is_none() && !found.is_done {
                    break;
                }
                return Some(Failure::Wrong { line: *line, expected: values.clone(), found: seen });
            }
        }
    }
    match (found.is_done, end) {
        (true, _) => None,
        (false, HANGS) => Some(Failure::Hang),
        (false, _) => Some(Failure::Crash(end.to_owned())),
    }
}
