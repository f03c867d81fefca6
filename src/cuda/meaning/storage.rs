//! Words of C that C++ reads otherwise: `auto` beside a type says nothing in C, `register` nothing anywhere.
//!
//! Invariant: a declaration keeps its type.

use crate::cuda::code::text::{Edits, words};
use crate::cuda::program::{Refused, refused};
use crate::host::forms::inside;
use crate::host::ir::BaseType;
use crate::source::Span;

use super::Place;

/// Takes them away.
pub fn edit(place: &Place, edits: &mut Edits) -> Result<(), Refused> {
    let unit = place.types.unit;
    for word in inside(&unit.forms.storage, place.span) {
        let text = place.types.file.text(*word);
        let is_typed = || {
            let mut all = unit.decls_in(place.span).filter(|decl| decl.span.contains(*word));
            all.all(|decl| decl.base != BaseType::Unknown)
        };
        if text == "register" || text == "auto" && is_typed() {
            edits.replace(*word, "");
        }
    }
    // To C's grammar these are constants, whoever declares them.
    let text = place.types.file.text(place.span);
    let declares = |before: &str| {
        let before = before.trim_end();
        before.ends_with(|c: char| c.is_alphanumeric() || "*,_".contains(c)) && !before.ends_with("return")
    };
    let is_declared = |name: &str| {
        let all = String::from_utf8_lossy(&place.input.source.scan.shadow);
        all.match_indices(name).any(|(at, word)| {
            let behind = all[at + word.len()..].trim_start();
            let is_set = behind.starts_with('=') && !behind.starts_with("==");
            (is_set || behind.starts_with([';', ','])) && declares(&all[..at])
        })
    };
    let words = words(&text);
    let mut constants = ["nullptr", "true", "false"].into_iter();
    if let Some(name) = constants.find(|name| words.contains(name) && is_declared(name)) {
        let at = Span { start: place.span.start, end: place.span.start + 1 };
        return Err(refused(at, &format!("a variable that is called `{name}`")));
    }
    Ok(())
}
