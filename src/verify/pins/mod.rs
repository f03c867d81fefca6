//! Names the first directive that leaves something else on the device than in the reference.
//!
//! Invariant: the reference, the noise build and the test are instrumented in the same way, before they are translated.

mod judge;
mod record;
mod unset;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::pins::{Purpose, Site};

use super::config::{self, Program};
use super::golden::Golden;
use super::program::{Failed, Ran, Shared};
use super::report::{Culprit, Tested};
use super::{Search, Status, Verification, tree};

pub use judge::Worst;
use judge::{Bytes, InShort, Levels, Walk, in_short, walk, worst, worst_of};
use record::{Event, Place, Recorded, Records, read};
use unset::Unset;

/// So many executions are looked at closely in one run.
const BATCH: usize = 24;

/// So often a run is made to look closely.
const BATCHES: usize = 4;

/// Of so many first executions of each directive, the bytes are saved with a reference.
const SAVED: u64 = 4;

/// So many constructs that are not recorded are named.
const NAMED: usize = 5;

/// So often a test runs to see whether it does the same each time.
const AGAIN: usize = 3;

/// So many runs with pins are made of one that does not.
const UNSTEADY_RUNS: usize = 4;

/// What is said of it.
const UNSTEADY: &str = "the test does something else each time that it runs: something runs at the same time, or reads what nobody has set; one run with pins need not show it";

/// So long may a list of executions be.
const LIST: usize = 100_000;

/// Which executions are recorded.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Pins {
    /// Every so many of a directive.
    pub every: u64,
    /// The first ones of a directive alone.
    pub first: Option<u64>,
    /// Those of this directive alone, as `FILE:LINE`.
    pub only: Option<String>,
}

/// An instrumented program that ran.
pub struct Pinned<'a> {
    name: String,
    program: &'a Program,
    ran: Ran,
    records: Records,
    sites: Vec<(String, Site)>,
    /// Where its records are, if they were saved and it cannot run again.
    saved: Option<PathBuf>,
}

/// What the programs that are right have recorded, to be saved.
pub struct Kept {
    /// The directives, in words.
    pub directives: Vec<String>,
    /// The folders of the records, by the names of the programs.
    pub folders: Vec<(&'static str, PathBuf)>,
}

/// The programs that are right.
pub struct References<'a> {
    reference: Pinned<'a>,
    noise: Option<Pinned<'a>>,
}

impl Pins {
    fn environment(&self, folder: &Path) -> Vec<(&'static str, String)> {
        let mut all = vec![("ACC2OMP_PIN", folder.display().to_string())];
        all.push(("ACC2OMP_PIN_EVERY", self.every.to_string()));
        all.extend(self.first.map(|first| ("ACC2OMP_PIN_FIRST", first.to_string())));
        all.extend(self.only.clone().map(|only| ("ACC2OMP_PIN_ONLY", only)));
        all
    }
}

