//! What of the program's types and constants the device file has a copy of.
//!
//! Invariant: a copy means what the original means; a constant has a value that nothing computes when the program runs.

use std::collections::BTreeSet;

use super::hosts;
use crate::acc::ast::ClauseKind;
use crate::cuda::code::text::{placed_words, words};
use crate::cuda::meaning;
use crate::cuda::program::{Input, Refused, Seen, defines, functions, qualified, refused, sizes};
use crate::cuda::types::{own, spelling};
use crate::host::forms::EnumSpecifier;
use crate::host::ir::{Decl, DeclKind, ExprId, ExprKind, StmtId};
use crate::plan;
use crate::sema::{Class, SymbolId, SymbolKind};
use crate::source::Span;

/// A constant at file scope.
#[derive(Clone, Copy, Debug)]
pub struct Constant<'a> {
    /// The number of its file: headers first.
    pub number: usize,
    seen: Seen<'a>,
    decl: &'a Decl,
    /// It is an integer, and so may be named wherever the language wants a constant.
    pub is_integer: bool,
}

impl<'a> Constant<'a> {
    /// Where it is declared, in its file.
    pub fn start(&self) -> u32 {
        self.decl.span.start
    }

    /// Its declaration as code of the host, or of the device; integers are the same for both.
    pub fn text(&self, input: &Input, for_device: bool) -> String {
        let text = meaning::constant(input, &self.seen, self.decl.span);
        let several =
            self.seen.unit.decls_in(self.decl.span).filter(|other| other.span == self.decl.span).count() > 1;
        let unused = if several { "[[maybe_unused]] " } else { "" };
        let place = if for_device && !self.is_integer { "__device__ " } else { "" };
        format!("{unused}static {place}{text}")
    }
}

/// The constant of this name at file scope, if its value can be read off its declaration.
pub fn constant<'a>(input: &Input<'a>, name: &str) -> Option<Constant<'a>> {
    early(input, name, false)
}

/// Whether a name is that of a constant number, in a namespace or not: nvcc knows its value.
pub fn is_number(input: &Input, name: &str) -> bool {
    early(input, name, true).is_some_and(|constant| constant.decl.derived.is_empty())
}

fn early<'a>(input: &Input<'a>, name: &str, anywhere: bool) -> Option<Constant<'a>> {
    let found = declared(input, name, anywhere)?;
    let mut pending = vec![found];
    let mut known: BTreeSet<(usize, u32)> = BTreeSet::new();
    while let Some(one) = pending.pop() {
        if !known.insert((one.number, one.start())) {
            continue;
        }
        let beside = one.seen.unit.decls_in(one.decl.span).filter(|other| other.span == one.decl.span);
        for decl in beside {
            if !is_arithmetic(input, one.seen, decl) {
                return None;
            }
            let mut names = Vec::new();
            if !is_computed_early(one.seen, decl.init?, &mut names) {
                return None;
            }
            for name in names {
                match declared(input, &name, anywhere) {
                    Some(other) => pending.push(other),
                    None if is_word_of_the_compiler(input, &name) => {}
                    None => return None,
                }
            }
        }
    }
    Some(found)
}

/// A variable at file scope that is `const`.
fn declared<'a>(input: &Input<'a>, name: &str, anywhere: bool) -> Option<Constant<'a>> {
    for (number, seen) in input.headers.iter().chain([&input.source]).enumerate() {
        let named = |decl: &&Decl| decl.kind == DeclKind::Variable && decl.name == name && decl.is_const;
        if !seen.unit.decls_named(name).any(|decl| named(&decl)) {
            continue;
        }
        let found = seen.unit.globals.iter().map(|id| seen.unit.decl(*id)).find(named);
        if let Some(decl) = found.filter(|decl| anywhere || !functions::in_namespace(seen, decl.span)) {
            let words = spelling::plain(input, *seen, decl).unwrap_or_default();
            let is_integer = decl.derived.is_empty() && !["float", "double"].contains(&words.as_str());
            return Some(Constant { number, seen: *seen, decl, is_integer });
        }
    }
    None
}

fn is_arithmetic(input: &Input, seen: Seen, decl: &Decl) -> bool {
    let head = seen.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    decl.is_const
        && decl.is_object()
        && spelling::plain(input, seen, decl).is_some()
        && !spelling::is_too_long(input, decl)
        && !words(&head).contains(&"volatile")
}

/// Whether an initialiser is made of numbers, and of names, which are added.
fn is_computed_early(seen: Seen, init: ExprId, names: &mut Vec<String>) -> bool {
    let mut pending = vec![init];
    while let Some(expr) = pending.pop() {
        let kind = &seen.unit.expr(expr).kind;
        match kind {
            ExprKind::Name(name) => names.push(name.clone()),
            ExprKind::Int(_)
            | ExprKind::Literal
            | ExprKind::Sizeof
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Conditional(..)
            | ExprKind::Cast { .. }
            | ExprKind::Index(..)
            | ExprKind::Initialiser(_) => {}
            _ => return false,
        }
        pending.extend(kind.children());
    }
    true
}

