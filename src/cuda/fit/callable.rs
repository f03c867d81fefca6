//! What a construct calls through a variable: lambda expressions, objects with `operator()`, pointers to functions.
//!
//! Invariant: code that the device is to run is all in the file, and captures nothing that is the host's alone.

use std::collections::BTreeSet;

use super::hosts::STANDARD;
use super::{access, hosts};
use crate::acc::ast::{ClauseKind, DirectiveKind, ListItem};
use crate::cuda::code::text::{arguments, placed_words, words};
use crate::cuda::program::{Input, Refused, Seen, defines, functions, units};
use crate::diag;
use crate::host::ir::{BaseType, Decl, Derived, Expr, ExprId, ExprKind, Function, Record, StmtId};
use crate::sema::{Class, SymbolId, SymbolKind};
use crate::source::Span;

/// Why a call through a pointer means nothing on the device.
const POINTER: &str = "it is a pointer to a function, and leads to the host's";

/// Words that no code of the device has.
const HOSTS: [&str; 7] = ["throw", "try", "new", "delete", "static", "goto", "asm"];

/// The code that a construct runs through variables.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    /// The lambda expressions.
    pub lambdas: BTreeSet<Span>,
    /// Member functions `operator()`, by their number.
    pub functions: BTreeSet<usize>,
    met: BTreeSet<SymbolId>,
}

impl Reached {
    /// The code itself, and all that it reaches through variables.
    pub fn code(&self, input: &Input, within: Span) -> Vec<Span> {
        let unit = input.unit();
        let bodies = self.functions.iter().map(|at| unit.stmt(unit.functions[*at].body).span);
        std::iter::once(within).chain(self.lambdas.iter().copied()).chain(bodies).collect()
    }
}

/// Where the word goes that makes a lambda expression one of the device too: after its captures.
pub fn mark(input: &Input, lambda: Span) -> Option<u32> {
    Some(lambda.start + Lambda::of(&input.file().text(lambda))?.after as u32)
}

/// What the code in `within` calls through variables that are declared outside of it; else the diagnostic that tells why the
/// device cannot.
pub fn reached(input: &Input, at: Span, within: Span) -> Result<Reached, Refused> {
    let mut reached = Reached::default();
    let mut done: BTreeSet<Span> = BTreeSet::new();
    while let Some(span) = reached.code(input, within).into_iter().find(|span| !done.contains(span)) {
        done.insert(span);
        for (symbol, name) in called_variables(input, span) {
            callable(input, symbol, &mut reached)
                .map_err(|why| Box::new(diag::not_callable(at, &name, &why)))?;
        }
    }
    Ok(reached)
}

/// That a construct whose code goes to another file calls nothing through variables.
pub fn none(input: &Input, index: usize, stmt: StmtId) -> Result<(), Refused> {
    let span = input.unit().stmt(stmt).span;
    let at = input.bound[index].directive.span;
    let unit = input.unit();
    let through_member = |expr: &&Expr| match &expr.kind {
        ExprKind::Call { callee, .. } => matches!(unit.expr(*callee).kind, ExprKind::Member { .. }),
        _ => false,
    };
    let called = called_variables(input, span).into_iter().map(|(_, name)| name).next();
    let called = called.or_else(|| {
        let mut inside = unit.exprs_in(span);
        let call = inside.find(through_member).filter(|_| !unit.is_cpp())?;
        Some(input.file().text(call.span).split('(').next().unwrap_or_default().trim().to_owned())
    });
    match called {
        Some(name) => Err(Box::new(diag::not_callable(at, &name, POINTER))),
        None => Ok(()),
    }
}

/// Whether the code in `within` calls a variable that is declared outside of it.
pub fn calls_variable(input: &Input, within: Span) -> bool {
    !called_variables(input, within).is_empty()
}

/// The variables that the code in `within` calls, and that are declared outside of it.
fn called_variables(input: &Input, within: Span) -> Vec<(SymbolId, String)> {
    let unit = input.unit();
    let mut found = Vec::new();
    for expr in unit.exprs_in(within) {
        let ExprKind::Call { callee, .. } = &expr.kind else { continue };
        let ExprKind::Name(name) = &unit.expr(*callee).kind else { continue };
        let Some(symbol) = input.symbols.lookup(name, unit.expr(*callee).span.start) else { continue };
        let known = input.symbols.get(symbol);
        let is_variable = matches!(
            known.kind,
            SymbolKind::Local | SymbolKind::Parameter | SymbolKind::Static | SymbolKind::Member
        );
        if is_variable && !within.contains(known.scope) && defines::define(input, name).is_none() {
            found.push((symbol, name.clone()));
        }
    }
    found
}

