//! Records without a tag that declare nothing: what is around them names their members as its own.
//!
//! Invariant: found for all records of a file at once, in proportion to them.

use std::collections::BTreeMap;

use crate::source::Span;

/// The anonymous unions and structs of a file, by the numbers of the records.
#[derive(Clone, Debug, Default)]
pub struct Anonymous {
    /// Those in a class, and in such records there, by the bytes of the class.
    inside: BTreeMap<(u32, u32), Vec<u32>>,
    /// Those in no record.
    apart: Vec<u32>,
}

impl Anonymous {
    /// Those among records with these bytes, of which `is_anonymous` tells by the number.
    pub fn of(places: &[Span], is_anonymous: impl Fn(usize) -> bool) -> Anonymous {
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|at| (places[*at].start, std::cmp::Reverse(places[*at].end)));
        let mut found = Anonymous::default();
        let mut open: Vec<usize> = Vec::new();
        for at in order {
            while open.last().is_some_and(|last| !places[*last].contains(places[at])) {
                open.pop();
            }
            if is_anonymous(at) {
                match open.iter().rev().find(|outer| !is_anonymous(**outer)) {
                    Some(class) => found.inside.entry(key(places[*class])).or_default().push(at as u32),
                    None if open.is_empty() => found.apart.push(at as u32),
                    None => {}
                }
            }
            open.push(at);
        }
        found
    }

    /// Those in a class, by its bytes.
    pub fn inside(&self, class: Span) -> &[u32] {
        self.inside.get(&key(class)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Those in no record: functions and files have them.
    pub fn apart(&self) -> &[u32] {
        &self.apart
    }
}

fn key(span: Span) -> (u32, u32) {
    (span.start, span.end)
}
