//! Whom the private variables of loops belong to: each thread, a worker, or a gang whose threads work on one copy.
//!
//! Invariant: a copy is shared where a loop inside of what it belongs to spreads over more threads, nowhere else.

use super::capture::Captured;
use super::nest::Nest;
use super::sizes::Shape;
use crate::cuda::program::Input;
use crate::cuda::program::levels::Levels;
use crate::sema::{self};
use crate::source::Span;

/// The levels of the loops that hold a place.
pub fn levels_at(input: &Input, nest: &Nest, place: Span) -> Levels {
    let around = nest.values().filter(|shared| shared.span(input).contains(place));
    around.fold(Levels::NONE, |sum, shared| sum.with(shared.levels()))
}

/// The levels of the loop that a variable is private to, and of those around it; none if it is private to the construct.
pub fn levels_of_owner(input: &Input, nest: &Nest, name: &str) -> Levels {
    let owner =
        nest.values().find(|shared| shared.division.private.iter().any(|item| item.base.text == name));
    owner.map_or(Levels::NONE, |owner| levels_at(input, nest, owner.span(input)))
}

/// Whether threads of a gang work on one private copy of a variable: some loop inside is spread over more threads than
/// the one that it is private to.
pub fn shared_by_threads(input: &Input, nest: &Nest, shape: Shape, one: &Captured) -> bool {
    let mode = levels_of_owner(input, nest, &one.name);
    shape.many
        && !(mode.worker && shape.rows)
        && nest.values().any(|shared| {
            let inner = sema::uses(input.unit(), input.symbols, shared.stmt());
            shared.levels().without(mode).threads() && inner.of(one.symbol).is_some()
        })
}
