//! What came of it all, for people and for programs.
//!
//! Invariant: the status says what the table says.

use serde::Serialize;

use super::compare::{Comparison, Difference};
use super::launches::{Construct, Origin};
use super::leave::Left;
use super::pins::Worst;

/// What is known of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It does what the reference does.
    Same = 0,
    /// It does something else.
    Different = 1,
    /// It is unknown.
    Unknown = 2,
}

impl Status {
    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Status::Same => "same",
            Status::Different => "different",
            Status::Unknown => "could not tell",
        }
    }
}

/// Launches from one place.
#[derive(Debug, Serialize)]
pub struct Launched {
    /// Where from.
    #[serde(flatten)]
    pub origin: Origin,
    /// How many.
    pub count: u64,
}

/// What came of one test.
#[derive(Debug, Serialize)]
pub struct Tested {
    /// Its name.
    pub name: String,
    /// What is known.
    pub status: Status,
    /// Why it is unknown, if so.
    pub why: Vec<String>,
    /// The compiler's errors, or the end of a log.
    #[serde(skip)]
    pub said: String,
    /// The directives that were left untranslated, as their translation does not compile.
    pub left: Vec<Left>,
    /// The comparisons.
    pub comparisons: Vec<Comparison>,
    /// The launches by place.
    pub launches: Vec<Launched>,
    /// The constructs that never ran; `None` if launches do not tell where they come from.
    pub never_ran: Option<Vec<Construct>>,
    /// The seconds that its run took.
    pub seconds: f64,
    /// The first directive that leaves something else on the device, if pins have found one.
    pub culprit: Option<Culprit>,
    /// What else the search for constructs has found.
    pub found: Vec<String>,
}

/// A directive that leaves something else than in the reference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Culprit {
    /// The file, seen from the root.
    pub file: String,
    /// The line of the directive.
    pub line: usize,
    /// The directive; `end data` is the end of a region.
    pub name: String,
    /// How often it had run, from 1.
    pub execution: u64,
    /// The rank of the process.
    pub rank: String,
    /// The variable that differs.
    pub variable: String,
    /// Its element that differs most; none if it is not on the device, or not all of it.
    pub worst: Option<Worst>,
    /// The sums of the elements that the directive changes, in the reference and in the test, if no element is known.
    pub sums: Option<[f64; 2]>,
    /// The variables that differed before.
    pub inputs: Vec<String>,
    /// The directives that moved these last, or might have.
    pub moved_by: Vec<String>,
    /// If some differed before: constructs that are not recorded.
    pub unrecorded: Vec<String>,
    /// The page that says what becomes of the directive.
    pub page: Option<String>,
}

/// All tests.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The version of this form.
    pub format: u32,
    /// What is known of all tests together.
    pub status: Status,
    /// What else there is to say.
    pub notes: Vec<String>,
    /// The tests.
    pub tests: Vec<Tested>,
}

impl Report {
    /// For people.
    pub fn text(&self) -> String {
        let mut text: String = self.tests.iter().map(details).collect();
        text += &self.notes.iter().map(|note| format!("note: {note}\n")).collect::<String>();
        let width = self.tests.iter().map(|test| test.name.len()).max().unwrap_or(0).max(4);
        text += &format!(
            "{:<width$}  {:<14}  {:>9}  {:>11}  {:>8}  {:>8}\n",
            "test", "result", "numbers", "differences", "launches", "seconds"
        );
        for test in &self.tests {
            let sum = |of: fn(&Comparison) -> u64| test.comparisons.iter().map(of).sum::<u64>();
            let launches: u64 = test.launches.iter().map(|one| one.count).sum();
            text += &format!(
                "{:<width$}  {:<14}  {:>9}  {:>11}  {:>8}  {:>8.2}\n",
                test.name,
                test.status.word(),
                sum(|one| one.numbers),
                sum(|one| one.differences),
                launches,
                test.seconds
            );
        }
        text
    }
}

