//! Allocatable variables of Fortran modules with `declare create`: OpenACC gives them memory on the device where they are
//! allocated (3.3, 2.13.2), and so must the translation.
//!
//! Invariant: each `allocate` of such a variable brings its memory, each `deallocate` takes it back, in whatever file.

use crate::acc::ast::DataClause;
use crate::bind::Declared;
use crate::edit::Edit;
use crate::host::ir::{ExprId, ExprKind, StmtId, Unit};
use crate::sema::Symbols;
use crate::source::{SourceFile, Span};
use crate::{layout, omp};

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
                let place = known.map(|known| (known.home.clone(), known.name.clone()));
                place
                    .filter(|(home, _)| home.is_some())
                    .is_some_and(|place| declared.get(&place).is_some_and(is_created))
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

/// Whether the clause gives the variable memory of its own on the device.
fn is_created(clause: &DataClause) -> bool {
    matches!(clause, DataClause::Create { .. } | DataClause::Copyin { .. } | DataClause::DeviceResident)
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
