//! Fortran's `end` directives: each construct is ended where the original was, or where it must be.
//!
//! Invariant: a directive and its `end` are translated together, or left together.

use crate::acc::ast::DirectiveKind;
use crate::bind::Bound;

use super::ast::{Directive, Ending, Speech};
use super::lower::{Lowered, Part, left};

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

/// Lines at the end of a region and behind it.
#[derive(Default)]
struct Lines {
    inside: Vec<String>,
    behind: Vec<String>,
}

/// Takes the lines out of the parts that stand at the region's end; those at its start go behind the directive.
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
