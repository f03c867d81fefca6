//! Where the threads of a gang meet, and which of them runs alone what the others wait for.
//!
//! Invariant: threads meet where all of them come.

use super::body::Body;
use crate::cuda::program::levels::Levels;
use crate::host::ir::{StmtId, StmtKind};
use crate::source::Span;

/// The thread that runs code in worker-single or vector-single mode (2.9), and what the others need.
pub(super) struct Single {
    /// The condition that it meets.
    pub condition: &'static str,
    /// The barrier that all of them share.
    pub barrier: String,
    /// What gives its value to all of them.
    pub broadcast: &'static str,
}

impl Body<'_, '_> {
    /// The barrier of the lanes of a worker.
    fn vector_sync(&self) -> String {
        match self.sizes {
            Some((lanes, _)) => format!("acc2omp::vector_sync<{lanes}>();"),
            None => "acc2omp::vector_sync();".to_owned(),
        }
    }

    /// The barrier of the threads that run what stands on these levels together.
    pub(super) fn sync(&self, mode: Levels) -> String {
        match self.shape.rows && mode.worker {
            true => self.vector_sync(),
            false => "__syncthreads();".to_owned(),
        }
    }

    /// Whether the body of a loop names a variable that each gang or worker has.
    pub(super) fn names_reused(&self, stmt: StmtId) -> bool {
        let (unit, symbols) = (self.input.unit(), self.input.symbols);
        let mut names = unit.expr_ids_in(self.input.stmt_span(stmt)).filter_map(|id| symbols.named(unit, id));
        !self.reused.is_empty() && names.any(|symbol| self.reused.contains(&symbol))
    }

    /// Whether other code of the region runs after a loop.
    pub(super) fn is_followed(&self, outer: Span) -> bool {
        let rest = Span { start: outer.end, end: self.region.end };
        self.input.unit().stmts_in(rest).next().is_some() || self.in_sequential_loop(outer)
    }

    /// Whether a sequential loop of the region holds `inner`.
    pub(super) fn in_sequential_loop(&self, inner: Span) -> bool {
        let is_loop = |kind: &StmtKind| {
            matches!(kind, StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::DoWhile { .. })
        };
        let holds = |span: Span| span != inner && span.contains(inner);
        self.input.unit().stmts_in(self.region).any(|stmt| is_loop(&stmt.kind) && holds(stmt.span))
    }

    /// One thread of those that differ in `missing`.
    pub(super) fn single_thread(&self, missing: Levels) -> Single {
        let all = "__syncthreads();".to_owned();
        let (condition, barrier, broadcast) = match (self.shape.rows, missing.worker, missing.vector) {
            (true, false, true) => ("threadIdx.x == 0", self.vector_sync(), "acc2omp::vector_broadcast"),
            (true, true, false) => ("threadIdx.y == 0", all, "acc2omp::gang_broadcast"),
            (true, _, _) => ("threadIdx.x == 0 && threadIdx.y == 0", all, "acc2omp::gang_broadcast"),
            (false, _, _) => ("threadIdx.x == 0", all, "acc2omp::gang_broadcast"),
        };
        Single { condition, barrier, broadcast }
    }
}
