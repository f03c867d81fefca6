//! `kernels`: the loops that the program calls independent each become a launch; everything else runs on one thread.
//!
//! Invariant: the statements of the region keep their order, and scalars that are still wanted come back.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::{ClauseKind, DataClause, DirectiveKind};
use crate::diag::{self, Diag};
use crate::host::ir::{StmtId, StmtKind};
use crate::sema::{self, Class, SymbolId, SymbolKind, Symbols, uses};

use super::array::Arrays;
use super::parts::{Parts, statements};
use super::sharing::Stated;
use super::{ArrayStatement, Attribute, Ends, Gangs, Input, Item, Launch, Maker, Region, Sharing};

/// What the launches of a split region have in common.
struct Split {
    /// The directive of the region, and its statement.
    index: usize,
    stmt: StmtId,
    /// What a launch gets of the variables that it needs.
    listed: Vec<Attribute>,
    /// The variables that the host counts with.
    counters: BTreeSet<SymbolId>,
    /// The data are on the device around the launches.
    data_outside: bool,
}

impl Split {
    /// What a launch gets that only reads some variables.
    fn read(&self, symbols: &Symbols, read: &[SymbolId], place: u32) -> Vec<Attribute> {
        let is_read = |one: &&Attribute| {
            let is_read = |symbol| read.contains(&symbol) && !self.counters.contains(&symbol);
            symbols.lookup(&one.item, place).is_some_and(is_read)
        };
        self.listed.iter().filter(is_read).cloned().collect()
    }
}

impl Input<'_> {
    /// What there is to say of a part that is not a loop and that one thread of the device runs.
    fn reported_of(&self, part: StmtId) -> Option<Diag> {
        let whole = || self.whole_array_function(part);
        whole().or_else(|| self.printing_part(part)).or_else(|| self.unseen_call(part))
    }

    /// Whether a part of a region needs what is listed.
    fn needs(&self, split: &Split, part: StmtId, attribute: &Attribute) -> bool {
        let Some(symbol) = self.symbols.lookup(&attribute.item, self.unit.stmt(part).span.start) else {
            return false;
        };
        // By a name of `associate`, a part may use what it does not name.
        if self.unit.is_fortran() && self.is_reached(split.index, symbol) {
            return true;
        }
        // A loop whose directive gives each thread its own variable needs no other.
        let is_counter = || attribute.entry == "implicit/scalar-kernels" && self.is_own_counter(part, symbol);
        let is_for_host = |how: &sema::Use| split.counters.contains(&symbol) && !how.written;
        let needs = |how: &sema::Use| !(is_for_host(how) || how.written && is_counter());
        uses(self.unit, self.symbols, part).of(symbol).is_some_and(needs)
    }

    /// Says of a statement of Fortran that it has a function about all elements of an array, if it has one.
    fn whole_array_function(&self, part: StmtId) -> Option<Diag> {
        let span = self.unit.stmt(part).span;
        let is_assignment = matches!(self.unit.stmt(part).kind, StmtKind::Expr(_));
        let used = uses(self.unit, self.symbols, part);
        let mut called = used.calls.keys().filter(|_| self.unit.is_fortran() && is_assignment);
        let name = called.find(|name| sema::is_transformational(name))?;
        Some(diag::array_not_elementwise(span, &format!("`{name}` makes one value of all elements")))
    }

    /// Whether the clauses of a region are about data that are there already, and about nothing that happens once.
    fn brings_nothing(&self, index: usize, counting: &[usize]) -> bool {
        let clauses = counting.iter().filter_map(|at| self.bound[index].directive.clauses.get(*at));
        clauses.into_iter().all(|clause| match &clause.kind {
            ClauseKind::Data(data, _) => *data == DataClause::Present,
            ClauseKind::Wait(_) | ClauseKind::If(_) | ClauseKind::SelfRun(_) | ClauseKind::Async(_) => false,
            _ => true,
        })
    }

    /// Whether a scalar must keep its place on the device from one launch to the next: more than one uses it, or one that is
    /// launched again and again.
    pub(super) fn is_shared(&self, region: StmtId, parts: &Parts, attribute: &Attribute) -> bool {
        let uses = |part: &&StmtId| {
            let symbol = self.symbols.lookup(&attribute.item, self.unit.stmt(**part).span.start);
            symbol.is_some_and(|symbol| uses(self.unit, self.symbols, **part).of(symbol).is_some())
        };
        let direct = |part: &StmtId| match &self.unit.stmt(region).kind {
            StmtKind::Block(list) => list.contains(part),
            _ => *part == region,
        };
        let all: Vec<StmtId> = parts.users().collect();
        let used: Vec<&StmtId> = all.iter().filter(uses).collect();
        used.len() > 1 || !used.into_iter().all(direct)
    }

    /// The scalars that the region's own clauses put on the device: each launch uses the device's copy.
    fn stated_scalars(&self, index: usize) -> Vec<Attribute> {
        let data = self.clauses(index).data.into_iter();
        let scalars = data.filter(|(_, item)| {
            let class = self.symbol_of(index, item).map(|symbol| self.symbols.get(symbol).class);
            item.parts.is_empty() && class == Some(Class::Scalar)
        });
        let entry = "implicit/scalar-visible";
        scalars
            .map(|(_, item)| Attribute { sharing: Sharing::Copy, item: item.text.clone(), entry })
            .collect()
    }

    /// Scalars that one launch of the region leaves for another.
    fn region_scalars(&self, index: usize, stmt: StmtId, parts: &[StmtId], implied: &mut Vec<Attribute>) {
        let stated = self.stated(index);
        let used = uses(self.unit, self.symbols, stmt);
        for (symbol, how) in used.iter() {
            let known = self.symbols.get(symbol);
            if how.written
                && !self.is_temporary(parts, symbol)
                && !self.is_own_counter(stmt, symbol)
                && (known.class == Class::Scalar || self.may_be_scalar(symbol, how))
                && self.is_unstated(symbol, stmt, &stated, implied)
            {
                let item = known.name.clone();
                implied.push(Attribute { sharing: Sharing::Copy, item, entry: "implicit/scalar-kernels" });
            }
        }
    }

    /// Whether a variable stands outside of the region `stmt`, and nothing says yet what becomes of it.
    fn is_unstated(&self, symbol: SymbolId, stmt: StmtId, stated: &Stated, implied: &[Attribute]) -> bool {
        let known = self.symbols.get(symbol);
        known.kind != SymbolKind::Member
            && !self.is_inside(symbol, stmt)
            && !stated.contains(&known.name)
            && !implied.iter().any(|other| other.item == known.name)
    }

    /// Whether each part that names `symbol` gives it a value before it reads it.
    pub(super) fn is_temporary(&self, parts: &[StmtId], symbol: SymbolId) -> bool {
        let uses = |part: &StmtId| uses(self.unit, self.symbols, *part).of(symbol).copied();
        parts.iter().filter_map(uses).all(|used| !used.exposed)
    }

    /// Arrays without a clause are copied once around the launches, not at each.
    fn whole_arrays(&self, index: usize, stmt: StmtId, parts: &[StmtId], implied: &mut Vec<Attribute>) {
        let stated = self.stated(index);
        let used = uses(self.unit, self.symbols, stmt);
        let is_launched = |symbol: SymbolId| {
            parts.iter().any(|part| uses(self.unit, self.symbols, *part).of(symbol).is_some())
        };
        for (symbol, _) in used.iter().filter(|(symbol, _)| is_launched(*symbol)) {
            let known = self.symbols.get(symbol);
            // How large an array of assumed size is, nobody knows: it is there.
            if matches!(known.class, Class::Array | Class::Record)
                && !known.fortran.assumed_size
                && self.is_unstated(symbol, stmt, &stated, implied)
            {
                let item = known.name.clone();
                implied.push(Attribute { sharing: Sharing::Copy, item, entry: "implicit/array" });
            }
        }
    }
}

