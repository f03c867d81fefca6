//! Whether device code that was made of one view of the preprocessor is right for the branches that another build chooses.
//!
//! Invariant: code with conditions inside is the same text whichever of their branches was read, or refuses to build.

use std::collections::BTreeMap;

use crate::acc;
use crate::bind;
use crate::cuda::{self, Device, Seen};
use crate::host;
use crate::scan::{self, Shown, View};
use crate::source::{SourceFile, Span};

use super::loops::Found;
use super::read::parse;
use super::reading::Reading;
use super::unlike::culprits;
use super::{Header, Options, Source};

/// More branches than this are not read one by one.
const MOST: usize = 24;

/// Compares the device code with what it would be if each branch inside were the one that is read, and lets it refuse those
/// for which it would be another.
pub fn settle(source: &Source, device: &mut Device, options: &Options) {
    let hidden = device.hidden_branches();
    for (at, branch) in hidden.into_iter().enumerate() {
        let other = (at < MOST).then(|| other(source, branch, options)).flatten();
        device.compare(branch, other.as_ref());
    }
}

/// The directives, by their places, whose kernels code of branches elsewhere would need in another way, each with such a branch.
/// What stands in the code of a kernel is compared by `settle`. `directives` are those that are translated.
pub fn unlike(
    source: &Source,
    device: &Device,
    directives: &[u32],
    options: &Options,
) -> BTreeMap<u32, Span> {
    let file = &source.file;
    if !device.has_kernels() {
        return BTreeMap::new();
    }
    let forks = scan::forks(file);
    let branched = scan::other_builds(file, &forks, &View::default());
    let unlike = |view: &View| device.unlike(&self::device(source, view, options), directives);
    culprits((file, &forks), &branched, &View::default(), &unlike)
}

/// The device code of a source whose hidden branch is shown.
fn other(source: &Source, (number, branch): (usize, Span), options: &Options) -> Option<Device> {
    let own = source.headers.len();
    if number == own {
        return Some(device(source, &View::reaching(&source.file, branch.start + 1), options));
    }
    let mut there = source.with(source.file.clone());
    let header = source.headers.get(number)?;
    let fork = scan::forks(&header.file)
        .into_iter()
        .find(|fork| fork.branches.iter().any(|one| one.inside == branch))?;
    let mut hidden: Vec<Span> = header.scan.hidden.iter().copied().filter(|span| *span != branch).collect();
    let others =
        fork.branches.iter().map(|one| one.inside).filter(|span| *span != branch && !span.is_empty());
    hidden.extend(others);
    hidden.sort();
    hidden.dedup();
    let restricts = header.scan.restricts.clone();
    let shown = Shown { hidden, restricts, ..Shown::default() };
    there.headers[number] = Header::showing(header.file.clone(), &shown).into();
    Some(device(&there, &assuming(&header.file, branch), options))
}

/// The view of a build that reads a branch: what the branch's condition asks for is defined in other conditions, too.
fn assuming(file: &SourceFile, branch: Span) -> View {
    let mut view = View::default();
    for fork in scan::forks(file) {
        if let Some(at) = fork.branches.iter().position(|one| one.inside == branch) {
            view.defines.extend(fork.defines_for(at));
        }
    }
    view
}

/// The device code of one view of a source.
fn device(source: &Source, view: &View, options: &Options) -> Device {
    let file = &source.file;
    let (mut scan, _) = scan::scan(file, &source.shown(view));
    let apart = source.functions_apart(&scan, options);
    scan::blank(&mut scan.shadow, &apart);
    let unit = host::parse(file, &scan);
    let (mut parsed, mut held): (Vec<(usize, acc::ast::Directive)>, Vec<Span>) = (Vec::new(), Vec::new());
    for (at, text) in scan.directives.iter().enumerate().filter(|(_, text)| text.active) {
        match parse(file, text, &mut Vec::new()) {
            Some(directive) => parsed.push((at, directive)),
            None => held.push(text.span),
        }
    }
    let own = source.reading((&unit, &scan), parsed, held, options, &mut Found::default());
    let headers: Vec<Seen> = source.headers.iter().map(|header| header.seen()).collect();
    let readings: Vec<(usize, Reading)> =
        (0..headers.len()).filter_map(|at| Some((at, source.header_reading(at, options)?))).collect();
    let read: Vec<cuda::Input> = readings
        .iter()
        .map(|(at, reading)| reading.input(headers[*at], &headers[..*at], &[], options))
        .collect();
    let declared = bind::declared(file, &scan, &unit);
    let seen = Seen { file, unit: &unit, scan: &scan, declared: &declared };
    cuda::lower(&own.input(seen, &headers, &read, options)).1
}
