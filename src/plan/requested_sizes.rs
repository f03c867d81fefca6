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
mod tests {
    use super::RequestedSizes;
    use crate::acc::ast::{ClauseKind, Expr, GangArgument};
    use crate::source::Span;

    fn expr(text: &str) -> Expr {
        Expr { text: text.to_owned(), span: Span { start: 0, end: 0 } }
    }

    #[test]
    fn gangs_are_a_product() {
        let gangs = |sizes: &[&str]| {
            let clauses = [ClauseKind::NumGangs(sizes.iter().map(|size| expr(size)).collect())];
            RequestedSizes::of(clauses.iter())
        };
        assert_eq!(gangs(&["n + 1", "2"]).gangs, Some(vec!["n + 1".to_owned(), "2".to_owned()]));
        assert!(gangs(&["1", "1"]).is_one_gang());
        assert!(!gangs(&["n"]).is_one_gang());
        assert!(!RequestedSizes::default().is_one_gang());
    }

    #[test]
    fn each_level_has_its_size() {
        let clauses = [
            ClauseKind::Gang(vec![GangArgument::Num(expr("1")), GangArgument::Static(expr("*"))]),
            ClauseKind::Worker(Some(expr("4"))),
            ClauseKind::Vector(None),
            ClauseKind::VectorLength(expr("32")),
        ];
        let requested = RequestedSizes::of(clauses.iter());
        assert!(requested.is_one_gang());
        assert_eq!(requested.chunk.as_deref(), Some("*"));
        assert_eq!((requested.workers.as_deref(), requested.lanes.as_deref()), (Some("4"), Some("32")));
    }
}
