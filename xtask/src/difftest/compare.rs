//! Compares what two programs printed.
//!
//! Invariant: the lines and words are the same; numbers may differ by rounding, and by that alone.

/// How far apart two numbers may be, relative to the larger: the order of a parallel sum is not fixed.
const TOLERANCE: f64 = 1e-9;

/// The first line in which the outputs differ, as a sentence.
pub fn first_difference(expected: &str, found: &str) -> Option<String> {
    let (mut left, mut right) = (expected.lines(), found.lines());
    for number in 1.. {
        match (left.next(), right.next()) {
            (None, None) => break,
            (Some(a), Some(b)) if same_line(a, b) => {}
            (Some(a), Some(b)) => return Some(format!("line {number}: expected `{a}`, found `{b}`")),
            (Some(a), None) => return Some(format!("line {number}: expected `{a}`, found the end")),
            (None, Some(b)) => return Some(format!("line {number}: expected the end, found `{b}`")),
        }
    }
    None
}

fn same_line(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.split_whitespace(), b.split_whitespace());
    loop {
        match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if same_word(a, b) => {}
            _ => return false,
        }
    }
}

fn same_word(a: &str, b: &str) -> bool {
    a == b || matches!((a.parse(), b.parse()), (Ok(a), Ok(b)) if close(a, b))
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= TOLERANCE * a.abs().max(b.abs())
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn rounding_is_no_difference() {
        assert_eq!(first_difference("sum 1.0000000001e3\nok 1\n", "sum 1000.0000002\nok 1\n"), None);
        assert_eq!(first_difference("zero 0\n", "zero -0\n"), None);
        assert_eq!(first_difference("x nan inf\n", "x nan inf\n"), None);
    }

    #[test]
    fn everything_else_is() {
        let told = |a, b| first_difference(a, b).unwrap_or_default();
        assert_eq!(told("a 1\nb 2\n", "a 1\nb 3\n"), "line 2: expected `b 2`, found `b 3`");
        assert_eq!(told("a 1\n", ""), "line 1: expected `a 1`, found the end");
        assert_eq!(told("", "a 1\n"), "line 1: expected the end, found `a 1`");
        assert_eq!(told("a 0\n", "a 1e-30\n"), "line 1: expected `a 0`, found `a 1e-30`");
        assert_eq!(told("a nan\n", "a 1\n"), "line 1: expected `a nan`, found `a 1`");
        assert_eq!(told("a 1 2\n", "a 1\n"), "line 1: expected `a 1 2`, found `a 1`");
    }
}
