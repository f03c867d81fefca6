//! The façade: one source in, one translation out.
//!
//! Invariant: the same source and options give the same translation; nothing outside the returned edits changes.

mod allocations;
mod builds;
mod cuda;
mod declarators;
mod existing;
mod inductions;
mod library;
mod loops;
mod macros;
mod parted;
mod read;
mod reading;
mod work;

use std::sync::Arc;

use crate::bind::{self, Declared};
use crate::diag::{self, Diag, Severity};
use crate::edit::{self, Edit};
use crate::host;
use crate::host::ir::Unit;
use crate::omp::{self, Queues};
use crate::plan::Closed;
use crate::report::LoopFeedback;
use crate::scan::{self, Macro, Outline, Scan, Shown, View};
use crate::source::{Language, SourceFile, Span};

pub use cuda::RUNTIME;
pub use existing::Existing;
pub use library::SUPPORT;
use work::Work;

/// So many other branches of a condition behind a directive are looked at.
const BRANCHES: usize = 8;

/// A source file with the local headers it includes.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file to translate.
    pub file: SourceFile,
    /// The local headers that it reaches by `#include "…"`, in the order the compiler meets them, and the Fortran file that
    /// includes it, if that is one; they are read for their declarations and not translated with it.
    pub headers: Vec<Arc<Header>>,
}

/// A header read for its declarations.
#[derive(Debug)]
pub struct Header {
    /// Its file.
    pub file: SourceFile,
    scan: Scan,
    unit: Unit,
    macros: Vec<Macro>,
    /// Its macros, if one of them may declare something.
    declaring: Vec<Macro>,
    /// The variables that it gives a place on the device.
    declared: Declared,
    /// The procedures that it says all gangs run together.
    gang_routines: Vec<String>,
    /// Where it includes the file to translate, which sees what is declared there.
    includes_at: Option<u32>,
}

impl Header {
    /// Reads a header's declarations, as it is by itself.
    pub fn new(file: SourceFile) -> Header {
        let shown = alone(&file);
        Header::showing(file, &shown)
    }

    /// The names of the variables and functions that a header gives a place on the device, as it is by itself.
    pub fn placed(file: SourceFile) -> Vec<String> {
        let shown = alone(&file);
        let says = |span: Span| {
            let has = |word: &[u8]| memchr::memmem::find(file.slice(span), word).is_some();
            has(b"declare") || has(b"routine")
        };
        if !scan::scan_shown(&file, &shown).directives.iter().any(|text| says(text.span)) {
            return Vec::new();
        }
        let header = Header::showing(file, &shown);
        let routines = header.routines();
        header.declared.into_keys().map(|(_, name)| name).chain(routines).collect()
    }

    /// The functions that it declares as routines of the device, for other files to define.
    fn routines(&self) -> Vec<String> {
        if self.file.language.is_fortran() {
            return Vec::new();
        }
        crate::cuda::routine_prototypes(&self.seen())
    }

    /// Reads the declarations of what a file that includes it is shown.
    pub fn showing(file: SourceFile, shown: &Shown) -> Header {
        let scan = scan::scan_shown(&file, shown);
        let unit = host::parse(&file, &scan);
        let macros = scan::header_macros(&file, shown);
        let declared = bind::declared(&file, &scan, &unit);
        let gang_routines = bind::gang_routines(&file, &scan, &unit);
        let declaring = scan::declaring_macros(&file);
        Header { file, scan, unit, macros, declaring, declared, gang_routines, includes_at: None }
    }

    /// Reads a Fortran file whose scoping units go on, at this offset, in the file to translate.
    pub fn including(file: SourceFile, shown: &Shown, at: u32) -> Header {
        Header { includes_at: Some(at), ..Header::showing(file, shown) }
    }
}

/// What a header shows that nothing includes.
fn alone(file: &SourceFile) -> Shown {
    let mut defined = View::default().for_language(file.language).defined();
    Outline::of(file).follow(&mut defined, &mut |_, _, _, _| ())
}

