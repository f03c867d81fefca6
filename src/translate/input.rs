//! A source with its headers, as it is read.
//!
//! Invariant: a header is read for its declarations, and not translated with the source.

use std::collections::{BTreeSet, HashSet};
use std::ops::Deref;
use std::sync::Arc;

use crate::acc::ast::Directive;
use crate::bind::{self, Declared};
use crate::diag::OtherCode;
use crate::host;
use crate::host::ir::{ScopeKind, Unit};
use crate::scan::{self, Defined, Macro, Outline, Scan, Shown, View};
use crate::sema::Outside;
use crate::source::{self, Language, SourceFile, Span};

use super::{Options, To};

/// A source file with the local headers it includes.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file to translate.
    pub file: SourceFile,
    /// The local headers that it reaches by `#include "…"`, in the order the compiler meets them, and the Fortran file that
    /// includes it, if that is one; they are read for their declarations and not translated with it.
    pub headers: Vec<Arc<Header>>,
    /// Builds that read other code of these headers.
    pub builds: Vec<OtherBuild>,
}

/// A build that reads other branches of headers, or of the modules of Fortran, than the one that a source is translated for.
#[derive(Clone, Debug)]
pub struct OtherBuild {
    /// The headers as it reads them.
    pub headers: Vec<Arc<Header>>,
    /// The branches, each by the name of its file, without folder, and its line, counted from 1.
    pub branches: Vec<(String, usize)>,
}

/// So many places of other files are named in one message.
const PLACES: usize = 3;

impl OtherBuild {
    /// What it reads, for a message.
    pub(super) fn other_code(&self) -> OtherCode {
        let first = self.branches.iter().take(PLACES).map(|(name, line)| format!("`{name}:{line}`"));
        let more = (self.branches.len() > PLACES).then(|| "and others".to_owned());
        OtherCode::Files(first.chain(more).collect::<Vec<String>>().join(", "))
    }
}

/// A header read for its declarations.
#[derive(Clone, Debug)]
pub struct Header {
    /// Its file.
    pub file: SourceFile,
    /// Where it includes the file to translate, which sees what is declared there.
    pub(super) includes_at: Option<u32>,
    declarations: Arc<Declarations>,
}

/// The declarations of a text, wherever that lies.
#[derive(Debug)]
pub struct Declarations {
    pub(super) scan: Scan,
    pub(super) unit: Unit,
    pub(super) macros: Vec<Macro>,
    /// Its macros, if one of them may declare something.
    pub(super) declaring: Vec<Macro>,
    /// The variables that it gives a place on the device.
    pub(super) declared: Declared,
    /// Its `routine` directives, by the procedures that they are about.
    pub(super) routines: Vec<(String, Directive)>,
    /// What it has for the files that use it, in Fortran.
    pub(super) outside: Arc<Outside>,
    /// What it has for macros that write directives in Fortran.
    written: scan::FortranMacros,
}

impl Deref for Header {
    type Target = Declarations;

    fn deref(&self) -> &Declarations {
        &self.declarations
    }
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
        let prototypes = header.prototypes();
        header.declared.keys().map(|(_, name)| name.clone()).chain(prototypes).collect()
    }

    /// What it is for those who look for functions that need not be read.
    pub(super) fn beside(&self) -> scan::Beside<'_> {
        let unit = &self.unit;
        let in_modules = unit.scopes.iter().filter(|scope| scope.kind != ScopeKind::Procedure);
        let ids = in_modules.flat_map(|scope| &scope.decls).chain(&unit.globals);
        let variables = ids.map(|id| unit.decl(*id)).filter(|decl| !(unit.is_fortran() && decl.is_const));
        scan::Beside { scan: &self.scan, variables: variables.map(|decl| decl.name.as_str()).collect() }
    }

    /// The macros, and what it declares and defines at file scope, by name.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let unit = &self.unit;
        let macros = self.scan.defines.iter().map(|define| define.name.as_str());
        let globals = unit.globals.iter().map(|id| unit.decl(*id).name.as_str());
        macros.chain(globals).chain(unit.functions.iter().map(|function| function.name.as_str()))
    }

    /// The functions that it declares as routines of the device, for other files to define.
    fn prototypes(&self) -> Vec<String> {
        if self.file.language.is_fortran() {
            return Vec::new();
        }
        crate::cuda::routine_prototypes(&self.seen())
    }

    /// Reads the declarations of what a file that includes it is shown.
    pub fn showing(file: SourceFile, shown: &Shown) -> Header {
        let declarations = Arc::new(Declarations::of(&file, shown));
        Header::with(file, declarations)
    }

    /// A header whose declarations are known: those of a file with the same text.
    pub fn with(file: SourceFile, declarations: Arc<Declarations>) -> Header {
        Header { file, includes_at: None, declarations }
    }

    /// Whether two headers have one text.
    pub fn is_same_text(&self, other: &Header) -> bool {
        Arc::ptr_eq(&self.declarations, &other.declarations)
    }

    /// Reads a Fortran file whose scoping units go on, at this offset, in the file to translate.
    pub fn including(file: SourceFile, shown: &Shown, at: u32) -> Header {
        Header { includes_at: Some(at), ..Header::showing(file, shown) }
    }
}

