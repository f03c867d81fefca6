//! Text of the source with edits: how a region's code gets into the device file.
//!
//! Invariant: what no edit touches comes out byte by byte, except its indentation.

use crate::source::{self, SourceFile, Span};

/// Edits of a part of the source; those at one place keep their order.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    edits: Vec<Edit>,
    /// Spans whose lines move to the left, by so many columns.
    shifts: Vec<(Span, i32)>,
}

/// The bytes that go, and the text that comes.
#[derive(Clone, Debug)]
struct Edit {
    span: Span,
    text: String,
    /// The place whose line the lines of the text are indented like.
    like: u32,
    /// The text says what the edits before it make of these bytes.
    is_whole: bool,
    /// For text that comes between two bytes: the code that it belongs to.
    of: Option<Neighbour>,
}

/// The code beside a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Neighbour {
    Before,
    After,
}

/// Two edits change the same bytes: a mistake of acc2omp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The bytes that the later one wants to change.
    pub at: Span,
}

impl Overlap {
    /// What stands in the device file where no message can be given: it does not compile.
    pub fn line(self) -> String {
        "#error \"two changes of this code overlap: please report this file as a bug of acc2omp\"".to_owned()
    }
}

impl Edits {
    /// Puts `text` in place of `span`, in which no other edit changes anything.
    pub fn replace(&mut self, span: Span, text: impl Into<String>) {
        self.push(span, text, span.start, false);
    }

    /// Puts `text` in place of `span` and of all that the edits up to now make of it: the text says their part, mostly
    /// since it was rendered with them. What they insert before and after `span` stays.
    pub fn replace_all(&mut self, span: Span, text: impl Into<String>) {
        self.push(span, text, span.start, true);
    }

    /// Like `replace`, with its lines indented like the line of `like`.
    pub fn replace_like(&mut self, span: Span, text: impl Into<String>, like: u32) {
        self.push(span, text, like, false);
    }

    fn push(&mut self, span: Span, text: impl Into<String>, like: u32, is_whole: bool) {
        self.edits.push(Edit { span, text: text.into(), like, is_whole, of: None });
    }

    /// Puts text around `span` that is a part of the code there: what takes the place of `span` says it, too.
    pub fn enclose(&mut self, span: Span, [open, close]: [&str; 2]) {
        for (offset, text, of) in [(span.start, open, Neighbour::After), (span.end, close, Neighbour::Before)]
        {
            let place = Span { start: offset, end: offset };
            let (text, of) = (text.to_owned(), Some(of));
            self.edits.push(Edit { span: place, text, like: offset, is_whole: false, of });
        }
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
        let after = file.text(Span { start: span.end, end: last.end });
        let after = after.trim();
        let alone = before.trim().is_empty() && (after.is_empty() || after.starts_with("//"));
        let span = if alone { Span { start: first.start, end: last.end } } else { span };
        self.replace(span, "");
    }

    /// Moves the lines that begin in `span` to the left.
    pub fn shift(&mut self, span: Span, columns: i32) {
        self.shifts.push((span, columns));
    }

    /// The text of `span` with the edits in it made, its lines indented so that its first column is `indent`.
    pub fn render(&self, file: &SourceFile, span: Span, indent: usize) -> Result<String, Overlap> {
        let (out, _) = self.made(file, span, indent)?;
        // Lines of blanks, which edits leave, go.
        let lines: Vec<&str> = out.lines().map(str::trim_end).collect();
        let mut kept: Vec<&str> = Vec::with_capacity(lines.len());
        for line in lines {
            if !(line.is_empty() && kept.last().is_none_or(|last| last.is_empty())) {
                kept.push(line);
            }
        }
        Ok(kept.join("\n"))
    }

    /// The same with directives that say where its lines come from.
    pub fn render_directed(&self, file: &SourceFile, span: Span, indent: usize) -> Result<String, Overlap> {
        let (out, copied) = self.made(file, span, indent)?;
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
        Ok(super::origin::directed(&lines, &file.name))
    }

