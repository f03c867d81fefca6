//! Where the lines of a file begin.

use super::Span;

/// Byte offsets of the beginnings of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<u32>,
    length: u32,
}

/// The length of a mark that some editors put before the text.
pub fn byte_order_mark(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }
}

/// The lines of a text, without LF.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let Some((line, after)) = memchr::memchr(b'\n', text).and_then(|at| text.split_at_checked(at)) else {
            return Some(text);
        };
        rest = after.get(1..);
        Some(line)
    })
}

impl LineIndex {
    /// Reads the lines of `bytes`: they end with LF (CRLF is an LF with a CR before it). A byte order mark is before the first.
    pub fn new(bytes: &[u8]) -> LineIndex {
        let ends = memchr::memchr_iter(b'\n', bytes).map(|at| at as u32 + 1);
        let first = byte_order_mark(bytes) as u32;
        LineIndex { starts: std::iter::once(first).chain(ends).collect(), length: bytes.len() as u32 }
    }

    /// The number, from 0, of the line that holds the byte at `offset`.
    pub fn line(&self, offset: u32) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The whole of line `line` (from 0), its end-of-line bytes included.
    pub fn span(&self, line: usize) -> Span {
        let start = self.starts.get(line).copied().unwrap_or(self.length);
        Span { start, end: self.starts.get(line + 1).copied().unwrap_or(self.length) }
    }

    /// Line and column of a byte, both from 1; the column counts bytes.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let line = self.line(offset);
        (line + 1, offset.saturating_sub(self.span(line).start) as usize + 1)
    }

    /// Number of lines; a text that ends with LF has an empty last one.
    pub fn count(&self) -> usize {
        self.starts.len()
    }
}
