//! Text of the source with edits: how a region's code gets into the device file.
//!
//! Invariant: what no edit touches comes out byte by byte, but for its indentation.

use crate::source::{SourceFile, Span};

/// Edits of a part of the source, in any order; those at one place keep theirs. Each has the bytes that go, the text that
/// comes, and the place whose line its lines are indented like.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    edits: Vec<(Span, String, u32)>,
    /// Spans whose lines move to the left, by so many columns.
    shifts: Vec<(Span, i32)>,
}

impl Edits {
    /// Puts `text` in the place of `span`.
    pub fn replace(&mut self, span: Span, text: impl Into<String>) {
        self.replace_like(span, text, span.start);
    }

    /// The same, with its lines indented like the line of `like`.
    pub fn replace_like(&mut self, span: Span, text: impl Into<String>, like: u32) {
        self.edits.push((span, text.into(), like));
    }

    /// Puts `text` before the byte at `offset`.
    pub fn insert(&mut self, offset: u32, text: impl Into<String>) {
        self.replace(Span { start: offset, end: offset }, text);
    }

    /// Takes away the lines of `span` if nothing else stands there, else its bytes.
    pub fn remove_lines(&mut self, file: &SourceFile, span: Span) {
        let first = file.lines.span(file.lines.line(span.start));
        let last = file.lines.span(file.lines.line(span.end.max(span.start + 1) - 1));
        let before = file.text(Span { start: first.start, end: span.start });
        let behind = file.text(Span { start: span.end, end: last.end });
        let behind = behind.trim();
        let alone = before.trim().is_empty() && (behind.is_empty() || behind.starts_with("//"));
        let span = if alone { Span { start: first.start, end: last.end } } else { span };
        self.replace(span, "");
    }

    /// Moves the lines that begin in `span` to the left.
    pub fn shift(&mut self, span: Span, columns: i32) {
        self.shifts.push((span, columns));
    }

    /// The text of `span` with the edits in it made, its lines indented so that its first column is `indent`.
    pub fn render(&self, file: &SourceFile, span: Span, indent: usize) -> String {
        let (out, _) = self.made(file, span, indent);
        // Lines of blanks, which edits leave, go.
        let lines: Vec<&str> = out.lines().map(str::trim_end).collect();
        let mut kept: Vec<&str> = Vec::with_capacity(lines.len());
        for line in lines {
            if !(line.is_empty() && kept.last().is_none_or(|last| last.is_empty())) {
                kept.push(line);
            }
        }
        kept.join("\n")
    }

    /// The same with directives that say where its lines come from.
    pub fn render_directed(&self, file: &SourceFile, span: Span, indent: usize) -> String {
        let (out, copied) = self.made(file, span, indent);
        let mut copied = copied.into_iter().peekable();
        let mut end = 0;
        let lines: Vec<(Option<u32>, &str)> = out
            .split_inclusive('\n')
            .map(|line| {
                end += line.len();
                let mut first = None;
                while let Some((_, from)) = copied.next_if(|(at, _)| *at < end) {
                    first = first.or(Some(file.lines.line(from) as u32 + 1));
                }
                (first, line.trim_end())
            })
            .collect();
        super::origin::directed(&lines, &file.name)
    }

    /// The text, with the places in it of what is not blank in a copied line, and where that is in the source.
    fn made(&self, file: &SourceFile, span: Span, indent: usize) -> (String, Vec<(usize, u32)>) {
        let mut edits: Vec<(usize, &(Span, String, u32))> = self
            .edits
            .iter()
            .enumerate()
            .filter(|(_, (at, ..))| span.contains(*at) || at.is_empty() && span.end == at.start)
            .collect();
        edits.sort_by_key(|(order, (at, ..))| (at.start, !at.is_empty(), *order));
        let base = columns(file, span.start);
        let (mut out, mut copied) = (" ".repeat(indent), Vec::new());
        let mut at = span.start;
        for (_, (place, text, like)) in edits {
            if place.start < at {
                continue;
            }
            let part = Span { start: at, end: place.start };
            self.copy(file, part, span.start, (base, indent), (&mut out, &mut copied));
            let own = self.column(file, *like, base, indent);
            out.push_str(&text.replace('\n', &format!("\n{}", " ".repeat(own))));
            at = place.end;
        }
        let rest = Span { start: at, end: span.end };
        self.copy(file, rest, span.start, (base, indent), (&mut out, &mut copied));
        (out, copied)
    }

    /// The column that the line of `offset` begins in, once moved.
    fn column(&self, file: &SourceFile, offset: u32, base: usize, indent: usize) -> usize {
        let start = file.lines.span(file.lines.line(offset)).start;
        let inside = self.shifts.iter().filter(|(span, _)| covers(*span, start));
        let shift: i32 = inside.map(|(_, by)| by).sum();
        (columns(file, offset) as i32 + indent as i32 - base as i32 - shift).max(0) as usize
    }

    fn copy(
        &self,
        file: &SourceFile,
        span: Span,
        begin: u32,
        (base, indent): (usize, usize),
        (out, copied): (&mut String, &mut Vec<(usize, u32)>),
    ) {
        let mut at = span.start;
        while at < span.end {
            let line = file.lines.span(file.lines.line(at));
            let end = line.end.min(span.end);
            let text = file.text(Span { start: at, end });
            if !text.trim().is_empty() {
                copied.push((out.len(), at));
            }
            if at == line.start && at > begin {
                let rest = text.trim_start_matches([' ', '\t']);
                let goes_on = rest.is_empty() && !text.is_empty() && end < line.end;
                if !rest.trim().is_empty() || goes_on {
                    let is_preprocessor = rest.starts_with('#');
                    let own = if is_preprocessor { 0 } else { self.column(file, at, base, indent) };
                    out.push_str(&" ".repeat(own));
                }
                out.push_str(&rest.replace('\r', ""));
            } else {
                out.push_str(&text.replace('\r', ""));
            }
            at = end;
        }
    }
}

