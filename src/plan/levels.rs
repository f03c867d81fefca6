//! Which loops of a region the gangs divide: OpenACC's implicit gang clauses (3.3, 2.9.2), and what a gang keeps to itself.
//!
//! Invariant: each iteration of a loop that is not `seq` runs once, however many gangs there are.

use std::rc::Rc;

use crate::acc::ast::{DirectiveKind, GangArgument, ListItem, ReductionOp};
use crate::bind::{ancestors, descendants};
use crate::diag;
use crate::host::ir::{BaseType, Derived, StmtId};
use crate::sema::{self, Class, Facts, Header, SymbolId, uses};
use crate::source::Span;

use super::nest::{Construct, Controlled};
use super::sharing::is_thread_scalar;
use super::{Attribute, Input, Maker, Region, Sharing, WorkLoop};

/// What a loop does to variables of which each gang has one.
#[derive(Debug, Default)]
pub(super) struct Carried {
    /// The reductions that give each gang the value which it would compute by itself.
    pub(super) reductions: Vec<Attribute>,
    /// Variables that only one thread of the gang can compute.
    pub(super) alone: Vec<SymbolId>,
    /// Those among all of them that are declared outside of the region: each gang has a copy of the value there.
    copied: Vec<String>,
}

impl Input<'_> {
    /// Whether the number of gangs of region `index` matters: the construct asks for them, or one of its loops divides its
    /// iterations among them.
    pub(super) fn asks_for_gangs(&self, index: usize) -> bool {
        let construct = self.clauses(index);
        let mut loops = self.all_loops_below(index).into_iter().filter(|at| !self.clauses(*at).seq);
        construct.num_gangs
            || self.reduces_over_gangs(index)
            || loops.any(|at| {
                self.is_gang(at)
                    || self.has_no_level(at) && !self.is_in_loop(index, at) && !self.calls_gangs(at)
            })
    }

    /// Whether the construct itself reduces a variable over its gangs: on a combined construct the clause is the loop's.
    fn reduces_over_gangs(&self, index: usize) -> bool {
        let is_combined = self.bound[index].directive.kind == DirectiveKind::ParallelLoop;
        !is_combined && !self.clauses(index).reduction.is_empty()
    }

    /// Whether `at` stands in a loop of region `index` that is not `seq`.
    fn is_in_loop(&self, index: usize, at: usize) -> bool {
        let mut above = ancestors(self.bound, at).take_while(|above| *above != index);
        above.any(|above| self.is_parallel_loop(above))
    }

    fn is_parallel_loop(&self, at: usize) -> bool {
        self.bound[at].directive.kind == DirectiveKind::Loop && !self.clauses(at).seq
    }

    fn is_gang(&self, at: usize) -> bool {
        self.clauses(at).gang
    }

    fn has_no_level(&self, at: usize) -> bool {
        let clauses = self.clauses(at);
        !clauses.gang && !clauses.worker && !clauses.vector
    }

    /// Whether the gangs divide what is in the loop of directive `at`, a loop with a `gang` clause or a procedure that they
    /// all run: then `at` has no implicit clause (3.3, 2.9.2), and all gangs run its iterations.
    pub(super) fn is_redundant_loop(&self, at: usize) -> bool {
        self.holds_gang_loop(at) || self.calls_gangs(at)
    }

    fn holds_gang_loop(&self, at: usize) -> bool {
        let is_gang = |below: usize| self.is_parallel_loop(below) && self.is_gang(below);
        !self.is_gang(at) && descendants(self.bound, at).any(is_gang)
    }

    /// Whether the loop of directive `at` divides calls of a procedure that all gangs must run.
    pub(super) fn divides_gang_routine(&self, at: usize) -> bool {
        let is_loop = matches!(
            self.bound[at].directive.kind,
            DirectiveKind::Loop | DirectiveKind::ParallelLoop | DirectiveKind::KernelsLoop
        );
        is_loop && !self.clauses(at).seq && !self.has_no_level(at) && self.calls_gangs(at)
    }

    /// Whether the loop of directive `at` calls a procedure that all gangs must run.
    pub(super) fn calls_gangs(&self, at: usize) -> bool {
        self.bound[at].stmt().is_some_and(|stmt| self.calls_gang_routine(stmt))
    }

    /// Whether a loop of the region counts in chunks, so that it is one loop for itself.
    pub(super) fn has_chunks(&self, at: usize) -> bool {
        self.clauses(at).gang_arguments.iter().any(|one| matches!(one, GangArgument::Static(_)))
    }

    /// A loop that is not `seq` and that OpenMP cannot divide, in a region that several gangs may run: one of them runs it.
    pub(super) fn must_run_once(&self, at: usize) -> bool {
        let clauses = self.clauses(at);
        (!clauses.seq || clauses.auto) && !self.is_redundant_loop(at)
    }

    /// The first reduction of the region whose results its gangs cannot combine.
    fn uncombined(&self, index: usize, region: StmtId) -> Option<(Span, String)> {
        let loops = self.all_loops_below(index);
        let (in_order, parallel): (Vec<usize>, Vec<usize>) =
            loops.into_iter().partition(|at| self.clauses(*at).seq);
        let redundant = self.beside(region, &parallel);
        let outermost = |at: &usize| !ancestors(self.bound, *at).any(|above| parallel.contains(&above));
        let mut own = parallel.iter().copied().filter(outermost);
        if let Some(found) = own.find_map(|at| self.own_sum(index, at, region)) {
            return Some(found);
        }
        let mut known: Vec<(SymbolId, ReductionOp)> = Vec::new();
        for at in parallel.iter().copied().filter(outermost) {
            for (op, item, symbol) in self.gang_reductions(index, at, region) {
                // What is set there is lost, and what is read is the part of one gang.
                let is_set = redundant.iter().any(|used| used.of(symbol).is_some());
                let clashes = known.iter().any(|(other, with)| *other == symbol && *with != op);
                if is_set || clashes {
                    return Some((item.span, item.base.text.clone()));
                }
                known.push((symbol, op));
            }
        }
        // What a loop within divides, its gangs combine.
        let is_combined = |at: usize, symbol: SymbolId| {
            let mut inside =
                parallel.iter().filter(|inner| ancestors(self.bound, **inner).any(|up| up == at));
            inside.any(|inner| self.gang_reductions(index, *inner, region).iter().any(|one| one.2 == symbol))
        };
        let is_seq = |at: &usize| outermost(at) && !self.must_run_once(*at);
        in_order.into_iter().filter(is_seq).find_map(|at| {
            let own = self.gang_reductions(index, at, region).into_iter();
            let mut own = own.filter(|(_, _, symbol)| !is_combined(at, *symbol));
            own.next().map(|(_, item, _)| (item.span, item.base.text.clone()))
        })
    }

    /// A variable of which each gang has its own, and in which the `auto` loop of directive `at` was found to combine values:
    /// each gang has all of them in it after the loop.
    fn own_sum(&self, index: usize, at: usize, region: StmtId) -> Option<(Span, String)> {
        let (construct, clauses) = (self.clauses(index), self.clauses(at));
        let names = |item: &ListItem| item.base.text.clone();
        let listed: Vec<String> =
            construct.private.iter().chain(&construct.firstprivate).map(|item| names(item)).collect();
        let is_own = |item: &ListItem| {
            let symbol = self.symbol_of(at, item);
            listed.contains(&item.base.text) || symbol.is_some_and(|symbol| self.is_inside(symbol, region))
        };
        // What was found has no place in the source.
        let found = clauses.reduction.iter().filter(|(_, item)| clauses.auto && item.span.is_empty());
        let mut own = found.filter(|(_, item)| is_own(item));
        own.next().map(|(_, item)| (self.bound[at].directive.name_span, names(item)))
    }

    /// The reductions of a loop of region `index` whose variables are not each gang's own.
    fn gang_reductions(
        &self,
        index: usize,
        at: usize,
        region: StmtId,
    ) -> Vec<(ReductionOp, &ListItem, SymbolId)> {
        let construct = self.clauses(index);
        let is_own =
            |item: &ListItem| construct.reduction.iter().any(|(_, other)| other.base.text == item.base.text);
        let reductions = self.clauses(at).reduction.into_iter().filter(|(_, item)| !is_own(item));
        let outside = reductions.filter_map(|(op, item)| {
            let symbol = self.symbol_of(at, item).filter(|symbol| !self.is_inside(*symbol, region))?;
            Some((op, item, symbol))
        });
        outside.collect()
    }

    /// Whether what region `index` leaves depends on how many gangs run it: code that all of them run has an `atomic`, or the
    /// construct reduces a variable.
    fn shows_gangs(&self, index: usize) -> bool {
        let is_loop = |above: usize| {
            self.bound[above].directive.kind == DirectiveKind::Loop && !self.clauses(above).seq
        };
        let is_redundant = |at: &usize| !ancestors(self.bound, *at).any(is_loop);
        let mut atomic = descendants(self.bound, index)
            .filter(|at| self.bound[*at].directive.kind == DirectiveKind::Atomic);
        self.reduces_over_gangs(index) || atomic.any(|at| is_redundant(&at))
    }

    /// The uses in `region` outside of `loops`.
    fn beside(&self, region: StmtId, loops: &[usize]) -> Vec<Rc<sema::Uses>> {
        let loops: Vec<StmtId> = loops.iter().filter_map(|at| self.bound[*at].stmt()).collect();
        let mut found = Vec::new();
        let mut pending = vec![region];
        while let Some(part) = pending.pop() {
            if loops.contains(&part) {
                continue;
            }
            let span = self.unit.stmt(part).span;
            if loops.iter().any(|inner| span.contains(self.unit.stmt(*inner).span)) {
                pending.extend(sema::children(self.unit, part));
            } else {
                found.push(uses(self.unit, self.symbols, part));
            }
        }
        found
    }

    /// What the loop of directive `at`, with these headers, does to variables of which each gang has one: variables of the
    /// region, and those that its clauses reduce.
    pub(super) fn carried(
        &self,
        construct: Construct,
        (at, stmt): (usize, StmtId),
        headers: &[Header],
        launch: &[Attribute],
    ) -> Carried {
        let mut carried = Carried::default();
        let Construct { index, region, .. } = construct;
        let Some(body) = headers.last().map(|header| header.body) else { return carried };
        if region != Region::Parallel {
            return carried;
        }
        let clauses = self.clauses(at);
        let is_one_thread = clauses.gang && !clauses.worker && !clauses.vector && !construct.is_launch;
        let (stated, atomic) = (self.stated(index), self.atomic_targets(index));
        let own = self.own_attributes(&[at]);
        let used = sema::uses_beside(self.unit, self.symbols, body, &Controlled::default());
        for (symbol, how) in used.iter() {
            let known = self.symbols.get(symbol);
            let said = |list: &[Attribute]| list.iter().find(|one| one.item == known.name).cloned();
            let is_header = headers.iter().any(|header| header.var == symbol);
            if !(how.written && how.exposed)
                || how.address_taken
                || is_header
                || !is_thread_scalar(known, how)
                || self.is_inside(symbol, stmt)
                || stated.contains(&known.name)
                || atomic.contains(&symbol)
                || said(&own).is_some()
            {
                continue;
            }
            let reduced = launch
                .iter()
                .find(|one| one.item == known.name && matches!(one.sharing, Sharing::Reduction(_)));
            let found = self.updates_of(body, symbol).map(Sharing::Reduction);
            let fits = |reduced: &&Attribute| found.is_none() || found.as_ref() == Some(&reduced.sharing);
            if let Some(reduced) = reduced.filter(fits) {
                carried.reductions.push(super::sharing::nested(reduced));
            } else if is_one_thread {
                match found {
                    Some(sharing) => carried.reductions.push(Attribute {
                        sharing,
                        item: known.name.clone(),
                        entry: "implicit/reduction-nested",
                    }),
                    None => carried.alone.push(symbol),
                }
                if reduced.is_none() && !self.is_in_region(index, symbol) {
                    carried.copied.push(known.name.clone());
                }
            }
        }
        carried
    }

    /// Gives each gang its copy of the variables of the loop that are declared outside of the region.
    pub(super) fn copy_carried(&self, carried: &Carried, launch: &mut Vec<Attribute>) {
        for name in &carried.copied {
            let known = launch.iter().any(|other| other.item == *name && other.sharing != Sharing::Copy);
            if !known {
                let (sharing, item) = (Sharing::Firstprivate, name.clone());
                launch.push(Attribute { sharing, item, entry: "implicit/scalar-parallel" });
            }
        }
    }

    fn is_in_region(&self, index: usize, symbol: SymbolId) -> bool {
        self.bound[index].stmt().is_some_and(|region| self.is_inside(symbol, region))
    }

    /// The operator by which all that `stmt` does with an arithmetic variable is to combine values into it.
    fn updates_of(&self, stmt: StmtId, symbol: SymbolId) -> Option<ReductionOp> {
        let known = self.symbols.get(symbol);
        let decl = known.decl.map(|decl| self.unit.decl(decl));
        let is_complex = decl.is_none_or(|decl| match &decl.base {
            BaseType::Builtin(words) => !self.unit.is_fortran() && words.to_lowercase().contains("complex"),
            BaseType::Named(_) => decl.derived.iter().any(|part| *part != Derived::Reference),
            _ => false,
        });
        if known.class != Class::Scalar || is_complex {
            return None;
        }
        let facts = Facts::new(self.file, self.unit, self.symbols, &[], false);
        sema::combined(&facts, stmt, symbol)
    }
}

