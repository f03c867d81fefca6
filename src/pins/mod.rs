//! Instruments OpenACC sources for `acc2omp verify`: statements around directives record what these find on the device and
//! leave there, or decide where a construct runs.
//!
//! Invariant: the result is OpenACC that does what the source does; what is recorded is read from the device, and the host's
//! copy of it is not touched.

mod c;
mod variables;

use std::collections::{BTreeMap, BTreeSet};

use crate::acc;
use crate::acc::ast::{ClauseKind, DataClause, DirectiveKind};
use crate::bind::Bound;
use crate::edit::Edit;
use crate::host::ir::Unit;
use crate::plan::{Plan, effective, list};
use crate::sema::Symbols;
use crate::source::{SourceFile, Span};

use variables::{Variable, of_construct, of_item};

/// The library that instrumented sources of C and C++ include.
pub const HEADER: (&str, &str) = ("acc2omp_pin.h", include_str!("acc2omp_pin.h"));

/// What sources are instrumented for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To record what directives find and leave.
    Record,
    /// To choose where each compute construct runs; the first of the file has this number.
    Choose(usize),
}

/// A directive that was instrumented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its line, from 1.
    pub line: usize,
    /// The directive's name.
    pub name: String,
    /// It is a compute construct.
    pub is_compute: bool,
    /// The variables that it is about.
    pub variables: Vec<String>,
    /// Variables of a compute construct that cannot be recorded: how long they are is not known.
    pub unknown: Vec<String>,
}

/// What is read of a view.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The source.
    pub file: &'a SourceFile,
    /// Its code.
    pub unit: &'a Unit,
    /// Its names.
    pub symbols: &'a Symbols,
    /// Its directives.
    pub bound: &'a [Bound],
    /// What they amount to.
    pub plan: &'a Plan,
    /// The device type whose clauses count.
    pub device_type: &'a str,
}

/// What is put into a source.
#[derive(Debug, Default)]
pub struct Instrumented {
    /// The edits.
    pub edits: Vec<Edit>,
    /// The directives.
    pub sites: Vec<Site>,
}

/// Texts by their places; at one place, in order.
#[derive(Debug, Default)]
struct Texts {
    before: BTreeMap<u32, Vec<String>>,
    /// What ends inner directives stands before what ends outer ones.
    after: BTreeMap<u32, Vec<String>>,
    replaced: Vec<Edit>,
}

impl Texts {
    fn before(&mut self, at: u32, text: String) {
        self.before.entry(at).or_default().push(text);
    }

    fn after(&mut self, at: u32, text: String) {
        self.after.entry(at).or_default().insert(0, text);
    }

    /// The first place.
    fn first(&self) -> Option<u32> {
        let all = self.before.keys().chain(self.after.keys()).copied();
        all.chain(self.replaced.iter().map(|edit| edit.span.start)).min()
    }

    fn edits(self) -> Vec<Edit> {
        let mut all: BTreeMap<u32, String> = BTreeMap::new();
        for (at, texts) in self.after.into_iter().chain(self.before) {
            *all.entry(at).or_default() += &texts.concat();
        }
        let inserted = all
            .into_iter()
            .map(|(at, text)| Edit { span: Span { start: at, end: at }, text: text.into_bytes() });
        inserted.chain(self.replaced).collect()
    }
}

/// Which way the data of a directive go, each with the place where its variables are looked for before and after.
struct Moved {
    to_device: Vec<Variable>,
    to_host: Vec<Variable>,
    /// What the directive puts on the device or takes away from there.
    placed: Vec<Variable>,
}

