//! What the clauses of one directive amount to, before the directive is written.
//!
//! Invariant: things stand in the order of the clauses that made them.

use crate::diag::Diag;
use crate::rules::{Place, RowId};

use super::ast::Clause;
use super::pieces::Piece;

/// What the clauses of one directive amount to.
#[derive(Debug, Default)]
pub struct Gathered {
    /// OpenMP clauses with the place that the page names.
    pub clauses: Vec<(Place, Clause)>,
    /// Clauses that directives of their own say: the sections of an update that are not one piece of memory.
    pub pieces: Vec<Piece>,
    /// Where new directives begin, since an update keeps the order of its list items.
    pub turns: Vec<Start>,
    /// Statements that take the directive's place.
    pub statements: Vec<String>,
    /// The condition under which they run.
    pub condition: Option<String>,
    /// The rows used.
    pub rows: Vec<&'static RowId>,
    /// What there is to say.
    pub diags: Vec<Diag>,
    /// Clauses of `enter data` where the directive stands, and of `exit data` where control leaves its region.
    pub region: (Vec<Clause>, Vec<Clause>),
    /// Variables of `declare target`, and of `declare target link`.
    pub globals: (Vec<String>, Vec<String>),
    /// The routine that the device calls instead.
    pub variant: Option<String>,
    /// Lines before the directive.
    pub before: Vec<String>,
    /// Lines at the end of the region.
    pub at_end: Vec<String>,
    /// Lines before and after the directive, whose data may come and go between them.
    pub around: (Vec<String>, Vec<String>),
    /// The first and the last lines while its data is on the device.
    pub inside: (Vec<String>, Vec<String>),
    /// The queue that the directive is put into, where it has no clause for it.
    pub queue: Option<String>,
    /// Some clause cannot be translated: the directive stays.
    pub refused: bool,
    /// `num_workers` and `vector_length`, multiplied for `thread_limit`.
    pub lanes: Vec<String>,
    /// Variables that a pointer hides in the construct.
    pub shadowed: Vec<String>,
    /// A condition under which the region runs on the device, from `if` and `self`.
    pub conditions: Vec<String>,
}

/// Where a turn begins: how many clauses, pieces and statements come before it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start {
    pub(super) clauses: usize,
    pub(super) pieces: usize,
    pub(super) statements: usize,
}

impl Start {
    /// A turn begins after what has been gathered so far.
    pub fn here(gathered: &Gathered) -> Start {
        Start {
            clauses: gathered.clauses.len(),
            pieces: gathered.pieces.len(),
            statements: gathered.statements.len(),
        }
    }
}