impl Source {
    /// Whether a header or a Fortran module that it uses gives variables a place on the device, for which it must change
    /// though it says nothing of OpenACC: where Fortran allocates them, and where C defines them for CUDA.
    pub fn declares(&self, options: &Options) -> bool {
        match self.file.language.is_fortran() {
            true => self.headers.iter().any(|header| !header.declared.is_empty()),
            false => {
                let says = |header: &Header| {
                    self.names(&header.declared) || header.routines().iter().any(|name| self.has(name))
                };
                options.to == To::Cuda && self.headers.iter().any(|header| says(header))
            }
        }
    }

    /// Whether the file may define one of these variables.
    fn names(&self, declared: &Declared) -> bool {
        declared.keys().any(|(_, name)| self.has(name))
    }

    fn has(&self, name: &str) -> bool {
        memchr::memmem::find(&self.file.bytes, name.as_bytes()).is_some()
    }

    /// A file without headers.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>, language: Language) -> Source {
        Source { file: SourceFile::new(name, bytes, language), headers: Vec::new() }
    }
}

/// An OpenMP version, as `45` for 4.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version(pub u8);

/// The compiler that the output is tuned for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Profile {
    /// Any compiler: one flat parallel loop.
    #[default]
    Generic,
    /// LLVM clang.
    Clang,
    /// GNU gcc.
    Gcc,
    /// NVIDIA's nvc and nvc++.
    Nvc,
    /// The Cray compilers.
    Cray,
    /// AMD's clang.
    Amdclang,
    /// Intel's icx and icpx.
    Icx,
}

impl Profile {
    /// All of them, the default first.
    pub const ALL: [Profile; 7] = [
        Profile::Generic,
        Profile::Clang,
        Profile::Gcc,
        Profile::Nvc,
        Profile::Cray,
        Profile::Amdclang,
        Profile::Icx,
    ];

    /// The name of its page in `rules/profile/`.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Generic => "generic",
            Profile::Clang => "clang",
            Profile::Gcc => "gcc",
            Profile::Nvc => "nvc",
            Profile::Cray => "cray",
            Profile::Amdclang => "amdclang",
            Profile::Icx => "icx",
        }
    }
}

/// The language that takes OpenACC's place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum To {
    /// OpenMP `target` directives.
    #[default]
    OpenMp,
    /// CUDA C, for C and C++.
    Cuda,
}

/// A file that stands beside a translation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// Its name, without folder.
    pub name: String,
    /// Its text.
    pub text: Vec<u8>,
}

/// What to translate to.
#[derive(Clone, Debug)]
pub struct Options {
    /// The language that takes OpenACC's place.
    pub to: To,
    /// The newest OpenMP version that the output may use.
    pub omp: Version,
    /// The compiler that the output is tuned for.
    pub profile: Profile,
    /// What becomes of queues.
    pub queues: Queues,
    /// The original stays beside the translation, and the preprocessor chooses.
    pub guard: bool,
    /// What becomes of OpenMP that the source has for the code of an OpenACC directive.
    pub existing: Existing,
    /// A condition in C: where it is false when the program runs, the host runs what the device would.
    pub host_fallback: Option<String>,
    /// The device type whose `device_type` clauses count, in lower case (`nvidia`, `host` …).
    pub device_type: String,
    /// No two names lead to the same memory.
    pub assume_no_alias: bool,
    /// Device code in CUDA says with `#line` where it comes from.
    pub line_directives: bool,
    /// Another source of its folder has the same name but for the ending: files beside it have the ending in theirs.
    pub has_namesake: bool,
    /// What names of its device code begin with, as another source that is given has its name: the folders that it lies in.
    pub folder: String,
}

