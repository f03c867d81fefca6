//! What a hunt found.
//!
//! Invariant: the share of programs that were reported is counted for each family, so that refusing is not a way to pass.

use std::collections::BTreeMap;
use std::path::Path;

use super::generate::{Family, Made};
use super::lab::{Failure, Lab, Outcome, kind_of_message};
use super::variant::Variant;
use super::{Language, Options, print, reduce};
use crate::difftest::toolchain::Toolchains;
use crate::{Result, Verdict, files};

/// A failure.
#[derive(Clone, Debug)]
pub struct Found {
    pub language: Language,
    pub number: usize,
    pub made: Made,
    pub variant: Variant,
    pub failure: Failure,
}

/// Counts of trials.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    passed: usize,
    reported: usize,
    failed: usize,
    excluded: usize,
    skipped: usize,
}

/// All that was found.
#[derive(Debug, Default)]
pub struct Report {
    /// How long it took.
    pub seconds: f64,
    /// How much of it went into making programs, by all threads.
    pub generated: f64,
    /// Numbers that have no program.
    pub lost: usize,
    programs: BTreeMap<Language, usize>,
    families: BTreeMap<Family, Count>,
    codes: BTreeMap<(String, Family), usize>,
    exclusions: BTreeMap<&'static str, usize>,
    /// By kind, and the first few of each.
    found: Vec<Found>,
    reduced: Vec<(Found, String)>,
}

impl Report {
    /// Counts what became of a program.
    pub fn count(
        &mut self,
        language: Language,
        number: usize,
        made: &Made,
        variant: &Variant,
        outcome: Outcome,
    ) {
        let count = self.families.entry(made.family).or_default();
        match outcome {
            Outcome::Passed => count.passed += 1,
            Outcome::Skipped => count.skipped += 1,
            Outcome::Reported(codes) => {
                count.reported += 1;
                for code in codes {
                    *self.codes.entry((code, made.family)).or_default() += 1;
                }
            }
            Outcome::Excluded(why) => {
                count.excluded += 1;
                *self.exclusions.entry(why).or_default() += 1;
            }
            Outcome::Failed(failure) => {
                count.failed += 1;
                self.found.push(super::found(language, number, made, variant, failure));
            }
        }
    }

    /// Counts programs.
    pub fn programs(&mut self, language: Language, made: &[(usize, Made)]) {
        *self.programs.entry(language).or_default() += made.len();
    }

    /// Adds another report.
    pub fn add(&mut self, other: Report) {
        self.generated += other.generated;
        self.lost += other.lost;
        for (language, number) in other.programs {
            *self.programs.entry(language).or_default() += number;
        }
        for (family, count) in other.families {
            let known = self.families.entry(family).or_default();
            known.passed += count.passed;
            known.reported += count.reported;
            known.failed += count.failed;
            known.excluded += count.excluded;
            known.skipped += count.skipped;
        }
        for (code, number) in other.codes {
            *self.codes.entry(code).or_default() += number;
        }
        for (why, number) in other.exclusions {
            *self.exclusions.entry(why).or_default() += number;
        }
        self.found.extend(other.found);
    }

    /// Reduces what was found: of each program one failure, different kinds first.
    pub fn reduce(&mut self, options: &Options, toolchains: &Toolchains, work: &Path) -> Result<()> {
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        let mut chosen: Vec<(usize, &Found)> = Vec::new();
        let mut programs = Vec::new();
        for one in &self.found {
            if programs.contains(&(one.language, one.number)) {
                continue;
            }
            programs.push((one.language, one.number));
            let seen = kinds.entry(signature(one)).or_default();
            chosen.push((*seen, one));
            *seen += 1;
        }
        chosen.sort_by_key(|(seen, one)| (*seen, one.number));
        chosen.truncate(options.reduce);
        let next = std::sync::Mutex::new(chosen.iter());
        let done = std::sync::Mutex::new(Vec::new());
        let worker = |job: usize| -> Result<()> {
            loop {
                let Some((_, one)) = next.lock().ok().and_then(|mut next| next.next()) else { return Ok(()) };
                let folder = work.join(format!("reduce{job}-{}", one.language.name()));
                let lab = Lab { toolchains, work: folder, language: one.language };
                let (small, _, failure) =
                    reduce::reduced(&lab, &one.made.program, &one.variant, &one.failure)?;
                let text = print::text(&small, one.language, one.number);
                if let Ok(mut done) = done.lock() {
                    done.push((Found { failure, ..(*one).clone() }, text));
                }
            }
        };
        std::thread::scope(|scope| {
            let worker = &worker;
            let jobs: Vec<_> = (0..options.jobs).map(|job| scope.spawn(move || worker(job))).collect();
            jobs.into_iter()
                .try_for_each(|job| job.join().unwrap_or_else(|_| Err("a thread stopped".to_owned())))
        })?;
        self.reduced = done.into_inner().unwrap_or_default();
        self.reduced.sort_by_key(|(one, _)| (signature(one), one.number));
        Ok(())
    }

