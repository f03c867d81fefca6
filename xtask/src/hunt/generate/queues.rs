//! Queues and waits.
//!
//! Invariant: every queue is waited for before the program ends.

use super::data::{self, Weights};
use super::writer::Writer;

/// The steps of the data families, with `async`, `wait` and directives that wait.
pub fn write(writer: &mut Writer) {
    let weights =
        Weights { dynamic: 3, structured: 1, compute: 6, update: 3, host: 2, sections: 10, queues: 65 };
    data::write(writer, weights);
}
