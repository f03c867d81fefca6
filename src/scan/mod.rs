//! Finds the directives of a file, and makes the shadow text that the host grammar parses.
//!
//! Invariant: knows where a directive is and which bytes are its words, never what they mean.

mod branches;
mod c;
mod conditions;
mod defined;
mod expression;
mod forks;
mod fortran;
mod islands;
mod lines;
mod macros;
mod mention;
mod noise;
mod openmp;
mod outline;
mod preproc;
mod qualifier;
mod remark;
mod shadow;
mod woken;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use crate::diag::{self, Diag};
use crate::source::{Language, Languages, Named, SourceFile, Span};

pub use branches::{
    Branched, branches_after, hidden_code, other_builds, parted, read_otherwise, shown_of, together,
};
pub use conditions::Conditions;
pub use defined::Defined;
pub use expression::constant;
pub use forks::{Branch, Fork, branches_beside, forks, may_miss};
pub use fortran::{
    Macros as FortranMacros, Split, constructs, fypp, nothing as fortran_nothing, splits,
    written as fortran_written,
};
pub use fortran::{Shape, form_of as fortran_form, shapes as fortran_shapes};
pub use fortran::{defined_modules, includes as fortran_includes, used_modules};
pub use islands::{Beside, Parts, blank, functions_apart, parts};
pub use lines::{MacroLine, macro_lines};
pub use macros::{Call, Choice, Macro, Macros, Piece, Use, Written};
pub use macros::{Statements, statements};
pub use macros::{declarators, declaring_macros, fragments, header_macros, macros, written_out};
pub use mention::{mentions_openacc, mentions_operator, words_of_pragmas};
pub use noise::start_with_hidden;
pub use openmp::{Existing, OpenMp, openmp};
pub use outline::Outline;
pub use preproc::{Shown, View};
pub use qualifier::is_restrict;
pub use remark::{Remark, remark_of_line, remarks};
pub use woken::{asks_for_openmp, woken};

/// Finds the directives of `file` and makes the shadow text of what `view` shows.
pub fn scan(file: &SourceFile, view: &View) -> (Scan, Vec<Diag>) {
    let is_fortran = file.language.is_fortran();
    let events = if is_fortran { fortran::events(file) } else { c::events(&file.bytes) };
    let shown = preproc::shown(file, &events, view);
    let assemble = if is_fortran { fortran::assemble } else { shadow::assemble };
    let mut scan = assemble(file, &events, &shown);
    scan.defines.splice(0..0, predefined(file));
    let said = scan.ruled_out.iter().map(|(first, count)| diag::ruled_out(*first, *count)).collect();
    (scan, said)
}

/// Whether a file holds directives where it is compiled for OpenACC.
pub fn has_directives(file: &SourceFile) -> bool {
    mentions_openacc(&file.bytes, file.language) && !scan(file, &View::default()).0.directives.is_empty()
}

/// The macros that options define.
pub fn predefined(file: &SourceFile) -> impl Iterator<Item = Define> {
    file.predefined.names().filter_map(|(_, line)| {
        let (name, params, body) = defined::definition(line?.as_bytes());
        Some(Define { name, params, body, span: Span::at(0) })
    })
}

/// Finds the directives of `file` and makes the shadow text of what is shown.
pub fn scan_shown(file: &SourceFile, shown: &Shown) -> Scan {
    match file.language.is_fortran() {
        true => fortran::scan_shown(file, shown),
        false => shadow::assemble(file, &c::events(&file.bytes), shown),
    }
}

/// The language of a file: what its name says, Fortran in the form of its lines, or in the one that is asked for.
/// `None` if we do not translate such files.
pub fn language_of(path: &Path, bytes: &[u8], languages: &Languages) -> Option<Language> {
    match languages.of(path)? {
        Language::Fortran(named) => {
            let form = languages.form.unwrap_or_else(|| fortran_form(bytes, named));
            Some(Language::Fortran(form))
        }
        language => Some(language),
    }
}

