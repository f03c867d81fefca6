//! Translates, builds and runs programs, many at a time, and compares them with the model.
//!
//! Invariant: a program that fails was built and run by itself.

mod run;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use acc2omp::diag::Severity;
use acc2omp::source::{Form, Language as BaseLanguage};
use acc2omp::{Beside, RUNTIME, SUPPORT, Source, support, translate};

use super::Language;
use super::exclusions::{excluded, refused};
use super::model::Expected;
use super::print;
use super::program::Program;
use super::variant::Variant;
use crate::difftest::toolchain::{Toolchain, Toolchains};
use crate::{Result, cuda, files, process};

/// No compiler may take longer.
const LIMIT: Duration = Duration::from_secs(120);
/// The file of all device code of a batch.
const DEVICE_BATCH: &str = "batch_acc.cu";
/// No run may take longer.
const RUN_LIMIT: Duration = Duration::from_secs(20);

/// A program in a batch.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// Its number.
    pub number: usize,
    /// The program.
    pub program: &'a Program,
    /// What it prints.
    pub expected: &'a Expected,
}

/// What is wrong with a translation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failure {
    /// The translator stopped, or says that it is at fault.
    Translator(String),
    /// It cannot be built: the compiler's first message.
    Build(String),
    /// The check line with this number has other values, or is not printed.
    Wrong { line: usize, expected: Vec<i64>, found: Option<Vec<i64>> },
    /// It ends before its time.
    Crash(String),
    /// It does not end.
    Hang,
}

impl Failure {
    /// Whether another failure is of the same kind.
    pub fn is_like(&self, other: &Failure) -> bool {
        match (self, other) {
            (Failure::Translator(a), Failure::Translator(b)) => a == b,
            (Failure::Build(a), Failure::Build(b)) => kind_of_message(a) == kind_of_message(b),
            (Failure::Wrong { .. }, Failure::Wrong { .. }) => true,
            (Failure::Crash(_), Failure::Crash(_)) => true,
            (Failure::Hang, Failure::Hang) => true,
            _ => false,
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Translator(why) => write!(f, "translator: {why}"),
            Failure::Build(message) => write!(f, "cannot be built: {message}"),
            Failure::Wrong { line, expected, found: Some(found) } => {
                write!(f, "line {line}: expected {expected:?}, found {found:?}")
            }
            Failure::Wrong { line, expected, found: None } => {
                write!(f, "line {line}: expected {expected:?}, not printed")
            }
            Failure::Crash(how) => write!(f, "crash: {how}"),
            Failure::Hang => write!(f, "does not end"),
        }
    }
}

/// A message without the names and numbers in it.
pub fn kind_of_message(message: &str) -> String {
    let mut text = String::new();
    let mut quoted = false;
    for one in message.chars() {
        match one {
            '\'' | '`' | '\u{2018}' | '\u{2019}' | '"' => quoted = !quoted,
            _ if quoted || one.is_ascii_digit() => {}
            _ => text.push(one),
        }
    }
    text
}

/// What became of a program in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It prints what the model prints.
    Passed,
    /// The translator says that results may differ, or leaves something: the codes.
    Reported(Vec<String>),
    /// It fails.
    Failed(Failure),
    /// A fault of the compiler that is known: why.
    Excluded(&'static str),
    /// It is not defined there, or is the same text as one that was built already.
    Skipped,
}

/// A translated program.
struct Text {
    bytes: Vec<u8>,
    /// The files of device code.
    beside: Vec<Beside>,
    /// Codes of messages that results may differ.
    reported: Vec<String>,
    failure: Option<Failure>,
}

/// A place for files, and the compilers.
pub struct Lab<'a> {
    /// The compilers.
    pub toolchains: &'a Toolchains,
    /// A folder for this lab alone.
    pub work: PathBuf,
    /// The language of its programs.
    pub language: Language,
}