/// Whether a name is that of an enumerator, or of a macro of numbers.
fn is_word_of_the_compiler(input: &Input, name: &str) -> bool {
    let mut pending = vec![name.to_owned()];
    let mut known: BTreeSet<String> = BTreeSet::new();
    while let Some(name) = pending.pop() {
        if !known.insert(name.clone()) {
            continue;
        }
        if let Some(define) = defines::define(input, &name) {
            pending.extend(words(&define.body).into_iter().map(str::to_owned));
            continue;
        }
        let mut all =
            input.headers.iter().chain([&input.source]).flat_map(|seen| seen.unit.decls_named(&name));
        let is_number =
            ["true", "false", "int", "long", "unsigned", "double", "float"].contains(&name.as_str());
        if !is_number && !all.any(|decl| decl.kind == DeclKind::Enumerator) {
            return false;
        }
    }
    true
}

/// The constants that a construct names where C++ wants one: in sizes of its arrays and of those that it makes private, in
/// `case`s, and in sizes of tiles.
pub fn bounds(input: &Input, index: usize, stmt: StmtId) -> BTreeSet<SymbolId> {
    let (unit, span) = (input.unit(), input.stmt_span(stmt));
    let mut found: BTreeSet<SymbolId> = tiles(input, index, stmt).into_iter().collect();
    let named = sizes::names(unit, unit.decls_in(span).flat_map(sizes::of));
    found.extend(named.into_iter().filter_map(|(name, at)| input.symbols.lookup(name, at.start)));
    let text = input.file().text(span);
    let labels = placed_words(&text).into_iter().filter(|(at, _)| {
        let path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        text[..*at].trim_end_matches(path).trim_end().ends_with("case")
    });
    found.extend(labels.filter_map(|one| qualified::symbol_of(input, &text, one, span.start)));
    for at in inside(input, index, stmt) {
        let place = input.bound[at].directive.span.start;
        let private = input.clauses(at).filter(|kind| {
            matches!(kind, ClauseKind::Private(_) | ClauseKind::Firstprivate(_) | ClauseKind::Reduction(..))
        });
        for item in private.flat_map(plan::list) {
            let array = input.symbols.lookup(item.variable(), place);
            let Some((seen, decl)) = array.and_then(|array| input.declaration(array)) else { continue };
            let named = sizes::names(seen.unit, sizes::of(decl)).into_iter();
            found.extend(named.filter_map(|(name, _)| input.symbols.lookup(name, decl.span.start)));
        }
    }
    let is_outer = |symbol: SymbolId| !span.contains(input.symbols.get(symbol).scope);
    found.retain(|at| is_variable(input, *at) && input.symbols.get(*at).is_const && is_outer(*at));
    found
}

/// The variables in the sizes of the tiles of a construct.
pub fn tiles(input: &Input, index: usize, stmt: StmtId) -> Vec<SymbolId> {
    let mut found = Vec::new();
    for at in inside(input, index, stmt) {
        for kind in input.clauses(at) {
            let ClauseKind::Tile(sizes) = kind else { continue };
            for size in sizes {
                let named = |one| qualified::symbol_of(input, &size.text, one, size.span.start);
                found.extend(placed_words(&size.text).into_iter().filter_map(named));
            }
        }
    }
    found.retain(|symbol| is_variable(input, *symbol));
    found
}

/// The directives of a construct.
fn inside(input: &Input, index: usize, stmt: StmtId) -> impl Iterator<Item = usize> {
    let span = input.stmt_span(stmt);
    (0..input.bound.len()).filter(move |at| *at == index || span.contains(input.bound[*at].directive.span))
}

fn is_variable(input: &Input, symbol: SymbolId) -> bool {
    let known = input.symbols.get(symbol);
    let is_shared = known.kind == SymbolKind::Static && !input.symbols.is_static_member(symbol);
    known.class == Class::Scalar
        && (is_shared || matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter))
}

/// Whether the device file has a copy of a constant.
pub fn is_copied(input: &Input, symbol: SymbolId) -> bool {
    let found = constant(input, &input.symbols.get(symbol).name);
    let declared = input.declaration(symbol);
    found.zip(declared).is_some_and(|(found, (_, decl))| found.is_integer && std::ptr::eq(found.decl, decl))
}

