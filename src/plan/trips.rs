//! How many iterations loops have, as far as the source says it: few of them do not fill a device.
//!
//! Invariant: decides how parallel a nest is, never what it computes.

use crate::host::ir::{Derived, Expr, ExprId, ExprKind};
use crate::sema::{self, Header};

use super::Input;

/// Fewer iterations than this leave most of a device idle if each is one thread.
const FEW: i128 = 256;

impl Input<'_> {
    /// Whether the loops of a nest that are one are known to have few iterations.
    pub(super) fn are_few(&self, headers: &[Header]) -> bool {
        let most = headers.iter().try_fold(1i128, |all, header| all.checked_mul(self.most_trips(header)?));
        most.is_some_and(|most| most < FEW)
    }

    /// The largest number of iterations that a loop can have: it is known, or the loop's variable is a subscript of an array
    /// of known extent.
    fn most_trips(&self, header: &Header) -> Option<i128> {
        let known = self.value(header.first).zip(self.value(header.bound));
        let step = header.step.map_or(Some(1), |step| self.value(step)).map(i128::abs);
        let trips = known.zip(step.filter(|step| *step > 0));
        let trips = trips.map(|((first, bound), step)| (bound - first).abs() / step + 1);
        trips.or_else(|| self.extent(header))
    }

    /// The smallest extent of an array of which the loop's variable is a subscript.
    fn extent(&self, header: &Header) -> Option<i128> {
        let span = self.unit.stmt(header.body).span;
        let extents = self.unit.exprs_in(span).filter_map(|expr| {
            let Expr { kind: ExprKind::Index(base, subscript), .. } = expr else { return None };
            let is_own = self.symbols.named(self.unit, *subscript) == Some(header.var);
            is_own.then(|| self.extent_of(*base)).flatten()
        });
        extents.min()
    }

    /// The extent of the array that `base` is, which may be an element of an array of arrays.
    fn extent_of(&self, base: ExprId) -> Option<i128> {
        let (mut base, mut depth) = (base, 0);
        while let ExprKind::Index(outer, _) = self.unit.expr(base).kind {
            (base, depth) = (outer, depth + 1);
        }
        let decl = self.symbols.get(self.symbols.named(self.unit, base)?).decl?;
        match self.unit.decl(decl).derived.get(depth)? {
            Derived::Array(Some(size)) => self.value(*size),
            Derived::Array(None) | Derived::Pointer | Derived::Function | Derived::Reference => None,
        }
    }

    /// The value of an expression of constants.
    pub(super) fn value(&self, expr: ExprId) -> Option<i128> {
        sema::constant(self.unit, self.symbols, expr, &|known| known.is_const)
    }
}
