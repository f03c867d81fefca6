//! A directive of Fortran while its lines are read.
//!
//! Invariant: a comment after the last line of a directive is not part of it.

use crate::source::{Form, Span};

use super::super::{DirectiveText, Form as Spelling};
use super::code;
use super::line::Line;
use super::walk::leading_ampersand;

/// How a line with a sentinel goes on with the directive before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// It does not.
    None,
    /// By a mark in column 6.
    Marked,
    /// If the directive asks for it.
    Requested,
}

/// A directive that may go on.
#[derive(Clone, Debug)]
pub struct Open {
    text: DirectiveText,
    /// The ampersand at the end of its last line.
    ampersand: Option<u32>,
    quote: Option<u8>,
    /// Comments on lines of their own after its last line.
    pending: Vec<Span>,
    /// A preprocessor line follows its last line.
    crossed: bool,
    /// It stands before a hidden branch: what is added there is not its own.
    pub is_ghost: bool,
    /// Preprocessor conditions divide it.
    is_parted: bool,
}

impl Open {
    /// A directive whose sentinel is at `start`.
    pub fn new(start: u32, active: bool) -> Open {
        let text = DirectiveText {
            span: Span { start, end: start + 5 },
            form: Spelling::Sentinel,
            words: Vec::new(),
            comments: Vec::new(),
            in_macro: None,
            active,
            next_code: 0,
        };
        Open {
            text,
            ampersand: None,
            quote: None,
            pending: Vec::new(),
            crossed: false,
            is_ghost: false,
            is_parted: false,
        }
    }

    /// Whether its last line ends with an ampersand.
    pub fn asks(&self) -> bool {
        self.ampersand.is_some()
    }

    /// Whether a line goes on with it.
    pub fn takes(&self, line: Continuation) -> bool {
        match line {
            Continuation::None => false,
            Continuation::Marked => true,
            Continuation::Requested => self.asks(),
        }
    }

    /// A comment on a line of its own follows.
    pub fn comment(&mut self, span: Span) {
        self.pending.push(span);
    }

    /// A preprocessor line follows.
    pub fn crosses(&mut self) {
        self.crossed = true;
    }

    /// It goes on in a branch that is not seen.
    pub fn part(&mut self) {
        self.is_parted = true;
    }

    /// Adds a line of it.
    pub fn add(&mut self, bytes: &[u8], line: &Line, form: Form) {
        self.is_parted |= self.crossed;
        let mut span = line.text;
        span.start += leading_ampersand(bytes.get(span.range()).unwrap_or_default());
        let read = code::read(bytes, span, self.quote, form);
        self.text.comments.append(&mut self.pending);
        self.text.words.extend(read.words);
        // A line that goes on with it is its own, although it may say nothing.
        let goes_on = line.start > self.text.span.start;
        let last = if goes_on { span.start } else { self.text.span.end };
        self.text.span.end = read.words.map_or(last, |words| words.end);
        if let Some(comment) = read.comment {
            let whole = bytes.get(comment.start as usize..line.whole.end as usize).unwrap_or_default();
            let length = whole.trim_ascii_end().len().max(1) as u32;
            self.text.comments.push(Span { start: comment.start, end: comment.start + length });
        }
        self.ampersand = read.ampersand;
        self.quote = read.quote;
    }

    /// The directive, once no line continues it; `None` if it belongs to another branch.
    pub fn finished(self) -> Option<DirectiveText> {
        let mut text = self.text;
        if let Some(ampersand) = self.ampersand {
            text.span.end = text.span.end.max(ampersand + 1);
        }
        if self.is_parted {
            text.in_macro = Some(super::PARTED.to_owned());
        }
        (!self.is_ghost).then_some(text)
    }
}
