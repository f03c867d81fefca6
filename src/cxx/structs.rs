//! Derived types as structs of C++: what is known of them.
//!
//! Invariant: the components of a struct are in the order of Fortran.

use super::types::Type;
use super::variable::{Bound, Dimension};

/// A derived type as a struct.
#[derive(Clone, Debug)]
pub struct Record {
    /// The file, and where the type stands there.
    pub place: (String, u32),
    /// How C++ calls it.
    pub name: String,
    /// Its components, in their order.
    pub members: Vec<Member>,
    /// The type that it extends, with the name of that component.
    pub base: Option<(String, Type)>,
    /// Objects have values from their beginning on.
    pub has_defaults: bool,
    /// Its bytes.
    pub size: i128,
    /// What its place in memory is a multiple of.
    pub align: i128,
}

/// A component.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its name in Fortran.
    pub name: String,
    /// What stands after the object in C++.
    pub path: String,
    /// Its type, or that of its elements.
    pub ty: Type,
    /// Its dimensions.
    pub shape: Vec<Dimension>,
}

impl Member {
    /// How many elements it has; 1 of what is not an array.
    pub fn count(&self) -> i128 {
        let extents = self.shape.iter().map(|dimension| match dimension.extent {
            Bound::Constant(extent) => extent,
            Bound::Passed => 1,
        });
        extents.product()
    }
}
