//! What CUDA asks of the plan.
//!
//! Invariant: nothing that a compiler loses; nvcc takes every loop that the plan can divide.

use crate::plan::{Aim, Preference};

/// What the plan is made for: gangs outside and threads inside, as the source has them.
pub fn aim(device_type: &str) -> Aim {
    let preference = Preference {
        collapse_tight: false,
        short_trip: 0,
        variable_length_inside: Ok(()),
        loses_address_bounds: false,
        tiles: true,
        not_equal: Ok(()),
    };
    Aim { device_type: device_type.to_owned(), preference, queues: false, asks: false }
}