impl Verification<'_> {
    /// Instruments and runs the reference and the noise build.
    pub(super) fn pinned_references(
        &self,
        pins: &Pins,
        search: &Search,
        shared: &mut Shared,
    ) -> Result<References<'_>, String> {
        let failed = |what: &str, failed: Failed| {
            let name = if what == "reference" { what } else { "noise" };
            let why = self.old_fortran(name).unwrap_or(failed.why);
            format!("with pins, the {what} {why}\n{}", failed.said)
        };
        let reference = self
            .recorded("reference", &self.settings.reference, pins, search, shared)
            .map_err(|why| failed("reference", why))?;
        let noise = match &self.settings.noise {
            Some(noise) => {
                let ran = self.recorded("noise", noise, pins, search, shared);
                Some(ran.map_err(|why| failed("noise build", why))?)
            }
            None => None,
        };
        for (file, site) in &reference.sites {
            if let Some(why) = site.obstacle {
                let (line, name) = (site.line, &site.name);
                shared.notes.push(format!("{file}:{line}: `{name}` is not recorded: {why}"));
            }
            if site.unknown.is_empty() || site.obstacle.is_some() {
                continue;
            }
            let names = site.unknown.join("`, `");
            let line = site.line;
            shared
                .notes
                .push(format!("{file}:{line}: not recorded, as nothing says how long it is: `{names}`"));
        }
        for ((file, line), names) in unknown(&reference.records) {
            let names = names.into_iter().collect::<Vec<_>>().join("`, `");
            shared.notes.push(format!(
                "{file}:{line}: not recorded, as its elements are not numbers or not all of it is on the device: `{names}`"
            ));
        }
        Ok(References { reference, noise })
    }

    /// Records the programs that are right, with the bytes of the first executions of each directive.
    pub(super) fn kept(&self, pins: &Pins, search: &Search, shared: &mut Shared) -> Result<Kept, String> {
        let References { reference, noise } = self.pinned_references(pins, search, shared)?;
        let list = first_executions(&reference.records, shared.room.left / 4);
        let mut folders = Vec::new();
        for (name, one) in [("reference", Some(&reference)), ("noise", noise.as_ref())] {
            let Some(one) = one else { continue };
            let kept = (pins, Some(list.as_str()));
            self.run_recorded(&one.name, one.program, &one.ran.copy, kept, shared)
                .map_err(|failed| format!("with pins, the {name} {}\n{}", failed.why, failed.said))?;
            folders.push((name, self.records(&one.name)));
        }
        Ok(Kept { directives: in_words(&reference.sites), folders })
    }

    /// The programs that are right, as they were saved.
    pub(super) fn saved_references(&self, golden: &Golden) -> Result<References<'_>, String> {
        let one = |name: &str, program| -> Result<Option<Pinned<'_>>, String> {
            let Some(ran) = golden.ran(name)? else { return Ok(None) };
            let folder = golden.records(name);
            let (name, records) = (format!("pins/{name}"), read(&folder)?);
            Ok(Some(Pinned { name, program, ran, records, sites: Vec::new(), saved: Some(folder) }))
        };
        let reference = one("reference", &self.settings.reference)?.ok_or("no reference was saved")?;
        let noise = match &self.settings.noise {
            Some(noise) => one("noise", noise)?,
            None => None,
        };
        Ok(References { reference, noise })
    }

    /// Instruments a program, builds it and runs it.
    fn recorded<'p>(
        &self,
        name: &str,
        program: &'p Program,
        pins: &Pins,
        search: &Search,
        shared: &mut Shared,
    ) -> Result<Pinned<'p>, Failed> {
        let name = format!("pins/{name}");
        let copy = self.copied(&name, shared)?;
        let sites = (search.instrument)(&copy, Purpose::Record)?;
        if sites.iter().all(|(_, site)| site.obstacle.is_some()) {
            return Err(Failed::from("has no directive that can be recorded".to_owned()));
        }
        self.built(&name, program, &copy, shared)?;
        let (ran, records) = self.run_recorded(&name, program, &copy, (pins, None), shared)?;
        Ok(Pinned { name, program, ran, records, sites, saved: None })
    }

    /// Runs an instrumented program, and keeps the bytes of these executions.
    fn run_recorded(
        &self,
        name: &str,
        program: &Program,
        copy: &Path,
        (pins, kept): (&Pins, Option<&str>),
        shared: &Shared,
    ) -> Result<(Ran, Records), Failed> {
        let folder = self.records(name);
        tree::remove(&folder)?;
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut environment = pins.environment(&folder);
        environment.extend(kept.map(|kept| ("ACC2OMP_PIN_SAVE", kept.to_owned())));
        let ran = self.ran(name, program, copy, &environment, shared)?;
        Ok((ran, read(&folder)?))
    }

    /// What there is to say of an instrumented build that fails as its Fortran is too old for what is put into it.
    fn old_fortran(&self, name: &str) -> Option<String> {
        let log = fs::read(self.folder.join(format!("pins/{name}.build.log"))).ok()?;
        let log = String::from_utf8_lossy(&log);
        let is_old = ["Fortran 2003:", "Fortran 2008:"].iter().any(|words| log.contains(words));
        is_old.then(|| {
            "does not build: it asks for an older standard (`-std=f95`, `-std=f2003`), and what pins put into sources is Fortran 2008: leave out `-std` in the builds, or say `-std=f2008`".to_owned()
        })
    }

    fn records(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.records"))
    }

    /// Instruments and runs a test, and says where it differs first.
    pub(super) fn pinned(
        &self,
        (pins, golden): (&Pins, Option<&Golden>),
        search: &Search,
        (name, test): (&str, &Program),
        references: &References,
        tested: &mut Tested,
        shared: &mut Shared,
    ) {
        let done = self.recorded(name, test, pins, search, shared);
        let done = done.and_then(|own| {
            if let Some(why) = golden.and_then(|golden| golden.other_sources(&in_words(&own.sites))) {
                return Err(Failed::from(why));
            }
            let is_wrong = tested.status == Status::Different;
            let found = self.first_difference(pins, references, (&own, is_wrong), shared)?;
            Ok((own, found))
        });
        match done {
            Err(failed) => {
                let why = self.old_fortran(name).unwrap_or(failed.why);
                tested.found.push(format!("pins could not tell: {why}\n{}", failed.said));
            }
            Ok((_, Found::Culprit(culprit))) => tested.culprit = Some(*culprit),
            Ok((_, Found::Parted(said))) => tested.found.push(said),
            Ok((own, Found::Nothing)) if tested.status == Status::Different => {
                if self.differs_from_itself((name, test), shared).unwrap_or(false) {
                    tested.found.push(UNSTEADY.to_owned());
                    tested.culprit = self.sometimes_different(pins, references, &own, shared);
                    return;
                }
                let said = self.differs_elsewhere((name, test), references, &own, shared);
                tested.found.push(said.unwrap_or_else(|failed| failed.why));
            }
            Ok((_, Found::Nothing)) => {}
        }
    }

    /// The first directive that leaves something else.
    fn first_difference(
        &self,
        pins: &Pins,
        references: &References,
        (own, is_wrong): (&Pinned, bool),
        shared: &Shared,
    ) -> Result<Found, Failed> {
        let mut parted = None;
        let mut culprit: Option<Culprit> = None;
        for (rank, events) in &references.reference.records {
            let Some(test) = events_of(&own.records, rank) else {
                parted.get_or_insert_with(|| format!("with pins, rank {rank} records nothing"));
                continue;
            };
            let noise = references.noise.as_ref().and_then(|noise| events_of(&noise.records, rank));
            let levels = Levels::of(events, noise);
            let walk = walk(events, test, &levels);
            let parting = walk.parting;
            match self.first_of_rank(pins, references, (own, is_wrong), (rank, &levels, walk), shared)? {
                // What is wrong already may come from another process.
                Some(found) if found.inputs.is_empty() => return Ok(Found::Culprit(Box::new(found))),
                found => culprit = culprit.or(found),
            }
            if let Some(at) = parting {
                parted.get_or_insert_with(|| parting_of(events, test, at));
            }
        }
        Ok(match (culprit, parted) {
            (Some(culprit), _) => Found::Culprit(Box::new(culprit)),
            (None, Some(parted)) => Found::Parted(parted),
            (None, None) => Found::Nothing,
        })
    }

    /// The first directive of a process that leaves something else.
    fn first_of_rank(
        &self,
        pins: &Pins,
        references: &References,
        (own, is_wrong): (&Pinned, bool),
        (rank, levels, walk): (&str, &Levels, Walk),
        shared: &Shared,
    ) -> Result<Option<Culprit>, Failed> {
        let Some(events) = events_of(&references.reference.records, rank) else { return Ok(None) };
        let mut unset = Unset::default();
        // What differs by roundings alone is looked at only if the program does something else.
        let mut batch: Vec<usize> = walk.unlike.into_iter().take(if is_wrong { BATCH } else { 0 }).collect();
        let mut pending = walk.suspects;
        for _ in 0..=BATCHES {
            let runs = match batch.is_empty() {
                true => None,
                false => self.looked_at(pins, references, own, (rank, &batch), shared)?,
            };
            let close = runs.as_ref().map(|(reference, test, noise)| Close {
                reference,
                test,
                noise: noise.as_ref(),
                levels,
                sites: &own.sites,
            });
            for (at, close) in batch.iter().zip(close.iter().cycle()) {
                let place = &events[*at].place;
                let Some(found) = close.culprit(rank, *at).filter(|_| !unset.spreads(place)) else {
                    continue;
                };
                if !unset.explains(&found, &events[..*at]) {
                    let is_late = is_wrong && !found.inputs.is_empty();
                    return Ok(Some(if is_late { unset.cause(found) } else { found }));
                }
                if is_wrong && close.makes_more(*at, &found) {
                    return Ok(Some(found));
                }
                unset.take(place, found);
            }
            pending.retain(|at| !batch.contains(at) && !unset.spreads(&events[*at].place));
            batch = pending.iter().copied().take(BATCH).collect();
        }
        Ok(unset.first().filter(|_| is_wrong))
    }

    /// What the programs have recorded of these executions, with the bytes.
    fn looked_at(
        &self,
        pins: &Pins,
        references: &References,
        own: &Pinned,
        (rank, batch): (&str, &[usize]),
        shared: &Shared,
    ) -> Result<Option<Looked>, Failed> {
        let Some(events) = events_of(&references.reference.records, rank) else { return Ok(None) };
        let list = list_of(events, batch);
        let look = |one: &Pinned| -> Result<Option<Run>, Failed> {
            if let Some(folder) = &one.saved {
                return Ok(events_of(&one.records, rank).map(|events| (folder.clone(), events.to_vec())));
            }
            let kept = (pins, Some(list.as_str()));
            let (_, records) = self.run_recorded(&one.name, one.program, &one.ran.copy, kept, shared)?;
            Ok(events_of(&records, rank).map(|events| (self.records(&one.name), events.to_vec())))
        };
        let (reference, test) = (look(&references.reference)?, look(own)?);
        let noise = match &references.noise {
            Some(noise) => look(noise)?,
            None => None,
        };
        Ok(reference.zip(test).map(|(reference, test)| (reference, test, noise)))
    }

    /// Whether a test without pins does something else when it runs again.
    fn differs_from_itself(&self, (name, test): (&str, &Program), shared: &Shared) -> Result<bool, Failed> {
        let copy = self.folder.join(name);
        let first = self.ran(name, test, &copy, &[], shared)?;
        for _ in 1..AGAIN {
            let other = self.ran(name, test, &copy, &[], shared)?;
            if self.compared([&first, &other], None).iter().any(|one| one.differences > 0) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The first directive that leaves something else in one of several runs of a test that does something else each time, as
    /// far as that is seen without the bytes.
    fn sometimes_different(
        &self,
        pins: &Pins,
        references: &References,
        own: &Pinned,
        shared: &Shared,
    ) -> Option<Culprit> {
        let again = || {
            let ran = self.run_recorded(&own.name, own.program, &own.ran.copy, (pins, None), shared);
            ran.map_or_else(|_| Records::new(), |(_, records)| records)
        };
        let runs = std::iter::once_with(|| own.records.clone())
            .chain(std::iter::repeat_with(again).take(UNSTEADY_RUNS));
        runs.into_iter().find_map(|records| {
            references.reference.records.iter().find_map(|(rank, events)| {
                let test = events_of(&records, rank)?;
                let noise = references.noise.as_ref().and_then(|noise| events_of(&noise.records, rank));
                let levels = Levels::of(events, noise);
                let run = |events: &[Event]| (PathBuf::new(), events.to_vec());
                let close = Close {
                    reference: &run(events),
                    test: &run(test),
                    noise: None,
                    levels: &levels,
                    sites: &own.sites,
                };
                walk(events, test, &levels).suspects.into_iter().find_map(|at| close.culprit(rank, at))
            })
        })
    }

    /// What there is to say of a test that differs although no directive leaves something else.
    fn differs_elsewhere(
        &self,
        (name, test): (&str, &Program),
        references: &References,
        own: &Pinned,
        shared: &mut Shared,
    ) -> Result<String, Failed> {
        let noise = references.noise.as_ref().map(|noise| &noise.ran);
        let is_right = |ran: &Ran| {
            let comparisons = self.compared([&references.reference.ran, ran], noise);
            comparisons.iter().all(|one| one.differences == 0)
        };
        if !is_right(&own.ran) {
            let found = found_before(references, own).unwrap_or_else(|| {
                "the difference comes from code of the host, or from what is not recorded".to_owned()
            });
            return Ok(format!("all directives leave what they leave in the reference: {found}"));
        }
        let name = format!("sync/{name}");
        let copy = self.copied(&name, shared)?;
        config::change(&copy, |table| drop(table.insert("async".to_owned(), "sync".into())))?;
        self.built(&name, test, &copy, shared)?;
        let ran = self.ran(&name, test, &copy, &[], shared)?;
        Ok(match is_right(&ran) {
            true => "right with pins, which wait for all queues, and right with `async = \"sync\"`: something is not waited for that is queued",
            false => "right with pins, and wrong with `async = \"sync\"`, too: no directive leaves something else when the host waits for each",
        }
        .to_owned())
    }
}

/// The events of a run that kept bytes, and the folder of these.
type Run = (PathBuf, Vec<Event>);

/// Those of the reference, of the test and of the noise build.
type Looked = (Run, Run, Option<Run>);

/// What a search ends with.
enum Found {
    /// A directive leaves something else.
    Culprit(Box<Culprit>),
    /// The programs go different ways before a directive does, as is said.
    Parted(String),
    /// None does.
    Nothing,
}

/// The variables that were not recorded, by file and line.
fn unknown(records: &Records) -> BTreeMap<(&str, usize), BTreeSet<&str>> {
    let mut found: BTreeMap<(&str, usize), BTreeSet<&str>> = BTreeMap::new();
    for event in records.iter().flat_map(|(_, events)| events) {
        let mut names = event.unknown().peekable();
        if names.peek().is_some() {
            found.entry((&event.place.file, event.place.line)).or_default().extend(names);
        }
    }
    found
}

fn events_of<'r>(records: &'r Records, rank: &str) -> Option<&'r [Event]> {
    records.iter().find(|(own, _)| own == rank).map(|(_, events)| events.as_slice())
}

