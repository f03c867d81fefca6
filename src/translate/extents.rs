//! The lines that directives and their constructs have.
//!
//! Invariant: nothing is planned and nothing is changed.

use crate::acc;
use crate::bind;
use crate::scan::Scan;

use super::views::{self, BackEnd, Gathered, Lowered, Made, Reached, Rest};
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
    let mut back = Extents::default();
    let limits = options.budget.of_file(source.file.bytes.len());
    // What is too large to be read has no directives that could be named.
    let _ = crate::budget::within(limits, || views::translate(source, options, &mut back));
    back.0.sort();
    back.0.dedup();
    back.0
}

/// What the views seen so far have.
#[derive(Default)]
struct Extents(Vec<Extent>);

impl BackEnd for Extents {
    fn scanned(&mut self, _scan: &Scan, _first: Option<&Scan>, _all: &mut Gathered) -> bool {
        false
    }

    fn lower(&mut self, view: Reached, all: &mut Gathered) -> Lowered {
        let Reached { scan, unit, parsed, held } = view;
        let file = &all.source.file;
        let (bound, _) = bind::bind(&unit, &scan.directives, parsed, &bind::Regions::default());
        for one in &bound {
            let Some(text) = one.text.and_then(|text| scan.directives.get(text)) else { continue };
            let kind = one.directive.kind;
            let stmt = one.stmt().filter(|_| kind.is_compute());
            let line = |at: u32| file.line_number(at);
            self.0.push(Extent {
                line: line(text.span.start),
                last: line(text.span.end.saturating_sub(1)),
                end: stmt.map(|stmt| line(unit.stmt(stmt).span.end.saturating_sub(1))),
                name: acc::name(kind).to_owned(),
            });
        }
        let made = bound
            .iter()
            .map(|_| Made { edits: Some(Vec::new()), rows: Vec::new(), implied: Vec::new() })
            .collect();
        Lowered { bound, made, held }
    }

    fn finish(&mut self, _all: &mut Gathered) -> Rest {
        Rest::default()
    }
}
