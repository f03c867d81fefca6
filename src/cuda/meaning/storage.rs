//! Words of C that C++ reads otherwise: `auto` beside a type says nothing in C, `register` nothing anywhere.
//!
//! Invariant: a declaration keeps its type.

use crate::cuda::code::text::{Edits, placed_words, words};
use crate::cuda::program::{Refused, refused};
use crate::host::forms::inside;
use crate::host::ir::BaseType;
use crate::source::Span;

use super::Place;

/// Takes them away; refuses constants of C++ as names of variables.
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
    let is_declared = |name: &str| {
        let all = String::from_utf8_lossy(&place.input.source.scan.shadow);
        let mut named = placed_words(&all).into_iter().filter(|(_, word)| *word == name);
        named.any(|(at, word)| is_declarator(&all[..at], &all[at + word.len()..]))
    };
    let words = words(&text);
    let mut constants = ["nullptr", "true", "false"].into_iter();
    if let Some(name) = constants.find(|name| words.contains(name) && is_declared(name)) {
        let at = Span { start: place.span.start, end: place.span.start + 1 };
        return Err(refused(at, &format!("a variable that is called `{name}`")));
    }
    Ok(())
}

/// Whether a name between these texts is what a declaration declares, rather than a value in a list.
fn is_declarator(before: &str, after: &str) -> bool {
    let (before, after) = (before.trim_end(), after.trim_start());
    let is_set = after.starts_with('=') && !after.starts_with("==");
    let is_first =
        before.ends_with(|c: char| c.is_alphanumeric() || "*_".contains(c)) && !before.ends_with("return");
    let ends = is_set || after.starts_with(';');
    before.ends_with(',') && ends || is_first && (ends || after.starts_with(','))
}