/// Adds what a call of a variable runs.
fn callable(input: &Input, symbol: SymbolId, reached: &mut Reached) -> Result<(), String> {
    if !reached.met.insert(symbol) {
        return Ok(());
    }
    let Some((seen, decl)) = input.declaration(symbol) else {
        return Err("its declaration is not seen".to_owned());
    };
    if let Some(lambda) = decl.init.and_then(|init| lambda_at(seen, init)) {
        let is_local = input.symbols.get(symbol).kind == SymbolKind::Local;
        let head = seen.file.text(Span { start: decl.span.start, end: decl.name_span.start });
        return match is_local && words(&head).contains(&"auto") && decl.derived.is_empty() {
            true => add_lambda(input, lambda, reached),
            false if is_local => Err("it is a lambda expression of another type than `auto`".to_owned()),
            false => Err("it is a lambda expression outside of functions".to_owned()),
        };
    }
    let is_pointer = decl.derived.iter().any(|part| matches!(part, Derived::Function | Derived::Pointer));
    if is_pointer || input.symbols.get(symbol).class == Class::Pointer {
        return Err(POINTER.to_owned());
    }
    if let Some((function, position)) = template_parameter(input, decl) {
        return callers(input, function, position, reached);
    }
    match &decl.base {
        BaseType::Named(class) | BaseType::Tagged(class) => add_object(input, class, reached),
        _ => Err("its type is not seen".to_owned()),
    }
}

/// The lambda expression that an expression is.
fn lambda_at(seen: Seen, expr: ExprId) -> Option<Span> {
    let span = seen.unit.expr(expr).span;
    seen.unit.lambdas.iter().map(|(lambda, _)| *lambda).find(|lambda| *lambda == span)
}

/// The template whose parameter is declared so, with a type that its callers choose, and the place of the parameter.
fn template_parameter<'a>(input: &Input<'a>, decl: &Decl) -> Option<(&'a Function, usize)> {
    let unit = input.unit();
    let is_own = |function: &&Function| {
        function.params.iter().any(|param| unit.decl(*param).name_span == decl.name_span)
    };
    let function = unit.functions.iter().find(is_own)?;
    let position = function.params.iter().position(|param| unit.decl(*param).name_span == decl.name_span)?;
    let head = input.file().text(Span { start: function.span.start, end: function.name_span.start });
    let is_template_name = |name: &str| {
        let all = words(&head);
        let known = all.iter().position(|word| *word == "template");
        known.is_some_and(|at| {
            all[at..].windows(2).any(|two| ["class", "typename"].contains(&two[0]) && two[1] == name)
        })
    };
    match &decl.base {
        BaseType::Named(name) if is_template_name(name) => Some((function, position)),
        _ => None,
    }
}

/// Adds what the callers of a template give it as a parameter.
fn callers(input: &Input, function: &Function, position: usize, reached: &mut Reached) -> Result<(), String> {
    if units::header_ending(&input.file().name).is_some() {
        return Err("it is chosen by the files that include this header".to_owned());
    }
    let unit = input.unit();
    let mut is_called = false;
    for expr in &unit.exprs {
        let ExprKind::Call { callee, args } = &expr.kind else { continue };
        let name = match &unit.expr(*callee).kind {
            ExprKind::Name(name) | ExprKind::Member { name, .. } => name,
            _ => continue,
        };
        if name.rsplit("::").next() != Some(&function.name) {
            continue;
        }
        is_called = true;
        let Some(arg) = args.get(position) else {
            return Err("a caller leaves it out".to_owned());
        };
        argument(input, *arg, reached)?;
    }
    match is_called {
        true => Ok(()),
        false => Err("its type is chosen by callers that are not seen".to_owned()),
    }
}

/// Adds what an argument of a call runs, when it is called.
fn argument(input: &Input, arg: ExprId, reached: &mut Reached) -> Result<(), String> {
    let unit = input.unit();
    if let Some(lambda) = lambda_at(input.source, arg) {
        return add_lambda(input, lambda, reached);
    }
    let other = || "a caller gives it something else than a lambda expression or an object".to_owned();
    match &unit.expr(arg).kind {
        ExprKind::Name(name) => {
            let symbol = input.symbols.lookup(name, unit.expr(arg).span.start).ok_or_else(other)?;
            match input.symbols.get(symbol).kind {
                SymbolKind::Local | SymbolKind::Parameter => callable(input, symbol, reached),
                _ => Err(other()),
            }
        }
        ExprKind::Call { callee, .. } => match &unit.expr(*callee).kind {
            ExprKind::Name(class) => add_object(input, class, reached),
            _ => Err(other()),
        },
        _ => {
            let text = input.file().text(unit.expr(arg).span).into_owned();
            let class = text.split('{').next().unwrap_or_default().trim();
            add_object(input, class, reached).map_err(|_| other())
        }
    }
}

