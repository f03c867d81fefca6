//! What happens to memory at the two ends of a construct: which way its data move, if they do.
//!
//! Invariant: a motion is what clauses ask for together; how a target spells it is the target's.

use crate::acc::ast::DataClause;

/// What a construct does with memory that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// To the device and back, unless it is there.
    Copy,
    /// To the device.
    Copyin,
    /// Back from the device; with `zero`, it is zero there before.
    Copyout {
        /// `copyout(zero: …)`
        zero: bool,
    },
    /// It has memory on the device.
    Create {
        /// `create(zero: …)`
        zero: bool,
    },
    /// It must be there.
    Present,
    /// What is there is used; what is not there is the host's.
    NoCreate,
    /// Nothing: the address that it has on the device is looked up.
    Find,
}

impl Motion {
    /// What a data clause asks for, if it moves or finds data.
    pub fn of(clause: DataClause) -> Option<Motion> {
        Some(match clause {
            DataClause::Copy => Motion::Copy,
            DataClause::Copyin { .. } => Motion::Copyin,
            DataClause::Copyout { zero } => Motion::Copyout { zero },
            DataClause::Create { zero } => Motion::Create { zero },
            DataClause::DeviceResident => Motion::Create { zero: false },
            DataClause::Present => Motion::Present,
            DataClause::NoCreate => Motion::NoCreate,
            DataClause::Deviceptr
            | DataClause::Attach
            | DataClause::Detach
            | DataClause::Delete
            | DataClause::Link => return None,
        })
    }

    /// What two clauses that name the same memory ask for together.
    pub fn and(self, other: Motion) -> Motion {
        match (self, other) {
            (Motion::Present, one) | (one, Motion::Present) => return one,
            _ => {}
        }
        let both = [self, other];
        let any = |is: fn(Motion) -> bool| both.into_iter().any(is);
        let zero = any(|one| matches!(one, Motion::Copyout { zero: true } | Motion::Create { zero: true }));
        let brings = any(|one| matches!(one, Motion::Copy | Motion::Copyin));
        let takes = any(|one| matches!(one, Motion::Copy | Motion::Copyout { .. }));
        let makes = any(|one| matches!(one, Motion::Create { .. }));
        match (brings, takes) {
            (true, true) => Motion::Copy,
            (true, false) => Motion::Copyin,
            (false, true) => Motion::Copyout { zero },
            (false, false) if makes => Motion::Create { zero },
            (false, false) => Motion::NoCreate,
        }
    }
}

#[cfg(test)]
mod tests;
