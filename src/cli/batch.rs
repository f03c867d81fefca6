//! Translates many files at once.
//!
//! Invariant: what is written and said depends on the inputs and the options, never on the number of threads.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{self, ErrorKind, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::args::{Destination, Task};
use super::build::{self, Build};
use super::files::{self, Job, Tree};
use super::headers::Headers;
use super::kind;
use super::manifest;
use super::output::{Output, Piece, Put, Run};
use super::patch::Patch;
use super::place::{Folder, Like, about, shown};
use super::progress::Progress;
use super::{Verdict, fail, notify, record, show};
use crate::budget::Threads;
use crate::diag::{Diag, Severity};
use crate::report::{self, Baseline, ErrorRecord, FileRecord, Groups, Manner, Report, Summary};
use crate::source::{Language, SourceFile};
use crate::{
    Options, Outcome, RUNTIME, RUNTIME_MODULE, SUPPORT, Source, To, Translation, advice, scan, support_names,
    translate,
};

/// More threads than this only get in one another's way.
const THREADS: usize = 256;

/// What is said of a file that would be lost.
const FOREIGN: &str = "a file that acc2omp has not written";

/// What all files of a run share.
struct Batch<'a> {
    task: &'a Task,
    headers: Headers,
    manner: Manner,
    /// How a patch names the files.
    patch: Patch,
    /// The output tree.
    out: Option<Output>,
    /// What has been reviewed.
    baseline: Option<Baseline>,
    /// The hashes of headers that are not inputs; `None` for those that are.
    outside: Mutex<HashMap<PathBuf, Option<String>>>,
    /// What the sources that are replaced in place need beside them, as far as it is written: the files of the library, with the
    /// names of the support header that are in use.
    grounds: Mutex<BTreeMap<PathBuf, BTreeSet<String>>>,
}

impl Batch<'_> {
    /// The diagnostics that nobody has reviewed. Keeps the record of a source, which has all of them, with what is reviewed.
    fn unreviewed<'d>(&self, all: &'d [Diag], record: Option<FileRecord>, done: &mut Done) -> Vec<&'d Diag> {
        done.record = record;
        let (Some(baseline), Some(record)) = (&self.baseline, &mut done.record) else {
            return all.iter().collect();
        };
        baseline.mark(record);
        let is_serious = |diag: &Diag| diag.severity >= Severity::Left;
        let (reviewed, shown): (Vec<_>, Vec<_>) =
            all.iter().zip(&record.diagnostics).partition(|(_, record)| record.reviewed);
        let shown: Vec<&Diag> = shown.into_iter().map(|(diag, _)| diag).collect();
        let is_settled = reviewed.iter().any(|(diag, _)| is_serious(diag));
        done.is_left = shown.iter().any(|diag| is_serious(diag)) || done.summary.left > 0 && !is_settled;
        done.reviewed = reviewed.len();
        shown
    }

    /// Writes a file into the output tree, and returns what there is to say of it.
    fn put(&self, out: &Output, place: &Path, piece: Piece) -> io::Result<Option<&'static str>> {
        match out.put(piece)? {
            Put::Written => Ok(None),
            Put::Edited => Ok(Some("edited since acc2omp wrote it, and stays")),
            Put::Merged => {
                Ok(Some("edited since acc2omp wrote it: the changes of the translation are put in"))
            }
            Put::Conflict => {
                let wanted = out.wanted(piece.target);
                let wanted = wanted.map(|wanted| format!(" ({} has the translation)", wanted.display()));
                let why = format!(
                    "conflict of your edits with the new translation: edit it again{}, or replace it by `--force`",
                    wanted.unwrap_or_default()
                );
                Err(about(place, &io::Error::other(why)))
            }
            Put::Foreign => Err(stays(place, FOREIGN)),
        }
    }

    /// What stands where a file of a translation belongs, outside of output trees, too: an error if acc2omp has not written it, as
    /// it begins otherwise than ours.
    fn there(&self, place: &Path, text: &[u8]) -> io::Result<Vec<u8>> {
        let folder = Folder::open(place.parent().unwrap_or(Path::new("")))?;
        match folder.read(place.file_name().unwrap_or_default()) {
            Ok(old) if self.task.force || head(&old) == head(text) => Ok(old),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) if error.kind() == ErrorKind::InvalidFilename => Err(about(place, &error)),
            Err(error) if self.task.force && error.kind() != ErrorKind::IsADirectory => Ok(Vec::new()),
            _ => Err(stays(place, FOREIGN)),
        }
    }

    /// The headers of a source that are not inputs of the run, and their hashes.
    fn outside(&self, source: &Source) -> Vec<(PathBuf, String)> {
        if self.out.is_none() {
            return Vec::new();
        }
        let mut known = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
        let headers = source.headers.iter().filter_map(|header| {
            let path = PathBuf::from(&header.file.name);
            // The name is that of messages: one that is not UTF-8 leads to no file.
            let hash = || path.is_file().then(|| manifest::hash(&header.file.bytes));
            let hash = known.entry(path.clone()).or_insert_with(hash).clone()?;
            Some((path, hash))
        });
        headers.collect()
    }

    /// Writes a file where an output belongs; what there is to say of it is added to `notes`.
    fn write(&self, place: &Path, bytes: &[u8], made: Made, notes: &mut String) -> io::Result<()> {
        let (Destination::Tree(tree), Some(out)) = (&self.task.destination, &self.out) else {
            let folder = Folder::open(place.parent().unwrap_or(Path::new("")))?;
            let name = place.file_name().unwrap_or_default();
            // What is there already keeps its time.
            if folder.read(name).is_ok_and(|old| old == bytes) {
                return Ok(());
            }
            return folder.write(name, bytes, Like::Mode(made.like)).map(drop);
        };
        let target = place.strip_prefix(tree).unwrap_or(place);
        let put = self.put(
            out,
            place,
            Piece { target, bytes, source: made.source, read: made.read, like: made.like },
        );
        if let Some(note) = put?.filter(|_| !self.task.quiet) {
            *notes += &format!("note: {}: {note}\n", place.display());
        }
        Ok(())
    }
}

