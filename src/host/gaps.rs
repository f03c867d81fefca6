//! Finds what the structure of a unit does not show, by the words of its functions.
//!
//! Invariant: a word counts as shown only if an expression or a declaration of its name begins there.

use rustc_hash::FxHashSet;

use crate::source::{SourceFile, Span};

use super::ir::{ExprKind, StmtKind, Unit};
use super::unseen::Unseen;

/// Words of C after which the program may go on elsewhere, or that name memory in strings and attributes.
const OTHER_WAYS: [&str; 7] = ["setjmp", "_setjmp", "sigsetjmp", "asm", "__asm", "__asm__", "cleanup"];

/// Words that begin and end statements of Fortran, which variables may be named as.
const KEYWORDS: [&[u8]; 12] = [
    b"call", b"do", b"else", b"end", b"enddo", b"endif", b"if", b"print", b"read", b"then", b"where",
    b"write",
];

/// Looks through the functions of a unit, whose text is the shadow.
pub(super) fn unseen(file: &SourceFile, shadow: &[u8], unit: &Unit) -> Unseen {
    let mut unseen = Unseen::default();
    if unit.functions.is_empty() {
        return unseen;
    }
    let known = known(unit);
    let passed = passed(unit);
    let is_fortran = unit.is_fortran();
    let mut last = 0;
    for function in &unit.functions {
        let body = unit.stmt(function.body).span;
        let is_unclear = match is_fortran {
            true => has_entry(shadow, function.span),
            false => goes_elsewhere(file.slice(body)),
        };
        unseen.functions.extend(is_unclear.then_some(function.span));
        let start = body.start.max(last);
        last = last.max(body.end);
        let mut words = Words { text: shadow, at: start as usize, is_fortran };
        while let Some(word) = words.next().filter(|word| word.start < body.end) {
            let text = &shadow[word.range()];
            let is_keyword = || KEYWORDS.iter().any(|keyword| text.eq_ignore_ascii_case(keyword));
            let is_passed = || {
                let before = passed.partition_point(|span| span.start <= word.start);
                passed[..before].iter().rev().take(4).any(|span| span.contains(word))
            };
            if !is_fortran && words.passes(text)
                || is_fortran && is_keyword()
                || known.contains(&word.start)
                || is_part(shadow, word, is_fortran)
                || is_passed()
            {
                continue;
            }
            let name = String::from_utf8_lossy(text);
            let name = if is_fortran { name.to_ascii_lowercase() } else { name.into_owned() };
            unseen.names.push((word.start, name));
        }
    }
    unseen
}

/// Whether a procedure of Fortran has other entries, whose results and arguments may have any name.
fn has_entry(shadow: &[u8], procedure: Span) -> bool {
    let mut words = Words { text: shadow, at: procedure.start as usize, is_fortran: true };
    let mut words = std::iter::from_fn(|| words.next()).take_while(|word| word.start < procedure.end);
    words.any(|word| {
        let line = shadow[..word.start as usize].iter().rev().take_while(|byte| **byte != b'\n');
        let is_first = || line.clone().all(|byte| byte.is_ascii_whitespace() || byte.is_ascii_digit());
        shadow[word.range()].eq_ignore_ascii_case(b"entry") && is_first()
    })
}

/// Where the names begin that the structure has.
fn known(unit: &Unit) -> FxHashSet<u32> {
    // What is nothing but opaque is the name of something else, which stands in a construct of its own.
    let is_name = |kind: &ExprKind| match kind {
        ExprKind::Name(_) => true,
        ExprKind::Opaque(parts) => parts.is_empty(),
        _ => false,
    };
    let names = unit.exprs.iter().filter(|expr| is_name(&expr.kind));
    let declared = unit.decls.iter().map(|decl| decl.name_span.start);
    names.map(|expr| expr.span.start).chain(declared).collect()
}

