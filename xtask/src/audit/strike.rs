//! The counter-proof: without the clauses that give threads their own variables, the audit must find races.
//!
//! Invariant: no byte moves, so that places in the struck text are places in the text.

use acc2omp::source::Language;

use super::fortran;
use super::pragma::pages;
use super::text::{Owned, audit};

/// The clauses that are struck.
pub const OWNING: [&str; 3] = ["private", "firstprivate", "reduction"];

/// Of the variables `owned`, those that the audit does not miss when their clauses are gone: there should be none.
pub fn unseen(text: &[u8], language: Language, owned: &[Owned]) -> Vec<Owned> {
    if owned.is_empty() {
        return Vec::new();
    }
    let found = audit(&struck(text, language), language);
    let is_seen = |one: &&Owned| {
        found.races.iter().any(|race| race.name == one.name && one.code.range().contains(&race.at))
    };
    owned.iter().filter(|one| !is_seen(one)).cloned().collect()
}

/// The text with the clauses `OWNING` of its OpenMP directives overwritten by blanks.
fn struck(text: &[u8], language: Language) -> Vec<u8> {
    if let Language::Fortran(form) = language {
        return fortran::struck(text, form);
    }
    let mut struck = text.to_vec();
    for one in pages(text, language).iter().flat_map(|page| &page.pragmas) {
        let Some(directive) = struck.get_mut(one.span.range()) else { continue };
        for word in OWNING {
            while let Some(clause) = clause(directive, word.as_bytes()) {
                let bytes = directive.get_mut(clause).unwrap_or_default();
                bytes
                    .iter_mut()
                    .filter(|byte| !matches!(byte, b'\\' | b'\r' | b'\n'))
                    .for_each(|byte| *byte = b' ');
            }
        }
    }
    struck
}

/// The bytes of the first clause `word(…)` in a directive.
pub fn clause(directive: &[u8], word: &[u8]) -> Option<std::ops::Range<usize>> {
    let is_inner = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let mut places = directive.windows(word.len()).enumerate().filter(|(_, here)| *here == word);
    let (start, _) = places.find(|(at, _)| {
        !is_inner(at.checked_sub(1).and_then(|before| directive.get(before)))
            && directive.get(at + word.len()) == Some(&b'(')
    })?;
    let end = directive.iter().skip(start).position(|byte| *byte == b')')?;
    Some(start..start + end + 1)
}

#[cfg(test)]
mod tests {
    use acc2omp::source::Language;

    use super::{struck, unseen};
    use crate::audit::text::audit;

    #[test]
    fn striking_moves_no_byte() {
        let text =
            "#pragma omp parallel for \\\n private(x, \\\n y) map(to: z) reduction(+: q)\nint private(f);\n";
        let expected =
            "#pragma omp parallel for \\\n            \\\n    map(to: z)                \nint private(f);\n";
        let found = struck(text.as_bytes(), Language::C);
        assert_eq!(String::from_utf8_lossy(&found), expected);
    }

    #[test]
    fn what_was_owned_is_a_race_without_its_clause() {
        let text = "void f(int n, int x, int s) {\n#pragma omp parallel for private(x) reduction(+: s)\n\
                    for (int i = 0; i < n; i++) { x = i; s += x; } }\n";
        let found = audit(text.as_bytes(), Language::C);
        assert!(found.races.is_empty());
        assert_eq!(found.owned.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["x", "s"]);
        assert!(unseen(text.as_bytes(), Language::C, &found.owned).is_empty());
    }
}
