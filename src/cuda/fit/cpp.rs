//! What of C++ cannot be taken out of its place into a device file, and what cannot stay there either.
//!
//! Invariant: what is not sure to mean the same elsewhere stays in its place.

use std::collections::BTreeSet;

use crate::acc::ast::{Argument, DirectiveKind};
use crate::bind::Target;
use crate::host::ir::{DeclKind, Derived, ExprId, ExprKind, Function, StmtId};
use crate::sema::{Class, SymbolId, SymbolKind};
use crate::source::Span;

use super::{callable, copied, implied};
use crate::cuda::Lowering;
use crate::cuda::code::change::Change;
use crate::cuda::code::text::words;
use crate::cuda::file::device;
use crate::cuda::fit::stuck::Stuck;
use crate::cuda::kernel::twin;
use crate::cuda::program::{Input, Refused, Seen, refused};
use crate::cuda::schedule::{capture, levels};
use crate::cuda::types::spelling;

/// Whether a construct has to stay in its place: it, or what it names, means something only there.
pub fn is_in_place(input: &Input, index: usize, stmt: StmtId) -> bool {
    let unit = input.unit();
    if !unit.is_cpp() {
        return false;
    }
    let span = unit.stmt(stmt).span;
    let Some(function) = input.bound[index].function.map(|id| unit.function(id)) else { return false };
    let known = input.file().text(span);
    let known = words(&known);
    let own = ["this", "auto", "decltype", "std", "operator", "new", "delete"];
    !is_plain(input, function)
        || in_class(input, function.span)
        || unit.lambdas.iter().any(|(lambda, _)| lambda.contains(span) || span.contains(*lambda))
        || known.iter().any(|word| own.contains(word))
        || callable::calls_variable(input, span)
        || called(input, span)
            .any(|(name, is_alone)| name.contains("::") || !is_alone || is_stuck(input, &name))
        || !implied::implied(input, span).is_empty()
        || names_held(input, stmt)
        || capture::outer(input, stmt).into_iter().any(|(symbol, _)| {
            let is_copied = || copied::constant(input, &input.symbols.get(symbol).name).is_some();
            copied::is_bound(input, span, symbol) && !is_copied()
        })
        || capture::outer(input, stmt).into_iter().any(|(symbol, _)| is_placed(input, symbol))
}

/// Whether functions of this name stay in their place.
fn is_stuck(input: &Input, name: &str) -> bool {
    let name = bare(name);
    let stuck = |at: (usize, u32)| input.stuck.is_some_and(|stuck| stuck.holds(at));
    let mut files = input.headers.iter().chain([&input.source]).enumerate();
    files.any(|(number, seen)| {
        let mut named = seen.unit.functions_named(name);
        named.any(|function| stuck((number, function.span.start)))
    })
}

/// Whether a construct names types that the device file can have no copy of, or has variables of such.
fn names_held(input: &Input, stmt: StmtId) -> bool {
    let unit = input.unit();
    let mut outer =
        capture::outer(input, stmt).into_iter().filter_map(|(symbol, _)| input.declaration(symbol));
    let none = Stuck::default();
    let known = input.stuck.unwrap_or(&none);
    known.is_held(input, unit.stmt(stmt).span)
        || outer.any(|(_, decl)| spelling::named(decl).is_some_and(|name| !known.is_portable(input, name)))
}

/// Whether a variable is one that other files cannot be told of.
fn is_placed(input: &Input, symbol: SymbolId) -> bool {
    let known = input.symbols.get(symbol);
    let Some((seen, decl)) = input.declaration(symbol) else { return false };
    let text = seen.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    let is_complex = words(&text).iter().any(|word| word.contains("_Complex") || *word == "__complex__");
    let is_written = spelling::base(input, seen, decl).is_some() && !text.contains('<');
    let is_hidden = matches!(known.class, Class::Pointer) && decl.derived.is_empty();
    // The size of a row is a part of the type.
    let has_named_size = decl.derived.iter().skip(1).any(|part| match part {
        Derived::Array(Some(size)) => names_constant(input, seen, *size, decl.span.start),
        _ => false,
    });
    known.kind == SymbolKind::Member || !is_complex && !is_written || is_hidden || has_named_size
}

/// Whether an expression names a `const` variable that is a constant of the language.
fn names_constant(input: &Input, seen: Seen, expr: ExprId, offset: u32) -> bool {
    match &seen.unit.expr(expr).kind {
        ExprKind::Name(name) => input.symbols.lookup(name, offset).is_some_and(|symbol| {
            let known = input.symbols.get(symbol);
            let init = input.declaration(symbol).and_then(|(_, decl)| decl.init);
            known.kind != SymbolKind::Constant && known.is_const && init.is_some()
        }),
        kind => kind.children().into_iter().any(|inner| names_constant(input, seen, inner, offset)),
    }
}

