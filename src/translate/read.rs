//! What both ways of a translation read of a source: its views, its directives, its names.
//!
//! Invariant: says nothing of what becomes of a directive.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::acc;
use crate::acc::ast::Directive;
use crate::acc::ast::{ClauseKind, DataClause};
use crate::bind::{self, Bound, Declared, Regions};
use crate::diag::{self, Diag};
use crate::host::ir::Unit;
use crate::plan::{QueuedElsewhere, Routines};
use crate::scan::{self, Define, DirectiveText, Scan, View};
use crate::sema::{self, Others, Outside, Symbols};
use crate::source::{Language, SourceFile, Span};

use super::{DirectiveReport, Options, Source, To};

/// The first words of directives that concern no function but their own and those that names lead to.
const LOCAL: [&str; 13] = [
    "atomic",
    "cache",
    "data",
    "end",
    "enter",
    "exit",
    "host_data",
    "kernels",
    "loop",
    "parallel",
    "serial",
    "update",
    "wait",
];

/// Into so many parts of equal length a long source is divided at most.
const MOST_PARTS: usize = 24;

impl Source {
    /// A view of the preprocessor that knows the macros of the headers, too.
    pub(super) fn shown(&self, view: &View) -> View {
        let mut view = view.clone();
        for define in self.headers.iter().flat_map(|header| &header.scan.defines) {
            if define.params.is_none() {
                view.defines.push((define.name.clone(), Some(define.body.clone())));
            }
        }
        view
    }

    /// The functions that have nothing to do with the directives of a view, if it is worth while to pass over them.
    pub(super) fn functions_apart(&self, scan: &Scan, options: &Options) -> Vec<Span> {
        let length = self.file.bytes.len();
        let is_large = length >= options.islands_from && !scan.directives.is_empty();
        if self.file.language == Language::Header || !is_large {
            return Vec::new();
        }
        let headers: Vec<scan::Beside> = self.headers.iter().map(|header| header.beside()).collect();
        let apart = scan::functions_apart(&self.file, scan, &headers);
        let bytes: usize = apart.iter().map(|span| span.len()).sum();
        if bytes >= length / 4 || options.islands_from == 0 { apart } else { Vec::new() }
    }

    /// The parts of a source that have nothing to do with one another, if it is worth while to translate them one by one: all of
    /// its directives are shown, and none concerns the file as a whole.
    pub(super) fn parts(&self, scan: &Scan, options: &Options) -> Option<scan::Parts> {
        let file = &self.file;
        let length = file.bytes.len();
        let is_plain = |text: &DirectiveText| text.active && text.in_macro.is_none();
        let is_shown = scan.directives.iter().all(is_plain)
            && scan.names.iter().all(|name| name.active || name.in_macro)
            && scan.ruled_out.is_empty();
        if file.language == Language::Header || !is_shown || scan.directives.is_empty() {
            return None;
        }
        // What becomes of pointers and components of Fortran depends on all directives with such.
        let lower = if file.language.is_fortran() { scan.shadow.to_ascii_lowercase() } else { Vec::new() };
        if [&b"%"[..], b"pointer"].iter().any(|word| memchr::memmem::find(&lower, word).is_some()) {
            return None;
        }
        let is_local = |text: &DirectiveText| {
            let words = text.words.iter().flat_map(|span| {
                file.slice(*span).split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
            });
            let first = words.into_iter().find(|word| !word.is_empty()).unwrap_or_default();
            LOCAL.iter().any(|name| first.eq_ignore_ascii_case(name.as_bytes()))
        };
        let headers: Vec<scan::Beside> = self.headers.iter().map(|header| header.beside()).collect();
        let least = options.parts_from / 2;
        let wanted = if options.parts_from == 0 { 0 } else { least.max(length / MOST_PARTS) };
        let parts = scan::parts(file, scan, &headers, &is_local, wanted)?;
        let inside: usize = parts.functions().iter().map(|span| span.len()).sum();
        // What is outside of functions is read with each part.
        let is_worth_while = (length - inside) * parts.count() <= length;
        (is_worth_while || options.parts_from == 0).then_some(parts)
    }

