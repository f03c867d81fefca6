//! Whether the clauses of a directive may stand together, by `rules/lang/openacc.toml`.
//!
//! Invariant: looks at one directive alone, and refuses nothing that the table does not forbid.

use std::collections::{HashMap, HashSet};

use super::ast::{Clause, ClauseKind, Directive, DirectiveKind};
use super::name;
use crate::diag::{Diag, clause_conflict, clause_missing, clause_not_allowed};
use crate::rules::openacc::{self, table};

/// What is wrong with the clauses of `directive`.
pub fn check(directive: &Directive) -> Vec<Diag> {
    let mut diags = Vec::new();
    let Some(row) = table().directive(name(directive.kind)) else {
        let refuse =
            |clause: &Clause| clause_not_allowed(clause.span, &clause.name.text, name(directive.kind));
        return directive.clauses.iter().map(refuse).collect();
    };
    let mut seen = Seen::new();
    for clause in &directive.clauses {
        let word = canonical(clause);
        diags.extend(allowed(directive, row, clause, word));
        diags.extend(conflict(row, clause, word, &seen));
        seen.entry((clause.device_type, word)).or_insert(clause);
    }
    diags.extend(initialised_or_not(directive));
    if !is_idle(directive) {
        diags.extend(row.any.iter().filter_map(|group| missing(directive, group)));
    }
    diags
}

/// Whether a directive about data names none, and waits for none: it does nothing.
pub fn is_idle(directive: &Directive) -> bool {
    use DirectiveKind::{Data, EnterData, ExitData, HostData};
    let is_about_data = matches!(directive.kind, Data | EnterData | ExitData | HostData);
    let is_bare = |clause: &Clause| {
        matches!(
            clause.kind,
            ClauseKind::If(_) | ClauseKind::Async(_) | ClauseKind::IfPresent | ClauseKind::Finalize
        )
    };
    is_about_data && directive.clauses.iter().all(is_bare)
}

/// The first clause of each word in each `device_type` group.
type Seen<'a> = HashMap<(Option<usize>, &'a str), &'a Clause>;

/// The word that the clause's word is an alias of.
fn canonical(clause: &Clause) -> &'static str {
    let word = clause.name.text.to_ascii_lowercase();
    table().clause(&word).map_or("", |row| row.name.as_str())
}

fn allowed(directive: &Directive, row: &openacc::Directive, clause: &Clause, word: &str) -> Option<Diag> {
    let has = |words: &[String]| words.iter().any(|known| known == word);
    let host = matches!(clause.kind, ClauseKind::UpdateSelf(_)) && directive.kind != DirectiveKind::Update;
    if !has(&row.clauses) || host {
        return Some(clause_not_allowed(clause.span, &clause.name.text, &row.name));
    }
    clause.device_type?;
    let after = row.after_device_type.as_deref().unwrap_or_default();
    if has(after) || matches!(clause.kind, ClauseKind::DeviceType(_)) {
        return None;
    }
    let place = format!("{} device_type(…)", row.name);
    Some(clause_not_allowed(clause.span, &clause.name.text, &place))
}

fn conflict<'a>(
    row: &'a openacc::Directive,
    clause: &Clause,
    word: &'a str,
    seen: &Seen<'a>,
) -> Option<Diag> {
    let before = |other: &'a str| seen.get(&(clause.device_type, other)).copied();
    let twice = row.once.iter().any(|once| once == word).then(|| before(word)).flatten();
    let groups = row.exclusive.iter().filter(|group| group.iter().any(|member| member == word));
    let other = twice
        .or_else(|| groups.flatten().filter(|member| *member != word).find_map(|member| before(member)))?;
    Some(clause_conflict(clause.span, &clause.name.text, &other.name.text).with(other.span, "the other one"))
}

/// A variable that is in `private` and in `firstprivate` of one construct. On a combined one, `private` is about the loop alone
/// (OpenACC 3.3, 2.11).
fn initialised_or_not(directive: &Directive) -> Option<Diag> {
    if !matches!(directive.kind, DirectiveKind::Parallel | DirectiveKind::Serial) {
        return None;
    }
    let (mut with, mut without) = (HashSet::new(), Vec::new());
    for clause in &directive.clauses {
        match &clause.kind {
            ClauseKind::Firstprivate(list) => with.extend(list.iter().map(|item| &item.text)),
            ClauseKind::Private(list) => without.extend(list),
            _ => {}
        }
    }
    let item = without.into_iter().find(|item| with.contains(&item.text))?;
    let clause = |word: &str| format!("{word}({})", item.text);
    Some(clause_conflict(item.span, &clause("private"), &clause("firstprivate")))
}

fn missing(directive: &Directive, group: &[String]) -> Option<Diag> {
    let there = directive.clauses.iter().any(|clause| group.iter().any(|word| word == canonical(clause)));
    let quoted: Vec<String> = group.iter().map(|word| format!("`{word}`")).collect();
    let needed = match quoted.as_slice() {
        [only] => only.clone(),
        all => format!("one of {}", all.join(", ")),
    };
    (!there).then(|| clause_missing(directive.name_span, name(directive.kind), &needed))
}
