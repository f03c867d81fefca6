//! Records without a tag that declare nothing: what is around them names their members as its own.
//!
//! Invariant: found for all records of a file at once, in proportion to them.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::Span;

use super::ir::{BaseType, RecordId, Unit};

/// The anonymous unions and structs of a file.
#[derive(Debug, Default)]
pub struct Anonymous {
    /// Those in a class, and in such records there, by the bytes of the class.
    inside: BTreeMap<(u32, u32), Vec<RecordId>>,
    /// Those in no record.
    apart: Vec<RecordId>,
}

impl Anonymous {
    /// Those of a file.
    pub fn of(unit: &Unit) -> Anonymous {
        if unit.records.iter().all(|record| record.tag.is_some()) {
            return Anonymous::default();
        }
        // Before a semicolon the grammar may see an empty name.
        let declaring = unit.decls.iter().filter(|decl| !decl.name.is_empty());
        let declared: BTreeSet<RecordId> = declaring
            .filter_map(|decl| match decl.base {
                BaseType::Record(id) => Some(id),
                _ => None,
            })
            .collect();
        let mut order: Vec<usize> = (0..unit.records.len()).collect();
        let place = |at: &usize| unit.records[*at].span;
        order.sort_by_key(|at| (place(at).start, std::cmp::Reverse(place(at).end)));
        let mut found = Anonymous::default();
        let mut open: Vec<usize> = Vec::new();
        for at in order {
            while open.last().is_some_and(|last| !place(last).contains(place(&at))) {
                open.pop();
            }
            let is_anonymous =
                |at: &usize| unit.records[*at].tag.is_none() && !declared.contains(&RecordId(*at as u32));
            if is_anonymous(&at) {
                let record = RecordId(at as u32);
                match open.iter().rev().find(|outer| !is_anonymous(outer)) {
                    Some(class) => found.inside.entry(key(place(class))).or_default().push(record),
                    None if open.is_empty() => found.apart.push(record),
                    None => {}
                }
            }
            open.push(at);
        }
        found
    }

    /// Those in a class, by its bytes.
    pub fn inside(&self, class: Span) -> &[RecordId] {
        self.inside.get(&key(class)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Those in no record: functions and files have them.
    pub fn apart(&self) -> &[RecordId] {
        &self.apart
    }
}

fn key(span: Span) -> (u32, u32) {
    (span.start, span.end)
}
