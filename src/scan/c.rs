//! A token walk over C: comments, strings, preprocessor lines, `_Pragma`, and the few words that matter.
//!
//! Invariant: linear in the bytes; what it does not name is plain code.

use rustc_hash::FxHashSet;

use crate::source::{Span, byte_order_mark};

/// Something in the source that is not plain code, or a word of interest in it.
#[derive(Clone, Debug)]
pub enum Event {
    /// A preprocessor line with its continuations.
    Line(Line),
    /// `_Pragma("acc …")`, outside of preprocessor lines.
    Operator(Operator),
    /// A comment in code.
    Comment(Span),
    /// `acc`, `acc_…`, `_OPENACC`, a word that the host grammar does not know, or a macro's name after a literal.
    Word(Span),
}

/// What may stand before a literal, as a part of it.
const PREFIXES: [&[u8]; 9] = [b"R", b"LR", b"uR", b"UR", b"u8R", b"L", b"u", b"U", b"u8"];

/// The words of C++ that are operators with something on both sides.
const OPERATORS: [&[u8]; 6] = [b"and", b"or", b"xor", b"bitand", b"bitor", b"not_eq"];

/// A logical preprocessor line.
#[derive(Clone, Debug)]
pub struct Line {
    /// From `#` to the line's last byte that is neither blank nor comment nor line end.
    pub span: Span,
    /// From `#` to the end of the line, without the line end.
    pub whole: Span,
    /// Its bytes without comments and continuations, piece by piece.
    pub pieces: Vec<Span>,
    /// The comments on it.
    pub comments: Vec<Span>,
    /// The `_Pragma` operators in it.
    pub operators: Vec<Operator>,
}

/// A `_Pragma` operator.
#[derive(Clone, Debug)]
pub struct Operator {
    /// From `_Pragma` to the closing parenthesis.
    pub span: Span,
    /// The string's content.
    pub text: Span,
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    events: Vec<Event>,
    /// A preprocessor line is being read; its continuations divide it into pieces.
    in_line: bool,
    /// The ends of raw strings that do not come any more.
    without_end: FxHashSet<Vec<u8>>,
}

/// The events of a file, in order.
pub fn events(bytes: &[u8]) -> Vec<Event> {
    let mut walk = Walk {
        bytes,
        at: byte_order_mark(bytes),
        events: Vec::new(),
        in_line: false,
        without_end: FxHashSet::default(),
    };
    walk.run();
    walk.events
}

