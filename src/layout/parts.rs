//! What a directive becomes in OpenMP, as edits of the file.
//!
//! Invariant: a directive has all of its edits or none; the same conditions hold for its lines elsewhere.

use crate::edit::Edit;
use crate::host::ir::{StmtId, StmtKind, Unit};
use crate::omp::{BaseLanguage, Directive, SourceChange};
use crate::scan::{Conditions, DirectiveText, Form, Guard, Scan};
use crate::source::{SourceFile, Span};

use super::specification::place_in_specification;

/// The file that is edited.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// The file.
    pub file: &'a SourceFile,
    /// Its code.
    pub unit: &'a Unit,
    /// Its conditions of the preprocessor.
    pub conditions: &'a Conditions,
    /// Those of them that ask for OpenACC.
    pub guards: &'a [Guard],
}

/// The edits for one directive, which stands at `at`; `None` if the source leaves no room for them. One that is implied has
/// no text, and the directive that implies it stands at `owner`.
pub fn edits_of(
    ground: Ground,
    at: Span,
    text: Option<&DirectiveText>,
    owner: Option<u32>,
    parts: &[SourceChange],
) -> Option<Vec<Edit>> {
    let Some(old) = text else { return edits_of_implied(ground, at, owner, parts) };
    let speech = BaseLanguage::of(ground.file.language);
    let mut laying = Laying { ground, old, speech, above: String::new(), edits: Vec::new() };
    for part in parts {
        laying.part(part)?;
    }
    Some(joined(laying.edits))
}

impl Ground<'_> {
    /// Lines for `place`, under the conditions that the directive at `start` stands under and the place does not.
    fn under_conditions_of(self, start: u32, place: u32, lines: &[String]) -> Vec<String> {
        super::conditional::under(self.conditions, [start, place], lines, |head| {
            let text = self.file.text(head);
            // Of a directive that is translated, the condition asks for OpenMP then.
            if self.asks_for_openacc(head) { text.replace("_OPENACC", "_OPENMP") } else { text.into_owned() }
        })
    }

    /// Directives for `place` that the one at `start` implies: without OpenMP they are comments, whatever conditions ask for it.
    fn implied(self, start: Option<u32>, place: u32, lines: Vec<String>) -> Vec<String> {
        let Some(start) = start else { return lines };
        let around = self.conditions.between(start, place);
        let mut heads = around.iter().flat_map(|one| one.heads(start));
        match heads.all(|head| self.asks_for_openacc(*head)) || lines.is_empty() {
            true => lines,
            false => self.under_conditions_of(start, place, &lines),
        }
    }

    /// Whether a line asks for OpenACC, and for nothing else.
    fn asks_for_openacc(self, head: Span) -> bool {
        self.guards.iter().any(|guard| guard.is_plain && head.contains(guard.span))
    }
}

/// A directive on its way.
struct Laying<'a> {
    ground: Ground<'a>,
    old: &'a DirectiveText,
    speech: BaseLanguage,
    /// What stands before the directive belongs to its own edit, so that it meets no other edit at the line's start.
    above: String,
    edits: Vec<Edit>,
}

