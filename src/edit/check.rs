//! The self-check: what a translation has made can be read again.
//!
//! Invariant: a text that a compiler would refuse where it took the original is never given out.

use crate::host;
use crate::scan::{self, Scan, View};
use crate::source::{self, Language, SourceFile, Span};

use super::Edit;

/// The source before its edits.
#[derive(Debug)]
pub struct Before<'a> {
    /// The source.
    pub file: &'a SourceFile,
    /// Its shadow in the first view.
    pub shadow: &'a [u8],
    /// The functions that are blank in the shadow, as they were not read.
    pub apart: &'a [Span],
    /// How many places the host grammar cannot read, as the first view shows it, if it was read.
    pub errors: Option<usize>,
    /// The first view that was parsed.
    pub past: Option<&'a host::Past>,
    /// The functions that were read in parts, each of which the host grammar could read.
    pub in_parts: &'a [Span],
    /// What its headers define: it chooses the branches of the translation, too.
    pub headers: View,
}

/// What a translation makes, beside the text of the source.
#[derive(Debug, Default)]
pub struct Ours {
    /// Lines that read the same everywhere: they are not news to a grammar.
    pub lines: Vec<String>,
    /// Macros that are defined where the translation is built.
    pub macros: Vec<String>,
    /// Code in files of its own: their names and texts. There, and in a text that calls it, compilers read words that the
    /// grammar does not know, so that only the brackets are looked at.
    pub code: Option<Vec<(String, String)>>,
}

impl Before<'_> {
    /// Whether what was made of the source is less than the source was: the text has more active directives of OpenACC than
    /// `left` ones, or can be read less.
    pub fn breaks(&self, output: &SourceFile, edits: &[Edit], ours: &Ours, left: usize) -> bool {
        let (mut scan, _) = scan::scan(output, &ours.view(&self.headers));
        let apart = moved(self.apart, edits);
        scan::blank(&mut scan.shadow, apart.as_deref().unwrap_or_default());
        let active = scan.directives.iter().filter(|text| text.active).count();
        active > left
            || match &ours.code {
                None if apart.is_none() => {
                    let (before, _) = scan::scan(self.file, &self.headers);
                    let before = host::errors(self.file, &before, None, &[]);
                    host::errors(output, &scan, None, &[]) > before
                }
                None => self.reads_less(output, &scan, edits, ours),
                Some(code) => {
                    let all = std::iter::once(scan).chain(code.iter().map(|one| ours.scan(self.file, one)));
                    are_balanced(self.shadow) && all.into_iter().any(|scan| !are_balanced(&scan.shadow))
                        || code
                            .iter()
                            .any(|one| ours.scan(self.file, one).directives.iter().any(|text| text.active))
                }
            }
    }

    /// Whether the grammar reads less of the text. Where only directives have changed, both have the same code, and there is
    /// nothing to read.
    fn reads_less(&self, output: &SourceFile, scan: &Scan, edits: &[Edit], ours: &Ours) -> bool {
        if are_same(self.shadow, &scan.shadow, &ours.lines) {
            return false;
        }
        if !self.in_parts.is_empty()
            && let Some(functions) = carried(self.in_parts, edits)
        {
            return self.reads_parts_less(output, &scan.shadow, &functions, ours);
        }
        let before = self.errors.unwrap_or_else(|| {
            let (mut scan, _) = scan::scan(self.file, &self.headers);
            scan::blank(&mut scan.shadow, self.apart);
            host::errors(self.file, &scan, self.past, &[])
        });
        let replaced = edits.iter().map(|edit| host::Replaced { old: edit.span, length: edit.text.len() });
        let replaced: Vec<host::Replaced> = replaced.collect();
        host::errors(output, scan, self.past, &replaced) > before
    }
}

/// So many bytes of functions are read again together at least, and of long files so many parts.
const TOGETHER: (usize, usize) = (32 * 1024, 24);

impl Before<'_> {
    /// Whether the grammar reads less of what functions have become, or of what is around them: those that have the same words
    /// are passed over.
    fn reads_parts_less(&self, output: &SourceFile, shadow: &[u8], functions: &[Span], ours: &Ours) -> bool {
        let pairs = self.in_parts.iter().zip(functions).enumerate();
        let is_changed = |(old, new): (&Span, &Span)| {
            let (old, new) = (self.shadow.get(old.range()), shadow.get(new.range()));
            !are_same(old.unwrap_or_default(), new.unwrap_or_default(), &ours.lines)
        };
        let changed: Vec<usize> = pairs.filter(|(_, pair)| is_changed(*pair)).map(|(at, _)| at).collect();
        let most = TOGETHER.0.max(shadow.len() / TOGETHER.1);
        let mut next = changed.iter().copied().peekable();
        loop {
            let (mut own, mut length) = (Vec::new(), 0);
            while let Some(at) = next.next_if(|_| length < most) {
                own.push(at);
                length += functions[at].len();
            }
            let others = functions.iter().enumerate().filter(|(at, _)| own.binary_search(at).is_err());
            let others: Vec<Span> = others.map(|(_, span)| *span).collect();
            if !host::is_clear_without(output, shadow, &others) {
                return true;
            }
            if next.peek().is_none() {
                return false;
            }
        }
    }
}

