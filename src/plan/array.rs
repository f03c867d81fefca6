//! Array statements of Fortran in `kernels`: those whose elements may be set in any order become a launch each.
//!
//! Invariant: a statement is run through by loops only if it stands alone on its lines; of each other one is said why not.

use std::collections::BTreeMap;

use crate::diag::{self, Diag};
use crate::host::ir::StmtId;
use crate::sema::{self, Elementwise, Refusal, Why};
use crate::source::Span;

use super::{Attribute, Gangs, Input, Item, Launch, Maker, Region, Sharing, Sizes, Spread, WorkLoop};

/// The array statements of a region.
#[derive(Default)]
pub(super) struct Arrays {
    /// Those whose elements run in parallel.
    pub(super) parallel: BTreeMap<StmtId, Elementwise>,
    /// Those that stay, with the reason.
    pub(super) refused: BTreeMap<StmtId, Diag>,
}

impl Input<'_> {
    /// The array statements among the parts of a region.
    pub(super) fn arrays(&self, region: StmtId, parts: &[StmtId]) -> Arrays {
        let mut arrays = Arrays::default();
        let why = self.inseparable(region, parts);
        let parted = |stmt: StmtId| match why {
            Some(why) => Err(Refusal::new(self.unit.stmt(stmt).span, why)),
            None => Ok(()),
        };
        for stmt in parts {
            let read = sema::elementwise(self.file, self.unit, self.symbols, *stmt);
            match read.map(|read| parted(*stmt).and(read)) {
                Some(Ok(elementwise)) => drop(arrays.parallel.insert(*stmt, elementwise)),
                Some(Err(refusal)) => drop(arrays.refused.insert(*stmt, said(refusal))),
                None => {}
            }
        }
        arrays
    }

    /// Whether no other code stands on the statement's lines.
    fn is_alone(&self, stmt: StmtId) -> bool {
        let at = self.unit.stmt(stmt).span;
        let lines = &self.file.lines;
        let last = lines.span(lines.line(at.end.max(at.start + 1) - 1));
        let after = self.file.text(Span { start: at.end, end: last.end.max(at.end) });
        self.begins_line(stmt) && (after.trim().is_empty() || after.trim().starts_with('!'))
    }

    /// Why the region's statements cannot be separated: there is no room for lines before each of them, or there may be code
    /// that is not seen.
    fn inseparable(&self, region: StmtId, parts: &[StmtId]) -> Option<&'static str> {
        let span = self.unit.stmt(region).span;
        let is_inside = |error: &Span| error.start < span.end && span.start < error.end;
        if self.unit.errors.iter().any(is_inside) {
            return Some("other code of the region is not understood");
        }
        if parts.iter().any(|stmt| !self.is_alone(*stmt)) {
            return Some("a statement of the region has no lines of its own");
        }
        let is_branched = self.file.text(span).lines().any(|line| line.starts_with('#'));
        is_branched.then_some("lines of the preprocessor stand in the region")
    }
}

impl Maker<'_> {
    /// A region that is one array statement: one launch with the clauses of the region.
    pub(super) fn kernels_array(&mut self, index: usize, region: StmtId, stmt: StmtId, counting: Vec<usize>) {
        let mut attributes = self.sharing(index, region, &counting, Region::Kernels);
        let nest = self.array_nest(index, stmt);
        self.input.copy_reduced(index, region, nest.as_ref(), &mut attributes);
        let launch = Launch {
            region: Region::Kernels,
            directive: index,
            gangs: Gangs::Many,
            attributes,
            nest,
            data_outside: false,
        };
        self.plan.items[index] = Item::Launch(Box::new(launch));
    }

    /// The loops of an array statement that has been given some.
    pub(super) fn array_nest(&self, index: usize, stmt: StmtId) -> Option<WorkLoop> {
        let array = self.plan.arrays.get(&stmt).filter(|array| array.directive == index)?;
        let elementwise = &array.elementwise;
        let reduction = elementwise.reduction.as_ref().map(|reduction| Attribute {
            sharing: Sharing::Reduction(reduction.how),
            item: self.input.symbols.get(reduction.variable).name.clone(),
            entry: "clause/reduction",
        });
        Some(WorkLoop {
            stmt,
            spread: Spread { gangs: true, lanes: true },
            collapse: elementwise.ranges.len(),
            tile: Vec::new(),
            strips: Vec::new(),
            exchange: None,
            tables: Vec::new(),
            team_sums: Vec::new(),
            elements: None,
            sizes: Sizes::default(),
            attributes: reduction.into_iter().collect(),
            is_plain: true,
            is_heavy: false,
            has_busy_rows: false,
            trips: None,
            trip_constant: None,
        })
    }
}

fn said(refusal: Refusal) -> Diag {
    match refusal.why {
        Why::NotElementwise(reason) => diag::array_not_elementwise(refusal.at, &reason),
        Why::Overlap(name) => diag::array_overlap(refusal.at, &name),
        Why::Alias(one, two) => diag::array_alias(refusal.at, &one, &two),
    }
}
