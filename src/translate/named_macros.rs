//! Constructs of Fortran in which a macro would be taken for a variable: the preprocessor tells capitals from small letters, and
//! Fortran does not.
//!
//! Invariant: a construct that names such a macro stays as it is, with all directives in it.

use crate::acc::ast::{ClauseKind, Directive, ListItem};
use crate::bind::Bound;
use crate::diag::{self, Diag};
use crate::host::ir::Unit;
use crate::scan::Scan;
use crate::sema::Symbols;
use crate::source::{self, SourceFile, Span};

/// The constructs that are not translated, each with what it names.
pub fn constructs(
    file: &SourceFile,
    (scan, symbols): (&Scan, &Symbols),
    unit: &Unit,
    bound: &[Bound],
) -> Vec<(Span, Diag)> {
    if !unit.is_fortran() || !symbols.has_macros() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for one in bound {
        let directive = &one.directive;
        let listed = lists(directive).find(|item| {
            let text = file.text(item.span);
            source::placed_names(&text)
                .any(|(_, word)| symbols.is_spelled_as_macro(word) && !symbols.is_no_macro(word))
        });
        if let Some(item) = listed {
            let name = item.base.text.clone();
            found.push((
                directive.span,
                diag::macro_taken_for_variable(item.span, &spelled(file, item.span, &name)),
            ));
            continue;
        }
        let Some(stmt) = one.stmt() else { continue };
        let span = unit.stmt(stmt).span;
        let code = source::in_place(scan.shadow.get(span.range()).unwrap_or_default());
        let clash = source::placed_names(&code).find(|(at, word)| {
            let place = span.start + *at as u32;
            let is_variable = symbols.lookup(word, place).is_some_and(|symbol| {
                let known = symbols.get(symbol);
                !symbols.is_macro(symbol) && (known.decl.is_some() || known.home.is_some())
            });
            symbols.is_spelled_as_macro(word) && is_variable
        });
        if let Some((at, word)) = clash {
            let start = span.start + at as u32;
            let place = Span { start, end: start + word.len() as u32 };
            found.push((directive.span, diag::macro_taken_for_variable(place, word)));
        }
    }
    found
}

/// The list items of which threads get their own.
fn lists(directive: &Directive) -> impl Iterator<Item = &ListItem> {
    directive.clauses.iter().flat_map(|clause| match &clause.kind {
        ClauseKind::Private(list) | ClauseKind::Firstprivate(list) | ClauseKind::Reduction(_, list) => {
            list.as_slice()
        }
        _ => &[],
    })
}

/// The name at a place, in the letters of the source.
fn spelled(file: &SourceFile, span: Span, name: &str) -> String {
    file.text(span).get(..name.len()).unwrap_or(name).to_owned()
}
