//! A source that is instrumented, view by view.
//!
//! Invariant: a directive is instrumented in the first view that reaches it.

use std::collections::BTreeSet;

use crate::bind;
use crate::edit::EditSet;
use crate::host::ir::Unit;
use crate::pins::{self, Purpose, Site};
use crate::plan;
use crate::sema;

use super::views::{self, BackEnd, Gathered, Lowered, Reached};
use super::{Options, Source};

/// Instruments a source: its text, and the directives that are instrumented.
pub fn instrument(source: &Source, options: &Options, purpose: Purpose) -> (Vec<u8>, Vec<Site>) {
    let is_part = source.headers.iter().any(|header| header.includes_at.is_some());
    if source.file.language.is_fortran() && is_part {
        return (source.file.bytes.clone(), Vec::new());
    }
    let mut back = Instrument {
        purpose,
        sites: Vec::new(),
        edits: EditSet::default(),
        seen: BTreeSet::new(),
        has_library: false,
    };
    let limits = options.budget.of_file(source.file.bytes.len());
    let done = crate::budget::within(limits, || views::translate(source, options, &mut back));
    match done {
        Ok(_) => (back.edits.apply(&source.file.bytes), back.sites),
        Err(_) => (source.file.bytes.clone(), Vec::new()),
    }
}

/// What the views seen so far have brought.
struct Instrument {
    purpose: Purpose,
    sites: Vec<Site>,
    edits: EditSet,
    /// Where the names stand that were seen.
    seen: BTreeSet<u32>,
    /// The library is there: a source of Fortran may have it once.
    has_library: bool,
}

impl BackEnd for Instrument {
    fn lower(&mut self, view: Reached, all: &mut Gathered) -> Lowered {
        let Reached { scan, mut unit, parsed, held } = view;
        let (source, options) = (all.source, all.options);
        let file = &source.file;
        let symbols = source.symbols(&unit, scan);
        let mut regions = bind::Regions::default();
        if unit.is_fortran() {
            sema::resolve(&mut unit, &symbols);
            regions = bind::enclose(&mut unit, &scan.directives, &parsed).0;
        }
        let (bound, _) = bind::bind(&unit, &scan.directives, parsed, &regions);
        let settings = plan::Settings { as_written: true, ..source.openmp_aim(options) };
        let (bound, reached) =
            source.settled((&unit, scan, &symbols), bound, &settings, options, &mut all.found);
        let (bound, _) = plan::with_extents(file, &unit, &symbols, bound, &settings);
        let (plan, _) = plan::plan(file, &unit, &symbols, &bound, &held, &reached, &settings);
        let names = scan.names.iter().filter(|name| !self.seen.contains(&name.span.start));
        let names: Vec<_> = names.map(|name| (name.name.clone(), name.span)).collect();
        self.seen.extend(names.iter().map(|(_, span)| span.start));
        let headers: Vec<&Unit> = source.headers.iter().map(|header| header.seen().unit).collect();
        let input = pins::Input {
            file,
            unit: &unit,
            headers: &headers,
            symbols: &symbols,
            bound: &bound,
            plan: &plan,
            routines: &bind::api_uses(&unit, &names),
            device_type: &options.device_type,
        };
        let done = pins::instrument(&input, self.purpose);
        if let Purpose::Choose(first) = &mut self.purpose {
            *first += done.sites.len();
        }
        let library = done.library.filter(|_| !self.has_library);
        self.has_library |= library.is_some();
        for edit in library.into_iter().chain(done.edits) {
            let _ = self.edits.add_beside(0, edit);
        }
        self.sites.extend(done.sites);
        Lowered::unchanged(bound, held)
    }
}
