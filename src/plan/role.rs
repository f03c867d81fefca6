//! One role for each variable of a construct, where clauses and implicit rules give it several.
//!
//! Invariant: a reduction hides `private`, `private` hides `firstprivate`, and a copy of each thread hides one that is mapped.

use super::{Attribute, Item, Launch, Plan, Sharing, WorkLoop};

/// Leaves each variable of each launch and loop its one role.
pub(super) fn settle(plan: &mut Plan) {
    for item in &mut plan.items {
        match item {
            Item::Launch(launch) => of_launch(launch),
            Item::Loop(work) => of_loop(work),
            Item::Left
            | Item::Gone
            | Item::ByOneGang
            | Item::Divided(_)
            | Item::Clauses { .. }
            | Item::Declare { .. }
            | Item::Routine { .. } => {}
        }
    }
    plan.inserted.iter_mut().for_each(|(_, _, launch)| of_launch(launch));
    plan.inserted_loops.iter_mut().for_each(|(_, work)| of_loop(work));
    plan.conditions.iter_mut().for_each(|condition| of_launch(&mut condition.launch));
    plan.singles_mut().for_each(of_launch);
}

/// A launch and the loop that it is combined with are one construct.
fn of_launch(launch: &mut Launch) {
    let all: Vec<Attribute> = launch.all_attributes().cloned().collect();
    launch.attributes.retain(|one| !is_hidden(one, &all));
    if let Some(nest) = &mut launch.nest {
        nest.attributes.retain(|one| !is_hidden(one, &all));
    }
}

fn of_loop(work: &mut WorkLoop) {
    let all = work.attributes.clone();
    work.attributes.retain(|one| !is_hidden(one, &all));
}

/// Whether another role of the same variable counts, and not this one.
fn is_hidden(attribute: &Attribute, all: &[Attribute]) -> bool {
    let has = |wanted: fn(&Sharing) -> bool| {
        all.iter().any(|other| other.item == attribute.item && wanted(&other.sharing))
    };
    let reduces = |sharing: &Sharing| matches!(sharing, Sharing::Reduction(_));
    let is_private = |sharing: &Sharing| *sharing == Sharing::Private;
    let is_first = |sharing: &Sharing| *sharing == Sharing::Firstprivate;
    match attribute.sharing {
        Sharing::Private => has(reduces),
        Sharing::Firstprivate => has(reduces) || has(is_private),
        // What is reduced is copied as well: the result goes there.
        Sharing::Copy => has(is_private) || has(is_first),
        Sharing::Reduction(_) | Sharing::Deviceptr => false,
    }
}

#[cfg(test)]
mod tests;
