//! The user's own spelling of names: Fortran's are compared in lower case, and written as they are declared.
//!
//! Invariant: changes letters from small to large and back, nothing else.

use super::{Attribute, Item, Maker};

/// Spells the variables of all attributes as their declarations do.
pub(super) fn respell(maker: &mut Maker) {
    let mut plan = std::mem::take(&mut maker.plan);
    for (index, item) in plan.items.iter_mut().enumerate() {
        match item {
            Item::Launch(launch) => {
                each(maker, index, &mut launch.attributes);
                launch.nest.iter_mut().for_each(|nest| each(maker, index, &mut nest.attributes));
            }
            Item::Loop(work) => each(maker, index, &mut work.attributes),
            Item::Clauses { implied, .. } => each(maker, index, implied),
            Item::Left
            | Item::Gone
            | Item::ByOneGang
            | Item::Divided(_)
            | Item::Declare { .. }
            | Item::Routine { .. } => {}
        }
    }
    for (index, _, launch) in &mut plan.inserted {
        each(maker, *index, &mut launch.attributes);
        launch.nest.iter_mut().for_each(|nest| each(maker, *index, &mut nest.attributes));
    }
    for launch in plan.singles_mut() {
        each(maker, launch.directive, &mut launch.attributes);
    }
    for (index, work) in &mut plan.inserted_loops {
        each(maker, *index, &mut work.attributes);
    }
    maker.plan = plan;
}

fn each(maker: &Maker, index: usize, attributes: &mut [Attribute]) {
    let place = maker.bound[index].directive.span.start;
    for attribute in attributes {
        let Some(symbol) = maker.symbols.lookup(&attribute.item, place) else { continue };
        if let Some(span) = maker.symbols.get(symbol).spelling {
            attribute.item = maker.file.text(span).into_owned();
        }
    }
}
