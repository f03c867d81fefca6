//! What stands around the body of a region: at its begin, at its end, and where jumps leave it.
//!
//! Invariant: what its begin brings goes at each of its ends.

use super::{Around, Frame, Lowering, lines_after, lines_before, part_at};
use crate::acc::ast::DirectiveKind;
use crate::host::ir::{StmtId, StmtKind};
use crate::omp::ast::{BaseLanguage, Body, Directive};
use crate::omp::gathered::Gathered;
use crate::omp::lowered::SourceChange;
use crate::omp::{flang, jumps, queue, sections, shadow};
use crate::sema::SymbolKind;
use crate::{diag, plan};

impl Lowering<'_> {
    /// A directive with all that stands around it, in order.
    pub(super) fn framed(
        &mut self,
        index: usize,
        frame: Frame,
        gathered: &mut Gathered,
    ) -> Option<Vec<SourceChange>> {
        let Frame { mut before, apart, mut parts, around, first, last, hidden } = frame;
        before.extend(around.before);
        let stmt = self.bound[index].stmt();
        let mut after = around.after;
        let [opened, hiding, closed] = shadow::blocks(gathered, self.unit);
        before.extend(opened);
        parts.extend(shadow::opened(hiding));
        after.extend(closed);
        if let Some(opening) = hidden {
            before.push(opening);
            match stmt {
                Some(_) => after.insert(0, "}".to_owned()),
                None => parts.push(SourceChange::LinesAfter(vec!["}".to_owned()])),
            }
        }
        if !first.is_empty() {
            if self.plan.notes[index].moves {
                self.report_moved(index);
                return None;
            }
            stmt?;
        }
        let mut last_inside = std::mem::take(&mut gathered.at_end);
        last_inside.extend(last);
        parts.extend(self.lines_inside(stmt, first, last_inside, &mut after));
        Some(lines_before(before).chain(apart).chain(parts).chain(lines_after(stmt, after)).collect())
    }

    /// Lines at the start and at the end of a statement, which gets braces if it is not a block: those stand before the lines
    /// `after` it.
    pub(super) fn lines_inside(
        &self,
        stmt: Option<StmtId>,
        first: Vec<String>,
        last: Vec<String>,
        after: &mut Vec<String>,
    ) -> Vec<SourceChange> {
        let is_used = |lines: &Vec<String>| !lines.is_empty();
        let Some(stmt) = stmt.filter(|_| is_used(&first) || is_used(&last)) else { return Vec::new() };
        if self.unit.is_fortran() || matches!(self.unit.stmt(stmt).kind, StmtKind::Block(_)) {
            let at_start = Some(first).filter(is_used).map(|lines| SourceChange::AtStart(stmt, lines));
            let at_end = Some(last).filter(is_used).map(|lines| SourceChange::AtEnd(stmt, lines));
            return at_start.into_iter().chain(at_end).collect();
        }
        after.splice(..0, last.into_iter().chain(["}".to_owned()]));
        vec![SourceChange::LinesAfter(std::iter::once("{".to_owned()).chain(first).collect())]
    }

    /// A region of data that jumps leave: it ends before each of them, and at its own end.
    pub(super) fn left_by_jumps(
        &mut self,
        index: usize,
        directive: &Directive,
        gathered: &mut Gathered,
    ) -> Option<Vec<SourceChange>> {
        let note = &self.plan.notes[index];
        let (around, inside) = (&gathered.around, &gathered.inside);
        let more = [&gathered.statements, &around.0, &around.1, &inside.0, &inside.1];
        let is_plain = more.iter().all(|lines| lines.is_empty()) && !self.aliased.blocks.contains_key(&index);
        let halves = jumps::halves(directive, self.target.speech).filter(|_| is_plain && note.is_steady);
        let Some(halves) = halves else { return self.report_jump(index) };
        let stmt = self.bound[index].stmt()?;
        let (mut before, mut last) =
            (std::mem::take(&mut gathered.before), std::mem::take(&mut gathered.at_end));
        self.wait_around(index, &mut before, &mut last);
        let has_data = directive.clauses.iter().any(|clause| matches!(clause.body, Body::List(_)));
        let mut enter = halves.enter.into_iter().filter(|_| has_data);
        let own = enter.next();
        before.extend(enter.map(|one| one.line(self.target.speech)));
        let exit = halves.exit.iter().filter(|_| has_data).rev();
        last.extend(exit.map(|one| one.line(self.target.speech)));
        if !self.may_stand(index, index, &Around { before: before.clone(), after: last.clone() }) {
            return None;
        }
        let mut parts: Vec<SourceChange> = lines_before(before).collect();
        parts.push(own.map_or(SourceChange::Gone, SourceChange::Directive));
        if last.is_empty() {
            return Some(parts);
        }
        let jumps = &self.plan.notes[index].jumps;
        parts.extend(jumps.iter().map(|exit| part_at(*exit, &last)));
        parts.push(match self.unit.stmt(stmt).kind {
            StmtKind::Block(_) => SourceChange::AtEnd(stmt, last),
            _ => SourceChange::After(stmt, last),
        });
        Some(parts)
    }

    pub(super) fn report_jump(&mut self, index: usize) -> Option<Vec<SourceChange>> {
        let word = plan::jump_out(self.unit, self.bound[index].stmt()?)?;
        self.diags.push(diag::leaves_region(self.bound[index].directive.span, word));
        None
    }

    /// Has the host wait for all queues before a directive, and at the end of its region, where the plan says so.
    pub(super) fn wait_around(&mut self, index: usize, before: &mut Vec<String>, at_end: &mut Vec<String>) {
        let directive = &self.bound[index].directive;
        let reported = || diag::synchronous(directive.span, crate::acc::name(directive.kind));
        if self.plan.notes[index].waits_at_end && at_end.is_empty() {
            at_end.push(queue::wait_all(self.target.speech));
            self.diags.push(reported());
        }
        if self.plan.notes[index].waits {
            before.insert(0, queue::wait_all(self.target.speech));
            self.diags.push(reported());
        }
    }

    /// What must stand before an `enter data` or `exit data` since it counts by itself. Objects come at once, for the members
    /// that other directives of their queue bring.
    pub(super) fn counted_first(&self, index: usize, directive: &mut Directive) -> Vec<Directive> {
        let (kind, at) = (self.bound[index].directive.kind, self.bound[index].directive.span.start);
        if !matches!(kind, DirectiveKind::EnterData | DirectiveKind::ExitData) || self.finalizes(index) {
            return Vec::new();
        }
        let is_member = |name: &str| {
            let known = self.symbols.lookup(name, at).map(|symbol| self.symbols.get(symbol).kind);
            known == Some(SymbolKind::Member)
        };
        let Some(mut first) = sections::counted_first(directive, &is_member) else { return Vec::new() };
        if kind == DirectiveKind::EnterData {
            queue::hold(&mut first);
        }
        let more =
            if self.target.speech == BaseLanguage::C { sections::apart(&mut first) } else { Vec::new() };
        more.into_iter().chain([first]).collect()
    }

    /// The lines with which the host waits for the queues of a directive about data where flang cannot put it there.
    pub(super) fn task_before(&mut self, index: usize, directive: &mut Directive) -> Vec<String> {
        let is_queued = directive.clauses.iter().any(|clause| clause.name == "nowait");
        let task = self.is_flang().then(|| flang::task_before(directive)).flatten();
        if is_queued && task.is_some() {
            self.diags.push(diag::synchronous(self.bound[index].directive.span, "async"));
        }
        task.into_iter().flatten().map(|one| one.line(self.target.speech)).collect()
    }
}
