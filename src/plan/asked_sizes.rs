//! How many gangs, workers and vector lanes clauses ask for (OpenACC 3.3, 2.5.10 to 2.5.12 and 2.9.2 to 2.9.4).
//!
//! Invariant: expressions stay as the source writes them; of several clauses about one level, the last one counts.

use crate::acc::ast::{ClauseKind, Expr, GangArgument};

/// What the clauses of a construct or a loop ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskedSizes {
    /// The factors of the number of gangs other than `1`, if there is a clause about it.
    pub gangs: Option<Vec<String>>,
    /// The number of workers.
    pub workers: Option<String>,
    /// The number of vector lanes.
    pub lanes: Option<String>,
    /// How many iterations a gang takes at a time: what `static` says.
    pub chunk: Option<String>,
}

impl AskedSizes {
    /// What some clauses ask for.
    pub fn of<'a>(clauses: impl Iterator<Item = &'a ClauseKind>) -> AskedSizes {
        let mut asked = AskedSizes::default();
        let text = |expr: &Expr| expr.text.trim().to_owned();
        for kind in clauses {
            match kind {
                ClauseKind::NumGangs(sizes) => {
                    asked.gangs = Some(sizes.iter().map(text).filter(|size| size != "1").collect());
                }
                ClauseKind::NumWorkers(size) => asked.workers = Some(text(size)),
                ClauseKind::VectorLength(size) => asked.lanes = Some(text(size)),
                ClauseKind::Gang(arguments) => arguments.iter().for_each(|one| asked.gang(one)),
                ClauseKind::Worker(Some(size)) => asked.workers = Some(text(size)),
                ClauseKind::Vector(Some(size)) => asked.lanes = Some(text(size)),
                _ => {}
            }
        }
        asked
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
    use super::AskedSizes;
    use crate::acc::ast::{ClauseKind, Expr, GangArgument};
    use crate::source::Span;

    fn expr(text: &str) -> Expr {
        Expr { text: text.to_owned(), span: Span { start: 0, end: 0 } }
    }

    #[test]
    fn gangs_are_a_product() {
        let gangs = |sizes: &[&str]| {
            let clauses = [ClauseKind::NumGangs(sizes.iter().map(|size| expr(size)).collect())];
            AskedSizes::of(clauses.iter())
        };
        assert_eq!(gangs(&["n + 1", "2"]).gangs, Some(vec!["n + 1".to_owned(), "2".to_owned()]));
        assert!(gangs(&["1", "1"]).is_one_gang());
        assert!(!gangs(&["n"]).is_one_gang());
        assert!(!AskedSizes::default().is_one_gang());
    }

    #[test]
    fn each_level_has_its_size() {
        let clauses = [
            ClauseKind::Gang(vec![GangArgument::Num(expr("1")), GangArgument::Static(expr("*"))]),
            ClauseKind::Worker(Some(expr("4"))),
            ClauseKind::Vector(None),
            ClauseKind::VectorLength(expr("32")),
        ];
        let asked = AskedSizes::of(clauses.iter());
        assert!(asked.is_one_gang());
        assert_eq!(asked.chunk.as_deref(), Some("*"));
        assert_eq!((asked.workers.as_deref(), asked.lanes.as_deref()), (Some("4"), Some("32")));
    }
}
