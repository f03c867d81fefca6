//! What a variable that no clause names is to a launch (OpenACC 3.3, 2.6.1 and 2.6.2), as a function from facts to a value.
//!
//! Invariant: each role has the rule that implies it; nothing here knows a target.

use crate::acc::ast::ReductionOp;
use crate::sema::{Class, Use};

use super::Motion;

/// What a variable is to a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Each thread has its own, and they are combined at the end.
    Reduction(ReductionOp),
    /// Each thread has its own, without a first value.
    Private,
    /// Each thread has its own, with the value from outside.
    Firstprivate,
    /// It is in device memory, shared by all threads.
    Mapped(Motion),
    /// A scalar member that is only read, of an object that may be on the device: the value that it has there.
    Member,
}

/// Why a variable has its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A pointer: its value goes to the device, and what it leads to must be there.
    Pointer,
    /// An array or a record without a clause is copied.
    Array,
    /// A data clause or a `declare` directive around the construct names it.
    Visible,
    /// `default(present)`
    DefaultPresent,
    /// A member of the object.
    Member,
    /// A scalar of `kernels` whose value is wanted afterwards is copied.
    KernelsScalar,
    /// A scalar that each thread assigns before it reads it.
    Temporary,
    /// A scalar is firstprivate.
    Scalar,
}

/// What decides the role of a variable that no clause of the construct names.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unlisted {
    /// What it holds; `None` for a scalar, or what is taken for one.
    pub class: Option<Class>,
    /// What the launch does with it.
    pub used: Use,
    /// It is a member of the object.
    pub is_member: bool,
    /// It is a member of the class, as `static` ones are.
    pub is_static: bool,
    /// Its declaration says `const`.
    pub is_const: bool,
    /// It is a parameter that its declaration writes as an array.
    pub is_array_parameter: bool,
    /// A directive around the construct gives it a place on the device.
    pub is_visible: bool,
    /// `default(present)` counts for the construct.
    pub is_default_present: bool,
    /// The launch only reads what it holds.
    pub is_input: bool,
    /// The object may be on the device.
    pub may_have_object: bool,
    /// Its value is wanted after a `kernels` construct, or changed there by another name.
    pub is_wanted: bool,
}

/// The role of a variable that no clause of the construct names.
pub fn implied(known: &Unlisted) -> (Role, Rule) {
    let used = &known.used;
    match known.class {
        Some(Class::Pointer) if used.written && !used.part_read && !used.part_written => {
            (Role::Firstprivate, Rule::Pointer)
        }
        Some(Class::Pointer) if used.written && !used.exposed => (Role::Private, Rule::Temporary),
        Some(Class::Pointer) => (Role::Mapped(Motion::Find), Rule::Pointer),
        Some(Class::Array | Class::Record) => of_memory(known),
        Some(Class::Scalar | Class::Unknown) | None => of_scalar(known),
    }
}

/// The role of an array or a record.
fn of_memory(known: &Unlisted) -> (Role, Rule) {
    if known.is_visible {
        (Role::Mapped(Motion::Find), Rule::Visible)
    } else if known.is_array_parameter {
        (Role::Mapped(Motion::Find), Rule::Pointer)
    } else if known.is_default_present {
        (Role::Mapped(Motion::Present), Rule::DefaultPresent)
    } else {
        // What is only read need not come back.
        (Role::Mapped(if known.is_input { Motion::Copyin } else { Motion::Copy }), Rule::Array)
    }
}

/// The role of a scalar.
fn of_scalar(known: &Unlisted) -> (Role, Rule) {
    let used = &known.used;
    if known.is_member && used.written && !known.is_const {
        (Role::Mapped(Motion::Copy), Rule::Member)
    } else if known.may_have_object && known.is_member && !known.is_const && !known.is_static {
        (Role::Member, Rule::Member)
    } else if known.is_visible {
        (Role::Mapped(Motion::Present), Rule::Visible)
    } else if known.is_wanted {
        (Role::Mapped(Motion::Copy), Rule::KernelsScalar)
    } else if used.written && !used.exposed && !used.address_taken {
        (Role::Private, Rule::Temporary)
    } else {
        (Role::Firstprivate, Rule::Scalar)
    }
}

#[cfg(test)]
mod tests;