    /// The edits in `span` that count, by place.
    fn standing(&self, span: Span) -> Result<Vec<&Edit>, Overlap> {
        let touches = |edit: &Edit| match edit.span.is_empty() {
            true => span.start <= edit.span.start && edit.span.start <= span.end,
            false => meets(edit.span, span),
        };
        let near: Vec<(usize, &Edit)> =
            self.edits.iter().enumerate().filter(|(_, edit)| touches(edit)).collect();
        let whole: Vec<(usize, Span)> =
            near.iter().filter(|(_, edit)| edit.is_whole).map(|(order, edit)| (*order, edit.span)).collect();
        let is_said = |(order, edit): &(usize, &Edit)| {
            whole.iter().any(|(later, text)| later > order && is_inside(edit, *text))
        };
        let mut standing: Vec<(usize, &Edit)> = near.into_iter().filter(|one| !is_said(one)).collect();
        // What belongs to the code beside a place stands next to it.
        let rank = |edit: &Edit| match edit.of {
            Some(Neighbour::Before) => 0,
            None => 1,
            Some(Neighbour::After) => 2,
        };
        standing.sort_by_key(|(order, edit)| (edit.span.start, !edit.span.is_empty(), rank(edit), *order));
        let mut found: Vec<&Edit> = Vec::with_capacity(standing.len());
        let mut last: Option<(usize, &Edit)> = None;
        for (order, edit) in standing {
            if let Some((before, other)) = last.filter(|(_, other)| edit.span.start < other.span.end) {
                if edit.span == other.span && edit.text == other.text {
                    continue;
                }
                return Err(Overlap { at: if before < order { edit.span } else { other.span } });
            }
            if !edit.span.is_empty() {
                last = Some((order, edit));
            }
            found.push(edit);
        }
        match found.iter().find(|edit| !span.contains(edit.span)) {
            Some(edit) => Err(Overlap { at: edit.span }),
            None => Ok(found),
        }
    }

    /// The text, with the places in it of what is not blank in a copied line, and where that is in the source.
    fn made(
        &self,
        file: &SourceFile,
        span: Span,
        indent: usize,
    ) -> Result<(String, Vec<(usize, u32)>), Overlap> {
        let base = columns(file, span.start);
        let (mut out, mut copied) = (" ".repeat(indent), Vec::new());
        let mut at = span.start;
        for Edit { span: place, text, like, .. } in self.standing(span)? {
            let part = Span { start: at, end: place.start };
            self.copy(file, part, span.start, (base, indent), (&mut out, &mut copied));
            let own = self.column(file, *like, base, indent);
            out.push_str(&text.replace('\n', &format!("\n{}", " ".repeat(own))));
            at = place.end;
        }
        let rest = Span { start: at, end: span.end };
        self.copy(file, rest, span.start, (base, indent), (&mut out, &mut copied));
        Ok((out, copied))
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

/// Whether two spans have bytes in common.
fn meets(one: Span, other: Span) -> bool {
    one.start < other.end && other.start < one.end
}

/// Whether an edit changes bytes in `whole`, or inserts between two of them, or what belongs to one.
fn is_inside(edit: &Edit, whole: Span) -> bool {
    let span = edit.span;
    match edit.of {
        _ if !span.is_empty() => whole.contains(span),
        Some(Neighbour::After) => whole.start <= span.start && span.start < whole.end,
        Some(Neighbour::Before) => whole.start < span.start && span.start <= whole.end,
        None => whole.start < span.start && span.end < whole.end,
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

/// Whether a word is the tag of a type, and nothing that a parenthesis follows.
pub fn is_tag(text: &str, at: usize, word: &str) -> bool {
    let before = text[..at].trim_end();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let last = &before[before.trim_end_matches(is_word).len()..];
    ["struct", "union", "enum"].contains(&last) && !text[at + word.len()..].trim_start().starts_with('(')
}

/// The names in a text of C: identifiers outside strings and comments.
pub fn words(text: &str) -> Vec<&str> {
    placed_words(text).into_iter().map(|(_, word)| word).collect()
}

/// The same with their places.
pub fn placed_words(text: &str) -> Vec<(usize, &str)> {
    let is_word =
        |(_, token): &(usize, &str)| !token.starts_with(|c: char| c.is_ascii_digit() || ".\"'".contains(c));
    tokens(text).into_iter().filter(is_word).collect()
}

/// A text of C in which strings and characters are valid for a compiler that reads UTF-8: their other bytes are octal
/// escapes of the same value.
pub fn with_escapes(text: String) -> String {
    if matches!(source::readable(&text), std::borrow::Cow::Borrowed(_)) {
        return text;
    }
    let is_literal =
        |(at, token): &(usize, &str)| token.starts_with(['"', '\'']) && !text[..*at].ends_with('R');
    let literals = tokens(&text).into_iter().filter(is_literal).collect();
    let escaped = |literal: &str| {
        let chars = literal.chars().map(|c| match source::byte_of(c) {
            Some(byte) => format!("\\{byte:03o}"),
            None => c.to_string(),
        });
        Some(chars.collect())
    };
    replaced(&text, literals, escaped)
}

/// The numbers in a text of C, with their places.
pub fn placed_numbers(text: &str) -> Vec<(usize, &str)> {
    let is_number = |(_, token): &(usize, &str)| token.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    tokens(text).into_iter().filter(is_number).collect()
}

/// A text with other words in place of some of its names or numbers, which come with their places.
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

/// The names, numbers, strings and characters in a text of C, with their places.
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
            found.extend(text.get(start..at).map(|literal| (start, literal)));
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

/// The arguments of a call, split at the commas that stand in no brackets and no literal.
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
mod tests;
