//! OpenMP that the source has already for the code of an OpenACC directive: the two are never both to be in force.
//!
//! Invariant: two directives are counterparts only if they stand before the same code, or in branches of one condition that
//! asks for OpenACC or OpenMP.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::DirectiveKind;
use crate::host::ir::Unit;
use crate::scan::{Existing, OpenMp};
use crate::source::Span;

use super::{Bound, Target, descendants};

/// The OpenMP that stands for directives of OpenACC.
#[derive(Debug, Default)]
pub struct Counterparts {
    /// By directive of OpenACC, the numbers of those of OpenMP: its counterparts, and what goes with them.
    pub of: BTreeMap<usize, BTreeSet<usize>>,
    /// Directives of OpenACC that a condition parts from OpenMP in another branch: the number of the condition.
    pub separated: BTreeMap<usize, usize>,
    /// Directives of OpenACC that no compiler for OpenMP reads where they stand.
    pub unread: BTreeSet<usize>,
}

/// What a directive of OpenMP is, as far as it has a counterpart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It distributes a loop.
    Loop,
    /// It runs a block on the device, or in several teams.
    Target,
    /// It runs a block in several threads.
    Parallel,
    /// `target data`
    Data,
    /// `target enter data`
    Enter,
    /// `target exit data`
    Exit,
    /// `target update`
    Update,
    /// `atomic`
    Atomic,
    /// `taskwait`, or an empty task
    Wait,
    /// `declare target`
    Declare,
    /// It has none.
    Other,
}

fn kind(one: &Existing) -> Kind {
    let name: Vec<&str> = one.name.iter().map(String::as_str).collect();
    match name.as_slice() {
        ["end", ..] => Kind::Other,
        ["target", "data", ..] => Kind::Data,
        ["target", "enter", "data", ..] => Kind::Enter,
        ["target", "exit", "data", ..] => Kind::Exit,
        ["target", "update", ..] => Kind::Update,
        ["atomic", ..] => Kind::Atomic,
        ["taskwait" | "task", ..] => Kind::Wait,
        ["declare", "target", ..] | ["begin", "declare", "target", ..] => Kind::Declare,
        ["declare" | "begin", ..] => Kind::Other,
        all if all
            .iter()
            .any(|word| ["for", "do", "simd", "loop", "distribute", "taskloop"].contains(word)) =>
        {
            Kind::Loop
        }
        ["target" | "teams", ..] => Kind::Target,
        ["parallel", ..] => Kind::Parallel,
        _ => Kind::Other,
    }
}

/// Finds the counterparts of directives.
pub fn counterparts(unit: &Unit, bound: &[Bound], found: &OpenMp) -> Counterparts {
    let ends = ends(&found.directives);
    let mut counterparts = Counterparts::default();
    for (at, one) in bound.iter().enumerate() {
        if one.text.is_none() || matches!(one.directive.kind, DirectiveKind::End(_)) {
            continue;
        }
        let place = one.directive.span.start;
        if found.conditions.iter().any(|condition| is_unread(condition, place)) {
            counterparts.unread.insert(at);
        }
        if let Some(condition) = parting(found, place) {
            counterparts.separated.insert(at, condition);
        }
        let own = found.directives.iter().enumerate().filter(|(number, other)| {
            are_counterparts(bound, at, found, other, ends.get(number).map(|end| &found.directives[*end]))
        });
        let mut own: BTreeSet<usize> = own.map(|(number, _)| number).collect();
        if own.is_empty() {
            continue;
        }
        if let Some(stmt) = one.stmt().filter(|_| one.directive.kind.is_compute()) {
            let extent = unit.stmt(stmt).span;
            let inside = found.directives.iter().enumerate().filter(|(_, other)| extent.contains(other.span));
            own.extend(inside.map(|(number, _)| number));
        }
        let more: Vec<usize> = own.iter().filter_map(|number| ends.get(number).copied()).collect();
        own.extend(more);
        counterparts.of.insert(at, own);
    }
    counterparts
}

/// Whether a place stands in a branch that compilers for OpenMP alone do not read, of a condition that asks for it.
fn is_unread(condition: &crate::scan::Fork, place: u32) -> bool {
    let branch = condition.branch_at(place);
    branch.is_some() && condition.is_about_directives() && condition.branch_of_openmp() != branch
}

/// The condition that parts a place from OpenMP in another of its branches, and asks for OpenACC or OpenMP.
fn parting(found: &OpenMp, place: u32) -> Option<usize> {
    found.conditions.iter().position(|condition| {
        let Some(branch) = condition.branch_at(place).filter(|_| condition.is_about_directives()) else {
            return false;
        };
        let is_elsewhere = |one: &Existing| {
            condition.branch_at(one.span.start).is_some_and(|other| other != branch)
                && kind(one) != Kind::Other
        };
        found.directives.iter().any(is_elsewhere)
    })
}