/// Executions as the library takes them.
fn list_of(events: &[Event], batch: &[usize]) -> String {
    let lines = batch.iter().map(|at| {
        let Event { place, execution, .. } = &events[*at];
        format!("{}:{}:{execution}\n", place.file, place.line)
    });
    std::iter::once("\n".to_owned()).chain(lines).collect()
}

/// What is said where two programs go different ways.
fn parting_of(events: &[Event], test: &[Event], at: usize) -> String {
    let text = |event: Option<&Event>| match event {
        Some(Event { place, execution, .. }) => {
            format!("`{}` of {}:{} for time {execution}", place.name, place.file, place.line)
        }
        None => "to its end".to_owned(),
    };
    let entry = entry_of(events, at).filter(|entry| entry + 1 == at).and_then(|entry| test.get(entry));
    if let Some(Event { place, execution, .. }) = entry
        && test.get(at).is_none_or(|next| next.is_entry)
    {
        let Place { file, line, name } = place;
        return format!(
            "`{name}` of {file}:{line} begins for time {execution} and does not come to its end: the test ends there"
        );
    }
    let (own, other) = (text(events.get(at)), text(test.get(at)));
    let instance = if own == other { " for variables of other types" } else { "" };
    format!(
        "all directives leave what they leave in the reference, until the reference goes on with {own} and the test with {other}{instance}"
    )
}

