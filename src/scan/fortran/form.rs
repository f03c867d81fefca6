//! Which form a source is written in, when its name says one and its lines another.
//!
//! Invariant: without a clear contradiction the name is believed.

use crate::source::{Form, Span};

use super::code;
use super::line;

/// Signs of each form in the lines of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Signs {
    free: usize,
    fixed: usize,
}

/// The form that the lines of `bytes` are in: what the extension says, unless they clearly say otherwise.
pub fn form_of(bytes: &[u8], by_extension: Form) -> Form {
    let signs = signs(bytes);
    match by_extension {
        Form::Fixed if signs.free > 4 * signs.fixed => Form::Free,
        Form::Free if signs.fixed > 4 * signs.free => Form::Fixed,
        form => form,
    }
}

fn signs(bytes: &[u8]) -> Signs {
    let mut signs = Signs::default();
    let mut at = 0;
    // The column of the ampersand at the end of the last line of code.
    let mut asked: Option<u32> = None;
    while at < bytes.len() {
        let (end, next) = line::ends(bytes, at);
        let text = bytes.get(at..end).unwrap_or_default();
        at = next;
        let words = text.trim_ascii_start();
        let first = words.first().copied();
        let column = text.len() - words.len() + 1;
        match first {
            None | Some(b'#') => continue,
            Some(b'!') if column != 6 => continue,
            _ => {}
        }
        if is_fixed_comment(text) {
            signs.fixed += 1;
            continue;
        }
        let marked = column == 6 && !text.get(..5).unwrap_or_default().contains(&b'\t');
        // In free form, a line may begin in column 6, too; the line before it says whether it goes on.
        let is_mark = marked && first.is_some_and(|mark| !mark.is_ascii_alphabetic() && mark != b'0');
        signs.fixed += usize::from(is_mark && asked.is_none());
        signs.free += usize::from(asked.is_some_and(|column| column <= 72) && !marked);
        signs.free += usize::from(is_free_start(text, column));
        let read = || code::read(text, Span::new(0, text.len()), None, Form::Free);
        asked = text.contains(&b'&').then(|| read().ampersand.map(|at| at + 1)).flatten();
    }
    signs
}

/// Whether a line is a comment in fixed form and cannot be a statement in free form.
fn is_fixed_comment(text: &[u8]) -> bool {
    let rest = text.get(1..).unwrap_or_default();
    match text.first() {
        Some(b'*') => true,
        Some(b'c' | b'C') => {
            let words = rest.trim_ascii_start();
            let is_apart = words.len() < rest.len() || words.is_empty();
            let next = words.first().copied().unwrap_or(b'-');
            let is_rule = rest.iter().take_while(|byte| b"-=*+".contains(byte)).count() > 2;
            let is_sentinel = rest.get(..4).is_some_and(|word| word.eq_ignore_ascii_case(b"$acc"));
            is_rule || is_sentinel || is_apart && !b"=(%[:".contains(&next)
        }
        _ => false,
    }
}

/// Whether a line begins a statement in the columns of a fixed-form label, and is not a comment of fixed form.
fn is_free_start(text: &[u8], column: usize) -> bool {
    if column >= 6 {
        return false;
    }
    let (lead, words) = text.split_at(column - 1);
    let begins = words.first().is_some_and(u8::is_ascii_alphabetic);
    let may_comment = matches!(text.first(), Some(b'c' | b'C' | b'd' | b'D'));
    begins && !lead.contains(&b'\t') && !may_comment
}

#[cfg(test)]
mod tests;
