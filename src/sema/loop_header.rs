//! What is known of the header of a loop.
//!
//! Invariant: knows nothing of names; `loops.rs` reads headers.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::host::ir::{BinaryOp, ExprId, StmtId};

use super::symbol::SymbolId;

/// The header of a canonical loop.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// The loop variable.
    pub var: SymbolId,
    /// It is declared in the header.
    pub declared: bool,
    /// Its first value.
    pub first: ExprId,
    /// What it is compared with.
    pub bound: ExprId,
    /// How it is compared, the variable on the left; `!=` only with a step of one.
    pub compare: BinaryOp,
    /// What each iteration adds (`None`: one).
    pub step: Option<ExprId>,
    /// The step is subtracted.
    pub down: bool,
    /// The body.
    pub body: StmtId,
}

impl Header {
    /// The first value, the bound and the step, if that is not one.
    pub fn values(&self) -> impl Iterator<Item = ExprId> + use<> {
        [Some(self.first), Some(self.bound), self.step].into_iter().flatten()
    }

    /// Whether the variable comes down to its bound, be it by a step that is subtracted or by a negative one that is added.
    pub fn counts_down(&self) -> bool {
        match self.compare {
            BinaryOp::Less | BinaryOp::LessEqual => false,
            BinaryOp::Greater | BinaryOp::GreaterEqual => true,
            _ => self.down,
        }
    }
}

/// Why a loop is not canonical, as words for a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotCanonical(pub &'static str);

/// The headers of the loops that were asked for before.
#[derive(Debug, Default)]
pub(super) struct KnownHeaders(RefCell<FxHashMap<StmtId, Result<Header, NotCanonical>>>);

impl KnownHeaders {
    /// What was found before, or what `read` finds now: proofs, levels and variables ask for the same loops.
    pub(super) fn or(
        &self,
        stmt: StmtId,
        read: impl FnOnce() -> Result<Header, NotCanonical>,
    ) -> Result<Header, NotCanonical> {
        let known = self.0.borrow().get(&stmt).copied();
        known.unwrap_or_else(|| {
            let header = read();
            self.0.borrow_mut().insert(stmt, header);
            header
        })
    }
}
