//! Types of C and C++ as the device file writes them.
//!
//! Invariant: a type that cannot be written exactly is not one.

use super::{complex, enums, own};
use crate::cuda::code::text::words;
use crate::cuda::program::{Input, Refused, Seen, functions, refused};
use crate::host::ir::{BaseType, Decl, Derived};
use crate::host::{apart, forms};
use crate::source::Span;

/// Type names that the header of the run-time library knows.
const KNOWN: [&str; 16] = [
    "size_t",
    "ptrdiff_t",
    "bool",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "intptr_t",
    "uintptr_t",
    "intmax_t",
    "uintmax_t",
    "ssize_t",
];

/// The words of the type before the declarator: `double`, `struct particle`; in place, the language can be asked.
pub fn base(input: &Input, seen: Seen, decl: &Decl) -> Option<String> {
    let written = written(input, seen, decl);
    if !input.in_place || written.is_some() && decl.base != BaseType::Unknown {
        return written;
    }
    let text = seen.file.text(crate::source::Span { start: decl.span.start, end: decl.name_span.start });
    let is_complex = words(&text).iter().any(|word| word.contains("_Complex") || *word == "__complex__");
    if is_complex || is_too_long(input, decl) {
        return None;
    }
    let is_object = decl.derived.iter().all(|part| *part == Derived::Reference);
    let class = if is_object { "Value" } else { "Element" };
    Some(format!("acc2omp::{class}<decltype({})>", decl.name))
}

/// The type as the source writes it, if it means the same elsewhere.
pub fn written(input: &Input, seen: Seen, decl: &Decl) -> Option<String> {
    if is_local(seen, decl) || is_too_long(input, decl) || is_reference(input, decl) {
        return None;
    }
    match (complex::part(input, seen, decl), &decl.base) {
        (None, _) => {}
        (Some("long double"), _) => return None,
        (Some(_), _) if input.in_place => return None,
        (Some(_), BaseType::Named(name)) if name != "complex" => return Some(name.clone()),
        (Some(part), _) => return Some(complex::class(part)),
    }
    match &decl.base {
        BaseType::Builtin(words) if words == "_Bool" => Some("bool".to_owned()),
        BaseType::Builtin(words) => Some(words.clone()),
        BaseType::Void => Some("void".to_owned()),
        BaseType::Named(name) if input.is_c && *name == decl.name => {
            let mut known = std::iter::once(&input.source).chain(input.headers);
            known.find_map(|seen| tag_of(seen, name))
        }
        BaseType::Named(name) => Some(name.clone()),
        BaseType::Tagged(tag) => Some(tagged(seen, decl, tag)),
        BaseType::Record(id) => seen.unit.record(*id).tag.as_ref().map(|tag| tagged(seen, decl, tag)),
        BaseType::Enum => {
            if input.is_c {
                return enums::of_decl(input, &seen, decl).map(str::to_owned);
            }
            let text = seen.file.text(Span { start: decl.span.start, end: decl.name_span.start });
            let all = words(&text);
            let at = all.iter().position(|word| *word == "enum")?;
            Some(all.get(at + 1).map_or("int".to_owned(), |tag| (*tag).to_owned()))
        }
        BaseType::Unknown => None,
    }
}

/// The definitions of a type name in a file.
pub fn typedefs<'a>(seen: &Seen<'a>, name: &str) -> impl Iterator<Item = &'a Decl> + use<'a> {
    seen.unit.typedefs_named(name)
}

/// Whether the type is one that the device has in no such size, through type names.
pub fn is_too_long(input: &Input, decl: &Decl) -> bool {
    let mut base = &decl.base;
    for _ in 0..16 {
        match base {
            BaseType::Builtin(words) => return words.contains("long double"),
            BaseType::Named(name) => {
                let known = std::iter::once(&input.source).chain(input.headers);
                let Some(typedef) = known.flat_map(|seen| typedefs(seen, name)).next() else { return false };
                base = &typedef.base;
            }
            _ => return false,
        }
    }
    false
}

/// That the code in `span` computes with no `long double`, which the device would take for `double`.
pub fn none_too_long(input: &Input, span: Span) -> Result<(), Refused> {
    let unit = input.unit();
    let is_long = |decl: &&Decl| is_too_long(input, decl);
    let text = input.file().text(span);
    let is_said = || words(&text).windows(2).any(|two| two == ["long", "double"]);
    let at = match unit.decls_in(span).find(is_long) {
        Some(decl) => decl.name_span,
        None if is_said() || has_long_number(&text) => Span { start: span.start, end: span.start + 1 },
        None => return Ok(()),
    };
    Err(refused(at, "arithmetic in `long double`, which the device does not have,"))
}