/// What is not evaluated: operands of `sizeof`, and formats of Fortran.
fn passed(unit: &Unit) -> Vec<Span> {
    let sizes = unit.exprs.iter().filter(|expr| matches!(expr.kind, ExprKind::Sizeof)).map(|expr| expr.span);
    let formats = unit.stmts.iter().filter(|stmt| matches!(stmt.kind, StmtKind::Empty)).map(|stmt| stmt.span);
    let mut all: Vec<Span> = sizes.chain(formats).collect();
    all.sort_by_key(|span| span.start);
    all
}

/// Whether a word is the name of a member, of a keyword argument of Fortran, or of a macro's definition.
fn is_part(text: &[u8], word: Span, is_fortran: bool) -> bool {
    let before = text[..word.start as usize].trim_ascii_end();
    let after = text[word.end as usize..].trim_ascii_start();
    match is_fortran {
        true => before.ends_with(b"%") || after.starts_with(b"=") && !after.starts_with(b"=="),
        // What is qualified is shown as a whole.
        false => {
            let is_member = before.ends_with(b"->") || before.ends_with(b".") && !before.ends_with(b"...");
            is_member || before.ends_with(b"::") || after.starts_with(b"::")
        }
    }
}

/// Whether a text has a word that makes the program go on elsewhere.
fn goes_elsewhere(text: &[u8]) -> bool {
    let mut words = text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    let has_word = words.any(|word| OTHER_WAYS.iter().any(|other| other.as_bytes() == word));
    let mut jumps = memchr::memmem::find_iter(text, b"goto");
    has_word || jumps.any(|at| text[at + 4..].trim_ascii_start().starts_with(b"*"))
}

/// The names of code, without what stands in strings, comments of Fortran and lines of the preprocessor.
struct Words<'a> {
    text: &'a [u8],
    at: usize,
    is_fortran: bool,
}

impl Iterator for Words<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        loop {
            let byte = *self.text.get(self.at)?;
            match byte {
                b'"' | b'\'' => self.string(byte),
                b'!' if self.is_fortran => self.line(),
                b'#' => self.line(),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => {
                    let start = self.at;
                    self.word();
                    return Some(Span::new(start, self.at));
                }
                b'0'..=b'9' => self.word(),
                _ => self.at += 1,
            }
        }
    }
}

impl Words<'_> {
    /// Passes over what stands after a word that evaluates nothing: the operand of one that asks for a type, or a label's value.
    fn passes(&mut self, word: &[u8]) -> bool {
        const OPERATORS: [&[u8]; 8] = [
            b"decltype",
            b"typeof",
            b"__typeof__",
            b"__typeof",
            b"sizeof",
            b"alignof",
            b"_Alignof",
            b"noexcept",
        ];
        if word == b"case" {
            let rest = &self.text[self.at..];
            let end = rest.windows(2).position(|two| two[0] == b':' && two[1] != b':');
            self.at += end.unwrap_or_default();
            return true;
        }
        let rest = &self.text[self.at..];
        if !OPERATORS.contains(&word) || !rest.trim_ascii_start().starts_with(b"(") {
            return false;
        }
        let mut depth = 0_usize;
        for (at, byte) in rest.iter().enumerate() {
            match byte {
                b'(' => depth += 1,
                b')' if depth == 1 => {
                    self.at += at;
                    break;
                }
                b')' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        true
    }

    fn word(&mut self) {
        let rest = &self.text[self.at..];
        let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
        self.at += rest.iter().take_while(|byte| is_in(byte)).count();
    }

    fn line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    }

    /// A string, or a character; one that does not end on its line is none.
    fn string(&mut self, quote: u8) {
        let mut at = self.at + 1;
        while let Some(byte) = self.text.get(at) {
            match byte {
                b'\\' if !self.is_fortran => at += 1,
                b'\n' => break,
                _ if *byte == quote => {
                    self.at = at + 1;
                    return;
                }
                _ => {}
            }
            at += 1;
        }
        self.at += 1;
    }
}