impl Walk<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn run(&mut self) {
        let mut line_is_blank = true;
        while self.at < self.bytes.len() {
            let byte = self.peek(0);
            match byte {
                b'\n' => {
                    line_is_blank = true;
                    self.at += 1;
                    continue;
                }
                b'#' | b'%' if line_is_blank && (byte == b'#' || self.peek(1) == b':') => {
                    let line = self.line();
                    self.events.push(Event::Line(line));
                    line_is_blank = false;
                    continue;
                }
                b'/' if matches!(self.peek(1), b'/' | b'*') => {
                    let span = self.comment();
                    self.events.push(Event::Comment(span));
                    continue;
                }
                b'"' | b'\'' => {
                    let start = self.at;
                    self.literal(byte);
                    if byte == b'"' {
                        self.text_macros(start);
                    }
                }
                _ if is_word_start(byte) => self.word(),
                _ => {
                    line_is_blank &= byte.is_ascii_whitespace();
                    self.at += if byte.is_ascii_digit() { self.number() } else { 1 };
                    continue;
                }
            }
            line_is_blank = false;
        }
    }

    /// The length of a number with its letters, so that `1acc_x` is not taken for a word, and with its separators, so that the
    /// apostrophes of `1'000'000` are not taken for quotes.
    fn number(&self) -> usize {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let is_inner = |byte: u8| is_word_start(byte) || byte.is_ascii_digit();
        let mut length = 1;
        while let Some(byte) = rest.get(length) {
            match byte {
                b'.' => length += 1,
                b'\'' if rest.get(length + 1).is_some_and(|next| is_inner(*next)) => length += 2,
                byte if is_inner(*byte) => length += 1,
                _ => break,
            }
        }
        length
    }

    /// Skips a comment; it ends before the line end (`//`) or after `*/`.
    fn comment(&mut self) -> Span {
        let start = self.at;
        if self.peek(1) == b'*' {
            let rest = self.bytes.get(start + 2..).unwrap_or_default();
            let length = rest.windows(2).position(|end| end == b"*/").map_or(rest.len(), |at| at + 2);
            self.at = start + 2 + length;
        } else {
            while self.at < self.bytes.len() && self.peek(0) != b'\n' {
                match self.continuation() {
                    Some(length) => self.at += length,
                    None => self.at += 1,
                }
            }
            if self.at > start && self.bytes.get(self.at - 1) == Some(&b'\r') {
                self.at -= 1;
            }
        }
        Span::new(start, self.at)
    }

    fn continuation(&self) -> Option<usize> {
        continuation(self.bytes, self.at)
    }

    fn literal(&mut self, quote: u8) {
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'\\' => self.at += self.continuation().unwrap_or(2),
                // An unclosed literal ends with its line: apostrophes stand in assembler and in dead text.
                b'\n' => return,
                byte => {
                    self.at += 1;
                    if byte == quote {
                        return;
                    }
                }
            }
        }
        self.at = self.at.min(self.bytes.len());
    }

    /// Names after the literal that begins at `start`, which can only be those of macros for more text: `"%" PRId64 "\n"`.
    fn text_macros(&mut self, start: usize) {
        let text = |at: usize| self.bytes.get(at..).unwrap_or_default();
        let after_blanks =
            |at: usize| at + text(at).iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let mut names = Vec::new();
        let mut at = after_blanks(self.at);
        while text(at).first().is_some_and(|byte| is_word_start(*byte)) {
            let length = text(at).iter().take_while(|byte| IS_INNER[usize::from(**byte)]).count();
            let name = Span::new(at, at + length);
            let word = &self.bytes[name.range()];
            if text(at + length).first() == Some(&b'"') && PREFIXES.contains(&word) {
                break;
            }
            if OPERATORS.contains(&word) {
                return;
            }
            names.push(name);
            at = after_blanks(at + length);
        }
        let ends = text(at).first().is_some_and(|byte| is_word_start(*byte) || b"\",);".contains(byte));
        let is_suffix =
            names.len() == 1 && names[0].start as usize == self.at && text(at).first() != Some(&b'"');
        let is_linkage = self.bytes[..start].trim_ascii_end().ends_with(b"extern");
        if let Some(last) = names.last().filter(|_| ends && !is_suffix && !is_linkage) {
            self.at = last.end as usize;
            self.events.extend(names.into_iter().map(Event::Word));
        }
    }

    /// `"tag(…)tag"` after an `R`: quotes and escapes in it have no meaning.
    fn raw_string(&mut self) {
        let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
        let tag = rest.iter().take(17).position(|byte| *byte == b'(');
        let Some(tag) = tag.and_then(|length| rest.get(..length)) else { return self.literal(b'"') };
        let end = [b")", tag, b"\""].concat();
        let inside = rest.get(tag.len() + 1..).unwrap_or_default();
        let found = match self.without_end.contains(&end) {
            true => None,
            false => memchr::memmem::find(inside, &end),
        };
        match found {
            Some(length) => self.at += 1 + tag.len() + 1 + length + end.len(),
            None => {
                self.without_end.insert(end);
                self.literal(b'"');
            }
        }
    }

    fn word(&mut self) {
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or_default();
        self.at += rest.iter().position(|byte| !IS_INNER[usize::from(*byte)]).unwrap_or(rest.len());
        let word = self.bytes.get(start..self.at).unwrap_or_default();
        if let Some(end) = self.spliced_operator(word) {
            self.at = end;
            let operator = self.operator(start);
            self.events.extend(operator.map(Event::Operator));
        } else if self.peek(0) == b'"' && matches!(word, b"R" | b"LR" | b"uR" | b"UR" | b"u8R") {
            self.raw_string();
        } else if word == b"_Pragma" {
            if let Some(operator) = self.operator(start) {
                self.events.push(Event::Operator(operator));
            }
        } else if word.starts_with(b"acc_")
            || matches!(word, b"acc" | b"_OPENACC" | b"complex")
            || super::noise::is_noise(word)
            || super::noise::asks_for_type(word)
        {
            self.events.push(Event::Word(Span::new(start, self.at)));
        }
    }

    /// The end of a `_Pragma` that begins with `word` and is divided by line continuations.
    fn spliced_operator(&self, word: &[u8]) -> Option<usize> {
        const NAME: &[u8] = b"_Pragma";
        let (mut known, mut at) = (word.len(), self.at);
        (!self.in_line && word.len() < NAME.len() && NAME.starts_with(word)).then_some(())?;
        while known < NAME.len() {
            match continuation(self.bytes, at) {
                Some(length) => at += length,
                None if self.bytes.get(at) == Some(&NAME[known]) => (known, at) = (known + 1, at + 1),
                None => return None,
            }
        }
        let is_whole = self.bytes.get(at).is_none_or(|byte| !IS_INNER[usize::from(*byte)]);
        is_whole.then_some(at)
    }

    /// `("acc …")` after `_Pragma`; anything else remains code.
    fn operator(&mut self, start: usize) -> Option<Operator> {
        let back = self.at;
        self.blanks();
        if self.peek(0) != b'(' {
            self.at = back;
            return None;
        }
        self.at += 1;
        self.blanks();
        let prefix: &[&[u8]] = &[b"L", b"u", b"U", b"u8"];
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let is_after = |word: &&&[u8]| rest.starts_with(word) && rest.get(word.len()) == Some(&b'"');
        self.at += prefix.iter().find(is_after).map_or(0, |word| word.len());
        if self.peek(0) != b'"' {
            self.at = back;
            return None;
        }
        let text = self.at + 1;
        self.literal(b'"');
        let end = self.at - 1;
        self.blanks();
        if self.peek(0) != b')' || end < text {
            self.at = back;
            return None;
        }
        self.at += 1;
        Some(Operator { span: Span::new(start, self.at), text: Span::new(text, end) })
    }

    /// Skips blanks, and in code ends of lines and comments.
    fn blanks(&mut self) {
        while self.at < self.bytes.len() {
            match (self.peek(0), self.continuation()) {
                (byte, _) if byte.is_ascii_whitespace() => self.at += 1,
                _ if self.in_line => return,
                (b'/', _) if matches!(self.peek(1), b'/' | b'*') => {
                    self.comment();
                }
                (_, Some(length)) => self.at += length,
                _ => return,
            }
        }
    }

    /// A preprocessor line from its `#`.
    fn line(&mut self) -> Line {
        let start = self.at;
        self.in_line = true;
        let mut line = Line {
            span: Span::at(start),
            whole: Span::at(start),
            pieces: Vec::new(),
            comments: Vec::new(),
            operators: Vec::new(),
        };
        let mut piece = start;
        let mut last = start;
        loop {
            let byte = self.peek(0);
            if self.at >= self.bytes.len() || byte == b'\n' {
                break;
            }
            if let Some(length) = self.continuation() {
                push_piece(self.bytes, &mut line.pieces, piece, self.at);
                self.at += length;
                piece = self.at;
                continue;
            }
            match byte {
                b'/' if matches!(self.peek(1), b'/' | b'*') => {
                    push_piece(self.bytes, &mut line.pieces, piece, self.at);
                    let comment = self.comment();
                    line.comments.push(comment);
                    piece = self.at;
                    continue;
                }
                b'"' | b'\'' => self.literal(byte),
                _ if is_word_start(byte) => {
                    let before = self.events.len();
                    self.word();
                    if let Some(Event::Operator(operator)) = self.events.get(before).cloned() {
                        line.operators.push(operator);
                    }
                    self.events.truncate(before);
                }
                _ => self.at += 1,
            }
            if !byte.is_ascii_whitespace() {
                last = self.at;
            }
        }
        self.in_line = false;
        push_piece(self.bytes, &mut line.pieces, piece, self.at);
        let end = line.pieces.last().map_or(last, |piece| piece.end as usize).max(start + 1);
        let back = if self.at > start && self.bytes.get(self.at - 1) == Some(&b'\r') { 1 } else { 0 };
        line.span = Span::new(start, end.min(self.at));
        line.whole = Span::new(start, (self.at - back).max(end.min(self.at)));
        line
    }
}

