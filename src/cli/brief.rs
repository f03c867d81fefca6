//! What a file of C says of others at first sight: enough to find the files that write directives by macros of their headers alone.
//!
//! Invariant: says too much, never too little: comments and conditions are not looked at.

use crate::scan;
use crate::source::Language;

/// What a file says at first sight.
#[derive(Debug)]
pub struct Brief {
    /// The names that it includes, and whether they stand between quotes.
    pub includes: Vec<(String, bool)>,
    /// It has the operator that writes directives.
    pub has_operator: bool,
    /// It may say something of OpenACC.
    pub mentions_openacc: bool,
}

impl Brief {
    /// Looks at a file.
    pub fn of(bytes: &[u8], language: Language) -> Brief {
        let lines = memchr::memchr_iter(b'#', bytes).filter_map(|at| included(bytes.get(at + 1..)?));
        Brief {
            includes: lines.collect(),
            has_operator: scan::mentions_operator(bytes),
            mentions_openacc: scan::mentions_openacc(bytes, language),
        }
    }
}

/// The name in what may be the rest of an `#include` line.
fn included(rest: &[u8]) -> Option<(String, bool)> {
    let line = rest.trim_ascii_start();
    let name = line.strip_prefix(b"include").or_else(|| line.strip_prefix(b"import"))?.trim_ascii_start();
    let (close, is_quoted) = match name.first()? {
        b'"' => (b'"', true),
        b'<' => (b'>', false),
        _ => return None,
    };
    let name = name.get(1..)?;
    let end = memchr::memchr2(close, b'\n', name).filter(|end| name[*end] == close)?;
    Some((String::from_utf8_lossy(&name[..end]).into_owned(), is_quoted))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn inclusions_are_seen() {
        let text =
            b"#include \"a.h\"\n# include <b/c.h>\n#define X #x\n#include NAME\n#include \"open\n_Pragma";
        let brief = Brief::of(text, Language::C);
        assert_eq!(brief.includes, [("a.h".to_owned(), true), ("b/c.h".to_owned(), false)]);
        assert!(brief.has_operator && !brief.mentions_openacc);
    }
}