/// The error about a file that would be lost.
fn stays(place: &Path, what: &str) -> io::Error {
    about(place, &io::Error::other(format!("{what}: it stays; `--force` replaces it")))
}

/// The first line of a text that has words: what acc2omp writes beside a source says there what it is.
fn head(text: &[u8]) -> &[u8] {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.find(|line| line.iter().any(u8::is_ascii_alphanumeric)).unwrap_or_default()
}

/// What a file is made from.
#[derive(Clone, Copy)]
struct Made<'a> {
    /// The source and its bytes; none for the run-time library.
    source: Option<(&'a Path, &'a [u8])>,
    /// The other files that were read for it, and their hashes.
    read: &'a [(PathBuf, String)],
    /// The file whose mode it takes over.
    like: &'a Path,
}

impl<'a> Made<'a> {
    fn from(job: &'a Job, bytes: &'a [u8], read: &'a [(PathBuf, String)]) -> Made<'a> {
        Made { source: Some((&job.real, bytes)), read, like: &job.path }
    }
}

/// What came of one file.
#[derive(Default)]
struct Done {
    /// For standard output.
    output: Vec<u8>,
    /// For standard error.
    messages: String,
    /// The messages about the source in full.
    said: String,
    summary: Summary,
    /// The messages by code; empty if each is said in full.
    groups: Groups,
    /// The record for `--format`, if one is asked for.
    record: Option<FileRecord>,
    /// How many diagnostics the baseline has.
    reviewed: usize,
    /// A directive is untranslated that is not in the baseline.
    is_left: bool,
    /// The file's name, if it holds OpenACC in a language that is not translated yet.
    foreign: Option<String>,
    /// The file's name, if it holds OpenACC and the compilation database lacks it.
    unlisted: Option<String>,
    /// A file whose translation includes the support header: where it is, and where the header belongs.
    supported: Option<(PathBuf, PathBuf)>,
    /// The names of the support header that it uses.
    support_names: BTreeSet<String>,
    /// A file whose translation calls CUDA's run-time library: where it is, and where it goes.
    launched: Option<(PathBuf, PathBuf)>,
    /// It calls that library by its module for Fortran.
    has_module: bool,
    /// Device code beside it, by its path below the output.
    device: Vec<PathBuf>,
    /// Differences for the files beside it.
    beside: Vec<u8>,
    /// Pieces of advice, and how many of them propose an edit.
    advice: (usize, usize),
    /// Why there is no translation, if it failed.
    error: Option<ErrorRecord>,
}

/// Runs a translation and says how it ended.
pub fn run(task: &Task) -> Verdict {
    if task.inputs.is_empty() { standard_input(task) } else { trees(task) }
}

fn standard_input(task: &Task) -> Verdict {
    if let Some(why) = task.reports.refused(&[]) {
        return fail(&why);
    }
    let mut bytes = Vec::new();
    if let Err(error) = io::stdin().lock().read_to_end(&mut bytes) {
        return fail(&format!("standard input: {error}"));
    }
    let baseline = match task.reports.read_baseline() {
        Ok(baseline) => baseline,
        Err(why) => return fail(&why),
    };
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
    let build = Build::from(task.flags.clone());
    let work = Batch {
        task,
        headers: Headers::new(vec![here.clone()], build),
        manner: manner(task.verbose),
        patch: Patch::default(),
        out: None,
        baseline,
        outside: Mutex::default(),
        grounds: Mutex::default(),
    };
    let language = task.languages.form.map_or(Language::C, Language::Fortran);
    if language == Language::C && kind::foreign(Path::new("stdin.f"), &bytes) == Some("fortran") {
        return fail("standard input looks like Fortran: say `--form free` or `--form fixed`");
    }
    let file = SourceFile::new("<stdin>", bytes, language);
    let source = work.headers.source(file, &here.join("<stdin>"));
    (1..task.threads.min(THREADS)).for_each(|_| task.options.threads.free());
    let mut done = Done::default();
    if task.advise {
        advised(Path::new("stdin"), &source, &task.options, &work, &mut done);
        return close(&[done], &Tree::default(), &work);
    }
    let translation = translate(&source, &task.options);
    account(&source, (&translation, &task.options), None, &work, &mut done);
    if translation.needs_support {
        let name = SUPPORT;
        done.messages += &format!("note: the output includes {name}: `acc2omp rules {name}` prints it\n");
    }
    done.output = match task.destination {
        Destination::Diff => report::unified("stdin", &source.file.bytes, &translation.text),
        Destination::Text => translation.text,
        _ => Vec::new(),
    };
    close(&[done], &Tree::default(), &work)
}

fn trees(task: &Task) -> Verdict {
    let out = match &task.destination {
        Destination::Tree(out) => Some(out.as_path()),
        _ => None,
    };
    let tree = files::gather(&task.inputs, out, &task.languages);
    let build = Build::new(task.flags.clone(), task.database.as_deref());
    let baseline = task.reports.read_baseline();
    let prepared = tree.and_then(|tree| Ok((baseline?, build?, prepare(&tree, task)?, tree)));
    let (baseline, build, out, tree) = match prepared {
        Ok(prepared) => prepared,
        Err(why) => return fail(&why),
    };
    let files: Vec<&Path> = tree.jobs.iter().map(|job| job.real.as_path()).collect();
    if let Some(why) = task.reports.refused(&files) {
        return fail(&why);
    }
    let headers = Headers::among(tree.roots.clone(), &files, task.options.to, &task.languages, build);
    let inside = files.iter().map(|path| (path.to_path_buf(), None)).collect();
    let outside = Mutex::new(inside);
    let patch = Patch::of(&task.inputs);
    let grounds = Mutex::default();
    let work = Batch { task, headers, manner: manner(task.verbose), patch, out, baseline, outside, grounds };
    let progress = Progress::new(tree.jobs.len(), task.quiet);
    let job = |job: &Job| {
        let done = one(job, &work);
        progress.done(done.summary.directives);
        done
    };
    let all = || {
        work.headers.read_ahead();
        largest_first(&tree.jobs, job, &task.options.threads)
    };
    let threads = task.threads.min(THREADS);
    // What no file takes is there for the parts of long ones.
    (tree.jobs.len()..threads).for_each(|_| task.options.threads.free());
    let done = match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(all),
        Err(error) => return fail(&error.to_string()),
    };
    progress.end();
    if !task.quiet {
        task.notes.iter().for_each(|note| notify(&format!("note: {note}\n")));
        if task.threads > THREADS {
            notify(&format!("note: `--jobs {}`: no more than {THREADS} threads are started\n", task.threads));
        }
        tree.skipped.iter().for_each(|what| notify(&format!("note: {what}\n")));
        task.overrides.unmatched(&task.inputs, &files).iter().for_each(|what| notify(what));
        remark(task, &tree, &work.patch).iter().for_each(|what| notify(&format!("note: {what}\n")));
    }
    tree.failures.iter().for_each(|what| notify(&format!("error: {what}\n")));
    let verdict = close(&done, &tree, &work).max(finish(work));
    if tree.failures.is_empty() { verdict } else { Verdict::Failed }
}

