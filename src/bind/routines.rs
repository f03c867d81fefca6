//! The procedures that `routine` directives are about (3.3, 2.15.1), as their callers must know.
//!
//! Invariant: a procedure is named as its calls name it: without its class, and Fortran's in lower case.

use std::ops::Range;

use crate::acc;
use crate::acc::ast::{Argument, Directive, DirectiveKind};
use crate::host::ir::{Decl, DeclKind, ScopeKind, Unit};
use crate::scan::Scan;
use crate::source::SourceFile;

use super::{Target, function_at, routine_target, scoping_unit};

/// The `routine` directives of a file that others include or use, by the procedures that they are about.
pub fn routines(file: &SourceFile, scan: &Scan, unit: &Unit) -> Vec<(String, Directive)> {
    let mut found = Vec::new();
    for text in scan.directives.iter().filter(|text| text.active && text.in_macro.is_none()) {
        let (directive, _) = acc::parse(file, text);
        let Some(directive) = directive.filter(|one| one.kind == DirectiveKind::Routine) else { continue };
        let at = directive.span.start;
        let target = match (unit.is_fortran(), function_at(unit, at)) {
            (true, function) => scoping_unit(unit, at, function),
            (false, _) => routine_target(unit, text.next_code),
        };
        let names = named_by(unit, &directive, target.unwrap_or(Target::Standalone));
        found.extend(names.into_iter().map(|name| (name, directive.clone())));
    }
    found
}

/// The procedures that a `routine` directive with this target is about.
pub fn named_by(unit: &Unit, directive: &Directive, target: Target) -> Vec<String> {
    if let Argument::Name(name) = &directive.argument {
        let text = name.text.rsplit(':').next().unwrap_or(&name.text);
        return vec![if unit.is_fortran() { text.to_ascii_lowercase() } else { text.to_owned() }];
    }
    match target {
        Target::Function(function) => vec![unit.function(function).name.clone()],
        Target::Declaration(span) if unit.is_fortran() => {
            let is_it =
                |scope: &&crate::host::ir::Scope| scope.kind == ScopeKind::Interface && scope.span == span;
            unit.scopes.iter().filter(is_it).map(|scope| scope.name.clone()).collect()
        }
        Target::Declaration(span) => {
            let is_function = |decl: &&Decl| span.contains(decl.span) && decl.kind == DeclKind::Prototype;
            let inside = unit.decls.iter().filter(is_function);
            inside.map(|decl| decl.name.clone()).collect()
        }
        Target::Stmt(_) | Target::Standalone => Vec::new(),
    }
}

/// A function's name without namespaces, classes and arguments of a template.
pub fn bare_name(name: &str) -> &str {
    &name[bare_place(name)]
}

/// Where that stands in the name.
pub fn bare_place(name: &str) -> Range<usize> {
    let mut depth = 0;
    let open = name.char_indices().rev().find(|(_, c)| {
        depth += i32::from(*c == '>') - i32::from(*c == '<');
        depth == 0
    });
    let end =
        open.filter(|_| name.ends_with('>') && !name.contains("operator")).map_or(name.len(), |(at, _)| at);
    name[..end].rfind("::").map_or(0, |at| at + 2)..end
}