fn covers(span: Span, offset: u32) -> bool {
    span.start <= offset && offset < span.end
}

/// The width of the blanks that the line of `offset` begins with; a tab goes to the next multiple of eight.
pub fn columns(file: &SourceFile, offset: u32) -> usize {
    let line = file.lines.span(file.lines.line(offset));
    let mut width = 0;
    for byte in file.slice(line) {
        match byte {
            b' ' => width += 1,
            b'\t' => width = (width / 8 + 1) * 8,
            _ => break,
        }
    }
    width
}

/// The names in a text of C: identifiers outside strings and comments.
pub fn words(text: &str) -> Vec<&str> {
    placed_words(text).into_iter().map(|(_, word)| word).collect()
}

/// The same with their places.
pub fn placed_words(text: &str) -> Vec<(usize, &str)> {
    let is_word = |(_, token): &(usize, &str)| !token.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    tokens(text).into_iter().filter(is_word).collect()
}

/// The numbers in a text of C, with their places.
pub fn placed_numbers(text: &str) -> Vec<(usize, &str)> {
    let is_number = |(_, token): &(usize, &str)| token.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    tokens(text).into_iter().filter(is_number).collect()
}

/// A text with other words in the place of some of its names or numbers, which come with their places.
pub fn replaced<'a>(
    text: &str,
    tokens: Vec<(usize, &'a str)>,
    new: impl Fn(&'a str) -> Option<String>,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, token) in tokens {
        if let Some(new) = new(token) {
            out += &text[done..at];
            out += &new;
            done = at + token.len();
        }
    }
    out + &text[done..]
}

/// The names and numbers in a text of C, with their places.
fn tokens(text: &str) -> Vec<(usize, &str)> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        let rest = &bytes[at..];
        let start = at;
        if rest.starts_with(b"//") {
            at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        } else if rest.starts_with(b"/*") {
            at += rest.windows(2).skip(2).position(|two| two == b"*/").map_or(rest.len(), |end| end + 4);
        } else if byte == b'"' || byte == b'\'' {
            at += 1;
            while at < bytes.len() && bytes[at] != byte {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at += 1;
        } else if is_digit(at) || byte == b'.' && is_digit(at + 1) {
            let is_hexadecimal = rest.len() > 1 && matches!(rest[1], b'x' | b'X');
            let is_sign = |at: usize| {
                matches!(bytes[at], b'+' | b'-') && matches!(bytes[at - 1], b'e' | b'E') && !is_hexadecimal
            };
            while at < bytes.len()
                && (bytes[at].is_ascii_alphanumeric() || matches!(bytes[at], b'.' | b'_') || is_sign(at))
            {
                at += 1;
            }
            found.extend(text.get(start..at).map(|number| (start, number)));
        } else if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 {
            while at < bytes.len()
                && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_' || bytes[at] >= 0x80)
            {
                at += 1;
            }
            found.extend(text.get(start..at).map(|word| (start, word)));
        } else {
            at += 1;
        }
    }
    found
}

/// The arguments of a call, parted at the commas that stand in no brackets and no literal.
pub fn arguments(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut depth, mut start) = (0i32, 0);
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                found.push(text[start..at].trim());
                start = at + 1;
            }
            (None, _) => {}
        }
    }
    found.push(text[start..].trim());
    found
}

/// `text` in parentheses, unless it is what a sum can take as it stands: names, numbers, sums and products of these.
pub fn summand(text: &str) -> String {
    let text = text.trim();
    let simple = text.chars().all(|c| c.is_alphanumeric() || "_.+-*/% ".contains(c));
    if simple { text.to_owned() } else { format!("({text})") }
}

/// `text` in parentheses, unless it is a name, a number or a call by itself.
pub fn operand(text: &str) -> String {
    let text = text.trim();
    let simple = text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    if simple { text.to_owned() } else { format!("({text})") }
}

/// Whether each `#if` of a text has its `#endif`, and no part of another one is there.
pub fn has_whole_conditions(text: &str) -> bool {
    let mut depth = 0usize;
    for line in text.lines() {
        let Some(word) = line.trim_start().strip_prefix('#').map(str::trim_start) else { continue };
        if word.starts_with("if") {
            depth += 1;
        } else if word.starts_with("endif") || word.starts_with("el") {
            if depth == 0 {
                return false;
            }
            depth -= usize::from(word.starts_with("endif"));
        }
    }
    depth == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_parted_outside_of_brackets_and_literals() {
        assert_eq!(arguments("a, f(b, c)[d], \"x, \\\"y\", ','"), ["a", "f(b, c)[d]", "\"x, \\\"y\"", "','"]);
        assert_eq!(arguments(""), [""]);
    }

    #[test]
    fn a_sum_takes_what_binds_as_much() {
        assert_eq!(summand(" n - 2 * m "), "n - 2 * m");
        assert_eq!(summand("n & 7"), "(n & 7)");
        assert_eq!(summand("a ? b : c"), "(a ? b : c)");
    }
}
