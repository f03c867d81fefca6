//! C++ variables that a construct names with their namespace or class: clauses that the source does not have name them so, too.
//!
//! Invariant: a name that the construct also says without its namespace or class stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::ListItem;
use crate::bind::Bound;
use crate::diag::{self, Diag};
use crate::host::ir::{ExprKind, Unit};
use crate::plan;
use crate::sema::{SymbolKind, Symbols};
use crate::source::Span;

use super::ast::{Body, Directive};
use super::lowered::{Lowered, SourceChange};

/// Puts the names into the clauses of what the directives became. Says which static data members stand in clauses that
/// OpenMP does not let them stand in.
pub(super) fn spell(unit: &Unit, symbols: &Symbols, bound: &[Bound], done: &mut [Lowered]) -> Vec<Diag> {
    let mut diags = Vec::new();
    if !unit.is_cpp() {
        return diags;
    }
    for (one, lowered) in bound.iter().zip(done) {
        let Some(stmt) = one.stmt().filter(|_| !lowered.left) else { continue };
        diags.extend(shared_members(symbols, one, lowered));
        let mut names = names(unit, symbols, unit.stmt(stmt).span);
        names.extend(
            one.directive.clauses.iter().flat_map(|clause| plan::list(&clause.kind)).filter_map(said),
        );
        if !names.is_empty() {
            lowered.parts.iter_mut().for_each(|part| in_part(part, &names));
        }
    }
    diags
}

/// The name of an item without its namespace, and as the clause says it.
fn said(item: &ListItem) -> Option<(String, String)> {
    let name = item.name_in_full();
    (name != item.base.text).then(|| (item.base.text.clone(), name.to_owned()))
}

/// The static data members that clauses give each thread its own copy of.
fn shared_members(symbols: &Symbols, one: &Bound, lowered: &Lowered) -> Vec<Diag> {
    let directives = lowered.parts.iter().flat_map(|part| match part {
        SourceChange::Directive(one) => vec![one],
        SourceChange::Pair(first, second) => vec![first, second],
        _ => Vec::new(),
    });
    let mut diags = Vec::new();
    for clause in directives.flat_map(|directive| &directive.clauses) {
        let is_own = ["private", "firstprivate", "lastprivate", "reduction"].contains(&clause.name.as_str());
        let Body::List(items) = &clause.body else { continue };
        for item in items.iter().filter(|_| is_own) {
            let meant = symbols.lookup(item, one.directive.span.start);
            if meant.is_some_and(|symbol| symbols.is_static_member(symbol)) {
                diags.push(diag::static_member_is_shared(one.directive.span, item, &clause.name));
            }
        }
    }
    diags
}

/// The names without namespace and class that stand in a construct with them alone, and how they stand there.
fn names(unit: &Unit, symbols: &Symbols, within: Span) -> BTreeMap<String, String> {
    let (mut qualified, mut bare) = (BTreeMap::new(), BTreeSet::new());
    for expr in unit.exprs_in(within) {
        let ExprKind::Name(name) = &expr.kind else { continue };
        match name.rsplit_once("::") {
            None => drop(bare.insert(name.as_str())),
            Some((_, last)) => {
                let known = symbols.lookup(name, expr.span.start).map(|id| symbols.get(id).kind);
                if known == Some(SymbolKind::Static) {
                    qualified.entry(last.to_owned()).or_insert_with(|| name.clone());
                }
            }
        }
    }
    qualified.retain(|last, _| !bare.contains(last.as_str()));
    qualified
}

fn in_part(part: &mut SourceChange, names: &BTreeMap<String, String>) {
    match part {
        SourceChange::Directive(one) | SourceChange::DirectiveAfter(_, one) => in_clauses(one, names),
        SourceChange::Pair(first, second) => {
            in_clauses(first, names);
            in_clauses(second, names);
        }
        SourceChange::Statements(lines)
        | SourceChange::LinesBefore(lines)
        | SourceChange::LinesAfter(lines)
        | SourceChange::Before(_, lines)
        | SourceChange::Braced(_, lines)
        | SourceChange::After(_, lines)
        | SourceChange::AtStart(_, lines)
        | SourceChange::AtEnd(_, lines)
        | SourceChange::Closed(_, lines) => {
            let directives = lines.iter_mut().filter(|line| line.starts_with("#pragma omp"));
            directives.for_each(|line| *line = spelled(line, names));
        }
        _ => {}
    }
}

fn in_clauses(directive: &mut Directive, names: &BTreeMap<String, String>) {
    for clause in &mut directive.clauses {
        if let Body::List(items) = &mut clause.body {
            items.iter_mut().for_each(|item| *item = spelled(item, names));
        }
    }
}

/// A text with the names as the construct says them; what a parenthesis follows is the name of a clause or a function.
fn spelled(text: &str, names: &BTreeMap<String, String>) -> String {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let (mut out, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let word = &rest[..rest.find(|char| !is_word(char)).unwrap_or(rest.len())];
        let after = &rest[word.len()..];
        let is_first = !["::", ".", "->"].iter().any(|sign| out.ends_with(sign));
        let is_alone = is_first && !["(", "::"].iter().any(|sign| after.starts_with(sign));
        match names.get(word).filter(|_| is_alone) {
            Some(name) => out.push_str(name),
            None if word.is_empty() => out.push(first),
            None => out.push_str(word),
        }
        rest = if word.is_empty() { &rest[first.len_utf8()..] } else { after };
    }
    out
}

#[cfg(test)]
mod tests;
