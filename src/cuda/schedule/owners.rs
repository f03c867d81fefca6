//! Whom the private variables of loops belong to: each thread, a worker, or a gang whose threads work on one copy.
//!
//! Invariant: a copy is shared where a loop inside of what it belongs to spreads over more threads, nowhere else.

use super::capture::Captured;
use super::nest::Nest;
use super::sizes::Shape;
use crate::cuda::program::Input;
use crate::cuda::program::levels::Levels;
use crate::cuda::program::privates::{loops, private};
use crate::sema::{self};
use crate::source::Span;

/// The levels of the loops that hold a place.
pub fn levels_at(input: &Input, nest: &Nest, place: Span) -> Levels {
    let around = nest.values().filter(|shared| shared.span(input).contains(place));
    around.fold(Levels::NONE, |sum, shared| sum.with(shared.levels()))
}

/// The levels of the loops that a variable is private to, each with those around it: first those of loops that are divided.
fn owners<'a>(input: &'a Input, nest: &'a Nest, name: &'a str) -> impl Iterator<Item = Levels> + 'a {
    let own =
        nest.values().filter(move |shared| shared.division.private.iter().any(|item| item.base.text == name));
    let divided = own.map(|owner| levels_at(input, nest, owner.span(input)));
    divided.chain(nest.values().flat_map(move |shared| {
        let inside = loops(input, shared.span(input)).filter(move |one| {
            let is_divided = one.stmt().is_some_and(|stmt| nest.contains_key(&stmt));
            !is_divided && private(one).any(|item| item.base.text == name)
        });
        inside.filter_map(move |one| Some(levels_at(input, nest, input.stmt_span(one.stmt()?))))
    }))
}

/// The levels of the loop that a variable is private to, and of those around it; none if it is private to the construct. Of
/// several loops, it is one whose threads share a copy: `has_copies` says which declare their own.
pub fn levels_of_owner(input: &Input, nest: &Nest, name: &str) -> Levels {
    let shared = owners(input, nest, name).find(|levels| !levels.vector);
    shared.or_else(|| owners(input, nest, name).next()).unwrap_or(Levels::NONE)
}

/// Whether each thread of the loop in `span` has its own copy of a variable of which other threads share one, as the variable
/// is private to another loop, too. None if no copy of another loop serves.
pub fn has_copies(input: &Input, nest: &Nest, span: Span, name: &str) -> Option<bool> {
    let own = levels_at(input, nest, span);
    let common = levels_of_owner(input, nest, name);
    if own == common { Some(false) } else { own.vector.then_some(true) }
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
