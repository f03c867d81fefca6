//! Types and constants that functions declare: kernels are outside of the functions.
//!
//! Invariant: what the device file has of them means there what it means in the function.

use std::collections::BTreeSet;

use crate::cuda::code::text::{placed_words, words};
use crate::cuda::program::{Input, Seen, defines, functions, sizes, uses};
use crate::host::apart;
use crate::host::ir::{Decl, DeclKind, Stmt, StmtId, StmtKind};
use crate::source::Span;

/// A type or a constant of a function.
#[derive(Clone, Copy, Debug)]
pub struct Own<'a> {
    /// Its name, as the source writes it.
    pub name: &'a str,
    /// Its definition.
    pub span: Span,
    /// No other definition of the name in the file is another one.
    is_same: bool,
    /// It is a class or an enumeration, and no name for a type.
    pub is_tag: bool,
}

/// Those that are declared before some code in the function around it, where the code sees them.
pub fn around<'a>(seen: &Seen<'a>, code: Span) -> Vec<Own<'a>> {
    let unit = seen.unit;
    let Some(function) = unit.function_around(code) else { return Vec::new() };
    let typedefs = unit.decls_in(function.span).filter(|decl| is_definition(decl));
    let typedefs = typedefs.map(|decl| (decl.name.as_str(), decl.span, false));
    let records = unit.records.iter().filter_map(|one| Some((one.tag.as_deref()?, one.span, true)));
    let enums = unit.forms.enums.iter().filter(|one| one.is_definition);
    let enums = enums.filter_map(|one| Some((one.tag.as_deref()?, one.span, true)));
    let classes = unit.stmts_in(function.span).filter_map(|stmt| Some((class(seen, stmt)?, stmt.span, true)));
    let all = typedefs.chain(records).chain(enums).chain(classes);
    let is_before =
        |span: Span| function.span.contains(span) && span.start < code.start && !code.contains(span);
    let is_seen = |span: Span| apart::scope(unit, span).is_none_or(|scope| scope.contains(code));
    let all = all.filter(|(_, span, _)| is_before(*span) && is_seen(*span));
    let own = all.map(|(name, span, is_tag)| {
        let is_same = !apart::is_apart(name);
        Own { name: apart::written(name), span, is_same, is_tag }
    });
    own.collect()
}

/// The name of a class with functions that a statement defines.
fn class<'a>(seen: &Seen<'a>, stmt: &Stmt) -> Option<&'a str> {
    if !matches!(stmt.kind, StmtKind::Opaque(_)) {
        return None;
    }
    // What is in it may be of another encoding.
    let head = seen.scan.shadow.get(stmt.span.range())?.split(|byte| *byte == b'{').next()?;
    let mut words = words(str::from_utf8(head).ok()?).into_iter();
    words.next().filter(|word| ["struct", "class", "union"].contains(word))?;
    words.next()
}

fn is_definition(decl: &Decl) -> bool {
    matches!(decl.kind, DeclKind::Typedef | DeclKind::Enumerator)
}

/// Whether a definition in a function can stand at file scope: its name means nothing else there, and it needs nothing else
/// that only the function knows.
pub fn is_free(seen: &Seen, name: &str, span: Span) -> bool {
    let unit = seen.unit;
    let Some(function) = unit.function_around(span) else { return true };
    functions::is_plain_in(seen, function)
        && !apart::may_have_functions(seen.file, unit, span)
        && is_alone(seen, name, span)
        && !needs_variables(seen, span)
}

/// Whether a name stands for nothing but one definition, or several of one text.
fn is_alone(seen: &Seen, name: &str, span: Span) -> bool {
    let unit = seen.unit;
    let text = seen.file.text(span);
    let is_constant = unit.enumerators_named(name).next().is_some();
    let differs = |decl: &Decl| match decl.kind {
        // Members have a name space of their own (C17, 6.2.3).
        DeclKind::Member => false,
        DeclKind::Typedef | DeclKind::Enumerator => seen.file.text(decl.span) != text,
        DeclKind::Parameter => is_constant,
        DeclKind::Variable => is_constant || unit.function_around(decl.span).is_none(),
        DeclKind::Prototype => true,
    };
    let is_tag = || unit.records_named(name).any(|record| record.span == span);
    let mut others = unit.decls_named(name).filter(|decl| differs(decl));
    unit.functions_named(name).next().is_none() && (is_tag() && !unit.is_cpp() || others.next().is_none())
}

/// Whether a definition names variables, or calls functions.
fn needs_variables(seen: &Seen, span: Span) -> bool {
    let unit = seen.unit;
    let text = seen.code(span);
    let own: BTreeSet<&str> = unit.decls_with_names_in(span).map(|decl| decl.name.as_str()).collect();
    let is_variable = |word: &str| {
        let function = unit.function_around(span);
        let is_seen = |decl: &Decl| match (decl.kind, unit.function_around(decl.span)) {
            (DeclKind::Variable, None) => !decl.is_const,
            (DeclKind::Variable | DeclKind::Parameter, around) => {
                around.map(|one| one.span) == function.map(|one| one.span)
            }
            _ => false,
        };
        unit.functions_named(word).next().is_some() || unit.decls_named(word).any(is_seen)
    };
    placed_words(&text).into_iter().any(|(at, word)| {
        let before = text[..at].trim_end();
        let is_part = before.ends_with('.') || before.ends_with("->") || before.ends_with("::");
        let is_tag = ["struct", "union", "enum"].iter().any(|keyword| before.ends_with(keyword));
        ["auto", "this"].contains(&word) || !is_part && !is_tag && !own.contains(word) && is_variable(word)
    })
}

/// A type or a constant of the function around a launch that the launch names, in its code, in macros or as the type of a
/// variable, and that the device file can have no copy of.
pub fn uncopied<'a>(input: &Input<'a>, index: usize, stmt: StmtId) -> Option<Own<'a>> {
    let span = input.stmt_span(stmt);
    let all = around(&input.source, span);
    if all.is_empty() {
        return None;
    }
    let mut texts = defines::reached(input, &input.source.code(span));
    texts.push(input.file().text(input.bound[index].directive.span).into_owned());
    for (symbol, _) in uses::outer(input, stmt) {
        let Some((seen, decl)) = input.declaration(symbol) else { continue };
        texts.push(seen.file.text(Span { start: decl.span.start, end: decl.name_span.start }).into_owned());
        texts.extend(sizes::of(decl).map(|size| seen.text(size)));
    }
    let mut known: BTreeSet<String> = BTreeSet::new();
    while let Some(text) = texts.pop() {
        for word in words(&text) {
            let named = all.iter().filter(|one| one.name == word);
            // What is declared last is what the code sees.
            let Some(own) = named.max_by_key(|one| one.span.start) else { continue };
            if !known.insert(word.to_owned()) {
                continue;
            }
            let is_elsewhere = || input.headers.iter().any(|seen| has_type(seen, word));
            if !own.is_same || !is_free(&input.source, word, own.span) || is_elsewhere() {
                return Some(*own);
            }
            texts.push(input.file().text(own.span).into_owned());
        }
    }
    None
}

/// Whether a file declares a type or a constant of a name.
fn has_type(seen: &Seen, name: &str) -> bool {
    let unit = seen.unit;
    unit.decls_named(name).any(is_definition) || unit.records_named(name).next().is_some()
}
