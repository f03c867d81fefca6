//! Arrays and pointers after type names, taken apart: `row r` as the `double r[7]` that it is.
//!
//! Invariant: what is taken apart is the same type for every build; what may be another one is left untranslated.

use std::borrow::Cow;

use crate::cuda::code::text::words;
use crate::cuda::program::{Input, Seen};
use crate::host::ir::{BaseType, Decl, Derived};
use crate::sema::SymbolId;
use crate::source::Span;

use super::spelling;

/// A declaration, and the file that its sizes and its type stand in.
type Declared<'a> = (Seen<'a>, Cow<'a, Decl>);

/// The declaration of a variable, taken apart.
pub fn declaration<'a>(input: &Input<'a>, symbol: SymbolId) -> Option<Declared<'a>> {
    let (seen, decl) = input.declaration(symbol)?;
    Some(unfolded(input, seen, decl).unwrap_or((seen, Cow::Borrowed(decl))))
}

/// What a declaration says, with the arrays and pointers of its type's name after its own, as if it stood where the last
/// of these does; `None` if its type's name stands for neither, or the build decides what it stands for.
pub fn unfolded<'a>(input: &Input<'a>, seen: Seen<'a>, decl: &Decl) -> Option<Declared<'a>> {
    let links = links(input, decl)?;
    let last = links.iter().rposition(|(_, link)| !link.derived.is_empty())?;
    let (there, inner) = *links.get(last)?;
    let is_odd = |part: &Derived| matches!(part, Derived::Function | Derived::Reference);
    let used = links.iter().take(last + 1).map(|(seen, link)| (*seen, *link));
    let mut derived = Vec::new();
    for (at, (home, link)) in std::iter::once((seen, decl)).chain(used).enumerate() {
        let is_plain = !link.derived.iter().any(is_odd) && !is_qualified(&home, link);
        if !is_plain || is_chosen(input, &home, link) {
            return None;
        }
        for part in &link.derived {
            derived.push(match part {
                // Only what stands in one file is read there; the length of a variable is not needed to find its elements.
                Derived::Array(Some(_)) if !std::ptr::eq(home.unit, there.unit) => {
                    (at == 0 && derived.is_empty()).then_some(Derived::Array(None))?
                }
                part => part.clone(),
            });
        }
    }
    let is_same_file = std::ptr::eq(seen.unit, there.unit);
    let own = links.iter().map(|(_, link)| *link).find(|link| !link.derived.is_empty());
    let is_restrict = match decl.derived.is_empty() {
        true => decl.is_restrict || own.is_some_and(|link| link.is_restrict),
        false => decl.is_restrict,
    };
    let is_const = decl.is_const || links.iter().any(|(_, link)| link.is_const);
    let whole = Decl {
        kind: decl.kind,
        name: decl.name.clone(),
        derived,
        init: decl.init.filter(|_| is_same_file),
        is_static: decl.is_static,
        is_extern: decl.is_extern,
        is_const,
        is_restrict,
        ..inner.clone()
    };
    Some((there, Cow::Owned(whole)))
}

/// Whether a declaration or one of the type names that it uses says `const`.
pub fn says_const(input: &Input, seen: Seen, decl: &Decl) -> bool {
    let is_said = |seen: &Seen, decl: &Decl| words(&head(seen, decl)).contains(&"const");
    is_said(&seen, decl)
        || links(input, decl).is_none_or(|links| links.iter().any(|(seen, link)| is_said(seen, link)))
}

/// The definitions of the type names that a declaration uses, one by the other; `None` if a name has several.
fn links<'a>(input: &Input<'a>, decl: &Decl) -> Option<Vec<(Seen<'a>, &'a Decl)>> {
    let mut found: Vec<(Seen<'a>, &'a Decl)> = Vec::new();
    let mut base = &decl.base;
    while let BaseType::Named(name) = base {
        let of = |seen: Seen<'a>| spelling::typedefs(&seen, name).map(move |link| (seen, link));
        let mut known = input.files().flat_map(of);
        let Some(link) = known.next() else { break };
        if known.next().is_some() || found.len() > 16 {
            return None;
        }
        found.push(link);
        base = &link.1.base;
    }
    Some(found)
}

/// Whether the words before a declarator say more of the type than arrays and pointers of something.
fn is_qualified(seen: &Seen, decl: &Decl) -> bool {
    let head = head(seen, decl);
    let odd = ["volatile", "_Atomic", "__attribute__", "__attribute", "_Alignas", "alignas"];
    words(&head).iter().any(|word| odd.contains(word))
}

/// Whether the build may decide what a declaration says.
fn is_chosen(input: &Input, seen: &Seen, decl: &Decl) -> bool {
    let Some(choices) = input.choices else { return false };
    let number = input.number(seen);
    spelling::is_chosen(input, decl)
        || choices.is_chosen(&choices.place(number, decl.span.start))
        || !choices.hidden_in(number, decl.span).is_empty()
}

/// The words before the name.
fn head<'a>(seen: &Seen<'a>, decl: &Decl) -> Cow<'a, str> {
    seen.file.text(Span { start: decl.span.start, end: decl.name_span.start })
}
