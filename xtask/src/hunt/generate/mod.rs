//! Makes programs at random.
//!
//! Invariant: after each statement the model has run what is written so far, so that what is returned is defined, and what the
//! memories hold is known while it is written.

mod aliases;
mod attach;
mod data;
mod declares;
mod expressions;
mod kernels;
mod levels;
mod macros;
mod members;
mod queues;
mod routines;
mod triangles;
mod updates;
mod writer;

use self::writer::Writer;
use super::Language;
use super::model::{self, Expected};
use super::program::Program;
use super::random::Random;

/// What a program is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, clap::ValueEnum)]
pub enum Family {
    /// Structured and dynamic reference counts.
    Counts,
    /// What is present, and what a clause does then.
    Present,
    /// Sections of arrays.
    Sections,
    /// Pointers in structures.
    Attach,
    /// Queues and waits.
    Queues,
    /// Private, firstprivate and reduced variables at each level.
    Levels,
    /// Device routines.
    Routines,
    /// Several names of one object.
    Aliases,
    /// Members, and arrays of structures.
    Members,
    /// Macros, in what one of the other families writes.
    Macros,
    /// `declare`.
    Declares,
    /// Updates of parts.
    Updates,
    /// Loops whose bounds depend on other loops.
    Triangles,
    /// `kernels` and `loop auto`, with and without dependences.
    Kernels,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 14] = [
        Family::Counts,
        Family::Present,
        Family::Sections,
        Family::Attach,
        Family::Queues,
        Family::Levels,
        Family::Routines,
        Family::Aliases,
        Family::Members,
        Family::Macros,
        Family::Declares,
        Family::Updates,
        Family::Triangles,
        Family::Kernels,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Family::Counts => "counts",
            Family::Present => "present",
            Family::Sections => "sections",
            Family::Attach => "attach",
            Family::Queues => "queues",
            Family::Levels => "levels",
            Family::Routines => "routines",
            Family::Aliases => "aliases",
            Family::Members => "members",
            Family::Macros => "macros",
            Family::Declares => "declares",
            Family::Updates => "updates",
            Family::Triangles => "triangles",
            Family::Kernels => "kernels",
        }
    }

    fn write(self, writer: &mut Writer) {
        match self {
            Family::Counts => data::counts(writer),
            Family::Present => data::present(writer),
            Family::Sections => data::sections(writer),
            Family::Attach => attach::write(writer),
            Family::Queues => queues::write(writer),
            Family::Levels => levels::write(writer),
            Family::Routines => routines::write(writer),
            Family::Aliases => aliases::write(writer),
            Family::Members => members::write(writer),
            Family::Macros => macros::write(writer),
            Family::Declares => declares::write(writer),
            Family::Updates => updates::write(writer),
            Family::Triangles => triangles::write(writer),
            Family::Kernels => kernels::write(writer),
        }
    }
}

/// A program, and what it prints.
#[derive(Clone, Debug)]
pub struct Made {
    /// What it is about.
    pub family: Family,
    /// The program.
    pub program: Program,
    /// What it prints.
    pub expected: Expected,
}

/// Makes the program of a number; none if what was written is not defined in all orders.
pub fn program(seed: u64, language: Language, family: Family, number: u64) -> Option<Made> {
    let random = Random::of_case(seed, language as u64, number);
    let mut writer = Writer::new(random, language);
    writer.program.style.stars = writer.random.chance(8);
    writer.program.style.constant_macros = writer.random.chance(50);
    family.write(&mut writer);
    let program = writer.finish();
    let expected = model::expected(&program).ok()?;
    let says_something = expected.separate.len() > 1;
    says_something.then_some(Made { family, program, expected })
}
