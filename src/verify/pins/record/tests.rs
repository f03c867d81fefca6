//! Tests of `record.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn records_are_read() {
    let text = "E\ta.c\t3\tparallel loop\tentry\t1\nV\tx\tf8\t2\tff\t2\tfe\t3\t3\t0=1\t1=2\nB\t0.3.1.1.entry.bin\nV\tp\t?\nE\ta.c\t3\tpar";
    let all = events(text);
    assert_eq!(all.len(), 1);
    let held = all[0].variables[0].held.as_ref();
    let known = held.map(|held| (held.element, held.count, held.sum, held.samples.clone()));
    assert_eq!(known, Some((Element::Float(8), 2, 3.0, vec![(0, 1.0), (1, 2.0)])));
    assert_eq!(all[0].variables[0].bytes.as_deref(), Some("0.3.1.1.entry.bin"));
    assert!(all[0].is_entry && all[0].variables[1].held.is_none());
}
