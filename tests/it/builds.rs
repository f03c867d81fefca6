//! Builds that the translation knows nothing of, and what they would have if its options said so.
//!
//! Invariant: both are the same, or it is said that the branches differ.

use std::collections::BTreeSet;
use std::path::Path;

use acc2omp::scan::{self, View};
use acc2omp::source::SourceFile;
use acc2omp::{Code, Options, Outcome, Source, To, Translation, translate};

use super::fixtures::{source, source_defining, sources};
use super::shown;

/// The lines of a text that one build compiles, without those that compare what builds say.
fn compiled(file: &SourceFile, text: &[u8]) -> Vec<String> {
    let file = file.with(text.to_vec());
    let (scan, _) = scan::scan(&file, &View::of_output());
    let mut bytes = file.bytes.to_vec();
    for hidden in scan.hidden {
        bytes[hidden.range()].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let checks = ["/* The device code must be built with", "/* Structs must lie in memory"];
    let end = checks.iter().filter_map(|check| text.find(check)).min().unwrap_or(text.len());
    let is_other = |line: &&str| {
        ["#if", "#el", "#endif", "#include"].iter().any(|word| line.replace(' ', "").starts_with(word))
    };
    let lines = text[..end].lines().map(str::trim).filter(|line| !line.is_empty() && !is_other(line));
    lines.map(str::to_owned).collect()
}

/// Whether a build that is not known has another translation, or none, and it is said: here, or when its device code is compiled.
fn differs(made: &Translation) -> bool {
    let refuses = |text: &[u8]| String::from_utf8_lossy(text).contains("#error \"acc2omp has read this code");
    made.diagnostics.iter().any(|one| one.code == Code(250))
        || made.directives.iter().any(|one| one.outcome == Outcome::Left)
        || made.beside.iter().any(|file| refuses(&file.text))
}

/// What a build has in another way than if the options said what it defines, as they do in `said`; `None` if it is said that it
/// may.
fn unlike(plain: &Source, said: &Source, to: To) -> Option<Vec<String>> {
    let options = Options { to, ..Options::default() };
    let (first, second) = (translate(plain, &options), translate(said, &options));
    let all = first.diagnostics.iter().chain(&second.diagnostics);
    assert!(all.into_iter().all(|one| one.code < Code(900)), "{}: {:?}", plain.file.name, first.diagnostics);
    if differs(&first) || differs(&second) {
        return None;
    }
    let (one, two) = (compiled(&said.file, &first.text), compiled(&said.file, &second.text));
    let differ = one.iter().zip(&two).filter(|(one, two)| one != two).take(1);
    let differ: Vec<String> = differ.flat_map(|(one, two)| [one.clone(), two.clone()]).collect();
    Some(if one.len() == two.len() || !differ.is_empty() { differ } else { vec!["lines".to_owned()] })
}

#[test]
fn a_build_that_defines_a_name_has_what_it_would_have_if_it_said_so() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    // Where the name makes a macro for directives empty, a build that says so has no constructs.
    let is_known = |path: &Path| shown(path).ends_with("macro-pragma.c");
    for path in sources().into_iter().filter(|path| !is_known(path)) {
        let plain = source(&path);
        let headers = plain.headers.iter().map(|header| &header.file);
        let forks: Vec<scan::Fork> = headers.chain([&plain.file]).flat_map(scan::forks).collect();
        let names: BTreeSet<&str> = forks.iter().flat_map(scan::Fork::names).collect();
        // What headers define keeps them from being read twice.
        let defined = plain.headers.iter().flat_map(|header| header.names());
        let known = plain.file.predefined.names().map(|(name, _)| name).chain(defined);
        let known: BTreeSet<&str> = known.collect();
        for name in names.difference(&known).filter(|name| !name.starts_with('_')) {
            let said = source_defining(&path, Some(name));
            for to in [To::OpenMp, To::Cuda] {
                let Some(differ) = unlike(&plain, &said, to) else { continue };
                count += 1;
                if !differ.is_empty() {
                    wrong.push(format!("{} -D{name} to {to:?}: {differ:#?}", shown(&path)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 100, "{count}");
}

/// One fixture of so many is tried.
const SAMPLE: u64 = 8;

/// A number that is as good as any for a fixture, and the same each time: Fowler, Noll and Vo's hash of its name.
fn chance(path: &Path) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    shown(path).bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// A text with one of its directives in a branch, alone or in the other branch, too, or in one that the build does not read.
fn with_branch(text: &str, chance: u64) -> Option<String> {
    let is_begin = |line: &str| {
        let line = line.trim().to_lowercase();
        let is_whole = !line.ends_with(['\\', '&']) && !line.contains("acc end");
        is_whole && (line.starts_with("#pragma acc") || line.starts_with("!$acc "))
    };
    let lines: Vec<&str> = text.lines().collect();
    let is_alone = |at: &usize| !lines[at.saturating_sub(1)].trim_end().ends_with(['\\', '&']);
    let places: Vec<usize> = (0..lines.len()).filter(|at| is_begin(lines[*at]) && is_alone(at)).collect();
    let at = *places.get(usize::try_from(chance / SAMPLE).ok()? % places.len().max(1))?;
    let line = lines[at];
    let (word, other) = match (chance >> 40) % 3 {
        0 => ("ifdef", String::new()),
        1 => ("ifndef", String::new()),
        _ => ("ifdef", format!("#else\n{line}\n")),
    };
    let (before, after) = (lines[..at].join("\n"), lines[at + 1..].join("\n"));
    Some(format!("{before}\n#{word} OTHER_BUILD\n{line}\n{other}#endif\n{after}\n"))
}

#[test]
fn a_directive_of_a_fixture_in_a_branch_is_there_for_the_build_that_reads_it() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    // Loops that count on beside their own variables run in order where the file has such a branch.
    let is_counted = |path: &Path| shown(path).contains("/nests-");
    let sample = sources().into_iter().filter(|path| chance(path).is_multiple_of(SAMPLE));
    for path in sample.filter(|path| !is_counted(path)) {
        let parted = |name| {
            let plain = source_defining(&path, name);
            let text = with_branch(&String::from_utf8_lossy(&plain.file.bytes), chance(&path))?;
            Some(Source { file: plain.file.with(text.into_bytes()), ..plain })
        };
        let (Some(plain), Some(said)) = (parted(None), parted(Some("OTHER_BUILD"))) else { continue };
        for to in [To::OpenMp, To::Cuda] {
            let Some(differ) = unlike(&plain, &said, to) else { continue };
            count += 1;
            if !differ.is_empty() {
                wrong.push(format!("{} to {to:?}: {differ:#?}", shown(&path)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 50, "{count}");
}
