//! What stands around the loops of an array statement that makes one value: how the value begins, and what is done with it.
//!
//! Invariant: the host runs such a statement only if the device has no other copy of the variable; otherwise the device does.

use std::collections::BTreeSet;

use crate::acc::ast::ClauseKind;
use crate::host::ir::StmtId;
use crate::sema::{Last, Reduction};

use super::parts::{Parts, is_host_value};
use super::{
    ArrayStatement, Attribute, Ends, Gangs, Input, Launch, Maker, Region, Sharing, Single, WorkLoop,
};

impl Input<'_> {
    /// Copies the variable that the loops of an array statement reduce.
    pub(super) fn copy_reduced(
        &self,
        index: usize,
        region: StmtId,
        work: Option<&WorkLoop>,
        attributes: &mut Vec<Attribute>,
    ) {
        for reduction in work.map(|work| work.attributes.as_slice()).unwrap_or_default() {
            let is_same = |other: &Attribute| other.item.eq_ignore_ascii_case(&reduction.item);
            if !attributes.iter().any(is_same) {
                self.copy_reduction(index, region, region, reduction, attributes);
            }
        }
    }

    fn one_thread(&self, index: usize, attributes: &[Attribute], data_outside: bool) -> Launch {
        let shared =
            attributes.iter().filter(|one| matches!(one.sharing, Sharing::Copy | Sharing::Deviceptr));
        Launch {
            region: Region::Kernels,
            directive: index,
            gangs: Gangs::One,
            attributes: shared.cloned().collect(),
            nest: None,
            data_outside,
        }
    }

    /// Whether the variable is nowhere on the device, and is used by one launch of the region.
    fn is_only_here(&self, index: usize, region: StmtId, parts: &Parts, reduction: &Reduction) -> bool {
        let name = self.symbols.get(reduction.variable).name.clone();
        let item = Attribute { sharing: Sharing::Copy, item: name, entry: "implicit/scalar-kernels" };
        let mut clauses = self.bound[index].directive.clauses.iter();
        let waits = clauses.any(|clause| matches!(clause.kind, ClauseKind::Async(_) | ClauseKind::Wait(_)));
        !waits
            && !self.is_shared(region, parts, &item)
            && self.stated_item(index, reduction.variable).is_none()
            && self.is_nowhere_else(index, reduction.variable)
    }

    /// Whether the host knows all that a statement after the loops reads beside the value.
    fn host_can(&self, index: usize, region: StmtId, last: &Last) -> bool {
        let known = |reads: &Vec<_>| reads.iter().all(|symbol| is_host_value(self, index, region, *symbol));
        last.reads.as_ref().is_some_and(known)
    }
}

impl Maker<'_> {
    /// Notes what stands around the loops of the region's array statements.
    pub(super) fn ends(&mut self, index: usize, region: StmtId, parts: &Parts) {
        for part in &parts.all {
            let Some(array) = self.plan.arrays.get(part) else { continue };
            let Some(reduction) = &array.elementwise.reduction else { continue };
            let by_host = self.input.is_only_here(index, region, parts, reduction)
                && reduction.last.as_ref().is_none_or(|last| self.input.host_can(index, region, last));
            let single = |code: &String| {
                let launch = (!by_host).then(|| self.input.one_thread(index, &[], false));
                Single { code: code.clone(), launch }
            };
            let first = reduction.first.as_ref().map(single);
            let last = reduction.last.as_ref().map(|last| single(&last.code));
            if let Some(array) = self.plan.arrays.get_mut(part) {
                array.ends = Ends { first, last };
            }
        }
    }

    /// Whether the device runs statements before or after the loops of `part`.
    pub(super) fn is_surrounded(&self, part: StmtId) -> bool {
        self.plan.arrays.get(&part).is_some_and(|array| {
            let mut all = array.ends.first.iter().chain(&array.ends.last);
            all.any(|single| single.launch.is_some())
        })
    }

    /// Whether `part` needs more than the line of its region's directive: something runs after its loops, or on the device
    /// before them.
    pub(super) fn needs_region(&self, part: StmtId) -> bool {
        let has_last = self.plan.arrays.get(&part).is_some_and(|array| array.ends.last.is_some());
        has_last || self.is_surrounded(part)
    }

    /// The variables that more than one launch of an array statement uses.
    pub(super) fn surrounded(&self, parts: &Parts) -> BTreeSet<String> {
        let surrounded = parts.all.iter().filter(|part| self.is_surrounded(**part));
        let named = surrounded.filter_map(|part| {
            let variable = self.plan.arrays.get(part)?.elementwise.reduction.as_ref()?.variable;
            Some(self.input.symbols.get(variable).name.clone())
        });
        named.collect()
    }

    /// Gives the statements around the loops of `part` what their launches need: they share the variables with the loops.
    pub(super) fn launch_ends(
        &mut self,
        index: usize,
        part: StmtId,
        attributes: &[Attribute],
        data_outside: bool,
    ) {
        let launch = || self.input.one_thread(index, attributes, data_outside);
        let made = [launch(), launch()];
        let Some(ArrayStatement { ends, .. }) = self.plan.arrays.get_mut(&part) else { return };
        for (single, launch) in ends.first.iter_mut().chain(&mut ends.last).zip(made) {
            single.launch = single.launch.take().map(|_| launch);
        }
    }
}
