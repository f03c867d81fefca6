//! Portable output: what the edits change stands beside what was there, and the preprocessor chooses.
//!
//! Invariant: with the macro of OpenACC defined the text is the original's; with that of OpenMP alone it is the translation's.

use std::path::Path;

use crate::scan::{self, Fork};
use crate::source::{self, SourceFile, Span};

use super::{Edit, EditSet, Rewrite};

/// The macros that choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guards {
    /// It is defined where the original is built.
    pub openacc: String,
    /// It is defined where the translation is built.
    pub openmp: String,
}

impl Default for Guards {
    fn default() -> Guards {
        Guards { openacc: "_OPENACC".to_owned(), openmp: "_OPENMP".to_owned() }
    }
}

impl Guards {
    /// What is true where the translation is built and the original is not.
    pub(super) fn ours(&self) -> String {
        format!("#if defined({}) && !defined({})", self.openmp, self.openacc)
    }

    /// What is true in all other builds.
    pub(super) fn others(&self) -> String {
        format!("#if defined({}) || !defined({})", self.openacc, self.openmp)
    }

    /// What is true where the original is built for OpenACC.
    pub(super) fn original(&self) -> String {
        format!("#ifdef {}", self.openacc)
    }

    /// Whether a condition is what this room writes around both texts.
    fn are_around(&self, fork: &Fork) -> bool {
        let heads: Vec<String> = fork
            .branches
            .iter()
            .map(|branch| {
                let (word, text) = branch.condition();
                format!("#{word} {text}").trim_end().to_owned()
            })
            .collect();
        let other = format!("#elif defined({})", self.openmp);
        match heads.as_slice() {
            [first] => *first == self.ours() || *first == self.others(),
            [first, second] if second == "#else" => *first == self.ours(),
            [first, second] => *first == self.original() && *second == other,
            _ => false,
        }
    }

    /// What a condition on OpenACC becomes that holds for both.
    pub(super) fn both(&self) -> String {
        format!("(defined(_OPENACC) || defined({}))", self.openmp)
    }

    /// Lines that are put in, with conditions on OpenMP that ask for the user's name.
    fn in_conditions(&self, text: &[u8]) -> Vec<u8> {
        let is_condition = |line: &[u8]| line.trim_ascii_start().starts_with(b"#if");
        let named = |line: &[u8]| match is_condition(line) {
            true => String::from_utf8_lossy(line).replace("_OPENMP", &self.openmp).into_bytes(),
            false => line.to_vec(),
        };
        lines(text).flat_map(named).collect()
    }

    /// Whether compilers that read the directives define them.
    pub(super) fn are_of_compilers(&self) -> bool {
        *self == Guards::default()
    }
}

/// Edits that keep the original beside the translation.
#[derive(Debug, Default)]
pub struct Guarded {
    /// The edits.
    pub edits: EditSet,
    /// The lines between which a preprocessor must choose, in a Fortran file that compilers do not preprocess by themselves.
    pub unprocessed: Vec<Span>,
}

/// The edits that put the original and the edited lines side by side, of edits in their order.
pub fn side_by_side(file: &SourceFile, edits: &[Edit], guards: &Guards) -> Guarded {
    let around = Around::new(scan::forks(file));
    let mut groups: Vec<Group> = Vec::new();
    for edit in edits.iter().filter(|edit| !around.of(edit.span).any(|fork| guards.are_around(fork))) {
        let group = Group::of(file, edit);
        match groups.last_mut().filter(|last| last.meets(&group)) {
            Some(last) => last.unite(group),
            None => groups.push(group),
        }
    }
    let mut guarded = Guarded::default();
    let is_unprocessed = is_unprocessed(file);
    for (owner, group) in groups.into_iter().enumerate() {
        let edit = group.guarded(file, guards);
        if is_there(file, &around, &edit) {
            continue;
        }
        if is_unprocessed && edit.text.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"#")) {
            guarded.unprocessed.push(group.lines);
        }
        let rewrite = Rewrite { owner: owner as u32, edits: vec![edit] };
        // Groups hold whole lines, each its own.
        let _ = guarded.edits.add_bytes(rewrite);
    }
    guarded
}

