//! Tests of `branch.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn a_text_under_conditions_ends_them() {
    let check = |text: &str, expected: bool| {
        assert_eq!(has_conditions(text.as_bytes()), expected, "{text:?}");
    };
    check("\n    #if A\n    end();\n    #endif\n", true);
    check("#ifdef A\n#else\n    end();\n#endif", true);
    check("#if A\nend();", false);
    check("#endif\nend();\n#if A", false);
    check("end();\n#if A\n#endif", false);
    check("", false);
}
