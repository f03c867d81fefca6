//! Code of C as code of C++ that means the same: what the two languages read differently is written otherwise, or refused.
//!
//! Invariant: works from the tree of the C source; where both languages agree, the text stays as it is.

mod defaults;
mod definitions;
mod enums;
mod heads;
mod initialisers;
mod jumps;
mod literals;
mod locals;
mod math;
mod measured;
mod pointers;
pub mod readers;
mod steps;
mod storage;
mod taken;
mod values;
mod wraps;

use std::collections::BTreeSet;

use crate::host::forms::inside;
use crate::host::ir::{DeclKind, Derived, ExprKind, Unit};
use crate::scan::{self, Define};
use crate::sema::{CTypes, Others, SymbolKind, Symbols, has_variable_length};
use crate::source::{self, Language, Span};

use crate::cuda::code::text::{Edits, Overlap, words};
use crate::cuda::program::{Input, Refused, Seen, refused, sizes};

pub use defaults::heads as heads_with_defaults;
pub use definitions::{text as definition, whole};
pub use heads::device as device_head;
pub use heads::{head, without_storage};
pub use literals::lasting;
pub use locals::is_inside;
pub use math::in_macro;
pub use values::addresses;

/// Words of C, and those of C++ for them.
pub const WORDS: [(&str, &str); 14] = [
    ("isgreater", "acc2omp::c::isgreater"),
    ("isgreaterequal", "acc2omp::c::isgreaterequal"),
    ("isless", "acc2omp::c::isless"),
    ("islessequal", "acc2omp::c::islessequal"),
    ("islessgreater", "acc2omp::c::islessgreater"),
    ("isunordered", "acc2omp::c::isunordered"),
    ("isnormal", "acc2omp::c::isnormal"),
    ("fpclassify", "acc2omp::c::fpclassify"),
    ("typeof", "__typeof__"),
    ("_Bool", "bool"),
    ("_Static_assert", "static_assert"),
    ("_Alignas", "alignas"),
    ("_Alignof", "alignof"),
    ("_Noreturn", "[[noreturn]]"),
];

/// Some code of a file.
pub struct Place<'a> {
    /// What is known of its file.
    pub input: &'a Input<'a>,
    /// The types of its expressions.
    pub types: CTypes<'a>,
    /// Its bytes.
    pub span: Span,
}

/// Whether a source is C: of a header, what it reads like.
pub fn is_c(source: &Seen) -> bool {
    match source.file.language {
        Language::C => true,
        Language::Header => !source.unit.is_cpp(),
        _ => false,
    }
}

/// The names of types for which conditions of the preprocessor choose one of several.
pub fn chosen<'a>(input: &Input<'a>) -> BTreeSet<&'a str> {
    input.files().flat_map(|seen| chosen_in(&seen)).map(String::as_str).collect()
}

fn chosen_in<'a>(seen: &Seen<'a>) -> &'a BTreeSet<String> {
    seen.scan.chosen_types(|| {
        let forks = scan::forks(seen.file);
        let mut found = BTreeSet::new();
        for decl in seen.unit.decls.iter().filter(|decl| decl.kind == DeclKind::Typedef) {
            let mut around = forks.iter().filter_map(|fork| Some((fork, fork.branch_at(decl.span.start)?)));
            let is_chosen = around.any(|(fork, own)| {
                let others = fork.branches.iter().enumerate().filter(|(at, _)| *at != own);
                others
                    .into_iter()
                    .any(|(_, branch)| words(&seen.file.text(branch.inside)).contains(&decl.name.as_str()))
            });
            if is_chosen {
                found.insert(decl.name.clone());
            }
        }
        found
    })
}

/// Has `edits` say the code in `span` as C++.
pub fn edit(input: &Input, span: Span, edits: &mut Edits) -> Result<(), Refused> {
    if !input.is_c && (input.in_place || !input.unit().is_cpp()) {
        return Ok(());
    }
    let headers: Vec<&Unit> = input.headers.iter().map(|seen| seen.unit).collect();
    let chosen = chosen(input);
    let types = CTypes {
        file: input.file(),
        unit: input.unit(),
        headers: &headers,
        symbols: input.symbols,
        chosen: &chosen,
    };
    let place = Place { input, types, span };
    if !input.is_c {
        let mut wraps = wraps::Wraps::default();
        math::cpp_calls(&place, &mut wraps);
        wraps.add_to(edits);
        return measured::only_measured(&place, edits);
    }
    possible(&place)?;
    locals::check(input, span)?;
    let mut wraps = wraps::Wraps::default();
    math::calls(&place, &mut wraps, edits);
    pointers::conversions(&place, &mut wraps)?;
    initialisers::narrowed(&place, &mut wraps);
    literals::edit(&place, &mut wraps, edits)?;
    wraps.add_to(edits);
    steps::edit(&place, edits)?;
    storage::edit(&place, edits)?;
    enums::none_large(input, span)?;
    measured::sizes(&place, edits)?;
    enums::in_code(input, &input.source, span, edits)?;
    initialisers::edit(&place, edits)?;
    jumps::edit(&place, edits)
}

