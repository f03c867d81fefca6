//! One file: its name for messages, its bytes, its language.

use std::sync::Arc;

use super::{Language, LineIndex, Predefined, Span};

/// The last column of fixed form, unless options say another.
const LAST_COLUMN: usize = 72;

/// A source file as it was read.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name that messages use.
    pub name: String,
    /// The bytes as read.
    pub bytes: Vec<u8>,
    /// The host language.
    pub language: Language,
    /// Where its lines begin.
    pub lines: LineIndex,
    /// Where line ends stand that the user's file does not have, by place: statements were put into it.
    pub inserted: Vec<u32>,
    /// What stands in place of uses of macros in the user's file, in order: another build may define these otherwise.
    pub macro_texts: Vec<Span>,
    /// What options say of the preprocessor's names before it begins.
    pub predefined: Arc<Predefined>,
}

impl SourceFile {
    /// Takes the bytes as they are; `bytes` is shorter than 4 GiB.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>, language: Language) -> SourceFile {
        let lines = LineIndex::new(&bytes);
        let (inserted, macro_texts, predefined) = (Vec::new(), Vec::new(), Arc::default());
        SourceFile { name: name.into(), bytes, language, lines, inserted, macro_texts, predefined }
    }

    /// The last column that is read of a line in fixed form.
    pub fn last_column(&self) -> usize {
        self.predefined.last_column().unwrap_or(LAST_COLUMN)
    }

    /// The same file with other bytes. Where macros have written anything, all of it counts as theirs, as places have moved.
    pub fn with(&self, bytes: Vec<u8>) -> SourceFile {
        let predefined = Arc::clone(&self.predefined);
        let all = Span::new(0, bytes.len());
        let macro_texts = if self.macro_texts.is_empty() { Vec::new() } else { vec![all] };
        SourceFile { macro_texts, predefined, ..SourceFile::new(self.name.clone(), bytes, self.language) }
    }

    /// Whether a part of `span` stands in place of a macro's use.
    pub fn is_by_macro(&self, span: Span) -> bool {
        self.macro_texts.iter().any(|text| text.start < span.end && span.start < text.end)
    }

    /// The number of the line that holds an offset, from one, as the user's file counts them.
    pub fn line_number(&self, offset: u32) -> usize {
        self.lines.line(offset) + 1 - self.inserted.partition_point(|at| *at < offset)
    }

    /// The line end that the file uses at `offset`.
    pub fn line_end(&self, offset: u32) -> &'static str {
        let number = self.lines.line(offset);
        let line = self.slice(self.lines.span(number));
        // The last line may have none: it would be that of the line before.
        let line = match number.checked_sub(1).filter(|_| !line.ends_with(b"\n")) {
            Some(before) => self.slice(self.lines.span(before)),
            None => line,
        };
        if line.ends_with(b"\r\n") { "\r\n" } else { "\n" }
    }

    /// The bytes of `span`.
    pub fn slice(&self, span: Span) -> &[u8] {
        self.bytes.get(span.range()).unwrap_or_default()
    }

    /// The text of `span`, which `source::bytes` makes the same bytes again: each that is not UTF-8 is one character.
    pub fn text(&self, span: Span) -> std::borrow::Cow<'_, str> {
        super::text::text(self.slice(span))
    }
}