/// What there is to say of the inputs: that they hold no source, or where their patch belongs.
fn remark(task: &Task, tree: &Tree, patch: &Patch) -> Option<String> {
    let is_source = |job: &Job| task.languages.of(&job.path).is_some();
    if !tree.jobs.iter().any(is_source) && tree.failures.is_empty() {
        let inputs: Vec<String> = task.inputs.iter().map(|input| input.display().to_string()).collect();
        return Some(format!("no source of C, C++ or Fortran found in {}", inputs.join(", ")));
    }
    let base = patch.base().filter(|_| task.destination == Destination::Diff)?;
    Some(format!("the patch is for the folder {}: `patch -d {0} -p1`", base.display()))
}

/// Does something with all jobs, beginning with those of the largest files, so that none of these is done alone at the end. The
/// results come in the order of the jobs. A thread for which no job remains is `free`.
fn largest_first<T: Send>(jobs: &[Job], work: impl Fn(&Job) -> T + Sync, free: &Threads) -> Vec<T> {
    let size = |job: &Job| std::fs::metadata(&job.path).map_or(0, |meta| meta.len());
    let mut order: Vec<(usize, &Job)> = jobs.iter().enumerate().collect();
    order.sort_by_cached_key(|(at, job)| (Reverse(size(job)), *at));
    let next = AtomicUsize::new(0);
    // Each task takes the largest of the remaining files.
    let task = |_| {
        let (at, job) = order[next.fetch_add(1, Ordering::Relaxed)];
        let done = work(job);
        if next.load(Ordering::Relaxed) >= order.len() {
            free.free();
        }
        (at, done)
    };
    let mut done: Vec<(usize, T)> = (0..jobs.len()).into_par_iter().map(task).collect();
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Makes the folders of the output tree, and removes what a run that was killed has left where files will be written.
fn prepare(tree: &Tree, task: &Task) -> Result<Option<Output>, String> {
    match &task.destination {
        Destination::Tree(path) => {
            let out = Output::open(path, task.force)?;
            for folder in &tree.folders {
                out.folder().below(folder).map_err(|error| error.to_string())?.sweep();
            }
            Ok(Some(out))
        }
        Destination::InPlace => {
            let folders: BTreeSet<&Path> = tree.jobs.iter().filter_map(|job| job.real.parent()).collect();
            folders.iter().filter_map(|folder| Folder::open(folder).ok()).for_each(|folder| folder.sweep());
            Ok(None)
        }
        Destination::Diff | Destination::Check | Destination::Text => Ok(None),
    }
}

/// How to speak to standard error.
pub fn manner(verbose: bool) -> Manner {
    let color =
        io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    Manner { color, verbose }
}

fn one(job: &Job, work: &Batch) -> Done {
    let mut done = Done::default();
    if let Err(error) = attempt(job, work, &mut done) {
        done.messages += &format!("error: {}: {error}\n", job.name());
        done.error = Some(ErrorRecord::of_failure(Some(&job.name()), &error.to_string()));
    }
    done
}

fn attempt(job: &Job, work: &Batch, done: &mut Done) -> io::Result<()> {
    done.summary.files = 1;
    let bytes = std::fs::read(&job.path)?;
    let language = work.headers.language_of(&job.path, &job.real, &bytes, &work.task.languages);
    let mentions = language.is_some_and(|language| scan::mentions_openacc(&bytes, language));
    let is_read = |language: &Language| {
        mentions
            || work.headers.serves(*language, &bytes)
            || work.headers.may_write(*language, &bytes, &job.real)
    };
    let Some(language) = language.filter(is_read) else {
        foreign(job, &bytes, done);
        return keep(job, (&bytes, &[]), work, done);
    };
    if bytes.len() >= u32::MAX as usize {
        return Err(io::Error::other("larger than 4 GiB"));
    }
    if !language.is_fortran()
        && let Some(line) = kind::carriage_return(&bytes)
    {
        let why =
            "compilers take a carriage return without a line feed for the end of a line, acc2omp does not";
        return Err(io::Error::other(format!("line {line}: {why}: write line feeds instead")));
    }
    done.unlisted = (mentions && work.headers.lacks(&job.real)).then(|| job.name());
    let source = work.headers.source(SourceFile::new(job.name(), bytes, language), &job.real);
    if !mentions && !source.may_write() && !source.declares(&work.task.options) {
        return keep(job, (&source.file.bytes, &work.outside(&source)), work, done);
    }
    let own = work.task.overrides.options(&source, &job.real, &work.task.options);
    // Of endings that name no language, nothing else in the folder is known.
    let has_namesake = job.has_namesake || work.task.languages.of(&job.path).is_none();
    let options = Options { has_namesake, folder: job.folder.clone(), library: up(job, work), ..own };
    if work.task.advise {
        advised(&job.path, &source, &options, work, done);
        return Ok(());
    }
    let translation = translate(&source, &options);
    let out_file = is_written(&work.task.destination).then(|| place_of(job, work).display().to_string());
    account(&source, (&translation, &options), out_file, work, done);
    let grants = |line| translation.grants(&source.file, line);
    done.messages.extend(work.task.overrides.stale(&source, &job.real, grants));
    deliver(job, &source, &translation, work, done)
}

/// Words the advice on one source, and shows what it proposes.
fn advised(path: &Path, source: &Source, options: &Options, work: &Batch, done: &mut Done) {
    let advice = advice(source, options);
    let reports = &work.task.reports;
    let record = reports.keeps_records().then(|| record::of_advice(source, &advice, reports.shows_texts()));
    let shown: Vec<Diag> = work.unreviewed(&advice.diagnostics, record, done).into_iter().cloned().collect();
    done.summary.note(&shown);
    done.summary.with_openacc = usize::from(advice.directives > 0 || !advice.diagnostics.is_empty());
    done.summary.directives = advice.directives;
    if !work.task.quiet {
        let manner = Manner { verbose: true, ..work.manner };
        done.said = report::diagnostics(&source.file, &shown, manner);
    }
    done.advice = (advice.diagnostics.len(), advice.proposed);
    if work.task.destination == Destination::Diff {
        done.output = report::unified(work.patch.name(path), &source.file.bytes, &advice.text);
    }
}

/// How an output calls the folder of the run-time library: a tree has it once, at its root.
fn up(job: &Job, work: &Batch) -> String {
    match &work.task.destination {
        Destination::Tree(_) => "../".repeat(job.target.components().count().saturating_sub(1)),
        _ => String::new(),
    }
}

/// Remembers a file of another language that holds OpenACC: it is copied as it is, but not in silence.
fn foreign(job: &Job, bytes: &[u8], done: &mut Done) {
    done.foreign = kind::foreign(&job.path, bytes).map(|_| job.name());
    done.summary.foreign = usize::from(done.foreign.is_some());
}

/// Whether files are written.
fn is_written(destination: &Destination) -> bool {
    matches!(destination, Destination::Tree(_) | Destination::InPlace)
}

/// Copies a file that does not change, by what else was read.
fn keep(
    job: &Job,
    (bytes, read): (&[u8], &[(PathBuf, String)]),
    work: &Batch,
    done: &mut Done,
) -> io::Result<()> {
    match &work.task.destination {
        Destination::Tree(out) => {
            work.write(&out.join(&job.target), bytes, Made::from(job, bytes, read), &mut done.messages)
        }
        _ => Ok(()),
    }
}

/// Counts what became of the directives, and words the messages.
fn account(
    source: &Source,
    (translation, options): (&Translation, &Options),
    out_file: Option<String>,
    work: &Batch,
    done: &mut Done,
) {
    let count = |outcome| translation.directives.iter().filter(|one| one.outcome == outcome).count();
    done.summary.files = 1;
    let is_silent = translation.directives.is_empty() && translation.diagnostics.is_empty();
    done.summary.with_openacc = usize::from(!is_silent || !translation.edits.is_empty());
    done.summary.directives = translation.directives.len();
    done.summary.exact = count(Outcome::Exact);
    done.summary.noted = count(Outcome::Noted);
    done.summary.left = count(Outcome::Left);
    let reports = &work.task.reports;
    let made = || record::of_translation(source, (translation, options), out_file, reports.shows_texts());
    let record = reports.keeps_records().then(made);
    let shown = work.unreviewed(&translation.diagnostics, record, done);
    shown.iter().for_each(|diag| done.summary.note(std::slice::from_ref(*diag)));
    if work.task.quiet {
        return;
    }
    let loops = report::loops(&source.file, &translation.loops);
    if work.manner.verbose {
        let shown: Vec<Diag> = shown.into_iter().cloned().collect();
        done.said = report::diagnostics(&source.file, &shown, work.manner) + &loops;
    } else {
        done.groups = Groups::of(&source.file, &shown, work.manner).with_loops(&loops);
    }
}

/// Brings a translation where it belongs.
fn deliver(
    job: &Job,
    source: &Source,
    translation: &Translation,
    work: &Batch,
    done: &mut Done,
) -> io::Result<()> {
    let (old, new) = (&source.file.bytes, &translation.text);
    let is_fortran = source.file.language.is_fortran();
    done.has_module = is_fortran && work.task.options.to == To::Cuda && !translation.edits.is_empty();
    let makes_device_code = done.has_module || !translation.beside.is_empty();
    if let Some(rival) = job.rival.as_ref().filter(|_| makes_device_code) {
        let why = format!(
            "files of its device code would have the names of those of {rival}: rename one of the two"
        );
        return Err(io::Error::other(why));
    }
    spare(job, source, translation, work, done)?;
    beside(job, source, translation, work, done)?;
    done.supported = translation.needs_support.then(|| support_place(job, work)).flatten();
    if done.supported.is_some() {
        done.support_names = support_names(&String::from_utf8_lossy(new));
    }
    match &work.task.destination {
        Destination::Tree(out) => {
            let read = work.outside(source);
            work.write(&out.join(&job.target), new, Made::from(job, old, &read), &mut done.messages)?;
        }
        Destination::InPlace if old == new => {}
        Destination::InPlace => {
            ground(job, work, done)?;
            replace(job, (old, new), work, done)?;
        }
        Destination::Diff => {
            done.output = report::unified(work.patch.name(&job.path), old, new);
            done.output.append(&mut done.beside);
        }
        Destination::Check | Destination::Text => {}
    }
    Ok(())
}

/// Refuses a translation that replaces its source, or changes it by a patch, if a file that belongs beside it would be lost.
fn spare(job: &Job, source: &Source, translation: &Translation, work: &Batch, done: &Done) -> io::Result<()> {
    match work.task.destination {
        Destination::InPlace if source.file.bytes == translation.text => {}
        Destination::InPlace => {
            if std::fs::metadata(&job.real)?.permissions().readonly() && !work.task.force {
                return Err(io::Error::other("it is read-only, and stays as it is: `--force` replaces it"));
            }
            unchanged(job, &source.file.bytes)?;
        }
        Destination::Diff => {}
        _ => return Ok(()),
    }
    let place = place_of(job, work);
    for file in &translation.beside {
        let place = place.with_file_name(&file.name);
        let old = work.there(&place, &file.text)?;
        // The source was translated before, and directives were added to it.
        let call = match file.name.strip_suffix("_module.f90") {
            Some(module) => format!("use {module}"),
            None => format!("\"{}\"", file.name),
        };
        let is_called = || memchr::memmem::find(&source.file.bytes, call.as_bytes()).is_some();
        if !old.is_empty() && old != file.text && !work.task.force && is_called() {
            return Err(stays(&place, "the source calls code of an earlier translation in it"));
        }
    }
    let is_run = is_written(&work.task.destination) && (done.has_module || !translation.beside.is_empty());
    let module = Some(RUNTIME_MODULE).filter(|_| done.has_module);
    for (name, text) in RUNTIME.into_iter().chain(module).filter(|_| is_run) {
        work.there(&place.with_file_name(name), text.as_bytes())?;
    }
    if translation.needs_support {
        work.there(&place.with_file_name(SUPPORT), crate::support([]).as_bytes())?;
    }
    Ok(())
}

/// Brings the files beside a translation, and the run-time library that they call, where they belong.
fn beside(
    job: &Job,
    source: &Source,
    translation: &Translation,
    work: &Batch,
    done: &mut Done,
) -> io::Result<()> {
    if translation.beside.is_empty() && !done.has_module {
        return Ok(());
    }
    let place = place_of(job, work);
    let read = work.outside(source);
    let device = translation.beside.iter().filter(|file| file.name.ends_with(".cu"));
    done.device = device.map(|file| job.target.with_file_name(&file.name)).collect();
    for file in &translation.beside {
        let place = place.with_file_name(&file.name);
        match &work.task.destination {
            Destination::Tree(_) | Destination::InPlace => {
                let made = Made::from(job, &source.file.bytes, &read);
                work.write(&place, &file.text, made, &mut done.messages)?;
            }
            Destination::Diff => {
                let old = work.there(&place, &file.text)?;
                done.beside.extend(report::unified(work.patch.name(&place), &old, &file.text));
            }
            Destination::Check | Destination::Text => {}
        }
    }
    done.launched = Some((job.path.clone(), place));
    Ok(())
}

/// Writes what a source that is about to be replaced needs beside it: if the run is killed, no source is without. What the whole
/// run needs is written at its end.
fn ground(job: &Job, work: &Batch, done: &mut Done) -> io::Result<()> {
    let mut known = work.grounds.lock().unwrap_or_else(PoisonError::into_inner);
    let made = Made { source: None, read: &[], like: &job.path };
    if let Some((_, place)) = &done.supported {
        let is_new = !known.contains_key(place);
        let names = known.entry(place.clone()).or_default();
        let before = names.len();
        names.extend(done.support_names.iter().cloned());
        if is_new || names.len() > before {
            let (_, text) = header(place, names, work)?;
            work.write(place, text.as_bytes(), made, &mut done.messages)?;
        }
    }
    let module = Some(RUNTIME_MODULE).filter(|_| done.has_module);
    for (name, text) in RUNTIME.into_iter().chain(module).filter(|_| done.launched.is_some()) {
        let place = place_of(job, work).with_file_name(name);
        if known.insert(place.clone(), BTreeSet::new()).is_none() {
            work.write(&place, text.as_bytes(), made, &mut done.messages)?;
        }
    }
    Ok(())
}

/// Where the support header of a job's translation belongs; `None` if nothing is written or shown.
fn support_place(job: &Job, work: &Batch) -> Option<(PathBuf, PathBuf)> {
    let place = match &work.task.destination {
        Destination::Tree(out) => out.join(SUPPORT),
        Destination::InPlace | Destination::Diff => place_of(job, work).with_file_name(SUPPORT),
        Destination::Check | Destination::Text => return None,
    };
    Some((job.path.clone(), place))
}

/// Where a job's translation goes, or what messages call it.
fn place_of(job: &Job, work: &Batch) -> PathBuf {
    match &work.task.destination {
        Destination::Tree(out) => out.join(&job.target),
        Destination::InPlace => job.real.clone(),
        Destination::Diff | Destination::Check | Destination::Text => job.path.clone(),
    }
}

/// Writes or shows the support header: once in an output tree, or in each folder that needs it, with the parts that are used.
fn support(done: &[Done], work: &Batch) -> Verdict {
    let mut places: BTreeMap<&Path, (&Path, BTreeSet<&str>)> = BTreeMap::new();
    for one in done {
        let Some((like, place)) = &one.supported else { continue };
        let (kept, names) = places.entry(place).or_insert((like, BTreeSet::new()));
        *kept = like;
        names.extend(one.support_names.iter().map(String::as_str));
    }
    let mut verdict = Verdict::Done;
    for (place, (like, names)) in places {
        verdict = verdict.max(match header(place, &names, work) {
            Ok((old, text)) => match &work.task.destination {
                Destination::Diff => show_support(&work.patch.name(place), &old, &text, work.task.quiet),
                _ => write(place, &text, like, work),
            },
            Err(error) => fail(&error.to_string()),
        });
    }
    verdict
}

/// The support header that is there, and the one with the parts that these names need: files that this run has not met may use
/// what an older header has.
fn header(place: &Path, names: &BTreeSet<impl AsRef<str>>, work: &Batch) -> io::Result<(Vec<u8>, String)> {
    let old = work.there(place, crate::support([]).as_bytes())?;
    let text = crate::support(names.iter().map(AsRef::as_ref).chain([&*String::from_utf8_lossy(&old)]));
    Ok((old, text))
}

/// Shows the support header as the last file of a patch. Who reads the patch on a terminal wants the sources, and gets a line
/// that names the header.
fn show_support(place: &Path, old: &[u8], text: &str, quiet: bool) -> Verdict {
    if !old.is_empty() || !io::stdout().is_terminal() {
        return show(&report::unified(place, old, text.as_bytes()));
    }
    if !quiet {
        let (place, lines) = (shown(place), text.lines().count());
        let place = place.display();
        notify(&format!(
            "note: {place}: a new file of {lines} lines, which the patch has when written to a file\n"
        ));
    }
    Verdict::Done
}

/// Writes CUDA's run-time library, once in an output tree or in each folder that needs it, and what builds it all.
fn runtime(done: &[Done], work: &Batch) -> Verdict {
    // With a file whose mode they take over, and whether a file in Fortran calls the library.
    let mut folders: BTreeMap<PathBuf, (&Path, bool)> = BTreeMap::new();
    for (one, (like, place)) in done.iter().filter_map(|one| Some((one, one.launched.as_ref()?))) {
        let folder = match &work.task.destination {
            Destination::Tree(out) => out.clone(),
            _ => place.with_file_name(""),
        };
        let known = folders.entry(folder).or_insert((like, false));
        *known = (like, known.1 || one.has_module);
    }
    let writes = is_written(&work.task.destination);
    let mut verdict = Verdict::Done;
    for (folder, (like, is_fortran)) in folders.iter().filter(|_| writes) {
        let module = Some(RUNTIME_MODULE).filter(|_| *is_fortran);
        for (name, text) in RUNTIME.into_iter().chain(module) {
            verdict = verdict.max(write(&folder.join(name), text, like, work));
        }
    }
    let Some((_, (like, _))) = folders.first_key_value().filter(|_| writes) else { return verdict };
    let own = PathBuf::from(RUNTIME[1].0);
    let device = done.iter().flat_map(|one| &one.device);
    let sources: Vec<String> = device.chain([&own]).map(|path| path.display().to_string()).collect();
    if let (Some(builder), Destination::Tree(out)) = (work.task.builder, &work.task.destination) {
        let (named, other): (Vec<String>, Vec<String>) =
            sources.iter().cloned().partition(|source| builder.can_name(source));
        for source in other {
            let file = out.join(builder.file());
            verdict = verdict.max(fail(&format!("{}: it cannot hold the name {source:?}", file.display())));
        }
        verdict = verdict.max(write(&out.join(builder.file()), &builder.text(&named), like, work));
    }
    if !work.task.quiet {
        notify(&match work.task.builder {
            Some(builder) => format!(
                "note: {} builds the device code: include it where the program is built\n",
                builder.file()
            ),
            None => report::nvcc(&sources),
        });
    }
    verdict
}

fn write(place: &Path, text: &str, like: &Path, work: &Batch) -> Verdict {
    let mut notes = String::new();
    let written = work.write(place, text.as_bytes(), Made { source: None, read: &[], like }, &mut notes);
    notify(&notes);
    match written {
        Ok(()) => Verdict::Done,
        Err(error) => fail(&error.to_string()),
    }
}

/// Refuses to replace an input that somebody has changed since it was read.
fn unchanged(job: &Job, old: &[u8]) -> io::Result<()> {
    match std::fs::read(&job.real)? == old {
        true => Ok(()),
        false => Err(io::Error::other("somebody changed it during the run: it stays; translate it again")),
    }
}

/// Replaces an input, and says what the new file could not take over from the old one.
fn replace(job: &Job, (old, new): (&[u8], &[u8]), work: &Batch, done: &mut Done) -> io::Result<()> {
    unchanged(job, old)?;
    let folder = Folder::open(job.real.parent().unwrap_or(Path::new("")))?;
    let kept = folder.write(job.real.file_name().unwrap_or_default(), new, Like::Owner(&job.real))?;
    let mut lost = Vec::new();
    if !kept.owner {
        lost.push("the new file belongs to another user or group than the old one".to_owned());
    }
    if kept.other_names > 0 {
        lost.push(format!("its other names keep the old text (hard links: {})", kept.other_names));
    }
    if !work.task.quiet {
        done.messages.extend(lost.iter().map(|what| format!("note: {}: {what}\n", job.name())));
    }
    Ok(())
}

/// Prints everything in the order of the inputs, and the table.
fn close(done: &[Done], tree: &Tree, work: &Batch) -> Verdict {
    let mut sum = Summary::default();
    let mut verdict = Verdict::Done;
    for one in done {
        sum.add(&one.summary);
        notify(&one.messages);
        verdict = verdict.max(if one.error.is_some() { Verdict::Failed } else { show(&one.output) });
    }
    verdict = verdict.max(reported(done, (&sum, &tree.failures), work));
    if work.task.advise {
        if !work.task.quiet {
            let all =
                done.iter().fold((0, 0), |(all, edits), one| (all + one.advice.0, edits + one.advice.1));
            notify(&report::advice(&sum, all));
        }
        return verdict;
    }
    verdict = verdict.max(support(done, work)).max(runtime(done, work));
    if !work.task.quiet {
        let foreign: Vec<&str> = done.iter().filter_map(|one| one.foreign.as_deref()).collect();
        notify(&report::foreign(&foreign, work.manner));
        let unlisted: Vec<&str> = done.iter().filter_map(|one| one.unlisted.as_deref()).collect();
        notify(&report::unlisted(&unlisted, work.manner));
        let inputs: HashSet<&Path> = tree.jobs.iter().map(|job| job.real.as_path()).collect();
        let beside: Vec<String> =
            work.headers.beside(&inputs).iter().map(|path| shown(path).display().to_string()).collect();
        let beside: Vec<&str> = beside.iter().map(String::as_str).collect();
        notify(&report::beside(&beside, work.manner));
        notify(&report::table(&sum, work.manner));
        let reviewed: usize = done.iter().map(|one| one.reviewed).sum();
        if reviewed > 0 {
            notify(&format!("{reviewed} reviewed messages are in the baseline and not shown\n"));
        }
    }
    let is_left = match &work.baseline {
        Some(_) => sum.foreign > 0 || done.iter().any(|one| one.is_left),
        None => sum.something_left(),
    };
    verdict.max(if is_left { Verdict::Left } else { Verdict::Done })
}

/// Writes the report.
fn reported(done: &[Done], (sum, failures): (&Summary, &[String]), work: &Batch) -> Verdict {
    let mut groups = Groups::default();
    let mut said = String::new();
    for one in done {
        said += &one.said;
        groups.add(one.groups.clone());
    }
    said += &groups.text();
    work.task.reports.write(&said, || {
        let is_shown = |one: &&Done| one.summary.with_openacc > 0;
        let files: Vec<FileRecord> =
            done.iter().filter(is_shown).filter_map(|one| one.record.clone()).collect();
        let foreign = |one: &Done| one.foreign.as_deref().map(ErrorRecord::of_language);
        let failed = failures.iter().map(|why| ErrorRecord::of_failure(None, why));
        let errors = done.iter().filter_map(|one| one.error.clone().or_else(|| foreign(one)));
        let errors = errors.chain(failed).collect();
        let pages = record::pages(&files);
        let target = match (work.task.advise, work.task.options.to) {
            (true, _) => "advice",
            (false, To::OpenMp) => "openmp",
            (false, To::Cuda) => "cuda",
        };
        Report { target, files, errors, pages, summary: sum.clone() }
    })
}

/// Writes the manifest of the output tree.
fn finish(work: Batch) -> Verdict {
    let Some(out) = work.out else { return Verdict::Done };
    let database = work.task.database.as_deref().map(build::database_file);
    let run = Run {
        inputs: &work.task.inputs,
        config: work.task.config.as_deref(),
        database: database.as_deref(),
        arguments: std::env::args().skip(1).collect(),
    };
    match out.finish(run) {
        Ok(stale) => {
            if !work.task.quiet {
                stale.iter().for_each(|what| notify(&format!("note: {what}\n")));
            }
            Verdict::Done
        }
        Err(error) => fail(&error.to_string()),
    }
}
