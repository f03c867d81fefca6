//! The conditions that code is under, each with those around it.
//!
//! Invariant: the same conditions in the same order are one number, so that comparing and keeping them costs nothing however
//! many there are.

use rustc_hash::FxHashMap;

use super::affine::Poly;

/// What holds where a condition is true.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Guard {
    NotNegative(Poly),
    NotZero(Poly),
}

/// A condition around code: the loop that it stands in, and what it says, if that is understood.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Condition {
    pub(super) inside: Option<usize>,
    pub(super) says: Vec<Guard>,
}

/// A condition and all those around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ConditionId(u32);

/// What so many guards say, the innermost, is looked at where it is asked what holds. Fewer prove less, and nothing wrong.
const INNERMOST: usize = 100;

/// The conditions of a nest.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    all: Vec<(Option<ConditionId>, Condition)>,
    known: FxHashMap<(Option<ConditionId>, Condition), ConditionId>,
}

impl Conditions {
    /// A condition within those of `outer`.
    pub(super) fn within(&mut self, outer: Option<ConditionId>, condition: Condition) -> ConditionId {
        let next = ConditionId(self.all.len() as u32);
        let id = *self.known.entry((outer, condition.clone())).or_insert(next);
        if id == next {
            self.all.push((outer, condition));
        }
        id
    }

    /// The condition itself.
    pub(super) fn get(&self, id: ConditionId) -> &Condition {
        &self.all[id.0 as usize].1
    }

    /// What some conditions say, from the outermost inwards.
    pub(super) fn guards(&self, last: Option<ConditionId>) -> Vec<&Guard> {
        let outer = |id: &ConditionId| self.all[id.0 as usize].0;
        let guards = std::iter::successors(last, outer).flat_map(|id| self.get(id).says.iter().rev());
        let mut found: Vec<&Guard> = guards.take(INNERMOST).collect();
        found.reverse();
        found
    }
}
