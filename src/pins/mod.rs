//! Instruments OpenACC sources for `acc2omp verify`: statements around directives record what these find on the device and
//! leave there, or decide where a construct runs.
//!
//! Invariant: the result is OpenACC that does what the source does; what is recorded is read from the device, and the host's
//! copy of it is not touched.

mod c;
mod components;
mod fortran;
mod fortran_variables;
mod routines;
mod variables;

use std::collections::{BTreeMap, BTreeSet};

use crate::acc;
use crate::acc::ast::{ClauseKind, DataClause, DirectiveKind};
use crate::bind::{ApiUse, Bound, ancestors};
use crate::edit::Edit;
use crate::host::ir::Unit;
use crate::plan::{Plan, effective, list};
use crate::scan::Conditions;
use crate::sema::Symbols;
use crate::source::{SourceFile, Span};

use variables::{Variable, of_construct, of_items};

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
    /// Why it is not instrumented, if it is not.
    pub obstacle: Option<&'static str>,
}

/// What is read of a view.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The source.
    pub file: &'a SourceFile,
    /// Its code.
    pub unit: &'a Unit,
    /// The code of the headers that it includes.
    pub headers: &'a [&'a Unit],
    /// Its names.
    pub symbols: &'a Symbols,
    /// Its directives.
    pub bound: &'a [Bound],
    /// What they amount to.
    pub plan: &'a Plan,
    /// Where its code names the run-time library.
    pub routines: &'a [ApiUse],
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
    /// What puts the library into the source, which needs it once.
    pub library: Option<Edit>,
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

    /// The first place, if there is one.
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

/// Which way the data of a directive go.
struct Moved {
    to_device: Vec<Variable>,
    to_host: Vec<Variable>,
    /// What the directive puts on the device or takes away from there.
    placed: Vec<Variable>,
    /// It takes them away.
    is_exit: bool,
}

impl Moved {
    /// What the directive puts on the device without bringing anything, unless a condition says otherwise.
    fn made(&self, placed: Where) -> Vec<(&Variable, Where)> {
        let is_brought = |one: &Variable| self.to_device.iter().any(|other| other.name == one.name);
        let all =
            self.placed.iter().filter(|one| !self.is_exit && placed == Where::Placed && !is_brought(one));
        all.map(|one| (one, Where::There)).collect()
    }
}

/// Where a variable is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    Compute,
    Device,
    Placed,
    Host,
    Absent,
    There,
}

impl Where {
    /// As the library in C says it.
    fn word(self) -> &'static str {
        match self {
            Where::Compute => "ACC2OMP_PIN_COMPUTE",
            Where::Device => "ACC2OMP_PIN_DEVICE",
            Where::Placed => "ACC2OMP_PIN_PLACED",
            Where::There => "ACC2OMP_PIN_THERE",
            Where::Host => "ACC2OMP_PIN_HOST",
            Where::Absent => "ACC2OMP_PIN_ABSENT",
        }
    }

    /// As the one in Fortran says it.
    fn number(self) -> usize {
        self as usize
    }
}

/// One of the two events of a directive.
#[derive(Clone, Copy)]
struct Event<'a> {
    name: &'a str,
    is_entry: bool,
    counts: bool,
}

