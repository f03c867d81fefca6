//! What is distributed, and how: levels and sizes of launches, ways of variables, reductions.
//!
//! Invariant: decisions, no text of device code.

pub mod capture;
pub mod clause;
pub mod distinct;
pub mod nest;
pub mod order;
pub mod owners;
pub mod reduction;
pub mod reuse;
pub mod sizes;
pub mod spill;
pub mod threads;
pub mod unseen;

use crate::plan::Preference;

/// What the plan is asked for: nothing is lost by a compiler here. Which levels a loop has is decided in `nest`; the plan says which loops the gangs divide.
pub const PREFERENCE: Preference = Preference {
    collapse_tight: true,
    flat_from: None,
    short_trip: 32,
    variable_length_inside: Ok(()),
    loses_address_bounds: false,
    tiles: true,
    strips: false,
    exchanges: false,
    team_tables: false,
    team_sums: false,
    elements_lead: true,
    orders_nests: true,
    not_equal: Ok(()),
};
