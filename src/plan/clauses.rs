//! The clauses of a directive that count for the chosen device type, and what they list.
//!
//! Invariant: clauses after a matching `device_type` win over the same clause before it (OpenACC 3.3, 2.4).

use std::mem::discriminant;

use crate::acc::ast::{
    ClauseKind, DataClause, Directive, DirectiveKind, Expr, GangArgument, ListItem, ReductionOp,
};

/// Indices of the clauses that count for `device_type`, and whether others were passed over.
pub fn effective(directive: &Directive, device_type: &str) -> (Vec<usize>, bool) {
    if matches!(directive.kind, DirectiveKind::Set | DirectiveKind::Init | DirectiveKind::Shutdown) {
        // Here `device_type` names what the directive is about.
        return ((0..directive.clauses.len()).collect(), false);
    }
    let named = |index: usize| match directive.clauses.get(index).map(|clause| &clause.kind) {
        Some(ClauseKind::DeviceType(names)) => {
            Match::of(names.iter().map(|name| name.text.as_str()), device_type)
        }
        _ => Match::None,
    };
    let groups: Vec<(usize, Match)> = (0..directive.clauses.len())
        .map(|index| (index, named(index)))
        .filter(|(_, matched)| *matched != Match::None)
        .collect();
    let exact = groups.iter().find(|(_, matched)| *matched == Match::Exact);
    let chosen =
        exact.or_else(|| groups.iter().find(|(_, matched)| *matched == Match::Star)).map(|(at, _)| *at);
    let specific: Vec<&ClauseKind> = directive
        .clauses
        .iter()
        .filter(|clause| chosen.is_some() && clause.device_type == chosen)
        .map(|clause| &clause.kind)
        .collect();
    let overridden =
        |kind: &ClauseKind| specific.iter().any(|other| discriminant(*other) == discriminant(kind));
    let mut counting = Vec::new();
    let mut dropped = false;
    for (index, clause) in directive.clauses.iter().enumerate() {
        match (&clause.kind, clause.device_type) {
            (ClauseKind::DeviceType(_), _) => {}
            (kind, None) if overridden(kind) => {}
            (_, None) => counting.push(index),
            (_, group) if group == chosen => counting.push(index),
            _ => dropped = true,
        }
    }
    (counting, dropped)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Match {
    None,
    Star,
    Exact,
}

impl Match {
    fn of<'a>(mut names: impl Iterator<Item = &'a str> + Clone, wanted: &str) -> Match {
        if names.clone().any(|name| name.eq_ignore_ascii_case(wanted)) {
            Match::Exact
        } else if names.any(|name| name == "*") {
            Match::Star
        } else {
            Match::None
        }
    }
}

/// The list of a clause that has one.
pub fn list(kind: &ClauseKind) -> &[ListItem] {
    match kind {
        ClauseKind::Private(list)
        | ClauseKind::Firstprivate(list)
        | ClauseKind::Reduction(_, list)
        | ClauseKind::Data(_, list)
        | ClauseKind::UseDevice(list)
        | ClauseKind::UpdateSelf(list)
        | ClauseKind::UpdateDevice(list) => list,
        ClauseKind::If(_)
        | ClauseKind::SelfRun(_)
        | ClauseKind::Async(_)
        | ClauseKind::Wait(_)
        | ClauseKind::NumGangs(_)
        | ClauseKind::NumWorkers(_)
        | ClauseKind::VectorLength(_)
        | ClauseKind::DeviceType(_)
        | ClauseKind::Default { .. }
        | ClauseKind::Finalize
        | ClauseKind::IfPresent
        | ClauseKind::Gang(_)
        | ClauseKind::Worker(_)
        | ClauseKind::Vector(_)
        | ClauseKind::Seq
        | ClauseKind::Independent
        | ClauseKind::Auto
        | ClauseKind::Collapse { .. }
        | ClauseKind::Tile(_)
        | ClauseKind::AtomicRead
        | ClauseKind::AtomicWrite
        | ClauseKind::AtomicUpdate
        | ClauseKind::AtomicCapture
        | ClauseKind::Bind(_)
        | ClauseKind::Nohost
        | ClauseKind::DefaultAsync(_)
        | ClauseKind::DeviceNum(_) => &[],
    }
}