/// The length of the line continuation at `at`: a backslash and the line end after it. Blanks between them are allowed, as in
/// compilers.
fn continuation(bytes: &[u8], at: usize) -> Option<usize> {
    let (backslash, rest) = bytes.get(at..)?.split_first()?;
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    (*backslash == b'\\' && rest.get(blanks) == Some(&b'\n')).then_some(blanks + 2)
}

/// The pieces of a text that line continuations divide it into.
pub fn spliced(bytes: &[u8], text: Span) -> Vec<Span> {
    let (mut pieces, mut start, mut at) = (Vec::new(), text.start as usize, text.start as usize);
    while at < text.end as usize {
        match continuation(bytes, at) {
            Some(length) => {
                push_piece(bytes, &mut pieces, start, at);
                at += length;
                start = at;
            }
            None => at += 1,
        }
    }
    push_piece(bytes, &mut pieces, start, text.end as usize);
    pieces
}

/// Adds the bytes between `start` and `end`, without blanks at both ends; nothing if there are none.
pub fn push_piece(bytes: &[u8], pieces: &mut Vec<Span>, start: usize, end: usize) {
    let text = bytes.get(start..end).unwrap_or_default();
    let lead = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let trail = text.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
    if lead < text.len() {
        pieces.push(Span::new(start + lead, end - trail));
    }
}

/// Whether a byte can begin an identifier.
pub const fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// Which bytes an identifier goes on with.
const IS_INNER: [bool; 256] = {
    let mut all = [false; 256];
    let mut byte = 0;
    while byte < all.len() {
        all[byte] = is_word_start(byte as u8) || (byte as u8).is_ascii_digit();
        byte += 1;
    }
    all
};

#[cfg(test)]
mod tests;