impl Maker<'_> {
    pub(super) fn kernels(&mut self, index: usize, stmt: StmtId, counting: Vec<usize>) {
        let combined = self.input.bound[index].directive.kind == DirectiveKind::KernelsLoop;
        self.plan.kernels.insert(index, vec![self.input.undivided(index, stmt)]);
        let sole = if combined { Some((index, stmt)) } else { self.input.sole_loop(index, stmt) };
        let sole = sole.filter(|(at, _)| self.input.clauses(*at).independent && !self.input.calls_gangs(*at));
        if let Some((at, loop_stmt)) = sole {
            return self.kernels_nest(index, at, stmt, loop_stmt, counting);
        }
        let nests = self.input.nests(index);
        let mut parts = self.input.parts(index, stmt, nests.clone());
        let outputs = parts.as_mut().map(|parts| self.outputs(index, stmt, parts)).unwrap_or_default();
        let arrays = parts.as_ref().map(|parts| self.input.arrays(stmt, &parts.all)).unwrap_or_default();
        let is_parallel = |part: &StmtId| nests.contains_key(part) || arrays.parallel.contains_key(part);
        let is_parted = |parts: &Parts| !outputs.by_host.is_empty() || parts.all.iter().any(is_parallel);
        let Some(parts) = parts.filter(is_parted) else {
            self.report_sequential(index, stmt, arrays, outputs.refused);
            let launch = self.kernels_on_one_thread(index, stmt, counting);
            self.plan.items[index] = Item::Launch(Box::new(launch));
            return;
        };
        let elementwise = arrays.parallel.into_iter();
        let array = |(stmt, elementwise)| {
            (stmt, ArrayStatement { directive: index, elementwise, ends: Ends::default() })
        };
        self.plan.arrays.extend(elementwise.map(array));
        self.plan.host_runs.extend(&parts.host_runs);
        self.report_run_private(index, &parts.host_runs);
        self.ends(index, stmt, &parts);
        let by_host: Vec<StmtId> = outputs.by_host.keys().copied().collect();
        self.plan.by_host.extend(outputs.by_host);
        self.plan.kernels.insert(index, self.input.as_run(index, stmt, &parts, &by_host));
        match parts.all.as_slice() {
            [only] if !nests.contains_key(only) && !self.needs_region(*only) && by_host.is_empty() => {
                self.kernels_array(index, stmt, *only, counting);
            }
            _ => {
                let mut refused = arrays.refused;
                refused.extend(outputs.refused);
                self.split(index, stmt, counting, (&parts, &by_host), refused);
            }
        }
    }

    /// Says that a region runs on one thread: of its array statements why, and of the rest that nothing says that it is
    /// parallel. Why a loop is not was reported before.
    fn report_sequential(
        &mut self,
        index: usize,
        stmt: StmtId,
        arrays: Arrays,
        outputs: BTreeMap<StmtId, Diag>,
    ) {
        let is_reported = |part: &StmtId| {
            arrays.refused.contains_key(part)
                || outputs.contains_key(part)
                || matches!(self.input.unit.stmt(*part).kind, StmtKind::For { .. })
        };
        let list = statements(self.input.unit, stmt);
        let nests = self.input.nests(index);
        if !list.iter().all(is_reported) || !nests.is_empty() {
            let at = self.input.bound[index].directive.name_span;
            let why =
                list.iter().filter(|part| !is_reported(part)).find_map(|part| self.input.reported_of(*part));
            self.diags.push(why.unwrap_or_else(|| diag::kernels_sequential(at)));
        }
        self.diags.extend(arrays.refused.into_values().chain(outputs.into_values()));
    }

    fn kernels_nest(&mut self, index: usize, at: usize, region: StmtId, stmt: StmtId, counting: Vec<usize>) {
        let mut attributes = self.sharing(index, region, &counting, Region::Kernels);
        self.plan.items[index] = Item::Gone;
        // Where the construct holds nothing but the loop, its line is the loop's.
        let is_all = region == stmt || self.input.unit.is_fortran();
        let place = if self.input.bound[at].text.is_none() && is_all { index } else { at };
        match self.nest(index, at, stmt, Region::Kernels, &mut attributes) {
            Some(nest) => {
                let nest = self.input.absorb(nest, &mut attributes);
                let launch = Launch {
                    region: Region::Kernels,
                    directive: index,
                    gangs: Gangs::Many,
                    attributes,
                    nest: Some(nest),
                    data_outside: false,
                };
                self.plan.items[place] = Item::Launch(Box::new(launch));
            }
            None => {
                let launch = self.kernels_on_one_thread(index, region, counting);
                self.plan.items[index] = Item::Launch(Box::new(launch));
            }
        }
    }

    fn kernels_on_one_thread(&mut self, index: usize, stmt: StmtId, counting: Vec<usize>) -> Launch {
        let mut attributes = self.sharing(index, stmt, &counting, Region::Kernels);
        let combined =
            (self.input.bound[index].directive.kind == DirectiveKind::KernelsLoop).then_some(index);
        self.sequential_loops(index, stmt, combined, &mut attributes);
        Launch {
            region: Region::Kernels,
            directive: index,
            gangs: Gangs::One,
            attributes,
            nest: None,
            data_outside: false,
        }
    }

    /// One launch for each nest, and one for each other statement, inside a data environment.
    fn split(
        &mut self,
        index: usize,
        stmt: StmtId,
        counting: Vec<usize>,
        (parts, by_host): (&Parts, &[StmtId]),
        refused: BTreeMap<StmtId, Diag>,
    ) {
        self.save(index, stmt, &counting);
        let (implied, device) = self.of_region(index, stmt, &counting, (parts, by_host));
        // The host's value of what the host counts with is the one that counts for each launch.
        let counters = parts.counters(self.input.unit, self.input.symbols);
        let kept = self.kept_around((index, stmt), parts, &implied, &counters);
        self.plan.notes[index].standing = self.input.standing_among(index, &kept);
        // A region that brings nothing needs no data environment: each launch finds what is there.
        let is_needed = !kept.is_empty()
            || !self.input.brings_nothing(index, &counting)
            || self.input.names_inherited(index);
        let scalars = implied.into_iter().filter(|one| one.entry.starts_with("implicit/scalar"));
        let listed = scalars.chain(device).chain(self.input.stated_scalars(index)).collect();
        let split = Split { index, stmt, listed, counters, data_outside: is_needed };
        let symbols = self.input.symbols;
        self.ask(index, &parts.by_condition, is_needed, &|read, place| split.read(symbols, read, place));
        let mut refused = refused;
        for part in parts.all.iter().copied() {
            let nest = parts.nests.get(&part).copied();
            let launch = self.part(&split, part, nest);
            self.place_part(index, (part, nest), launch, refused.remove(&part));
        }
        self.plan.items[index] = match is_needed {
            true => Item::Clauses { pushed_down: true, implied: kept },
            false => Item::Gone,
        };
    }

    /// What is copied around the launches of a region, or by them; and the pointers to device memory.
    fn of_region(
        &mut self,
        index: usize,
        stmt: StmtId,
        counting: &[usize],
        (parts, by_host): (&Parts, &[StmtId]),
    ) -> (Vec<Attribute>, Vec<Attribute>) {
        let mut implied = self.sharing(index, stmt, counting, Region::Kernels);
        let device = implied.iter().filter(|one| one.sharing == Sharing::Deviceptr).cloned().collect();
        implied.retain(|attribute| attribute.sharing == Sharing::Copy);
        let users: Vec<StmtId> = parts.users().collect();
        let all: Vec<StmtId> = parts.users().chain(by_host.iter().copied()).collect();
        self.input.region_scalars(index, stmt, &all, &mut implied);
        implied.retain(|one| !self.input.is_private_in_all(index, &all, &one.item));
        self.input.whole_arrays(index, stmt, &users, &mut implied);
        (implied, device)
    }

    /// What stays on the device from one launch of a region to the next.
    fn kept_around(
        &self,
        (index, stmt): (usize, StmtId),
        parts: &Parts,
        implied: &[Attribute],
        counters: &BTreeSet<SymbolId>,
    ) -> Vec<Attribute> {
        let surrounded = self.surrounded(parts);
        let is_kept = |attribute: &&Attribute| {
            let symbol = self.input.symbols.lookup(&attribute.item, self.input.unit.stmt(stmt).span.start);
            if symbol.is_some_and(|symbol| counters.contains(&symbol)) {
                return false;
            }
            matches!(attribute.entry, "implicit/array" | "implicit/constant")
                || symbol.is_some_and(|symbol| self.input.is_reached(index, symbol))
                || self.input.is_shared(stmt, parts, attribute)
                || surrounded.contains(&attribute.item)
        };
        implied.iter().filter(is_kept).cloned().collect()
    }

    /// The launch of one part of a region: of a nest, of an array statement, or of what one thread runs.
    fn part(&mut self, split: &Split, part: StmtId, nest: Option<usize>) -> Launch {
        let Split { index, stmt, data_outside, .. } = *split;
        let mut attributes: Vec<Attribute> =
            split.listed.iter().filter(|one| self.input.needs(split, part, one)).cloned().collect();
        let work = nest.and_then(|at| {
            let nest = self.nest(index, at, part, Region::Kernels, &mut attributes)?;
            Some(self.input.absorb(nest, &mut attributes))
        });
        let work = work.or_else(|| self.array_nest(index, part));
        if nest.is_none() {
            self.private_in_part(index, part, &mut attributes);
            self.input.copy_reduced(index, stmt, work.as_ref(), &mut attributes);
            self.launch_ends(index, part, &attributes, data_outside);
        }
        let gangs = if work.is_some() { Gangs::Many } else { Gangs::One };
        Launch { region: Region::Kernels, directive: index, gangs, attributes, nest: work, data_outside }
    }

    /// Puts the launch of a part where its directive stands, or before the statement. `why` it is not parallel, if that is known.
    fn place_part(
        &mut self,
        index: usize,
        (part, nest): (StmtId, Option<usize>),
        launch: Launch,
        why: Option<Diag>,
    ) {
        // Why a loop is not parallel was reported before.
        let is_loop = matches!(self.input.unit.stmt(part).kind, StmtKind::For { .. });
        let is_sequential = nest.is_none() && launch.nest.is_none() && !is_loop;
        // The line of a loop that is not parallel can be used, too.
        let governs = |at: &usize| self.input.bound[*at].stmt() == Some(part);
        match nest.or_else(|| self.input.all_loops_below(index).into_iter().find(governs)) {
            Some(at) => self.plan.items[at] = Item::Launch(Box::new(launch)),
            None => {
                let at = self.input.unit.stmt(part).span;
                let why = why
                    .or_else(|| self.input.reported_of(part))
                    .unwrap_or_else(|| diag::kernels_sequential(at));
                self.diags.extend(is_sequential.then_some(why));
                self.plan.inserted.push((index, part, launch));
            }
        }
    }
}
