//! Variables of modules that `declare` names and that are handed to procedures, which may have directives about their dummy
//! arguments: they are on the device from the program's start on (OpenACC 3.3, 2.13).
//!
//! Invariant: such a variable has its place on the device before the first statement of any procedure that hands it on.

use std::collections::BTreeMap;

use crate::acc::ast::DirectiveKind;
use crate::bind::Bound;
use crate::cxx;
use crate::diag;
use crate::host::ir::{ExprId, ExprKind, Function, StmtKind, Unit};
use crate::layout;
use crate::sema::{SymbolId, is_pure_intrinsic};
use crate::source::Span;

use super::super::views::Gathered;
use super::{FortranCuda, View};

impl FortranCuda {
    /// The lines at the beginning of procedures that hand such variables to others.
    pub(super) fn arguments(&mut self, view: &View, all: &mut Gathered) {
        let ground = &view.ground;
        if ground.declared.is_empty() {
            return;
        }
        for function in &ground.files.own.unit.functions {
            let handed = handed_on(view, function);
            if handed.is_empty() {
                continue;
            }
            if let Err(at) = self.at_entry(view, function, handed, all) {
                let what = "a variable of `declare` that this procedure hands to another one";
                all.diags.push(diag::not_yet_cuda(at, what));
            }
        }
    }

    /// Puts the lines before the first statement; the place of a variable for which there is no room.
    fn at_entry(
        &mut self,
        view: &View,
        function: &Function,
        handed: BTreeMap<SymbolId, Span>,
        all: &mut Gathered,
    ) -> Result<(), Span> {
        let (file, unit) = (view.ground.files.own.file, view.ground.files.own.unit);
        let Some(first) = first_of(view, function) else { return Ok(()) };
        for (symbol, at) in handed {
            let Some(clause) = view.ground.declared(symbol) else { continue };
            let known = view.ground.symbols.get(symbol);
            let one = cxx::Declared {
                clause,
                name: known.name.clone(),
                is_allocated: known.fortran.allocatable || known.fortran.pointer,
                record: known.record.clone(),
            };
            for line in self.places(view, &[one], at).map_err(|why| why.at)? {
                // A pure procedure hands it to pure ones alone, which have no directives.
                if layout::innermost(unit, first.start).is_some_and(|scope| scope.is_pure) {
                    continue;
                }
                self.need(view, file, first.start, false).map_err(|why| why.at)?;
                let edit = layout::before_statement(file, first, &line).ok_or(at)?;
                // Another view has it, too.
                if self.placed.insert((edit.span.start, edit.text.clone()))
                    && all.edits.add_line(u32::MAX - 2, edit).is_err()
                {
                    all.diags.push(diag::edit_conflict(at));
                }
            }
        }
        Ok(())
    }
}

/// The first statement or directive that a procedure executes.
fn first_of(view: &View, function: &Function) -> Option<Span> {
    let (unit, bound) = (view.ground.files.own.unit, view.ground.bound);
    let StmtKind::Block(body) = &unit.stmt(function.body).kind else { return None };
    let first = unit.stmt(*body.first()?).span;
    let is_before = |one: &&Bound| {
        let span = one.directive.span;
        function.span.start <= span.start
            && span.start < first.start
            && layout::innermost(unit, span.start).map(|scope| scope.span)
                == layout::innermost(unit, first.start).map(|scope| scope.span)
            && !matches!(one.directive.kind, DirectiveKind::Declare | DirectiveKind::Routine)
    };
    Some(bound.iter().find(is_before).map_or(first, |one| one.directive.span))
}

/// The variables of modules with `declare` that a procedure hands to others, and where first.
fn handed_on(view: &View, function: &Function) -> BTreeMap<SymbolId, Span> {
    let (ground, unit) = (&view.ground, view.ground.files.own.unit);
    let body = unit.stmt(function.body).span;
    let constructs: Vec<Span> = ground.bound.iter().filter_map(|one| construct(unit, one)).collect();
    let is_on_host = |span: Span| !constructs.iter().any(|construct| construct.contains(span));
    let mut found = BTreeMap::new();
    for expr in unit.exprs_in(body).filter(|expr| is_on_host(expr.span)) {
        let handed: &[ExprId] = match &expr.kind {
            ExprKind::Call { callee, args } if is_procedure(view, *callee) => args,
            ExprKind::AddressOf(target) => &[*target],
            _ => continue,
        };
        for one in handed {
            let named = base(unit, *one).and_then(|name| ground.symbols.named(unit, name));
            if let Some(symbol) = named.filter(|symbol| ground.declared(*symbol).is_some()) {
                found.entry(symbol).or_insert(unit.expr(*one).span);
            }
        }
    }
    found
}

/// What a compute construct runs on the device: it finds the variables that it names.
fn construct(unit: &Unit, one: &Bound) -> Option<Span> {
    one.stmt().filter(|_| one.directive.kind.is_compute()).map(|stmt| unit.stmt(stmt).span)
}

/// Whether what stands before an argument list is a procedure that may have directives: an array has none, and an intrinsic
/// procedure neither.
fn is_procedure(view: &View, callee: ExprId) -> bool {
    let (symbols, unit) = (view.ground.symbols, view.ground.files.own.unit);
    let ExprKind::Name(name) = &unit.expr(callee).kind else { return true };
    let is_array = symbols.named(unit, callee).is_some_and(|symbol| !symbols.get(symbol).shape.is_empty());
    !is_array && (unit.function_places(name).next().is_some() || !is_pure_intrinsic(name))
}

/// The name of the variable that an argument is, or is a part of.
fn base(unit: &Unit, mut at: ExprId) -> Option<ExprId> {
    loop {
        at = match &unit.expr(at).kind {
            ExprKind::Name(_) => return Some(at),
            ExprKind::Assign(None, _, value) => *value,
            ExprKind::Index(base, _) | ExprKind::Call { callee: base, .. } => *base,
            ExprKind::Member { base, .. } => *base,
            _ => return None,
        };
    }
}
