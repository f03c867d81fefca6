//! Variables that a region uses and whose declarations are nowhere to be seen: a macro or a header that was not read has them.
//!
//! Invariant: no kernel names a variable that it has not.

use crate::acc::ast::{ClauseKind, Directive, DirectiveKind, ListItem};
use crate::bind::ancestors;
use crate::cuda::code::text::{placed_words, words};
use crate::cuda::program::{Input, Refused, defines, refused};
use crate::host::forms::inside;
use crate::host::ir::{ExprId, ExprKind, StmtId};
use crate::sema::SymbolKind;
use crate::source::Span;

/// That a region has none of them.
pub fn none(input: &Input, index: usize, stmt: StmtId) -> Result<(), Refused> {
    let span = input.stmt_span(stmt);
    let place = input.bound[index].directive.span.start;
    let is_unknown = |name: &str, at: u32| {
        let is_own = name != "this" && !name.starts_with("__");
        is_own && input.symbols.lookup(name, at).is_none() && defines::define(input, name).is_none()
    };
    let text = input.source.code(span);
    let all = words(&text);
    let data =
        ancestors(input.bound, index).filter(|at| input.bound[*at].directive.kind == DirectiveKind::Data);
    for at in std::iter::once(index).chain(data) {
        for kind in input.clauses(at) {
            let ClauseKind::Data(_, list) = kind else { continue };
            let name = |item: &ListItem| item.base.text.clone();
            let mut named = list.iter().filter(|item| all.contains(&item.base.text.as_str()));
            if let Some(item) = named.find(|item| is_unknown(&name(item), place)) {
                return Err(refused(item.span, &format!("`{}`, whose declaration is not seen,", name(item))));
            }
        }
    }
    let declares = (0..input.bound.len()).map(|at| &input.bound[at].directive);
    for item in declares.filter(|one| one.kind == DirectiveKind::Declare).flat_map(items) {
        let name = item.base.text.as_str();
        let used = placed_words(&text).into_iter().find(|(_, word)| *word == name);
        if let Some((at, _)) = used.filter(|_| is_unknown(name, place)) {
            let start = span.start as usize + at;
            let what = format!("`{name}`, whose declaration is not seen,");
            return Err(refused(Span::new(start, start + name.len()), &what));
        }
    }
    let unit = input.unit();
    for expr in unit.exprs_in(span) {
        if let ExprKind::Name(name) = &expr.kind {
            if input.symbols.is_of_union(name, expr.span.start) {
                return Err(refused(expr.span, &format!("`{name}`, a member of an anonymous union,")));
            }
            if is_of_template(input, name, expr.span) {
                return Err(refused(expr.span, &format!("`{name}`, a variable with template arguments,")));
            }
        }
        let (ExprKind::Assign(_, at, _) | ExprKind::Index(at, _)) = &expr.kind else { continue };
        let Some((name, span)) = root(input, *at).filter(|(name, _)| !name.contains("::")) else { continue };
        if is_unknown(&name, span.start) {
            return Err(refused(span, &format!("`{name}`, whose declaration is not seen,")));
        }
    }
    Ok(())
}

/// Whether a name is that of a variable template.
fn is_of_template(input: &Input, name: &str, span: Span) -> bool {
    let kind = || input.symbols.lookup(name, span.start).map(|symbol| input.symbols.get(symbol).kind);
    inside(&input.unit().forms.instances, span).any(|one| one.span == span)
        && matches!(kind(), Some(SymbolKind::Static | SymbolKind::Member))
}

/// What the clauses of a directive list.
fn items(directive: &Directive) -> impl Iterator<Item = &ListItem> {
    let lists = directive.clauses.iter().filter_map(|clause| match &clause.kind {
        ClauseKind::Data(_, list) => Some(list),
        _ => None,
    });
    lists.flatten()
}

/// The variable that an element or a member is of.
fn root(input: &Input, expr: ExprId) -> Option<(String, Span)> {
    let unit = input.unit();
    let mut at = expr;
    while let ExprKind::Index(base, _) | ExprKind::Member { base, .. } = unit.expr(at).kind {
        at = base;
    }
    match &unit.expr(at).kind {
        ExprKind::Name(name) => Some((name.clone(), unit.expr(at).span)),
        _ => None,
    }
}