/// The clauses that count, sorted by what a loop or a compute construct wants to know.
#[derive(Debug, Default)]
pub struct LoopClauses<'a> {
    /// `seq`
    pub seq: bool,
    /// `auto`
    pub auto: bool,
    /// `independent`
    pub independent: bool,
    /// `gang`
    pub gang: bool,
    /// `worker`
    pub worker: bool,
    /// `vector`
    pub vector: bool,
    /// `collapse(n)`, and `force:`
    pub collapse: Option<(&'a Expr, bool)>,
    /// The sizes of `tile`, innermost loop first
    pub tile: Option<&'a [Expr]>,
    /// What `gang` says in parentheses
    pub gang_arguments: Vec<&'a GangArgument>,
    /// How many workers and lanes
    pub lanes: Vec<&'a Expr>,
    /// The variables of `private`
    pub private: Vec<&'a ListItem>,
    /// The variables of `firstprivate`
    pub firstprivate: Vec<&'a ListItem>,
    /// The variables of `reduction`
    pub reduction: Vec<(ReductionOp, &'a ListItem)>,
    /// The items of data clauses
    pub data: Vec<(DataClause, &'a ListItem)>,
    /// `num_gangs` is there
    pub num_gangs: bool,
}

impl<'a> LoopClauses<'a> {
    /// Sorts the clauses `counting` of `directive`.
    pub fn new(directive: &'a Directive, counting: &[usize]) -> LoopClauses<'a> {
        let mut sorted = LoopClauses::default();
        for clause in counting.iter().filter_map(|index| directive.clauses.get(*index)) {
            match &clause.kind {
                ClauseKind::Seq => sorted.seq = true,
                ClauseKind::Auto => sorted.auto = true,
                ClauseKind::Independent => sorted.independent = true,
                ClauseKind::Gang(arguments) => {
                    sorted.gang = true;
                    sorted.gang_arguments.extend(arguments);
                }
                ClauseKind::Worker(size) => {
                    sorted.worker = true;
                    sorted.lanes.extend(size);
                }
                ClauseKind::Vector(size) => {
                    sorted.vector = true;
                    sorted.lanes.extend(size);
                }
                ClauseKind::Collapse { force, count } => sorted.collapse = Some((count, *force)),
                ClauseKind::Tile(sizes) => sorted.tile = Some(sizes),
                ClauseKind::Private(list) => sorted.private.extend(list),
                ClauseKind::Firstprivate(list) => sorted.firstprivate.extend(list),
                ClauseKind::Reduction(op, list) => {
                    sorted.reduction.extend(list.iter().map(|item| (*op, item)))
                }
                ClauseKind::Data(data, list) => sorted.data.extend(list.iter().map(|item| (*data, item))),
                ClauseKind::NumGangs(_) => sorted.num_gangs = true,
                ClauseKind::If(_)
                | ClauseKind::SelfRun(_)
                | ClauseKind::Async(_)
                | ClauseKind::Wait(_)
                | ClauseKind::NumWorkers(_)
                | ClauseKind::VectorLength(_)
                | ClauseKind::DeviceType(_)
                | ClauseKind::Default { .. }
                | ClauseKind::UseDevice(_)
                | ClauseKind::Finalize
                | ClauseKind::IfPresent
                | ClauseKind::AtomicRead
                | ClauseKind::AtomicWrite
                | ClauseKind::AtomicUpdate
                | ClauseKind::AtomicCapture
                | ClauseKind::UpdateSelf(_)
                | ClauseKind::UpdateDevice(_)
                | ClauseKind::Bind(_)
                | ClauseKind::Nohost
                | ClauseKind::DefaultAsync(_)
                | ClauseKind::DeviceNum(_) => {}
            }
        }
        sorted
    }
}
