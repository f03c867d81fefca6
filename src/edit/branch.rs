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
mod tests;