impl Declarations {
    /// Reads what a file that includes a header is shown of it.
    pub fn of(file: &SourceFile, shown: &Shown) -> Declarations {
        let scan = scan::scan_shown(file, shown);
        let unit = host::declarations(file, &scan);
        let macros = scan::header_macros(file, shown);
        let declared = bind::declared(file, &scan, &unit);
        let routines = bind::routines(file, &scan, &unit);
        let declaring = scan::declaring_macros(file);
        let outside = Arc::new(Outside::of(&unit, &file.bytes));
        let is_fortran = file.language.is_fortran();
        let written = if is_fortran { scan::FortranMacros::of(file) } else { scan::FortranMacros::default() };
        Declarations { scan, unit, macros, declaring, declared, routines, outside, written }
    }
}

/// What a header shows that nothing includes.
fn alone(file: &SourceFile) -> Shown {
    Outline::of(file).follow(&mut Defined::before(file), &mut |_, _, _, _| ())
}

impl Source {
    /// Whether a header or a Fortran module that it uses gives variables a place on the device, for which it must change
    /// though it says nothing of OpenACC: where Fortran allocates them, and where C defines them for CUDA.
    pub fn declares(&self, options: &Options) -> bool {
        let mut headers = self.headers.iter().chain(self.builds.iter().flat_map(|build| &build.headers));
        match self.file.language.is_fortran() {
            true => headers.any(|header| !header.declared.is_empty()),
            false => {
                let says = |header: &Header| {
                    self.names(&header.declared) || header.prototypes().iter().any(|name| self.has(name))
                };
                options.to == To::Cuda && headers.any(|header| says(header))
            }
        }
    }

    /// The branches of the preprocessor, outside of the functions of the default view, that this view hides and that may define
    /// what headers place on the device.
    pub(super) fn hidden_definitions(&self, unit: &Unit) -> Vec<u32> {
        let placed =
            self.headers.iter().flat_map(|header| header.declared.keys().map(|(_, name)| name.clone()));
        let routines = self.headers.iter().flat_map(|header| header.prototypes());
        let names: BTreeSet<String> = placed.chain(routines).collect();
        if names.is_empty() {
            return Vec::new();
        }
        let forks = scan::forks(&self.file);
        let hidden =
            scan::hidden_code(&self.file, &forks, &View::default()).into_iter().map(|one| one.branch);
        let outside = hidden.filter(|branch| !unit.functions.iter().any(|one| one.span.contains(*branch)));
        let may_define =
            |branch: &Span| source::names(&self.file.text(*branch)).any(|name| names.contains(name));
        outside.filter(may_define).map(|branch| branch.start).collect()
    }

    /// Whether the file, though it says nothing of OpenACC, may write directives by macros of its headers.
    pub fn may_write(&self) -> bool {
        if self.file.language.is_fortran() {
            return !self.written_by_macros().is_empty();
        }
        let says = |line: &str| {
            scan::mentions_openacc(line.as_bytes(), self.file.language)
                && (scan::mentions_operator(line.as_bytes()) || self.has("_P"))
        };
        let mentions =
            |header: &Arc<Header>| scan::mentions_openacc(&header.file.bytes, header.file.language);
        self.file.predefined.names().filter_map(|(_, line)| line).any(says)
            || self.header_macros().next().is_some() && self.headers.iter().any(mentions)
    }

    /// The directives of Fortran that macros write, each with the macro's name; those that stand whole in the bodies of the
    /// file's own macros are reported there.
    pub(super) fn written_by_macros(&self) -> Vec<(Span, String)> {
        let headers: Vec<&scan::FortranMacros> = self.headers.iter().map(|header| &header.written).collect();
        scan::fortran_written(&self.file, &headers)
    }

    /// The macros of the headers, if there is an operator that writes directives, or if pragmas name one.
    pub(super) fn header_macros(&self) -> impl Iterator<Item = &[Macro]> {
        let has_operator = |file: &SourceFile| scan::mentions_operator(&file.bytes);
        let is_c = !self.file.language.is_fortran();
        let writes = is_c
            && (has_operator(&self.file)
                || self.headers.iter().any(|one| has_operator(&one.file))
                || self.pragmas_name_macros());
        self.headers.iter().filter(move |_| writes).map(|header| header.macros.as_slice())
    }

    /// Whether a line of a pragma has the name of a header's macro.
    fn pragmas_name_macros(&self) -> bool {
        let names: HashSet<&str> =
            self.headers.iter().flat_map(|one| &one.macros).map(|one| one.name.as_str()).collect();
        !names.is_empty() && scan::words_of_pragmas(&self.file.bytes).any(|word| names.contains(word))
    }

    /// The names that a file of C or C++ has of its headers, outside of hidden branches: a build without one of them ends with an
    /// error.
    pub fn names_of_headers(&self) -> BTreeSet<String> {
        if self.file.language.is_fortran() {
            return BTreeSet::new();
        }
        let (scan, _) = scan::scan(&self.file, &self.shown(&View::default()));
        let text = String::from_utf8_lossy(&scan.shadow);
        let words: HashSet<&str> = source::names(&text).collect();
        let names = self.headers.iter().flat_map(|header| header.names());
        names.filter(|name| words.contains(name)).map(str::to_owned).collect()
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
        Source::among(SourceFile::new(name, bytes, language), Vec::new())
    }

    /// A file with these headers.
    pub fn among(file: SourceFile, headers: Vec<Arc<Header>>) -> Source {
        Source { file, headers, builds: Vec::new() }
    }

    /// Another text with the headers of this source.
    pub(super) fn with(&self, file: SourceFile) -> Source {
        Source::among(file, self.headers.clone())
    }
}