impl<'a> Event<'a> {
    fn entry(name: &'a str) -> Event<'a> {
        Event { name, is_entry: true, counts: true }
    }

    fn exit(name: &'a str) -> Event<'a> {
        Event { name, is_entry: false, counts: false }
    }
}

/// A directive at its place, in either language.
enum Place<'a> {
    C(c::Place<'a>),
    Fortran(fortran::Place<'a>),
}

/// Instruments the directives of a view.
pub fn instrument(input: &Input, purpose: Purpose) -> Instrumented {
    let mut texts = Texts::default();
    let mut sites = Vec::new();
    let conditions = Conditions::of(input.file);
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
            obstacle: None,
        };
        let place = match input.unit.is_fortran() {
            true => Place::Fortran(fortran::Place { input, index, line, conditions: &conditions }),
            false => Place::C(c::Place { input, index, line, conditions: &conditions }),
        };
        let is_kept = match is_compute {
            true => place.compute(purpose, &mut number, &mut site, &mut texts),
            false => place.motion(purpose, &mut site, &mut texts),
        };
        if is_kept {
            sites.push(site);
        }
    }
    if !input.unit.is_fortran() {
        routines::remember(input, &mut texts);
    }
    let library = texts.first().map(|first| match input.unit.is_fortran() {
        true => fortran::library(input.file),
        false => c::library(input.file, input.file.line_number(first)),
    });
    Instrumented { edits: texts.edits(), sites, library }
}

impl Place<'_> {
    fn input(&self) -> (&Input<'_>, usize) {
        match self {
            Place::C(c::Place { input, index, .. }) | Place::Fortran(fortran::Place { input, index, .. }) => {
                (input, *index)
            }
        }
    }

    /// Instruments a compute construct, which counts; whether it is a site.
    fn compute(&self, purpose: Purpose, number: &mut usize, site: &mut Site, texts: &mut Texts) -> bool {
        site.obstacle = self.obstacle(purpose);
        if site.obstacle.is_some() && purpose != Purpose::Record {
            return false;
        }
        let (input, index) = self.input();
        let found = of_construct(input, index);
        site.unknown = found.unknown;
        match purpose {
            _ if site.obstacle.is_some() => {}
            Purpose::Record => self.record_construct(&found.variables, texts),
            Purpose::Choose(_) => self.choose(&found.variables, *number, texts),
        }
        *number += 1;
        site.variables = found.variables.into_iter().map(|variable| variable.name).collect();
        true
    }

    /// Instruments a directive that moves data, if it is one; whether it is a site.
    fn motion(&self, purpose: Purpose, site: &mut Site, texts: &mut Texts) -> bool {
        let (input, index) = self.input();
        let kind = input.bound[index].directive.kind;
        let is_motion = matches!(
            kind,
            DirectiveKind::Data | DirectiveKind::EnterData | DirectiveKind::ExitData | DirectiveKind::Update
        );
        if !is_motion {
            return false;
        }
        let moved = Moved {
            to_device: input.moved(index, true),
            to_host: input.moved(index, false),
            placed: input.placed(index),
            is_exit: kind == DirectiveKind::ExitData,
        };
        let is_still =
            moved.to_device.is_empty() && moved.to_host.is_empty() && moved.made(Where::Placed).is_empty();
        // A program may end where a region of data begins, although nothing moves.
        let is_region = kind == DirectiveKind::Data && !input.named(index).is_empty();
        let is_site = (!is_still || is_region) && purpose == Purpose::Record;
        site.obstacle = self.obstacle(purpose);
        if site.obstacle.is_none() {
            match kind {
                _ if !is_site => {}
                DirectiveKind::Data => self.record_region(&moved, texts),
                _ => self.record_motion(&moved, kind == DirectiveKind::Update, texts),
            }
            self.remember(&moved, texts);
        }
        let all = moved.to_device.iter().chain(&moved.to_host).chain(&moved.placed);
        let names = all.map(|variable| variable.name.clone());
        site.variables = names.collect::<BTreeSet<_>>().into_iter().collect();
        is_site
    }

