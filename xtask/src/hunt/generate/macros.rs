//! Programs of the other families, written with macros.
//!
//! Invariant: a macro changes how a program is written, not what it means.

use super::Family;
use super::writer::Writer;
use crate::hunt::program::Style;

/// One of the other families; in Fortran, where this writes no macros, with constants that have names.
pub fn write(writer: &mut Writer) {
    let family = writer.random.pick(&[
        Family::Present,
        Family::Sections,
        Family::Levels,
        Family::Routines,
        Family::Triangles,
        Family::Kernels,
        Family::Updates,
        Family::Queues,
    ]);
    writer.program.style = Style {
        pragma_macros: writer.random.chance(50),
        loop_macros: writer.random.chance(10),
        constant_macros: true,
        access_macros: writer.random.chance(40),
        name_macros: writer.random.chance(40),
        stars: false,
    };
    family.write(writer);
}
