//! Texts that stand under the preprocessor's conditions.
//!
//! Invariant: such a text brings its conditions with it, and ends them.

/// Whether a text is lines under conditions.
pub fn has_conditions(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    lines.next().is_some_and(|first| first.starts_with(b"#if"))
        && lines.next_back().is_some_and(|last| last.starts_with(b"#endif"))
}

/// Whether a text is whole lines: it ends the last one, or the one before it.
pub fn is_lines(text: &[u8]) -> bool {
    text.starts_with(b"\n") || text.ends_with(b"\n")
}

#[cfg(test)]
mod tests {
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
}
