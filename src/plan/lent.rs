//! Arrays that a construct uses in parts, which `associate` blocks name.
//!
//! Invariant: an array that overlaps what else the construct maps is mapped before its parts.

use std::collections::BTreeMap;

use crate::host::ir::StmtId;
use crate::sema::{self, Class, SymbolId, Uses};

use super::data::Visible;
use super::sharing::Stated;
use super::{Attribute, Input, Sharing};

impl Input<'_> {
    /// The arrays without a clause of which the construct uses the whole and a part, or two parts: each would be mapped
    /// for itself, in any order, and a part that comes first leaves no place for the whole.
    pub(super) fn lenders(
        &self,
        stmt: StmtId,
        used: &Uses,
        stated: &Stated,
        visible: &Visible,
    ) -> Vec<Attribute> {
        let is_free = |symbol: SymbolId| {
            !self.is_inside(symbol, stmt)
                && !visible.arrays.contains(&symbol)
                && !stated.contains(&self.symbols.get(symbol).name)
        };
        let mut names: BTreeMap<SymbolId, usize> = BTreeMap::new();
        for (symbol, _) in used.iter() {
            let is_array = self.symbols.get(symbol).class == Class::Array;
            if is_array && is_free(symbol) {
                let lender = sema::lender(self.unit, self.symbols, symbol).unwrap_or(symbol);
                *names.entry(lender).or_default() += 1;
            }
        }
        let several = names.into_iter().filter(|(lender, count)| *count > 1 && is_free(*lender));
        let item = |lender: SymbolId| self.symbols.get(lender).name.clone();
        several
            .map(|(lender, _)| Attribute {
                sharing: Sharing::Copy,
                item: item(lender),
                entry: "implicit/associated",
            })
            .collect()
    }
}
