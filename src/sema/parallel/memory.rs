//! Whether the iterations of a loop meet in memory.
//!
//! Invariant: accesses that the quick tests cannot tell apart are one class, and pairs are looked at only where two classes may
//! meet: many statements about the same elements cost little more than one of them.

use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::budget;
use crate::sema::SymbolId;

use super::access::{Access, Place};
use super::depend::Way;
use super::{Judge, Obstacle};

/// Accesses that differ only in their loops and conditions: the first of them, and the numbers of all.
struct Class<'n> {
    first: &'n Access,
    members: Vec<usize>,
}

/// The kinds of accesses that are known to be distinct, or not.
type Distinct = FxHashMap<(Kind, Kind), bool>;
type Kind = (Place, bool, bool);

impl Judge<'_, '_> {
    /// The arrays that must be private, if nothing else is in the way.
    pub(super) fn memory(&self, at: usize) -> Result<Vec<SymbolId>, Obstacle> {
        let inside = self.distinct_accesses(at);
        let (classes, class_of) = classes(&inside);
        let mut open: Vec<Option<Vec<usize>>> = vec![None; classes.len()];
        let mut distinct = Distinct::default();
        let mut private = Vec::new();
        for (place, one) in inside.iter().enumerate() {
            let own = class_of[place];
            let open =
                open[own].get_or_insert_with(|| self.partners(at, one, place, &classes, &mut distinct));
            let from = |class: &usize| {
                let members = &classes[*class].members;
                &members[members.partition_point(|member| *member < place)..]
            };
            let mut partners: Vec<usize> = open.iter().flat_map(from).copied().collect();
            partners.sort_unstable();
            for two in partners.into_iter().map(|other| inside[other]) {
                budget::spend(1);
                let (a, b) = (one.place.root, two.place.root);
                if private.contains(&a) || private.contains(&b) {
                    continue;
                }
                if a != b {
                    return Err(self.alias(one, two));
                }
                match self.meets(at, one, two) {
                    None => {}
                    Some(_) if self.can_be_private(at, a) => private.push(a),
                    Some(obstacle) => return Err(obstacle),
                }
            }
        }
        Ok(private)
    }

    /// The accesses in a loop, except those to variables that its iterations have their own of. Of those that are the same,
    /// the first.
    fn distinct_accesses(&self, at: usize) -> Vec<&Access> {
        let nest = self.nest;
        let mut met = FxHashSet::default();
        let inside = nest.accesses[nest.loops[at].accesses.clone()].iter();
        let inside = inside.filter(|access| nest.is_within(access.inside, at) && !self.is_own(at, access));
        inside.filter(|access| met.insert((class(access), access.inside, access.conditions))).collect()
    }

    /// The classes that an access, or one of its class after it, may meet.
    fn partners(
        &self,
        at: usize,
        one: &Access,
        place: usize,
        classes: &[Class],
        distinct: &mut Distinct,
    ) -> Vec<usize> {
        let mut open = Vec::new();
        for (other, class) in classes.iter().enumerate() {
            let two = class.first;
            // What only reads can only meet what writes.
            let commute = one.combines.is_some() && one.combines == two.combines;
            let may_conflict = (one.writes || two.writes) && !commute;
            let comes_later = class.members.last().is_some_and(|last| *last >= place);
            if may_conflict && comes_later && self.may_meet_at_all(at, one, two, distinct) {
                open.push(other);
            }
        }
        open
    }

    /// Whether accesses of two classes may meet in memory, whatever their conditions are.
    fn may_meet_at_all(&self, at: usize, one: &Access, two: &Access, distinct: &mut Distinct) -> bool {
        budget::spend(8);
        let nest = self.nest;
        if one.place.root != two.place.root {
            let kinds = (one.kind(), two.kind());
            return !*distinct.entry(kinds).or_insert_with(|| nest.are_distinct(one, two, Some(at)));
        }
        // Data flow is about variables that are only called by their names.
        if one.by_name && two.by_name {
            return false;
        }
        if nest.are_pointers_apart(one, two) {
            return true;
        }
        match nest.way(one, two, Some(at), nest.facts.no_alias) {
            Way::Apart => false,
            Way::Pointers => true,
            Way::Equal(pairs) => !nest.never_meet(&pairs, at),
        }
    }
}

/// What the quick tests look at.
fn class(access: &Access) -> impl Eq + Hash {
    let Access { place, writes, combines, is_deep, by_name, is_kept, .. } = access;
    (place, writes, combines, is_deep, by_name, is_kept)
}

/// Accesses by their classes, and the class of each access.
fn classes<'n>(accesses: &[&'n Access]) -> (Vec<Class<'n>>, Vec<usize>) {
    let mut known = FxHashMap::default();
    let mut classes: Vec<Class> = Vec::new();
    let mut class_of = Vec::with_capacity(accesses.len());
    for (number, access) in accesses.iter().enumerate() {
        let at = *known.entry(class(access)).or_insert(classes.len());
        match classes.get_mut(at) {
            Some(class) => class.members.push(number),
            None => classes.push(Class { first: access, members: vec![number] }),
        }
        class_of.push(at);
    }
    (classes, class_of)
}