/// Whether a text has a floating-point number of the type `long double`: `1.5L`.
fn has_long_number(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '.' || c == '_';
    text.split(|c| !is_part(c)).any(|word| {
        word.ends_with(['l', 'L'])
            && word.trim_start_matches('.').starts_with(|c: char| c.is_ascii_digit())
            && !word.starts_with("0x")
            && word.contains(['.', 'e', 'E'])
    })
}

/// Whether a function declares the type, and the device file can have no copy of it.
fn is_local(seen: Seen, decl: &Decl) -> bool {
    let unit = seen.unit;
    let is_own = |name: &str, span: Span| {
        unit.function_around(span).is_some() && (apart::is_apart(name) || !own::is_free(&seen, name, span))
    };
    let name = match &decl.base {
        BaseType::Named(name) | BaseType::Tagged(name) => name.as_str(),
        BaseType::Record(id) => {
            let record = unit.record(*id);
            return is_own(record.tag.as_deref().unwrap_or_default(), record.span);
        }
        BaseType::Builtin(_) | BaseType::Void | BaseType::Enum | BaseType::Unknown => return false,
    };
    let records = unit.records_named(name).map(|record| record.span);
    let mut known = records.chain(typedefs(&seen, name).map(|decl| decl.span)).peekable();
    known.peek().is_some() && known.all(|span| is_own(name, span))
}

/// A tag with its `struct` or `union`, where one is written: a variable may have the same name.
fn tagged(seen: Seen, decl: &Decl, tag: &str) -> String {
    let text = seen.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    let all = words(&text);
    let keyword = all.iter().find(|word| ["struct", "union"].contains(*word));
    keyword.map_or(tag.to_owned(), |keyword| format!("{keyword} {tag}"))
}

/// The arithmetic type that a scalar's type stands for, in words that need no declaration of the program.
pub fn plain(input: &Input, seen: Seen, decl: &Decl) -> Option<String> {
    if complex::part(input, seen, decl).is_some() {
        return None;
    }
    let mut base_type = decl.base.clone();
    for _ in 0..16 {
        match &base_type {
            BaseType::Builtin(words) if words == "_Bool" => return Some("bool".to_owned()),
            BaseType::Builtin(words) => return Some(words.clone()),
            BaseType::Enum => return Some("int".to_owned()),
            BaseType::Named(name) if KNOWN.contains(&name.as_str()) => return Some(name.clone()),
            BaseType::Named(name) => {
                let typedef = std::iter::once(&input.source)
                    .chain(input.headers)
                    .find_map(|seen| typedefs(seen, name).next())?;
                if !typedef.derived.is_empty() {
                    return None;
                }
                base_type = typedef.base.clone();
            }
            _ => return None,
        }
    }
    None
}

