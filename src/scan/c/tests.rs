//! The tokens of C.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{Event, events};

/// How many events of each kind a text has: lines, operators, comments, words.
fn check(text: &str, expected: [usize; 4]) {
    let mut found = [0; 4];
    for event in events(text.as_bytes()) {
        let kind = match event {
            Event::Line(_) => 0,
            Event::Operator(_) => 1,
            Event::Comment(_) => 2,
            Event::Word(_) => 3,
        };
        found[kind] += 1;
    }
    assert_eq!(found, expected, "{text}");
}

#[test]
fn raw_strings_hold_nothing() {
    check("a = R\"(\n#pragma acc loop\n// no )\";\n#pragma acc loop\n", [1, 0, 0, 0]);
    check("u8R\"x(\" )\" // no\n)x\" // yes\n", [0, 0, 1, 0]);
    check("R\"no parenthesis\" // yes\n", [0, 0, 1, 0]);
    check("LR\"(without end\nacc_init", [0, 0, 0, 1]);
}

#[test]
fn names_after_a_literal_are_macros_for_text() {
    check("f(\"%\" A \"\\n\"A, \"x\"A\"y\" B C);", [0, 0, 0, 4]);
    check("x = \"a\"s; y = \"a\"_x(1); z = \"a\" and w; \"a\" R\"(b)\";", [0, 0, 0, 0]);
    check("extern \"C\" int f; extern \"C\" void g(int);", [0, 0, 0, 0]);
}

#[test]
fn separators_of_digits_are_no_quotes() {
    check("1'000'000; // yes\n", [0, 0, 1, 0]);
    check("0x1'ff'acc_x; acc_init", [0, 0, 0, 1]);
    check("'1' // yes\n", [0, 0, 1, 0]);
}