/// What the code in `span` calls: the name, and whether it is that of one function, which is no member.
pub fn called<'a>(input: &Input<'a>, span: Span) -> impl Iterator<Item = (String, bool)> + use<'a> {
    let unit = input.unit();
    unit.exprs_in(span).filter_map(move |expr| {
        let ExprKind::Call { callee, .. } = &expr.kind else { return None };
        match &unit.expr(*callee).kind {
            ExprKind::Name(name) => {
                let last = bare(name);
                Some((name.clone(), unit.function_places(last).count() < 2))
            }
            ExprKind::Member { name, .. } => Some((name.clone(), false)),
            _ => None,
        }
    })
}

/// The names of what the code in `span` calls, with a name or without.
fn reached(input: &Input, span: Span) -> BTreeSet<String> {
    let named = called(input, span).map(|(name, _)| name);
    named.chain(implied::implied(input, span)).collect()
}

/// A function's name without namespaces, classes and arguments of a template.
pub fn bare(name: &str) -> &str {
    let mut depth = 0;
    let open = name.char_indices().rev().find(|(_, c)| {
        depth += i32::from(*c == '>') - i32::from(*c == '<');
        depth == 0
    });
    let name = open
        .filter(|_| name.ends_with('>') && !name.contains("operator"))
        .map_or(name, |(at, _)| &name[..at]);
    name.rsplit("::").next().unwrap_or(name)
}

/// The functions of a name that the file defines.
pub fn functions<'a>(input: &Input<'a>, name: &str) -> impl Iterator<Item = &'a Function> + use<'a> {
    input.unit().functions_named(bare(name))
}

/// Whether a function is one that a device file can have a copy of: outside of classes, templates and namespaces.
fn is_plain(input: &Input, function: &Function) -> bool {
    is_plain_in(&input.source, function)
}

/// The same for a function of a header.
pub fn is_plain_in(seen: &Seen, function: &Function) -> bool {
    has_plain_head(seen, function) && !in_namespace(seen, function.span)
}

/// Whether a function is neither a member nor a template.
pub fn has_plain_head(seen: &Seen, function: &Function) -> bool {
    let head = Span { start: function.span.start, end: function.name_span.start };
    // Class templates and what the standard library has stay where they are.
    let params = Span { start: function.span.start, end: seen.unit.stmt(function.body).span.start };
    function.member_of.is_none()
        && !seen.file.text(params).contains('<')
        && !words(&seen.file.text(head)).contains(&"template")
}

/// The functions that constructs in place call, one through another, by place.
pub fn called_in_place(input: &Input) -> BTreeSet<u32> {
    let unit = input.unit();
    let mut found = BTreeSet::new();
    if !unit.is_cpp() {
        return found;
    }
    let constructs = (0..input.bound.len())
        .filter(|index| input.bound[*index].directive.kind.is_compute())
        .filter_map(|index| input.bound[index].stmt().filter(|stmt| is_in_place(input, index, *stmt)));
    let mut pending: Vec<Span> = constructs.flat_map(|stmt| code(input, unit.stmt(stmt).span)).collect();
    while let Some(span) = pending.pop() {
        for name in reached(input, span) {
            for function in functions(input, &name) {
                if found.insert(function.span.start) {
                    pending.push(function.span);
                }
            }
        }
    }
    found
}

/// The code in `within`, and what it runs through variables.
pub fn code(input: &Input, within: Span) -> Vec<Span> {
    callable::reached(input, within, within).map_or(vec![within], |reached| reached.code(input, within))
}

/// Where the macro goes that makes a function one of the device too: behind `template <…>` and attributes.
pub fn mark(input: &Input, span: Span) -> u32 {
    let text = input.file().text(span);
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        let rest = &text[at..];
        if rest.starts_with("template") {
            let mut depth = 0;
            let end = rest.char_indices().find(|(_, c)| {
                depth += i32::from(*c == '<') - i32::from(*c == '>');
                *c == '>' && depth == 0
            });
            let Some((end, _)) = end else { break };
            at += end + 1;
        } else if rest.starts_with("[[") {
            let Some(end) = rest.find("]]") else { break };
            at += end + 2;
        } else if rest.starts_with("extern \"C\"")
            && !rest["extern \"C\"".len()..].trim_start().starts_with('{')
        {
            at += "extern \"C\"".len();
        } else {
            break;
        }
    }
    span.start + at as u32
}