/// The language of a file that a file of language `by` includes, whatever its name says.
pub fn language_included(path: &Path, bytes: &[u8], by: Language) -> Language {
    match (by, Language::of(path)) {
        (Language::Fortran(form), _) => Language::Fortran(fortran_form(bytes, form)),
        (_, named) => named.unwrap_or(Language::Header),
    }
}

/// How a directive is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `#pragma acc …`, to the end of the (continued) line.
    Pragma,
    /// `_Pragma("acc …")`
    Operator,
    /// Fortran's `!$acc …`, with its continuation lines.
    Sentinel,
}

/// One OpenACC directive found in the source.
#[derive(Clone, Debug)]
pub struct DirectiveText {
    /// From the first byte of the sentinel (`#` or `_Pragma`) to the last byte of the directive: the end of its last
    /// line without trailing blanks, comment and line end; or the closing parenthesis.
    pub span: Span,
    /// How it is written.
    pub form: Form,
    /// The bytes of the words after `acc`, piece by piece: continuations and comments lie between the pieces.
    pub words: Vec<Span>,
    /// Comments inside or after it, on its lines.
    pub comments: Vec<Span>,
    /// The name of the macro in whose body it stands; `#if` for one that is divided by preprocessor conditions.
    pub in_macro: Option<String>,
    /// It stands in a branch of `#if` that the chosen view takes.
    pub active: bool,
    /// Offset of the first byte after the directive that is code (neither blank, comment, directive nor preprocessor line)
    /// in the shadow; the length of the file if there is none.
    pub next_code: u32,
}

/// An `#include "…"` line, or Fortran's `include "…"`.
#[derive(Clone, Debug)]
pub struct Include {
    /// The whole line, without its line end.
    pub span: Span,
    /// The text between the quotes or angle brackets.
    pub path: String,
    /// Written with quotes.
    pub quoted: bool,
    /// It stands in a branch that the chosen view takes.
    pub active: bool,
}

/// A `#define` line.
#[derive(Clone, Debug)]
pub struct Define {
    /// The macro's name.
    pub name: String,
    /// Its parameters, if it has a list of them.
    pub params: Option<Vec<String>>,
    /// The body's text, continuations joined.
    pub body: String,
    /// The whole logical line.
    pub span: Span,
}

/// What was found in one file.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// The OpenACC directives in source order.
    pub directives: Vec<DirectiveText>,
    /// The `#include` lines of all branches.
    pub includes: Vec<Include>,
    /// The `#define` lines of the chosen view; of a file to translate, what options define comes first.
    pub defines: Vec<Define>,
    /// The text to parse: of the source's length, with directives, preprocessor lines, inactive branches and noise blanked.
    pub shadow: Vec<u8>,
    /// Names that may be OpenACC's (`acc_…`, `_OPENACC`) in code and in the bodies of macros.
    pub names: Vec<AccName>,
    /// The conditions that name `_OPENACC`, of all branches.
    pub guards: Vec<Guard>,
    /// Fortran's sentinels `!@acc` of lines that only an OpenACC compiler reads (3.3, 2.2.1): their bytes.
    pub conditionals: Vec<Span>,
    /// The macros that spell `restrict`.
    pub restricts: Vec<String>,
    /// The byte ranges of branches that the view does not show: sorted, disjoint.
    pub hidden: Vec<Span>,
    /// Of each branch with directives that options rule out, the first directive and how many there are: none of them is
    /// among the directives.
    pub ruled_out: Vec<(Span, usize)>,
    /// What is computed on demand.
    pub index: Index,
}

/// Indices of a scan, each computed on first use.
#[derive(Clone, Debug, Default)]
pub struct Index {
    defines: Named,
    /// For the place after each brace: where the outermost pair of braces around it begins.
    braces: OnceLock<Vec<(u32, Option<u32>)>>,
    /// The names of types that conditions of the preprocessor choose.
    chosen: OnceLock<BTreeSet<String>>,
    /// Whether the file has the name that kernels give to the type of their counters.
    names_counters: OnceLock<bool>,
}

