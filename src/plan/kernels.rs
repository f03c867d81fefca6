//! `kernels`: the loops that the program calls independent each become a launch; everything else runs on one thread.
//!
//! Invariant: the statements of the region keep their order, and scalars that are still wanted come back.

use std::collections::BTreeMap;

use crate::acc::ast::DirectiveKind;
use crate::diag::{self, Diag};
use crate::host::ir::{StmtId, StmtKind};
use crate::sema::{Class, SymbolKind, uses};

use super::array::Arrays;
use super::{Attribute, Gangs, Item, Launch, Maker, Region, Sharing};

impl Maker<'_> {
    pub(super) fn kernels(&mut self, index: usize, stmt: StmtId, counting: Vec<usize>) {
        let combined = self.bound[index].directive.kind == DirectiveKind::KernelsLoop;
        let sole = if combined { Some((index, stmt)) } else { self.sole_loop(index, stmt) };
        if let Some((at, loop_stmt)) = sole {
            return self.kernels_nest(index, at, stmt, loop_stmt, counting);
        }
        let launches = self.top_level_nests(index, stmt);
        let can_split = matches!(&self.unit.stmt(stmt).kind, StmtKind::Block(list) if list.iter().all(|stmt| self.can_stand_alone(*stmt)));
        let arrays = if can_split { self.arrays(stmt) } else { Arrays::default() };
        if launches.is_empty() && arrays.parallel.is_empty() || !can_split {
            self.tell_sequential(index, stmt, arrays);
            let launch = self.kernels_on_one_thread(index, stmt, counting);
            self.plan.items[index] = Item::Launch(Box::new(launch));
            return;
        }
        let elementwise = arrays.parallel.into_iter();
        self.plan.elementwise.extend(elementwise.map(|(stmt, elementwise)| (stmt, (index, elementwise))));
        match self.code_of(stmt).as_slice() {
            [only] if launches.is_empty() => self.kernels_array(index, stmt, *only, counting),
            _ => self.split(index, stmt, counting, &launches, arrays.refused),
        }
    }

    /// The statements directly in a region's block.
    fn code_of(&self, stmt: StmtId) -> Vec<StmtId> {
        let StmtKind::Block(list) = &self.unit.stmt(stmt).kind else { return Vec::new() };
        list.iter().copied().filter(|part| !matches!(self.unit.stmt(*part).kind, StmtKind::Empty)).collect()
    }

    /// Says that a region runs on one thread: of its array statements why, and that nothing says that the rest is parallel.
    fn tell_sequential(&mut self, index: usize, stmt: StmtId, arrays: Arrays) {
        if arrays.refused.is_empty() || arrays.refused.len() < self.code_of(stmt).len() {
            self.diags.push(diag::kernels_sequential(self.bound[index].directive.name_span));
        }
        self.diags.extend(arrays.refused.into_values());
    }

    fn kernels_nest(&mut self, index: usize, at: usize, region: StmtId, stmt: StmtId, counting: Vec<usize>) {
        let mut attributes = self.sharing(index, region, &counting, Region::Kernels);
        self.plan.items[index] = Item::Gone;
        match self.nest(index, at, stmt, Region::Kernels, &mut attributes) {
            Some(nest) => {
                let nest = self.absorb(nest, &mut attributes);
                let launch = Launch {
                    region: Region::Kernels,
                    directive: index,
                    gangs: Gangs::Many,
                    clauses: counting,
                    attributes,
                    nest: Some(nest),
                    data_outside: false,
                };
                self.plan.items[at] = Item::Launch(Box::new(launch));
            }
            None => {
                let launch = self.kernels_on_one_thread(index, region, counting);
                self.plan.items[index] = Item::Launch(Box::new(launch));
            }
        }
    }

    fn kernels_on_one_thread(&mut self, index: usize, stmt: StmtId, counting: Vec<usize>) -> Launch {
        let mut attributes = self.sharing(index, stmt, &counting, Region::Kernels);
        let combined = (self.bound[index].directive.kind == DirectiveKind::KernelsLoop).then_some(index);
        self.sequential_loops(index, stmt, combined, &mut attributes);
        Launch {
            region: Region::Kernels,
            directive: index,
            gangs: Gangs::One,
            clauses: counting,
            attributes,
            nest: None,
            data_outside: false,
        }
    }

    /// The loop directives on statements directly in the region's block that are to run in parallel.
    fn top_level_nests(&self, index: usize, stmt: StmtId) -> Vec<(usize, StmtId)> {
        let StmtKind::Block(list) = &self.unit.stmt(stmt).kind else { return Vec::new() };
        let loops = self.loops_below(index).into_iter();
        loops
            .filter_map(|at| Some((at, self.bound[at].stmt()?)))
            .filter(|(_, stmt)| list.contains(stmt))
            .collect()
    }

    /// Whether a statement of the region can be a launch of its own: it declares nothing that others use.
    fn can_stand_alone(&self, stmt: StmtId) -> bool {
        !matches!(
            self.unit.stmt(stmt).kind,
            StmtKind::Decl(_) | StmtKind::Labeled { .. } | StmtKind::Opaque(_) | StmtKind::Goto(_)
        )
    }

    /// One launch for each nest, and one for each other statement, inside a data environment.
    fn split(
        &mut self,
        index: usize,
        stmt: StmtId,
        counting: Vec<usize>,
        nests: &[(usize, StmtId)],
        mut refused: BTreeMap<StmtId, Diag>,
    ) {
        let StmtKind::Block(list) = &self.unit.stmt(stmt).kind else { return };
        let list = list.clone();
        let mut implied = self.sharing(index, stmt, &counting, Region::Kernels);
        let device: Vec<Attribute> =
            implied.iter().filter(|attribute| attribute.sharing == Sharing::Deviceptr).cloned().collect();
        implied.retain(|attribute| attribute.sharing == Sharing::Copy);
        let stated = self.stated_scalars(index);
        self.region_scalars(index, stmt, &mut implied);
        self.whole_arrays(index, stmt, &mut implied);
        for part in list {
            if matches!(self.unit.stmt(part).kind, StmtKind::Empty) {
                continue;
            }
            let used = uses(self.unit, self.symbols, part);
            let names = |attribute: &Attribute| {
                let symbol = self.symbols.lookup(&attribute.item, self.unit.stmt(part).span.start);
                symbol.is_some_and(|symbol| used.of(symbol).is_some())
            };
            let scalar = |attribute: &Attribute| attribute.entry.starts_with("implicit/scalar");
            let mut attributes: Vec<Attribute> = implied
                .iter()
                .filter(|one| scalar(one))
                .chain(&device)
                .chain(&stated)
                .filter(|one| names(one))
                .cloned()
                .collect();
            let nest = nests.iter().find(|(_, stmt)| *stmt == part);
            let work = nest.and_then(|(at, loop_stmt)| {
                let nest = self.nest(index, *at, *loop_stmt, Region::Kernels, &mut attributes)?;
                Some(self.absorb(nest, &mut attributes))
            });
            let work = work.or_else(|| self.array_nest(index, part));
            let is_sequential = nest.is_none() && work.is_none();
            let gangs = if work.is_some() { Gangs::Many } else { Gangs::One };
            let launch = Launch {
                region: Region::Kernels,
                directive: index,
                gangs,
                clauses: counting.clone(),
                attributes,
                nest: work,
                data_outside: true,
            };
            match nest {
                Some((at, _)) => self.plan.items[*at] = Item::Launch(Box::new(launch)),
                None => {
                    let at = self.unit.stmt(part).span;
                    let why = refused.remove(&part).unwrap_or_else(|| diag::kernels_sequential(at));
                    self.diags.extend(is_sequential.then_some(why));
                    self.plan.inserted.push((index, part, launch));
                }
            }
        }
        self.plan.items[index] = Item::Clauses { clauses: counting, pushed_down: true, implied };
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
    fn region_scalars(&mut self, index: usize, stmt: StmtId, implied: &mut Vec<Attribute>) {
        let stated = self.stated(index);
        let used = uses(self.unit, self.symbols, stmt);
        for (symbol, how) in used.iter() {
            let known = self.symbols.get(symbol);
            if how.written
                && !self.is_temporary(index, symbol)
                && known.class == Class::Scalar
                && known.kind != SymbolKind::Member
                && !self.is_inside(symbol, stmt)
                && !stated.contains(&known.name)
                && !implied.iter().any(|other| other.item == known.name)
            {
                let item = known.name.clone();
                implied.push(Attribute { sharing: Sharing::Copy, item, entry: "implicit/scalar-kernels" });
            }
        }
    }

    /// Whether each top-level statement that names `symbol` gives it a value before it reads it.
    fn is_temporary(&self, index: usize, symbol: crate::sema::SymbolId) -> bool {
        let Some(StmtKind::Block(list)) = self.bound[index].stmt().map(|stmt| &self.unit.stmt(stmt).kind)
        else {
            return false;
        };
        list.iter()
            .all(|part| uses(self.unit, self.symbols, *part).of(symbol).is_none_or(|used| !used.exposed))
    }

    /// Arrays without a clause are copied once around the launches, not at each.
    fn whole_arrays(&mut self, index: usize, stmt: StmtId, implied: &mut Vec<Attribute>) {
        let stated = self.stated(index);
        let used = uses(self.unit, self.symbols, stmt);
        for (symbol, _) in used.iter() {
            let known = self.symbols.get(symbol);
            if matches!(known.class, Class::Array | Class::Record)
                && known.kind != SymbolKind::Member
                && !self.is_inside(symbol, stmt)
                && !stated.contains(&known.name)
            {
                let item = known.name.clone();
                implied.push(Attribute { sharing: Sharing::Copy, item, entry: "implicit/array" });
            }
        }
    }
}
