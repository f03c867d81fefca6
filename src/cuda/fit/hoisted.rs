//! A construct where nvcc takes no device code, in a constructor, a destructor or a function whose result is `auto`: its launch is a
//! function before that one, which gets the variables by reference.
//!
//! Invariant: in the new function each name means what it means in the construct's place.

use super::{access, copied};
use crate::cuda::code::change::Change;
use crate::cuda::code::text::{columns, placed_words, words};
use crate::cuda::program::names::Names;
use crate::cuda::program::{Input, functions, uses};
use crate::host::ir::{DeclKind, Function, StmtId};
use crate::sema::SymbolKind;
use crate::source::Span;

/// Where the function goes, and what it is of.
#[derive(Clone, Copy)]
pub struct Home<'a> {
    function: &'a Function,
    /// The class that holds the definition of the function around the construct.
    class: Option<Span>,
}

/// Whether a construct has to be taken out of the function around it; an error tells why that cannot be.
pub fn home<'a>(input: &Input<'a>, index: usize, stmt: StmtId) -> Option<Result<Home<'a>, String>> {
    let unit = input.unit();
    let span = unit.stmt(stmt).span;
    let function = unit.function(input.bound[index].function?);
    let kind = access::enclosing(input, function)?;
    let left = |why: &str| Some(Err(format!("a construct in {kind}{why}")));
    if !access::is_liftable(input, function) {
        return left("");
    }
    let around = unit.records.iter().filter(|record| record.span.contains(function.span));
    let class = around.map(|record| record.span).min_by_key(|span| span.end - span.start);
    let is_member = function.member_of.is_some() && !is_in_plain_namespace(input, function);
    if is_member && class.is_none() && (input.object.is_some() || names_class(input, function, span)) {
        return left(" that is defined outside of its class, and names more of it than variables,");
    }
    if class.is_some_and(|class| access::is_hidden(input, class)) {
        return left(" of a class that is not known everywhere");
    }
    if names_own_types(input, function, (index, stmt)) {
        return left(", with types that only the function knows,");
    }
    Some(Ok(Home { function, class }))
}

/// Whether what a function's name is qualified with is not a class: that of a namespace around it.
fn is_in_plain_namespace(input: &Input, function: &Function) -> bool {
    let Some(of) = function.member_of.as_deref().map(functions::bare) else { return true };
    let mut seen_here = [&input.source].into_iter().chain(input.headers);
    let is_class = seen_here.any(|seen| seen.unit.records_named(of).next().is_some());
    let qualifier = Span { start: function.span.start, end: function.name_span.start };
    !is_class && !input.file().text(qualifier).trim_end().ends_with("::")
}

/// Whether code names what only the class knows, except variables: types, functions, what is static.
fn names_class(input: &Input, function: &Function, span: Span) -> bool {
    let of = function.member_of.as_deref().map(functions::bare).unwrap_or_default();
    let text = input.file().text(span);
    let text = words(&text);
    let mut seen_here = [&input.source].into_iter().chain(input.headers);
    seen_here.any(|seen| {
        seen.unit.records_named(of).any(|record| {
            let inside = |at: Span| record.span.contains(at) && record.span != at;
            seen.unit.decls.iter().any(|decl| {
                let is_of_class = match decl.kind {
                    DeclKind::Typedef | DeclKind::Enumerator | DeclKind::Prototype => true,
                    DeclKind::Member => decl.is_static,
                    DeclKind::Variable | DeclKind::Parameter => false,
                };
                is_of_class && inside(decl.span) && text.contains(&decl.name.as_str())
            }) || seen.unit.functions.iter().any(|one| inside(one.span) && text.contains(&one.name.as_str()))
                || seen
                    .unit
                    .records
                    .iter()
                    .any(|one| inside(one.span) && one.tag.as_deref().is_some_and(|tag| text.contains(&tag)))
        })
    })
}

/// Whether code names types, constants or parameters of templates that only the function around it knows.
fn names_own_types(input: &Input, function: &Function, (index, stmt): (usize, StmtId)) -> bool {
    let unit = input.unit();
    let span = unit.stmt(stmt).span;
    let head = input.file().text(Span { start: function.span.start, end: function.name_span.start });
    let params: Vec<&str> = match head.trim_start().strip_prefix("template") {
        Some(rest) => {
            let mut depth = 0;
            let end = rest.char_indices().find(|(_, c)| {
                depth += i32::from(*c == '<') - i32::from(*c == '>');
                *c == '>' && depth == 0
            });
            words(&rest[..end.map_or(rest.len(), |(at, _)| at)])
        }
        None => Vec::new(),
    };
    let keywords = ["class", "typename", "int", "unsigned", "long", "bool", "size_t", "std"];
    let text = input.file().text(span);
    let is_own_type = |word: &str| {
        let is_inside = |at: Span| function.span.contains(at) && !span.contains(at);
        let is_type = |kind: DeclKind| matches!(kind, DeclKind::Typedef | DeclKind::Enumerator);
        unit.decls_named(word).any(|decl| is_type(decl.kind) && is_inside(decl.name_span))
            || unit.records_named(word).any(|record| is_inside(record.span))
    };
    let mut bounds = copied::bounds(input, index, stmt).into_iter();
    words(&text)
        .into_iter()
        .any(|word| is_own_type(word) || params.contains(&word) && !keywords.contains(&word))
        || bounds.any(|symbol| input.symbols.get(symbol).kind == SymbolKind::Local)
}

