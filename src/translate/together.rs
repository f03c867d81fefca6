//! Places of hidden branches that one view may reach together, as what stands there has nothing to do with one another.
//!
//! Invariant: such a view is a build: its branches stand in different conditions, which ask for different names, no two of them
//! in one function; and what those at file scope declare has different names.

use std::collections::{BTreeMap, BTreeSet};

use crate::host::ir::Unit;
use crate::scan::{Fork, Scan, View, forks};
use crate::source::{SourceFile, Span};

/// The branches that the first view of a file hides.
#[derive(Debug, Default)]
pub struct Hidden {
    forks: Vec<Fork>,
    /// The branches, by place.
    branches: Vec<Branch>,
}

/// A branch that the first view hides.
#[derive(Clone, Copy, Debug)]
struct Branch {
    span: Span,
    /// The condition that it belongs to.
    own: usize,
    /// Where the function, or what else has braces, begins that it stands in.
    around: Option<u32>,
}

impl Hidden {
    /// Those of a file, by its first view. In Fortran, each has a view of its own.
    pub fn of(file: &SourceFile, scan: &Scan) -> Hidden {
        let forks = forks(file);
        let of = |branch: &Span| {
            let before = forks.partition_point(|fork| fork.whole.start < branch.start);
            let own = (0..before).rev().find(|at| forks[*at].whole.end >= branch.end)?;
            Some(Branch { span: *branch, own, around: scan.braces_around(branch.start) })
        };
        let hidden = scan.hidden.iter().filter(|_| !file.language.is_fortran());
        let branches = hidden.filter_map(of).collect();
        Hidden { forks, branches }
    }

    /// The view that reaches places.
    pub fn view(&self, file: &SourceFile, places: &[u32]) -> View {
        View::reaching_all(file, &self.forks, places)
    }

    /// The first of some places, which are sorted, and all others that a view may reach with it.
    pub fn together(&self, places: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut places = places.into_iter();
        let mut chosen: Vec<u32> = places.next().into_iter().collect();
        let Some((mut names, mut end)) = chosen.first().and_then(|first| self.asked(*first)) else {
            return chosen;
        };
        let around = |place: u32| self.branch(place).and_then(|branch| branch.around);
        let mut last = chosen.first().and_then(|first| around(*first));
        for place in places {
            let Some((more, behind)) = self.asked(place).filter(|_| place >= end) else { continue };
            let own = around(place);
            let is_in_same = own.is_some() && own == last;
            if !is_in_same && names.is_disjoint(&more) {
                names.extend(more);
                chosen.push(place);
                end = behind;
                last = own;
            }
        }
        chosen
    }

    /// The names that decide whether a place is read where the first view hides it, and where the condition ends.
    fn asked(&self, place: u32) -> Option<(BTreeSet<&str>, u32)> {
        let own = self.branch(place)?.own;
        let inner = self.forks[own..].iter().take_while(|fork| fork.whole.start <= place);
        let around = inner.filter(|fork| fork.branch_at(place).is_some());
        Some((around.flat_map(Fork::names).collect(), self.forks[own].whole.end))
    }

    fn branch(&self, place: u32) -> Option<Branch> {
        let next = self.branches.partition_point(|branch| branch.span.end <= place);
        self.branches.get(next).filter(|branch| branch.span.start <= place).copied()
    }

    /// Whether two of the branches that a view shows declare or define the same name.
    pub fn clash(&self, scan: &Scan, unit: &Unit) -> bool {
        let functions = unit.functions.iter().map(|one| (one.name.as_str(), one.name_span.start));
        let globals =
            unit.globals.iter().map(|id| unit.decl(*id)).map(|one| (one.name.as_str(), one.span.start));
        let macros = scan.defines.iter().map(|one| (one.name.as_str(), one.span.start));
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        functions.chain(globals).chain(macros).any(|(name, place)| {
            let branch = self.branch(place);
            branch.is_some_and(|branch| *known.entry(name).or_insert(branch.own) != branch.own)
        })
    }
}