impl Scan {
    /// The names of types for which conditions of the preprocessor choose one of several: found by `find`, once.
    pub fn chosen_types(&self, find: impl FnOnce() -> BTreeSet<String>) -> &BTreeSet<String> {
        self.index.chosen.get_or_init(find)
    }

    /// Whether the file has the name that kernels give to the type of their counters: found by `find`, once.
    pub fn names_counters(&self, find: impl FnOnce() -> bool) -> bool {
        *self.index.names_counters.get_or_init(find)
    }

    /// The `#define` lines of a name, in source order.
    pub fn defines_named(&self, name: &str) -> impl DoubleEndedIterator<Item = &Define> + use<'_> {
        let found = self.index.defines.of(name, self.defines.len(), |at| Some(&self.defines[at].name));
        found.into_iter().map(|at| &self.defines[at])
    }

    /// Whether the byte at `offset` is shown.
    pub fn shows(&self, offset: u32) -> bool {
        !preproc::holds(&self.hidden, offset)
    }

    /// Forgets what stands in branches that options rule out: it stays as it is.
    fn rule_out(&mut self, shown: &Shown) {
        let mut last = None;
        for text in &self.directives {
            let at = shown.ruled_out.partition_point(|branch| branch.end <= text.span.start);
            match self.ruled_out.last_mut() {
                _ if !shown.rules_out(text.span.start) => {}
                Some((_, count)) if last == Some(at) => *count += 1,
                _ => {
                    self.ruled_out.push((text.span, 1));
                    last = Some(at);
                }
            }
        }
        if !shown.ruled_out.is_empty() {
            self.directives.retain(|text| !shown.rules_out(text.span.start));
            self.includes.retain(|include| !shown.rules_out(include.span.start));
            self.names.retain(|name| !shown.rules_out(name.span.start));
            self.guards.retain(|guard| !shown.rules_out(guard.span.start));
            self.conditionals.retain(|span| !shown.rules_out(span.start));
        }
    }

    /// Whether a place stands between braces: those of `extern "C"` do not count.
    pub fn is_in_braces(&self, at: u32) -> bool {
        self.braces_around(at).is_some()
    }

    /// Where the outermost braces around a place begin; those of `extern "C"` do not count.
    pub fn braces_around(&self, at: u32) -> Option<u32> {
        let known = self.index.braces.get_or_init(|| braces(&self.shadow));
        let before = known.partition_point(|(after, _)| *after <= at);
        before.checked_sub(1).and_then(|last| known[last].1)
    }
}

/// The places after the braces of C, and for each where the outermost pair around it begins.
fn braces(shadow: &[u8]) -> Vec<(u32, Option<u32>)> {
    let mut found = Vec::new();
    // The braces that are open, and how many of them count.
    let (mut open, mut counting) = (Vec::new(), 0);
    let mut outermost = None;
    for (at, byte) in shadow.iter().enumerate().filter(|(_, byte)| b"{}".contains(byte)) {
        if *byte == b'{' {
            let counts = !shadow[..at].trim_ascii_end().ends_with(b"\"C\"");
            open.push(counts);
            counting += usize::from(counts);
        } else {
            counting -= usize::from(open.pop().unwrap_or(false));
        }
        outermost = match counting {
            0 => None,
            _ => outermost.or(Some(at as u32)),
        };
        found.push((at as u32 + 1, outermost));
    }
    found
}

/// A name that may be OpenACC's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccName {
    /// The name; in Fortran in lower case, and there `openacc` and `openacc_lib` count, too.
    pub name: String,
    /// Its bytes.
    pub span: Span,
    /// It stands in a branch that the chosen view takes.
    pub active: bool,
    /// It stands in the body of a macro.
    pub in_macro: bool,
}

/// An `#if`, `#ifdef`, `#ifndef` or `#elif` that names `_OPENACC`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The line.
    pub span: Span,
    /// The bytes of each `_OPENACC`.
    pub words: Vec<Span>,
    /// It only tests whether `_OPENACC` is defined, and does not name `_OPENMP`.
    pub is_plain: bool,
}