/// Whether what defines a type or an enumerator means the same in the device file: it stands at file scope, and so does all
/// that it names, and no directive stands in it.
pub fn is_portable(input: &Input, name: &str) -> bool {
    let mut pending = vec![name.to_owned()];
    let mut known: BTreeSet<String> = BTreeSet::new();
    while let Some(name) = pending.pop() {
        if !known.insert(name.clone()) {
            continue;
        }
        for seen in input.headers.iter().chain([&input.source]) {
            for span in definitions(seen, &name) {
                let before = seen.scan.shadow.get(..span.start as usize).unwrap_or_default();
                let is_template = before.trim_ascii_end().ends_with(b">");
                let in_function = seen.unit.function_around(span).is_some();
                if is_template
                    || holds_directive(seen, span)
                    || !in_function && functions::in_namespace(seen, span)
                    || !adds_portable(input, seen, span, &mut pending)
                {
                    return false;
                }
            }
        }
    }
    true
}

/// Whether functions of a class have directives in its definition: the host's copy has other code there.
fn holds_directive(seen: &Seen, span: Span) -> bool {
    let all = &seen.scan.directives;
    let after = all.partition_point(|one| one.span.start < span.start);
    all.get(after).is_some_and(|one| span.contains(one.span))
}

/// That a launch names no type and no constant of the function around it which the device file can have no copy of.
pub fn all_types(input: &Input, index: usize, stmt: StmtId) -> Result<(), Refused> {
    let Some(own) = own::uncopied(input, index, stmt) else { return Ok(()) };
    let what = format!("`{}`, a type or a constant that only this function knows,", own.name);
    Err(refused(own.span, &what))
}

/// Adds the names in a definition; false if one of them is not one that the device file has.
fn adds_portable(input: &Input, seen: &Seen, span: Span, pending: &mut Vec<String>) -> bool {
    let text = seen.file.text(span);
    let own: BTreeSet<&str> = {
        let inside = seen.unit.decls_with_names_in(span);
        let members = seen.unit.functions.iter().filter(|function| span.contains(function.name_span));
        inside.map(|decl| decl.name.as_str()).chain(members.map(|one| one.name.as_str())).collect()
    };
    for (at, word) in placed_words(&text) {
        let before = text[..at].trim_end();
        if before.ends_with("std::") {
            if !hosts::STANDARD.split_whitespace().any(|known| known == word) {
                return false;
            }
            continue;
        }
        let is_member = before.ends_with('.') || before.ends_with("->") || before.ends_with("::");
        if is_member || own.contains(word) {
            continue;
        }
        if is_hosts(input, word) {
            return false;
        }
        pending.push(word.to_owned());
    }
    true
}

/// Whether a name is that of a function, or of a variable without a copy.
fn is_hosts(input: &Input, name: &str) -> bool {
    let mut all = input.headers.iter().chain([&input.source]);
    all.any(|seen| {
        let in_class = |span: Span| seen.unit.records.iter().any(|record| record.span.contains(span));
        let is_function = seen.unit.functions_named(name).any(|one| one.member_of.is_none());
        let mut all = seen.unit.decls_named(name);
        let is_variable = |decl: &Decl| decl.kind == DeclKind::Variable && decl.name == name;
        let mut globals = seen.unit.globals.iter().map(|id| seen.unit.decl(*id));
        is_function
            || all.any(|decl| decl.kind == DeclKind::Prototype && !in_class(decl.span))
            || seen.unit.decls_named(name).any(is_variable)
                && globals.any(is_variable)
                && constant(input, name).is_none()
    })
}

/// The definitions of a type or an enumerator at file scope, or that of functions which can stand there.
pub fn definitions(seen: &Seen, word: &str) -> Vec<Span> {
    let unit = seen.unit;
    let is_type = |decl: &&Decl| matches!(decl.kind, DeclKind::Typedef | DeclKind::Enumerator);
    let named = unit.decls_named(word).filter(is_type).map(|decl| decl.span);
    let records = unit.records_named(word).map(|record| record.span);
    let is_enum = |one: &&EnumSpecifier| one.is_definition && one.tag.as_deref() == Some(word);
    // To C, the tag of an enumeration is that of an integer type.
    let enums = unit.forms.enums.iter().filter(|_| unit.is_cpp()).filter(is_enum).map(|one| one.span);
    let (own, mut found): (Vec<Span>, Vec<Span>) =
        named.chain(records).chain(enums).partition(|span| unit.function_around(*span).is_some());
    if found.is_empty() {
        found.extend(own.into_iter().find(|span| own::is_free(seen, word, *span)));
    }
    // A definition inside another declaration comes with it.
    let mut whole: Vec<Span> = found
        .iter()
        .map(|span| {
            let around =
                unit.decls.iter().filter(|decl| decl.kind == DeclKind::Typedef && decl.span.contains(*span));
            around.map(|decl| decl.span).max_by_key(|span| span.end - span.start).unwrap_or(*span)
        })
        .collect();
    whole.sort_by_key(|span| span.start);
    whole.dedup();
    whole
}
