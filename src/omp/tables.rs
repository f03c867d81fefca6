//! Tables of teams: the construct of a launch with what clears and adds the tables in which its teams collect atomic updates.
//!
//! Invariant: a table belongs to a team; an element that no update has changed adds nothing.

use crate::host::ir::StmtId;
use crate::plan::{Table, WorkLoop};

use super::ast::{BaseLanguage, Body, Clause, Directive, Leaf};
use super::lowered::SourceChange;

/// The clauses of a launch that belong to its loops.
const OF_LOOPS: [&str; 5] = ["collapse", "dist_schedule", "schedule", "private", "num_threads"];

/// The changes that give the teams of a launch their tables; none if the nest asks for none, or other clauses of the
/// construct would have to be on several.
pub fn parts(
    directive: &Directive,
    work: &WorkLoop,
    threads: Option<u32>,
    is_cpp: bool,
) -> Option<Vec<SourceChange>> {
    let is_copied = |clause: &Clause| matches!(clause.name.as_str(), "reduction" | "firstprivate");
    let is_divided = directive.leaves.starts_with(&[Leaf::Target, Leaf::Teams, Leaf::Distribute]);
    let is_own = work.tables.iter().any(|table| is_private(directive, &table.array));
    if work.tables.is_empty() || !is_divided || is_own || directive.clauses.iter().any(is_copied) {
        return None;
    }
    let (inner, outer) =
        directive.clauses.iter().cloned().partition(|clause| OF_LOOPS.contains(&clause.name.as_str()));
    let mut launch = Directive { clauses: outer, ..Directive::new(&directive.leaves[..2]) };
    let has_threads = launch.clauses.iter().any(|clause| clause.name == "thread_limit");
    if let Some(threads) = threads.filter(|_| !has_threads) {
        launch.add(Clause::text("thread_limit", threads.to_string()));
    }
    let loops = Directive { clauses: inner, ..Directive::new(&directive.leaves[2..]) };
    let mut begin = vec!["{".to_owned()];
    // What it is in the build at hand, whatever that chooses.
    let type_of = if is_cpp { "decltype" } else { "__typeof__" };
    begin.extend(work.tables.iter().map(|table| format!("{type_of}({}) {};", table.array, table.name)));
    begin.extend(work.tables.iter().flat_map(cleared));
    begin.push(loops.line(BaseLanguage::C));
    let names =
        |table: &Table| -> Vec<_> { table.places.iter().map(|place| (*place, table.name.clone())).collect() };
    Some(vec![
        SourceChange::Directive(launch),
        SourceChange::LinesBehind(begin),
        SourceChange::Respelled(work.tables.iter().flat_map(names).collect()),
        added(work.stmt, &work.tables),
    ])
}

fn is_private(directive: &Directive, array: &str) -> bool {
    directive.clauses.iter().any(|clause| {
        clause.name == "private"
            && matches!(&clause.body, Body::List(items) if items.iter().any(|item| item == array))
    })
}

fn of_threads(table: &Table) -> [String; 2] {
    let Table { counter, array, .. } = table;
    [
        Directive::new(&[Leaf::Parallel, Leaf::For]).line(BaseLanguage::C),
        format!("for (unsigned {counter} = 0; {counter} < sizeof {array} / sizeof {array}[0]; {counter}++)"),
    ]
}

fn cleared(table: &Table) -> Vec<String> {
    let Table { name, counter, .. } = table;
    [&of_threads(table)[..], &[format!("    {name}[{counter}] = 0;")]].concat()
}

/// What adds the tables to their arrays, after the loops.
fn added(stmt: StmtId, tables: &[Table]) -> SourceChange {
    let lines = |table: &Table| {
        let Table { array, name, counter, operator, .. } = table;
        let add = [
            format!("    if ({name}[{counter}] != 0) {{"),
            Directive::new(&[Leaf::Named("atomic update")]).line(BaseLanguage::C),
            format!("        {array}[{counter}] {operator}= {name}[{counter}];"),
            "    }".to_owned(),
        ];
        [&of_threads(table)[..], &add[..]].concat()
    };
    SourceChange::After(stmt, tables.iter().flat_map(lines).chain(["}".to_owned()]).collect())
}