/// Instruments the directives of a view.
pub fn instrument(input: &Input, purpose: Purpose) -> Instrumented {
    let mut texts = Texts::default();
    let mut sites = Vec::new();
    let mut number = match purpose {
        Purpose::Choose(first) => first,
        Purpose::Record => 0,
    };
    for (index, one) in input.bound.iter().enumerate() {
        let kind = one.directive.kind;
        let is_compute = kind.is_compute();
        if one.text.is_none() || one.function.is_none() {
            continue;
        }
        let line = input.file.line_number(one.directive.span.start);
        let mut site = Site {
            line,
            name: acc::name(kind).to_owned(),
            is_compute,
            variables: Vec::new(),
            unknown: Vec::new(),
        };
        let place = c::Place { input, index, line };
        if is_compute {
            let found = of_construct(input, index);
            site.unknown = found.unknown;
            match purpose {
                Purpose::Record => place.record_construct(&found.variables, &mut texts),
                Purpose::Choose(_) => place.choose(&found.variables, number, &mut texts),
            }
            number += 1;
            site.variables = found.variables.into_iter().map(|variable| variable.name).collect();
        } else {
            let moved = Moved {
                to_device: input.moved(index, true),
                to_host: input.moved(index, false),
                placed: input.placed(index),
            };
            let is_still = moved.to_device.is_empty() && moved.to_host.is_empty();
            let is_recorded = match kind {
                _ if is_still || purpose != Purpose::Record => false,
                DirectiveKind::Data => {
                    place.record_region(&moved, &mut texts);
                    true
                }
                DirectiveKind::EnterData | DirectiveKind::ExitData | DirectiveKind::Update => {
                    place.record_motion(&moved, kind == DirectiveKind::Update, &mut texts);
                    true
                }
                _ => false,
            };
            place.remember(&moved.placed, &mut texts);
            if !is_recorded {
                continue;
            }
            let names = moved.to_device.iter().chain(&moved.to_host).map(|variable| variable.name.clone());
            site.variables = names.collect::<BTreeSet<_>>().into_iter().collect();
        }
        sites.push(site);
    }
    if let Some(first) = texts.first() {
        let at = c::include_at(input.file, input.file.line_number(first));
        texts.before.entry(at).or_default().insert(0, format!("#include \"{}\"\n", HEADER.0));
    }
    Instrumented { edits: texts.edits(), sites }
}

impl Input<'_> {
    /// The variables that a directive moves to the device, or from there.
    fn moved(&self, index: usize, to_device: bool) -> Vec<Variable> {
        let directive = &self.bound[index].directive;
        let counting = effective(directive, self.device_type).0;
        let clauses = counting.into_iter().filter_map(|at| Some(&directive.clauses.get(at)?.kind));
        let moves = |kind: &ClauseKind| match kind {
            ClauseKind::Data(DataClause::Copy, _) => true,
            ClauseKind::Data(DataClause::Copyin { .. }, _) | ClauseKind::UpdateDevice(_) => to_device,
            ClauseKind::Data(DataClause::Copyout { .. }, _) | ClauseKind::UpdateSelf(_) => !to_device,
            _ => false,
        };
        let items = clauses.filter(|kind| moves(kind)).flat_map(list);
        items.filter_map(|item| of_item(self, directive.span.start, item)).collect()
    }

    /// The variables, but for scalars, that a directive puts on the device or takes away from there.
    fn placed(&self, index: usize) -> Vec<Variable> {
        let directive = &self.bound[index].directive;
        let counting = effective(directive, self.device_type).0;
        let clauses = counting.into_iter().filter_map(|at| Some(&directive.clauses.get(at)?.kind));
        let places = |kind: &ClauseKind| match kind {
            ClauseKind::Data(clause, _) => matches!(
                clause,
                DataClause::Copy
                    | DataClause::Copyin { .. }
                    | DataClause::Copyout { .. }
                    | DataClause::Create { .. }
                    | DataClause::Delete
            ),
            _ => false,
        };
        let items = clauses.filter(|kind| places(kind)).flat_map(list);
        let all = items.filter_map(|item| of_item(self, directive.span.start, item));
        all.filter(|variable| !variable.is_scalar).collect()
    }
}
