//! Fortran's `end` directives: each construct is ended where the original was, or where it must be.
//!
//! Invariant: a directive and its `end` are translated together, or left together.

use std::collections::BTreeSet;

use crate::acc::ast::{Clause, ClauseKind, DirectiveKind};
use crate::bind::{Bound, descendants};

use super::alias::{Aliased, Block};
use super::ast::{BaseLanguage, Body, Directive, Ending};
use super::launch;
use super::lowered::{Lowered, SourceChange, left};

/// Ends the constructs of a Fortran file.
pub(super) fn close(bound: &[Bound], done: &mut [Lowered]) {
    for (index, one) in bound.iter().enumerate() {
        if matches!(one.directive.kind, DirectiveKind::End(_)) {
            if one.partner.is_none() {
                done[index] = left();
            }
            continue;
        }
        if done[index].left {
            if let Some(partner) = one.partner {
                done[partner] = left();
            }
            continue;
        }
        let lines = take_lines(one, &mut done[index]);
        let endings = endings(&done[index].parts, one.partner.is_some());
        match one.partner {
            Some(partner) => done[partner] = at_partner(&endings, lines),
            None => after(one, &mut done[index], &endings, lines),
        }
    }
}

/// Lines at the end of a region and after it.
#[derive(Default)]
struct Lines {
    inside: Vec<String>,
    after: Vec<String>,
}

/// Takes the lines out of the parts that stand at the region's end; those at its start go after the directive.
fn take_lines(one: &Bound, lowered: &mut Lowered) -> Lines {
    let mut lines = Lines::default();
    for part in std::mem::take(&mut lowered.parts) {
        match part {
            SourceChange::AtEnd(block, more) if Some(block) == one.stmt() => lines.inside.extend(more),
            SourceChange::After(stmt, more) if Some(stmt) == one.stmt() => lines.after.extend(more),
            SourceChange::AtStart(_, more) => lowered.parts.push(SourceChange::LinesAfter(more)),
            other => lowered.parts.push(other),
        }
    }
    lines
}

/// The `end` directives, innermost first, of what stands for a directive now.
fn endings(parts: &[SourceChange], is_ended: bool) -> Vec<Directive> {
    let own: Vec<&Directive> = parts
        .iter()
        .find_map(|part| match part {
            SourceChange::Directive(directive) => Some(vec![directive]),
            SourceChange::Pair(first, second) => Some(vec![second, first]),
            _ => None,
        })
        .unwrap_or_default();
    let is_alone = own.len() == 1;
    let is_wanted = |directive: &&&Directive| match directive.ending() {
        Ending::Needed => true,
        Ending::Optional => is_ended && is_alone,
        Ending::None => false,
    };
    own.iter().filter(is_wanted).map(|directive| directive.end()).collect()
}

fn at_partner(endings: &[Directive], lines: Lines) -> Lowered {
    let own = match endings {
        [] => SourceChange::Gone,
        [only] => SourceChange::Directive(only.clone()),
        [inner, outer, ..] => SourceChange::Pair(inner.clone(), outer.clone()),
    };
    let is_gone = own == SourceChange::Gone;
    let mut parts = Vec::new();
    if is_gone && !(lines.inside.is_empty() && lines.after.is_empty()) {
        parts.push(SourceChange::Statements([lines.inside, lines.after].concat()));
    } else {
        parts.extend((!lines.inside.is_empty()).then_some(SourceChange::LinesBefore(lines.inside)));
        parts.push(own);
        parts.extend((!lines.after.is_empty()).then_some(SourceChange::LinesAfter(lines.after)));
    }
    Lowered { parts, ..Lowered::default() }
}

fn after(one: &Bound, lowered: &mut Lowered, endings: &[Directive], lines: Lines) {
    let ends = endings.iter().map(|directive| directive.line(BaseLanguage::Fortran));
    let all: Vec<String> = lines.inside.into_iter().chain(ends).chain(lines.after).collect();
    if let Some(stmt) = one.stmt().filter(|_| !all.is_empty()) {
        lowered.parts.push(SourceChange::After(stmt, all));
    }
}

