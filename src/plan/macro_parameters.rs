//! Parameters that are declared by macros, as `double ROW(x, 32)`: the grammar does not see what they are. A clause that names
//! one by its name alone would map a pointer, and not its elements.
//!
//! Invariant: an item becomes the section that the macro's text says, or the author is reported.

use crate::acc::ast::{ClauseKind, DataClause, Expr, ListItem, PathStep, Subscript};
use crate::bind::Bound;
use crate::diag::{self, Diag};
use crate::host::ir::{Function, Unit};
use crate::sema::Symbols;
use crate::source::{SourceFile, Span};

/// Names the elements of parameters that macros declare, in clauses about data.
pub fn sections_of_parameters(
    file: &SourceFile,
    unit: &Unit,
    symbols: &Symbols,
    mut bound: Vec<Bound>,
) -> (Vec<Bound>, Vec<Diag>) {
    let mut diags = Vec::new();
    if unit.is_fortran() {
        return (bound, diags);
    }
    for one in &mut bound {
        let Some(function) = one.function.map(|id| unit.function(id)) else { continue };
        let head = Span { start: function.name_span.end, end: unit.stmt(function.body).span.start };
        let head = file.text(head);
        for clause in &mut one.directive.clauses {
            let list = match &mut clause.kind {
                ClauseKind::Data(DataClause::Deviceptr, _) => continue,
                ClauseKind::Data(_, list) | ClauseKind::UpdateSelf(list) | ClauseKind::UpdateDevice(list) => {
                    list
                }
                _ => continue,
            };
            for item in list.iter_mut().filter(|item| item.parts.is_empty()) {
                if is_declared(unit, function, &item.base.text) {
                    continue;
                }
                let Some((name, args)) = call(&head, &item.base.text) else { continue };
                match sizes(symbols, name, &args, &item.base.text) {
                    Some(sizes) => take(item, &sizes),
                    None if symbols.lookup(&item.base.text, item.span.start).is_none() => {
                        diags.push(diag::parameter_of_macro(item.span, &item.text, name));
                    }
                    // A variable from outside of the function, which the size of a parameter names.
                    None => {}
                }
            }
        }
    }
    (bound, diags)
}

fn is_declared(unit: &Unit, function: &Function, name: &str) -> bool {
    function.params.iter().any(|param| unit.decl(*param).name == name)
}

/// Makes an item the section of these sizes.
fn take(item: &mut ListItem, sizes: &[String]) {
    let expr = |text: &str| Expr { text: text.to_owned(), span: item.span };
    let range =
        |size: &String| Subscript::Range { first: Some(expr("0")), second: Some(expr(size)), stride: None };
    let parts = sizes.iter().map(|size| PathStep::Section(vec![range(size)])).collect();
    item.parts = parts;
    item.text = item.text.trim_end().to_owned();
    sizes.iter().for_each(|size| item.text += &format!("[0:{size}]"));
}

/// The call of a macro in the head of a function that has `name` for an argument, and its arguments.
fn call<'a>(head: &'a str, name: &str) -> Option<(&'a str, Vec<&'a str>)> {
    let mut at = 0;
    while let Some(word) = next_word(head, at) {
        at = word.1;
        let after = head[at..].trim_start();
        let Some(inside) = after.strip_prefix('(').and_then(|_| group(after, '(', ')')) else { continue };
        at = head.len() - after.len() + inside.len() + 2;
        let args = arguments(inside);
        if args.contains(&name) {
            return Some((&head[word.0..word.1], args));
        }
    }
    None
}

/// Where the next identifier from `at` on begins and ends.
fn next_word(text: &str, at: usize) -> Option<(usize, usize)> {
    let is_inner = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let start = at + text[at..].find(is_inner)?;
    let length = text[start..].find(|char| !is_inner(char)).unwrap_or(text.len() - start);
    Some((start, start + length))
}

/// What stands in the brackets that a text begins with.
fn group(text: &str, open: char, close: char) -> Option<&str> {
    let mut depth = 0usize;
    for (at, char) in text.char_indices() {
        if char == open {
            depth += 1;
        } else if char == close {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(&text[open.len_utf8()..at]);
            }
        }
    }
    None
}

fn arguments(inside: &str) -> Vec<&str> {
    let (mut args, mut depth, mut start) = (Vec::new(), 0usize, 0);
    for (at, char) in inside.char_indices() {
        match char {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                args.push(inside[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    args.push(inside[start..].trim());
    args
}

/// The sizes of the array that a macro declares with these arguments; `None` if it declares something else.
fn sizes(symbols: &Symbols, macro_name: &str, args: &[&str], name: &str) -> Option<Vec<String>> {
    let (params, body) = symbols.macro_of(macro_name)?;
    if params.len() != args.len() || body.contains('#') {
        return None;
    }
    let text = filled(body.trim(), params, args);
    let mut rest = after_name(&text, name)?.trim_start();
    let mut sizes = Vec::new();
    while !rest.is_empty() {
        let size = group(rest, '[', ']').filter(|_| rest.starts_with('['))?;
        rest = rest[size.len() + 2..].trim_start();
        let words = size.split(|char: char| !char.is_ascii_alphanumeric() && char != '_');
        let is_qualified =
            words.into_iter().any(|word| matches!(word, "static" | "restrict" | "const" | "volatile"));
        if is_qualified || size.trim().is_empty() || size.trim() == "*" {
            return None;
        }
        sizes.push(size.trim().to_owned());
    }
    (!sizes.is_empty()).then_some(sizes)
}

/// What stands after the name that a declaration declares, if nothing but a type stands before it.
fn after_name<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut at = 0;
    while let Some((start, end)) = next_word(text, at) {
        if &text[start..end] == name {
            let is_plain = |char: char| char.is_alphanumeric() || char == '_' || char.is_whitespace();
            return text[..start].chars().all(is_plain).then(|| &text[end..]);
        }
        at = end;
    }
    None
}

/// A macro's body with its arguments in place of its parameters.
fn filled(body: &str, params: &[String], args: &[&str]) -> String {
    let (mut text, mut at) = (String::new(), 0);
    while let Some((start, end)) = next_word(body, at) {
        text.push_str(&body[at..start]);
        let word = &body[start..end];
        let place = params.iter().position(|param| param == word);
        text.push_str(place.map_or(word, |place| args[place]));
        at = end;
    }
    text + &body[at..]
}

#[cfg(test)]
mod tests;
