//! Allocatable variables of Fortran modules with `declare create`: OpenACC gives them memory on the device where they are
//! allocated (3.3, 2.13.2), and so must the translation.
//!
//! Invariant: each `allocate` of such a variable brings its memory, each `deallocate` takes it back, in whatever file.

use std::collections::HashSet;

use crate::acc::ast::{ClauseKind, DataClause, Directive, DirectiveKind};
use crate::edit::Edit;
use crate::host::ir::{ExprId, ExprKind, ScopeKind, StmtId, Unit};
use crate::omp;
use crate::plan;
use crate::sema::Symbols;
use crate::source::{SourceFile, Span};
use crate::{acc, layout, scan::Scan};

/// Variables of modules: the module's name and the variable's.
pub type Declared = HashSet<(String, String)>;

/// The variables of modules that `declare` directives of a file give a place on the device.
pub fn declared(file: &SourceFile, scan: &Scan, unit: &Unit) -> Declared {
    let mut found = Declared::new();
    if !unit.is_fortran() {
        return found;
    }
    for text in &scan.directives {
        // A directive may be the last line of its specification part, behind the last statement there.
        let innermost = unit.scope_at(text.span.start).map(|id| unit.scope(id));
        let Some(module) = innermost.filter(|scope| scope.kind == ScopeKind::Module) else { continue };
        let (directive, _) = acc::parse(file, text);
        let names = directive.iter().flat_map(created);
        found.extend(names.map(|name| (module.name.clone(), name)));
    }
    found
}

/// The variables that a `declare` directive gives memory on the device.
fn created(directive: &Directive) -> Vec<String> {
    let clauses = directive.clauses.iter().filter(|_| directive.kind == DirectiveKind::Declare);
    let lists = clauses.filter(|clause| {
        matches!(
            clause.kind,
            ClauseKind::Data(
                DataClause::Create { .. } | DataClause::Copyin { .. } | DataClause::DeviceResident,
                _
            )
        )
    });
    lists.flat_map(|clause| plan::list(&clause.kind)).map(|item| item.base.text.clone()).collect()
}

/// The edits at the statements that allocate or free such variables.
pub fn edits(file: &SourceFile, unit: &Unit, symbols: &Symbols, declared: &Declared) -> Vec<Edit> {
    let mut edits = Vec::new();
    for allocation in unit.allocations.iter().filter(|_| !declared.is_empty()) {
        let names: Vec<String> = allocation
            .objects
            .iter()
            .filter_map(|object| variable(unit, *object))
            .filter(|object| {
                let expr = unit.expr(*object);
                let ExprKind::Name(name) = &expr.kind else { return false };
                let known = symbols.lookup(name, expr.span.start).map(|symbol| symbols.get(symbol));
                let home = known.and_then(|known| Some((known.home.clone()?, known.name.clone())));
                home.is_some_and(|home| declared.contains(&home))
            })
            .map(|object| file.text(unit.expr(object).span).into_owned())
            .collect();
        if !names.is_empty() {
            edits.extend(line(file, unit, allocation.stmt, allocation.frees, &names.join(", ")));
        }
    }
    edits
}

fn line(file: &SourceFile, unit: &Unit, stmt: StmtId, frees: bool, names: &str) -> Option<Edit> {
    let span = unit.stmt(stmt).span;
    if frees {
        // An `if` on the same line asks whether it is allocated; what is not has nothing on the device.
        let first = file.lines.span(file.lines.line(span.start)).start;
        let before = file.text(Span { start: first, end: span.start });
        let lead = (before.len() - before.trim_start().len()) as u32;
        let line = omp::freed(names);
        let before = file.lines.line(span.start).checked_sub(1);
        return if says(file, before, &line) { None } else { layout::inserted(file, first + lead, &line) };
    }
    let line = omp::allocated(names);
    let behind = file.lines.line(span.end) + 1;
    if says(file, Some(behind), &line) { None } else { layout::lines_after(file, span.end, span, &[line]) }
}

/// Whether a line says so already: the file was translated before, and the module's was not.
fn says(file: &SourceFile, line: Option<usize>, words: &str) -> bool {
    let line = line.filter(|line| *line < file.lines.count());
    line.is_some_and(|line| file.text(file.lines.span(line)).trim().eq_ignore_ascii_case(words))
}

/// The variable of `a`, `a(n)` or `a(n, m)`.
fn variable(unit: &Unit, object: ExprId) -> Option<ExprId> {
    let mut at = object;
    loop {
        match &unit.expr(at).kind {
            ExprKind::Name(_) => return Some(at),
            ExprKind::Index(base, _) => at = *base,
            ExprKind::Call { callee, .. } => at = *callee,
            _ => return None,
        }
    }
}
