//! Places of hidden branches that one view may reach together, as what stands there has nothing to do with one another.
//!
//! Invariant: such a view is a build: its branches stand in different conditions, which ask for different names, no two of them
//! in one function; and what those at file scope, or in one scoping unit of Fortran, declare has different names. All conditions
//! of these functions count, so that each is as it is if its branch alone is shown.

use std::collections::{BTreeMap, BTreeSet};

use crate::host::ir::{Scope, ScopeKind, Unit};
use crate::scan::{Defined, Fork, Scan, View, forks};
use crate::source::{SourceFile, Span};

/// The branches that the first view of a file hides.
#[derive(Debug, Default)]
pub struct Hidden {
    forks: Vec<Fork>,
    /// The branches, by place.
    branches: Vec<Branch>,
    /// The names that the conditions of functions ask for, by where these begin.
    functions: BTreeMap<u32, BTreeSet<String>>,
    /// Whether it is known which functions the branches stand in.
    is_placed: bool,
    /// What every view of the file begins with.
    before: Defined,
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
    /// Those of a file, by its first view. In Fortran, `place` says which procedures they stand in.
    pub fn of(file: &SourceFile, scan: &Scan) -> Hidden {
        let forks = forks(file);
        let of = |branch: &Span| {
            let before = forks.partition_point(|fork| fork.whole.start < branch.start);
            let own = (0..before).rev().find(|at| forks[*at].whole.end >= branch.end)?;
            Some(Branch { span: *branch, own, around: scan.braces_around(branch.start) })
        };
        let branches = scan.hidden.iter().filter_map(of).collect();
        let (is_placed, before) = (!file.language.is_fortran(), Defined::before(file));
        let mut hidden = Hidden { branches, is_placed, before, ..Hidden::default() };
        if hidden.is_placed {
            hidden.note(&forks, |place| scan.braces_around(place));
        }
        Hidden { forks, ..hidden }
    }

    /// The names that a condition asks for, and that a view may define.
    fn names<'f>(&self, fork: &'f Fork) -> impl Iterator<Item = &'f str> {
        fork.names().filter(|name| !self.before.contains(name) && !self.before.is_decided(name))
    }

    /// Notes what the conditions of functions ask for.
    fn note(&mut self, forks: &[Fork], around: impl Fn(u32) -> Option<u32>) {
        for fork in forks {
            if let Some(start) = around(fork.whole.start) {
                let names: Vec<String> = self.names(fork).map(str::to_owned).collect();
                self.functions.entry(start).or_default().extend(names);
            }
        }
    }

    /// Notes the procedures of Fortran that branches stand in, by the code of the first view.
    pub fn place(&mut self, unit: &Unit) {
        let is_module = |scope: &Scope| matches!(scope.kind, ScopeKind::Module | ScopeKind::Submodule);
        let around = |place: u32| {
            let around = std::iter::successors(unit.scope_at(place), |at| unit.scope(*at).parent);
            let around = around.map(|id| unit.scope(id)).take_while(|scope| !is_module(scope));
            around.last().map(|scope| scope.span.start)
        };
        self.is_placed = true;
        for branch in &mut self.branches {
            branch.around = around(branch.span.start);
        }
        let forks = std::mem::take(&mut self.forks);
        self.note(&forks, around);
        self.forks = forks;
    }

    /// The view that reaches places.
    pub fn view(&self, file: &SourceFile, places: &[u32]) -> View {
        View::reaching_all(file, &self.forks, places)
    }

    /// The first of some places, which are sorted, and all others that a view may reach with it.
    pub fn together(&self, places: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut places = places.into_iter();
        let mut chosen: Vec<u32> = places.next().into_iter().collect();
        let first = chosen.first().filter(|_| self.is_placed);
        let Some((mut names, mut end)) = first.and_then(|first| self.decided_by(*first)) else {
            return chosen;
        };
        let around = |place: u32| self.branch(place).and_then(|branch| branch.around);
        let mut last = chosen.first().and_then(|first| around(*first));
        for place in places {
            let own = around(place);
            if place < end || own.is_some() && own == last {
                continue;
            }
            let Some((more, after)) = self.decided_by(place) else { continue };
            if names.is_disjoint(&more) {
                names.extend(more);
                chosen.push(place);
                end = after;
                last = own;
            }
        }
        chosen
    }

    /// The names that decide whether a place is read where the first view hides it, or how its function is read, and where the
    /// condition ends.
    fn decided_by(&self, place: u32) -> Option<(BTreeSet<&str>, u32)> {
        let branch = self.branch(place)?;
        let end = self.forks[branch.own].whole.end;
        let inside = self.forks[branch.own..].iter().take_while(|fork| fork.whole.start < end);
        let around = branch.around.and_then(|start| self.functions.get(&start));
        let around = around.into_iter().flatten().map(String::as_str);
        Some((inside.flat_map(|fork| self.names(fork)).chain(around).collect(), end))
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
        let outer = functions.chain(globals).chain(macros).map(|one| (None, one));
        let inner = unit.scopes.iter().enumerate().flat_map(|(scope, one)| {
            let decls = one.decls.iter().map(|id| unit.decl(*id));
            decls.map(move |one| (Some(scope), (one.name.as_str(), one.name_span.start)))
        });
        let mut known: BTreeMap<(Option<usize>, &str), usize> = BTreeMap::new();
        outer.chain(inner).any(|(scope, (name, place))| {
            let branch = self.branch(place);
            branch.is_some_and(|branch| *known.entry((scope, name)).or_insert(branch.own) != branch.own)
        })
    }
}

#[cfg(test)]
mod tests;
