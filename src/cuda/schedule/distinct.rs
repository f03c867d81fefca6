//! Which pointers lead to memory that no other pointer leads to: `__restrict__` where it can be proven.
//!
//! Invariant: a pointer is one of these for the whole life of its variable, or not at all.

use super::capture::{Captured, Role};
use crate::cuda::code::text::words;
use crate::cuda::program::{Input, Seen, defines};
use crate::cuda::types::{complex, spelling};
use crate::host::ir::{BaseType, DeclKind, Derived, ExprId, ExprKind, StmtId};
use crate::sema::{self, Class, SymbolKind};

/// What gives memory that is nobody else's.
const FRESH: [&str; 3] = ["malloc", "calloc", "aligned_alloc"];

/// Whether no two pointers of a kernel alias: they are `restrict`, distinct arrays, or variables that hold
/// what an allocation gave and nothing else.
pub fn are_distinct(input: &Input, index: usize, stmt: StmtId, captured: &[Captured]) -> bool {
    // Another name of something that may be there by its own name, too.
    let is_second_name = |one: &Captured| input.symbols.get(one.symbol).is_reference;
    let own = |one: &Captured| match one.class {
        Class::Pointer => {
            one.decl.is_restrict || matches!(one.role, Role::Local) || is_fresh(input, index, one)
        }
        Class::Array => one.decl.kind == DeclKind::Variable && !is_second_name(one),
        _ => !is_second_name(one),
    };
    (input.assume_no_alias || captured.iter().all(own)) && !leads_elsewhere(input, stmt, captured)
}

/// Whether a region may reach memory in another way than by the names of its variables: by pointers that lie in memory, or
/// in functions that know a variable themselves.
fn leads_elsewhere(input: &Input, stmt: StmtId, captured: &[Captured]) -> bool {
    let unit = input.unit();
    let span = input.stmt_span(stmt);
    let has_more_pointers = captured.iter().any(|one| {
        let pointers = one.decl.derived.iter().filter(|part| matches!(part, Derived::Pointer)).count();
        pointers > usize::from(one.class == Class::Pointer)
    });
    let has_member = unit.exprs_in(span).any(|expr| match &expr.kind {
        ExprKind::Member { name, .. } => !is_flat(input, name),
        _ => false,
    });
    let is_own = |name: &String| {
        let files = || std::iter::once(&input.source).chain(input.headers);
        files().any(|seen| {
            seen.unit.function_places(name).next().is_some()
                || seen.unit.decls_named(name).any(|decl| decl.kind == DeclKind::Prototype)
        })
    };
    let has_call = sema::uses(unit, input.symbols, stmt).calls.keys().any(is_own);
    has_more_pointers || has_member || has_call && captured.iter().any(|one| one.kind == SymbolKind::Static)
}

/// Whether all members of this name hold values, not pointers.
fn is_flat(input: &Input, name: &str) -> bool {
    let known = |seen: Seen, decl: &crate::host::ir::Decl| {
        let is_record = matches!(decl.base, BaseType::Tagged(_) | BaseType::Record(_));
        decl.is_object()
            && (is_record
                || complex::part(input, seen, decl).is_some()
                || spelling::plain(input, seen, decl).is_some())
    };
    let files = || std::iter::once(&input.source).chain(input.headers);
    let members = || {
        let of = |seen: &Seen<'_>| -> Vec<bool> {
            let all = seen.unit.records.iter().flat_map(|record| &record.members);
            let named = all.map(|id| seen.unit.decl(*id)).filter(|decl| decl.name == name);
            named.map(|decl| known(*seen, decl)).collect()
        };
        files().flat_map(of)
    };
    members().next().is_some() && members().all(|is_known| is_known)
}

/// Whether a pointer is set where it is declared, by an allocation, and never again.
fn is_fresh(input: &Input, index: usize, one: &Captured) -> bool {
    let (Some(function), Some(init)) = (input.bound[index].function, one.decl.init) else { return false };
    let unit = input.unit();
    if unit.is_cpp() || one.kind != SymbolKind::Local || !matches!(one.role, Role::Data(..)) {
        return false;
    }
    let span = unit.function(function).span;
    let mut inside = unit.exprs_in(span);
    let is_one = |expr: ExprId| input.symbols.named(unit, expr) == Some(one.symbol);
    is_allocation(input, init)
        && !is_set_by_macro(input, &words(&input.file().text(span)), one)
        && inside.all(|expr| match &expr.kind {
            ExprKind::Assign(_, place, _) | ExprKind::Step { operand: place, .. } => !is_one(*place),
            ExprKind::AddressOf(place) => !is_one(*place),
            // A macro may do anything with what it is given.
            ExprKind::Call { callee, args } => {
                let is_macro = match &unit.expr(*callee).kind {
                    ExprKind::Name(name) => defines::define(input, name).is_some(),
                    _ => false,
                };
                !is_macro || !args.iter().any(|arg| is_one(*arg))
            }
            _ => true,
        })
}

/// Whether an expression is what an allocation gives, perhaps as another type.
fn is_allocation(input: &Input, mut expr: ExprId) -> bool {
    let unit = input.unit();
    while let ExprKind::Cast { operand, .. } = unit.expr(expr).kind {
        expr = operand;
    }
    let ExprKind::Call { callee, .. } = unit.expr(expr).kind else { return false };
    let ExprKind::Name(name) = &unit.expr(callee).kind else { return false };
    let is_own = unit.function_places(name).next().is_some()
        || input.headers.iter().any(|seen| seen.unit.function_places(name).next().is_some())
        || defines::define(input, name).is_some();
    FRESH.contains(&name.as_str()) && !is_own
}

/// Whether a macro that some code uses may set a variable: it names it.
fn is_set_by_macro(input: &Input, code: &[&str], one: &Captured) -> bool {
    let mut pending: Vec<String> = code.iter().map(|word| (*word).to_owned()).collect();
    let mut met: std::collections::BTreeSet<String> = Default::default();
    while let Some(word) = pending.pop() {
        let Some(define) = defines::define(input, &word).filter(|_| met.insert(word)) else { continue };
        for inner in words(&define.body) {
            if inner == one.name {
                return true;
            }
            pending.push(inner.to_owned());
        }
    }
    false
}
