//! What the code of a region does: its names and their types, what it reads and writes, the shape of its loops.
//!
//! Invariant: states facts about the program; decides nothing and knows no target.

mod array;
mod c_library;
mod c_type;
mod components;
mod designator;
mod element;
mod elemental;
mod flow;
mod fortran;
mod loops;
mod macros;
mod memory;
mod numeric;
mod output;
mod parallel;
mod reduction;
mod subscript;
mod sum;
mod symbols;

pub use array::{Elementwise, Line, LineKind, Piece, Refusal, Why, elementwise};
pub use c_library::{Overloaded, Parameter, overloaded};
pub use c_type::{CNumber, CType, CTypes, Rank};
pub use components::{
    Component, Lent, Path, Place, Step, inquired, is_lent, is_selected, lender, lent, paths, record_of,
};
pub use element::{Element, Type};
pub use elemental::{is_intrinsic as is_pure_intrinsic, is_transformational};
pub use flow::{
    Use, Uses, children, escaping, live_after, path_to, reads_of_expr, uses, uses_beside, uses_beside_headers,
};
pub use fortran::resolve;
pub use loops::{Header, NotCanonical, header, is_tight, only_loop, trip_constant};
pub use memory::{Moved, gapped, moves, retargets};
pub use output::{Output, output, prints};
pub use parallel::{
    Amount, Around, Combine, Distance, Facts, Finding, Induction, Kind, Level, Needs, Obstacle, Reach, Said,
    Verdict, combined, fixed_step, inductions, integer, is_mathematical, judge, may_change, reached,
};
pub use reduction::{Last, Reduction};
pub use subscript::{Range, Subscript, plain};
pub use sum::Sum;
pub use symbols::{Bounds, Class, Dimensions, Symbol, SymbolId, SymbolKind, Symbols, has_variable_length};
