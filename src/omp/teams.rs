//! The construct of a launch whose teams have variables of their own: those into which they reduce (`sums.rs`), and tables for
//! atomic updates (`tables.rs`).
//!
//! Invariant: the program's variables get what the teams have collected when the launch ends, and nothing else of it.

use crate::plan::{TeamSum, WorkLoop};
use crate::source;

use super::ast::{BaseLanguage, Body, Clause, Directive, Leaf};
use super::lowered::SourceChange;
use super::profile::Tuning;
use super::{sums, tables};

/// The clauses of a launch that belong to its loops.
const OF_LOOPS: [&str; 6] = ["collapse", "dist_schedule", "schedule", "private", "num_threads", "reduction"];

/// The clauses that its two constructs would both need, or that say what variables are without naming them.
const OF_BOTH: [&str; 3] = ["firstprivate", "lastprivate", "default"];

/// The changes that give the teams of a launch their own variables; none if the nest asks for none, or other clauses of the
/// construct would have to be on several.
pub fn parts(
    directive: &Directive,
    work: &WorkLoop,
    tuning: &Tuning,
    is_cpp: bool,
) -> Option<Vec<SourceChange>> {
    let is_divided = directive.leaves.starts_with(&[Leaf::Target, Leaf::Teams, Leaf::Distribute]);
    let has_sums = sums::are_all(&work.team_sums, directive);
    let has_tables =
        !work.tables.is_empty() && !work.tables.iter().any(|table| is_private(directive, &table.array));
    let reduces = directive.clauses.iter().any(|clause| clause.name == "reduction");
    let is_copied =
        |clause: &Clause| OF_BOTH.contains(&clause.name.as_str()) || has_sum(clause, &work.team_sums);
    if !is_divided || !(has_sums || has_tables && !reduces) || directive.clauses.iter().any(is_copied) {
        return None;
    }
    let (inner, outer) =
        directive.clauses.iter().cloned().partition(|clause| OF_LOOPS.contains(&clause.name.as_str()));
    let mut launch = Directive { clauses: outer, ..Directive::new(&directive.leaves[..2]) };
    let has_threads = launch.clauses.iter().any(|clause| clause.name == "thread_limit");
    let threads = if has_tables { tuning.table_threads } else { tuning.sum_threads };
    if let Some(threads) = threads.filter(|_| !has_threads) {
        launch.add(Clause::text("thread_limit", threads.to_string()));
    }
    let mut loops = Directive { clauses: inner, ..Directive::new(&directive.leaves[2..]) };
    // What is between the loops runs in the team, whose variable is the same there.
    if !loops.has(Leaf::Parallel) {
        loops.clauses.retain(|clause| clause.name != "reduction");
    }
    // What it is in the build at hand, whatever that chooses.
    let type_of = if is_cpp { "decltype" } else { "__typeof__" };
    let (sums, tables) = (
        if has_sums { work.team_sums.as_slice() } else { &[] },
        if has_tables { work.tables.as_slice() } else { &[] },
    );
    for sum in sums.iter().filter(|sum| !directive.maps(&sum.variable)) {
        launch.add(Clause::list("map", Some("tofrom"), &sum.variable));
    }
    let mut begin = vec!["{".to_owned()];
    begin.extend(sums.iter().flat_map(|sum| sums::begun(sum, type_of)));
    begin.extend(tables.iter().map(|table| format!("{type_of}({}) {};", table.array, table.name)));
    begin.extend(tables.iter().flat_map(tables::cleared));
    begin.push(loops.line(BaseLanguage::C));
    let end = sums.iter().flat_map(sums::added).chain(tables.iter().flat_map(tables::added));
    let mut parts = vec![SourceChange::Directive(launch), SourceChange::LinesAfter(begin)];
    if has_tables {
        parts.push(tables::respelled(tables));
    }
    parts.push(SourceChange::After(work.stmt, end.chain(["}".to_owned()]).collect()));
    Some(parts)
}

/// Whether a clause of the loops says something with a variable of which each team would have its own there.
fn has_sum(clause: &Clause, sums: &[TeamSum]) -> bool {
    let is_of_loops = OF_LOOPS.contains(&clause.name.as_str()) && clause.name != "reduction";
    is_of_loops && sums.iter().any(|sum| names(clause, &sum.variable))
}

fn is_private(directive: &Directive, array: &str) -> bool {
    directive.clauses.iter().any(|clause| clause.name == "private" && names(clause, array))
}

/// Whether a clause names a variable.
fn names(clause: &Clause, variable: &str) -> bool {
    let is_in = |text: &str| source::words(text).any(|word| word == variable);
    match &clause.body {
        Body::None => false,
        Body::List(items) => items.iter().any(|item| is_in(item)),
        Body::Text(text) => is_in(text),
    }
}
