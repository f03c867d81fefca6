//! Variables with a counterpart on the device (OpenACC 3.3, 2.13).
//!
//! Invariant: what `link` names has no memory of its own there.

use super::Input;
use crate::acc::ast::DataClause;

/// Whether a variable at file scope has a counterpart: a `declare` names it, and not in `link`, which gives it no memory of its own.
pub fn has_counterpart(input: &Input, name: &str) -> bool {
    let declared = input.headers.iter().chain([&input.source]).flat_map(|seen| seen.declared);
    let mut placed = declared.filter(|(_, clause)| has_memory(**clause));
    placed.any(|((_, known), _)| known == name)
}

/// Whether a clause of `declare` at file scope gives variables memory on the device: C has no others there but `link`, and
/// `deviceptr`, which routines of the device could not read.
pub fn has_memory(clause: DataClause) -> bool {
    matches!(clause, DataClause::Create { .. } | DataClause::Copyin { .. } | DataClause::DeviceResident)
}
