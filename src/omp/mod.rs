//! Says an offload plan in OpenMP, for a version and a compiler.
//!
//! Invariant: analyses nothing; what a clause becomes stands on its rule page, and only here and there are OpenMP's words.

mod alias;
mod apart;
mod api;
mod array;
pub mod ast;
mod clause;
mod commons;
mod components;
mod constant;
mod ends;
mod exits;
mod flang;
mod gathered;
mod jumps;
mod launch;
mod limits;
mod look;
mod lower;
mod lowered;
mod map_order;
mod memory;
mod object;
mod objects;
mod operator;
mod partial;
mod pieces;
mod pointers;
mod profile;
mod qualified;
mod queue;
mod reduced;
mod saved;
mod section;
mod sections;
mod structs;
mod texts;
mod turns;

pub use alias::Aliased;
pub use api::{ApiChange, ApiLowered, declarations, lower_api};
pub use array::{loop_declaration, loop_variable};
pub use ast::{Directive, Speech};
pub use commons::with_variables;
pub use components::alias;
pub use limits::limits;
pub use lower::{DECIDED, Queues, Target, lower};
pub use lowered::{Lowered, Part};
pub use memory::{allocated, freed};
pub use objects::with_used_objects;
pub use operator::operator;
pub use partial::{partial, with_objects_first};
pub use profile::preference;
pub use queue::{queue_module, queue_objects};
pub use reduced::reduced;
pub use section::Sections;
