//! The directives of an `update` whose list items must keep their order.
//!
//! Invariant: what comes in a later turn stands after all that comes before it.

use super::ast::{Body, Clause};
use super::gathered::Gathered;
use super::pieces::Piece;

/// What the directives of one turn move.
#[derive(Debug, Default)]
pub struct Turn {
    /// What one directive can say.
    pub motions: Vec<Clause>,
    /// What takes directives of its own.
    pub pieces: Vec<Piece>,
    /// What no directive says.
    pub statements: Vec<String>,
}

/// Takes the turns after the first one out of what was gathered.
pub fn later(gathered: &mut Gathered) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for start in std::mem::take(&mut gathered.turns).into_iter().rev() {
        let clauses = gathered.clauses.split_off(start.clauses);
        let is_motion = |clause: &Clause| {
            matches!(clause.body, Body::List(_)) && matches!(clause.name.as_str(), "to" | "from")
        };
        let (motions, others): (Vec<_>, Vec<_>) =
            clauses.into_iter().partition(|(_, clause)| is_motion(clause));
        gathered.clauses.extend(others);
        turns.push(Turn {
            motions: motions.into_iter().map(|(_, clause)| clause).collect(),
            pieces: gathered.pieces.split_off(start.pieces),
            statements: gathered.statements.split_off(start.statements),
        });
    }
    turns.reverse();
    turns
}
