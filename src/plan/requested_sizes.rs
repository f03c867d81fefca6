//! How many gangs, workers and vector lanes clauses ask for (OpenACC 3.3, 2.5.10 to 2.5.12 and 2.9.2 to 2.9.4).
//!
//! Invariant: expressions stay as the source writes them; of several clauses about one level, the last one counts.

use crate::acc::ast::{ClauseKind, Expr, GangArgument};

/// What the clauses of a construct or a loop ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedSizes {
    /// The factors of the number of gangs other than `1`, if there is a clause about it.
    pub gangs: Option<Vec<String>>,
    /// The number of workers.
    pub workers: Option<String>,
    /// The number of vector lanes.
    pub lanes: Option<String>,
    /// How many iterations a gang takes at a time: what `static` says.
    pub chunk: Option<String>,
}

impl RequestedSizes {
    /// What some clauses ask for.
    pub fn of<'a>(clauses: impl Iterator<Item = &'a ClauseKind>) -> RequestedSizes {
        let mut requested = RequestedSizes::default();
        let text = |expr: &Expr| expr.text.trim().to_owned();
        for kind in clauses {
            match kind {
                ClauseKind::NumGangs(sizes) => {
                    requested.gangs = Some(sizes.iter().map(text).filter(|size| size != "1").collect());
                }
                ClauseKind::NumWorkers(size) => requested.workers = Some(text(size)),
                ClauseKind::VectorLength(size) => requested.lanes = Some(text(size)),
                ClauseKind::Gang(arguments) => arguments.iter().for_each(|one| requested.gang(one)),
                ClauseKind::Worker(Some(size)) => requested.workers = Some(text(size)),
                ClauseKind::Vector(Some(size)) => requested.lanes = Some(text(size)),
                _ => {}
            }
        }
        requested
    }

    fn gang(&mut self, argument: &GangArgument) {
        match argument {
            GangArgument::Num(size) => {
                let size = size.text.trim().to_owned();
                self.gangs = Some(Vec::from_iter((size != "1").then_some(size)));
            }
            GangArgument::Static(size) => self.chunk = Some(size.text.trim().to_owned()),
            GangArgument::Dim(_) => {}
        }
    }

    /// Whether they ask for one gang.
    pub fn is_one_gang(&self) -> bool {
        self.gangs.as_ref().is_some_and(Vec::is_empty)
    }
}

#[cfg(test)]
mod tests;
