//! What becomes of a directive: changes of the source, each at a place in its tree.
//!
//! Invariant: only says what changes and where; how the lines look is for `layout`.

use crate::host::ir::{FunctionId, StmtId};
use crate::rules::RowId;
use crate::source::Span;

use super::ast::Directive;

/// A change of the source that a directive asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceChange {
    /// The directive's own text becomes this directive.
    Directive(Directive),
    /// Two directives, one after the other.
    Pair(Directive, Directive),
    /// The directive's own text becomes these statements.
    Statements(Vec<String>),
    /// The directive goes.
    Gone,
    /// Lines before the statement.
    Before(StmtId, Vec<String>),
    /// Lines before a directive that is not this one.
    BeforeDirective(Span, Vec<String>),
    /// Lines before the statement, with braces around all of it.
    Braced(StmtId, Vec<String>),
    /// Loops of so many dimensions, perhaps with a directive before them, in place of the statement.
    Loops(StmtId, Vec<String>, usize),
    /// Loop variables that lines of ours use, by the numbers of their dimensions: Fortran declares them.
    Counters(Vec<usize>),
    /// These statements in place of the first one of a `do concurrent`, and what ends them.
    Nested(StmtId, Vec<String>),
    /// Lines after the statement.
    After(StmtId, Vec<String>),
    /// A directive after this offset, on a line of its own.
    DirectiveAfter(u32, Directive),
    /// A directive before the function, and one after it.
    Around(FunctionId, Box<[Directive; 2]>),
    /// The directive's own text becomes this one, in the specification part that it stands in, where such may stand.
    Specified(Directive),
    /// A directive in the specification part of the function.
    InFunction(FunctionId, Directive),
    /// Lines after the opening brace of the block.
    AtStart(StmtId, Vec<String>),
    /// Lines before the closing brace of the block.
    AtEnd(StmtId, Vec<String>),
    /// Statements before the directive, each on a line of its own.
    LinesBefore(Vec<String>),
    /// Statements after the directive, each on a line of its own.
    LinesAfter(Vec<String>),
    /// Lines before a condition of the preprocessor around the directive.
    Above(Span, Vec<String>),
    /// Lines after a condition of the preprocessor around the directive.
    Below(Span, Vec<String>),
    /// Lines after the statement, whatever the conditions are that the directive stands under.
    Closed(StmtId, Vec<String>),
    /// Names in the code, and what stands for them.
    Respelled(Vec<(Span, String)>),
    /// A declaration, in the specification part after this offset.
    Declared(u32, String),
    /// Words directly before the statement, on its line.
    Inline(StmtId, String),
    /// Lines after the head of the loop, which ends at this offset.
    AfterHead(StmtId, u32, Vec<String>),
    /// A `use` statement, at the start of the specification part of the procedure that holds the statement.
    Used(StmtId, String),
    /// A declaration, in the specification part of the procedure that holds the statement.
    DeclaredFor(StmtId, String),
}

impl SourceChange {
    /// Whether a directive of it has a list with an empty item: a mistake of ours.
    pub fn lacks_item(&self) -> bool {
        match self {
            SourceChange::Directive(one)
            | SourceChange::Specified(one)
            | SourceChange::DirectiveAfter(_, one)
            | SourceChange::InFunction(_, one) => one.lacks_item(),
            SourceChange::Pair(one, other) => one.lacks_item() || other.lacks_item(),
            SourceChange::Around(_, both) => both.iter().any(Directive::lacks_item),
            _ => false,
        }
    }
}

/// What becomes of one bound directive.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// The changes; none if the directive is left untranslated.
    pub parts: Vec<SourceChange>,
    /// It is left untranslated.
    pub left: bool,
    /// The rule rows used; of a directive that is left untranslated, those that refused it among them.
    pub rows: Vec<&'static RowId>,
}

impl Lowered {
    /// Lines before all that stands for the directive.
    pub(super) fn open(&mut self, more: Vec<String>) {
        match statements(&mut self.parts) {
            Some(lines) => drop(lines.splice(0..0, more)),
            None => self.parts.insert(0, SourceChange::LinesBefore(more)),
        }
    }

    /// Lines after all that stands for the directive.
    pub(super) fn shut(&mut self, more: Vec<String>) {
        match statements(&mut self.parts) {
            Some(lines) => lines.extend(more),
            None => self.parts.push(SourceChange::LinesAfter(more)),
        }
    }
}

/// The statements that take a directive's place; none yet, if it goes.
fn statements(parts: &mut [SourceChange]) -> Option<&mut Vec<String>> {
    if let Some(gone) = parts.iter_mut().find(|part| **part == SourceChange::Gone) {
        *gone = SourceChange::Statements(Vec::new());
    }
    parts.iter_mut().find_map(|part| match part {
        SourceChange::Statements(lines) => Some(lines),
        _ => None,
    })
}

/// A directive that is left untranslated.
pub(super) fn left() -> Lowered {
    Lowered { left: true, ..Lowered::default() }
}