impl Laying<'_> {
    fn part(&mut self, part: &SourceChange) -> Option<()> {
        let (file, unit, speech) = (self.ground.file, self.ground.unit, self.speech);
        let old = self.old.span;
        match part {
            SourceChange::Directive(directive) => self.relaid(directive),
            SourceChange::Pair(first, second) => {
                self.above += &super::above(file, self.old, &[first.line(speech)])?;
                self.relaid(second);
            }
            SourceChange::Statements(statements) => self.statements(statements),
            SourceChange::Gone => self.edits.push(super::removed(file, old)),
            SourceChange::Before(stmt, lines) => self.before(*stmt, lines)?,
            SourceChange::Braced(stmt, lines) if !self.is_parted(*stmt) => {
                self.edits.extend(super::braced(file, unit.stmt(*stmt).span, lines));
            }
            // Changes of the code itself, and braces around it, cannot stand under the directive's conditions.
            SourceChange::Braced(..) => return None,
            SourceChange::Inline(stmt, _)
            | SourceChange::AfterHead(stmt, ..)
            | SourceChange::Loops(stmt, ..)
            | SourceChange::Nested(stmt, _)
                if self.is_conditional(*stmt) =>
            {
                return None;
            }
            SourceChange::Inline(stmt, words) => self.inline(*stmt, words),
            SourceChange::AfterHead(stmt, end, lines) => self.after_head(*stmt, *end, lines)?,
            SourceChange::Loops(stmt, lines, _) => self.loops(*stmt, lines)?,
            SourceChange::Nested(stmt, heads) => self.edits.extend(nested_edits(file, unit, *stmt, heads)?),
            SourceChange::After(stmt, lines) => self.after(*stmt, &self.same(*stmt, lines))?,
            SourceChange::Closed(stmt, lines) => self.after(*stmt, lines)?,
            SourceChange::Above(place, lines) => {
                for line in lines {
                    self.edits.push(super::above_code(file, place.start, old.start, line)?);
                }
            }
            SourceChange::Below(place, lines) => {
                self.edits.push(super::lines_after(file, place.end, old, lines)?)
            }
            SourceChange::AtStart(block, lines) => {
                let span = self.block(*block)?;
                let lines = self.same(*block, lines);
                self.edits.push(super::lines_after(file, span.start + 1, span, &lines)?);
            }
            SourceChange::DirectiveAfter(offset, directive) => self.directive_after(*offset, directive),
            SourceChange::Around(function, around) => {
                let [before, after] = around.as_ref();
                let lines = [&*before.line(speech), &*after.line(speech)];
                self.edits.extend(super::around(file, unit.function(*function).span, lines));
            }
            SourceChange::Specified(directive) => match place_in_specification(unit, old.start) {
                // Where it stands, only a compiler for OpenACC takes it.
                Some(place) if old.start < place => self.edits.push(super::removed(file, old)),
                _ => self.relaid(directive),
            },
            // These are lines of specification parts.
            SourceChange::InFunction(..)
            | SourceChange::Declared(..)
            | SourceChange::Used(..)
            | SourceChange::DeclaredFor(..)
            | SourceChange::Counters(_) => {}
            SourceChange::BeforeDirective(span, lines) => {
                let lines = self.ground.under_conditions_of(old.start, span.start, lines);
                self.inserted(span.start, &lines)?;
            }
            SourceChange::AtEnd(block, lines) => self.at_end(*block, lines)?,
            SourceChange::LinesBefore(lines) => self.above += &super::above(file, self.old, lines)?,
            SourceChange::LinesAfter(lines) if self.old.form == Form::Operator => {
                let text = format!(" {}", super::on_one_line(lines)).into_bytes();
                self.edits.push(Edit { span: Span { start: old.end, end: old.end }, text });
            }
            SourceChange::LinesAfter(lines) => {
                self.edits.push(super::lines_after_directive(file, old, lines)?)
            }
            SourceChange::Respelled(names) => self.respelled(names)?,
        }
        Some(())
    }

    /// Lines in the body of a statement, after its head, and deeper than that.
    fn after_head(&mut self, stmt: StmtId, end: u32, lines: &[String]) -> Option<()> {
        let deeper: Vec<String> = lines.iter().map(|line| format!("  {line}")).collect();
        let span = self.ground.unit.stmt(stmt).span;
        self.edits.push(super::lines_after(self.ground.file, end, span, &deeper)?);
        Some(())
    }

    /// Lines in place of a statement that stands alone on its own.
    fn loops(&mut self, stmt: StmtId, lines: &[String]) -> Option<()> {
        let (file, span) = (self.ground.file, self.ground.unit.stmt(stmt).span);
        let edit = super::stands_alone(file, span).then(|| super::replaced(file, span, lines));
        self.edits.push(edit?);
        Some(())
    }

    /// A directive after a line, under the conditions of the old one.
    fn directive_after(&mut self, offset: u32, directive: &Directive) {
        let lines = [directive.line(self.speech)];
        let lines = self.ground.under_conditions_of(self.old.span.start, offset, &lines);
        self.edits.push(super::after_line(self.ground.file, offset, &lines.join("\n")));
    }

    /// The new directive in place of the old one, with what stands before it.
    fn relaid(&mut self, directive: &Directive) {
        let edit = super::relaid(self.ground.file, self.old, &directive.words(self.speech));
        let start = self.old.span.start;
        let edit = match std::mem::take(&mut self.above) {
            above if above.is_empty() => edit,
            above => {
                let kept = self.ground.file.slice(Span { start, end: edit.span.start });
                let text = [above.as_bytes(), kept, &edit.text].concat();
                Edit { span: Span { start, end: edit.span.end }, text }
            }
        };
        self.edits.push(edit);
    }

    fn statements(&mut self, statements: &[String]) {
        let (file, span) = (self.ground.file, self.old.span);
        self.edits.push(match super::stands_alone(file, span) {
            true => super::replaced(file, span, statements),
            false => Edit { span, text: super::on_one_line(statements).into_bytes() },
        });
    }

    /// Lines under the conditions of the preprocessor that hold for the directive and not for a statement.
    fn same(&self, stmt: StmtId, lines: &[String]) -> Vec<String> {
        self.ground.under_conditions_of(self.old.span.start, self.ground.unit.stmt(stmt).span.start, lines)
    }

    /// Whether the directive stands under conditions that a statement does not stand under.
    fn is_parted(&self, stmt: StmtId) -> bool {
        let Ground { unit, conditions, .. } = self.ground;
        !conditions.between(self.old.span.start, unit.stmt(stmt).span.start).is_empty()
    }

    /// The same for conditions that ask for something else than OpenACC.
    fn is_conditional(&self, stmt: StmtId) -> bool {
        let Ground { unit, conditions, .. } = self.ground;
        let start = self.old.span.start;
        let around = conditions.between(start, unit.stmt(stmt).span.start);
        let mut heads = around.iter().flat_map(|one| one.heads(start));
        !heads.all(|head| self.ground.asks_for_openacc(*head))
    }

    fn inserted(&mut self, at: u32, lines: &[String]) -> Option<()> {
        for line in lines {
            self.edits.push(super::inserted(self.ground.file, at, line)?);
        }
        Some(())
    }

    fn before(&mut self, stmt: StmtId, lines: &[String]) -> Option<()> {
        let Ground { file, unit, .. } = self.ground;
        let span = unit.stmt(stmt).span;
        if is_jump_on_a_shared_line(file, unit, stmt) {
            if self.is_parted(stmt) {
                return None;
            }
            self.edits.extend(super::braced(file, span, lines));
            return Some(());
        }
        if is_labelled_jump(file, unit, stmt) {
            if self.is_parted(stmt) {
                return None;
            }
            self.edits.push(super::below_label(file, span.start, lines));
            return Some(());
        }
        self.inserted(span.start, &self.same(stmt, lines))
    }

    fn inline(&mut self, stmt: StmtId, words: &str) {
        let at = self.ground.unit.stmt(stmt).span.start;
        let before = self.ground.file.slice(Span { start: at.saturating_sub(1), end: at });
        let is_apart = before.first().is_some_and(u8::is_ascii_whitespace);
        let text = format!("{}{words} ", if is_apart { "" } else { " " }).into_bytes();
        self.edits.push(Edit { span: Span { start: at, end: at }, text });
    }

    fn after(&mut self, stmt: StmtId, lines: &[String]) -> Option<()> {
        let end = self.ground.unit.stmt(stmt).span.end;
        self.edits.push(super::lines_after(self.ground.file, end, self.old.span, lines)?);
        Some(())
    }

    /// The bytes of a statement, if it is a block.
    fn block(&self, block: StmtId) -> Option<Span> {
        let stmt = self.ground.unit.stmt(block);
        matches!(stmt.kind, StmtKind::Block(_)).then_some(stmt.span)
    }

    fn at_end(&mut self, block: StmtId, lines: &[String]) -> Option<()> {
        let Ground { file, unit, .. } = self.ground;
        let at = match self.speech {
            BaseLanguage::Fortran => end_of_body(file, unit, block)?,
            BaseLanguage::C => self.block(block)?.end - 1,
        };
        // The body may begin under the directive's conditions and end without.
        let lines = self.ground.under_conditions_of(self.old.span.start, at, lines);
        self.inserted(at, &lines)
    }

    fn respelled(&mut self, names: &[(Span, String)]) -> Option<()> {
        self.edits.extend(respelled(self.ground.file, names)?);
        Some(())
    }
}