impl Ours {
    fn view(&self, headers: &View) -> View {
        let mut view = View::of_output();
        view.defines.extend(headers.defines.iter().cloned());
        view.defines.extend(self.macros.iter().map(|name| (name.clone(), Some("1".to_owned()))));
        view
    }

    /// A file of code beside the source, which is built with the options of the source.
    fn scan(&self, source: &SourceFile, (name, text): &(String, String)) -> Scan {
        let text = source.with(text.as_bytes().to_vec());
        let file = SourceFile { name: name.clone(), language: Language::Cpp, ..text };
        scan::scan(&file, &self.view(&View::default())).0
    }
}

/// Where spans of a text, which come by place, are once edits of it are made; none if one of these is inside of a span.
fn moved(spans: &[Span], edits: &[Edit]) -> Option<Vec<Span>> {
    let mut edits = edits.iter().peekable();
    let mut by = 0_i64;
    let place = |at: u32, by: i64| usize::try_from(i64::from(at) + by).ok();
    let mut found = Vec::with_capacity(spans.len());
    for span in spans {
        while let Some(edit) = edits.next_if(|edit| edit.span.end <= span.start) {
            by += edit.text.len() as i64 - edit.span.len() as i64;
        }
        if edits.peek().is_some_and(|edit| edit.span.start < span.end) {
            return None;
        }
        found.push(Span::new(place(span.start, by)?, place(span.end, by)?));
    }
    Some(found)
}

/// Where spans of a text, which come by place, are once edits of it are made, those inside of them among these; none if an edit
/// is about a border.
fn carried(spans: &[Span], edits: &[Edit]) -> Option<Vec<Span>> {
    let mut edits = edits.iter().peekable();
    let mut by = 0_i64;
    let grows = |edit: &Edit| edit.text.len() as i64 - edit.span.len() as i64;
    let place = |at: u32, by: i64| usize::try_from(i64::from(at) + by).ok();
    let mut found = Vec::with_capacity(spans.len());
    for span in spans {
        while let Some(edit) = edits.next_if(|edit| edit.span.end <= span.start) {
            by += grows(edit);
        }
        let start = place(span.start, by)?;
        while let Some(edit) = edits.next_if(|edit| edit.span.start < span.end) {
            span.contains(edit.span).then_some(())?;
            by += grows(edit);
        }
        found.push(Span::new(start, place(span.end, by)?));
    }
    Some(found)
}

/// Whether the brackets of code in C or C++ stand in pairs.
fn are_balanced(code: &[u8]) -> bool {
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(byte) = code.get(at) {
        let rest = code.get(at..).unwrap_or_default();
        at += match byte {
            b'/' if rest.starts_with(b"//") => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            b'/' if rest.starts_with(b"/*") => {
                memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2)
            }
            b'"' => literal(rest, b'"'),
            // A digit before it: the separator of a number.
            b'\'' if !at.checked_sub(1).is_some_and(|at| code[at].is_ascii_alphanumeric()) => {
                literal(rest, b'\'')
            }
            b'(' | b'[' | b'{' => {
                open.push(*byte);
                1
            }
            b')' | b']' | b'}' => {
                let wanted = open.pop();
                let fits =
                    matches!((wanted, byte), (Some(b'('), b')') | (Some(b'['), b']') | (Some(b'{'), b'}'));
                if !fits {
                    return false;
                }
                1
            }
            _ => 1,
        };
    }
    open.is_empty()
}

/// The length of the literal that `text` begins with.
fn literal(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at).filter(|byte| !matches!(byte, b'\n')) {
        if *byte == quote {
            return at + 1;
        }
        at += if *byte == b'\\' { 2 } else { 1 };
    }
    at.min(text.len())
}

/// Whether two texts have the same words, except those of some lines.
fn are_same(old: &[u8], new: &[u8], but: &[String]) -> bool {
    let is_meant = |line: &&[u8]| {
        let words = line.trim_ascii_start();
        !words.is_empty() && !but.iter().any(|other| words == other.as_bytes())
    };
    let lines = |text| source::lines(text).map(<[u8]>::trim_ascii_end).filter(is_meant);
    let words = |line| <[u8]>::split(line, u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let (mut old, mut new) = (lines(old), lines(new));
    loop {
        match (old.next(), new.next()) {
            (None, None) => return true,
            (one, other) if one == other => {}
            // They may still be the same on other lines.
            (one, other) => {
                let (one, other) = (one.into_iter().chain(old), other.into_iter().chain(new));
                return one.flat_map(words).eq(other.flat_map(words));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_stand_in_pairs() {
        assert!(are_balanced(b"f(a[0], '{') { return \"(\\\"[\"; } // )\n/* ] */ 1'000"));
        assert!(!are_balanced(b"f(a[0)]"));
        assert!(!are_balanced(b"f() {"));
        assert!(!are_balanced(b"}"));
    }
}