fn details(test: &Tested) -> String {
    let mut text = test.said.clone() + &left(test);
    for one in &test.comparisons {
        if let Some(why) = &one.unknown {
            text += &format!("{}: {}: could not tell: {why}\n", test.name, one.what);
        }
        if one.differences > 0 {
            let largest = if one.numbers > 0 {
                format!("; the largest relative difference of numbers is {:.3e}", one.largest)
            } else {
                String::new()
            };
            text += &format!("{}: {}: {} differ{largest}\n", test.name, one.what, one.differences);
            text += &one.first.iter().map(difference).collect::<String>();
        }
        if one.by_noise > 0 {
            text += &format!(
                "note: {}: {}: {} numbers are the same by the tolerance of `noise`\n",
                test.name, one.what, one.by_noise
            );
        }
    }
    text += &test.culprit.iter().map(|found| culprit(&test.name, found)).collect::<String>();
    text += &test.found.iter().map(|found| format!("{}: {found}\n", test.name)).collect::<String>();
    text += &test.why.iter().map(|why| format!("{}: could not tell: {why}\n", test.name)).collect::<String>();
    for one in test.never_ran.iter().flatten().filter(|_| !test.launches.is_empty()) {
        text += &format!(
            "note: {}: {}:{}: `{}` never ran on the device\n",
            test.name, one.file, one.lines.0, one.name
        );
    }
    text
}

/// The directives that were left untranslated, and what the user can paste to leave them.
fn left(test: &Tested) -> String {
    if test.left.is_empty() {
        return String::new();
    }
    let line = |one: &Left| format!("  {}:{}: `{}`: {}\n", one.file, one.line, one.name, one.message);
    let entry = |one: &Left| format!("\n{}", one.lines());
    format!(
        "{}: left untranslated, as the compiler refuses what becomes of them: {}\n{}with these lines in acc2omp.toml they stay untranslated in the project, too:\n{}\n",
        test.name,
        test.left.len(),
        test.left.iter().map(line).collect::<String>(),
        test.left.iter().map(entry).collect::<String>()
    )
}

fn culprit(name: &str, found: &Culprit) -> String {
    let Culprit { file, line, execution, variable, .. } = found;
    let rank = if found.rank == "0" { String::new() } else { format!(" of rank {}", found.rank) };
    let mut text = format!(
        "{name}: {file}:{line}: `{}` is the first directive {}that leaves something else, when it runs for time {execution}{rank}\n",
        found.name,
        if found.unrecorded.is_empty() { "" } else { "of those recorded " }
    );
    text += &match (&found.worst, found.sums) {
        (None, None) => format!("  `{variable}` is not on the device, or not all of it\n"),
        (None, Some([reference, test])) => format!(
            "  `{variable}`: the sum of what it changes is {reference:e} in the reference and {test:e} in the test; no element was saved that differs\n"
        ),
        (Some(Worst { place, reference, test, allowed, count, samples }), _) => {
            let of = samples.map_or(String::new(), |samples| format!(" of the {samples} that were saved"));
            let apart = match reference == test {
                true => "the last digits of large integers differ".to_owned(),
                false => format!("differs by {:.3e}, allowed is {allowed:.3e}", (reference - test).abs()),
            };
            format!(
                "  `{variable}`, element {place} from 0: reference {reference:e}, test {test:e} ({apart}); {count} elements{of} differ\n"
            )
        }
    };
    if !found.inputs.is_empty() {
        text += &format!("  before it, these differ already: `{}`", found.inputs.join("`, `"));
        text += &match found.moved_by.is_empty() {
            true => "; no directive that was recorded moves them\n".to_owned(),
            false => format!("; moved last by {}\n", found.moved_by.join(", ")),
        };
    }
    if !found.unrecorded.is_empty() {
        text += &format!("  it may be one that is not recorded: {}\n", found.unrecorded.join(", "));
    }
    text + &found
        .page
        .iter()
        .map(|page| format!("  what becomes of it: `acc2omp rules {page}`\n"))
        .collect::<String>()
}

fn difference(one: &Difference) -> String {
    let apart = match (one.difference, one.allowed) {
        (Some(apart), Some(allowed)) if apart != 0.0 => {
            format!(" (differs by {apart:.3e}, allowed is {allowed:.3e})")
        }
        _ => String::new(),
    };
    format!("  {}: reference `{}`, test `{}`{apart}\n", one.place, one.reference, one.test)
}
