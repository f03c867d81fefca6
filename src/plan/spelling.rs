//! The user's own spelling of names: Fortran's are compared in lower case, and written as they are declared.
//!
//! Invariant: changes letters from small to large and back, nothing else.

use super::{Attribute, Input, Item, Maker};

/// Spells the variables of all attributes as their declarations do.
pub(super) fn respell(maker: &mut Maker) {
    let mut plan = std::mem::take(&mut maker.plan);
    for (index, item) in plan.items.iter_mut().enumerate() {
        match item {
            Item::Launch(launch) => {
                each(&maker.input, index, &mut launch.attributes);
                launch.nest.iter_mut().for_each(|nest| each(&maker.input, index, &mut nest.attributes));
            }
            Item::Loop(work) => each(&maker.input, index, &mut work.attributes),
            Item::Clauses { implied, .. } => each(&maker.input, index, implied),
            Item::Left
            | Item::Gone
            | Item::ByOneGang
            | Item::Divided(_)
            | Item::Declare { .. }
            | Item::Routine { .. } => {}
        }
    }
    for (index, _, launch) in &mut plan.inserted {
        each(&maker.input, *index, &mut launch.attributes);
        launch.nest.iter_mut().for_each(|nest| each(&maker.input, *index, &mut nest.attributes));
    }
    for launch in plan.singles_mut() {
        each(&maker.input, launch.directive, &mut launch.attributes);
    }
    for (index, work) in &mut plan.inserted_loops {
        each(&maker.input, *index, &mut work.attributes);
    }
    maker.plan = plan;
}

fn each(input: &Input, index: usize, attributes: &mut [Attribute]) {
    let place = input.bound[index].directive.span.start;
    for attribute in attributes {
        let Some(symbol) = input.symbols.lookup(&attribute.item, place) else { continue };
        if input.symbols.get(symbol).spelling.is_some() {
            attribute.item = input.symbols.get(symbol).spelled(input.file);
        }
    }
}
