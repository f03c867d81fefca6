//! How the operators of reductions are spelled in the languages.
//!
//! Invariant: one spelling for each operator and language.

use crate::acc::ast::ReductionOp;

use super::ast::Speech;

/// The spelling of a reduction operator.
pub fn operator(op: ReductionOp, speech: Speech) -> &'static str {
    let (c, fortran) = match op {
        ReductionOp::Add => ("+", "+"),
        ReductionOp::Multiply => ("*", "*"),
        ReductionOp::Max => ("max", "max"),
        ReductionOp::Min => ("min", "min"),
        ReductionOp::BitAnd => ("&", "iand"),
        ReductionOp::BitOr => ("|", "ior"),
        ReductionOp::BitXor => ("^", "ieor"),
        ReductionOp::And => ("&&", ".and."),
        ReductionOp::Or => ("||", ".or."),
        ReductionOp::Eqv => (".eqv.", ".eqv."),
        ReductionOp::Neqv => (".neqv.", ".neqv."),
    };
    if speech == Speech::Fortran { fortran } else { c }
}