/// Whether an OpenMP directive, which has this `end`, is about the same code as directive `at`.
fn are_counterparts(
    bound: &[Bound],
    at: usize,
    found: &OpenMp,
    other: &Existing,
    end: Option<&Existing>,
) -> bool {
    let one = &bound[at];
    let next = found.next_code.get(&one.directive.span.start);
    if next != Some(&other.next_code) || are_exclusive(found, one.directive.span, other.span) {
        return false;
    }
    let kind = kind(other);
    match one.directive.kind {
        DirectiveKind::ParallelLoop
        | DirectiveKind::SerialLoop
        | DirectiveKind::KernelsLoop
        | DirectiveKind::Loop => matches!(kind, Kind::Loop | Kind::Target),
        DirectiveKind::Parallel | DirectiveKind::Serial | DirectiveKind::Kernels => match kind {
            Kind::Loop | Kind::Target => true,
            Kind::Parallel => ends_with(bound, at, found, end),
            _ => false,
        },
        DirectiveKind::Data | DirectiveKind::HostData => kind == Kind::Data,
        DirectiveKind::EnterData => kind == Kind::Enter,
        DirectiveKind::ExitData => kind == Kind::Exit,
        DirectiveKind::Update => kind == Kind::Update,
        DirectiveKind::Atomic => kind == Kind::Atomic,
        DirectiveKind::Wait => kind == Kind::Wait,
        DirectiveKind::Routine | DirectiveKind::Declare => kind == Kind::Declare,
        DirectiveKind::Cache
        | DirectiveKind::Init
        | DirectiveKind::Shutdown
        | DirectiveKind::Set
        | DirectiveKind::End(_) => false,
    }
}

/// Whether a region of threads ends where the construct does: one that goes on is around it.
fn ends_with(bound: &[Bound], at: usize, found: &OpenMp, end: Option<&Existing>) -> bool {
    let Some(partner) = bound[at].partner else { return matches!(bound[at].target, Target::Stmt(_)) };
    let own = found.next_code.get(&bound[partner].directive.span.start);
    end.is_some_and(|end| Some(&end.next_code) == own)
}

/// Whether a condition about other things than OpenACC and OpenMP shows only one of two places.
fn are_exclusive(found: &OpenMp, one: Span, other: Span) -> bool {
    let mut others = found.conditions.iter().filter(|condition| !condition.is_about_directives());
    others.any(|condition| condition.parts(one.start, other.start))
}

/// For each directive of OpenMP that has an `end`, the number of that.
fn ends(all: &[Existing]) -> BTreeMap<usize, usize> {
    let mut open: Vec<usize> = Vec::new();
    let mut found = BTreeMap::new();
    for (number, one) in all.iter().enumerate() {
        match one.name.split_first() {
            Some((end, name)) if end == "end" => {
                // `end declare target` ends `begin declare target`, too.
                let is_begun = |begin: &usize| {
                    let begun = &all[*begin].name;
                    begun.as_slice() == name
                        || begun.split_first().is_some_and(|(first, rest)| first == "begin" && rest == name)
                        || begun.first() == name.first() && name.first().is_some_and(|word| word == "atomic")
                };
                if let Some(place) = open.iter().rposition(is_begun) {
                    found.insert(open[place], number);
                    open.truncate(place);
                }
            }
            _ => open.push(number),
        }
    }
    found
}

/// The directives that go with `at`: those in its construct if it is a compute construct, and their `end`s.
pub fn with_all_in_it(bound: &[Bound], at: usize) -> BTreeSet<usize> {
    let mut all = BTreeSet::from([at]);
    if bound[at].directive.kind.is_compute() || bound[at].directive.kind == DirectiveKind::Loop {
        all.extend(descendants(bound, at));
    }
    let partners: Vec<usize> = all.iter().filter_map(|one| bound[*one].partner).collect();
    all.extend(partners);
    all
}

/// The directives without some of them; what stood in those stands in what is around them.
pub fn without(bound: Vec<Bound>, gone: &BTreeSet<usize>) -> Vec<Bound> {
    let mut places = vec![None; bound.len()];
    let kept = (0..bound.len()).filter(|at| !gone.contains(at));
    kept.enumerate().for_each(|(place, at)| places[at] = Some(place));
    let parents: Vec<Option<usize>> = bound.iter().map(|one| one.parent).collect();
    let around = |at: usize| {
        let mut all = std::iter::successors(parents[at], |above| parents[*above]);
        all.find_map(|above| places[above])
    };
    let mut out = Vec::with_capacity(bound.len());
    for (at, mut one) in bound.into_iter().enumerate() {
        if places[at].is_some() {
            one.parent = around(at);
            one.partner = one.partner.and_then(|partner| places[partner]);
            out.push(one);
        }
    }
    out
}
