//! Texts that stand under branches of the preprocessor's conditions.
//!
//! Invariant: of two texts in other branches of one condition, a compiler sees one at most.

/// Whether two texts, each of them lines under conditions that it brings with it, are in other branches of one condition.
pub fn are_alternatives(a: &[u8], b: &[u8]) -> bool {
    let (a, b) = (heads(a), heads(b));
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let is_other_branch = |head: Option<&&[u8]>| head.is_some_and(|head| head.starts_with(b"#el"));
    same > 0 && is_other_branch(a.get(same)) != is_other_branch(b.get(same))
}

/// The lines of the preprocessor that a text begins with.
fn heads(text: &[u8]) -> Vec<&[u8]> {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).skip_while(|line| line.is_empty());
    lines.take_while(|line| line.starts_with(b"#")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_of_one_condition_are_alternatives() {
        let check = |a: &str, b: &str, expected: bool| {
            let texts = [format!("\n    {a}\n    end();\n"), format!("\n{b}\nend();")];
            assert_eq!(are_alternatives(texts[0].as_bytes(), texts[1].as_bytes()), expected, "{texts:?}");
            assert_eq!(are_alternatives(texts[1].as_bytes(), texts[0].as_bytes()), expected, "{texts:?}");
        };
        check("#if A", "#if A\n#else", true);
        check("#if A\n#elif B", "#if A\n#elif B\n#else", true);
        check("#if A\n#ifdef X", "#if A\n#else", true);
        check("#if A", "#if A", false);
        check("#if A", "#if A\n#if B", false);
        check("#if A", "#if B\n#else", false);
        check("", "#if A", false);
    }
}