/// The first executions of directives, as the library takes them; their bytes, before and after, are as many as `limit` allows.
fn first_executions(records: &Records, limit: u64) -> String {
    let mut batch = Vec::new();
    let (mut bytes, mut length) = (0, 0);
    let Some((_, events)) = records.first() else { return String::new() };
    for (at, event) in events.iter().enumerate() {
        if event.is_entry || event.execution > SAVED {
            continue;
        }
        let held = event.variables.iter().filter_map(|one| one.held.as_ref());
        let own: u64 = held.map(|held| held.count * held.element.size() as u64).sum();
        bytes += 2 * own;
        length += event.place.file.len() + 30;
        if bytes > limit || length > LIST {
            break;
        }
        batch.push(at);
    }
    list_of(events, &batch)
}

/// Directives in words, each once.
fn in_words(sites: &[(String, Site)]) -> Vec<String> {
    let text = |(file, site): &(String, Site)| format!("{file}:{}: {}", site.line, site.name);
    sites.iter().map(text).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The events of runs that kept bytes, each with the folder of these.
struct Close<'a> {
    reference: &'a Run,
    test: &'a Run,
    noise: Option<&'a Run>,
    levels: &'a Levels,
    sites: &'a [(String, Site)],
}

impl Close<'_> {
    /// What differs after the directive of an event, element by element.
    fn culprit(&self, rank: &str, at: usize) -> Option<Culprit> {
        let exit = self.reference.1.get(at)?;
        let Different { variable, worst, sums } = self.different(exit, at)?;
        let inputs = self.inputs(at);
        let Place { file, line, name } = exit.place.clone();
        Some(Culprit {
            moved_by: moved_by(&self.reference.1, self.sites, at, &inputs),
            unrecorded: self.unrecorded(at, !inputs.is_empty()),
            page: page_of(&name),
            file,
            line,
            name,
            execution: exit.execution,
            rank: rank.to_owned(),
            variable,
            worst,
            sums,
            inputs,
        })
    }

    /// The first variable that differs after the directive of an event.
    fn different(&self, exit: &Event, at: usize) -> Option<Different> {
        exit.variables.iter().enumerate().find_map(|(number, variable)| {
            let other = judge::variable(self.test.1.get(at)?, &variable.name)?;
            let found = |worst, sums| Different { variable: variable.name.clone(), worst, sums };
            if judge::is_lost(variable, other) {
                return Some(found(None, None));
            }
            let held = variable.held.as_ref()?;
            let after = |run: &Run| bytes_of(run, at, &variable.name);
            let before = |run: &Run| bytes_of(run, entry_of(&run.1, at)?, &variable.name);
            let level = self.levels.at(at, number);
            let Some(reference) = after(self.reference) else {
                let old = entry_of(&self.test.1, at).and_then(|entry| self.test.1.get(entry));
                let old = old.and_then(|entry| judge::variable(entry, &variable.name)?.held.as_ref());
                return Some(match in_short(held, other.held.as_ref()?, old, level)? {
                    InShort::Element(worst) => found(Some(worst), None),
                    InShort::Sums(sums) => found(None, Some(sums)),
                });
            };
            let test = after(self.test)?;
            let (old, own) = (before(self.reference), before(self.test));
            let noise = self.noise.and_then(after);
            let reference = Bytes { before: old.as_deref(), after: &reference };
            let test = Bytes { before: own.as_deref(), after: &test };
            Some(found(Some(worst(held.element, reference, test, (noise.as_deref(), level))?), None))
        })
    }

    /// Whether a directive leaves more wrong than comes of what it finds: elements of a variable that were right in it before;
    /// of one that was right, changes that are lost, or more elements than are wrong in all that it finds.
    fn makes_more(&self, at: usize, found: &Culprit) -> bool {
        let name = &found.variable;
        let Some(entry) = entry_of(&self.reference.1, at) else { return false };
        let left = self.wrong(at, Some(entry), name);
        if found.inputs.contains(name) {
            return !left.is_subset(&self.wrong(entry, None, name));
        }
        let changed = |run: &Run| Some(judge::variable(run.1.get(at)?, name)?.held.as_ref()?.changed);
        let inputs = found.inputs.iter().map(|name| self.wrong(entry, None, name).len());
        changed(self.test) <= changed(self.reference) || left.len() > inputs.sum()
    }

    /// The elements of a variable that are wrong at an event; those that are as they were at another do not count.
    fn wrong(&self, event: usize, old: Option<usize>, name: &str) -> BTreeSet<usize> {
        let find = || {
            let element = judge::variable(self.reference.1.get(event)?, name)?.held.as_ref()?.element;
            let bytes =
                |run: &Run| [old.and_then(|old| bytes_of(run, old, name)), bytes_of(run, event, name)];
            let ([before, after], [own, left]) = (bytes(self.reference), bytes(self.test));
            let (reference, test) = (after?, left?);
            let reference = Bytes { before: before.as_deref(), after: &reference };
            let test = Bytes { before: own.as_deref(), after: &test };
            let noise = self.noise.and_then(|run| bytes_of(run, event, name));
            Some(worst_of(element, reference, test, (noise.as_deref(), 0.0))?.1)
        };
        find().unwrap_or_default()
    }

    /// The constructs that may have made a difference before an event, as they are not recorded; the first of them.
    fn unrecorded(&self, at: usize, differs: bool) -> Vec<String> {
        let entry = entry_of(&self.reference.1, at).and_then(|entry| self.reference.1.get(entry));
        if !differs && entry.is_none_or(|entry| entry.unknown().next().is_none()) {
            return Vec::new();
        }
        let text = |name: &str, file: &str, line: usize| format!("`{name}` of {file}:{line}");
        let sites = self.sites.iter().filter(|(_, site)| site.is_compute && site.obstacle.is_some());
        let mut all: Vec<String> =
            sites.map(|(file, site)| text(&site.name, file, site.line)).take(NAMED).collect();
        let is_compute = |place: &Place| {
            let is_own = |(file, site): &&(String, Site)| *file == place.file && site.line == place.line;
            self.sites.iter().find(is_own).is_some_and(|(_, site)| site.is_compute)
        };
        for event in self.reference.1[..at].iter().filter(|event| event.is_entry && is_compute(&event.place))
        {
            let Place { file, line, name } = &event.place;
            let one = text(name, file, *line);
            if all.len() < NAMED && event.unknown().next().is_some() && !all.contains(&one) {
                all.push(one);
            }
        }
        all
    }

    /// The variables that differ already when the directive of an event begins.
    fn inputs(&self, at: usize) -> Vec<String> {
        let Some(entry) = entry_of(&self.reference.1, at) else { return Vec::new() };
        let differs = |name: &str, element| {
            let of = |run: &Run| bytes_of(run, entry, name);
            let Some(reference) = of(self.reference) else {
                let held = |events: &[Event]| judge::variable(events.get(entry)?, name)?.held.clone();
                let (reference, test) = (held(&self.reference.1)?, held(&self.test.1)?);
                return in_short(&reference, &test, None, 0.0).map(drop);
            };
            let test = of(self.test)?;
            let noise = self.noise.and_then(of);
            let reference = Bytes { before: None, after: &reference };
            let test = Bytes { before: None, after: &test };
            worst(element, reference, test, (noise.as_deref(), 0.0)).map(drop)
        };
        let variables = self.reference.1[entry].variables.iter();
        let known = variables.filter_map(|one| Some((&one.name, one.held.as_ref()?.element)));
        known
            .filter(|(name, _)| !is_fresh(&self.reference.1[..entry], name))
            .filter(|(name, element)| differs(name, *element).is_some())
            .map(|(name, _)| name.clone())
            .collect()
    }
}