    /// All names that a view shows, those of the headers among them.
    pub(super) fn symbols(&self, unit: &Unit, scan: &Scan) -> Symbols {
        let headers: Vec<&Unit> = self.headers.iter().map(|header| &header.unit).collect();
        let around = self.headers.iter().enumerate().find_map(|(at, header)| Some((at, header.includes_at?)));
        let outside: Vec<Arc<Outside>> = match self.file.language.is_fortran() {
            true => self.headers.iter().map(|header| Arc::clone(&header.outside)).collect(),
            false => Vec::new(),
        };
        let included = self.included();
        let others = Others { units: &headers, outside: &outside, around, included: &included };
        let mut symbols = Symbols::new(unit, &self.file.bytes, others, &self.macros(scan));
        let declared = self.headers.iter().flat_map(|header| &header.declared);
        // `link` gives a variable no memory before a data clause does.
        for ((module, name), _) in declared.filter(|(_, clause)| **clause != DataClause::Link) {
            symbols.place_on_device(module.as_deref(), name);
        }
        for (name, directive) in self.headers.iter().flat_map(|header| &header.routines) {
            if directive.clauses.iter().any(|clause| matches!(clause.kind, ClauseKind::Gang(_))) {
                symbols.note_gang_routine(name);
            }
        }
        symbols
    }

    /// The files that a file of Fortran includes itself, by their numbers, and where it does so.
    fn included(&self) -> Vec<(usize, u32)> {
        if !self.file.language.is_fortran() || self.headers.is_empty() {
            return Vec::new();
        }
        let number =
            |path: &str| self.headers.iter().position(|header| Path::new(&header.file.name).ends_with(path));
        let includes = scan::fortran_includes(&self.file);
        includes.iter().filter_map(|one| Some((number(&one.path)?, one.span.start))).collect()
    }

    /// The variables that this file and its headers give a place on the device.
    pub(super) fn declared(&self, scan: &Scan, unit: &Unit) -> Declared {
        let mut declared = bind::declared(&self.file, scan, unit);
        for header in &self.headers {
            declared.extend(header.declared.iter().map(|(place, clause)| (place.clone(), *clause)));
        }
        declared
    }

    /// The levels of the routines that the headers declare.
    pub(super) fn routines(&self, options: &Options) -> Routines {
        let directives = self.headers.iter().flat_map(|header| &header.routines);
        Routines::of_others(directives, &options.device_type)
    }

    /// All macros that a view shows, those of the headers first.
    pub(super) fn macros<'a>(&'a self, scan: &'a Scan) -> Vec<&'a Define> {
        self.headers.iter().flat_map(|header| &header.scan.defines).chain(&scan.defines).collect()
    }
}

/// The constructs whose code stands, in part, in other files, each with what is said of it.
pub fn in_other_files(unit: &Unit, bound: &[Bound], options: &Options) -> Vec<(Span, Diag)> {
    let what = "code of another file in a construct";
    let said = |line: Span| match options.to {
        To::OpenMp => diag::not_yet(line, what),
        To::Cuda => diag::not_yet_cuda(line, what),
    };
    let of = |one: &Bound| {
        let extent = one.directive.span.to(unit.stmt(one.stmt()?).span);
        Some((one.directive.span, said(unit.included_in(extent)?)))
    };
    bound.iter().filter(|one| one.directive.kind.is_compute()).filter_map(of).collect()
}

