//! What the user asks for of single directives: to be left untranslated, or to run in order.
//!
//! Invariant: asked for by a line, or by a comment on the line before the directive, and by nothing else.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::{Clause, ClauseKind, Directive, DirectiveKind, Name};
use crate::diag::{self, Diag};
use crate::scan::{self, DirectiveText, Remark, View};
use crate::source::{SourceFile, Span};
use crate::{acc, host};

use super::{Options, Outcome, Source, Translation};

/// What a user asks for of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// It stays as it is (A0030).
    Leave,
    /// Its loop runs in order, as with `seq` (A0031).
    Seq,
}

impl Wish {
    /// All names.
    const NAMES: [&str; 2] = ["leave", "seq"];

    /// The wish of this name in `acc2omp.toml` and comments.
    pub fn named(name: &str) -> Option<Wish> {
        match name {
            "leave" => Some(Wish::Leave),
            "seq" => Some(Wish::Seq),
            _ => None,
        }
    }
}

/// What is asked for of a directive.
pub(super) fn wish(file: &SourceFile, text: &DirectiveText, options: &Options) -> Option<Wish> {
    let number = file.line_number(text.span.start);
    let by_line = options.wishes.iter().find(|(line, _)| *line == number).map(|(_, wish)| *wish);
    let before = file.lines.line(text.span.start).checked_sub(1);
    let by_comment = |before| Wish::named(&scan::remark_of_line(file, before)?.words);
    by_line.or_else(|| before.and_then(by_comment))
}

/// What is said of comments that ask for nothing that is known, or of no directive.
pub(super) fn say_unused(source: &Source, translation: &mut Translation) {
    let file = &source.file;
    let remarks = scan::remarks(file);
    if remarks.is_empty() {
        return;
    }
    // The lines of directives, and whether each is left untranslated or has what it asked for.
    let mut there: BTreeMap<usize, bool> = BTreeMap::new();
    for report in &translation.directives {
        *there.entry(file.line_number(report.span.start)).or_default() |= report.outcome == Outcome::Left;
    }
    let granted: BTreeSet<usize> = translation.granted(file).collect();
    let is_used = |remark: &Remark, wish: Wish| {
        let next = file.line_number(remark.span.start) + 1;
        // What is left untranslated is reported with its own reason, and `seq` where there was a loop.
        let is_left = there.get(&next).filter(|_| remark.is_alone);
        is_left.is_some_and(|is_left| wish == Wish::Leave || *is_left || granted.contains(&next))
    };
    let said = remarks.iter().filter_map(|remark| match Wish::named(&remark.words) {
        Some(wish) if is_used(remark, wish) => None,
        Some(_) => Some(diag::wish_without_directive(remark.span, &remark.words)),
        None => {
            let word = remark.words.split_whitespace().next().unwrap_or_default();
            Some(diag::unknown_wish(remark.span, &remark.words, acc::nearest(word, Wish::NAMES.into_iter())))
        }
    });
    let said: Vec<Diag> = said.collect();
    translation.diagnostics.extend(said);
    translation.settle();
}

/// Has the loop of a directive run in order: false if it has no loop.
pub(super) fn run_in_order(directive: &mut Directive) -> bool {
    if !directive.kind.is_loop() {
        return false;
    }
    let is_combined = directive.kind != DirectiveKind::Loop;
    let is_size = |clause: &Clause| {
        matches!(
            clause.kind,
            ClauseKind::NumGangs(_) | ClauseKind::NumWorkers(_) | ClauseKind::VectorLength(_)
        )
    };
    let is_division = |clause: &Clause| {
        matches!(
            clause.kind,
            ClauseKind::Gang(_)
                | ClauseKind::Worker(_)
                | ClauseKind::Vector(_)
                | ClauseKind::Seq
                | ClauseKind::Independent
                | ClauseKind::Auto
                | ClauseKind::Tile(_)
        ) || is_combined && is_size(clause)
    };
    let span = Span { start: directive.name_span.end, end: directive.name_span.end };
    let name = Name { text: "seq".to_owned(), span };
    let mut places = Vec::new();
    let mut kept: Vec<Clause> = Vec::new();
    for clause in directive.clauses.drain(..) {
        places.push(kept.len());
        if !is_division(&clause) {
            let device_type = clause.device_type.map(|at| places[at]);
            kept.push(Clause { device_type, ..clause });
        }
    }
    directive.clauses = kept;
    let seq = Clause { kind: ClauseKind::Seq, name, span, modifier: None, device_type: None };
    directive.clauses.push(seq);
    true
}

/// The lines of directives in a routine: of all, or of one by its number. Directives of a routine are counted from one in the
/// order of the source, without those that only end a region.
pub fn lines_of(source: &Source, routine: &str, number: Option<usize>) -> Vec<usize> {
    let file = &source.file;
    let (scan, _) = scan::scan(file, &source.shown(&View::default()));
    let unit = host::parse(file, &scan);
    let is_fortran = file.language.is_fortran();
    let is_named = |text: &&DirectiveText| {
        let name = unit.function_around(text.span).map(|function| function.name.as_str());
        name.is_some_and(|name| if is_fortran { name.eq_ignore_ascii_case(routine) } else { name == routine })
    };
    let is_begin = |text: &&DirectiveText| {
        let words = text.words.first().map_or(&b""[..], |words| file.slice(*words)).trim_ascii_start();
        !(is_fortran && words.get(..3).is_some_and(|word| word.eq_ignore_ascii_case(b"end")))
    };
    let lines = scan.directives.iter().filter(is_named).filter(is_begin);
    let lines = lines.map(|text| file.line_number(text.span.start)).enumerate();
    lines.filter(|(at, _)| number.is_none_or(|number| at + 1 == number)).map(|(_, line)| line).collect()
}
