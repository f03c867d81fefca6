//! What is reported for the loops that OpenACC leaves to the compiler.
//!
//! Invariant: each such loop is reported once, in the first view that reaches it, unless the construct around it is untranslated.

use std::collections::BTreeMap;

use crate::acc::ast::{DirectiveKind, ReductionOp};
use crate::bind::Bound;
use crate::diag::Diag;
use crate::host::ir::Unit;
use crate::plan::{self, Closed, Item, Plan, Settings, Spread, WorkLoop};
use crate::report::{LoopFeedback, LoopVerdict};
use crate::scan::Scan;
use crate::sema::{self, Facts, Finding, SymbolId, Symbols, Verdict};
use crate::source::Span;

use super::{Options, Source};

/// What the views seen so far have brought.
#[derive(Default)]
pub struct Found {
    feedback: BTreeMap<Span, LoopFeedback>,
    /// For loops in constructs, where the outermost one begins.
    constructs: BTreeMap<Span, u32>,
    /// What there is to say.
    pub diags: Vec<Diag>,
    /// Loops in order that count.
    pub closed: Vec<Closed>,
}

impl Found {
    /// The loops, by place, except those in constructs that are untranslated, which `is_left` knows by where they begin.
    pub fn loops(&mut self, is_left: impl Fn(u32) -> bool) -> Vec<LoopFeedback> {
        let stays = |span: &Span| self.constructs.get(span).is_some_and(|start| is_left(*start));
        let feedback = std::mem::take(&mut self.feedback);
        feedback.into_iter().filter(|(span, _)| !stays(span)).map(|(_, one)| one).collect()
    }

    /// Takes over what another part of the file has brought.
    pub fn join(&mut self, mut part: Found) {
        self.feedback.append(&mut part.feedback);
        self.constructs.append(&mut part.constructs);
        self.diags.append(&mut part.diags);
        self.closed.append(&mut part.closed);
    }

    fn add(&mut self, facts: &Facts, verdict: &Verdict) {
        let span = facts.unit.stmt(verdict.stmt).span;
        let name = |symbol: &SymbolId| facts.symbols.get(*symbol).name.clone();
        let reduction = |(how, symbol): &(ReductionOp, SymbolId)| {
            (how.spelled(facts.unit.is_fortran()).to_owned(), name(symbol))
        };
        let verdict = match &verdict.finding {
            Finding::Parallel(needs) => LoopVerdict::Parallel {
                private: needs.private.iter().chain(&needs.unread).map(name).collect(),
                reductions: needs.reductions.iter().map(reduction).collect(),
                asserted: needs.is_asserted,
                computed: Vec::new(),
                levels: "",
            },
            Finding::Sequential(obstacle) => LoopVerdict::Sequential {
                reason: plan::reason(facts, obstacle),
                by_dependence: matches!(obstacle.kind, sema::Kind::Meets { .. }),
            },
        };
        self.feedback.entry(span).or_insert(LoopFeedback { span, verdict });
    }

    /// Notes who distributes the iterations of the loops that the plan spreads.
    pub fn spread(&mut self, unit: &Unit, bound: &[Bound], plan: &Plan) {
        let mut note = |work: &WorkLoop| {
            for stmt in sema::nested_loops(unit, work.stmt).take(work.collapse) {
                if let Some(LoopFeedback { verdict: LoopVerdict::Parallel { levels, .. }, .. }) =
                    self.feedback.get_mut(&unit.stmt(stmt).span)
                {
                    *levels = words(work.spread);
                }
            }
        };
        for index in 0..bound.len() {
            match &plan.items[index] {
                Item::Launch(launch) => launch.nest.iter().for_each(&mut note),
                Item::Loop(work) => note(work),
                _ => {}
            }
        }
    }
}

impl Source {
    /// The directives once it is settled which loops are parallel.
    pub(super) fn settled(
        &self,
        (unit, scan, symbols): (&Unit, &Scan, &Symbols),
        bound: Vec<Bound>,
        settings: &Settings,
        options: &Options,
        found: &mut Found,
    ) -> (Vec<Bound>, plan::Reached) {
        let bound = plan::with_predetermined(&self.file, unit, symbols, bound, settings);
        if !plan::leaves_open(unit, &bound, settings) {
            return (bound, plan::Reached::new());
        }
        let facts = Facts::new(&self.file, unit, symbols, &self.macros(scan), options.assume_no_alias)
            .within(options.budget);
        let settled = plan::settle(&facts, bound, settings);
        let extent = |one: &Bound| one.stmt().map(|stmt| unit.stmt(stmt).span);
        for verdict in &settled.verdicts {
            found.add(&facts, verdict);
            let span = unit.stmt(verdict.stmt).span;
            let holds = |one: &&Bound| {
                let kind = one.directive.kind;
                let is_part = one.text.is_some() && (kind.is_compute() || kind == DirectiveKind::Loop);
                is_part && extent(one).is_some_and(|extent| extent.contains(span))
            };
            let construct = settled.bound.iter().find(holds).map(|one| one.directive.span.start);
            found.constructs.extend(construct.map(|start| (span, start)));
        }
        found.diags.extend(settled.diags);
        found.closed.extend(settled.closed);
        (settled.bound, settled.reached)
    }
}

fn words(spread: Spread) -> &'static str {
    match (spread.gangs, spread.lanes) {
        (true, true) => "gang vector",
        (true, false) => "gang",
        (false, true) => "vector",
        (false, false) => "",
    }
}
