//! Variables that a loop without a construct of its own has private, and whose values the code around it needs afterwards.
//!
//! Invariant: what is not reported has the same values with one variable for both.

use crate::acc::ast::ListItem;
use crate::bind::ancestors;
use crate::diag::{self, Diag};
use crate::sema::{SymbolId, uses};

use super::listed::{Code, private, used_outside};
use super::{Maker, Names, wanted};

impl Maker<'_> {
    /// Reports the `private` variables of a loop without a construct whose values outside the code around it still needs.
    pub(super) fn report_inner_private(&mut self, at: usize) {
        let all = std::iter::once(at).chain(ancestors(self.input.bound, at));
        let region = all.last().and_then(|top| self.input.bound[top].stmt());
        let (Some(region), Some(stmt)) = (region, self.input.bound[at].stmt()) else { return };
        let (unit, symbols, bound) = (self.input.unit, self.input.symbols, self.input.bound);
        let code = Code { unit, symbols, bound, device_type: &self.input.settings.device_type };
        let (own, around) = (unit.stmt(stmt).span, unit.stmt(region).span);
        let inside = uses(unit, symbols, stmt);
        let used: Vec<(&ListItem, SymbolId)> = private(&bound[at])
            .filter_map(|item| Some((item, used_outside(code, item, own, around)?)))
            .filter(|(_, symbol)| inside.of(*symbol).is_some_and(|used| used.written))
            .collect();
        let changed: Names = used.iter().map(|(_, symbol)| *symbol).collect();
        let live = wanted::live_after(code, at, stmt, &changed);
        let clobbered = used.into_iter().filter(|(_, symbol)| live.contains(symbol));
        let said: Vec<Diag> =
            clobbered.map(|(item, _)| diag::inner_private(item.span, &item.base.text)).collect();
        self.diags.extend(said);
    }
}
