//! What the structure of a unit does not show: names in the code of functions that stand nowhere in it, and functions in which
//! the program goes other ways, or reads memory by other means.
//!
//! Invariant: too much may be named here, never too little; what is named may be read or changed where it stands.

use rustc_hash::FxHashSet;

use crate::source::{SourceFile, Span};

use super::ir::{ExprKind, StmtKind, Unit};

/// What is not shown.
#[derive(Clone, Debug, Default)]
pub struct Unseen {
    /// Names, by place.
    names: Vec<(u32, String)>,
    /// The bodies of functions in which a value may be read at any time.
    functions: Vec<Span>,
}

impl Unseen {
    /// The names in a part of the file, with their places.
    pub fn names_in(&self, span: Span) -> &[(u32, String)] {
        let first = self.names.partition_point(|(place, _)| *place < span.start);
        let last = self.names.partition_point(|(place, _)| *place < span.end);
        self.names.get(first..last).unwrap_or_default()
    }

    /// Whether values may be read at any time in a part of a function.
    pub fn reads_always(&self, span: Span) -> bool {
        self.functions.iter().any(|function| function.contains(span))
    }
}

/// Words of C after which the program may go on elsewhere, or that name memory in strings and attributes.
const OTHER_WAYS: [&str; 7] = ["setjmp", "_setjmp", "sigsetjmp", "asm", "__asm", "__asm__", "cleanup"];

/// Looks through the functions of a unit, whose text is the shadow.
pub(super) fn unseen(file: &SourceFile, shadow: &[u8], unit: &Unit) -> Unseen {
    let mut unseen = Unseen::default();
    if unit.functions.is_empty() {
        return unseen;
    }
    let known = known(unit);
    let passed = passed(unit);
    let mut last = 0;
    for function in &unit.functions {
        let body = unit.stmt(function.body).span;
        let start = body.start.max(last);
        last = last.max(body.end);
        let mut words =
            Words { text: shadow, at: start as usize, is_fortran: unit.is_fortran(), is_first: true };
        let mut is_unclear = !unit.is_fortran() && goes_elsewhere(file.slice(body));
        while let Some(word) = words.next().filter(|word| word.start < body.end) {
            let text = &shadow[word.range()];
            is_unclear |= unit.is_fortran() && words.is_first && text.eq_ignore_ascii_case(b"entry");
            let is_passed = || {
                let before = passed.partition_point(|span| span.start <= word.start);
                passed[..before].iter().rev().take(4).any(|span| span.contains(word))
            };
            if known.contains(&word.start) || is_part(shadow, word, unit.is_fortran()) || is_passed() {
                continue;
            }
            let name = String::from_utf8_lossy(text);
            let name = if unit.is_fortran() { name.to_ascii_lowercase() } else { name.into_owned() };
            unseen.names.push((word.start, name));
        }
        unseen.functions.extend(is_unclear.then_some(body));
    }
    unseen
}

/// Where the names begin that the structure has.
fn known(unit: &Unit) -> FxHashSet<u32> {
    let names = unit.exprs.iter().filter(|expr| matches!(expr.kind, ExprKind::Name(_)));
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
        false => before.ends_with(b"->") || before.ends_with(b".") && !before.ends_with(b"..."),
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
    /// The last word that was returned begins a line.
    is_first: bool,
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
                    let before = self.text[..start].iter().rev().take_while(|byte| **byte != b'\n');
                    self.is_first =
                        before.into_iter().all(|byte| byte.is_ascii_whitespace() || byte.is_ascii_digit());
                    return Some(Span::new(start, self.at));
                }
                b'0'..=b'9' => self.word(),
                _ => self.at += 1,
            }
        }
    }
}

impl Words<'_> {
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
