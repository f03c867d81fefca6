//! Tables of teams: what clears and adds the tables in which the teams of a launch collect atomic updates.
//!
//! Invariant: a table belongs to a team; an element that no update has changed adds nothing.

use crate::plan::Table;

use super::ast::{BaseLanguage, Directive, Leaf};
use super::lowered::SourceChange;

fn of_threads(table: &Table) -> [String; 2] {
    let Table { counter, array, .. } = table;
    [
        Directive::new(&[Leaf::Parallel, Leaf::For]).line(BaseLanguage::C),
        format!("for (unsigned {counter} = 0; {counter} < sizeof {array} / sizeof {array}[0]; {counter}++)"),
    ]
}

/// The tables in place of their arrays.
pub fn respelled(tables: &[Table]) -> SourceChange {
    let names =
        |table: &Table| -> Vec<_> { table.places.iter().map(|place| (*place, table.name.clone())).collect() };
    SourceChange::Respelled(tables.iter().flat_map(names).collect())
}

/// What clears a table, before the loops.
pub fn cleared(table: &Table) -> Vec<String> {
    let Table { name, counter, .. } = table;
    [&of_threads(table)[..], &[format!("    {name}[{counter}] = 0;")]].concat()
}

/// What adds a table to its array, after the loops.
pub fn added(table: &Table) -> Vec<String> {
    let Table { array, name, counter, operator, .. } = table;
    let add = [
        format!("    if ({name}[{counter}] != 0) {{"),
        Directive::new(&[Leaf::Named("atomic update")]).line(BaseLanguage::C),
        format!("        {array}[{counter}] {operator}= {name}[{counter}];"),
        "    }".to_owned(),
    ];
    [&of_threads(table)[..], &add[..]].concat()
}
