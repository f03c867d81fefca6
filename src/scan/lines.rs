//! The `#define` and `#undef` lines of a file, those of all branches.
//!
//! Invariant: in source order; whether a line is shown is for others to say.

use crate::source::{SourceFile, Span};

use super::c::{self, Event};
use super::defined::definition;
use super::preproc::keyword;

/// A line that gives a macro a meaning, or takes it away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MacroLine {
    /// The macro's name.
    pub name: String,
    /// Its parameters, if it has a list of them.
    pub params: Option<Vec<String>>,
    /// The body's text, continuations joined; empty for `#undef`.
    pub body: String,
    /// The line is `#undef`.
    pub is_undef: bool,
    /// The whole logical line.
    pub span: Span,
    /// What says the same where the line itself would not: of `#pragma pop_macro`, the definition that counts again.
    pub instead: Option<String>,
}

/// Those of a file of C or C++.
pub fn macro_lines(file: &SourceFile) -> Vec<MacroLine> {
    let events = c::events(&file.bytes);
    let lines = events.iter().filter_map(|event| match event {
        Event::Line(line) => Some(line),
        Event::Operator(_) | Event::Comment(_) | Event::Word(_) => None,
    });
    let mut found: Vec<MacroLine> = Vec::new();
    let mut pushed: Vec<(String, Option<MacroLine>)> = Vec::new();
    for line in lines {
        let (word, rest) = keyword(&file.bytes, line);
        if word == "pragma" {
            match stacked(&rest) {
                Some((true, name)) => {
                    let known = found.iter().rev().find(|one| one.name == name).cloned();
                    pushed.push((name, known));
                }
                Some((false, name)) => {
                    let top = pushed.iter().rposition(|(other, _)| *other == name);
                    let known = top.and_then(|at| pushed.remove(at).1);
                    found.push(restored(name, known, line.whole));
                }
                None => {}
            }
            continue;
        }
        let is_undef = match word {
            "define" => false,
            "undef" => true,
            _ => continue,
        };
        let (name, params, body) = definition(&rest);
        let body = if is_undef { String::new() } else { body };
        found.push(MacroLine { name, params, body, is_undef, span: line.whole, instead: None });
    }
    found
}

/// The macro that `#pragma push_macro("X")` keeps, or `pop_macro` brings back: true for the first.
fn stacked(rest: &[u8]) -> Option<(bool, String)> {
    let text = String::from_utf8_lossy(rest);
    let text = text.trim();
    let (is_push, inside) = match text.strip_prefix("push_macro") {
        Some(inside) => (true, inside),
        None => (false, text.strip_prefix("pop_macro")?),
    };
    Some((is_push, inside.split('"').nth(1)?.to_owned()))
}

/// The line that says what a macro means again. What this file has not defined, nobody here knows.
fn restored(name: String, known: Option<MacroLine>, span: Span) -> MacroLine {
    let unknown = || format!("#error \"what `{name}` means after `pop_macro` was not seen\"");
    let instead = match &known {
        Some(one) if one.is_undef => format!("#undef {name}"),
        Some(one) => {
            let params =
                one.params.as_ref().map_or(String::new(), |params| format!("({})", params.join(", ")));
            format!("#undef {name}\n#define {name}{params} {}", one.body)
        }
        None => unknown(),
    };
    let body = known.as_ref().map_or(String::new(), |one| one.body.clone());
    let params = known.as_ref().and_then(|one| one.params.clone());
    let is_undef = known.is_none_or(|one| one.is_undef);
    MacroLine { name, params, body, is_undef, span, instead: Some(instead) }
}

#[cfg(test)]
mod tests;
