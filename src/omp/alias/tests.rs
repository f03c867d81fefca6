//! Tests of `alias.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn a_component_has_one_name() {
    let mut block = Block::default();
    assert_eq!(block.opening(), None);
    assert_eq!(block.name("S % x", true), "acc2omp_s_x");
    assert_eq!(block.name("s%X", false), "acc2omp_s_x");
    assert_eq!(block.name("all(k)%in(2)%x", false), "acc2omp_all_in_x");
    assert_eq!(block.name("all(j)%in(2)%x", false), "acc2omp_all_in_x_2");
    assert_eq!(block.bare_arrays("s").unwrap(), ["acc2omp_s_x"]);
    assert_eq!(block.bare_arrays("all"), Some(Vec::new()));
    assert_eq!(block.bare_arrays("t"), None);
    assert_eq!(
        block.respell("s%xy = s % x(all(k) % in(2)%x) // 's%x'"),
        "s%xy = acc2omp_s_x(acc2omp_all_in_x) // 's%x'"
    );
    let long = format!("{}%x", "a".repeat(63));
    let first = block.name(&long, false);
    let second = block.name(&format!("{long}y"), false);
    assert_eq!((first.len(), second.len()), (63, 63));
    assert!(first != second && block.opening().unwrap().starts_with("associate (acc2omp_s_x => S%x, "));
}