    /// Whether a failure of the same program was reduced.
    fn is_reduced(&self, one: &Found) -> bool {
        self.reduced.iter().any(|(other, _)| (other.language, other.number) == (one.language, one.number))
    }

    /// Prints everything; the last line counts.
    pub fn print(&self, options: &Options) -> Result<Verdict> {
        for (one, text) in &self.reduced {
            let again = self.again(options, one);
            println!(
                "FAILED ({}, {}): {}\n  {again}",
                one.made.family.name(),
                one.variant.name(),
                one.failure
            );
            println!("{text}");
            if let Some(folder) = &options.out {
                write(folder, one, &again, text)?;
            }
        }
        self.print_families();
        let mut all: BTreeMap<&str, usize> = BTreeMap::new();
        for ((code, _), number) in &self.codes {
            *all.entry(code).or_default() += number;
        }
        let list: Vec<String> = all.iter().map(|(code, number)| format!("{code} {number}")).collect();
        println!("reported by: {}", list.join(", "));
        for (why, number) in &self.exclusions {
            println!("excluded {number}: {why}");
        }
        for one in self.found.iter().filter(|one| !self.is_reduced(one)) {
            println!("not reduced: {}\n  {}", one.failure, self.again(options, one));
        }
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        self.found.iter().for_each(|one| *kinds.entry(signature(one)).or_default() += 1);
        for (kind, number) in &kinds {
            println!("failed {number}: {kind}");
        }
        let sum = |of: fn(&Count) -> usize| self.families.values().map(of).sum::<usize>();
        let (reported, tried) = (sum(|one| one.reported), sum(|one| one.passed + one.reported + one.failed));
        println!(
            "share reported: {:.1} % of {tried} translations",
            100.0 * reported as f64 / tried.max(1) as f64
        );
        let programs: usize = self.programs.values().sum();
        let list: Vec<String> =
            self.programs.iter().map(|(language, number)| format!("{} {number}", language.name())).collect();
        println!(
            "hunt: seed {}, {programs} programs ({}) in {:.0} s, {:.0} a minute; {:.0} s of making them, {} not made; {} failures",
            options.seed,
            list.join(", "),
            self.seconds,
            programs as f64 / self.seconds * 60.0,
            self.generated,
            self.lost,
            self.found.len()
        );
        Ok(if self.found.is_empty() { Verdict::Passed } else { Verdict::Failed })
    }

    fn print_families(&self) {
        println!(
            "{:12} {:>7} {:>7} {:>6} {:>7} {:>8} {:>8}",
            "family", "passed", "reported", "share", "failed", "excluded", "skipped"
        );
        for (family, count) in &self.families {
            let share =
                100.0 * count.reported as f64 / (count.passed + count.reported + count.failed).max(1) as f64;
            println!(
                "{:12} {:7} {:7} {share:5.1}% {:7} {:8} {:8}",
                family.name(),
                count.passed,
                count.reported,
                count.failed,
                count.excluded,
                count.skipped
            );
            let mut codes: Vec<(usize, &str)> = self
                .codes
                .iter()
                .filter(|((_, of), _)| of == family)
                .map(|((code, _), number)| (*number, code.as_str()))
                .collect();
            codes.sort_by(|a, b| b.cmp(a));
            let list: Vec<String> =
                codes.iter().take(6).map(|(number, code)| format!("{code} {number}")).collect();
            if !list.is_empty() {
                println!("             reported by {}", list.join(", "));
            }
        }
    }

    /// The command that makes a program again.
    fn again(&self, options: &Options, one: &Found) -> String {
        let only = options.only.map_or(String::new(), |family| format!(" --only {}", family.name()));
        format!(
            "cargo xtask hunt --seed {} --language {} --case {}{only}   # {}",
            options.seed,
            one.language.name(),
            one.number,
            one.variant.options_text()
        )
    }
}

fn write(folder: &Path, one: &Found, again: &str, text: &str) -> Result<()> {
    let name = format!(
        "{}-{}-{}.{}",
        one.made.family.name(),
        one.language.name(),
        one.number,
        one.language.ending()
    );
    let comment = if one.language == Language::Fortran { "!" } else { "//" };
    let head = format!("{comment} {}: {}\n{comment} {again}\n", one.variant.name(), one.failure);
    files::write(&folder.join(name), (head + text).as_bytes())
}

/// What failures that may be one kind have in common.
fn signature(one: &Found) -> String {
    let failure = match &one.failure {
        Failure::Translator(why) => format!("translator {why}"),
        Failure::Build(message) => format!("cannot be built, {}", kind_of_message(message)),
        Failure::Wrong { .. } => "other values".to_owned(),
        Failure::Crash(_) => "crash".to_owned(),
        Failure::Hang => "hangs".to_owned(),
    };
    format!("{} {} {}: {failure}", one.made.family.name(), one.language.name(), one.variant.toolchain.name())
}
