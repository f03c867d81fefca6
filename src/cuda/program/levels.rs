//! Levels of parallelism, and those that routines take for themselves (OpenACC 3.3, 2.15.1).
//!
//! Invariant: a call takes the levels of the `routine` directive of what it calls, here or in a header.

use super::{Input, functions, routines};
use crate::acc::ast::{ClauseKind, DirectiveKind, GangArgument};
use crate::host::ir::StmtId;
use crate::sema::{self};

impl Levels {
    pub const ALL: Levels = Levels { gang: true, worker: true, vector: true };
    pub const NONE: Levels = Levels { gang: false, worker: false, vector: false };

    pub fn any(self) -> bool {
        self.gang || self.worker || self.vector
    }

    pub fn threads(self) -> bool {
        self.worker || self.vector
    }

    pub fn with(self, other: Levels) -> Levels {
        Levels {
            gang: self.gang || other.gang,
            worker: self.worker || other.worker,
            vector: self.vector || other.vector,
        }
    }

    pub fn without(self, other: Levels) -> Levels {
        Levels {
            gang: self.gang && !other.gang,
            worker: self.worker && !other.worker,
            vector: self.vector && !other.vector,
        }
    }
}

/// Levels of parallelism.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// Gangs
    pub gang: bool,
    /// Workers of a gang
    pub worker: bool,
    /// Vector lanes of a worker
    pub vector: bool,
}

/// The levels that a call of the function takes for itself: those of its `routine` directive, here or in a header.
pub fn routine_levels(input: &Input, name: &str) -> Levels {
    for (index, bound) in input.bound.iter().enumerate() {
        if bound.directive.kind == DirectiveKind::Routine
            && routines::routine_name(input, index)
                .is_some_and(|known| functions::bare(known) == functions::bare(name))
        {
            return declared_levels(input, index);
        }
    }
    let of_headers = input.read.iter().map(|header| routine_levels(header, name));
    of_headers.fold(Levels::NONE, Levels::with)
}

/// The levels that a `routine` directive names.
pub fn declared_levels(input: &Input, index: usize) -> Levels {
    let mut levels = Levels::NONE;
    for kind in input.clauses(index) {
        match kind {
            ClauseKind::Gang(arguments) => {
                let _: &Vec<GangArgument> = arguments;
                levels = Levels::ALL;
            }
            ClauseKind::Worker(_) => levels = Levels { gang: levels.gang, worker: true, vector: true },
            ClauseKind::Vector(_) => levels.vector = true,
            _ => {}
        }
    }
    levels
}

/// The levels that the calls in a statement take for themselves.
pub fn called_levels(input: &Input, stmt: StmtId) -> Levels {
    let uses = sema::uses(input.unit(), input.symbols, stmt);
    let called = uses.calls.keys().fold(Levels::NONE, |sum, name| sum.with(routine_levels(input, name)));
    if !input.unit().is_cpp() {
        return called;
    }
    functions::called(input, input.stmt_span(stmt))
        .fold(called, |sum, (name, _)| sum.with(routine_levels(input, &name)))
}
