//! The rooms of `src/cuda`: imports between them go one way.
//!
//! Invariant: what a room needs of another stands in one before it; the façade of CUDA is used by no room.

use super::circles::{imports, modules};

/// The rooms of CUDA: each may use itself and those before it.
const CUDA: &[&str] = &["code", "program", "types", "meaning", "fit", "schedule", "kernel", "file", "host"];

/// The place of a module's room among them; `None` for the façade.
fn place(module: &[String]) -> Option<usize> {
    let room = module.get(1)?;
    let place = CUDA.iter().position(|known| known == room);
    Some(place.unwrap_or_else(|| panic!("the room `cuda::{room}` has no place in the order")))
}

#[test]
fn rooms_of_cuda_import_only_those_before_them() {
    let modules = modules();
    let is_cudas = |module: &[String]| module.first().is_some_and(|first| first == "cuda");
    let mut wrong = Vec::new();
    let mut rooms = 0;
    for (module, others) in imports(&modules).iter().filter(|(module, _)| is_cudas(module)) {
        let Some(own) = place(module) else { continue };
        rooms = rooms.max(own + 1);
        for other in others.iter().filter(|other| is_cudas(other)) {
            if place(other).is_none_or(|other| other > own) {
                wrong.push(format!("{}: `{}` comes later", modules[module], other.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(rooms, CUDA.len(), "a room of the order is gone");
}