/// The edits that put other words in place of some.
fn respelled(file: &SourceFile, names: &[(Span, String)]) -> Option<Vec<Edit>> {
    if file.language.is_fortran() {
        return super::respelled(file, names);
    }
    let edit = |(span, text): &(Span, String)| Edit { span: *span, text: text.clone().into_bytes() };
    Some(names.iter().map(edit).collect())
}

/// The edits for a directive that the source does not have: it stands before the loop at `at`.
fn edits_of_implied(
    ground: Ground,
    at: Span,
    owner: Option<u32>,
    parts: &[SourceChange],
) -> Option<Vec<Edit>> {
    let Ground { file, unit, .. } = ground;
    let speech = BaseLanguage::of(file.language);
    let (mut before, mut edits) = (Vec::new(), Vec::new());
    let mut nested = None;
    for part in parts {
        match part {
            SourceChange::Directive(directive) => before.push(directive.line(speech)),
            SourceChange::Pair(first, second) => before.extend([first.line(speech), second.line(speech)]),
            SourceChange::LinesBefore(lines) | SourceChange::LinesAfter(lines) => {
                before.extend(lines.iter().cloned())
            }
            SourceChange::Gone
            | SourceChange::InFunction(..)
            | SourceChange::Declared(..)
            | SourceChange::Used(..)
            | SourceChange::DeclaredFor(..)
            | SourceChange::Counters(_) => {}
            SourceChange::Before(stmt, lines) if unit.stmt(*stmt).span.start == at.start => {
                before.extend(lines.iter().cloned());
            }
            SourceChange::After(stmt, lines) | SourceChange::Closed(stmt, lines) => {
                let span = unit.stmt(*stmt).span;
                let lines = ground.implied(owner, span.start, lines.clone());
                edits.push(super::lines_after(file, span.end, span, &lines)?);
            }
            SourceChange::Respelled(names) => edits.extend(respelled(file, names)?),
            SourceChange::Nested(stmt, heads) => nested = Some((*stmt, heads)),
            _ => return None,
        }
    }
    let mut before = ground.implied(owner, at.start, before);
    match nested {
        Some((stmt, heads)) => {
            before.extend(heads.iter().cloned());
            edits.splice(0..0, nested_edits(file, unit, stmt, &before)?);
        }
        None => {
            let lines = before.iter().map(|line| super::inserted(file, at.start, line));
            edits.splice(0..0, lines.collect::<Option<Vec<_>>>()?);
        }
    }
    Some(joined(edits))
}

