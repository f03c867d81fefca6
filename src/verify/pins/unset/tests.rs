//! Which values of a record are not set.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;
use crate::verify::pins::record::Recorded;

fn place(line: usize) -> Place {
    Place { file: "a.c".to_owned(), line, name: "parallel loop".to_owned() }
}

fn found(line: usize, variable: &str, inputs: &[&str]) -> Culprit {
    let Place { file, line, name } = place(line);
    Culprit {
        file,
        line,
        name,
        execution: 1,
        rank: "0".to_owned(),
        variable: variable.to_owned(),
        worst: None,
        sums: None,
        inputs: inputs.iter().map(|name| (*name).to_owned()).collect(),
        moved_by: Vec::new(),
        unrecorded: Vec::new(),
        page: None,
    }
}

#[test]
fn memory_that_is_made_explains_what_is_made_of_it() {
    let made = Recorded { name: "a[0:n]".to_owned(), is_there: true, ..Recorded::default() };
    let before = [Event { place: place(1), is_entry: false, execution: 1, variables: vec![made] }];
    let mut unset = Unset::default();
    assert!(unset.explains(&found(2, "b", &["a"]), &before));
    assert!(!unset.explains(&found(2, "b", &[]), &before));
    assert!(!unset.explains(&found(2, "b", &["a", "c"]), &before));
    assert!(!unset.explains(&found(3, "c", &["b"]), &before));
    unset.take(&place(2), found(2, "b", &["a"]));
    assert!(unset.spreads(&place(2)));
    assert!(unset.explains(&found(3, "c", &["b"]), &before));
    // A directive whose inputs one that was taken has made wrong is not the first.
    assert_eq!(unset.cause(found(4, "d", &["b", "e"])).line, 2);
}