/// Whether the grammar has no errors in the functions with directives, nor, if one stands elsewhere, outside of functions.
pub fn is_clear(scan: &Scan, unit: &Unit) -> bool {
    if unit.errors.is_empty() {
        return true;
    }
    let unread: Vec<Span> = unit.functions.iter().filter(|one| one.has_error).map(|one| one.span).collect();
    // How far the functions reach that begin before each other one.
    let reach = unit.functions.iter().scan(0, |reach, one| {
        *reach = one.span.end.max(*reach);
        Some((one.span.start, *reach))
    });
    let reach: Vec<(u32, u32)> = reach.collect();
    let is_inside = |place: u32| {
        let next = reach.partition_point(|(start, _)| *start <= place);
        next.checked_sub(1).is_some_and(|last| place < reach[last].1)
    };
    let active = scan.directives.iter().filter(|text| text.active);
    let mut places = active.flat_map(|text| [text.span.start, text.next_code]);
    places.all(|place| is_inside(place) && !unread.iter().any(|span| span.start <= place && place < span.end))
}

/// The directives that a view reaches and no view before did.
pub fn fresh(scan: &Scan, reports: &BTreeMap<u32, Box<DirectiveReport>>) -> Vec<usize> {
    let is_fresh = |at: &usize| {
        let text = &scan.directives[*at];
        text.active && !reports.contains_key(&text.span.start)
    };
    (0..scan.directives.len()).filter(is_fresh).collect()
}

/// The directives with queues that other views translate: neither joined to the code of this one nor held.
pub fn queued_elsewhere(
    file: &SourceFile,
    scan: &Scan,
    (bound, held): (&[Bound], &[Span]),
) -> Vec<QueuedElsewhere> {
    let is_here = |span: Span| {
        bound.binary_search_by_key(&span, |one| one.directive.span).is_ok() || held.contains(&span)
    };
    let may_be_queued = |span: Span| {
        let text = file.text(span).to_ascii_lowercase();
        ["async", "wait"].iter().any(|word| text.contains(word))
    };
    let texts = scan.directives.iter().filter(|text| may_be_queued(text.span) && !is_here(text.span));
    let texts: Vec<&DirectiveText> = texts.collect();
    let forks = if texts.is_empty() { Vec::new() } else { scan::forks(file) };
    let parsed = texts.into_iter().filter_map(|text| {
        let directive = parse(file, text, &mut Vec::new())?;
        let start = text.span.start;
        let around = forks.iter().filter(|fork| fork.branch_at(start).is_some());
        let branches = around.flat_map(|fork| &fork.branches).map(|branch| branch.inside);
        let beside = branches.filter(|inside| !inside.contains(Span::at(start as usize))).collect();
        Some(QueuedElsewhere { directive, is_shown: text.active, beside })
    });
    parsed.collect()
}

/// The directive's tree, if it is whole and legal.
pub fn parse(file: &SourceFile, text: &DirectiveText, diags: &mut Vec<Diag>) -> Option<Directive> {
    if let Some(name) = &text.in_macro {
        diags.push(diag::in_macro(text.span, name));
        return None;
    }
    let (directive, said) = acc::parse(file, text);
    diags.extend(said);
    let directive = directive?;
    let said = acc::check(&directive);
    let legal = said.is_empty();
    diags.extend(said);
    legal.then_some(directive)
}

/// Joins the directives of a view to the code. Those that cannot be joined are added to `held`.
pub fn bound_in(
    file: &SourceFile,
    (scan, symbols): (&Scan, &Symbols),
    unit: &mut Unit,
    parsed: Vec<(usize, Directive)>,
    held: &mut Vec<Span>,
) -> (Vec<Bound>, Vec<Diag>) {
    let mut diags = Vec::new();
    let mut unbound: BTreeSet<Span> = parsed.iter().map(|(_, directive)| directive.span).collect();
    let mut regions = Regions::default();
    if unit.is_fortran() {
        sema::resolve(unit, symbols);
        let (found, said) = bind::enclose(unit, &scan.directives, &parsed);
        regions = found;
        diags.extend(said);
    }
    let (mut bound, said) = bind::bind(unit, &scan.directives, parsed, &regions);
    bound = bind::imply_concurrent(unit, bound);
    bind::nest_concurrent(file, unit, &mut bound);
    unbound.retain(|span| bound.binary_search_by_key(span, |one| one.directive.span).is_err());
    held.extend(unbound);
    diags.extend(said);
    (bound, diags)
}
