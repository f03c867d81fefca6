//! Names the first directive that leaves something else on the device than in the reference.
//!
//! Invariant: the reference, the noise build and the test are instrumented in the same way, before they are translated.

mod judge;
mod record;

use std::fs;
use std::path::{Path, PathBuf};

use crate::pins::{Purpose, Site};

use super::config::Program;
use super::program::{Failed, Ran, Shared};
use super::report::{Culprit, Tested};
use super::{Search, Status, Verification, tree};

pub use judge::Worst;
use judge::{Bytes, Levels, Walk, walk, worst};
use record::{Event, Place, Records, read};

/// So many executions are looked at closely in one run.
const BATCH: usize = 24;

/// So often a run is made to look closely.
const BATCHES: usize = 4;

/// Which executions are recorded.
#[derive(Clone, Debug)]
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
        let failed =
            |what: &str, failed: Failed| format!("with pins, the {what} {}\n{}", failed.why, failed.said);
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
        if sites.is_empty() {
            return Err(Failed::from("has no directive that can be recorded".to_owned()));
        }
        self.built(&name, program, &copy, shared)?;
        let (ran, records) = self.run_recorded(&name, program, &copy, (pins, None), shared)?;
        Ok(Pinned { name, program, ran, records, sites })
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

    fn records(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.records"))
    }

    /// Instruments and runs a test, and says where it differs first.
    pub(super) fn pinned(
        &self,
        pins: &Pins,
        search: &Search,
        (name, test): (&str, &Program),
        references: &mut References,
        tested: &mut Tested,
        shared: &mut Shared,
    ) {
        let done = self.recorded(name, test, pins, search, shared);
        let done = done.and_then(|own| {
            let found = self.first_difference(pins, references, &own, shared)?;
            Ok((own, found))
        });
        match done {
            Err(failed) => tested.found.push(format!("pins could not tell: {}\n{}", failed.why, failed.said)),
            Ok((_, Found::Culprit(culprit))) => tested.culprit = Some(*culprit),
            Ok((_, Found::Parted(said))) => tested.found.push(said),
            Ok((own, Found::Nothing)) if tested.status == Status::Different => {
                let said = self.differs_elsewhere(search, (name, test), references, &own, shared);
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
        own: &Pinned,
        shared: &Shared,
    ) -> Result<Found, Failed> {
        let mut parted = None;
        for (rank, events) in &references.reference.records {
            let of = |pinned: &Pinned| events_of(&pinned.records, rank).map(<[Event]>::to_vec);
            let Some(test) = of(own) else {
                parted.get_or_insert_with(|| format!("with pins, rank {rank} records nothing"));
                continue;
            };
            let noise = references.noise.as_ref().and_then(of);
            let levels = Levels::of(events, noise.as_deref());
            let Walk { suspects, parting } = walk(events, &test, &levels);
            for batch in suspects.chunks(BATCH).take(BATCHES) {
                let all = [Some(&references.reference), Some(own), references.noise.as_ref()];
                let list = list_of(events, batch);
                let mut runs = Vec::new();
                for one in all {
                    let Some(one) = one else {
                        runs.push(None);
                        continue;
                    };
                    let kept = (pins, Some(list.as_str()));
                    let (_, records) =
                        self.run_recorded(&one.name, one.program, &one.ran.copy, kept, shared)?;
                    runs.push(
                        events_of(&records, rank).map(|events| (self.records(&one.name), events.to_vec())),
                    );
                }
                let [Some(reference), Some(test), noise] = runs.as_slice() else { continue };
                let sites = &references.reference.sites;
                let close = Close { reference, test, noise: noise.as_ref(), levels: &levels, sites };
                if let Some(found) = batch.iter().find_map(|at| close.culprit(rank, *at)) {
                    return Ok(Found::Culprit(Box::new(found)));
                }
            }
            if let Some(at) = parting {
                parted.get_or_insert_with(|| parting_of(events, &test, at));
            }
        }
        Ok(parted.map_or(Found::Nothing, Found::Parted))
    }

    /// What there is to say of a test that differs although no directive leaves something else.
    fn differs_elsewhere(
        &self,
        search: &Search,
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
            return Ok("all directives leave what they leave in the reference: the difference comes from code of the host, or from what is not recorded".to_owned());
        }
        let _ = search;
        let name = format!("sync/{name}");
        let copy = self.copied(&name, shared)?;
        without_queues(&copy)?;
        self.built(&name, test, &copy, shared)?;
        let ran = self.ran(&name, test, &copy, &[], shared)?;
        Ok(match is_right(&ran) {
            true => "right with pins, which wait for all queues, and right with `async = \"sync\"`: something is not waited for that is queued",
            false => "right with pins, and wrong with `async = \"sync\"`, too: no directive leaves something else when the host waits for each",
        }
        .to_owned())
    }
}

/// What a search ends with.
enum Found {
    /// A directive leaves something else.
    Culprit(Box<Culprit>),
    /// The programs go different ways before a directive does, as is said.
    Parted(String),
    /// None does.
    Nothing,
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
    format!(
        "all directives leave what they leave in the reference, until the reference goes on with {} and the test with {}",
        text(events.get(at)),
        text(test.get(at))
    )
}

