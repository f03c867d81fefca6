//! Builds and runs poisoned translations, and compares what they print with what the translations print.
//!
//! Invariant: a program that reads its poison is run first, so that a poison without effect is an error.

use std::fs;
use std::path::{Path, PathBuf};

use acc2omp::source::Language;

use super::poison;
use crate::difftest::case::{Case, Tally};
use crate::difftest::compare;
use crate::difftest::fixture::{Fixture, Marks};
use crate::difftest::same::{Built, Given};
use crate::difftest::toolchain::{Toolchain, Toolchains};
use crate::difftest::{self, Output, Profile, Suite};
use crate::{Result, Verdict};

/// The profiles that are built: gcc's output is that of the generic one with other numbers.
const PROFILES: [Profile; 2] = [Profile::Generic, Profile::Clang];

/// Where the poisoned copies go.
const FOLDER: &str = "poisoned";

/// A program that prints what its private variable holds at first.
const CANARY: &str = r#"#include <stdio.h>
int main(void)
{
    int x = 1, out[8];
#pragma omp target teams distribute parallel for private(x) map(from: out)
    for (int i = 0; i < 8; i++)
        out[i] = x;
    printf("%x %x\n", out[0], out[7]);
    return 0;
}
"#;

/// A fixture with the poisoned copies of its translations.
struct Poisoned<'a> {
    fixture: &'a Fixture,
    /// The translations' profiles, and how many variables are poisoned in each.
    copies: Vec<(&'a Output, usize)>,
}

/// Compares all fixtures; the translations are below `work` already.
pub fn run(suite: &Suite, toolchains: &Toolchains, work: &Path) -> Result<Verdict> {
    canary(toolchains, work)?;
    let mut all = Vec::new();
    for fixture in &suite.fixtures {
        let mut copies = Vec::new();
        for output in suite.outputs.iter().filter(|output| is_built(output)) {
            copies.push((output, lay_down(fixture, output, work)?));
        }
        copies.retain(|(_, count)| *count > 0);
        all.push(Poisoned { fixture, copies });
    }
    let variables: usize = all.iter().flat_map(|one| &one.copies).map(|(_, count)| count).sum();
    let tally = difftest::each(&all, |one| compare(one, toolchains, work))?;
    println!(
        "poison: {} variables in {} builds, {} of them changed",
        variables,
        tally.passed + tally.failed,
        tally.failed
    );
    Ok(if tally.failed == 0 && variables > 0 { Verdict::Passed } else { Verdict::Failed })
}

fn is_built(output: &Output) -> bool {
    PROFILES.iter().any(|profile| profile.name() == output.name)
}

fn poisoned_folder(work: &Path, output: &str, fixture: &str) -> PathBuf {
    work.join(FOLDER).join(output).join(fixture)
}

/// Writes the poisoned copy of a translation, and returns how many variables are poisoned in it.
fn lay_down(fixture: &Fixture, output: &Output, work: &Path) -> Result<usize> {
    let from = work.join(&output.name).join(&fixture.name);
    let to = poisoned_folder(work, &output.name, &fixture.name);
    let failed = |error: std::io::Error| format!("{}: {error}", to.display());
    fs::create_dir_all(&to).map_err(failed)?;
    // The support header stands beside the fixtures.
    let header = |folder: &Path| folder.with_file_name("acc2omp.h");
    if header(&from).exists() {
        fs::copy(header(&from), header(&to)).map_err(failed)?;
    }
    let mut count = 0;
    for entry in fs::read_dir(&from).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let (Some(name), true) = (path.file_name(), path.is_file()) else { continue };
        let bytes = fs::read(&path).map_err(failed)?;
        let (text, more) = match Language::of(&path) {
            Some(language) => poison::poisoned(&bytes, language),
            None => (bytes, 0),
        };
        count += more;
        fs::write(to.join(name), text).map_err(failed)?;
    }
    Ok(count)
}

/// Builds the poisoned copies of a fixture. What they print is what the original prints, as it is for the translations in the
/// other comparisons; without an original, what the translation prints.
fn compare(one: &Poisoned, toolchains: &Toolchains, work: &Path) -> Result<Tally> {
    let fixture = one.fixture;
    let case = Case { fixture, toolchains, work, together: None };
    let outputs = one.copies.iter().map(|(output, _)| *output);
    let pairs: Vec<(&Output, Toolchain)> =
        outputs.flat_map(|output| output.toolchains.iter().map(move |&by| (output, by))).collect();
    let Some((output, toolchain)) = pairs.first() else { return Ok(Tally::default()) };
    let right = match fixture.marks.unbuilt {
        true => case.build_and_run(*toolchain, &work.join(&output.name).join(&fixture.name), &output.name)?,
        false => case.build_and_run(case.of_original(), &fixture.folder, "original")?,
    };
    let mut tally = Tally::default();
    let mut built = Built::new(&case, false)?;
    for (output, toolchain) in pairs {
        let folder = poisoned_folder(work, &output.name, &fixture.name);
        if built.holds(Given::new(&case, toolchain, folder.clone(), Vec::new(), false)?)? {
            continue;
        }
        let poisoned = case.build_and_run(toolchain, &folder, &format!("{}-{FOLDER}", output.name))?;
        let wrong = match (&right, poisoned) {
            (Ok(right), Ok(poisoned)) => compare::first_difference(&right.stdout, &poisoned.stdout),
            (Err(wrong), _) => Some(format!("without poison: {wrong}")),
            (_, Err(wrong)) => Some(wrong),
        };
        if let Some(wrong) = &wrong {
            println!("POISONED {} ({} by {}): {wrong}", fixture.name, output.name, toolchain.name());
        }
        let failed = usize::from(wrong.is_some());
        tally = tally.and(&Tally { passed: 1 - failed, failed, ..Tally::default() });
    }
    Ok(tally)
}

/// Each compiler's build of the canary must print poison.
fn canary(toolchains: &Toolchains, work: &Path) -> Result<()> {
    let folder = work.join("canary");
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    let (text, _) = poison::poisoned(CANARY.as_bytes(), Language::C);
    fs::write(folder.join("canary.c"), text).map_err(failed)?;
    let fixture = Fixture {
        name: "canary".to_owned(),
        folder: folder.clone(),
        sources: vec!["canary.c".to_owned()],
        headers: Vec::new(),
        marks: Marks::default(),
    };
    let case = Case { fixture: &fixture, toolchains, work, together: None };
    for &toolchain in Toolchain::of(Profile::Generic) {
        let seen = case.build_and_run(toolchain, &folder, FOLDER)?;
        let seen = seen.map_err(|wrong| format!("canary ({}): {wrong}", toolchain.name()))?;
        if seen.stdout.trim() != "7f7f7f7f 7f7f7f7f" {
            return Err(format!("poison has no effect by {}: {}", toolchain.name(), seen.stdout));
        }
    }
    Ok(())
}