/// The conditions of a file, and which stands in which.
struct Around {
    forks: Vec<Fork>,
    /// For each, the next one around it.
    outer: Vec<Option<usize>>,
}

impl Around {
    /// Of conditions by their place.
    fn new(forks: Vec<Fork>) -> Around {
        let mut open: Vec<usize> = Vec::new();
        let mut outer = Vec::with_capacity(forks.len());
        for (at, fork) in forks.iter().enumerate() {
            while open.last().is_some_and(|last| forks[*last].whole.end <= fork.whole.start) {
                open.pop();
            }
            outer.push(open.last().copied());
            open.push(at);
        }
        Around { forks, outer }
    }

    /// The conditions around lines, from within.
    fn of(&self, lines: Span) -> impl Iterator<Item = &Fork> {
        let last = self.forks.partition_point(|fork| fork.whole.start < lines.start).checked_sub(1);
        let all = std::iter::successors(last, |at| self.outer[*at]).map(|at| &self.forks[at]);
        all.filter(move |fork| lines.end < fork.whole.end)
    }
}

/// Whether the text that an edit makes stands at its place already.
fn is_there(file: &SourceFile, around: &Around, edit: &Edit) -> bool {
    let (before, after) = file.bytes.split_at(edit.span.start as usize);
    let is_beside = edit.span.is_empty() && (before.ends_with(&edit.text) || after.starts_with(&edit.text));
    let is_same = |fork: &Fork| file.slice(fork.whole).trim_ascii() == edit.text.trim_ascii();
    is_beside || around.of(edit.span).any(is_same)
}

/// Whether a file is Fortran that compilers do not preprocess by themselves, going by its name, and that holds no line for a
/// preprocessor.
fn is_unprocessed(file: &SourceFile) -> bool {
    let extension = Path::new(&file.name).extension().and_then(|one| one.to_str()).unwrap_or_default();
    let by_name = extension.starts_with('F') || extension == "fpp";
    let has_lines = || file.bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"#"));
    file.language.is_fortran() && !by_name && !has_lines()
}

/// Edits of the same lines.
struct Group {
    /// The lines, line ends included; empty where lines are only put in.
    lines: Span,
    edits: Vec<Edit>,
}

impl Group {
    fn of(file: &SourceFile, edit: &Edit) -> Group {
        let edit = at_line_start(file, edit);
        let edits = vec![edit.clone()];
        let first = file.lines.span(file.lines.line(edit.span.start));
        let is_between = edit.span.is_empty() && first.start == edit.span.start;
        if is_between && edit.text.ends_with(b"\n") {
            return Group { lines: edit.span, edits };
        }
        let last = file.lines.span(file.lines.line(edit.span.end.max(edit.span.start + 1) - 1));
        let mut lines = Span { start: first.start, end: last.end.max(first.end) };
        // A line that goes on on the next one is one with it.
        let has_comments = !file.language.is_fortran() || file.slice(lines).starts_with(b"#");
        let goes_on =
            |lines: Span| continues(file.slice(lines)) || has_comments && in_comment(file.slice(lines));
        while lines.end < file.bytes.len() as u32 && goes_on(lines) {
            lines.end = file.lines.span(file.lines.line(lines.end)).end;
        }
        while lines.start > 0 {
            let before = file.lines.span(file.lines.line(lines.start - 1));
            if !continues(file.slice(before)) {
                break;
            }
            lines.start = before.start;
        }
        // So are the lines of a comment that ends here.
        while lines.start > 0 && !file.language.is_fortran() && ends_comment(file.slice(lines)) {
            lines.start = file.lines.span(file.lines.line(lines.start - 1)).start;
        }
        Group { lines, edits }
    }

    fn meets(&self, next: &Group) -> bool {
        let both_insert = self.lines.is_empty() && next.lines.is_empty() && self.lines == next.lines;
        both_insert || next.lines.start < self.lines.end
    }

    fn unite(&mut self, next: Group) {
        self.lines.end = self.lines.end.max(next.lines.end);
        self.edits.extend(next.edits);
    }

