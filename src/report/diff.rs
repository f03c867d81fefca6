//! Unified diffs of bytes.
//!
//! Invariant: `patch` makes the second text of the first, byte for byte, whatever the line ends or the encoding.

use std::ffi::OsStr;

use rustc_hash::FxHashMap;
use similar::udiff::UnifiedHunkHeader;
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;

/// The unified diff of two texts of the file `name`; empty if they are equal.
pub fn unified(name: impl AsRef<OsStr>, old: &[u8], new: &[u8]) -> Vec<u8> {
    let (old, new) = (lines(old), lines(new));
    let mut out = Vec::new();
    for hunk in group_diff_ops(changes(Algorithm::Myers, &old, &new), CONTEXT) {
        if out.is_empty() {
            out.extend_from_slice(&header(name.as_ref().as_encoded_bytes()));
        }
        out.extend_from_slice(format!("{}\n", UnifiedHunkHeader::new(&hunk)).as_bytes());
        for change in hunk {
            let (before, after) = (&old[change.old_range()], &new[change.new_range()]);
            let (kept, gone, come): (&[_], &[_], &[_]) = match change {
                DiffOp::Equal { .. } => (before, &[], &[]),
                DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                    (&[], before, after)
                }
            };
            for (sign, lines) in [(b' ', kept), (b'-', gone), (b'+', come)] {
                lines.iter().for_each(|line| push(&mut out, sign, line));
            }
        }
    }
    out
}

fn push(out: &mut Vec<u8>, sign: u8, line: &[u8]) {
    out.push(sign);
    out.extend_from_slice(line);
    if !line.ends_with(b"\n") {
        out.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}

/// How one list of lines becomes another. Lines are compared as numbers, one for each text: the search is compiled for one type.
pub fn changes(algorithm: Algorithm, old: &[&[u8]], new: &[&[u8]]) -> Vec<DiffOp> {
    let mut known: FxHashMap<&[u8], u32> = FxHashMap::default();
    let mut number = |line| {
        let next = known.len() as u32;
        *known.entry(line).or_insert(next)
    };
    let old: Vec<u32> = old.iter().map(|line| number(line)).collect();
    let new: Vec<u32> = new.iter().map(|line| number(line)).collect();
    capture_diff_slices(algorithm, &old, &new)
}

/// Lines with their ends; only LF ends a line, as `patch` sees it.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// The two lines that name the file, as git writes them; a tab ends a name with blanks.
fn header(name: &[u8]) -> Vec<u8> {
    let mut name = name;
    while let Some(rest) = name.strip_prefix(b"./") {
        name = rest;
    }
    while let Some(rest) = name.strip_prefix(b"/") {
        name = rest;
    }
    let end: &[u8] = if name.contains(&b' ') { b"\t\n" } else { b"\n" };
    let line = |sign: &[u8], folder: &[u8]| [sign, &quoted(&[folder, name].concat()), end].concat();
    [line(b"--- ", b"a/"), line(b"+++ ", b"b/")].concat()
}

/// A name as git writes it: between quotes if it has bytes that a line of text cannot show.
fn quoted(name: &[u8]) -> Vec<u8> {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    if name.iter().all(is_plain) {
        return name.to_vec();
    }
    let mut out = vec![b'"'];
    for byte in name {
        let letter = match byte {
            0x07 => b'a',
            0x08 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0x0b => b'v',
            0x0c => b'f',
            b'\r' => b'r',
            b'"' | b'\\' => *byte,
            _ if is_plain(byte) => {
                out.push(*byte);
                continue;
            }
            _ => {
                out.extend(format!("\\{byte:03o}").into_bytes());
                continue;
            }
        };
        out.extend([b'\\', letter]);
    }
    out.push(b'"');
    out
}

#[cfg(test)]
mod tests;