/// Has translations of a tree wait for all that is queued.
fn without_queues(copy: &Path) -> Result<(), String> {
    let path = copy.join("acc2omp.toml");
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = fs::read_to_string(&path).map_err(|error| failed(&error))?;
    let mut table: toml::Table = text.parse().map_err(|error| failed(&error))?;
    table.insert("async".to_owned(), toml::Value::String("sync".to_owned()));
    let text = toml::to_string(&table).map_err(|error| failed(&error))?;
    fs::write(&path, text).map_err(|error| failed(&error))
}

/// The events of runs that kept bytes, each with the folder of these.
struct Close<'a> {
    reference: &'a (PathBuf, Vec<Event>),
    test: &'a (PathBuf, Vec<Event>),
    noise: Option<&'a (PathBuf, Vec<Event>)>,
    levels: &'a Levels,
    sites: &'a [(String, Site)],
}

impl Close<'_> {
    /// What differs behind the directive of an event, element by element.
    fn culprit(&self, rank: &str, at: usize) -> Option<Culprit> {
        let exit = self.reference.1.get(at)?;
        let (variable, worst) = self.different(exit, at)?;
        let inputs = self.inputs(at);
        let Place { file, line, name } = exit.place.clone();
        Some(Culprit {
            moved_by: self.moved_by(at, &inputs),
            page: page_of(&name),
            file,
            line,
            name,
            execution: exit.execution,
            rank: rank.to_owned(),
            variable,
            worst,
            inputs,
        })
    }

    /// The first variable that differs behind the directive of an event; none of its elements if it is not on the device.
    fn different(&self, exit: &Event, at: usize) -> Option<(String, Option<Worst>)> {
        exit.variables.iter().enumerate().find_map(|(number, variable)| {
            let other = judge::variable(self.test.1.get(at)?, &variable.name)?;
            if judge::is_lost(variable, other) {
                return Some((variable.name.clone(), None));
            }
            let held = variable.held.as_ref()?;
            let after = |run: &(PathBuf, Vec<Event>)| bytes_of(run, at, &variable.name);
            let before = |run: &(PathBuf, Vec<Event>)| bytes_of(run, entry_of(&run.1, at)?, &variable.name);
            let (reference, test) = (after(self.reference)?, after(self.test)?);
            let (old, own) = (before(self.reference), before(self.test));
            let noise = self.noise.and_then(after);
            let reference = Bytes { before: old.as_deref(), after: &reference };
            let test = Bytes { before: own.as_deref(), after: &test };
            let worst = worst(held.element, reference, test, (noise.as_deref(), self.levels.at(at, number)))?;
            Some((variable.name.clone(), Some(worst)))
        })
    }

    /// The variables that differ already when the directive of an event begins.
    fn inputs(&self, at: usize) -> Vec<String> {
        let Some(entry) = entry_of(&self.reference.1, at) else { return Vec::new() };
        let differs = |name: &str, element| {
            let of = |run: &(PathBuf, Vec<Event>)| bytes_of(run, entry, name);
            let (reference, test) = (of(self.reference)?, of(self.test)?);
            let noise = self.noise.and_then(of);
            let reference = Bytes { before: None, after: &reference };
            worst(element, reference, Bytes { before: None, after: &test }, (noise.as_deref(), 0.0))
        };
        let variables = self.reference.1[entry].variables.iter();
        let known = variables.filter_map(|one| Some((&one.name, one.held.as_ref()?.element)));
        known
            .filter(|(name, element)| differs(name, *element).is_some())
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// The directives before an event that move these variables, or that might: the last of each.
    fn moved_by(&self, at: usize, names: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        for name in names {
            let before = self.reference.1[..at].iter().rev();
            let moves = |event: &&Event| {
                let site = self
                    .sites
                    .iter()
                    .find(|(file, site)| *file == event.place.file && site.line == event.place.line);
                let is_motion = site.is_some_and(|(_, site)| !site.is_compute);
                is_motion && event.variables.iter().any(|one| base(&one.name) == base(name))
            };
            if let Some(Event { place, .. }) = before.into_iter().find(moves) {
                let text = format!("`{}` of {}:{}", place.name, place.file, place.line);
                if !found.contains(&text) {
                    found.push(text);
                }
            }
        }
        found
    }
}

/// The name that a list item begins with.
fn base(item: &str) -> &str {
    item.split(['[', '(']).next().unwrap_or(item)
}

/// The event before the directive of an event behind it.
fn entry_of(events: &[Event], at: usize) -> Option<usize> {
    let exit = events.get(at)?;
    let is_entry =
        |event: &Event| event.is_entry && event.place == exit.place && event.execution == exit.execution;
    events[..at].iter().rposition(is_entry)
}

/// The bytes of a variable at an event.
fn bytes_of((folder, events): &(PathBuf, Vec<Event>), at: usize, name: &str) -> Option<Vec<u8>> {
    let bytes = judge::variable(events.get(at)?, name)?.bytes.as_ref()?;
    fs::read(folder.join(bytes)).ok()
}

/// The page about a directive.
fn page_of(name: &str) -> Option<String> {
    let name = name.strip_prefix("end ").unwrap_or(name);
    Some(format!("directive/{}", name.replace(' ', "-")))
}