/// The arithmetic type that a declaration names before its declarator, in words that C and C++ know without any header but
/// `<stddef.h>`, and whether it is `const`. `None` for what is `volatile`, an enumeration, or a `bool`, which C calls otherwise.
pub fn builtin(input: &Input, seen: Seen, decl: &Decl) -> Option<(String, bool)> {
    const WORDS: [&str; 8] = ["char", "short", "int", "long", "float", "double", "signed", "unsigned"];
    if complex::part(input, seen, decl).is_some() {
        return None;
    }
    let (mut seen, mut decl, mut is_const) = (seen, decl, false);
    for _ in 0..16 {
        let head = forms::specifiers(seen.file, decl);
        let head = words(&head);
        is_const |= head.contains(&"const") || head.contains(&"constexpr");
        if ["volatile", "_Atomic", "__attribute__"].iter().any(|word| head.contains(word)) {
            return None;
        }
        match &decl.base {
            BaseType::Builtin(text) => {
                let is_known =
                    words(text).iter().all(|word| WORDS.contains(word)) && !text.contains("long double");
                return is_known.then(|| (text.clone(), is_const));
            }
            BaseType::Named(name) => {
                let mut known = std::iter::once(&input.source).chain(input.headers);
                let typedef = known.find_map(|seen| Some((seen, typedefs(seen, name).next()?)));
                match typedef {
                    Some((there, typedef)) if typedef.derived.is_empty() => (seen, decl) = (*there, typedef),
                    None if name == "size_t" => return Some((name.clone(), is_const)),
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
    None
}

/// Whether a variable of C has a type without a name: that of an expression.
pub fn is_unnamed(input: &Input, decl: &Decl) -> bool {
    let is_auto = matches!(&decl.base, BaseType::Named(name) if name == "__auto_type");
    input.is_c && (is_auto || decl.base == BaseType::Unknown)
}

/// Whether the name of a type stands for a reference.
fn is_reference(input: &Input, decl: &Decl) -> bool {
    named(decl).is_some_and(|name| input.files().any(|seen| seen.unit.reference_types.contains(name)))
}

/// Why a variable that is reduced cannot be declared again by the name of its type; `None` if it can.
pub fn not_repeatable(input: &Input, decl: &Decl) -> Option<&'static str> {
    let mut base = &decl.base;
    for _ in 0..16 {
        let BaseType::Named(name) = base else { return None };
        let name = functions::bare(name);
        let mut known = std::iter::once(&input.source).chain(input.headers);
        let (seen, typedef) = known.find_map(|seen| Some((seen, typedefs(seen, name).next()?)))?;
        if typedef.derived.contains(&Derived::Reference) {
            return Some("a reduction of a variable whose type's name stands for a reference,");
        }
        let head = seen.file.text(Span { start: typedef.span.start, end: typedef.name_span.start });
        if words(&head).contains(&"volatile") {
            return Some("a reduction of a variable whose type's name stands for a `volatile` type,");
        }
        base = &typedef.base;
    }
    None
}

/// Whether the build may decide what a declaration's type is.
pub fn is_chosen(input: &Input, decl: &Decl) -> bool {
    let Some(choices) = input.choices else { return false };
    let mut name = match &decl.base {
        BaseType::Named(name) => name,
        _ => return false,
    };
    for _ in 0..16 {
        if choices.macros().any(|other| other == name) {
            return true;
        }
        let known = input.headers.iter().chain([&input.source]).enumerate();
        let mut found = known.filter_map(|(number, seen)| Some((number, typedefs(seen, name).next()?)));
        let Some((number, typedef)) = found.next() else { return false };
        if choices.is_chosen(&choices.place(number, typedef.span.start)) {
            return true;
        }
        match &typedef.base {
            BaseType::Named(inner) => name = inner,
            _ => return false,
        }
    }
    false
}

/// The name of a declaration's type, if it is one of the program's.
pub fn named(decl: &Decl) -> Option<&str> {
    match &decl.base {
        BaseType::Named(name) | BaseType::Tagged(name) => Some(functions::bare(name)),
        _ => None,
    }
}

/// What declares a variable of the type of a scalar or of a pointer, in front of its name; `None` for others.
pub fn value(input: &Input, seen: Seen, decl: &Decl) -> Option<String> {
    let base = base(input, seen, decl)?;
    match decl.derived.as_slice() {
        [] => Some(format!("{base} ")),
        [Derived::Pointer] => Some(format!("{base} *")),
        _ => None,
    }
}

/// The sizes of an array, in brackets.
pub fn sizes(seen: &Seen, decl: &Decl) -> String {
    let size = |part: &Derived| match part {
        Derived::Array(Some(size)) => Some(format!("[{}]", seen.text(*size))),
        _ => None,
    };
    decl.derived.iter().filter_map(size).collect()
}

/// How many pointers stand after the dimensions: one for `double *rows[8]`.
pub fn stars(decl: &Decl) -> usize {
    decl.derived.iter().skip(1).filter(|part| matches!(part, Derived::Pointer)).count()
        + usize::from(matches!(decl.derived.first(), Some(Derived::Pointer)))
}

/// Whether a name is a type's of which no definition says `struct` or `union`.
pub fn tag_of(seen: &Seen, name: &str) -> Option<String> {
    let decl = seen.unit.typedefs_named(name).next().filter(|decl| decl.derived.is_empty())?;
    let keyword = |tag: &str| {
        let mut records = seen.unit.records_named(tag);
        let is_union = records.next().is_some_and(|record| record.is_union);
        format!("{} {tag}", if is_union { "union" } else { "struct" })
    };
    match &decl.base {
        BaseType::Tagged(tag) => Some(keyword(tag)),
        BaseType::Record(id) => seen.unit.record(*id).tag.as_deref().map(keyword),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
