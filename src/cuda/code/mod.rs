//! Text of programs: words and edits, lines, where code comes from, changes of files.
//!
//! Invariant: knows no program; works on bytes, spans and words alone.

pub mod change;
pub mod lines;
pub mod origin;
pub mod text;