impl Lab<'_> {
    /// The name of a program's file.
    fn file(&self, number: usize) -> String {
        format!("case_{number}.{}", self.language.ending())
    }

    fn translated(&self, case: Case, variant: &Variant) -> Text {
        let text = print::text(case.program, self.language, case.number);
        let untouched = |bytes| Text { bytes, beside: Vec::new(), reported: Vec::new(), failure: None };
        if matches!(variant.toolchain, Toolchain::Plain | Toolchain::OpenAcc) {
            return untouched(text.into_bytes());
        }
        let speech = match self.language {
            Language::C => BaseLanguage::C,
            Language::Cpp => BaseLanguage::Cpp,
            Language::Fortran => BaseLanguage::Fortran(Form::Free),
        };
        let source = Source::new(self.file(case.number), text.into_bytes(), speech);
        let options = variant.options();
        let done = catch_unwind(AssertUnwindSafe(|| translate(&source, &options)));
        let Ok(translation) = done else {
            return Text {
                bytes: Vec::new(),
                beside: Vec::new(),
                reported: Vec::new(),
                failure: Some(Failure::Translator("panic".to_owned())),
            };
        };
        let mut reported = Vec::new();
        let mut failure = None;
        for diag in &translation.diagnostics {
            match diag.severity {
                Severity::Bug => failure = Some(Failure::Translator(diag.code.to_string())),
                Severity::Differs | Severity::Left => reported.push(diag.code.to_string()),
                Severity::Info | Severity::Weaker => {}
            }
        }
        reported.sort();
        reported.dedup();
        Text { bytes: translation.text, beside: translation.beside, reported, failure }
    }

    /// Takes programs one way. `seen` holds the texts that were built by a toolchain already.
    pub fn trial(
        &self,
        cases: &[Case],
        variant: &Variant,
        seen: &mut BTreeMap<(usize, &'static str), Vec<Vec<u8>>>,
    ) -> Result<Vec<Outcome>> {
        let mut outcomes = vec![Outcome::Skipped; cases.len()];
        let mut texts = BTreeMap::new();
        for (place, case) in cases.iter().enumerate() {
            let text = self.translated(*case, variant);
            outcomes[place] = match (text.failure, text.reported.is_empty()) {
                (Some(failure), _) => Outcome::Failed(failure),
                (None, false) => Outcome::Reported(text.reported),
                _ if variant.expected(case.expected).is_none() => Outcome::Skipped,
                _ => match excluded(case.program, self.language, variant) {
                    Some(why) => Outcome::Excluded(why),
                    None => {
                        let known = seen.entry((case.number, variant.toolchain.name())).or_default();
                        if known.contains(&text.bytes) {
                            Outcome::Passed
                        } else {
                            known.push(text.bytes.clone());
                            texts.insert(place, (text.bytes, text.beside));
                            Outcome::Skipped
                        }
                    }
                },
            };
        }
        if texts.is_empty() {
            return Ok(outcomes);
        }
        files::make_folder(&self.work)?;
        for (place, (bytes, beside)) in &texts {
            self.put(&self.file(cases[*place].number), bytes)?;
            for name in [device_file(cases[*place].number), interfaces_file(cases[*place].number)] {
                drop(fs::remove_file(self.work.join(name)));
            }
            for file in beside {
                self.put_device(variant, &file.name, &file.text)?;
            }
        }
        if variant.toolchain.is_cuda() {
            for (name, text) in RUNTIME {
                self.put_device(variant, name, text.as_bytes())?;
            }
        }
        if self.language != Language::Fortran {
            let texts = texts.values().map(|(bytes, _)| String::from_utf8_lossy(bytes));
            let texts: Vec<_> = texts.collect();
            self.put(SUPPORT, support(texts.iter().map(|text| &**text)).as_bytes())?;
        }
        let places: Vec<usize> = texts.keys().copied().collect();
        self.build_and_run(cases, &places, variant, &mut outcomes)?;
        Ok(outcomes)
    }

    /// Writes a file beside a translation, so that the shim's checks see what its threads share.
    fn put_device(&self, variant: &Variant, name: &str, bytes: &[u8]) -> Result<()> {
        match variant.toolchain {
            Toolchain::Shim => {
                self.put(name, cuda::watched::text(&String::from_utf8_lossy(bytes)).as_bytes())
            }
            _ => self.put(name, bytes),
        }
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        files::write(&self.work.join(name), bytes)
    }

    /// Builds and runs those in `places`; where they cannot be built together, fewer at a time.
    fn build_and_run(
        &self,
        cases: &[Case],
        places: &[usize],
        variant: &Variant,
        outcomes: &mut [Outcome],
    ) -> Result<()> {
        let numbers: Vec<usize> = places.iter().map(|place| cases[*place].number).collect();
        let program = self.work.join("batch");
        match self.build(&numbers, variant, &program)? {
            Ok(()) if variant.toolchain == Toolchain::Nvcc => {
                for place in places {
                    outcomes[*place] = Outcome::Passed;
                }
                Ok(())
            }
            Ok(()) => self.run(cases, places, variant, &program, outcomes),
            Err(message) if places.len() == 1 => {
                let error = first_error(&message);
                outcomes[places[0]] = match refused(&error, variant) {
                    Some(why) => Outcome::Excluded(why),
                    None => Outcome::Failed(Failure::Build(error)),
                };
                Ok(())
            }
            Err(message) => {
                let is_named = |place: &&usize| {
                    let sign = format!("case_{}.", cases[**place].number);
                    message.lines().any(|line| line.contains("error") && line.contains(&sign))
                };
                let named: Vec<usize> = places.iter().filter(is_named).copied().collect();
                if named.is_empty() || named.len() == places.len() {
                    let (left, right) = places.split_at(places.len() / 2);
                    self.build_and_run(cases, left, variant, outcomes)?;
                    return self.build_and_run(cases, right, variant, outcomes);
                }
                for place in &named {
                    self.build_and_run(cases, &[*place], variant, outcomes)?;
                }
                let rest: Vec<usize> = places.iter().filter(|one| !named.contains(one)).copied().collect();
                self.build_and_run(cases, &rest, variant, outcomes)
            }
        }
    }

    /// Builds one program of some cases; the compiler's messages if it cannot.
    fn build(
        &self,
        numbers: &[usize],
        variant: &Variant,
        program: &Path,
    ) -> Result<std::result::Result<(), String>> {
        let name = format!("batch.{}", self.language.ending());
        let text = match self.language {
            Language::Fortran => self.fortran_batch(numbers),
            _ => self.c_batch(numbers),
        };
        self.put(&name, text.as_bytes())?;
        let mut sources = vec![name];
        if variant.toolchain.is_cuda() {
            self.put(DEVICE_BATCH, self.device_batch(numbers).as_bytes())?;
            sources.push(DEVICE_BATCH.to_owned());
        }
        for mut step in self.toolchains.build(variant.toolchain, &sources, program, false)? {
            step.current_dir(&self.work);
            match variant.toolchain {
                Toolchain::Nvcc => drop(step.arg("-w")),
                _ if step.get_program() == "objcopy" => {}
                _ => drop(step.args(["-O0", "-w"])),
            }
            let built = process::capture(&mut step, LIMIT)?;
            if !built.succeeded() {
                let end = if built.status.is_none() { "error: the compiler does not end\n" } else { "" };
                return Ok(Err(format!("{end}{}", built.stderr)));
            }
        }
        Ok(Ok(()))
    }
}

/// The name of a program's device code.
fn device_file(number: usize) -> String {
    format!("case_{number}_acc.cu")
}

/// The name of the module with a program's calls of device code.
fn interfaces_file(number: usize) -> String {
    format!("case_{number}{}", cuda::INTERFACES)
}

/// The first error in a compiler's messages.
fn first_error(message: &str) -> String {
    let is_error = |line: &&str| {
        ["error", "Error:", "undefined reference", "not yet implemented"]
            .iter()
            .any(|sign| line.contains(sign))
    };
    let line = message.lines().find(is_error).or(message.lines().next()).unwrap_or_default();
    match line.find("error").or_else(|| line.find("Error")) {
        Some(at) => line[at..].to_owned(),
        None => line.to_owned(),
    }
}
