//! One view of a file as CUDA needs it: its directives joined to the code, and what they amount to.
//!
//! Invariant: a header is read as its own translation reads it; what is said of it is said there.

use std::collections::BTreeSet;

use crate::acc::ast::Directive;
use crate::bind::{self, Bound};
use crate::cuda::{self, Seen};
use crate::cxx::Elsewhere;
use crate::diag::{Concern, Diag, pages};
use crate::host::ir::Unit;
use crate::plan::{self, Plan};
use crate::scan::Scan;
use crate::sema::{self, Symbols, Texts};
use crate::source::Span;

use super::loops::Found;
use super::read::{in_other_files, parse, queued_elsewhere};
use super::{Header, Options, Source};

/// What was read.
pub struct Reading {
    symbols: Symbols,
    /// The directives at their place.
    pub bound: Vec<Bound>,
    /// What they amount to.
    pub plan: Plan,
    /// Those that could not be read or bound.
    pub held: Vec<Span>,
    /// What there is to say.
    pub said: Vec<Diag>,
    /// What names of its device code begin with.
    unit_name: String,
}

impl Reading {
    /// What the back end works from.
    pub fn input<'a>(
        &'a self,
        source: Seen<'a>,
        headers: &'a [Seen<'a>],
        read: &'a [cuda::Input<'a>],
        options: &'a Options,
    ) -> cuda::Input<'a> {
        cuda::Input {
            source,
            headers,
            read,
            symbols: &self.symbols,
            bound: &self.bound,
            plan: &self.plan,
            device_type: &options.device_type,
            is_c: cuda::is_c(&source),
            in_place: false,
            object: None,
            uncopyable: None,
            effects: None,
            choices: None,
            repeated: None,
            texts: None,
            unit_name: &self.unit_name,
            assume_no_alias: options.assume_no_alias,
            line_directives: options.line_directives,
        }
    }
}

impl Source {
    /// Joins the directives of a view to the code. `held` are those that could not be read.
    pub(super) fn reading(
        &self,
        (unit, scan): (&Unit, &Scan),
        parsed: Vec<(usize, Directive)>,
        mut held: Vec<Span>,
        options: &Options,
        found: &mut Found,
    ) -> Reading {
        let symbols = self.symbols(unit, scan);
        let mut unbound: BTreeSet<Span> = parsed.iter().map(|(_, directive)| directive.span).collect();
        let (bound, mut said) = bind::bind(unit, &scan.directives, parsed, &bind::Regions::default());
        unbound.retain(|span| bound.binary_search_by_key(span, |one| one.directive.span).is_err());
        held.extend(unbound);
        for (span, why) in in_other_files(unit, &bound, options) {
            held.push(span);
            said.push(why);
        }
        let queued_elsewhere = queued_elsewhere(&self.file, scan, (&bound, &held));
        let settings = plan::Settings { queued_elsewhere, ..self.cuda_aim(options) };
        let (bound, reached) = self.settled((unit, scan, &symbols), bound, &settings, options, found);
        let (bound, sizes) = plan::sizes_as_arrays(unit, &symbols, bound);
        said.extend(sizes);
        let (bound, parameters) = plan::sections_of_parameters(&self.file, unit, &symbols, bound);
        said.extend(parameters);
        let (bound, extents) = plan::with_extents(&self.file, unit, &symbols, bound, &settings);
        said.extend(extents);
        let bound = plan::without_macros(unit, &symbols, plan::merge_data_clauses(unit, bound));
        let plain = plan::with_plain_names(unit, &symbols, bound.clone());
        let (mut plan, planned) = plan::plan(&self.file, unit, &symbols, &plain, &held, &reached, &settings);
        // The lines for CUDA name variables in full.
        plan.note_data(&symbols, &bound, &options.device_type);
        // The plan also says what OpenMP cannot do.
        said.extend(planned.into_iter().filter(|diag| pages::concern(diag.code) == Concern::Both));
        let unit_name = options.unit_name(&self.file.name);
        Reading { symbols, bound, plan, held, said, unit_name }
    }

    /// What plans for CUDA are made for.
    pub(super) fn cuda_aim(&self, options: &Options) -> plan::Settings {
        plan::Settings {
            device_type: options.device_type.clone(),
            preference: cuda::PREFERENCE,
            queues: true,
            asks: false,
            as_written: options.as_written,
            routines: self.routines(options),
            queued_elsewhere: Vec::new(),
        }
    }

    /// A header as it is read itself, if it has directives.
    pub(super) fn header_reading(&self, at: usize, options: &Options) -> Option<Reading> {
        let header = &*self.headers[at];
        let (file, scan, unit) = (&header.file, &header.scan, &header.unit);
        let mut parsed = Vec::new();
        let mut held = Vec::new();
        for (number, text) in scan.directives.iter().enumerate().filter(|(_, text)| text.active) {
            match parse(file, text, &mut Vec::new()) {
                Some(directive) => parsed.push((number, directive)),
                None => held.push(text.span),
            }
        }
        let there = Source::among(file.clone(), self.headers[..at].to_vec());
        let is_plain = parsed.is_empty() && held.is_empty();
        (!is_plain).then(|| there.reading((unit, scan), parsed, held, options, &mut Found::default()))
    }
}

impl Source {
    /// A file of a Fortran module as its own translation reads it, with all that its procedures execute.
    pub(super) fn elsewhere(&self, at: usize, options: &Options) -> Option<Elsewhere> {
        let header = self.headers.get(at)?;
        let (file, scan) = (&header.file, &header.scan);
        let others = self.headers.iter().enumerate().filter(|(other, _)| *other != at);
        let headers = others.map(|(_, header)| header.clone()).collect();
        let there = Source::among(file.clone(), headers);
        let mut unit = crate::host::parse(file, scan);
        let symbols = there.symbols(&unit, scan);
        sema::resolve(&mut unit, &symbols);
        let active = scan.directives.iter().enumerate().filter(|(_, text)| text.active);
        let parsed: Vec<(usize, Directive)> =
            active.filter_map(|(number, text)| Some((number, parse(file, text, &mut Vec::new())?))).collect();
        let (regions, _) = bind::enclose(&mut unit, &scan.directives, &parsed);
        let (bound, _) = bind::bind(&unit, &scan.directives, parsed, &regions);
        let settings = there.cuda_aim(options);
        let (bound, reached) =
            there.settled((&unit, scan, &symbols), bound, &settings, options, &mut Found::default());
        let (plan, _) = plan::plan(file, &unit, &symbols, &bound, &[], &reached, &settings);
        Some(Elsewhere { unit, symbols, bound, plan })
    }
}

impl Header {
    /// The texts of its code.
    pub(super) fn texts(&self) -> Texts<'_> {
        Texts { file: &self.file, unit: &self.unit }
    }

    /// What the back end for CUDA sees of it.
    pub(super) fn seen(&self) -> Seen<'_> {
        Seen { file: &self.file, unit: &self.unit, scan: &self.scan, declared: &self.declared }
    }
}
