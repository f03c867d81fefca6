//! The self-check: what a translation has made can be read again.
//!
//! Invariant: a text that a compiler would refuse where it took the original is never given out.

use crate::budget::Threads;
use crate::host;
use crate::scan::{self, Scan, View};
use crate::source::{self, Language, SourceFile, Span};

use super::{Edit, thinned};

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
    /// What reads functions again.
    pub threads: &'a Threads,
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
                    let after = host::errors(output, &scan, None, &[]);
                    after > before && after > self.errors_as_output(ours)
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
        let before = self.errors();
        let replaced = edits.iter().map(|edit| host::Replaced { old: edit.span, length: edit.text.len() });
        let replaced: Vec<host::Replaced> = replaced.collect();
        let after = host::errors(output, scan, self.past, &replaced);
        after > before && after > self.errors_as_output(ours)
    }

    /// How many places the grammar cannot read of the source.
    pub fn errors(&self) -> usize {
        self.errors.unwrap_or_else(|| {
            let (mut scan, _) = scan::scan(self.file, &self.headers);
            scan::blank(&mut scan.shadow, self.apart);
            host::errors(self.file, &scan, self.past, &[])
        })
    }

    /// How many places the grammar cannot read of the source where it is read as its translation is: with the macros that are
    /// defined there, and lines of `!@acc` as the comments that they become.
    fn errors_as_output(&self, ours: &Ours) -> usize {
        let (mut scan, _) = scan::scan(self.file, &ours.view(&self.headers));
        for sentinel in std::mem::take(&mut scan.conditionals) {
            let line = self.file.lines.span(self.file.lines.line(sentinel.start));
            scan::blank(&mut scan.shadow, &[line]);
        }
        scan::blank(&mut scan.shadow, self.apart);
        host::errors(self.file, &scan, None, &[])
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
        let thin = self.file.language.is_fortran().then(|| {
            let mut text = shadow.to_vec();
            for at in &changed {
                let old = self.shadow.get(self.in_parts[*at].range()).unwrap_or_default();
                thinned::thin(&mut text, functions[*at], old);
            }
            text
        });
        let together = together(&changed, functions, TOGETHER.0.max(shadow.len() / TOGETHER.1));
        let reads = |at: usize| {
            let others =
                functions.iter().enumerate().filter(|(one, _)| together[at].binary_search(one).is_err());
            let others: Vec<Span> = others.map(|(_, span)| *span).collect();
            let is_clear = |text: &[u8]| host::is_clear_without(output, text, &others);
            (thin.as_deref().is_some_and(is_clear) || is_clear(shadow)).then_some(())
        };
        self.threads.each(together.len(), reads).is_none()
    }
}

/// The numbers of functions in groups, each of which has `most` bytes or a little more; one without functions if there are none.
fn together(numbers: &[usize], functions: &[Span], most: usize) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = vec![Vec::new()];
    let mut length = 0;
    for at in numbers {
        if length >= most {
            groups.push(Vec::new());
            length = 0;
        }
        length += functions[*at].len();
        groups.last_mut().into_iter().for_each(|group| group.push(*at));
    }
    groups
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
            b'"' => source::literal_length(rest, b'"'),
            // A digit before it: the separator of a number.
            b'\'' if !at.checked_sub(1).is_some_and(|at| code[at].is_ascii_alphanumeric()) => {
                source::literal_length(rest, b'\'')
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

/// Whether two texts have the same words, except those of some lines, and except calls that are statements of their own between
/// others.
fn are_same(old: &[u8], new: &[u8], but: &[String]) -> bool {
    let is_meant = |line: &&[u8]| {
        let words = line.trim_ascii_start();
        !words.is_empty() && !but.iter().any(|other| words == other.as_bytes())
    };
    let lines = |text| source::lines(text).map(<[u8]>::trim_ascii_end).filter(is_meant);
    let words = |line| <[u8]>::split(line, u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let (mut old, mut new) = (lines(old).peekable(), lines(new).peekable());
    let mut last: &[u8] = b"";
    loop {
        match (old.peek().copied(), new.next()) {
            (None, None) => return true,
            (one, Some(other)) if one == Some(other) => {
                old.next();
                last = other;
            }
            (_, Some(other))
                if is_call(other) && new.peek().is_some_and(|next| is_between_statements(last, next)) => {}
            // They may still be the same on other lines.
            (_, other) => return old.flat_map(words).eq(other.into_iter().chain(new).flat_map(words)),
        }
    }
}

/// Whether a line of C is a call of a function of ours, with names and numbers as arguments.
fn is_call(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let is_word = |word: &[u8]| word.iter().all(is_inner) && !word.is_empty();
    let call = line.strip_suffix(b");").and_then(|line| line.strip_prefix(b"acc2omp_"));
    let open = call.and_then(|call| Some((call, memchr::memchr(b'(', call)?)));
    open.is_some_and(|(call, open)| {
        let (name, arguments) = (&call[..open], &call[open + 1..]);
        is_word(name) && arguments.split(|byte| *byte == b',').all(|one| is_word(one.trim_ascii()))
    })
}

/// Whether a statement may stand between two lines of C: one has ended, and what comes next does not belong to it.
fn is_between_statements(last: &[u8], next: &[u8]) -> bool {
    let is_end = last.last().is_some_and(|byte| matches!(byte, b';' | b'{' | b'}'));
    let next = next.trim_ascii_start();
    is_end && ![&b"else"[..], b"while"].iter().any(|word| next.starts_with(word))
}

#[cfg(test)]
mod tests;
