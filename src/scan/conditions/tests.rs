//! Tests of `conditions.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;
use crate::source::Language;

#[test]
fn conditions_nest() {
    let text = "#ifdef A\nx\n#if B\ny\n#else\nz\n#endif\n#endif\nw\n";
    let file = SourceFile::new("a.c", text.into(), Language::C);
    let conditions = Conditions::of(&file);
    let at = |word: char| text.find(word).unwrap_or_default() as u32;
    let heads = |offset: u32, other: u32| -> Vec<String> {
        let around = conditions.between(offset, other).into_iter().rev();
        let heads = around.flat_map(|one| one.heads(offset).to_vec());
        heads.map(|head| file.text(head).into_owned()).collect()
    };
    assert_eq!(heads(at('z'), at('w')), ["#ifdef A", "#if B", "#else"]);
    assert_eq!(heads(at('y'), at('x')), ["#if B"]);
    let parting: Vec<_> = conditions.parting(at('w'), at('z')).map(|head| file.text(head)).collect();
    assert_eq!(parting, ["#if B", "#ifdef A"]);
    assert!(heads(at('y'), at('z')).is_empty() && heads(at('w'), at('x')).is_empty());
}
