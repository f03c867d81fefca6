//! What a compiler profile prefers, as the plan and the lowering ask for it.
//!
//! Invariant: numbers stand in `rules/profile/`, with the measurement they are from.

use crate::plan::Preference;
use crate::rules;

use super::ast::BaseLanguage;
use super::loop_construct::Nest;

/// What a profile asks of the lowering.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// Threads of a team for a loop whose iterations run loops in order; one iteration a thread.
    pub heavy_threads: Option<u32>,
    /// Threads of a team that shares the sums of rows.
    pub row_threads: Option<u32>,
    /// Threads of a team that has tables of its own for atomic updates.
    pub table_threads: Option<u32>,
    /// Threads of a team that reduces into a variable of its own first.
    pub sum_threads: Option<u32>,
    /// Loops that fill the lanes are `simd`, too.
    pub simd: bool,
    /// Fortran is written for flang.
    pub flang: bool,
    /// Loops are `loop` constructs.
    pub by_loops: bool,
}

/// What profile `name` asks of the lowering.
pub fn tuning(name: &str) -> Tuning {
    let profile = rules::profile(name);
    Tuning {
        heavy_threads: profile.heavy_threads,
        row_threads: profile.row_threads,
        table_threads: profile.table_threads,
        sum_threads: profile.sum_threads,
        simd: profile.simd,
        flang: profile.flang,
        by_loops: false,
    }
}

/// How profile `name` has loops run in parallel, from OpenMP 5.0 on.
pub fn nest(name: &str) -> Nest {
    if rules::profile(name).nest == "loop" { Nest::Loop } else { Nest::Distribute }
}

/// Why some loops are not divided.
const VARIABLE_LENGTH: &str =
    "clang 19 loses the bounds of variable length arrays in nested parallel loops on GPUs";
const NOT_EQUAL: &str = "OpenMP before 5.0 knows no `!=` in a loop condition";

fn allowed(is_allowed: bool, why_not: &'static str) -> Result<(), &'static str> {
    if is_allowed { Ok(()) } else { Err(why_not) }
}

/// What profile `name` asks of the plan, in OpenMP `version`. A program of flang 22 may hang where a reduction stands on
/// the loop of the gangs and again on the one inside, so that tight nests in Fortran are one loop; and flang 22 itself
/// crashes where a loop construct stands before `tile`.
pub fn preference(name: &str, version: u8, speech: BaseLanguage) -> Preference {
    let profile = rules::profile(name);
    let is_fortran = speech == BaseLanguage::Fortran;
    Preference {
        collapse_tight: profile.tight_nest == "collapse" || is_fortran,
        flat_from: profile.flat_from,
        short_trip: profile.short_trip.into(),
        variable_length_inside: allowed(profile.variable_length_inside, VARIABLE_LENGTH),
        loses_address_bounds: profile.loses_address_bounds,
        tiles: profile.tile && version >= 51 && !(is_fortran && profile.flang),
        strips: true,
        exchanges: true,
        team_tables: profile.table_threads.is_some(),
        team_sums: profile.sum_threads.is_some(),
        elements_lead: false,
        orders_nests: false,
        not_equal: allowed(version >= 50, NOT_EQUAL),
    }
}
