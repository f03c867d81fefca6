//! Says in a translation which lines of the source its lines are.
//!
//! Invariant: only whole lines are added, never one inside of a line that goes on in the next.

use similar::{Algorithm, DiffOp};

use crate::report;
use crate::source::{Form, Language};

/// The byte order mark of UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The translation `new` of `old` with lines that tell compilers where it comes from: from the file `name`. What stands where
/// nothing is translated keeps the number of its line; what a directive became begins with that of the directive.
/// A strict preprocessor reads the translation, if it is Fortran, and takes nothing but its own language.
pub fn numbered(old: &[u8], new: &[u8], name: &str, language: Language, is_strict: bool) -> Vec<u8> {
    let mark = |line: usize| mark(line, name, !language.is_fortran() || is_strict);
    // The mark of UTF-8 stands at the very beginning.
    let (bom, new) = if new.starts_with(BOM) { new.split_at(BOM.len()) } else { (&[][..], new) };
    let old = old.strip_prefix(BOM).unwrap_or(old);
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) =
        (old.split_inclusive(is_end).collect(), new.split_inclusive(is_end).collect());
    let mut out = [bom, &mark(1)].concat();
    // The line of the source that the next line of the translation is taken for.
    let mut taken = 0;
    for op in report::changes(Algorithm::Patience, &old, &new) {
        let (from, to) = (op.old_range(), op.new_range());
        let is_equal = matches!(op, DiffOp::Equal { .. });
        for (count, at) in to.enumerate() {
            let line = if is_equal { from.start + count } else { from.start };
            let is_due = taken != line && (is_equal || count == 0);
            if is_due && begins(&new, at, language) {
                out.extend(mark(line + 1));
                taken = line;
            }
            out.extend_from_slice(new[at]);
            taken += 1;
        }
    }
    out
}

fn is_end(byte: &u8) -> bool {
    *byte == b'\n'
}

/// The line that says which line follows: all compilers of Fortran know the preprocessor's output, but not all its input.
fn mark(line: usize, name: &str, is_input: bool) -> Vec<u8> {
    let word = if is_input { "#line" } else { "#" };
    let name = name.replace('\\', "\\\\").replace('"', "\\\"");
    format!("{word} {line} \"{name}\"\n").into_bytes()
}

/// Whether line `at` does not go on from the one before.
fn begins(lines: &[&[u8]], at: usize, language: Language) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|before| lines.get(before)) else { return true };
    let (before, line) = (before.trim_ascii_end(), lines.get(at).copied().unwrap_or_default());
    match language {
        Language::Fortran(Form::Free) => {
            let line = line.trim_ascii_start();
            !goes_on(before) && !line.starts_with(b"&") && !after_sentinel(line).starts_with(b"&")
        }
        Language::Fortran(Form::Fixed) => {
            let is_comment = line.first().is_some_and(|byte| b"cC*dD#!".contains(byte));
            let mark = line.get(5).copied().unwrap_or(b' ');
            let continues = !matches!(mark, b' ' | b'0' | b'\n' | b'\r');
            let is_directive = line.get(1) == Some(&b'$');
            !continues || (is_comment && !is_directive)
        }
        _ => !before.ends_with(b"\\"),
    }
}

/// Whether a line of free form goes on: `&` at its end or before a comment.
fn goes_on(line: &[u8]) -> bool {
    let Some(at) = memchr::memrchr(b'&', line) else { return false };
    let rest = line.get(at + 1..).unwrap_or_default().trim_ascii_start();
    rest.is_empty() || rest.starts_with(b"!")
}

/// What stands after `!$omp`, if it does.
fn after_sentinel(line: &[u8]) -> &[u8] {
    let Some(rest) = line.strip_prefix(b"!$") else { return line };
    let end = rest.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(rest.len());
    rest.get(end..).unwrap_or_default().trim_ascii_start()
}

#[cfg(test)]
mod tests;
