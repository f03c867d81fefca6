//! What a file of Fortran has for the files that use it, gathered once for all of them.
//!
//! Invariant: says of names what the file's unit says; which of them a user sees, is not known here.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::host::ir::{DeclId, DeclKind, ScopeId, ScopeKind, Unit};
use crate::source::Span;

/// A dummy argument of a Fortran procedure.
#[derive(Clone, Debug)]
pub(super) struct Dummy {
    pub(super) name: String,
    /// It is allocatable or a pointer, and no `intent(in)` keeps it as it is.
    pub(super) may_move: bool,
}

/// The dummy arguments of procedures, by the procedures' names.
pub(super) type Dummies = FxHashMap<String, Vec<Dummy>>;

/// By the names of procedures, the places of the dummy arguments that they leave as they are.
pub(super) type Inputs = FxHashMap<String, FxHashSet<usize>>;

/// What a file of Fortran has for others.
#[derive(Debug, Default)]
pub struct Outside {
    pub(super) dummies: Dummies,
    pub(super) inputs: Inputs,
    /// The words of its declarations that are not the names which these declare.
    pub(super) mentioned: Vec<String>,
    /// Its modules and submodules.
    pub(super) modules: Vec<ScopeId>,
    /// The procedures that its scoping units contain, by place.
    pub(super) contained: FxHashMap<ScopeId, Vec<ScopeId>>,
}

/// The files that a file uses, with what each has for it: units, and as many values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Others<'a> {
    /// Their units, in the order in which they are met.
    pub units: &'a [&'a Unit],
    /// What each has; empty for C and C++.
    pub outside: &'a [Arc<Outside>],
    /// The Fortran file that includes the file, by its number, and where it does so.
    pub around: Option<(usize, u32)>,
    /// Those that the Fortran file includes, by their numbers, and where it does so.
    pub included: &'a [(usize, u32)],
}

impl Outside {
    /// What the unit of a text has.
    pub fn of(unit: &Unit, text: &[u8]) -> Outside {
        if !unit.is_fortran() {
            return Outside::default();
        }
        let mut found = Outside {
            dummies: dummies(unit),
            inputs: inputs(unit),
            mentioned: mentioned(unit, text),
            ..Outside::default()
        };
        for (at, scope) in unit.scopes.iter().enumerate() {
            let id = ScopeId(at as u32);
            match scope.kind {
                ScopeKind::Module | ScopeKind::Submodule => found.modules.push(id),
                ScopeKind::Procedure => {
                    found.contained.extend(scope.parent.map(|parent| (parent, Vec::new())));
                }
                ScopeKind::Program | ScopeKind::Interface => {}
            }
        }
        for (at, scope) in unit.scopes.iter().enumerate().filter(|(_, one)| one.kind == ScopeKind::Procedure)
        {
            let around = scope.parent.and_then(|parent| found.contained.get_mut(&parent));
            around.into_iter().for_each(|known| known.push(ScopeId(at as u32)));
        }
        found
    }
}

/// The dummy arguments of all procedures and interface bodies of a unit. Of several of one name, all are meant.
fn dummies(unit: &Unit) -> Dummies {
    let functions = unit.functions.iter().map(|one| (one.name.as_str(), one.params.clone()));
    let bodies = unit.scopes.iter().filter(|scope| scope.kind == ScopeKind::Interface);
    let bodies = bodies.map(|scope| {
        let is_dummy = |decl: &DeclId| unit.decl(*decl).kind == DeclKind::Parameter;
        (scope.name.as_str(), scope.decls.iter().copied().filter(is_dummy).collect())
    });
    let mut known = Dummies::default();
    for (name, params) in functions.chain(bodies) {
        let params = params.into_iter().map(|param| {
            let decl = unit.decl(param);
            let said = &decl.fortran;
            let may_move = (said.allocatable || said.pointer) && !said.intent_in;
            Dummy { name: decl.name.clone(), may_move }
        });
        add(known.entry(name.to_owned()).or_default(), params);
    }
    known
}

/// Adds the dummy arguments of a procedure to those of others of its name.
pub(super) fn add(known: &mut Vec<Dummy>, more: impl Iterator<Item = Dummy>) {
    for (place, one) in more.enumerate() {
        match known.get_mut(place) {
            Some(dummy) => dummy.may_move |= one.may_move,
            None => known.push(one),
        }
    }
}

fn inputs(unit: &Unit) -> Inputs {
    let mut inputs = Inputs::default();
    for (name, place) in &unit.inputs {
        inputs.entry(name.clone()).or_default().insert(*place);
    }
    inputs
}

/// The words of a unit's declarations, of its modules' specification parts and of its types, each once: what the names that it
/// declares may lead to.
fn mentioned(unit: &Unit, text: &[u8]) -> Vec<String> {
    let declared: FxHashSet<u32> = unit.decls.iter().map(|decl| decl.name_span.start).collect();
    let is_procedure = |scope: ScopeKind| scope == ScopeKind::Procedure;
    let first = |id: u32| {
        let inside =
            unit.scopes.iter().filter(|one| one.parent == Some(ScopeId(id)) && is_procedure(one.kind));
        inside.map(|one| one.span.start).min()
    };
    let parts = unit.scopes.iter().zip(0..).filter(|(scope, _)| !is_procedure(scope.kind));
    let parts = parts.map(|(scope, id)| Span {
        start: scope.span.start,
        end: first(id).unwrap_or(scope.span.end).max(scope.span.start),
    });
    let spans = unit.decls.iter().map(|decl| decl.span).chain(parts);
    let mut known: FxHashSet<String> = FxHashSet::default();
    let mut last = None;
    for span in spans {
        // Declarations of one statement have its bytes.
        if last.replace(span) == Some(span) {
            continue;
        }
        for (place, word) in words(text.get(span.range()).unwrap_or_default()) {
            if !declared.contains(&(span.start + place as u32)) {
                known.insert(lower(word));
            }
        }
    }
    known.into_iter().collect()
}

/// The words of a text, and where they begin.
pub(super) fn words(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(*byte, b'_' | b'$' | 0x80..);
    let mut at = 0;
    std::iter::from_fn(move || {
        at += text.get(at..)?.iter().position(is_part)?;
        let start = at;
        let rest = &text[start..];
        at += rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        Some((start, &text[start..at]))
    })
}

/// A word as Fortran's names are kept.
pub(super) fn lower(word: &[u8]) -> String {
    String::from_utf8_lossy(word).to_ascii_lowercase()
}