impl Maker<'_> {
    /// Whether the gangs of a region cannot combine what its loops reduce: the region uses the variable in code that every
    /// gang runs, reduces it with two operators, or reduces it where every gang runs all iterations.
    pub(super) fn only_one_gang(&mut self, index: usize, region: StmtId) -> bool {
        let found = self.input.uncombined(index, region);
        if let Some((at, name)) = &found {
            let shows = self.input.clauses(index).num_gangs && self.input.shows_gangs(index);
            let said = diag::one_gang(*at, name, shows);
            self.plan.notes[index].one_gang = Some(said.clone());
            self.diags.push(said);
        }
        found.is_some()
    }

    /// Whether one gang runs all of a combined construct whose loop OpenMP cannot divide.
    pub(super) fn whole_in_one_gang(&mut self, index: usize) -> bool {
        let clauses = self.input.clauses(index);
        if self.input.bound[index].directive.kind != DirectiveKind::ParallelLoop
            || self.input.is_redundant_loop(index)
        {
            return false;
        }
        if self.input.must_run_once(index) {
            return true;
        }
        let Some((_, item)) = clauses.reduction.first() else { return false };
        if clauses.num_gangs {
            self.diags.push(diag::one_gang(item.span, &item.base.text, true));
        }
        true
    }

    /// What the clauses of a loop ask for that runs in order in region `index`; with `over_gangs`, the gangs combine what they
    /// have of its reductions.
    pub(super) fn in_order(
        &mut self,
        index: usize,
        at: usize,
        over_gangs: bool,
        attributes: &mut Vec<Attribute>,
    ) {
        let (Some(region), Some(stmt)) = (self.input.bound[index].stmt(), self.input.bound[at].stmt()) else {
            return;
        };
        self.hoist_private(at, region, attributes);
        let own = self.input.own_attributes(&[at]);
        for reduction in own.iter().filter(|one| matches!(one.sharing, Sharing::Reduction(_))) {
            let is_listed = |other: &Attribute| other.item == reduction.item && other.sharing.is_private();
            if !attributes.iter().any(is_listed) {
                self.input.copy_reduction(index, region, stmt, reduction, attributes);
            }
        }
        if over_gangs {
            self.input.combine_gangs(index, at, &own, attributes);
        }
    }

    /// Says that the gangs divide a `worker` or `vector` loop where that may show: it was not so before OpenACC 3.1.
    pub(super) fn report_implicit_gang(&mut self, index: usize, at: usize, work: &WorkLoop) {
        let clauses = self.input.clauses(at);
        let is_implicit = work.spread.gangs && !clauses.gang && (clauses.worker || clauses.vector);
        if !is_implicit || !self.input.clauses(index).num_gangs {
            return;
        }
        let construct = self.input.clauses(index);
        let is_listed = |name: &String| {
            let reduced = construct.reduction.iter().map(|(_, item)| item);
            let mut lists = construct.private.iter().chain(&construct.firstprivate).chain(reduced);
            // On a combined construct they are the loop's.
            self.input.bound[index].directive.kind == DirectiveKind::Parallel
                && lists.any(|item| item.base.text == *name)
        };
        let used = uses(self.input.unit, self.input.symbols, work.stmt);
        let changed = used.iter().any(|(symbol, how)| {
            let known = self.input.symbols.get(symbol);
            let is_of_gang = self.input.is_in_region(index, symbol) || is_listed(&known.name);
            let is_kept = how.part_written && known.class == Class::Array || how.written && how.exposed;
            is_of_gang && is_kept && !self.input.is_inside(symbol, work.stmt)
        });
        let mut below = descendants(self.input.bound, at);
        if changed || below.any(|below| self.input.bound[below].directive.kind == DirectiveKind::Atomic) {
            self.diags.push(diag::implicit_gang(self.input.bound[at].directive.name_span));
        }
    }
}