/// The text of some code of a header as C++. The file that includes it has no other names for the header's.
pub fn of_header(input: &Input, seen: &Seen, span: Span) -> Result<String, Refused> {
    if !input.is_c {
        return Ok(seen.file.text(span).into_owned());
    }
    let others: Vec<&Unit> =
        input.headers.iter().filter(|one| !std::ptr::eq(one.unit, seen.unit)).map(|one| one.unit).collect();
    let macros: Vec<&Define> = input.files().flat_map(|seen| &seen.scan.defines).collect();
    let others = Others { units: &others, ..Others::default() };
    let symbols = Symbols::new(seen.unit, &seen.file.bytes, others, &macros);
    let there = Input { source: *seen, symbols: &symbols, bound: &[], ..*input };
    let mut edits = Edits::default();
    edit(&there, span, &mut edits)?;
    Ok(edits.render(seen.file, span, 0)?)
}

/// The declaration of a constant at file scope, without its words of storage.
pub fn constant(input: &Input, seen: &Seen, span: Span) -> String {
    let mut edits = Edits::default();
    heads::remove_storage(seen, span, &mut edits);
    if input.is_c {
        let others: Vec<&Unit> =
            input.files().filter(|one| !std::ptr::eq(one.unit, seen.unit)).map(|one| one.unit).collect();
        let chosen = chosen(input);
        let types = CTypes {
            file: seen.file,
            unit: seen.unit,
            headers: &others,
            symbols: input.symbols,
            chosen: &chosen,
        };
        let mut own = edits.clone();
        let place = Place { input, types, span };
        // What cannot be said otherwise, the compiler refuses.
        if enums::in_code(input, seen, span, &mut own).is_ok() && initialisers::edit(&place, &mut own).is_ok()
        {
            edits = own;
        }
    }
    edits.render(seen.file, span, 0).unwrap_or_else(Overlap::line).trim().to_owned()
}

/// That the code has nothing that C++ has no form for.
fn possible(place: &Place) -> Result<(), Refused> {
    let unit = place.types.unit;
    if let Some(generic) = inside(&unit.forms.generic, place.span).next() {
        return Err(refused(*generic, "`_Generic`"));
    }
    if let Some(literal) = inside(&unit.forms.literals, place.span).find(|one| one.is_array) {
        return Err(refused(literal.span, "an array that is a compound literal"));
    }
    for decl in unit.decls_in(place.span).filter(|decl| decl.kind == DeclKind::Variable) {
        let is_array = decl.derived.iter().any(|part| matches!(part, Derived::Array(Some(_))));
        let symbol = place.types.symbols.lookup(&decl.name, decl.name_span.end);
        let is_own = symbol.is_some_and(|symbol| {
            let known = place.types.symbols.get(symbol);
            known.decl.is_some_and(|known| unit.decl(known).name_span == decl.name_span)
                && has_variable_length(unit, place.types.symbols, symbol)
                && !has_constants(place, decl)
        });
        if is_array && is_own {
            return Err(refused(
                decl.name_span,
                "an array that device code declares with a run-time value as its size",
            ));
        }
    }
    if let Some(at) = variable_type(place) {
        return Err(refused(at, "a type of arrays with a run-time value as their size"));
    }
    Ok(())
}

/// A name of a type, a cast, or a `sizeof` in the code that is about arrays whose size is not a constant.
fn variable_type(place: &Place) -> Option<Span> {
    let unit = place.types.unit;
    let typedefs = unit.decls_in(place.span).filter(|decl| decl.kind == DeclKind::Typedef);
    let mut named = typedefs.filter(|decl| !has_constants(place, decl)).map(|decl| decl.name_span);
    let is_variable = |at: &Span, text: &str| {
        let sizes = text.split('[').skip(1).filter_map(|rest| rest.split(']').next());
        sizes.flat_map(source::names).any(|name| !is_constant(place, name, at.start))
    };
    named.next().or_else(|| {
        let types = unit.exprs_in(place.span).filter_map(|expr| match &expr.kind {
            ExprKind::Cast { to, .. } => Some((expr.span, to.clone())),
            ExprKind::Opaque(_) => {
                let text = place.input.file().text(expr.span).into_owned();
                text.starts_with("sizeof").then_some((expr.span, text))
            }
            _ => None,
        });
        types.filter(|(at, text)| is_variable(at, text)).map(|(at, _)| at).next()
    })
}

/// Whether the sizes of an array are constants to C++.
fn has_constants(place: &Place, decl: &crate::host::ir::Decl) -> bool {
    let names = sizes::names(place.types.unit, sizes::of(decl));
    names.into_iter().all(|(name, at)| is_constant(place, name, at.start))
}

/// Whether a name is that of a constant to C++, to which a `const` integer is one that begins with a number.
fn is_constant(place: &Place, name: &str, at: u32) -> bool {
    let (unit, symbols) = (place.types.unit, place.types.symbols);
    let symbol = symbols.lookup(name, at).map(|id| symbols.get(id));
    let known = symbol.and_then(|symbol| symbol.decl).map(|id| unit.decl(id));
    let begins = known.and_then(|known| known.init).map(|init| &unit.expr(init).kind);
    let is_number = matches!(begins, Some(ExprKind::Int(_)));
    let is_name = symbol.is_none_or(|symbol| symbol.kind == SymbolKind::Constant);
    is_name || is_number && known.is_some_and(|known| known.is_const)
}
