//! Tests of `binary.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn elements_are_compared_by_their_type() {
    let rule = Rule { rtol: Some(1e-9), ..Rule::default() };
    let bytes = |values: [f64; 2]| values.iter().flat_map(|value| value.to_be_bytes()).collect::<Vec<u8>>();
    let (a, b) = (bytes([1.0, 2.0]), bytes([1.0 + 1e-12, 3.0]));
    let all = compare("d", &rule, Kind::F64be, [&a, &b], None);
    assert_eq!((all.numbers, all.differences, all.first[0].place.as_str()), (2, 1, "element 1"));
    assert!(compare("d", &rule, Kind::F64le, [&a, &b[..8]], None).differences > 0);
    assert!(compare("d", &rule, Kind::F64le, [&a[..7], &b[..7]], None).unknown.is_some());
    assert_eq!(compare("d", &rule, Kind::Bytes, [b"ab", b"ac"], None).first[0].place, "byte 1");
    let (big, next) = ((i64::MAX - 1).to_le_bytes(), i64::MAX.to_le_bytes());
    assert_eq!(compare("d", &Rule::default(), Kind::I64le, [&big, &next], None).differences, 1);
}
