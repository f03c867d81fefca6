//! The lines that directives and their constructs have.
//!
//! Invariant: nothing is planned and nothing is changed.

use crate::acc;
use crate::bind;

use super::look::look;
use super::{Options, Source};

/// The lines of a directive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    /// Its first line, from 1.
    pub line: usize,
    /// Its last line.
    pub last: usize,
    /// The last line of its construct, if it is a compute construct.
    pub end: Option<usize>,
    /// Its name (`parallel loop`).
    pub name: String,
}

/// The directives of a source, by place.
pub fn extents(source: &Source, options: &Options) -> Vec<Extent> {
    let line = |at: u32| source.file.line_number(at);
    look(source, options, |(scan, unit), parsed, all| {
        let (bound, _) = bind::bind(unit, &scan.directives, parsed.to_vec(), &bind::Regions::default());
        for one in &bound {
            let Some(text) = one.text.and_then(|text| scan.directives.get(text)) else { continue };
            let kind = one.directive.kind;
            let stmt = one.stmt().filter(|_| kind.is_compute());
            all.push(Extent {
                line: line(text.span.start),
                last: line(text.span.end.saturating_sub(1)),
                end: stmt.map(|stmt| line(unit.stmt(stmt).span.end.saturating_sub(1))),
                name: acc::name(kind).to_owned(),
            });
        }
        bound
    })
}
