//! The code that directives govern.
//!
//! Invariant: nothing is planned and nothing is changed.

use crate::acc::ast::DirectiveKind;
use crate::bind::Bound;
use crate::host::ir::Unit;
use crate::source::Span;

use super::look::look;
use super::views::joined;
use super::{Options, Source};

/// The code of a directive, or of the one that it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Governed {
    /// The directive.
    pub directive: Span,
    /// From the directive that begins it to its end.
    pub extent: Span,
    /// The directive says how the code runs; otherwise, where its data are.
    pub is_run: bool,
}

/// The code of the directives of a source that govern any, by place. The preprocessor's views may give a directive several.
pub fn governed(source: &Source, options: &Options) -> Vec<Governed> {
    look(source, options, |(scan, unit), parsed, all| {
        let (bound, unit) = joined(scan, unit, parsed);
        let region = |at: usize| region(&unit, &bound, at);
        all.extend((0..bound.len()).filter(|at| bound[*at].text.is_some()).filter_map(region));
        bound
    })
}

/// The code of directive `at`.
fn region(unit: &Unit, bound: &[Bound], at: usize) -> Option<Governed> {
    let is_end = |at: usize| matches!(bound[at].directive.kind, DirectiveKind::End(_));
    let begin = bound[at].partner.filter(|_| is_end(at)).unwrap_or(at);
    let end = bound[begin].partner.filter(|end| is_end(*end));
    let stmt = bound[begin].stmt().map(|stmt| unit.stmt(stmt).span);
    let span = |at: usize| bound[at].directive.span;
    let last = stmt.into_iter().chain(end.map(span)).max_by_key(|span| span.end)?;
    let kind = bound[begin].directive.kind;
    let is_run = !matches!(kind, DirectiveKind::Data | DirectiveKind::HostData);
    Some(Governed { directive: span(at), extent: span(begin).to(last), is_run })
}