    fn guarded(&self, file: &SourceFile, guards: &Guards) -> Edit {
        let old = file.slice(self.lines);
        let end = file.line_end(self.lines.start).as_bytes();
        let new = self.edited(file);
        let words = String::from_utf8_lossy(old);
        let line = |text: &str| [text.as_bytes(), end].concat();
        let (ours, others, original) = (guards.ours(), guards.others(), guards.original());
        // What is a comment to other compilers needs no macro, unless the user has names for them.
        if file.language.is_fortran()
            && guards.are_of_compilers()
            && let Some(text) = beside(&terminated(old, end), &terminated(&new, end))
        {
            return Edit { span: self.lines, text };
        }
        let text = if old.is_empty() {
            [line(&ours), terminated(&guards.in_conditions(&new), end), line("#endif")].concat()
        } else if is_condition(&words) {
            condition(&words, guards).into_bytes()
        } else if file.language.is_fortran() && !guards.are_of_compilers() && lines(old).all(is_comment) {
            let (old, new) = (terminated(old, end), terminated(&new, end));
            let other = format!("#elif defined({})", guards.openmp);
            [line(&original), old, line(&other), new, line("#endif")].concat()
        } else if new.trim_ascii().is_empty() {
            let head = if is_code(file, old) { &others } else { &original };
            [line(head), terminated(old, end), line("#endif")].concat()
        } else if file.language.is_fortran() || is_code(file, old) && !is_macro_of_directives(&words, &new) {
            // What it declares is there for OpenMP only; the code as it was needs nothing.
            let (old, new) = (terminated(old, end), terminated(&new, end));
            [line(&ours), new, line("#else"), old, line("#endif")].concat()
        } else {
            // A macro must be there in a build without either; a directive need not.
            let elif = format!("#elif defined({})", guards.openmp);
            let other = if is_directive(&words) { elif.as_str() } else { "#else" };
            let (old, new) = (terminated(old, end), terminated(&new, end));
            [line(&original), old, line(other), new, line("#endif")].concat()
        };
        Edit { span: self.lines, text }
    }

    /// The lines with the edits made.
    fn edited(&self, file: &SourceFile) -> Vec<u8> {
        let mut out = Vec::new();
        let mut at = self.lines.start;
        for edit in &self.edits {
            out.extend_from_slice(file.slice(Span { start: at, end: edit.span.start }));
            out.extend_from_slice(&edit.text);
            at = edit.span.end;
        }
        out.extend_from_slice(file.slice(Span { start: at, end: self.lines.end.max(at) }));
        out
    }
}

/// Whether lines are more than directives: they are there in a build without either name, too.
fn is_code(file: &SourceFile, old: &[u8]) -> bool {
    match file.language.is_fortran() {
        true => !lines(old).all(is_comment),
        false => !is_directive(&String::from_utf8_lossy(old)) || names_library(old),
    }
}

/// Whether a macro of C stands for directives in both texts: it means nothing in a build without either name.
fn is_macro_of_directives(old: &str, new: &[u8]) -> bool {
    let calls = |word: &[u8]| new.windows(word.len()).any(|at| at == word);
    keyword(old) == "define" && !calls(b"acc2omp_") && !names_library(old.as_bytes())
}

/// Fortran's old and new lines where no preprocessor must choose: a directive is a comment to a compiler that does not know
/// it, and code after OpenMP's `!$` is one to others. `None` if old code would go, or if new lines have conditions.
fn beside(old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    let has_conditions = new.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"#"));
    if has_conditions || !lines(old).all(is_comment) {
        return None;
    }
    let mut text = old.to_vec();
    for line in lines(new) {
        let code = line.trim_ascii_start();
        if is_said(old, code) {
            continue;
        }
        if is_comment(line) {
            text.extend_from_slice(line);
        } else {
            // The sentinel takes the place of blanks, so that the code keeps its columns.
            let lead = line.len() - code.len();
            let blanks = line.get(3..lead).unwrap_or_default();
            text.extend([b"!$ ", blanks, code].concat());
        }
    }
    Some(text)
}

/// Whether lines of Fortran have a comment already: of a directive that goes, the comment alone stays, and here the directive stays
/// with it.
fn is_said(old: &[u8], code: &[u8]) -> bool {
    let comment = code.trim_ascii_end();
    comment.starts_with(b"!") && !comment.starts_with(b"!$") && memchr::memmem::find(old, comment).is_some()
}

