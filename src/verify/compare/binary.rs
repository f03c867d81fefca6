//! Compares files of bytes, or of numbers in binary.
//!
//! Invariant: files of different length are different.

use super::Comparison;
use crate::verify::config::{Kind, Rule};

/// Compares two files of a kind that is not text.
pub fn compare(what: &str, rule: &Rule, kind: Kind, files: [&[u8]; 2], noise: Option<&[u8]>) -> Comparison {
    let mut all = Comparison::of(what);
    let [left, right] = files;
    if left.len() != right.len() {
        let length = |bytes: &[u8]| format!("{} bytes", bytes.len());
        all.differ("length".to_owned(), &length(left), &length(right));
        return all;
    }
    let Some(size) = size(kind) else {
        bytes(&mut all, left, right);
        return all;
    };
    if left.len() % size != 0 {
        return Comparison::unknown(what, format!("{} bytes are not a whole number of elements", left.len()));
    }
    let noise = noise.filter(|noise| noise.len() == left.len());
    for (at, (a, b)) in left.chunks_exact(size).zip(right.chunks_exact(size)).enumerate() {
        let own = noise.map(|noise| value(kind, &noise[at * size..(at + 1) * size]));
        let (x, y) = (value(kind, a), value(kind, b));
        let is_integer = matches!(kind, Kind::I32le | Kind::I32be | Kind::I64le | Kind::I64be);
        let is_exact = rule.atol.is_none() && rule.rtol.is_none() && rule.ulp.is_none() && own.is_none();
        let is_same = all.number(rule, x, y, own);
        if !is_same || is_integer && is_exact && a != b {
            let (one, other) = (format!("{x:?}"), format!("{y:?}"));
            all.apart(rule, format!("element {at}"), [&one, &other], [x, y, own.unwrap_or(f64::NAN)]);
        }
    }
    all
}

fn bytes(all: &mut Comparison, left: &[u8], right: &[u8]) {
    for (at, (a, b)) in left.iter().zip(right).enumerate().filter(|(_, (a, b))| a != b) {
        all.differ(format!("byte {at}"), &format!("{a:#04x}"), &format!("{b:#04x}"));
    }
}

fn size(kind: Kind) -> Option<usize> {
    match kind {
        Kind::Text | Kind::Bytes => None,
        Kind::F32le | Kind::F32be | Kind::I32le | Kind::I32be => Some(4),
        Kind::F64le | Kind::F64be | Kind::I64le | Kind::I64be => Some(8),
    }
}

fn value(kind: Kind, bytes: &[u8]) -> f64 {
    let is_big = matches!(kind, Kind::F32be | Kind::F64be | Kind::I32be | Kind::I64be);
    let fold = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
    let bits = if is_big { bytes.iter().fold(0, fold) } else { bytes.iter().rev().fold(0, fold) };
    match kind {
        Kind::F32le | Kind::F32be => f64::from(f32::from_bits(bits as u32)),
        Kind::F64le | Kind::F64be => f64::from_bits(bits),
        Kind::I32le | Kind::I32be => f64::from(bits as u32 as i32),
        Kind::I64le | Kind::I64be => bits.cast_signed() as f64,
        Kind::Text | Kind::Bytes => f64::NAN,
    }
}

#[cfg(test)]
mod tests;