    /// Why nothing can be put around the directive.
    fn obstacle(&self, purpose: Purpose) -> Option<&'static str> {
        match self {
            Place::C(place) => place.obstacle(),
            Place::Fortran(place) => place.obstacle(purpose),
        }
    }

    fn name(&self) -> &'static str {
        let (input, index) = self.input();
        acc::name(input.bound[index].directive.kind)
    }

    fn record_construct(&self, variables: &[Variable], texts: &mut Texts) {
        match self {
            Place::C(place) => place.record_construct(variables, texts),
            Place::Fortran(place) => place.record_construct(self.name(), variables, texts),
        }
    }

    fn record_region(&self, moved: &Moved, texts: &mut Texts) {
        match self {
            Place::C(place) => place.record_region(moved, self.placed(), texts),
            Place::Fortran(place) => place.record_region(self.name(), moved, self.placed(), texts),
        }
    }

    /// Records what a directive moves that stands for itself.
    fn record_motion(&self, moved: &Moved, is_update: bool, texts: &mut Texts) {
        let host = if is_update { Where::Host } else { Where::Absent };
        let variables = |[to_device, to_host]: [Where; 2]| -> Vec<(&Variable, Where)> {
            let first = moved.to_device.iter().map(|one| (one, to_device));
            first.chain(moved.to_host.iter().map(|one| (one, to_host))).collect()
        };
        let entry = variables([host, Where::Device]);
        let placed = self.placed();
        let mut exit = variables([placed, host]);
        if !is_update {
            exit.extend(moved.made(placed));
        }
        match self {
            Place::C(place) => place.record_motion([&entry, &exit], texts),
            Place::Fortran(place) => place.record_motion(self.name(), [&entry, &exit], texts),
        }
    }

    /// Remembers how long that is which the directive puts on the device; arrays of Fortran know it.
    fn remember(&self, moved: &Moved, texts: &mut Texts) {
        if let Place::C(place) = self {
            place.remember(&moved.placed, texts);
        }
    }

    fn choose(&self, variables: &[Variable], number: usize, texts: &mut Texts) {
        match self {
            _ if self.needs_device() => {}
            Place::C(place) => place.choose(variables, number, texts),
            Place::Fortran(place) => place.choose(variables, number, texts),
        }
    }

    /// Where the directive puts data, or finds what it updates: on the device, unless a condition says otherwise.
    fn placed(&self) -> Where {
        let (input, index) = self.input();
        let mut clauses = input.bound[index].directive.clauses.iter();
        let is_conditional =
            clauses.any(|clause| matches!(clause.kind, ClauseKind::If(_) | ClauseKind::IfPresent));
        if is_conditional { Where::Device } else { Where::Placed }
    }

    /// Whether the construct uses addresses of the device, which the host cannot.
    fn needs_device(&self) -> bool {
        let (input, index) = self.input();
        let bound = input.bound;
        let around = std::iter::once(index).chain(ancestors(bound, index));
        let mut clauses = around.flat_map(|at| &bound[at].directive.clauses);
        clauses.any(|clause| {
            matches!(clause.kind, ClauseKind::Data(DataClause::Deviceptr, _) | ClauseKind::UseDevice(_))
        })
    }
}

impl Input<'_> {
    /// The variables that a directive moves to the device, or from there.
    fn moved(&self, index: usize, to_device: bool) -> Vec<Variable> {
        let moves = |kind: &ClauseKind| match kind {
            ClauseKind::Data(DataClause::Copy, _) => true,
            ClauseKind::Data(DataClause::Copyin { .. }, _) | ClauseKind::UpdateDevice(_) => to_device,
            ClauseKind::Data(DataClause::Copyout { .. }, _) | ClauseKind::UpdateSelf(_) => !to_device,
            _ => false,
        };
        self.listed(index, moves)
    }

    /// The variables, except scalars, that a directive puts on the device or takes away from there.
    fn placed(&self, index: usize) -> Vec<Variable> {
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
        self.listed(index, places).into_iter().filter(|variable| !variable.is_scalar).collect()
    }

    /// The variables of which a directive says where they are.
    fn named(&self, index: usize) -> Vec<Variable> {
        self.listed(index, |kind| matches!(kind, ClauseKind::Data(..)))
    }

    /// The variables in those clauses of a directive that count.
    fn listed(&self, index: usize, is_wanted: impl Fn(&ClauseKind) -> bool) -> Vec<Variable> {
        let directive = &self.bound[index].directive;
        let counting = effective(directive, self.device_type).0;
        let clauses = counting.into_iter().filter_map(|at| Some(&directive.clauses.get(at)?.kind));
        let items = clauses.filter(|kind| is_wanted(kind)).flat_map(list);
        items.flat_map(|item| of_items(self, directive.span.start, item)).collect()
    }
}
