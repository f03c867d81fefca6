//! `INCLUDE` lines of the language, recognised without a walk over all lines.
//!
//! Invariant: a line that needs its context is reported as unclear; the result never contradicts the walk over all lines.

use crate::source::{Form, Language, SourceFile, Span};

use super::super::Include as Found;
use super::code;
use super::line::{self, Kind};

/// What a line with the word `include` is.
pub enum Line {
    /// It includes a file.
    Includes(Found),
    /// It does not.
    Other,
    /// It may be the continuation of another line.
    Unclear,
}

/// What the line of that number is, which is none of the preprocessor's.
pub fn line(file: &SourceFile, number: usize) -> Line {
    let form = if let Language::Fortran(form) = file.language { form } else { Form::Free };
    let line = read(file, number, form);
    // The mark in column 6 says that it continues another, whatever that one is.
    if !is_code(&line) || line.mark.is_some() {
        return Line::Other;
    }
    let words = code::read(&file.bytes, line.text, None, form).words;
    let Some(path) = words.and_then(|words| code::included(file.slice(words))) else { return Line::Other };
    let is_statement = |line: &line::Line| is_code(line) && !file.slice(line.text).starts_with(b"#");
    let before = (0..number).rev().map(|number| read(file, number, form)).find(is_statement);
    if before.is_some_and(|before| form == Form::Free && file.slice(before.whole).contains(&b'&')) {
        return Line::Unclear;
    }
    Line::Includes(Found { span: line.whole, path, quoted: true, active: true })
}

fn is_code(line: &line::Line) -> bool {
    matches!(line.kind, Kind::Code | Kind::Conditional)
}

fn read(file: &SourceFile, number: usize, form: Form) -> line::Line {
    let start = file.lines.span(number).start as usize;
    line::read(file, Span::new(start, line::ends(&file.bytes, start).0), form)
}