/// Puts the blocks around their directives: they open before them, and end after their ends.
pub(super) fn enclose(aliased: &Aliased, done: &mut [Lowered]) {
    for (index, block) in &aliased.blocks {
        let one = &aliased.bound[*index];
        let has_none = done[*index].parts.iter().all(|part| *part == SourceChange::Gone);
        let is_needed = one.directive.kind.is_compute() || !block.lent.is_empty();
        if block.is_empty() || done[*index].left || has_none && !is_needed {
            continue;
        }
        for inside in std::iter::once(*index).chain(descendants(&aliased.bound, *index)) {
            respell(&mut done[inside].parts, block);
        }
        if block.lender.is_some_and(|lender| !done[lender].left) {
            done[*index].parts.push(SourceChange::Respelled(block.respelled.clone()));
            continue;
        }
        let [there, back] = block.copies();
        let opening: Vec<String> = block.opening().into_iter().chain(there).collect();
        let end = block.opening().map(|_| "end associate".to_owned());
        let conditions: Vec<String> = one.directive.clauses.iter().filter_map(on_device).collect();
        let condition = launch::condition(&conditions, BaseLanguage::Fortran);
        let closing: Vec<String> =
            back.into_iter().chain(end).chain(block.release(condition.as_deref())).collect();
        match block.parted[0] {
            Some(condition) => done[*index].parts.push(SourceChange::Above(condition, opening)),
            None => done[*index].open(opening),
        }
        let declared =
            block.temporaries.iter().map(|one| SourceChange::Declared(one.place, one.declaration.clone()));
        done[*index].parts.extend(declared);
        done[*index].parts.push(SourceChange::Respelled(block.respelled.clone()));
        match (one.partner, one.stmt()) {
            (Some(partner), _) => match block.parted[1] {
                Some(condition) => done[partner].parts.push(SourceChange::Below(condition, closing)),
                None => done[partner].shut(closing),
            },
            (None, Some(stmt)) => done[*index].parts.push(SourceChange::Closed(stmt, closing)),
            (None, None) => done[*index].shut(closing),
        }
    }
}

/// The condition of a clause that decides whether the construct uses the device.
fn on_device(clause: &Clause) -> Option<String> {
    match &clause.kind {
        ClauseKind::If(condition) => Some(condition.text.clone()),
        ClauseKind::SelfRun(None) => Some(".false.".to_owned()),
        ClauseKind::SelfRun(Some(condition)) => Some(format!(".not. ({})", condition.text)),
        _ => None,
    }
}

/// Puts the aliases into loops that stand for array statements, and those of the program's own names into directives.
fn respell(parts: &mut [SourceChange], block: &Block) {
    for part in parts {
        match part {
            SourceChange::Loops(_, lines, _) => {
                let own = lines.iter_mut().filter(|line| block.has_lent || !line.starts_with('!'));
                own.for_each(|line| *line = block.respell(line));
            }
            SourceChange::Nested(_, lines) => lines.iter_mut().for_each(|line| *line = block.respell(line)),
            SourceChange::Before(_, lines)
            | SourceChange::After(_, lines)
            | SourceChange::Closed(_, lines)
                if block.has_lent =>
            {
                let directives = lines.iter_mut().filter(|line| line.starts_with("!$omp"));
                directives.for_each(|line| *line = block.respell(line));
            }
            SourceChange::Directive(directive) if block.has_lent => in_clauses(directive, block),
            SourceChange::Pair(first, second) if block.has_lent => {
                in_clauses(first, block);
                in_clauses(second, block);
            }
            _ => {}
        }
    }
}

/// Puts the aliases into the clauses of a directive, each once.
pub(super) fn in_clauses(directive: &mut Directive, block: &Block) {
    for clause in &mut directive.clauses {
        match &mut clause.body {
            Body::List(items) => {
                let mut met = BTreeSet::new();
                items.iter_mut().for_each(|item| *item = block.respell(item));
                items.retain(|item| met.insert(item.clone()));
            }
            Body::Text(text) => *text = block.respell(text),
            Body::None => {}
        }
    }
}