impl Options {
    /// What names of a source's device code begin with.
    pub fn unit_name(&self, name: &str) -> String {
        let name = crate::cuda::unit_name(name, self.has_namesake);
        if self.folder.is_empty() { name } else { format!("{}_{name}", self.folder) }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            to: To::OpenMp,
            omp: Version(45),
            profile: Profile::Generic,
            queues: Queues::Kept,
            guard: false,
            existing: Existing::Ask,
            host_fallback: None,
            device_type: "nvidia".to_owned(),
            assume_no_alias: false,
            line_directives: false,
            has_namesake: false,
            folder: String::new(),
        }
    }
}

impl Options {
    fn target(&self, language: Language) -> omp::Target<'_> {
        let host_fallback = self.host_fallback.as_deref();
        let (profile, speech) = (self.profile.name(), omp::Speech::of(language));
        omp::Target { version: self.omp.0, profile, queues: self.queues, host_fallback, speech }
    }
}

/// What became of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// Translated with the same meaning.
    Exact,
    /// Translated; a diagnostic says what is weaker or differs.
    Noted,
    /// Left as it was; a diagnostic says why.
    Left,
}

/// One directive of the source, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectiveReport {
    /// Its bytes in the source.
    pub span: Span,
    /// Its name (`parallel loop`).
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
    /// The rule rows used, as `clause/present#0`.
    pub rows: Vec<String>,
}

/// The result for one file.
#[derive(Clone, Debug)]
pub struct Translation {
    /// The new text.
    pub text: Vec<u8>,
    /// The edits that make it from the source: sorted, disjoint.
    pub edits: Vec<Edit>,
    /// What there is to say, by place.
    pub diagnostics: Vec<Diag>,
    /// Every OpenACC directive of the source, by place.
    pub directives: Vec<DirectiveReport>,
    /// The rule rows used for the run-time library, as `api/acc_malloc#0`.
    pub api_rows: Vec<String>,
    /// The text includes the header `SUPPORT`, which must lie beside it.
    pub needs_support: bool,
    /// Files that belong beside it: for CUDA, the device code and the header of its launchers.
    pub beside: Vec<Beside>,
    /// What was found out about the loops that OpenACC leaves to the compiler, by place.
    pub loops: Vec<LoopFeedback>,
    /// The edits among them, all insertions, that compute variables from loop variables: the source does the same with them.
    pub inductions: Vec<Edit>,
    /// Loops that such edits could make parallel.
    closed: Vec<Closed>,
}

/// Translates one source.
pub fn translate(source: &Source, options: &Options) -> Translation {
    if !scan::mentions_openacc(&source.file.bytes, source.file.language) && !source.declares(options) {
        return Translation::untouched(source);
    }
    let headers: Vec<&[Macro]> = source.headers.iter().map(|header| header.macros.as_slice()).collect();
    if options.to == To::Cuda {
        if source.file.language.is_fortran() {
            return Translation::left_in_fortran(source);
        }
        return declarators::translated(source, &|source| match scan::macros(&source.file, &headers) {
            Some(macros) => cuda::written_out(source, &macros, options),
            None => counting(source, &|source| cuda::translate(source, options)),
        });
    }
    let mut translation = match scan::macros(&source.file, &headers) {
        Some(macros) => macros::translate(source, &macros, options),
        None => counting(source, &|source| plainly(source, options)),
    };
    if options.guard {
        let guarded = edit::side_by_side(&source.file, &translation.edits);
        translation.text = guarded.edits.apply(&source.file.bytes);
        translation.edits = guarded.edits.edits().cloned().collect();
        translation.say_unprocessed(&guarded.unprocessed);
    }
    translation
}

/// Translates one source, with the variables computed that its loops count with.
fn counting(source: &Source, translate: &dyn Fn(&Source) -> Translation) -> Translation {
    let plain = translate(source);
    if plain.closed.is_empty() { plain } else { inductions::computed(source, plain, translate) }
}

/// Translates one source as it stands, whatever its macros hold.
fn plainly(source: &Source, options: &Options) -> Translation {
    let mut work = Work::new(source, options);
    work.view(&View::default());
    // Directives that the default view of the preprocessor does not reach get a view of their own.
    while let Some(offset) = work.next_unreached() {
        work.view(&View::reaching(offset));
    }
    let mut translation = work.finish();
    other_branches(source, options, &mut translation);
    translation
}

