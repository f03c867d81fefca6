//! Fortran's `end` directives: each construct is ended where the original was, or where it must be.
//!
//! Invariant: a directive and its `end` are translated together, or left together.

use std::collections::BTreeSet;

use crate::acc::ast::{ClauseKind, DirectiveKind};
use crate::bind::{Bound, descendants};

use super::alias::{Aliased, Block};
use super::ast::{Body, Directive, Ending, Speech};
use super::lowered::{Lowered, Part, left};

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
            None => behind(one, &mut done[index], &endings, lines),
        }
    }
}

/// Lines at the end of a region and after it.
#[derive(Default)]
struct Lines {
    inside: Vec<String>,
    behind: Vec<String>,
}

/// Takes the lines out of the parts that stand at the region's end; those at its start go after the directive.
fn take_lines(one: &Bound, lowered: &mut Lowered) -> Lines {
    let mut lines = Lines::default();
    for part in std::mem::take(&mut lowered.parts) {
        match part {
            Part::AtEnd(block, more) if Some(block) == one.stmt() => lines.inside.extend(more),
            Part::After(stmt, more) if Some(stmt) == one.stmt() => lines.behind.extend(more),
            Part::AtStart(_, more) => lowered.parts.push(Part::LinesBehind(more)),
            other => lowered.parts.push(other),
        }
    }
    lines
}

/// The `end` directives, innermost first, of what stands for a directive now.
fn endings(parts: &[Part], is_ended: bool) -> Vec<Directive> {
    let own: Vec<&Directive> = parts
        .iter()
        .find_map(|part| match part {
            Part::Directive(directive) => Some(vec![directive]),
            Part::Pair(first, second) => Some(vec![second, first]),
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
        [] => Part::Gone,
        [only] => Part::Directive(only.clone()),
        [inner, outer, ..] => Part::Pair(inner.clone(), outer.clone()),
    };
    let is_gone = own == Part::Gone;
    let mut parts = Vec::new();
    if is_gone && !(lines.inside.is_empty() && lines.behind.is_empty()) {
        parts.push(Part::Statements([lines.inside, lines.behind].concat()));
    } else {
        parts.extend((!lines.inside.is_empty()).then_some(Part::LinesBefore(lines.inside)));
        parts.push(own);
        parts.extend((!lines.behind.is_empty()).then_some(Part::LinesBehind(lines.behind)));
    }
    Lowered { parts, ..Lowered::default() }
}

fn behind(one: &Bound, lowered: &mut Lowered, endings: &[Directive], lines: Lines) {
    let ends = endings.iter().map(|directive| directive.line(Speech::Fortran));
    let all: Vec<String> = lines.inside.into_iter().chain(ends).chain(lines.behind).collect();
    if let Some(stmt) = one.stmt().filter(|_| !all.is_empty()) {
        lowered.parts.push(Part::After(stmt, all));
    }
}

/// Puts the blocks around their directives: they open before them, and end after their ends.
pub(super) fn enclose(aliased: &Aliased, done: &mut [Lowered]) {
    for (index, block) in &aliased.blocks {
        let one = &aliased.bound[*index];
        let has_none = done[*index].parts.iter().all(|part| *part == Part::Gone);
        let is_needed = one.directive.kind.is_compute() || !block.lent.is_empty();
        if block.is_empty() || done[*index].left || has_none && !is_needed {
            continue;
        }
        for inside in std::iter::once(*index).chain(descendants(&aliased.bound, *index)) {
            respell(&mut done[inside].parts, block);
        }
        if block.lender.is_some_and(|lender| !done[lender].left) {
            done[*index].parts.push(Part::Respelled(block.respelled.clone()));
            continue;
        }
        let [there, back] = block.copies();
        let opening: Vec<String> = block.opening().into_iter().chain(there).collect();
        let end = block.opening().map(|_| "end associate".to_owned());
        let condition = one.directive.clauses.iter().find_map(|clause| match &clause.kind {
            ClauseKind::If(condition) => Some(condition.text.as_str()),
            _ => None,
        });
        let closing: Vec<String> = back.into_iter().chain(end).chain(block.release(condition)).collect();
        match block.parted[0] {
            Some(condition) => done[*index].parts.push(Part::Above(condition, opening)),
            None => open(&mut done[*index].parts, opening),
        }
        let declared = block.temporaries.iter().map(|one| Part::Declared(one.place, one.declaration.clone()));
        done[*index].parts.extend(declared);
        done[*index].parts.push(Part::Respelled(block.respelled.clone()));
        match (one.partner, one.stmt()) {
            (Some(partner), _) => match block.parted[1] {
                Some(condition) => done[partner].parts.push(Part::Below(condition, closing)),
                None => shut(&mut done[partner].parts, closing),
            },
            (None, Some(stmt)) => done[*index].parts.push(Part::Closed(stmt, closing)),
            (None, None) => shut(&mut done[*index].parts, closing),
        }
    }
}

/// Puts the aliases into loops that stand for array statements, and those of the program's own names into directives.
fn respell(parts: &mut [Part], block: &Block) {
    for part in parts {
        match part {
            Part::Loops(_, lines, _) => {
                let own = lines.iter_mut().filter(|line| block.has_lent || !line.starts_with('!'));
                own.for_each(|line| *line = block.respell(line));
            }
            Part::Nested(_, lines) => lines.iter_mut().for_each(|line| *line = block.respell(line)),
            Part::Before(_, lines) | Part::After(_, lines) | Part::Closed(_, lines) if block.has_lent => {
                let directives = lines.iter_mut().filter(|line| line.starts_with("!$omp"));
                directives.for_each(|line| *line = block.respell(line));
            }
            Part::Directive(directive) if block.has_lent => in_clauses(directive, block),
            Part::Pair(first, second) if block.has_lent => {
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

/// Lines before all that stands for a directive.
fn open(parts: &mut Vec<Part>, more: Vec<String>) {
    match statements(parts) {
        Some(lines) => drop(lines.splice(0..0, more)),
        None => parts.insert(0, Part::LinesBefore(more)),
    }
}

/// Lines after all that stands for a directive.
fn shut(parts: &mut Vec<Part>, more: Vec<String>) {
    match statements(parts) {
        Some(lines) => lines.extend(more),
        None => parts.push(Part::LinesBehind(more)),
    }
}

/// The statements that take a directive's place; none yet, if it goes.
fn statements(parts: &mut [Part]) -> Option<&mut Vec<String>> {
    if let Some(gone) = parts.iter_mut().find(|part| **part == Part::Gone) {
        *gone = Part::Statements(Vec::new());
    }
    parts.iter_mut().find_map(|part| match part {
        Part::Statements(lines) => Some(lines),
        _ => None,
    })
}
