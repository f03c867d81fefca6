//! Lays out a new directive the way the user laid out the old one.
//!
//! Invariant: knows bytes and columns, not what a directive means.

mod c;
mod changes;
mod conditional;
mod fortran;
mod lines;
mod parts;
mod specification;

use crate::edit::Edit;
use crate::scan::DirectiveText;
use crate::source::{SourceFile, Span};

pub use changes::{CodeLines, edits_of_change, first_include, stack};
pub use conditional::conditioned;
pub use lines::before_line_end;
pub use parts::{Ground, after_label, edits_of, joined};
pub use specification::{innermost, place_in_specification, specified};

/// The edit that puts the words of a new directive in place of an old one.
pub fn relaid(file: &SourceFile, old: &DirectiveText, words: &[String]) -> Edit {
    if file.language.is_fortran() { fortran::relaid(file, old, words) } else { c::relaid(file, old, words) }
}

/// The edit that takes a directive, or a statement, away: with its lines, if nothing else stands there.
pub fn removed(file: &SourceFile, span: Span) -> Edit {
    if file.language.is_fortran() { fortran::removed(file, span) } else { c::removed(file, span) }
}

/// The edit that has every compiler read what stands after a sentinel of Fortran's conditional lines.
pub fn without_sentinel(file: &SourceFile, sentinel: Span) -> Edit {
    fortran::without_sentinel(file, sentinel)
}

/// Whether nothing else stands on the lines of `span`. In Fortran, a comment after it may.
pub fn stands_alone(file: &SourceFile, span: Span) -> bool {
    if file.language.is_fortran() { fortran::stands_alone(file, span) } else { c::stands_alone(file, span) }
}

/// Lines of C as one line: a pragma among other code is an operator.
pub fn on_one_line(lines: &[String]) -> String {
    c::on_one_line(lines)
}

/// The edit that puts directives or statements, each on a line of its own, in place of code that stands alone.
pub fn replaced(file: &SourceFile, span: Span, lines: &[String]) -> Edit {
    if file.language.is_fortran() {
        fortran::replaced(file, span, lines)
    } else {
        c::replaced(file, span, lines)
    }
}

/// The edit that puts a directive or a statement on a line of its own before the code at `offset`, indented like it.
/// `None` if other code stands before it on its line.
pub fn inserted(file: &SourceFile, offset: u32, text: &str) -> Option<Edit> {
    if file.language.is_fortran() {
        fortran::inserted(file, offset, text)
    } else {
        c::inserted(file, offset, text)
    }
}

/// The edit that puts a line before the line of the code at `offset`, indented like the line of `like`. `None` if other
/// code stands before it on its line.
pub fn above_code(file: &SourceFile, offset: u32, like: u32, text: &str) -> Option<Edit> {
    if file.language.is_fortran() {
        Some(fortran::above_code(file, offset, like, text))
    } else {
        c::above_code(file, offset, like, text)
    }
}

/// The edits that put directives before and after a function of C or C++, on lines of their own.
pub fn around(file: &SourceFile, function: Span, directives: [&str; 2]) -> [Edit; 2] {
    c::around(file, function, directives)
}

/// The edits that make an `if` of Fortran on one line with a statement a construct, with lines before the statement, or after it.
pub fn in_condition(file: &SourceFile, stmt: Span, lines: &[String], before: bool) -> [Edit; 2] {
    fortran::in_condition(file, stmt, lines, before)
}

/// Whether the statement of Fortran at `offset` has a label that is not a part of it: others jump to it, or a loop ends with it.
pub fn is_labelled(file: &SourceFile, offset: u32) -> bool {
    fortran::is_labelled(file, offset)
}

/// The edits that keep columns of fixed form which are not read where they are, for edits that come by place.
pub fn unread_columns<'e>(file: &SourceFile, edits: impl Iterator<Item = &'e Edit>) -> Vec<Edit> {
    fortran::unread_columns(file, edits)
}

/// The edit that puts lines between a statement of Fortran and the label before it, which gets a `continue` of its own.
pub fn below_label(file: &SourceFile, stmt: u32, lines: &[String]) -> Edit {
    fortran::below_label(file, stmt, lines)
}

/// The edits that put lines before a statement, and braces around all of it, or `then` and `end if`.
pub fn braced(file: &SourceFile, stmt: Span, lines: &[String]) -> [Edit; 2] {
    if file.language.is_fortran() { fortran::braced(file, stmt, lines) } else { c::braced(file, stmt, lines) }
}

/// What puts lines before a directive, in front of its own text. `None` if other code stands on its lines, or for
/// `_Pragma`, which has none.
pub fn above(file: &SourceFile, old: &DirectiveText, lines: &[String]) -> Option<String> {
    if file.language.is_fortran() {
        Some(fortran::above(file, old, lines))
    } else {
        c::above(file, old, lines)
    }
}

/// The edit that puts statements on lines of their own after a directive, indented like it. `None` if other code stands
/// on its lines.
pub fn lines_after_directive(file: &SourceFile, directive: Span, statements: &[String]) -> Option<Edit> {
    if file.language.is_fortran() {
        fortran::lines_after(file, directive.end, directive, statements)
    } else {
        c::lines_after_directive(file, directive, statements)
    }
}

/// The edit that puts lines after the code that ends at `offset`, indented like `like`. `None` if other code stands after
/// it on its line.
pub fn lines_after(file: &SourceFile, offset: u32, like: Span, lines: &[String]) -> Option<Edit> {
    if file.language.is_fortran() {
        fortran::lines_after(file, offset, like, lines)
    } else {
        c::lines_after(file, offset, like, lines)
    }
}

/// Directives and statements of Fortran as lines with their ends, indented like the code at `offset`.
pub fn lines_of_fortran(file: &SourceFile, offset: u32, lines: &[String]) -> String {
    fortran::lines_near(file, offset, lines)
}

/// The edit that puts a line before a statement of Fortran, of which other statements may stand on its line.
pub fn before_statement(file: &SourceFile, stmt: Span, text: &str) -> Option<Edit> {
    fortran::before_statement(file, stmt, text)
}

/// The edit that puts a line after a statement of Fortran, after which other statements may stand on its line.
pub fn after_statement(file: &SourceFile, stmt: Span, text: &str) -> Option<Edit> {
    fortran::after_statement(file, stmt, text)
}

/// The edits that put other names in place of names in Fortran code, whose lines are continued where they grow too long.
/// `None` if there is no room.
pub fn respelled(file: &SourceFile, names: &[(Span, String)]) -> Option<Vec<Edit>> {
    fortran::respelled(file, names)
}

/// The edit that puts a directive on a line of its own after the line of `offset`.
pub fn after_line(file: &SourceFile, offset: u32, text: &str) -> Edit {
    if file.language.is_fortran() {
        fortran::after_line(file, offset, text)
    } else {
        c::after_line(file, offset, text)
    }
}
