//! Numbers in text.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use proptest::prelude::*;

use super::*;

fn numbers(line: &str) -> Vec<f64> {
    tokens(line)
        .iter()
        .filter_map(|token| if let Token::Number(_, n) = token { Some(*n) } else { None })
        .collect()
}

#[test]
fn numbers_are_read_as_programs_write_them() {
    assert_eq!(numbers("sum= -1.5e3, 2"), [-1500.0, 2.0]);
    assert_eq!(numbers("1.0D+00 1.5-100 .5 5. 1d2"), [1.0, 1.5e-100, 0.5, 5.0, 100.0]);
    assert_eq!(numbers("(1.0,-2.0)"), [1.0, -2.0]);
    assert_eq!(numbers("1.0-2.0"), [1.0, -2.0]);
    assert_eq!(numbers("x1 a_2 ab3c 0x1f **** information nano"), [] as [f64; 0]);
    assert_eq!(numbers("10MB 3e"), [10.0, 3.0]);
    let odd = numbers("nan -Infinity inf NaN(0x1)");
    assert!(odd[0].is_nan() && odd[1] == f64::NEG_INFINITY && odd[2] == f64::INFINITY && odd[3].is_nan());
}

proptest! {
    #[test]
    fn tokens_are_the_line(line in "[-+.0-9eEdDnaif*() x,\u{e4}]{0,40}") {
        prop_assert_eq!(tokens(&line).iter().map(Token::text).collect::<String>(), line);
    }

    #[test]
    fn what_rust_writes_is_read(value in any::<f64>()) {
        let line = format!("v {value:e} w");
        let read = numbers(&line);
        prop_assert!(read.len() == 1 && (read[0] == value || value.is_nan() && read[0].is_nan()));
    }
}
