//! One file: its name for messages, its bytes, its language.

use super::{Language, LineIndex, Span};

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
}

impl SourceFile {
    /// Takes the bytes as they are; `bytes` is shorter than 4 GiB.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>, language: Language) -> SourceFile {
        let lines = LineIndex::new(&bytes);
        SourceFile { name: name.into(), bytes, language, lines, inserted: Vec::new() }
    }

    /// The number of the line that holds an offset, from one, as the user's file counts them.
    pub fn line_number(&self, offset: u32) -> usize {
        self.lines.line(offset) + 1 - self.inserted.partition_point(|at| *at < offset)
    }

    /// The bytes of `span`.
    pub fn slice(&self, span: Span) -> &[u8] {
        self.bytes.get(span.range()).unwrap_or_default()
    }

    /// The text of `span`; bytes that are not UTF-8 are shown as replacement characters.
    pub fn text(&self, span: Span) -> std::borrow::Cow<'_, str> {
        let bytes = self.slice(span);
        // Nearly all of it is UTF-8, and told to be so faster than it is made so.
        std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), std::borrow::Cow::Borrowed)
    }
}