/// The directives before an event that move these variables, or that might: the last of each.
fn moved_by(events: &[Event], sites: &[(String, Site)], at: usize, names: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for name in names {
        let moves = |event: &&Event| {
            let is_own =
                |(file, site): &&(String, Site)| *file == event.place.file && site.line == event.place.line;
            let is_motion = sites.iter().find(is_own).is_some_and(|(_, site)| !site.is_compute);
            is_motion && event.variables.iter().any(|one| base(&one.name) == base(name))
        };
        if let Some(Event { place, .. }) = events[..at].iter().rev().find(moves) {
            let text = format!("`{}` of {}:{}", place.name, place.file, place.line);
            if !found.contains(&text) {
                found.push(text);
            }
        }
    }
    found
}

/// What differs first where a directive begins, of programs in which no directive leaves something else.
fn found_before(references: &References, own: &Pinned) -> Option<String> {
    references.reference.records.iter().find_map(|(rank, events)| {
        let test = events_of(&own.records, rank)?;
        let noise = references.noise.as_ref().and_then(|noise| events_of(&noise.records, rank));
        let levels = Levels::of(events, noise);
        events.iter().zip(test).enumerate().filter(|(_, (event, _))| event.is_entry).find_map(|(at, both)| {
            let (event, other) = both;
            let differs = |(number, one): (usize, &Recorded)| {
                let held = judge::variable(other, &one.name)?.held.as_ref()?;
                if is_fresh(&events[..at], &one.name) {
                    return None;
                }
                in_short(one.held.as_ref()?, held, None, levels.at(at, number))?;
                Some(one.name.clone())
            };
            let names: Vec<String> = event.variables.iter().enumerate().filter_map(differs).collect();
            let Place { file, line, name } = &event.place;
            let moved = match moved_by(events, &own.sites, at, &names).as_slice() {
                [] => String::new(),
                all => format!(", moved last by {}", all.join(", ")),
            };
            let found = format!(
                "the first that finds something else is `{name}` of {file}:{line} for time {}: `{}`{moved}; what reads it may leave what is not recorded",
                event.execution,
                names.join("`, `")
            );
            (!names.is_empty()).then_some(found)
        })
    })
}