impl Lowering<'_> {
    /// Whether a `routine` directive makes its function the device's where it stands.
    pub fn is_routine_in_place(&self, index: usize) -> bool {
        let input = self.input;
        if !input.unit().is_cpp() {
            return false;
        }
        let is_header = device::header_ending(&input.file().name).is_some();
        let Some(name) = device::routine_name(input, index) else { return is_header };
        let mut known = functions(input, name).peekable();
        let span = input.bound[index].directive.span;
        let is_inside = in_namespace(&input.source, Span { start: span.start, end: span.start });
        let is_alone = known.peek().is_some() && functions(input, name).count() == 1;
        is_header
            || is_inside
            || name.contains("::")
            || known.peek().is_some() && !is_alone
            || is_stuck(input, name)
            || known.any(|function| !is_plain(input, function) || self.placed.contains(&function.span.start))
    }

    /// The macro before the function of a `routine` directive, and before what else declares it.
    pub fn routine_in_place(&mut self, index: usize) -> Result<Vec<Change>, Refused> {
        let input = self.input;
        let bound = &input.bound[index];
        let span = bound.directive.span;
        if levels::declared_levels(input, index).any() {
            return twin::added(input, index);
        }
        let targets: Vec<Span> = match (&bound.directive.argument, bound.target) {
            (Argument::Name(name), _) => self.declarations(&name.text),
            (_, Target::Function(id)) => vec![input.unit().function(id).span],
            (_, Target::Declaration(span)) => vec![span],
            _ => return Err(refused(span, "a routine that is not seen")),
        };
        let mut changes = vec![Change::Gone(span)];
        if let [target] = targets.as_slice() {
            let place = mark(input, *target);
            let is_behind = input.file().text(Span { start: span.end, end: place.max(span.end) });
            if span.end <= place && is_behind.trim().is_empty() && self.marked.insert(place) {
                return Ok(vec![Change::Lines(span, vec!["ACC2OMP_ROUTINE".to_owned()])]);
            }
        }
        for target in targets {
            changes.extend(self.marked_at(target));
        }
        Ok(changes)
    }

    /// What declares or defines a function.
    fn declarations(&self, name: &str) -> Vec<Span> {
        let name = bare(name);
        let unit = self.input.unit();
        let is_written = |span: Span| {
            let text = self.input.file().text(span);
            !["= default", "= delete", "=default", "=delete"].iter().any(|end| text.contains(end))
        };
        let prototypes =
            unit.decls_named(name).filter(|decl| decl.kind == DeclKind::Prototype && is_written(decl.span));
        functions(self.input, name)
            .map(|function| function.span)
            .chain(prototypes.map(|decl| decl.span))
            .collect()
    }

    fn marked_at(&mut self, span: Span) -> Option<Change> {
        let place = mark(self.input, span);
        self.marked
            .insert(place)
            .then(|| Change::Text(Span { start: place, end: place }, "ACC2OMP_ROUTINE ".to_owned()))
    }

    /// Makes a lambda expression the device's, too.
    fn marked_lambda(&mut self, lambda: Span) -> Option<Change> {
        let place = callable::mark(self.input, lambda)?;
        let text = self.input.file().text(Span { start: place, end: lambda.end });
        let gap = if text.starts_with(|c: char| c.is_whitespace()) { "" } else { " " };
        let change = Change::Text(Span { start: place, end: place }, format!(" ACC2OMP_ROUTINE{gap}"));
        self.marked.insert(place).then_some(change)
    }

    /// The functions that a construct in place calls without `routine`: they are the device's, too.
    pub fn implicit_routines(&mut self, stmt: StmtId) -> Vec<Change> {
        let input = self.input;
        let mut changes = Vec::new();
        let unit = input.unit();
        let within = input.stmt_span(stmt);
        let mut pending = vec![within];
        if let Ok(reached) = callable::reached(input, within, within) {
            pending = reached.code(input, within);
            for lambda in &reached.lambdas {
                changes.extend(self.marked_lambda(*lambda));
                changes.extend(self.published(lambda.start));
            }
            changes
                .extend(reached.functions.iter().filter_map(|at| self.marked_at(unit.functions[*at].span)));
        }
        let mut met = BTreeSet::new();
        while let Some(span) = pending.pop() {
            for name in reached(input, span) {
                if !met.insert(name.clone()) {
                    continue;
                }
                for span in self.declarations(&name) {
                    let is_said = (0..input.bound.len()).any(|index| {
                        input.bound[index].directive.kind == DirectiveKind::Routine
                            && match (&input.bound[index].directive.argument, input.bound[index].target) {
                                (Argument::Name(said), _) => said.text == name,
                                (_, Target::Function(id)) => input.unit().function(id).span == span,
                                (_, Target::Declaration(target)) => {
                                    target.contains(span) || span.contains(target)
                                }
                                _ => false,
                            }
                    });
                    if !is_said {
                        changes.extend(self.marked_at(span));
                    }
                }
                pending.extend(functions(input, &name).map(|function| function.span));
            }
        }
        changes
    }
}

/// Whether a class holds a place.
fn in_class(input: &Input, span: Span) -> bool {
    input.unit().records.iter().any(|record| record.span.contains(span))
}

/// Whether a namespace holds a place: an open brace before it that no function or class has.
pub fn in_namespace(seen: &Seen, span: Span) -> bool {
    seen.scan.is_in_braces(span.start)
}