/// A function that holds a launch.
#[derive(Clone, Debug)]
pub struct Hoisted {
    place: u32,
    /// What stands at the place, if it is in a class and not public.
    access: Option<&'static str>,
    text: String,
}

/// The function for a launch whose block has these lines, and the call.
pub fn function(input: &Input, home: &Home, name: &str, stmt: StmtId, lines: &[String]) -> (Hoisted, String) {
    let (file, function) = (input.file(), home.function);
    let mut text = lines.join("\n");
    if home.class.is_none() {
        text = text.replace("this->", "");
    }
    let mut arguments: Vec<&str> = Vec::new();
    for (at, word) in placed_words(&text) {
        let before = text[..at].trim_end();
        let is_part = before.ends_with('.') || before.ends_with("->") || before.ends_with("::");
        if !is_part && !arguments.contains(&word) && is_variable(input, home, stmt, word) {
            arguments.push(word);
        }
    }
    // Macros have names, too.
    for (symbol, _) in uses::outer(input, stmt) {
        let name = input.symbols.get(symbol).name.as_str();
        if !arguments.contains(&name) && is_variable(input, home, stmt, name) {
            arguments.push(name);
        }
    }
    let mut names = Names::of(&file.text(Span { start: 0, end: file.bytes.len() as u32 }));
    let types: Vec<String> = arguments.iter().map(|argument| names.fresh(&type_name(argument))).collect();
    let mut head = Vec::new();
    if !types.is_empty() {
        let params: Vec<String> = types.iter().map(|one| format!("typename {one}")).collect();
        head.push(format!("template <{}>", params.join(", ")));
    }
    let params: Vec<String> =
        types.iter().zip(&arguments).map(|(one, argument)| format!("{one} &{argument}")).collect();
    let (before, after) = specifiers(input, home);
    head.push(format!("{before}void {name}({}){after}", params.join(", ")));
    let indent = " ".repeat(columns(file, function.span.start));
    let lines = head.iter().map(String::as_str).chain(text.lines());
    let text = lines.map(|line| format!("{}\n", format!("{indent}{line}").trim_end())).collect();
    let access = home.class.map(|class| access::at(&input.source, class, function.span.start));
    let access = access.filter(|access| *access != "public");
    let place = above(input, function.span.start);
    (Hoisted { place, access, text }, format!("{name}({});", arguments.join(", ")))
}

/// The changes that add functions: one for each place, by the number of the directive that it goes with.
pub fn added(all: &[(usize, Hoisted)]) -> Vec<(usize, Change)> {
    let mut changes = Vec::new();
    for (at, (index, one)) in all.iter().enumerate() {
        if all[..at].iter().any(|(_, other)| other.place == one.place) {
            continue;
        }
        let here = all.iter().filter(|(_, other)| other.place == one.place);
        let mut text: String = here.map(|(_, other)| format!("{}\n", other.text)).collect();
        if let Some(access) = one.access {
            text = format!("public:\n{text}{access}:\n");
        }
        changes.push((*index, Change::Text(Span { start: one.place, end: one.place }, text)));
    }
    changes
}

/// What stands before and after the head of the new function.
fn specifiers(input: &Input, home: &Home) -> (&'static str, &'static str) {
    let Home { function, class } = home;
    let part = |start: u32, end: u32| input.file().text(Span { start, end }).into_owned();
    let head = part(function.span.start, function.name_span.start);
    let tail = part(function.name_span.end, input.unit().stmt(function.body).span.start);
    let tail = tail.rsplit_once(')').map_or("", |(_, tail)| tail);
    let before = if class.is_none() || words(&head).contains(&"static") { "static " } else { "" };
    let is_const = class.is_some() && words(tail).contains(&"const");
    (before, if is_const { " const" } else { "" })
}

/// Whether a word is the name of a variable of the function, at the construct, or of the object, if the new function is not
/// a member.
fn is_variable(input: &Input, home: &Home, stmt: StmtId, word: &str) -> bool {
    let function = home.function;
    let span = input.unit().stmt(stmt).span;
    let Some(symbol) = input.symbols.lookup(word, span.start) else { return false };
    let known = input.symbols.get(symbol);
    if known.kind == SymbolKind::Member {
        return home.class.is_none();
    }
    let is_kind = matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter | SymbolKind::Static);
    is_kind && function.span.contains(known.scope) && !span.contains(known.scope)
}

/// A name for the type of a variable: `LengthType` for `length`.
fn type_name(variable: &str) -> String {
    let mut all = variable.chars();
    let first = all.next().map(|c| c.to_ascii_uppercase());
    format!("{}{}Type", first.unwrap_or('T'), all.as_str())
}

/// The start of the line of `offset`, or of the comments directly above it.
fn above(input: &Input, offset: u32) -> u32 {
    let file = input.file();
    let mut line = file.lines.line(offset);
    let is_first = file.text(Span { start: file.lines.span(line).start, end: offset }).trim().is_empty();
    if !is_first {
        return offset;
    }
    let is_comment = |at: usize| {
        let text = file.text(file.lines.span(at));
        let text = text.trim();
        text.starts_with("//") || text.starts_with("/*") || text.starts_with("* ") || text == "*/"
    };
    while line > 0 && is_comment(line - 1) {
        line -= 1;
    }
    file.lines.span(line).start
}
