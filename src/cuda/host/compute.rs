//! A compute construct as the calls of its launchers.
//!
//! Invariant: its statements run once and in their order, by the device or by the host.

use super::launch::Launch;
use super::lowering::Lowering;
use crate::acc::ast::{Clause, ClauseKind, DirectiveKind, ListItem};
use crate::bind::descendants;
use crate::cuda::code::change::Change;
use crate::cuda::code::lines::{braced, fitted};
use crate::cuda::code::text::Edits;
use crate::cuda::kernel::privates;
use crate::cuda::program::{Refused, refused};
use crate::cuda::schedule::clause::LaunchRequest;
use crate::cuda::types::{item, unfolded};
use crate::host::ir::StmtId;
use crate::plan;
use crate::sema::Class;
use crate::source::Span;

impl Lowering<'_> {
    /// `parallel`, `serial`, `kernels`, and these combined with `loop`.
    pub fn compute(&mut self, index: usize) -> Result<Vec<Change>, Refused> {
        let bound = &self.input.bound[index];
        let span = bound.directive.span;
        let stmt = bound.stmt().ok_or_else(|| refused(span, "a construct without a statement"))?;
        self.placements.directive(index).found()?;
        if bound.directive.kind == DirectiveKind::Kernels {
            privates::none_outside(self.input, self.input.stmt_span(stmt))?;
        }
        let is_beside_conditions = self.is_beside_conditions(span, self.input.stmt_span(stmt));
        // An `else` after the code would belong to the `if` that is put before it.
        if is_beside_conditions && bound.is_body {
            return Err(refused(span, "the body of another statement, with conditions of the preprocessor"));
        }
        let request = LaunchRequest::of(self.input, index);
        let kind = bound.directive.kind;
        let in_kernels = kind.is_kernels();
        let calls = match kind {
            DirectiveKind::Kernels => self.kernels(index, stmt)?,
            // Its own loop has an order: only what is in it may run in parallel.
            DirectiveKind::KernelsLoop if bound.directive.clauses.iter().any(is_seq) => {
                self.kernels(index, stmt)?
            }
            _ => {
                let launch = Launch { index, stmt, root: Some(index), is_split: false, in_kernels };
                self.launch(launch, &request)?
            }
        };
        let mut lines = request.waits();
        lines.extend(calls);
        lines = request.around(lines);
        let whole = Span { start: span.start, end: self.input.stmt_span(stmt).end };
        if is_beside_conditions {
            return self.beside_conditions(index, &request, &lines);
        }
        let line = self.input.file().lines.line(span.start);
        let column = (span.start - self.input.file().lines.span(line).start) as usize;
        let Some(condition) = &request.condition else {
            let is_body = self.input.bound[index].unbraced || self.input.bound[index].is_body;
            if is_body && lines.len() > 1 {
                lines = braced(lines);
            }
            let lines = lines.iter().flat_map(|line| fitted(line, column)).collect();
            return Ok(vec![Change::Lines(whole, lines)]);
        };
        // Where the condition is false, the host runs the construct.
        let mut edits = Edits::default();
        for at in descendants(self.input.bound, index) {
            edits.remove_lines(self.input.file(), self.input.bound[at].directive.span);
        }
        let kept = super::apart::kept(self.input, index, stmt)?;
        for (span, before, after) in &kept.loops {
            edits.insert(span.start, format!("{{{before} "));
            edits.insert(span.end, format!(" {after}}}"));
        }
        let original = edits.render(self.input.file(), self.input.stmt_span(stmt), 0)?;
        let mut all = vec![format!("if ({condition}) {{")];
        all.extend(lines.iter().flat_map(|line| fitted(&format!("    {line}"), column)));
        all.push("} else {".to_owned());
        all.extend(kept.before.into_iter().map(|line| format!("    {line}")));
        all.extend(
            original.lines().map(|line| if line.is_empty() { String::new() } else { format!("    {line}") }),
        );
        all.extend(kept.after.into_iter().map(|line| format!("    {line}")));
        all.push("}".to_owned());
        Ok(vec![Change::Lines(whole, all)])
    }

    /// Whether lines of the preprocessor stand between a directive and its code, or conditions begin or end there without the rest of
    /// them.
    fn is_beside_conditions(&self, directive: Span, code: Span) -> bool {
        let whole = Span { start: directive.start, end: code.end };
        let is_cut = || self.input.choices.is_some_and(|choices| choices.is_cut(choices.own(), whole));
        let between = Span { start: directive.end, end: code.start };
        let own = self.input.bound.iter().map(|one| one.directive.span);
        let own: Vec<Span> = own.filter(|own| own.start <= between.end && between.start < own.end).collect();
        let mut at = between.start;
        let text = self.input.file().text(between);
        let mut lines = text.split_inclusive('\n');
        lines.any(|line| {
            let end = at + line.len() as u32;
            let is_own = own.iter().any(|span| span.start <= end && at < span.end);
            at = end;
            line.trim_start().starts_with('#') && !is_own
        }) || is_cut()
    }

    /// A construct beside conditions of the preprocessor: its code stays, for other branches.
    fn beside_conditions(
        &self,
        index: usize,
        request: &LaunchRequest,
        lines: &[String],
    ) -> Result<Vec<Change>, Refused> {
        let span = self.input.bound[index].directive.span;
        if !lines.iter().all(|line| is_call(line)) {
            return Err(refused(span, "more than calls beside conditions of the preprocessor"));
        }
        let calls = lines.iter().map(|line| format!("     {},", line.trim_end_matches(';')));
        let mut head: Vec<String> = calls.collect();
        let (start, end) = match &request.condition {
            Some(condition) => (format!("if (({condition}) ? ("), " 0) : 1)"),
            None => ("if ((".to_owned(), " 0)) /* the device has run it */"),
        };
        if let Some(first) = head.first_mut() {
            *first = format!("{start}{}", first.trim_start());
        }
        if let Some(last) = head.last_mut() {
            last.push_str(end);
        }
        let mut changes = vec![Change::Lines(span, head)];
        for at in descendants(self.input.bound, index) {
            changes.push(Change::Gone(self.input.bound[at].directive.span));
        }
        Ok(changes)
    }

    /// The launches of a `kernels` construct, as the plan divides it.
    fn kernels(&mut self, index: usize, stmt: StmtId) -> Result<Vec<String>, Refused> {
        let request = LaunchRequest::of(self.input, index);
        let span = self.input.bound[index].directive.span;
        let plan = self.input.plan;
        let parts =
            plan.kernels.get(&index).ok_or_else(|| refused(span, "a construct that is not planned"))?;
        let whole = match parts.as_slice() {
            [plan::KernelsPart::Launch { stmt, directive }] => Some((*stmt, *directive)),
            _ if self.splits_private(index) => Some((stmt, None)),
            _ => None,
        };
        if let Some((stmt, root)) = whole {
            let launch = Launch { index, stmt, root, is_split: false, in_kernels: true };
            return self.launch(launch, &request);
        }
        let mut inner = request.clone();
        inner.keep_gangs();
        let mut lines = self.region_lines(index, stmt, true)?;
        lines.extend(self.parts(index, parts, &inner)?);
        lines.push("acc2omp_end();".to_owned());
        Ok(lines)
    }

    /// Whether a `kernels` construct that is split would part the statements of a loop with private variables: one launch
    /// would not find what another has left in them.
    fn splits_private(&self, index: usize) -> bool {
        let input = self.input;
        let is_split = |at: &usize| {
            let stmt = input.bound[*at].stmt();
            *at == index || stmt.is_some_and(|stmt| input.plan.host_runs.contains(&stmt))
        };
        let mut split = std::iter::once(index).chain(descendants(input.bound, index)).filter(is_split);
        split.any(|at| input.clauses(at).any(|kind| matches!(kind, ClauseKind::Private(_))))
    }

    /// The launches of the parts of a `kernels` construct, with the loops and branches that the host runs around them.
    fn parts(
        &mut self,
        index: usize,
        parts: &[plan::KernelsPart],
        request: &LaunchRequest,
    ) -> Result<Vec<String>, Refused> {
        let mut calls = Vec::new();
        for part in parts {
            calls.extend(match part {
                plan::KernelsPart::Launch { stmt, directive } => {
                    self.part(index, (*stmt, *directive), request)?
                }
                plan::KernelsPart::Output(stmt) => match self.by_host(index, *stmt)? {
                    Some(lines) => lines,
                    None => self.part(index, (*stmt, None), request)?,
                },
                plan::KernelsPart::Host { stmt, bodies } => self.around(index, (*stmt, bodies), request)?,
            });
        }
        Ok(calls)
    }

    /// The launch of one part of a `kernels` construct: of the loop of a directive, or of a statement by one thread.
    fn part(
        &mut self,
        index: usize,
        (stmt, root): (StmtId, Option<usize>),
        request: &LaunchRequest,
    ) -> Result<Vec<String>, Refused> {
        self.launch(Launch { index, stmt, root, is_split: true, in_kernels: true }, request)
    }

    /// A loop or branch that the host runs, with the launches of the parts in it.
    fn around(
        &mut self,
        index: usize,
        (stmt, bodies): (StmtId, &[(StmtId, Vec<plan::KernelsPart>)]),
        request: &LaunchRequest,
    ) -> Result<Vec<String>, Refused> {
        let mut lines = Vec::new();
        let mut from = self.input.stmt_span(stmt).start;
        for (body, parts) in bodies {
            let span = self.input.stmt_span(*body);
            let head = self.input.file().text(Span { start: from, end: span.start }).into_owned();
            // Directives between the head and what it governs have been applied.
            let head = head.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
            lines.extend(head.map(str::to_owned));
            lines.extend(braced(self.parts(index, parts, request)?));
            from = span.end;
        }
        Ok(lines)
    }

    /// The lines of a statement that prints and that the host runs, and before it what brings arrays from the device. Scalars
    /// come back with each launch.
    fn by_host(&self, index: usize, part: StmtId) -> Result<Option<Vec<String>>, Refused> {
        let input = self.input;
        let Some(by_host) = input.plan.by_host.get(&part) else { return Ok(None) };
        let text = input.file().text(input.stmt_span(part));
        if text.contains("\\\n") || text.contains('#') {
            return Ok(None);
        }
        let place = input.bound[index].directive.span.start;
        let mut lines = Vec::new();
        for (name, symbol) in &by_host.updates {
            let mut items = input.clauses(index).flat_map(|kind| match kind {
                ClauseKind::Data(_, list) => list.as_slice(),
                _ => &[],
            });
            let is_own = |item: &&ListItem| input.symbols.lookup(item.variable(), place) == Some(*symbol);
            let address = match (items.find(is_own), unfolded::declaration(input, *symbol)) {
                (Some(item), _) => item::address(input, index, item)?,
                (None, Some((seen, decl))) if input.symbols.get(*symbol).class == Class::Array => {
                    item::whole(input, seen, name, &decl)
                }
                _ => continue,
            };
            lines.push(format!("acc_update_self({}, {});", address.from, address.bytes));
        }
        lines.extend(text.lines().map(|line| line.trim().to_owned()));
        Ok(Some(lines))
    }
}

fn is_seq(clause: &Clause) -> bool {
    clause.kind == ClauseKind::Seq
}

/// Whether a line is one call, which an expression can hold.
fn is_call(line: &str) -> bool {
    let name = line.find(|c: char| !c.is_alphanumeric() && c != '_');
    let is_named = name.is_some_and(|at| at > 0 && line[at..].starts_with('('));
    is_named && line.ends_with(");") && line.matches(';').count() == 1
}