/// Adds what a call of an object of a class runs.
fn add_object(input: &Input, class: &str, reached: &mut Reached) -> Result<(), String> {
    let unit = input.unit();
    let class = functions::bare(class);
    let is_named = |record: &&Record| record.tag.as_deref() == Some(class);
    let Some(record) = unit.records.iter().find(is_named) else {
        let in_header = input.headers.iter().any(|seen| seen.unit.records.iter().any(|one| is_named(&one)));
        return match in_header && !hosts::is_hosts(input, "operator()") {
            true => Ok(()),
            false => Err("its class is not seen in this file".to_owned()),
        };
    };
    if words(&input.file().text(record.span)).contains(&"virtual") || !record.bases.is_empty() {
        return Err("its class has virtual functions, or a base".to_owned());
    }
    let is_local = unit.functions.iter().any(|function| function.span.contains(record.span));
    if is_local || access::is_hidden(input, record.span) {
        return Err("its class is not known everywhere".to_owned());
    }
    let is_call = |function: &Function| {
        let of = function.member_of.as_deref().map(functions::bare);
        function.name.replace(' ', "") == "operator()" && of == Some(class)
    };
    let calls: Vec<usize> = (0..unit.functions.len()).filter(|at| is_call(&unit.functions[*at])).collect();
    reached.functions.extend(&calls);
    match calls.is_empty() {
        true => Err("the file does not define its `operator()`".to_owned()),
        false => Ok(()),
    }
}

/// Adds a lambda expression, if the device can run it.
fn add_lambda(input: &Input, lambda: Span, reached: &mut Reached) -> Result<(), String> {
    if !reached.lambdas.insert(lambda) {
        return Ok(());
    }
    let unit = input.unit();
    let around = unit.lambdas.iter().any(|(other, _)| *other != lambda && other.contains(lambda));
    if around {
        return Err("it stands in another lambda expression".to_owned());
    }
    let function = unit.functions.iter().rev().find(|function| function.span.contains(lambda));
    if let Some(what) = function.and_then(|function| access::enclosing(input, function)) {
        return Err(format!("it stands in {what}"));
    }
    let text = input.file().text(lambda);
    let Some(parts) = Lambda::of(&text) else {
        return Err("it is written in a way that is not known".to_owned());
    };
    let specifiers = words(parts.specifiers);
    if specifiers.contains(&"mutable") {
        return Err("it changes what it has captured".to_owned());
    }
    if parts.is_template || parts.params.iter().any(|param| words(param).contains(&"auto")) {
        return Err("it is generic, and nvcc takes no such ones".to_owned());
    }
    for capture in &parts.captures {
        match *capture {
            "&" => return Err("it captures by reference".to_owned()),
            one if one.starts_with('&') => return Err("it captures by reference".to_owned()),
            "this" | "*this" => return Err("it captures the object".to_owned()),
            one if one.contains("...") => return Err("it captures a pack".to_owned()),
            one if one.contains(['=', '(', '{']) && one != "=" => {
                return Err(format!("`{one}` computes what it captures, and nvcc takes no such ones"));
            }
            _ => {}
        }
    }
    names(input, lambda, &text, &parts, reached)
}