/// Whether a text names something of OpenACC's library, or the preprocessor's word for it.
fn names_library(text: &[u8]) -> bool {
    text.windows(4).any(|word| word.eq_ignore_ascii_case(b"acc_"))
        || text.windows(7).any(|word| word.eq_ignore_ascii_case(b"openacc"))
}

/// The lines of a text, with their ends.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// Whether a line of Fortran holds no code.
fn is_comment(line: &[u8]) -> bool {
    let code = line.trim_ascii_start();
    let in_column_one = line.first().is_some_and(|byte| matches!(byte, b'c' | b'C' | b'*'));
    code.is_empty() || code.starts_with(b"!") || in_column_one && line.get(1) == Some(&b'$')
}

/// An edit that puts lines in after a line puts them in before the next one.
fn at_line_start(file: &SourceFile, edit: &Edit) -> Edit {
    let line = file.lines.span(file.lines.line(edit.span.start));
    let end: &[u8] = if file.slice(line).ends_with(b"\r\n") { b"\r\n" } else { b"\n" };
    let is_after = edit.span.is_empty() && file.slice(Span { start: edit.span.start, end: line.end }) == end;
    match edit.text.strip_prefix(end) {
        Some(lines) if is_after => {
            Edit { span: Span { start: line.end, end: line.end }, text: [lines, end].concat() }
        }
        _ => edit.clone(),
    }
}

fn continues(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\")
}

/// Whether a text of C ends within a comment.
fn in_comment(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| b"/\"'".contains(byte)) {
        let (mark, inside) = rest[at..].split_at(2.min(rest.len() - at));
        rest = match mark {
            b"/*" => match inside.windows(2).position(|pair| pair == b"*/") {
                Some(end) => &inside[end + 2..],
                None => return true,
            },
            b"//" => match inside.iter().position(|byte| *byte == b'\n') {
                Some(end) => &inside[end..],
                None => return true,
            },
            [b'/', ..] => &rest[at + 1..],
            _ => &rest[at + source::literal_length(&rest[at..], rest[at])..],
        };
    }
    false
}

/// Whether a text begins within a comment.
fn ends_comment(text: &[u8]) -> bool {
    let first = text.windows(2).position(|pair| pair == b"*/" || pair == b"/*" || pair == b"//");
    first.is_some_and(|at| text[at..].starts_with(b"*/") && !text[..at].contains(&b'"'))
}

fn terminated(text: &[u8], end: &[u8]) -> Vec<u8> {
    let missing: &[u8] = if text.is_empty() || text.ends_with(b"\n") { b"" } else { end };
    [text, missing].concat()
}

/// The word of a preprocessor line.
fn keyword(line: &str) -> &str {
    let rest = line.trim_start().strip_prefix('#').unwrap_or_default().trim_start();
    rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default()
}

/// Whether all of the text is preprocessor lines.
fn is_directive(text: &str) -> bool {
    matches!(keyword(text), "pragma" | "include")
}

fn is_condition(text: &str) -> bool {
    matches!(keyword(text), "if" | "ifdef" | "ifndef" | "elif")
}

/// A condition on `_OPENACC` that holds for both.
fn condition(line: &str, guards: &Guards) -> String {
    let both = guards.both();
    let line = line.replacen("ifdef _OPENACC", &format!("if {both}"), 1);
    let mut line = line.replacen("ifndef _OPENACC", &format!("if !{both}"), 1);
    for written in ["defined(_OPENACC)", "defined (_OPENACC)", "defined _OPENACC"] {
        line = line.replace(&both, "\0").replace(written, "\0").replace('\0', &both);
    }
    // As a number it is not 0.
    let comment = ["/*", "//"].iter().filter_map(|mark| line.find(mark)).min();
    let value = line[..comment.unwrap_or(line.len())].trim_end();
    match value.strip_suffix("_OPENACC") {
        Some(before)
            if matches!(keyword(&line), "if" | "elif")
                && before.trim_end_matches([' ', '\t', '!']).ends_with(keyword(&line)) =>
        {
            format!("{before}{both}{}", &line[value.len()..])
        }
        _ => line,
    }
}