/// The edits that put `heads` in place of the first line of a `do concurrent`.
fn nested_edits(file: &SourceFile, unit: &Unit, stmt: StmtId, heads: &[String]) -> Option<Vec<Edit>> {
    let one = unit.concurrent.iter().find(|one| one.stmt == stmt)?;
    let nested = one.nested.as_ref().filter(|_| super::stands_alone(file, one.header))?;
    let mut edits = vec![super::replaced(file, one.header, heads)];
    if one.mask.is_some() {
        edits.push(super::inserted(file, nested.end, "end if")?);
    }
    let ends = vec!["end do".to_owned(); one.indices.len() - 1];
    if !ends.is_empty() {
        edits.push(super::lines_after(file, unit.stmt(stmt).span.end, one.header, &ends)?);
    }
    Some(edits)
}

/// Whether a statement is a jump of C before which other code stands on its line.
fn is_jump_on_a_shared_line(file: &SourceFile, unit: &Unit, stmt: StmtId) -> bool {
    let stmt = unit.stmt(stmt);
    !unit.is_fortran()
        && matches!(stmt.kind, StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Goto(_))
        && super::inserted(file, stmt.span.start, "").is_none()
}

/// Whether a statement is a jump of Fortran whose label others jump to: its span does not hold such a label.
fn is_labelled_jump(file: &SourceFile, unit: &Unit, stmt: StmtId) -> bool {
    let stmt = unit.stmt(stmt);
    let is_jump =
        matches!(stmt.kind, StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Goto(_));
    unit.is_fortran() && is_jump && super::is_labelled(file, stmt.span.start)
}

/// The offset of the statement that ends a procedure's body: `end …` or `contains`.
fn end_of_body(file: &SourceFile, unit: &Unit, body: StmtId) -> Option<u32> {
    let function = unit.functions.iter().find(|function| function.body == body)?;
    let text = file.text(function.span);
    let last = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(last..)?;
    let is_end = line.trim_start().get(..3).is_some_and(|word| word.eq_ignore_ascii_case("end"));
    let lead = (line.len() - line.trim_start().len()) as u32;
    Some(if is_end { function.span.start + last as u32 + lead } else { function.span.end })
}

/// Insertions at one place become one, in their order.
pub fn joined(edits: Vec<Edit>) -> Vec<Edit> {
    let mut out: Vec<Edit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match out.iter_mut().find(|other| edit.span.is_empty() && other.span == edit.span) {
            Some(other) => other.text.extend(edit.text),
            None => out.push(edit),
        }
    }
    out
}

/// The edits of a directive after a label of C: OpenMP's directives that stand alone are not statements that it could mark.
/// `span` is the directive's, which stands alone.
pub fn after_label(file: &SourceFile, scan: &Scan, span: Span, mut edits: Vec<Edit>) -> Vec<Edit> {
    let before = scan.shadow.get(..span.start as usize).unwrap_or_default().trim_ascii_end();
    if file.language.is_fortran() || !before.ends_with(b":") || !super::stands_alone(file, span) {
        return edits;
    }
    let becomes_pragma = |edit: &&mut Edit| {
        span.contains(edit.span) && !edit.text.is_empty() && !edit.text.starts_with(b"acc2omp_")
    };
    if let Some(first) = edits.iter_mut().find(becomes_pragma) {
        let column = file.lines.span(file.lines.line(span.start)).start;
        let indent = file.slice(Span { start: column, end: span.start });
        let kept = file.slice(Span { start: span.start, end: first.span.start });
        first.text = [&b";\n"[..], indent, kept, &first.text].concat();
        first.span.start = span.start;
    }
    edits
}
