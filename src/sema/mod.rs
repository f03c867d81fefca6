//! What the code of a region does: its names and their types, what it reads and writes, the shape of its loops.
//!
//! Invariant: states facts about the program; decides nothing and knows no target.

mod array;
mod assigned;
mod c_library;
mod c_type;
mod components;
mod constant;
mod decay;
mod derived_types;
mod designator;
mod element;
mod elemental;
mod flow;
mod fortran;
mod hidden;
mod holds;
mod indexed;
mod lent;
mod loop_header;
mod loops;
mod macros;
mod memory;
mod numeric;
mod objects;
mod operators;
mod output;
mod outside;
mod parallel;
mod reduction;
mod refusal;
mod shown;
mod subscript;
mod sum;
mod symbol;
mod symbols;
mod texts;
mod type_names;
mod typing;
mod uses;
mod value_type;
mod ways;

pub use array::{Elementwise, LineKind, Piece, elementwise};
pub use c_library::{Overloaded, Parameter, overloaded};
pub use c_type::{CNumber, CType, CTypes, Rank};
pub use components::{
    Chain, Path, Place, Step, chain, inquired, is_lent, is_selected, lender, lent, lent_whole, paths,
    record_of,
};
pub use constant::constant;
pub use decay::decays;
pub use derived_types::Component;
pub use elemental::{is_intrinsic as is_pure_intrinsic, is_transformational};
pub use flow::{
    children, escaping, is_named_outside, live_after, path_to, reads_of_expr, uses, uses_beside,
    uses_beside_headers,
};
pub use fortran::{resolve, type_of_letter};
pub use holds::{Element, Type};
pub use indexed::{elements, subscripts};
pub use loop_header::{Header, NotCanonical};
pub use loops::{
    counting_member, header, is_tight, nested_loops, only_loop, trip_constant, trips, unseen_type,
};
pub use memory::{Moved, gapped, moves, retargets};
pub use numeric::enclosed;
pub use operators::{is_assignment, operator_sign};
pub use output::{Output, output, prints};
pub use outside::{Others, Outside};
pub use parallel::{
    Amount, Around, Distance, Facts, Finding, Induction, Integer, Judged, Kind, Layout, Needs, Obstacle,
    Reach, Said, Verdict, combined, commuting, computed, declared, fixed_step, inductions, integer,
    is_mathematical, judge, judge_and_reach, may_change, reached,
};
pub use reduction::{Last, Reduction};
pub use refusal::{Refusal, Why};
pub use subscript::{Range, Subscript, plain};
pub use sum::Sum;
pub use symbol::{Class, Dimensions, Symbol, SymbolId, SymbolKind};
pub use symbols::{Symbols, has_variable_length};
pub use texts::Texts;
pub use uses::{Use, Uses};