/// Looks at every name in a lambda expression.
fn names(
    input: &Input,
    lambda: Span,
    text: &str,
    parts: &Lambda,
    reached: &mut Reached,
) -> Result<(), String> {
    let own: Vec<&str> = parts.params.iter().filter_map(|param| parameter_name(param)).collect();
    let takes_all = parts.captures.contains(&"=");
    let code = &text[parts.after..];
    for (at, word) in placed_words(code) {
        let before = code[..at].trim_end();
        if HOSTS.contains(&word) {
            return Err(format!("`{word}` is not for the device"));
        }
        if before.ends_with("std::") && !STANDARD.split(' ').any(|known| known == word) {
            return Err(format!("it names `std::{word}`"));
        }
        let is_member = before.ends_with('.') || before.ends_with("->") || before.ends_with("::");
        if is_member || own.contains(&word) {
            continue;
        }
        if word == "this" {
            return Err("it names the object".to_owned());
        }
        let Some(symbol) = input.symbols.lookup(word, lambda.start) else { continue };
        let known = input.symbols.get(symbol);
        let is_number = known.is_const && known.class == Class::Scalar && !known.is_floating;
        let has_value = || input.declaration(symbol).is_some_and(|(_, decl)| decl.init.is_some());
        match known.kind {
            SymbolKind::Member => return Err(format!("it names `{word}`, a member of the object")),
            SymbolKind::Static if is_number && has_value() => {}
            SymbolKind::Static => return Err(format!("it names `{word}`, a variable of the host")),
            SymbolKind::Local | SymbolKind::Parameter
                if (takes_all || parts.captures.contains(&word))
                    && !(takes_all && is_on_device(input, symbol, lambda)) =>
            {
                captured(input, symbol, word, reached)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a variable means an address on the device in a lambda expression: a `host_data` construct around it says so.
fn is_on_device(input: &Input, symbol: SymbolId, lambda: Span) -> bool {
    input.bound.iter().filter(|one| one.directive.kind == DirectiveKind::HostData).any(|one| {
        let holds = one.stmt().is_some_and(|stmt| input.stmt_span(stmt).contains(lambda));
        let lists = one.directive.clauses.iter().filter_map(|clause| match &clause.kind {
            ClauseKind::UseDevice(list) => Some(list),
            _ => None,
        });
        let is_named = |item: &ListItem| {
            let named = input.symbols.lookup(&item.base.text, one.directive.span.start);
            item.parts.is_empty() && named == Some(symbol)
        };
        holds && input.symbols.get(symbol).class == Class::Pointer && lists.flatten().any(is_named)
    })
}

/// Whether the device can have a copy of a variable in a lambda expression.
fn captured(input: &Input, symbol: SymbolId, name: &str, reached: &mut Reached) -> Result<(), String> {
    let not_seen = || Err(format!("it captures `{name}`, whose type is not seen"));
    let Some((seen, decl)) = input.declaration(symbol) else { return not_seen() };
    if decl.init.is_some_and(|init| lambda_at(seen, init).is_some()) {
        return callable(input, symbol, reached);
    }
    if hosts::is_local_type(input, symbol) || hosts::is_hidden_type(input, symbol) {
        return Err(format!("it captures `{name}`, of a type that is not known everywhere"));
    }
    let is_pointer =
        |decl: &Decl| decl.derived.iter().any(|part| matches!(part, Derived::Pointer | Derived::Function));
    let known = input.symbols.get(symbol);
    if known.class == Class::Pointer || is_pointer(decl) {
        return Err(format!("it captures `{name}`, an address of the host"));
    }
    let tag = match &decl.base {
        BaseType::Named(tag) | BaseType::Tagged(tag) => Some(tag.as_str()),
        _ => None,
    };
    let record = tag.and_then(|tag| {
        let mut all = std::iter::once(&input.source).chain(input.headers);
        all.find_map(|seen| {
            let record = seen.unit.records.iter().find(|record| record.tag.as_deref() == Some(tag))?;
            Some((seen, record))
        })
    });
    match (known.class, record) {
        (Class::Scalar, _) => Ok(()),
        (Class::Array, None) if matches!(decl.base, BaseType::Builtin(_)) => Ok(()),
        (Class::Record | Class::Array, Some((seen, record))) => {
            let leads = record.members.iter().any(|member| is_pointer(seen.unit.decl(*member)));
            match leads || !record.bases.is_empty() {
                true => Err(format!("it captures `{name}`, which may hold addresses of the host")),
                false => Ok(()),
            }
        }
        (Class::Unknown, None) if template_type(input, decl) => Ok(()),
        _ => not_seen(),
    }
}

/// Whether a variable's type is a parameter of the template around it.
fn template_type(input: &Input, decl: &Decl) -> bool {
    let BaseType::Named(name) = &decl.base else { return false };
    let function = input.unit().functions.iter().rev().find(|function| function.span.contains(decl.span));
    function.is_some_and(|function| {
        let head = input.file().text(Span { start: function.span.start, end: function.name_span.start });
        words(&head).first() == Some(&"template") && words(&head).contains(&name.as_str())
    })
}

/// The name of a parameter.
fn parameter_name(param: &str) -> Option<&str> {
    let declared = param.split('=').next().unwrap_or(param).split('[').next().unwrap_or(param);
    words(declared).last().copied()
}

/// The parts of a lambda expression.
struct Lambda<'a> {
    captures: Vec<&'a str>,
    /// The offset after the captures.
    after: usize,
    is_template: bool,
    params: Vec<&'a str>,
    /// What stands between parameters and body.
    specifiers: &'a str,
}

impl<'a> Lambda<'a> {
    fn of(text: &'a str) -> Option<Lambda<'a>> {
        let after = closing(text, 0)? + 1;
        let inside = text[1..after - 1].trim();
        let captures = if inside.is_empty() { Vec::new() } else { arguments(inside) };
        let rest = &text[after..];
        let start = after + rest.len() - rest.trim_start().len();
        let (params, from) = match text[start..].starts_with('(') {
            true => {
                let end = closing(text, start)?;
                let inside = text[start + 1..end].trim();
                (if inside.is_empty() { Vec::new() } else { arguments(inside) }, end + 1)
            }
            false => (Vec::new(), start),
        };
        let body = from + text[from..].find('{')?;
        let is_template = text[start..].starts_with('<');
        Some(Lambda { captures, after, is_template, params, specifiers: &text[from..body] })
    }
}

/// The bracket that closes the one at `open`.
fn closing(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests;
