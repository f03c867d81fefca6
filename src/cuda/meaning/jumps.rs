//! Jumps over declarations: C++ lets none pass an initialiser, so that the variable is declared first and assigned then.
//!
//! Invariant: a variable that a jump passes has the value that C gives it: none, or the one that the assignment gives.

use std::collections::HashSet;

use crate::host::ir::{Decl, DeclKind, Derived, StmtId, StmtKind};
use crate::sema::CType;
use crate::source::Span;

use super::Place;
use crate::cuda::code::text::{Edits, words};
use crate::cuda::program::{Refused, refused};

/// Parts declaration and assignment where a label comes later in the block.
pub fn edit(place: &Place, edits: &mut Edits) -> Result<(), Refused> {
    let unit = place.types.unit;
    let targets: Vec<String> = unit
        .stmts_in(place.span)
        .filter_map(|stmt| match &stmt.kind {
            StmtKind::Goto(label) => Some(label.clone()),
            _ => None,
        })
        .collect();
    let first = unit.stmts_in(place.span).filter(|stmt| matches!(stmt.kind, StmtKind::Goto(_)));
    let first = first.map(|stmt| stmt.span.start).min().unwrap_or(u32::MAX);
    let switches: HashSet<StmtId> = unit
        .stmts_in(place.span)
        .filter_map(|stmt| if let StmtKind::Switch { body, .. } = stmt.kind { Some(body) } else { None })
        .collect();
    if targets.is_empty() && switches.is_empty() {
        return Ok(());
    }
    for id in unit.stmt_ids_in(place.span) {
        let StmtKind::Block(list) = &unit.stmt(id).kind else { continue };
        let is_switch = switches.contains(&id);
        let last = list.iter().rposition(|stmt| has_label(place, *stmt, is_switch, &targets));
        for stmt in list.iter().take(last.unwrap_or_default()) {
            let is_passed = is_switch || unit.stmt(*stmt).span.start > first;
            if let StmtKind::Decl(decls) = &unit.stmt(*stmt).kind
                && is_passed
            {
                let decls: Vec<&Decl> = decls.iter().map(|id| unit.decl(*id)).collect();
                part(place, unit.stmt(*stmt).span, &decls, edits)?;
            }
        }
    }
    Ok(())
}

/// Whether a jump may lead into a statement: to a label that is a target, or to a `case` of the switch around.
fn has_label(place: &Place, stmt: StmtId, is_switch: bool, targets: &[String]) -> bool {
    let unit = place.types.unit;
    let span = unit.stmt(stmt).span;
    unit.stmts_in(span).any(|one| match &one.kind {
        StmtKind::Labeled { label: Some(label), .. } => targets.contains(label),
        StmtKind::Labeled { label: None, .. } => is_switch && one.span.start == span.start,
        _ => false,
    })
}

fn part(place: &Place, span: Span, decls: &[&Decl], edits: &mut Edits) -> Result<(), Refused> {
    let unit = place.types.unit;
    let Some(first) = decls.first() else { return Ok(()) };
    let is_plain = |decl: &&Decl| decl.kind == DeclKind::Variable && !decl.is_static;
    if !decls.iter().all(is_plain) || decls.iter().all(|decl| decl.init.is_none()) {
        return Ok(());
    }
    let is_simple = |decl: &Decl| {
        let is_scalar = decl.derived.iter().all(|part| *part == Derived::Pointer);
        is_scalar && matches!(place.types.of_decl(unit, decl), CType::Number(_) | CType::Pointer(_))
    };
    if let Some(other) = decls.iter().find(|decl| decl.init.is_some() && !is_simple(decl)) {
        return Err(refused(other.name_span, "a jump over the initialiser of an array or a struct"));
    }
    // The words of the type, without `const` on the variables.
    let file = place.types.file;
    let written = file.text(Span { start: span.start, end: first.name_span.start });
    let head = edits.render(file, Span { start: span.start, end: first.name_span.start }, 0)?;
    let base = head.trim_end_matches(['*', ' ', '\t', '\n']).to_owned();
    let is_const = words(&base).contains(&"const") && first.derived.is_empty();
    let kept: Vec<&str> = base.split_whitespace().filter(|word| !(is_const && *word == "const")).collect();
    if decls.len() > 1 && written.contains('(') || written.contains('{') {
        return Err(refused(first.name_span, "a jump over the initialiser of a variable of such a type"));
    }
    let base = kept.join(" ");
    let mut text = String::new();
    for decl in decls {
        text += &format!("{base} {}{}", "*".repeat(stars(decl)), decl.name);
        if let Some(Derived::Array(_)) = decl.derived.first() {
            let after = file.text(Span { start: decl.name_span.end, end: span.end });
            let end = after.find([',', ';', '=']).unwrap_or_default();
            let sizes = Span { start: decl.name_span.end, end: decl.name_span.end + end as u32 };
            text += edits.render(file, sizes, 0)?.trim_end();
        }
        text += "; ";
        if let Some(init) = decl.init.map(|init| unit.expr(init).span) {
            // What the source has around it in parentheses does not change it.
            text += &format!("{} = {}; ", decl.name, edits.render(file, init, 0)?.trim());
        }
    }
    edits.replace_all(span, text.trim_end().to_owned());
    Ok(())
}

fn stars(decl: &Decl) -> usize {
    decl.derived.iter().filter(|part| **part == Derived::Pointer).count()
}
