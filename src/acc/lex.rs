//! Takes the words of a directive apart into tokens and pairs the brackets.
//!
//! Invariant: every byte that is not blank is in exactly one token, and a token never crosses a gap between two pieces.

use crate::diag::{Diag, malformed};
use crate::source::{SourceFile, Span};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An identifier or keyword.
    Word,
    /// A number.
    Number,
    /// A string or character literal with its quotes.
    Text,
    /// `(`, `[` or `{`, with the index of the bracket that closes it.
    Open(Option<usize>),
    /// `)`, `]` or `}`; whether it closes one.
    Close(bool),
    /// An operator or another mark.
    Mark,
}

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its bytes.
    pub span: Span,
}

/// The tokens of the pieces `words`; brackets and quotes without partner are reported.
pub fn lex(file: &SourceFile, words: &[Span], fortran: bool) -> (Vec<Token>, Vec<Diag>) {
    let mut tokens = Vec::new();
    let mut diags = Vec::new();
    for piece in words {
        let bytes = file.slice(*piece);
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let (kind, length) = token(rest, fortran);
            let start = piece.start as usize + at;
            let span = Span::new(start, start + length);
            at += length;
            match kind {
                Some(kind) => {
                    // What cannot be part of a name would come into code as it is.
                    if fortran && kind != Kind::Text && !rest[..length].is_ascii() {
                        diags.push(malformed(span, "letters of ASCII"));
                    } else if rest[0].is_ascii_control() {
                        diags.push(malformed(span, "letters and marks"));
                    }
                    tokens.push(Token { kind, span });
                }
                None if rest[0].is_ascii_whitespace() => (),
                None => {
                    diags.push(malformed(span, "a closing quote"));
                    tokens.push(Token { kind: Kind::Text, span });
                }
            }
        }
    }
    pair(file, &mut tokens, &mut diags);
    (tokens, diags)
}

/// Kind and length of the token that `rest` begins with; no kind for blanks and for a literal without end.
fn token(rest: &[u8], fortran: bool) -> (Option<Kind>, usize) {
    match rest[0] {
        byte if byte.is_ascii_whitespace() => (None, run(rest, |b| b.is_ascii_whitespace())),
        byte if starts_word(byte) => (Some(Kind::Word), run(rest, |b| starts_word(b) || b.is_ascii_digit())),
        b'0'..=b'9' => (Some(Kind::Number), number(rest)),
        b'.' if rest.get(1).is_some_and(u8::is_ascii_digit) => (Some(Kind::Number), number(rest)),
        b'"' | b'\'' => literal(rest, &rest[..1], fortran),
        b'\\' if rest.get(1) == Some(&b'"') => literal(rest, &rest[..2], fortran),
        b'(' | b'[' | b'{' => (Some(Kind::Open(None)), 1),
        b')' | b']' | b'}' => (Some(Kind::Close(false)), 1),
        b'.' if fortran => (Some(Kind::Mark), dotted(rest)),
        _ => (Some(Kind::Mark), mark(rest, fortran)),
    }
}

/// Letters, `_` and `$`; bytes beyond ASCII are parts of letters.
fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn run(rest: &[u8], holds: impl Fn(u8) -> bool) -> usize {
    rest.iter().position(|byte| !holds(*byte)).unwrap_or(rest.len())
}

/// The length of a number, as a preprocessor sees it: `0x1F`, `1e-3f`, `1_8`, `1'000`.
fn number(rest: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        let sign = matches!(byte, b'+' | b'-') && matches!(rest[at - 1], b'e' | b'E' | b'p' | b'P');
        let separates = *byte == b'\'' && rest.get(at + 1).is_some_and(u8::is_ascii_alphanumeric);
        if !(separates || starts_word(*byte) || byte.is_ascii_digit() || *byte == b'.' || sign) {
            break;
        }
        at += 1;
    }
    at
}

/// A literal that begins and ends with `quote`. In `_Pragma("…")` a quote has a backslash before it.
fn literal(rest: &[u8], quote: &[u8], fortran: bool) -> (Option<Kind>, usize) {
    let mut at = quote.len();
    while at < rest.len() {
        if rest[at..].starts_with(quote) {
            return (Some(Kind::Text), at + quote.len());
        }
        at += if rest[at] == b'\\' && !fortran { 2 } else { 1 };
    }
    (None, rest.len())
}

/// The length of `.and.`, or of the lone dot.
fn dotted(rest: &[u8]) -> usize {
    let letters = run(&rest[1..], |b| b.is_ascii_alphabetic());
    if letters > 0 && rest.get(letters + 1) == Some(&b'.') { letters + 2 } else { 1 }
}

/// The length of an operator. Fortran's `a(::2)` has two colons.
fn mark(rest: &[u8], fortran: bool) -> usize {
    const LONG: [&[u8]; 10] = [b"->", b"&&", b"||", b"==", b"!=", b"<=", b">=", b"<<", b">>", b"::"];
    let long = LONG.iter().any(|mark| rest.starts_with(mark)) && !(fortran && rest[0] == b':');
    if long { 2 } else { 1 }
}

/// Pairs the brackets. A bracket that closes an outer one leaves the inner ones without partner.
fn pair(file: &SourceFile, tokens: &mut [Token], diags: &mut Vec<Diag>) {
    let byte = |token: &Token| file.bytes.get(token.span.start as usize).copied().unwrap_or_default();
    let mut open: Vec<(usize, u8)> = Vec::new();
    let mut waiting = [0_usize; 256];
    for at in 0..tokens.len() {
        match (tokens[at].kind, byte(&tokens[at])) {
            (Kind::Open(_), bracket) => {
                let closing = if bracket == b'(' { b')' } else { bracket + 2 };
                open.push((at, closing));
                waiting[closing as usize] += 1;
            }
            (Kind::Close(_), closing) if waiting[closing as usize] > 0 => {
                while let Some((partner, wanted)) = open.pop() {
                    waiting[wanted as usize] -= 1;
                    if wanted == closing {
                        tokens[partner].kind = Kind::Open(Some(at));
                        tokens[at].kind = Kind::Close(true);
                        break;
                    }
                }
            }
            _ => (),
        }
    }
    let alone = |token: &&Token| matches!(token.kind, Kind::Open(None) | Kind::Close(false));
    diags.extend(tokens.iter().filter(alone).map(|token| malformed(token.span, "the matching bracket")));
}
