//! Reduction operators as the run-time library names them (OpenACC 3.3, 2.5.15).
//!
//! Invariant: identity and operator belong together.

use crate::acc::ast::ReductionOp;

/// The class of the run-time library for an operator.
pub fn operator(op: ReductionOp) -> &'static str {
    match op {
        ReductionOp::Add => "acc2omp::Plus",
        ReductionOp::Multiply => "acc2omp::Times",
        ReductionOp::Max => "acc2omp::Max",
        ReductionOp::Min => "acc2omp::Min",
        ReductionOp::BitAnd => "acc2omp::BitAnd",
        ReductionOp::BitOr => "acc2omp::BitOr",
        ReductionOp::BitXor => "acc2omp::BitXor",
        ReductionOp::And | ReductionOp::Eqv => "acc2omp::And",
        ReductionOp::Or | ReductionOp::Neqv => "acc2omp::Or",
    }
}

/// The value that a private copy begins with.
pub fn identity(op: ReductionOp, base: &str) -> String {
    match op {
        ReductionOp::Add | ReductionOp::BitOr | ReductionOp::BitXor | ReductionOp::Or => "0".to_owned(),
        ReductionOp::Multiply | ReductionOp::And => "1".to_owned(),
        _ => format!("{}::identity<{base}>()", operator(op)),
    }
}

/// Two values combined.
pub fn combined(op: ReductionOp, left: &str, right: &str) -> String {
    let sign = match op {
        ReductionOp::Add => "+",
        ReductionOp::Multiply => "*",
        ReductionOp::BitAnd => "&",
        ReductionOp::BitOr => "|",
        ReductionOp::BitXor => "^",
        ReductionOp::And => "&&",
        ReductionOp::Or => "||",
        _ => return format!("{}()({left}, {right})", operator(op)),
    };
    format!("{left} {sign} {right}")
}
