//! The preprocessor's lines in Fortran: they begin with `#`, in both forms.
//!
//! Invariant: only C's block comments are comments here; `//` joins strings.

use crate::source::{Form, Language, SourceFile, Span};

use super::super::c::{Event, Line, push_piece};
use super::super::shadow::words_of;
use super::super::{AccName, DirectiveText, Form as Spelling};
use super::code::name_of;
use super::line;

/// The preprocessor lines of a file, with their continuations.
pub fn events(file: &SourceFile) -> Vec<Event> {
    let bytes = &file.bytes;
    let mut events = Vec::new();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..)
        && let Some(mark) = memchr::memchr(b'#', rest)
    {
        let start = at + memchr::memrchr(b'\n', &rest[..mark]).map_or(0, |last| last + 1);
        let (end, next) = line::ends(bytes, start);
        at = next;
        if let Some(lead) = begins(bytes.get(start..end).unwrap_or_default(), file.language) {
            let (line, next) = logical_line(bytes, start + lead);
            events.push(Event::Line(line));
            at = next;
        }
    }
    events
}

/// The lines of a file that do not belong to the preprocessor, each read alone.
pub fn other_lines(file: &SourceFile, events: &[Event], form: Form) -> impl Iterator<Item = line::Line> {
    let mut own = events.iter().filter_map(|event| match event {
        Event::Line(line) => Some(line.whole),
        Event::Operator(_) | Event::Comment(_) | Event::Word(_) => None,
    });
    let (mut next_own, mut at) = (own.next(), 0);
    std::iter::from_fn(move || {
        while at < file.bytes.len() {
            let (end, next) = line::ends(&file.bytes, at);
            let Some(line) = next_own.filter(|line| (line.start as usize) < next) else {
                let whole = Span::new(at, end);
                at = next;
                return Some(line::read(file, whole, form));
            };
            at = line::ends(&file.bytes, line.end as usize).1;
            next_own = own.next();
        }
        None
    })
}

/// The length of the blanks before a line's `#`; `None` if it is not a preprocessor line. Some preprocessors allow blanks
/// there; but a `#` in column 6 of the fixed form is a continuation mark.
fn begins(line: &[u8], language: Language) -> Option<usize> {
    let lead = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let rest = line.get(lead..)?.strip_prefix(b"#")?.trim_ascii_start();
    let is_mark = lead == 5 && language == Language::Fortran(Form::Fixed);
    let begins = |word: &&[u8]| rest.starts_with(word);
    let known: [&[u8]; 8] = [b"if", b"el", b"endif", b"define", b"undef", b"include", b"error", b"line"];
    (lead == 0 || !is_mark && known.iter().any(begins)).then_some(lead)
}

/// The logical line that begins at `start`, and the offset after its line end.
fn logical_line(bytes: &[u8], start: usize) -> (Line, usize) {
    let mut line = Line {
        span: Span::at(start),
        whole: Span::at(start),
        pieces: Vec::new(),
        comments: Vec::new(),
        operators: Vec::new(),
    };
    let mut at = start;
    loop {
        let (end, next) = line::ends(bytes, at);
        let text = bytes.get(at..end).unwrap_or_default();
        let goes_on = text.trim_ascii_end().strip_suffix(b"\\").map(<[u8]>::len);
        pieces(bytes, Span::new(at, at + goes_on.unwrap_or(text.len())), &mut line);
        if goes_on.is_none() || next >= bytes.len() {
            let last = line.pieces.last().map_or(start + 1, |piece| piece.end as usize);
            line.span = Span::new(start, last.min(end).max(start + 1));
            line.whole = Span::new(start, end.max(start + 1));
            return (line, next);
        }
        at = next;
    }
}

/// Adds what stands between the block comments of `text`, and the comments. One that is not closed ends with the text.
fn pieces(bytes: &[u8], text: Span, line: &mut Line) {
    let mut at = text.start as usize;
    let end = text.end as usize;
    while at < end {
        let rest = bytes.get(at..end).unwrap_or_default();
        let find = |mark: &[u8; 2], rest: &[u8]| rest.windows(2).position(|here| here == mark);
        let Some(open) = find(b"/*", rest) else {
            push_piece(bytes, &mut line.pieces, at, end);
            break;
        };
        let inside = rest.get(open + 2..).unwrap_or_default();
        let close = find(b"*/", inside).map_or(rest.len(), |length| open + 2 + length + 2);
        push_piece(bytes, &mut line.pieces, at, at + open);
        line.comments.push(Span::new(at + open, at + close));
        at += close;
    }
}

/// The names in the body of a macro that may be OpenACC's.
pub fn names(bytes: &[u8], line: &Line, active: bool) -> Vec<AccName> {
    let words = line.pieces.iter().flat_map(|piece| words_of(bytes, *piece));
    let names = words.filter_map(|span| Some((name_of(bytes.get(span.range())?)?, span)));
    names.map(|(name, span)| AccName { name, span, active, in_macro: true }).collect()
}

/// A directive that the body of a macro spells out.
pub fn directive(bytes: &[u8], line: &Line, name: &str, active: bool) -> Option<DirectiveText> {
    let piece = line.pieces.iter().copied().find_map(|piece| {
        let text = bytes.get(piece.range())?;
        let at = text.windows(5).position(|word| word.eq_ignore_ascii_case(b"!$acc"))?;
        Some(Span { start: piece.start + at as u32, end: piece.end })
    })?;
    Some(DirectiveText {
        span: piece,
        form: Spelling::Sentinel,
        words: Vec::new(),
        comments: Vec::new(),
        in_macro: Some(name.to_owned()),
        active,
        next_code: 0,
    })
}