/// Whether the last directive of these events that is about a variable has made it on the device without a value.
fn is_fresh(events: &[Event], name: &str) -> bool {
    let known = |event: &Event| {
        let own = |one: &&Recorded| base(&one.name) == base(name) && (one.held.is_some() || one.is_there);
        event.variables.iter().find(own).map(|one| one.is_there)
    };
    events.iter().rev().filter(|event| !event.is_entry).find_map(known).unwrap_or(false)
}

/// A variable that differs.
struct Different {
    variable: String,
    /// Its element that differs most.
    worst: Option<Worst>,
    /// The sums, if nothing else is known; it is not on the device, or not all of it, if neither is.
    sums: Option<[f64; 2]>,
}

/// The name that a list item begins with.
fn base(item: &str) -> &str {
    item.split(['[', '(']).next().unwrap_or(item)
}

/// The event before the directive of an event after it.
fn entry_of(events: &[Event], at: usize) -> Option<usize> {
    let exit = events.get(at)?;
    let is_entry =
        |event: &Event| event.is_entry && event.place == exit.place && event.execution == exit.execution;
    events[..at].iter().rposition(is_entry)
}

/// The bytes of a variable at an event.
fn bytes_of((folder, events): &Run, at: usize, name: &str) -> Option<Vec<u8>> {
    let bytes = judge::variable(events.get(at)?, name)?.bytes.as_ref()?;
    fs::read(folder.join(bytes)).ok()
}

/// The page about a directive.
fn page_of(name: &str) -> Option<String> {
    let name = name.strip_prefix("end ").unwrap_or(name);
    Some(format!("directive/{}", name.replace(' ', "-")))
}
