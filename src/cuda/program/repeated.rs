//! Headers that a program includes several times, with other macros: device code has one reading of each.
//!
//! Invariant: a header counts only if a macro that it names changes between its inclusions.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::choices::{Choices, Place};
use super::{Input, Refused, Seen, refused};
use crate::cuda::code::text::{placed_words, words};
use crate::host::ir::DeclKind;
use crate::source::Span;

/// Words of the language and of the preprocessor, which come from no header.
const KEYWORDS: [&str; 44] = [
    "auto", "bool", "break", "case", "char", "const", "continue", "default", "define", "do", "double",
    "elif", "else", "endif", "enum", "extern", "float", "for", "goto", "if", "ifdef", "ifndef", "include",
    "inline", "int", "long", "pragma", "register", "restrict", "return", "short", "signed", "sizeof",
    "static", "struct", "switch", "typedef", "undef", "union", "unsigned", "void", "volatile", "while",
    "defined",
];

/// What such headers bring.
#[derive(Clone, Debug, Default)]
pub struct Repeated {
    /// The names that they declare or define, and of declarations that they stand in.
    names: HashSet<String>,
    /// Words of which names may be made in them.
    parts: HashSet<String>,
    /// They paste words.
    pastes: bool,
}

impl Repeated {
    /// What the headers of a program bring that are such.
    pub fn of(input: &Input, choices: &Choices) -> Repeated {
        let all: Vec<Seen> = input.headers.iter().chain([&input.source]).copied().collect();
        let mut found = Repeated::default();
        let mut by_name: BTreeMap<&str, Vec<(usize, Span)>> = BTreeMap::new();
        for (by, seen) in all.iter().enumerate() {
            for include in seen.scan.includes.iter().filter(|include| include.active) {
                by_name.entry(last(&include.path)).or_default().push((by, include.span));
            }
        }
        for number in (0..input.headers.len()).filter(|number| !choices.is_read_once(*number)) {
            let included = by_name.get(last(&all[number].file.name)).map_or(&[][..], Vec::as_slice);
            let mut places: Vec<((usize, Span), Place)> =
                included.iter().map(|(by, span)| ((*by, *span), choices.place(*by, span.start))).collect();
            places.sort_by(|one, other| one.1.cmp(&other.1));
            let [(_, first), .., (_, last)] = places.as_slice() else { continue };
            let seen = &all[number];
            let shadow = String::from_utf8_lossy(&seen.scan.shadow);
            let text = seen.file.text(Span { start: 0, end: seen.file.bytes.len() as u32 });
            let lines = text.lines().filter(|line| line.trim_start().starts_with('#'));
            let own: BTreeSet<&str> =
                lines.chain([&*shadow]).flat_map(words).filter(|word| !KEYWORDS.contains(word)).collect();
            let changed = changed(choices, &own, number, (first, last));
            if changed.is_empty() {
                continue;
            }
            found.add_names(seen);
            found.parts.extend(own.into_iter().map(str::to_owned));
            found.parts.extend(changed);
            for (by, _) in &places {
                found.add_declarations_around(&all[by.0], by.1);
            }
        }
        let mut bodies = all.iter().flat_map(|seen| &seen.scan.defines).map(|define| &define.body);
        found.pastes = bodies.any(|body| body.contains("##"));
        found
    }

    fn add_names(&mut self, seen: &Seen) {
        let unit = seen.unit;
        self.names.extend(
            unit.decls.iter().filter(|decl| decl.kind != DeclKind::Parameter).map(|decl| decl.name.clone()),
        );
        self.names.extend(unit.records.iter().filter_map(|record| record.tag.clone()));
        self.names.extend(unit.functions.iter().map(|function| function.name.clone()));
        self.names.extend(seen.scan.defines.iter().map(|define| define.name.clone()));
    }

