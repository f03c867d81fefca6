//! Compares what two programs printed, as `acc2omp verify` does.
//!
//! Invariant: the lines and words are the same; numbers may differ by rounding, and by that alone.

use acc2omp::verify::Rule;
use acc2omp::verify::compare::text;

/// How far apart two numbers may be, relative to the larger: the order of a parallel sum is not fixed.
const TOLERANCE: f64 = 1e-9;

/// The first place where the outputs differ, as a sentence. Compilers of Fortran put other blanks between what they print.
pub fn first_difference(expected: &str, found: &str) -> Option<String> {
    let rule = Rule { rtol: Some(TOLERANCE), any_blanks: true, ..Rule::default() };
    let compared = text::compare("stdout", &rule, expected, found, None);
    compared
        .first
        .first()
        .map(|first| format!("{}: expected `{}`, found `{}`", first.place, first.reference, first.test))
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn rounding_is_no_difference() {
        assert_eq!(first_difference("sum 1.0000000001e3\nok 1\n", "sum 1000.0000002\nok 1\n"), None);
        assert_eq!(first_difference("zero 0\n", "zero -0\n"), None);
        assert_eq!(first_difference("x nan inf\n", "x nan inf\n"), None);
        assert_eq!(first_difference(" ok           1\n", " ok 1\n"), None);
    }

    #[test]
    fn everything_else_is() {
        let difference = |a, b| first_difference(a, b).unwrap_or_default();
        assert_eq!(difference("a 1\nb 2\n", "a 1\nb 3\n"), "line 2, column 3: expected `2`, found `3`");
        assert_eq!(difference("a 1\n", ""), "line 1: expected `a 1`, found `(end)`");
        assert_eq!(difference("", "a 1\n"), "line 1: expected `(end)`, found `a 1`");
        assert_eq!(difference("a 0\n", "a 1e-30\n"), "line 1, column 3: expected `0`, found `1e-30`");
        assert_eq!(difference("a nan\n", "a 1\n"), "line 1, column 3: expected `nan`, found `1`");
        assert_eq!(difference("a 1 2\n", "a 1\n"), "line 1: expected `a 1 2`, found `a 1`");
        assert_eq!(
            difference("x 1.5\n", "x 1.50000001\n"),
            "line 1, column 3: expected `1.5`, found `1.50000001`"
        );
        assert_eq!(difference("a b\n", "ab\n"), "line 1: expected `a b`, found `ab`");
    }
}