/// Says which directives the code of another branch would need in another way.
fn other_branches(source: &Source, options: &Options, translation: &mut Translation) {
    let mut said = Vec::new();
    for (directive, branches) in scan::branches_behind(&source.file) {
        let changes = |all: &[Edit]| -> Vec<Edit> {
            all.iter().filter(|edit| directive.contains(edit.span)).cloned().collect()
        };
        let here = changes(&translation.edits);
        for branch in branches.iter().take(BRANCHES).filter(|_| !here.is_empty()) {
            let mut work = Work::new(source, options);
            work.view(&View::reaching(branch.start));
            if changes(&work.finish().edits) != here {
                said.push(diag::branches_differ(directive, *branch));
                break;
            }
        }
    }
    if !said.is_empty() {
        translation.diagnostics.extend(said);
        translation.mark();
        translation.settle();
    }
}

impl Translation {
    fn untouched(source: &Source) -> Translation {
        let text = source.file.bytes.clone();
        Translation {
            text,
            edits: Vec::new(),
            diagnostics: Vec::new(),
            directives: Vec::new(),
            api_rows: Vec::new(),
            needs_support: false,
            beside: Vec::new(),
            loops: Vec::new(),
            inductions: Vec::new(),
            closed: Vec::new(),
        }
    }

    /// Fortran where CUDA is asked for.
    fn left_in_fortran(source: &Source) -> Translation {
        let (scan, diagnostics) = scan::scan(&source.file, &View::default());
        let mut translation = Translation { diagnostics, ..Translation::untouched(source) };
        let first = scan.directives.first().map(|first| first.span);
        translation.diagnostics.extend(first.map(diag::fortran_not_cuda));
        let report = |text: &scan::DirectiveText| DirectiveReport {
            span: text.span,
            name: String::new(),
            outcome: Outcome::Left,
            rows: Vec::new(),
        };
        translation.directives = scan.directives.iter().map(report).collect();
        translation
    }

    /// Takes all edits back: the output did not parse.
    fn withdraw(&mut self, file: &SourceFile) {
        self.text = file.bytes.clone();
        let at = self.edits.first().map_or(Span::at(0), |edit| edit.span);
        self.edits.clear();
        self.needs_support = false;
        self.diagnostics.push(diag::output_not_parsed(at));
        self.directives.iter_mut().for_each(|report| report.outcome = Outcome::Left);
    }

    /// Sorts the diagnostics, each once.
    fn settle(&mut self) {
        let mut seen = std::collections::HashSet::new();
        self.diagnostics.retain(|diag| seen.insert((diag.code, diag.primary.span, diag.message.clone())));
        self.diagnostics.sort_by_key(|diag| (diag.primary.span.start, diag.code, diag.message.clone()));
    }

    /// Marks the directives that the diagnostics are about.
    fn mark(&mut self) {
        let serious = self.diagnostics.iter().filter(|diag| diag.severity >= Severity::Weaker);
        let places: Vec<u32> = serious.map(|diag| diag.primary.span.start).collect();
        places.into_iter().for_each(|place| self.mark_before(place));
    }

    /// Marks the directive at a place or the last one before it.
    fn mark_before(&mut self, place: u32) {
        let at = self.directives.partition_point(|report| report.span.start <= place);
        let Some(report) = at.checked_sub(1).and_then(|at| self.directives.get_mut(at)) else { return };
        if report.outcome == Outcome::Exact {
            report.outcome = Outcome::Noted;
        }
    }

    /// Says, once, that lines need a preprocessor.
    fn say_unprocessed(&mut self, lines: &[Span]) {
        let Some(first) = lines.first() else { return };
        self.diagnostics.push(diag::needs_preprocessor(*first));
        self.settle();
        lines.iter().for_each(|lines| self.mark_before(lines.start));
    }
}
