//! The words of OpenACC.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashSet;

use super::*;

#[test]
fn every_word_is_known_and_there_once() {
    let mut words = HashSet::new();
    assert!(table().clause_words().all(|word| words.insert(word)));
    let mut names = HashSet::new();
    assert!(table().directives.iter().all(|row| names.insert(&row.name)));
    let mut routines = HashSet::new();
    assert!(table().routines.iter().flat_map(|row| &row.names).all(|name| routines.insert(name)));
}

#[test]
fn limits_name_clauses_of_the_directive() {
    for row in &table().directives {
        let limits = row.once.iter().chain(row.exclusive.iter().flatten()).chain(row.any.iter().flatten());
        for clause in limits.chain(row.after_device_type.iter().flatten()) {
            assert!(row.clauses.contains(clause), "{}: {clause}", row.name);
        }
        for clause in &row.clauses {
            assert!(table().clauses.iter().any(|known| known.name == *clause), "{}: {clause}", row.name);
        }
    }
}

#[test]
fn every_clause_has_a_directive() {
    for clause in &table().clauses {
        assert!(table().directives.iter().any(|row| row.clauses.contains(&clause.name)), "{}", clause.name);
    }
}

#[test]
fn finds_aliases_and_routines() {
    assert_eq!(table().clause("pcopy").unwrap().name, "copy");
    assert_eq!(table().clause("host").unwrap().name, "self");
    assert_eq!(table().routine("acc_update_self_async").unwrap().section, "3.2.20");
    assert!(table().directive("parallel for").is_none());
}
