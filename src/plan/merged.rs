//! Memory that several data clauses of one construct name, which OpenACC allows and OpenMP does not.
//!
//! Invariant: afterwards the data clauses of a construct name the same memory once, with all that they asked for.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::{Clause, ClauseKind, DataClause, Directive, DirectiveKind, ListItem};
use crate::bind::{Bound, implied_clause};
use crate::host::ir::Unit;

/// Joins the data clauses of a construct that name the same memory: `copyin(a) copyout(a)` becomes `copy(a)`.
pub fn merge_data_clauses(unit: &Unit, mut bound: Vec<Bound>) -> Vec<Bound> {
    for directive in bound.iter_mut().map(|one| &mut one.directive) {
        if directive.kind == DirectiveKind::Data || directive.kind.is_compute() {
            merge(directive, &|item| key(item, unit.is_fortran()));
        }
    }
    bound
}

fn merge(directive: &mut Directive, key: &impl Fn(&ListItem) -> String) {
    let wanted = repeated(&directive.clauses, key);
    if wanted.is_empty() {
        return;
    }
    let mut kept = BTreeSet::new();
    let mut homeless = Vec::new();
    for clause in &mut directive.clauses {
        let Some((kind, list)) = data(clause) else { continue };
        list.retain(|item| match wanted.get(&key(item)) {
            Some(merged) if *merged == kind => kept.insert(key(item)),
            Some(merged) => {
                homeless.push((*merged, item.clone()));
                false
            }
            None => true,
        });
    }
    homeless.retain(|(_, item)| kept.insert(key(item)));
    for (kind, item) in homeless {
        let same = directive.clauses.iter_mut().filter_map(data).find(|(other, _)| *other == kind);
        match same {
            Some((_, list)) => list.push(item),
            None => {
                let (at, word) = (directive.span.end, word(kind));
                directive.clauses.push(implied_clause(at, word, ClauseKind::Data(kind, vec![item])));
            }
        }
    }
    drop_empty(&mut directive.clauses);
}

/// What is named more than once, and the one clause that stands for all that name it.
fn repeated(clauses: &[Clause], key: &impl Fn(&ListItem) -> String) -> BTreeMap<String, DataClause> {
    let mut named: BTreeMap<String, (usize, DataClause)> = BTreeMap::new();
    for clause in clauses {
        let ClauseKind::Data(kind, list) = &clause.kind else { continue };
        for item in list.iter().filter(|_| moves(*kind)) {
            let entry = named.entry(key(item)).or_insert((0, *kind));
            *entry = (entry.0 + 1, merged(entry.1, *kind));
        }
    }
    named.into_iter().filter(|(_, (count, _))| *count > 1).map(|(key, (_, kind))| (key, kind)).collect()
}

/// The kind and the list of a clause that moves or finds data.
fn data(clause: &mut Clause) -> Option<(DataClause, &mut Vec<ListItem>)> {
    match &mut clause.kind {
        ClauseKind::Data(kind, list) if moves(*kind) => Some((*kind, list)),
        _ => None,
    }
}

/// Whether a clause finds or makes data for the time of a construct.
fn moves(kind: DataClause) -> bool {
    match kind {
        DataClause::Copy
        | DataClause::Copyin { .. }
        | DataClause::Copyout { .. }
        | DataClause::Create { .. }
        | DataClause::Present
        | DataClause::NoCreate => true,
        DataClause::Deviceptr
        | DataClause::Attach
        | DataClause::Detach
        | DataClause::Delete
        | DataClause::DeviceResident
        | DataClause::Link => false,
    }
}

/// An item's text without blanks, with what may be omitted: `a[0:n]` for `a[:n]`, and in Fortran, where case does not
/// matter, `a` for `A(:)`.
fn key(item: &ListItem, is_fortran: bool) -> String {
    let text: String = item.text.chars().filter(|c| !c.is_whitespace()).collect();
    if !is_fortran {
        return text.replace("[:", "[0:");
    }
    let text = text.to_ascii_lowercase();
    match text.split_once('(') {
        Some((name, rest)) if rest.trim_end_matches(')').chars().all(|c| c == ':' || c == ',') => {
            name.to_owned()
        }
        _ => text,
    }
}

/// The one clause for two that name the same memory: what either asks for.
fn merged(one: DataClause, other: DataClause) -> DataClause {
    if one == other {
        return one;
    }
    let both = [one, other];
    let is_weak = |kind: &DataClause| matches!(kind, DataClause::Present | DataClause::NoCreate);
    if both.iter().all(is_weak) {
        return DataClause::Present;
    }
    if let Some(at) = both.iter().position(is_weak) {
        return both[1 - at];
    }
    let brings = both.iter().any(|kind| matches!(kind, DataClause::Copy | DataClause::Copyin { .. }));
    let takes = both.iter().any(|kind| matches!(kind, DataClause::Copy | DataClause::Copyout { .. }));
    let zero = both
        .iter()
        .any(|kind| matches!(kind, DataClause::Copyout { zero: true } | DataClause::Create { zero: true }));
    match (brings, takes) {
        (true, true) => DataClause::Copy,
        (true, false) => DataClause::Copyin { readonly: false },
        (false, true) => DataClause::Copyout { zero },
        (false, false) => DataClause::Create { zero },
    }
}

/// The word of a clause that stands for several.
fn word(kind: DataClause) -> &'static str {
    match kind {
        DataClause::Copyin { .. } => "copyin",
        DataClause::Copyout { .. } => "copyout",
        DataClause::Create { .. } => "create",
        DataClause::Present => "present",
        _ => "copy",
    }
}

/// Drops clauses whose lists have become empty; the others keep the `device_type` clause that they follow.
fn drop_empty(clauses: &mut Vec<Clause>) {
    let is_empty = |clause: &Clause| matches!(&clause.kind, ClauseKind::Data(_, list) if list.is_empty());
    let gone: Vec<usize> = (0..clauses.len()).filter(|at| is_empty(&clauses[*at])).collect();
    clauses.retain(|clause| !is_empty(clause));
    for at in clauses.iter_mut().filter_map(|clause| clause.device_type.as_mut()) {
        *at -= gone.iter().filter(|gone| *gone < at).count();
    }
}