    /// The names of declarations that an inclusion is a part of.
    fn add_declarations_around(&mut self, by: &Seen, at: Span) {
        let unit = by.unit;
        let decls = unit.decls.iter().filter(|decl| decl.span.contains(at));
        self.names.extend(decls.map(|decl| decl.name.clone()));
        let records = unit.records.iter().filter(|record| record.span.contains(at));
        self.names.extend(records.filter_map(|record| record.tag.clone()));
    }

    /// Whether a name that no declaration is seen of may come from such a header.
    fn may_make(&self, name: &str) -> bool {
        let is_end = |part: &String| part.len() > 1 && (name.starts_with(part) || name.ends_with(part));
        self.parts.contains(name) || self.pastes && self.parts.iter().any(is_end)
    }
}

/// That some code needs nothing that such headers bring, and includes nothing itself.
pub fn none(input: &Input, seen: &Seen, span: Span) -> Result<(), Refused> {
    let at = Span { start: span.start, end: span.start + 1 };
    if seen.scan.includes.iter().any(|include| include.active && span.contains(include.span)) {
        return Err(refused(at, "code that is included there"));
    }
    let Some(repeated) = input.repeated.filter(|repeated| !repeated.parts.is_empty()) else { return Ok(()) };
    match reached(input, &seen.code(span)).into_iter().find(|(name, is_known)| match is_known {
        true => repeated.names.contains(name),
        false => repeated.may_make(name),
    }) {
        Some((name, _)) => {
            let what = format!("`{name}`, of a header that is included several times with other macros,");
            Err(refused(at, &what))
        }
        None => Ok(()),
    }
}

/// The names that a text leads to, by macros, types, variables and functions, and whether a declaration is seen of them.
fn reached(input: &Input, text: &str) -> BTreeMap<String, bool> {
    let mut found: BTreeMap<String, bool> = BTreeMap::new();
    let mut pending = vec![text.to_owned()];
    while let Some(text) = pending.pop() {
        for (at, word) in placed_words(&text) {
            let is_member = text[..at].trim_end().ends_with(['.', '>']);
            if found.contains_key(word) || is_member {
                continue;
            }
            let said = said(input, word);
            found.insert(word.to_owned(), !said.is_empty());
            pending.extend(said);
        }
    }
    found
}

/// What is said of a name where it is declared or defined.
fn said(input: &Input, name: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for seen in input.files() {
        texts.extend(seen.unit.decls_named(name).map(|decl| seen.code(decl.span).into_owned()));
        texts.extend(seen.unit.records_named(name).map(|record| seen.code(record.span).into_owned()));
        texts.extend(seen.unit.functions_named(name).map(|function| seen.code(function.span).into_owned()));
        texts.extend(seen.scan.defines_named(name).map(|define| define.body.clone()));
    }
    texts
}

/// The last part of a path.
fn last(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// The macros among `own`, through those that these name, about which other files have lines between two places; and the words
/// that these lines give them.
fn changed(
    choices: &Choices,
    own: &BTreeSet<&str>,
    number: usize,
    (first, last): (&Place, &Place),
) -> Vec<String> {
    let mut found = Vec::new();
    let mut known: BTreeSet<String> = own.iter().map(|word| (*word).to_owned()).collect();
    let mut pending: Vec<String> = known.iter().cloned().collect();
    while let Some(name) = pending.pop() {
        for line in choices.lines(&name) {
            let is_between = first.is_before(&line.place) && line.place.is_before(last);
            if line.number != number && is_between {
                found.push(name.clone());
            }
            for word in words(&line.line.body) {
                if line.number != number && is_between && !KEYWORDS.contains(&word) {
                    found.push(word.to_owned());
                }
                if known.insert(word.to_owned()) {
                    pending.push(word.to_owned());
                }
            }
        }
    }
    // What stands before the first inclusion counts there.
    if !found.is_empty() {
        let before = known.iter().flat_map(|name| choices.lines(name));
        for line in before {
            let all = words(&line.line.body).into_iter().filter(|word| !KEYWORDS.contains(word));
            found.extend(all.map(str::to_owned));
        }
    }
    found
}
